//! Keys and values in the memory of a GPU, `[layer][head][key, value][capacity][head_dim]` of f32. Layers may
//! have heads of their own, or none.

use std::sync::Arc;

use super::gpu::{Buffer, Gpu};
use super::kernels::Pointer;
use crate::backend::BackendError;
use crate::backend::sequences::Regions;
use crate::model::ModelSpec;
use crate::model::spec::Heads;

/// Bytes of a float.
const FLOAT: usize = size_of::<f32>();

/// K/V of consecutive positions.
pub struct Region {
    memory: Buffer,
    /// Positions there is room for.
    pub capacity: usize,
}

impl Region {
    /// Where it begins.
    pub fn at(&self) -> Pointer {
        self.memory.at()
    }
}

/// The memory of a GPU as a place for K/V.
pub struct Memory {
    /// The GPU.
    pub gpu: Arc<Gpu>,
    /// Heads of the layers.
    layers: Vec<Heads>,
}

impl Memory {
    /// For K/V of this model.
    pub fn new(gpu: &Arc<Gpu>, spec: &ModelSpec) -> Self {
        let layers = (0..spec.blocks.len()).map(|block| spec.made_heads(block)).collect();
        Self { gpu: Arc::clone(gpu), layers }
    }

    /// Floats that a position has in the layers before this one.
    pub fn before(&self, layer: usize) -> usize {
        self.layers[..layer].iter().map(|heads| 2 * heads.kv * heads.dim).sum()
    }

    /// Keys, and values, of each head of each layer: floats that a position has before them, and its floats.
    fn parts(&self) -> impl Iterator<Item = (usize, usize)> {
        let each = self.layers.iter().flat_map(|heads| std::iter::repeat_n(heads.dim, 2 * heads.kv));
        each.scan(0, |before, dim| {
            *before += dim;
            Some((*before - dim, dim))
        })
    }
}

impl Regions for Memory {
    type Region = Region;

    fn make(&self, positions: usize) -> Result<Region, BackendError> {
        let bytes = (self.before(self.layers.len()) * FLOAT).checked_mul(positions);
        let memory = self.gpu.alloc(bytes.ok_or(BackendError::Memory { bytes: usize::MAX })?)?;
        Ok(Region { memory, capacity: positions })
    }

    fn fits(&self, region: &Region, positions: usize) -> bool {
        region.capacity == positions
    }

    fn resized(&self, region: &Region, len: usize, capacity: usize) -> Result<Region, BackendError> {
        let to = self.make(capacity)?;
        for (before, floats) in self.parts() {
            let [from, to] = [region, &to].map(|region| region.at() + (before * region.capacity * FLOAT) as u64);
            self.gpu.copy(from, to, len * floats * FLOAT)?;
        }
        Ok(to)
    }

    fn bytes(&self, region: &Region) -> usize {
        region.memory.bytes()
    }
}
