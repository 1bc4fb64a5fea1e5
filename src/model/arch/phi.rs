//! Phi 1, 1.5 and 2: attention and MLP side by side on one norm, partly rotated heads, biases everywhere.

use super::{Architecture, FIELDS, FieldNames, Positions, Switch, gpt2, llama, nothing};
use crate::model::spec::Wiring;
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// `PhiForCausalLM`.
pub const PHI: Architecture = Architecture {
    name: "PhiForCausalLM",
    model_type: "phi",
    fields: &FieldNames { eps: "layer_norm_eps", ..FIELDS },
    wiring: Wiring::Parallel,
    positions: Positions::Rotary { share: 0.5, interleaved: false },
    head_bias: Switch::Always,
    tied: false,
    qk_norm: Switch::Field("qk_layernorm"),
    adjust: nothing,
    names: &NAMES,
    ..gpt2::GPT2
};

const NAMES: TensorNames = TensorNames {
    final_norm: "final_layernorm",
    in_block: &[
        (B::AttentionNorm, "input_layernorm.weight"),
        (B::AttentionNormBias, "input_layernorm.bias"),
        (B::Query, "self_attn.q_proj.weight"),
        (B::Key, "self_attn.k_proj.weight"),
        (B::Value, "self_attn.v_proj.weight"),
        (B::Output, "self_attn.dense.weight"),
        (B::QueryBias, "self_attn.q_proj.bias"),
        (B::KeyBias, "self_attn.k_proj.bias"),
        (B::ValueBias, "self_attn.v_proj.bias"),
        (B::OutputBias, "self_attn.dense.bias"),
        (B::QueryNorm, "self_attn.q_layernorm.weight"),
        (B::QueryNormBias, "self_attn.q_layernorm.bias"),
        (B::KeyNorm, "self_attn.k_layernorm.weight"),
        (B::KeyNormBias, "self_attn.k_layernorm.bias"),
        (B::Up, "mlp.fc1.weight"),
        (B::UpBias, "mlp.fc1.bias"),
        (B::Down, "mlp.fc2.weight"),
        (B::DownBias, "mlp.fc2.bias"),
    ],
    ..llama::NAMES
};
