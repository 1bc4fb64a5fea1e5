//! The weights of a model as bytes: safetensors files, single or sharded, mapped into memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, Value};

use super::gguf::container::{self, Header, Info};
use super::tensors::StridedRanges;
use super::{ModelError, TensorType, blocks, fields, microscaled, mistaken};
use crate::files;

/// The weights, where they are one file.
pub const SINGLE: &str = "model.safetensors";
/// List of the files of the weights, where they are several.
pub const INDEX: &str = "model.safetensors.index.json";

/// Ends of the names of the two parts of a tensor in blocks of four bits: see `microscaled`.
const BLOCKS: &str = "_blocks";
const SCALES: &str = "_scales";

/// One tensor of a checkpoint: little-endian elements, or blocks of them, in row-major order, at no
/// particular alignment.
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    /// Number format.
    pub dtype: TensorType,
    /// The elements.
    pub bytes: Cow<'a, [u8]>,
}

impl Tensor<'_> {
    /// A matrix of floats with its rows of `columns` elements made columns.
    pub fn transposed(&self, columns: usize) -> Tensor<'static> {
        let (_, size) = self.dtype.block();
        let mut bytes = Vec::with_capacity(self.bytes.len());
        for column in 0..columns {
            for row in self.bytes.chunks_exact(columns * size) {
                bytes.extend_from_slice(&row[column * size..(column + 1) * size]);
            }
        }
        Tensor { dtype: self.dtype, bytes: bytes.into() }
    }

    /// Columns of matrices of floats `[inputs, outputs]`, one below the other, as rows; counted through all
    /// of them.
    pub(super) fn columns(&self, (inputs, outputs): (usize, usize), columns: StridedRanges) -> Tensor<'static> {
        let (_, size) = self.dtype.block();
        let StridedRanges { start, len, step, count } = columns;
        let matrix = &self.bytes[start / outputs * inputs * outputs * size..];
        let mut bytes = Vec::with_capacity(count * len * inputs * size);
        for column in (0..count).flat_map(|run| run * step..run * step + len) {
            for input in 0..inputs {
                bytes.extend_from_slice(&matrix[(input * outputs + start % outputs + column) * size..][..size]);
            }
        }
        Tensor { dtype: self.dtype, bytes: bytes.into() }
    }
}

/// The table of a checkpoint's tensors, over the bytes of its files.
pub struct Checkpoint {
    /// The folder, or the name of an embedded model: for messages about tensors that no file has.
    origin: PathBuf,
    files: Vec<Source>,
    tensors: HashMap<String, Entry>,
    /// The types that files of this kind may have, for messages.
    types: Vec<TensorType>,
}

/// A tensor in blocks of four bits: see `microscaled`.
pub struct Microscaled<'a> {
    blocks: &'a [u8],
    scales: &'a [u8],
    /// Blocks of a row.
    row: usize,
}

impl Microscaled<'_> {
    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.row * microscaled::DTYPE.block().1
    }

    /// These rows.
    pub fn rows(&self, rows: StridedRanges) -> Tensor<'static> {
        let StridedRanges { start, len, step, count } = rows;
        let mut bytes = Vec::with_capacity(count * len * self.row_bytes());
        for run in 0..count {
            let at = (start + run * step) * self.row..(start + run * step + len) * self.row;
            let half = microscaled::BLOCK / 2;
            microscaled::repack(&self.blocks[at.start * half..at.end * half], &self.scales[at], &mut bytes);
        }
        Tensor { dtype: microscaled::DTYPE, bytes: bytes.into() }
    }
}

struct Source {
    path: PathBuf,
    bytes: Bytes,
}

enum Bytes {
    Static(&'static [u8]),
    Mapped(Mmap),
}

struct Entry {
    file: usize,
    /// The type, or the name of one that isn't read.
    dtype: Result<TensorType, String>,
    shape: Vec<usize>,
    range: Range<usize>,
}

impl Checkpoint {
    /// Opens `model.safetensors`, or the shards of `model.safetensors.index.json`, in `folder`.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let mut checkpoint = Self::empty(folder.into());
        let single = folder.join(SINGLE);
        if single.exists() {
            checkpoint.add(single.clone(), map(&single)?)?;
            return Ok(checkpoint);
        }
        let index = folder.join(INDEX);
        if !index.exists() {
            let usual = "the folder has neither this file nor model.safetensors.index.json; get the safetensors files of \
                         the model";
            let need = mistaken::weights(folder).unwrap_or_else(|| usual.into());
            return Err(ModelError::Missing { path: single, need });
        }
        for shard in shards(&index)? {
            let path = folder.join(&shard);
            if !path.exists() {
                let need = "model.safetensors.index.json lists it as a part of the weights; download it".into();
                return Err(ModelError::Missing { path, need });
            }
            checkpoint.add(path.clone(), map(&path)?)?;
        }
        Ok(checkpoint)
    }

