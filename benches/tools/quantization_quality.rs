//! Effect of fewer bits for the weights: logits against those with f32 weights, position by position on given
//! tokens, and greedy texts.
//!
//! ```sh
//! cargo run --release --example quantization_quality                       # the built-in pair's main model, on the examples
//! cargo run --release --example quantization_quality -- DIR [--tokens 256] # a model folder; --random for one without knowledge of text
//! cargo run --release --example quantization_quality -- FILE.gguf          # its own bits with int8 inputs, beside its weights as f32
//! ```
//!
//! Every position sees the tokens before it, whatever the model would have written. Errors of logits are in
//! units of the standard deviation of the position's f32 logits; the divergence is that of the distributions
//! at temperature 1, in nats.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use bass_tui::backend::cpu::{CpuNetwork, Kernels};
use bass_tui::backend::{BackendError, Dtype, HostLogits, LoadOptions, Network, Rows, SeqId, Span, Wanted};
use bass_tui::model::{MAIN, Model, ModelFiles};
use clap::Parser;

#[derive(Parser)]
struct Arguments {
    /// Folder of the model, or a GGUF file, of which only the bits that it has are compared; without it, the
    /// built-in one.
    model: Option<PathBuf>,
    /// Tokens of each text that are used.
    #[arg(long, default_value_t = 256)]
    tokens: usize,
    /// Tokens of a greedy text.
    #[arg(long, default_value_t = 64)]
    write: usize,
    /// Read random tokens instead of texts: for models of random weights.
    #[arg(long)]
    random: bool,
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let files = arguments.model.clone().map_or(ModelFiles::Embedded(&MAIN), |path| {
        if path.is_file() { ModelFiles::Gguf(path) } else { ModelFiles::Folder(path) }
    });
    let dtypes: &[Dtype] = match files {
        ModelFiles::Gguf(_) => &[Dtype::Auto],
        _ => &[Dtype::Bf16, Dtype::Int8, Dtype::Int4],
    };
    let model = Model::load(&files).map_err(|error| error.to_string())?;
    let texts =
        if arguments.random { random(model.spec.vocab_size, arguments.tokens) } else { texts(&model, arguments)? };
    let prompts =
        if arguments.random { texts.iter().map(|text| text[..8].to_vec()).collect() } else { prompts(&model)? };
    let load = |dtype| {
        let start = Instant::now();
        let options = LoadOptions { dtype, threads: arguments.threads, ..LoadOptions::default() };
        let network = CpuNetwork::new(&model, options, Kernels::best()).map_err(|error| error.to_string())?;
        Ok::<_, String>((network, start.elapsed().as_secs_f64()))
    };
    let (mut reference, _) = load(Dtype::F32)?;
    let expected = texts.iter().map(|text| logits(&mut reference, text)).collect::<Result<Vec<_>, _>>();
    let expected = expected.map_err(|error| error.to_string())?;
    let greedy = |network: &mut CpuNetwork| -> Result<Vec<Vec<u32>>, String> {
        prompts
            .iter()
            .map(|prompt| write(network, prompt, arguments.write).map_err(|error| error.to_string()))
            .collect()
    };
    let written = greedy(&mut reference)?;
    drop(reference);
    println!(
        "{}: {} positions, {} greedy texts of {} tokens",
        model.name,
        texts.iter().map(Vec::len).sum::<usize>(),
        prompts.len(),
        arguments.write
    );
    println!(
        "| dtype | MB | loaded in ms | mean error | greatest error | KL divergence | same first choice | same greedy texts | same tokens before the first difference |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for &dtype in dtypes {
        let (mut network, seconds) = load(dtype)?;
        let mut sums = Sums::default();
        for (text, expected) in texts.iter().zip(&expected) {
            let found = logits(&mut network, text).map_err(|error| error.to_string())?;
            expected.iter().zip(&found).for_each(|(expected, found)| sums.add(expected, found));
        }
        let texts = greedy(&mut network)?;
        let same = texts.iter().zip(&written).filter(|(a, b)| a == b).count();
        let common: usize =
            texts.iter().zip(&written).map(|(a, b)| a.iter().zip(b).take_while(|(a, b)| a == b).count()).sum();
        let count = sums.positions as f64;
        let info = network.info();
        println!(
            "| {} | {:.1} | {:.0} | {:.4} | {:.3} | {:.5} | {:.2} % | {same} of {} | {:.1} % |",
            info.dtype,
            info.weight_bytes as f64 / 1e6,
            seconds * 1e3,
            sums.error / count,
            sums.greatest,
            sums.divergence / count,
            100.0 * sums.agreed as f64 / count,
            texts.len(),
            100.0 * common as f64 / written.iter().map(Vec::len).sum::<usize>() as f64
        );
    }
    Ok(())
}

