//! From the sources of the kernels to what the driver loads, kept on disk: they are compiled once for a kind
//! of GPU.

use std::ffi::{CString, c_char};
use std::io::Write;
use std::path::Path;

use super::kernels::SOURCES;
use super::library::{Compiler, Handle, Libraries};
use crate::{files, hash};

/// Options that decide about results; the architecture is added.
const OPTIONS: &[&str] = &["--std=c++17", "--fmad=false", "--restrict"];

/// How the compiler calls the GPUs of a capability. Of 9.0 there is but one kind: it may use all that this
/// one has.
fn architecture((major, minor): (i32, i32)) -> String {
    format!("--gpu-architecture=sm_{major}{minor}{}", if (major, minor) == (9, 0) { "a" } else { "" })
}

/// The kernels for GPUs of this compute capability: from the folder `cache`, or compiled and put there. The
/// error is the rest of a sentence about the device.
pub fn binary(libraries: &Libraries, capability: (i32, i32), cache: Option<&Path>) -> Result<Vec<u8>, String> {
    let source = SOURCES.concat();
    let architecture = architecture(capability);
    let name = format!(
        "{:016x}.cubin",
        hash::of([&source, &architecture, &OPTIONS.concat()].map(String::as_bytes).concat().as_slice())
    );
    let file = cache.map(|folder| folder.join(name));
    if let Some(kept) =
        file.as_ref().and_then(|file| files::read(file, files::DATA).ok()).filter(|bytes| !bytes.is_empty())
    {
        return Ok(kept);
    }
    let compiler = libraries.compiler().ok_or(
        "has nothing that compiles its kernels: install the CUDA toolkit's libnvrtc (version 12 or later), for example \
         with `pip install nvidia-cuda-nvrtc`, and let LD_LIBRARY_PATH name its folder",
    )??;
    let (compiled, _) = compiler.compiled(&source, &[&architecture])?;
    if let Some(file) = file {
        // What cannot be kept is compiled again.
        let _ = files::replace(&file, |error| error, |file| file.write_all(&compiled));
    }
    Ok(compiled)
}

impl Compiler {
    /// A binary, and what the compiler says.
    fn compiled(&self, source: &str, more: &[&str]) -> Result<(Vec<u8>, String), String> {
        let options = [OPTIONS, more].concat();
        let text = |text: &str| CString::new(text).map_err(|_| "has kernels with a zero byte".to_owned());
        let (source, name) = (text(source)?, text("kernels.cu")?);
        let options = options.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let nothing = std::ptr::null();
        let mut program: Handle = std::ptr::null_mut();
        // SAFETY: all texts end with a zero byte and outlive the calls; buffers are as large as the compiler
        // said.
        unsafe {
            let created = (self.create)(&raw mut program, source.as_ptr(), name.as_ptr(), 0, nothing, nothing);
            if created != 0 {
                return Err(format!("cannot compile its kernels (NVRTC error {created})"));
            }
            let result = (self.compile)(program, options.len() as i32, options.as_ptr());
            let bytes = |size: unsafe extern "C" fn(Handle, *mut usize) -> i32,
                         get: unsafe extern "C" fn(Handle, *mut c_char) -> i32| {
                let mut len = 0;
                let mut bytes = if size(program, &raw mut len) == 0 { vec![0u8; len] } else { Vec::new() };
                let got = bytes.is_empty() || get(program, bytes.as_mut_ptr().cast()) == 0;
                if got { bytes } else { Vec::new() }
            };
            let log = bytes(self.log_size, self.log);
            let binary = bytes(self.binary_size, self.binary);
            (self.destroy)(&raw mut program);
            let log = String::from_utf8_lossy(&log).into_owned();
            if result == 0 && !binary.is_empty() {
                return Ok((binary, log));
            }
            let first = log.lines().find(|line| line.contains("error")).unwrap_or("no message");
            Err(format!("cannot compile its kernels (NVRTC error {result}: {first})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Registers of a GPU's unit, of which two blocks of 256 threads or three of 128 shall fit.
    const REGISTERS: u32 = 65536;

    /// A GPU of the same major and a higher minor number runs what is compiled for the lower one.
    const CAPABILITIES: [(i32, i32); 6] = [(8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0)];

    /// `LIBNVRTC` names the compiler: `.ci/run` installs the package `nvidia-cuda-nvrtc`.
    #[test]
    fn kernels_compile_for_every_kind_of_gpu_without_spills() {
        let Some(path) = std::env::var_os("LIBNVRTC") else {
            return crate::skip::as_it_cannot("LIBNVRTC names no compiler", "registers of the kernels");
        };
        let libraries = Libraries { compiler: vec![PathBuf::from(path)], ..Libraries::default() };
        let compiler = libraries.compiler().expect("a library").expect("a compiler");
        for kind in CAPABILITIES.map(architecture) {
            let (binary, log) =
                compiler.compiled(&SOURCES.concat(), &[&kind, "--ptxas-options=-v"]).expect("compiled kernels");
            assert!(binary.starts_with(b"\x7fELF"), "{kind}");
            let spills = log.matches("0 bytes spill stores, 0 bytes spill loads").count();
            let of_line = |line: &str| line.split_once("Used ")?.1.split_once(" registers")?.0.parse::<u32>().ok();
            let registers: Vec<u32> = log.lines().filter_map(of_line).collect();
            let kernels = super::super::kernels::NAMES.len();
            assert_eq!((spills, registers.len()), (kernels, kernels), "{kind}: {log}");
            let of_line =
                |line: &str| Some(line.split_once("Compiling entry function '")?.1.split_once('\'')?.0.to_owned());
            for (name, used) in log.lines().filter_map(of_line).zip(registers) {
                let threads =
                    super::super::kernels::THREADS.iter().find(|(known, _)| *known == name).expect("a kernel").1;
                let blocks = if threads > 128 { 2 } else { 3 };
                assert!(used * threads * blocks <= REGISTERS, "{kind}: {name} has {used}: {log}");
            }
        }
    }
}
