//! Llama, and architectures that differ from it in a few places.

use super::names::NAMES;
use super::windows::windows;
use super::{FIELDS, LAYER_NORM};
use crate::model::ModelError;
use crate::model::arch::{
    Architecture, Positions, Switch, Value, granite, llama, mellum, ministral3, phi, phi3, qwen2, qwen3, smollm3,
    stablelm, starcoder2,
};
use crate::model::fields::Fields;
use crate::model::spec::{Experts, ModelSpec, NormKind, QueryGrowth, RotaryScaling, Wiring};
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// The converter orders the channels of Llama's heads so that those that are rotated together are neighbours.
pub const LLAMA: Architecture = Architecture {
    fields: &FIELDS,
    positions: Positions::Rotary { share: 1.0, interleaved: true },
    activation: Some("silu"),
    qkv_bias: Switch::Field("attn_q.bias"),
    output_bias: Switch::Field("attn_output.bias"),
    mlp_bias: Switch::Field("ffn_up.bias"),
    window: Switch::Always,
    adjust: experts,
    names: &NAMES,
    ..llama::LLAMA
};

/// Mixtral is a Llama here.
pub fn experts(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let count = fields.whole("expert_count")?.unwrap_or(0);
    if count > 0 {
        let used = fields.required_size("expert_used_count")?;
        let intermediate = fields.size("expert_feed_forward_length")?;
        let normalised = fields.flag("expert_weights_norm")?.unwrap_or(true);
        for block in &mut spec.blocks {
            block.mlp.intermediate = intermediate.unwrap_or(block.mlp.intermediate);
            block.mlp.experts = Some(Experts { count, used, normalised, shared: None, router_bias: false });
        }
    }
    Ok(())
}

pub const QWEN2: Architecture =
    Architecture { name: qwen2::QWEN2.name, positions: llama::LLAMA.positions, window: Switch::Never, ..LLAMA };

pub const QWEN3: Architecture = Architecture { name: qwen3::QWEN3.name, qk_norm: Switch::Always, ..QWEN2 };

pub const QWEN3_MOE: Architecture = Architecture { name: "Qwen3MoeForCausalLM", ..QWEN3 };

pub const STARCODER2: Architecture = Architecture {
    name: starcoder2::STARCODER2.name,
    fields: &LAYER_NORM,
    norm: NormKind::Layer,
    activation: Some("gelu_pytorch_tanh"),
    gated: false,
    window: Switch::Always,
    ..QWEN2
};

pub const GRANITE: Architecture = Architecture { name: granite::GRANITE.name, adjust: multipliers, ..LLAMA };

fn multipliers(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let number = |field, default: f32| Ok::<_, ModelError>(fields.positive(field)?.map_or(default, |x| x as f32));
    spec.embedding.scale = number("embedding_scale", 1.0)?;
    spec.head.scale = number("logit_scale", 1.0)?.recip();
    let residual_scale = number("residual_scale", 1.0)?;
    for block in &mut spec.blocks {
        block.residual_scale = residual_scale;
        block.attention.scale = number("attention.scale", block.attention.scale)?;
    }
    // Of this family the field says whether there is any rotation.
    if fields.flag("rope.scaling.finetuned")? == Some(false) {
        spec.blocks.iter_mut().for_each(|block| block.attention.rotary = None);
    }
    Ok(())
}

pub const MISTRAL3: Architecture = Architecture { name: ministral3::MINISTRAL3.name, adjust: growth, ..LLAMA };

fn growth(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let context = fields.positive("rope.scaling.original_context_length")?.unwrap_or(spec.context as f64) as f32;
    let beta = fields.not_negative("attention.temperature_scale")?.filter(|&beta| beta > 0.0);
    let beta = beta.map(|beta| beta as f32);
    for block in &mut spec.blocks {
        block.attention.query_growth = beta.map(|beta| QueryGrowth { beta, context });
    }
    experts(fields, spec)
}

/// Which blocks are rotated stands in no field.
pub const SMOLLM3: Architecture = Architecture { name: smollm3::SMOLLM3.name, adjust: no_rotation, ..LLAMA };

#[allow(clippy::unnecessary_wraps, reason = "the signature of all adjustments")]
fn no_rotation(_: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let rotated = smollm3::every(spec, 4);
    smollm3::apply(spec, &rotated);
    Ok(())
}

pub const STABLELM: Architecture = Architecture {
    fields: &LAYER_NORM,
    qkv_bias: Switch::Field("attn_q.bias"),
    only: &[("attn_q_norm.weight", Value::Flag(false))],
    adjust: one_norm,
    names: &NAMES,
    ..stablelm::STABLELM
};

fn one_norm(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    // The converter writes this field with its default, whatever the blocks are: their norms tell.
    fields.flag("use_parallel_residual")?;
    if fields.flag("ffn_norm.weight")?.is_none() {
        spec.blocks.iter_mut().for_each(|block| block.wiring = Wiring::Parallel);
    }
    Ok(())
}

pub const MELLUM: Architecture =
    Architecture { name: mellum::MELLUM.name, window: Switch::Always, adjust: own_rotations, ..QWEN3 };

/// Blocks with windows have a base of their own and nothing stretched.
fn own_rotations(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    windows(fields, spec, 0)?;
    let base = fields.positive("rope.freq_base_swa")?;
    for block in spec.blocks.iter_mut().filter(|block| block.attention.window.is_some()) {
        if let Some(rotary) = &mut block.attention.rotary {
            (rotary.base, rotary.scaling) = (base.unwrap_or(rotary.base), RotaryScaling::None);
        }
    }
    experts(fields, spec)
}

pub const PHI2: Architecture =
    Architecture { fields: &LAYER_NORM, activation: Some("gelu_new"), names: &NAMES, ..phi::PHI };

pub const PHI3: Architecture = Architecture {
    name: phi3::PHI3.name,
    window: Switch::Always,
    names: &TensorNames {
        in_block: &[
            (B::AttentionNorm, "attn_norm.weight"),
            (B::Query, "attn_qkv.weight"),
            (B::Key, "attn_qkv.weight"),
            (B::Value, "attn_qkv.weight"),
            (B::Output, "attn_output.weight"),
            (B::MlpNorm, "ffn_norm.weight"),
            (B::Gate, "ffn_up.weight"),
            (B::Up, "ffn_up.weight"),
            (B::Down, "ffn_down.weight"),
        ],
        fused: phi3::NAMES.fused,
        ..NAMES
    },
    ..QWEN2
};
