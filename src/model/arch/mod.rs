//! The architectures, one short file of data each, written as its differences from another architecture. To
//! add one: write its file and name it in [`ALL`].
//!
//! | architecture | its own |
//! |---|---|
//! | GPT-2, GPT-BigCode | learned positions, layer norm, fused query, key and value |
//! | OPT | positions from the third row on, norms before or after, narrower embedding |
//! | GPT-NeoX, `CodeGen`, Phi | attention beside the MLP, partly rotated heads |
//! | `StarCoder2` | rotary positions, layer norm, an MLP without a gate, windows |
//! | Llama, Mistral, Qwen2, Qwen3, Phi-3, Granite | RMS norm, gated MLP; biases, windows, multipliers |
//! | Ministral 3, `SmolLM3` | queries that grow with their position; blocks without rotation |
//! | `StableLM` | Llama with layer norm and partly rotated heads |
//! | Gemma 1, 2, 3 | scaled embedding, 1 + weight, norms after each part, soft caps, two rotations |
//! | Gemma 4 | heads of two widths, keys and values of other blocks, inputs of blocks, experts beside an MLP |
//! | Mixtral, Qwen3-MoE, Mellum | experts in all or some blocks |
//! | Qwen3.5, Qwen3-Next | gated delta nets in most blocks, gated attention, a shared expert |
//! | gpt-oss | experts with biases, sinks of heads |
//!
//! A file, with half of `StableLM` as the example (layer norm, a quarter of each head rotated, otherwise
//! Llama):
//!
//! ```text
//! pub const STABLELM: Architecture = Architecture {
//!     name: "StableLmForCausalLM",
//!     model_type: "stablelm",
//!     fields: &FieldNames { eps: "layer_norm_eps", ..FIELDS },       // names in its config.json
//!     norm: NormKind::Layer,
//!     eps: 1e-5,                                                     // where no field has it
//!     positions: Positions::Rotary { share: 0.25, interleaved: false },
//!     qkv_bias: Switch::Field("use_qkv_bias"),                       // as this field says
//!     only: &[("use_parallel_residual", Value::Flag(false))],        // any other value is refused
//!     ..llama::LLAMA                                                 // the rest, tensor names included
//! };
//! ```

mod codegen;
pub mod gemma;
pub mod gemma4;
pub mod gpt2;
mod gpt_bigcode;
pub mod gpt_neox;
pub mod gpt_oss;
pub mod granite;
mod granite_hybrid;
pub mod llama;
pub mod mellum;
pub mod ministral3;
mod mistral;
mod mixtral;
mod opt;
pub mod phi;
pub mod phi3;
pub mod qwen2;
pub mod qwen3;
pub mod qwen3_5;
mod qwen3_moe;
pub mod qwen3_next;
pub mod smollm3;
pub mod stablelm;
pub mod starcoder2;

use super::ModelError;
use super::fields::Fields;
use super::spec::{ModelSpec, NormKind, Wiring};
use super::tensors::TensorNames;

/// How the `config.json` of an architecture is to be read, where architectures differ.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each property is there or not")]
pub struct Architecture {
    /// `architectures[0]`.
    pub name: &'static str,
    /// `model_type`, for files without `architectures`.
    pub model_type: &'static str,
    /// How its fields are spelled.
    pub fields: &'static FieldNames,
    /// The norm.
    pub norm: NormKind,
    /// Its epsilon, where no field has it.
    pub eps: f64,
    /// How the parts of a block hang together.
    pub wiring: Wiring,
    /// How positions enter.
    pub positions: Positions,
    /// The nonlinearity, where no field has it; without one a field must.
    pub activation: Option<&'static str>,
    /// The MLP has a gate.
    pub gated: bool,
    /// Biases of query, key and value.
    pub qkv_bias: Switch,
    /// Bias of the attention output.
    pub output_bias: Switch,
    /// Norm of query and key heads.
    pub qk_norm: Switch,
    /// Biases of the MLP.
    pub mlp_bias: Switch,
    /// Bias of the head.
    pub head_bias: Switch,
    /// `sliding_window` counts.
    pub window: Switch,
    /// Value where the field is absent; `null` is none.
    pub default_window: Option<usize>,
    /// The head is the embedding, where no field says so.
    pub tied: bool,
    /// Fields that change results in ways that aren't supported unless they have this value or are absent.
    pub only: &'static [(&'static str, Value)],
    /// Experts may be stored in blocks of four bits (MXFP4).
    pub blocks_of_four_bits: bool,
    /// Properties that no row of this table says, set last.
    pub adjust: fn(Fields<'_>, &mut ModelSpec) -> Result<(), ModelError>,
    /// Tensor names.
    pub names: &'static TensorNames,
    /// Some blocks have gated delta nets in place of attention; `adjust` says which.
    pub delta_nets: bool,
}

/// The only value of a field that can be computed.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A truth value.
    Flag(bool),
    /// A text.
    Text(&'static str),
    /// A number.
    Number(f64),
}

