//! Networks, and the devices that they run on. The cut is at the layer of rows: a prefill, the drafts of a
//! step and their verification are one call each.
//!
//! - `draft` and `verify` take candidates (sequence, tokens, rules) and read the tokens without K/V. Only
//!   what `verify` accepted crosses to the host. A device can make each call one graph.
//! - `Drafts`: `Host` are tokens with their distributions in host memory. `Held` is the number of a batch in
//!   a device's memory; a network on another device refuses it.
//! - `HostLogits` is a capability; `host` has `draft` and `verify` for networks with it.
//! - Alternatives (`ChoiceRules::alternatives`, `score`) are read off rows that are computed anyway, by the
//!   host, for requests that ask. Networks without `tells_logits` refuse them beforehand.
//! - `resize` cuts a prompt back to what the next one shares with it; forks of the old prompt keep their
//!   rows. Networks with states per sequence say with `cut_point` how much of it they can keep.
//!
//! **Devices.** A device is a folder with a `Network` and a `probe`, and a row in `device::DEVICES`. Both
//! networks of a pair are on one device. `auto` takes the last proven row that can hold the pair. Devices
//! import nothing of each other, except in tests. Shared parts:
//!
//! | file | part |
//! |---|---|
//! | `sequences` | owners of K/V, and which rows are allowed |
//! | `states` | states of sequences in place of K/V, and how far back they reach |
//! | `slabs` | cuts of long passes |
//! | `weights`, `storage` | the weights of a model, and how they are stored |
//! | `rotary` | angles |
//! | `host`, `choice` | drafts and verification over logits; rules of a choice |

pub mod choice;
pub mod cpu;
pub mod cuda;
pub mod device;
pub mod host;
mod plain;
mod rotary;
mod sequences;
mod slabs;
mod states;
mod storage;
mod weights;

use std::fmt;
use std::str::FromStr;

use crate::model::DraftHead;
use crate::sampling::{Accepted, Scores};
pub use choice::{Candidate, ChoiceRules, Drafts};
pub use device::{Choice, DEVICES, choices, load, load_with_cache};
pub use host::HostLogits;

/// One sequence inside a network: a prompt region or a fork of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeqId(pub u32);

/// Consecutive rows of one sequence: `len` tokens at positions `start..start + len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The sequence that the rows belong to.
    pub seq: SeqId,
    /// Position of the first row in its own sequence (0 is the first prompt token).
    pub start: usize,
    /// Number of rows, at least 1.
    pub len: usize,
}

/// Rows of one network pass, grouped by sequence, back to back, unpadded.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Token ids `[rows]`.
    pub tokens: &'a [u32],
    /// The spans, in the order of their rows; their lengths add up to `tokens.len()`. A sequence occurs at
    /// most once.
    pub spans: &'a [Span],
}

impl<'a> Rows<'a> {
    /// Rows of which each follows the one before.
    pub fn chain(tokens: &'a [u32], spans: &'a [Span]) -> Self {
        Self { tokens, spans }
    }

    /// Number of rows whose output is wanted.
    fn wanted(&self, want: Wanted) -> usize {
        match want {
            Wanted::Nothing => 0,
            Wanted::Last => self.spans.len(),
            Wanted::All | Wanted::Hidden => self.tokens.len(),
        }
    }
}

/// Outputs of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Only K/V.
    Nothing,
    /// Logits of the last row of every span, in span order.
    Last,
    /// Logits of every row.
    All,
    /// Inputs of the head for every row, as wide as the embedding, and no logits.
    Hidden,
}

/// Tokens that drafts are drawn from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shortlist {
    /// Every id below this.
    pub first: usize,
    /// Ids from `first` on, ascending.
    pub more: Vec<u32>,
}

/// Description of a loaded network and its device, for `doctor`, JSON and the status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkInfo {
    /// Name of the device in [`DEVICES`].
    pub device: &'static str,
    /// Storage type of the weights: `f32`, `bf16`, `f16`, `int8`, `int4`.
    pub dtype: &'static str,
    /// Name of the kernel set in use, for example `avx2`.
    pub kernel: &'static str,
    /// Weights that every row is multiplied with; of experts those that it takes.
    pub weights: usize,
    /// Bytes of the packed weights, scales included.
    pub weight_bytes: usize,
    /// Worker threads.
    pub threads: usize,
}

/// One loaded model on one device.
///
/// Arithmetic is row-invariant: the result of a row depends only on the tokens of its own sequence, never on
/// how many other rows, spans or threads take part in the pass.
pub trait Network: Send {
    /// Number of logits per row.
    fn vocab_size(&self) -> usize;

    /// Largest number of positions of a sequence.
    fn context(&self) -> usize;

    /// Describes this network and its device.
    fn info(&self) -> NetworkInfo;

