//! Everything the screen shows.

use std::sync::Arc;

use super::answer::Answering;
use super::calls::Check;
use super::candidate::{Candidate, Testing};
use super::diff::Diff;
use super::draft::Draft;
use super::find::{Filter, Search};
use super::palette::Palette;
use super::past::Past;
use super::picker::Picking;
use super::progress::{EVERY_MS, Progress};
use super::run::Run;
use super::tokens::{Colouring, Insight};
use super::watch::Watch;
use super::wish::{Wish, wished};
use super::written::Written;
use crate::engine::GenerateOptions;
use crate::job::{Job, JobError, Task};
use crate::language::Language;
use crate::source::SourceInfo;
use crate::trial::Protection;
use crate::tui::keymap::{Action, Context, Keymap};
use crate::tui::layout::{Arrangement, Layout, Measure, Wants, arrange};
use crate::tui::text::{self, DisplayRow};
use crate::untrusted::code;

/// How long the second Ctrl-C may take, in ms.
pub const ARM_MS: u64 = 1500;
/// How long a notice is shown at most, in ms.
pub const NOTICE_MS: u64 = 6000;
/// A question that opened by itself ignores a yes for so long, in ms: it was meant for something else.
pub const IGNORE_YES_MS: u64 = 300;

/// Part of the screen that hears the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The prompt editor.
    Prompt,
    /// The candidates, or the start screen.
    Panes,
}

/// State of loading models and sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loading {
    /// Not yet.
    Opening,
    Ready(SourceInfo),
    /// They cannot be had.
    Failed(String),
}

/// The user's answer about tests without isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Not asked yet.
    Unknown,
    /// Run them.
    Given,
    /// Do not run them.
    Refused,
}

/// As long as what a notice is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum While {
    /// It stays true.
    Always,
    /// The models are being loaded.
    Loading,
    /// The candidate is being written.
    Writing(usize),
    /// Candidates are being written.
    Generating,
    /// The generation is asked to stop.
    Stopping,
    /// The models are asked for a head.
    Asking,
}

/// A line that goes away by itself: with the next key, with time, or as soon as it is no longer true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub text: String,
    /// As long as what it is true.
    pub during: While,
    /// When it goes, in ms.
    pub until: u64,
}

/// Question to the user, before anything else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Run tests that nothing isolates?
    Unprotected {
        /// When it opened.
        since: u64,
    },
    /// Take a candidate that has not passed its tests?
    Take { candidate: usize },
    /// Take back what was written earlier in this session?
    UndoEarlier,
}

/// The state of the screen.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
pub struct State {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The time of the last message, in ms.
    pub now: u64,
    /// The time of the last key, in ms.
    pub last_key: u64,
    pub job: Arc<Job>,
    /// Options as set at the start; number of candidates and seed change.
    pub options: GenerateOptions,
    pub keys: Keymap,
    /// State of loading models and sandbox.
    pub loading: Loading,
    /// Bytes of the models that have been read.
    pub opening: Progress,
    /// Protection of the user from the code under test.
    pub protection: Protection,
    /// The user's answer about tests without isolation.
    pub consent: Consent,
    /// The first pass ends what is still being written.
    pub stop_on_pass: bool,
    /// The prompt being edited.
    pub draft: Draft,
    /// First row of the prompt in view on the start screen.
    pub prompt_top: usize,
    /// Part of the screen that hears the keys.
    pub focus: Focus,
    /// The picker of functions, and requests for another one.
    pub picking: Picking,
    /// Actions and settings to choose from.
    pub palette: Palette,
    /// The current generation.
    pub run: Option<Run>,
    /// Name of the next generation.
    pub next_run: u64,
    /// Generate as soon as the models are ready.
    pub eager: bool,
    /// First row of the help, while it is open.
    pub help: Option<usize>,
    /// First row of the output, while the results are open.
    pub results: Option<usize>,
    /// The selected row, while the table of calls is open.
    pub calls: Option<usize>,
    /// The right answer to a call, while the user types it.
    pub answering: Option<Answering>,
    /// A change that the user wants of the function.
    pub wish: Wish,
    /// Calls whose right answer the user has said.
    pub checks: Vec<Check>,
    /// The output of tests is hidden where it has room in the results, and shown where it has none.
    pub output: bool,
    /// The open view of differences.
    pub diff: Option<Diff>,
    /// A text to search for.
    pub search: Option<Search>,
    /// The body that the function has in its file.
    pub own_body: Option<String>,
    /// The open question.
    pub question: Option<Question>,
    /// The focused candidate alone.
    pub zoom: bool,
    /// Knowledge of the source about its tokens.
    pub insight: Option<Insight>,
    /// Property that code is coloured by.
    pub colouring: Colouring,
    /// In zoom the text before the code is shown.
    pub said: bool,
    /// Long lines are wrapped.
    pub wrap: bool,
    /// How the candidates are arranged.
    pub arrangement: Arrangement,
    /// The terminal reports the mouse.
    pub mouse: bool,
    /// The last error; stays until it is dismissed or tried again.
    pub error: Option<String>,
    /// The file is not what was read.
    pub stale: bool,
    /// A line that goes away by itself.
    pub notice: Option<Notice>,
    /// The action that leaves when it is asked for again, and until when.
    pub armed: Option<(Action, u64)>,
    /// The run and the candidate of it that is in the file.
    pub applied: Option<(u64, usize)>,
    /// Writes before that in this session.
    pub written: Written,
    /// All runs of the function; the shown one is in `run`.
    pub past: Past,
    /// Following of the editor.
    pub watch: Watch,
}

