//! Writes of files in this session: the candidate that is in the file, and functions before it.

use std::path::PathBuf;

use super::state::State;
use super::wish;
use crate::job::label;
use crate::tui::keymap::{Action, Context};

/// Writes of this session besides the one of the shown function.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Functions that can be taken back, the last one last.
    earlier: Vec<Earlier>,
    /// The end of the last write that cannot be taken back any more.
    over: Option<Over>,
}

/// A function that was written earlier in this session.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Earlier {
    /// File and function, for the reader.
    subject: String,
    file: Option<PathBuf>,
}

/// The end of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    TakenBack,
    /// The written lines are other ones now.
    Changed,
}

impl State {
    /// A candidate of the function that is shown is in the file.
    pub fn can_undo(&self) -> bool {
        self.applied.is_some()
    }

    /// This candidate of the shown run is in the file.
    pub fn is_in_file(&self, candidate: usize) -> bool {
        self.run.as_ref().is_some_and(|run| self.applied == Some((run.id, candidate)))
    }

    /// File and function of the write that is taken back where none of the shown function can be.
    pub fn earlier_write(&self) -> Option<&str> {
        self.written.earlier.last().map(|earlier| earlier.subject.as_str())
    }

    /// The candidate that is in the file is no longer one of the text that is shown.
    pub(super) fn leave_written(&mut self) {
        self.wish.leave_done();
        if self.applied.take().is_some() {
            let file = self.job.file().map(Into::into);
            self.written.earlier.push(Earlier { subject: self.subject(), file });
        }
    }
}

/// Why nothing can be taken back; `None` if something can.
pub(super) fn nothing_to_undo(state: &State) -> Option<String> {
    if state.can_undo() || state.earlier_write().is_some() {
        return None;
    }
    let why = match state.written.over {
        None => "nothing was written in this session",
        Some(Over::TakenBack) => "what was written in this session was taken back already",
        Some(Over::Changed) => "what was written in this session was changed in the file since",
    };
    Some(format!("nothing to undo: {why} (`bass-tui undo` in a shell takes back earlier writes)"))
}

/// The last write was taken back, or why not.
pub(super) fn undone(state: &mut State, result: Result<String, String>) {
    let earlier = if state.can_undo() { None } else { state.written.earlier.pop() };
    match result {
        Ok(said) => {
            state.written.over = Some(Over::TakenBack);
            if state.applied.take().is_some() {
                wish::undone(state);
            }
            if earlier.is_some_and(|earlier| earlier.file.as_deref() == state.job.file()) {
                state.stale = true;
                let again = state.key_name(Context::Panes, Action::ReadAgain);
                return state.done(format!("{said}; {again} reads the file again"));
            }
            state.done(said);
        }
        Err(why) => {
            if earlier.is_some() {
                state.written.over = Some(Over::Changed);
            }
            state.fail(why);
        }
    }
}

/// A candidate that was written is to be written again; another program may have changed it meanwhile.
pub(super) fn standing(state: &mut State, stands: bool) {
    let Some((_, candidate)) = state.applied else { return };
    if stands {
        return state.say(format!("{} is in the file already", label(candidate)));
    }
    (state.applied, state.stale) = (None, true);
    state.written.over = Some(Over::Changed);
    let (file, key) = (state.subject(), state.key_name(Context::Panes, Action::ReadAgain));
    state.fail(format!("{file} has changed since {} was written to it; {key} reads it again", label(candidate)));
}
