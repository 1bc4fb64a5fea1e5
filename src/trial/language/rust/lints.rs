//! Lint levels of a crate. Tests are built without them, since they must not apply to the lines that a trial
//! puts into files. A candidate that passed is therefore built once more as it is, with the levels, where the
//! crate has some that can fail. An error that the crate has without the candidate, too, says nothing about
//! it.

use std::ffi::OsString;
use std::path::Path;

use super::bench::{Bench, declaring};
use super::cache_folder::LEVELS;
use super::edit::apply;
use super::examples;
use super::kind::{Kind, kinds};
use super::manifest::Manifest;
use super::probe;
use crate::code::blanked;
use crate::hash;
use crate::language::Language;
use crate::sandbox::{Ended, Run};
use crate::trial::language::compiled::not_compiled;
use crate::trial::language::row::{Trial, TrialError, Verdict};

/// The verdict of a candidate, which is no pass if cargo does not compile it for the user.
pub fn held_against(bench: &Bench, trial: &Trial, verdict: Verdict) -> Result<Verdict, TrialError> {
    // Further tests run with a candidate that passed before.
    let is_candidate = verdict.has_passed() && bench.project.lone.is_none() && !bench.at.confirms;
    if !is_candidate || !can_fail(bench, &trial.program) {
        return Ok(verdict);
    }
    let Some(command) = command(bench)? else { return Ok(verdict) };
    let run = build(bench, &command, &trial.program)?;
    if !matches!(run.ended, Ended::Exited(_)) || errors(&run.output).next().is_none() {
        return Ok(verdict);
    }
    let known = without(bench, &command, trial)?;
    let Some((at, _)) = errors(&run.output).find(|(_, words)| !known.contains(words)) else { return Ok(verdict) };
    let output = run.output[at..].to_owned();
    not_compiled(Run { output, ..run }, trial.limits)
}

/// Returns true if the crate says of lints that they are errors: in the file itself or in one above it, in a
/// manifest, or in settings of cargo.
fn can_fail(bench: &Bench, program: &str) -> bool {
    let (package, file) = (&bench.project.package, &bench.project.file);
    let source = package.join("src");
    let beside = |folder: &Path| ["lib.rs", "main.rs", "mod.rs"].map(|name| folder.join(name));
    let above = file.ancestors().skip(1).filter(|folder| folder.starts_with(&source));
    let above = above.flat_map(|folder| beside(folder).into_iter().chain([folder.with_extension("rs")]));
    let mut texts = above.filter_map(|file| bench.base.read(&file).ok());
    has_level(program) || texts.any(|text| has_level(&text)) || of_manifest(bench) || bench.settings().denies()
}

/// Returns true if an attribute in a text makes an error of a lint.
fn has_level(text: &str) -> bool {
    let is_there = |text: &str| text.contains("deny(") || text.contains("forbid(");
    is_there(text) && is_there(&blanked(Language::Rust, text))
}

/// Returns true if the manifest of the package, or that of its workspace, makes an error of a lint.
fn of_manifest(bench: &Bench) -> bool {
    let read = |folder: &Path| Manifest::parse(&bench.base.read(&folder.join("Cargo.toml")).ok()?);
    let package = &bench.project.package;
    let Some(lints) = read(package).and_then(|manifest| manifest.lints().cloned()) else { return false };
    let is_shared = lints.get("workspace").and_then(toml::Value::as_bool) == Some(true);
    let shared = || package.ancestors().find_map(|folder| read(folder)?.shared_lints().cloned());
    let lints = if is_shared { shared() } else { Some(lints) };
    // Levels for other tools do not stop a build.
    let levels = lints.and_then(|lints| lints.get("rust").cloned()).map(|lints| lints.to_string());
    levels.is_some_and(|levels| levels.contains("\"deny\"") || levels.contains("\"forbid\""))
}

