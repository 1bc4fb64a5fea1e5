//! The states of sequences in a model with gated delta nets: what they hold, and how far back they reach.
//!
//! A state is one of fixed size after so many positions. A fork keeps it as it was when its last rows were
//! settled, and what the recurrence needs of the rows since then: `set_len` takes rows back by forgetting
//! them, and the next pass first does the remaining ones again, in the same order of operations. A prompt
//! keeps its last state and a few earlier ones, for the next prompt that begins alike. States are shared
//! until one of the owners goes on.

use std::collections::HashMap;
use std::sync::Arc;

use crate::backend::cpu::memory::Zeroed;
use crate::backend::cpu::pack::{F32x16, NR};
use crate::backend::slabs::Piece;
use crate::backend::{BackendError, SeqId};
use crate::model::ModelSpec;
use crate::model::spec::DeltaNet;

/// Rows of a fork that can be taken back, settled or not: more than are ever drafted.
const KEPT: usize = 96;

/// Rows of a usual draft, which memory is counted with.
const USUAL: usize = 16;

/// Most earlier states of a prompt, and the fewest positions between two.
const CHECKPOINTS: usize = 4;
const INTERVAL: usize = 256;

/// Sizes of the states of a model.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Gated delta nets of the model.
    pub layers: usize,
    /// All are alike.
    pub net: DeltaNet,
}

impl Sizes {
    /// Blocks of floats of a head's matrix, `[ceil(value_dim / 16), key_dim]`.
    pub fn head(&self) -> usize {
        self.net.value_dim.div_ceil(NR) * self.net.key_dim
    }

    /// Blocks of floats of a layer.
    pub fn layer(&self) -> usize {
        self.net.value_heads * self.head()
    }

    /// Floats of a layer that the convolution sees of earlier rows, `[width - 1, channels]`.
    pub fn inputs(&self) -> usize {
        (self.net.width - 1) * self.net.channels()
    }

    /// Bytes of a state.
    fn bytes(&self) -> usize {
        self.layers * (self.layer() * size_of::<F32x16>() + self.inputs() * size_of::<f32>())
    }

    /// Bytes of what is kept of a row.
    fn row(&self) -> usize {
        self.layers * (self.net.channels() + 2 * self.net.value_heads) * size_of::<f32>()
    }
}

/// The state of all layers after the first `len` positions.
pub struct State {
    pub len: usize,
    /// `[layer][value head][ceil(value_dim / 16)][key_dim]`.
    pub matrices: Zeroed<F32x16>,
    /// Inputs of the convolution of the last rows, `[layer][width - 1][channels]`.
    pub inputs: Zeroed<f32>,
}

impl State {
    fn new(sizes: &Sizes) -> Result<Self, BackendError> {
        let memory = |bytes| BackendError::Memory { bytes };
        let matrices = Zeroed::new(sizes.layers * sizes.layer()).map_err(memory)?;
        let inputs = Zeroed::new(sizes.layers * sizes.inputs()).map_err(memory)?;
        Ok(Self { len: 0, matrices, inputs })
    }

    fn copy(&self, sizes: &Sizes) -> Result<Self, BackendError> {
        let mut copy = Self::new(sizes)?;
        copy.len = self.len;
        // Pages that were never written stay untouched.
        if self.len > 0 {
            copy.matrices.copy_from_slice(&self.matrices);
            copy.inputs.copy_from_slice(&self.inputs);
        }
        Ok(copy)
    }
}

/// Rows of a layer, as far as the recurrence needs them.
#[derive(Clone, Default)]
pub struct Log {
    /// Inputs of the convolution `[rows, channels]`.
    pub inputs: Vec<f32>,
    /// Beta, then decay of each value head `[rows, 2 * value_heads]`.
    pub rates: Vec<f32>,
}

/// State of a sequence.
struct Tracked {
    state: Arc<State>,
    /// Of each layer, the rows since then.
    log: Vec<Log>,
    logged: usize,
    /// Rows before this position will not be taken back.
    settled: usize,
    kind: Kind,
}

enum Kind {
    /// It can always go back to where it was forked.
    Fork { base: Arc<State> },
    /// Earlier states, in the order of their lengths.
    Prompt { earlier: Vec<Arc<State>>, interval: usize, capacity: usize },
}

