//! One run of a program in the sandbox, from the fork to the last survivor: feeds it, listens, watches, and ends it.
//!
//! One thread, one poll: the end of the process wakes it through a pidfd, so a trial is never slowed by the watching.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::child::{self, Plan};
use super::output::Output;
use super::scratch::Scratch;
use super::{Ended, Job, Run, procfs};

/// How often limits and the wish to cancel are looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long an interpreter may take to come up, before the trial's own clock starts.
const START_UP: Duration = Duration::from_secs(30);
/// A record is small; what is longer is no record.
const LONGEST_RECORD: usize = 1 << 16;
/// The line the driver writes when it is ready to load the code under test.
const STARTED: &[u8] = b"started\n";

/// The parent's ends of the pipes, and what came through them.
struct Lines {
    printed: PipeReader,
    record: PipeReader,
    request: Option<PipeWriter>,
    unsent: Vec<u8>,
    sent: usize,
    output: Output,
    report: Vec<u8>,
}

/// Runs a job; `extra` are the descriptors it gets besides its pipes. `plan` gets the descriptors and makes what the child puts on.
pub fn run(
    job: &Job,
    extra: Vec<OwnedFd>,
    scratch: &Scratch,
    cancel: &AtomicBool,
    plan: impl FnOnce(Vec<RawFd>, RawFd) -> Plan,
) -> Result<Run, String> {
    let failed = |error: io::Error| format!("a pipe could not be made: {error}");
    let (printed, printed_end) = io::pipe().map_err(failed)?;
    let (record, record_end) = io::pipe().map_err(failed)?;
    let (request_end, request) = io::pipe().map_err(failed)?;
    for fd in [printed.as_raw_fd(), record.as_raw_fd(), request.as_raw_fd()] {
        do_not_block(fd).map_err(failed)?;
    }
    let mut keep = vec![request_end.as_raw_fd(), record_end.as_raw_fd()];
    keep.extend(extra.iter().map(AsRawFd::as_raw_fd));
    let numbers = if job.announces { keep.as_slice() } else { &[] };
    let plan = plan(keep.clone(), record_end.as_raw_fd());
    let mut command = Command::new(job.program);
    command
        .args(&job.arguments)
        .args(numbers.iter().map(RawFd::to_string))
        .env_clear()
        .envs([("LANG", "C.UTF-8"), ("TZ", "UTC"), ("PYTHONHASHSEED", "0")])
        .env("HOME", scratch.path())
        .env("TMPDIR", scratch.path())
        .envs(job.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(job.folder.unwrap_or(scratch.path()))
        .stdin(Stdio::null())
        .stdout(printed_end.try_clone().map_err(failed)?)
        .stderr(printed_end);
    // SAFETY: `enter` makes only async-signal-safe calls, on values prepared above.
    unsafe { command.pre_exec(move || child::enter(&plan)) };
    let begun = Instant::now();
    let spawned = command.spawn();
    // The child's ends, the ruleset and the filters go here, so that the pipes end when the child does.
    drop((command, request_end, record_end, extra));
    let mut lines = Lines {
        printed,
        record,
        request: Some(request),
        unsent: job.request.clone(),
        sent: 0,
        output: Output::default(),
        report: Vec::new(),
    };
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            let mut stage = [0_u8; 1];
            let at = match lines.record.read(&mut stage) {
                Ok(1) => child::stage_name(stage[0]),
                _ => "starting the program",
            };
            return Err(format!("{at} ({}): {error}", job.program.display()));
        }
    };
    let stopped = watch(&mut lines, &child, job, scratch, cancel, begun);
    let ended = finish(&mut lines, &mut child, stopped, job);
    let (has_started, record) = match lines.report.strip_prefix(STARTED) {
        Some(rest) => (true, rest.to_vec()),
        None => (!job.announces, lines.report),
    };
    Ok(Run { ended, has_started, record, output: lines.output.text(), elapsed: begun.elapsed() })
}

/// Waits until the process ends by itself (`None`) or has to be ended.
fn watch(
    lines: &mut Lines,
    child: &Child,
    job: &Job,
    scratch: &Scratch,
    cancel: &AtomicBool,
    begun: Instant,
) -> Option<Ended> {
    let group = child.id() as i32;
    let pidfd = open_pidfd(group);
    let mut has_started = !job.announces;
    let mut deadline = begun + if has_started { job.limits.wall } else { START_UP };
    let mut ticks = 0_u32;
    let mut next_tick = begun + TICK;
    loop {
        let now = Instant::now();
        if cancel.load(Ordering::Relaxed) {
            return Some(Ended::Cancelled);
        }
        if now >= deadline {
            return Some(Ended::WallLimit);
        }
        if now >= next_tick {
            ticks = ticks.wrapping_add(1);
            next_tick = now + TICK;
            if let Some(ended) = over_limit(group, ticks, job, scratch) {
                return Some(ended);
            }
        }
        // Without a pidfd (old kernels, other systems) the end is noticed by asking often.
        let patience = if pidfd.is_some() { next_tick } else { now + Duration::from_millis(3) };
        if wait(lines, pidfd.as_ref(), patience.min(deadline)) || (pidfd.is_none() && has_ended(group)) {
            return None;
        }
        lines.exchange();
        if lines.output.total() > job.limits.output {
            return Some(Ended::OutputLimit);
        }
        if lines.report.len() > LONGEST_RECORD {
            return None;
        }
        if !has_started && lines.report.starts_with(STARTED) {
            has_started = true;
            deadline = Instant::now() + job.limits.wall;
        }
    }
}

