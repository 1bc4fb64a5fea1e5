//! The devices that models run on. To add one: a folder beside `cpu/` and a row in [`DEVICES`].

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use super::{BackendError, LoadOptions, Network, cpu, cuda};
use crate::model::ModelWeights;

/// A kind of device.
#[derive(Debug)]
pub struct Device {
    /// As in `--device`.
    pub name: &'static str,
    /// A machine may have several, which are called `name:0`, `name:1` and so on.
    pub several: bool,
    /// It has been run and measured on a machine that has it. Other devices are taken only by name.
    pub proven: bool,
    /// Finds it on this machine, or says why it cannot be used here.
    pub probe: Probe,
}

/// Why a device cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The rest of a sentence that begins with the name of the device.
    pub why: String,
    /// This machine has none, so that nobody need hear of it who has not asked for it.
    pub absent: bool,
}

impl Unusable {
    /// This machine has no such device.
    pub fn absent(why: &str) -> Self {
        Self { why: why.to_owned(), absent: true }
    }
}

impl From<String> for Unusable {
    fn from(why: String) -> Self {
        Self { why, absent: false }
    }
}

/// One of the devices of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Its kind.
    pub device: &'static Device,
    /// Which of that kind.
    pub number: usize,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => f.write_str(self.device.name),
            number => write!(f, "{}:{number}", self.device.name),
        }
    }
}

/// A device that can be used on this machine.
pub struct UsableDevice {
    /// Its description, for `doctor`.
    pub what: String,
    /// Puts a model on it; what takes long to make of the weights is kept in the folder, if one is given.
    pub load: Loader,
}

/// Looks for the device of a kind that has this number; the folder is where things are kept that take long to
/// make.
pub type Probe = fn(usize, Option<&Path>) -> Result<UsableDevice, Unusable>;

/// Puts a model on a device.
pub type Loader = fn(&ModelWeights, LoadOptions, Option<&Path>) -> Result<Box<dyn Network>, BackendError>;

/// All devices; `auto` is the last one that is proven, is here and can hold the models.
pub const DEVICES: &[Device] = &[
    Device { name: "cpu", several: false, proven: true, probe: cpu::probe },
    Device { name: "cuda", several: true, proven: true, probe: cuda::probe },
];

/// Values of `--device` and of the setting, as in `auto|cpu`.
pub static NAMES: LazyLock<String> =
    LazyLock::new(|| DEVICES.iter().fold("auto".to_owned(), |names, device| names + "|" + device.name));

impl Choice {
    /// The device of this name, whether this machine has it or not; `Some(None)` for `auto`.
    pub fn named(name: &str) -> Option<Option<Self>> {
        if name == "auto" {
            return Some(None);
        }
        let (kind, number) = name.split_once(':').map_or((name, None), |(kind, number)| (kind, Some(number)));
        let device = DEVICES.iter().find(|device| device.name == kind && (device.several || number.is_none()))?;
        let number = number.map_or(Some(0), |number| number.parse().ok())?;
        Some(Some(Self { device, number }))
    }

    /// The device, if this machine has it.
    fn found(self, cache: Option<&Path>) -> Result<UsableDevice, BackendError> {
        let name = self.device.name;
        (self.device.probe)(self.number, cache).map_err(|Unusable { why, .. }| BackendError::Device { name, why })
    }
}

/// Where models may be loaded, the best first: what was chosen, or all proven ones that this machine has,
/// usable or not: why one is not is said by those who try.
pub fn choices(chosen: Option<Choice>) -> Vec<Choice> {
    chosen.map_or_else(|| present(DEVICES), |choice| vec![choice])
}

/// All proven ones of these devices that this machine has, the best first.
pub fn present(devices: &'static [Device]) -> Vec<Choice> {
    let all = devices.iter().rev().filter(|device| device.proven).map(|device| Choice { device, number: 0 });
    all.filter(|choice| !matches!((choice.device.probe)(choice.number, None), Err(Unusable { absent: true, .. })))
        .collect()
}

impl Device {
    /// Description of this machine's device and of when it is taken, or why it cannot be used: for `doctor`.
    /// The folder is that of [`load_with_cache`].
    pub fn here(&self, cache: Option<&Path>) -> Result<String, String> {
        let when = if self.proven { String::new() } else { format!("; taken with --device {} only", self.name) };
        (self.probe)(0, cache).map(|found| found.what + &when).map_err(|unusable| unusable.why)
    }
}

/// Loads `model` onto the device that `options` name.
pub fn load(model: &ModelWeights, options: LoadOptions) -> Result<Box<dyn Network>, BackendError> {
    load_with_cache(model, options, None)
}

/// Like [`load`], with slow preparations of the weights kept in the folder `cache` for the next time.
pub fn load_with_cache(
    model: &ModelWeights,
    options: LoadOptions,
    cache: Option<&Path>,
) -> Result<Box<dyn Network>, BackendError> {
    let choice = *choices(options.device).first().unwrap_or(&Choice { device: &DEVICES[0], number: 0 });
    (choice.found(cache)?.load)(model, LoadOptions { device: Some(choice), ..options }, cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_usable_or_says_why_not() {
        let named = |name| Choice::named(name).map(|choice| choice.map(|choice| choice.to_string()));
        let known = |name: &str| Some(Some(name.to_owned()));
        assert_eq!([named("auto"), named("cpu"), named("tpu")], [Some(None), known("cpu"), None]);
        assert_eq!([named("cuda"), named("cuda:0"), named("cuda:3")], [known("cuda"), known("cuda"), known("cuda:3")]);
        assert_eq!([named("cpu:0"), named("cuda:"), named("cuda:-1"), named("cuda:one")], [const { None }; 4]);
        for device in DEVICES {
            assert!(
                (device.probe)(0, None).map_or_else(|unusable| unusable.why, |found| found.what).len() > 3,
                "{}",
                device.name
            );
        }
    }

    #[test]
    fn a_device_that_was_never_measured_is_taken_only_by_name() {
        const fn device(name: &'static str, proven: bool, probe: Probe) -> Device {
            Device { name, several: false, proven, probe }
        }
        let here = |_, _: Option<&Path>| {
            Ok(UsableDevice { what: "here".to_owned(), load: |_, _, _| Err(BackendError::Memory { bytes: 0 }) })
        };
        let devices = Box::leak(Box::new([
            device("plain", true, here),
            device("fast", true, here),
            device("new", false, here),
            device("absent", true, |_, _| Err(Unusable::absent("is not here"))),
            device("broken", true, |_, _| Err("does not work".to_owned().into())),
        ]));
        assert_eq!(devices[1].here(None), Ok("here".to_owned()));
        assert_eq!(devices[2].here(None), Ok("here; taken with --device new only".to_owned()));
        let names: Vec<&str> = present(devices).iter().map(|choice| choice.device.name).collect();
        assert_eq!(names, ["broken", "fast", "plain"]);
    }

    #[test]
    fn a_gpu_that_is_not_there_is_an_error_for_those_who_asked_for_it() {
        let why = Choice::named("cuda:4711").flatten().unwrap().found(None).err().unwrap().to_string();
        assert!(why.starts_with("--device cuda ") && why.ends_with(": use --device cpu"), "{why}");
    }
}
