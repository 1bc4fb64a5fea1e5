//! Granite 3: Llama with four multipliers.

use super::{Architecture, llama};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::ModelSpec;

/// `GraniteForCausalLM`.
pub const GRANITE: Architecture =
    Architecture { name: "GraniteForCausalLM", model_type: "granite", adjust: multipliers, ..llama::LLAMA };

/// The multipliers.
pub fn multipliers(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let number = |field| Ok::<_, ModelError>(fields.positive(field)?.unwrap_or(1.0) as f32);
    spec.embedding.scale = number("embedding_multiplier")?;
    spec.head.scale = number("logits_scaling")?.recip();
    let (residual_scale, scale) = (number("residual_multiplier")?, number("attention_multiplier")?);
    for block in &mut spec.blocks {
        block.residual_scale = residual_scale;
        block.attention.scale = scale;
    }
    Ok(())
}
