//! From the sources of the kernels to what the driver loads, kept on disk: they are compiled once for a kind
//! of GPU.

use std::ffi::CString;
use std::io::Write;
use std::path::{Path, PathBuf};

use cudarc::nvrtc::{result, sys};

use super::bundle::{self, Bundle, Capability};
use super::kernels::SOURCE;
use super::library::{Compiler, Libraries};
use crate::{files, hash};

/// Options that decide about results; the architecture is added.
const OPTIONS: &[&str] = &["--std=c++17", "--fmad=false", "--restrict"];

/// The compiler takes all cores: 34 s on two of them where one takes 58 (NVRTC 13.0, capability 8.0).
const SPLIT: &str = "--split-compile=0";

/// How the compiler calls the GPUs of a capability. Of 9.0 there is but one kind: it may use all that this
/// one has.
fn architecture((major, minor): Capability) -> String {
    format!("--gpu-architecture=sm_{major}{minor}{}", if (major, minor) == (9, 0) { "a" } else { "" })
}

/// The hash of what is compiled, whatever it is compiled for.
fn hash_of_kernels() -> u64 {
    hash::of([SOURCE.as_bytes(), OPTIONS.concat().as_bytes()].concat().as_slice())
}

/// Where the kernels for a GPU come from: where they were kept, the compiler, or a bundle. The first that is
/// there is taken.
pub struct Kernels {
    capability: Capability,
    /// Where compiled ones are kept.
    kept: Option<PathBuf>,
    compiler: Option<Result<Compiler, String>>,
    /// Where one is, and the kernels for this GPU.
    bundle: Option<(PathBuf, Vec<u8>)>,
    /// Faults of bundles.
    faults: Vec<String>,
}

/// Advice where there is no compiler: install one.
const ADVICE: &str = "install the CUDA toolkit's libnvrtc (version 12 or later), for example with `pip install \
                      nvidia-cuda-nvrtc`, and let LD_LIBRARY_PATH name its folder";

impl Kernels {
    /// Looks for the kernels for GPUs of this compute capability; compiled ones are kept in the folder
    /// `cache`. Nothing is compiled yet. The error is the rest of a sentence about the device.
    pub fn find(libraries: &Libraries, capability: Capability, cache: Option<&Path>) -> Result<Self, String> {
        let of_this = hash::of(format!("{:016x}{}", hash_of_kernels(), architecture(capability)).as_bytes());
        let kept = cache.map(|folder| folder.join(format!("{of_this:016x}.cubin")));
        let mut found = Self { capability, kept, compiler: None, bundle: None, faults: Vec::new() };
        if found.is_kept() {
            return Ok(found);
        }
        found.compiler = libraries.compiler();
        let places = libraries.bundles.iter().cloned().chain(cache.map(|folder| folder.join(bundle::NAME)));
        for path in places {
            let of_this = Bundle::read(&path, hash_of_kernels())
                .and_then(|bundle| bundle.map(|bundle| bundle.binary(capability).map(<[u8]>::to_vec)).transpose());
            match of_this {
                Ok(Some(binary)) => {
                    found.bundle = Some((path, binary));
                    break;
                }
                Ok(None) => {}
                Err(why) => found.faults.push(format!("{} {why}", path.display())),
            }
        }
        if found.bundle.is_none() && !matches!(found.compiler, Some(Ok(_))) {
            return Err(found.nothing());
        }
        Ok(found)
    }

    fn is_kept(&self) -> bool {
        let size = |file: &PathBuf| file.metadata().ok().map(|data| data.len());
        self.kept.as_ref().and_then(size).is_some_and(|size| size > 0)
    }

    /// Reasons why there are no kernels.
    fn nothing(&self) -> String {
        let compiler = match &self.compiler {
            Some(Err(why)) => format!("cannot compile its kernels ({why}): {ADVICE}"),
            _ => format!("has nothing that compiles its kernels: {ADVICE}"),
        };
        let name = bundle::NAME;
        let bundle = format!("put the file {name} of this program's release beside the program");
        [vec![format!("{compiler}, or {bundle}")], self.faults.clone()].concat().join("; ")
    }

    /// Origin of the kernels, for people.
    pub fn what(&self) -> String {
        match (&self.compiler, &self.bundle) {
            _ if self.is_kept() => "kernels compiled already".to_owned(),
            (Some(Ok(compiler)), _) => format!("kernels compiled by {} when a model is loaded", compiler.what),
            (_, Some((path, _))) => format!("kernels of {}", path.display()),
            _ => self.nothing(),
        }
    }

    /// The kernels, compiled where they are not kept. The error is the rest of a sentence about the device.
    pub fn binary(self) -> Result<Vec<u8>, String> {
        let kept = self.kept.as_ref().and_then(|file| files::read(file, files::DATA).ok());
        if let Some(kept) = kept.filter(|bytes| !bytes.is_empty()) {
            return Ok(kept);
        }
        let compiled = match &self.compiler {
            Some(Ok(compiler)) => compiler.compiled(&SOURCE, &[&architecture(self.capability)]),
            _ => Err(self.nothing()),
        };
        match (compiled, self.bundle) {
            (Ok((compiled, _)), _) => {
                if let Some(file) = self.kept {
                    // A binary that cannot be kept is compiled again.
                    let _ = files::replace(&file, |error| error, |file| file.write_all(&compiled));
                }
                Ok(compiled)
            }
            // An old compiler does not know new GPUs.
            (Err(_), Some((_, binary))) => Ok(binary),
            (Err(why), None) => Err(why),
        }
    }
}

