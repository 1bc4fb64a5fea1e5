//! The states of sequences in a model with gated delta nets: who owns which, and how far back they reach.
//!
//! A state is one of fixed size after so many positions. A fork keeps it as it was when its last rows were
//! settled, and what the recurrence needs of the rows since then: `set_len` takes rows back by forgetting
//! them, and the next pass first does the remaining ones again, in the same order of operations. A prompt
//! keeps its last state and a few earlier ones, for the next prompt that begins alike. States are shared
//! until one of the owners goes on.

use std::collections::HashMap;
use std::sync::Arc;

use super::sequences::contract;
use super::slabs::Piece;
use super::{BackendError, Rows, SeqId};

/// Rows of a fork that can be taken back, settled or not: more than are ever drafted.
const KEPT: usize = 96;

/// Rows of a usual draft, which memory is counted with.
pub const USUAL: usize = 16;

/// Most earlier states of a prompt, and the fewest positions between two.
const CHECKPOINTS: usize = 4;
const INTERVAL: usize = 256;

/// A place where states can be.
pub trait StateMemory {
    /// A state of all layers.
    type State;
    /// Rows that are not settled, as far as the recurrence needs them.
    type Log;

    /// The state of no positions, which nobody writes to.
    fn zero(&self) -> Result<Self::State, BackendError>;

    /// A state to be written to, with any content.
    fn make(&self) -> Result<Self::State, BackendError>;

    /// A state to be written to that is like `from`, which is one after `len` positions; in the place of
    /// `spare`, if that helps.
    fn copied(&self, from: &Self::State, len: usize, spare: Option<Self::State>) -> Result<Self::State, BackendError>;

    /// Room for the rows of a usual draft.
    fn log(&self) -> Result<Self::Log, BackendError>;

    /// Bytes of a state.
    fn bytes(&self) -> usize;

    /// Bytes of a row in a log.
    fn row(&self) -> usize;
}

/// The state of all layers after the first `len` positions.
pub struct State<S> {
    /// Positions.
    pub len: usize,
    /// Where it is.
    pub memory: S,
}

/// State of a sequence.
struct Tracked<M: StateMemory> {
    state: Shared<M>,
    /// Memory for a state of its own, if that is not in use.
    spare: Option<M::State>,
    /// The rows since then; `None` for prompts, whose rows are settled at once.
    log: Option<M::Log>,
    logged: usize,
    /// Rows before this position will not be taken back; some of them may come with the next pass.
    settled: usize,
    kind: Kind<M>,
}

/// A state with its owners.
type Shared<M> = Arc<State<<M as StateMemory>::State>>;

enum Kind<M: StateMemory> {
    /// It can always go back to where it was forked.
    Fork { base: Shared<M> },
    /// Earlier states, in the order of their lengths.
    Prompt { earlier: Vec<Shared<M>>, interval: usize, capacity: usize },
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
pub struct States<M: StateMemory> {
    /// Where they are.
    pub memory: Option<M>,
    open: HashMap<SeqId, Tracked<M>>,
    /// The state of no positions.
    zero: Option<Shared<M>>,
}

impl<M: StateMemory> States<M> {
    /// None yet, in this memory; `None` for models without them.
    pub fn new(memory: Option<M>) -> Result<Self, BackendError> {
        let zero = |memory: &M| Ok::<_, BackendError>(Arc::new(State { len: 0, memory: memory.zero()? }));
        let zero = memory.as_ref().map(zero).transpose()?;
        Ok(Self { memory, open: HashMap::new(), zero })
    }

    /// A sequence without positions, with room for so many.
    pub fn open(&mut self, id: SeqId, capacity: usize) -> Result<(), BackendError> {
        let (Some(memory), Some(zero)) = (&self.memory, &self.zero) else { return Ok(()) };
        let kind = Kind::Prompt { earlier: Vec::new(), interval: INTERVAL, capacity };
        let (state, spare) = (Arc::clone(zero), Some(memory.make()?));
        self.open.insert(id, Tracked { state, spare, log: None, logged: 0, settled: 0, kind });
        Ok(())
    }

