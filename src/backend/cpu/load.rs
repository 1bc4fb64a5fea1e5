//! From the checkpoint of a model to packed weights.

use std::cell::RefCell;
use std::path::Path;

use super::gemm::Kernels;
use super::ops::NormWeights;
use super::pack::{Packed, Panels, Storage};
use super::pool::Pool;
use super::quantized::{Reader, SavedWeights};
use crate::backend::{BackendError, Dtype};
use crate::model::blocks::widen;
use crate::model::spec::{Block, Mlp, NormKind, Wiring};
use crate::model::{BlockSlot, Model, ModelSpec, Slot, Tensor};

/// All weights of a model, in the order of the kernels.
pub struct Weights {
    /// `[vocab_size, width]`.
    pub embedding: Packed,
    /// A row for every position `[offset + context, hidden]`; none where positions are rotated.
    pub positions: Vec<f32>,
    /// From the embedding's width to `hidden`, and back; `None` where they are the same.
    pub projections: Option<[Packed; 2]>,
    /// `[vocab_size, width]`; `None` where the embedding is the head.
    pub head: Option<Packed>,
    /// `[vocab_size]`.
    pub head_bias: Option<Vec<f32>>,
    pub final_norm: Option<NormWeights>,
    pub blocks: Vec<BlockWeights>,
    /// How the matrices are stored; of int4 the embedding and the head are int8.
    pub storage: Storage,
}

pub struct BlockWeights {
    pub attention_norm: NormWeights,
    /// Of what attention adds.
    pub attention_output_norm: Option<NormWeights>,
    /// Query, key and value one below the other, `[(heads + 2 * kv_heads) * head_dim, hidden]`.
    pub qkv: Packed,
    /// Bias of `qkv`.
    pub qkv_bias: Option<Vec<f32>>,
    /// Norms of query and key heads, `[head_dim]` each.
    pub qk_norm: Option<(NormWeights, NormWeights)>,
    /// `[hidden, heads * head_dim]`.
    pub output: Packed,
    /// Bias of `output`.
    pub output_bias: Option<Vec<f32>>,
    /// `None` where the MLP reads what attention reads.
    pub mlp_norm: Option<NormWeights>,
    /// Of what the MLP adds.
    pub mlp_output_norm: Option<NormWeights>,
    /// Chooses experts, `[experts, hidden]` in f32; `None` where there is one MLP.
    pub router: Option<Packed>,
    /// The MLP, or the experts.
    pub mlps: Vec<MlpWeights>,
}

pub struct MlpWeights {
    /// Gate, if there is one, and up one below the other, `[1 or 2 * intermediate, hidden]`.
    pub up: Packed,
    /// Bias of `up`.
    pub up_bias: Option<Vec<f32>>,
    /// `[hidden, intermediate]`.
    pub down: Packed,
    /// Bias of `down`.
    pub down_bias: Option<Vec<f32>>,
}

impl Weights {
    /// Packs the weights of `model`.
    ///
    /// Quantised weights are kept in the folder `cache`, and taken from there if they were made from the same
    /// files.
    pub fn pack(
        model: &Model,
        dtype: Dtype,
        (pool, kernels): (&Pool, &Kernels),
        cache: Option<&Path>,
    ) -> Result<Self, BackendError> {
        let storage = match dtype {
            Dtype::F32 => Storage::F32,
            Dtype::Bf16 => Storage::Bf16,
            Dtype::Int8 => Storage::Int8,
            Dtype::Int4 => Storage::Int4,
            Dtype::Auto => as_stored(model)?,
        };
        let quantised = matches!(storage, Storage::Int8 | Storage::Int4);
        let saved = cache.filter(|_| quantised).and_then(|folder| SavedWeights::new(folder, model, storage.name()));
        let reader = RefCell::new(saved.as_ref().and_then(SavedWeights::read));
        let found = reader.borrow().is_some();
        let packer = Packer { model, pool, kernels, storage, reader: &reader };
        // Four bits are too few where the errors go straight into the logits.
        let ends = Packer { storage: if storage == Storage::Int4 { Storage::Int8 } else { storage }, ..packer };
        let spec = &model.spec;
        let projected = spec.embedding.width != spec.hidden;
        let weights = Self {
            embedding: ends.matrix(&[Slot::Embedding])?,
            positions: if spec.embedding.positions.is_some() { packer.vector(&[Slot::Positions])? } else { Vec::new() },
            projections: if projected {
                Some([ends.matrix(&[Slot::ProjectIn])?, ends.matrix(&[Slot::ProjectOut])?])
            } else {
                None
            },
            head: if spec.head.tied { None } else { Some(ends.matrix(&[Slot::Head])?) },
            head_bias: packer.vector_if(spec.head.bias, &[Slot::HeadBias])?,
            final_norm: if spec.final_norm { Some(packer.norm(Slot::FinalNorm, Slot::FinalNormBias)?) } else { None },
            blocks: (0..spec.blocks.len()).map(|block| packer.block(block)).collect::<Result<_, _>>()?,
            storage,
        };
        let whole = found && reader.borrow().is_some();
        if let Some(saved) = saved.filter(|_| !whole) {
            saved.write(weights.matrices().filter_map(Packed::quantised));
        }
        Ok(weights)
    }

