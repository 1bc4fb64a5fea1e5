//! Granite 4 without Mamba layers (micro, 350M, 1B): Granite with an MLP of other names.

use super::{Architecture, FIELDS, FieldNames, granite, llama};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::ModelSpec;
use crate::model::tensors::{BlockSlot as B, GATE_ABOVE_UP, TensorNames};

/// `GraniteMoeHybridForCausalLM`.
pub const GRANITE_HYBRID: Architecture = Architecture {
    name: "GraniteMoeHybridForCausalLM",
    model_type: "granitemoehybrid",
    fields: &FieldNames { intermediate: "shared_intermediate_size", ..FIELDS },
    adjust: dense,
    names: &NAMES,
    ..granite::GRANITE
};

fn dense(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    if fields.get("layer_types").is_none() {
        let expected = format!("{} times \"attention\": without the field all layers are Mamba's", spec.blocks.len());
        return Err(fields.error("layer_types", &expected));
    }
    if fields.whole("num_local_experts")? != Some(0) {
        let expected = "0: experts beside an MLP that all rows share cannot be computed";
        return Err(fields.error("num_local_experts", expected));
    }
    match fields.text("position_embedding_type")? {
        Some("rope") => {}
        None | Some("nope") => spec.blocks.iter_mut().for_each(|block| block.attention.rotary = None),
        Some(_) => return Err(fields.error("position_embedding_type", "\"rope\", \"nope\" or null")),
    }
    granite::multipliers(fields, spec)
}

const NAMES: TensorNames = TensorNames {
    in_block: &[
        (B::AttentionNorm, "input_layernorm.weight"),
        (B::Query, "self_attn.q_proj.weight"),
        (B::Key, "self_attn.k_proj.weight"),
        (B::Value, "self_attn.v_proj.weight"),
        (B::Output, "self_attn.o_proj.weight"),
        (B::QueryBias, "self_attn.q_proj.bias"),
        (B::KeyBias, "self_attn.k_proj.bias"),
        (B::ValueBias, "self_attn.v_proj.bias"),
        (B::OutputBias, "self_attn.o_proj.bias"),
        (B::MlpNorm, "post_attention_layernorm.weight"),
        (B::Gate, "shared_mlp.input_linear.weight"),
        (B::Up, "shared_mlp.input_linear.weight"),
        (B::Down, "shared_mlp.output_linear.weight"),
    ],
    fused: GATE_ABOVE_UP,
    ..llama::NAMES
};
