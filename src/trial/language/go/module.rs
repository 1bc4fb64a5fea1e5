//! Tests of a Go module: laid out with a guard, compiled, run by name.
//!
//! The candidate's package imports a guard package, which therefore starts before it. The guard reports how
//! each test ended, subtests included. Nothing of the candidate's runs while it is compiled, so compiled
//! packages are cached.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::build_cache::BuildCache;
use super::example;
use super::report::{Told, complaint, read, with_messages};
use super::text::{guarded, with_import};
use crate::files;
use crate::sandbox::{Ended, Job, Limits, Run, Scratch};
use crate::trial::language::compiled::{compile_limits, make_executable};
use crate::trial::language::row::{
    Context, Copy, Evidence, Failure, Outcome, Report, Reporter, Tool, TrialError, driver, nonce,
};

/// Source of the guard, which is compiled with the tests.
pub const GUARD: &str = include_str!("guard.go.txt");

/// Name of the program in its folder.
const PROGRAM: &str = "tests";

/// The build tags of the user: those of `GOFLAGS` in the environment, else in the file of `go env -w`.
pub fn tags() -> &'static [String] {
    static TAGS: OnceLock<Vec<String>> = OnceLock::new();
    TAGS.get_or_init(|| {
        let own = std::env::var_os("GOENV").map(PathBuf::from);
        let file = own.or_else(|| Some(directories::BaseDirs::new()?.config_dir().join("go/env")));
        let text = file.and_then(|file| files::text(&file, files::TEXT).ok()).unwrap_or_default();
        let written = text.lines().find_map(|line| line.strip_prefix("GOFLAGS=")).map(str::to_owned);
        tags_of(&std::env::var("GOFLAGS").ok().or(written).unwrap_or_default())
    })
}

/// The build tags in a list of flags.
fn tags_of(flags: &str) -> Vec<String> {
    let flags = flags.split_whitespace().map(|flag| flag.trim_start_matches('-'));
    let tags = flags.filter_map(|flag| flag.strip_prefix("tags=")).next_back().unwrap_or_default();
    tags.split(',').map(|tag| tag.trim_matches(['\'', '"'])).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// The tests of a file in its module, or those of a package.
pub struct Suite {
    /// The tests file, or the folder of the package, relative to the root.
    pub place: PathBuf,
    /// The tests files and their texts.
    pub files: Vec<(PathBuf, String)>,
    /// The file with the candidate, relative to the root.
    pub program: PathBuf,
    /// The package of the tests file.
    pub package: String,
    /// The folder with `go.mod`, relative to the root.
    pub module: PathBuf,
    /// Import path of the module.
    pub path: String,
    /// The Go 1.x that it asks for; 0 if it asks for none.
    pub asked: u32,
    /// The tests that are run, as in `TestName/part`; all if empty.
    pub only: Vec<String>,
}

impl Suite {
    /// The tests, by name.
    pub fn names(&self) -> Vec<String> {
        self.files.iter().flat_map(|(_, text)| guarded(text, "").1).collect()
    }

    /// Patterns for the subtests to run, one for each level. A level left open by one test is open for all.
    fn parts(&self) -> String {
        let of = |level: usize| -> Option<Vec<String>> {
            let part = |name: &String| name.split('/').nth(level).map(quoted);
            self.only.iter().map(part).collect()
        };
        let levels = (1..).map_while(of).take_while(|parts| !parts.is_empty());
        let patterns: Vec<String> = levels.map(|parts| format!("/^({})$", parts.join("|"))).collect();
        patterns.concat()
    }

    /// Writes the guard, and the calls to it, into a copy.
    pub fn lay_out(&self, copy: &Copy, secret: &str) -> std::io::Result<()> {
        let import = format!("{}/{secret}", self.path);
        copy.put(&self.module.join(secret).join("guard.go"), &GUARD.replace("@GUARD@", secret))?;
        // The candidate's package imports the guard, so that the guard comes up first.
        // A package of tests has only files that are called like tests.
        let is_of_tests = self.program.to_string_lossy().ends_with("_test.go");
        let name = if is_of_tests { format!("{secret}_test.go") } else { format!("{secret}.go") };
        let beside = self.program.with_file_name(name);
        copy.put(&beside, &format!("package {}\n\nimport _ \"{import}\"\n", self.package))?;
        for (file, text) in &self.files {
            let (text, _) = guarded(text, secret);
            // A file without tests, of benchmarks or helpers, must not import what it does not use.
            if !text.contains(secret) {
                continue;
            }
            let mut text = with_import(&text, &format!("\"{import}\""));
            // Examples are made tests, for which their file need not have the library's package.
            if text.contains(&format!("*{secret}t.T")) {
                text = with_import(&text, &format!("{secret}t \"testing\""));
            }
            copy.put(file, &text)?;
        }
        Ok(())
    }

    /// The folder of the tests, relative to the root.
    fn folder(&self) -> &Path {
        let (file, _) = &self.files[0];
        file.parent().unwrap_or(Path::new(""))
    }
}

/// Parameters shared by all builds and runs of a trial.
#[derive(Clone, Copy)]
pub struct GoRuns<'a> {
    pub at: &'a Context<'a>,
    pub go: &'a Tool,
    pub builds: &'a BuildCache,
    pub suite: &'a Suite,
    pub limits: Limits,
}

