//! One child process group from start to end: limits, watching, output, and nothing left behind.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Limits;
use super::sandbox::{Sandbox, memory_of_group};
use super::verdict::{Ending, Remains};

/// What to run.
pub struct Job<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [&'a str],
    /// Working folder, home and place for temporary files; the only one it can write to.
    pub folder: &'a Path,
    /// Folders it can read, besides the system's libraries.
    pub readable: &'a [PathBuf],
    /// The layers of protection.
    pub sandbox: &'a Sandbox,
    /// Limits.
    pub limits: Limits,
    /// What it reads on descriptor 3.
    pub input: Vec<u8>,
}

/// Descriptor the child reads its input from, and the one it writes its record to.
const INPUT_FD: RawFd = 3;
const RECORD_FD: RawFd = 4;

/// Bytes kept from the beginning and from the end of each output.
const KEPT: usize = 32 << 10;
/// A record is one short line; more than this is not one.
const RECORD_LIMIT: usize = 64 << 10;
/// How often limits and cancellation are looked at.
const TICK: Duration = Duration::from_millis(25);

/// Runs the job to its end. When this returns, no process of it is left.
pub fn run(job: Job<'_>, cancel: &Arc<AtomicBool>) -> io::Result<Remains> {
    let start = Instant::now();
    let (input_read, input_write) = pipe()?;
    let (record_read, record_write) = pipe()?;
    let mut command = Command::new(job.program);
    command
        .args(job.args)
        .current_dir(job.folder)
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .env("PYTHONHASHSEED", "0")
        .env("HOME", job.folder)
        .env("TMPDIR", job.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let prepared = job.sandbox.prepare(job.folder, job.readable, &job.limits)?;
    let (input_fd, record_fd) = (input_read.as_raw_fd(), record_write.as_raw_fd());
    // SAFETY: between fork and exec the closure makes system calls only: it neither allocates nor takes locks.
    unsafe {
        command.pre_exec(move || {
            place_descriptors(input_fd, record_fd)?;
            prepared.enter()
        });
    }
    let mut child = command.spawn()?;
    drop((input_read, record_write));
    let mut group = Group { id: child.id() as i32, ended: false };

    // A child that never reads must not hold us up; one that has gone closes the pipe.
    let mut input_write = File::from(input_write);
    let input = job.input;
    let writer = std::thread::spawn(move || drop(input_write.write_all(&input)));

    let mut watch = Watch {
        record: Stream::new(record_read, RECORD_LIMIT),
        out: Stream::from(child.stdout.take().map(OwnedFd::from)),
        err: Stream::from(child.stderr.take().map(OwnedFd::from)),
        limits: job.limits,
        start,
        group: group.id,
    };
    let ending = watch.until_end(&child, cancel);
    group.kill();
    let status = child.wait()?;
    // Whatever is in the pipes now was written before the end. Nobody is left to write more, so there is no end of file to wait for.
    watch.drain();
    drop(writer);
    let ending = ending.unwrap_or_else(|| match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Signalled(signal.unwrap_or(0)),
    });
    let mut output = watch.out.text();
    output.extend(watch.err.text());
    Ok(Remains { ending, record: watch.record.head, output, duration: start.elapsed() })
}

/// A process group; killed when dropped.
struct Group {
    id: i32,
    ended: bool,
}

