//! Outline of a model, without its weights and tokenizer: enough to say whether it can be loaded, and its
//! size.

use super::{Checkpoint, ModelError, ModelFiles, ModelSpec, ModelWeights, TensorType, checkpoint, config, gguf};

/// A model that can be loaded, as far as its configuration and its table of tensors say.
pub struct Outline {
    /// Its architecture.
    pub spec: ModelSpec,
    /// Weights in matrices, by the type that they are stored in.
    pub matrices: Vec<(TensorType, u64)>,
    /// Those of them in embedding and head.
    pub ends: u64,
    /// All other weights.
    pub vectors: u64,
}

impl Outline {
    /// Reads configuration and table of tensors, and checks that the table has all that is needed.
    pub fn read(files: &ModelFiles) -> Result<Self, ModelError> {
        let (mut spec, checkpoint) = match files {
            ModelFiles::Folder(folder) => {
                let (mut spec, checkpoint) = (config::of_folder(folder)?, Checkpoint::open(folder)?);
                ModelWeights::untie(&mut spec, &checkpoint);
                (spec, checkpoint)
            }
            ModelFiles::Gguf(path) | ModelFiles::Blob(path, _) => gguf::outline(path)?,
            ModelFiles::Embedded(files) => {
                let path = std::path::Path::new(files.name);
                let checkpoint = Checkpoint::from_static(&path.join(checkpoint::SINGLE), files.weights)?;
                (config::read(&path.join(config::FILE), files.config)?, checkpoint)
            }
        };
        spec.names = ModelWeights::names(&spec, &checkpoint);
        let prefix = ModelWeights::prefix(&spec, &checkpoint);
        let mut outline = Self { matrices: Vec::new(), ends: 0, vectors: 0, spec };
        for slot in outline.spec.slots() {
            let source = outline.spec.source(slot, prefix);
            let dtype = checkpoint.tensor_type(&source.name, &source.shape)?;
            let weights = outline.spec.shape(slot).iter().map(|&n| n as u64).product::<u64>();
            if !slot.is_product() {
                outline.vectors += weights;
                continue;
            }
            if slot.in_block().is_none() {
                outline.ends += weights;
            }
            match outline.matrices.iter_mut().find(|(known, _)| *known == dtype) {
                Some((_, sum)) => *sum += weights,
                None => outline.matrices.push((dtype, weights)),
            }
        }
        Ok(outline)
    }

    /// Number of weights.
    pub fn parameters(&self) -> u64 {
        self.vectors + self.matrices.iter().map(|(_, weights)| weights).sum::<u64>()
    }

    /// The types that matrices are stored in, the most frequent first.
    pub fn stored(&self) -> String {
        let mut types = self.matrices.clone();
        types.sort_by_key(|(_, weights)| std::cmp::Reverse(*weights));
        types.iter().map(|(dtype, _)| dtype.to_string()).collect::<Vec<_>>().join(", ")
    }
}
