//! GPT-2, the first `StarCoder`, and GPT-NeoX.

use super::LAYER_NORM;
use super::names::NAMES;
use crate::model::ModelError;
use crate::model::arch::{Architecture, gpt_neox, gpt2, llama};
use crate::model::fields::Fields;
use crate::model::spec::{ModelSpec, Wiring};
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// The converter stores matrices as all others have them.
pub const GPT2: Architecture = Architecture {
    fields: &LAYER_NORM,
    adjust: llama::LLAMA.adjust,
    names: &TensorNames {
        positions: "position_embd.weight",
        in_block: &[
            (B::AttentionNorm, "attn_norm.weight"),
            (B::AttentionNormBias, "attn_norm.bias"),
            (B::Query, "attn_qkv.weight"),
            (B::Key, "attn_qkv.weight"),
            (B::Value, "attn_qkv.weight"),
            (B::QueryBias, "attn_qkv.bias"),
            (B::KeyBias, "attn_qkv.bias"),
            (B::ValueBias, "attn_qkv.bias"),
            (B::Output, "attn_output.weight"),
            (B::OutputBias, "attn_output.bias"),
            (B::MlpNorm, "ffn_norm.weight"),
            (B::MlpNormBias, "ffn_norm.bias"),
            (B::Up, "ffn_up.weight"),
            (B::UpBias, "ffn_up.bias"),
            (B::Down, "ffn_down.weight"),
            (B::DownBias, "ffn_down.bias"),
        ],
        fused: gpt2::NAMES.fused,
        ..NAMES
    },
    ..gpt2::GPT2
};

pub const GPT_BIGCODE: Architecture =
    Architecture { name: "GPTBigCodeForCausalLM", activation: Some("gelu_pytorch_tanh"), ..GPT2 };

/// The converter has put query, key and value one below the other.
pub const GPT_NEOX: Architecture = Architecture {
    name: gpt_neox::GPT_NEOX.name,
    wiring: Wiring::ParallelTwoNorms,
    positions: gpt_neox::GPT_NEOX.positions,
    activation: Some("gelu"),
    adjust: beside,
    ..GPT2
};

fn beside(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    if !fields.flag("use_parallel_residual")?.unwrap_or(true) {
        for block in &mut spec.blocks {
            block.wiring = Wiring::PreNorm;
        }
    }
    Ok(())
}
