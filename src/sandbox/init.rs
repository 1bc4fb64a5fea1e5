//! The init process of a run: it starts the program, reaps every process that lost its parent, and ends all
//! when the program or this process's parent is gone.
//!
//! It is a copy of a program with many threads, any of which may have held a lock: raw system calls only.

use std::os::fd::RawFd;

use super::child::Parent;
use super::report::Message;

/// Reaps until `program` has ended, reports how, and ends. In a process namespace the kernel then ends all
/// others in it; elsewhere the supervisor does.
pub fn reap(program: i32, parent: &Parent) -> ! {
    // SAFETY: plain numbers. The report becomes descriptor 0 and the lifeline 1, by way of unused numbers;
    // all others are closed, as a pipe held here would never end.
    unsafe {
        let duplicate = |fd| libc::fcntl(fd, libc::F_DUPFD, 3);
        let (report, lifeline) = (duplicate(parent.report), duplicate(parent.lifeline));
        libc::dup2(report, 0);
        libc::dup2(lifeline, 1);
        libc::syscall(libc::SYS_close_range, 2_u32, u32::MAX, 0_u32);
    }
    let _ = super::child::drop_capabilities();
    unmap(&parent.mappings);
    let ended = ends_of_children();
    loop {
        let mut status = 0;
        loop {
            // SAFETY: `status` is live.
            let ended = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
            if ended == program {
                Message::Ended(status).send(0);
                // SAFETY: plain numbers; ends the group, and so this process.
                unsafe {
                    libc::kill(0, libc::SIGKILL);
                    libc::_exit(0)
                }
            }
            if ended <= 0 {
                break;
            }
        }
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds = [entry(1), entry(ended)];
        let mut signals = [0_u8; 512];
        // SAFETY: live arrays and their lengths.
        unsafe {
            libc::poll(fds.as_mut_ptr(), 2, if ended < 0 { 5 } else { 1000 });
            libc::read(ended, signals.as_mut_ptr().cast(), signals.len());
        }
        if fds[0].revents != 0 {
            // SAFETY: plain numbers. The whole group, this process included.
            unsafe { libc::kill(0, libc::SIGKILL) };
        }
    }
}

/// A descriptor that becomes readable when a child ends; negative if there is none.
fn ends_of_children() -> RawFd {
    // SAFETY: a live signal set, filled before it is read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    }
}

/// Unmaps memory that this process does not use.
fn unmap(mappings: &[(usize, usize)]) {
    // The list itself lies in what it names.
    let mut ranges = [(0_usize, 0_usize); 64];
    for (copy, range) in ranges.iter_mut().zip(mappings) {
        *copy = *range;
    }
    // SAFETY: takes nothing; every thread has an errno.
    let errno = unsafe { libc::__errno_location() } as usize;
    let here = std::ptr::from_ref(&ranges) as usize;
    for (start, end) in ranges {
        if end > start && ![errno, here].iter().any(|at| (start..end).contains(at)) {
            // SAFETY: the stack and errno lie elsewhere, and from here on nothing else is used.
            unsafe { libc::munmap(start as *mut libc::c_void, end - start) };
        }
    }
}
