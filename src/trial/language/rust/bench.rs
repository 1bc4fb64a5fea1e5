//! Builds of a crate's tests, and their runs.
//!
//! Each build has a copy of the project and a folder for its products of its own: where a candidate is part of
//! a macro of another crate's, it runs inside of the compiler. While tests run, both can only be read.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::examples;
use super::guards::Guards;
use super::kind::{Kind, kinds};
use super::single::GUARD;
use super::store::About;
use super::workshop::{Workshop, versions};
use crate::files;
use crate::sandbox::{Ended, Job, Limits, Run, Scratch};
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

/// What a build puts into its copy.
pub struct Laid<'a> {
    pub program: &'a str,
    pub tests: Option<&'a str>,
    /// The name of our module.
    pub secret: &'a str,
    /// The number that the guard of our own test reports.
    pub last: usize,
}

/// A program of tests.
pub struct Program {
    binary: PathBuf,
    /// The name of our module in it.
    pub secret: String,
    /// What it has to read.
    readable: Vec<PathBuf>,
    /// Where it was built, for as long as it is used.
    _folders: Option<(Copy, Scratch)>,
}

fn failed(error: &std::io::Error) -> TrialError {
    TrialError::Sandbox(format!("what was built could not be kept: {error}"))
}

/// The path of our module, relative to the tests file. In a folder, as a file would be one more program.
pub fn guard_file(secret: &str) -> String {
    format!("{secret}/guard.rs")
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
        let has = |path: &str| root.join(path).is_file();
        let kinds = tests_file.strip_prefix(package).map(|file| kinds(file, has, |name| declaring(&root, name)));
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

    /// All that a program of tests is made of, in words.
    pub fn parts(&self, kind: &Kind, program: &str, tests: &str) -> Vec<String> {
        let state = self.workshop.state(self.project);
        let file = |path: &Path| path.display().to_string();
        let places = [file(&self.project.file), file(self.tests_file)];
        [&places[..], &[kind.arguments().join(" "), state, program.to_owned(), tests.to_owned()]].concat()
    }

    /// A program that was built of these parts before.
    pub fn kept(&self, parts: &[String]) -> Option<Program> {
        let (binary, secret) = self.workshop.store.program(parts)?;
        let readable = binary.parent().map(Path::to_path_buf).into_iter().collect();
        Some(Program { binary, secret, readable, _folders: None })
    }

    /// Builds what is kept for all builds: the packages that the project depends on, and its own as the user
    /// has them.
    fn build_packages(&self, kind: &Kind) -> Result<(), TrialError> {
        if !self.workshop.is_outdated(self.project) {
            return Ok(());
        }
        let locked = self.workshop.store.lock(true, || self.at.is_cancelled()).map_err(|e| failed(&e))?;
        if locked.is_none() || !self.workshop.is_outdated(self.project) {
            return Ok(());
        }
        let copy = self.workshop.copy(self.project)?;
        // Cargo compiles nothing where the file is not there.
        if !copy.path().join(self.tests_file).exists() {
            self.lay(&copy, &[(self.tests_file, "")])?;
        }
        let run = self.run_cargo(kind, &copy, &self.workshop.store.products())?;
        // That the user's own code does not compile yet says nothing about the packages.
        let has_tried = match run.ended {
            Ended::Exited(0) => true,
            Ended::Exited(_) => run.output.contains("could not compile"),
            _ => false,
        };
        if has_tried {
            self.workshop.has_built(self.project, &copy);
        }
        Ok(())
    }

    /// Builds the tests: the program, or how the build ended. Without `tests` they are in the program.
    pub fn build(&self, kind: &Kind, laid: &Laid) -> Result<Result<Program, Run>, TrialError> {
        self.build_packages(kind)?;
        let locked = self.workshop.store.lock(false, || self.at.is_cancelled()).map_err(|e| failed(&e))?;
        let (copy, products) = (self.workshop.copy(self.project)?, self.workshop.branch()?);
        drop(locked);
        let end = format!("#[test] fn end() {{ let _guard = begin({}); }}\n", laid.last);
        let guard = GUARD.replace("@VARIABLE@", VARIABLE) + &end;
        let beside = self.tests_file.with_file_name(guard_file(laid.secret));
        let mut put = vec![(self.project.file.as_path(), laid.program), (&beside, &*guard)];
        put.extend(laid.tests.map(|tests| (self.tests_file, tests)));
        self.lay(&copy, &put)?;
        let build = self.run_cargo(kind, &copy, products.path())?;
        let folder = copy.path().join(&self.project.package);
        let built = build.output.lines().rev().filter_map(|line| {
            let line = line.trim().strip_prefix("Executable ")?;
            let path = line.rsplit_once('(')?.1.strip_suffix(')')?;
            Some((line, folder.join(path))).filter(|(_, path)| path.starts_with(products.path()))
        });
        let built = built.collect::<Vec<_>>();
        let binary = built.iter().find(|(line, _)| kind.is_named_by(line)).or(built.first());
        let Some((_, binary)) = binary.filter(|(_, path)| build.ended == Ended::Exited(0) && make_executable(path))
        else {
            return Ok(Err(build));
        };
        if !kind.is_inline() {
            // Tests of a program start it.
            let programs = fs::read_dir(products.path().join("debug")).into_iter().flatten().flatten();
            for program in programs.filter(|entry| entry.path().extension().is_none()) {
                let _ = make_executable(&program.path());
            }
        }
        let readable = vec![products.path().to_path_buf(), copy.path().to_path_buf()];
        let (binary, secret) = (binary.clone(), laid.secret.to_owned());
        Ok(Ok(Program { binary, secret, readable, _folders: Some((copy, products)) }))
    }

    /// Puts texts into a copy, where cargo finds them.
    fn lay(&self, copy: &Copy, texts: &[(&Path, &str)]) -> Result<(), TrialError> {
        let manifest = self.project.package.join("Cargo.toml");
        let own = examples::are_in(self.tests_file).then(|| self.base.read(&manifest).ok()).flatten();
        let own = own.and_then(|text| examples::manifest_with_target(&text));
        let own = own.as_deref().map(|text| (manifest.as_path(), text));
        for (path, text) in texts.iter().copied().chain(own) {
            copy.put(path, text).map_err(|e| TrialError::Sandbox(format!("the tests could not be laid out: {e}")))?;
        }
        Ok(())
    }

    /// Keeps a program for the next time that just these parts are built. That it is kept is not necessary.
    pub fn keep(&self, parts: Vec<String>, program: &Program) {
        let about = About { parts, secret: program.secret.clone() };
        let folders: Vec<&Path> = program.readable.iter().map(PathBuf::as_path).collect();
        let _ = self.workshop.store.keep(&program.binary, &about, &folders);
    }

    /// Runs a program of tests: how it ended, and what the guards reported.
    pub fn run_tests(
        &self,
        program: &Program,
        arguments: Vec<OsString>,
        copy: &Copy,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<(Run, Option<Vec<String>>), TrialError> {
        let nonce = nonce()?;
        let (channel, inherited, variable) = Channel::open(&nonce)?;
        let job = Job::new(&program.binary, arguments, self.limits);
        let package = copy.path().join(&self.project.package);
        let own = vec![variable, ("CARGO_MANIFEST_DIR".into(), package.into())];
        let job = Job { environment: [own, environment].concat(), inherited, ..job };
        let run = self.at.run_in(copy, &self.project.package, &program.readable, &[], job)?;
        Ok((run, channel.read(&nonce)))
    }

    fn run_cargo(&self, kind: &Kind, copy: &Copy, products: &Path) -> Result<Run, TrialError> {
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
        if versions(copy, self.project).is_some() {
            arguments.push("--locked".into());
        }
        readable.push(self.workshop.store.products());
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), self.rustc.path().into()),
            ("CARGO_TARGET_DIR".into(), products.into()),
            ("CARGO_INCREMENTAL".into(), "0".into()),
            // No rule of style of the crate (`deny`, `forbid`) is for the lines of ours.
            ("RUSTFLAGS".into(), "--cap-lints=allow -Cdebuginfo=0".into()),
        ];
        environment.extend(home.map(|home| ("CARGO_HOME".into(), home.into())));
        let limits = Limits { wall: BUILD_TIME.max(self.limits.wall), ..compile_limits(self.limits) };
        let job = Job::new(&cargo, arguments, limits);
        let job = Job { environment, ..job };
        self.at.run_in(copy, &self.project.package, &readable, &[products], job)
    }
}

/// The files in the `tests` of a package that have a module of this name in a file of its own, by their stems.
fn declaring(root: &Path, name: &str) -> Vec<String> {
    let entries = fs::read_dir(root.join("tests")).into_iter().flatten().flatten();
    let declaration = format!("mod {name}");
    let declares = |path: &Path| {
        let text = files::text(path, files::TEXT).unwrap_or_default();
        // Only then is it worth a closer look.
        text.contains(&declaration) && Guards::of(&text, "unused", "").elsewhere.iter().any(|module| module == name)
    };
    let programs = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let mut stems: Vec<String> = programs.filter(|path| declares(path)).filter_map(stem).collect();
    stems.sort();
    stems
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
