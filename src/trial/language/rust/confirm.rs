//! Further tests of a crate, which can only overrule a pass. All tests of a test program run at once with the
//! candidate, as `cargo test` runs them: where they pass, no file of them needs a build of its own, with the
//! candidate and without.

use std::path::{Path, PathBuf};

use super::bench::{Bench, Laid, guard_file, secret};
use super::edit::apply;
use super::guards::Guards;
use super::kind::Kind;
use crate::hash;
use crate::sandbox::Ended;
use crate::trial::language::row::{Evidence, Outcome, Report, Reporter, TestEnd, Trial, TrialError, Verdict, decide};
use crate::trial::project::runs::limits_without;

/// The verdict of all programs that the tests file may be built into, if all their tests pass. Each is built
/// once for a candidate.
pub fn passed(bench: &Bench, kinds: &[Kind], trial: &Trial) -> Result<Option<Verdict>, TrialError> {
    let mut last = None;
    for kind in kinds {
        let inputs = format!("{kind:?} {:?}\n{}", bench.features, trial.program);
        let key = hash::of(inputs.as_bytes());
        let found = if let Some(found) = bench.cache.whole.get(key) {
            found
        } else {
            let found = whole(bench, kind, trial)?;
            if !bench.at.is_cancelled() {
                bench.cache.whole.put(key, found.clone());
            }
            found
        };
        let Some(found) = found else { return Ok(None) };
        last = Some(found);
    }
    Ok(last)
}

/// The verdict of all tests of one program, if they pass. The guard stands in the program's root, so its own
/// test is the last.
fn whole(bench: &Bench, kind: &Kind, trial: &Trial) -> Result<Option<Verdict>, TrialError> {
    let project = bench.project;
    let Some(root) = root(kind, |file| project.root.join(&project.package).join(file).is_file()) else {
        return Ok(None);
    };
    let root = project.package.join(root);
    let (text, secret) = (bench.original(&root)?, secret()?);
    let guards = Guards::of(&text, &secret, &guard_file(&secret));
    let (program, tests) = if root == project.file {
        let Ok(program) = guards.placed_in(&text, &trial.program) else { return Ok(None) };
        (program, None)
    } else {
        (trial.program.clone(), Some(apply(&text, &guards.edits)))
    };
    let limits = limits_without(bench.limits, bench.at.patience);
    let bench = &Bench { tests_file: &root, limits, ..*bench };
    let last = guards.tests.len();
    let laid = Laid { program: &program, tests: tests.as_deref(), secret: &secret, last };
    let Ok(built) = bench.build(kind, &laid)? else { return Ok(None) };
    let copy = bench.base.copy(project, Some(&trial.program)).map_err(TrialError::Sandbox)?;
    let (run, told) = bench.run_tests(&built, vec!["--test-threads=1".into()], &copy, Vec::new())?;
    let has_ended = told.is_some_and(|told| told.contains(&format!("{last} false")));
    if run.ended != Ended::Exited(0) || !has_ended {
        return Ok(None);
    }
    let tests = vec![TestEnd::new(&secret, Outcome::Passed)];
    let report = Report::Tests { by: Reporter::Guard, tests, is_whole: true };
    let changed = bench.base.changed(project, &copy);
    let verdict = decide(&Evidence { changed, wanted: vec![secret], ..Evidence::of(run, report) }, &limits)?;
    Ok(Some(verdict).filter(Verdict::has_passed))
}

/// The file that a test program begins with, relative to its package, by cargo's conventions.
fn root(kind: &Kind, has: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let places = match kind {
        Kind::Lib => vec!["src/lib.rs".to_owned()],
        Kind::Main => vec!["src/main.rs".to_owned()],
        Kind::Bin(name) => vec![format!("src/bin/{name}.rs"), format!("src/bin/{name}/main.rs")],
        Kind::Test(name) => vec![format!("tests/{name}.rs"), format!("tests/{name}/main.rs")],
    };
    places.into_iter().map(PathBuf::from).find(|file| has(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_begins_with_the_file_that_cargo_takes() {
        let of = |kind: &Kind, there: &str| root(kind, |file| file == Path::new(there));
        let test = Kind::Test("a".to_owned());
        assert_eq!(of(&test, "tests/a/main.rs"), Some("tests/a/main.rs".into()));
        assert_eq!(of(&test, "tests/a.rs"), Some("tests/a.rs".into()));
        assert_eq!(of(&Kind::Lib, "src/main.rs"), None);
    }
}
