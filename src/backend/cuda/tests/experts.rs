//! Mixtures of experts: who is chosen, who is multiplied together, and what comes of it.

use std::sync::Arc;

use super::super::experts::{Choices, Router, TOGETHER, Tables, experts, most_groups};
use super::super::gpu::{Buffer, Gpu};
use super::super::kernels;
use super::super::matrix::{Matrix, STORAGES};
use super::super::plan::Attended;
use super::super::products::mlp;
use super::super::queue::{Again, Queue};
use super::products::{sent, values};
use super::{bits, emulator, in_any_order, numbers, receive, send};
use crate::backend::cpu::twins::choose;
use crate::backend::storage::Storage;
use crate::backend::weights::MlpWeights;
use crate::model::TensorType;
use crate::model::spec::{Activation, Experts, Mlp};

fn integers(buffer: &Buffer) -> Vec<i32> {
    let mut values = vec![0; buffer.bytes() / size_of::<i32>()];
    buffer.read(0, &mut values).expect("read");
    values
}

/// Rows of logits of which the last one is padding; some are equal, and one is no number.
fn logits(rows: usize, count: usize) -> Vec<f32> {
    let mut logits = numbers(11, rows * count);
    for (i, logit) in logits.iter_mut().enumerate() {
        match i % 7 {
            0 => *logit = 0.5,
            1 => *logit = 0.0,
            2 => *logit = -0.0,
            _ => *logit *= 9.0,
        }
    }
    if count > 4 {
        logits[3] = f32::NAN;
    }
    logits
}

#[test]
fn the_experts_of_a_row_and_their_shares_are_those_of_the_cpu_to_the_bit() {
    const ROWS: usize = 5;
    for (count, used) in [(1, 1), (2, 1), (8, 3), (8, 8), (33, 4), (60, 40), (128, 8)] {
        for (normalised, factors) in [(true, false), (false, false), (true, true)] {
            let logits = logits(ROWS, count);
            let found = in_any_order(|gpu| {
                let there = send(gpu, &logits);
                let positions = send(gpu, &[0, 7, 3, 300, -1]);
                let of_experts = send(gpu, &numbers(15, count));
                let [chosen, shares] = [(); 2].map(|()| send(gpu, &vec![f32::NAN; ROWS * used]));
                let params = kernels::ChooseExperts {
                    logits: there.at(),
                    positions: positions.at(),
                    factors: if factors { of_experts.at() } else { 0 },
                    chosen: chosen.at(),
                    shares: shares.at(),
                    count: count as i32,
                    used: used as i32,
                    normalised: i32::from(normalised),
                    padding: 0,
                };
                gpu.launch(&kernels::CHOOSE_EXPERTS, [ROWS, 1, 1], used * 8, params).expect("launched");
                let chosen = integers(&chosen).into_iter().map(|expert| expert as f32).collect();
                [chosen, receive(&shares)].concat()
            });
            let Some(found) = found else { return };
            let (chosen, shares) = found.split_at(ROWS * used);
            let spec = Experts { count, used, normalised, shared: None, router_bias: false };
            for (row, logits) in logits.chunks(count).enumerate() {
                let mut expected = choose(spec, &mut logits.to_vec());
                if factors {
                    let of_experts = numbers(15, count);
                    for (expert, share) in &mut expected {
                        *share *= of_experts[*expert];
                    }
                }
                expected.sort_by_key(|(expert, _)| *expert);
                if row == ROWS - 1 {
                    expected = vec![(usize::MAX, 0.0); used];
                }
                let of = row * used..(row + 1) * used;
                let found: Vec<(usize, u32)> = chosen[of.clone()]
                    .iter()
                    .zip(&shares[of])
                    .map(
                        |(&expert, share)| {
                            if expert < 0.0 { (usize::MAX, 0) } else { (expert as usize, share.to_bits()) }
                        },
                    )
                    .collect();
                let expected: Vec<(usize, u32)> =
                    expected.into_iter().map(|(expert, share)| (expert, share.to_bits())).collect();
                // Which of the ways not to be a number it is, nobody asks.
                if row == 0 && count > 4 {
                    let numbers = |taken: &[(usize, u32)]| taken.iter().map(|(expert, _)| *expert).collect::<Vec<_>>();
                    assert_eq!(numbers(&found), numbers(&expected), "{spec:?}, row {row}");
                } else {
                    assert_eq!(found, expected, "{spec:?}, row {row}");
                }
            }
        }
    }
}

