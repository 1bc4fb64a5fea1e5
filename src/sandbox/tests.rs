//! Real runs in every tier that the machine has.

use std::fs;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Instant;

use super::*;
use crate::skip;

/// The tiers of this machine; a line for each that is missing.
fn sandboxes() -> Vec<Sandbox> {
    let all = [Tier::Full, Tier::Namespaces, Tier::KernelRules].map(|tier| (tier, Sandbox::probe(tier)));
    let there = |(tier, sandbox): (Tier, Sandbox)| {
        let protection = sandbox.protection();
        if protection.tier == tier.name() {
            return Some(sandbox);
        }
        skip::as_it_cannot("tier", protection.missing.join("; "));
        None
    };
    all.into_iter().filter_map(there).collect()
}

fn shell(script: &str) -> Job<'static> {
    let arguments = ["-c", script].map(OsString::from).to_vec();
    Job::new(Path::new("/bin/sh"), arguments, Limits::default())
}

/// Programs that ask who and where they are get an answer that is not the user's.
#[test]
fn a_program_has_a_user_a_host_and_a_home() {
    let script = "[ $USER = $LOGNAME ] && [ $HOME = $TMPDIR ] && [ -w $HOME ] && [ -z \"$(ls -A $HOME)\" ] && \
                  echo $SHELL $TERM $LANG $TZ; id -un; id -gn; echo $USER; hostname; getent hosts localhost | wc -l";
    for sandbox in sandboxes() {
        let said = run(&sandbox, shell(script)).output;
        let mut lines = said.lines();
        assert_eq!(lines.next(), Some("/bin/sh dumb C.UTF-8 UTC"), "{said}");
        let rest: Vec<&str> = lines.collect();
        let is_own = |name: &str| ["user", "root"].contains(&name);
        match sandbox.protection().tier.as_str() {
            "full" => assert!(
                is_own(rest[0]) && rest[..3].iter().all(|name| *name == rest[0]) && rest[3..] == ["localhost", "1"],
                "{said}"
            ),
            "namespaces" => assert!(rest.contains(&"localhost"), "{said}"),
            _ => assert!(rest.iter().any(|name| is_own(name)), "{said}"),
        }
    }
}

/// Named semaphores need `/dev/shm`, and many programs write to `/tmp` by that name. Both are other folders
/// in each run, and small.
#[test]
fn folders_in_memory_are_the_runs_own_and_bounded() {
    for (sandbox, folder) in sandboxes().iter().flat_map(|sandbox| ["/dev/shm", "/tmp"].map(|folder| (sandbox, folder)))
    {
        let script = format!(
            "cd {folder} || exit; ls -A | grep -v bass-tui-run-; echo mine > bass-tui-mine && cat bass-tui-mine; \
             head -c 64000000 /dev/zero > large; stat -c %s large; [ -w $HOME ] && echo home"
        );
        // Much more than this program, which the run begins as a copy of.
        let limits = Limits { memory: 512 << 20, file: 128 << 20, ..Limits::default() };
        let Run { output: said, ended, .. } =
            run(sandbox, Job { limits, ..shell(&format!("{{ {script}; }} 2>/dev/null")) });
        if sandbox.protection().tier == "full" {
            let size = said.strip_prefix("mine\n").and_then(|rest| rest.strip_suffix("\nhome\n")?.parse::<u64>().ok());
            assert!(size.is_some_and(|size| size > 8 << 20 && size <= 32 << 20), "{folder}: {ended:?}: {said}");
        } else {
            assert!(!said.contains("mine"), "{folder}: {}: {said}", sandbox.protection().tier);
        }
        assert!(!Path::new(folder).join("bass-tui-mine").exists());
    }
}

/// Both runs use the port at the same time.
#[test]
fn a_server_is_reached_by_its_own_run_alone_in_the_tier_full() {
    let (program, readable) = own_program();
    for sandbox in sandboxes() {
        let once = || run(&sandbox, Job { readable: &readable, ..part("serves_itself", &program, Limits::default()) });
        let both = std::thread::scope(|scope| [scope.spawn(once), scope.spawn(once)].map(|run| run.join().unwrap()));
        let expected = if sandbox.protection().tier == "full" { "served" } else { "PermissionDenied" };
        for run in both {
            assert!(run.output.contains(expected), "{}: {}", sandbox.protection().tier, run.output);
        }
    }
}

#[test]
#[ignore = "started by the test above, in a sandbox"]
fn serves_itself() {
    let serve = || {
        let service = std::net::TcpListener::bind("127.0.0.1:47001")?;
        std::thread::sleep(Duration::from_millis(500));
        std::net::TcpStream::connect("localhost:47001")?.write_all(b"served")?;
        std::io::read_to_string(service.accept()?.0)
    };
    println!("{}", serve().unwrap_or_else(|error| format!("{:?}", error.kind())));
}

