//! Requests to the hub: one redirect after the other, so that the token goes to the hub and nowhere else.

use std::io::Read;
use std::time::Duration;

use ureq::http::{HeaderMap, StatusCode, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Error};

use super::access::Access;
use super::{HubError, Repository};
use crate::web::{Patience, Refusal, host_or, origin, retry_after, why};

/// Name for an address without a host.
const HUB: &str = "the hub";

/// An answer whose body has not been read.
pub struct Answer {
    pub status: StatusCode,
    /// Names the content, as the hub says it.
    pub etag: Option<String>,
    /// Bytes of the whole file, as the hub says it.
    pub size: Option<u64>,
    /// Headers of the last answer.
    pub headers: HeaderMap,
    /// The body; ends with an error where the connection does.
    pub body: Box<dyn Read>,
}

/// How far redirects are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// To the end.
    All,
    /// As long as the hub itself answers.
    Hub,
}

/// Requests to one hub.
pub struct Client {
    pub access: Access,
    pub patience: Patience,
    agent: Agent,
}

impl Client {
    /// Most redirects.
    const REDIRECTS: usize = 10;

    pub fn new(access: Access, patience: Patience) -> Self {
        let mut tls = TlsConfig::builder();
        if let Some(certificates) = &access.certificates {
            tls = tls.root_certs(RootCerts::Specific(certificates.clone()));
        }
        let silence = Some(patience.silence);
        let config = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("bass-tui/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(silence)
            .timeout_connect(silence)
            .timeout_recv_response(silence)
            .timeout_per_read(silence)
            .timeout_per_write(silence)
            .tls_config(tls.build())
            .build();
        Self { access, patience, agent: config.into() }
    }

    /// The hub's host, for messages.
    pub fn host(&self) -> String {
        host_or(&self.access.endpoint, HUB)
    }

    /// Asks for `path` at the hub, from byte `from` on. Waits and tries again where the hub asks for that.
    pub fn get(&self, path: &str, from: u64, follow: Follow) -> Result<Answer, HubError> {
        let once = || match self.get_once(&format!("{}{path}", self.access.endpoint), from, follow) {
            Ok(answer) if answer.status == StatusCode::TOO_MANY_REQUESTS => {
                let asked = retry_after(&answer.headers);
                let pause = asked.unwrap_or(self.patience.pause.max(Duration::from_secs(1)));
                let error = HubError::Busy { host: self.host(), seconds: pause.as_secs().max(1) };
                Err(Refusal::After(Some(pause), error))
            }
            Ok(answer) if answer.status.is_server_error() => {
                let status = answer.status.as_u16();
                let error = HubError::Status { host: self.host(), status, what: path.to_owned() };
                Err(Refusal::After(None, error))
            }
            Err(error @ HubError::Cut { .. }) => Err(Refusal::After(None, error)),
            other => other.map_err(Refusal::Final),
        };
        self.patience.ask(once, std::thread::sleep)
    }

    /// How long to wait after so many failures.
    pub fn pause(&self, failures: u32) -> Duration {
        self.patience.after(failures)
    }

    fn get_once(&self, url: &str, from: u64, follow: Follow) -> Result<Answer, HubError> {
        let mut url = url.to_owned();
        let (mut etag, mut size) = (None, None);
        for _ in 0..=Self::REDIRECTS {
            let bad = |problem: &str| HubError::Answer {
                host: host_or(&url, HUB),
                what: "a request".to_owned(),
                problem: problem.to_owned(),
            };
            let uri: Uri = url.parse().map_err(|_| bad("it leads to something that is no address"))?;
            let mut request = self.agent.get(&url).header("accept-encoding", "identity");
            if let Some(token) = self.access.token_for(&uri) {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            if from > 0 {
                request = request.header("range", format!("bytes={from}-"));
            }
            let response = request.call().map_err(|e| self.failed(&url, &e))?;
            let (parts, body) = response.into_parts();
            let text = |name: &str| parts.headers.get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
            // Names and sizes count as far as the hub itself says them.
            let is_hub = self.access.endpoint.parse::<Uri>().is_ok_and(|hub| origin(&hub) == origin(&uri));
            if is_hub {
                etag = etag.or_else(|| text("x-linked-etag"));
                size = size.or_else(|| text("x-linked-size")?.parse().ok());
            }
            let target = text("location").filter(|_| parts.status.is_redirection());
            let Some(target) = target.map(|target| resolve(&uri, &target)) else {
                if is_hub && parts.status.is_success() {
                    etag = etag.or_else(|| text("etag"));
                    size = size.or_else(|| text("content-length")?.parse().ok().filter(|_| from == 0));
                }
                let etag = etag.map(|tag| tag.trim_start_matches("W/").trim_matches('"').to_owned());
                let body = Box::new(body.into_reader());
                return Ok(Answer { status: parts.status, etag, size, headers: parts.headers, body });
            };
            let target = target.ok_or_else(|| bad("it leads to something that is no address"))?;
            if uri.scheme_str() == Some("https") && target.scheme_str() != Some("https") {
                return Err(bad("it leads from https to an address without encryption"));
            }
            if follow == Follow::Hub && origin(&target) != origin(&uri) {
                let etag = etag.map(|tag| tag.trim_start_matches("W/").trim_matches('"').to_owned());
                let body = Box::new(std::io::empty());
                return Ok(Answer { status: StatusCode::OK, etag, size, headers: parts.headers, body });
            }
            url = target.to_string();
        }
        Err(HubError::Answer {
            host: self.host(),
            what: "a request".to_owned(),
            problem: "it leads in circles".to_owned(),
        })
    }

    /// Why there is no answer: no connection, or one that broke and may hold the next time.
    fn failed(&self, url: &str, error: &Error) -> HubError {
        use std::io::ErrorKind as Kind;
        let (host, why) = (host_or(url, HUB), why(error));
        let broke = [Kind::UnexpectedEof, Kind::ConnectionReset, Kind::ConnectionAborted, Kind::BrokenPipe];
        match error {
            Error::Io(error) if broke.contains(&error.kind()) => {
                HubError::Cut { host, times: self.patience.tries, why }
            }
            _ => HubError::Unreachable { host, why },
        }
    }

    /// The error for an answer that is none.
    pub fn refused(&self, answer: &Answer, repository: &Repository, what: &str) -> HubError {
        let (id, endpoint, token) = (repository.id.clone(), self.access.endpoint.clone(), self.access.about_token());
        let code = answer.headers.get("x-error-code").and_then(|v| v.to_str().ok()).unwrap_or_default();
        match (answer.status.as_u16(), code) {
            (401 | 403, "GatedRepo") | (403, _) => HubError::Gated { id, endpoint, token },
            (401, _) | (404, "RepoNotFound") => HubError::NoRepository { id, endpoint, token },
            (404, "RevisionNotFound") => {
                HubError::NotThere { id, what: format!("revision {}", repository.revision), endpoint }
            }
            (404, _) => HubError::NotThere { id, what: what.to_owned(), endpoint },
            (status, _) => HubError::Status { host: self.host(), status, what: what.to_owned() },
        }
    }
}

/// Where a redirect from `from` leads.
fn resolve(from: &Uri, target: &str) -> Option<Uri> {
    let whole = if target.starts_with("//") {
        format!("{}:{target}", from.scheme_str()?)
    } else if target.starts_with('/') {
        format!("{}://{}{target}", from.scheme_str()?, from.authority()?)
    } else {
        target.to_owned()
    };
    let uri: Uri = whole.parse().ok()?;
    (uri.host().is_some() && ["http", "https"].contains(&uri.scheme_str()?)).then_some(uri)
}

/// Percent encoding of a path's part; `keep` are further characters that stay.
pub fn encode(text: &str, keep: &[u8]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || keep.contains(&byte) {
            out.push(byte.into());
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_to_addresses() {
        let from: Uri = "https://h:1/a/b?c".parse().unwrap();
        let to = |target: &str| resolve(&from, target).map(|uri| uri.to_string());
        assert_eq!(to("/x/y?z").as_deref(), Some("https://h:1/x/y?z"));
        assert_eq!(to("//o/x").as_deref(), Some("https://o/x"));
        assert_eq!(to("http://o:2/x").as_deref(), Some("http://o:2/x"));
        assert_eq!((to("file:///etc/passwd"), to("x"), to("")), (None, None, None));
        assert_eq!(
            (encode("a b/ü", b"/").as_str(), encode("refs/pr/1", b"").as_str()),
            ("a%20b/%C3%BC", "refs%2Fpr%2F1")
        );
    }
}