    /// A checkpoint in the bytes of one safetensors file; `path` is a name for messages.
    pub fn from_static(path: &Path, bytes: &'static [u8]) -> Result<Self, ModelError> {
        let mut checkpoint = Self::empty(path.into());
        checkpoint.add(path.into(), Bytes::Static(bytes))?;
        Ok(checkpoint)
    }

    /// The files, in a fixed order; `None` if the weights are part of the program.
    pub fn paths(&self) -> Option<impl Iterator<Item = &Path>> {
        let on_disk = self.files.iter().all(|file| matches!(file.bytes, Bytes::Mapped(_)));
        on_disk.then(|| self.files.iter().map(|file| &*file.path))
    }

    fn empty(origin: PathBuf) -> Self {
        Self { origin, files: Vec::new(), tensors: HashMap::new(), types: TensorType::FLOATS.to_vec() }
    }

    /// An empty checkpoint of GGUF files.
    pub(super) fn of_gguf(origin: PathBuf) -> Self {
        Self { types: TensorType::all().collect(), ..Self::empty(origin) }
    }

    /// Adds a GGUF file; returns its fields.
    pub(super) fn add_gguf(&mut self, path: &Path) -> Result<Map<String, Value>, ModelError> {
        let bytes = map(path)?;
        let Header { fields, tensors } = container::read(path, bytes.as_slice())?;
        if let Bytes::Mapped(map) = &bytes {
            release(map, &(0..map.len()));
        }
        for Info { name, dtype, shape, range } in tensors {
            let dtype = dtype.map_err(blocks::name_of);
            self.tensors.insert(name, Entry { file: self.files.len(), dtype, shape, range });
        }
        self.files.push(Source { path: path.into(), bytes });
        Ok(fields)
    }

