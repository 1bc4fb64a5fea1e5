//! Parts of a model that a device needs.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::tensors::{Source, TensorNames};
use super::{Checkpoint, ModelError, ModelSpec, Slot, Tensor, TensorType};

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
    /// Weights of a checkpoint.
    pub(super) fn new(name: String, mut spec: ModelSpec, checkpoint: Checkpoint) -> Self {
        spec.names = Self::names(&spec, &checkpoint);
        let prefix = Self::prefix(&spec, &checkpoint);
        Self { name, spec, checkpoint, prefix, told: OnceLock::new() }
    }

    /// Weights of a folder in Hugging Face layout, without a tokenizer.
    #[cfg(test)]
    pub(crate) fn of_folder(folder: &std::path::Path) -> Result<Self, ModelError> {
        Ok(Self::new("model".into(), super::config::of_folder(folder)?, Checkpoint::open(folder)?))
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

    /// A configuration may say that the head is the embedding where the checkpoint has both: as the reference
    /// library does, the head then counts by itself if it differs. (`tie_weights` of transformers 5.)
    pub(super) fn untie(spec: &mut ModelSpec, checkpoint: &Checkpoint) {
        let prefix = Self::prefix(spec, checkpoint);
        let tensor = |slot: Slot| {
            let source = spec.source(slot, prefix);
            checkpoint.tensor(&source.name, &source.shape).ok()
        };
        if let (true, Some(head), Some(embedding)) = (spec.head.tied, tensor(Slot::Head), tensor(Slot::Embedding)) {
            let same = head.dtype == embedding.dtype && head.bytes == embedding.bytes;
            checkpoint.release_all();
            spec.head.tied = same;
        }
    }

    /// The whole tensor that `slot` is in, checked against the configuration.
    pub fn tensor(&self, slot: Slot) -> Result<Tensor<'_>, ModelError> {
        let source = self.spec.source(slot, self.prefix);
        self.checkpoint.tensor(&source.name, &source.shape)
    }

    /// The type of `slot` and its bytes as stored.
    pub fn stored(&self, slot: Slot) -> Result<(TensorType, usize), ModelError> {
        let source = self.spec.source(slot, self.prefix);
        let dtype = self.checkpoint.tensor_type(&source.name, &source.shape)?;
        let shape = self.spec.shape(slot);
        let rows: usize = shape.iter().rev().skip(1).product();
        Ok((dtype, rows * shape.last().and_then(|&row| dtype.bytes(row)).unwrap_or(0)))
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

    /// The tensor that `slot` is in is not needed for now: it takes no memory until it is read again.
    pub fn release(&self, slot: Slot) {
        self.checkpoint.release(&self.spec.source(slot, self.prefix).name);
    }

    /// As [`release`](Self::release), of all tensors.
    pub fn release_all(&self) {
        self.checkpoint.release_all();
    }

    /// The outputs of `slot`, in runs of so many, one below the other.
    pub fn outputs(&self, slot: Slot) -> Result<Vec<(Tensor<'_>, usize)>, ModelError> {
        let Source { name, shape, transposed, outputs } = self.spec.source(slot, self.prefix);
        // A vector's outputs are its elements; a tensor of more than two dimensions is matrices one below the
        // other.
        let columns = usize::from(self.spec.shape(slot).len() != 1);
        let rows = shape[..shape.len() - columns].iter().product();
        let stored = match self.checkpoint.microscaled(&name, &shape)? {
            Some(stored) => {
                let count = outputs.count * outputs.len;
                if let Some(told) = self.told.get() {
                    told((count * stored.row_bytes()) as u64);
                }
                return Ok(vec![(stored.rows(outputs), count)]);
            }
            None => self.checkpoint.tensor(&name, &shape)?,
        };
        if let (true, &[_, inputs, all]) = (transposed, &shape[..]) {
            let rows = stored.columns((inputs, all), outputs);
            if let Some(told) = self.told.get() {
                told(rows.bytes.len() as u64);
            }
            return Ok(vec![(rows, outputs.count * outputs.len)]);
        }
        let (stored, all) = if transposed { (stored.transposed(shape[1]), shape[1]) } else { (stored, rows) };
        let each = stored.bytes.len() / all;
        if let Some(told) = self.told.get() {
            told((outputs.count * outputs.len * each) as u64);
        }
        if outputs.len == 1 {
            // Rows that take turns with others are put together.
            let row = |run: usize| &stored.bytes[(outputs.start + run * outputs.step) * each..][..each];
            let bytes: Vec<u8> = (0..outputs.count).flat_map(|run| row(run).iter().copied()).collect();
            return Ok(vec![(Tensor { dtype: stored.dtype, bytes: bytes.into() }, outputs.count)]);
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

    /// Types of the matrices.
    pub fn types(&self) -> impl Iterator<Item = TensorType> {
        self.matrices().map(|(dtype, _)| dtype)
    }

    /// Bytes of a weight of the matrices as devices hold them in their own types, on average.
    pub fn bytes_of_weight(&self) -> f64 {
        let (mut bytes, mut weights) = (0.0, 0.0);
        for (dtype, count) in self.matrices() {
            bytes += count as f64 * dtype.bytes_of_weight();
            weights += count as f64;
        }
        bytes / weights
    }

    /// Type and number of weights of each matrix.
    fn matrices(&self) -> impl Iterator<Item = (TensorType, usize)> {
        let products = self.spec.slots().into_iter().filter(|slot| slot.is_product());
        products.filter_map(|slot| {
            let source = self.spec.source(slot, self.prefix);
            let dtype = self.checkpoint.tensor_type(&source.name, &source.shape).ok()?;
            Some((dtype, self.spec.shape(slot).iter().product()))
        })
    }

    /// Number of weights.
    pub fn parameters(&self) -> usize {
        self.spec.slots().into_iter().map(|slot| self.spec.shape(slot).iter().product::<usize>()).sum()
    }
}
