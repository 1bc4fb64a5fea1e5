//! Qwen3 with experts, Qwen3-Coder among them.

use super::{Architecture, qwen3};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{Experts, ModelSpec};

/// `Qwen3MoeForCausalLM`.
pub const QWEN3_MOE: Architecture =
    Architecture { name: "Qwen3MoeForCausalLM", model_type: "qwen3_moe", adjust: experts, ..qwen3::QWEN3 };

/// Every `decoder_sparse_step`th block has experts, but for those in `mlp_only_layers`.
fn experts(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    // Both spellings occur, depending on the version of transformers.
    let count = match fields.size("num_local_experts")? {
        Some(count) => count,
        None => fields.required_size("num_experts")?,
    };
    let experts = Experts {
        count,
        used: fields.required_size("num_experts_per_tok")?,
        normalised: fields.flag("norm_topk_prob")?.unwrap_or(false),
        shared: None,
        router_bias: false,
    };
    place(experts, fields, spec)
}

/// Puts these experts where the configuration says.
pub fn place(experts: Experts, fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let intermediate = fields.required_size("moe_intermediate_size")?;
    let step = fields.size("decoder_sparse_step")?.unwrap_or(1);
    let dense = fields.ids("mlp_only_layers")?.unwrap_or_default();
    for (number, block) in spec.blocks.iter_mut().enumerate() {
        if (number + 1).is_multiple_of(step) && !dense.contains(&(number as u32)) {
            block.mlp.intermediate = intermediate;
            block.mlp.experts = Some(experts);
        }
    }
    Ok(())
}
