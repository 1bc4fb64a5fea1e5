//! Runs a program that must not be trusted: limits, kernel rules, a private folder, and an end that nothing survives.
//!
//! In tiers: with namespaces and a root folder of its own ("full"), with namespaces alone, with the kernel's rules alone (Landlock and
//! seccomp), or with limits only, before which the caller has to be asked. The best one that a real run proves is used.

#[cfg(target_os = "linux")]
mod attack;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(unix)]
mod child;
#[cfg(target_os = "linux")]
mod first;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(unix)]
mod limits;
#[cfg(target_os = "linux")]
mod means;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(unix)]
mod output;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(unix)]
mod procfs;
#[cfg(unix)]
mod report;
#[cfg(target_os = "linux")]
mod root;
#[cfg(unix)]
pub(in crate::trial) mod scratch;
#[cfg(any(test, target_os = "macos"))]
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "elsewhere only its text is tested"))]
mod seatbelt;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(unix)]
mod spawn;
#[cfg(unix)]
mod stopwatch;
#[cfg(unix)]
mod supervise;
mod tier;

use std::ffi::OsString;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use tier::Tier;

use super::Limits;
use super::protection::Protection;
#[cfg(target_os = "linux")]
use super::protection::{Layer, Proof};

/// What to run. The numbers of the request pipe, of the record pipe and of `lines` are appended to the arguments of a program that
/// announces itself; others get their arguments as they are.
#[derive(Debug)]
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "other systems have no file rules, or no trials at all")
)]
pub struct Job<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its first arguments.
    pub arguments: Vec<OsString>,
    /// What it reads from the request pipe.
    pub request: Vec<u8>,
    /// Its limits.
    pub limits: Limits,
    /// Folders it may read besides the system's own.
    pub readable: &'a [PathBuf],
    /// Folders it may write besides its own: copies that were made for it.
    pub writable: &'a [PathBuf],
    /// Where it starts; its own folder if `None`.
    pub folder: Option<&'a Path>,
    /// Files to lay into its own folder before it starts: a relative path and the bytes.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Variables besides those that every trial has.
    pub environment: Vec<(OsString, OsString)>,
    /// Descriptors it gets besides the standard ones and the two pipes, such as a line to another program in a
    /// sandbox of its own. Once it runs, nobody else holds them.
    #[cfg(unix)]
    pub lines: Vec<OwnedFd>,
    /// Whether it writes `started` to the record pipe when it is ready, so that its clock starts only then.
    pub announces: bool,
    /// Where its waiting for a core is counted. Programs that wait for each other share it.
    #[cfg(unix)]
    pub waited: stopwatch::Waited,
}

impl<'a> Job<'a> {
    /// A program that announces itself and needs nothing but what it reads from the request pipe.
    pub fn driver(program: &'a Path, arguments: Vec<OsString>, request: Vec<u8>, limits: Limits) -> Self {
        Self {
            program,
            arguments,
            request,
            limits,
            readable: &[],
            writable: &[],
            folder: None,
            files: Vec::new(),
            environment: Vec::new(),
            #[cfg(unix)]
            lines: Vec::new(),
            announces: true,
            #[cfg(unix)]
            waited: stopwatch::Waited::default(),
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "other systems have no trials"))]
pub enum Ended {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// Killed: out of time.
    WallLimit,
    /// Killed: too much memory.
    MemoryLimit,
    /// Killed: too many processes or threads.
    ProcessLimit,
    /// Killed: printed too much.
    OutputLimit,
    /// Killed: wrote too much, or too many files.
    DiskLimit,
    /// Killed: the caller wished so.
    Cancelled,
}

/// What a run left behind.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub ended: Ended,
    /// The driver came up. If not, nothing can be said about the code under test.
    pub has_started: bool,
    /// The bytes on the record pipe after that.
    pub record: Vec<u8>,
    /// What was printed, in part.
    pub output: String,
    /// From the fork to the end.
    pub elapsed: Duration,
}

