//! Speed of plain decoding and of reading a prompt on the CPU, against what the machine can do and, on
//! request, against llama.cpp on the same machine in the same run.
//!
//! ```sh
//! cargo run --release --example random_model -- /tmp/pair
//! cargo run --release --example decode_speed -- /tmp/pair/main [--dtype bf16] [--kernel avx2] [--threads 2] [--repeat 5]
//! ```
//!
//! With `--llama-cpp DIR` and `--ik-llama-cpp DIR` (their programs `llama-batched-bench` and `llama-bench`,
//! built beforehand) they take turns with these kernels on the same GGUF file, or on `--gguf FILE` where the
//! model here is a folder; `ik_llama.cpp` repacks its weights at load (`-rtr`). Figures are medians over the
//! rounds, the spread beside them.
//!
//! A step is a pass of N rows, one for each of N candidates that share a prompt of 128 tokens, with logits
//! for every row: what `llama-batched-bench -npp 128 -pps -kvu` measures. Shares are of the bandwidth and of
//! the multiply-add rate that this program measures between the rounds, with as many threads.

mod limits;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use bass_tui::backend::cpu::{CpuNetwork, Kernels};
use bass_tui::backend::{BackendError, Dtype, HostLogits, LoadOptions, Network, NetworkInfo, Rows, Span, Wanted};
use bass_tui::model::{DRAFT, MAIN, Model, ModelFiles, ModelWeights};
use clap::Parser;

const PROMPT: usize = 128;
const PREFILL: usize = 512;
const STEPS: usize = 16;

#[derive(Parser)]
struct Arguments {
    /// Folder of the model or a GGUF file, or `built-in`, or `built-in-draft`.
    model: PathBuf,
    /// How weights are kept: auto, f32, bf16, int8, int4.
    #[arg(long, default_value = "auto", value_parser = dtype)]
    dtype: Dtype,
    /// Kernel set, instead of the fastest that this processor has.
    #[arg(long)]
    kernel: Option<String>,
    /// Folder where quantised weights are kept between runs.
    #[arg(long)]
    cache: Option<PathBuf>,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// Load so many times, in turn with reading the same files into memory, instead of decoding.
    #[arg(long)]
    loads: Option<usize>,
    /// Numbers of candidates.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8,16")]
    batch: Vec<usize>,
    /// Folder of the programs of llama.cpp.
    #[arg(long)]
    llama_cpp: Option<PathBuf>,
    /// Folder of the programs of `ik_llama.cpp`.
    #[arg(long)]
    ik_llama_cpp: Option<PathBuf>,
    /// The model for them, if it is not the same file.
    #[arg(long)]
    gguf: Option<PathBuf>,
}

fn dtype(text: &str) -> Result<Dtype, String> {
    text.parse().map_err(|()| format!("there is no dtype {text}"))
}

/// Figures by what was measured.
type Figures = BTreeMap<(&'static str, usize), Vec<f64>>;

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
    let kernels = match &arguments.kernel {
        None => Kernels::best(),
        Some(name) => Kernels::available()
            .into_iter()
            .find(|kernels| kernels.name == name)
            .ok_or_else(|| format!("this processor has no kernel set {name}"))?,
    };
    let options = LoadOptions { dtype: arguments.dtype, threads: arguments.threads, ..LoadOptions::default() };
    let files = match arguments.model.to_str() {
        Some("built-in") => ModelFiles::Embedded(&MAIN),
        Some("built-in-draft") => ModelFiles::Embedded(&DRAFT),
        _ if arguments.model.is_file() => ModelFiles::Gguf(arguments.model.clone()),
        _ => ModelFiles::Folder(arguments.model.clone()),
    };
    let load = || {
        let start = Instant::now();
        let mut opened = f64::NAN;
        let pack = |weights: &ModelWeights| {
            opened = milliseconds(start);
            let network = CpuNetwork::with_cache(weights, options, kernels, arguments.cache.as_deref());
            (network, milliseconds(start))
        };
        let (model, (network, packed)) = Model::load_beside(&files, pack).map_err(|error| error.to_string())?;
        let network = network.map_err(|error| error.to_string())?;
        Ok::<_, String>((model, network, [opened, packed, milliseconds(start)]))
    };
    if let Some(times) = arguments.loads {
        return loads(times, load);
    }
    let peers = Peer::all(arguments);
    let (model, mut network, [_, _, loaded]) = load()?;
    drop(model);
    let info = network.info();
    println!(
        "{} weights of {:.1} MB, kernels {}, {} threads; loaded in {loaded:.0} ms, resident {:.0} MB",
        info.dtype,
        info.weight_bytes as f64 / 1e6,
        info.kernel,
        info.threads,
        resident_bytes() / 1e6
    );
    let mut ours = Figures::new();
    let mut theirs = vec![Figures::new(); peers.len()];
    let memory = vec![1u8; 1 << 29];
    for round in 0..=arguments.repeat {
        let take = |figures: &mut Figures, key, figure| {
            // Round 0 touches memory.
            if round > 0 {
                figures.entry(key).or_default().push(figure);
            }
        };
        take(&mut ours, ("read GB/s", 0), limits::read_gb(&memory, arguments.threads));
        take(&mut ours, ("GFLOP/s", 0), limits::gflops(arguments.threads));
        for &batch in &arguments.batch {
            take(&mut ours, ("step ms", batch), step_ms(&mut network, batch).map_err(|error| error.to_string())?);
        }
        take(&mut ours, ("prefill ms", PREFILL), prefill_ms(&mut network).map_err(|error| error.to_string())?);
        for (peer, theirs) in peers.iter().zip(&mut theirs).filter(|_| round > 0) {
            peer.round(arguments, theirs)?;
        }
        eprintln!("round {round} of {} done", arguments.repeat);
    }
    println!("resident after all: {:.0} MB", (resident_bytes() - memory.len() as f64) / 1e6);
    report(&ours, &peers.iter().map(|peer| peer.name).zip(&theirs).collect::<Vec<_>>(), &info);
    Ok(())
}

