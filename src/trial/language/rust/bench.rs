//! Builds of a crate's tests, and their runs.
//!
//! Building runs nothing of the candidate's (its file is no build script and no macro), so the folder of
//! build products is kept for the next one. While tests run, it can only be read.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::kind::{Kind, kinds};
use super::single::GUARD;
use super::workshop::Workshop;
use crate::sandbox::{Ended, Job, Limits, Run};
use crate::trial::judge::channel::{Channel, VARIABLE};
use crate::trial::language::compiled::{compile_limits, make_executable};
use crate::trial::language::row::{Base, Context, Copy, Project, Tool, TrialError, nonce};

/// How long a build may take, the first of all packages included.
const BUILD_TIME: Duration = Duration::from_secs(300);

/// What every build and every run of a trial needs.
pub struct Bench<'a> {
    pub at: &'a Context<'a>,
    pub rustc: &'a Tool,
    pub base: &'a Base,
    pub workshop: &'a Workshop,
    pub project: &'a Project,
    pub tests_file: &'a Path,
    pub limits: Limits,
}

/// The name of the module of ours in the tests. The last one in any order of names, so that its own test is
/// the last to run.
pub fn secret() -> Result<String, TrialError> {
    Ok(format!("zzzzzz_guard_{}", nonce()?))
}

impl Bench<'_> {
    /// What the tests file may be built into.
    pub fn kinds(&self) -> Result<Vec<Kind>, TrialError> {
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
    pub fn original(&self, file: &Path) -> Result<String, TrialError> {
        let path = self.project.root.join(file);
        // A file that git ignores is in no copy.
        self.base
            .read(file)
            .or_else(|_| fs::read_to_string(&path))
            .map_err(|e| TrialError::Sandbox(format!("{} could not be read: {e}", path.display())))
    }

    pub fn guard_file(&self) -> String {
        self.workshop.place.path().join("guard.rs").display().to_string()
    }

    /// Puts program and tests (`None`: they are in the program) into the place of builds, and all else back
    /// to what it was. `last` is the number that the guard of our own test reports.
    pub fn lay(&self, program: &str, tests: Option<&str>, last: usize) -> Result<(), TrialError> {
        let failed = |e: std::io::Error| TrialError::Sandbox(format!("the tests could not be laid out: {e}"));
        let place = &self.workshop.place;
        let mut changed = self.workshop.changed.borrow_mut();
        for path in changed.drain(..).filter(|path| *path != self.project.file && path != self.tests_file) {
            let text = self.original(&path)?;
            place.put(&path, &text).map_err(failed)?;
        }
        changed.extend([self.project.file.clone(), self.tests_file.to_path_buf()]);
        let guard = GUARD.replace("@VARIABLE@", VARIABLE);
        let end = format!("#[test] fn end() {{ let _guard = begin({last}); }}\n");
        fs::write(self.guard_file(), guard + &end).map_err(failed)?;
        if let Some(tests) = tests {
            place.put(self.tests_file, tests).map_err(failed)?;
        }
        place.put(&self.project.file, program).map_err(failed)
    }

    /// Builds the tests: the program, or how the build ended.
    pub fn build(&self, kind: &Kind) -> Result<Result<PathBuf, Run>, TrialError> {
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
    pub fn run_tests(
        &self,
        binary: &Path,
        arguments: Vec<OsString>,
        copy: &Copy,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<(Run, Option<Vec<String>>), TrialError> {
        let nonce = nonce()?;
        let (channel, inherited, variable) = Channel::open(&nonce)?;
        let built = [self.workshop.products.path().to_path_buf(), self.workshop.place.path().to_path_buf()];
        let job = Job::new(binary, arguments, self.limits);
        let job = Job { environment: [vec![variable], environment].concat(), inherited, ..job };
        let run = self.at.run_in(copy, &self.project.package, &built, &[], job)?;
        Ok((run, channel.read(&nonce)))
    }

    fn run_cargo(&self, kind: &Kind) -> Result<Run, TrialError> {
        let cargo = self.rustc.folder().join("cargo");
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
        let mut arguments: Vec<OsString> =
            ["test", "--no-run", "--offline", "--color=never"].map(OsString::from).to_vec();
        arguments.extend(kind.arguments().into_iter().map(OsString::from));
        let place = self.workshop.place.path();
        if place.join("Cargo.lock").is_file() || place.join(&self.project.package).join("Cargo.lock").is_file() {
            arguments.push("--locked".into());
        }
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), self.rustc.path().into()),
            ("CARGO_TARGET_DIR".into(), self.workshop.products.path().into()),
            ("CARGO_INCREMENTAL".into(), "0".into()),
            // No rule of style of the crate (`deny`, `forbid`) is for the lines of ours.
            ("RUSTFLAGS".into(), "--cap-lints=allow -Cdebuginfo=0".into()),
        ];
        environment.extend(home.map(|home| ("CARGO_HOME".into(), home.into())));
        let limits = Limits { wall: BUILD_TIME.max(self.limits.wall), ..compile_limits(self.limits) };
        let job = Job::new(&cargo, arguments, limits);
        let job = Job { environment, ..job };
        let Workshop { place, products, .. } = self.workshop;
        self.at.run_in(place, &self.project.package, &readable, &[products.path()], job)
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
