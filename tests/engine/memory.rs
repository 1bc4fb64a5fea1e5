//! Memory of the networks that requests hold: the prompt once, a tail per candidate, and nothing when they
//! are over, however they end.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::toy::cases::{FEW_POLICIES, Kind, PLAIN, WARM, options, profile, wandering_model};
use super::toy::{EOS, Toy, Watch, generate, tokenizer};
use bass_tui::backend::{self, LoadOptions, Network};
use bass_tui::engine::{DraftLength, Drafter, Engine, Event, FinishReason, GenerateOptions, ModelDrafter};
use bass_tui::model::{Model, ModelFiles};
use bass_tui::sampling::Sampling;
use bass_tui::source::{LocalSource, Prompt, Request, Source, SourceInfo, Ticket};

/// An engine on a small real pair.
fn real_engine(drafted: bool) -> Engine {
    let load = |name: &str| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models").join(name);
        let model = Model::load(&ModelFiles::Folder(folder)).unwrap();
        let network = backend::load(&model, LoadOptions { threads: 1, ..LoadOptions::default() }).unwrap();
        (model, network)
    };
    let drafter = drafted.then(|| Box::new(ModelDrafter::new("llama-draft", load("llama-draft").1)) as _);
    let (main, network) = load("llama");
    Engine::new(network, main.tokenizer, main.eos, drafter)
}

fn prompt(len: usize) -> Vec<u32> {
    (0..len as u32).map(|i| 3 + i * 7 % 2000).collect()
}

/// K/V bytes after every step of a request.
fn kv_bytes(engine: &mut Engine, prompt: &[u32], options: &GenerateOptions) -> Vec<usize> {
    engine.submit(prompt, options).unwrap();
    let mut bytes = Vec::new();
    while engine.step(&mut |_, _| {}).unwrap() {
        bytes.push(engine.kv_bytes());
    }
    assert_eq!(engine.kv_bytes(), 0);
    bytes
}

#[test]
fn a_prompt_is_stored_once_for_all_candidates() {
    for drafted in [false, true] {
        let mut engine = real_engine(drafted);
        let length = if drafted { DraftLength::Fixed(3) } else { PLAIN };
        // The prompt takes three slabs: before the last of them only it is held.
        let mut held = |n| kv_bytes(&mut engine, &prompt(600), &options(n, 40, length, WARM));
        let full = |bytes: &[usize]| *bytes.iter().max().unwrap();
        let (one, two, sixteen) = (held(1), held(2), held(16));
        let tail = full(&two) - full(&one);
        assert!(tail > 0);
        assert_eq!(full(&sixteen) - full(&one), 15 * tail, "fifteen tails more, and nothing else");
        let of_prompt = full(&one) - tail;
        assert_eq!(full(&sixteen) - 16 * tail, of_prompt);
        assert!(of_prompt > 10 * tail, "600 positions against 40");
        if !drafted {
            assert_eq!((one[0], sixteen[0]), (of_prompt, of_prompt), "while it is read, the prompt is all there is");
        }
    }
}

#[test]
fn ten_thousand_requests_leave_nothing() {
    let (main, model) = (Toy::main(), Toy::draft());
    let (main_watch, draft_watch) = (main.watch(), model.watch());
    let chain = Kind::CHAIN.drafter(|| Box::new(ModelDrafter::new("toy", Box::new(model))), &[]);
    let mut engine = Engine::new(Box::new(main), tokenizer(), vec![EOS], Some(chain));
    engine.set_profile(&profile());
    let (mut submitted, mut done) = (0, 0);
    while done < 10_000 {
        // Up to three at a time.
        while submitted < (done + 3).min(10_000) {
            let length = FEW_POLICIES[submitted % FEW_POLICIES.len()];
            let options = options(1 + submitted % 3, 1 + submitted % 7, length, WARM);
            let id = engine.submit(&[1, (submitted % 5) as u32], &options).unwrap();
            if submitted % 10 == 0 {
                engine.cancel(id, if submitted % 20 == 0 { Some(0) } else { None });
            }
            submitted += 1;
        }
        engine.step(&mut |_, event| done += usize::from(matches!(event, Event::Done(_)))).unwrap();
        assert!(engine.kv_bytes() <= 2 * 3 * 3 * 16, "{} bytes", engine.kv_bytes());
    }
    assert!(engine.is_idle());
    assert_eq!((engine.kv_bytes(), main_watch.open(), draft_watch.open()), (0, 0, 0));
}

#[test]
fn real_requests_leave_nothing() {
    let mut engine = real_engine(true);
    engine.set_profile(&profile());
    for i in 0..300 {
        let length = FEW_POLICIES[i % FEW_POLICIES.len()];
        let got = generate(&mut engine, &prompt(2 + i % 20), &options(1 + i % 2, 1 + i % 5, length, WARM));
        assert_eq!(got.ids[0].len(), 1 + i % 5);
        assert_eq!(engine.kv_bytes(), 0, "after request {i}");
    }
}

