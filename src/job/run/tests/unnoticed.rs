//! Candidates that no tests judge: those that were found do not notice the function, or there are none.

use super::*;
use crate::code::{Place, Target};
use crate::job::Rounds;
use crate::language::Language;

/// The verdicts of three candidates, the pick, the ranking and the number of candidates in the end.
fn run_of(verdicts: [Verdict; 3], tests: &TestsChoice) -> (Option<usize>, Vec<usize>, usize) {
    let pool = pool(1, move |trial, _| {
        let which = (0..3).find(|c| trial.program.contains(&format!("return {c}"))).unwrap();
        Ok(verdicts[which].clone())
    });
    let source = Arc::new(Ordered([0, 1, 2])) as Arc<dyn Source>;
    let mut ask = Ask { rounds: Some(Rounds::new(2, &source)), ..ask(false) };
    ask.request.options.n = 3;
    ask.task = Arc::new(Job::from_text(STUB, tests).unwrap());
    let (_run, events) = start(&*source, &pool, ask);
    let done = outcome(&events);
    (done.picked, done.summary.ranking, done.candidates.len())
}

#[test]
fn tests_that_were_found_and_notice_nothing_leave_the_pick_to_the_rank() {
    let unnoticed = || Verdict::not_run("").vacuous("twice");
    let with = |status| Verdict { status, ..Verdict::not_run("ran") };
    let (failed, passed) = (with(Status::Failed), with(Status::Passed));
    let all = || [unnoticed(), unnoticed(), unnoticed()];
    assert_eq!(run_of(all(), &TestsChoice::IfAny), (Some(0), vec![0, 1, 2], 3));
    assert_eq!(run_of(all(), &TestsChoice::Auto).0, None, "the user asked for just these");
    // A candidate that fails a test is no pick, and nothing more is written for it.
    let one = [failed.clone(), unnoticed(), unnoticed()];
    assert_eq!(run_of(one, &TestsChoice::IfAny), (Some(1), vec![1, 2, 0], 3));
    let one = [unnoticed(), passed, failed];
    assert_eq!(run_of(one, &TestsChoice::IfAny), (Some(1), vec![1, 0, 2], 3));
    let missing = || Verdict::not_run("pytest is missing");
    assert_eq!(run_of([missing(), missing(), missing()], &TestsChoice::IfAny).0, None);
}

/// Writes two bodies, of which the first is to be marked.
struct Suspicious([&'static str; 2]);

impl Source for Suspicious {
    fn info(&self) -> SourceInfo {
        SourceInfo::default()
    }

    fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
        for (candidate, text) in self.0.into_iter().enumerate() {
            let (reason, text, mean_logprob) = (FinishReason::Stop, text.to_owned(), Some(-0.5));
            let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob });
        }
        let _ = sink(source::Event::Done(Box::new(Summary { ranking: vec![0, 1], ..Summary::default() })));
        Ticket::new(request.options.n)
    }
}

#[test]
fn marks_are_found_without_tests_and_the_pick_passes_them_over() {
    // Go's candidates are not called: a name that nothing defines is a mark.
    let go = "package a\n\nfunc Twice(x int) int {\n}\n";
    for (language, stub, bodies, mark) in [
        (
            Language::Python,
            STUB,
            ["    import subprocess\n    return subprocess.call(x)\n", "    return 2 * x\n"],
            "`subprocess`",
        ),
        (Language::Go, go, ["\treturn doubled(x)\n", "\treturn 2 * x\n"], "it uses `doubled`, which"),
    ] {
        let target = Target::in_text(stub, language, &Place::Any).unwrap();
        marks_are_found(Job::from_target(target, &TestsChoice::None).unwrap(), bodies, mark);
    }
}

fn marks_are_found(job: Job, bodies: [&'static str; 2], mark: &str) {
    let (pool, ran) = unsteady();
    let mut ask = ask(false);
    ask.request.options.n = 2;
    ask.task = Arc::new(job);
    let (_run, events) = start(&Suspicious(bodies), &pool, ask);
    let (mut told, mut done) = (Vec::new(), None);
    while done.is_none() {
        match events.recv().unwrap() {
            Event::Verdict { candidate, outcome } => told.push((candidate, outcome.unwrap())),
            Event::Done(outcome) => done = Some(outcome),
            _ => {}
        }
    }
    let done = done.unwrap();
    assert_eq!((done.picked, done.summary.ranking, ran.load(Ordering::Relaxed)), (Some(1), vec![1, 0], 0));
    let marks = |c: usize| done.candidates[c].verdict.assurance.marks.clone();
    assert!(marks(0)[0].contains(mark) && marks(1).is_empty(), "{:?}", marks(0));
    // Of the other there is nothing to say.
    assert_eq!(told, [(0, done.candidates[0].verdict.clone())]);
    assert_eq!(told[0].1.status, Status::NotRun);
}
