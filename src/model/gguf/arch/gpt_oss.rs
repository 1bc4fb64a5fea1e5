//! gpt-oss.

use super::llama::{QWEN2, experts};
use super::names::NAMES;
use super::windows::windows;
use crate::model::ModelError;
use crate::model::arch::{Architecture, Switch, gpt_oss};
use crate::model::fields::Fields;
use crate::model::spec::{ModelSpec, Rotary, RotaryScaling};
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// The converter has taken gates from between what they gate.
pub const GPT_OSS: Architecture = Architecture {
    name: gpt_oss::GPT_OSS.name,
    qkv_bias: Switch::Always,
    output_bias: Switch::Always,
    mlp_bias: Switch::Always,
    window: Switch::Always,
    adjust: sinks,
    names: &TensorNames {
        in_block: &[
            (B::AttentionNorm, "attn_norm.weight"),
            (B::Query, "attn_q.weight"),
            (B::Key, "attn_k.weight"),
            (B::Value, "attn_v.weight"),
            (B::Output, "attn_output.weight"),
            (B::QueryBias, "attn_q.bias"),
            (B::KeyBias, "attn_k.bias"),
            (B::ValueBias, "attn_v.bias"),
            (B::OutputBias, "attn_output.bias"),
            (B::Sinks, "attn_sinks.weight"),
            (B::MlpNorm, "post_attention_norm.weight"),
            (B::Router, "ffn_gate_inp.weight"),
            (B::RouterBias, "ffn_gate_inp.bias"),
        ],
        in_expert: &[
            (B::Gate, "ffn_gate_exps.weight"),
            (B::Up, "ffn_up_exps.weight"),
            (B::Down, "ffn_down_exps.weight"),
            (B::GateBias, "ffn_gate_exps.bias"),
            (B::UpBias, "ffn_up_exps.bias"),
            (B::DownBias, "ffn_down_exps.bias"),
        ],
        ..NAMES
    },
    ..QWEN2
};

fn sinks(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    if fields.get("attention.sliding_window_pattern").is_none() {
        gpt_oss::every_second(spec);
    }
    windows(fields, spec, 0)?;
    experts(fields, spec)?;
    gpt_oss::experts(spec, (fields.required_size("expert_count")?, fields.required_size("expert_used_count")?));
    for block in &mut spec.blocks {
        if let Some(Rotary { scaling: RotaryScaling::Yarn { whole, .. }, .. }) = &mut block.attention.rotary {
            // The model was trained so; files don't say it.
            *whole = false;
        }
    }
    Ok(())
}
