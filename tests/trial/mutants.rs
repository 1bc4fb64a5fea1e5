//! Solutions of `HumanEval` and of the examples, changed in one place (`tests/fuzz/mutants.py`): what their
//! tests notice in plain Python fails here, too, at the same check.
//!
//! `MUTANTS=2000 cargo test --test trial mutants` tries all of them, five for each function, and `MUTANTS_OF=FILE` those of another
//! problem set, too.

use std::path::Path;
use std::process::Command;

use bass_tui::trial::{Status, Trial};

use super::python::in_parallel;
use super::verdicts::{file, limits, run, runner, trial};

/// How many are tried otherwise.
const FEW: &str = "30";

#[derive(serde::Deserialize)]
struct Mutant {
    name: String,
    program: String,
    tests: String,
    /// The line of the check that fails.
    line: u64,
}

#[test]
fn mutants_that_python_kills_are_killed_by_the_same_check() {
    let Some(runner) = runner() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let count = std::env::var("MUTANTS").unwrap_or_else(|_| FEW.to_owned());
    let examples = ["dictionaries", "lists", "numbers", "strings", "words"].map(|name| format!("examples/{name}.py"));
    let output = Command::new("python3")
        .args(["tests/fuzz/mutants.py", "1", &count, "tests/data/problems/HumanEval.jsonl.gz"])
        .args(examples)
        .args(std::env::var_os("MUTANTS_OF"))
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mutants: Vec<Mutant> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let complaints = in_parallel(&mutants, |mutant| {
        let entry_point = Some(mutant.name.clone());
        let verdict = run(runner, &Trial { entry_point, ..trial(&mutant.program, file(&mutant.tests), limits(10.0)) });
        let is_named = verdict.message.ends_with(&format!("(test_f.py:{})", mutant.line));
        let is_right = verdict.status == Status::Failed && is_named;
        (!is_right).then(|| {
            let Mutant { name, program, line, .. } = mutant;
            format!("{name}: {:?} {}, not at line {line}:\n{program}", verdict.status, verdict.message)
        })
    });
    let (found, of) = (complaints.len(), mutants.len());
    eprintln!("{of} mutants");
    assert!(complaints.is_empty() && of > 0, "{found} complaints of {of}:\n{}", complaints.join("\n\n"));
}
