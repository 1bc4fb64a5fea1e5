//! The output of `bench`: one JSON object, or a table for each number of candidates.

use std::fmt::Write;

use serde::Serialize;

use super::figures::{Figures, figures};
use super::measure::{Plan, Run};
use crate::engine::DraftLength;
use crate::source::{Prompt, SourceInfo};
use crate::untrusted::clean;

/// A whole comparison.
pub struct Report<'a> {
    plan: &'a Plan,
    info: SourceInfo,
    runs: Vec<Run>,
    figures: Vec<Figures>,
}

impl<'a> Report<'a> {
    /// The report of the runs of `plan`.
    pub fn new(plan: &'a Plan, info: SourceInfo, runs: Vec<Run>) -> Self {
        let figures = figures(&plan.settings(), &runs);
        Self { plan, info, runs, figures }
    }

    /// One object, on one line.
    pub fn json(&self) -> String {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Shown<'a> {
            Text(&'a str),
            Ids(&'a [u32]),
        }
        #[derive(Serialize)]
        struct Json<'a> {
            model: &'a str,
            draft: &'a str,
            device: &'a str,
            dtype: &'a str,
            kernel: &'a str,
            threads: usize,
            max_tokens: usize,
            temperature: f32,
            top_p: Option<f32>,
            seed: u64,
            repeat: usize,
            prompts: Vec<Shown<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            drafters: Option<&'a [String]>,
            runs: &'a [Run],
            summary: &'a [Figures],
        }
        let options = &self.plan.options;
        let shown = |prompt: &'a Prompt| match prompt {
            Prompt::Text(text) | Prompt::Written(text) => Shown::Text(text),
            Prompt::Ids(ids) => Shown::Ids(ids),
        };
        let json = Json {
            model: &self.info.model,
            draft: &self.info.draft,
            device: &self.info.device,
            dtype: &self.info.dtype,
            kernel: &self.info.kernel,
            threads: self.info.threads,
            max_tokens: options.max_tokens,
            temperature: options.sampling.temperature,
            top_p: options.sampling.top_p,
            seed: options.seed,
            repeat: self.plan.repeats,
            prompts: self.plan.prompts.iter().map(shown).collect(),
            drafters: Some(&self.plan.drafters[..]).filter(|drafters| drafters.len() > 1),
            runs: &self.runs,
            summary: &self.figures,
        };
        // Plain data with string keys: serialisation cannot fail.
        serde_json::to_string(&json).unwrap_or_default() + "\n"
    }

    /// The tables, at most 100 columns wide.
    pub fn text(&self) -> String {
        let Plan { prompts, repeats, options, .. } = self.plan;
        let mut out = heading(&self.info);
        let _ = writeln!(
            out,
            "{} tokens for each candidate, {}, {}, temperature {}",
            options.max_tokens,
            several(prompts.len(), "prompt"),
            several(*repeats, "repeat"),
            options.sampling.temperature
        );
        for rows in self.figures.chunk_by(|a, b| a.setting.plain() == b.setting.plain()) {
            out.push('\n');
            let drafter = rows.first().and_then(|row| self.plan.drafters.get(row.setting.drafter?));
            table(&mut out, rows, drafter.map(String::as_str));
        }
        out + LEGEND
    }
}

const LEGEND: &str = "
ms/tok   decode time divided by the tokens of each candidate: median, fastest and slowest repeat
first    the same of the candidate that ends first, last of the last one, all of their mean
/plain   time relative to plain, median of the repeats: below 1 is faster
kept     share of the drafted tokens that were accepted; step: accepted per candidate and step
lengths  the two draft lengths that were used most, and in how many of the steps of a candidate
";

/// Models and device, on a line.
pub fn heading(info: &SourceInfo) -> String {
    let SourceInfo { model, draft, device, dtype, kernel, threads, .. } = info;
    let threads = several(*threads, "thread");
    format!("{} with draft {}, {device} {dtype}, {kernel}, {threads}\n", clean(model), clean(draft))
}

