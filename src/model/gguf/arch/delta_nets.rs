//! Qwen3-Next, Qwen3.5 and Qwen3.6, most of whose blocks are delta nets.

use super::FIELDS;
use super::llama::QWEN2;
use super::names::NAMES;
use super::windows::flag;
use crate::model::ModelError;
use crate::model::arch::{Architecture, FieldNames, Switch, qwen3_5, qwen3_next};
use crate::model::fields::Fields;
use crate::model::spec::{DeltaNet, ModelSpec};
use crate::model::tensors::{BlockSlot as B, Fused, TensorNames};

/// The converter has added the 1 to the weights of norms, but for those inside of delta nets, and has put the
/// value heads in an order in which neighbours have different keys.
pub const QWEN3_5: Architecture = Architecture {
    name: qwen3_5::QWEN3_5.name,
    qk_norm: Switch::Always,
    adjust: tiled_nets,
    names: &DELTA_NAMES,
    delta_nets: true,
    ..QWEN2
};

pub const QWEN3_5_MOE: Architecture = Architecture {
    name: qwen3_5::QWEN3_5_MOE.name,
    fields: &FieldNames { intermediate: "expert_feed_forward_length", ..FIELDS },
    adjust: tiled_nets_with_experts,
    ..QWEN3_5
};

/// The order of value heads is the model's own.
pub const QWEN3_NEXT: Architecture = Architecture {
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
    // Some files say which order the value heads are in.
    if fields.flag("ssm.v_head_reordered")?.is_some_and(|reordered| reordered != tiled) {
        return Err(fields.error("ssm.v_head_reordered", &tiled.to_string()));
    }
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

const DELTA_NAMES: TensorNames = TensorNames { next: Some(&NEXT), ..BLOCKS };

const BLOCKS: TensorNames =
    TensorNames { in_block: &delta_names("ssm_beta.weight", "ssm_alpha.weight"), fused: qwen3_5::NAMES.fused, ..NAMES };

/// Names of the layer for the next tokens, which is the block behind the others, under a prefix that it is
/// given when it is read.
const NEXT: TensorNames = TensorNames {
    prefixes: &["mtp."],
    states: ["blk.0.nextn.eh_proj.weight", "blk.0.nextn.hnorm.weight", "blk.0.nextn.enorm.weight"],
    final_norm: "blk.0.nextn.shared_head_norm",
    ..BLOCKS
};
