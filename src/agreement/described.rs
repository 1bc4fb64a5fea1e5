//! Kinds of parameters that only their names tell, corrected by how candidates use them and by the words of the
//! documentation: `list of tuples`, `given string`.

use super::kind::Kind;
use crate::code::{self, Word, words};
use crate::language::Language;

/// Functions that take something with elements.
const OF_SEQUENCES: &[&str] = &[
    "len", "sorted", "sum", "max", "min", "enumerate", "zip", "set", "tuple", "list", "reversed", "any", "all",
    "Counter", "heapify", "bisect", "bisect_left", "bisect_right", "mean", "median", "Set", "from",
];

/// How code uses what has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Elements,
    Number,
    Unknown,
}

/// How most of these bodies use it.
fn used(bodies: &[Vec<Word>], name: &str) -> Use {
    let (mut elements, mut number) = (0, 0);
    for all in bodies {
        let is_it = |at: &usize| {
            let before = at.checked_sub(1).and_then(|at| all.get(at));
            all[*at].name() == Some(name) && !before.is_some_and(|word| word.is('.'))
        };
        let places: Vec<usize> = (0..all.len()).filter(is_it).collect();
        elements += usize::from(places.iter().any(|&at| has_elements(all, at)));
        number += usize::from(places.iter().any(|&at| is_reckoned(all, at)));
    }
    match () {
        () if elements > 0 && elements >= number => Use::Elements,
        () if number > 0 => Use::Number,
        () => Use::Unknown,
    }
}

fn has_elements(all: &[Word], at: usize) -> bool {
    let word = |back: usize| at.checked_sub(back).and_then(|at| all.get(at));
    let name = |back: usize| word(back).and_then(Word::name);
    let next = |mark: char| all.get(at + 1).is_some_and(|word| word.is(mark));
    let is_gone_through = matches!(name(1), Some("in" | "of")) && name(3).is_some_and(is_loop);
    let is_given = word(1).is_some_and(|word| word.is('(')) && name(2).is_some_and(|of| OF_SEQUENCES.contains(&of));
    let is_length = next('.') && all.get(at + 2).and_then(Word::name) == Some("length");
    is_gone_through || is_given && (next(')') || name(2) == Some("zip")) || next('[') || is_length
}

/// Names before the one that a loop gives.
fn is_loop(word: &str) -> bool {
    matches!(word, "for" | "const" | "let" | "var")
}

fn is_reckoned(all: &[Word], at: usize) -> bool {
    let is = |at: Option<usize>, marks: &[char]| {
        at.and_then(|at| all.get(at)).is_some_and(|word| marks.iter().any(|mark| word.is(*mark)))
    };
    let is_counted = is(at.checked_sub(1), &['('])
        && at.checked_sub(2).and_then(|at| all[at].name()).is_some_and(|of| matches!(of, "range" | "sqrt" | "abs"));
    is(Some(at + 1), &['*', '%', '/', '-']) || is(at.checked_sub(1), &['*', '%', '/', '-']) || is_counted
}

/// The documentation of a function, and what candidates do.
pub struct Described {
    language: Language,
    /// Words of the head, between blanks.
    words: String,
    /// Words of each body.
    bodies: Vec<Vec<Word>>,
}

impl Described {
    /// The head of a function, and the bodies that candidates write.
    pub fn new(language: Language, head: &str, bodies: &[&str]) -> Self {
        let bodies = bodies.iter().map(|body| words(language, body)).collect();
        Self { language, words: format!(" {} ", code::words_of_names(head).join(" ")), bodies }
    }

    fn says(&self, all: &[&str]) -> bool {
        all.iter().any(|phrase| self.words.contains(&format!(" {phrase} ")))
    }

    /// The kind of a parameter of this name, whose name says `guess`. `is_only` says that there is no other.
    pub fn kind(&self, name: &str, guess: Kind, is_only: bool) -> Kind {
        let list = |kind| Kind::List(Box::new(kind));
        match (used(&self.bodies, name), &guess) {
            (Use::Number, Kind::List(_) | Kind::Text) if !self.says(&["string", "list", "array", "tuple"]) => Kind::Int,
            (Use::Elements, Kind::Int | Kind::Unknown) => self.sequence(),
            (Use::Unknown, Kind::Int | Kind::Unknown) if is_only && self.names_one() => self.sequence(),
            (_, Kind::List(of)) if **of == Kind::Int => list(self.element()),
            _ => guess,
        }
    }

    /// The documentation speaks of a value with elements that is given.
    fn names_one(&self) -> bool {
        self.says(&["given list", "given array", "given tuple", "given string", "a string", "a list", "an array"])
    }

    fn sequence(&self) -> Kind {
        let (texts, lists) =
            (["string", "word", "sentence", "text", "substring"], ["list", "lists", "array", "arrays"]);
        match () {
            () if self.says(&["dictionary", "dict"]) && !self.says(&lists) => {
                Kind::Dict(Box::new(Kind::Text), Box::new(Kind::Int))
            }
            () if self.says(&texts) && !self.says(&lists) && !self.says(&["tuple", "tuples"]) => Kind::Text,
            () if self.says(&["tuple"]) && !self.says(&lists) && self.language == Language::Python => {
                Kind::Row(Box::new(Kind::Int))
            }
            () => Kind::List(Box::new(self.element())),
        }
    }

    /// The kind of the elements of a list.
    fn element(&self) -> Kind {
        let lists =
            ["list of lists", "lists of lists", "sublists", "sublist", "nested list", "matrix", "two dimensional"];
        match () {
            () if self.says(&lists) => Kind::List(Box::new(Kind::Int)),
            () if self.language == Language::Python && self.says(&["tuples", "tuple list", "list of tuple"]) => {
                Kind::Tuple(vec![Kind::Int, Kind::Int])
            }
            () if self.says(&["list of strings", "list of words", "strings", "words", "string list"]) => Kind::Text,
            () if self.says(&["floats", "average", "mean", "round", "rounded", "decimal"]) => Kind::Float,
            () => Kind::Int,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(head: &str, body: &str, name: &str) -> Kind {
        Described::new(Language::Python, head, &[body]).kind(name, Kind::of_name(name), true)
    }

    #[test]
    fn use_and_words_tell_kinds_that_names_do_not() {
        let ints = || Kind::List(Box::new(Kind::Int));
        let cases = [
            ("def f(a):\n \"The largest.\"", "    return max(a)\n", "a", ints()),
            ("def f(num1):\n \"Merge lists.\"", "    for x in num1:\n        pass\n", "num1", ints()),
            ("def f(l):\n \"The surface of a cube.\"", "    return 6 * l ** 2\n", "l", Kind::Int),
            ("def f(a):\n \"Reverse a string.\"", "    return a[::-1]\n", "a", Kind::Text),
            ("def f(a):\n \"Equal tuples in a list?\"", "    return len(a[0])\n", "a", {
                Kind::List(Box::new(Kind::Tuple(vec![Kind::Int, Kind::Int])))
            }),
            ("def f(a):\n \"The sum of a tuple.\"", "    return sum(a)\n", "a", Kind::Row(Box::new(Kind::Int))),
            ("def f(n):\n \"A square.\"", "    return n * n\n", "n", Kind::Int),
            ("def f(items):\n \"The mean.\"", "    return sum(items)\n", "items", Kind::List(Box::new(Kind::Float))),
        ];
        for (head, body, name, expected) in cases {
            assert_eq!(kind(head, body, name), expected, "{head}: {body}");
        }
    }
}
