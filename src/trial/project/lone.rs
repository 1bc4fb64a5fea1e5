//! Projects of one folder, made for a file without a project: the program, its tests, and the files beside
//! them that both may need.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::list::{is_code, is_dependency};
use super::settings::is_setting;
use super::{Base, Project};
use crate::hash;
use crate::language::Language;
use crate::sandbox::Scratch;
use crate::trial::case::{Lone, Trial};
use crate::trial::error::TrialError;
use crate::trial::tool::is_own_folder;

/// Most folders that are cached; the one used last is at the end.
const MOST_FOLDERS: usize = 16;
/// Limits on the files copied from beside a file: their number, their total size, and the largest one.
const MOST_FILES: usize = 500;
const MOST_BYTES: u64 = 16 << 20;
const LARGEST: u64 = 1 << 20;
/// Folders beside a file that are searched, and the depth.
pub const TESTS: &[&str] = &["test", "tests", "__tests__", "spec", "testdata", "fixtures"];
const DEEPEST: usize = 3;

/// The files of such a project, relative to its folder. A language may rename them and add files that its
/// tools need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The file with the candidate.
    pub file: PathBuf,
    /// The text of the user's program, which stands there without a candidate.
    pub own: String,
    /// The tests file and its text; `None` stands for the examples in the program.
    pub tests: Option<(PathBuf, String)>,
    /// More files of the tools, such as a manifest.
    pub files: Vec<(PathBuf, String)>,
    /// The user's files that come along, and their places.
    pub beside: Vec<(PathBuf, PathBuf)>,
}

/// The folder of such a project, removed with the last project that uses it.
#[derive(Debug)]
pub struct Folder {
    scratch: Scratch,
    base: OnceLock<Arc<Base>>,
    /// The user's folder that it represents.
    pub of: Option<PathBuf>,
}

impl PartialEq for Folder {
    fn eq(&self, other: &Self) -> bool {
        self.scratch.path() == other.scratch.path()
    }
}

impl Eq for Folder {}

impl Folder {
    /// The copy of it, made once, since nothing else writes to it.
    pub fn base(&self) -> Result<Arc<Base>, String> {
        if let Some(base) = self.base.get() {
            return Ok(Arc::clone(base));
        }
        let base = Arc::new(Base::new(self.scratch.path())?);
        Ok(Arc::clone(self.base.get_or_init(|| base)))
    }
}

/// Cached projects, which the candidates of one function share.
#[derive(Debug, Default)]
pub struct Lones(Mutex<VecDeque<(u64, Project)>>);

impl Lones {
    /// The project of a trial. `finish` makes the layout acceptable to the language's tools.
    pub fn project(&self, trial: &Trial, lone: &Lone, finish: fn(&Trial, &mut Layout)) -> Result<Project, TrialError> {
        let (mut layout, folder) = Layout::of(trial, lone);
        layout.beside = beside_all(trial, lone, &layout, folder.as_deref());
        finish(trial, &mut layout);
        let Layout { file, tests, files, beside, .. } = &mut layout;
        let written = |path: &PathBuf| path == file || tests.iter().chain(&*files).any(|(other, _)| path == other);
        beside.retain(|(_, to)| !written(to));
        let stamps: Vec<_> =
            layout.beside.iter().map(|(from, _)| fs::metadata(from).and_then(|m| m.modified()).ok()).collect();
        let key = hash::of(format!("{:?} {layout:?} {:?} {stamps:?}", trial.language, lone.only).as_bytes());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(other, _)| *other == key);
        if let Some(known) = at.and_then(|at| all.remove(at)) {
            let project = known.1.clone();
            all.push_back(known);
            return Ok(project);
        }
        let scratch = Scratch::new()?;
        for (from, to) in &layout.beside {
            let to = scratch.path().join(to);
            fs::create_dir_all(to.parent().unwrap_or(scratch.path()))?;
            // A file that was removed meanwhile is skipped.
            let _ = fs::copy(from, to);
        }
        let Layout { file, own, tests, files, .. } = layout;
        let tests_file = tests.as_ref().map_or_else(|| file.clone(), |(path, _)| path.clone());
        let texts = [(file.clone(), own)].into_iter().chain(tests).chain(files);
        let texts: Vec<_> = texts.map(|(path, text)| (path, text.into_bytes())).collect();
        scratch.write_all(&texts)?;
        let folder = Folder { scratch, base: OnceLock::new(), of: folder };
        let project = Project {
            root: folder.scratch.path().to_path_buf(),
            package: PathBuf::new(),
            file,
            tests: Some(tests_file),
            only: lone.only.clone(),
            lone: Some(Arc::new(folder)),
        };
        // Without a text of the user's each candidate has its own project.
        if trial.stub.is_some() {
            all.push_back((key, project.clone()));
        }
        if all.len() > MOST_FOLDERS {
            all.pop_front();
        }
        Ok(project)
    }
}

