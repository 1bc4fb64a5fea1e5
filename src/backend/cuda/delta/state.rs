//! The state of a sequence in the memory of a GPU, and the log of its rows, as `kernels/delta.cu` has them.

use std::sync::Arc;

use super::super::gpu::Buffer;
use super::super::kernels::{self, Pointer};
use super::super::queue::Queue;
use crate::backend::BackendError;
use crate::backend::states::{Plan, StateMemory, USUAL};
use crate::model::ModelSpec;
use crate::model::spec::DeltaNet;

/// Columns of a panel of a matrix, and channels of a key that lie together.
const PANEL: usize = 8;
const GROUP: usize = 16;

/// Sizes of the states of a model, and where they are.
#[derive(Clone)]
pub struct Sizes {
    queue: Arc<Queue>,
    /// Gated delta nets of the model.
    layers: usize,
    /// All are alike.
    pub net: DeltaNet,
}

impl Sizes {
    /// Sizes for this model; `None` without gated delta nets.
    pub fn of(spec: &ModelSpec, queue: &Arc<Queue>) -> Option<Self> {
        spec.delta_nets().map(|(layers, net)| Self { queue: Arc::clone(queue), layers, net })
    }

    /// Floats of a layer: matrices, and inputs of the convolution.
    fn layer(&self) -> usize {
        let DeltaNet { value_heads, key_dim, value_dim, width, .. } = self.net;
        let head = value_dim.div_ceil(PANEL) * key_dim.div_ceil(GROUP) * (PANEL * GROUP);
        value_heads * head + ((width - 1) * self.net.channels()).next_multiple_of(32)
    }

    /// Bytes of a row of a layer in a log.
    fn logged(&self) -> usize {
        (self.net.channels() + 2 * self.net.value_heads) * size_of::<f32>()
    }
}

/// For the kernels.
pub fn there(net: DeltaNet) -> kernels::DeltaNet {
    let DeltaNet { key_heads, value_heads, key_dim, value_dim, width, tiled, .. } = net;
    let [key_heads, value_heads, key_dim, value_dim, width] =
        [key_heads, value_heads, key_dim, value_dim, width].map(|size| size as i32);
    kernels::DeltaNet { key_heads, value_heads, key_dim, value_dim, width, tiled: i32::from(tiled) }
}

/// Memory that launches which have not been started may name.
pub struct Held {
    queue: Arc<Queue>,
    memory: Option<Buffer>,
}

impl Held {
    fn new(queue: &Arc<Queue>, bytes: usize) -> Result<Self, BackendError> {
        Ok(Self { queue: Arc::clone(queue), memory: Some(queue.alloc(bytes)?) })
    }

    /// Where it begins; 0 is none.
    pub fn at(&self) -> Pointer {
        self.memory.as_ref().map_or(0, Buffer::at)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.queue.retire(memory);
        }
    }
}

/// Rows of a fork that are not settled, of all layers: a ring.
pub struct Log {
    memory: Held,
    /// Place of the first row.
    first: usize,
    /// Places.
    places: usize,
}

/// Rows of a plan that are logged, without those that are done again.
fn fresh(plan: &Plan) -> usize {
    plan.rows - plan.settle.max(plan.again)
}

impl Log {
    /// Where it begins, the place of its first row, and its places.
    pub fn there(&self) -> (Pointer, usize, usize) {
        (self.memory.at(), self.first, self.places)
    }

    /// Makes room for the rows of a plan behind those that are done again.
    pub fn make_room(&mut self, sizes: &Sizes, plan: &Plan) -> Result<(), BackendError> {
        let needed = plan.again + fresh(plan);
        if needed <= self.places {
            return Ok(());
        }
        let (row, places) = (sizes.logged(), needed.next_multiple_of(USUAL));
        let memory = Held::new(&sizes.queue, sizes.layers * places * row)?;
        // Rows that are done again, in up to two parts of the ring.
        let before = plan.again.min(self.places - self.first);
        for layer in 0..sizes.layers {
            let from = |place: usize| self.memory.at() + ((layer * self.places + place) * row) as u64;
            let to = |place: usize| memory.at() + ((layer * places + place) * row) as u64;
            sizes.queue.copy(from(self.first), to(0), before * row);
            sizes.queue.copy(from(0), to(before), (plan.again - before) * row);
        }
        *self = Self { memory, first: 0, places };
        Ok(())
    }

    /// Goes behind the rows that a plan has settled.
    pub fn finish(&mut self, plan: &Plan) {
        self.first = (self.first + plan.settle.min(plan.again)) % self.places;
    }
}

impl StateMemory for Sizes {
    type State = Held;
    type Log = Log;

    fn zero(&self) -> Result<Held, BackendError> {
        Ok(Held { queue: Arc::clone(&self.queue), memory: None })
    }

    fn make(&self) -> Result<Held, BackendError> {
        Held::new(&self.queue, self.bytes())
    }

    fn copied(&self, from: &Held, len: usize, spare: Option<Held>) -> Result<Held, BackendError> {
        let copy = spare.map_or_else(|| self.make(), Ok)?;
        // The state of no positions is nowhere.
        if len > 0 {
            self.queue.copy(from.at(), copy.at(), self.bytes());
        }
        Ok(copy)
    }

    fn log(&self) -> Result<Log, BackendError> {
        let memory = Held::new(&self.queue, USUAL * self.row())?;
        Ok(Log { memory, first: 0, places: USUAL })
    }

    fn bytes(&self) -> usize {
        self.layers * self.layer() * size_of::<f32>()
    }

    fn row(&self) -> usize {
        self.layers * self.logged()
    }
}
