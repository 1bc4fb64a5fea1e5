//! Processes of a run as `/proc` shows them, and their priority. Where there is no `/proc`, nothing is known.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use super::stopwatch::Schedule;

/// Lowers the share of a session that a process leads, where every session has one. False: try again, as the
/// kernel takes such a wish only every tenth of a second.
pub fn lower_session(process: i32, nice: i32) -> bool {
    if cfg!(not(target_os = "linux")) {
        return true;
    }
    // Before the process has a session of its own, this would lower the user's.
    // SAFETY: getsid takes and returns plain numbers.
    if unsafe { libc::getsid(process) } != process {
        return false;
    }
    let path = format!("/proc/{process}/autogroup");
    if fs::read_to_string(&path).is_ok_and(|text| text.trim_end().ends_with(&format!(" nice {nice}"))) {
        return true;
    }
    let written = fs::write(path, nice.to_string());
    !written.is_err_and(|error| error.raw_os_error() == Some(libc::EAGAIN))
}

/// Gives all threads of a process, and what they start, idle priority.
#[cfg(target_os = "linux")]
pub fn make_idle(process: i32) {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    for thread in threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok()) {
        // The kernel's `sched_param`. (musl has another one, and its function does nothing.)
        let priority: libc::c_int = 0;
        // SAFETY: a live value and plain numbers. Where it fails, the thread has ended, or keeps its low
        // priority.
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, thread, libc::SCHED_IDLE, &raw const priority) };
    }
}

/// Other systems have no idle priority.
#[cfg(not(target_os = "linux"))]
pub fn make_idle(_process: i32) {}

/// A process of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub pid: i32,
    /// It has ended and only waits to be collected.
    pub is_zombie: bool,
    /// Its process group.
    pub group: i32,
    pub threads: u64,
    /// Memory in use, bytes, with what it shares with others.
    pub resident: u64,
}

/// Reads one line of `/proc/PID/stat`. The name, which the process chooses, may hold anything, also spaces
/// and brackets.
fn parse(pid: i32, stat: &str, page: u64) -> Option<Member> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|f| f.parse::<u64>().ok());
    Some(Member {
        pid,
        is_zombie: matches!(fields.first(), Some(&("Z" | "X"))),
        group: fields.get(2)?.parse().ok()?,
        threads: number(17)?,
        resident: number(21)?.saturating_mul(page),
    })
}

/// The numbers of all processes.
fn numbers() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Bytes of a page.
fn page_size() -> u64 {
    // SAFETY: sysconf takes and returns plain numbers.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// A process, if it is still there.
fn member(pid: i32) -> Option<Member> {
    // The name is not always UTF-8.
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&stat), page_size())
}

/// The processes of a group.
pub fn group(group: i32) -> Vec<Member> {
    // One short call for each process of the machine; reading its file takes far longer. SAFETY: getpgid
    // takes and returns plain numbers. (That of rustix panics at group 0, which kernel threads have.)
    let belongs = |pid: &i32| unsafe { libc::getpgid(*pid) } == group;
    numbers().filter(belongs).filter_map(member).filter(|process| process.group == group).collect()
}

/// One process, cheaply.
pub fn resident_of(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    Some(text.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?.saturating_mul(page_size()))
}

/// Time that the scheduler gave a process (its first thread). Nothing where the kernel does not count it.
pub fn schedule_of(pid: i32) -> Option<Schedule> {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let mut fields = text.split_ascii_whitespace().map(|field| field.parse().map(Duration::from_nanos));
    Some(Schedule { ran: fields.next()?.ok()?, waited: fields.next()?.ok()? })
}

/// Time that all threads of a process were on a core, in ticks of the clock; see `proc_pid_stat`(5).
pub fn worked(pid: i32) -> Option<u64> {
    let stat = behind_name(pid)?;
    let mut times = stat.split_ascii_whitespace().skip(11).take(2).map(str::parse::<u64>);
    Some(times.next()?.ok()? + times.next()?.ok()?)
}

/// Returns true if a thread of a process is on a core, or waits for one or for a disk: the states `R` and `D`
/// of `proc_pid_stat`(5).
pub fn is_ready(pid: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut figures = threads.filter_map(|thread| figures_in(&thread.path().join("stat")));
    figures.any(|figures| figures.trim_start().starts_with(['R', 'D']))
}

/// The figures of a process behind its name, which may hold anything, also bytes that are not UTF-8.
fn behind_name(pid: i32) -> Option<String> {
    figures_in(Path::new(&format!("/proc/{pid}/stat")))
}

fn figures_in(stat: &Path) -> Option<String> {
    let stat = fs::read(stat).ok()?;
    String::from_utf8_lossy(&stat).rsplit_once(')').map(|(_, figures)| figures.to_owned())
}

/// Memory of a process with shared pages divided among their users, bytes. Slow: the kernel walks the page
/// tables.
fn proportional(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.saturating_mul(1024))
}

