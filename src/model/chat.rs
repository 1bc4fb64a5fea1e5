//! Chat templates: how a model that was taught conversations is shown a request.
//!
//! A template is a program that came with a model. For requests of our own it is run once, with one turn of
//! the user in it, of which only the place is kept: the text before the user's words, and the text after them.
//! For a conversation it is run on its words. `jinja` has its language.

mod jinja;
mod json;
mod objects;
mod python;
mod source;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use minijinja::value::Value;
use minijinja::{Error, ErrorKind, context};

use super::fields::{self, Fields};
use super::{ModelError, PromptText, Tokenizer};
use crate::{channels, files, panics};

/// The file of a folder that holds its template alone.
pub const FILE: &str = "chat_template.jinja";
/// The file of a folder that names special tokens, and often holds the template.
pub const SETTINGS: &str = "tokenizer_config.json";

/// Longest template that is run; those of large models have up to twenty thousand bytes.
const MOST_BYTES: usize = 1 << 16;
/// Limit of a template in steps, and what a turn and each byte of what is said add to it.
const STEPS: u64 = 200_000;
const TURN_STEPS: u64 = 1000;
/// Lists of lists can take for ever where no step is counted. None should take a hundredth of this.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
/// A thread's room for the longest chain of operators that a template can be.
const STACK: usize = 128 << 20;
/// How the sentence about a template begins that takes too long.
const SLOW: &str = "it takes more than";
/// Stands for the user's words while the template is run.
const WORDS: &str = "5fJ2wordsQ7";
/// Tokens that end a turn, in the templates of those models that have them.
const TURN_ENDS: &[&str] = &[
    "<|im_end|>",
    "<|eot_id|>",
    "<end_of_turn>",
    "<turn|>",
    channels::MESSAGE_END,
    "<|EOT|>",
    "<|end_of_text|>",
    "<|return|>",
    "<|call|>",
];

/// A setting by which a template asks for an answer without thoughts, which would take the tokens that the
/// function needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Switch {
    Flag(&'static str, bool),
    Text(&'static str, &'static str),
    /// Behind the user's words.
    Words(&'static str),
}

/// Known switches, in the order in which they are tried.
const SWITCHES: &[Switch] = &[
    Switch::Flag("enable_thinking", false),
    Switch::Flag("thinking", false),
    Switch::Flag("think", false),
    Switch::Text(EFFORT, "none"),
    Switch::Text(EFFORT, "minimal"),
    Switch::Text(EFFORT, LEAST),
    Switch::Words("/no_think"),
];
/// Some templates compare its value, others write down whatever it is: these know [`LEAST`].
const EFFORT: &str = "reasoning_effort";
const LEAST: &str = "low";

impl Switch {
    /// Words that a template with this switch mentions.
    fn name(self) -> &'static str {
        match self {
            Self::Flag(name, _) | Self::Text(name, _) => name,
            Self::Words(words) => words,
        }
    }
}

/// The text ends within thoughts.
fn is_thinking(text: &str) -> bool {
    let begun = channels::begun(text);
    !begun.is_empty() && channels::parts(begun, false).answer.is_none()
}

/// The names of those models that were taught conversations hold one of these words.
const NAMES: &[&str] = &["instruct", "chat", "it"];
/// In these families the others are those that say so: `base`.
const FAMILIES: &[&str] = &["qwen3", "r1"];

/// A template as it stands in a model's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The file that it is in.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// `bos_token` and the like, with the text of the token.
    pub tokens: Vec<(String, String)>,
}

/// How a model is shown a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chat {
    before: String,
    after: String,
    ends: Vec<String>,
    switch: Option<Switch>,
    /// Text between the prompt and the words of an answer; `None` if it cannot be told.
    opening: Option<String>,
    /// For conversations of more than one turn; `None` where a server has it.
    template: Option<Template>,
}

/// A choice of the user or the catalog: a model continues prompts, or is asked in conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatUse {
    /// It goes on where the prompt ends.
    No,
    /// It is asked, and its answers are begun for it where its template shows how they begin.
    Yes,
    /// It is asked, and writes its answers from their first token.
    Free,
}

impl From<bool> for ChatUse {
    fn from(is_asked: bool) -> Self {
        if is_asked { Self::Yes } else { Self::No }
    }
}

/// Who says something in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Whoever set the model up.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// As templates call it.
    fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A model of this name was taught conversations. Bare models carry templates, too.
pub fn is_named(name: &str) -> bool {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let is_of_family = words.iter().any(|word| FAMILIES.contains(word)) && !words.contains(&"base");
    is_of_family || words.iter().any(|word| NAMES.contains(word) || NAMES[..2].iter().any(|name| word.contains(name)))
}

