//! How each language's tests are run. One file per language.

pub mod python;
