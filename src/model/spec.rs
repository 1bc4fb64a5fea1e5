//! Architectures as plain data: one forward pass per backend reads this and nothing else.

use super::tensors::TensorNames;

/// A decoder-only transformer as data.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpec {
    /// Name of the architecture, as in `architectures[0]` of `config.json`.
    pub architecture: &'static str,
    /// Width of the residual stream.
    pub hidden: usize,
    /// Rows of the embedding and of the head; may be larger than the tokenizer's vocabulary.
    pub vocab_size: usize,
    /// Largest number of positions of a sequence.
    pub context: usize,
    /// From a token and its position to the residual stream.
    pub embedding: Embedding,
    /// The attention heads, of all blocks that don't say otherwise.
    pub heads: Heads,
    /// Every norm over the residual stream.
    pub norm: Norm,
    /// The blocks in their order.
    pub blocks: Vec<Block>,
    /// There is a norm after the last block.
    pub final_norm: bool,
    /// From the residual stream to logits.
    pub head: Head,
    /// Id that starts a text, if the model has one.
    pub bos: Option<u32>,
    /// Ids that end a text, as `config.json` has them.
    pub eos: Vec<u32>,
    /// Token in the place of those that are drafted in the same pass, of models trained for that (PARD).
    pub mask: Option<u32>,
    /// Where the checkpoint keeps the tensors.
    pub names: &'static TensorNames,
    /// Every block reads something of its own of each token.
    pub layer_inputs: Option<LayerInputs>,
    /// It is a draft head: rows begin with hidden states of a main model.
    pub states: Option<ReadStates>,
}

/// Hidden states of a main model that a draft head reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadStates {
    /// The blocks of the main model before which they stand; `None` for the third, the middle one and the
    /// third last. None of [`HeadKind::Next`], which reads what the main model's head reads.
    pub before: Option<Vec<usize>>,
    /// Width of each.
    pub width: usize,
    /// How the head drafts.
    pub kind: HeadKind,
}

/// How a draft head drafts. `s` are the main model's states of a token, one beside the other, times a matrix,
/// if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadKind {
    /// EAGLE-3 (arXiv 2503.01840): one pass for each token. The row of a token reads `norm1(embedding)` beside
    /// `norm2(s)`, `s` of the token before it; the row of a draft has the head's own output there.
    Chain {
        /// The residual stream begins with `norm2(s)` rather than `s`.
        normed: bool,
        /// Rows of its head.
        tokens: usize,
    },
    /// The layer for the next tokens that some models bring along (MTP, arXiv 2412.19437): one pass for each
    /// token. The residual stream of a token begins with a matrix times `norm1(embedding)` beside `norm2(s)`,
    /// `s` what the main model's head read before it; for a draft the head's own normalised output.
    Next,
    /// `DFlash` (arXiv 2602.06036): one pass for all. Keys and values of the text are those of `norm(s)` in every
    /// block; a block of masks behind the last token is drafted from, each row its own token.
    Block {
        /// Rows of the block, the last token's included.
        size: usize,
        /// Token of the other rows.
        mask: u32,
    },
}

impl ReadStates {
    /// States of a token.
    pub fn count(&self) -> usize {
        self.before.as_ref().map_or(3, Vec::len)
    }

    /// The blocks before which they stand in a main model of so many.
    pub fn before(&self, blocks: usize) -> Vec<usize> {
        self.before.clone().unwrap_or_else(|| vec![2, blocks / 2, blocks.saturating_sub(3)])
    }
}

impl ModelSpec {
    /// Heads of a block.
    pub fn heads_of(&self, block: usize) -> Heads {
        self.blocks[block].attention.heads.unwrap_or(self.heads)
    }

    /// The block whose keys and values a block reads: itself, or one before it.
    pub fn keys_of(&self, block: usize) -> usize {
        self.blocks[block].attention.keys_of.unwrap_or(block)
    }

    /// Number of gated delta nets, which are all alike, and one of them; `None` for models without.
    pub fn delta_nets(&self) -> Option<(usize, DeltaNet)> {
        let mut nets = self.blocks.iter().filter_map(|block| block.delta);
        nets.next().map(|net| (1 + nets.count(), net))
    }

    /// Number of gated delta nets before a block.
    pub fn delta_nets_before(&self, block: usize) -> usize {
        self.blocks[..block].iter().filter(|block| block.delta.is_some()).count()
    }

    /// Heads that a block computes: no key/value heads where it reads another block's.
    pub fn made_heads(&self, block: usize) -> Heads {
        let heads = self.heads_of(block);
        Heads { kv: if self.makes_keys(block) { heads.kv } else { 0 }, ..heads }
    }

    /// The block has attention with keys and values of its own.
    pub fn makes_keys(&self, block: usize) -> bool {
        self.blocks[block].delta.is_none() && self.keys_of(block) == block
    }
}

