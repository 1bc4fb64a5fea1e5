//! Bundle of kernels that are compiled already, for every kind of GPU, in one file: for machines without
//! NVRTC. A bundle is trusted only if it was made of this program's own kernels and arrived whole.
//!
//! The file begins with a mark, the version of this format, the number of kinds, the length of the file and
//! the hash of the kernels' source. Then follow, for each kind, its compute capability and the offset and
//! length of its binary; then the binaries; at the end a checksum of all before it. Numbers are
//! little-endian.

use std::fmt::Write as _;
use std::path::Path;

use crate::{files, hash};

/// Its name beside the program, and in the cache folder among kernels.
pub const NAME: &str = "cuda-kernels.bundle";

const MARK: &[u8; 8] = b"basscub\n";

/// Of the format.
const VERSION: u32 = 1;

/// Bytes before the kinds, and of each.
const HEADER: usize = 32;
const ENTRY: usize = 24;

/// Of the checksum.
const END: usize = 8;

/// Most bytes of a bundle, several times what there are.
const MOST: u64 = 64 << 20;

/// A kind of GPU by its compute capability: a major and a minor number.
pub type Capability = (i32, i32);

/// A bundle that is whole.
pub struct Bundle {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

struct Entry {
    capability: Capability,
    from: usize,
    to: usize,
}

/// The file of these binaries; `kernels` is the hash of what was compiled.
pub fn written(kernels: u64, binaries: &[(Capability, Vec<u8>)]) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    let begin = HEADER + binaries.len() * ENTRY;
    for ((major, minor), binary) in binaries {
        entries.extend([*major, *minor].map(i32::to_le_bytes).concat());
        entries.extend([begin + data.len(), binary.len()].map(|number| (number as u64).to_le_bytes()).concat());
        data.extend(binary);
    }
    let numbers = [VERSION, binaries.len() as u32].map(u32::to_le_bytes).concat();
    let more = [(begin + data.len() + END) as u64, kernels].map(u64::to_le_bytes).concat();
    let mut file = [&MARK[..], &numbers, &more, &entries, &data].concat();
    let checksum = hash::of(&file);
    file.extend(checksum.to_le_bytes());
    file
}

impl Bundle {
    /// Reads the bundle in `path`; `None` where there is no file. The error is the rest of a sentence about
    /// the file.
    pub fn read(path: &Path, kernels: u64) -> Result<Option<Self>, String> {
        match files::read(path, MOST) {
            Ok(bytes) => Self::parse(bytes, kernels).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot be read: {error}")),
        }
    }

