//! Go in a module of the user's: the tests of a file, compiled in a copy of the project, offline, from the
//! user's own modules.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::module::{Built, Runs, Suite, evidence};
use super::store::Store;
use super::text::{module_path, package_of};
use crate::sandbox::Ended;
use crate::trial::language::compiled::{no_such_test, not_compiled};
use crate::trial::language::row::{
    Base, Context, Copy, Evidence, Project, Tool, Trial, TrialError, Verdict, decide, nonce,
};

/// Where a module is built. It keeps its place, so that what was compiled there is known again.
#[derive(Debug)]
struct Place {
    base: Arc<Base>,
    copy: Copy,
}

/// The places of modules, one for each file and its tests: what another candidate left must not be built.
#[derive(Debug, Default)]
pub struct Places(Mutex<HashMap<(PathBuf, PathBuf, PathBuf), Place>>);

/// Runs a tests file of a module with the candidate in it.
pub fn run(
    at: &Context,
    go: &Tool,
    (store, places): (&Store, &Places),
    trial: &Trial,
    project: &Project,
) -> Result<Verdict, TrialError> {
    let suite = suite_of(project)?;
    let mut names = suite.names();
    let top = |name: &String| name.split('/').next().unwrap_or_default().to_owned();
    if let Some(asked) = suite.only.iter().find(|asked| !names.contains(&top(asked))) {
        return Ok(no_such_test(asked, &suite.file, &names));
    }
    let tops: Vec<String> = suite.only.iter().map(top).collect();
    names.retain(|name| tops.is_empty() || tops.contains(name));
    if names.is_empty() {
        let file = suite.file.display();
        return Ok(Verdict::not_run(&format!("no functions of the form TestName(t *testing.T) found in {file}")));
    }
    let base = at.projects.base(project)?;
    let runs = Runs { at, go, store, suite: &suite, limits: trial.limits };
    let mut unchanged = None;
    let baseline = at.projects.baseline(project, &base, at.cancel, |copy| {
        if unchanged.is_none() {
            unchanged = Some(places.build(&runs, project, &base, None)?);
        }
        let Some(Built::Program(program, sources)) = &unchanged else { return Ok(None) };
        let (mut known, mut left) = (Vec::new(), names.clone());
        // A panic ends all tests: those that did not come to begin are run without it.
        while !left.is_empty() {
            let (_, told) = runs.once((program, sources), copy, &left)?;
            let Some(told) = told.filter(|told| !told.begun.is_empty()) else { break };
            left.retain(|name| !told.begun.contains(name));
            known.extend(told.all());
        }
        Ok((!known.is_empty()).then_some(known))
    })?;
    let (program, sources) = match places.build(&runs, project, &base, Some(&trial.program))? {
        Built::Program(program, sources) => (program, sources),
        Built::Failed(run) => return not_compiled(run, trial.limits),
    };
    // A test that says nothing would decide how the process ends.
    let names: Vec<String> = names.into_iter().filter(|name| !baseline.flaky.contains(name)).collect();
    if names.is_empty() {
        return Ok(Verdict::not_run(&format!("no tests are left ({})", baseline.remark())));
    }
    let copy = base.copy(project, Some(&trial.program)).map_err(TrialError::Sandbox)?;
    let (run, told) = runs.once((&program, &sources), &copy, &names)?;
    // Parts of tests are known only when they have run.
    let is_there = |asked: &str| {
        baseline.wanted.iter().chain(&baseline.flaky).any(|name| name == asked)
            || told.iter().flat_map(|told| &told.tests).any(|test| test.name == asked)
    };
    let parts = suite.only.iter().map(|asked| asked.replace(' ', "_"));
    if let Some(asked) = parts.into_iter().find(|asked| run.ended == Ended::Exited(0) && !is_there(asked)) {
        return Ok(no_such_test(&asked, &suite.file, &baseline.wanted));
    }
    let evidence = Evidence {
        wanted: baseline.wanted.clone(),
        flaky: baseline.flaky.clone(),
        remark: baseline.remark(),
        changed: base.changed(project, &copy),
        ..evidence(run, told, names)
    };
    decide(&evidence, &trial.limits)
}

impl Places {
    /// Compiles the tests with this program, or with the project's own; in the place of the last build.
    fn build(
        &self,
        runs: &Runs,
        project: &Project,
        base: &Arc<Base>,
        program: Option<&str>,
    ) -> Result<Built, TrialError> {
        let failed = |e: std::io::Error| TrialError::Sandbox(format!("the tests could not be laid out: {e}"));
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (project.root.clone(), project.file.clone(), runs.suite.file.clone());
        if !places.get(&key).is_some_and(|place| Arc::ptr_eq(&place.base, base)) {
            let copy = base.copy(project, None).map_err(TrialError::Sandbox)?;
            runs.suite.lay_out(&copy, &format!("guard{}", nonce()?)).map_err(failed)?;
            places.insert(key.clone(), Place { base: Arc::clone(base), copy });
        }
        let copy = &places[&key].copy;
        let own = fs::read_to_string(project.root.join(&project.file)).map_err(failed)?;
        copy.put(&project.file, program.unwrap_or(&own)).map_err(failed)?;
        runs.compile(copy)
    }
}

/// The tests of a file of a project.
fn suite_of(project: &Project) -> Result<Suite, TrialError> {
    let file = project.tests.clone().unwrap_or_default();
    let read = |path: &Path| {
        fs::read_to_string(project.root.join(path))
            .map_err(|e| TrialError::Sandbox(format!("{} cannot be read: {e}", project.root.join(path).display())))
    };
    if !file.to_string_lossy().ends_with("_test.go") {
        return Err(TrialError::Interpreter(format!(
            "{} is no tests file of its module: give it a name that ends in _test.go, or give the tests as --test-command",
            file.display()
        )));
    }
    let module = module_of(project, &file).filter(|module| module_of(project, &project.file).as_ref() == Some(module));
    let module = module.ok_or_else(|| {
        TrialError::Interpreter(format!(
            "{} and {} are not of one module: give the tests as --test-command",
            file.display(),
            project.file.display()
        ))
    })?;
    let path = module_path(&read(&module.join("go.mod"))?).ok_or_else(|| {
        TrialError::Interpreter(format!("{} names no module", project.root.join(&module).join("go.mod").display()))
    })?;
    let text = read(&file)?;
    let package = package_of(&read(&project.file)?).unwrap_or("main").to_owned();
    Ok(Suite { file, text, program: project.file.clone(), package, module, path, only: project.only.clone() })
}

/// The folder of the module that a file belongs to.
fn module_of(project: &Project, file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|folder| project.root.join(folder).join("go.mod").is_file()).map(Path::to_path_buf)
}
