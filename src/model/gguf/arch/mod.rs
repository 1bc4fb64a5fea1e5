//! The architectures of GGUF files: those of `model/arch` with other names of fields and tensors, and with
//! what the converter has changed. To add one: a constant in the file of its family, and a row in [`ALL`].
//!
//! Fields have the file's `general.architecture` in front of their names; `mod.rs` above adds those that are
//! computed, and a field that is true for every tensor of the first block.

mod delta_nets;
mod gemma;
mod gemma4;
mod gpt2;
mod gpt_oss;
mod llama;
mod names;
mod windows;

use crate::model::arch::{Architecture, FIELDS as HF_FIELDS, FieldNames};

/// Field that is computed: key/value heads of each block, where the file has a list.
pub const EACH_KV: &str = "attention.head_count_kv.each";
/// Widths of MLPs, as above.
pub const EACH_INNER: &str = "feed_forward_length.each";
/// Blocks with keys and without values.
pub const WITHOUT_VALUES: &str = "attn_v.missing";

/// By `general.architecture`.
pub const ALL: &[(&str, &Architecture)] = &[
    ("llama", &llama::LLAMA),
    ("qwen2", &llama::QWEN2),
    ("qwen3", &llama::QWEN3),
    ("qwen3moe", &llama::QWEN3_MOE),
    ("qwen35", &delta_nets::QWEN3_5),
    ("qwen35moe", &delta_nets::QWEN3_5_MOE),
    ("qwen3next", &delta_nets::QWEN3_NEXT),
    ("starcoder2", &llama::STARCODER2),
    ("granite", &llama::GRANITE),
    ("phi2", &llama::PHI2),
    ("phi3", &llama::PHI3),
    ("gemma", &gemma::GEMMA),
    ("gemma2", &gemma::GEMMA2),
    ("gemma3", &gemma::GEMMA3),
    ("gemma4", &gemma4::GEMMA4),
    ("gpt2", &gpt2::GPT2),
    ("starcoder", &gpt2::GPT_BIGCODE),
    ("gptneox", &gpt2::GPT_NEOX),
    ("mistral3", &llama::MISTRAL3),
    ("smollm3", &llama::SMOLLM3),
    ("stablelm", &llama::STABLELM),
    ("granitehybrid", &llama::GRANITE),
    ("mellum", &llama::MELLUM),
    ("gpt-oss", &gpt_oss::GPT_OSS),
];

const FIELDS: FieldNames = FieldNames {
    hidden: "embedding_length",
    layers: "block_count",
    heads: "attention.head_count",
    kv_heads: "attention.head_count_kv",
    intermediate: "feed_forward_length",
    context: "context_length",
    activation: "",
    eps: "attention.layer_norm_rms_epsilon",
    rotary_base: "rope.freq_base",
    ..HF_FIELDS
};

const LAYER_NORM: FieldNames = FieldNames { eps: "attention.layer_norm_epsilon", ..FIELDS };
