//! Writes a main model of a real model's shape with random weights, and a draft model made of its first
//! layers: speed on a large shape, speculation included, can then be measured without a download.
//!
//! `cargo run --release --example random_model -- OUT_DIR [--shape qwen2-0.5b] [--draft-layers 4] [--seed 0]`
//!
//! The pair lies in `OUT_DIR/main` and `OUT_DIR/draft`, in Hugging Face layout and bf16. The same arguments
//! give the same files on every machine. The tokenizer is that of the built-in model, which knows only the
//! first ids of a large vocabulary: give prompts as ids (`--prompt-ids`) and expect no readable text.
//!
//! The weights are random, but their scales are not: they are chosen such that greedy text does not repeat
//! itself, that distributions are about as sharp as those of a trained model, and that the draft is right
//! about as often as a good draft is. The constants below say how.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use bass_tui::model::spec::NormKind;
use bass_tui::model::{BlockSlot, MAIN, ModelSpec, Slot, config};
use clap::{Parser, ValueEnum};
use half::bf16;
use safetensors::tensor::{Dtype, View, serialize_to_file};
use serde_json::json;

/// Standard deviation of the embedding's elements, as at the start of a usual training. It has to be small
/// against what the layers add to the hidden state (each about 1, see [`MLP_GAIN`]), because the head is the
/// embedding: what the last hidden state still has of the input token's embedding votes for that very token,
/// and greedy text repeats it for ever, as it does at 1.
const EMBEDDING_STD: f64 = 0.02;

/// Gain of the down projection. The product of `silu(gate)` and `up`, of standard normal numbers, has the
/// standard deviation 0.6; the gain brings what an MLP adds to the hidden state to 1. What attention adds
/// needs none: it is a mean of few values of standard deviation 1.
const MLP_GAIN: f64 = 1.68;

/// Standard deviation of attention scores before the softmax. Where it is small a position looks at all
/// others alike, their mean hardly changes from one position to the next, and greedy text falls into loops:
/// of 1000 tokens of the tiny shape 20 to 60 were different at 0.3, 140 to 210 at 1, and 480 to 610 at 3.
const SCORE_STD: f64 = 3.0;

/// Standard deviation of the biases of query, key and value, whose elements have 1 (query: [`SCORE_STD`])
/// without them.
const BIAS_STD: f64 = 0.1;

/// Standard deviation of the logits, as a multiple of `sqrt(2 ln(vocab_size))`, which is about where the
/// largest of so many normal numbers lies. Up to 1 no token has a considerable probability (at temperature
/// 1), and far above 2 one has nearly all. At 1.6 the most probable token has a probability of 0.57 in the
/// mean, and from 0.26 to 0.94 in eight of ten cases.
const SHARPNESS: f64 = 1.6;

/// Variance that all layers past the draft's add to the hidden state, as a share of what the draft's layers
/// add. It sets how often the draft is right. With 4 of 24 layers and drafts of 4 tokens, the main model
/// accepts a token that it comes to check with probability 0.75 under greedy decoding and, at temperature
/// 0.8, 0.77 (coupled) and 0.76 (rejection); at a share of 0.02 these are 0.70, 0.68 and 0.69.
const LATE_SHARE: f64 = 0.01;

#[derive(Parser)]
#[command(about = "Writes a random main model of a real shape and a draft model made of its first layers")]
struct Args {
    /// Folder to write `main` and `draft` into; it is made if it does not exist.
    out_dir: PathBuf,
    /// Shape of the main model.
    #[arg(long, value_enum, default_value_t = Shape::Qwen2Small)]
    shape: Shape,
    /// Layers of the draft model: the first of the main model.
    #[arg(long, default_value_t = 4)]
    draft_layers: usize,
    /// Seed of the weights.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    /// Qwen2 and Qwen2.5 of 0.5 billion parameters.
    #[value(name = "qwen2-0.5b")]
    Qwen2Small,
    /// Qwen2 and Qwen2.5 of 1.5 billion parameters.
    #[value(name = "qwen2-1.5b")]
    Qwen2Medium,
    /// Qwen2 and Qwen2.5 of 7 billion parameters, 15 GB.
    #[value(name = "qwen2-7b")]
    Qwen2Large,
    /// Qwen3.5 of 0.8 billion parameters, the text.
    #[value(name = "qwen3.5-0.8b")]
    Qwen35Small,
    /// Two thirds of a million parameters, to try things quickly.
    Tiny,
}

