//! Each kernel against its twin on the CPU, in the emulator: odd sizes, and the same bits under every order
//! of threads.

mod blocks;
mod choices;
mod delta;
#[path = "../../../tests/shared/emulator/mod.rs"]
mod emulator;
mod experts;
mod faults;
mod gpu_check;
mod graphs;
mod layers;
mod products;

use std::sync::Arc;

use super::gpu::{Buffer, Gpu};
use super::kernels::Kernel;
use super::launches::Launches;
use crate::backend::BackendError;
use crate::backend::plain::Plain;
use crate::skip;

impl Gpu {
    /// Launches a kernel at once; `memory` is the shared memory of a block.
    fn launch<P: Plain>(
        &self,
        kernel: &Kernel<P>,
        grid: [usize; 3],
        memory: usize,
        params: P,
    ) -> Result<(), BackendError> {
        let mut launches = Launches::default();
        launches.add(kernel, grid, memory, params);
        launches.run(self, self.stream())
    }
}

/// Numbers between -1 and 1; different for every `seed`.
fn numbers(seed: u32, len: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

fn send<T: Plain>(gpu: &Arc<Gpu>, values: &[T]) -> Buffer {
    let mut buffer = gpu.alloc(size_of_val(values)).expect("memory");
    buffer.write(0, values).expect("written");
    buffer
}

fn receive(buffer: &Buffer) -> Vec<f32> {
    let mut values = vec![0.0; buffer.bytes() / size_of::<f32>()];
    buffer.read(0, &mut values).expect("read");
    values
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Results of `run`, which must be equal under every order of threads.
fn in_any_order(run: impl Fn(&Arc<Gpu>) -> Vec<f32>) -> Option<Vec<f32>> {
    let first = run(&emulator::gpu(0)?);
    for order in 1..emulator::orders() {
        assert_eq!(bits(&run(&emulator::gpu(order)?)), bits(&first), "order {order}");
    }
    Some(first)
}

fn assert_close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (&found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((f64::from(found) - expected).abs() <= tolerance, "{what}, {i}: {found} for {expected}");
    }
}
