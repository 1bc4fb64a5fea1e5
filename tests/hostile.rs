//! Programs that mean harm (`tests/hostile`): each names its verdict in its first lines, and gets it in every
//! tier that this machine has, as this user and, for root, as another one, and no harm is done.
//!
//! They run only where the sandbox holds. What would flood the machine runs only where the kernel itself
//! counts processes.

#![cfg(target_os = "linux")]

#[path = "shared/fools.rs"]
mod fools;
#[path = "shared/left.rs"]
mod left;
#[path = "shared/skip.rs"]
mod skip;

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::ops::Range;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bass_tui::language::Language;
use bass_tui::trial::{Limits, Runner, Status, Tests, Tier, Trial, Verdict};

/// Programs that start processes or threads without end.
const FLOODS: [&str; 2] = ["fork_bomb", "threads_without_end"];
/// A user that has nothing, for the run that root starts.
const NOBODY: u32 = 65534;
/// Where that run finds the programs.
const PROGRAMS: &str = "HOSTILE_PROGRAMS";

/// A signal to everybody reached this process.
static WAS_SIGNALLED: AtomicBool = AtomicBool::new(false);

/// A limit that only a fault can hit.
const LONG: Duration = Duration::from_secs(60);

const DOUBLE: &str = "def f(x):\n    return 2 * x\n";

fn run(runner: &Runner, program: &str, tests: &str, wall: Duration) -> Verdict {
    let limits = Limits { wall, memory: 256 << 20, file: 4 << 20, output: 4 << 20, processes: 32, ..Limits::default() };
    let trial = Trial {
        language: Language::Python,
        program: program.to_owned(),
        file: Some("doubling.py".into()),
        entry_point: Some("f".to_owned()),
        line: None,
        tests: Tests::text("test_f.py", tests),
        stub: None,
        limits,
    };
    runner.run(&trial, &Arc::default()).unwrap()
}

/// Targets of hostile programs: a home, a folder of somebody else's, services and a process.
struct Surroundings {
    tier: Tier,
    folder: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    victim: Child,
    _service: UnixListener,
    log: UnixDatagram,
    /// Its name is no path.
    bus: UnixListener,
}

impl Surroundings {
    fn new(tier: Tier) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home/.ssh")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("home/.ssh/id_ed25519"), "the key").unwrap();
        fs::write(folder.path().join("home/notes"), "notes").unwrap();
        let service = UnixListener::bind(folder.path().join("outside/service")).unwrap();
        let log = UnixDatagram::bind(folder.path().join("outside/log")).unwrap();
        log.set_nonblocking(true).unwrap();
        let bus = UnixListener::bind_addr(&SocketAddr::from_abstract_name(bus_name()).unwrap()).unwrap();
        bus.set_nonblocking(true).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let victim = Command::new("sleep").arg("600").spawn().unwrap();
        // A file that stays open across exec, as another library of this program might leave one.
        // SAFETY: plain numbers; the copy stays open until the process ends.
        unsafe { libc::dup(2) };
        Self { tier, folder, tcp, udp, victim, _service: service, log, bus }
    }

    /// A program with the places of these surroundings in it.
    fn fill(&self, program: &str) -> String {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        program
            .replace("@HOME@", &path("home"))
            .replace("@OUTSIDE@", &path("outside"))
            .replace("@TIER@", self.tier.name())
            .replace("@BUS@", &bus_name())
            .replace("@ADDRESS@", &address())
            .replace("@PORT@", &self.tcp.local_addr().unwrap().port().to_string())
            .replace("@PARENT@", &std::process::id().to_string())
            .replace("@VICTIM@", &self.victim.id().to_string())
            .replace("@USER@", &user().to_string())
    }

    /// Nothing was read, changed, reached or ended.
    fn assert_untouched(&mut self) {
        let read = |name: &str| fs::read_to_string(self.folder.path().join(name)).unwrap();
        assert_eq!((read("home/notes").as_str(), read("home/.ssh/id_ed25519").as_str()), ("notes", "the key"));
        assert_eq!(names(&self.folder.path().join("outside")), ["log", "service"], "a file was made outside");
        assert_eq!(names(&self.folder.path().join("home")), [".ssh", "notes"]);
        assert!(self.tcp.accept().is_err(), "a connection came");
        assert!(self.udp.recv(&mut [0; 8]).is_err(), "a datagram came");
        assert!(self.log.recv(&mut [0; 8]).is_err(), "a local datagram came");
        assert!(self.bus.accept().is_err(), "a local connection came");
        assert!(!Path::new("/dev/shm/bass-tui-made").exists(), "a file was made in shared memory");
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

/// An abstract name, of this process alone.
fn bus_name() -> String {
    format!("bass-tui-{}", std::process::id())
}

/// An address of this machine besides its loopback interface, if it has one.
fn address() -> String {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Sends nothing.
    let found = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr());
    found.map_or_else(|_| "127.0.1.1".to_owned(), |address| address.ip().to_string())
}

fn user() -> u32 {
    // SAFETY: geteuid takes nothing and cannot fail.
    unsafe { libc::geteuid() }
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

fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut programs: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "py"))
        .collect();
    programs.sort();
    assert!(programs.len() >= 60, "the hostile programs are missing");
    programs
}

fn own_programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile")
}

/// A fixed order that has nothing to do with the names.
fn shuffled(programs: &[PathBuf], order: usize) -> Vec<&PathBuf> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(order as u64 + 1);
    let mut keyed: Vec<(u64, &PathBuf)> = programs
        .iter()
        .map(|path| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state, path)
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, path)| path).collect()
}

