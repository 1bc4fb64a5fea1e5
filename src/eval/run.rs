//! A run: candidates of many problems advance together, each is tested the moment it ends, each problem is told once it is done.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::plan::{Candidates, Plan};
use super::problem::Answer;
use super::result::{CandidateResult, ProblemResult};
use super::seed;
use crate::engine::{Engine, GenerateOptions};
use crate::job::{TrialPool, TrialReport, Turn, all_workers};
use crate::source::{Event, FinishReason, Prompt, Request, Ticket};
use crate::trial::{Status, Verdict};

/// What happens to a run from outside, and inside it.
pub enum Message {
    /// From the model, about a problem.
    Event(usize, Event),
    /// From a trial, of a problem.
    Trial(usize, TrialReport),
    /// The user wants it to stop.
    Interrupt,
}

/// What a run tells.
pub enum News<'a> {
    /// Tokens have come.
    Tokens(usize),
    /// A candidate has been tested.
    Tested,
    /// A problem is done.
    Done(&'a ProblemResult),
    /// Nothing has happened for a while.
    Waiting,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All is done.
    Done,
    /// The user stopped it.
    Interrupted,
    /// Its time was over.
    Deadline,
}

/// Why a run failed; what was told before has been told.
#[derive(Debug)]
pub enum RunError {
    /// The model failed, or a trial could not be run: a sentence.
    Failed(String),
    /// Whoever is told could not take it: a sentence.
    Listener(String),
}

/// A problem that is being worked on.
struct Work {
    ticket: Option<Ticket>,
    candidates: Vec<CandidateResult>,
    keys: Vec<Option<String>>,
    ended: usize,
    testing: usize,
    refused: Option<String>,
}

impl Work {
    /// Whether all candidates have ended.
    fn is_written(&self) -> bool {
        self.ended >= self.candidates.len()
    }
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    pool: &'a TrialPool,
    send: &'a Sender<Message>,
    works: BTreeMap<usize, Work>,
    /// Trials that have been started and not come back.
    testing: usize,
}

/// How long nothing may happen before that is told.
const TICK: Duration = Duration::from_millis(500);

/// Most problems that are written and wait for their trials. What waits is lost when the run is interrupted.
const BACKLOG: usize = 32;

impl Plan<'_> {
    /// Whether another problem may be begun beside `works`.
    fn has_room(&self, works: &BTreeMap<usize, Work>) -> bool {
        match &self.candidates {
            // A budget is that of someone with this one prompt: nothing may run beside it.
            Candidates::Model { options, .. } if options.time_budget.is_some() => works.is_empty(),
            // As many as advance together, and a few whose turn comes the moment there is room. Trials that lag behind
            // (one that loops takes its whole time) do not keep the model waiting, unless there are very many.
            Candidates::Model { options, .. } => {
                let together = (Engine::MAX_LIVE / options.n.max(1)).max(1) + 2;
                let written = works.values().filter(|work| work.is_written()).count();
                works.len() - written < together && written < BACKLOG
            }
            Candidates::Given(_) => works.len() < all_workers() * 2,
        }
    }
}

