//! Events of a run: text flows into candidates, finished ones are compared and tested.

use std::ops::Range;

use super::candidate::{Candidate, Phase, Testing};
use super::diff;
use super::find::Filter;
use super::named::in_settings;
use super::past;
use super::refusal::refusal;
use super::run::Run;
use super::state::{Consent, Question, State, While};
use crate::engine::{Event as From, FinishReason};
use crate::job::{Event, Task, WhyMore, label, round_words};
use crate::trial::Verdict;
use crate::tui::keymap::{Action, Context};
use crate::untrusted::{clean, clean_line, code};

/// Takes an event of a run in. Events of runs before the newest one are dropped.
pub fn job(state: &mut State, id: u64, event: Event) {
    if state.run.as_ref().is_none_or(|run| run.id != id) {
        return past::event(state, id, event);
    }
    let is_text = matches!(event, Event::Source(From::Tokens { .. } | From::Prefill { .. } | From::Step(_)));
    take_in(state, event);
    if !is_text {
        state.fold();
        state.run.iter_mut().for_each(Run::focus_closest);
    }
}

fn take_in(state: &mut State, event: Event) {
    let Some(run) = &mut state.run else { return };
    match event {
        Event::Source(event) if run.is_live() => source(state, event),
        Event::Duplicate { candidate, of } => {
            if let Some(c) = run.candidates.get_mut(candidate).filter(|_| candidate != of) {
                (c.duplicate_of, c.testing) = (Some(of), Testing::None);
            }
        }
        Event::Preparing(longest) => run.prepares = longest.map(|longest| (state.now, longest.as_secs())),
        Event::Testing(candidate) => {
            if let Some(c) = run.candidates.get_mut(candidate).filter(|c| c.testing == Testing::Queued) {
                c.testing = Testing::Running;
            }
        }
        Event::Verdict { candidate, outcome } => {
            tested(state, candidate, outcome);
            state.run.iter_mut().for_each(Run::rank);
        }
        Event::Round { number, candidates, told, why } => round(state, number, &candidates, (told, why)),
        Event::Agreement(agreement) => {
            run.agreement = Some(agreement);
            // The row of a call of the user's is the first one once it is there.
            let newest = run.own_calls.0.first().filter(|_| run.own_calls.1);
            let inputs = run.agreement.as_ref().map_or(&[][..], |agreement| &agreement.inputs);
            if newest.is_some_and(|call| inputs.iter().any(|input| input.text() == *call)) {
                run.own_calls.1 = false;
                state.calls = state.calls.map(|_| 0);
            }
            run.rank();
            state.pick_by_checks();
        }
        // Without tests the comparison is all that a pick stands on.
        Event::Uncalled(why) if run.uncalled.is_none() => {
            run.uncalled = Some(why.clone());
            if !state.has_tests() {
                state.say(format!("the candidates are not compared: {why}"));
            }
        }
        Event::Pick(pick) => {
            run.picked(pick);
            // The run itself ends what is still being written.
            let marked = pick.is_some_and(|c| run.testing(c).is_marked());
            run.stopping |= state.stop_on_pass && !marked && run.is_live();
            state.pick_by_checks();
        }
        Event::Added { candidate, of, text } if candidate == run.candidates.len() => {
            run.candidates.push(Candidate::made(of, text, state.now));
            (run.focus, run.moved, run.filter) = (candidate, true, Filter::All);
            if state.has_tests() {
                queue(state, candidate);
            }
        }
        Event::Done(outcome) => {
            run.ranked(&outcome.summary.ranking);
            run.is_over = true;
            // Tests of a run may end several times.
            let is_first = !std::mem::replace(&mut run.was_over, true);
            let moved = run.moved;
            state.pick_by_checks();
            // Over a body that is in the file, the first question is what changes.
            let is_free = is_first && !moved && !state.can_undo() && state.place() == Context::Panes;
            if state.own_body.is_some() && is_free && refusal(state, Action::Diff).is_none() {
                diff::open(state, false);
            }
            // Last, as it names the keys from here.
            if is_first {
                told_apart(state);
            }
            unnoticed(state);
        }
        Event::Source(_) | Event::Added { .. } | Event::Uncalled(_) => {}
    }
}

/// Places for further candidates behind the others.
fn round(state: &mut State, number: usize, candidates: &Range<usize>, (told, why): (usize, WhyMore)) {
    let Some(run) = state.run.as_mut().filter(|run| run.candidates.len() == candidates.start) else { return };
    run.more(number, candidates.len(), told, state.now);
    state.say_while(While::Generating, round_words(candidates, told, why));
}

/// Says on what input candidates differ, which the user may have to decide. Other words stay.
fn told_apart(state: &mut State) {
    let Some(run) = state.run.as_ref().filter(|_| state.notice.is_none()) else { return };
    // Verdicts are shown without a key, and say more.
    let is_decided = state.is_tested() && run.is_decided();
    let Some(agreement) = run.agreeing().filter(|_| !is_decided) else { return };
    let Some(input) = run.telling() else { return };
    let tie = run.tie().map(|tie| [Some(tie), run.tie_broken()].into_iter().flatten().collect::<Vec<_>>().join("; "));
    let words = tie.unwrap_or_else(|| agreement.words());
    // In one line, so that the numbers of candidates that passed and failed stay in view.
    let (words, columns) =
        if run.has_passed() { ("those that passed".to_owned(), 24) } else { (format!("{words}; they"), 60) };
    let call = clean_line(&agreement.inputs[input].text(), columns);
    let key = state.key_name(Context::Panes, Action::Calls);
    let way = match state.place() {
        Context::Panes => format!(": {key} shows it"),
        place @ (Context::Diff | Context::Results) => {
            format!(": {}, then {key} shows it", state.key_name(place, Action::Close))
        }
        _ => String::new(),
    };
    state.say(format!("{words} differ on {call}{way}"));
}

