//! Cost of a trial, and slowdown of a running generation by trials. `cargo bench --bench trial`.
//!
//! Overhead: a trial with one check in each tier, against the bare interpreter on the same two lines.
//! Resident: a trial while this program holds memory like a model's, as children get it and as they do not.
//! Company: a request to the built-in pair alone, and beside eight endless trials in the pool that the
//! program uses. Interleaved; medians, with the quarters around them.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bass_tui::backend::{self, LoadOptions};
use bass_tui::engine::{DraftLength, Engine, GenerateOptions, ModelDrafter, StopRules};
use bass_tui::job::{TrialPool, Turn};
use bass_tui::language::Language;
use bass_tui::model::{Model, ModelFiles, embedded};
use bass_tui::trial::{Limits, Runner, Status, Tests, Tier, Trial};
#[cfg(target_os = "linux")]
use memmap2::{Advice, MmapMut};

const ROUNDS: usize = 40;
const REQUESTS: usize = 40;
const PROGRAM: &str = "def f(x):\n    return 2 * x\n";
const TEST: &str = "assert f(1) == 2\n";
const PROMPT: &str =
    "def is_even(n):\n    \"\"\"Return True if n is even.\n\n    >>> is_even(4)\n    True\n    \"\"\"\n";

fn trial(program: &str, wall: Duration) -> Trial {
    Trial {
        language: Language::Python,
        program: program.to_owned(),
        file: None,
        entry_point: Some("f".to_owned()),
        line: None,
        tests: Tests::text("test_f.py", TEST),
        stub: None,
        limits: Limits { wall, ..Limits::default() },
    }
}

fn timed(act: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    act();
    begun.elapsed()
}

fn bare(python: &Path) {
    let program = format!("{PROGRAM}{TEST}");
    let status = Command::new(python).args(["-I", "-S", "-c", &program]).status();
    assert!(status.is_ok_and(|s| s.success()), "the interpreter runs");
}

/// The quarters of some times, in ms.
fn quarters(times: &mut [Duration]) -> [f64; 3] {
    times.sort();
    [1, 2, 3].map(|quarter| times[times.len() * quarter / 4].as_secs_f64() * 1000.0)
}

fn overhead() {
    let tiers = [Tier::Full, Tier::Namespaces, Tier::KernelRules];
    let runners: Vec<Runner> = tiers
        .into_iter()
        .filter_map(|tier| {
            let runner = Runner::probe_at_most(tier);
            let is_there = runner.protection().tier == tier.name();
            if !is_there {
                println!("skipped: tier {}", runner.protection().missing.join("; "));
            }
            is_there.then_some(runner)
        })
        .collect();
    for tier in tiers {
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| timed(|| drop(Runner::probe_at_most(tier)))).collect();
        println!("probe, at most {:13} {:6.1} ms", tier.name(), quarters(&mut times)[1]);
    }
    let Some((python, _)) = runners.first().and_then(|runner| runner.tool(Language::Python, Path::new(".")).ok())
    else {
        println!("skipped: no tier or no Python");
        return;
    };
    let mut plain = Vec::new();
    let mut times = vec![Vec::new(); runners.len()];
    for _ in 0..ROUNDS {
        plain.push(timed(|| bare(&python)));
        for (runner, times) in runners.iter().zip(&mut times) {
            times.push(timed(|| {
                let verdict = runner.run(&trial(PROGRAM, Duration::from_secs(20)), &Arc::default());
                assert!(verdict.is_ok_and(|v| v.status == Status::Passed), "the trial passes");
            }));
        }
    }
    let [low, plain, high] = quarters(&mut plain);
    println!("python -I -S          {plain:6.1} ms ({low:.1} to {high:.1})");
    for (runner, times) in runners.iter().zip(&mut times) {
        let [low, middle, high] = quarters(times);
        let more = middle - plain;
        println!("trial, {:13}  {middle:6.1} ms ({low:.1} to {high:.1}), {more:+.1} ms", runner.protection().tier);
    }
}

