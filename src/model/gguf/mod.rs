//! GGUF: a model in one file, or in a few.
//!
//! `container` reads header, fields and tensor table. `arch` has the architectures with GGUF's names and with
//! the converter's changes: Llama's heads have another order, Gemma's norms include their 1. `tokenizer`
//! writes the vocabulary as a `tokenizer.json`.

mod arch;
pub mod container;
mod tokenizer;

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::fields::Fields;
use super::spec::{ModelSpec, RotaryScaling};
use super::{Checkpoint, ModelError, ModelWeights, Opened, Template, Tokenizer, blocks, config};
use crate::files;
use crate::untrusted::clean_line;

/// Most files of a model.
const MAX_FILES: usize = 1000;

/// The name is that of a GGUF file.
pub fn is_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
}

/// Files with this `general.architecture` can be read.
pub fn can_read(architecture: &str) -> bool {
    arch::ALL.iter().any(|(name, _)| *name == architecture)
}

/// The file has such a name, or begins as GGUF files do.
pub fn is_file(path: &Path) -> bool {
    let begins = || {
        let mut magic = [0; 4];
        files::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"GGUF"
    };
    path.is_file() && (is_name(path) || begins())
}

/// Reads a model from a file; of a split one from any of its parts. `called` is what others call it.
pub(super) fn read(path: &Path, called: Option<&str>) -> Result<Opened, ModelError> {
    let Contents { name, called: own, template, first, spec, fields, eos, checkpoint } = open(path)?;
    let called = [called.unwrap_or_default(), &name, &own].join(" ");
    let tokenizer = Box::new(move || {
        let vocabulary = tokenizer::read(Fields::new(&first, &fields))?;
        Tokenizer::of_pieces(&first, vocabulary)
    });
    let weights = ModelWeights::new(name, spec, checkpoint);
    Ok(Opened { weights, called, eos, template: Ok(template), tokenizer })
}

/// Reads the specification and the tensors of a model from a file, without its tokenizer.
pub fn outline(path: &Path) -> Result<(ModelSpec, Checkpoint), ModelError> {
    open(path).map(|contents| (contents.spec, contents.checkpoint))
}

/// Contents of a model's files.
struct Contents {
    name: String,
    /// Name of the model in the file itself.
    called: String,
    template: Option<Template>,
    /// The first part.
    first: PathBuf,
    spec: ModelSpec,
    /// All fields but those of the architecture.
    fields: Map<String, Value>,
    eos: Vec<u32>,
    checkpoint: Checkpoint,
}

fn open(path: &Path) -> Result<Contents, ModelError> {
    let parts = parts(path)?;
    let mut checkpoint = Checkpoint::of_gguf(path.into());
    let mut all = Vec::new();
    for part in &parts {
        all.push(checkpoint.add_gguf(part)?);
    }
    let (path, mut fields) = (&parts[0], all.swap_remove(0));
    let top = Fields::new(path, &fields);
    let count = top.whole("split.count")?.unwrap_or(1).max(1);
    if count != parts.len() {
        let expected = format!("{}, the number of parts in the file's name", parts.len());
        return Err(top.error("split.count", &expected));
    }
    let name = match top.text("general.name")? {
        // Files of Ollama are called by their checksums.
        Some(name) if !is_name(path) => clean_line(name, 60),
        _ => path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
    };
    let names = [top.text("general.name")?, top.text("general.finetune")?];
    let called = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let size = tokenizer::size(top)?;
    let template = top.text("tokenizer.chat_template")?;
    let template = match template {
        Some(text) => Some(Template { path: path.clone(), text: text.to_owned(), tokens: tokenizer::named(top)? }),
        None => None,
    };
    let eos = ends(top)?;
    let bos = top.ids("tokenizer.ggml.bos_token_id")?.and_then(|ids| ids.first().copied());
    let kind = top.text("general.architecture")?.unwrap_or_default().to_owned();
    let known = arch::ALL.iter().find(|(name, _)| *name == kind);
    let Some((_, arch)) = known else {
        let known = arch::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        return Err(top.error("general.architecture", &format!("one of the supported architectures: {known}")));
    };
    let prefix = format!("{kind}.");
    computed(&mut fields, &prefix, &checkpoint, size)?;
    let (mut own, mut others) = (Map::new(), Map::new());
    for (name, value) in fields {
        match name.strip_prefix(&prefix) {
            Some(name) => own.insert(name.to_owned(), value),
            None => others.insert(name, value),
        };
    }
    let fields = Fields::with_prefix(path, &prefix, &own);
    let mut spec = config::read_as(arch, fields)?;
    factors(fields, &mut spec, &checkpoint)?;
    (spec.bos, spec.eos) = (bos, eos.clone());
    Ok(Contents { name, called, template, first: path.clone(), spec, fields: others, eos, checkpoint })
}

/// A part of a split model, by the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitPart<'a> {
    /// The name without number and ending; with the folder, if it has one.
    pub name: &'a str,
    /// Which one, from 1.
    pub number: usize,
    /// Number of parts.
    pub count: usize,
}

