//! The answer to a call as a person types it: a literal, an object of Python's library, or the error that is
//! raised.

use std::fmt::Write;

use super::errors::covers;
use super::form::{key, printed};
use super::value::{Value, literal, literal_or_object};
use crate::language::Language;
use crate::trial::{EFFECTS, Effect, Observed};
use crate::untrusted::clean_line;

/// Longest answer that is read, in bytes.
const LONGEST: usize = 2000;
/// Columns of an answer in a message.
const COLUMNS: usize = 40;
/// Words before the name of an error.
const RAISES: [&str; 2] = ["raises ", "throws "];

/// An outcome as [`typed`] reads it.
pub fn words(observed: &Observed) -> String {
    let has_verb = RAISES.iter().any(|verb| observed.shown.starts_with(verb));
    let verb = if observed.effect == Effect::Raised && !has_verb { RAISES[0] } else { "" };
    format!("{verb}{}", observed.shown)
}

/// Reads an answer: a literal of the language, in Python with objects such as `date(2024, 3, 4)`, with the
/// arguments that the call has changed (`None, and argument 1 is [1, 2]`); or `raises ValueError`, with or
/// without the text of the error. It is compared as a call's outcome is. The error is a sentence.
pub fn typed(text: &str, language: Language) -> Result<Observed, String> {
    let text = text.trim();
    let refused = |found: &str| {
        let raises = if language == Language::Python { "raises ValueError" } else { "raises RangeError" };
        let none = if language == Language::Python { "None" } else { "null" };
        let expected = format!("a value of {} such as [1, 2], 'abc' or {none}, or {raises}", language.title());
        Err(format!("{found}; expected {expected}"))
    };
    let shown = clean_line(text, COLUMNS);
    if text.is_empty() {
        return refused("there is no answer");
    }
    if text.len() > LONGEST {
        return refused(&format!("the answer has {} bytes, and at most {LONGEST} are read", text.len()));
    }
    if let Some(error) = RAISES.iter().find_map(|verb| text.strip_prefix(verb)) {
        return raised(error.trim()).map_or_else(|| refused(&format!("`{shown}` names no error")), Ok);
    }
    let Some((value, mut at)) = value(text, language) else {
        return refused(&format!("`{shown}` is no value that can be compared"));
    };
    let (mut key_of, mut words) = (key(&value, language), spelled(&value, language));
    let mut is_plain = language == Language::Python;
    while let Some((number, value, end)) = changed(&text[at..], language) {
        let _ = write!(key_of, " | {}: {}", number - 1, key(&value, language));
        let _ = write!(words, "{CHANGED}{number} is {}", spelled(&value, language));
        (at, is_plain) = (at + end, false);
    }
    let rest = text[at..].trim_start();
    if !rest.is_empty() {
        return refused(&format!("`{}` follows the value", clean_line(rest, COLUMNS)));
    }
    let printed = is_plain.then(|| printed(&value)).flatten();
    Ok(Observed { effect: Effect::Returned, key: key_of, shown: words, value: printed, ..Observed::default() })
}

/// Returns true if a call has the outcome that is right. Python's True is another answer than 1, and an error
/// covers its kinds.
pub fn is_same(right: &Observed, observed: &Observed) -> bool {
    let (Some(wanted), Some(found)) = (right.outcome(), observed.outcome()) else { return false };
    if wanted.0 == Effect::Raised && found.0 == Effect::Raised {
        return covers(wanted.1, found.1);
    }
    let differ = truths(right).zip(truths(observed)).is_some_and(|(one, other)| one != other);
    wanted.0 == found.0 && is_key(wanted.1, found.1) && !differ
}

/// Returns true for the key that is wanted. One that says nothing of calls and of sleep leaves them open.
fn is_key(wanted: &str, found: &str) -> bool {
    let result = |key: &str| EFFECTS.iter().filter_map(|effect| key.find(&format!(" | {effect}: "))).min();
    match (result(wanted), result(found)) {
        (None, Some(end)) => wanted == &found[..end],
        _ => wanted == found,
    }
}

