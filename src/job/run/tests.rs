//! Runs over scripted sources and judges.

mod stopped;
mod unloaded;
mod unnoticed;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

use super::super::trials::Judge;
use super::super::trials::tests::pool;
use super::super::{Job, TestsChoice, WhyMore};
use super::*;
use crate::engine::{GenerateOptions, MAX_CANDIDATES};
use crate::source::PromptText;
use crate::source::{EventSink, SourceInfo, Ticket};
use crate::trial::{Assurance, Effect, Observed, Status, TrialError};

pub(crate) const STUB: &str = "def twice(x):\n    \"\"\"Twice x.\n\n    >>> twice(2)\n    4\n    \"\"\"\n";
/// Texts of the candidates by index: 0 and 2 are equal, and so are 1 and 3.
pub(crate) const TEXTS: [&str; 5] = [
    "    return x + x\n", "    return 0\n", "    return  x + x  # so\n", "    return 0\n\n",
    "    y = x + x\n    return y\n",
];
/// The order in which they end, which is also their ranking.
pub(crate) const ENDS: [usize; 5] = [3, 2, 4, 1, 0];
pub(crate) const RANKS: [usize; 5] = [1, 3, 4, 0, 2];

/// Writes [`TEXTS`]. A candidate that is cancelled meanwhile is cut.
pub(crate) struct Scripted;

impl Source for Scripted {
    fn info(&self) -> SourceInfo {
        SourceInfo { model: "scripted".to_owned(), ..SourceInfo::default() }
    }

    fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
        let ticket = Ticket::new(request.options.n);
        let own = ticket.clone();
        std::thread::spawn(move || {
            for candidate in ENDS {
                let reason = if own.is_cancelled(candidate) { FinishReason::Cancelled } else { FinishReason::Stop };
                let place = RANKS.iter().position(|&c| c == candidate).unwrap_or_default();
                let (text, mean_logprob) = (TEXTS[candidate].to_owned(), Some(-0.1 - place as f32));
                let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob });
            }
            let ranking = RANKS.to_vec();
            let _ = sink(source::Event::Done(Box::new(Summary { ranking, ..Summary::default() })));
        });
        ticket
    }
}

/// A pool whose sandbox fails to start twice and then gives the right verdicts. Counts the programs that
/// it runs.
pub(crate) fn unsteady() -> (TrialPool, Arc<AtomicUsize>) {
    let (ran, faults) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let count = ran.clone();
    let pool = pool(1, move |trial, _| {
        if faults.fetch_add(1, Ordering::Relaxed) < 2 {
            return Err(TrialError::Sandbox("the machine is busy".to_owned()));
        }
        count.fetch_add(1, Ordering::Relaxed);
        let status = if trial.program.contains("x + x") { Status::Passed } else { Status::Failed };
        Ok(Verdict { status, ..Verdict::not_run("ran") })
    });
    (pool, ran)
}

/// Parameters of a run of [`Scripted`].
pub(crate) fn ask(stop_on_pass: bool) -> Ask {
    let job = Job::from_text(STUB, &TestsChoice::Auto).unwrap();
    let options = GenerateOptions { n: TEXTS.len(), ..GenerateOptions::default() };
    let request = Request { prompt: job.prompt(), reference: None, options };
    Ask {
        request,
        task: Arc::new(job),
        limits: Limits::default(),
        stop_on_pass,
        agree: false,
        rounds: None,
        problem: 0,
    }
}

fn start(source: &dyn Source, pool: &TrialPool, ask: Ask) -> (Run, Receiver<Event>) {
    let (send, receive) = channel();
    let sink = Box::new(move |event| {
        let _ = send.send(event);
        ControlFlow::Continue(())
    });
    (Run::start(source, Some(pool), ask, sink), receive)
}

fn outcome(events: &Receiver<Event>) -> Outcome {
    let done = events.iter().find_map(|event| if let Event::Done(outcome) = event { Some(*outcome) } else { None });
    done.unwrap()
}

/// Has tests that are worth a run without the candidate.
struct Prepared(Arc<dyn Task>);

impl Task for Prepared {
    fn has_tests(&self) -> bool {
        self.0.has_tests()
    }

    fn trial(&self, candidate: usize, text: &str, limits: Limits) -> Option<Trial> {
        self.0.trial(candidate, text, limits)
    }

