//! GPT-NeoX and Pythia: attention and MLP side by side, partly rotated heads.

use super::{Architecture, FIELDS, FieldNames, Positions, Switch, gpt2};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{ModelSpec, Wiring};
use crate::model::tensors::{BlockSlot as B, Fused, TensorNames};

/// `GPTNeoXForCausalLM`.
pub const GPT_NEOX: Architecture = Architecture {
    name: "GPTNeoXForCausalLM",
    model_type: "gpt_neox",
    fields: &FieldNames {
        kv_heads: "",
        eps: "layer_norm_eps",
        rotary_base: "rotary_emb_base",
        rotary_share: "rotary_pct",
        ..FIELDS
    },
    wiring: Wiring::ParallelTwoNorms,
    positions: Positions::Rotary { share: 0.25, interleaved: false },
    activation: Some("gelu"),
    qkv_bias: Switch::Unless("attention_bias"),
    output_bias: Switch::Unless("attention_bias"),
    tied: false,
    only: &[],
    adjust: wiring,
    names: &NAMES,
    ..gpt2::GPT2
};

fn wiring(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    if !fields.flag("use_parallel_residual")?.unwrap_or(true) {
        spec.blocks.iter_mut().for_each(|block| block.wiring = Wiring::PreNorm);
    }
    Ok(())
}

const NAMES: TensorNames = TensorNames {
    prefixes: &["gpt_neox.", ""],
    embedding: "embed_in.weight",
    positions: "",
    projections: ["", ""],
    final_norm: "final_layer_norm",
    head: "embed_out",
    block: "layers.",
    in_block: &[
        (B::AttentionNorm, "input_layernorm.weight"),
        (B::AttentionNormBias, "input_layernorm.bias"),
        (B::Query, "attention.query_key_value.weight"),
        (B::Key, "attention.query_key_value.weight"),
        (B::Value, "attention.query_key_value.weight"),
        (B::QueryBias, "attention.query_key_value.bias"),
        (B::KeyBias, "attention.query_key_value.bias"),
        (B::ValueBias, "attention.query_key_value.bias"),
        (B::Output, "attention.dense.weight"),
        (B::OutputBias, "attention.dense.bias"),
        (B::MlpNorm, "post_attention_layernorm.weight"),
        (B::MlpNormBias, "post_attention_layernorm.bias"),
        (B::Up, "mlp.dense_h_to_4h.weight"),
        (B::UpBias, "mlp.dense_h_to_4h.bias"),
        (B::Down, "mlp.dense_4h_to_h.weight"),
        (B::DownBias, "mlp.dense_4h_to_h.bias"),
    ],
    fused: &[
        (B::Query, Fused::QkvGroups { groups: None, place: 0 }),
        (B::Key, Fused::QkvGroups { groups: None, place: 1 }),
        (B::Value, Fused::QkvGroups { groups: None, place: 2 }),
        (B::QueryBias, Fused::QkvGroups { groups: None, place: 0 }),
        (B::KeyBias, Fused::QkvGroups { groups: None, place: 1 }),
        (B::ValueBias, Fused::QkvGroups { groups: None, place: 2 }),
    ],
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
