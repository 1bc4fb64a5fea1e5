//! Messages to the core.

use std::sync::Arc;

use super::palette::{Changed, Setting};
use super::past::Recalled;
use super::picker::{Chosen, Found, Preview};
use super::tokens::Insight;
use super::watch::{News, Touched};
use crate::code::HeadPart;
use crate::job::{Event, Job};
use crate::source::{self, SourceInfo};
use crate::trial::Protection;
use crate::tui::event::{Key, Mouse};

/// Something that happened. The time is passed beside it.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    Paste(String),
    /// The mouse was used.
    Mouse(Mouse),
    /// The tab of a candidate was clicked.
    Tab(usize),
    /// The terminal has this many columns and rows.
    Resize(u16, u16),
    /// Time passed: [`super::State::wake_at`] was reached.
    Tick,
    /// Models and sandbox are ready, or the sentence that says why not.
    Opened(Result<(SourceInfo, Protection), String>),
    /// So many bytes of the models have been read, of so many in all.
    Opening {
        done: u64,
        total: u64,
    },
    /// Knowledge of the source about its tokens.
    Insight(Insight),
    /// The models have written the head that a wish speaks of: the stub with it, or nothing where it stays as
    /// it is; and the parts that were not written.
    Head {
        ask: u64,
        stub: Option<String>,
        lacking: Vec<HeadPart>,
    },
    /// Something happened while a head is written.
    HeadEvent {
        ask: u64,
        event: source::Event,
    },
    /// Something happened in a generation.
    Job {
        run: u64,
        event: Event,
    },
    /// A generation began at this time, as the reader is told it.
    Began {
        run: u64,
        /// In ms since 1970.
        at: u64,
        when: String,
    },
    /// The kept runs of the function have been read, the oldest first.
    Recalled(Vec<Recalled>),
    /// The screen begins with a kept run.
    Resumed(Box<Recalled>),
    /// A candidate was written to its file (its path), or why not.
    Applied {
        run: u64,
        candidate: usize,
        /// The file.
        result: Result<String, String>,
    },
    /// The file (its path) is not what was read, so nothing was written.
    Changed(String),
    /// The file (its path) may not be written.
    ReadOnly(String),
    /// The file was read again, or why not.
    Read(Result<Arc<Job>, String>),
    /// The file was read again, and the job is that without the candidate that is in it still.
    ReadWithout(Arc<Job>),
    /// The tests were read again, which a candidate waits for, or why not.
    TestsRead {
        run: u64,
        candidate: usize,
        result: Result<Arc<Job>, String>,
    },
    /// The editor has closed: the text of the candidate and true if nothing else was changed, or why there is
    /// none; nothing if the candidate is as before.
    Edited {
        run: u64,
        candidate: usize,
        result: Result<Option<(String, bool)>, String>,
    },
    /// A patch was written (its path), or why not.
    Saved(Result<String, String>),
    /// A scan has found functions.
    Found {
        scan: u64,
        functions: Vec<Found>,
    },
    /// A scan has ended, and why it left something out.
    Scanned {
        scan: u64,
        remark: Option<String>,
    },
    /// The text of a function was read.
    Preview(Preview),
    /// The job for another function was made; or there is no such function, or why not.
    Targeted {
        ask: u64,
        result: Result<Option<Chosen>, String>,
    },
    /// Files of the job were saved by another program.
    Touched(Touched),
    /// The files of the job were read after that.
    Followed(News),
    /// The settings of the program, with their values.
    Settings(Vec<Setting>),
    /// A setting has another value, or why not.
    Set {
        name: String,
        result: Result<Box<Changed>, String>,
    },
    /// Other models were loaded, or why not.
    Reopened(Result<SourceInfo, String>),
    /// The job has other tests now.
    OtherTests(Arc<Job>),
    /// A setting was written to this file, or why not.
    Kept(Result<String, String>),
    /// The names in the folder of a typed path.
    Names {
        line: String,
        names: Vec<String>,
    },
    /// There is no such theme.
    NoTheme {
        name: String,
        why: String,
    },
    /// The last change of a file was taken back, in words, or why not.
    Undone(Result<String, String>),
    /// Answer to `Effect::Stands`: the lines that were written last are still in the file.
    Stands(bool),
    /// A text was sent to the clipboard, or why not.
    Copied(Result<String, String>),
    /// Something outside the core failed.
    Fault(String),
}
