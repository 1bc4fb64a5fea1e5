//! One run of a program, from the fork to the last of its processes: writes its request, reads its output,
//! checks its limits, ends it.
//!
//! One thread, one poll: the end of the process wakes it through a pidfd.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::child::{NICE, Plan, Program, Session};
use super::limits::OPEN_FILES;
use super::output::Output;
use super::procfs::{self, Member};
use super::scratch::{Scratch, usage};
use super::spawn::{Process, spawn};
use super::stopwatch::Stopwatch;
use super::{Ended, Job, Run, user_name};

/// How often limits and cancellation are checked.
const TICK: Duration = Duration::from_millis(20);
/// How long a program may take to be ready.
const START_UP: Duration = Duration::from_secs(30);
/// More is no report: nothing after it is read.
const LONGEST_REPORT: usize = 16 << 20;
/// Most bytes that the kernel keeps in a buffer of a socket (`net.core.wmem_default`, `loopback::BUFFERS`):
/// it counts for no process.
const SOCKET: u64 = 212_992;
/// Variables that every program gets. Others of the user's environment are withheld.
pub const VARIABLES: [&str; 9] = ["HOME", "TMPDIR", "USER", "LOGNAME", "SHELL", "PATH", "TERM", "LANG", "TZ"];
/// So many sockets are not worth a closer look.
const FREE_SOCKETS: u64 = 64;
/// How long a program may compete for cores before it runs at idle priority: most are over by then.
const BUSY: Duration = Duration::from_millis(400);

/// The parent's ends of the pipes, and what came through them.
struct Lines {
    printed: Option<PipeReader>,
    record: Option<PipeReader>,
    request: Option<PipeWriter>,
    unsent: Vec<u8>,
    sent: usize,
    output: Output,
    report: Vec<u8>,
}

/// Runs a job; `extra` are the descriptors it gets besides its pipes. `plan` gets what the child is given and
/// makes the rest.
pub fn run(
    job: &Job,
    extra: Vec<OwnedFd>,
    scratch: &Scratch,
    cancel: &AtomicBool,
    session: Session,
    plan: impl FnOnce([OwnedFd; 3], Vec<OwnedFd>, Program) -> Plan,
) -> Result<Run, String> {
    let failed = |error: io::Error| format!("a pipe could not be made: {error}");
    let (printed, printed_end) = io::pipe().map_err(failed)?;
    let (record, record_end) = io::pipe().map_err(failed)?;
    let (request_end, request) = io::pipe().map_err(failed)?;
    for fd in [printed.as_fd(), record.as_fd(), request.as_fd()] {
        rustix::io::ioctl_fionbio(fd, true).map_err(|e| failed(e.into()))?;
    }
    let nothing = File::open("/dev/null").map_err(|e| format!("/dev/null could not be opened: {e}"))?;
    let streams = [nothing.into(), printed_end.try_clone().map_err(failed)?.into(), printed_end.into()];
    let keep: Vec<OwnedFd> = [request_end.into(), record_end.into()].into_iter().chain(extra).collect();
    let program = program(job, scratch, &keep)?;
    let begun = Instant::now();
    // The child's ends, the ruleset and the filters go with the plan, so that the pipes end when the child
    // does.
    let process = spawn(plan(streams, keep, program))?;
    let mut lines = Lines {
        printed: Some(printed),
        record: Some(record),
        request: Some(request),
        unsent: job.control.as_ref().map(|control| control.request.clone()).unwrap_or_default(),
        sent: 0,
        output: Output::default(),
        report: Vec::new(),
    };
    let stopped = watch(&mut lines, &process, job, scratch, cancel, session);
    let ended = process.collect().map_err(|error| format!("{error} ({})", job.program.display()))?;
    // The rest in the pipes is taken without waiting for their end: a process that escaped could hold
    // them open for ever.
    lines.exchange();
    let over = (lines.output.total() > job.limits.output).then_some(Ended::OutputLimit);
    let ended = stopped.or(over).unwrap_or(ended);
    let ready = job.control.as_ref().map_or(&b""[..], |control| control.ready);
    let (has_started, record) = match lines.report.strip_prefix(ready) {
        Some(rest) => (true, rest.to_vec()),
        None => (false, lines.report),
    };
    Ok(Run { ended, has_started, record, output: lines.output.text(), elapsed: begun.elapsed() })
}

