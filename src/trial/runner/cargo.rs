//! Rust in a crate: the tests are built with the candidate's crate by cargo, offline, in a copy of the project, then run by name.
//!
//! Building runs nothing of the candidate's (its file is no build script and no macro), so the folder of build products is kept for the
//! next one. While tests run, it can only be read.

mod baseline;
mod edit;
mod guards;
mod kind;
mod libtest;
mod probe;

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use baseline::Baseline;
use guards::Guards;
use kind::{Kind, kinds};

use super::super::project::{Base, Copy, Project};
use super::super::toolchain::Tool;
use super::super::{Limits, Status, Trial, TrialError, Verdict};
use super::nonce;
use super::project::guard;
use super::record::{Channel, VARIABLE};
use super::rust::{GUARD, compile_limits, make_executable, not_compiled};
use crate::sandbox::{Ended, Job, Run, Sandbox, Scratch};

/// How long a build may take, the first of all packages included.
const BUILD_TIME: Duration = Duration::from_secs(300);

/// A baseline with what it belongs to: the tests, and the function under test where one is named.
type Known = (Project, Option<String>, Arc<Baseline>);

/// What is kept between the builds of a project: its place, so that cargo knows it again, what was built, and what is known of its tests.
#[derive(Debug)]
pub struct Workshop {
    place: Copy,
    products: Scratch,
    /// The files that are not what they are in the project.
    changed: RefCell<Vec<PathBuf>>,
    known: RefCell<Vec<Known>>,
}

impl Workshop {
    /// An empty one.
    pub fn new(base: &Base, project: &Project) -> Result<Self, TrialError> {
        let failed = |e: std::io::Error| TrialError::Sandbox(format!("a folder for the build could not be made: {e}"));
        let place = base.copy(project, None).map_err(TrialError::Sandbox)?;
        Ok(Self {
            place,
            products: Scratch::new().map_err(failed)?,
            changed: RefCell::default(),
            known: RefCell::default(),
        })
    }
}

/// What every build and every run of a trial needs.
struct Bench<'a> {
    sandbox: &'a Sandbox,
    rustc: &'a Tool,
    base: &'a Base,
    workshop: &'a Workshop,
    project: &'a Project,
    tests_file: &'a Path,
    limits: Limits,
    cancel: &'a AtomicBool,
}

/// Runs the tests of a crate with the candidate in it.
pub fn run(
    sandbox: &Sandbox,
    rustc: &Tool,
    (base, workshop): (&Base, &Workshop),
    project: &Project,
    trial: &Trial,
    cancel: &AtomicBool,
) -> Result<Verdict, TrialError> {
    let tests_file = project.tests.as_deref().unwrap_or(Path::new(""));
    let bench = Bench { sandbox, rustc, base, workshop, project, tests_file, limits: trial.limits, cancel };
    let kinds = bench.kinds()?;
    let original = bench.original(tests_file)?;
    // Only with the user's own module at hand the rest of it is known to be theirs.
    let function = trial.stub.as_ref().and(trial.function()).map(str::to_owned);
    let known =
        workshop.known.borrow().iter().find(|(p, f, _)| p == project && *f == function).map(|(.., b)| Arc::clone(b));
    let baseline = match known {
        Some(known) => known,
        None => match baseline::find(&bench, &kinds, &original, function.as_deref())? {
            Ok(found) => {
                let found = Arc::new(found);
                workshop.known.borrow_mut().retain(|(p, ..)| p != project);
                workshop.known.borrow_mut().push((project.clone(), function, Arc::clone(&found)));
                found
            }
            Err(verdict) => return Ok(verdict),
        },
    };
    if baseline.wanted.is_empty() {
        let message = format!("no tests found in {}{}", tests_file.display(), baseline.left_out);
        return Ok(Verdict::not_run(&crate::untrusted::clean_line(&message, 400)));
    }
    // In the candidate's own file the tests are those of the user's text, whatever the candidate made of them.
    let is_own = tests_file == project.file;
    let text = if is_own { trial.stub.as_ref().unwrap_or(&original) } else { &original };
    let secret = secret()?;
    let guards = Guards::of(text, &secret, &bench.guard_file());
    let (program, tests) = if is_own {
        match guards.placed_in(text, &trial.program) {
            Ok(program) => (program, None),
            Err(what) => {
                let message = format!("the code changed {what} of {}", tests_file.display());
                return Ok(Verdict { status: Status::Tampered, ..refusal(&message) });
            }
        }
    } else {
        (trial.program.clone(), Some(edit::apply(text, &guards.edits)))
    };
    bench.lay(&program, tests.as_deref(), guards.tests.len())?;
    let binary = match bench.build(&baseline.kind)? {
        Ok(binary) => binary,
        Err(build) => return not_compiled(&build, &trial.limits),
    };
    let copy = base.copy(project, Some(&trial.program)).map_err(TrialError::Sandbox)?;
    let (run, told) = bench.run_tests(&binary, baseline.arguments(&secret), &copy, Vec::new())?;
    let verdict = baseline.verdict(&run, told.as_deref(), &guards, &secret, &trial.limits)?;
    Ok(guard(verdict, base, project, &copy))
}

