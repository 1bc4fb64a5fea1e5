//! The cache of baselines on disk.
//!
//! Only results without any code of a candidate are cached, in the user's own folder, which no candidate can
//! write to. A file is used only if it belongs to exactly this project, tests and tools, and is byte for byte
//! as it was written.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::baseline::Seen;
use super::{Base, Project};
use crate::files;
use crate::hash::hex;
use crate::trial::judge::record::Names;

/// Size limit of a cache file.
const LARGEST: u64 = 16 << 20;

/// Folder of the cache, and the inputs of its results besides the project.
#[derive(Debug)]
pub struct BaselineCache {
    /// The folder.
    pub folder: PathBuf,
    /// The drivers that run the tests.
    pub setting: Vec<u8>,
    /// Tools, and folders of installed packages outside of the project.
    pub packages: Vec<PathBuf>,
    /// Files in a folder of packages that show the time of an installation.
    pub inner: Vec<PathBuf>,
}

/// The cache file of one project, tests and program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheFile(PathBuf);

#[derive(Serialize, Deserialize)]
struct Line {
    names: Names,
    elapsed: Duration,
}

impl BaselineCache {
    /// The cache file for runs on a project in its current state, with this program in place of the
    /// candidate.
    pub fn file(&self, project: &Project, base: &Base, without: Option<&str>) -> CacheFile {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        // Another version may run the tests differently.
        add(env!("CARGO_PKG_VERSION").as_bytes());
        add(&self.setting);
        add(format!("{project:?}").as_bytes());
        // Times can be set back, so executed files are identified by their text.
        let own = || base.read(&project.file).unwrap_or_default();
        add(without.map_or_else(own, str::to_owned).as_bytes());
        add(&[u8::from(without.is_some())]);
        // The program replaces this file.
        for (path, stamp) in base.stamps().filter(|(path, _)| without.is_none() || **path != project.file) {
            add(path.as_os_str().as_encoded_bytes());
            add(format!("{stamp:?}").as_bytes());
        }
        for path in base.dependencies().iter().chain(&self.packages) {
            let time = |path: PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).ok();
            let folder = project.root.join(path);
            let inner: Vec<_> = self.inner.iter().map(|inner| time(folder.join(inner))).collect();
            add(path.as_os_str().as_encoded_bytes());
            add(format!("{inner:?} {:?}", time(folder)).as_bytes());
        }
        CacheFile(self.folder.join(hex(&hash.finalize())).with_extension("json"))
    }
}

impl CacheFile {
    /// The cache file for a further result with these inputs.
    pub fn of(places: &[Self], what: &str) -> Option<Self> {
        let first = places.first()?;
        let names: Vec<_> = places.iter().map(|place| place.0.file_name()).collect();
        let name = hex(&Sha256::digest(format!("{what} {names:?}")));
        Some(Self(first.0.with_file_name(name).with_extension("json")))
    }

    /// The header of a cache file: a hash of its key and its text.
    fn seal(&self, text: &str) -> String {
        let name = self.0.file_name().unwrap_or_default();
        let mut hash = Sha256::new_with_prefix(name.as_encoded_bytes());
        hash.update(text);
        hex(&hash.finalize())
    }

