//! Builds and runs of a crate's tests.
//!
//! Each build has a copy of the project and a target folder of its own. If a candidate is part of another
//! crate's macro, it runs inside of the compiler. While tests run, both folders are read-only.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::build_cache::{BuildCache, versions};
use super::cache_folder::About;
use super::guards::{GUARD, Guards};
use super::kind::{Kind, kinds, module};
use super::lone;
use super::manifest::{Manifest, crate_of};
use super::settings::Settings;
use crate::files;
use crate::sandbox::{Ended, Job, Limits, Run, Scratch};
use crate::trial::judge::channel::{Channel, VARIABLE};
use crate::trial::language::compiled::{compile_limits, make_executable};
use crate::trial::language::row::{Base, Context, Copy, Packages, Project, Tool, TrialError, nonce};

/// Time limit of a build, including the first build of all packages.
const BUILD_TIME: Duration = Duration::from_secs(300);

/// Parameters of every build and run of a trial.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    pub at: &'a Context<'a>,
    pub rustc: &'a Tool,
    pub base: &'a Base,
    pub cache: &'a BuildCache,
    pub project: &'a Project,
    pub tests_file: &'a Path,
    /// Features of the crate that builds need, see [`Bench::features_needed`].
    pub features: &'a [String],
    pub limits: Limits,
}

/// The files that a build writes into its copy.
pub struct Laid<'a> {
    pub program: &'a str,
    pub tests: Option<&'a str>,
    /// The name of the guard module.
    pub secret: &'a str,
    /// The number that the guard's own test reports.
    pub last: usize,
}

/// A test program.
pub struct Program {
    binary: PathBuf,
    /// The name of the guard module in it.
    pub secret: String,
    /// Files that it reads.
    readable: Vec<PathBuf>,
    /// The folders of its build, for as long as it is used.
    _folders: Option<(Copy, Scratch)>,
}

/// The path of the guard module, relative to the tests file. It lies in a folder, as a file would be a
/// separate test program.
pub fn guard_file(secret: &str) -> String {
    format!("{secret}/guard.rs")
}

/// The name of the guard module in the tests begins so. It sorts after all other names, so that the guard's
/// own test runs last.
const OF_GUARD: &str = "zzzzzz_guard_";

/// The name of the guard module in the tests.
pub fn secret() -> Result<String, TrialError> {
    Ok(format!("{OF_GUARD}{}", nonce()?))
}

/// The output of a compiler without what was added to the lines that it shows.
pub fn without_guards(output: &str) -> String {
    let mut out = String::with_capacity(output.len());
    for line in output.split_inclusive('\n') {
        let mut line = line.to_owned();
        while let Some(at) = line.find(OF_GUARD) {
            let begin = line[..at].rfind("#[cfg(test)] #[path").or_else(|| line[..at].rfind(" let _guard = "));
            let end = line[at..].find(';').map(|end| at + end + 1);
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let word = at..line[at..].find(|c| !is_name(c)).map_or(line.len(), |end| at + end);
            line.replace_range(begin.zip(end).map_or(word, |(begin, end)| begin..end), "");
        }
        out += &line;
    }
    out
}

/// Returns true if the manifest of a crate says that a test program has no harness of cargo's.
fn has_own_harness(root: &Path, kind: &Kind) -> bool {
    let Kind::Test(name) = kind else { return false };
    Manifest::at(root).is_some_and(|manifest| manifest.has_own_harness(name))
}

