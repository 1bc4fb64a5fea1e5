//! Attempts of the probe's child: everything that must not work in a sandbox, and the little that must.
//!
//! Half of it before the kernel rules are on, so that namespaces are proved by themselves. Async-signal-safe
//! throughout.

use std::cell::Cell;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::spawn;
use super::tier::Tier;

/// Attempts, in order: in which tiers at all, and what is said when it went wrong.
const TRIES: [(Tier, &str); 16] = [
    (Tier::Namespaces, "the process number of the program was not a new one"),
    (Tier::Namespaces, "another process could be signalled from the process namespace"),
    (Tier::Namespaces, "the machine itself could be reached from the network namespace"),
    (Tier::Namespaces, "a network could be reached from the network namespace"),
    (Tier::Full, "a file of the user was visible"),
    (Tier::Full, "a process outside was visible"),
    (Tier::Full, "the root folder could be written"),
    (Tier::KernelRules, "privileges could still be gained"),
    (Tier::KernelRules, "system calls are not filtered"),
    (Tier::KernelRules, "a file of the user could be read"),
    (Tier::KernelRules, "a file of the user could be written"),
    (Tier::KernelRules, "a file could be made outside"),
    (Tier::KernelRules, "a network socket to elsewhere could be opened"),
    (Tier::KernelRules, "a local service could be reached"),
    (Tier::KernelRules, "another process could be signalled"),
    (Tier::KernelRules, "the program's own folder could not be written"),
];

/// Those of them that come before the kernel rules.
const EARLY: usize = 7;

/// Answers: one for each try, and whether the process limit let a process through.
pub const ANSWERS: usize = TRIES.len() + 1;

/// Data of the child, made before the fork.
pub struct Attack {
    /// The tier to prove.
    pub tier: Tier,
    /// A file of the user's.
    pub secret: CString,
    /// A file to be made outside.
    pub outside: CString,
    /// A file to be made inside.
    pub inside: CString,
    /// A process outside.
    pub parent: i32,
    /// A port of the machine that listens on its loopback interface.
    pub port: u16,
    /// Local services of the machine: one with a path, one with an abstract name.
    pub local: Vec<(libc::sockaddr_un, libc::socklen_t)>,
    /// Where the answers go.
    pub pipe: OwnedFd,
    /// One byte each, 0 for what ended as it should.
    pub answers: Cell<[u8; ANSWERS]>,
}

impl Attack {
    /// Attempts that namespaces alone must stop.
    pub fn before_the_rules(&self) {
        // SAFETY: plain numbers and strings that live; nothing allocates.
        let good: [bool; EARLY] = unsafe {
            let itself = libc::getpid();
            [
                itself == 2,
                // In a container this program may have the number that the program has in its namespace.
                self.parent <= itself || refused(libc::kill(self.parent, 0)),
                !reaches(libc::SOCK_STREAM, [127, 0, 0, 1], self.port),
                !reaches(libc::SOCK_DGRAM, [192, 0, 2, 1], 9),
                refused(libc::access(self.secret.as_ptr(), libc::F_OK)),
                !sees_others(),
                refused(libc::mkdir(c"/made".as_ptr(), 0o700)),
            ]
        };
        self.note(0, &good);
    }

