//! The examples in the documentation of a function, run by `cargo test --doc`.
//!
//! Rustdoc compiles and runs each by itself and reports it by name, with the line it begins in. The
//! examples are those of the user's text: code that changes the documentation is `Tampered`. Examples that
//! fail without the candidate for another reason than the missing body are left out and named. An example
//! in a process of its own that ends early has passed, as for rustdoc.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use super::bench::Bench;
use super::edit::apply;
use super::libtest::{listed, panic_message};
use super::manifest::Manifest;
use super::probe;
use crate::code::{Place, Target, blanked};
use crate::hash;
use crate::language::Language;
use crate::sandbox::{Ended, Limits, Run};
use crate::trial::language::compiled::{compile_limits, not_compiled};
use crate::trial::language::row::{
    Copy, Evidence, Failure, LeftOut, Noticed, Outcome, Project, Report, Reporter, Status, TestEnd, Tests, Trial,
    TrialError, Verdict, decide,
};

/// The tests file that stands for the examples of a crate's documentation. No file of the user's has this
/// name.
pub const FILE: &str = "examples_of_the_documentation.rs";

/// Time in which rustdoc compiles one example.
const COMPILE_TIME: Duration = Duration::from_secs(4);

/// The examples of a function as tests, and true if one of them states an expected result; or the reason why
/// there are none.
pub fn found(target: &Target) -> Result<(Tests, bool), String> {
    let documentation = &target.text[documentation(target)];
    let (Some(path), true) = (target.path.as_deref(), documentation.contains("```") || documentation.contains("~~~"))
    else {
        return Err(format!("the documentation of {} has no example that is run", target.name));
    };
    let tells = documentation.contains("assert") || documentation.contains("should_panic");
    let Some(project) = Project::around(path, None).filter(|project| project.has_above("Cargo.toml")) else {
        return Ok((Tests::of_examples(Some(path)), tells));
    };
    if !is_in_library(&project) {
        return Err(format!("{} is in no library, and examples can only call what is in one", path.display()));
    }
    let tests = Some(project.package.join(FILE));
    Ok((Tests::Project(Project { tests, ..project }), tells))
}

/// Returns true if a tests file stands for examples.
pub fn are_in(tests_file: &Path) -> bool {
    tests_file.ends_with(FILE)
}

/// The manifest of a lone file whose examples are run.
pub fn manifest(file: &Path, name: &str) -> String {
    let path = file.display().to_string();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = {path:?}\n[workspace]\n"
    )
}

/// Runs the examples with the candidate.
pub fn run(bench: &Bench, trial: &Trial) -> Result<Verdict, TrialError> {
    let own = trial.stub.clone().map_or_else(|| bench.original(&bench.project.file), Ok)?;
    let (mine, theirs) = (target_in(&own, trial), target_in(&trial.program, trial));
    let Some(mine) = mine.or_else(|| theirs.clone()) else {
        return Ok(Verdict::not_run("the function whose examples are run is not in the file"));
    };
    if theirs.as_ref().is_some_and(|theirs| comments(theirs) != comments(&mine)) {
        let message = format!("the code changed the documentation of {}, which holds the tests", mine.name);
        return Ok(Verdict { status: Status::Tampered, ..Verdict::not_run(&message) });
    }
    let without = match baseline(bench, trial, &own, &mine)? {
        Ok(without) => without,
        Err(verdict) => return Ok(verdict),
    };
    let ran = match once(bench, &trial.program, &theirs.unwrap_or(mine), &without.left_out)? {
        Ok(ran) => ran,
        Err(build) => return not_compiled(build, trial.limits),
    };
    let left_out = without.for_reader();
    if ran.names.is_empty() {
        if left_out.words.contains("Permission denied") {
            return Ok(Verdict::not_run(
                "the linker may not make programs executable in this tier of the sandbox, so that no example is run: \
                 rust-lld can do without, the default of Rust 1.90 and newer on x86-64 Linux",
            ));
        }
        return Ok(Verdict::not_run(&format!("no examples are left{}", left_out.remark())));
    }
    let failed = ran.tests.iter().find(|test| test.outcome == Outcome::Failed);
    let failure = (ran.run.ended == Ended::Exited(101))
        .then(|| failed.map_or_else(|| panic_message(&ran.run.output), |test| format!("{}: {}", test.name, test.why)))
        .map(Failure::Said);
    let changed = bench.base.changed(bench.project, &ran.copy);
    let report = Report::Tests { by: Reporter::Runner, tests: ran.tests, is_whole: true };
    let (asked, wanted) = (ran.names.clone(), ran.names);
    let noticed = Noticed::if_seen(without.notices, Noticed::Raising);
    let evidence = Evidence { failure, asked, wanted, changed, noticed, left_out, ..Evidence::of(ran.run, report) };
    decide(&evidence, &ran.limits)
}

