//! An answer as an example of Python: one that every candidate passes whose answer is right.

use std::fmt::Write;

use super::errors::is_builtin;
use super::form::{key, printed};
use super::value::{Value, literal};
use crate::code;
use crate::language::Language;
use crate::trial::{Effect, Observed};

/// An example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Statements that are typed one after the other.
    pub statements: Vec<String>,
    /// Lines that the last one prints.
    pub printed: String,
}

/// Kinds of functions that a call says nothing of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionKind {
    /// A call returns a coroutine.
    pub is_async: bool,
    /// Some candidate may return an iterator, whose values are compared as those of a list.
    pub iterates: bool,
}

/// Most lines of what a function prints.
const MOST_LINES: usize = 20;
/// Functions that return iterators, and modules of such.
const ITERATORS: [&str; 7] = ["map", "filter", "zip", "iter", "reversed", "enumerate", "itertools"];
/// Annotations of results that may be iterators.
const ANNOTATIONS: [&str; 3] = ["Iterator", "Iterable", "Generator"];
/// Errors whose words depend on where they were raised.
const UNSTEADY_WORDS: [&str; 2] = ["RecursionError", "MemoryError"];

/// Returns true if a function of this head and body may return an iterator.
pub fn may_iterate(head: &str, body: &str) -> bool {
    let is_iterator = |expression: &str| {
        let name = expression.split(['(', '.']).next().unwrap_or_default();
        ITERATORS.contains(&name) || expression.starts_with('(') && body.contains("for ")
    };
    let given = |line: &str| {
        let returned = line.trim_start().strip_prefix("return ").map(str::to_owned);
        returned.or_else(|| line.split_once(" = ").map(|(_, value)| value.to_owned()))
    };
    let is_word = |line: &str, word: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word);
    let result = head.rsplit_once("->").map_or("", |(_, result)| result);
    ANNOTATIONS.iter().any(|name| is_word(result, name))
        || body.lines().any(|line| is_word(line, "yield") || given(line).is_some_and(|it| is_iterator(it.trim())))
}

/// Functions that say what time it is.
const CLOCKS: [&str; 6] = ["today", "now", "utcnow", "localtime", "gmtime", "ctime"];

/// Returns true if a body of Python asks for the time.
pub fn asks_the_time(body: &str) -> bool {
    let names = code::names(Language::Python, body);
    CLOCKS.iter().any(|clock| names.contains(*clock)) || body.contains("time.time(")
}

/// The example that states the right answer to a call. `given` are the outcomes of the candidates that are
/// right. The error is a sentence that says why no example can be written that all of them pass.
pub fn stated(call: &str, right: &Observed, given: &[&Observed], kind: FunctionKind) -> Result<Example, String> {
    let mut example = match right.effect {
        Effect::Raised => raised(call, right, given, kind)?,
        _ if is_none_and_prints(right) => {
            Example { statements: vec![awaited(call, kind)], printed: lines_of(call, &right.key)? }
        }
        _ => returned(call, right, given, kind)?,
    };
    if kind.is_async {
        example.statements.insert(0, "import asyncio".to_owned());
    }
    Ok(example)
}

/// The call as it has to be typed for its result.
fn awaited(call: &str, kind: FunctionKind) -> String {
    if kind.is_async { format!("asyncio.run({call})") } else { call.to_owned() }
}

/// Key of a call that returned None, before the text that it printed.
const PRINTS: &str = "None > ";

fn is_none_and_prints(observed: &Observed) -> bool {
    observed.effect == Effect::Returned && observed.key.starts_with(PRINTS)
}

/// The lines that a call prints, as an example shows them.
fn lines_of(call: &str, key: &str) -> Result<String, String> {
    let text = key.strip_prefix(PRINTS).unwrap_or_default();
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.len() > MOST_LINES {
        return Err(format!("{call} prints {} lines, too many for an example: at most {MOST_LINES}", lines.len()));
    }
    let is_odd = |line: &&str| {
        let is_blank = !line.is_empty() && line.trim().is_empty();
        is_blank || line.starts_with(">>>") || line.starts_with("...") || line.chars().any(char::is_control)
    };
    if let Some(line) = lines.iter().find(|line| is_odd(line)) {
        return Err(format!("{call} prints the line {line:?}, which an example cannot show"));
    }
    let shown = |line: &&str| if line.is_empty() { "<BLANKLINE>".to_owned() } else { (*line).to_owned() };
    Ok(lines.iter().map(shown).collect::<Vec<_>>().join("\n"))
}

