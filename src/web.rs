//! Parts that all requests over the network share: addresses, reasons, and when one is made again.

use std::net::IpAddr;
use std::time::Duration;

use ureq::http::{HeaderMap, Uri};
use ureq::{Error, Proxy};

/// How long is waited.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a connection, for the beginning of an answer, and for the next bytes of one.
    pub silence: Duration,
    /// Between two tries; doubled with every failure.
    pub pause: Duration,
    /// Tries without progress before it is given up.
    pub tries: u32,
    /// Longest wait that a server may ask for.
    pub longest: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            silence: Duration::from_secs(30),
            pause: Duration::from_secs(1),
            tries: 5,
            longest: Duration::from_secs(90),
        }
    }
}

/// Why a request has no answer.
pub enum Refusal<E> {
    /// Another try would have none, either.
    Final(E),
    /// It may have one after this time; `None`: after the usual pause.
    After(Option<Duration>, E),
}

impl Patience {
    /// Time limits of a test.
    #[cfg(test)]
    pub const QUICK: Self = Self {
        silence: Duration::from_millis(400),
        pause: Duration::from_millis(1),
        tries: 3,
        longest: Duration::from_secs(3),
    };

    /// How long to wait after so many failures.
    pub fn after(&self, failures: u32) -> Duration {
        self.pause * 2_u32.saturating_pow(failures.min(6))
    }

    /// Makes a request until it has an answer, or none is to be hoped for. `wait` is how a pause is spent.
    pub fn ask<T, E>(
        &self,
        mut once: impl FnMut() -> Result<T, Refusal<E>>,
        mut wait: impl FnMut(Duration),
    ) -> Result<T, E> {
        let mut failures = 0;
        let mut waited = Duration::ZERO;
        loop {
            let (pause, error) = match once() {
                Ok(answer) => return Ok(answer),
                Err(Refusal::Final(error)) => return Err(error),
                Err(Refusal::After(pause, error)) => (pause.unwrap_or(self.after(failures)), error),
            };
            failures += 1;
            waited = waited.saturating_add(pause);
            if failures >= self.tries || waited > self.longest {
                return Err(error);
            }
            wait(pause);
        }
    }
}

/// How long a server asks to wait, if it says so in seconds.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Scheme, host and port.
pub fn origin(uri: &Uri) -> (Option<&str>, Option<&str>, Option<u16>) {
    let usual = if uri.scheme_str() == Some("http") { 80 } else { 443 };
    (uri.scheme_str(), uri.host(), uri.port_u16().or(Some(usual)))
}

/// Requests to it stay inside this machine.
pub fn is_this_machine(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse();
    host == "localhost" || ip.is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// The proxy of the environment for requests to `uri`: that of its scheme (`HTTPS_PROXY`, `HTTP_PROXY`), else
/// `ALL_PROXY`; none where `NO_PROXY` names the host, and none to this machine.
pub fn proxy(uri: &Uri) -> Result<Option<Proxy>, Error> {
    // Read by the library, which takes the variables of any scheme.
    let excepted = Proxy::try_from_env().is_some_and(|any| any.is_no_proxy(uri));
    if excepted || is_this_machine(uri) {
        return Ok(None);
    }
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    proxy_name(uri.scheme_str(), &set).map(|address| Proxy::new(&address)).transpose()
}

fn proxy_name(scheme: Option<&str>, set: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let of_scheme = if scheme == Some("https") { ["https_proxy", "HTTPS_PROXY"] } else { ["http_proxy", "HTTP_PROXY"] };
    of_scheme.into_iter().chain(["all_proxy", "ALL_PROXY"]).find_map(set)
}

/// The host of an address, for messages: neither user and password nor the signature of a link.
pub fn host_or(url: &str, other: &str) -> String {
    url.parse::<Uri>().ok().and_then(|uri| Some(uri.host()?.to_owned())).unwrap_or_else(|| other.to_owned())
}

/// Returns true if a connection failed because of the server's certificate.
pub fn is_of_certificate(error: &Error) -> bool {
    let said = match error {
        Error::Io(error) => error.to_string(),
        Error::Rustls(error) => error.to_string(),
        _ => String::new(),
    };
    said.contains("certificate")
}

/// A short reason, without the address.
pub fn why(error: &Error) -> String {
    let said = match error {
        Error::HostNotFound => "no such host".to_owned(),
        Error::Timeout(_) => "no answer in time".to_owned(),
        Error::BadUri(_) => "its address is wrong".to_owned(),
        Error::InvalidProxyUrl => "the address of the proxy is wrong".to_owned(),
        Error::ConnectProxyFailed(why) => format!("the proxy does not connect: {why}"),
        Error::Io(error) => error.to_string(),
        Error::Rustls(error) => error.to_string(),
        other => other.to_string(),
    };
    let advice = " (those of the system are believed, and those in SSL_CERT_FILE)";
    if is_of_certificate(error) { said + advice } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_that_of_the_scheme_or_that_of_all() {
        let of = |scheme, set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
            proxy_name(Some(scheme), &value).unwrap_or_default()
        };
        let both = [("HTTP_PROXY", "a"), ("https_proxy", "b"), ("HTTPS_PROXY", "c"), ("ALL_PROXY", "d")];
        assert_eq!((of("http", &both), of("https", &both)), ("a".to_owned(), "b".to_owned()));
        assert_eq!((of("http", &both[1..]), of("https", &both[3..])), ("d".to_owned(), "d".to_owned()));
        assert_eq!(of("https", &both[..1]), "", "that of the other scheme is none");
    }

    #[test]
    fn the_wait_that_a_server_asks_for_is_read_in_seconds() {
        let of = |value: &'static str| {
            let value = ureq::http::HeaderValue::from_static(value);
            retry_after(&HeaderMap::from_iter([(ureq::http::header::RETRY_AFTER, value)]))
        };
        assert_eq!((of("2"), of(" 1.5 ")), (Some(Duration::from_secs(2)), Some(Duration::from_millis(1500))));
        assert_eq!((of("-1"), of("nan"), of("1e300"), of("Wed, 21 Oct 2037 07:28:00 GMT")), (None, None, None, None));
    }

    #[test]
    fn only_loopback_is_this_machine() {
        let inside = |url: &str| is_this_machine(&url.parse().unwrap());
        for url in ["http://localhost:1/a", "http://127.0.0.1", "http://127.9.9.9:80", "http://[::1]:8/"] {
            assert!(inside(url), "{url}");
        }
        for url in ["http://localhost.evil.org", "http://127.0.0.1.evil.org", "http://10.0.0.1", "http://[::2]/"] {
            assert!(!inside(url), "{url}");
        }
    }
}
