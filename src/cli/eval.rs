//! `bass-tui eval`: scores whole problem sets.

mod log;
mod score;
mod sweep;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use score::Setup;

use super::args::{CompletionFlags, ConsentArgs, list};
use super::failure::{Failure, INTERRUPTED, NOTHING_PASSED};
use super::output::{print, print_json, say};
use super::session::{Session, consent, on_interrupt};
use crate::eval::{self, Answer, Ended, Header, Message, Problem, ProblemResult, Rank, Setting, Unready};
use crate::job::{Retry, TrialPool};
use crate::options::{self, GENERATION, MOST_ROUNDS, SAMPLING, Settings, TESTS, duration};
use crate::sampling::Accept;
use crate::source::SourceInfo;
use crate::trial::Runner;
use crate::untrusted::clean_line;

/// Arguments of `eval`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Problem files are JSON lines, packed with gzip or not, or a JSON array. What they are is told by their keys: HumanEval and \
what has its form (HumanEval+, mxeval), MBPP full and sanitized, HumanEval-X, MultiPL-E. The candidates of many problems are \
written together; with --time-budget it is one problem at a time.

Pass@First is the share of problems whose most probable candidate (of those that came to an end of their own; --rank takes \
it otherwise) passes, \
Pass@All the share with any candidate that passes, pass@k the expected share solved by k candidates drawn from the n, \
without bias. Problems that were not reached count as failed.

EXAMPLES
  bass-tui eval HumanEval.jsonl.gz -n 8 --k 1,8
  bass-tui eval HumanEval.jsonl.gz --results run1.jsonl    after Ctrl-C the same command goes on
  bass-tui eval HumanEval.jsonl.gz --solutions canonical   is everything right with the tests and this machine?
  bass-tui eval mbpp.jsonl --solutions samples.jsonl --k 1,10 --json
  bass-tui eval HumanEval.jsonl.gz --only 0,17,HumanEval/30 --time-budget 5s
  bass-tui eval HumanEval.jsonl.gz --limit 40 --sweep temperature=0.2,0.8 --sweep n=4,8 --sweep draft=none,auto

EXIT CODES
  0 done, a candidate passed       1 done, nothing passed   2 wrong usage or bad input
  3 the engine or sandbox failed   130 interrupted")]
pub struct Args {
    /// Files with problems
    #[arg(value_name = "PROBLEMS", required = true)]
    problems: Vec<PathBuf>,
    #[command(flatten)]
    options: CompletionFlags,
    #[command(flatten)]
    consent: ConsentArgs,
    /// The k of pass@k
    #[arg(long, value_name = "K,K", default_value = "1", help_heading = "Evaluation", allow_negative_numbers = true)]
    k: String,
    /// Score given solutions, with no model: canonical for those that came with the problems, or a file of
    /// samples, with `task_id` and `completion` (what follows the prompt) or `solution` (a whole program)
    #[arg(long, value_name = "canonical|FILE", help_heading = "Evaluation")]
    solutions: Option<String>,
    /// Keep results in this file, problem by problem; if it is there, go on with it. With --sweep a folder,
    /// in which each run has its file
    #[arg(long, value_name = "FILE", help_heading = "Evaluation")]
    results: Option<PathBuf>,
    /// The first N problems only
    #[arg(long, value_name = "N", help_heading = "Evaluation", allow_negative_numbers = true)]
    limit: Option<usize>,
    /// These problems only, by id; the number after the slash will do
    #[arg(long, value_name = "ID,ID", help_heading = "Evaluation")]
    only: Option<String>,
    /// Time for the whole run: problems not done by then count as failed [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Evaluation")]
    deadline: Option<Duration>,
    /// How the candidate of Pass@First is taken: any (random), the most probable one (logprob), or the one
    /// that does what most do when they are called on the same inputs (agreement), which tells all three
    #[arg(long, value_name = "random|logprob|agreement", default_value = "logprob", value_parser = rank, help_heading = "Evaluation")]
    rank: Rank,
    /// Rounds of candidates while all fail, 1 to 3; figures but those of rounds are of the first
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = rounds, help_heading = "Evaluation")]
    rounds: usize,
    /// Prompts of further rounds: the same one, warmer (fresh), one that tells what tests said of those that
    /// failed (facts), or half of each (mixed)
    #[arg(long, value_name = "fresh|facts|mixed", default_value = "fresh", value_parser = retry, help_heading = "Evaluation")]
    retry: Retry,
    /// Runs with each of these values of an option, several times for several options: each value with each;
    /// at the end one table of all runs
    #[arg(long, value_name = "OPTION=VALUE,VALUE", help_heading = "Evaluation")]
    sweep: Vec<String>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The problems of a run, and the given answers of each of them.
