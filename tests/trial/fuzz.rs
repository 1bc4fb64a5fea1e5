//! Random candidates, honest and lying, under random styles of assertions: the verdict is held against the same tests on the plain value,
//! in plain Python (`tests/fuzz/deceivers.py`).
//!
//! `FUZZ_SEED=7 FUZZ_CASES=2000 cargo test --test trial fuzz` tries others, and more.

use std::path::Path;
use std::process::Command;

use bass_tui::trial::{Assurance, Status, Trial};

use super::judge::in_parallel;
use super::verdicts::{file, limits, run, runner, trial};

#[derive(serde::Deserialize)]
struct Case {
    program: String,
    tests: String,
    stub: String,
    /// The same tests hold for the plain value.
    holds: bool,
    /// The candidate tells no lies: if its value is right, it passes.
    is_honest: bool,
}

#[test]
fn lies_change_no_verdict() {
    let Some(runner) = runner() else { return };
    let number = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/deceivers.py");
    let arguments = [number("FUZZ_SEED", "1"), number("FUZZ_CASES", "120")];
    let output = Command::new("python3").arg(script).args(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let cases: Vec<Case> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let complaints = in_parallel(&cases, |case| {
        let stub = (!case.stub.is_empty()).then(|| case.stub.clone());
        let verdict = run(runner, &Trial { stub, ..trial(&case.program, file(&case.tests), limits(5.0)) });
        let passes = verdict.status == Status::Passed;
        let is_right = if passes { case.holds } else { !(case.holds && case.is_honest) };
        (!is_right || verdict.assurance != Assurance::Separate).then(|| {
            format!("{:?} {}\n{}\n# --- tests ---\n{}", verdict.status, verdict.message, case.program, case.tests)
        })
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n\n"));
}
