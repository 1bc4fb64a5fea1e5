//! OPT: learned positions from the third row of their table on, norms before or after, maybe a narrower
//! embedding.

use super::{Architecture, FIELDS, FieldNames, Positions, Switch, Value, gpt2};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{ModelSpec, Wiring};
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// `OPTForCausalLM`.
pub const OPT: Architecture = Architecture {
    name: "OPTForCausalLM",
    model_type: "opt",
    fields: &FieldNames { kv_heads: "", intermediate: "ffn_dim", activation: "activation_function", eps: "", ..FIELDS },
    positions: Positions::Learned(2),
    activation: Some("relu"),
    qkv_bias: Switch::Unless("enable_bias"),
    output_bias: Switch::Unless("enable_bias"),
    mlp_bias: Switch::Unless("enable_bias"),
    only: &[("layer_norm_elementwise_affine", Value::Flag(true))],
    adjust: norms,
    names: &NAMES,
    ..gpt2::GPT2
};

fn norms(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    spec.embedding.width = fields.size("word_embed_proj_dim")?.unwrap_or(spec.hidden);
    let before = fields.flag("do_layer_norm_before")?.unwrap_or(true);
    spec.final_norm = before && !fields.flag("_remove_final_layer_norm")?.unwrap_or(false);
    if !before {
        spec.blocks.iter_mut().for_each(|block| block.wiring = Wiring::PostNorm);
    }
    Ok(())
}

const NAMES: TensorNames = TensorNames {
    prefixes: &["model.decoder.", "decoder."],
    embedding: "embed_tokens.weight",
    positions: "embed_positions.weight",
    projections: ["project_in.weight", "project_out.weight"],
    final_norm: "final_layer_norm",
    head: "lm_head",
    block: "layers.",
    in_block: &[
        (B::AttentionNorm, "self_attn_layer_norm.weight"),
        (B::AttentionNormBias, "self_attn_layer_norm.bias"),
        (B::Query, "self_attn.q_proj.weight"),
        (B::Key, "self_attn.k_proj.weight"),
        (B::Value, "self_attn.v_proj.weight"),
        (B::Output, "self_attn.out_proj.weight"),
        (B::QueryBias, "self_attn.q_proj.bias"),
        (B::KeyBias, "self_attn.k_proj.bias"),
        (B::ValueBias, "self_attn.v_proj.bias"),
        (B::OutputBias, "self_attn.out_proj.bias"),
        (B::MlpNorm, "final_layer_norm.weight"),
        (B::MlpNormBias, "final_layer_norm.bias"),
        (B::Up, "fc1.weight"),
        (B::UpBias, "fc1.bias"),
        (B::Down, "fc2.weight"),
        (B::DownBias, "fc2.bias"),
    ],
    fused: &[],
    expert: Some(""),
    in_expert: &[],
    transposed: false,
    stacked: None,
    states: ["", "", ""],
    next: None,
    layer_inputs: ["", "", ""],
    fused_expert: &[],
    experts_transposed: false,
};