type EvalInput = (Vec<Problem>, Option<Vec<Vec<Answer>>>);

pub fn run(args: &Args) -> Result<u8, Failure> {
    let session = Session::open(&args.options)?;
    let grid = args.grid(&session)?;
    let ks = args.ks()?;
    let (problems, given) = args.problems()?;
    let least = grid.iter().map(|point| point.settings.generate.n).min();
    args.check_k(&ks, &problems, given.as_deref(), least.unwrap_or(session.settings.generate.n))?;
    let (send, receive) = channel();
    let listening = Arc::new(AtomicBool::new(false));
    on_interrupt(&send, &listening, || Message::Interrupt);

    let runner = Arc::new(consent(session.runner(), args.consent.unprotected)?);
    let asked: Vec<&Problem> = problems.iter().collect();
    let limits = session.settings.limits;
    let setting = eval::preflight(&runner, &asked, limits).map_err(|unready| match unready {
        Unready::Missing(why) => Failure::input(why),
        Unready::Sandbox(error) => Failure::internal(error),
    })?;
    let pool = TrialPool::new(runner.clone()).map_err(Failure::internal)?;
    let ids: Vec<String> = problems.iter().map(|p| p.id.clone()).collect();
    let setup = Setup {
        args,
        ks: &ks,
        problems: &problems,
        ids: &ids,
        runner: &runner,
        pool: &pool,
        setting: &setting,
        deadline: args.deadline.and_then(|time| Instant::now().checked_add(time)),
        messages: (send, receive),
        listening,
    };
    if !grid.is_empty() {
        return sweep::run(&setup, &session, &grid);
    }
    let source = if given.is_some() { None } else { Some(session.source(args.rounds)?) };
    let scored = setup.score(&session.settings, source.as_ref(), given, args.results.as_deref())?;
    let report = setup.report(&scored);
    if args.json {
        print_json(&report.json().map_err(Failure::internal)?)?;
    } else {
        print(&format!("{}\n{}", report.problems(), report.summary().map_err(Failure::internal)?))?;
    }
    let go_on = || args.how_to_go_on(scored.results.len(), ids.len());
    match scored.ended {
        Ended::Interrupted => {
            say(&format!("bass-tui: interrupted: {}\n", go_on()));
            Ok(INTERRUPTED)
        }
        Ended::Deadline => {
            say(&format!("bass-tui: the time of --deadline is over: {}\n", go_on()));
            Ok(code(&scored.results))
        }
        Ended::Done => Ok(code(&scored.results)),
    }
}

fn time(text: &str) -> Result<Duration, &'static str> {
    duration(text).ok_or("expected a time such as 90s or 2m")
}

fn rounds(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|rounds| (1..=MOST_ROUNDS).contains(rounds)).ok_or("expected 1 to 3 rounds")
}

fn retry(text: &str) -> Result<Retry, &'static str> {
    let retry = Retry::ALL.into_iter().find(|retry| retry.name() == text);
    retry.ok_or("expected fresh, facts or mixed")
}

fn rank(text: &str) -> Result<Rank, &'static str> {
    let rank = Rank::ALL.into_iter().find(|rank| rank.name() == text);
    rank.ok_or("expected random, logprob or agreement")
}

/// The exit code of a finished run, which shows if any candidate passed.
fn code(results: &[ProblemResult]) -> u8 {
    if results.iter().any(|r| r.pass_at_all) { 0 } else { NOTHING_PASSED }
}

impl Args {
    /// The settings of each run of a sweep; none without one.
    fn grid(&self, session: &Session) -> Result<Vec<sweep::Point>, Failure> {
        if self.solutions.is_some() && !self.sweep.is_empty() {
            return Err(Failure::input("--sweep writes anew with each setting, so --solutions cannot be used with it"));
        }
        sweep::grid(&self.sweep, session)
    }

    fn ks(&self) -> Result<Vec<usize>, Failure> {
        let mut ks = list("--k", &self.k, "numbers from 1 such as 1,8", |k| k.parse().ok().filter(|k| *k > 0))?;
        ks.sort_unstable();
        ks.dedup();
        Ok(ks)
    }