    /// Attempts that must fail in every tier; sends the answers. Returns only when that fails.
    pub fn after_the_rules(&self) -> io::Result<()> {
        let write_new = libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC;
        // SAFETY: as above.
        let good: [bool; TRIES.len() - EARLY] = unsafe {
            [
                libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
                libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) == libc::SECCOMP_MODE_FILTER as i32,
                refused(libc::open(self.secret.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC)),
                refused(libc::open(self.secret.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC)),
                refused(libc::open(self.outside.as_ptr(), write_new, 0o600)),
                if self.tier == Tier::Full {
                    !reaches(libc::SOCK_STREAM, [127, 0, 0, 1], self.port)
                        && refused(libc::socket(libc::AF_NETLINK, libc::SOCK_DGRAM, 0))
                } else {
                    refused(libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0))
                },
                if self.tier == Tier::Full {
                    !self.local.iter().any(|(address, size)| reaches_local(address, *size))
                } else {
                    refused(libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0))
                },
                self.parent == libc::getpid() || refused(libc::kill(self.parent, 0)),
                !refused(libc::open(self.inside.as_ptr(), write_new, 0o600)),
            ]
        };
        self.note(EARLY, &good);
        let forked = spawn::fork(0);
        if matches!(forked, Ok(0)) {
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(0) };
        }
        let mut answers = self.answers.get();
        answers[ANSWERS - 1] = u8::from(forked.is_ok());
        // SAFETY: writes a live array to an open pipe, then ends the process.
        unsafe {
            let written = libc::write(self.pipe.as_raw_fd(), answers.as_ptr().cast(), answers.len());
            super::check(written as i32)?;
            libc::_exit(0)
        }
    }

    fn note(&self, from: usize, good: &[bool]) {
        let mut answers = self.answers.get();
        for ((answer, (tier, _)), good) in answers[from..].iter_mut().zip(&TRIES[from..]).zip(good) {
            *answer = u8::from(self.tier <= *tier && !good);
        }
        self.answers.set(answers);
    }
}

/// The first try that went wrong, in words.
pub fn complaint(answers: &[u8]) -> Option<&'static str> {
    TRIES.iter().zip(answers).find(|(_, answer)| **answer != 0).map(|((_, words), _)| *words)
}

fn refused(result: i32) -> bool {
    result < 0
}

/// Returns true if there is a way to an address: for datagrams, or to a port that listens. Sends no data.
fn reaches(kind: libc::c_int, address: [u8; 4], port: u16) -> bool {
    // SAFETY: plain numbers, a live address of the size that is told.
    unsafe {
        let fd = libc::socket(libc::AF_INET, kind | libc::SOCK_CLOEXEC, 0);
        let wait = libc::timeval { tv_sec: 1, tv_usec: 0 };
        let size = size_of::<libc::timeval>() as libc::socklen_t;
        libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_SNDTIMEO, (&raw const wait).cast(), size);
        let mut to: libc::sockaddr_in = std::mem::zeroed();
        to.sin_family = libc::AF_INET as libc::sa_family_t;
        to.sin_port = port.to_be();
        to.sin_addr.s_addr = u32::from_ne_bytes(address);
        let found = libc::connect(fd, (&raw const to).cast(), size_of::<libc::sockaddr_in>() as libc::socklen_t) == 0;
        libc::close(fd);
        found
    }
}

/// Returns true if a local service accepts a connection.
fn reaches_local(address: &libc::sockaddr_un, size: libc::socklen_t) -> bool {
    // SAFETY: plain numbers, a live address of at least the size that is told.
    unsafe {
        let fd = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        let found = libc::connect(fd, std::ptr::from_ref(address).cast(), size) == 0;
        libc::close(fd);
        found
    }
}

/// Returns true if `/proc` shows a process besides the two of the run.
fn sees_others() -> bool {
    /// Where the name begins in `struct linux_dirent64`, and where its length is told.
    const NAME: usize = 19;
    const LENGTH: usize = 16;
    let mut buffer = [0_u8; 4096];
    // SAFETY: a static string, plain numbers, a live buffer of the size that is told.
    unsafe {
        let fd = libc::open(c"/proc".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC);
        loop {
            let count = libc::syscall(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), buffer.len());
            let Some(mut rest) = usize::try_from(count).ok().filter(|n| *n > 0).and_then(|n| buffer.get(..n)) else {
                libc::close(fd);
                return false;
            };
            while let Some(&[low, high]) = rest.get(LENGTH..LENGTH + 2) {
                let name = rest.get(NAME..).unwrap_or_default();
                let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if digits > 0 && name.get(digits) == Some(&0) && !matches!(name[..digits], [b'1' | b'2']) {
                    libc::close(fd);
                    return true;
                }
                rest = rest.get(usize::from(u16::from_ne_bytes([low, high])).max(1)..).unwrap_or_default();
            }
        }
    }
}
