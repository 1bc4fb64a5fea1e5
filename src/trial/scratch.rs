//! A private folder for one trial, removed whatever has been done to it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder. Dropping it removes it.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes the folder under the system's place for temporary files, readable for this user only.
    pub fn new() -> std::io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("bass-tui-trial-").tempdir()?;
        // The path that kernel rules see has no links in it.
        let path = folder.keep();
        Ok(Self { path: path.canonicalize().unwrap_or(path) })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::fs::remove_dir_all(&self.path).is_ok() {
            return;
        }
        // Without permissions, or nested deeper than descriptors go: the system's tools manage that.
        for (tool, args) in [("chmod", ["-R", "u+rwX", "--"]), ("rm", ["-r", "-f", "--"])] {
            let _ = Command::new(tool)
                .args(args)
                .arg(&self.path)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_without_permissions_is_removed() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        std::fs::write(path.join("a/b/c"), "x").unwrap();
        std::fs::set_permissions(path.join("a"), std::fs::Permissions::from_mode(0)).unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
