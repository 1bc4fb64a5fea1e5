//! Runs a program that must not be trusted: limits, kernel rules, a private folder, and an end that nothing survives.
//!
//! The tier "kernel rules" (Landlock and seccomp) needs no rights and no namespaces; without it only limits are left, and the caller
//! has to be asked first. Namespaces can be put around it later: `Plan` is where they would enter.

#[cfg(unix)]
mod child;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(unix)]
mod limits;
#[cfg(unix)]
mod output;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(unix)]
mod procfs;
#[cfg(unix)]
pub(in crate::trial) mod scratch;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(unix)]
mod supervise;

use std::ffi::OsString;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::{Limits, Protection};

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
    filters: Vec<seccompiler::BpfProgram>,
}

impl Sandbox {
    /// Finds out by a real run what protects here.
    #[cfg(target_os = "linux")]
    pub fn probe() -> Self {
        let kernel = landlock::kernel_abi();
        if kernel == 0 {
            return Self::unprotected(
                "this kernel offers no Landlock (Linux 5.13 or newer with `landlock` in its list of security modules is needed)",
            );
        }
        let filters = match seccomp::filters(kernel) {
            Ok(filters) => filters,
            Err(reason) => return Self::unprotected(&reason),
        };
        match probe::prove(kernel, &filters) {
            Ok(protection) => Self { protection, filters },
            Err(reason) => Self::unprotected(&reason),
        }
    }

    /// Finds out what protects here: nothing but limits, on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn probe() -> Self {
        Self::unprotected("only Linux has a sandbox so far")
    }

    /// Limits only, and the reason why.
    pub fn unprotected(reason: &str) -> Self {
        let protection = Protection {
            tier: "none".to_owned(),
            limits: true,
            summary: format!("no sandbox: {reason}; code under test could read your files and use the network"),
            ..Protection::default()
        };
        Self {
            protection,
            #[cfg(target_os = "linux")]
            filters: Vec::new(),
        }
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

    /// Runs a job in a folder of its own.
    #[cfg(unix)]
    pub fn run(&self, mut job: Job, cancel: &AtomicBool) -> Result<Run, String> {
        let lines = std::mem::take(&mut job.lines);
        let job = &job;
        let scratch = scratch::Scratch::new().map_err(|e| format!("a temporary folder could not be made: {e}"))?;
        scratch.lay(&job.files).map_err(|e| format!("a file of the trial could not be written: {e}"))?;
        #[cfg(target_os = "linux")]
        let rules = if self.protection.is_isolated() {
            let landlock = landlock::ruleset(self.protection.landlock_abi, job.readable, job.writable, scratch.path())?;
            Some(child::Rules { landlock, filters: self.filters.clone() })
        } else {
            None
        };
        // SAFETY: geteuid takes nothing and cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        // The kernel does not apply the limit to root, and without /proc there is nothing to add it to.
        let running = (!is_root && cfg!(target_os = "linux")).then(procfs::tasks_of_user);
        let rlimits = limits::rlimits(&job.limits, running);
        // SAFETY: getpid takes nothing and cannot fail.
        let parent = unsafe { libc::getpid() };
        supervise::run(job, lines, &scratch, cancel, |keep, complaints| child::Plan {
            rlimits,
            keep,
            complaints,
            parent,
            #[cfg(target_os = "linux")]
            rules,
        })
    }
}
