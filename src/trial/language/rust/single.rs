//! Rust in a single file: compiled with the tests as a module, then run.
//!
//! Code and tests are one program, so the verdict does not rest on what it prints or how it ends alone: each
//! test holds a guard of ours that reports its end through a private pipe. The module of tests comes first
//! and names its macros, so that the candidate can neither replace them nor guess the module's name.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::examples;
use super::tests_in_text::{TestFunction, guarded};
use crate::sandbox::{Ended, Job, Limits, Run, Scratch};
use crate::trial::judge;
use crate::trial::judge::channel::{Channel, VARIABLE};
use crate::trial::language::compiled::{compile_limits, make_executable, not_compiled};
use crate::trial::language::row::{
    Context, Evidence, Failure, Outcome, Report, Reporter, TestEnd, Tests, Tool, Trial, TrialError, Verdict, decide,
};

/// What reports the end of a test from within.
pub const GUARD: &str = include_str!("guard.rs.txt");

/// What the tests see without asking: by name, because names imported by `*` would give way to the
/// candidate's.
const MACROS: &str = "assert, assert_eq, assert_ne, debug_assert, debug_assert_eq, debug_assert_ne, panic, vec, format, matches, print, \
    println, eprintln, write, writeln, unreachable, todo, unimplemented, concat, stringify, line, file, include_str, env";

pub fn run(at: &Context, rustc: &Tool, trial: &Trial) -> Result<Verdict, TrialError> {
    let stem = trial.module().filter(|stem| is_identifier(stem)).unwrap_or("candidate");
    let main = format!("{stem}.rs");
    let (name, text) = match &trial.tests {
        Tests::Source { name, text } => (name, text.clone()),
        Tests::Doctest { source } => (&main, examples::inside(source, trial, stem)),
        _ => return Ok(Verdict::not_run("give the tests as a file")),
    };
    let failed = |e: std::io::Error| TrialError::Sandbox(format!("the program could not be laid out: {e}"));
    let folder = Scratch::new().map_err(failed)?;
    let nonce = judge::nonce()?;
    // Of the nonce the program learns only when it runs; this is another number.
    let secret = format!("tests_{}", judge::nonce()?);
    let (text, tests) = module_of(&trial.program, &text, &secret);
    let wanted: Vec<&TestFunction> = tests.iter().filter(|test| !test.ignored).collect();
    if wanted.is_empty() {
        return Ok(Verdict::not_run(&format!("no tests found in {name}")));
    }
    let other = format!("{}.rs", tests_stem(name, stem));
    let place = folder.path();
    fs::write(place.join(&main), root_of(&trial.program, &secret, &other, stem)).map_err(failed)?;
    fs::write(place.join(&other), text).map_err(failed)?;
    fs::write(place.join("guard.rs"), GUARD.replace("@VARIABLE@", VARIABLE)).map_err(failed)?;

    let binary = place.join("program");
    let compiled = compile(at, rustc, place, &main, &binary, trial.limits)?;
    if compiled.ended != Ended::Exited(0) || !make_executable(&binary) {
        return not_compiled(compiled, trial.limits);
    }
    let (channel, inherited, variable) = Channel::open(&nonce)?;
    let arguments = ["--test-threads=1"].map(OsString::from).to_vec();
    let readable = [place.to_path_buf()];
    let job = Job {
        readable: &readable,
        environment: vec![variable],
        inherited,
        ..Job::new(&binary, arguments, trial.limits)
    };
    let run = at.run(job)?;
    let told = channel.read(&nonce);
    // The reader need not see the name of our module, and has examples where the function is.
    let output = run.output.replace(&format!("{secret}::"), "");
    let has_examples = matches!(trial.tests, Tests::Doctest { .. });
    let run = Run { output: if has_examples { output.replace(&other, &main) } else { output }, ..run };
    let failure = has_panicked(&run).then(|| Failure::Said(panic_message(&run.output)));
    let names: Vec<String> = wanted.iter().map(|test| test.name.clone()).collect();
    let report = told.map_or(Report::Forged, |told| {
        let tests = tests.iter().enumerate().filter(|(_, test)| !test.ignored);
        let tests = tests.filter_map(|(i, test)| reported(&told, i, test.panics, &test.name)).collect();
        Report::Tests { by: Reporter::Guard, tests, is_whole: true }
    });
    decide(&Evidence { failure, asked: names.clone(), wanted: names, ..Evidence::of(run, report) }, &trial.limits)
}

/// Whether a test failed, as the test programs of Rust say it.
pub fn has_panicked(run: &Run) -> bool {
    run.ended == Ended::Exited(101)
}

/// How a test ended, from the lines of the guards: once, and in a panic only if that is what is expected of
/// it.
pub fn reported(told: &[String], number: usize, panics: bool, name: &str) -> Option<TestEnd> {
    let own = format!("{number} ");
    let mut ends = told.iter().filter(|line| line.starts_with(&own));
    let end = ends.next()?;
    let is_as_it_should = *end == format!("{number} {panics}") && ends.next().is_none();
    Some(TestEnd::new(name, if is_as_it_should { Outcome::Passed } else { Outcome::Odd }))
}