fn raised(call: &str, right: &Observed, given: &[&Observed], kind: FunctionKind) -> Result<Example, String> {
    // An iterator raises where its values are asked for.
    let call = if kind.iterates && !kind.is_async { format!("list({call})") } else { awaited(call, kind) };
    let name = given.first().map_or(&right.key, |one| &one.key);
    if given.iter().any(|one| one.key != *name) {
        if !is_builtin(&right.key) {
            return Err(format!(
                "the candidates that are right raise different errors, and {} is not known",
                right.key
            ));
        }
        let error = &right.key;
        let statement = format!("try:\n    {call}\nexcept {error}:\n    print(\"{error}\")");
        return Ok(Example { statements: vec![statement], printed: error.clone() });
    }
    let shown = &right.shown;
    // Else only the name counts: of an error without words, and where right ones say other words.
    let has_words = is_builtin(name)
        && shown != name
        && !shown.ends_with('…')
        && !UNSTEADY_WORDS.contains(&name.as_str())
        && given.iter().all(|one| one.shown == *shown);
    let (option, shown) = if has_words { ("", shown) } else { ("  # doctest: +IGNORE_EXCEPTION_DETAIL", name) };
    let printed = format!("Traceback (most recent call last):\n    ...\n{shown}");
    Ok(Example { statements: vec![format!("{call}{option}")], printed })
}

fn returned(call: &str, right: &Observed, given: &[&Observed], kind: FunctionKind) -> Result<Example, String> {
    let untold = || {
        if right.shown.contains(", and argument ") || right.shown.contains(", and the object is ") {
            return format!("{call} changes what it is given, which an example of its result does not state");
        }
        format!("the result of {call} has no text that an example could state: it is long, or has no value of its own")
    };
    let texts: Option<Vec<&str>> = match given {
        [] => right.value.as_deref().map(|text| vec![text]),
        given => given.iter().map(|one| one.value.as_deref()).collect(),
    };
    let texts = texts.ok_or_else(untold)?;
    let text = texts.first().copied().ok_or_else(untold)?;
    let is_list = kind.iterates && !kind.is_async && texts.iter().all(|text| text.starts_with('['));
    let call = if is_list { format!("list({call})") } else { awaited(call, kind) };
    let is_true = |statement: String| Example { statements: vec![statement], printed: "True".to_owned() };
    let values: Option<Vec<Value>> = texts.iter().map(|text| whole(text)).collect();
    let is_one_text = texts.iter().all(|other| *other == text);
    if let Some(values) = &values {
        if is_one_text && text == "None" {
            return Ok(is_true(format!("{call} is None")));
        }
        if is_one_text && has_one_text(&values[0]) {
            return Ok(Example { statements: vec![call], printed: text.to_owned() });
        }
        if let Some(value) = printed(&values[0]).filter(|_| values.iter().all(|other| is_equal(other, &values[0]))) {
            return Ok(is_true(format!("{call} == {value}")));
        }
        // Numbers that differ in their last digits are compared as the calls were.
        if values.iter().all(|value| matches!(value, Value::Int(_) | Value::Float(_))) {
            let digits = key(&values[0], Language::Python);
            return Ok(Example { statements: vec![format!("'%.9g' % {call}")], printed: format!("'{digits}'") });
        }
    } else {
        let is_safe = !text.contains('{') && !text.starts_with([' ', '.', '>']) && !text.trim().is_empty();
        if is_one_text && is_safe {
            return Ok(Example { statements: vec![call], printed: text.to_owned() });
        }
        // Of a dictionary or set by another name the key is a literal.
        let same = whole(&right.key).filter(|value| key(value, Language::Python) == right.key && is_exact(value));
        if let Some(value) = same.as_ref().and_then(printed) {
            return Ok(is_true(format!("{call} == {value}")));
        }
    }
    let mut all = String::new();
    for (at, text) in texts.iter().enumerate().filter(|(at, text)| !texts[..*at].contains(text)) {
        let _ = write!(all, "{}{text}", if at > 0 { " and " } else { "" });
    }
    Err(format!("no example can state this result of {call} so that each right candidate passes: {all}"))
}

/// The literal that a text is.
fn whole(text: &str) -> Option<Value> {
    literal(text, Language::Python).filter(|(_, end)| *end == text.len()).map(|(value, _)| value)
}

