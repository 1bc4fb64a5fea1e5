//! Draft heads: a few layers that read hidden states of a main model and draft with its embedding.
//!
//! | checkpoint | known by |
//! |---|---|
//! | EAGLE-3 | `LlamaForCausalLMEagle3`; `eagle_config` names the blocks whose outputs are read |
//! | EAGLE-3 of speculators | `speculators_model_type`; the layer's fields are nested, blocks are read before |
//! | `DFlash` | `DFlashDraftModel`; `dflash_config` names the blocks whose outputs are read |
//! | MTP | a layer of a main model in its own files: `mtp.` of Qwen3.5, `nextn` in GGUF files |
//!
//! The formulas stand at [`HeadKind`].

use std::path::Path;

use serde_json::Value;

use super::arch::{Architecture, llama, qwen3};
use super::fields::{self, Fields};
use super::spec::{Block, HeadKind, ModelSpec, ReadStates};
use super::tensors::TensorNames;
use super::{Checkpoint, ModelError, ModelFiles, ModelWeights, config, gguf, required};

/// Layers without an embedding of their own, and perhaps with a head.
pub struct DraftHead {
    /// Its weights; the embedding is the main model's.
    pub weights: ModelWeights,
    /// How it drafts.
    pub kind: HeadKind,
    /// The tokens that the rows of its head are for, ascending; all of the vocabulary where `None`.
    pub ids: Option<Vec<u32>>,
}

const EAGLE3: Architecture = Architecture { name: "LlamaForCausalLMEagle3", names: &NAMES, ..llama::LLAMA };
const DFLASH: Architecture = Architecture { name: "DFlashDraftModel", names: &NAMES_QWEN3, ..qwen3::QWEN3 };
const NAMES: TensorNames =
    TensorNames { prefixes: &[""], states: ["fc.weight", "layers.0.hidden_norm.weight", ""], ..llama::NAMES };
const NAMES_QWEN3: TensorNames =
    TensorNames { prefixes: &[""], states: ["fc.weight", "hidden_norm.weight", ""], ..*qwen3::QWEN3.names };

impl DraftHead {
    /// These files are a draft head's.
    pub fn is_at(files: &ModelFiles) -> bool {
        let ModelFiles::Folder(folder) = files else { return false };
        let read = || {
            let (path, bytes) = required(folder, config::FILE, "").ok()?;
            let map = fields::parse(&path, &bytes).ok()?;
            Some(is_one(Fields::new(&path, &map)))
        };
        read() == Some(true)
    }

    /// Reads the layer for the next tokens that a main model may bring along. One with an embedding or a head
    /// of its own is left out, and of several the first counts.
    pub fn of_main(files: &ModelFiles, main: &ModelWeights) -> Result<Option<Self>, ModelError> {
        let Some(names) = main.spec.names.next else { return Ok(None) };
        let Some(block) = main.spec.blocks.iter().rfind(|block| block.delta.is_none()) else { return Ok(None) };
        let behind = format!("blk.{}.", main.spec.blocks.len());
        let (there, own): (String, Vec<String>) = match files {
            ModelFiles::Embedded(_) => return Ok(None),
            ModelFiles::Folder(_) => {
                ("mtp.fc.weight".into(), ["embed_tokens", "lm_head"].map(|of| format!("mtp.{of}.weight")).into())
            }
            ModelFiles::Gguf(_) | ModelFiles::Blob(..) => {
                let of = |name: &str| format!("{behind}nextn.{name}.weight");
                (of("eh_proj"), vec![of("embed_tokens"), of("shared_head_head")])
            }
        };
        if !main.checkpoint.has(&there) || own.iter().any(|name| main.checkpoint.has(name)) {
            return Ok(None);
        }
        let checkpoint = match files {
            ModelFiles::Folder(folder) => Checkpoint::open(folder)?,
            ModelFiles::Gguf(path) | ModelFiles::Blob(path, _) => {
                let (_, mut checkpoint) = gguf::outline(path)?;
                checkpoint.rename(|name| Some(format!("mtp.blk.0.{}", name.strip_prefix(&behind)?)));
                checkpoint
            }
            ModelFiles::Embedded(_) => return Ok(None),
        };
        let kind = HeadKind::Next;
        let states = ReadStates { before: Some(Vec::new()), width: main.spec.hidden, kind };
        let mut spec = ModelSpec { blocks: vec![block.clone()], names, states: Some(states), ..main.spec.clone() };
        spec.blocks[0].attention.from = 1;
        spec.head.tied = true;
        Ok(Some(Self { weights: whole("mtp".into(), spec, checkpoint)?, kind, ids: None }))
    }

