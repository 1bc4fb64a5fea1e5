//! Calls in a few columns: the arguments that tell them apart stay.

use std::cmp::Reverse;

use super::answers::apart;
use crate::tui::text;

/// Fewest columns of an argument: with fewer it says nothing.
const LEAST: usize = 4;

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
    let Some((head, arguments, tail)) = parts(own) else {
        return apart(own, &calls.iter().map(String::as_str).collect::<Vec<_>>(), columns);
    };
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
        let of_others: Vec<&str> = others.iter().filter_map(|other| other.get(place)).copied().collect();
        let ends = may_end(place);
        short[place] = if ends { text::fit(&short[place], most) } else { apart(&short[place], &of_others, most) };
    }
    text::fit(&joined(&short), columns)
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
}
