//! Gemma 1, 2 and 3 (text): norms with 1 + weight and a scaled embedding; from the second on norms after
//! attention and MLP as well, soft caps, and windows in some blocks.

use super::{Architecture, Switch, Value, llama};
use crate::model::ModelError;
use crate::model::config;
use crate::model::fields::Fields;
use crate::model::spec::{Activation, ModelSpec, NormKind, RotaryScaling, Wiring};
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// `GemmaForCausalLM`.
pub const GEMMA: Architecture = Architecture {
    name: "GemmaForCausalLM",
    model_type: "gemma",
    norm: NormKind::RmsPlusOne,
    // Old files say "gelu" and mean the approximation.
    activation: Some("gelu_pytorch_tanh"),
    mlp_bias: Switch::Never,
    tied: true,
    adjust: first,
    ..llama::LLAMA
};

/// `Gemma2ForCausalLM`.
pub const GEMMA2: Architecture = Architecture {
    name: "Gemma2ForCausalLM",
    model_type: "gemma2",
    wiring: Wiring::Sandwich,
    window: Switch::Always,
    default_window: Some(4096),
    adjust: second,
    names: &NAMES,
    ..GEMMA
};

/// `Gemma3ForCausalLM`.
pub const GEMMA3: Architecture = Architecture {
    name: "Gemma3ForCausalLM",
    model_type: "gemma3_text",
    qk_norm: Switch::Always,
    only: &[("use_bidirectional_attention", Value::Flag(false))],
    adjust: third,
    ..GEMMA2
};

/// `Gemma3ForConditionalGeneration`, text and images: what its configuration of the text leaves out.
pub const GEMMA3_USUAL: &[(&str, usize)] = &[
    ("num_attention_heads", 8),
    ("num_key_value_heads", 4),
    ("head_dim", 256),
    ("vocab_size", 262_208),
    ("max_position_embeddings", 131_072),
    ("rope_theta", 1_000_000),
];

/// The scale of the embedding, and the activation.
pub fn first(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    spec.embedding.scale = (spec.hidden as f32).sqrt();
    let activation = match fields.text("hidden_activation")? {
        Some(_) => config::activation(fields, "hidden_activation", None)?,
        None => Activation::GeluTanh,
    };
    spec.blocks.iter_mut().for_each(|block| block.mlp.activation = activation);
    Ok(())
}

fn second(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    first(fields, spec)?;
    windows(fields, spec, 2);
    // Where the field is absent, the reference has this value; `null` is none.
    let cap = |field, default| {
        let default = Some(default).filter(|_| !fields.is_null(field));
        Ok::<_, ModelError>(fields.positive(field)?.or(default).map(|cap| cap as f32))
    };
    spec.head.soft_cap = cap("final_logit_softcapping", 30.0)?;
    scores(fields, spec, cap("attn_logit_softcapping", 50.0)?)
}

fn third(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    first(fields, spec)?;
    windows(fields, spec, fields.size("sliding_window_pattern")?.unwrap_or(6));
    spec.head.soft_cap = fields.positive("final_logit_softcapping")?.map(|cap| cap as f32);
    scores(fields, spec, fields.positive("attn_logit_softcapping")?.map(|cap| cap as f32))?;
    // Blocks with a window have a base of their own and nothing stretched.
    let local = fields.positive("rope_local_base_freq")?.unwrap_or(10_000.0);
    for block in spec.blocks.iter_mut().filter(|block| block.attention.window.is_some()) {
        if let Some(rotary) = &mut block.attention.rotary {
            (rotary.base, rotary.scaling) = (local, RotaryScaling::None);
        }
    }
    rotations(fields, spec)
}

/// Rotations that `rope_parameters` has for blocks with windows and for the others.
pub fn rotations(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let nested = fields.object("rope_parameters", "rope_parameters.")?;
    let of_kind = |kind, prefix| nested.map_or(Ok(None), |nested| nested.object(kind, prefix));
    let full = of_kind("full_attention", "rope_parameters.full_attention.")?;
    let sliding = of_kind("sliding_attention", "rope_parameters.sliding_attention.")?;
    let context = spec.context as f64;
    for block in &mut spec.blocks {
        let Some(rotary) = &mut block.attention.rotary else { continue };
        let own = if block.attention.window.is_some() { sliding } else { full };
        if let Some(fields) = own {
            (rotary.base, rotary.scaling) = config::rotary_of(fields, rotary.base, context, rotary.dims, None)?;
        }
    }
    Ok(())
}

/// Every `pattern`th block sees everything, unless `layer_types` says otherwise.
pub fn windows(fields: Fields<'_>, spec: &mut ModelSpec, pattern: usize) {
    if fields.get("layer_types").is_none() {
        let full = spec.blocks.iter_mut().skip(pattern - 1).step_by(pattern);
        full.for_each(|block| block.attention.window = None);
    }
}

fn scores(fields: Fields<'_>, spec: &mut ModelSpec, soft_cap: Option<f32>) -> Result<(), ModelError> {
    let scale = fields.positive("query_pre_attn_scalar")?.unwrap_or(256.0).sqrt().recip() as f32;
    for block in &mut spec.blocks {
        (block.attention.scale, block.attention.soft_cap) = (scale, soft_cap);
    }
    Ok(())
}

const NAMES: TensorNames = TensorNames {
    in_block: &[
        (B::AttentionNorm, "input_layernorm.weight"),
        (B::Query, "self_attn.q_proj.weight"),
        (B::Key, "self_attn.k_proj.weight"),
        (B::Value, "self_attn.v_proj.weight"),
        (B::Output, "self_attn.o_proj.weight"),
        (B::QueryBias, "self_attn.q_proj.bias"),
        (B::KeyBias, "self_attn.k_proj.bias"),
        (B::ValueBias, "self_attn.v_proj.bias"),
        (B::OutputBias, "self_attn.o_proj.bias"),
        (B::QueryNorm, "self_attn.q_norm.weight"),
        (B::KeyNorm, "self_attn.k_norm.weight"),
        (B::AttentionOutputNorm, "post_attention_layernorm.weight"),
        (B::MlpNorm, "pre_feedforward_layernorm.weight"),
        (B::Gate, "mlp.gate_proj.weight"),
        (B::Up, "mlp.up_proj.weight"),
        (B::Down, "mlp.down_proj.weight"),
        (B::MlpOutputNorm, "post_feedforward_layernorm.weight"),
    ],
    ..llama::NAMES
};
