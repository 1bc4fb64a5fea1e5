//! Writes the file of a run, line by line.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::agreement::{Called, Said};
use super::{Head, HistoryError, Kept, Line, MOST_OF_RUN, RunFile, Taken, Tested, What, now};
use crate::agreement::Agreement;
use crate::code::Applied;
use crate::engine::{Event as From, FinishReason};
use crate::hash;
use crate::job::Event;

/// Most bytes of a patch in a line.
const MOST_DIFF: usize = 256 << 10;

/// The open file of a run. Its copies write to the same file. Whatever is told returns a sentence the first
/// time that it cannot be written; the run goes on all the same.
#[derive(Clone, Debug)]
pub struct Recorder {
    id: String,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    run: RunFile,
    /// Start of the run in ms since 1970.
    at: u64,
    bytes: u64,
    /// Tokens of each candidate so far.
    tokens: Vec<usize>,
    /// Hashes of the texts of the candidates that ended.
    texts: Vec<Option<u64>>,
    /// The agreement that was written last.
    agreement: Option<Arc<Agreement>>,
    has_failed: bool,
    /// The session has ended.
    is_over: bool,
}

impl Recorder {
    pub(super) fn begin(run: RunFile, file: File, head: &Head) -> Result<Self, HistoryError> {
        let path = run.path.clone();
        let this = Self::new(run, file, head, 0);
        let written = this.lock().write(What::Run(Box::new(head.clone())));
        written.map_err(|source| {
            let _ = std::fs::remove_file(&path);
            HistoryError::Io { path, doing: "written", source }
        })?;
        Ok(this)
    }

    pub(super) fn append(kept: &Kept, file: File) -> Self {
        let bytes = file.metadata().map_or(0, |meta| meta.len());
        let this = Self::new(kept.file.clone(), file, &kept.head, bytes);
        this.lock().texts = kept.candidates().iter().map(|c| c.reason.map(|_| hash::of(c.text.as_bytes()))).collect();
        // A last line that was cut must not take the next one with it.
        if kept.is_cut {
            let _ = this.lock().file.write_all(b"\n");
        }
        this
    }

