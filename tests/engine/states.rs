//! Models whose layers have states in place of K/V: what is taken back leaves no trace, states belong to one
//! sequence each, and what cannot be gone back to is said. `emulated` has some of it on the CUDA backend.

use super::network::{Bits, bits, model, network, one_by_one, pass, tokens};
use bass_tui::backend::cpu::{CpuNetwork, Kernels};
use bass_tui::backend::{Dtype, HostLogits, LoadOptions, Network, Rows, SeqId, Span, Wanted, footprint};

const CASES: [&str; 3] = ["qwen3-5", "qwen3-5-moe", "qwen3-next"];

/// Names the position, and not all of its logits.
fn assert_row(found: &Bits, expected: &Bits, what: &str) {
    assert!(found == expected, "{what}");
}

/// A fork of the first tokens of a text.
fn fork(network: &mut impl Network, text: &[u32], room: usize) -> SeqId {
    let prompt = network.open(text.len()).expect("memory");
    pass(network, &[(prompt, 0, text)], Wanted::Nothing);
    let fork = network.fork(prompt, 1, room).expect("memory")[0];
    network.close(prompt);
    fork
}

fn assert_rows(network: &impl HostLogits, expected: &[Bits], from: usize, rows: usize, what: &str) {
    for row in 0..rows {
        assert_row(&bits(network, row), &expected[from + row], &format!("{what}, position {}", from + row));
    }
}

#[test]
fn rows_that_are_taken_back_leave_no_trace() {
    for case in CASES {
        taken_back(case, &mut network(&model(case), Dtype::F32, 2), &DRAFTS);
    }
}

/// Drafts of many lengths, accepted up to many places.
const DRAFTS: [(usize, usize); 10] = [(1, 0), (5, 0), (5, 3), (1, 1), (7, 7), (8, 1), (3, 2), (16, 9), (2, 0), (6, 6)];

/// Drafts are read at once, as by a main model, or token by token, as by a draft model.
pub(super) fn taken_back(case: &str, network: &mut impl HostLogits, drafts: &[(usize, usize)]) {
    let text = tokens(41, 20 + drafts.iter().map(|(_, accepted)| 2 * (accepted + 1)).sum::<usize>());
    let expected = one_by_one(network, &text);
    let fork = fork(network, &text[..20], 100);
    let mut at = 20;
    for &(draft, accepted) in drafts {
        for single in [false, true] {
            let wrong = tokens(42 + draft as u32, draft);
            let read = [&text[at..=at + accepted], &wrong[accepted.min(draft)..]].concat();
            if single {
                for (i, token) in read.iter().enumerate() {
                    pass(network, &[(fork, at + i, std::slice::from_ref(token))], Wanted::Last);
                    if i <= accepted {
                        let what = format!("{case}, position {}", at + i);
                        assert_row(&bits(network, 0), &expected[at + i], &what);
                    }
                }
            } else {
                pass(network, &[(fork, at, &read)], Wanted::All);
                assert_rows(network, &expected, at, accepted + 1, case);
            }
            network.set_len(fork, at + accepted + 1);
            assert_eq!(network.len(fork), at + accepted + 1, "{case}");
            at += accepted + 1;
        }
    }
}

#[test]
fn rows_that_are_written_over_leave_no_trace() {
    for case in CASES {
        written_over(case, &mut network(&model(case), Dtype::F32, 1));
    }
}

pub(super) fn written_over(case: &str, network: &mut impl HostLogits) {
    let text = tokens(43, 200);
    let expected = one_by_one(network, &text);
    let fork = fork(network, &text[..30], 170);
    // Without a word in between: nothing is settled, and the state is that of the prompt for long.
    let mut start = 30;
    for len in [31, 34, 40, 60, 100] {
        pass(network, &[(fork, start, &text[start..len])], Wanted::All);
        assert_rows(network, &expected, start, len - start, case);
        pass(network, &[(fork, len, &tokens(9, 12))], Wanted::Nothing);
        start = len;
    }
    assert_eq!(network.cut_point(fork, 90), 90);
    // More rows than are kept: only where it was forked can be gone back to.
    pass(network, &[(fork, 100, &text[100..])], Wanted::All);
    assert_rows(network, &expected, 100, 100, case);
    assert_eq!([100, 60, 30].map(|len| network.cut_point(fork, len)), [30, 30, 30]);
    let spans = [Span { seq: fork, start: 60, len: 1 }];
    let message = network.forward(&Rows::chain(&text[60..61], &spans), Wanted::All).expect_err("too late").to_string();
    assert!(message.contains("can be cut back to 30"), "{message}");
    network.set_len(fork, 60);
    assert_eq!(network.len(fork), 30);
    pass(network, &[(fork, 30, &text[30..90])], Wanted::All);
    assert_rows(network, &expected, 30, 60, case);
}

#[test]
fn forks_and_strangers_have_states_of_their_own() {
    forks_and_strangers(&mut network(&model("qwen3-5"), Dtype::F32, 3));
}

