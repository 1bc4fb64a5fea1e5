//! A server that behaves like the Hugging Face hub, as well or as badly as a test wants it: `/api/models/…`
//! lists files, `resolve` gives small ones and leads to another port for large ones.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// A file of the one repository.
#[derive(Clone)]
pub struct Content {
    pub bytes: Vec<u8>,
    /// Entity tag by the hub: a SHA-256 for large files, else another hash.
    pub etag: String,
    pub large: bool,
}

/// Faults of the hub; each as often as it says.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fault of its own
pub struct Faults {
    /// Bodies of large files break off after so many bytes, so many times.
    pub cut: (usize, u32),
    /// Requests answered with 429 and this `Retry-After`.
    pub busy: (u32, String),
    /// Requests answered with 500.
    pub broken: u32,
    /// The status and `X-Error-Code` of every request without this token.
    pub closed: Option<(u16, &'static str, String)>,
    /// Large files come from byte 0 whatever was asked for.
    pub no_ranges: bool,
    /// So many bytes more than announced.
    pub longer: usize,
    /// Large files stop for good after the first bytes.
    pub silent: bool,
    /// Headers that never end.
    pub endless: bool,
    /// The listing has no sizes and hashes.
    pub bare: bool,
    /// Large files are sent in pieces of 1 KiB with this pause.
    pub slow: Option<Duration>,
    /// The listing names a file like this, too.
    pub also: Option<(String, u64)>,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct HubRequest {
    pub path: String,
    pub headers: HashMap<String, String>,
    /// By the second server, where large files are.
    pub at_store: bool,
}

pub struct Hub {
    pub endpoint: String,
    state: Arc<State>,
}

struct State {
    id: String,
    commit: String,
    files: HashMap<String, Content>,
    faults: Mutex<Faults>,
    asked: Mutex<Vec<HubRequest>>,
    store: String,
}

impl Hub {
    /// A hub with one repository.
    pub fn start(id: &str, files: HashMap<String, Content>) -> Self {
        let hub = TcpListener::bind("127.0.0.1:0").expect("a port");
        let store = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = |listener: &TcpListener| format!("http://{}", listener.local_addr().expect("an address"));
        let endpoint = address(&hub);
        let state = Arc::new(State {
            id: id.to_owned(),
            commit: "c0ffee0000000000000000000000000000000001".to_owned(),
            files,
            faults: Mutex::default(),
            asked: Mutex::default(),
            store: address(&store),
        });
        for (listener, at_store) in [(hub, false), (store, true)] {
            let state = state.clone();
            thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let state = state.clone();
                    thread::spawn(move || state.serve(&stream, at_store));
                }
            });
        }
        Self { endpoint, state }
    }

    pub fn faults(&self) -> MutexGuard<'_, Faults> {
        self.state.faults.lock().expect("no panic")
    }

    pub fn asked(&self) -> Vec<HubRequest> {
        self.state.asked.lock().expect("no panic").clone()
    }

    pub fn commit(&self) -> &str {
        &self.state.commit
    }
}

