//! A stream that a thread reads, and what is known of it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

use super::ServerError;
use super::answer::{Chunk, Usage};
use super::asking::{Ending, Stream, chunks};
use super::client::{Client, Connection};

/// Shortest time of writing that a speed is told of, and its least share of all the time.
const MEASURABLE: Duration = Duration::from_millis(100);
const SHARE: u32 = 50;

/// Messages of a thread that reads a stream.
pub enum News {
    Chunk(Chunk),
    Ended(Result<Ending, ServerError>),
}

/// Tells the end of a thread, also of one that breaks off.
struct Reader {
    number: usize,
    send: SyncSender<(usize, News)>,
    ended: Result<Ending, ServerError>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.send.send((self.number, News::Ended(self.ended.clone())));
    }
}

/// A stream that is being read.
pub struct Reading {
    pub connection: Connection,
    pub stream: Stream,
    asked: Instant,
    /// Time of its last message; `None` before its answer begins, which the connection has its own limit for.
    pub heard: Option<Instant>,
    /// Times of its first and last text.
    pub text: Option<(Instant, Instant)>,
    /// It came in one piece.
    pub whole: bool,
    pub has_begun: bool,
    pub usage: Option<Usage>,
    pub over: bool,
}

impl Reading {
    /// Makes a request on a thread of its own, which sends what comes of it under this number.
    pub fn start(
        client: &Arc<Client>,
        stream: Stream,
        number: usize,
        send: &SyncSender<(usize, News)>,
    ) -> (Self, io::Result<()>) {
        let connection = client.connect();
        let reading = Self {
            connection: connection.clone(),
            stream: stream.clone(),
            asked: Instant::now(),
            heard: None,
            text: None,
            whole: false,
            has_begun: false,
            usage: None,
            over: false,
        };
        let (client, send) = (client.clone(), send.clone());
        let read = move || {
            let mut reader = Reader { number, send, ended: Ok(Ending::Closed) };
            let send = reader.send.clone();
            reader.ended = chunks(&client, &connection, &stream, true, &mut |chunk| {
                send.send((number, News::Chunk(chunk))).is_ok()
            });
        };
        (reading, thread::Builder::new().name("server".to_owned()).spawn(read).map(drop))
    }

    /// Its text came one piece after another, so that its speed can be told.
    pub fn is_spread(&self) -> bool {
        let Some((first, last)) = self.text else { return false };
        let (took, all) = (last - first, last - self.asked);
        !self.whole && took >= MEASURABLE && took * SHARE >= all
    }
}