    fn parse(bytes: Vec<u8>, kernels: u64) -> Result<Self, String> {
        if !bytes.starts_with(MARK) {
            return Err("is no bundle of kernels: it begins with other bytes".to_owned());
        }
        let short = || format!("is damaged: it ends after {} bytes", bytes.len());
        let word = |at: usize| -> Option<u64> { Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)) };
        let half = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
        let version = half(8).ok_or_else(short)?;
        if version != VERSION {
            return Err(format!("has format {version}, and this program reads format {VERSION}"));
        }
        let count = half(12).ok_or_else(short)? as usize;
        let (len, of) = (word(16).ok_or_else(short)?, word(24).ok_or_else(short)?);
        if len != bytes.len() as u64 {
            return Err(format!("is damaged: it has {} bytes, and its header says {len}", bytes.len()));
        }
        let end = bytes.len().checked_sub(END).filter(|&end| end >= HEADER).ok_or_else(short)?;
        if word(end) != Some(hash::of(&bytes[..end])) {
            return Err("is damaged: its checksum is that of other bytes".to_owned());
        }
        if of != kernels {
            return Err("was made of the kernels of another version of this program".to_owned());
        }
        let entry = |number: usize| {
            let at = HEADER + number.checked_mul(ENTRY)?;
            let capability = (half(at)? as i32, half(at + 4)? as i32);
            let (from, len) = (usize::try_from(word(at + 8)?).ok()?, usize::try_from(word(at + 16)?).ok()?);
            let to = from.checked_add(len).filter(|&to| to <= end && len > 0)?;
            Some(Entry { capability, from, to })
        };
        let outside = "is damaged: what it lists lies outside of it";
        // No more than there is room for, whatever the number says.
        let room = (end - HEADER) / ENTRY;
        let entries = (count <= room).then(|| (0..count).map(entry).collect::<Option<Vec<_>>>()).flatten();
        Ok(Self { entries: entries.ok_or(outside)?, bytes })
    }

    /// The binary for GPUs of this kind: what was compiled for a lower minor number runs, too.
    pub fn binary(&self, (major, minor): Capability) -> Result<&[u8], String> {
        let runs = |entry: &&Entry| entry.capability.0 == major && entry.capability.1 <= minor;
        let best = self.entries.iter().filter(runs).max_by_key(|entry| entry.capability.1);
        let found = best.and_then(|entry| self.bytes.get(entry.from..entry.to));
        found.ok_or_else(|| {
            let mut known = String::new();
            for (number, Entry { capability: (major, minor), .. }) in self.entries.iter().enumerate() {
                let _ = write!(known, "{}{major}.{minor}", if number > 0 { ", " } else { "" });
            }
            format!("has no kernels for compute capability {major}.{minor}, but for {known}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNELS: u64 = 0x1234_5678_9abc_def0;

    fn bundle() -> Vec<u8> {
        let of = |capability, text: &str| (capability, text.as_bytes().to_vec());
        written(KERNELS, &[of((8, 0), "ampere"), of((8, 9), "ada"), of((9, 0), "hopper")])
    }

    fn parsed(bytes: Vec<u8>) -> Result<Bundle, String> {
        Bundle::parse(bytes, KERNELS)
    }

    fn error(bytes: Vec<u8>) -> String {
        parsed(bytes).err().expect("refused")
    }

    #[test]
    fn a_gpu_gets_the_binary_of_its_kind_or_of_a_lower_minor_number() {
        let bundle = parsed(bundle()).expect("a bundle");
        let of = |capability| bundle.binary(capability).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(
            [of((8, 0)), of((8, 6)), of((8, 9)), of((9, 0))].map(Result::unwrap),
            ["ampere", "ampere", "ada", "hopper"]
        );
        let known = "has no kernels for compute capability 10.0, but for 8.0, 8.9, 9.0";
        assert_eq!((of((10, 0)), of((7, 5)).is_err()), (Err(known.to_owned()), true));
    }

    /// Whatever byte is another one or missing: a sentence, and no binary of it.
    #[test]
    fn a_damaged_bundle_is_a_sentence() {
        let whole = bundle();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x41;
            let why = error(damaged);
            let known = ["is damaged: ", "is no bundle", "has format ", "was made of the kernels"];
            assert!(known.iter().any(|known| why.starts_with(known)), "{at}: {why}");
            assert!(error(whole[..at].to_vec()).starts_with("is "), "{at}");
        }
        assert!(error([&whole[..], b"\0"].concat()).starts_with("is damaged: it has "));
        assert_eq!(error(written(KERNELS + 1, &[])), "was made of the kernels of another version of this program");
        assert!(parsed(written(KERNELS, &[])).expect("a bundle").binary((8, 0)).is_err());
    }

    #[test]
    fn lengths_that_lie_are_believed_no_further_than_the_file_reaches() {
        // Where a binary is, how long it is, how many there are.
        let places = [(HEADER + 8, u64::MAX), (HEADER + 8, 1 << 40), (HEADER + 16, u64::MAX), (HEADER + 16, 0)];
        for (at, value) in places.into_iter().chain([(HEADER + 16, 1 << 20), (12, u64::MAX), (12, 1 << 20)]) {
            let (mut bytes, size) = (bundle(), if at < HEADER { 4 } else { 8 });
            bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            let end = bytes.len() - END;
            let checksum = hash::of(&bytes[..end]);
            bytes[end..].copy_from_slice(&checksum.to_le_bytes());
            assert_eq!(error(bytes), "is damaged: what it lists lies outside of it", "{at}, {value}");
        }
    }

    #[test]
    fn what_is_no_file_or_too_large_is_a_sentence() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(NAME);
        assert!(Bundle::read(&path, KERNELS).expect("nothing").is_none());
        let why = Bundle::read(folder.path(), KERNELS).err().expect("a folder");
        assert!(why.starts_with("cannot be read: it is a folder"), "{why}");
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(MOST + 1).expect("a hole");
        let why = Bundle::read(&path, KERNELS).err().expect("too large");
        assert!(why.starts_with("cannot be read: "), "{why}");
    }
}
