//! What an architecture is, as plain data: one forward pass per backend reads this and nothing else.

use super::tensors::TensorNames;

/// A decoder-only transformer as data.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpec {
    /// Name of the architecture, as in `architectures[0]` of `config.json`.
    pub architecture: &'static str,
    /// Width of the residual stream.
    pub hidden: usize,
    /// Number of blocks.
    pub layers: usize,
    /// Rows of the embedding and of the head; may be larger than the tokenizer's vocabulary.
    pub vocab_size: usize,
    /// Largest number of positions of a sequence.
    pub context: usize,
    /// Normalisation before attention, before the MLP and before the head.
    pub norm: Norm,
    /// How positions enter.
    pub position: Position,
    /// The attention of every block.
    pub attention: Attention,
    /// How attention, MLP and residual stream hang together.
    pub wiring: Wiring,
    /// The MLP of every block.
    pub mlp: Mlp,
    /// The head is the embedding, transposed.
    pub tied: bool,
    /// Id that starts a text, if the model has one.
    pub bos: Option<u32>,
    /// Ids that end a text, as `config.json` has them.
    pub eos: Vec<u32>,
    /// Where the checkpoint keeps the tensors.
    pub names: &'static TensorNames,
}

/// Normalisation of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Norm {
    /// `x / sqrt(mean(x^2) + eps) * weight` (RMS norm).
    Rms {
        /// Added to the mean square.
        eps: f32,
    },
}

/// How positions enter the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Position {
    /// Query and key are rotated by position, halves of the head against each other (`RoPE`).
    Rotary(Rotary),
}

/// Parameters of rotary positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotary {
    /// `rope_theta`.
    pub base: f64,
    /// How the frequencies are stretched for longer contexts.
    pub scaling: RotaryScaling,
}

/// Stretching of the rotary frequencies; formulas in `backend/cpu/rotary.rs`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RotaryScaling {
    /// As trained.
    None,
    /// All frequencies divided by `factor`.
    Linear {
        /// Ratio of the new to the old context.
        factor: f64,
    },
    /// Low frequencies divided by `factor`, high ones kept, those between interpolated (Llama 3.1).
    Llama3 {
        /// Divisor of low frequencies.
        factor: f64,
        /// Old context / this: wavelengths above are low frequencies.
        low_freq_factor: f64,
        /// Old context / this: wavelengths below are high frequencies.
        high_freq_factor: f64,
        /// Context before stretching, in positions.
        original_context: f64,
    },
    /// Interpolated by number of rotations inside the old context (`YaRN`, arXiv 2309.00071).
    Yarn {
        /// Ratio of the new to the old context.
        factor: f64,
        /// Context before stretching, in positions.
        original_context: f64,
        /// Rotations from which a frequency is kept.
        beta_fast: f64,
        /// Rotations up to which a frequency is divided by `factor`.
        beta_slow: f64,
        /// Multiplies sine and cosine.
        attention_factor: f64,
    },
}

/// Attention of a block. Query `[heads * head_dim, hidden]`, key and value `[kv_heads * head_dim, hidden]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    /// Query heads.
    pub heads: usize,
    /// Key/value heads; divides `heads`.
    pub kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Query, key and value have biases.
    pub qkv_bias: bool,
    /// The output projection has a bias.
    pub output_bias: bool,
    /// Query and key heads are RMS-normalised before they are rotated.
    pub qk_norm: bool,
}

/// How the parts of a block hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// `x += attention(norm(x)); x += mlp(norm(x))`.
    SequentialPreNorm,
}

/// The MLP of a block: `down(activation(gate(x)) * up(x))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mlp {
    /// Width between the projections.
    pub intermediate: usize,
    /// The nonlinearity, applied to the gate.
    pub activation: Activation,
    /// Gate, up and down have biases.
    pub bias: bool,
}

/// A nonlinearity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `x / (1 + exp(-x))`.
    Silu,
}