    /// Opens an empty sequence with room for `capacity` positions. After its prefill it may be forked.
    fn open(&mut self, capacity: usize) -> Result<SeqId, BackendError>;

    /// Makes `n` sequences that start as copies of `prompt`: they read its K/V, which is stored once, and own
    /// a private tail of `tail` further positions. While it has forks, `prompt` itself takes no rows. It may
    /// be closed before its forks; its K/V lives until the last of them is closed.
    fn fork(&mut self, prompt: SeqId, n: usize, tail: usize) -> Result<Vec<SeqId>, BackendError>;

    /// Cuts a prompt back to its first `len` positions and gives it room for `capacity`. Its forks keep what
    /// they read.
    fn resize(&mut self, prompt: SeqId, len: usize, capacity: usize) -> Result<(), BackendError>;

    /// The largest length up to `len` that `seq` can be cut back to: a network whose layers have states in
    /// place of K/V keeps them at some lengths only.
    fn cut_point(&self, seq: SeqId, len: usize) -> usize {
        let _ = seq;
        len
    }

    /// Runs `rows` through the network, stores the K/V of each row and sets the length of every sequence to
    /// `start + len` of its span; `start` must not be larger than that length was. Returns the number of
    /// rows of the wanted output, which are in row order.
    fn forward(&mut self, rows: &Rows<'_>, want: Wanted) -> Result<usize, BackendError>;

    /// Drafts `lengths[i]` tokens for candidate i, all rounds in one call: reads the candidate's unread
    /// tokens, draws, reads what was drawn, and so on; the last token is not read. What is drawn stays with
    /// this network's device until it is verified. A token that this network's vocabulary lacks is read as 0.
    fn draft(&mut self, candidates: &[Candidate<'_>], lengths: &[usize]) -> Result<Vec<Drafts>, BackendError>;

    /// [`draft`](Network::draft) takes one pass, whatever the lengths.
    fn drafts_at_once(&self) -> bool {
        false
    }

    /// Reads each candidate's unread tokens and its draft, accepts what the rules accept, and draws one token
    /// more. Afterwards the sequence holds the candidate's tokens and the accepted drafts; rejected rows are
    /// gone.
    fn verify(&mut self, candidates: &[Candidate<'_>], drafts: &[Drafts]) -> Result<Vec<Accepted>, BackendError>;

    /// From now on drafts are drawn from these tokens, or from a few more, and only their rows of the head are
    /// computed (FR-Spec, arXiv 2502.14856). A network that cannot goes on drawing from all.
    fn draft_from(&mut self, tokens: &Shortlist) {
        let _ = tokens;
    }

    /// Puts a draft head beside this network, before the first sequence: it reads hidden states of all rows from
    /// then on. [`BackendError::Unsupported`] on devices that cannot.
    fn attach(&mut self, head: &DraftHead, dtype: Dtype) -> Result<(), BackendError> {
        let _ = (head, dtype);
        let what = "a draft head that reads hidden states".to_owned();
        Err(BackendError::Unsupported { device: self.info().device, what })
    }

    /// As [`draft`](Network::draft), with the draft head: each candidate has one unread token, behind others.
    /// Nothing is read: the lengths of sequences stay as they are.
    fn draft_with_head(
        &mut self,
        candidates: &[Candidate<'_>],
        lengths: &[usize],
    ) -> Result<Vec<Drafts>, BackendError> {
        let _ = (candidates, lengths);
        Err(BackendError::Contract("drafts of a head that is not there".to_owned()))
    }

    /// More of the logits can be read than what is drawn from them: alternatives to tokens, and
    /// [scores](Network::score).
    fn tells_logits(&self) -> bool {
        false
    }

    /// Runs rows as [`forward`](Network::forward) does and takes in how probable after each of them the token
    /// of `next` is, with so many `alternatives`.
    fn score(
        &mut self,
        rows: &Rows<'_>,
        next: &[u32],
        alternatives: usize,
        scores: &mut Scores,
    ) -> Result<(), BackendError> {
        let _ = (rows, next, alternatives, scores);
        let what = "log-probabilities of a prompt".to_owned();
        Err(BackendError::Unsupported { device: self.info().device, what })
    }

    /// Number of positions of `seq` that hold valid K/V.
    fn len(&self, seq: SeqId) -> usize;

    /// Sets (never increments) the number of valid positions: rows beyond `len` are dropped. Not below the
    /// length of the shared prompt, and not above the current length. It becomes the [cut
    /// point](Network::cut_point), which is `len` for rows since the last call.
    fn set_len(&mut self, seq: SeqId, len: usize);

    /// Gives the sequence's memory back.
    fn close(&mut self, seq: SeqId);

    /// Bytes of K/V that open sequences have room for; what several share counts once.
    fn kv_bytes(&self) -> usize;
}

/// Bytes that sequences take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// K/V of a position.
    pub position: usize,
    /// State of a sequence, however long it is.
    pub sequence: usize,
}

/// Footprint of a network's sequences, by that of two of different lengths.
pub fn footprint(network: &mut dyn Network) -> Result<Footprint, BackendError> {
    const POSITIONS: usize = 64;
    let before = network.kv_bytes();
    let mut bytes = |positions: usize| {
        let seq = network.open(positions)?;
        let bytes = network.kv_bytes() - before;
        network.close(seq);
        Ok::<_, BackendError>(bytes)
    };
    let (few, many) = (bytes(POSITIONS)?, bytes(2 * POSITIONS)?);
    let position = (many - few).div_ceil(POSITIONS);
    Ok(Footprint { position, sequence: few.saturating_sub(position * POSITIONS) })
}

/// Weight storage asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dtype {
    /// As stored in the checkpoint; f32 where its matrices differ.
    #[default]
    Auto,
    /// 32-bit floats.
    F32,
    /// bfloat16, rounded to nearest even where the checkpoint has more precision.
    Bf16,
    /// 8-bit whole numbers with a scale for every 32 weights.
    Int8,
    /// 4-bit whole numbers with a scale for every 32 weights; the embedding and the head are int8.
    Int4,
}

impl Dtype {
    /// Weights of a draft from which on it is made int4. Small ones, such as the built-in one, stay in the
    /// processor's cache. The border itself is not measured.
    const LARGE_DRAFT: f64 = 5e7;
    /// Bytes of a draft's weight from which on it is made int4, which takes 0.56: a fifth fewer. A file of 0.78
    /// gained 5 to 9 % of decoding's time with one candidate, 3 % with two and four.
    const COARSE: f64 = 0.7;

    /// What is asked for of a draft model or head with so many weights, on the CPU. `Auto` is int4 for a large
    /// one that is stored in more, else `of_main`, which is asked for of the main model: a pass of a draft takes
    /// the time that its bytes take, and a coarser draft changes no text.
    #[must_use]
    pub fn of_draft(self, of_main: Self, weights: f64, bytes_of_weight: f64) -> Self {
        match self {
            Self::Auto if weights >= Self::LARGE_DRAFT && bytes_of_weight >= Self::COARSE => Self::Int4,
            Self::Auto => of_main,
            asked => asked,
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
        })
    }
}

impl FromStr for Dtype {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let all = [Self::Auto, Self::F32, Self::Bf16, Self::Int8, Self::Int4];
        all.into_iter().find(|dtype| dtype.to_string() == name).ok_or(())
    }
}

/// Where and how to load a network.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// The device; `None` is the best that this machine has.
    pub device: Option<Choice>,
    /// Weight storage.
    pub dtype: Dtype,
    /// Worker threads; 0 chooses the number of fast cores.
    pub threads: usize,
    /// A GPU is given its kernels one by one, not as graphs: slower, for finding faults.
    pub eager: bool,
}

/// Why a network could not be loaded or run.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The checkpoint or its configuration is not usable.
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// This machine, or this version, has no such device.
    #[error("--device {name} {why}: use --device cpu")]
    Device {
        /// Its name.
        name: &'static str,
        /// Why it cannot be used, to follow the name.
        why: String,
    },
    /// A device lacks something that the model needs.
    #[error("{what} cannot be computed on {device} yet: use --device cpu")]
    Unsupported {
        /// Name of the device.
        device: &'static str,
        /// The missing feature.
        what: String,
    },
    /// A device failed.
    #[error("{device} failed: {what}")]
    Failed {
        /// Name of the device.
        device: &'static str,
        /// The failed operation, with the device's message.
        what: String,
    },
    /// The caller broke the contract of [`Network`].
    #[error("internal error in the network: {0}")]
    Contract(String),
    /// Not enough memory for the packed weights.
    #[error("no memory for {bytes} bytes of weights: use a smaller model, or --dtype bf16, int8 or int4")]
    WeightMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// Not enough memory for the K/V of a sequence.
    #[error("no memory for {bytes} bytes of K/V: use fewer candidates or a shorter prompt")]
    Memory {
        /// Bytes asked for.
        bytes: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::Dtype::{Auto, Bf16, Int4, Int8};

    #[test]
    fn a_large_draft_that_is_stored_in_more_is_made_int4() {
        for (asked, of_main, weights, bytes, used) in [
            (Auto, Auto, 5e8, 2.0, Int4),
            (Auto, Int8, 5e8, 1.0625, Int4),
            (Auto, Auto, 5e8, 0.8, Int4),
            (Auto, Auto, 5e8, 0.6, Auto),
            (Auto, Int8, 1e6, 2.0, Int8),
            (Bf16, Auto, 5e8, 2.0, Bf16),
        ] {
            assert_eq!(asked.of_draft(of_main, weights, bytes), used, "{asked} {of_main} {weights} {bytes}");
        }
    }
}
