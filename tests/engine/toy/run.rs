//! Runs a request and keeps what came of it.

use bass_tui::engine::{Engine, Event, FinishReason, GenerateOptions, Summary};

/// Events of a step: (candidate, drafted, accepted).
pub type Step = Vec<(usize, usize, usize)>;

#[derive(Default)]
pub struct Outcome {
    pub ids: Vec<Vec<u32>>,
    pub logprobs: Vec<Vec<f32>>,
    pub reasons: Vec<Option<FinishReason>>,
    pub texts: Vec<String>,
    pub steps: Vec<Step>,
    pub summary: Summary,
    now: Step,
}

impl Outcome {
    pub fn new(n: usize) -> Self {
        Self {
            ids: vec![Vec::new(); n],
            logprobs: vec![Vec::new(); n],
            reasons: vec![None; n],
            texts: vec![String::new(); n],
            ..Self::default()
        }
    }

    /// Takes in the next event of the request.
    pub fn take(&mut self, event: Event) {
        match event {
            Event::Tokens { candidate, ids, logprobs, drafted, accepted, .. } => {
                assert!(accepted <= drafted && ids.len() <= drafted + 1 && ids.len() == logprobs.len());
                self.now.push((candidate, drafted, accepted));
                self.ids[candidate].extend(ids);
                self.logprobs[candidate].extend(logprobs);
            }
            Event::Finished { candidate, reason, text, .. } => {
                assert!(self.reasons[candidate].is_none(), "candidate {candidate} finished twice");
                self.reasons[candidate] = Some(reason);
                self.texts[candidate] = text;
            }
            Event::Step(_) => self.steps.push(std::mem::take(&mut self.now)),
            Event::Done(summary) => self.summary = *summary,
            Event::Failed(why) | Event::Refused(why) | Event::Broken { why, .. } => panic!("{why}"),
            Event::Prefill { .. } | Event::Scored { .. } => {}
        }
    }

    /// The log-probabilities of a candidate, to the bit.
    pub fn bits(&self, candidate: usize) -> Vec<u32> {
        self.logprobs[candidate].iter().map(|logprob| logprob.to_bits()).collect()
    }
}

pub fn generate_until(
    engine: &mut Engine,
    prompt: &[u32],
    options: &GenerateOptions,
    cancelled: &dyn Fn(usize) -> bool,
) -> Outcome {
    let mut outcome = Outcome::new(options.n);
    engine.generate(prompt, options, cancelled, &mut |event| outcome.take(event)).unwrap();
    outcome
}

pub fn generate(engine: &mut Engine, prompt: &[u32], options: &GenerateOptions) -> Outcome {
    generate_until(engine, prompt, options, &|_| false)
}
