//! Steps on the CUDA backend are CUDA graphs, through the emulator: the same tokens as launch by launch, one
//! wait of the host for a step, and few graphs for many steps.

use std::sync::Arc;

use super::architectures::without_last_layer;
use super::emulator::{Counts, LATE, counts, gpu, is_emulated};
use super::network::{model, tokens};
use super::toy::cases::WARM;
use bass_tui::backend::cuda::{CudaNetwork, Gpu};
use bass_tui::backend::{Candidate, ChoiceRules, Dtype, LoadOptions, Network, Rows, SeqId, Span, Wanted};
use bass_tui::model::Model;
use bass_tui::sampling::{Accept, Sampling};

const PROMPT: usize = 20;
const CANDIDATES: usize = 3;
const TAIL: usize = 110;

/// A network that has read the prompt but for its last token, and its candidates.
fn start(model: &Model, eager: bool, gpu: &Arc<Gpu>) -> (CudaNetwork, Vec<SeqId>) {
    let options = LoadOptions { dtype: Dtype::F32, eager, ..LoadOptions::default() };
    let mut network = CudaNetwork::new(model, options, gpu).expect("loadable");
    let seq = network.open(PROMPT).expect("memory");
    let span = Span { seq, start: 0, len: PROMPT - 1 };
    let prompt = tokens(36, PROMPT);
    network.forward(&Rows::chain(&prompt[..PROMPT - 1], &[span]), Wanted::Nothing).expect("a pass");
    let forks = network.fork(seq, CANDIDATES, TAIL).expect("memory");
    (network, forks)
}

/// Tokens of the candidates with the bits of their log-probabilities, and what the driver was asked for in
/// each step.
fn steps(
    gpu: &Arc<Gpu>,
    case: &str,
    eager: bool,
    penalty: Option<f32>,
    (number, length): (usize, fn(usize) -> usize),
) -> (Vec<(u32, u32)>, Vec<Counts>) {
    let (mut main, main_seqs) = start(&model(case), eager, gpu);
    let (mut draft, draft_seqs) = start(&without_last_layer(case), eager, gpu);
    let sampling = Sampling { temperature: 0.7, repetition_penalty: penalty, ..WARM };
    let rules = ChoiceRules {
        sampling: &sampling,
        accept: Accept::Rejection,
        seed: 7,
        vocab: main.vocab_size(),
        alternatives: 0,
    };
    let mut texts = vec![tokens(36, PROMPT); CANDIDATES];
    let (mut all, mut counted) = (Vec::new(), Vec::new());
    for step in 0..number {
        let of = |seqs: &[SeqId]| -> Vec<Candidate<'_>> {
            let each = (0..).zip(seqs.iter().zip(&texts));
            each.map(|(index, (&seq, tokens))| Candidate { seq, index, tokens, rules }).collect()
        };
        counts();
        let drafts = draft.draft(&of(&draft_seqs), &[length(step); CANDIDATES]).expect("drafts");
        let accepted = main.verify(&of(&main_seqs), &drafts).expect("verified");
        counted.push(counts());
        for ((text, of), &seq) in texts.iter_mut().zip(&accepted).zip(&draft_seqs) {
            // The last draft was never read.
            draft.set_len(seq, text.len() + of.accepted.min(length(step).max(1) - 1));
            text.extend(&of.tokens);
            all.extend(of.tokens.iter().zip(&of.logprobs).map(|(&token, logprob)| (token, logprob.to_bits())));
        }
    }
    (all, counted)
}

/// Devices that do their work at once and late; histories grow, and so does the text. Which experts are
/// chosen changes from step to step, and the launches do not.
#[test]
fn steps_are_two_graphs_and_one_wait_and_give_the_tokens_of_single_launches() {
    let cases = [(LATE, "llama"), (LATE, "mixtral"), (LATE, "gpt-oss"), (0, "gemma4-moe"), (LATE, "qwen3-5")];
    for (number, case) in cases {
        let Some(gpu) = gpu(number) else { return };
        let (expected, single) = steps(&gpu, case, true, Some(1.1), (24, |_| 3));
        let (found, counted) = steps(&gpu, case, false, Some(1.1), (24, |_| 3));
        assert_eq!(found, expected, "{case} on device {number}");
        if !is_emulated() {
            continue;
        }
        let of = |counts: &[Counts], of: fn(&Counts) -> u64| counts.iter().map(of).sum::<u64>();
        assert!(single.iter().all(|step| step.graph_launches == 0 && step.launches > 40), "{single:?}");
        for step in &counted[2..] {
            assert_eq!((step.waits, step.to_device, step.to_host), (1, 2, 1), "{counted:#?}");
            assert!(step.graph_launches + u64::from(step.launches > 0) <= 2, "{counted:#?}");
        }
        let graphs = Counts { waits: 1, to_device: 2, to_host: 1, graph_launches: 2, ..Counts::default() };
        let whole = counted.iter().filter(|&step| *step == graphs).count();
        assert!(whole >= 12, "{whole} of {} steps are graphs alone: {counted:#?}", counted.len());
        assert!(of(&counted, |step| step.graphs_made) <= 6, "{counted:#?}");
        assert_eq!(of(&counted, |step| step.graphs_ended), 0, "{counted:#?}");
    }
}

/// As policies change them, also after a while without drafts, in which the draft model has more to read.
#[test]
fn draft_lengths_that_change_come_back_to_their_graphs() {
    let Some(gpu) = gpu(1) else { return };
    let lengths: [fn(usize) -> usize; 2] = [|step| [2, 4, 3][step / 3 % 3], |step| [2, 0, 3][step / 2 % 3]];
    for (number, length) in lengths.into_iter().enumerate() {
        let (expected, _) = steps(&gpu, "llama", true, None, (27, length));
        let (found, counted) = steps(&gpu, "llama", false, None, (27, length));
        assert_eq!(found, expected);
        if !is_emulated() {
            continue;
        }
        let launched = |counts: &[Counts]| counts.iter().map(|step| step.launches).sum::<u64>();
        let (first, last) = (launched(&counted[..9]), launched(&counted[18..]));
        assert!(number > 0 || last < first / 4, "{last} after {first}: {counted:#?}");
    }
}
