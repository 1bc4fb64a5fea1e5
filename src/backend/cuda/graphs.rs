//! CUDA graphs of launches that come again.

use std::collections::VecDeque;
use std::sync::Arc;

use cudarc::driver::result::{graph, stream};
use cudarc::driver::sys::{CUgraphExec, CUgraphInstantiate_flags, CUstream, CUstreamCaptureMode};

use super::gpu::Gpu;
use super::launches::Launches;
use crate::backend::BackendError;

/// Graphs that a network keeps: more than there are shapes of steps in a while.
pub const KEPT: usize = 32;

/// Lists of launches that are known to have come once.
const SEEN: usize = 4 * KEPT;

/// Name of this step in errors, with the flag that avoids it.
const GRAPH: &str = "a CUDA graph (--no-cuda-graphs does without)";

/// The graphs of a network. A list of launches becomes one when it comes for the second time: by then all its
/// kernels are loaded, and what comes only once is not worth it.
pub struct Graphs {
    gpu: Arc<Gpu>,
    /// The one used last is last.
    kept: Vec<Graph>,
    seen: VecDeque<u64>,
    /// Where launches are captured: those of other threads do not get in between.
    stream: Option<CUstream>,
}

struct Graph {
    hash: u64,
    of: Launches,
    handle: CUgraphExec,
}

// SAFETY: the driver may be called from any thread, and the handles are used by one at a time.
unsafe impl Send for Graphs {}

impl Graphs {
    /// None yet.
    pub fn new(gpu: &Arc<Gpu>) -> Self {
        Self { gpu: Arc::clone(gpu), kept: Vec::new(), seen: VecDeque::new(), stream: None }
    }

    /// Does what the launches say, as a graph where they have come before. Takes them where they are kept.
    pub fn run(&mut self, launches: &mut Launches) -> Result<(), BackendError> {
        if launches.is_empty() {
            return Ok(());
        }
        let hash = launches.hash();
        if let Some(at) = self.kept.iter().rposition(|graph| graph.hash == hash && graph.of == *launches) {
            self.kept[at..].rotate_left(1);
        } else if self.seen.contains(&hash) {
            let handle = self.captured(launches)?;
            if self.kept.len() == KEPT {
                let oldest = self.kept.remove(0);
                // It may still be at work.
                self.gpu.synchronise()?;
                self.end(oldest.handle)?;
            }
            self.kept.push(Graph { hash, of: std::mem::take(launches), handle });
        } else {
            self.seen.push_back(hash);
            if self.seen.len() > SEEN {
                self.seen.pop_front();
            }
            return launches.run(&self.gpu, self.gpu.stream());
        }
        let Some(&Graph { handle, .. }) = self.kept.last() else { return Ok(()) };
        // SAFETY: the graph was made below and has not ended.
        self.gpu.call(GRAPH, || unsafe { graph::launch(handle, self.gpu.stream()) })
    }

    /// The launches as a graph.
    fn captured(&mut self, launches: &Launches) -> Result<CUgraphExec, BackendError> {
        let gpu = &self.gpu;
        let stream = match self.stream {
            Some(stream) => stream,
            None => *self.stream.insert(gpu.new_stream()?),
        };
        // Only this thread's calls are held to what may be captured.
        let of_this_thread = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: what was made is given back once.
        unsafe {
            gpu.call(GRAPH, || stream::begin_capture(stream, of_this_thread))?;
            let launched = launches.run(gpu, stream);
            // A capture has to end before anything else is done.
            let captured = match gpu.call(GRAPH, || stream::end_capture(stream)) {
                Ok(captured) => captured,
                Err(error) => return launched.and(Err(error)),
            };
            let instantiated = || graph::instantiate(captured, CUgraphInstantiate_flags(0));
            let made = launched.and_then(|()| gpu.call(GRAPH, instantiated));
            gpu.call(GRAPH, || graph::destroy(captured))?;
            made
        }
    }

    fn end(&self, made: CUgraphExec) -> Result<(), BackendError> {
        // SAFETY: it was made once and is given back once.
        self.gpu.call(GRAPH, || unsafe { graph::exec_destroy(made) })
    }
}

impl Drop for Graphs {
    fn drop(&mut self) {
        // An error here has been one elsewhere.
        let _ = self.gpu.synchronise();
        for graph in std::mem::take(&mut self.kept) {
            let _ = self.end(graph.handle);
        }
        if let Some(stream) = self.stream {
            // SAFETY: as above.
            let _ = self.gpu.call("a stream", || unsafe { stream::destroy(stream) });
        }
    }
}
