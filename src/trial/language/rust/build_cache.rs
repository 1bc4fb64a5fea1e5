//! The build cache of a project: its copies and finished builds.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::baseline::Baseline;
use super::cache_folder::{CacheFolder, Stamp, State};
use super::manifest::Manifest;
use crate::sandbox::Scratch;
use crate::trial::language::row::{Base, Context, Copy, Project, Tool, TrialError, Verdict};
use crate::trial::project::projects::Remembered;

/// The build caches of projects.
#[derive(Debug, Default)]
pub struct BuildCaches(Mutex<HashMap<PathBuf, Arc<BuildCache>>>);

impl BuildCaches {
    /// The build cache of a project in its current state.
    pub fn of(&self, at: &Context, rustc: &Tool, project: &Project) -> Result<Arc<BuildCache>, TrialError> {
        let base = at.projects.base(project)?;
        let mut caches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = caches.get(&project.root).filter(|known| Arc::ptr_eq(&known.base, &base)) {
            return Ok(Arc::clone(known));
        }
        let (major, minor) = rustc.version;
        let compiler = format!("{} {major}.{minor}", rustc.program.display());
        caches.retain(|root, _| root.exists());
        let cached = at.cache.filter(|_| project.lone.is_none());
        let folder = CacheFolder::open(cached, &project.root, &compiler)?;
        let cache = Arc::new(BuildCache::new(base, folder));
        caches.insert(project.root.clone(), Arc::clone(&cache));
        Ok(cache)
    }
}

/// The time given to files that have not changed since the packages were compiled. It lies before that.
const OLD: Duration = Duration::from_secs(1_000_000_000);

/// Files that all packages depend on.
const FOUNDATION: &[&str] =
    &["Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml", "config.toml", "config"];

/// State shared by the builds of a project.
#[derive(Debug)]
pub struct BuildCache {
    pub base: Arc<Base>,
    pub folder: CacheFolder,
    /// The files in their current state.
    files: BTreeMap<PathBuf, Stamp>,
    /// The names of its packages.
    packages: Vec<String>,
    /// Known baselines of tests. One trial at a time looks for one.
    pub known: Mutex<HashMap<String, Arc<Baseline>>>,
    /// Verdicts of whole test programs with a candidate, if all their tests passed, see [`super::confirm`].
    pub whole: Remembered<Option<Verdict>>,
}

impl BuildCache {
    fn new(base: Arc<Base>, folder: CacheFolder) -> Self {
        let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos() as u64);
        let files: BTreeMap<PathBuf, Stamp> = base
            .stamps()
            .filter_map(|(path, stamp)| stamp.map(|(size, time)| (path.clone(), (size, since(time)))))
            .collect();
        let manifests = files.keys().filter(|path| path.ends_with("Cargo.toml"));
        let packages =
            manifests.filter_map(|path| Some(Manifest::parse(&base.read(path).ok()?)?.package()?.to_owned())).collect();
        Self { base, folder, files, packages, known: Mutex::default(), whole: Remembered::default() }
    }

    /// State of all files but those of a candidate and its tests, in words.
    pub fn state(&self, project: &Project) -> String {
        let others =
            self.files.iter().filter(|(path, _)| **path != project.file && project.tests.as_ref() != Some(*path));
        let words: Vec<String> =
            others.map(|(path, (size, time))| format!("{} {size} {time}", path.display())).collect();
        words.join("\n")
    }

    /// Returns true if the shared packages have to be compiled anew.
    pub fn is_outdated(&self, project: &Project) -> bool {
        let Some(built) = self.folder.read::<State>("built.json") else { return true };
        let matters = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            FOUNDATION.contains(&name) || !path.starts_with(&project.package)
        };
        let of = |files: &BTreeMap<PathBuf, Stamp>| -> Vec<(PathBuf, Stamp)> {
            files.iter().filter(|(path, _)| matters(path)).map(|(path, stamp)| (path.clone(), *stamp)).collect()
        };
        of(&built.files) != of(&self.files)
    }

    /// A copy to build in. Cargo treats a file as unchanged if it is as old as the compiled packages.
    pub fn copy(&self, project: &Project) -> Result<Copy, TrialError> {
        let copy = self.base.copy(project, None).map_err(TrialError::Sandbox)?;
        let built = self.folder.read::<State>("built.json").unwrap_or_default();
        // The user's own versions, also where git ignores the file.
        for folder in project.package.ancestors() {
            let path = folder.join("Cargo.lock");
            if let Ok(text) = fs::read_to_string(project.root.join(&path)) {
                copy.put(&path, &text)?;
                break;
            }
        }
        if let Some((path, text)) = built.versions.filter(|_| versions(&copy, project).is_none()) {
            copy.put(&path, &text)?;
        }
        let same = self.files.iter().filter(|(path, stamp)| built.files.get(*path) == Some(*stamp));
        let mut folders = vec![PathBuf::new()];
        for (path, _) in same {
            let file = copy.path().join(path);
            if fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()) {
                let _ = File::open(&file).and_then(|file| file.set_modified(UNIX_EPOCH + OLD));
            }
            folders.extend(path.ancestors().skip(1).map(Path::to_path_buf));
        }
        folders.sort();
        folders.dedup();
        for folder in folders {
            let _ = File::open(copy.path().join(folder)).and_then(|folder| folder.set_modified(UNIX_EPOCH + OLD));
        }
        Ok(copy)
    }

    /// Records that the packages were compiled in this copy.
    pub fn has_built(&self, project: &Project, copy: &Copy) {
        let versions = versions(copy, project)
            .filter(|path| !self.files.contains_key(path) && !project.root.join(path).is_file())
            .and_then(|path| Some((path.clone(), fs::read_to_string(copy.path().join(path)).ok()?)));
        self.folder.write("built.json", &State { files: self.files.clone(), versions });
    }

    /// A target folder for one build.
    pub fn branch(&self) -> Result<Scratch, TrialError> {
        Ok(self.folder.branch(&self.packages)?)
    }
}

/// The lock file with the versions of all packages in a copy.
pub fn versions(copy: &Copy, project: &Project) -> Option<PathBuf> {
    let mut paths = project.package.ancestors().map(|folder| folder.join("Cargo.lock"));
    paths.find(|path| copy.path().join(path).is_file())
}
