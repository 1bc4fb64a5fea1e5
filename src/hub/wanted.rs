//! Which files of a repository are a model.

use serde::Deserialize;

use super::client::{Answer, Client, Follow, encode};
use super::repository::is_path;
use super::{HubError, Repository};
use crate::files;
use crate::model::checkpoint::{INDEX, SINGLE as WEIGHTS};
use crate::model::config::FILE as CONFIG;
use crate::model::slow_tokenizer::{MERGES, VOCABULARY};
use crate::model::{chat, gguf, tokenizer};

/// A file of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub path: String,
    /// Bytes, if the listing has them.
    pub size: Option<u64>,
    /// Names the content, if the listing does: the SHA-256 of large files.
    pub etag: Option<String>,
}

/// Contents of a repository at a revision.
#[derive(Debug)]
pub struct Listing {
    pub commit: String,
    pub files: Vec<Remote>,
}

#[derive(Deserialize)]
struct Document {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    #[serde(rename = "blobId")]
    blob: Option<String>,
    lfs: Option<Large>,
}

#[derive(Deserialize)]
struct Large {
    #[serde(alias = "oid")]
    sha256: Option<String>,
    size: Option<u64>,
}

/// Files that describe a model, beside its weights.
const DESCRIPTION: &[&str] = &[
    CONFIG,
    "generation_config.json",
    tokenizer::FILE,
    chat::SETTINGS,
    chat::FILE,
    "special_tokens_map.json",
    "added_tokens.json",
    "tokenizer.model",
    VOCABULARY,
    MERGES,
];

impl Listing {
    /// Most bytes of a listing.
    const MOST: u64 = 32 << 20;

    /// Asks the hub.
    pub fn fetch(client: &Client, repository: &Repository) -> Result<Self, HubError> {
        let revision = encode(&repository.revision, b"");
        let path = format!("/api/models/{}/revision/{revision}?blobs=true", repository.id);
        let answer = client.get(&path, 0, Follow::All)?;
        if !answer.status.is_success() {
            return Err(client.refused(&answer, repository, &format!("revision {}", repository.revision)));
        }
        let host = client.host();
        Self::read(answer).map_err(|problem| HubError::Answer { host, what: path, problem })
    }

    fn read(answer: Answer) -> Result<Self, String> {
        let bytes = files::read_all(answer.body, Self::MOST).map_err(|e| e.to_string())?;
        let document: Document = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
        if document.sha.is_empty() || !document.sha.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err("its `sha` is no commit".to_owned());
        }
        let files = document.siblings.into_iter().filter(|file| is_path(&file.rfilename)).map(|file| {
            let (hash, size) = file.lfs.map_or((None, None), |lfs| (lfs.sha256, lfs.size));
            Remote { path: file.rfilename, size: size.or(file.size), etag: hash.or(file.blob) }
        });
        Ok(Self { commit: document.sha, files: files.collect() })
    }

    fn has(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path)
    }

    fn named(&self, names: &[&str]) -> Vec<Remote> {
        self.files.iter().filter(|file| names.contains(&file.path.as_str())).cloned().collect()
    }

    /// The files that say what the model is; of one in GGUF files these themselves.
    pub fn description(&self, repository: &Repository) -> Result<Vec<Remote>, HubError> {
        let id = repository.id.clone();
        let paths: Vec<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        if let Some(pattern) = &repository.file {
            return Ok(self.named(&gguf_files(&id, &paths, pattern)?));
        }
        let missing =
            |what, instead: &str| Err(HubError::NoModel { id: id.clone(), what, instead: instead.to_owned() });
        if !self.has(WEIGHTS) && !self.has(INDEX) {
            let pickle = |path: &&str| [".bin", ".pt", ".pth", ".ckpt"].iter().any(|end| path.ends_with(end));
            if paths.iter().any(|path| gguf::is_name(path.as_ref())) {
                gguf_files(&id, &paths, "")?;
            }
            return match paths.into_iter().find(pickle) {
                Some(file) => Err(HubError::Pickles { id: id.clone(), file: file.to_owned() }),
                None => missing(WEIGHTS, ""),
            };
        }
        if !self.has(CONFIG) {
            return missing(CONFIG, "");
        }
        if !(self.has(tokenizer::FILE) || self.has(VOCABULARY) && self.has(MERGES)) {
            return missing(tokenizer::FILE, ", vocab.json and merges.txt neither");
        }
        let index = if self.has(WEIGHTS) { None } else { Some(INDEX) };
        Ok(self.named(&DESCRIPTION.iter().copied().chain(index).collect::<Vec<_>>()))
    }

    /// The files of the weights; `shards` are what the index lists.
    pub fn weights(&self, repository: &Repository, shards: &[String]) -> Result<Vec<Remote>, HubError> {
        if shards.is_empty() {
            return Ok(self.named(&[WEIGHTS]));
        }
        match shards.iter().find(|shard| !self.has(shard)) {
            None => Ok(self.named(&shards.iter().map(String::as_str).collect::<Vec<_>>())),
            Some(missing) => Err(HubError::NoModel {
                id: repository.id.clone(),
                what: "complete weights",
                instead: format!(": its index lists {missing}, which is not there"),
            }),
        }
    }
}

