//! Effects that the core asks for. Plain data, so that tests compare it whole.

use std::path::PathBuf;
use std::sync::Arc;

use super::watch::Touched;
use crate::job::Job;
use crate::trial::{Input, Observed};
use crate::tui::remembered::Remembered;

/// Something to do; what comes of it returns as a [`super::Msg`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Start a generation.
    Generate {
        /// Its name in all later events.
        run: u64,
        job: Arc<Job>,
        /// Number of candidates.
        n: usize,
        /// Key of the randomness.
        seed: u64,
    },
    /// Ask the models for the head that the wish of a job speaks of.
    Head {
        /// Name of the request in the answer.
        ask: u64,
        job: Arc<Job>,
    },
    /// Nothing waits for a head any more.
    DropHead,
    /// Load the models, which could not be loaded, once more.
    Open,
    /// End all candidates of a generation.
    CancelAll { run: u64 },
    /// End one candidate.
    Cancel { run: u64, candidate: usize },
    /// Write another round of candidates beside those of a generation.
    Round { run: u64 },
    /// Read the tests of the job again, before they are run on a candidate once more.
    ReadTests { run: u64, candidate: usize, job: Arc<Job> },
    /// Run the tests on a candidate once more.
    Test { run: u64, candidate: usize },
    /// Call all candidates on an input of the user's.
    Call { run: u64, input: Input },
    /// Add a candidate that the user has made of another one, and test it.
    Add { run: u64, of: usize, text: String },
    /// Open a candidate in the user's editor, inside its file.
    Edit { run: u64, candidate: usize, text: String },
    /// Write a candidate as a patch beside the file.
    SavePatch { run: u64, text: String },
    /// The user agreed to tests without isolation.
    AllowUnprotected,
    /// End the trials of a generation, and begin none any more.
    CancelTests { run: u64 },
    /// End the tests of one candidate.
    CancelTest { run: u64, candidate: usize },
    /// Write a candidate into the file of the job.
    Apply { run: u64, candidate: usize, text: String },
    /// Make the job anew from its file as it is now.
    ReadAgain,
    /// Make it from its file without the candidate that is in it, which can be taken back as before.
    ReadWithout,
    /// Look for functions: of this file, else of the project. An earlier scan ends.
    Scan {
        /// Its name in later messages.
        scan: u64,
        file: Option<PathBuf>,
    },
    /// End the scan.
    StopScan,
    /// Read the text of the function in a line.
    Preview { path: PathBuf, line: usize },
    /// Make a job for a function, where it was when it was found.
    Target {
        /// Name of the request in the answer.
        ask: u64,
        path: PathBuf,
        /// Its dotted name.
        name: String,
        line: usize,
    },
    /// Make a job for the next unfinished function, of the file or of the project.
    NextTarget { ask: u64 },
    /// This is the job from now on.
    Retarget { job: Arc<Job> },
    /// Test and write the candidates with this job from now on.
    Use { job: Arc<Job> },
    /// Tell when the files of the job are saved by another program, or no more.
    Watch(bool),
    /// Read the files of the job after they were saved.
    Follow(Touched),
    /// The files of the job are now these; a candidate that is in the file may not be taken back any more.
    Adopt { job: Arc<Job> },
    /// Take the last `Apply` back that was not taken back yet.
    Undo,
    /// Find out if the lines of the last `Apply` are still in the file.
    Stands,
    /// Put a text on the clipboard.
    Copy {
        /// The candidate's text.
        text: String,
        /// Copy the whole program with it, not the text alone.
        program: bool,
    },
    /// Read the kept runs of the job's function that are not in the list yet.
    Recall { job: Arc<Job> },
    /// A kept run has this name from now on; its candidates are for this job.
    Belongs {
        run: u64,
        job: Arc<Job>,
        /// Its id.
        kept: String,
    },
    /// The user has said which answers to calls are right; `job` has the examples of them.
    Said { run: u64, answers: Vec<(String, Observed)>, job: Arc<Job> },
    /// Another run is shown.
    Shown { run: u64 },
    /// Ask for so many other tokens beside each one from now on.
    Alternatives(usize),
    /// Tell the settings and their values.
    Settings,
    /// Give a setting of the program a value.
    Set { name: String, value: String },
    /// Tell the names in the folder of a typed path.
    Names(String),
    /// Put a setting into a file of settings.
    Keep { name: String, value: String },
    /// Show this theme.
    Theme(String),
    /// Remember what the screen looks like.
    Remember(Remembered),
    /// Let the terminal report the mouse, or not.
    Mouse(bool),
    /// Draw every cell anew.
    Redraw,
    /// Give the terminal back to the shell until the user returns.
    Suspend,
    /// Leave; with the text of the accepted candidate if there is one.
    Quit {
        /// The accepted candidate's text.
        accept: Option<String>,
    },
}