/// Wherever a pass fails, everything is given back and the next request finds a working engine.
#[test]
fn a_failed_pass_frees_everything() {
    for failing_main in [true, false] {
        for after in 0..12 {
            let (mut main, mut model) = (Toy::main().wandering(), Toy::draft().wandering());
            if failing_main {
                main = main.failing_after(after);
            } else {
                model = model.failing_after(after);
            }
            let (main_watch, draft_watch) = (main.watch(), model.watch());
            let drafter: Box<dyn Drafter> = Box::new(ModelDrafter::new("toy", Box::new(model)));
            let mut engine = Engine::new(Box::new(main), tokenizer(), vec![EOS], Some(drafter));
            let greedy = |n| options(n, 40, DraftLength::Fixed(2), Sampling::GREEDY);
            engine.submit(&[1, 2, 3], &greedy(2)).unwrap();
            engine.submit(&[4; 600], &greedy(3)).unwrap();
            let failure = loop {
                match engine.step(&mut |_, _| {}) {
                    Ok(more) => assert!(more, "the pass was made"),
                    Err(failure) => break failure,
                }
            };
            assert!(failure.to_string().contains("no memory for 7 bytes"));
            assert!(engine.is_idle());
            assert_eq!((engine.kv_bytes(), main_watch.open(), draft_watch.open()), (0, 0, 0));
            assert_eq!(generate(&mut engine, &[1, 2, 3], &greedy(2)).ids[1].len(), 40);
        }
    }
}

#[test]
fn a_time_budget_ends_everything_within_one_step() {
    let budget = Duration::from_millis(25);
    let main = Toy::main().wandering().with_delay(Duration::from_millis(2));
    let watch = main.watch();
    let mut engine = Engine::new(Box::new(main), tokenizer(), vec![EOS], Some(wandering_model()));
    let long = GenerateOptions { time_budget: Some(budget), ..options(4, 1500, DraftLength::Fixed(2), WARM) };
    engine.submit(&[1, 2], &long).unwrap();
    let mut budgets = 0;
    engine.step(&mut |_, _| {}).unwrap();
    let begun = Instant::now();
    loop {
        let (over, before) = (begun.elapsed() >= budget, watch.passes());
        let mut count = |_, event: Event| {
            budgets += usize::from(matches!(event, Event::Finished { reason: FinishReason::Budget, .. }));
        };
        let more = engine.step(&mut count).unwrap();
        if !more {
            assert_eq!((watch.passes(), budgets), (before, 4), "the last step makes no pass any more");
            break;
        }
        assert!(!over, "the time was over before this step");
    }
    assert_eq!((engine.kv_bytes(), watch.open()), (0, 0));
}

/// An endless request on a thread of its own, whose receiver does as it is told with the first tokens that
/// arrive. Returns the passes made until then, and the reasons of all ends that were reported.
fn until_first_tokens(
    mut then: impl FnMut(&Ticket) -> ControlFlow<()> + Send + 'static,
) -> (Watch, usize, Receiver<FinishReason>) {
    let main = Toy::main().wandering();
    let watch = main.watch();
    let engine = Engine::new(Box::new(main), tokenizer(), vec![EOS], Some(wandering_model()));
    let source = LocalSource::with_engine(engine, SourceInfo::default()).unwrap();
    let (give_ticket, ticket) = channel();
    let (tell_passes, passes) = channel();
    let (tell_end, ends) = channel();
    let seen = watch.clone();
    let request = Request {
        prompt: Prompt::Ids(vec![1, 2]),
        reference: None,
        options: options(4, 1500, DraftLength::Fixed(2), WARM),
    };
    let mut known = None;
    let sink = move |event: Event| match event {
        Event::Tokens { .. } if known.is_none() => {
            let _ = tell_passes.send(seen.passes());
            then(known.insert(ticket.recv().unwrap()))
        }
        Event::Finished { reason, .. } => {
            let _ = tell_end.send(reason);
            ControlFlow::Continue(())
        }
        _ => ControlFlow::Continue(()),
    };
    give_ticket.send(source.generate(request, Box::new(sink))).unwrap();
    (watch, passes.recv().unwrap(), ends)
}

/// Everything is given back, and no pass was made after `passes`.
fn assert_stopped(watch: &Watch, passes: usize) {
    let begun = Instant::now();
    while watch.open() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{} sequences are still open", watch.open());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(watch.passes(), passes, "it stopped within the step");
}

#[test]
fn a_request_that_nobody_listens_to_stops() {
    let (watch, passes, ends) = until_first_tokens(|_| ControlFlow::Break(()));
    assert_stopped(&watch, passes);
    assert_eq!(ends.iter().count(), 0, "without further events");
}

#[test]
fn a_request_that_is_cancelled_stops() {
    let (watch, passes, ends) = until_first_tokens(|ticket| {
        ticket.cancel_all();
        ControlFlow::Continue(())
    });
    assert_stopped(&watch, passes);
    assert_eq!(ends.iter().collect::<Vec<_>>(), [FinishReason::Cancelled; 4]);
}

/// The memory of networks is counted, not guessed: the counter itself moves.
#[test]
fn kv_bytes_count_what_is_open() {
    let mut toy = Toy::main();
    let region = toy.open(10).unwrap();
    let forks = toy.fork(region, 2, 5).unwrap();
    assert_eq!(toy.kv_bytes(), 20);
    forks.into_iter().chain([region]).for_each(|seq| toy.close(seq));
    assert_eq!(toy.kv_bytes(), 0);
}