/// The files of the one model that `pattern` means: a name, a pattern with `*` and `?`, or a part between the
/// marks of a name such as `Q4_K_M`.
pub fn gguf_files<'a>(id: &str, paths: &[&'a str], pattern: &str) -> Result<Vec<&'a str>, HubError> {
    let all: Vec<&str> = paths.iter().copied().filter(|path| gguf::is_name(path.as_ref())).collect();
    let exact: Vec<&str> = all.iter().copied().filter(|path| *path == pattern).collect();
    let found: Vec<&str> =
        if exact.is_empty() { all.iter().copied().filter(|path| matches(pattern, path)).collect() } else { exact };
    let model = |path: &'a str| gguf::part_of(path).map_or(path, |part| part.name);
    let mut models: Vec<&str> = found.iter().map(|path| model(path)).collect();
    models.sort_unstable();
    models.dedup();
    let choose = |found| {
        let mut names: Vec<&str> = all.iter().copied().take(40).collect();
        if names.is_empty() {
            names.push("no GGUF file");
        }
        let (id, pattern) = (id.to_owned(), if pattern.is_empty() { "a GGUF file" } else { pattern }.to_owned());
        Err(HubError::Choose { id, pattern, found, files: names.join(", ") })
    };
    match models[..] {
        [] if pattern.is_empty() => choose("what has to be chosen"),
        [] => choose("no file"),
        // All parts, whichever of them was named.
        [one] => Ok(all.into_iter().filter(|path| model(path) == one).collect()),
        _ => choose("more than one file"),
    }
}

/// `pattern` means the file, by its whole path or its name alone; case does not count.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.to_lowercase(), path.to_lowercase());
    let name = path.rsplit('/').next().unwrap_or(&path);
    if pattern.contains(['*', '?']) {
        return glob(pattern.as_bytes(), path.as_bytes()) || glob(pattern.as_bytes(), name.as_bytes());
    }
    if gguf::is_name(pattern.as_ref()) {
        return pattern == name || pattern == path;
    }
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
    let whole = |(at, part): (usize, &str)| {
        edge(name[..at].chars().next_back()) && edge(name[at + part.len()..].chars().next())
    };
    !pattern.is_empty() && name.match_indices(pattern.as_str()).any(whole)
}

