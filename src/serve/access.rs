//! Access control: programs of this machine, or clients with the token; never a page in a browser.

use std::fmt;
use std::hint::black_box;
use std::path::Path;

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use hyper::http::Uri;
use sha2::{Digest, Sha256};

use super::answer::Refusal;
use crate::{files, web};

/// The access token; never shown.
pub struct Token([u8; 32]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Shortest token. Shorter ones could be guessed.
const SHORTEST: usize = 16;

impl Token {
    /// The environment variable with the token.
    pub const VARIABLE: &str = "BASS_TUI_SERVE_TOKEN";

    /// The token of the file, which only its owner may read, else the token of the variable.
    pub fn find(file: Option<&Path>) -> Result<Option<Self>, String> {
        let (from, text) = match (file, std::env::var_os(Self::VARIABLE).filter(|text| !text.is_empty())) {
            (Some(path), _) => {
                let text = files::private_text(path, 1 << 12);
                let wrong = |error| format!("the file of the token, {}, cannot be used: {error}", path.display());
                (path.display().to_string(), text.map_err(wrong)?)
            }
            (None, Some(text)) => (Self::VARIABLE.to_owned(), text.into_string().unwrap_or_default()),
            (None, None) => return Ok(None),
        };
        Self::of(&text).map(Some).ok_or_else(|| {
            format!("the token in {from} is not usable: expected are at least {SHORTEST} letters, digits and signs, without spaces")
        })
    }

    fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(Sha256::digest(text).into()))
    }

    /// Returns true if the token is this text. Takes constant time.
    fn is(&self, text: &str) -> bool {
        let given: [u8; 32] = Sha256::digest(text).into();
        black_box(self.0.iter().zip(given).fold(0, |differing, (own, given)| differing | (own ^ given))) == 0
    }
}

/// Access rules.
#[derive(Debug)]
pub struct Access {
    /// The required token. `None`: any program of this machine has access.
    pub token: Option<Token>,
}

impl Access {
    /// Admits a request, or refuses it with the reason. `open` is true if it asks for public facts.
    pub fn check(&self, headers: &HeaderMap, open: bool) -> Result<(), Refusal> {
        let text = |name| headers.get(name).map(|value: &hyper::header::HeaderValue| value.to_str().unwrap_or(""));
        let host = text(HOST).unwrap_or_default();
        if let Some(origin) = text(ORIGIN)
            && origin.strip_prefix("http://") != Some(host)
        {
            return Err(Refusal::forbidden("requests of pages in a browser are not answered: this one has an Origin"));
        }
        match &self.token {
            // A web page could point a host name of its own to this address.
            None if !format!("http://{host}").parse().is_ok_and(|uri: Uri| web::is_this_machine(&uri)) => {
                Err(Refusal::forbidden(
                    "requests are answered under the names localhost, 127.0.0.1 and [::1] only: this one has another Host",
                ))
            }
            Some(token) if !open => {
                let given = text(AUTHORIZATION).and_then(|text| {
                    let (scheme, token) = text.split_once(' ')?;
                    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
                });
                if given.is_some_and(|given| token.is(given)) { Ok(()) } else { Err(Refusal::unauthorized()) }
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    const SECRET: &str = "a-token-of-tests";

    fn allows(access: &Access, given: &[(HeaderName, &str)], open: bool) -> u16 {
        let headers = given.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        access.check(&headers.collect(), open).map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
    }

    #[test]
    fn only_this_machine_asks_and_no_page() {
        let access = Access { token: None };
        for host in ["localhost", "localhost:8017", "127.0.0.1:8017", "[::1]:8017"] {
            assert_eq!(allows(&access, &[(HOST, host)], false), 200, "{host}");
        }
        for host in ["evil.example:8017", "127.0.0.1.evil.example", "10.0.0.1", "", "localhost.evil:1"] {
            assert_eq!(allows(&access, &[(HOST, host)], false), 403, "{host}");
        }
        assert_eq!(allows(&access, &[], false), 403);
        for origin in ["http://evil.example", "null", "http://localhost:3000", "https://localhost:8017"] {
            assert_eq!(allows(&access, &[(HOST, "localhost:8017"), (ORIGIN, origin)], false), 403, "{origin}");
        }
        let own = [(HOST, "localhost:8017"), (ORIGIN, "http://localhost:8017")];
        assert_eq!(allows(&access, &own, false), 200);
    }

    #[test]
    fn who_has_the_token_asks() {
        let access = Access { token: Token::of(SECRET) };
        let with = |text: &str, open| allows(&access, &[(HOST, "gpu.lan:8017"), (AUTHORIZATION, text)], open);
        assert_eq!(with("Bearer a-token-of-tests", false), 200);
        assert_eq!(with("bearer  a-token-of-tests", false), 200);
        for wrong in ["Bearer a-token-of-test", "Bearer ", "Basic a-token-of-tests", "a-token-of-tests", ""] {
            assert_eq!((with(wrong, false), with(wrong, true)), (401, 200), "{wrong}");
        }
        let page = [(HOST, "a"), (AUTHORIZATION, "Bearer a-token-of-tests"), (ORIGIN, "http://b")];
        assert_eq!(allows(&access, &page, true), 403, "a page with the token is a page");
        assert!(Token::of("short").is_none() && Token::of("sixteen characters").is_none());
        assert_eq!(format!("{access:?}"), "Access { token: Some(Token) }");
    }
}
