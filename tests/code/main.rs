//! Code as text: finding the function, its end, its prompt, and writing the file.

#[cfg(unix)]
mod apply;
mod body;
mod braces;
mod target;
