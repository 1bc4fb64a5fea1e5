//! The namespaces of a trial: number maps, another user for root, a root folder.
//!
//! What the child does consists of raw system calls only: it is a copy of a program with many threads, any of which may have held a lock.

use std::ffi::CString;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsRawFd, RawFd};

use super::layout::Step;
use super::{OTHER_USER as OTHER, check, root};

/// Namespaces to make, and what to do in them.
#[derive(Debug)]
pub struct Namespaces {
    /// The number maps and the root folder, in the tier that has them.
    pub root: Option<Root>,
}

/// What the tier "full" has besides.
#[derive(Debug)]
pub struct Root {
    /// How the root folder is built.
    pub steps: Vec<Step>,
    /// Who the program is.
    pub user: User,
}

/// Who the program of a trial is, and the lines of the number maps that make it so.
#[derive(Debug)]
pub enum User {
    /// Whoever runs this program, as the only user there is; the child can say so itself.
    Same {
        /// The line of `/proc/self/uid_map`.
        users: CString,
        /// The line of `/proc/self/gid_map`.
        groups: CString,
    },
    /// Another one, because the kernel's process limit does not hold for root. Only root can say so, from outside, and the child waits
    /// until that is done.
    Other {
        /// What the child waits at.
        gate: PipeReader,
        /// What opens it.
        opener: PipeWriter,
    },
}

impl User {
    /// The user keeps the number that he has.
    pub fn same() -> Self {
        // SAFETY: both take nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        // Digits and spaces hold no NUL.
        let line = |number: u32| CString::new(format!("{number} {number} 1")).unwrap_or_default();
        User::Same { users: line(user), groups: line(group) }
    }

    /// Root becomes another user.
    pub fn other() -> io::Result<Self> {
        let (gate, opener) = io::pipe()?;
        Ok(User::Other { gate, opener })
    }

    /// In the parent: says who the child is, if it cannot do that itself.
    pub fn introduce(&self, child: i32) -> io::Result<()> {
        let User::Other { opener, .. } = self else { return Ok(()) };
        let lines = format!("0 0 1\n{OTHER} {OTHER} 1\n");
        std::fs::write(format!("/proc/{child}/uid_map"), &lines)?;
        std::fs::write(format!("/proc/{child}/gid_map"), &lines)?;
        let mut opener = opener;
        opener.write_all(&[1])
    }

    /// In the child: settles who it is.
    fn settle(&self) -> io::Result<()> {
        match self {
            User::Same { users, groups } => {
                write(c"/proc/self/setgroups", c"deny")?;
                write(c"/proc/self/uid_map", users)?;
                write(c"/proc/self/gid_map", groups)
            }
            User::Other { gate, opener } => {
                let mut byte = [0_u8];
                // SAFETY: closes this process's own copy, which nobody uses; reads into a live array.
                unsafe {
                    libc::close(opener.as_raw_fd());
                    let count = libc::read(gate.as_raw_fd(), byte.as_mut_ptr().cast(), 1);
                    if count == 1 { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
                }
            }
        }
    }

    /// The number of the user and its group, if it is another one than this program's.
    pub fn other_number(&self) -> Option<u32> {
        matches!(self, User::Other { .. }).then_some(OTHER)
    }

    /// In the process that becomes the program: becomes that user.
    pub fn become_it(&self) -> io::Result<()> {
        let User::Other { .. } = self else { return Ok(()) };
        super::child::drop_bounding();
        // SAFETY: plain numbers. Raw calls, because libc's own change all threads of a program, with locks.
        unsafe {
            check(libc::syscall(libc::SYS_setgroups, 0_usize, 0_usize) as i32)?;
            check(libc::syscall(libc::SYS_setresgid, OTHER, OTHER, OTHER) as i32)?;
            check(libc::syscall(libc::SYS_setresuid, OTHER, OTHER, OTHER) as i32)
        }
    }
}

impl Namespaces {
    /// How many tasks the program's user has in there before the program starts: the first process, unless that is another user's.
    pub fn tasks_before(&self) -> u64 {
        u64::from(self.root.as_ref().is_none_or(|root| root.user.other_number().is_none()))
    }

    /// The flags for `clone`.
    pub fn flags(&self) -> i32 {
        let all =
            libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
        if self.root.is_some() { all | libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP } else { all }
    }
}

/// Settles who is who.
pub fn map_numbers(root: &Root) -> io::Result<()> {
    root.user.settle()
}

/// Builds the root folder, and lets the file rules allow reading the `/proc` in it, which did not exist when they were made.
pub fn change_root(root: &Root, landlock: Option<RawFd>) -> io::Result<()> {
    let has_proc = root::build(&root.steps)?;
    match landlock {
        Some(rules) if has_proc => super::landlock::allow_reading(rules, c"/proc"),
        _ => Ok(()),
    }
}

fn write(path: &std::ffi::CStr, text: &std::ffi::CStr) -> io::Result<()> {
    // SAFETY: live strings; the length is that of the text.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(fd)?;
        let written = libc::write(fd, text.as_ptr().cast(), text.count_bytes());
        let result = check(written as i32);
        libc::close(fd);
        result
    }
}
