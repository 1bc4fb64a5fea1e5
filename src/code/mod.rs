//! Code as text: the function under the cursor, its prompt, splicing a candidate into a file.
//!
//! Independent of engine and screen. Each language has a row in the table of `rules.rs`; all other files work
//! on text and bytes only. Python is read by its indentation (`python/`); the languages with blocks in braces
//! share `braces/`, and each has a folder with its data.
//!
//! - `Target` is a function in a file, its prompt, and the byte range that a candidate replaces. `with_stub`
//!   makes one of an edited stub: the edits are written with the candidate.
//! - A file that parses is read by its grammar (tree-sitter). Any other is read by tokens: brackets where
//!   they balance, indentation where they do not.
//! - A candidate is a change of its file (`edit/`): the body, and behind it in its text the imports, helpers,
//!   members, decorators and new lines of types that come with it. Each goes to its place; imports of the
//!   library that the code names are added.
//! - A function ends with the brace that balances it. A candidate may contain that brace or not.
//! - `apply` writes atomically and keeps line ends, byte order mark, mode and links. A file with several
//!   names is written in place. A function that only moved is followed; any other change is refused.
//! - `outline` cuts a file into pieces at statement borders, each with shorter forms.

mod answer;
mod apply;
mod braces;
mod closures;
mod definition;
mod edit;
mod edited;
mod error;
mod example;
mod go;
mod head;
mod javascript;
mod known;
mod locals;
mod near;
mod nodes;
mod open;
mod outline;
mod pairs;
mod patch;
mod placeholder;
mod python;
mod returned;
mod rules;
mod rust;
mod spec;
mod splice;
mod syntax;
mod target;
mod text;
mod types;
mod typescript;
mod undo;
mod uses;
mod words;
mod yields;

pub use answer::{Prose, RequestedFunction, prose};
pub use apply::Applied;
pub use closures::returned_functions;
pub use error::CodeError;
pub use go::unmet_go_constraint;
pub use head::HeadPart;
pub use locals::without_local_names;
pub use nodes::{CodeNode, NodeKind, lines};
pub use open::open_function;
pub use outline::{Item, ItemKind, mentioned, outline};

pub use spec::{Place, TargetSpec};
pub use target::Target;
pub use types::{Declarations, Declared};
pub use words::{Word, names, words, words_of_names};
pub use yields::yields;

use std::collections::HashSet;
use std::ops::Range;

use braces::lex::{Kind, Tokens};

use crate::language::Language;

/// A function of a file, for pickers and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionName {
    /// Its name, dotted for methods and nested functions: `Stack.push`.
    pub name: String,
    /// Line of its `def` or its name, 1-based.
    pub line: usize,
    /// True if it has a body: more than a docstring, comments, or a placeholder such as `pass` or `todo!()`,
    /// and one that does not break off in a placeholder.
    pub finished: bool,
    /// True if its body is missing on purpose: an abstract method, or one of several typed signatures.
    pub declaration: bool,
}

/// The functions of `text`, in the order they stand in. Works on code that is broken in places.
pub fn function_names(language: Language, text: &str) -> Vec<FunctionName> {
    let (text, _) = text::decode_str(text);
    let functions = (rules::of(language).functions)(&text);
    let named = |f: rules::Function| FunctionName {
        finished: !f.is_open(),
        name: f.name,
        line: f.line,
        declaration: f.declaration,
    };
    functions.into_iter().map(named).collect()
}

/// The name and the text of the unfinished function that holds a line, 1-based.
pub fn unfinished_at(language: Language, text: &str, line: usize) -> Option<(String, String)> {
    let found = Target::in_text(text, language, &Place::Line(line)).ok()?;
    let is_it = |function: &FunctionName| function.line == found.line && !function.finished && !function.declaration;
    let is_unfinished = function_names(language, text).iter().any(is_it);
    is_unfinished.then(|| (found.name.clone(), found.text[found.function.clone()].to_owned()))
}

/// The names that a text defines and imports at its top.
pub fn defined(language: Language, text: &str) -> HashSet<String> {
    outline(language, text).into_iter().flat_map(|item| item.names).collect()
}

/// Returns true for a name that the language gives without an import.
pub fn is_builtin(language: Language, name: &str) -> bool {
    rules::of(language).known.builtins.contains(&name) || uses::is_word(language, name)
}

