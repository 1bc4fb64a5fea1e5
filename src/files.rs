//! Files as they are read and replaced: only regular ones, never without a limit, and replaced in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most bytes of source code, tests, prompts and settings. A parser may need a hundred times as much memory.
pub const TEXT: u64 = 4 << 20;
/// Most bytes of problem sets, results and what describes a model.
pub const DATA: u64 = 256 << 20;

/// Refuses what is no regular file, or leads to none: reading a pipe may never end.
pub fn expect_regular(path: &Path) -> io::Result<()> {
    regular(&fs::metadata(path)?)
}

fn regular(metadata: &fs::Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    let found = match kind {
        _ if kind.is_file() => return Ok(()),
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {found}, expected a file")))
}

/// Opens a regular file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    expect_regular(path)?;
    // Should it have become a pipe by now, nobody waits for its other end.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// A path that names the same file from every folder.
pub fn whole_path(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}

/// All of a regular file, if that is at most `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    if file.metadata()?.len() > most {
        return Err(too_large(most));
    }
    read_all(file, most)
}

/// Like [`read`], as text.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let invalid = |e: std::string::FromUtf8Error| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error());
    String::from_utf8(read(path, most)?).map_err(invalid)
}

/// Text that nobody else may read, such as a key.
pub fn private_text(path: &Path, most: u64) -> io::Result<String> {
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        let open = "others may read the file; close it with chmod 600";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, open));
    }
    text(path, most)
}

/// Text that the user named; what is wrong with it, as the rest of a sentence that begins with its name.
pub fn named_text(path: &Path) -> Result<String, String> {
    let bytes = read(path, TEXT).map_err(|e| format!("cannot be read: {e}"))?;
    String::from_utf8(bytes).map_err(|e| format!("is not UTF-8 text: {}", e.utf8_error()))
}

/// All that a reader gives, if that is at most `most` bytes.
pub fn read_all(reader: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} MiB, the most that is read", most >> 20))
}

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

/// Time without use after which kept things are removed.
const OLDEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// Removes what lies in a folder of kept things and was not used for 30 days. `used` is the file, by the path
/// of each, whose time says when it was; where that is missing, it stays.
pub fn sweep(folder: &Path, used: impl Fn(PathBuf) -> PathBuf) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let time = fs::metadata(used(path.clone())).and_then(|meta| meta.modified());
        if time.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLDEST)) {
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// Writes files, given by their paths below a folder and their texts, and makes the folders they lie in.
#[cfg(test)]
pub fn write_all<'a>(folder: &Path, files: impl IntoIterator<Item = (&'a str, &'a str)>) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_what_nobody_used_for_long_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["old", "new", "other"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join(if name == "other" { "more" } else { "used" }), "").unwrap();
        }
        fs::write(at("file"), "").unwrap();
        let long_ago = SystemTime::now() - OLDEST - Duration::from_secs(1);
        for name in ["old/used", "other/more", "file"] {
            File::options().append(true).open(at(name)).unwrap().set_modified(long_ago).unwrap();
        }
        sweep(folder.path(), |path| path.join("used"));
        let left = || ["old", "new", "other", "file"].map(|name| at(name).exists());
        assert_eq!(left(), [false, true, true, true]);
        sweep(folder.path(), |path| path);
        assert_eq!(left(), [false, true, true, false]);
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let pipe = std::ffi::CString::new(at("pipe").to_str().unwrap()).unwrap();
        // SAFETY: a string that ends with 0.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        let _socket = UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink(at("pipe"), at("link")).unwrap();
        for (name, what) in [("pipe", "a pipe"), ("link", "a pipe"), ("socket", "a socket"), ("", "a folder")] {
            let error = read(&at(name), TEXT).unwrap_err().to_string();
            assert_eq!(error, format!("it is {what}, expected a file"));
        }
        assert_eq!(read(Path::new("/dev/zero"), TEXT).unwrap_err().to_string(), "it is a device, expected a file");
    }

    #[test]
    fn no_more_is_read_than_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "é").unwrap();
        assert_eq!(text(&path, 2).unwrap(), "é");
        assert_eq!(text(&path, 1).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(read_all(io::repeat(0), 1 << 20).unwrap_err().to_string().contains("larger than 1 MiB"));
        // A sparse file takes no room and is not read.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read(&path, DATA).unwrap_err().to_string().contains("larger than 256 MiB"));
    }
}