/// Returns true unless a process is still a copy of the one that forked it: `PF_FORKNOEXEC` among its flags,
/// see `proc_pid_stat`(5) and `include/linux/sched.h` of Linux.
pub fn has_become_program(process: i32) -> bool {
    const FORKED_ONLY: u64 = 0x40;
    let fields = behind_name(process).unwrap_or_default();
    let flags = fields.split_ascii_whitespace().nth(6).and_then(|flags| flags.parse::<u64>().ok());
    flags.is_none_or(|flags| flags & FORKED_ONLY == 0)
}

/// Memory of some processes, bytes, with shared pages divided among their users where `/proc` tells. A
/// process that has ended since it was listed uses none.
pub fn in_use(processes: impl IntoIterator<Item = i32>) -> u64 {
    let of = |process: i32| proportional(process).or_else(|| resident_of(process));
    processes.into_iter().filter_map(of).sum()
}

/// How many sockets some processes hold, each counted once; `most` for a process that hides its open files.
pub fn sockets_of(processes: impl Iterator<Item = i32>, most: usize) -> usize {
    let (mut found, mut hidden) = (BTreeSet::new(), 0);
    for process in processes {
        match fs::read_dir(format!("/proc/{process}/fd")) {
            Ok(files) => {
                let links = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
                found.extend(links.filter(|link| link.as_os_str().as_encoded_bytes().starts_with(b"socket:")));
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => hidden += most,
            Err(_) => {}
        }
    }
    found.len() + hidden
}

/// How many buffers the sockets in the network of a process have: TCP and UDP have two. Sockets that nobody
/// holds count as well: not yet accepted, or closed with data left.
pub fn buffers_of_network(process: i32) -> u64 {
    let files = ["sockstat", "sockstat6"].map(|name| fs::read_to_string(format!("/proc/{process}/net/{name}")));
    let lines = files.iter().flatten().flat_map(|text| text.lines());
    let counts = lines.filter(|line| ["sockets", "TCP", "UDP"].iter().any(|name| line.starts_with(name)));
    counts.filter_map(|line| line.split(' ').nth(2)?.parse::<u64>().ok()).sum()
}

/// The large parts of this program's memory that a copy of it would keep: start and end, the largest first.
#[cfg(target_os = "linux")]
pub fn large_mappings() -> Vec<(usize, usize)> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut list: Vec<(usize, usize)> = maps.lines().filter_map(large_and_private).collect();
    list.sort_by_key(|(start, end)| std::cmp::Reverse(end - start));
    list
}

/// A line of `/proc/self/maps`, if it is of memory that is written and worth giving back.
#[cfg(target_os = "linux")]
fn large_and_private(line: &str) -> Option<(usize, usize)> {
    const LARGE: usize = 1 << 20;
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    (rest.starts_with("rw-p") && end.checked_sub(start)? >= LARGE).then_some((start, end))
}

/// How many tasks (processes and threads) the user of this program runs now.
#[cfg(target_os = "linux")]
pub fn tasks_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::getuid().as_raw();
    numbers()
        .filter_map(member)
        .filter(|p| fs::metadata(format!("/proc/{}", p.pid)).is_ok_and(|folder| folder.uid() == user))
        .map(|p| p.threads)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn only_large_private_memory_is_unmapped() {
        assert_eq!(large_and_private("7f00-20000000 rw-p 0 00:00 0"), Some((0x7f00, 0x2000_0000)));
        for line in ["1000-2000 rw-p 0", "1000-900000 r-xp 0", "1000-900000 rw-s 0", "x-y rw-p", ""] {
            assert_eq!(large_and_private(line), None, "{line}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_socket_that_two_processes_hold_is_one() {
        let own = std::process::id() as i32;
        let pair = std::os::unix::net::UnixStream::pair().unwrap();
        let with = sockets_of([own, own].into_iter(), 0);
        // Other tests make sockets of their own.
        assert!(with >= 2, "{with}");
        let links = fs::read_dir("/proc/self/fd").unwrap().filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        let all = links.filter(|link| link.to_string_lossy().starts_with("socket:")).count();
        assert!(with <= all + 64, "{with} of {all}");
        drop(pair);
        assert_eq!(sockets_of([-1].into_iter(), 7), 0, "one that has ended hides nothing");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_has_ended_uses_no_memory() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (ended, own) = (child.id() as i32, std::process::id() as i32);
        child.wait().unwrap();
        assert_eq!(in_use([ended]), 0);
        assert!((1..1 << 40).contains(&in_use([ended, own])));
    }

    /// Else the user's shell, and this program with it, would be slowed.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_session_that_others_share_is_not_lowered() {
        let own = || fs::read_to_string("/proc/self/autogroup").ok();
        let before = own();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(!lower_session(i32::try_from(child.id()).unwrap(), 17), "to be tried again");
        assert_eq!(own(), before);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_hostile_process_name_does_not_shift_the_fields() {
        let line = "7 (a) Z 1 (b) S 1 99 99 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 100 1000 5 18446744073709551615 1";
        let member = parse(7, line, 4096).unwrap();
        assert_eq!((member.group, member.threads, member.resident, member.is_zombie), (99, 3, 5 * 4096, false));
    }
}
