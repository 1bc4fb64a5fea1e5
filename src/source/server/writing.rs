//! Candidates that a server writes: what comes of all its streams becomes the events of one generation.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::ServerError;
use super::client::{Client, Connection, message};
use super::lines::{Events, MOST_BODY};
use super::wire::{Choice, Chunk};
use crate::engine::{
    Event, FinishReason, GenerateOptions, Standing, Stats, StepStats, Summary, Text, rank, thoughts_took_all,
};
use crate::files;
use crate::source::{EventSink, Ticket};

/// How often it is looked whether something has been cancelled.
const TICK: Duration = Duration::from_millis(25);
/// How long to wait for the count of tokens, once all is written.
const COUNT: Duration = Duration::from_millis(250);
/// Pieces that wait to be taken in.
const WAITING: usize = 64;
/// Bytes of text per token: a server that writes more of them does not keep to the limit.
const MOST_TOKEN: usize = 256;

/// A request to make, and its candidates.
pub struct Stream {
    pub path: &'static str,
    pub body: Value,
    pub first: usize,
    pub n: usize,
}

/// Messages of a thread that reads a stream.
enum News {
    Chunk(Chunk),
    Ended(Option<ServerError>),
}

/// A stream that is being read.
struct Reading {
    connection: Connection,
    first: usize,
    n: usize,
    /// Time of its last message; `None` before its answer begins, which the connection has its own limit for.
    heard: Option<Instant>,
    has_begun: bool,
    /// Candidates that the server itself has ended.
    ended: usize,
    over: bool,
}

/// A candidate that is being written.
#[derive(Default)]
struct Written {
    text: Text,
    bytes: usize,
    /// Sum and number of the log-probabilities that were told.
    logprobs: (f64, usize),
    /// Thoughts came apart from the text.
    has_thoughts: bool,
    standing: Option<Standing>,
}

pub struct Writing {
    client: Arc<Client>,
    options: GenerateOptions,
    ticket: Ticket,
    /// `None` once nobody listens.
    sink: Option<EventSink>,
    candidates: Vec<Written>,
    readings: Vec<Reading>,
    asked: Instant,
    /// When the first text came.
    begun: Option<Instant>,
    stats: Stats,
    /// Tokens of prompt and candidates, as the server counts them, and how many streams have told them.
    counted: (usize, usize, usize),
    /// The first thing that went wrong.
    failure: Option<ServerError>,
}

impl Writing {
    /// Nothing is asked yet.
    pub fn new(client: Arc<Client>, options: GenerateOptions, ticket: Ticket, sink: EventSink) -> Self {
        let candidates = (0..options.n).map(|_| Written::default()).collect();
        Self {
            client,
            options,
            ticket,
            sink: Some(sink),
            candidates,
            readings: Vec::new(),
            asked: Instant::now(),
            begun: None,
            stats: Stats::default(),
            counted: (0, 0, 0),
            failure: None,
        }
    }

    /// Makes the requests and tells what comes of them, to the end.
    pub fn run(mut self, streams: Vec<Stream>) {
        self.tell(Event::Prefill { done: 0, total: 0 });
        let (send, receive) = sync_channel(WAITING);
        for (number, stream) in streams.into_iter().enumerate() {
            let connection = self.client.connect();
            let reading = Reading {
                connection: connection.clone(),
                first: stream.first,
                n: stream.n,
                heard: None,
                has_begun: false,
                ended: 0,
                over: false,
            };
            self.readings.push(reading);
            let (client, send) = (self.client.clone(), send.clone());
            let read = move || {
                let ended = read(&client, &connection, &stream, number, &send).err();
                let _ = send.send((number, News::Ended(ended)));
            };
            if let Err(error) = thread::Builder::new().name("server".to_owned()).spawn(read) {
                let why = format!("a thread could not be started: {error}");
                self.ended(number, Some(ServerError::GaveUp { at: self.client.address.to_string(), said: why }));
            }
        }
        drop(send);
        self.follow(&receive);
        // Nobody waits for streams that have not ended.
        self.readings.iter().for_each(|reading| reading.connection.close());
        self.conclude();
    }

