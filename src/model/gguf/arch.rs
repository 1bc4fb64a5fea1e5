//! The architectures of GGUF files: those of `model/arch` with other names of fields and tensors, and with
//! what the converter has changed. To add one: a constant and a row in [`ALL`].
//!
//! Fields have the file's `general.architecture` in front of their names; `mod.rs` adds those that are
//! computed, and a field that is true for every tensor of the first block.

use serde_json::Value;

use crate::model::ModelError;
use crate::model::arch::{
    Architecture, FIELDS as HF_FIELDS, FieldNames, Positions, Switch, gemma, gpt_neox, gpt2, granite, llama, phi, phi3,
    qwen2, qwen3, starcoder2,
};
use crate::model::fields::Fields;
use crate::model::spec::{Experts, ModelSpec, NormKind, RotaryScaling, Wiring};
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// By `general.architecture`.
pub const ALL: &[(&str, &Architecture)] = &[
    ("llama", &LLAMA),
    ("qwen2", &QWEN2),
    ("qwen3", &QWEN3),
    ("qwen3moe", &QWEN3_MOE),
    ("starcoder2", &STARCODER2),
    ("granite", &GRANITE),
    ("phi2", &PHI2),
    ("phi3", &PHI3),
    ("gemma", &GEMMA),
    ("gemma2", &GEMMA2),
    ("gemma3", &GEMMA3),
    ("gpt2", &GPT2),
    ("starcoder", &GPT_BIGCODE),
    ("gptneox", &GPT_NEOX),
];

const FIELDS: FieldNames = FieldNames {
    hidden: "embedding_length",
    layers: "block_count",
    heads: "attention.head_count",
    kv_heads: "attention.head_count_kv",
    intermediate: "feed_forward_length",
    context: "context_length",
    activation: "",
    eps: "attention.layer_norm_rms_epsilon",
    rotary_base: "rope.freq_base",
    ..HF_FIELDS
};

const LAYER_NORM: FieldNames = FieldNames { eps: "attention.layer_norm_epsilon", ..FIELDS };

