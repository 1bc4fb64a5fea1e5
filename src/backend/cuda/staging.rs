//! Values on their way to a GPU, and few back: memory of the host that the GPU reads and writes by itself.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::result;

use super::gpu::{Buffer, Gpu};
use super::kernels::Pointer;
use crate::backend::BackendError;

/// Memory of the host that a GPU reads and writes while the host goes on.
pub struct Pinned {
    gpu: Arc<Gpu>,
    at: *mut u8,
    bytes: usize,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for Pinned {}

impl Pinned {
    /// So many bytes, at least one, all zero.
    pub fn new(gpu: &Arc<Gpu>, bytes: usize) -> Result<Self, BackendError> {
        let bytes = bytes.max(1);
        // SAFETY: the memory is given back once, when it is dropped.
        let at = gpu.call("memory of the host", || unsafe { result::malloc_host(bytes, 0) })?.cast::<u8>();
        // SAFETY: the memory was allocated with this size.
        unsafe { at.write_bytes(0, bytes) };
        Ok(Self { gpu: Arc::clone(gpu), at, bytes })
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes, as far as the GPU has written them.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: it was set to zero as a whole.
        unsafe { std::slice::from_raw_parts(self.at, self.bytes) }
    }

    /// The bytes, to be written only where the GPU has read what was sent.
    fn as_slice_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.bytes) }
    }

    /// Begins to copy a part to the same place of a buffer of this size.
    fn send(&self, to: &Buffer, part: Range<usize>) -> Result<(), BackendError> {
        let (to, from) = (to.at() + part.start as u64, &self.as_slice()[part]);
        // SAFETY: both parts lie inside of their memory, which is given back only after a wait.
        self.gpu.call("sending", || unsafe { result::memcpy_htod_async(to, from, self.gpu.stream()) })
    }

    /// Begins to copy so many bytes from the memory of the GPU.
    pub fn receive(&mut self, from: Pointer, bytes: usize) -> Result<(), BackendError> {
        let gpu = Arc::clone(&self.gpu);
        let to = &mut self.as_slice_mut()[..bytes];
        // SAFETY: as above; the driver refuses what is no memory of its own.
        gpu.call("receiving", || unsafe { result::memcpy_dtoh_async(to, from, gpu.stream()) })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Copies may still run; an error here has been one elsewhere.
        let _ = self.gpu.synchronise();
        // SAFETY: it was allocated once and is given back once.
        let _ = self.gpu.call("memory of the host", || unsafe { result::free_host(self.at.cast()) });
    }
}

/// Bytes of the first [`StagingBuffer`].
const FIRST: usize = 64 << 10;

/// Bytes of the smallest place.
const PLACE: usize = 256;

/// Values that are sent to the GPU in one piece. The places of two steps are the same where their values are
/// about as many: a place is as large as a power of two.
pub struct Staging {
    gpu: Arc<Gpu>,
    /// Each at least twice as large as the one before.
    buffers: Vec<StagingBuffer>,
}

/// A buffer of the GPU, and memory of the host that is copied to it.
struct StagingBuffer {
    memory: Buffer,
    /// Written again only once the GPU has read it.
    host: Pinned,
    /// Bytes that were sent, and bytes in use.
    sent: usize,
    used: usize,
    /// Number of the last wait that had begun when something was sent last.
    sent_after: u64,
}

impl Staging {
    /// Nothing yet.
    pub fn new(gpu: &Arc<Gpu>) -> Self {
        Self { gpu: Arc::clone(gpu), buffers: Vec::new() }
    }

    /// Begins at the first place where all that was sent has been read. What was not sent is forgotten.
    pub fn begin(&mut self) -> Result<(), BackendError> {
        let Some(buffer) = self.buffers.last_mut() else { return Ok(()) };
        buffer.used = buffer.sent;
        if buffer.sent == 0 {
            return Ok(());
        }
        if self.gpu.waited_for() <= buffer.sent_after && buffer.used > buffer.memory.bytes() / 2 {
            self.gpu.synchronise()?;
        }
        if self.gpu.waited_for() > buffer.sent_after {
            (buffer.sent, buffer.used) = (0, 0);
        }
        Ok(())
    }

    /// Where the bytes will be.
    pub fn place(&mut self, bytes: &[u8]) -> Result<Pointer, BackendError> {
        let room = bytes.len().next_power_of_two().max(PLACE);
        if self.buffers.last().is_none_or(|buffer| buffer.used + room > buffer.memory.bytes()) {
            let last = self.buffers.last().map_or(0, |buffer| buffer.memory.bytes());
            let size = (2 * last).max(4 * room).max(FIRST);
            let (memory, host) = (self.gpu.alloc(size)?, Pinned::new(&self.gpu, size)?);
            self.buffers.push(StagingBuffer { memory, host, sent: 0, used: 0, sent_after: 0 });
        }
        let Some(buffer) = self.buffers.last_mut() else { return Ok(0) };
        let from = buffer.used;
        buffer.host.as_slice_mut()[from..from + bytes.len()].copy_from_slice(bytes);
        buffer.used += room;
        Ok(buffer.memory.at() + from as u64)
    }

    /// Begins to send what was placed.
    pub fn send(&mut self) -> Result<(), BackendError> {
        for buffer in &mut self.buffers {
            if buffer.used > buffer.sent {
                buffer.host.send(&buffer.memory, buffer.sent..buffer.used)?;
                buffer.sent_after = self.gpu.waits_begun();
                buffer.sent = buffer.used;
            }
        }
        Ok(())
    }

    /// Gives back what is too small, once nothing that is still to be started names it.
    pub fn trim(&mut self) {
        self.buffers.drain(..self.buffers.len().saturating_sub(1));
    }
}
