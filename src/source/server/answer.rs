//! Pieces of an answer, read as far as they can be: a field of an unexpected type counts as absent.

use serde_json::Value;

/// A piece of an answer, or all of it.
#[derive(Debug, Default)]
pub struct Chunk {
    pub choices: Vec<Choice>,
    pub usage: Option<Usage>,
    /// The server says that something went wrong, in this object.
    pub error: Option<Value>,
    /// It is all of an answer, and not a piece of a stream.
    pub whole: bool,
}

/// Part of an answer about one candidate.
#[derive(Debug, Default)]
pub struct Choice {
    /// Which of the request's.
    pub index: usize,
    /// Text that was written.
    pub text: String,
    /// Thoughts were written, apart from the text.
    pub has_thoughts: bool,
    /// Log-probabilities of what was written, if they are told.
    pub logprobs: Option<Vec<f32>>,
    /// Why it ended, once it has.
    pub ended: Option<Ended>,
}

/// Why a server ended a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Stop,
    Length,
    /// It was not written to its end; the server's word for it.
    Broken(String),
}

/// Tokens of a whole request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub prompt_tokens: usize,
    pub completion_tokens: usize,
}

/// Reasons for an end that is the limit's.
const LENGTHS: &[&str] = &["length", "max_tokens", "max_output_tokens", "model_length"];
/// Reasons for an end that is none.
const BROKEN: &[&str] = &["error", "network_error", "insufficient_system_resource", "content_filter", "abort"];
/// Fields with thoughts.
const THOUGHTS: &[&str] = &["reasoning_content", "reasoning", "thinking", "reasoning_details"];
/// Fields in which something without choices says what went wrong.
const SAID: &[&str] = &["error", "message", "detail", "msg", "error_message", "errors", "description", "title"];

impl Chunk {
    /// What JSON from a server says: a piece, or several in a list.
    pub fn read(json: &Value) -> Vec<Self> {
        match json {
            Value::Array(list) => list.iter().flat_map(Self::read).collect(),
            Value::Object(_) => vec![Self::of(json)],
            _ => Vec::new(),
        }
    }

    fn of(json: &Value) -> Self {
        let list = json["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        let choices = list.iter().enumerate().filter(|(_, choice)| choice.is_object());
        let usage = usage(&json["usage"]).or_else(|| list.iter().find_map(|choice| usage(&choice["usage"])));
        let is_error = is_told(&json["error"])
            || json.get("choices").is_none() && usage.is_none() && SAID.iter().any(|name| is_told(&json[*name]));
        Self {
            choices: choices.map(|(at, choice)| Choice::of(at, choice)).collect(),
            usage,
            error: is_error.then(|| json.clone()),
            whole: false,
        }
    }
}

impl Choice {
    fn of(at: usize, json: &Value) -> Self {
        // Some servers send all that was written so far (`message`) beside what is new (`delta`).
        let said = [&json["delta"], &json["message"]].into_iter().find(|said| said.is_object()).unwrap_or(&Value::Null);
        let (mut text, mut has_thoughts) = (String::new(), false);
        let place = if json["text"].is_null() { &said["content"] } else { &json["text"] };
        put(place, &mut text, &mut has_thoughts);
        has_thoughts |= THOUGHTS.iter().any(|name| is_told(&said[*name]));
        let index = number(&json["index"]).unwrap_or(at);
        Self { index, text, has_thoughts, logprobs: logprobs(&json["logprobs"]), ended: ended(&json["finish_reason"]) }
    }
}

/// Adds a text, or the texts of a list of parts.
fn put(json: &Value, text: &mut String, has_thoughts: &mut bool) {
    match json {
        Value::String(more) => text.push_str(more),
        Value::Array(parts) => parts.iter().for_each(|part| put(part, text, has_thoughts)),
        Value::Object(part) => match part.get("type").and_then(Value::as_str) {
            Some("text" | "output_text") | None => put(&json["text"], text, has_thoughts),
            Some("thinking" | "reasoning") => *has_thoughts = true,
            Some(_) => {}
        },
        _ => {}
    }
}

fn ended(json: &Value) -> Option<Ended> {
    let word = json.as_str().filter(|word| !word.is_empty() && *word != "null")?;
    let is = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(word));
    Some(match () {
        () if is(LENGTHS) => Ended::Length,
        () if is(BROKEN) => Ended::Broken(word.to_owned()),
        () => Ended::Stop,
    })
}

fn logprobs(json: &Value) -> Option<Vec<f32>> {
    let finite =
        |list: Vec<Option<f64>>| list.into_iter().flatten().map(|p| p as f32).filter(|p| p.is_finite()).collect();
    let plain = || Some(json["token_logprobs"].as_array()?.iter().map(Value::as_f64).collect());
    let listed = || Some(json["content"].as_array()?.iter().map(|token| token["logprob"].as_f64()).collect());
    plain().or_else(listed).map(finite)
}

