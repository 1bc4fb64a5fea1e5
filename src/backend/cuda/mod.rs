//! The CUDA backend: the forward pass of every architecture as launches of the kernels in `kernels/`, through
//! the driver's own interface (`cudarc`), which is looked for at run time (`library`).
//!
//! `docs/performance.md` has its times on an H200.
//!
//! - `compile` turns `kernels/` into a binary for the GPU at hand, once, and keeps it in the cache folder. A
//!   bundle (`bundle`) beside the program has binaries for six kinds of GPU. It is accepted only if it is
//!   whole and made of the same kernels.
//! - Weights are stored as `--dtype` or the file says. `STORAGES` in `matrix` says how each storage is
//!   multiplied.
//! - f32 is a chain of fused multiply-adds. All else uses tensor cores (`tiled`): weights are put in tile
//!   order at load (`panels`). Cuts depend on the matrix alone; slices are added in their order, by one
//!   block or by the one that ends last.
//!
//! | weights | inputs | loss of an input |
//! |---|---|---|
//! | bf16 | two parts of bf16 | at most 2^-16 |
//! | f16 | two parts of f16 | 2^-22 |
//! | codes | one f16 part, a power-of-two scale per row | 2^-11 |
//!
//! - Drafts are drawn and verified on the GPU (`choice`) with the host's Philox keys. A token and its
//!   log-probability per verified row are read back. Logits cross only for a draft model on the CPU under
//!   `rejection`.
//! - A step is two CUDA graphs and one wait of the host. A launch list that comes twice becomes a graph; a
//!   network keeps 32. Values that differ from step to step are sent before, in one piece. Numbers of rows
//!   and of attention tiles are rounded up, so that different steps have the same launches.
//! - Experts: rows are sorted by expert in GPU memory. A product has blocks for the most groups possible;
//!   blocks without one end at once, so that no launch depends on the choice.
//! - Gated delta nets (`delta`) have a state per sequence, and a log of the rows that may be taken back.
//!   Where they are, and which rows are settled, is sent with the other values of a step.
//! - Tests run the same sources in an emulator (`tests/shared/emulator`) under five orders of threads: each
//!   kernel against its CPU twin, and whole models (`tests/engine/emulated.rs`). Planted missing barriers,
//!   off-by-one borders and races must be found. `gpu_check` runs the checks on a real GPU
//!   (`CONTRIBUTING.md`).

mod attention;
mod beside;
mod bundle;
mod choice;
mod compile;
mod delta;
mod experts;
mod gates;
mod gpu;
mod graphs;
mod kernels;
mod kv;
mod launches;
mod layer_inputs;
mod library;
mod load;
mod matrix;
mod panels;
mod pass;
mod plan;
mod products;
mod queue;
mod rotations;
mod staging;
#[cfg(test)]
mod tests;
mod tiled;
mod work;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

pub use bundle::NAME as BUNDLE;
use choice::Choosing;
use compile::Kernels;
pub use compile::{bundled, make_bundle};
use experts::Tables;
pub use gpu::Gpu;
use gpu::{Buffer, GpuDevice};
use kernels::Patch;
pub use kernels::SOURCE;
use kv::Memory;
pub use library::Libraries;
use load::{Sender, unsupported};
use matrix::Matrix;
use pass::Buffers;
use plan::MOST_PADDING;
use queue::{Again, Queue};
use rotations::Rotations;
use work::Work;

use super::sequences::Sequences;
use super::slabs::slabs;
use super::states::States;
use super::storage::{Storage, as_stored};
use super::weights::Weights;
use super::{
    BackendError, Candidate, Drafts, HostLogits, LoadOptions, Network, NetworkInfo, Rows, SeqId, Wanted, device, host,
};
use crate::model::spec::Heads;
use crate::model::{ModelSpec, ModelWeights};
use crate::sampling::{Accepted, Scores};

/// Its name in the table of devices.
const NAME: &str = "cuda";

