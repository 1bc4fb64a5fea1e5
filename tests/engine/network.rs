//! The contract of `Network`, on the CPU: a row's logits depend on the tokens of its own sequence and on
//! nothing else, forks read their prompt and own their tail, dropped rows are never read, and broken
//! contracts are errors.

use std::path::{Path, PathBuf};

use bass_tui::backend::cpu::{CpuNetwork, Kernels};
use bass_tui::backend::{
    BackendError, Candidate, ChoiceRules, Drafts, Dtype, HostLogits, LoadOptions, Network, Rows, SeqId, Shortlist,
    Span, Wanted,
};
use bass_tui::model::{DRAFT, MAIN, Model, ModelFiles};
use bass_tui::sampling::{Accept, Distribution, Draft, Proposal, Sampling};

pub(super) fn model(case: &str) -> Model {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models").join(case);
    Model::load(&ModelFiles::Folder(folder)).expect(case)
}

pub(super) fn network(model: &Model, dtype: Dtype, threads: usize) -> CpuNetwork {
    CpuNetwork::new(model, LoadOptions { dtype, threads, ..LoadOptions::default() }, Kernels::best())
        .expect("a loadable model")
}

pub(super) fn small() -> CpuNetwork {
    network(&model("llama"), Dtype::F32, 2)
}

/// Some tokens; different for every `seed`.
pub(super) fn tokens(seed: u32, len: usize) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_761);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % 2000
    };
    (0..len).map(|_| next()).collect()
}

pub(super) type Bits = Vec<u32>;

pub(super) fn bits(network: &impl HostLogits, row: usize) -> Bits {
    network.logits(row).iter().map(|logit| logit.to_bits()).collect()
}

/// Panels of 16 tokens: the first ones, and those of single tokens, the last of them not full. Every draft has
/// the distribution over these tokens alone, of the very logits that the whole head gives.
#[test]
fn drafts_are_drawn_from_a_short_list() {
    let sampling = Sampling { temperature: 1.5, ..Sampling::GREEDY };
    for (case, dtype) in [("llama", Dtype::F32), ("qwen2", Dtype::Bf16), ("qwen2", Dtype::Int8)] {
        let model = model(case);
        let mut network = network(&model, dtype, 2);
        let vocab = network.vocab_size() as u32;
        let text = tokens(5, 20).into_iter().map(|token| token % vocab).collect::<Vec<_>>();
        let rules = ChoiceRules {
            sampling: &sampling,
            accept: Accept::Rejection,
            seed: 3,
            vocab: vocab as usize,
            alternatives: 0,
        };
        let seq = network.open(64).expect("memory");
        pass(&mut network, &[(seq, 0, &text[..19])], Wanted::Nothing);
        let fork = network.fork(seq, 1, 30).expect("memory")[0];
        let list = Shortlist { first: 30, more: vec![33, 100, 101, vocab - 1, vocab, u32::MAX] };
        let ids: Vec<u32> = (0..48).chain(96..112).chain((vocab - 1) / 16 * 16..vocab).collect();
        network.draft_from(&list);
        let candidate = Candidate { seq: fork, index: 0, tokens: &text, rules };
        let drafts = network.draft(&[candidate], &[4]).expect("drafts").remove(0);
        let drafts = drafts.host().expect("on the host").to_vec();
        network.set_len(fork, 19);
        let written: Vec<u32> = text[19..].iter().copied().chain(drafts.iter().map(|draft| draft.token)).collect();
        pass(&mut network, &[(fork, 19, &written)], Wanted::All);
        for (row, draft) in drafts.iter().enumerate() {
            assert_eq!(network.logits(row).len(), vocab as usize, "other passes have all logits");
            let listed: Vec<f32> = ids.iter().map(|&id| network.logits(row)[id as usize]).collect();
            let q = Distribution::among(Some(&ids), &listed, &sampling, &[]);
            assert_eq!(draft.proposal, Proposal::Drawn(q), "{case}, {dtype:?}, draft {row}");
        }
        // A list of all tokens is none.
        network.draft_from(&Shortlist { first: vocab as usize, more: vec![] });
        assert!(network.drawn_from().is_none());
        network.close(fork);
        network.close(seq);
    }
}

/// One pass over the given `(sequence, start, tokens)`.
pub(super) fn pass(network: &mut impl Network, parts: &[(SeqId, usize, &[u32])], want: Wanted) -> usize {
    let all: Vec<u32> = parts.iter().flat_map(|part| part.2).copied().collect();
    let spans: Vec<Span> = parts.iter().map(|&(seq, start, t)| Span { seq, start, len: t.len() }).collect();
    network.forward(&Rows::chain(&all, &spans), want).expect("a legal pass")
}

