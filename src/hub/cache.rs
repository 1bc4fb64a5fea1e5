//! The local cache of the Hugging Face hub.
//!
//! Its form (<https://huggingface.co/docs/huggingface_hub/guides/manage-cache>):
//! `models--ORG--NAME/refs/main` holds the commit that `models--ORG--NAME/snapshots/COMMIT/` has the files
//! of, as links into `models--ORG--NAME/blobs/`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::Repository;
use super::wanted::gguf_files;
use crate::files;
use crate::model::checkpoint::{self, INDEX, SINGLE as WEIGHTS};
use crate::model::config::FILE as CONFIG;
use crate::model::{ModelFiles, gguf};

/// The cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubCache {
    /// Its folder; need not exist.
    pub folder: PathBuf,
}

impl HubCache {
    /// Variables that move it, the strongest first.
    pub const VARIABLES: &[&str] = &["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"];

    /// Where the hub's own tools put it: `HF_HUB_CACHE`, else `HF_HOME/hub`, else `huggingface/hub` in the
    /// user's cache folder.
    pub fn find() -> Self {
        let home = directories::BaseDirs::new().map(|d| d.home_dir().to_path_buf());
        Self::find_in(&|name| std::env::var_os(name), home.as_deref())
    }

    fn find_in(variable: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Self {
        let folder = set(variable, home, "HF_HUB_CACHE").or_else(|| Some(hub_home(variable, home)?.join("hub")));
        Self { folder: folder.unwrap_or_default() }
    }

    /// Where the files of a model are: its folder, or its GGUF file. Taken is the commit of the revision, of
    /// `main` else the newest one that is there. Only what is whole counts: a download may have stopped half
    /// way.
    pub fn find_model(&self, repository: &Repository) -> Option<ModelFiles> {
        let place = self.folder.join(repository.folder_name());
        let snapshots = place.join("snapshots");
        let whole = |folder: PathBuf| match &repository.file {
            None if is_complete(&folder) => Some(ModelFiles::Folder(folder)),
            None if folder.join(CONFIG).exists() => None,
            None => gguf_in(&folder, &repository.id, "").map(ModelFiles::Gguf),
            Some(pattern) => gguf_in(&folder, &repository.id, pattern).map(ModelFiles::Gguf),
        };
        let commit = files::text(&place.join("refs").join(&repository.revision), files::TEXT);
        let commit = commit.map_or_else(|_| repository.revision.clone(), |text| text.trim().to_owned());
        let is_commit = !commit.is_empty() && commit.bytes().all(|b| b.is_ascii_alphanumeric());
        if let Some(found) = is_commit.then(|| snapshots.join(&commit)).and_then(whole) {
            return Some(found);
        }
        if repository.revision != Repository::MAIN {
            return None;
        }
        let mut all: Vec<PathBuf> = fs::read_dir(&snapshots).ok()?.filter_map(Result::ok).map(|e| e.path()).collect();
        all.sort_by_key(|f| (fs::metadata(f).and_then(|m| m.modified()).ok(), f.clone()));
        all.into_iter().rev().find_map(whole)
    }
}

impl HubCache {
    /// Names of the GGUF files of a repository that are here, of all its revisions.
    pub fn gguf_names(&self, repository: &Repository) -> Vec<String> {
        let snapshots = self.folder.join(repository.folder_name()).join("snapshots");
        let mut names = Vec::new();
        for snapshot in fs::read_dir(snapshots).into_iter().flatten().filter_map(Result::ok) {
            collect(&snapshot.path(), "", 2, &mut names);
        }
        names.retain(|name| gguf::is_name(name.as_ref()));
        names.sort();
        names.dedup();
        names
    }
}

/// Files of a model in the cache.
#[derive(Debug)]
pub struct Held {
    /// Folder of its repository.
    pub folder: PathBuf,
    /// Bytes that are free without it.
    pub bytes: u64,
    /// Files to delete; the whole folder if that was named.
    files: Vec<PathBuf>,
}

impl Held {
    /// Deletes it. Of links the link goes, never what they lead to outside.
    pub fn delete(&self) -> io::Result<()> {
        if self.files.is_empty() {
            return fs::remove_dir_all(&self.folder);
        }
        self.files.iter().try_for_each(fs::remove_file)
    }
}

impl HubCache {
    /// Files of a repository that are there, unfinished downloads too; of one GGUF model only its own.
    pub fn held(&self, repository: &Repository) -> Option<Held> {
        let folder = self.folder.join(repository.folder_name());
        let blobs = folder.join("blobs");
        let size = |path: &Path| fs::symlink_metadata(path).map_or(0, |m| m.len());
        if let Some(pattern) = &repository.file {
            let ModelFiles::Gguf(first) = self.find_model(repository)? else { return None };
            let mut files = gguf::parts(&first).ok()?;
            for link in files.clone() {
                // A link into the blobs takes its blob along.
                let blob = fs::canonicalize(&link).ok().filter(|_| link.is_symlink());
                files.extend(blob.filter(|blob| fs::canonicalize(&blobs).is_ok_and(|blobs| blob.starts_with(blobs))));
            }
            let bytes = files.iter().filter(|path| !path.is_symlink()).map(|path| size(path)).sum();
            return (!pattern.is_empty()).then_some(Held { folder, bytes, files });
        }
        fs::symlink_metadata(&folder).ok().filter(fs::Metadata::is_dir)?;
        let mut names = Vec::new();
        collect(&folder, "", 4, &mut names);
        let sizes = names.iter().map(|name| folder.join(name)).filter(|path| !path.is_symlink());
        let bytes = sizes.map(|path| size(&path)).sum();
        Some(Held { folder, bytes, files: Vec::new() })
    }
}

/// The folder of all of the hub's own files: `HF_HOME`, else `huggingface` in the user's cache folder.
pub(super) fn hub_home(variable: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Option<PathBuf> {
    let caches = || set(variable, home, "XDG_CACHE_HOME").or_else(|| Some(home?.join(".cache")));
    set(variable, home, "HF_HOME").or_else(|| Some(caches()?.join("huggingface")))
}

/// A folder from the environment. The hub's tools expand `~` themselves.
fn set(variable: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>, name: &str) -> Option<PathBuf> {
    let path = variable(name).filter(|v| !v.is_empty()).map(PathBuf::from)?;
    Some(match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    })
}

/// The folder has a configuration and all of its weights.
fn is_complete(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    let sharded = || {
        let index = folder.join(INDEX);
        index.is_file() && checkpoint::shards(&index).is_ok_and(|shards| shards.iter().all(|shard| has(shard)))
    };
    has(CONFIG) && (has(WEIGHTS) || sharded())
}

/// The first part of the GGUF model in a folder that `pattern` means, if all of its parts are there.
fn gguf_in(folder: &Path, id: &str, pattern: &str) -> Option<PathBuf> {
    let mut names = Vec::new();
    collect(folder, "", 2, &mut names);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut parts = gguf_files(id, &names, pattern).ok()?;
    parts.sort_unstable();
    let count = gguf::part_of(parts.first()?).map_or(1, |part| part.count);
    (parts.len() == count).then(|| folder.join(parts[0]))
}

/// Names of files in a folder and in those below it, `depth` of them.
fn collect(folder: &Path, prefix: &str, depth: usize, names: &mut Vec<String>) {
    /// More than any snapshot has.
    const MOST: usize = 10_000;
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_file() && names.len() < MOST {
            names.push(name);
        } else if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), &(name + "/"), depth - 1, names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_tools_put_it() {
        let find = |variables: &[(&str, &str)]| {
            let variables: Vec<(String, OsString)> =
                variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).into())).collect();
            let get = move |name: &str| variables.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
            HubCache::find_in(&get, Some(Path::new("/home/u"))).folder.display().to_string()
        };
        assert_eq!(find(&[]), "/home/u/.cache/huggingface/hub");
        assert_eq!(find(&[("XDG_CACHE_HOME", "/c")]), "/c/huggingface/hub");
        assert_eq!(find(&[("XDG_CACHE_HOME", "/c"), ("HF_HOME", "~/hf")]), "/home/u/hf/hub");
        assert_eq!(find(&[("HF_HOME", "/hf"), ("HF_HUB_CACHE", "/hub")]), "/hub");
    }

    #[test]
    fn models_are_found_when_they_are_complete() {
        let folder = tempfile::tempdir().unwrap();
        let cache = HubCache { folder: folder.path().to_path_buf() };
        let model = folder.path().join("models--org--name");
        let put = |file: &str, text: &str| {
            let path = model.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let find = |name: &str| match cache.find_model(&Repository::parse(name).unwrap()) {
            Some(ModelFiles::Folder(path) | ModelFiles::Gguf(path)) => {
                Some(path.strip_prefix(model.join("snapshots")).unwrap().display().to_string())
            }
            _ => None,
        };
        assert_eq!(find("org/name"), None);
        put("snapshots/aaa/config.json", "{}");
        put("refs/main", "bbb\n");
        assert_eq!(find("org/name"), None, "no weights yet");
        put("snapshots/aaa/model.safetensors", "");
        assert_eq!(find("org/name").as_deref(), Some("aaa"), "the only complete one");
        put("snapshots/bbb/config.json", "{}");
        put(
            "snapshots/bbb/model.safetensors.index.json",
            r#"{"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}"#,
        );
        put("snapshots/bbb/1.safetensors", "");
        assert_eq!(find("org/name").as_deref(), Some("aaa"), "one part is missing");
        put("snapshots/bbb/2.safetensors", "");
        assert_eq!(find("org/name").as_deref(), Some("bbb"), "the one of main");
        assert_eq!((find("org/name@aaa").as_deref(), find("org/name@v1")), (Some("aaa"), None));
        put("refs/refs/pr/1", "aaa");
        assert_eq!(find("org/name@refs/pr/1").as_deref(), Some("aaa"));
        put("refs/main", "../../..");
        assert!(find("org/name").is_some());
        put("snapshots/bbb/q/m-q8-00001-of-00002.gguf", "");
        assert_eq!(find("org/name:q8"), None);
        put("snapshots/bbb/q/m-q8-00002-of-00002.gguf", "");
        assert_eq!(find("hf.co/org/name:Q8").as_deref(), Some("bbb/q/m-q8-00001-of-00002.gguf"));
        assert_eq!(cache.gguf_names(&Repository::parse("org/name:q4").unwrap()).len(), 2);
        assert_eq!(find("org/name").as_deref(), Some("bbb"), "weights in the other layout first");
        fs::remove_dir_all(model.join("snapshots/aaa")).unwrap();
        fs::remove_file(model.join("snapshots/bbb/config.json")).unwrap();
        assert_eq!(find("org/name").as_deref(), Some("bbb/q/m-q8-00001-of-00002.gguf"), "the only model");
    }
}
