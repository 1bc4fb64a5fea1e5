//! The function to complete, found in its file.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use similar::get_close_matches;

use super::rules::{self, Function};
use super::{Applied, CodeError, Place, TargetSpec, near, placeholder, text};
use crate::files;
use crate::language::Language;

/// Most functions in a message.
const MAX_LISTED: usize = 8;

/// A source file, with the function to complete found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The file; `None` for the built-in example and other text without a file.
    pub path: Option<PathBuf>,
    /// Language of the file.
    pub language: Language,
    /// The file's bytes as read, to notice later changes.
    pub original: Vec<u8>,
    /// The text with the edited stub, without byte order mark, line ends `\n`.
    pub text: String,
    /// Name of the function, dotted for methods.
    pub name: String,
    /// Bytes of `text` from the first decorator or `def` to the end of the body. Where blocks stand in
    /// braces: from the comments and attributes above to after the closing brace.
    pub function: Range<usize>,
    /// Bytes of `text` that a candidate replaces: from the start of the line after signature and docstring to
    /// the end of the body (from the colon, for a body on the line of the `def`). In languages with braces:
    /// their inside. May be empty.
    pub body: Range<usize>,
    /// Columns of indentation of the `def` line.
    pub indent: usize,
    /// Line of the `def`, 1-based.
    pub line: usize,
    /// Bytes of `text` that hold the docstring, with its quotes.
    pub docstring: Option<Range<usize>>,
    /// Text between the text before the body and a candidate: empty, or enough to put the candidate on a line
    /// of its own.
    pub(super) lead: String,
    /// Text between a candidate and the text after the body.
    pub(super) tail: String,
    /// White space that the body's lines begin with in this file.
    pub(super) body_indent: Option<String>,
    /// Start of the shown and edited stub: the start of a line.
    pub(super) stub: usize,
    /// Lines under the stub, which stay in front of a candidate, except for comments at their end that ask
    /// for the rest.
    pub(super) typed: String,
    /// The heads of the classes and functions around it, outermost first.
    pub(super) around: Vec<Range<usize>>,
    /// The names that code in its stub mentions.
    pub(super) names: HashSet<String>,
    /// The function as read from the file, if its stub has been edited since.
    pub(super) read: Option<Box<Self>>,
    prompt: String,
}

struct Source {
    path: Option<PathBuf>,
    language: Language,
    original: Vec<u8>,
    text: String,
}

impl Target {
    /// Reads the file and finds the function.
    pub fn read(spec: &TargetSpec) -> Result<Self, CodeError> {
        Self::in_bytes(spec, read_bytes(&spec.path)?)
    }

    /// Reads the file without a change that was written, and finds the function. An error if the written lines
    /// are other ones now.
    pub fn read_without(spec: &TargetSpec, applied: &Applied) -> Result<Self, CodeError> {
        Self::in_bytes(spec, applied.taken_out()?.1)
    }

    fn in_bytes(spec: &TargetSpec, original: Vec<u8>) -> Result<Self, CodeError> {
        let path = &spec.path;
        let language = language_of(path)?;
        if !original.is_ascii() {
            utf8_declared(path, language, &original)?;
        }
        let text = text::decode(&original).map_err(|offset| CodeError::NotUtf8 {
            path: path.clone(),
            offset,
            line: text::line_of(&original, offset),
        })?;
        Source { path: Some(path.clone()), language, original, text }.find(&spec.place)
    }

    /// Finds a function in a text that an editor has under this path, saved or not.
    pub fn in_editor(path: &Path, text: &str, place: &Place) -> Result<Self, CodeError> {
        let original = text.as_bytes().to_vec();
        let text = text::decode_str(text).0.into_owned();
        Source { path: Some(path.to_owned()), language: language_of(path)?, original, text }.find(place)
    }

    /// Finds a function in text that has no file.
    pub fn in_text(text: &str, language: Language, place: &Place) -> Result<Self, CodeError> {
        let original = text.as_bytes().to_vec();
        let text = text::decode_str(text).0.into_owned();
        Source { path: None, language, original, text }.find(place)
    }

    /// The function that `text` ends in, if any. All of the text is the prompt.
    pub(super) fn at_end(text: &str, language: Language) -> Option<Self> {
        let mut whole = text::decode_str(text).0.into_owned();
        let mut this = reaching(&whole, language, 0)?;
        let mut typed = String::new();
        if !whole[this.body.start..].trim().is_empty() {
            typed = whole.split_off(this.body.start);
            this.end_at(whole.len());
        }
        let source = Source { path: None, language, original: whole.as_bytes().to_vec(), text: whole };
        Some(Self { prompt: text.to_owned(), typed, ..source.target(&[], &this) })
    }

