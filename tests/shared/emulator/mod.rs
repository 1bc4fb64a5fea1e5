//! The CUDA backend without a GPU: the very sources of `kernels/`, compiled by the system's C++ compiler as a library
//! that looks to the program like NVIDIA's driver and compiler. Every thread of a block is a fibre; device number N
//! runs them in another order than the others.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use bass_tui::backend::cuda::{self, Gpu, Libraries, SOURCES};

/// Devices of the emulator, each with its own order of threads.
pub const ORDERS: usize = 5;

/// The emulator's device with this number; `None`, and a sentence, where it cannot be compiled.
pub fn gpu(number: usize) -> Option<Arc<Gpu>> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let Some(library) = LIBRARY.get_or_init(|| built("", &SOURCES.concat(), &["-O2"])) else {
        super::skip::for_want_of("g++ on x86-64", "the kernels run in an emulator, which is compiled with it");
        return None;
    };
    Some(cuda::open(&libraries(library), number, None).expect("a device of the emulator"))
}

/// The emulator in place of NVIDIA's libraries.
pub fn libraries(library: &Path) -> Libraries {
    Libraries { driver: vec![library.to_owned()], compiler: vec![library.to_owned()] }
}

/// The emulator with these kernels, kept beside the program of tests; `None` without a compiler, or on a CPU in
/// whose assembly fibres are not written.
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
            "-std=c++17",
            "-fPIC",
            "-shared",
            "-march=native",
            "-ffp-contract=off",
            "-Wall",
            "-Wno-unknown-pragmas",
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
