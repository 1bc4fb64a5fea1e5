//! A network whose logits depend on the last two tokens through a written-down table, with the bookkeeping of
//! a real one: it refuses rows at wrong positions, remembers what it was fed, and loses what is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bass_tui::backend::{
    BackendError, Candidate, Drafts, HostLogits, Network, NetworkInfo, Rows, SeqId, Shortlist, Wanted, host,
};
use bass_tui::sampling::{Accepted, Draft};

use super::VOCAB;
use super::faults::{BadDraft, Fault};

/// The logits of a toy.
#[derive(Clone)]
pub struct Table {
    pub rows: Vec<[f32; VOCAB]>,
    /// The logits also follow the position, repeating after this many.
    period: Option<usize>,
}

pub struct Toy {
    pub table: Table,
    context: usize,
    fault: Option<Fault>,
    bad_draft: Option<BadDraft>,
    /// Tokens that drafts are drawn from.
    shortlist: Option<Vec<u32>>,
    /// Token in the place of those that are drafted in one pass.
    mask: Option<u32>,
    delay: Duration,
    /// The pass that fails, counting down.
    failing: Option<usize>,
    watch: Watch,
    logits: Vec<[f32; VOCAB]>,
    held: Option<Held>,
}

/// The memory of a device that keeps drafts: the number of its batch, and the batch.
#[derive(Clone, Default)]
pub struct Held(Arc<Mutex<(u64, Vec<Drafts>)>>);

/// A look at the sequences of a toy while an engine owns it.
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Memory>>);

/// All sequences are closed when the network goes.
#[derive(Default)]
struct Memory {
    sequences: HashMap<SeqId, Sequence>,
    next: u32,
    /// Lengths of the spans of every pass over forks.
    passes: Vec<Vec<usize>>,
}

struct Sequence {
    tokens: Vec<u32>,
    shared: usize,
    capacity: usize,
    /// It is a candidate's, and not a prompt.
    is_fork: bool,
}

/// Index into the table of a context of two tokens.
pub fn context(last: &[u32]) -> usize {
    let at = |back: usize| last.len().checked_sub(back).map_or(0, |i| last[i] as usize);
    at(2) * VOCAB + at(1)
}

fn noise(i: usize, salt: usize) -> f32 {
    let mut x = (i * 2_654_435_761 + salt * 40_503) as u32;
    x ^= x >> 15;
    x = x.wrapping_mul(0x2c1b_3c6d);
    x ^= x >> 12;
    f32::from(x as u16) / 65536.0
}

impl Table {
    /// The logits after `tokens`.
    pub fn row(&self, tokens: &[u32]) -> [f32; VOCAB] {
        let mut row = self.rows[context(tokens)];
        if let Some(period) = self.period {
            let at = (tokens.len() % period) * VOCAB;
            row.iter_mut().enumerate().for_each(|(id, logit)| *logit += 2.0 * noise(at + id, 3));
        }
        row
    }
}

impl Toy {
    fn with(blend: f32) -> Self {
        let rows = (0..VOCAB * VOCAB)
            .map(|row| {
                std::array::from_fn(|id| 3.0 * (noise(row * VOCAB + id, 1) + blend * noise(row * VOCAB + id, 2)))
            })
            .collect();
        Self {
            table: Table { rows, period: None },
            context: 512,
            fault: None,
            bad_draft: None,
            shortlist: None,
            mask: None,
            delay: Duration::ZERO,
            failing: None,
            watch: Watch::default(),
            logits: Vec::new(),
            held: None,
        }
    }

    pub fn main() -> Self {
        Self::with(0.0)
    }

    /// Like the main network, but not quite.
    pub fn draft() -> Self {
        Self::with(0.6)
    }

    /// Text that repeats itself only after a while, in a context with room for it: with a position that is
    /// off by one, or a stale row, it comes out differently.
    pub fn wandering(mut self) -> Self {
        self.table.period = Some(37);
        self.with_context(2048)
    }

    pub fn with_context(self, context: usize) -> Self {
        Self { context, ..self }
    }

    /// Every pass takes this long.
    pub fn with_delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// The pass after this many fails, once.
    pub fn failing_after(self, passes: usize) -> Self {
        Self { failing: Some(passes), ..self }
    }

