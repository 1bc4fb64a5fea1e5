//! Proves the protection: a child puts everything on and then tries what must not work.
//!
//! Needs no interpreter and takes a few milliseconds.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::{Limits, Protection};
use super::child::{Plan, Rules, enter};
use super::scratch::Scratch;
use super::{landlock, limits};

/// What the child tries, in order, and what it says when that went wrong.
const TRIES: &[&str] = &[
    "privileges could still be gained",
    "system calls are not filtered",
    "a file of the user could be read",
    "a file of the user could be written",
    "a file could be made outside",
    "a network socket could be opened",
    "a local socket could be opened",
    "another process could be signalled",
    "the folder of the trial could not be written",
];

/// What the child needs, made before the fork.
struct Targets {
    secret: CString,
    outside: CString,
    inside: CString,
    parent: i32,
}

/// Runs the child and reads its answers.
pub fn prove(kernel: u32, filters: &[seccompiler::BpfProgram]) -> Result<Protection, String> {
    let text = |error: io::Error| format!("the sandbox could not be tried: {error}");
    let (outside, inside) = (Scratch::new().map_err(text)?, Scratch::new().map_err(text)?);
    let secret = outside.path().join("secret");
    fs::write(&secret, "secret").map_err(text)?;
    let name = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(|e| text(e.into()));
    let targets = Targets {
        secret: name(&secret)?,
        outside: name(&outside.path().join("made"))?,
        inside: name(&inside.path().join("made"))?,
        // SAFETY: getpid takes nothing and cannot fail.
        parent: unsafe { libc::getpid() },
    };
    let (mut answers, answers_end) = io::pipe().map_err(text)?;
    let plan = Plan {
        rlimits: limits::rlimits(&Limits::default(), None),
        keep: Vec::new(),
        complaints: answers_end.as_raw_fd(),
        parent: targets.parent,
        rules: Some(Rules { landlock: landlock::ruleset(kernel, &[], &[], inside.path())?, filters: filters.to_vec() }),
    };
    // SAFETY: the child makes only async-signal-safe calls and leaves by _exit.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(text(io::Error::last_os_error()));
    }
    if pid == 0 {
        let entered = enter(&plan).is_ok();
        let mut worked = [1_u8; TRIES.len()];
        if entered {
            attempt(&targets, &mut worked);
        }
        // SAFETY: writes a live array to an open pipe, then leaves without running anything of the parent's.
        unsafe {
            if entered {
                libc::write(answers_end.as_raw_fd(), worked.as_ptr().cast(), worked.len());
            }
            libc::_exit(0);
        }
    }
    drop((answers_end, plan));
    let mut bytes = Vec::new();
    let read = answers.read_to_end(&mut bytes);
    // SAFETY: waits for the child just made; no status is wanted.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
    read.map_err(text)?;
    judge(kernel, &bytes)
}

/// Tries everything; a try's byte becomes 0 when it ended as it should. Async-signal-safe.
fn attempt(targets: &Targets, worked: &mut [u8; TRIES.len()]) {
    // SAFETY: plain numbers and strings made before the fork; nothing allocates.
    unsafe {
        let refused = |result: i32| result < 0;
        let write_new = libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC;
        let good = [
            libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
            libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) == libc::SECCOMP_MODE_FILTER as i32,
            refused(libc::open(targets.secret.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC)),
            refused(libc::open(targets.secret.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC)),
            refused(libc::open(targets.outside.as_ptr(), write_new, 0o600)),
            refused(libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0)),
            refused(libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0)),
            refused(libc::kill(targets.parent, 0)),
            !refused(libc::open(targets.inside.as_ptr(), write_new, 0o600)),
        ];
        for (byte, good) in worked.iter_mut().zip(good) {
            *byte = u8::from(!good);
        }
    }
}

/// The protection that the answers prove.
fn judge(kernel: u32, answers: &[u8]) -> Result<Protection, String> {
    if let [stage] = answers {
        return Err(format!("the kernel refused a protection ({})", super::child::stage_name(*stage)));
    }
    if answers.len() != TRIES.len() {
        return Err("the trial run of the sandbox gave no answer".to_owned());
    }
    if let Some(at) = answers.iter().position(|&answer| answer != 0) {
        return Err(format!("in a trial run of the sandbox {}", TRIES[at]));
    }
    Ok(Protection {
        tier: "kernel rules".to_owned(),
        landlock_abi: kernel,
        seccomp: true,
        no_new_privs: true,
        limits: true,
        summary: "sandbox: kernel rules (files, network, signals); limits per process, memory also by watching"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_try_is_no_protection() {
        let mut answers = [0_u8; TRIES.len()];
        assert!(judge(6, &answers).unwrap().is_isolated());
        answers[5] = 1;
        assert!(judge(6, &answers).unwrap_err().contains("network socket"));
        assert!(judge(6, &[6]).unwrap_err().contains("file rules"));
        assert!(judge(6, &[]).is_err());
    }
}
