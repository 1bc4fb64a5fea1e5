//! Answers to a call in a few columns: the place from which on they differ stays, and so do the words before
//! a changed argument.

use std::cmp::Reverse;

use crate::agreement::Answer;
use crate::trial::EFFECTS;
use crate::tui::app::calls::NUMBERED;
use crate::tui::text;

/// Fewest columns of an answer in the row of its call: with fewer it says nothing.
const LEAST: usize = 4;
/// Fewest columns of a value that differs, before what stands in front of its label is left out.
const TELLING: usize = 12;
/// Between two parts of an answer.
const AND: &str = ", and ";

/// Answers as they are shown.
pub fn shown(answers: &[Answer]) -> Vec<String> {
    answers.iter().map(|answer| text::one_line(&answer.shown)).collect()
}

/// A value of an answer behind the words that say what it is: none of the result itself.
#[derive(Clone, Copy, PartialEq)]
struct Part<'a> {
    label: &'a str,
    value: &'a str,
}

/// Bytes of a label that a text begins with, behind [`AND`]: `argument 1 is `, `a.txt holds `.
fn label_length(text: &str) -> Option<usize> {
    let argument = text.strip_prefix("argument ").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let named = argument.or_else(|| text.strip_prefix("the object")).and_then(|rest| rest.strip_prefix(" is "));
    let file = || text.split_once(' ').and_then(|(_, rest)| rest.strip_prefix("holds "));
    let gone = || text.strip_prefix("removes ");
    let effect = || EFFECTS.iter().find_map(|words| text.strip_prefix(words)?.strip_prefix(' '));
    let rest = named.or_else(file).or_else(gone).or_else(effect)?;
    Some(text.len() - rest.len())
}

/// The parts of an answer: its result, and what else the call did.
fn parts(answer: &str) -> Vec<Part<'_>> {
    let labels = answer.match_indices(AND).filter_map(|(at, _)| {
        let begin = at + AND.len();
        Some((at, begin + label_length(&answer[begin..])?))
    });
    let (mut all, mut label, mut from) = (Vec::new(), "", 0);
    for (at, end) in labels {
        all.push(Part { label, value: &answer[from..at] });
        (label, from) = (&answer[at..end], end);
    }
    all.push(Part { label, value: &answer[from..] });
    all
}

/// Number of characters that a text shares with that of the others which shares most.
fn same(own: &str, others: &[&str]) -> usize {
    let same = |other: &&str| own.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    others.iter().filter(|other| **other != own).map(same).max().unwrap_or(0)
}

/// A value in so many columns, with the place from which on it differs from the others.
pub fn apart(own: &str, others: &[&str], columns: usize) -> String {
    if text::width(own) <= columns {
        return own.to_owned();
    }
    let most = same(own, others);
    let places: Vec<usize> = own.char_indices().map(|(at, _)| at).chain([own.len()]).collect();
    let wide = |from: usize, to: usize| text::width(&own[places[from]..places[to]]);
    // Some of what follows the difference is read with it.
    if wide(0, most) + (columns / 3).clamp(1, 8) < columns {
        return text::fit(own, columns);
    }
    // Some of what they share stays, to be recognised by, and more where the rest is short.
    let (keep, end, mut from) = ((columns / 3).min(TELLING), places.len() - 1, most);
    while from > 0 && (wide(from - 1, most) <= keep || wide(from - 1, end) < columns) {
        from -= 1;
    }
    text::fit(&format!("…{}", &own[places[from]..]), columns)
}

/// An answer among others, in its parts.
struct Told<'a> {
    own: Vec<Part<'a>>,
    /// Parts of the other answers, each with the first place where they differ.
    others: Vec<(Vec<Part<'a>>, usize)>,
}

