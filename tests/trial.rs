//! Trials as their users see them: styles of tests, verdicts and messages, and programs that mean harm (`tests/hostile`).
//!
//! Each hostile program names its verdict in its first lines. Programs that could do real harm run only where the sandbox holds.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use bass_tui::language::Language;
use bass_tui::trial::{Limits, Runner, Status, Tests, Trial, TrialError, Verdict};

static RUNNER: LazyLock<Runner> = LazyLock::new(Runner::probe);
/// Held for reading while trials run; for writing while nobody's trial may be running.
static RUNNING: RwLock<()> = RwLock::new(());
/// A signal to everybody reached this process.
static WAS_SIGNALLED: AtomicBool = AtomicBool::new(false);

const DOUBLE: &str = "def f(x):\n    return 2 * x\n";

fn limits(seconds: f64) -> Limits {
    Limits { wall: Duration::from_secs_f64(seconds), memory: 256 << 20, file: 4 << 20, output: 4 << 20, processes: 32 }
}

/// The runner, unless the machine has no sandbox: then a line says which layer is missing.
fn runner() -> Option<&'static Runner> {
    if RUNNER.protection().is_isolated() {
        return Some(&RUNNER);
    }
    eprintln!("skipped: {}", RUNNER.protection().summary);
    None
}

fn trial(program: &str, tests: Tests, limits: Limits) -> Trial {
    let entry_point = Some("f".to_owned());
    Trial {
        language: Language::Python,
        program: program.to_owned(),
        module: Some("numbers".to_owned()),
        entry_point,
        tests,
        limits,
    }
}

fn file(text: &str) -> Tests {
    Tests::Source { name: "test_f.py".to_owned(), text: text.to_owned() }
}

fn run(runner: &Runner, trial: &Trial) -> Verdict {
    let _running = RUNNING.read();
    runner.run(trial, &Arc::default()).unwrap()
}

/// Status and message of tests on a program.
fn judge(program: &str, tests: Tests) -> Option<(Status, String)> {
    let verdict = run(runner()?, &trial(program, tests, limits(20.0)));
    Some((verdict.status, verdict.message))
}

#[track_caller]
fn expect(program: &str, tests: Tests, status: Status, message: &str) {
    if let Some((found, said)) = judge(program, tests) {
        assert_eq!((found, said.as_str()), (status, message));
    }
}

#[test]
fn doctest_examples_come_from_the_stub_and_run_on_the_candidate() {
    let stub = |body: &str| Tests::Doctest { source: format!("def f(x):\n    '''Doubles.\n\n{body}    '''\n") };
    let plain = "    >>> f(3)\n    6\n    >>> f('ab')\n    'abab'\n";
    expect(DOUBLE, stub(plain), Status::Passed, "2 checks");
    expect("def f(x):\n    return x + 2", stub(plain), Status::Failed, "f(3) gave 5, expected 6");
    expect(
        "def f(x):\n    '''>>> f(3)\n    5\n    '''\n    return x + 2",
        stub(plain),
        Status::Failed,
        "f(3) gave 5, expected 6",
    );
    let raising = "    >>> f(None)\n    Traceback (most recent call last):\n      ...\n    TypeError: no\n";
    expect("def f(x):\n    raise TypeError('no')", stub(raising), Status::Passed, "1 check");
    expect(
        DOUBLE,
        stub(raising),
        Status::Failed,
        "f(None) raised TypeError: unsupported operand type(s) for *: 'int' and \
        'NoneType', expected TypeError: no",
    );
    let rich = "    >>> for i in range(2):\n    ...     print(f(i))\n    0\n    2\n    >>> y = f(4)\n    >>> print('a', y)  \
        # doctest: +ELLIPSIS\n    a...\n    >>> print()\n    <BLANKLINE>\n";
    expect(DOUBLE, stub(rich), Status::Passed, "3 checks");
    expect(DOUBLE, stub("    No examples.\n"), Status::NotRun, "no `>>>` examples found");
    // Without examples at the entry point, those of the whole module count.
    let other = Tests::Doctest { source: "'''\n>>> f(1) + 1\n3\n'''\ndef f(x):\n    'Doubles.'\n".to_owned() };
    expect(DOUBLE, other, Status::Passed, "1 check");
}

