//! The screen with a scripted source: realistic text streams into the panes and verdicts come from a table.
//! Useful to look at the screen, or to work on it, without a model.
//!
//! `cargo run --example scripted_screen -- [N] [unprotected]`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bass_tui::engine::{Event, FinishReason, GenerateOptions, StepStats, Summary};
use bass_tui::job::{Job, JobError, Judge, TestsChoice, TrialPool};
use bass_tui::source::{EventSink, Request, Source, SourceInfo, Ticket};
use bass_tui::trial::{Limits, Protection, Status, Trial, TrialError, Verdict};
use bass_tui::tui::{self, Functions, Setup};

const PROMPT: &str = "def rolling_max(numbers):\n    \"\"\"The largest number up to each place.\n\n    >>> rolling_max([1, 3, 2, 5])\n    [1, 3, 3, 5]\n    >>> rolling_max([])\n    []\n    \"\"\"\n";

/// Bodies, with what their tests say.
const BODIES: &[(&str, Status, &str)] = &[
    (
        "    running = None\n    result = []\n    for n in numbers:\n        if running is None or n > running:\n            running = n\n        result.append(running)\n    return result\n",
        Status::Passed,
        "2 checks",
    ),
    (
        "    if not numbers:\n        return None\n    out = [numbers[0]]\n    for n in numbers[1:]:\n        out.append(max(out[-1], n))\n    return out\n",
        Status::Failed,
        "rolling_max([]): expected [], got None",
    ),
    (
        "    # the largest so far\n    best = float(\"-inf\")\n    result = []\n    for n in numbers:\n        best = max(best, n)  # a comment that is rather long, longer than the pane is wide in most terminals\n        result.append(best)\n    return result\n",
        Status::Passed,
        "2 checks",
    ),
    (
        "    running = None\n    result = []\n    for n in numbers:\n        if running is None or n > running:\n            running = n\n        result.append(running)\n    return result\n",
        Status::Passed,
        "2 checks",
    ),
    (
        "    return [max(numbers[:i]) for i in range(len(numbers))]\n",
        Status::Error,
        "ValueError: max() iterable argument is empty",
    ),
    ("    while True:\n        pass\n", Status::Timeout, "no end after 10 s"),
    ("    import os\n    os._exit(0)\n", Status::Killed, "the process ended before its tests did"),
    ("    from itertools import accumulate\n\n    return list(accumulate(numbers, max))\n", Status::Passed, "2 checks"),
];

struct Scripted;

impl Source for Scripted {
    fn info(&self) -> SourceInfo {
        SourceInfo {
            model: "scripted-7b".into(),
            draft: "scripted-0.5b".into(),
            device: "cpu".into(),
            dtype: "bf16".into(),
            kernel: "none".into(),
            threads: 1,
            context: 4096,
            note: None,
        }
    }

    fn generate(&self, request: Request, sink: EventSink) -> Ticket {
        let ticket = Ticket::new(request.options.n);
        let own = ticket.clone();
        thread::spawn(move || stream(&request, &own, sink));
        ticket
    }
}

/// Writes the bodies, each in steps of its own lengths.
fn stream(request: &Request, ticket: &Ticket, mut sink: EventSink) {
    let n = request.options.n;
    for done in [0, 32, 61] {
        let _ = sink(Event::Prefill { done, total: 61 });
        thread::sleep(Duration::from_millis(80));
    }
    let body = |c: usize| BODIES[(c + request.options.seed as usize) % BODIES.len()].0;
    let mut at = vec![0; n];
    let mut live: Vec<usize> = (0..n).collect();
    let mut summary = Summary { tokens_per_second: 312.0, ..Summary::default() };
    while !live.is_empty() {
        let mut stats =
            StepStats { live: live.len(), rows: 0, drafted: 0, accepted: 0, tokens: 0, ms: 40.0, plain_ms: 0.0 };
        live.retain(|&c| {
            let tokens = 1 + (at[c] / 3 + c * 3 + summary.steps) % 4;
            let text: String = body(c).chars().skip(at[c]).take(tokens * 3).collect();
            at[c] += tokens * 3;
            let end = at[c] >= body(c).chars().count();
            stats.tokens += tokens;
            stats.drafted += 4;
            stats.accepted += tokens - 1;
            let logprobs = vec![-0.2 - c as f32 * 0.05; tokens];
            let _ = sink(Event::Tokens {
                candidate: c,
                text,
                ids: vec![0; tokens],
                logprobs,
                alternatives: Vec::new(),
                drafted: 4,
                accepted: tokens - 1,
            });
            let cancelled = ticket.is_cancelled(c);
            if end || cancelled {
                let text: String = body(c).chars().take(at[c]).collect();
                let reason = if cancelled { FinishReason::Cancelled } else { FinishReason::Stop };
                let _ =
                    sink(Event::Finished { candidate: c, reason, text, mean_logprob: Some(-0.2 - c as f32 * 0.05) });
            }
            !(end || cancelled)
        });
        summary.steps += 1;
        let _ = sink(Event::Step(stats));
        thread::sleep(Duration::from_millis(40));
    }
    summary.ranking = (0..n).collect();
    let _ = sink(Event::Done(Box::new(summary)));
}

