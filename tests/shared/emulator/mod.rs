//! The CUDA backend without a GPU: the very sources of `kernels/`, compiled by the system's C++ compiler as a
//! library that looks to the program like NVIDIA's driver and compiler. Every thread of a block is a fibre;
//! device number N runs them in another order than the others.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use bass_tui::backend::cuda::{self, Gpu, Libraries, SOURCE};

/// Devices of the emulator, each with its own order of threads.
pub const ORDERS: usize = 5;

/// Names the library in place of the one that is built.
const LIBRARY_VARIABLE: &str = "EMULATOR_LIBRARY";

/// The first of two devices that do their work only when somebody waits for it.
#[allow(dead_code, reason = "not every test program does")]
pub const LATE: usize = 3;

/// The emulator as a library.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    // Tests under a sanitizer are given theirs: `sanitized`.
    let given = || std::env::var_os(LIBRARY_VARIABLE).map(PathBuf::from);
    LIBRARY.get_or_init(|| given().or_else(|| built("", &SOURCE, &["-O2"]))).as_deref()
}

/// Counts of what a thread has asked the driver for: as in `driver.h`.
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
    let library = library().expect("an emulator");
    // SAFETY: the same library as the one that is in use, and a function of it.
    unsafe {
        let library = libloading::Library::new(library).expect("the emulator");
        let count = library.get::<unsafe extern "C" fn(*mut Counts) -> i32>(b"emulatorCounts").expect("a function");
        count(&raw mut counts);
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

/// The emulator's device with this number, or the real one; `None`, and a sentence, where the emulator cannot
/// be compiled.
pub fn gpu(number: usize) -> Option<Arc<Gpu>> {
    if let Some(number) = real() {
        // One for all tests: to make it anew takes longer than most of them.
        static GPU: OnceLock<Arc<Gpu>> = OnceLock::new();
        let made = GPU.get_or_init(|| {
            cuda::open(&Libraries::default(), number, cache().as_deref()).expect("the GPU that TEST_GPU names")
        });
        return Some(Arc::clone(made));
    }
    let Some(library) = library() else {
        super::skip::for_want_of("g++ on x86-64", "the kernels run in an emulator, which is compiled with it");
        return None;
    };
    Some(cuda::open(&libraries(library), number, None).expect("a device of the emulator"))
}

/// Runs tests of this program, by the beginning of their names, over kernels that `AddressSanitizer` watches:
/// a process of their own, since its library has to be the first. What they say, and whether they passed;
/// `None` where it cannot be built.
#[allow(dead_code, reason = "not every test program does")]
pub fn sanitized(name: &str, kernels: &str, tests: &[&str]) -> Option<(String, bool)> {
    let library = built(name, kernels, &["-O1", "-g", "-fsanitize=address"])?;
    let found = Command::new("g++").arg("-print-file-name=libasan.so").output().ok()?;
    // A bare name is what was asked for: there is none.
    let runtime = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
    let runtime = runtime.is_absolute().then(|| std::fs::canonicalize(runtime).ok()).flatten()?;
    let done = Command::new(std::env::current_exe().expect("the program of tests"))
        .args(tests)
        .env("LD_PRELOAD", runtime)
        .env("ASAN_OPTIONS", "detect_leaks=0,abort_on_error=0")
        .env(LIBRARY_VARIABLE, library)
        .output()
        .expect("a process");
    let said = [done.stdout, done.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    Some((said, done.status.success()))
}

/// The emulator in place of NVIDIA's libraries.
pub fn libraries(library: &Path) -> Libraries {
    Libraries { driver: vec![library.to_owned()], compiler: vec![library.to_owned()], bundles: Vec::new() }
}

/// The emulator with these kernels, kept beside the program of tests; `None` without a compiler, or on a CPU
/// in whose assembly fibres are not written.
pub fn built(name: &str, kernels: &str, options: &[&str]) -> Option<PathBuf> {
    if cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shared/emulator");
    let program = std::env::current_exe().expect("the program of tests");
    let mut hash = DefaultHasher::new();
    (kernels, options).hash(&mut hash);
    for part in ["device.h", "scheduler.h", "driver.h", "unit.cpp"] {
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
        .args([
            "-std=c++17", "-fPIC", "-shared", "-march=native", "-ffp-contract=off", "-Wall", "-Wno-unknown-pragmas",
            "-ftls-model=initial-exec",
        ])
        .args(options)
        .arg("-I")
        .arg(folder.path())
        .arg(here.join("unit.cpp"))
        .arg("-o")
        .arg(&made)
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&compiler.stderr);
    assert!(compiler.status.success() && said.is_empty(), "the kernels are not compiled without a word:\n{said}");
    std::fs::rename(&made, &to).expect("moved");
    Some(to)
}
