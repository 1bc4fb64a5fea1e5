//! Pipes to a program that is compiled from untrusted code. The nonce goes in, and the reports of the guard
//! compiled into it come out.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use crate::trial::error::TrialError;

/// A report is small.
const LONGEST: usize = 1 << 16;

/// The two pipes.
pub struct Channel {
    record: PipeReader,
}

/// A channel, the program's ends of the pipes, and the variable that holds their descriptor numbers.
type Opened = (Channel, Vec<OwnedFd>, (OsString, OsString));

/// The name of the variable that tells the program its two descriptors.
pub const VARIABLE: &str = "TRIAL_LINES";

impl Channel {
    /// Opens the pipes: the channel, the program's ends, and the variable with their descriptor numbers.
    pub fn open(nonce: &str) -> Result<Opened, TrialError> {
        let (nonce_end, mut told) = io::pipe()?;
        let (record, record_end) = io::pipe()?;
        // The nonce fits into any pipe, so the write does not block.
        told.write_all(nonce.as_bytes())?;
        let variable = format!("{} {}", nonce_end.as_raw_fd(), record_end.as_raw_fd());
        Ok((Self { record }, vec![nonce_end.into(), record_end.into()], (VARIABLE.into(), variable.into())))
    }

    /// The report once the program has ended: lines that begin with the nonce. `None` if anything else was
    /// written.
    pub fn read(mut self, nonce: &str) -> Option<Vec<String>> {
        // A process that escaped could hold the other end open for ever.
        let _ = rustix::io::ioctl_fionbio(&self.record, true);
        let mut bytes = Vec::new();
        let mut buffer = [0_u8; 4096];
        while bytes.len() <= LONGEST {
            match self.record.read(&mut buffer) {
                Ok(count) if count > 0 => bytes.extend_from_slice(&buffer[..count]),
                _ => break,
            }
        }
        let text = String::from_utf8(bytes).ok()?;
        let line = |line: &str| Some(line.strip_prefix(nonce)?.strip_prefix(' ')?.to_owned());
        text.lines().map(line).collect()
    }
}
