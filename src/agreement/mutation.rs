//! Changes of a value that show what code does at its edges.

use super::value::Value;

/// A change of a value. `pick` chooses among several places. `None` where it changes nothing.
pub type Mutation = fn(&Value, usize) -> Option<Value>;

/// The changes, in turns.
pub const MUTATIONS: &[Mutation] = &[
    inner, empty, one, doubled, reversed, negated, up, down, zero, shorter, repeated, large, beyond_ascii, other_case,
];

/// Changes what is inside; a value without an inside by a step.
fn inner(value: &Value, pick: usize) -> Option<Value> {
    let change = |all: &[Value]| {
        let at = pick.checked_rem(all.len())?;
        let changed = MUTATIONS[1 + pick / 3 % (MUTATIONS.len() - 1)](&all[at], pick / 2)?;
        let mut all = all.to_vec();
        all[at] = changed;
        Some(all)
    };
    Some(match value {
        Value::List(all) => Value::List(change(all)?),
        Value::Tuple(all) => Value::Tuple(change(all)?),
        Value::Set(all) => Value::Set(change(all)?),
        Value::Dict(all) => {
            let values: Vec<Value> = all.iter().map(|(_, value)| value.clone()).collect();
            Value::Dict(all.iter().map(|(key, _)| key.clone()).zip(change(&values)?).collect())
        }
        Value::Text(text) => {
            let chars: Vec<char> = text.chars().collect();
            let at = pick.checked_rem(chars.len())?;
            Value::Text([&chars[..at], &chars[at + 1..]].concat().into_iter().collect())
        }
        Value::Bool(value) => Value::Bool(!value),
        _ => return None,
    })
}

fn empty(value: &Value, _: usize) -> Option<Value> {
    Some(match value {
        Value::List(all) if !all.is_empty() => Value::List(Vec::new()),
        Value::Set(all) if !all.is_empty() => Value::Set(Vec::new()),
        Value::Dict(all) if !all.is_empty() => Value::Dict(Vec::new()),
        Value::Text(text) if !text.is_empty() => Value::Text(String::new()),
        _ => return None,
    })
}

fn one(value: &Value, pick: usize) -> Option<Value> {
    let one = |all: &[Value]| (all.len() > 1).then(|| vec![all[pick % all.len()].clone()]);
    Some(match value {
        Value::List(all) => Value::List(one(all)?),
        Value::Set(all) => Value::Set(one(all)?),
        Value::Dict(all) if all.len() > 1 => Value::Dict(vec![all[pick % all.len()].clone()]),
        Value::Text(text) if text.chars().count() > 1 => Value::Text(text.chars().take(1).collect()),
        _ => return None,
    })
}

fn doubled(value: &Value, _: usize) -> Option<Value> {
    Some(match value {
        Value::List(all) if !all.is_empty() => Value::List([&all[..], all].concat()),
        Value::Text(text) if !text.is_empty() => Value::Text(text.repeat(2)),
        Value::Int(number) if *number != 0 => Value::Int(number.checked_mul(2)?),
        Value::Float(number) if *number != 0.0 => Value::Float(number * 2.0),
        _ => return None,
    })
}

fn reversed(value: &Value, _: usize) -> Option<Value> {
    let changed = match value {
        Value::List(all) => Value::List(all.iter().rev().cloned().collect()),
        Value::Tuple(all) => Value::Tuple(all.iter().rev().cloned().collect()),
        Value::Text(text) => Value::Text(text.chars().rev().collect()),
        _ => return None,
    };
    (changed != *value).then_some(changed)
}

fn negated(value: &Value, _: usize) -> Option<Value> {
    Some(match value {
        Value::Int(number) if *number != 0 => Value::Int(number.checked_neg()?),
        Value::Float(number) if *number != 0.0 => Value::Float(-number),
        Value::Bool(value) => Value::Bool(!value),
        Value::List(all) => {
            let all = all.iter().map(|value| negated(value, 0)).collect::<Option<Vec<_>>>()?;
            (!all.is_empty()).then_some(Value::List(all))?
        }
        _ => return None,
    })
}