#[test]
fn plain_asserts_say_what_they_saw() {
    expect(DOUBLE, file("assert f(1) == 2\nassert 4 == f(2), 'twice'\n"), Status::Passed, "2 checks");
    expect(DOUBLE, file("assert f(1) == 3, 'why'\n"), Status::Failed, "f(1) gave 2, expected 3: why (test_f.py:1)");
    expect(DOUBLE, file("\nassert 3 == f(1)\n"), Status::Failed, "f(1) gave 2, expected 3 (test_f.py:2)");
    expect(
        DOUBLE,
        file("assert f(1) > 5\n"),
        Status::Failed,
        "f(1) > 5 does not hold: left is 2, right is 5 (test_f.py:1)",
    );
    expect(DOUBLE, file("assert f(0)\n"), Status::Failed, "f(0) gave 0, expected something true (test_f.py:1)");
    expect(
        "def f(x):\n    return 1 // x",
        file("assert f(0) == 1\n"),
        Status::Failed,
        "f(0) == 1 raised ZeroDivisionError: integer division or modulo by zero (test_f.py:1)",
    );
    expect(DOUBLE, file("x = f(2)\n"), Status::NotRun, "no checks found in test_f.py");
    expect(
        DOUBLE,
        file("y = g(1)\nassert f(1) == 2\n"),
        Status::Error,
        "tests file test_f.py, line 1: NameError: name 'g' is \
        not defined",
    );
    expect(
        DOUBLE,
        file("try:\n    f(None)\n    assert False\nexcept TypeError:\n    pass\nassert f(0) == 0"),
        Status::Passed,
        "1 check",
    );
}

#[test]
fn functions_and_classes_are_found() {
    let check = "def check(candidate):\n    for i in range(5):\n        assert candidate(i) == 2 * i\n";
    expect(DOUBLE, file(check), Status::Passed, "5 checks");
    expect(DOUBLE, file(&format!("{check}\ncheck(f)\n")), Status::Passed, "5 checks");
    expect("def f(x):\n    return 0", file(check), Status::Failed, "candidate(i) gave 0, expected 2 (test_f.py:3)");
    let pytest =
        "def test_a():\n    assert f(1) == 2\n\nclass TestMore:\n    def test_b(self):\n        assert f(2) == 5\n";
    expect(DOUBLE, file(pytest), Status::Failed, "f(2) gave 4, expected 5 (test_f.py:6)");
    let fixture = "def test_a(tmp_path):\n    assert f(1) == 2\n";
    expect(
        DOUBLE,
        file(fixture),
        Status::Error,
        "test_a in test_f.py needs the fixture `tmp_path`: fixtures are not supported",
    );
    expect(DOUBLE, file("def test_a():\n    pass\n"), Status::NotRun, "no checks found in test_f.py");
    expect(DOUBLE, file("async def test_a():\n    assert f(1) == 2\n"), Status::Passed, "1 check");
    let unit = |expected| {
        file(&format!(
            "import unittest\nfrom doubling import f\n\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.x = 2\n\n    \
             def test_a(self):\n        self.assertEqual(f(self.x), {expected})\n\n    def test_b(self):\n        with \
             self.assertRaises(TypeError):\n            f(None)\n\nif __name__ == '__main__':\n    unittest.main()\n"
        ))
    };
    expect(DOUBLE, unit(4), Status::Passed, "2 checks");
    expect(DOUBLE, unit(5), Status::Failed, "T.test_a failed: AssertionError: 4 != 5 (test_f.py:9)");
    expect(DOUBLE, file("'''\n>>> f(2)\n4\n'''\n"), Status::Passed, "1 check");
    let notes = Tests::Source { name: "notes.md".to_owned(), text: "It doubles:\n\n    >>> f(2)\n    5\n".to_owned() };
    expect(DOUBLE, notes, Status::Failed, "f(2) gave 4, expected 5");
}

#[test]
fn the_module_under_test_can_be_imported_by_any_name() {
    expect(DOUBLE, file("from mine.doubling import f as g\nassert g(1) == 2\n"), Status::Passed, "1 check");
    expect(DOUBLE, file("import doubling as d\nassert d.f(1) == 2\n"), Status::Passed, "1 check");
    expect(
        DOUBLE,
        file("from doubling import halve\nassert halve(1) == 2\n"),
        Status::Error,
        "the code does not define `halve`, which the tests import (test_f.py:1)",
    );
}