/// Facts about the examples without the candidate.
#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Without {
    /// Examples that fail for another reason than the missing body, each with that reason.
    left_out: Vec<(String, String)>,
    /// True if one of them fails only because the function has no body.
    notices: bool,
}

impl Without {
    fn for_reader(&self) -> LeftOut {
        let each: Vec<String> = self.left_out.iter().map(|(name, why)| format!("{name} ({why})")).collect();
        let why = "left out, as they fail without the candidate";
        let words = if each.is_empty() { String::new() } else { format!("{why}: {}", each.join(", ")) };
        LeftOut { names: self.left_out.iter().map(|(name, _)| name.clone()).collect(), words }
    }
}

/// The facts, found once for a state of the project.
fn baseline(bench: &Bench, trial: &Trial, own: &str, target: &Target) -> Result<Result<Without, Verdict>, TrialError> {
    let edits = trial.stub.as_ref().and(trial.function()).and_then(|name| probe::noted(own, name, &[], true));
    let Some(program) = edits.map(|edits| apply(own, &edits)) else { return Ok(Ok(Without::default())) };
    let file = bench.project.file.display();
    let state = format!("{}\n{file}\n{program}", bench.cache.state(bench.project));
    let key = format!("examples/{:016x}.json", hash::of(state.as_bytes()));
    if let Some(known) = bench.cache.folder.read(&key) {
        return Ok(Ok(known));
    }
    // Where the crate does not compile without the body, nothing is left out.
    let Ok(ran) = once(bench, &program, target, &[])? else { return Ok(Ok(Without::default())) };
    if ran.run.ended == Ended::Cancelled {
        return Ok(Err(Verdict { status: Status::Killed, ..Verdict::not_run("cancelled") }));
    }
    let failed = || ran.tests.iter().filter(|test| test.outcome == Outcome::Failed);
    let is_of_body = |test: &&TestEnd| test.why.contains(probe::SAYS);
    let left_out = failed().filter(|test| !is_of_body(test)).map(|test| (test.name.clone(), test.why.clone()));
    let without = Without { left_out: left_out.collect(), notices: failed().any(|test| is_of_body(&test)) };
    if matches!(ran.run.ended, Ended::Exited(_)) {
        bench.cache.folder.write(&key, &without);
    }
    Ok(Ok(without))
}

/// A run of examples.
struct Ran {
    /// The examples that were to run.
    names: Vec<String>,
    tests: Vec<TestEnd>,
    run: Run,
    copy: Copy,
    /// Limits of the run.
    limits: Limits,
}

