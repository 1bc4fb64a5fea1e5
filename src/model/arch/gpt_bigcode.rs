//! GPT-BigCode (`StarCoder`, `SantaCoder`): GPT-2 whose heads share one key and value.

use super::{Architecture, gpt2};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::ModelSpec;
use crate::model::tensors::{BlockSlot as B, Fused, TensorNames};

/// `GPTBigCodeForCausalLM`.
pub const GPT_BIGCODE: Architecture = Architecture {
    name: "GPTBigCodeForCausalLM",
    model_type: "gpt_bigcode",
    activation: Some("gelu_pytorch_tanh"),
    adjust: heads,
    names: &ONE_KEY,
    ..gpt2::GPT2
};

/// With a key for every head, too, query, key and value of a head stand together.
fn heads(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    gpt2::scores(fields, spec)?;
    if fields.flag("multi_query")?.unwrap_or(true) {
        spec.heads.kv = 1;
    } else {
        spec.names = &KEY_PER_HEAD;
    }
    Ok(())
}

const ONE_KEY: TensorNames = TensorNames { transposed: false, ..gpt2::NAMES };

const KEY_PER_HEAD: TensorNames = TensorNames {
    fused: &[
        (B::Query, Fused::QkvGroups { groups: None, place: 0 }),
        (B::Key, Fused::QkvGroups { groups: None, place: 1 }),
        (B::Value, Fused::QkvGroups { groups: None, place: 2 }),
        (B::QueryBias, Fused::QkvGroups { groups: None, place: 0 }),
        (B::KeyBias, Fused::QkvGroups { groups: None, place: 1 }),
        (B::ValueBias, Fused::QkvGroups { groups: None, place: 2 }),
    ],
    ..ONE_KEY
};