/// Inputs of blocks (`Gemma4TextModel.project_per_layer_inputs` of transformers).
///
/// Of a token and a block there is a row `[width]`, with `x` the beginning of the residual stream:
/// `(norm(project(x) / sqrt(hidden)) + table[token] * sqrt(width)) / sqrt(2)`. After its MLP the block adds
/// `norm(project(activation(gate(x)) * row))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerInputs {
    /// Width of a block's input.
    pub width: usize,
    /// Rows of the table; at least as many as those of the embedding.
    pub vocab_size: usize,
}

/// How a row of the residual stream begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Embedding {
    /// Width of a token's row; where it isn't `hidden`, a matrix leads to `hidden`, and one back before the
    /// head.
    pub width: usize,
    /// Multiplies the token's row.
    pub scale: f32,
    /// A row is added for every position, from this row of the table on.
    pub positions: Option<usize>,
}

/// The end of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// The head is the embedding, transposed.
    pub tied: bool,
    /// It has a bias.
    pub bias: bool,
    /// Multiplies the logits.
    pub scale: f32,
    /// Keeps logits inside of this: `cap * tanh(logit / cap)`.
    pub soft_cap: Option<f32>,
}

/// Normalisation of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm {
    /// The formula.
    pub kind: NormKind,
    /// Added to the mean square or the variance.
    pub eps: f32,
}

/// Formula of a norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// `x / sqrt(mean(x^2) + eps) * weight` (RMS norm).
    Rms,
    /// `x / sqrt(mean(x^2) + eps) * (1 + weight)`.
    RmsPlusOne,
    /// `(x - mean(x)) / sqrt(variance(x) + eps) * weight + bias` (`LayerNorm`).
    Layer,
}

/// Attention heads. Query `[query * dim, hidden]`, key and value `[kv * dim, hidden]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Query heads.
    pub query: usize,
    /// Key/value heads; divides `query`.
    pub kv: usize,
    /// Width of a head.
    pub dim: usize,
}

/// One block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// How attention, MLP and residual stream hang together.
    pub wiring: Wiring,
    /// Multiplies what attention and MLP add to the residual stream.
    pub residual_scale: f32,
    /// Its attention.
    pub attention: Attention,
    /// Its MLP.
    pub mlp: Mlp,
    /// A gated delta net in place of attention, where there is one; `attention` then counts for nothing.
    pub delta: Option<DeltaNet>,
    /// Experts beside the MLP, on the same input under norms of their own; their outputs are added.
    pub beside: Option<Mlp>,
    /// The output of the block is multiplied by a number in the checkpoint.
    pub output_scale: bool,
}

/// How the parts of a block hang together. Norms are numbered in the order in which they're applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// `x += attention(norm1(x)); x += mlp(norm2(x))`.
    PreNorm,
    /// `x = norm1(x + attention(x)); x = norm2(x + mlp(x))`.
    PostNorm,
    /// `x += norm2(attention(norm1(x))); x += norm4(mlp(norm3(x)))`.
    Sandwich,
    /// `x += attention(norm1(x)) + mlp(norm1(x))`.
    Parallel,
    /// `x += attention(norm1(x)) + mlp(norm2(x))`.
    ParallelTwoNorms,
}

/// Attention of a block.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each part is there or not")]
pub struct Attention {
    /// Query, key and value have biases.
    pub qkv_bias: bool,
    /// The output projection has a bias.
    pub output_bias: bool,
    /// Query and key heads are normalised before they are rotated, with the model's norm.
    pub qk_norm: bool,
    /// Rotation of query and key by position.
    pub rotary: Option<Rotary>,
    /// A position sees this many, itself included; `None` for all before it.
    pub window: Option<usize>,
    /// Multiplies the scores.
    pub scale: f32,
    /// Keeps the scores inside of this: `cap * tanh(score / cap)`.
    pub soft_cap: Option<f32>,
    /// The result `[query * dim]` is multiplied with the sigmoid of a gate, which is projected like the
    /// query.
    pub gated: bool,
    /// Queries grow with their position, after they are rotated.
    pub query_growth: Option<QueryGrowth>,
    /// Heads, where they aren't the model's.
    pub heads: Option<Heads>,
    /// Value heads are normalised, without weights.
    pub value_norm: bool,
    /// Values are what keys are before they are normalised.
    pub value_is_key: bool,
    /// The block before this one whose keys and values it reads; it makes none.
    pub keys_of: Option<usize>,
    /// Every query head has a sink: a score that takes a share of the softmax and adds nothing.
    pub sinks: bool,
    /// The first position that is seen.
    pub from: usize,
    /// Rows of a pass see the later ones of their sequence, too.
    pub ahead: bool,
}

