//! The parts of a function's head that a wish can speak of, which a model then writes anew.

use crate::code::Target;

/// A part of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadPart {
    /// The list of parameters, with their types.
    Parameters,
    /// The documentation: a docstring, or the comment above.
    Docs,
}

/// Words of a wish that speak of parameters.
const PARAMETERS: &[&str] = &[
    "param", "params", "parameter", "parameters", "arg", "args", "argument", "arguments", "kwarg", "kwargs", "keyword",
    "option", "optional", "flag", "default",
];
/// Words that speak of types.
const TYPES: &[&str] = &["hint", "hints", "annotate", "annotation", "annotations", "typed", "typing", "types"];
/// Words that speak of documentation.
const DOCS: &[&str] =
    &["docstring", "docstrings", "documentation", "docs", "doctest", "doctests", "jsdoc", "tsdoc", "godoc", "rustdoc"];

fn words(wish: &str) -> impl Iterator<Item = String> {
    let words = wish.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase)
}

fn has(wish: &str, of: &[&str]) -> bool {
    words(wish).any(|word| of.contains(&&*word))
}

/// Returns true if a wish speaks of types, so that those that are there may change.
pub fn speaks_of_types(wish: &str) -> bool {
    let words: Vec<String> = words(wish).collect();
    has(wish, TYPES) || words.windows(2).any(|pair| pair == ["return", "type"] || pair == ["type", "hinting"])
}

impl HeadPart {
    /// The parts that a wish speaks of, so that they may change.
    pub fn of(wish: &str) -> Vec<Self> {
        let parameters = has(wish, PARAMETERS) || speaks_of_types(wish);
        let docs = has(wish, DOCS) || words(wish).next().is_some_and(|word| word == "document");
        let parts = [(Self::Parameters, parameters), (Self::Docs, docs)].into_iter();
        parts.filter(|(_, is_spoken_of)| *is_spoken_of).map(|(part, _)| part).collect()
    }

    /// The names of parts.
    pub fn titles(parts: &[Self]) -> String {
        parts.iter().map(|part| part.title()).collect::<Vec<_>>().join(" and ")
    }

    /// Its name for the user.
    pub fn title(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Docs => "documentation",
        }
    }
}

impl Target {
    /// The stub up to a part that is written anew; `None` where it has no place for it.
    pub fn up_to(&self, part: HeadPart) -> Option<String> {
        match part {
            HeadPart::Parameters => self.up_to_parameters(),
            HeadPart::Docs => self.up_to_docs(),
        }
    }

    /// The end of the part in a text that goes on behind [`Self::up_to`], once it is whole.
    pub fn told(&self, part: HeadPart, text: &str, wish: &str) -> Option<usize> {
        match part {
            HeadPart::Parameters => self.parameters_told(text, wish),
            HeadPart::Docs => self.docs_told(text),
        }
    }

    /// This target with the part that such a text begins with, or that of the function in an answer where
    /// that was not begun; `None` where it has none.
    pub fn with_part(&self, part: HeadPart, text: &str, wish: &str, is_begun: bool) -> Option<Self> {
        match part {
            HeadPart::Parameters => self.with_parameters(text, wish),
            HeadPart::Docs => self.with_docs(text, wish, is_begun),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_may_speak_of_parts_of_the_head() {
        use HeadPart::{Docs, Parameters};
        for (wish, parts) in [
            ("add a parameter sep", &[Parameters][..]),
            ("optional depth", &[Parameters]),
            ("a flag smallest=False", &[Parameters]),
            ("fix the mutable default", &[Parameters]),
            ("take Args, too", &[Parameters]),
            ("add type hints", &[Parameters]),
            ("state the return type", &[Parameters]),
            ("add a docstring", &[Docs]),
            ("Document the errors", &[Docs]),
            ("annotate it and add docs", &[Parameters, Docs]),
            ("sort case-insensitively", &[]),
            ("put optionals last", &[]),
            ("also accept None", &[]),
            ("raise a TypeError for another type", &[]),
            ("keep the document as it is", &[]),
        ] {
            assert_eq!(HeadPart::of(wish), parts, "{wish}");
        }
    }
}