/// Builds a program and runs the examples of its function, or returns how the build ended.
fn once(
    bench: &Bench,
    program: &str,
    target: &Target,
    left_out: &[(String, String)],
) -> Result<Result<Ran, Run>, TrialError> {
    let lines = lines(&target.text, &documentation(target));
    let (copy, products) = bench.laid_out(program)?;
    let cargo = |words: &[&str], limits| {
        let words = ["test", "--doc", "--"].iter().chain(words).map(OsString::from).collect();
        bench.cargo(words, &copy, products.path(), limits, &[])
    };
    // This builds the library, too, for which the limits are others.
    let listing = cargo(&["--list"], None)?;
    let Some(all) = listed(&listing.output).filter(|_| listing.ended == Ended::Exited(0)) else {
        return Ok(Err(listing));
    };
    let file = &bench.project.file;
    let files =
        [file, file.strip_prefix(&bench.project.package).unwrap_or(file)].map(|file| file.display().to_string());
    // A name is `FILE - ITEM (line N)`.
    let item = |name: &str| {
        let (file, rest) = name.split_once(" - ")?;
        let (item, line) = rest.rsplit_once(" (line ")?;
        let line: usize = line.strip_suffix(')')?.parse().ok()?;
        (files.iter().any(|own| own == file) && lines.contains(&line)).then(|| item.to_owned())
    };
    let is_left = |name: &String| !left_out.iter().any(|(other, _)| other == name);
    let mut names: Vec<String> = all.into_iter().filter(|name| item(name).is_some() && is_left(name)).collect();
    let Some(filter) = names.first().and_then(|name| item(name)) else {
        return Ok(Ok(Ran { names, tests: Vec::new(), run: listing, copy, limits: bench.limits }));
    };
    let wall = bench.limits.wall + COMPILE_TIME * u32::try_from(names.len() + left_out.len()).unwrap_or(u32::MAX);
    let limits = Limits { wall, ..compile_limits(bench.limits) };
    let mut run = cargo(&[&filter], Some(limits))?;
    let tests: Vec<TestEnd> = names.iter().filter_map(|name| end(&run.output, name)).collect();
    names.retain(|name| !tests.iter().any(|test| test.name == *name && test.outcome == Outcome::Skipped));
    // The exit code is that of other functions' examples, too.
    let has_passed = |name: &String| tests.iter().any(|test| test.name == *name && test.outcome == Outcome::Passed);
    if run.ended == Ended::Exited(101) && names.iter().all(has_passed) {
        run.ended = Ended::Exited(0);
    }
    Ok(Ok(Ran { names, tests, run, copy, limits }))
}

/// The end of an example as rustdoc reports it, with the reason of a failure.
fn end(output: &str, name: &str) -> Option<TestEnd> {
    let head = format!("test {name}");
    let said = |words: &str| output.lines().any(|line| line.starts_with(&head) && line.ends_with(words));
    // Only failed examples show what they print, and with it any other line.
    let outcome = match () {
        () if said("... FAILED") => Outcome::Failed,
        () if said("... ok") => Outcome::Passed,
        () if said("... ignored") => Outcome::Skipped,
        () => return None,
    };
    let why = if outcome == Outcome::Failed { reason(output, name) } else { String::new() };
    Some(TestEnd { why, ..TestEnd::new(name, outcome) })
}

/// The reason of a failure, on one line.
fn reason(output: &str, name: &str) -> String {
    let own = output.split_once(&format!("---- {name}")).map_or(output, |(_, own)| own);
    let own = own.split("\n---- ").next().unwrap_or(own).split("\nfailures:\n").next().unwrap_or(own);
    if own.contains("panicked at ") {
        // The place is one in rustdoc's own text.
        let said = panic_message(own);
        return said.rsplit_once(" (").map_or(said.clone(), |(said, _)| said.to_owned());
    }
    let lines = own.lines().skip(1).map(str::trim).filter(|line| !line.is_empty());
    let error = lines.clone().find(|line| line.starts_with("error"));
    error.or_else(|| lines.last()).unwrap_or("it failed").to_owned()
}

/// The function under test in a text.
fn target_in(text: &str, trial: &Trial) -> Option<Target> {
    let place = trial.entry_point.clone().map_or(Place::Any, Place::Function);
    Target::in_text(text, Language::Rust, &place).ok()
}

