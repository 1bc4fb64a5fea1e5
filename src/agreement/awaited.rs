//! Values that code of Python awaits: asynchronous functions, coroutines, and iterators of `async for`. The
//! observer makes them (`trial::ASYNC_MAKER` and others).

use super::kind::{Kind, Parameter, Way};
use super::uses::{Uses, places};
use crate::code::{self, Word};
use crate::language::Language;
use crate::trial::{ASYNC_MAKER, COROUTINE_MAKER, STREAM_MAKER};

/// Names of functions that are called where nothing waits.
const PLAIN: [&str; 5] = ["key", "predicate", "pred", "compare", "cmp"];
/// Last words of names of what is awaited, and of several.
const ONE: [&str; 4] = ["coro", "coroutine", "awaitable", "future"];
const SEVERAL: [&str; 5] = ["coros", "coroutines", "awaitables", "futures", "aws"];
/// Words of documentation on what is awaited.
const WORDS: [&str; 3] = ["await", "async", "coroutine"];

/// The kind of a type by the last part of its name in lower case, and the types in its brackets.
pub fn of_type(name: &str, at: impl Fn(usize) -> Box<Kind>) -> Option<Kind> {
    let kind = match name {
        "awaitable" | "future" | "task" => Kind::From(COROUTINE_MAKER.to_owned(), at(0)),
        "coroutine" => Kind::From(COROUTINE_MAKER.to_owned(), at(2)),
        "asynciterator" | "asynciterable" | "asyncgenerator" => stream(*at(0)),
        _ => return None,
    };
    Some(kind)
}

/// Functions of a kind that are asynchronous.
pub fn function(kind: Kind) -> Kind {
    Kind::From(ASYNC_MAKER.to_owned(), Box::new(kind))
}

/// Asynchronous functions whose result is of a kind; `None` if that is not awaited.
pub fn that_gives(result: Kind) -> Option<Kind> {
    match result {
        Kind::From(maker, kind) if maker == COROUTINE_MAKER => Some(function(Kind::Gives(kind))),
        _ => None,
    }
}

fn stream(kind: Kind) -> Kind {
    Kind::From(STREAM_MAKER.to_owned(), Box::new(Kind::List(Box::new(kind))))
}

/// A kind with asynchronous functions in the place of others.
fn asynchronous(kind: Kind) -> Kind {
    match kind {
        kind @ (Kind::Function | Kind::Gives(_)) => function(kind),
        Kind::Told(_, kind) if matches!(*kind, Kind::Function | Kind::Gives(_)) => function(*kind),
        kind => kind.with_inside(&asynchronous),
    }
}

/// A parameter of a function, whose head this is, as its bodies use it.
pub fn in_place(head: &str, parameter: Parameter, uses: &Uses) -> Parameter {
    let name = &parameter.name;
    let is_asynchronous = head.lines().any(|line| line.trim_start().starts_with("async def "));
    if uses.language != Language::Python || !is_asynchronous {
        return parameter;
    }
    let is_open = matches!(parameter.kind, Kind::Unknown | Kind::Int | Kind::Told(..) | Kind::List(_));
    let is_streamed = |body: &[Word]| places(body, name).any(|at| follows(body, at, &["async", "for", "*", "in"]));
    if is_open && uses.do_most(is_streamed) {
        let kind = if let Kind::List(kind) = parameter.kind { *kind } else { Kind::Unknown };
        return Parameter { kind: stream(kind), ..parameter };
    }
    let is_awaited = |body: &[Word]| {
        let is_used =
            |at: usize| ['(', '.', '['].iter().any(|mark| body.get(at + 1).is_some_and(|word| word.is(*mark)));
        places(body, name).any(|at| follows(body, at, &["await"]) && !is_used(at))
    };
    if is_open && uses.do_most(is_awaited) {
        return Parameter { kind: Kind::From(COROUTINE_MAKER.to_owned(), Box::default()), ..parameter };
    }
    if is_open && let Some(kind) = named(name, parameter.way == Way::Rest) {
        return Parameter { kind, ..parameter };
    }
    let documentation = head.split_once(':').map_or("", |(_, rest)| rest).to_lowercase();
    let has_word = WORDS.iter().any(|word| documentation.contains(word));
    let waits = |body: &[Word]| body.iter().any(|word| word.name() == Some("await"));
    let is_meant = !PLAIN.contains(&name.as_str()) && (has_word || uses.do_most(waits));
    let kind = if is_meant { asynchronous(parameter.kind) } else { parameter.kind };
    Parameter { kind, ..parameter }
}

