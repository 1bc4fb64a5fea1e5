//! GGUF: a model in one file, or in a few.
//!
//! `container` reads header, fields and tensor table. `arch` has the architectures with GGUF's names and with
//! the converter's changes: Llama's heads have another order, Gemma's norms include their 1. `tokenizer`
//! writes the vocabulary as a `tokenizer.json`. `keys` and `unread` tell fields and tensors that may be
//! ignored from those that may not.

mod arch;
pub mod container;
mod keys;
mod tokenizer;
mod unread;

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::fields::{Asked, Fields};
use super::spec::{Block, ModelSpec, RotaryScaling};
use super::{Checkpoint, ModelError, ModelWeights, Opened, Template, Tokenizer, blocks, config};
use crate::files;
use crate::untrusted::clean_line;

/// Tensor of the divisors of `LongRoPE` up to its original context.
const SHORT_FACTORS: &str = "rope_factors_short.weight";
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
    let (path, fields) = (&parts[0], all.swap_remove(0));
    let top = Fields::new(path, &fields);
    let count = top.whole("split.count")?.unwrap_or(1).max(1);
    if count != parts.len() {
        let expected = format!("{}, the number of parts in the file's name", parts.len());
        return Err(top.error("split.count", &expected));
    }
    other_content(top)?;
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
    let (mut given, mut others) = (Map::new(), Map::new());
    for (name, value) in fields {
        match name.strip_prefix(&prefix) {
            Some(name) => given.insert(name.to_owned(), value),
            None => others.insert(name, value),
        };
    }
    let asked = Asked::default();
    let mut own = given.clone();
    let watched = Fields::with_prefix(path, &prefix, &given).watched(&asked);
    own.extend(computed(watched, &checkpoint, size, kind == "gemma4")?);
    let fields = Fields::with_prefix(path, &prefix, &own).watched(&asked);
    let mut spec = config::read_as(arch, fields)?;
    factors(fields, &mut spec, &checkpoint)?;
    if asked.borrow().contains("sliding_window") {
        asked.borrow_mut().insert("attention.sliding_window".to_owned());
    }
    keys::refuse_others(fields, &given, &asked)?;
    unread::refuse_others(&spec, &checkpoint, fields.whole("nextn_predict_layers")?.unwrap_or(0))?;
    (spec.bos, spec.eos) = (bos, eos.clone());
    Ok(Contents { name, called, template, first: path.clone(), spec, fields: others, eos, checkpoint })
}