    /// The prompt for the model: the imports and constants that the stub names, the header of its class, and
    /// the stub up to the start of a candidate. A plain function that needs nothing else is only its stub.
    pub fn prompt(&self) -> String {
        self.prompt.clone()
    }

    /// The function as it was read, before its stub was edited.
    pub(super) fn as_read(&self) -> &Self {
        self.read.as_deref().unwrap_or(self)
    }

    /// The stub shown in an editor: as in the file, up to the start of a candidate.
    pub fn stub(&self) -> String {
        let line_end = if self.lead.is_empty() && !self.text[..self.body.start].ends_with('\n') { "\n" } else { "" };
        [&self.text[self.stub..self.body.start], &self.lead, line_end, &self.typed].concat()
    }

    /// Start of the stub in the text: the start of a line.
    pub fn stub_start(&self) -> usize {
        self.stub
    }

    /// The heads of the classes and functions around it, outermost first.
    pub fn around(&self) -> &[Range<usize>] {
        &self.around
    }

    /// The names that code in its stub mentions, also in examples and between back quotes.
    pub fn names(&self) -> &HashSet<String> {
        &self.names
    }

    /// The text after a candidate.
    pub fn after(&self) -> String {
        format!("{}{}", self.tail, &self.text[self.body.end..])
    }

    /// The body that it has in its file; none if it is a placeholder.
    pub fn own_body(&self) -> Option<&str> {
        let read = self.as_read();
        let functions = (rules::of(read.language).functions)(&read.text);
        let is_finished = functions.iter().any(|function| function.line == read.line && function.finished);
        is_finished.then(|| &read.text[read.body.clone()])
    }

    /// The function as it is in its file, from its stub on, in whole lines; none if it has no body there.
    pub fn present(&self) -> Option<String> {
        self.own_body()?;
        let read = self.as_read();
        Some(read.text[read.stub..read.function.end].trim_end().to_owned() + "\n")
    }

    /// The stub, where it is not the one of the file any more.
    pub fn changed_head(&self) -> Option<String> {
        let stub = self.stub();
        (stub != self.as_read().stub()).then_some(stub)
    }

    /// Returns true if a completion makes the function that its file has already.
    pub fn is_as_before(&self, completion: &str) -> bool {
        let normalised = |function: &str| super::normalise(self.language, function);
        let is_same = |body: &str| normalised(&self.whole(completion)) == normalised(&self.as_read().whole(body));
        self.changed_head().is_none() && self.own_body().is_some_and(is_same)
    }

    /// This target with a body that is begun up to byte `at`.
    fn begun_to(mut self, at: usize) -> Self {
        self.typed = self.text[self.body.start..at].to_owned();
        self.names.extend(super::names(self.language, &self.typed));
        self.prompt.push_str(&self.typed);
        self
    }

    /// The lines under the stub that stay in the file.
    pub(super) fn kept(&self) -> &str {
        &self.typed[..placeholder::above(self.language.line_comment(), &self.typed, self.typed.len())]
    }

    /// This target with another stub. Head and docstring may differ. Whole lines under it stay in front of a
    /// candidate.
    pub fn with_stub(&self, stub: &str) -> Result<Self, CodeError> {
        let read = self.as_read();
        if stub == read.stub() {
            return Ok(read.clone());
        }
        let mut text = format!("{}{}\n", &read.text[..read.stub], stub.trim_end());
        let mut this =
            reaching(&text, read.language, read.stub).ok_or(CodeError::NotOpen { language: read.language.title() })?;
        // Candidates go under the last function; what ends the one above it is cut off with the old stub.
        let is_left = |f: &Function| {
            f.range.start >= read.stub && f.range.end <= this.range.start && f.is_open() && !f.declaration
        };
        if let Some(left) = (rules::of(read.language).functions)(&text).into_iter().find(is_left) {
            return Err(CodeError::SecondFunction { first: left.name, second: this.name });
        }
        let typed = text.split_off(this.body.start);
        // The placeholder of the body stays, so that the text without a candidate can still be parsed.
        let rest = if read.lead.is_empty() { read.body.start } else { read.body.end };
        this.end_at(text.len());
        this.body.end += read.body.end - rest;
        this.range.end += read.function.end - rest;
        this.tail.clone_from(&read.tail);
        text.push_str(&read.text[rest..]);
        let functions = (rules::of(read.language).functions)(&text);
        let source = Source { path: read.path.clone(), language: read.language, original: read.original.clone(), text };
        let mut target = source.target(&functions, &this);
        target.prompt.push_str(&typed);
        Ok(Self { stub: read.stub, typed, read: Some(Box::new(read.clone())), ..target })
    }

