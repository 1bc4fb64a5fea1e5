//! Writing to stdout and stderr, where the reader may be gone.

use std::io::Write;

use super::failure::Failure;

/// Writes to stdout; a reader that has gone is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::internal(format!("stdout cannot be written: {e}")))
        }
        _ => Ok(()),
    }
}

/// Writes to stderr. Where that fails there is nobody left to tell.
pub fn say(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
