//! A request, made again without what the server refuses of it, and the pieces of its answer.

use std::io::{BufReader, Read};

use serde_json::{Value, json};

use super::ServerError;
use super::answer::Chunk;
use super::client::{Answer, Client, Connection};
use super::lines::{Events, MOST_BODY, first};
use super::retreat::retreats;
use crate::files;

/// A request to make, and its candidates.
#[derive(Clone)]
pub struct Stream {
    pub path: &'static str,
    pub body: Value,
    pub first: usize,
    pub n: usize,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the mark of its end, or with all of a body.
    Whole,
    /// The connection was closed.
    Closed,
    /// There is none: several candidates are more than the server writes for one request.
    Apart,
}

/// Kinds of events that only keep a connection open.
const ALIVE: &[&str] = &["ping", "heartbeat", "keepalive", "keep-alive"];

impl Stream {
    /// The request for one of its candidates alone.
    pub fn alone(&self, candidate: usize) -> Self {
        let mut body = self.body.clone();
        if let Some(fields) = body.as_object_mut() {
            fields.remove("n");
            if let Some(seed) = fields.get("seed").and_then(Value::as_u64) {
                fields.insert("seed".to_owned(), json!(seed + (candidate - self.first) as u64));
            }
        }
        Self { path: self.path, body, first: candidate, n: 1 }
    }
}

/// Makes a request and gives the pieces of its answer, as long as they are wanted. What the server refuses by
/// name is left out from then on.
pub fn chunks(
    client: &Client,
    connection: &Connection,
    stream: &Stream,
    patient: bool,
    take: &mut dyn FnMut(Chunk) -> bool,
) -> Result<Ending, ServerError> {
    let mut body = stream.body.clone();
    // Each retreat takes a parameter, or a part of one.
    let mut left = body.as_object().map_or(0, serde_json::Map::len);
    loop {
        client.refused.apply(&mut body);
        if stream.n > 1 && body.get("n").is_none() {
            return Ok(Ending::Apart);
        }
        let answer = connection.post(stream.path, &body, patient);
        let error = match answer.and_then(|answer| begin(client, connection, answer, take)) {
            Ok(ending) => return Ok(ending),
            Err(error) => error,
        };
        let found = error.refusal().filter(|_| left > 0).map_or_else(Vec::new, |said| retreats(&body, said));
        if found.is_empty() {
            return Err(error);
        }
        client.refused.learn(&found);
        left -= 1;
    }
}

/// Reads an answer, whatever its type says: JSON, or a stream of events.
fn begin(
    client: &Client,
    connection: &Connection,
    answer: Answer,
    take: &mut dyn FnMut(Chunk) -> bool,
) -> Result<Ending, ServerError> {
    // From now on its silence counts.
    if !take(Chunk::default()) {
        return Ok(Ending::Closed);
    }
    let broken = |error: std::io::Error| connection.broken(&error);
    let mut reader = BufReader::new(answer.body);
    match first(&mut reader).map_err(broken)? {
        None => return Err(client.unusable("it is empty")),
        Some(b'{' | b'[') => return whole(client, connection, reader, take),
        Some(b'<') => {
            let page = files::read_all(reader, MOST_BODY).map_err(broken)?;
            return Err(client.no_json(&String::from_utf8_lossy(&page)));
        }
        Some(_) => {}
    }
    let mut events = Events::new(reader);
    let mut has_begun = false;
    while let Some(event) = events.next().map_err(broken)? {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(Ending::Whole);
        }
        let json = match serde_json::from_str::<Value>(data) {
            Ok(json) => json,
            Err(_) if event.name == "error" => Value::String(data.to_owned()),
            Err(_) if ALIVE.contains(&event.name.as_str()) => continue,
            Err(_) => return Err(client.no_json(data)),
        };
        if event.name == "error" {
            return Err(client.gave_up(&json, has_begun));
        }
        for chunk in Chunk::read(&json) {
            if let Some(error) = &chunk.error {
                return Err(client.gave_up(error, has_begun));
            }
            has_begun |= !chunk.choices.is_empty();
            if !take(chunk) {
                return Ok(Ending::Closed);
            }
        }
    }
    match events.odd() {
        Some(line) if !has_begun => Err(client.no_json(line)),
        _ => Ok(Ending::Closed),
    }
}

/// Reads an answer in one piece, or in a line for each piece.
fn whole(
    client: &Client,
    connection: &Connection,
    reader: impl Read,
    take: &mut dyn FnMut(Chunk) -> bool,
) -> Result<Ending, ServerError> {
    let bytes = files::read_all(reader, MOST_BODY).map_err(|error| connection.broken(&error))?;
    let mut has_begun = false;
    for json in serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>() {
        let json =
            json.map_err(
                |error| {
                    if error.is_eof() { client.cut() } else { client.no_json(&String::from_utf8_lossy(&bytes)) }
                },
            )?;
        for mut chunk in Chunk::read(&json) {
            if let Some(error) = &chunk.error {
                return Err(client.gave_up(error, has_begun));
            }
            has_begun |= !chunk.choices.is_empty();
            chunk.whole = true;
            if !take(chunk) {
                break;
            }
        }
    }
    Ok(Ending::Whole)
}
