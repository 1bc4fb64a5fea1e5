//! Everything that tells the kinds of a function's parameters: its head, calls in texts, and the bodies of
//! candidates.

use super::annotation::Types;
use super::awaited;
use super::calls::{Call, Called};
use super::constants::Constants;
use super::described::Described;
use super::files::{is_path, with_files};
use super::head::{head_of, parameters};
use super::inputs::{Texts, shown_calls};
use super::keyed;
use super::kind::{Kind, Parameter, Way};
use super::links;
use super::literals::Literals;
use super::names::with_forms;
use super::nesting::Nesting;
use super::pairs::{are_intervals, rising};
use super::shape;
use super::stubs;
use super::uses::Uses;
use super::value::Argument;
use super::words::Words;
use crate::code::{Declarations, Target};

/// Parameters of a function with the kinds that all texts tell. `is_typed`: it declares them all.
pub struct Given {
    pub parameters: Vec<Parameter>,
    pub is_typed: bool,
}

/// Hands on what these texts and bodies tell of the function.
pub fn with_known<T>(
    target: &Target,
    called: &Called,
    texts: Texts<'_>,
    bodies: &[&str],
    then: impl FnOnce(&Known, Given) -> T,
) -> T {
    let head = head_of(target);
    let shown = shown_calls(target, called, head, texts.tests);
    let declared = Declarations::of_file(target.language, &target.text);
    let types = Types::new(target.language, &declared);
    let parameters = parameters(types, head, &called.name).unwrap_or_default();
    let mut parameters = shape::told(target.language, head, parameters);
    let is_typed = !parameters.is_empty() && parameters.iter().all(|parameter| parameter.kind.is_plain());
    let words = if shown.is_empty() {
        Words::of(target.language, head, &called.name, &parameters)
    } else {
        Words::none(target.language)
    };
    parameters.extend(words.named(head));
    let words = words.with_wish(texts.wish.unwrap_or_default());
    let literals = Literals::of(target.language, bodies);
    let uses = Uses::new(target.language, bodies, literals.columns(&parameters));
    let known = Known {
        function: (head, &called.name),
        types,
        constants: Constants::of(target.language, &target.text, &uses),
        uses,
        literals,
        nesting: Nesting::of(target.language, head, &called.name, bodies),
        described: Described::new(target.language, head, bodies),
        words,
        shown: &shown,
    };
    known.tell(&mut parameters, 0);
    let parameters = keyed::in_place(parameters, &known.uses);
    then(&known, Given { parameters, is_typed })
}

/// Everything that tells the kinds of parameters.
pub struct Known<'a> {
    /// The head of the function, and its name.
    function: (&'a str, &'a str),
    /// The types of the file.
    pub types: Types<'a>,
    uses: Uses,
    constants: Constants,
    literals: Literals,
    nesting: Nesting,
    described: Described,
    pub words: Words,
    /// Calls in texts.
    pub shown: &'a [Call],
}

impl Known<'_> {
    /// Tells the kinds of the parameters of the function, or of one that it returns: `level` 1, or 2 if that
    /// one returns it.
    pub fn tell(&self, parameters: &mut [Parameter], level: usize) {
        let is_only = parameters.len() == 1;
        for (at, parameter) in parameters.iter_mut().enumerate() {
            let is_it = |place: usize, argument: &Argument| match &argument.name {
                Some(name) => *name == parameter.name,
                None => place == at,
            };
            let of_call = |call: &Call| {
                let arguments = call.arguments.iter().enumerate();
                Some(Kind::of(&arguments.into_iter().find(|(place, argument)| is_it(*place, argument))?.1.value))
            };
            let calls = self.shown.iter().filter(|call| call.level == level);
            let seen = calls.filter_map(of_call).fold(Kind::Unknown, Kind::or);
            let told = seen.or(std::mem::take(&mut parameter.kind));
            *parameter = self.told(Parameter { kind: told, ..std::mem::take(parameter) }, is_only);
        }
    }

    /// A parameter of the kind that it has, or else that its name says.
    fn told(&self, parameter: Parameter, is_only: bool) -> Parameter {
        let (head, function) = self.function;
        let of_name = match Kind::of_name(&parameter.name) {
            _ if is_path(&parameter.name) => Kind::Path(Vec::new()),
            kind => self.described.kind(&parameter.name, kind, is_only),
        };
        let object = |fields: &[String]| links::object(self.types, fields);
        let is_open = parameter.kind == Kind::Unknown;
        if is_open && let Some(kind) = stubs::in_place(&parameter.name, &self.uses) {
            return Parameter { kind, ..parameter };
        }
        let shown = if is_open { self.uses.kind(&parameter.name, &of_name, &object) } else { None };
        let is_guessed = is_open && shown.as_ref().is_none_or(|kind| *kind == Kind::Text);
        let kind = if is_open { shown.unwrap_or(of_name) } else { parameter.kind };
        let kind = match kind {
            // Each of `*numbers` is a number.
            Kind::List(kind) if parameter.way == Way::Rest && is_open => *kind,
            kind => kind,
        };
        let kind = if are_intervals(head, &parameter.name) { rising(kind) } else { kind };
        let parameter = Parameter { kind, ..parameter };
        let parameter = self.literals.told(with_files(head, function, parameter, &self.uses), is_guessed);
        let parameter = self.constants.told(parameter, is_guessed, &self.uses);
        let kind = self.nesting.nested(parameter.kind, is_guessed);
        let is_open = is_guessed && !self.literals.shows(&parameter.name);
        let kind = self.words.told(kind, is_open);
        let parameter = awaited::in_place(head, Parameter { kind, ..parameter }, &self.uses);
        with_forms(head, function, parameter, is_open)
    }
}
