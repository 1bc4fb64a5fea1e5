//! A failed command: a sentence and an exit code.

use std::fmt::Display;

/// Exit code: nothing passed.
pub const NOTHING_PASSED: u8 = 1;
/// Exit code: interrupted by the user.
pub const INTERRUPTED: u8 = 130;

/// Reason why a command ended early.
#[derive(Debug)]
pub struct Failure {
    /// 2 for bad usage or input, 3 for a failure of engine or sandbox.
    pub code: u8,
    /// The sentence for stderr.
    pub message: String,
}

impl Failure {
    /// Wrong usage or bad input.
    pub fn input(message: impl Display) -> Self {
        Self { code: 2, message: message.to_string() }
    }

    /// The engine, the sandbox or the system failed.
    pub fn internal(message: impl Display) -> Self {
        Self { code: 3, message: message.to_string() }
    }
}