/// The kind of a parameter that is named after what is awaited. `is_each`: it is one of any number.
fn named(name: &str, is_each: bool) -> Option<Kind> {
    let last = code::words_of_names(name).pop()?;
    let one = Kind::From(COROUTINE_MAKER.to_owned(), Box::new(Kind::Int));
    match last.as_str() {
        last if ONE.contains(&last) || is_each && SEVERAL.contains(&last) => Some(one),
        last if SEVERAL.contains(&last) => Some(Kind::List(Box::new(one))),
        _ => None,
    }
}

/// Returns true if these words stand before a place; `*` is any one.
fn follows(all: &[Word], at: usize, words: &[&str]) -> bool {
    let before = at.checked_sub(words.len()).map(|begin| &all[begin..at]);
    before.is_some_and(|before| {
        before.iter().zip(words).all(|(word, wanted)| *wanted == "*" || word.name() == Some(wanted))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(head: &str, name: &str, kind: Kind, body: &str) -> Vec<String> {
        let uses = Uses::new(Language::Python, &[body], Vec::new());
        let one = Parameter { name: name.to_owned(), kind, ..Parameter::default() };
        let kind = in_place(head, one, &uses).kind;
        (0..2).map(|number| kind.typical(number).written(Language::Python)).collect()
    }

    #[test]
    fn an_asynchronous_function_is_given_what_it_awaits() {
        let head = "async def f(x):\n    \"\"\"Do it.\"\"\"\n";
        assert_eq!(
            told(head, "x", Kind::Function, "    return await x(1)\n"),
            ["an_async(bool)", "an_async(lambda x: x)"]
        );
        let list = Kind::List(Box::new(Kind::Function));
        assert_eq!(
            told(head, "x", list, "    for one in x:\n        await one()\n")[1],
            "[an_async(lambda x: x == 2)]"
        );
        let stream = told(head, "x", Kind::Unknown, "    async for one in x:\n        yield one\n");
        assert_eq!(stream, ["an_async_iterator([])", "an_async_iterator([2])"]);
        assert_eq!(told(head, "x", Kind::Unknown, "    return await x\n")[1], "a_coroutine(1)");
        let several = Kind::List(Box::new(Kind::Int));
        assert_eq!(told(head, "coros", several, "    return await gather(*coros)\n")[1], "[a_coroutine(2)]");
        assert_eq!(told(head, "coro", Kind::Int, "    return await wait_for(coro, 1)\n")[1], "a_coroutine(1)");
        // Others stay.
        for (head, name, kind, body, first) in [
            ("def f(x):\n", "x", Kind::Function, "    return x(1)\n", "bool"),
            (head, "key", Kind::Function, "    return key(await g())\n", "bool"),
            (head, "x", Kind::Function, "    return x(1)\n", "bool"),
            (head, "x", Kind::Int, "    await sleep(x)\n", "0"),
            (head, "x", Kind::Unknown, "    for one in x:\n        await one\n", "0"),
        ] {
            assert_eq!(told(head, name, kind, body)[0], first, "{body}");
        }
        let documented = "async def f(x):\n    \"\"\"Await x(1).\"\"\"\n";
        assert_eq!(told(documented, "x", Kind::Function, "    pass\n")[0], "an_async(bool)");
    }
}
