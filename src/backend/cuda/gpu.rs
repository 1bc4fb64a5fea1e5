//! One GPU: its memory, and launches of kernels in their order.

use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use cudarc::driver::result::{self, DriverError, ctx, device, function, module, primary_ctx, stream};
use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute as Attribute, CUfunction, CUfunction_attribute, CUmodule, CUresult,
    CUstream,
};

use super::bundle::Capability;
use super::choice::Batch;
use super::compile::Kernels;
use super::kernels::{self, LARGE, Pointer};
use super::library;
use crate::backend::BackendError;
use crate::backend::device::Unusable;
use crate::backend::plain::{Plain, bytes_of, bytes_of_mut};

/// Version of the oldest driver that is used: 12.0.
const OLDEST_DRIVER: c_int = 12000;

/// Version of the oldest driver whose graphs have kernels that begin before the last one is done: 12.3.
const EARLY_DRIVER: c_int = 12030;

/// A GPU with the kernels on it. Calls from several threads take effect one after the other.
pub struct Gpu {
    device: CUdevice,
    context: CUcontext,
    stream: CUstream,
    module: CUmodule,
    functions: HashMap<&'static str, CUfunction>,
    /// Drafts that networks hold on it, by number.
    pub batches: Mutex<HashMap<u64, Weak<Batch>>>,
    /// Its name and memory.
    pub what: String,
    /// Shared memory that a block may have, in bytes.
    pub block_memory: usize,
    /// A kernel may begin before the last one is done; it waits by itself.
    pub begins_early: bool,
    /// Waits that have begun, and the last of them that has ended.
    waits: AtomicU64,
    waited: AtomicU64,
}

// SAFETY: the driver may be called from any thread, with the context made current before each call.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

/// A GPU before anything is loaded onto it: its handle and its properties.
pub struct GpuDevice {
    device: CUdevice,
    what: String,
    capability: Capability,
    driver: c_int,
    block_memory: usize,
}

impl GpuDevice {
    /// GPU number `number`.
    pub fn new(number: usize) -> Result<Self, Unusable> {
        let none = || Unusable::absent("needs an NVIDIA GPU and its driver, which are not here");
        library::driver().ok_or_else(none)??;
        let said = |failure: DriverError| match failure.0 {
            CUresult::CUDA_ERROR_NO_DEVICE => {
                Unusable::absent("needs an NVIDIA GPU: the driver is here and finds none")
            }
            _ => format!("does not work: the NVIDIA driver says: {}", library::said(failure)).into(),
        };
        let mut version = 0;
        result::init().map_err(said)?;
        // SAFETY: the pointer is one to a variable.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(said)?;
        let driver = format!("{}.{}", version / 1000, version % 1000 / 10);
        if version < OLDEST_DRIVER {
            return Err(format!("needs a driver for CUDA 12.0 or later, and this one is for {driver}").into());
        }
        let count = device::get_count().map_err(said)?;
        if number >= count as usize {
            return Err(format!("has no GPU number {number}: the driver finds {count}, counted from 0").into());
        }
        let device = device::get(number as c_int).map_err(said)?;
        let name = device::get_name(device).map_err(said)?;
        // SAFETY: the driver has found the device.
        let bytes = unsafe { device::total_mem(device) }.map_err(said)?;
        // SAFETY: as above.
        let attribute = |attribute| unsafe { device::get_attribute(device, attribute) }.map_err(said);
        let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let block_memory = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize;
        let what = format!("{name}, {} MiB, compute capability {major}.{minor}", bytes >> 20);
        if major < 8 {
            return Err(format!("needs a GPU of compute capability 8.0 or later, and this is a {what}").into());
        }
        let what = format!("{what}, driver for CUDA {driver}");
        Ok(Self { device, what, capability: (major, minor), driver: version, block_memory })
    }

    /// Its name, memory and kind, and its driver.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Its kind.
    pub fn capability(&self) -> Capability {
        self.capability
    }

    /// Loads the kernels.
    pub fn open(self, kernels: Kernels) -> Result<Arc<Gpu>, String> {
        let binary = kernels.binary()?;
        let Self { device, what, block_memory, capability, driver } = self;
        let mut gpu = Gpu {
            device,
            context: std::ptr::null_mut(),
            stream: std::ptr::null_mut(),
            module: std::ptr::null_mut(),
            functions: HashMap::new(),
            batches: Mutex::default(),
            what,
            block_memory,
            begins_early: capability.0 >= 9 && driver >= EARLY_DRIVER,
            waits: AtomicU64::new(0),
            waited: AtomicU64::new(0),
        };
        gpu.start(&binary).map_err(|failure| format!("does not work: {}", library::said(failure)))?;
        Ok(Arc::new(gpu))
    }
}

