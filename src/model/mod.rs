//! What a model *is*, on no device: its architecture as data, its checkpoint, its tokenizer.

pub mod arch;
pub mod blocks;
pub mod chat;
pub mod checkpoint;
pub mod config;
pub mod embedded;
mod error;
mod fields;
pub mod gguf;
mod infill;
mod outline;
pub mod slow_tokenizer;
pub mod spec;
pub mod tensors;
pub mod tokenizer;
mod vocabulary;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::files;

pub use chat::{Chat, Role, Template};
pub use checkpoint::{Checkpoint, Tensor, TensorType};
pub use embedded::{DRAFT, MAIN};
pub use error::ModelError;
pub use infill::Infill;
pub use outline::Outline;
pub use spec::ModelSpec;
pub use tensors::{BlockSlot, Slot, Source};
pub use tokenizer::{StreamDecoder, Tokenizer};

/// Where the files of a model come from.
#[derive(Clone, Debug)]
pub enum ModelFiles {
    /// A folder in Hugging Face layout.
    Folder(PathBuf),
    /// A GGUF file, or any part of a split one.
    Gguf(PathBuf),
    /// A GGUF file that is called by its checksum, and the model's name.
    Blob(PathBuf, String),
    /// Files inside this program.
    Embedded(&'static EmbeddedModel),
}

/// The files of a model that is part of the program.
#[derive(Debug)]
pub struct EmbeddedModel {
    /// Name for messages.
    pub name: &'static str,
    /// `config.json`.
    pub config: &'static [u8],
    /// `generation_config.json`, if any.
    pub generation_config: Option<&'static [u8]>,
    /// `tokenizer.json`.
    pub tokenizer: &'static [u8],
    /// `model.safetensors`.
    pub weights: &'static [u8],
}

/// A model read from its files: everything but a device.
pub struct Model {
    /// Name for messages and JSON: the folder's name or the embedded model's.
    pub name: String,
    /// All that its files call it: by that is known what it has learnt.
    pub called: String,
    /// Its architecture.
    pub spec: ModelSpec,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// Ids that end a completion (from `generation_config.json`, else `config.json`).
    pub eos: Vec<u32>,
    /// How it is shown requests, as its files say, or why that cannot be read.
    template: Result<Option<Template>, ModelError>,
    /// The weights as stored.
    pub checkpoint: Checkpoint,
    /// What stands before the names of its tensors.
    prefix: &'static str,
}

impl Model {
    /// Reads and checks the model: configuration, tokenizer, and the table of the checkpoint's tensors.
    pub fn load(files: &ModelFiles) -> Result<Model, ModelError> {
        let model = match files {
            ModelFiles::Folder(folder) => Self::from_folder(folder)?,
            ModelFiles::Gguf(path) => gguf::read(path, None)?,
            ModelFiles::Blob(path, name) => gguf::read(path, Some(name))?,
            ModelFiles::Embedded(files) => Self::from_embedded(files)?,
        };
        for slot in model.spec.slots() {
            model.tensor(slot)?;
        }
        Ok(model)
    }

    /// Puts a model together.
    fn new(name: String, spec: ModelSpec, tokenizer: Tokenizer, eos: Vec<u32>, checkpoint: Checkpoint) -> Self {
        let prefix = Self::prefix(&spec, &checkpoint);
        Model { called: name.clone(), name, spec, tokenizer, eos, template: Ok(None), checkpoint, prefix }
    }

    /// Whether its files say how it is shown requests.
    pub fn has_template(&self) -> bool {
        !matches!(self.template, Ok(None))
    }

    /// Decides whether it is shown requests as conversations, and how: as is `wanted`, or where nobody says as
    /// its name does. The tokens that end a turn then end what it writes, too.
    pub fn chat(&mut self, wanted: Option<bool>) -> Result<Option<Chat>, ModelError> {
        if !wanted.unwrap_or_else(|| chat::is_named(&self.called)) {
            return Ok(None);
        }
        let chat = match std::mem::replace(&mut self.template, Ok(None))? {
            Some(template) => template.render()?,
            None if wanted.is_none() => return Ok(None),
            None => {
                let need = "a chat template is what --chat yes needs; leave it out, or take a model that was made for \
                            conversations"
                    .into();
                return Err(ModelError::Missing { path: self.name.clone().into(), need });
            }
        };
        self.eos.extend(chat.end_ids(&self.tokenizer));
        Ok(Some(chat))
    }

    /// What stands before the names of the tensors: found by the embedding.
    fn prefix(spec: &ModelSpec, checkpoint: &Checkpoint) -> &'static str {
        let names = spec.names;
        let embedded = |prefix: &&&str| checkpoint.has(&format!("{prefix}{}", names.embedding));
        names.prefixes.iter().find(embedded).or(names.prefixes.first()).copied().unwrap_or_default()
    }

