//! Pairs of numbers: ends of intervals, points, edges.

use super::kind::Kind;
use super::value::Value;
use crate::code;

/// Pairs in which the first number is not above the second. Neighbours overlap, touch or lie in one another.
const PAIRS: &[(i64, i64)] = &[
    (0, 0),
    (1, 4),
    (2, 6),
    (5, 5),
    (6, 8),
    (1, 10),
    (3, 4),
    (8, 10),
    (10, 12),
    (15, 18),
    (0, 2),
    (4, 5),
    (20, 30),
    (-3, 1),
    (7, 9),
    (2, 3),
    (12, 13),
];

/// Other pairs: edges of small graphs, with ways around and without, points.
const POINTS: &[(i64, i64)] = &[
    (0, 0),
    (0, 1),
    (1, 2),
    (2, 0),
    (3, 1),
    (1, 3),
    (2, 2),
    (4, 2),
    (0, 3),
    (3, 4),
    (-1, 5),
    (5, 2),
    (1, 0),
    (2, 3),
    (4, 0),
    (3, 2),
    (7, -2),
];

/// Words for ends of intervals.
const INTERVALS: &[&str] = &[
    "interval", "intervals", "range", "ranges", "span", "spans", "slot", "slots", "busy", "meeting", "meetings",
    "booking", "bookings", "overlap", "overlaps", "overlapping", "segment", "segments", "period", "periods",
];

/// Words for what begins and what ends.
const ENDS: [&[&str]; 2] = [
    &["start", "begin", "beginning", "since", "low", "lo", "lower", "min", "minimum", "first"],
    &["end", "stop", "finish", "until", "high", "hi", "upper", "max", "maximum", "last"],
];

/// A sort of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Python: a list, and no tuple.
    pub is_list: bool,
    /// The first number is never above the second.
    pub is_rising: bool,
}

impl Pair {
    /// The pair of this number; they repeat after some.
    pub fn typical(self, number: usize) -> Value {
        let all = if self.is_rising { PAIRS } else { POINTS };
        let (first, second) = all[number % all.len()];
        let pair = vec![Value::Int(first), Value::Int(second)];
        if self.is_list { Value::List(pair) } else { Value::Tuple(pair) }
    }
}

/// Returns true if a parameter of this name has intervals, or the head of its function speaks of some.
pub fn are_intervals(head: &str, name: &str) -> bool {
    let is_it = |word: &String| INTERVALS.contains(&word.as_str());
    code::words_of_names(name).iter().chain(&code::words_of_names(head)).any(is_it)
}

/// Returns true if parameters of these names are the beginning and the end of something.
pub fn are_ends(first: &str, second: &str) -> bool {
    let has = |name: &str, words: &[&str]| code::words_of_names(name).iter().any(|word| words.contains(&word.as_str()));
    has(first, ENDS[0]) && has(second, ENDS[1])
}

/// Returns true if a value is above another one: numbers, and dates by their numbers.
pub fn is_above(first: &Value, second: &Value) -> bool {
    match (first, second) {
        (Value::Int(first), Value::Int(second)) => first > second,
        (Value::Float(first), Value::Float(second)) => first > second,
        (Value::Other(first), Value::Other(second)) => numbers(first) > numbers(second),
        _ => false,
    }
}

/// The numbers in an expression.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// The kind with rising pairs in the place of pairs of numbers.
pub fn rising(kind: Kind) -> Kind {
    let is_number = |kind: &Kind| matches!(kind, Kind::Int | Kind::Float | Kind::Unknown);
    match kind {
        Kind::Tuple(all) if all.len() == 2 && all.iter().all(is_number) => {
            Kind::Pair(Pair { is_list: false, is_rising: true })
        }
        Kind::Pair(pair) => Kind::Pair(Pair { is_rising: true, ..pair }),
        kind => kind.with_inside(&rising),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn ends_of_intervals_rise_and_other_pairs_need_not() {
        let pair = |is_rising| Kind::Pair(Pair { is_list: false, is_rising });
        let rises = |value: &Value| match value {
            Value::Tuple(all) => matches!(all[..], [Value::Int(first), Value::Int(second)] if first <= second),
            _ => false,
        };
        assert!((0..40).all(|number| rises(&pair(true).typical(number))));
        assert!(!(0..40).all(|number| rises(&pair(false).typical(number))));
        let ints = || vec![Kind::Int, Kind::Int];
        for (kind, expected) in [
            (Kind::Tuple(ints()), pair(true)),
            (Kind::List(Box::new(pair(false))), Kind::List(Box::new(pair(true)))),
            (Kind::Tuple(vec![Kind::Int, Kind::Text]), Kind::Tuple(vec![Kind::Int, Kind::Text])),
        ] {
            assert_eq!(rising(kind), expected);
        }
        let list = Kind::List(Box::new(pair(true))).typical(2).written(Language::Python);
        assert_eq!(list, "[(1, 4), (2, 6), (5, 5)]");
        let listed = Kind::Pair(Pair { is_list: true, is_rising: true }).typical(1).written(Language::Python);
        assert_eq!(listed, "[1, 4]");
        assert!(are_intervals("", "busySlots") && are_intervals("\"Merge overlapping ones.\"", "a"));
        assert!(!are_intervals("def f(points):", "points"));
    }

    #[test]
    fn ends_are_known_by_name_and_compared_as_numbers() {
        assert!(are_ends("start_date", "endDate") && are_ends("lo", "hi") && !are_ends("end", "start"));
        let date = |text: &str| Value::Other(format!("date({text})"));
        assert!(
            is_above(&date("2024, 5, 17"), &date("2023, 12, 31"))
                && !is_above(&date("2024, 5, 7"), &date("2024, 5, 17"))
        );
        assert!(is_above(&Value::Int(2), &Value::Int(1)) && !is_above(&Value::Int(2), &Value::Text(String::new())));
    }
}
