//! The local cache of the Hugging Face hub, read only.
//!
//! Its form (<https://huggingface.co/docs/huggingface_hub/guides/manage-cache>):
//! `models--ORG--NAME/refs/main` holds the revision that `models--ORG--NAME/snapshots/REVISION/` has the
//! files of.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubCache {
    /// Its folder; need not exist.
    pub folder: PathBuf,
}

impl HubCache {
    /// Where the hub's own tools put it: `HF_HUB_CACHE`, else `HF_HOME/hub`, else `huggingface/hub` in the
    /// user's cache folder.
    pub fn find() -> Self {
        let home = directories::BaseDirs::new().map(|d| d.home_dir().to_path_buf());
        Self::find_in(&|name| std::env::var_os(name), home.as_deref())
    }

    fn find_in(variable: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Self {
        let set = |name: &str| {
            let path = variable(name).filter(|v| !v.is_empty()).map(PathBuf::from)?;
            // The hub's tools expand `~` themselves.
            Some(match (path.strip_prefix("~"), home) {
                (Ok(rest), Some(home)) => home.join(rest),
                _ => path,
            })
        };
        let hub_home = || set("HF_HOME").map(|h| h.join("hub"));
        let user_cache =
            || set("XDG_CACHE_HOME").or_else(|| Some(home?.join(".cache"))).map(|c| c.join("huggingface").join("hub"));
        Self { folder: set("HF_HUB_CACHE").or_else(hub_home).or_else(user_cache).unwrap_or_default() }
    }

    /// The folder with the files of a model: the revision of `main`, else the newest one that is there. Only
    /// a folder that holds a configuration and weights counts: a download may have stopped half way.
    pub fn snapshot(&self, id: &str) -> Option<PathBuf> {
        if !is_id(id) {
            return None;
        }
        let model = self.folder.join(format!("models--{}", id.replace('/', "--")));
        let snapshots = model.join("snapshots");
        let main = fs::read_to_string(model.join("refs").join("main")).ok().map(|r| r.trim().to_owned());
        let main =
            main.filter(|r| !r.is_empty() && r.bytes().all(|b| b.is_ascii_alphanumeric())).map(|r| snapshots.join(r));
        if let Some(folder) = main.filter(|f| is_complete(f)) {
            return Some(folder);
        }
        let all = fs::read_dir(&snapshots).ok()?.filter_map(Result::ok).map(|e| e.path()).filter(|f| is_complete(f));
        all.max_by_key(|f| (fs::metadata(f).and_then(|m| m.modified()).ok(), f.clone()))
    }
}

fn is_complete(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    has("config.json") && (has("model.safetensors") || has("model.safetensors.index.json"))
}

/// Whether `text` has the form `ORG/NAME`.
pub(super) fn is_id(text: &str) -> bool {
    let part = |p: &str| {
        p.starts_with(|c: char| c.is_ascii_alphanumeric())
            && p.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
            && !p.contains("..")
    };
    text.split_once('/').is_some_and(|(org, name)| part(org) && part(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_from_paths() {
        for id in ["Qwen/Qwen2.5-Coder-0.5B", "a/b_c"] {
            assert!(is_id(id), "{id}");
        }
        for other in ["qwen", "a/b/c", "./a", "../a", "/a", "a/", "~/a", "a/..", "a/b..c", "a b/c", "", "C:/x y"] {
            assert!(!is_id(other), "{other}");
        }
    }

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
    fn snapshots_are_found_when_they_are_complete() {
        let folder = tempfile::tempdir().unwrap();
        let cache = HubCache { folder: folder.path().to_path_buf() };
        let model = folder.path().join("models--org--name");
        let put = |file: &str, text: &str| {
            let path = model.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(cache.snapshot("org/name"), None);
        put("snapshots/aaa/config.json", "{}");
        put("refs/main", "bbb\n");
        assert_eq!(cache.snapshot("org/name"), None, "no weights yet");
        put("snapshots/aaa/model.safetensors", "");
        assert_eq!(cache.snapshot("org/name"), Some(model.join("snapshots/aaa")), "the only complete one");
        put("snapshots/bbb/config.json", "{}");
        put("snapshots/bbb/model.safetensors.index.json", "{}");
        assert_eq!(cache.snapshot("org/name"), Some(model.join("snapshots/bbb")), "the one of main");
        put("refs/main", "../../..");
        assert!(cache.snapshot("org/name").is_some_and(|f| f.starts_with(model.join("snapshots"))));
        assert_eq!(cache.snapshot("../name"), None);
    }
}
