//! The CUDA backend without a GPU: the very sources of `kernels/`, compiled by the system's C++ compiler as a
//! module that a driver of tests opens. Every thread of a block is a fibre; device number N runs them in
//! another order than the others.
//!
//! The driver is found by its name, as NVIDIA's is. A program has one: where a test has found NVIDIA's before,
//! no test runs in the emulator.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use bass_tui::backend::cuda::{self, Gpu, Libraries, SOURCE};
use libloading::Library;

/// Devices of the emulator, each with its own order of threads.
pub const ORDERS: usize = 5;

/// Orders under which a check is repeated. What is touched does not depend on them: one under a sanitizer.
#[allow(dead_code, reason = "not every test program does")]
pub fn orders() -> usize {
    if std::env::var_os(MODULE_VARIABLE).is_some() { 1 } else { ORDERS }
}

/// All of its devices, with the version of its driver.
const ALL: (i32, i32) = (7, 13000);

/// Names the module in place of the one that is built.
const MODULE_VARIABLE: &str = "EMULATOR_MODULE";

/// The first of two devices that do their work only when somebody waits for it.
#[allow(dead_code, reason = "not every test program does")]
pub const LATE: usize = 3;

/// The driver, loaded so that it is found by its name.
fn driver() -> Option<&'static Library> {
    static DRIVER: OnceLock<Option<Library>> = OnceLock::new();
    let loaded = || {
        // SAFETY: the library does nothing when it is loaded.
        Some(unsafe { Library::new(driver_file()?) }.expect("the driver of the emulator"))
    };
    DRIVER.get_or_init(loaded).as_ref()
}

/// Where the driver is.
pub fn driver_file() -> Option<PathBuf> {
    compiled("-driver", &["module.h", "driver.cpp"], "", &["-O2", "-Wl,-soname,libcuda.so"])
}

/// A compiler of kernels, all of whose binaries are the module of the kernels.
#[allow(dead_code, reason = "not every test program does")]
pub fn compiler() -> Option<PathBuf> {
    let module = format!("-DMODULE=\"{}\"", module()?.display());
    compiled("-compiler", &["compiler.cpp"], "", &["-O2", "-Wl,-soname,libnvrtc.so", &module])
}

/// The kernels as a module.
fn module() -> Option<&'static Path> {
    static MODULE: OnceLock<Option<PathBuf>> = OnceLock::new();
    // Tests under a sanitizer are given theirs: `sanitized`.
    let given = || std::env::var_os(MODULE_VARIABLE).map(PathBuf::from);
    MODULE.get_or_init(|| given().or_else(|| built("", &SOURCE, &["-O2"]))).as_deref()
}

/// Result of `action`, in which this thread finds so many devices and a driver of this version.
pub fn pretending<T>((devices, version): (i32, i32), action: impl FnOnce() -> T) -> T {
    let pretend = |devices: i32, version: i32| {
        let driver = driver().expect("an emulator");
        // SAFETY: a function of the driver with these arguments.
        unsafe {
            let pretends = driver.get::<unsafe extern "C" fn(i32, i32) -> i32>(b"emulatorPretends");
            pretends.expect("a function")(devices, version);
        }
    };
    pretend(devices, version);
    let result = action();
    pretend(0, 0);
    result
}

/// Counts of what a thread has asked the driver for: as in `driver.cpp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counts {
    /// Kernels, one by one.
    pub launches: u64,
    /// Graphs.
    pub graph_launches: u64,
    pub graphs_made: u64,
    pub graphs_ended: u64,
    /// Waits of the host.
    pub waits: u64,
    /// Copies.
    pub to_device: u64,
    pub to_host: u64,
}

/// Counts of this thread since they were taken last.
#[allow(dead_code, reason = "not every test program does")]
pub fn counts() -> Counts {
    let mut counts = Counts::default();
    let driver = driver().expect("an emulator");
    // SAFETY: a function of the driver with this argument.
    unsafe {
        let count = driver.get::<unsafe extern "C" fn(*mut Counts) -> i32>(b"emulatorCounts");
        count.expect("a function")(&raw mut counts);
    }
    counts
}

/// Names a real GPU by its number: tests run on that one instead.
pub const GPU_VARIABLE: &str = "TEST_GPU";

/// Names a folder beside which kernels for a real GPU are kept, so that they are compiled once.
const CACHE_VARIABLE: &str = "TEST_GPU_CACHE";

/// The folder that it names.
#[allow(dead_code, reason = "not every test program does")]
pub fn cache() -> Option<PathBuf> {
    std::env::var_os(CACHE_VARIABLE).map(PathBuf::from)
}

/// Number of the real GPU that tests run on.
pub fn real() -> Option<usize> {
    std::env::var(GPU_VARIABLE).ok().map(|number| number.parse().expect("TEST_GPU is a number"))
}

/// Whether devices are the emulator's, which counts launches and has little memory; a sentence where a GPU is.
#[allow(dead_code, reason = "not every test program does")]
pub fn is_emulated() -> bool {
    if real().is_some() {
        super::skip::as_it_cannot("TEST_GPU names a GPU", "what it launches, and where its memory ends");
    }
    real().is_none()
}

