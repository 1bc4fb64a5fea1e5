use super::*;
use crate::backend::cpu::kv::Layout;

const HEADS: spec::Heads = spec::Heads { query: 4, kv: 2, dim: 20 };
/// One weighs as much as all positions, one next to nothing, one more than a float can tell from the rest.
const SINKS: [f32; HEADS.query] = [7.0, -30.0, 0.5, 200.0];
const POSITIONS: usize = 1300;
const ROWS: usize = 3;

/// Floats in -1..1.
fn values(seed: u32, len: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state) / f64::from(1u32 << 31) - 1.0
    };
    (0..len).map(|_| next() as f32).collect()
}

/// Keys or values of a position, `[kv_heads * head_dim]`.
fn of_position(seed: u32, position: usize) -> Vec<f32> {
    values(seed + 7919 * position as u32, HEADS.kv * HEADS.dim)
}

fn region(positions: Range<usize>) -> Region {
    let mut region =
        Region::new(&Layout::new([(HEADS.kv, HEADS.dim)].into_iter()), positions.len().max(1)).expect("memory");
    for position in positions.clone() {
        region.store(0, position - positions.start, &of_position(1, position), &of_position(2, position));
    }
    region
}

fn with(window: Option<usize>, soft_cap: Option<f32>) -> spec::Attention {
    let scale = (HEADS.dim as f32).sqrt().recip();
    spec::Attention {
        qkv_bias: false,
        output_bias: false,
        qk_norm: false,
        rotary: None,
        window,
        scale,
        soft_cap,
        gated: false,
        query_growth: None,
        heads: None,
        value_norm: false,
        value_is_key: false,
        keys_of: None,
        sinks: false,
        from: 0,
        ahead: false,
    }
}

/// The last rows of a text, `[rows, heads * head_dim]`.
fn attend(spec: &spec::Attention, border: usize, rows: usize, threads: usize, queries: &[f32]) -> Vec<f32> {
    let pool = Pool::new(threads);
    let width = HEADS.query * HEADS.dim;
    let scratch: Vec<Mutex<Scratch>> = (0..threads).map(|_| Mutex::default()).collect();
    let (shared, own) = (region(0..border), region(border..POSITIONS));
    let view =
        View { shared: (border > 0).then_some((&shared, border)), own: &own, start: POSITIONS - rows, rows: 0..rows };
    let kernels = Kernels::best();
    let attention = Attention {
        pool: &pool,
        kernels,
        heads: HEADS,
        spec,
        layer: 0,
        sinks: spec.sinks.then_some(&SINKS[..]),
        scratch: &scratch,
    };
    let mut out = vec![0.0; rows * width];
    attention.run(&[view], &queries[queries.len() - rows * width..], width, &mut Vec::new(), &mut out);
    out
}

/// By the formula, in f64.
fn expected(spec: &spec::Attention, queries: &[f32], row: usize) -> Vec<f64> {
    let (width, group) = (HEADS.dim, HEADS.query / HEADS.kv);
    let mut out = Vec::new();
    for head in 0..HEADS.query {
        let query = &queries[(row * HEADS.query + head) * width..][..width];
        let at = head / group * width..(head / group + 1) * width;
        let seen = POSITIONS - ROWS + row + 1;
        let first = spec.window.map_or(0, |window| seen.saturating_sub(window));
        let weights: Vec<f64> = (first..seen)
            .map(|position| {
                let key = &of_position(1, position)[at.clone()];
                let score: f64 = query.iter().zip(key).map(|(q, k)| f64::from(*q) * f64::from(*k)).sum();
                let score = score / (width as f64).sqrt();
                spec.soft_cap.map_or(score, |cap| f64::from(cap) * (score / f64::from(cap)).tanh()).exp()
            })
            .collect();
        let sink = if spec.sinks { f64::from(SINKS[head]).exp() } else { 0.0 };
        let sum: f64 = weights.iter().sum::<f64>() + sink;
        let mut channels = vec![0.0; width];
        for (position, weight) in (first..).zip(&weights) {
            for (channel, value) in channels.iter_mut().zip(&of_position(2, position)[at.clone()]) {
                *channel += weight / sum * f64::from(*value);
            }
        }
        out.extend(channels);
    }
    out
}

#[test]
fn long_texts_are_attended_to_in_chunks_that_nothing_else_moves() {
    let width = HEADS.query * HEADS.dim;
    // Large enough that the largest scores lie in different chunks for different queries.
    let queries: Vec<f32> = values(3, ROWS * width).into_iter().map(|q| 8.0 * q).collect();
    let windows = [None, Some(1), Some(2), Some(100), Some(512), Some(513), Some(700), Some(POSITIONS)];
    for (window, soft_cap) in windows.into_iter().zip([None, None, Some(2.0), None, Some(5.0), None, None, Some(9.0)]) {
        check(&with(window, soft_cap), &queries);
    }
    for window in [None, Some(1), Some(513)] {
        check(&spec::Attention { sinks: true, ..with(window, None) }, &queries);
    }
}

fn check(spec: &spec::Attention, queries: &[f32]) {
    let width = HEADS.query * HEADS.dim;
    let attend = |border, rows, threads| attend(spec, border, rows, threads, queries);
    let together = attend(0, ROWS, 1);
    for (row, found) in together.chunks(width).enumerate() {
        for (found, expected) in found.iter().zip(expected(spec, queries, row)) {
            assert!((f64::from(*found) - expected).abs() < 1e-5, "{spec:?}, row {row}: {found} for {expected}");
        }
    }
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for border in [0, 100, 512, 700, 1024, 1290] {
        for threads in [1, 2, 5] {
            assert_eq!(bits(&attend(border, ROWS, threads)), bits(&together), "border {border}, {threads} threads");
            let alone = attend(border, 1, threads);
            assert_eq!(
                bits(&alone),
                bits(&together[(ROWS - 1) * width..]),
                "alone, border {border}, {threads} threads"
            );
        }
    }
}
