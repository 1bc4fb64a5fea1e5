//! `models.toml`: names of model pairs, built in and the user's own, and where their files are. Nothing is
//! downloaded: a model of a hub is found if it is in the local cache.
//!
//! - `models.toml` gives the size of a pair that is not on this machine. For files on this machine the
//!   `Outline` (configuration and tensor table, no weights) gives it.
//! - An entry with `server` in place of `main` is a server and its model. `Session::open` lays it over the
//!   settings; commands that need files refuse it.
//! - `memory` counts weights by storage and K/V by candidates.
//! - Manifests of Ollama are read with bounds, and only a checksum is taken from them.

mod error;
mod found;
pub mod memory;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use similar::get_close_matches;

use crate::config::{ConfigError, Paths, parse_toml};
use crate::engine::drafter::{DRAFTERS, NamedDrafter};
use crate::files;
use crate::hub::{HubCache, Repository};
use crate::language::Language;
use crate::model::{EmbeddedModel, ModelFiles, arch, gguf};

pub use error::CatalogError;
pub use found::{ExternalModel, Others};

/// The catalog that is part of the program.
const BUILT_IN: &str = include_str!("../models.toml");

/// A model pair with a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Argument of `--model` and `--draft`.
    pub name: String,
    /// Where the main model is: `embedded:main`, a folder, a GGUF file, a repository of the hub, or
    /// `ollama:NAME`. Empty where a server has it.
    #[serde(default)]
    pub main: String,
    /// Address of the server that has it.
    pub server: Option<String>,
    /// Which of that server's models it is; `None`: the only one.
    pub server_model: Option<String>,
    /// That server is sent the text after the place.
    #[serde(default)]
    pub suffix: bool,
    /// Where its draft model is; `None` for no draft.
    pub draft: Option<String>,
    /// Its use, in a sentence.
    #[serde(default)]
    pub description: String,
    /// Licence of the weights as published, if known.
    pub license: Option<String>,
    /// The languages that its makers name; none if that is not known.
    #[serde(default)]
    pub languages: Vec<Language>,
    /// `architectures[0]` of its configuration, or `general.architecture` of its GGUF file.
    pub architecture: Option<String>,
    /// Billions of weights.
    pub parameters: Option<f64>,
    /// Billions of weights that are read for a token; `None`: all of them.
    pub active: Option<f64>,
    /// Experts that a token reads, and experts of a layer.
    pub experts: Option<[u32; 2]>,
    /// Storage type of the weights.
    pub dtype: Option<Stored>,
    /// Gigabytes of its files, where their weights have several types.
    pub size: Option<f64>,
    /// Layers that hold keys and values.
    pub layers: Option<u32>,
    /// Key/value heads times their width.
    pub kv_width: Option<u32>,
    /// Millions of numbers that a sequence has beside keys and values, whatever its length.
    pub state: Option<f64>,
    /// Tokens of prompt and completion.
    pub context: Option<u32>,
    /// It is shown requests as conversations; `None`: where its name says so.
    pub chat: Option<bool>,
    /// May be proposed where it is the largest that fits.
    #[serde(default)]
    pub recommended: bool,
}

/// Number format of a published model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stored {
    F32,
    F16,
    Bf16,
}

impl Entry {
    /// The contradiction in its fields, if any: its model is on this machine or on a server.
    fn contradiction(&self) -> Option<&'static str> {
        match (self.main.is_empty(), &self.server) {
            (true, None) => Some("it has neither `main` nor `server`"),
            (false, Some(_)) => Some("it has both `main` and `server`"),
            (false, None) if self.server_model.is_some() || self.suffix => {
                Some("`server_model` and `suffix` are of a model of a `server`")
            }
            (true, Some(_)) if self.draft.is_some() => Some("a server has its own drafts: leave `draft` out"),
            _ if self.experts.is_some_and(|[used, count]| used == 0 || used > count) => {
                Some("`experts` are those that a token reads and those of a layer, such as [8, 128]")
            }
            _ => None,
        }
    }

    /// Its main model is in a GGUF file.
    fn is_gguf(&self) -> bool {
        self.size.is_some() || Repository::parse(&self.main).is_some_and(|repository| repository.file.is_some())
    }

    /// The architecture that it names, if this version cannot read that.
    pub fn unreadable(&self) -> Option<&str> {
        let name = self.architecture.as_deref()?;
        let known = if self.is_gguf() { gguf::can_read(name) } else { arch::can_read(name) };
        (!known).then_some(name)
    }

    /// Bytes of its files, as far as it says.
    pub fn bytes(&self) -> Option<u64> {
        let each = match self.dtype {
            Some(Stored::F32) => 4.0,
            _ => 2.0,
        };
        Some((self.size.or_else(|| Some(self.parameters? * each))? * 1e9) as u64)
    }
}

