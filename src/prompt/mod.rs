//! Prompts for completing a function: as much of its file and its project, in order of worth, as the model
//! can read.
//!
//! Small models get the function and what it names ([`Target::prompt`]), no more. The text in front of the
//! stub is for the model alone: nothing of it is tested or written.
//!
//! - Models of 100 million weights or more have a budget of tokens (`source/window.rs`).
//! - `plan` is one table: step, share of the room it may take, room kept from it. `cargo run --example
//!   prompt_names` measures it; `docs/performance.md` has the figures.
//! - `sheet` writes the chosen pieces in file order, the function last. Parts left out of a function are
//!   `...` or `{ /* ... */ }`, so that the whole stays code.
//! - `others` quotes pieces of imported project files, callers and tests, as comments under their paths.
//!   `twin` tells which functions are like the function: `encode` and `decode`.
//! - Bodies of twins and callers come before heads that the file imports. Bodies of what these use fill the
//!   rest.
//! - A test is shown whole or not at all. Tests of the project are shown as tests only, never as callers.
//! - Text behind the function is shown only to models that can fill in (`model/infill.rs`).
//! - A chat model gets the same text in a code block. `code::RequestedFunction` takes the function and all
//!   that it needs out of its answer while it streams.
//! - Special tokens that the file or the user's words spell out are letters (`model/prompt_text.rs`).
//! - `eval` brings its own prompts; chat models get them as requests.

pub mod chat;
mod others;
mod plan;
mod sheet;
#[cfg(test)]
mod tests;
mod told;
mod twin;

use std::path::PathBuf;

pub use told::Told;

use crate::code::{HeadPart, Target};
use crate::model::PromptText;
use crate::source::Window;

/// The user's options for prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Most tokens of a prompt; `None` is what suits the model.
    pub tokens: Option<usize>,
    /// Tests are shown; `None`: those that the user named.
    pub tests: Option<bool>,
    /// Models that can fill in are shown the text after the function.
    pub infill: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { tokens: None, tests: None, infill: true }
    }
}

/// The tests of a function, as text.
#[derive(Clone, Debug, Default)]
pub struct Tests {
    /// Their files.
    pub files: Vec<(PathBuf, String)>,
    /// The user named them.
    pub named: bool,
}

/// A prompt, and what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Shown {
    /// The prompt.
    #[serde(rename = "prompt")]
    pub text: PromptText,
    /// Its tokens.
    #[serde(rename = "prompt_tokens")]
    pub tokens: usize,
    /// Most tokens that it was to have; `None`: the function and what it names.
    pub budget: Option<usize>,
    /// It is a request in a conversation.
    pub chat: bool,
    /// Sections in it, in order of worth.
    pub shown: Vec<PromptSection>,
    /// Sections left out of it.
    pub left_out: Vec<LeftOut>,
}

/// A section of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PromptSection {
    /// Its description.
    pub what: String,
    /// Its tokens.
    pub tokens: usize,
}

/// A section that a prompt does not hold.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    /// Its description.
    pub what: String,
    /// Why, for the reader.
    pub why: String,
}

/// Tokens of a prompt that has to hold tests, of a model that gets the function and what it names otherwise.
const WITH_TESTS: usize = 512;

/// The prompt of a function with these tests, and with what is `told` in words.
pub fn of(target: &Target, tests: &Tests, window: &Window, options: Options, told: Told<'_>) -> Shown {
    let told = Told { part: None, ..told };
    if window.chat.is_none() && told.is_empty() {
        return continued(target, tests, window, options);
    }
    of_words(target, tests, window, options, told).unwrap_or_else(|| continued(target, tests, window, options))
}

/// Like [`of`], for a part of the head alone. `None` where it cannot be asked for.
pub fn of_head(
    target: &Target,
    tests: &Tests,
    window: &Window,
    options: Options,
    (part, told): (HeadPart, Told<'_>),
) -> Option<Shown> {
    of_words(target, tests, window, options, Told { part: Some(part), ..told })
}

/// Like [`of`] where candidates have failed. `None` for models so small that they get nothing beside the
/// function, and where a prompt does not end with its head.
pub fn again(target: &Target, tests: &Tests, window: &Window, options: Options, told: Told<'_>) -> Option<Shown> {
    let is_told = window.chat.is_some() || options.tokens.or(window.tokens).is_some();
    of_words(target, tests, window, options, told).filter(|_| is_told)
}

/// The prompt that tells something; `None` where that has no place.
fn of_words(target: &Target, tests: &Tests, window: &Window, options: Options, told: Told<'_>) -> Option<Shown> {
    // The body that is changed is no part of the room for the code around it.
    let present = told.wish.and_then(|_| target.present()).map_or(0, |present| window.count(&present));
    let Some(chat) = &window.chat else {
        let own = window.count(&told.commented(target)).saturating_sub(present);
        let options = with_room(options, window, own);
        let shown = continued(target, tests, window, Options { infill: false, ..options });
        let text = PromptText::words(told.in_front(target, &shown.text)?);
        return Some(Shown { tokens: window.count_prompt(&text), text, ..shown });
    };
    let around = |code: &str| chat::of_target(chat, target, code, told);
    let own = window.count(&around("")?).saturating_sub(present);
    let options = with_room(options, window, own);
    let shown = continued(target, tests, window, Options { infill: false, ..options });
    let text = around(&shown.text)?;
    let budget = shown.budget.map(|budget| budget + own + present);
    Some(Shown { tokens: window.count_prompt(&text), text, budget, chat: true, ..shown })
}

/// Options that leave room for so many tokens.
fn with_room(options: Options, window: &Window, own: usize) -> Options {
    Options { tokens: options.tokens.or(window.tokens).map(|tokens| tokens.saturating_sub(own)), ..options }
}

/// Like [`of`], for a model that goes on where the prompt ends.
fn continued(target: &Target, tests: &Tests, window: &Window, options: Options) -> Shown {
    let shows_tests = options.tests.unwrap_or(tests.named) && !tests.files.is_empty();
    let asked = options.tokens.or(window.tokens).or((options.tests == Some(true)).then_some(WITH_TESTS));
    // Something has to be written, too.
    let most = if window.context == 0 { usize::MAX } else { window.context * 3 / 4 };
    match (asked.map(|tokens| tokens.min(most)), &target.path) {
        (Some(budget), Some(path)) => {
            let tests = if shows_tests { tests.files.as_slice() } else { &[] };
            let infill = window.infill.filter(|_| options.infill);
            let mut shown = plan::plan(plan::Task { target, path, tests, infill, window, budget });
            if !shows_tests {
                let why = if options.tests == Some(false) {
                    "--show-tests no"
                } else {
                    "only tests that are named with --tests are shown, or all with --show-tests yes"
                };
                shown.left_out.push(LeftOut { what: "its tests".to_owned(), why: why.to_owned() });
            }
            shown
        }
        (budget, path) => {
            let text = PromptText::words(target.prompt());
            let tokens = window.count_prompt(&text);
            let what = if path.is_some() { "the function and what it names" } else { "the text as it is" };
            let why = "the model is small, so that more would cost it the thread: --prompt-tokens N shows more";
            let rest = LeftOut { what: "the rest of its file and its project".to_owned(), why: why.to_owned() };
            Shown {
                tokens,
                shown: vec![PromptSection { what: what.to_owned(), tokens }],
                chat: false,
                left_out: if path.is_some() { vec![rest] } else { Vec::new() },
                text,
                budget,
            }
        }
    }
}