    /// Reads the head in a folder, for a main model.
    pub fn load(folder: &Path, main: &ModelSpec) -> Result<Self, ModelError> {
        let (path, bytes) = required(folder, config::FILE, "it describes the draft head")?;
        let map = fields::parse(&path, &bytes)?;
        let fields = Fields::new(&path, &map);
        let (spec, kind) = read(fields)?;
        fits(fields, &spec, main)?;
        let mut checkpoint = Checkpoint::open(folder)?;
        checkpoint.rename(|name| Some(format!("layers.0.{}", name.strip_prefix("midlayer.")?)));
        let ids = ids(&spec, &checkpoint)?;
        let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self { weights: whole(name, spec, checkpoint)?, kind, ids })
    }
}

/// The weights, all of which are there.
fn whole(name: String, spec: ModelSpec, checkpoint: Checkpoint) -> Result<ModelWeights, ModelError> {
    let weights = ModelWeights::new(name, spec, checkpoint);
    weights.spec.slots().into_iter().try_for_each(|slot| weights.stored(slot).map(drop))?;
    Ok(weights)
}

/// Kinds of checkpoints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Eagle3,
    DFlash,
}

impl Kind {
    fn of(fields: Fields<'_>) -> Option<Self> {
        let name = fields.get("architectures").and_then(|list| list.get(0)?.as_str());
        let method = fields.get("speculators_model_type").and_then(|method| method.as_str());
        match (name, method) {
            (Some("LlamaForCausalLMEagle3" | "Eagle3LlamaForCausalLM"), _) | (_, Some("eagle3")) => Some(Self::Eagle3),
            (Some("DFlashDraftModel"), _) | (_, Some("dflash")) => Some(Self::DFlash),
            _ => None,
        }
    }
}

/// These are the fields of a draft head.
pub(super) fn is_one(fields: Fields<'_>) -> bool {
    Kind::of(fields).is_some()
}

fn read(fields: Fields<'_>) -> Result<(ModelSpec, HeadKind), ModelError> {
    let nested = fields.object("transformer_layer_config", "transformer_layer_config.")?;
    let layers = nested.unwrap_or(fields);
    match Kind::of(fields) {
        Some(Kind::Eagle3) => eagle3(fields, layers),
        Some(Kind::DFlash) => dflash(fields, layers),
        None => Err(fields.error("architectures", "a draft head: LlamaForCausalLMEagle3 or DFlashDraftModel")),
    }
}

/// Refuses fields that change what a head computes in ways that are not supported, unless they say `usual`.
fn refuse(fields: Fields<'_>, names: &[&str], usual: f64) -> Result<(), ModelError> {
    let is_usual = |value: &Value| value.as_bool() == Some(false) || value.as_f64() == Some(usual);
    let unusual = names.iter().find(|name| fields.get(name).is_some_and(|value| !is_usual(value)));
    unusual.map_or(Ok(()), |name| Err(fields.error(name, "nothing: draft heads with it are not read")))
}

/// Parts of newer heads of EAGLE-3.
const NEWER: [&str; 5] = ["norm_before_fc", "fc_norm", "norm_output", "pard_token", "ptd_token_id"];

fn eagle3(fields: Fields<'_>, layers: Fields<'_>) -> Result<(ModelSpec, HeadKind), ModelError> {
    refuse(fields, &NEWER, 0.0)?;
    refuse(fields, &["logit_scale"], 1.0)?;
    let mut spec = config::read_as(&EAGLE3, layers)?;
    if spec.blocks.len() != 1 {
        return Err(layers.error("num_hidden_layers", "1: EAGLE-3 has one layer"));
    }
    let of_outputs = match fields.object("eagle_config", "eagle_config.")? {
        Some(eagle) if eagle.flag("use_aux_hidden_state")? == Some(false) => {
            return Err(eagle.error("use_aux_hidden_state", "true: heads that read the last state only are not read"));
        }
        Some(eagle) => {
            refuse(eagle, &NEWER, 0.0)?;
            eagle.ids("eagle_aux_hidden_state_layer_ids")?
        }
        None => None,
    };
    let of_inputs = fields.ids("eagle_aux_hidden_state_layer_ids")?.unwrap_or_default();
    let of_inputs = of_inputs.into_iter().map(|block| block as usize).collect::<Vec<_>>();
    let before = match of_outputs {
        None => Some(of_inputs).filter(|blocks| !blocks.is_empty()),
        Some(blocks) => Some(blocks.into_iter().map(|block| block as usize + 1).collect()),
    };
    let normed = fields.flag("norm_before_residual")?.unwrap_or(false);
    let tokens = fields.size("draft_vocab_size")?.unwrap_or(spec.vocab_size);
    let width = fields.size("target_hidden_size")?.unwrap_or(spec.hidden);
    spec.head.tied = false;
    // The first token has no states before it, and so no row.
    spec.blocks[0].attention.from = 1;
    let kind = HeadKind::Chain { normed, tokens };
    spec.states = Some(ReadStates { before, width, kind });
    Ok((spec, kind))
}