/// `*` is any text, `?` any byte. Linear in the text for each `*`.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == b'?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, from)) => {
                    (p, t) = (at + 1, from + 1);
                    star = Some((at, t));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(paths: &[&str]) -> Listing {
        let files = paths.iter().map(|path| Remote { path: (*path).to_owned(), size: None, etag: None });
        Listing { commit: "c".to_owned(), files: files.collect() }
    }

    fn wanted(paths: &[&str], name: &str) -> Result<Vec<String>, String> {
        let repository = Repository::parse(name).unwrap();
        let files = listing(paths).description(&repository).map_err(|e| e.to_string())?;
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    #[test]
    fn only_what_a_model_needs_is_wanted() {
        let paths =
            ["README.md", "config.json", "tokenizer.json", "model.safetensors", "pytorch_model.bin", "a/config.json"];
        assert_eq!(wanted(&paths, "a/b").unwrap(), ["config.json", "tokenizer.json"]);
        let older = ["config.json", "vocab.json", "merges.txt", "model.safetensors"];
        assert_eq!(wanted(&older, "a/b").unwrap(), older[..3]);
        let repository = Repository::parse("a/b").unwrap();
        let weights = |paths: &[&str], shards: &[&str]| {
            let shards: Vec<String> = shards.iter().map(|s| (*s).to_owned()).collect();
            let found = listing(paths).weights(&repository, &shards).map_err(|e| e.to_string())?;
            Ok::<_, String>(found.into_iter().map(|file| file.path).collect::<Vec<_>>())
        };
        assert_eq!(weights(&paths, &[]).unwrap(), ["model.safetensors"]);
        let sharded =
            ["config.json", "tokenizer.json", INDEX, "x-1.safetensors", "x-2.safetensors", "consolidated.safetensors"];
        assert_eq!(wanted(&sharded, "a/b").unwrap(), ["config.json", "tokenizer.json", INDEX]);
        assert_eq!(weights(&sharded, &["x-1.safetensors", "x-2.safetensors"]).unwrap().len(), 2);
        assert!(weights(&sharded, &["x-3.safetensors"]).unwrap_err().contains("x-3.safetensors"));
    }

    #[test]
    fn what_is_no_model_is_refused() {
        let message = |paths: &[&str], name: &str| wanted(paths, name).unwrap_err();
        assert!(message(&["config.json", "pytorch_model.bin"], "a/b").contains("only as pickles (pytorch_model.bin)"));
        assert!(message(&["README.md"], "a/b").contains("a/b has no model.safetensors"));
        assert!(message(&["model.safetensors"], "a/b").contains("no config.json"));
        assert!(message(&["model.safetensors", "config.json"], "a/b").contains("no tokenizer.json"));
        assert!(message(&["x-q4.gguf", "x-q8.gguf"], "a/b").contains("x-q4.gguf, x-q8.gguf: name one as a/b:FILE"));
    }

    #[test]
    fn a_gguf_file_is_found_by_name_pattern_or_type() {
        let paths = [
            "m-Q4_K_M.gguf", "m-Q4_K_S.gguf", "m-Q4_K_M_L.gguf", "big/m-f16-00001-of-00002.gguf",
            "big/m-f16-00002-of-00002.gguf", "README.md",
        ];
        let found = |pattern: &str| wanted(&paths, &format!("a/b:{pattern}"));
        assert_eq!(found("m-Q4_K_S.gguf").unwrap(), ["m-Q4_K_S.gguf"]);
        assert_eq!(found("q4_k_m").unwrap(), ["m-Q4_K_M.gguf"]);
        let both = ["big/m-f16-00001-of-00002.gguf", "big/m-f16-00002-of-00002.gguf"];
        for pattern in ["f16", "*f16*", "big/*.gguf", "m-f16-00002-of-00002.gguf", "big/m-f16-00001-of-00002.gguf"] {
            assert_eq!(found(pattern).unwrap(), both, "{pattern}");
        }
        assert!(found("*Q4*").unwrap_err().contains("*Q4* is more than one file of a/b"));
        assert!(found("q5_0").unwrap_err().contains("q5_0 is no file of a/b"));
    }

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*b*c", "aXbYbc", true),
            ("a*b", "aXbc", false),
            ("?", "", false),
            ("a?c", "abc", true),
            ("**x", "x", true),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(glob(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
    }
}
