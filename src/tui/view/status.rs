//! The line of figures: tests, speed, acceptance, settings, sandbox.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Look, badge, confidence, pane, put_all, wish};
use crate::engine::FinishReason;
use crate::job::label;
use crate::trial::Status;
use crate::tui::app::find::Filter;
use crate::tui::app::state::{Consent, Question};
use crate::tui::app::{Loading, Phase, Run};
use crate::tui::keymap::{Action, Context};
use crate::tui::layout::{Layout, Regime};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws the line, dropping from the right what does not fit.
pub fn draw(buf: &mut Buffer, area: Rect, look: &Look, layout: &Layout) {
    if area.is_empty() {
        return;
    }
    let pieces = if layout.regime == Regime::Floor { floor(look) } else { pieces(look) };
    let row = Rect {
        x: area.x + u16::from(area.width > 20),
        width: area.width.saturating_sub(u16::from(area.width > 20)),
        ..area
    };
    put_all(buf, row, &pieces);
}

fn pieces(look: &Look) -> Vec<(String, Style)> {
    let state = look.state;
    let (plain, muted) = (Style::default(), look.style(Role::Muted));
    let mut out = Vec::new();
    if state.watch.on {
        out.push(("WATCHING".to_owned(), look.style(Role::Working)));
    }
    if state.mouse {
        out.push(("MOUSE".to_owned(), look.style(Role::Warn)));
    }
    if state.is_unprotected() {
        match state.consent {
            Consent::Given => out.push(("UNPROTECTED".to_owned(), look.style(Role::Error))),
            Consent::Refused => out.push(("tests refused".to_owned(), look.style(Role::Warn))),
            Consent::Unknown if matches!(state.question, Some(Question::Unprotected { .. })) => {
                out.push(("tests wait for your answer".to_owned(), look.style(Role::Warn)));
            }
            Consent::Unknown => {}
        }
    }
    if state.eager && state.loading == Loading::Opening {
        out.push(("writes as soon as the models are loaded".to_owned(), look.style(Role::Working)));
    }
    if let Some(asked) = state.wish.asked() {
        out.push((wish::asking(asked, state.now), look.style(Role::Working)));
    }
    if let Some(run) = state.run.as_ref().filter(|run| run.filter != Filter::All) {
        out.push((format!("only {}", run.filter.name()), look.style(Role::Warn)));
    }
    out.extend(confidence::legend(look));
    if let Some(run) = &state.run {
        if let Some(cause) = run.shared_cause() {
            out.push((
                format!("all: {}", text::one_line(&cause.without_remark(&cause.message))),
                look.style(Role::Fail),
            ));
        }
        if let Some((words, role)) = tests(run, state.has_tests()) {
            out.push((words, look.style(role)));
        }
        out.extend(run.left_out().map(|words| (words, muted)));
        let is_decided = state.is_tested() && run.is_decided();
        if let Some(tie) = run.tie().filter(|_| !run.is_live() && !is_decided) {
            out.push((run.tie_broken().map_or_else(|| tie.clone(), |why| format!("{tie}; {why}")), plain));
        }
        if let Some(seconds) = run.silent_for(state.now).filter(|_| pane::is_served(look)) {
            out.push((format!("no data for {seconds} s"), look.style(Role::Warn)));
        }
        if let Some((seconds, longest)) = run.prepares_for(state.now) {
            let words = format!("your tests run once without a body: {seconds} of at most {longest} s");
            out.push((words, look.style(Role::Working)));
        }
        let speed = run.summary.as_ref().map_or(run.rate, |s| s.tokens_per_second);
        if speed > 0.0 {
            out.push((format!("{speed:.0} tok/s"), plain));
        }
        if let Some(gain) = run.pace.gain() {
            out.push((format!("{gain:.1}x of plain"), plain));
        }
        if let Some(accepted) = run.accepted_per_step() {
            let line = if run.is_live() || state.zoom { run.pace.line() } else { String::new() };
            out.push((format!("+{accepted:.1}/step {line}").trim_end().to_owned(), plain));
        }
        if let Some(budget) = state.options.time_budget.filter(|_| run.is_live()) {
            let spent = run.spent(state.now) as f64 / 1000.0;
            out.push((confidence::budget(spent, budget.as_secs_f64()), look.style(Role::Working)));
        }
        if !run.is_live() {
            out.push((format!("{:.2} s", run.spent(state.now) as f64 / 1000.0), plain));
        }
    }
    let seed = state.run.as_ref().map_or(state.options.seed, |r| r.seed);
    let temperature = state.options.sampling.temperature;
    out.push((format!("N {}", state.options.n), muted));
    out.push((if temperature == 0.0 { "greedy".to_owned() } else { format!("T {temperature}") }, muted));
    out.push((format!("seed {seed}"), muted));
    out.push((state.draft_length(), muted));
    if state.has_tests() && !state.protection.tier.is_empty() {
        out.push((format!("sandbox: {}", text::one_line(&state.protection.tier)), muted));
    }
    out
}

