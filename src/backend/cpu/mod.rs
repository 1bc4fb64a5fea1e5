//! The CPU backend: one forward pass for every architecture, over rows of any number of sequences.
//!
//! - **Row invariance.** An output element is one chain of fused multiply-adds over ascending k, whatever the
//!   number of rows, tiles or threads. Portable, AVX2, AVX-512 and NEON kernels give the same bits (NEON:
//!   tried under emulation only). Attention reads positions in chunks of 512, counted from the start of the
//!   text, and merges them in order. So greedy speculative output is bit-identical to plain decoding
//!   (`tests/engine/pairs.rs`).
//! - **One pass over the weights.** `gemm/blocking.rs` is the loop around all float kernels: a panel of 16
//!   outputs meets up to 64 rows while it is in the cache. Each tile prefetches its share of the next panel.
//! - **int8, int4** (`quantized/`): blocks of 32 inputs with one bf16 scale per output, made at load. Inputs
//!   become int8 with a scale per 32. Sums inside a block are exact integers; blocks are added in ascending
//!   order. With int4 the embedding and the head are int8. Weights of folders are kept in the cache folder,
//!   keyed by their files.
//! - **GGUF blocks** are computed as stored (`quantized/stored.rs`): reordered, never rounded again. Each
//!   type takes at most 3 % more than in the file. `--dtype` with another type decodes every block.
//! - **Positions** come from the sequence's length. Valid K/V is always `len - 1`: the last token is the
//!   first row of the next step. The prefill stops one token short of the prompt's end, so that no step is
//!   special.
//! - **K/V** of a prompt is stored once; each fork has a private tail.
//! - **Gated delta nets** (`delta/`) have a state of fixed size per sequence in place of K/V. Rows go through
//!   it one after the other; rows that were not accepted are forgotten and the others done again, in the
//!   same order.
//! - **Draft heads** (`draft_head.rs`) lie beside the model: the keys and values of their layers stand behind
//!   the model's in the same regions. Every pass writes them for its rows, whatever is drafted
//!   (`docs/performance.md` has what that takes).
//! - **Experts**: rows of all candidates with the same expert go through it together. An expert without rows
//!   is not read. A row's experts are added in the order of their numbers. The router's weights are never
//!   quantised.

mod attention;
mod beside;
mod cores;
mod delta;
mod draft_head;
mod experts;
mod gemm;
mod inputs;
mod kv;
mod load;
mod memory;
mod ops;
mod pack;
mod pass;
mod pool;
mod quantized;
mod shortlist;

use std::path::Path;
use std::sync::{Mutex, OnceLock};

use attention::Scratch;
use delta::state::Sizes;
use draft_head::BesideHead;
pub use gemm::Kernels;
use kv::Layout;
use load::CpuWeights;
use pack::Packed;
use pass::Buffers;
use pool::Pool;
use shortlist::Panels;

use super::device::{Loader, Unusable, UsableDevice};
use super::rotary::RotaryTables;
use super::sequences::Sequences;
use super::slabs::slabs;
use super::states::{Plan, States};
use super::storage::Storage;
use super::{
    BackendError, Candidate, Drafts, Dtype, HostLogits, LoadOptions, Network, NetworkInfo, Rows, SeqId, Shortlist,
    Wanted, host,
};
use crate::model::{DraftHead, ModelSpec, ModelWeights};
use crate::sampling::{Accepted, Scores};

/// Every machine has a CPU.
#[allow(clippy::unnecessary_wraps, reason = "the signature of every device's probe")]
pub fn probe(_number: usize, _cache: Option<&Path>) -> Result<UsableDevice, Unusable> {
    let what = format!("{} kernels, {} threads", Kernels::best().name, cores::sensible());
    let load: Loader =
        |model, options, cache| Ok(Box::new(CpuNetwork::with_cache(model, options, Kernels::best(), cache)?));
    Ok(UsableDevice { what, load })
}

/// Rows that go through the layers together. Longer passes are cut, so that working memory has a bound; the
/// result does not depend on it.
const SLAB: usize = 256;

/// A model on the CPU.
pub struct CpuNetwork {
    spec: ModelSpec,
    weights: CpuWeights,
    /// How the matrices are stored; of int4 the embedding and the head are int8.
    storage: Storage,
    pool: Pool,
    kernels: Kernels,
    rotary: RotaryTables,
    sequences: Sequences<Layout>,
    /// Of gated delta nets.
    states: States<Sizes>,
    /// Plans of the slab at hand, one for each piece.
    plans: Vec<Plan>,
    /// Working memory of attention, one for each thread.
    scratch: Vec<Mutex<Scratch>>,
    /// Working memory of a pass.
    buffers: Buffers,
    /// Logits of the wanted rows of the last pass, `[rows, vocab_size]` or, to draw drafts from, `[rows,
    /// shortlist]`, and what longer passes have left behind them.
    logits: Vec<f32>,
    /// Number of rows of logits of the last pass.
    held: usize,
    /// Tokens that drafts are drawn from; all where `None`.
    shortlist: Option<Panels>,
    /// The pass at hand, or the last one, has the logits of the shortlist only.
    short: bool,
    /// Inputs of the head for the rows of the last pass, if they were wanted, `[rows, width]`.
    hidden: Vec<f32>,
    draft_head: Option<Box<BesideHead>>,
    /// Keys and values of the blocks at hand begin with those of this layer of a region.
    first_layer: usize,
}