/// This test program, and the folder that it has to read.
fn own_program() -> (PathBuf, [PathBuf; 1]) {
    let program = std::env::current_exe().unwrap();
    let folder = [program.parent().unwrap().to_path_buf()];
    (program, folder)
}

/// One ignored test of this program, as a program of its own.
fn part<'a>(test: &str, program: &'a Path, limits: Limits) -> Job<'a> {
    let test = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let arguments = ["--exact", &test, "--ignored", "--nocapture", "--test-threads=1"].map(OsString::from).to_vec();
    Job::new(program, arguments, limits)
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
fn its_files_can_be_read_and_changed_whoever_the_program_is() {
    for sandbox in sandboxes() {
        let files = vec![("in/laid".into(), b"laid\n".to_vec())];
        let run =
            run(&sandbox, Job { files, ..shell("/bin/cat in/laid && echo more >> in/laid && : > in/new && echo yes") });
        assert_eq!(run.output, "laid\nyes\n", "{}", sandbox.protection().tier);
    }
}

/// As root, runs have another user, except those that write to a folder of root's. Both use the same folders.
#[test]
fn folders_of_runs_serve_the_next_run_whoever_it_is() {
    let cache = tempfile::tempdir().unwrap();
    for sandbox in sandboxes() {
        let copy = Scratch::new().unwrap();
        for writable in [vec![], vec![cache.path().to_path_buf()], vec![]] {
            let writable = [vec![copy.path().to_path_buf()], writable].concat();
            let job = Job {
                writable: &writable,
                folder: Some(copy.path()),
                ..shell("echo more >> made && /bin/cat made | /usr/bin/wc -l")
            };
            assert_eq!(run(&sandbox, job).ended, Ended::Exited(0), "{}", sandbox.protection().tier);
        }
        assert_eq!(fs::read_to_string(copy.path().join("made")).unwrap(), "more\n".repeat(3));
        // A folder that is only read may be in use by another run.
        let sources = Scratch::new().unwrap();
        fs::write(sources.path().join("source"), "text\n").unwrap();
        fs::set_permissions(sources.path().join("source"), fs::Permissions::from_mode(0o600)).unwrap();
        let script = format!("/bin/cat {}/source", sources.path().display());
        let readable = [sources.path().to_path_buf()];
        assert_eq!(run(&sandbox, Job { readable: &readable, ..shell(&script) }).output, "text\n");
        let owner = |path: &Path| fs::metadata(path).unwrap().uid();
        assert_eq!(owner(&sources.path().join("source")), owner(cache.path()), "its owner stays");
    }
}

/// Some programs do not come up without it. What is in their memory stays closed.
#[test]
fn a_program_sees_where_its_memory_lies_only_if_it_has_to() {
    let script = "for file in maps mem environ cmdline; do read -r line 2>/dev/null < /proc/self/$file && printf '%s ' $file; done";
    for sandbox in sandboxes() {
        for (sees_own_map, expected) in [(true, "maps"), (false, "")] {
            let said = run(&sandbox, Job { sees_own_map, ..shell(script) });
            assert_eq!(said.output.trim(), expected, "{} {said:?}", sandbox.protection().tier);
        }
    }
}

/// In the tier full those are the sandbox's own.
#[test]
fn a_program_sees_the_mounts_that_were_made_for_it() {
    for sandbox in sandboxes() {
        let said = run(&sandbox, shell("read -r line 2>/dev/null < /proc/self/mountinfo && echo seen"));
        let is_seen = said.output.trim() == "seen";
        assert_eq!(is_seen, sandbox.protection().tier == "full", "{said:?}");
    }
}

/// A program gives way to work of this one, and to nothing else: on a busy machine it has its share.
#[test]
fn a_program_has_a_lower_priority_only_if_it_gives_way() {
    for sandbox in sandboxes() {
        // SAFETY: plain numbers.
        let own = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        for (gives_way, expected) in [(true, 10.max(own)), (false, own)] {
            // One that gives way waits for a core on a busy machine.
            let limits = Limits { gives_way, wall: Duration::from_secs(300), ..Limits::default() };
            let said = run(&sandbox, Job { limits, ..shell("nice") });
            assert_eq!(said.ended, Ended::Exited(0), "{said:?}");
            let nice: i32 = said.output.trim().parse().unwrap();
            assert_eq!(nice, expected, "{gives_way} in {}", sandbox.protection().tier);
        }
    }
}