#[derive(Default)]
struct Sums {
    positions: usize,
    /// Mean absolute errors of the positions.
    error: f64,
    greatest: f64,
    divergence: f64,
    agreed: usize,
}

impl Sums {
    fn add(&mut self, expected: &[f32], found: &[f32]) {
        let count = expected.len() as f64;
        let mean = expected.iter().map(|&l| f64::from(l)).sum::<f64>() / count;
        let deviation = (expected.iter().map(|&l| (f64::from(l) - mean).powi(2)).sum::<f64>() / count).sqrt();
        let errors = expected.iter().zip(found).map(|(a, b)| f64::from(a - b).abs() / deviation);
        self.positions += 1;
        self.error += errors.clone().sum::<f64>() / count;
        self.greatest = errors.fold(self.greatest, f64::max);
        let (p, q) = (log_softmax(expected), log_softmax(found));
        self.divergence += p.iter().zip(&q).map(|(p, q)| p.exp() * (p - q)).sum::<f64>();
        self.agreed += usize::from(argmax(expected) == argmax(found));
    }
}

fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let max = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let sum = logits.iter().map(|&logit| (f64::from(logit) - max).exp()).sum::<f64>().ln();
    logits.iter().map(|&logit| f64::from(logit) - max - sum).collect()
}

fn argmax(logits: &[f32]) -> u32 {
    (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap_or(0) as u32
}

fn forward(
    network: &mut CpuNetwork,
    seq: SeqId,
    start: usize,
    tokens: &[u32],
    want: Wanted,
) -> Result<usize, BackendError> {
    network.forward(&Rows::chain(tokens, &[Span { seq, start, len: tokens.len() }]), want)
}

/// Logits of every position of a text.
fn logits(network: &mut CpuNetwork, text: &[u32]) -> Result<Vec<Vec<f32>>, BackendError> {
    let seq = network.open(text.len())?;
    let rows = forward(network, seq, 0, text, Wanted::All)?;
    let logits = (0..rows).map(|row| network.logits(row).to_vec()).collect();
    network.close(seq);
    Ok(logits)
}

/// The most probable tokens after a prompt, one by one.
fn write(network: &mut CpuNetwork, prompt: &[u32], tokens: usize) -> Result<Vec<u32>, BackendError> {
    let seq = network.open(prompt.len() + tokens)?;
    let mut written = Vec::new();
    forward(network, seq, 0, prompt, Wanted::Last)?;
    while written.len() < tokens {
        let token = argmax(network.logits(0));
        forward(network, seq, prompt.len() + written.len(), &[token], Wanted::Last)?;
        written.push(token);
    }
    network.close(seq);
    Ok(written)
}

/// Python files of this repository.
fn files() -> Result<Vec<String>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let python = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "py"));
    python.map(|path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))).collect()
}

/// The beginnings of these files as tokens.
fn texts(model: &Model, arguments: &Arguments) -> Result<Vec<Vec<u32>>, String> {
    let most = arguments.tokens.min(model.spec.context);
    let encode = |text: &String| model.tokenizer.encode(text).map_err(|error| error.to_string());
    files()?.iter().map(encode).map(|ids| ids.map(|ids| ids[..most.min(ids.len())].to_vec())).collect()
}

/// Every function of these files that is to be written, as tokens.
fn prompts(model: &Model) -> Result<Vec<Vec<u32>>, String> {
    let mut prompts = Vec::new();
    for file in files()? {
        for function in file.split("\n\n\n").filter(|function| function.starts_with("def ")) {
            let prompt = format!("{}\n", function.trim_end());
            prompts.push(model.tokenizer.encode(&prompt).map_err(|error| error.to_string())?);
        }
    }
    Ok(prompts)
}

/// Four texts of tokens without meaning.
fn random(vocab: usize, tokens: usize) -> Vec<Vec<u32>> {
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % vocab as u32
    };
    (0..4).map(|_| (0..tokens.max(8)).map(|_| next()).collect()).collect()
}
