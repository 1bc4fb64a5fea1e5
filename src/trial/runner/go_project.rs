//! Go in a module: the tests of a file, compiled with the candidate's module in a copy of the project, offline, then run by name.
//!
//! Nothing of the candidate's runs while it is compiled, so what was compiled is kept for the next one. A package of ours that the
//! candidate's imports, and that therefore comes up before it, reports how each test ended, subtests included.

mod report;
mod text;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::project::{Base, Copy, Project};
use super::super::toolchain::Tool;
use super::super::{Limits, Status, Trial, TrialError, Verdict, verdict};
use super::go::{Cache, environment, package_of};
use super::names::Names;
use super::project::{Projects, guard};
use super::rust::{compile_limits, make_executable, not_compiled};
use super::{driver, nonce};
use crate::sandbox::{Ended, Job, Run, Sandbox, Scratch};
use crate::untrusted::{clean, clean_line};
use report::{early_end, read, with_messages};
use text::{guarded, module_path, with_import};

const GUARD: &str = include_str!("go/module_guard.go.txt");

/// Where a module is built. It keeps its place, so that what was compiled there is known again.
#[derive(Debug)]
struct Place {
    base: Arc<Base>,
    copy: Copy,
    /// Name of the package of ours.
    secret: String,
}

/// The places of modules, one for each file and its tests: what another candidate left must not be built.
#[derive(Debug, Default)]
pub struct Places {
    places: Mutex<HashMap<(PathBuf, PathBuf, PathBuf), Place>>,
}

/// The tests of a file in its module.
struct Tests<'a> {
    project: &'a Project,
    /// The tests file, relative to the root.
    file: PathBuf,
    /// The folder with `go.mod`, relative to the root.
    module: PathBuf,
    /// What packages of the module are imported by.
    path: String,
    /// The text of the tests file.
    text: String,
    /// The package that the file with the candidate belongs to.
    package: String,
}

/// Runs a tests file of a module with the candidate in it.
pub fn run(
    sandbox: &Sandbox,
    go: &Tool,
    cache: &Cache,
    projects: &Projects,
    project: &Project,
    trial: &Trial,
    cancel: &AtomicBool,
) -> Result<Verdict, TrialError> {
    let tests = Tests::of(project)?;
    let (_, names) = guarded(&tests.text, "");
    if names.is_empty() {
        let file = tests.file.display();
        return Ok(Verdict::not_run(&format!("no functions of the form TestName(t *testing.T) found in {file}")));
    }
    let base = projects.base(project)?;
    let runs = Runs { sandbox, go, cache, tests: &tests, limits: trial.limits, cancel };
    let mut unchanged = None;
    let baseline = projects.baseline(project, &base, cancel, |copy| {
        if unchanged.is_none() {
            unchanged = Some(runs.build(&base, None)?);
        }
        let Some(Built::Program(program, sources)) = &unchanged else { return Ok(None) };
        let (mut known, mut left) = (Names::default(), names.clone());
        // A panic ends all tests: those that did not come to begin are run without it.
        while !left.is_empty() {
            let (run, nonce) = runs.once((program, sources), copy, &left)?;
            let Some(report) = read(&run.record, &nonce).filter(|report| !report.begun.is_empty()) else { break };
            left.retain(|name| !report.begun.contains(name));
            known.tests.extend(report.all());
        }
        Ok((!known.tests.is_empty()).then_some(known))
    })?;
    let (program, sources) = match runs.build(&base, Some(&trial.program))? {
        Built::Program(program, sources) => (program, sources),
        Built::Failed(run) => return not_compiled(&run, &trial.limits),
    };
    // A test that says nothing would decide how the process ends.
    let names: Vec<String> = names.into_iter().filter(|name| !baseline.flaky.contains(name)).collect();
    if names.is_empty() {
        let all = baseline.flaky.join(", ");
        return Ok(Verdict::not_run(&clean_line(
            &format!("no tests are left (left out, as they are flaky: {all})"),
            400,
        )));
    }
    let copy = base.copy(project, Some(&trial.program)).map_err(TrialError::Sandbox)?;
    let (run, nonce) = runs.once((&program, &sources), &copy, &names)?;
    let verdict = match (read(&run.record, &nonce), run.ended) {
        (Some(report), Ended::Exited(code)) => {
            if let Some((status, message)) = early_end(&report, &names, &run.output, code) {
                ended_early(&run, status, &message)
            } else {
                let names = Names { tests: with_messages(report.names.tests, &run.output), ..report.names };
                // That tests failed is what the exit code says, too.
                baseline.verdict_of(&Run { ended: Ended::Exited(0), ..run }, &names, &nonce, &trial.limits)?
            }
        }
        _ => verdict::of(&run, &nonce, &trial.limits)?,
    };
    Ok(guard(verdict, &base, project, &copy))
}

fn ended_early(run: &Run, status: Status, message: &str) -> Verdict {
    Verdict {
        status,
        message: clean_line(message, 400),
        duration_ms: run.elapsed.as_millis().try_into().unwrap_or(u64::MAX),
        output: clean(&run.output),
        assurance: super::super::Assurance::Shared,
    }
}

impl<'a> Tests<'a> {
    fn of(project: &'a Project) -> Result<Self, TrialError> {
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
        let module =
            module_of(project, &file).filter(|module| module_of(project, &project.file).as_ref() == Some(module));
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
        Ok(Self { project, file, module, path, text, package })
    }

    /// The folder of the tests, relative to the root.
    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }
}

/// The folder of the module that a file belongs to.
fn module_of(project: &Project, file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|folder| project.root.join(folder).join("go.mod").is_file()).map(Path::to_path_buf)
}

