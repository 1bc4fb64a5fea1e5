//! Choice of `--device auto`: a GPU that cannot be used leaves the CPU with a sentence, and is an error for
//! those who named it. One that was measured is assumed; the libraries are the emulator's.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::emulator::{alone, compiler, driver_file, gpu, pretending, real};
use super::skip;
use bass_tui::backend::cuda::{self, BUNDLE, Libraries, make_bundle};
use bass_tui::backend::device::{Device, Loader, Unusable, UsableDevice, present};
use bass_tui::backend::{BackendError, Choice, DEVICES, Dtype, LoadOptions};
use bass_tui::engine::DraftVocabulary;
use bass_tui::model::{MAIN, ModelFiles};
use bass_tui::source::{Drafting, LocalModels, LocalSource, Source};

/// Devices of the emulator with the version of its driver, in three states.
type State = (i32, i32);
const WHOLE: State = (7, 12000);
const OLD: State = (7, 11080);
const EMPTY: State = (0, 12000);

/// The emulator is there; a sentence where it is not.
fn is_here() -> bool {
    if real().is_some() {
        skip::as_it_cannot("TEST_GPU names a GPU", "GPUs that are not there");
    }
    real().is_none() && gpu(0).is_some()
}

/// With the compiler of the emulator.
fn whole() -> Libraries {
    Libraries { compiler: compiler().into_iter().collect(), ..without_compiler() }
}

fn without_compiler() -> Libraries {
    Libraries { compiler: Vec::new(), bundles: Vec::new() }
}

/// A device that runs over the emulator in this state, and over these libraries.
macro_rules! device {
    ($state:expr, $libraries:expr, $number:expr) => {{
        let probe: fn(usize, Option<&Path>) -> Result<UsableDevice, Unusable> = |_, cache| {
            let load: Loader = |model, options, _| {
                let device = options.device.map(|choice| Choice { number: $number, ..choice });
                pretending($state, || cuda::load(&$libraries, model, LoadOptions { device, ..options }, None))
            };
            pretending($state, || cuda::find(&$libraries, ($number, cache), load))
        };
        &*Box::leak(Box::new([DEVICES[0].with_probe(), Device { name: "cuda", several: true, proven: true, probe }]))
    }};
}

trait WithProbe {
    fn with_probe(&self) -> Device;
}

impl WithProbe for Device {
    fn with_probe(&self) -> Device {
        Device { name: self.name, several: self.several, proven: self.proven, probe: self.probe }
    }
}

/// The device that models of this program are on, and the note, or why they are on none.
fn opened(choices: &[Choice]) -> Result<(String, Option<String>), String> {
    let models = LocalModels {
        main: ModelFiles::Embedded(&MAIN),
        draft: Drafting::None,
        own_head: false,
        draft_vocabulary: DraftVocabulary::Auto,
        draft_dtype: Dtype::Auto,
        chat: None,
        load: LoadOptions { threads: 1, ..LoadOptions::default() },
        profiles: None,
        weights: None::<PathBuf>,
        kv_cache: 0,
        shared: None,
    };
    let info = LocalSource::open_on(&models, choices).map_err(|error| error.to_string())?.info();
    Ok((info.device, info.note.map(String::from)))
}

