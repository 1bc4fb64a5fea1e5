//! The namespaces of a run: maps of user numbers, another user for root, a root folder.
//!
//! The child uses raw system calls only: it is a copy of a program with many threads, any of
//! which may have held a lock.

use std::ffi::CString;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::AsRawFd;

use super::child::{drop_bounding, write_file};
use super::layout::Step;
use super::{OTHER_USER as OTHER, check};

/// Namespaces to make, and what to do in them.
#[derive(Debug)]
pub struct Namespaces {
    /// The number maps and the root folder, in the tier that has them.
    pub root: Option<Root>,
}

/// Further parts of the tier "full".
#[derive(Debug)]
pub struct Root {
    /// How the root folder is built.
    pub steps: Vec<Step>,
    /// Who the program is.
    pub user: User,
    /// Landlock rights in its folders in memory.
    pub in_memory: u64,
}

/// Who the program runs as, and what its number maps need.
#[derive(Debug)]
pub enum User {
    /// Whoever runs this program, as the only user there is; the child can say so itself.
    Same {
        /// The line of `/proc/self/uid_map`.
        users: CString,
        /// The line of `/proc/self/gid_map`.
        groups: CString,
    },
    /// Another one, because the kernel's process limit does not hold for root. The parent has to write the
    /// maps, and the child waits.
    Other {
        /// Pipe that the child waits for.
        mapped: PipeReader,
        /// Pipe that tells it that the maps are written.
        done: PipeWriter,
    },
}

impl User {
    /// The user keeps the number that he has.
    pub fn same() -> Self {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        // Digits and spaces hold no NUL.
        let line = |number: u32| CString::new(format!("{number} {number} 1")).unwrap_or_default();
        User::Same { users: line(user), groups: line(group) }
    }

    /// Root becomes another user.
    pub fn other() -> io::Result<Self> {
        let (mapped, done) = io::pipe()?;
        Ok(User::Other { mapped, done })
    }

    /// In the parent: writes the maps of the child, if it cannot do that itself.
    pub fn map_child(&self, child: i32) -> io::Result<()> {
        let User::Other { done, .. } = self else { return Ok(()) };
        let lines = format!("0 0 1\n{OTHER} {OTHER} 1\n");
        std::fs::write(format!("/proc/{child}/uid_map"), &lines)?;
        std::fs::write(format!("/proc/{child}/gid_map"), &lines)?;
        let mut done = done;
        done.write_all(&[1])
    }

    /// In the child: writes its maps, or waits for them.
    pub fn map(&self) -> io::Result<()> {
        match self {
            User::Same { users, groups } => {
                write_file(c"/proc/self/setgroups", c"deny")?;
                write_file(c"/proc/self/uid_map", users)?;
                write_file(c"/proc/self/gid_map", groups)
            }
            User::Other { mapped, done } => {
                let mut byte = [0_u8];
                // SAFETY: closes this process's own copy, which nobody uses; reads into a live array.
                unsafe {
                    libc::close(done.as_raw_fd());
                    let count = libc::read(mapped.as_raw_fd(), byte.as_mut_ptr().cast(), 1);
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
    pub fn switch(&self) -> io::Result<()> {
        let User::Other { .. } = self else { return Ok(()) };
        drop_bounding();
        // SAFETY: plain numbers. Raw calls, because libc's own change all threads of a program, with locks.
        unsafe {
            check(libc::syscall(libc::SYS_setgroups, 0_usize, 0_usize) as i32)?;
            check(libc::syscall(libc::SYS_setresgid, OTHER, OTHER, OTHER) as i32)?;
            check(libc::syscall(libc::SYS_setresuid, OTHER, OTHER, OTHER) as i32)
        }
    }
}

impl Namespaces {
    /// The number of the program's user, if it is another one than this program's.
    pub fn other_user(&self) -> Option<u32> {
        self.root.as_ref()?.user.other_number()
    }

    /// How many tasks the program's user has in there before the program starts: the init process, unless
    /// that is another user's.
    pub fn tasks_before(&self) -> u64 {
        u64::from(self.other_user().is_none())
    }

    /// The flags for `clone`.
    pub fn flags(&self) -> i32 {
        let all =
            libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
        if self.root.is_some() { all | libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP } else { all }
    }
}