/// Polls until something can be done or `until`. True when the process has ended.
fn wait(lines: &Lines, pidfd: Option<&OwnedFd>, until: Instant) -> bool {
    let entry = |fd: Option<RawFd>, events| libc::pollfd { fd: fd.unwrap_or(-1), events, revents: 0 };
    let mut fds = [
        entry(pidfd.map(AsRawFd::as_raw_fd), libc::POLLIN),
        entry(Some(lines.printed.as_raw_fd()), libc::POLLIN),
        entry(Some(lines.record.as_raw_fd()), libc::POLLIN),
        entry(lines.request.as_ref().map(AsRawFd::as_raw_fd), libc::POLLOUT),
    ];
    let patience = until.saturating_duration_since(Instant::now()).as_micros().div_ceil(1000);
    // SAFETY: the array is live and its length is given.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as _, i32::try_from(patience).unwrap_or(i32::MAX)) };
    // A closed pipe is always ready; without this the loop would spin until the process ends.
    if fds[0].revents == 0
        && fds[1..].iter().any(|fd| fd.revents & libc::POLLHUP != 0 && fd.revents & libc::POLLIN == 0)
    {
        // SAFETY: as above, for the first entry alone.
        unsafe { libc::poll(fds.as_mut_ptr(), 1, i32::try_from(patience.min(3)).unwrap_or(3)) };
    }
    fds[0].revents != 0
}

/// The limit that the group is over, if any. The dear looks are taken less often.
fn over_limit(group: i32, ticks: u32, job: &Job, scratch: &Scratch) -> Option<Ended> {
    let limits = job.limits;
    if procfs::resident_of(group).is_some_and(|bytes| bytes > limits.memory) {
        return Some(Ended::MemoryLimit);
    }
    if ticks.is_multiple_of(3) {
        let members = procfs::group(group);
        if members.iter().map(|m| m.threads).sum::<u64>() > limits.processes.max(1) {
            return Some(Ended::ProcessLimit);
        }
        let sum: u64 = members.iter().map(|m| m.resident).sum();
        // Forked processes share most of their memory: count it once before judging.
        let fair = || members.iter().map(|m| procfs::proportional(m.pid).unwrap_or(m.resident)).sum::<u64>();
        if sum > limits.memory && fair() > limits.memory {
            return Some(Ended::MemoryLimit);
        }
    }
    let room = limits.file.saturating_mul(4);
    if ticks.is_multiple_of(10) && scratch.usage().is_none_or(|bytes| bytes > room) {
        return Some(Ended::DiskLimit);
    }
    None
}

/// Kills whatever is left of the group, collects the leader, and takes what is still in the pipes without waiting for their end: a
/// process that escaped could hold them open for ever.
fn finish(lines: &mut Lines, child: &mut Child, stopped: Option<Ended>, job: &Job) -> Ended {
    let group = child.id() as i32;
    // The leader is not collected yet, so its number cannot have been given to another process.
    kill_group(group);
    let status = child.wait();
    sweep(group);
    lines.exchange();
    if let Some(ended) = stopped {
        return ended;
    }
    if lines.output.total() > job.limits.output {
        return Ended::OutputLimit;
    }
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exited(code),
            (None, signal) => Ended::Signalled(signal.unwrap_or(0)),
        },
        Err(_) => Ended::Signalled(0),
    }
}

/// Waits until no process of the group is left, for a bounded time. Zombies whose collector is slow do not count.
fn sweep(group: i32) {
    let end = Instant::now() + Duration::from_secs(2);
    while kill_group(group) && Instant::now() < end {
        if cfg!(target_os = "linux") && procfs::group(group).iter().all(|member| member.is_zombie) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
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
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0_u32) } as RawFd;
        // SAFETY: a descriptor just made, owned by nobody else.
        (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

/// Whether the process has ended; it stays uncollected.
fn has_ended(pid: i32) -> bool {
    // SAFETY: `info` is live; WNOWAIT leaves the process for `Child::wait`.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut info, flags) == 0 && info.si_signo != 0
    }
}

impl Lines {
    /// Moves what can be moved without waiting.
    fn exchange(&mut self) {
        let mut buffer = [0_u8; 1 << 14];
        // Bounded, so that a loud program cannot keep the watcher from its other duties.
        for _ in 0..64 {
            match self.printed.read(&mut buffer) {
                Ok(count) if count > 0 => self.output.push(&buffer[..count]),
                _ => break,
            }
        }
        while self.report.len() <= LONGEST_RECORD {
            match self.record.read(&mut buffer) {
                Ok(count) if count > 0 => self.report.extend_from_slice(&buffer[..count]),
                _ => break,
            }
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

fn do_not_block(fd: RawFd) -> io::Result<()> {
    // SAFETY: plain numbers, on a descriptor that is open.
    let done = unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        if flags < 0 { flags } else { libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) }
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