/// The converter orders the channels of Llama's heads so that those that are rotated together are neighbours.
const LLAMA: Architecture = Architecture {
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
fn experts(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let count = fields.whole("expert_count")?.unwrap_or(0);
    if count > 0 {
        let used = fields.required_size("expert_used_count")?;
        let intermediate = fields.size("expert_feed_forward_length")?;
        let normalised = fields.flag("expert_weights_norm")?.unwrap_or(true);
        for block in &mut spec.blocks {
            block.mlp.intermediate = intermediate.unwrap_or(block.mlp.intermediate);
            block.mlp.experts = Some(Experts { count, used, normalised });
        }
    }
    Ok(())
}

const QWEN2: Architecture =
    Architecture { name: qwen2::QWEN2.name, positions: llama::LLAMA.positions, window: Switch::Never, ..LLAMA };

const QWEN3: Architecture = Architecture { name: qwen3::QWEN3.name, qk_norm: Switch::Always, ..QWEN2 };

const QWEN3_MOE: Architecture = Architecture { name: "Qwen3MoeForCausalLM", ..QWEN3 };

const STARCODER2: Architecture = Architecture {
    name: starcoder2::STARCODER2.name,
    fields: &LAYER_NORM,
    norm: NormKind::Layer,
    activation: Some("gelu_pytorch_tanh"),
    gated: false,
    window: Switch::Always,
    ..QWEN2
};

const GRANITE: Architecture = Architecture { name: granite::GRANITE.name, adjust: multipliers, ..LLAMA };

fn multipliers(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let number = |field, default: f32| Ok::<_, ModelError>(fields.positive(field)?.map_or(default, |x| x as f32));
    spec.embedding.scale = number("embedding_scale", 1.0)?;
    spec.head.scale = number("logit_scale", 1.0)?.recip();
    let residual_scale = number("residual_scale", 1.0)?;
    for block in &mut spec.blocks {
        block.residual_scale = residual_scale;
        block.attention.scale = number("attention.scale", block.attention.scale)?;
    }
    Ok(())
}

const PHI2: Architecture =
    Architecture { fields: &LAYER_NORM, activation: Some("gelu_new"), only: &[], names: &NAMES, ..phi::PHI };

const PHI3: Architecture = Architecture {
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

/// The converter has added the 1 to the weights of norms.
const GEMMA: Architecture =
    Architecture { name: gemma::GEMMA.name, activation: Some("gelu_pytorch_tanh"), adjust: ends, ..QWEN2 };

/// The scale of the embedding, and the cap of logits where there is one.
fn ends(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    spec.embedding.scale = (spec.hidden as f32).sqrt();
    spec.head.soft_cap = fields.positive("final_logit_softcapping")?.map(|cap| cap as f32);
    Ok(())
}

const GEMMA2: Architecture = Architecture {
    name: gemma::GEMMA2.name,
    wiring: Wiring::Sandwich,
    window: Switch::Always,
    adjust: second,
    names: &TensorNames {
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
        ],
        ..NAMES
    },
    ..GEMMA
};

fn second(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    ends(fields, spec)?;
    let soft_cap = fields.positive("attn_logit_softcapping")?.map(|cap| cap as f32);
    // The 27B model, by its number of blocks, scales by the width that its heads would have without a field.
    let scale = (spec.blocks.len() == 46).then(|| (spec.hidden as f32 / spec.heads.query as f32).sqrt().recip());
    let windows = windows(fields, spec.blocks.len(), 2)?;
    for (number, block) in spec.blocks.iter_mut().enumerate() {
        let attention = &mut block.attention;
        attention.soft_cap = soft_cap;
        attention.scale = scale.unwrap_or(attention.scale);
        attention.window = attention.window.filter(|_| windows[number]);
    }
    Ok(())
}

/// Blocks that have a window: as a list of the file says, or all but each last one of so many.
fn windows(fields: Fields<'_>, blocks: usize, usual: usize) -> Result<Vec<bool>, ModelError> {
    let field = "attention.sliding_window_pattern";
    let flag = |value: &Value| value.as_bool().or_else(|| Some(value.as_u64()? != 0));
    let expected = || fields.error(field, &format!("a whole number, or {blocks} times true or false"));
    let every = match fields.get(field) {
        Some(Value::Array(list)) => {
            let list: Option<Vec<bool>> = list.iter().map(flag).collect();
            return list.filter(|list| list.len() == blocks).ok_or_else(expected);
        }
        Some(value) => value.as_u64().and_then(|every| usize::try_from(every).ok()).ok_or_else(expected)?,
        None => usual,
    };
    // No number of them has none without a window.
    Ok((0..blocks).map(|number| every == 0 || number % every + 1 < every).collect())
}

const GEMMA3: Architecture =
    Architecture { name: gemma::GEMMA3.name, qk_norm: Switch::Always, adjust: third, ..GEMMA2 };

fn third(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    ends(fields, spec)?;
    // Some files have the two bases under names of their own.
    let [with_window, without] = ["rope.local.freq_base", "rope.global.freq_base"].map(|field| fields.positive(field));
    let base = fields.positive("rope.freq_base_swa")?.or(with_window?).unwrap_or(10_000.0);
    let without = without?.filter(|_| fields.get("rope.freq_base").is_none());
    let windows = windows(fields, spec.blocks.len(), 6)?;
    let scale = (spec.blocks.len() == 62).then(|| (spec.hidden as f32 / spec.heads.query as f32).sqrt().recip());
    for (number, block) in spec.blocks.iter_mut().enumerate() {
        let attention = &mut block.attention;
        attention.scale = scale.unwrap_or(attention.scale);
        attention.window = attention.window.filter(|_| windows[number]);
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

/// The converter stores matrices as all others have them.
const GPT2: Architecture = Architecture {
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

const GPT_BIGCODE: Architecture =
    Architecture { name: "GPTBigCodeForCausalLM", activation: Some("gelu_pytorch_tanh"), ..GPT2 };

/// The converter has put query, key and value one below the other.
const GPT_NEOX: Architecture = Architecture {
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

const NAMES: TensorNames = TensorNames {
    prefixes: &[""],
    embedding: "token_embd.weight",
    positions: "",
    projections: ["", ""],
    final_norm: "output_norm",
    head: "output",
    block: "blk.",
    in_block: &[
        (B::AttentionNorm, "attn_norm.weight"),
        (B::AttentionNormBias, "attn_norm.bias"),
        (B::Query, "attn_q.weight"),
        (B::Key, "attn_k.weight"),
        (B::Value, "attn_v.weight"),
        (B::Output, "attn_output.weight"),
        (B::QueryBias, "attn_q.bias"),
        (B::KeyBias, "attn_k.bias"),
        (B::ValueBias, "attn_v.bias"),
        (B::OutputBias, "attn_output.bias"),
        (B::QueryNorm, "attn_q_norm.weight"),
        (B::KeyNorm, "attn_k_norm.weight"),
        (B::MlpNorm, "ffn_norm.weight"),
        (B::MlpNormBias, "ffn_norm.bias"),
        (B::Router, "ffn_gate_inp.weight"),
        (B::Gate, "ffn_gate.weight"),
        (B::Up, "ffn_up.weight"),
        (B::Down, "ffn_down.weight"),
        (B::GateBias, "ffn_gate.bias"),
        (B::UpBias, "ffn_up.bias"),
        (B::DownBias, "ffn_down.bias"),
    ],
    fused: &[],
    expert: None,
    in_expert: &[(B::Gate, "ffn_gate_exps.weight"), (B::Up, "ffn_up_exps.weight"), (B::Down, "ffn_down_exps.weight")],
    transposed: false,
};
