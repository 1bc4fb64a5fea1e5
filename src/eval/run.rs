//! A run: candidates of many problems advance together, each is tested as soon as it ends, and each problem
//! is reported once it is done.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::plan::{Candidates, Plan};
use super::problem::{Answer, Problem};
use super::result::{CandidateResult, ProblemResult};
use super::seed;
use crate::engine::{Engine, GenerateOptions};
use crate::job::{Ask, Candidate, Event, Run as JobRun, Task, TrialPool, all_workers};
use crate::source::{
    Event as From, EventSink, FinishReason, Prompt, Request, Source, SourceInfo, Summary, Ticket, Window,
};
use crate::trial::{Limits, Trial};

/// Messages to a run, from outside and from its jobs.
pub enum Message {
    /// An event of a problem.
    Event(usize, Event),
    /// The user interrupts the run.
    Interrupt,
}

/// Events of a run.
#[derive(Clone, Copy)]
pub enum News<'a> {
    /// New tokens.
    Tokens(usize),
    /// A candidate has been tested.
    Tested,
    Done(&'a ProblemResult),
    /// Nothing has happened for a while.
    Waiting,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Done,
    /// The user stopped it.
    Interrupted,
    /// Its time limit was reached.
    Deadline,
}

impl Ended {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::Deadline => "deadline",
        }
    }
}

/// Reasons why a run failed. Events reported before stay valid.
#[derive(Debug)]
pub enum RunError {
    /// The model failed, or a trial could not be run: a sentence.
    Failed(String),
    /// The listener failed: a sentence.
    Listener(String),
}

/// A problem in progress.
struct Work {
    run: Option<JobRun>,
    /// True if all candidates have ended.
    written: bool,
}

/// A problem as the task of a job.
struct ProblemTask {
    problem: Problem,
    given: Option<Vec<Answer>>,
}

impl ProblemTask {
    fn answer(&self, candidate: usize, text: &str) -> Answer {
        let given = self.given.as_ref().and_then(|answers| answers.get(candidate));
        given.cloned().unwrap_or_else(|| Answer::Completion(text.to_owned()))
    }
}

impl Task for ProblemTask {
    fn has_tests(&self) -> bool {
        true
    }

    fn trial(&self, candidate: usize, text: &str, limits: Limits) -> Option<Trial> {
        Some(self.problem.trial(&self.answer(candidate, text), limits))
    }

    fn prompt_again(&self, window: &Window, facts: &[String]) -> Option<Prompt> {
        self.problem.prompt_again(window, facts)
    }

    fn duplicate_key(&self, candidate: usize, text: &str) -> String {
        self.problem.duplicate_key(&self.answer(candidate, text))
    }
}

/// A source of given answers, all available at once.
struct Given<'a>(&'a [Answer]);

impl Source for Given<'_> {
    fn info(&self) -> SourceInfo {
        SourceInfo::default()
    }

    fn generate(&self, _: Request, mut sink: EventSink) -> Ticket {
        for (candidate, answer) in self.0.iter().enumerate() {
            let (reason, text) = (FinishReason::Stop, answer.text().to_owned());
            let _ = sink(From::Finished { candidate, reason, text, mean_logprob: None });
        }
        let ranking = (0..self.0.len()).collect();
        let _ = sink(From::Done(Box::new(Summary { ranking, ..Summary::default() })));
        Ticket::new(self.0.len())
    }
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    pool: &'a TrialPool,
    send: &'a Sender<Message>,
    works: BTreeMap<usize, Work>,
    /// Problems with results.
    done: usize,
    /// Why others could not be tested.
    untested: Vec<String>,
}

/// Time without events after which `Waiting` is reported.
const TICK: Duration = Duration::from_millis(500);

/// Problems that cannot be tested, beyond as many as were, before the run is given up: then the machine is at
/// fault, and not a problem.
const MOST_UNTESTED: usize = 2;

/// Most problems that are written and wait for their trials. Waiting work is lost when the run is
/// interrupted.
const BACKLOG: usize = 32;

