//! Requests to a server and its answers, as JSON.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::{GenerateOptions, MAX_CANDIDATES};
use crate::model::Infill;
use crate::sampling::Sampling;
use crate::source::Prompt;

/// Abilities of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is an ability of its own
pub struct Abilities {
    /// It is asked in conversations, not for what follows a text.
    pub chat: bool,
    /// It writes several candidates for one request.
    pub n: bool,
    /// It tells the log-probabilities of tokens.
    pub logprobs: bool,
    /// It counts tokens at the end of a stream.
    pub usage: bool,
    /// It reads what stands after the place, as `suffix`.
    pub suffix: bool,
}

impl Abilities {
    /// Where it is asked.
    pub fn path(self) -> &'static str {
        if self.chat { "/v1/chat/completions" } else { "/v1/completions" }
    }
}

/// Most texts that a server is told to stop at: what all of them take. The others end candidates here.
const STOPS: usize = 4;

/// The request for `n` candidates, the first of which is number `first`.
pub fn request(
    model: &str,
    prompt: &Prompt,
    options: &GenerateOptions,
    can: Abilities,
    (first, n): (usize, usize),
) -> Value {
    let mut body = json!({
        "model": model,
        "stream": true,
        "max_tokens": options.max_tokens,
        // Requests of other seeds never share one.
        "seed": (options.seed.wrapping_mul(MAX_CANDIDATES as u64).wrapping_add(first as u64)) & 0x7fff_ffff,
    });
    match (prompt, can.chat) {
        (Prompt::Text(text) | Prompt::Written(text), true) => {
            body["messages"] = json!([{ "role": "user", "content": text }]);
        }
        (Prompt::Text(text) | Prompt::Written(text), false) => match Infill::apart(text).filter(|_| can.suffix) {
            Some((before, after)) => (body["prompt"], body["suffix"]) = (json!(before), json!(after)),
            None => body["prompt"] = json!(text),
        },
        (Prompt::Ids(ids), _) => body["prompt"] = json!(ids),
    }
    let mut set = |name: &str, value: Option<Value>| value.into_iter().for_each(|value| body[name] = value);
    set("n", (n > 1).then_some(json!(n)));
    set("logprobs", can.logprobs.then_some(if can.chat { json!(true) } else { json!(1) }));
    set("stream_options", can.usage.then_some(json!({ "include_usage": true })));
    for (name, value) in numbers(&options.sampling) {
        // Two servers, two names.
        if name == "repetition_penalty" {
            set("repeat_penalty", value.clone());
        }
        set(&name, value);
    }
    // Of an answer only a part is the candidate: what ends that does not end the answer.
    let stops: Vec<&String> = options.stop.strings.iter().take(STOPS).collect();
    set(
        "stop",
        (!stops.is_empty() && (options.stop.reading.is_none() || options.stop.begins.is_some())).then(|| json!(stops)),
    );
    set("ignore_eos", options.stop.ignore_eos.then_some(json!(true)));
    body
}

/// Settings by their names, each as the shortest number that reads as it, which is how serde writes an f32 as
/// text.
fn numbers(sampling: &Sampling) -> BTreeMap<String, Option<Value>> {
    let text = serde_json::to_string(sampling).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// A piece of an answer, or all of it.
#[derive(Debug, Default, Deserialize)]
pub struct Chunk {
    #[serde(default)]
    pub choices: Vec<Choice>,
    pub usage: Option<Usage>,
    pub error: Option<Value>,
}

/// Part of an answer about one candidate.
#[derive(Debug, Deserialize)]
pub struct Choice {
    /// Which of the request's.
    #[serde(default)]
    pub index: usize,
    text: Option<String>,
    #[serde(alias = "message")]
    delta: Option<Message>,
    logprobs: Option<Logprobs>,
    /// Why it ended, once it has.
    pub finish_reason: Option<String>,
}

/// Tokens of a whole request.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Usage {
    #[serde(default)]
    pub prompt_tokens: usize,
    #[serde(default)]
    pub completion_tokens: usize,
}

#[derive(Debug, Deserialize)]
struct Message {
    content: Option<String>,
    /// Thoughts, by those servers that keep them apart; two names.
    #[serde(alias = "reasoning")]
    reasoning_content: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Logprobs {
    token_logprobs: Option<Vec<Option<f32>>>,
    content: Option<Vec<Token>>,
}

#[derive(Debug, Deserialize)]
struct Token {
    logprob: f32,
}

impl Choice {
    /// Text that was written.
    pub fn text(&self) -> &str {
        let said = self.delta.as_ref().and_then(|delta| delta.content.as_deref());
        self.text.as_deref().or(said).unwrap_or_default()
    }

    /// Thoughts were written, apart from the text.
    pub fn has_thoughts(&self) -> bool {
        let thoughts = self.delta.as_ref().and_then(|delta| delta.reasoning_content.as_deref());
        thoughts.is_some_and(|thoughts| !thoughts.is_empty())
    }

    /// The log-probabilities of what was written, if they are told.
    pub fn logprobs(&self) -> Option<Vec<f32>> {
        let told = self.logprobs.as_ref()?;
        let listed = || Some(told.content.as_ref()?.iter().map(|token| token.logprob).collect());
        let plain = told.token_logprobs.as_ref().map(|list| list.iter().copied().flatten().collect());
        plain.or_else(listed).map(|list: Vec<f32>| list.into_iter().filter(|p| p.is_finite()).collect())
    }
}

/// A model that a server has.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub id: String,
    /// Most positions of a candidate, 0 if that is not told.
    pub context: usize,
    /// Weights, 0 if that is not told.
    pub weights: usize,
}