    fn follow(&mut self, receive: &Receiver<(usize, News)>) {
        let mut last = None;
        while self.sink.is_some() {
            self.look();
            if self.candidates.iter().all(|c| c.standing.is_some()) {
                // Where the server itself has ended them, its count of tokens is on its way.
                let is_over = |r: &Reading| r.over || r.ended < r.n;
                let since = *last.get_or_insert_with(Instant::now);
                if since.elapsed() > COUNT || self.readings.iter().all(is_over) {
                    return;
                }
            }
            match receive.recv_timeout(TICK) {
                Ok((stream, News::Chunk(chunk))) => self.take(stream, &chunk),
                Ok((stream, News::Ended(error))) => self.ended(stream, error),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // A thread that ended without a word.
                    (0..self.readings.len()).for_each(|stream| self.ended(stream, None));
                    return;
                }
            }
        }
    }

    /// Ends what is cancelled, out of time or silent for too long.
    fn look(&mut self) {
        for candidate in 0..self.candidates.len() {
            if self.ticket.is_cancelled(candidate) {
                self.end(candidate, FinishReason::Cancelled);
            } else if self.options.time_budget.is_some_and(|budget| self.asked.elapsed() >= budget) {
                self.end(candidate, FinishReason::Budget);
            }
        }
        for stream in 0..self.readings.len() {
            let reading = &self.readings[stream];
            let most = if reading.has_begun { self.client.patience.silence } else { self.client.first };
            if !reading.over && reading.heard.is_some_and(|heard| heard.elapsed() > most) {
                let at = self.client.address.to_string();
                self.ended(stream, Some(ServerError::Silent { at, seconds: most.as_secs() }));
            } else if !reading.over
                && reading.ended < reading.n
                && self.candidates[reading.first..][..reading.n].iter().all(|c| c.standing.is_some())
            {
                reading.connection.close();
                self.readings[stream].over = true;
            }
        }
    }

    /// Takes in a piece of an answer.
    fn take(&mut self, stream: usize, chunk: &Chunk) {
        let reading = &mut self.readings[stream];
        if reading.over {
            return;
        }
        reading.heard = Some(Instant::now());
        let (first, n) = (reading.first, reading.n);
        reading.ended += chunk.choices.iter().filter(|choice| choice.finish_reason.is_some()).count();
        reading.has_begun |= chunk.choices.iter().any(|choice| !choice.text().is_empty() || choice.has_thoughts());
        if let Some(usage) = chunk.usage {
            self.counted.0 = self.counted.0.max(usage.prompt_tokens);
            self.counted.1 += usage.completion_tokens;
            self.counted.2 += 1;
            reading.over |= reading.ended == n;
        }
        if let Some(error) = &chunk.error {
            let said = message(error).unwrap_or_else(|| error.to_string());
            let at = self.client.address.to_string();
            return self.ended(stream, Some(ServerError::GaveUp { at, said: self.client.words(&said) }));
        }
        for choice in chunk.choices.iter().filter(|choice| choice.index < n) {
            self.write(first + choice.index, choice);
        }
    }

    /// Adds to a candidate.
    fn write(&mut self, candidate: usize, choice: &Choice) {
        let c = &mut self.candidates[candidate];
        if c.standing.is_some() {
            return;
        }
        let (piece, logprobs) = (choice.text(), choice.logprobs().unwrap_or_default());
        c.bytes += piece.len();
        c.has_thoughts |= choice.has_thoughts();
        c.logprobs.0 += logprobs.iter().map(|&p| f64::from(p)).sum::<f64>();
        c.logprobs.1 += logprobs.len();
        let stopped = !piece.is_empty() && c.text.push(piece, &self.options.stop);
        let too_long = c.bytes > self.options.max_tokens.saturating_mul(MOST_TOKEN);
        let reason = match choice.finish_reason.as_deref() {
            _ if stopped && c.text.is_repeating() => Some(FinishReason::Length),
            _ if stopped => Some(FinishReason::Stop),
            Some("length") => Some(FinishReason::Length),
            Some(_) => Some(FinishReason::Stop),
            None => too_long.then_some(FinishReason::Length),
        };
        if reason.is_some() {
            c.text.end("", &self.options.stop);
        }
        let text = c.text.take(&self.options.stop);
        if self.begun.is_none() && !piece.is_empty() {
            let now = Instant::now();
            self.stats.prefilled(now - self.asked);
            self.begun = Some(now);
        }
        let tokens = logprobs.len();
        if !text.is_empty() || tokens > 0 {
            self.tell(Event::Tokens {
                candidate,
                text,
                ids: Vec::new(),
                logprobs,
                alternatives: Vec::new(),
                drafted: 0,
                accepted: 0,
            });
            self.tell(Event::Step(StepStats { tokens, ..StepStats::default() }));
        }
        if let Some(reason) = reason {
            let c = &self.candidates[candidate];
            let most = self.options.max_tokens;
            let unsaid = c.has_thoughts && c.bytes == 0;
            let trouble = c.text.trouble(&self.options.stop, most).or(unsaid.then(|| thoughts_took_all(most)));
            if let Some(why) = trouble.filter(|_| reason == FinishReason::Length) {
                self.tell(Event::Broken { candidate, why });
            }
            self.end(candidate, reason);
        }
    }

    /// A stream has ended, by itself or not.
    fn ended(&mut self, stream: usize, error: Option<ServerError>) {
        let reading = &mut self.readings[stream];
        if std::mem::replace(&mut reading.over, true) {
            return;
        }
        reading.connection.close();
        let open: Vec<usize> =
            (reading.first..reading.first + reading.n).filter(|&c| self.candidates[c].standing.is_none()).collect();
        if open.is_empty() {
            return;
        }
        let error = error.unwrap_or_else(|| ServerError::Cut { at: self.client.address.to_string() });
        for candidate in open {
            self.tell(Event::Broken { candidate, why: error.to_string() });
            self.end(candidate, FinishReason::Failed);
        }
        self.failure.get_or_insert(error);
    }

    /// Ends a candidate, if it has not ended.
    fn end(&mut self, candidate: usize, reason: FinishReason) {
        let c = &mut self.candidates[candidate];
        if c.standing.is_some() {
            return;
        }
        c.text.end("", &self.options.stop);
        let (sum, count) = c.logprobs;
        let mean_logprob = (count > 0).then(|| (sum / count as f64) as f32);
        c.standing = Some(Standing { reason, mean_logprob });
        let text = c.text.as_str().to_owned();
        self.stats.finished(self.begun.map_or(Duration::ZERO, |begun| begun.elapsed()), count);
        self.tell(Event::Finished { candidate, reason, text, mean_logprob });
    }

    fn tell(&mut self, event: Event) {
        if self.sink.as_mut().is_some_and(|sink| sink(event).is_break()) {
            self.sink = None;
        }
    }

    /// Tells the end.
    fn conclude(mut self) {
        let standings: Vec<Standing> = self.candidates.iter().filter_map(|c| c.standing).collect();
        let nothing = self.candidates.iter().all(|c| c.bytes == 0)
            && standings.iter().all(|standing| standing.reason == FinishReason::Failed);
        if let Some(error) = self.failure.take().filter(|_| nothing) {
            let why = error.to_string();
            return self.tell(if error.is_refusal() { Event::Refused(why) } else { Event::Failed(why) });
        }
        let decode = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        let mut summary = Summary { ranking: rank(&standings), ..self.stats.summary(decode) };
        let (prompt, written, told) = self.counted;
        summary.prompt_tokens = prompt;
        if summary.tokens == 0 && written > 0 && told == self.readings.len() {
            summary.tokens = written;
            summary.tokens_per_second = written as f64 / decode.as_secs_f64().max(1e-9);
        }
        self.tell(Event::Done(Box::new(summary)));
    }
}

