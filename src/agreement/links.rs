//! Objects that hold others of their own class: trees and linked lists.

use super::annotation::Types;
use super::kind::{Kind, Parameter, Way};
use super::value::{Argument, Value};
use crate::language::Language;

/// Objects below an object that are made.
pub const LEVELS: usize = 3;
/// Different values of objects in one: few, so that some are equal.
pub const VALUES: usize = 5;
/// Numbers of objects in lists.
const COUNTS: [usize; 9] = [0, 1, 2, 0, 3, 0, 1, 0, 4];

/// Names of what holds one other object of the same class.
const ONE: &[&str] = &["left", "right", "next", "child", "rest", "next_node", "nextNode"];
/// Names of what holds several.
const SEVERAL: &[&str] = &["children", "kids", "subtrees", "branches", "nodes"];

/// The kind of a field of this name that holds objects of its own class, if it usually does.
pub fn held(name: &str, object: impl FnOnce() -> Kind) -> Option<Kind> {
    let name = name.trim_start_matches('_');
    match name {
        _ if ONE.contains(&name) => Some(Kind::Maybe(Box::new(object()))),
        _ if SEVERAL.contains(&name) => Some(Kind::List(Box::new(object()))),
        _ => None,
    }
}

/// Objects with these fields: of the class of a file whose constructor takes all of them, or else plain ones.
pub fn object(types: Types, fields: &[String]) -> Kind {
    let of_class = |class: &str| {
        let kind = types.object(class)?;
        let Kind::New(_, taken) = &kind else { return None };
        let takes = |field: &String| taken.iter().any(|one| one.name.trim_start_matches('_') == *field);
        fields.iter().all(takes).then_some(kind)
    };
    types.classes().into_iter().find_map(of_class).unwrap_or_else(|| plain(types.language, fields, 0))
}

fn plain(language: Language, fields: &[String], level: usize) -> Kind {
    let object = || match level {
        LEVELS => Kind::Nothing,
        _ => Kind::Link(Box::new(plain(language, fields, level + 1))),
    };
    let one = |name: &String| {
        let kind = held(name, object).unwrap_or_else(|| Kind::of_name(name));
        Parameter { name: name.clone(), kind, way: Way::Named, ..Parameter::default() }
    };
    let all = fields.iter().map(one).collect();
    match language {
        Language::Python => Kind::New("__import__(\"types\").SimpleNamespace".to_owned(), all),
        _ => Kind::Fields(all),
    }
}

/// Returns true if an object that is made of these holds others of its own class.
pub fn are_linked(parameters: &[Parameter]) -> bool {
    parameters.iter().any(|parameter| is_link(&parameter.kind))
}

fn is_link(kind: &Kind) -> bool {
    match kind {
        Kind::Link(_) | Kind::Nothing => true,
        Kind::Maybe(kind) | Kind::List(kind) | Kind::Row(kind) | Kind::Set(kind) | Kind::Dict(_, kind) => is_link(kind),
        _ => false,
    }
}

/// The arguments of object number `number` of a class whose objects hold others. The first holds none.
pub fn arguments(parameters: &[Parameter], number: usize) -> Vec<Argument> {
    let mut all = Vec::new();
    for (at, parameter) in parameters.iter().enumerate() {
        let turn = mixed(number, at);
        let is_link = is_link(&parameter.kind);
        let value = match number {
            _ if !is_link => parameter.kind.typical(turn % VALUES),
            0 => linked(&parameter.kind, 0),
            _ => linked(&parameter.kind, turn),
        };
        let is_left = is_link && parameter.has_default && is_empty(&value);
        let name = (parameter.way == Way::Named).then(|| parameter.name.clone());
        all.push((Argument { name, value }, is_left));
    }
    // Only the last ones are left out.
    while all.last().is_some_and(|(_, is_left)| *is_left) {
        all.pop();
    }
    all.into_iter().map(|(argument, _)| argument).collect()
}

/// The object of this number on which methods are called. Each second one is made of small values: one that
/// holds few is soon full. Half of the others are given all that they take: a balance that is left out is none.
pub fn receiver(object: &Kind, number: usize) -> Value {
    match object {
        Kind::New(class, taken) if number.is_multiple_of(2) => Value::Made(class.clone(), arguments(taken, number)),
        Kind::New(class, taken) if number % 4 == 3 && !are_linked(taken) => {
            Value::Made(class.clone(), super::kind::arguments(taken, number, Some(taken.len())))
        }
        kind => kind.typical(number),
    }
}

