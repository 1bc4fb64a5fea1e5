//! A kept run, read from its file.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::line::{VERSION, hash_of};
use super::{Head, HistoryError, Line, MOST_OF_RUN, RunFile, Said, Taken, Tested, What};
use crate::code::{Applied, CodeError, Place, TargetSpec};
use crate::engine::{Event as From, FinishReason, MAX_CANDIDATES, Summary};
use crate::files;
use crate::job::{Event, Job, Outcome, WhyMore};
use crate::trial::Status;

/// Most tokens of a candidate that events tell; a damaged number must not fill the memory.
const MOST_TOKENS: usize = 1 << 16;

/// A run that was read from its file.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its file.
    pub file: RunFile,
    /// Its head.
    pub head: Head,
    /// The events, without the head.
    pub lines: Vec<Line>,
    /// The file ends within a line.
    pub(super) is_cut: bool,
}

/// A candidate as a kept run left it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptCandidate {
    /// Its text.
    pub text: String,
    /// Number of its tokens.
    pub tokens: usize,
    /// Mean log-probability of its tokens.
    pub mean_logprob: Option<f32>,
    /// Reason of its end; `None` while it was being written.
    pub reason: Option<FinishReason>,
    /// The equal candidate that was tested.
    pub duplicate_of: Option<usize>,
    /// The last result of its tests, or of those of its equal.
    pub tested: Option<Tested>,
}

impl KeptCandidate {
    /// Its tests passed.
    pub fn has_passed(&self) -> bool {
        self.tested.as_ref().is_some_and(|tested| tested.status == Some(Status::Passed))
    }

    /// Its tests ran, and it did not pass.
    pub fn has_failed(&self) -> bool {
        let status = self.tested.as_ref().and_then(|tested| tested.status);
        status.is_some_and(|status| !matches!(status, Status::Passed | Status::NotRun))
    }
}

impl Kept {
    /// Reads a file. Lines that are damaged or of an unknown kind are left out.
    pub fn read(file: &RunFile) -> Result<Self, HistoryError> {
        let failed = |source| HistoryError::Io { path: file.path.clone(), doing: "read", source };
        let mut bytes = Vec::new();
        files::open(&file.path).and_then(|open| open.take(MOST_OF_RUN).read_to_end(&mut bytes)).map_err(failed)?;
        let unreadable = |problem| HistoryError::Unreadable { id: file.id.clone(), path: file.path.clone(), problem };
        let is_cut = bytes.last().is_some_and(|last| *last != b'\n');
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let head = head(lines.next().unwrap_or_default()).map_err(unreadable)?;
        let lines = lines.filter_map(|line| serde_json::from_slice(line).ok());
        let lines = lines.filter(|line: &Line| !matches!(line.what, What::Run(_))).collect();
        Ok(Self { file: file.clone(), head, lines, is_cut })
    }

    /// Its head alone, without the rest of the file.
    pub fn head_of(file: &RunFile) -> Option<Head> {
        use std::io::BufRead;
        let mut line = Vec::new();
        let open = files::open(&file.path).ok()?.take(MOST_OF_RUN);
        std::io::BufReader::new(open).read_until(b'\n', &mut line).ok()?;
        head(&line).ok()
    }

    /// Number of the candidates that the models wrote.
    pub fn generated(&self) -> usize {
        self.head.n.clamp(1, MAX_CANDIDATES)
    }

    /// Number of its candidates, with those that the user has made.
    pub fn n(&self) -> usize {
        let more = |line: &Line| match &line.what {
            What::Edited { .. } => 1,
            What::Round { n, .. } => *n.min(&MAX_CANDIDATES),
            _ => 0,
        };
        (self.generated() + self.lines.iter().map(more).sum::<usize>()).min(MAX_CANDIDATES)
    }