/// Every choice has one place; those of an expert are in the order of rows, in groups that are not too large.
#[test]
fn choices_of_an_expert_are_put_together() {
    let random = |experts: usize, rows: usize, used: usize| {
        let draws = numbers(12, rows * experts);
        let mut chosen = Vec::new();
        for draws in draws.chunks(experts) {
            let mut order: Vec<usize> = (0..experts).collect();
            order.sort_by(|&a, &b| draws[a].total_cmp(&draws[b]));
            order.truncate(used);
            order.sort_unstable();
            chosen.extend(order.into_iter().map(|expert| expert as i32));
        }
        chosen
    };
    let mut cases = vec![(1, 1, vec![0]), (4, 1, vec![3; 40]), (300, 2, random(300, 17, 2)), (8, 3, random(8, 70, 3))];
    // As many groups as there can be: every expert has one that is not full.
    cases.push((8, 1, [vec![0; 17], (1..8).collect()].concat()));
    assert_eq!(most_groups(24, 8, TOGETHER), 3 + 7);
    // Padding behind the rows, and nothing else.
    cases.push((8, 3, [random(8, 5, 3), vec![-1; 9]].concat()));
    cases.push((8, 2, vec![-1; 8]));
    for (count, used, chosen) in cases {
        let most = TOGETHER;
        let (choices, groups) = (chosen.len(), most_groups(chosen.len(), count, most));
        let found = in_any_order(|gpu| {
            let there = send(gpu, &chosen);
            let [rows, places, together] = [groups * most, choices, 2 * groups].map(|len| send(gpu, &vec![-7i32; len]));
            let params = kernels::GroupChoices {
                chosen: there.at(),
                rows: rows.at(),
                places: places.at(),
                together: together.at(),
                choices: choices as i32,
                used: used as i32,
                experts: count as i32,
                groups: groups as i32,
                most: most as i32,
                padding: 0,
            };
            gpu.launch(&kernels::GROUP_CHOICES, [1, 1, 1], count * 4, params).expect("launched");
            [rows, places, together].iter().flat_map(integers).map(|number| number as f32).collect()
        });
        let Some(found) = found else { return };
        let found: Vec<i32> = found.into_iter().map(|number| number as i32).collect();
        let (rows, rest) = found.split_at(groups * most);
        let (places, together) = rest.split_at(choices);
        let mut sorted: Vec<usize> = (0..choices).filter(|&choice| chosen[choice] >= 0).collect();
        sorted.sort_by_key(|&choice| chosen[choice]);
        let mut sorted = sorted.into_iter().peekable();
        for (group, (together, rows)) in together.chunks(2).zip(rows.chunks(most)).enumerate() {
            let (expert, len) = (together[0], together[1] as usize);
            for (i, &row) in rows.iter().enumerate() {
                let Some(choice) = (i < len).then(|| sorted.next().expect("a choice")) else {
                    assert_eq!(row, 0, "{count}: nobody's place {i} of group {group}");
                    continue;
                };
                let place = (group * most + i) as i32;
                let found = (row, expert, places[choice]);
                assert_eq!(found, ((choice / used) as i32, chosen[choice], place), "{count}, {choice}");
            }
            // Rows of an expert are in one group as long as it has room.
            let more = sorted.peek().is_some_and(|&choice| chosen[choice] == expert);
            assert!(len == most || !more, "{count}: group {group}");
        }
        assert_eq!(sorted.next(), None, "{count}: a choice has no place");
        assert!((0..choices).all(|choice| chosen[choice] >= 0 || places[choice] == 0), "{count}");
    }
}

const COUNT: usize = 5;
const HIDDEN: usize = 256;
const INNER: usize = 256;
const MLP: Mlp = Mlp {
    intermediate: INNER,
    activation: Activation::Silu,
    gated: true,
    bias: true,
    experts: Some(Experts { count: COUNT, used: 2, normalised: true, shared: None, router_bias: false }),
};

/// A router and the experts, with biases.
struct Mixture {
    router: Matrix,
    mlps: Vec<MlpWeights<Matrix, Buffer>>,
}

impl Mixture {
    /// Gate, up and down of each expert in a storage each.
    fn new(gpu: &Arc<Gpu>, storages: impl Fn(usize) -> [Storage; 3]) -> Self {
        let matrix =
            |outputs, inputs, storage| sent(gpu, &values(storage, outputs, inputs), (outputs, inputs), storage);
        let bias = |seed, len| {
            let values: Vec<f32> = numbers(seed, len).iter().map(|x| 0.1 * x).collect();
            Some(send(gpu, &values))
        };
        let mlp = |expert: usize| {
            let [gate, up, down] = storages(expert);
            let (gate, up) = (matrix(INNER, HIDDEN, gate), matrix(INNER, HIDDEN, up));
            let pieces = gate.pieces.into_iter().chain(up.pieces).collect();
            MlpWeights {
                up: Matrix { pieces, outputs: 2 * INNER, inputs: HIDDEN },
                up_bias: bias(40 + expert as u32, 2 * INNER),
                down: matrix(HIDDEN, INNER, down),
                down_bias: bias(50 + expert as u32, HIDDEN),
            }
        };
        Self { router: matrix(COUNT, HIDDEN, Storage::F32), mlps: (0..COUNT).map(mlp).collect() }
    }