impl State {
    /// The screen before anything happened.
    pub fn new(job: Arc<Job>, options: GenerateOptions, keys: Keymap, consent: bool) -> Self {
        let editable = job.editable();
        let (own_body, wish) = (job.own_body(), Wish::of(&job));
        let draft = Draft::new(editable.as_deref().unwrap_or_default());
        // Someone who brought a prompt wants candidates; someone who did not wants to write one.
        let focus = if draft.is_blank() && editable.is_some() { Focus::Prompt } else { Focus::Panes };
        Self {
            size: (80, 24),
            now: 0,
            last_key: 0,
            job,
            options,
            keys,
            loading: Loading::Opening,
            opening: Progress::default(),
            protection: Protection::default(),
            consent: if consent { Consent::Given } else { Consent::Unknown },
            stop_on_pass: false,
            draft,
            prompt_top: 0,
            focus,
            picking: Picking::default(),
            palette: Palette::default(),
            run: None,
            next_run: 1,
            eager: false,
            help: None,
            results: None,
            calls: None,
            answering: None,
            wish,
            checks: Vec::new(),
            output: false,
            diff: None,
            search: None,
            own_body,
            question: None,
            zoom: false,
            insight: None,
            colouring: Colouring::Syntax,
            said: false,
            wrap: true,
            arrangement: Arrangement::Fit,
            mouse: false,
            error: None,
            stale: false,
            notice: None,
            armed: None,
            applied: None,
            written: Written::default(),
            past: Past::default(),
            watch: Watch::default(),
        }
    }

    /// Which keys count.
    pub fn context(&self) -> Context {
        if self.question_is_shown() {
            Context::Question
        } else if self.help.is_some() {
            Context::Help
        } else {
            self.place()
        }
    }

    /// The context below question and help.
    pub fn place(&self) -> Context {
        if self.palette.open.is_some() {
            Context::Palette
        } else if self.picking.open.is_some() {
            Context::Picker
        } else if self.search.as_ref().is_some_and(|search| search.typing) {
            Context::Search
        } else if self.wish.line.is_some() {
            Context::Wish
        } else if self.diff.is_some() {
            Context::Diff
        } else if self.results.is_some() {
            Context::Results
        } else if self.calls.is_some() && self.answering.is_some() {
            Context::Answer
        } else if self.calls.is_some() {
            Context::Calls
        } else if self.focus == Focus::Prompt {
            Context::Prompt
        } else if self.run.is_none() {
            Context::Start
        } else {
            Context::Panes
        }
    }

    /// The question waits while the user types: an answer must be meant as one.
    pub fn question_is_shown(&self) -> bool {
        self.question.is_some() && !self.place().is_typed()
    }

    /// Closes what is open of the shown candidates, with what is being typed there.
    pub fn close_views(&mut self) {
        (self.diff, self.results, self.calls, self.answering) = (None, None, None, None);
        self.run.iter_mut().for_each(|run| run.open_calls(false));
    }

    pub fn layout(&self) -> Layout {
        self.layout_in(self.size)
    }