/// Does what is to be done. `news` is told everything; when it fails, so does the run.
pub fn run(
    plan: &Plan<'_>,
    pool: &TrialPool,
    send: &Sender<Message>,
    receive: &Receiver<Message>,
    news: &mut dyn FnMut(News<'_>) -> Result<(), String>,
) -> Result<Ended, RunError> {
    let mut run = Run { plan, pool, send, works: BTreeMap::new(), testing: 0 };
    let outcome = run.work(receive, news);
    if !matches!(outcome, Ok(Ended::Done)) {
        run.wind_up(receive);
    }
    outcome
}

impl Run<'_> {
    fn work(
        &mut self,
        receive: &Receiver<Message>,
        news: &mut dyn FnMut(News<'_>) -> Result<(), String>,
    ) -> Result<Ended, RunError> {
        let mut todo = self.plan.todo.iter().copied().peekable();
        let mut is_writing = matches!(self.plan.candidates, Candidates::Model { .. });
        loop {
            while self.plan.has_room(&self.works) {
                let Some(problem) = todo.next() else { break };
                self.begin(problem);
                self.close(problem, news)?;
            }
            if self.works.is_empty() {
                return Ok(Ended::Done);
            }
            if is_writing && todo.peek().is_none() && self.works.values().all(Work::is_written) {
                is_writing = false;
                self.pool.engine_has_ended();
            }
            let left = self.plan.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Ended::Deadline);
            }
            let message = match receive.recv_timeout(left.map_or(TICK, |left| left.min(TICK))) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    news(News::Waiting).map_err(RunError::Listener)?;
                    continue;
                }
                // We hold a sender ourselves.
                Err(RecvTimeoutError::Disconnected) => return Ok(Ended::Interrupted),
            };
            let problem = match message {
                Message::Interrupt => return Ok(Ended::Interrupted),
                Message::Event(problem, Event::Tokens { candidate, ids, .. }) => {
                    if let Some(c) = self.works.get_mut(&problem).and_then(|w| w.candidates.get_mut(candidate)) {
                        c.tokens += ids.len();
                    }
                    news(News::Tokens(ids.len())).map_err(RunError::Listener)?;
                    continue;
                }
                Message::Event(problem, event) => {
                    self.event(problem, event).map_err(RunError::Failed)?;
                    problem
                }
                Message::Trial(problem, report) => {
                    self.tested(problem, report).map_err(RunError::Failed)?;
                    news(News::Tested).map_err(RunError::Listener)?;
                    problem
                }
            };
            self.close(problem, news)?;
        }
    }

    /// Asks for the candidates of a problem.
    fn begin(&mut self, problem: usize) {
        let plan = self.plan;
        let n = plan.n(problem);
        let work = Work {
            ticket: None,
            candidates: (0..n).map(blank).collect(),
            keys: vec![None; n],
            ended: 0,
            testing: 0,
            refused: None,
        };
        self.works.insert(problem, work);
        match &plan.candidates {
            Candidates::Model { source, options, stops, default_stops } => {
                let asked = &plan.problems[problem];
                let options = GenerateOptions {
                    seed: seed::of_problem(options.seed, &asked.id),
                    stop: asked.stop_rules(stops, *default_stops),
                    ..options.clone()
                };
                let send = self.send.clone();
                // A closed channel means that the run is over: nobody listens any more.
                let sink = Box::new(move |event| match send.send(Message::Event(problem, event)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                });
                let request = Request { prompt: Prompt::Text(asked.prompt.clone()), reference: None, options };
                let ticket = source.generate(request, sink);
                if let Some(work) = self.works.get_mut(&problem) {
                    work.ticket = Some(ticket);
                }
            }
            Candidates::Given(answers) => {
                for (candidate, answer) in answers.get(problem).into_iter().flatten().enumerate() {
                    self.ended(problem, candidate, answer, None, None);
                }
            }
        }
    }

    fn event(&mut self, problem: usize, event: Event) -> Result<(), String> {
        match event {
            Event::Finished { candidate, reason, text, mean_logprob } => {
                self.ended(problem, candidate, &Answer::Completion(text), Some(reason), Some(mean_logprob));
            }
            Event::Refused(why) => {
                if let Some(work) = self.works.get_mut(&problem) {
                    work.ended = work.candidates.len();
                    work.candidates.iter_mut().for_each(|c| c.message.clone_from(&why));
                    work.refused = Some(why);
                }
            }
            Event::Failed(why) => return Err(why),
            Event::Prefill { .. } | Event::Tokens { .. } | Event::Step(_) | Event::Done(_) => {}
        }
        Ok(())
    }

    /// A candidate has ended: it is tested, unless it was cut or an equal one is.
    fn ended(
        &mut self,
        problem: usize,
        candidate: usize,
        answer: &Answer,
        finish: Option<FinishReason>,
        logprob: Option<f32>,
    ) {
        let Some(work) = self.works.get_mut(&problem) else { return };
        let Some(c) = work.candidates.get_mut(candidate) else { return };
        work.ended += 1;
        (c.finish, c.mean_logprob) = (finish, logprob.filter(|p| p.is_finite()));
        answer.text().clone_into(&mut c.text);
        if matches!(finish, Some(FinishReason::Budget | FinishReason::Cancelled)) {
            "cut before its end".clone_into(&mut c.message);
            return;
        }
        let asked = &self.plan.problems[problem];
        let key = asked.duplicate_key(answer);
        let known = work.keys.iter().flatten().any(|k| *k == key);
        work.keys[candidate] = Some(key);
        if known {
            return;
        }
        work.testing += 1;
        self.testing += 1;
        let place = self.plan.todo.iter().position(|&p| p == problem).unwrap_or_default();
        let turn = Turn { problem: place, mean_logprob: logprob.unwrap_or_default(), candidate };
        let send = self.send.clone();
        let tell = move |report| drop(send.send(Message::Trial(problem, report)));
        self.pool.start(turn, asked.trial(answer, self.plan.limits), tell);
    }

    fn tested(&mut self, problem: usize, report: TrialReport) -> Result<(), String> {
        self.testing -= 1;
        let Some(work) = self.works.get_mut(&problem) else { return Ok(()) };
        work.testing -= 1;
        let Verdict { status, message, .. } = report.outcome.map_err(|error| error.to_string())?;
        if let Some(c) = work.candidates.get_mut(report.candidate) {
            (c.status, c.message) = (status, message);
        }
        Ok(())
    }

    /// Tells a problem that has become done.
    fn close(&mut self, problem: usize, news: &mut dyn FnMut(News<'_>) -> Result<(), String>) -> Result<(), RunError> {
        let done = |work: &Work| work.is_written() && work.testing == 0;
        if !self.works.get(&problem).is_some_and(done) {
            return Ok(());
        }
        let Some(mut work) = self.works.remove(&problem) else { return Ok(()) };
        share_verdicts(&mut work.candidates, &work.keys);
        let id = self.plan.problems[problem].id.clone();
        let mut result = ProblemResult::new(id, self.plan.digest(problem), work.candidates);
        result.refused = work.refused;
        news(News::Done(&result)).map_err(RunError::Listener)
    }

    /// Ends what still runs, and waits until no code under test does.
    fn wind_up(&mut self, receive: &Receiver<Message>) {
        for work in self.works.values() {
            work.ticket.iter().for_each(Ticket::cancel_all);
        }
        self.pool.cancel();
        while self.testing > 0 {
            match receive.recv() {
                Ok(Message::Trial(..)) => self.testing -= 1,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}

fn blank(index: usize) -> CandidateResult {
    CandidateResult {
        index,
        text: String::new(),
        tokens: 0,
        mean_logprob: None,
        finish: None,
        duplicate_of: None,
        status: Status::NotRun,
        message: String::new(),
    }
}

/// Gives all equal candidates the verdict of the one that was run, and marks those with a lower equal.
fn share_verdicts(candidates: &mut [CandidateResult], keys: &[Option<String>]) {
    for (i, key) in keys.iter().enumerate() {
        let Some(key) = key else { continue };
        let same: Vec<usize> = (0..keys.len()).filter(|&j| keys[j].as_ref() == Some(key)).collect();
        if let Some(&ran) = same.iter().find(|&&j| candidates[j].status != Status::NotRun) {
            let (status, message) = (candidates[ran].status, candidates[ran].message.clone());
            (candidates[i].status, candidates[i].message) = (status, message);
        }
        candidates[i].duplicate_of = same.first().copied().filter(|&first| first != i);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::super::problem::sample;
    use super::*;
    use crate::source::Source;
    use crate::source::SourceInfo;
    use crate::trial::Limits;

    /// A source that is asked for nothing.
    struct Nobody;

    impl Source for Nobody {
        fn info(&self) -> SourceInfo {
            SourceInfo::default()
        }

        fn generate(&self, request: Request, _: crate::source::EventSink) -> Ticket {
            Ticket::new(request.options.n)
        }
    }

    fn work(n: usize, ended: usize) -> Work {
        let candidates = (0..n).map(blank).collect();
        Work { ticket: None, candidates, keys: vec![None; n], ended, testing: 0, refused: None }
    }

    #[test]
    fn the_model_has_enough_to_write_whatever_the_trials_do() {
        let plan = |n, time_budget| Plan {
            problems: &[],
            todo: Vec::new(),
            candidates: Candidates::Model {
                source: &Nobody,
                options: GenerateOptions { n, time_budget, ..GenerateOptions::default() },
                stops: Vec::new(),
                default_stops: true,
            },
            limits: Limits::default(),
            deadline: None,
        };
        // So many are begun, beside so many that are written and wait for their trials.
        let begun = |plan: &Plan, n: usize, written: usize| {
            let mut works: BTreeMap<usize, Work> = (0..written).map(|i| (i, work(n, n))).collect();
            while plan.has_room(&works) {
                works.insert(works.len(), work(n, 0));
            }
            works.len() - written
        };
        assert_eq!(begun(&plan(8, None), 8, 0), Engine::MAX_LIVE / 8 + 2);
        assert_eq!(begun(&plan(8, None), 8, BACKLOG - 1), Engine::MAX_LIVE / 8 + 2);
        assert_eq!(begun(&plan(8, None), 8, BACKLOG), 0);
        assert_eq!(begun(&plan(64, None), 64, 0), 3);
        // With a budget nothing runs beside it, not even trials.
        let budget = Some(Duration::from_secs(1));
        assert_eq!((begun(&plan(8, budget), 8, 0), begun(&plan(8, budget), 8, 1)), (1, 0));
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
        };
        let ran = std::sync::Arc::new(Mutex::new(Vec::new()));
        let log = ran.clone();
        let pool = TrialPool::with(2, move |trial, _| {
            log.lock().unwrap().push(trial.program.clone());
            let status = if trial.program.contains("2 * x") { Status::Passed } else { Status::Failed };
            Ok(Verdict { status, ..Verdict::not_run("ran") })
        })
        .unwrap();
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
}
