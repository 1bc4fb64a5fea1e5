//! Code as text: finding the function, its end, its prompt, and writing the file.

mod answer;
#[cfg(unix)]
mod apply;
mod body;
mod braces;
mod edits;
mod grown;
mod imports;
#[path = "../shared/skip.rs"]
mod skip;
mod target;
