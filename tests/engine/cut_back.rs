//! Prompts that are cut back and extended, and hidden states, on the CPU: bit-equal to rows computed afresh.

use super::network::{Bits, bits, model, network, pass, small, tokens};
use bass_tui::backend::cpu::CpuNetwork;
use bass_tui::backend::{BackendError, Dtype, HostLogits, Network, SeqId, Wanted};
use bass_tui::model::Slot;

/// The logits after `text`, which goes on after the prompt.
fn after(network: &mut CpuNetwork, prompt: SeqId, text: &[u32]) -> Bits {
    let start = network.len(prompt);
    let fork = network.fork(prompt, 1, text.len()).expect("memory")[0];
    pass(network, &[(fork, start, text)], Wanted::Last);
    network.close(fork);
    bits(network, 0)
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
