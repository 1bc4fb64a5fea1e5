//! Short check of a machine with a GPU: limits of the GPU, every kernel against its twin, and the speed of
//! products and of whole steps. This test program needs nothing else but the driver and NVRTC:
//!
//! `cargo test --release --lib gpu_check -- --ignored --nocapture`, or the program with the same arguments.

mod ceilings;
mod ragged;
mod report;
mod states;
mod steps;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::gpu::Gpu;
use super::super::{Libraries, open};
use super::emulator::{self, GPU_VARIABLE};
use crate::backend::storage::Storage;
use crate::model::spec::DeltaNet;
use crate::model::{ModelSpec, TensorType, config};
use report::Report;
use serde_json::json;
use steps::Pair;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// There is nothing to check.
const NO_GPU: i32 = 3;

/// How much is measured.
struct Sizes {
    /// Of what is read and copied.
    read_bytes: usize,
    read_blocks: usize,
    launches: usize,
    /// Name, outputs and inputs.
    products: &'static [(&'static str, usize, usize)],
    /// More than caches hold.
    cold_bytes: usize,
    pairs: &'static [Pair],
    batch: usize,
    /// A gated delta net.
    net: DeltaNet,
    /// Tokens of the prompt, and plain steps after it.
    context: usize,
    steps: usize,
    /// After which a part begins with nothing new.
    seconds: f64,
}

/// A model of the family of Llama.
#[derive(Clone, Copy)]
struct Llama {
    hidden: usize,
    intermediate: usize,
    layers: usize,
    heads: usize,
    kv_heads: usize,
    vocab: usize,
    tied: bool,
}

impl Llama {
    /// As its `config.json` would have it.
    fn spec(&self) -> Result<ModelSpec> {
        let json = json!({
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
            "hidden_size": self.hidden, "intermediate_size": self.intermediate, "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads, "num_key_value_heads": self.kv_heads, "vocab_size": self.vocab,
            "tie_word_embeddings": self.tied, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
            "rope_theta": 500_000.0,
        });
        Ok(config::read("config.json".as_ref(), json.to_string().as_bytes())?)
    }
}

const Q4_K: Storage = Storage::Stored(TensorType::Q4K);

/// Llama 3.1 of 8 billion parameters.
const LLAMA_8B: Llama =
    Llama { hidden: 4096, intermediate: 14_336, layers: 32, heads: 32, kv_heads: 8, vocab: 128_256, tied: false };

/// Qwen 2.5 of one and a half billion parameters.
const QWEN_1_5B: Llama =
    Llama { hidden: 1536, intermediate: 8960, layers: 28, heads: 12, kv_heads: 2, vocab: 128_256, tied: true };

/// Qwen 2.5 of half a billion, with the vocabulary of Llama.
const DRAFT: Llama =
    Llama { hidden: 896, intermediate: 4864, layers: 24, heads: 14, kv_heads: 2, vocab: 128_256, tied: true };

/// Models of users.
const LARGE: Sizes = Sizes {
    read_bytes: 2 << 30,
    read_blocks: 4096,
    launches: 1000,
    products: &[
        ("query, key, value", 6144, 4096),
        ("output", 4096, 4096),
        ("gate, up", 28_672, 4096),
        ("down", 4096, 14_336),
        ("head", 128_256, 4096),
    ],
    cold_bytes: 160 << 20,
    pairs: &[
        Pair { what: "8B and 0.5B, bf16", main: (LLAMA_8B, Storage::Bf16), draft: (DRAFT, Storage::Bf16) },
        Pair { what: "8B and 0.5B, int8", main: (LLAMA_8B, Storage::Int8), draft: (DRAFT, Storage::Int8) },
        Pair { what: "1.5B and 0.5B, Q4_K", main: (QWEN_1_5B, Q4_K), draft: (DRAFT, Q4_K) },
        Pair { what: "8B and 0.5B, int4", main: (LLAMA_8B, Storage::Int4), draft: (DRAFT, Storage::Int8) },
    ],
    batch: 8,
    net: DeltaNet {
        key_heads: 16,
        value_heads: 48,
        key_dim: 128,
        value_dim: 128,
        width: 4,
        logarithms: true,
        tiled: false,
    },
    context: 1024,
    steps: 160,
    seconds: 70.0,
};

/// Parts of this program that compare kernels with their twins.
const TWINS: [&str; 6] = [
    "backend::cuda::tests::layers", "backend::cuda::tests::blocks", "backend::cuda::tests::experts",
    "backend::cuda::tests::products", "backend::cuda::tests::choices", "backend::cuda::tests::delta",
];

