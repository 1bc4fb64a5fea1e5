//! The output of `complete` for people: a table of the candidates.

use std::borrow::Cow;
use std::fmt::Write;

use super::output::number;
use crate::agreement::Agreement;
use crate::job::{Report, label};
use crate::source::FinishReason;
use crate::trial::{Observed, Status, Verdict};
use crate::untrusted::{clean, clean_line, framed};

/// The table for stderr, best candidate first. `sandbox` is the summary of the protection, if there were
/// tests.
pub fn table(report: &Report, sandbox: Option<&str>) -> String {
    let mut out = String::new();
    let agreement = counted(report);
    // Without tests a reason stands behind its candidate alone.
    let shared = if sandbox.is_some() { Shared::of(report) } else { Shared(Vec::new()) };
    for &c in &report.summary.ranking {
        let candidate = &report.candidates[c];
        let mark = if report.picked == Some(c) { '>' } else { ' ' };
        let verdict = &candidate.verdict;
        let verdict = match (verdict.status, candidate.duplicate_of) {
            (Status::NotRun, Some(of)) => format!("same as {}", label(of)),
            (status, Some(of)) => format!("{} (same as {})", status.word(), label(of)),
            (Status::NotRun, None)
                if sandbox.is_none() && candidate.finish != Some(FinishReason::Failed) && !candidate.is_broken =>
            {
                verdict.mark().map(|mark| framed(&mark)).unwrap_or_default()
            }
            (status, None) => match shared.rest(verdict) {
                rest if rest.is_empty() => status.word().to_owned(),
                rest => format!("{}: {}", status.word(), framed(&rest)),
            },
        };
        let finish = match candidate.finish {
            Some(FinishReason::Length) => "cut at the token limit",
            Some(FinishReason::Budget) => "cut by the time budget",
            Some(FinishReason::Failed) => "broken off",
            Some(FinishReason::Cancelled) | None => "cancelled",
            Some(FinishReason::Stop) => "",
        };
        let agrees = agreement.as_ref().map_or_else(String::new, |agreement| agreeing(agreement, c));
        let verdict = [agrees, verdict].into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; ");
        let notes: Vec<&str> = [verdict.as_str(), finish].into_iter().filter(|note| !note.is_empty()).collect();
        let probability = candidate.mean_logprob.map_or_else(String::new, |mean| format!("  logprob {mean:>6.2}"));
        let tokens = match candidate.tokens() {
            0 if report.info.is_served() => String::new(),
            tokens => format!(" {tokens:>3} tokens"),
        };
        let line = format!("{mark} {:2}{tokens}{probability}  {}", label(c), notes.join("; "));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    for words in &shared.0 {
        let _ = writeln!(out, "of each: {}", framed(words));
    }
    if let Some(agreement) = agreement.as_deref() {
        out += &told_apart(agreement);
        out += &report.picked.map_or_else(String::new, |picked| changed(agreement, picked));
    }
    let s = &report.summary;
    if report.info.is_served() {
        let (model, device) = (clean(&report.info.model), &report.info.device);
        let speed = match s.tokens {
            0 => String::new(),
            tokens if s.tokens_per_second > 0.0 => format!("{tokens} tokens, {:.0} tokens/s; ", s.tokens_per_second),
            tokens => format!("{tokens} tokens; "),
        };
        let _ = write!(out, "{speed}{model} at {device}");
    } else {
        let _ = write!(
            out,
            "{} tokens, {:.0} tokens/s, {:.1} accepted per step; {} with draft {}, {} {}",
            s.tokens,
            s.tokens_per_second,
            s.mean_accepted_length,
            clean(&report.info.model),
            clean(&report.info.draft),
            report.info.device,
            report.info.dtype
        );
    }
    match sandbox {
        Some(summary) => drop(writeln!(out, "; {summary}")),
        None => out.push('\n'),
    }
    out
}

/// Words of so many characters may stand behind each candidate.
const SHORT: usize = 40;

/// Words that the verdicts of all different candidates have, which are said once.
struct Shared(Vec<String>);

impl Shared {
    fn of(report: &Report) -> Self {
        let different = report.candidates.iter().filter(|c| c.duplicate_of.is_none() && c.finish.is_some());
        let mut verdicts = different.map(|c| c.verdict.parts());
        let mut shared = verdicts.next().unwrap_or_default();
        let mut others = verdicts.peekable();
        if others.peek().is_none() {
            shared.clear();
        }
        shared.retain(|part| part.chars().count() > SHORT);
        others.for_each(|parts| shared.retain(|part| parts.contains(part)));
        Self(shared)
    }

    /// The other words of a verdict.
    fn rest(&self, verdict: &Verdict) -> String {
        let mut parts = verdict.parts();
        parts.retain(|part| !self.0.contains(part));
        parts.join("; ")
    }
}

/// The agreement that counts: where some passed, that among several of them.
fn counted(report: &Report) -> Option<Cow<'_, Agreement>> {
    let all = report.agreement.as_deref()?;
    let passed = |c: usize| report.candidates.get(c).is_some_and(|one| one.verdict.status == Status::Passed);
    match all.among(passed) {
        Some(passing) => (passing.candidates() > 1).then_some(Cow::Owned(passing)),
        // A pass may have ended the calls before its own.
        None if (0..report.candidates.len()).any(passed) => None,
        None => Some(Cow::Borrowed(all)),
    }
}

