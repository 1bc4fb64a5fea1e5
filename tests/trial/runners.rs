//! Trials in other languages than Python, as their users see them: styles of tests, verdicts and messages,
//! and programs that mean harm (`tests/hostile/LANGUAGE`). A language whose tools are missing here is skipped
//! by name.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bass_tui::language::Language;
use bass_tui::trial::{Limits, Runner, Status, Tests, Trial, Verdict};

use super::left;
use super::python::in_parallel;

fn limits(seconds: u64) -> Limits {
    Limits {
        wall: Duration::from_secs(seconds),
        memory: 512 << 20,
        file: 4 << 20,
        output: 4 << 20,
        processes: 32,
        ..Limits::default()
    }
}

pub fn runner(language: Language) -> Option<Runner> {
    super::runner::runner(language)
}

fn trial(language: Language, program: &str, name: &str, tests: &str, limits: Limits) -> Trial {
    Trial {
        language,
        program: program.to_owned(),
        file: Some(format!("doubling.{}", language.extensions()[0]).into()),
        entry_point: Some("f".to_owned()),
        line: None,
        tests: Tests::text(name, tests),
        stub: None,
        limits,
    }
}

pub fn run(runner: &Runner, trial: &Trial) -> Verdict {
    runner.run(trial, &Arc::default()).unwrap()
}

const DOUBLE: &str = "function f(x) {\n    return 2 * x;\n}\n";

/// Targets of hostile programs: a home, a folder of somebody else's, services and a process.
struct Surroundings {
    folder: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    victim: Child,
}

impl Surroundings {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home/.ssh")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("home/.ssh/id_ed25519"), "the key").unwrap();
        fs::write(folder.path().join("home/notes"), "notes").unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        Self { folder, tcp, udp, victim: Command::new("sleep").arg("600").spawn().unwrap() }
    }

    /// A program with the places of these surroundings in it.
    fn fill(&self, program: &str) -> String {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        program
            .replace("@HOME@", &path("home"))
            .replace("@OUTSIDE@", &path("outside"))
            .replace("@PORT@", &self.tcp.local_addr().unwrap().port().to_string())
            .replace("@PARENT@", &std::process::id().to_string())
            .replace("@VICTIM@", &self.victim.id().to_string())
    }

    /// Nothing was read, changed, reached or ended.
    fn assert_untouched(&mut self) {
        let read = |name: &str| fs::read_to_string(self.folder.path().join(name)).unwrap();
        assert_eq!((read("home/notes").as_str(), read("home/.ssh/id_ed25519").as_str()), ("notes", "the key"));
        assert_eq!(names(&self.folder.path().join("outside")), [""; 0], "a file was made outside");
        assert_eq!(names(&self.folder.path().join("home")), [".ssh", "notes"]);
        assert!(self.tcp.accept().is_err(), "a connection came");
        assert!(self.udp.recv(&mut [0; 8]).is_err(), "a datagram came");
        assert!(self.victim.try_wait().unwrap().is_none(), "the victim was ended");
    }
}

impl Drop for Surroundings {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A line `// KEY: value` or `# KEY: value` of a hostile program.
fn header<'a>(program: &'a str, key: &str) -> Option<&'a str> {
    program.lines().find_map(|line| {
        line.strip_prefix("// ").or_else(|| line.strip_prefix("# "))?.strip_prefix(key)?.strip_prefix(": ")
    })
}

fn programs(folder: &str, least: usize) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile").join(folder);
    let mut programs: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    assert!(programs.len() >= least, "the hostile programs are missing");
    programs
}