impl Bench<'_> {
    /// The test programs that the tests file may be built into.
    pub fn kinds(&self) -> Result<Vec<Kind>, TrialError> {
        let (project, package) = (self.project, &self.project.package);
        if project.lone.is_some() {
            return Ok(vec![Kind::Lib]);
        }
        let root = project.root.join(package);
        let tests_file = self.tests_file;
        self.refuse_macros()?;
        let has = |path: &str| root.join(path).is_file();
        let kinds = tests_file.strip_prefix(package).map(|file| kinds(file, has, |name| declaring(&root, name)));
        let own_harness = kinds.iter().flatten().find(|kind| has_own_harness(&root, kind));
        if let Some(Kind::Test(name)) = own_harness {
            return Err(TrialError::Tests(format!(
                "{} has a harness of its own, which does not report single tests: give --test-command 'cargo test --offline --test {name}'",
                tests_file.display()
            )));
        }
        match kinds {
            Ok(kinds) if !kinds.is_empty() && project.file.file_name() != Some("build.rs".as_ref()) => Ok(kinds),
            _ => Err(TrialError::Tests(format!(
                "{} is no tests file of its crate: put the tests into {} or into a module of the crate, or give --test-command 'cargo test --offline{}'",
                tests_file.display(),
                package.join("tests").display(),
                self.other_package().map(|name| format!(" -p {name}")).unwrap_or_default()
            ))),
        }
    }

    /// The name of the package of the tests, if it is not that of the function.
    fn other_package(&self) -> Option<String> {
        let project = self.project;
        let own = crate_of(&project.root, self.tests_file).filter(|own| *own != project.package)?;
        Some(Manifest::at(&project.root.join(own))?.package()?.to_owned())
    }

    /// Refuses a crate that is a macro.
    fn refuse_macros(&self) -> Result<(), TrialError> {
        let manifest = Manifest::at(&self.project.root.join(&self.project.package));
        if !manifest.is_some_and(|manifest| manifest.is_macro()) {
            return Ok(());
        }
        Err(TrialError::Tests(format!(
            "{} is part of a macro, which runs inside of the compiler and cannot be told from it: give --test-command 'cargo test --offline'",
            self.project.file.display()
        )))
    }

    /// The project's settings of cargo. A lone file has none.
    pub fn settings(&self) -> Settings {
        let (package, lone) = (&self.project.package, self.project.lone.is_some());
        if lone { Settings::default() } else { Settings::of(package, |file| self.base.read(file).ok()) }
    }

    /// The module of the tests file in a program.
    pub fn module(&self, kind: &Kind) -> String {
        let (project, file) = (self.project, self.tests_file);
        match project.lone {
            Some(_) if file == project.file => String::new(),
            Some(_) => lone::module(file),
            None => module(file.strip_prefix(&project.package).unwrap_or(file), kind),
        }
    }

    /// The text of a file as the user has it.
    pub fn original(&self, file: &Path) -> Result<String, TrialError> {
        let path = self.project.root.join(file);
        // Files that git ignores are not in the copy.
        self.base
            .read(file)
            .or_else(|_| fs::read_to_string(&path))
            .map_err(|e| TrialError::Sandbox(format!("{} could not be read: {e}", path.display())))
    }

    /// Features without which the tests file, or the module with the candidate, is not compiled, and all
    /// there are.
    pub fn features_needed(&self) -> (Vec<String>, Vec<String>) {
        let (package, file) = (&self.project.package, &self.project.file);
        let read = |path: &Path| self.original(path).unwrap_or_default();
        // The modules above it, and the files that may declare them.
        let source = package.join("src");
        let inside = file.strip_prefix(&source).unwrap_or(file).with_extension("");
        let modules: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
        let above = inside.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
        let above = above.flat_map(|path| [source.join(path).with_extension("rs"), source.join(path).join("mod.rs")]);
        let others = [source.join("lib.rs"), source.join("main.rs")].into_iter().chain(above);
        let others: Vec<String> = others.map(|path| read(&path)).collect();
        let all = Manifest::parse(&read(&package.join("Cargo.toml"))).unwrap_or_default().features();
        (features(all.clone(), [&read(self.tests_file), &read(file)], &others, &modules), all)
    }

    /// All inputs of a test program, in words.
    pub fn parts(&self, kind: &Kind, program: &str, tests: &str) -> Vec<String> {
        let state = self.cache.state(self.project);
        let file = |path: &Path| path.display().to_string();
        let places = [file(&self.project.file), file(self.tests_file)];
        let arguments = [&kind.arguments()[..], self.features].concat().join(" ");
        [&places[..], &[arguments, state, program.to_owned(), tests.to_owned()]].concat()
    }

    /// The cached program built of these inputs.
    pub fn cached(&self, parts: &[String]) -> Option<Program> {
        let (binary, secret) = self.cache.folder.program(parts)?;
        let readable = binary.parent().map(Path::to_path_buf).into_iter().collect();
        Some(Program { binary, secret, readable, _folders: None })
    }

    /// Builds the packages that are shared by all builds: the dependencies of the project, and its own
    /// packages as the user has them.
    fn build_packages(&self, kind: &Kind) -> Result<(), TrialError> {
        // A lone file depends on no packages.
        if self.project.lone.is_some() || !self.cache.is_outdated(self.project) {
            return Ok(());
        }
        let locked = self.cache.folder.lock(true, || self.at.is_cancelled())?;
        if locked.is_none() || !self.cache.is_outdated(self.project) {
            return Ok(());
        }
        let copy = self.cache.copy(self.project)?;
        // Cargo compiles nothing if the file does not exist.
        if !copy.path().join(self.tests_file).exists() {
            lay(&copy, &[(self.tests_file, "")])?;
        }
        let run = self.run_cargo(kind, &copy, &self.cache.folder.products())?;
        // If the user's own code does not compile yet, the packages may still be fine.
        let has_tried = match run.ended {
            Ended::Exited(0) => true,
            Ended::Exited(_) => run.output.contains("could not compile"),
            _ => false,
        };
        if has_tried {
            self.cache.has_built(self.project, &copy);
        }
        Ok(())
    }

    /// A copy of the project with this program, and a target folder for its builds.
    pub fn laid_out(&self, program: &str) -> Result<(Copy, Scratch), TrialError> {
        self.refuse_macros()?;
        self.build_packages(&Kind::Lib)?;
        let locked = self.cache.folder.lock(false, || self.at.is_cancelled())?;
        let (copy, products) = (self.cache.copy(self.project)?, self.cache.branch()?);
        drop(locked);
        lay(&copy, &[(&self.project.file, program)])?;
        Ok((copy, products))
    }

    /// Builds the tests. Returns the program, or how the build ended. Without `tests` they are in the
    /// program.
    pub fn build(&self, kind: &Kind, laid: &Laid) -> Result<Result<Program, Run>, TrialError> {
        self.build_packages(kind)?;
        let locked = self.cache.folder.lock(false, || self.at.is_cancelled())?;
        let (copy, products) = (self.cache.copy(self.project)?, self.cache.branch()?);
        drop(locked);
        let end = format!("#[test] fn end() {{ let _guard = begin({}); }}\n", laid.last);
        let guard = GUARD.replace("@VARIABLE@", VARIABLE) + &end;
        let beside = self.tests_file.with_file_name(guard_file(laid.secret));
        let mut put = vec![(self.project.file.as_path(), laid.program), (&beside, &*guard)];
        put.extend(laid.tests.map(|tests| (self.tests_file, tests)));
        lay(&copy, &put)?;
        let (build, made) = if self.project.lone.is_some() {
            self.run_rustc(&copy, products.path())?
        } else {
            (self.run_cargo(kind, &copy, products.path())?, None)
        };
        let folder = copy.path().join(&self.project.package);
        let built = build.output.lines().rev().filter_map(|line| {
            let line = line.trim().strip_prefix("Executable ")?;
            let path = line.rsplit_once('(')?.1.strip_suffix(')')?;
            Some((line, folder.join(path))).filter(|(_, path)| path.starts_with(products.path()))
        });
        let built = built.collect::<Vec<_>>();
        let binary = built.iter().find(|(line, _)| kind.is_named_by(line)).or(built.first());
        let binary = made.as_ref().or(binary.map(|(_, path)| path));
        let Some(binary) = binary.filter(|path| build.ended == Ended::Exited(0) && make_executable(path)) else {
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

    /// Caches a program for the next build of the same inputs. Errors are ignored.
    pub fn cache_program(&self, parts: Vec<String>, program: &Program) {
        // The folder of a lone file is removed with the program.
        if self.project.lone.is_some() {
            return;
        }
        let about = About { parts, secret: program.secret.clone() };
        let folders: Vec<&Path> = program.readable.iter().map(PathBuf::as_path).collect();
        let _ = self.cache.folder.keep(&program.binary, &about, &folders);
    }

    /// Runs a test program. Returns how it ended, and the reports of the guards.
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
        let theirs = self.settings().environment(copy.path());
        let job = Job { environment: [theirs, own, environment].concat(), inherited, ..job };
        let run = self.at.run_in(copy, &self.project.package, &program.readable, &[], job)?;
        Ok((run, channel.read(&nonce)))
    }

    /// Compiles a lone file as cargo would, which takes cargo twice as long for a crate without packages.
    /// Returns the path of the program, too.
    fn run_rustc(&self, copy: &Copy, products: &Path) -> Result<(Run, Option<PathBuf>), TrialError> {
        let program = products.join("tests");
        let options =
            ["--test", "--edition=2021", "--crate-name=candidate", "--error-format=short", "--cap-lints=allow"];
        let mut arguments: Vec<OsString> =
            options.into_iter().chain(["-Cdebuginfo=0", "-o"]).map(OsString::from).collect();
        arguments.extend([program.clone().into(), self.project.file.clone().into()]);
        let job = Job::new(&self.rustc.program, arguments, compile_limits(self.limits));
        let job = Job { environment: vec![("PATH".into(), self.rustc.path().into())], ..job };
        let run = self.at.run_in(copy, &self.project.package, &self.rustc.readable, &[products], job)?;
        Ok((run, Some(program)))
    }

    fn run_cargo(&self, kind: &Kind, copy: &Copy, products: &Path) -> Result<Run, TrialError> {
        let words = ["test", "--no-run"].map(str::to_owned).into_iter().chain(kind.arguments());
        self.cargo(words.map(OsString::from).collect(), copy, products, None, &[])
    }

    /// Runs cargo with this command and its arguments, by default within the limits of a build.
    pub fn cargo(
        &self,
        words: Vec<OsString>,
        copy: &Copy,
        products: &Path,
        limits: Option<Limits>,
        more: &[(&str, &str)],
    ) -> Result<Run, TrialError> {
        let cargo = self.rustc.folder().join("cargo");
        if !cargo.is_file() {
            return Err(TrialError::Interpreter(format!("there is no cargo beside {}", self.rustc.program.display())));
        }
        let packages = packages();
        let mut readable = self.rustc.readable.clone();
        readable.extend(packages.readable);
        let mut words = words.into_iter();
        let mut arguments: Vec<OsString> = words.by_ref().take(1).collect();
        arguments.extend(["--offline", "--color=never"].map(OsString::from));
        if !self.features.is_empty() {
            arguments.extend(["--features".into(), self.features.join(",").into()]);
        }
        if versions(copy, self.project).is_some() {
            arguments.push("--locked".into());
        }
        arguments.extend(words);
        readable.push(self.cache.folder.products());
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), self.rustc.path().into()),
            ("CARGO_TARGET_DIR".into(), products.into()),
            ("CARGO_INCREMENTAL".into(), "0".into()),
            // RUSTFLAGS would replace the flags in the settings of the project.
            ("RUSTC_WORKSPACE_WRAPPER".into(), self.cache.folder.compiler().into()),
            ("CARGO_PROFILE_DEV_DEBUG".into(), "0".into()),
            ("CARGO_PROFILE_TEST_DEBUG".into(), "0".into()),
        ];
        environment.extend(packages.environment);
        environment.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
        let build = Limits { wall: BUILD_TIME.max(self.limits.wall), ..compile_limits(self.limits) };
        let limits = limits.unwrap_or(build);
        let job = Job::new(&cargo, arguments, limits);
        let job = Job { environment, ..job };
        self.at.run_in(copy, &self.project.package, &readable, &[products], job)
    }
}