    /// Forks of a prompt: all of them, or none where there is no memory.
    pub fn fork(&mut self, prompt: SeqId, forks: &[SeqId]) -> Result<(), BackendError> {
        let (Some(memory), Some(of)) = (&self.memory, self.open.get(&prompt)) else { return Ok(()) };
        let fork = |_: &SeqId| {
            let (state, base) = (Arc::clone(&of.state), Arc::clone(&of.state));
            let (spare, log) = (Some(memory.make()?), Some(memory.log()?));
            let kind = Kind::Fork { base };
            Ok::<_, BackendError>(Tracked { settled: state.len, state, spare, log, logged: 0, kind })
        };
        let made = forks.iter().map(fork).collect::<Result<Vec<_>, _>>()?;
        self.open.extend(forks.iter().copied().zip(made));
        Ok(())
    }

    /// Checks what states ask of rows, before anything is changed.
    pub fn check(&self, rows: &Rows<'_>) -> Result<(), BackendError> {
        for span in rows.spans {
            let cut = self.cut_point(span.seq, span.start);
            if cut != span.start {
                return Err(contract(format!("{span:?}, but its sequence can be cut back to {cut} positions")));
            }
        }
        Ok(())
    }

    /// Checks that a prompt can be cut back to `len` positions.
    pub fn check_cut(&self, prompt: SeqId, len: usize) -> Result<(), BackendError> {
        let cut = self.cut_point(prompt, len);
        let what = || contract(format!("{len} positions of {prompt:?}, whose state can be cut back to {cut}"));
        (cut == len).then_some(()).ok_or_else(what)
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

    /// Rows before `len`, those of the next pass included, will not be taken back: they become part of the state
    /// at once, and need not be done again.
    pub fn keep(&mut self, id: SeqId, len: usize) {
        if let Some(of) = self.open.get_mut(&id) {
            of.settled = of.settled.max(len);
        }
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
        let Some(memory) = &self.memory else { return 0 };
        let mut others: Vec<*const State<M::State>> = Vec::new();
        let mut rooms = 0;
        for of in self.open.values() {
            match &of.kind {
                Kind::Fork { base } => {
                    rooms += memory.bytes() + USUAL * memory.row();
                    others.push(Arc::as_ptr(base));
                }
                Kind::Prompt { capacity, .. } => rooms += memory.bytes() * (1 + (capacity / INTERVAL).min(CHECKPOINTS)),
            }
        }
        for of in self.open.values() {
            if let Kind::Prompt { earlier, .. } = &of.kind {
                let counted = |state: &*const State<M::State>| {
                    earlier.iter().chain([&of.state]).any(|own| Arc::as_ptr(own) == *state)
                };
                others.retain(|state| !counted(state));
            }
        }
        others.sort_unstable();
        others.dedup();
        rooms + others.len() * memory.bytes()
    }

    /// Prepares a slab of rows, each piece at the end of its sequence or before it. Afterwards the states are
    /// those of their sequences alone, as far as the pass changes them.
    pub fn begin(&mut self, slab: &[Piece]) -> Result<Vec<Plan>, BackendError> {
        let (Some(memory), Some(zero)) = (&self.memory, &self.zero) else { return Ok(Vec::new()) };
        let mut plans = Vec::with_capacity(slab.len());
        for piece in slab {
            let Some(of) = self.open.get_mut(&piece.seq) else { continue };
            if piece.start < of.state.len + of.logged {
                of.cut(piece.start, zero);
            }
            let (again, rows) = (of.logged, of.logged + piece.len);
            let settle = match of.kind {
                Kind::Fork { .. } => of.settled.saturating_sub(of.state.len).max(rows.saturating_sub(KEPT)).min(rows),
                Kind::Prompt { .. } => rows,
            };
            if settle > 0 && Arc::get_mut(&mut of.state).is_none() {
                let (len, spare) = (of.state.len, of.spare.take());
                let memory = memory.copied(&of.state.memory, len, spare)?;
                of.state = Arc::new(State { len, memory });
            }
            plans.push(Plan { id: piece.seq, again, rows, settle });
        }
        Ok(plans)
    }

    /// The state that a plan is for.
    pub fn state(&self, plan: &Plan) -> Option<&State<M::State>> {
        Some(&self.open.get(&plan.id)?.state)
    }

    /// Hands out the state that a plan is for; nobody else has it if rows are to be settled. To be [put
    /// back](Self::put).
    pub fn take(&mut self, plan: &Plan) -> Option<Shared<M>> {
        let zero = Arc::clone(self.zero.as_ref()?);
        Some(std::mem::replace(&mut self.open.get_mut(&plan.id)?.state, zero))
    }

    /// Takes a state back.
    pub fn put(&mut self, plan: &Plan, state: Shared<M>) {
        if let Some(of) = self.open.get_mut(&plan.id) {
            of.state = state;
        }
    }

    /// The rows that are done again; `None` for prompts, which have none.
    pub fn log(&mut self, plan: &Plan) -> Option<&mut M::Log> {
        self.open.get_mut(&plan.id)?.log.as_mut()
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
            let Kind::Prompt { earlier, interval, .. } = &mut of.kind else { continue };
            if of.state.len - earlier.last().map_or(0, |state| state.len) < *interval {
                continue;
            }
            earlier.push(Arc::clone(&of.state));
            while earlier.len() > CHECKPOINTS {
                *interval *= 2;
                let mut last = 0;
                let far = |state: &Shared<M>| {
                    let far = state.len >= last + *interval;
                    last = if far { state.len } else { last };
                    far
                };
                let (far, near): (Vec<_>, Vec<_>) = std::mem::take(earlier).into_iter().partition(far);
                *earlier = far;
                for state in near {
                    keep_memory(&mut of.spare, state);
                }
            }
        }
    }