/// Equal values print the same text: no order of its own is in it.
fn has_one_text(value: &Value) -> bool {
    match value {
        Value::Set(all) => all.is_empty() || all.len() == 1 && has_one_text(&all[0]),
        Value::List(all) | Value::Tuple(all) => all.iter().all(has_one_text),
        Value::Dict(all) => all.len() < 2 && all.iter().all(|(key, value)| has_one_text(key) && has_one_text(value)),
        _ => true,
    }
}

/// The key of a value tells it in full: floats are rounded there, and empty sets are as empty dictionaries.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Float(_) => false,
        Value::List(all) | Value::Tuple(all) => all.iter().all(is_exact),
        Value::Set(all) => !all.is_empty() && all.iter().all(is_exact),
        Value::Dict(all) => !all.is_empty() && all.iter().all(|(key, value)| is_exact(key) && is_exact(value)),
        _ => true,
    }
}

/// Python's `==`.
#[allow(clippy::float_cmp, reason = "it is exact there, too")]
fn is_equal(one: &Value, other: &Value) -> bool {
    let all = |a: &[Value], b: &[Value]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b));
    match (one, other) {
        (Value::Int(whole), Value::Float(number)) | (Value::Float(number), Value::Int(whole)) => {
            *number == *whole as f64
        }
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => all(a, b),
        (Value::Set(a), Value::Set(b)) => a.len() == b.len() && a.iter().all(|a| b.iter().any(|b| is_equal(a, b))),
        (Value::Dict(a), Value::Dict(b)) => {
            let has = |(key, value): &(Value, Value)| b.iter().any(|(k, v)| is_equal(key, k) && is_equal(value, v));
            a.len() == b.len() && a.iter().all(has)
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returns(key: &str, value: &str) -> Observed {
        Observed {
            effect: Effect::Returned,
            key: key.to_owned(),
            shown: value.to_owned(),
            value: Some(value.to_owned()),
            ..Observed::default()
        }
    }

    fn raises(name: &str, shown: &str) -> Observed {
        Observed { effect: Effect::Raised, key: name.to_owned(), shown: shown.to_owned(), ..Observed::default() }
    }

    /// The lines of the example, or the sentence.
    fn of(right: &Observed, given: &[Observed], kind: FunctionKind) -> String {
        let given: Vec<&Observed> = given.iter().collect();
        let example = stated("f(2)", right, &given, kind);
        example.map_or_else(|why| why, |it| format!("{} -> {}", it.statements.join("; "), it.printed))
    }

    fn plain(key: &str, values: &[&str]) -> String {
        let given: Vec<Observed> = values.iter().map(|value| returns(key, value)).collect();
        of(&given[0], &given, FunctionKind::default())
    }

    #[test]
    fn a_result_is_stated_so_that_each_right_candidate_passes() {
        assert_eq!(plain("[1, 2]", &["[1, 2]", "[1, 2]"]), "f(2) -> [1, 2]");
        assert_eq!(plain("None", &["None"]), "f(2) is None -> True");
        assert_eq!(plain("5", &["5", "5.0"]), "f(2) == 5 -> True");
        assert_eq!(plain("0.3", &["0.30000000000000004"]), "f(2) -> 0.30000000000000004");
        assert_eq!(plain("0.3", &["0.30000000000000004", "0.3"]), "'%.9g' % f(2) -> '0.3'");
        assert_eq!(plain("{'a', 'b'}", &["{'b', 'a'}", "{'a', 'b'}"]), "f(2) == {'a', 'b'} -> True");
        assert_eq!(plain("{'a': 1, 'b': 2}", &["{'b': 2, 'a': 1}"]), "f(2) == {'b': 2, 'a': 1} -> True");
        assert_eq!(plain("{'a': 2}", &["Counter({'a': 2})", "{'a': 2}"]), "f(2) == {'a': 2} -> True");
        assert_eq!(plain("{1, 2}", &["frozenset({1, 2})"]), "f(2) == {1, 2} -> True");
        assert_eq!(plain("P:P(x=1)", &["P(x=1)"]), "f(2) -> P(x=1)");
        assert_eq!(plain("b'a'", &["b'a'"]), "f(2) -> b'a'");
        // A typed answer that nobody gives.
        assert_eq!(of(&returns("{1, 2}", "{1, 2}"), &[], FunctionKind::default()), "f(2) == {1, 2} -> True");
    }

    #[test]
    fn an_answer_that_no_example_can_state_is_refused() {
        let differing = plain("[0.3]", &["[0.3]", "[0.30000000000000004]", "[0.3]"]);
        assert!(differing.ends_with("each right candidate passes: [0.3] and [0.30000000000000004]"), "{differing}");
        assert!(plain("{}", &["Counter()", "{}"]).contains("no example can state"), "an empty set has that key, too");
        assert!(plain("{'a': 0.3}", &["Counter({'a': 0.3})"]).contains("no example can state"), "it is rounded");
        assert!(plain("P:P()", &["...P"]).contains("no example can state"));
        let changes = Observed { value: None, ..returns("1 | 0: [1]", "1, and argument 1 is [1]") };
        assert!(
            of(&changes, std::slice::from_ref(&changes), FunctionKind::default()).contains("changes what it is given")
        );
        let long = Observed { value: None, ..returns("[1...]", "[1…") };
        assert!(of(&long, std::slice::from_ref(&long), FunctionKind::default()).contains("has no text"));
    }

    #[test]
    fn iterators_are_listed_and_coroutines_run() {
        let listed = returns("[0, 2]", "[0, 2]");
        let kind = FunctionKind { iterates: true, is_async: false };
        assert_eq!(of(&listed, std::slice::from_ref(&listed), kind), "list(f(2)) -> [0, 2]");
        assert_eq!(of(&returns("3", "3"), &[], kind), "f(2) -> 3");
        let kind = FunctionKind { iterates: false, is_async: true };
        assert_eq!(of(&returns("3", "3"), &[], kind), "import asyncio; asyncio.run(f(2)) -> 3");
        for (head, body, iterates) in [
            ("def f(n):", "    for x in n:\n        yield x\n", true),
            ("def f(n):", "    return (x for x in n)\n", true),
            ("def f(n):", "    it = map(str, n)\n    return it\n", true),
            ("def f(n) -> Iterator[int]:", "    return g(n)\n", true),
            ("def f(n: Iterator) -> list:", "    for i, x in enumerate(n):\n        pass\n    return [n]\n", false),
            ("def f(n):", "    return (1, 2)\n", false),
        ] {
            assert_eq!(may_iterate(head, body), iterates, "{head} {body}");
        }
    }

    #[test]
    fn printed_lines_are_shown() {
        let prints = |text: &str| {
            let observed = Observed { value: None, ..returns(&format!("None > {text}"), &format!("prints {text:?}")) };
            of(&observed, std::slice::from_ref(&observed), FunctionKind::default())
        };
        assert_eq!(prints("a\n\nb c\n"), "f(2) -> a\n<BLANKLINE>\nb c");
        assert_eq!(prints("a"), "f(2) -> a");
        for odd in ["a\n   \nb\n", "... a\n", "a\tb\n", ">>> 1\n"] {
            assert!(prints(odd).contains("an example cannot show"), "{odd:?}");
        }
        assert!(prints(&"a\n".repeat(30)).contains("prints 30 lines"));
    }

    #[test]
    fn errors_are_stated_by_what_right_candidates_have_in_common() {
        let plain = |right: &Observed, given: &[Observed]| of(right, given, FunctionKind::default());
        let zero = raises("ValueError", "ValueError: zero");
        let traceback = "Traceback (most recent call last):\n    ...\n";
        assert_eq!(plain(&zero, std::slice::from_ref(&zero)), format!("f(2) -> {traceback}ValueError: zero"));
        let by_name = format!("f(2)  # doctest: +IGNORE_EXCEPTION_DETAIL -> {traceback}ValueError");
        assert_eq!(plain(&zero, &[zero.clone(), raises("ValueError", "ValueError: none")]), by_name);
        assert_eq!(plain(&raises("ValueError", "ValueError"), std::slice::from_ref(&zero)), by_name);
        let own = raises("OwnError", "OwnError: no");
        assert!(plain(&own, std::slice::from_ref(&own)).contains("IGNORE_EXCEPTION_DETAIL"), "it has a module");
        let lookup = raises("LookupError", "LookupError");
        let given = [raises("KeyError", "KeyError: 1"), raises("IndexError", "IndexError: no")];
        let expected = "try:\n    f(2)\nexcept LookupError:\n    print(\"LookupError\") -> LookupError";
        assert_eq!(plain(&lookup, &given), expected);
    }
}