/// Looks for GPU number `number`, its driver and what compiles its kernels.
pub fn probe(number: usize, cache: Option<&Path>) -> Result<device::UsableDevice, device::Unusable> {
    let load: device::Loader = |model, options, cache| load(&Libraries::default(), model, options, cache);
    find(&Libraries::default(), (number, cache), load)
}

/// The GPU of this number with these libraries, and with what puts models there.
pub fn find(
    libraries: &Libraries,
    (number, cache): (usize, Option<&Path>),
    load: device::Loader,
) -> Result<device::UsableDevice, device::Unusable> {
    let handle = GpuDevice::new(number)?;
    let kernels = Kernels::find(libraries, handle.capability(), kernels_folder(cache).as_deref());
    let kernels = kernels.map_err(|why| format!("is {}, and {why}", handle.what()))?;
    Ok(device::UsableDevice { what: format!("{}, {}", handle.what(), kernels.what()), load })
}

/// Where compiled kernels are kept: beside what is kept of weights.
fn kernels_folder(cache: Option<&Path>) -> Option<PathBuf> {
    cache.map(|folder| folder.with_file_name("kernels"))
}

/// Puts a model on the GPU that `options` name.
pub fn load(
    libraries: &Libraries,
    model: &ModelWeights,
    options: LoadOptions,
    cache: Option<&Path>,
) -> Result<Box<dyn Network>, BackendError> {
    let number = options.device.map_or(0, |choice| choice.number);
    let gpu = open(libraries, number, cache).map_err(|why| BackendError::Device { name: NAME, why })?;
    Ok(Box::new(CudaNetwork::new(model, options, &gpu)?))
}

/// GPU number `number` with the kernels on it; both models of a pair get the same one.
pub fn open(libraries: &Libraries, number: usize, cache: Option<&Path>) -> Result<Arc<Gpu>, String> {
    type Opened = Mutex<HashMap<(Libraries, usize), Weak<Gpu>>>;
    static OPENED: OnceLock<Opened> = OnceLock::new();
    let mut opened = OPENED.get_or_init(Opened::default).lock().unwrap_or_else(PoisonError::into_inner);
    let key = (libraries.clone(), number);
    if let Some(gpu) = opened.get(&key).and_then(Weak::upgrade) {
        return Ok(gpu);
    }
    let handle = GpuDevice::new(number).map_err(|unusable| unusable.why)?;
    let kernels = Kernels::find(libraries, handle.capability(), kernels_folder(cache).as_deref())?;
    let gpu = handle.open(kernels)?;
    opened.insert(key, Arc::downgrade(&gpu));
    Ok(gpu)
}

/// Rows that go through the layers together, at most.
const SLAB: usize = 256;

/// Bytes that the parts of attention may take while they are put together; passes that look back far are cut
/// into smaller slabs.
const PARTS: usize = 128 << 20;

/// A model on a GPU.
pub struct CudaNetwork {
    spec: ModelSpec,
    weights: Weights<Matrix, Buffer>,
    /// Where the experts of each block are.
    experts: Vec<Option<Tables>>,
    /// How most of the weights are stored, or were asked to be: of int4 the embedding and the head are int8.
    storage: Storage,
    queue: Arc<Queue>,
    rotations: Rotations,
    sequences: Sequences<Memory>,
    /// Of gated delta nets.
    states: States<delta::state::Sizes>,
    buffers: Buffers,
    choosing: Choosing,
    /// Logits of the wanted rows of the last pass `[rows, vocab_size]`, or what the head reads of them.
    logits: Work,
    /// Number of rows of logits of the last pass.
    held: usize,
    /// Logits in host memory, once somebody has asked.
    read: OnceLock<Vec<f32>>,
}

/// Heads of the blocks that have attention.
fn attention_heads(spec: &ModelSpec) -> impl Iterator<Item = Heads> {
    let blocks = (0..spec.blocks.len()).filter(|&block| spec.blocks[block].delta.is_none());
    blocks.map(|block| spec.heads_of(block))
}

