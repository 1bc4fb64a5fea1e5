//! Requests for completions and conversations, read from JSON. Fields that nobody knows are passed over, as
//! `OpenAI` does; those that would have to change what is written, and cannot, are refused.

use serde_json::{Map, Value, json};

use super::Serving;
use super::answer::Refusal;
use crate::engine::{GenerateOptions, MAX_CANDIDATES};
use crate::model::Role;
use crate::options::{self, Settings};
use crate::sampling::Sampling;
use crate::source::{Prompt, Request};

/// In which of `OpenAI`'s two ways something is asked and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What follows a text.
    Completion,
    /// What is said next in a conversation.
    Chat,
}

/// A request.
#[allow(clippy::struct_excessive_bools)] // each is a field of its own
pub struct Asked {
    pub form: Form,
    pub request: Request,
    /// How many of its candidates are sent, the best ones.
    pub sent: usize,
    /// Piece by piece.
    pub stream: bool,
    /// With a count of tokens at the end of the stream.
    pub counted: bool,
    pub logprobs: bool,
    /// With the ids of tokens.
    pub ids: bool,
    /// What stands before each text.
    pub echo: String,
}

/// An object that was sent.
pub struct Fields(Map<String, Value>);

/// Options that a request sets, by their names here; where it has other names, these come first.
const OPTIONS: &[(&str, &str)] = &[
    ("n", "n"),
    ("max_tokens", "max-tokens"),
    ("max_completion_tokens", "max-tokens"),
    ("temperature", "temperature"),
    ("top_p", "top-p"),
    ("top_k", "top-k"),
    ("min_p", "min-p"),
    ("repetition_penalty", "repetition-penalty"),
    ("seed", "seed"),
    ("stop", "stop"),
];

/// Tokens of a completion that does not say how many, as for `OpenAI`.
const TOKENS: usize = 16;
/// Most texts that end a candidate.
const MOST_STOPS: usize = 16;

impl Fields {
    /// Reads the body of a request.
    pub fn read(body: &[u8]) -> Result<Self, Refusal> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            Ok(_) => Err(Refusal::bad("the request is JSON, but no object: expected is {\"model\": …, …}")),
            Err(error) => Err(Refusal::bad(format!("the request is not JSON: {error}"))),
        }
    }

    /// What is said, if anything.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A switch, off where nothing is said.
    pub fn flag(&self, name: &str) -> Result<bool, Refusal> {
        self.get(name).map_or(Ok(false), |value| value.as_bool().ok_or_else(|| wrong(name, value, "true or false")))
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        self.get(name).map(|value| value.as_str().ok_or_else(|| wrong(name, value, "a text"))).transpose()
    }

    /// Takes over what is said of an option.
    pub fn set(&self, name: &str, option: &str, settings: &mut Settings) -> Result<(), Refusal> {
        let Some(value) = self.get(name) else { return Ok(()) };
        let row = options::named(option);
        let mut one = |value: &Value| {
            let text = match value {
                // Numbers and switches are such in JSON; a text in a list may look like one.
                Value::String(text) if row.is_list() || !row.is_switch() && text.parse::<f64>().is_err() => {
                    text.clone()
                }
                Value::Number(_) if !row.is_list() => value.to_string(),
                Value::Bool(_) if row.is_switch() => value.to_string(),
                _ => return Err(wrong(name, value, &row.expected())),
            };
            row.set(settings, &text).map_err(|expected| wrong(name, value, &expected))
        };
        match value {
            Value::Array(several) if row.is_list() && several.len() <= MOST_STOPS => several.iter().try_for_each(one),
            Value::Array(_) if row.is_list() => {
                Err(Refusal::bad(format!("`{name}` has more than {MOST_STOPS} texts, the most there can be")))
            }
            value => one(value),
        }
    }
}

/// What is said of a field that is not what it should be.
pub fn wrong(name: &str, found: &Value, expected: &str) -> Refusal {
    let mut shown = crate::untrusted::clean_line(&found.to_string(), 60);
    if found.is_array() {
        "a list".clone_into(&mut shown);
    } else if found.is_object() {
        "an object".clone_into(&mut shown);
    }
    Refusal::bad(format!("`{name}` is {shown}, expected {expected}"))
}

