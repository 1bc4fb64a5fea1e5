//! Random damage to files.

/// Uniform below `most`, a function of its key (`SplitMix64`, Steele et al. 2014).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % most.max(1) as u64) as usize
    }

    pub fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// Replacements for a number or a word.
const VALUES: &[&str] = &[
    "0", "-1", "1", "3", "0.5", "1e999", "-1e-999", "4294967296", "9223372036854775807", "18446744073709551616",
    "null", "true", "\"\"", "\"x\"", "[]", "{}", "[0]", "[1e9,-1]", "{\"a\":1}",
];

/// One kind of damage, mostly within the first `head` bytes, which are text.
pub fn damage(bytes: &[u8], head: usize, random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let reach = if random.below(8) == 0 { out.len() } else { head.min(out.len()) };
    let at = random.below(reach);
    let len = 1 + random.below(40.min(reach - at));
    match random.below(10) {
        0 => out.truncate(at),
        1 => (0..=random.below(8)).for_each(|_| {
            let at = random.below(reach);
            out[at] = random.below(256) as u8;
        }),
        2 => drop(out.drain(at..at + len)),
        3 => {
            let again = out[at..at + len].to_vec();
            drop(out.splice(at..at, again));
        }
        4 => drop(out.splice(at..at, "[".repeat(1 + random.below(30_000)).into_bytes())),
        5 => drop(out.splice(at..at, "{\"a\":".repeat(1 + random.below(10_000)).into_bytes())),
        // Another number of the same length, so that what follows stays where it is.
        6 => {
            for byte in out[at..reach].iter_mut().skip_while(|byte| !byte.is_ascii_digit()).take(len % 8 + 1) {
                if byte.is_ascii_digit() {
                    *byte = b'0' + random.below(10) as u8;
                }
            }
        }
        // A number, or a word in quotes, becomes something else.
        _ => {
            let is_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
            let from = out[at..reach].iter().position(u8::is_ascii_digit).map_or(at, |offset| at + offset);
            let end = out[from..reach].iter().position(|&byte| !is_number(byte)).map_or(reach, |offset| from + offset);
            let (from, end) = if random.below(3) == 0 {
                let quote = |from: usize| out[from..reach].iter().position(|&b| b == b'"').map(|offset| from + offset);
                quote(at).and_then(|open| Some((open, quote(open + 1)? + 1))).unwrap_or((from, end))
            } else {
                (from, end)
            };
            drop(out.splice(from..end, random.one_of(VALUES).bytes()));
        }
    }
    out
}