#[cfg(target_os = "linux")]
/// Trials while this program holds 0.05, 3 and 8 GB: idle, and while threads write to it.
fn resident() {
    let runner = Runner::probe();
    if !runner.protection().is_isolated() || runner.tool(Language::Python, Path::new(".")).is_err() {
        println!("skipped: {}", runner.protection().summary);
        return;
    }
    for megabytes in [50, 3000, 8000] {
        let mut pages = MmapMut::map_anon(megabytes << 20).expect("memory");
        pages.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        for is_written in [false, true] {
            let mut times = [Vec::new(), Vec::new()];
            for turn in 0..ROUNDS {
                for (advice, times) in [Advice::DoFork, Advice::DontFork].into_iter().zip(&mut times) {
                    pages.advise(advice).expect("the system knows the advice");
                    let is_over = AtomicBool::new(!is_written);
                    std::thread::scope(|scope| {
                        let part = &mut pages[..50 << 20];
                        let is_over = &is_over;
                        scope.spawn(move || {
                            while !is_over.load(Ordering::Relaxed) {
                                part.iter_mut().step_by(4096).for_each(|byte| *byte = turn as u8);
                            }
                        });
                        times.push(timed(|| {
                            drop(runner.run(&trial(PROGRAM, Duration::from_secs(20)), &Arc::default()));
                        }));
                        is_over.store(true, Ordering::Relaxed);
                    });
                }
            }
            let [with, without] = times.map(|mut times| quarters(&mut times));
            println!(
                "{megabytes} MB {}: {:.1} ms ({:.1} to {:.1}) where children get it, {:.1} ms ({:.1} to {:.1}) where they do not",
                if is_written { "written to" } else { "idle" },
                with[1],
                with[0],
                with[2],
                without[1],
                without[0],
                without[2]
            );
        }
    }
}

fn engine() -> Engine {
    let load = |files| {
        let model = Model::load(&files).expect("the built-in model is whole");
        let network = backend::load(&model, LoadOptions::default()).expect("the built-in model fits");
        (model, network)
    };
    let (draft, network) = load(ModelFiles::Embedded(&embedded::DRAFT));
    let drafter = Box::new(ModelDrafter::new(&draft.name, network));
    let (main, network) = load(ModelFiles::Embedded(&embedded::MAIN));
    Engine::new(network, main.tokenizer, main.eos, Some(drafter))
}

fn generate(engine: &mut Engine) {
    let prompt = engine.tokenizer().encode(PROMPT).expect("the prompt is text");
    let stop = StopRules { ignore_eos: true, ..StopRules::default() };
    let draft_length = DraftLength::Fixed(2);
    let options = GenerateOptions { n: 8, draft_length, max_tokens: 96, stop, ..GenerateOptions::default() };
    engine.generate(&prompt, &options, &|_| false, &mut |_| {}).expect("the request can be met");
}

fn company() {
    let runner = Arc::new(Runner::probe());
    if !runner.protection().is_isolated() || runner.tool(Language::Python, Path::new(".")).is_err() {
        println!("skipped: {}", runner.protection().summary);
        return;
    }
    let mut engine = engine();
    generate(&mut engine);
    let (mut alone, mut with) = (Vec::new(), Vec::new());
    for _ in 0..REQUESTS {
        alone.push(timed(|| generate(&mut engine)));
        let pool = TrialPool::new(runner.clone()).expect("threads for trials");
        pool.begin_writing();
        for candidate in 0..8 {
            let turn = Turn { problem: 0, mean_logprob: 0.0, candidate };
            pool.start(turn, trial("while True:\n    pass\n", Duration::from_secs(60)), Arc::default(), |_| ());
        }
        // Until the first of them is past its start and has to give way.
        std::thread::sleep(Duration::from_millis(700));
        with.push(timed(|| generate(&mut engine)));
    }
    let ([_, alone, _], [low, with, high]) = (quarters(&mut alone), quarters(&mut with));
    println!("request alone         {alone:6.1} ms");
    println!("request beside trials {with:6.1} ms ({low:.1} to {high:.1}), {:+.0} %", 100.0 * (with / alone - 1.0));
}

fn main() {
    overhead();
    #[cfg(target_os = "linux")]
    resident();
    company();
}
