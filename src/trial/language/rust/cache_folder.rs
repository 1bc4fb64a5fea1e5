//! The cache of a crate between trials, on disk: compiled packages, test programs, and baselines of tests.
//!
//! Only the user's own files are ever built into the cache. A candidate is built in a folder of its own with
//! links to the compiled packages. So nothing it does, not even inside of the compiler, affects another
//! candidate. A program built with a candidate is cached for this exact text alone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::hash;
use crate::sandbox::Scratch;
use crate::trial::language::compiled::open_cache;

/// Size and time of a file.
pub type Stamp = (u64, u64);

/// The files that the packages were compiled from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub files: BTreeMap<PathBuf, Stamp>,
    /// The lock file with the versions of all packages, if cargo has made one: its path and text.
    pub versions: Option<(PathBuf, String)>,
}

/// A cached test program, with all its inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub parts: Vec<String>,
    pub secret: String,
}

/// A compiler for the packages of a project, as cargo starts it: lint levels of the crate (`deny`, `forbid`)
/// must not apply to the lines that a trial puts into files. They apply where [`LEVELS`] is set.
const COMPILER: &str = "#!/bin/sh\n[ -n \"$TRIAL_LINT_LEVELS\" ] && exec \"$@\"\nexec \"$@\" --cap-lints=allow\n";
/// The variable with which a build has the lint levels of the crate.
pub const LEVELS: &str = "TRIAL_LINT_LEVELS";

/// Most cached programs of a crate.
const MOST_PROGRAMS: usize = 8;

/// The cache folder of a project.
#[derive(Debug)]
pub struct CacheFolder {
    folder: PathBuf,
    /// Removed at the end if nothing is cached.
    _scratch: Option<Scratch>,
}

impl CacheFolder {
    /// The cache of a project, below `cache`, or an empty one. `compiler` identifies the compiler.
    pub fn open(cache: Option<&Path>, root: &Path, compiler: &str) -> io::Result<Self> {
        let name = format!("{:016x}", hash::of(format!("{}\n{compiler}\n{COMPILER}", root.display()).as_bytes()));
        let (folder, scratch) = open_cache(cache, &name, "products")?;
        let opened = Self { folder, _scratch: scratch };
        if !opened.compiler().is_file() {
            files::replace(
                &opened.compiler(),
                |error| error,
                |file| {
                    file.write_all(COMPILER.as_bytes())?;
                    file.set_permissions(fs::Permissions::from_mode(0o700))
                },
            )?;
        }
        // Each text of the project has its own.
        for results in ["baselines", "examples", "lints"] {
            files::sweep(&opened.folder.join(results), |file| file);
        }
        Ok(opened)
    }

    /// The target folder of compiled packages.
    pub fn products(&self) -> PathBuf {
        self.folder.join("products")
    }

    /// The compiler of the project's packages, among the products, as a build may read those.
    pub fn compiler(&self) -> PathBuf {
        self.products().join("rustc_of_trials")
    }

