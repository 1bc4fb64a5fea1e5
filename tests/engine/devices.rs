//! Choice of `--device auto`: a GPU that cannot be used leaves the CPU with a sentence, and is an error for
//! those who named it. One that was measured is assumed; the libraries are the emulator's.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::emulator::{built, libraries};
use super::skip;
use bass_tui::backend::cuda::{self, BUNDLE, Libraries, SOURCE, make_bundle};
use bass_tui::backend::device::{Device, Unusable, UsableDevice, present};
use bass_tui::backend::{BackendError, Choice, DEVICES, LoadOptions};
use bass_tui::model::{MAIN, ModelFiles};
use bass_tui::source::{Drafting, LocalModels, LocalSource, Source};

/// The emulator in four states; `None` where it cannot be compiled.
struct States {
    whole: Libraries,
    old: Libraries,
    empty: Libraries,
}

fn states() -> Option<&'static States> {
    static STATES: OnceLock<Option<States>> = OnceLock::new();
    let made = || {
        let with = |name, kernels: &str, option| Some(libraries(&built(name, kernels, &["-O0", option])?));
        Some(States {
            whole: with("-devices", &SOURCE, "-DDRIVER_VERSION=12000")?,
            old: with("-old-driver", "", "-DDRIVER_VERSION=11080")?,
            empty: with("-no-device", "", "-DDRIVER_DEVICES=0")?,
        })
    };
    STATES.get_or_init(made).as_ref()
}

fn whole() -> Libraries {
    states().map_or_else(none, |states| states.whole.clone())
}

fn none() -> Libraries {
    Libraries { driver: Vec::new(), compiler: Vec::new(), bundles: Vec::new() }
}

fn without_compiler() -> Libraries {
    Libraries { compiler: Vec::new(), ..whole() }
}

/// A device that runs over these libraries.
macro_rules! device {
    ($libraries:expr, $number:expr) => {{
        let probe: fn(usize, Option<&Path>) -> Result<UsableDevice, Unusable> = |_, cache| {
            cuda::find(&$libraries, ($number, cache), |model, options, _| {
                let device = options.device.map(|choice| Choice { number: $number, ..choice });
                cuda::load(&$libraries, model, LoadOptions { device, ..options }, None)
            })
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
    let Some(states) = states() else {
        return skip::for_want_of("g++ on x86-64", "what is said of GPUs that cannot be used");
    };
    let no_driver = device!(none(), 0);
    let cases: [(&'static [Device; 2], &str, bool); 6] = [
        (no_driver, "needs an NVIDIA GPU and its driver, which are not here", false),
        (device!(states_of().empty.clone(), 0), "needs an NVIDIA GPU: the driver is here and finds none", false),
        (device!(states_of().old.clone(), 0), "needs a driver for CUDA 12.0 or later, and this one is for 11.8", true),
        (device!(whole(), 6), "needs a GPU of compute capability 8.0 or later, and this is a Emulator 6", true),
        (
            device!(without_compiler(), 0),
            "is Emulator 0, 1024 MiB, compute capability 8.0, driver for CUDA 12.0, and has nothing that compiles its \
             kernels: install",
            true,
        ),
        (device!(whole(), 5), "no memory for ", true),
    ];
    assert_eq!(states.old.driver.len(), 1);
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
    let (device, note) = opened(&present(device!(whole(), 0))).expect("the emulator");
    assert_eq!((device.as_str(), note), ("cuda", None));
}

/// The device with these files as bundles: its name, and that of the device on which models of the program
/// run, or why none.
macro_rules! with_bundles {
    ($files:expr) => {{
        static LIBRARIES: OnceLock<Libraries> = OnceLock::new();
        LIBRARIES.get_or_init(|| Libraries { bundles: $files, ..without_compiler() });
        let devices = device!(LIBRARIES.get().expect("set above").clone(), 0);
        (devices[1].here(None), opened(&[Choice { device: &devices[1], number: 0 }]).map(|(device, _)| device))
    }};
}

/// The emulator takes any binary: what counts is where it comes from.
#[test]
fn a_bundle_of_kernels_does_where_nothing_compiles_them() {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let Some(states) = states() else {
        return skip::for_want_of("g++ on x86-64", "kernels that are compiled already");
    };
    let file = |name: &str| FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder")).path().join(name);
    let bundle = make_bundle(&states.whole).expect("a bundle");
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
    let compiles = device!(whole(), 0);
    assert_eq!(
        compiles[1].here(None),
        Ok(here.replace("kernels of", "kernels compiled by NVRTC 13.0 when a model is loaded"))
    );

    // In the cache folder, too; what was compiled once is kept there.
    let cache = file("cache/weights");
    let kernels = file("cache/kernels");
    std::fs::create_dir_all(&kernels).expect("a folder");
    std::fs::write(kernels.join(BUNDLE), &bundle).expect("written");
    let found = |libraries: &Libraries| {
        let found = cuda::find(libraries, (0, Some(&cache)), |_, _, _| Err(BackendError::Memory { bytes: 0 }));
        found.map(|found| found.what).map_err(|unusable| unusable.why)
    };
    let of_cache = found(&without_compiler()).expect("a bundle");
    assert!(of_cache.ends_with(&format!("kernels of {}", kernels.join(BUNDLE).display())), "{of_cache}");
    cuda::open(&whole(), 2, Some(&cache)).expect("a device");
    assert_eq!(std::fs::read_dir(&kernels).expect("a folder").count(), 2, "nothing is kept");
    let kept = found(&without_compiler()).expect("kept");
    assert!(kept.ends_with("driver for CUDA 12.0, kernels compiled already"), "{kept}");
}

fn states_of() -> &'static States {
    states().expect("compiled above")
}