/// Runs the hostile programs of a folder, and a good one after each fourth, as harm lasts.
fn try_hostile(runner: &Runner, folder: &str, least: usize, make: impl Fn(&str) -> Trial + Sync, good: &Trial) {
    let mut surroundings = Surroundings::new();
    let programs: Vec<_> = programs(folder, least).into_iter().enumerate().collect();
    let filled = |path: &Path| {
        let source = fs::read_to_string(path).unwrap();
        (surroundings.fill(&source), source)
    };
    let texts: Vec<_> = programs.iter().map(|(_, path)| filled(path)).collect();
    let wrong = in_parallel(&programs, |(at, path)| {
        let mut wrong = Vec::new();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let (program, source) = &texts[*at];
        let verdict = run(runner, &make(program));
        let status = serde_json::to_value(verdict.status).unwrap();
        let expected = header(source, "expect").unwrap_or_default();
        let says = header(source, "says").unwrap_or_default();
        if !expected.split(' ').any(|word| status == word) || !verdict.message.contains(says) {
            let output = verdict.output.chars().take(800).collect::<String>();
            wrong.push(format!("{name}: expected {expected} ({says}), found {status}: {} {output}", verdict.message));
        }
        let shown = format!("{}{}", verdict.message, verdict.output);
        if shown.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}') || shown.len() > 200_000
        {
            wrong.push(format!("{name}: what is shown was not cleaned or cut"));
        }
        if at % 4 == 3 || at + 1 == programs.len() {
            let verdict = run(runner, good);
            if verdict.status != Status::Passed {
                wrong.push(format!("after {name} a good program got {:?}: {}", verdict.status, verdict.message));
            }
        }
        (!wrong.is_empty()).then(|| wrong.join("\n"))
    });
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
    surroundings.assert_untouched();
    assert_nothing_is_left();
}

/// No process and no folder is left of a trial of this program that is over.
fn assert_nothing_is_left() {
    // Runners of other tests keep folders, and hold a lock on each; one that is just made or removed has
    // none.
    let is_used = |folder: &Path| fs::File::open(folder).is_ok_and(|folder| folder.try_lock().is_err());
    let (begun, mut found) = (Instant::now(), left::of_trials(is_used));
    while !found.is_empty() && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(50));
        found = left::of_trials(is_used);
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn hostile_javascript_gets_its_verdict_and_does_no_harm() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let default = "assert.strictEqual(f(3), 6); assert.deepStrictEqual(f(4), 8);";
    let make = |program: &str| {
        let tests = header(program, "tests").unwrap_or(default);
        let tests = format!("test('f', () => {{ {tests} }});");
        let stub = Some("function f(x) {\n}\n".to_owned());
        Trial { stub, ..trial(Language::JavaScript, program, "t.js", &tests, limits(3)) }
    };
    let good = trial(Language::JavaScript, DOUBLE, "t.js", default, limits(20));
    try_hostile(&runner, "javascript", 30, make, &good);
}

#[test]
fn hostile_rust_gets_its_verdict_and_does_no_harm() {
    let Some(runner) = runner(Language::Rust) else { return };
    let tests = "#[test]\nfn doubles() {\n    assert_eq!(f(3), 6);\n    assert!(f(4) == 8);\n}\n";
    let make = |program: &str| {
        let limits = Limits { wall: Duration::from_secs(3), ..limits(3) };
        trial(Language::Rust, program, "t.rs", tests, limits)
    };
    let good = trial(Language::Rust, "fn f(x: i64) -> i64 {\n    2 * x\n}\n", "t.rs", tests, limits(20));
    try_hostile(&runner, "rust", 14, make, &good);
}

