//! Errors of operations on code.

use std::path::PathBuf;

/// An error of an operation on code. Every message is a sentence with the next step for the user.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// The place in a file cannot be parsed.
    #[error(
        "`{text}` does not name a place in a file: {problem}; write FILE, FILE:FUNCTION, FILE:Class.method or FILE:LINE"
    )]
    Spec {
        /// The given text.
        text: String,
        /// The problem with it.
        problem: String,
    },
    /// The file does not exist.
    #[error("there is no file {path}{}; check the name and the folder{}", did_you_mean(.nearest.as_ref()), in_folder(.folder.as_ref()))]
    NoFile {
        /// The file.
        path: PathBuf,
        /// A file with a similar name, or with this name in another folder.
        nearest: Option<String>,
        /// The folder against which a relative name was resolved.
        folder: Option<PathBuf>,
    },
    /// The file is a folder.
    #[error("{path} is a folder; name a source file in it")]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{path} cannot be {doing}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The operation: `read`, `written`.
        doing: &'static str,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is not text.
    #[error(
        "{path} is not UTF-8 text: the byte at offset {offset} (line {line}) does not belong there; save the file as UTF-8"
    )]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Offset of the first wrong byte.
        offset: usize,
        /// Its line, 1-based.
        line: usize,
    },
    /// A line end that only some languages know.
    #[error(
        "{path} has a carriage return without a line feed on line {line}, which some tools take for a line end and others do \
         not; save the file with one kind of line ends (LF or CRLF)"
    )]
    LoneReturn {
        /// The file.
        path: PathBuf,
        /// Its line, 1-based, as line feeds count.
        line: usize,
    },
    /// The file declares another encoding than UTF-8.
    #[error(
        "{path} says on line {line} that it is in the encoding {encoding}, and only UTF-8 can be completed here; save the file as UTF-8 and change that line"
    )]
    OtherEncoding {
        /// The file.
        path: PathBuf,
        /// The encoding.
        encoding: String,
        /// The line with the declaration, 1-based.
        line: usize,
    },
    /// The file's language is not known.
    #[error("{path} is not in a language that can be completed here; files that end in {known} can be")]
    UnknownLanguage {
        /// The file.
        path: PathBuf,
        /// Known endings: `.py, .pyi`.
        known: String,
    },
    /// The text has no functions.
    #[error("{file} holds no function; write the signature and a docstring of the one you want first")]
    NoFunctions {
        /// The file, or `the text`.
        file: String,
    },
    /// There is no function of that name.
    #[error("{file} has no function `{name}`{}; it has {list}", did_you_mean(.nearest.as_ref()))]
    NoSuchFunction {
        /// The file, or `the text`.
        file: String,
        /// The name asked for.
        name: String,
        /// A similar name.
        nearest: Option<String>,
        /// The existing functions.
        list: String,
    },
    /// There is more than one function of that name.
    #[error("{file} has {} functions `{name}`, on lines {}; say which one by its line: {file}:{}", .lines.len(), commas(.lines),
        .lines.last().copied().unwrap_or(1))]
    Ambiguous {
        /// The file, or `the text`.
        file: String,
        /// The name asked for.
        name: String,
        /// Lines of the functions, 1-based.
        lines: Vec<usize>,
    },
    /// The line belongs to no function.
    #[error("line {line} of {file} ({lines} lines) is in no function; it has {list}")]
    NotInFunction {
        /// The file, or `the text`.
        file: String,
        /// The line asked for.
        line: usize,
        /// Number of lines.
        lines: usize,
        /// The existing functions.
        list: String,
    },
    /// No function was named, and none of several is unfinished.
    #[error("every function in {file} has a body already; say which one to write again: {list}")]
    NothingUnfinished {
        /// The file, or `the text`.
        file: String,
        /// The existing functions.
        list: String,
    },
    /// The edited stub has no place for a candidate.
    #[error(
        "the text has to end inside of a {language} function, so that there is a place for candidates; keep its head, and leave its end out"
    )]
    NotOpen {
        /// Name of the language.
        language: &'static str,
    },
    /// The edited stub has another function under the one that it began with.
    #[error(
        "`{first}` would be left without a body, as `{second}` stands under it: keep one function without a body in the text"
    )]
    SecondFunction {
        /// Name of the function without a body.
        first: String,
        /// Name of the one under it.
        second: String,
    },
    /// The file has changed since it was read.
    #[error(
        "{path} has changed since it was read, so nothing was written; read it again, or save the candidate as a patch"
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The lines that a candidate brought into the file have changed since.
    #[error(
        "what was written to {path} has changed since, so it was not put back{}", kept_in(.backup.as_ref())
    )]
    ChangedSince {
        /// The file.
        path: PathBuf,
        /// Path of the copy with its earlier text.
        backup: Option<PathBuf>,
    },
    /// The file that a candidate was written to was removed or renamed.
    #[error("{path} is no longer there, so nothing was put back{}", kept_in(.backup.as_ref()))]
    Gone {
        /// The file.
        path: PathBuf,
        /// Path of the copy with its earlier text.
        backup: Option<PathBuf>,
    },
    /// The last change cannot be put back, and one of another file can.
    #[error("{why}; what was written to {other} before can be put back: bass-tui undo {other}")]
    Blocked {
        /// The reason.
        why: Box<Self>,
        /// The other file.
        other: PathBuf,
    },
    /// No change is recorded.
    #[error("nothing that was written{} is left to put back{}", at(.place.as_ref()), last_elsewhere(.elsewhere.as_ref()))]
    NothingWritten {
        /// The file whose changes were meant, or the folder above those that were.
        place: Option<PathBuf>,
        /// The file outside of that folder that was written last.
        elsewhere: Option<PathBuf>,
    },
    /// The file may not be written.
    #[error("{path} is read-only, so nothing was written; make it writable, or save the candidate as a patch")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// There is no file to write to.
    #[error("`{name}` does not come from a file, so there is nothing to write to; copy the candidate instead")]
    NotAFile {
        /// Name of the function.
        name: String,
    },
    /// The candidate holds no code.
    #[error("the candidate for `{name}` is empty, so nothing was written")]
    Empty {
        /// Name of the function.
        name: String,
    },
}

fn in_folder(folder: Option<&PathBuf>) -> String {
    folder.map_or_else(String::new, |f| format!(" (looked in {})", f.display()))
}

fn did_you_mean(nearest: Option<&String>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"))
}

/// The file that is meant, for the sentence.
fn at(place: Option<&PathBuf>) -> String {
    let preposition = |path: &PathBuf| if path.is_dir() { "below" } else { "to" };
    place.map(|path| format!(" {} {}", preposition(path), path.display())).unwrap_or_default()
}

fn last_elsewhere(path: Option<&PathBuf>) -> String {
    let said = |path: &PathBuf| {
        format!("; the last write was elsewhere, and is put back by: bass-tui undo {}", path.display())
    };
    path.map(said).unwrap_or_default()
}

fn kept_in(backup: Option<&PathBuf>) -> String {
    backup.map_or_else(String::new, |b| format!("; its earlier text is in {}", b.display()))
}

fn commas(lines: &[usize]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
