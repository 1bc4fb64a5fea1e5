//! A candidate as a patch of its file.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use similar::TextDiff;

use super::{CodeError, Target};

/// Returns true if a path leads down from the current folder. Other paths cannot stand in a patch.
fn is_below(path: &Path) -> bool {
    path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
}

/// A file name in the form of a patch header: quoted if it holds a character that would end it, and with a
/// tab after a name with spaces.
fn header(side: &str, name: &str) -> String {
    let name = name.replace('\\', if cfg!(windows) { "/" } else { "\\" });
    if name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
        let escape = |c: char| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => {
                c.to_string().bytes().fold(String::new(), |out, byte| out + &format!("\\{byte:03o}"))
            }
            c => c.to_string(),
        };
        return format!("\"{side}{}\"", name.chars().map(escape).collect::<String>());
    }
    let tab = if name.contains(' ') { "\t" } else { "" };
    format!("{side}{name}{tab}")
}

impl Target {
    /// The change that `candidate` makes, as a unified diff that `patch -p1` and `git apply` take. The file
    /// is named as it was given, an absolute path by its last part.
    pub fn diff(&self, candidate: &str) -> String {
        let after = self.splice_bytes(candidate);
        let (before, after) = (String::from_utf8_lossy(&self.original), String::from_utf8_lossy(&after));
        let name = match &self.path {
            Some(path) if is_below(path) => path.strip_prefix(".").unwrap_or(path).display().to_string(),
            Some(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            None => self.name.clone(),
        };
        // A carriage return alone ends a line for some tools, but not for these.
        let (before, after): (Vec<&str>, Vec<&str>) =
            (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
        let diff = TextDiff::configure().newline_terminated(true).diff_slices(&before, &after);
        diff.unified_diff().header(&header("a/", &name), &header("b/", &name)).to_string()
    }

    /// Writes [`Target::diff`] into a new file in `folder`, so that a candidate that could not be applied is
    /// not lost. Returns the file.
    pub fn save_patch(&self, candidate: &str, folder: &Path) -> Result<PathBuf, CodeError> {
        let failed = |path: &Path, source| CodeError::Io { path: path.to_path_buf(), doing: "written", source };
        fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
        let stem =
            self.path.as_ref().and_then(|p| p.file_stem()).map_or_else(|| "text".into(), |s| s.to_string_lossy());
        let mut number = 1;
        loop {
            let count = if number == 1 { String::new() } else { format!("-{number}") };
            let path = folder.join(format!("{stem}-{}{count}.patch", self.name));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(self.diff(candidate).as_bytes()).map_err(|e| failed(&path, e))?;
                    return Ok(path);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(&path, error)),
            }
        }
    }
}
