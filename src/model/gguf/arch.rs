//! The architectures of GGUF files: those of `model/arch` with other names of fields and tensors, and with
//! what the converter has changed. To add one: a constant and a row in [`ALL`].
//!
//! Fields have the file's `general.architecture` in front of their names; `mod.rs` adds those that are
//! computed, and a field that is true for every tensor of the first block.

use crate::model::ModelError;
use crate::model::arch::{
    Architecture, FIELDS as HF_FIELDS, FieldNames, Positions, Switch, Value, gemma, gemma4, gpt_neox, gpt_oss, gpt2,
    granite, llama, mellum, ministral3, phi, phi3, qwen2, qwen3, qwen3_5, qwen3_next, smollm3, stablelm, starcoder2,
};
use crate::model::fields::Fields;
use crate::model::spec::{
    DeltaNet, Experts, Heads, LayerInputs, ModelSpec, NormKind, QueryGrowth, Rotary, RotaryScaling, Wiring,
};
use crate::model::tensors::{BlockSlot as B, Fused, GATE_ABOVE_UP, TensorNames};

/// Field that is computed: key/value heads of each block, where the file has a list.
pub const EACH_KV: &str = "attention.head_count_kv.each";
/// Widths of MLPs, as above.
pub const EACH_INNER: &str = "feed_forward_length.each";
/// Blocks with keys and without values.
pub const WITHOUT_VALUES: &str = "attn_v.missing";

/// By `general.architecture`.
pub const ALL: &[(&str, &Architecture)] = &[
    ("llama", &LLAMA),
    ("qwen2", &QWEN2),
    ("qwen3", &QWEN3),
    ("qwen3moe", &QWEN3_MOE),
    ("qwen35", &QWEN3_5),
    ("qwen35moe", &QWEN3_5_MOE),
    ("qwen3next", &QWEN3_NEXT),
    ("starcoder2", &STARCODER2),
    ("granite", &GRANITE),
    ("phi2", &PHI2),
    ("phi3", &PHI3),
    ("gemma", &GEMMA),
    ("gemma2", &GEMMA2),
    ("gemma3", &GEMMA3),
    ("gemma4", &GEMMA4),
    ("gpt2", &GPT2),
    ("starcoder", &GPT_BIGCODE),
    ("gptneox", &GPT_NEOX),
    ("mistral3", &MISTRAL3),
    ("smollm3", &SMOLLM3),
    ("stablelm", &STABLELM),
    ("granitehybrid", &GRANITE),
    ("mellum", &MELLUM),
    ("gpt-oss", &GPT_OSS),
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
            block.mlp.experts = Some(Experts { count, used, normalised, shared: None, router_bias: false });
        }
    }
    Ok(())
}

const QWEN2: Architecture =
    Architecture { name: qwen2::QWEN2.name, positions: llama::LLAMA.positions, window: Switch::Never, ..LLAMA };

const QWEN3: Architecture = Architecture { name: qwen3::QWEN3.name, qk_norm: Switch::Always, ..QWEN2 };

const QWEN3_MOE: Architecture = Architecture { name: "Qwen3MoeForCausalLM", ..QWEN3 };

/// The converter has added the 1 to the weights of norms, but for those inside of delta nets, and has put the
/// value heads in an order in which neighbours have different keys.
const QWEN3_5: Architecture = Architecture {
    name: qwen3_5::QWEN3_5.name,
    qk_norm: Switch::Always,
    adjust: tiled_nets,
    names: &DELTA_NAMES,
    delta_nets: true,
    ..QWEN2
};

const QWEN3_5_MOE: Architecture = Architecture {
    name: qwen3_5::QWEN3_5_MOE.name,
    fields: &FieldNames { intermediate: "expert_feed_forward_length", ..FIELDS },
    adjust: tiled_nets_with_experts,
    ..QWEN3_5
};

/// The order of value heads is the model's own.
const QWEN3_NEXT: Architecture = Architecture {
    name: qwen3_next::QWEN3_NEXT.name,
    adjust: nets_with_experts,
    names: &TensorNames {
        fused: &[
            (B::Query, Fused::HeadHalves(0)),
            (B::AttentionGate, Fused::HeadHalves(1)),
            (B::DeltaQuery, Fused::Delta(0)),
            (B::DeltaKey, Fused::Delta(1)),
            (B::DeltaValue, Fused::Delta(2)),
            (B::DeltaBeta, Fused::DeltaPairs(0)),
            (B::DeltaStep, Fused::DeltaPairs(1)),
        ],
        in_block: &delta_names("ssm_ba.weight", "ssm_ba.weight"),
        ..DELTA_NAMES
    },
    ..QWEN3_5_MOE
};

