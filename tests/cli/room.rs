//! Room in `bass-tui serve`: a large request holds no small one up, and what can never fit is told so.

use std::io::Read;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::served::{Served, choices};
use super::world::World;

const PROMPT: &str = "def add(a, b):\n";

fn small(seed: u64) -> Value {
    json!({ "prompt": PROMPT, "n": 4, "seed": seed, "max_tokens": 3, "temperature": 0.9 })
}

#[test]
fn whoever_asks_for_little_does_not_wait_for_who_asks_for_much() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let alone: Vec<Value> = (0..4).map(|seed| served.complete(&small(seed))).collect();
    // One client with all that it may have at a time, and more of it in the queue.
    let large = json!({ "prompt": [5], "max_tokens": 1000, "n": 64, "ignore_eos": true, "stream": true }).to_string();
    let mut streams: Vec<_> =
        (0..4).map(|_| served.send(&served.request("POST", "/v1/completions", "", &large))).collect();
    while served.metric("candidates") < 64 || served.metric("requests_waiting") < 3 {
        thread::sleep(Duration::from_millis(5));
    }
    thread::scope(|scope| {
        for (seed, alone) in (0..).zip(&alone) {
            let served = &served;
            scope.spawn(move || assert_eq!(choices(&served.complete(&small(seed))), choices(alone)));
        }
    });
    // An answer is read before the step after it gives its room back.
    while served.metric("candidates_small") > 0 {
        thread::sleep(Duration::from_millis(5));
    }
    let (candidates, waiting) = (served.metric("candidates"), served.metric("requests_waiting"));
    assert_eq!((candidates, waiting), (64, 3), "the large ones are where they were");
    let (held, most) = (served.metric("positions"), served.metric("positions_limit"));
    assert!((64_000..65_000).contains(&held) && most > 128 * 1024, "{held} of {most}");
    streams[0].read_exact(&mut [0; 40]).expect("it is being written");
    drop(streams);
    served.rests();
    assert_eq!(served.metric("positions"), 0);
}

#[test]
fn what_fits_waits_and_what_never_fits_is_refused() {
    let world = World::new();
    let served = Served::start(&world, &["--max-positions", "8000"]);
    assert_eq!(served.metric("positions_limit"), 8000);
    let ask = |n: usize, max_tokens: usize| {
        served.post("/v1/completions", &json!({ "prompt": PROMPT, "n": n, "max_tokens": max_tokens, "seed": 1 }))
    };
    let refused = ask(64, 400);
    assert_eq!(refused.status, 400, "{}", refused.body);
    for words in ["64 candidates of up to 400 more need", "a request may have 7000", "fewer candidates or tokens"] {
        assert!(refused.body.contains(words), "{}", refused.body);
    }
    // Three of these do not fit at a time; all of them are answered, and alike.
    let answers: Vec<Value> = thread::scope(|scope| {
        let one = || scope.spawn(|| ask(40, 100));
        let all: Vec<_> = (0..3).map(|_| one()).collect();
        all.into_iter().map(|thread| thread.join().expect("an answer").json()).collect()
    });
    assert!(choices(&answers[0]).len() == 40 && answers.iter().all(|answer| choices(answer) == choices(&answers[0])));
    served.rests();
    world.run(&["serve", "--max-positions", "0"]).refused(2, &["--max-positions"]);
}
