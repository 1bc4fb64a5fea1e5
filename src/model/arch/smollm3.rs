//! `SmolLM3`: Llama with blocks whose queries and keys are not rotated.

use super::{Architecture, Switch, llama};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::ModelSpec;

/// `SmolLM3ForCausalLM`.
pub const SMOLLM3: Architecture = Architecture {
    name: "SmolLM3ForCausalLM",
    model_type: "smollm3",
    window: Switch::Field("use_sliding_window"),
    tied: true,
    adjust: no_rotation,
    ..llama::LLAMA
};

/// `no_rope_layers` has a 1 for every block that is rotated; without it every fourth, or so, is not.
fn no_rotation(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let step = fields.size("no_rope_layer_interval")?.unwrap_or(4);
    let rotated = match fields.ids("no_rope_layers")? {
        Some(list) if list.len() == spec.blocks.len() => list.iter().map(|&rotated| rotated != 0).collect(),
        Some(_) => return Err(fields.error("no_rope_layers", &format!("{} times 0 or 1", spec.blocks.len()))),
        None => every(spec, step),
    };
    apply(spec, &rotated);
    if fields.get("layer_types").is_none() {
        // Windows are where rotation is not.
        for (block, rotated) in spec.blocks.iter_mut().zip(rotated) {
            block.attention.window = block.attention.window.filter(|_| !rotated);
        }
    }
    Ok(())
}

/// All but every `step`th block are rotated.
pub fn every(spec: &ModelSpec, step: usize) -> Vec<bool> {
    (1..=spec.blocks.len()).map(|number| !number.is_multiple_of(step)).collect()
}

/// Takes rotation from the other blocks.
pub fn apply(spec: &mut ModelSpec, rotated: &[bool]) {
    for (block, rotated) in spec.blocks.iter_mut().zip(rotated) {
        block.attention.rotary = block.attention.rotary.take().filter(|_| *rotated);
    }
}