/// The functions of `text` whose bodies mention one of these names, and that do not have such a name
/// themselves.
pub fn callers(language: Language, text: &str, called: &[&str]) -> Vec<String> {
    let (text, _) = text::decode_str(text);
    let calls = |function: &rules::Function| {
        let own = function.name.rsplit('.').next().unwrap_or_default();
        let body = text.get(function.body.clone()).unwrap_or_default();
        // Far cheaper than splitting all of it into words.
        let may = called.iter().any(|name| body.contains(name));
        may && !called.contains(&own) && names(language, body).iter().any(|name| called.contains(&name.as_str()))
    };
    (rules::of(language).functions)(&text).into_iter().filter(calls).map(|function| function.name).collect()
}

/// End of a function body that starts at the beginning of `text`: the number of bytes to keep, `None` while
/// it may go on. `indent` is the indentation of the `def` line in columns.
///
/// In Python it ends when a line begins that no longer belongs to it. The kept part ends after the line end
/// of the last line that is not blank. In languages with braces it ends with the brace that closes the
/// function. The result never changes when text is added: once it is `Some(k)`, it is `Some(k)` for every
/// longer text.
pub fn function_end(language: Language, indent: usize, text: &str) -> Option<usize> {
    (rules::of(language).function_end)(indent, text)
}

/// The function's body in the model's `text`: cut at the end of the function, without its closing brace,
/// without blank lines at the end, line ends `\n`. Ends with exactly one newline unless it is empty.
pub fn trim_candidate(language: Language, indent: usize, text: &str) -> String {
    // The text in its final form. The line break at its end can close a token that would otherwise be open,
    // such as `'}` in Rust.
    let text = format!("{}\n", text.trim_end());
    let kept = text.get(..(rules::of(language).inside)(indent, &text)).unwrap_or(&text);
    let (kept, _) = text::decode_str(kept);
    match kept.trim_end() {
        "" => String::new(),
        kept => format!("{kept}\n"),
    }
}

/// Returns true for a text that a language can read.
pub fn can_be_read(language: Language, text: &str) -> bool {
    syntax::tree(language, text).is_some()
}

/// A normal form of `text`. Two candidates that differ only in white space, blank lines and comments have the
/// same form. Languages differ in where other control characters than line ends and tabs may stand: a text
/// with one has its own form.
pub fn normalise(language: Language, text: &str) -> String {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let plain = text.replace("\r\n", "\n");
    if plain.contains(is_odd) {
        return plain;
    }
    (rules::of(language).normalise)(text)
}

/// `text` with its comments and strings blanked, byte for byte, so that only code is left.
pub fn blanked(language: Language, text: &str) -> String {
    with_blanks(text, spans(language, text, true).into_iter())
}

/// The places of strings in a text, and of comments if they are wanted.
fn spans(language: Language, text: &str, with_comments: bool) -> Vec<Range<usize>> {
    if let Some(lexicon) = rules::of(language).lexicon {
        let is_it = |kind| kind == Kind::Str || with_comments && kind == Kind::Comment;
        return Tokens::new(lexicon, text).filter(|token| is_it(token.kind)).map(|t| t.start..t.end).collect();
    }
    let is_it = |kind| kind == python::lex::Kind::Str || with_comments && kind == python::lex::Kind::Comment;
    python::lex::Tokens::new(text, 0).filter(|token| is_it(token.kind)).map(|t| t.start..t.end).collect()
}

/// `text` without the blanks of lines that have nothing else, unless these are part of a string.
fn with_empty_lines(language: Language, text: &str) -> String {
    let is_blank = |line: &str| !line.trim_end_matches('\n').is_empty() && line.trim().is_empty();
    if !text.split_inclusive('\n').any(is_blank) {
        return text.to_owned();
    }
    let strings = spans(language, text, false);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_inside = strings.iter().any(|string| string.start < at && at < string.end);
        out.push_str(if is_blank(line) && !is_inside { line.trim_start_matches([' ', '\t']) } else { line });
        at += line.len();
    }
    out
}

