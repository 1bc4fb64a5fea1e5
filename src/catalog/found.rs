//! Models that other programs keep on this machine, used where they are: GGUF files of Ollama and LM Studio.
//! Data that these programs write about them is read with bounds and never trusted.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::files;
use crate::model::{ModelFiles, gguf};

/// Most models that are listed of one program.
const MOST: usize = 500;

/// Folders of other programs; need not exist.
#[derive(Clone, Debug, Default)]
pub struct Others {
    pub ollama: Vec<PathBuf>,
    pub lm_studio: Vec<PathBuf>,
}

/// A model of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalModel {
    /// Argument of `--model`: `ollama:NAME:TAG`, or the path.
    pub name: String,
    /// Whose it is.
    pub program: &'static str,
    /// Its files, or why it has none that could be used.
    pub file: Result<PathBuf, String>,
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    digest: String,
}

/// Where Ollama's own models come from.
const REGISTRY: &str = "registry.ollama.ai";
const LIBRARY: &str = "library";

impl Others {
    /// Prefix of the names of Ollama's models.
    pub const OLLAMA: &str = "ollama:";

    /// Variables that move Ollama's models.
    pub const VARIABLES: &[&str] = &["OLLAMA_MODELS"];

    /// Where these programs keep models: `OLLAMA_MODELS`, else the folders of the user and of the service.
    pub fn find() -> Self {
        let home = directories::BaseDirs::new().map(|d| d.home_dir().to_path_buf());
        Self::find_in(&|name| std::env::var_os(name), home.as_deref())
    }