impl Shape {
    /// `config.json` of a model of this shape. It names no end of text, so that every completion has its full
    /// length.
    fn config(self) -> serde_json::Value {
        let [hidden, inner, layers, heads, kv_heads, vocab_size] = match self {
            Self::Qwen2Small => [896, 4864, 24, 14, 2, 151_936],
            Self::Qwen2Medium => [1536, 8960, 28, 12, 2, 151_936],
            Self::Qwen2Large => [3584, 18_944, 28, 28, 4, 152_064],
            Self::Qwen35Small => return Self::with_delta_nets(),
            Self::Tiny => [64, 192, 8, 4, 2, 4096],
        };
        json!({
            "architectures": ["Qwen2ForCausalLM"],
            "model_type": "qwen2",
            "hidden_size": hidden,
            "intermediate_size": inner,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": kv_heads,
            "head_dim": hidden / heads,
            "vocab_size": vocab_size,
            "max_position_embeddings": 4096,
            "rms_norm_eps": 1e-6,
            "rope_theta": 1_000_000.0,
            // The larger ones of this family have a head of their own.
            "tie_word_embeddings": !matches!(self, Self::Qwen2Large),
            "hidden_act": "silu",
            "torch_dtype": "bfloat16",
        })
    }

    fn with_delta_nets() -> serde_json::Value {
        json!({
            "architectures": ["Qwen3_5ForCausalLM"],
            "model_type": "qwen3_5_text",
            "hidden_size": 1024,
            "intermediate_size": 3584,
            "num_hidden_layers": 24,
            "num_attention_heads": 8,
            "num_key_value_heads": 2,
            "head_dim": 256,
            "vocab_size": 248_320,
            "max_position_embeddings": 4096,
            "rms_norm_eps": 1e-6,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10_000_000, "partial_rotary_factor": 0.25},
            "linear_num_key_heads": 16,
            "linear_num_value_heads": 16,
            "linear_key_head_dim": 128,
            "linear_value_head_dim": 128,
            "linear_conv_kernel_dim": 4,
            "tie_word_embeddings": true,
            "hidden_act": "silu",
            "torch_dtype": "bfloat16",
        })
    }
}