/// The models in an answer to `/v1/models`.
pub fn models(json: &Value) -> Vec<Listed> {
    let number = |value: &Value| value.as_f64().map_or(0, |x| x as usize);
    let of = |model: &Value| {
        let (id, meta) = (model["id"].as_str()?.to_owned(), &model["meta"]);
        // vLLM; llama-server, as it runs and as it was trained.
        let contexts = [&model["max_model_len"], &meta["n_ctx"], &meta["n_ctx_train"]].map(number);
        let context = contexts.into_iter().find(|&n| n > 0).unwrap_or(0);
        Some(Listed { id, context, weights: number(&meta["n_params"]) })
    };
    json["data"].as_array().into_iter().flatten().filter_map(of).collect()
}

/// The weights that a name like `qwen2.5-coder:7b` tells.
pub fn weights_of(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    let words = name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
    let (unit, text) = words
        .filter_map(|word| {
            let units = [('b', 1e9), ('m', 1e6)];
            units.into_iter().find_map(|(letter, unit)| Some((unit, word.strip_suffix(letter)?.to_owned())))
        })
        .find(|(_, text)| text.parse::<f64>().is_ok())?;
    text.parse::<f64>().ok().map(|number| (number * unit) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Abilities = Abilities { chat: false, n: true, logprobs: true, usage: true, suffix: false };

    #[test]
    fn only_what_is_set_and_can_be_done_is_asked_for() {
        let prompt = Prompt::Text("def f():\n".to_owned());
        let mut options = GenerateOptions { seed: 3, max_tokens: 9, ..GenerateOptions::default() };
        options.sampling = Sampling { temperature: 0.7, top_p: Some(0.9), ..Sampling::GREEDY };
        let all = request("m", &prompt, &options, ALL, (0, 8));
        assert_eq!(
            all,
            json!({ "model": "m", "prompt": "def f():\n", "n": 8, "stream": true, "max_tokens": 9, "temperature": 0.7,
                    "seed": 192, "logprobs": 1, "top_p": 0.9, "stream_options": { "include_usage": true } })
        );
        options.stop.strings = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let bare = Abilities { chat: true, n: false, logprobs: false, usage: false, suffix: false };
        let one = request("m", &prompt, &options, bare, (5, 1));
        assert_eq!(
            one,
            json!({ "model": "m", "messages": [{ "role": "user", "content": "def f():\n" }], "stream": true,
                    "max_tokens": 9, "temperature": 0.7, "seed": 197, "top_p": 0.9, "stop": ["a", "b", "c", "d"] })
        );
    }

    #[test]
    fn both_parts_of_a_text_are_sent_to_who_fills_in() {
        let text = Prompt::Text(Infill::APART.prompt("def f():\n", "\nx = 1\n"));
        let fills_in = Abilities { suffix: true, ..ALL };
        let body = request("m", &text, &GenerateOptions::default(), fills_in, (0, 1));
        assert_eq!((&body["prompt"], &body["suffix"]), (&json!("def f():\n"), &json!("\nx = 1\n")));
        let body = request("m", &Prompt::Text("def f():\n".to_owned()), &GenerateOptions::default(), fills_in, (0, 1));
        assert_eq!((&body["prompt"], body.get("suffix")), (&json!("def f():\n"), None));
    }

    #[test]
    fn answers_of_several_servers_are_read() {
        let read = |text: &str| {
            let chunk: Chunk = serde_json::from_str(text).unwrap();
            let said = |c: &Choice| (c.index, c.text().to_owned(), c.logprobs(), c.finish_reason.clone());
            chunk.choices.iter().map(said).collect::<Vec<_>>()
        };
        let (text, stop) = (|text: &str| text.to_owned(), Some("stop".to_owned()));
        let of =
            r#"{"choices":[{"index":2,"text":"a","logprobs":{"token_logprobs":[-0.5,null]},"finish_reason":null}]}"#;
        assert_eq!(read(of), [(2, text("a"), Some(vec![-0.5]), None)]);
        let of =
            r#"{"choices":[{"delta":{"role":"assistant","content":"b"},"logprobs":{"content":[{"logprob":-1}]}}]}"#;
        assert_eq!(read(of), [(0, text("b"), Some(vec![-1.0]), None)]);
        let of =
            r#"{"choices":[{"index":1,"message":{"content":null},"logprobs":null,"finish_reason":"stop"}],"usage":{}}"#;
        assert_eq!(read(of), [(1, String::new(), None, stop)]);
        assert!(read(r#"{"usage":{"prompt_tokens":3,"completion_tokens":4}}"#).is_empty());
    }

    #[test]
    fn models_are_listed_with_what_is_known_of_them() {
        let listed = |json: Value| models(&json).into_iter().map(|m| (m.id, m.context, m.weights)).collect::<Vec<_>>();
        let vllm = json!({ "data": [{ "id": "a", "max_model_len": 4096 }] });
        assert_eq!(listed(vllm), [("a".to_owned(), 4096, 0)]);
        let llama = json!({ "data": [{ "id": "b", "meta": { "n_ctx_train": 32768, "n_params": 268_098_176 } }, {}] });
        assert_eq!(listed(llama), [("b".to_owned(), 32768, 268_098_176)]);
        assert!(listed(json!({ "data": 3 })).is_empty() && listed(json!([])).is_empty());
        let names = ["Qwen/Qwen2.5-Coder-1.5B-Instruct", "qwen3:32b", "gemma-3-270m.gguf", "gpt-4o", "b"];
        let weights = [Some(1_500_000_000), Some(32_000_000_000), None, None, None];
        assert_eq!(names.map(weights_of), weights);
        assert_eq!(weights_of("gemma-3-270m"), Some(270_000_000));
    }
}
