//! A `bass-tui serve` of a test's own, and HTTP by hand: what is sent, to the byte, and what is answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::world::World;

/// A running server.
pub struct Served {
    pub child: Child,
    pub address: String,
    said: BufReader<std::process::ChildStderr>,
}

/// Answer of a server.
pub struct Answered {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answered {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The events of a stream, without its end.
    pub fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let mut data: Vec<&str> = data.collect();
        assert_eq!(data.pop(), Some("[DONE]"), "{}", self.body);
        data.into_iter().map(|text| serde_json::from_str(text).expect("JSON")).collect()
    }
}

impl Served {
    pub fn start(world: &World, more: &[&str]) -> Self {
        let args = [&["serve", "--listen", "127.0.0.1:0"][..], more].concat();
        Self::of(world.process(&args))
    }

    pub fn of(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program");
        let mut said = BufReader::new(child.stderr.take().expect("stderr"));
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert_ne!(said.read_line(&mut line).expect("a line"), 0, "it ended");
        }
        let address = line.split("http://").nth(1).expect("an address").split([';', '\n']).next().unwrap().to_owned();
        Self { child, address, said }
    }

    /// Sends this as it is, and nothing more.
    pub fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a socket");
        stream.write_all(text.as_bytes()).expect("a connection");
        stream
    }

    pub fn request(&self, method: &str, path: &str, more: &str, body: &str) -> String {
        let host = &self.address;
        let more = if more.contains("host:") { more.to_owned() } else { format!("host: {host}\r\n{more}") };
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n{more}\r\n{body}", body.len())
    }

    pub fn ask(&self, method: &str, path: &str, more: &str, body: &str) -> Answered {
        read(self.send(&self.request(method, path, more, body)))
    }

    pub fn get(&self, path: &str) -> Answered {
        self.ask("GET", path, "", "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answered {
        self.ask("POST", path, "", &body.to_string())
    }

    /// A completion that must be given.
    pub fn complete(&self, body: &Value) -> Value {
        let answered = self.post("/v1/completions", body);
        assert_eq!(answered.status, 200, "{}", answered.body);
        answered.json()
    }

    /// The value of a metric.
    pub fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").body;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("bass_tui_{name} ")));
        line.expect(name).parse().expect("a number")
    }

    /// Waits until nothing is written any more.
    pub fn rests(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.metric("candidates") + self.metric("requests") + self.metric("requests_waiting") > 0 {
            assert!(Instant::now() < end, "{}", self.get("/metrics").body);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Asks it to end; what it said after its start.
    pub fn end(&mut self) -> String {
        // SAFETY: a process of ours that has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        let mut said = String::new();
        self.said.read_to_string(&mut said).expect("UTF-8");
        assert_eq!(self.child.wait().expect("an end").code(), Some(0), "{said}");
        said
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads an answer to its end.
pub fn read(mut stream: TcpStream) -> Answered {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer");
    let text = String::from_utf8(bytes).expect("UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
    let head = head.to_ascii_lowercase();
    let body = if head.contains("transfer-encoding: chunked") { chunks(body) } else { body.to_owned() };
    Answered { status, head, body }
}

fn chunks(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        whole += &more[..size];
        rest = &more[size + 2..];
    }
    whole
}

pub fn choices(answer: &Value) -> &Vec<Value> {
    answer["choices"].as_array().expect("choices")
}
