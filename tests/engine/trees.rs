//! Features of a network beyond chains of rows, on the CPU: trees of rows, prompts that are cut back and
//! extended, hidden states. All are bit-equal to a chain computed afresh.

use super::network::{Bits, bits, model, network, pass, small, tokens};
use bass_tui::backend::cpu::CpuNetwork;
use bass_tui::backend::{BackendError, Dtype, HostLogits, Network, Rows, SeqId, Span, Wanted};
use bass_tui::model::{MAIN, Model, ModelFiles, Slot};

/// Parents of the rows of some tree, a different one for every seed.
fn tree(seed: u32, rows: usize) -> Vec<u32> {
    let random = tokens(seed, rows);
    (0..rows as u32).map(|row| (random[row as usize] % (row + 1)).checked_sub(1).unwrap_or(Rows::ROOT)).collect()
}

/// The rows from a root to `row`.
fn path(parents: &[u32], row: usize) -> Vec<u32> {
    let parent = |&row: &u32| Some(parents[row as usize]).filter(|&parent| parent != Rows::ROOT);
    let mut path: Vec<u32> = std::iter::successors(Some(row as u32), parent).collect();
    path.reverse();
    path
}

fn deepest(parents: &[u32]) -> Vec<u32> {
    (0..parents.len()).map(|row| path(parents, row)).max_by_key(Vec::len).expect("a row")
}

fn tokens_of(nodes: &[u32], path: &[u32]) -> Vec<u32> {
    path.iter().map(|&row| nodes[row as usize]).collect()
}

/// The logits after `text`, which goes on after the prompt.
fn after(network: &mut CpuNetwork, prompt: SeqId, text: &[u32]) -> Bits {
    let start = network.len(prompt);
    let fork = network.fork(prompt, 1, text.len()).expect("memory")[0];
    pass(network, &[(fork, start, text)], Wanted::Last);
    network.close(fork);
    bits(network, 0)
}

#[test]
fn a_path_of_a_tree_is_a_chain_to_the_bit() {
    let embedded = Model::load(&ModelFiles::Embedded(&MAIN)).expect("the embedded model");
    let (llama, qwen2) = (model("llama"), model("qwen2-sharded"));
    // Windows in some layers, and experts.
    let (gemma, mixtral) = (model("gemma2"), model("mixtral"));
    let models = [
        (&llama, Dtype::F32),
        (&qwen2, Dtype::Auto),
        (&embedded, Dtype::Int8),
        (&gemma, Dtype::F32),
        (&mixtral, Dtype::Auto),
    ];
    for (model, dtype) in models {
        // Around the border of a panel of positions, and of a chunk.
        paths_are_chains(model, dtype, &[(1, 12), (14, 24), (504, 20)]);
    }
}

/// Heads that differ between blocks, keys of other blocks, queries that grow, and sinks.
#[test]
fn a_path_of_a_tree_is_a_chain_where_blocks_differ() {
    for case in ["gemma4-e", "gemma4-moe", "ministral3", "gpt-oss"] {
        paths_are_chains(&model(case), Dtype::F32, &[(14, 12), (60, 20)]);
    }
}

fn paths_are_chains(model: &Model, dtype: Dtype, sizes: &[(usize, usize)]) {
    for &(shared, rows) in sizes {
        let mut network = network(model, dtype, 1 + shared % 2);
        let (text, begun, other) = (tokens(1, shared), tokens(2, 4), tokens(3, 3));
        let (nodes, parents) = (tokens(4, rows), tree(5, rows));
        let prompt = network.open(shared).expect("memory");
        pass(&mut network, &[(prompt, 0, &text)], Wanted::Nothing);
        let forks = network.fork(prompt, 2, 4 + rows).expect("memory");
        pass(&mut network, &[(forks[0], shared, &begun)], Wanted::Nothing);

        let spans =
            [Span { seq: forks[1], start: shared, len: 3 }, Span { seq: forks[0], start: shared + 4, len: rows }];
        let all = [&other[..], &nodes].concat();
        let all_parents = [&[Rows::ROOT, 0, 1][..], &parents].concat();
        let tree = Rows { tokens: &all, spans: &spans, parents: Some(&all_parents) };
        assert_eq!(network.forward(&tree, Wanted::All).expect("trees"), 3 + rows);
        assert_eq!((network.len(forks[0]), network.len(forks[1])), (shared + 4, shared), "nothing is kept yet");
        let found: Vec<Bits> = (0..3 + rows).map(|row| bits(&network, row)).collect();
        assert_eq!(found[2], after(&mut network, prompt, &other), "a tree that is a chain");
        for row in 0..rows {
            let chain = [&begun[..], &tokens_of(&nodes, &path(&parents, row))].concat();
            assert_eq!(
                found[3 + row],
                after(&mut network, prompt, &chain),
                "{shared} shared, row {row} of {parents:?}"
            );
        }

        // The tree again, a path of it kept, and on from there.
        network.forward(&tree, Wanted::Last).expect("trees");
        let kept = deepest(&parents);
        network.keep(forks[0], &kept).expect("a path");
        network.keep(forks[1], &[0, 1]).expect("a path");
        assert!(kept.len() > 2 && kept.windows(2).any(|rows| rows[1] > rows[0] + 1), "{kept:?}");
        assert_eq!((network.len(forks[0]), network.len(forks[1])), (shared + 4 + kept.len(), shared + 2));
        let at = network.len(forks[0]);
        pass(&mut network, &[(forks[1], shared + 2, &nodes[..1]), (forks[0], at, &other)], Wanted::Last);
        let (short, long) = (bits(&network, 0), bits(&network, 1));
        assert_eq!(short, after(&mut network, prompt, &[&other[..2], &nodes[..1]].concat()));
        let chain = [&begun[..], &tokens_of(&nodes, &kept), &other].concat();
        assert_eq!(long, after(&mut network, prompt, &chain), "{shared} shared, after {kept:?}");
    }
}

