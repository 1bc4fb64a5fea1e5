//! Reads requests for completions and conversations from JSON. Unknown fields are ignored, as `OpenAI` does.
//! Known fields that would change the output and are not supported are refused.

use serde_json::{Map, Value, json};

use super::Serving;
use super::answer::Refusal;
use super::native::Native;
use crate::engine::{GenerateOptions, MAX_CANDIDATES};
use crate::model::{PromptText, Role};
use crate::options::{self, SAMPLING, Settings};
use crate::sampling::Sampling;
use crate::source::{Prompt, Request};

/// The forms of requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Continues a text.
    Completion,
    /// Answers a conversation.
    Chat,
    /// Continues a text, as Mistral does: a completion whose answer is a message.
    Fim,
    /// Continues a text in llama.cpp's own form.
    Native,
}

impl Form {
    /// True if a candidate is sent as a message.
    pub fn has_messages(self) -> bool {
        matches!(self, Self::Chat | Self::Fim)
    }
}

/// A request for completions or an answer in a conversation.
#[allow(clippy::struct_excessive_bools)] // each is a field of its own
pub struct CompletionRequest {
    pub form: Form,
    /// One request for each prompt, otherwise equal.
    pub requests: Vec<Request>,
    /// Number of candidates sent for each prompt, the best ones.
    pub sent: usize,
    /// True to send the answer as a stream.
    pub stream: bool,
    /// True to send a count of tokens at the end of the stream.
    pub counted: bool,
    /// True to send log-probabilities.
    pub logprobs: bool,
    /// True to send the ids of tokens.
    pub ids: bool,
    /// Text before each answer, by prompt.
    pub echo: Vec<String>,
    /// What only [`Form::Native`] has.
    pub native: Native,
}

/// The JSON object of a request.
pub struct Fields(Map<String, Value>);

/// Fields of a request for options besides sampling, and the names of the options.
const OPTIONS: &[(&str, &str)] = &[
    ("n", "n"),
    ("max_tokens", TOKENS_OPTION),
    ("max_completion_tokens", TOKENS_OPTION),
    (N_PREDICT, TOKENS_OPTION),
    ("stop", "stop"),
];
const TOKENS_OPTION: &str = "max-tokens";
/// As llama.cpp calls it; 0 reads the prompt for later requests.
pub const N_PREDICT: &str = "n_predict";

/// Default number of tokens of a completion, as for `OpenAI`.
const TOKENS: usize = 16;
/// Most alternatives to a token, as for `OpenAI`.
const MOST_ALTERNATIVES: u64 = 20;
/// Most prompts of a request.
const MOST_PROMPTS: usize = 64;
/// Most stop strings; clients for code send all tokens of all models.
const MOST_STOPS: usize = 64;

impl Fields {
    /// Reads the body of a request.
    pub fn read(body: &[u8]) -> Result<Self, Refusal> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            Ok(_) => Err(Refusal::bad("the request is JSON, but no object: expected is {\"model\": …, …}")),
            Err(error) => Err(Refusal::bad(format!("the request is not JSON: {error}"))),
        }
    }

    /// A request with these fields.
    pub fn of(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    /// True if a field has one of the numbers by which clients say that they set nothing.
    fn is_unset(&self, name: &str) -> bool {
        let unset: &[i64] = match name {
            "max_tokens" | "max_completion_tokens" | "seed" => &[-1],
            N_PREDICT => &[-2, -1, 0],
            "top_k" => &[-1, 0],
            _ => &[],
        };
        self.get(name).and_then(Value::as_i64).is_some_and(|number| unset.contains(&number))
    }

    /// Value of a field, if present.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A boolean field; false by default.
    pub fn flag(&self, name: &str) -> Result<bool, Refusal> {
        self.get(name).map_or(Ok(false), |value| value.as_bool().ok_or_else(|| wrong(name, value, "true or false")))
    }

    /// A text field.
    pub fn text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        self.get(name).map(|value| value.as_str().ok_or_else(|| wrong(name, value, "a text"))).transpose()
    }

    /// Applies a field to an option.
    pub fn set(&self, name: &str, option: &str, settings: &mut Settings) -> Result<(), Refusal> {
        let Some(value) = self.get(name) else { return Ok(()) };
        let option = options::named(option);
        let mut one = |value: &Value| {
            let text = match value {
                // Numbers and booleans must be such in JSON. A text in a list may look like one.
                Value::String(text) if option.is_list() || !option.is_switch() && text.parse::<f64>().is_err() => {
                    text.clone()
                }
                Value::Number(_) if !option.is_list() => value.to_string(),
                Value::Bool(_) if option.is_switch() => value.to_string(),
                _ => return Err(wrong(name, value, &option.expected())),
            };
            option.set(settings, &text).map_err(|expected| wrong(name, value, &expected))
        };
        match value {
            Value::Array(several) if option.is_list() && several.len() <= MOST_STOPS => {
                several.iter().try_for_each(one)
            }
            Value::Array(_) if option.is_list() => {
                Err(Refusal::bad(format!("`{name}` has more than {MOST_STOPS} texts, the most there can be")))
            }
            value => one(value),
        }
    }
}

