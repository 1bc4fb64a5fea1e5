//! `/v1/candidates`: one run of a job, as `complete` does it, with its events. For editors, which have the
//! text and want candidates with verdicts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper::Response;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::answer::{self, Answer, DONE, Refusal};
use super::ask::{Fields, wrong};
use super::inbox::inbox;
use super::{Serving, Trials};
use crate::code::{Place, Target};
use crate::job::{Ask, Event, Job, Report, Rounds, Run, Task, TestsChoice};
use crate::language::Language;
use crate::options::{self, GENERATION, PROMPTS, SAMPLING};
use crate::source::{self, Request};
use crate::trial::Tests;

/// A request for candidates.
pub struct CandidatesRequest {
    job: Arc<Job>,
    ask: Ask,
    seed: u64,
    stream: bool,
}

/// Reads a request. If trials are off, no file of this machine is read.
pub fn read(fields: &Fields, serving: &Serving) -> Result<CandidatesRequest, Refusal> {
    let mut settings = serving.settings.clone();
    settings.generate.stop.strings.clear();
    // A client asks for what it waits for.
    settings.rounds = 1;
    let others = ["timeout", "rounds"].map(options::named);
    for option in options::of(GENERATION | SAMPLING | PROMPTS).chain(others) {
        fields.set(&option.setting(), option.name, &mut settings)?;
    }
    let job = job(fields, serving.trials.as_ref())?.showing(settings.prompt).wishing(fields.text("change")?);
    if let (Some(trials), Some(tests)) = (&serving.trials, &job.tests) {
        let language = job.language().unwrap_or(Language::Python);
        trials.judge.check(language, job.file(), tests).map_err(|error| Refusal::bad(error.to_string()))?;
    }
    let agree = settings.compares();
    let mut options = settings.generate;
    let window = &serving.window;
    options.stop = job.stop_rules(window, &options.stop.strings, !settings.no_default_stops);
    options.max_tokens += job.more_tokens(window);
    let (seed, job) = (options.seed, Arc::new(job));
    let ask = Ask {
        request: Request { prompt: job.prompt_for(window), reference: job.reference(), options },
        task: job.clone(),
        limits: settings.limits,
        stop_on_pass: fields.flag("stop_on_pass")?,
        agree,
        rounds: Some(Rounds::new(settings.rounds, &serving.source)),
        // Earlier requests are tested first.
        problem: serving.next_number(),
    };
    Ok(CandidatesRequest { job, ask, seed, stream: fields.get("stream").is_none() || fields.flag("stream")? })
}

/// The job of a request.
fn job(fields: &Fields, trials: Option<&Trials>) -> Result<Job, Refusal> {
    let given = given_tests(fields)?;
    let asks = given.is_some() || matches!(fields.get("tests"), Some(Value::String(name)) if name != "none");
    if trials.is_none() && asks {
        return Err(Refusal::forbidden(
            "trials are off: start bass-tui serve with --allow-trials, or ask with \"tests\": \"none\"",
        ));
    }
    let choice = match fields.get("tests") {
        None if trials.is_some() => TestsChoice::IfAny,
        Some(Value::String(name)) if name == "auto" => TestsChoice::Auto,
        Some(Value::String(name)) if name != "none" => TestsChoice::Named(vec![name.clone()]),
        // Tests given as text are added below.
        _ => TestsChoice::None,
    };
    let made = match (fields.text("text")?, fields.text("prompt")?) {
        (Some(text), None) => {
            let target = target(fields, text, trials.is_some())?;
            Job::from_target(target, &choice)
        }
        (None, Some(prompt)) if !prompt.is_empty() => Job::from_text(prompt, &choice),
        (None, Some(_)) => return Err(Refusal::bad("the prompt is empty: there is nothing to complete")),
        _ => {
            return Err(Refusal::bad(
                "expected is either `text`, all of a file, with `path` or `language`, or `prompt`",
            ));
        }
    };
    let mut job = made.map_err(|error| Refusal::bad(error.to_string()))?;
    if let Some((name, text)) = given {
        job.tests = Some(Tests::of_file(None, Path::new(&name), text));
        job.tests_label = name;
    }
    Ok(job)
}

/// The function to complete in a text.
fn target(fields: &Fields, text: &str, with_project: bool) -> Result<Target, Refusal> {
    let place = match fields.get("target") {
        None => Place::Any,
        Some(Value::String(name)) => Place::Function(name.replace("::", ".")),
        Some(value) => {
            let line = value.as_u64().filter(|&line| line > 0).map(|line| line as usize);
            Place::Line(line.ok_or_else(|| wrong("target", value, "the name of a function or the number of a line"))?)
        }
    };
    let path = fields.text("path")?.map(PathBuf::from);
    let language = match (fields.text("language")?, &path) {
        (Some(name), _) => Some(Language::by_name(name).ok_or_else(|| {
            let known: Vec<&str> = Language::ALL.iter().map(|language| language.name()).collect();
            wrong("language", &json!(name), &known.join(", "))
        })?),
        (None, Some(path)) => Language::of_path(path),
        (None, None) => return Err(Refusal::bad("`path` or `language` is missing: in which language is the `text`?")),
    };
    let found = match (path, language) {
        (Some(path), language) if with_project || language.is_none() => Target::in_editor(&path, text, &place),
        (_, Some(language)) => Target::in_text(text, language, &place),
        (_, None) => return Err(Refusal::bad("`language` is missing")),
    };
    found.map_err(|error| Refusal::bad(error.to_string()))
}

