//! Parts of a model that a device needs.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::tensors::{Source, TensorNames};
use super::{Checkpoint, ModelError, ModelSpec, Slot, Tensor};

/// The architecture of a model, and its weights as stored.
pub struct ModelWeights {
    /// Name for messages and JSON: the folder's name or the embedded model's.
    pub name: String,
    /// Its architecture.
    pub spec: ModelSpec,
    /// The weights as stored.
    pub checkpoint: Checkpoint,
    /// Prefix of the names of its tensors.
    prefix: &'static str,
    /// Is told the bytes that are read.
    told: OnceLock<Box<dyn Fn(u64) + Send + Sync>>,
}

impl ModelWeights {
    /// Those of a checkpoint.
    pub(super) fn new(name: String, mut spec: ModelSpec, checkpoint: Checkpoint) -> Self {
        spec.names = Self::names(&spec, &checkpoint);
        let prefix = Self::prefix(&spec, &checkpoint);
        Self { name, spec, checkpoint, prefix, told: OnceLock::new() }
    }

    /// Prefix of the names of the tensors, found by that of the embedding.
    pub(super) fn prefix(spec: &ModelSpec, checkpoint: &Checkpoint) -> &'static str {
        let names = spec.names;
        let embedded = |prefix: &&&str| checkpoint.has(&format!("{prefix}{}", names.embedding));
        names.prefixes.iter().find(embedded).or(names.prefixes.first()).copied().unwrap_or_default()
    }

    /// The names of the tensors, found by that of a block's experts.
    pub(super) fn names(spec: &ModelSpec, checkpoint: &Checkpoint) -> &'static TensorNames {
        let with_experts = spec.blocks.iter().position(|block| block.mlp.experts.is_some());
        let stacked = spec.names.stacked.zip(with_experts).filter(|(names, block)| {
            let name = names.in_expert.first().map_or("", |(_, name)| name);
            names.prefixes.iter().any(|prefix| checkpoint.has(&format!("{prefix}{}{block}.{name}", names.block)))
        });
        stacked.map_or(spec.names, |(names, _)| names)
    }

    /// The whole tensor that `slot` is in, as stored, checked against the configuration.
    pub fn tensor(&self, slot: Slot) -> Result<Tensor<'_>, ModelError> {
        let source = self.spec.source(slot, self.prefix);
        self.checkpoint.tensor(&source.name, &source.shape)
    }

    /// From now on `told` is told the bytes of the outputs that are read; the first to ask is.
    pub fn tell(&self, told: impl Fn(u64) + Send + Sync + 'static) {
        let _ = self.told.set(Box::new(told));
    }

    /// The outputs of `slot` were read from elsewhere.
    pub fn was_read(&self, slot: Slot) {
        if self.told.get().is_some() {
            let _ = self.outputs(slot);
        }
    }

    /// The outputs of `slot`, in runs of so many, one below the other.
    pub fn outputs(&self, slot: Slot) -> Result<Vec<(Tensor<'_>, usize)>, ModelError> {
        let Source { name, shape, transposed, outputs } = self.spec.source(slot, self.prefix);
        let stored = self.checkpoint.tensor(&name, &shape)?;
        // A tensor without columns is a vector of outputs; one of more dimensions is matrices one below the
        // other.
        let rows = shape[..shape.len().max(2) - 1].iter().product();
        let (stored, all) = if transposed { (stored.transposed(shape[1]), shape[1]) } else { (stored, rows) };
        let each = stored.bytes.len() / all;
        if let Some(told) = self.told.get() {
            told((outputs.count * outputs.len * each) as u64);
        }
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
}