    /// All matrices, in the order in which they are packed.
    fn matrices(&self) -> impl Iterator<Item = &Packed> {
        let ends = [&self.embedding].into_iter().chain(self.projections.iter().flatten()).chain(&self.head);
        ends.chain(self.blocks.iter().flat_map(BlockWeights::matrices))
    }

    /// Bytes of the packed matrices.
    pub fn bytes(&self) -> usize {
        self.matrices().map(Packed::bytes).sum()
    }

    /// Weights that every row is multiplied with; of experts those that it takes.
    pub fn multiplied(&self, spec: &ModelSpec) -> usize {
        let weights = |matrix: &Packed| matrix.inputs * matrix.outputs;
        let head = self.head.as_ref().unwrap_or(&self.embedding);
        let ends: usize = [head].into_iter().chain(self.projections.iter().flatten()).map(weights).sum();
        let of_block = |(block, spec): (&BlockWeights, &Block)| {
            let used = spec.mlp.experts.map_or(1, |experts| experts.used);
            let mlp: usize = block.mlps.iter().take(used).flat_map(|mlp| [&mlp.up, &mlp.down]).map(weights).sum();
            mlp + [&block.qkv, &block.output].into_iter().chain(&block.router).map(weights).sum::<usize>()
        };
        ends + self.blocks.iter().zip(&spec.blocks).map(of_block).sum::<usize>()
    }
}

impl BlockWeights {
    fn matrices(&self) -> impl Iterator<Item = &Packed> {
        let mlps = self.mlps.iter().flat_map(|mlp| [&mlp.up, &mlp.down]);
        [&self.qkv, &self.output].into_iter().chain(&self.router).chain(mlps)
    }
}

/// The smallest storage that loses nothing of any matrix of the checkpoint. Where some are quantised, each
/// stays as it is, and this names the type of most of their bytes.
fn as_stored(model: &Model) -> Result<Storage, BackendError> {
    let mut bytes: Vec<(Storage, usize)> = Vec::new();
    for slot in model.spec.slots().into_iter().filter(|slot| slot.is_product()) {
        let tensor = model.tensor(slot)?;
        let storage = Storage::of(tensor.dtype);
        match bytes.iter_mut().find(|(known, _)| *known == storage) {
            Some((_, bytes)) => *bytes += tensor.bytes.len(),
            None => bytes.push((storage, tensor.bytes.len())),
        }
    }
    let quantised = bytes.iter().filter(|(storage, _)| matches!(storage, Storage::Stored(_)));
    Ok(match (quantised.max_by_key(|(_, bytes)| *bytes), &bytes[..]) {
        (Some((storage, _)), _) | (None, [(storage, _)]) => *storage,
        (None, _) => Storage::F32,
    })
}

#[derive(Clone, Copy)]
struct Packer<'a> {
    model: &'a Model,
    pool: &'a Pool,
    kernels: &'a Kernels,
    storage: Storage,
    /// Where quantised weights are read from; nothing once something was missing there.
    reader: &'a RefCell<Option<Reader>>,
}

