//! Qwen2, Qwen2.5 and Qwen2.5-Coder: Llama with biases on query, key and value.

use super::{Architecture, Switch, llama};

/// `Qwen2ForCausalLM`.
pub const QWEN2: Architecture = Architecture {
    name: "Qwen2ForCausalLM",
    model_type: "qwen2",
    qkv_bias: Switch::Always,
    output_bias: Switch::Never,
    qk_norm: Switch::Never,
    mlp_bias: Switch::Never,
    window: Switch::Field("use_sliding_window"),
    names: &llama::NAMES,
};
