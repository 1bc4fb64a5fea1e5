//! Code as text: the function under the cursor, its prompt, splicing a candidate into a file.
//!
//! Knows neither engine nor screen.

use std::ops::Range;
use std::path::PathBuf;

use crate::language::Language;

/// What the user pointed at: a file and a place in it, as in `stats.py:mean`, `stats.py:12`, `stats.py::Class::method`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSpec {
    /// The file.
    pub path: PathBuf,
    /// The place.
    pub place: Place,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing said: the only, or the first unfinished, function.
    Any,
    /// A function by name; methods as `Class.method` or `Class::method`.
    Function(String),
    /// The function that holds this line (1-based).
    Line(usize),
}

impl TargetSpec {
    /// Reads `FILE`, `FILE:FUNCTION`, `FILE:LINE`, `FILE::Class::method`. An existing file of exactly this name wins.
    pub fn parse(_text: &str) -> Result<Self, CodeError> {
        todo!()
    }
}

/// A source file as read, with the function to complete found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The file; `None` for the built-in example and other text without a file.
    pub path: Option<PathBuf>,
    /// Language of the file.
    pub language: Language,
    /// The file's bytes as read, to notice later changes.
    pub original: Vec<u8>,
    /// The text: no byte order mark, line ends `\n`.
    pub text: String,
    /// Name of the function, dotted for methods.
    pub name: String,
    /// Its last name: what tests call.
    pub entry_point: String,
    /// Bytes of `text` from the first decorator or `def` to the end of the body.
    pub function: Range<usize>,
    /// Bytes of `text` that a candidate replaces: from the start of the line after signature and docstring to the end of the body. May be empty.
    pub body: Range<usize>,
    /// Columns of indentation of the `def` line.
    pub indent: usize,
    /// Line of the `def`, 1-based.
    pub line: usize,
}

impl Target {
    /// Reads the file and finds the function.
    pub fn read(_spec: &TargetSpec) -> Result<Self, CodeError> {
        todo!()
    }

    /// Finds a function in text that has no file.
    pub fn in_text(_text: &str, _language: Language, _place: &Place) -> Result<Self, CodeError> {
        todo!()
    }

    /// The prompt for the model: what the stub needs (imports and constants it names, the header of its class) and the stub
    /// up to where the body begins. Ends with a newline.
    pub fn prompt(&self) -> String {
        todo!()
    }

    /// The whole text with `candidate` in place of the body. `candidate` is the model's text after [`Target::prompt`].
    pub fn splice(&self, _candidate: &str) -> String {
        todo!()
    }

    /// Whether the docstring holds `>>>` examples.
    pub fn has_doctests(&self) -> bool {
        todo!()
    }

    /// Writes `candidate` into the file: atomically, keeping mode, line ends, byte order mark and the final newline. Refuses
    /// when the file is not what was read. Returns the way back.
    pub fn apply(&self, _candidate: &str) -> Result<Applied, CodeError> {
        todo!()
    }
}

/// A change written to a file, and the way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The file.
    pub path: PathBuf,
    /// Its bytes before.
    pub before: Vec<u8>,
    /// Its bytes after.
    pub after: Vec<u8>,
    /// A copy of the file as it was, kept on disk.
    pub backup: Option<PathBuf>,
}

impl Applied {
    /// Puts the file back as it was. Refuses when it has changed since.
    pub fn undo(&self) -> Result<(), CodeError> {
        todo!()
    }
}

/// Where a function body that starts at the beginning of `text` ends: the byte length to keep once a line has begun that no longer
/// belongs to it, `None` while it may go on. `indent` is the indentation of the `def` line.
pub fn function_end(_language: Language, _indent: usize, _text: &str) -> Option<usize> {
    todo!()
}

/// `text` in a form in which two candidates that differ only in white space, blank lines and comments are equal.
pub fn normalise(_language: Language, _text: &str) -> String {
    todo!()
}

/// Why something could not be done with a piece of code.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
