//! Queue of a network's work for its GPU, collected first and then started at once: values that kernels read,
//! sent in one piece, and launches, as one CUDA graph where the same launches come again. A graph reads
//! nothing of the host: values that differ from step to step lie in the memory of the GPU.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::gpu::{Buffer, Gpu};
use super::graphs::Graphs;
use super::kernels::{Kernel, Pointer};
use super::launches::Launches;
use super::staging::{Pinned, Staging};
use crate::backend::BackendError;
use crate::backend::plain::{Plain, bytes_of, bytes_of_mut};

/// Likelihood that the same launches come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Steps of a generation: as a graph.
    Likely,
    /// Prompts: launch by launch.
    Hardly,
}

/// Work of a network for its GPU, in the order in which it was asked for. Nothing is left in it between two
/// calls of the network.
pub struct Queue {
    gpu: Arc<Gpu>,
    /// Every kernel is launched by itself: a fault shows at its own launch.
    eager: AtomicBool,
    pending: Mutex<Pending>,
}

/// Use of memory that launches share one after the other.
#[derive(Clone, Copy, Debug)]
pub enum Scratch {
    /// Rows in the order of tiles, sums of their blocks, by what they were scaled.
    Inputs,
    Sums,
    Scales,
    /// Slices of products.
    Partial,
    /// Counts that are zero before and after every launch.
    Arrived,
}

struct Pending {
    graphs: Graphs,
    launches: Launches,
    staging: Staging,
    /// Memory that launches still name.
    retired: Vec<Buffer>,
    results: Option<Pinned>,
    scratch: [Option<Buffer>; 5],
    /// Why there was no memory for what was asked for.
    failed: Option<BackendError>,
}

#[cfg(test)]
impl Queue {
    /// From now on every kernel by itself, or not.
    pub fn set_eager(&self, eager: bool) {
        self.eager.store(eager, Ordering::Relaxed);
    }
}

impl Queue {
    /// Nothing to do yet.
    pub fn new(gpu: &Arc<Gpu>, eager: bool) -> Arc<Self> {
        let pending = Pending {
            graphs: Graphs::new(gpu),
            launches: Launches::default(),
            staging: Staging::new(gpu),
            retired: Vec::new(),
            results: None,
            scratch: Default::default(),
            failed: None,
        };
        Arc::new(Self { gpu: Arc::clone(gpu), eager: AtomicBool::new(eager), pending: Mutex::new(pending) })
    }

    /// Every kernel is launched by itself, without graphs.
    pub fn is_eager(&self) -> bool {
        self.eager.load(Ordering::Relaxed)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a call of the network. Forgets what was asked for and never started, since something failed.
    pub fn begin(&self) -> Result<(), BackendError> {
        let mut pending = self.pending();
        pending.launches.clear();
        pending.retired.clear();
        pending.failed = None;
        pending.staging.begin()
    }

    /// Where these values will be when kernels read them.
    pub fn place<T: Plain>(&self, values: &[T]) -> Result<Pointer, BackendError> {
        self.pending().staging.place(bytes_of(values))
    }

    /// Asks for a kernel; `memory` is the shared memory of a block.
    pub fn launch<P: Plain>(&self, kernel: &Kernel<P>, grid: [usize; 3], memory: usize, params: P) {
        self.pending().launches.add(kernel, grid, memory, params);
    }

    /// Asks for a copy from one place of the GPU's memory to another.
    pub fn copy(&self, from: Pointer, to: Pointer, bytes: usize) {
        self.pending().launches.add_copy(from, to, bytes);
    }

    /// Memory of so many bytes, with any content; zeros for [`Scratch::Arrived`]. If it cannot be allocated,
    /// the start fails.
    pub fn scratch(&self, what: Scratch, bytes: usize) -> Pointer {
        let pending = &mut *self.pending();
        let held = &mut pending.scratch[what as usize];
        if let Some(memory) = held.as_ref().filter(|memory| memory.bytes() >= bytes) {
            return memory.at();
        }
        // Launches may still name it.
        pending.retired.extend(held.take());
        let made = self.gpu.alloc(bytes).and_then(|mut memory| {
            if matches!(what, Scratch::Arrived) {
                memory.write(0, &vec![0u8; bytes])?;
            }
            Ok(memory)
        });
        match made {
            Ok(memory) => held.insert(memory).at(),
            Err(why) => {
                pending.failed.get_or_insert(why);
                0
            }
        }
    }

    /// Gives memory back once nothing that was asked for names it any more.
    pub fn retire(&self, memory: Buffer) {
        let mut pending = self.pending();
        if !pending.launches.is_empty() {
            pending.retired.push(memory);
        }
    }

    /// Starts all that was asked for. Nothing is waited for.
    pub fn start(&self, again: Again) -> Result<(), BackendError> {
        let mut pending = self.pending();
        if let Some(why) = pending.failed.take() {
            return Err(why);
        }
        pending.staging.send()?;
        let Pending { graphs, launches, staging, retired, .. } = &mut *pending;
        if again == Again::Likely && !self.is_eager() {
            graphs.run(launches)?;
        } else {
            launches.run(&self.gpu, self.gpu.stream())?;
        }
        launches.clear();
        retired.clear();
        staging.trim();
        Ok(())
    }

    /// Reads few values after all that was started: the one time that a step waits for the GPU.
    pub fn read<T: Plain>(&self, from: Pointer, values: &mut [T]) -> Result<(), BackendError> {
        let bytes = bytes_of_mut(values);
        let mut pending = self.pending();
        let results = match &mut pending.results {
            Some(results) if results.bytes() >= bytes.len() => results,
            results => {
                *results = None;
                results.insert(Pinned::new(&self.gpu, bytes.len().next_power_of_two())?)
            }
        };
        results.receive(from, bytes.len())?;
        self.gpu.synchronise()?;
        bytes.copy_from_slice(&results.as_slice()[..bytes.len()]);
        Ok(())
    }
}

impl Deref for Queue {
    type Target = Arc<Gpu>;

    fn deref(&self) -> &Arc<Gpu> {
        &self.gpu
    }
}
