//! FNV-1a, 64 bit: the same on every machine and in every version. It protects against accidents, not against
//! intent. And how hashes are written.

use std::fmt::Write;

/// The hash of nothing.
pub const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// Goes on with one more byte, or with one more word where only words are hashed.
pub fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0100_0000_01b3)
}

/// The hash of these bytes.
pub fn of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(EMPTY, |hash, byte| mix(hash, u64::from(*byte)))
}

/// As hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    /// A seed that changes between versions makes earlier results worthless.
    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(super::of(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
