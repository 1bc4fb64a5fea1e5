//! Texts of usual forms, for what is named so: versions, addresses.

use super::kind::{Kind, Parameter};
use super::value::Value;
use crate::code;

/// Words of names, words of documentation that say as much, and texts of the form.
type Form = (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

const FORMS: &[Form] = &[
    (&["version", "versions", "semver"], &["semver"], &["1.2.0", "1.2.0-rc1", "1.10.0", "1.2", "2.0.0", "0.9.10"]),
    (
        &["email", "emails", "mail", "mails"],
        &["email", "emails"],
        &["a.b+c@example.com", "First.Last+tag@Gmail.com", " USER@Example.COM ", "x.y@gmail.com", "no-at", "a@b@c.com"],
    ),
];

/// The texts that a parameter, its function, or what this head says of them, is named after.
fn texts(head: &str, function: &str, parameter: &str) -> &'static [&'static str] {
    let named: Vec<String> = [parameter, function].into_iter().flat_map(code::words_of_names).collect();
    let said = code::words_of_names(head);
    let is_it = |(names, words, _): &&Form| {
        named.iter().any(|word| names.contains(&word.as_str()))
            || said.iter().any(|word| words.contains(&word.as_str()))
    };
    FORMS.iter().find(is_it).map_or(&[], |(.., texts)| texts)
}

/// The values of a parameter that a function of this head takes, with texts of its form before others.
/// `is_open` says that nothing tells the kind.
pub fn with_forms(head: &str, function: &str, parameter: Parameter, is_open: bool) -> Parameter {
    let texts = texts(head, function, &parameter.name);
    let kind = of_fields(parameter.kind);
    let kind = if texts.is_empty() { kind } else { placed(kind, texts, is_open) };
    Parameter { kind, ..parameter }
}

/// The kind with such texts in the fields of objects.
fn of_fields(kind: Kind) -> Kind {
    let within = |kind: Box<Kind>| Box::new(of_fields(*kind));
    let all = |fields: Vec<Parameter>| fields.into_iter().map(|field| with_forms("", "", field, false)).collect();
    match kind {
        Kind::Fields(fields) => Kind::Fields(all(fields)),
        Kind::New(callee, taken) => Kind::New(callee, all(taken)),
        Kind::List(kind) => Kind::List(within(kind)),
        Kind::Maybe(kind) => Kind::Maybe(within(kind)),
        Kind::Either(one, other) => Kind::Either(within(one), within(other)),
        kind => kind,
    }
}

fn placed(kind: Kind, texts: &[&str], is_open: bool) -> Kind {
    let values = || texts.iter().map(|&text| Value::Text(text.to_owned())).collect();
    let within = |kind: Box<Kind>| Box::new(placed(*kind, texts, is_open));
    match kind {
        Kind::Told(all, kind) if *kind == Kind::Text => Kind::Told(all, kind).told(values()),
        Kind::Text => kind.told(values()),
        Kind::Int | Kind::Unknown if is_open => Kind::Text.told(values()),
        Kind::Told(_, kind) if is_open && *kind == Kind::Int => Kind::Text.told(values()),
        Kind::List(kind) => Kind::List(within(kind)),
        Kind::Maybe(kind) => Kind::Maybe(within(kind)),
        Kind::Either(one, other) => Kind::Either(within(one), within(other)),
        kind => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::kind::Way;
    use crate::language::Language;

    #[test]
    fn names_say_forms_of_texts() {
        let list = || Kind::List(Box::new(Kind::Text));
        for (head, function, name, kind, is_open, text) in [
            ("", "compare_versions", "a", Kind::Text, false, Some("1.2.0")),
            ("/** Compares semver strings. */", "cmp", "a", Kind::Int, true, Some("1.2.0")),
            ("", "f", "userEmail", Kind::Text, false, Some("a.b+c@example.com")),
            ("", "f", "version", Kind::Int, false, None),
            ("", "f", "title", Kind::Text, false, None),
        ] {
            let parameter = Parameter { name: name.to_owned(), kind: kind.clone(), ..Parameter::default() };
            let found = with_forms(head, function, parameter, is_open).kind;
            match text {
                Some(text) => assert_eq!(found.typical(0), Value::Text(text.to_owned()), "{name}"),
                None => assert_eq!(found, kind, "{name}"),
            }
        }
        let field = Parameter { name: "email".to_owned(), kind: Kind::Text, way: Way::Named, ..Parameter::default() };
        let users = Kind::List(Box::new(Kind::Fields(vec![field])));
        let users = with_forms("", "f", Parameter { kind: users, ..Parameter::default() }, false).kind.typical(1);
        assert_eq!(users.written(Language::Python), "[{\"email\": \"First.Last+tag@Gmail.com\"}]");
        let emails = Parameter { name: "emails".to_owned(), kind: list(), ..Parameter::default() };
        let all = with_forms("", "f", emails, false).kind.typical(1);
        assert_eq!(all, Value::List(vec![Value::Text("First.Last+tag@Gmail.com".to_owned())]));
    }
}
