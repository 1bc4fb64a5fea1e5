//! The sequences of a network: who owns which K/V, how many positions of it are valid, and which rows are
//! allowed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{BackendError, Rows, SeqId, Span};

/// A place where K/V can be.
pub trait Regions {
    /// K/V of consecutive positions, of all layers.
    type Region;

    /// Makes room for `positions`.
    fn make(&self, positions: usize) -> Result<Self::Region, BackendError>;

    /// The region is as large as one made for `positions`.
    fn fits(&self, region: &Self::Region, positions: usize) -> bool;

    /// A region with room for `capacity` positions whose first `len` are those of this one.
    fn resized(&self, region: &Self::Region, len: usize, capacity: usize) -> Result<Self::Region, BackendError>;

    /// Bytes of a region.
    fn bytes(&self, region: &Self::Region) -> usize;
}

/// The part of a sequence that it reads and does not own.
pub struct Shared<R> {
    /// K/V of the prompt.
    pub region: Arc<R>,
    /// Positions of it that belong to the sequence: positions `0..len`.
    pub len: usize,
}

/// One sequence: a shared prompt, maybe, and positions of its own after it.
pub struct Sequence<R> {
    /// The prompt of a fork.
    pub shared: Option<Shared<R>>,
    /// K/V of positions from the end of the shared prompt on. Shared with the forks of this sequence, if it
    /// has any.
    pub own: Arc<R>,
    /// Valid positions, the shared ones included.
    pub len: usize,
    /// Largest `len`.
    pub limit: usize,
}

impl<R> Sequence<R> {
    /// Number of shared positions.
    pub fn shared_len(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| shared.len)
    }
}

/// All open sequences of a network.
pub struct Sequences<M: Regions> {
    /// Where their K/V is.
    pub regions: M,
    context: usize,
    open: HashMap<SeqId, Sequence<M::Region>>,
    /// Ids are not used twice, so that a stale one is noticed.
    next: u32,
}

impl<M: Regions> Sequences<M> {
    /// No sequences yet; none will have more than `context` positions.
    pub fn new(regions: M, context: usize) -> Self {
        Self { regions, context, open: HashMap::new(), next: 0 }
    }

    /// See [`Network::open`](crate::backend::Network::open).
    pub fn open(&mut self, capacity: usize) -> Result<SeqId, BackendError> {
        if capacity > self.context {
            let context = self.context;
            return Err(contract(format!("a sequence of {capacity} positions in a context of {context}")));
        }
        let own = Arc::new(self.regions.make(capacity)?);
        Ok(self.insert(Sequence { shared: None, own, len: 0, limit: capacity }))
    }

    /// See [`Network::fork`](crate::backend::Network::fork).
    pub fn fork(&mut self, prompt: SeqId, n: usize, tail: usize) -> Result<Vec<SeqId>, BackendError> {
        let sequence = self.get(prompt)?;
        if sequence.shared.is_some() {
            return Err(contract(format!("fork of {prompt:?}, which is a fork itself")));
        }
        let (region, len) = (Arc::clone(&sequence.own), sequence.len);
        let limit = len.saturating_add(tail);
        if limit > self.context {
            let context = self.context;
            return Err(contract(format!("forks of {limit} positions in a context of {context}")));
        }
        // All regions before the first sequence: without memory for all of them there are none.
        let regions: Vec<_> = (0..n).map(|_| self.regions.make(tail)).collect::<Result<_, _>>()?;
        let shared = || Some(Shared { region: Arc::clone(&region), len });
        let fork = |own| Sequence { shared: shared(), own: Arc::new(own), len, limit };
        Ok(regions.into_iter().map(|own| self.insert(fork(own))).collect())
    }

