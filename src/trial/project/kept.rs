//! What the tests of a project do without a candidate, on disk.
//!
//! Only runs that no candidate had a part in are kept, in the user's own folder, which no candidate reaches.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::baseline::Seen;
use super::{Base, Project};
use crate::files;
use crate::hash::hex;
use crate::trial::judge::record::Names;

/// The largest file of runs.
const LARGEST: u64 = 16 << 20;

/// Where runs are kept, and what they depend on besides the project.
#[derive(Debug)]
pub struct Kept {
    /// The folder.
    pub folder: PathBuf,
    /// The programs that run the tests.
    pub setting: Vec<u8>,
    /// Folders of installed packages outside of the project.
    pub packages: Vec<PathBuf>,
    /// Where in such a folder an installation leaves its time.
    pub inner: PathBuf,
}

/// The file of one project, tests and program.
#[derive(Debug)]
pub struct Place(PathBuf);

#[derive(Serialize, Deserialize)]
struct Line {
    names: Names,
    elapsed: Duration,
}

impl Kept {
    /// Where the runs on a project as it is now, with this program in place of the candidate, belong.
    pub fn place(&self, project: &Project, base: &Base, without: Option<&str>) -> Place {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(&self.setting);
        add(format!("{project:?}").as_bytes());
        add(without.map_or(&[][..], str::as_bytes));
        // The program stands in the place of this one.
        for (path, stamp) in base.stamps().filter(|(path, _)| without.is_none() || **path != project.file) {
            add(path.as_os_str().as_encoded_bytes());
            add(format!("{stamp:?}").as_bytes());
        }
        for path in base.dependencies().iter().chain(&self.packages) {
            let time = |path: PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).ok();
            let folder = project.root.join(path);
            add(path.as_os_str().as_encoded_bytes());
            add(format!("{:?} {:?}", time(folder.join(&self.inner)), time(folder)).as_bytes());
        }
        Place(self.folder.join(hex(&hash.finalize())).with_extension("json"))
    }
}

impl Place {
    /// The runs that are known; none where the file is missing or is not one of ours.
    pub fn read(&self) -> Vec<Seen> {
        let Some(lines) = files::text(&self.0, LARGEST).ok().and_then(|text| serde_json::from_str(&text).ok()) else {
            return Vec::new();
        };
        let _ = fs::File::options().append(true).open(&self.0).map(|file| file.set_modified(SystemTime::now()));
        let lines: Vec<Line> = lines;
        lines.into_iter().map(|line| Some((line.names, line.elapsed))).collect()
    }

    /// Keeps runs that came to an end and found tests; that they are kept is not necessary.
    pub fn write(&self, runs: &[Seen]) {
        let is_whole = |names: &Names| names.complaint.is_empty() && !names.tests.is_empty();
        let lines: Option<Vec<Line>> = runs
            .iter()
            .map(|seen| seen.clone().filter(|(names, _)| is_whole(names)))
            .map(|seen| seen.map(|(names, elapsed)| Line { names: Names { nonce: String::new(), ..names }, elapsed }))
            .collect();
        let Some(bytes) = lines.and_then(|lines| serde_json::to_vec(&lines).ok()) else { return };
        let _ = files::replace(&self.0, |error| error, |file| file.write_all(&bytes));
        if let Some(folder) = self.0.parent() {
            files::sweep(folder, |file| file);
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
        let place = Place(folder.path().join("inner/runs.json"));
        assert_eq!(place.read(), []);
        for broken in [None, seen("no module"), Some((Names::default(), Duration::ZERO))] {
            place.write(&[seen(""), broken]);
            assert_eq!(place.read(), []);
        }
        place.write(&[seen("")]);
        let expected = seen("").map(|(names, elapsed)| (Names { nonce: String::new(), ..names }, elapsed));
        assert_eq!(place.read(), [expected]);
        fs::write(&place.0, "[{}]").unwrap();
        assert_eq!(place.read(), []);
    }

    #[test]
    fn they_depend_on_all_but_the_file_of_the_candidate() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir_all(root.join(".venv/site")).unwrap();
        for (name, text) in [("pyproject.toml", ""), ("code.py", "1"), ("test_code.py", "2"), (".venv/pyvenv.cfg", "")]
        {
            fs::write(root.join(name), text).unwrap();
        }
        let project = Project::around(&root.join("code.py"), Some(&root.join("test_code.py"))).unwrap();
        let kept = |setting: &str| {
            let base = Base::new(&root).unwrap();
            assert_eq!(base.dependencies(), [PathBuf::from(".venv")]);
            let packages = vec![folder.path().join("packages")];
            let kept = Kept { folder: "kept".into(), setting: setting.into(), packages, inner: "site".into() };
            (kept.place(&project, &base, Some("without")).0, kept.place(&project, &base, None).0)
        };
        let first = kept("python");
        assert_eq!(kept("python"), first);
        assert!(kept("another").0 != first.0 && first.0 != first.1);
        fs::write(root.join("code.py"), "a candidate").unwrap();
        assert!(kept("python").0 == first.0 && kept("python").1 != first.1);
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