/// The value of a field that holds objects: none if `turn` is 0.
fn linked(kind: &Kind, turn: usize) -> Value {
    let several = |kind: &Kind| {
        let count = if *kind == Kind::Nothing { 0 } else { COUNTS[turn % COUNTS.len()] };
        (0..count).map(|at| linked(kind, mixed(turn, at))).collect::<Vec<_>>()
    };
    match kind {
        Kind::Maybe(_) if turn % 5 < 2 => Value::None,
        Kind::Maybe(kind) => linked(kind, turn / 5),
        Kind::List(kind) => Value::List(several(kind)),
        Kind::Row(kind) => Value::Tuple(several(kind)),
        Kind::Set(kind) => Value::Set(several(kind)),
        Kind::Dict(key, kind) => {
            let entries = several(kind).into_iter().enumerate();
            let key = if **key == Kind::Unknown { &Kind::Text } else { key };
            Value::Dict(entries.map(|(at, value)| (key.typical(at + 1), value)).collect())
        }
        kind => kind.typical(turn),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::None => true,
        Value::List(all) | Value::Tuple(all) | Value::Set(all) => all.is_empty(),
        Value::Dict(all) => all.is_empty(),
        _ => false,
    }
}

/// Number of the objects of a class in a value that one of them is.
pub fn count(value: &Value, class: &str) -> usize {
    match value {
        Value::Made(callee, arguments) => {
            let within: usize = arguments.iter().map(|argument| count(&argument.value, class)).sum();
            within + usize::from(callee == class)
        }
        Value::List(all) | Value::Tuple(all) | Value::Set(all) => all.iter().map(|one| count(one, class)).sum(),
        Value::Dict(all) => all.iter().map(|(_, one)| count(one, class)).sum(),
        _ => 0,
    }
}

/// A number that two numbers tell, in no order.
fn mixed(number: usize, at: usize) -> usize {
    let state = (number as u64 * 31 + at as u64 * 7 + 1).wrapping_mul(6_364_136_223_846_793_005);
    (state >> 33) as usize % 997
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Declarations;

    fn objects(language: Language, file: &str, fields: &[&str]) -> Vec<String> {
        let declared = Declarations::of_file(language, file);
        let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
        let kind = object(Types::new(language, &declared), &fields);
        (0..30).map(|number| kind.typical(number).written(language)).collect()
    }

    #[test]
    fn objects_have_the_fields_that_are_read() {
        let tree = "class Odd:\n    def __init__(self, a):\n        pass\n\nclass Node:\n    def __init__(self, value, left=None, right=None):\n        pass\n";
        let all = objects(Language::Python, tree, &["left", "value"]);
        assert!(!all[0].contains(',') && all.iter().all(|text| text.starts_with("Node(")), "{all:?}");
        assert!(all.iter().any(|text| text.contains("None, Node(")), "only a right one: {all:?}");
        let depth = |text: &String| {
            text.split_inclusive(['(', ')']).fold((0, 0), |(now, most), part| {
                let now = if part.ends_with('(') { now + 1 } else { now - 1 };
                (now, most.max(now))
            })
        };
        let depths: Vec<i32> = all.iter().map(|text| depth(text).1).collect();
        assert!((1..=4).all(|depth| depths.contains(&depth)) && !depths.contains(&5), "{depths:?}");
        let all = objects(Language::Python, tree, &["left", "size"]);
        let made = "__import__(\"types\").SimpleNamespace(left=None, size=";
        assert!(all[0].starts_with(made) && all.iter().any(|text| text.contains("(left=__import__(")), "{all:?}");
        let all = objects(Language::JavaScript, "", &["children", "value"]);
        assert!(all.iter().any(|text| text.contains("[{\"children\": [{")), "{all:?}");
        let all = objects(
            Language::JavaScript,
            "export class Item {\n  constructor(value, next = null) {\n  }\n}\n",
            &["next", "value"],
        );
        assert!(all.iter().any(|text| text.starts_with("new Item(3, new Item(")), "{all:?}");
    }

    #[test]
    fn values_in_one_object_are_few() {
        let all = objects(Language::Python, "", &["children", "value"]);
        let values = |text: &String| text.matches("value=1)").count();
        assert!(all.iter().any(|text| values(text) > 1), "{all:?}");
    }

    #[test]
    fn each_second_receiver_is_made_of_small_values() {
        let one = Parameter { name: "size".to_owned(), kind: Kind::Int, ..Parameter::default() };
        let class = Kind::New("A".to_owned(), vec![one]);
        let sizes = (0..40).step_by(2).map(|number| receiver(&class, number).written(Language::Python));
        let small = ["A(0)", "A(1)", "A(2)", "A(3)", "A(10)"];
        assert!(sizes.into_iter().all(|text| small.contains(&text.as_str())));
        assert_eq!(receiver(&class, 5), class.typical(5));
        let left = Parameter { name: "balance".to_owned(), kind: Kind::Int, has_default: true, ..Parameter::default() };
        let given = receiver(&Kind::New("A".to_owned(), vec![left]), 7).written(Language::Python);
        assert_eq!(given, "A(100)", "also what may be left out");
    }
}