/// The name of the module of ours in the tests. The last one in any order of names, so that its own test is the last to run.
fn secret() -> Result<String, TrialError> {
    Ok(format!("zzzzzz_guard_{}", nonce()?))
}

fn refusal(message: &str) -> Verdict {
    let assurance = super::super::Assurance::Shared;
    Verdict { assurance, ..Verdict::not_run(&crate::untrusted::clean_line(message, 400)) }
}

impl Bench<'_> {
    /// What the tests file may be built into.
    fn kinds(&self) -> Result<Vec<Kind>, TrialError> {
        let (project, package) = (self.project, &self.project.package);
        let root = project.root.join(package);
        let tests_file = self.tests_file;
        if is_macro_crate(&fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default()) {
            return Err(TrialError::Interpreter(format!(
                "{} is part of a macro, which runs inside of the compiler and cannot be told from it: give --test-command 'cargo test --offline'",
                project.file.display()
            )));
        }
        let kinds = tests_file.strip_prefix(package).map(|file| kinds(file, |path| root.join(path).is_file()));
        match kinds {
            Ok(kinds) if !kinds.is_empty() && project.file.file_name() != Some("build.rs".as_ref()) => Ok(kinds),
            _ => Err(TrialError::Interpreter(format!(
                "{} is no tests file of its crate: put the tests into {} or into a module of the crate, or give --test-command 'cargo test --offline'",
                tests_file.display(),
                package.join("tests").display()
            ))),
        }
    }

    /// The text of a file as the user has it.
    fn original(&self, file: &Path) -> Result<String, TrialError> {
        let path = self.project.root.join(file);
        // A file that git ignores is in no copy.
        self.base
            .read(file)
            .or_else(|_| fs::read_to_string(&path))
            .map_err(|e| TrialError::Sandbox(format!("{} could not be read: {e}", path.display())))
    }

    fn guard_file(&self) -> String {
        self.workshop.place.path().join("guard.rs").display().to_string()
    }

    /// Puts program and tests (`None`: they are in the program) into the place of builds, and all else back to what it was. `last` is the
    /// number that the guard of our own test reports.
    fn lay(&self, program: &str, tests: Option<&str>, last: usize) -> Result<(), TrialError> {
        let failed = |e: std::io::Error| TrialError::Sandbox(format!("the tests could not be laid out: {e}"));
        let place = self.workshop.place.path();
        let mut changed = self.workshop.changed.borrow_mut();
        for path in changed.drain(..).filter(|path| *path != self.project.file && path != self.tests_file) {
            let text = self.original(&path)?;
            self.base.put(place, &path, &text).map_err(failed)?;
        }
        changed.extend([self.project.file.clone(), self.tests_file.to_path_buf()]);
        let guard = GUARD.replace("@VARIABLE@", VARIABLE);
        let end = format!("#[test] fn end() {{ let _guard = begin({last}); }}\n");
        fs::write(self.guard_file(), guard + &end).map_err(failed)?;
        if let Some(tests) = tests {
            self.base.put(place, self.tests_file, tests).map_err(failed)?;
        }
        self.base.put(place, &self.project.file, program).map_err(failed)
    }

    /// Builds the tests: the program, or how the build ended.
    fn build(&self, kind: &Kind) -> Result<Result<PathBuf, Run>, TrialError> {
        let build = self.run_cargo(kind)?;
        let (folder, products) =
            (self.workshop.place.path().join(&self.project.package), self.workshop.products.path());
        let built = build.output.lines().rev().filter_map(|line| {
            let line = line.trim().strip_prefix("Executable ")?;
            let path = line.rsplit_once('(')?.1.strip_suffix(')')?;
            Some((line, folder.join(path))).filter(|(_, path)| path.starts_with(products))
        });
        let built = built.collect::<Vec<_>>();
        let binary = built.iter().find(|(line, _)| kind.is_named_by(line)).or(built.first());
        let Some((_, binary)) = binary.filter(|(_, path)| build.ended == Ended::Exited(0) && make_executable(path))
        else {
            return Ok(Err(build));
        };
        if !kind.is_inline() {
            // Tests of a program start it.
            let programs = fs::read_dir(products.join("debug")).into_iter().flatten().flatten();
            for program in programs.filter(|entry| entry.path().extension().is_none()) {
                let _ = make_executable(&program.path());
            }
        }
        Ok(Ok(binary.clone()))
    }

    /// Runs a program of tests: how it ended, and what the guards reported.
    fn run_tests(
        &self,
        binary: &Path,
        arguments: Vec<OsString>,
        copy: &Copy,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<(Run, Option<Vec<String>>), TrialError> {
        let nonce = nonce()?;
        let (channel, inherited, variable) = Channel::open(&nonce)?;
        let built = [self.workshop.products.path().to_path_buf(), self.workshop.place.path().to_path_buf()];
        let readable = [&built[..], &copy.readable].concat();
        let writable = [copy.path().to_path_buf()];
        let folder = copy.path().join(&self.project.package);
        let job = Job {
            readable: &readable,
            writable: &writable,
            folder: Some(&folder),
            environment: [vec![variable], environment].concat(),
            inherited,
            ..Job::new(binary, arguments, self.limits)
        };
        let run = self.sandbox.run(job, self.cancel).map_err(TrialError::Sandbox)?;
        Ok((run, channel.read(&nonce)))
    }

    fn run_cargo(&self, kind: &Kind) -> Result<Run, TrialError> {
        let programs = self.rustc.program.parent().unwrap_or(Path::new("/usr/bin"));
        let cargo = programs.join("cargo");
        if !cargo.is_file() {
            return Err(TrialError::Interpreter(format!("there is no cargo beside {}", self.rustc.program.display())));
        }
        // Of cargo's folder only the sources of packages: credentials lie there, too.
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).filter(|home| home.is_absolute());
        let mut readable = self.rustc.readable.clone();
        readable.extend(
            home.iter().flat_map(|home| [home.join("registry"), home.join("git")]).filter(|path| path.is_dir()),
        );
        readable.extend(self.workshop.place.readable.clone());
        let mut arguments: Vec<OsString> =
            ["test", "--no-run", "--offline", "--color=never"].map(OsString::from).to_vec();
        arguments.extend(kind.arguments().into_iter().map(OsString::from));
        let place = self.workshop.place.path();
        if place.join("Cargo.lock").is_file() || place.join(&self.project.package).join("Cargo.lock").is_file() {
            arguments.push("--locked".into());
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), path.into()),
            ("CARGO_TARGET_DIR".into(), self.workshop.products.path().into()),
            ("CARGO_INCREMENTAL".into(), "0".into()),
            // No rule of style of the crate (`deny`, `forbid`) is for the lines of ours.
            ("RUSTFLAGS".into(), "--cap-lints=allow -Cdebuginfo=0".into()),
        ];
        environment.extend(home.map(|home| ("CARGO_HOME".into(), home.into())));
        let writable = [place.to_path_buf(), self.workshop.products.path().to_path_buf()];
        let folder = place.join(&self.project.package);
        let limits = Limits { wall: BUILD_TIME.max(self.limits.wall), ..compile_limits(self.limits) };
        let job = Job {
            readable: &readable,
            writable: &writable,
            folder: Some(&folder),
            environment,
            ..Job::new(&cargo, arguments, limits)
        };
        self.sandbox.run(job, self.cancel).map_err(TrialError::Sandbox)
    }
}

/// Whether a manifest says that its library is a procedural macro.
fn is_macro_crate(manifest: &str) -> bool {
    let lines = manifest.lines().map(|line| line.split('#').next().unwrap_or_default());
    lines
        .map(|line| line.split_whitespace().collect::<String>().replace('_', "-"))
        .any(|line| line == "proc-macro=true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macro_crates_are_known_by_their_manifest() {
        assert!(is_macro_crate("[lib]\n  proc_macro = true # yes\n") && is_macro_crate("proc-macro=true"));
        assert!(!is_macro_crate("# proc-macro = true\n[dependencies]\nproc-macro2 = \"1\"\n"));
    }
}
