//! Splits code into words, strings and marks, without comments. Rules about the use of names are matched
//! against them.
//!
//! Works on any text, also half written. Strings joined by `+` count as one. Code in the fields of a string
//! comes after it. Member access by a string (`getattr(x, "name")`) keeps the string.

use std::collections::HashSet;

use super::braces::lex;
use super::python::lex as python;
use super::rules;
use crate::language::Language;

/// A part of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A name, keyword or number.
    Name(String),
    /// The content of a string.
    Text(String),
    /// A bracket or another mark.
    Mark(char),
    /// The end of a line.
    End,
}

impl Word {
    /// Returns true if it is this mark.
    pub fn is(&self, mark: char) -> bool {
        matches!(self, Word::Mark(own) if *own == mark)
    }

    /// Its text, if it is a name.
    pub fn name(&self) -> Option<&str> {
        if let Word::Name(name) = self { Some(name) } else { None }
    }
}

/// Most nested strings in fields of strings that are read.
const MAX_NESTING: usize = 4;

/// The words of a text.
pub fn words(language: Language, text: &str) -> Vec<Word> {
    joined(language, nested(language, text, 0))
}

/// The names that a text uses.
pub fn names(language: Language, text: &str) -> HashSet<String> {
    words(language, text).iter().filter_map(Word::name).map(str::to_owned).collect()
}

/// The words of a text and of the names in it, in small letters: `first_name`, `firstName`.
pub fn words_of_names(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_small {
            words.push(String::new());
        }
        was_small = !c.is_uppercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn nested(language: Language, text: &str, depth: usize) -> Vec<Word> {
    let mut out = Vec::new();
    for (kind, token) in tokens(language, text) {
        match kind {
            Kind::Name => out.push(Word::Name(token.to_owned())),
            Kind::Mark => out.extend(token.chars().next().map(Word::Mark)),
            Kind::End => out.push(Word::End),
            Kind::Text => {
                let (said, has_fields) = said(language, token);
                let fields = if has_fields && depth < MAX_NESTING { fields(language, token) } else { Vec::new() };
                out.push(Word::Text(said));
                for field in fields {
                    out.push(Word::End);
                    out.extend(nested(language, field, depth + 1));
                    out.push(Word::End);
                }
            }
        }
    }
    out
}

/// Returns true if a string is open at the end of a text.
pub(super) fn ends_in_string(language: Language, text: &str) -> bool {
    let probe = format!("{text}\n.");
    matches!(tokens(language, &probe).last(), Some((Kind::Text, token)) if token.ends_with('.'))
}

enum Kind {
    Name,
    Text,
    Mark,
    End,
}

fn tokens(language: Language, text: &str) -> Vec<(Kind, &str)> {
    let Some(lexicon) = rules::of(language).lexicon else {
        let tokens = python::Tokens::new(text, 0);
        let kept = tokens.filter_map(|token| {
            let kind = match token.kind {
                python::Kind::Comment | python::Kind::Join => return None,
                python::Kind::Word => Kind::Name,
                python::Kind::Str => Kind::Text,
                python::Kind::Newline => Kind::End,
                python::Kind::Open | python::Kind::Close | python::Kind::Mark => Kind::Mark,
            };
            Some((kind, token.text(text)))
        });
        return kept.collect();
    };
    let kept = lex::Tokens::new(lexicon, text).filter_map(|token| {
        let kind = match token.kind {
            lex::Kind::Comment => return None,
            lex::Kind::Word => Kind::Name,
            lex::Kind::Str => Kind::Text,
            lex::Kind::Newline => Kind::End,
            lex::Kind::Open | lex::Kind::Close | lex::Kind::Mark => Kind::Mark,
        };
        Some((kind, token.text(text)))
    });
    kept.collect()
}

/// The content of a string, without its quotes and with the most common escapes decoded, and true if it can
/// hold code.
fn said(language: Language, token: &str) -> (String, bool) {
    let quote = token.find(['"', '\'', '`']).unwrap_or(0);
    let prefix = token[..quote].to_ascii_lowercase();
    // Only Rust has `#` around quotes.
    let quoted = if language == Language::Rust { token.trim_end_matches('#') } else { token };
    let quoted = quoted.get(quote..).unwrap_or_default();
    let mark = ["\"\"\"", "'''", "\"", "'", "`"].into_iter().find(|mark| quoted.starts_with(mark)).unwrap_or_default();
    let inside = quoted.strip_prefix(mark).unwrap_or(quoted);
    let body = inside.strip_suffix(mark).unwrap_or(inside);
    let has_fields = match language {
        Language::Python => prefix.contains(['f', 't']),
        _ => token.starts_with('`'),
    };
    let is_raw = prefix.contains('r') || language == Language::Go && token.starts_with('`');
    (if is_raw { body.to_owned() } else { unescaped(body) }, has_fields)
}

fn unescaped(body: &str) -> String {
    let mut out = String::new();
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let digits = |skip: usize, count: usize| {
            let code = after.get(skip..skip + count).and_then(|digits| u32::from_str_radix(digits, 16).ok());
            code.and_then(char::from_u32).map(|c| (c, skip + count))
        };
        let braced = || {
            let end = after.find('}')?;
            let code = u32::from_str_radix(after.get(2..end)?, 16).ok().and_then(char::from_u32)?;
            Some((code, end + 1))
        };
        let read = match after.chars().next() {
            Some('x') => digits(1, 2),
            Some('u') if after.starts_with("u{") => braced(),
            Some('u') => digits(1, 4),
            Some('U') => digits(1, 8),
            Some(c @ '0'..='7') => {
                let width = after.chars().take(3).take_while(|c| ('0'..='7').contains(c)).count();
                u32::from_str_radix(&after[..width], 8).ok().and_then(char::from_u32).or(Some(c)).map(|c| (c, width))
            }
            Some('n') => Some(('\n', 1)),
            Some(c) => Some((c, c.len_utf8())),
            None => None,
        };
        let Some((c, width)) = read.or_else(|| after.chars().next().map(|c| (c, c.len_utf8()))) else {
            return out;
        };
        out.push(c);
        rest = &after[width..];
    }
    out + rest
}

