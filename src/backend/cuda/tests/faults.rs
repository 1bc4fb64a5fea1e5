//! Planted faults: the checks above see a barrier that is missing, a border that is off by one, a race; and
//! `AddressSanitizer` sees what is read beside a buffer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use libloading::Library;

use super::super::gpu::Gpu;
use super::super::{Libraries, SOURCE};
use super::products::{product, sent, values};
use super::{bits, delta, emulator, experts, layers, numbers};
use crate::backend::storage::Storage;
use crate::model::TensorType;

/// A check: what kernels give.
type Run = fn(&Arc<Gpu>) -> Vec<f32>;

/// Text of the kernels, the same with a fault, and the check that sees it.
type Case = (&'static str, &'static str, Run);

/// The kernels with all faults in one module, and what chooses one by its number; 0 is none.
struct Planted {
    libraries: Libraries,
    module: Library,
}

impl Planted {
    /// `None` without a compiler. In the wrong text `@` is true if its fault is chosen.
    fn of(cases: &[Case]) -> Option<Planted> {
        let mut sources = format!("extern \"C\" {{ int planted_fault; }}\n{}", *SOURCE);
        for (number, (right, wrong, _)) in (1..).zip(cases) {
            assert!(sources.contains(right), "fault {number}: nothing to break: {right}");
            sources = sources.replacen(right, &wrong.replace('@', &format!("(planted_fault == {number})")), 1);
        }
        let module = emulator::built("-faults", &sources, &["-O1"])?;
        let libraries = emulator::libraries(&module)?;
        // SAFETY: the library does nothing when it is loaded; the driver opens the same one.
        let module = unsafe { Library::new(module) }.expect("a module that was built");
        Some(Planted { libraries, module })
    }

    /// Bits of what `run` gives with this fault under an order of threads; `None` if it fails.
    fn bits(&self, fault: i32, order: usize, run: Run) -> Option<Vec<u32>> {
        // SAFETY: a number of the module, which only this thread uses.
        unsafe { **self.module.get::<*mut i32>(b"planted_fault").expect("the number of the fault") = fault };
        let gpu = emulator::opened(&self.libraries, order);
        catch_unwind(AssertUnwindSafe(|| bits(&run(&gpu)))).ok()
    }
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
    let cases: [Case; 19] = [
        (
            "  __syncthreads();\n\n  // Weights take the places of scores",
            "  if (!@) __syncthreads();\n\n  // Weights take the places of scores",
            attention,
        ),
        (
            "place >= first && place < last ? exponential(weights",
            "place >= first && (@ || place < last) ? exponential(weights",
            attention,
        ),
        ("two_halves(a - above_a, b - above_b)", "@ ? 0 : two_halves(a - above_a, b - above_b)", attention),
        (
            "outputs = smaller(GEMM_OUTPUTS, m.outputs - output);",
            "outputs = @ ? GEMM_OUTPUTS : smaller(GEMM_OUTPUTS, m.outputs - output);",
            floats,
        ),
        ("  __syncwarp();\n", "  if (!@) __syncwarp();\n", floats),
        ("scales[block] >> (8 * half) & 255;", "scales[block] >> (@ ? 0 : 8 * half) & 255;", blocks),
        ("oldest_landed(stages);\n    // The copies", "oldest_landed(stages + @);\n    // The copies", halves),
        ("__syncthreads();\n    fetch(true, true);", "if (!@) __syncthreads();\n    fetch(true, true);", halves),
        ("  after_the_last();\n  next = 0;", "  if (!@) after_the_last();\n  next = 0;", halves),
        ("__syncthreads();\n    const int all = count", "if (!@) __syncthreads();\n    const int all = count", halves),
        ("memory[(pair + 1) * all + i]", "memory[(pair + !@) * all + i]", halves),
        (
            "p.arrived + blockIdx.y * gridDim.x + blockIdx.x",
            "p.arrived + !@ * (blockIdx.y * gridDim.x + blockIdx.x)",
            wide,
        ),
        ("__syncwarp();\n  for (int n = lane;", "if (!@) __syncwarp();\n  for (int n = lane;", experts::mixture),
        ("p.rows[place] = i / p.used;", "p.rows[place] = @ ? 0 : i / p.used;", experts::mixture),
        (
            "[thread % 2] = next_rate;\n    __syncthreads();",
            "[thread % 2] = next_rate;\n    if (!@) __syncthreads();",
            delta::pieces,
        ),
        ("__syncthreads();\n    // Eight lanes", "if (!@) __syncthreads();\n    // Eight lanes", delta::pieces),
        (
            "if (row == piece.settle && row > 0) keep();",
            "if (!@ && row == piece.settle && row > 0) keep();",
            delta::pieces,
        ),
        (
            "(piece.log_first + place) % piece.log_rows",
            "((@ ? 0 : piece.log_first) + place) % piece.log_rows",
            delta::pieces,
        ),
        ("chosen[before] = numbers[n];", "chosen[@ ? n : before] = numbers[n];", experts::mixture),
    ];
    let Some(planted) = Planted::of(&cases) else { return };
    for (fault, (right, _, run)) in (1..).zip(cases) {
        let whole = planted.bits(0, 0, run);
        assert!(whole.is_some(), "{right}: fails without a fault");
        let is_seen = (0..emulator::ORDERS).any(|order| planted.bits(fault, order, run) != whole);
        assert!(is_seen, "{right}: its fault is not seen");
    }
}

/// All checks of kernels once more, in one order of threads, where nothing may be read or written beside a
/// buffer or a block's own memory.
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