impl CudaNetwork {
    /// Puts the weights of `model` onto a GPU.
    pub fn new(model: &ModelWeights, options: LoadOptions, gpu: &Arc<Gpu>) -> Result<Self, BackendError> {
        let spec = model.spec.clone();
        if let Some(nets) = delta::too_wide(&spec) {
            return Err(unsupported(nets));
        }
        if let Some(heads) =
            attention_heads(&spec).find(|&heads| plan::attention_room(heads, 1, gpu.block_memory).is_none())
        {
            return Err(unsupported(format!("attention with {heads:?}")));
        }
        let weights = Weights::pack(model, &Sender::new(model, gpu, options.dtype))?;
        let storage = Storage::asked(options.dtype).map_or_else(|| as_stored(model), Ok)?;
        Self::with(spec, weights, storage, Queue::new(gpu, options.eager))
    }

    /// With weights that are on the GPU of the queue.
    fn with(
        spec: ModelSpec,
        weights: Weights<Matrix, Buffer>,
        storage: Storage,
        queue: Arc<Queue>,
    ) -> Result<Self, BackendError> {
        Ok(Self {
            rotations: Rotations::new(&spec, &queue),
            sequences: Sequences::new(Memory::new(&queue, &spec), spec.context),
            states: States::new(delta::state::Sizes::of(&spec, &queue))?,
            buffers: Buffers::new(&queue),
            choosing: Choosing::new(&queue),
            logits: Work::new(&queue),
            held: 0,
            read: OnceLock::new(),
            experts: weights.blocks.iter().map(|block| Tables::new(&queue, block)).collect::<Result<_, _>>()?,
            queue,
            storage,
            spec,
            weights,
        })
    }

    /// [`Network::forward`], where some tokens are in the memory of the GPU. What is likely to come again is
    /// left in the queue, to be started together with what follows.
    fn run(&mut self, rows: &Rows<'_>, want: Wanted, patches: &[Patch], again: Again) -> Result<usize, BackendError> {
        self.sequences.check(rows, self.spec.vocab_size)?;
        self.states.check(rows)?;
        let wanted = rows.wanted(want);
        let width = if want == Wanted::Hidden { self.spec.embedding.width } else { self.spec.vocab_size };
        self.read = OnceLock::new();
        self.held = 0;
        let mut to = self.logits.floats((wanted + MOST_PADDING) * width)?;
        let positions = rows.spans.iter().map(|span| span.start + span.len).max().unwrap_or(0);
        self.rotations.ensure(positions)?;
        let mut done = 0;
        for slab in slabs(rows.spans, want, self.slab(positions)) {
            let len = slab.iter().map(|piece| piece.len).sum::<usize>();
            let of_slab = patches.iter().filter(|patch| (done..done + len).contains(&(patch.row as usize)));
            let of_slab: Vec<Patch> = of_slab.map(|patch| Patch { row: patch.row - done as i32, ..*patch }).collect();
            let passed = self.pass(&slab, (&rows.tokens[done..done + len], &of_slab), (want, to));
            let started = passed.and_then(|()| if again == Again::Hardly { self.queue.start(again) } else { Ok(()) });
            started.map_err(|error| self.failed(rows.spans.iter().map(|span| span.seq), error))?;
            to += (slab.iter().map(|piece| piece.wanted).sum::<usize>() * width * size_of::<f32>()) as u64;
            done += len;
        }
        for span in rows.spans {
            self.sequences.advance(span.seq, span.start + span.len);
        }
        self.held = if want == Wanted::Hidden { 0 } else { wanted };
        Ok(wanted)
    }

    /// Takes states back that rows which failed may have left in any state.
    fn failed(&mut self, sequences: impl Iterator<Item = SeqId>, error: BackendError) -> BackendError {
        for seq in sequences {
            if let Some(len) = self.states.fail(seq) {
                self.sequences.set_len(seq, len);
            }
        }
        error
    }