#[test]
fn classes_of_the_user_are_no_tampering() {
    let program = "class P:\n    def __init__(self, x):\n        self.x = x\n    def __eq__(self, other):\n        return self.x == \
        getattr(other, 'x', other)\n\ndef f(x):\n    return P(2 * x)\n";
    expect(program, file("assert f(1) == P(2)\nassert f(1) == 2\n"), Status::Passed, "2 checks");
    let data =
        "from dataclasses import dataclass\n@dataclass\nclass Q:\n    x: int\n\ndef f(x):\n    return Q(2 * x)\n";
    expect(data, file("assert f(1).x == 2\nassert f(1) == f(1)\nassert f(1) != 3\n"), Status::Passed, "3 checks");
    let library = "from fractions import Fraction\n\ndef f(x):\n    return Fraction(2 * x)\n";
    expect(library, file("assert f(1) == 2\n"), Status::Passed, "1 check");
}

#[test]
fn tests_import_the_candidate_even_by_the_name_of_a_library() {
    expect(DOUBLE, file("from numbers import f\nassert f(2) == 4\n"), Status::Passed, "1 check");
    let failed = "n.f(2) gave 4, expected 5 (test_f.py:2)";
    expect(DOUBLE, file("import numbers as n\nassert n.f(2) == 5\n"), Status::Failed, failed);
}

#[test]
fn a_tests_file_that_does_not_parse_is_refused_beforehand() {
    let Some(runner) = runner() else { return };
    let _running = RUNNING.read();
    let error = runner
        .check_tests(&Tests::Source { name: "test_f.py".into(), text: "assert f(1) == 2\nassert (\n".into() })
        .unwrap_err();
    assert!(matches!(error, TrialError::TestsDoNotParse(_)));
    assert!(error.to_string().starts_with("tests file test_f.py, line 2: "), "{error}");
    let said = error.to_string().replace("line 2", "line 1");
    runner.check_tests(&Tests::Source { name: "test_f.py".into(), text: "assert f(1) == 2\n".into() }).unwrap();
    expect(
        DOUBLE,
        file("assert (\n"),
        Status::Error,
        said.trim_end_matches(": it does not parse; correct it, or leave out --tests"),
    );
}

#[test]
fn without_isolation_nothing_runs_unasked() {
    let runner = Runner::without_isolation();
    assert!(!runner.protection().is_isolated());
    let trial = trial(DOUBLE, file("assert f(1) == 2\n"), limits(20.0));
    assert!(matches!(runner.run(&trial, &Arc::default()), Err(TrialError::Sandbox(_))));
    assert_eq!(run(&runner.allow_unprotected(), &trial).status, Status::Passed);
}

#[test]
fn a_wish_to_cancel_is_heard() {
    let Some(runner) = runner() else { return };
    let _running = RUNNING.read();
    let cancel = Arc::new(AtomicBool::new(false));
    let setter = Arc::clone(&cancel);
    let waker = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        setter.store(true, Ordering::Relaxed);
    });
    let endless = trial("while True:\n    pass\n", file("assert f(1) == 2\n"), limits(60.0));
    let verdict = runner.run(&endless, &cancel).unwrap();
    waker.join().unwrap();
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Killed, "cancelled"));
}

/// Without this a broken sandbox would only make the other tests skip themselves.
#[cfg(target_os = "linux")]
#[test]
fn where_the_kernel_offers_it_the_sandbox_holds() {
    // SAFETY: with a null attribute, size 0 and the version flag the call only returns a number; prctl takes plain numbers.
    let (landlock, seccomp) = unsafe {
        let version = 1_u32;
        let landlock = libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, version);
        (landlock, libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0))
    };
    let protection = RUNNER.protection();
    assert_eq!(protection.is_isolated(), landlock > 0 && seccomp >= 0, "{}", protection.summary);
    assert_eq!(i64::from(protection.landlock_abi), landlock.max(0));
}

/// What hostile programs aim at: a home, a folder of somebody else's, services and a process.
struct Surroundings {
    folder: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    victim: Child,
    _service: UnixListener,
}

impl Surroundings {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home/.ssh")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("home/.ssh/id_ed25519"), "the key").unwrap();
        fs::write(folder.path().join("home/notes"), "notes").unwrap();
        let service = UnixListener::bind(folder.path().join("outside/service")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let victim = Command::new("sleep").arg("600").spawn().unwrap();
        // A file that stays open across exec, as another library of this program might leave one.
        // SAFETY: plain numbers; the copy stays open until the process ends.
        unsafe { libc::dup(2) };
        Self { folder, tcp, udp, victim, _service: service }
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
            // SAFETY: geteuid takes nothing and cannot fail.
            .replace("@USER@", &unsafe { libc::geteuid() }.to_string())
    }

