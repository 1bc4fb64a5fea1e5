//! Retreats: what a server refuses of a request, found in its words, left out or asked for in another way.

use std::sync::Mutex;

use serde_json::{Map, Value, json};

use super::answer::place;

/// A change to requests that a refusal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retreat {
    /// The parameter is left out.
    Without(&'static str),
    /// The limit of tokens has its newer name.
    NewLimit,
    /// The lowest temperature stands for 0.
    Lowest,
    /// At most so many texts to stop at; the others end candidates here.
    Stops(usize),
}

/// A parameter that requests can do without.
struct Parameter {
    name: &'static str,
    /// Other names that stand for it in words of servers.
    also: &'static [&'static str],
    /// It is an everyday word: a text names it only by quotes, or as a parameter.
    is_word: bool,
    /// It changes what is drawn, which the user has to know.
    is_setting: bool,
    /// A value out of bounds is the user's to change: only a parameter that is not taken at all is left out.
    has_bounds: bool,
}

const fn parameter(name: &'static str, also: &'static [&'static str]) -> Parameter {
    Parameter { name, also, is_word: false, is_setting: false, has_bounds: false }
}

const fn word(name: &'static str) -> Parameter {
    Parameter { is_word: true, ..parameter(name, &[]) }
}

const fn setting(name: &'static str) -> Parameter {
    Parameter { is_setting: true, has_bounds: true, ..parameter(name, &[]) }
}

/// The limit of tokens, by both of its names.
const LIMIT: &str = "max_tokens";
const NEW_LIMIT: &str = "max_completion_tokens";
/// Stands for a temperature of 0 where that is refused.
const LOWEST: f64 = 0.01;

/// All of them; those that matter most come first.
const PARAMETERS: &[Parameter] = &[
    Parameter { has_bounds: true, ..parameter(LIMIT, &[NEW_LIMIT]) },
    setting("temperature"),
    word("n"),
    Parameter { is_setting: true, ..parameter("seed", &[]) },
    word("stop"),
    word("stream"),
    parameter("stream_options", &["include_usage"]),
    parameter("logprobs", &["top_logprobs"]),
    setting("top_p"),
    setting("top_k"),
    setting("min_p"),
    setting("repetition_penalty"),
    parameter("repeat_penalty", &[]),
    parameter("ignore_eos", &[]),
];

/// Values that change nothing: such a parameter can always be left out.
const NEUTRAL: &[(&str, f64)] = &[("top_p", 1.0), ("min_p", 0.0), ("repetition_penalty", 1.0)];

/// Words about a parameter that is not taken at all.
const NOT_TAKEN: &[&str] = &[
    "support", "unknown", "unrecogni", "unexpected", "extra", "not permitted", "not allowed", "is allowed",
    "only the default", "cannot find field", "cannot both", "can't both", "deprecated", "not available",
    "not implemented", "not accepted", "additional propert", "not enabled", "no longer",
];
/// Words about a value out of bounds.
const BOUNDS: &[&str] = &[
    "must be", "between", "range", "less than", "greater than", "at most", "at least", "<=", ">=", "too large",
    "too high", "too long", "too small", "too low", "exceed", "maximum", "minimum", "positive", "higher",
];
/// Words before a name, or behind it, that make it one of a parameter.
const KINDS: &[&str] =
    &["parameter", "parameters", "param", "argument", "arguments", "field", "property", "option", "supplied"];

/// Refusals of a server so far.
#[derive(Debug, Default)]
pub struct Refused(Mutex<Vec<Retreat>>);

impl Refused {
    /// Remembers these.
    pub fn learn(&self, retreats: &[Retreat]) {
        let Ok(mut all) = self.0.lock() else { return };
        for retreat in retreats {
            if !all.contains(retreat) {
                all.push(*retreat);
            }
        }
    }

    /// Changes a request accordingly.
    pub fn apply(&self, body: &mut Value) {
        let Some(body) = body.as_object_mut() else { return };
        let all = self.0.lock().map(|all| all.clone()).unwrap_or_default();
        for retreat in all {
            retreat.apply(body);
        }
    }

    /// Settings that have been left out.
    pub fn settings(&self) -> Vec<&'static str> {
        let all = self.0.lock().map(|all| all.clone()).unwrap_or_default();
        let is_out = |name| all.contains(&Retreat::Without(name));
        let mut names: Vec<&str> = PARAMETERS.iter().filter(|p| p.is_setting).map(|p| p.name).collect();
        names.retain(|&name| is_out(name) && (name != "repetition_penalty" || is_out("repeat_penalty")));
        names.sort_unstable();
        names
    }
}