/// Loads in turn with reading the files of the weights.
fn loads(times: usize, load: impl Fn() -> Result<(Model, CpuNetwork, [f64; 3]), String>) -> Result<(), String> {
    let (mut read, mut opened, mut packed, mut loaded) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // The first one brings the files into memory.
    for round in 0..=times {
        let (model, network, [to_weights, to_tokenizer, whole]) = load()?;
        drop(network);
        let files: Vec<PathBuf> = model.checkpoint.paths().into_iter().flatten().map(Into::into).collect();
        let start = Instant::now();
        for file in files {
            black_box(std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?);
        }
        if round > 0 {
            read.push(milliseconds(start));
            opened.push(to_weights);
            packed.push(to_tokenizer);
            loaded.push(whole);
        }
    }
    let [read_ms, loaded_ms] = [&read, &loaded].map(|values| median(values));
    println!(
        "loaded in {} ms: weights begun after {} and there after {}; reading the files takes {} ms: {:.2}x",
        spread(&loaded),
        spread(&opened),
        spread(&packed),
        spread(&read),
        loaded_ms / read_ms
    );
    Ok(())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn report(ours: &Figures, theirs: &[(&str, &Figures)], info: &NetworkInfo) {
    let read = median(&ours[&("read GB/s", 0)]);
    let peak = median(&ours[&("GFLOP/s", 0)]);
    println!(
        "read bandwidth {}, multiply-add peak {}",
        spread(&ours[&("read GB/s", 0)]),
        spread(&ours[&("GFLOP/s", 0)])
    );
    let first = ours.iter().find(|((what, _), _)| *what == "step ms").map_or(f64::NAN, |(_, ms)| median(ms));
    for ((what, number), values) in ours {
        let rows = *number as f64;
        let ms = median(values);
        let compared = theirs.iter().filter_map(|(name, figures)| {
            let peer = figures.get(&(*what, *number))?;
            Some(format!("; {name} {} ms, {:.2}x", spread(peer), median(peer) / ms))
        });
        let compared: String = compared.collect();
        match *what {
            "step ms" => println!(
                "N = {number}: {} ms a step, {:.1} tokens/s, {:.2} of the first; {:.0} % of bandwidth, {:.0} % of peak{}",
                spread(values),
                rows / ms * 1e3,
                ms / first,
                100.0 * info.weight_bytes as f64 / 1e6 / ms / read,
                100.0 * 2.0 * info.weights as f64 * rows / 1e6 / ms / peak,
                compared
            ),
            "prefill ms" => {
                println!("prompt of {number}: {} ms, {:.1} tokens/s{compared}", spread(values), rows / ms * 1e3);
            }
            _ => {}
        }
    }
}

fn step_ms(network: &mut CpuNetwork, batch: usize) -> Result<f64, BackendError> {
    let vocab = network.vocab_size();
    let text: Vec<u32> = (0..PROMPT.max(batch)).map(|i| (i * 37 % vocab) as u32).collect();
    let prompt = network.open(PROMPT)?;
    let spans = [Span { seq: prompt, start: 0, len: PROMPT }];
    network.forward(&Rows::chain(&text[..PROMPT], &spans), Wanted::Nothing)?;
    let forks = network.fork(prompt, batch, STEPS)?;
    let mut times = Vec::new();
    for step in 0..STEPS {
        let spans: Vec<Span> = forks.iter().map(|&seq| Span { seq, start: PROMPT + step, len: 1 }).collect();
        // No row is taken back, as in steps of candidates without drafts.
        for &seq in &forks {
            network.keep(seq, PROMPT + step + 1);
        }
        let start = Instant::now();
        network.forward(black_box(&Rows::chain(&text[..batch], &spans)), Wanted::All)?;
        times.push(milliseconds(start));
    }
    for seq in forks.into_iter().chain([prompt]) {
        network.close(seq);
    }
    // As the peer's total over its steps, the first of which it counts, too.
    Ok(times.iter().sum::<f64>() / STEPS as f64)
}

fn prefill_ms(network: &mut CpuNetwork) -> Result<f64, BackendError> {
    let vocab = network.vocab_size();
    let text: Vec<u32> = (0..PREFILL).map(|i| (i * 37 % vocab) as u32).collect();
    let prompt = network.open(PREFILL)?;
    let spans = [Span { seq: prompt, start: 0, len: PREFILL }];
    let start = Instant::now();
    network.forward(black_box(&Rows::chain(&text, &spans)), Wanted::Last)?;
    let ms = milliseconds(start);
    network.close(prompt);
    Ok(ms)
}

/// Another program that decodes on this machine.
struct Peer {
    name: &'static str,
    folder: PathBuf,
    gguf: PathBuf,
    /// Options of its two programs.
    options: [&'static [&'static str]; 2],
}

