//! Landlock: the files a program may read and write, its network access, and the processes it may signal.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};

/// Folders and files every interpreter needs. Those that do not exist on this machine are left out.
pub const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/ld.so.cache",
    "/etc/ld.so.preload", "/dev/zero", "/dev/urandom", "/dev/random",
];

/// The Landlock version of the running kernel; 0 where it is absent or switched off.
pub fn kernel_abi() -> u32 {
    /// `LANDLOCK_CREATE_RULESET_VERSION` of linux/landlock.h.
    const VERSION: u32 = 1;
    // SAFETY: with a null attribute, size 0 and the version flag the call only returns a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    u32::try_from(abi).unwrap_or(0)
}

/// The newest version whose rights both the kernel and this program know.
fn usable(kernel: u32) -> ABI {
    match kernel {
        0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        _ => ABI::V7,
    }
}

/// A ruleset that allows reading the system's and the interpreter's folders and writing in `scratch` and
/// `writable`, and TCP where the network is the program's own, and nothing else.
pub fn ruleset(
    kernel: u32,
    readable: &[PathBuf],
    writable: &[PathBuf],
    scratch: &Path,
    has_network: bool,
) -> Result<OwnedFd, String> {
    let abi = usable(kernel);
    let failed = |error: &dyn std::fmt::Display| format!("the file rules could not be made: {error}");
    let mut rules = Ruleset::default()
        // No silent weakening: every right that this kernel supports must be enforced as requested.
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(|e| failed(&e))?;
    if !has_network && !AccessNet::from_all(abi).is_empty() {
        rules = rules.handle_access(AccessNet::from_all(abi)).map_err(|e| failed(&e))?;
    }
    if !Scope::from_all(abi).is_empty() {
        rules = rules.scope(Scope::from_all(abi)).map_err(|e| failed(&e))?;
    }
    let mut rules = rules.create().map_err(|e| failed(&e))?;
    let read = AccessFs::from_read(abi);
    for path in SYSTEM.iter().map(Path::new).chain(readable.iter().map(PathBuf::as_path)) {
        if path.exists() {
            rules = allow(rules, abi, path, read)?;
        }
    }
    let mut null = AccessFs::ReadFile | AccessFs::WriteFile;
    if AccessFs::from_all(abi).contains(AccessFs::Truncate) {
        null |= AccessFs::Truncate;
    }
    rules = allow(rules, abi, Path::new("/dev/null"), null)?;
    for path in std::iter::once(scratch).chain(writable.iter().map(PathBuf::as_path)) {
        rules = allow(rules, abi, path, all_but_special(abi, has_network))?;
    }
    Option::<OwnedFd>::from(rules).ok_or_else(|| failed(&"the kernel gave no ruleset"))
}

/// All rights but those to make devices, and sockets where the network is not the program's own.
fn all_but_special(abi: ABI, has_network: bool) -> BitFlags<AccessFs> {
    let all = AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    if has_network { all } else { all & !AccessFs::MakeSock }
}

/// The rights in a folder in memory that a program may write to, for [`add`].
pub fn writing(kernel: u32) -> u64 {
    all_but_special(usable(kernel), true).bits()
}

/// The right to read a file, of linux/landlock.h.
pub const READ_FILE: u64 = 1 << 2;

/// The right to list a folder.
pub const READ_DIR: u64 = 1 << 3;

/// Adds a right on a path to a ruleset that is not in force yet. Async-signal-safe.
pub fn add(ruleset: RawFd, path: &CStr, access: u64) -> io::Result<()> {
    // Of linux/landlock.h.
    const PATH_BENEATH: libc::c_int = 1;
    #[repr(C, packed)]
    struct Beneath {
        access: u64,
        parent: i32,
    }
    // SAFETY: live strings and values of the layout that the kernel reads; the descriptor is closed again.
    unsafe {
        let parent = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        super::check(parent)?;
        let rule = Beneath { access, parent };
        let done = libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, &raw const rule, 0_u32);
        let result = super::check(done as i32);
        libc::close(parent);
        result
    }
}

/// Adds one path. A right that only a folder can have is dropped for a file.
fn allow(rules: RulesetCreated, abi: ABI, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, String> {
    let failed =
        |error: &dyn std::fmt::Display| format!("the file rule for {} could not be made: {error}", path.display());
    let is_folder = fs::metadata(path).map_err(|e| failed(&e))?.is_dir();
    let access = if is_folder { access } else { access & AccessFs::from_file(abi) };
    let file = PathFd::new(path).map_err(|e| failed(&e))?;
    rules.add_rule(PathBeneath::new(file, access)).map_err(|e| failed(&e))
}