    /// Nothing was read, changed, reached or ended.
    fn assert_untouched(&mut self) {
        let read = |name: &str| fs::read_to_string(self.folder.path().join(name)).unwrap();
        assert_eq!((read("home/notes").as_str(), read("home/.ssh/id_ed25519").as_str()), ("notes", "the key"));
        assert_eq!(names(&self.folder.path().join("outside")), ["service"], "a file was made outside");
        assert_eq!(names(&self.folder.path().join("home")), [".ssh", "notes"]);
        assert!(self.tcp.accept().is_err(), "a connection came");
        assert!(self.udp.recv(&mut [0; 8]).is_err(), "a datagram came");
        assert!(self.victim.try_wait().unwrap().is_none(), "the victim was ended");
        assert!(!WAS_SIGNALLED.load(Ordering::Relaxed), "a signal to everybody came through");
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

/// A line `# KEY: value` of a hostile program.
fn header<'a>(program: &'a str, key: &str) -> Option<&'a str> {
    program.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(": "))
}

extern "C" fn note_signal(_: libc::c_int) {
    WAS_SIGNALLED.store(true, Ordering::Relaxed);
}

#[test]
fn hostile_programs_get_their_verdict_and_do_no_harm() {
    let Some(runner) = runner() else { return };
    let mut surroundings = Surroundings::new();
    // SAFETY: the handler only stores to an atomic.
    unsafe { libc::signal(libc::SIGCONT, note_signal as *const () as libc::sighandler_t) };
    let mut programs: Vec<PathBuf> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    programs.sort();
    assert!(programs.len() >= 60, "the hostile programs are missing");
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let complaints = try_hostile(runner, path, &surroundings);
                    wrong.lock().unwrap().extend(complaints);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
    surroundings.assert_untouched();
    assert_nothing_is_left();
}

/// Runs one hostile program, and a good one after it. Returns what was not as expected.
fn try_hostile(runner: &Runner, path: &Path, surroundings: &Surroundings) -> Vec<String> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let source = fs::read_to_string(path).unwrap();
    let default = "import math\n\nassert f(3) == 6\nassert f(4) == 8\n";
    let tests = header(&source, "tests").map_or_else(|| default.to_owned(), |line| format!("import math\n{line}\n"));
    let begun = Instant::now();
    let verdict = run(runner, &trial(&surroundings.fill(&source), file(&tests), limits(2.0)));
    let mut complaints = Vec::new();
    let status = serde_json::to_value(verdict.status).unwrap();
    let expected = header(&source, "expect").unwrap_or_default();
    let says = header(&source, "says").unwrap_or_default();
    if !expected.split(' ').any(|word| status == word) || !verdict.message.contains(says) {
        complaints.push(format!("{name}: expected {expected} ({says}), found {status}: {}", verdict.message));
    }
    let shown = format!("{}{}", verdict.message, verdict.output);
    if shown.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}') || shown.len() > 100_000 {
        complaints.push(format!("{name}: what is shown was not cleaned or cut"));
    }
    if env_flag("TRIAL_TIMES") {
        eprintln!("{:6} ms {name}: {status} {}", begun.elapsed().as_millis(), verdict.message);
    }
    let good = run(runner, &trial(DOUBLE, file("assert f(1) == 2\n"), limits(20.0)));
    if good.status != Status::Passed {
        complaints.push(format!("after {name} a good program got {:?}: {}", good.status, good.message));
    }
    complaints
}

fn env_flag(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// No process and no folder of any trial of this program is left.
fn assert_nothing_is_left() {
    let _nobody = RUNNING.write();
    let mark = format!("bass-tui-trial-{}-", std::process::id());
    let folders: Vec<String> =
        names(&std::env::temp_dir()).into_iter().filter(|name| name.starts_with(&mark)).collect();
    assert!(folders.is_empty(), "left over: {folders:?}");
    let home = format!("HOME={}", std::env::temp_dir().join(&mark).display());
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        // Zombies have no environment any more.
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_ours = environment.split(|&byte| byte == 0).any(|variable| variable.starts_with(home.as_bytes()));
        assert!(!is_ours, "process {} survived", entry.file_name().display());
    }
}