    fn find_in(variable: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Self {
        let in_home = |folder: &str| home.map(|home| home.join(folder));
        let set = variable("OLLAMA_MODELS").filter(|v| !v.is_empty()).map(PathBuf::from);
        let usual = || in_home(".ollama/models").into_iter().chain(["/usr/share/ollama/.ollama/models".into()]);
        let lm_studio = [".lmstudio/models", ".cache/lm-studio/models"].into_iter().filter_map(in_home);
        Self { ollama: set.map_or_else(|| usual().collect(), |set| vec![set]), lm_studio: lm_studio.collect() }
    }

    /// All of them, by name.
    pub fn all(&self) -> Vec<ExternalModel> {
        let mut found = Vec::new();
        for folder in &self.ollama {
            let mut manifests = Vec::new();
            // HOST/NAMESPACE/MODEL/TAG
            walk(&folder.join("manifests"), "", 3, &mut manifests);
            for name in manifests.iter().filter(|name| name.split('/').count() == 4) {
                let file = model_of(folder, name);
                found.push(ExternalModel { name: format!("{}{}", Self::OLLAMA, short(name)), program: "Ollama", file });
            }
        }
        for folder in &self.lm_studio {
            let mut names = Vec::new();
            walk(folder, "", 3, &mut names);
            let first = |name: &&String| {
                gguf::is_name(name.as_ref()) && gguf::part_of(name).is_none_or(|part| part.number == 1)
            };
            for path in names.iter().filter(first).map(|name| folder.join(name)) {
                found.push(ExternalModel { name: path.display().to_string(), program: "LM Studio", file: Ok(path) });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found.dedup_by(|a, b| a.name == b.name);
        found
    }

    /// The file of `NAME[:TAG]`, as Ollama writes it; the error is the rest of a sentence.
    pub fn ollama(&self, name: &str) -> Result<ModelFiles, String> {
        let path = long(name).ok_or("expected is a name like ollama:qwen2.5-coder:7b")?;
        let has = |folder: &&PathBuf| folder.join("manifests").join(&path).is_file();
        if let Some(folder) = self.ollama.iter().find(has) {
            return model_of(folder, &path).map(|blob| ModelFiles::Blob(blob, name.to_owned()));
        }
        let known: Vec<String> = self.all().into_iter().filter(|f| f.program == "Ollama").map(|f| f.name).collect();
        let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        Err(format!("Ollama has no such model on this machine ({known})"))
    }
}

/// The path of a manifest, from a name as Ollama writes it.
fn long(name: &str) -> Option<String> {
    let (name, tag) = match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (name, "latest"),
    };
    let parts: Vec<&str> = name.split('/').collect();
    let path = match parts[..] {
        [model] => format!("{REGISTRY}/{LIBRARY}/{model}/{tag}"),
        [namespace, model] => format!("{REGISTRY}/{namespace}/{model}/{tag}"),
        [host, namespace, model] => format!("{host}/{namespace}/{model}/{tag}"),
        _ => return None,
    };
    let good = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
    };
    path.split('/').all(good).then_some(path)
}

/// The name, from the path of a manifest.
fn short(path: &str) -> String {
    let rest = path.strip_prefix(REGISTRY).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    let rest = rest.strip_prefix(LIBRARY).and_then(|rest| rest.strip_prefix('/')).unwrap_or(rest);
    rest.rsplit_once('/').map_or_else(|| rest.to_owned(), |(name, tag)| format!("{name}:{tag}"))
}

/// The GGUF file that a manifest names.
fn model_of(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let manifest = folder.join("manifests").join(path);
    let text = files::text(&manifest, files::TEXT).map_err(|e| format!("its manifest cannot be read: {e}"))?;
    let manifest: Manifest = serde_json::from_str(&text).map_err(|e| format!("its manifest cannot be read: {e}"))?;
    let of = |kind: &str| {
        let wanted = format!("application/vnd.ollama.image.{kind}");
        manifest.layers.iter().filter(move |layer| layer.media_type == wanted)
    };
    if of("adapter").next().is_some() {
        return Err("it is an adapter on top of another model".to_owned());
    }
    let (Some(model), None) = (of("model").next(), of("model").nth(1)) else {
        return Err("it is not one GGUF file".to_owned());
    };
    let digest =
        model.digest.strip_prefix("sha256:").filter(|d| d.len() == 64 && d.bytes().all(|b| b.is_ascii_hexdigit()));
    let blob = digest.map(|digest| folder.join("blobs").join(format!("sha256-{digest}")));
    let blob = blob.ok_or("its manifest names no checksum")?;
    if blob.is_file() { Ok(blob) } else { Err(format!("its file {} is not there", blob.display())) }
}

/// Names of files in a folder and `depth` levels below it. Links are followed no deeper than that.
fn walk(folder: &Path, prefix: &str, depth: usize, names: &mut Vec<String>) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut entries: Vec<OsString> = entries.map(|entry| entry.file_name()).take(MOST).collect();
    entries.sort();
    for entry in entries {
        let Some(name) = entry.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let path = folder.join(name);
        if names.len() >= MOST {
            return;
        } else if path.is_dir() {
            if depth > 0 {
                walk(&path, &format!("{prefix}{name}/"), depth - 1, names);
            }
        } else {
            names.push(format!("{prefix}{name}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn manifest(folder: &Path, path: &str, kind: &str, digest: &str) {
        let layer = format!(r#"{{"mediaType":"application/vnd.ollama.image.{kind}","digest":"{digest}","size":4}}"#);
        put(&folder.join("manifests").join(path), &format!(r#"{{"schemaVersion":2,"layers":[{layer}]}}"#));
    }

    #[test]
    fn models_of_ollama_are_found_by_name() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".ollama/models");
        let others = Others { ollama: vec![folder.clone()], ..Others::default() };
        let hash = "a".repeat(64);
        put(&folder.join(format!("blobs/sha256-{hash}")), "GGUF");
        for path in ["library/coder/7b", "library/coder/latest", "someone/coder/x"] {
            manifest(&folder, &format!("{REGISTRY}/{path}"), "model", &format!("sha256:{hash}"));
        }
        manifest(&folder, "hf.co/org/repo-GGUF/Q4_K_M", "model", &format!("sha256:{hash}"));
        let names: Vec<String> = others.all().into_iter().map(|found| found.name).collect();
        let expected = ["coder:7b", "coder:latest", "hf.co/org/repo-GGUF:Q4_K_M", "someone/coder:x"];
        assert_eq!(names, expected.map(|name| format!("ollama:{name}")));
        for name in expected.into_iter().chain(["coder"]) {
            assert!(
                matches!(others.ollama(name), Ok(ModelFiles::Blob(path, called)) if called == name && path.ends_with(format!("sha256-{hash}")))
            );
        }
        let error = others.ollama("codr:7b").unwrap_err();
        assert!(error.contains("no such model") && error.contains("ollama:coder:7b"), "{error}");
        for wrong in ["", "../coder", "a/b/c/d", "coder:", "..:x", "a b"] {
            assert!(others.ollama(wrong).unwrap_err().contains("expected is a name"), "{wrong}");
        }
    }

    #[test]
    fn manifests_are_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let others = Others { ollama: vec![folder.path().into()], ..Others::default() };
        let at = |name: &str| format!("{REGISTRY}/{LIBRARY}/{name}/latest");
        put(&folder.path().join("secret"), "GGUF");
        manifest(folder.path(), &at("out"), "model", "sha256:../../secret");
        manifest(folder.path(), &at("gone"), "model", &format!("sha256:{}", "b".repeat(64)));
        manifest(folder.path(), &at("adapter"), "adapter", "sha256:1");
        manifest(folder.path(), &at("template"), "template", "sha256:1");
        put(&folder.path().join("manifests").join(at("broken")), "{\"layers\":[{}]");
        put(&folder.path().join("manifests").join(at("odd")), "[]");
        put(&folder.path().join("manifests").join(at("huge")), "");
        fs::File::options()
            .write(true)
            .open(folder.path().join("manifests").join(at("huge")))
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        // A folder that holds itself.
        let here = folder.path().join("manifests").join(REGISTRY);
        std::os::unix::fs::symlink(&here, here.join(LIBRARY).join("loop")).unwrap();
        let found = others.all();
        let problem = |name: &str| {
            let found = found.iter().find(|f| f.name == format!("ollama:{name}:latest"));
            found.and_then(|f| f.file.clone().err()).unwrap_or_default()
        };
        for (name, words) in [
            ("out", "names no checksum"),
            ("gone", "is not there"),
            ("adapter", "an adapter"),
            ("template", "not one GGUF file"),
            ("broken", "cannot be read"),
            ("odd", "not one GGUF file"),
            ("huge", "larger than"),
        ] {
            assert!(problem(name).contains(words), "{name}: {}", problem(name));
        }
        assert!(found.len() < 50, "{}", found.len());
    }

    #[test]
    fn models_of_lm_studio_are_listed_by_path() {
        let home = tempfile::tempdir().unwrap();
        let others = Others::find_in(&|_| None, Some(home.path()));
        let folder = home.path().join(".lmstudio/models");
        for file in
            ["org/repo/a.gguf", "org/repo/b-00001-of-00002.gguf", "org/repo/b-00002-of-00002.gguf", "org/repo/x.txt"]
        {
            put(&folder.join(file), "GGUF");
        }
        let names: Vec<String> = others.all().into_iter().map(|found| found.name).collect();
        let expected = ["org/repo/a.gguf", "org/repo/b-00001-of-00002.gguf"];
        assert_eq!(names, expected.map(|file| folder.join(file).display().to_string()));
        let set = Others::find_in(&|name| (name == "OLLAMA_MODELS").then(|| "/m".into()), Some(home.path()));
        assert_eq!((set.ollama.len(), others.ollama.len()), (1, 2));
    }
}
