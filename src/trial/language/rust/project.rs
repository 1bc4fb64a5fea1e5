//! Rust in a crate: the tests are built with the candidate's crate by cargo, offline, in a copy of the
//! project, then run by name.

use std::path::Path;
use std::sync::Arc;

use super::baseline::{self, Baseline};
use super::bench::{Bench, Laid, Program, guard_file, secret, without_guards};
use super::build_cache::BuildCache;
use super::confirm;
use super::edit;
use super::examples;
use super::guards::Guards;
use super::lints;
use super::lone;
use crate::hash;
use crate::sandbox::Run;
use crate::trial::decide::limit;
use crate::trial::language::compiled::{no_such_test, not_compiled};
use crate::trial::language::row::{Context, Evidence, Project, Status, Tool, Trial, TrialError, Verdict, decide};
use crate::trial::project::runs::candidate_limits;

/// Runs the tests of a crate with the candidate in it. A crate whose tests ask for features may compile with
/// all of them alone, as its developers test it.
pub fn run(
    at: &Context,
    rustc: &Tool,
    cache: &BuildCache,
    project: &Project,
    trial: &Trial,
) -> Result<Verdict, TrialError> {
    let tests_file = project.tests.as_deref().unwrap_or(Path::new(""));
    let base = &cache.base;
    let bench = Bench { at, rustc, base, cache, project, tests_file, features: &[], limits: trial.limits };
    let (needed, all) = bench.features_needed();
    let key = format!("features/{:016x}.json", hash::of(needed.join(",").as_bytes()));
    let needs_all = || cache.folder.read::<bool>(&key).unwrap_or(false);
    let judge = |bench: &Bench| lints::held_against(bench, trial, judge(bench, trial)?);
    if needed.is_empty() || !needs_all() {
        let verdict = judge(&Bench { features: &needed, ..bench })?;
        if needed.is_empty() || verdict.status != Status::Error {
            return Ok(verdict);
        }
    }
    let verdict = judge(&Bench { features: &all, ..bench })?;
    if verdict.status != Status::Error {
        cache.folder.write(&key, &true);
    }
    Ok(verdict)
}

fn judge(bench: &Bench, trial: &Trial) -> Result<Verdict, TrialError> {
    let Bench { at, project, tests_file, .. } = *bench;
    if examples::are_in(tests_file) {
        return examples::run(bench, trial);
    }
    let kinds = bench.kinds()?;
    let is_whole_project = project.lone.is_none() && project.only.is_empty();
    if at.confirms
        && is_whole_project
        && tests_file != project.file
        && let Some(passed) = confirm::passed(bench, &kinds, trial)?
    {
        return Ok(passed);
    }
    // The rest of the program is known to be the user's only if their own module is given.
    let function = trial.stub.as_ref().and(trial.function());
    let (original, known) = if project.lone.is_some() && trial.stub.is_none() {
        // There is only the candidate, which must not define the baseline of its tests.
        let original = bench.original(tests_file)?;
        let known = baseline::of_text(bench, &kinds[0], &original);
        (original, Ok(Arc::new(known)))
    } else {
        let original = bench.original(tests_file)?;
        let known = baseline::known(bench, &kinds, &original, function)?;
        (original, known)
    };
    let baseline = match known {
        Ok(found) if project.only.is_empty() => found,
        Ok(found) => match found.narrowed(&project.only) {
            Ok(narrowed) => Arc::new(narrowed),
            Err(asked) => return Ok(no_such_test(asked, tests_file, &found.wanted)),
        },
        Err(verdict) => return Ok(verdict),
    };
    if at.prepares {
        return Ok(Verdict::not_run("only the baseline was asked for"));
    }
    if baseline.wanted.is_empty() {
        let file = tests_file.display();
        return Ok(match &*baseline.left_out.words {
            "" => Verdict::not_run(&format!("no tests found in {file}")),
            left_out => {
                Verdict { is_unheard: true, ..Verdict::not_run(&format!("all tests of {file} are {left_out}")) }
            }
        });
    }
    // In the candidate's own file the tests are those of the user's text, whatever the candidate changed.
    let is_own = tests_file == project.file;
    let with_tests =
        (project.lone.is_some() && !is_own).then(|| lone::with_tests(&trial.program, &project.file, tests_file));
    let candidate = with_tests.as_ref().unwrap_or(&trial.program);
    let text = if is_own { trial.stub.as_ref().unwrap_or(&original) } else { &original };
    let parts = bench.parts(&baseline.kind, candidate, text);
    let cached = bench.cached(&parts);
    let secret = cached.as_ref().map_or_else(secret, |cached| Ok(cached.secret.clone()))?;
    let guards = Guards::of(text, &secret, &guard_file(&secret));
    let (program, tests) = if is_own {
        match guards.placed_in(text, candidate) {
            Ok(program) => (program, None),
            Err(what) => {
                let message = format!("the code changed {what} of {}", tests_file.display());
                return Ok(Verdict { status: Status::Tampered, ..Verdict::not_run(&message) });
            }
        }
    } else {
        (candidate.clone(), Some(edit::apply(text, &guards.edits)))
    };
    let built = if let Some(cached) = cached {
        cached
    } else {
        let (program, tests, last) = (&*program, tests.as_deref(), guards.tests.len());
        match bench.build(&baseline.kind, &Laid { program, tests, secret: &secret, last })? {
            Ok(built) => {
                bench.cache_program(parts, &built);
                built
            }
            Err(build) => {
                let output = without_guards(&build.output);
                return not_compiled(Run { output, ..build }, trial.limits);
            }
        }
    };
    let limits = candidate_limits(trial.limits, baseline.elapsed);
    decided(&Bench { limits, ..*bench }, &built, &baseline, &guards, candidate)
}

/// The verdict of a candidate's built program.
fn decided(
    bench: &Bench,
    built: &Program,
    baseline: &Baseline,
    guards: &Guards,
    candidate: &str,
) -> Result<Verdict, TrialError> {
    let copy = bench.base.copy(bench.project, Some(candidate)).map_err(TrialError::Sandbox)?;
    let (run, told) = bench.run_tests(built, baseline.arguments(&built.secret), &copy, Vec::new())?;
    if let (Some(hit), Some(_)) = (&baseline.hit, limit(run.ended, &bench.limits)) {
        // They hit one without the candidate, too: the test that ran then says nothing about it.
        return match baseline.of_ended() {
            Some(others) => decided(bench, built, &others, guards, candidate),
            None => Err(TrialError::Limit(hit.words.clone())),
        };
    }
    let changed = bench.base.changed(bench.project, &copy);
    decide(&Evidence { changed, ..baseline.evidence(run, told.as_deref(), guards, &built.secret) }, &bench.limits)
}
