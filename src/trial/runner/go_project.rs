//! Go in a module: the tests of a file, compiled with the candidate's module in a copy of the project, offline, then run by name.
//!
//! Nothing of the candidate's runs while it is compiled, so what was compiled is kept for the next one. A package of ours that the
//! candidate's imports, and that therefore comes up before it, reports how each test ended, subtests included.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::project::{Base, Copy, Project};
use super::super::sandbox::scratch::Scratch;
use super::super::sandbox::{Ended, Job, Run, Sandbox};
use super::super::toolchain::Tool;
use super::super::{Limits, Status, Trial, TrialError, Verdict, verdict};
use super::go::{Cache, environment, package_of};
use super::names::{Names, Outcome};
use super::nonce;
use super::project::{Projects, guard};
use super::rust::{compile_limits, make_executable, not_compiled};
use super::tests_in_text::blank;
use crate::untrusted::{clean, clean_line};

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
    let build = |program: Option<&str>| build(sandbox, go, cache, &tests, &base, program, trial.limits, cancel);
    let mut unchanged = None;
    let baseline = projects.baseline(project, &base, |copy| {
        if unchanged.is_none() {
            unchanged = Some(build(None)?);
        }
        let Some(Built::Program(program, sources)) = &unchanged else { return Ok(None) };
        let (run, nonce) = run_once(sandbox, &tests, (program, sources), copy, &names, trial.limits, cancel)?;
        Ok(read(&run.record, &nonce).map(|report| report.names))
    })?;
    let (program, sources) = match build(Some(&trial.program))? {
        Built::Program(program, sources) => (program, sources),
        Built::Failed(run) => return not_compiled(&run, &trial.limits),
    };
    // A test that says nothing would decide how the process ends.
    let names: Vec<String> = names.into_iter().filter(|name| !baseline.flaky.contains(name)).collect();
    if names.is_empty() {
        let all = baseline.flaky.join(", ");
        return Ok(Verdict::not_run(&clean_line(&format!("no tests are left (left out, as they are flaky: {all})"), 400)));
    }
    let copy = base.copy(project, Some(&trial.program)).map_err(TrialError::Sandbox)?;
    let (run, nonce) = run_once(sandbox, &tests, (&program, &sources), &copy, &names, trial.limits, cancel)?;
    let verdict = match (read(&run.record, &nonce), run.ended) {
        (Some(report), Ended::Exited(code)) => match early_end(&report, &names, &run.output, code) {
            Some((status, message)) => decided(&run, status, &message),
            None => {
                let names = Names { tests: with_messages(report.names.tests, &run.output), ..report.names };
                // That tests failed is what the exit code says, too.
                baseline.verdict_of(&Run { ended: Ended::Exited(0), ..run }, &names, &nonce, &trial.limits)?
            }
        },
        _ => verdict::of(&run, &nonce, &trial.limits)?,
    };
    Ok(guard(verdict, &base, project, &copy))
}

fn decided(run: &Run, status: Status, message: &str) -> Verdict {
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

/// What a `go.mod` calls its module.
fn module_path(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("module"))?;
    let word = line.split("//").next()?.trim().trim_matches(['"', '`', '(', ')']).trim();
    (!word.is_empty()).then(|| word.to_owned())
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

/// Compiles the tests with the candidate, or, without one, with the file as it is.
fn build(
    sandbox: &Sandbox,
    go: &Tool,
    cache: &Cache,
    tests: &Tests,
    base: &Arc<Base>,
    program: Option<&str>,
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<Built, TrialError> {
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
    let store = cache.store().map_err(failed)?;
    let mut arguments: Vec<OsString> = ["test", "-c", "-vet=off", "-o"].map(OsString::from).to_vec();
    arguments.extend([binary.clone().into_os_string(), ".".into()]);
    let modules = modules(go);
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
        announces: false,
        ..Job::driver(&go.program, arguments, Vec::new(), compile_limits(limits))
    };
    let run = sandbox.run(job, cancel).map_err(TrialError::Sandbox)?;
    if run.ended == Ended::Exited(0) && make_executable(&binary) {
        return Ok(Built::Program(products, root.to_path_buf()));
    }
    // What the compiler calls files of the copy are the user's files.
    let output = run.output.lines().filter(|line| !line.starts_with("# ")).collect::<Vec<_>>().join("\n");
    Ok(Built::Failed(Run { output, ..run }))
}

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

/// Runs compiled tests by name, in a copy of the project.
fn run_once(
    sandbox: &Sandbox,
    tests: &Tests,
    (program, sources): (&Scratch, &Path),
    copy: &Copy,
    names: &[String],
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<(Run, String), TrialError> {
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
        ..Job::driver(&binary, arguments, nonce.clone().into_bytes(), Limits { file: limits.file.max(64 << 20), ..limits })
    };
    Ok((sandbox.run(job, cancel).map_err(TrialError::Sandbox)?, nonce))
}

/// What the guard told.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    names: Names,
    /// Tests that began, in order.
    begun: Vec<String>,
}