    /// Its candidates by index.
    pub fn candidates(&self) -> Vec<KeptCandidate> {
        let mut all = vec![KeptCandidate::default(); self.n()];
        for line in &self.lines {
            match &line.what {
                What::Finished { candidate, text, tokens, mean_logprob, reason } => {
                    if let Some(c) = all.get_mut(*candidate) {
                        (c.text, c.tokens) = (text.clone(), *tokens);
                        (c.mean_logprob, c.reason) = (*mean_logprob, Some(*reason));
                    }
                }
                What::Edited { candidate, text, .. } => {
                    if let Some(c) = all.get_mut(*candidate) {
                        (c.text, c.reason) = (text.clone(), Some(FinishReason::Stop));
                    }
                }
                What::Duplicate { candidate, of } if candidate != of => {
                    all.get_mut(*candidate).into_iter().for_each(|c| c.duplicate_of = Some(*of));
                }
                What::Verdict(tested) => {
                    all.get_mut(tested.candidate).into_iter().for_each(|c| c.tested = Some((**tested).clone()));
                }
                _ => {}
            }
        }
        for c in 0..all.len() {
            let origin = all[c].duplicate_of.and_then(|of| all.get(of));
            if let Some(tested) = origin.map(|origin| origin.tested.clone()) {
                all[c].tested = tested;
            }
        }
        all
    }

    /// The order of its candidates, the best first, as far as it was known.
    pub fn ranking(&self) -> Vec<usize> {
        let ranking = self.lines.iter().rev().find_map(|line| match &line.what {
            What::Ended { ranking, .. } | What::Written { ranking, .. } => Some(ranking.clone()),
            _ => None,
        });
        let mut ranking = ranking.unwrap_or_default();
        ranking.retain(|c| *c < self.n());
        // Candidates that the ranking lacks come last; one that it has twice comes once.
        ranking.extend(0..self.n());
        let mut seen = [false; MAX_CANDIDATES];
        ranking.retain(|c| !std::mem::replace(&mut seen[*c], true));
        ranking
    }

    /// The candidate that was picked in the end.
    pub fn picked(&self) -> Option<usize> {
        self.lines.iter().rev().find_map(|line| match &line.what {
            What::Ended { picked, .. } => Some(*picked),
            What::Pick { candidate } => Some(*candidate),
            _ => None,
        })?
    }

    /// The last candidate that was taken and not taken back.
    pub fn taken(&self) -> Option<&Taken> {
        let mut taken: Vec<&Taken> = Vec::new();
        for line in &self.lines {
            match &line.what {
                What::Taken(one) => taken.push(one),
                What::Undone { backup } => {
                    if let Some(at) = taken.iter().rposition(|one| one.backup == *backup) {
                        taken.remove(at);
                    }
                }
                _ => {}
            }
        }
        taken.pop()
    }

    /// The text it wrote last, with the data to take it back. `backups` is the folder of the earlier texts.
    pub fn written(&self, backups: &Path) -> Result<Applied, CodeError> {
        let (path, backup) = self
            .taken()
            .and_then(|taken| taken.path.clone().zip(taken.backup.as_deref()))
            .ok_or(CodeError::NothingWritten { place: self.head.file.clone(), elsewhere: None })?;
        // Nothing but a name, so that a damaged record leads nowhere else.
        let backup = Path::new(backup).file_name().map(|name| backups.join(name));
        let backup = backup.ok_or(CodeError::NothingWritten { place: Some(path), elsewhere: None })?;
        Applied::recorded(&backup)
    }

    /// The answers that the user said last.
    pub fn said(&self) -> Option<&Said> {
        self.lines.iter().rev().find_map(|line| match &line.what {
            What::Said(said) => Some(&**said),
            _ => None,
        })
    }

    /// The prompt of its candidates, with the examples that the user has added.
    pub fn stub(&self) -> &str {
        self.said().map(|said| said.stub.as_str()).filter(|stub| !stub.is_empty()).unwrap_or(&self.head.stub)
    }

    /// The name of the tests that judged last; empty without any.
    pub fn tests(&self) -> &str {
        self.said().map_or(&self.head.tests, |said| &said.tests)
    }

    /// The place of its function, for a run of a file.
    pub fn target(&self) -> Option<TargetSpec> {
        Some(TargetSpec { path: self.head.file.clone()?, place: Place::Function(self.head.function.clone()?) })
    }

    /// Its job, made anew. `now` is the job of its function or text as that is now. The error is a sentence.
    pub fn job(&self, now: &Job) -> Result<Job, String> {
        Ok(self.unwished(now)?.wishing(self.head.wish.as_deref()))
    }

    /// Its job, without regard to the change that was wanted.
    fn unwished(&self, now: &Job) -> Result<Job, String> {
        let stub = now.editable();
        if stub.as_deref() == Some(self.stub()) {
            return Ok(now.clone());
        }
        if self.head.file.is_none() || stub.as_ref() == Some(&self.head.stub) || hash_of(now) == self.head.hash {
            return now.edited(self.stub()).map_err(|error| error.to_string());
        }
        let path = self.head.file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let function = self.head.function.as_deref().unwrap_or_default();
        Err(format!(
            "{path} has changed since this run: `{function}` does not begin as the text that its candidates continue"
        ))
    }