/// Says that tests which do not notice the function leave the pick to agreement. Other words stay.
fn unnoticed(state: &mut State) {
    if state.notice.is_none() && state.has_tests() && !state.is_tested() {
        let agreement = state.run.as_ref().and_then(|run| run.agreement.as_deref());
        state.say(state.job.unnoticed_words(agreement));
    }
}

/// Takes in what the source says.
fn source(state: &mut State, event: From) {
    let now = state.now;
    let Some(run) = &mut state.run else { return };
    run.heard = now;
    match event {
        From::Prefill { done, total } => {
            run.prefill.told(done as u64, total as u64, now);
            for candidate in run.candidates.iter_mut().filter(|c| c.phase == Phase::Waiting) {
                candidate.phase = Phase::Prefill;
            }
        }
        From::Scored { .. } => {}
        From::Tokens { candidate, text, ids, logprobs, alternatives, accepted, .. } => {
            if let Some(c) = run.candidates.get_mut(candidate).filter(|c| c.is_live()) {
                if c.phase != Phase::Stopping {
                    c.phase = Phase::Streaming;
                }
                c.shown.push_str(&code(&text));
                c.text.push_str(&text);
                c.tokens += ids.len().max(logprobs.len());
                c.logprob_sum += logprobs.iter().map(|p| f64::from(*p)).sum::<f64>();
                // Who tells no ids tells nothing of steps either.
                c.steps += usize::from(!ids.is_empty());
                c.accepted += accepted;
                c.trace.add(&ids, &logprobs, alternatives, accepted);
            }
        }
        From::Broken { candidate, why } => {
            let why = clean(&in_settings(state, &why));
            if let Some(c) = state.run.as_mut().and_then(|run| run.candidates.get_mut(candidate)) {
                c.testing = Testing::Fault(why);
            }
        }
        From::Finished { candidate, reason, text, mean_logprob } => {
            finished(state, candidate, reason, text, mean_logprob);
        }
        From::Step(stats) => {
            run.step(stats, now);
        }
        From::Done(summary) => {
            run.end(Phase::Finished(FinishReason::Cancelled), now);
            // By what the source knows; else by agreement, once all is done.
            if run.candidates.iter().any(|c| c.mean_logprob.is_some()) {
                run.ranked(&summary.ranking);
            }
            run.summary = Some(*summary);
        }
        From::Refused(why) | From::Failed(why) => {
            run.end(Phase::Broken, now);
            state.fail(in_settings(state, &why));
        }
    }
}

fn finished(state: &mut State, index: usize, reason: FinishReason, text: String, mean: Option<f32>) {
    let (now, tested) = (state.now, state.has_tests());
    let Some(run) = state.run.as_mut() else { return };
    let Some(candidate) = run.candidates.get_mut(index).filter(|c| c.is_live()) else { return };
    candidate.mean_logprob = mean;
    candidate.is_cut_off = state.job.is_cut_off(reason, &text);
    // With the imports that come with the body and are not in the answer.
    let whole = state.job.target().and_then(|target| target.with_imports(&text));
    candidate.shown = code(whole.as_ref().unwrap_or(&text));
    candidate.text = text;
    candidate.end(Phase::Finished(reason), now);
    let is_broken = matches!(candidate.testing, Testing::Fault(_));
    if candidate.is_whole() && tested && !run.untested && !is_broken {
        queue(state, index);
    }
}

/// The tests of a candidate are to run. Without isolation the user is asked before the first one.
pub fn queue(state: &mut State, index: usize) {
    let unprotected = state.is_unprotected();
    if unprotected && state.consent == Consent::Unknown {
        state.question.get_or_insert(Question::Unprotected { since: state.now });
    }
    let refused = unprotected && state.consent == Consent::Refused;
    if let Some(candidate) = state.run.as_mut().and_then(|run| run.candidates.get_mut(index)) {
        candidate.testing = if refused { Testing::Refused } else { Testing::Queued };
    }
}

/// Takes a verdict in.
fn tested(state: &mut State, index: usize, outcome: Result<Verdict, String>) {
    let said = |words: &str| clean(&in_settings(state, words));
    let outcome =
        outcome.map(|verdict| Verdict { message: said(&verdict.message), output: clean(&verdict.output), ..verdict });
    let Some(run) = &mut state.run else { return };
    let Some(candidate) = run.candidates.get_mut(index) else { return };
    let is_pending = candidate.testing.is_pending();
    let mut fault = None;
    candidate.testing = match outcome {
        // Marks need no tests.
        Ok(verdict) if candidate.testing == Testing::None && Testing::is_of_marks(&verdict) => Testing::Marked(verdict),
        // The result of a stopped trial says nothing about the candidate.
        _ if !is_pending => return,
        Ok(verdict) => Testing::Done(verdict),
        Err(why) => {
            fault = Some(format!("the tests of {} could not be run: {why}", label(index)));
            Testing::Fault(clean(&why))
        }
    };
    if let Some(why) = fault {
        state.fail(why);
    }
}
