//! Whether this program could put trials into control groups (version 2) of their own. Only looked at and reported so far: the limits of
//! a trial do not rest on them.

use std::fs;
use std::path::{Path, PathBuf};

/// Tries to make a group below the program's own. What came of it, in words.
pub fn probe() -> Result<String, String> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let folder = own_folder(&groups, &mounts).ok_or("this system has no control groups of version 2")?;
    let controllers = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
    let lacking: Vec<&str> =
        ["memory", "pids"].into_iter().filter(|name| !controllers.split_whitespace().any(|c| c == *name)).collect();
    if !lacking.is_empty() {
        return Err(format!("no control of {} is delegated to this program's group", lacking.join(" and ")));
    }
    let trial = folder.join(format!("bass-tui-{}", std::process::id()));
    fs::create_dir(&trial).map_err(|error| format!("no group can be made: {error}"))?;
    fs::remove_dir(&trial).map_err(|error| format!("a group can be made, but not removed: {error}"))?;
    Ok(format!("could be made in {}", folder.display()))
}

/// The folder of the program's own group.
fn own_folder(groups: &str, mounts: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let fields: Vec<&str> = before.split(' ').collect();
        // The fourth field is the part of the tree that is mounted, the fifth where.
        (after.starts_with("cgroup2 ")).then_some((*fields.get(3)?, *fields.get(4)?))
    })?;
    let inner = Path::new(group).strip_prefix(mount.0).ok()?;
    Some(Path::new(mount.1).join(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_below_its_mount() {
        let mounts =
            "25 30 0:23 / /sys rw - sysfs sysfs rw\n31 25 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
        let folder = |groups, mounts| own_folder(groups, mounts).map(|path| path.display().to_string());
        assert_eq!(folder("0::/user.slice/a.scope\n", mounts).as_deref(), Some("/sys/fs/cgroup/user.slice/a.scope"));
        assert_eq!(folder("4:memory:/x\n", mounts), None);
        assert_eq!(folder("0::/\n", "25 30 0:23 / /sys rw - sysfs sysfs rw\n"), None);
        let part = "31 25 0:27 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(folder("0::/box/in\n", part).as_deref(), Some("/sys/fs/cgroup/in"));
        assert_eq!(folder("0::/elsewhere\n", part), None);
    }
}