    /// Goes back to a state that is whole, after a pass that failed between two layers; returns its length.
    pub fn fail(&mut self, id: SeqId) -> Option<usize> {
        let (of, zero) = (self.open.get_mut(&id)?, self.zero.as_ref()?);
        of.logged = 0;
        let whole = match &mut of.kind {
            Kind::Fork { base } => Arc::clone(base),
            Kind::Prompt { earlier, .. } => {
                // The last one may be the very state that was being changed.
                earlier.retain(|state| !Arc::ptr_eq(state, &of.state));
                Arc::clone(earlier.last().unwrap_or(zero))
            }
        };
        of.settled = whole.len;
        keep_memory(&mut of.spare, std::mem::replace(&mut of.state, whole));
        Some(of.settled)
    }
}

/// Keeps the memory of a state that nobody else has, if there is none in reserve.
fn keep_memory<S>(spare: &mut Option<S>, state: Arc<State<S>>) {
    if spare.is_none() {
        *spare = Arc::into_inner(state).map(|state| state.memory);
    }
}

impl<M: StateMemory> Tracked<M> {
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

    fn cut(&mut self, len: usize, zero: &Shared<M>) -> usize {
        let to = self.cut_point(len);
        if to < self.state.len {
            self.logged = 0;
            let state = match &mut self.kind {
                Kind::Fork { base } => Arc::clone(base),
                Kind::Prompt { earlier, .. } => {
                    earlier.retain(|state| state.len <= to);
                    Arc::clone(earlier.last().unwrap_or(zero))
                }
            };
            keep_memory(&mut self.spare, std::mem::replace(&mut self.state, state));
        }
        self.logged = to - self.state.len;
        self.settled = self.settled.min(to);
        to
    }
}