/// Runs all programs in one tier, four at once, in each of these orders. Returns what was not as expected.
fn try_tier(tier: Tier, orders: Range<usize>, folder: &Path) -> Vec<String> {
    let runner = Runner::probe_at_most(tier);
    let protection = runner.protection();
    if protection.tier != tier.name() {
        skip::as_it_cannot("tier", protection.missing.join("; "));
        return Vec::new();
    }
    if let Err(error) = runner.tool(Language::Python, std::path::Path::new(".")) {
        skip::for_want_of("Python", error);
        return Vec::new();
    }
    let is_counted = protection.layers.iter().any(|l| l.name == "process count" && l.how.contains("by the kernel"));
    let mut programs = programs(folder);
    programs.retain(|path| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let runs = is_counted || !FLOODS.contains(&name);
        if !runs {
            skip::as_it_cannot(
                &format!("{name} in tier {}", tier.name()),
                "the kernel does not count the processes of root",
            );
        }
        runs
    });
    let mut surroundings = Surroundings::new(tier);
    let wrong = Mutex::new(Vec::new());
    for order in orders {
        let order = shuffled(&programs, order);
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(path) = order.get(at) else { break };
                        let mut complaints = try_program(&runner, path, &surroundings);
                        // Harm lasts: a good program after some of them finds it.
                        if at % 4 == 3 || at + 1 == order.len() {
                            complaints.extend(try_good(&runner, path));
                        }
                        let complaints = complaints.into_iter().map(|line| format!("{}: {line}", tier.name()));
                        wrong.lock().unwrap().extend(complaints);
                    }
                });
            }
        });
    }
    surroundings.assert_untouched();
    assert_eq!(left::of_trials(|_| false), [""; 0]);
    wrong.into_inner().unwrap()
}

/// Runs one hostile program. Returns what was not as expected.
fn try_program(runner: &Runner, path: &Path, surroundings: &Surroundings) -> Vec<String> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let source = fs::read_to_string(path).unwrap();
    let default = "import math\n\nassert f(3) == 6\nassert f(4) == 8\n";
    let tests = header(&source, "tests").map_or_else(|| default.to_owned(), |line| format!("import math\n{line}\n"));
    let begun = Instant::now();
    let expected = header(&source, "expect").unwrap_or_default();
    // A busy machine must not turn another end into this one.
    let wall = if expected.contains("timeout") { Duration::from_millis(700) } else { LONG };
    let verdict = run(runner, &surroundings.fill(&source), &tests, wall);
    let mut complaints = Vec::new();
    let status = serde_json::to_value(verdict.status).unwrap();
    let says = header(&source, "says").unwrap_or_default();
    // Where the kernel counts all that a user runs, programs beside it may leave it no thread or process:
    // that is no pass.
    let no_more = ["can't start new thread", "Resource temporarily unavailable"];
    let is_spent = user() != 0 && status != "passed" && no_more.iter().any(|words| verdict.message.contains(words));
    let is_so = |word| status == word || word == "fools" && fools::is_known_to_fool(&name, &verdict);
    if !is_spent && (!expected.split(' ').any(is_so) || !verdict.message.contains(says)) {
        complaints.push(format!("{name}: expected {expected} ({says}), found {status}: {}", verdict.message));
    }
    let shown = format!("{}{}", verdict.message, verdict.output);
    if shown.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}') || shown.len() > 100_000 {
        complaints.push(format!("{name}: what is shown was not cleaned or cut"));
    }
    if std::env::var_os("TRIAL_TIMES").is_some() {
        eprintln!("{:6} ms {name}: {status} {}", begun.elapsed().as_millis(), verdict.message);
    }
    complaints
}

/// Runs a good program after a hostile one.
fn try_good(runner: &Runner, after: &Path) -> Option<String> {
    let good = run(runner, DOUBLE, "assert f(1) == 2\n", LONG);
    let name = after.file_stem().unwrap().to_string_lossy();
    (good.status != Status::Passed)
        .then(|| format!("after {name} a good program got {:?}: {}", good.status, good.message))
}

/// `best` are the orders in the best tier.
fn try_all(best: Range<usize>, folder: &Path) {
    // SAFETY: the handler only stores to an atomic.
    unsafe { libc::signal(libc::SIGCONT, note_signal as *const () as libc::sighandler_t) };
    // Root tries the tier in the middle, which differs from the others by mounts alone, for both.
    let middle = 0..usize::from(user() == 0 || std::env::var_os(PROGRAMS).is_none());
    let tiers = [(Tier::Full, best), (Tier::Namespaces, middle), (Tier::KernelRules, 0..1)];
    let wrong: Vec<String> = tiers.into_iter().flat_map(|(tier, orders)| try_tier(tier, orders, folder)).collect();
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
}

/// One test, because each tier is tried with nothing else of this program running. The best tier, which is
/// what people get, is tried twice, in different orders: for root once as itself and once as another user.
#[test]
fn hostile_programs_get_their_verdict_and_do_no_harm() {
    try_all(if user() == 0 { 0..1 } else { 0..2 }, &own_programs());
    if user() != 0 {
        skip::as_it_cannot("the run as another user", "only root can start it");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for path in programs(&own_programs()) {
        fs::write(folder.path().join(path.file_name().unwrap()), fs::read(&path).unwrap()).unwrap();
    }
    let status = Command::new("/proc/self/exe")
        .args(["--exact", "as_another_user", "--ignored", "--nocapture"])
        .env(PROGRAMS, folder.path())
        // Root's own toolchains are closed to others.
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/")
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .status()
        .unwrap();
    assert!(status.success(), "as another user it went wrong");
}

#[test]
#[ignore = "started by the test above, as another user"]
fn as_another_user() {
    let folder = PathBuf::from(std::env::var_os(PROGRAMS).expect("the folder of the programs"));
    assert_ne!(user(), 0);
    try_all(1..2, &folder);
}
