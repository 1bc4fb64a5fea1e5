//! From the checkpoint of a model to weights in the memory of a GPU.

use std::sync::Arc;

use half::{bf16, f16};

use super::NAME;
use super::gpu::{Buffer, Gpu};
use crate::backend::weights::{Packer, Part};
use crate::backend::{BackendError, Dtype};
use crate::model::blocks::widen;
use crate::model::{Model, Slot, Tensor, TensorType};

/// How weights are stored; the numbers are those of `kernels/prelude.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// 32-bit floats.
    F32 = 0,
    /// bfloat16.
    Bf16 = 1,
    /// IEEE half precision.
    F16 = 2,
}

impl Storage {
    fn of(dtype: TensorType) -> Option<Self> {
        match dtype {
            TensorType::F32 => Some(Self::F32),
            TensorType::Bf16 => Some(Self::Bf16),
            TensorType::F16 => Some(Self::F16),
            _ => None,
        }
    }

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }

    fn bytes(self) -> usize {
        if self == Self::F32 { 4 } else { 2 }
    }

    fn push(self, weight: f32, to: &mut Vec<u8>) {
        match self {
            Self::F32 => to.extend(weight.to_le_bytes()),
            Self::Bf16 => to.extend(bf16::from_f32(weight).to_le_bytes()),
            Self::F16 => to.extend(f16::from_f32(weight).to_le_bytes()),
        }
    }
}

/// A matrix `[outputs, stride]`, of which `inputs` are weights and the rest zeros.
pub struct Matrix {
    /// The weights.
    pub memory: Buffer,
    /// How they are stored.
    pub storage: Storage,
    /// Rows.
    pub outputs: usize,
    /// Weights of a row.
    pub inputs: usize,
    /// Weights from row to row.
    pub stride: usize,
}

/// Inputs that a lane of `gemm_*` takes at once.
const STEP: usize = 8;

/// Bytes that are sent to the GPU at once.
const PART: usize = 16 << 20;

/// Puts weights onto a GPU.
pub struct Sender<'a> {
    model: &'a Model,
    gpu: &'a Arc<Gpu>,
    /// `None`: every matrix as it is stored.
    storage: Option<Storage>,
}

impl<'a> Sender<'a> {
    /// For this model; types that the kernels cannot multiply with are refused.
    pub fn new(model: &'a Model, gpu: &'a Arc<Gpu>, dtype: Dtype) -> Result<Self, BackendError> {
        let storage = match dtype {
            Dtype::Auto => None,
            Dtype::F32 => Some(Storage::F32),
            Dtype::Bf16 => Some(Storage::Bf16),
            Dtype::Int8 | Dtype::Int4 => {
                return Err(unsupported(format!("{dtype} weights (--dtype bf16 would do)")));
            }
        };
        Ok(Self { model, gpu, storage })
    }

    fn storage(&self, parts: &[(Tensor<'_>, usize)]) -> Result<Storage, BackendError> {
        if let Some(storage) = self.storage {
            return Ok(storage);
        }
        let mut kinds = parts.iter().map(|(tensor, _)| {
            let name = || unsupported(format!("{:?} weights (--dtype bf16 would do)", tensor.dtype));
            Storage::of(tensor.dtype).ok_or_else(name)
        });
        let first = kinds.next().unwrap_or(Ok(Storage::F32))?;
        // Of different ones the one that holds them all.
        kinds.try_fold(first, |all, next| Ok(if next? == all { all } else { Storage::F32 }))
    }
}

/// What the kernels cannot compute.
pub fn unsupported(what: String) -> BackendError {
    BackendError::Unsupported { device: NAME, what }
}

impl Packer for Sender<'_> {
    type Matrix = Matrix;
    type Vector = Buffer;

    fn matrix(&self, slots: &[Slot], part: Part) -> Result<Matrix, BackendError> {
        let mut parts = Vec::new();
        let mut inputs = 0;
        for &slot in slots {
            inputs = self.model.spec.shape(slot)[1];
            parts.extend(self.model.outputs(slot)?);
        }
        let storage = if part == Part::Router { Storage::F32 } else { self.storage(&parts)? };
        let outputs = parts.iter().map(|(_, rows)| rows).sum();
        let stride = inputs.next_multiple_of(STEP);
        let bytes = outputs * stride * storage.bytes();
        let mut memory = self.gpu.alloc(bytes).map_err(|error| match error {
            BackendError::Memory { bytes } => BackendError::WeightMemory { bytes },
            other => other,
        })?;
        let (mut sent, mut staged, mut row) = (0, Vec::new(), vec![0.0; stride]);
        for (tensor, rows) in &parts {
            for stored in tensor.bytes.chunks_exact(tensor.bytes.len() / rows) {
                widen(tensor.dtype, stored, &mut row[..inputs]);
                for &weight in &row {
                    storage.push(weight, &mut staged);
                }
                if staged.len() >= PART {
                    memory.write(sent, &staged)?;
                    sent += staged.len();
                    staged.clear();
                }
            }
        }
        memory.write(sent, &staged)?;
        Ok(Matrix { memory, storage, outputs, inputs, stride })
    }

    fn vector(&self, values: Vec<f32>) -> Result<Buffer, BackendError> {
        let mut memory = self.gpu.alloc(size_of_val(&values[..]))?;
        memory.write(0, &values)?;
        Ok(memory)
    }
}
