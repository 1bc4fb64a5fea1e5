//! Calls of several methods of one object: what one leaves behind shows in the next.

use super::annotation::Types;
use super::calls::Called;
use super::inputs::{called as called_as, head_of, parameters};
use super::kind::{Kind, Parameter, arguments};
use super::value::written;
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

/// The calls before call `number` of a method: of another method that takes something, or several of its own.
pub fn earlier(called: &Called, parameters: &[Parameter], others: &[Method], number: usize) -> Vec<Earlier> {
    let of = |method: &str, parameters: &[Parameter], number: usize| Earlier {
        method: method.to_owned(),
        arguments: written(&arguments(parameters, number, None), called.language),
    };
    let others: Vec<&Method> = others.iter().filter(|method| !method.taken.is_empty()).take(MOST_BEFORE).collect();
    let other = others.get(number / 4 % others.len().max(1));
    match (number % 4, other) {
        (3, Some(other)) => (0..2).map(|at| of(&other.name, &other.taken, number + at)).collect(),
        (1, Some(other)) if called.is_read => vec![of(&other.name, &other.taken, number / 4)],
        _ if called.is_read => Vec::new(),
        (1, _) => vec![of(&called.name, parameters, number / 2)],
        (2, _) => (0..MANY).map(|at| of(&called.name, parameters, number / 4 + at)).collect(),
        _ => Vec::new(),
    }
}

/// Call `number`, if it is one of another method after the function: twice, with the values that the function
/// is given where both take the same. `callee` names the function on its object.
pub fn later(
    called: &Called,
    (callee, parameters): (&str, &[Parameter]),
    others: &[Method],
    number: usize,
) -> Option<Input> {
    let others = &others[..others.len().min(MOST_AFTER)];
    let other = others.get(number / 8 % others.len().max(1)).filter(|_| number % 8 == 5 && !called.is_read)?;
    let given = |parameters: &[Parameter]| written(&arguments(parameters, number, None), called.language);
    let earlier = |method: &str, arguments: String| Earlier { method: method.to_owned(), arguments };
    let mut before = vec![earlier(&called.name, given(parameters))];
    before.extend((!other.is_read).then(|| earlier(&other.name, given(&other.taken))));
    let callee = format!("{}{}", callee.strip_suffix(&called.name)?, other.name);
    Some(Input { callee, arguments: given(&other.taken), earlier: before, is_read: other.is_read, ..Input::default() })
}