/// The program of a job, with an environment built from nothing.
fn program(job: &Job, scratch: &Scratch, keep: &[OwnedFd]) -> Result<Program, String> {
    let numbers = if job.control.is_some() { keep } else { &[] };
    let numbers = numbers.iter().map(|fd| fd.as_raw_fd().to_string().into());
    let arguments = job.arguments.iter().cloned().chain(numbers).collect();
    let home = scratch.path().as_os_str();
    // The folder belongs to the user that the program becomes.
    let user: &OsStr = user_name(fs::metadata(scratch.path()).map_or(0, |folder| folder.uid())).as_ref();
    let fixed = ["/bin/sh", "/usr/local/bin:/usr/bin:/bin", "dumb", "C.UTF-8", "UTC"].map(AsRef::as_ref);
    let values = [home, home, user, user].into_iter().chain(fixed);
    let mut environment: BTreeMap<OsString, OsString> =
        VARIABLES.iter().zip(values).map(|(name, value)| (name.into(), value.to_owned())).collect();
    environment.extend(job.environment.iter().cloned());
    let folder = job.folder.unwrap_or(scratch.path()).as_os_str().to_owned();
    Program::new(job.program.as_os_str().to_owned(), arguments, environment.into_iter().collect(), folder)
}

/// Waits until the process ends by itself (`None`) or has to be ended.
fn watch(
    lines: &mut Lines,
    process: &Process,
    job: &Job,
    scratch: &Scratch,
    cancel: &AtomicBool,
    session: Session,
) -> Option<Ended> {
    let begun = Instant::now();
    let mut group = Group::of(process);
    let ready = job.control.as_ref().map_or(&b""[..], |control| control.ready);
    let mut has_started = job.control.is_none();
    let mut clock = Stopwatch::new(if has_started { job.limits.wall } else { START_UP }, job.limits.idle, &job.waited);
    let mut ticks = 0_u32;
    let mut next_tick = Instant::now() + TICK;
    let mut is_low = session != Session::Low;
    let before = job.counted.and_then(usage).unwrap_or_default();
    loop {
        let now = Instant::now();
        if cancel.load(Ordering::Relaxed) {
            return Some(Ended::Cancelled);
        }
        if now >= next_tick || now >= clock.deadline() {
            clock.look(&group.seen);
            if now >= clock.deadline() && !process.has_ended() {
                return Some(Ended::WallLimit);
            }
        }
        if now >= next_tick {
            ticks = ticks.wrapping_add(1);
            next_tick = now + TICK;
            is_low = is_low || procfs::lower_session(process.id(), NICE);
            if session == Session::Shared && now >= begun + BUSY {
                group.seen.iter().for_each(|&member| procfs::make_idle(member));
            }
            if let Some(ended) = over_limit(&mut group, ticks, job, (scratch, before)) {
                return Some(ended);
            }
        }
        // Without a pidfd (old kernels, other systems) the end is noticed by asking often.
        let pidfd = process.pidfd();
        let patience = if pidfd.is_some() { next_tick } else { now + Duration::from_millis(3) };
        if wait(lines, pidfd, patience.min(clock.deadline())) || (pidfd.is_none() && process.has_ended()) {
            return None;
        }
        lines.exchange();
        if lines.output.total() > job.limits.output {
            return Some(Ended::OutputLimit);
        }
        if lines.report.len() > LONGEST_REPORT {
            return None;
        }
        if !has_started && lines.report.starts_with(ready) {
            has_started = true;
            clock = Stopwatch::new(job.limits.wall, job.limits.idle, &job.waited);
        }
    }
}

