//! Runs a program that must not be trusted: limits, kernel rules, a private folder, and an end that nothing
//! survives. The best tier that a real attack at start proves is used (`probe`, `attack`).
//!
//! | tier | made of |
//! |---|---|
//! | `full` | user, mount, process, network, IPC and host-name namespaces; a read-only root folder |
//! | `namespaces` | the same without mounts, where the system forbids them |
//! | `kernel rules` | Landlock and seccomp |
//! | `none` | limits only; nothing runs before the user has agreed |
//!
//! The root folder of `full` holds the system, the toolchain and the folder of the run, each at its usual
//! path, lists of users and hosts made for the run, and `/dev/shm` and `/tmp` in memory. Its network is a
//! loopback interface of the run's own, for TCP and UDP. Local sockets (`AF_UNIX`) lie in its folders or have
//! abstract names of its network. No other run and no service of this machine is in reach. In the lesser
//! tiers no socket can be opened.
//!
//! Every tier but `none` has the kernel rules:
//!
//! - Landlock: files read and written, TCP in the lesser tiers, signals. `/proc` is closed, except the
//!   list of the mounts that were made for the program, and a map of its own memory where it needs that.
//! - seccomp: sockets of other families (all in the lesser tiers), other processes, namespaces. Buffers of
//!   sockets keep their size: `SO_SNDBUF` and `SO_RCVBUF` succeed without effect, since a filter cannot read
//!   the wished size.
//! - No new privileges, no capabilities, resource limits, closed stdin, an environment built from nothing.
//! - A control group where the system delegates one. A watchdog for memory, processes and disk.
//! - An init process reaps all others, and ends them when the program goes, even by SIGKILL.
//! - As root the program becomes another user where it can, since the kernel counts no processes of root.
//!
//! **Beside a generation** (`Limits::gives_way`) a run has the lowest priority, in turns of 0.1 ms where the
//! kernel allows it, because the engine's threads wait for each other. It stays in the program's session,
//! since another session has its own share of the cores. After 0.4 s it runs only on idle cores. Time that a
//! run waits for a core does not count (`stopwatch`), up to three limits.
//!
//! The macOS profile (`seatbelt`) has not been tried on a Mac.

#[cfg(target_os = "linux")]
mod attack;
#[cfg(target_os = "linux")]
mod cgroup;
mod child;
#[cfg(target_os = "linux")]
mod confinement;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod layout;
mod limits;
#[cfg(target_os = "linux")]
mod loopback;
#[cfg(target_os = "linux")]
mod namespaces;
mod output;
#[cfg(target_os = "linux")]
mod probe;
mod procfs;
mod protection;
mod report;
#[cfg(target_os = "linux")]
mod root;
mod scratch;
#[cfg(any(test, target_os = "macos"))]
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "elsewhere only its text is tested"))]
mod seatbelt;
#[cfg(target_os = "linux")]
mod seccomp;
mod spawn;
mod stopwatch;
mod supervise;
mod tier;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use scratch::{Scratch, without_folders};
pub use tier::Tier;

#[cfg(target_os = "linux")]
use protection::Proof;
pub use protection::{Layer, Protection};
use stopwatch::Waited;
pub use supervise::VARIABLES;

/// Limits of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time.
    pub wall: Duration,
    /// Longest wall-clock time in which none of its processes works. Linux alone knows it.
    pub idle: Option<Duration>,
    /// Memory of the whole process group, bytes.
    pub memory: u64,
    /// Largest file it may write, bytes.
    pub file: u64,
    /// Most bytes of output kept and allowed, both streams.
    pub output: u64,
    /// Most processes and threads.
    pub processes: u64,
    /// Soon runs at idle priority, where the system can: for a program beside other work of this one. Time it
    /// waits for a core is not its own.
    pub gives_way: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(10),
            idle: None,
            memory: 1 << 30,
            file: 16 << 20,
            output: 16 << 20,
            processes: 128,
            gives_way: false,
        }
    }
}

/// Addresses that engines of JavaScript reserve for WebAssembly and threads, far more than they use.
pub const ADDRESSES: u64 = 64 << 30;