impl Packer<'_> {
    /// Matrices with the same inputs, one below the other.
    fn matrix(&self, slots: &[Slot]) -> Result<Packed, BackendError> {
        if let Some(packed) = self.saved(slots) {
            return Ok(packed);
        }
        let mut inputs = 0;
        let mut parts = Vec::new();
        for &slot in slots {
            inputs = self.model.spec.shape(slot)[1];
            parts.extend(self.model.outputs(slot)?);
        }
        let new = |parts: &[_], storage| {
            Packed::new(self.pool, self.kernels, parts, inputs, storage)
                .map_err(|bytes| BackendError::WeightMemory { bytes })
        };
        if !matches!(self.storage, Storage::Stored(_)) {
            return new(&parts, self.storage);
        }
        // Every matrix as it is stored, which may differ between those that are multiplied together.
        let same = |a: &(Tensor<'_>, usize), b: &(Tensor<'_>, usize)| a.0.dtype == b.0.dtype;
        let stacked = parts.chunk_by(same).map(|parts| new(parts, Storage::of(parts[0].0.dtype)));
        let mut stacked = stacked.collect::<Result<Vec<_>, _>>()?;
        if stacked.len() == 1 {
            return Ok(stacked.remove(0));
        }
        let outputs = stacked.iter().map(|part| part.outputs).sum();
        Ok(Packed { outputs, inputs, panels: Panels::Stacked(stacked) })
    }

    /// The same from the file of quantised weights.
    fn saved(&self, slots: &[Slot]) -> Option<Packed> {
        let bits = self.storage.bits()?;
        let shapes = slots.iter().map(|&slot| self.model.spec.shape(slot));
        let (mut outputs, mut inputs) = (0, 0);
        for shape in shapes {
            outputs += shape.first()?;
            inputs = *shape.get(1)?;
        }
        let mut reader = self.reader.borrow_mut();
        let next = reader.as_mut()?.next(outputs, inputs, bits);
        if next.is_none() {
            *reader = None;
        }
        next.map(|quantised| Packed { outputs, inputs, panels: Panels::Quantized(quantised) })
    }

    /// Vectors, or the rows of matrices, one after the other.
    fn vector(&self, slots: &[Slot]) -> Result<Vec<f32>, BackendError> {
        let mut values = Vec::new();
        for &slot in slots {
            for (tensor, _) in self.model.outputs(slot)? {
                let from = values.len();
                let (of_block, bytes) = tensor.dtype.block();
                values.resize(from + tensor.bytes.len() / bytes * of_block, 0.0);
                widen(tensor.dtype, &tensor.bytes, &mut values[from..]);
            }
        }
        Ok(values)
    }

    fn vector_if(&self, there: bool, slots: &[Slot]) -> Result<Option<Vec<f32>>, BackendError> {
        if there { self.vector(slots).map(Some) } else { Ok(None) }
    }

    fn norm(&self, weight: Slot, bias: Slot) -> Result<NormWeights, BackendError> {
        let kind = self.model.spec.norm.kind;
        let mut weight = self.vector(&[weight])?;
        if kind == NormKind::RmsPlusOne {
            for weight in &mut weight {
                *weight += 1.0;
            }
        }
        Ok(NormWeights { weight, bias: self.vector_if(kind == NormKind::Layer, &[bias])?.unwrap_or_default() })
    }

    fn block(&self, block: usize) -> Result<BlockWeights, BackendError> {
        use BlockSlot as B;
        let spec = &self.model.spec.blocks[block];
        let of = |slots: &[B]| slots.iter().map(|&slot| Slot::Block(block, slot)).collect::<Vec<_>>();
        let norm = |weight, bias| self.norm(Slot::Block(block, weight), Slot::Block(block, bias));
        let norm_if =
            |there: bool, weight, bias| if there { norm(weight, bias).map(Some) } else { Ok::<_, BackendError>(None) };
        let sandwich = spec.wiring == Wiring::Sandwich;
        let qk_norm = if spec.attention.qk_norm {
            Some((norm(B::QueryNorm, B::QueryNorm)?, norm(B::KeyNorm, B::KeyNorm)?))
        } else {
            None
        };
        let exact = Packer { storage: Storage::F32, ..*self };
        Ok(BlockWeights {
            attention_norm: norm(B::AttentionNorm, B::AttentionNormBias)?,
            attention_output_norm: norm_if(sandwich, B::AttentionOutputNorm, B::AttentionOutputNorm)?,
            qkv: self.matrix(&of(&[B::Query, B::Key, B::Value]))?,
            qkv_bias: self.vector_if(spec.attention.qkv_bias, &of(&[B::QueryBias, B::KeyBias, B::ValueBias]))?,
            qk_norm,
            output: self.matrix(&of(&[B::Output]))?,
            output_bias: self.vector_if(spec.attention.output_bias, &of(&[B::OutputBias]))?,
            mlp_norm: norm_if(spec.wiring != Wiring::Parallel, B::MlpNorm, B::MlpNormBias)?,
            mlp_output_norm: norm_if(sandwich, B::MlpOutputNorm, B::MlpOutputNorm)?,
            router: if spec.mlp.experts.is_some() { Some(exact.matrix(&of(&[B::Router]))?) } else { None },
            mlps: match spec.mlp.experts {
                None => vec![self.mlp(spec.mlp, |slot| Slot::Block(block, slot))?],
                Some(experts) => (0..experts.count)
                    .map(|expert| self.mlp(spec.mlp, |slot| Slot::Expert(block, expert, slot)))
                    .collect::<Result<_, _>>()?,
            },
        })
    }

    fn mlp(&self, spec: Mlp, slot: impl Fn(BlockSlot) -> Slot) -> Result<MlpWeights, BackendError> {
        use BlockSlot as B;
        let of = |slots: &[B]| slots.iter().map(|&of| slot(of)).collect::<Vec<_>>();
        let (up, up_bias): (&[B], &[B]) =
            if spec.gated { (&[B::Gate, B::Up], &[B::GateBias, B::UpBias]) } else { (&[B::Up], &[B::UpBias]) };
        Ok(MlpWeights {
            up: self.matrix(&of(up))?,
            up_bias: self.vector_if(spec.bias, &of(up_bias))?,
            down: self.matrix(&of(&[B::Down]))?,
            down_bias: self.vector_if(spec.bias, &of(&[B::DownBias]))?,
        })
    }
}
