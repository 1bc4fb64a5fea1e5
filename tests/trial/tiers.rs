//! The tiers of the sandbox: each that this machine has is forced and tried from within; one that is missing
//! is named.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bass_tui::language::Language;
use bass_tui::trial::{Limits, Runner, Status, Tests, Tier, Trial, Verdict};

use super::skip;

const TIERS: [Tier; 3] = [Tier::Full, Tier::Namespaces, Tier::KernelRules];

/// The runners of the tiers that are here; a line for each that is not.
fn runners(tiers: &[Tier]) -> Vec<(Tier, Runner)> {
    let mut list = Vec::new();
    for &tier in tiers {
        let runner = Runner::probe_at_most(tier);
        let protection = runner.protection();
        if protection.tier != tier.name() {
            skip::as_it_cannot("tier", protection.missing.join("; "));
        } else if let Err(error) = runner.tool(Language::Python, std::path::Path::new(".")) {
            skip::for_want_of("Python", error);
        } else {
            list.push((tier, runner));
        }
    }
    list
}

fn trial(program: &str, seconds: u64) -> Trial {
    let limits = Limits {
        wall: Duration::from_secs(seconds),
        memory: 256 << 20,
        file: 4 << 20,
        output: 4 << 20,
        processes: 32,
        ..Limits::default()
    };
    Trial {
        language: Language::Python,
        program: program.to_owned(),
        file: None,
        entry_point: Some("f".to_owned()),
        line: None,
        tests: Tests::text("test_f.py", "assert f(1) == 2\n"),
        stub: None,
        limits,
    }
}

fn run(runner: &Runner, program: &str) -> Verdict {
    runner.run(&trial(program, 20), &Arc::default()).unwrap()
}

/// Runs `program` in these tiers and expects the same in all.
#[track_caller]
fn expect_in(tiers: &[Tier], program: &str, status: Status, message: &str) {
    for (tier, runner) in runners(tiers) {
        let verdict = run(&runner, program);
        assert_eq!(
            (verdict.status, verdict.message.as_str()),
            (status, message),
            "{}: {}",
            tier.name(),
            verdict.output
        );
    }
}

/// Runs the lines as the body of the function under test, which has to find nothing wrong.
#[track_caller]
fn holds_in(tiers: &[Tier], lines: &str) {
    let body: String = lines.lines().flat_map(|line| ["    ", line, "\n"]).collect();
    expect_in(tiers, &format!("import os\n\ndef f(x):\n{body}    return 2 * x\n"), Status::Passed, "1 test");
}

#[test]
fn a_good_program_passes_in_every_tier() {
    expect_in(&TIERS, "def f(x):\n    return 2 * x\n", Status::Passed, "1 test");
}

#[test]
fn exit_codes_and_signals_come_back_as_they_were() {
    let ends = [
        ("os._exit(7)", "the process ended (exit code 7) before the tests were done"),
        ("os._exit(255)", "the process ended (exit code 255) before the tests were done"),
        ("os.abort()", "the process was ended by SIGABRT (it aborted itself) before the tests were done"),
        (
            "os.kill(os.getpid(), 9)",
            "the process was ended by SIGKILL (it killed itself, or memory ran out) before the tests were done",
        ),
        ("os.kill(os.getpid(), 15)", "the process was ended by SIGTERM before the tests were done"),
        (
            "os.kill(os.getpid(), 11)",
            "the process was ended by SIGSEGV (a bad memory access) before the tests were done",
        ),
        ("os.kill(os.getpid(), 40)", "the process was ended by signal 40 before the tests were done"),
    ];
    for (line, message) in ends {
        expect_in(&TIERS, &format!("import os\n\ndef f(x):\n    {line}\n"), Status::Killed, message);
    }
}

#[test]
fn the_full_tier_shows_the_toolchain_the_own_folder_and_nothing_else() {
    holds_in(
        &[Tier::Full],
        "here = [p for p in ('/home', '/root/.ssh', '/etc/shadow', '/etc/hostname', '/var', '/sys', '/run', '/boot', '/dev/tty')\n        \
             if os.path.lexists(p)]\n\
         assert not here, here\n\
         assert os.path.exists('/usr') and os.path.exists('/bin/sh')\n\
         import getpass, pwd, socket\n\
         assert pwd.getpwuid(os.getuid()).pw_name == getpass.getuser() and len(pwd.getpwall()) <= 3\n\
         assert socket.gethostbyname(socket.gethostname()) == '127.0.0.1'\n\
         import multiprocessing\n\
         assert multiprocessing.Lock().acquire()\n\
         assert os.environ['HOME'] == os.environ['TMPDIR'] != os.getcwd()\n\
         open('mine', 'w').write('x')\n\
         assert os.statvfs('/usr').f_flag & os.ST_RDONLY and os.statvfs('/').f_flag & os.ST_RDONLY\n\
         assert os.statvfs('.').f_flag & os.ST_NOSUID\n\
         open('/dev/null', 'w').write('x')\n\
         assert len(open('/dev/urandom', 'rb').read(8)) == 8",
    );
}

