//! What keeps code under test away from the user's machine. Prepared in the parent, entered in the child between fork and exec.
//!
//! On Linux: Landlock (files, TCP, signals), seccomp (system calls), no new privileges, no capabilities, resource limits. Elsewhere
//! the limits only, and that is said.

#[cfg(target_os = "linux")]
mod landlock;
mod limits;
#[cfg(target_os = "linux")]
mod seccomp;

use std::io;
use std::path::{Path, PathBuf};

pub use limits::memory_of_group;

use super::Limits;

/// The layers to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Version of Landlock in the kernel, 0 to do without.
    pub landlock_abi: u32,
    /// Filter system calls.
    pub seccomp: bool,
}

impl Sandbox {
    /// All layers that this kernel says it has; whether they work is for a probe to show.
    pub fn available() -> Self {
        #[cfg(target_os = "linux")]
        return Self {
            landlock_abi: landlock::abi(),
            seccomp: cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
        };
        #[cfg(not(target_os = "linux"))]
        Self::none()
    }

    /// No layer.
    pub fn none() -> Self {
        Self::default()
    }

    /// Does everything that needs memory: afterwards [`Prepared::enter`] is system calls only.
    pub fn prepare(&self, writable: &Path, readable: &[PathBuf], limits: &Limits) -> io::Result<Prepared> {
        Ok(Prepared {
            limits: limits::resource_limits(limits),
            #[cfg(target_os = "linux")]
            ruleset: (self.landlock_abi > 0).then(|| landlock::ruleset(writable, readable)).transpose()?,
            #[cfg(target_os = "linux")]
            filters: if self.seccomp { seccomp::filters(self.landlock_abi)? } else { Vec::new() },
        })
    }
}

/// A sandbox that can be entered.
pub struct Prepared {
    limits: Vec<(limits::Resource, u64)>,
    #[cfg(target_os = "linux")]
    ruleset: Option<std::os::fd::OwnedFd>,
    #[cfg(target_os = "linux")]
    filters: Vec<seccompiler::BpfProgram>,
}

impl Prepared {
    /// Enters it; there is no way back. Makes system calls only, so that it may be called between fork and exec.
    pub fn enter(&self) -> io::Result<()> {
        limits::new_session()?;
        limits::apply(&self.limits)?;
        #[cfg(target_os = "linux")]
        {
            limits::die_with_parent()?;
            limits::give_up_privileges()?;
            if let Some(ruleset) = &self.ruleset {
                landlock::enter(ruleset)?;
            }
            for filter in &self.filters {
                seccomp::enter(filter)?;
            }
        }
        Ok(())
    }
}

/// Marks all descriptors from `first` on to be closed on exec. Makes system calls only.
pub fn close_from(first: i32) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: a system call that changes flags of descriptors of this process.
        let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
        if done == 0 {
            return Ok(());
        }
    }
    for fd in first..1024 {
        // SAFETY: as above; a number that is not open is refused.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Ok(())
}
