//! Tensors of a GGUF file that no slot is in. Some are of parts that a text model does without. All others
//! are refused, as results may depend on them.

use std::collections::HashSet;

use crate::model::spec::ModelSpec;
use crate::model::{Checkpoint, ModelError};

/// Beginnings of names: parts that see and hear, classifiers, and blocks that only draft.
const BEGINNINGS: &[&str] = &["v.", "a.", "mm.", "cls.", "mtp."];
/// Divisors of frequencies, which count beside the slots: see `factors` in `mod.rs`. The long ones are for
/// contexts that are not used.
const FACTORS: &[&str] = &["rope_freqs.weight", super::SHORT_FACTORS, "rope_factors_long.weight"];
/// Names in a block: of drafting, of a classifier, and frequencies that old files repeat.
const IN_BLOCK: &[&str] = &["nextn.", "attn_rot_embd.", "rope_freqs."];
/// Names in a block that takes these from another.
const OF_OTHER_BLOCK: &[&str] = &["attn_k.", "attn_v.", "attn_k_norm."];

/// Refuses the first tensor, by name, that is in no slot and may change results. Blocks behind those of the
/// model are blocks that only draft, where there are so many `drafting`.
pub fn refuse_others(spec: &ModelSpec, checkpoint: &Checkpoint, drafting: usize) -> Result<(), ModelError> {
    let used: HashSet<String> = spec.slots().into_iter().map(|slot| spec.source(slot, "").name).collect();
    let is_known = |name: &str| {
        let begins = |beginnings: &[&str], name: &str| beginnings.iter().any(|known| name.starts_with(known));
        if FACTORS.contains(&name) || begins(BEGINNINGS, name) {
            return true;
        }
        let in_block = name.strip_prefix(spec.names.block).and_then(|rest| rest.split_once('.'));
        let Some((number, name)) = in_block.and_then(|(number, name)| Some((number.parse::<usize>().ok()?, name)))
        else {
            return false;
        };
        match spec.blocks.get(number) {
            Some(block) => begins(IN_BLOCK, name) || block.attention.keys_of.is_some() && begins(OF_OTHER_BLOCK, name),
            None => number < spec.blocks.len() + drafting,
        }
    };
    match checkpoint.names().filter(|name| !used.contains(*name) && !is_known(name)).min() {
        None => Ok(()),
        Some(name) => Err(checkpoint.refused(
            name,
            "no such tensor: of this architecture it is not supported, and results may depend on it; get another \
             file of the model, or its safetensors files",
        )),
    }
}
