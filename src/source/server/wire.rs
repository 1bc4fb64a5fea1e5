//! Requests to a server and its list of models, as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::number;
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
        if self.chat { "/chat/completions" } else { "/completions" }
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

/// A model that a server has.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub id: String,
    /// Most positions of a candidate, 0 if that is not told.
    pub context: usize,
    /// Weights, 0 if that is not told.
    pub weights: usize,
}

/// Fields with the most positions of a candidate: as the server runs it before as it was trained.
const CONTEXTS: &[&str] = &[
    "/max_model_len", "/meta/n_ctx", "/meta/n_ctx_train", "/context_length", "/context_window", "/max_context_length",
    "/top_provider/context_length",
];

/// The models in a list of them: under `data`, under `models`, or the list alone.
pub fn models(json: &Value) -> Vec<Listed> {
    let of = |model: &Value| {
        let id = ["id", "name", "model"].iter().find_map(|name| model[*name].as_str()).or(model.as_str())?.to_owned();
        let at = |place: &str| model.pointer(place).and_then(number).filter(|&n| n > 0);
        let context = CONTEXTS.iter().find_map(|place| at(place)).unwrap_or(0);
        Some(Listed { id, context, weights: at("/meta/n_params").unwrap_or(0) })
    };
    let lists = [&json["data"], &json["models"], json];
    lists.iter().find_map(|list| list.as_array()).into_iter().flatten().filter_map(of).collect()
}

impl Listed {
    /// It may be what `name` means: the same, but for a tag or the folder of all names.
    pub fn may_be(&self, name: &str) -> bool {
        let bare = |name: &str| {
            let name = name.strip_prefix("models/").unwrap_or(name);
            name.strip_suffix(":latest").unwrap_or(name).to_ascii_lowercase()
        };
        bare(&self.id) == bare(name)
    }
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
    use crate::model::PromptText;

    const ALL: Abilities = Abilities { chat: false, n: true, logprobs: true, usage: true, suffix: false };

    #[test]
    fn only_what_is_set_and_can_be_done_is_asked_for() {
        let prompt = Prompt::Text(PromptText::marks("def f():\n"));
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
        let body =
            request("m", &Prompt::Text(PromptText::marks("def f():\n")), &GenerateOptions::default(), fills_in, (0, 1));
        assert_eq!((&body["prompt"], body.get("suffix")), (&json!("def f():\n"), None));
    }

    #[test]
    fn models_are_listed_with_what_is_known_of_them() {
        let listed = |json: Value| models(&json).into_iter().map(|m| (m.id, m.context, m.weights)).collect::<Vec<_>>();
        let vllm = json!({ "data": [{ "id": "a", "max_model_len": 4096 }] });
        assert_eq!(listed(vllm), [("a".to_owned(), 4096, 0)]);
        let llama = json!({ "data": [{ "id": "b", "meta": { "n_ctx_train": 32768, "n_params": 268_098_176 } }, {}] });
        assert_eq!(listed(llama), [("b".to_owned(), 32768, 268_098_176)]);
        let odd = json!([{ "name": "c", "context_length": "8192" }, "d", { "id": null }, 3, null]);
        assert_eq!(listed(odd.clone()), [("c".to_owned(), 8192, 0), ("d".to_owned(), 0, 0)]);
        assert_eq!(listed(json!({ "data": null, "models": odd })).len(), 2);
        assert!(listed(json!({ "data": 3 })).is_empty() && listed(json!([])).is_empty());
        let is = |id: &str, name: &str| Listed { id: id.to_owned(), context: 0, weights: 0 }.may_be(name);
        assert!(is("a:latest", "a") && is("a", "A:latest") && is("models/a", "a") && !is("a:7b", "a"));
        let names = ["Qwen/Qwen2.5-Coder-1.5B-Instruct", "qwen3:32b", "gemma-3-270m.gguf", "gpt-4o", "b"];
        let weights = [Some(1_500_000_000), Some(32_000_000_000), None, None, None];
        assert_eq!(names.map(weights_of), weights);
        assert_eq!(weights_of("gemma-3-270m"), Some(270_000_000));
    }
}