fn up(value: &Value, pick: usize) -> Option<Value> {
    Some(match value {
        Value::Int(number) => Value::Int(number.checked_add(1)?),
        Value::Float(number) => Value::Float(number + 0.5),
        // One element more.
        Value::List(all) => {
            Value::List([&all[..], &[all.get(pick.checked_rem(all.len())?).and_then(|one| up(one, pick))?]].concat())
        }
        Value::Text(text) if !text.is_empty() => Value::Text(format!("{text}b")),
        _ => return None,
    })
}

fn down(value: &Value, _: usize) -> Option<Value> {
    Some(match value {
        Value::Int(number) => Value::Int(number.checked_sub(1)?),
        Value::Float(number) => Value::Float(number - 0.5),
        Value::Text(text) if text.contains(' ') => Value::Text(text.replace(' ', "")),
        _ => return None,
    })
}

fn zero(value: &Value, _: usize) -> Option<Value> {
    Some(match value {
        Value::Int(number) if *number != 0 => Value::Int(0),
        Value::Float(number) if *number != 0.0 => Value::Float(0.0),
        _ => return None,
    })
}

fn shorter(value: &Value, _: usize) -> Option<Value> {
    Some(match value {
        Value::List(all) if all.len() > 1 => Value::List(all[..all.len() - 1].to_vec()),
        Value::Text(text) if text.chars().count() > 1 => Value::Text(text.chars().skip(1).collect()),
        Value::Int(number) if *number > 9 || *number < -9 => Value::Int(number / 10),
        _ => return None,
    })
}

fn repeated(value: &Value, pick: usize) -> Option<Value> {
    Some(match value {
        Value::List(all) => {
            let again = all.get(pick.checked_rem(all.len())?)?.clone();
            Value::List([&[again], &all[..]].concat())
        }
        Value::Text(text) => {
            let first: String = text.chars().take(1).collect();
            (!first.is_empty()).then(|| Value::Text(first + text))?
        }
        _ => return None,
    })
}

fn large(value: &Value, _: usize) -> Option<Value> {
    Some(match value {
        Value::Int(number) => Value::Int(number.checked_mul(10)?.checked_add(7)?),
        Value::Float(number) => Value::Float(number * 100.0),
        Value::List(all) if !all.is_empty() && all.len() < 8 => Value::List([&all[..], all, all, all].concat()),
        _ => return None,
    })
}

fn beyond_ascii(value: &Value, _: usize) -> Option<Value> {
    let Value::Text(text) = value else { return None };
    Some(Value::Text(format!("{text}\u{e9}")))
}

fn other_case(value: &Value, _: usize) -> Option<Value> {
    let Value::Text(text) = value else { return None };
    let upper = text.to_uppercase();
    let changed = if upper == *text { text.to_lowercase() } else { upper };
    (changed != *text).then_some(Value::Text(changed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::value::literal;
    use crate::language::Language;

    #[test]
    fn each_mutation_changes_some_value() {
        let values =
            ["0", "12", "-2.5", "\"ab c\"", "[3, 1, 2]", "(1, \"x\")", "{\"a\": 1, \"b\": 2}", "{1, 2}", "True"];
        let values = values.map(|text| literal(text, Language::Python).unwrap().0);
        for (at, mutation) in MUTATIONS.iter().enumerate() {
            let changed: Vec<_> =
                values.iter().filter_map(|value| mutation(value, 7).filter(|new| new != value)).collect();
            assert!(!changed.is_empty(), "mutation {at}");
        }
        let most = [i64::MAX, i64::MIN].map(Value::Int);
        for (value, mutation) in most.iter().flat_map(|value| MUTATIONS.iter().map(move |mutation| (value, mutation))) {
            let _ = mutation(value, usize::MAX);
        }
        for empty in ["[]", "\"\"", "()", "{}", "set()"].map(|text| literal(text, Language::Python).unwrap().0) {
            for mutation in MUTATIONS {
                let _ = mutation(&empty, 5);
            }
        }
    }
}