fn usage(json: &Value) -> Option<Usage> {
    let count = |name: &str| number(&json[name]);
    let (prompt, written) = (count("prompt_tokens"), count("completion_tokens"));
    (prompt.is_some() || written.is_some())
        .then(|| Usage { prompt_tokens: prompt.unwrap_or(0), completion_tokens: written.unwrap_or(0) })
}

/// A count, also as a fraction or a text.
pub fn number(json: &Value) -> Option<usize> {
    let number = json.as_f64().or_else(|| json.as_str()?.trim().parse().ok())?;
    (number.is_finite() && number >= 0.0).then_some(number as usize)
}

/// There is something in a field.
fn is_told(json: &Value) -> bool {
    match json {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// Words of an error, wherever they stand in it.
pub fn message(json: &Value) -> Option<String> {
    match json {
        Value::String(text) if text.trim().is_empty() => None,
        // The words of a server behind this one.
        Value::String(text) if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).ok().and_then(|json| message(&json)).or_else(|| Some(text.clone()))
        }
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let said: Vec<String> = list.iter().filter_map(message).collect();
            (!said.is_empty()).then(|| said.join("; "))
        }
        Value::Object(map) => {
            let said = SAID.iter().find_map(|name| message(map.get(*name)?))?;
            let place = map.get("loc").and_then(|loc| place(loc.as_array()?));
            let cause = map.get("metadata").and_then(|cause| message(&cause["raw"]));
            let said = place.map_or(said.clone(), |place| format!("{place}: {said}"));
            Some(cause.map_or(said.clone(), |cause| format!("{said}: {cause}")))
        }
        _ => None,
    }
}

/// The field that a place in a request begins with.
pub fn place(loc: &[Value]) -> Option<String> {
    let mut names = loc.iter().filter_map(Value::as_str);
    names.find(|name| !["body", "query"].contains(name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Vec<Chunk> {
        Chunk::read(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn answers_of_several_servers_are_read() {
        let one = |text: &str| {
            let choice = read(text).remove(0).choices.remove(0);
            (choice.index, choice.text, choice.logprobs, choice.ended)
        };
        let text = |text: &str| text.to_owned();
        let of =
            r#"{"choices":[{"index":2,"text":"a","logprobs":{"token_logprobs":[-0.5,null]},"finish_reason":null}]}"#;
        assert_eq!(one(of), (2, text("a"), Some(vec![-0.5]), None));
        let of =
            r#"{"choices":[{"delta":{"role":"assistant","content":"b"},"logprobs":{"content":[{"logprob":-1}]}}]}"#;
        assert_eq!(one(of), (0, text("b"), Some(vec![-1.0]), None));
        let of =
            r#"{"choices":[{"index":1,"message":{"content":null},"logprobs":null,"finish_reason":"stop"}],"usage":{}}"#;
        assert_eq!(one(of), (1, text(""), None, Some(Ended::Stop)));
        assert!(read(r#"{"usage":{"prompt_tokens":3,"completion_tokens":4}}"#)[0].choices.is_empty());
        assert!(["null", "3", "\"x\"", "[]"].iter().all(|text| read(text).is_empty()));
    }

    #[test]
    fn only_what_says_so_is_an_error() {
        for (text, is_error) in [
            (r#"{"error":"x"}"#, true),
            (r#"{"error":{"code":1}}"#, true),
            (r#"{"error":null,"choices":[]}"#, false),
            (r#"{"error":{},"choices":[]}"#, false),
            (r#"{"object":"error","message":"x"}"#, true),
            (r#"{"detail":[{"msg":"x"}]}"#, true),
            (r#"{"type":"ping"}"#, false),
            (r#"{"message":"x","choices":[]}"#, false),
            (r#"{"message":"x","usage":{"prompt_tokens":1}}"#, false),
        ] {
            assert_eq!(read(text)[0].error.is_some(), is_error, "{text}");
        }
    }

    #[test]
    fn errors_are_told_in_their_words() {
        let cases = [
            (json!({ "error": { "message": "a", "type": "b" } }), Some("a")),
            (json!({ "error": "a" }), Some("a")),
            (json!({ "code": "b", "error": "a" }), Some("a")),
            (json!([{ "error": { "message": "a" } }]), Some("a")),
            (json!({ "detail": [{ "loc": ["body", "stop", 0], "msg": "a" }, { "msg": "b" }] }), Some("stop: a; b")),
            (json!({ "object": "error", "message": { "detail": [{ "loc": ["body"], "msg": "a" }] } }), Some("a")),
            (json!({ "error": { "message": "a", "metadata": { "raw": "{\"error\":\"b\"}" } } }), Some("a: b")),
            (json!({ "error": { "code": 3 } }), None),
            (json!(null), None),
        ];
        for (json, said) in cases {
            assert_eq!(message(&json).as_deref(), said, "{json}");
        }
    }
}