    /// The problems of the run, and the given answers of each of them.
    fn problems(&self) -> Result<EvalInput, Failure> {
        let problems = eval::load(&self.problems).map_err(Failure::input)?;
        let mut selected = vec![self.only.is_none(); problems.len()];
        if let Some(only) = &self.only {
            for id in list("--only", only, "ids of problems", |id| (!id.is_empty()).then(|| id.to_owned()))? {
                let index = eval::find(&problems, &id).ok_or_else(|| {
                    let some: Vec<&str> = problems.iter().take(3).map(|p| p.id.as_str()).collect();
                    Failure::input(format!("--only: there is no one problem {id}; the ids are {}, …", some.join(", ")))
                })?;
                selected[index] = true;
            }
        }
        if let Some(limit) = self.limit {
            if limit == 0 {
                return Err(Failure::input("--limit is 0, expected at least 1 problem"));
            }
            let mut left = limit;
            for s in selected.iter_mut().filter(|s| **s) {
                *s = left > 0;
                left = left.saturating_sub(1);
            }
        }
        let keep = |i: &usize| selected.get(*i).copied().unwrap_or(false);
        let kept = |problems: &[Problem]| -> Vec<Problem> {
            problems.iter().enumerate().filter(|(i, _)| keep(i)).map(|(_, p)| p.clone()).collect()
        };
        match self.solutions.as_deref() {
            None => Ok((kept(&problems), None)),
            Some("canonical") => {
                let problems = kept(&problems);
                let answers = eval::canonical(&problems).map_err(Failure::input)?;
                Ok((problems, Some(answers)))
            }
            Some(file) => {
                let answers = eval::read(Path::new(file), &problems, &selected).map_err(Failure::input)?;
                let answers = answers.into_iter().enumerate().filter(|(i, _)| keep(i)).map(|(_, a)| a).collect();
                Ok((kept(&problems), Some(answers)))
            }
        }
    }

    /// pass@k needs k samples of every problem.
    fn check_k(
        &self,
        ks: &[usize],
        problems: &[Problem],
        given: Option<&[Vec<Answer>]>,
        n: usize,
    ) -> Result<(), Failure> {
        let most = ks.iter().copied().max().unwrap_or_default();
        let count = |i: usize| given.map_or(n, |answers| answers.get(i).map_or(0, Vec::len));
        match problems.iter().enumerate().find(|(i, _)| count(*i) < most) {
            None => Ok(()),
            Some((i, problem)) => Err(Failure::input(format!(
                "--k {} asks for pass@{most}, but {} has {} sample{}, and {most} cannot be drawn from that: {}",
                self.k,
                problem.id,
                count(i),
                if count(i) == 1 { "" } else { "s" },
                if given.is_some() { "lower --k, or give more samples" } else { "lower --k, or raise -n" }
            ))),
        }
    }

    /// The settings that affect the results, and further facts.
    fn header(&self, model: Option<&SourceInfo>, chosen: &Settings, setting: &Setting, runner: &Runner) -> Header {
        let mut settings: BTreeMap<String, Value> = BTreeMap::new();
        let mut about: BTreeMap<String, Value> = BTreeMap::new();
        let values = |groups| {
            options::of(groups)
                .map(|option| (option.name.to_owned(), option.value(chosen)))
                .filter(|(_, value)| !value.is_null())
        };
        settings.extend(values(TESTS));
        settings.insert("bass-tui".into(), env!("CARGO_PKG_VERSION").into());
        settings.insert("sandbox".into(), runner.protection().tier.clone().into());
        settings.extend(setting.iter().map(|(name, version)| (name.clone(), version.clone().into())));
        let Some(model) = model else {
            let kind = if self.solutions.as_deref() == Some("canonical") { "canonical" } else { "samples" };
            settings.insert("solutions".into(), kind.into());
            return Header { form: Header::FORM, settings, about };
        };
        settings.extend(values(GENERATION | SAMPLING));
        if self.rounds > 1 {
            settings.insert("rounds".into(), self.rounds.into());
            settings.insert("retry".into(), self.retry.name().into());
        }
        settings.extend([("model".to_owned(), json!(model.model)), ("dtype".to_owned(), json!(model.dtype))]);
        let length = settings.remove("draft-length").unwrap_or_default();
        // With the coupled rule drafts affect only the time.
        let drafts_show = chosen.generate.accept != Accept::Coupled || chosen.generate.time_budget.is_some();
        let drafts = if drafts_show { &mut settings } else { &mut about };
        drafts.insert("draft".into(), json!(model.draft));
        drafts.insert("draft-length".into(), length);
        about.insert("device".into(), json!(format!("{} ({})", model.device, model.kernel)));
        about.insert("threads".into(), json!(model.threads));
        Header { form: Header::FORM, settings, about }
    }

    fn how_to_go_on(&self, done: usize, of: usize) -> String {
        if let Some(path) = &self.results {
            let path = clean_line(&path.display().to_string(), 200);
            return format!(
                "{done} of {of} problems are done and kept in {path}; the same command goes on with the rest"
            );
        }
        let kept = if self.sweep.is_empty() { "FILE" } else { "FOLDER" };
        format!("{done} of {of} problems of this run were done; with --results {kept} a run can be gone on with")
    }
}
