//! The output of `bench --profile`: the measurements of a pair of models.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;

use super::report::heading;
use crate::engine::Profile;
use crate::source::SourceInfo;

/// One object, on one line.
pub fn json(info: &SourceInfo, profile: &Profile) -> String {
    #[derive(Serialize)]
    struct Json<'a> {
        model: &'a str,
        draft: &'a str,
        device: &'a str,
        dtype: &'a str,
        kernel: &'a str,
        threads: usize,
        profile: &'a Profile,
    }
    let SourceInfo { model, draft, device, dtype, kernel, threads, .. } = info;
    let json = Json { model, draft, device, dtype, kernel, threads: *threads, profile };
    // Plain data with string keys: serialisation cannot fail.
    serde_json::to_string(&json).unwrap_or_default() + "\n"
}

/// The cost curves, the survival rates of drafts, and the draft lengths that follow from both.
pub fn text(info: &SourceInfo, profile: &Profile) -> String {
    let mut out = heading(info);
    out.push_str("\nrows of a pass   main ms  draft ms\n");
    let rows: BTreeSet<usize> = profile.main.iter().chain(&profile.draft).map(|(rows, _)| *rows).collect();
    for rows in rows {
        let ms = |points: &[(usize, f64)]| {
            points.iter().find(|point| point.0 == rows).map_or(String::new(), |(_, ms)| format!("{ms:.3}"))
        };
        let line = format!("{rows:<14}{:>10}{:>10}", ms(&profile.main), ms(&profile.draft));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if !profile.survival.is_empty() {
        let _ = writeln!(out, "{:<24}{:>10.4}", "a row that is only read", profile.read);
        out.push('\n');
        let shares = profile.survival.iter().map(|share| format!("{:.0}%", share * 100.0));
        across(&mut out, "first tokens", (1..=profile.survival.len()).map(|j| j.to_string()));
        across(&mut out, "all accepted", shares);
    }
    out.push('\n');
    across(&mut out, "candidates", profile.table.keys().map(usize::to_string));
    across(&mut out, "best length", profile.table.values().map(usize::to_string));
    out
}

/// A row of a table whose values run from left to right.
fn across(out: &mut String, title: &str, values: impl Iterator<Item = String>) {
    let _ = write!(out, "{title:<14}");
    for value in values {
        let _ = write!(out, "{value:>6}");
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_was_measured_is_shown() {
        let profile = Profile {
            main: vec![(1, 10.0), (3, 12.25)],
            draft: vec![(1, 1.5), (2, 1.75)],
            read: 0.25,
            survival: vec![0.8, 0.5],
            table: [(1, 4), (16, 0)].into(),
            ..Profile::default()
        };
        let info = SourceInfo { model: "m".to_owned(), draft: "d".to_owned(), threads: 1, ..SourceInfo::default() };
        let text = text(&info, &profile);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("m with draft d, ") && lines[0].ends_with(", 1 thread"), "{text}");
        assert_eq!(
            lines[2..6],
            [
                "rows of a pass   main ms  draft ms", "1                 10.000     1.500",
                "2                            1.750", "3                 12.250",
            ]
        );
        assert_eq!(
            lines[6..],
            [
                "a row that is only read     0.2500", "", "first tokens       1     2", "all accepted     80%   50%",
                "", "candidates         1    16", "best length        4     0",
            ]
        );
        assert!(json(&info, &profile).contains("\"survival\":[0.8,0.5]"));
    }
}