#[test]
fn in_namespaces_there_is_nobody_else() {
    let tiers = [Tier::Full, Tier::Namespaces];
    holds_in(&tiers, "assert os.getpid() == 2 and os.getppid() == 1");
    holds_in(
        &[Tier::Full],
        "seen = [name for name in os.listdir('/proc') if name.isdigit()]\n\
         assert sorted(seen) == ['1', '2'], seen\n\
         assert not os.path.exists('/proc/meminfo') and not os.path.exists('/proc/sys')\n\
         for secret in ('environ', 'cmdline', 'mem', 'maps', 'fd/0', 'root/etc'):\n    \
             for process in ('1', 'self'):\n        \
                 if process + secret in ('selffd/0', 'selfroot/etc'): continue\n        \
                 try:\n            \
                     open('/proc/' + process + '/' + secret, 'rb').read(1)\n        \
                 except OSError:\n            \
                     continue\n        \
                 return 'a process can be looked into: ' + process + ' ' + secret",
    );
    // As few as there are, and none of the machine's.
    for space in ["net", "ipc", "uts", "user", "pid"] {
        let outside = fs::read_link(format!("/proc/self/ns/{space}")).unwrap();
        let inside = format!("assert os.readlink('/proc/self/ns/{space}') != '{}'", outside.display());
        holds_in(&[Tier::Full], &inside);
    }
    // The first process cannot be ended, stopped or traced from inside.
    holds_in(
        &tiers,
        "try:\n    \
             os.kill(1, 9)\n\
         except PermissionError:\n    \
             pass\n\
         import ctypes\n\
         assert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == -1",
    );
}

/// Processes of the library that talk over local sockets, as all do by default since Python 3.14.
#[test]
fn processes_of_the_library_talk_to_each_other_in_the_full_tier() {
    let program = "import multiprocessing\n\ndef double(x):\n    return 2 * x\n\ndef f(x):\n    \
        with multiprocessing.Manager() as manager:\n        shared = manager.dict(x=x)\n        \
        with multiprocessing.get_context('forkserver').Pool(1) as pool:\n            \
        return pool.map(double, [shared['x']])[0]\n";
    expect_in(&TIERS[..1], program, Status::Passed, "1 test");
}

#[test]
fn children_that_stay_behind_do_not_hold_a_trial_up() {
    let program = "import os, time\n\ndef f(x):\n    if os.fork() == 0:\n        time.sleep(600)\n    return 2 * x\n";
    for (tier, runner) in runners(&TIERS) {
        let verdict = runner.run(&trial(program, 300), &Arc::default()).unwrap();
        assert_eq!(verdict.status, Status::Passed, "{}", tier.name());
        assert!(verdict.duration_ms < 200_000, "{}: it waited for the child", tier.name());
    }
}

#[test]
fn a_process_limit_that_is_said_to_be_the_kernels_is() {
    let program = "import os, signal, time\n\ndef f(x):\n    n = 0\n    try:\n        while n < 200:\n            \
                   if os.fork() == 0:\n                time.sleep(60)\n            n += 1\n    except BlockingIOError:\n        \
                   pass\n    return 2 * x if n <= 32 else n\n";
    for (tier, runner) in runners(&TIERS) {
        let layers = &runner.protection().layers;
        let layer = layers.iter().find(|layer| layer.name == "process count").unwrap();
        if !layer.how.contains("by the kernel") {
            skip::as_it_cannot(&format!("tier {}", tier.name()), format_args!("processes are {}", layer.how));
            continue;
        }
        let verdict = run(&runner, program);
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"), "{}", tier.name());
    }
}