    /// The names of all tensors.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.tensors.keys()
    }

    /// The error that the tensor `name` is there.
    pub(super) fn refused(&self, name: &str, expected: &str) -> ModelError {
        let entry = self.tensors.get(name);
        let source = entry.map(|entry| &self.files[entry.file].path);
        let dtype = entry.map(|entry| entry.dtype.as_ref().map_or_else(Clone::clone, ToString::to_string));
        ModelError::Tensor {
            path: source.unwrap_or(&self.origin).clone(),
            tensor: name.into(),
            found: format!(
                "{} of shape {:?}",
                dtype.unwrap_or_default(),
                entry.map_or(&[][..], |entry| entry.shape.as_slice())
            ),
            expected: expected.into(),
        }
    }

    fn add(&mut self, path: PathBuf, bytes: Bytes) -> Result<(), ModelError> {
        let damaged = |problem: String| ModelError::Checkpoint { path: path.clone(), problem };
        let (header, metadata) = SafeTensors::read_metadata(bytes.as_slice())
            .map_err(|error| damaged(cut_off(bytes.as_slice()).unwrap_or_else(|| error.to_string())))?;
        // The header's length stands before it in 8 bytes; `read_metadata` has checked the table against the
        // file size.
        let data = header + 8;
        for (name, info) in metadata.tensors() {
            let (start, end) = info.data_offsets;
            let range = data + start..data + end;
            if range.start > range.end || range.end > bytes.as_slice().len() {
                return Err(damaged(format!("tensor `{name}` lies outside the file")));
            }
            let dtype = match info.dtype {
                Dtype::F32 => Ok(TensorType::F32),
                Dtype::F16 => Ok(TensorType::F16),
                Dtype::BF16 => Ok(TensorType::Bf16),
                other => Err(format!("{other:?}")),
            };
            let entry = Entry { file: self.files.len(), dtype, shape: info.shape.clone(), range };
            self.tensors.insert(name, entry);
        }
        self.files.push(Source { path, bytes });
        Ok(())
    }

    /// Calls tensors otherwise, as `name` says of theirs.
    pub(super) fn rename(&mut self, name: impl Fn(&str) -> Option<String>) {
        let tensors = std::mem::take(&mut self.tensors);
        self.tensors = tensors.into_iter().map(|(old, entry)| (name(&old).unwrap_or(old), entry)).collect();
    }

    /// The whole numbers of 64 bits of the tensor `name`, which must have so many; `None` without such a
    /// tensor.
    pub(super) fn whole_numbers(&self, name: &str, count: usize) -> Result<Option<Vec<i64>>, ModelError> {
        let Some(Entry { file, dtype, shape, range }) = self.tensors.get(name) else { return Ok(None) };
        if !matches!(dtype, Err(dtype) if dtype == "I64") || shape[..] != [count] || range.len() != count * 8 {
            return Err(self.refused(name, &format!("I64 of shape [{count}]")));
        }
        let (numbers, _) = self.files[*file].bytes.as_slice()[range.clone()].as_chunks();
        Ok(Some(numbers.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()))
    }

    /// True if there is a tensor `name`.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// The tensor `name`, which must have the given shape.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor<'_>, ModelError> {
        if let Some(blocks) = self.microscaled(name, shape)? {
            let len = shape.iter().rev().skip(1).product();
            return Ok(blocks.rows(StridedRanges { start: 0, len, step: len, count: 1 }));
        }
        let (entry, dtype) = self.find(name, shape)?;
        let bytes = &self.files[entry.file].bytes.as_slice()[entry.range.clone()];
        Ok(Tensor { dtype, bytes: bytes.into() })
    }

    /// The tensor `name` has been read: the system need not keep its part of the file in this program's
    /// memory. It can be read again.
    pub(super) fn release(&self, name: &str) {
        let parts = ["", BLOCKS, SCALES].map(|part| self.tensors.get(&format!("{name}{part}")));
        for Entry { file, range, .. } in parts.into_iter().flatten() {
            if let Bytes::Mapped(map) = &self.files[*file].bytes {
                release(map, range);
            }
        }
    }

    /// As [`release`](Self::release), of everything.
    pub(super) fn release_all(&self) {
        for file in &self.files {
            if let Bytes::Mapped(map) = &file.bytes {
                release(map, &(0..map.len()));
            }
        }
    }

    /// The type of the tensor `name`, which must have the given shape.
    pub fn tensor_type(&self, name: &str, shape: &[usize]) -> Result<TensorType, ModelError> {
        if self.microscaled(name, shape)?.is_some() {
            return Ok(microscaled::DTYPE);
        }
        self.find(name, shape).map(|(_, dtype)| dtype)
    }

    /// The tensor `name`, which must have the given shape, if it is stored in blocks of four bits.
    pub fn microscaled(&self, name: &str, shape: &[usize]) -> Result<Option<Microscaled<'_>>, ModelError> {
        if self.has(name) || !self.has(&format!("{name}{BLOCKS}")) {
            return Ok(None);
        }
        let (&[ref outer @ .., inputs], block) = (shape, microscaled::BLOCK) else { return Ok(None) };
        let row = inputs / block;
        let bytes = |name: String, shape: Vec<usize>| {
            let Some(entry) = self.tensors.get(&name) else { return self.find(&name, &shape).map(|_| &[][..]) };
            let source = &self.files[entry.file];
            let fits = entry.shape == shape && shape.iter().product::<usize>() == entry.range.len();
            if !fits || !inputs.is_multiple_of(block) || !matches!(&entry.dtype, Err(dtype) if dtype == "U8") {
                let found = entry.dtype.as_ref().map_or_else(Clone::clone, ToString::to_string);
                return Err(ModelError::Tensor {
                    path: source.path.clone(),
                    tensor: name,
                    found: format!("{found} of shape {:?}", entry.shape),
                    expected: format!("U8 of shape {shape:?}"),
                });
            }
            Ok(&source.bytes.as_slice()[entry.range.clone()])
        };
        let scales = [outer, &[row]].concat();
        let blocks = [&scales[..], &[block / 2]].concat();
        let (blocks, scales) = (bytes(format!("{name}{BLOCKS}"), blocks)?, bytes(format!("{name}{SCALES}"), scales)?);
        Ok(Some(Microscaled { blocks, scales, row }))
    }

    fn find(&self, name: &str, shape: &[usize]) -> Result<(&Entry, TensorType), ModelError> {
        let expected = |types: &[TensorType]| {
            let names: Vec<String> = types.iter().map(ToString::to_string).collect();
            let (first, last) = names.split_at(names.len() - 1);
            format!("{} or {} of shape {shape:?}", first.join(", "), last.concat())
        };
        let error_of = |path: &Path, found: String, expected: String| ModelError::Tensor {
            path: path.into(),
            tensor: name.into(),
            found,
            expected,
        };
        let error = |path: &Path, found: String| {
            // Of many types the shape is what can be wrong.
            let any = || format!("a tensor of shape {shape:?}");
            error_of(
                path,
                found,
                if self.types.len() > TensorType::FLOATS.len() { any() } else { expected(&self.types) },
            )
        };
        let Some(entry) = self.tensors.get(name) else {
            let path = if let [only] = &self.files[..] { &only.path } else { &self.origin };
            return Err(error(path, "no such tensor".into()));
        };
        let source = &self.files[entry.file];
        let found = || {
            let dtype = entry.dtype.as_ref().map_or_else(Clone::clone, ToString::to_string);
            format!("{dtype} of shape {:?}", entry.shape)
        };
        let Ok(dtype) = entry.dtype else {
            let instead = format!("{}; get a file of the model in one of these types", expected(&self.types));
            return Err(error_of(&source.path, found(), instead));
        };
        let rows: usize = shape.iter().rev().skip(1).product();
        let row = shape.last().and_then(|&row| dtype.bytes(row));
        // Sizes of 1 are written by some and left out by others.
        let sizes = |shape: &[usize]| shape.iter().copied().filter(|&size| size != 1).collect::<Vec<_>>();
        if sizes(&entry.shape) != sizes(shape) || row.and_then(|row| row.checked_mul(rows)) != Some(entry.range.len()) {
            return Err(error(&source.path, found()));
        }
        Ok((entry, dtype))
    }
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

