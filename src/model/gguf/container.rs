//! The container: a header, fields, and a table of tensors, all with lengths that are believed only as far as
//! the file reaches. (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>)

use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value};

use crate::model::{ModelError, TensorType};

/// Most entries of all lists together, and most fields and tensors: far above any model's, and little memory.
const MAX_ENTRIES: u64 = 1 << 23;

/// Most lists inside of lists.
const MAX_DEPTH: usize = 4;

/// Fields and tensors, which stand before the data.
pub struct Header {
    /// The fields by name.
    pub fields: Map<String, Value>,
    /// The tensors.
    pub tensors: Vec<Info>,
}

/// A tensor of the table.
pub struct Info {
    /// Its name.
    pub name: String,
    /// Its type, or the number of one that isn't read.
    pub dtype: Result<TensorType, u32>,
    /// Slowest first.
    pub shape: Vec<usize>,
    /// Its bytes in the file; empty for a type that isn't read.
    pub range: Range<usize>,
}

/// Reads the header of a file.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Header, ModelError> {
    if let Some(what) = other_kind(bytes) {
        return Err(ModelError::Mistaken { path: path.into(), what: what.into() });
    }
    parse(bytes).map_err(|problem| ModelError::Gguf { path: path.into(), problem })
}

/// Kinds of GGUF that no program writes any more or that other machines read.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    let version = bytes.strip_prefix(b"GGUF")?.first_chunk()?;
    match (u32::from_le_bytes(*version), u32::from_be_bytes(*version)) {
        (1, _) => Some(
            "it is a GGUF file of version 1, which was in use for a few weeks of 2023 and is not read; get a newer file \
             of the model",
        ),
        (_, 1..=3) => Some(
            "it is a GGUF file for machines of the other byte order (big-endian), which is not read; get the \
             little-endian file of the model, which has no `be` in its name",
        ),
        _ => None,
    }
}