/// The result of a build.
#[derive(Debug)]
pub enum Built {
    /// A program in a folder of its own, and the folder of its sources: tests may look for files beside them.
    /// The run holds what `go vet` says, for which `go test` refuses it.
    Program(Scratch, PathBuf, Option<Run>),
    /// The build failed; the run holds the compiler's output.
    Failed(Run),
}

impl GoRuns<'_> {
    /// Compiles the tests of a copy of the module, as `go test` does: it vets them, too.
    pub fn compile(&self, copy: &Copy) -> Result<Built, TrialError> {
        Ok(match self.compile_as(copy, &[])? {
            Built::Failed(said) if matches!(said.ended, Ended::Exited(_)) => {
                match self.compile_as(copy, &["-vet=off"])? {
                    Built::Program(folder, sources, _) => Built::Program(folder, sources, Some(said)),
                    failed @ Built::Failed(_) => failed,
                }
            }
            built => built,
        })
    }

    /// Compiles the tests with these flags.
    fn compile_as(&self, copy: &Copy, flags: &[&str]) -> Result<Built, TrialError> {
        let Self { at, go, builds, suite, limits } = *self;
        let products = Scratch::new()?;
        let binary = products.path().join(PROGRAM);
        let (_kept, compiled) = builds.open(at.cache)?;
        // Without data for debuggers, as in a plain `go test`: linking takes a third less.
        let fixed = ["test", "-c", "-ldflags=-s -w"].iter().chain(flags).chain(&["-o"]);
        let mut arguments: Vec<OsString> = fixed.map(OsString::from).collect();
        arguments.push(binary.clone().into_os_string());
        let tags = tags();
        arguments.extend((!tags.is_empty()).then(|| format!("-tags={}", tags.join(",")).into()));
        arguments.push(".".into());
        let modules = builds.modules(go);
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), go.path().into()),
            ("GOCACHE".into(), compiled.clone().into()),
            // Nothing is downloaded, and no setting of the user's applies.
            ("GOPROXY".into(), "off".into()),
            ("GOSUMDB".into(), "off".into()),
            ("GOTOOLCHAIN".into(), "local".into()),
            ("GOENV".into(), "off".into()),
            // Keeps Go from starting its telemetry process.
            ("GO_TELEMETRY_CHILD".into(), "2".into()),
            // Flags for the C compiler could come from the candidate.
            ("CGO_ENABLED".into(), "0".into()),
        ];
        environment.extend(modules.iter().map(|folder| ("GOMODCACHE".into(), folder.into())));
        let readable: Vec<PathBuf> = go.readable.iter().cloned().chain(modules).collect();
        let job = Job::new(&go.program, arguments, compile_limits(limits));
        let job = Job { environment, ..job };
        let run = at.run_in(copy, suite.folder(), &readable, &[&compiled, products.path()], job)?;
        if run.ended == Ended::Exited(0) && make_executable(&binary) {
            return Ok(Built::Program(products, copy.path().to_path_buf(), None));
        }
        // File names in compiler messages refer to the user's files, not to the copy.
        let own = format!("{}/", copy.path().display());
        let is_said = |line: &&str| !line.starts_with("# ") && !line.starts_with("note: module requires ");
        let said: Vec<&str> = run.output.lines().filter(is_said).collect();
        // A required newer Go version may explain any other error.
        let (asked, minor) = (suite.asked, go.version.1);
        let newer = || format!(" (the module asks for Go 1.{asked}, and this is Go 1.{minor}: install a newer one)");
        let note = if asked > minor { newer() } else { String::new() };
        let (first, rest) = said.split_first().unwrap_or((&"", &[]));
        let output = [&[format!("{first}{note}").as_str()], rest].concat().join("\n").replace(&own, "");
        Ok(Built::Failed(Run { output, ..run }))
    }

    /// Runs compiled tests by name in a copy of the project. Returns how that ended, and the report.
    pub fn once(
        &self,
        (program, sources): (&Scratch, &Path),
        copy: &Copy,
        names: &[String],
    ) -> Result<(Run, Option<Told>), TrialError> {
        let nonce = nonce()?;
        let functions: Vec<_> = names.iter().map(|name| example::function(name)).collect();
        let only = format!("-test.run=^({})${}", functions.join("|"), self.suite.parts());
        let arguments: Vec<OsString> = ["-test.paniconexit0", "-test.count=1", &only].map(OsString::from).to_vec();
        let binary = program.path().join(PROGRAM);
        let limits = Limits { file: self.limits.file.max(64 << 20), ..self.limits };
        let job = driver(&binary, arguments, nonce.clone().into_bytes(), limits);
        let readable = [program.path().to_path_buf(), sources.to_path_buf()];
        let run = self.at.run_in(copy, self.suite.folder(), &readable, &[], job)?;
        let told = read(&run.record, &nonce);
        Ok((run, told))
    }
}

