//! From the checkpoint of a model to weights in the memory of a GPU.

use std::sync::Arc;

use super::NAME;
use super::gpu::{Buffer, Gpu};
use super::kernels;
use super::matrix::{Matrix, Piece};
use crate::backend::storage::Storage;
use crate::backend::weights::{MatrixRole, Packer};
use crate::backend::{BackendError, Dtype};
use crate::model::{ModelWeights, Slot, Tensor, TensorType};

/// Puts weights onto a GPU.
pub struct Sender<'a> {
    model: &'a ModelWeights,
    gpu: &'a Arc<Gpu>,
    /// `None`: every matrix as it is stored.
    storage: Option<Storage>,
}

impl<'a> Sender<'a> {
    /// For this model.
    pub fn new(model: &'a ModelWeights, gpu: &'a Arc<Gpu>, dtype: Dtype) -> Self {
        Self { model, gpu, storage: Storage::asked(dtype) }
    }
}

/// Storage of a tensor of this type as it is: codes that kernels do not have are decoded, to f16.
pub fn storage_of(dtype: TensorType) -> Storage {
    match Storage::of(dtype) {
        Storage::Stored(own) if !own.format().is_some_and(kernels::has_codes) => Storage::F16,
        storage => storage,
    }
}

/// Error for a model that the kernels cannot compute.
pub fn unsupported(what: String) -> BackendError {
    BackendError::Unsupported { device: NAME, what }
}

impl Packer for Sender<'_> {
    type Matrix = Matrix;
    type Vector = Buffer;

    fn matrix(&self, slots: &[Slot], role: MatrixRole) -> Result<Matrix, BackendError> {
        let mut parts = Vec::new();
        let mut inputs = 0;
        for &slot in slots {
            inputs = self.model.spec.shape(slot)[1];
            parts.extend(self.model.outputs(slot)?);
        }
        // Tensors that are stored in the same way are one piece.
        let storage = |tensor: &Tensor<'_>| self.storage.unwrap_or_else(|| storage_of(tensor.dtype)).of_role(role);
        let pieces = parts
            .chunk_by(|a, b| storage(&a.0) == storage(&b.0))
            .map(|parts| Piece::new(self.gpu, parts, inputs, storage(&parts[0].0)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Matrix { outputs: pieces.iter().map(|piece| piece.outputs).sum(), inputs, pieces })
    }

    fn vector(&self, values: Vec<f32>) -> Result<Buffer, BackendError> {
        let mut memory = self.gpu.alloc(size_of_val(&values[..]))?;
        memory.write(0, &values)?;
        Ok(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_stored_so_that_kernels_have_it() {
        for dtype in TensorType::all() {
            let storage = storage_of(dtype);
            let known =
                |known: Storage| known == storage || known.format().is_some_and(|f| storage.format() == Some(f));
            assert!(kernels::storages().any(known), "{dtype}");
        }
        assert_eq!(storage_of(TensorType::Q4K), Storage::Stored(TensorType::Q4K));
        for own in [TensorType::Iq4Nl, TensorType::Iq4Xs, TensorType::Mxfp4] {
            assert_eq!(storage_of(own), Storage::Stored(own));
        }
        assert_eq!(storage_of(TensorType::Iq3S), Storage::F16);
    }
}
