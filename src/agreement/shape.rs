//! Kinds that documentation draws with names in the place of values: `[(start, end), ...]`.

use super::kind::{Kind, Parameter};
use super::pairs::{Pair, are_intervals};
use crate::language::Language;

/// Most shapes in one another.
const DEEPEST: usize = 4;
/// Words by which a sentence speaks of what a function gives.
const GIVES: [&str; 6] = ["return", "gives", "yield", "produce", "result", "->"];
/// Words for what has letters.
const TEXTS: [&str; 10] = ["name", "key", "word", "text", "string", "str", "label", "tag", "title", "id"];

/// These parameters, with the kind that the documentation draws for one whose kind nothing else tells: the
/// one that is named last before the drawing, or the only one.
pub fn told(language: Language, head: &str, mut parameters: Vec<Parameter>) -> Vec<Parameter> {
    for (at, _) in head.match_indices(['[', '{', '(']) {
        let Some((kind, length)) = shape(language, &head[at..], 0) else { continue };
        let drawn = &head[at..at + length];
        let sentence = head[..at].rsplit(['.', '\n', ';']).next().unwrap_or_default().to_lowercase();
        // A call of a function, or a type with what it takes, is none.
        let is_part = head[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_whole = drawn.contains("...") || drawn.contains('…');
        if is_part || !is_whole || GIVES.iter().any(|word| sentence.contains(word)) {
            continue;
        }
        let is_word = |word: &str, name: &str| word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_')) == name;
        let named = |parameter: &Parameter| {
            let name = parameter.name.to_lowercase();
            let words = sentence.split_whitespace().enumerate();
            words.filter(|(_, word)| is_word(word, &name)).last().map(|(place, _)| place)
        };
        let of = match &mut parameters[..] {
            [only] => Some(only),
            all => {
                all.iter_mut().filter(|parameter| named(parameter).is_some()).max_by_key(|parameter| named(parameter))
            }
        };
        if let Some(parameter) = of.filter(|parameter| parameter.kind == Kind::Unknown) {
            let is_rising = are_intervals(&sentence, &parameter.name);
            parameter.kind = with_pairs(kind, is_rising);
        }
    }
    parameters
}

/// The kind with pairs of numbers that rise where they are intervals.
fn with_pairs(kind: Kind, is_rising: bool) -> Kind {
    let is_number = |kind: &Kind| *kind == Kind::Int;
    match kind {
        Kind::Tuple(all) if all.len() == 2 && all.iter().all(is_number) => {
            Kind::Pair(Pair { is_list: false, is_rising })
        }
        Kind::List(kind) => Kind::List(Box::new(with_pairs(*kind, is_rising))),
        kind => kind,
    }
}

/// The kind that a text begins with, and the length of its drawing, in bytes. `None` for values, which other
/// rules read.
fn shape(language: Language, text: &str, depth: usize) -> Option<(Kind, usize)> {
    let close = match text.chars().next()? {
        '[' => ']',
        '(' if language == Language::Python => ')',
        '{' => '}',
        _ => return None,
    };
    let (mut parts, mut keys, mut at, mut is_open) = (Vec::new(), Vec::new(), 1, false);
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        if let Some(dots) = ["...", "…"].iter().find(|dots| rest.starts_with(**dots)) {
            is_open = true;
            at += dots.len();
        } else {
            let (kind, length) = part(language, rest, depth)?;
            at += length;
            parts.push(kind);
        }
        at += text[at..].len() - text[at..].trim_start().len();
        let next = text[at..].chars().next()?;
        at += next.len_utf8();
        match next {
            ',' => {}
            ':' if close == '}' && keys.len() + 1 == parts.len() => keys.push(parts.pop()?),
            _ if next == close => break,
            _ => return None,
        }
    }
    let kind = match (close, &keys[..], &parts[..]) {
        ('}', [key, ..], [value, ..]) => Kind::Dict(Box::new(key.clone()), Box::new(value.clone())),
        (']', [], [one, ..]) => Kind::List(Box::new(one.clone())),
        (')', [], [one]) if is_open => Kind::Row(Box::new(one.clone())),
        (')', [], [_, _, ..]) => Kind::Tuple(parts),
        _ => return None,
    };
    Some((kind, at))
}

/// The kind of a part of a drawing: a name, or a drawing of its own.
fn part(language: Language, text: &str, depth: usize) -> Option<(Kind, usize)> {
    if depth < DEEPEST
        && let Some(found) = shape(language, text, depth + 1)
    {
        return Some(found);
    }
    let length = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let name = text[..length].to_lowercase();
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_text = name.split('_').any(|word| TEXTS.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit())));
    is_name.then_some((if is_text { Kind::Text } else { Kind::Int }, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(docs: &str, names: &[&str]) -> Vec<Kind> {
        let parameter = |name: &&str| Parameter { name: (*name).to_owned(), ..Parameter::default() };
        let all = told(Language::Python, docs, names.iter().map(parameter).collect());
        all.into_iter().map(|parameter| parameter.kind).collect()
    }

    #[test]
    fn drawings_tell_kinds() {
        let list = |kind| Kind::List(Box::new(kind));
        let pair = |is_rising| Kind::Pair(Pair { is_list: false, is_rising });
        let one = |docs: &str| of(docs, &["x"]).remove(0);
        assert_eq!(one("Merge overlapping intervals [(start, end), ...]."), list(pair(true)));
        assert_eq!(one("The points [(x, y), ...] by distance."), list(pair(false)));
        assert_eq!(one("`[(key, value), ...]` by key"), list(Kind::Tuple(vec![Kind::Text, Kind::Int])));
        let scores = Kind::Dict(Box::new(Kind::Text), Box::new(list(Kind::Int)));
        assert_eq!(one("Given {name: [score, ...], ...}"), scores);
        // Results, calls, values and indices.
        for docs in ["Returns [(a, b), ...].", "As f(a, b, ...) does.", "[1, 2, ...]", "the item [i]", "[a, b]"] {
            assert_eq!(one(docs), Kind::Unknown, "{docs}");
        }
        let two = of("Sum of weights by edges [(a, b, w), ...].", &["weights", "edges"]);
        assert_eq!(two, [Kind::Unknown, list(Kind::Tuple(vec![Kind::Int; 3]))]);
    }
}