/// Features, out of the known ones, that files (`own`) ask for as a whole or for their tests, and that others
/// ask for in front of one of these modules.
fn features(known: Vec<String>, own: [&String; 2], others: &[String], modules: &[&str]) -> Vec<String> {
    let is_asked = |feature: &String| {
        let asks = |line: &str| line.contains(&format!("feature = \"{feature}\"")) && !line.contains("not(");
        let of_file = |line: &str| {
            (line.starts_with("#![cfg(") || line.starts_with("#[cfg(") && line.contains("test")) && asks(line)
        };
        let of_module = |text: &String| {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let declares = |line: &str| {
                let name = line.split_once("mod ").and_then(|(_, name)| name.strip_suffix(';'));
                (line.starts_with("mod ") || line.starts_with("pub"))
                    && name.is_some_and(|name| modules.contains(&name))
            };
            let is_above = |line: &&&str| line.starts_with("#[") || line.starts_with("//");
            let asks_above = |at: usize| {
                let above = lines[..at].iter().rev().take_while(is_above);
                above.into_iter().any(|line| line.starts_with("#[cfg(") && asks(line))
            };
            (0..lines.len()).any(|at| declares(lines[at]) && asks_above(at))
        };
        own.iter().any(|text| text.lines().map(str::trim).any(of_file)) || others.iter().any(of_module)
    };
    known.into_iter().filter(is_asked).collect()
}

