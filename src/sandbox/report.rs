//! Messages of the child to the supervisor on a separate pipe: the stage that failed, or how the program
//! ended.

use std::os::fd::RawFd;

/// Size of a message in bytes.
pub const SIZE: usize = 6;

/// One message, small enough to be written to a pipe atomically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A stage failed, with the system's error number.
    Failed { stage: u8, error: i32 },
    /// The program ended, with this wait status.
    Ended(i32),
}

impl Message {
    /// Sends it. Async-signal-safe. Errors are ignored: without a reader there is no other receiver.
    pub fn send(self, pipe: RawFd) {
        let (kind, stage, number) = match self {
            Message::Failed { stage, error } => (1_u8, stage, error),
            Message::Ended(status) => (2, 0, status),
        };
        let mut bytes = [kind, stage, 0, 0, 0, 0];
        bytes[2..].copy_from_slice(&number.to_ne_bytes());
        // SAFETY: a live array and its length.
        unsafe { libc::write(pipe, bytes.as_ptr().cast(), bytes.len()) };
    }

    /// The first message in `bytes`. After a failure no other message counts.
    pub fn first(bytes: &[u8]) -> Option<Self> {
        let &[kind, stage, a, b, c, d] = bytes.first_chunk::<SIZE>()?;
        let number = i32::from_ne_bytes([a, b, c, d]);
        match kind {
            1 => Some(Message::Failed { stage, error: number }),
            2 => Some(Message::Ended(number)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn messages_come_through_and_a_failure_comes_first() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let failed = Message::Failed { stage: 3, error: libc::EPERM };
        failed.send(writer.as_raw_fd());
        Message::Ended(256).send(writer.as_raw_fd());
        drop(writer);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        assert_eq!(Message::first(&bytes), Some(failed));
        assert_eq!(Message::first(&bytes[SIZE..]), Some(Message::Ended(256)));
        assert_eq!(Message::first(&bytes[..3]), None);
    }
}