/// A property that is fixed for an architecture or stands in a boolean field of its configuration.
#[derive(Clone, Copy, Debug)]
pub enum Switch {
    /// On for every model.
    Always,
    /// Off for every model.
    Never,
    /// As the named field says; off without it.
    Field(&'static str),
    /// As the named field says; on without it.
    Unless(&'static str),
}

/// How positions enter the network.
#[derive(Clone, Copy, Debug)]
pub enum Positions {
    /// Query and key are rotated.
    Rotary {
        /// Share of a head's channels that are rotated, where no field has it.
        share: f64,
        /// A channel's partner stands beside it.
        interleaved: bool,
    },
    /// A row of a table is added, from this one on.
    Learned(usize),
}

/// How the fields of a configuration are spelled.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct FieldNames {
    pub hidden: &'static str,
    pub layers: &'static str,
    pub heads: &'static str,
    /// Without one there are as many as query heads.
    pub kv_heads: &'static str,
    pub intermediate: &'static str,
    /// Without the field above it is four times the width.
    pub four_times: bool,
    pub context: &'static str,
    pub activation: &'static str,
    pub eps: &'static str,
    pub rotary_base: &'static str,
    pub rotary_share: &'static str,
}

/// The spelling of Llama and most others.
pub const FIELDS: FieldNames = FieldNames {
    hidden: "hidden_size",
    layers: "num_hidden_layers",
    heads: "num_attention_heads",
    kv_heads: "num_key_value_heads",
    intermediate: "intermediate_size",
    four_times: false,
    context: "max_position_embeddings",
    activation: "hidden_act",
    eps: "rms_norm_eps",
    rotary_base: "rope_theta",
    rotary_share: "partial_rotary_factor",
};

/// Every architecture that can be read.
pub const ALL: &[&Architecture] = &[
    &codegen::CODEGEN,
    &gemma::GEMMA,
    &gemma::GEMMA2,
    &gemma::GEMMA3,
    &gemma4::GEMMA4,
    &gemma4::GEMMA4_UNIFIED,
    &gpt2::GPT2,
    &gpt_bigcode::GPT_BIGCODE,
    &gpt_neox::GPT_NEOX,
    &gpt_oss::GPT_OSS,
    &granite::GRANITE,
    &granite_hybrid::GRANITE_HYBRID,
    &llama::LLAMA,
    &mellum::MELLUM,
    &ministral3::MINISTRAL3,
    &mistral::MISTRAL,
    &mixtral::MIXTRAL,
    &opt::OPT,
    &phi::PHI,
    &phi3::PHI3,
    &qwen2::QWEN2,
    &qwen3::QWEN3,
    &qwen3_5::QWEN3_5,
    &qwen3_5::QWEN3_5_MOE,
    &qwen3_moe::QWEN3_MOE,
    &qwen3_next::QWEN3_NEXT,
    &smollm3::SMOLLM3,
    &stablelm::STABLELM,
    &starcoder2::STARCODER2,
];

/// A model for text and images, of which the text is read.
#[derive(Debug)]
pub struct WithImages {
    /// `architectures[0]`.
    pub name: &'static str,
    /// Architectures of the text model, by its `model_type`; the first without one.
    pub text: &'static [&'static Architecture],
    /// The values of fields that its `text_config` leaves out.
    pub usual: &'static [(&'static str, usize)],
}

/// Every one whose text can be read.
pub const WITH_IMAGES: &[WithImages] = &[
    WithImages { name: "Gemma3ForConditionalGeneration", text: &[&gemma::GEMMA3], usual: gemma::GEMMA3_USUAL },
    WithImages { name: "Gemma4ForConditionalGeneration", text: &[&gemma4::GEMMA4], usual: gemma4::USUAL },
    WithImages {
        name: "Gemma4UnifiedForConditionalGeneration",
        text: &[&gemma4::GEMMA4_UNIFIED],
        usual: gemma4::USUAL,
    },
    WithImages {
        name: "Mistral3ForConditionalGeneration",
        text: &[&mistral::MISTRAL, &ministral3::MINISTRAL3],
        usual: &[],
    },
    WithImages { name: "Qwen3_5ForConditionalGeneration", text: &[&qwen3_5::QWEN3_5], usual: qwen3_5::USUAL },
    WithImages { name: "Qwen3_5ForCausalLM", text: &[&qwen3_5::QWEN3_5], usual: qwen3_5::USUAL },
    WithImages { name: "Qwen3_5MoeForConditionalGeneration", text: &[&qwen3_5::QWEN3_5_MOE], usual: qwen3_5::USUAL },
    WithImages { name: "Qwen3_5MoeForCausalLM", text: &[&qwen3_5::QWEN3_5_MOE], usual: qwen3_5::USUAL },
];

/// A configuration that names this architecture can be read.
pub fn can_read(name: &str) -> bool {
    ALL.iter().any(|known| known.name == name) || WITH_IMAGES.iter().any(|known| known.name == name)
}

/// Nothing to adjust.
#[allow(clippy::unnecessary_wraps, reason = "the signature of all adjustments")]
fn nothing(_: Fields<'_>, _: &mut ModelSpec) -> Result<(), ModelError> {
    Ok(())
}