#[test]
fn a_tree_longer_than_the_working_memory_is_cut_without_a_trace() {
    let mut network = small();
    let (nodes, parents) = (tokens(6, 300), tree(7, 300));
    let seq = network.open(300).expect("memory");
    let spans = [Span { seq, start: 0, len: 300 }];
    network.forward(&Rows { tokens: &nodes, spans: &spans, parents: Some(&parents) }, Wanted::All).expect("a tree");
    let found: Vec<Bits> = [255, 256, 299].map(|row| bits(&network, row)).into();
    let nothing = network.open(0).expect("memory");
    for (found, row) in found.into_iter().zip([255, 256, 299]) {
        assert_eq!(found, after(&mut network, nothing, &tokens_of(&nodes, &path(&parents, row))), "row {row}");
    }
}

#[test]
fn what_is_no_tree_or_no_path_is_refused_and_changes_nothing() {
    let mut network = small();
    let seq = network.open(8).expect("memory");
    let run = |network: &mut CpuNetwork, parents: &[u32]| {
        let text = tokens(8, 3);
        let spans = [Span { seq, start: 0, len: 3 }];
        network.forward(&Rows { tokens: &text, spans: &spans, parents: Some(parents) }, Wanted::Nothing)
    };
    for (parents, part) in [(&[Rows::ROOT, 0][..], "parents"), (&[Rows::ROOT, 1, 0], "before"), (&[0, 0, 0], "before")]
    {
        let error = run(&mut network, parents).expect_err("no tree").to_string();
        assert!(error.contains(part), "{error}");
    }
    run(&mut network, &[Rows::ROOT, 0, 0]).expect("a tree");
    for path in [&[1][..], &[0, 1, 2], &[0, 3], &[0, 0], &[Rows::ROOT]] {
        let outcome = network.keep(seq, path);
        assert!(
            matches!(&outcome, Err(BackendError::Contract(why)) if why.contains("no path")),
            "{path:?}: {outcome:?}"
        );
    }
    assert!(network.keep(SeqId(99), &[]).is_err());
    network.keep(seq, &[0, 2]).expect("after all that");
    assert_eq!(network.len(seq), 2);
    assert!(network.keep(seq, &[0]).is_err(), "a tree is kept once");
    network.set_len(seq, 0);
    run(&mut network, &[Rows::ROOT, 0, 0]).expect("a tree");
    network.set_len(seq, 0);
    assert!(network.keep(seq, &[0]).is_err(), "dropped rows are not kept");
}