impl State {
    fn serve(&self, stream: &TcpStream, at_store: bool) {
        let mut reader = BufReader::new(stream);
        loop {
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    return;
                }
                let line = line.trim_end().to_owned();
                if line.is_empty() {
                    break;
                }
                lines.push(line);
            }
            let path = lines[0].split(' ').nth(1).unwrap_or_default().to_owned();
            let header = |line: &String| line.split_once(": ").map(|(n, v)| (n.to_lowercase(), v.to_owned()));
            let headers: HashMap<String, String> = lines[1..].iter().filter_map(header).collect();
            let asked = HubRequest { path: path.clone(), headers: headers.clone(), at_store };
            self.asked.lock().expect("no panic").push(asked);
            if self.answer(stream, &path, &headers, at_store).is_none() {
                return;
            }
        }
    }

    /// `None` ends the connection.
    fn answer(&self, stream: &TcpStream, path: &str, headers: &HashMap<String, String>, at_store: bool) -> Option<()> {
        let mut out = stream;
        let mut faults = self.faults.lock().expect("no panic");
        let mut send = |status: &str, more: &str, body: &[u8]| {
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{more}\r\n", body.len());
            out.write_all(head.as_bytes()).and_then(|()| out.write_all(body)).ok()
        };
        if faults.endless {
            drop(faults);
            out.write_all(b"HTTP/1.1 200 OK\r\n").ok()?;
            while out.write_all(&[b"x-more: ", &[b'a'; 1000][..], b"\r\n"].concat()).is_ok() {}
            return None;
        }
        if faults.busy.0 > 0 {
            faults.busy.0 -= 1;
            return send("429 Too Many Requests", &format!("retry-after: {}\r\n", faults.busy.1), b"");
        }
        if faults.broken > 0 {
            faults.broken -= 1;
            return send("500 Internal Server Error", "", b"");
        }
        if let Some((status, code, token)) = &faults.closed
            && !at_store
            && headers.get("authorization") != Some(&format!("Bearer {token}"))
        {
            return send(&format!("{status} No"), &format!("x-error-code: {code}\r\n"), b"");
        }
        let plain = path.split('?').next().unwrap_or(path);
        if let Some(rest) = plain.strip_prefix("/api/models/") {
            if rest.strip_prefix(self.id.as_str()).is_none_or(|rest| !rest.starts_with("/revision/")) {
                return send("404 Not Found", "x-error-code: RepoNotFound\r\n", b"");
            }
            if !rest.ends_with("/revision/main") {
                return send("404 Not Found", "x-error-code: RevisionNotFound\r\n", b"");
            }
            return send("200 OK", "", self.listing(&faults).as_bytes());
        }
        let name = plain.strip_prefix(&format!("/{}/resolve/{}/", self.id, self.commit));
        let name = if at_store { plain.strip_prefix("/store/") } else { name };
        let Some((name, file)) = name.and_then(|name| Some((name, self.files.get(name)?))) else {
            return send("404 Not Found", "x-error-code: EntryNotFound\r\n", b"");
        };
        if !at_store && file.large {
            let more = format!(
                "location: {}/store/{name}?signature=s3cret\r\nx-linked-etag: \"{}\"\r\nx-linked-size: {}\r\n",
                self.store,
                file.etag,
                file.bytes.len()
            );
            return send("302 Found", &more, b"");
        }
        if !at_store {
            return send("200 OK", &format!("etag: W/\"{}\"\r\n", file.etag), &file.bytes);
        }
        let from = headers.get("range").and_then(|r| r.strip_prefix("bytes=")?.trim_end_matches('-').parse().ok());
        let from: usize = from.filter(|_| !faults.no_ranges).unwrap_or(0);
        let mut body = file.bytes[from.min(file.bytes.len())..].to_vec();
        body.resize(body.len() + faults.longer, 0);
        let range = format!("content-range: bytes {from}-{}/{}\r\n", file.bytes.len() - 1, file.bytes.len());
        let (status, more) = if from > 0 { ("206 Partial Content", range.as_str()) } else { ("200 OK", "") };
        let cut = (faults.cut.1 > 0).then(|| {
            faults.cut.1 -= 1;
            faults.cut.0.min(body.len())
        });
        if let Some(pause) = faults.slow {
            drop(faults);
            out.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{more}\r\n", body.len()).as_bytes())
                .ok()?;
            for piece in body.chunks(1024) {
                out.write_all(piece).ok()?;
                thread::sleep(pause);
            }
            return Some(());
        }
        let silent = faults.silent;
        drop(faults);
        let Some(cut) = cut.or(silent.then_some(body.len() / 2)) else { return send(status, more, &body) };
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{more}\r\n", body.len());
        out.write_all(head.as_bytes()).and_then(|()| out.write_all(&body[..cut])).ok()?;
        if silent {
            thread::sleep(Duration::from_secs(5));
        }
        None
    }

    fn listing(&self, faults: &Faults) -> String {
        let mut files: Vec<(&String, &Content)> = self.files.iter().collect();
        files.sort_by_key(|(name, _)| *name);
        let mut rows: Vec<String> = files
            .into_iter()
            .map(|(name, file)| match (faults.bare, file.large) {
                (true, _) => format!(r#"{{"rfilename":"{name}"}}"#),
                (_, true) => format!(
                    r#"{{"rfilename":"{name}","size":{0},"blobId":"1","lfs":{{"sha256":"{1}","size":{0},"pointerSize":9}}}}"#,
                    file.bytes.len(),
                    file.etag
                ),
                _ => format!(r#"{{"rfilename":"{name}","size":{},"blobId":"{}"}}"#, file.bytes.len(), file.etag),
            })
            .collect();
        if let Some((name, size)) = &faults.also {
            rows.push(format!(r#"{{"rfilename":"{name}","size":{size},"blobId":"2"}}"#));
        }
        format!(r#"{{"id":"{}","sha":"{}","gated":false,"siblings":[{}]}}"#, self.id, self.commit, rows.join(","))
    }
}