fn main() -> ExitCode {
    match write_pair(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn write_pair(args: &Args) -> Result<(), String> {
    let main = args.shape.config();
    let layers = main["num_hidden_layers"].as_u64().unwrap_or(0) as usize;
    if !(1..layers).contains(&args.draft_layers) {
        return Err(format!(
            "--draft-layers is {}, but the draft of a main model of {layers} layers has 1 to {}; give one of these",
            args.draft_layers,
            layers - 1
        ));
    }
    let late_layers = layers - args.draft_layers;
    let recipe = Recipe {
        seed: args.seed,
        draft_layers: args.draft_layers,
        late_scale: (LATE_SHARE * args.draft_layers as f64 / late_layers as f64).sqrt(),
    };
    let mut draft = main.clone();
    draft["num_hidden_layers"] = args.draft_layers.into();
    // A tensor's weights follow from its name, so the draft's layers are those of the main model.
    for (name, config) in [("main", main), ("draft", draft)] {
        write_model(&args.out_dir.join(name), &config, &recipe)?;
    }
    Ok(())
}

fn write_model(folder: &Path, config: &serde_json::Value, recipe: &Recipe) -> Result<(), String> {
    let failed = |path: &Path, error: &dyn Display| format!("{}: cannot be written: {error}", path.display());
    let write = |path: &Path, bytes: &[u8]| fs::write(path, bytes).map_err(|error| failed(path, &error));
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let config_path = folder.join("config.json");
    let config = format!("{config:#}\n");
    write(&config_path, config.as_bytes())?;
    write(&folder.join("tokenizer.json"), MAIN.tokenizer)?;

    let spec = config::read(&config_path, config.as_bytes()).map_err(|error| error.to_string())?;
    let mut tensors: Vec<(String, RandomTensor)> = Vec::new();
    for slot in spec.slots() {
        // Some tensors have several slots.
        let name = name(&spec, slot);
        if tensors.iter().all(|(known, _)| *known != name) {
            tensors.push((name, recipe.tensor(&spec, slot)));
        }
    }
    let weights: usize = tensors.iter().map(|(_, tensor)| tensor.elements()).sum();
    let path = folder.join("model.safetensors");
    serialize_to_file(tensors, None, &path).map_err(|error| failed(&path, &error))?;
    println!("{}: {weights} weights in {} layers", folder.display(), spec.blocks.len());
    Ok(())
}

fn name(spec: &ModelSpec, slot: Slot) -> String {
    spec.source(slot, spec.names.prefixes[0]).name
}

/// Choices that decide every weight of a pair.
struct Recipe {
    seed: u64,
    draft_layers: usize,
    /// Addition of the main model's layers past the draft's to the hidden state, as a multiple of that of the
    /// others.
    late_scale: f64,
}

/// Elements of a tensor.
#[derive(Clone, Copy)]
enum Fill {
    /// All this number.
    Constant(f64),
    /// Random, with mean 0 and this standard deviation.
    Random(f64),
}

impl Recipe {
    fn tensor(&self, spec: &ModelSpec, slot: Slot) -> RandomTensor {
        let key = name(spec, slot).bytes().fold(mix(self.seed), |key, byte| mix(key ^ u64::from(byte)));
        let shape = spec.source(slot, spec.names.prefixes[0]).shape;
        RandomTensor { shape, fill: self.fill(spec, slot), key }
    }

    fn fill(&self, spec: &ModelSpec, slot: Slot) -> Fill {
        use BlockSlot as B;
        // Turns inputs of variance 1 into outputs of variance 1.
        let unit = |inputs: usize| 1.0 / (inputs as f64).sqrt();
        let branch = |block| if block < self.draft_layers { 1.0 } else { self.late_scale };
        let added = if spec.norm.kind == NormKind::RmsPlusOne { 1.0 } else { 0.0 };
        match slot {
            Slot::Embedding | Slot::Head => Fill::Random(EMBEDDING_STD),
            Slot::FinalNorm => {
                let logit_std = SHARPNESS * (2.0 * (spec.vocab_size as f64).ln()).sqrt();
                Fill::Constant(logit_std / EMBEDDING_STD * unit(spec.hidden) - added)
            }
            Slot::Block(_, B::AttentionNorm | B::MlpNorm | B::QueryNorm | B::KeyNorm) => Fill::Constant(1.0 - added),
            Slot::Block(_, B::Query) => Fill::Random(SCORE_STD * unit(spec.hidden)),
            Slot::Block(
                _,
                B::Key | B::Value | B::Gate | B::Up | B::DeltaQuery | B::DeltaGate | B::DeltaBeta | B::DeltaStep,
            ) => Fill::Random(unit(spec.hidden)),
            Slot::Block(block, B::DeltaOutput) => {
                let values = spec.blocks[block].delta.map_or(1, |net| net.values());
                Fill::Random(branch(block) * unit(values))
            }
            Slot::Block(_, B::DeltaFilter) => Fill::Random(0.5),
            Slot::Block(_, B::DeltaNorm) => Fill::Constant(1.0),
            Slot::Block(_, B::DeltaDecay) => Fill::Random(1.0),
            Slot::Block(block, B::Output) => Fill::Random(branch(block) * unit(spec.heads.query * spec.heads.dim)),
            Slot::Block(block, B::Down) => {
                Fill::Random(MLP_GAIN * branch(block) * unit(spec.blocks[block].mlp.intermediate))
            }
            Slot::Block(_, B::QueryBias | B::KeyBias | B::ValueBias) => Fill::Random(BIAS_STD),
            // The shapes above have no others.
            _ => Fill::Constant(0.0),
        }
    }
}

/// A tensor whose elements are computed when they are written: no more than one is in memory.
struct RandomTensor {
    shape: Vec<usize>,
    fill: Fill,
    /// Start of the sequence of random numbers, different for each tensor.
    key: u64,
}

impl View for RandomTensor {
    fn dtype(&self) -> Dtype {
        Dtype::BF16
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let mut bytes = vec![0; self.data_len()];
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let share = self.elements().div_ceil(threads);
        thread::scope(|scope| {
            for (part, bytes) in bytes.chunks_mut(share * size_of::<bf16>()).enumerate() {
                scope.spawn(move || self.write(part * share, bytes));
            }
        });
        bytes.into()
    }

    fn data_len(&self) -> usize {
        self.elements() * size_of::<bf16>()
    }
}

impl RandomTensor {
    fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Writes the elements from number `first` on.
    fn write(&self, first: usize, bytes: &mut [u8]) {
        for (index, element) in (first..).zip(bytes.chunks_exact_mut(size_of::<bf16>())) {
            let value = match self.fill {
                Fill::Constant(value) => value as f32,
                Fill::Random(std) => std as f32 * standard_normal(self.key.wrapping_add(index as u64)),
            };
            element.copy_from_slice(&bf16::from_f32(value).to_le_bytes());
        }
    }
}

/// Random number `counter` of (nearly) the standard normal distribution: the sum of four uniform numbers of
/// 16 bits. It takes no logarithm, whose last bit may differ between machines.
fn standard_normal(counter: u64) -> f32 {
    let bits = mix(counter);
    let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
    // The sum has the mean 4 * 65535 / 2 and (but for 2^-32 of it) the variance 4 * 65536^2 / 12.
    (sum as f32 - 131_070.0) * (3f32.sqrt() / 65_536.0)
}

/// `SplitMix64`: number `counter` of a sequence of well mixed bits.
fn mix(counter: u64) -> u64 {
    let mut bits = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