#[test]
fn lesser_tiers_say_what_better_ones_lack() {
    let nothing = Runner::probe_at_most(Tier::None);
    assert_eq!(nothing.protection().tier, "none");
    assert!(!nothing.protection().is_isolated());
    for (tier, runner) in runners(&TIERS) {
        let protection = runner.protection();
        assert!(protection.is_isolated() && protection.missing.is_empty());
        assert!(protection.summary.starts_with(&format!("sandbox: {} (files, network", tier.name())));
        assert!(protection.layers.iter().all(|layer| layer.holds || layer.name == "control groups"));
    }
}

/// Starts this test program again, for the ignored test of that name; a variable carries a word to it.
fn again(test: &str, word: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("tiers::{test}"), "--ignored", "--nocapture"]).env("TIERS_WORD", word);
    command
}

#[test]
fn without_user_namespaces_the_kernel_rules_are_left_and_the_reasons_told() {
    let mut command = again("in_a_world_without_user_namespaces", "");
    // SAFETY: only system calls, in a process that has one thread.
    unsafe { command.pre_exec(forbid_namespaces) };
    match command.status() {
        Ok(status) => assert!(status.success(), "in a world without user namespaces it went wrong"),
        Err(error) => skip::as_it_cannot("a world without user namespaces", error),
    }
}

/// Goes into a user namespace in which no other can be made, and keeps no right in it beyond the next exec.
fn forbid_namespaces() -> io::Result<()> {
    let check = |result: i32| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: plain numbers and static strings.
    unsafe {
        check(libc::unshare(libc::CLONE_NEWUSER))?;
        let fd = libc::open(c"/proc/sys/user/max_user_namespaces".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(fd)?;
        check(libc::write(fd, c"0".as_ptr().cast(), 1) as i32)?;
        check(libc::close(fd))
    }
}

#[test]
#[ignore = "started by the test above, in a world of its own"]
fn in_a_world_without_user_namespaces() {
    let runner = Runner::probe();
    let protection = runner.protection();
    let missing: Vec<&str> = protection.missing.iter().filter_map(|line| line.split(':').next()).collect();
    assert_eq!((protection.tier.as_str(), missing), ("kernel rules", vec!["full", "namespaces"]), "{protection:?}");
    assert!(protection.missing.iter().all(|line| line.contains("namespaces could not be made")), "{protection:?}");
    assert!(protection.is_isolated());
    assert_eq!(run(&runner, "def f(x):\n    return 2 * x\n").status, Status::Passed);
    let outside =
        "def f(x):\n    try:\n        open('/etc/hostname')\n    except PermissionError:\n        return 2 * x\n";
    assert_eq!(run(&runner, outside).status, Status::Passed);
}

/// The program itself may be killed without a word; nothing of a trial may outlive it.
#[test]
fn everything_ends_when_the_program_is_killed() {
    for (tier, _) in runners(&TIERS) {
        let mut program =
            again("runs_an_endless_trial", tier.name()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mark = std::env::temp_dir().join(format!("bass-tui-run-{}-", program.id()));
        let home = format!("HOME={}", mark.display());
        // The first process, where there is one, still looks like the program it is a copy of; the others
        // have the trial's environment.
        assert!(until(|| living(&home) >= 3), "{}: the trial did not start", tier.name());
        program.kill().unwrap();
        program.wait().unwrap();
        assert!(until(|| living(&home) == 0), "{}: {} processes outlived the program", tier.name(), living(&home));
        remove_folders(&mark);
    }
}

#[test]
#[ignore = "started by the test above, which kills it"]
fn runs_an_endless_trial() {
    let word = std::env::var("TIERS_WORD").unwrap();
    let tier = TIERS.into_iter().find(|tier| tier.name() == word).unwrap();
    let endless = "import os, time\nfor _ in range(2):\n    if os.fork() == 0:\n        break\ntime.sleep(600)\n";
    let _ = Runner::probe_at_most(tier).run(&trial(endless, 600), &Arc::default());
}

/// How many processes have this variable.
fn living(variable: &str) -> usize {
    let environments = fs::read_dir("/proc").unwrap().flatten().filter_map(|e| fs::read(e.path().join("environ")).ok());
    environments.filter(|all| all.split(|&byte| byte == 0).any(|one| one.starts_with(variable.as_bytes()))).count()
}

fn until(mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if done() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}

fn remove_folders(mark: &std::path::Path) {
    let (folder, start) = (mark.parent().unwrap(), mark.file_name().unwrap().to_str().unwrap());
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(start)) {
            fs::remove_dir_all(entry.path()).unwrap();
        }
    }
}
