//! What happens in the child between fork and exec: the protections are put on, one after the other, by raw system calls only.
//!
//! Between the fork of a program with many threads and the exec only async-signal-safe calls are allowed: no allocation, no locks. All
//! that needs either is prepared in [`Plan`] by the parent.

use std::io;
use std::os::fd::RawFd;

use super::limits::Rlimit;

/// What the child puts on. Everything is ready to use: nothing is computed after the fork.
pub struct Plan {
    /// Limits, in the order to set them.
    pub rlimits: Vec<Rlimit>,
    /// Descriptors that stay open across exec, besides the standard ones.
    pub keep: Vec<RawFd>,
    /// Where a failing stage writes its number, if anywhere.
    pub complaints: RawFd,
    /// The process that must still be the parent.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux can tie a child to its parent"))]
    pub parent: i32,
    /// The kernel's rules; `None` runs without isolation.
    #[cfg(target_os = "linux")]
    pub rules: Option<Rules>,
}

/// The kernel rules of a trial.
#[cfg(target_os = "linux")]
pub struct Rules {
    /// The Landlock ruleset.
    pub landlock: std::os::fd::OwnedFd,
    /// System-call filters, in the order to install them.
    pub filters: Vec<seccompiler::BpfProgram>,
}

/// The steps, for messages about the one that failed.
const STAGES: &[&str] = &[
    "own session",
    "end with the parent",
    "limits",
    "inherited files",
    "no new privileges",
    "dropping capabilities",
    "file rules",
    "system-call filter",
];

/// The name of a stage by the number the child reported.
pub fn stage_name(number: u8) -> &'static str {
    STAGES.get(usize::from(number)).copied().unwrap_or("start")
}

/// Puts everything on. Async-signal-safe. On failure the stage's number goes to `complaints`.
pub fn enter(plan: &Plan) -> io::Result<()> {
    let mut stage = 0_u8;
    let result = put_on(plan, &mut stage);
    if result.is_err() {
        // SAFETY: writes one byte of a live variable; a bad descriptor only gives an error, which does not matter here.
        unsafe { libc::write(plan.complaints, std::ptr::from_ref(&stage).cast(), 1) };
    }
    result
}

fn put_on(plan: &Plan, stage: &mut u8) -> io::Result<()> {
    // SAFETY: setsid, umask and signal take and return plain numbers and are async-signal-safe.
    unsafe {
        check(libc::setsid())?;
        libc::umask(0o077);
        for number in 1..32 {
            // SIGKILL and SIGSTOP refuse, which is as well.
            libc::signal(number, libc::SIG_DFL);
        }
    }
    *stage = 1;
    #[cfg(target_os = "linux")]
    end_with_parent(plan.parent)?;
    *stage = 2;
    for &(resource, value) in &plan.rlimits {
        lower(resource, value)?;
    }
    *stage = 3;
    #[cfg(target_os = "linux")]
    // SAFETY: plain numbers. Old kernels lack the call; all descriptors of this program are close-on-exec anyway.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    for &fd in &plan.keep {
        // SAFETY: changes a flag of a descriptor that the parent keeps open until after the exec.
        check(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) })?;
    }
    #[cfg(target_os = "linux")]
    if let Some(rules) = &plan.rules {
        isolate(rules, stage)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn end_with_parent(parent: i32) -> io::Result<()> {
    // SAFETY: plain numbers, a static string and a static buffer; all calls are async-signal-safe.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0))?;
        // The parent may have died before the line above.
        if libc::getppid() != parent {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        // When memory runs out on the whole machine, this process is the first to go. Raising is always allowed.
        let fd = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd >= 0 {
            libc::write(fd, c"1000".as_ptr().cast(), 4);
            libc::close(fd);
        }
    }
    Ok(())
}

/// Sets a limit, soft and hard; never above the hard limit there is.
fn lower(resource: i32, value: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to a live rlimit. The resource's type differs between platforms, hence the casts.
    unsafe {
        check(libc::getrlimit(resource as _, &raw mut limit))?;
        limit.rlim_max = limit.rlim_max.min(value as libc::rlim_t);
        limit.rlim_cur = limit.rlim_max;
        check(libc::setrlimit(resource as _, &raw const limit))
    }
}

/// From here on nothing can be gained back: privileges, capabilities, files, system calls.
#[cfg(target_os = "linux")]
fn isolate(rules: &Rules, stage: &mut u8) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    *stage = 4;
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    *stage = 5;
    drop_capabilities()?;
    *stage = 6;
    // SAFETY: an open ruleset descriptor, owned by the plan, and no flags.
    let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.landlock.as_raw_fd(), 0_u32) };
    check(done as i32)?;
    *stage = 7;
    for filter in &rules.filters {
        let program = libc::sock_fprog {
            len: filter.len() as libc::c_ushort,
            // The kernel only reads it; the two types have the same C layout.
            filter: filter.as_ptr().cast_mut().cast(),
        };
        // SAFETY: `program` and the instructions it points to live across the call; the kernel validates them.
        let done =
            unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u32, &raw const program) };
        check(done as i32)?;
    }
    Ok(())
}

/// Empties all capability sets. Matters when the program runs as root; for others the sets are empty already.
#[cfg(target_os = "linux")]
fn drop_capabilities() -> io::Result<()> {
    /// `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h, with its header and data layout.
    const VERSION: u32 = 0x2008_0522;
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    // SAFETY: plain numbers, and pointers to live values of the layout that capset reads (two sets of three words).
    unsafe {
        // EINVAL says the last capability was passed, EPERM that there is no right to drop (and so nothing to gain either).
        let mut number: libc::c_ulong = 0;
        while number < 64 && libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) == 0 {
            number += 1;
        }
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong, 0, 0, 0);
        let header = Header { version: VERSION, pid: 0 };
        let none = [0_u32; 6];
        check(libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) as i32)
    }
}

fn check(result: i32) -> io::Result<()> {
    // `last_os_error` only reads errno and allocates nothing.
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