/// Polls until something can be done or `until`. True when the process has ended.
fn wait(lines: &Lines, pidfd: Option<&OwnedFd>, until: Instant) -> bool {
    let entry = |fd: Option<RawFd>, events| libc::pollfd { fd: fd.unwrap_or(-1), events, revents: 0 };
    let mut fds = [
        entry(pidfd.map(AsRawFd::as_raw_fd), libc::POLLIN),
        entry(lines.printed.as_ref().map(AsRawFd::as_raw_fd), libc::POLLIN),
        entry(lines.record.as_ref().map(AsRawFd::as_raw_fd), libc::POLLIN),
        entry(lines.request.as_ref().map(AsRawFd::as_raw_fd), libc::POLLOUT),
    ];
    let patience = until.saturating_duration_since(Instant::now()).as_micros().div_ceil(1000);
    // SAFETY: the array is live and its length is given.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as _, i32::try_from(patience).unwrap_or(i32::MAX)) };
    fds[0].revents != 0
}

/// The processes of a run.
struct Group {
    /// The number of the first process, and of the group.
    number: i32,
    /// The first process is the init process, which does not count.
    has_init: bool,
    /// It has a network of its own.
    has_network: bool,
    /// The process that runs the program, once known.
    leader: Option<i32>,
    /// It has become the program: until then it shares all memory of this one. A busy machine may leave it so
    /// for seconds, in which it keeps all that this program changes.
    has_begun: bool,
    /// All that were there at the last check, the init process included.
    seen: Vec<i32>,
}

impl Group {
    fn of(process: &Process) -> Self {
        let (number, has_init) = (process.id(), cfg!(target_os = "linux"));
        let has_network = process.has_namespaces();
        let leader = (!has_init).then_some(number);
        Self { number, has_init, has_network, leader, has_begun: false, seen: vec![number] }
    }

    fn has_begun(&mut self) -> bool {
        self.has_begun = self.has_begun || self.leader.is_some_and(procfs::has_become_program);
        self.has_begun
    }

    fn members(&mut self) -> Vec<Member> {
        let mut members = procfs::group(self.number);
        self.seen = members.iter().map(|member| member.pid).collect();
        if self.has_init {
            members.retain(|member| member.pid != self.number);
            self.leader = self.leader.or(members.first().map(|member| member.pid));
        }
        members
    }
}

/// The limit that the group is over, if any. The expensive checks are made less often.
/// `before` are the bytes of the counted folder at the start.
fn over_limit(group: &mut Group, ticks: u32, job: &Job, (scratch, before): (&Scratch, u64)) -> Option<Ended> {
    let limits = job.limits;
    let is_over = |&leader: &i32| {
        procfs::resident_of(leader).is_some_and(|bytes| bytes > limits.memory)
            && procfs::in_use([leader]) > limits.memory
    };
    if group.has_begun() && group.leader.as_ref().is_some_and(is_over) {
        return Some(Ended::MemoryLimit);
    }
    if ticks % 3 == 1 {
        let members = group.members();
        if members.iter().map(|m| m.threads).sum::<u64>() > limits.processes.max(1) {
            return Some(Ended::ProcessLimit);
        }
        let sum: u64 = members.iter().map(|m| m.resident).sum();
        // Forked processes share most of their memory: count it once before judging.
        if group.has_begun() && sum > limits.memory && procfs::in_use(members.iter().map(|m| m.pid)) > limits.memory {
            return Some(Ended::MemoryLimit);
        }
    }
    if ticks.is_multiple_of(10) {
        let members = group.members();
        let sockets = if group.has_network {
            procfs::buffers_of_network(group.number)
        } else {
            // Nothing is open in a process that waits to be collected.
            let open = members.iter().filter(|m| !m.is_zombie || m.threads > 1);
            procfs::sockets_of(open.map(|m| m.pid), OPEN_FILES as usize) as u64
        };
        if sockets > FREE_SOCKETS && procfs::in_use(members.iter().map(|m| m.pid)) + sockets * SOCKET > limits.memory {
            return Some(Ended::MemoryLimit);
        }
    }
    let room = limits.file.saturating_mul(4);
    let counted = || job.counted.map_or(Some(0), usage).map(|now| now.saturating_sub(before));
    let written = || Some(scratch.usage()? + counted()?);
    if ticks.is_multiple_of(10) && written().is_none_or(|bytes| bytes > room) {
        return Some(Ended::DiskLimit);
    }
    None
}

