//! Fetches a model into the cache, so that every tool that uses the cache finds it there.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::access::Access;
use super::blob::{Blobs, Bytes, ResolvedFile};
use super::client::Client;
use super::wanted::{Listing, Remote};
use super::{HubCache, HubError, Repository};
use crate::model::ModelError;
use crate::model::checkpoint::{self, INDEX};
use crate::model::config;
use crate::web::Patience;

/// Files that are fetched at the same time.
const TOGETHER: usize = 4;

/// Events while a model is fetched.
#[derive(Debug)]
pub enum Event<'a> {
    /// So many bytes more have to be there in the end.
    Wanted { bytes: u64 },
    /// So many bytes more are there; `came` if they came just now.
    Bytes { count: u64, came: bool },
    /// So many bytes have to come again.
    Lost { count: u64 },
    /// A file is whole.
    File { path: &'a str },
}

/// A model that is there.
#[derive(Debug)]
pub struct Pulled {
    /// Its folder in the cache.
    pub folder: PathBuf,
    /// Bytes of its files.
    pub bytes: u64,
    /// Bytes that had to come.
    pub came: u64,
}

/// Fetches what of `repository` is needed to use it. An earlier try is gone on with.
pub fn pull(
    repository: &Repository,
    cache: &HubCache,
    access: &Access,
    patience: Patience,
    tell: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Pulled, HubError> {
    let client = Client::new(access.clone(), patience);
    let listing = Listing::fetch(&client, repository)?;
    let place = cache.folder.join(repository.folder_name());
    let (folder, locks) = (place.join("blobs"), cache.folder.join(".locks").join(repository.folder_name()));
    for folder in [&folder, &locks] {
        fs::create_dir_all(folder).map_err(|source| HubError::Write { path: folder.clone(), source })?;
    }
    let blobs = Blobs { client: &client, repository, commit: &listing.commit, folder, locks };
    let pulling = Pulling { blobs, tell, snapshot: place.join("snapshots").join(&listing.commit) };
    let described = pulling.fetch(&listing.description(repository)?)?;
    let mut files = vec![described];
    if !listing.is_gguf(repository) {
        pulling.check()?;
        files.push(pulling.fetch(&listing.weights(repository, &pulling.shards()?)?)?);
    }
    // Last of all: who looks for the revision finds it whole.
    if repository.revision != listing.commit {
        let path = place.join("refs").join(&repository.revision);
        let failed = |source| HubError::Write { path: path.clone(), source };
        fs::create_dir_all(path.parent().unwrap_or(&place)).map_err(failed)?;
        fs::write(&path, &listing.commit).map_err(failed)?;
    }
    let (bytes, came) = files.iter().fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
    Ok(Pulled { folder: pulling.snapshot, bytes, came })
}

struct Pulling<'a> {
    blobs: Blobs<'a>,
    tell: &'a (dyn Fn(Event<'_>) + Sync),
    /// Where the files stand under their own names.
    snapshot: PathBuf,
}

impl Pulling<'_> {
    /// Refuses an architecture that cannot be used before its weights are fetched.
    fn check(&self) -> Result<(), HubError> {
        config::of_folder(&self.snapshot).map(drop).map_err(|source| self.unusable(source))
    }

    fn unusable(&self, source: ModelError) -> HubError {
        HubError::Unusable { id: self.blobs.repository.id.clone(), source: Box::new(source) }
    }

    /// The files of the weights that the index lists, if there is one.
    fn shards(&self) -> Result<Vec<String>, HubError> {
        let index = self.snapshot.join(INDEX);
        if !index.exists() {
            return Ok(Vec::new());
        }
        let shards = checkpoint::shards(&index).map_err(|source| self.unusable(source))?;
        Ok(shards.into_iter().collect())
    }

    /// Fetches the files, a few at a time; their bytes, and how many of these had to come.
    fn fetch(&self, files: &[Remote]) -> Result<(u64, u64), HubError> {
        let resolved = files.iter().map(|file| self.blobs.resolve(file)).collect::<Result<Vec<_>, _>>()?;
        let bytes = resolved.iter().map(|file| file.size).fold(0, u64::saturating_add);
        let missing = resolved.iter().map(|file| self.blobs.missing(file)).fold(0, u64::saturating_add);
        self.expect_room(missing)?;
        (self.tell)(Event::Wanted { bytes });
        let queue = Mutex::new(resolved.iter().collect::<VecDeque<_>>());
        let (stop, first) = (AtomicBool::new(false), Mutex::new(None));
        std::thread::scope(|scope| {
            for _ in 0..TOGETHER.min(resolved.len()) {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                        let Some(file) = next else { return };
                        if let Err(error) = self.fetch_one(file, &stop) {
                            stop.store(true, Ordering::Relaxed);
                            first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        }
                    }
                });
            }
        });
        match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok((bytes, missing)),
        }
    }

    fn fetch_one(&self, file: &ResolvedFile, stop: &AtomicBool) -> Result<(), HubError> {
        self.blobs.fetch(file, &mut |bytes| {
            (self.tell)(match bytes {
                Bytes::Kept(count) => Event::Bytes { count, came: false },
                Bytes::Came(count) => Event::Bytes { count, came: true },
                Bytes::Lost(count) => Event::Lost { count },
            });
            !stop.load(Ordering::Relaxed)
        })?;
        if !stop.load(Ordering::Relaxed) {
            self.link(file)?;
            (self.tell)(Event::File { path: &file.path });
        }
        Ok(())
    }

    /// The file under its own name, as a link to the blob.
    fn link(&self, file: &ResolvedFile) -> Result<(), HubError> {
        let path = self.snapshot.join(&file.path);
        let failed = |source| HubError::Write { path: path.clone(), source };
        fs::create_dir_all(path.parent().unwrap_or(&self.snapshot)).map_err(failed)?;
        let up = "../".repeat(file.path.split('/').count() + 1);
        let target = PathBuf::from(format!("{up}blobs/{}", file.etag));
        if fs::read_link(&path).is_ok_and(|found| found == target) {
            return Ok(());
        }
        let new = path.with_file_name(format!(".{}.new", file.etag));
        let _ = fs::remove_file(&new);
        std::os::unix::fs::symlink(&target, &new).map_err(failed)?;
        fs::rename(&new, &path).map_err(failed)
    }

    fn expect_room(&self, need: u64) -> Result<(), HubError> {
        match free(&self.blobs.folder) {
            Some(free) if free < need => {
                Err(HubError::Space { folder: self.blobs.folder.clone(), free: bytes(free), need: bytes(need) })
            }
            _ => Ok(()),
        }
    }
}

/// Free bytes where the folder is, if the system says it.
fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    found.f_bavail.checked_mul(found.f_frsize)
}

/// A number of bytes for people.
pub fn bytes(count: u64) -> String {
    let count = count as f64;
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    match units.iter().find(|(_, unit)| count >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", count / unit),
        None => format!("{count} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bytes_are_readable() {
        let texts = [0, 999, 1500, 15_231_233_024, 1 << 60].map(bytes);
        assert_eq!(texts, ["0 bytes", "999 bytes", "1.5 kB", "15.2 GB", "1152921.5 TB"]);
        assert!(free(Path::new("/")).is_some());
    }
}
