//! How each language's tests are run. One file per language.

pub mod cargo;
pub mod command;
pub mod go;
pub mod go_project;
pub mod javascript;
mod names;
pub mod node_project;
pub mod pair;
pub mod project;
pub mod python;
mod record;
pub mod rust;
mod tests_in_text;

use std::fs::File;
use std::io::Read;

use super::TrialError;

/// 128 random bits in hex: what a forged report would have to guess.
fn nonce() -> Result<String, TrialError> {
    let mut bits = [0_u8; 16];
    let drawn = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bits));
    drawn.map_err(|e| TrialError::Sandbox(format!("no random number could be drawn: {e}")))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}
