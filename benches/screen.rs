//! Drawing of the screen: while candidates are written, when all have ended, and the echo of a key (state and
//! frame).
//! `cargo bench --bench screen`.

use bass_tui::engine::{Event, FinishReason, StepStats, Summary};
use bass_tui::job::{self, Job, TestsChoice};
use bass_tui::trial::{Status, Verdict};
use bass_tui::tui::canvas::Canvas;
use criterion::{Criterion, criterion_group, criterion_main};

const PROMPT: &str =
    "def summary(orders):\n    \"\"\"The orders of each customer.\n\n    >>> summary([])\n    {}\n    \"\"\"\n";
const LINES: usize = 30;

/// Line `at` of a candidate; no two candidates say the same, and some lines are long.
fn line(candidate: usize, at: usize) -> String {
    match at % 5 {
        0 => format!("    for order_{candidate} in sorted(orders, key=lambda order: order.total({at})):\n"),
        1 => format!("        if order_{candidate}.customer not in result:  # the first one of the customer\n"),
        2 => format!("            result[order_{candidate}.customer] = {{\"count\": 0, \"total\": {at}.5}}\n"),
        3 => format!("        seen.add(order_{candidate}.number + {at})\n"),
        _ => format!("    total = sum(result.values()) or {at}\n"),
    }
}

fn tell(canvas: &mut Canvas, event: Event) {
    canvas.event(job::Event::Source(event));
}

fn tokens(canvas: &mut Canvas, candidate: usize, text: String) {
    let (ids, logprobs, alternatives) = (vec![1; 4], vec![-0.25; 4], Vec::new());
    tell(canvas, Event::Tokens { candidate, text, ids, logprobs, alternatives, drafted: 4, accepted: 3 });
}

fn step(canvas: &mut Canvas, n: usize) {
    let stats =
        StepStats { live: n, rows: n * 5, drafted: n * 4, accepted: n * 3, tokens: n * 4, ms: 9.0, plain_ms: 20.0 };
    tell(canvas, Event::Step(stats));
}

/// A screen on which `n` candidates have written so many lines.
fn writing(n: usize, lines: usize, size: (u16, u16)) -> Canvas {
    let job = Job::from_text(PROMPT, &TestsChoice::Auto).expect("the prompt is a function");
    let mut canvas = Canvas::new(job, n, size).expect("nothing is written");
    for at in 0..lines {
        (0..n).for_each(|candidate| tokens(&mut canvas, candidate, line(candidate, at)));
        step(&mut canvas, n);
    }
    canvas
}

/// A screen whose candidates have all ended and been tested.
fn finished(n: usize, size: (u16, u16)) -> Canvas {
    let mut canvas = writing(n, 1, size);
    for candidate in 0..n {
        let text = (0..LINES).map(|at| line(candidate, at)).collect();
        let mean_logprob = Some(-0.1 - candidate as f32 / 10.0);
        tell(&mut canvas, Event::Finished { candidate, reason: FinishReason::Stop, text, mean_logprob });
    }
    tell(&mut canvas, Event::Done(Box::new(Summary { ranking: (0..n).collect(), ..Summary::default() })));
    for candidate in 0..n {
        let status = if candidate % 3 == 1 { Status::Failed } else { Status::Passed };
        let message = "summary([]): expected {}, got None".to_owned();
        let outcome = Ok(Verdict { status, message, duration_ms: 40, ..Verdict::not_run("") });
        canvas.event(job::Event::Verdict { candidate, outcome });
    }
    canvas.event(job::Event::Pick(Some(0)));
    canvas
}

fn draw(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("draw");
    for (name, n, size) in [("80x24, 8 candidates", 8, (80, 24)), ("200x50, 16 candidates", 16, (200, 50))] {
        let mut canvas = writing(n, LINES / 2, size);
        canvas.settle().expect("nothing is written");
        let mut at = 0;
        // A token of each candidate between two frames, and the text begins anew before it is long.
        group.bench_function(format!("{name}, written"), |b| {
            b.iter(|| {
                if at == 4000 {
                    (canvas, at) = (writing(n, LINES / 2, size), 0);
                }
                for candidate in 0..n {
                    tokens(&mut canvas, candidate, if at % 40 == 39 { "\n    ".into() } else { "x".into() });
                }
                step(&mut canvas, n);
                at += 1;
                canvas.draw()
            });
        });
        let mut canvas = finished(n, size);
        canvas.settle().expect("nothing is written");
        group.bench_function(format!("{name}, finished"), |b| b.iter(|| canvas.draw()));
        for key in ["tab", "j", "pgdn", "?"] {
            group.bench_function(format!("{name}, echo of {key}"), |b| {
                b.iter(|| {
                    canvas.key(key);
                    canvas.draw()
                });
            });
        }
        canvas.key("esc");
        for (view, key) in [("tests", "t"), ("differences", "d"), ("preview", "p")] {
            canvas.key(key);
            canvas.settle().expect("nothing is written");
            group.bench_function(format!("{name}, {view}"), |b| b.iter(|| canvas.draw()));
            canvas.key("esc");
        }
    }
    group.finish();
}

criterion_group!(benches, draw);
criterion_main!(benches);
