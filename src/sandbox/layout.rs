//! Content of a program's root folder in the tier "full": which folders of the machine, which links, the
//! names of users and hosts, folders in memory, and nothing else.
//!
//! Everything keeps its path, so that arguments and search paths stay valid inside.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::user_name;

/// Devices every program may need, none of which leads anywhere.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

/// The system's choices among programs (`cc`, `awk`), which are links only.
const ALTERNATIVES: &str = "/etc/alternatives";

/// Folders in memory, of a sixteenth of the memory limit each: for named semaphores, and for programs that do
/// not ask where temporary files go.
const IN_MEMORY: [&str; 2] = ["/dev/shm", "/tmp"];

/// More links than this on the way to one file are a circle.
const MOST_LINKS: usize = 40;

/// Access to a part of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read and execute.
    Read,
    /// Also write.
    Write,
    /// Use as a device.
    Device,
}

/// One step of building the root. Paths are relative to it.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Make a folder.
    Folder(CString),
    /// Make an empty file, to put a file of the machine over it.
    File(CString),
    /// Make a link.
    Link { at: CString, target: CString },
    /// Mount a folder or file of the machine.
    Mount {
        /// Its true path on the machine.
        source: CString,
        /// Where it appears.
        at: CString,
        /// With which rights.
        access: Access,
    },
    /// Write a file.
    Text { at: CString, text: CString },
    /// Make a folder, and mount an empty one in memory there.
    Memory { at: CString, options: CString },
}

/// Who the program runs as, and what it may take.
#[derive(Clone, Copy, Debug)]
pub struct Tenant<'a> {
    /// The number of the user.
    pub user: u32,
    /// The number of the group.
    pub group: u32,
    /// The home folder.
    pub home: &'a Path,
    /// The memory limit, bytes.
    pub memory: u64,
}

impl Tenant<'_> {
    /// The files in which programs look for the names of users and hosts.
    fn files(&self) -> [(&'static str, String); 4] {
        let Self { user, group, home, .. } = *self;
        let own = (user_name(user), user, group, home.to_string_lossy());
        let others = [("root", 0, 0, "/".into()), ("nobody", 65534, 65534, "/".into())];
        let all: Vec<_> = [own].into_iter().chain(others.into_iter().filter(|other| other.1 != user)).collect();
        let group_line = |(name, _, group, _): &(_, _, _, _)| format!("{name}:x:{group}:\n");
        let user_line =
            |(name, user, group, home): &(_, _, _, _)| format!("{name}:x:{user}:{group}:{name}:{home}:/bin/sh\n");
        [
            ("/etc/passwd", all.iter().map(user_line).collect()),
            ("/etc/group", all.iter().map(group_line).collect()),
            ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n".to_owned()),
            ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n".to_owned()),
        ]
    }
}

/// Kind of an entry.
#[derive(Debug, Default)]
struct Layout {
    mounted: BTreeMap<PathBuf, (Access, bool)>,
    links: BTreeMap<PathBuf, PathBuf>,
}

/// The steps that build a root: `readable` may be missing on this machine, `writable` and `visited` not. Of
/// what is only visited (the program, the folder it starts in) nothing is mounted but the links on the way.
pub fn steps<'a>(
    readable: impl Iterator<Item = &'a Path>,
    writable: impl Iterator<Item = &'a Path>,
    visited: impl Iterator<Item = &'a Path>,
    tenant: Tenant,
) -> Result<Vec<Step>, String> {
    let mut layout = Layout::default();
    for path in readable.chain(std::iter::once(Path::new(ALTERNATIVES))) {
        let _ = layout.mount(path, Access::Read);
    }
    for path in DEVICES.iter().map(Path::new) {
        let _ = layout.mount(path, Access::Device);
    }
    let failed = |path: &Path, e: io::Error| format!("{} cannot be shown to the program: {e}", path.display());
    for path in writable {
        layout.mount(path, Access::Write).map_err(|e| failed(path, e))?;
    }
    for path in visited {
        layout.visit(path).map_err(|e| failed(path, e))?;
    }
    layout.steps(tenant).map_err(|e| format!("the root folder of the program cannot be planned: {e}"))
}

