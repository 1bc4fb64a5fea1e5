//! `bass-tui complete`: the main job without the screen.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::args::{ConsentArgs, FunctionFlags, TestArgs, token_ids};
use super::failure::{Failure, INTERRUPTED, NOTHING_PASSED};
use super::memory::advice;
use super::output::{print, print_json, say};
use super::progress::Progress;
use super::report::{no_pass, table};
use super::session::{Session, check_tests, consent, on_interrupt};
use super::tui::print_code;
use crate::agreement::Agreement;
use crate::code::{Applied, HeadPart, Place, Target, TargetSpec};
use crate::engine::GenerateOptions;
use crate::files;
use crate::history::{Head, HistoryError, Recorder};
use crate::job::{
    Ask, Candidate, Event, Job, JobError, Judge, Outcome, Report, Rounds, Run, Task, TestsChoice, TrialPool, label,
};
use crate::model::Model;
use crate::options::Settings;
use crate::source::{self, FinishReason, Prompt, Request, Source, SourceInfo, Window};
use crate::trial::{Runner, Status};
use crate::untrusted::{clean, clean_line, framed};

/// Arguments of `complete`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "bass-tui complete --file F[:FUNCTION|:LINE] [OPTIONS]\n       bass-tui complete PROMPT [OPTIONS]",
    after_help = "\
The best candidate that passed goes to stdout, what happened to each goes to stderr. Without tests, or where those that \
are found do not notice the function, it is the one that does what most do on the same inputs (--agree), else the one with the best mean log-probability. With --json what came of the run goes to stdout, as one object; where an \
error ends it, stdout stays empty, and stderr says why.

EXAMPLES
  bass-tui complete --file stats.py:rolling_max            try the >>> examples of its docstring
  bass-tui complete --file stats.py:12 --apply             write what passed into the file
  bass-tui complete --file stats.py:12 --show-prompt       what the model would be shown
  bass-tui complete --file stats.py:rolling_max --tests test_stats.py -n 16 --json
  bass-tui complete 'def add(a, b):' --temperature 0 -n 1
  git show HEAD:a.py | bass-tui complete --prompt-file - --time-budget 2.5s

EXIT CODES
  0 done (where tests decide: one passed)   1 nothing passed   2 wrong usage or bad input
  3 engine or sandbox failed      130 interrupted"
)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub struct Args {
    /// Text to complete; if it ends in a function (its head, or lines under it), that function is completed
    #[arg(value_name = "PROMPT", group = "what")]
    prompt: Option<String>,
    #[arg(
        long,
        value_name = "F[:FUNCTION|:LINE]",
        group = "what",
        help_heading = "What to complete",
        help = "A function of a file: FILE, FILE:FUNCTION, FILE:Class::method or FILE:LINE"
    )]
    file: Option<String>,
    /// Read the text to complete from a file; - is stdin
    #[arg(long, value_name = "P|-", group = "what", help_heading = "What to complete")]
    prompt_file: Option<PathBuf>,
    /// Token ids to complete, fed as they are
    #[arg(
        long,
        value_name = "1,2,3",
        group = "what",
        help_heading = "What to complete",
        allow_negative_numbers = true
    )]
    prompt_ids: Option<String>,
    /// A change of the function, or how to write it, in a sentence, such as "also accept None". The model is
    /// shown the present body, whose tokens are added to --max-tokens. Parameters, type hints and
    /// documentation that the sentence speaks of are written first, for all candidates
    #[arg(long, value_name = "TEXT", help_heading = "What to complete", conflicts_with_all = ["prompt", "prompt_file", "prompt_ids"], value_parser = wish)]
    change: Option<String>,
    /// A text that the candidates may quote, such as an older version: drafts are looked up in it (see
    /// --draft lookup)
    #[arg(long, value_name = "FILE", help_heading = "Models")]
    reference: Option<PathBuf>,
    #[command(flatten)]
    options: FunctionFlags,
    #[command(flatten)]
    tests: TestArgs,
    /// Command that tests a candidate: exit code 0 is a pass. {file}, {dir}, {function} and {line} are filled
    /// in
    #[arg(long, value_name = "CMD", help_heading = "Tests", conflicts_with = "tests")]
    test_command: Option<String>,
    #[command(flatten)]
    consent: ConsentArgs,
    /// Stop writing as soon as a candidate passes; which others were finished by then depends on the machine
    /// [default: yes, but not with --json]
    #[arg(long, overrides_with = "no_stop_on_pass", help_heading = "Tests")]
    stop_on_pass: bool,
    /// Write all candidates to their end, so that a seed gives the same result everywhere
    #[arg(long, overrides_with = "stop_on_pass", help_heading = "Tests")]
    no_stop_on_pass: bool,
    /// Write the picked candidate into the file; a copy of the file as it was is kept
    #[arg(long, help_heading = "Output")]
    apply: bool,
    /// Print the prompt that the model would get, and on stderr what it holds and what was left out and why;
    /// nothing is written
    #[arg(long, help_heading = "Output", conflicts_with_all = ["apply", "prompt_ids"])]
    show_prompt: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Messages to the event loop.
