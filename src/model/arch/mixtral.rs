//! Mixtral: Mistral with experts in every block.

use super::{Architecture, llama, mistral};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{Experts, ModelSpec};
use crate::model::tensors::{BlockSlot as B, TensorNames};

/// `MixtralForCausalLM`.
pub const MIXTRAL: Architecture = Architecture {
    name: "MixtralForCausalLM",
    model_type: "mixtral",
    default_window: None,
    adjust: experts,
    names: &NAMES,
    ..mistral::MISTRAL
};

fn experts(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let count = fields.required_size("num_local_experts")?;
    let used = fields.required_size("num_experts_per_tok")?;
    for block in &mut spec.blocks {
        block.mlp.experts = Some(Experts { count, used, normalised: true, shared: None, router_bias: false });
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
        (B::MlpNorm, "post_attention_layernorm.weight"),
        (B::Router, "block_sparse_moe.gate.weight"),
    ],
    expert: Some("block_sparse_moe.experts."),
    in_expert: &[(B::Gate, "w1.weight"), (B::Up, "w3.weight"), (B::Down, "w2.weight")],
    ..llama::NAMES
};
