//! GPT-2: learned positions, `LayerNorm`, linear layers stored the other way round.

use super::{Architecture, FieldNames, Positions, Switch, Value};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{ModelSpec, NormKind, Wiring};
use crate::model::tensors::{BlockSlot as B, Fused, TensorNames};

/// `GPT2LMHeadModel`.
pub const GPT2: Architecture = Architecture {
    name: "GPT2LMHeadModel",
    model_type: "gpt2",
    fields: &FIELDS,
    norm: NormKind::Layer,
    eps: 1e-5,
    wiring: Wiring::PreNorm,
    positions: Positions::Learned(0),
    activation: Some("gelu_new"),
    gated: false,
    qkv_bias: Switch::Always,
    output_bias: Switch::Always,
    qk_norm: Switch::Never,
    mlp_bias: Switch::Always,
    head_bias: Switch::Never,
    window: Switch::Never,
    default_window: None,
    tied: true,
    only: &[("add_cross_attention", Value::Flag(false))],
    blocks_of_four_bits: false,
    adjust: scores,
    names: &NAMES,
    delta_nets: false,
};

/// The spelling of GPT-2 and its heirs.
pub const FIELDS: FieldNames = FieldNames {
    hidden: "n_embd",
    layers: "n_layer",
    heads: "n_head",
    kv_heads: "",
    intermediate: "n_inner",
    four_times: true,
    context: "n_positions",
    activation: "activation_function",
    eps: "layer_norm_epsilon",
    rotary_base: "",
    rotary_share: "",
};

/// Scores may be left as they are, or be divided by the number of their block as well.
pub fn scores(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let scaled = fields.flag("scale_attn_weights")?.unwrap_or(true);
    let by_block = fields.flag("scale_attn_by_inverse_layer_idx")?.unwrap_or(false);
    for (number, block) in spec.blocks.iter_mut().enumerate() {
        let scale = if scaled { block.attention.scale } else { 1.0 };
        block.attention.scale = if by_block { scale / (number + 1) as f32 } else { scale };
    }
    Ok(())
}

/// Tensor names of GPT-2.
pub const NAMES: TensorNames = TensorNames {
    prefixes: &["transformer.", ""],
    embedding: "wte.weight",
    positions: "wpe.weight",
    projections: ["", ""],
    final_norm: "ln_f",
    head: "lm_head",
    block: "h.",
    in_block: &[
        (B::AttentionNorm, "ln_1.weight"),
        (B::AttentionNormBias, "ln_1.bias"),
        (B::Query, "attn.c_attn.weight"),
        (B::Key, "attn.c_attn.weight"),
        (B::Value, "attn.c_attn.weight"),
        (B::QueryBias, "attn.c_attn.bias"),
        (B::KeyBias, "attn.c_attn.bias"),
        (B::ValueBias, "attn.c_attn.bias"),
        (B::Output, "attn.c_proj.weight"),
        (B::OutputBias, "attn.c_proj.bias"),
        (B::MlpNorm, "ln_2.weight"),
        (B::MlpNormBias, "ln_2.bias"),
        (B::Up, "mlp.c_fc.weight"),
        (B::UpBias, "mlp.c_fc.bias"),
        (B::Down, "mlp.c_proj.weight"),
        (B::DownBias, "mlp.c_proj.bias"),
    ],
    fused: &[
        (B::Query, Fused::Qkv(0)),
        (B::Key, Fused::Qkv(1)),
        (B::Value, Fused::Qkv(2)),
        (B::QueryBias, Fused::Qkv(0)),
        (B::KeyBias, Fused::Qkv(1)),
        (B::ValueBias, Fused::Qkv(2)),
    ],
    expert: Some(""),
    in_expert: &[],
    transposed: true,
    stacked: None,
    states: ["", "", ""],
    next: None,
    layer_inputs: ["", "", ""],
    fused_expert: &[],
    experts_transposed: false,
};