    /// Where everything is in a terminal of so many columns and rows.
    pub fn layout_in(&self, (width, height): (u16, u16)) -> Layout {
        let run = self.run.as_ref();
        let shown = run.map_or_else(Vec::new, Run::shown);
        let editing = self.focus == Focus::Prompt;
        let wants = Wants {
            shown: &shown,
            focus: run.map_or(0, |r| r.focus),
            arrangement: self.arrangement,
            writing: run.is_some_and(Run::is_live),
            prompt_rows: if editing { u16::try_from(self.draft.lines() + 1).unwrap_or(u16::MAX) } else { 0 },
            zoom: self.zoom && run.is_some(),
            results: self.results.is_some() || self.calls.is_some(),
            diff: self.diff.is_some(),
        };
        let candidate = |index: usize| run.and_then(|r| r.candidates.get(index));
        // Asked for in many widths.
        let notes: Vec<Option<String>> =
            (0..run.map_or(0, |r| r.candidates.len())).map(|index| self.note(index)).collect();
        let note = |index: usize, columns: u16| {
            let note = notes.get(index).and_then(Option::as_ref);
            note.map_or(0, |note| text::wrap_words(note, columns.into()).len())
        };
        let arranged = |folded: bool| {
            let code =
                |index: usize, columns: u16| candidate(index).map_or(0, |c| self.height(c, columns.into(), folded));
            Layout { folded, ..arrange(width, height, wants, &Measure { code: &code, note: &note }) }
        };
        let layout = arranged(false);
        let differs = |run: &Run| run.candidates.iter().any(|candidate| candidate.alike.is_some());
        let may_fold = self.arrangement == Arrangement::Fit && self.search.is_none() && run.is_some_and(differs);
        if !may_fold || layout.is_whole(shown.len()) {
            return layout;
        }
        // Where not all can be seen together, what differs is seen of more.
        Some(arranged(true)).filter(|folded| folded.panes.len() > layout.panes.len()).unwrap_or(layout)
    }

    /// Number of rows of a candidate's text in so many columns.
    fn height(&self, candidate: &Candidate, columns: usize, folded: bool) -> usize {
        let is_wrapped = self.wrap && candidate.widest > columns;
        let is_folded = folded && candidate.alike.is_some();
        if is_wrapped || is_folded {
            self.rows(candidate, columns, folded).len()
        } else {
            candidate.shown.lines().count()
        }
    }

    /// The rows of a candidate's text in so many columns; `folded`: without what is as in the pick.
    pub fn rows(&self, candidate: &Candidate, columns: usize, folded: bool) -> Vec<DisplayRow> {
        // A block in braces ends at the indentation of its function, also before it has come so far.
        let target = self.job.target().filter(|target| target.language != Language::Python);
        // Imports that are shown with a body stand at the margin, and do not move it.
        let body = if candidate.is_live() { &candidate.shown } else { &candidate.text };
        let common = text::common_indent(body);
        let skip = if self.zoom { 0 } else { target.map_or(common, |target| target.indent.min(common)) };
        let rows = text::rows(&candidate.shown, columns, self.wrap, skip);
        match candidate.alike.as_ref().filter(|_| folded) {
            Some(alike) => alike.fold(&rows),
            None => rows,
        }
    }

    /// Which answer of a candidate is wrong, why its tests did not pass, or the marks of one that passed.
    pub fn note(&self, candidate: usize) -> Option<String> {
        let notes = [self.wrong_answer(candidate), self.note_of_tests(candidate)];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        (!notes.is_empty()).then(|| notes.join("\n"))
    }

    fn note_of_tests(&self, candidate: usize) -> Option<String> {
        let run = self.run.as_ref()?;
        if run.shared_cause().is_some() {
            return None;
        }
        let words = match run.testing(candidate) {
            testing @ Testing::Done(verdict) if !testing.passed() || testing.is_marked() => {
                verdict.without_remark(&verdict.lines())
            }
            Testing::Marked(verdict) => verdict.mark()?,
            Testing::Fault(why) => why.clone(),
            _ => return None,
        };
        let lines = words.lines().map(text::shown).collect::<Vec<_>>();
        Some(lines.join("\n").trim().to_owned()).filter(|words| !words.is_empty())
    }

    /// Tests exist.
    pub fn has_tests(&self) -> bool {
        self.job.tests.is_some()
    }

    /// Tests decide, as far as they have ended: those that were found and do not notice the function do not.
    pub fn is_tested(&self) -> bool {
        let all = self.run.iter().flat_map(|run| &run.candidates);
        self.job.is_decided_by_tests(&mut all.filter_map(|candidate| candidate.testing.verdict()))
    }

    /// Tests say something of a candidate: they decide, or one fails with it.
    pub fn is_judged(&self, candidate: usize) -> bool {
        let status = self.run.as_ref().and_then(|run| run.testing(candidate).status());
        self.is_tested() || Filter::Failed.takes(status)
    }

