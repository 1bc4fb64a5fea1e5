//! From the checkpoint of a model to weights in the memory of a GPU.

use std::sync::Arc;

use super::NAME;
use super::gpu::{Buffer, Gpu};
use super::matrix::{Matrix, Piece};
use crate::backend::storage::Storage;
use crate::backend::weights::{MatrixRole, Packer};
use crate::backend::{BackendError, Dtype};
use crate::model::{ModelWeights, Slot, Tensor};

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
        let storage = |tensor: &Tensor<'_>| self.storage.unwrap_or_else(|| Storage::of(tensor.dtype)).of_role(role);
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
