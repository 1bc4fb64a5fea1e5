//! Keys and values in memory, in the order of the kernels.

use super::memory::Zeroed;
use super::pack::{F32x16, NR};
use crate::backend::BackendError;
use crate::backend::sequences::{Regions, Shape};

fn value_panels(shape: Shape) -> usize {
    shape.head_dim.div_ceil(NR)
}

/// K/V of consecutive positions, as panels that the kernels of `gemm` read.
///
/// Keys are `[layer][head][ceil(position / 16)][head_dim]` blocks of 16 positions: a score is a product with
/// an output per position. Values are `[layer][head][ceil(head_dim / 16)][position]` blocks of 16 channels:
/// the weighted sum is a product with an input per position.
pub struct Region {
    shape: Shape,
    /// Positions there is room for, a multiple of 16.
    pub capacity: usize,
    keys: Zeroed<F32x16>,
    values: Zeroed<F32x16>,
}

impl Region {
    pub(super) fn new(shape: Shape, positions: usize) -> Result<Self, BackendError> {
        let out_of_memory = |bytes| BackendError::Memory { bytes };
        let capacity = positions.checked_next_multiple_of(NR).ok_or_else(|| out_of_memory(usize::MAX))?;
        let blocks = |each: usize| {
            let heads = shape.layers * shape.heads;
            heads.checked_mul(each).ok_or_else(|| out_of_memory(usize::MAX))
        };
        let keys = Zeroed::new(blocks(capacity / NR * shape.head_dim)?).map_err(out_of_memory)?;
        let values = Zeroed::new(blocks(capacity * value_panels(shape))?).map_err(out_of_memory)?;
        Ok(Self { shape, capacity, keys, values })
    }

    /// Bytes of its keys and values.
    fn bytes(&self) -> usize {
        size_of_val(&self.keys[..]) + size_of_val(&self.values[..])
    }

    /// Panels of keys of a head, `[ceil(position / 16)][head_dim]`.
    pub fn keys(&self, layer: usize, head: usize) -> &[F32x16] {
        let len = self.capacity / NR * self.shape.head_dim;
        &self.keys[(layer * self.shape.heads + head) * len..][..len]
    }

    /// Panels of values of a head, `[ceil(head_dim / 16)][capacity]`.
    pub fn values(&self, layer: usize, head: usize) -> &[F32x16] {
        let len = self.capacity * value_panels(self.shape);
        &self.values[(layer * self.shape.heads + head) * len..][..len]
    }

    /// Stores key and value `[heads * head_dim]` at `position` of this region.
    pub(super) fn store(&mut self, layer: usize, position: usize, key: &[f32], value: &[f32]) {
        let width = self.shape.head_dim;
        let key_len = self.capacity / NR * width;
        let value_len = self.capacity * value_panels(self.shape);
        for (head, (key, value)) in key.chunks_exact(width).zip(value.chunks_exact(width)).enumerate() {
            let head = layer * self.shape.heads + head;
            let panel = &mut self.keys[head * key_len + position / NR * width..][..width];
            for (block, &key) in panel.iter_mut().zip(key) {
                block.0[position % NR] = key;
            }
            let panels = &mut self.values[head * value_len..][..value_len];
            for (panel, value) in value.chunks(NR).enumerate() {
                panels[panel * self.capacity + position].0[..value.len()].copy_from_slice(value);
            }
        }
    }

    /// Key and value `[heads * head_dim]` at `position`, as they were stored.
    pub fn load(&self, layer: usize, position: usize) -> (Vec<f32>, Vec<f32>) {
        let width = self.shape.head_dim;
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for head in 0..self.shape.heads {
            let panel = &self.keys(layer, head)[position / NR * width..][..width];
            key.extend(panel.iter().map(|block| block.0[position % NR]));
            let panels = self.values(layer, head).iter().skip(position).step_by(self.capacity);
            value.extend(panels.flat_map(|block| block.0).take(width));
        }
        (key, value)
    }

    /// A region with room for `capacity` positions whose first `len` are those of this one.
    fn resized(&self, len: usize, capacity: usize) -> Result<Self, BackendError> {
        let mut to = Self::new(self.shape, capacity)?;
        let panels = len.div_ceil(NR) * self.shape.head_dim;
        let (from_keys, to_keys) = (self.capacity / NR * self.shape.head_dim, to.capacity / NR * self.shape.head_dim);
        for head in 0..self.shape.layers * self.shape.heads {
            to.keys[head * to_keys..][..panels].copy_from_slice(&self.keys[head * from_keys..][..panels]);
        }
        for panel in 0..self.shape.layers * self.shape.heads * value_panels(self.shape) {
            let from = &self.values[panel * self.capacity..][..len];
            to.values[panel * to.capacity..][..len].copy_from_slice(from);
        }
        Ok(to)
    }
}

/// In the memory of this machine.
impl Regions for Shape {
    type Region = Region;

    fn make(&self, positions: usize) -> Result<Region, BackendError> {
        Region::new(*self, positions)
    }

    fn fits(&self, region: &Region, positions: usize) -> bool {
        region.capacity == positions.next_multiple_of(NR)
    }

    fn resized(&self, region: &Region, len: usize, capacity: usize) -> Result<Region, BackendError> {
        region.resized(len, capacity)
    }

    fn copy_position(&self, region: &mut Region, from: usize, to: usize) -> Result<(), BackendError> {
        for layer in 0..self.layers {
            let (key, value) = region.load(layer, from);
            region.store(layer, to, &key, &value);
        }
        Ok(())
    }

    fn bytes(&self, region: &Region) -> usize {
        region.bytes()
    }
}
