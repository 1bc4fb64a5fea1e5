//! Requests to one server: no redirects, bounded answers, the key to that server alone.

use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::http::StatusCode;
use ureq::http::header::HeaderMap;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Error, Proxy, Timeout};

use super::ServerError;
use super::address::{Address, Key};
use super::answer::message;
use super::retreat::Refused;
use crate::files;
use crate::untrusted::clean_line;
use crate::web::{Patience, Refusal, is_of_certificate, proxy, retry_after, why};

/// Columns of a server's own words in a message.
const WORDS: usize = 300;
/// Columns of what is quoted of an answer that cannot be read.
const QUOTE: usize = 120;
/// Bytes of an answer with an error that are read.
const MOST_ERROR: u64 = 1 << 16;

/// Connection settings that all requests to a server share.
pub struct Client {
    pub address: Address,
    pub patience: Patience,
    /// Longest wait for the beginning of an answer, which a long prompt or a queue may be in front of.
    pub first: Duration,
    /// Parameters that the server does not take.
    pub refused: Refused,
    key: Option<Key>,
    tls: TlsConfig,
    /// Between here and the server.
    proxy: Option<Proxy>,
}

/// One request after the other that can be ended from another thread.
#[derive(Clone)]
pub struct Connection {
    client: Arc<Client>,
    agent: Agent,
    closed: Arc<AtomicBool>,
}

/// An answer whose body has not been read.
pub struct Answer {
    pub body: Box<dyn Read + Send>,
}

impl Client {
    /// Refused where the environment names a proxy by what is no address.
    pub fn new(address: Address, key: Option<Key>, patience: Patience, first: Duration) -> Result<Self, ServerError> {
        let proxy = proxy(address.uri())
            .map_err(|error| ServerError::Unreachable { at: address.to_string(), why: why(&error) })?;
        let mut tls = TlsConfig::builder();
        if address.is_encrypted() {
            // Certificates of the system, of `SSL_CERT_FILE` and `SSL_CERT_DIR`; else those that came with
            // the program.
            let found = rustls_native_certs::load_native_certs().certs;
            let roots: Vec<Certificate> = found.iter().map(|c| Certificate::from_der(c).to_owned()).collect();
            if !roots.is_empty() {
                tls = tls.root_certs(RootCerts::from(roots));
            }
        }
        Ok(Self { address, patience, first, refused: Refused::default(), key, tls: tls.build(), proxy })
    }

    /// A connection of its own.
    pub fn connect(self: &Arc<Self>) -> Connection {
        let wait = Some(self.patience.silence);
        let config = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_idle_connections(0)
            .user_agent(concat!("bass-tui/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(wait)
            .timeout_connect(wait)
            .timeout_per_write(wait)
            .timeout_recv_response(Some(self.first))
            .timeout_per_read(Some(self.first))
            .proxy(self.proxy.clone())
            .tls_config(self.tls.clone());
        Connection { client: self.clone(), agent: config.build().into(), closed: Arc::default() }
    }

    /// The server's words, safe to show.
    pub fn words(&self, text: &str) -> String {
        clean_line(&self.without_key(text), WORDS)
    }

    fn without_key(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide(text))
    }

    /// The error for an answer that is none.
    pub fn unusable(&self, problem: &str) -> ServerError {
        ServerError::Answer { at: self.address.to_string(), problem: self.words(problem) }
    }

    /// The error for an answer that should be JSON.
    pub fn no_json(&self, text: &str) -> ServerError {
        let said = if text.trim().is_empty() {
            "it is empty".to_owned()
        } else if text.trim_start().starts_with('<') {
            page(text)
        } else {
            let text = self.words(text);
            format!("it is not JSON of a completion but \u{201c}{}\u{201d}", clean_line(&text, QUOTE))
        };
        self.unusable(&said)
    }

    /// The error for an answer that ended too early.
    pub fn cut(&self) -> ServerError {
        ServerError::Cut { at: self.address.to_string() }
    }

    /// The error for an answer that is an error itself, or becomes one after text (`has_begun`).
    pub fn gave_up(&self, error: &Value, has_begun: bool) -> ServerError {
        let said = message(error).unwrap_or_else(|| error.to_string());
        let raw = if has_begun { String::new() } else { self.without_key(&error.to_string()) };
        ServerError::GaveUp { at: self.address.to_string(), said: self.words(&said), raw }
    }

    /// The error for an answer with this status to a request to `url`.
    fn refused(&self, status: StatusCode, headers: &HeaderMap, url: &str, body: impl Read) -> ServerError {
        let at = self.address.to_string();
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if status.is_redirection() {
            let to = header("location").unwrap_or("another address");
            return ServerError::Redirect { at, to: self.words(to.split('?').next().unwrap_or(to)) };
        }
        let mut text = Vec::new();
        let _ = body.take(MOST_ERROR).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        let said = if text.trim_start().starts_with('<') {
            page(&text)
        } else {
            let json = serde_json::from_str::<Value>(&text).ok();
            json.and_then(|json| message(&json)).unwrap_or_else(|| text.to_string())
        };
        let said = self.words(&said);
        let about_key = match (status.as_u16(), &self.key) {
            (401 | 403, None) => format!("it wants a key ({} or {} in the config folder)", Key::VARIABLE, Key::FILE),
            (401 | 403, Some(_)) => "it does not take the key".to_owned(),
            _ => String::new(),
        };
        let parts = [about_key, said].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let said = if parts.is_empty() { "it does not say why".to_owned() } else { parts.join(": ") };
        let more = match (status.as_u16(), header("retry-after")) {
            (404 | 405, _) => format!(" (asked was {})", url.split('?').next().unwrap_or(url)),
            (429 | 503, Some(time)) if time.trim().parse::<f64>().is_ok() => {
                format!(" (it asks to wait {} s)", time.trim())
            }
            (429 | 503, Some(time)) => format!(" (it asks to wait until {})", self.words(time)),
            _ => String::new(),
        };
        let said = said + &more;
        ServerError::Status { at, status: status.as_u16(), said, raw: self.without_key(&text) }
    }

    /// Why there is no answer, with what to do where the other protocol would help.
    fn why(&self, error: &Error) -> String {
        let said = why(error);
        let is_encrypted = self.address.is_encrypted();
        let is_cut = matches!(error, Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof);
        if is_encrypted && (is_cut || said.contains("corrupt message")) {
            return format!("it does not speak TLS ({said}): does its address begin with http://?");
        }
        if !is_encrypted && matches!(error, Error::Protocol(_)) {
            return format!("it does not speak HTTP ({said}): does its address begin with https://?");
        }
        said
    }
}

/// The sentence about a web page in the place of an answer.
pub fn page(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let from = at + lower[at..].find('>')? + 1;
        Some(html[from..from + lower[from..].find("</title")?].trim())
    });
    let title =
        title.filter(|title| !title.is_empty()).map_or_else(String::new, |title| format!(", \u{201c}{title}\u{201d}"));
    format!("it is a web page{title}: is a proxy or a login in between, or is --server the address of a page?")
}

