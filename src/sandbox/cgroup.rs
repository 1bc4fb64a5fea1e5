//! Control groups (version 2), where the system has delegated some to this program: the kernel then counts
//! the memory and the processes of a run as a whole, for root, too. That is so under systemd's mark
//! (`Delegate=yes`), or where this program is in the root group.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Limits;

/// Bytes beyond the limit: the supervisor, which can say what happened, shall come before the kernel, which
/// only kills.
const MARGIN: u64 = 64 << 20;
/// How the names of the groups begin; the number of this program follows.
const NAME: &str = concat!(env!("CARGO_PKG_NAME"), "-");
/// Attribute of a group that systemd has delegated.
const MARKS: [&str; 2] = ["trusted.delegate", "user.delegate"];

/// A folder for groups.
#[derive(Clone, Debug)]
pub struct Groups {
    folder: PathBuf,
    has_memory: bool,
    has_processes: bool,
}

/// The group of one run. Dropping it ends whatever is in it.
#[derive(Debug)]
pub struct Group {
    folder: PathBuf,
}

impl Groups {
    /// Finds a place, by making a group there; else why there is none.
    pub fn find() -> Result<Self, String> {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let (folder, is_first) =
            own_folder(&groups, &mounts).ok_or("this system has no control groups of version 2")?;
        let place = match folder.parent() {
            _ if is_first => folder,
            _ if is_delegated(&folder) => {
                make_room(&folder)?;
                folder
            }
            Some(parent) if is_delegated(parent) => parent.to_path_buf(),
            _ => {
                return Err(
                    "none was given to this program (systemd-run --user --scope -p Delegate=yes does it)".to_owned()
                );
            }
        };
        let has = |name| is_controlled(&place, name) || control(&place, name);
        let found = Self { has_memory: has("memory"), has_processes: has("pids"), folder: place };
        if !found.has_memory && !found.has_processes {
            return Err(format!("neither memory nor processes can be counted in {}", found.folder.display()));
        }
        found.sweep();
        match found.make(&Limits::default()) {
            Ok(_) => Ok(found),
            Err(error) => Err(format!("no group can be made in {}: {error}", found.folder.display())),
        }
    }

    /// Ends and removes the groups of programs that are gone: one that was killed could not do it itself.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let maker = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next()?.parse::<u32>().ok());
            if maker.is_some_and(|maker| !Path::new(&format!("/proc/{maker}")).exists()) {
                drop(Group { folder: entry.path() });
            }
        }
    }

    /// Its use, in words.
    pub fn how(&self) -> String {
        let what = match (self.has_memory, self.has_processes) {
            (true, true) => "memory and processes",
            (true, false) => "memory",
            (false, _) => "processes",
        };
        format!("the kernel counts the {what} of a run, in {}", self.folder.display())
    }

    /// True if the kernel counts memory.
    pub fn has_memory(&self) -> bool {
        self.has_memory
    }

    /// True if the kernel counts processes.
    pub fn has_processes(&self) -> bool {
        self.has_processes
    }

    /// A group for one run.
    pub fn make(&self, limits: &Limits) -> io::Result<Group> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("{NAME}{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let folder = self.folder.join(name);
        fs::create_dir(&folder)?;
        let group = Group { folder };
        let write = |file: &str, value: u64| fs::write(group.folder.join(file), value.to_string());
        if self.has_processes {
            write("pids.max", limits.processes)?;
        }
        if self.has_memory {
            write("memory.max", limits.memory.saturating_add(MARGIN))?;
            // Not every kernel has these.
            let _ = (write("memory.swap.max", 0), write("memory.oom.group", 1));
        }
        Ok(group)
    }
}

impl Group {
    /// File that a process writes `0` to in order to join.
    pub fn procs(&self) -> io::Result<OwnedFd> {
        Ok(OpenOptions::new().write(true).open(self.folder.join("cgroup.procs"))?.into())
    }

