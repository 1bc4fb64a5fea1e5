//! Keys and values in memory, in the order of the kernels.

use std::sync::Arc;

use super::memory::Zeroed;
use super::pack::{F32x16, NR};
use crate::backend::BackendError;
use crate::backend::sequences::Regions;

/// Sizes of the K/V of a model: for each layer its key/value heads and their width.
#[derive(Clone)]
pub struct Layout {
    layers: Arc<[Layer]>,
}

/// One layer, and where its keys and values begin.
#[derive(Clone, Copy)]
struct Layer {
    heads: usize,
    width: usize,
    /// Channels of keys of all heads before, which is what 16 positions take in blocks.
    keys_before: usize,
    /// Panels of values of all heads before, which is what a position takes in blocks.
    values_before: usize,
}

impl Layer {
    fn value_panels(self) -> usize {
        self.width.div_ceil(NR)
    }

    fn after(self) -> (usize, usize) {
        (self.keys_before + self.heads * self.width, self.values_before + self.heads * self.value_panels())
    }
}

impl Layout {
    /// Of layers with so many heads of such a width; no heads where a layer reads another one's.
    pub fn new(layers: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut all: Vec<Layer> = Vec::new();
        for (heads, width) in layers {
            let (keys_before, values_before) = all.last().map_or((0, 0), |layer| layer.after());
            all.push(Layer { heads, width, keys_before, values_before });
        }
        Self { layers: all.into() }
    }

    /// Channels of keys and panels of values of a position.
    fn sizes(&self) -> (usize, usize) {
        self.layers.last().map_or((0, 0), |layer| layer.after())
    }
}

/// K/V of consecutive positions, as panels that the kernels of `gemm` read.
///
/// Keys are `[layer][head][ceil(position / 16)][head_dim]` blocks of 16 positions: a score is a product with
/// an output per position. Values are `[layer][head][ceil(head_dim / 16)][position]` blocks of 16 channels:
/// the weighted sum is a product with an input per position.
pub struct Region {
    layout: Layout,
    /// Positions there is room for, a multiple of 16.
    pub capacity: usize,
    keys: Zeroed<F32x16>,
    values: Zeroed<F32x16>,
}

impl Region {
    pub(super) fn new(layout: &Layout, positions: usize) -> Result<Self, BackendError> {
        let out_of_memory = |bytes| BackendError::Memory { bytes };
        let capacity = positions.checked_next_multiple_of(NR).ok_or_else(|| out_of_memory(usize::MAX))?;
        let (keys, values) = layout.sizes();
        let blocks = |each: usize, of: usize| each.checked_mul(of).ok_or_else(|| out_of_memory(usize::MAX));
        let keys = Zeroed::new(blocks(capacity / NR, keys)?).map_err(out_of_memory)?;
        let values = Zeroed::new(blocks(capacity, values)?).map_err(out_of_memory)?;
        Ok(Self { layout: layout.clone(), capacity, keys, values })
    }

    /// Bytes of its keys and values.
    fn bytes(&self) -> usize {
        size_of_val(&self.keys[..]) + size_of_val(&self.values[..])
    }

    /// Panels of keys of a head, `[ceil(position / 16)][head_dim]`.
    pub fn keys(&self, layer: usize, head: usize) -> &[F32x16] {
        let Layer { width, keys_before, .. } = self.layout.layers[layer];
        &self.keys[(keys_before + head * width) * (self.capacity / NR)..][..width * (self.capacity / NR)]
    }

    /// Panels of values of a head, `[ceil(head_dim / 16)][capacity]`.
    pub fn values(&self, layer: usize, head: usize) -> &[F32x16] {
        let layer = self.layout.layers[layer];
        let panels = layer.value_panels();
        &self.values[(layer.values_before + head * panels) * self.capacity..][..panels * self.capacity]
    }

    /// Stores key and value `[heads * head_dim]` at `position` of this region.
    pub(super) fn store(&mut self, layer: usize, position: usize, key: &[f32], value: &[f32]) {
        let layer = self.layout.layers[layer];
        let width = layer.width;
        let key_len = self.capacity / NR * width;
        let value_len = self.capacity * layer.value_panels();
        for (head, (key, value)) in key.chunks_exact(width).zip(value.chunks_exact(width)).enumerate() {
            let first = layer.keys_before * (self.capacity / NR) + head * key_len;
            let panel = &mut self.keys[first + position / NR * width..][..width];
            for (block, &key) in panel.iter_mut().zip(key) {
                block.0[position % NR] = key;
            }
            let panels = &mut self.values[layer.values_before * self.capacity + head * value_len..][..value_len];
            for (panel, value) in value.chunks(NR).enumerate() {
                panels[panel * self.capacity + position].0[..value.len()].copy_from_slice(value);
            }
        }
    }

    /// A region with room for `capacity` positions whose first `len` are those of this one.
    fn resized(&self, len: usize, capacity: usize) -> Result<Self, BackendError> {
        let mut to = Self::new(&self.layout, capacity)?;
        for layer in &*self.layout.layers {
            let panels = len.div_ceil(NR) * layer.width;
            for head in 0..layer.heads {
                let channels = layer.keys_before + head * layer.width;
                let (from, at) = (channels * (self.capacity / NR), channels * (to.capacity / NR));
                to.keys[at..][..panels].copy_from_slice(&self.keys[from..][..panels]);
            }
            for panel in layer.values_before..layer.after().1 {
                let from = &self.values[panel * self.capacity..][..len];
                to.values[panel * to.capacity..][..len].copy_from_slice(from);
            }
        }
        Ok(to)
    }
}

/// In the memory of this machine.
impl Regions for Layout {
    type Region = Region;

    fn make(&self, positions: usize) -> Result<Region, BackendError> {
        Region::new(self, positions)
    }

    fn fits(&self, region: &Region, positions: usize) -> bool {
        region.capacity == positions.next_multiple_of(NR)
    }

    fn resized(&self, region: &Region, len: usize, capacity: usize) -> Result<Region, BackendError> {
        region.resized(len, capacity)
    }

    fn bytes(&self, region: &Region) -> usize {
        region.bytes()
    }
}
