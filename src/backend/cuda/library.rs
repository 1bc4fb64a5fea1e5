//! NVIDIA's driver and its compiler of kernels, looked for at run time: nothing of them is needed to build
//! the program, and nothing but the driver to run it. `cudarc` finds them by their names and panics where a
//! library or a function is missing, so that all are looked for here before.

use std::ffi::c_void;
use std::path::{Path, PathBuf};

use cudarc::driver::result::DriverError;
use cudarc::{driver, nvrtc};
use libloading::Library;

use super::bundle;

/// Functions of the driver that are used. Every driver for CUDA 12.0 or later has them.
const DRIVER: [&str; 32] = [
    "cuCtxSetCurrent", "cuDeviceGet", "cuDeviceGetAttribute", "cuDeviceGetCount", "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRetain", "cuDeviceTotalMem_v2", "cuDriverGetVersion",
    "cuFuncSetAttribute", "cuGetErrorString", "cuGraphDestroy", "cuGraphExecDestroy", "cuGraphInstantiateWithFlags",
    "cuGraphLaunch", "cuInit", "cuLaunchKernelEx", "cuMemAlloc_v2", "cuMemFreeHost", "cuMemFree_v2", "cuMemHostAlloc",
    "cuMemcpyDtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2", "cuModuleGetFunction", "cuModuleLoadData",
    "cuModuleUnload", "cuStreamBeginCapture_v2", "cuStreamCreate", "cuStreamDestroy_v2", "cuStreamEndCapture",
    "cuStreamSynchronize",
];

/// Functions of the compiler that are used.
const COMPILER: [&str; 8] = [
    "nvrtcCompileProgram", "nvrtcCreateProgram", "nvrtcDestroyProgram", "nvrtcGetCUBIN", "nvrtcGetCUBINSize",
    "nvrtcGetProgramLog", "nvrtcGetProgramLogSize", "nvrtcVersion",
];

/// Where the compiler and its work are: names that the system finds, or paths.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Libraries {
    /// The compiler; the first that can be opened. A program can use one only.
    pub compiler: Vec<PathBuf>,
    /// Kernels that are compiled already; the first file that can be used.
    pub bundles: Vec<PathBuf>,
}

impl Default for Libraries {
    fn default() -> Self {
        let program = std::env::current_exe().and_then(std::fs::canonicalize).ok();
        // In the order in which cudarc goes through the names.
        let names = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"];
        Self {
            compiler: names.map(PathBuf::from).into(),
            bundles: program.map(|program| program.with_file_name(bundle::NAME)).into_iter().collect(),
        }
    }
}

/// Looks for the driver; `None` if there is none. The error is the rest of a sentence about the device.
pub fn driver() -> Option<Result<(), String>> {
    // SAFETY: NVIDIA's libraries do nothing when they are loaded but set themselves up.
    let library = unsafe { driver::sys::is_culib_present().then(|| driver::sys::culib()) }?;
    let advice = "install a driver for CUDA 12.0 or later";
    let missing = missing(library, &DRIVER).map(|name| format!("needs a driver that has {name}: {advice}"));
    Some(missing.map_or(Ok(()), Err))
}

/// The compiler, which is there.
pub struct Compiler {
    /// Its name and version.
    pub what: String,
    /// It can use several threads for one program.
    pub splits: bool,
}

impl Libraries {
    /// The compiler; `None` if there is none.
    pub fn compiler(&self) -> Option<Result<Compiler, String>> {
        self.compiler.iter().find_map(|path| Some(Compiler::found(path, preloaded(path)?)))
    }
}

impl Compiler {
    /// The compiler that cudarc finds now that the one of this path is loaded.
    fn found(path: &Path, named: &Library) -> Result<Self, String> {
        let path = path.display();
        // SAFETY: as above.
        let library = unsafe { nvrtc::sys::is_culib_present().then(|| nvrtc::sys::culib()) };
        let library = library.ok_or_else(|| format!("{path} is no libnvrtc: its own name is another one"))?;
        if let Some(name) = missing(library, &COMPILER) {
            return Err(format!("libnvrtc has no {name}"));
        }
        if address(library, COMPILER[0]) != address(named, COMPILER[0]) {
            return Err(format!("another libnvrtc is found before {path}, and a program can use one only"));
        }
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the pointers are ones to variables.
        let known = unsafe { nvrtc::sys::nvrtcVersion(&raw mut major, &raw mut minor) }.result().is_ok();
        let what = if known { format!("NVRTC {major}.{minor}") } else { "NVRTC".to_owned() };
        Ok(Self { what, splits: major >= 13 })
    }
}

/// Loads a library for as long as the program runs, so that it is found by the name that it has. NVRTC looks
/// for a library of its own by name alone: where that lies beside an NVRTC that was named by its path, it is
/// loaded before.
fn preloaded(path: &Path) -> Option<&'static Library> {
    let folder = path.parent().filter(|folder| folder.is_absolute());
    for entry in folder.and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("libnvrtc-builtins.so.") && !name.to_string_lossy().contains(".alt.") {
            // SAFETY: as above.
            std::mem::forget(unsafe { Library::new(entry.path()) });
        }
    }
    // SAFETY: as above.
    unsafe { Library::new(path) }.ok().map(|library| &*Box::leak(Box::new(library)))
}

/// The first of these functions that a library does not have.
fn missing<'a>(library: &Library, functions: &[&'a str]) -> Option<&'a str> {
    functions.iter().copied().find(|function| address(library, function).is_none())
}

fn address(library: &Library, function: &str) -> Option<*const c_void> {
    // SAFETY: nothing is done with the function.
    unsafe { library.get::<*const c_void>(function.as_bytes()) }.ok().map(|found| *found)
}

/// A call that failed, as the driver describes it.
pub fn said(failure: DriverError) -> String {
    let text = failure.error_string().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    format!("{text} (CUDA error {})", failure.0 as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function that is used and not looked for would be a panic where it is missing. The emulator has no
    /// others than those that are used.
    #[test]
    fn all_functions_that_are_used_are_looked_for() {
        let of = |source: &'static str, begin: &str| {
            let functions =
                source.lines().filter_map(|line| line.strip_prefix("API ")?.split_once('(')).map(|(name, _)| name);
            let mut functions: Vec<&str> = functions.filter(|name| name.starts_with(begin)).collect();
            functions.sort_unstable();
            functions
        };
        assert_eq!(of(include_str!("../../../tests/shared/emulator/driver.cpp"), "cu"), DRIVER);
        assert_eq!(of(include_str!("../../../tests/shared/emulator/compiler.cpp"), "nvrtc"), COMPILER);
    }

    #[test]
    fn a_function_that_is_missing_is_named() {
        let program = Library::from(libloading::os::unix::Library::this());
        assert_eq!(missing(&program, &["malloc", "no_such_function", "none_either"]), Some("no_such_function"));
        assert_eq!(missing(&program, &["malloc", "free"]), None);
    }
}