fn tiled_nets(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    nets(fields, spec, true)
}

fn tiled_nets_with_experts(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    nets(fields, spec, true)?;
    with_shared(fields, spec)
}

fn nets_with_experts(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    nets(fields, spec, false)?;
    with_shared(fields, spec)
}

fn with_shared(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let names = ["expert_count", "expert_used_count", "expert_shared_feed_forward_length"];
    let experts = qwen3_5::experts(fields, names)?;
    spec.blocks.iter_mut().for_each(|block| block.mlp.experts = Some(experts));
    Ok(())
}

fn nets(fields: Fields<'_>, spec: &mut ModelSpec, tiled: bool) -> Result<(), ModelError> {
    // A block that only drafts stands behind the others, and counts as one of them.
    let all = spec.blocks.len();
    let drafting = fields.whole("nextn_predict_layers")?.unwrap_or(0);
    if drafting >= all {
        return Err(fields.error("nextn_predict_layers", &format!("less than the number of blocks, {all}")));
    }
    spec.blocks.truncate(all - drafting);
    let [inner, value_heads] = [fields.required_size("ssm.inner_size")?, fields.required_size("ssm.time_step_rank")?];
    if !inner.is_multiple_of(value_heads) {
        return Err(fields.error("ssm.inner_size", &format!("a multiple of `ssm.time_step_rank`, {value_heads}")));
    }
    let net = DeltaNet {
        key_heads: fields.required_size("ssm.group_count")?,
        value_heads,
        key_dim: fields.required_size("ssm.state_size")?,
        value_dim: inner / value_heads,
        width: fields.required_size("ssm.conv_kernel")?,
        logarithms: false,
        tiled,
    };
    let field = "attention.recurrent_layers";
    let linear = match fields.get(field).map(|list| list.as_array()) {
        None => None,
        Some(list) => {
            let flags: Option<Vec<bool>> = list.and_then(|list| list.iter().map(flag).collect());
            let flags = flags.filter(|flags| flags.len() >= spec.blocks.len());
            Some(flags.ok_or_else(|| fields.error(field, &format!("a list of {all} truth values")))?)
        }
    };
    qwen3_5::place((net, linear), fields, spec, ["ssm.time_step_rank", "ssm.group_count", "ssm.conv_kernel"])
}

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
    // Of this family the field says whether there is any rotation.
    if fields.flag("rope.scaling.finetuned")? == Some(false) {
        spec.blocks.iter_mut().for_each(|block| block.attention.rotary = None);
    }
    Ok(())
}

const MISTRAL3: Architecture = Architecture { name: ministral3::MINISTRAL3.name, adjust: growth, ..LLAMA };

fn growth(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let context = fields.positive("rope.scaling.original_context_length")?.unwrap_or(spec.context as f64) as f32;
    let beta = fields.positive("attention.temperature_scale")?.map(|beta| beta as f32);
    for block in &mut spec.blocks {
        block.attention.query_growth = beta.map(|beta| QueryGrowth { beta, context });
    }
    experts(fields, spec)
}

/// Which blocks are rotated stands in no field.
const SMOLLM3: Architecture = Architecture { name: smollm3::SMOLLM3.name, adjust: no_rotation, ..LLAMA };

#[allow(clippy::unnecessary_wraps, reason = "the signature of all adjustments")]
fn no_rotation(_: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let rotated = smollm3::every(spec, 4);
    smollm3::apply(spec, &rotated);
    Ok(())
}

const STABLELM: Architecture = Architecture {
    fields: &LAYER_NORM,
    qkv_bias: Switch::Field("attn_q.bias"),
    only: &[("attn_q_norm.weight", Value::Flag(false))],
    adjust: one_norm,
    names: &NAMES,
    ..stablelm::STABLELM
};

fn one_norm(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    if fields.flag("ffn_norm.weight")?.is_none() {
        spec.blocks.iter_mut().for_each(|block| block.wiring = Wiring::Parallel);
    }
    Ok(())
}

const MELLUM: Architecture =
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

/// A truth value, which files also write as a number.
fn flag(value: &serde_json::Value) -> Option<bool> {
    value.as_bool().or_else(|| Some(value.as_u64()? != 0))
}

