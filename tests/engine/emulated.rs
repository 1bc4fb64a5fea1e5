//! The whole way on the CUDA backend, through the emulator: what the reference implementation computes, rows
//! that are the same in any company and any order of threads, drafts that change nothing.

use std::sync::Arc;

use super::architectures::without_last_layer;
use super::emulator::{LATE, ORDERS, gpu, is_emulated};
use super::gguf;
use super::golden::{self, check_on};
use super::network::{Bits, bits, model, pass, tokens};
use super::states;
use super::toy::cases::{PLAIN, WARM, options};
use super::toy::generate;
use bass_tui::backend::cpu::{CpuNetwork, Kernels};
use bass_tui::backend::cuda::{CudaNetwork, Gpu};
use bass_tui::backend::{Dtype, HostLogits, LoadOptions, Network, Wanted};
use bass_tui::engine::{DraftLength, Engine, GenerateOptions, ModelDrafter};
use bass_tui::model::{Model, TensorType};
use bass_tui::sampling::{Accept, Sampling};

fn load(dtype: Dtype) -> LoadOptions {
    LoadOptions { dtype, threads: 2, ..LoadOptions::default() }
}

fn network(model: &Model, dtype: Dtype, gpu: &Arc<Gpu>) -> CudaNetwork {
    CudaNetwork::new(model, load(dtype), gpu).expect("loadable")
}

/// Prompts of the golden models up to this length: the emulator is slow.
const LONGEST: usize = 15;

macro_rules! golden {
    ($($name:ident: $case:literal),* $(,)?) => {
        $(#[test] fn $name() {
            if let Some(gpu) = gpu(1) {
                check_on($case, LONGEST, &|model| network(model, Dtype::F32, &gpu));
            }
        })*
    };
}

// One of every kind of layer.
golden! {
    codegen: "codegen",
    gemma2: "gemma2",
    gemma3: "gemma3",
    gemma4: "gemma4",
    gemma4_with_experts: "gemma4-moe",
    gemma4_with_inputs_of_blocks_and_shared_keys: "gemma4-e",
    gpt_oss: "gpt-oss",
    gpt2: "gpt2",
    gpt_bigcode_with_one_key: "gpt-bigcode-mqa",
    granite: "granite",
    llama: "llama",
    ministral3: "ministral3",
    mixtral: "mixtral",
    opt_with_norms_after_and_projections: "opt-post-proj",
    phi: "phi",
    qwen2: "qwen2",
    qwen3: "qwen3",
    qwen3_moe: "qwen3-moe",
    qwen3_5: "qwen3-5",
    qwen3_5_with_experts: "qwen3-5-moe",
    qwen3_next: "qwen3-next",
    mellum: "mellum",
    phi_with_norms_of_heads: "phi-qk-norm",
    smollm3: "smollm3",
    stablelm_side_by_side: "stablelm-parallel",
}

/// The windows of the first are shorter than the text, which reaches into the second chunk of attention. Each
/// model runs in three orders, and each order with several models.
#[test]
fn rows_are_the_same_in_any_company_and_any_order_of_threads() {
    let cases = [
        ("qwen2-sliding", Dtype::F32),
        ("qwen2-sharded", Dtype::Auto),
        ("mixtral", Dtype::Auto),
        ("qwen3-moe", Dtype::F32),
        ("qwen3-5-moe", Dtype::F32),
        ("gemma4-e", Dtype::F32),
        ("gemma4-moe", Dtype::Auto),
        ("gpt-oss", Dtype::Auto),
    ];
    for (number, (case, dtype)) in cases.into_iter().enumerate() {
        let model = model(case);
        let text = tokens(31, 280);
        let mut expected: Vec<Bits> = Vec::new();
        let others = ORDERS - 1;
        let orders = [0, 1 + number % others, 1 + (number + 1) % others];
        for order in orders {
            let Some(gpu) = gpu(order) else { return };
            let mut network = network(&model, dtype, &gpu);
            let prompt = network.open(250).expect("memory");
            pass(&mut network, &[(prompt, 0, &text[..250])], Wanted::Nothing);
            let forks = network.fork(prompt, 3, 60).expect("memory");
            if order == 0 {
                for at in 250..280 {
                    pass(&mut network, &[(forks[1], at, &text[at..=at])], Wanted::Last);
                    expected.push(bits(&network, 0));
                }
                network.set_len(forks[1], 250);
            }
            let (noise, more) = (tokens(32, 11), tokens(33, 2));
            let mut at = 250;
            for len in [1, 4, 8, 17] {
                let parts = [(forks[0], 250, &noise[..]), (forks[1], at, &text[at..at + len]), (forks[2], 250, &more)];
                pass(&mut network, &parts, Wanted::All);
                for row in 0..len {
                    assert_eq!(
                        bits(&network, 11 + row),
                        expected[at - 250 + row],
                        "{case}, order {order}, {at} + {row}"
                    );
                }
                at += len;
            }
            if order != orders[2] {
                continue;
            }
            // From the beginning, in slabs of another size than the prompt's.
            let again = network.open(280).expect("memory");
            pass(&mut network, &[(again, 0, &text[..100])], Wanted::Nothing);
            pass(&mut network, &[(again, 100, &text[100..])], Wanted::Last);
            assert_eq!(bits(&network, 0), expected[29], "{case}, order {order}");
        }
    }
}

