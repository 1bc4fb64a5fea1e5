//! Gemma 4 (text): Gemma 3 with wider heads in blocks that see everything, values that are normalised and may
//! be made as keys are, blocks that read the keys and values of others, inputs of blocks, and experts beside
//! the MLP.

use super::{Architecture, Value, gemma};
use crate::model::ModelError;
use crate::model::config;
use crate::model::fields::Fields;
use crate::model::spec::{Experts, Heads, LayerInputs, Mlp, ModelSpec, NormKind, RotaryScaling};
use crate::model::tensors::{BlockSlot as B, GATE_ABOVE_UP, TensorNames};

/// `Gemma4ForCausalLM`.
pub const GEMMA4: Architecture = Architecture {
    name: "Gemma4ForCausalLM",
    model_type: "gemma4_text",
    norm: NormKind::Rms,
    default_window: Some(512),
    // Text sees what is before it either way.
    only: &[("use_bidirectional_attention", Value::Text("vision"))],
    adjust: fourth,
    names: &NAMES,
    ..gemma::GEMMA3
};

/// The text of `Gemma4UnifiedForConditionalGeneration`.
pub const GEMMA4_UNIFIED: Architecture = Architecture {
    name: "Gemma4UnifiedForCausalLM",
    model_type: "gemma4_unified_text",
    default_window: Some(1024),
    adjust: unified,
    ..GEMMA4
};

/// Values that configurations of texts leave out.
pub const USUAL: &[(&str, usize)] = &[
    ("num_attention_heads", 8),
    ("num_key_value_heads", 4),
    ("head_dim", 256),
    ("vocab_size", 262_144),
    ("max_position_embeddings", 131_072),
];

fn fourth(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    unified(fields, spec)?;
    let width = match fields.whole("hidden_size_per_layer_input")? {
        None if fields.is_null("hidden_size_per_layer_input") => 0,
        width => width.unwrap_or(256),
    };
    inputs(fields, spec, (width, "vocab_size_per_layer_input"))?;
    if fields.flag("enable_moe_block")?.unwrap_or(false) {
        let count = fields.required_size("num_experts")?;
        let used = fields.required_size("top_k_experts")?;
        beside(
            spec,
            Experts { count, used, normalised: true, shared: None, router_bias: false },
            fields.required_size("moe_intermediate_size")?,
        );
    }
    Ok(())
}

/// A row of a table for each token and block, if there are any of this width.
fn inputs(fields: Fields<'_>, spec: &mut ModelSpec, (width, rows): (usize, &str)) -> Result<(), ModelError> {
    if width > 0 {
        let vocab_size = fields.size(rows)?.unwrap_or(262_144);
        if vocab_size < spec.vocab_size {
            return Err(fields.error(rows, &format!("at least `vocab_size`, {}", spec.vocab_size)));
        }
        spec.layer_inputs = Some(LayerInputs { width, vocab_size });
    }
    Ok(())
}

/// Puts experts beside the MLP of every block.
pub fn beside(spec: &mut ModelSpec, experts: Experts, intermediate: usize) {
    for block in &mut spec.blocks {
        block.beside = Some(Mlp { intermediate, experts: Some(experts), ..block.mlp });
    }
}

fn unified(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    gemma::first(fields, spec)?;
    gemma::windows(fields, spec, 6);
    spec.head.soft_cap = fields.positive("final_logit_softcapping")?.map(|cap| cap as f32);
    let same = fields.flag("attention_k_eq_v")?.unwrap_or(false);
    if let Some(last) = spec.blocks.last_mut() {
        last.attention.window = None;
    }
    for block in 0..spec.blocks.len() {
        if spec.blocks[block].attention.window.is_none() {
            let heads = wide(fields, spec.heads, (block, same))?;
            (spec.blocks[block].attention.heads, spec.blocks[block].attention.value_is_key) = (Some(heads), same);
        }
    }
    shape(spec);
    gemma::rotations(fields, spec)?;
    let shared = fields.whole("num_kv_shared_layers")?.unwrap_or(0);
    share(spec, shared).map_err(|expected| fields.error("num_kv_shared_layers", &expected))?;
    if fields.flag("use_double_wide_mlp")?.unwrap_or(false) {
        for block in spec.blocks.iter_mut().filter(|block| block.attention.keys_of.is_some()) {
            block.mlp.intermediate *= 2;
        }
    }
    Ok(())
}