/// A program to run.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems have no file rules"))]
pub struct Job<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its limits.
    pub limits: Limits,
    /// Folders it may read besides the system's own.
    pub readable: &'a [PathBuf],
    /// Folders it may write besides its own: copies that were made for it.
    pub writable: &'a [PathBuf],
    /// A writable folder whose growth counts as written; small, since it is looked through often.
    pub counted: Option<&'a Path>,
    /// Where it starts; its own folder if `None`.
    pub folder: Option<&'a Path>,
    /// Files to lay into its own folder before it starts: a relative path and the bytes.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Addresses that a process may reserve in any case, bytes; else it is four times its memory.
    pub addresses: u64,
    /// True if its first process may read where its memory lies (`/proc/self/maps`), without which some
    /// programs do not come up. What is in it stays closed.
    pub sees_own_map: bool,
    /// Variables besides those that every program gets.
    pub environment: Vec<(OsString, OsString)>,
    /// Descriptors it inherits besides the standard ones, such as a pipe to another program. Once it runs,
    /// nobody else holds them.
    pub inherited: Vec<OwnedFd>,
    /// The two pipes of a program that is given data and reports back.
    pub control: Option<Control>,
    /// Where its waiting for a core is counted. Programs that wait for each other share it.
    pub waited: Waited,
}

/// A pipe that the program reads a request from, and one that it writes a report to. The numbers of both and
/// of [`Job::inherited`] are appended to its arguments.
#[derive(Debug)]
pub struct Control {
    /// Bytes of its input.
    pub request: Vec<u8>,
    /// Bytes that it writes first: its time starts only then.
    pub ready: &'static [u8],
}