    /// The experts of rows, of which the last `padding` are nobody's.
    fn run(&self, gpu: &Arc<Gpu>, x: &[f32], padding: usize, add: bool) -> Vec<f32> {
        let queue = Queue::new(gpu, true);
        let rows = x.len() / HIDDEN;
        let tables = Tables::of(gpu, &self.mlps).expect("memory");
        let positions: Vec<i32> = (0..rows).map(|row| if row + padding < rows { row as i32 } else { -1 }).collect();
        let (x, out, positions) = (send(gpu, x), send(gpu, &vec![0.5f32; x.len()]), send(gpu, &positions));
        let mut chosen = Choices::new(&queue);
        let spec = MLP.experts.expect("a mixture");
        let room = chosen.room(spec, rows, HIDDEN).expect("memory");
        let between = [2, 1].map(|parts| gpu.alloc(room.size * parts * INNER * size_of::<f32>()).expect("memory"));
        let attended = Attended { rows, positions: positions.at(), tilings: Vec::new(), chunks: 0 };
        let between = (between[0].at(), between[1].at());
        let router = Router { weights: &self.router, bias: None, factors: None };
        router.choose(&queue, &room, x.at(), &attended);
        experts(&queue, MLP, (&tables, &room), between, (x.at(), out.at()), (rows, add));
        queue.start(Again::Hardly).expect("launched");
        receive(&out)
    }

    /// Output of one row: each of its experts by itself, as any other MLP.
    fn twin(&self, gpu: &Arc<Gpu>, x: &[f32], add: bool) -> Vec<f32> {
        let mut logits = super::products::product(gpu, &self.router, (x, None), false);
        let mut taken = choose(MLP.experts.expect("a mixture"), &mut logits);
        taken.sort_by_key(|(expert, _)| *expert);
        let (queue, x) = (Queue::new(gpu, true), send(gpu, x));
        let mut sum = vec![if add { 0.5 } else { 0.0 }; HIDDEN];
        for (expert, share) in taken {
            let between = [2, 1].map(|parts| gpu.alloc(parts * INNER * size_of::<f32>()).expect("memory"));
            let out = gpu.alloc(HIDDEN * size_of::<f32>()).expect("memory");
            let at = (between[0].at(), between[1].at());
            mlp(&queue, MLP, &self.mlps[expert], at, (x.at(), out.at()), (1, false));
            queue.start(Again::Hardly).expect("launched");
            queue.begin().expect("begun");
            for (sum, made) in sum.iter_mut().zip(receive(&out)) {
                *sum += share * made;
            }
        }
        sum
    }
}

/// Each row's experts give what they give to that row alone, in every storage, and padding gets nothing.
#[test]
fn rows_get_what_their_experts_make_of_them_alone() {
    const ROWS: usize = 11;
    let x = numbers(13, ROWS * HIDDEN);
    let check = |what: &str, storages: &dyn Fn(usize) -> [Storage; 3]| {
        let Some(gpu) = emulator::gpu(2) else { return };
        let mixture = Mixture::new(&gpu, storages);
        for add in [false, true] {
            let found = mixture.run(&gpu, &x, 1, add);
            for (row, found) in found.chunks(HIDDEN).enumerate().take(ROWS - 1) {
                let expected = mixture.twin(&gpu, &x[row * HIDDEN..(row + 1) * HIDDEN], add);
                assert!(expected.iter().all(|x| x.is_finite() && *x != 0.0), "{what}");
                assert_eq!(bits(found), bits(&expected), "{what}, row {row}");
            }
            let left = if add { 0.5 } else { 0.0 };
            assert!(found[(ROWS - 1) * HIDDEN..].iter().all(|&x| x.to_bits() == f32::to_bits(left)), "{what}");
            // Alone, and with others.
            for rows in [1, 4] {
                let few = mixture.run(&gpu, &x[..rows * HIDDEN], 0, add);
                assert_eq!(bits(&few), bits(&found[..rows * HIDDEN]), "{what}, {rows} rows");
            }
        }
    };
    for (storage, _) in STORAGES.iter() {
        check(storage.name(), &|_| [*storage; 3]);
    }
    // Experts, and the parts of one, that are stored in different ways.
    let q6 = Storage::Stored(TensorType::Q6K);
    let q8 = Storage::Stored(TensorType::Q8_0);
    check("different storages", &|expert| [[q6, q8, Storage::Bf16], [q8, q8, q6], [Storage::F16, q6, q6]][expert % 3]);
}

/// A mixture with rows that are nobody's.
pub(super) fn mixture(gpu: &Arc<Gpu>) -> Vec<f32> {
    Mixture::new(gpu, |_| [Storage::Int8; 3]).run(gpu, &numbers(14, 6 * HIDDEN), 2, true)
}

/// Who is chosen and where choices go depends on no order of threads.
#[test]
fn experts_give_the_same_under_every_order_of_threads() {
    in_any_order(mixture);
}