impl Plan<'_> {
    /// Returns true if another problem may begin beside `works`.
    fn has_room(&self, works: &BTreeMap<usize, Work>) -> bool {
        match &self.candidates {
            // A time budget assumes a single prompt: nothing may run beside it.
            Candidates::Model { options, .. } if options.time_budget.is_some() => works.is_empty(),
            // As many as advance together, and a few that begin as soon as there is room. Trials that lag
            // behind (a candidate that loops takes its full time limit) do not keep the model waiting, unless
            // there are very many.
            Candidates::Model { options, .. } => {
                let together = (Engine::MAX_LIVE / options.n.max(1)).max(1) + 2;
                let written = works.values().filter(|work| work.written).count();
                works.len() - written < together && written < BACKLOG
            }
            Candidates::Given(_) => works.len() < all_workers() * 2,
        }
    }
}

/// Runs the plan. `news` gets every event; if it fails, so does the run. Unfinished work is then cancelled.
pub fn run(
    plan: &Plan<'_>,
    pool: &TrialPool,
    send: &Sender<Message>,
    receive: &Receiver<Message>,
    news: &mut dyn FnMut(News<'_>) -> Result<(), String>,
) -> Result<Ended, RunError> {
    let mut run = Run { plan, pool, send, works: BTreeMap::new(), done: 0, untested: Vec::new() };
    let outcome = run.work(receive, news);
    run.works.values().filter_map(|work| work.run.as_ref()).for_each(JobRun::cancel);
    outcome
}

impl Run<'_> {
    fn work(
        &mut self,
        receive: &Receiver<Message>,
        news: &mut dyn FnMut(News<'_>) -> Result<(), String>,
    ) -> Result<Ended, RunError> {
        let mut todo = self.plan.todo.iter().copied().enumerate();
        loop {
            while self.plan.has_room(&self.works) {
                let Some((place, problem)) = todo.next() else { break };
                self.begin(place, problem);
            }
            if self.works.is_empty() {
                return match self.untested.first() {
                    None => Ok(Ended::Done),
                    Some(why) if self.untested.len() == 1 => Err(RunError::Failed(why.clone())),
                    Some(why) => {
                        let count = self.untested.len();
                        Err(RunError::Failed(format!("{count} problems could not be tested, the first of them: {why}")))
                    }
                };
            }
            let left = self.plan.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Ended::Deadline);
            }
            let told = match receive.recv_timeout(left.map_or(TICK, |left| left.min(TICK))) {
                Ok(Message::Event(problem, event)) => self.event(problem, event).map_err(RunError::Failed)?,
                Err(RecvTimeoutError::Timeout) => Told::News(News::Waiting),
                // We hold a sender ourselves.
                Ok(Message::Interrupt) | Err(RecvTimeoutError::Disconnected) => return Ok(Ended::Interrupted),
            };
            match &told {
                Told::Nothing => Ok(()),
                Told::News(told) => news(*told),
                Told::Result(result) => news(News::Done(result)),
            }
            .map_err(RunError::Listener)?;
        }
    }

    /// Requests the candidates of a problem. Those at an earlier place are tested first.
    fn begin(&mut self, place: usize, problem: usize) {
        let asked = &self.plan.problems[problem];
        let window = match &self.plan.candidates {
            Candidates::Model { source, .. } => source.window(),
            Candidates::Given(_) => Window::default(),
        };
        let (given, options) = match &self.plan.candidates {
            Candidates::Model { options, stops, default_stops, .. } => {
                let stop = asked.stop_rules(&window, stops, *default_stops);
                let seed = seed::of_problem(options.seed, &asked.id);
                (None, GenerateOptions { stop, seed, ..(**options).clone() })
            }
            Candidates::Given(_) => (
                Some(self.plan.given(problem)),
                GenerateOptions { n: self.plan.n(problem), ..GenerateOptions::default() },
            ),
        };
        let ask = Ask {
            request: Request { prompt: asked.prompt_for(&window), reference: None, options },
            task: Arc::new(ProblemTask { problem: asked.clone(), given: given.map(<[Answer]>::to_vec) }),
            limits: self.plan.limits,
            stop_on_pass: false,
            agree: false,
            rounds: self.plan.rounds.clone(),
            problem: place,
        };
        let send = self.send.clone();
        // A closed channel means that the run is over.
        let sink = Box::new(move |event| match send.send(Message::Event(problem, event)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        let run = match &self.plan.candidates {
            Candidates::Model { source, .. } => JobRun::start(*source, Some(self.pool), ask, sink),
            Candidates::Given(_) => JobRun::start(&Given(self.plan.given(problem)), Some(self.pool), ask, sink),
        };
        self.works.insert(problem, Work { run: Some(run), written: false });
    }

    /// Handles an event of a job. Returns the part to report.
    fn event(&mut self, problem: usize, event: Event) -> Result<Told, String> {
        if !self.works.contains_key(&problem) {
            // It was given up.
            return Ok(Told::Nothing);
        }
        let result = match event {
            Event::Source(From::Tokens { ids, logprobs, .. }) => {
                return Ok(Told::News(News::Tokens(ids.len().max(logprobs.len()))));
            }
            Event::Source(From::Done(_)) => {
                self.works.get_mut(&problem).into_iter().for_each(|work| work.written = true);
                return Ok(Told::Nothing);
            }
            Event::Round { .. } => {
                self.works.get_mut(&problem).into_iter().for_each(|work| work.written = false);
                return Ok(Told::Nothing);
            }
            Event::Source(From::Failed(why)) => return Err(why),
            Event::Verdict { outcome: Ok(_), .. } => return Ok(Told::News(News::Tested)),
            Event::Verdict { outcome: Err(why), .. } => {
                self.give_up(problem, &why);
                let too_many = self.untested.len() > self.done + MOST_UNTESTED;
                return if too_many { Err(why) } else { Ok(Told::Nothing) };
            }
            Event::Source(From::Refused(why)) => {
                let mut result = self.result(problem, (0..self.plan.n(problem)).map(Candidate::new).collect());
                result.candidates.iter_mut().for_each(|c| c.message.clone_from(&why));
                result.refused = Some(why);
                result
            }
            Event::Done(outcome) => self.result(problem, outcome.candidates),
            _ => return Ok(Told::Nothing),
        };
        self.works.remove(&problem);
        self.done += 1;
        Ok(Told::Result(result))
    }

    /// A problem whose candidates cannot be tested has no result.
    fn give_up(&mut self, problem: usize, why: &str) {
        if let Some(Work { run: Some(run), .. }) = self.works.remove(&problem) {
            run.cancel();
        }
        self.untested.push(format!("{}: {why}", self.plan.problems[problem].id));
    }

    fn result(&self, problem: usize, candidates: Vec<Candidate>) -> ProblemResult {
        let written = matches!(self.plan.candidates, Candidates::Model { .. });
        let candidates = candidates.into_iter().map(|c| CandidateResult {
            index: c.index,
            tokens: c.tokens(),
            text: c.text,
            mean_logprob: c.mean_logprob.filter(|p| written && p.is_finite()),
            finish: c.finish.filter(|_| written),
            duplicate_of: c.duplicate_of,
            status: c.verdict.status,
            message: c.verdict.words(),
            round: c.round,
            told: c.told,
        });
        let id = self.plan.problems[problem].id.clone();
        ProblemResult::new(id, self.plan.digest(problem), candidates.collect())
    }
}

enum Told {
    Nothing,
    News(News<'static>),
    Result(ProblemResult),
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::super::problem::sample;
    use super::*;
    use crate::job::trials::tests::pool;
    use crate::trial::{Status, TrialError, Verdict};

    /// A source that is asked for nothing.
    struct Nobody;

    impl Source for Nobody {
        fn info(&self) -> SourceInfo {
            SourceInfo::default()
        }

        fn generate(&self, request: Request, _: EventSink) -> Ticket {
            Ticket::new(request.options.n)
        }
    }

    fn work(written: bool) -> Work {
        Work { run: None, written }
    }

    #[test]
    fn the_model_has_enough_to_write_whatever_the_trials_do() {
        let plan = |n, time_budget| Plan {
            problems: &[],
            todo: Vec::new(),
            candidates: Candidates::Model {
                source: &Nobody,
                options: Box::new(GenerateOptions { n, time_budget, ..GenerateOptions::default() }),
                stops: Vec::new(),
                default_stops: true,
            },
            limits: Limits::default(),
            deadline: None,
            rounds: None,
        };
        // Number of problems begun, when so many are written and wait for their trials.
        let begun = |plan: &Plan, written: usize| {
            let mut works: BTreeMap<usize, Work> = (0..written).map(|i| (i, work(true))).collect();
            while plan.has_room(&works) {
                works.insert(works.len(), work(false));
            }
            works.len() - written
        };
        assert_eq!(begun(&plan(8, None), 0), Engine::MAX_LIVE / 8 + 2);
        assert_eq!(begun(&plan(8, None), BACKLOG - 1), Engine::MAX_LIVE / 8 + 2);
        assert_eq!(begun(&plan(8, None), BACKLOG), 0);
        assert_eq!(begun(&plan(64, None), 0), 3);
        // With a budget nothing runs beside it, not even trials.
        let budget = Some(Duration::from_secs(1));
        assert_eq!((begun(&plan(8, budget), 0), begun(&plan(8, budget), 1)), (1, 0));
    }

    #[test]
    fn equal_answers_are_run_once() {
        let problems = [sample()];
        let answers = ["    return 2 * x\n", "    return 0\n", "    return 2 * x  # so\n", "    return 0\n"];
        let plan = Plan {
            problems: &problems,
            todo: vec![0],
            candidates: Candidates::Given(vec![answers.map(|a| Answer::Completion(a.to_owned())).to_vec()]),
            limits: Limits::default(),
            deadline: None,
            rounds: None,
        };
        let ran = std::sync::Arc::new(Mutex::new(Vec::new()));
        let log = ran.clone();
        let pool = pool(2, move |trial, _| {
            log.lock().unwrap().push(trial.program.clone());
            let status = if trial.program.contains("2 * x") { Status::Passed } else { Status::Failed };
            Ok(Verdict { status, ..Verdict::not_run("ran") })
        });
        let (send, receive) = channel();
        let mut results = Vec::new();
        let ended = run(&plan, &pool, &send, &receive, &mut |news| {
            if let News::Done(result) = news {
                results.push(result.clone());
            }
            Ok(())
        });
        assert_eq!(ended.unwrap(), Ended::Done);
        assert_eq!(ran.lock().unwrap().len(), 2, "two programs, four candidates");
        let [result] = &results[..] else { panic!("{results:?}") };
        assert_eq!((result.n, result.passed, result.pass_at_first), (4, 2, true));
        let duplicates: Vec<Option<usize>> = result.candidates.iter().map(|c| c.duplicate_of).collect();
        assert_eq!(duplicates, [None, None, Some(0), Some(1)]);
        assert!(result.candidates.iter().all(|c| c.message == "ran"));
    }

    /// A problem whose tests cannot be run has no result, and is named at the end; the machine is at fault where
    /// hardly any can.
    #[test]
    fn a_problem_that_cannot_be_tested_is_left_out() {
        let count = 6;
        let problems: Vec<Problem> = (0..count).map(|i| Problem { id: format!("Sample/{i}"), ..sample() }).collect();
        let answer = |i| vec![Answer::Completion(format!("    return {i}\n"))];
        let outcome = |fails: fn(&str) -> bool| {
            let plan = Plan {
                problems: &problems,
                todo: (0..count).collect(),
                candidates: Candidates::Given((0..count).map(answer).collect()),
                limits: Limits::default(),
                deadline: None,
                rounds: None,
            };
            let pool = pool(1, move |trial, _| {
                if fails(&trial.program) {
                    Err(TrialError::Limit("no result".into()))
                } else {
                    Ok(Verdict::not_run("ran"))
                }
            });
            let (send, receive) = channel();
            let mut done = Vec::new();
            let ended = run(&plan, &pool, &send, &receive, &mut |news| {
                if let News::Done(result) = news {
                    done.push(result.task_id.clone());
                }
                Ok(())
            });
            let Err(RunError::Failed(why)) = ended else { panic!("{ended:?}") };
            (done.len(), why)
        };
        let (done, why) = outcome(|program| program.contains("return 2"));
        assert!(done == 5 && why.starts_with("Sample/2: these tests hit a limit"), "{done}: {why}");
        let (done, why) = outcome(|program| program.contains("return 2") || program.contains("return 4"));
        assert!(done == 4 && why.starts_with("2 problems could not be tested, the first of them: Sample/2"), "{why}");
        let (done, why) = outcome(|_| true);
        assert!(done == 0 && why.starts_with("these tests hit a limit"), "{done}: {why}");
    }
}