impl Peer {
    fn all(arguments: &Arguments) -> Vec<Self> {
        let gguf = arguments.gguf.as_ref().unwrap_or(&arguments.model);
        let peer = |name, folder: &Option<PathBuf>, options| {
            folder.clone().map(|folder| Self { name, folder, gguf: gguf.clone(), options })
        };
        let peers = [
            peer("llama.cpp", &arguments.llama_cpp, [&["-kvu"], &[]]),
            peer("ik_llama.cpp", &arguments.ik_llama_cpp, [&["-rtr"], &["-rtr", "1"]]),
        ];
        peers.into_iter().flatten().collect()
    }

    /// Output of a program, and its error output.
    fn call(&self, program: &str, threads: usize, arguments: &[&str]) -> Result<[String; 2], String> {
        let path = self.folder.join(program);
        let output = Command::new(&path)
            .arg("-m")
            .arg(&self.gguf)
            .args(["-t", &threads.to_string()])
            .args(arguments)
            .output()
            .map_err(|error| format!("{} does not start: {error}", path.display()))?;
        if output.status.success() {
            Ok([output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()))
        } else {
            Err(format!("{} failed: {}", path.display(), String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// One round.
    fn round(&self, ours: &Arguments, figures: &mut Figures) -> Result<(), String> {
        let batches = ours.batch.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let (prompt, steps) = (PROMPT.to_string(), STEPS.to_string());
        let decode =
            ["-c", "4096", "-b", "2048", "-ub", "512", "-npp", &prompt, "-ntg", &steps, "-npl", &batches, "-pps"];
        // The older of the two writes its table beside its output.
        let [table, beside] =
            self.call("llama-batched-bench", ours.threads, &[&decode[..], self.options[0]].concat())?;
        for row in table.lines().chain(beside.lines()).filter(|line| line.starts_with('|')) {
            // PP, TG, B, N_KV, T_PP, S_PP, T_TG, S_TG: tokens per second of all together have the most
            // digits.
            let cells: Vec<f64> = row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
            if let [_, _, batch, _, _, _, _, per_second, ..] = cells[..] {
                figures.entry(("step ms", batch as usize)).or_default().push(batch / per_second * 1e3);
            }
        }
        let prefill = PREFILL.to_string();
        let prefill = ["-p", &prefill, "-n", "0", "-r", "1", "-o", "json"];
        let [lines, _] = self.call("llama-bench", ours.threads, &[&prefill[..], self.options[1]].concat())?;
        let runs: serde_json::Value =
            serde_json::from_str(&lines).map_err(|error| format!("llama-bench wrote no JSON: {error}"))?;
        if let Some(per_second) = runs[0]["avg_ts"].as_f64() {
            figures.entry(("prefill ms", PREFILL)).or_default().push(PREFILL as f64 / per_second * 1e3);
        }
        Ok(())
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Median and range.
fn spread(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    format!("{:.3} [{least:.3}-{most:.3}]", median(values))
}

/// Bytes of this process in memory, mapped files included.
fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB"))
        .and_then(|kb| kb.trim().parse::<f64>().ok())
        .map_or(0.0, |kb| kb * 1024.0)
}
