//! Candidates that a server writes: what comes of all its streams becomes the events of one generation.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::ServerError;
use super::answer::{Choice, Chunk, Ended, Usage};
use super::asking::{Ending, Stream};
use super::client::Client;
use super::reading::{News, Reading};
use crate::engine::{
    Event, FinishReason, GenerateOptions, Standing, Stats, StepStats, Summary, Text, rank, thoughts_took_all,
};
use crate::source::{EventSink, Ticket};

/// How often it is looked whether something has been cancelled.
const TICK: Duration = Duration::from_millis(25);
/// How long to wait for the count of tokens, once all is written.
const COUNT: Duration = Duration::from_millis(250);
/// Pieces that wait to be taken in.
const WAITING: usize = 64;
/// Bytes of text per token: a server that writes more of them does not keep to the limit.
const MOST_TOKEN: usize = 256;

/// Sentence about a candidate whose model stopped after its thoughts.
const THOUGHTS_ALONE: &str = "the model wrote thoughts and no answer: raise --max-tokens, which its thoughts may have used up, or choose a model that answers without thinking";

/// A candidate that is being written.
#[derive(Default)]
struct Written {
    text: Text,
    bytes: usize,
    /// Sum and number of the log-probabilities that were told.
    logprobs: (f64, usize),
    /// Thoughts came apart from the text.
    has_thoughts: bool,
    /// The server itself has ended it.
    is_told: bool,
    /// Time until its end, from the first text of all.
    took: Duration,
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
    send: SyncSender<(usize, News)>,
    receive: Receiver<(usize, News)>,
    asked: Instant,
    /// When the first text came.
    begun: Option<Instant>,
    stats: Stats,
    /// The first thing that went wrong.
    failure: Option<ServerError>,
}

impl Writing {
    /// Nothing is asked yet.
    pub fn new(client: Arc<Client>, options: GenerateOptions, ticket: Ticket, sink: EventSink) -> Self {
        let candidates = (0..options.n).map(|_| Written::default()).collect();
        let (send, receive) = sync_channel(WAITING);
        Self {
            client,
            options,
            ticket,
            sink: Some(sink),
            candidates,
            readings: Vec::new(),
            send,
            receive,
            asked: Instant::now(),
            begun: None,
            stats: Stats::default(),
            failure: None,
        }
    }

    /// Makes the requests and tells what comes of them, to the end.
    pub fn run(mut self, streams: Vec<Stream>) {
        self.tell(Event::Prefill { done: 0, total: 0 });
        for stream in streams {
            self.start(stream);
        }
        self.follow();
        // Nobody waits for streams that have not ended.
        self.readings.iter().for_each(|reading| reading.connection.close());
        self.conclude();
    }

    /// Makes a request.
    fn start(&mut self, stream: Stream) {
        let number = self.readings.len();
        let (reading, started) = Reading::start(&self.client, stream, number, &self.send);
        self.readings.push(reading);
        if let Err(error) = started {
            let said = format!("a thread could not be started: {error}");
            let at = self.client.address.to_string();
            self.ended(number, Err(ServerError::GaveUp { at, said, raw: String::new() }));
        }
    }

    fn follow(&mut self) {
        let mut last = None;
        while self.sink.is_some() {
            self.look();
            if self.candidates.iter().all(|c| c.standing.is_some()) {
                // Where the server itself has ended them, its count of tokens is on its way.
                let since = *last.get_or_insert_with(Instant::now);
                let is_over =
                    (0..self.readings.len()).all(|stream| self.readings[stream].over || !self.all_told(stream));
                if since.elapsed() > COUNT || is_over {
                    return;
                }
            }
            match self.receive.recv_timeout(TICK) {
                Ok((stream, News::Chunk(chunk))) => self.take(stream, &chunk),
                Ok((stream, News::Ended(ended))) => self.ended(stream, ended),
                Err(_) => {}
            }
        }
    }

