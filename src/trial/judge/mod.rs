//! How the processes of a trial are told apart from what they run: the nonce, the reports, and the pair of
//! judge and worker.

pub mod channel;
pub mod pair;
pub mod record;

use std::ffi::OsString;
use std::path::Path;

use super::error::TrialError;
use crate::sandbox::{Control, Job, Limits};

/// 128 random bits in hex: what a forged report would have to guess.
pub fn nonce() -> Result<String, TrialError> {
    let mut bits = [0_u8; 16];
    let failed = |e| TrialError::Sandbox(format!("no random number could be drawn: {e}"));
    getrandom::fill(&mut bits).map_err(failed)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}

/// Makes Python's sets and dictionaries the same on every run.
pub const SAME_HASHES: [&str; 2] = ["PYTHONHASHSEED", "0"];

/// A program of ours that reads a request, says when it is about to load foreign code, and reports what came
/// of it.
pub fn driver(program: &Path, arguments: Vec<OsString>, request: Vec<u8>, limits: Limits) -> Job<'_> {
    let environment = vec![SAME_HASHES.map(Into::into).into()];
    let control = Some(Control { request, ready: b"started\n" });
    Job { environment, control, ..Job::new(program, arguments, limits) }
}
