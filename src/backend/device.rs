//! The devices that models run on. To add one: a folder beside `cpu/` and a row in [`DEVICES`].

use std::path::Path;
use std::sync::LazyLock;

use super::{BackendError, LoadOptions, Network, cpu};
use crate::model::Model;

/// A kind of device.
#[derive(Debug)]
pub struct Device {
    /// As in `--device`.
    pub name: &'static str,
    /// What this machine has of it, or why it cannot be used here: the rest of a sentence that begins with
    /// the name.
    pub probe: fn() -> Result<Found, String>,
}

/// A device that can be used on this machine.
pub struct Found {
    /// What it is, for `doctor`.
    pub what: String,
    /// Puts a model on it; what takes long to make of the weights is kept in the folder, if one is given.
    pub load: Loader,
}

/// Puts a model on a device.
pub type Loader = fn(&Model, LoadOptions, Option<&Path>) -> Result<Box<dyn Network>, BackendError>;

/// All devices; `auto` is the last one that can be used.
pub const DEVICES: &[Device] = &[
    Device { name: "cpu", probe: cpu::probe },
    Device { name: "cuda", probe: || Err("is not available in this version".to_owned()) },
];

/// What `--device` and the setting can be, as in `auto|cpu`.
pub static NAMES: LazyLock<String> =
    LazyLock::new(|| DEVICES.iter().fold("auto".to_owned(), |names, device| names + "|" + device.name));

impl Device {
    /// The device of this name, whether this machine has it or not; `Some(None)` for `auto`.
    pub fn named(name: &str) -> Option<Option<&'static Self>> {
        let device = DEVICES.iter().find(|device| device.name == name);
        (device.is_some() || name == "auto").then_some(device)
    }

    /// The device, if this machine has it.
    fn found(&self) -> Result<Found, BackendError> {
        (self.probe)().map_err(|why| BackendError::Device { name: self.name, why })
    }
}

/// Loads `model` onto the device that `options` name.
pub fn load(model: &Model, options: LoadOptions) -> Result<Box<dyn Network>, BackendError> {
    load_with_cache(model, options, None)
}

/// The same; what takes long to make of the weights is kept in the folder `cache` for the next time.
pub fn load_with_cache(
    model: &Model,
    options: LoadOptions,
    cache: Option<&Path>,
) -> Result<Box<dyn Network>, BackendError> {
    let best = || DEVICES.iter().rev().find(|device| device.found().is_ok()).unwrap_or(&DEVICES[0]);
    let found = options.device.unwrap_or_else(best).found()?;
    (found.load)(model, options, cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_usable_or_says_why_not() {
        let named = |name| Device::named(name).map(|device| device.map(|d| d.name));
        assert_eq!([named("auto"), named("cpu"), named("tpu")], [Some(None), Some(Some("cpu")), None]);
        let why = Device::named("cuda").flatten().unwrap().found().err().unwrap().to_string();
        assert_eq!(why, "--device cuda is not available in this version: use --device cpu");
        for device in DEVICES {
            assert!((device.probe)().map_or_else(|why| why, |found| found.what).len() > 3, "{}", device.name);
        }
    }
}
