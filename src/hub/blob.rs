//! One file of the hub, fetched into the cache: goes on where it was interrupted, and is believed only when
//! its checksum is right.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use ureq::http::StatusCode;

use super::client::{Answer, Client, Follow, encode};
use super::wanted::Remote;
use super::{HubError, Repository};
use crate::hash::hex;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;

/// A file of the hub with its size and its `ETag`, which says what is in it.
#[derive(Clone, Debug)]
pub struct ResolvedFile {
    pub path: String,
    pub size: u64,
    pub etag: String,
}

/// Change in the bytes of a file.
pub enum Bytes {
    /// They were there already.
    Kept(u64),
    /// They came.
    Came(u64),
    /// They have to come again.
    Lost(u64),
}

/// Where files of one repository come from and go to.
pub struct Blobs<'a> {
    pub client: &'a Client,
    pub repository: &'a Repository,
    pub commit: &'a str,
    /// `blobs/` of the repository.
    pub folder: PathBuf,
    /// For locks, as the hub's own tools take them.
    pub locks: PathBuf,
}

impl Blobs<'_> {
    fn address(&self, path: &str) -> String {
        format!("/{}/resolve/{}/{}", self.repository.id, encode(self.commit, b""), encode(path, b"/"))
    }

    /// Name and size of a file: what the listing says, else what the hub says when it is asked for the file.
    pub fn resolve(&self, file: &Remote) -> Result<ResolvedFile, HubError> {
        let (mut size, mut etag) = (file.size, file.etag.clone());
        if size.is_none() || etag.is_none() {
            let answer = self.ask(&file.path, 0, Follow::Hub)?;
            (size, etag) = (answer.size.or(size), answer.etag.or(etag));
        }
        let bad = |problem: &str| {
            let host = self.client.host();
            HubError::Answer { host, what: file.path.clone(), problem: problem.to_owned() }
        };
        let size = size.ok_or_else(|| bad("it says no size"))?;
        let plain = |tag: &String| {
            (1..=128).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        };
        let etag = etag.filter(plain).ok_or_else(|| bad("it has no ETag that can be a file's name"))?;
        Ok(ResolvedFile { path: file.path.clone(), size, etag })
    }

    fn ask(&self, path: &str, from: u64, follow: Follow) -> Result<Answer, HubError> {
        let answer = self.client.get(&self.address(path), from, follow)?;
        if answer.status.is_success() || answer.status == StatusCode::RANGE_NOT_SATISFIABLE {
            Ok(answer)
        } else {
            Err(self.client.refused(&answer, self.repository, &format!("file {path}")))
        }
    }

    /// Bytes of the file that have still to come.
    pub fn missing(&self, file: &ResolvedFile) -> u64 {
        if self.is_here(file) {
            return 0;
        }
        let have = self.partial(file).metadata().map_or(0, |m| m.len());
        file.size.saturating_sub(have)
    }

    fn is_here(&self, file: &ResolvedFile) -> bool {
        self.place(file).metadata().is_ok_and(|m| m.is_file() && m.len() == file.size)
    }

    /// Where it is once it is whole.
    pub fn place(&self, file: &ResolvedFile) -> PathBuf {
        self.folder.join(&file.etag)
    }

    fn partial(&self, file: &ResolvedFile) -> PathBuf {
        self.folder.join(format!("{}.incomplete", file.etag))
    }

    /// Fetches a file; `go_on` is asked with every piece, and `false` ends it.
    pub fn fetch(&self, file: &ResolvedFile, go_on: &mut dyn FnMut(Bytes) -> bool) -> Result<(), HubError> {
        if self.is_here(file) {
            go_on(Bytes::Kept(file.size));
            return Ok(());
        }
        let _lock = self.lock(file)?;
        let path = self.partial(file);
        let failed = |source| HubError::Write { path: path.clone(), source };
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut partial = PartialFile { file: open.map_err(failed)?, hash: Sha256::new(), len: 0 };
        partial.read(file.size).map_err(failed)?;
        go_on(Bytes::Kept(partial.len));
        let (mut failures, mut most) = (0, partial.len);
        while partial.len < file.size {
            match self.go_on(file, &path, &mut partial, go_on) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error @ (HubError::Cut { .. } | HubError::Unreachable { .. })) => {
                    failures = if partial.len > most { 0 } else { failures + 1 };
                    most = most.max(partial.len);
                    if failures >= self.client.patience.tries {
                        return Err(error);
                    }
                    std::thread::sleep(self.client.pause(failures));
                }
                Err(error) => return Err(error),
            }
        }
        // The ETag of a large file is its SHA-256; that of a small file is another hash.
        let found = hex(&partial.hash.finalize());
        if file.etag.len() == found.len() && !file.etag.eq_ignore_ascii_case(&found) {
            std::fs::remove_file(&path).map_err(failed)?;
            let (file, expected) = (file.path.clone(), file.etag.clone());
            return Err(HubError::Damaged { file, what: "SHA-256", found, expected });
        }
        partial.file.sync_all().map_err(failed)?;
        std::fs::rename(&path, self.place(file)).map_err(failed)
    }

    /// Fetches from where the partial file ends; `false` if that was not wanted any more.
    fn go_on(
        &self,
        file: &ResolvedFile,
        path: &Path,
        partial: &mut PartialFile,
        go_on: &mut dyn FnMut(Bytes) -> bool,
    ) -> Result<bool, HubError> {
        let failed = |source| HubError::Write { path: path.to_path_buf(), source };
        let answer = self.ask(&file.path, partial.len, Follow::All)?;
        let range = answer.headers.get("content-range").and_then(|v| v.to_str().ok());
        let (mut body, begins) = (answer.body, range.and_then(first_byte));
        let goes_on = answer.status == StatusCode::PARTIAL_CONTENT && begins == Some(partial.len);
        if partial.len > 0 && !goes_on {
            // The hub knows no ranges, or the partial file is not one of this file.
            go_on(Bytes::Lost(partial.len));
            partial.clear().map_err(failed)?;
            return Ok(true);
        }
        if answer.status != StatusCode::OK && !goes_on {
            let (status, what) = (answer.status.as_u16(), file.path.clone());
            return Err(HubError::Status { host: self.client.host(), status, what });
        }
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = match body.read(&mut chunk) {
                Ok(0) if partial.len < file.size => Err(ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other,
            };
            let read = read.map_err(|error| HubError::Cut {
                host: self.client.host(),
                times: self.client.patience.tries,
                why: if error.kind() == ErrorKind::UnexpectedEof {
                    "it ended early".to_owned()
                } else {
                    error.to_string()
                },
            })?;
            if partial.len + read as u64 > file.size {
                partial.clear().map_err(failed)?;
                let (expected, found) = (file.size.to_string(), "larger".to_owned());
                return Err(HubError::Damaged { file: file.path.clone(), what: "size", found, expected });
            }
            if read == 0 {
                return Ok(true);
            }
            partial.append(&chunk[..read]).map_err(failed)?;
            if !go_on(Bytes::Came(read as u64)) {
                return Ok(false);
            }
        }
    }

    /// Keeps other programs away from the file, the hub's own tools too.
    fn lock(&self, file: &ResolvedFile) -> Result<File, HubError> {
        let path = self.locks.join(format!("{}.lock", file.etag));
        let failed = |source| HubError::Write { path: path.clone(), source };
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => Err(HubError::Locked { file: file.path.clone() }),
            // A file system without locks is no reason not to load.
            _ => Ok(lock),
        }
    }
}

/// Bytes of a file that have arrived, and their hash so far.
struct PartialFile {
    file: File,
    hash: Sha256,
    len: u64,
}

impl PartialFile {
    /// Reads what an earlier try has left, if that is not too long.
    fn read(&mut self, most: u64) -> std::io::Result<()> {
        if self.file.metadata()?.len() > most {
            return self.clear();
        }
        let mut chunk = vec![0; CHUNK];
        loop {
            match self.file.read(&mut chunk)? {
                0 => return Ok(()),
                read => {
                    self.hash.update(&chunk[..read]);
                    self.len += read as u64;
                }
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all(bytes)?;
        self.hash.update(bytes);
        self.len += bytes.len() as u64;
        Ok(())
    }

    fn clear(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.hash = Sha256::new();
        self.len = 0;
        Ok(())
    }
}

/// The first byte of `bytes 5-9/10`.
fn first_byte(range: &str) -> Option<u64> {
    range.trim().strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}
