//! Parameters that name fields of the rows of another one: `sort_by(rows, *fields)`. Each names some that are
//! there.

use super::kind::{Kind, Parameter};
use super::uses::{Uses, is_key_name};
use super::value::Value;

/// The parameters with names of fields in the place of other texts, and with rows that have them.
pub fn in_place(mut parameters: Vec<Parameter>, uses: &Uses) -> Vec<Parameter> {
    let is_keyed = |parameter: &Parameter| is_key_name(&parameter.name) && is_text(&parameter.kind);
    let Some(rows) = parameters.iter().position(|parameter| are_rows(&parameter.kind)) else { return parameters };
    if !parameters.iter().any(is_keyed) {
        return parameters;
    }
    let names = if let Some(names) = names_in(&parameters[rows].kind) {
        names
    } else {
        parameters[rows].kind = Kind::List(Box::new(uses.row()));
        uses.key_names()
    };
    // A name may have a mark that candidates look for.
    let marked = if uses.speak_of("-") { names.iter().map(|name| format!("-{name}")).collect() } else { Vec::new() };
    let told: Vec<Value> = names.into_iter().chain(marked).map(Value::Text).collect();
    for parameter in parameters.iter_mut().filter(|parameter| is_keyed(parameter)) {
        parameter.kind = placed(std::mem::take(&mut parameter.kind), &told);
    }
    parameters
}

fn is_text(kind: &Kind) -> bool {
    match kind {
        Kind::Text => true,
        Kind::Told(_, kind) | Kind::List(kind) | Kind::Maybe(kind) => is_text(kind),
        _ => false,
    }
}

/// Returns true for lists of dictionaries of any keys.
fn are_rows(kind: &Kind) -> bool {
    match kind {
        Kind::List(kind) => match &**kind {
            Kind::Fields(_) => true,
            Kind::Dict(key, value) => {
                matches!(**key, Kind::Text | Kind::Unknown) && matches!(**value, Kind::Unknown | Kind::Int)
            }
            _ => false,
        },
        Kind::Told(_, kind) => are_rows(kind),
        Kind::Either(one, other) => are_rows(one) || are_rows(other),
        _ => false,
    }
}

/// The names of the fields that rows have.
fn names_in(kind: &Kind) -> Option<Vec<String>> {
    match kind {
        Kind::Fields(fields) => Some(fields.iter().map(|field| field.name.clone()).collect()),
        Kind::List(kind) | Kind::Told(_, kind) => names_in(kind),
        Kind::Either(one, other) => names_in(one).or_else(|| names_in(other)),
        _ => None,
    }
}

/// The kind with these texts in the place of others, now and then another one.
fn placed(kind: Kind, told: &[Value]) -> Kind {
    match kind {
        Kind::Text => {
            let all = told.iter().map(|value| value.written(crate::language::Language::Python));
            Kind::OneOf(all.chain(["\"none\"".to_owned()]).collect()).told(told.to_vec())
        }
        Kind::Told(_, kind) if *kind == Kind::Text => placed(*kind, told),
        kind => kind.with_inside(&|kind| placed(kind, told)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::{Way, arguments};
    use super::super::value::written;
    use super::*;
    use crate::language::Language;

    #[test]
    fn names_of_fields_are_those_of_the_rows() {
        let one = |name: &str, kind, way| Parameter { name: name.to_owned(), kind, way, ..Parameter::default() };
        let rows = Kind::List(Box::new(Kind::Dict(Box::default(), Box::default())));
        let both = |name: &str| vec![one("rows", rows.clone(), Way::Placed), one(name, Kind::Text, Way::Rest)];
        let uses = Uses::new(Language::Python, &["    f.startswith(\"-\")\n"], Vec::new());
        let all = in_place(both("fields"), &uses);
        let calls: Vec<String> = (0..12).map(|n| written(&arguments(&all, n, None), Language::Python)).collect();
        for part in ["[{\"name\": ", "], \"name\"", "\"age\"", "\"-name\""] {
            assert!(calls.iter().any(|call| call.contains(part)), "{part}: {calls:?}");
        }
        assert_eq!(in_place(both("title"), &uses), both("title"));
        let plain = vec![one("fields", Kind::Text, Way::Rest)];
        assert_eq!(in_place(plain.clone(), &uses), plain);
    }
}
