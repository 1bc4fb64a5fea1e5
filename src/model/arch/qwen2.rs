//! Qwen2, Qwen2.5 and Qwen2.5-Coder: Llama with biases on query, key and value.

use super::{Architecture, Switch, llama};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::ModelSpec;

/// `Qwen2ForCausalLM`.
pub const QWEN2: Architecture = Architecture {
    name: "Qwen2ForCausalLM",
    model_type: "qwen2",
    qkv_bias: Switch::Always,
    output_bias: Switch::Never,
    mlp_bias: Switch::Never,
    window: Switch::Field("use_sliding_window"),
    default_window: Some(4096),
    adjust: full_first,
    ..llama::LLAMA
};

/// The first `max_window_layers` blocks see everything, unless `layer_types` says otherwise.
pub fn full_first(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let full = fields.whole("max_window_layers")?.unwrap_or(28);
    let full = if fields.get("layer_types").is_some() { 0 } else { full };
    spec.blocks.iter_mut().take(full).for_each(|block| block.attention.window = None);
    Ok(())
}
