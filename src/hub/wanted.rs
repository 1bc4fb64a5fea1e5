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

    /// A GGUF file of it is meant: it is named, or there is nothing else.
    pub fn is_gguf(&self, repository: &Repository) -> bool {
        let has_gguf = || self.files.iter().any(|file| gguf::is_name(file.path.as_ref()));
        repository.file.is_some() || !self.has(WEIGHTS) && !self.has(INDEX) && has_gguf()
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
        if self.is_gguf(repository) {
            let pattern = repository.file.as_deref().unwrap_or_default();
            return Ok(self.named(&gguf_files(&id, &paths, pattern)?));
        }
        let missing =
            |what, instead: &str| Err(HubError::NoModel { id: id.clone(), what, instead: instead.to_owned() });
        if !self.has(WEIGHTS) && !self.has(INDEX) {
            let pickle = |path: &&str| [".bin", ".pt", ".pth", ".ckpt"].iter().any(|end| path.ends_with(end));
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

/// The quantisation that is meant where none is written, as other programs have it.
const USUAL: &str = "Q4_K_M";

/// The files of the one model that `pattern` means: a name, a pattern with `*` and `?`, or a part between the
/// marks of a name such as `Q4_K_M`. An empty one means the only model, or that of the usual quantisation.
pub fn gguf_files<'a>(id: &str, paths: &[&'a str], pattern: &str) -> Result<Vec<&'a str>, HubError> {
    let all: Vec<&str> = paths.iter().copied().filter(|path| gguf::is_name(path.as_ref())).collect();
    let exact: Vec<&str> = all.iter().copied().filter(|path| *path == pattern).collect();
    let by_name = |pattern: &str| all.iter().copied().filter(|path| matches(pattern, path)).collect::<Vec<_>>();
    let found = match pattern {
        _ if !exact.is_empty() => exact,
        "" => all.iter().copied().filter(|path| !is_part_of_another(path)).collect(),
        pattern => by_name(pattern),
    };
    let mut models = models_of(&found);
    if models.len() > 1 && pattern.is_empty() {
        models = models_of(&by_name(USUAL));
    }
    if models.len() > 1 {
        // `UD-Q4_K_M` is another quantisation than `Q4_K_M`, and a whole file holds what its parts do.
        let is_other = |name: &&str| !pattern.to_lowercase().contains("ud-") && name.to_lowercase().contains("ud-");
        let plain: Vec<&str> = models.iter().copied().filter(|name| !is_other(name)).collect();
        let whole = |name: &&str| plain.iter().any(|other| other.strip_suffix(".gguf") == Some(name));
        let chosen: Vec<&str> = plain.iter().copied().filter(|name| !whole(name)).collect();
        models = if chosen.len() == 1 { chosen } else { models };
    }
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
        [one] => Ok(all.into_iter().filter(|path| model_of(path) == one).collect()),
        _ => choose("more than one file"),
    }
}

/// The model that a file belongs to: the name of its parts without their numbers, or the file itself.
fn model_of(path: &str) -> &str {
    gguf::part_of(path).map_or(path, |part| part.name)
}

fn models_of<'a>(paths: &[&'a str]) -> Vec<&'a str> {
    let mut models: Vec<&str> = paths.iter().map(|path| model_of(path)).collect();
    models.sort_unstable();
    models.dedup();
    models
}

/// The file is no model of its own: it reads images, or holds what a quantisation was made with.
fn is_part_of_another(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    ["mmproj", "imatrix"].iter().any(|word| name.contains(word))
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
    !pattern.is_empty() && !is_part_of_another(name) && name.match_indices(pattern.as_str()).any(whole)
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
    fn a_quantisation_means_one_file() {
        let paths = [
            "m-Q4_K_M.gguf", "m-UD-Q4_K_M.gguf", "m-UD-Q4_K_XL.gguf", "m-F16.gguf", "mmproj-F16.gguf", "m-Q5_K_M.gguf",
            "m-Q5_K_M-00001-of-00002.gguf", "m-Q5_K_M-00002-of-00002.gguf", "Q8_0/m-Q8_0-00001-of-00002.gguf",
            "Q8_0/m-Q8_0-00002-of-00002.gguf", "imatrix.gguf",
        ];
        let found = |name: &str| wanted(&paths, name).unwrap();
        for (pattern, file) in [
            ("Q4_K_M", "m-Q4_K_M.gguf"),
            ("ud-q4_k_m", "m-UD-Q4_K_M.gguf"),
            ("Q4_K_XL", "m-UD-Q4_K_XL.gguf"),
            ("UD-Q4_K_XL", "m-UD-Q4_K_XL.gguf"),
            ("F16", "m-F16.gguf"),
            ("q5_k_m", "m-Q5_K_M.gguf"),
        ] {
            assert_eq!(found(&format!("hf.co/a/b:{pattern}")), [file], "{pattern}");
        }
        assert_eq!(found("a/b"), ["m-Q4_K_M.gguf"], "the usual one");
        assert_eq!(found("a/b:Q8_0").len(), 2, "all parts");
        assert_eq!(found("a/b:mmproj-F16.gguf"), ["mmproj-F16.gguf"]);
        assert_eq!(wanted(&["m.gguf", "mmproj-F16.gguf"], "a/b").unwrap(), ["m.gguf"], "the only one");
        let refused = wanted(&paths, "a/b:Q2_K").unwrap_err();
        assert!(refused.contains("Q2_K is no file of a/b") && refused.contains("m-UD-Q4_K_XL.gguf"), "{refused}");
        let several = wanted(&["a-Q4_K_M.gguf", "b-Q4_K_M.gguf"], "a/b:Q4_K_M").unwrap_err();
        assert!(several.contains("more than one file of a/b, which has a-Q4_K_M.gguf, b-Q4_K_M.gguf"), "{several}");
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
