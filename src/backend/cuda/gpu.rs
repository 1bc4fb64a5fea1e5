//! One GPU: its memory, and launches of kernels in their order.

use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::bundle::Capability;
use super::choice::Batch;
use super::compile::Kernels;
use super::kernels::{self, LARGE, Pointer};
use super::library::{Driver, Failure, Handle, Libraries, NO_DEVICE, OUT_OF_MEMORY};
use crate::backend::BackendError;
use crate::backend::device::Unusable;
use crate::backend::plain::{Plain, bytes_of, bytes_of_mut};

/// Version of the oldest driver that is used: 12.0.
const OLDEST_DRIVER: c_int = 12000;

/// Numbers of attributes in the driver's interface.
const CAPABILITY_MAJOR: c_int = 75;
const CAPABILITY_MINOR: c_int = 76;
const BLOCK_MEMORY: c_int = 97;
/// Of a kernel: the shared memory that may be asked for at launch.
const DYNAMIC_MEMORY: c_int = 8;

/// A GPU with the kernels on it. Calls from several threads take effect one after the other.
pub struct Gpu {
    driver: Driver,
    device: c_int,
    context: Handle,
    stream: Handle,
    module: Handle,
    functions: HashMap<&'static str, Handle>,
    /// Drafts that networks hold on it, by number.
    pub batches: Mutex<HashMap<u64, Weak<Batch>>>,
    /// Its name and memory.
    pub what: String,
    /// Shared memory that a block may have, in bytes.
    pub block_memory: usize,
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
    driver: Driver,
    device: c_int,
    what: String,
    capability: Capability,
}

impl GpuDevice {
    /// GPU number `number`.
    pub fn new(libraries: &Libraries, number: usize) -> Result<Self, Unusable> {
        let none = || Unusable::absent("needs an NVIDIA GPU and its driver, which are not here");
        let driver = libraries.driver().ok_or_else(none)??;
        let said = |failure: Failure| match failure.result {
            NO_DEVICE => Unusable::absent("needs an NVIDIA GPU: the driver is here and finds none"),
            _ => format!("does not work: the NVIDIA driver says: {failure}").into(),
        };
        let (mut version, mut count, mut device, mut bytes) = (0, 0, 0, 0);
        let mut name = [0; 256];
        // SAFETY: every pointer is one to a variable of the right type, the name's with its length.
        unsafe {
            driver.checked((driver.init)(0)).map_err(said)?;
            driver.checked((driver.version)(&raw mut version)).map_err(said)?;
            if version < OLDEST_DRIVER {
                let (major, minor) = (version / 1000, version % 1000 / 10);
                return Err(
                    format!("needs a driver for CUDA 12.0 or later, and this one is for {major}.{minor}").into()
                );
            }
            driver.checked((driver.count)(&raw mut count)).map_err(said)?;
            if number >= count as usize {
                return Err(format!("has no GPU number {number}: the driver finds {count}, counted from 0").into());
            }
            driver.checked((driver.device)(&raw mut device, number as c_int)).map_err(said)?;
            driver.checked((driver.name)(name.as_mut_ptr(), 255, device)).map_err(said)?;
            driver.checked((driver.total_memory)(&raw mut bytes, device)).map_err(said)?;
        }
        let name: Vec<u8> = name.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8).collect();
        let mut found = Self { driver, device, what: String::new(), capability: (0, 0) };
        found.capability = (found.attribute(CAPABILITY_MAJOR)?, found.attribute(CAPABILITY_MINOR)?);
        let (major, minor) = found.capability;
        let name = String::from_utf8_lossy(&name).into_owned();
        found.what = format!("{name}, {} MiB, compute capability {major}.{minor}", bytes >> 20);
        if major < 8 {
            return Err(format!("needs a GPU of compute capability 8.0 or later, and this is a {}", found.what).into());
        }
        let (major, minor) = (version / 1000, version % 1000 / 10);
        let what = format!("{}, driver for CUDA {major}.{minor}", found.what);
        Ok(Self { what, ..found })
    }

    /// Its name, memory and kind, and its driver.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Its kind.
    pub fn capability(&self) -> Capability {
        self.capability
    }

    fn attribute(&self, number: c_int) -> Result<c_int, String> {
        let mut value = 0;
        // SAFETY: as above.
        let result = unsafe { (self.driver.attribute)(&raw mut value, number, self.device) };
        self.driver.checked(result).map_err(|failure| format!("does not work: {failure}")).map(|()| value)
    }

    /// Loads the kernels.
    pub fn open(self, kernels: Kernels) -> Result<Arc<Gpu>, String> {
        let binary = kernels.binary()?;
        let block_memory = self.attribute(BLOCK_MEMORY)? as usize;
        let Self { driver, device, what, .. } = self;
        let none = std::ptr::null_mut();
        let (stream, module, functions) = (none, none, HashMap::new());
        let (batches, waits, waited) = (Mutex::default(), AtomicU64::new(0), AtomicU64::new(0));
        let mut gpu = Gpu {
            driver,
            device,
            context: none,
            stream,
            module,
            functions,
            batches,
            what,
            block_memory,
            waits,
            waited,
        };
        gpu.start(&binary).map_err(|failure| format!("does not work: {failure}"))?;
        Ok(Arc::new(gpu))
    }
}

