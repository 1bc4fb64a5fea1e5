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
    /// Without a slash or `/v1` at its end.
    base: String,
    uri: Uri,
}

impl Address {
    /// Reads `http://HOST:PORT`, with or without `/v1`.
    pub fn parse(given: &str) -> Result<Self, ServerError> {
        let base = given.trim().trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base).to_owned();
        let shown = base.rsplit_once('@').map_or(base.as_str(), |(_, host)| host).to_owned();
        let wrong = |problem| ServerError::Address { given: shown.clone(), problem };
        let uri: Uri = base.parse().map_err(|_| wrong(""))?;
        if !uri.scheme_str().is_some_and(|scheme| ["http", "https"].contains(&scheme)) {
            return Err(wrong(""));
        }
        match uri.authority() {
            Some(authority) if authority.as_str().contains('@') => {
                Err(wrong(", without user and password: a key is given in another way (bass-tui complete --help)"))
            }
            Some(authority) if !authority.host().is_empty() && uri.query().is_none() => Ok(Self { base, uri }),
            _ => Err(wrong("")),
        }
    }

    /// The address of `path`, which begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
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
        f.write_str(&self.base)
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
            assert_eq!(address(text).url("/v1/models"), "http://127.0.0.1:8000/v1/models");
        }
        assert_eq!(address("https://h/api/v1").url("/v1/x"), "https://h/api/v1/x");
        for wrong in ["", "127.0.0.1:8000", "ftp://h", "http://", "http://h?key=1", "file:///etc/passwd"] {
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
