//! Folders shared by all Go builds: compiled packages (the standard library above all) and downloaded
//! modules.
//!
//! Compiled packages are cached on disk. Nothing of a candidate runs while it is compiled (no C, no
//! generators). The compiler finds packages by a hash of their inputs, so none can replace another's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::sandbox::Scratch;
use crate::trial::language::compiled::open_cache;
use crate::trial::language::row::Tool;

/// The folder of compiled packages in the cache.
const PACKAGES: &str = "packages";

/// Both folders.
#[derive(Debug, Default)]
pub struct BuildCache {
    compiled: Mutex<Option<Compiled>>,
    modules: OnceLock<Option<PathBuf>>,
}

/// The folder of compiled packages, and what removes it at the end if nothing is cached.
pub type Compiled = (PathBuf, Option<Scratch>);

impl BuildCache {
    /// The folder of compiled packages while the guard is held: one build at a time.
    pub fn open(&self, cache: Option<&Path>) -> std::io::Result<(MutexGuard<'_, Option<Compiled>>, PathBuf)> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if compiled.is_none() {
            *compiled = Some(open_cache(cache, "go", PACKAGES)?);
        }
        let path = compiled.as_ref().map(|(folder, _)| folder.join(PACKAGES)).unwrap_or_default();
        Ok((compiled, path))
    }

    /// The folder of downloaded modules, which trials may read.
    pub fn modules(&self, go: &Tool) -> Option<PathBuf> {
        self.modules.get_or_init(|| modules(go)).clone()
    }
}

fn modules(go: &Tool) -> Option<PathBuf> {
    let mut command = Command::new(&go.program);
    command.args(["env", "GOMODCACHE"]).current_dir("/").env_remove("GOFLAGS").stdin(Stdio::null());
    let output = command.stderr(Stdio::null()).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (folder.is_absolute() && folder.is_dir()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_compiled_is_there_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let open = |cache| BuildCache::default().open(cache).unwrap().1;
        let first = open(Some(folder.path()));
        fs::write(first.join("package"), "").unwrap();
        assert!(open(Some(folder.path())).join("package").exists());
        assert_ne!(open(None), first);
    }
}
