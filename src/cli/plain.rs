//! The screen's work as plain lines: candidates one after another, as they end, and a question which to take.
//! For terminals that cannot place text, and for readers of one line after another.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use super::complete::{Follower, Message, apply, follow, is_tested, record};
use super::failure::Failure;
use super::memory::advice;
use super::output::say;
use super::report::table;
use super::session::{Session, check_tests, consent, on_interrupt, unusable};
use super::tui::print_code;
use crate::code::Applied;
use crate::history::Recorder;
use crate::job::{Ask, Event, Job, Judge, Outcome, Report, Rounds, Run, Task, TrialPool, label, round_words};
use crate::source::{self, FinishReason, Request, Source};
use crate::trial::{Limits, Status};
use crate::tui::terminal;
use crate::untrusted::{code, framed};

/// Meaning of an answer to `take which?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Take(usize),
    Again,
    Quit,
    /// None of these.
    Unclear,
}

impl Answer {
    fn read(line: &str, candidates: usize) -> Self {
        let word = line.trim();
        let named = (0..candidates).find(|&c| label(c).eq_ignore_ascii_case(word));
        match (named, word) {
            // The letters of commands are small, those of candidates capital, if both could be meant.
            (_, "q" | "quit") => Self::Quit,
            (_, "r") => Self::Again,
            (Some(c), _) => Self::Take(c),
            _ => Self::Unclear,
        }
    }
}

/// Prints candidates as they end.
struct Printer<'a> {
    job: &'a Job,
    out: &'a mut dyn FnMut(&str),
    texts: Vec<String>,
    printed: BTreeSet<usize>,
    /// Candidates and the equal ones that are printed first.
    equal: Vec<(usize, usize)>,
    /// Candidates that could not be written to their end, and why.
    broken: BTreeMap<usize, String>,
}

impl Printer<'_> {
    fn candidate(&mut self, candidate: usize, words: &str) {
        if !self.printed.insert(candidate) {
            return;
        }
        let code = self.texts.get(candidate).map(|text| code(&self.job.function(text))).unwrap_or_default();
        let colon = if words.is_empty() { "" } else { ": " };
        (self.out)(&format!("candidate {}{colon}{words}\n{}\n\n", label(candidate), code.trim_end()));
        self.equals();
    }

    /// Prints the equals of candidates that are printed.
    fn equals(&mut self) {
        for (candidate, of) in std::mem::take(&mut self.equal) {
            if !self.printed.contains(&of) {
                self.equal.push((candidate, of));
            } else if self.printed.insert(candidate) {
                (self.out)(&format!("candidate {}: the same as {}\n\n", label(candidate), label(of)));
            }
        }
    }
}

impl Follower for Printer<'_> {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Round { candidates, told, why, .. } => {
                self.texts.resize(candidates.end, String::new());
                (self.out)(&format!("{}\n\n", round_words(candidates, *told, *why)));
            }
            Event::Source(source::Event::Broken { candidate, why }) => {
                self.broken.insert(*candidate, framed(why));
            }
            Event::Source(source::Event::Finished { candidate, reason, text, .. }) => {
                if let Some(slot) = self.texts.get_mut(*candidate) {
                    slot.clone_from(text);
                }
                // A whole candidate waits for its verdict.
                match reason {
                    FinishReason::Stop if self.job.has_tests() => {}
                    FinishReason::Stop => {
                        let verdict = self.job.untested(text, Limits::default());
                        self.candidate(*candidate, &framed(&verdict.news()));
                    }
                    FinishReason::Length => {
                        let why = self.broken.remove(candidate);
                        self.candidate(*candidate, why.as_deref().unwrap_or("cut at the token limit, not tested"));
                    }
                    FinishReason::Budget => self.candidate(*candidate, "cut by the time budget, not tested"),
                    FinishReason::Failed => self.candidate(*candidate, "broken off, not tested"),
                    FinishReason::Cancelled => self.candidate(*candidate, "stopped, not tested"),
                }
            }
            Event::Duplicate { candidate, of } => {
                self.equal.push((*candidate, *of));
                self.equals();
            }
            Event::Verdict { candidate, outcome: Ok(verdict) } if !self.equal.iter().any(|e| e.0 == *candidate) => {
                let words = framed(&verdict.words());
                let colon = if words.is_empty() { "" } else { ": " };
                self.candidate(*candidate, &format!("{}{colon}{words}", verdict.status.word()));
            }
            Event::Done(outcome) => {
                for candidate in 0..outcome.candidates.len() {
                    self.candidate(candidate, "not tested");
                }
            }
            _ => {}
        }
    }

    fn wait(&mut self) {}
}

/// The user on the terminal, line by line.
struct Dialogue {
    lines: BufReader<std::fs::File>,
}