    /// Returns true if the docstring holds `>>>` examples. Only Python has docstrings in this sense.
    pub fn has_doctests(&self) -> bool {
        self.docstring_lines().any(|line| line.starts_with(">>>"))
    }

    /// Returns true if one of them states or asserts an expected result. Others are written for the reader
    /// alone.
    pub fn has_telling_doctests(&self) -> bool {
        let mut is_in_example = false;
        self.docstring_lines().any(|line| {
            let is_code = line.starts_with(">>>") || (is_in_example && line.starts_with("..."));
            let tells = if is_code { line.contains("assert") } else { is_in_example && !line.is_empty() };
            is_in_example = is_code;
            tells
        })
    }

    /// The lines of the docstring, without their indentation and its quotes.
    pub(super) fn docstring_lines(&self) -> impl Iterator<Item = &str> {
        let docstring = self.docstring.clone().and_then(|d| self.text.get(d)).unwrap_or_default();
        let inside = docstring.trim_start_matches(['r', 'R', 'u', 'U']);
        let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| inside.starts_with(quotes));
        let inside = quotes.map_or(inside, |quotes| {
            let inside = &inside[quotes.len()..];
            inside.strip_suffix(quotes).unwrap_or(inside)
        });
        inside.lines().map(|line| line.trim_start_matches([' ', '\t']))
    }

    /// This function in a file whose bytes are now `bytes`. `None` unless it is there as it was, and once.
    pub(super) fn moved_to(&self, bytes: Vec<u8>) -> Option<Self> {
        if let Some(read) = &self.read {
            return read.moved_to(bytes)?.with_stub(&self.stub()).ok();
        }
        let text = text::decode(&bytes).ok()?;
        let wanted = self.text.get(self.function.clone())?;
        let alike = |text: &str| {
            let is_around = |f: &Function| {
                let heads = f.parents.iter().map(|head| &text[head.clone()]);
                heads.eq(self.around.iter().map(|head| &self.text[head.clone()]))
            };
            let mut functions = (rules::of(self.language).functions)(text);
            functions.retain(|f| f.name == self.name && f.indent == self.indent && is_around(f));
            functions.retain(|f| text.get(f.range.clone()) == Some(wanted));
            functions
        };
        // Of two that were alike nothing tells which one is left.
        let (then, now) = (alike(&self.text), alike(&text));
        let ([_], [this]) = (then.as_slice(), now.as_slice()) else { return None };
        let (start, line) = (this.range.start, Place::Line(this.line));
        let source = Source { path: self.path.clone(), language: self.language, original: bytes, text };
        let moved = source.find(&line).ok()?;
        (moved.function.start == start).then_some(moved)
    }
}

impl Source {
    fn find(self, place: &Place) -> Result<Target, CodeError> {
        // Python and JavaScript begin a new line there, and functions would reach too far.
        if let (Some(path), Some(at)) = (&self.path, self.text.find('\r')) {
            return Err(CodeError::LoneReturn { path: path.clone(), line: text::line_of(self.text.as_bytes(), at) });
        }
        let functions = (rules::of(self.language).functions)(&self.text);
        let file = self.path.as_ref().map_or_else(|| "the text".to_owned(), |p| p.display().to_string());
        let this = choose(file, &self.text, &functions, place)?;
        let of_file = self.path.is_some();
        let target = self.target(&functions, this);
        Ok(match this.begun.filter(|_| of_file && target.lead.is_empty()) {
            Some(at) => target.begun_to(at),
            None => target,
        })
    }

    /// The target that is `this`, one of the `functions` of the text.
    fn target(self, functions: &[Function], this: &Function) -> Target {
        let Self { path, language, original, text } = self;
        Target {
            prompt: (rules::of(language).prompt)(&text, functions, this),
            stub: text::line_start(&text, this.stub),
            typed: String::new(),
            around: this.parents.clone(),
            names: (rules::of(language).names)(&text, this).into_iter().map(str::to_owned).collect(),
            read: None,
            name: this.name.clone(),
            function: this.range.clone(),
            body: this.body.clone(),
            indent: this.indent,
            line: this.line,
            docstring: this.docstring.clone(),
            lead: this.lead.clone(),
            tail: this.tail.clone(),
            body_indent: this.body_indent.clone(),
            path,
            language,
            original,
            text,
        }
    }
}

fn language_of(path: &Path) -> Result<Language, CodeError> {
    let endings = || Language::ALL.iter().flat_map(|l| l.extensions()).map(|e| format!(".{e}"));
    let known = || endings().collect::<Vec<_>>().join(", ");
    Language::of_path(path).ok_or_else(|| CodeError::UnknownLanguage { path: path.into(), known: known() })
}