/// The command of cargo that compiles the file as it is when the user runs the tests. The library is compiled
/// without its tests, too: some lints are silent with them.
fn command(bench: &Bench) -> Result<Option<Vec<OsString>>, TrialError> {
    let package = &bench.project.package;
    let root = bench.project.root.join(package);
    let file = bench.project.file.strip_prefix(package).unwrap_or(&bench.project.file);
    let mut found = kinds(file, |path| root.join(path).is_file(), |name| declaring(&root, name));
    if found.is_empty() && !examples::are_in(bench.tests_file) {
        found = bench.kinds()?;
    }
    let words = |kind: &Kind| match kind {
        Kind::Lib => ["build", "--lib"].map(OsString::from).to_vec(),
        kind => ["test", "--no-run"]
            .map(OsString::from)
            .into_iter()
            .chain(kind.arguments().into_iter().map(Into::into))
            .collect(),
    };
    Ok(found.first().map(words))
}

/// Builds a text of the candidate's file, as it is.
fn build(bench: &Bench, command: &[OsString], program: &str) -> Result<Run, TrialError> {
    let (copy, products) = bench.laid_out(program)?;
    bench.cargo(command.to_vec(), &copy, products.path(), None, &[(LEVELS, "1")])
}

/// The errors without the candidate, found once for a state of the project.
fn without(bench: &Bench, command: &[OsString], trial: &Trial) -> Result<Vec<String>, TrialError> {
    let original = bench.original(&bench.project.file)?;
    // The text may hold the candidate already.
    let program = match trial.stub.as_ref().zip(trial.function()) {
        Some((stub, name)) => match probe::noted(stub, name, &[], true) {
            Some(edits) => apply(stub, &edits),
            None => return Ok(Vec::new()),
        },
        None => original,
    };
    let (state, features) = (bench.cache.state(bench.project), bench.features.join(","));
    let inputs = format!("{command:?} {features}\n{state}\n{}\n{program}", bench.project.file.display());
    let key = format!("lints/{:016x}.json", hash::of(inputs.as_bytes()));
    if let Some(known) = bench.cache.folder.read(&key) {
        return Ok(known);
    }
    let run = build(bench, command, &program)?;
    let found: Vec<String> = errors(&run.output).map(|(_, words)| words).collect();
    if matches!(run.ended, Ended::Exited(_)) {
        bench.cache.folder.write(&key, &found);
    }
    Ok(found)
}

/// The errors of lints in the output of cargo, each with its place there. Where code is never used, one error
/// names all of it, so that the names do not count.
fn errors(output: &str) -> impl Iterator<Item = (usize, String)> {
    let mut from = 0;
    let lines = output.split_inclusive('\n').map(move |line| {
        from += line.len();
        (from - line.len(), line.trim_end())
    });
    lines.filter_map(|(at, line)| {
        let words = line.strip_prefix("error: ")?;
        let is_sum = ["could not compile", "aborting due to"].iter().any(|head| words.starts_with(head));
        let words = words.find(" never ").map_or(words, |at| &words[at..]);
        (!is_sum).then(|| (at, words.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_lints_are_known_by_their_words() {
        let output = "   Compiling a\nerror: unused variable: `b`\n --> a.rs:1:1\n\nwarning: c\n\nerror: functions `d` and `e` are never used\n\n\
            error[E0425]: no\nerror: could not compile `a` (lib) due to 3 previous errors\n";
        let found: Vec<_> = errors(output).collect();
        assert_eq!(
            found.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>(),
            ["unused variable: `b`", " never used"]
        );
        assert!(output[found[0].0..].starts_with("error: unused"));
    }

    #[test]
    fn levels_are_those_of_attributes() {
        assert!(has_level("#![deny(warnings)]\n") && has_level("#[cfg_attr(a, forbid(b))]\nfn f() {}\n"));
        assert!(!has_level("// deny(warnings)\nfn f() { \"forbid(a)\"; }\n#![warn(a)]\n"));
    }
}