fn several(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The table of one number of candidates and one acceptance rule.
fn table(out: &mut String, rows: &[Figures], drafter: Option<&str>) {
    let Some(first) = rows.first() else { return };
    let prefills = || rows.iter().map(|row| row.prefill_ms);
    let _ = writeln!(
        out,
        "batch {}, {}accept {}, prefill {} to {} ms",
        first.setting.batch,
        drafter.map_or(String::new(), |name| format!("draft {}, ", clean(name))),
        first.setting.accept,
        time(prefills().fold(f64::INFINITY, f64::min)),
        time(prefills().fold(0.0, f64::max))
    );
    out.push_str(
        "length ms/tok    min    max  first   last    all  /plain tokens/s drafted  kept  step  lengths used\n",
    );
    for row in rows {
        let line = format!(
            "{:6}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>8}{:>9.0}{:>8}{:>6}{:>6.2}  {}",
            row.setting.length_name(),
            time(row.ms_per_token),
            time(row.ms_per_token_min),
            time(row.ms_per_token_max),
            time(row.ms_per_token_first),
            time(row.ms_per_token_last),
            time(row.ms_per_token_all),
            row.ratio_to_plain.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
            row.tokens_per_second,
            row.drafted,
            row.acceptance.map_or("-".to_owned(), |share| format!("{:.0}%", share * 100.0)),
            row.mean_accepted_length,
            lengths_used(row),
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if let Some(verdict) = verdict(rows) {
        let _ = writeln!(out, "{verdict}");
    }
}

/// A time in ms with three or four digits.
fn time(ms: f64) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.3}"),
        ms if ms < 100.0 => format!("{ms:.2}"),
        ms if ms < 1000.0 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}

/// The draft lengths that a policy chose most often; empty if it had no choice.
fn lengths_used(row: &Figures) -> String {
    if matches!(row.setting.length, DraftLength::Fixed(_)) {
        return String::new();
    }
    let all: usize = row.draft_lengths.iter().sum();
    let mut used: Vec<(usize, usize)> = row.draft_lengths.iter().copied().enumerate().collect();
    used.sort_by_key(|&(length, count)| (std::cmp::Reverse(count), length));
    let share = |count: usize| (count as f64 * 100.0 / all.max(1) as f64).round();
    let shown =
        |&(length, count): &(usize, usize)| (share(count) >= 1.0).then(|| format!("{length}:{}%", share(count)));
    used.iter().take(2).filter_map(shown).collect::<Vec<_>>().join(" ")
}

/// The best fixed length, and the time of `auto` relative to it.
fn verdict(rows: &[Figures]) -> Option<String> {
    let fixed = rows.iter().filter(|row| matches!(row.setting.length, DraftLength::Fixed(_)));
    let best = fixed.min_by(|a, b| a.ms_per_token.total_cmp(&b.ms_per_token))?;
    let of_plain = |row: &Figures| row.ratio_to_plain.map(|ratio| format!("{ratio:.3} of plain"));
    let mut out = format!("best fixed length: {}", best.setting.length_name());
    if best.setting != best.setting.plain()
        && let Some(ratio) = of_plain(best)
    {
        let _ = write!(out, ", {ratio}");
    }
    if let Some(auto) = rows.iter().find(|row| row.setting.length == DraftLength::Auto) {
        let of_best = auto.ratio_to_best_fixed.map(|ratio| format!("{ratio:.3} of the best fixed"));
        let ratios: Vec<String> = [of_plain(auto), of_best].into_iter().flatten().collect();
        let _ = write!(out, "; auto: {}", ratios.join(", "));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::runs;
    use super::*;
    use crate::engine::GenerateOptions;
    use crate::sampling::Accept;

    fn plan(lengths: &[DraftLength]) -> Plan {
        Plan {
            prompts: vec![Prompt::Text(crate::model::PromptText::marks("a")), Prompt::Ids(vec![7])],
            batches: vec![2],
            accepts: vec![Accept::Coupled],
            lengths: lengths.to_vec(),
            drafters: vec!["auto".to_owned()],
            repeats: 3,
            options: GenerateOptions { max_tokens: 10, ..GenerateOptions::default() },
        }
    }

    #[test]
    fn the_table_lines_up_and_ends_with_a_verdict() {
        let plan = plan(&[DraftLength::Fixed(0), DraftLength::Fixed(2), DraftLength::Auto]);
        let text = Report::new(&plan, SourceInfo::default(), runs()).text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "10 tokens for each candidate, 2 prompts, 3 repeats, temperature 0.8");
        assert_eq!(lines[3], "batch 2, accept coupled, prefill 1.500 to 1.500 ms");
        assert!(lines[5].starts_with("plain   2.000  2.000  4.000 "), "{text}");
        assert!(lines[7].ends_with("   48   50%  0.40  0:60% 2:40%"), "{text}");
        let end = |line: &str, word: &str| line.find(word).expect(word) + word.len();
        for (title, value) in [("/plain", "0.500"), ("tokens/s", "2000"), ("kept", "50%"), ("step", "0.40")] {
            assert_eq!(end(lines[4], title), end(lines[6], value), "{title}: {text}");
        }
        assert_eq!(lines[8], "best fixed length: 2, 0.500 of plain; auto: 0.600 of plain, 1.200 of the best fixed");
        assert!(lines.iter().all(|line| line.len() <= 100), "{text}");
    }

    #[test]
    fn what_was_not_measured_is_not_compared() {
        let only = |length| {
            let plan = plan(&[length]);
            Report::new(&plan, SourceInfo::default(), runs()).text()
        };
        assert!(only(DraftLength::Fixed(0)).contains("best fixed length: plain\n"));
        assert!(only(DraftLength::Fixed(2)).contains("best fixed length: 2\n"));
        assert!(!only(DraftLength::Auto).contains("best fixed length:"));
    }

    #[test]
    fn times_keep_their_width() {
        assert_eq!([0.01234, 12.345, 123.45, 12345.6].map(time), ["0.012", "12.35", "123.5", "12346"]);
    }
}
