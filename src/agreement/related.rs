//! Numbers of methods in relation to those that their objects were made with: some are below, some equal,
//! some above. What an object covers, holds or allows shows only so.

use super::value::{Argument, Value, arguments};
use crate::language::Language;

/// The numbers above zero that the object of a callee is made with: `Account("a", 100).withdraw` has 100.
pub fn numbers(callee: &str, class: Option<&str>, language: Language) -> Vec<i64> {
    let Some(class) = class else { return Vec::new() };
    let Some(at) = callee.find(&format!("{class}(")) else { return Vec::new() };
    let given = arguments(callee, at + class.len() + 1, language).map_or_else(Vec::new, |(all, _)| all);
    of_arguments(&given)
}

/// The numbers above zero among arguments and in their dictionaries.
pub fn of_arguments(given: &[Argument]) -> Vec<i64> {
    given.iter().flat_map(|argument| of_value(&argument.value)).filter(|number| *number > 0).collect()
}

fn of_value(value: &Value) -> Vec<i64> {
    match value {
        Value::Int(number) => vec![*number],
        #[expect(clippy::cast_possible_truncation, reason = "the numbers are small")]
        Value::Float(number) => vec![number.floor() as i64],
        Value::Dict(all) => all.iter().flat_map(|(_, value)| of_value(value)).collect(),
        _ => Vec::new(),
    }
}

/// Arguments of which a number stands in relation to one of those of the object, call by call: below, equal,
/// one above, and as it is. `is_before`: those of the calls before are far below, so that something is left.
pub fn related(mut given: Vec<Argument>, of: &[i64], turn: usize, is_before: bool) -> Vec<Argument> {
    let Some(&number) = of.get(turn / 4 % of.len().max(1)) else { return given };
    let related = match turn % 4 {
        _ if is_before => (number / 4).max(1),
        0 => (number / 2).max(1),
        1 => number,
        2 => number + 1,
        _ => return given,
    };
    let are_numbers = |argument: &&mut Argument| matches!(argument.value, Value::Int(_) | Value::Float(_));
    let count = given.iter_mut().filter(are_numbers).count();
    // Of several numbers it is one.
    let own = given.iter_mut().filter(are_numbers).nth(turn / 4 % count.max(1));
    match own.map(|argument| &mut argument.value) {
        Some(Value::Int(own)) => *own = related,
        #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
        Some(Value::Float(own)) => *own = related as f64,
        _ => {}
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_methods_are_below_equal_and_above_those_of_their_objects() {
        let of = |callee: &str| numbers(callee, Some("A"), Language::Python);
        assert_eq!(of("A(\"x\", 10, limit=0).take"), [10]);
        assert_eq!(of("A({\"size\": 3}, 2.5).take"), [3, 2]);
        assert_eq!(of("B(4).take"), [0_i64; 0]);
        assert_eq!(numbers("(new A(4)).take", Some("A"), Language::JavaScript), [4]);
        let given = || vec![Argument { name: None, value: Value::Int(99) }];
        let one = |turn, is_before| related(given(), &[10], turn, is_before)[0].value.clone();
        assert_eq!([0, 1, 2, 3].map(|turn| one(turn, false)), [5, 10, 11, 99].map(Value::Int));
        assert_eq!(one(1, true), Value::Int(2));
        assert_eq!(related(given(), &[], 0, false), given());
    }
}
