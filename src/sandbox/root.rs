//! Builds the root folder in the child and leaves the machine's root. Raw system calls only, without
//! allocation.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::check;
use super::child::write_file;
use super::layout::{Access, Step};

/// The folder in which the new root is built. It exists on every machine that supports this, and nothing
/// shown to a program lies below it.
const PLACE: &CStr = c"/proc";

// Of linux/mount.h.
const OPEN_TREE_CLONE: libc::c_int = 1;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_int = 4;
const MOUNT_ATTR_RDONLY: u64 = 0x1;
const MOUNT_ATTR_NOSUID: u64 = 0x2;
const MOUNT_ATTR_NODEV: u64 = 0x4;
const MOUNT_ATTR_NOEXEC: u64 = 0x8;

/// `struct mount_attr` of linux/mount.h.
#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// The private `/proc` in the new root.
const PROC: &CStr = c"proc";

/// Builds the root and enters it. Returns true if `/proc` could be mounted; its absence is no error.
pub fn build(steps: &[Step]) -> io::Result<bool> {
    // SAFETY: static strings and null where the kernel reads nothing.
    unsafe {
        // Keeps the following mounts from reaching the machine's own.
        check(libc::mount(
            c"none".as_ptr(),
            c"/".as_ptr(),
            std::ptr::null(),
            libc::MS_REC | libc::MS_PRIVATE,
            std::ptr::null(),
        ))?;
        // It holds only folders, links and short files. The limits keep it small in any case.
        let options = c"size=1m,nr_inodes=4096,mode=755";
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        check(libc::mount(c"tmpfs".as_ptr(), PLACE.as_ptr(), c"tmpfs".as_ptr(), flags, options.as_ptr().cast()))?;
        check(libc::chdir(PLACE.as_ptr()))?;
    }
    for step in steps {
        match step {
            Step::Folder(at) => folder(at)?,
            Step::File(at) => file(at)?,
            Step::Link { at, target } => {
                // SAFETY: strings made before the fork.
                check(unsafe { libc::symlink(target.as_ptr(), at.as_ptr()) })?;
            }
            Step::Mount { source, at, access } => mount(source, at, *access)?,
            Step::Text { at, text } => write(at, text)?,
            Step::Memory { at, options } => memory(at, options)?,
        }
    }
    folder(PROC)?;
    // SAFETY: static strings.
    let has_proc = unsafe {
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC | libc::MS_RDONLY;
        // Processes only: /proc must not show facts about the machine.
        let options = c"subset=pid";
        libc::mount(c"proc".as_ptr(), PROC.as_ptr(), c"proc".as_ptr(), flags, options.as_ptr().cast()) == 0
    };
    // SAFETY: static strings. The old root is put on top of the new one and then unmounted, with everything
    // below it.
    unsafe {
        check(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) as i32)?;
        check(libc::umount2(c".".as_ptr(), libc::MNT_DETACH))?;
        check(libc::chdir(c"/".as_ptr()))?;
    }
    restrict(libc::AT_FDCWD, c"/", 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)?;
    Ok(has_proc)
}

fn folder(at: &CStr) -> io::Result<()> {
    // SAFETY: a string made before the fork.
    check(unsafe { libc::mkdir(at.as_ptr(), 0o755) })
}

fn file(at: &CStr) -> io::Result<()> {
    // SAFETY: a string made before the fork.
    let fd = unsafe { libc::open(at.as_ptr(), libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC, 0o644) };
    owned(fd).map(drop)
}

fn write(at: &CStr, text: &CStr) -> io::Result<()> {
    file(at)?;
    write_file(at, text)
}

/// Makes a folder, and mounts an empty one in memory there.
fn memory(at: &CStr, options: &CStr) -> io::Result<()> {
    folder(at)?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: strings made before the fork.
    check(unsafe { libc::mount(c"tmpfs".as_ptr(), at.as_ptr(), c"tmpfs".as_ptr(), flags, options.as_ptr().cast()) })
}

/// Mounts a copy of a mount, with fewer rights, also for all mounts below it.
fn mount(source: &CString, at: &CString, access: Access) -> io::Result<()> {
    let set = match access {
        Access::Read => MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
        Access::Write => MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
        // A device on a read-only mount can still be written to.
        Access::Device => MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
    };
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC | libc::AT_RECURSIVE;
    // SAFETY: a string made before the fork.
    let fd = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, source.as_ptr(), flags) } as RawFd;
    let tree = owned(fd)?;
    restrict(fd, c"", libc::AT_EMPTY_PATH | libc::AT_RECURSIVE, set)?;
    // SAFETY: as above; the descriptor is open.
    let moved = unsafe {
        let (from, to) = (c"".as_ptr(), at.as_ptr());
        libc::syscall(libc::SYS_move_mount, fd, from, libc::AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH)
    };
    drop(tree);
    check(moved as i32)
}

fn restrict(fd: RawFd, path: &CStr, flags: libc::c_int, set: u64) -> io::Result<()> {
    let attributes = Attributes { set, clear: 0, propagation: 0, user_namespace: 0 };
    // SAFETY: a live string, and a live value of the given size.
    let done = unsafe {
        let size = size_of::<Attributes>();
        libc::syscall(libc::SYS_mount_setattr, fd, path.as_ptr(), flags, &raw const attributes, size)
    };
    check(done as i32)
}

fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    check(fd)?;
    // SAFETY: a descriptor just made, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