/// A piece of a pass: which rows the recurrence goes through.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub id: SeqId,
    /// Rows of earlier passes, which are done again.
    pub again: usize,
    /// All rows, those of the pass included.
    pub rows: usize,
    /// How many of them become part of the state.
    pub settle: usize,
}

/// The states of all open sequences; empty for models without gated delta nets.
pub struct States {
    pub sizes: Option<Sizes>,
    open: HashMap<SeqId, Tracked>,
    /// The state of no positions.
    zero: Option<Arc<State>>,
}

impl States {
    /// For this model.
    pub fn new(spec: &ModelSpec) -> Result<Self, BackendError> {
        let mut nets = spec.blocks.iter().filter_map(|block| block.delta);
        let sizes = nets.next().map(|net| Sizes { layers: 1 + nets.count(), net });
        let zero = sizes.map(|sizes| State::new(&sizes).map(Arc::new)).transpose()?;
        Ok(Self { sizes, open: HashMap::new(), zero })
    }

    /// A sequence without positions, with room for so many.
    pub fn open(&mut self, id: SeqId, capacity: usize) {
        if let (Some(sizes), Some(zero)) = (self.sizes, &self.zero) {
            let kind = Kind::Prompt { earlier: Vec::new(), interval: INTERVAL, capacity };
            let log = vec![Log::default(); sizes.layers];
            self.open.insert(id, Tracked { state: Arc::clone(zero), log, logged: 0, settled: 0, kind });
        }
    }

    /// Forks of a prompt.
    pub fn fork(&mut self, prompt: SeqId, forks: &[SeqId]) {
        let Some((state, layers)) = self.open.get(&prompt).map(|of| (Arc::clone(&of.state), of.log.len())) else {
            return;
        };
        for &id in forks {
            let kind = Kind::Fork { base: Arc::clone(&state) };
            let (state, log) = (Arc::clone(&state), vec![Log::default(); layers]);
            self.open.insert(id, Tracked { settled: state.len, state, log, logged: 0, kind });
        }
    }

    /// The largest length up to `len` that a sequence can go back to.
    pub fn cut_point(&self, id: SeqId, len: usize) -> usize {
        self.open.get(&id).map_or(len, |of| of.cut_point(len))
    }

    /// Goes back to the largest length up to `len` that there is, and returns it.
    pub fn cut(&mut self, id: SeqId, len: usize) -> usize {
        let (Some(of), Some(zero)) = (self.open.get_mut(&id), &self.zero) else { return len };
        of.cut(len, zero)
    }

    /// As [`cut`](Self::cut), and no rows before will be taken back.
    pub fn settle(&mut self, id: SeqId, len: usize) -> usize {
        let len = self.cut(id, len);
        if let Some(of) = self.open.get_mut(&id) {
            of.settled = len;
        }
        len
    }

    /// Gives a prompt room for so many positions.
    pub fn resize(&mut self, id: SeqId, len: usize, room: usize) {
        self.settle(id, len);
        if let Some(Tracked { kind: Kind::Prompt { capacity, .. }, .. }) = self.open.get_mut(&id) {
            *capacity = room;
        }
    }

    /// Closes a sequence.
    pub fn close(&mut self, id: SeqId) {
        self.open.remove(&id);
    }

    /// Bytes that open sequences have room for, and of the states that forks of closed prompts go back to.
    pub fn bytes(&self) -> usize {
        let Some(sizes) = self.sizes else { return 0 };
        let mut others: Vec<*const State> = Vec::new();
        let mut rooms = 0;
        for of in self.open.values() {
            match &of.kind {
                Kind::Fork { base } => {
                    rooms += sizes.bytes() + USUAL * sizes.row();
                    others.push(Arc::as_ptr(base));
                }
                Kind::Prompt { capacity, .. } => rooms += sizes.bytes() * (1 + (capacity / INTERVAL).min(CHECKPOINTS)),
            }
        }
        for of in self.open.values() {
            if let Kind::Prompt { earlier, .. } = &of.kind {
                let counted =
                    |state: &*const State| earlier.iter().chain([&of.state]).any(|own| Arc::as_ptr(own) == *state);
                others.retain(|state| !counted(state));
            }
        }
        others.sort_unstable();
        others.dedup();
        rooms + others.len() * sizes.bytes()
    }

