//! The request to a chat model in words, and how its answer becomes a candidate.

use std::sync::Arc;

use crate::code::{self, RequestedFunction};
use crate::engine::{Reading, Thinks};
use crate::language::Language;
use crate::model::Chat;

/// Request to finish the function `name`, which `code` ends in.
pub fn request(language: Language, name: &str, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    let which = if name.is_empty() { "function".to_owned() } else { format!("function `{name}`") };
    let line_end = if code.ends_with('\n') { "" } else { "\n" };
    format!(
        "Write the {} {which} at the end of this code. Answer with one code block that holds this function alone, with \
         the same name and parameters; leave out its comments and docstring, all other code, examples and explanations. \
         What it needs beyond this code goes inside of it.\n\n{fence}{}\n{code}{line_end}{fence}",
        language.title(),
        language.name()
    )
}

/// How the answer to such a request is read.
pub fn reading(chat: &Chat, function: RequestedFunction) -> Reading {
    let begun = chat.begun().to_owned();
    Arc::new(move |answer: &str, over: bool| {
        if begun.is_empty() { function.read(answer, over) } else { function.read(&format!("{begun}{answer}"), over) }
    })
}

/// Tells whether such an answer is nothing but thoughts so far.
pub fn thinks(chat: &Chat) -> Thinks {
    let begun = chat.begun().to_owned();
    Arc::new(move |answer: &str| code::prose(&format!("{begun}{answer}")).thinks)
}