    fn preparation(&self, limits: Limits) -> Option<Trial> {
        self.0.trial(0, "", limits)
    }

    fn duplicate_key(&self, candidate: usize, text: &str) -> String {
        self.0.duplicate_key(candidate, text)
    }
}

#[test]
fn tests_run_without_the_candidate_from_the_start() {
    let (pool, _) = unsteady();
    let plain = ask(false);
    assert!(plain.task.preparation(plain.limits).is_none(), "examples on their own have no project");
    let (_run, events) = start(&Scripted, &pool, Ask { task: Arc::new(Prepared(plain.task.clone())), ..plain });
    let told = |event: Event| match event {
        Event::Preparing(Some(longest)) => Some(if longest > Duration::from_secs(1) { "begins" } else { "too short" }),
        Event::Preparing(None) => Some("ends"),
        Event::Testing(_) => Some("a candidate"),
        _ => None,
    };
    let all: Vec<_> = std::iter::from_fn(|| events.recv().ok().filter(|event| !matches!(event, Event::Done(_))))
        .filter_map(told)
        .collect();
    assert_eq!(all[..3], ["begins", "ends", "a candidate"]);
}

#[test]
fn a_new_task_takes_the_place_of_trials_that_run() {
    let (begun, has_begun) = channel();
    let pool = pool(1, move |trial, cancel| {
        let _ = begun.send(());
        // Trials of the first task do not end by themselves.
        let is_new = trial.program.contains("twice(3)");
        while !is_new && !cancel.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let status = if is_new { Status::Passed } else { Status::Failed };
        Ok(Verdict { status, ..Verdict::not_run("ran") })
    });
    let (run, events) = start(&Scripted, &pool, ask(false));
    has_begun.recv().unwrap();
    events.iter().find(|event| matches!(event, Event::Source(source::Event::Done(_)))).unwrap();
    let other = Job::from_text(&STUB.replace("twice(2)\n    4", "twice(3)\n    6"), &TestsChoice::Auto).unwrap();
    run.use_task(Arc::new(other));
    (0..TEXTS.len()).for_each(|candidate| run.test(candidate));
    let outcome = outcome(&events);
    assert!(outcome.candidates.iter().all(|c| c.verdict.status == Status::Passed), "{:?}", outcome.candidates);
}

#[test]
fn equal_candidates_run_once_and_the_best_ranked_pass_is_the_pick() {
    let (pool, ran) = unsteady();
    let (_run, receive) = start(&Scripted, &pool, ask(false));
    let mut events = Vec::new();
    let outcome = loop {
        match receive.recv().unwrap() {
            Event::Done(outcome) => break outcome,
            event => events.push(event),
        }
    };
    assert_eq!(ran.load(Ordering::Relaxed), 3, "three programs, five candidates");
    let status: Vec<Status> = outcome.candidates.iter().map(|c| c.verdict.status).collect();
    let (passed, failed) = (Status::Passed, Status::Failed);
    assert_eq!(status, [passed, failed, passed, failed, passed]);
    let duplicates: Vec<Option<usize>> = outcome.candidates.iter().map(|c| c.duplicate_of).collect();
    assert_eq!(duplicates, [None, None, Some(0), Some(1), None], "the lowest index");
    assert_eq!(outcome.picked, Some(4), "after 1 and 3, which failed");
    let of: Vec<(usize, usize)> = events
        .iter()
        .filter_map(|event| if let Event::Duplicate { candidate, of } = event { Some((*candidate, *of)) } else { None })
        .collect();
    assert_eq!(of, [(1, 3), (0, 2)], "the one that is tested");
    let picks: Vec<usize> =
        events.iter().filter_map(|event| if let Event::Pick(c) = event { *c } else { None }).collect();
    assert_eq!(picks.last(), Some(&4));
    assert!(picks.len() <= 2, "the first that passed, then the best: {picks:?}");
}

/// Ends three candidates in an order; they rank by index.
struct Ordered([usize; 3]);

impl Source for Ordered {
    fn info(&self) -> SourceInfo {
        SourceInfo::default()
    }

    fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
        let ticket = Ticket::new(request.options.n);
        let order = self.0;
        std::thread::spawn(move || {
            for candidate in order {
                let (reason, text) = (FinishReason::Stop, format!("    return {candidate}\n"));
                let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob: Some(-0.5) });
            }
            let ranking = (0..request.options.n).collect();
            let _ = sink(source::Event::Done(Box::new(Summary { ranking, ..Summary::default() })));
        });
        ticket
    }
}