#[test]
fn rust_styles_of_tests_are_found() {
    let Some(runner) = runner(Language::Rust) else { return };
    let judge = |program: &str, tests: &str| {
        let verdict = run(&runner, &trial(Language::Rust, program, "t.rs", tests, limits(20)));
        (verdict.status, verdict.message)
    };
    let double = "fn f(x: i64) -> i64 {\n    2 * x\n}\n";
    let passed = |text: &str| (Status::Passed, text.to_owned());
    assert_eq!(judge(double, "assert_eq!(f(2), 4);\n"), passed("1 test"));
    assert_eq!(
        judge(double, "}\n\nfn main() {\n    let candidate = f;\n    assert_eq!(candidate(2), 4);\n}\n"),
        passed("1 test")
    );
    let module = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn doubles() {\n        assert_eq!(f(2), 5, \"why\");\n    }\n    \
        #[test]\n    #[should_panic]\n    fn overflows() {\n        f(i64::MAX);\n    }\n}\n";
    let failed = "tests::doubles: assertion `left == right` failed: why, left: 4, right: 5 (t.rs:7)";
    assert_eq!(judge(double, module), (Status::Failed, failed.to_owned()));
    assert_eq!(judge(double, &module.replace('5', "4")), passed("2 tests"));
    assert_eq!(
        judge("fn f(x: i64) -> i64 {\n    \"no\"\n}\n", module).1.split(':').take(2).collect::<Vec<_>>(),
        ["doubling.rs", "2"]
    );
    assert_eq!(judge(double, "fn helper() {}\n#[ignore] #[test] fn a() {}\n").0, Status::NotRun);
}

#[test]
fn hostile_go_gets_its_verdict_and_does_no_harm() {
    let Some(runner) = runner(Language::Go) else { return };
    let tests = "package main\n\nimport \"testing\"\n\nfunc TestDoubles(t *testing.T) {\n\tif f(3) != 6 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n";
    let make = |program: &str| trial(Language::Go, program, "f_test.go", tests, limits(3));
    let good =
        trial(Language::Go, "package main\n\nfunc f(x int) int {\n\treturn 2 * x\n}\n", "f_test.go", tests, limits(20));
    try_hostile(&runner, "go", 6, make, &good);
}

#[test]
fn hostile_shell_scripts_get_the_verdict_of_their_command_and_do_no_harm() {
    let Some(runner) = runner(Language::Python) else { return };
    let make = |program: &str, seconds| {
        let command = "sh -c '. ./{file}; test \"$(f 3)\" = 6'";
        let tests = Tests::of_command(command, Language::Python, Some(Path::new("f.sh")), None).unwrap();
        Trial { tests, ..trial(Language::Python, program, "", "", limits(seconds)) }
    };
    let good = make("f() { echo 6; }\n", 20);
    try_hostile(&runner, "shell", 10, |program| make(program, 3), &good);
}

/// Cargo and go find the packages of this machine where a command starts them.
#[test]
fn a_command_finds_the_packages_of_its_language() {
    for (language, variable) in [(Language::Rust, "CARGO_HOME"), (Language::Go, "GOPROXY")] {
        let Some(runner) = runner(language) else { continue };
        let tests = Tests::of_command(&format!("sh -c 'test -n \"${variable}\"'"), language, None, None).unwrap();
        let verdict = run(&runner, &Trial { tests, ..trial(language, "", "", "", limits(20)) });
        assert_eq!(verdict.status, Status::Passed, "{variable}: {}", verdict.message);
    }
}

#[test]
fn a_command_is_told_file_folder_function_and_line() {
    let Some(runner) = runner(Language::Python) else { return };
    let command = "sh -c 'test \"$*\" = \"f.txt . f 7\" && cat f.txt' - {file} {dir} {function} {line}";
    let tests = Tests::of_command(command, Language::Python, Some(Path::new("f.txt")), Some(7)).unwrap();
    let verdict = run(&runner, &Trial { tests, ..trial(Language::Python, "the text", "", "", limits(20)) });
    assert_eq!((verdict.status, verdict.output.as_str()), (Status::Passed, "the text"));
    // It may be a program that reserves many addresses, such as node with WebAssembly.
    let command = "sh -c 'v=$(ulimit -v); test \"$v\" = unlimited || test \"$v\" -ge 67108864'";
    let tests = Tests::of_command(command, Language::Python, None, None).unwrap();
    let verdict = run(&runner, &Trial { tests, ..trial(Language::Python, "", "", "", limits(20)) });
    assert_eq!(verdict.status, Status::Passed, "{}", verdict.message);
    let tests = Tests::of_command("no-such-program-anywhere", Language::Python, None, None).unwrap();
    let trial = Trial { tests, ..trial(Language::Python, "", "", "", limits(20)) };
    let error = runner.run(&trial, &Arc::default()).unwrap_err().to_string();
    assert!(error.contains("no-such-program-anywhere") && error.contains("PATH"), "{error}");
}