/// Takes the window from the blocks that see everything: a truth value for every block says which have one,
/// or all but each last one of so many have; `usual` where the file does not say, 0 for all.
fn windows(fields: Fields<'_>, spec: &mut ModelSpec, usual: usize) -> Result<(), ModelError> {
    let (name, count) = ("attention.sliding_window_pattern", spec.blocks.len());
    let every = |every: usize| (0..count).map(|number| every == 0 || (number + 1) % every != 0).collect();
    let windows: Option<Vec<bool>> = match fields.get(name) {
        None => Some(every(usual)),
        Some(serde_json::Value::Array(list)) => list.iter().map(flag).collect(),
        Some(value) => value.as_u64().and_then(|value| usize::try_from(value).ok()).map(every),
    };
    let windows = windows.filter(|windows| windows.len() == count);
    let expected = || fields.error(name, &format!("a whole number, or {count} times true or false"));
    for (block, window) in spec.blocks.iter_mut().zip(windows.ok_or_else(expected)?) {
        block.attention.window = block.attention.window.filter(|_| window);
    }
    Ok(())
}

const PHI2: Architecture =
    Architecture { fields: &LAYER_NORM, activation: Some("gelu_new"), names: &NAMES, ..phi::PHI };

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
    names: &GEMMA_NAMES,
    ..GEMMA
};

fn second(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    ends(fields, spec)?;
    let soft_cap = fields.positive("attn_logit_softcapping")?.map(|cap| cap as f32);
    // The 27B model, by its number of blocks, scales by the width that its heads would have without a field.
    let scale = (spec.blocks.len() == 46).then(|| (spec.hidden as f32 / spec.heads.query as f32).sqrt().recip());
    windows(fields, spec, 2)?;
    for block in &mut spec.blocks {
        let attention = &mut block.attention;
        attention.soft_cap = soft_cap;
        attention.scale = scale.unwrap_or(attention.scale);
    }
    Ok(())
}

const GEMMA3: Architecture =
    Architecture { name: gemma::GEMMA3.name, qk_norm: Switch::Always, adjust: third, ..GEMMA2 };

