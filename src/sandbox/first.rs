//! The first process of a trial: the program's parent, and all that is left to end it when this program is gone.
//!
//! It is a copy of a program with many threads, any of which may have held a lock: raw system calls only.

use std::os::fd::RawFd;

/// The life of the first process after it started the program as `child`: collects until that one has ended, tells how, and ends. In a
/// process namespace the kernel then ends everybody else in it; elsewhere the supervisor does, and if that is gone, this process.
pub fn preside(child: i32, report: RawFd, leash: RawFd, ballast: &[(usize, usize)]) -> ! {
    // Only what stays for the program is left to it: nobody waits for the end of a pipe that is held here.
    // SAFETY: plain numbers. The report becomes descriptor 0 and the leash 1, by way of numbers that nobody has; the others are closed.
    unsafe {
        let (high_report, high_leash) = (libc::fcntl(report, libc::F_DUPFD, 3), libc::fcntl(leash, libc::F_DUPFD, 3));
        libc::dup2(high_report, 0);
        libc::dup2(high_leash, 1);
        libc::syscall(libc::SYS_close_range, 2_u32, u32::MAX, 0_u32);
    }
    // Nothing is left to do that would need a right.
    let _ = super::child::drop_capabilities();
    give_back(ballast);
    let ended = ends_of_children();
    loop {
        let mut status = 0;
        // All that have ended so far: in a process namespace also those that lost their parent.
        loop {
            // SAFETY: `status` is live.
            let ended = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
            if ended == child {
                super::report::Message::Ended(status).send(0);
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
        let mut told = [0_u8; 512];
        // SAFETY: live arrays and their lengths.
        unsafe {
            libc::poll(fds.as_mut_ptr(), 2, if ended < 0 { 5 } else { 1000 });
            libc::read(ended, told.as_mut_ptr().cast(), told.len());
        }
        if fds[0].revents != 0 {
            // SAFETY: plain numbers. The whole group, this process included.
            unsafe { libc::kill(0, libc::SIGKILL) };
        }
    }
}

/// A descriptor that can be read when a child has ended; negative if there is none to be had.
fn ends_of_children() -> RawFd {
    // SAFETY: a live signal set, filled before it is read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    }
}

/// Unmaps memory that this process will not look at again.
fn give_back(ballast: &[(usize, usize)]) {
    // The list itself lies in what it names.
    let mut ranges = [(0_usize, 0_usize); 64];
    for (place, range) in ranges.iter_mut().zip(ballast) {
        *place = *range;
    }
    // SAFETY: gives the address of this thread's errno.
    let errno = unsafe { errno_address() };
    let here = std::ptr::from_ref(&ranges) as usize;
    for (start, end) in ranges {
        if end > start && ![errno, here].iter().any(|at| (start..end).contains(at)) {
            // SAFETY: the stack and errno lie elsewhere, and from here on nothing else is used.
            unsafe { libc::munmap(start as *mut libc::c_void, end - start) };
        }
    }
}

unsafe fn errno_address() -> usize {
    // SAFETY: takes nothing; every thread has one.
    unsafe { libc::__errno_location() as usize }
}
