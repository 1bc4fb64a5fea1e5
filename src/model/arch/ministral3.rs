//! Ministral 3 and Devstral Small 2: Mistral with stretched rotation and queries that grow with their
//! position.

use super::{Architecture, mistral};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{ModelSpec, QueryGrowth};

/// `Ministral3ForCausalLM`.
pub const MINISTRAL3: Architecture = Architecture {
    name: "Ministral3ForCausalLM",
    model_type: "ministral3",
    eps: 1e-5,
    default_window: None,
    adjust: growth,
    ..mistral::MISTRAL
};

fn growth(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    // Without the field the reference has values of its own.
    let Some(rotary) = fields.object("rope_parameters", "rope_parameters.")? else {
        return Err(fields.error("rope_parameters", "an object"));
    };
    let Some(beta) = rotary.positive("llama_4_scaling_beta")? else { return Ok(()) };
    let context = rotary.required_positive("original_max_position_embeddings")? as f32;
    let growth = Some(QueryGrowth { beta: beta as f32, context });
    spec.blocks.iter_mut().for_each(|block| block.attention.query_growth = growth);
    Ok(())
}
