//! Files that are written and put back.

use std::path::Path;

use super::World;
use crate::code::CodeError;
use crate::tui::app::Msg;

impl World {
    pub(super) fn save_patch(&self, run: u64, text: &str) {
        let job = self.job_of(run);
        let target = job.target().ok_or_else(|| "there is no file that a patch could change".to_owned());
        let saved = target.and_then(|target| target.save_patch(text, Path::new(".")).map_err(|why| why.to_string()));
        self.tell(Msg::Saved(saved.map(|path| path.display().to_string())));
    }

    pub(super) fn apply(&mut self, run: u64, candidate: usize, text: &str) -> Result<String, CodeError> {
        let job = self.job_of(run);
        let none = || CodeError::NotAFile { name: "the prompt".to_owned() };
        let target = job.target().ok_or_else(none)?;
        let (backups, diff) = (self.keeping.backups(), target.diff(text));
        let applied = self.writing(|| target.apply(text, backups))?;
        let path = applied.path.display().to_string();
        let failed = self.keeping.applied(run, candidate, &applied, diff);
        self.fault(failed);
        self.written.add(&target.name, job.function(text), &applied);
        self.applied = Some((run, applied));
        Ok(path)
    }

    /// Writes files, which is no news of another program.
    fn writing<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.watching {
            Some(watching) => watching.writing(write),
            None => write(),
        }
    }

    pub(super) fn undo(&mut self) -> Result<String, String> {
        let earlier = if self.applied.is_none() { self.earlier.pop() } else { None };
        let (run, applied) = self.applied.as_ref().or(earlier.as_ref()).ok_or("nothing was written")?;
        let said = self.writing(|| applied.undo()).map_err(|e| e.to_string())?;
        let failed = self.keeping.undone(*run, applied);
        self.fault(failed);
        self.written.remove(applied);
        self.applied = None;
        Ok(said)
    }
}