/// The places of True and False among the values of a result, in their order. `None` if it is no literal.
fn truths(observed: &Observed) -> Option<Vec<bool>> {
    let text = observed.value.as_deref()?;
    let (value, _) = literal(text, Language::Python).filter(|(_, end)| *end == text.len())?;
    let mut found = Vec::new();
    collect(&value, &mut found);
    // An order of its own says nothing.
    if matches!(value, Value::Set(_) | Value::Dict(_)) {
        found.sort_unstable();
    }
    Some(found)
}

/// True for a truth value and false for any other, of all that are no lists of values.
fn collect(value: &Value, found: &mut Vec<bool>) {
    match value {
        Value::List(all) | Value::Tuple(all) | Value::Set(all) => all.iter().for_each(|one| collect(one, found)),
        Value::Dict(all) => all.iter().for_each(|(_, one)| collect(one, found)),
        one => found.push(matches!(one, Value::Bool(_))),
    }
}

/// Words before the number of an argument that a call has changed.
const CHANGED: &str = ", and argument ";

/// The value that a text begins with, and the bytes that it takes.
fn value(text: &str, language: Language) -> Option<(Value, usize)> {
    let undefined = "undefined";
    if language != Language::Python && text.starts_with(undefined) {
        return Some((Value::Other(undefined.to_owned()), undefined.len()));
    }
    let object = || (language == Language::Python).then(|| literal_or_object(text)).flatten();
    literal(text, language).or_else(object)
}

/// A changed argument that a text begins with: its number from 1, its value, and the bytes that it takes.
fn changed(text: &str, language: Language) -> Option<(usize, Value, usize)> {
    let (number, rest) = text.strip_prefix(CHANGED)?.split_once(" is ")?;
    let number = number.parse().ok().filter(|number| *number > 0)?;
    let (value, length) = value(rest, language)?;
    Some((number, value, text.len() - rest.len() + length))
}

/// The words of a value.
fn spelled(value: &Value, language: Language) -> String {
    let printed = if language == Language::Python { printed(value) } else { None };
    printed.unwrap_or_else(|| value.written(language))
}

