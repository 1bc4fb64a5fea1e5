//! Odd servers: what servers in use do in other ways than the protocol says, around a model that is good.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Model, ReceivedRequest, Server, send};

/// Writes the pieces of an answer, with its head.
pub type Framing = fn(&[Value], &mut TcpStream);
/// Makes a piece of an answer odd.
pub type Shape = fn(&mut Value);
/// Refuses the parameter of this name: a status and a body.
pub type Refusal = fn(&str) -> (&'static str, String);

/// A server with oddities.
#[derive(Clone)]
pub struct Odd {
    pub model: Model,
    pub framing: Framing,
    pub shape: Shape,
    /// Parameters that it refuses, and in which words.
    pub refuses: &'static [&'static str],
    pub refusal: Refusal,
    /// What its addresses begin with.
    pub base: &'static str,
}

impl Odd {
    pub fn new(model: Model) -> Self {
        Self { model, framing: FRAMINGS[0].1, shape: |_| {}, refuses: &[], refusal: REFUSALS[0].1, base: "/v1" }
    }

    pub fn start(self) -> Server {
        Server::start(move |asked, out| self.answer(asked, out))
    }

    pub fn answer(&self, asked: &ReceivedRequest, out: &mut TcpStream) {
        if let Err((status, said)) = self.model.takes(asked, self.base) {
            return send(out, status, "", &said);
        }
        if let Some(name) = self.refused(asked) {
            let (status, said) = (self.refusal)(name);
            return send(out, status, "", &said);
        }
        let mut pieces = self.model.pieces(asked);
        if asked.body["stream"] == true {
            pieces.iter_mut().for_each(self.shape);
            return (self.framing)(&pieces, out);
        }
        let mut all = whole(&pieces);
        (self.shape)(&mut all);
        send(out, "200 OK", "content-type: application/json\r\n", &all.to_string());
    }

    /// The first parameter of a request that it refuses.
    pub fn refused(&self, asked: &ReceivedRequest) -> Option<&'static str> {
        self.refuses.iter().copied().find(|name| asked.body.get(name).is_some())
    }
}

/// An entry of a list.
pub fn named<T: Copy>(list: &[(&str, T)], name: &str) -> T {
    list.iter().find(|(own, _)| *own == name).unwrap_or_else(|| panic!("nothing is called {name}")).1
}

/// Framings that lose nothing.
pub const FRAMINGS: &[(&str, Framing)] = &[
    ("events", |pieces, out| events(out, STREAM, pieces, "data: ", "\n")),
    ("lines with CRLF", |pieces, out| events(out, STREAM, pieces, "data: ", "\r\n")),
    ("no space after the colon", |pieces, out| events(out, STREAM, pieces, "data:", "\n")),
    ("a mark of byte order", |pieces, out| events(out, STREAM, pieces, "\u{feff}data: ", "\n")),
    ("comments and blank events", |pieces, out| {
        events(out, STREAM, pieces, ": OPENROUTER PROCESSING\n\ndata:\n\ndata: \n\n:\n\n\ndata: ", "\n");
    }),
    ("named events", |pieces, out| {
        events(out, STREAM, pieces, "event: ping\ndata: ping\n\nid: 7\nretry: 10\nevent: completion\ndata: ", "\n");
    }),
    ("events that are null", |pieces, out| {
        events(out, STREAM, pieces, "data: null\n\ndata: {}\n\ndata: {\"choices\":null}\n\ndata: ", "\n");
    }),
    ("several lines of data", |pieces, out| {
        head(out, STREAM);
        for piece in pieces {
            let lines = serde_json::to_string_pretty(piece).expect("JSON").replace('\n', "\ndata: ");
            let _ = write!(out, "data: {lines}\n\n");
        }
        let _ = write!(out, "data: [DONE]\n\n");
    }),
    ("events as JSON", |pieces, out| events(out, "content-type: application/json\r\n", pieces, "data: ", "\n")),
    ("events as text", |pieces, out| events(out, "content-type: text/plain\r\n", pieces, "data: ", "\n")),
    ("events of no type", |pieces, out| events(out, "", pieces, "data: ", "\n")),
    ("a byte at a time", |pieces, out| {
        head(out, STREAM);
        for byte in pieces.iter().flat_map(|piece| format!("data: {piece}\n\n").into_bytes()) {
            if out.write_all(&[byte]).and_then(|()| out.flush()).is_err() {
                return;
            }
            thread::sleep(Duration::from_micros(50));
        }
    }),
    ("no mark of the end", |pieces, out| {
        head(out, STREAM);
        for piece in pieces {
            let _ = write!(out, "data: {piece}\n\n");
        }
    }),
    ("no reason at the end", |pieces, out| {
        let mut pieces = pieces.to_vec();
        pieces.iter_mut().flat_map(choices).for_each(|choice| choice["finish_reason"] = Value::Null);
        events(out, STREAM, &pieces, "data: ", "\n");
    }),
    ("one JSON body", one_body),
    ("one JSON body as events", |pieces, out| {
        head(out, STREAM);
        let _ = write!(out, "\n{}\n", whole(pieces));
    }),
    ("one JSON body with a mark of byte order", |pieces, out| {
        send(out, "200 OK", "", &format!("\u{feff}{:#}", whole(pieces)));
    }),
    ("a JSON line for each piece", |pieces, out| {
        let lines = pieces.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        send(out, "200 OK", "content-type: application/x-ndjson\r\n", &lines);
    }),
    ("a list of pieces", |pieces, out| send(out, "200 OK", "", &json!(pieces).to_string())),
];

