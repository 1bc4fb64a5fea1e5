//! Qwen3, dense models: Qwen2 with RMS norms on query and key heads.

use super::{Architecture, Switch, qwen2};

/// `Qwen3ForCausalLM`.
pub const QWEN3: Architecture = Architecture {
    name: "Qwen3ForCausalLM",
    model_type: "qwen3",
    qkv_bias: Switch::Field("attention_bias"),
    output_bias: Switch::Field("attention_bias"),
    qk_norm: Switch::Always,
    ..qwen2::QWEN2
};