fn parse(bytes: &[u8]) -> Result<Header, String> {
    let mut reader = Reader { bytes, at: 0, entries: 0 };
    if reader.take(4)? != b"GGUF" {
        return Err("it doesn't begin with GGUF".into());
    }
    match reader.u32()? {
        2 | 3 => {}
        version => return Err(format!("version {version}, expected 2 or 3")),
    }
    let (tensors, fields) = (reader.u64()?, reader.u64()?);
    reader.count(tensors)?;
    reader.count(fields)?;
    let mut map = Map::new();
    for _ in 0..fields {
        let name = reader.text()?;
        let kind = reader.u32()?;
        let value = reader.value(kind, 0)?;
        map.insert(name, value);
    }
    let mut infos = Vec::new();
    for _ in 0..tensors {
        infos.push(reader.info()?);
    }
    let alignment = map.get("general.alignment").map_or(Some(32), Value::as_u64);
    let Some(alignment) = alignment.and_then(|a| usize::try_from(a).ok()).filter(|a| a.is_power_of_two()) else {
        return Err("general.alignment is no power of two".into());
    };
    let data = reader.at.checked_next_multiple_of(alignment).ok_or("the header is too long")?;
    for info in &mut infos {
        let inside = || {
            let dtype = info.dtype.ok()?;
            let (last, rest) = info.shape.split_last()?;
            let len = rest.iter().try_fold(dtype.bytes(*last)?, |len, n| len.checked_mul(*n))?;
            let start = data.checked_add(info.range.start)?;
            let end = start.checked_add(len).filter(|end| *end <= bytes.len())?;
            Some(start..end)
        };
        info.range = match (inside(), info.dtype) {
            (Some(range), _) => range,
            (None, Err(_)) => 0..0,
            (None, Ok(dtype)) => {
                let end = || {
                    let (last, rest) = info.shape.split_last()?;
                    let len = rest.iter().try_fold(dtype.bytes(*last)?, |len, n| len.checked_mul(*n))?;
                    data.checked_add(info.range.start)?.checked_add(len)
                };
                return Err(match end() {
                    Some(end) => {
                        format!("it has {} bytes, and tensor `{}` ends at byte {end}", bytes.len(), info.name)
                    }
                    None => format!("tensor `{}` is no whole number of blocks, or too large", info.name),
                });
            }
        };
    }
    Ok(Header { fields: map, tensors: infos })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Entries of lists so far.
    entries: u64,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("the header goes on after the end, at byte {}", self.at))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| "the header is cut off".to_owned())
    }

    fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Counts entries before memory is taken for them: each has at least a byte.
    fn count(&mut self, more: u64) -> Result<usize, String> {
        self.entries = self.entries.saturating_add(more);
        let left = (self.bytes.len() - self.at) as u64;
        if self.entries > MAX_ENTRIES || more > left {
            return Err(format!("a list of {more} entries at byte {}", self.at));
        }
        Ok(more as usize)
    }

    fn text(&mut self) -> Result<String, String> {
        let len = self.u64()?;
        let len = usize::try_from(len).map_err(|_| format!("a text of {len} bytes"))?;
        // Vocabularies may hold pieces of characters.
        Ok(String::from_utf8_lossy(self.take(len)?).into_owned())
    }

    fn value(&mut self, kind: u32, depth: usize) -> Result<Value, String> {
        Ok(match kind {
            0 => u8::from_le_bytes(self.array()?).into(),
            1 => i8::from_le_bytes(self.array()?).into(),
            2 => u16::from_le_bytes(self.array()?).into(),
            3 => i16::from_le_bytes(self.array()?).into(),
            4 => self.u32()?.into(),
            5 => i32::from_le_bytes(self.array()?).into(),
            6 => f32::from_le_bytes(self.array()?).into(),
            7 => (self.array::<1>()? != [0]).into(),
            8 => self.text()?.into(),
            9 if depth < MAX_DEPTH => {
                let kind = self.u32()?;
                let len = self.u64()?;
                let len = self.count(len)?;
                let mut list = Vec::with_capacity(len);
                for _ in 0..len {
                    list.push(self.value(kind, depth + 1)?);
                }
                list.into()
            }
            10 => self.u64()?.into(),
            11 => i64::from_le_bytes(self.array()?).into(),
            12 => f64::from_le_bytes(self.array()?).into(),
            _ => return Err(format!("a value of kind {kind} at byte {}", self.at)),
        })
    }

    fn info(&mut self) -> Result<Info, String> {
        let name = self.text()?;
        let dimensions = self.u32()?;
        if !(1..=4).contains(&dimensions) {
            return Err(format!("tensor `{name}` has {dimensions} dimensions"));
        }
        let mut shape = Vec::new();
        for _ in 0..dimensions {
            let size = self.u64()?;
            shape.push(usize::try_from(size).map_err(|_| format!("tensor `{name}` is {size} wide"))?);
        }
        shape.reverse();
        let number = self.u32()?;
        let dtype = TensorType::all().find(|dtype| dtype.number() == number).ok_or(number);
        let start = self.u64()?;
        let start = usize::try_from(start).map_err(|_| format!("tensor `{name}` begins at {start}"))?;
        Ok(Info { name, dtype, shape, range: start..start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
        let mut bytes = [b"GGUF".to_vec(), 3u32.to_le_bytes().to_vec()].concat();
        bytes.extend([1u64, 2].iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend([text("a.n"), 4u32.to_le_bytes().to_vec(), 7u32.to_le_bytes().to_vec()].concat());
        bytes.extend([text("list"), 9u32.to_le_bytes().to_vec(), 8u32.to_le_bytes().to_vec()].concat());
        bytes.extend([2u64.to_le_bytes().to_vec(), text("x"), text("y")].concat());
        bytes.extend([text("t"), 2u32.to_le_bytes().to_vec()].concat());
        bytes.extend([3u64, 2].iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend([0u32.to_le_bytes().to_vec(), 0u64.to_le_bytes().to_vec()].concat());
        bytes.resize(bytes.len().next_multiple_of(32) + 24, 0);
        bytes
    }

    #[test]
    fn fields_and_tensors_are_found() {
        let bytes = file();
        let header = parse(&bytes).expect("readable");
        assert_eq!(header.fields["a.n"], 7);
        assert_eq!(header.fields["list"], serde_json::json!(["x", "y"]));
        let tensor = &header.tensors[0];
        assert_eq!((tensor.name.as_str(), &tensor.shape[..], tensor.range.len()), ("t", &[2, 3][..], 24));
        assert_eq!(tensor.range.end, bytes.len());
    }

    #[test]
    fn every_way_to_cut_a_file_is_an_error_and_no_number_is_believed() {
        let whole = file();
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "{end} bytes");
        }
        // Huge numbers everywhere: errors or other contents, never a panic or much memory.
        for at in 0..whole.len() {
            for value in [0xff, 0x7f, 0x80, 9] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let _ = parse(&damaged);
                damaged[at..].iter_mut().take(8).for_each(|byte| *byte = value);
                let _ = parse(&damaged);
            }
        }
    }
}