/// What came of a build.
enum Built {
    /// A program, in a folder of its own, and where its sources lie: tests may look for files beside them.
    Program(Scratch, PathBuf),
    /// None; what was said.
    Failed(Run),
}

/// Name of the program in its folder.
const PROGRAM: &str = "tests";

/// Puts the guard into a place, and the calls to it.
fn lay_out(tests: &Tests, place: &Place) -> std::io::Result<()> {
    let Place { base, copy, secret } = place;
    let root = copy.path();
    let import = format!("{}/{secret}", tests.path);
    let package = tests.module.join(secret);
    base.put(root, &package.join("guard.go"), &GUARD.replace("@GUARD@", secret))?;
    // The candidate's package imports the guard, so that the guard comes up first.
    let beside = tests.project.file.with_file_name(format!("{secret}.go"));
    base.put(root, &beside, &format!("package {}\n\nimport _ \"{import}\"\n", tests.package))?;
    let (text, _) = guarded(&tests.text, secret);
    base.put(root, &tests.file, &with_import(&text, &import))
}

/// The folder of downloaded modules, which trials may read.
fn modules(go: &Tool) -> Option<PathBuf> {
    let mut command = Command::new(&go.program);
    command.args(["env", "GOMODCACHE"]).current_dir("/").env_remove("GOFLAGS").stdin(Stdio::null());
    let output = command.stderr(Stdio::null()).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (folder.is_absolute() && folder.is_dir()).then_some(folder)
}

/// What all builds and runs of a trial share.
struct Runs<'a> {
    sandbox: &'a Sandbox,
    go: &'a Tool,
    cache: &'a Cache,
    tests: &'a Tests<'a>,
    limits: Limits,
    cancel: &'a AtomicBool,
}

impl Runs<'_> {
    /// Compiles the tests with the candidate, or, without one, with the file as it is.
    fn build(&self, base: &Arc<Base>, program: Option<&str>) -> Result<Built, TrialError> {
        let Self { sandbox, go, cache, tests, limits, cancel } = *self;
        let failed = |e: std::io::Error| TrialError::Sandbox(format!("the tests could not be laid out: {e}"));
        let project = tests.project;
        let key = (project.root.clone(), project.file.clone(), tests.file.clone());
        // One build at a time: the place and what is kept are shared.
        let mut places = cache.places.places.lock().unwrap_or_else(PoisonError::into_inner);
        if !places.get(&key).is_some_and(|place| Arc::ptr_eq(&place.base, base)) {
            let copy = base.copy(project, None).map_err(TrialError::Sandbox)?;
            let place = Place { base: Arc::clone(base), copy, secret: format!("guard{}", nonce()?) };
            lay_out(tests, &place).map_err(failed)?;
            places.insert(key.clone(), place);
        }
        let place = &places[&key];
        let root = place.copy.path();
        let own = fs::read_to_string(project.root.join(&project.file)).map_err(failed)?;
        base.put(root, &project.file, program.unwrap_or(&own)).map_err(failed)?;
        let products = Scratch::new().map_err(failed)?;
        let binary = products.path().join(PROGRAM);
        let (_kept, store) = cache.open().map_err(failed)?;
        let mut arguments: Vec<OsString> = ["test", "-c", "-vet=off", "-o"].map(OsString::from).to_vec();
        arguments.extend([binary.clone().into_os_string(), ".".into()]);
        let modules = cache.modules.get_or_init(|| modules(go)).clone();
        let mut environment = environment(go, &store);
        environment.extend(modules.iter().map(|folder| ("GOMODCACHE".into(), folder.into())));
        let readable: Vec<PathBuf> = go.readable.iter().cloned().chain(modules).collect();
        let writable = [root.to_path_buf(), store, products.path().to_path_buf()];
        let folder = root.join(tests.folder());
        let job = Job {
            readable: &readable,
            writable: &writable,
            folder: Some(&folder),
            environment,
            ..Job::new(&go.program, arguments, compile_limits(limits))
        };
        let run = sandbox.run(job, cancel).map_err(TrialError::Sandbox)?;
        if run.ended == Ended::Exited(0) && make_executable(&binary) {
            return Ok(Built::Program(products, root.to_path_buf()));
        }
        // What the compiler calls files of the copy are the user's files.
        let output = run.output.lines().filter(|line| !line.starts_with("# ")).collect::<Vec<_>>().join("\n");
        Ok(Built::Failed(Run { output, ..run }))
    }

    /// Runs compiled tests by name, in a copy of the project.
    fn once(
        &self,
        (program, sources): (&Scratch, &Path),
        copy: &Copy,
        names: &[String],
    ) -> Result<(Run, String), TrialError> {
        let Self { sandbox, tests, limits, cancel, .. } = *self;
        let nonce = nonce()?;
        let only = format!("-test.run=^({})$", names.join("|"));
        let arguments: Vec<OsString> = ["-test.paniconexit0", "-test.count=1", &only].map(OsString::from).to_vec();
        let readable = [vec![program.path().to_path_buf(), sources.to_path_buf()], copy.readable.clone()].concat();
        let writable = [copy.path().to_path_buf()];
        let folder = copy.path().join(tests.folder());
        let binary = program.path().join(PROGRAM);
        let job = Job {
            readable: &readable,
            writable: &writable,
            folder: Some(&folder),
            ..driver(
                &binary,
                arguments,
                nonce.clone().into_bytes(),
                Limits { file: limits.file.max(64 << 20), ..limits },
            )
        };
        Ok((sandbox.run(job, cancel).map_err(TrialError::Sandbox)?, nonce))
    }
}
