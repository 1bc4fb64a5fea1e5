//! Llama and what took over its layout: Llama 2 and 3, Code Llama, DeepSeek-Coder, `SmolLM`, Yi, `TinyLlama`.

use super::{Architecture, FIELDS, Positions, Switch, nothing};
use crate::model::spec::{NormKind, Wiring};
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// `LlamaForCausalLM`.
pub const LLAMA: Architecture = Architecture {
    name: "LlamaForCausalLM",
    model_type: "llama",
    fields: &FIELDS,
    norm: NormKind::Rms,
    eps: 1e-6,
    wiring: Wiring::PreNorm,
    positions: Positions::Rotary { share: 1.0, interleaved: false },
    activation: None,
    gated: true,
    qkv_bias: Switch::Field("attention_bias"),
    output_bias: Switch::Field("attention_bias"),
    qk_norm: Switch::Never,
    mlp_bias: Switch::Field("mlp_bias"),
    head_bias: Switch::Never,
    window: Switch::Never,
    default_window: None,
    tied: false,
    only: &[],
    blocks_of_four_bits: false,
    adjust: nothing,
    names: &NAMES,
    delta_nets: false,
};

/// Tensor names of Llama and its heirs.
pub const NAMES: TensorNames = TensorNames {
    // The last two are those of models for text and images.
    prefixes: &["model.", "", "language_model.model.", "model.language_model."],
    embedding: "embed_tokens.weight",
    positions: "",
    projections: ["", ""],
    final_norm: "norm",
    head: "lm_head",
    block: "layers.",
    in_block: &[
        (B::AttentionNorm, "input_layernorm.weight"),
        (B::AttentionNormBias, "input_layernorm.bias"),
        (B::Query, "self_attn.q_proj.weight"),
        (B::Key, "self_attn.k_proj.weight"),
        (B::Value, "self_attn.v_proj.weight"),
        (B::Output, "self_attn.o_proj.weight"),
        (B::QueryBias, "self_attn.q_proj.bias"),
        (B::KeyBias, "self_attn.k_proj.bias"),
        (B::ValueBias, "self_attn.v_proj.bias"),
        (B::OutputBias, "self_attn.o_proj.bias"),
        (B::QueryNorm, "self_attn.q_norm.weight"),
        (B::KeyNorm, "self_attn.k_norm.weight"),
        (B::MlpNorm, "post_attention_layernorm.weight"),
        (B::MlpNormBias, "post_attention_layernorm.bias"),
        (B::Router, "mlp.gate.weight"),
        (B::Gate, "mlp.gate_proj.weight"),
        (B::Up, "mlp.up_proj.weight"),
        (B::Down, "mlp.down_proj.weight"),
        (B::GateBias, "mlp.gate_proj.bias"),
        (B::UpBias, "mlp.up_proj.bias"),
        (B::DownBias, "mlp.down_proj.bias"),
    ],
    fused: &[],
    expert: Some("mlp.experts."),
    in_expert: &[(B::Gate, "gate_proj.weight"), (B::Up, "up_proj.weight"), (B::Down, "down_proj.weight")],
    transposed: false,
    stacked: None,
    states: ["", "", ""],
    next: None,
    layer_inputs: ["", "", ""],
    fused_expert: &[],
    experts_transposed: false,
};
