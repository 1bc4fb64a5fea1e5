//! Calls of several methods of one object: what one leaves behind shows in the next.

use super::annotation::Types;
use super::calls::Called;
use super::head::{head_of, parameters};
use super::inputs::called as called_as;
use super::kind::{Kind, Parameter, Way, arguments};
use super::related::{self, related};
use super::value::{Argument, Value, written};
use crate::code::{self, Place, Target};
use crate::trial::{Earlier, Input};

/// Most other methods of a class that are called before a method, and most that are called after it.
const MOST_BEFORE: usize = 3;
const MOST_AFTER: usize = 4;
/// Calls of a method before its own: enough to fill what holds few.
const MANY: usize = 4;

/// A finished method of the function's class.
#[derive(Debug)]
pub struct Method {
    name: String,
    taken: Vec<Parameter>,
    /// True for a property.
    is_read: bool,
}

/// The other methods of the function's class that are finished.
pub fn others(target: &Target, called: &Called, types: Types) -> Vec<Method> {
    let Some(class) = &called.class else { return Vec::new() };
    let of = |name: &code::FunctionName| {
        let method = name.name.strip_prefix(class)?.strip_prefix('.')?;
        let is_other = name.finished && method != called.name && !method.starts_with('_') && method != "constructor";
        let place = Place::Function(name.name.clone());
        let other = Target::in_text(&target.text, target.language, &place).ok().filter(|_| is_other)?;
        let of = called_as(&other).ok().filter(|called| !called.is_static)?;
        let taken = if of.is_read { Vec::new() } else { parameters(types, head_of(&other), method)? };
        let guessed = |one: Parameter| match one.kind {
            Kind::Unknown => Parameter { kind: Kind::of_name(&one.name), ..one },
            _ => one,
        };
        let taken = taken.into_iter().map(guessed).collect();
        Some(Method { name: method.to_owned(), taken, is_read: of.is_read })
    };
    code::function_names(target.language, &target.text).iter().filter_map(of).collect()
}

/// Values that the calls before a call, and its object, were given.
#[derive(Debug, Default)]
pub struct Before {
    /// The numbers of the object; if it has none, those of the other method.
    pub numbers: Vec<i64>,
    /// Values of the other method by the names of its parameters.
    shared: Vec<(String, Value)>,
}

impl Before {
    /// Nothing but the numbers of the object.
    pub fn of(numbers: Vec<i64>) -> Self {
        Self { numbers, shared: Vec::new() }
    }

    /// Arguments in which a parameter of a name that the other method has, too, has a value that was given to
    /// it, but for each third call: a key that is there.
    pub fn share(&self, parameters: &[Parameter], mut given: Vec<Argument>, number: usize) -> Vec<Argument> {
        if number / 4 % 3 == 2 {
            return given;
        }
        for (parameter, argument) in parameters.iter().zip(&mut given) {
            let mut own = self.shared.iter().filter(|(name, _)| *name == parameter.name).map(|(_, value)| value);
            let is_placed = parameter.way == Way::Placed && argument.name.is_none();
            if let Some(value) = own.next().filter(|_| is_placed) {
                argument.value = value.clone();
            }
        }
        given
    }

    fn note(&mut self, parameters: &[Parameter], given: &[Argument]) {
        let placed = parameters.iter().zip(given).filter(|(parameter, _)| parameter.way == Way::Placed);
        self.shared.extend(placed.map(|(parameter, argument)| (parameter.name.clone(), argument.value.clone())));
    }
}

/// The calls before call `number` of a method: of another method that takes something, or several of its own.
pub fn earlier(
    called: &Called,
    parameters: &[Parameter],
    (others, before): (&[Method], &mut Before),
    number: usize,
) -> Vec<Earlier> {
    let of = |method: &str, given: &[Argument]| Earlier {
        method: method.to_owned(),
        arguments: written(given, called.language),
    };
    let own = |number: usize, numbers: &[i64]| {
        of(&called.name, &related(arguments(parameters, number, None), numbers, number, true))
    };
    let others: Vec<&Method> = others.iter().filter(|method| !method.taken.is_empty()).take(MOST_BEFORE).collect();
    let other = others.get(number / 4 % others.len().max(1));
    match (number % 4, other) {
        (3, Some(other)) => {
            let given: Vec<_> = (0..2).map(|at| arguments(&other.taken, number + at, None)).collect();
            if before.numbers.is_empty() {
                let sum: i64 = given.iter().flat_map(|one| related::of_arguments(one)).sum();
                before.numbers.extend((sum > 0).then_some(sum));
            }
            for one in &given {
                before.note(&other.taken, one);
            }
            given.iter().map(|one| of(&other.name, one)).collect()
        }
        (1, Some(other)) if called.is_read => vec![of(&other.name, &arguments(&other.taken, number / 4, None))],
        _ if called.is_read => Vec::new(),
        (1, _) => vec![own(number / 2, &before.numbers)],
        (2, _) => (0..MANY).map(|at| own(number / 4 + at, &before.numbers)).collect(),
        _ => Vec::new(),
    }
}

/// Returns true for the number of a call that [`later`] may make.
pub fn is_later(number: usize) -> bool {
    number % 8 == 5
}

/// Call `number`, if it is one of another method after the function. `callee` names the function on its object.
/// Each second one fills the object first, as far as its numbers say, where both take something of one name:
/// the other method, the function with what the first of these calls was given, then the other one again.
/// Else the other one follows twice, with the values that the function is given where both take the same.
pub fn later(
    called: &Called,
    (callee, parameters): (&str, &[Parameter]),
    (others, numbers): (&[Method], &[i64]),
    number: usize,
) -> Option<Input> {
    let others = &others[..others.len().min(MOST_AFTER)];
    let other = others.get(number / 8 % others.len().max(1)).filter(|_| is_later(number) && !called.is_read)?;
    let given = |parameters: &[Parameter], number: usize| arguments(parameters, number, None);
    let text = |given: &[Argument]| written(given, called.language);
    let earlier = |method: &str, arguments: String| Earlier { method: method.to_owned(), arguments };
    let callee = format!("{}{}", callee.strip_suffix(&called.name)?, other.name);
    let is_shared = parameters.iter().any(|one| other.taken.iter().any(|own| own.name == one.name));
    if is_shared && (number / 8 / others.len()).is_multiple_of(2) {
        let count = numbers.first().and_then(|most| usize::try_from(*most).ok()).unwrap_or(2).clamp(1, MANY);
        let mut first = Before::default();
        first.note(&other.taken, &given(&other.taken, 1));
        let own = first.share(parameters, given(parameters, number), 0);
        let mut before: Vec<Earlier> =
            (1..=count).map(|at| earlier(&other.name, text(&given(&other.taken, at)))).collect();
        before.push(earlier(&called.name, text(&own)));
        let arguments = text(&given(&other.taken, count + 1));
        return Some(Input { callee, arguments, earlier: before, is_read: other.is_read, ..Input::default() });
    }
    let mut before = vec![earlier(&called.name, text(&given(parameters, number)))];
    let arguments = text(&given(&other.taken, number));
    before.extend((!other.is_read).then(|| earlier(&other.name, arguments.clone())));
    Some(Input { callee, arguments, earlier: before, is_read: other.is_read, ..Input::default() })
}