#[test]
fn a_gpu_that_cannot_be_used_leaves_the_cpu_with_a_sentence() {
    if !is_here() {
        return;
    }
    let cases: [(&'static [Device; 2], &str, bool); 5] = [
        (device!(EMPTY, without_compiler(), 0), "needs an NVIDIA GPU: the driver is here and finds none", false),
        (device!(OLD, without_compiler(), 0), "needs a driver for CUDA 12.0 or later, and this one is for 11.8", true),
        (
            device!(WHOLE, without_compiler(), 6),
            "needs a GPU of compute capability 8.0 or later, and this is a Emulator 6",
            true,
        ),
        (
            device!(WHOLE, without_compiler(), 0),
            "is Emulator 0, 1024 MiB, compute capability 8.0, driver for CUDA 12.0, and has nothing that compiles its \
             kernels: install",
            true,
        ),
        (device!(WHOLE, whole(), 5), "no memory for ", true),
    ];
    for (devices, why, said) in cases {
        let (device, note) = opened(&present(devices)).expect("the CPU");
        assert_eq!(device, "cpu", "{why}");
        let note = note.unwrap_or_default();
        let expected = if why.starts_with("no memory") { why.to_owned() } else { format!("it {why}") };
        assert_eq!(note.starts_with(&format!("cuda is not used: {expected}")), said, "{why}: {note}");
        assert_eq!(note.is_empty(), !said, "who has no GPU is not told of it at every start: {note}");
        // Who named it is told so, and gets nothing else.
        let error = opened(&[Choice { device: &devices[1], number: 0 }]).expect_err(why);
        assert!(error.contains(why), "{error}");
        // Answer before anything is loaded, for `doctor`.
        let here = devices[1].here(None);
        let known = here.as_ref().map_or_else(|why| why.as_str(), String::as_str);
        assert!(known.starts_with(why) || known.starts_with("Emulator "), "{known}");
    }
    let (device, note) = opened(&present(device!(WHOLE, whole(), 0))).expect("the emulator");
    assert_eq!((device.as_str(), note), ("cuda", None));
}

/// The device with these files as bundles: its name, and that of the device on which models of the program
/// run, or why none.
macro_rules! with_bundles {
    ($files:expr) => {{
        static LIBRARIES: OnceLock<Libraries> = OnceLock::new();
        LIBRARIES.get_or_init(|| Libraries { bundles: $files, ..without_compiler() });
        let devices = device!(WHOLE, LIBRARIES.get().expect("set above").clone(), 0);
        (devices[1].here(None), opened(&[Choice { device: &devices[1], number: 0 }]).map(|(device, _)| device))
    }};
}

#[test]
fn a_bundle_of_kernels_does_where_nothing_compiles_them() {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    if !is_here() {
        return;
    }
    let file = |name: &str| FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder")).path().join(name);
    let bundle = make_bundle(&whole()).expect("a bundle");
    std::fs::write(file("whole"), &bundle).expect("written");
    std::fs::write(file("cut"), &bundle[..bundle.len() - 1]).expect("written");
    std::fs::write(file("foreign"), "#!/bin/sh\n").expect("written");
    let path = file("whole");
    // The first that can be used; one that is not there is nothing to speak of.
    let (what, device) = with_bundles!(vec![file("none"), file("cut"), file("whole")]);
    let here = "Emulator 0, 1024 MiB, compute capability 8.0, driver for CUDA 12.0, kernels of";
    assert_eq!((what, device), (Ok(format!("{here} {}", path.display())), Ok("cuda".to_owned())));
    let (what, device) = with_bundles!(vec![file("cut"), file("foreign")]);
    for why in [what.expect_err("no kernels"), device.expect_err("no kernels")] {
        let ends = ["cut is damaged: it has ", "foreign is no bundle of kernels"];
        assert!(why.contains("has nothing that compiles its kernels") && why.contains("put the file"), "{why}");
        assert!(ends.iter().all(|end| why.contains(end)), "{why}");
    }
    // Who can compile them does so.
    let compiles = device!(WHOLE, whole(), 0);
    assert_eq!(
        compiles[1].here(None),
        Ok(here.replace("kernels of", "kernels compiled by NVRTC 13.0 when a model is loaded"))
    );

    std::fs::copy(&whole().compiler[0], file("other.so")).expect("a copy");
    let why = make_bundle(&Libraries { compiler: vec![file("other.so")], ..without_compiler() }).expect_err("two");
    assert!(why.starts_with("another libnvrtc is found before ") && why.contains("other.so"), "{why}");
    let why = make_bundle(&Libraries { compiler: driver_file().into_iter().collect(), ..without_compiler() });
    assert!(why.is_err(), "a driver compiles nothing");

    // In the cache folder, too; what was compiled once is kept there.
    let cache = file("cache/weights");
    let kernels = file("cache/kernels");
    std::fs::create_dir_all(&kernels).expect("a folder");
    std::fs::write(kernels.join(BUNDLE), &bundle).expect("written");
    let found = |libraries: &Libraries| {
        let load: Loader = |_, _, _| Err(BackendError::Memory { bytes: 0 });
        let found = pretending(WHOLE, || cuda::find(libraries, (0, Some(&cache)), load));
        found.map(|found| found.what).map_err(|unusable| unusable.why)
    };
    let of_cache = found(&without_compiler()).expect("a bundle");
    assert!(of_cache.ends_with(&format!("kernels of {}", kernels.join(BUNDLE).display())), "{of_cache}");
    pretending(WHOLE, || cuda::open(&whole(), 2, Some(&cache))).expect("a device");
    assert_eq!(std::fs::read_dir(&kernels).expect("a folder").count(), 2, "nothing is kept");
    let kept = found(&without_compiler()).expect("kept");
    assert!(kept.ends_with("driver for CUDA 12.0, kernels compiled already"), "{kept}");
}

/// The sentences of libraries that are somewhere else: in processes of their own, which have no emulator.
#[test]
fn a_machine_without_a_gpu_has_a_cpu() {
    let said = |library: Option<PathBuf>, name: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        if let Some(library) = library {
            std::fs::copy(library, folder.path().join(name)).expect("a copy");
        }
        // A GPU that is here is hidden.
        let variables = [("CUDA_VISIBLE_DEVICES", PathBuf::new()), ("LD_LIBRARY_PATH", folder.path().to_owned())];
        let done = alone(&["--exact", "devices::no_gpu", "--ignored", "--nocapture"], variables);
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success() && said.contains("1 passed"), "{said}");
        said
    };
    let none = "needs an NVIDIA GPU: the driver is here and finds none";
    let found = said(None, "");
    assert!(
        found.contains("needs an NVIDIA GPU and its driver, which are not here") || found.contains(none),
        "{found}"
    );
    if !is_here() {
        return;
    }
    // Most machines have no other name of it.
    let found = said(driver_file(), "libcuda.so.1");
    assert!(found.contains("on cpu, None") && found.contains(none), "{found}");
    let found = said(compiler(), "libcuda.so");
    assert!(found.contains("--device cuda needs a driver that has cuCtxSetCurrent: install "), "{found}");
}

#[test]
#[ignore = "in processes of their own"]
fn no_gpu() {
    let (device, note) = opened(&present(DEVICES)).expect("the CPU");
    let error = opened(&[Choice { device: &DEVICES[1], number: 0 }]).expect_err("no GPU");
    println!("on {device}, {note:?}: {error}");
}
