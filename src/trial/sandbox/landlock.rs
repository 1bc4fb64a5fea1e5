//! Landlock: which files the child can reach, and that it cannot connect or send signals out.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};

/// What every program needs to start: libraries, and nothing that belongs to the user.
const SYSTEM: [&str; 8] =
    ["/usr", "/lib", "/lib32", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/alternatives"];
/// Devices without memory.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"];

/// The newest version this program knows. The kernel's own may be older or newer.
const KNOWN: ABI = ABI::V6;

/// Version of Landlock in the running kernel; 0 if it has none or does not use it.
pub fn abi() -> u32 {
    const VERSION_FLAG: u32 = 1;
    // SAFETY: with this flag the call reads no memory and returns the version.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION_FLAG) };
    u32::try_from(version).unwrap_or(0)
}

/// Everything is forbidden but reading the system's and the given folders, and using `writable`.
pub fn ruleset(writable: &Path, readable: &[PathBuf]) -> io::Result<OwnedFd> {
    let error = |e: landlock::RulesetError| io::Error::other(e.to_string());
    let read = AccessFs::from_read(KNOWN);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))
        .and_then(|r| r.handle_access(AccessNet::from_all(KNOWN)))
        .and_then(|r| r.scope(Scope::from_all(KNOWN)))
        .and_then(Ruleset::create)
        .map_err(error)?;
    let system = SYSTEM.iter().map(Path::new);
    for path in system.chain(readable.iter().map(PathBuf::as_path)) {
        // What is not there needs no rule.
        if let Ok(fd) = PathFd::new(path) {
            let access = if path.is_dir() { read } else { AccessFs::ReadFile.into() };
            ruleset = ruleset.add_rule(PathBeneath::new(fd, access)).map_err(error)?;
        }
    }
    for path in DEVICES {
        if let Ok(fd) = PathFd::new(path) {
            let access = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
            ruleset = ruleset.add_rule(PathBeneath::new(fd, access)).map_err(error)?;
        }
    }
    let fd = PathFd::new(writable).map_err(io::Error::other)?;
    ruleset = ruleset.add_rule(PathBeneath::new(fd, AccessFs::from_all(KNOWN))).map_err(error)?;
    Option::<OwnedFd>::from(ruleset).ok_or_else(|| io::Error::other("the kernel made no Landlock rules"))
}

/// Puts this process under the rules. System call only; needs `no_new_privs`.
pub fn enter(ruleset: &OwnedFd) -> io::Result<()> {
    // SAFETY: a system call with plain arguments.
    let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) };
    super::limits::check(done as i32)
}