    /// Adds this to all logits, which changes no probability.
    pub fn shifted(mut self, by: f32) -> Self {
        self.table.rows.iter_mut().flatten().for_each(|logit| *logit += by);
        self
    }

    pub fn faulty(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::main() }
    }

    pub fn bad_draft(self, bad: BadDraft) -> Self {
        Self { bad_draft: Some(bad), ..self }
    }

    /// Drafts take one pass, with this token in the place of each but the first.
    pub fn at_once(self, mask: u32) -> Self {
        Self { mask: Some(mask), ..self }
    }

    /// Drafts stay in this memory.
    pub fn on(self, device: &Held) -> Self {
        Self { held: Some(device.clone()), ..self }
    }

    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }
}

impl Held {
    fn memory(&self) -> MutexGuard<'_, (u64, Vec<Drafts>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, drafts: Vec<Drafts>) -> Vec<Drafts> {
        let mut memory = self.memory();
        let batch = memory.0 + 1;
        *memory = (batch, drafts);
        let held = |(place, drafts): (usize, &Drafts)| Drafts::Held { batch, place, len: drafts.count() };
        memory.1.iter().enumerate().map(held).collect()
    }

    fn find(&self, drafts: &Drafts) -> Drafts {
        let memory = self.memory();
        match drafts {
            Drafts::Host(_) => drafts.clone(),
            Drafts::Held { batch, place, len } => {
                assert_eq!((*batch, *len), (memory.0, memory.1[*place].count()), "drafts of the last batch");
                memory.1[*place].clone()
            }
        }
    }
}

/// The logits of these tokens.
pub fn short(logits: &[f32], ids: &[u32]) -> Vec<f32> {
    ids.iter().map(|&id| logits[id as usize]).collect()
}

impl HostLogits for Toy {
    fn logits(&self, row: usize) -> &[f32] {
        &self.logits[row]
    }

    fn draw(&self, candidate: &Candidate<'_>, drafts: &[Draft], row: usize) -> Draft {
        match self.bad_draft {
            None => match &self.shortlist {
                None => candidate.draw(drafts, self.logits(row), None),
                Some(ids) => candidate.draw(drafts, &short(self.logits(row), ids), Some(ids)),
            },
            Some(bad) => bad.draw(candidate, drafts, self.logits(row), self.shortlist.as_deref()),
        }
    }

    fn accept(&self, candidate: &Candidate<'_>, drafts: &[Draft], row: usize) -> Accepted {
        let row = |i: usize| self.logits(row + i);
        match self.fault {
            None => candidate.accept(drafts, &row),
            Some(fault) => fault.accept(candidate, drafts, &row),
        }
    }
}

impl Watch {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// K/V of every candidate, as the tokens that it was computed from; sorted.
    pub fn candidates(&self) -> Vec<Vec<u32>> {
        let memory = self.memory();
        let mut all: Vec<_> = memory.sequences.values().filter(|s| s.is_fork).map(|s| s.tokens.clone()).collect();
        all.sort();
        all
    }

    /// Number of open sequences, prompts included.
    pub fn open(&self) -> usize {
        self.memory().sequences.len()
    }

    /// Number of passes over candidates so far.
    pub fn passes(&self) -> usize {
        self.memory().passes.len()
    }

    /// Rows of each candidate in the last pass over candidates.
    pub fn last_pass(&self) -> Vec<usize> {
        self.memory().passes.last().cloned().unwrap_or_default()
    }
}

impl Network for Toy {
    fn vocab_size(&self) -> usize {
        VOCAB
    }

    fn context(&self) -> usize {
        self.context
    }

    fn info(&self) -> NetworkInfo {
        NetworkInfo { device: "cpu", dtype: "f32", kernel: "toy", weights: 0, weight_bytes: 0, threads: 1 }
    }

    fn drafts_at_once(&self) -> bool {
        self.mask.is_some()
    }

    fn draft_from(&mut self, tokens: &Shortlist) {
        self.shortlist = Some((0..tokens.first as u32).chain(tokens.more.iter().copied()).collect());
    }

