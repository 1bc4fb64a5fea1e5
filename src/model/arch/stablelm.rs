//! `StableLM` 3B and `StableLM` 2 1.6B: Llama with layer norm and heads of which a quarter is rotated.

use super::{Architecture, FIELDS, FieldNames, Positions, Switch, Value, llama};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{ModelSpec, NormKind, Wiring};

/// `StableLmForCausalLM`.
pub const STABLELM: Architecture = Architecture {
    name: "StableLmForCausalLM",
    model_type: "stablelm",
    fields: &FieldNames { eps: "layer_norm_eps", ..FIELDS },
    norm: NormKind::Layer,
    eps: 1e-5,
    positions: Positions::Rotary { share: 0.25, interleaved: false },
    activation: Some("silu"),
    qkv_bias: Switch::Field("use_qkv_bias"),
    output_bias: Switch::Never,
    mlp_bias: Switch::Never,
    // The 12B model has a norm of its own for every head.
    only: &[("qk_layernorm", Value::Flag(false))],
    adjust: beside,
    ..llama::LLAMA
};

fn beside(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    if fields.flag("use_parallel_residual")?.unwrap_or(false) {
        spec.blocks.iter_mut().for_each(|block| block.wiring = Wiring::Parallel);
    }
    Ok(())
}
