//! Real runs in every tier that the machine has.

use std::fs;

use super::*;

/// The tiers of this machine; a line for each that is missing.
fn sandboxes() -> Vec<Sandbox> {
    let all = [Tier::Full, Tier::Namespaces, Tier::KernelRules].map(|tier| (tier, Sandbox::probe(tier)));
    let there = |(tier, sandbox): (Tier, Sandbox)| {
        let protection = sandbox.protection();
        if protection.tier == tier.name() {
            return Some(sandbox);
        }
        eprintln!("skipped: tier {}", protection.missing.join("; "));
        None
    };
    all.into_iter().filter_map(there).collect()
}

fn shell(script: &str) -> Job<'static> {
    let arguments = ["-c", script].map(OsString::from).to_vec();
    Job { announces: false, ..Job::driver(Path::new("/bin/sh"), arguments, Vec::new(), Limits::default()) }
}

fn run(sandbox: &Sandbox, job: Job) -> Run {
    sandbox.run(job, &AtomicBool::new(false)).unwrap()
}

#[test]
fn a_job_finds_its_files_folders_and_variables_in_every_tier() {
    let (copy, library) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(library.path().join("data"), "of the library\n").unwrap();
    let (writable, readable) = ([copy.path().to_path_buf()], [library.path().to_path_buf(), "/not/there".into()]);
    for sandbox in sandboxes() {
        let script =
            "/bin/cat $HOME/in/laid $LIBRARY/data && echo made > made && (: > $LIBRARY/data) 2>/dev/null || pwd";
        let job = Job {
            writable: &writable,
            readable: &readable,
            folder: Some(copy.path()),
            files: vec![("in/laid".into(), b"laid\n".to_vec())],
            environment: vec![("LIBRARY".into(), library.path().into())],
            ..shell(script)
        };
        let tier = sandbox.protection().tier.clone();
        let run = run(&sandbox, job);
        assert_eq!(run.output, format!("laid\nof the library\n{}\n", copy.path().display()), "{tier}");
        assert_eq!(fs::read_to_string(copy.path().join("made")).unwrap(), "made\n");
        fs::remove_file(copy.path().join("made")).unwrap();
        assert_eq!(fs::read_to_string(library.path().join("data")).unwrap(), "of the library\n");
    }
}

#[test]
fn what_is_laid_can_be_read_and_changed_whoever_the_program_is() {
    for sandbox in sandboxes() {
        let files = vec![("in/laid".into(), b"laid\n".to_vec())];
        let run =
            run(&sandbox, Job { files, ..shell("/bin/cat in/laid && echo more >> in/laid && : > in/new && echo yes") });
        assert_eq!(run.output, "laid\nyes\n", "{}", sandbox.protection().tier);
    }
}

#[test]
fn a_program_stands_behind_the_users_own() {
    for sandbox in sandboxes() {
        let run = run(&sandbox, shell("nice"));
        let nice: i32 = run.output.trim().parse().unwrap();
        assert!(nice >= 10, "{nice} in {}", sandbox.protection().tier);
    }
}

/// Beside a generation a program that takes long runs only when a core has nothing else to do, and cannot change that.
#[test]
fn what_gives_way_soon_runs_in_the_gaps_of_this_programs_session() {
    let Ok(python) = crate::trial::interpreter::find_python() else {
        eprintln!("skipped: no Python");
        return;
    };
    let code = "import os, time\n\
            end = time.monotonic() + 1.5\n\
            while time.monotonic() < end and os.sched_getscheduler(0) != os.SCHED_IDLE: pass\n\
            print(os.sched_getscheduler(0) == os.SCHED_IDLE, os.getpgid(0) == os.getsid(0))\n\
            try: os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)); print('changed')\n\
            except OSError: print('refused')\n";
    for sandbox in sandboxes() {
        for (gives_way, expected) in [(true, "True False\nrefused\n"), (false, "False True\nchanged\n")] {
            let job = Job {
                arguments: ["-I", "-S", "-c", code].map(OsString::from).to_vec(),
                program: &python.program,
                readable: &python.readable,
                limits: Limits { gives_way, ..Limits::default() },
                ..shell("")
            };
            let said = run(&sandbox, job).output;
            assert_eq!(said, expected, "{} {gives_way}", sandbox.protection().tier);
        }
    }
}

/// Where the kernel counts the processes of a trial by a control group, it does so whoever runs it.
#[test]
fn a_control_group_limits_processes_in_every_tier() {
    for sandbox in sandboxes() {
        if !sandbox.groups.as_ref().is_some_and(cgroup::Groups::has_processes) {
            let layer = sandbox.protection().layers.last().map(|layer| layer.how.as_str());
            eprintln!("skipped: control groups: {}", layer.unwrap_or_default());
            return;
        }
        // Fewer than the watch would notice in time.
        let limits = Limits { processes: 4, ..Limits::default() };
        let script = "for i in 1 2 3 4 5 6 7 8 9; do /bin/sleep 1 & done; echo all";
        let run = run(&sandbox, Job { limits, ..shell(script) });
        let tier = &sandbox.protection().tier;
        assert!(run.output.contains("fork") && !run.output.contains("all"), "{tier}: {run:?}");
    }
}

#[test]
fn a_program_that_cannot_be_started_is_told_with_its_stage() {
    for sandbox in sandboxes() {
        let missing = Job { program: Path::new("/usr/bin/no-such-program"), ..shell("") };
        let error = sandbox.run(missing, &AtomicBool::new(false)).unwrap_err();
        assert!(error.contains("no-such-program") && error.contains("No such file"), "{error}");
        let folder = Job { program: Path::new("/usr/lib"), ..shell("") };
        let error = sandbox.run(folder, &AtomicBool::new(false)).unwrap_err();
        assert!(error.starts_with("starting the program"), "{error}");
        let relative = Job { program: Path::new("sh"), ..shell("") };
        assert!(sandbox.run(relative, &AtomicBool::new(false)).unwrap_err().contains("whole path"));
    }
}

/// Two programs in sandboxes of their own, joined by a pipe that nobody else holds: its end is seen when the writer has ended.
#[test]
fn lines_join_two_programs_in_every_tier() {
    for sandbox in sandboxes() {
        let (reader, writer) = std::io::pipe().unwrap();
        let (from, to) = (OwnedFd::from(reader), OwnedFd::from(writer));
        let number = std::os::fd::AsRawFd::as_raw_fd;
        let python = crate::trial::interpreter::find_python();
        let Ok(python) = python else {
            eprintln!("skipped: no Python");
            return;
        };
        let job = |code: String, line: OwnedFd| Job {
            arguments: vec!["-I".into(), "-S".into(), "-c".into(), code.into()],
            program: &python.program,
            readable: &python.readable,
            lines: vec![line],
            ..shell("")
        };
        let send = job(format!("import os; os.write({}, b'hello'); os._exit(0)", number(&to)), to);
        let receive = job(format!("import os; print(open({}).read(), flush=True)", number(&from)), from);
        let received = std::thread::scope(|scope| {
            let sending = scope.spawn(|| run(&sandbox, send));
            let received = run(&sandbox, receive);
            assert_eq!(sending.join().unwrap().ended, Ended::Exited(0));
            received
        });
        assert_eq!((received.output.as_str(), received.ended), ("hello\n", Ended::Exited(0)));
    }
}
