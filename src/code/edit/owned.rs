//! Pieces that belong to a type: methods and `impl`s at the top of a file, and the fields of a class.

use crate::code::braces::lex::{Kind, Tokens};
use crate::code::outline::{Item, ItemKind};
use crate::code::words::{Word, words};
use crate::code::{pairs, rules, text};
use crate::language::Language;

/// Words in front of a field or a constant that do not name it.
const MODIFIERS: &[&str] = &[
    "abstract", "accessor", "const", "crate", "declare", "override", "private", "protected", "pub", "public",
    "readonly", "static", "super", "type",
];

/// The type of a method of Go or an `impl` of Rust at the top of a file, and the trait of the `impl`.
pub(super) fn owner(language: Language, item: &Item) -> Option<(String, String)> {
    match language {
        Language::Go if item.kind == ItemKind::Function => {
            item.name.rsplit_once('.').map(|(owner, _)| (owner.to_owned(), String::new()))
        }
        Language::Rust => {
            let is_head = |line: &&str| line.starts_with("impl") || line.starts_with("unsafe impl");
            let line = item.signature.lines().find(is_head)?;
            let head = line.split(" where ").next()?.split('{').next()?;
            let head = words(language, head);
            let is_for = |at: &usize| head[*at].name() == Some("for") && !head.get(at + 1).is_some_and(|w| w.is('<'));
            // A list of parameters stands in front of the type.
            let mut depth = 0_usize;
            let begin = (1..head.len()).find(|&at| {
                depth += usize::from(head[at].is('<'));
                depth -= usize::from(head[at].is('>') && depth > 0);
                depth == 0 && !head[at].is('>')
            });
            let from = (0..head.len()).rfind(is_for).map(|at| at + 1).or(begin)?;
            let path = head[from..].iter().take_while(|word| !word.is('<') && **word != Word::End);
            let owner = path.filter_map(Word::name).last()?.to_owned();
            Some((owner, pairs::implemented(&head)))
        }
        _ => None,
    }
}

/// The methods of a trait of Rust.
pub(super) fn of_trait(language: Language, item: &Item, text: &str) -> Vec<String> {
    let is_head = |line: &str| ["trait ", "pub trait ", "pub(crate) trait "].iter().any(|word| line.starts_with(word));
    if language != Language::Rust || !item.signature.lines().any(is_head) {
        return Vec::new();
    }
    let words = words(language, text);
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs.filter(|(one, _)| one.name() == Some("fn")).filter_map(|(_, next)| next.name().map(str::to_owned)).collect()
}

/// The fields and constants in a part of a class that holds no function: their names, and their lines.
pub(super) fn fields(language: Language, part: &str) -> Vec<(String, String)> {
    let Some(lexicon) = rules::of(language).lexicon else { return Vec::new() };
    let (mut depth, mut start, mut last) = (0_usize, None, None);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for token in Tokens::new(lexicon, part) {
        let ends_line = token.kind == Kind::Newline && language != Language::Rust;
        let is_whole = matches!(last, Some(Kind::Word | Kind::Str | Kind::Close));
        // Fields of an object end with a comma.
        let is_last = |rest: &str| rest.is_empty() || rest.starts_with(['\n', '/']);
        let ends_item = token.is(part, ",") && is_last(part[token.end..].trim_start_matches(' '));
        let ends = depth == 0 && (token.is(part, ";") || ends_item || ends_line && is_whole);
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        // A comment behind a field is on its line.
        if token.kind != Kind::Newline && found.last().is_none_or(|(_, end)| token.start >= *end) {
            start = start.or(Some(token.start));
        }
        if !matches!(token.kind, Kind::Newline | Kind::Comment) {
            last = Some(token.kind);
        }
        if ends {
            if let Some(start) = start.take() {
                let end = part[token.start..].find('\n').map_or(part.len(), |at| token.start + at + 1);
                found.push((start, end));
            }
            last = None;
        }
    }
    let field = |(start, end): (usize, usize)| {
        let lines = &part[text::line_start(part, start)..end];
        let words = words(language, lines);
        let is_name = |word: &&str| !MODIFIERS.contains(word);
        let name = words.iter().filter_map(Word::name).find(is_name)?.to_owned();
        Some((name, format!("{}\n", lines.trim_end())))
    };
    found.into_iter().filter_map(field).collect()
}
