//! The `bass-tui` program: parse the command line and hand over to a command.

use std::process::ExitCode;

fn main() -> ExitCode {
    bass_tui::cli::main()
}