/// Tests copy files with their modes and times; nobody else's files can be reached by it, and no bit gives
/// away rights.
#[test]
fn modes_and_times_of_own_files_can_be_changed_in_the_tier_full() {
    for sandbox in sandboxes() {
        let said = run(
            &sandbox,
            shell("touch a && chmod 600 a && touch -d @9 a && chmod 4755 a; chmod 600 /bin/sh; stat -c '%a %Y' a"),
        );
        let expected = if sandbox.protection().tier == "full" {
            said.output.ends_with("600 9\n")
        } else {
            !said.output.contains("600 9")
        };
        assert!(expected, "{}: {}", sandbox.protection().tier, said.output);
    }
}

/// A program with many open files has the tier that it has with few.
#[test]
fn open_files_of_this_program_do_not_count_in_the_probe() {
    let tier = || Sandbox::probe(Tier::Full).protection().tier.clone();
    let before = tier();
    let open: Vec<_> = (0..300).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
    assert_eq!(tier(), before);
    drop(open);
}

/// Beside other work a program that takes long runs only when a core has nothing else to do, and cannot
/// change that.
#[test]
fn what_gives_way_soon_runs_at_idle_priority_in_this_programs_session() {
    let (program, readable) = own_program();
    for sandbox in sandboxes() {
        for (gives_way, expected) in
            [(true, "idle true, leader false, changed false"), (false, "idle false, leader true, changed true")]
        {
            // At idle priority it waits for a core on a busy machine.
            let limits = Limits { gives_way, wall: Duration::from_secs(300), ..Limits::default() };
            let job = Job { readable: &readable, ..part("waits_to_be_idle", &program, limits) };
            let said = run(&sandbox, job);
            assert!(said.output.contains(expected), "{} {gives_way}: {said:?}", sandbox.protection().tier);
        }
    }
}

#[test]
#[ignore = "started by the test above, in a sandbox"]
fn waits_to_be_idle() {
    // SAFETY: plain numbers, and a live value.
    unsafe {
        let is_idle = || libc::sched_getscheduler(0) == libc::SCHED_IDLE;
        let end = Instant::now() + Duration::from_millis(1500);
        while Instant::now() < end && !is_idle() {}
        let (idle, leader) = (is_idle(), libc::getpgid(0) == libc::getsid(0));
        let priority = libc::sched_param { sched_priority: 0 };
        let changed = libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const priority) == 0;
        println!("idle {idle}, leader {leader}, changed {changed}");
    }
}

/// Where the kernel counts the processes of a run by a control group, it does so whoever runs it.
#[test]
fn a_control_group_limits_processes_in_every_tier() {
    for sandbox in sandboxes() {
        if !sandbox.groups.as_ref().is_some_and(cgroup::Groups::has_processes) {
            let layer = sandbox.protection().layers.last().map(|layer| layer.how.as_str());
            skip::as_it_cannot("control groups", layer.unwrap_or_default());
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

/// Two programs in sandboxes of their own, joined by a pipe that nobody else holds: its end is seen when the
/// writer has ended.
#[test]
fn pipes_join_two_programs_in_every_tier() {
    let (program, readable) = own_program();
    for sandbox in sandboxes() {
        let (reader, writer) = std::io::pipe().unwrap();
        let (from, to) = (OwnedFd::from(reader), OwnedFd::from(writer));
        let job = |name: &str, pipe: OwnedFd| Job {
            environment: vec![("PIPE".into(), pipe.as_raw_fd().to_string().into())],
            inherited: vec![pipe],
            readable: &readable,
            ..part(name, &program, Limits::default())
        };
        let (send, receive) = (job("writes_to_a_pipe", to), job("reads_a_pipe_to_its_end", from));
        let received = std::thread::scope(|scope| {
            let sending = scope.spawn(|| run(&sandbox, send));
            let received = run(&sandbox, receive);
            assert_eq!(sending.join().unwrap().ended, Ended::Exited(0));
            received
        });
        assert!(received.output.contains("got hello."), "{}", received.output);
        assert_eq!(received.ended, Ended::Exited(0));
    }
}

/// The pipe that the test above names.
fn inherited_pipe() -> fs::File {
    let number: RawFd = std::env::var("PIPE").unwrap().parse().unwrap();
    // SAFETY: a descriptor that was inherited, and that nothing else in this program uses.
    unsafe { fs::File::from_raw_fd(number) }
}

#[test]
#[ignore = "started by a test above, in a sandbox"]
fn writes_to_a_pipe() {
    inherited_pipe().write_all(b"hello").unwrap();
}

#[test]
#[ignore = "started by a test above, in a sandbox"]
fn reads_a_pipe_to_its_end() {
    println!("got {}.", std::io::read_to_string(inherited_pipe()).unwrap());
}

/// This room could be published alone: it uses nothing else of this one.
#[test]
fn the_sandbox_uses_no_other_room() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sandbox");
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&path).unwrap();
        for room in text.match_indices(concat!("crate", "::")).map(|(at, found)| &text[at + found.len()..]) {
            let room = room.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            assert_eq!(room, "skip", "{} uses another room", path.display());
        }
    }
}
