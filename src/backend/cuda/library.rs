//! The driver and the compiler of kernels, as far as they are used: functions found at run time in NVIDIA's
//! libraries, so that nothing of them is needed to build the program, and nothing but the driver to run it.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

use libloading::Library;

use super::bundle;

/// An opaque handle.
pub type Handle = *mut c_void;

/// A struct of functions and how they are found.
macro_rules! library {
    ($(#[$doc:meta])* $name:ident { $($function:ident: $symbol:literal ($($argument:ty),*)),* $(,)? }) => {
        $(#[$doc])*
        pub struct $name {
            $(pub $function: unsafe extern "C" fn($($argument),*) -> c_int,)*
            /// The library of the functions, kept loaded.
            _library: Library,
        }

        impl $name {
            /// Finds all functions; the error is the rest of a sentence that begins with the library.
            fn new(library: Library) -> Result<Self, String> {
                $(
                    // SAFETY: the functions have these types in every version since 12.0.
                    let found = unsafe { library.get::<unsafe extern "C" fn($($argument),*) -> c_int>($symbol.as_bytes()) };
                    let $function = *found.map_err(|_| format!("has no {}", $symbol))?;
                )*
                Ok(Self { $($function,)* _library: library })
            }
        }
    };
}

library! {
    /// The driver (`libcuda`).
    Driver {
        init: "cuInit"(c_uint),
        version: "cuDriverGetVersion"(*mut c_int),
        count: "cuDeviceGetCount"(*mut c_int),
        device: "cuDeviceGet"(*mut c_int, c_int),
        name: "cuDeviceGetName"(*mut c_char, c_int, c_int),
        total_memory: "cuDeviceTotalMem_v2"(*mut usize, c_int),
        attribute: "cuDeviceGetAttribute"(*mut c_int, c_int, c_int),
        retain: "cuDevicePrimaryCtxRetain"(*mut Handle, c_int),
        release: "cuDevicePrimaryCtxRelease_v2"(c_int),
        set_current: "cuCtxSetCurrent"(Handle),
        error_text: "cuGetErrorString"(c_int, *mut *const c_char),
        alloc: "cuMemAlloc_v2"(*mut u64, usize),
        free: "cuMemFree_v2"(u64),
        write: "cuMemcpyHtoDAsync_v2"(u64, *const c_void, usize, Handle),
        read: "cuMemcpyDtoHAsync_v2"(*mut c_void, u64, usize, Handle),
        copy: "cuMemcpyDtoDAsync_v2"(u64, u64, usize, Handle),
        alloc_host: "cuMemAllocHost_v2"(*mut *mut c_void, usize),
        free_host: "cuMemFreeHost"(*mut c_void),
        create_stream: "cuStreamCreate"(*mut Handle, c_uint),
        destroy_stream: "cuStreamDestroy_v2"(Handle),
        synchronise: "cuStreamSynchronize"(Handle),
        begin_capture: "cuStreamBeginCapture_v2"(Handle, c_int),
        end_capture: "cuStreamEndCapture"(Handle, *mut Handle),
        instantiate: "cuGraphInstantiateWithFlags"(*mut Handle, Handle, u64),
        launch_graph: "cuGraphLaunch"(Handle, Handle),
        destroy_graph: "cuGraphDestroy"(Handle),
        end_graph: "cuGraphExecDestroy"(Handle),
        load_module: "cuModuleLoadData"(*mut Handle, *const c_void),
        unload_module: "cuModuleUnload"(Handle),
        function: "cuModuleGetFunction"(*mut Handle, Handle, *const c_char),
        set_attribute: "cuFuncSetAttribute"(Handle, c_int, c_int),
        launch: "cuLaunchKernel"(
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut Handle, *mut Handle
        ),
    }
}

library! {
    /// The compiler of kernels (`libnvrtc`).
    Compiler {
        version: "nvrtcVersion"(*mut c_int, *mut c_int),
        create: "nvrtcCreateProgram"(
            *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
        ),
        destroy: "nvrtcDestroyProgram"(*mut Handle),
        compile: "nvrtcCompileProgram"(Handle, c_int, *const *const c_char),
        log_size: "nvrtcGetProgramLogSize"(Handle, *mut usize),
        log: "nvrtcGetProgramLog"(Handle, *mut c_char),
        binary_size: "nvrtcGetCUBINSize"(Handle, *mut usize),
        binary: "nvrtcGetCUBIN"(Handle, *mut c_char),
    }
}

/// Where the libraries are: names that the system finds, or paths.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Libraries {
    /// The driver; the first that can be opened.
    pub driver: Vec<PathBuf>,
    /// The compiler; the first that can be opened.
    pub compiler: Vec<PathBuf>,
    /// Kernels that are compiled already; the first file that can be used.
    pub bundles: Vec<PathBuf>,
}

impl Default for Libraries {
    fn default() -> Self {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
        let program = std::env::current_exe().and_then(std::fs::canonicalize).ok();
        Self {
            bundles: program.map(|program| program.with_file_name(bundle::NAME)).into_iter().collect(),
            driver: paths(&["libcuda.so.1", "libcuda.so"]),
            compiler: paths(&["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"]),
        }
    }
}

impl Libraries {
    /// The driver; `None` if there is none.
    pub fn driver(&self) -> Option<Result<Driver, String>> {
        open(&self.driver).map(|library| Driver::new(library).map_err(|why| format!("the NVIDIA driver {why}")))
    }

    /// The compiler; `None` if there is none.
    pub fn compiler(&self) -> Option<Result<Compiler, String>> {
        open(&self.compiler).map(|library| Compiler::new(library).map_err(|why| format!("libnvrtc {why}")))
    }
}

fn open(paths: &[PathBuf]) -> Option<Library> {
    paths.iter().find_map(|path| {
        builtins_beside(path);
        // SAFETY: NVIDIA's libraries do nothing when they are loaded but set themselves up.
        unsafe { Library::new(path) }.ok()
    })
}

/// NVRTC looks for a library of its own by name alone. If it lies beside an NVRTC that was named by its path,
/// it is loaded before.
fn builtins_beside(path: &Path) {
    let Some(folder) = path.parent().filter(|folder| folder.is_absolute()) else { return };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("libnvrtc-builtins.so.") && !name.to_string_lossy().contains(".alt.") {
            // SAFETY: as above. It stays loaded as long as the program runs.
            std::mem::forget(unsafe { Library::new(entry.path()) });
        }
    }
}

impl Driver {
    /// Turns a function's result into a [`Failure`], unless it is success.
    pub fn checked(&self, result: c_int) -> Result<(), Failure> {
        if result == 0 {
            return Ok(());
        }
        let mut text = std::ptr::null();
        // SAFETY: the text is a constant of the driver.
        let known = unsafe { (self.error_text)(result, &raw mut text) } == 0 && !text.is_null();
        // SAFETY: as above.
        let text = if known { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() } else { String::new() };
        Err(Failure { result, text })
    }
}

/// A call that failed, as the driver describes it.
#[derive(Debug)]
pub struct Failure {
    /// Its number.
    pub result: c_int,
    /// Its text.
    pub text: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (CUDA error {})", self.text, self.result)
    }
}

/// There is no memory.
pub const OUT_OF_MEMORY: c_int = 2;
/// There is a driver, and nothing that it drives.
pub const NO_DEVICE: c_int = 100;
