//! Where a server is, and the key that goes to it and nowhere else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use ureq::http::Uri;

use super::ServerError;
use crate::files;
use crate::web::{is_this_machine, origin};

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What the addresses of requests begin with, without a slash at its end.
    base: String,
    /// A `?` and what follows it in the addresses of requests, or nothing. Not shown: it may hold a key.
    query: String,
    /// As it was given, without what is not shown.
    shown: String,
    /// Asked are conversations, or completions, where it says so.
    chat: Option<bool>,
    uri: Uri,
}

/// Ends of an address that are those of a request, and whether that is one for conversations.
const ENDPOINTS: &[(&str, bool)] = &[("/chat/completions", true), ("/completions", false)];
/// The version that an address without a path means.
const VERSION: &str = "/v1";

impl Address {
    /// Reads `http://HOST:PORT`, with or without a path, which may be that of requests; see [`Self::other`].
    pub fn parse(given: &str) -> Result<Self, ServerError> {
        let (path, query) = given.trim().split_once('?').unwrap_or((given.trim(), ""));
        let base = path.trim_end_matches('/');
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        let shown = base.rsplit_once('@').map_or(base, |(_, host)| host).to_owned();
        let wrong = |problem| ServerError::Address { given: shown.clone(), problem };
        let uri: Uri = base.parse().map_err(|_| wrong(""))?;
        if !uri.scheme_str().is_some_and(|scheme| ["http", "https"].contains(&scheme)) {
            return Err(wrong(""));
        }
        match uri.authority() {
            Some(authority) if authority.as_str().contains('@') => {
                return Err(wrong(
                    ", without user and password: a key is given in another way (bass-tui complete --help)",
                ));
            }
            Some(authority) if !authority.host().is_empty() && !base.contains('#') => {}
            _ => return Err(wrong("")),
        }
        let endpoint = ENDPOINTS.iter().find_map(|&(end, chat)| Some((base.strip_suffix(end)?, chat)));
        let (base, chat) = endpoint.map_or((base, None), |(base, chat)| (base, Some(chat)));
        let shown = base.strip_suffix(VERSION).unwrap_or(base).to_owned();
        let is_bare = chat.is_none() && uri.path() == "/";
        let base = if is_bare { format!("{base}{VERSION}") } else { base.to_owned() };
        Ok(Self { base, query, shown, chat, uri })
    }

    /// The address in its other reading: `/v1` is left out where nothing was given, and added to a path
    /// without any version. `None` where there is but one reading.
    pub fn other(&self) -> Option<Self> {
        let is_version = |part: &str| {
            let digits = part.strip_prefix('v');
            digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
        };
        let base = match self.uri.path() {
            _ if self.chat.is_some() => return None,
            "/" => self.shown.clone(),
            path if path.split('/').any(is_version) => return None,
            _ => format!("{}{VERSION}", self.base),
        };
        Some(Self { base, ..self.clone() })
    }

    /// What it says about how the server is asked: in conversations, or for completions.
    pub fn chat(&self) -> Option<bool> {
        self.chat
    }