/// Prompts kept warm: the next one begins like the last, and goes on differently.
#[test]
fn a_prompt_that_is_cut_back_and_extended_is_as_computed_afresh() {
    for (dtype, old_len) in [(Dtype::F32, 40), (Dtype::Int8, 40), (Dtype::F32, 530)] {
        for (common, new_len) in
            [(0, 30), (1, 64), (23, 40), (32, 48), (old_len, old_len + 9), (old_len - 7, 520), (5, 5)]
        {
            let mut network = network(&model("llama"), dtype, 2);
            let old = tokens(9, old_len);
            let new = [&old[..common], &tokens(10, new_len - common.min(new_len))].concat();
            let tail = tokens(11, 3);
            let fresh = |network: &mut CpuNetwork, text: &[u32]| {
                let nothing = network.open(0).expect("memory");
                after(network, nothing, &[text, &tail].concat())
            };
            let (of_old, of_new) = (fresh(&mut network, &old), fresh(&mut network, &new));
            let prompt = network.open(old_len).expect("memory");
            pass(&mut network, &[(prompt, 0, &old)], Wanted::Nothing);
            // Once beside a fork that still reads the old prompt, once alone.
            for beside in [true, false] {
                let fork = network.fork(prompt, 1, 3).expect("memory")[0];
                if !beside {
                    network.close(fork);
                }
                network.resize(prompt, common, new.len()).expect("memory");
                assert_eq!(network.len(prompt), common);
                if new.len() > common {
                    pass(&mut network, &[(prompt, common, &new[common..])], Wanted::Nothing);
                }
                assert_eq!(after(&mut network, prompt, &tail), of_new, "{common} of {old_len}, then to {new_len}");
                if beside {
                    pass(&mut network, &[(fork, old_len, &tail)], Wanted::Last);
                    assert_eq!(bits(&network, 0), of_old, "the fork reads what it was forked from");
                    network.close(fork);
                    network.resize(prompt, common, old_len).expect("memory");
                    if common < old_len {
                        pass(&mut network, &[(prompt, common, &old[common..])], Wanted::Nothing);
                    }
                }
            }
        }
    }
}

#[test]
fn a_resized_prompt_takes_the_memory_it_has_room_for() {
    let mut network = small();
    let sized = |network: &mut CpuNetwork, capacity| {
        let seq = network.open(capacity).expect("memory");
        let bytes = network.kv_bytes();
        network.close(seq);
        bytes
    };
    let (few, many) = (sized(&mut network, 16), sized(&mut network, 160));
    let prompt = network.open(160).expect("memory");
    pass(&mut network, &[(prompt, 0, &tokens(12, 160))], Wanted::Nothing);
    network.resize(prompt, 9, 16).expect("memory");
    assert_eq!(network.kv_bytes(), few);
    network.resize(prompt, 9, 160).expect("memory");
    assert_eq!(network.kv_bytes(), many);
    let fork = network.fork(prompt, 1, 4).expect("memory")[0];
    for (seq, len, capacity) in [(prompt, 10, 16), (prompt, 9, 8), (prompt, 9, 9999), (fork, 9, 16), (SeqId(99), 0, 1)]
    {
        let outcome = network.resize(seq, len, capacity);
        assert!(matches!(outcome, Err(BackendError::Contract(_))), "{len} of {capacity}: {outcome:?}");
    }
    assert_eq!((network.len(prompt), network.len(fork)), (9, 9));
}

#[test]
fn hidden_states_do_not_depend_on_the_batch_and_give_the_logits() {
    let model = model("llama");
    let text = tokens(13, 40);
    let hidden = |network: &CpuNetwork, row| network.hidden(row).iter().map(|x| x.to_bits()).collect::<Bits>();
    let mut network = network(&model, Dtype::F32, 2);
    let seq = network.open(40).expect("memory");
    let alone: Vec<Bits> = (0..40)
        .map(|at| {
            assert_eq!(pass(&mut network, &[(seq, at, &text[at..=at])], Wanted::Hidden), 1);
            assert!(network.logits(0).is_empty(), "no logits were wanted");
            hidden(&network, 0)
        })
        .collect();
    assert_eq!(alone[0].len(), model.spec.hidden);

    let prompt = network.open(20).expect("memory");
    pass(&mut network, &[(prompt, 0, &text[..20])], Wanted::Hidden);
    (0..20).for_each(|row| assert_eq!(hidden(&network, row), alone[row], "row {row} of a prompt"));
    let forks = network.fork(prompt, 2, 300).expect("memory");
    let noise = tokens(14, 290);
    pass(&mut network, &[(forks[1], 20, &noise), (forks[0], 20, &text[20..])], Wanted::Hidden);
    (0..20).for_each(|row| assert_eq!(hidden(&network, 290 + row), alone[20 + row], "row {row} of a fork"));

    let last: Vec<f32> = network.hidden(309).to_vec();
    network.set_len(forks[0], 39);
    pass(&mut network, &[(forks[0], 39, &text[39..])], Wanted::Last);
    assert!(network.hidden(0).is_empty(), "no hidden states were wanted");
    let slot = if model.spec.head.tied { Slot::Embedding } else { Slot::Head };
    let head = model.tensor(slot).expect("a head").bytes;
    for (id, &logit) in network.logits(0).iter().enumerate().step_by(97) {
        let weights = head[id * last.len() * 4..].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let product: f32 = weights.zip(&last).map(|(weight, x)| weight * x).sum();
        assert!((product - logit).abs() < 1e-3, "id {id}: {product} for {logit}");
    }
}
