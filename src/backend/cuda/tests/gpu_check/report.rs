//! Report of a run, as a table and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

/// A line of the table.
pub struct Line {
    part: &'static str,
    what: String,
    value: Value,
    unit: &'static str,
    /// Expected value, and whether it was found.
    wanted: Option<(String, bool)>,
}

/// All lines, in their order.
#[derive(Default)]
pub struct Report {
    part: &'static str,
    lines: Vec<Line>,
    failed: bool,
}

impl Report {
    /// Begins a part.
    pub fn part(&mut self, part: &'static str) {
        self.part = part;
        eprintln!("{part} ...");
    }

    fn add(&mut self, what: impl Into<String>, value: Value, unit: &'static str, wanted: Option<(String, bool)>) {
        self.lines.push(Line { part: self.part, what: what.into(), value, unit, wanted });
    }

    /// A number; where there is none, something went wrong.
    pub fn number(&mut self, what: impl Into<String>, value: f64, unit: &'static str) {
        let value = self.measured(value);
        self.add(what, value, unit, None);
    }

    fn measured(&mut self, value: f64) -> Value {
        self.failed |= !value.is_finite();
        if value.is_finite() { json!(value) } else { json!("not measured") }
    }

    /// A number that should not be smaller than a target; missing one is no failure.
    pub fn at_least(&mut self, what: impl Into<String>, value: f64, unit: &'static str, target: f64) {
        let measured = self.measured(value);
        self.add(what, measured, unit, Some((format!(">= {target:.2}"), value >= target)));
    }

    /// A number that should not be larger.
    pub fn at_most(&mut self, what: impl Into<String>, value: f64, unit: &'static str, target: f64) {
        let measured = self.measured(value);
        self.add(what, measured, unit, Some((format!("<= {target:.2}"), value <= target)));
    }

    /// Adds a condition that has to hold; `why` is shown where it does not.
    pub fn check(&mut self, what: impl Into<String>, holds: bool, why: &str) {
        self.failed |= !holds;
        self.add(what, json!(if holds { "holds" } else { why }), "", Some(("has to hold".to_owned(), holds)));
    }

    /// Adds a fact without a condition.
    pub fn note(&mut self, what: impl Into<String>, value: impl Into<String>) {
        self.add(what, json!(value.into()), "", None);
    }

    /// A condition does not hold, or a number is missing.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// The table.
    pub fn table(&self) -> String {
        let mut table = String::new();
        let mut part = "";
        for Line { part: of, what, value, unit, wanted } in &self.lines {
            if part != *of {
                part = of;
                let _ = write!(table, "\n{part}\n");
            }
            let shown = value.as_f64().map_or_else(|| value.as_str().unwrap_or("").to_owned(), |x| format!("{x:.3}"));
            let wanted = wanted
                .as_ref()
                .map_or(String::new(), |(wanted, met)| format!("{wanted}: {}", if *met { "yes" } else { "NO" }));
            table += format!("  {what:<52} {shown:>14} {unit:<6} {wanted}").trim_end();
            table.push('\n');
        }
        table
    }

    /// The report as JSON: a list of objects.
    pub fn json(&self) -> Value {
        let line = |line: &Line| {
            let mut json = json!({"part": line.part, "what": line.what, "value": line.value});
            if !line.unit.is_empty() {
                json["unit"] = json!(line.unit);
            }
            if let Some((wanted, met)) = &line.wanted {
                (json["wanted"], json["met"]) = (json!(wanted), json!(met));
            }
            json
        };
        self.lines.iter().map(line).collect()
    }
}
