//! Quantised weights kept in a file from one start to the next.
//!
//! The file has a header, the key (what the weights were made from and how) and then codes and scales of all
//! matrices in the order in which a model is loaded, each from a multiple of 64 bytes on. It is written
//! beside its place and renamed, mapped into memory, and never trusted: a file with another key, of another
//! length or with another checksum is made anew, and whatever its bytes are, they are numbers.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use memmap2::Mmap;

use super::weights::{Line, Quantized, Scales};
use crate::backend::cpu::memory::Memory;
use crate::backend::cpu::pack::NR;
use crate::backend::plain::{Plain, bytes_of};
use crate::backend::storage::{BLOCK, Bits, Format, Kind};
use crate::files;
use crate::hash;
use crate::model::ModelWeights;

/// Changes with the format of codes and scales and with what they are made by.
const VERSION: u32 = 1;

/// Of a header, in bytes: this many are the mark, then come the length of the key, the length of the weights
/// and their checksum.
const MARK: &[u8; 8] = b"bassqnt\n";
const HEADER: usize = 32;

/// Codes and scales start at multiples of this.
const ALIGNMENT: usize = 64;

/// The file for one model and one storage.
pub struct SavedWeights {
    path: PathBuf,
    key: String,
}

impl SavedWeights {
    /// The file in `folder`; `None` for a model that has no files, and where these cannot be told apart.
    pub fn new(folder: &Path, model: &ModelWeights, storage: &str) -> Option<Self> {
        let mut key = format!("{VERSION} {storage} {}\n", if cfg!(target_endian = "big") { "big" } else { "little" });
        let mut hash = Checksum::default();
        for path in model.checkpoint.paths()? {
            let path = path.canonicalize().ok()?;
            let data = path.metadata().ok()?;
            let modified = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            let _ = writeln!(key, "{} {} {}", path.display(), data.len(), modified.as_nanos());
            hash.add(path.as_os_str().as_encoded_bytes());
        }
        // A model that has changed takes the place of what it was.
        let readable: String = model.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
        let path = folder.join(format!("{readable}-{:016x}.{storage}", hash.value()));
        Some(Self { path, key })
    }

    /// The weights, if they are there and whole.
    pub fn read(&self) -> Option<Reader> {
        let file = files::open(&self.path).ok()?;
        // SAFETY: the mapping is read-only and private to this value. The file is only ever replaced, never
        // shortened, by this program.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let number = |at: usize| Some(u64::from_le_bytes(map.get(at..at + 8)?.try_into().ok()?));
        if map.get(..8)? != MARK || number(8)? != self.key.len() as u64 {
            return None;
        }
        let end_of_key = HEADER + self.key.len();
        let start = end_of_key.next_multiple_of(ALIGNMENT);
        let weights = map.get(start..)?;
        let sound = map.get(HEADER..end_of_key)? == self.key.as_bytes()
            && number(16)? == weights.len() as u64
            && number(24)? == Checksum::of(weights);
        sound.then(|| Reader { file: Arc::new(map), at: start })
    }

    /// Keeps the weights. What cannot be kept is made again at the next start.
    pub fn write<'a>(&self, matrices: impl Iterator<Item = &'a Quantized>) {
        let _ = files::replace(&self.path, |error| error, |file| self.write_to(file, matrices));
    }

    fn write_to<'a>(&self, file: &mut File, matrices: impl Iterator<Item = &'a Quantized>) -> std::io::Result<()> {
        let mut file = BufWriter::new(file);
        let (mut checksum, mut len) = (Checksum::default(), 0u64);
        let padding = [0; ALIGNMENT];
        let before = HEADER + self.key.len();
        file.write_all(&[0; HEADER])?;
        file.write_all(self.key.as_bytes())?;
        file.write_all(&padding[..before.next_multiple_of(ALIGNMENT) - before])?;
        for matrix in matrices {
            for bytes in [bytes_of(matrix.codes()), bytes_of(matrix.scales())] {
                for bytes in [bytes, &padding[..bytes.len().next_multiple_of(ALIGNMENT) - bytes.len()]] {
                    file.write_all(bytes)?;
                    len += bytes.len() as u64;
                    checksum.add(bytes);
                }
            }
        }
        let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        std::io::Seek::rewind(file)?;
        let numbers = [self.key.len() as u64, len, checksum.value()].map(u64::to_le_bytes);
        file.write_all(&[MARK, &numbers.concat()[..]].concat())
    }
}

/// Reads the matrices of a file, one after the other.
pub struct Reader {
    file: Arc<Mmap>,
    at: usize,
}

impl Reader {
    /// The next matrix; `None` if there are not as many bytes.
    pub fn next(&mut self, outputs: usize, inputs: usize, bits: Bits) -> Option<Quantized> {
        let blocks = outputs.div_ceil(NR) * inputs.div_ceil(BLOCK);
        let codes = self.take::<Line>(blocks * bits.lines())?;
        let scales = self.take::<Scales>(blocks)?;
        let format = Format { bits, kind: Kind::Bf16 };
        Some(Quantized::new((outputs, inputs), format, codes, scales, Memory::none()))
    }

    fn take<T: Plain>(&mut self, len: usize) -> Option<Memory<T>> {
        let memory = Memory::mapped(&self.file, self.at, len)?;
        self.at += (len * size_of::<T>()).next_multiple_of(ALIGNMENT);
        Some(memory)
    }
}

/// A sum that any damage of a few bytes changes: eight lanes of words, each mixed in by a step that loses
/// nothing.
struct Checksum {
    lanes: [u64; 8],
    len: u64,
}

impl Default for Checksum {
    fn default() -> Self {
        Self { lanes: [hash::EMPTY; 8], len: 0 }
    }
}

impl Checksum {
    fn of(bytes: &[u8]) -> u64 {
        let mut sum = Self::default();
        sum.add(bytes);
        sum.value()
    }

    /// Adds bytes; all but the last ones in multiples of 64.
    fn add(&mut self, bytes: &[u8]) {
        let mut mix = |lane: usize, word: u64| {
            self.lanes[lane] = hash::mix(self.lanes[lane], word).rotate_left(23);
        };
        let (lines, rest) = bytes.as_chunks::<64>();
        for line in lines {
            for (lane, word) in line.as_chunks::<8>().0.iter().enumerate() {
                mix(lane, u64::from_le_bytes(*word));
            }
        }
        for (i, &byte) in rest.iter().enumerate() {
            mix(i % 8, u64::from(byte) + 1);
        }
        self.len += bytes.len() as u64;
    }

    fn value(&self) -> u64 {
        let all = self.lanes.iter().chain([&self.len]);
        all.fold(0, |sum: u64, &lane| hash::mix(sum, lane).rotate_left(23))
    }
}
