//! Qwen3-Next: the blocks of Qwen3.5 with experts, its projections in groups of heads.

use super::{Architecture, FIELDS, qwen3_5, qwen3_moe};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{Experts, ModelSpec};
use crate::model::tensors::{BlockSlot as B, Fused, TensorNames};

/// `Qwen3NextForCausalLM`.
pub const QWEN3_NEXT: Architecture = Architecture {
    name: "Qwen3NextForCausalLM",
    model_type: "qwen3_next",
    fields: &FIELDS,
    adjust: experts,
    names: &NAMES,
    ..qwen3_5::QWEN3_5
};

/// Experts where Qwen3-MoE has them, and one that every row takes.
fn experts(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    qwen3_5::delta_nets(fields, spec)?;
    let normalised = fields.flag("norm_topk_prob")?.unwrap_or(true);
    let experts = qwen3_5::experts(fields, qwen3_5::EXPERTS)?;
    qwen3_moe::place(Experts { normalised, ..experts }, fields, spec)
}

const NAMES: TensorNames = TensorNames { next: Some(&NEXT), ..BLOCKS };
const NEXT: TensorNames = TensorNames { prefixes: &["mtp."], states: qwen3_5::NEXT_STATES, ..BLOCKS };

const BLOCKS: TensorNames = TensorNames {
    in_block: &[
        (B::AttentionNorm, "input_layernorm.weight"),
        (B::Query, "self_attn.q_proj.weight"),
        (B::AttentionGate, "self_attn.q_proj.weight"),
        (B::Key, "self_attn.k_proj.weight"),
        (B::Value, "self_attn.v_proj.weight"),
        (B::Output, "self_attn.o_proj.weight"),
        (B::QueryNorm, "self_attn.q_norm.weight"),
        (B::KeyNorm, "self_attn.k_norm.weight"),
        (B::DeltaQuery, "linear_attn.in_proj_qkvz.weight"),
        (B::DeltaKey, "linear_attn.in_proj_qkvz.weight"),
        (B::DeltaValue, "linear_attn.in_proj_qkvz.weight"),
        (B::DeltaGate, "linear_attn.in_proj_qkvz.weight"),
        (B::DeltaBeta, "linear_attn.in_proj_ba.weight"),
        (B::DeltaStep, "linear_attn.in_proj_ba.weight"),
        (B::DeltaStepBias, "linear_attn.dt_bias"),
        (B::DeltaDecay, "linear_attn.A_log"),
        (B::DeltaFilter, "linear_attn.conv1d.weight"),
        (B::DeltaNorm, "linear_attn.norm.weight"),
        (B::DeltaOutput, "linear_attn.out_proj.weight"),
        (B::MlpNorm, "post_attention_layernorm.weight"),
        (B::Gate, "mlp.gate_proj.weight"),
        (B::Up, "mlp.up_proj.weight"),
        (B::Down, "mlp.down_proj.weight"),
        (B::Router, "mlp.gate.weight"),
        (B::SharedScale, "mlp.shared_expert_gate.weight"),
        (B::SharedGate, "mlp.shared_expert.gate_proj.weight"),
        (B::SharedUp, "mlp.shared_expert.up_proj.weight"),
        (B::SharedDown, "mlp.shared_expert.down_proj.weight"),
    ],
    fused: &[
        (B::Query, Fused::HeadHalves(0)),
        (B::AttentionGate, Fused::HeadHalves(1)),
        (B::DeltaQuery, Fused::DeltaGroups(0)),
        (B::DeltaKey, Fused::DeltaGroups(1)),
        (B::DeltaValue, Fused::DeltaGroups(2)),
        (B::DeltaGate, Fused::DeltaGroups(3)),
        (B::DeltaBeta, Fused::DeltaPairs(0)),
        (B::DeltaStep, Fused::DeltaPairs(1)),
    ],
    ..crate::model::arch::llama::NAMES
};
