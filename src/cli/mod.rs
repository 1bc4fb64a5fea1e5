//! The command line: one file per command, the arguments that several share in `args`.

use std::process::ExitCode;

/// Parses the command line, runs the command and turns its outcome into an exit code.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