/// Takes pages of a mapping out of the memory of this program, as far as the system does such a thing.
fn release(map: &Mmap, range: &Range<usize>) {
    #[cfg(unix)]
    if !range.is_empty() {
        // SAFETY: the mapping is of a file and never written to: pages that are asked for again come from it.
        let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, range.start, range.len()) };
    }
}

fn map(path: &Path) -> Result<Bytes, ModelError> {
    let error = |source| ModelError::Io { path: path.into(), source };
    let file = files::open(path).map_err(error)?;
    // SAFETY: the mapping is read-only and private to this value. Another program that shortens the file
    // while it is mapped would end this one with a bus error; model files are written once and read from then
    // on.
    let map = unsafe { Mmap::map(&file) }.map_err(error)?;
    mistaken::refuse(path, &map)?;
    Ok(Bytes::Mapped(map))
}

/// Says how much of a safetensors file is missing, if its header says that something is.
fn cut_off(bytes: &[u8]) -> Option<String> {
    let header = usize::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).ok()?;
    let missing = |whole: usize| format!("it has {} of {whole} bytes", bytes.len());
    let data = header.checked_add(8).filter(|data| *data < 1 << 27)?;
    let Some(header) = bytes.get(8..data) else {
        return Some(format!("it has {} bytes, its header alone {data}", bytes.len()));
    };
    let header: Map<String, Value> = serde_json::from_slice(header).ok()?;
    let end = |tensor: &Value| tensor.get("data_offsets")?.get(1)?.as_u64();
    let whole = data.checked_add(usize::try_from(header.values().filter_map(end).max()?).ok()?)?;
    (bytes.len() < whole).then(|| missing(whole))
}

