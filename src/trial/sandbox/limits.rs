//! Limits, session and privileges of the child; memory of its group.

use std::io;

use crate::trial::Limits;

/// A resource of `setrlimit`.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub type Resource = libc::__rlimit_resource_t;
/// A resource of `setrlimit`.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub type Resource = libc::c_int;

/// The limits of one trial as the system takes them.
pub fn resource_limits(limits: &Limits) -> Vec<(Resource, u64)> {
    let mut list = vec![
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_CPU, limits.wall.as_secs() + 2),
        (libc::RLIMIT_FSIZE, limits.file),
        (libc::RLIMIT_NOFILE, 256),
        (libc::RLIMIT_DATA, limits.memory),
        // Address space is not memory: interpreters and their libraries reserve more than they use.
        (libc::RLIMIT_AS, limits.memory.saturating_mul(4)),
    ];
    #[cfg(target_os = "linux")]
    {
        list.push((libc::RLIMIT_MEMLOCK, 0));
        list.push((libc::RLIMIT_MSGQUEUE, 0));
        // The system counts all of the user's processes, not only those of the trial.
        list.push((libc::RLIMIT_NPROC, processes_of_user() + limits.processes));
    }
    list
}

/// Sets the limits, for good. System calls only.
pub fn apply(limits: &[(Resource, u64)]) -> io::Result<()> {
    for &(resource, value) in limits {
        let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: plain data that the system fills in.
        check(unsafe { libc::getrlimit(resource, &raw mut old) })?;
        let value = (value as libc::rlim_t).min(old.rlim_max);
        let new = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: plain data that the system reads.
        check(unsafe { libc::setrlimit(resource, &raw const new) })?;
    }
    Ok(())
}

/// Makes the process the leader of a session of its own, without a terminal. System call only.
pub fn new_session() -> io::Result<()> {
    // SAFETY: a system call without arguments.
    check(unsafe { libc::setsid() })
}

/// Lets the kernel end the process when we end, and take it first when memory runs out. System calls only.
#[cfg(target_os = "linux")]
pub fn die_with_parent() -> io::Result<()> {
    // SAFETY: system calls with plain arguments; the path and the text are static.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        let fd = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd >= 0 {
            libc::write(fd, c"1000".as_ptr().cast(), 4);
            libc::close(fd);
        }
        libc::nice(10);
    }
    Ok(())
}

/// No new privileges through set-user-id programs, and none of root's if we are root. System calls only.
#[cfg(target_os = "linux")]
pub fn give_up_privileges() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    const NONE: [u32; 6] = [0; 6];
    // SAFETY: system calls with plain arguments; header and data have the layout that version 3 of the call expects.
    unsafe {
        // Refused where we have no right to drop any, and beyond the last capability.
        for capability in 0..64 {
            libc::prctl(libc::PR_CAPBSET_DROP, capability);
        }
        let header = Header { version: VERSION_3, pid: 0 };
        check(libc::syscall(libc::SYS_capset, &raw const header, NONE.as_ptr()) as i32)?;
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    }
}

pub(super) fn check(outcome: i32) -> io::Result<()> {
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Resident memory of a process group in bytes; 0 where the system does not tell.
pub fn memory_of_group(group: i32) -> u64 {
    let page = 4096;
    let of = |stat: &Stat| if stat.group == group { stat.resident_pages * page } else { 0 };
    processes().filter_map(|pid| stat(&pid)).map(|s| of(&s)).sum()
}

#[cfg(target_os = "linux")]
fn processes_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: a system call without arguments.
    let user = unsafe { libc::getuid() };
    processes()
        .filter(|pid| std::fs::metadata(format!("/proc/{pid}")).is_ok_and(|m| m.uid() == user))
        .filter_map(|pid| stat(&pid))
        .map(|s| s.threads)
        .sum()
}

fn processes() -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().into_string().ok()).filter(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

struct Stat {
    group: i32,
    threads: u64,
    resident_pages: u64,
}

/// What `/proc/PID/stat` says; fields are counted after the name, which is in brackets and may hold anything.
fn stat(pid: &str) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Stat {
        group: fields.get(2)?.parse().ok()?,
        threads: fields.get(17)?.parse().ok()?,
        resident_pages: fields.get(21)?.parse().ok()?,
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn our_own_group_has_memory() {
        // SAFETY: a system call without arguments.
        let group = unsafe { libc::getpgrp() };
        assert!(memory_of_group(group) > 1 << 20);
        assert!(processes_of_user() > 0);
    }
}
