//! Runs over the same problems with different settings: a row of figures for each, as a table or as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::figures::Figures;
use super::rank::{Rank, Shares};
use super::report::{Report, Stats, percent, shown};

/// A run.
#[derive(Serialize)]
struct Row {
    /// Its values of the options that the runs differ by.
    sweep: BTreeMap<String, String>,
    #[serde(flatten)]
    figures: Figures,
    by_rank: Shares,
    ended: &'static str,
    stats: Stats,
    settings: BTreeMap<String, Value>,
    about: BTreeMap<String, Value>,
}

/// Runs in their order.
#[derive(Default)]
pub struct Sweep {
    /// The options that the runs differ by.
    names: Vec<String>,
    rank: Rank,
    rows: Vec<Row>,
}

impl Sweep {
    /// No runs yet, which will differ by these options.
    pub fn by(names: Vec<String>, rank: Rank) -> Self {
        Self { names, rank, rows: Vec::new() }
    }

    /// Adds a run with these values, in the order of the options. The error is a sentence.
    pub fn add(&mut self, values: &[String], report: &Report) -> Result<(), String> {
        self.rows.push(Row {
            sweep: self.names.iter().cloned().zip(values.iter().cloned()).collect(),
            figures: report.figures()?.0,
            by_rank: report.by_rank.all.clone(),
            ended: report.ended.name(),
            stats: report.stats(),
            settings: report.header.settings.clone(),
            about: report.header.about.clone(),
        });
        Ok(())
    }

    /// The table, and below it the settings that all runs share.
    pub fn table(&self) -> String {
        let ranks = if self.rank == Rank::Agreement { &Rank::ALL[..] } else { &[] };
        let ks: Vec<usize> =
            self.rows.first().map_or_else(Vec::new, |row| row.figures.pass_at_k.keys().copied().collect());
        let mut lines = vec![self.names.clone()];
        lines[0].extend(["Pass@First", "Pass@All"].map(str::to_owned));
        lines[0].extend(ks.iter().map(|k| format!("pass@{k}")));
        lines[0].extend(ranks.iter().map(|rank| format!("by {}", rank.name())));
        lines[0].extend(["tokens/s", "seconds", "reached"].map(str::to_owned));
        for row in &self.rows {
            let figures = &row.figures;
            let share = |share: Option<&f64>| share.map_or_else(String::new, |share| percent(*share));
            let mut line: Vec<String> = self.names.iter().filter_map(|name| row.sweep.get(name).cloned()).collect();
            line.extend([percent(figures.pass_at_first), percent(figures.pass_at_all)]);
            line.extend(ks.iter().map(|k| share(figures.pass_at_k.get(k))));
            line.extend(ranks.iter().map(|rank| share(row.by_rank.get(rank))));
            line.extend([format!("{:.0}", row.stats.tokens_per_second), format!("{:.1}", row.stats.wall_s)]);
            line.push(format!("{} of {}", row.stats.reached, figures.problems));
            lines.push(line);
        }
        let wide = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max();
        let mut out = String::new();
        for line in &lines {
            let cells = line.iter().enumerate().map(|(at, cell)| format!("{cell:>0$}", wide(at).unwrap_or_default()));
            let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  "));
        }
        let shared = |of: fn(&Row) -> &BTreeMap<String, Value>| {
            let mut all = self.rows.first().map(|row| of(row).clone()).unwrap_or_default();
            all.retain(|name, value| self.rows.iter().all(|row| of(row).get(name) == Some(value)));
            shown(&all)
        };
        let shared = [shared(|row| &row.settings), shared(|row| &row.about)];
        let shared: Vec<&str> = shared.iter().map(String::as_str).filter(|words| !words.is_empty()).collect();
        let _ = writeln!(out, "\n{}", shared.join("; "));
        out
    }

    /// All runs as one object on one line. The error is a sentence.
    pub fn json(&self) -> Result<String, String> {
        #[derive(Serialize)]
        struct Json<'a> {
            rank: Rank,
            runs: &'a [Row],
        }
        serde_json::to_string(&Json { rank: self.rank, runs: &self.rows })
            .map_err(|e| format!("the sweep cannot be written as JSON: {e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{candidate, problem};
    use super::super::results_file::Header;
    use super::super::run::Ended;
    use super::super::{ByRank, Speed};
    use super::*;
    use crate::source::FinishReason::Stop;
    use crate::trial::{Protection, Status};

    #[test]
    fn runs_stand_side_by_side_with_what_they_share_below() {
        let mut sweep = Sweep::by(vec!["temperature".to_owned(), "n".to_owned()], Rank::Agreement);
        for (values, status, speed) in [(["0.2", "4"], Status::Passed, 10), (["0.85", "16"], Status::Failed, 200)] {
            let settings = [("seed", "7"), ("n", values[1])].map(|(name, value)| (name.to_owned(), value.into()));
            let header = Header { form: Header::FORM, settings: settings.into(), about: BTreeMap::new() };
            let share = f64::from(u8::from(status == Status::Passed)) / 2.0;
            let report = Report {
                header: &header,
                ids: &["a", "b"].map(str::to_owned),
                results: &[problem("a", vec![candidate(0, Some(Stop), -0.1, status)])],
                ks: &[1],
                rank: Rank::Agreement,
                by_rank: ByRank { all: Rank::ALL.map(|rank| (rank, share)).into(), ..ByRank::default() },
                ended: Ended::Done,
                speed: Speed { tokens: speed, writing: 1.0, wall: 61.0 },
                resumed: 0,
                protection: &Protection::default(),
            };
            sweep.add(&values.map(str::to_owned), &report).unwrap();
        }
        let table = sweep.table();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(
            lines,
            [
                "temperature   n  Pass@First  Pass@All  pass@1  by random  by logprob  by agreement  tokens/s  seconds  reached",
                "        0.2   4      50.0 %    50.0 %  50.0 %     50.0 %      50.0 %        50.0 %        10     61.0   1 of 2",
                "       0.85  16       0.0 %     0.0 %   0.0 %      0.0 %       0.0 %         0.0 %       200     61.0   1 of 2",
                "",
                "seed 7",
            ]
        );
        let json: Value = serde_json::from_str(&sweep.json().unwrap()).unwrap();
        assert_eq!(json["runs"][1]["sweep"], serde_json::json!({"temperature": "0.85", "n": "16"}));
        assert_eq!((json["runs"][0]["pass_at_all"].as_f64(), json["rank"].as_str()), (Some(0.5), Some("agreement")));
    }
}
