//! A run of `eval`: the problems scored once, and its report.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use super::super::failure::Failure;
use super::Args;
use super::log::Log;
use crate::eval::{
    self, Answer, ByRank, Candidates, Ended, Header, Message, News, Plan, Problem, ProblemResult, Rank, Report,
    ResultsFile, RunError, Setting, Speed,
};
use crate::job::{Rounds, TrialPool};
use crate::options::Settings;
use crate::source::Source;
use crate::trial::Runner;

/// Parts that the runs of a command share.
pub struct Setup<'a> {
    pub args: &'a Args,
    pub ks: &'a [usize],
    pub problems: &'a [Problem],
    /// Their ids.
    pub ids: &'a [String],
    pub runner: &'a Runner,
    pub pool: &'a TrialPool,
    pub setting: &'a Setting,
    pub deadline: Option<Instant>,
    pub messages: (Sender<Message>, Receiver<Message>),
    /// An interrupt is a message from here on.
    pub listening: Arc<AtomicBool>,
}

/// A run that is over or was interrupted.
pub struct Scored {
    pub header: Header,
    pub results: Vec<ProblemResult>,
    pub by_rank: ByRank,
    pub ended: Ended,
    pub speed: Speed,
    pub resumed: usize,
}

impl Setup<'_> {
    /// Scores the problems once: with candidates of the source, else the given ones. `file` keeps the results.
    pub fn score(
        &self,
        settings: &Settings,
        source: Option<&Arc<dyn Source>>,
        given: Option<Vec<Vec<Answer>>>,
        file: Option<&Path>,
    ) -> Result<Scored, Failure> {
        let (args, problems) = (self.args, self.problems);
        let header = args.header(source.map(|source| source.info()).as_ref(), settings, self.setting, self.runner);
        let options = settings.generate.clone();
        let mut plan = Plan {
            todo: (0..problems.len()).collect(),
            problems,
            candidates: match (source, given) {
                (Some(source), None) => Candidates::Model {
                    source: &**source,
                    stops: options.stop.strings.clone(),
                    options: Box::new(options),
                    default_stops: !settings.no_default_stops,
                },
                (_, given) => Candidates::Given(given.unwrap_or_default()),
            },
            limits: settings.limits,
            deadline: self.deadline,
            rounds: source.filter(|_| args.rounds > 1).map(|source| Rounds {
                most: args.rounds,
                source: source.clone(),
                retry: args.retry,
            }),
        };
        let (mut file, before) = match file {
            Some(path) => {
                let (file, results) = ResultsFile::open(path, &header).map_err(Failure::input)?;
                (Some(file), take_up(&mut plan, results, path)?)
            }
            None => (None, BTreeMap::new()),
        };
        self.listening.store(true, Ordering::Relaxed);
        let mut log = Log::new(args.json, problems.len(), &before);
        let resumed = before.len();
        let mut results = before;
        let (send, receive) = &self.messages;
        let outcome = eval::run(&plan, self.pool, send, receive, &mut |news| {
            if let News::Done(result) = &news {
                if let Some(file) = &mut file {
                    file.append(result)?;
                }
                results.insert(result.task_id.clone(), (*result).clone());
            }
            log.news(&news);
            Ok(())
        });
        let speed = log.close();
        let done = results.len();
        let ended = outcome.map_err(|error| {
            let (RunError::Failed(why) | RunError::Listener(why)) = error;
            Failure::internal(format!("{why}; {}", args.how_to_go_on(done, problems.len())))
        })?;
        let results: Vec<ProblemResult> = self.ids.iter().filter_map(|id| results.remove(id)).collect();
        let standings = match args.rank {
            Rank::Agreement => eval::standings(self.runner, &plan, &results).map_err(Failure::internal)?,
            Rank::Random | Rank::Logprob => BTreeMap::new(),
        };
        let by_rank = eval::by_rank(problems.len(), &results, &standings);
        let results = eval::taken_by(args.rank, results, &standings);
        Ok(Scored { header, results, by_rank, ended, speed, resumed })
    }

    pub fn report<'a>(&'a self, scored: &'a Scored) -> Report<'a> {
        Report {
            rank: self.args.rank,
            by_rank: scored.by_rank.clone(),
            header: &scored.header,
            ids: self.ids,
            results: &scored.results,
            ks: self.ks,
            ended: scored.ended,
            speed: scored.speed,
            resumed: scored.resumed,
            protection: self.runner.protection(),
        }
    }
}

/// Takes over the results of this run from a results file. The rest stays to be done.
fn take_up(
    plan: &mut Plan,
    results: Vec<ProblemResult>,
    path: &Path,
) -> Result<BTreeMap<String, ProblemResult>, Failure> {
    let mut kept = BTreeMap::new();
    // The file may hold problems that are not in this run: another --only or --limit.
    let mut found: BTreeMap<String, ProblemResult> = results.into_iter().map(|r| (r.task_id.clone(), r)).collect();
    let mut todo = Vec::new();
    for &index in &plan.todo {
        let Some(result) = found.remove(&plan.problems[index].id) else {
            todo.push(index);
            continue;
        };
        if result.digest != plan.digest(index) {
            return Err(Failure::input(format!(
                "{} holds a result of {}, but the problem (or what is given for it) has changed since; give another name to begin \
                 anew",
                path.display(),
                result.task_id
            )));
        }
        kept.insert(result.task_id.clone(), result);
    }
    plan.todo = todo;
    Ok(kept)
}
