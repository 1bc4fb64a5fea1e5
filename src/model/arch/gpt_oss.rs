//! gpt-oss: experts in every block, biases everywhere, a window in every second block, and a sink for each
//! head.

use super::{Architecture, Switch, Value, llama};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{Activation, Experts, ModelSpec};
use crate::model::tensors::{BlockSlot as B, Fused, TensorNames};

/// `GptOssForCausalLM`.
pub const GPT_OSS: Architecture = Architecture {
    name: "GptOssForCausalLM",
    model_type: "gpt_oss",
    eps: 1e-5,
    activation: Some("silu"),
    qkv_bias: Switch::Unless("attention_bias"),
    output_bias: Switch::Unless("attention_bias"),
    mlp_bias: Switch::Always,
    window: Switch::Always,
    default_window: Some(128),
    only: &[
        ("swiglu_alpha", Value::Number(1.702)),
        ("swiglu_limit", Value::Number(7.0)),
        ("hidden_act", Value::Text("silu")),
    ],
    blocks_of_four_bits: true,
    adjust,
    names: &NAMES,
    ..llama::LLAMA
};

fn adjust(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    if fields.get("layer_types").is_none() {
        every_second(spec);
    }
    if fields.object("rope_parameters", "")?.is_none() && fields.object("rope_scaling", "")?.is_none() {
        return Err(fields.error("rope_scaling", "an object"));
    }
    let count = match fields.size("num_local_experts")? {
        Some(count) => count,
        None => fields.required_size("num_experts")?,
    };
    experts(spec, (count, fields.required_size("num_experts_per_tok")?));
    if fields.get("quantization_config").is_none() {
        spec.names = &WIDE_NAMES;
    }
    Ok(())
}

/// Blocks with a window and blocks without take turns.
pub fn every_second(spec: &mut ModelSpec) {
    spec.blocks.iter_mut().skip(1).step_by(2).for_each(|block| block.attention.window = None);
}

/// So many experts, of which a row takes so many, and the sinks. The softmax over the experts that are taken
/// is that over all, scaled so that theirs add up to 1.
pub fn experts(spec: &mut ModelSpec, (count, used): (usize, usize)) {
    for block in &mut spec.blocks {
        block.attention.sinks = true;
        block.mlp.activation = Activation::ClampedSwish;
        block.mlp.experts = Some(Experts { count, used, normalised: true, shared: None, router_bias: true });
    }
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
        (B::Sinks, "self_attn.sinks"),
        (B::MlpNorm, "post_attention_layernorm.weight"),
        (B::Router, "mlp.router.weight"),
        (B::RouterBias, "mlp.router.bias"),
    ],
    expert: None,
    in_expert: &[
        (B::Gate, "mlp.experts.gate_up_proj"),
        (B::Up, "mlp.experts.gate_up_proj"),
        (B::Down, "mlp.experts.down_proj"),
        (B::GateBias, "mlp.experts.gate_up_proj_bias"),
        (B::UpBias, "mlp.experts.gate_up_proj_bias"),
        (B::DownBias, "mlp.experts.down_proj_bias"),
    ],
    fused_expert: &[
        (B::Gate, Fused::Interleaved(0, 2)),
        (B::Up, Fused::Interleaved(1, 2)),
        (B::GateBias, Fused::Interleaved(0, 2)),
        (B::UpBias, Fused::Interleaved(1, 2)),
    ],
    ..llama::NAMES
};

/// Of weights in bf16, which transformers writes the other way round.
const WIDE_NAMES: TensorNames = TensorNames { experts_transposed: true, ..NAMES };
