//! Values inside of values of their own kind, for functions that go down into them.

use super::kind::Kind;
use crate::code::{self, Word, words};
use crate::language::Language;

/// Levels of values inside of others.
const LEVELS: usize = 2;
/// Words by which documentation speaks of values inside of others.
const NESTED: &[&str] = &["nested", "deep", "deeply"];
const RECURSIVE: &[&str] = &["recursive", "recursively"];
/// Words by which it speaks of dictionaries that may have others inside.
const MERGED: &[&str] = &["merge", "merges", "merged", "flatten", "flattens", "flattened"];

/// The values of a function that may have others inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nesting {
    None,
    Dicts,
    DictsAndLists,
    /// And what nothing says the kind of.
    All,
}

impl Nesting {
    /// The values that the head of a function of this name speaks of, or whose bodies call it again.
    pub fn of(language: Language, head: &str, name: &str, bodies: &[&str]) -> Self {
        let said = code::words_of_names(head);
        let says = |all: &[&str]| said.iter().any(|word| all.contains(&word.as_str()));
        let calls = |body: &&str| {
            let is_call = |pair: &[Word]| pair[0].name() == Some(name) && pair[1].is('(');
            words(language, body).windows(2).any(is_call)
        };
        match () {
            () if says(NESTED) => Self::All,
            () if says(RECURSIVE) => Self::DictsAndLists,
            () if says(MERGED) || bodies.iter().any(calls) => Self::Dicts,
            () => Self::None,
        }
    }

    /// The kind with values of its own kind inside, unless it says what is inside.
    pub fn nested(self, kind: Kind, is_guessed: bool) -> Kind {
        let is_int =
            |kind: &Kind| matches!(kind, Kind::Int) || matches!(kind, Kind::Told(_, kind) if **kind == Kind::Int);
        let is_open = |inside: &Kind| *inside == Kind::Unknown || is_guessed && is_int(inside);
        match kind {
            Kind::Dict(key, inside) if self >= Self::Dicts && is_open(&inside) => {
                levels(&|of| Kind::Dict(key.clone(), of))
            }
            Kind::List(inside) if self >= Self::DictsAndLists && is_open(&inside) => levels(&Kind::List),
            // Tuples of which only documentation speaks may be in one another, too.
            Kind::List(inside) if self == Self::All && is_guessed && is_row(&inside) => {
                let whole = Kind::List(inside);
                Kind::Either(Box::new(levels(&Kind::List)), Box::new(whole))
            }
            Kind::Int | Kind::Unknown if self == Self::All && is_guessed => {
                let dict = levels(&|of| Kind::Dict(Box::new(Kind::Text), of));
                Kind::Either(Box::new(dict), Box::new(Kind::Either(Box::new(levels(&Kind::List)), Box::new(kind))))
            }
            kind => kind.with_inside(&|kind| self.nested(kind, is_guessed)),
        }
    }
}

/// Returns true for rows of numbers.
fn is_row(kind: &Kind) -> bool {
    match kind {
        Kind::Tuple(all) => all.iter().all(|kind| *kind == Kind::Int),
        Kind::List(kind) | Kind::Row(kind) => **kind == Kind::Int,
        kind => matches!(kind, Kind::Pair(_)),
    }
}

/// A kind that holds itself so many levels deep, beside numbers.
fn levels(holds: &dyn Fn(Box<Kind>) -> Kind) -> Kind {
    let deeper = |kind: Kind, _| holds(Box::new(Kind::Either(Box::new(kind), Box::new(Kind::Int))));
    (0..LEVELS).fold(holds(Box::new(Kind::Int)), deeper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_nested_where_functions_go_down() {
        let of = |head: &str, body: &str| Nesting::of(Language::Python, head, "f", &[body]);
        assert_eq!(of("def f(a):", "    return a\n"), Nesting::None);
        assert_eq!(of("def f(a):", "    return {k: f(v) for k, v in a.items()}\n"), Nesting::Dicts);
        assert_eq!(of("def f(a):\n  \"A deep copy.\"", ""), Nesting::All);
        assert_eq!(of("def deep_merge(a):", ""), Nesting::All);
        let open = || Kind::Dict(Box::default(), Box::default());
        let all: Vec<String> = (0..9)
            .map(|number| Nesting::Dicts.nested(open(), false).typical(number).written(Language::Python))
            .collect();
        assert!(all.iter().any(|text| text.contains(": {\"") && text.contains("}}")), "{all:?}");
        assert!(all.iter().any(|text| text.matches(": {\"").count() > 1 && text.contains("}}}")), "{all:?}");
        let ints = Kind::List(Box::new(Kind::Int));
        assert_eq!(Nesting::Dicts.nested(ints.clone(), true), ints);
        assert_ne!(Nesting::All.nested(Kind::Int, true), Kind::Int);
        let pairs = Kind::List(Box::new(Kind::Tuple(vec![Kind::Int, Kind::Int])));
        let all: Vec<String> = (0..9)
            .map(|number| Nesting::All.nested(pairs.clone(), true).typical(number).written(Language::Python))
            .collect();
        assert!(all.iter().any(|text| text.contains("[[")) && all.iter().any(|text| text.contains("[(")), "{all:?}");
        assert_eq!(Nesting::All.nested(Kind::Int, false), Kind::Int);
    }
}
