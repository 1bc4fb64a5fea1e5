//! A model as such, on no device: its architecture as data, its checkpoint, its tokenizer.
//!
//! - `ModelSpec` is plain data with one description per block. One forward pass per backend serves all
//!   architectures.
//! - `config` reads `config.json` by the table of its architecture (`arch`). It refuses by name a value that
//!   would change results in an unsupported way, an unknown architecture, a wrong dtype, and a missing or
//!   misshapen tensor.
//! - `tensors` lists the slots of a forward pass. A `Source` says where a checkpoint stores a slot: tensor
//!   name, shape, and which of the tensor's outputs. Tensors without a slot are skipped.
//! - `weights` is known before the tokenizer. A thread reads the tokenizer while the weights are packed,
//!   which takes a third off the load time of a file of 280 MB.
//! - The context ends where the positions do. `LongRoPE` and dynamic scaling hold up to the original context,
//!   where they do not depend on the length of the text.
//! - `slow_tokenizer` and `gguf` write their vocabulary as a `tokenizer.json`, so that one library reads all.
//! - `blocks` is compared bit by bit with the `gguf` package of Python.
//! - A chat template runs once, at load, with bounds on steps, memory, depth and time, no files and a fixed
//!   date.
//! - An infill table applies if the tokenizer reads each of its tokens as one token and the model's name says
//!   `code`.
//! - Embedded models are ordinary files inside the program. No code depends on their shape or quality.

pub mod arch;
pub mod blocks;
pub mod chat;
pub mod checkpoint;
pub mod config;
mod draft_head;
pub mod embedded;
mod error;
mod fields;
pub mod gguf;
mod infill;
mod microscaled;
mod mistaken;
mod outline;
mod prompt_text;
pub mod slow_tokenizer;
pub mod spec;
pub mod tensors;
pub mod tokenizer;
mod vocabulary;
mod weights;

use std::ops::Deref;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use crate::files;

pub use blocks::TensorType;
pub use chat::{Chat, ChatUse, Role, Template};
pub use checkpoint::{Checkpoint, Tensor};
pub use draft_head::DraftHead;
pub use embedded::{DRAFT, MAIN};
pub use error::ModelError;
pub use infill::Infill;
pub use outline::Outline;
pub use prompt_text::PromptText;
pub use spec::ModelSpec;
pub use tensors::{BlockSlot, Slot};
pub use tokenizer::{StreamDecoder, Tokenizer};
pub use weights::ModelWeights;

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

impl ModelFiles {
    /// Bytes of the files with weights, as far as they can be seen.
    pub fn bytes(&self) -> u64 {
        let size = |path: &Path| path.metadata().map_or(0, |data| data.len());
        match self {
            ModelFiles::Folder(folder) => {
                let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
                files
                    .filter(|path| path.extension().is_some_and(|ending| ending == "safetensors"))
                    .map(|p| size(&p))
                    .sum()
            }
            ModelFiles::Gguf(path) => gguf::parts(path).unwrap_or_default().iter().map(|part| size(part)).sum(),
            ModelFiles::Blob(path, _) => size(path),
            ModelFiles::Embedded(files) => files.weights.len() as u64,
        }
    }
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
    /// All that its files call it: by that is known what it has learnt.
    pub called: String,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// Ids that end a completion (from `generation_config.json`, else `config.json`).
    pub eos: Vec<u32>,
    /// How it is shown requests, as its files say, or why that cannot be read.
    template: Result<Option<Template>, ModelError>,
    /// All else, which it can be asked for as if it were its own.
    pub weights: ModelWeights,
}

/// A model without its tokenizer, which takes longer to read than all else.
struct Opened {
    weights: ModelWeights,
    called: String,
    eos: Vec<u32>,
    template: Result<Option<Template>, ModelError>,
    tokenizer: TokenizerReader,
}

type TokenizerReader = Box<dyn FnOnce() -> Result<Tokenizer, ModelError> + Send>;

impl Deref for Model {
    type Target = ModelWeights;

    fn deref(&self) -> &ModelWeights {
        &self.weights
    }
}

impl Model {
    /// Reads and checks the model: configuration, tokenizer, and the table of the checkpoint's tensors.
    pub fn load(files: &ModelFiles) -> Result<Model, ModelError> {
        Self::load_beside(files, |_| ()).map(|(model, ())| model)
    }

