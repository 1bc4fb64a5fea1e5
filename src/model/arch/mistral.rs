//! Mistral, Codestral, Ministral: Llama with attention windows.

use super::{Architecture, Switch, llama};

/// `MistralForCausalLM`.
pub const MISTRAL: Architecture = Architecture {
    name: "MistralForCausalLM",
    model_type: "mistral",
    qkv_bias: Switch::Never,
    output_bias: Switch::Never,
    mlp_bias: Switch::Never,
    window: Switch::Always,
    default_window: Some(4096),
    ..llama::LLAMA
};