impl CpuNetwork {
    /// Packs the weights of `model` for the given kernels.
    pub fn new(model: &ModelWeights, options: LoadOptions, kernels: Kernels) -> Result<Self, BackendError> {
        Self::with_cache(model, options, kernels, None)
    }

    /// Like [`new`](Self::new), with quantised weights kept in the folder `cache` for the next time.
    pub fn with_cache(
        model: &ModelWeights,
        options: LoadOptions,
        kernels: Kernels,
        cache: Option<&Path>,
    ) -> Result<Self, BackendError> {
        let pool = Pool::new(options.threads);
        let (weights, storage) = load::pack(model, options.dtype, (&pool, &kernels), cache)?;
        let spec = model.spec.clone();
        Ok(Self {
            rotary: RotaryTables::new(&spec.blocks),
            sequences: Sequences::new(Layout::new(layers_of(&spec)), spec.context),
            states: States::new(Sizes::of(&spec))?,
            plans: Vec::new(),
            scratch: (0..pool.threads()).map(|_| Mutex::default()).collect(),
            buffers: Buffers::default(),
            logits: Vec::new(),
            held: 0,
            shortlist: None,
            short: false,
            hidden: Vec::new(),
            draft_head: None,
            first_layer: 0,
            spec,
            weights,
            storage,
            pool,
            kernels,
        })
    }

    /// Input of the head for row `row` of the last pass, `[width]`; empty unless it was wanted.
    pub fn hidden(&self, row: usize) -> &[f32] {
        let width = self.spec.embedding.width;
        self.hidden.get(row * width..(row + 1) * width).unwrap_or_default()
    }

    /// Logits of the rows of the draft head's last pass, one beside the other.
    pub fn draft_head_logits(&self) -> &[f32] {
        self.draft_head.as_ref().map_or(&[], |head| &head.logits)
    }

    /// [`Network::forward`], with the logits of all tokens or of the `short` list.
    fn run(&mut self, rows: &Rows<'_>, want: Wanted, short: bool) -> Result<usize, BackendError> {
        (self.held, self.short) = (0, short);
        self.sequences.check(rows, self.spec.vocab_size)?;
        self.states.check(rows)?;
        let wanted = rows.wanted(want);
        let floats = if want == Wanted::Hidden { 0 } else { wanted * self.width() };
        self.hidden.clear();
        if self.logits.len() < floats {
            let more = floats - self.logits.len();
            self.logits.try_reserve_exact(more).map_err(|_| BackendError::Memory { bytes: more * size_of::<f32>() })?;
            self.logits.resize(floats, 0.0);
        }
        let positions = rows.spans.iter().map(|span| span.start + span.len).max().unwrap_or(0);
        self.rotary.ensure(positions).map_err(|bytes| BackendError::Memory { bytes })?;

        let mut done = 0;
        for slab in slabs(rows.spans, want, SLAB) {
            let len = slab.iter().map(|piece| piece.len).sum::<usize>();
            if let Err(error) = self.pass(&slab, &rows.tokens[done..done + len], want) {
                for span in rows.spans {
                    if let Some(len) = self.states.fail(span.seq) {
                        self.sequences.set_len(span.seq, len);
                    }
                }
                return Err(error);
            }
            done += len;
        }
        for span in rows.spans {
            self.sequences.advance(span.seq, span.start + span.len);
        }
        Ok(wanted)
    }

    /// Logits of a row of the pass at hand.
    fn width(&self) -> usize {
        self.drawn_from().map_or(self.spec.vocab_size, <[u32]>::len)
    }
}

/// Key/value heads of every block, and their width.
fn layers_of(spec: &ModelSpec) -> impl Iterator<Item = (usize, usize)> {
    (0..spec.blocks.len()).map(|block| {
        let heads = spec.made_heads(block);
        (heads.kv, heads.dim)
    })
}

impl HostLogits for CpuNetwork {
    fn logits(&self, row: usize) -> &[f32] {
        let vocab = self.width();
        if row < self.held { &self.logits[row * vocab..(row + 1) * vocab] } else { &[] }
    }

    fn keep(&mut self, seq: SeqId, len: usize) {
        self.states.keep(seq, len);
    }

    fn forward_to_draw(&mut self, rows: &Rows<'_>, want: Wanted) -> Result<usize, BackendError> {
        self.run(rows, want, self.shortlist.is_some())
    }

