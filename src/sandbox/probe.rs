//! Proves a tier: a child is started as for any program and then tries what must not work.
//!
//! Needs no interpreter and takes a few milliseconds.

use std::cell::Cell;
use std::ffi::CString;
use std::fs;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use super::attack::{self, ANSWERS, Attack};
use super::child::{Plan, Session, Task};
use super::confinement::Mechanisms;
use super::scratch::{self, Scratch};
use super::tier::Tier;
use super::{Job, Limits, limits, namespaces, spawn};

/// Runs the child and reads its answers. Whether the kernel keeps the process limit, or why this tier is not
/// to be had.
pub fn prove(mechanisms: &Mechanisms) -> Result<bool, String> {
    let text = |error: io::Error| format!("the sandbox could not be tried: {error}");
    let (outside, inside) = (Scratch::new().map_err(text)?, Scratch::new().map_err(text)?);
    let secret = outside.path().join("secret");
    fs::write(&secret, "secret").map_err(text)?;
    let name = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(|e| text(e.into()));
    let (mut answers, pipe) = io::pipe().map_err(text)?;
    // Where there is no loopback interface, nothing can be reached by it.
    let service = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok();
    let port = service.as_ref().and_then(|service| service.local_addr().ok()).map_or(0, |address| address.port());
    let (path, abstract_name) = (outside.path().join("service"), format!("bass-tui-probe-{}", std::process::id()));
    // They listen until the answers are there.
    let by_path = UnixListener::bind(&path).ok();
    let by_name = SocketAddr::from_abstract_name(&abstract_name).and_then(|name| UnixListener::bind_addr(&name)).ok();
    let by_path = by_path.iter().map(|_| path.as_os_str().as_bytes().to_vec());
    let by_name = by_name.iter().map(|_| [b"\0", abstract_name.as_bytes()].concat());
    let attack = Attack {
        port,
        local: by_path.chain(by_name).filter_map(|name| local_address(&name)).collect(),
        tier: mechanisms.tier,
        secret: name(&secret)?,
        outside: name(&outside.path().join("made"))?,
        inside: name(&inside.path().join("made"))?,
        parent: std::process::id() as i32,
        pipe: pipe.into(),
        answers: Cell::new([0; ANSWERS]),
    };
    // So low that the next process is one too many, wherever the kernel counts.
    let few = Limits { processes: 1, ..Limits::default() };
    // Nothing is started; its own folder is there in any case.
    let confinement = mechanisms.confine(&Job::new(inside.path(), Vec::new(), few), inside.path())?;
    let namespaces = confinement.namespaces.as_ref();
    if let Some(user) = namespaces.and_then(namespaces::Namespaces::other_user) {
        scratch::give(inside.path(), user).map_err(text)?;
    }
    let running = namespaces.map_or(0, namespaces::Namespaces::tasks_before);
    // This program may have more files open than a trial may: the child has a copy of all.
    let mut rlimits = limits::rlimits(&few, 0, Some(running));
    rlimits.retain(|(resource, _)| *resource != libc::RLIMIT_NOFILE as i32);
    let plan = Plan {
        session: Session::Own,
        rlimits,
        streams: None,
        keep: Vec::new(),
        confinement: Some(confinement),
        cgroup: None,
        task: Task::Attack(attack),
    };
    let process = spawn::spawn(plan)?;
    let mut bytes = Vec::new();
    let read = answers.read_to_end(&mut bytes);
    process.collect()?;
    read.map_err(text)?;
    evaluate(&bytes)
}

/// The address of a local service: a path, or an abstract name behind a zero byte. `None` if it is too long.
fn local_address(name: &[u8]) -> Option<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: all zeros is an address without a name.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, byte) in address.sun_path.get_mut(..name.len())?.iter_mut().zip(name) {
        *to = *byte as libc::c_char;
    }
    Some((address, (std::mem::offset_of!(libc::sockaddr_un, sun_path) + name.len()) as libc::socklen_t))
}

/// Facts that the answers prove.
fn evaluate(answers: &[u8]) -> Result<bool, String> {
    if answers.len() != ANSWERS {
        return Err("its attack gave no answer".to_owned());
    }
    match attack::complaint(answers) {
        Some(words) => Err(format!("in its attack {words}")),
        None => Ok(answers[ANSWERS - 1] == 0),
    }
}

/// The tiers to try, the best first, and whether as another user: for root that makes the process limit hold.
pub fn tiers(best: Tier, is_root: bool) -> impl Iterator<Item = (Tier, bool)> {
    let all = [(Tier::Full, true), (Tier::Full, false), (Tier::Namespaces, false), (Tier::KernelRules, false)];
    all.into_iter().filter(move |(tier, other)| *tier >= best && (is_root || !other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_try_is_no_protection() {
        let mut answers = [0_u8; ANSWERS];
        assert_eq!(evaluate(&answers), Ok(true));
        answers[ANSWERS - 1] = 1;
        assert_eq!(evaluate(&answers), Ok(false));
        answers[12] = 1;
        assert!(evaluate(&answers).unwrap_err().contains("network socket"));
        assert!(evaluate(&[]).is_err());
    }

    #[test]
    fn lesser_tiers_are_tried_after_better_ones() {
        let names = |best, is_root| tiers(best, is_root).map(|(tier, other)| (tier.name(), other)).collect::<Vec<_>>();
        let all = [("full", true), ("full", false), ("namespaces", false), ("kernel rules", false)];
        assert_eq!(names(Tier::Full, true), all);
        assert_eq!(names(Tier::Full, false), all[1..]);
        assert_eq!(names(Tier::KernelRules, true), all[3..]);
        assert!(names(Tier::None, true).is_empty());
    }
}
