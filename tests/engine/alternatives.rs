//! Answers beside the text: the most probable tokens in the place of each, and how probable a prompt is. Both
//! are read off the rows that a plain pass over the same text gives, to the bit, whatever is drafted.

use std::collections::HashMap;

use super::emulator::gpu;
use super::network::{model, tokens};
use super::toy::Toy;
use super::toy::cases::{PLAIN, WARM, options};
use bass_tui::backend::cpu::{CpuNetwork, Kernels};
use bass_tui::backend::cuda::CudaNetwork;
use bass_tui::backend::{HostLogits, LoadOptions, Network, Rows, Span, Wanted};
use bass_tui::engine::{DraftLength, Engine, EngineError, Event, GenerateOptions, ModelDrafter};
use bass_tui::sampling::{Alternative, Sampling, Scores, alternatives, raw_logprob};

/// Scores told of a request.
#[derive(Debug, Default, PartialEq)]
struct Told {
    prompt: Option<(u32, Scores)>,
    candidates: Vec<Scores>,
}

fn told(engine: &mut Engine, prompt: &[u32], options: &GenerateOptions) -> Told {
    let mut told = Told { prompt: None, candidates: vec![Scores::default(); options.n] };
    let mut sink = |event| match event {
        Event::Scored { first, rest } => {
            assert!(told.candidates.iter().all(|candidate| candidate.ids.is_empty()));
            assert_eq!(told.prompt.replace((first, rest)), None, "told twice");
        }
        Event::Tokens { candidate, ids, logprobs, alternatives, .. } => {
            let of = &mut told.candidates[candidate];
            of.ids.extend(ids);
            of.logprobs.extend(logprobs);
            of.alternatives.extend(alternatives);
        }
        _ => {}
    };
    engine.generate(prompt, options, &|_| false, &mut sink).expect("candidates");
    told
}

/// Scores of the text's tokens from number `from` on, by a pass over all of it.
fn plain(network: &mut impl HostLogits, text: &[u32], from: usize, count: usize) -> Scores {
    let seq = network.open(text.len()).expect("memory");
    let spans = [Span { seq, start: 0, len: text.len() }];
    network.forward(&Rows::chain(text, &spans), Wanted::All).expect("a pass");
    let mut scores = Scores::default();
    for (at, &token) in text.iter().enumerate().skip(from) {
        let row = network.logits(at - 1);
        scores.ids.push(token);
        scores.logprobs.push(raw_logprob(row, token));
        if count > 0 {
            scores.alternatives.push(alternatives(row, count));
        }
    }
    network.close(seq);
    scores
}

fn hold(mut engine: Engine, mut reference: impl HostLogits, same_logprobs: bool) {
    engine.keep_prompts(1 << 24);
    let prompt = tokens(71, 150);
    for (n, length, count) in [(1, PLAIN, 0), (2, DraftLength::Fixed(3), 5), (3, DraftLength::Bass, 20)] {
        // A text is passed over once, however often it is written.
        let mut known: HashMap<Vec<u32>, Scores> = HashMap::new();
        let mut of = |text: &[u32], from: usize| -> Scores {
            known.entry(text.to_vec()).or_insert_with(|| plain(&mut reference, text, from, count)).clone()
        };
        for sampling in [Sampling::GREEDY, WARM] {
            let what = format!("n = {n}, {length:?}, {count} alternatives, {sampling:?}");
            let quiet = options(n, 10, length, sampling);
            let unasked = told(&mut engine, &prompt, &quiet);
            assert!(unasked.prompt.is_none() && unasked.candidates.iter().all(|c| c.alternatives.is_empty()), "{what}");
            // The second time the prompt is there already, and has to be read again.
            for _ in 0..2 {
                let asked = GenerateOptions { alternatives: count, score_prompt: true, ..quiet.clone() };
                let got = told(&mut engine, &prompt, &asked);
                let (first, rest) = got.prompt.expect("scores");
                assert_eq!((first, rest), (prompt[0], of(&prompt, 1)), "{what}");
                for (candidate, unasked) in got.candidates.iter().zip(&unasked.candidates) {
                    assert_eq!((&candidate.ids, &candidate.logprobs), (&unasked.ids, &unasked.logprobs), "{what}");
                    let text = [&prompt[..], &candidate.ids].concat();
                    let expected = of(&text, prompt.len());
                    assert_eq!(candidate.alternatives, expected.alternatives, "{what}");
                    if same_logprobs {
                        assert_eq!(*candidate, expected, "{what}");
                    }
                    let best = candidate.alternatives.iter().filter_map(|list| list.first());
                    let ids = best.map(|&Alternative { id, .. }| id).collect::<Vec<_>>();
                    assert!(sampling != Sampling::GREEDY || count == 0 || ids == candidate.ids, "{what}");
                }
            }
        }
    }
}

/// An engine for the model of these tests and what drafts for it.
fn engine<N: Network + 'static>(main: N, draft: N) -> Engine {
    let drafter = ModelDrafter::new("draft", Box::new(draft));
    Engine::new(Box::new(main), model("qwen2").tokenizer, Vec::new(), Some(Box::new(drafter)))
}

#[test]
fn what_is_told_is_what_a_plain_pass_says() {
    let (model, draft) = (model("qwen2"), super::architectures::without_last_layer("qwen2"));
    let load = |model| CpuNetwork::new(model, LoadOptions::default(), Kernels::best()).expect("loadable");
    hold(engine(load(&model), load(&draft)), load(&model), true);
}

/// Draws and probabilities of what is written come from the device, what could have been from the host.
#[test]
fn what_a_gpu_tells_is_what_its_plain_pass_says() {
    let Some(gpu) = gpu(1) else { return };
    let (model, draft) = (model("qwen2"), super::architectures::without_last_layer("qwen2"));
    let load = |model| CudaNetwork::new(model, LoadOptions::default(), &gpu).expect("loadable");
    hold(engine(load(&model), load(&draft)), load(&model), false);
}

#[test]
fn a_network_that_does_not_tell_refuses_beforehand() {
    let tokenizer = model("qwen2").tokenizer;
    let mut engine = Engine::new(Box::new(Toy::main()), tokenizer, Vec::new(), None);
    let quiet = options(1, 4, PLAIN, Sampling::GREEDY);
    for asked in
        [GenerateOptions { alternatives: 1, ..quiet.clone() }, GenerateOptions { score_prompt: true, ..quiet.clone() }]
    {
        let refused = engine.submit(&[1, 2], &asked);
        assert!(matches!(&refused, Err(EngineError::Request(why)) if why.contains("are not told on")), "{refused:?}");
    }
    assert!(engine.submit(&[1, 2], &quiet).is_ok());
}