#[test]
fn the_first_pass_is_told_and_then_the_best_in_every_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for passing in 0..8_usize {
            let passes = move |c: usize| passing & (1 << c) != 0;
            let pool = pool(1, move |trial, _| {
                let right = (0..3).any(|c| passes(c) && trial.program.contains(&format!("return {c}")));
                let status = if right { Status::Passed } else { Status::Failed };
                Ok(Verdict { status, ..Verdict::not_run("ran") })
            });
            let mut ask = ask(false);
            ask.request.options.n = 3;
            let (_run, events) = start(&Ordered(order), &pool, ask);
            let (mut first, mut picks) = (None, Vec::new());
            let outcome = loop {
                match events.recv().unwrap() {
                    Event::Verdict { candidate, outcome } if outcome.as_ref().unwrap().has_passed() => {
                        first = first.or(Some(candidate));
                    }
                    Event::Pick(pick) => picks.push(pick),
                    Event::Done(outcome) => break outcome,
                    _ => {}
                }
            };
            let best = (0..3).find(|&c| passes(c));
            assert_eq!(picks.first().copied().flatten(), first, "{order:?} {passing:03b}");
            assert_eq!((outcome.picked, picks.last().copied().flatten()), (best, best), "{order:?} {passing:03b}");
            let passed = outcome.summary.ranking.iter().take_while(|&&c| passes(c)).count();
            assert_eq!(passed, passing.count_ones() as usize, "those that passed rank first: {passing:03b}");
        }
    }
}

#[test]
fn a_marked_pass_is_the_pick_only_while_no_other_passed() {
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
        for (marks, expected) in [([true, false, true], 1), ([true, true, true], 0), ([false, false, true], 0)] {
            let pool = pool(1, move |trial, _| {
                let which = (0..3).find(|c| trial.program.contains(&format!("return {c}"))).unwrap();
                let marks = marks[which].then(|| "it reads the frames".to_owned()).into_iter().collect();
                let assurance = Box::new(Assurance { marks, ..Assurance::default() });
                Ok(Verdict { status: Status::Passed, assurance, ..Verdict::not_run("ran") })
            });
            let mut ask = ask(false);
            ask.request.options.n = 3;
            let (_run, events) = start(&Ordered(order), &pool, ask);
            let outcome = outcome(&events);
            assert_eq!(outcome.picked, Some(expected), "{order:?} {marks:?}");
            // The others by probability, marked ones last.
            let first = outcome.summary.ranking[0];
            assert_eq!(first, expected, "{order:?} {marks:?}");
        }
    }
}

#[test]
fn where_none_passes_the_one_that_came_furthest_ranks_first() {
    let pool = pool(1, move |trial, _| {
        let passed = [1, 0, 2][(0..3).find(|c| trial.program.contains(&format!("return {c}"))).unwrap()];
        let checks = (0..=passed).map(|at| (format!("test_{at}"), at < passed)).collect();
        let assurance = Box::new(Assurance { checks, ..Assurance::default() });
        Ok(Verdict { status: Status::Failed, assurance, ..Verdict::not_run("no") })
    });
    let mut ask = ask(false);
    ask.request.options.n = 3;
    let (_run, events) = start(&Ordered([0, 1, 2]), &pool, ask);
    let outcome = outcome(&events);
    assert_eq!((outcome.picked, outcome.summary.ranking), (None, vec![2, 0, 1]));
}

/// Passes everything, and calls what returns a number: it does what it returns, but 2 does what 0 does.
struct Caller(crate::trial::Protection, Arc<AtomicUsize>);

impl Judge for Caller {
    fn protection(&self) -> &crate::trial::Protection {
        &self.0
    }

    fn may_run(&self) -> bool {
        true
    }

    fn allow_unprotected(&self) -> Arc<dyn Judge> {
        Arc::new(Self(self.0.clone(), self.1.clone()))
    }

    fn run(&self, _: &Trial, _: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        Ok(Verdict { status: Status::Passed, ..Verdict::not_run("ran") })
    }

    fn observe(&self, trial: &Trial, inputs: &[Input], _: &Arc<AtomicBool>) -> Result<Vec<Observed>, TrialError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let key = if trial.program.contains("return 1") { "1" } else { "0" }.to_owned();
        Ok(vec![Observed { effect: Effect::Returned, key, ..Observed::default() }; inputs.len()])
    }
}

