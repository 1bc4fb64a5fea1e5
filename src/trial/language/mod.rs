//! The languages of trials: a table with a row each, and a folder for each language.
//!
//! A row has the languages, the suspicious uses, the layout of lone files, the marks of tests
//! files, the examples in documentation as tests, and the implementation (`TrialLanguage`).

pub mod command;
mod compiled;
mod go;
mod javascript;
mod python;
mod row;
mod rust;

use std::path::{Path, PathBuf};

pub use row::{Context, Packages, TrialLanguage, patience};

use super::project::find::{Found, below, find};
use crate::code::Target;
use crate::language::Language;
use row::Tests;
pub use row::{CALLED, LanguageRow, VacuityBody};

const ROWS: &[LanguageRow] = &[python::ROW, javascript::ROW, rust::ROW, go::ROW];

/// Opens all languages of the table.
pub fn open() -> Vec<Box<dyn TrialLanguage>> {
    ROWS.iter().map(|row| (row.open)()).collect()
}

/// Index of a language in the table.
pub fn place(language: Language) -> usize {
    ROWS.iter().position(|row| row.languages.contains(&language)).expect("each language has a row")
}

/// The row of a language.
pub fn row(language: Language) -> &'static LanguageRow {
    &ROWS[place(language)]
}

/// See [`find`].
pub fn find_tests(language: Language, file: &Path, function: &str) -> Vec<Vec<Found>> {
    find(language, row(language).tests, file, function)
}

/// The tests files below a folder: those that mention the function if any do, else all.
pub fn tests_below(language: Language, folder: &Path, function: Option<&str>) -> Vec<PathBuf> {
    below(language, row(language).tests, folder, function)
}

/// See [`LanguageRow::runs_examples`]. False for a program without a place on disk.
pub fn runs_examples(language: Language, file: Option<&Path>) -> bool {
    file.is_some_and(row(language).runs_examples)
}

/// See [`LanguageRow::examples`].
pub fn examples(target: &Target) -> Result<(Tests, bool), String> {
    (row(target.language).examples)(target)
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
