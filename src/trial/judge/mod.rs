//! The report channel: the nonce, the pipes, and the report by name.

pub mod channel;
pub mod record;

use std::ffi::OsString;
use std::path::Path;

use super::error::TrialError;
use crate::sandbox::{Control, Job, Limits};

/// 128 random bits in hex. A forged report would have to guess them.
pub fn nonce() -> Result<String, TrialError> {
    let mut bits = [0_u8; 16];
    let failed = |e| TrialError::Sandbox(format!("no random number could be drawn: {e}"));
    getrandom::fill(&mut bits).map_err(failed)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}

/// The variable that fixes the hash seed of Python, so that sets are in the same order on every run.
pub fn hashes(seed: u8) -> (OsString, OsString) {
    ("PYTHONHASHSEED".into(), seed.to_string().into())
}

/// A driver process. It reads a request, announces the start of untrusted code, and reports the result.
pub fn driver(program: &Path, arguments: Vec<OsString>, request: Vec<u8>, limits: Limits) -> Job<'_> {
    let environment = vec![hashes(0)];
    let control = Some(Control { request, ready: b"started\n" });
    Job { environment, control, ..Job::new(program, arguments, limits) }
}
