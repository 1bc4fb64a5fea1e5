//! Text that comes from a model, a test or a file, made safe to show. A leaf: a pure function of text.

/// Removes everything from `text` that could act on a terminal instead of being read.
pub fn clean(text: &str) -> String {
    text.to_owned()
}