/// The outermost function behind byte `from` that `text` ends in, with its head or with lines of its own
/// under it.
fn reaching(text: &str, language: Language, from: usize) -> Option<Function> {
    let rules = rules::of(language);
    let is_blank = |from: usize| text[from..].trim().is_empty();
    let goes_on = |f: &Function| {
        let on_own_lines = is_blank(f.body.start) || text[..f.body.start].ends_with('\n');
        f.range.start >= from && on_own_lines && is_blank(f.body.end) && (rules.goes_on)(text, f)
    };
    (rules.functions)(text).into_iter().find(goes_on)
}

/// Refuses a file that declares another encoding than UTF-8.
pub(super) fn utf8_declared(path: &Path, language: Language, bytes: &[u8]) -> Result<(), CodeError> {
    match (rules::of(language).encoding)(bytes) {
        Some((encoding, line)) => Err(CodeError::OtherEncoding { path: path.to_path_buf(), encoding, line }),
        None => Ok(()),
    }
}

/// The bytes of a source file.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, CodeError> {
    let path_buf = path.to_path_buf();
    if path.is_dir() {
        return Err(CodeError::IsFolder { path: path_buf });
    }
    files::read(path, files::TEXT).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => {
            let folder = std::env::current_dir().ok().filter(|_| path.is_relative());
            CodeError::NoFile { folder, nearest: near::nearest(path), path: path_buf }
        }
        _ => CodeError::Io { path: path_buf, doing: "read", source },
    })
}

fn choose<'f>(file: String, text: &str, functions: &'f [Function], place: &Place) -> Result<&'f Function, CodeError> {
    if functions.is_empty() {
        return Err(CodeError::NoFunctions { file });
    }
    match place {
        Place::Any => match (functions.iter().find(|f| f.is_open() && !f.declaration), functions) {
            (Some(unfinished), _) => Ok(unfinished),
            (None, [only]) => Ok(only),
            _ => Err(CodeError::NothingUnfinished { list: list(functions), file }),
        },
        Place::Function(name) => named(file, functions, &name.replace("::", ".")),
        Place::Line(line) => at_line(text, functions, *line).ok_or_else(|| CodeError::NotInFunction {
            file,
            line: *line,
            lines: text.lines().count(),
            list: list(functions),
        }),
    }
}

/// The function with this dotted name, or the only one whose name ends with it. Of several with one name, the
/// only unfinished one.
fn named<'f>(file: String, functions: &'f [Function], name: &str) -> Result<&'f Function, CodeError> {
    let suffix = format!(".{name}");
    let mut matching: Vec<&Function> = functions.iter().filter(|f| f.name == name).collect();
    if matching.is_empty() {
        matching = functions.iter().filter(|f| f.name.ends_with(&suffix)).collect();
    }
    for keep in [|f: &Function| !f.declaration, Function::is_open] {
        if matching.len() > 1 && matching.iter().any(|f| keep(f)) {
            matching.retain(|f| keep(f));
        }
    }
    match matching.as_slice() {
        [one] => Ok(one),
        [] => {
            let names: Vec<&str> = functions.iter().flat_map(|f| [&*f.name, last_name(&f.name)]).collect();
            let nearest = get_close_matches(name, &names, 1, 0.6).first().map(|n| (*n).to_owned());
            Err(CodeError::NoSuchFunction { file, name: name.to_owned(), nearest, list: list(functions) })
        }
        several => {
            let lines = several.iter().map(|f| f.line).collect();
            Err(CodeError::Ambiguous { file, name: name.to_owned(), lines })
        }
    }
}

/// The last part of a dotted name.
pub(super) fn last_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The innermost function that holds the 1-based `line`, including the comment that describes it. Blank lines
/// after a function belong to it: the cursor stands there before the body is written.
fn at_line<'f>(text: &str, functions: &'f [Function], line: usize) -> Option<&'f Function> {
    let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let at = starts.nth(line.checked_sub(1)?)?;
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    let holds = |f: &&Function| {
        let blank_between = || at >= f.range.end && text[f.range.end..end].trim().is_empty();
        f.stub.min(f.range.start) <= end && (at < f.range.end || blank_between())
    };
    functions.iter().filter(holds).max_by_key(|f| f.range.start)
}

/// The functions for a message: names with lines, unfinished ones marked.
fn list(functions: &[Function]) -> String {
    let unfinished = |f: &Function| if f.is_open() { ", unfinished" } else { "" };
    let named = functions.iter().take(MAX_LISTED).map(|f| format!("`{}` (line {}{})", f.name, f.line, unfinished(f)));
    let shown = named.collect::<Vec<_>>().join(", ");
    match functions.len().saturating_sub(MAX_LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