    /// Most rows of a slab in a pass that looks back so far.
    fn slab(&self, positions: usize) -> usize {
        let widest = attention_heads(&self.spec).map(|heads| heads.query * (heads.dim + 2)).max().unwrap_or(0);
        let row = plan::rounded_chunks(positions.div_ceil(kernels::CHUNK)) * widest * size_of::<f32>();
        (PARTS / row.max(1)).clamp(1, SLAB)
    }
}

impl HostLogits for CudaNetwork {
    fn logits(&self, row: usize) -> &[f32] {
        let vocab = self.spec.vocab_size;
        let read = self.read.get_or_init(|| {
            let mut logits = vec![0.0; self.held * vocab];
            // Nothing can be said here; the next call of the driver fails, too.
            if self.logits.read(&mut logits).is_ok() { logits } else { Vec::new() }
        });
        read.get(row * vocab..(row + 1) * vocab).unwrap_or_default()
    }
}

impl Network for CudaNetwork {
    fn vocab_size(&self) -> usize {
        self.spec.vocab_size
    }

    fn context(&self) -> usize {
        self.spec.context
    }

    fn info(&self) -> NetworkInfo {
        NetworkInfo {
            device: NAME,
            dtype: self.storage.name(),
            kernel: if self.queue.is_eager() { "cuda without graphs" } else { "cuda" },
            weights: self.weights.multiplied(&self.spec, |matrix| matrix.inputs * matrix.outputs),
            weight_bytes: self.weights.matrices().map(Matrix::bytes).sum(),
            threads: 1,
        }
    }

    fn open(&mut self, capacity: usize) -> Result<SeqId, BackendError> {
        self.rotations.ensure(capacity.min(self.spec.context))?;
        let seq = self.sequences.open(capacity)?;
        self.states.open(seq, capacity).inspect_err(|_| self.sequences.close(seq))?;
        Ok(seq)
    }

    fn fork(&mut self, prompt: SeqId, n: usize, tail: usize) -> Result<Vec<SeqId>, BackendError> {
        // Before the steps, which wait for nothing but their results.
        self.rotations.ensure(self.sequences.len(prompt).saturating_add(tail).min(self.spec.context))?;
        let forks = self.sequences.fork(prompt, n, tail)?;
        self.states.fork(prompt, &forks).inspect_err(|_| forks.iter().for_each(|&seq| self.sequences.close(seq)))?;
        Ok(forks)
    }

    fn resize(&mut self, prompt: SeqId, len: usize, capacity: usize) -> Result<(), BackendError> {
        self.states.check_cut(prompt, len)?;
        self.rotations.ensure(capacity.min(self.spec.context))?;
        self.sequences.resize(prompt, len, capacity)?;
        self.states.resize(prompt, len, capacity);
        Ok(())
    }

    fn cut_point(&self, prompt: SeqId, len: usize) -> usize {
        self.states.cut_point(prompt, len)
    }

    fn forward(&mut self, rows: &Rows<'_>, want: Wanted) -> Result<usize, BackendError> {
        self.queue.begin()?;
        self.run(rows, want, &[], Again::Hardly)
    }

    fn draft(&mut self, candidates: &[Candidate<'_>], lengths: &[usize]) -> Result<Vec<Drafts>, BackendError> {
        host::same_count(candidates, lengths)?;
        self.draw_drafts(candidates, lengths)
    }

    fn verify(&mut self, candidates: &[Candidate<'_>], drafts: &[Drafts]) -> Result<Vec<Accepted>, BackendError> {
        host::same_count(candidates, drafts)?;
        match self.verify_drafts(candidates, drafts)? {
            Some(accepted) => Ok(accepted),
            None => host::verify(self, candidates, drafts),
        }
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
    }

    fn kv_bytes(&self) -> usize {
        self.sequences.bytes() + self.states.bytes()
    }
}