    /// Prepares a slab of rows, each piece at the end of its sequence or before it. Afterwards the states are
    /// those of their sequences alone, as far as the pass changes them.
    pub fn begin(&mut self, slab: &[Piece]) -> Result<Vec<Plan>, BackendError> {
        let (Some(sizes), Some(zero)) = (self.sizes, &self.zero) else { return Ok(Vec::new()) };
        let mut plans = Vec::with_capacity(slab.len());
        for piece in slab {
            let Some(of) = self.open.get_mut(&piece.seq) else { continue };
            of.cut(piece.start, zero);
            let (again, rows) = (of.logged, of.logged + piece.len);
            let settle = match of.kind {
                Kind::Fork { .. } => (of.settled.saturating_sub(of.state.len)).max(rows.saturating_sub(KEPT)),
                Kind::Prompt { .. } => rows,
            };
            if settle > 0 && Arc::get_mut(&mut of.state).is_none() {
                of.state = Arc::new(of.state.copy(&sizes)?);
            }
            plans.push(Plan { id: piece.seq, again, rows, settle });
        }
        Ok(plans)
    }

    /// Hands out the state that a plan is for; nobody else has it if rows are to be settled. To be [put
    /// back](Self::put).
    pub fn take(&mut self, plan: &Plan) -> Option<Arc<State>> {
        let zero = Arc::clone(self.zero.as_ref()?);
        Some(std::mem::replace(&mut self.open.get_mut(&plan.id)?.state, zero))
    }

    /// Takes a state back.
    pub fn put(&mut self, plan: &Plan, state: Arc<State>) {
        if let Some(of) = self.open.get_mut(&plan.id) {
            of.state = state;
        }
    }

    /// The rows of a layer that are done again.
    pub fn log(&mut self, plan: &Plan, layer: usize) -> Option<&mut Log> {
        self.open.get_mut(&plan.id)?.log.get_mut(layer)
    }

    /// Ends a slab that went through all layers.
    pub fn finish(&mut self, plans: &[Plan]) {
        for plan in plans {
            let Some(of) = self.open.get_mut(&plan.id) else { continue };
            of.logged = plan.rows - plan.settle;
            if let Some(state) = Arc::get_mut(&mut of.state) {
                state.len += plan.settle;
            }
            of.settled = of.settled.max(of.state.len);
            if let Kind::Prompt { earlier, interval, .. } = &mut of.kind
                && of.state.len - earlier.last().map_or(0, |state| state.len) >= *interval
            {
                earlier.push(Arc::clone(&of.state));
                while earlier.len() > CHECKPOINTS {
                    *interval *= 2;
                    let mut last = 0;
                    earlier.retain(|state| {
                        let far = state.len >= last + *interval;
                        last = if far { state.len } else { last };
                        far
                    });
                }
            }
        }
    }

    /// Goes back to a state that is whole, after a pass that failed between two layers; returns its length.
    pub fn fail(&mut self, id: SeqId) -> Option<usize> {
        let (of, zero) = (self.open.get_mut(&id)?, self.zero.as_ref()?);
        of.logged = 0;
        of.state = match &mut of.kind {
            Kind::Fork { base } => Arc::clone(base),
            Kind::Prompt { earlier, .. } => {
                // The last one may be the very state that was being changed.
                earlier.retain(|state| !Arc::ptr_eq(state, &of.state));
                Arc::clone(earlier.last().unwrap_or(zero))
            }
        };
        of.settled = of.state.len;
        Some(of.state.len)
    }
}

impl Tracked {
    fn cut_point(&self, len: usize) -> usize {
        if len >= self.state.len {
            return len.min(self.state.len + self.logged);
        }
        match &self.kind {
            Kind::Fork { base } => base.len,
            Kind::Prompt { earlier, .. } => {
                earlier.iter().rev().map(|state| state.len).find(|&at| at <= len).unwrap_or(0)
            }
        }
    }

    fn cut(&mut self, len: usize, zero: &Arc<State>) -> usize {
        let to = self.cut_point(len);
        if to < self.state.len {
            self.logged = 0;
            self.state = match &mut self.kind {
                Kind::Fork { base } => Arc::clone(base),
                Kind::Prompt { earlier, .. } => {
                    earlier.retain(|state| state.len <= to);
                    Arc::clone(earlier.last().unwrap_or(zero))
                }
            };
        }
        self.logged = to - self.state.len;
        self.settled = self.settled.min(to);
        to
    }
}
