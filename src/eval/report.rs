//! The report of a run: the JSON object of the contract, or a table for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::figures::{Figures, figures, has_passed};
use super::rank::{ByRank, Halves, Rank, Shares};
use super::result::{ProblemResult, word};
use super::results_file::Header;
use super::run::Ended;
use crate::trial::{Protection, Status};
use crate::untrusted::clean_line;

/// Columns of a message in the table.
const COLUMNS: usize = 72;

/// Cost of this run, without results that existed before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Speed {
    /// Tokens written.
    pub tokens: usize,
    /// Seconds from the first request to the last token.
    pub writing: f64,
    /// Seconds of the whole run.
    pub wall: f64,
}

/// A run, over or interrupted.
pub struct Report<'a> {
    /// Settings and circumstances.
    pub header: &'a Header,
    pub ids: &'a [String],
    /// The results reached so far, in the same order.
    pub results: &'a [ProblemResult],
    /// The k of pass@k.
    pub ks: &'a [usize],
    /// The rank that decides Pass@First, and the share of each.
    pub rank: Rank,
    pub by_rank: ByRank,
    pub ended: Ended,
    /// Cost of the run.
    pub speed: Speed,
    /// Number of results that existed before.
    pub resumed: usize,
    /// The protection that was active.
    pub protection: &'a Protection,
}

/// Counts over all candidates.
#[derive(Serialize)]
pub(super) struct Stats {
    problems: usize,
    pub(super) reached: usize,
    not_reached: usize,
    resumed: usize,
    candidates: usize,
    statuses: BTreeMap<String, usize>,
    syntax_errors: usize,
    finish: BTreeMap<String, usize>,
    duplicates: usize,
    tokens: usize,
    pub(super) tokens_per_second: f64,
    pub(super) wall_s: f64,
}

/// Problems that went on to further rounds.
#[derive(Serialize)]
struct Further {
    problems: usize,
    /// Problems that pass with a candidate of a further round.
    passed: usize,
    /// With one of the first prompt.
    fresh: usize,
    /// With one whose prompt told what failed before.
    told: usize,
    /// Pass@All over all rounds.
    pass_at_all: f64,
}