    fn new(run: RunFile, file: File, head: &Head, bytes: u64) -> Self {
        let id = run.id.clone();
        let (tokens, texts) = (Vec::new(), Vec::new());
        let inner =
            Inner { file, run, at: head.at, bytes, tokens, texts, agreement: None, has_failed: false, is_over: false };
        Self { id, inner: Arc::new(Mutex::new(inner)) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Id of the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Takes an event of the run in.
    pub fn event(&self, event: &Event) -> Option<String> {
        self.lock().event(event)
    }

    /// A candidate was written to its file.
    pub fn applied(&self, candidate: usize, applied: &Applied, diff: String) -> Option<String> {
        let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
        let diff = if diff.len() > MOST_DIFF { String::new() } else { diff };
        let path = std::path::absolute(&applied.path).unwrap_or_else(|_| applied.path.clone());
        let backup = applied.backup.as_deref().and_then(name);
        self.lock().tell(What::Taken(Taken { candidate: Some(candidate), path: Some(path), backup, diff }))
    }

    /// The candidate with this text was handed over, as there is no file.
    pub fn handed_over(&self, text: &str) -> Option<String> {
        let mut this = self.lock();
        let candidate = this.texts.iter().position(|own| *own == Some(hash::of(text.as_bytes())));
        this.tell(What::Taken(Taken { candidate, ..Taken::default() }))
    }

    /// The user has said that these answers are right; the prompt has the examples of them.
    pub fn said(&self, said: Said) -> Option<String> {
        self.lock().tell(What::Said(Box::new(said)))
    }

    /// The session ends while candidates are written. Of those that have not ended, these texts are kept;
    /// what the run tells later is not.
    pub fn cut(&self, texts: Vec<(usize, String)>) {
        let mut this = self.lock();
        for (candidate, text) in texts {
            if slot(&mut this.texts, candidate).is_some_and(|ended| ended.is_none()) {
                let reason = FinishReason::Cancelled;
                this.event(&Event::Source(From::Finished { candidate, reason, text, mean_logprob: None }));
            }
        }
        this.is_over = true;
    }

    /// A written candidate was taken back.
    pub fn undone(&self, backup: Option<String>) -> Option<String> {
        self.lock().tell(What::Undone { backup })
    }
}

impl Inner {
    fn event(&mut self, event: &Event) -> Option<String> {
        let what = match event {
            Event::Source(From::Tokens { candidate, ids, logprobs, .. }) => {
                *slot(&mut self.tokens, *candidate)? += ids.len().max(logprobs.len());
                return None;
            }
            Event::Source(From::Finished { candidate, reason, text, mean_logprob }) => {
                *slot(&mut self.texts, *candidate)? = Some(hash::of(text.as_bytes()));
                let tokens = *slot(&mut self.tokens, *candidate)?;
                let mean_logprob = mean_logprob.filter(|mean| mean.is_finite());
                What::Finished { candidate: *candidate, text: text.clone(), tokens, mean_logprob, reason: *reason }
            }
            Event::Source(From::Broken { candidate, why }) => What::Broken { candidate: *candidate, why: why.clone() },
            Event::Source(From::Done(summary)) => What::Written {
                ranking: summary.ranking.clone(),
                tokens: summary.tokens,
                tokens_per_second: Some(summary.tokens_per_second).filter(|speed| speed.is_finite()),
            },
            Event::Source(From::Refused(why) | From::Failed(why)) => What::Failed { why: why.clone() },
            Event::Added { candidate, of, text } => {
                *slot(&mut self.texts, *candidate)? = Some(hash::of(text.as_bytes()));
                What::Edited { candidate: *candidate, of: *of, text: text.clone() }
            }
            Event::Round { number, candidates, told, .. } => {
                What::Round { number: *number, first: candidates.start, n: candidates.len(), told: *told }
            }
            Event::Duplicate { candidate, of } => What::Duplicate { candidate: *candidate, of: *of },
            Event::Verdict { candidate, outcome } => What::Verdict(Box::new(Tested::of(*candidate, outcome))),
            Event::Pick(candidate) => What::Pick { candidate: *candidate },
            Event::Done(outcome) => {
                let error = self.agreement(outcome.agreement.as_ref());
                if error.is_some() {
                    return error;
                }
                What::Ended { ranking: outcome.summary.ranking.clone(), picked: outcome.picked }
            }
            Event::Source(From::Prefill { .. } | From::Scored { .. } | From::Step(_))
            | Event::Preparing(_)
            | Event::Agreement(_)
            | Event::Uncalled(_)
            | Event::Testing(_) => return None,
        };
        self.tell(what)
    }

    /// Writes what the candidates agree on, if that is new.
    fn agreement(&mut self, agreement: Option<&Arc<Agreement>>) -> Option<String> {
        let new = agreement.filter(|new| self.agreement.as_ref().is_none_or(|old| !Arc::ptr_eq(old, new)))?;
        self.agreement = Some(new.clone());
        self.tell(What::Agreement(Box::new(Called::of(new)?)))
    }

    /// Writes a line; a sentence if that fails for the first time.
    fn tell(&mut self, what: What) -> Option<String> {
        let error = self.write(what).err().filter(|_| !std::mem::replace(&mut self.has_failed, true))?;
        Some(format!(
            "the rest of this run is not kept: {} cannot be written: {error} (`history = false` keeps no runs)",
            self.run.path.display()
        ))
    }

    /// Writes a line in one piece, so that nobody ever sees two mixed.
    fn write(&mut self, what: What) -> std::io::Result<()> {
        if self.has_failed || self.is_over {
            return Ok(());
        }
        let line = Line { ms: now().saturating_sub(self.at), what };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        if self.bytes + text.len() as u64 > MOST_OF_RUN {
            let most = MOST_OF_RUN >> 20;
            return Err(std::io::Error::other(format!("it would be larger than {most} MiB, the most for one run")));
        }
        self.bytes += text.len() as u64;
        self.file.write_all(&text)
    }
}

/// The place of a candidate in a list that grows; none for an index that no run has.
fn slot<T: Clone + Default>(list: &mut Vec<T>, candidate: usize) -> Option<&mut T> {
    if candidate >= crate::engine::MAX_CANDIDATES {
        return None;
    }
    if candidate >= list.len() {
        list.resize(candidate + 1, T::default());
    }
    list.get_mut(candidate)
}
