//! The server over real sockets, with clients that are slow, endless or silent.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::connection::Limits;
use super::*;
use crate::source::{Event, EventSink, FinishReason, Request, Summary, Ticket};

/// Short limits for tests.
const QUICK: Limits = Limits {
    headers: Duration::from_millis(400),
    body: Duration::from_millis(500),
    stalled: Duration::from_millis(400),
    ..Limits::USUAL
};
/// Longest wait for an expected event.
const LONG: Duration = Duration::from_secs(30);

/// Writes pieces of this size with this pause until the receiver is gone. For at most one token it writes a
/// single piece at once.
struct Endless {
    piece: usize,
    pause: Duration,
    /// Receives the number of pieces of a generation once it is over.
    over: Sender<usize>,
}

impl Source for Endless {
    fn info(&self) -> SourceInfo {
        SourceInfo { model: "endless".to_owned(), ..SourceInfo::default() }
    }

    fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
        let ticket = Ticket::new(request.options.n);
        let (piece, pause, over, mine) = ("x".repeat(self.piece), self.pause, self.over.clone(), ticket.clone());
        thread::spawn(move || {
            if request.options.max_tokens == 1 {
                let (reason, text) = (FinishReason::Length, "x".to_owned());
                let _ = sink(Event::Finished { candidate: 0, reason, text, mean_logprob: None });
                let _ = sink(Event::Done(Box::new(Summary { ranking: vec![0], ..Summary::default() })));
                return;
            }
            let mut taken = 0;
            loop {
                let (text, ids, logprobs) = (piece.clone(), Vec::new(), Vec::new());
                let event = Event::Tokens {
                    candidate: 0,
                    text,
                    ids,
                    logprobs,
                    alternatives: Vec::new(),
                    drafted: 0,
                    accepted: 0,
                };
                let start = Instant::now();
                if sink(event) == ControlFlow::Break(()) || mine.is_cancelled(0) {
                    break;
                }
                assert!(start.elapsed() < Duration::from_secs(2), "the engine never waits");
                taken += 1;
                thread::sleep(pause);
            }
            let _ = over.send(taken);
        });
        ticket
    }
}

/// A server that ends with the test.
struct Running {
    address: SocketAddr,
    over: Receiver<usize>,
    stop: watch::Sender<bool>,
}

impl Running {
    fn start(piece: usize, pause: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let ((over, ended), (stop, stopped)) = (channel(), watch::channel(false));
        let source = Arc::new(Endless { piece, pause, over });
        let setup = Setup { source, settings: Settings::default(), access: Access { token: None }, trials: None };
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(accept(listener, setup, QUICK, stopped))
        });
        Self { address, over: ended, stop }
    }

    fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn post(&self, more: &str, body: &str) -> TcpStream {
        self.send(&format!("POST /v1/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{more}\r\n{body}"))
    }

    fn ask(&self, body: &str) -> TcpStream {
        self.post(&format!("content-length: {}\r\n", body.len()), body)
    }

    /// Asserts that other requests are answered.
    fn answers(&self) {
        let said = read(self.ask(r#"{"prompt": "x", "max_tokens": 1}"#));
        assert!(said.contains("200 OK") && said.contains("\"text\":\"x\""), "{said}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}

/// Everything received, even before the connection is reset.
fn read(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(n @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..n]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const STREAM: &str = r#"{"prompt": "x", "max_tokens": 1000000, "stream": true}"#;

#[test]
fn who_reads_nothing_ends_the_generation_and_holds_up_nobody() {
    // Large pieces: the socket is full long before the inbox is.
    let server = Running::start(1 << 16, Duration::from_millis(1));
    let stream = server.ask(STREAM);
    server.answers();
    let taken = server.over.recv_timeout(LONG).expect("an end");
    assert!(taken < inbox::MOST_WAITING, "{taken} pieces were taken for nobody");
    drop(stream);
    // Small pieces, as fast as possible: their number is limited.
    let server = Running::start(400, Duration::ZERO);
    let stream = server.ask(STREAM);
    let taken = server.over.recv_timeout(LONG).expect("an end");
    server.answers();
    assert!(taken >= inbox::MOST_WAITING, "{taken}");
    let said = read(stream);
    assert!(said.contains("slow_reader") || !said.contains("[DONE]"), "{}", &said[said.len().saturating_sub(300)..]);
    // An answer in one piece is not read before its end. A client that leaves is noticed all the same.
    let server = Running::start(400, Duration::from_millis(1));
    let stream = server.ask(&STREAM.replace("true", "false"));
    // The request has begun. A request that comes together with its own end is never started.
    server.answers();
    drop(stream);
    server.over.recv_timeout(LONG).expect("an end");
}

#[test]
fn headers_and_bodies_have_their_time() {
    let server = Running::start(1, Duration::from_millis(1));
    let start = Instant::now();
    // Nothing, half, and a byte at a time for as long as it is taken.
    let nothing = server.send("");
    let half = server.send("POST /v1/completions HTTP/1.1\r\nhost: local");
    let drip = |mut stream: TcpStream| {
        thread::spawn(move || {
            while start.elapsed() < LONG && stream.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
            start.elapsed()
        })
    };
    let dripping = drip(server.send("GET /health HTTP/1.1\r\nx-drip: "));
    let body = server.post("content-length: 500\r\n", "{");
    let slow = server.post("content-length: 1000000\r\n", "{");
    let dripped = drip(slow.try_clone().unwrap());
    server.answers();
    let said = read(body);
    assert!(said.contains("408 Request Timeout") && said.contains("was not there after"), "{said}");
    assert!(read(slow).contains("408 Request Timeout"));
    for stream in [nothing, half] {
        let said = read(stream);
        assert!(said.is_empty() || said.contains(" 408 "), "{said}");
    }
    assert!(dripping.join().unwrap() < LONG && dripped.join().unwrap() < LONG);
    server.answers();
}

#[test]
fn what_is_too_large_is_not_read_to_its_end() {
    let server = Running::start(1, Duration::from_millis(1));
    // Without a length the size is not known in advance.
    let mut stream = server.post("transfer-encoding: chunked\r\n", "");
    let piece = format!("10000\r\n{}\r\n", "x".repeat(1 << 16));
    let mut sent = 0;
    while sent < 1 << 30 && stream.write_all(piece.as_bytes()).is_ok() {
        sent += 1 << 16;
    }
    assert!(sent < 1 << 30, "a body has no end");
    let mut stream = server.send("GET /health HTTP/1.1\r\n");
    let mut sent = 0;
    while sent < 1 << 30 && stream.write_all(format!("x-{sent}: {}\r\n", "y".repeat(1000)).as_bytes()).is_ok() {
        sent += 1000;
    }
    assert!(sent < 1 << 30, "headers have no end");
    server.answers();
}
