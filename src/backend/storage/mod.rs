//! Storage of weights, whatever device multiplies with them: as floats, as whole numbers that are made at
//! load, or as the blocks of a file.

mod quantise;

pub use crate::model::blocks::{BLOCK, Bits, Format, Kind, UNIT};
pub use quantise::{LEAST, ROUND, quantise_block};

use super::weights::MatrixRole;
use super::{BackendError, Dtype};
use crate::model::{ModelWeights, TensorType};

/// Storage of weights.
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
    /// All storages. A GPU's kernels know each by its number here.
    pub fn all() -> impl Iterator<Item = Self> {
        let blocks = TensorType::BLOCKS.iter().map(|&dtype| Self::Stored(dtype));
        [Self::F32, Self::Bf16, Self::F16, Self::Int8, Self::Int4].into_iter().chain(blocks)
    }

    /// Format of codes, if weights are such.
    pub fn format(self) -> Option<Format> {
        match self {
            Self::Stored(dtype) => dtype.format(),
            _ => self.bits().map(|bits| Format { bits, kind: Kind::Bf16 }),
        }
    }

    /// Width of the codes that are made at load, if weights are such.
    pub fn bits(self) -> Option<Bits> {
        match self {
            Self::Int8 => Some(Bits::Eight),
            Self::Int4 => Some(Bits::Four),
            Self::F32 | Self::Bf16 | Self::F16 | Self::Stored(_) => None,
        }
    }

    /// Storage of all matrices; `None` if each stays as it is stored.
    pub fn asked(dtype: Dtype) -> Option<Self> {
        match dtype {
            Dtype::Auto => None,
            Dtype::F32 => Some(Self::F32),
            Dtype::Bf16 => Some(Self::Bf16),
            Dtype::Int8 => Some(Self::Int8),
            Dtype::Int4 => Some(Self::Int4),
        }
    }

    /// Storage of a matrix in this role, where this is the storage of its blocks.
    pub fn of_role(self, role: MatrixRole) -> Self {
        match (role, self) {
            (MatrixRole::Router, _) => Self::F32,
            (MatrixRole::End, Self::Int4) => Self::Int8,
            (_, storage) => storage,
        }
    }

    /// Storage in which nothing of this type is lost or widened.
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
            Self::Stored(dtype) => dtype.name(),
        }
    }
}

/// The smallest storage that loses nothing of any matrix of the checkpoint. Where some are quantised, each
/// stays as it is, and this names the type of most of their bytes.
pub fn as_stored(model: &ModelWeights) -> Result<Storage, BackendError> {
    let mut bytes: Vec<(Storage, usize)> = Vec::new();
    for slot in model.spec.slots().into_iter().filter(|slot| slot.is_product()) {
        let (dtype, size) = model.stored(slot)?;
        let storage = Storage::of(dtype);
        match bytes.iter_mut().find(|(known, _)| *known == storage) {
            Some((_, bytes)) => *bytes += size,
            None => bytes.push((storage, size)),
        }
    }
    let quantised = bytes.iter().filter(|(storage, _)| matches!(storage, Storage::Stored(_)));
    Ok(match (quantised.max_by_key(|(_, bytes)| *bytes), &bytes[..]) {
        (Some((storage, _)), _) | (None, [(storage, _)]) => *storage,
        (None, _) => Storage::F32,
    })
}
