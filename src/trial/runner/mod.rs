//! How each language's tests are run. One file per language.

pub mod pair;
pub mod python;