/// Kinds of GPU that a bundle has kernels for. A GPU of the same major and a higher minor number runs kernels
/// that are compiled for the lower one.
pub const CAPABILITIES: [Capability; 6] = [(8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0)];

/// The kernels for every kind of GPU as a file for machines without a compiler.
pub fn make_bundle(libraries: &Libraries) -> Result<Vec<u8>, String> {
    let compiler = libraries.compiler().ok_or_else(|| format!("there is no compiler of kernels: {ADVICE}"))??;
    let compiled = CAPABILITIES.map(|capability| {
        let (binary, _) = compiler.compiled(&SOURCE, &[&architecture(capability)])?;
        Ok::<_, String>((capability, binary))
    });
    let compiled = compiled.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(bundled(&compiled))
}

/// The file of kernels that are compiled already.
pub fn bundled(compiled: &[(Capability, Vec<u8>)]) -> Vec<u8> {
    bundle::written(hash_of_kernels(), compiled)
}

impl Compiler {
    /// A binary, and what the compiler says.
    fn compiled(&self, source: &str, more: &[&str]) -> Result<(Vec<u8>, String), String> {
        let source = CString::new(source).map_err(|_| "has kernels with a zero byte".to_owned())?;
        let failed = |failure: result::NvrtcError, why: &str| {
            format!("cannot compile its kernels ({}: error {}{why})", self.what, failure.0 as u32)
        };
        let program = result::create_program(&source, Some(c"kernels.cu")).map_err(|failure| failed(failure, ""))?;
        // SAFETY: the program is one of the compiler's until it is given back, once; the buffer has the size that
        // the compiler said.
        unsafe {
            let split = if self.splits { &[SPLIT][..] } else { &[] };
            let compiled = result::compile_program(program, &[OPTIONS, split, more].concat());
            let log = result::get_program_log(program).unwrap_or_default();
            let log: Vec<u8> = log.into_iter().map(|byte| byte as u8).collect();
            let log = String::from_utf8_lossy(&log).into_owned();
            let binary = compiled.and_then(|()| {
                let mut len = 0;
                sys::nvrtcGetCUBINSize(program, &raw mut len).result()?;
                if len == 0 {
                    sys::nvrtcResult::NVRTC_ERROR_INTERNAL_ERROR.result()?;
                }
                let mut binary = vec![0u8; len];
                sys::nvrtcGetCUBIN(program, binary.as_mut_ptr().cast()).result()?;
                Ok(binary)
            });
            let _ = result::destroy_program(program);
            let first = log.lines().find(|line| line.contains("error")).unwrap_or("no message");
            binary.map_err(|failure| failed(failure, &format!(": {first}"))).map(|binary| (binary, log))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers of a GPU's unit, of which two blocks of 256 threads or three of 128 shall fit, and of products
    /// and attention one.
    const REGISTERS: u32 = 65536;

    /// `LIBNVRTC` names the compiler: `.ci/run` installs the package `nvidia-cuda-nvrtc`.
    #[test]
    fn kernels_compile_for_every_kind_of_gpu_without_spills() {
        let Some(path) = std::env::var_os("LIBNVRTC") else {
            return crate::skip::as_it_cannot("LIBNVRTC names no compiler", "registers of the kernels");
        };
        let libraries = Libraries { compiler: vec![PathBuf::from(path)], bundles: Vec::new() };
        let compiler = libraries.compiler().expect("a library").expect("a compiler");
        for kind in CAPABILITIES.map(architecture) {
            let (binary, log) = compiler.compiled(&SOURCE, &[&kind, "--ptxas-options=-v"]).expect("compiled kernels");
            assert!(binary.starts_with(b"\x7fELF"), "{kind}");
            let spills = log.matches("0 bytes spill stores, 0 bytes spill loads").count();
            let of_line = |line: &str| line.split_once("Used ")?.1.split_once(" registers")?.0.parse::<u32>().ok();
            let registers: Vec<u32> = log.lines().filter_map(of_line).collect();
            let kernels = super::super::kernels::all().count();
            assert_eq!((spills, registers.len()), (kernels, kernels), "{kind}: {log}");
            let of_line =
                |line: &str| Some(line.split_once("Compiling entry function '")?.1.split_once('\'')?.0.to_owned());
            for (name, used) in log.lines().filter_map(of_line).zip(registers) {
                let (_, threads) = super::super::kernels::all().find(|(known, _)| *known == name).expect("a kernel");
                let blocks = if ["tiles_", "attention_"].iter().any(|begin| name.starts_with(begin)) {
                    1
                } else {
                    1 + 256 / threads
                };
                assert!(used * threads * blocks <= REGISTERS, "{kind}: {name} has {used}: {log}");
            }
        }
    }

    /// For a machine whose GPU has this compute capability: `GPU_KIND=9.0 TEST_GPU_CACHE=folder/any`.
    #[test]
    #[ignore = "makes a file for another machine"]
    fn kernels_are_compiled_for_a_gpu_elsewhere() {
        let [kind, folder, compiler] =
            ["GPU_KIND", "TEST_GPU_CACHE", "LIBNVRTC"].map(|name| std::env::var(name).expect(name));
        let (major, minor) = kind.split_once('.').expect("a compute capability");
        let number = |digits: &str| digits.parse::<i32>().expect("a number");
        let libraries = Libraries { compiler: vec![compiler.into()], ..Libraries::default() };
        let folder = super::super::kernels_folder(Some(Path::new(&folder)));
        std::fs::create_dir_all(folder.as_ref().expect("a folder")).expect("made");
        let kernels = Kernels::find(&libraries, (number(major), number(minor)), folder.as_deref());
        kernels.and_then(Kernels::binary).expect("compiled kernels");
    }
}