pub(super) fn forks_and_strangers(network: &mut impl HostLogits) {
    let text = tokens(44, 90);
    let expected = one_by_one(network, &text);
    let prompt = network.open(40).expect("memory");
    pass(network, &[(prompt, 0, &text[..40])], Wanted::Nothing);
    let forks = network.fork(prompt, 3, 50).expect("memory");
    let stranger = network.open(90).expect("memory");
    let other = tokens(45, 50);
    for at in (40..90).step_by(10) {
        let parts = [
            (forks[0], at, &other[at - 40..at - 30]),
            (stranger, at - 40, &text[at - 40..at - 30]),
            (forks[2], at, &text[at..at + 10]),
        ];
        pass(network, &parts, Wanted::All);
        for row in 0..10 {
            assert_eq!(bits(network, 10 + row), expected[at - 40 + row]);
            assert_eq!(bits(network, 20 + row), expected[at + row]);
        }
    }
    // The one that waited, and the prompt itself once it is alone.
    pass(network, &[(forks[1], 40, &text[40..])], Wanted::All);
    assert_rows(network, &expected, 40, 50, "the fork that waited");
    for seq in forks {
        network.close(seq);
    }
    network.resize(prompt, 40, 90).expect("its own length");
    pass(network, &[(prompt, 40, &text[40..])], Wanted::All);
    assert_rows(network, &expected, 40, 50, "the prompt");
}

#[test]
fn a_prompt_can_be_cut_back_to_kept_states_and_says_which() {
    let kept = cut_back(&mut network(&model("qwen3-5"), Dtype::F32, 2), 1100);
    assert!((3..=6).contains(&kept.len()), "{kept:?}");
}

/// The lengths that a prompt of so many tokens can be cut back to, which it is, one after the other.
pub(super) fn cut_back(network: &mut impl HostLogits, len: usize) -> Vec<usize> {
    let text = tokens(46, len);
    let whole = network.open(len).expect("memory");
    pass(network, &[(whole, 0, &text)], Wanted::Last);
    let last = bits(network, 0);
    let prompt = network.open(len).expect("memory");
    for start in (0..len).step_by(100) {
        pass(network, &[(prompt, start, &text[start..start + 100])], Wanted::Nothing);
    }
    let points: Vec<usize> = (0..=len).map(|len| network.cut_point(prompt, len)).collect();
    assert!(points.iter().enumerate().all(|(len, &point)| point <= len) && points.is_sorted());
    let mut kept = points.clone();
    kept.dedup();
    assert!(kept.contains(&0) && kept.contains(&len), "{kept:?}");
    let message = network.resize(prompt, len - 1, len).expect_err("between two states").to_string();
    assert!(message.contains("can be cut back to"), "{message}");

    // From each of them on, with a fork that keeps what it read.
    let fork = network.fork(prompt, 1, 8).expect("memory")[0];
    for &point in kept.iter().rev() {
        let cut = network.cut_point(prompt, point);
        network.resize(prompt, cut, len).expect("a kept length");
        assert_eq!((network.len(prompt), cut), (point, point));
    }
    assert_eq!(network.cut_point(prompt, len), 0, "all later states are gone");
    pass(network, &[(prompt, 0, &text)], Wanted::Last);
    assert_eq!(bits(network, 0), last);
    let next = tokens(47, 8);
    pass(network, &[(fork, len, &next)], Wanted::All);
    let of_fork: Vec<Bits> = (0..8).map(|row| bits(network, row)).collect();
    let again = network.fork(prompt, 1, 8).expect("memory")[0];
    pass(network, &[(again, len, &next)], Wanted::All);
    assert_rows(network, &of_fork, 0, 8, "a fork of the same prompt");
    kept
}

#[test]
fn every_kernel_set_and_thread_count_gives_the_same_bits() {
    for case in CASES {
        let (model, text) = (model(case), tokens(48, 70));
        let of = |kernels: Kernels, threads: usize| {
            let options = LoadOptions { dtype: Dtype::F32, threads, ..LoadOptions::default() };
            let mut network = CpuNetwork::new(&model, options, kernels).expect("loadable");
            let seq = network.open(70).expect("memory");
            pass(&mut network, &[(seq, 0, &text[..33])], Wanted::Nothing);
            pass(&mut network, &[(seq, 33, &text[33..])], Wanted::All);
            (0..37).map(|row| bits(&network, row)).collect::<Vec<_>>()
        };
        let expected = of(Kernels::portable(), 1);
        for kernels in Kernels::available() {
            assert!((1..=3).all(|threads| of(kernels, threads) == expected), "{case}: {}", kernels.name);
        }
    }
}

#[test]
fn states_are_counted() {
    // Four nets of four heads with a matrix of 16 x 24, in blocks of 16 columns, and three rows of 160
    // channels.
    counted(&mut network(&model("qwen3-5"), Dtype::F32, 1), 4 * 4 * (4 * 16 * 32 + 3 * 160));
}

/// States of `qwen3-5` take so many bytes each.
pub(super) fn counted(network: &mut impl Network, state: usize) {
    let found = footprint(network).expect("memory");
    // Two of six blocks have keys and values: two heads of 32 channels each.
    assert_eq!((found.position, found.sequence), (2 * 2 * 2 * 32 * 4, state));
    assert_eq!(network.kv_bytes(), 0);
    let prompt = network.open(64).expect("memory");
    let of_prompt = network.kv_bytes();
    assert_eq!(of_prompt, 64 * found.position + state);
    let forks = network.fork(prompt, 2, 16).expect("memory");
    let with_forks = network.kv_bytes();
    assert!(with_forks >= of_prompt + 2 * (state + 16 * found.position), "{with_forks}");
    network.close(prompt);
    // Forks go back to the state of the prompt, which they have in common.
    assert_eq!(network.kv_bytes(), with_forks);
    for seq in forks {
        network.close(seq);
    }
    assert_eq!(network.kv_bytes(), 0);
}