/// Protection of the user, and whether they agreed to do without.
struct Table(Protection, bool);

impl Judge for Table {
    fn allow_unprotected(&self) -> Arc<dyn Judge> {
        Arc::new(Table(self.0.clone(), true))
    }

    fn protection(&self) -> &Protection {
        &self.0
    }

    fn may_run(&self) -> bool {
        self.0.is_isolated() || self.1
    }

    fn run(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        let row = BODIES.iter().find(|b| trial.program.ends_with(b.0));
        let (status, message) = row.map_or((Status::Error, "SyntaxError: invalid syntax"), |b| (b.1, b.2));
        let ms = if status == Status::Timeout { 3000 } else { 700 };
        for waited in 0..ms / 20 {
            if cancel.load(Ordering::Relaxed) {
                let message = "stopped".to_owned();
                return Ok(Verdict {
                    status: Status::Killed,
                    message,
                    duration_ms: waited * 20,
                    ..Verdict::not_run("")
                });
            }
            thread::sleep(Duration::from_millis(20));
        }
        let output = match status {
            Status::Failed => "File \"candidate.py\", line 7, in rolling_max\nFailed example:\n    rolling_max([])\nExpected:\n    []\nGot nothing\n".to_owned(),
            _ => String::new(),
        };
        let message = message.to_owned();
        Ok(Verdict { status, message, duration_ms: ms, output, ..Verdict::not_run("") })
    }
}

/// A screen for `n` candidates.
pub fn setup(n: usize, isolated: bool) -> Result<Setup, JobError> {
    let protection = Protection {
        tier: if isolated { "kernel rules" } else { "none" }.into(),
        landlock_abi: if isolated { 5 } else { 0 },
        seccomp: isolated,
        no_new_privs: true,
        limits: true,
        summary: if isolated {
            "files and network are out of reach (Landlock 5, seccomp)".into()
        } else {
            "this kernel has no Landlock, so files cannot be put out of reach".into()
        },
        ..Protection::default()
    };
    Ok(Setup {
        notice: None,
        job: Job::from_text(PROMPT, &TestsChoice::Auto)?,
        open: Box::new(move |_| {
            thread::sleep(Duration::from_millis(300));
            let pool = TrialPool::new(Arc::new(Table(protection, false))).map_err(|e| e.to_string())?;
            Ok((Arc::new(Scripted), pool))
        }),
        options: GenerateOptions { n, ..GenerateOptions::default() },
        default_stops: true,
        limits: Limits::default(),
        keys: BTreeMap::new(),
        theme: "auto".into(),
        state_dir: PathBuf::new(),
        history: true,
        resumed: None,
        themes_dir: std::path::PathBuf::new(),
        tests_allowed: false,
        stop_on_pass: false,
        rounds: 1,
        agree: true,
        watch: false,
        functions: Functions::default(),
        live: None,
    })
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let n = args.iter().find_map(|a| a.parse().ok()).unwrap_or(8);
    let isolated = !args.iter().any(|a| a == "unprotected");
    let run = setup(n, isolated).map_err(|e| e.to_string()).and_then(|s| tui::run(s).map_err(|e| e.to_string()));
    match run {
        Ok(outcome) => {
            print!("{}", outcome.accepted.unwrap_or_default());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}
