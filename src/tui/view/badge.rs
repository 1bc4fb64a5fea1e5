//! The state of a candidate in a word or two. Words first: colour only repeats them.

use crate::engine::FinishReason;
use crate::job::label;
use crate::trial::{Effect, Status, Verdict};
use crate::tui::app::find::Filter;
use crate::tui::app::{Phase, Run, State, Testing};
use crate::tui::text;
use crate::tui::theme::Role;
use crate::untrusted::clean_line;

/// The word for a candidate that has ended, of which nothing else is known.
const FINISHED: &str = "finished";

/// A word and what it means.
pub struct Badge {
    pub text: String,
    pub role: Role,
}

/// State of a candidate that gives another answer than the user's.
const WRONG: &str = "WRONG ANSWER";

fn badge(text: impl Into<String>, role: Role) -> Badge {
    Badge { text: text.into(), role }
}

/// The state of a candidate.
pub fn of(run: &Run, index: usize) -> Badge {
    let Some(candidate) = run.candidates.get(index) else { return badge("", Role::Muted) };
    match candidate.phase {
        Phase::Stopping => badge("stopping", Role::Working),
        _ if run.stopping && candidate.is_live() => badge("stopping", Role::Working),
        Phase::Waiting => badge("waiting", Role::Muted),
        Phase::Prefill => badge("reading the prompt", Role::Working),
        Phase::Streaming => badge("writing", Role::Working),
        Phase::Broken | Phase::Finished(FinishReason::Failed) => badge("BROKEN OFF", Role::Error),
        Phase::Finished(FinishReason::Cancelled) => with_verdict("stopped", run, index),
        Phase::Finished(FinishReason::Budget) => with_verdict("OUT OF TIME", run, index),
        Phase::Finished(_) if candidate.is_cut_off => badge("CUT OFF", Role::Warn),
        Phase::Finished(_) => match candidate.duplicate_of.filter(|&of| !is_folded(run, index, of)) {
            Some(original) => with_verdict(&format!("SAME AS {}", label(original)), run, index),
            None => judged(run, index).unwrap_or_else(|| badge(FINISHED, Role::Muted)),
        },
    }
}

/// Both candidates are shown in one block.
fn is_folded(run: &Run, one: usize, other: usize) -> bool {
    run.block_of(one).is_some_and(|block| block.members.contains(&other))
}

/// The state in a few columns, for strips and lists: `71t`, `PASS`, `=C`.
pub fn short(run: &Run, index: usize) -> Badge {
    let Some(candidate) = run.candidates.get(index) else { return badge("", Role::Muted) };
    match (candidate.phase, candidate.duplicate_of.filter(|&of| !is_folded(run, index, of))) {
        (Phase::Waiting | Phase::Prefill, _) => badge("…", Role::Muted),
        // A server may not tell how many there are.
        (Phase::Streaming | Phase::Stopping, _) if candidate.tokens == 0 => badge("…", Role::Working),
        (Phase::Streaming | Phase::Stopping, _) => badge(format!("{}t", candidate.tokens), Role::Working),
        (Phase::Finished(_), Some(original)) => {
            let role = judged(run, index).map_or(Role::Muted, |b| b.role);
            badge(format!("={}", label(original)), role)
        }
        (_, None) => match run.testing(index) {
            Testing::Queued | Testing::Running => badge("test", Role::Working),
            _ => match of(run, index) {
                Badge { text, role } if text == WRONG => badge("WRONG", role),
                other => other,
            },
        },
        (Phase::Broken, _) => of(run, index),
    }
}

/// The state in a few columns, with the user's answer where nothing else is known.
pub fn in_tab(state: &State, run: &Run, index: usize) -> Badge {
    let own = short(run, index);
    let is_right = own.text == FINISHED && state.meets(index) == Some(true);
    if is_right { badge("RIGHT", Role::Pass) } else { own }
}

/// The judgement of a candidate by the answers of the user, where its state does not say it.
fn answer(state: &State, run: &Run, index: usize) -> Option<Badge> {
    let meets = state.meets(index).filter(|_| !of(run, index).text.ends_with(WRONG))?;
    let (words, role) = if meets { ("RIGHT ANSWER", Role::Pass) } else { (WRONG, Role::Fail) };
    Some(badge(words, role))
}

fn with_verdict(text: &str, run: &Run, index: usize) -> Badge {
    match judged(run, index) {
        Some(verdict) => badge(format!("{text}  {}", verdict.text), verdict.role),
        None => badge(text, Role::Muted),
    }
}

/// Badge of what is known of a candidate: the user's answer is stronger than tests that it passed.
pub fn judged(run: &Run, index: usize) -> Option<Badge> {
    let testing = run.testing(index);
    let is_refuted = run.wrong.contains(&index) && (testing.passed() || *testing == Testing::None);
    if is_refuted { Some(badge(WRONG, Role::Fail)) } else { tested(testing) }
}