impl Dialogue {
    /// Asks, and returns the line that is typed; `None` at the end of the input.
    fn ask(&mut self, question: &str) -> Option<String> {
        write(question);
        let mut line = String::new();
        self.lines.read_line(&mut line).ok().filter(|&n| n > 0).map(|_| line)
    }

    fn agrees(&mut self, question: &str) -> bool {
        self.ask(question).is_some_and(|line| matches!(line.trim(), "y" | "Y" | "yes"))
    }
}

/// Writes to the terminal.
fn write(text: &str) {
    if let Ok(mut out) = terminal::device() {
        let _ = out.write_all(text.as_bytes());
    }
}

/// Writes candidates and asks until the user takes one or leaves.
pub fn run(session: &Session, job: Job, unprotected: bool) -> Result<u8, Failure> {
    let lines = terminal::lines().map_err(|e| Failure::input(format!("the terminal cannot be read: {e}")))?;
    let mut dialogue = Dialogue { lines };
    let runner = match &job.tests {
        Some(tests) => {
            let runner = consent(session.runner(), unprotected)?;
            check_tests(&runner, job.language(), job.file(), tests)?;
            Some(Arc::new(runner))
        }
        None => session.caller(&job, job.target().is_some() && session.settings.generate.n > 1).map(Arc::new),
    };
    if let Some(line) = advice(session, job.language()) {
        say(&(framed(&format!("bass-tui: {line}")) + "\n"));
    }
    let sandbox = runner.as_ref().filter(|_| job.has_tests()).map(|runner| runner.protection().summary.clone());
    let pool = runner.map(|runner| TrialPool::new(runner as Arc<dyn Judge>)).transpose().map_err(Failure::internal)?;
    let source: Arc<dyn Source> =
        Arc::from(session.opener(Session::models_keeping_prompts)?(None).map_err(|error| unusable(&error))?);
    let window = source.window();
    let mut options = session.settings.generate.clone();
    options.stop = job.stop_rules(&window, &options.stop.strings, !session.settings.no_default_stops);
    let (job, n) = (Arc::new(job), options.n);
    let (send, receive) = channel();
    let listening = Arc::new(AtomicBool::new(false));
    on_interrupt(&send, &listening, || Message::Interrupt);
    loop {
        write(&format!("writing {n} candidates\n\n"));
        let ask = Ask {
            request: Request { prompt: job.prompt_for(&window), reference: None, options: options.clone() },
            task: job.clone(),
            limits: session.settings.limits,
            stop_on_pass: session.settings.stop_on_pass,
            agree: session.settings.compares(),
            rounds: Some(Rounds::new(session.settings.rounds, &source)),
            problem: 0,
        };
        let sender = send.clone();
        let recorder = record(session, &job, &source.info(), &options);
        let kept = recorder.clone();
        let sink = Box::new(move |event| {
            if let Some(why) = kept.as_ref().and_then(|recorder| recorder.event(&event)) {
                say(&(framed(&format!("bass-tui: {why}")) + "\n"));
            }
            match sender.send(Message::Event(event)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        let run = Run::start(&*source, pool.as_ref(), ask, sink);
        listening.store(true, Ordering::Relaxed);
        let mut out = write;
        let printer = Printer {
            job: &job,
            out: &mut out,
            texts: vec![String::new(); n],
            printed: BTreeSet::new(),
            equal: Vec::new(),
            broken: BTreeMap::new(),
        };
        let (outcome, _) = follow(&run, &receive, printer)?;
        // At a question Ctrl-C ends the program.
        listening.store(false, Ordering::Relaxed);
        let Outcome { candidates, summary, picked, agreement } = outcome;
        let report = Report { info: source.info(), seed: options.seed, candidates, summary, picked, agreement };
        write(&table(&report, sandbox.as_deref()));
        match choose(&mut dialogue, &job, &report) {
            Answer::Take(c) => {
                let taken = (c, report.candidates[c].text.as_str());
                return take(&mut dialogue, session, &job, taken, recorder.as_ref());
            }
            Answer::Again => options.seed = options.seed.wrapping_add(1),
            Answer::Quit | Answer::Unclear => return Ok(0),
        }
    }
}

/// Asks which candidate to take until the answer is clear.
fn choose(dialogue: &mut Dialogue, job: &Job, report: &Report) -> Answer {
    let n = report.candidates.len();
    let letters = if n == 1 { "A".to_owned() } else { format!("A-{}", label(n.saturating_sub(1))) };
    let question = format!("take which? [{letters}, r = again, q = quit] ");
    loop {
        let Some(line) = dialogue.ask(&question) else { return Answer::Quit };
        match Answer::read(&line, n) {
            Answer::Unclear => write(&format!("answer with a letter of {letters}, r or q\n")),
            Answer::Take(c) if report.candidates[c].text.trim().is_empty() => {
                write(&format!("{} is empty\n", label(c)));
            }
            Answer::Take(c) if is_doubtful(job, report, c) => {
                let status = report.candidates[c].verdict.status.word();
                if dialogue.agrees(&format!("{} has not passed ({status}): take it all the same? [y/N] ", label(c))) {
                    return Answer::Take(c);
                }
            }
            Answer::Take(c) if report.candidates[c].verdict.is_marked() => {
                let mark = framed(&report.candidates[c].verdict.mark().unwrap_or_default());
                if dialogue.agrees(&format!("{} is marked ({mark}): take it all the same? [y/N] ", label(c))) {
                    return Answer::Take(c);
                }
            }
            answer => return answer,
        }
    }
}

/// Returns true if tests say something of a candidate, and it has not passed.
fn is_doubtful(job: &Job, report: &Report, candidate: usize) -> bool {
    match report.candidates[candidate].verdict.status {
        Status::Passed => false,
        Status::NotRun => is_tested(job, report),
        _ => true,
    }
}

/// Writes the candidate into its file and offers to take that back; without a file it is printed.
fn take(
    dialogue: &mut Dialogue,
    session: &Session,
    job: &Job,
    (candidate, text): (usize, &str),
    recorder: Option<&Recorder>,
) -> Result<u8, Failure> {
    let Some(target) = job.target().filter(|target| target.path.is_some()) else {
        let _ = recorder.map(|recorder| recorder.handed_over(text));
        print_code(&job.program(text))?;
        return Ok(0);
    };
    let applied = apply(job, target, (candidate, text), (session, recorder))?;
    if let Some("u" | "undo") = dialogue.ask("done? [Enter = done, u = undo] ").as_deref().map(str::trim) {
        return undo(&applied, recorder);
    }
    write("`bass-tui undo` takes it back\n");
    if !std::io::stdout().is_terminal() {
        print_code(&job.function(text))?;
    }
    Ok(0)
}

fn undo(applied: &Applied, recorder: Option<&Recorder>) -> Result<u8, Failure> {
    let said = applied.undo().map_err(Failure::input)?;
    let name = applied.backup.as_deref().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let _ = recorder.map(|recorder| recorder.undone(name));
    write(&(framed(&said) + "\n"));
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::thoughts_took_all;
    use crate::job::TestsChoice;
    use crate::trial::Verdict;

    #[test]
    fn answers_are_letters() {
        let read = |line: &str| Answer::read(line, 20);
        assert_eq!([read("B\n"), read(" b "), read("T")], [Answer::Take(1), Answer::Take(1), Answer::Take(19)]);
        assert_eq!(
            [read("r"), read("q\n"), read("R"), read("Q")],
            [Answer::Again, Answer::Quit, Answer::Take(17), Answer::Take(16)]
        );
        assert_eq!([read(""), read("Z"), read("AB"), read("yes")], [Answer::Unclear; 4]);
    }

    #[test]
    fn each_candidate_is_printed_once_with_its_verdict_in_words() {
        let job = Job::from_text("def f():\n    \"\"\"\n    >>> f()\n    1\n    \"\"\"\n", &TestsChoice::Auto).unwrap();
        let mut said = String::new();
        let mut out = |text: &str| said.push_str(text);
        let mut printer = Printer {
            job: &job,
            out: &mut out,
            texts: vec![String::new(); 3],
            printed: BTreeSet::new(),
            equal: Vec::new(),
            broken: BTreeMap::new(),
        };
        let finished = |candidate, reason, text: &str| {
            Event::Source(source::Event::Finished { candidate, reason, text: text.into(), mean_logprob: None })
        };
        let verdict = Verdict { status: Status::Failed, ..Verdict::not_run("got\x1b[2J 2") };
        for event in [
            finished(0, FinishReason::Stop, "    return 2\n"),
            Event::Source(source::Event::Broken { candidate: 1, why: thoughts_took_all(64) }),
            finished(1, FinishReason::Length, "    return\x1b[2J"),
            Event::Duplicate { candidate: 2, of: 0 },
            Event::Verdict { candidate: 2, outcome: Ok(verdict.clone()) },
            Event::Verdict { candidate: 0, outcome: Ok(verdict) },
        ] {
            printer.event(&event);
        }
        assert!(said.starts_with("candidate B: its thoughts took all 64 tokens: raise --max-tokens"), "{said}");
        assert!(said.contains("candidate A: FAIL: got 2\ndef f():"), "{said}");
        assert!(said.ends_with("    return 2\n\ncandidate C: the same as A\n\n"), "{said}");
        assert!(!said.contains('\x1b'), "{said}");
    }
}