/// Tests in the request itself: `{"name": …, "text": …}`.
fn given_tests(fields: &Fields) -> Result<Option<(String, String)>, Refusal> {
    match fields.get("tests") {
        None | Some(Value::String(_)) => Ok(None),
        Some(value) => {
            let name = value["name"].as_str().unwrap_or("tests");
            let text = value["text"].as_str();
            let expected = "\"auto\", \"none\", the path of a tests file, or {\"name\": …, \"text\": …}";
            text.map(|text| Some((name.to_owned(), text.to_owned()))).ok_or_else(|| wrong("tests", value, expected))
        }
    }
}

/// Answers a request.
pub async fn answer(
    serving: &Arc<Serving>,
    request: CandidatesRequest,
    place: OwnedSemaphorePermit,
) -> Result<Response<Answer>, Refusal> {
    let CandidatesRequest { job, ask, seed, stream } = request;
    let (teller, mut inbox) = inbox(place, serving.stop.clone());
    let sink = Box::new(move |event| match event {
        Event::Source(source::Event::Step(_)) => std::ops::ControlFlow::Continue(()),
        event => teller.tell(event),
    });
    let n = ask.request.options.n;
    let pool = serving.trials.as_ref().map(|trials| &trials.pool);
    let run = Run::start(&*serving.source, pool, ask, sink);
    inbox.cancelled_by(move || run.cancel());
    let first = inbox.next().await.and_then(check)?;
    let writing = Writing { serving: serving.clone(), job, seed };
    if !stream {
        let mut next = first;
        while !matches!(next, Event::Done(_)) {
            next = inbox.next().await.and_then(check)?;
        }
        let told = writing.told(next).map(|(event, _)| answer::json(&event["result"]));
        return told.ok_or_else(|| Refusal::failed("the run ended without a result"));
    }
    let begin = answer::event(&writing.beginning(n));
    let told = move |event| {
        Ok(match writing.told(check(event)?) {
            None => (String::new(), false),
            Some((event, over)) => (answer::event(&event) + if over { DONE } else { "" }, over),
        })
    };
    Ok(inbox.stream(serving.clone(), begin, first, told))
}

/// Passes an event on, unless it reports that there are no candidates or verdicts.
fn check(event: Event) -> Result<Event, Refusal> {
    match event {
        Event::Source(source::Event::Refused(why)) => Err(Refusal::bad(why)),
        Event::Source(source::Event::Failed(why)) | Event::Verdict { outcome: Err(why), .. } => {
            Err(Refusal::failed(why))
        }
        event => Ok(event),
    }
}

/// State for writing the events.
struct Writing {
    serving: Arc<Serving>,
    job: Arc<Job>,
    seed: u64,
}

impl Writing {
    /// The first event of a stream.
    fn beginning(&self, n: usize) -> Value {
        let function = self.job.target().map(|target| &target.name);
        let tests = self.job.has_tests().then_some(&self.job.tests_label);
        json!({ "event": "begin", "model": self.serving.info.model, "n": n, "seed": self.seed, "function": function,
                "tests": tests })
    }

    /// The JSON of an event, if it is sent, and true if it is the last.
    fn told(&self, event: Event) -> Option<(Value, bool)> {
        use source::Event as From;
        let told = match event {
            Event::Source(From::Tokens { candidate, text, ids, logprobs, .. }) => {
                json!({ "event": "tokens", "index": candidate, "text": text, "token_ids": ids, "logprobs": logprobs })
            }
            Event::Source(From::Finished { candidate, reason, text, mean_logprob }) => {
                let edit = self.job.replacement(&text).map(|(bytes, text)| self.edit(&bytes, &text));
                json!({ "event": "finished", "index": candidate, "text": text, "finish": reason,
                        "mean_logprob": mean_logprob, "edit": edit })
            }
            Event::Round { number, candidates, .. } => {
                json!({ "event": "round", "number": number, "first": candidates.start, "n": candidates.len() })
            }
            Event::Duplicate { candidate, of } => json!({ "event": "duplicate", "index": candidate, "of": of }),
            Event::Testing(candidate) => json!({ "event": "testing", "index": candidate }),
            Event::Verdict { candidate, outcome } => {
                json!({ "event": "verdict", "index": candidate, "verdict": outcome.ok()? })
            }
            Event::Agreement(agreement) if !agreement.tells() => return None,
            Event::Agreement(agreement) => json!({ "event": "agreement", "agreement": agreement.json() }),
            Event::Pick(candidate) => json!({ "event": "pick", "index": candidate }),
            Event::Done(outcome) => {
                self.serving.metrics.written(&outcome.summary);
                let (info, seed) = (self.serving.info.clone(), self.seed);
                let report = Report {
                    info,
                    seed,
                    candidates: outcome.candidates,
                    summary: outcome.summary,
                    picked: outcome.picked,
                    agreement: outcome.agreement,
                };
                return Some((json!({ "event": "done", "result": report.value() }), true));
            }
            Event::Source(_) | Event::Preparing(_) | Event::Added { .. } | Event::Uncalled(_) => return None,
        };
        Some((told, false))
    }

    /// The edit for an editor: lines and bytes in them, both from 0.
    fn edit(&self, bytes: &std::ops::Range<usize>, text: &str) -> Value {
        let whole = self.job.target().map_or("", |target| &target.text);
        let at = |byte: usize| {
            let before = &whole[..byte];
            let line = before.matches('\n').count();
            json!({ "line": line, "byte": byte - before.rfind('\n').map_or(0, |end| end + 1) })
        };
        json!({ "start": at(bytes.start), "end": at(bytes.end), "text": text })
    }
}
