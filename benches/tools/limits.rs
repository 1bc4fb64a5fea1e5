//! Limits of the machine: reading memory, multiplying and adding.

use std::hint::black_box;
use std::time::Instant;

/// GB/s of summing up memory, with `threads` threads.
pub fn read_gb(memory: &[u8], threads: usize) -> f64 {
    let part = memory.len() / threads;
    let start = Instant::now();
    std::thread::scope(|scope| {
        for memory in memory.chunks_exact(part) {
            scope.spawn(move || black_box(sum(memory)));
        }
    });
    (part * threads) as f64 / start.elapsed().as_secs_f64() / 1e9
}

/// GFLOP/s of independent f32 multiply-adds, two per multiply-add, with `threads` threads.
pub fn gflops(threads: usize) -> f64 {
    const TIMES: usize = 10_000_000;
    let start = Instant::now();
    let lanes = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| multiply_add(TIMES))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(0)).sum::<usize>()
    });
    (2 * TIMES * lanes) as f64 / start.elapsed().as_secs_f64() / 1e9
}

#[cfg(target_arch = "x86_64")]
fn sum(memory: &[u8]) -> u64 {
    use std::arch::x86_64::{
        _MM_HINT_T1, _mm_prefetch, _mm256_add_epi64, _mm256_extract_epi64, _mm256_loadu_si256, _mm256_setzero_si256,
    };
    #[target_feature(enable = "avx2")]
    unsafe fn sum(memory: &[u8]) -> u64 {
        let mut sums = [_mm256_setzero_si256(); 8];
        for chunk in memory.chunks_exact(256) {
            // SAFETY: a chunk has 8 vectors; fetching needs no valid address.
            unsafe {
                for line in 0..4 {
                    _mm_prefetch::<_MM_HINT_T1>(chunk.as_ptr().wrapping_add(8192 + line * 64).cast());
                }
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = _mm256_add_epi64(*sum, _mm256_loadu_si256(chunk.as_ptr().add(i * 32).cast()));
                }
            }
        }
        let [a, b, c, d, e, f, g, h] = sums;
        let pair = |a, b| _mm256_add_epi64(a, b);
        let all = pair(pair(pair(a, b), pair(c, d)), pair(pair(e, f), pair(g, h)));
        _mm256_extract_epi64::<0>(all) as u64
    }
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: checked.
        return unsafe { sum(memory) };
    }
    memory.iter().map(|&byte| u64::from(byte)).sum()
}

#[cfg(not(target_arch = "x86_64"))]
fn sum(memory: &[u8]) -> u64 {
    memory.iter().map(|&byte| u64::from(byte)).sum()
}

/// Runs `times` rounds and returns the multiply-adds of each.
fn multiply_add(times: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
        #[target_feature(enable = "avx512f")]
        unsafe fn avx512(times: usize) -> usize {
            let mut sums = [_mm512_set1_ps(0.0); 12];
            let (a, b) = (_mm512_set1_ps(black_box(0.5)), _mm512_set1_ps(black_box(0.25)));
            for _ in 0..times {
                for sum in &mut sums {
                    *sum = _mm512_fmadd_ps(a, *sum, b);
                }
            }
            black_box(sums);
            12 * 16
        }
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2(times: usize) -> usize {
            let mut sums = [_mm256_set1_ps(0.0); 12];
            let (a, b) = (_mm256_set1_ps(black_box(0.5)), _mm256_set1_ps(black_box(0.25)));
            for _ in 0..times {
                for sum in &mut sums {
                    *sum = _mm256_fmadd_ps(a, *sum, b);
                }
            }
            black_box(sums);
            12 * 8
        }
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: checked.
            return unsafe { avx512(times) };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: checked.
            return unsafe { avx2(times) };
        }
    }
    let mut sums = [0.0f32; 16];
    let (a, b) = (black_box(0.5f32), black_box(0.25f32));
    for _ in 0..times {
        for sum in &mut sums {
            *sum = *sum * a + b;
        }
    }
    black_box(sums);
    16
}