/// What the first panic said, on one line.
pub fn panic_message(output: &str) -> String {
    let mut lines = output.lines().skip_while(|line| !line.contains("panicked at "));
    let Some(head) = lines.next() else { return "a test failed".to_owned() };
    let place = head.split("panicked at ").nth(1).unwrap_or_default().trim_end_matches(':');
    let mut place = place.rsplitn(2, ':');
    let place = place.nth(1).or(place.next()).unwrap_or_default();
    let said: Vec<&str> = lines
        .take_while(|line| {
            !line.trim().is_empty() && !line.starts_with("note:") && !line.starts_with("stack backtrace")
        })
        .map(str::trim)
        .take(6)
        .collect();
    format!("{} ({place})", said.join(", "))
}

fn compile(
    at: &Context,
    rustc: &Tool,
    place: &Path,
    main: &str,
    binary: &Path,
    limits: Limits,
) -> Result<Run, TrialError> {
    let mut arguments: Vec<OsString> =
        ["--test", "--edition=2021", "--error-format=short", "-Awarnings", "-Cdebuginfo=0", "--crate-name=candidate"]
            .map(OsString::from)
            .to_vec();
    arguments.extend(["-o".into(), binary.into(), main.into()]);
    let writable = [place.to_path_buf()];
    at.run(Job {
        readable: &rustc.readable,
        writable: &writable,
        folder: Some(place),
        environment: vec![("PATH".into(), rustc.path().into())],
        ..Job::new(&rustc.program, arguments, compile_limits(limits))
    })
}

/// The candidate's file, with our modules declared on a line that is there anyway, so that line numbers stay
/// true.
fn root_of(program: &str, secret: &str, tests: &str, stem: &str) -> String {
    let mut at = 0;
    for line in program.split_inclusive('\n') {
        let text = line.trim_start();
        if !(text.is_empty() || text.starts_with("#!") || text.starts_with("//")) {
            break;
        }
        // A comment that documents what follows belongs to it.
        if text.starts_with("///")
            || text.starts_with("//!") && at > 0 && !program[..at].trim_start().starts_with("//!")
        {
            break;
        }
        at += line.len();
    }
    let (head, rest) = program.split_at(at);
    format!(
        "{head}#[path = {tests:?}] mod {secret}; #[path = \"guard.rs\"] mod {secret}_guard; #[allow(unused)] extern crate self as {stem}; {rest}"
    )
}

/// The tests as a module, guarded, and what tests there are.
fn module_of(program: &str, text: &str, secret: &str) -> (String, Vec<TestFunction>) {
    let mut text = text.to_owned();
    // Tests for programs that lack their last brace bring it along; here the program is whole.
    if text.trim_start().starts_with('}') && depth(program) == 0 {
        text = text.replacen('}', "", 1);
    }
    let is_main = text.contains("fn main(");
    if !is_main && !text.contains("#[test]") {
        text = format!("fn main() {{ {text}\n}}");
    }
    if text.contains("fn main(") && !text.contains("#[test]") {
        text += "\n#[test] fn all_checks() { main(); }\n";
    }
    let (guarded, tests) =
        guarded(&text, &["#[test]"], |i| format!(" let _guard = crate::{secret}_guard::begin({i});"));
    (format!("#![allow(warnings)] use super::*; use ::std::{{{MACROS}}}; {guarded}"), tests)
}

/// How many braces are open at the end; strings and comments are looked into, too, which is good enough to
/// tell 0 from 1.
fn depth(text: &str) -> i64 {
    text.bytes().map(|byte| i64::from(byte == b'{') - i64::from(byte == b'}')).sum()
}

fn tests_stem(name: &str, stem: &str) -> String {
    let own = Path::new(name).file_stem().and_then(|own| own.to_str()).unwrap_or("tests");
    let is_free = is_identifier(own) && own != stem && own != "guard";
    if is_free { own.to_owned() } else { format!("tests_of_{stem}") }
}

fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !["self", "crate", "super", "std", "core", "alloc", "test", "mod", "fn", "use"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_declared_where_no_line_moves() {
        let root = root_of("#![allow(unused)]\n// About.\n\nfn f() {}\n", "s", "t.rs", "a");
        assert_eq!(root.lines().count(), 4);
        assert!(root.starts_with("#![allow(unused)]\n// About.\n\n#[path = \"t.rs\"] mod s; "), "{root}");
        let root = root_of("/// Doubles.\nfn f() {}\n", "s", "t.rs", "a");
        assert!(root.starts_with("#[path") && root.contains("; /// Doubles.\nfn f"), "{root}");
    }

    #[test]
    fn a_panic_is_told_on_one_line() {
        let output = "\nrunning 1 test\n\nthread 'x' panicked at t.rs:3:5:\nassertion `left == right` failed: why\n  left: 4\n right: 5\nnote: run\n";
        assert_eq!(panic_message(output), "assertion `left == right` failed: why, left: 4, right: 5 (t.rs:3)");
        assert_eq!(panic_message(""), "a test failed");
    }
}
