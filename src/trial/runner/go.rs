//! Go: the tests are compiled with the candidate's package, then run. Each test reports its end through a private pipe, as in Rust.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::super::toolchain::Tool;
use super::super::{Assurance, Limits, Status, Tests, Trial, TrialError, Verdict, verdict};
use super::nonce;
use super::record::{Channel, VARIABLE};
use super::rust::{compile_limits, make_executable, not_compiled};
use super::tests_in_text::{blank, body};
use crate::sandbox::{Ended, Job, Run, Sandbox, Scratch};
use crate::untrusted::{clean, clean_line};

const GUARD: &str = include_str!("go/guard.go.txt");

/// A folder of compiled packages (the standard library) that all trials of this program start from.
#[derive(Debug, Default)]
pub struct Cache {
    folder: Mutex<Option<Scratch>>,
    /// Where downloaded modules are, once it was asked for.
    pub(super) modules: OnceLock<Option<PathBuf>>,
    /// Where modules of the user's are built.
    pub(super) places: super::go_project::Places,
}

impl Cache {
    /// Where it is, for as long as the guard is held: one build at a time.
    pub(super) fn open(&self) -> std::io::Result<(MutexGuard<'_, Option<Scratch>>, PathBuf)> {
        let mut kept = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = match kept.take() {
            Some(folder) => folder,
            None => Scratch::new()?,
        };
        let path = folder.path().to_path_buf();
        *kept = Some(folder);
        Ok((kept, path))
    }
}