    /// Waits until no other process writes there, or, to write, until none reads either. `None` when
    /// cancelled.
    pub fn lock(&self, to_write: bool, is_cancelled: impl Fn() -> bool) -> io::Result<Option<File>> {
        fs::create_dir_all(self.products())?;
        let file = File::options().create(true).append(true).open(self.folder.join("lock"))?;
        loop {
            let locked = if to_write { file.try_lock() } else { file.try_lock_shared() };
            match locked {
                Ok(()) => return Ok(Some(file)),
                Err(fs::TryLockError::WouldBlock) if is_cancelled() => return Ok(None),
                Err(fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
                Err(fs::TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// The value stored under this name, if it can be read.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.folder.join(name)).ok()?).ok()
    }

    /// Stores a value in one step. Errors are ignored.
    pub fn write<T: Serialize>(&self, name: &str, value: &T) {
        let Ok(bytes) = serde_json::to_vec(value) else { return };
        let _ = files::replace(&self.folder.join(name), |error| error, |file| file.write_all(&bytes));
    }

    /// The test program built of these inputs, and the name of its guard module.
    pub fn program(&self, parts: &[String]) -> Option<(PathBuf, String)> {
        let folder = self.program_folder(parts);
        let about: About = serde_json::from_slice(&fs::read(folder.join("about.json")).ok()?).ok()?;
        let program = folder.join("tests");
        (about.parts == parts && program.is_file()).then_some((program, about.secret))
    }

    /// Caches a test program, unless it contains the path of a folder that will be removed.
    pub fn keep(&self, binary: &Path, about: &About, folders: &[&Path]) -> io::Result<()> {
        let bytes = fs::read(binary)?;
        let knows = |path: &Path| {
            let path = path.as_os_str().as_encoded_bytes();
            bytes.windows(path.len()).any(|part| part == path)
        };
        if folders.iter().any(|folder| knows(folder)) {
            return Ok(());
        }
        let folder = self.program_folder(&about.parts);
        let next = folder.with_extension(format!("{}.new", std::process::id()));
        let _ = fs::remove_dir_all(&next);
        fs::create_dir_all(&next)?;
        fs::copy(binary, next.join("tests"))?;
        fs::write(next.join("about.json"), serde_json::to_vec(about)?)?;
        let _ = fs::remove_dir_all(&folder);
        fs::rename(&next, &folder)?;
        let programs = fs::read_dir(self.folder.join("programs"))?.flatten();
        let mut programs: Vec<_> =
            programs.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
        programs.sort();
        for (_, path) in programs.iter().rev().skip(MOST_PROGRAMS) {
            let _ = fs::remove_dir_all(path);
        }
        Ok(())
    }

    fn program_folder(&self, parts: &[String]) -> PathBuf {
        let name = format!("{:016x}", hash::of(parts.join("\n").as_bytes()));
        self.folder.join("programs").join(name)
    }

    /// A target folder with links to all compiled packages, and copies of the files of `own` packages, which
    /// a build may overwrite.
    pub fn branch(&self, own: &[String]) -> io::Result<Scratch> {
        let (branch, products) = (Scratch::new()?, self.products());
        let is_own = |name: &str| {
            let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
            own.iter().any(|own| own == name)
        };
        // The target folder of a platform is one level deeper.
        let tops = fs::read_dir(&products).into_iter().flatten().flatten().map(|entry| entry.path());
        for top in tops.flat_map(|path| [path.join("debug"), path]).filter(|path| path.ends_with("debug")) {
            let Ok(inner) = top.strip_prefix(&products) else { continue };
            let to = branch.path().join(inner);
            for part in [".fingerprint", "build", "deps"] {
                let Ok(entries) = fs::read_dir(top.join(part)) else { continue };
                fs::create_dir_all(to.join(part))?;
                for entry in entries {
                    let entry = entry?;
                    let (from, name) = (entry.path(), entry.file_name());
                    let to = to.join(part).join(&name);
                    let name = name.to_string_lossy();
                    let is_copied = match part {
                        "deps" if !name.starts_with("lib") => continue,
                        "deps" => is_of_project(&from),
                        _ => is_own(&name),
                    };
                    if is_copied { copy(&from, &to)? } else { symlink(&from, &to)? }
                }
            }
        }
        let _ = fs::copy(products.join(".rustc_info.json"), branch.path().join(".rustc_info.json"));
        Ok(branch)
    }
}

/// Returns true if a compiled library is one of the project's own. Those are compiled from relative paths.
fn is_of_project(library: &Path) -> bool {
    let Some(stem) = library.file_stem().and_then(|stem| stem.to_str()) else { return true };
    let sources = library.with_file_name(format!("{}.d", stem.trim_start_matches("lib")));
    let text = fs::read_to_string(sources).unwrap_or_default();
    !text.lines().next().and_then(|line| line.split_once(": ")).is_some_and(|(_, first)| first.starts_with('/'))
}

/// Copies a file or a folder with all times, by which cargo decides what is up to date.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(from)?;
    if meta.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return File::open(to)?.set_modified(meta.modified()?);
    }
    if meta.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    fs::copy(from, to)?;
    File::options().append(true).open(to)?.set_modified(meta.modified()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, CacheFolder) {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheFolder::open(Some(folder.path()), Path::new("/project"), "rustc 1").unwrap();
        (folder, cache)
    }

    #[test]
    fn a_branch_can_be_written_and_what_is_kept_stays() {
        let (_folder, cache) = folder();
        let debug = cache.products().join("debug");
        for (path, text) in [
            ("deps/libother-1.rlib", "cached"),
            ("deps/other-1.d", "/x/libother-1.rlib: /registry/other/src/lib.rs\n"),
            ("deps/libown-2.rlib", "cached"),
            ("deps/own-2.d", "/x/libown-2.rlib: src/lib.rs\n"),
            ("deps/own-3", "a program"),
            (".fingerprint/own-2/stamp", "cached"),
            (".fingerprint/other-1/stamp", "cached"),
            ("build/own-4/out/made.rs", "cached"),
        ] {
            fs::create_dir_all(debug.join(path).parent().unwrap()).unwrap();
            fs::write(debug.join(path), text).unwrap();
        }
        let branch = cache.branch(&["own".to_owned()]).unwrap();
        let inner = branch.path().join("debug");
        for own in ["deps/libown-2.rlib", ".fingerprint/own-2/stamp", "build/own-4/out/made.rs"] {
            assert!(!fs::symlink_metadata(inner.join(own)).unwrap().is_symlink(), "{own}");
            fs::write(inner.join(own), "written by a candidate").unwrap();
            assert_eq!(fs::read_to_string(debug.join(own)).unwrap(), "cached");
        }
        for other in ["deps/libother-1.rlib", ".fingerprint/other-1"] {
            assert_eq!(fs::read_link(inner.join(other)).unwrap(), debug.join(other));
        }
        assert!(!inner.join("deps/own-3").exists());
    }

    #[test]
    fn a_program_is_kept_for_its_own_text_alone() {
        let (folder, cache) = folder();
        let binary = folder.path().join("built");
        fs::write(&binary, "reads /tmp/place/data").unwrap();
        let about = |text: &str| About { parts: vec![text.to_owned()], secret: "s".to_owned() };
        cache.keep(&binary, &about("a"), &[Path::new("/tmp/place")]).unwrap();
        assert_eq!(cache.program(&["a".to_owned()]), None, "it knows a folder that will be gone");
        cache.keep(&binary, &about("a"), &[Path::new("/tmp/other")]).unwrap();
        let (program, secret) = cache.program(&["a".to_owned()]).unwrap();
        assert_eq!((fs::read(program).unwrap(), secret.as_str()), (fs::read(&binary).unwrap(), "s"));
        assert_eq!(cache.program(&["b".to_owned()]), None);
        // Another text with the same hash.
        let path = cache.program_folder(&["a".to_owned()]).join("about.json");
        fs::write(path, serde_json::to_vec(&about("b")).unwrap()).unwrap();
        assert_eq!(cache.program(&["a".to_owned()]), None);
        for i in 0..20 {
            cache.keep(&binary, &about(&i.to_string()), &[]).unwrap();
        }
        assert_eq!(fs::read_dir(cache.folder.join("programs")).unwrap().count(), MOST_PROGRAMS);
    }

    #[test]
    fn results_of_texts_that_nobody_tries_any_more_are_removed() {
        let (folder, cache) = folder();
        let now = std::time::SystemTime::now();
        let day = Duration::from_secs(24 * 3600);
        for (name, days) in [("baselines/old.json", 31), ("examples/old.json", 31), ("baselines/new.json", 1)] {
            cache.write(name, &1);
            let file = File::options().append(true).open(cache.folder.join(name)).unwrap();
            file.set_modified(now - day * days).unwrap();
        }
        let cache = CacheFolder::open(Some(folder.path()), Path::new("/project"), "rustc 1").unwrap();
        let read = ["baselines/old.json", "examples/old.json", "baselines/new.json"].map(|name| cache.read::<u8>(name));
        assert_eq!(read, [None, None, Some(1)]);
    }

    #[test]
    fn who_writes_is_alone() {
        let (_folder, cache) = folder();
        let one = cache.lock(false, || true).unwrap();
        assert!(one.is_some() && cache.lock(false, || true).unwrap().is_some());
        assert!(cache.lock(true, || true).unwrap().is_none());
        drop(one);
        assert!(cache.lock(true, || true).unwrap().is_some());
    }
}