fn third(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    ends(fields, spec)?;
    // Some files have the two bases under names of their own.
    let [with_window, without] = ["rope.local.freq_base", "rope.global.freq_base"].map(|field| fields.positive(field));
    let base = fields.positive("rope.freq_base_swa")?.or(with_window?).unwrap_or(10_000.0);
    let without = without?.filter(|_| fields.get("rope.freq_base").is_none());
    windows(fields, spec, 6)?;
    let scale = (spec.blocks.len() == 62).then(|| (spec.hidden as f32 / spec.heads.query as f32).sqrt().recip());
    for block in &mut spec.blocks {
        let attention = &mut block.attention;
        attention.scale = scale.unwrap_or(attention.scale);
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

/// Other than before, the converter leaves norms as they are, and the file says which blocks have windows.
const GEMMA4: Architecture =
    Architecture { name: gemma4::GEMMA4.name, norm: NormKind::Rms, qk_norm: Switch::Always, adjust: fourth, ..GEMMA2 };

fn fourth(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    ends(fields, spec)?;
    windows(fields, spec, 0)?;
    let count = spec.blocks.len();
    let list = |name: &'static str| match fields.sizes(name)? {
        Some(list) if list.len() != count => Err(fields.error(name, &format!("{count} numbers"))),
        list => Ok(list),
    };
    let (kv, inner) = (list(EACH_KV)?, list(EACH_INNER)?);
    let dim = fields.required_size("attention.key_length")?;
    let (rotated, narrow) = ("rope.dimension_count_swa", spec.heads.dim);
    if fields.size(rotated)?.is_some_and(|rotated| rotated != narrow) {
        return Err(fields.error(rotated, &format!("{narrow}, the width of a head of these blocks")));
    }
    let same = fields.ids(WITHOUT_VALUES)?.unwrap_or_default();
    for (number, block) in spec.blocks.iter_mut().enumerate() {
        let attention = &mut block.attention;
        let kv = kv.as_ref().map_or(spec.heads.kv, |kv| kv[number]);
        if !spec.heads.query.is_multiple_of(kv) {
            let expected = format!("divisors of `attention.head_count`, {}", spec.heads.query);
            return Err(fields.error(EACH_KV, &expected));
        }
        let dim = if attention.window.is_some() { spec.heads.dim } else { dim };
        attention.heads = Some(Heads { kv, dim, ..spec.heads }).filter(|heads| *heads != spec.heads);
        attention.value_is_key = same.contains(&(number as u32));
        block.mlp.intermediate = inner.as_ref().map_or(block.mlp.intermediate, |inner| inner[number]);
    }
    // Its frequencies are not stretched.
    for field in ["rope.scale_linear", "rope.scaling.factor"] {
        if fields.not_negative(field)?.is_some_and(|factor| factor > 0.0 && factor.to_bits() != 1f64.to_bits()) {
            return Err(fields.error(field, "nothing or 1"));
        }
    }
    gemma4::shape(spec);
    let bases = ["rope.freq_base", "rope.freq_base_swa"].map(|name| fields.positive(name));
    let [full, own] = bases;
    let (full, own) = (full?, own?);
    let scaled = fields.flag("layer_output_scale.weight")?.unwrap_or(false);
    for block in &mut spec.blocks {
        block.output_scale = scaled;
        let base = if block.attention.window.is_some() { own } else { full };
        if let Some(rotary) = &mut block.attention.rotary {
            rotary.base = base.unwrap_or(rotary.base);
        }
    }
    let shared = fields.whole("attention.shared_kv_layers")?.unwrap_or(0);
    gemma4::share(spec, shared).map_err(|expected| fields.error("attention.shared_kv_layers", &expected))?;
    if let Some(width) = fields.whole("embedding_length_per_layer_input")?.filter(|&width| width > 0) {
        spec.layer_inputs = Some(LayerInputs { width, vocab_size: spec.vocab_size });
    }
    let count = fields.whole("expert_count")?.unwrap_or(0);
    if count > 0 {
        let used = fields.required_size("expert_used_count")?;
        let experts = Experts { count, used, normalised: true, shared: None, router_bias: false };
        gemma4::beside(spec, experts, fields.required_size("expert_feed_forward_length")?);
    }
    if fields.flag("ffn_gate_up_exps.weight")?.unwrap_or(false) {
        spec.names = &GEMMA4_FUSED_NAMES;
    }
    Ok(())
}

/// Names from the second Gemma on; a model has those of its slots.
const GEMMA_NAMES: TensorNames = TensorNames {
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

/// Of files where gates stand above what they gate.
const GEMMA4_FUSED_NAMES: TensorNames = TensorNames {
    in_expert: &[
        (B::Gate, "ffn_gate_up_exps.weight"),
        (B::Up, "ffn_gate_up_exps.weight"),
        (B::Down, "ffn_down_exps.weight"),
    ],
    fused_expert: GATE_ABOVE_UP,
    ..GEMMA_NAMES
};

/// The converter has taken gates from between what they gate.
const GPT_OSS: Architecture = Architecture {
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
    stacked: None,
    layer_inputs: ["per_layer_token_embd.weight", "per_layer_model_proj.weight", "per_layer_proj_norm.weight"],
    fused_expert: &[],
    experts_transposed: false,
};

/// Names of blocks with delta nets, and where beta and step are.
const fn delta_names(beta: &'static str, step: &'static str) -> [(B, &'static str); 28] {
    [
        (B::AttentionNorm, "attn_norm.weight"),
        (B::Query, "attn_q.weight"),
        (B::AttentionGate, "attn_q.weight"),
        (B::Key, "attn_k.weight"),
        (B::Value, "attn_v.weight"),
        (B::Output, "attn_output.weight"),
        (B::QueryNorm, "attn_q_norm.weight"),
        (B::KeyNorm, "attn_k_norm.weight"),
        (B::DeltaQuery, "attn_qkv.weight"),
        (B::DeltaKey, "attn_qkv.weight"),
        (B::DeltaValue, "attn_qkv.weight"),
        (B::DeltaGate, "attn_gate.weight"),
        (B::DeltaBeta, beta),
        (B::DeltaStep, step),
        (B::DeltaStepBias, "ssm_dt.bias"),
        (B::DeltaDecay, "ssm_a"),
        (B::DeltaFilter, "ssm_conv1d.weight"),
        (B::DeltaNorm, "ssm_norm.weight"),
        (B::DeltaOutput, "ssm_out.weight"),
        (B::MlpNorm, "post_attention_norm.weight"),
        (B::Gate, "ffn_gate.weight"),
        (B::Up, "ffn_up.weight"),
        (B::Down, "ffn_down.weight"),
        (B::Router, "ffn_gate_inp.weight"),
        (B::SharedScale, "ffn_gate_inp_shexp.weight"),
        (B::SharedGate, "ffn_gate_shexp.weight"),
        (B::SharedUp, "ffn_up_shexp.weight"),
        (B::SharedDown, "ffn_down_shexp.weight"),
    ]
}

const DELTA_NAMES: TensorNames =
    TensorNames { in_block: &delta_names("ssm_beta.weight", "ssm_alpha.weight"), fused: qwen3_5::NAMES.fused, ..NAMES };
