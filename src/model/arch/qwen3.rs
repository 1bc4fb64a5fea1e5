//! Qwen3, dense models: Llama with RMS norms on query and key heads.

use super::{Architecture, Switch, llama};

/// `Qwen3ForCausalLM`.
pub const QWEN3: Architecture = Architecture {
    name: "Qwen3ForCausalLM",
    model_type: "qwen3",
    qkv_bias: Switch::Field("attention_bias"),
    output_bias: Switch::Field("attention_bias"),
    qk_norm: Switch::Always,
    mlp_bias: Switch::Never,
    window: Switch::Field("use_sliding_window"),
    names: &llama::NAMES,
};
