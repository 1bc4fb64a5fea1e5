//! Llama and what took over its layout: Llama 2 and 3, Code Llama, DeepSeek-Coder, `SmolLM`, Yi, `TinyLlama`.

use super::{Architecture, Switch};
use crate::model::tensors::{BlockSlot, TensorNames};

/// `LlamaForCausalLM`.
pub const LLAMA: Architecture = Architecture {
    name: "LlamaForCausalLM",
    model_type: "llama",
    qkv_bias: Switch::Field("attention_bias"),
    output_bias: Switch::Field("attention_bias"),
    qk_norm: Switch::Never,
    mlp_bias: Switch::Field("mlp_bias"),
    window: Switch::Never,
    names: &NAMES,
};

/// Tensor names of Llama and its heirs.
pub const NAMES: TensorNames = TensorNames {
    embedding: "model.embed_tokens.weight",
    final_norm: "model.norm.weight",
    head: "lm_head.weight",
    block: "model.layers.",
    in_block: &[
        (BlockSlot::AttentionNorm, "input_layernorm.weight"),
        (BlockSlot::Query, "self_attn.q_proj.weight"),
        (BlockSlot::Key, "self_attn.k_proj.weight"),
        (BlockSlot::Value, "self_attn.v_proj.weight"),
        (BlockSlot::Output, "self_attn.o_proj.weight"),
        (BlockSlot::QueryBias, "self_attn.q_proj.bias"),
        (BlockSlot::KeyBias, "self_attn.k_proj.bias"),
        (BlockSlot::ValueBias, "self_attn.v_proj.bias"),
        (BlockSlot::OutputBias, "self_attn.o_proj.bias"),
        (BlockSlot::QueryNorm, "self_attn.q_norm.weight"),
        (BlockSlot::KeyNorm, "self_attn.k_norm.weight"),
        (BlockSlot::MlpNorm, "post_attention_layernorm.weight"),
        (BlockSlot::Gate, "mlp.gate_proj.weight"),
        (BlockSlot::Up, "mlp.up_proj.weight"),
        (BlockSlot::Down, "mlp.down_proj.weight"),
        (BlockSlot::GateBias, "mlp.gate_proj.bias"),
        (BlockSlot::UpBias, "mlp.up_proj.bias"),
        (BlockSlot::DownBias, "mlp.down_proj.bias"),
    ],
};