/// The report of a run; `None` when anything else was written to it.
fn read(record: &[u8], nonce: &str) -> Option<Report> {
    let text = std::str::from_utf8(record).ok()?;
    let mut report = Report { names: Names { nonce: nonce.to_owned(), ..Names::default() }, begun: Vec::new() };
    for line in text.split_terminator('\n') {
        let mut words = line.strip_prefix(nonce)?.strip_prefix('\t')?.split('\t');
        match words.next()? {
            "began" => report.begun.push(words.next()?.to_owned()),
            "ended" => {
                while let Some(outcome) = words.next() {
                    let outcome = match outcome {
                        "passed" => Outcome::Passed,
                        "failed" => Outcome::Failed,
                        "skipped" => Outcome::Skipped,
                        _ => return None,
                    };
                    let name = words.next()?;
                    // Who reports a test twice has not run it twice.
                    if report.names.tests.iter().any(|(known, ..)| known == name) {
                        return None;
                    }
                    report.names.tests.push((name.to_owned(), outcome, String::new()));
                }
            }
            _ => return None,
        }
    }
    (text.is_empty() || text.ends_with('\n')).then_some(report)
}

/// The verdict of a run whose report is not all that was to come.
fn early_end(report: &Report, names: &[String], output: &str, code: i32) -> Option<(Status, String)> {
    let outcome = |name: &String| report.names.tests.iter().find(|(n, ..)| n == name).map(|(_, outcome, _)| *outcome);
    let silent = names.iter().find(|name| outcome(name).is_none());
    let at = report.begun.iter().find(|name| outcome(name).is_none()).or(silent);
    let has_failed = report.names.tests.iter().any(|(_, outcome, _)| *outcome == Outcome::Failed);
    match (at, code) {
        (Some(name), 0) => Some((Status::Killed, format!("the process ended (exit code 0) before {name} was done"))),
        (None, 0) => None,
        _ if has_failed => None,
        (Some(name), _) => Some((Status::Failed, format!("{name}: {}", complaint(output)))),
        (None, _) => Some((Status::Failed, format!("{} (exit code {code})", complaint(output)))),
    }
}

/// What the first panic said, or the last line.
fn complaint(output: &str) -> &str {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "FAIL");
    lines().find(|line| line.starts_with("panic:") || line.starts_with("fatal error:")).or_else(|| lines().next_back()).unwrap_or("it said nothing")
}

/// The tests with what failing ones printed: the lines below their own, up to the next.
fn with_messages(
    tests: Vec<(String, Outcome, String)>,
    output: &str,
) -> Vec<(String, Outcome, String)> {
    let message = |name: &str| {
        let is_head = |line: &str| ["--- ", "=== ", "panic:"].iter().any(|mark| line.trim_start().starts_with(mark));
        let own = format!("--- FAIL: {name} (");
        let after = output.lines().skip_while(|line| !line.trim_start().starts_with(&own)).skip(1);
        let said: Vec<&str> =
            after.take_while(|line| line.starts_with(' ') && !is_head(line)).flat_map(str::split_whitespace).collect();
        let panic = || output.lines().find(|line| line.starts_with("panic:")).map(str::to_owned);
        if said.is_empty() { panic().unwrap_or_default() } else { said.join(" ") }
    };
    let told = |(name, outcome, _): (String, Outcome, String)| {
        let message = if outcome == Outcome::Failed { clean_line(&message(&name), 300) } else { String::new() };
        (name, outcome, message)
    };
    tests.into_iter().map(told).collect()
}

/// The text with one more import, on the line of its package clause.
fn with_import(text: &str, import: &str) -> String {
    let code = blank(text);
    let mut start = 0;
    for line in code.split_inclusive('\n') {
        if let Some(name) = line.trim_start().strip_prefix("package ") {
            let name = name.trim_start();
            let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
            let at = start + line.len() - name.len() + end;
            return format!("{}; import \"{import}\"; {}", &text[..at], &text[at..]);
        }
        start += line.len();
    }
    text.to_owned()
}