/// Runs a trial.
pub fn run(
    sandbox: &Sandbox,
    go: &Tool,
    cache: &Cache,
    trial: &Trial,
    cancel: &AtomicBool,
) -> Result<Verdict, TrialError> {
    let Tests::Source { name, text } = &trial.tests else {
        return Ok(Verdict::not_run("examples in Go's documentation are not run: give the tests as a file"));
    };
    let failed = |e: std::io::Error| TrialError::Sandbox(format!("the program could not be laid out: {e}"));
    let (nonce, secret) = (nonce()?, format!("guard{}", super::nonce()?));
    let package = package_of(text).or_else(|| package_of(&trial.program)).unwrap_or("main").to_owned();
    let (text, tests) = guarded(text, &secret);
    if tests.is_empty() {
        return Ok(Verdict::not_run(&format!("no functions of the form TestName(t *testing.T) found in {name}")));
    }
    let stem = trial.module.as_deref().filter(|stem| stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    let stem = stem.map(|stem| stem.trim_end_matches("_test")).filter(|stem| !stem.is_empty()).unwrap_or("candidate");
    let folder = Scratch::new().map_err(failed)?;
    let place = folder.path();
    let (major, minor) = go.version;
    let with_package = |text: &str| {
        if package_of(text).is_some() { text.to_owned() } else { format!("package {package}; {text}") }
    };
    let files = [
        (format!("{stem}.go"), with_package(&trial.program)),
        (format!("{stem}_test.go"), with_package(&text)),
        (
            format!("{secret}_test.go"),
            GUARD.replace("@PACKAGE@", &package).replace("@GUARD@", &secret).replace("@VARIABLE@", VARIABLE),
        ),
        ("go.mod".to_owned(), format!("module {stem}\n\ngo {major}.{minor}\n")),
    ];
    for (name, text) in files {
        fs::write(place.join(name), text).map_err(failed)?;
    }
    // Nothing of the candidate's runs while it is compiled, so what was compiled may be kept for the next one.
    let (kept, store) = cache.open().map_err(failed)?;
    let binary = place.join("program");
    let compiled = compile(sandbox, go, place, &store, trial.limits, cancel)?;
    if compiled.ended != Ended::Exited(0) || !make_executable(&binary) {
        return not_compiled(&compiled, &trial.limits);
    }
    drop(kept);
    let (channel, inherited, variable) = Channel::open(&nonce)?;
    let only = format!("^({})$", tests.join("|"));
    let arguments: Vec<OsString> =
        ["-test.v".into(), "-test.paniconexit0".into(), "-test.count=1".into(), format!("-test.run={only}").into()]
            .into();
    let readable = [place.to_path_buf()];
    let job = Job {
        readable: &readable,
        environment: vec![variable],
        inherited,
        ..Job::new(&binary, arguments, trial.limits)
    };
    let run = sandbox.run(job, cancel).map_err(TrialError::Sandbox)?;
    let told = channel.read(&nonce);
    let (status, message) = if let Some(decided) = judge(&run, told.as_deref(), &tests) {
        decided
    } else {
        let verdict = verdict::of(&run, &nonce, &trial.limits)?;
        (verdict.status, verdict.message)
    };
    Ok(Verdict {
        status,
        message: clean_line(&message, 400),
        duration_ms: run.elapsed.as_millis().try_into().unwrap_or(u64::MAX),
        output: clean(&run.output),
        assurance: Assurance::Shared,
    })
}

fn compile(
    sandbox: &Sandbox,
    go: &Tool,
    place: &Path,
    store: &Path,
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<Run, TrialError> {
    let arguments = ["test", "-c", "-vet=off", "-o", "program", "."].map(OsString::from).to_vec();
    let mut environment = environment(go, store);
    environment.push(("GOFLAGS".into(), "-mod=mod".into()));
    let writable = [place.to_path_buf(), store.to_path_buf()];
    let job = Job {
        readable: &go.readable,
        writable: &writable,
        folder: Some(place),
        environment,
        ..Job::new(&go.program, arguments, compile_limits(limits))
    };
    sandbox.run(job, cancel).map_err(TrialError::Sandbox)
}

/// What every build is told: nothing is downloaded, and nothing of the user's settings counts.
pub(super) fn environment(go: &Tool, store: &Path) -> Vec<(OsString, OsString)> {
    let programs = go.program.parent().unwrap_or(Path::new("/usr/bin"));
    vec![
        ("PATH".into(), format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()).into()),
        ("GOCACHE".into(), store.into()),
        ("GOPROXY".into(), "off".into()),
        ("GOSUMDB".into(), "off".into()),
        ("GOTOOLCHAIN".into(), "local".into()),
        ("GOENV".into(), "off".into()),
        // Flags for the C compiler could stand in the candidate.
        ("CGO_ENABLED".into(), "0".into()),
    ]
}

/// The verdict of a run that ended by itself.
fn judge(run: &Run, told: Option<&[String]>, tests: &[String]) -> Option<(Status, String)> {
    let Ended::Exited(code) = run.ended else { return None };
    if code != 0 {
        return Some((Status::Failed, first_complaint(&run.output)));
    }
    let Some(told) = told else {
        return Some((Status::Tampered, "the code wrote to the report of the tests".to_owned()));
    };
    for test in tests {
        let ends: Vec<&String> = told.iter().filter(|line| line.split(' ').next() == Some(test)).collect();
        match ends.as_slice() {
            [] => return Some((Status::Killed, format!("the process ended with exit code 0 before {test} was done"))),
            [end] if **end == format!("{test} passed") => {}
            [end] if **end == format!("{test} skipped") => {
                return Some((Status::Failed, format!("{test} was skipped")));
            }
            _ => return Some((Status::Tampered, format!("the report of {test} makes no sense"))),
        }
    }
    Some((Status::Passed, format!("{} {}", tests.len(), if tests.len() == 1 { "test" } else { "tests" })))
}

/// What the first failing test said: the line with a place in it, or the panic.
fn first_complaint(output: &str) -> String {
    let line = output.lines().map(str::trim).find(|line| {
        line.starts_with("panic:") || line.split(": ").next().is_some_and(|place| place.contains("_test.go:"))
    });
    line.map_or_else(|| "a test failed".to_owned(), str::to_owned)
}

/// The package that a file says it belongs to.
pub(super) fn package_of(text: &str) -> Option<&str> {
    let code = blank(text);
    let at = code.lines().scan(0, |start, line| {
        let from = *start;
        *start += line.len() + 1;
        Some((from, line))
    });
    let (from, _) = at.into_iter().find(|(_, line)| line.trim_start().starts_with("package "))?;
    text[from..].trim_start().strip_prefix("package ")?.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()
}

/// The text with a guard at the beginning of every test, and the names of the tests.
fn guarded(text: &str, secret: &str) -> (String, Vec<String>) {
    let code = blank(text);
    let (mut out, mut tests, mut done) = (String::new(), Vec::new(), 0);
    while let Some(at) = code[done..].find("func Test").map(|offset| done + offset) {
        let Some(brace) = body(&code, at) else { break };
        let head = &code[at + 5..brace];
        let name: String = head.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // `TestMain` is no test, and a name goes on in capitals.
        let parameter = head[name.len()..].trim().strip_prefix('(').and_then(|rest| rest.split_whitespace().next());
        let is_test = head.contains("*testing.T)") && !name["Test".len()..].starts_with(char::is_lowercase);
        out.push_str(&text[done..=brace]);
        if let Some(parameter) = parameter.filter(|_| is_test) {
            out.extend([" defer ", secret, "(\"", &name, "\", ", parameter, ")();"]);
            tests.push(name);
        }
        done = brace + 1;
    }
    (out + &text[done..], tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_gets_a_guard_and_nothing_else_does() {
        let text = "package a\n// func TestNo(t *testing.T) {\nfunc TestOne(t *testing.T) {\n}\nfunc TestMain(m *testing.M) {}\nfunc Testify(t *testing.T) {}\nfunc Test_b(tt *testing.T) { x := \"{\" }\n";
        let (out, tests) = guarded(text, "g");
        assert_eq!(tests, ["TestOne", "Test_b"]);
        assert!(
            out.contains("TestOne(t *testing.T) { defer g(\"TestOne\", t)();\n")
                && out.contains("{ defer g(\"Test_b\", tt)(); x"),
            "{out}"
        );
        assert_eq!(package_of("// package x\n/* a */\npackage main\n"), Some("main"));
        assert_eq!(package_of("func f() {}"), None);
    }
}
