//! Calls and answers to them in a few columns: the parts that tell them apart stay.

use std::cmp::Reverse;

use crate::agreement::Answer;
use crate::tui::app::calls::NUMBERED;
use crate::tui::text;

/// Fewest columns of an answer in the row of its call: with fewer it says nothing.
const LEAST: usize = 4;

/// Answers as they are shown.
pub fn shown(answers: &[Answer]) -> Vec<String> {
    answers.iter().map(|answer| text::one_line(&answer.shown)).collect()
}

/// The texts, and where some are longer and the same in so many columns, those without what lies before their
/// first difference.
pub fn apart(texts: &[String], columns: usize) -> Vec<String> {
    let all: Vec<Vec<char>> = texts.iter().map(|text| text.chars().collect()).collect();
    let one = |(at, own): (usize, &Vec<char>)| {
        let same = |other: &Vec<char>| own.iter().zip(other).take_while(|(a, b)| a == b).count();
        let others = all.iter().enumerate().filter(|(other, text)| *other != at && *text != own);
        let most = others.map(|(_, other)| same(other)).max().unwrap_or(0);
        // Some of what they share stays, to be recognised by.
        let fits = most + 8 < columns || text::width(&texts[at]) <= columns;
        let from = if fits { 0 } else { most.saturating_sub(12) };
        if from == 0 { texts[at].clone() } else { format!("…{}", own[from..].iter().collect::<String>()) }
    };
    all.iter().enumerate().map(one).collect()
}

