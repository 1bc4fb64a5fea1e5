//! A session under test: messages in, state and effects out, with a clock of its own.

use std::sync::Arc;

use super::state::Consent;
use super::{Candidate, Effect, Msg, Run, State, Testing, update};
use crate::engine::{Event, FinishReason, GenerateOptions, StepStats, Summary};
use crate::job::{self, Job, Task, TestsChoice};
use crate::source::SourceInfo;
use crate::trial::{Protection, Status, Verdict};
use crate::tui::event::Key;
use crate::tui::keymap::Keymap;

/// A prompt with examples.
pub const PROMPT: &str = "def rolling_max(numbers):\n    \"\"\"The largest number up to each place.\n\n    >>> rolling_max([1, 3, 2])\n    [1, 3, 3]\n    \"\"\"\n";

/// A session under test: a state, its clock, and what it asked for.
pub struct Session {
    pub state: State,
    /// The clock.
    pub now: u64,
}

impl Session {
    /// A session for a job, its models not loaded yet.
    pub fn on(job: Job, n: usize) -> Self {
        let options = GenerateOptions { n, ..GenerateOptions::default() };
        let mut state = State::new(Arc::new(job), options, Keymap::default(), false);
        state.size = (112, 30);
        Self { state, now: 1000 }
    }

    /// A session for a function with tests, ready, in a sandbox.
    pub fn tested(n: usize) -> Self {
        let mut session = Self::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), n);
        session.open(true);
        session
    }

    /// A session for an empty free prompt, ready.
    pub fn free(n: usize) -> Self {
        let mut session = Self::on(Job::from_text("", &TestsChoice::None).unwrap(), n);
        session.open(true);
        session
    }

    /// The models are there.
    pub fn open(&mut self, isolated: bool) -> Vec<Effect> {
        self.open_saying(isolated, None)
    }

    /// Like [`open`](Self::open), with a note of the source.
    pub fn open_saying(&mut self, isolated: bool, note: Option<&str>) -> Vec<Effect> {
        let info = SourceInfo {
            model: "main-1b".into(),
            draft: "draft-100m".into(),
            device: "cpu".into(),
            dtype: "bf16".into(),
            kernel: "avx2".into(),
            threads: 2,
            context: 2048,
            note: note.map(Into::into),
        };
        let protection = Protection {
            tier: if isolated { "kernel rules" } else { "none" }.into(),
            landlock_abi: u32::from(isolated) * 5,
            seccomp: isolated,
            no_new_privs: isolated,
            limits: true,
            summary: if isolated { "files and network are out of reach" } else { "this kernel has no Landlock" }.into(),
            ..Protection::default()
        };
        self.send(Msg::Opened(Ok((info, protection))))
    }

    /// A message, a little later.
    pub fn send(&mut self, msg: Msg) -> Vec<Effect> {
        self.now += 10;
        update(&mut self.state, self.now, msg)
    }

    pub fn key(&mut self, name: &str) -> Vec<Effect> {
        let key = Key::parse(name).unwrap();
        let mut effects = self.send(Msg::Key(key));
        // A record that comes with every answer.
        effects.retain(|effect| !matches!(effect, Effect::Said { .. }));
        effects
    }

    /// Time passes.
    pub fn wait(&mut self, ms: u64) {
        self.now += ms;
        self.send(Msg::Tick);
    }

    /// An event of the current generation.
    pub fn event(&mut self, event: Event) -> Vec<Effect> {
        let run = self.run().id;
        let effects = self.send(Msg::Job { run, event: job::Event::Source(event) });
        self.pick();
        effects
    }

    pub fn tokens(&mut self, candidate: usize, text: &str) -> Vec<Effect> {
        let (ids, logprobs) = (vec![1; 3], vec![-0.25; 3]);
        self.event(Event::Tokens {
            candidate,
            text: text.into(),
            ids,
            logprobs,
            alternatives: Vec::new(),
            drafted: 4,
            accepted: 2,
        })
    }

    /// A candidate ends.
    pub fn finish(&mut self, candidate: usize, text: &str) -> Vec<Effect> {
        let mean_logprob = Some(-0.1 - candidate as f32 / 10.0);
        let effects =
            self.event(Event::Finished { candidate, reason: FinishReason::Stop, text: text.into(), mean_logprob });
        let key = |text: &str| self.state.job.duplicate_key(candidate, text);
        let same = |c: &Candidate| c.is_whole() && c.duplicate_of.is_none() && key(&c.text) == key(text);
        let mut others = self.run().candidates.iter().enumerate().filter(|(index, _)| *index != candidate);
        if let Some((of, _)) = others.find(|(_, c)| same(c)) {
            self.job(job::Event::Duplicate { candidate, of });
        }
        self.begin_trials();
        effects
    }

    /// Sends an event of the job's run, without a passage of time.
    pub fn job(&mut self, event: job::Event) {
        let run = self.run().id;
        update(&mut self.state, self.now, Msg::Job { run, event });
    }

    /// Two trials run at a time, once they may.
    fn begin_trials(&mut self) {
        while !self.state.is_unprotected() || self.state.consent == Consent::Given {
            let candidates = &self.run().candidates;
            let running = candidates.iter().filter(|c| c.testing == Testing::Running).count();
            let next = candidates.iter().position(|c| c.testing == Testing::Queued).filter(|_| running < 2);
            let Some(next) = next else { return };
            self.job(job::Event::Testing(next));
        }
    }

    /// A step of the engine.
    pub fn step(&mut self, live: usize) {
        self.event(Event::Step(StepStats {
            live,
            rows: live * 5,
            drafted: live * 4,
            accepted: live * 2,
            tokens: live * 3,
            ms: 9.0,
            plain_ms: 0.0,
        }));
    }

    /// The generation ends; candidates rank by index.
    pub fn done(&mut self) -> Vec<Effect> {
        let ranking = (0..self.run().candidates.len()).collect();
        self.event(Event::Done(Box::new(Summary { ranking, tokens_per_second: 131.0, ..Summary::default() })))
    }

    /// Tells the pick as a run does, by its rule.
    fn pick(&mut self) {
        let (run, tested) = (self.run(), self.state.is_tested());
        let ranked = run.in_order();
        let ranking = (run.is_settled() && run.summary.is_some()).then_some(&ranked[..]);
        let passed = |c: usize| run.testing(c).passed();
        let first = run.pick.or_else(|| run.candidates.iter().position(|c| c.testing.passed()));
        let pick = job::pick(ranking, first, tested, passed, |c| run.testing(c).is_marked());
        if pick != run.pick {
            self.job(job::Event::Pick(pick));
        }
    }

    pub fn verdict(&mut self, candidate: usize, status: Status, message: &str) -> Vec<Effect> {
        let run = self.run().id;
        let verdict =
            Verdict { status, message: message.into(), duration_ms: 40, output: String::new(), ..Verdict::not_run("") };
        let effects = self.send(Msg::Job { run, event: job::Event::Verdict { candidate, outcome: Ok(verdict) } });
        self.begin_trials();
        self.pick();
        effects
    }

    /// The current generation.
    pub fn run(&self) -> &Run {
        self.state.run.as_ref().unwrap()
    }
}

/// A body that differs for each index.
pub fn body(index: usize) -> String {
    format!("    return {index}\n")
}