fn dflash(fields: Fields<'_>, layers: Fields<'_>) -> Result<(ModelSpec, HeadKind), ModelError> {
    let mut spec = config::read_as(&DFLASH, layers)?;
    let own = fields.object("dflash_config", "dflash_config.")?.unwrap_or(fields);
    for place in [fields, own] {
        refuse(place, &["output_multiplier", "input_embedding_scale"], 1.0)?;
        refuse(place, &["final_logit_softcapping"], 0.0)?;
    }
    let size = match fields.size("block_size")? {
        None => own.required_size("block_size")?,
        Some(size) => size,
    };
    let mask = own.required_size("mask_token_id")?;
    if mask >= spec.vocab_size || !(2..=64).contains(&size) {
        let expected = format!("a block of 2 to 64 and an id below {}, the vocab_size", spec.vocab_size);
        return Err(own.error("mask_token_id", &expected));
    }
    let of_outputs = own.ids("target_layer_ids")?.ok_or_else(|| own.error("target_layer_ids", "a list of blocks"))?;
    let before = Some(of_outputs.into_iter().map(|block| block as usize + 1).collect());
    let window = own.size("swa_window_size")?;
    let all_slide =
        own.flag("use_swa")? == Some(true) && spec.blocks.iter().all(|block| block.attention.window.is_none());
    let causal = match fields.flag("is_causal")? {
        None => own.flag("causal")?,
        causal => causal,
    };
    for Block { attention, .. } in &mut spec.blocks {
        if all_slide {
            attention.window = layers.size("sliding_window")?;
        }
        attention.window = attention.window.map(|own| window.unwrap_or(own));
        attention.ahead = !causal.unwrap_or(attention.window.is_some());
    }
    // The head is the main model's.
    spec.head.tied = true;
    let kind = HeadKind::Block { size, mask: mask as u32 };
    spec.states = Some(ReadStates { before, width: spec.hidden, kind });
    Ok((spec, kind))
}

/// The head can read the main model's states, and draft its tokens.
fn fits(fields: Fields<'_>, spec: &ModelSpec, main: &ModelSpec) -> Result<(), ModelError> {
    let Some(states) = &spec.states else { return Ok(()) };
    let before = states.before(main.blocks.len());
    let error = |field: &str, expected: String| Err(fields.error(field, &expected));
    if spec.vocab_size != main.vocab_size {
        return error("vocab_size", format!("{}, that of the main model", main.vocab_size));
    }
    if states.width != main.hidden || spec.hidden != main.embedding.width || main.embedding.width != main.hidden {
        return error("hidden_size", format!("{}, that of the main model", main.hidden));
    }
    if before.iter().any(|&block| block >= main.blocks.len()) || before.is_empty() {
        let blocks = main.blocks.len();
        let expected = format!("states before the last of the {blocks} blocks of the main model; found {before:?}");
        return error("eagle_aux_hidden_state_layer_ids", expected);
    }
    Ok(())
}