impl<'a> Job<'a> {
    /// A program that needs nothing but the system's own files.
    pub fn new(program: &'a Path, arguments: Vec<OsString>, limits: Limits) -> Self {
        Self {
            program,
            arguments,
            limits,
            readable: &[],
            writable: &[],
            counted: None,
            folder: None,
            files: Vec::new(),
            addresses: 0,
            sees_own_map: false,
            environment: Vec::new(),
            inherited: Vec::new(),
            control: None,
            waited: Waited::default(),
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub ended: Ended,
    /// It said that it is ready, or need not say so.
    pub has_started: bool,
    /// Bytes that it reported after that.
    pub record: Vec<u8>,
    /// Printed output, in part.
    pub output: String,
    /// From the fork to the end.
    pub elapsed: Duration,
}

/// The protections in use.
#[derive(Clone, Debug)]
pub struct Sandbox {
    protection: Protection,
    #[cfg(target_os = "linux")]
    mechanisms: Option<confinement::Mechanisms>,
    /// True if the kernel applies the limit of processes to this user.
    #[cfg(target_os = "linux")]
    counts_processes: bool,
    /// Where programs get control groups.
    #[cfg(target_os = "linux")]
    groups: Option<cgroup::Groups>,
    #[cfg(target_os = "macos")]
    has_profile: bool,
}

impl Sandbox {
    /// Finds out by real runs what protects here: the best tier that holds, at most `best`.
    #[cfg(target_os = "linux")]
    pub fn probe(best: Tier) -> Self {
        if let Some(summary) = Self::lacks_place() {
            let without = Self::unprotected("");
            return Self { protection: Protection { summary, ..without.protection }, ..without };
        }
        let mut missing: Vec<(Tier, String)> = Vec::new();
        for (tier, is_other_user) in probe::tiers(best, rustix::process::geteuid().is_root()) {
            let proved = confinement::Mechanisms::new(tier, is_other_user);
            let proved = proved.and_then(|mechanisms| Ok((probe::prove(&mechanisms)?, mechanisms)));
            missing.retain(|(other, _)| *other != tier);
            match proved {
                Ok((counts_processes, mechanisms)) => {
                    let landlock_abi = mechanisms.landlock_abi;
                    let proof = Proof { tier, landlock_abi, counts_processes, is_other_user };
                    let mut protection = Protection::proved(proof, sentences(&missing));
                    let groups = cgroup::Groups::find();
                    if let Ok(groups) = &groups {
                        protection.count_by_groups(groups.has_memory(), groups.has_processes());
                    }
                    protection.layers.push(Layer::control_groups(groups.as_ref().map(cgroup::Groups::how)));
                    let mechanisms = Some(mechanisms);
                    return Self { protection, mechanisms, counts_processes, groups: groups.ok() };
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
            mechanisms: None,
            #[cfg(target_os = "linux")]
            counts_processes: !rustix::process::geteuid().is_root(),
            #[cfg(target_os = "linux")]
            groups: cgroup::Groups::find().ok(),
            #[cfg(target_os = "macos")]
            has_profile: false,
        }
    }

    /// Removes the folders of programs whose caller was killed.
    pub fn sweep() {
        scratch::sweep();
    }

    /// A sentence that says why no program can be run here, with or without protection, if that is so.
    pub fn lacks_place() -> Option<String> {
        scratch::lacks_place()
    }

    /// Protection in force.
    pub fn protection(&self) -> &Protection {
        &self.protection
    }

    /// The session of a program: this one's only where the rules keep it away from the terminal.
    fn session_of(&self, job: &Job) -> child::Session {
        #[cfg(target_os = "linux")]
        if job.limits.gives_way && self.mechanisms.is_some() {
            return child::Session::Shared;
        }
        if job.limits.gives_way { child::Session::Low } else { child::Session::Own }
    }

    /// Runs a job in a folder of its own.
    pub fn run(&self, mut job: Job, cancel: &AtomicBool) -> Result<Run, String> {
        if !job.program.is_absolute() {
            return Err(format!("the program {} is not given with its whole path", job.program.display()));
        }
        let inherited = std::mem::take(&mut job.inherited);
        let scratch = scratch::Scratch::new().map_err(|e| format!("a temporary folder could not be made: {e}"))?;
        #[cfg(target_os = "macos")]
        if self.has_profile {
            seatbelt::wrap(&mut job, scratch.path());
        }
        let job = &job;
        scratch.write_all(&job.files).map_err(|e| format!("a file of the program could not be written: {e}"))?;
        #[cfg(target_os = "linux")]
        let confinement =
            self.mechanisms.as_ref().map(|mechanisms| mechanisms.confine(job, scratch.path())).transpose()?;
        #[cfg(target_os = "linux")]
        let running = {
            let namespaces = confinement.as_ref().and_then(|confinement| confinement.namespaces.as_ref());
            let failed = |e| format!("the folder of the program could not be given to its user: {e}");
            let other = namespaces.and_then(namespaces::Namespaces::other_user);
            // Root has no rights over the files of others in a run either: what an earlier run was given is
            // taken back.
            let is_given = |path: &Path| std::fs::metadata(path).is_ok_and(|meta| meta.uid() == OTHER_USER);
            let of_runs = |path: &&PathBuf| scratch::is_within(path);
            let own = job.writable.iter().filter(of_runs).map(PathBuf::as_path).chain([scratch.path()]);
            own.filter(|path| other.is_some() || is_given(path))
                .try_for_each(|folder| scratch::give(folder, other.unwrap_or(0)))
                .map_err(failed)?;
            if let Some(other) = other {
                let readable = job.readable.iter().filter(of_runs).filter(|path| !job.writable.contains(path));
                readable.into_iter().try_for_each(|path| scratch::show(path, other)).map_err(failed)?;
            }
            // All tasks of the user count, those outside of a user namespace only there; so does the init
            // process.
            let before =
                || namespaces.map_or_else(|| procfs::tasks_of_user() + 1, namespaces::Namespaces::tasks_before);
            self.counts_processes.then(before)
        };
        #[cfg(not(target_os = "linux"))]
        let running = None;
        let rlimits = limits::rlimits(&job.limits, job.addresses, running);
        let session = self.session_of(job);
        #[cfg(target_os = "linux")]
        let group = self.groups.as_ref().map(|groups| groups.make(&job.limits)).transpose();
        #[cfg(target_os = "linux")]
        let group = group.map_err(|e| format!("a control group could not be made: {e}"))?;
        #[cfg(target_os = "linux")]
        let cgroup = group.as_ref().map(cgroup::Group::procs).transpose();
        #[cfg(target_os = "linux")]
        let cgroup = cgroup.map_err(|e| format!("a control group cannot be entered: {e}"))?;
        let run = supervise::run(job, inherited, &scratch, cancel, session, |streams, keep, program| child::Plan {
            session,
            rlimits,
            streams: Some(streams),
            keep,
            #[cfg(target_os = "linux")]
            confinement,
            #[cfg(target_os = "linux")]
            cgroup,
            task: child::Task::Program(program),
        })?;
        #[cfg(target_os = "linux")]
        if group.is_some_and(|group| group.ran_out_of_memory()) {
            return Ok(Run { ended: Ended::MemoryLimit, ..run });
        }
        Ok(run)
    }
}

/// The user and group of a program that root runs: a number that systems give to nobody.
const OTHER_USER: u32 = 65533;

/// The name of a program's user: never the true one.
fn user_name(number: u32) -> &'static str {
    match number {
        0 => "root",
        65534 => "nobody",
        _ => "user",
    }
}

/// Sentences about tiers that are not there.
#[cfg(target_os = "linux")]
fn sentences(missing: &[(Tier, String)]) -> Vec<String> {
    missing.iter().map(|(tier, reason)| format!("{}: {reason}", tier.name())).collect()
}

/// The system's error, if a call said that it failed.
fn check(result: i32) -> std::io::Result<()> {
    // `last_os_error` only reads errno and allocates nothing.
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