impl Connection {
    /// Ends what is going on, from any thread.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.agent.clone().shutdown();
    }

    /// Asks for a small JSON value.
    pub fn get(&self, path: &str, most: u64) -> Result<Value, ServerError> {
        let answer = self.ask(path, None, false)?;
        let bytes = files::read_all(answer.body, most).map_err(|error| self.broken(&error))?;
        let text = String::from_utf8_lossy(&bytes);
        serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|_| self.client.no_json(&text))
    }

    /// Asks with a JSON body. Waits and asks again where that may help; `patient` says that this includes an
    /// internal error of the server.
    pub fn post(&self, path: &str, body: &Value, patient: bool) -> Result<Answer, ServerError> {
        self.ask(path, Some(body), patient)
    }

    fn ask(&self, path: &str, body: Option<&Value>, patient: bool) -> Result<Answer, ServerError> {
        let wait = |pause: Duration| {
            let end = Instant::now() + pause;
            while !self.closed.load(Ordering::Relaxed) && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(25).min(pause));
            }
        };
        self.client.patience.ask(|| self.ask_once(path, body, patient), wait)
    }

    fn ask_once(&self, path: &str, body: Option<&Value>, patient: bool) -> Result<Answer, Refusal<ServerError>> {
        let url = self.client.address.url(path);
        let key = self.client.key.as_ref().map(Key::header);
        let wait = if body.is_some() { self.client.first } else { self.client.patience.silence };
        let response = if let Some(body) = body {
            let request = self.agent.post(&url).header("content-type", "application/json");
            let request = request.header("accept", "text/event-stream, application/json");
            let request = if let Some(key) = key { request.header("authorization", key) } else { request };
            request.send(body.to_string())
        } else {
            let (request, wait) = (self.agent.get(&url), Some(wait));
            let request = request.config().timeout_recv_response(wait).timeout_per_read(wait).build();
            let request = if let Some(key) = key { request.header("authorization", key) } else { request };
            request.call()
        };
        let (parts, body) = match response {
            Ok(response) => response.into_parts(),
            Err(error) => {
                let is_over = self.closed.load(Ordering::Relaxed);
                let at = self.client.address.to_string();
                let broke = matches!(&error, Error::Io(_) | Error::Timeout(_) | Error::ConnectionFailed);
                let is_certificate = is_of_certificate(&error);
                let why = self.client.why(&error);
                return Err(match error {
                    Error::Timeout(Timeout::RecvResponse) => {
                        Refusal::Final(ServerError::Silent { at, seconds: wait.as_secs() })
                    }
                    // Stays the same at the next try.
                    Error::HostNotFound | Error::ConnectProxyFailed(_) => {
                        Refusal::Final(ServerError::Unreachable { at, why })
                    }
                    _ if is_certificate => Refusal::Final(ServerError::Unreachable { at, why }),
                    _ if broke && !is_over => Refusal::After(None, ServerError::Unreachable { at, why }),
                    _ => Refusal::Final(self.client.unusable(&why)),
                });
            }
        };
        let reader = body.into_reader();
        let status = parts.status;
        if status.is_success() {
            return Ok(Answer { body: Box::new(reader) });
        }
        let error = self.client.refused(status, &parts.headers, &url, reader);
        let again = match status.as_u16() {
            429 | 502 | 503 | 504 => true,
            500.. => patient,
            _ => false,
        };
        Err(if again { Refusal::After(retry_after(&parts.headers), error) } else { Refusal::Final(error) })
    }

    /// The error for an answer that broke off or is not as it should be.
    pub fn broken(&self, error: &std::io::Error) -> ServerError {
        let at = self.client.address.to_string();
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        match error.kind() {
            _ if matches!(inner, Some(Error::Timeout(_))) => {
                ServerError::Silent { at, seconds: self.client.first.as_secs() }
            }
            ErrorKind::UnexpectedEof => ServerError::Cut { at },
            ErrorKind::InvalidData | ErrorKind::FileTooLarge => self.client.unusable(&error.to_string()),
            _ => ServerError::Unreachable { at, why: error.to_string() },
        }
    }
}