/// How many candidates do what this one does, in words.
fn agreeing(agreement: &Agreement, candidate: usize) -> String {
    match agreement.standing(candidate) {
        Some(standing) if standing.is_broken => agreement.fault(candidate),
        Some(_) if agreement.constant().is_some() || agreement.candidates() < 2 => String::new(),
        Some(standing) if agreement.tells() && standing.agree > 1 => format!("{} agree", standing.agree),
        Some(_) if agreement.tells() => "alone".to_owned(),
        _ => String::new(),
    }
}

/// A line on what candidates agree, and on what input they differ.
fn told_apart(agreement: &Agreement) -> String {
    let inputs = number(agreement.inputs.len(), "input");
    if !agreement.tells() {
        return format!("agreement says nothing on {inputs}: {}\n", agreement.words());
    }
    if let Some(shown) = agreement.constant() {
        return format!("on {inputs} each call gives {}, which tells little\n", clean_line(shown, 60));
    }
    if agreement.candidates() < 2 {
        return String::new();
    }
    let Some(input) = agreement.telling() else {
        let what = if agreement.is_one() { "all that were called do the same" } else { "no results differ" };
        return format!("on {inputs} {what}\n");
    };
    let named = |candidates: &[usize]| candidates.iter().map(|&c| label(c)).collect::<Vec<_>>().join(" ");
    let answers = agreement.answers(input);
    let answers =
        answers.iter().map(|answer| format!("{} ({})", clean_line(&answer.shown, 60), named(&answer.candidates)));
    let call = clean_line(&agreement.inputs[input].text(), 80);
    let differing = agreement.differing().len();
    format!("they differ on {differing} of {inputs}: {call} gives {}\n", answers.collect::<Vec<_>>().join(", "))
}

/// A line on calls that do something else with the pick than they did.
fn changed(agreement: &Agreement, picked: usize) -> String {
    let Some(changes) = agreement.changes(picked) else { return String::new() };
    let of = number(agreement.inputs.len(), "call");
    let Some(&input) = changes.first() else { return format!("{}: no change is seen on {of}\n", label(picked)) };
    let shown = |observed: Option<&Observed>| observed.map_or_else(String::new, |one| clean_line(&one.shown, 60));
    let (now, before) = (shown(agreement.observed(picked, input)), shown(agreement.before().get(input)));
    let call = clean_line(&agreement.inputs[input].text(), 80);
    let count = changes.len();
    format!("{} changes {count} of {of}: {call} gave {before}, and gives {now}\n", label(picked))
}