/// A call in three parts: up to its first parenthesis, its arguments, and the rest.
fn parts(call: &str) -> Option<(&str, Vec<&str>, &str)> {
    let open = call.find('(')? + 1;
    let (mut depth, mut quote, mut escaped, mut from, mut arguments) = (0usize, None, false, open, Vec::new());
    for (at, c) in call[open..].char_indices().map(|(at, c)| (at + open, c)) {
        match (quote, c) {
            (Some(_), _) if std::mem::take(&mut escaped) => {}
            (Some(_), '\\') => escaped = true,
            (Some(mark), c) if c == mark => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')') if depth == 0 => {
                arguments.push(call[from..at].trim());
                return Some((&call[..open], arguments, &call[at..]));
            }
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                arguments.push(call[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// One of the calls in so many columns. Where it has more, the longest arguments that others share lose their
/// ends first; one that alone tells calls apart loses what it shares with others.
pub fn call(calls: &[String], at: usize, columns: usize) -> String {
    let own = &calls[at];
    if text::width(own) <= columns {
        return own.clone();
    }
    let Some((head, arguments, tail)) = parts(own) else { return text::fit(&apart(calls, columns)[at], columns) };
    let others: Vec<Vec<&str>> = calls.iter().filter(|call| *call != own).filter_map(|c| Some(parts(c)?.1)).collect();
    let is_shared = |place: usize| others.iter().any(|other| other.get(place) == Some(&arguments[place]));
    let mut order: Vec<usize> = (0..arguments.len()).collect();
    order.sort_by_key(|&place| (!is_shared(place), Reverse(text::width(arguments[place]))));
    let mut short: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    // Without this argument other ones still tell the call from all others.
    let may_end = |place: usize| {
        let differs = |other: &Vec<&str>| (0..arguments.len()).any(|p| p != place && other.get(p) != arguments.get(p));
        others.iter().all(differs)
    };
    let joined = |short: &[String]| format!("{head}{}{tail}", short.join(", "));
    for place in order {
        let over = text::width(&joined(&short)).saturating_sub(columns);
        if over == 0 {
            break;
        }
        let most = text::width(&short[place]).saturating_sub(over).max(LEAST);
        let of_others = others.iter().filter_map(|other| other.get(place)).map(|argument| (*argument).to_owned());
        let texts: Vec<String> = std::iter::once(short[place].clone()).chain(of_others).collect();
        let text = if may_end(place) { texts[0].clone() } else { apart(&texts, most)[0].clone() };
        short[place] = text::fit(&text, most);
    }
    text::fit(&joined(&short), columns)
}

/// `1: 0  2: ValueError`, the long ones cut where all do not fit; empty where that leaves too little of them.
pub fn answers_in(answers: &[Answer], columns: usize) -> String {
    let texts = shown(answers);
    let within = |most: usize| {
        let texts = apart(&texts, most);
        let words = texts.iter().take(NUMBERED).map(|words| text::fit(words, most));
        (1..).zip(words).map(|(number, words)| format!("{number}: {words}")).collect::<Vec<_>>().join("  ")
    };
    let all = within(columns);
    if text::width(&all) <= columns {
        return all;
    }
    let share = (columns / answers.len().max(1)).saturating_sub(5);
    if share < LEAST {
        return String::new();
    }
    // Short ones leave the others more than their share.
    let (mut fits, mut over) = (share, columns);
    while over - fits > 1 {
        let most = fits.midpoint(over);
        if text::width(&within(most)) <= columns {
            fits = most;
        } else {
            over = most;
        }
    }
    text::fit(&within(fits), columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_cut_where_others_are_the_same() {
        let calls = |all: &[&str]| all.iter().map(|call| (*call).to_owned()).collect::<Vec<_>>();
        let few = calls(&["formatPrice(100, -1)", "formatPrice(100, -2)"]);
        assert_eq!(call(&few, 0, 20), few[0], "it fits");
        let long = calls(&["formatPrice([1, 2, 3, 4, 5, 6, 7, 8], -1)", "formatPrice([1, 2, 3, 4, 5, 6, 7, 8], -2)"]);
        assert_eq!(call(&long, 0, 30), "formatPrice([1, 2, 3, 4,…, -1)");
        let nested = calls(&["f(\"a, b(\", [1, 2, 3, 4, 5, 6, 7, 8, 9])", "f(\"c\", [1, 2, 3, 4, 5, 6, 7, 8, 9])"]);
        assert_eq!(call(&nested, 0, 25), "f(\"a, b(\", [1, 2, 3, 4,…)");
        let many = calls(&["f({\"items\": [1, 2, 3, 4]}, 10)", "f({\"items\": [1, 2, 3, 5]}, 20)"]);
        assert_eq!(call(&many, 0, 21), "f({\"items\": [1,…, 10)", "the second one tells them apart");
        let last = |end: &str| format!("f([{}{end}])", "1, ".repeat(20));
        let cut = [call(&[last("2"), last("3")], 0, 30), call(&[last("2"), last("3")], 1, 30)];
        assert!(cut[0].starts_with("f(…1, ") && cut[0].ends_with("2])") && cut[1].ends_with("3])"), "{cut:?}");
        assert_eq!(call(&calls(&["print x of a long text", "y"]), 0, 10), "print x o…");
    }

    #[test]
    fn short_answers_leave_long_ones_their_room() {
        let answer = |shown: &str| Answer {
            shown: shown.to_owned(),
            candidates: vec![0],
            votes: 1,
            is_told: true,
            is_before: false,
        };
        let answers = [answer("SyntaxError: Identifier 'step' has been declared"), answer("[ 0, 1 ]"), answer("0")];
        let row = answers_in(&answers, 60);
        assert!(
            row.starts_with("1: SyntaxError: Identifier 'step' has") && row.ends_with("…  2: [ 0, 1 ]  3: 0"),
            "{row}"
        );
    }

    #[test]
    fn answers_that_differ_at_their_end_are_told_apart() {
        let long = |end: &str| format!("[{}{end}]", "1, ".repeat(40));
        let texts = apart(&[long("2"), long("3")], 40);
        assert!(texts[0].starts_with("…1, 1, ") && texts[0].ends_with("2]") && texts[0].len() < 40, "{texts:?}");
        assert!(texts[1].ends_with("3]") && texts[0] != texts[1]);
        assert_eq!(apart(&["12".to_owned(), "13".to_owned()], 40), ["12", "13"]);
        assert_eq!(apart(&[long("2"), long("2")], 40)[0], long("2"), "they are the same");
    }
}