/// Logits of every position, one row per pass, nothing else in flight.
pub(super) fn one_by_one(network: &mut impl HostLogits, tokens: &[u32]) -> Vec<Bits> {
    let seq = network.open(tokens.len()).expect("memory");
    let logits = (0..tokens.len())
        .map(|at| {
            assert_eq!(pass(network, &[(seq, at, &tokens[at..=at])], Wanted::Last), 1);
            bits(network, 0)
        })
        .collect();
    network.close(seq);
    logits
}

#[test]
fn a_row_is_the_same_to_the_bit_in_any_batch_composition() {
    let llama = model("llama");
    let grouped = model("qwen2-sharded");
    let embedded = Model::load(&ModelFiles::Embedded(&MAIN)).expect("the embedded model");
    let cases = [
        (&llama, Dtype::F32),
        (&grouped, Dtype::Bf16),
        (&embedded, Dtype::Auto),
        (&llama, Dtype::Int4),
        (&grouped, Dtype::Int8),
        (&embedded, Dtype::Int4),
    ];
    for (model, dtype) in cases {
        let text = tokens(1, 90);
        let expected = one_by_one(&mut network(model, dtype, 1), &text);
        for threads in 1..=3 {
            let mut network = network(model, dtype, threads);
            // In slabs of every kind of size.
            for slab in [2, 3, 7, 16, 33, 90] {
                let seq = network.open(text.len()).expect("memory");
                for start in (0..text.len()).step_by(slab) {
                    let part = &text[start..text.len().min(start + slab)];
                    assert_eq!(pass(&mut network, &[(seq, start, part)], Wanted::All), part.len());
                    for (row, at) in (start..start + part.len()).enumerate() {
                        assert_eq!(bits(&network, row), expected[at], "{threads} threads, slabs of {slab}, row {at}");
                    }
                }
                network.close(seq);
            }
            // As one of several forks, beside a stranger, with spans of different lengths, for any length of
            // prompt.
            for shared in [1, 15, 16, 17, 50] {
                let prompt = network.open(shared).expect("memory");
                pass(&mut network, &[(prompt, 0, &text[..shared])], Wanted::Nothing);
                let forks = network.fork(prompt, 3, 64).expect("memory");
                let stranger = network.open(40).expect("memory");
                let (noise_a, noise_b, noise_c) = (tokens(2, 5), tokens(3, 1), tokens(4, 40));
                let mut at = shared;
                for len in [1, 4, 9, 2] {
                    let parts = [
                        (forks[0], shared, &noise_a[..]),
                        (stranger, 0, &noise_c[..]),
                        (forks[1], at, &text[at..at + len]),
                        (forks[2], shared, &noise_b[..]),
                    ];
                    assert_eq!(pass(&mut network, &parts, Wanted::All), 5 + 40 + len + 1);
                    for row in 0..len {
                        assert_eq!(bits(&network, 45 + row), expected[at + row], "fork at {shared}, row {}", at + row);
                    }
                    assert_eq!(pass(&mut network, &parts, Wanted::Last), 4);
                    assert_eq!(bits(&network, 2), expected[at + len - 1]);
                    at += len;
                }
                forks.into_iter().chain([prompt, stranger]).for_each(|seq| network.close(seq));
            }
        }
    }
}

#[test]
fn passes_longer_than_the_working_memory_are_cut_without_a_trace() {
    let mut network = small();
    let (a, b) = (tokens(5, 700), tokens(6, 300));
    let seq = network.open(700).expect("memory");
    for start in (0..700).step_by(50) {
        pass(&mut network, &[(seq, start, &a[start..start + 50])], Wanted::Last);
    }
    let expected = bits(&network, 0);
    let (again, other) = (network.open(700).expect("memory"), network.open(300).expect("memory"));
    assert_eq!(pass(&mut network, &[(other, 0, &b), (again, 0, &a)], Wanted::Last), 2);
    assert_eq!(bits(&network, 1), expected);
    assert_eq!(network.len(again), 700);
}

