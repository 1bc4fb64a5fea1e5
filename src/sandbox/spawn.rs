//! Starts the child of a plan, and holds on to it until it and all that came of it is gone.

use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};

use super::child::{self, Plan};
use super::procfs;
use super::report::Message;
use super::{Ended, check};

/// A child that runs. It must be collected.
#[derive(Debug)]
pub struct Process {
    pid: i32,
    pidfd: Option<OwnedFd>,
    report: PipeReader,
    has_namespaces: bool,
    #[cfg(target_os = "linux")]
    _leash: io::PipeWriter,
}

/// Forks; the descriptors and rules of the plan are the child's from here on.
pub fn spawn(#[cfg_attr(not(target_os = "linux"), allow(unused_mut))] mut plan: Plan) -> Result<Process, String> {
    let failed = |e: io::Error| format!("a pipe could not be made: {e}");
    let (report, report_end) = io::pipe().map_err(failed)?;
    #[cfg(target_os = "linux")]
    let leash = {
        let (end, leash) = io::pipe().map_err(failed)?;
        plan.leash = Some(end.into());
        plan.ballast = procfs::ballast();
        leash
    };
    #[cfg(target_os = "linux")]
    let (flags, has_namespaces) =
        (plan.namespaces.as_ref().map_or(0, super::namespaces::Namespaces::flags), plan.namespaces.is_some());
    #[cfg(not(target_os = "linux"))]
    let (flags, has_namespaces) = (0, false);
    let forked: io::Result<i32> = without_signals(|| {
        let pid = fork(flags)?;
        if pid == 0 {
            // The child must notice when the only writer is gone.
            #[cfg(target_os = "linux")]
            // SAFETY: closes the child's own copy, which it never drops.
            unsafe {
                libc::close(leash.as_raw_fd())
            };
            child::live(&plan, report_end.as_raw_fd());
        }
        Ok(pid)
    });
    let pid = forked.map_err(|error| {
        let what = if has_namespaces { "new namespaces could not be made" } else { "a process could not be started" };
        format!("{what}: {error}")
    })?;
    #[cfg(target_os = "linux")]
    if let Some(root) = plan.namespaces.as_ref().and_then(|n| n.root.as_ref()) {
        // If it fails the gate stays shut, and the child says so.
        let _ = root.user.introduce(pid);
    }
    drop((plan, report_end));
    Ok(Process {
        pid,
        pidfd: open_pidfd(pid),
        report,
        has_namespaces,
        #[cfg(target_os = "linux")]
        _leash: leash,
    })
}

/// `fork`, into new namespaces if there are flags for them. The number of the child, or 0 in the child.
pub fn fork(flags: i32) -> io::Result<i32> {
    // Not libc's: that one takes locks, which the first process of a trial, itself a copy, may find taken for ever.
    #[cfg(target_os = "linux")]
    // SAFETY: without a stack and without shared memory this is a fork; the child goes on by async-signal-safe calls only.
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
        self.pid
    }

    /// A descriptor that becomes readable when the process ends.
    pub fn pidfd(&self) -> Option<&OwnedFd> {
        self.pidfd.as_ref()
    }

    /// Whether the process has ended; it stays uncollected.
    pub fn has_ended(&self) -> bool {
        // SAFETY: `info` is live; WNOWAIT leaves the process for `collect`.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_PID, self.pid as libc::id_t, &raw mut info, flags) == 0 && info.si_signo != 0
        }
    }

    /// Kills whatever is left of the group and collects the leader. How it ended, or why it never became what it should.
    pub fn collect(mut self) -> Result<Ended, String> {
        // The leader is not collected yet, so its number cannot have been given to another process.
        kill_group(self.pid);
        // SAFETY: plain numbers.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        let mut status = 0;
        // SAFETY: `status` is live.
        while unsafe { libc::waitpid(self.pid, &raw mut status, 0) } < 0
            && io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)
        {}
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
            None => status,
        };
        if libc::WIFEXITED(status) {
            Ok(Ended::Exited(libc::WEXITSTATUS(status)))
        } else {
            Ok(Ended::Signalled(libc::WTERMSIG(status)))
        }
    }
}

/// Waits until no process of the group is left, for a bounded time. Zombies whose collector is slow do not count.
fn sweep(group: i32) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(2);
    while kill_group(group) && std::time::Instant::now() < end {
        if cfg!(target_os = "linux") && procfs::group(group).iter().all(|member| member.is_zombie) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Sends SIGKILL to a group. False when there is no such group any more.
fn kill_group(group: i32) -> bool {
    // SAFETY: plain numbers. A group number of 0 or 1 would mean something else; a child's is neither.
    group > 1 && unsafe { libc::kill(-group, libc::SIGKILL) } == 0
}

/// A descriptor that becomes readable when the process ends.
fn open_pidfd(pid: i32) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::FromRawFd;
        // SAFETY: plain numbers; the kernel makes the descriptor close-on-exec.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0_u32) } as i32;
        // SAFETY: a descriptor just made, owned by nobody else.
        (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}