#[test]
fn most_that_do_the_same_come_first_with_tests_and_without() {
    let protection = super::super::trials::tests::isolated();
    let called = Arc::new(AtomicUsize::new(0));
    let pool = TrialPool::with(Arc::new(Caller(protection, called.clone())), (1, 1)).unwrap();
    for tests in [TestsChoice::Auto, TestsChoice::None] {
        let mut ask = Ask { agree: true, ..ask(false) };
        ask.request.options.n = 3;
        ask.task = Arc::new(Job::from_text(STUB, &tests).unwrap());
        let (_run, events) = start(&Ordered([1, 2, 0]), &pool, ask);
        let done = outcome(&events);
        let agreement = done.agreement.unwrap();
        assert_eq!(agreement.groups(), [vec![0, 2], vec![1]], "{tests:?}");
        assert_eq!((done.summary.ranking, done.picked), (vec![0, 2, 1], Some(0)), "{tests:?}");
    }
    // Equal code is called once and votes for each, and may outvote what is more probable.
    called.store(0, Ordering::Relaxed);
    let ask = Ask { agree: true, ..ask(false) };
    let (run, events) = start(&Scripted, &pool, ask);
    let done = outcome(&events);
    assert_eq!((called.load(Ordering::Relaxed), done.agreement.unwrap().candidates()), (3, 5));
    // A candidate of the user's is called and has a place, and does not vote.
    run.add(1, "    return 3\n".to_owned());
    let done = outcome(&events).agreement.unwrap();
    assert_eq!(
        (done.candidates(), done.groups()[0].contains(&5), done.words().as_str()),
        (5, true, "each call gives ")
    );
    // Without a wish for it nothing is called.
    let (_run, events) = start(&Scripted, &pool, super::tests::ask(false));
    assert!(outcome(&events).agreement.is_none());
    assert_eq!(called.load(Ordering::Relaxed), 4);
}

/// Half a function is no candidate to take, however probable it is.
#[test]
fn what_the_token_limit_cuts_in_the_middle_is_not_tested_and_comes_last() {
    /// All end at the token limit, the first two in the middle, the third before the function.
    struct Short;
    impl Source for Short {
        fn info(&self) -> SourceInfo {
            SourceInfo::default()
        }
        fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
            let ticket = Ticket::new(request.options.n);
            let texts = ["    for y in [x]:\n", "    return (x\n", "\n", "    return x + x\n"];
            for (candidate, text) in texts.into_iter().enumerate() {
                let (reason, text) = (FinishReason::Length, text.to_owned());
                let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob: Some(-0.5) });
            }
            let _ = sink(source::Event::Done(Box::new(Summary { ranking: vec![0, 1, 2, 3], ..Summary::default() })));
            ticket
        }
    }
    for tests in [TestsChoice::None, TestsChoice::Auto] {
        let (pool, ran) = unsteady();
        let job = Job::from_text(STUB, &tests).unwrap();
        let options = GenerateOptions { n: 4, ..GenerateOptions::default() };
        let request = Request { prompt: job.prompt(), reference: None, options };
        let (_run, events) = start(&Short, &pool, Ask { request, task: Arc::new(job), ..ask(false) });
        let done = outcome(&events);
        assert_eq!((done.picked, ran.load(Ordering::Relaxed)), (Some(3), usize::from(tests == TestsChoice::Auto)));
        for candidate in &done.candidates[..3] {
            let is_told = candidate.verdict.message.contains("raise --max-tokens");
            assert_eq!(is_told, tests == TestsChoice::Auto, "{}", candidate.verdict.message);
        }
    }
}