    /// Returns true if the kernel has ended a process of it for want of memory.
    pub fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        events.lines().filter_map(|line| line.strip_prefix("oom_kill ")).any(|count| count != "0")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
        // It can be removed once the last process is gone, which takes a moment.
        for _ in 0..200 {
            if fs::remove_dir(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The folder of the program's own group, and whether it is the first of all.
fn own_folder(groups: &str, mounts: &str) -> Option<(PathBuf, bool)> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let fields: Vec<&str> = before.split(' ').collect();
        // The fourth field is the part of the tree that is mounted, the fifth where.
        (after.starts_with("cgroup2 ")).then_some((*fields.get(3)?, *fields.get(4)?))
    })?;
    let inner = Path::new(group).strip_prefix(mount.0).ok()?;
    Some((Path::new(mount.1).join(inner), group == "/"))
}

/// Moves this program, if it is alone, into a group below: a group with processes cannot have limited ones in
/// it.
fn make_room(folder: &Path) -> Result<(), String> {
    let own = std::process::id().to_string();
    let processes = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    if processes.lines().any(|process| process != own) {
        return Err(format!("other programs run in {}, too", folder.display()));
    }
    let inner = folder.join("program");
    let moved = fs::create_dir(&inner).and_then(|()| fs::write(inner.join("cgroup.procs"), own));
    moved.map_err(|error| format!("{} cannot be divided: {error}", folder.display()))
}

/// Returns true if systemd has given a group to its processes. What it gave to a user's own systemd is that
/// one's.
fn is_delegated(folder: &Path) -> bool {
    if folder.file_name().is_some_and(|name| name.as_bytes().starts_with(b"user@")) {
        return false;
    }
    MARKS.iter().any(|mark| {
        let mut value = [0_u8; 2];
        rustix::fs::getxattr(folder, *mark, &mut value) == Ok(1) && value[0] == b'1'
    })
}

fn is_controlled(folder: &Path, what: &str) -> bool {
    let controlled = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
    controlled.split_whitespace().any(|name| name == what)
}

/// Lets groups in this folder be limited.
fn control(folder: &Path, what: &str) -> bool {
    fs::write(folder.join("cgroup.subtree_control"), format!("+{what}")).is_ok() && is_controlled(folder, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_below_its_mount() {
        let mounts =
            "25 30 0:23 / /sys rw - sysfs sysfs rw\n31 25 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
        let folder = |groups, mounts| {
            own_folder(groups, mounts).map(|(path, is_first)| (path.to_str().unwrap_or_default().to_owned(), is_first))
        };
        let found = |path: &str, is_first| Some((path.to_owned(), is_first));
        assert_eq!(folder("0::/user.slice/a.scope\n", mounts), found("/sys/fs/cgroup/user.slice/a.scope", false));
        assert_eq!(folder("4:memory:/x\n", mounts), None);
        assert_eq!(folder("0::/\n", mounts), found("/sys/fs/cgroup/", true));
        assert_eq!(folder("0::/\n", "25 30 0:23 / /sys rw - sysfs sysfs rw\n"), None);
        let part = "31 25 0:27 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(folder("0::/box/in\n", part), found("/sys/fs/cgroup/in", false));
        assert_eq!(folder("0::/elsewhere\n", part), None);
    }

    #[test]
    fn a_folder_without_systemds_mark_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_delegated(folder.path()));
        assert!(!is_delegated(Path::new("/not/there")));
    }

    #[test]
    fn a_group_counts_and_goes_with_its_run() {
        let groups = match Groups::find() {
            Ok(groups) => groups,
            Err(why) => {
                crate::skip::as_it_cannot("control groups", why);
                return;
            }
        };
        let group = groups.make(&Limits { processes: 7, ..Limits::default() }).unwrap();
        let folder = group.folder.clone();
        if groups.has_processes {
            assert_eq!(fs::read_to_string(folder.join("pids.max")).unwrap().trim(), "7");
        }
        // Processes that are still in it end.
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        fs::write(folder.join("cgroup.procs"), child.id().to_string()).unwrap();
        assert!(!group.ran_out_of_memory());
        drop(group);
        assert!(!child.wait().unwrap().success());
        assert!(!folder.exists());
        // The child is gone, and nobody has its number.
        let left = groups.folder.join(format!("{NAME}{}-0", child.id()));
        fs::create_dir(&left).unwrap();
        groups.sweep();
        assert!(!left.exists());
    }
}