impl Gpu {
    fn start(&mut self, binary: &[u8]) -> Result<(), DriverError> {
        let dynamic_memory = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the driver has found the device; the binary is what the compiler made.
        unsafe {
            self.context = primary_ctx::retain(self.device)?;
            ctx::set_current(self.context)?;
            self.stream = stream::create(stream::StreamKind::NonBlocking)?;
            self.module = module::load_data(binary.as_ptr().cast())?;
            for (name, _) in kernels::all() {
                let kernel = module::get_function(self.module, CString::new(name).unwrap_or_default())?;
                self.functions.insert(name, kernel);
                if LARGE.iter().any(|begin| name.starts_with(begin)) {
                    function::set_function_attribute(kernel, dynamic_memory, self.block_memory as c_int)?;
                }
            }
        }
        Ok(())
    }

    /// Where launches and copies take effect, in their order.
    pub fn stream(&self) -> CUstream {
        self.stream
    }

    /// Another one, which waits for no other.
    pub fn new_stream(&self) -> Result<CUstream, BackendError> {
        self.call("a stream", || stream::create(stream::StreamKind::NonBlocking))
    }

    /// The kernel of this name.
    pub fn function(&self, name: &str) -> CUfunction {
        self.functions[name]
    }

    /// Calls the driver with this GPU's context.
    pub fn call<T>(&self, what: &str, call: impl FnOnce() -> Result<T, DriverError>) -> Result<T, BackendError> {
        // SAFETY: the context lives as long as `self`.
        let called = unsafe { ctx::set_current(self.context) }.and_then(|()| call());
        let failed = |failure| format!("{what}: {}", library::said(failure));
        called.map_err(|failure| BackendError::Failed { device: "cuda", what: failed(failure) })
    }

    /// Memory of so many bytes, holding anything; the error is [`BackendError::Memory`] where there is none
    /// left.
    pub fn alloc(self: &Arc<Self>, bytes: usize) -> Result<Buffer, BackendError> {
        let bytes = bytes.max(1);
        // SAFETY: the memory is given back once, when it is dropped.
        let at = self.call("memory", || match unsafe { result::malloc_sync(bytes) } {
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Ok(None),
            made => made.map(Some),
        })?;
        let at = at.ok_or(BackendError::Memory { bytes })?;
        Ok(Buffer { gpu: Arc::clone(self), at, bytes })
    }

    /// Copies from one place in its memory to another, after all that was started.
    pub fn copy(&self, from: Pointer, to: Pointer, bytes: usize) -> Result<(), BackendError> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the driver refuses what is no memory of its own.
        self.call("a copy", || unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream) })
    }

    /// Waits until all that was launched is done.
    pub fn synchronise(&self) -> Result<(), BackendError> {
        let number = self.waits.fetch_add(1, Ordering::Relaxed) + 1;
        // SAFETY: the stream lives as long as `self`.
        self.call("a wait", || unsafe { stream::synchronize(self.stream) })?;
        self.waited.fetch_max(number, Ordering::Relaxed);
        Ok(())
    }

    /// Number of the last wait that has begun.
    pub fn waits_begun(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    /// Number of the last wait that has ended: what was started before it began is done.
    pub fn waited_for(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: what was made is given back once. An error here has been one elsewhere.
        unsafe {
            let _ = ctx::set_current(self.context);
            if !self.module.is_null() {
                let _ = module::unload(self.module);
            }
            if !self.stream.is_null() {
                let _ = stream::destroy(self.stream);
            }
            if !self.context.is_null() {
                let _ = primary_ctx::release(self.device);
            }
        }
    }
}

/// Memory of a GPU, given back when it is dropped.
pub struct Buffer {
    gpu: Arc<Gpu>,
    at: Pointer,
    bytes: usize,
}

impl Buffer {
    /// Where it begins.
    pub fn at(&self) -> Pointer {
        self.at
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes values from byte `from` on.
    pub fn write<T: Plain>(&mut self, from: usize, values: &[T]) -> Result<(), BackendError> {
        let bytes = bytes_of(values);
        self.inside(from, bytes.len())?;
        let to = self.at + from as u64;
        // SAFETY: the bytes lie inside of the buffer; the driver has read pageable memory when it returns.
        self.gpu.call("writing", || unsafe { result::memcpy_htod_async(to, bytes, self.gpu.stream) })
    }

    /// Reads values from byte `from` on, after all that was launched.
    pub fn read<T: Plain>(&self, from: usize, values: &mut [T]) -> Result<(), BackendError> {
        let bytes = bytes_of_mut(values);
        self.inside(from, bytes.len())?;
        let from = self.at + from as u64;
        // SAFETY: as above; the wait below comes before the values can be used.
        self.gpu.call("reading", || unsafe { result::memcpy_dtoh_async(bytes, from, self.gpu.stream) })?;
        self.gpu.synchronise()
    }

    fn inside(&self, from: usize, bytes: usize) -> Result<(), BackendError> {
        let fits = from.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        let wrong = || BackendError::Contract(format!("{bytes} bytes from {from} on of {} in a GPU", self.bytes));
        fits.then_some(()).ok_or_else(wrong)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // The GPU may still read it; an error here has been one elsewhere.
        let _ = self.gpu.synchronise();
        // SAFETY: it was allocated once and is given back once.
        let _ = self.gpu.call("memory", || unsafe { result::free_sync(self.at) });
    }
}