/// The documentation of a function: the text between the item before it and its name.
fn documentation(target: &Target) -> Range<usize> {
    let code = blanked(Language::Rust, &target.text);
    let end = target.function.start;
    let start = code.get(..end).and_then(|code| code.rfind([';', '{', '}'])).map_or(0, |end| end + 1);
    start..target.body.start.max(end)
}

/// The comments and strings in the documentation of a function, without its code.
fn comments(target: &Target) -> Vec<u8> {
    let part = documentation(target);
    let code = blanked(Language::Rust, &target.text);
    let bytes = target.text.as_bytes()[part.clone()].iter().zip(&code.as_bytes()[part]);
    bytes.filter(|(text, code)| text != code).map(|(text, _)| *text).collect()
}

/// The lines of a part of a text, 1-based.
fn lines(text: &str, part: &Range<usize>) -> Range<usize> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    line(part.start)..line(part.end) + 1
}

/// Returns true if a file is part of its package's library, by its path.
fn is_in_library(project: &Project) -> bool {
    let package = project.root.join(&project.package);
    let manifest = Manifest::at(&package).unwrap_or_default();
    let path = manifest.library();
    let Ok(file) = project.file.strip_prefix(&project.package) else { return false };
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let is_elsewhere = ["src/main.rs", "build.rs", "src/bin", "tests", "examples", "benches"];
    package.join(path).is_file()
        && file.starts_with(folder)
        && !is_elsewhere.iter().any(|other| file.starts_with(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: &str = "\nrunning 4 tests\ntest a.rs - f (line 3) ... ok\ntest a.rs - f (line 7) - compile fail ... ok\n\
        test a.rs - f (line 9) ... FAILED\ntest a.rs - f (line 12) ... FAILED\ntest a.rs - f (line 15) ... ignored\n\nfailures:\n\n\
        ---- a.rs - f (line 9) stdout ----\nerror[E0425]: no `x`\n --> a.rs:9:1\n\nCouldn't compile the test.\n\
        ---- a.rs - f (line 12) stdout ----\nTest executable failed (exit status: 101).\n\nstderr:\n\n\
        thread 'main' (1) panicked at a.rs:5:1:\nassertion `left == right` failed\n  left: 6\n right: 7\n\
        test a.rs - f (line 9) ... ok\n\n\nfailures:\n    a.rs - f (line 9)\n";

    #[test]
    fn examples_end_as_rustdoc_reports() {
        let end = |line: usize| end(FAILED, &format!("a.rs - f (line {line})")).map(|test| (test.outcome, test.why));
        let failed = |why: &str| Some((Outcome::Failed, why.to_owned()));
        assert_eq!(end(3), Some((Outcome::Passed, String::new())));
        assert_eq!(end(7), Some((Outcome::Passed, String::new())));
        assert_eq!(end(9), failed("error[E0425]: no `x`"), "another example cannot speak for it");
        assert_eq!(
            end(12),
            failed("assertion `left == right` failed, left: 6, right: 7, test a.rs - f (line 9) ... ok")
        );
        assert_eq!((end(15).map(|test| test.0), end(1)), (Some(Outcome::Skipped), None));
    }

    #[test]
    fn the_documentation_stands_between_the_item_before_and_the_name() {
        let text = "#![allow(a)]\nuse a;\n/// One;\n/// ```\n/// f();\n/// ```\n#[inline]\npub fn f() {}\n";
        let target = Target::in_text(text, Language::Rust, &Place::Function("f".to_owned())).unwrap();
        let part = documentation(&target);
        assert_eq!(lines(text, &part), 2..9);
        assert!(text[part].contains("/// f();"));
        let of =
            |text: &str| comments(&Target::in_text(text, Language::Rust, &Place::Function("f".to_owned())).unwrap());
        assert_eq!(of(text), of(&text.replace("pub fn f()", "pub fn f(x: u8)")), "its head is no documentation");
        assert_ne!(of(text), of(&text.replace("f();", "g();")));
    }
}