    /// Accepting writes a file.
    pub fn has_file(&self) -> bool {
        self.job.target().is_some_and(|t| t.path.is_some())
    }

    /// The tests would run, or do run, without isolation.
    pub fn is_unprotected(&self) -> bool {
        self.has_tests() && matches!(self.loading, Loading::Ready(_)) && !self.protection.is_isolated()
    }

    /// Name of the function that is completed, for the title.
    pub fn subject(&self) -> String {
        let Some(target) = self.job.target() else { return "free prompt".to_owned() };
        let file = target.path.as_deref().and_then(|p| p.file_name()).map(|f| f.to_string_lossy().into_owned());
        text::one_line(&file.map_or_else(|| target.name.clone(), |file| format!("{file}:{}", target.name)))
    }

    /// The draft length policy, for the status line.
    pub fn draft_length(&self) -> String {
        format!("draft length {}", self.options.draft_length)
    }

    /// Makes the job that of the text in the editor.
    pub fn take_edit(&mut self) -> Result<(), JobError> {
        self.job = self.edited()?;
        Ok(())
    }

    /// The job of the text in the editor.
    fn edited(&self) -> Result<Arc<Job>, JobError> {
        let text = self.draft.text();
        let is_edited = self.job.editable().is_some_and(|old| code(&old) != text);
        if is_edited { self.job.edited(&text).map(Arc::new) } else { Ok(self.job.clone()) }
    }

    /// The job of the next candidates: of the text in the editor, with the wish.
    pub(super) fn next_job(&self) -> Result<Arc<Job>, JobError> {
        Ok(wished(self.edited()?, self.wish.next.as_deref()))
    }

    /// Enter in the prompt writes candidates.
    pub fn enter_sends(&self) -> bool {
        self.draft.enter_sends(self.job.language().is_some())
    }

    /// Puts candidates that say the same into one block.
    pub fn fold(&mut self) {
        if let Some(run) = &mut self.run {
            run.fold(&self.job);
        }
    }

    /// Shows a line for a while.
    pub fn say(&mut self, text: impl Into<String>) {
        self.say_while(While::Always, text);
    }

    /// Shows a line as long as it is true.
    pub fn say_while(&mut self, during: While, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), during, until: self.now + NOTICE_MS });
    }

    /// Something was done: what went wrong before is over.
    pub fn done(&mut self, text: impl Into<String>) {
        self.error = None;
        self.say(text);
    }

    fn holds(&self, during: While) -> bool {
        let run = self.run.as_ref();
        match during {
            While::Always => true,
            While::Loading => self.loading == Loading::Opening && self.eager,
            While::Writing(c) => run.and_then(|r| r.candidates.get(c)).is_some_and(Candidate::is_live),
            While::Generating => run.is_some_and(Run::is_live),
            While::Asking => self.wish.is_asking(),
            While::Stopping => run.is_some_and(|r| r.stopping && r.is_live()),
        }
    }

    /// Shows what went wrong.
    pub fn fail(&mut self, text: impl Into<String>) {
        self.error = Some(text.into());
    }

    pub fn key_name(&self, context: Context, action: Action) -> String {
        self.keys.key(context, action).map_or_else(|| "(unbound)".to_owned(), |k| k.to_string())
    }

    /// A typed sentence waits for the second Enter: reading what that is for takes longer than pressing it.
    fn waits_in_line(&self, by: Action) -> bool {
        by == Action::Submit && self.wish.line.is_some()
    }

    /// When the next [`super::Msg::Tick`] is due; `None` while nothing changes by itself.
    pub fn wake_at(&self) -> Option<u64> {
        let rate = self.run.as_ref().and_then(|run| run.wake_at(self.now));
        let saved = super::watch::wake_at(self);
        let is_opening = self.loading == Loading::Opening && self.opening.total > 0;
        let bar = is_opening.then(|| self.now + EVERY_MS);
        let head = self.wish.wake_at(self.now);
        let armed = self.armed.filter(|&(by, _)| !self.waits_in_line(by)).map(|(_, until)| until);
        [rate, saved, bar, head, armed, self.notice.as_ref().map(|n| n.until)].into_iter().flatten().min()
    }

    /// Lets go of what has passed its time or is no longer true.
    pub fn expire(&mut self) {
        let now = self.now;
        self.armed = self.armed.filter(|&(by, until)| now < until || self.waits_in_line(by));
        self.notice = self.notice.take().filter(|n| now < n.until && self.holds(n.during));
    }
}
