//! What Go's builds share: the folder of compiled packages (the standard library above all), and that of
//! downloaded modules.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::sandbox::Scratch;
use crate::trial::language::row::Tool;

/// Both folders.
#[derive(Debug, Default)]
pub struct Store {
    compiled: Mutex<Option<Scratch>>,
    modules: OnceLock<Option<PathBuf>>,
}

impl Store {
    /// The folder of compiled packages, for as long as the guard is held: one build at a time.
    pub fn open(&self) -> std::io::Result<(MutexGuard<'_, Option<Scratch>>, PathBuf)> {
        let mut kept = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = match kept.take() {
            Some(folder) => folder,
            None => Scratch::new()?,
        };
        let path = folder.path().to_path_buf();
        *kept = Some(folder);
        Ok((kept, path))
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