    /// The candidates of a stream.
    fn candidates(&self, stream: usize) -> std::ops::Range<usize> {
        let Stream { first, n, .. } = self.readings[stream].stream;
        first..first + n
    }

    /// The server itself has ended all of a stream.
    fn all_told(&self, stream: usize) -> bool {
        self.candidates[self.candidates(stream)].iter().all(|c| c.is_told)
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
                self.ended(stream, Err(ServerError::Silent { at, seconds: most.as_secs() }));
            } else if !reading.over
                && !self.all_told(stream)
                && self.candidates[self.candidates(stream)].iter().all(|c| c.standing.is_some())
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
        let now = Instant::now();
        reading.heard = Some(now);
        let Stream { first, n, .. } = reading.stream;
        reading.has_begun |= chunk.choices.iter().any(|choice| !choice.text.is_empty() || choice.has_thoughts);
        if chunk.choices.iter().any(|choice| !choice.text.is_empty()) {
            reading.whole |= chunk.whole;
            reading.text = Some((reading.text.map_or(now, |(first, _)| first), now));
        }
        // Some count again with each piece.
        reading.usage = chunk.usage.or(reading.usage);
        // A count of its own is the last word, but for the mark of the end.
        let is_counted = chunk.usage.is_some() && (chunk.choices.is_empty() || chunk.whole);
        for choice in chunk.choices.iter().filter(|choice| choice.index < n) {
            self.candidates[first + choice.index].is_told |= choice.ended.is_some();
            self.write(stream, first + choice.index, choice);
        }
        let is_over = is_counted && self.all_told(stream);
        self.readings[stream].over |= is_over;
    }

    /// Adds to a candidate.
    fn write(&mut self, stream: usize, candidate: usize, choice: &Choice) {
        let c = &mut self.candidates[candidate];
        if c.standing.is_some() {
            return;
        }
        let (piece, logprobs) = (choice.text.as_str(), choice.logprobs.clone().unwrap_or_default());
        c.bytes += piece.len();
        c.has_thoughts |= choice.has_thoughts;
        c.logprobs.0 += logprobs.iter().map(|&p| f64::from(p)).sum::<f64>();
        c.logprobs.1 += logprobs.len();
        let stopped = !piece.is_empty() && c.text.push(piece, &self.options.stop);
        let too_long = c.bytes > self.options.max_tokens.saturating_mul(MOST_TOKEN);
        let ended = match &choice.ended {
            _ if stopped && c.text.is_repeating() => Some(Ended::Length),
            _ if stopped => Some(Ended::Stop),
            None => too_long.then_some(Ended::Length),
            ended => ended.clone(),
        };
        if ended.is_some() {
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
            if self.readings[stream].is_spread() {
                self.tell(Event::Step(StepStats { tokens, ..StepStats::default() }));
            }
        }
        match ended {
            Some(Ended::Stop) => self.finish(candidate, FinishReason::Stop),
            Some(Ended::Length) => self.finish(candidate, FinishReason::Length),
            Some(Ended::Broken(word)) => {
                let said = format!("it ended the candidate before its end ({})", self.client.words(&word));
                let at = self.client.address.to_string();
                self.fail(&[candidate], ServerError::GaveUp { at, said, raw: String::new() });
            }
            None => {}
        }
    }

    /// A stream has ended, by itself or not.
    fn ended(&mut self, stream: usize, ended: Result<Ending, ServerError>) {
        if std::mem::replace(&mut self.readings[stream].over, true) {
            return;
        }
        self.readings[stream].connection.close();
        let open: Vec<usize> =
            self.candidates(stream).filter(|&candidate| self.candidates[candidate].standing.is_none()).collect();
        let (begun, untouched): (Vec<usize>, Vec<usize>) = open.iter().partition(|&&candidate| {
            let c = &self.candidates[candidate];
            c.bytes > 0 || c.has_thoughts
        });
        match ended {
            Ok(Ending::Apart) => self.apart(stream, &open),
            Ok(Ending::Whole) => {
                for candidate in begun {
                    self.finish(candidate, FinishReason::Stop);
                }
                if self.readings[stream].stream.n > 1 {
                    self.apart(stream, &untouched);
                } else {
                    self.fail(&untouched, self.client.unusable("it holds no text"));
                }
            }
            Ok(Ending::Closed) => self.fail(&open, self.client.cut()),
            Err(error) => self.fail(&open, error),
        }
    }

    /// Asks for candidates of a stream one by one.
    fn apart(&mut self, stream: usize, candidates: &[usize]) {
        if !candidates.is_empty() {
            // The others count.
            self.readings[stream].usage.get_or_insert_default();
        }
        for &candidate in candidates {
            let alone = self.readings[stream].stream.alone(candidate);
            self.start(alone);
        }
    }

    /// Ends a candidate that was written to its end.
    fn finish(&mut self, candidate: usize, reason: FinishReason) {
        let c = &mut self.candidates[candidate];
        c.text.end("", &self.options.stop);
        let most = self.options.max_tokens;
        let unsaid = c.has_thoughts && c.bytes == 0;
        let is_thought = unsaid || c.text.is_thought(&self.options.stop);
        let (why, reason) = match reason {
            FinishReason::Length if unsaid => (Some(thoughts_took_all(most)), reason),
            FinishReason::Length => (c.text.trouble(&self.options.stop, most), reason),
            _ if is_thought => (Some(THOUGHTS_ALONE.to_owned()), FinishReason::Failed),
            _ => (None, reason),
        };
        if let Some(why) = why {
            self.tell(Event::Broken { candidate, why });
        }
        self.end(candidate, reason);
    }

    /// Ends candidates that cannot be written to their end.
    fn fail(&mut self, candidates: &[usize], error: ServerError) {
        for &candidate in candidates {
            self.tell(Event::Broken { candidate, why: error.to_string() });
            self.end(candidate, FinishReason::Failed);
        }
        if !candidates.is_empty() {
            self.failure.get_or_insert(error);
        }
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
        c.took = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        let text = c.text.as_str().to_owned();
        self.tell(Event::Finished { candidate, reason, text, mean_logprob });
    }

    fn tell(&mut self, event: Event) {
        if self.sink.as_mut().is_some_and(|sink| sink(event).is_break()) {
            self.sink = None;
        }
    }

    /// Time of writing, if it can be told: of most streams the text came one piece after another.
    fn decode(&self) -> Option<Duration> {
        let with_text = self.readings.iter().filter(|reading| reading.text.is_some());
        let spread = self.readings.iter().filter(|reading| reading.is_spread()).count();
        let is_whole = self.readings.iter().any(|reading| reading.whole);
        let last = self.readings.iter().filter_map(|reading| Some(reading.text?.1)).max()?;
        (!is_whole && spread > 0 && 2 * spread >= with_text.count()).then(|| last - self.begun.unwrap_or(last))
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
        let decode = self.decode();
        for c in self.candidates.iter().filter(|c| c.standing.is_some()) {
            self.stats.finished(decode.map_or(Duration::ZERO, |_| c.took), c.logprobs.1);
        }
        let decode = decode.unwrap_or_default();
        let mut summary = Summary { ranking: rank(&standings), ..self.stats.summary(decode) };
        let counted: Vec<Usage> = self.readings.iter().filter_map(|reading| reading.usage).collect();
        let written = counted.iter().map(|usage| usage.completion_tokens).sum();
        summary.prompt_tokens = counted.iter().map(|usage| usage.prompt_tokens).max().unwrap_or(0);
        let is_counted = self.readings.iter().all(|reading| reading.usage.is_some());
        if summary.tokens == 0 && written > 0 && is_counted {
            summary.tokens = written;
            if !decode.is_zero() {
                summary.tokens_per_second = written as f64 / decode.as_secs_f64();
            }
        }
        self.tell(Event::Done(Box::new(summary)));
    }
}
