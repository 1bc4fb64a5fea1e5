//! Keys and values in the memory of a GPU, `[layer][head][key, value][capacity][head_dim]` of f32.

use std::sync::Arc;

use super::gpu::{Buffer, Gpu};
use super::kernels::Pointer;
use crate::backend::BackendError;
use crate::backend::sequences::{Regions, Shape};

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
    /// Sizes.
    pub shape: Shape,
}

impl Memory {
    fn position_bytes(&self) -> usize {
        self.shape.head_dim * size_of::<f32>()
    }

    /// Keys and values of a head of a layer.
    fn parts(&self) -> usize {
        self.shape.layers * self.shape.heads * 2
    }
}

impl Regions for Memory {
    type Region = Region;

    fn make(&self, positions: usize) -> Result<Region, BackendError> {
        let bytes = self.parts().checked_mul(positions).and_then(|all| all.checked_mul(self.position_bytes()));
        let memory = self.gpu.alloc(bytes.ok_or(BackendError::Memory { bytes: usize::MAX })?)?;
        Ok(Region { memory, capacity: positions })
    }

    fn fits(&self, region: &Region, positions: usize) -> bool {
        region.capacity == positions
    }

    fn resized(&self, region: &Region, len: usize, capacity: usize) -> Result<Region, BackendError> {
        let to = self.make(capacity)?;
        let bytes = self.position_bytes();
        for part in 0..self.parts() {
            let [from, to] = [region, &to].map(|region| region.at() + (part * region.capacity * bytes) as u64);
            self.gpu.copy(from, to, len * bytes)?;
        }
        Ok(to)
    }

    fn copy_position(&self, region: &mut Region, from: usize, to: usize) -> Result<(), BackendError> {
        let bytes = self.position_bytes();
        for part in 0..self.parts() {
            let at = |index| region.at() + ((part * region.capacity + index) * bytes) as u64;
            self.gpu.copy(at(from), at(to), bytes)?;
        }
        Ok(())
    }

    fn bytes(&self, region: &Region) -> usize {
        region.memory.bytes()
    }
}
