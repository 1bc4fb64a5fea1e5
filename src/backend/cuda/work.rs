//! Working memory on a GPU.

use std::sync::Arc;

use super::gpu::Buffer;
use super::kernels::Pointer;
use super::queue::Queue;
use crate::backend::BackendError;
use crate::backend::plain::Plain;

/// Working memory that grows to what is asked for.
pub struct Work {
    queue: Arc<Queue>,
    memory: Option<Buffer>,
}

impl Work {
    /// None yet.
    pub fn new(queue: &Arc<Queue>) -> Self {
        Self { queue: Arc::clone(queue), memory: None }
    }

    /// Where `len` floats are, which hold anything.
    pub fn floats(&mut self, len: usize) -> Result<Pointer, BackendError> {
        self.bytes(len * size_of::<f32>())
    }

    /// Where so many bytes are.
    pub fn bytes(&mut self, bytes: usize) -> Result<Pointer, BackendError> {
        match &self.memory {
            Some(memory) if memory.bytes() >= bytes => Ok(memory.at()),
            _ => {
                if let Some(small) = self.memory.take() {
                    self.queue.retire(small);
                }
                Ok(self.memory.insert(self.queue.alloc(bytes)?).at())
            }
        }
    }

    /// Writes into new memory, at once.
    pub fn replace(&mut self, bytes: &[u8]) -> Result<(), BackendError> {
        if let Some(old) = self.memory.take() {
            self.queue.retire(old);
        }
        self.memory.insert(self.queue.alloc(bytes.len())?).write(0, bytes)
    }

    /// Where it is, if there is any.
    pub fn at(&self) -> Option<Pointer> {
        self.memory.as_ref().map(Buffer::at)
    }

    /// Reads values from the beginning.
    pub fn read<T: Plain>(&self, values: &mut [T]) -> Result<(), BackendError> {
        self.memory.as_ref().map_or(Ok(()), |memory| memory.read(0, values))
    }
}