/// The protections in use.
#[derive(Clone, Debug)]
pub struct Sandbox {
    protection: Protection,
    #[cfg(target_os = "linux")]
    means: Option<means::Means>,
    /// Whether the kernel applies the limit of processes to this user.
    #[cfg(target_os = "linux")]
    counts_processes: bool,
    /// Where trials get control groups.
    #[cfg(target_os = "linux")]
    groups: Option<cgroup::Groups>,
    #[cfg(target_os = "macos")]
    has_profile: bool,
}

impl Sandbox {
    /// Finds out by real runs what protects here: the best tier that holds, at most `best`.
    #[cfg(target_os = "linux")]
    pub fn probe(best: Tier) -> Self {
        let mut missing: Vec<(Tier, String)> = Vec::new();
        // SAFETY: geteuid takes nothing and cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        for (tier, is_other_user) in probe::ladder(best, is_root) {
            let proved = means::Means::new(tier, is_other_user).and_then(|means| Ok((probe::prove(&means)?, means)));
            missing.retain(|(other, _)| *other != tier);
            match proved {
                Ok((counts_processes, means)) => {
                    let proof = Proof { tier, landlock_abi: means.landlock_abi, counts_processes, is_other_user };
                    let mut protection = Protection::proved(proof, sentences(&missing));
                    let groups = cgroup::Groups::find();
                    if let Ok(groups) = &groups {
                        protection.count_by_groups(groups.has_memory(), groups.has_processes());
                    }
                    protection.layers.push(Layer::control_groups(groups.as_ref().map(cgroup::Groups::how)));
                    return Self { protection, means: Some(means), counts_processes, groups: groups.ok() };
                }
                Err(reason) => missing.push((tier, reason)),
            }
        }
        let reason = missing.last().map_or("it was switched off", |(_, reason)| reason.as_str());
        let protection = Protection::none(reason, sentences(&missing));
        Self { protection, ..Self::unprotected("") }
    }

    /// Finds out by a real run whether the system keeps to a profile. There are no namespaces.
    #[cfg(target_os = "macos")]
    pub fn probe(best: Tier) -> Self {
        if best > Tier::KernelRules {
            return Self::unprotected("it was switched off");
        }
        let sandbox = Self { has_profile: true, protection: Protection::profile() };
        match seatbelt::prove(&sandbox) {
            Ok(()) => sandbox,
            Err(reason) => Self::unprotected(&reason),
        }
    }

    /// Finds out what protects here: nothing but limits, on this system.
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    pub fn probe(_best: Tier) -> Self {
        Self::unprotected("only Linux and macOS have a sandbox so far")
    }

    /// Limits only, and the reason why.
    pub fn unprotected(reason: &str) -> Self {
        Self {
            protection: Protection::none(reason, Vec::new()),
            #[cfg(target_os = "linux")]
            means: None,
            // SAFETY: geteuid takes nothing and cannot fail.
            #[cfg(target_os = "linux")]
            counts_processes: unsafe { libc::geteuid() } != 0,
            #[cfg(target_os = "linux")]
            groups: cgroup::Groups::find().ok(),
            #[cfg(target_os = "macos")]
            has_profile: false,
        }
    }

    /// Removes the folders of trials that ended with their program.
    pub fn sweep() {
        #[cfg(unix)]
        scratch::sweep();
    }

    /// What protects.
    pub fn protection(&self) -> &Protection {
        &self.protection
    }

    /// Runs a job: not on this system.
    #[cfg(not(unix))]
    pub fn run(&self, _job: Job, _cancel: &AtomicBool) -> Result<Run, String> {
        Err("tests can be run on Linux and other Unix systems only so far".to_owned())
    }

    /// Where a job stands. In the session of this program only where the rules keep it away from the terminal.
    #[cfg(unix)]
    fn place_of(&self, job: &Job) -> child::Place {
        #[cfg(target_os = "linux")]
        if job.limits.gives_way && self.means.is_some() {
            return child::Place::Beside;
        }
        let _ = job;
        child::Place::Behind
    }

    /// Runs a job in a folder of its own.
    #[cfg(unix)]
    pub fn run(&self, mut job: Job, cancel: &AtomicBool) -> Result<Run, String> {
        if !job.program.is_absolute() {
            return Err(format!("the program {} is not given with its whole path", job.program.display()));
        }
        let lines = std::mem::take(&mut job.lines);
        let scratch = scratch::Scratch::new().map_err(|e| format!("a temporary folder could not be made: {e}"))?;
        #[cfg(target_os = "macos")]
        if self.has_profile {
            seatbelt::wrap(&mut job, scratch.path());
        }
        let job = &job;
        scratch.lay(&job.files).map_err(|e| format!("a file of the trial could not be written: {e}"))?;
        #[cfg(target_os = "linux")]
        let (namespaces, rules) = match &self.means {
            Some(means) => {
                let visited: Vec<&Path> = std::iter::once(job.program).chain(job.folder).collect();
                let namespaces = means.namespaces(job.readable, job.writable, scratch.path(), &visited)?;
                (namespaces, Some(means.rules(job.readable, job.writable, scratch.path())?))
            }
            None => (None, None),
        };
        #[cfg(target_os = "linux")]
        scratch
            .give_to(namespaces.as_ref())
            .map_err(|e| format!("the folder of the trial could not be given away: {e}"))?;
        // All tasks of the user count, those outside of a user namespace only there. One more is the first process of the trial.
        #[cfg(target_os = "linux")]
        let running = self.counts_processes.then(|| {
            namespaces.as_ref().map_or_else(|| procfs::tasks_of_user() + 1, namespaces::Namespaces::tasks_before)
        });
        #[cfg(not(target_os = "linux"))]
        let running = None;
        let rlimits = limits::rlimits(&job.limits, running);
        let place = self.place_of(job);
        #[cfg(target_os = "linux")]
        let group = self.group(&job.limits)?;
        #[cfg(target_os = "linux")]
        let gate = match &group {
            Some(group) => Some(group.gate().map_err(|e| format!("a control group cannot be entered: {e}"))?),
            None => None,
        };
        let run = supervise::run(job, lines, &scratch, cancel, place, |streams, keep, program| child::Plan {
            place,
            rlimits,
            streams: Some(streams),
            keep,
            #[cfg(target_os = "linux")]
            leash: None,
            #[cfg(target_os = "linux")]
            ballast: Vec::new(),
            #[cfg(target_os = "linux")]
            namespaces,
            #[cfg(target_os = "linux")]
            rules,
            #[cfg(target_os = "linux")]
            gate,
            task: child::Task::Program(program),
        })?;
        #[cfg(target_os = "linux")]
        if group.is_some_and(|group| group.ran_out_of_memory()) {
            return Ok(Run { ended: Ended::MemoryLimit, ..run });
        }
        Ok(run)
    }

    /// A control group for one trial, where there are any.
    #[cfg(target_os = "linux")]
    fn group(&self, limits: &Limits) -> Result<Option<cgroup::Group>, String> {
        let make = |groups: &cgroup::Groups| groups.make(limits);
        self.groups.as_ref().map(make).transpose().map_err(|e| format!("a control group could not be made: {e}"))
    }
}

/// Who the program of a trial becomes when this program runs as root, and its group: a number that systems give to nobody.
#[cfg(unix)]
const OTHER_USER: u32 = 65533;

/// What is said about tiers that are not there.
#[cfg(target_os = "linux")]
fn sentences(missing: &[(Tier, String)]) -> Vec<String> {
    missing.iter().map(|(tier, reason)| format!("{}: {reason}", tier.name())).collect()
}

/// The system's error, if a call said that it failed.
#[cfg(unix)]
fn check(result: i32) -> std::io::Result<()> {
    // `last_os_error` only reads errno and allocates nothing.
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
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
            let run = run(
                &sandbox,
                Job { files, ..shell("/bin/cat in/laid && echo more >> in/laid && : > in/new && echo yes") },
            );
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
        let Ok(python) = super::super::interpreter::find_python() else {
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
            let python = super::super::interpreter::find_python();
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
}