#[test]
fn a_run_that_is_stopped_tells_so_and_tests_no_more() {
    /// Ends its first candidate at once, the others when they are cancelled.
    struct Waits;
    impl Source for Waits {
        fn info(&self) -> SourceInfo {
            SourceInfo::default()
        }
        fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
            let ticket = Ticket::new(request.options.n);
            let own = ticket.clone();
            std::thread::spawn(move || {
                for (candidate, text) in TEXTS.iter().enumerate() {
                    while candidate > 0 && !own.is_cancelled(candidate) {
                        std::thread::yield_now();
                    }
                    let reason = if candidate > 0 { FinishReason::Cancelled } else { FinishReason::Stop };
                    let text = (*text).to_owned();
                    let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob: Some(-0.5) });
                }
                let ranking = (0..request.options.n).collect();
                let _ = sink(source::Event::Done(Box::new(Summary { ranking, ..Summary::default() })));
            });
            ticket
        }
    }
    let message = |outcome: &Outcome, c: usize| outcome.candidates[c].verdict.message.clone();
    // The first pass ends the others.
    let (pool, _) = unsteady();
    let (_run, events) = start(&Waits, &pool, ask(true));
    let done = outcome(&events);
    assert_eq!((done.picked, message(&done, 1).as_str()), (Some(0), "stopped, because another one passed"));
    // The user ends it; the trial ends when told to.
    let pool = super::super::trials::tests::pool(1, |_, cancel| {
        while !cancel.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        Ok(Verdict { status: Status::Killed, ..Verdict::not_run("killed") })
    });
    let (run, events) = start(&Waits, &pool, ask(true));
    assert!(events.iter().any(|event| matches!(event, Event::Testing(0))));
    run.cancel();
    let done = outcome(&events);
    assert_eq!(done.picked, None);
    assert_eq!(
        (message(&done, 0).as_str(), message(&done, 1).as_str()),
        ("its tests were cancelled", "cut before its end")
    );
}

/// Writes `wrong` twice until it is asked for a further round, then `then` for each candidate; keeps the
/// requests.
struct Later {
    then: fn(usize) -> &'static str,
    asked: Mutex<Vec<Request>>,
    refuses: bool,
}

impl Source for Later {
    fn info(&self) -> SourceInfo {
        SourceInfo::default()
    }

    fn window(&self) -> Window {
        Window::served(2_000_000_000, 0)
    }

    fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
        let (n, is_told) =
            (request.options.n, matches!(&request.prompt, Prompt::Text(text) if text.contains("Wrong attempts")));
        let round = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request);
            asked.len()
        };
        let ticket = Ticket::new(n);
        if self.refuses && is_told {
            let _ = sink(source::Event::Refused("the prompt is too long".to_owned()));
            return ticket;
        }
        let then = self.then;
        std::thread::spawn(move || {
            for candidate in 0..n {
                let text =
                    if round == 1 { ["    return 0\n", "    return 1\n"][candidate % 2] } else { then(candidate) };
                let (reason, text) = (FinishReason::Stop, text.to_owned());
                let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob: Some(-0.5) });
            }
            let ranking = (0..n).collect();
            let _ = sink(source::Event::Done(Box::new(Summary { ranking, tokens: n, ..Summary::default() })));
        });
        ticket
    }
}

fn later(then: fn(usize) -> &'static str, refuses: bool) -> Arc<Later> {
    Arc::new(Later { then, asked: Mutex::default(), refuses })
}

/// A run of four candidates and so many rounds.
fn going_on(source: &Arc<Later>, most: usize, pool: &TrialPool) -> (Run, Receiver<Event>) {
    let mut ask = ask(false);
    ask.request.options.n = 4;
    ask.request.options.sampling.temperature = 0.7;
    ask.rounds = Some(Rounds { most, source: source.clone(), retry: Retry::Mixed });
    start(&**source, pool, ask)
}

#[test]
fn where_none_passed_as_many_are_written_again_and_half_of_them_are_told_what_failed() {
    let (pool, ran) = unsteady();
    let source = later(|candidate| if candidate == 1 { "    return x + x\n" } else { "    return 0\n" }, false);
    let (_run, events) = going_on(&source, 3, &pool);
    let all: Vec<Event> = events.iter().take_while(|event| !matches!(event, Event::Done(_))).collect();
    let told = all.iter().find_map(|event| match event {
        Event::Round { number, candidates, told, why } => Some((*number, candidates.clone(), *told, *why)),
        _ => None,
    });
    assert_eq!(told, Some((2, 4..8, 2, WhyMore::NonePasses)));
    let ended = all.iter().filter(|event| matches!(event, Event::Source(source::Event::Done(_)))).count();
    assert_eq!(ended, 2, "each round ends once, of however many requests it is");
    assert_eq!(ran.load(Ordering::Relaxed), 3, "what was tested in the first round is not tested again");
    let asked = source.asked.lock().unwrap();
    let [first, fresh, facts] = &asked[..] else { panic!("{} requests", asked.len()) };
    assert_eq!((fresh.options.n, facts.options.n), (2, 2));
    assert_eq!(fresh.prompt, first.prompt);
    let Prompt::Text(prompt) = &facts.prompt else { panic!("no text") };
    let expected = "# Wrong attempts failed these tests:\n# ran\n";
    assert_eq!(**prompt, format!("{expected}{STUB}"));
    let temperatures = [first, fresh, facts].map(|request| request.options.sampling.temperature);
    assert!(temperatures[1] > temperatures[0] && (temperatures[2] - 0.7).abs() < 1e-6, "{temperatures:?}");
    let seeds = [first, fresh, facts].map(|request| request.options.seed);
    assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds[0] != seeds[2], "{seeds:?}");
    assert_eq!(fresh.reference.as_deref(), Some("    return 0\n\n    return 1\n\n    return 0\n\n    return 1\n"));
}

