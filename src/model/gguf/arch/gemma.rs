//! The first three Gemmas.

use super::llama::QWEN2;
use super::names::NAMES;
use super::windows::windows;
use crate::model::ModelError;
use crate::model::arch::{Architecture, Switch, gemma};
use crate::model::fields::Fields;
use crate::model::spec::{ModelSpec, RotaryScaling, Wiring};
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// The converter has added the 1 to the weights of norms.
pub const GEMMA: Architecture =
    Architecture { name: gemma::GEMMA.name, activation: Some("gelu_pytorch_tanh"), adjust: ends, ..QWEN2 };

/// The scale of the embedding, and the cap of logits where there is one.
pub fn ends(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    spec.embedding.scale = (spec.hidden as f32).sqrt();
    spec.head.soft_cap = fields.positive("final_logit_softcapping")?.map(|cap| cap as f32);
    Ok(())
}

pub const GEMMA2: Architecture = Architecture {
    name: gemma::GEMMA2.name,
    wiring: Wiring::Sandwich,
    window: Switch::Always,
    adjust: second,
    names: &GEMMA_NAMES,
    ..GEMMA
};

fn second(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    ends(fields, spec)?;
    let soft_cap = fields.positive("attn_logit_softcapping")?.map(|cap| cap as f32);
    windows(fields, spec, 2)?;
    scale_by_width(spec, 46);
    for block in &mut spec.blocks {
        block.attention.soft_cap = soft_cap;
    }
    Ok(())
}

/// The 27B models, known by their number of blocks, scale by the width that their heads would have without a
/// field.
fn scale_by_width(spec: &mut ModelSpec, blocks: usize) {
    if spec.blocks.len() == blocks {
        let scale = (spec.hidden as f32 / spec.heads.query as f32).sqrt().recip();
        spec.blocks.iter_mut().for_each(|block| block.attention.scale = scale);
    }
}

pub const GEMMA3: Architecture =
    Architecture { name: gemma::GEMMA3.name, qk_norm: Switch::Always, adjust: third, ..GEMMA2 };

fn third(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    ends(fields, spec)?;
    // Some files have the two bases under names of their own.
    let [with_window, without] = ["rope.local.freq_base", "rope.global.freq_base"].map(|field| fields.positive(field));
    let base = fields.positive("rope.freq_base_swa")?.or(with_window?).unwrap_or(10_000.0);
    let without = without?.filter(|_| fields.get("rope.freq_base").is_none());
    windows(fields, spec, 6)?;
    scale_by_width(spec, 62);
    for block in &mut spec.blocks {
        let attention = &mut block.attention;
        if let (Some(base), Some(rotary)) = (without, &mut attention.rotary) {
            rotary.base = base;
        }
        // Blocks with a window have a base of their own.
        if let (Some(_), Some(rotary)) = (attention.window, &mut attention.rotary) {
            (rotary.base, rotary.scaling) = (base, RotaryScaling::None);
        }
    }
    Ok(())
}

/// Names from the second Gemma on; a model has those of its slots.
pub const GEMMA_NAMES: TensorNames = TensorNames {
    in_block: &[
        (B::AttentionNorm, "attn_norm.weight"),
        (B::Query, "attn_q.weight"),
        (B::Key, "attn_k.weight"),
        (B::Value, "attn_v.weight"),
        (B::Output, "attn_output.weight"),
        (B::QueryNorm, "attn_q_norm.weight"),
        (B::KeyNorm, "attn_k_norm.weight"),
        (B::AttentionOutputNorm, "post_attention_norm.weight"),
        (B::MlpNorm, "ffn_norm.weight"),
        (B::Gate, "ffn_gate.weight"),
        (B::Up, "ffn_up.weight"),
        (B::Down, "ffn_down.weight"),
        (B::MlpOutputNorm, "post_ffw_norm.weight"),
        (B::OutputScale, "layer_output_scale.weight"),
        (B::InputGate, "inp_gate.weight"),
        (B::InputProjection, "proj.weight"),
        (B::InputNorm, "post_norm.weight"),
        (B::Router, "ffn_gate_inp.weight"),
        (B::RouterScale, "ffn_gate_inp.scale"),
        (B::ExpertScale, "ffn_down_exps.scale"),
        (B::BesideMlpNorm, "post_ffw_norm_1.weight"),
        (B::ExpertsNorm, "pre_ffw_norm_2.weight"),
        (B::ExpertsOutputNorm, "post_ffw_norm_2.weight"),
    ],
    ..NAMES
};
