//! Go without a project: the candidate and its tests in a module of their own.

use std::path::PathBuf;

use super::module::{Built, Runs, Suite, evidence};
use super::store::Store;
use super::text::package_of;
use crate::trial::language::compiled::not_compiled;
use crate::trial::language::row::{Context, Copy, Evidence, Tests, Tool, Trial, TrialError, Verdict, decide, nonce};

pub fn run(at: &Context, go: &Tool, store: &Store, trial: &Trial) -> Result<Verdict, TrialError> {
    let Tests::Source { name, text } = &trial.tests else {
        return Ok(Verdict::not_run("examples in Go's documentation are not run: give the tests as a file"));
    };
    let failed = |e: std::io::Error| TrialError::Sandbox(format!("the program could not be laid out: {e}"));
    let package = package_of(text).or_else(|| package_of(&trial.program)).unwrap_or("main").to_owned();
    let with_package = |text: &str| {
        if package_of(text).is_some() { text.to_owned() } else { format!("package {package}; {text}") }
    };
    let stem = trial.module().filter(|stem| stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    let stem = stem.map(|stem| stem.trim_end_matches("_test")).filter(|stem| !stem.is_empty()).unwrap_or("candidate");
    let suite = Suite {
        file: PathBuf::from(format!("{stem}_test.go")),
        text: with_package(text),
        program: PathBuf::from(format!("{stem}.go")),
        package: package_of(&trial.program).unwrap_or(&package).to_owned(),
        module: PathBuf::new(),
        path: stem.to_owned(),
        only: Vec::new(),
    };
    let names = suite.names();
    if names.is_empty() {
        return Ok(Verdict::not_run(&format!(
            "no functions of the form TestName(t *testing.T), and no examples that say their output, found in {name}"
        )));
    }
    let copy = Copy::empty().map_err(failed)?;
    let (major, minor) = go.version;
    copy.put("go.mod".as_ref(), &format!("module {stem}\n\ngo {major}.{minor}\n")).map_err(failed)?;
    copy.put(&suite.program, &with_package(&trial.program)).map_err(failed)?;
    suite.lay_out(&copy, &format!("guard{}", nonce()?)).map_err(failed)?;
    let runs = Runs { at, go, store, suite: &suite, limits: trial.limits };
    let (program, sources) = match runs.compile(&copy)? {
        Built::Program(program, sources) => (program, sources),
        Built::Failed(run) => return not_compiled(run, trial.limits),
    };
    let (run, told) = runs.once((&program, &sources), &Copy::empty().map_err(failed)?, &names)?;
    decide(&Evidence { wanted: names.clone(), ..evidence(run, told, names) }, &trial.limits)
}