/// Logits of all positions.
fn logits(mut network: impl HostLogits, text: &[u32]) -> Vec<f32> {
    let seq = network.open(text.len()).expect("memory");
    pass(&mut network, &[(seq, 0, text)], Wanted::All);
    (0..text.len()).flat_map(|row| network.logits(row).to_vec()).collect()
}

fn on_cpu(model: &Model, dtype: Dtype) -> CpuNetwork {
    CpuNetwork::new(model, load(dtype), Kernels::best()).expect("loadable")
}

/// Weights are never rounded again; inputs are, to 11 binary digits of f16.
#[test]
fn blocks_of_files_are_computed_with_as_the_numbers_that_they_mean() {
    let Some(gpu) = gpu(2) else { return };
    let text = tokens(38, 13);
    // Rows of 96, of 64 and of 32 inputs take the place of 128.
    let cases = [
        ("qwen2", "qwen2", TensorType::Q8_0, 128.0 / 96.0),
        ("llama", "llama", TensorType::Q4_0, 128.0 / 64.0),
        ("mixtral", "llama", TensorType::Q8_0, 128.0 / 32.0),
        ("mixtral", "llama", TensorType::Q4_0, 128.0 / 32.0),
        ("llama", "llama", TensorType::Iq4Nl, 128.0 / 64.0),
        ("mixtral", "llama", TensorType::Mxfp4, 128.0 / 32.0),
    ];
    for (case, architecture, dtype, place) in cases {
        let (_folder, path) = gguf::file(case, architecture, dtype);
        let model = gguf::load(&path);
        let own = network(&model, Dtype::Auto, &gpu);
        let (info, stored) = (own.info(), std::fs::metadata(&path).expect("a file").len() as f64);
        assert_eq!(info.dtype, dtype.to_string().to_lowercase(), "{case}");
        let bytes = info.weight_bytes as f64;
        assert!(bytes <= place * stored, "{case}: {bytes} bytes of a file of {stored}");
        let own = logits(own, &text);
        let decoded = logits(network(&model, Dtype::F32, &gpu), &text);
        let error = mean_error(&own, &decoded);
        assert!(error < ROUNDED_INPUTS, "{case} in {dtype}: {error}");
        let expected = logits(on_cpu(&model, Dtype::F32), &text);
        let worst = decoded.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < golden::TOLERANCE, "{case} in {dtype}: off by {worst}");
    }
}

/// Relative change of logits where inputs are rounded to f16 in all layers: four times 2^-11.
const ROUNDED_INPUTS: f64 = 0.002;

/// By the size of what is expected.
fn mean_error(found: &[f32], expected: &[f32]) -> f64 {
    let mean = |of: &dyn Fn(f32, f32) -> f64| found.iter().zip(expected).map(|(&a, &b)| of(a, b)).sum::<f64>();
    mean(&|a, b| f64::from((a - b).abs())) / mean(&|_, b| f64::from(b.abs()))
}

/// bf16 as two parts of the inputs: nearly the logits of decoded weights and whole inputs.
#[test]
fn inputs_of_bf16_weights_are_kept_to_16_digits() {
    let Some(gpu) = gpu(2) else { return };
    let (text, model) = (tokens(38, 13), model("qwen2-sharded"));
    let own = network(&model, Dtype::Auto, &gpu);
    assert_eq!(own.info().dtype, "bf16");
    let error = mean_error(&logits(own, &text), &logits(network(&model, Dtype::F32, &gpu), &text));
    assert!(error < 4.0 * 2.0f64.powi(-16), "{error}");
}