/// A regular expression that matches exactly this text.
fn quoted(text: &str) -> String {
    text.chars().flat_map(|c| c.is_ascii_punctuation().then_some('\\').into_iter().chain([c])).collect()
}

/// The tests that failed, each with its reason: those that were told, else the one that ran at a bad end.
pub fn failures(run: &Run, told: &Told, names: &[String]) -> Vec<(String, String)> {
    let Ended::Exited(1..) = run.ended else { return Vec::new() };
    let failed = with_messages(&told.tests, &run.output).into_iter().filter(|test| test.outcome == Outcome::Failed);
    let failed: Vec<_> = failed.map(|test| (test.name, test.why)).collect();
    let running = told.running(names).filter(|_| failed.is_empty());
    let running = running.map(|name| (name.clone(), complaint(&run.output).to_owned()));
    failed.into_iter().chain(running).collect()
}

/// The evidence of a run of tests with a candidate.
pub fn evidence(run: Run, told: Option<Told>, names: Vec<String>) -> Evidence {
    let Some(told) = told else { return Evidence::of(run, Report::Forged) };
    let failure = match run.ended {
        Ended::Exited(code) if code != 0 => {
            let has_failed = told.tests.iter().any(|test| test.outcome == Outcome::Failed);
            let why = complaint(&run.output);
            Some(match told.running(&names) {
                _ if has_failed => Failure::Reported,
                Some(name) => Failure::Test { name: name.clone(), why: why.to_owned() },
                None => Failure::Said(format!("{why} (exit code {code})")),
            })
        }
        _ => None,
    };
    let tests = with_messages(&told.tests, &run.output);
    let report = Report::Tests { by: Reporter::Guard, tests, is_whole: true };
    let running = told.last_begun().map(str::to_owned);
    Evidence { failure, running, asked: names, ..Evidence::of(run, report) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_test_that_ends_the_process_is_the_one_that_failed() {
        let names = ["A".to_owned(), "B".to_owned()];
        let failure = |record: &str| {
            let (ended, output, elapsed) = (Ended::Exited(2), "x\nfatal error: no\n".to_owned(), Duration::ZERO);
            let run = Run { ended, has_started: true, record: Vec::new(), output, elapsed };
            evidence(run, read(record.as_bytes(), "n"), names.to_vec()).failure
        };
        let of_test = |name: &str| Some(Failure::Test { name: name.into(), why: "fatal error: no".into() });
        assert_eq!(failure("n\tbegan\tB\n"), of_test("B"));
        assert_eq!(failure("n\tended\tpassed\tA\n"), of_test("B"));
        let said = Some(Failure::Said("fatal error: no (exit code 2)".into()));
        assert_eq!(failure("n\tended\tpassed\tA\nn\tended\tpassed\tB\n"), said);
        assert_eq!(failure("n\tended\tfailed\tA\nn\tbegan\tB\n"), Some(Failure::Reported));
    }

    #[test]
    fn the_tags_of_the_user_are_those_of_the_flags() {
        assert_eq!(tags_of("-mod=mod -tags=a,b --tags='c'"), ["c"]);
        assert_eq!(tags_of("-tags=live,db -count=1"), ["live", "db"]);
        assert_eq!(tags_of("-v"), [""; 0]);
    }
}