/// Refusal of a field with an invalid value.
pub fn wrong(name: &str, found: &Value, expected: &str) -> Refusal {
    let mut shown = crate::untrusted::clean_line(&found.to_string(), 60);
    if found.is_array() {
        let is_empty = found.as_array().is_some_and(Vec::is_empty);
        (if is_empty { "an empty list" } else { "a list" }).clone_into(&mut shown);
    } else if found.is_object() {
        "an object".clone_into(&mut shown);
    }
    Refusal::bad(format!("`{name}` is {shown}, expected {expected}"))
}

/// Reads a request.
pub fn read(form: Form, fields: &Fields, serving: &Serving) -> Result<CompletionRequest, Refusal> {
    if let Some(model) = fields.text("model")?
        && !model.is_empty()
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
        max_tokens: if form == Form::Completion { TOKENS } else { usize::MAX },
        seed: random(),
        stop: crate::engine::StopRules { ignore_eos: fields.flag("ignore_eos")?, ..Default::default() },
        ..settings.generate
    };
    for (name, option) in OPTIONS.iter().filter(|(name, _)| !fields.is_unset(name)) {
        fields.set(name, option, &mut settings)?;
    }
    let is_silent = fields.get(N_PREDICT) == Some(&json!(0));
    if is_silent {
        settings.generate.max_tokens = 1;
    } else if OPTIONS.iter().any(|(name, option)| *option == TOKENS_OPTION && fields.is_unset(name)) {
        settings.generate.max_tokens = usize::MAX;
    }
    for option in options::of(SAMPLING).filter(|option| !fields.is_unset(&option.setting())) {
        fields.set(&option.setting(), option.name, &mut settings)?;
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
    let alternatives = alternatives(form, fields)?;
    let logprobs = alternatives.is_some();
    options.alternatives = alternatives.unwrap_or(0);
    let prompts = match form {
        Form::Completion | Form::Fim | Form::Native => prompts(fields, serving)?,
        Form::Chat => vec![conversation(fields, serving)?],
    };
    let mut echo = vec![String::new(); prompts.len()];
    if form == Form::Completion && fields.flag("echo")? {
        options.score_prompt = logprobs;
        let text = |prompt: &Prompt| match prompt {
            Prompt::Text(text) | Prompt::Written(text) => text.to_string(),
            Prompt::Ids(ids) => serving.window.text(ids),
        };
        echo = prompts.iter().map(text).collect();
    }
    let counted = fields.get("stream_options").is_some_and(|options| options["include_usage"] == json!(true));
    let ids = fields.flag("return_token_ids")?;
    let request = |prompt| Request { prompt, reference: None, options: options.clone() };
    let requests = prompts.into_iter().map(request).collect();
    let native = Native::new(is_silent);
    Ok(CompletionRequest { form, requests, sent, stream, counted, logprobs, ids, echo, native })
}

