//! The languages of trials: a table with a row each, and a folder with what is its own.

pub mod command;
mod compiled;
mod go;
mod javascript;
mod python;
mod row;
mod rust;

use std::path::{Path, PathBuf};

pub use row::{Context, Sources, TrialLanguage};

use super::project::find::{Found, below, find};
use super::reach::Table;
use crate::code::Target;
use crate::language::Language;
use row::{Row, Tests};

const ROWS: &[Row] = &[python::ROW, javascript::ROW, rust::ROW, go::ROW];

/// All of the table, ready to run.
pub fn open() -> Vec<Box<dyn TrialLanguage>> {
    ROWS.iter().map(|row| (row.open)()).collect()
}

/// The place of a language in the table.
pub fn place(language: Language) -> usize {
    ROWS.iter().position(|row| row.languages.contains(&language)).expect("each language has a row")
}

/// See [`Row::reach`].
pub fn reach(language: Language) -> Table {
    ROWS[place(language)].reach
}

/// See [`find`].
pub fn find_tests(language: Language, file: &Path, function: &str) -> Vec<Vec<Found>> {
    find(language, ROWS[place(language)].tests, file, function)
}

/// See [`below`].
pub fn tests_below(language: Language, folder: &Path, function: Option<&str>) -> Vec<PathBuf> {
    below(language, ROWS[place(language)].tests, folder, function)
}

/// See [`Row::examples`].
pub fn examples(target: &Target) -> Result<(Tests, bool), String> {
    (ROWS[place(target.language)].examples)(target)
}

/// See [`Row::needs_project`].
pub fn needs_project(language: Language, sources: &Sources) -> bool {
    (ROWS[place(language)].needs_project)(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_one_row() {
        for language in Language::ALL {
            assert_eq!(ROWS.iter().filter(|row| row.languages.contains(language)).count(), 1, "{}", language.name());
        }
    }
}
