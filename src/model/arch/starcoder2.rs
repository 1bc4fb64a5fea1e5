//! `StarCoder2`: rotary positions, `LayerNorm`, biases, an MLP without a gate, windows.

use super::{Architecture, FIELDS, FieldNames, Switch, Value, llama};
use crate::model::spec::NormKind;
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// `Starcoder2ForCausalLM`.
pub const STARCODER2: Architecture = Architecture {
    name: "Starcoder2ForCausalLM",
    model_type: "starcoder2",
    fields: &FieldNames { eps: "norm_epsilon", ..FIELDS },
    norm: NormKind::Layer,
    eps: 1e-5,
    activation: Some("gelu_pytorch_tanh"),
    gated: false,
    qkv_bias: Switch::Unless("use_bias"),
    output_bias: Switch::Unless("use_bias"),
    mlp_bias: Switch::Unless("use_bias"),
    window: Switch::Always,
    tied: true,
    only: &[("norm_type", Value::Text("layer_norm")), ("mlp_type", Value::Text("default"))],
    names: &NAMES,
    ..llama::LLAMA
};

const NAMES: TensorNames = TensorNames {
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
        (B::MlpNorm, "post_attention_layernorm.weight"),
        (B::MlpNormBias, "post_attention_layernorm.bias"),
        (B::Up, "mlp.c_fc.weight"),
        (B::Down, "mlp.c_proj.weight"),
        (B::UpBias, "mlp.c_fc.bias"),
        (B::DownBias, "mlp.c_proj.bias"),
    ],
    ..llama::NAMES
};