impl Layout {
    /// Mounts a folder or file at its true path, and the links that lead there from the given one.
    fn mount(&mut self, path: &Path, access: Access) -> io::Result<()> {
        let place = self.visit(path)?;
        let is_folder = fs::metadata(&place)?.is_dir();
        if place.parent().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is the root of the machine"));
        }
        self.mounted.insert(place, (access, is_folder));
        Ok(())
    }

    /// Notes the links on the way to a file and returns its true path.
    fn visit(&mut self, path: &Path) -> io::Result<PathBuf> {
        if !path.is_absolute() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "its path is not absolute"));
        }
        let parts = |path: &Path| -> Vec<PathBuf> {
            path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect()
        };
        let (mut ahead, mut at, mut links) = (parts(path), PathBuf::from("/"), 0);
        while let Some(part) = ahead.pop() {
            match part.components().next() {
                Some(Component::RootDir) => at = PathBuf::from("/"),
                Some(Component::ParentDir) => drop(at.pop()),
                Some(Component::Normal(name)) => {
                    let next = at.join(name);
                    if !fs::symlink_metadata(&next)?.is_symlink() {
                        at = next;
                        continue;
                    }
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(io::Error::from_raw_os_error(libc::ELOOP));
                    }
                    let target = fs::read_link(&next)?;
                    ahead.extend(parts(&target));
                    self.links.insert(next, target);
                }
                _ => {}
            }
        }
        Ok(at)
    }

    /// In an order in which each finds the folder it stands in.
    fn steps(self, tenant: Tenant) -> io::Result<Vec<Step>> {
        let mounted = self.mounted;
        let above = |path: &Path| path.ancestors().skip(1).find_map(|folder| mounted.get(folder));
        let mut made: BTreeMap<PathBuf, Step> = BTreeMap::new();
        let make_folders = |made: &mut BTreeMap<PathBuf, Step>, path: &Path| -> io::Result<()> {
            for folder in path.ancestors().skip(1).filter(|folder| folder.parent().is_some()) {
                made.entry(folder.to_path_buf()).or_insert(Step::Folder(inside(folder)?));
            }
            Ok(())
        };
        for (at, target) in self.links.iter().filter(|(at, _)| above(at).is_none()) {
            make_folders(&mut made, at)?;
            made.insert(at.clone(), Step::Link { at: inside(at)?, target: text(target)? });
        }
        let mut mounts = Vec::new();
        for (path, &(access, is_folder)) in &mounted {
            match above(path) {
                Some(&(around, _)) if around == access => continue,
                Some(_) => {}
                None => {
                    make_folders(&mut made, path)?;
                    let place = if is_folder { Step::Folder(inside(path)?) } else { Step::File(inside(path)?) };
                    made.insert(path.clone(), place);
                }
            }
            mounts.push(Step::Mount { source: text(path)?, at: inside(path)?, access });
        }
        for (at, content) in tenant.files().map(|(at, content)| (PathBuf::from(at), content)) {
            make_folders(&mut made, &at)?;
            made.entry(at.clone()).or_insert(Step::Text { at: inside(&at)?, text: CString::new(content)? });
        }
        let options = CString::new(format!("size={},nr_inodes=1024,mode=1777", tenant.memory / 16))?;
        for folder in IN_MEMORY.map(Path::new) {
            // A run's own folder may lie there. Folders around what is mounted deeper could be renamed.
            let is_fixed = |path: &PathBuf| above(path).is_some() || path.parent() == Some(folder);
            let has_room = mounted.keys().filter(|path| path.starts_with(folder)).all(is_fixed);
            if has_room && above(folder).is_none() && !self.links.keys().any(|link| link.starts_with(folder)) {
                make_folders(&mut made, folder)?;
                made.insert(folder.to_path_buf(), Step::Memory { at: inside(folder)?, options: options.clone() });
            }
        }
        // Sorted by path, so that a folder comes before what stands in it, and an outer mount before an inner
        // one.
        Ok(made.into_values().chain(mounts).collect())
    }
}