/// The distinct files of an index, in order of name.
pub fn shards(index: &Path) -> Result<BTreeSet<String>, ModelError> {
    let bytes = files::read(index, files::DATA).map_err(|source| ModelError::Io { path: index.into(), source })?;
    let root = fields::parse(index, &bytes)?;
    let error = |found: String, expected: &str| ModelError::field(index, "weight_map", found, expected);
    let expected = "an object of tensor names and file names";
    let map: BTreeMap<String, String> = match root.get("weight_map") {
        Some(map) => serde_json::from_value(map.clone()).map_err(|problem| error(problem.to_string(), expected))?,
        None => return Err(error("nothing".into(), expected)),
    };
    let files: BTreeSet<String> = map.into_values().collect();
    match files.iter().find(|file| Path::new(file).file_name().is_none_or(|name| name != file.as_str())) {
        Some(file) => Err(error(format!("the file name {file:?}"), "names of files in the same folder")),
        None => Ok(files),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, content: &[u8]) {
        std::fs::write(folder.join(name), content).expect("a writable temporary folder");
    }

    fn one_tensor() -> Vec<u8> {
        let header = br#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"I32","shape":[1],"data_offsets":[8,12]}}"#;
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header);
        file.extend([1.0f32, 2.0].iter().flat_map(|value| value.to_le_bytes()));
        file.extend(7i32.to_le_bytes());
        file
    }

    #[test]
    fn tensors_are_found_and_wrong_ones_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(folder.path(), "model.safetensors", &one_tensor());
        let checkpoint = Checkpoint::open(folder.path()).expect("a readable checkpoint");
        assert_eq!(checkpoint.tensor("a", &[2]).expect("present").bytes[4..], 2.0f32.to_le_bytes());
        for (name, shape, found) in
            [("a", [3], "F32 of shape [2]"), ("b", [1], "I32 of shape [1]"), ("c", [1], "no such tensor")]
        {
            let message = checkpoint.tensor(name, &shape).expect_err(name).to_string();
            let place = format!("model.safetensors: tensor `{name}`: found {found}, expected ");
            assert!(message.contains(&place), "{message}");
        }
    }

    #[test]
    fn blocks_of_four_bits_need_scales_of_their_shape() {
        let file = |scales: &str| {
            let header = format!(r#"{{"w_blocks":{{"dtype":"U8","shape":[2,1,16],"data_offsets":[0,32]}}{scales}}}"#);
            let mut file = (header.len() as u64).to_le_bytes().to_vec();
            file.extend_from_slice(header.as_bytes());
            file.extend([0x22; 32]);
            file.extend([127, 128]);
            file
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let open = |scales: &str| {
            write(folder.path(), "model.safetensors", &file(scales));
            Checkpoint::open(folder.path()).expect("a readable checkpoint")
        };
        let whole = open(r#","w_scales":{"dtype":"U8","shape":[2,1],"data_offsets":[32,34]}"#);
        let tensor = whole.tensor("w", &[2, 32]).expect("present");
        assert_eq!((tensor.dtype, tensor.bytes.len()), (TensorType::Mxfp4, 34));
        assert_eq!(whole.tensor_type("w", &[2, 32]).expect("present"), TensorType::Mxfp4);
        let mut values = [0.0; 64];
        blocks::widen(tensor.dtype, &tensor.bytes, &mut values);
        assert_eq!([values[..32].to_vec(), values[32..].to_vec()], [[1.0; 32], [2.0; 32]]);
        for (checkpoint, shape, name) in [
            (&whole, &[2, 64][..], "w_blocks"),
            (&whole, &[2, 33], "w_blocks"),
            (&open(r#","w_scales":{"dtype":"U8","shape":[1,2],"data_offsets":[32,34]}"#), &[2, 32], "w_scales"),
        ] {
            let message = checkpoint.tensor("w", shape).expect_err(name).to_string();
            assert!(message.contains(&format!("tensor `{name}`: found U8")), "{message}");
        }
        let mut short = file("");
        short.truncate(short.len() - 2);
        write(folder.path(), "model.safetensors", &short);
        let message = Checkpoint::open(folder.path()).expect("readable").tensor("w", &[2, 32]).expect_err("no scales");
        assert!(message.to_string().contains("`w_scales`: found no such tensor"), "{message}");
    }

    #[test]
    fn every_way_to_cut_a_file_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let whole = one_tensor();
        for end in 0..whole.len() {
            write(folder.path(), "model.safetensors", &whole[..end]);
            let message = Checkpoint::open(folder.path()).err().expect("cut").to_string();
            assert!(message.contains("model.safetensors: "), "{message}");
        }
    }

    #[test]
    fn an_index_may_not_point_outside_its_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in ["../x", "/etc/passwd", "", "a/b", ".."] {
            let index = format!(r#"{{"weight_map":{{"a":"{file}"}}}}"#);
            write(folder.path(), "model.safetensors.index.json", index.as_bytes());
            let message = Checkpoint::open(folder.path()).err().expect("outside").to_string();
            assert!(message.contains("index.json: field `weight_map`"), "{message}");
        }
    }

    #[test]
    fn a_missing_shard_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(folder.path(), "model.safetensors.index.json", br#"{"weight_map":{"a":"model-1.safetensors"}}"#);
        let message = Checkpoint::open(folder.path()).err().expect("missing").to_string();
        assert!(message.contains("model-1.safetensors: not found"), "{message}");
    }
}