/// Makes a request and passes on its answer.
fn read(
    client: &Client,
    connection: &Connection,
    stream: &Stream,
    number: usize,
    send: &SyncSender<(usize, News)>,
) -> Result<(), ServerError> {
    chunks(client, connection, stream, true, &mut |chunk| send.send((number, News::Chunk(chunk))).is_ok())
}

/// Makes a request and gives the pieces of its answer, as long as they are wanted.
pub fn chunks(
    client: &Client,
    connection: &Connection,
    stream: &Stream,
    patient: bool,
    take: &mut dyn FnMut(Chunk) -> bool,
) -> Result<(), ServerError> {
    let answer = connection.post(stream.path, &stream.body, patient)?;
    // From now on its silence counts.
    if !take(Chunk::default()) {
        return Ok(());
    }
    let parse = |text: &str| {
        let wrong = |error| client.unusable(&format!("it is not what is expected of a completion: {error}"));
        serde_json::from_str::<Chunk>(text).map_err(wrong)
    };
    if !answer.streams {
        let bytes = files::read_all(answer.body, MOST_BODY).map_err(|error| connection.broken(&error))?;
        take(parse(&String::from_utf8_lossy(&bytes))?);
        return Ok(());
    }
    let mut events = Events::new(answer.body);
    while let Some(data) = events.next().map_err(|error| connection.broken(&error))? {
        if data.trim() == "[DONE]" || !take(parse(&data)?) {
            break;
        }
    }
    Ok(())
}