#[test]
fn candidates_of_all_rounds_stay_and_the_pick_may_be_of_any() {
    let (pool, _) = unsteady();
    let source = later(|candidate| if candidate == 1 { "    return x + x\n" } else { "    return 0\n" }, false);
    let (_run, events) = going_on(&source, 2, &pool);
    let done = outcome(&events);
    assert_eq!(done.candidates.iter().map(|c| c.round).collect::<Vec<_>>(), [1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(done.candidates.iter().map(|c| c.told).collect::<Vec<_>>()[4..], [false, false, true, true]);
    assert_eq!((done.picked, done.summary.tokens), (Some(5), 8));
    assert_eq!(done.candidates[4].duplicate_of, Some(0));
    assert_eq!(done.summary.ranking.len(), 8);
}

#[test]
fn no_round_follows_a_pass_a_stop_or_the_last_one() {
    let count = |source: &Later| source.asked.lock().unwrap().len();
    let wrong = || later(|_| "    return 2\n", false);
    // All fail, as often as it may be tried.
    for (most, requests, candidates) in [(1, 1, 4), (2, 3, 8), (3, 5, 12)] {
        let ((pool, _), source) = (unsteady(), wrong());
        let (_run, events) = going_on(&source, most, &pool);
        let done = outcome(&events);
        assert_eq!((count(&source), done.candidates.len(), done.picked), (requests, candidates, None), "{most}");
    }
    // It fails only when it is tested again.
    let (source, fails) = (wrong(), Arc::new(AtomicBool::new(false)));
    let is_failing = fails.clone();
    let changing = pool(1, move |_, _| {
        let status = if is_failing.load(Ordering::Relaxed) { Status::Failed } else { Status::Passed };
        Ok(Verdict { status, ..Verdict::not_run("ran") })
    });
    let (run, events) = going_on(&source, 3, &changing);
    assert_eq!(outcome(&events).candidates.len(), 4);
    fails.store(true, Ordering::Relaxed);
    run.test(0);
    assert_eq!((outcome(&events).candidates.len(), count(&source)), (4, 1));
    // The time for all of it was said.
    let ((steady, _), source) = (unsteady(), wrong());
    let mut timed = Ask { rounds: Some(Rounds { most: 3, source: source.clone(), retry: Retry::Fresh }), ..ask(false) };
    timed.request.options.time_budget = Some(Duration::from_secs(9));
    let (_run, events) = start(&*source, &steady, timed);
    assert_eq!((outcome(&events).candidates.len(), count(&source)), (TEXTS.len(), 1));
    // One passes.
    let source = wrong();
    let passing = pool(1, |_, _| Ok(Verdict { status: Status::Passed, ..Verdict::not_run("ran") }));
    let (_run, events) = going_on(&source, 3, &passing);
    assert_eq!((outcome(&events).candidates.len(), count(&source)), (4, 1));
    // Tests that could not run say nothing.
    let source = wrong();
    let failing = pool(1, |_, _| Ok(Verdict::not_run("no runner")));
    let (_run, events) = going_on(&source, 3, &failing);
    assert_eq!((outcome(&events).candidates.len(), count(&source)), (4, 1));
    // The user stops it while it is tested.
    let source = wrong();
    let slow = pool(1, |_, cancel| {
        while !cancel.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        Ok(Verdict { status: Status::Failed, ..Verdict::not_run("ran") })
    });
    let (run, events) = going_on(&source, 3, &slow);
    assert!(events.iter().any(|event| matches!(event, Event::Testing(_))));
    run.cancel();
    assert_eq!((outcome(&events).candidates.len(), count(&source)), (4, 1));
}

#[test]
fn a_further_round_that_is_refused_costs_its_own_candidates_only() {
    let (pool, _) = unsteady();
    let source = later(|_| "    return 2\n", true);
    let (_run, events) = going_on(&source, 2, &pool);
    let done = outcome(&events);
    let ends: Vec<_> = done.candidates.iter().map(|c| c.finish.unwrap()).collect();
    assert_eq!(ends[4..], [FinishReason::Stop, FinishReason::Stop, FinishReason::Failed, FinishReason::Failed]);
    assert_eq!(done.candidates[6].verdict.message, "the prompt is too long");
}

#[test]
fn another_round_can_be_asked_for_once_all_has_ended() {
    let (pool, _) = unsteady();
    let source = later(|_| "    return x + x\n", false);
    let (run, events) = going_on(&source, 1, &pool);
    assert_eq!(outcome(&events).picked, None);
    assert!(run.more());
    assert!(!run.more(), "one at a time");
    assert_eq!(outcome(&events).picked, Some(4));
    assert_eq!(source.asked.lock().unwrap().len(), 3);
    // The text has one more example by now.
    let renewed = STUB.replace("    \"\"\"\n", "    >>> double(0)\n    0\n    \"\"\"\n");
    assert_ne!(renewed, STUB);
    run.use_task(Arc::new(Job::from_text(&renewed, &TestsChoice::None).unwrap()));
    assert!(run.more());
    outcome(&events);
    let asked = source.asked.lock().unwrap()[3..].iter().map(|request| request.prompt.clone()).collect::<Vec<_>>();
    assert!(asked.iter().all(|prompt| matches!(prompt, Prompt::Text(text) if text.ends_with(&renewed))), "{asked:?}");
    assert_eq!(asked[0], Prompt::Text(PromptText::words(renewed)));
    // Also after a pass that ended the candidates beside it.
    let rounds = Some(Rounds { most: 1, source: Arc::new(Scripted), retry: Retry::Fresh });
    let (run, events) = start(&Scripted, &pool, Ask { rounds, ..ask(true) });
    assert!(outcome(&events).picked.is_some() && run.more());
    let done = outcome(&events);
    let ends = done.candidates[TEXTS.len()..].iter().map(|c| c.finish);
    assert_eq!(ends.collect::<Vec<_>>(), [Some(FinishReason::Stop); TEXTS.len()]);
}

#[test]
fn a_run_has_no_more_candidates_than_can_be_kept() {
    let ((pool, _), source) = (unsteady(), later(|_| "    return 2\n", false));
    let rounds = Some(Rounds { most: 3, source: source.clone(), retry: Retry::Fresh });
    let mut many = Ask { rounds, ..ask(false) };
    many.request.options.n = 40;
    let (run, events) = start(&*source, &pool, many);
    assert_eq!(outcome(&events).candidates.len(), MAX_CANDIDATES);
    assert!(!run.more());
}

#[test]
fn a_name_that_is_not_there_is_told_first_and_equal_words_once() {
    let candidate = |index, status, message: &str, text: &str| Candidate {
        verdict: Verdict { status, ..Verdict::not_run(message) },
        text: text.to_owned(),
        ..Candidate::new(index)
    };
    let candidates = [
        candidate(0, Status::Failed, "f(1) gave 2, expected 3", "a\n"),
        candidate(1, Status::Failed, "f(1) gave 2, expected 3", "b\n"),
        candidate(2, Status::Error, "NameError: name 'sqrt' is not defined", "c\n"),
        candidate(3, Status::NotRun, "cut before its end", "d\n"),
        candidate(4, Status::Failed, "f(2) gave 0, expected 5", "  \n"),
    ];
    let name = "NameError: name 'sqrt' is not defined";
    let facts = |ranking: &[usize]| rounds::facts(&candidates, ranking);
    assert_eq!(facts(&[1, 0, 3, 2, 4]), [name, "f(1) gave 2, expected 3", "f(2) gave 0, expected 5"]);
    assert_eq!(facts(&[1, 0]), ["f(1) gave 2, expected 3"]);
    assert_eq!(facts(&[3]), [""; 0]);
}