/// Heads of a block that sees everything; `same`: its values are made as keys are.
fn wide(fields: Fields<'_>, heads: Heads, (block, same): (usize, bool)) -> Result<Heads, ModelError> {
    // Files that transformers has written again name the blocks.
    let (own, names) = match fields.object("per_layer_config", "per_layer_config.")? {
        None => (Some(fields), ["global_head_dim", "num_global_key_value_heads"]),
        Some(all) => {
            let own = all.object(&block.to_string(), "per_layer_config.BLOCK.")?;
            (own, ["head_dim", "num_key_value_heads"])
        }
    };
    let size = |name| own.map_or(Ok(None), |own| own.size(name));
    let listed = fields.get("per_layer_config").is_some();
    let dim = size(names[0])?.unwrap_or(if listed { heads.dim } else { 512 });
    let kv = size(names[1])?.filter(|_| same || listed).unwrap_or(heads.kv);
    let wide = Heads { kv, dim, ..heads };
    if !wide.query.is_multiple_of(kv) || !dim.is_multiple_of(2) {
        let expected = format!("a divisor of `num_attention_heads`, {}, and an even width of heads", wide.query);
        return Err(own.unwrap_or(fields).error(names[1], &expected));
    }
    Ok(wide)
}

/// Norms and rotations of both kinds of blocks, those without a window having heads of their own.
pub fn shape(spec: &mut ModelSpec) {
    for block in &mut spec.blocks {
        let attention = &mut block.attention;
        (attention.scale, attention.value_norm, block.output_scale) = (1.0, true, true);
        let Some(rotary) = &mut attention.rotary else { continue };
        if attention.window.is_some() {
            (rotary.base, rotary.scaling) = (10_000.0, RotaryScaling::None);
        } else {
            let dims = attention.heads.map_or(rotary.dims, |heads| heads.dim);
            (rotary.base, rotary.dims) = (1e6, dims);
            rotary.scaling = config::proportional(dims, 0.25, 1.0);
        }
    }
}

/// The last `count` blocks read keys and values of the last block before them with or without a window as
/// they have.
pub fn share(spec: &mut ModelSpec, count: usize) -> Result<(), String> {
    let own = spec.blocks.len().saturating_sub(count);
    for block in own..spec.blocks.len() {
        let window = |block: usize| spec.blocks[block].attention.window.is_some();
        let Some(source) = (0..own).rev().find(|&before| window(before) == window(block)) else {
            return Err(format!("fewer: block {block} has no block before it to read keys and values of"));
        };
        spec.blocks[block].attention.keys_of = Some(source);
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
        (B::OutputScale, "layer_scalar"),
        (B::InputGate, "per_layer_input_gate.weight"),
        (B::InputProjection, "per_layer_projection.weight"),
        (B::InputNorm, "post_per_layer_input_norm.weight"),
        (B::Router, "router.proj.weight"),
        (B::RouterScale, "router.scale"),
        (B::ExpertScale, "router.per_expert_scale"),
        (B::BesideMlpNorm, "post_feedforward_layernorm_1.weight"),
        (B::ExpertsNorm, "pre_feedforward_layernorm_2.weight"),
        (B::ExpertsOutputNorm, "post_feedforward_layernorm_2.weight"),
    ],
    layer_inputs: [
        "embed_tokens_per_layer.weight", "per_layer_model_projection.weight", "per_layer_projection_norm.weight",
    ],
    expert: None,
    in_expert: &[(B::Gate, "experts.gate_up_proj"), (B::Up, "experts.gate_up_proj"), (B::Down, "experts.down_proj")],
    fused_expert: GATE_ABOVE_UP,
    ..super::llama::NAMES
};