/// The packages of this machine. Of cargo's folder only their sources are readable, as it also holds
/// credentials.
pub fn packages() -> Packages {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).filter(|home| home.is_absolute());
    let folders = home.iter().flat_map(|home| [home.join("registry"), home.join("git")]);
    let readable = folders.filter(|path| path.is_dir()).collect();
    Packages { readable, environment: home.map(|home| ("CARGO_HOME".into(), home.into())).into_iter().collect() }
}

/// Writes texts into a copy for cargo.
fn lay(copy: &Copy, texts: &[(&Path, &str)]) -> Result<(), TrialError> {
    for (path, text) in texts {
        copy.put(path, text)?;
    }
    Ok(())
}

/// Stems of the files in the `tests` of a package that declare a module of this name in a file of its own.
pub fn declaring(root: &Path, name: &str) -> Vec<String> {
    let entries = fs::read_dir(root.join("tests")).into_iter().flatten().flatten();
    let declaration = format!("mod {name}");
    let declares = |path: &Path| {
        let text = files::text(path, files::TEXT).unwrap_or_default();
        // Only these files are parsed, which takes longer.
        text.contains(&declaration) && Guards::of(&text, "unused", "").elsewhere.iter().any(|module| module == name)
    };
    let programs = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let mut stems: Vec<String> = programs.filter(|path| declares(path)).filter_map(stem).collect();
    stems.sort();
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_the_lines_as_they_are_in_the_file() {
        let shown = without_guards(
            "1 | #[cfg(test)] #[path = \"zzzzzz_guard_1f/guard.rs\"] mod zzzzzz_guard_1f; use a::b;\n  |  ^\n\
             7 | fn t() { let _guard = super::zzzzzz_guard_1f::begin(0);\n8 |     f()\nin zzzzzz_guard_1f::end\n",
        );
        assert_eq!(shown, "1 |  use a::b;\n  |  ^\n7 | fn t() {\n8 |     f()\nin ::end\n");
    }

    #[test]
    fn features_that_tests_and_modules_ask_for_are_built() {
        let known = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let tests = "#![cfg(all(unix, feature = \"a\"))]\n#[cfg(not(feature = \"b\"))]\nmod x;\n".to_owned();
        let own = "#[cfg(all(test, feature = \"d\"))]\nmod tests {}\n".to_owned();
        let library =
            "#[cfg(feature = \"c\")]\n#[doc(hidden)]\npub(crate) mod words;\n#[cfg(feature = \"b\")]\nmod other;\n"
                .to_owned();
        let none = String::new();
        assert_eq!(features(known, [&tests, &own], &[library, none], &["inside", "words"]), ["a", "c", "d"]);
    }
}