impl Lines {
    /// Moves what can be moved without waiting.
    fn exchange(&mut self) {
        let mut buffer = [0_u8; 1 << 14];
        // Bounded, so that a loud program cannot keep the limits from being checked.
        for _ in 0..64 {
            let Some(count) = take(&mut self.printed, &mut buffer) else { break };
            self.output.push(&buffer[..count]);
        }
        while self.report.len() <= LONGEST_REPORT {
            let Some(count) = take(&mut self.record, &mut buffer) else { break };
            self.report.extend_from_slice(&buffer[..count]);
        }
        while let Some(pipe) = &mut self.request {
            match pipe.write(&self.unsent[self.sent..]) {
                Ok(count) if count > 0 => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // All is sent, or nobody reads any more: closing tells the reader that this was all.
                _ => self.request = None,
            }
        }
    }
}

/// Reads what is there. A pipe that nobody writes to any more is closed: it would count as ready for ever.
fn take(pipe: &mut Option<PipeReader>, buffer: &mut [u8]) -> Option<usize> {
    match pipe.as_mut()?.read(buffer) {
        Ok(count) if count > 0 => Some(count),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => None,
        _ => {
            *pipe = None;
            None
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::{Limits, spawn};
    use super::*;

    /// A busy machine may leave it so for a second, in which it is no hog of its own.
    #[test]
    fn a_child_that_has_not_become_the_program_yet_hits_no_memory_limit() {
        let mut held = vec![1_u8; 256 << 20];
        // The init process, and its child, which becomes the program later.
        let init = spawn::fork(0).unwrap();
        if init == 0 {
            // SAFETY: system calls alone; both wait for a signal, and never go on to other code of this
            // program.
            unsafe {
                libc::setpgid(0, 0);
                // Not libc's: its locks may be taken for ever in a copy of a program of several threads.
                let _ = spawn::fork(0);
                loop {
                    libc::pause();
                }
            }
        }
        let until = Instant::now() + Duration::from_secs(60);
        while procfs::group(init).len() < 2 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        // All that this program changes meanwhile is theirs alone, a half for each.
        held.fill(2);
        let resident = procfs::resident_of(init).unwrap();
        let limits = Limits { memory: resident / 3, ..Limits::default() };
        let (scratch, program) = (Scratch::new().unwrap(), std::path::PathBuf::from("/bin/true"));
        let job = Job::new(&program, Vec::new(), limits);
        let (leader, seen) = (None, vec![init]);
        let mut group = Group { number: init, has_init: true, has_network: false, leader, has_begun: false, seen };
        let hit = [1, 2, 4].into_iter().find_map(|ticks| over_limit(&mut group, ticks, &job, (&scratch, 0)));
        let has_leader = group.leader.is_some_and(|leader| leader != init);
        // SAFETY: plain numbers, and a child that has not been waited for.
        unsafe {
            libc::kill(-init, libc::SIGKILL);
            libc::waitpid(init, std::ptr::null_mut(), 0);
        }
        assert!(has_leader, "{:?}", group.seen);
        assert!(held.len() as u64 <= resident && hit.is_none(), "{hit:?} with {resident} bytes");
    }
}
