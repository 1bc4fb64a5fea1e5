//! The request to a chat model in words, the beginning of its answer, and how the answer becomes a candidate.
//!
//! The answer is begun for the model where its template shows how answers begin: a block of code with the
//! function up to the place of the body. The model then writes neither prose nor the head again.

use std::sync::Arc;

use crate::code::{self, RequestedFunction};
use crate::engine::{Reading, Thinks};
use crate::language::Language;
use crate::model::Chat;

/// The prompt in which the function is requested that `code` ends in.
pub fn prompt(chat: &Chat, function: &RequestedFunction, code: &str) -> String {
    let opening = opening(chat, function);
    let request = request(function.language, &function.name, code, opening.is_some());
    chat.prompt(&request) + chat.opening().unwrap_or_default() + opening.as_deref().unwrap_or_default()
}

/// A block of code after a fence that `code` does not have.
fn block(language: Language, code: &str) -> (String, String) {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    (format!("{fence}{}\n{code}", language.name()), fence)
}

fn request(language: Language, name: &str, code: &str, is_begun: bool) -> String {
    let which = if name.is_empty() { "function".to_owned() } else { format!("function `{name}`") };
    let (block, fence) = block(language, code);
    let line_end = if code.ends_with('\n') { "" } else { "\n" };
    let title = language.title();
    let words = if is_begun {
        format!("Complete the {title} {which} at the end of this code.")
    } else {
        format!(
            "Write the {title} {which} at the end of this code. Answer with one code block that holds this function \
             alone, with the same name and parameters; leave out its comments and docstring, all other code, examples \
             and explanations. What it needs beyond this code goes inside of it."
        )
    };
    format!("{words}\n\n{block}{line_end}{fence}")
}

/// The beginning of the answer, if it is begun.
fn opening(chat: &Chat, function: &RequestedFunction) -> Option<String> {
    chat.opening().filter(|_| !function.head.is_empty()).map(|_| block(function.language, &function.head).0)
}

/// How the answer to such a request is read.
pub fn reading(chat: &Chat, function: RequestedFunction) -> Reading {
    let begun = opening(chat, &function).unwrap_or_else(|| chat.begun().to_owned());
    Arc::new(move |answer: &str, over: bool| {
        if begun.is_empty() { function.read(answer, over) } else { function.read(&format!("{begun}{answer}"), over) }
    })
}

/// Tells whether such an answer is nothing but thoughts so far.
pub fn thinks(chat: &Chat, function: &RequestedFunction) -> Thinks {
    let begun = opening(chat, function).unwrap_or_else(|| chat.begun().to_owned());
    Arc::new(move |answer: &str| code::prose(&format!("{begun}{answer}")).thinks)
}