/// Reads a request.
pub fn read(form: Form, fields: &Fields, serving: &Serving) -> Result<Asked, Refusal> {
    if let Some(model) = fields.text("model")?
        && model != serving.info.model
    {
        let model = crate::untrusted::clean_line(model, 80);
        let message = format!("there is no model {model}; this server has {}", serving.info.model);
        return Err(Refusal::unknown("model_not_found", message));
    }
    supported(fields)?;
    let mut settings = serving.settings.clone();
    settings.generate = GenerateOptions {
        n: 1,
        sampling: Sampling { temperature: 1.0, ..Sampling::GREEDY },
        max_tokens: if form == Form::Chat { usize::MAX } else { TOKENS },
        seed: random(),
        stop: crate::engine::StopRules { ignore_eos: fields.flag("ignore_eos")?, ..Default::default() },
        ..settings.generate
    };
    for (name, option) in OPTIONS {
        fields.set(name, option, &mut settings)?;
    }
    let mut options = settings.generate;
    let (stream, sent) = (fields.flag("stream")?, options.n);
    if let Some(value) = fields.get("best_of") {
        let fits = |n: &usize| (sent..=MAX_CANDIDATES).contains(n);
        let best = value.as_u64().map(|n| n as usize).filter(fits);
        options.n =
            best.ok_or_else(|| wrong("best_of", value, &format!("a number from n, {sent}, to {MAX_CANDIDATES}")))?;
        if stream && options.n > sent {
            return Err(Refusal::bad(
                "`best_of` above n cannot be streamed: which candidates are the best is known at their end",
            ));
        }
    }
    let logprobs = match fields.get("logprobs") {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(value) if form == Form::Completion && value.as_u64().is_some_and(|n| n <= 20) => true,
        Some(value) => return Err(wrong("logprobs", value, "true, false or, of completions, a number up to 20")),
    };
    let prompt = match form {
        Form::Completion => prompt(fields, serving)?,
        Form::Chat => conversation(fields, serving)?,
    };
    let mut echo = String::new();
    if form == Form::Completion && fields.flag("echo")? {
        if logprobs {
            return Err(Refusal::bad("`echo` with `logprobs` is not supported: those of a prompt are not computed"));
        }
        echo = match &prompt {
            Prompt::Text(text) | Prompt::Written(text) => text.clone(),
            Prompt::Ids(ids) => serving.window.text(ids),
        };
    }
    let counted = fields.get("stream_options").is_some_and(|options| options["include_usage"] == json!(true));
    let ids = fields.flag("return_token_ids")?;
    let request = Request { prompt, reference: None, options };
    Ok(Asked { form, request, sent, stream, counted, logprobs, ids, echo })
}

/// Refuses what would have to change what is written.
fn supported(fields: &Fields) -> Result<(), Refusal> {
    let without_effect: [(&str, &[Value]); 7] = [
        ("presence_penalty", &[json!(0), json!(0.0)]),
        ("frequency_penalty", &[json!(0), json!(0.0)]),
        ("logit_bias", &[json!({})]),
        ("tools", &[json!([])]),
        ("functions", &[json!([])]),
        ("response_format", &[json!({ "type": "text" })]),
        ("guided_json", &[]),
    ];
    let differs = |(name, none): &&(&str, &[Value])| fields.get(name).is_some_and(|value| !none.contains(value));
    match without_effect.iter().find(differs) {
        Some((name, _)) => Err(Refusal::bad(format!("`{name}` is not supported here: leave it out"))),
        None => Ok(()),
    }
}

/// What is to be completed.
fn prompt(fields: &Fields, serving: &Serving) -> Result<Prompt, Refusal> {
    let value =
        fields.get("prompt").ok_or_else(|| Refusal::bad("`prompt` is missing: there is nothing to complete"))?;
    let prompt = match value {
        Value::Array(one) if matches!(one.as_slice(), [Value::String(_) | Value::Array(_)]) => tokens_or_text(&one[0]),
        value => tokens_or_text(value),
    };
    let expected = "a text, a list of token ids, or a list of one of these";
    let prompt = prompt.ok_or_else(|| wrong("prompt", value, expected))?;
    match (fields.text("suffix")?.filter(|suffix| !suffix.is_empty()), prompt, serving.window.infill) {
        (None, prompt, _) => Ok(prompt),
        (Some(after), Prompt::Text(before), Some(infill)) => Ok(Prompt::Text(infill.prompt(&before, after))),
        (Some(_), _, None) => {
            let message = format!("`suffix` is not supported: {} has no tokens for filling in", serving.info.model);
            Err(Refusal::bad(message))
        }
        (Some(_), _, Some(_)) => Err(Refusal::bad("`suffix` needs a `prompt` that is a text")),
    }
}

fn tokens_or_text(value: &Value) -> Option<Prompt> {
    match value {
        Value::String(text) => Some(Prompt::Text(text.clone())),
        Value::Array(ids) => {
            let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
            ids.iter().map(id).collect::<Option<_>>().map(Prompt::Ids)
        }
        _ => None,
    }
}

/// The conversation that is gone on with, as the model is shown it.
fn conversation(fields: &Fields, serving: &Serving) -> Result<Prompt, Refusal> {
    let Some(chat) = &serving.window.chat else {
        let message = format!(
            "{} is not asked in conversations (no chat template, or --chat no): use /v1/completions",
            serving.info.model
        );
        return Err(Refusal::bad(message));
    };
    let messages = match fields.get("messages") {
        Some(Value::Array(messages)) if !messages.is_empty() => messages,
        Some(value) => return Err(wrong("messages", value, "a list of messages")),
        None => return Err(Refusal::bad("`messages` is missing: there is nothing to answer")),
    };
    let turn = |message: &Value| {
        let role = match message["role"].as_str() {
            Some("system" | "developer") => Role::System,
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => return Err(wrong("role", &message["role"], "system, user or assistant")),
        };
        let part = |part: &Value| (part["type"] == "text").then(|| part["text"].as_str().map(str::to_owned)).flatten();
        let text = match &message["content"] {
            Value::String(text) => Some(text.clone()),
            Value::Array(parts) => parts.iter().map(part).collect(),
            _ => None,
        };
        let text =
            text.ok_or_else(|| wrong("content", &message["content"], "a text, or a list of parts that are texts"))?;
        Ok((role, text))
    };
    let turns = messages.iter().map(turn).collect::<Result<Vec<_>, _>>()?;
    chat.conversation(&turns).map(Prompt::Written).map_err(|error| Refusal::bad(error.to_string()))
}

/// A seed for a request that has none.
fn random() -> u64 {
    let mut bytes = [0; 8];
    // Without randomness every such request is the same.
    let _ = getrandom::fill(&mut bytes);
    u64::from_le_bytes(bytes)
}