impl Retreat {
    fn apply(self, body: &mut Map<String, Value>) {
        match self {
            Self::Without(name) => {
                body.remove(name);
                if name == "stream" {
                    body.remove("stream_options");
                }
            }
            Self::NewLimit => {
                if let Some(limit) = body.remove(LIMIT) {
                    body.insert(NEW_LIMIT.to_owned(), limit);
                }
            }
            Self::Lowest => {
                if body.get("temperature").and_then(Value::as_f64) == Some(0.0) {
                    body.insert("temperature".to_owned(), json!(LOWEST));
                }
            }
            Self::Stops(most) => {
                if let Some(stops) = body.get_mut("stop").and_then(Value::as_array_mut) {
                    stops.truncate(most);
                }
            }
        }
    }
}

/// Changes to the request `body` that its refusal, an answer's text, asks for. None: it cannot be helped.
pub fn retreats(body: &Value, refusal: &str) -> Vec<Retreat> {
    let json: Value = serde_json::from_str(refusal).unwrap_or_else(|_| json!(refusal));
    let mut words = Words::default();
    words.gather(&json, "message");
    let text = words.texts.join("\n");
    let in_body: Vec<&String> = words.fields.iter().filter(|name| body.get(name.as_str()).is_some()).collect();
    let is_named = |parameter: &&Parameter| {
        let mut names = std::iter::once(&parameter.name).chain(parameter.also);
        if in_body.is_empty() {
            names.any(|name| names_it(&text, name, parameter.is_word))
        } else {
            names.any(|name| in_body.iter().any(|field| field == name))
        }
    };
    let sent = |p: &&Parameter| p.name == LIMIT || body.get(p.name).is_some();
    let named = PARAMETERS.iter().filter(sent).filter(is_named);
    let text = text.to_lowercase();
    let mut found: Vec<Retreat> = named.filter_map(|parameter| parameter.retreat(body, &text)).collect();
    // One of two that do not go together.
    if text.contains("both") && found.len() > 1 {
        found.drain(..found.len() - 1);
    }
    found
}

/// The refusal asks for a higher limit of tokens.
pub fn wants_more_tokens(refusal: &str) -> bool {
    let text = refusal.to_lowercase();
    let about_limit = text.contains("max_tokens") || text.contains("max_completion_tokens");
    about_limit && ["higher", "minimum", "at least", "greater than", ">="].iter().any(|word| text.contains(word))
}

impl Parameter {
    /// The change for this parameter, which a refusal in these words, in small letters, names.
    fn retreat(&self, body: &Value, text: &str) -> Option<Retreat> {
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let value = &body[self.name];
        let is_out_of_bounds = self.has_bounds && says(BOUNDS) && !says(NOT_TAKEN);
        match self.name {
            LIMIT if value.is_null() || is_out_of_bounds || text.contains("too large") => None,
            LIMIT => Some(Retreat::NewLimit),
            "temperature" if is_out_of_bounds && value.as_f64() == Some(0.0) => Some(Retreat::Lowest),
            name if NEUTRAL.iter().any(|&(n, neutral)| n == name && value.as_f64() == Some(neutral)) => {
                Some(Retreat::Without(self.name))
            }
            _ if is_out_of_bounds => None,
            "stop" => {
                let there = value.as_array().map_or(0, Vec::len);
                let numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
                let most = numbers.filter(|&most| most > 0 && most < there).max();
                let most = most.or_else(|| (there > 1 && says(BOUNDS)).then_some(1));
                Some(most.map_or(Retreat::Without("stop"), Retreat::Stops))
            }
            name => Some(Retreat::Without(name)),
        }
    }
}

/// Parts of a refusal.
#[derive(Default)]
struct Words {
    /// Fields of the request that it points at.
    fields: Vec<String>,
    texts: Vec<String>,
}

impl Words {
    /// Takes in what stands under `name`; what a server repeats of the request is passed over.
    fn gather(&mut self, json: &Value, name: &str) {
        match (json, name) {
            (_, "input" | "ctx" | "url") => {}
            (Value::Array(loc), "loc") => self.fields.extend(place(loc)),
            (Value::Array(list), _) => list.iter().for_each(|json| self.gather(json, name)),
            (Value::Object(map), _) => map.iter().for_each(|(name, json)| self.gather(json, name)),
            (Value::String(field), "param" | "field" | "parameter") => {
                let field = field.trim_start_matches("$.").trim_start_matches("body.");
                self.fields.push(field.split(['.', '[']).next().unwrap_or_default().to_owned());
            }
            (Value::String(text), _) => {
                let inner = text.trim_start();
                match serde_json::from_str(inner) {
                    Ok(json) if inner.starts_with('{') => return self.gather(&json, name),
                    _ => {}
                }
                // A list of places as another language writes it.
                let lists = text.match_indices("loc").filter_map(|(at, _)| {
                    let (_, list) = text[at..].split_once(['(', '['])?;
                    let names = list.split([')', ']']).next()?.split(['\'', '"']).skip(1).step_by(2);
                    names.map(str::to_owned).find(|name| !["body", "query"].contains(&name.as_str()))
                });
                self.fields.extend(lists);
                self.texts.push(text.clone());
            }
            _ => {}
        }
    }
}

