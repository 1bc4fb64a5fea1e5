//! Mellum 2: Qwen3-MoE with windows in most blocks, and a rotation for each kind of block.

use super::{Architecture, Switch, gemma, qwen3};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{Experts, ModelSpec};

/// `MellumForCausalLM`.
pub const MELLUM: Architecture = Architecture {
    name: "MellumForCausalLM",
    model_type: "mellum",
    window: Switch::Always,
    default_window: Some(1024),
    adjust: kinds,
    ..qwen3::QWEN3
};

fn kinds(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    if fields.get("layer_types").is_none() {
        spec.blocks.iter_mut().for_each(|block| block.attention.window = None);
    }
    gemma::rotations(fields, spec)?;
    let sparse = fields.texts("mlp_layer_types")?.unwrap_or_else(|| vec!["sparse"; spec.blocks.len()]);
    if sparse.len() != spec.blocks.len() || sparse.iter().any(|kind| !["dense", "sparse"].contains(kind)) {
        let expected = format!("{} times \"dense\" or \"sparse\"", spec.blocks.len());
        return Err(fields.error("mlp_layer_types", &expected));
    }
    // Both spellings occur, depending on the version of transformers.
    let count = match fields.size("num_local_experts")? {
        Some(count) => count,
        None => fields.required_size("num_experts")?,
    };
    let used = fields.required_size("num_experts_per_tok")?;
    let experts = Experts {
        count,
        used,
        normalised: fields.flag("norm_topk_prob")?.unwrap_or(true),
        shared: None,
        router_bias: false,
    };
    let intermediate = fields.required_size("moe_intermediate_size")?;
    for (block, _) in spec.blocks.iter_mut().zip(sparse).filter(|(_, kind)| *kind == "sparse") {
        block.mlp.intermediate = intermediate;
        block.mlp.experts = Some(experts);
    }
    Ok(())
}