/// The words of [`kind`], in the order in which they are counted.
const KINDS: [&str; 12] = [
    "writing", "to test", "passed", "failed", "wrong", "not run", "not tested", "finished", "cut off", "stopped",
    "out of time", "broken off",
];

/// How a candidate is counted, in a word or two.
fn kind(run: &Run, index: usize, has_tests: bool) -> &'static str {
    let (candidate, testing) = (&run.candidates[index], run.testing(index));
    match (candidate.phase, testing.status()) {
        _ if candidate.is_live() => "writing",
        (Phase::Broken | Phase::Finished(FinishReason::Failed), _) => "broken off",
        _ if candidate.is_cut_off => "cut off",
        _ if testing.is_pending() => "to test",
        (_, None | Some(Status::Passed)) if candidate.is_whole() && run.wrong.contains(&index) => "wrong",
        (_, Some(Status::Passed)) => "passed",
        (_, Some(Status::NotRun)) => "not run",
        (_, Some(_)) => "failed",
        (Phase::Finished(FinishReason::Cancelled), None) => "stopped",
        (Phase::Finished(FinishReason::Budget), None) => "out of time",
        (_, None) if has_tests => "not tested",
        (_, None) => "finished",
    }
}

/// `1 to test, 2 passed, 1 failed`: each candidate counts once.
fn tests(run: &Run, has_tests: bool) -> Option<(String, Role)> {
    let kinds: Vec<&str> = (0..run.candidates.len()).map(|c| kind(run, c, has_tests)).collect();
    let count = |wanted: &str| kinds.iter().filter(|kind| **kind == wanted).count();
    let (passed, failed) = (count("passed"), count("failed") + count("wrong"));
    let closest = run.closest();
    let parts: Vec<String> = KINDS
        .iter()
        .map(|&word| (count(word), word))
        // Where all are finished there is nothing to count.
        .filter(|(n, word)| *n > 0 && (*word != "finished" || *n < kinds.len()))
        .map(|(n, word)| match word {
            "failed" if closest.is_some() => "none passed".to_owned(),
            _ => format!("{n} {word}"),
        })
        .collect();
    let closest = closest.and_then(|closest| closest.words()).map_or_else(String::new, |words| format!("; {words}"));
    let role = match (passed, run.is_settled()) {
        (1.., _) => Role::Pass,
        (0, true) if has_tests && failed > 0 => Role::Fail,
        (0, true) if has_tests => Role::Warn,
        _ => Role::Working,
    };
    (!parts.is_empty()).then(|| (parts.join(", ") + &closest, role))
}

/// Everything in one line, when there is no more than that.
fn floor(look: &Look) -> Vec<(String, Style)> {
    let state = look.state;
    if let Some(error) = &state.error {
        return vec![(text::one_line(error), look.style(Role::Error))];
    }
    if let Some(question) = state.question.filter(|_| state.question_is_shown()) {
        let words = match question {
            Question::Unprotected { .. } => "run tests UNPROTECTED".to_owned(),
            Question::Take { candidate } => format!("take {}, not passed", label(candidate)),
            Question::UndoEarlier => format!("undo {}", state.earlier_write().unwrap_or_default()),
        };
        let [yes, no] = [Action::Yes, Action::No].map(|action| state.key_name(Context::Question, action));
        return vec![(format!("{words}? {yes} {no}"), look.style(Role::Error))];
    }
    if let Some(said) = super::footer::said(look) {
        return vec![said];
    }
    if let Some(picker) = &state.picking.open {
        let found = picker.list.current().map_or("no function", |found| &found.name);
        return vec![(text::one_line(&format!("> {}: {found}", picker.list.query)), look.style(Role::Title))];
    }
    if let Some(line) = &state.wish.line {
        return vec![(text::one_line(&format!("> {}", line.text())), look.style(Role::Title))];
    }
    if let Some(open) = &state.palette.open {
        let found = open.list.current().map_or("nothing", |entry| &entry.label);
        return vec![(text::one_line(&format!("> {}: {found}", open.list.query)), look.style(Role::Title))];
    }
    let Some(run) = &state.run else { return vec![(state.subject(), look.style(Role::Title))] };
    let own = badge::short(run, run.focus);
    let mut out = vec![(format!("{} {}", label(run.focus), own.text), look.style(own.role))];
    out.extend(tests(run, state.has_tests()).map(|(words, role)| (words, look.style(role))));
    out
}
