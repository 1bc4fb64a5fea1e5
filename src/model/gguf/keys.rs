//! Fields of a GGUF file that no reader asks for: some change no result, some are harmless while they have a
//! usual value, and all others are refused, as nobody knows what they ask for. (Names: `constants.py` of
//! gguf-py; what they do: `llama-model.cpp` and `llama-context.cpp` of llama.cpp.)

use serde_json::{Map, Value};

use crate::model::ModelError;
use crate::model::fields::{Asked, Fields};

/// Fields without an effect on what a model writes. Those that end with a dot are beginnings of names.
pub const WITHOUT_EFFECT: &[&str] = &[
    // The number of tokens counts.
    "vocab_size", // Names of origins and of what was done to the weights.
    "tensor_data_layout", "rope.scaling.finetuned",
    // Shares of the rotated channels for places in images and films: a text has one position in all of them.
    "rope.dimension_sections", "rope.mrope_interleaved", "rope.mrope_section", "mrope_sections",
    // Of embeddings and classifiers, of models that also see and hear, and of those that read before they write.
    "pooling_type", "embedding_length_out", "classifier.", "decoder_start_token_id", "vision.", "audio.", "mm.",
    "image_token_id", "image_token_index", "vision_start_token_id", "vision_end_token_id", "spatial_merge_size",
    "deepstack_mapping", "n_deepstack_layers",
    // Sizes that only other fields or tensors bring into use, which are refused themselves.
    "expert_feed_forward_length", "expert_shared_feed_forward_length", "expert_used_count", "ssm.",
    "attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon", "attention.group_norm_epsilon",
    "attention.group_norm_groups", "rope.dimension_count", "rope.freq_base",
];

/// Fields that may have one of these values where an architecture does not ask for them: with any other they
/// change results.
const USUAL: &[(&str, &[f64])] = &[
    ("attention.max_alibi_bias", &[0.0]),
    ("attention.clamp_kqv", &[0.0]),
    ("attention.causal", &[1.0]),
    ("attention.scale", &[0.0]),
    ("attention.output_scale", &[0.0, 1.0]),
    ("attention.temperature_length", &[0.0]),
    ("attention.temperature_scale", &[0.0]),
    ("attention.shared_kv_layers", &[0.0]),
    ("attention.sliding_window", &[0.0]),
    ("attn_logit_softcapping", &[0.0]),
    ("router_logit_softcapping", &[0.0]),
    ("final_logit_softcapping", &[0.0]),
    ("logit_scale", &[0.0, 1.0]),
    ("residual_scale", &[0.0, 1.0]),
    ("embedding_scale", &[0.0, 1.0]),
    ("embedding_length_per_layer_input", &[0.0]),
    ("use_parallel_residual", &[0.0]),
    ("leading_dense_block_count", &[0.0]),
    ("nextn_predict_layers", &[0.0]),
    ("interleave_moe_layer_step", &[0.0, 1.0]),
    ("moe_every_n_layers", &[0.0, 1.0]),
    ("expert_count", &[0.0]),
    ("expert_shared_count", &[0.0]),
    ("expert_group_count", &[0.0, 1.0]),
    ("expert_group_used_count", &[0.0, 1.0]),
    ("expert_group_scale", &[0.0, 1.0]),
    ("expert_weights_scale", &[0.0, 1.0]),
    ("expert_weights_norm", &[1.0]),
    ("norm_top_k_prob", &[1.0]),
    ("moe_latent_size", &[0.0]),
    ("expert_latent_length", &[0.0]),
    // The shares of experts are a softmax.
    ("expert_gating_func", &[0.0, 1.0]),
    ("swin_norm", &[0.0]),
    ("rescale_every_n_layers", &[0.0]),
    ("rope.scaling.alpha", &[0.0]),
    ("rope.scaling.extrapolation_factor", &[1.0]),
];

/// Fields that may repeat another where an architecture does not ask for them.
const SAME: &[(&str, &str)] =
    &[("rope.freq_base_swa", "rope.freq_base"), ("rope.dimension_count_swa", "rope.dimension_count")];

/// Refuses the first of `given` that may change results in a way that nobody asked for.
pub fn refuse_others(fields: Fields<'_>, given: &Map<String, Value>, asked: &Asked) -> Result<(), ModelError> {
    let asked = asked.borrow();
    for (name, value) in given.iter().filter(|(name, value)| !asked.contains(*name) && !value.is_null()) {
        let without_effect =
            |known: &&str| if known.ends_with('.') { name.starts_with(*known) } else { name == *known };
        if WITHOUT_EFFECT.iter().any(without_effect) {
            continue;
        }
        let repeats = |(known, other): &(&str, &str)| name == known && given.get(*other) == Some(value);
        if SAME.iter().any(repeats) {
            continue;
        }
        let number = match value {
            Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
            value => value.as_f64(),
        };
        let usual = USUAL.iter().find(|(known, _)| known == name).map(|(_, usual)| *usual);
        // A window that reaches as far as the context is none.
        let whole_context = || number >= given.get("context_length").and_then(Value::as_f64);
        match usual {
            Some(usual) if number.is_some_and(|number| usual.contains(&number)) => {}
            Some(_) if name == "attention.sliding_window" && whole_context() => {}
            Some(usual) => {
                let values = usual.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
                let expected = format!("nothing or {values}: of this architecture no other value is supported");
                return Err(fields.error(name, &expected));
            }
            None => {
                let expected = "nothing: of this architecture it is not supported, and results may depend on it; get \
                                another file of the model, or its safetensors files";
                return Err(fields.error(name, expected));
            }
        }
    }
    Ok(())
}
