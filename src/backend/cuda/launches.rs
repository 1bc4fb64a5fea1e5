//! Launches as data: what is equal computes the same from the same places.

use std::ffi::c_void;

use cudarc::driver::result;
use cudarc::driver::sys::{
    self, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig, CUstream,
};

use super::gpu::Gpu;
use super::kernels::{Kernel, Pointer};
use crate::backend::BackendError;
use crate::backend::plain::{Plain, bytes_of};
use crate::hash;

/// Operations of a GPU, in the order in which they run.
#[derive(Default, PartialEq, Eq)]
pub struct Launches {
    list: Vec<Operation>,
    /// Parameters of all kernels, back to back, in words of 8 bytes.
    params: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// A kernel, with so many bytes of parameters.
    Kernel {
        name: &'static str,
        threads: u32,
        grid: [u32; 3],
        memory: u32,
        params: usize,
    },
    Copy {
        from: Pointer,
        to: Pointer,
        bytes: usize,
    },
}

impl Launches {
    /// Adds a kernel; `memory` is the shared memory of a block.
    pub fn add<P: Plain>(&mut self, kernel: &Kernel<P>, grid: [usize; 3], memory: usize, params: P) {
        let (grid, memory) = (grid.map(|blocks| blocks as u32), memory as u32);
        let Kernel { name, threads, .. } = *kernel;
        self.list.push(Operation::Kernel { name, threads, grid, memory, params: size_of::<P>() });
        self.params.extend(bytes_of(&[params]).chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        }));
    }

    /// Adds a copy inside of the memory of the GPU.
    pub fn add_copy(&mut self, from: Pointer, to: Pointer, bytes: usize) {
        if bytes > 0 {
            self.list.push(Operation::Copy { from, to, bytes });
        }
    }

    /// The list is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.list.clear();
        self.params.clear();
    }

    /// Different for most lists that differ.
    pub fn hash(&self) -> u64 {
        let mut hash = hash::mix(hash::EMPTY, self.list.len() as u64);
        for operation in &self.list {
            let words = match *operation {
                Operation::Kernel { grid: [x, y, z], memory, .. } => [x, y, z, memory].map(u64::from),
                Operation::Copy { from, to, bytes } => [from, to, bytes as u64, 0],
            };
            hash = words.into_iter().fold(hash, hash::mix);
        }
        self.params.iter().fold(hash, |hash, &word| hash::mix(hash, word))
    }

    /// Gives them to a stream of the GPU one by one.
    pub fn run(&self, gpu: &Gpu, stream: CUstream) -> Result<(), BackendError> {
        let mut params = &self.params[..];
        let mut after_kernel = false;
        for operation in &self.list {
            match *operation {
                Operation::Kernel { name, threads, grid: [x, y, z], memory, params: mut size } => {
                    let (of_this, rest) = params.split_at(size.div_ceil(8));
                    params = rest;
                    // The driver's list: 1 the parameters, 2 their size, 0 the end.
                    let at = of_this.as_ptr().cast_mut().cast();
                    let key = std::ptr::without_provenance_mut::<c_void>;
                    let mut extra = [key(1), at, key(2), (&raw mut size).cast(), key(0)];
                    let (function, list) = (gpu.function(name), extra.as_mut_ptr());
                    let mut early = CUlaunchAttribute {
                        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                        pad: [0; 4],
                        value: CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
                    };
                    let config = CUlaunchConfig {
                        gridDimX: x,
                        gridDimY: y,
                        gridDimZ: z,
                        blockDimX: threads,
                        blockDimY: 1,
                        blockDimZ: 1,
                        sharedMemBytes: memory,
                        hStream: stream,
                        attrs: &raw mut early,
                        numAttrs: u32::from(after_kernel && gpu.begins_early),
                    };
                    // SAFETY: the parameters are those of the kernel, whose struct has the size of this one.
                    gpu.call(name, || unsafe {
                        sys::cuLaunchKernelEx(&raw const config, function, std::ptr::null_mut(), list).result()
                    })?;
                    after_kernel = true;
                }
                Operation::Copy { from, to, bytes } => {
                    // SAFETY: the driver refuses what is no memory of its own.
                    gpu.call("a copy", || unsafe { result::memcpy_dtod_async(to, from, bytes, stream) })?;
                    after_kernel = false;
                }
            }
        }
        Ok(())
    }
}