/// The weights are the CPU's, which rounds the inputs to whole numbers.
#[test]
fn weights_of_whole_numbers_are_those_of_the_cpu_and_drafts_change_nothing() {
    let Some(gpu) = gpu(3) else { return };
    let (text, prompt) = (tokens(39, 13), tokens(40, 20));
    for (dtype, name) in [(Dtype::Int8, "int8"), (Dtype::Int4, "int4")] {
        let (model, draft) = (model("llama"), without_last_layer("llama"));
        let main = network(&model, dtype, &gpu);
        assert_eq!((main.info().dtype, main.info().weights > 0), (name, true));
        let (found, expected) = (logits(main, &text), logits(on_cpu(&model, dtype), &text));
        let error = mean_error(&found, &expected);
        assert!(error < 0.03, "{name}: {error}");

        let drafter = ModelDrafter::new("draft", Box::new(network(&draft, dtype, &gpu)));
        let main = Box::new(network(&model, dtype, &gpu));
        let mut engine = Engine::new(main, model.tokenizer, Vec::new(), Some(Box::new(drafter)));
        let expected = generate(&mut engine, &prompt, &options(2, 12, PLAIN, Sampling::GREEDY));
        let got = generate(&mut engine, &prompt, &options(2, 12, DraftLength::Fixed(4), Sampling::GREEDY));
        assert!(got.summary.drafted > 8, "{name}: nothing drafted");
        assert_eq!((&got.ids[0], got.bits(0)), (&expected.ids[0], expected.bits(0)), "{name}");
    }
}

#[test]
fn prompts_are_cut_back_and_what_is_closed_is_given_back() {
    let Some(gpu) = gpu(3) else { return };
    let text = tokens(34, 20);
    let mut network = network(&model("llama"), Dtype::F32, &gpu);
    let fresh = network.open(20).expect("memory");
    pass(&mut network, &[(fresh, 0, &text)], Wanted::Last);
    let expected = bits(&network, 0);
    let prompt = network.open(12).expect("memory");
    pass(&mut network, &[(prompt, 0, &text[..7])], Wanted::Nothing);
    pass(&mut network, &[(prompt, 7, &tokens(35, 5))], Wanted::Nothing);
    let forks = network.fork(prompt, 2, 4).expect("memory");
    network.resize(prompt, 7, 20).expect("memory");
    pass(&mut network, &[(prompt, 7, &text[7..])], Wanted::Last);
    assert_eq!(bits(&network, 0), expected);
    assert!(network.kv_bytes() > 0);
    forks.into_iter().chain([prompt, fresh]).for_each(|seq| network.close(seq));
    assert_eq!(network.kv_bytes(), 0);
    if !is_emulated() {
        return;
    }
    // More than the device has.
    let error = network.open(2048).and_then(|seq| network.fork(seq, 4000, 2000)).expect_err("no memory").to_string();
    assert!(error.starts_with("no memory for ") && error.contains("K/V"), "{error}");
}

