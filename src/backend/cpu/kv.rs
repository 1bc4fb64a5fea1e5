//! Keys and values of sequences: regions of memory, who owns them, and how many of their positions are valid.

use std::collections::HashMap;
use std::sync::Arc;

use super::pack::{Block, F32x16, NR, zeroed};
use crate::backend::{BackendError, Rows, SeqId};
use crate::model::spec::Heads;

/// Sizes of the K/V of one model.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Blocks of the model.
    pub layers: usize,
    /// Key/value heads.
    pub heads: usize,
    /// Width of a head.
    pub head_dim: usize,
}

impl Shape {
    /// Of a model with this many layers of these heads.
    pub fn new(layers: usize, heads: Heads) -> Self {
        Self { layers, heads: heads.kv, head_dim: heads.dim }
    }

    fn value_panels(self) -> usize {
        self.head_dim.div_ceil(NR)
    }
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
    keys: Vec<F32x16>,
    values: Vec<F32x16>,
}

impl Region {
    pub(super) fn new(shape: Shape, positions: usize) -> Result<Self, BackendError> {
        let out_of_memory = |bytes| BackendError::Memory { bytes };
        let capacity = positions.checked_next_multiple_of(NR).ok_or_else(|| out_of_memory(usize::MAX))?;
        let blocks = |each: usize| {
            let heads = shape.layers * shape.heads;
            heads.checked_mul(each).ok_or_else(|| out_of_memory(usize::MAX))
        };
        let keys = zeroed(blocks(capacity / NR * shape.head_dim)?).map_err(out_of_memory)?;
        let values = zeroed(blocks(capacity * shape.value_panels())?).map_err(out_of_memory)?;
        Ok(Self { shape, capacity, keys, values })
    }

    /// Bytes of its keys and values.
    fn bytes(&self) -> usize {
        size_of_val(self.keys.as_slice()) + size_of_val(self.values.as_slice())
    }

    /// Panels of keys of a head, `[ceil(position / 16)][head_dim]`.
    pub fn keys(&self, layer: usize, head: usize) -> &[F32x16] {
        let len = self.capacity / NR * self.shape.head_dim;
        &self.keys[(layer * self.shape.heads + head) * len..][..len]
    }

    /// Panels of values of a head, `[ceil(head_dim / 16)][capacity]`.
    pub fn values(&self, layer: usize, head: usize) -> &[F32x16] {
        let len = self.capacity * self.shape.value_panels();
        &self.values[(layer * self.shape.heads + head) * len..][..len]
    }

    /// Stores key and value `[heads * head_dim]` at `position` of this region.
    pub(super) fn store(&mut self, layer: usize, position: usize, key: &[f32], value: &[f32]) {
        let width = self.shape.head_dim;
        let key_len = self.capacity / NR * width;
        let value_len = self.capacity * self.shape.value_panels();
        for (head, (key, value)) in key.chunks_exact(width).zip(value.chunks_exact(width)).enumerate() {
            let head = layer * self.shape.heads + head;
            let panel = &mut self.keys[head * key_len + position / NR * width..][..width];
            for (block, &key) in panel.iter_mut().zip(key) {
                block.set(position % NR, key);
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
        for panel in 0..self.shape.layers * self.shape.heads * self.shape.value_panels() {
            let from = &self.values[panel * self.capacity..][..len];
            to.values[panel * to.capacity..][..len].copy_from_slice(from);
        }
        Ok(to)
    }
}

/// The part of a sequence that it reads and does not own.
#[derive(Clone)]
pub struct Shared {
    /// K/V of the prompt.
    pub region: Arc<Region>,
    /// Positions of it that belong to the sequence: positions `0..len`.
    pub len: usize,
}

/// One sequence: a shared prompt, maybe, and positions of its own after it.
pub struct Sequence {
    /// The prompt of a fork.
    pub shared: Option<Shared>,
    /// K/V of positions from the end of the shared prompt on. Shared with the forks of this sequence, if it
    /// has any.
    pub own: Arc<Region>,
    /// Valid positions, the shared ones included.
    pub len: usize,
    /// Largest `len`.
    pub limit: usize,
    /// Parents of the rows of a tree that lie beyond `len`, until a path of them is kept.
    tree: Vec<u32>,
}

impl Sequence {
    /// Number of shared positions.
    pub fn shared_len(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| shared.len)
    }
}

/// All open sequences of a network.
pub struct Sequences {
    /// Sizes of their K/V.
    pub shape: Shape,
    context: usize,
    open: HashMap<SeqId, Sequence>,
    /// Ids are not used twice, so that a stale one is noticed.
    next: u32,
}

impl Sequences {
    /// No sequences yet; none will have more than `context` positions.
    pub fn new(shape: Shape, context: usize) -> Self {
        Self { shape, context, open: HashMap::new(), next: 0 }
    }

    /// See [`Network::open`](crate::backend::Network::open).
    pub fn open(&mut self, capacity: usize) -> Result<SeqId, BackendError> {
        if capacity > self.context {
            let context = self.context;
            return Err(contract(format!("a sequence of {capacity} positions in a context of {context}")));
        }
        let own = Arc::new(Region::new(self.shape, capacity)?);
        Ok(self.insert(Sequence { shared: None, own, len: 0, limit: capacity, tree: Vec::new() }))
    }

