//! Statements that give names values.

use crate::language::Language;

/// A statement that gives names the values that parameters of another head have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// `let`, `const` or `var`. Empty in languages that need none.
    pub keyword: &'static str,
    /// A name with its type, or a pattern.
    pub pattern: String,
    /// An expression.
    pub value: String,
    /// The names that it gives values.
    pub binds: Vec<String>,
    /// True if it declares them.
    pub is_new: bool,
}

impl Statement {
    pub fn new(keyword: &'static str, pattern: &str, value: &str, binds: Vec<String>) -> Self {
        Self { keyword, pattern: pattern.to_owned(), value: value.to_owned(), binds, is_new: true }
    }

    /// Gives a parameter a value where it was given none.
    pub fn unless_given(name: &str, value: &str) -> Self {
        Self { is_new: false, ..Self::new("", name, value, vec![name.to_owned()]) }
    }

    pub fn text(&self, language: Language) -> String {
        let Self { keyword, pattern, value, .. } = self;
        match language {
            Language::Python => format!("{pattern} = {value}"),
            Language::Go => format!("{pattern} := {value}"),
            _ if !self.is_new => format!("if ({pattern} === undefined) {pattern} = {value};"),
            _ => format!("{keyword} {pattern} = {value};"),
        }
    }
}

/// A declaration whose names may get other values.
pub fn bind(pattern: &str, value: &str, binds: Vec<String>) -> Statement {
    Statement::new("let", pattern, value, binds)
}