/// Named model pairs and where to look for their files.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The user's own entries, then the built-in ones. Names differ.
    pub entries: Vec<Entry>,
    /// The user's file, for messages.
    file: PathBuf,
    /// Where models of the hub are.
    pub hub: HubCache,
    /// Where other programs keep models.
    pub others: Others,
}

/// The chosen model.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The entry it comes from; `None` for a folder or file.
    pub entry: Option<Entry>,
    pub files: ModelFiles,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    model: Vec<Entry>,
}

impl Catalog {
    /// The built-in entries and those of the user's `models.toml`, which win.
    pub fn load(paths: &Paths) -> Result<Self, CatalogError> {
        let file = paths.models_file();
        let text = match files::text(&file, files::TEXT) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(ConfigError::Read { path: file, source }.into()),
        };
        Self::parse(&text, &file, HubCache::find(), Others::find())
    }

    /// The built-in entries and those in `text`, which was read from `file`.
    pub fn parse(text: &str, file: &Path, hub: HubCache, others: Others) -> Result<Self, CatalogError> {
        let mut entries: Vec<Entry> = Vec::new();
        for entry in parse_toml::<Document>(text, file)?.model {
            let problem = if entry.name.trim().is_empty() {
                "an entry has an empty name"
            } else if entries.iter().any(|e| e.name == entry.name) {
                "the name is there twice"
            } else if is_reserved(&entry.name) {
                "the name means something else already"
            } else if let Some(problem) = entry.contradiction() {
                problem
            } else {
                entries.push(entry);
                continue;
            };
            return Err(CatalogError::Entry { file: file.to_path_buf(), name: entry.name, problem });
        }
        let built_in: Document = parse_toml(BUILT_IN, Path::new("models.toml"))?;
        for entry in built_in.model {
            if !entries.iter().any(|e| e.name == entry.name) {
                entries.push(entry);
            }
        }
        Ok(Self { entries, file: file.to_path_buf(), hub, others })
    }

    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.name == name)
    }

    /// A main model of this name can be used without a download.
    pub fn is_here(&self, name: &str) -> bool {
        self.served(name).is_some() || self.resolve_main(Some(name)).is_ok()
    }

    /// The main model: a folder that exists, else the entry of this name; without a name the built-in pair.
    pub fn resolve_main(&self, name_or_dir: Option<&str>) -> Result<Resolved, CatalogError> {
        match name_or_dir {
            Some(name) => self.resolve(name, "model", &[]),
            None => match self.entry(DEFAULT) {
                Some(entry) => self.resolve_entry(entry),
                None => Err(self.unknown("model", DEFAULT, &[])),
            },
        }
    }

    /// The entry of this name, if its model is on a server.
    pub fn served(&self, name: &str) -> Option<&Entry> {
        let entry = self.entry(name).filter(|entry| entry.server.is_some());
        entry.filter(|_| on_disk(&expand_home(name)).is_none())
    }

    /// The draft model for `main`: `None` for `none`; with `auto` the one the catalog has for the main model,
    /// if its files are there; else a folder that exists or the main model of the entry of this name.
    pub fn resolve_draft(&self, draft: &str, main: &Resolved) -> Result<Option<Resolved>, CatalogError> {
        match draft {
            "none" => Ok(None),
            "auto" => {
                let Some(entry) = &main.entry else { return Ok(None) };
                let Some(source) = &entry.draft else { return Ok(None) };
                match self.files(source, &entry.name) {
                    Ok(files) => Ok(Some(Resolved { entry: self.with_main(source), files })),
                    // Speculation only makes it faster: a draft model that was never fetched is no reason not
                    // to run.
                    Err(CatalogError::NotFetched { .. }) => Ok(None),
                    Err(error) => Err(error),
                }
            }
            // The built-in pair is one entry; its draft has no other name.
            "embedded:draft" => Ok(Some(Resolved { entry: None, files: self.files(draft, draft)? })),
            name => {
                let drafters = DRAFTERS.iter().map(|drafter| drafter.name);
                let also: Vec<&str> = ["auto", "none"].into_iter().chain(drafters).collect();
                self.resolve(name, "draft model", &also).map(Some)
            }
        }
    }

    /// Files of a source on this machine, or why they are not there.
    pub fn files(&self, source: &str, name: &str) -> Result<ModelFiles, CatalogError> {
        if let Some(which) = source.strip_prefix("embedded:") {
            let model = embedded(which);
            return model
                .map(ModelFiles::Embedded)
                .ok_or_else(|| CatalogError::NotEmbedded { source_text: source.to_owned() });
        }
        if let Some(model) = source.strip_prefix(Others::OLLAMA) {
            let found = self.others.ollama(model);
            return found.map_err(|problem| CatalogError::Ollama { name: source.to_owned(), problem });
        }
        let folder = expand_home(source);
        if let Some(files) = on_disk(&folder) {
            return Ok(files);
        }
        if let Some(repository) = Repository::parse(source) {
            return self.hub.find_model(&repository).ok_or_else(|| self.not_fetched(name, &repository));
        }
        Err(CatalogError::NoFolder { name: name.to_owned(), folder })
    }

    /// The error for a model of the hub that is not here, with its files that are.
    fn not_fetched(&self, name: &str, repository: &Repository) -> CatalogError {
        let mut here = self.hub.gguf_names(repository).join(", ");
        if !here.is_empty() {
            here = format!("; of its files are here {here}");
        }
        let (name, id, cache) = (name.to_owned(), repository.to_string(), self.hub.folder.clone());
        CatalogError::NotFetched { name, id, cache, here }
    }

    fn resolve(&self, name: &str, what: &'static str, also: &[&str]) -> Result<Resolved, CatalogError> {
        let folder = expand_home(name);
        if let Some(files) = on_disk(&folder).filter(|_| !name.is_empty()) {
            return Ok(Resolved { entry: None, files });
        }
        if let Some(entry) = self.entry(name) {
            return self.resolve_entry(entry);
        }
        if name.starts_with(Others::OLLAMA) {
            return Ok(Resolved { entry: self.with_main(name), files: self.files(name, name)? });
        }
        if let Some(repository) = Repository::parse(name) {
            // As other programs write it, or as an option with its value: shown is what `models pull` takes.
            let files = self.files(name, &repository.to_string())?;
            return Ok(Resolved { entry: self.with_main(name), files });
        }
        let has_ending =
            ["gguf", "safetensors"].iter().any(|ending| folder.extension().is_some_and(|own| own == *ending));
        if name.contains(['/', '\\']) || name.starts_with('~') || has_ending {
            return Err(CatalogError::NoSuchFolder { folder });
        }
        Err(self.unknown(what, name, also))
    }

    fn resolve_entry(&self, entry: &Entry) -> Result<Resolved, CatalogError> {
        if entry.server.is_some() {
            return Err(CatalogError::Served { name: entry.name.clone() });
        }
        Ok(Resolved { files: self.files(&entry.main, &entry.name)?, entry: Some(entry.clone()) })
    }

    /// The error for a name that nothing has, with the known names and `also`, nearest first.
    pub fn unknown(&self, what: &'static str, name: &str, also: &[&str]) -> CatalogError {
        /// Most names in the message.
        const MOST: usize = 12;
        let names: Vec<&str> = also.iter().copied().chain(self.entries.iter().map(|e| e.name.as_str())).collect();
        let mut known = get_close_matches(name, &names, 3, 0.5);
        let nearest = get_close_matches(name, &names, 1, 0.7);
        let hint = nearest.first().map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
        let others: Vec<&str> = names.iter().filter(|n| !known.contains(n)).copied().collect();
        known.extend(others);
        let more = known.len().saturating_sub(MOST);
        known.truncate(MOST);
        let more = if more == 0 { String::new() } else { format!(" and {more} more, see `bass-tui models`") };
        CatalogError::Unknown {
            what,
            name: name.to_owned(),
            hint,
            known: known.join(", ") + &more,
            file: self.file.clone(),
        }
    }

    /// The entry whose main model this is.
    pub fn by_main(&self, source: &str) -> Option<&Entry> {
        let named = Repository::parse(source);
        let is_it = |entry: &&Entry| match (&named, Repository::parse(&entry.main)) {
            (Some(named), Some(main)) => main.is_same(named),
            _ => entry.main == source,
        };
        self.entries.iter().find(is_it)
    }

    fn with_main(&self, source: &str) -> Option<Entry> {
        self.by_main(source).cloned()
    }
}