    /// The whole tensor that `slot` is in, as stored, checked against the configuration.
    pub fn tensor(&self, slot: Slot) -> Result<Tensor<'_>, ModelError> {
        let source = self.spec.source(slot, self.prefix);
        self.checkpoint.tensor(&source.name, &source.shape)
    }

    /// The outputs of `slot`, in runs of so many, one below the other.
    pub fn outputs(&self, slot: Slot) -> Result<Vec<(Tensor<'_>, usize)>, ModelError> {
        let Source { name, shape, transposed, outputs } = self.spec.source(slot, self.prefix);
        let stored = self.checkpoint.tensor(&name, &shape)?;
        // What has no columns is a vector of outputs, and what has more dimensions is matrices one below the
        // other.
        let rows = shape[..shape.len().max(2) - 1].iter().product();
        let (stored, all) = if transposed { (stored.transposed(shape[1]), shape[1]) } else { (stored, rows) };
        let each = stored.bytes.len() / all;
        let runs = (0..outputs.count).map(|run| {
            let at = (outputs.start + run * outputs.step) * each..;
            let bytes = match &stored.bytes {
                Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[at][..outputs.len * each]),
                Cow::Owned(bytes) => Cow::Owned(bytes[at][..outputs.len * each].to_vec()),
            };
            (Tensor { dtype: stored.dtype, bytes }, outputs.len)
        });
        Ok(runs.collect())
    }

    /// Number of weights.
    pub fn parameters(&self) -> usize {
        self.spec.slots().into_iter().map(|slot| self.spec.shape(slot).iter().product::<usize>()).sum()
    }

    fn from_folder(folder: &Path) -> Result<Model, ModelError> {
        if !folder.is_dir() {
            let need = "a model is a folder with config.json, tokenizer.json and model.safetensors".into();
            return Err(ModelError::Missing { path: folder.into(), need });
        }
        let whole = folder.canonicalize().ok();
        let name = whole.as_deref().and_then(name_of).unwrap_or_else(|| folder.display().to_string());
        let spec = config::of_folder(folder)?;
        let need = "the model cannot be used without its tokenizer, which is this file, or vocab.json and merges.txt; get a \
                    version of the model that has tokenizer.json";
        let (tokenizer_path, tokenizer) = match required(folder, tokenizer::FILE, need) {
            Err(ModelError::Missing { .. }) if slow_tokenizer::is_there(folder) => {
                (folder.join(slow_tokenizer::VOCABULARY), slow_tokenizer::read(folder, spec.architecture)?)
            }
            other => other?,
        };
        let tokenizer = read_tokenizer(&tokenizer_path, &tokenizer, &spec)?;
        let generation_path = folder.join("generation_config.json");
        let generation = match files::read(&generation_path, files::DATA) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(source) => return Err(ModelError::Io { path: generation_path, source }),
        };
        let eos = eos(&generation_path, generation.as_deref(), &spec)?;
        let template = Template::of_folder(folder);
        Ok(Model { template, ..Model::new(name, spec, tokenizer, eos, Checkpoint::open(folder)?) })
    }

    fn from_embedded(files: &EmbeddedModel) -> Result<Model, ModelError> {
        let path = |file: &str| Path::new(files.name).join(file);
        let spec = config::read(&path(config::FILE), files.config)?;
        let tokenizer = read_tokenizer(&path(tokenizer::FILE), files.tokenizer, &spec)?;
        let eos = eos(&path("generation_config.json"), files.generation_config, &spec)?;
        let checkpoint = Checkpoint::from_static(&path(checkpoint::SINGLE), files.weights)?;
        Ok(Model::new(files.name.into(), spec, tokenizer, eos, checkpoint))
    }
}

fn required(folder: &Path, file: &str, need: &str) -> Result<(PathBuf, Vec<u8>), ModelError> {
    let path = folder.join(file);
    match files::read(&path, files::DATA) {
        Ok(bytes) => Ok((path, bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(ModelError::Missing { path, need: need.into() })
        }
        Err(source) => Err(ModelError::Io { path, source }),
    }
}

fn read_tokenizer(path: &Path, bytes: &[u8], spec: &ModelSpec) -> Result<Tokenizer, ModelError> {
    fits(Tokenizer::read(path, bytes)?, spec)
}

/// The tokenizer, if its ids are among those of the model.
fn fits(tokenizer: Tokenizer, spec: &ModelSpec) -> Result<Tokenizer, ModelError> {
    if tokenizer.vocab_size() > spec.vocab_size {
        return Err(ModelError::Tokenizer {
            path: tokenizer.path().into(),
            problem: format!(
                "found ids up to {}, expected them below the `vocab_size` of config.json, {}; the files belong to \
                 different models",
                tokenizer.vocab_size() - 1,
                spec.vocab_size
            ),
        });
    }
    Ok(tokenizer)
}

fn eos(path: &Path, generation: Option<&[u8]>, spec: &ModelSpec) -> Result<Vec<u32>, ModelError> {
    let Some(bytes) = generation else { return Ok(spec.eos.clone()) };
    let map = fields::parse(path, bytes)?;
    let ids = fields::Fields::new(path, &map).ids("eos_token_id")?;
    Ok(ids.unwrap_or_else(|| spec.eos.clone()))
}

/// What a model in this folder is called: as the folder, in the hub's cache as its repository.
fn name_of(folder: &Path) -> Option<String> {
    let own = |folder: &Path| Some(folder.file_name()?.to_string_lossy().into_owned());
    let of_hub = || {
        let snapshots = folder.parent().filter(|above| above.ends_with("snapshots"))?;
        let repository = own(snapshots.parent()?)?;
        Some(repository.strip_prefix("models--")?.rsplit("--").next()?.to_owned())
    };
    of_hub().or_else(|| own(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_the_hub_is_called_as_its_repository() {
        let name = |folder: &str| name_of(Path::new(folder)).unwrap();
        assert_eq!(name("/c/hub/models--Qwen--Qwen2.5-Coder-0.5B/snapshots/3f2a"), "Qwen2.5-Coder-0.5B");
        assert_eq!(name("/c/hub/models--gpt2/snapshots/3f2a"), "gpt2");
        assert_eq!(name("/models/mine/snapshots/3f2a"), "3f2a");
        assert_eq!(name("/models/qwen"), "qwen");
    }
}