impl<'a> Told<'a> {
    fn of(text: &'a str, texts: &'a [String]) -> Self {
        let own = parts(text);
        let with_first = |other: Vec<Part<'a>>| {
            let same = own.iter().zip(&other).take_while(|(a, b)| a == b).count();
            (other, same.min(own.len() - 1))
        };
        let others = texts.iter().filter(|other| *other != text).map(|other| with_first(parts(other))).collect();
        Self { own, others }
    }

    /// The value in a place in so many columns.
    fn value(&self, place: usize, columns: usize) -> String {
        // Answers that differ before it are told apart there.
        let others = self.others.iter().filter(|(_, first)| *first >= place);
        let others: Vec<&str> = others.filter_map(|(other, _)| Some(other.get(place)?.value)).collect();
        apart(self.own[place].value, &others, columns)
    }

    /// All labels, and the values as short as they need to be: first those that others have as well.
    fn whole(&self, columns: usize) -> Option<String> {
        let mut short: Vec<String> = self.own.iter().map(|part| part.value.to_owned()).collect();
        let joined = |short: &[String]| {
            let parts = self.own.iter().zip(short).flat_map(|(part, value)| [part.label, value]);
            parts.collect::<String>()
        };
        let tells = |place: usize| self.others.iter().any(|(_, first)| *first == place);
        let mut order: Vec<usize> = (0..self.own.len()).collect();
        order.sort_by_key(|&place| (tells(place), Reverse(text::width(self.own[place].value))));
        for place in order {
            let over = text::width(&joined(&short)).saturating_sub(columns);
            let least = if tells(place) { TELLING } else { LEAST };
            short[place] = self.value(place, text::width(&short[place]).saturating_sub(over).max(least));
        }
        Some(joined(&short)).filter(|all| text::width(all) <= columns)
    }

    /// The part alone that tells the answer from the most similar one, behind its label. `None` where there
    /// is no room for the label: it would be read as the result.
    fn one_part(&self, columns: usize) -> Option<String> {
        let place = self.others.iter().map(|(_, first)| *first).max().unwrap_or(0);
        let label = self.own[place].label.strip_prefix(AND);
        let more = if place + 1 < self.own.len() { "…" } else { "" };
        let of = |label: &str| {
            let room = columns.checked_sub(text::width(label) + text::width(more)).filter(|room| *room >= LEAST)?;
            let value = self.value(place, room);
            let more = if value.ends_with('…') { "" } else { more };
            Some(format!("{label}{value}{more}"))
        };
        let Some(label) = label else { return of("") };
        let number = || label.strip_prefix("argument ")?.strip_suffix(" is ");
        of(&format!("…{label}")).or_else(|| of(&format!("…arg {}: ", number()?)))
    }
}

/// One of the answers in so many columns. Where it has more, the place from which on it differs stays, and
/// labels stay whole. `None` if that leaves too little of it.
fn told(texts: &[String], at: usize, columns: usize) -> Option<String> {
    if text::width(&texts[at]) <= columns {
        return Some(texts[at].clone());
    }
    let told = Told::of(&texts[at], texts);
    told.whole(columns).or_else(|| told.one_part(columns))
}

/// `1: 0  2: ValueError`, the long ones cut where all do not fit; empty where that leaves too little of them.
pub fn answers_in(answers: &[Answer], columns: usize) -> String {
    let mut texts = shown(answers);
    texts.truncate(NUMBERED);
    let within = |most: usize| -> Option<String> {
        let words = (0..texts.len()).map(|at| told(&texts, at, most)).collect::<Option<Vec<String>>>()?;
        let numbered = (1..).zip(words).map(|(number, words)| format!("{number}: {words}"));
        Some(numbered.collect::<Vec<_>>().join("  "))
    };
    let fits = |most: usize| within(most).is_none_or(|all| text::width(&all) <= columns);
    if let Some(all) = within(columns).filter(|all| text::width(all) <= columns) {
        return all;
    }
    let share = (columns / answers.len().max(1)).saturating_sub(5);
    if share < LEAST {
        return String::new();
    }
    // Short ones leave the others more than their share.
    let (mut least, mut over) = (share, columns);
    while over - least > 1 {
        let most = least.midpoint(over);
        if fits(most) {
            least = most;
        } else {
            over = most;
        }
    }
    within(least).filter(|all| text::width(all) <= columns).unwrap_or_default()
}