    /// Loads a model, and returns what `pack` makes of the weights meanwhile: a tokenizer of 150,000 pieces
    /// takes a tenth of a second on one core.
    pub fn load_beside<T>(files: &ModelFiles, pack: impl FnOnce(&ModelWeights) -> T) -> Result<(Model, T), ModelError> {
        let opened = match files {
            ModelFiles::Folder(folder) => Opened::folder(folder)?,
            ModelFiles::Gguf(path) => gguf::read(path, None)?,
            ModelFiles::Blob(path, name) => gguf::read(path, Some(name))?,
            ModelFiles::Embedded(files) => Opened::embedded(files)?,
        };
        let Opened { weights, called, eos, template, tokenizer } = opened;
        for slot in weights.spec.slots() {
            weights.stored(slot)?;
        }
        let (tokenizer, packed) = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("tokenizer".to_owned()).spawn_scoped(scope, tokenizer);
            let thread = thread.map_err(|source| ModelError::Io { path: weights.name.clone().into(), source })?;
            let packed = pack(&weights);
            Ok((thread.join().unwrap_or_else(|panic| resume_unwind(panic))?, packed))
        })?;
        Ok((Model { called, tokenizer: fits(tokenizer, &weights.spec)?, eos, template, weights }, packed))
    }

    /// True if its files say how it is shown requests.
    pub fn has_template(&self) -> bool {
        !matches!(self.template, Ok(None))
    }

    /// Decides whether it is shown requests as conversations, and how: as `wanted` says, or else by its name.
    /// The tokens that end a turn then end its answers, too.
    pub fn chat(&mut self, wanted: Option<ChatUse>) -> Result<Option<Chat>, ModelError> {
        if wanted.unwrap_or_else(|| chat::is_named(&self.called).into()) == ChatUse::No {
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
        chat.end_turns(&self.tokenizer, &mut self.eos);
        Ok(Some(if wanted == Some(ChatUse::Free) { chat.unopened() } else { chat }))
    }
}

impl Opened {
    fn folder(folder: &Path) -> Result<Self, ModelError> {
        if !folder.is_dir() {
            let need = "a model is a folder with config.json, tokenizer.json and model.safetensors".into();
            return Err(ModelError::Missing { path: folder.into(), need });
        }
        let whole = folder.canonicalize().ok();
        let name = whole.as_deref().and_then(name_of).unwrap_or_else(|| folder.display().to_string());
        let mut spec = config::of_folder(folder)?;
        let need = "the model cannot be used without its tokenizer, which is this file, or vocab.json and merges.txt; get a \
                    version of the model that has tokenizer.json";
        let tokenizer: TokenizerReader = match required(folder, tokenizer::FILE, need) {
            Err(ModelError::Missing { .. }) if slow_tokenizer::is_there(folder) => {
                let (folder, architecture) = (folder.to_owned(), spec.architecture);
                Box::new(move || slow_tokenizer::read(&folder, architecture))
            }
            other => {
                let (path, bytes) = other?;
                Box::new(move || Tokenizer::read(&path, &bytes))
            }
        };
        let generation_path = folder.join("generation_config.json");
        let generation = match files::read(&generation_path, files::DATA) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(source) => return Err(ModelError::Io { path: generation_path, source }),
        };
        let eos = eos(&generation_path, generation.as_deref(), &spec)?;
        let template = Template::of_folder(folder);
        let checkpoint = Checkpoint::open(folder)?;
        ModelWeights::untie(&mut spec, &checkpoint);
        let weights = ModelWeights::new(name, spec, checkpoint);
        Ok(Self { called: weights.name.clone(), weights, eos, template, tokenizer })
    }

    fn embedded(files: &'static EmbeddedModel) -> Result<Self, ModelError> {
        let path = |file: &str| Path::new(files.name).join(file);
        let spec = config::read(&path(config::FILE), files.config)?;
        let eos = eos(&path("generation_config.json"), files.generation_config, &spec)?;
        let checkpoint = Checkpoint::from_static(&path(checkpoint::SINGLE), files.weights)?;
        let weights = ModelWeights::new(files.name.into(), spec, checkpoint);
        let tokenizer = Box::new(move || Tokenizer::read(&path(tokenizer::FILE), files.tokenizer));
        Ok(Self { called: weights.name.clone(), weights, eos, template: Ok(None), tokenizer })
    }
}

fn required(folder: &Path, file: &str, need: &str) -> Result<(PathBuf, Vec<u8>), ModelError> {
    let path = folder.join(file);
    match files::read(&path, files::DATA) {
        Ok(bytes) => Ok((path, bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let need =
                if file == config::FILE { mistaken::folder(folder) } else { None }.unwrap_or_else(|| need.into());
            Err(ModelError::Missing { path, need })
        }
        Err(source) => Err(ModelError::Io { path, source }),
    }
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

/// Name of a model in this folder: as the folder, in the hub's cache as its repository.
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
