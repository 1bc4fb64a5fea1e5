//! The runs of a comparison: every setting on every prompt, interleaved over the repeats.

use std::ops::ControlFlow;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::cli::failure::Failure;
use crate::engine::{DraftLength, GenerateOptions};
use crate::sampling::Accept;
use crate::source::{Event, Prompt, Request, Source, Summary};

/// The plan of a measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The prompts.
    pub prompts: Vec<Prompt>,
    /// Numbers of candidates.
    pub batches: Vec<usize>,
    /// Acceptance rules.
    pub accepts: Vec<Accept>,
    pub lengths: Vec<DraftLength>,
    /// Drafters that are compared, as `--draft` names them.
    pub drafters: Vec<String>,
    /// Rounds that count.
    pub repeats: usize,
    /// Options shared by all runs.
    pub options: GenerateOptions,
}

/// One way of writing candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Number of candidates.
    pub batch: usize,
    /// Acceptance rule.
    pub accept: Accept,
    pub length: DraftLength,
    /// Which of the drafters, where several are compared.
    pub drafter: Option<usize>,
}

impl Setting {
    /// `plain`, a number, or the name of a policy.
    pub fn length_name(&self) -> String {
        if self.length == DraftLength::Fixed(0) { "plain".to_owned() } else { self.length.to_string() }
    }

    /// This setting without drafts.
    pub fn plain(self) -> Self {
        Self { length: DraftLength::Fixed(0), ..self }
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut out = to.serialize_struct("Setting", 3 + usize::from(self.drafter.is_some()))?;
        out.serialize_field("batch", &self.batch)?;
        out.serialize_field("draft_length", &self.length_name())?;
        out.serialize_field("accept", &self.accept.to_string())?;
        if let Some(drafter) = self.drafter {
            out.serialize_field("drafter", &drafter)?;
        }
        out.end()
    }
}

/// The cost of one generation.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The setting of the run.
    #[serde(flatten)]
    pub setting: Setting,
    /// Number of the repeat, from 0.
    pub repeat: usize,
    /// Number of the prompt, from 0.
    pub prompt: usize,
    /// Its figures.
    #[serde(flatten)]
    pub summary: Summary,
}

impl Run {
    /// Decode time in ms, divided by the tokens of each candidate.
    pub fn ms_per_token(&self) -> f64 {
        self.summary.decode_ms * self.setting.batch as f64 / self.summary.tokens.max(1) as f64
    }
}

/// Progress of a comparison.
pub struct Progress {
    /// Runs done.
    pub done: usize,
    /// Runs in all.
    pub total: usize,
    /// True for the round that does not count.
    pub warming_up: bool,
    pub next: Setting,
    /// Time so far.
    pub elapsed: Duration,
}

impl Progress {
    /// A line for people.
    pub fn text(&self) -> String {
        let Self { done, total, next, .. } = self;
        let left = if self.warming_up {
            "warming up".to_owned()
        } else {
            format!("{:.0} s left", self.elapsed.as_secs_f64() / *done as f64 * (total - done) as f64)
        };
        format!("run {} of {total}: batch {}, draft length {}; {left}", done + 1, next.batch, next.length_name())
    }
}

impl Plan {
    /// All settings: the batches in their order, in each the drafters, in each the acceptance rules, in each
    /// the lengths, of which a drafter that is none has but plain.
    pub fn settings(&self) -> Vec<Setting> {
        self.batches.iter().flat_map(|&batch| self.settings_of(batch)).collect()
    }

    fn settings_of(&self, batch: usize) -> Vec<Setting> {
        let several = self.drafters.len() > 1;
        let mut all = Vec::new();
        for (number, name) in self.drafters.iter().enumerate() {
            let drafter = several.then_some(number);
            for &accept in &self.accepts {
                let lengths = self.lengths.iter().filter(|&&of| name != "none" || of == DraftLength::Fixed(0));
                all.extend(lengths.map(|&length| Setting { batch, accept, length, drafter }));
            }
        }
        all
    }

    /// Measures everything on `sources`, one for each drafter, after a warm-up round that does not count. That
    /// round touches all memory and lets `auto` learn. `tell` is called before every run.
    pub fn measure<S: Source>(&self, sources: &[S], tell: &mut dyn FnMut(&Progress)) -> Result<Vec<Run>, Failure> {
        let start = Instant::now();
        let each_round = self.settings().len() * self.prompts.len();
        let total = each_round * (self.repeats + 1);
        let mut runs = Vec::with_capacity(total - each_round);
        let mut done = 0;
        for round in 0..=self.repeats {
            for (prompt, text) in self.prompts.iter().enumerate() {
                for &batch in &self.batches {
                    let mut settings = self.settings_of(batch);
                    let first = (round * self.prompts.len() + prompt) % settings.len();
                    settings.rotate_left(first);
                    for next in settings {
                        tell(&Progress { done, total, warming_up: round == 0, next, elapsed: start.elapsed() });
                        let summary = self.run(&sources[next.drafter.unwrap_or(0)], next, text)?;
                        done += 1;
                        // Round 0 is the warm-up.
                        if let Some(repeat) = round.checked_sub(1) {
                            runs.push(Run { setting: next, repeat, prompt, summary });
                        }
                    }
                }
            }
        }
        Ok(runs)
    }