/// `text` with its comments and the docstrings of Python blanked, byte for byte.
fn without_comments(language: Language, text: &str) -> String {
    if let Some(lexicon) = rules::of(language).lexicon {
        let comments = Tokens::new(lexicon, text).filter(|token| token.kind == Kind::Comment);
        return with_blanks(text, comments.map(|token| token.start..token.end));
    }
    let tokens: Vec<python::lex::Token> = python::lex::Tokens::new(text, 0).collect();
    let ends = |token: Option<&python::lex::Token>| token.is_none_or(|t| t.kind == python::lex::Kind::Newline);
    let is_alone = |at: usize| ends(at.checked_sub(1).map(|at| &tokens[at])) && ends(tokens.get(at + 1));
    let is_said = |at: &usize| match tokens[*at].kind {
        python::lex::Kind::Comment => true,
        python::lex::Kind::Str => is_alone(*at),
        _ => false,
    };
    with_blanks(text, (0..tokens.len()).filter(is_said).map(|at| tokens[at].start..tokens[at].end))
}

fn with_blanks(text: &str, ranges: impl Iterator<Item = Range<usize>>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in ranges {
        bytes[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_differ_have_different_forms() {
        let differ = [
            (Language::Python, "    return x  # note\n", "    return x  # a\0b\n"),
            (Language::Python, "    return x  # note\n", "    return x  # a\rraise\n"),
            (Language::JavaScript, "  return x * 2;\n}\n", "  return /* twice\n */ x * 2;\n}\n"),
            (Language::Go, "\treturn x\n}\n", "\treturn /* a\n */ x\n}\n"),
        ];
        for (language, a, b) in differ {
            assert_ne!(normalise(language, a), normalise(language, b), "{b:?}");
        }
        let same = [
            (Language::Python, "    return x\n", "    return x  # note\r\n"),
            (Language::JavaScript, "  return x * 2;\n}\n", "  return /* twice */ x * 2;\n}\n"),
            (Language::Rust, "    x * 2\n}\n", "    x /* a\n */ * 2\n}\n"),
        ];
        for (language, a, b) in same {
            assert_eq!(normalise(language, a), normalise(language, b), "{b:?}");
        }
    }

    #[test]
    fn an_unfinished_function_is_known_by_a_line_of_it() {
        let text =
            "class A:\n    def f(self):\n        raise NotImplementedError\n\n    def g(self):\n        return 1\n";
        let known = unfinished_at(Language::Python, text, 3).unwrap();
        assert_eq!(known, ("A.f".to_owned(), "def f(self):\n        raise NotImplementedError\n".to_owned()));
        assert_eq!([1, 6].map(|line| unfinished_at(Language::Python, text, line)), [None, None]);
        let text =
            "import abc\n\n\nclass A:\n    @abc.abstractmethod\n    def f(self):\n        raise NotImplementedError\n";
        assert_eq!(unfinished_at(Language::Python, text, 7), None, "it is meant to be so");
        let text = "class A {\n  f() {\n    throw new Error(\"not implemented\");\n  }\n}\n";
        assert_eq!(unfinished_at(Language::JavaScript, text, 3).unwrap().0, "A.f");
    }

    #[test]
    fn blank_lines_of_a_candidate_are_empty() {
        let of = |language, text: &str| with_empty_lines(language, text);
        assert_eq!(of(Language::Python, "    a = 1\n    \n\t\n    return a\n"), "    a = 1\n\n\n    return a\n");
        let inside = "    a = \"\"\"x\n    \n\"\"\"\n";
        assert_eq!(of(Language::Python, inside), inside);
        assert_eq!(of(Language::JavaScript, "  a();\n  \n  b(`\n  \n`);\n"), "  a();\n\n  b(`\n  \n`);\n");
        assert_eq!(of(Language::Go, "\ta()\r\n\t\r\n"), "\ta()\r\n\r\n");
    }

    #[test]
    fn strings_and_comments_are_blanked() {
        let text = "a \"b\\\"c\" d // e\n'{' 'x r#\"\"{\"# f /* { */ g";
        assert_eq!(blanked(Language::Rust, text), "a        d     \n    'x         f         g");
        assert_eq!(blanked(Language::Go, "a `{\n` '}' b // {"), "a   \n      b     ");
        assert_eq!(blanked(Language::Python, "x = \"a:b\"  # c\n'''\n'''"), "x =           \n   \n   ");
        for odd in ["\"", "'", "'\\", "r#\"", "/*", "`", "é\"é", "'é'", "'\\é"] {
            for language in [Language::Rust, Language::Go] {
                assert_eq!(blanked(language, odd).len(), odd.len(), "{odd}");
            }
        }
    }
}