impl Layout {
    /// The files under their own names, and the user's folder they stand in.
    fn of(trial: &Trial, lone: &Lone) -> (Self, Option<PathBuf>) {
        let ending = trial.language.extensions().first().copied().unwrap_or_default();
        let name = trial.file.as_deref().and_then(Path::file_name).map(PathBuf::from);
        let mut file = name.unwrap_or_else(|| PathBuf::from(format!("candidate.{ending}")));
        if !Language::of_path(&file).is_some_and(|other| other.is_kin(trial.language)) {
            file.set_extension(ending);
        }
        let mut tests = lone.tests.clone().map(|(name, text)| (name_of(&name, ending), text));
        let own_folder = trial.file.as_deref().and_then(folder_of);
        let mut of = own_folder.clone();
        // Both keep their places if one folder holds both.
        if let (Some(own), Some(other), Some((path, _))) = (own_folder, &lone.folder, &mut tests) {
            let above = own.ancestors().take(2).find(|above| other.starts_with(above) && depth(other, above) < DEEPEST);
            if let Some(above) = above.filter(|above| above.parent().is_some()) {
                let inside = |folder: &Path| folder.strip_prefix(above).unwrap_or(Path::new("")).to_path_buf();
                file = inside(&own).join(&file);
                *path = inside(other).join(&*path);
                of = Some(above.to_path_buf());
            }
        }
        if let Some((path, _)) = tests.as_mut().filter(|(path, _)| *path == file) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            path.set_file_name(format!("tests_of_{name}"));
        }
        (Self { file, own: trial.own_text().to_owned(), tests, files: Vec::new(), beside: Vec::new() }, of)
    }
}

fn depth(folder: &Path, above: &Path) -> usize {
    folder.strip_prefix(above).map_or(usize::MAX, |inside| inside.components().count())
}

/// The last part of a name, which may come from a request.
fn name_of(name: &str, ending: &str) -> PathBuf {
    let name = Path::new(name).file_name().map(PathBuf::from).unwrap_or_default();
    if name.as_os_str().is_empty() { PathBuf::from(format!("tests.{ending}")) } else { name }
}

/// The folder of a file on disk, without links.
pub fn folder_of(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|_| file.is_file())?;
    fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).ok()
}

/// The files beside the program and the tests, and their places.
fn beside_all(trial: &Trial, lone: &Lone, layout: &Layout, folder: Option<&Path>) -> Vec<(PathBuf, PathBuf)> {
    let Some(folder) = folder else { return Vec::new() };
    let own = trial.file.as_deref().and_then(folder_of);
    let texts = [trial.own_text(), layout.tests.as_ref().map_or("", |(_, text)| text)];
    let mut all = Vec::new();
    for from in own.into_iter().chain(lone.folder.clone()).filter(|from| from.starts_with(folder)) {
        let inside = from.strip_prefix(folder).unwrap_or(Path::new("")).to_path_buf();
        let files = beside(&from, &texts, &|_| false);
        all.extend(files.into_iter().map(|path| (from.join(&path), inside.join(path))));
    }
    all.sort();
    all.dedup();
    all
}

/// The files beside a file without a project that it may need, relative to the folder: code, settings of
/// runners, and data files that the texts name. Hidden files, environments and large files are left out.
/// `is_tests` tells the tests files for whose sake a folder counts, whatever its name.
fn beside(folder: &Path, texts: &[&str], is_tests: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut found, mut bytes, mut seen) = (Vec::new(), 0, HashSet::new());
    let mut folders = VecDeque::from([PathBuf::new()]);
    let is_named = |name: &str| texts.iter().any(|text| has_word(text, name));
    while let Some(inside) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(folder.join(&inside)) else { continue };
        let mut entries: Vec<_> = entries.flatten().take(4 * MOST_FILES).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (name, path) = (entry.file_name(), inside.join(entry.file_name()));
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                let is_package = entry.path().join("__init__.py").exists();
                let has_tests =
                    || fs::read_dir(entry.path()).into_iter().flatten().flatten().any(|e| is_tests(&e.path()));
                let is_wanted = is_package || TESTS.contains(&name) || is_named(name) || has_tests();
                let is_own = path.components().count() < DEEPEST && !is_dependency(name, &entry.path());
                if is_wanted && is_own && seen.insert(path.clone()) {
                    folders.push_back(path);
                }
                continue;
            }
            let is_wanted = is_code(&path) || is_setting(&path) || is_named(name);
            if !meta.is_file() || !is_wanted || meta.len() > LARGEST || bytes + meta.len() > MOST_BYTES {
                continue;
            }
            bytes += meta.len();
            found.push(path);
            if found.len() >= MOST_FILES {
                return found;
            }
        }
    }
    found
}

/// The tests files for a file without a project: those in its folder and below, and those in a folder of
/// tests beside its folder. Relative to its folder.
pub fn tests_around(folder: &Path, is_tests: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = beside(folder, &[], is_tests);
    let home = std::env::home_dir();
    let above = folder.parent().filter(|above| is_own_folder(above, home.as_deref()));
    for name in TESTS.iter().filter(|name| above.is_some_and(|above| above.join(name).is_dir())) {
        let other = Path::new("..").join(name);
        found.extend(beside(&folder.join(&other), &[], is_tests).into_iter().map(|path| other.join(path)));
    }
    found
}

/// Returns true if a text has this name between characters of which names do not consist.
fn has_word(text: &str, name: &str) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    text.match_indices(name)
        .any(|(at, _)| is_end(text[..at].chars().next_back()) && is_end(text[at + name.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_a_file_on_its_own_lie_in_folders_of_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["src/a.py", "src/specs/test_a.py", "src/other/b.py", "tests/test_b.py", "elsewhere/test_c.py"];
        let installed = ["src/node_modules/test_d.py", "src/__pypackages__/test_e.py", "src/env/test_f.py"];
        let all = files.into_iter().chain(installed).chain(["src/env/pyvenv.cfg"]);
        crate::files::write_all(folder.path(), all.map(|path| (path, "")));
        let is_tests = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("test_"));
        let mut found = tests_around(&folder.path().join("src"), &is_tests);
        found.sort();
        assert_eq!(found, ["../tests/test_b.py", "a.py", "specs/test_a.py"].map(PathBuf::from));
    }
}