/// An error by its name, behind the names of its modules, and its text if that is told.
fn raised(text: &str) -> Option<Observed> {
    let (name, said) = text.split_once(':').map_or((text, ""), |(name, said)| (name.trim(), said.trim()));
    let name = name.rsplit('.').next().filter(|_| !name.ends_with('.'))?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
    let shown = if said.is_empty() { name.to_owned() } else { format!("{name}: {said}") };
    (is_name && begins).then(|| Observed { effect: Effect::Raised, key: name.to_owned(), shown, ..Observed::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(text: &str, language: Language) -> Result<String, String> {
        typed(text, language)
            .map(|answer| format!("{}{}", if answer.effect == Effect::Raised { "!" } else { "" }, answer.key))
    }

    #[test]
    fn values_that_are_equal_have_one_key() {
        for (texts, key) in [
            (&["1", "1.0", "True", " 1 "][..], "1"),
            (&["'a\\n'", "\"a\\n\""], "'a\\n'"),
            (&["\"it's\""], "\"it's\""),
            (&["{2: 1, 1: 2}", "{1: 2, 2: 1}", "{1: 0, 2: 1, 1: 2}"], "{1: 2, 2: 1}"),
            (&["{3, 1}", "{1,3,1}"], "{1, 3}"),
            (&["(1,)", "( 1 , )"], "(1)"),
            (&["0.3", "0.30000000000000004"], "0.3"),
            (&["1e20", "100000000000000000000.0"], "1e+20"),
            (&["1.5e-07"], "1.5e-07"),
            (&["None, and argument 2 is [1,2]"], "None | 1: [1, 2]"),
            (&["raises ValueError", "throws ValueError", "raises  json.ValueError: no  number"], "!ValueError"),
        ] {
            for text in texts {
                assert_eq!(key_of(text, Language::Python).as_deref(), Ok(key), "{text}");
            }
        }
        for (text, key) in [
            ("{b: [1.50, null], 'a': true}", "{\"a\": true, \"b\": [1.5, null]}"),
            ("undefined", "undefined"),
            ("1e21", "1e+21"),
            ("0.0000001", "1e-7"),
            ("'é\\n'", "\"é\\n\""),
        ] {
            assert_eq!(key_of(text, Language::JavaScript).as_deref(), Ok(key), "{text}");
        }
    }

    #[test]
    fn a_value_is_stated_as_the_interpreter_prints_it() {
        let value = |text: &str| typed(text, Language::Python).unwrap().value;
        for (text, printed) in [
            ("[1,2]", "[1, 2]"),
            ("\"a\"", "'a'"),
            ("(1,)", "(1,)"),
            ("True", "True"),
            ("2.0", "2.0"),
            ("1e16", "1e+16"),
            ("0.00001", "1e-05"),
            ("1234567.125", "1234567.125"),
            ("{'b': 1, 'a': set()}", "{'b': 1, 'a': set()}"),
            ("{2,1}", "{1, 2}"),
        ] {
            assert_eq!(value(text).as_deref(), Some(printed), "{text}");
        }
        assert_eq!((value("None, and argument 1 is 2"), value(&format!("'{}'", "a".repeat(150)))), (None, None));
    }

    #[test]
    fn a_truth_value_is_no_number_and_an_error_covers_its_kinds() {
        for (right, other, is) in [
            ("True", "True", true),
            ("True", "1", false),
            ("1", "True", false),
            ("[1, True]", "[1, 1.0]", false),
            ("{'a': True, 'b': 2}", "{'b': 2, 'a': True}", true),
            ("2", "2.0", true),
            ("raises LookupError", "raises KeyError: 'a'", true),
            ("raises KeyError", "raises LookupError", false),
            ("raises Exception", "raises Own: no", true),
            ("raises ValueError", "'ValueError'", false),
        ] {
            let read = |text: &str| typed(text, Language::Python).unwrap();
            assert_eq!(is_same(&read(right), &read(other)), is, "{right}, {other}");
        }
    }

    #[test]
    fn what_is_no_value_is_refused_with_what_was_found() {
        for (text, found) in [
            ("", "there is no answer"),
            ("[1, 2", "`[1, 2` is no value"),
            ("x + 1", "`x + 1` is no value"),
            ("[x]", "`[x]` is no value"),
            ("1 + 1", "`+ 1` follows the value"),
            ("raises", "`raises` is no value"),
            ("raises 3", "`raises 3` names no error"),
            ("raises A.", "`raises A.` names no error"),
            ("None, and argument 0 is 1", "`, and argument 0 is 1` follows the value"),
            ("null", "`null` is no value"),
        ] {
            let why = typed(text, Language::Python).unwrap_err();
            assert!(why.starts_with(found), "{text}: {why}");
            assert!(why.ends_with("expected a value of Python such as [1, 2], 'abc' or None, or raises ValueError"));
        }
        assert!(typed(&"[".repeat(3000), Language::Python).unwrap_err().contains("3000 bytes"));
        assert!(typed("None", Language::TypeScript).unwrap_err().contains("value of TypeScript"));
    }

    #[test]
    fn words_are_read_as_the_same_answer() {
        for text in ["[1, 2]", "raises KeyError: 'a'", "None, and argument 1 is [1]", "-1.5"] {
            let answer = typed(text, Language::Python).unwrap();
            assert_eq!(words(&answer), text);
            assert_eq!(typed(&words(&answer), Language::Python).unwrap(), answer);
        }
    }
}