#[test]
fn every_kernel_set_gives_the_same_bits() {
    for dtype in [Dtype::F32, Dtype::Bf16, Dtype::Int8, Dtype::Int4] {
        let model = model("llama-bias");
        let text = tokens(7, 20);
        let logits: Vec<Vec<Bits>> = Kernels::available()
            .into_iter()
            .map(|kernels| {
                let mut network =
                    CpuNetwork::new(&model, LoadOptions { dtype, threads: 1, ..LoadOptions::default() }, kernels)
                        .expect("loadable");
                let seq = network.open(20).expect("memory");
                pass(&mut network, &[(seq, 0, &text[..13])], Wanted::Nothing);
                pass(&mut network, &[(seq, 13, &text[13..])], Wanted::All);
                (0..7).map(|row| bits(&network, row)).collect::<Vec<_>>()
            })
            .collect();
        assert!(logits.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn dropped_rows_leave_no_trace() {
    let mut network = small();
    let text = tokens(8, 40);
    let expected = one_by_one(&mut network, &text);
    let prompt = network.open(20).expect("memory");
    pass(&mut network, &[(prompt, 0, &text[..20])], Wanted::Nothing);
    let fork = network.fork(prompt, 1, 30).expect("memory")[0];
    for len in [20, 23, 24, 30] {
        // A draft that is rejected from here on: once dropped by `set_len`, once just written over.
        for dropped in [true, false] {
            let start = network.len(fork).min(len);
            pass(&mut network, &[(fork, start, &text[start..=len])], Wanted::Nothing);
            pass(&mut network, &[(fork, len, &tokens(9, 10))], Wanted::Nothing);
            assert_eq!(network.len(fork), len + 10);
            if dropped {
                network.set_len(fork, len);
                assert_eq!(network.len(fork), len);
            }
            pass(&mut network, &[(fork, len, &text[len..len + 3])], Wanted::All);
            assert_eq!(network.len(fork), len + 3);
            for row in 0..3 {
                assert_eq!(bits(&network, row), expected[len + row]);
            }
        }
    }
    network.set_len(fork, 5);
    assert_eq!(network.len(fork), 20, "the shared prompt cannot be dropped");
    network.set_len(fork, 25);
    assert_eq!(network.len(fork), 20, "a length is never raised");
}

#[test]
fn a_closed_prompt_lives_on_in_its_forks() {
    let mut network = small();
    let text = tokens(10, 30);
    let expected = one_by_one(&mut network, &text);
    let prompt = network.open(25).expect("memory");
    pass(&mut network, &[(prompt, 0, &text[..25])], Wanted::Nothing);
    let forks = network.fork(prompt, 2, 5).expect("memory");
    network.close(prompt);
    assert_eq!(network.len(prompt), 0);
    // Memory that was given back would be taken by this one.
    let stranger = network.open(25).expect("memory");
    pass(&mut network, &[(stranger, 0, &tokens(11, 25))], Wanted::Nothing);
    network.close(forks[0]);
    pass(&mut network, &[(forks[1], 25, &text[25..])], Wanted::All);
    (0..5).for_each(|row| assert_eq!(bits(&network, row), expected[25 + row]));
}

#[test]
fn a_prompt_goes_on_after_its_forks_are_closed() {
    let mut network = small();
    let text = tokens(12, 12);
    let expected = one_by_one(&mut network, &text);
    let prompt = network.open(12).expect("memory");
    pass(&mut network, &[(prompt, 0, &text[..10])], Wanted::Nothing);
    let fork = network.fork(prompt, 1, 2).expect("memory")[0];
    let spans = [Span { seq: prompt, start: 10, len: 2 }];
    let rows = Rows::chain(&text[10..], &spans);
    let message = network.forward(&rows, Wanted::All).expect_err("the prompt is shared").to_string();
    assert!(message.contains("forks"), "{message}");
    network.close(fork);
    assert_eq!(network.forward(&rows, Wanted::All).expect("no forks any more"), 2);
    assert_eq!(bits(&network, 1), expected[11]);
}

#[test]
fn forks_of_different_lengths_of_one_prompt_go_together() {
    let mut network = small();
    let text = tokens(13, 24);
    let expected = one_by_one(&mut network, &text);
    let prompt = network.open(20).expect("memory");
    pass(&mut network, &[(prompt, 0, &text[..20])], Wanted::Nothing);
    let long = network.fork(prompt, 1, 4).expect("memory")[0];
    network.set_len(prompt, 11);
    let short = network.fork(prompt, 1, 4).expect("memory")[0];
    network.close(prompt);
    assert_eq!((network.len(long), network.len(short)), (20, 11));
    pass(&mut network, &[(short, 11, &text[11..14]), (long, 20, &text[20..])], Wanted::All);
    for (row, at) in [11, 12, 13, 20, 21, 22, 23].into_iter().enumerate() {
        assert_eq!(bits(&network, row), expected[at], "position {at}");
    }
}

#[test]
fn broken_contracts_are_errors_and_change_nothing() {
    let mut network = small();
    let seq = network.open(8).expect("memory");
    pass(&mut network, &[(seq, 0, &[1, 2, 3])], Wanted::Nothing);
    let fork = network.fork(seq, 1, 4).expect("memory")[0];
    let other = network.open(4).expect("memory");
    let span = |seq, start, len| Span { seq, start, len };
    let cases: &[(&[u32], &[Span], &str)] = &[
        (&[1], &[span(SeqId(999), 0, 1)], "not open"),
        (&[1, 2], &[span(other, 0, 1)], "2 tokens for spans of 1"),
        (&[1], &[span(other, 1, 1)], "in a sequence of 0 positions"),
        (&[1, 1, 1, 1, 1], &[span(other, 0, 5)], "with room for 4"),
        (&[], &[span(other, 0, 0)], "empty"),
        (&[1, 1], &[span(other, 0, 1), span(other, 0, 1)], "not the only one"),
        (&[1], &[span(fork, 2, 1)], "the first 3 shared"),
        (&[1; 5], &[span(fork, 3, 5)], "with room for 7"),
        (&[2048], &[span(other, 0, 1)], "token 2048"),
        (&[1], &[span(seq, 3, 1)], "forks"),
        (&[1], &[span(other, 0, usize::MAX)], ""),
    ];
    for (tokens, spans, part) in cases {
        let outcome = network.forward(&Rows::chain(tokens, spans), Wanted::All);
        let Err(error @ BackendError::Contract(_)) = outcome else { panic!("{spans:?}: {outcome:?}") };
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!((network.len(seq), network.len(fork), network.len(other)), (3, 3, 0));
    assert!(matches!(network.open(5000), Err(BackendError::Contract(_))), "more than the context");
    assert!(matches!(network.fork(seq, 1, usize::MAX), Err(BackendError::Contract(_))), "more than the context");
    assert!(matches!(network.fork(fork, 1, 1), Err(BackendError::Contract(_))), "fork of a fork");
    assert!(network.logits(0).is_empty());
    assert_eq!(network.forward(&Rows::chain(&[], &[]), Wanted::All).expect("nothing to do"), 0);
}

#[test]
fn drafting_and_verification_set_lengths_and_refuse_what_does_not_fit() {
    let mut network = small();
    let prompt = network.open(20).expect("memory");
    let text = tokens(15, 22);
    pass(&mut network, &[(prompt, 0, &text[..20])], Wanted::Nothing);
    let fork = network.fork(prompt, 1, 20).expect("memory")[0];
    let rules =
        ChoiceRules { sampling: &Sampling::GREEDY, accept: Accept::Coupled, seed: 0, vocab: 2048, alternatives: 0 };
    let candidate = |tokens| Candidate { seq: fork, index: 0, tokens, rules };

    // Two unread tokens; the last draft is not read.
    let drafts = network.draft(&[candidate(&text)], &[3]).expect("drafts");
    assert_eq!((drafts[0].count(), network.len(fork)), (3, 22 + 2));
    // The network agrees with its own drafts, but not with the token put after them.
    network.set_len(fork, 21);
    let mut own = drafts[0].host().expect("a network on the CPU").to_vec();
    own.push(Draft::certain((own[2].token + 1) % 2048));
    let accepted = network.verify(&[candidate(&text)], &[Drafts::Host(own.clone())]).expect("a step");
    let agreed = accepted[0].accepted;
    assert!(
        agreed >= 3 && accepted[0].tokens.iter().zip(&own).take(agreed).all(|(token, draft)| *token == draft.token)
    );
    assert_eq!((accepted[0].tokens.len(), network.len(fork)), (agreed + 1, 22 + agreed));

    let held = Drafts::Held { batch: 1, place: 0, len: 2 };
    let before = network.len(fork);
    let longer = tokens(15, 31);
    for (text, drafts, part) in [
        (&text[..], vec![], "drafts for 0 of 1"),
        (&text[..], vec![Drafts::NONE], "has read all"),
        (&longer[..], vec![held], "load both models onto the same one"),
    ] {
        let error = network.verify(&[candidate(text)], &drafts).expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(network.draft(&[candidate(&text)], &[]).is_err() && network.draft(&[candidate(&text)], &[1]).is_err());
    assert_eq!(network.len(fork), before);
}

#[test]
fn the_embedded_pair_fits_together_and_says_what_it_is() {
    let main = Model::load(&ModelFiles::Embedded(&MAIN)).expect("the embedded main model");
    let draft = Model::load(&ModelFiles::Embedded(&DRAFT)).expect("the embedded draft model");
    assert_eq!(main.tokenizer.same_vocabulary(&draft.tokenizer), Ok(()));
    assert_eq!((main.eos.as_slice(), main.name.as_str()), (&[0][..], "built-in"));
    let network = network(&main, Dtype::Auto, 2);
    let info = network.info();
    assert_eq!((info.device, info.dtype, info.threads), ("cpu", "bf16", 2));
    assert_eq!((network.vocab_size(), network.context()), (4096, 1024));
}

#[test]
fn quantised_weights_take_what_their_codes_and_scales_take() {
    let model = Model::load(&ModelFiles::Embedded(&MAIN)).expect("the embedded main model");
    let [bf16, int8, int4] = [Dtype::Bf16, Dtype::Int8, Dtype::Int4].map(|dtype| network(&model, dtype, 2).info());
    assert_eq!((bf16.dtype, int8.dtype, int4.dtype), ("bf16", "int8", "int4"));
    assert_eq!((bf16.weights, int8.weights), (int8.weights, int4.weights));
    // 32 codes and a scale of two bytes instead of 64 bytes; in int4 half as many bytes of codes, but for the
    // embedding.
    assert_eq!(int8.weight_bytes * 64, bf16.weight_bytes * 34);
    let embedding = model.spec.vocab_size * model.spec.hidden;
    assert_eq!(int4.weight_bytes, int8.weight_bytes - (int4.weights - embedding) / 2);
}

/// Logits of a few rows, as bits, with weights kept in `cache`.
fn with_cache(folder: &Path, dtype: Dtype, cache: &Path) -> Vec<Bits> {
    let model = Model::load(&ModelFiles::Folder(folder.into())).expect("a model");
    let options = LoadOptions { dtype, threads: 2, ..LoadOptions::default() };
    let mut network = CpuNetwork::with_cache(&model, options, Kernels::best(), Some(cache)).expect("loadable");
    let seq = network.open(8).expect("memory");
    let rows = pass(&mut network, &[(seq, 0, &tokens(14, 8))], Wanted::All);
    (0..rows).map(|row| bits(&network, row)).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn quantised_weights_are_kept_and_a_damaged_file_is_made_anew() {
    let work = tempfile::tempdir().expect("a folder");
    let (folder, cache) = (work.path().join("model"), work.path().join("cache").join("weights"));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models/llama");
    std::fs::create_dir(&folder).expect("a folder");
    for file in entries(&golden) {
        std::fs::copy(&file, folder.join(file.file_name().expect("a name"))).expect("a copy");
    }
    for dtype in [Dtype::Int8, Dtype::Int4] {
        let expected = with_cache(&folder, dtype, &cache);
        let [file] = &entries(&cache)[..] else { panic!("one file for one model") };
        let (whole, written) = (std::fs::read(file).expect("kept"), file.metadata().unwrap().modified().unwrap());
        assert_eq!(with_cache(&folder, dtype, &cache), expected);
        assert_eq!(file.metadata().unwrap().modified().unwrap(), written, "read, not made again");

        let middle = whole.len() / 2;
        let mut flipped = whole.clone();
        flipped[middle] ^= 1;
        let mut swapped = whole.clone();
        swapped.swap(middle, middle + 64 * 9 + 1);
        let mut claimed = whole.clone();
        claimed[8..16].fill(0xff);
        let longer = [&whole[..], &[0; 64]].concat();
        let cases = [&flipped[..], &swapped, &claimed, &longer, &whole[..middle], &whole[..20], &[], b"text"];
        for (case, damaged) in cases.into_iter().enumerate().filter(|(_, damaged)| **damaged != whole) {
            std::fs::write(file, damaged).expect("a damaged file");
            assert_eq!(with_cache(&folder, dtype, &cache), expected, "case {case}");
            assert!(std::fs::read(file).expect("kept") == whole, "case {case} was not made good");
        }

        // Other weights under the same name.
        let weights = folder.join("model.safetensors");
        let original = std::fs::read(&weights).expect("weights");
        let mut other = original.clone();
        let from = other.len() - other.len() / 4;
        other[from..].iter_mut().for_each(|byte| *byte &= 0xbf);
        std::fs::write(&weights, &other).expect("written");
        assert_ne!(with_cache(&folder, dtype, &cache), expected);
        std::fs::write(&weights, &original).expect("written");
        assert_eq!(with_cache(&folder, dtype, &cache), expected);
        assert_eq!(entries(&cache).len(), 1, "nothing is left behind");
        std::fs::remove_file(file).expect("removed");
    }
    // Where nothing can be kept, everything works all the same; floats keep nothing.
    let expected = with_cache(&folder, Dtype::Int8, &cache);
    assert_eq!(with_cache(&folder, Dtype::Int8, &folder.join("config.json")), expected);
    with_cache(&folder, Dtype::Bf16, &cache);
    assert_eq!(entries(&cache).len(), 1);
}