    /// The address of `path`, which begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}{}", self.base, self.query)
    }

    /// It as the parts of an address.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Requests stay inside this machine.
    pub fn is_inside(&self) -> bool {
        is_this_machine(&self.uri)
    }

    /// Requests are encrypted on their way.
    pub fn is_encrypted(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Secret that proves to a server who asks; never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// The variable that holds the key of the server of this run.
    pub const VARIABLE: &str = "BASS_TUI_SERVER_KEY";
    /// The file in the config folder that holds keys by address.
    pub const FILE: &str = "server-keys.toml";

    /// The key for `address`: of the variable, else of the file, which nobody else may read.
    pub fn find(address: &Address, file: &Path) -> Result<Option<Self>, ServerError> {
        Self::find_in(address, &|name| std::env::var_os(name), file)
    }

    fn find_in(
        address: &Address,
        variable: &dyn Fn(&str) -> Option<OsString>,
        file: &Path,
    ) -> Result<Option<Self>, ServerError> {
        let found = match variable(Self::VARIABLE).filter(|value| !value.is_empty()) {
            Some(value) => Some((Self::VARIABLE.to_owned(), value.into_string().unwrap_or_default())),
            None => Self::of_file(address, file)?.map(|key| (file.display().to_string(), key)),
        };
        let Some((from, key)) = found else { return Ok(None) };
        let wrong = |problem: &str| ServerError::Key { from, problem: problem.to_owned() };
        let key = key.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("expected are letters, digits and signs, without spaces"));
        }
        if !address.is_encrypted() && !address.is_inside() {
            return Err(wrong("it would be sent in the clear to another machine; expected is an address with https"));
        }
        Ok(Some(Self(key.to_owned())))
    }

    fn of_file(address: &Address, file: &Path) -> Result<Option<String>, ServerError> {
        let wrong = |problem: String| ServerError::Key { from: file.display().to_string(), problem };
        let text = match files::private_text(file, 1 << 16) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(wrong(format!("the file cannot be used: {error}"))),
        };
        // The parser's message quotes the file, so it is not shown.
        let form = || wrong("expected are lines like \"https://api.example.com\" = \"KEY\"".to_owned());
        let keys: BTreeMap<String, String> = toml::from_str(&text).map_err(|_| form())?;
        let own = |(name, _): &(String, String)| {
            Address::parse(name).is_ok_and(|known| origin(&known.uri) == origin(&address.uri))
        };
        Ok(keys.into_iter().find(own).map(|(_, key)| key))
    }

    /// A key of a test's own.
    #[cfg(test)]
    pub fn of_test(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The header that carries it.
    pub fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// `text` without it.
    pub fn hide(&self, text: &str) -> String {
        text.replace(&self.0, "***")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn address(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn addresses_are_read_in_all_usual_forms() {
        for text in ["http://127.0.0.1:8000", "http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1/"] {
            assert_eq!(address(text).url("/models"), "http://127.0.0.1:8000/v1/models");
            assert_eq!(address(text).to_string(), "http://127.0.0.1:8000");
        }
        let cases = [
            ("https://h/api/v1", "https://h/api/v1/x", None, None),
            ("https://h/api/v3/", "https://h/api/v3/x", None, None),
            ("https://h/v1beta/openai", "https://h/v1beta/openai/x", None, None),
            ("https://h/api/chat/completions?a=b", "https://h/api/x?a=b", None, Some(true)),
            ("https://h/completions/", "https://h/x", None, Some(false)),
            ("https://h/openai/v1/?a=b", "https://h/openai/v1/x?a=b", None, None),
            ("https://h/llm?a=b", "https://h/llm/x?a=b", Some("https://h/llm/v1/x?a=b"), None),
            ("https://h", "https://h/v1/x", Some("https://h/x"), None),
            ("https://h?", "https://h/v1/x", Some("https://h/x"), None),
        ];
        for (text, url, other, chat) in cases {
            let address = address(text);
            let other_url = address.other().map(|other| other.url("/x"));
            assert_eq!(
                (address.url("/x").as_str(), other_url.as_deref(), address.chat()),
                (url, other, chat),
                "{text}"
            );
            assert!(!address.to_string().contains('?'), "{text}");
        }
        for wrong in ["", "127.0.0.1:8000", "ftp://h", "http://", "http://h#key", "http:///v1", "file:///etc/passwd"] {
            let said = Address::parse(wrong).unwrap_err().to_string();
            assert!(said.contains("expected the address of a server"), "{said}");
        }
        let said = Address::parse("https://me:s3cret@h").unwrap_err().to_string();
        assert!(said.contains("without user and password") && !said.contains("s3cret"), "{said}");
    }

    #[test]
    fn a_key_is_found_for_its_own_server_only_and_never_sent_in_the_clear() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(Key::FILE);
        let with = |server: &str, set: &'static str| {
            let set = move |name: &str| (name == Key::VARIABLE && !set.is_empty()).then(|| set.into());
            Key::find_in(&address(server), &set, &file)
        };
        let key = |text: &str| Some(Key(text.to_owned()));
        assert_eq!(with("https://h", "").unwrap(), None);
        assert_eq!(with("https://h", " k1\n").unwrap(), key("k1"));
        assert_eq!(with("http://127.0.0.1:8", "k1").unwrap(), key("k1"));
        let said = |found: Result<Option<Key>, ServerError>| found.unwrap_err().to_string();
        assert!(said(with("http://gpu.lan:8000", "k1")).contains("in the clear"));
        std::fs::write(&file, "'https://h/v1' = 'k2'\n'http://127.0.0.1:8' = 'k3'\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(said(with("https://h", "")).contains("chmod 600"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(with("https://h:443", "").unwrap(), key("k2"));
        assert_eq!(with("http://localhost:8", "").unwrap(), None, "another name is another server");
        for other in ["https://h.evil.org", "https://h:444", "http://h"] {
            assert_eq!(with(other, "").unwrap(), None, "{other}");
        }
        std::fs::write(&file, "k4secret").unwrap();
        let wrong = said(with("https://h", ""));
        assert!(!wrong.contains("k4secret") && wrong.contains("expected are lines like"), "{wrong}");
        assert!(!said(with("https://h", "two words")).contains("words"));
        assert_eq!(format!("{:?}", key("k1")), "Some(Key)");
    }
}