    /// See [`Network::fork`](crate::backend::Network::fork).
    pub fn fork(&mut self, prompt: SeqId, n: usize, tail: usize) -> Result<Vec<SeqId>, BackendError> {
        let sequence = self.get(prompt)?;
        if sequence.shared.is_some() {
            return Err(contract(format!("fork of {prompt:?}, which is a fork itself")));
        }
        let shared = Shared { region: Arc::clone(&sequence.own), len: sequence.len };
        let limit = shared.len.saturating_add(tail);
        if limit > self.context {
            let context = self.context;
            return Err(contract(format!("forks of {limit} positions in a context of {context}")));
        }
        // All regions before the first sequence: without memory for all of them there are none.
        let regions: Vec<_> = (0..n).map(|_| Region::new(self.shape, tail)).collect::<Result<_, _>>()?;
        let (shared, len) = (Some(shared), sequence.len);
        let fork = |own| Sequence { shared: shared.clone(), own: Arc::new(own), len, limit, tree: Vec::new() };
        Ok(regions.into_iter().map(|own| self.insert(fork(own))).collect())
    }

    /// See [`Network::resize`](crate::backend::Network::resize).
    pub fn resize(&mut self, id: SeqId, len: usize, capacity: usize) -> Result<(), BackendError> {
        let context = self.context;
        let sequence = self.get_mut(id)?;
        let valid = sequence.len;
        if sequence.shared.is_some() || len > valid.min(capacity) || capacity > context {
            return Err(contract(format!(
                "{len} of {valid} positions of {id:?} with room for {capacity}, in a context of {context}"
            )));
        }
        let fits = sequence.own.capacity == capacity.next_multiple_of(NR);
        if !fits || Arc::get_mut(&mut sequence.own).is_none() {
            sequence.own = Arc::new(sequence.own.resized(len, capacity)?);
        }
        (sequence.len, sequence.limit) = (len, capacity);
        sequence.tree.clear();
        Ok(())
    }

    fn insert(&mut self, sequence: Sequence) -> SeqId {
        let id = SeqId(self.next);
        self.next += 1;
        self.open.insert(id, sequence);
        id
    }

    /// The sequence `id`.
    pub fn get(&self, id: SeqId) -> Result<&Sequence, BackendError> {
        self.open.get(&id).ok_or_else(|| contract(format!("{id:?} is not open")))
    }

    fn get_mut(&mut self, id: SeqId) -> Result<&mut Sequence, BackendError> {
        self.open.get_mut(&id).ok_or_else(|| contract(format!("{id:?} is not open")))
    }

    /// Stores `key` and `value` `[heads * head_dim]` of one layer at `position`, which the sequence owns.
    pub fn store(
        &mut self,
        id: SeqId,
        layer: usize,
        position: usize,
        (key, value): (&[f32], &[f32]),
    ) -> Result<(), BackendError> {
        let sequence = self.get_mut(id)?;
        let at = position - sequence.shared_len();
        let region =
            Arc::get_mut(&mut sequence.own).ok_or_else(|| contract(format!("rows for {id:?}, which has forks")))?;
        region.store(layer, at, key, value);
        Ok(())
    }

    /// Sets the number of valid positions after a pass, and the tree that was stored beyond them, if it was
    /// one.
    pub fn advance(&mut self, id: SeqId, len: usize, tree: &[u32]) {
        if let Some(sequence) = self.open.get_mut(&id) {
            sequence.len = len;
            sequence.tree = tree.to_vec();
        }
    }

    /// See [`Network::set_len`](crate::backend::Network::set_len). A length outside the allowed range is
    /// moved into it.
    pub fn set_len(&mut self, id: SeqId, len: usize) {
        if let Some(sequence) = self.open.get_mut(&id) {
            sequence.len = len.clamp(sequence.shared_len(), sequence.len);
            sequence.tree.clear();
        }
    }

    /// See [`Network::keep`](crate::backend::Network::keep).
    pub fn keep(&mut self, id: SeqId, path: &[u32]) -> Result<(), BackendError> {
        let layers = self.shape.layers;
        let sequence = self.get_mut(id)?;
        let mut parent = Rows::ROOT;
        for &row in path {
            if sequence.tree.get(row as usize) != Some(&parent) {
                return Err(contract(format!("{path:?} is no path of the tree {:?} of {id:?}", sequence.tree)));
            }
            parent = row;
        }
        let from = sequence.len - sequence.shared_len();
        let own =
            Arc::get_mut(&mut sequence.own).ok_or_else(|| contract(format!("a path for {id:?}, which has forks")))?;
        // In ascending order: a row's place in the path is never above its own.
        for (to, &row) in path.iter().enumerate() {
            for layer in 0..layers {
                let (key, value) = own.load(layer, from + row as usize);
                own.store(layer, from + to, &key, &value);
            }
        }
        sequence.len += path.len();
        sequence.tree.clear();
        Ok(())
    }

    /// Valid positions; 0 for a sequence that is not open.
    pub fn len(&self, id: SeqId) -> usize {
        self.open.get(&id).map_or(0, |sequence| sequence.len)
    }

    /// Bytes of all regions in use; shared ones count once.
    pub fn bytes(&self) -> usize {
        let mut regions: HashMap<*const Region, usize> = HashMap::new();
        for sequence in self.open.values() {
            let shared = sequence.shared.as_ref().map(|shared| &shared.region);
            for region in shared.into_iter().chain([&sequence.own]) {
                regions.insert(Arc::as_ptr(region), region.bytes());
            }
        }
        regions.values().sum()
    }

    /// Closes a sequence. Its region lives on while forks read it.
    pub fn close(&mut self, id: SeqId) {
        self.open.remove(&id);
    }
}

/// An error of the caller.
pub fn contract(what: String) -> BackendError {
    BackendError::Contract(what)
}