fn text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// The path relative to the root.
fn inside(path: &Path) -> io::Result<CString> {
    text(path.strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tenant() -> Tenant<'static> {
        Tenant { user: 7, group: 8, home: Path::new("/home"), memory: 1 << 30 }
    }

    fn words(steps: &[Step], top: &Path) -> Vec<String> {
        let name = |path: &CString| {
            let path = Path::new("/").join(path.to_str().unwrap());
            path.strip_prefix(top).map_or(String::new(), |p| p.display().to_string())
        };
        let all = steps.iter().map(|step| match step {
            Step::Folder(at) => format!("folder {}", name(at)),
            Step::File(at) => format!("file {}", name(at)),
            Step::Text { at, .. } | Step::Memory { at, .. } => format!("own {}", name(at)),
            Step::Link { at, target } => format!("link {} {}", name(at), target.to_str().unwrap()),
            Step::Mount { source, at, access } => {
                assert!(source.as_bytes().ends_with(at.as_bytes()), "everything keeps its path");
                format!("{access:?} {}", name(at))
            }
        });
        // Folders above the test's own and the system's parts are not its business.
        all.filter(|line| !line.ends_with(' ') && !line.starts_with("link  ")).collect()
    }

    #[test]
    fn true_places_are_mounted_and_the_links_to_them_recreated() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        for name in ["real/bin", "venv/bin", "work/inner", "work/locked", "other"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        fs::write(top.join("real/bin/python"), "").unwrap();
        fs::write(top.join("other/lone"), "").unwrap();
        symlink("../../link/bin/python", top.join("venv/bin/python")).unwrap();
        symlink(top.join("real"), top.join("link")).unwrap();
        let (link, lone, inner) = (top.join("link"), top.join("other/lone"), top.join("real/bin"));
        let missing = top.join("missing");
        let program = top.join("venv/bin/python");
        let (work, locked) = (top.join("work"), top.join("work/locked"));
        let readable = [&link, &lone, &inner, &missing, &locked];
        let steps = steps(
            readable.into_iter().map(PathBuf::as_path),
            [work.as_path(), &top.join("work/inner")].into_iter(),
            std::iter::once(program.as_path()),
            tenant(),
        )
        .unwrap();
        let real = format!("link link {}", top.join("real").display());
        assert_eq!(
            words(&steps, &top),
            [
                real.as_str(),
                "folder other",
                "file other/lone",
                "folder real",
                "folder venv",
                "folder venv/bin",
                "link venv/bin/python ../../link/bin/python",
                "folder work",
                "Read other/lone",
                "Read real",
                "Write work",
                "Read work/locked",
            ]
        );
    }

    #[test]
    fn tmp_is_the_runs_own_where_nothing_is_mounted_deep_in_it() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let deep = folder.path().join("deep");
        fs::create_dir(&deep).unwrap();
        let has_own = |path: &Path| {
            let none = || std::iter::empty::<&Path>();
            let steps = steps(none(), std::iter::once(path), none(), tenant()).unwrap();
            steps.iter().any(|step| matches!(step, Step::Memory { at, .. } if at.as_c_str() == c"tmp"))
        };
        assert!(has_own(folder.path()) && has_own(Path::new("/usr")));
        assert!(!has_own(&deep) && !has_own(Path::new("/tmp")));
    }

    #[test]
    fn the_names_of_users_are_the_runs_own() {
        let [(_, passwd), (_, group), ..] = tenant().files();
        assert_eq!(passwd.lines().next(), Some("user:x:7:8:user:/home:/bin/sh"));
        assert_eq!(group, "user:x:8:\nroot:x:0:\nnobody:x:65534:\n");
        let [(_, passwd), ..] = Tenant { user: 0, group: 0, ..tenant() }.files();
        assert_eq!(passwd.lines().count(), 2, "{passwd}");
    }

    #[test]
    fn circles_relative_paths_and_the_whole_machine_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        symlink("b", folder.path().join("a")).unwrap();
        symlink("a", folder.path().join("b")).unwrap();
        let none = || std::iter::empty::<&Path>();
        for path in [folder.path().join("a"), PathBuf::from("relative"), PathBuf::from("/")] {
            assert!(steps(none(), std::iter::once(path.as_path()), none(), tenant()).is_err(), "{}", path.display());
        }
    }
}