/// The text with a call to the guard at the beginning of every function that gets a test, and the names of the tests in it.
fn guarded(text: &str, secret: &str) -> (String, Vec<String>) {
    let code = blank(text);
    let (mut out, mut names, mut done, mut from) = (String::new(), Vec::new(), 0, 0);
    while let Some(at) = code[from..].find("func").map(|offset| from + offset) {
        from = at + 4;
        let before = code[..at].trim_end().chars().next_back();
        // After a bracket it is the type of what a list or a map holds.
        if before == Some(']') || code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = code[from..].trim_start();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(parameters) = rest[name.len()..].strip_prefix('(').and_then(|rest| rest.split_once(')')) else { continue };
        let (inside, after) = parameters;
        let Some((parameter, kind)) = inside.split(',').next().and_then(|first| first.trim().split_once(char::is_whitespace)) else {
            continue;
        };
        let kind = kind.trim();
        let is_test = kind == "*testing.T" || (kind == "*testing.F" && !name.is_empty());
        let body = after.trim_start_matches([' ', '\t']);
        if !is_test || parameter == "_" || !body.starts_with('{') {
            continue;
        }
        let brace = code.len() - body.len();
        out.push_str(&text[done..=brace]);
        out.extend([" ", secret, ".Begin(", parameter, ");"]);
        done = brace + 1;
        let is_name = |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with(char::is_lowercase));
        if !inside.contains(',') && is_name(if kind == "*testing.F" { "Fuzz" } else { "Test" }) {
            names.push(name);
        }
    }
    (out + &text[done..], names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_get_a_test_get_a_guard_and_nothing_else_does() {
        let text = "package a\n// func TestNo(t *testing.T) {\nfunc TestOne(t *testing.T) {\n\tt.Run(\"x\", func(tt *testing.T) { f() })\n}\n\
            func Testify(t *testing.T) {}\nfunc help(t *testing.T, x int) {}\nfunc TestMain(m *testing.M) {}\nfunc Test_b(_ *testing.T) {}\n\
            var a = map[string]func(t *testing.T){\"{\": nil}\ntype c struct { run func(t *testing.T) }\nfunc FuzzIt(f *testing.F) {}\n\
            func made(t *testing.T) int { return 1 }\nfunc (s suite) TestNot(t *testing.T) {}\nfunc TestNo2(t *testing.T, x int) {}\n";
        let (out, names) = guarded(text, "g");
        assert_eq!(names, ["TestOne", "FuzzIt"]);
        let calls: Vec<&str> = out.match_indices("g.Begin(").map(|(at, _)| &out[at..at + 12]).map(|c| c.split(')').next().unwrap()).collect();
        assert_eq!(calls, ["g.Begin(t", "g.Begin(tt", "g.Begin(t", "g.Begin(t", "g.Begin(f", "g.Begin(t"], "{out}");
        assert!(out.contains("func(tt *testing.T) { g.Begin(tt); f() }") && out.contains("map[string]func(t *testing.T){\" "), "{out}");
        assert_eq!(out.lines().count(), text.lines().count(), "lines keep their numbers");
    }

    #[test]
    fn the_import_stands_on_the_line_of_the_package() {
        assert_eq!(
            with_import("// package x\n\npackage a_test // b\nimport \"c\"\n", "m/g"),
            "// package x\n\npackage a_test; import \"m/g\";  // b\nimport \"c\"\n"
        );
        assert_eq!(module_path("// a\nmodule  example.com/x // c\n\ngo 1.19\n").unwrap(), "example.com/x");
        assert_eq!((module_path("module \"x\"\n"), module_path("go 1.19\n")), (Some("x".to_owned()), None));
    }

    #[test]
    fn a_report_has_the_nonce_in_every_line_and_each_test_once() {
        let report = read(b"n\tbegan\tA\nn\tended\tpassed\tA/x\tfailed\tA\nn\tbegan\tB\n", "n").unwrap();
        assert_eq!(report.begun, ["A", "B"]);
        let outcomes: Vec<_> = report.names.tests.iter().map(|(name, outcome, _)| (name.as_str(), *outcome)).collect();
        assert_eq!(outcomes, [("A/x", Outcome::Passed), ("A", Outcome::Failed)]);
        assert_eq!(read(b"", "n").unwrap().begun.len(), 0);
        for bad in ["m\tbegan\tA\n", "n\tended\tpassed\tA", "n\tended\tpassed\n", "n\tended\tpassed\tA\nn\tended\tfailed\tA\n", "n\n", "\n"] {
            assert_eq!(read(bad.as_bytes(), "n"), None, "{bad}");
        }
    }

    #[test]
    fn no_end_before_the_tests_are_done_is_a_pass() {
        let names = ["A".to_owned(), "B".to_owned()];
        let end = |record: &str, code| early_end(&read(record.as_bytes(), "n").unwrap(), &names, "x\npanic: no\n", code);
        let all = "n\tended\tpassed\tA\nn\tended\tpassed\tB\n";
        assert_eq!(end(all, 0), None);
        assert_eq!(end(all, 1).unwrap().0, Status::Failed, "passed, and yet the process says no");
        assert_eq!(end("n\tended\tpassed\tA\nn\tended\tfailed\tB\n", 1), None);
        let killed = (Status::Killed, "the process ended (exit code 0) before B was done".to_owned());
        assert_eq!(end("n\tended\tpassed\tA\n", 0), Some(killed));
        assert_eq!(end("n\tbegan\tB\n", 2), Some((Status::Failed, "B: panic: no".to_owned())));
    }

    #[test]
    fn failing_tests_say_what_they_printed() {
        let output = "noise\n--- FAIL: A (0.00s)\n    --- FAIL: A/x (0.00s)\n        a_test.go:7: got 7,\n            want 6\n    --- FAIL: A/y (0.00s)\n        a_test.go:8: no\nFAIL\n";
        let failed = |name: &str| (name.to_owned(), Outcome::Failed, String::new());
        let told = with_messages(vec![failed("A/x"), failed("A/y"), failed("A")], output);
        let messages: Vec<&str> = told.iter().map(|(.., message)| message.as_str()).collect();
        assert_eq!(messages, ["a_test.go:7: got 7, want 6", "a_test.go:8: no", ""]);
    }
}