#[test]
fn drafts_change_nothing_and_greedy_tokens_are_those_of_the_cpu() {
    let Some(gpu) = gpu(4) else { return };
    // Without its last layer the MLPs of one of these would have other widths.
    let other = |case| if case == "gemma4-e" { model("gemma") } else { without_last_layer(case) };
    let cases = [
        ("llama", Dtype::F32),
        ("qwen2-sharded", Dtype::Auto),
        ("qwen3-moe", Dtype::F32),
        ("qwen3-5", Dtype::F32),
        ("gemma4-e", Dtype::F32),
        ("gpt-oss", Dtype::F32),
    ];
    for (case, dtype) in cases {
        let (model, draft) = (model(case), other(case));
        let prompt = tokens(36, 40);
        let cpu = Box::new(CpuNetwork::new(&model, load(dtype), Kernels::best()).expect("loadable"));
        let mut cpu = Engine::new(cpu, super::network::model(case).tokenizer, Vec::new(), None);
        let drafter = ModelDrafter::new("draft", Box::new(network(&draft, dtype, &gpu)));
        let main = Box::new(network(&model, dtype, &gpu));
        let mut engine = Engine::new(main, model.tokenizer, Vec::new(), Some(Box::new(drafter)));
        let filtered = Sampling { top_k: Some(300), top_p: Some(0.9), repetition_penalty: Some(1.2), ..WARM };
        for (sampling, n, length) in [(Sampling::GREEDY, 1, DraftLength::Fixed(4)), (filtered, 3, DraftLength::Bass)] {
            let with = |n, length| options(n, 12, length, sampling);
            let expected = generate(&mut engine, &prompt, &with(2, PLAIN));
            assert_eq!(expected.ids, generate(&mut cpu, &prompt, &with(2, PLAIN)).ids, "{case}");
            let got = generate(&mut engine, &prompt, &with(n, length));
            assert!(got.summary.drafted > 8, "{case}: nothing drafted");
            for candidate in 0..n.min(2) {
                assert_eq!(got.ids[candidate], expected.ids[candidate], "{case}, {length:?}");
                assert_eq!(got.bits(candidate), expected.bits(candidate), "{case}, {length:?}");
            }
        }
    }
}

/// Drafts and their distributions stay on the device, whichever rule accepts them; drafts of a lookup, and
/// those of a draft model on the CPU, come from the host.
#[test]
fn rejection_gives_the_tokens_of_the_cpu_wherever_the_drafts_are() {
    let Some(gpu) = gpu(2) else { return };
    let prompt = tokens(37, 20);
    let on_cpu = |model: &Model| -> Box<dyn Network> {
        Box::new(CpuNetwork::new(model, load(Dtype::F32), Kernels::best()).expect("loadable"))
    };
    let on_gpu = |model: &Model| -> Box<dyn Network> { Box::new(network(model, Dtype::F32, &gpu)) };
    let sampling = Sampling { temperature: 1.2, top_p: Some(0.95), min_p: Some(0.01), ..WARM };
    let accept = Accept::Rejection;
    let write = |main: Box<dyn Network>, draft: Box<dyn Network>| {
        let drafter = ModelDrafter::new("draft", draft);
        let mut engine = Engine::new(main, model("llama").tokenizer, Vec::new(), Some(Box::new(drafter)));
        let options = GenerateOptions { accept, ..options(2, 12, DraftLength::Fixed(3), sampling) };
        let got = generate(&mut engine, &prompt, &options);
        (got.ids, got.summary.accepted)
    };
    let (model, draft) = (model("llama"), without_last_layer("llama"));
    let expected = write(on_cpu(&model), on_cpu(&draft));
    assert!(expected.1 > 0, "nothing accepted");
    assert_eq!(write(on_gpu(&model), on_gpu(&draft)), expected);
    assert_eq!(write(on_gpu(&model), on_cpu(&draft)), expected);
}

#[test]
fn states_go_back_on_the_device_and_leave_no_trace() {
    let Some(gpu) = gpu(LATE) else { return };
    let of = |case: &str| network(&model(case), Dtype::F32, &gpu);
    for case in ["qwen3-5", "qwen3-next"] {
        states::taken_back(case, &mut of(case), &[(1, 0), (5, 3), (7, 7), (17, 9), (2, 0)]);
    }
    states::written_over("qwen3-5-moe", &mut of("qwen3-5-moe"));
}

#[test]
fn states_belong_to_one_sequence_each_and_prompts_keep_some() {
    let Some(gpu) = gpu(1) else { return };
    let mut network = network(&model("qwen3-5"), Dtype::F32, &gpu);
    states::forks_and_strangers(&mut network);
    assert_eq!(states::cut_back(&mut network, 600), [0, 300, 600]);
}

/// Matrices in panels of 8 columns and groups of 16 channels.
#[test]
fn states_on_the_device_are_counted() {
    let Some(gpu) = gpu(0) else { return };
    let mut network = network(&model("qwen3-5"), Dtype::F32, &gpu);
    states::counted(&mut network, 4 * 4 * (4 * 16 * 24 + 3 * 160));
    if !is_emulated() {
        return;
    }
    // More than the device has: none of the forks is left.
    let prompt = network.open(8).expect("memory");
    let before = network.kv_bytes();
    network.fork(prompt, 20_000, 1).expect_err("no memory");
    assert_eq!(network.kv_bytes(), before);
}