    fn open(&mut self, capacity: usize) -> Result<SeqId, BackendError> {
        let mut memory = self.watch.memory();
        Ok(memory.insert(Sequence { tokens: Vec::new(), shared: 0, capacity, is_fork: false }))
    }

    fn fork(&mut self, prompt: SeqId, n: usize, tail: usize) -> Result<Vec<SeqId>, BackendError> {
        let mut memory = self.watch.memory();
        let tokens = memory.sequences[&prompt].tokens.clone();
        let shared = tokens.len();
        let fork =
            |_| memory.insert(Sequence { tokens: tokens.clone(), shared, capacity: shared + tail, is_fork: true });
        Ok((0..n).map(fork).collect())
    }

    fn forward(&mut self, rows: &Rows<'_>, want: Wanted) -> Result<usize, BackendError> {
        std::thread::sleep(self.delay);
        let failing = self.failing;
        self.failing = failing.and_then(|left| left.checked_sub(1));
        if failing == Some(0) {
            return Err(BackendError::Memory { bytes: 7 });
        }
        self.logits.clear();
        let mut memory = self.watch.memory();
        let mut tokens = rows.tokens.iter();
        let mut pass = Vec::new();
        for span in rows.spans {
            let sequence = memory.sequences.get_mut(&span.seq).expect("an open sequence");
            assert_eq!(span.start, sequence.tokens.len(), "rows start where the valid ones end");
            assert!(span.len > 0, "no sequence without rows takes part");
            if sequence.is_fork {
                pass.push(span.len);
            }
            for row in 0..span.len {
                let token = *tokens.next().expect("a token per row");
                assert!((token as usize) < VOCAB);
                sequence.tokens.push(token);
                assert!(sequence.tokens.len() <= sequence.capacity, "no more positions than asked for");
                if want == Wanted::All || (want == Wanted::Last && row + 1 == span.len) {
                    self.logits.push(self.table.row(&sequence.tokens));
                }
            }
        }
        assert!(tokens.next().is_none(), "a span for every token");
        if !pass.is_empty() {
            memory.passes.push(pass);
        }
        Ok(self.logits.len())
    }

    fn draft(&mut self, candidates: &[Candidate<'_>], lengths: &[usize]) -> Result<Vec<Drafts>, BackendError> {
        let drafts = match self.mask {
            None => host::draft(self, candidates, lengths)?,
            Some(mask) => host::draft_at_once(self, candidates, lengths, mask)?,
        };
        Ok(match &self.held {
            None => drafts,
            Some(device) => device.keep(drafts),
        })
    }

    fn verify(&mut self, candidates: &[Candidate<'_>], drafts: &[Drafts]) -> Result<Vec<Accepted>, BackendError> {
        let found: Vec<Drafts>;
        let drafts = match &self.held {
            None => drafts,
            Some(device) => {
                found = drafts.iter().map(|drafts| device.find(drafts)).collect();
                &found
            }
        };
        host::verify(self, candidates, drafts)
    }

    fn resize(&mut self, _prompt: SeqId, _len: usize, _capacity: usize) -> Result<(), BackendError> {
        Err(BackendError::Contract("a toy's prompts stay as they are".to_owned()))
    }

    fn len(&self, seq: SeqId) -> usize {
        self.watch.memory().sequences[&seq].tokens.len()
    }

    fn set_len(&mut self, seq: SeqId, len: usize) {
        let mut memory = self.watch.memory();
        let sequence = memory.sequences.get_mut(&seq).expect("an open sequence");
        assert!(len >= sequence.shared && len <= sequence.tokens.len());
        sequence.tokens.truncate(len);
    }

    fn close(&mut self, seq: SeqId) {
        assert!(self.watch.memory().sequences.remove(&seq).is_some(), "closed once");
    }

    fn kv_bytes(&self) -> usize {
        // A byte per position that there is room for.
        self.watch.memory().sequences.values().map(|sequence| sequence.capacity - sequence.shared).sum()
    }
}

impl Memory {
    fn insert(&mut self, sequence: Sequence) -> SeqId {
        self.next += 1;
        self.sequences.insert(SeqId(self.next), sequence);
        SeqId(self.next)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.sequences.is_empty(), "every sequence is closed at the end");
        }
    }
}