    /// The cached value. `None` if the file is missing, was written for another key or has changed.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        let text = files::text(&self.0, LARGEST).ok()?;
        let (seal, text) = text.split_once('\n')?;
        let what = serde_json::from_str(text).ok().filter(|_| seal == self.seal(text))?;
        let _ = fs::File::options().append(true).open(&self.0).map(|file| file.set_modified(SystemTime::now()));
        Some(what)
    }

    /// Caches a value. Errors are ignored.
    pub fn write<T: Serialize>(&self, what: &T) {
        let Ok(text) = serde_json::to_string(what) else { return };
        let bytes = format!("{}\n{text}", self.seal(&text));
        let _ = files::replace(&self.0, |error| error, |file| file.write_all(bytes.as_bytes()));
        if let Some(folder) = self.0.parent() {
            files::sweep(folder, |file| file);
        }
    }

    /// The cached runs.
    pub fn runs(&self) -> Vec<Seen> {
        let lines: Vec<Line> = self.read().unwrap_or_default();
        lines.into_iter().map(|line| Some((line.names, line.elapsed))).collect()
    }

    /// Caches runs that came to an end and found tests.
    pub fn keep_runs(&self, runs: &[Seen]) {
        let is_whole = |names: &Names| names.complaint.is_empty() && !names.tests.is_empty();
        let lines: Option<Vec<Line>> = runs
            .iter()
            .map(|seen| seen.clone().filter(|(names, _)| is_whole(names)))
            .map(|seen| seen.map(|(names, elapsed)| Line { names: Names { nonce: String::new(), ..names }, elapsed }))
            .collect();
        if let Some(lines) = lines {
            self.write(&lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::evidence::{Outcome, TestEnd};

    #[allow(clippy::unnecessary_wraps, reason = "what came of a run")]
    fn seen(complaint: &str) -> Seen {
        let tests = vec![TestEnd::new("test_f", Outcome::Failed)];
        let names = Names { nonce: "n".into(), tests, complaint: complaint.into(), noticed: true, ..Names::default() };
        Some((names, Duration::from_millis(7)))
    }

    #[test]
    fn whole_runs_come_back_without_their_nonce() {
        let folder = tempfile::tempdir().unwrap();
        let place = CacheFile(folder.path().join("inner/runs.json"));
        assert_eq!(place.runs(), []);
        for broken in [None, seen("no module"), Some((Names::default(), Duration::ZERO))] {
            place.keep_runs(&[seen(""), broken]);
            assert_eq!(place.runs(), []);
        }
        place.keep_runs(&[seen("")]);
        let expected = seen("").map(|(names, elapsed)| (Names { nonce: String::new(), ..names }, elapsed));
        assert_eq!(place.runs(), [expected]);
    }

    #[test]
    fn a_file_that_was_changed_or_belongs_elsewhere_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let place = CacheFile(folder.path().join("one.json"));
        place.keep_runs(&[seen("")]);
        let text = fs::read_to_string(&place.0).unwrap();
        let plain = text.split_once('\n').unwrap().1.to_owned();
        let passes = text.replace("failed", "passed");
        assert_ne!(passes, text);
        for planted in [passes, plain, "[{}]".to_owned(), text[..text.len() - 1].to_owned(), String::new()] {
            fs::write(&place.0, &planted).unwrap();
            assert_eq!(place.runs(), [], "{planted}");
        }
        fs::write(&place.0, &text).unwrap();
        assert_eq!(place.runs().len(), 1);
        let other = CacheFile(folder.path().join("other.json"));
        fs::copy(&place.0, &other.0).unwrap();
        assert_eq!(other.runs(), []);
        let both = [place.clone(), other];
        assert!(
            CacheFile::of(&both, "a") != CacheFile::of(&both, "b")
                && CacheFile::of(&both, "a") != CacheFile::of(&both[..1], "a")
        );
    }

    #[test]
    fn they_depend_on_all_but_the_file_of_the_candidate() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        let project = crate::trial::project::sample(&root);
        fs::create_dir_all(root.join(".venv/site")).unwrap();
        fs::write(root.join(".venv/pyvenv.cfg"), "").unwrap();
        let kept = |setting: &str| {
            let base = Base::new(&root).unwrap();
            assert_eq!(base.dependencies(), [PathBuf::from(".venv")]);
            let packages = vec![folder.path().join("packages")];
            let kept =
                BaselineCache { folder: "kept".into(), setting: setting.into(), packages, inner: vec!["site".into()] };
            (kept.file(&project, &base, Some("without")).0, kept.file(&project, &base, None).0)
        };
        let first = kept("python");
        assert_eq!(kept("python"), first);
        assert!(kept("another").0 != first.0 && first.0 != first.1);
        fs::write(root.join("code.py"), "a candidate").unwrap();
        assert!(kept("python").0 == first.0 && kept("python").1 != first.1);
        // Another text of the same size and time.
        let (code, before) = (root.join("code.py"), kept("python").1);
        let time = fs::metadata(&code).unwrap().modified().unwrap();
        fs::write(&code, "b candidate").unwrap();
        fs::File::options().append(true).open(&code).unwrap().set_modified(time).unwrap();
        assert_ne!(kept("python").1, before);
        let changes: [&dyn Fn(); 3] = [
            &|| fs::write(root.join("test_code.py"), "more").unwrap(),
            &|| fs::create_dir(root.join(".venv/site/installed")).unwrap(),
            &|| fs::create_dir(folder.path().join("packages")).unwrap(),
        ];
        for change in changes {
            let before = kept("python").0;
            change();
            assert_ne!(kept("python").0, before);
        }
    }
}