/// The part that a file `name` is, as in `NAME-00001-of-00003.gguf`.
pub fn part_of(name: &str) -> Option<SplitPart<'_>> {
    let stem = name.get(..name.len().checked_sub(5)?).filter(|_| is_name(name.as_ref()))?;
    let (rest, count) = stem.rsplit_once("-of-")?;
    let (name, number) = rest.rsplit_once('-')?;
    let digits = |text: &str| (text.len() == 5).then(|| text.parse::<usize>().ok()).flatten();
    let (number, count) = (digits(number)?, digits(count)?);
    ((1..=count).contains(&number) && count <= MAX_FILES).then_some(SplitPart { name, number, count })
}

/// The files of a model of which this is one.
pub fn parts(path: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let of = || {
        let SplitPart { name, count, .. } = part_of(path.file_name()?.to_str()?)?;
        Some((1..=count).map(|n| path.with_file_name(format!("{name}-{n:05}-of-{count:05}.gguf"))).collect())
    };
    let parts: Vec<PathBuf> = of().unwrap_or_else(|| vec![path.into()]);
    match parts.iter().find(|part| !part.exists()) {
        None => Ok(parts),
        Some(missing) => {
            let need = "it is a part of the model; download it into the folder of the others".into();
            Err(ModelError::Missing { path: missing.clone(), need })
        }
    }
}

/// Ids that end a text or a turn.
fn ends(fields: Fields<'_>) -> Result<Vec<u32>, ModelError> {
    let mut ends = Vec::new();
    for field in ["eos", "eot", "eom"] {
        ends.extend(fields.ids(&format!("tokenizer.ggml.{field}_token_id"))?.unwrap_or_default());
    }
    ends.dedup();
    Ok(ends)
}

/// Adds fields under the names that `config.json` gives them, and one for every tensor of the first block.
fn computed(
    fields: &mut Map<String, Value>,
    prefix: &str,
    checkpoint: &Checkpoint,
    vocabulary: usize,
) -> Result<(), ModelError> {
    let get = |name: &str| fields.get(&format!("{prefix}{name}")).filter(|value| !value.is_null()).cloned();
    let mut more = Map::new();
    let copied = [
        ("head_dim", "attention.key_length"),
        ("sliding_window", "attention.sliding_window"),
        ("num_experts_per_tok", "expert_used_count"),
    ];
    for (to, from) in copied {
        // Zero is none: so converters write a window that the model doesn't have.
        more.extend(get(from).filter(|value| *value != json!(0)).map(|value| (to.to_owned(), value)));
    }
    if let (Some(key), Some(value)) = (get("attention.key_length"), get("attention.value_length"))
        && key != value
    {
        let field = format!("{prefix}attention.value_length");
        let expected = format!("{key}, as wide as keys");
        return Err(ModelError::field(checkpoint.origin(), field, value.to_string(), expected));
    }
    let number = |name: &str| get(name).and_then(|value| value.as_f64());
    let width =
        number("attention.key_length").or_else(|| Some(number("embedding_length")? / number("attention.head_count")?));
    if let (Some(rotated), Some(width)) = (number("rope.dimension_count"), width) {
        // Rounding must not lose a channel.
        more.insert("partial_rotary_factor".into(), json!((rotated + 0.25) / width));
    }
    if let Some(kind) = get("rope.scaling.type").filter(|kind| kind != "none") {
        let mut scaling = Map::new();
        scaling.insert("rope_type".into(), kind);
        let copied = [
            ("factor", "rope.scaling.factor"),
            ("original_max_position_embeddings", "rope.scaling.original_context_length"),
        ];
        for (to, from) in copied {
            scaling.extend(get(from).map(|value| (to.to_owned(), value)));
        }
        // The divisors of frequencies stand in tensors: see `factors`.
        if scaling["rope_type"] != "longrope" {
            more.insert("rope_scaling".into(), scaling.into());
        }
    }
    more.insert("vocab_size".into(), vocabulary.into());
    more.insert("tie_word_embeddings".into(), (!checkpoint.has("output.weight")).into());
    for name in checkpoint.names() {
        if let Some(name) = name.strip_prefix("blk.0.") {
            more.insert(name.to_owned(), true.into());
        }
    }
    fields.extend(more.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value)));
    Ok(())
}

/// Divisors of the rotary frequencies, where the file has a tensor of them: Llama 3, or `LongRoPE` up to its
/// original context.
fn factors(fields: Fields<'_>, spec: &mut ModelSpec, checkpoint: &Checkpoint) -> Result<(), ModelError> {
    let Some(dims) = spec.blocks[0].attention.rotary.as_ref().map(|rotary| rotary.dims) else { return Ok(()) };
    let (name, attention_factor) = if checkpoint.has("rope_freqs.weight") {
        ("rope_freqs.weight", 1.0)
    } else if checkpoint.has("rope_factors_short.weight") {
        let original = fields.required_size("rope.scaling.original_context_length")?;
        spec.context = spec.context.min(original);
        ("rope_factors_short.weight", fields.positive("rope.scaling.attn_factor")?.unwrap_or(1.0))
    } else {
        return Ok(());
    };
    let tensor = checkpoint.tensor(name, &[dims / 2])?;
    let mut factors = vec![0.0; dims / 2];
    blocks::widen(tensor.dtype, &tensor.bytes, &mut factors);
    let factors: Vec<f64> = factors.into_iter().map(f64::from).collect();
    for block in &mut spec.blocks {
        if let Some(rotary) = &mut block.attention.rotary {
            rotary.scaling = RotaryScaling::PerFrequency { factors: factors.clone(), attention_factor };
        }
    }
    Ok(())
}
