//! How weights are stored, whatever device multiplies with them: as floats, as whole numbers that are made at
//! load, or as the blocks of a file.

mod format;
mod quantise;

pub use format::{BLOCK, Bits, Format, Kind, UNIT};
pub use quantise::{LEAST, ROUND, quantise_block};

use super::weights::Part;
use super::{BackendError, Dtype};
use crate::model::{ModelWeights, TensorType};

/// How weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// 32-bit floats.
    F32,
    /// bfloat16.
    Bf16,
    /// IEEE half precision.
    F16,
    /// Blocks of 8-bit whole numbers.
    Int8,
    /// Blocks of 4-bit whole numbers.
    Int4,
    /// The blocks of a file.
    Stored(TensorType),
}

impl Storage {
    /// How wide whole numbers are, if weights are such.
    pub fn bits(self) -> Option<Bits> {
        match self {
            Self::Int8 => Some(Bits::Eight),
            Self::Int4 => Some(Bits::Four),
            Self::F32 | Self::Bf16 | Self::F16 | Self::Stored(_) => None,
        }
    }

    /// That of all matrices; `None` if each stays as it is stored.
    pub fn asked(dtype: Dtype) -> Option<Self> {
        match dtype {
            Dtype::Auto => None,
            Dtype::F32 => Some(Self::F32),
            Dtype::Bf16 => Some(Self::Bf16),
            Dtype::Int8 => Some(Self::Int8),
            Dtype::Int4 => Some(Self::Int4),
        }
    }

    /// That of a part of the network, where this is that of the blocks.
    pub fn of_part(self, part: Part) -> Self {
        match (part, self) {
            (Part::Router, _) => Self::F32,
            (Part::End, Self::Int4) => Self::Int8,
            (_, storage) => storage,
        }
    }

    /// In which nothing of this type is lost or widened.
    pub fn of(dtype: TensorType) -> Self {
        match dtype {
            TensorType::F32 => Self::F32,
            TensorType::Bf16 => Self::Bf16,
            TensorType::F16 => Self::F16,
            quantised => Self::Stored(quantised),
        }
    }

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
            Self::Stored(TensorType::Q4_0) => "q4_0",
            Self::Stored(TensorType::Q4_1) => "q4_1",
            Self::Stored(TensorType::Q5_0) => "q5_0",
            Self::Stored(TensorType::Q5_1) => "q5_1",
            Self::Stored(TensorType::Q8_0) => "q8_0",
            Self::Stored(TensorType::Q4K) => "q4_k",
            Self::Stored(TensorType::Q5K) => "q5_k",
            Self::Stored(TensorType::Q6K) => "q6_k",
            Self::Stored(_) => "stored",
        }
    }
}

/// The smallest storage that loses nothing of any matrix of the checkpoint. Where some are quantised, each
/// stays as it is, and this names the type of most of their bytes.
pub fn as_stored(model: &ModelWeights) -> Result<Storage, BackendError> {
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