    /// The events of the run as it told them, each with its time in ms. Of several verdicts of a candidate,
    /// and of several agreements, the last one counts. They always end, also if the file does not.
    pub fn events(&self) -> Vec<(u64, Event)> {
        let verdict = |what: &What| if let What::Verdict(tested) = what { Some(tested.candidate) } else { None };
        let at = self.lines.iter().enumerate();
        let last: HashMap<usize, usize> = at.filter_map(|(i, line)| Some((verdict(&line.what)?, i))).collect();
        let called = self.lines.iter().rposition(|line| matches!(line.what, What::Agreement(_)));
        let mut events = Vec::new();
        let mut is_over = false;
        let mut end = 0;
        for (i, Line { ms, what }) in self.lines.iter().enumerate() {
            end = *ms;
            let source = match what {
                What::Finished { candidate, text, tokens, mean_logprob, reason } => {
                    let counted = From::Tokens {
                        candidate: *candidate,
                        text: String::new(),
                        ids: vec![0; (*tokens).min(MOST_TOKENS)],
                        logprobs: Vec::new(),
                        alternatives: Vec::new(),
                        drafted: 0,
                        accepted: 0,
                    };
                    events.push((*ms, Event::Source(counted)));
                    let (candidate, reason, text, mean_logprob) = (*candidate, *reason, text.clone(), *mean_logprob);
                    From::Finished { candidate, reason, text, mean_logprob }
                }
                What::Broken { candidate, why } => From::Broken { candidate: *candidate, why: why.clone() },
                What::Written { ranking, tokens, tokens_per_second } => {
                    is_over = true;
                    let (ranking, speed) = (ranking.clone(), tokens_per_second.unwrap_or_default());
                    let summary = Summary { ranking, tokens: *tokens, tokens_per_second: speed, ..Summary::default() };
                    From::Done(Box::new(summary))
                }
                What::Failed { why } => {
                    is_over = true;
                    From::Failed(why.clone())
                }
                What::Verdict(tested) => {
                    if last.get(&tested.candidate) == Some(&i) {
                        let (candidate, outcome) = (tested.candidate, tested.outcome());
                        events.push((*ms, Event::Verdict { candidate, outcome }));
                    }
                    continue;
                }
                What::Edited { candidate, of, text } => {
                    events.push((*ms, Event::Added { candidate: *candidate, of: *of, text: text.clone() }));
                    continue;
                }
                What::Round { number, first, n, told } => {
                    let candidates = *first..first.saturating_add((*n).min(MAX_CANDIDATES));
                    is_over = false;
                    events.push((*ms, Event::Round { number: *number, candidates, told: *told, why: WhyMore::Asked }));
                    continue;
                }
                What::Duplicate { candidate, of } => {
                    events.push((*ms, Event::Duplicate { candidate: *candidate, of: *of }));
                    continue;
                }
                What::Agreement(told) => {
                    let agreement = if called == Some(i) { told.agreement() } else { None };
                    events.extend(agreement.map(|agreement| (*ms, Event::Agreement(Arc::new(agreement)))));
                    continue;
                }
                What::Pick { candidate } => {
                    events.push((*ms, Event::Pick(*candidate)));
                    continue;
                }
                What::Ended { ranking, picked } => {
                    let summary = Summary { ranking: ranking.clone(), ..Summary::default() };
                    let outcome = Outcome { candidates: Vec::new(), summary, picked: *picked, agreement: None };
                    events.push((*ms, Event::Done(Box::new(outcome))));
                    continue;
                }
                What::Run(_) | What::Taken(_) | What::Undone { .. } | What::Said(_) => continue,
            };
            events.push((*ms, Event::Source(source)));
        }
        if !is_over {
            events.push((end, Event::Source(From::Done(Box::default()))));
        }
        events
    }
}

fn head(line: &[u8]) -> Result<Head, &'static str> {
    match serde_json::from_slice(line) {
        Ok(Line { what: What::Run(head), .. }) if head.version <= VERSION => Ok(*head),
        Ok(Line { what: What::Run(_), .. }) => Err("a newer bass-tui wrote it"),
        _ => Err("its first line is damaged"),
    }
}
