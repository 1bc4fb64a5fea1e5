//! From the checkpoint of a model to packed weights.

use std::cell::RefCell;
use std::path::Path;

use super::gemm::Kernels;
use super::pack::{Packed, Panels};
use super::pool::Pool;
use super::quantized::{Reader, SavedWeights};
use crate::backend::storage::{Storage, as_stored};
use crate::backend::weights::{DraftHeadWeights, MatrixRole, Packer, Weights};
use crate::backend::{BackendError, Dtype};
use crate::model::{ModelWeights, Slot, Tensor};

/// Weights as panels, and how their matrices are stored; of int4 the embedding and the head are int8.
pub type CpuWeights = Weights<Packed, Vec<f32>>;

/// Packs the weights of `model`.
///
/// Quantised weights are kept in the folder `cache`, and taken from there if they were made from the same
/// files.
pub fn pack(
    model: &ModelWeights,
    dtype: Dtype,
    (pool, kernels): (&Pool, &Kernels),
    cache: Option<&Path>,
) -> Result<(CpuWeights, Storage), BackendError> {
    let storage = match Storage::asked(dtype) {
        Some(storage) => storage,
        None => as_stored(model)?,
    };
    let quantised = matches!(storage, Storage::Int8 | Storage::Int4);
    let saved = cache.filter(|_| quantised).and_then(|folder| SavedWeights::new(folder, model, storage.name()));
    let reader = RefCell::new(saved.as_ref().and_then(SavedWeights::read));
    let found = reader.borrow().is_some();
    let weights = Weights::pack(model, &Panelled { model, pool, kernels, storage, reader: &reader })?;
    let whole = found && reader.borrow().is_some();
    if let Some(saved) = saved.filter(|_| !whole) {
        saved.write(weights.matrices().filter_map(Packed::quantised));
    }
    Ok((weights, storage))
}

/// Packs the weights of a draft head.
pub fn pack_draft_head(
    model: &ModelWeights,
    dtype: Dtype,
    (pool, kernels): (&Pool, &Kernels),
) -> Result<DraftHeadWeights<Packed, Vec<f32>>, BackendError> {
    let storage = Storage::asked(dtype).map_or_else(|| as_stored(model), Ok)?;
    DraftHeadWeights::pack(model, &Panelled { model, pool, kernels, storage, reader: &RefCell::new(None) })
}

struct Panelled<'a> {
    model: &'a ModelWeights,
    pool: &'a Pool,
    kernels: &'a Kernels,
    storage: Storage,
    /// Where quantised weights are read from; nothing once something was missing there.
    reader: &'a RefCell<Option<Reader>>,
}

impl Panelled<'_> {
    fn packed(&self, slots: &[Slot], storage: Storage) -> Result<Packed, BackendError> {
        if let Some(packed) = self.saved(slots, storage) {
            for &slot in slots {
                self.model.was_read(slot);
            }
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
        if !matches!(storage, Storage::Stored(_)) {
            return new(&parts, storage);
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

    /// The matrix of these slots from the file of quantised weights.
    fn saved(&self, slots: &[Slot], storage: Storage) -> Option<Packed> {
        let bits = storage.bits()?;
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
}

impl Packer for Panelled<'_> {
    type Matrix = Packed;
    type Vector = Vec<f32>;

    fn matrix(&self, slots: &[Slot], role: MatrixRole) -> Result<Packed, BackendError> {
        self.packed(slots, self.storage.of_role(role))
    }

    fn vector(&self, values: Vec<f32>) -> Result<Vec<f32>, BackendError> {
        Ok(values)
    }
}