impl Gpu {
    fn start(&mut self, binary: &[u8]) -> Result<(), Failure> {
        let driver = &self.driver;
        // SAFETY: every pointer is one to a variable of the right type; the binary is what the compiler made.
        unsafe {
            driver.checked((driver.retain)(&raw mut self.context, self.device))?;
            driver.checked((driver.set_current)(self.context))?;
            // A stream that waits for no other one.
            driver.checked((driver.create_stream)(&raw mut self.stream, 1))?;
            driver.checked((driver.load_module)(&raw mut self.module, binary.as_ptr().cast()))?;
            for (name, _) in kernels::all() {
                let (mut function, text) = (std::ptr::null_mut(), CString::new(name).unwrap_or_default());
                driver.checked((driver.function)(&raw mut function, self.module, text.as_ptr()))?;
                self.functions.insert(name, function);
                if LARGE.iter().any(|begin| name.starts_with(begin)) {
                    driver.checked((driver.set_attribute)(function, DYNAMIC_MEMORY, self.block_memory as c_int))?;
                }
            }
            Ok(())
        }
    }

    /// Where launches and copies take effect, in their order.
    pub fn stream(&self) -> Handle {
        self.stream
    }

    /// Another one, which waits for no other.
    pub fn new_stream(&self) -> Result<Handle, BackendError> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: the pointer is one to a variable.
        self.call("a stream", |driver| unsafe { (driver.create_stream)(&raw mut stream, 1) }).map(|()| stream)
    }

    /// The kernel of this name.
    pub fn function(&self, name: &str) -> Handle {
        self.functions[name]
    }

    /// Calls the driver with this GPU's context.
    pub fn call(&self, what: &str, call: impl FnOnce(&Driver) -> c_int) -> Result<(), BackendError> {
        // SAFETY: the context lives as long as `self`.
        let current = self.driver.checked(unsafe { (self.driver.set_current)(self.context) });
        current
            .and_then(|()| self.driver.checked(call(&self.driver)))
            .map_err(|failure| BackendError::Failed { device: "cuda", what: format!("{what}: {failure}") })
    }

    /// Memory of so many bytes, holding anything; the error is [`BackendError::Memory`] where there is none
    /// left.
    pub fn alloc(self: &Arc<Self>, bytes: usize) -> Result<Buffer, BackendError> {
        let (mut at, bytes) = (0, bytes.max(1));
        // SAFETY: the pointer is one to a variable.
        let result = self.call("memory", |driver| match unsafe { (driver.alloc)(&raw mut at, bytes) } {
            OUT_OF_MEMORY => 0,
            result => result,
        });
        result?;
        if at == 0 {
            return Err(BackendError::Memory { bytes });
        }
        Ok(Buffer { gpu: Arc::clone(self), at, bytes })
    }

    /// Copies from one place in its memory to another, after all that was started.
    pub fn copy(&self, from: Pointer, to: Pointer, bytes: usize) -> Result<(), BackendError> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the driver refuses what is no memory of its own.
        self.call("a copy", |driver| unsafe { (driver.copy)(to, from, bytes, self.stream) })
    }

    /// Waits until all that was launched is done.
    pub fn synchronise(&self) -> Result<(), BackendError> {
        let number = self.waits.fetch_add(1, Ordering::Relaxed) + 1;
        // SAFETY: the stream lives as long as `self`.
        self.call("a wait", |driver| unsafe { (driver.synchronise)(self.stream) })?;
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
        let driver = &self.driver;
        // SAFETY: what was made is given back once, and a null handle is refused.
        unsafe {
            (driver.set_current)(self.context);
            if !self.module.is_null() {
                (driver.unload_module)(self.module);
            }
            if !self.stream.is_null() {
                (driver.destroy_stream)(self.stream);
            }
            if !self.context.is_null() {
                (driver.release)(self.device);
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
        let data = bytes.as_ptr().cast::<c_void>();
        // SAFETY: the bytes lie inside of the buffer; the driver has read pageable memory when it returns.
        self.gpu.call("writing", |driver| unsafe {
            (driver.write)(self.at + from as u64, data, bytes.len(), self.gpu.stream)
        })
    }

    /// Reads values from byte `from` on, after all that was launched.
    pub fn read<T: Plain>(&self, from: usize, values: &mut [T]) -> Result<(), BackendError> {
        let bytes = bytes_of_mut(values);
        self.inside(from, bytes.len())?;
        let data = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: as above; the wait below comes before the values can be used.
        self.gpu.call("reading", |driver| unsafe {
            (driver.read)(data, self.at + from as u64, bytes.len(), self.gpu.stream)
        })?;
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
        let _ = self.gpu.call("memory", |driver| unsafe { (driver.free)(self.at) });
    }
}