/// A gated delta net (arXiv 2412.06464; `Qwen3_5GatedDeltaNet` of transformers): every value head has a
/// matrix as its state, which a row first decays, then corrects at its key, then reads at its query.
///
/// Query, key and value come out of a causal convolution over positions, channel by channel, and silu. Query
/// and key are normalised to length 1. The result is normalised (RMS, plain weights) and multiplied with
/// `silu(gate)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaNet {
    /// Heads of query and key.
    pub key_heads: usize,
    /// Heads of value; a multiple of `key_heads`.
    pub value_heads: usize,
    /// Width of a head of query or key.
    pub key_dim: usize,
    /// Width of a head of value.
    pub value_dim: usize,
    /// Positions that the convolution sees, the row's own included.
    pub width: usize,
    /// The rates of decay are stored as the logarithms of what is subtracted.
    pub logarithms: bool,
    /// Value head `h` has the key of head `h % key_heads`, rather than of `h / (value_heads / key_heads)`.
    pub tiled: bool,
}

impl DeltaNet {
    /// Width of queries, and of keys, of a row.
    pub fn keys(&self) -> usize {
        self.key_heads * self.key_dim
    }

    /// Width of values of a row, and of the gate.
    pub fn values(&self) -> usize {
        self.value_heads * self.value_dim
    }

    /// Channels of the convolution: query, key and value.
    pub fn channels(&self) -> usize {
        2 * self.keys() + self.values()
    }

    /// Floats of the state of a sequence: matrices, and inputs of the convolution.
    pub fn state(&self) -> usize {
        self.values() * self.key_dim + (self.width - 1) * self.channels()
    }

    /// The head of query and key of a value head.
    pub fn key_of(&self, head: usize) -> usize {
        if self.tiled { head % self.key_heads } else { head / (self.value_heads / self.key_heads) }
    }
}

/// Queries at far positions are multiplied by `1 + beta * ln(1 + floor(position / context))`, which keeps
/// attention sharp over long texts (`get_llama_4_attn_scale` of transformers).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryGrowth {
    /// Weight of the logarithm.
    pub beta: f32,
    /// Positions without growth.
    pub context: f32,
}

impl QueryGrowth {
    /// Factor of a query at `position`.
    pub fn at(self, position: usize) -> f32 {
        1.0 + self.beta * (1.0 + (position as f32 / self.context).floor()).ln()
    }
}

/// Rotary positions (`RoPE`): pairs of channels are rotated by position.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotary {
    /// Channels of a head that are rotated, the first ones; even.
    pub dims: usize,
    /// A channel's partner stands beside it, rather than `dims / 2` further on.
    pub interleaved: bool,
    /// `rope_theta`.
    pub base: f64,
    /// How the frequencies are stretched for longer contexts.
    pub scaling: RotaryScaling,
}

/// Stretching of the rotary frequencies; formulas in `backend/rotary.rs`.
#[derive(Clone, Debug, PartialEq)]
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
        /// The bounds between which frequencies are interpolated are whole numbers of channel pairs.
        whole: bool,
    },
    /// Every frequency divided by a factor of its own (`LongRoPE`, arXiv 2402.13753).
    PerFrequency {
        /// `[dims / 2]`.
        factors: Vec<f64>,
        /// Multiplies sine and cosine.
        attention_factor: f64,
    },
}

/// The MLP of a block: `down(activation(gate(x)) * up(x))`, or `down(activation(up(x)))` without a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mlp {
    /// Width between the projections, of each expert where there are experts.
    pub intermediate: usize,
    /// The nonlinearity.
    pub activation: Activation,
    /// There is a gate.
    pub gated: bool,
    /// All projections have biases.
    pub bias: bool,
    /// There are several MLPs of this form, of which a router chooses a few for each row.
    pub experts: Option<Experts>,
}

/// A mixture of experts: the weighted sum of the outputs of those with the largest router probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experts {
    /// Experts of a block.
    pub count: usize,
    /// Experts that a row takes.
    pub used: usize,
    /// Probabilities of those that a row takes are scaled so that they add up to 1.
    pub normalised: bool,
    /// Width of one more expert that every row takes, times the sigmoid of a weighted sum of the row.
    pub shared: Option<usize>,
    /// The router has a bias.
    pub router_bias: bool,
}

/// A nonlinearity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `x / (1 + exp(-x))`.
    Silu,
    /// `x / 2 * (1 + erf(x / sqrt(2)))`.
    Gelu,
    /// `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`.
    GeluTanh,
    /// `max(x, 0)`.
    Relu,
    /// Of a gate `g` and what it gates `u` (`GptOssExperts` of transformers):
    /// `min(g, 7) / (1 + exp(-1.702 * min(g, 7))) * (1 + clamp(u, -7, 7))`.
    ClampedSwish,
}
