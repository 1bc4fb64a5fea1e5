//! A server that speaks the protocol of `OpenAI`'s completions, as well or as badly as a test wants it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// Odd servers.
#[path = "odd_server.rs"]
pub mod odd;

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Value,
}

impl ReceivedRequest {
    /// It is a request for real, and not one that finds out what the server can do.
    pub fn is_real(&self) -> bool {
        let limit = ["max_tokens", "max_completion_tokens"].into_iter().find_map(|name| self.body[name].as_u64());
        limit.is_some_and(|n| n > 32)
    }
}

pub struct Server {
    pub address: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    /// Answers each request, on a thread and a connection of its own.
    pub fn start(answer: impl Fn(&ReceivedRequest, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (answer.clone(), log.clone());
                thread::spawn(move || {
                    let mut stream = stream;
                    if let Some(asked) = read(&stream) {
                        log.lock().expect("no panic").push(asked.clone());
                        answer(&asked, &mut stream);
                    }
                });
            }
        });
        Self { address, asked }
    }

    /// A server that does all that it should.
    pub fn good(model: Model) -> Self {
        Self::start(move |asked, out| model.answer(asked, out))
    }

    pub fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().expect("no panic").clone()
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        if line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let path = lines[0].split(' ').nth(1).unwrap_or_default().to_owned();
    let header = |line: &String| line.split_once(": ").map(|(n, v)| (n.to_lowercase(), v.to_owned()));
    let headers: HashMap<String, String> = lines[1..].iter().filter_map(header).collect();
    let length = headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// An answer with a body.
pub fn send(out: &mut TcpStream, status: &str, more: &str, body: &str) {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{more}\r\n", body.len());
    let _ = out.write_all(head.as_bytes()).and_then(|()| out.write_all(body.as_bytes()));
}

/// The beginning of a stream of events.
pub fn begin(out: &mut TcpStream) {
    let _ = out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
}

/// An event; whether anybody listens.
pub fn event(out: &mut TcpStream, data: &str) -> bool {
    out.write_all(format!("data: {data}\n\n").as_bytes()).is_ok()
}

/// A model on a server, by what it can do.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools)] // each is an ability of its own
pub struct Model {
    /// Texts that it writes, by candidate.
    pub texts: Vec<String>,
    /// It takes `n`; else it writes one candidate, whatever is asked for.
    pub n: bool,
    pub logprobs: bool,
    /// It is asked in conversations only.
    pub chat: bool,
    /// It reads what stands after the place; else it passes over that.
    pub suffix: bool,
    /// It wants this key.
    pub key: Option<String>,
    /// Names that it answers to, beside the one that it lists.
    pub aliases: &'static [&'static str],
}

impl Model {
    pub const NAME: &str = "tiny-coder";

    pub fn new(texts: &[&str]) -> Self {
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        Self { texts, n: true, logprobs: true, chat: false, suffix: false, key: None, aliases: &[] }
    }

    /// Answers as it should.
    pub fn answer(&self, asked: &ReceivedRequest, out: &mut TcpStream) {
        if let Err((status, said)) = self.takes(asked, "/v1") {
            return send(out, status, "", &said);
        }
        begin(out);
        let _ = self.pieces(asked).iter().all(|piece| event(out, &piece.to_string())) && event(out, "[DONE]");
    }

    /// Holds a request against its key, its addresses below `base` and its name; the answer where that is all
    /// there is to it.
    pub fn takes(&self, asked: &ReceivedRequest, base: &str) -> Result<(), (&'static str, String)> {
        let header = self.key.as_ref().map(|key| format!("Bearer {key}"));
        if header.is_some() && asked.headers.get("authorization") != header.as_ref() {
            let found = asked.headers.get("authorization").cloned().unwrap_or_default();
            let said = json!({ "error": { "message": format!("Incorrect API key provided: {found}") } });
            return Err(("401 Unauthorized", said.to_string()));
        }
        let path = asked.path.split('?').next().and_then(|path| path.strip_prefix(base));
        if path == Some("/models") {
            return Err(("200 OK", json!({ "data": [{ "id": Self::NAME }] }).to_string()));
        }
        if path != Some(if self.chat { "/chat/completions" } else { "/completions" }) {
            return Err(("404 Not Found", r#"{"detail":"Not Found"}"#.to_owned()));
        }
        let name = asked.body["model"].as_str().unwrap_or_default();
        if name != Self::NAME && !self.aliases.contains(&name) {
            let said = json!({ "error": { "message": format!("The model `{name}` does not exist.") } });
            return Err(("404 Not Found", said.to_string()));
        }
        Ok(())
    }

    /// The answer to a request, piece by piece.
    pub fn pieces(&self, asked: &ReceivedRequest) -> Vec<Value> {
        let body = &asked.body;
        let first = (body["seed"].as_u64().unwrap_or(0) % 64) as usize;
        let n = if self.n { body["n"].as_u64().unwrap_or(1) as usize } else { 1 };
        let most = if asked.is_real() { usize::MAX } else { 1 };
        let texts: Vec<Vec<String>> = (0..n)
            .map(|c| {
                let text: Vec<char> = self.texts[(first + c) % self.texts.len()].chars().collect();
                text.chunks(3).take(most).map(|piece| piece.iter().collect()).collect()
            })
            .collect();
        let mut pieces = Vec::new();
        for at in 0..texts.iter().map(Vec::len).max().unwrap_or(0) {
            let there = texts.iter().enumerate().filter_map(|(index, text)| Some((index, text.get(at)?)));
            pieces.extend(there.map(|(index, piece)| self.choice(index, piece, None, body)));
        }
        pieces.extend((0..n).map(|index| self.choice(index, "", Some("stop"), body)));
        if !body["stream_options"].is_null() {
            let written: usize = texts.iter().map(Vec::len).sum();
            let after = if self.suffix { body["suffix"].as_str().map_or(0, str::len) } else { 0 };
            let usage = json!({ "prompt_tokens": 11 + after, "completion_tokens": written });
            pieces.push(json!({ "choices": [], "usage": usage }));
        }
        pieces
    }

    fn choice(&self, index: usize, piece: &str, end: Option<&str>, body: &Value) -> Value {
        let mut choice = json!({ "index": index, "finish_reason": end });
        let tells = self.logprobs && !body["logprobs"].is_null() && !piece.is_empty();
        // Of equal texts the later one is less probable.
        let probability = -0.1 - index as f64 / 100.0;
        if self.chat {
            choice["delta"] = json!({ "content": piece });
            choice["logprobs"] = json!(tells.then(|| json!({ "content": [{ "token": "x", "logprob": probability }] })));
        } else {
            choice["text"] = json!(piece);
            choice["logprobs"] = json!(tells.then(|| json!({ "token_logprobs": [probability] })));
        }
        json!({ "choices": [choice] })
    }
}