impl Template {
    /// Reads the template of a model's folder, if it has one.
    pub fn of_folder(folder: &Path) -> Result<Option<Self>, ModelError> {
        let read = |name: &str| match files::read(&folder.join(name), files::DATA) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ModelError::Io { path: folder.join(name), source }),
        };
        let path = folder.join(SETTINGS);
        let settings = read(SETTINGS)?.map(|bytes| fields::parse(&path, &bytes)).transpose()?.unwrap_or_default();
        let settings = Fields::new(&path, &settings);
        let mut tokens = Vec::new();
        for name in ["bos_token", "eos_token", "unk_token", "pad_token"] {
            let text = match settings.get(name) {
                Some(serde_json::Value::Object(_)) => {
                    settings.object(name, name)?.and_then(|o| o.text("content").ok()?)
                }
                _ => settings.text(name)?,
            };
            tokens.extend(text.map(|text| (name.to_owned(), text.to_owned())));
        }
        if let Some(bytes) = read(FILE)? {
            let path = folder.join(FILE);
            let text = String::from_utf8(bytes).map_err(|_| failed(&path, "it is not UTF-8 text"))?;
            return Ok(Some(Self { path, text, tokens }));
        }
        let text = match settings.get("chat_template") {
            None => None,
            Some(serde_json::Value::Array(named)) => {
                let of = |one: &serde_json::Value| {
                    (one["name"] == "default").then(|| Some(one["template"].as_str()?.to_owned()))
                };
                named.iter().find_map(of).flatten()
            }
            Some(_) => settings.text("chat_template")?.map(str::to_owned),
        };
        Ok(text.map(|text| Self { path, text, tokens }))
    }

    /// Runs it.
    pub fn render(&self) -> Result<Chat, ModelError> {
        if self.text.len() > MOST_BYTES {
            return Err(failed(
                &self.path,
                &format!("it has {} bytes, expected at most {MOST_BYTES}", self.text.len()),
            ));
        }
        let (text, switch) = self.without_thoughts().map_err(|problem| failed(&self.path, &problem))?;
        let mut parts = text.split(WORDS);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(before), Some(after), None) => {
                // Of several messages the end of one is not the end of the turn.
                let goes_on = channels::has_messages(&self.text).then_some(channels::MESSAGE_END);
                let end = |name: &&&str| self.text.contains(**name) && Some(**name) != goes_on;
                let mut ends: Vec<String> = TURN_ENDS.iter().filter(end).map(|&s| s.to_owned()).collect();
                ends.extend(self.tokens.iter().filter(|(name, _)| name == "eos_token").map(|(_, text)| text.clone()));
                let opening = self.opening(&text, switch);
                let (before, after) = (before.to_owned(), after.to_owned());
                Ok(Chat { before, after, ends, switch, opening, template: Some(self.clone()) })
            }
            _ => Err(failed(&self.path, "it does not show what the user says exactly once")),
        }
    }

    /// Its text for one turn of the user, by the first switch that changes it and leaves no thoughts open. A
    /// template ignores names that it does not know, and may refuse a value: by the text alone it can be
    /// told.
    fn without_thoughts(&self) -> Result<(String, Option<Switch>), String> {
        let run = |switch| self.run(&[(Role::User, WORDS.to_owned())], switch);
        let plain = run(None)?;
        let is_known = |switch: &Switch| self.text.contains(switch.name());
        let mut names = SWITCHES.iter().copied().filter(is_known).peekable();
        // It writes down what it does not know.
        let is_written = names.peek().is_some()
            && self.text.contains(EFFORT)
            && run(Some(Switch::Text(EFFORT, WORDS))).is_ok_and(|text| text.matches(WORDS).count() > 1);
        for switch in names {
            let is_least = !matches!(switch, Switch::Text(_, value) if value != LEAST);
            if is_written && !is_least {
                continue;
            }
            match run(Some(switch)) {
                Ok(text) if text != plain && !is_thinking(&text) => return Ok((text, Some(switch))),
                Err(problem) if problem.starts_with(SLOW) => break,
                _ => {}
            }
        }
        Ok((plain, None))
    }

    /// Text between `prompt` and the words of an answer, as its text for a conversation with an answer has it:
    /// a channel for answers, empty thoughts. Empty where the prompt has more than that and leaves no thoughts
    /// open; `None` where neither holds.
    fn opening(&self, prompt: &str, switch: Option<Switch>) -> Option<String> {
        let turns = [(Role::User, WORDS), (Role::Assistant, WORDS)].map(|(role, words)| (role, words.to_owned()));
        let text = self.run(&turns, switch).ok()?;
        let answered = &text[..text.rfind(WORDS)?];
        if let Some(opening) = answered.strip_prefix(prompt) {
            return (!is_thinking(answered)).then(|| opening.to_owned());
        }
        (prompt.starts_with(answered) && answered.contains(WORDS) && !is_thinking(prompt)).then(String::new)
    }

    /// Runs it on `turns`, in a thread that may be left behind.
    fn run(&self, turns: &[(Role, String)], switch: Option<Switch>) -> Result<String, String> {
        objects::stand_alone(&self.text)?;
        let (template, mut turns, (send, receive)) = (self.clone(), turns.to_vec(), channel());
        if let (Some(Switch::Words(words)), Some((_, said))) =
            (switch, turns.iter_mut().rfind(|(role, _)| *role == Role::User))
        {
            *said = format!("{said} {words}");
        }
        let run = move || {
            let said = panics::contain(|| template.run_here(&turns, switch).map_err(|error| sentence(&error)));
            let _ = send.send(said.and_then(|said| said));
        };
        let thread = std::thread::Builder::new().name("chat template".to_owned()).stack_size(STACK).spawn(run);
        thread.map_err(|error| format!("its thread could not be started: {error}"))?;
        receive.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(format!("{SLOW} {} s", PATIENCE.as_secs())))
    }

    fn run_here(&self, turns: &[(Role, String)], switch: Option<Switch>) -> Result<String, Error> {
        let mut more: BTreeMap<&str, Value> =
            self.tokens.iter().map(|(name, text)| (name.as_str(), Value::from(text.as_str()))).collect();
        match switch {
            Some(Switch::Flag(name, value)) => drop(more.insert(name, Value::from(value))),
            Some(Switch::Text(name, value)) => drop(more.insert(name, Value::from(value))),
            Some(Switch::Words(_)) | None => {}
        }
        let more = Value::from_pairs(more);
        let said: u64 = turns.iter().map(|(_, words)| words.len() as u64 + TURN_STEPS).sum();
        let turns: Vec<Value> =
            turns.iter().map(|(role, words)| context! { role => role.name(), content => words }).collect();
        let asked = context! {
            messages => turns,
            add_generation_prompt => true,
            tools => (),
            documents => (),
            ..more
        };
        jinja::render(&self.text, asked, STEPS + said)
    }
}