    fn drawn_from(&self) -> Option<&[u32]> {
        self.shortlist.as_ref().filter(|_| self.short).map(|panels| &panels.ids[..])
    }

    /// On all threads: a softmax over the vocabulary is work.
    fn map<T: Send + Sync>(&self, count: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let results: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
        self.pool.run(count, &|unit, _| {
            let _ = results[unit].set(of(unit));
        });
        // The pool has called every unit once.
        results.into_iter().filter_map(OnceLock::into_inner).collect()
    }
}

impl Network for CpuNetwork {
    fn vocab_size(&self) -> usize {
        self.spec.vocab_size
    }

    fn context(&self) -> usize {
        self.spec.context
    }

    fn info(&self) -> NetworkInfo {
        NetworkInfo {
            device: "cpu",
            dtype: self.storage.name(),
            kernel: self.kernels.name,
            weights: self.weights.multiplied(&self.spec, |matrix| matrix.inputs * matrix.outputs),
            weight_bytes: self.weights.matrices().map(Packed::bytes).sum(),
            threads: self.pool.threads(),
        }
    }

    fn open(&mut self, capacity: usize) -> Result<SeqId, BackendError> {
        let seq = self.sequences.open(capacity)?;
        self.states.open(seq, capacity).inspect_err(|_| self.sequences.close(seq))?;
        Ok(seq)
    }

    fn fork(&mut self, prompt: SeqId, n: usize, tail: usize) -> Result<Vec<SeqId>, BackendError> {
        let forks = self.sequences.fork(prompt, n, tail)?;
        self.states.fork(prompt, &forks).inspect_err(|_| forks.iter().for_each(|&seq| self.sequences.close(seq)))?;
        self.fork_for_draft_head(prompt, &forks);
        Ok(forks)
    }

    fn forward(&mut self, rows: &Rows<'_>, want: Wanted) -> Result<usize, BackendError> {
        self.run(rows, want, false)
    }

    fn draft_from(&mut self, tokens: &Shortlist) {
        self.shortlist = self.weights.head().panels_of(tokens);
        self.held = 0;
    }

    fn draft(&mut self, candidates: &[Candidate<'_>], lengths: &[usize]) -> Result<Vec<Drafts>, BackendError> {
        match self.spec.mask {
            None => host::draft(self, candidates, lengths),
            Some(mask) => host::draft_at_once(self, candidates, lengths, mask),
        }
    }

    fn drafts_at_once(&self) -> bool {
        self.spec.mask.is_some()
    }

    fn verify(&mut self, candidates: &[Candidate<'_>], drafts: &[Drafts]) -> Result<Vec<Accepted>, BackendError> {
        host::verify(self, candidates, drafts)
    }

    fn attach(&mut self, head: &DraftHead, dtype: Dtype) -> Result<(), BackendError> {
        self.attach_draft_head(head, dtype)
    }

    fn draft_with_head(
        &mut self,
        candidates: &[Candidate<'_>],
        lengths: &[usize],
    ) -> Result<Vec<Drafts>, BackendError> {
        self.draft_by_head(candidates, lengths)
    }

    fn tells_logits(&self) -> bool {
        true
    }

    fn score(
        &mut self,
        rows: &Rows<'_>,
        next: &[u32],
        alternatives: usize,
        scores: &mut Scores,
    ) -> Result<(), BackendError> {
        host::score(self, rows, next, alternatives, scores)
    }

    fn resize(&mut self, prompt: SeqId, len: usize, capacity: usize) -> Result<(), BackendError> {
        self.states.check_cut(prompt, len)?;
        self.sequences.resize(prompt, len, capacity)?;
        self.states.resize(prompt, len, capacity);
        Ok(())
    }

    fn cut_point(&self, prompt: SeqId, len: usize) -> usize {
        self.states.cut_point(prompt, len)
    }

    fn len(&self, seq: SeqId) -> usize {
        self.sequences.len(seq)
    }

    fn set_len(&mut self, seq: SeqId, len: usize) {
        let len = self.states.settle(seq, len.min(self.sequences.len(seq)));
        self.sequences.set_len(seq, len);
    }

    fn close(&mut self, seq: SeqId) {
        self.sequences.close(seq);
        self.states.close(seq);
        self.close_for_draft_head(seq);
    }

    fn kv_bytes(&self) -> usize {
        self.sequences.bytes() + self.states.bytes()
    }
}

/// Reference twins of the kernels of other devices.
#[cfg(test)]
pub mod twins {
    pub use super::delta::{recurrence, to_length, to_rates};
    pub use super::experts::choose;
    pub use super::pack::{F32x16, NR, Packed};
    pub use super::pool::Pool;
    pub use super::quantized::tests::blocks;
    /// Norms and activations.
    pub mod ops {
        pub use crate::backend::cpu::ops::*;
    }
}
