//! Starts the child of a plan, and holds on to it until it and all that came of it is gone.

use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, waitid, waitpid,
};

use super::child::{self, Parent, Plan};
use super::procfs;
use super::report::Message;
use super::{Ended, check};

/// A child that runs. It must be collected.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    pidfd: Option<OwnedFd>,
    report: PipeReader,
    has_namespaces: bool,
    #[cfg(target_os = "linux")]
    _lifeline: io::PipeWriter,
}

/// Forks; the descriptors of the plan are the child's from here on.
pub fn spawn(plan: Plan) -> Result<Process, String> {
    let failed = |e: io::Error| format!("a pipe could not be made: {e}");
    let (report, report_end) = io::pipe().map_err(failed)?;
    #[cfg(target_os = "linux")]
    let ((lifeline_end, lifeline), namespaces) = (io::pipe().map_err(failed)?, plan.namespaces());
    #[cfg(target_os = "linux")]
    let (flags, has_namespaces) = (namespaces.map_or(0, super::namespaces::Namespaces::flags), namespaces.is_some());
    #[cfg(not(target_os = "linux"))]
    let (flags, has_namespaces) = (0, false);
    let parent = Parent {
        report: report_end.as_raw_fd(),
        #[cfg(target_os = "linux")]
        lifeline: lifeline_end.as_raw_fd(),
        #[cfg(target_os = "linux")]
        mappings: procfs::large_mappings(),
    };
    let forked: io::Result<i32> = without_signals(|| {
        let pid = fork(flags)?;
        if pid == 0 {
            // The child must notice when the only writer is gone.
            #[cfg(target_os = "linux")]
            // SAFETY: closes the child's own copy, which it never drops.
            unsafe {
                libc::close(lifeline.as_raw_fd())
            };
            child::run(&plan, &parent);
        }
        Ok(pid)
    });
    let pid = forked.map_err(|error| {
        let what = if has_namespaces { "new namespaces could not be made" } else { "a process could not be started" };
        format!("{what}: {error}")
    })?;
    #[cfg(target_os = "linux")]
    if let Some(root) = plan.namespaces().and_then(|namespaces| namespaces.root.as_ref()) {
        // If it fails the child is told nothing, and says so.
        let _ = root.user.map_child(pid);
    }
    drop((plan, report_end));
    let pid = Pid::from_raw(pid).ok_or("a process could not be started")?;
    Ok(Process {
        pid,
        pidfd: open_pidfd(pid),
        report,
        has_namespaces,
        #[cfg(target_os = "linux")]
        _lifeline: lifeline,
    })
}

/// `fork`, into new namespaces if there are flags for them. The number of the child, or 0 in the child.
pub fn fork(flags: i32) -> io::Result<i32> {
    // Not libc's: that one takes locks, which the init process, itself a copy, may find taken for ever.
    #[cfg(target_os = "linux")]
    // SAFETY: without a stack and without shared memory this is a fork; the child goes on by
    // async-signal-safe calls only.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone, libc::c_long::from(flags | libc::SIGCHLD), 0_usize, 0_usize, 0_usize, 0_usize)
    } as i32;
    #[cfg(not(target_os = "linux"))]
    // SAFETY: as above.
    let pid = unsafe {
        let _ = flags;
        libc::fork()
    };
    check(pid)?;
    Ok(pid)
}

/// Holds all signals back meanwhile: the child must not run this program's handlers.
fn without_signals<T>(act: impl FnOnce() -> T) -> T {
    // SAFETY: live signal sets, filled before they are read.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let result = act();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        result
    }
}

impl Process {
    /// The number of the child, which is also that of its group.
    pub fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// True if it has namespaces of its own.
    pub fn has_namespaces(&self) -> bool {
        self.has_namespaces
    }

    /// A descriptor that becomes readable when the process ends.
    pub fn pidfd(&self) -> Option<&OwnedFd> {
        self.pidfd.as_ref()
    }

    /// Returns true if the process has ended; it stays uncollected.
    pub fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(self.pid), options).is_ok_and(|ended| ended.is_some())
    }

    /// Kills whatever is left of the group and collects the leader. How it ended, or why it never became what
    /// it should.
    pub fn collect(mut self) -> Result<Ended, String> {
        // The leader is not collected yet, so its number cannot have been given to another process.
        let _ = (kill_process_group(self.pid, Signal::KILL), kill_process(self.pid, Signal::KILL));
        let waited = retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty()));
        if !self.has_namespaces {
            sweep(self.pid);
        }
        let mut bytes = Vec::new();
        // All writers have ended, or have lost the descriptor by becoming a program.
        let _ = self.report.read_to_end(&mut bytes);
        let status = match Message::first(&bytes) {
            Some(Message::Failed { stage, error }) => {
                let error = io::Error::from_raw_os_error(error);
                return Err(format!("{}: {error}", child::stage_name(stage)));
            }
            Some(Message::Ended(status)) => status,
            None => waited.ok().flatten().map_or(0, |(_, status)| status.as_raw()),
        };
        if libc::WIFEXITED(status) {
            Ok(Ended::Exited(libc::WEXITSTATUS(status)))
        } else {
            Ok(Ended::Signalled(libc::WTERMSIG(status)))
        }
    }
}

/// Kills until no process of the group is left, for a bounded time. Zombies whose parent is slow do not
/// count.
fn sweep(group: Pid) {
    let end = Instant::now() + Duration::from_secs(2);
    while kill_process_group(group, Signal::KILL).is_ok() && Instant::now() < end {
        let members = procfs::group(group.as_raw_nonzero().get());
        if cfg!(target_os = "linux") && members.iter().all(|member| member.is_zombie) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A descriptor that becomes readable when the process ends.
fn open_pidfd(pid: Pid) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    return rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok();
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}