impl Chat {
    /// For a server that has the template: only the user's words are sent.
    pub fn of_server() -> Self {
        Self {
            before: String::new(),
            after: String::new(),
            ends: Vec::new(),
            switch: None,
            opening: None,
            template: None,
        }
    }

    /// This conversation, whose answers are left to the model from their first token.
    #[must_use]
    pub fn unopened(self) -> Self {
        Self { opening: None, ..self }
    }

    /// Text between the prompt and the words of an answer that is begun for the model; `None` where answers
    /// are left to it.
    pub fn opening(&self) -> Option<&str> {
        self.opening.as_deref()
    }

    /// The prompt in which the user says this, which has no white space at its ends.
    pub fn prompt(&self, words: &str) -> PromptText {
        PromptText::marks(&self.before).with_words(words).with_marks(&self.after)
    }

    /// The prompt that goes on with a conversation. Some templates refuse a system's words: those are the
    /// beginning of what the user says first.
    pub fn conversation(&self, turns: &[(Role, String)]) -> Result<String, ModelError> {
        let Some(template) = &self.template else {
            let last = turns.last().map_or("", |(_, words)| words);
            return Ok(self.prompt(last).into_text());
        };
        let run = |turns: &[_]| template.run(turns, self.switch);
        let text = run(turns).or_else(|problem| match turns {
            [(Role::System, system), (Role::User, first), rest @ ..] if !problem.starts_with(SLOW) => {
                let first = (Role::User, [system.as_str(), "\n\n", first].concat());
                run(&[&[first], rest].concat()).map_err(|_| problem)
            }
            _ => Err(problem),
        });
        text.map_err(|problem| failed(&template.path, &problem))
    }

    /// Texts before and after the user's words.
    pub fn around(&self) -> (&str, &str) {
        (&self.before, &self.after)
    }

    /// Beginning of each answer in the prompt: marks of thoughts or of a message. Empty where there are none.
    pub fn begun(&self) -> &str {
        channels::begun(&self.after)
    }

    /// Adds the ids of tokens that end the model's turn to `ends`, and removes those after which it goes on.
    pub fn end_turns(&self, tokenizer: &Tokenizer, ends: &mut Vec<u32>) {
        if self.template.as_ref().is_some_and(|template| channels::has_messages(&template.text)) {
            let message = tokenizer.id(channels::MESSAGE_END);
            ends.retain(|&id| Some(id) != message);
        }
        ends.extend(self.ends.iter().filter_map(|text| tokenizer.id(text)));
    }
}

/// The error in a line.
fn sentence(error: &Error) -> String {
    let line = error.line().map_or_else(String::new, |line| format!(", line {line}"));
    let what = match error.kind() {
        ErrorKind::OutOfFuel => "it takes more steps or memory than any template needs".to_owned(),
        _ => error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind())),
    };
    format!("{what}{line}")
}

fn failed(path: &Path, problem: &str) -> ModelError {
    ModelError::Template { path: path.into(), problem: crate::untrusted::clean_line(problem, 300) }
}

#[cfg(test)]
mod tests;