/// Answers in lines of so many columns, each in at most so many lines.
pub fn lines(texts: &[String], columns: usize, most: usize) -> Vec<Vec<String>> {
    let wrapped = |text: &str| {
        let mut lines = text::wrap_words(text, columns);
        lines.resize(lines.len().max(1), String::new());
        lines
    };
    let cut = |at: usize| {
        // Words are not broken, so that lines may have columns left.
        let tried = (columns..=columns * most).rev().filter_map(|room| told(texts, at, room));
        let mut tried = tried.map(|text| wrapped(&text));
        tried.find(|lines| lines.len() <= most).unwrap_or_else(|| vec![text::fit(&texts[at], columns)])
    };
    let one = |(at, text): (usize, &String)| {
        let whole = wrapped(text);
        if whole.len() <= most { whole } else { cut(at) }
    };
    texts.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    fn answers(all: &[&str]) -> Vec<Answer> {
        let answer = |shown: &&str| Answer {
            shown: (*shown).to_owned(),
            candidates: vec![0],
            votes: 1,
            is_told: true,
            is_before: false,
        };
        all.iter().map(answer).collect()
    }

    fn all_told(texts: &[String], columns: usize) -> Vec<String> {
        (0..texts.len()).filter_map(|at| told(texts, at, columns)).collect()
    }

    #[test]
    fn short_answers_leave_long_ones_their_room() {
        let all = answers(&["SyntaxError: Identifier 'step' has been declared", "[ 0, 1 ]", "0"]);
        let row = answers_in(&all, 60);
        assert!(
            row.starts_with("1: SyntaxError: Identifier 'step' has") && row.ends_with("…  2: [ 0, 1 ]  3: 0"),
            "{row}"
        );
    }

    #[test]
    fn answers_of_a_row_differ_where_they_are_cut() {
        let row = answers_in(&answers(&["datetime.date(2024, 5, 17)", "datetime.date(2024, 5, 20)"]), 36);
        assert_eq!(row, "1: …(2024, 5, 17)  2: …(2024, 5, 20)");
        let long = |mark: &str| format!("[{}{mark}{}]", "1, ".repeat(20), ", 2".repeat(20));
        for columns in [36, 40, 60] {
            let row = answers_in(&answers(&[&long("7"), &long("8"), "[0]"]), columns);
            assert!(row.contains('7') && row.contains('8') && text::width(&row) <= columns, "{columns}: {row}");
        }
        // A changed argument is no result.
        let all = answers(&["None, and argument 1 is [1, 2, 3]", "None, and argument 1 is [3, 2, 1]"]);
        assert_eq!(answers_in(&all, 44), "1: …arg 1: [1, 2, 3]  2: …arg 1: [3, 2, 1]");
        let row = answers_in(&all, 52);
        assert!(row.starts_with("1: …argument 1 is [1, ") && row.contains("  2: …argument 1 is [3, "), "{row}");
        assert_eq!(answers_in(&all, 22), "");
    }

    #[test]
    fn labels_stay_whole_and_values_are_cut() {
        let list = |first: &str, last: &str| format!("['{first}', {}'{last}']", "'abc', ".repeat(6));
        let both = |result: &str, argument: &str| format!("{result}, and argument 1 is {argument}");
        let all = [both(&list("a", "b"), &list("a", "b")), both(&list("a", "b"), &list("a", "c"))];
        let cut = all_told(&all, 70);
        assert!(cut.iter().all(|text| text.starts_with("['a…, and argument 1 is …abc', '")), "{cut:?}");
        assert!(cut[0].ends_with("'b']") && cut[1].ends_with("'c']"), "{cut:?}");
        assert_eq!(all_told(&all, 30), ["…argument 1 is …', 'abc', 'b']", "…argument 1 is …', 'abc', 'c']"]);
        let two = parts("1, and argument 2 is 'a, and b', and a.txt holds 'c', and removes d, and sleeps 1");
        let labels: Vec<&str> = two.iter().map(|part| part.label).collect();
        assert_eq!(labels, ["", ", and argument 2 is ", ", and a.txt holds ", ", and removes ", ", and sleeps "]);
    }

    #[test]
    fn answers_that_differ_at_their_end_are_told_apart() {
        let long = |end: &str| format!("[{}{end}]", "1, ".repeat(40));
        let both = [long("2"), long("3")];
        let cut = all_told(&both, 40);
        assert!(cut[0].starts_with("… 1, 1, ") && cut[0].ends_with("2]") && text::width(&cut[0]) <= 40, "{cut:?}");
        assert!(cut[1].ends_with("3]") && cut[0] != cut[1]);
        assert_eq!(all_told(&texts(&["12", "13"]), 40), ["12", "13"]);
        assert!(all_told(&[long("2"), long("2")], 40)[0].starts_with("[1, 1"), "they are the same");
    }

    #[test]
    fn lines_hold_the_whole_answer_where_they_can() {
        let long = |end: &str| format!("[{}{end}]", "100, ".repeat(20));
        let both = [long("2"), long("3")];
        let whole = lines(&both, 40, 4);
        assert_eq!(whole[0].join(" "), both[0]);
        let cut = lines(&both, 40, 2);
        assert!(cut.iter().all(|lines| lines.len() == 2), "{cut:?}");
        assert!(cut[0][1].ends_with("2]") && cut[1][1].ends_with("3]"), "{cut:?}");
        assert_eq!(lines(&texts(&["", "a"]), 1, 1), [[""], ["a"]]);
    }
}
