//! The architectures, one short file of data each. To add one: write its file and name it in [`ALL`].

mod llama;
mod qwen2;
mod qwen3;

use super::tensors::TensorNames;

/// How the `config.json` of an architecture is to be read, where architectures differ.
#[derive(Debug)]
pub struct Architecture {
    /// `architectures[0]`.
    pub name: &'static str,
    /// `model_type`, for files without `architectures`.
    pub model_type: &'static str,
    /// Biases of query, key and value.
    pub qkv_bias: Switch,
    /// Bias of the attention output.
    pub output_bias: Switch,
    /// RMS norm of query and key heads.
    pub qk_norm: Switch,
    /// Biases of the MLP.
    pub mlp_bias: Switch,
    /// Attention windows: `Never`, or the boolean field that turns `sliding_window` on.
    pub window: Switch,
    /// Tensor names.
    pub names: &'static TensorNames,
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
}

/// Every architecture that can be read.
pub const ALL: &[&Architecture] = &[&llama::LLAMA, &qwen2::QWEN2, &qwen3::QWEN3];