/// The entry that is used when none is named.
const DEFAULT: &str = "built-in";

/// `--draft` understands something else by this name.
fn is_reserved(name: &str) -> bool {
    matches!(name, "auto" | "none") || NamedDrafter::find(name).is_some()
}

/// A model that is part of the program: `main` or `draft`.
fn embedded(which: &str) -> Option<&'static EmbeddedModel> {
    match which {
        "main" => Some(&crate::model::embedded::MAIN),
        "draft" => Some(&crate::model::embedded::DRAFT),
        _ => None,
    }
}

/// A folder in Hugging Face layout, or a GGUF file, if there is such.
fn on_disk(path: &Path) -> Option<ModelFiles> {
    if path.is_dir() {
        return Some(ModelFiles::Folder(path.into()));
    }
    gguf::is_file(path).then(|| ModelFiles::Gguf(path.into()))
}

/// `~/x` as a path in the home folder.
fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix('~'), directories::BaseDirs::new()) {
        (Some(""), Some(dirs)) => dirs.home_dir().to_path_buf(),
        (Some(rest), Some(dirs)) if rest.starts_with(['/', '\\']) => dirs.home_dir().join(&rest[1..]),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Dtype;

    fn catalog(text: &str) -> Result<Catalog, CatalogError> {
        Catalog::parse(text, Path::new("/config/models.toml"), HubCache { folder: "/hub".into() }, Others::default())
    }

    fn message<T>(result: Result<T, CatalogError>) -> String {
        result.err().map(|e| e.to_string()).unwrap_or_default()
    }

    #[test]
    fn the_built_in_catalog_is_whole() {
        let catalog = catalog("").unwrap();
        assert_eq!(catalog.entries[0].name, "built-in");
        for entry in &catalog.entries {
            assert!(!entry.description.is_empty() && entry.license.is_some(), "{}", entry.name);
            for source in [Some(&entry.main), entry.draft.as_ref()].into_iter().flatten() {
                assert!(source.starts_with("embedded:") || Repository::parse(source).is_some(), "{source}");
            }
            assert_eq!(catalog.entries.iter().filter(|e| e.name == entry.name).count(), 1);
            if entry.main.starts_with("embedded:") {
                continue;
            }
            let facts = [entry.layers, entry.kv_width, entry.context].iter().all(Option::is_some);
            assert!(facts && entry.parameters.is_some() && entry.architecture.is_some(), "{}", entry.name);
            assert!(entry.dtype.is_some() != entry.size.is_some(), "{}: one of dtype and size", entry.name);
            assert_eq!(entry.is_gguf(), entry.size.is_some(), "{}: a GGUF file has a size", entry.name);
            assert!(entry.experts.is_none() || entry.active.is_some(), "{}: read for a token", entry.name);
            assert!(entry.active.is_none_or(|active| Some(active) < entry.parameters), "{}", entry.name);
            // Between 3 bits a weight and 4 bytes.
            let each = entry.bytes().unwrap() as f64 / entry.parameters.unwrap() / 1e9;
            assert!((0.375..4.001).contains(&each), "{}: {each} bytes a weight", entry.name);
            assert!(!entry.recommended || entry.unreadable().is_none(), "{} cannot be read", entry.name);
            // The memory of a draft is known by its own entry.
            let Some(draft) = &entry.draft else { continue };
            let draft = catalog.by_main(draft).unwrap_or_else(|| panic!("{}: no entry of its draft", entry.name));
            let readable = draft.unreadable().is_none() || entry.unreadable().is_some();
            assert!(draft.parameters < entry.parameters && readable, "{}", entry.name);
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_proposed() {
        let line =
            "[[model]]\nname = 'new'\nmain = 'o/new'\nparameters = 0.1\ndtype = 'bf16'\nlayers = 1\nkv_width = 1\n";
        let named = |architecture: &str, text: &str| {
            let text = format!("{line}recommended = true\narchitecture = '{architecture}'\n{text}");
            let catalog = catalog(&text).unwrap();
            let how = memory::Use { dtype: Dtype::Auto, draft_dtype: Dtype::Auto, n: 1, tokens: 16 };
            catalog.proposal(400 << 20, how, &|_| true).map(|p| p.entry.name.clone())
        };
        assert_eq!(named("LlamaForCausalLM", "").as_deref(), Some("new"));
        assert_eq!(named("Gemma3ForConditionalGeneration", "").as_deref(), Some("new"));
        assert_eq!(named("UnheardOfForCausalLM", ""), None);
        assert_eq!(named("llama", ""), None, "a name of GGUF files");
        assert_eq!(named("llama", "size = 0.1\n").as_deref(), Some("new"));
    }

    #[test]
    fn the_users_entries_win() {
        let catalog =
            catalog("[[model]]\nname = 'built-in'\nmain = '~/m'\n[[model]]\nname = 'mine'\nmain = '/m'\n").unwrap();
        assert_eq!(catalog.entry("built-in").map(|e| e.main.as_str()), Some("~/m"));
        assert_eq!(catalog.entries.iter().filter(|e| e.name == "built-in").count(), 1);
        assert!(catalog.entry("mine").is_some() && catalog.entry("qwen2-0.5b").is_some());
    }

    #[test]
    fn wrong_files_are_explained() {
        insta::assert_snapshot!(message(catalog("[[model]]\nname = 'x'\n")), @"/config/models.toml: the entry `x` cannot be used: it has neither `main` nor `server`");
        insta::assert_snapshot!(
            message(catalog("[[model]]\nname = 'x'\nmain = '/m'\nlicence = 'MIT'\n")),
            @"/config/models.toml, line 4: unknown field `licence`, expected one of `name`, `main`, `server`, `server_model`, `suffix`, `draft`, `description`, `license`, `languages`, `architecture`, `parameters`, `active`, `experts`, `dtype`, `size`, `layers`, `kv_width`, `state`, `context`, `chat`, `recommended`"
        );
        for (lines, problem) in [
            ("main = '/m'\nserver = 'http://h'", "both `main` and `server`"),
            ("server = 'http://h'\ndraft = '/d'", "leave `draft` out"),
            ("main = '/m'\nsuffix = true", "are of a model of a `server`"),
            ("main = '/m'\nserver_model = 'm'", "are of a model of a `server`"),
            ("server = 'http://h'\nkey = 'sk-1'", "unknown field `key`"),
        ] {
            let said = message(catalog(&format!("[[model]]\nname = 'x'\n{lines}\n")));
            assert!(said.contains(problem) && !said.contains("sk-1"), "{lines}: {said}");
        }
        let twice = "[[model]]\nname = 'x'\nmain = '/m'\n".repeat(2);
        insta::assert_snapshot!(message(catalog(&twice)), @"/config/models.toml: the entry `x` cannot be used: the name is there twice");
        insta::assert_snapshot!(
            message(catalog("[[model]]\nname = 'none'\nmain = '/m'\n")),
            @"/config/models.toml: the entry `none` cannot be used: the name means something else already"
        );
    }

    #[test]
    fn models_are_found_by_folder_name_and_id() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().display().to_string();
        let hub = HubCache { folder: home.path().join("hub") };
        let draft = hub.folder.join("models--o--small/snapshots/r");
        std::fs::create_dir_all(&draft).unwrap();
        for file in ["config.json", "model.safetensors"] {
            std::fs::write(draft.join(file), "").unwrap();
        }
        let hub_files = hub.folder.clone();
        let text = format!(
            "[[model]]\nname = 'a'\nmain = '{folder}'\ndraft = 'o/small'\n[[model]]\nname = 'b'\nmain = '{folder}'\ndraft = 'o/none'\n[[model]]\nname = 'c'\nmain = '/no/folder'\n"
        );
        let catalog = Catalog::parse(&text, Path::new("models.toml"), hub, Others::default()).unwrap();
        let path = |r: Resolved| match r.files {
            ModelFiles::Folder(path) | ModelFiles::Gguf(path) | ModelFiles::Blob(path, _) => path,
            ModelFiles::Embedded(_) => PathBuf::new(),
        };
        let main = catalog.resolve_main(Some("a")).unwrap();
        assert_eq!(path(main.clone()), home.path());
        assert_eq!(catalog.resolve_draft("auto", &main).unwrap().map(path), Some(draft.clone()));
        assert_eq!(catalog.resolve_draft("o/small", &main).unwrap().map(path), Some(draft));
        assert!(catalog.resolve_draft("none", &main).unwrap().is_none());
        assert_eq!(catalog.resolve_draft("b", &main).unwrap().map(path), Some(home.path().to_path_buf()));
        let other = catalog.resolve_main(Some("b")).unwrap();
        assert!(catalog.resolve_draft("auto", &other).unwrap().is_none(), "a draft that is not there is done without");
        let dir = catalog.resolve_main(Some(&folder)).unwrap();
        assert!(dir.entry.is_none() && catalog.resolve_draft("auto", &dir).unwrap().is_none());
        let file = home.path().join("m.GGUF");
        std::fs::write(&file, "").unwrap();
        let file_name = file.display().to_string();
        assert_eq!(path(catalog.resolve_main(Some(&file_name)).unwrap()), file);
        assert_eq!(catalog.resolve_draft(&file_name, &main).unwrap().map(path), Some(file));
        let files = hub_files.join("models--o--many/snapshots/r");
        std::fs::create_dir_all(&files).unwrap();
        for file in ["m-Q4_K_M.gguf", "m-Q8_0.gguf"] {
            std::fs::write(files.join(file), "").unwrap();
        }
        let found = catalog.resolve_main(Some("-hf hf.co/o/many:q8_0")).unwrap();
        assert_eq!(path(found), files.join("m-Q8_0.gguf"));
        assert_eq!(catalog.resolve_draft("o/many", &main).unwrap().map(path), Some(files.join("m-Q4_K_M.gguf")));
        let absent = message(catalog.resolve_main(Some("o/many:Q2_K")));
        assert!(absent.contains("of its files are here m-Q4_K_M.gguf, m-Q8_0.gguf"), "{absent}");
        insta::assert_snapshot!(message(catalog.resolve_main(Some("c"))), @"the entry `c` names the folder /no/folder, which does not exist; correct it in models.toml");
        insta::assert_snapshot!(message(catalog.resolve_main(Some("qwen2.5-coder-8b"))), @"there is no model `qwen2.5-coder-8b`, neither a folder nor a name (did you mean `qwen2.5-coder-3b`?); known are qwen2.5-coder-3b, qwen2.5-coder-7b, qwen2.5-coder-14b, a, b, c, built-in, qwen2.5-coder-0.5b-instruct, qwen2.5-coder-1.5b-instruct, qwen2.5-coder-3b-instruct, qwen2.5-coder-7b-instruct, qwen2.5-coder-14b-instruct and 46 more, see `bass-tui models`; others can be added to models.toml");
    }

    #[test]
    fn what_is_not_on_this_machine_is_explained() {
        let catalog = catalog("").unwrap();
        insta::assert_snapshot!(message(catalog.resolve_main(Some("qwen2-0.5b"))), @"the files of `qwen2-0.5b` are not on this machine: Qwen/Qwen2-0.5B is not in /hub (or its download is not complete); fetch it with `bass-tui models pull qwen2-0.5b`");
        let spelled = message(catalog.resolve_main(Some("-hf hf.co/o/m-GGUF:Q4_K_M")));
        assert!(
            spelled.contains("`o/m-GGUF:Q4_K_M` are not on") && spelled.contains("pull o/m-GGUF:Q4_K_M`"),
            "{spelled}"
        );
        for name in ["./m", "m.gguf"] {
            let absent = message(catalog.resolve_main(Some(name)));
            assert!(absent.contains(&format!("there is no folder or GGUF file {name} (looked in /")), "{absent}");
        }
        insta::assert_snapshot!(message(catalog.resolve_main(Some("/m"))), @"there is no folder or GGUF file /m; check the path, or take a name that `bass-tui models` lists");
    }
}