/// That no candidate passed, and what may help: more of them, unless the time ran out in one way for all.
pub fn no_pass(report: &Report, more: &'static str) -> (String, &'static str) {
    let out_of_time = |verdict: &Verdict| {
        let said = verdict.without_remark(&verdict.message);
        (verdict.status == Status::Timeout).then_some(said)
    };
    let mut ends = report.candidates.iter().map(|candidate| out_of_time(&candidate.verdict));
    match ends.next().flatten() {
        Some(first) if ends.all(|other| other.as_ref() == Some(&first)) => (
            format!("no candidate passed (each: {})", clean_line(&first, 200)),
            "look at what does not end, or give it more time with --timeout; -n and --rounds write more of them",
        ),
        _ => ("no candidate passed".to_owned(), more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Witness;
    use crate::engine::thoughts_took_all;
    use crate::job::Candidate;
    use crate::source::{SourceInfo, Summary};
    use crate::trial::{Effect, Input, Observed};

    #[test]
    fn the_table_says_what_is_worth_reading() {
        let mut report = Report {
            info: SourceInfo::default(),
            seed: 0,
            candidates: (0..3).map(Candidate::new).collect(),
            summary: Summary { ranking: vec![1, 0, 2], ..Summary::default() },
            picked: Some(1),
            agreement: None,
        };
        for c in &mut report.candidates {
            (c.finish, c.mean_logprob) = (Some(FinishReason::Stop), Some(0.0));
        }
        report.candidates[1].duplicate_of = Some(0);
        report.candidates[2].finish = Some(FinishReason::Length);
        let lines =
            |report: &Report, sandbox| -> Vec<String> { table(report, sandbox).lines().map(str::to_owned).collect() };
        let plain = lines(&report, None);
        assert_eq!(plain[0], "> B    0 tokens  logprob   0.00  same as A");
        assert_eq!(plain[1], "  A    0 tokens  logprob   0.00", "nothing was to be run, so nothing is said of it");
        assert_eq!(plain[2], "  C    0 tokens  logprob   0.00  cut at the token limit");
        report.candidates[2].is_broken = true;
        report.candidates[2].verdict = Verdict::not_run(&thoughts_took_all(512));
        assert!(lines(&report, None)[2].contains("its thoughts took all 512 tokens: raise --max-tokens, or choose"));
        report.candidates[0].verdict = Verdict::not_run("the tests hold no checks");
        report.candidates[1].verdict.status = Status::Passed;
        let tested = lines(&report, Some("sandboxed"));
        assert!(
            tested[0].ends_with("  PASS (same as A)") && tested[1].ends_with("  NOT RUN: the tests hold no checks")
        );
    }

    #[test]
    fn where_all_run_out_of_time_in_one_test_more_candidates_are_not_all_that_may_help() {
        let mut report = Report {
            info: SourceInfo::default(),
            seed: 0,
            candidates: (0..2).map(Candidate::new).collect(),
            summary: Summary::default(),
            picked: None,
            agreement: None,
        };
        for c in &mut report.candidates {
            let hang = Verdict::not_run("no result after 10 s: test_slow did not end");
            c.verdict = Verdict { status: Status::Timeout, ..hang };
        }
        let (why, help) = no_pass(&report, "more");
        assert_eq!(why, "no candidate passed (each: no result after 10 s: test_slow did not end)");
        assert!(help.contains("--timeout"), "{help}");
        report.candidates[1].verdict.status = Status::Failed;
        assert_eq!(no_pass(&report, "more"), ("no candidate passed".to_owned(), "more"));
    }

    #[test]
    fn what_is_said_of_each_candidate_is_said_once() {
        let mut report = Report {
            info: SourceInfo::default(),
            seed: 0,
            candidates: (0..3).map(Candidate::new).collect(),
            summary: Summary { ranking: vec![0, 1, 2], ..Summary::default() },
            picked: None,
            agreement: None,
        };
        let why = "the tests of the project cannot be run, because pytest is not installed";
        for c in &mut report.candidates {
            (c.finish, c.verdict) = (Some(FinishReason::Stop), Verdict::not_run(why));
        }
        report.candidates[2].duplicate_of = Some(1);
        let said = table(&report, Some("sandboxed"));
        assert_eq!(said.matches(why).count(), 1, "{said}");
        assert!(said.contains("  NOT RUN\n") && said.contains(&format!("\nof each: {why}\n")), "{said}");
        report.candidates.iter_mut().for_each(|c| c.is_broken = true);
        assert_eq!(table(&report, None).matches(why).count(), 2, "without tests nothing is lost");
        report.candidates.iter_mut().for_each(|c| c.is_broken = false);
        report.candidates[1].verdict = Verdict::not_run("a name is not defined");
        let said = table(&report, Some("sandboxed"));
        assert!(said.contains(&format!("NOT RUN: {why}\n")) && !said.contains("of each"), "{said}");
    }

    #[test]
    fn where_some_passed_those_alone_are_said_to_agree() {
        let witness = |member: usize, key: &str| Witness {
            members: vec![member],
            votes: 1,
            observed: vec![Observed { effect: Effect::Returned, key: key.to_owned(), ..Observed::default() }],
        };
        let input = Input { callee: "f".to_owned(), arguments: "1".to_owned(), ..Input::default() };
        let witnesses = [(0, "1"), (1, "2"), (2, "2"), (3, "2")].map(|(member, key)| witness(member, key));
        let mut report = Report {
            info: SourceInfo::default(),
            seed: 0,
            candidates: (0..4).map(Candidate::new).collect(),
            summary: Summary { ranking: vec![0, 1, 2, 3], ..Summary::default() },
            picked: Some(0),
            agreement: Some(Agreement::of(vec![input].into(), witnesses.into()).into()),
        };
        let said = |report: &Report| table(report, Some("sandboxed"));
        assert_eq!((said(&report).matches("3 agree").count(), said(&report).matches("alone").count()), (3, 1));
        for (c, status) in [(0, Status::Passed), (1, Status::Failed), (2, Status::Passed), (3, Status::Failed)] {
            report.candidates[c].verdict.status = status;
        }
        let two = said(&report);
        assert_eq!((two.matches("alone; PASS").count(), two.matches("agree").count()), (2, 0), "{two}");
        assert!(two.contains("they differ on 1 of 1 input:") && two.contains("(A)") && !two.contains("D)"), "{two}");
        report.candidates[2].verdict.status = Status::Failed;
        let one = said(&report);
        assert!(!one.contains("agree") && !one.contains("differ") && !one.contains("alone"), "{one}");
    }

    #[test]
    fn one_candidate_agrees_with_nobody() {
        let observed = vec![Observed { effect: Effect::Returned, key: "1".to_owned(), ..Observed::default() }];
        let input = Input { callee: "f".to_owned(), arguments: "1".to_owned(), ..Input::default() };
        let report = Report {
            info: SourceInfo::default(),
            seed: 0,
            candidates: vec![Candidate::new(0)],
            summary: Summary { ranking: vec![0], ..Summary::default() },
            picked: Some(0),
            agreement: Some(
                Agreement::of(vec![input].into(), vec![Witness { members: vec![0], votes: 1, observed }]).into(),
            ),
        };
        let said = table(&report, None);
        assert!(!said.contains("alone") && !said.contains("agree") && !said.contains("the same"), "{said}");
    }

    #[test]
    fn agreement_says_no_more_than_was_called() {
        let observed = |effect, key: &str| Observed { effect, key: key.to_owned(), ..Observed::default() };
        let witness = |member: usize, effect, key: &str| Witness {
            members: vec![member],
            votes: 1,
            observed: vec![observed(effect, key)],
        };
        let input = Input { callee: "f".to_owned(), arguments: "1".to_owned(), ..Input::default() };
        let agreement = |all: Vec<Witness>| Some(Agreement::of(vec![input.clone()].into(), all).into());
        let mut report = Report {
            info: SourceInfo::default(),
            seed: 0,
            candidates: (0..2).map(Candidate::new).collect(),
            summary: Summary { ranking: vec![1, 0], ..Summary::default() },
            picked: Some(1),
            agreement: agreement(vec![witness(0, Effect::Unloaded, "")]),
        };
        assert!(table(&report, Some("sandboxed")).contains("on 1 input: none can be run"));
        // The pass of the other one has ended its calls.
        report.candidates[1].verdict.status = Status::Passed;
        let said = table(&report, Some("sandboxed"));
        assert!(!said.contains("loaded") && said.contains("PASS"), "{said}");
        report.candidates[1].verdict.status = Status::Failed;
        for (late, words) in
            [(Effect::Late, "on 1 input no results differ"), (Effect::Returned, "all that were called")]
        {
            report.agreement = agreement(vec![witness(0, Effect::Returned, "1"), witness(1, late, "1")]);
            let said = table(&report, Some("sandboxed"));
            assert!(said.contains(words), "{said}");
        }
    }
}