/// Tokens of the rows of the head: `d2t` says how far each is from its row.
fn ids(spec: &ModelSpec, checkpoint: &Checkpoint) -> Result<Option<Vec<u32>>, ModelError> {
    let Some(ReadStates { kind: HeadKind::Chain { tokens, .. }, .. }) = spec.states else { return Ok(None) };
    let Some(offsets) = checkpoint.whole_numbers("d2t", tokens)? else {
        let whole = tokens == spec.vocab_size;
        return if whole { Ok(None) } else { Err(checkpoint.refused("d2t", &format!("I64 of shape [{tokens}]"))) };
    };
    let of = |(row, offset): (i64, i64)| u32::try_from(row.checked_add(offset)?).ok();
    let ids: Option<Vec<u32>> = (0..).zip(offsets).map(of).collect();
    let known =
        |ids: &Vec<u32>| ids.is_sorted_by(|a, b| a < b) && ids.last().is_none_or(|&id| (id as usize) < spec.vocab_size);
    match ids.filter(known) {
        Some(ids) => Ok(Some(ids)),
        None => Err(checkpoint.refused("d2t", "distances to ascending ids of the vocabulary")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(extra: &str) -> Result<(ModelSpec, HeadKind), String> {
        let text = format!(
            r#"{{"hidden_size":64,"num_hidden_layers":2,"vocab_size":100,"max_position_embeddings":128,"rms_norm_eps":1e-6,
            "num_attention_heads":4,"intermediate_size":96,"hidden_act":"silu",{extra}}}"#
        );
        let path = Path::new("head/config.json");
        let map = fields::parse(path, text.as_bytes()).expect("an object");
        read(Fields::new(path, &map)).map_err(|error| error.to_string())
    }

    fn states(extra: &str) -> Option<Vec<usize>> {
        let text = format!(r#""architectures":["LlamaForCausalLMEagle3"],"draft_vocab_size":10{extra}"#);
        let spec = read_text(&text.replacen('"', r#""num_hidden_layers":1,""#, 1)).expect("a head").0;
        spec.states.expect("states").before
    }

    #[test]
    fn states_are_named_by_outputs_or_by_inputs() {
        let ids = r#""eagle_aux_hidden_state_layer_ids":[0,4,9]"#;
        assert_eq!(states(&format!(r#","eagle_config":{{{ids}}}"#)), Some(vec![1, 5, 10]), "outputs");
        assert_eq!(states(&format!(",{ids}")), Some(vec![0, 4, 9]), "inputs");
        assert_eq!(states(""), None);
        let usual = ReadStates { before: None, width: 64, kind: HeadKind::Chain { normed: false, tokens: 10 } };
        assert_eq!((usual.count(), usual.before(36)), (3, vec![2, 18, 33]));
    }

    #[test]
    fn blocks_see_ahead_unless_they_slide_or_the_file_says_otherwise() {
        let layers = |extra: &str, own: &str| {
            let text = format!(
                r#""architectures":["DFlashDraftModel"],"dflash_config":{{"mask_token_id":9,"target_layer_ids":[1,3],
                "block_size":16{own}}}{extra}"#
            );
            let (spec, kind) = read_text(&text).expect("a head");
            assert_eq!(kind, HeadKind::Block { size: 16, mask: 9 });
            assert_eq!(spec.states.expect("states").before, Some(vec![2, 4]));
            spec.blocks.iter().map(|block| (block.attention.window, block.attention.ahead)).collect::<Vec<_>>()
        };
        let sliding =
            r#","layer_types":["sliding_attention","full_attention"],"use_sliding_window":true,"sliding_window":24"#;
        assert_eq!(layers("", ""), [(None, true); 2]);
        assert_eq!(layers(sliding, ""), [(Some(24), false), (None, true)]);
        assert_eq!(layers(sliding, r#","swa_window_size":32"#), [(Some(32), false), (None, true)]);
        assert_eq!(layers(sliding, r#","causal":false"#), [(Some(24), true), (None, true)]);
        assert_eq!(layers(r#","is_causal":true"#, r#","causal":false"#), [(None, false); 2]);
        assert_eq!(layers(r#","sliding_window":24"#, r#","use_swa":true"#), [(Some(24), false); 2]);
    }

    #[test]
    fn unreadable_heads_are_refused_by_the_field() {
        for (field, extra) in [
            ("norm_before_fc", r#""architectures":["LlamaForCausalLMEagle3"],"norm_before_fc":true"#),
            ("pard_token", r#""architectures":["LlamaForCausalLMEagle3"],"pard_token":7"#),
            ("num_hidden_layers", r#""architectures":["LlamaForCausalLMEagle3"]"#),
            ("target_layer_ids", r#""architectures":["DFlashDraftModel"],"block_size":16,"mask_token_id":9"#),
            ("mask_token_id", r#""architectures":["DFlashDraftModel"],"block_size":16,"mask_token_id":100"#),
            ("output_multiplier", r#""architectures":["DFlashDraftModel"],"output_multiplier":0.5"#),
            ("architectures", r#""architectures":["LlamaForCausalLM"]"#),
        ] {
            let error = read_text(extra).expect_err(field);
            assert!(error.contains(field) && error.contains("config.json"), "{error}");
        }
    }
}
