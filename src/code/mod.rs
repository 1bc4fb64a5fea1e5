//! Code as text: the function under the cursor, its prompt, splicing a candidate into a file.
//!
//! Knows neither engine nor screen. What differs between languages is a row of the table in `rules.rs`; the
//! rest of the room works on text and bytes only. Python is read by its indentation (`python/`); the
//! languages whose blocks stand in braces share `braces/`, and each has a folder with the data that is its
//! own.

mod answer;
mod apply;
mod braces;
mod definition;
mod error;
mod go;
mod javascript;
mod open;
mod outline;
mod patch;
mod python;
mod rules;
mod rust;
mod spec;
mod splice;
mod syntax;
mod target;
mod text;
mod typescript;
mod words;

pub use answer::Asked;
pub use apply::Applied;
pub use error::CodeError;
pub use open::open_function;
pub use outline::{Item, ItemKind, mentioned, outline};
pub use spec::{Place, TargetSpec};
pub use target::Target;
pub use words::{Word, names, words};

use braces::lex::{Kind, Tokens};

use crate::language::Language;

/// A function of a file, for pickers and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionName {
    /// Its name, dotted for methods and nested functions: `Stack.push`.
    pub name: String,
    /// Line of its `def` or its name, 1-based.
    pub line: usize,
    /// Whether it has a body: more than a docstring, comments, or a placeholder such as `pass` or `todo!()`.
    pub finished: bool,
}

/// The functions of `text`, in the order they stand in. Works on code that is broken in places.
pub fn function_names(language: Language, text: &str) -> Vec<FunctionName> {
    let (text, _) = text::decode_str(text);
    let functions = (rules::of(language).functions)(&text);
    functions.into_iter().map(|f| FunctionName { name: f.name, line: f.line, finished: f.finished }).collect()
}

/// The functions of `text` in whose bodies one of these names stands, and that are not called so themselves.
pub fn callers(language: Language, text: &str, called: &[&str]) -> Vec<String> {
    let (text, _) = text::decode_str(text);
    let calls = |function: &rules::Function| {
        let own = function.name.rsplit('.').next().unwrap_or_default();
        let body = text.get(function.body.clone()).unwrap_or_default();
        // Far cheaper than to read all of it as words.
        let may = called.iter().any(|name| body.contains(name));
        may && !called.contains(&own) && names(language, body).iter().any(|name| called.contains(&name.as_str()))
    };
    (rules::of(language).functions)(&text).into_iter().filter(calls).map(|function| function.name).collect()
}

/// Where a function body that starts at the beginning of `text` ends: the byte length to keep, `None` while
/// it may go on. `indent` is the indentation of the `def` line in columns.
///
/// In Python it ends once a line has begun that no longer belongs to it, and what is kept ends after the line
/// end of the last line that is not blank. Where blocks stand in braces it ends with the brace that closes
/// the function. The answer never changes when text is added: once it is `Some(k)`, it is `Some(k)` for every
/// longer text.
pub fn function_end(language: Language, indent: usize, text: &str) -> Option<usize> {
    (rules::of(language).function_end)(indent, text)
}

/// What of the model's `text` is the function's body: cut where the function ends, without its closing brace,
/// without blank lines at the end, line ends `\n`. Ends with exactly one newline unless it is empty.
pub fn trim_candidate(language: Language, indent: usize, text: &str) -> String {
    // As it will stand: the line break at its end can end what would else be open, such as `'}` in Rust.
    let text = format!("{}\n", text.trim_end());
    let kept = text.get(..(rules::of(language).inside)(indent, &text)).unwrap_or(&text);
    let (kept, _) = text::decode_str(kept);
    match kept.trim_end() {
        "" => String::new(),
        kept => format!("{kept}\n"),
    }
}

/// `text` in a form in which two candidates that differ only in white space, blank lines and comments are
/// equal.
pub fn normalise(language: Language, text: &str) -> String {
    (rules::of(language).normalise)(text)
}

/// `text` with its comments and strings blanked, byte for byte, so that what is left is code; of languages
/// with braces only.
pub fn blanked(language: Language, text: &str) -> String {
    let Some(lexicon) = rules::of(language).lexicon else { return text.to_owned() };
    let mut bytes = text.as_bytes().to_vec();
    for token in Tokens::new(lexicon, text).filter(|token| matches!(token.kind, Kind::Str | Kind::Comment)) {
        bytes[token.start..token.end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_blanked() {
        let text = "a \"b\\\"c\" d // e\n'{' 'x r#\"\"{\"# f /* { */ g";
        assert_eq!(blanked(Language::Rust, text), "a        d     \n    'x         f         g");
        assert_eq!(blanked(Language::Go, "a `{\n` '}' b // {"), "a   \n      b     ");
        for odd in ["\"", "'", "'\\", "r#\"", "/*", "`", "é\"é", "'é'", "'\\é"] {
            for language in [Language::Rust, Language::Go] {
                assert_eq!(blanked(language, odd).len(), odd.len(), "{odd}");
            }
        }
    }
}
