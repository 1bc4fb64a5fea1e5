//! Phi-3, Phi-3.5 and Phi-4: Llama with fused projections and windows.

use super::{Architecture, llama, mistral};
use crate::model::tensors::{BlockSlot as B, Fused, TensorNames};

/// `Phi3ForCausalLM`.
pub const PHI3: Architecture = Architecture {
    name: "Phi3ForCausalLM",
    model_type: "phi3",
    default_window: None,
    names: &NAMES,
    ..mistral::MISTRAL
};

/// Tensor names of Phi-3.
pub const NAMES: TensorNames = TensorNames {
    in_block: &[
        (B::AttentionNorm, "input_layernorm.weight"),
        (B::Query, "self_attn.qkv_proj.weight"),
        (B::Key, "self_attn.qkv_proj.weight"),
        (B::Value, "self_attn.qkv_proj.weight"),
        (B::Output, "self_attn.o_proj.weight"),
        (B::MlpNorm, "post_attention_layernorm.weight"),
        (B::Gate, "mlp.gate_up_proj.weight"),
        (B::Up, "mlp.gate_up_proj.weight"),
        (B::Down, "mlp.down_proj.weight"),
    ],
    fused: &[
        (B::Query, Fused::Qkv(0)),
        (B::Key, Fused::Qkv(1)),
        (B::Value, Fused::Qkv(2)),
        (B::Gate, Fused::Stacked(0, 2)),
        (B::Up, Fused::Stacked(1, 2)),
    ],
    ..llama::NAMES
};
