//! Where the measurements of a pair of models are kept between starts.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::SourceInfo;
use crate::backend::NetworkInfo;
use crate::engine::Profile;
use crate::files;

/// Changes when older measurements would mislead.
const VERSION: u32 = 3;

/// The file of one pair, on one kind of device, with one number of threads.
#[derive(Clone, Debug)]
pub struct ProfileFile {
    path: PathBuf,
}

/// Identity of a model, as far as its speed goes.
pub fn describe(name: &str, on: &NetworkInfo) -> String {
    let NetworkInfo { device, dtype, kernel, weights: _, weight_bytes, threads } = on;
    format!("{name} {device} {dtype} {kernel} {weight_bytes} {threads}")
}

impl ProfileFile {
    /// The file of the pair with these descriptions, in `folder`.
    pub fn new(folder: &Path, info: &SourceInfo, pair: &[String]) -> Self {
        let hash = crate::hash::of(&[pair.join("\n").as_bytes(), &VERSION.to_le_bytes()].concat());
        let readable: String = info.model.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
        Self { path: folder.join(format!("{readable}-{hash:016x}.json")) }
    }

    /// Reads the measurements, if they are there and make sense.
    pub fn read(&self) -> Option<Profile> {
        let profile: Profile = serde_json::from_slice(&files::read(&self.path, files::TEXT).ok()?).ok()?;
        profile.is_sound().then_some(profile)
    }

    /// Keeps it, unless other programs disturbed the measurements: later starts would draft where it does not
    /// pay. What is not kept is measured again at the next start.
    pub fn keep(&self, profile: &Profile) {
        if !profile.is_steady() {
            return;
        }
        let write = |file: &mut File| file.write_all(&serde_json::to_vec_pretty(profile)?);
        let _ = files::replace(&self.path, |error| error, write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_found_again_by_the_same_pair_only_and_never_believed_blindly() {
        let folder = tempfile::tempdir().unwrap();
        let info = SourceInfo { model: "org/name".to_owned(), ..SourceInfo::default() };
        let file = |pair: &str| ProfileFile::new(&folder.path().join("profiles"), &info, &[pair.to_owned()]);
        let profile = Profile { main: vec![(1, 2.0)], ..Profile::default() };
        file("a").keep(&Profile { spread: 1.6, ..profile.clone() });
        assert_eq!(file("a").read(), None, "disturbed");
        file("a").keep(&Profile { spread: 1.1, ..profile.clone() });
        assert_eq!(file("a").read(), Some(profile));
        assert_eq!(file("b").read(), None);
        for nonsense in ["", "{", "{\"main\":[[0,1]],\"draft\":[],\"read\":0,\"survival\":[],\"table\":{}}"] {
            std::fs::write(&file("a").path, nonsense).unwrap();
            assert_eq!(file("a").read(), None, "{nonsense}");
        }
    }
}
