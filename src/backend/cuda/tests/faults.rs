//! Planted faults: the checks above see a barrier that is missing, a border that is off by one, a race; and
//! `AddressSanitizer` sees what is read beside a buffer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::super::SOURCE;
use super::super::gpu::Gpu;
use super::products::{product, sent, values};
use super::{bits, delta, emulator, experts, layers, numbers};
use crate::backend::storage::Storage;
use crate::model::TensorType;

/// A check: what kernels give.
type Run = fn(&Arc<Gpu>) -> Vec<f32>;

/// True if kernels with this fault give something else than whole ones, fail, or depend on the order of
/// threads.
fn is_seen(name: &str, right: &str, wrong: &str, run: Run) -> Option<bool> {
    let whole = bits(&run(&emulator::gpu(0)?));
    let sources = &*SOURCE;
    assert!(sources.contains(right), "{name}: nothing to break");
    let module = emulator::built(name, &sources.replacen(right, wrong, 1), &["-O0"])?;
    let libraries = emulator::libraries(&module)?;
    let differs = |order| {
        let gpu = emulator::opened(&libraries, order);
        catch_unwind(AssertUnwindSafe(|| run(&gpu))).map_or(true, |found| bits(&found) != whole)
    };
    Some((0..emulator::ORDERS).any(differs))
}

fn attention(gpu: &Arc<Gpu>) -> Vec<f32> {
    layers::attention(gpu, (70, 20, 6), &layers::plain_attention())
}

fn floats(gpu: &Arc<Gpu>) -> Vec<f32> {
    let weights = sent(gpu, &values(Storage::F32, 33, 40), (33, 40), Storage::F32);
    product(gpu, &weights, (&numbers(2, 9 * 40), None), false)
}

fn halves(gpu: &Arc<Gpu>) -> Vec<f32> {
    let weights = sent(gpu, &values(Storage::Bf16, 33, 2000), (33, 2000), Storage::Bf16);
    product(gpu, &weights, (&numbers(2, 9 * 2000), None), false)
}

/// Several slices of several blocks of outputs.
fn wide(gpu: &Arc<Gpu>) -> Vec<f32> {
    let weights = sent(gpu, &values(Storage::Int8, 130, 600), (130, 600), Storage::Int8);
    product(gpu, &weights, (&numbers(2, 20 * 600), None), false)
}

fn blocks(gpu: &Arc<Gpu>) -> Vec<f32> {
    let storage = Storage::Stored(TensorType::Q6K);
    let weights = sent(gpu, &values(storage, 5, 256), (5, 256), storage);
    product(gpu, &weights, (&numbers(2, 256), None), false)
}

#[test]
fn planted_faults_are_seen() {
    if emulator::real().is_some() {
        return crate::skip::as_it_cannot("no emulator runs kernels", "faults that are planted into them");
    }
    let barrier = "  __syncthreads();\n\n  // Weights take the places of scores";
    let half = "scales[block] >> (8 * half) & 255;";
    let taken = "__syncwarp();\n  for (int n = lane;";
    let landed = "oldest_landed(stages);\n    // The copies";
    let stage = "__syncthreads();\n    fetch(true, true);";
    let together = "__syncthreads();\n    const int all = count";
    let staged = "staged->rates[thread / 2][thread % 2] = next_rate;\n    __syncthreads();";
    let squares = "__syncthreads();\n    // Eight lanes";
    let cases: [(&str, &str, &str, Run); 19] = [
        ("-barrier", barrier, "  // Weights take the places of scores", attention),
        (
            "-unseen",
            "place >= first && place < last ? exponential(weights",
            "place >= first ? exponential(weights",
            attention,
        ),
        ("-lower", "two_halves(a - above_a, b - above_b)", "0", attention),
        ("-border", "outputs = smaller(GEMM_OUTPUTS, m.outputs - output);", "outputs = GEMM_OUTPUTS;", floats),
        ("-race", "  __syncwarp();\n", "", floats),
        ("-half", half, "scales[block] & 255;", blocks),
        ("-landed", landed, "oldest_landed(stages + 1);\n    // The copies", halves),
        ("-stage", stage, "fetch(true, true);", halves),
        ("-early", "  after_the_last();\n  next = 0;", "  next = 0;", halves),
        ("-together", together, "const int all = count", halves),
        ("-pairs", "memory[(pair + 1) * all + i]", "memory[pair * all + i]", halves),
        ("-last", "p.arrived + blockIdx.y * gridDim.x + blockIdx.x", "p.arrived", wide),
        ("-taken", taken, "for (int n = lane;", experts::mixture),
        ("-rows", "p.rows[place] = i / p.used;", "p.rows[place] = 0;", experts::mixture),
        ("-staged", staged, "staged->rates[thread / 2][thread % 2] = next_rate;", delta::pieces),
        ("-squares", squares, "// Eight lanes", delta::pieces),
        ("-settled", "if (row == piece.settle && row > 0) keep();", "", delta::pieces),
        ("-ring", "(piece.log_first + place) % piece.log_rows", "place % piece.log_rows", delta::pieces),
        ("-numbers", "chosen[before] = numbers[n];", "chosen[n] = numbers[n];", experts::mixture),
    ];
    for (name, right, wrong, run) in cases {
        assert_ne!(is_seen(name, right, wrong, run), Some(false), "{name} is not seen");
    }
}

/// All checks of kernels once more, where nothing may be read or written beside a buffer or a block's own
/// memory.
#[test]
fn nothing_is_touched_beside_buffers() {
    let tests = [
        "backend::cuda::tests::blocks", "backend::cuda::tests::experts", "backend::cuda::tests::layers",
        "backend::cuda::tests::products", "backend::cuda::tests::choices", "backend::cuda::tests::delta",
    ];
    let Some((said, passed)) = emulator::sanitized("-sanitized", &SOURCE, &tests) else {
        return crate::skip::for_want_of("g++ with AddressSanitizer on x86-64", "what kernels read beside buffers");
    };
    assert!(passed && said.contains(" passed") && !said.contains("running 0 tests"), "{said}");

    // The last row of a product is read once more: the result is right, and nobody else would see it.
    let (right, wrong) =
        ("if (r >= rows) break;", "if (r >= rows) { if (x[(size_t)r * m.inputs] > 1e30f) p.out[0] = 0.0f; break; }");
    let sources = &*SOURCE;
    assert!(sources.contains(right), "nothing to break");
    let test =
        "backend::cuda::tests::products::products_of_every_storage_are_those_of_the_weights_that_the_cpu_decodes";
    let planted = emulator::sanitized("-beyond", &sources.replacen(right, wrong, 1), &[test]);
    let (said, passed) = planted.expect("the same compiler");
    assert!(!passed && said.contains("AddressSanitizer") && said.contains("kernels.inc"), "{said}");
}