/// Runs the checks of kernels in a process of their own, over a GPU or the emulator, maybe under a tool;
/// whether they passed, and the last that they said.
fn twins(gpu: Option<usize>, tool: &[&str], seconds: u64) -> Result<(bool, String)> {
    let own = std::env::current_exe()?;
    let mut command = match tool {
        [] => Command::new(own),
        [tool, options @ ..] => {
            let mut command = Command::new(tool);
            command.args(options).arg(own);
            command
        }
    };
    let said = tempfile::NamedTempFile::new()?;
    let (out, err) = (said.reopen()?, said.reopen()?);
    command.args(TWINS).args(["--test-threads", "1"]);
    match gpu {
        Some(number) => command.env(GPU_VARIABLE, number.to_string()),
        None => command.env_remove(GPU_VARIABLE),
    };
    let mut process = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn()?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let status = loop {
        if let Some(status) = process.try_wait()? {
            break Some(status);
        }
        if Instant::now() > end {
            process.kill()?;
            process.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let said = std::fs::read_to_string(said.path()).unwrap_or_default();
    let last = said.lines().rev().find(|line| line.contains("result") || line.contains("ERROR SUMMARY"));
    let some = said.contains(" passed") && !said.contains("running 0 tests");
    let last = last.unwrap_or(if status.is_none() { "the time was over" } else { "said nothing" }).to_owned();
    Ok((status.is_some_and(|status| status.success()) && some, last))
}

/// Kernels against their twins, by themselves and under the tools that look for faults.
fn kernels(number: usize, report: &mut Report) -> Result<()> {
    report.part("kernels against their twins on the CPU");
    let (passed, said) = twins(Some(number), &[], 60)?;
    report.check("as they are", passed, &said);
    for tool in ["memcheck", "racecheck"] {
        let sanitizer = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9"];
        match twins(Some(number), &sanitizer, 70) {
            Ok((passed, said)) if passed || said != "the time was over" => {
                report.check(format!("compute-sanitizer, {tool}"), passed, &said);
            }
            Ok((_, said)) => report.note(format!("compute-sanitizer, {tool}"), said),
            Err(why) => report.note(format!("compute-sanitizer, {tool}"), format!("not run: {why}")),
        }
    }
    Ok(())
}

/// Names the parts of the check that are wanted, by the beginning of their names; all of them if it is not set.
const PARTS_VARIABLE: &str = "GPU_CHECK";

fn measured(gpu: &Arc<Gpu>, sizes: &Sizes, parts: &str, report: &mut Report) -> Result<()> {
    let wanted = |part: &str| parts.is_empty() || parts.split(',').any(|name| part.starts_with(name));
    let gb = ceilings::ceilings(gpu, sizes, report)?;
    if wanted("products") {
        ceilings::products(gpu, sizes, gb, report)?;
    }
    if wanted("attention") {
        ragged::ragged(gpu, sizes.pairs[0].main.0.spec()?.heads, 2 * sizes.context, report)?;
    }
    if wanted("states") {
        states::states(gpu, sizes, gb, report)?;
    }
    let begun = Instant::now();
    for pair in sizes.pairs.iter().filter(|pair| wanted(pair.what)) {
        if begun.elapsed().as_secs_f64() > sizes.seconds {
            report.note("left out", pair.what);
            continue;
        }
        steps::steps(gpu, sizes, (pair, gb), report)?;
    }
    Ok(())
}

/// Few layers and steps, for `ncu`.
#[test]
#[ignore = "for a machine with a GPU"]
fn gpu_check_few_steps() {
    let gpu = emulator::gpu(0).expect("a GPU");
    let few = |(llama, storage): (Llama, Storage)| (Llama { layers: 2, ..llama }, storage);
    let Pair { main, draft, .. } = LARGE.pairs[0];
    let sizes = Sizes { steps: 20, ..LARGE };
    let pair = Pair { what: "few", main: few(main), draft: few(draft) };
    steps::few(&gpu, &sizes, &pair).expect("steps");
}

#[test]
#[ignore = "for a machine with a GPU"]
fn gpu_check() {
    let number = emulator::real().unwrap_or(0);
    let begun = Instant::now();
    let gpu = match open(&Libraries::default(), number, emulator::cache().as_deref()) {
        Ok(gpu) => gpu,
        Err(why) => {
            eprintln!("gpu_check: --device cuda:{number} {why}");
            std::process::exit(NO_GPU);
        }
    };
    let mut report = Report::default();
    report.part("the GPU");
    report.note("name", gpu.what.clone());
    report.number("driver and kernels there after", begun.elapsed().as_secs_f64(), "s");
    let parts = std::env::var(PARTS_VARIABLE).unwrap_or_default();
    let twins = if parts.is_empty() { kernels(number, &mut report) } else { Ok(()) };
    // The report is shown whatever fails.
    let done = twins.and_then(|()| measured(&gpu, &LARGE, &parts, &mut report));
    if let Err(why) = done {
        report.check("the rest", false, &why.to_string());
    }
    report.part("all");
    report.at_most("time", begun.elapsed().as_secs_f64(), "s", 480.0);
    println!("{}\n{}", report.table(), report.json());
    if report.failed() {
        std::process::exit(1);
    }
}

const SMALL_MAIN: Llama =
    Llama { hidden: 64, intermediate: 96, layers: 2, heads: 4, kv_heads: 2, vocab: 300, tied: false };
const SMALL_DRAFT: Llama =
    Llama { hidden: 32, intermediate: 64, layers: 1, heads: 2, kv_heads: 1, vocab: 300, tied: true };

const SMALL: Sizes = Sizes {
    read_bytes: 1 << 18,
    read_blocks: 3,
    launches: 20,
    products: &[("output", 40, 256)],
    cold_bytes: 1 << 13,
    pairs: &[
        Pair { what: "steps, bf16", main: (SMALL_MAIN, Storage::Bf16), draft: (SMALL_DRAFT, Storage::Bf16) },
        Pair { what: "steps, int4", main: (SMALL_MAIN, Storage::Int4), draft: (SMALL_DRAFT, Storage::Int8) },
    ],
    batch: 2,
    net: DeltaNet {
        key_heads: 1,
        value_heads: 2,
        key_dim: 128,
        value_dim: 32,
        width: 4,
        logarithms: true,
        tiled: false,
    },
    context: 20,
    steps: 46,
    seconds: 60.0,
};

#[test]
fn gpu_check_measures_and_compares_in_small() {
    let Some(gpu) = emulator::gpu(emulator::LATE) else { return };
    let mut report = Report::default();
    measured(&gpu, &SMALL, "", &mut report).expect("measured");
    let (table, json) = (report.table(), report.json());
    assert!(!report.failed(), "{table}");
    let ragged = "attention of candidates of different lengths";
    for part in ["ceilings", "products", ragged, "states of gated delta nets", "steps, bf16", "steps, int4"] {
        assert!(table.lines().any(|line| line == part), "{part}: {table}");
    }
    let (close, apart) = ("lengths close together: all give the same bits", "lengths apart: all give the same bits");
    for what in [
        close,
        apart,
        "a prompt in two parts gives the same bits",
        "all was read",
        "drafts change nothing, as graphs",
        "graphs give the same bits",
    ] {
        let lines = json.as_array().expect("a list").iter();
        let found: Vec<_> = lines.filter(|line| line["what"] == what).collect();
        assert!(!found.is_empty() && found.iter().all(|line| line["met"] == true), "{what}: {json:#}");
    }
    assert!(!table.contains("the time was over"), "{table}");
    // A number that could not be measured is a failure.
    report.number("nothing", f64::NAN, "ms");
    assert!(report.failed() && report.table().contains("not measured"));
}

/// A tool is a program that runs another one.
#[test]
fn gpu_check_believes_the_checks_of_kernels_only_where_they_ran() {
    if emulator::gpu(0).is_none() {
        return;
    }
    let (passed, said) = twins(None, &["env"], 120).expect("a process");
    assert!(passed && said.contains("ok."), "{said}");
    for (gpu, tool, seconds, expected) in
        [(Some(4711), &["env"][..], 60, "FAILED"), (None, &["true"], 60, "said nothing"), (None, &[], 0, "the time")]
    {
        let (passed, said) = twins(gpu, tool, seconds).expect("a process");
        assert!(!passed && said.contains(expected), "{expected}: {said}");
    }
    twins(None, &["no such program"], 60).expect_err("no process");
}

#[test]
fn gpu_check_says_that_there_is_no_gpu() {
    let own = std::env::current_exe().expect("the program of tests");
    let done = Command::new(own)
        .args(["--ignored", "--exact", "--nocapture", "backend::cuda::tests::gpu_check::gpu_check"])
        // One that is here is hidden.
        .env("CUDA_VISIBLE_DEVICES", "")
        .env_remove(GPU_VARIABLE)
        .output()
        .expect("a process");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(NO_GPU), "{said}");
    assert!(said.starts_with("gpu_check: --device cuda:0 ") && said.lines().count() == 1, "{said}");
}