    /// See [`Network::resize`](crate::backend::Network::resize).
    pub fn resize(&mut self, id: SeqId, len: usize, capacity: usize) -> Result<(), BackendError> {
        let context = self.context;
        let (regions, sequence) = self.get_mut(id)?;
        let valid = sequence.len;
        if sequence.shared.is_some() || len > valid.min(capacity) || capacity > context {
            return Err(contract(format!(
                "{len} of {valid} positions of {id:?} with room for {capacity}, in a context of {context}"
            )));
        }
        let fits = regions.fits(&sequence.own, capacity);
        if !fits || Arc::get_mut(&mut sequence.own).is_none() {
            sequence.own = Arc::new(regions.resized(&sequence.own, len, capacity)?);
        }
        (sequence.len, sequence.limit) = (len, capacity);
        Ok(())
    }

    fn insert(&mut self, sequence: Sequence<M::Region>) -> SeqId {
        let id = SeqId(self.next);
        self.next += 1;
        self.open.insert(id, sequence);
        id
    }

    /// The sequence `id`.
    pub fn get(&self, id: SeqId) -> Result<&Sequence<M::Region>, BackendError> {
        self.open.get(&id).ok_or_else(|| contract(format!("{id:?} is not open")))
    }

    fn get_mut(&mut self, id: SeqId) -> Result<(&M, &mut Sequence<M::Region>), BackendError> {
        let sequence = self.open.get_mut(&id).ok_or_else(|| contract(format!("{id:?} is not open")))?;
        Ok((&self.regions, sequence))
    }

    /// The sequence's own region, to be written to.
    pub fn own_mut(&mut self, id: SeqId) -> Result<&mut M::Region, BackendError> {
        let (_, sequence) = self.get_mut(id)?;
        Arc::get_mut(&mut sequence.own).ok_or_else(|| contract(format!("rows for {id:?}, which has forks")))
    }

    /// Checks everything about `rows` that the contract asks for, before anything is changed.
    pub fn check(&self, rows: &Rows<'_>, vocab_size: usize) -> Result<(), BackendError> {
        let total = rows.spans.iter().fold(0usize, |total, span| total.saturating_add(span.len));
        if total != rows.tokens.len() {
            return Err(contract(format!("{} tokens for spans of {total} rows", rows.tokens.len())));
        }
        if let Some(token) = rows.tokens.iter().find(|&&token| token as usize >= vocab_size) {
            return Err(contract(format!("token {token} in a vocabulary of {vocab_size}")));
        }
        let mut seen = HashSet::new();
        for span in rows.spans {
            let &Span { seq, start, len } = span;
            let sequence = self.get(seq)?;
            let (shared, valid, limit) = (sequence.shared_len(), sequence.len, sequence.limit);
            if len == 0 || !seen.insert(seq) {
                return Err(contract(format!("{span:?} is empty or not the only one of its sequence")));
            }
            if start < shared || start > valid || len > limit.saturating_sub(start) {
                return Err(contract(format!(
                    "{span:?} in a sequence of {valid} positions, the first {shared} shared, with room for {limit}"
                )));
            }
            if Arc::strong_count(&sequence.own) > 1 {
                return Err(contract(format!("rows for {seq:?} while it has forks")));
            }
        }
        Ok(())
    }

    /// Sets the number of valid positions after a pass.
    pub fn advance(&mut self, id: SeqId, len: usize) {
        if let Some(sequence) = self.open.get_mut(&id) {
            sequence.len = len;
        }
    }

    /// See [`Network::set_len`](crate::backend::Network::set_len). A length outside the allowed range is
    /// moved into it.
    pub fn set_len(&mut self, id: SeqId, len: usize) {
        if let Some(sequence) = self.open.get_mut(&id) {
            sequence.len = len.clamp(sequence.shared_len(), sequence.len);
        }
    }

    /// Valid positions; 0 for a sequence that is not open.
    pub fn len(&self, id: SeqId) -> usize {
        self.open.get(&id).map_or(0, |sequence| sequence.len)
    }

    /// Bytes of all regions in use; shared ones count once.
    pub fn bytes(&self) -> usize {
        let mut regions: HashMap<*const M::Region, usize> = HashMap::new();
        for sequence in self.open.values() {
            let shared = sequence.shared.as_ref().map(|shared| &shared.region);
            for region in shared.into_iter().chain([&sequence.own]) {
                regions.insert(Arc::as_ptr(region), self.regions.bytes(region));
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