pub(super) enum Message {
    /// From the run.
    Event(Event),
    /// From the user.
    Interrupt,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let spec = args.file.as_deref().map(TargetSpec::parse).transpose().map_err(Failure::input)?;
    let session = Session::open_at(&args.options, spec.as_ref().map(|spec| spec.path.as_path()))?;
    if args.apply && args.file.is_none() {
        return Err(Failure::input("--apply needs a file to write to: give the function as --file FILE:FUNCTION"));
    }
    let job =
        job(args, spec.as_ref(), &session.settings)?.showing(session.settings.prompt).wishing(args.change.as_deref());
    if let Some(line) = chosen(spec.as_ref(), &job).filter(|_| !args.json) {
        say(&(framed(&format!("bass-tui: {line}")) + "\n"));
    }
    if args.show_prompt {
        return show_prompt(&job, &session, args.json);
    }
    if args.apply {
        writable(job.target().and_then(|t| t.path.as_deref()))?;
    }
    let mut options = session.settings.generate.clone();
    let reference = args.reference.as_deref().map(|path| read_text(path, "reference")).transpose()?;
    let reference = reference.or_else(|| job.reference());
    let limits = session.settings.limits;
    let (send, receive) = channel();
    let listening = Arc::new(AtomicBool::new(false));
    on_interrupt(&send, &listening, || Message::Interrupt);
    // Nothing else tells several bodies of a function apart.
    let misses_calls = !args.json && job.target().is_some() && job.tests.is_none() && options.n > 1;
    let runner = runner(args, &session, &job, misses_calls)?;
    if let Some(line) = advice(&session, job.language()).filter(|_| !args.json) {
        say(&(framed(&format!("bass-tui: {line}")) + "\n"));
    }
    let rounds = session.settings.rounds;
    let source = session.source(rounds)?;
    let window = source.window();
    options.max_tokens += job.more_tokens(&window);
    let job = with_head(job, &*source, &options);
    options.stop = job.stop_rules(&window, &options.stop.strings, !session.settings.no_default_stops);