    fn run(&self, source: &dyn Source, setting: Setting, prompt: &Prompt) -> Result<Summary, Failure> {
        let Setting { batch: n, accept, length: draft_length, drafter: _ } = setting;
        let options = GenerateOptions { n, draft_length, accept, ..self.options.clone() };
        let context = source.info().context;
        let room = |prompt: &str| {
            Failure::input(format!(
                "--max-tokens is {}, but the model reads at most {context} positions{prompt}: give fewer tokens, so that \
                 every candidate has room for all of them",
                options.max_tokens
            ))
        };
        if options.max_tokens >= context {
            return Err(room(""));
        }
        let tokens = n * options.max_tokens;
        let request = Request { prompt: prompt.clone(), reference: None, options: options.clone() };
        let (send, receive) = channel();
        let sink = Box::new(move |event| {
            if matches!(event, Event::Done(_) | Event::Refused(_) | Event::Failed(_)) {
                let _ = send.send(event);
            }
            ControlFlow::Continue(())
        });
        source.generate(request, sink);
        match receive.recv() {
            Ok(Event::Done(summary)) if summary.tokens < tokens => {
                Err(room(&format!(", {} of them for a prompt", summary.prompt_tokens)))
            }
            Ok(Event::Done(summary)) => Ok(*summary),
            Ok(Event::Refused(why)) => Err(Failure::input(why)),
            Ok(Event::Failed(why)) => Err(Failure::internal(why)),
            _ => Err(Failure::internal("the engine has stopped: start the program again")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{EventSink, SourceInfo, Ticket};
    use std::sync::Mutex;

    /// Answers everything at once and records the requests.
    #[derive(Default)]
    struct Fake(Mutex<Vec<(usize, DraftLength)>>);

    impl Source for Fake {
        fn info(&self) -> SourceInfo {
            SourceInfo { context: 100, ..SourceInfo::default() }
        }

        fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
            let options = request.options;
            self.0.lock().unwrap().push((options.n, options.draft_length));
            let tokens = options.n * options.max_tokens.min(90);
            let _ = sink(Event::Done(Box::new(Summary { tokens, ..Summary::default() })));
            Ticket::new(options.n)
        }
    }

    fn plan() -> Plan {
        Plan {
            prompts: vec![Prompt::Ids(vec![1]), Prompt::Ids(vec![2])],
            batches: vec![1, 4],
            accepts: vec![Accept::Coupled],
            lengths: vec![DraftLength::Fixed(0), DraftLength::Fixed(2), DraftLength::Auto],
            drafters: vec!["auto".to_owned()],
            repeats: 2,
            options: GenerateOptions { max_tokens: 8, ..GenerateOptions::default() },
        }
    }

    #[test]
    fn settings_take_turns_and_the_first_round_does_not_count() {
        let (plan, sources) = (plan(), [Fake::default()]);
        let mut told = Vec::new();
        let runs = plan.measure(&sources, &mut |p| told.push((p.done, p.total, p.warming_up))).unwrap();
        let [Fake(asked)] = sources;
        let asked = asked.into_inner().unwrap();
        assert_eq!((asked.len(), runs.len(), told.len()), (36, 24, 36));
        assert_eq!((told[0], told[35]), ((0, 36, true), (35, 36, false)));
        let firsts: Vec<DraftLength> = asked.chunks(6).map(|chunk| chunk[0].1).collect();
        let [plain, two, auto] = plan.lengths[..] else { panic!() };
        assert_eq!(firsts, [plain, two, auto, plain, two, auto], "each is first in turn");
        for setting in plan.settings() {
            let at: Vec<(usize, usize)> =
                runs.iter().filter(|run| run.setting == setting).map(|run| (run.repeat, run.prompt)).collect();
            assert_eq!(at, [(0, 0), (0, 1), (1, 0), (1, 1)], "{setting:?}");
        }
    }

    #[test]
    fn drafters_take_turns_and_none_is_measured_once() {
        let plan = Plan { drafters: ["none", "auto"].map(str::to_owned).to_vec(), repeats: 1, ..plan() };
        let sources = [Fake::default(), Fake::default()];
        let runs = plan.measure(&sources, &mut |_| {}).unwrap();
        let [none, auto] = sources.map(|Fake(asked)| asked.into_inner().unwrap());
        assert_eq!((none.len(), auto.len(), runs.len()), (8, 24, 16));
        assert!(none.iter().all(|(_, length)| *length == DraftLength::Fixed(0)));
        let of = |drafter| runs.iter().filter(|run| run.setting.drafter == Some(drafter)).count();
        assert_eq!((of(0), of(1)), (4, 12));
    }

    #[test]
    fn candidates_that_cannot_have_all_their_tokens_are_refused() {
        let with = |max_tokens| Plan { options: GenerateOptions { max_tokens, ..plan().options }, ..plan() };
        for max_tokens in [95, 100] {
            let failure = with(max_tokens).measure(&[Fake::default()], &mut |_| {}).unwrap_err();
            assert!(failure.code == 2 && failure.message.contains("at most 100 positions"), "{}", failure.message);
        }
    }

    #[test]
    fn progress_tells_the_time_that_is_left() {
        let next = Setting { batch: 4, accept: Accept::Coupled, length: DraftLength::Auto, drafter: None };
        let progress =
            |warming_up| Progress { done: 20, total: 50, warming_up, next, elapsed: Duration::from_secs(10) };
        assert_eq!(progress(false).text(), "run 21 of 50: batch 4, draft length auto; 15 s left");
        assert!(progress(true).text().ends_with("; warming up"));
    }
}
