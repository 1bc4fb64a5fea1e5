//! What generations and trials report: text flows into candidates, finished ones are compared and tested, verdicts
//! choose one.

use super::candidate::{Phase, Testing};
use super::effect::Effect;
use super::state::{Consent, Question, State};
use crate::engine::{Event, FinishReason};
use crate::job::{Task, label};
use crate::trial::Verdict;
use crate::untrusted::clean;

/// Takes an event of a generation in. Events of earlier generations are dropped.
pub fn engine(state: &mut State, id: u64, event: Event) -> Vec<Effect> {
    let now = state.now;
    let Some(run) = state.run.as_mut().filter(|r| r.id == id && r.is_live()) else { return Vec::new() };
    match event {
        Event::Prefill { done, total } => {
            run.prefill = (done, total);
            for candidate in run.candidates.iter_mut().filter(|c| c.phase == Phase::Waiting) {
                candidate.phase = Phase::Prefill;
            }
            Vec::new()
        }
        Event::Tokens { candidate, text, ids, logprobs, drafted: _, accepted } => {
            if let Some(c) = run.candidates.get_mut(candidate).filter(|c| c.is_live()) {
                c.phase = Phase::Streaming;
                c.shown.push_str(&clean(&text));
                c.text.push_str(&text);
                c.tokens += ids.len();
                c.logprob_sum += logprobs.iter().map(|p| f64::from(*p)).sum::<f64>();
                c.steps += 1;
                c.accepted += accepted;
            }
            Vec::new()
        }
        Event::Finished { candidate, reason, text, mean_logprob } => {
            finished(state, candidate, reason, text, mean_logprob)
        }
        Event::Step(stats) => {
            run.step(stats, now);
            Vec::new()
        }
        Event::Done(summary) => {
            run.end(Phase::Finished(FinishReason::Cancelled), now);
            run.rank(&summary.ranking);
            run.summary = Some(*summary);
            Vec::new()
        }
        Event::Refused(why) | Event::Failed(why) => {
            run.end(Phase::Broken, now);
            state.fail(why);
            Vec::new()
        }
    }
}

fn finished(state: &mut State, index: usize, reason: FinishReason, text: String, mean: f32) -> Vec<Effect> {
    let now = state.now;
    let has_tests = state.has_tests();
    let Some(run) = state.run.as_mut() else { return Vec::new() };
    let Some(candidate) = run.candidates.get_mut(index).filter(|c| c.is_live()) else { return Vec::new() };
    candidate.mean_logprob = Some(mean);
    candidate.shown = clean(&text);
    candidate.text = text;
    candidate.end(Phase::Finished(reason), now);
    if !candidate.is_whole() {
        return Vec::new();
    }
    let key = state.job.duplicate_key(index, &candidate.text);
    candidate.key = Some(key);
    let key = &run.candidates[index].key;
    // An original has no original itself, so a duplicate always points at the one that is tested.
    let original =
        run.candidates.iter().enumerate().find(|(i, c)| *i != index && c.duplicate_of.is_none() && c.key == *key);
    if let Some((original, _)) = original {
        run.candidates[index].duplicate_of = Some(original);
    } else if has_tests {
        run.queue(index);
    }
    start_trials(state)
}

/// Starts trials as far as there is room. Without isolation the user is asked before the first one.
pub fn start_trials(state: &mut State) -> Vec<Effect> {
    let unprotected = state.is_unprotected();
    let (consent, now) = (state.consent, state.now);
    let Some(run) = &mut state.run else { return Vec::new() };
    if !run.has_queued() {
        return Vec::new();
    }
    if unprotected && consent == Consent::Refused {
        run.drop_queue(&Testing::Refused);
        return Vec::new();
    }
    if unprotected && consent == Consent::Unknown {
        state.question.get_or_insert(Question::Unprotected { since: now });
        return Vec::new();
    }
    let mut effects = Vec::new();
    while let Some(candidate) = run.next_trial() {
        let text = run.candidates.get(candidate).map(|c| c.text.clone()).unwrap_or_default();
        effects.push(Effect::Test { run: run.id, candidate, text });
    }
    effects
}

/// Takes a verdict in.
pub fn tested(state: &mut State, id: u64, index: usize, result: Result<Verdict, String>) -> Vec<Effect> {
    let Some(run) = state.run.as_mut().filter(|r| r.id == id) else { return Vec::new() };
    let Some(candidate) = run.candidates.get_mut(index).filter(|c| c.testing == Testing::Running) else {
        return Vec::new();
    };
    if run.stopping_tests {
        candidate.testing = Testing::None;
        return start_trials(state);
    }
    let mut fault = None;
    candidate.testing = match result {
        Ok(verdict) => {
            Testing::Done(Verdict { message: clean(&verdict.message), output: clean(&verdict.output), ..verdict })
        }
        Err(why) => {
            fault = Some(format!("the tests of {} could not be run: {why}", label(index)));
            Testing::Fault(clean(&why))
        }
    };
    if candidate.testing.passed() && run.first_pass.is_none() {
        run.first_pass = Some(index);
    }
    // Trials go on: what has ended by itself keeps its verdict, and may be the better one.
    let enough = state.stop_on_pass && run.first_pass == Some(index) && run.is_live() && !run.stopping;
    run.stopping |= enough;
    if let Some(why) = fault {
        state.fail(why);
    }
    let mut effects = start_trials(state);
    if enough {
        effects.insert(0, Effect::CancelAll { run: id });
    }
    effects
}