/// Number of alternatives to report for each token. `None` if not even its own log-probability is requested.
fn alternatives(form: Form, fields: &Fields) -> Result<Option<usize>, Refusal> {
    let number = |value: &Value| value.as_u64().filter(|&n| n <= MOST_ALTERNATIVES).map(|n| n as usize);
    let told = match fields.get("logprobs") {
        None | Some(Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(0),
        Some(value) if form == Form::Completion && number(value).is_some() => number(value),
        Some(value) if form == Form::Completion => {
            return Err(wrong("logprobs", value, &format!("true, false or a number up to {MOST_ALTERNATIVES}")));
        }
        Some(value) => return Err(wrong("logprobs", value, "true or false")),
    };
    let is_none = |value: &Value| told.is_none() && value.as_u64() == Some(0);
    match (fields.get("top_logprobs").filter(|value| form.has_messages() && !is_none(value)), told) {
        (None, told) => Ok(told),
        (Some(value), _) if number(value).is_none() => {
            Err(wrong("top_logprobs", value, &format!("a number up to {MOST_ALTERNATIVES}")))
        }
        (Some(_), None) => Err(Refusal::bad("`top_logprobs` needs `logprobs`: true")),
        (Some(value), Some(_)) => Ok(number(value)),
    }
}

/// Fields that are not supported and would change the output, and the values with which they do not.
fn changing() -> Vec<(&'static str, Vec<Value>)> {
    let zero = || vec![json!(0), json!(0.0)];
    let one = || vec![json!(1), json!(1.0)];
    let nothing = || vec![json!([]), json!({}), json!("")];
    let mut all: Vec<(&str, Vec<Value>)> = ["presence_penalty", "frequency_penalty", "mirostat", "dry_multiplier"]
        .into_iter()
        .chain(["xtc_probability", "n_probs", "min_tokens", "length_penalty"])
        .map(|name| (name, zero()))
        .collect();
    all.extend(["repeat_penalty", "typical_p", "typ_p"].map(|name| (name, one())));
    all.extend(
        ["logit_bias", "tools", "functions", "grammar", "json_schema", "lora", "image_data"]
            .map(|name| (name, nothing())),
    );
    all.extend(["guided_json", "guided_regex", "guided_choice", "guided_grammar"].map(|name| (name, Vec::new())));
    all.extend(["audio", "web_search_options"].map(|name| (name, nothing())));
    all.push(("modalities", vec![json!(["text"])]));
    all.push(("response_format", vec![json!({ "type": "text" })]));
    all.push(("chat_template_kwargs", vec![json!({}), json!({ "enable_thinking": false })]));
    all
}

/// Refuses unsupported fields that would change the output.
pub fn supported(fields: &Fields) -> Result<(), Refusal> {
    // Tools that are not to be called change nothing.
    let is_called = fields.get("tool_choice").is_none_or(|choice| choice != "none");
    let differs = |(name, none): &(&str, Vec<Value>)| {
        (*name != "tools" || is_called) && fields.get(name).is_some_and(|value| !none.contains(value))
    };
    match changing().into_iter().find(differs) {
        Some((name, _)) => Err(Refusal::bad(format!("`{name}` is not supported here: leave it out"))),
        None => Ok(()),
    }
}

/// The texts to complete: one, or several.
fn prompts(fields: &Fields, serving: &Serving) -> Result<Vec<Prompt>, Refusal> {
    let value =
        fields.get("prompt").ok_or_else(|| Refusal::bad("`prompt` is missing: there is nothing to complete"))?;
    let several = match value {
        Value::Array(list) if list.iter().any(|one| one.is_string() || one.is_array()) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    if several.len() > MOST_PROMPTS {
        let message = format!("`prompt` is a list of {}, expected at most {MOST_PROMPTS} prompts", several.len());
        return Err(Refusal::bad(message));
    }
    let expected = "a text, a list of token ids, or a list of these";
    let read = |one| prompt(tokens_or_text(one).ok_or_else(|| wrong("prompt", value, expected))?, fields, serving);
    several.iter().map(read).collect()
}

/// A prompt with its suffix.
fn prompt(prompt: Prompt, fields: &Fields, serving: &Serving) -> Result<Prompt, Refusal> {
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
        Value::String(text) => Some(Prompt::Text(PromptText::marks(text))),
        Value::Array(ids) => {
            let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
            ids.iter().map(id).collect::<Option<_>>().map(Prompt::Ids)
        }
        _ => None,
    }
}

/// The conversation as a prompt of the model.
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
            // A turn of the model in which it called tools.
            Value::Null if role == Role::Assistant => Some(String::new()),
            _ => None,
        };
        let text =
            text.ok_or_else(|| wrong("content", &message["content"], "a text, or a list of parts that are texts"))?;
        Ok((role, text))
    };
    let turns = messages.iter().map(turn).collect::<Result<Vec<_>, _>>()?;
    let prompt = serving.window.conversation(chat, &turns);
    prompt.map(Prompt::Written).map_err(|error| Refusal::bad(error.to_string()))
}

/// A random seed for a request without one.
fn random() -> u64 {
    let mut bytes = [0; 8];
    // Without a random source every such request has the same seed.
    let _ = getrandom::fill(&mut bytes);
    u64::from_le_bytes(bytes)
}