impl Report<'_> {
    /// Problems of further rounds; `None` if none was asked for.
    fn further(&self) -> Option<Further> {
        self.header.settings.get("rounds")?;
        let mut all = Further { problems: 0, passed: 0, fresh: 0, told: 0, pass_at_all: 0.0 };
        let mut before = 0;
        for result in self.results {
            let later = &result.candidates[result.of_first_round().len()..];
            let passes = |told: bool| later.iter().any(|c| c.told == told && has_passed(c));
            let (fresh, told) = (passes(false), passes(true));
            all.problems += usize::from(!later.is_empty());
            all.passed += usize::from(fresh || told);
            all.fresh += usize::from(fresh);
            all.told += usize::from(told);
            before += usize::from(result.pass_at_all);
        }
        all.pass_at_all = (before + all.passed) as f64 / self.ids.len().max(1) as f64;
        Some(all)
    }

    /// The figures over all problems, and over those that were reached. The error is a sentence.
    pub(super) fn figures(&self) -> Result<(Figures, Figures), String> {
        let of = |problems| figures(self.results, problems, self.ks);
        let (Some(mut all), Some(mut reached)) = (of(self.ids.len()), of(self.results.len())) else {
            return Err(
                "a k is larger than the number of samples of a problem: this should have been refused".to_owned()
            );
        };
        if let Some(share) = self.by_rank.all.get(&self.rank) {
            all.pass_at_first = *share;
            reached.pass_at_first = share * self.ids.len() as f64 / self.results.len().max(1) as f64;
        }
        if all.pass_at_first > all.pass_at_all {
            return Err("Pass@First is above Pass@All, which cannot be: please report this".to_owned());
        }
        Ok((all, reached))
    }

    pub(super) fn stats(&self) -> Stats {
        let candidates = || self.results.iter().flat_map(|r| &r.candidates);
        let mut statuses = BTreeMap::new();
        let mut finish = BTreeMap::new();
        for c in candidates() {
            *statuses.entry(word(&c.status)).or_default() += 1;
            *finish.entry(c.finish.map_or_else(|| "given".to_owned(), |f| word(&f))).or_default() += 1;
        }
        let broken =
            |message: &str| ["SyntaxError", "IndentationError", "TabError"].iter().any(|e| message.contains(e));
        let speed = &self.speed;
        Stats {
            problems: self.ids.len(),
            reached: self.results.len(),
            not_reached: self.ids.len() - self.results.len(),
            resumed: self.resumed,
            candidates: candidates().count(),
            statuses,
            syntax_errors: candidates().filter(|c| c.status == Status::Error && broken(&c.message)).count(),
            finish,
            duplicates: candidates().filter(|c| c.duplicate_of.is_some()).count(),
            tokens: candidates().map(|c| c.tokens).sum(),
            tokens_per_second: if speed.writing > 0.0 { speed.tokens as f64 / speed.writing } else { 0.0 },
            wall_s: speed.wall,
        }
    }

    /// The object of the contract, on one line. The error is a sentence.
    pub fn json(&self) -> Result<String, String> {
        #[derive(Serialize)]
        struct Json<'a> {
            #[serde(flatten)]
            figures: Figures,
            reached_only: Figures,
            ended: &'a str,
            rank: Rank,
            by_rank: &'a Shares,
            #[serde(skip_serializing_if = "Option::is_none")]
            by_half: Option<&'a Halves>,
            #[serde(skip_serializing_if = "Option::is_none")]
            further_rounds: Option<Further>,
            problems: &'a [ProblemResult],
            not_reached: Vec<&'a str>,
            stats: Stats,
            settings: &'a BTreeMap<String, Value>,
            about: &'a BTreeMap<String, Value>,
            protection: &'a Protection,
        }
        let (figures, reached_only) = self.figures()?;
        let json = Json {
            figures,
            reached_only,
            ended: self.ended.name(),
            rank: self.rank,
            by_rank: &self.by_rank.all,
            by_half: (self.rank == Rank::Agreement).then_some(&self.by_rank.halves),
            further_rounds: self.further(),
            problems: self.results,
            not_reached: self.not_reached().collect(),
            stats: self.stats(),
            settings: &self.header.settings,
            about: &self.header.about,
            protection: self.protection,
        };
        serde_json::to_string(&json).map_err(|e| format!("the report cannot be written as JSON: {e}"))
    }

    fn not_reached(&self) -> impl Iterator<Item = &str> {
        let reached: std::collections::HashSet<&str> = self.results.iter().map(|r| r.task_id.as_str()).collect();
        self.ids.iter().map(String::as_str).filter(move |id| !reached.contains(id))
    }

    /// One line per problem. Nothing in it can steer a terminal.
    pub fn problems(&self) -> String {
        let names: Vec<String> = self.results.iter().map(|r| clean_line(&r.task_id, 40)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        let mut out = String::new();
        for (result, name) in self.results.iter().zip(&names) {
            let mark = match (result.pass_at_first, result.pass_at_all) {
                (true, _) => "first",
                (false, true) => "some ",
                (false, false) => "none ",
            };
            let said = match (&result.refused, result.first_failure()) {
                (Some(why), _) => clean_line(why, COLUMNS),
                (None, Some(c)) => format!("{}: {}", c.status.word(), clean_line(&c.message, COLUMNS)),
                (None, None) => String::new(),
            };
            let line = format!("{name:width$}  {mark}  {:>2} of {:<2}  {said}", result.passed, result.n);
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }

    /// The figures and everything they depend on. The error is a sentence.
    pub fn summary(&self) -> Result<String, String> {
        let (all, reached) = self.figures()?;
        let stats = self.stats();
        let mut out = String::new();
        let line = |figures: &Figures| {
            let mut line =
                format!("Pass@First {}  Pass@All {}", percent(figures.pass_at_first), percent(figures.pass_at_all));
            for (k, share) in &figures.pass_at_k {
                let _ = write!(line, "  pass@{k} {}", percent(*share));
            }
            line
        };
        let _ = writeln!(out, "{}  of {}", line(&all), problems(stats.problems));
        if stats.not_reached > 0 {
            let _ = writeln!(
                out,
                "{} not reached: counted as failed above. Of the {} that were: {}",
                problems(stats.not_reached),
                stats.reached,
                line(&reached)
            );
        }
        if self.rank == Rank::Agreement {
            let line = |shares: &Shares| {
                let shares = shares.iter().map(|(rank, share)| format!("{} {}", rank.name(), percent(*share)));
                shares.collect::<Vec<_>>().join(", ")
            };
            let ByRank { all, halves: Halves { easier, harder } } = &self.by_rank;
            let names = ["Pass@First by rank", "  of the half that more candidates pass", "  of the other half"];
            for (name, shares) in names.iter().zip([all, easier, harder]).filter(|(_, shares)| !shares.is_empty()) {
                let _ = writeln!(out, "{name}: {}", line(shares));
            }
        }
        if let Some(Further { problems: went_on, passed, fresh, told, pass_at_all }) = self.further() {
            let all = percent(pass_at_all);
            let _ = writeln!(
                out,
                "further rounds: {passed} of {} pass ({fresh} with a fresh candidate, {told} with one that was told): Pass@All {all}",
                problems(went_on)
            );
        }
        let counts = |counts: &BTreeMap<String, usize>| {
            let mut counts: Vec<(&String, &usize)> = counts.iter().collect();
            counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            counts.iter().map(|(name, n)| format!("{n} {}", name.replace('_', " "))).collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(
            out,
            "{} candidates: {}; {} with syntax errors, {} duplicates; ended: {}",
            stats.candidates,
            counts(&stats.statuses),
            stats.syntax_errors,
            stats.duplicates,
            counts(&stats.finish)
        );
        if stats.tokens_per_second > 0.0 {
            let _ = write!(out, "{} tokens, {:.0} tokens/s, ", self.speed.tokens, stats.tokens_per_second);
        }
        let _ = write!(out, "{}", time(stats.wall_s));
        if self.resumed > 0 {
            let _ = write!(out, " ({} done before)", problems(self.resumed));
        }
        let about = shown(&self.header.about);
        let _ = writeln!(out, "{}{about}", if about.is_empty() { "" } else { "; " });
        let _ = writeln!(out, "{}; {}", shown(&self.header.settings), self.protection.summary);
        Ok(out)
    }
}

/// Values with their names; those that are null are left out.
pub(super) fn shown(values: &BTreeMap<String, Value>) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let set = values.iter().filter(|(_, value)| !value.is_null());
    set.map(|(name, value)| format!("{name} {}", clean_line(&text(value), COLUMNS))).collect::<Vec<_>>().join(", ")
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn problems(count: usize) -> String {
    format!("{count} problem{}", if count == 1 { "" } else { "s" })
}

/// A time for people to read.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.0} s"),
        s if s < 3600.0 => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s => format!("{:.0} h {:02.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{candidate, problem};
    use super::*;
    use crate::source::FinishReason::{Length, Stop};

    fn with<T>(ended: Ended, see: impl Fn(&Report) -> T) -> T {
        let mut hostile = problem("a\u{1b}[2J\u{9b}2Jb", vec![candidate(0, Some(Stop), -0.1, Status::Passed); 2]);
        hostile.candidates[1].duplicate_of = Some(0);
        hostile.pass_at_all = true;
        let mut failed = problem(
            "c",
            vec![candidate(0, Some(Length), -0.1, Status::Error), candidate(1, Some(Stop), -0.2, Status::Failed)],
        );
        failed.candidates[0].message = "SyntaxError \u{1b}]0;title\u{7}here".to_owned();
        let header = Header {
            form: Header::FORM,
            settings: [("seed".to_owned(), 3.into()), ("top-k".to_owned(), Value::Null)].into(),
            about: [("device".to_owned(), "cpu".into())].into(),
        };
        let report = Report {
            header: &header,
            ids: &["a\u{1b}[2J\u{9b}2Jb", "c", "never"].map(str::to_owned),
            results: &[hostile, failed],
            ks: &[1, 2],
            rank: Rank::Logprob,
            by_rank: ByRank::default(),
            ended,
            speed: Speed { tokens: 12, writing: 3.0, wall: 75.4 },
            resumed: 1,
            protection: &Protection { summary: "sandboxed".to_owned(), ..Protection::default() },
        };
        see(&report)
    }

    #[test]
    fn the_json_has_the_keys_of_the_contract_and_more() {
        let json: Value = serde_json::from_str(&with(Ended::Deadline, |r| r.json().unwrap())).unwrap();
        let third = |value: &Value, x: f64| (value.as_f64().unwrap() - x / 3.0).abs() < 1e-12;
        assert!(
            third(&json["pass_at_first"], 1.0)
                && third(&json["pass_at_all"], 1.0)
                && third(&json["pass_at_k"]["2"], 1.0)
        );
        assert!((json["reached_only"]["pass_at_all"].as_f64().unwrap() - 0.5).abs() < 1e-12);
        assert_eq!((json["problems"].as_array().unwrap().len(), json["not_reached"][0].as_str()), (2, Some("never")));
        assert_eq!((json["stats"]["not_reached"].as_u64(), json["ended"].as_str()), (Some(1), Some("deadline")));
        assert_eq!((json["stats"]["syntax_errors"].as_u64(), json["stats"]["duplicates"].as_u64()), (Some(1), Some(1)));
        assert_eq!(json["stats"]["statuses"]["passed"].as_u64(), Some(2));
        assert_eq!(
            (json["settings"]["seed"].as_u64(), json["stats"]["tokens_per_second"].as_f64()),
            (Some(3), Some(4.0))
        );
    }

    #[test]
    fn the_table_says_all_of_it_and_steers_no_terminal() {
        let text = with(Ended::Interrupted, |r| r.problems() + &r.summary().unwrap());
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "ab  first   2 of 2");
        assert_eq!(lines[1], "c   none    0 of 2   ERROR: SyntaxError here");
        assert_eq!(lines[2], "Pass@First 33.3 %  Pass@All 33.3 %  pass@1 33.3 %  pass@2 33.3 %  of 3 problems");
        assert_eq!(
            lines[3],
            "1 problem not reached: counted as failed above. Of the 2 that were: Pass@First 50.0 %  Pass@All 50.0 %  pass@1 50.0 %  pass@2 50.0 %"
        );
        assert_eq!(
            lines[4],
            "4 candidates: 2 passed, 1 error, 1 failed; 1 with syntax errors, 1 duplicates; ended: 3 stop, 1 length"
        );
        assert_eq!(lines[5], "12 tokens, 4 tokens/s, 1 min 15 s (1 problem done before); device cpu");
        assert_eq!(lines[6], "seed 3; sandboxed");
    }

    #[test]
    fn times_are_short() {
        assert_eq!([3.4, 61.0, 3720.0].map(time), ["3 s", "1 min 01 s", "1 h 02 min"]);
    }
}