/// Oddities of a piece that cost no text.
pub const SHAPES: &[(&str, Shape)] = &[
    ("odd id and time", |piece| {
        (piece["id"], piece["created"], piece["object"], piece["model"]) =
            (json!(7), json!("now"), json!(null), json!([]));
    }),
    ("id and time of null", |piece| (piece["id"], piece["created"]) = (Value::Null, Value::Null)),
    ("an error of null", |piece| piece["error"] = Value::Null),
    ("no usage", |piece| piece["usage"] = Value::Null),
    ("usage as a text", |piece| piece["usage"] = json!("none")),
    ("usage as a list", |piece| piece["usage"] = json!([3])),
    ("usage of null", |piece| piece["usage"] = json!({ "prompt_tokens": null, "completion_tokens": null })),
    ("index as a text", |piece| with(piece, |choice| choice["index"] = json!(choice["index"].to_string()))),
    ("index as a fraction", |piece| with(piece, |choice| choice["index"] = json!(choice["index"].as_f64()))),
    ("log-probabilities as a text", |piece| with(piece, |choice| choice["logprobs"] = json!("off"))),
    ("log-probabilities as a list", |piece| with(piece, |choice| choice["logprobs"] = json!([]))),
    ("log-probabilities of odd parts", |piece| {
        with(piece, |choice| choice["logprobs"] = json!({ "content": "x", "token_logprobs": 3, "tokens": null }));
    }),
    ("log-probabilities as texts", |piece| {
        with(piece, |choice| {
            choice["logprobs"] = json!({ "content": [{ "logprob": "x" }, null], "token_logprobs": ["x", null] });
        });
    }),
    ("a reason without words", |piece| {
        with(piece, |choice| {
            if choice["finish_reason"].is_null() {
                choice["finish_reason"] = json!("");
            }
        });
    }),
    ("a reason of an odd type", |piece| {
        with(piece, |choice| {
            if choice["finish_reason"].is_null() {
                choice["finish_reason"] = json!(false);
            }
        });
    }),
    ("text in parts", |piece| {
        with(piece, |choice| {
            for place in ["/text", "/delta/content", "/message/content"] {
                if let Some(text) = choice.pointer_mut(place).filter(|text| text.is_string()) {
                    let thought = json!({ "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] });
                    *text = json!([thought, { "type": "text", "text": text }, { "type": "reference" }, null]);
                }
            }
        });
    }),
    ("the text so far beside what is new", |piece| {
        with(piece, |choice| {
            if choice.get("delta").is_some() {
                choice["message"] = json!({ "role": "assistant", "content": "all so far" });
            }
        });
    }),
    ("thoughts of null", |piece| {
        with(piece, |choice| {
            for part in ["delta", "message"] {
                if let Some(part) = choice.get_mut(part) {
                    (part["reasoning"], part["reasoning_content"]) = (Value::Null, json!(""));
                    (part["tool_calls"], part["refusal"]) = (Value::Null, Value::Null);
                }
            }
        });
    }),
    ("a choice of null beside the others", |piece| {
        if let Some(choices) = piece["choices"].as_array_mut() {
            choices.push(Value::Null);
        }
    }),
];

/// Words in which servers refuse a parameter.
pub const REFUSALS: &[(&str, Refusal)] = &[
    ("a field with its name", |name| {
        let said = format!("Unsupported parameter: '{name}' is not supported with this model.");
        (BAD, json!({ "error": { "message": said, "param": name, "code": "unsupported_parameter" } }).to_string())
    }),
    ("a message", |name| {
        let said = format!("Unrecognized request argument supplied: {name}");
        (BAD, json!({ "error": { "message": said, "param": null, "code": null } }).to_string())
    }),
    ("places of faults", |name| (WRONG, json!({ "detail": forbidden(name) }).to_string())),
    ("places of faults in a message", |name| {
        (WRONG, json!({ "object": "error", "message": { "detail": forbidden(name) }, "param": null }).to_string())
    }),
    ("places of faults as Python writes them", |name| {
        let said = format!(
            "[{{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'Extra inputs are not permitted', \
             'input': {{'seed': 1, 'temperature': 2, 'top_p': 3}}}}]"
        );
        (BAD, json!({ "object": "error", "message": said, "code": 400 }).to_string())
    }),
    ("a list of errors", |name| {
        let said = format!("Invalid JSON payload received. Unknown name \"{name}\": Cannot find field.");
        let details = json!([{ "@type": "x/BadRequest", "fieldViolations": [{ "description": said }] }]);
        (BAD, json!([{ "error": { "code": 400, "message": said, "details": details } }]).to_string())
    }),
    ("another spelling", |name| {
        let mut words = name.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        let name = words.fold(first, |all, word| all + &word[..1].to_uppercase() + &word[1..]);
        let said = format!("Argument not supported on this model: {name}");
        (BAD, json!({ "code": "Client specified an invalid argument", "error": said }).to_string())
    }),
    ("a plain text", |name| (BAD, format!("property '{name}' is unsupported"))),
    ("a path in the request", |name| {
        (
            BAD,
            json!({ "error": { "message": format!("'$.{name}' is invalid. Please check the reference.") } })
                .to_string(),
        )
    }),
    ("the words of another server", |name| {
        let raw = json!({ "error": { "message": format!("`{name}` is not supported") } }).to_string();
        let error = json!({ "message": "Provider returned error", "code": 400, "metadata": { "raw": raw } });
        (BAD, json!({ "error": error }).to_string())
    }),
    ("an error under the status of a success", |name| {
        ("200 OK", json!({ "error": { "message": format!("unknown field `{name}`") } }).to_string())
    }),
];

const BAD: &str = "400 Bad Request";
const WRONG: &str = "422 Unprocessable Entity";
const STREAM: &str = "content-type: text/event-stream\r\n";

/// A list of faults, with a part of the request.
fn forbidden(name: &str) -> Value {
    let input = json!({ "model": "m", "stop": ["a"], "seed": 1, "n": 2 });
    json!([{ "type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": input }])
}

fn choices(piece: &mut Value) -> impl Iterator<Item = &mut Value> {
    piece["choices"].as_array_mut().into_iter().flatten()
}

fn with(piece: &mut Value, change: impl Fn(&mut Value)) {
    choices(piece).filter(|choice| choice.is_object()).for_each(change);
}

fn head(out: &mut TcpStream, kind: &str) {
    let _ = write!(out, "HTTP/1.1 200 OK\r\n{kind}connection: close\r\n\r\n");
}

/// Pieces as events, each after `before` and with this end of a line.
fn events(out: &mut TcpStream, kind: &str, pieces: &[Value], before: &str, line: &str) {
    head(out, kind);
    let all: Vec<String> = pieces.iter().map(Value::to_string).chain(["[DONE]".to_owned()]).collect();
    let mark = before.strip_prefix('\u{feff}');
    for (number, data) in all.iter().enumerate() {
        let before = mark.filter(|_| number > 0).unwrap_or(before).replace('\n', line);
        let _ = write!(out, "{before}{data}{line}{line}");
    }
}

fn one_body(pieces: &[Value], out: &mut TcpStream) {
    send(out, "200 OK", "content-type: application/json\r\n", &whole(pieces).to_string());
}

/// All pieces as one.
fn whole(pieces: &[Value]) -> Value {
    let mut all = json!({ "object": "chat.completion", "choices": [], "usage": null });
    for piece in pieces {
        for choice in piece["choices"].as_array().into_iter().flatten().filter(|choice| choice.is_object()) {
            let index = match &choice["index"] {
                Value::String(text) => text.parse().unwrap_or(0),
                number => number.as_f64().map_or(0, |x| x as usize),
            };
            let list = all["choices"].as_array_mut().expect("a list");
            while list.len() <= index {
                list.push(json!({ "index": list.len(), "finish_reason": null, "logprobs": null }));
            }
            add(&mut list[index], choice);
        }
        if !piece["usage"].is_null() {
            all["usage"] = piece["usage"].clone();
        }
    }
    all
}

/// Adds a piece of a choice to it.
fn add(all: &mut Value, piece: &Value) {
    let joined = |all: &Value, piece: &Value| match (all, piece) {
        (_, Value::Null) => all.clone(),
        (Value::String(all), Value::String(more)) => json!(all.clone() + more),
        (Value::Array(all), Value::Array(more)) => json!([&all[..], &more[..]].concat()),
        _ => piece.clone(),
    };
    if piece.get("text").is_some() {
        all["text"] = joined(&all["text"], &piece["text"]);
    }
    if let Some(said) = piece.get("delta").or(piece.get("message")) {
        all["message"]["content"] = joined(&all["message"]["content"], &said["content"]);
    }
    for list in ["content", "token_logprobs"] {
        if piece["logprobs"].get(list).is_some() {
            all["logprobs"][list] = joined(&all["logprobs"][list], &piece["logprobs"][list]);
        }
    }
    if !piece["finish_reason"].is_null() {
        all["finish_reason"] = piece["finish_reason"].clone();
    }
}
