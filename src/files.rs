//! Files that are replaced in one step.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Writes a file beside its place and renames it, so that nobody ever sees half of one. Its folder is made
/// where it is missing. `failed` makes the error of what the system refuses.
pub fn replace<E>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(&failed)?;
    let mut new = tempfile::Builder::new().prefix(".bass-tui-").tempfile_in(folder).map_err(&failed)?;
    write(new.as_file_mut())?;
    new.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