impl Group {
    fn kill(&mut self) {
        if !self.ended {
            self.ended = true;
            // SAFETY: plain system call. The group's leader has not been waited for, so the number is still ours.
            unsafe { libc::kill(-self.id, libc::SIGKILL) };
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What is looked at while the child runs.
struct Watch {
    record: Stream,
    out: Stream,
    err: Stream,
    limits: Limits,
    start: Instant,
    group: i32,
}

impl Watch {
    /// Waits for the end of the child; `Some` if it has to be ended by us.
    fn until_end(&mut self, child: &Child, cancel: &AtomicBool) -> Option<Ending> {
        let mut looked_at_memory = self.start;
        loop {
            if has_ended(child) {
                return None;
            }
            if cancel.load(Ordering::Relaxed) {
                return Some(Ending::Cancelled);
            }
            let elapsed = self.start.elapsed();
            if elapsed >= self.limits.wall {
                return Some(Ending::Timeout(self.limits.wall));
            }
            if self.out.total + self.err.total > self.limits.output {
                return Some(Ending::Limit(format!("it printed more than {} MB", self.limits.output >> 20)));
            }
            if looked_at_memory.elapsed() > 2 * TICK {
                looked_at_memory = Instant::now();
                if memory_of_group(self.group) > self.limits.memory {
                    return Some(Ending::Limit(format!("it used more than {} MB of memory", self.limits.memory >> 20)));
                }
            }
            let left = self.limits.wall.saturating_sub(elapsed).min(TICK);
            if self.wait(left) == 0 && !self.any_open() {
                // All pipes are closed, so nothing will wake us: look again soon.
                std::thread::sleep(left.min(Duration::from_millis(2)));
            }
        }
    }

    fn any_open(&self) -> bool {
        [&self.record, &self.out, &self.err].iter().any(|s| s.fd.is_some())
    }

    /// Waits for something to read and reads it. Returns the number of streams that had something.
    fn wait(&mut self, timeout: Duration) -> usize {
        let mut streams = [&mut self.record, &mut self.out, &mut self.err];
        let mut polled: Vec<libc::pollfd> = streams
            .iter()
            .map(|s| libc::pollfd {
                // A negative descriptor is passed over.
                fd: s.fd.as_ref().map_or(-1, AsRawFd::as_raw_fd),
                events: libc::POLLIN,
                revents: 0,
            })
            .collect();
        let ms = timeout.as_millis().max(1) as i32;
        // SAFETY: the array lives through the call and its length is given.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, ms) };
        if ready <= 0 {
            return 0;
        }
        for (stream, polled) in streams.iter_mut().zip(&polled) {
            if polled.revents != 0 {
                stream.read();
            }
        }
        ready as usize
    }

    fn drain(&mut self) {
        for stream in [&mut self.record, &mut self.out, &mut self.err] {
            while stream.total < 2 * self.limits.output && stream.read() > 0 {}
        }
    }
}

/// Whether the child has ended; it stays to be waited for, so that its number cannot be given to another process.
fn has_ended(child: &Child) -> bool {
    // SAFETY: `info` is plain data that the system fills in.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, child.id(), &raw mut info, flags) == 0 && info.si_pid() != 0
    }
}

/// The reading end of a pipe, and what has come through it: the beginning and the end.
struct Stream {
    fd: Option<File>,
    keep: usize,
    total: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl From<Option<OwnedFd>> for Stream {
    fn from(fd: Option<OwnedFd>) -> Self {
        Self { fd: fd.and_then(nonblocking), keep: KEPT, total: 0, head: Vec::new(), tail: Vec::new() }
    }
}

impl Stream {
    fn new(fd: OwnedFd, keep: usize) -> Self {
        Self { keep, ..Self::from(Some(fd)) }
    }

    /// Reads what is there, once; returns how many bytes. The end of the stream closes it.
    fn read(&mut self) -> usize {
        let mut buffer = [0; 64 << 10];
        let Some(fd) = &mut self.fd else { return 0 };
        match fd.read(&mut buffer) {
            Ok(0) => {
                self.fd = None;
                0
            }
            Ok(n) => {
                self.total += n as u64;
                let (first, rest) = buffer[..n].split_at(n.min(self.keep - self.head.len()));
                self.head.extend_from_slice(first);
                self.tail.extend_from_slice(rest);
                let excess = self.tail.len().saturating_sub(self.keep);
                self.tail.drain(..excess);
                n
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
            Err(_) => {
                self.fd = None;
                0
            }
        }
    }

    /// What was kept, with a note on what was not.
    fn text(&self) -> Vec<u8> {
        let mut text = self.head.clone();
        let left_out = self.total as usize - self.head.len() - self.tail.len();
        if left_out > 0 {
            text.extend(format!("\n[{left_out} bytes left out]\n").into_bytes());
        }
        text.extend(&self.tail);
        text
    }
}

fn nonblocking(fd: OwnedFd) -> Option<File> {
    // SAFETY: the descriptor is open; the call changes a flag of it.
    let set = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    (set == 0).then(|| File::from(fd))
}

/// A pipe whose ends no other child inherits.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((OwnedFd::from(reader), OwnedFd::from(writer)))
}

/// In the child: input and record at their places, everything beyond closed on exec.
fn place_descriptors(input: RawFd, record: RawFd) -> io::Result<()> {
    let check = |outcome: i32| if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(outcome) };
    // SAFETY: system calls on descriptors of this process only.
    unsafe {
        // First out of the way: either may stand at the other's place.
        let input = check(libc::fcntl(input, libc::F_DUPFD_CLOEXEC, 10))?;
        let record = check(libc::fcntl(record, libc::F_DUPFD_CLOEXEC, 10))?;
        check(libc::dup2(input, INPUT_FD))?;
        check(libc::dup2(record, RECORD_FD))?;
    }
    super::sandbox::close_from(RECORD_FD + 1)
}