    let n = options.n;
    let seed = options.seed;
    let job = Arc::new(job);
    let recorder = record(&session, &job, &source.info(), &options);
    let ask = Ask {
        request: Request { prompt: job.prompt_for(&window), reference, options },
        task: job.clone(),
        limits,
        stop_on_pass: args.stop_on_pass || (!args.json && !args.no_stop_on_pass),
        agree: session.settings.compares(),
        rounds: Some(Rounds::new(rounds, &source)),
        problem: 0,
    };
    let judge = runner.clone().map(|runner| runner as Arc<dyn Judge>);
    let pool = judge.map(TrialPool::new).transpose().map_err(Failure::internal)?;
    // A closed channel means that this command is over.
    let kept = recorder.clone();
    let uncalled = Arc::new(OnceLock::new());
    let why_uncalled = uncalled.clone();
    let sink = Box::new(move |event| {
        if let Event::Uncalled(why) = &event {
            let _ = why_uncalled.set(why.clone());
        }
        if let Some(why) = kept.as_ref().and_then(|recorder| recorder.event(&event)) {
            say(&(framed(&format!("bass-tui: {why}")) + "\n"));
        }
        match send.send(Message::Event(event)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    let run = Run::start(&*source, pool.as_ref(), ask, sink);
    listening.store(true, Ordering::Relaxed);
    let (outcome, interrupted) = follow(&run, &receive, Progress::new(n, args.json))?;

    uncalled.get().into_iter().for_each(|why: &String| session.say_uncalled(why, misses_calls));
    let picked = outcome.picked;
    let Outcome { candidates, summary, agreement, .. } = outcome;
    let picked_now = picked.filter(|_| !interrupted);
    let report = Report { info: source.info(), seed, candidates, summary, picked: picked_now, agreement };
    if args.json {
        print_json(&json(&report, &job))?;
    } else {
        let tests_run = runner.as_ref().filter(|_| job.has_tests());
        say(&table(&report, tests_run.map(|r| r.protection().summary.as_str())));
        say(&about_tests(&job, args, &report));
        if let Some(c) = report.picked {
            print_code(&job.function(&report.candidates[c].text))?;
        }
    }
    if interrupted {
        return Ok(INTERRUPTED);
    }
    match (picked, job.target()) {
        (Some(c), Some(target)) if args.apply => {
            drop(apply(&job, target, (c, &report.candidates[c].text), (&session, recorder.as_ref()))?);
        }
        (None, target) if !args.json || args.apply || !is_tested(&job, &report) => {
            let spared = target.and_then(|target| target.path.as_deref()).filter(|_| args.apply);
            say(&(framed(&none_picked(&job, &report, spared)) + "\n"));
        }
        _ => {}
    }
    Ok(if picked.is_none() { NOTHING_PASSED } else { 0 })
}

/// Returns true if tests decided on the candidates.
pub(super) fn is_tested(job: &Job, report: &Report) -> bool {
    job.is_decided_by_tests(&mut report.candidates.iter().map(|candidate| &candidate.verdict))
}

/// The function that is completed, if the user named a file alone.
fn chosen(spec: Option<&TargetSpec>, job: &Job) -> Option<String> {
    let spec = spec.filter(|spec| spec.place == Place::Any)?;
    let target = job.target()?;
    let open = if job.own_body().is_none() { ", the first unfinished function" } else { "" };
    Some(format!("{}:{} is completed{open} (line {})", spec.path.display(), target.name, target.line))
}

/// Runs the tests, or else the calls, of candidates.
fn runner(args: &Args, session: &Session, job: &Job, misses_calls: bool) -> Result<Option<Arc<Runner>>, Failure> {
    match &job.tests {
        Some(tests) => {
            let runner = consent(session.runner(), args.consent.unprotected)?;
            check_tests(&runner, job.language(), job.file(), tests)?;
            job.inputs(&[]).err().into_iter().for_each(|why| session.say_uncalled(&why, misses_calls));
            Ok(Some(Arc::new(runner)))
        }
        None => Ok(session.caller(job, misses_calls).map(Arc::new)),
    }
}

/// The job with the head that its wish speaks of. Parts that were not written are told.
fn with_head(job: Job, source: &dyn Source, options: &GenerateOptions) -> Job {
    let (changed, lacking) = job.with_wished_head(source, options, &|_| ControlFlow::Continue(()));
    if !lacking.is_empty() {
        let parts = HeadPart::titles(&lacking);
        say(&format!("bass-tui: no new {parts} came of the sentence: all candidates have what is there\n"));
    }
    changed.unwrap_or(job)
}

/// The report as JSON. Candidates are bodies: it has the head that they are for where that is not the one of the
/// file.
fn json(report: &Report, job: &Job) -> String {
    let Some(head) = job.target().and_then(Target::changed_head) else { return report.json() };
    let mut value = report.value();
    value["head"] = serde_json::Value::String(head);
    value.to_string()
}

/// A sentence that says what is wanted of the function.
fn wish(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("say what to change in the function".to_owned()) } else { Ok(text.to_owned()) }
}

/// Why no candidate was picked, and what may help. `spared` is the file that one was to be written to.
fn none_picked(job: &Job, report: &Report, spared: Option<&Path>) -> String {
    let is_broken = |agreement: &Agreement, c: usize| agreement.standing(c).is_some_and(|standing| standing.is_broken);
    let broken = report.agreement.as_ref().and_then(|agreement| {
        let first = report.summary.ranking.iter().find(|&&c| is_broken(agreement, c))?;
        Some(format!("no candidate can be used ({} {})", label(*first), agreement.fault(*first)))
    });
    let ran = |c: &Candidate| c.verdict.status != Status::NotRun;
    let is_whole = |c: &Candidate| c.finish == Some(FinishReason::Stop);
    let more = "-n and --rounds write more of them";
    let is_tested = is_tested(job, report);
    let is_around = report.agreement.as_ref().is_some_and(|agreement| agreement.is_around_broken());
    let is_as_before = |c: &Candidate| job.target().is_some_and(|target| target.is_as_before(&c.text));
    let (why, more) = match broken {
        _ if job.wish().is_some() && report.candidates.iter().all(is_as_before) => (
            "no candidate changes the function".to_owned(),
            "say it in other words; -n and --rounds write more of them",
        ),
        Some(why) if is_around => (why, "mend the file, then try again"),
        _ if is_tested && report.candidates.iter().any(ran) => no_pass(report, more),
        Some(why) if !is_tested => (why, more),
        _ if report.candidates.iter().all(|c| c.text.trim().is_empty()) => ("each candidate is empty".to_owned(), more),
        _ if is_tested && report.candidates.iter().any(is_whole) => (
            "no candidate passed, as none was tested".to_owned(),
            "bass-tui doctor with the file says what its tests lack",
        ),
        _ => ("no candidate was finished".to_owned(), "--max-tokens and --time-budget give them more room"),
    };
    let spared = spared.map_or_else(String::new, |path| format!(": {} is as it was", path.display()));
    format!("bass-tui: {why}{spared}; {more}")
}

/// Prints the prompt of the main model, without loading its weights.
fn show_prompt(job: &Job, session: &Session, json: bool) -> Result<u8, Failure> {
    let window = if session.settings.server.is_some() {
        session.source(1)?.window()
    } else {
        let models = session.models()?;
        let model = Model::load(&models.main).map_err(Failure::input)?;
        Window::of(model, models.chat).map_err(Failure::input)?
    };
    let shown = job.shown(&window);
    if let Some(part) = job.wished_head().into_iter().find(|part| job.prompt_of_head(*part, &window).is_some()) {
        say(&format!(
            "the model is asked for new {} first, by this text up to their place; this is for candidates with what is there\n",
            part.title()
        ));
    }
    if json {
        print_json(&serde_json::to_string(&shown).map_err(Failure::internal)?)?;
        return Ok(0);
    }
    let text = if std::io::stdout().is_terminal() { clean(&shown.text) } else { shown.text.to_string() };
    print(&text)?;
    let most = shown.budget.map_or_else(String::new, |budget| format!(" of {budget}"));
    say(&format!("{} tokens{most}\n", shown.tokens));
    for part in &shown.shown {
        say(&format!("  {:>5}  {}\n", part.tokens, part.what));
    }
    for part in &shown.left_out {
        say(&format!("left out: {}: {}\n", part.what, part.why));
    }
    Ok(0)
}

/// The tests that ran, if the user did not name them, or a remark that there were none or that they decide
/// nothing.
fn about_tests(job: &Job, args: &Args, report: &Report) -> String {
    let is_asked = !args.tests.tests.is_empty() || args.test_command.is_some();
    match job.target() {
        Some(_) if is_asked => String::new(),
        Some(target) if job.tests.is_none() => format!(
            "no tests were found for {}: the candidates are ranked, not tested (give --tests FILE)\n",
            clean_line(&target.name, 80)
        ),
        Some(_) => {
            let tests = format!("tests: {}\n", clean_line(&job.tests_label, 200));
            let unnoticed = (!is_tested(job, report)).then(|| job.unnoticed_words(report.agreement.as_deref()));
            tests + &unnoticed.map(|words| clean_line(&words, 200) + "\n").unwrap_or_default()
        }
        None => String::new(),
    }
}

fn job(args: &Args, spec: Option<&TargetSpec>, settings: &Settings) -> Result<Job, Failure> {
    let tests = args.test_command.clone().map_or_else(|| args.tests.choice(settings), TestsChoice::Command);
    let made = if let Some(spec) = spec {
        let target = Target::read(spec).map_err(Failure::input)?;
        Job::from_target(target, &tests)
    } else if let Some(ids) = &args.prompt_ids {
        Job::from_ids(token_ids(ids)?, &tests)
    } else if let Some(text) = &args.prompt {
        // A path where a text is meant would be completed as one.
        let is_file = |path: &str| !path.contains(char::is_whitespace) && Path::new(path).is_file();
        if is_file(text) || text.split_once(':').is_some_and(|(path, _)| is_file(path)) {
            return Err(Failure::input(format!(
                "`{text}` is a file, and PROMPT is a text: give the file as --file {text}, or the text in it as --prompt-file"
            )));
        }
        Job::from_text(text, &tests)
    } else if let Some(path) = &args.prompt_file {
        Job::from_text(&read_text(path, "prompt")?, &tests)
    } else {
        return Err(Failure::input(
            "nothing to complete: give a PROMPT, --file FILE:FUNCTION, --prompt-file FILE or --prompt-ids IDS (see bass-tui complete --help)",
        ));
    };
    let job = made.map_err(|e: JobError| Failure::input(e))?;
    match job.prompt() {
        Prompt::Text(text) if text.is_empty() => {
            Err(Failure::input("the prompt is empty: there is nothing to complete"))
        }
        _ => Ok(job),
    }
}

/// Reads a file, or stdin for `-`. `what` names the text in error messages.
pub(super) fn read_text(path: &Path, what: &str) -> Result<String, Failure> {
    let bytes = if path.as_os_str() == "-" {
        files::read_all(std::io::stdin().lock(), files::TEXT)
    } else {
        files::read(path, files::TEXT)
    };
    let bytes = bytes.map_err(|e| Failure::input(format!("the {what} file {} cannot be read: {e}", path.display())))?;
    String::from_utf8(bytes).map_err(|e| {
        Failure::input(format!("the {what} file {} is not UTF-8 text: {}", path.display(), e.utf8_error()))
    })
}

/// Checks before any work is done that the result can be written.
fn writable(path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    std::fs::OpenOptions::new().append(true).open(path).map(drop).map_err(|e| {
        Failure::input(format!(
            "--apply cannot write {}: {e}; make the file writable, or leave out --apply",
            path.display()
        ))
    })
}

/// Begins the record of a run, if runs are kept. A record that cannot be written is said and stops nothing.
pub(super) fn record(session: &Session, job: &Job, info: &SourceInfo, options: &GenerateOptions) -> Option<Recorder> {
    let begun = session.history()?.begin(&Head::of(job, info, options));
    begun.inspect_err(|error| say(&(framed(&unkept(error)) + "\n"))).ok()
}

/// The sentence for a run that is not kept.
fn unkept(error: &HistoryError) -> String {
    format!("bass-tui: this run is not kept: {error}; --no-history, or `history = false` in the settings, keeps none")
}

/// Writes the candidate. If that is refused, saves it as a patch.
pub(super) fn apply(
    job: &Job,
    target: &Target,
    (candidate, text): (usize, &str),
    (session, recorder): (&Session, Option<&Recorder>),
) -> Result<Applied, Failure> {
    match target.apply(text, Some(&session.paths.backups_dir())) {
        Ok(applied) => {
            if let Some(recorder) = recorder {
                let _ = recorder.applied(candidate, &applied, target.diff(text));
            }
            let backup = applied.backup.as_ref().map(|b| format!(" (before: {})", b.display())).unwrap_or_default();
            let own = if job.own_body().is_some() { ", in place of the body that it had" } else { "" };
            say(&(framed(&format!("written to {}{own}{backup}", applied.path.display())) + "\n"));
            Ok(applied)
        }
        Err(error) => {
            let kept = match target.save_patch(text, &session.paths.patches_dir()) {
                Ok(path) => format!("; the candidate is kept as a patch in {}", path.display()),
                Err(_) => String::new(),
            };
            Err(Failure::input(format!("{error}{kept}")))
        }
    }
}

/// Shows a run while it goes on.
pub(super) trait Follower {
    /// Takes in an event.
    fn event(&mut self, event: &Event);
    /// A second has passed without one.
    fn wait(&mut self);
}

impl Follower for Progress {
    fn event(&mut self, event: &Event) {
        Progress::event(self, event);
    }

    fn wait(&mut self) {
        self.draw();
    }
}

/// Follows a run to its end. Returns true if it was interrupted.
pub(super) fn follow(
    run: &Run,
    receive: &Receiver<Message>,
    mut follower: impl Follower,
) -> Result<(Outcome, bool), Failure> {
    let mut interrupted = false;
    loop {
        match receive.recv_timeout(Duration::from_secs(1)) {
            Ok(Message::Event(event)) => {
                follower.event(&event);
                match event {
                    Event::Done(outcome) => return Ok((*outcome, interrupted)),
                    Event::Source(source::Event::Refused(why)) => return Err(Failure::input(why)),
                    Event::Source(source::Event::Failed(why)) | Event::Verdict { outcome: Err(why), .. } => {
                        return Err(Failure::internal(why));
                    }
                    _ => {}
                }
            }
            Ok(Message::Interrupt) => {
                interrupted = true;
                run.cancel();
            }
            Err(RecvTimeoutError::Timeout) => follower.wait(),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::internal("the engine has stopped before it was done"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval;
    use crate::job::run::tests::{STUB, Scripted, TEXTS, ask, unsteady};
    use crate::trial::{Limits, Status};
    use crate::tui::app::{Msg, State, Testing, update};
    use crate::tui::event::Key;
    use crate::tui::keeping::Keeping;
    use crate::tui::keymap::Keymap;
    use crate::tui::world::{Incoming, World};

    /// The verdicts by candidate with their duplicates, the pick, and the number of programs run.
    type Came = (Vec<(Status, Option<usize>)>, Option<usize>, usize);

    fn by_complete() -> Came {
        let (pool, ran) = unsteady();
        let (send, receive) = channel();
        let sink = Box::new(move |event| {
            let _ = send.send(Message::Event(event));
            ControlFlow::Continue(())
        });
        let run = Run::start(&Scripted, Some(&pool), ask(false), sink);
        let (outcome, interrupted) = follow(&run, &receive, Progress::new(TEXTS.len(), true)).unwrap();
        assert!(!interrupted);
        let verdicts = outcome.candidates.iter().map(|c| (c.verdict.status, c.duplicate_of)).collect();
        (verdicts, outcome.picked, ran.load(Ordering::Relaxed))
    }

    fn by_eval() -> Came {
        let (pool, ran) = unsteady();
        let problems =
            [eval::Problem { prompt: STUB.to_owned(), entry_point: Some("twice".to_owned()), ..eval::sample() }];
        let plan = eval::Plan {
            problems: &problems,
            todo: vec![0],
            candidates: eval::Candidates::Model {
                source: &Scripted,
                options: Box::new(ask(false).request.options),
                stops: Vec::new(),
                default_stops: true,
            },
            limits: Limits::default(),
            deadline: None,
            rounds: None,
        };
        let (send, receive) = channel();
        let mut result = None;
        let ended = eval::run(&plan, &pool, &send, &receive, &mut |news| {
            if let eval::News::Done(done) = news {
                result = Some(done.clone());
            }
            Ok(())
        });
        assert_eq!(ended.unwrap(), eval::Ended::Done);
        let candidates = result.unwrap().candidates;
        // Ended candidates rank by their probability.
        let passed = candidates.iter().filter(|c| c.status == Status::Passed);
        let best = passed.max_by(|a, b| a.mean_logprob.unwrap().total_cmp(&b.mean_logprob.unwrap())).map(|c| c.index);
        (candidates.iter().map(|c| (c.status, c.duplicate_of)).collect(), best, ran.load(Ordering::Relaxed))
    }

    /// On the screen a duplicate refers to the candidate that was tested.
    fn by_screen() -> Came {
        let (pool, ran) = unsteady();
        let asked = ask(false);
        let job = Arc::new(Job::from_text(STUB, &TestsChoice::Auto).unwrap());
        let (sender, mut incoming) = tokio::sync::mpsc::unbounded_channel();
        let options = asked.request.options;
        let mut state = State::new(job.clone(), options.clone(), Keymap::default(), false);
        let limits = (Limits::default(), false);
        let mut world =
            World::new(job, (options, true), limits, Keeping::default(), crate::tui::Extras::default(), sender);
        let mut is_done = false;
        let mut msgs = vec![world.opened(Ok((Arc::new(Scripted), pool))), Msg::Key(Key::parse("g").unwrap())];
        loop {
            for effect in msgs.drain(..).flat_map(|msg| update(&mut state, 0, msg)).collect::<Vec<_>>() {
                world.act(effect);
            }
            if is_done {
                break;
            }
            let Some(Incoming::App(msg)) = incoming.blocking_recv() else { panic!("nothing but messages") };
            is_done = matches!(&msg, Msg::Job { event: Event::Done(_), .. });
            msgs.push(msg);
        }
        let run = state.run.unwrap();
        let status = |c| match run.testing(c) {
            Testing::Done(verdict) => verdict.status,
            other => panic!("{other:?}"),
        };
        let came = (0..TEXTS.len()).map(|c| (status(c), None)).collect();
        (came, run.pick, ran.load(Ordering::Relaxed))
    }

    #[test]
    fn whoever_asks_gets_the_same_verdicts_and_the_same_pick() {
        let mut complete = by_complete();
        assert_eq!(complete, by_eval());
        complete.0.iter_mut().for_each(|(_, duplicate_of)| *duplicate_of = None);
        assert_eq!(complete, by_screen());
    }
}
