//! The tiers of the sandbox: each that this machine has is forced and tried; one that is missing is named.

use std::sync::Arc;
use std::time::Duration;

use bass_tui::language::Language;
use bass_tui::trial::{Limits, Runner, Status, Tests, Tier, Trial, Verdict};

const TIERS: [Tier; 3] = [Tier::Full, Tier::Namespaces, Tier::KernelRules];

fn limits() -> Limits {
    Limits { wall: Duration::from_secs(20), memory: 256 << 20, file: 4 << 20, output: 4 << 20, processes: 32 }
}

/// The runners of all tiers that are here; a line for each that is not.
fn runners() -> Vec<(Tier, Runner)> {
    let mut list = Vec::new();
    for tier in TIERS {
        let runner = Runner::probe_at_most(tier);
        let protection = runner.protection();
        if protection.tier == tier.name() {
            list.push((tier, runner));
        } else {
            eprintln!("skipped: tier {}", protection.missing.join("; "));
        }
    }
    list
}

fn run(runner: &Runner, program: &str, test: &str) -> Verdict {
    let trial = Trial {
        language: Language::Python,
        program: program.to_owned(),
        module: None,
        entry_point: Some("f".to_owned()),
        tests: Tests::Source { name: "test_f.py".to_owned(), text: test.to_owned() },
        limits: limits(),
    };
    runner.run(&trial, &Arc::default()).unwrap()
}

/// Runs `program` in every tier and expects the same.
#[track_caller]
fn everywhere(program: &str, status: Status, message: &str) {
    for (tier, runner) in runners() {
        let verdict = run(&runner, program, "assert f(1) == 2\n");
        assert_eq!((verdict.status, verdict.message.as_str()), (status, message), "{} {}", tier.name(), verdict.output);
    }
}

#[test]
fn a_good_program_passes_in_every_tier() {
    everywhere("def f(x):\n    return 2 * x\n", Status::Passed, "1 check");
}
