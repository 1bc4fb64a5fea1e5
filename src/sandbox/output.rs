//! The output of a program: counted in full, stored in part.

use std::collections::VecDeque;

/// Bytes stored from the beginning, and as many from the end.
const KEPT: usize = 32 << 10;

/// The printed bytes of a program, both streams in the order they came.
#[derive(Debug, Default)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Output {
    /// Adds bytes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = KEPT.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        bytes = &bytes[room..];
        bytes = &bytes[bytes.len().saturating_sub(KEPT)..];
        let over = (self.tail.len() + bytes.len()).saturating_sub(KEPT);
        self.tail.drain(..over);
        self.tail.extend(bytes);
    }

    /// Number of all bytes, also of those not stored.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The stored text, with a line that says how much is missing.
    pub fn text(&self) -> String {
        let left_out = self.total - (self.head.len() + self.tail.len()) as u64;
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if left_out == 0 {
            let all = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&all).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[{left_out} bytes left out]\n{tail}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_ends_and_says_what_is_missing() {
        let mut output = Output::default();
        output.push(b"begin");
        for _ in 0..100 {
            output.push(&[b'x'; 5000]);
        }
        output.push(b"end");
        let text = output.text();
        assert_eq!(output.total(), 500_008);
        assert!(text.starts_with("beginxx") && text.ends_with("xxend"));
        assert!(text.contains(&format!("[{} bytes left out]", 500_008 - 2 * KEPT)));
    }

    #[test]
    fn a_little_is_kept_whole() {
        let mut output = Output::default();
        output.push("a".repeat(KEPT + 1).as_bytes());
        assert_eq!(output.text(), "a".repeat(KEPT + 1));
    }
}