/// The code in the fields of a string.
fn fields(language: Language, token: &str) -> Vec<&str> {
    let opens = if language == Language::Python { "{" } else { "${" };
    let (mut out, mut from) = (Vec::new(), 0);
    while let Some(at) = token[from..].find(opens).map(|at| from + at + opens.len()) {
        if language == Language::Python && token[at..].starts_with('{') {
            from = at + 1;
            continue;
        }
        let mut depth = 1_usize;
        let end = token[at..].bytes().position(|byte| {
            depth = depth + usize::from(byte == b'{') - usize::from(byte == b'}');
            depth == 0
        });
        let end = end.map_or(token.len(), |end| at + end);
        out.push(&token[at..end]);
        from = end;
    }
    out
}

/// Joins strings that stand beside each other, or are added up.
fn joined(language: Language, words: Vec<Word>) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::new();
    for word in words {
        if let Word::Text(more) = &word {
            let plus = out.last().is_some_and(|last| last.is('+'));
            let before = out.len().checked_sub(if plus { 2 } else { 1 });
            let is_joined = plus || language == Language::Python;
            if let Some(Word::Text(said)) = before.filter(|_| is_joined).and_then(|at| out.get_mut(at)) {
                said.push_str(more);
                if plus {
                    out.pop();
                }
                continue;
            }
        }
        out.push(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(language: Language, text: &str) -> String {
        let words = words(language, text);
        let parts: Vec<String> = words
            .iter()
            .map(|word| match word {
                Word::Name(name) => name.clone(),
                Word::Text(text) => format!("<{text}>"),
                Word::Mark(mark) => mark.to_string(),
                Word::End => ";".to_owned(),
            })
            .collect();
        parts.join(" ")
    }

    #[test]
    fn names_are_made_of_words() {
        assert_eq!(words_of_names("the CSV_file2Path, x"), ["the", "csv", "file2", "path", "x"]);
    }

    #[test]
    fn strings_say_what_they_say_and_comments_nothing() {
        let python = |text| shown(Language::Python, text);
        assert_eq!(python("a.b('_get' + \"fr\\x61me\")  # c"), "a . b ( <_getframe> )");
        assert_eq!(python("'a' 'b' \\\n r'\\x61'"), "<ab\\x61>");
        assert_eq!(python("f'{os.x(1)} y {{z}}'"), "<{os.x(1)} y {{z}}> ; os . x ( 1 ) ;");
        assert_eq!(python("'''a\nb''' + c"), "<a\nb> + c");
        assert_eq!(python("'#' + x == '\"'"), "<#> + x = = <\">");
        assert_eq!(shown(Language::JavaScript, "`a${p.exit()}` + /x/ // b"), "<a${p.exit()}> ; p . exit ( ) ; + </x/>");
        assert_eq!(shown(Language::JavaScript, "'\\u0065\\u{76}al\\101'"), "<evalA>");
        assert_eq!(shown(Language::Rust, "r#\"a\"# \"b\" 'c' /* d */ &'e f"), "<a> <b> <c> & ' e f");
        assert_eq!(shown(Language::Go, "`a\\n` + \"b\""), "<a\\nb>");
    }

    #[test]
    fn half_written_text_is_read() {
        for text in ["'\\", "f'{", "f'{{", "`${", "\"\\u{", "'\\u12", "'\\777", "f\"{é", "'é\\é"] {
            for language in Language::ALL {
                words(*language, text);
            }
        }
    }
}