/// Refuses files whose tensors are no language model.
fn other_content(fields: Fields<'_>) -> Result<(), ModelError> {
    let kind = match (fields.text("general.type")?, fields.text("general.architecture")?) {
        (Some("adapter"), _) => {
            "an adapter (LoRA), which is a change to a model; merge it into its model and convert that"
        }
        (Some("imatrix"), _) => "statistics for making smaller files (imatrix); name the model's own file",
        (Some("mmproj"), _) | (_, Some("clip")) => {
            "the part of a model that sees or hears; name the file of its language model"
        }
        _ => return Ok(()),
    };
    Err(ModelError::Mistaken { path: fields.path().into(), what: format!("it holds {kind}") })
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

/// Fields under the names that `config.json` gives them, and one for every tensor of the first block. Blocks
/// may differ in their heads and widths only where `blocks_differ`.
fn computed(
    fields: Fields<'_>,
    checkpoint: &Checkpoint,
    vocabulary: usize,
    blocks_differ: bool,
) -> Result<Map<String, Value>, ModelError> {
    let mut more = Map::new();
    let copied = [
        ("head_dim", "attention.key_length"),
        ("sliding_window", "attention.sliding_window"),
        ("num_experts_per_tok", "expert_used_count"),
    ];
    for (to, from) in copied {
        // Zero is none: so converters write a window that the model doesn't have.
        let value = fields.peek(from).filter(|value| **value != json!(0));
        more.extend(value.map(|value| (to.to_owned(), value.clone())));
    }
    if let (Some(key), Some(value)) = (fields.get("attention.key_length"), fields.get("attention.value_length"))
        && key != value
    {
        return Err(fields.error("attention.value_length", &format!("{key}, as wide as keys")));
    }
    if let Some(Value::Array(list)) = fields.get("attention.head_count_kv") {
        let without = |(_, heads): &(usize, &Value)| **heads == json!(0);
        let numbers: Vec<_> = list.iter().enumerate().filter(without).map(|(block, _)| block.to_string()).collect();
        if !numbers.is_empty() {
            let expected = format!(
                "attention in every block: Mamba's and others without it, here {}, cannot be computed",
                numbers.join(", ")
            );
            return Err(fields.error("attention.head_count_kv", &expected));
        }
    }
    for (name, each) in [("attention.head_count_kv", arch::EACH_KV), ("feed_forward_length", arch::EACH_INNER)] {
        let Some(Value::Array(list)) = fields.get(name) else { continue };
        let same = |first: &&Value| blocks_differ || list.iter().all(|value| value == *first);
        if let Some(first) = list.first().filter(same) {
            more.insert(name.into(), first.clone());
        }
        more.insert(each.into(), list.clone().into());
    }
    // Heads of blocks with windows.
    let wide = fields.get("attention.key_length");
    let narrow = fields.peek("attention.key_length_swa").filter(|&own| blocks_differ || Some(own) == wide);
    if let Some(narrow) = narrow.and_then(|_| fields.get("attention.key_length_swa")) {
        if fields.get("attention.value_length_swa").is_some_and(|value| value != narrow) {
            return Err(fields.error("attention.value_length_swa", &format!("{narrow}, as wide as keys")));
        }
        more.insert("head_dim".into(), narrow.clone());
    }
    let missing: Vec<usize> = (0..checkpoint.names().filter(|name| name.ends_with(".attn_norm.weight")).count())
        .filter(|block| checkpoint.has(&format!("blk.{block}.attn_k.weight")))
        .filter(|block| !checkpoint.has(&format!("blk.{block}.attn_v.weight")))
        .collect();
    if !missing.is_empty() {
        more.insert(arch::WITHOUT_VALUES.into(), json!(missing));
    }
    let number = |name: &str| fields.get(name).and_then(Value::as_f64);
    let width =
        number("attention.key_length").or_else(|| Some(number("embedding_length")? / number("attention.head_count")?));
    if let (Some(rotated), Some(width)) = (number("rope.dimension_count"), width) {
        // Rounding must not lose a channel.
        more.insert("partial_rotary_factor".into(), json!((rotated + 0.25) / width));
    }
    if let Some(scaling) = scaling(fields, checkpoint.has(SHORT_FACTORS))? {
        more.insert("rope_scaling".into(), scaling.into());
    }
    more.insert("vocab_size".into(), vocabulary.into());
    more.insert("tie_word_embeddings".into(), (!checkpoint.has("output.weight")).into());
    for name in checkpoint.names() {
        if let Some(name) = name.strip_prefix("blk.0.") {
            more.insert(name.to_owned(), true.into());
        }
    }
    Ok(more)
}

/// Scaling of rotary positions as `config.json` has it, if there is any. `has_factors`: a tensor has
/// divisors, see [`factors`].
fn scaling(fields: Fields<'_>, has_factors: bool) -> Result<Option<Map<String, Value>>, ModelError> {
    // A file without a kind means the oldest one, and of an older name that of the factor.
    let kind = fields.text("rope.scaling.type")?.unwrap_or("linear");
    let old = fields.not_negative("rope.scale_linear")?;
    let factor = fields.not_negative("rope.scaling.factor")?.or(old).filter(|factor| *factor > 0.0);
    let original = fields.size("rope.scaling.original_context_length")?;
    let mut scaling = Map::new();
    scaling.insert("rope_type".into(), kind.into());
    scaling.extend(factor.map(|factor| ("factor".to_owned(), factor.into())));
    scaling.extend(original.map(|original| ("original_max_position_embeddings".to_owned(), original.into())));
    let only =
        |field: &str, only: f64| match fields.not_negative(field)? {
            Some(other) if other.to_bits() != only.to_bits() => Err(fields
                .error(field, &format!("nothing or {only}: with this kind of scaling no other value is supported"))),
            _ => Ok(()),
        };
    match kind {
        "none" => return Ok(None),
        "linear" => {
            // Files whose divisors stand in tensors need not name the kind.
            if !has_factors {
                only("rope.scaling.attn_factor", 1.0)?;
            }
            // It changes nothing at a factor of 1.
            return Ok(factor.filter(|factor| factor.to_bits() != 1f64.to_bits()).map(|_| scaling));
        }
        // The divisors of frequencies stand in tensors: see `factors`.
        "longrope" => {
            only("rope.scaling.factor", 1.0)?;
            return Ok(None);
        }
        "yarn" => {
            only("rope.scaling.yarn_ext_factor", 1.0)?;
            let copied = [("beta_fast", "rope.scaling.yarn_beta_fast"), ("beta_slow", "rope.scaling.yarn_beta_slow")];
            for (to, from) in copied {
                scaling.extend(fields.positive(from)?.map(|value| (to.to_owned(), value.into())));
            }
            let factor = factor.ok_or_else(|| fields.error("rope.scaling.factor", "a number above 0"))?;
            // As `mscale` and `mscale_all_dim` of a configuration, and what the file multiplies that by.
            let temperature = |mscale: f64| if factor <= 1.0 { 1.0 } else { 0.1 * mscale * factor.ln() + 1.0 };
            let all = fields.not_negative("rope.scaling.yarn_log_multiplier")?.unwrap_or(0.0);
            let given = ["rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor"];
            let mut attention = temperature(1.0) / temperature(all);
            for field in given {
                attention *= fields.positive(field)?.unwrap_or(1.0);
            }
            scaling.insert("attention_factor".into(), attention.into());
        }
        _ => return Err(fields.error("rope.scaling.type", "one of \"none\", \"linear\", \"yarn\", \"longrope\"")),
    }
    Ok(Some(scaling))
}

/// Divisors of the rotary frequencies, where the file has a tensor of them: Llama 3, or `LongRoPE` up to its
/// original context.
fn factors(fields: Fields<'_>, spec: &mut ModelSpec, checkpoint: &Checkpoint) -> Result<(), ModelError> {
    // Where blocks have windows and narrower heads, the others are meant.
    let wide = spec.blocks.iter().any(|block| block.attention.heads.is_some());
    let meant = |block: &Block| !wide || block.attention.heads.is_some() && block.attention.window.is_none();
    let Some(first) = spec.blocks.iter().find(|block| meant(block)) else { return Ok(()) };
    let Some(dims) = first.attention.rotary.as_ref().map(|rotary| rotary.dims) else { return Ok(()) };
    let (name, attention_factor) = if checkpoint.has("rope_freqs.weight") {
        ("rope_freqs.weight", 1.0)
    } else if checkpoint.has(SHORT_FACTORS) {
        let original = fields.required_size("rope.scaling.original_context_length")?;
        spec.context = spec.context.min(original);
        (SHORT_FACTORS, fields.positive("rope.scaling.attn_factor")?.unwrap_or(1.0))
    } else {
        return Ok(());
    };
    let tensor = checkpoint.tensor(name, &[dims / 2])?;
    let mut factors = vec![0.0; dims / 2];
    blocks::widen(tensor.dtype, &tensor.bytes, &mut factors);
    let factors: Vec<f64> = factors.into_iter().map(f64::from).collect();
    for block in spec.blocks.iter_mut().filter(|block| meant(block)) {
        if let Some(rotary) = &mut block.attention.rotary {
            let factors = match rotary.scaling {
                // In place of those that an architecture computes.
                RotaryScaling::None | RotaryScaling::PerFrequency { .. } => factors.clone(),
                RotaryScaling::Linear { factor } => factors.iter().map(|own| own * factor).collect(),
                _ => {
                    let expected = format!("nothing or \"linear\" beside the tensor `{name}`");
                    return Err(fields.error("rope.scaling.type", &expected));
                }
            };
            rotary.scaling = RotaryScaling::PerFrequency { factors, attention_factor };
        }
    }
    Ok(())
}
