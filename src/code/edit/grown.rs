//! Pieces of a file that an answer repeats with more in them: a type with another field, a constructor with
//! another line.

use std::ops::Range;

use crate::code::words::{Word, words};
use crate::code::{text, without_comments};
use crate::language::Language;

/// A piece of a file with lines that it does not have there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::code) struct Grown {
    /// Its bytes in the file, and its indentation there.
    pub range: Range<usize>,
    pub indent: String,
    /// Its new text, with the indentation of a member or of a helper.
    pub text: String,
    /// Its lines that are new.
    pub added: String,
    pub is_function: bool,
    pub is_member: bool,
}

impl Grown {
    /// The names in its new lines; of a function only those of the object itself.
    pub fn names(&self, language: Language) -> Vec<String> {
        let words = words(language, &self.added);
        let is_own =
            |at: usize| at > 1 && words[at - 1].is('.') && matches!(words[at - 2].name(), Some("self" | "this"));
        let named = (0..words.len()).filter(|&at| !self.is_function || is_own(at));
        named.filter_map(|at| words[at].name().map(str::to_owned)).collect()
    }
}

/// The text of a piece with the lines that `new`, the same piece in an answer, has in addition, and these
/// lines. `None` if `new` lacks a line, changes one other than by words in between, or adds none.
pub(super) fn grown(language: Language, old: &str, new: &str) -> Option<(String, String)> {
    let (old_code, new_code) = (without_comments(language, old), without_comments(language, new));
    let read = |(text, code): (_, _)| -> Vec<Line<'_>> {
        str::lines(text).zip(str::lines(code)).map(|(text, code)| Line::read(language, text, code)).collect()
    };
    let (own, new) = (read((old, &old_code)), read((new, &new_code)));
    let is_new = |line: &Line| !line.words.is_empty() || own.iter().all(|own| own.text.trim() != line.text.trim());
    let (mut out, mut added, mut held) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = new.iter().filter(|line| is_new(line) && !line.text.trim().is_empty());
    for line in &own {
        if line.words.is_empty() {
            held.push(line.text);
            // A docstring is the first statement.
            if line.is_docstring {
                out.append(&mut held);
            }
            continue;
        }
        let mut between = Vec::new();
        let same = loop {
            let next = rest.next()?;
            if next.continues(line) {
                break next;
            }
            between.push(next);
        };
        out.extend(with_code(&between, &mut added));
        out.append(&mut held);
        let is_wider = same.words != line.words;
        added.extend(Some(same.text).filter(|_| is_wider));
        out.push(if is_wider || same.is_spaced(line) { same.text } else { line.text });
    }
    out.extend(with_code(&rest.collect::<Vec<_>>(), &mut added));
    out.append(&mut held);
    let text = |lines: &[&str]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    (!added.is_empty()).then(|| (text(&out), text(&added)))
}

/// The lines without the comments behind the last line of code, and without the docstring in front.
fn with_code<'t>(lines: &[&Line<'t>], added: &mut Vec<&'t str>) -> Vec<&'t str> {
    let code = lines.iter().rposition(|line| !line.words.is_empty()).map_or(0, |last| last + 1);
    let lines = lines[..code].iter().skip_while(|line| line.is_docstring);
    let lines: Vec<&str> = lines.map(|line| line.text).collect();
    added.extend(&lines);
    lines
}

struct Line<'t> {
    text: &'t str,
    /// Without a comma or semicolon at its end.
    words: Vec<Word>,
    /// It holds a part of a docstring of Python, and nothing else.
    is_docstring: bool,
}

impl<'t> Line<'t> {
    fn read(language: Language, text: &'t str, code: &str) -> Self {
        let mut words = words(language, code);
        words.retain(|word| *word != Word::End);
        words.pop_if(|word| word.is(',') || word.is(';'));
        let is_python = language == Language::Python;
        let is_docstring = is_python && words.is_empty() && !text.trim().is_empty() && !text.trim().starts_with('#');
        Self { text, words, is_docstring }
    }

    /// Returns true if it has all words of `old` in their order, and its indentation.
    fn continues(&self, old: &Line<'_>) -> bool {
        let mut own = self.words.iter();
        text::white(self.text, 0) == text::white(old.text, 0) && old.words.iter().all(|word| own.any(|own| own == word))
    }

    /// Returns true if it differs from `old` in white space and in the mark at its end only.
    fn is_spaced(&self, old: &Line<'_>) -> bool {
        let flat = |text: &str| text.split_whitespace().collect::<String>().trim_end_matches([',', ';']).to_owned();
        flat(self.text) == flat(old.text)
    }
}