/// Badge for the state of a candidate's tests, if there is something to say.
pub fn tested(testing: &Testing) -> Option<Badge> {
    Some(match testing {
        Testing::None => return None,
        Testing::Queued => badge("waits for its test", Role::Muted),
        Testing::Running => badge("testing", Role::Working),
        Testing::Done(verdict) if verdict.has_passed() && verdict.is_marked() => badge("PASS, MARKED", Role::Warn),
        Testing::Done(verdict) => badge(verdict.status.word(), role(verdict.status)),
        Testing::Marked(_) => badge("NOT TESTED, MARKED", Role::Warn),
        Testing::Fault(_) => badge("NOT TESTED", Role::Error),
        Testing::Refused => badge("not tested", Role::Warn),
    })
}

fn role(status: Status) -> Role {
    match status {
        Status::Passed => Role::Pass,
        Status::Failed => Role::Fail,
        Status::NotRun => Role::Warn,
        Status::Error | Status::Timeout | Status::Killed | Status::Tampered => Role::Error,
    }
}

/// Words of a verdict on one line. Tests that are left out are the same for all, and stand in the line of
/// figures.
pub fn words(verdict: &Verdict) -> String {
    text::one_line(&verdict.without_remark(&verdict.words()))
}

/// The names of the candidates that say what this one says, and their number: `A E G  3x`. Their state stands
/// behind them, so they take at most a third of the columns.
pub fn names(run: &Run, index: usize, columns: u16) -> String {
    match run.block_of(index) {
        Some(block) if block.members.len() > 1 => {
            let names: Vec<String> = block.members.iter().map(|&member| label(member)).collect();
            let all = names.join(" ");
            let shown = if text::width(&all) * 3 <= columns.into() { all } else { format!("{} …", names[0]) };
            format!("{shown}  {}x", names.len())
        }
        _ => label(index),
    }
}

/// Badges of special candidates: `PICK`, `IN FILE`, `WRONG ANSWER`.
pub fn marks(state: &State, index: usize) -> Vec<Badge> {
    let mut marks = Vec::new();
    let Some(run) = &state.run else { return marks };
    let Some(candidate) = run.candidates.get(index) else { return marks };
    // The first are seen where there is little room.
    if run.pick == Some(index) {
        // Evidence by tests is stronger than a probability, and looks it.
        let role = if run.testing(index).passed() { Role::Pick } else { Role::Working };
        marks.push(badge("PICK", role));
    }
    // It has the place of the pick where none passed.
    if run.closest().is_some_and(|closest| closest.is_known() && closest.candidate == index) {
        marks.push(badge("CLOSEST", Role::Working));
    }
    if state.is_in_file(index) {
        marks.push(badge("IN FILE", Role::Pick));
    }
    marks.extend(answer(state, run, index));
    if let Some(of) = candidate.made_of {
        marks.push(badge(format!("EDITED {}", label(of)), Role::Warn));
    }
    if run.marked == Some(index) {
        marks.push(badge("MARKED", Role::Working));
    }
    let is_compared = run.agreement.is_none() || run.standing(index).is_some();
    if run.is_live() && !is_compared && candidate.is_whole() {
        marks.push(badge("comparing", Role::Working));
    }
    let Some((agreement, standing)) = run.agreeing().zip(run.standing(index)) else { return marks };
    let all = agreement.candidates();
    // The reason of a failure says more.
    let has_failed = Filter::Failed.takes(run.status(index));
    if standing.is_broken {
        // A verdict says so by itself.
        if !run.testing(index).is_settled() {
            let fault = run.agreement.as_ref().and_then(|agreement| agreement.fault_of(index));
            let name = fault.map_or("", |fault| fault.shown.split(':').next().unwrap_or_default());
            let words = if fault.is_some_and(|fault| fault.effect == Effect::Raised) {
                "RAISES "
            } else if name.is_empty() {
                "CANNOT BE LOADED"
            } else {
                "CANNOT BE LOADED: "
            };
            marks.push(badge(format!("{words}{}", clean_line(name, 30)), Role::Fail));
        }
    } else if all > 1 && agreement.tells() && !run.is_apart(index) && !has_failed {
        // Agreement is evidence, no verdict, and does not look like one.
        // A candidate that the user has made is none of them.
        let is_alone = standing.agree <= usize::from(candidate.made_of.is_none());
        let words = if agreement.constant().is_some() {
            "all calls alike".to_owned()
        } else if is_alone {
            "alone".to_owned()
        } else {
            run.agree_words(index).unwrap_or_else(|| format!("{} of {all} agree", standing.agree))
        };
        marks.push(badge(words, Role::Muted));
    }
    marks
}