/// The emulator's device with this number, or the real one; `None`, and a sentence, where the emulator cannot
/// be compiled.
pub fn gpu(number: usize) -> Option<Arc<Gpu>> {
    static LIBRARIES: OnceLock<Option<Libraries>> = OnceLock::new();
    if let Some(number) = real() {
        // One for all tests: to make it anew takes longer than most of them.
        static GPU: OnceLock<Arc<Gpu>> = OnceLock::new();
        let made = GPU.get_or_init(|| {
            cuda::open(&Libraries::default(), number, cache().as_deref()).expect("the GPU that TEST_GPU names")
        });
        return Some(Arc::clone(made));
    }
    let Some(libraries) = LIBRARIES.get_or_init(|| libraries(module()?)) else {
        super::skip::for_want_of("g++ on x86-64", "the kernels run in an emulator, which is compiled with it");
        return None;
    };
    if is_unused() {
        super::skip::as_it_cannot("NVIDIA's driver is in use", "kernels run in an emulator");
        return None;
    }
    Some(opened(libraries, number))
}

/// The program has found another driver before.
fn is_unused() -> bool {
    let address = |library: &Library| {
        // SAFETY: nothing is done with the function.
        unsafe { library.get::<*const std::ffi::c_void>(b"cuInit") }.map(|function| *function).expect("a driver")
    };
    // SAFETY: a driver is there: the one that was loaded here.
    driver().is_some_and(|own| address(own) != address(unsafe { cudarc::driver::sys::culib() }))
}

/// The emulator's device with this number and these kernels.
pub fn opened(libraries: &Libraries, number: usize) -> Arc<Gpu> {
    pretending(ALL, || cuda::open(libraries, number, None)).expect("a device of the emulator")
}

/// Runs tests of this program in a process of their own, by the beginning of their names.
#[allow(dead_code, reason = "not every test program does")]
pub fn alone<'a>(tests: &[&str], variables: impl IntoIterator<Item = (&'a str, PathBuf)>) -> Output {
    let own = std::env::current_exe().expect("the program of tests");
    Command::new(own).args(tests).envs(variables).output().expect("a process")
}

/// Runs tests of this program, by the beginning of their names, over kernels that `AddressSanitizer` watches:
/// a process of their own, since its library has to be the first. What they say, and whether they passed;
/// `None` where it cannot be built.
#[allow(dead_code, reason = "not every test program does")]
pub fn sanitized(name: &str, kernels: &str, tests: &[&str]) -> Option<(String, bool)> {
    let module = built(name, kernels, &["-O1", "-g", "-fsanitize=address"])?;
    let found = Command::new("g++").arg("-print-file-name=libasan.so").output().ok()?;
    // A bare name is what was asked for: there is none.
    let runtime = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
    let runtime = runtime.is_absolute().then(|| std::fs::canonicalize(runtime).ok()).flatten()?;
    let options = PathBuf::from("detect_leaks=0,abort_on_error=0");
    let done = alone(tests, [("LD_PRELOAD", runtime), ("ASAN_OPTIONS", options), (MODULE_VARIABLE, module)]);
    let said = [done.stdout, done.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    Some((said, done.status.success()))
}

/// The emulator in place of NVIDIA's libraries, with the kernels of a module.
pub fn libraries(module: &Path) -> Option<Libraries> {
    driver()?;
    // The driver reads a path up to its end, a zero byte.
    let binary = [module.as_os_str().as_encoded_bytes(), b"\0"].concat();
    let (bundle, whole) = (module.with_extension("bundle"), cuda::bundled(&[((8, 0), binary)]));
    if std::fs::read(&bundle).ok().as_ref() != Some(&whole) {
        let file = tempfile::NamedTempFile::new_in(module.parent()?).expect("a file");
        std::fs::write(file.path(), whole).expect("written");
        file.persist(&bundle).expect("moved");
    }
    Some(Libraries { compiler: Vec::new(), bundles: vec![bundle] })
}

/// These kernels as a module.
pub fn built(name: &str, kernels: &str, options: &[&str]) -> Option<PathBuf> {
    let options = [&["-march=native", "-ftls-model=initial-exec"], options].concat();
    compiled(name, &["module.h", "device.h", "scheduler.h", "unit.cpp"], kernels, &options)
}

/// A library of the emulator, made of the last of its parts and kept beside the program of tests; `None`
/// without a compiler, or on a CPU in whose assembly fibres are not written.
fn compiled(name: &str, parts: &[&str], kernels: &str, options: &[&str]) -> Option<PathBuf> {
    if cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shared/emulator");
    let program = std::env::current_exe().expect("the program of tests");
    let mut hash = DefaultHasher::new();
    (kernels, options).hash(&mut hash);
    for part in parts {
        std::fs::read(here.join(part)).expect("a part of the emulator").hash(&mut hash);
    }
    let to = program.with_file_name(format!("emulator{name}-{:016x}.so", hash.finish()));
    if to.exists() {
        return Some(to);
    }
    let folder = tempfile::tempdir_in(program.parent().expect("its folder")).expect("a folder");
    std::fs::write(folder.path().join("kernels.inc"), kernels).expect("written");
    let made = folder.path().join("emulator.so");
    let compiler = Command::new("g++")
        .args(["-std=c++17", "-fPIC", "-shared", "-ffp-contract=off", "-Wall", "-Wno-unknown-pragmas"])
        .args(options)
        .arg("-I")
        .arg(folder.path())
        .arg(here.join(parts.last()?))
        .arg("-o")
        .arg(&made)
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&compiler.stderr);
    assert!(compiler.status.success() && said.is_empty(), "the emulator is not compiled without a word:\n{said}");
    std::fs::rename(&made, &to).expect("moved");
    Some(to)
}
