//! From the checkpoint of a model to packed weights.

use std::cell::RefCell;
use std::path::Path;

use super::gemm::Kernels;
use super::pack::{self, Packed, Panels, Storage};
use super::pool::Pool;
use super::quantized::{Reader, SavedWeights};
use crate::backend::{BackendError, Dtype};
use crate::model::{BlockSlot, Model, Slot, TensorType};

/// All weights of a model, in the order of the kernels.
pub struct Weights {
    /// `[vocab_size, hidden]`.
    pub embedding: Packed,
    /// `[vocab_size, hidden]`; `None` where the embedding is the head.
    pub head: Option<Packed>,
    /// `[hidden]`.
    pub final_norm: Vec<f32>,
    pub blocks: Vec<BlockWeights>,
    /// How the matrices are stored; of int4 the embedding and the head are int8.
    pub storage: Storage,
}

pub struct BlockWeights {
    /// `[hidden]`.
    pub attention_norm: Vec<f32>,
    /// Query, key and value one below the other, `[(heads + 2 * kv_heads) * head_dim, hidden]`.
    pub qkv: Packed,
    /// Bias of `qkv`.
    pub qkv_bias: Option<Vec<f32>>,
    /// Norms of query and key heads, `[head_dim]` each.
    pub qk_norm: Option<(Vec<f32>, Vec<f32>)>,
    /// `[hidden, heads * head_dim]`.
    pub output: Packed,
    /// Bias of `output`.
    pub output_bias: Option<Vec<f32>>,
    /// `[hidden]`.
    pub mlp_norm: Vec<f32>,
    /// Gate and up one below the other, `[2 * intermediate, hidden]`.
    pub gate_up: Packed,
    /// Bias of `gate_up`.
    pub gate_up_bias: Option<Vec<f32>>,
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
            Dtype::Auto => lossless(model)?,
        };
        let quantised = matches!(storage, Storage::Int8 | Storage::Int4);
        let saved = cache.filter(|_| quantised).and_then(|folder| SavedWeights::new(folder, model, storage.name()));
        let reader = RefCell::new(saved.as_ref().and_then(SavedWeights::read));
        let found = reader.borrow().is_some();
        let packer = Packer { model, pool, kernels, storage, reader: &reader };
        // Four bits are too few where the errors go straight into the logits.
        let ends = Packer { storage: if storage == Storage::Int4 { Storage::Int8 } else { storage }, ..packer };
        let spec = &model.spec;
        let weights = Self {
            embedding: ends.matrix(&[Slot::Embedding])?,
            head: if spec.tied { None } else { Some(ends.matrix(&[Slot::Head])?) },
            final_norm: packer.vector(&[Slot::FinalNorm])?,
            blocks: (0..spec.layers).map(|block| packer.block(block)).collect::<Result<_, _>>()?,
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
        [&self.embedding].into_iter().chain(&self.head).chain(self.in_blocks())
    }

    /// Bytes of the packed matrices.
    pub fn bytes(&self) -> usize {
        self.matrices().map(Packed::bytes).sum()
    }

    /// Weights that every row is multiplied with.
    pub fn multiplied(&self) -> usize {
        let head = self.head.as_ref().unwrap_or(&self.embedding);
        self.in_blocks().chain([head]).map(|matrix| matrix.inputs * matrix.outputs).sum()
    }

    fn in_blocks(&self) -> impl Iterator<Item = &Packed> {
        self.blocks.iter().flat_map(|b| [&b.qkv, &b.output, &b.gate_up, &b.down])
    }
}

/// The smallest storage that loses nothing of any matrix of the checkpoint.
fn lossless(model: &Model) -> Result<Storage, BackendError> {
    let mut found = None;
    for slot in model.spec.slots() {
        if model.spec.shape(slot).len() == 2 {
            let storage = match model.tensor(slot)?.dtype {
                TensorType::Bf16 => Storage::Bf16,
                TensorType::F16 => Storage::F16,
                TensorType::F32 => return Ok(Storage::F32),
            };
            if found.is_some_and(|found| found != storage) {
                return Ok(Storage::F32);
            }
            found = Some(storage);
        }
    }
    Ok(found.unwrap_or(Storage::F32))
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
            if let [rows, columns] = self.model.spec.shape(slot)[..] {
                inputs = columns;
                parts.push((self.model.tensor(slot)?, rows));
            }
        }
        Packed::new(self.pool, self.kernels, &parts, inputs, self.storage)
            .map_err(|bytes| BackendError::WeightMemory { bytes })
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

    /// Vectors, one after the other.
    fn vector(&self, slots: &[Slot]) -> Result<Vec<f32>, BackendError> {
        let mut values = Vec::new();
        for &slot in slots {
            let tensor = self.model.tensor(slot)?;
            values.extend(pack::elements(tensor.dtype, tensor.bytes));
        }
        Ok(values)
    }

    fn block(&self, block: usize) -> Result<BlockWeights, BackendError> {
        use BlockSlot as B;
        let (attention, mlp) = (self.model.spec.attention, self.model.spec.mlp);
        let matrix = |slots: &[B]| self.matrix(&slots.iter().map(|&slot| Slot::Block(block, slot)).collect::<Vec<_>>());
        let vector = |slots: &[B]| self.vector(&slots.iter().map(|&slot| Slot::Block(block, slot)).collect::<Vec<_>>());
        let vector_if = |there: bool, slots: &[B]| if there { vector(slots).map(Some) } else { Ok(None) };
        let qk_norm = if attention.qk_norm { Some((vector(&[B::QueryNorm])?, vector(&[B::KeyNorm])?)) } else { None };
        Ok(BlockWeights {
            attention_norm: vector(&[B::AttentionNorm])?,
            qkv: matrix(&[B::Query, B::Key, B::Value])?,
            qkv_bias: vector_if(attention.qkv_bias, &[B::QueryBias, B::KeyBias, B::ValueBias])?,
            qk_norm,
            output: matrix(&[B::Output])?,
            output_bias: vector_if(attention.output_bias, &[B::OutputBias])?,
            mlp_norm: vector(&[B::MlpNorm])?,
            gate_up: matrix(&[B::Gate, B::Up])?,
            gate_up_bias: vector_if(mlp.bias, &[B::GateBias, B::UpBias])?,
            down: matrix(&[B::Down])?,
            down_bias: vector_if(mlp.bias, &[B::DownBias])?,
        })
    }
}