/// A text names a parameter, in its own spelling or in that of JavaScript.
fn names_it(text: &str, name: &str, is_word: bool) -> bool {
    let text = text.replace("$.", "");
    let other: String = name
        .split('_')
        .enumerate()
        .map(|(at, part)| if at == 0 { part.to_owned() } else { part[..1].to_uppercase() + &part[1..] })
        .collect();
    [name, &other].iter().any(|name| text.match_indices(name).any(|(at, _)| stands(&text, at, name.len(), is_word)))
}

/// The name at a place of a text is no part of a longer one, and, of an everyday word, is meant as a name.
fn stands(text: &str, at: usize, len: usize, is_word: bool) -> bool {
    let (before, after) = (&text[..at], &text[at + len..]);
    let joins = |c: char| c.is_ascii_alphanumeric() || "_-/".contains(c);
    let point = |c: char, next: Option<char>| c == '.' && next.is_some_and(joins);
    let (last, next) = (before.chars().next_back(), after.chars().next());
    if last.is_some_and(|c| joins(c) || c == '.') || next.is_some_and(|c| joins(c) || point(c, after.chars().nth(1))) {
        return false;
    }
    let quotes = ['\'', '"', '`', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}'];
    let is_quoted = last.is_some_and(|c| quotes.contains(&c)) && next.is_some_and(|c| quotes.contains(&c));
    let is_compared = after.trim_start().starts_with([':', '=', '>', '<']);
    let is_listed = before.trim_end().ends_with(':') && (after.is_empty() || after.starts_with(['.', ',', '\n']));
    let word = |text: Option<&str>| {
        text.is_some_and(|w| KINDS.contains(&w.trim_matches([':', '.', ',']).to_lowercase().as_str()))
    };
    let is_called = word(before.split_whitespace().next_back()) || word(after.split_whitespace().next());
    !is_word || is_quoted || is_compared || is_listed || is_called
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> Value {
        json!({ "model": "m", "prompt": "p", "max_tokens": 9, "temperature": 0.7, "n": 2, "seed": 1, "stop": ["a", "b", "c"],
                "stream": true, "stream_options": {}, "logprobs": 1, "top_p": 0.9, "min_p": 0.0 })
    }

    #[test]
    fn parameters_are_found_in_words() {
        let without = |name| vec![Retreat::Without(name)];
        let cases = [
            ("n > 1 is not supported", without("n")),
            ("'n' : number must be at most 1", without("n")),
            ("only n=1 is possible", without("n")),
            ("stop:最大只能有4个停止词", without("stop")),
            ("at most 2 strings for parameter stop", vec![Retreat::Stops(2)]),
            ("too many strings: `stop`; the maximum is 9", vec![Retreat::Stops(1)]),
            ("The logprobs option needs another plan", without("logprobs")),
            ("Streaming is off: `stream` is not supported", without("stream")),
            ("min_p must be above 0.01", without("min_p")),
            ("max_tokens is not supported", vec![Retreat::NewLimit]),
            ("use max_completion_tokens instead of max_tokens", vec![Retreat::NewLimit]),
            ("seed and top_p are unknown", vec![Retreat::Without("seed"), Retreat::Without("top_p")]),
            ("please stop", vec![]),
            ("the stream of n words stops", vec![]),
            ("no model seed-coder, my.seed or top_p_model", vec![]),
            ("top_p must be below 0.5", vec![]),
            ("max_tokens must be at most 4", vec![]),
            ("top_k is unknown", vec![]),
        ];
        for (text, expected) in cases {
            assert_eq!(retreats(&body(), text), expected, "{text}");
            let json = json!({ "error": { "message": text, "param": "" } }).to_string();
            assert_eq!(retreats(&body(), &json), expected, "{json}");
        }
    }

    #[test]
    fn a_field_that_is_pointed_at_counts_more_than_words() {
        let of = |param: &str| {
            let error =
                json!({ "error": { "message": "the messages are too long; lower 'n' or max_tokens", "param": param } });
            retreats(&json!({ "messages": [], "n": 2, "stop": ["a"] }), &error.to_string())
        };
        assert_eq!(of("messages"), []);
        assert_eq!((of("n"), of("$.stop[0]")), (vec![Retreat::Without("n")], vec![Retreat::Without("stop")]));
        assert_eq!(of("request"), [Retreat::Without("n")]);
    }

    #[test]
    fn what_is_refused_once_is_not_sent_again() {
        let refused = Refused::default();
        refused.learn(&[Retreat::Without("n"), Retreat::NewLimit, Retreat::Stops(2), Retreat::Without("stream")]);
        let mut asked = body();
        refused.apply(&mut asked);
        assert_eq!(
            asked,
            json!({ "model": "m", "prompt": "p", "max_completion_tokens": 9, "temperature": 0.7, "seed": 1, "stop": ["a", "b"],
                    "logprobs": 1, "top_p": 0.9, "min_p": 0.0 })
        );
        refused.learn(&[Retreat::Without("repetition_penalty"), Retreat::Without("seed")]);
        assert_eq!(refused.settings(), ["seed"], "its other name may be taken");
    }
}
