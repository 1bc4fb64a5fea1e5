//! Where the hub is, who asks, and where the token may go.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, parse_pem};

use super::HubError;
use super::cache::hub_home;
use crate::files;
use crate::web::{is_this_machine, origin};

/// Where the hub is, and who asks.
#[derive(Clone)]
pub struct Access {
    /// Its address, without a slash at the end.
    pub endpoint: String,
    /// Token of the user; never shown.
    pub token: Option<String>,
    /// Certificates to believe instead of the usual ones.
    pub(super) certificates: Option<Arc<Vec<Certificate<'static>>>>,
}

impl Access {
    /// Variables that move the file of the token, the strongest first.
    pub const TOKEN_FILE_VARIABLES: &[&str] = &["HF_TOKEN_PATH", "HF_HOME", "XDG_CACHE_HOME"];

    const HUGGING_FACE: &str = "https://huggingface.co";

    /// As the hub's own tools have it: `HF_ENDPOINT`, `HF_TOKEN`, else the file of `hf auth login`. Proxies
    /// are those of `HTTPS_PROXY` and `NO_PROXY`, certificates those of `SSL_CERT_FILE`.
    pub fn find() -> Result<Self, HubError> {
        let home = directories::BaseDirs::new().map(|d| d.home_dir().to_path_buf());
        Self::find_in(&|name| std::env::var_os(name), home.as_deref())
    }

    fn find_in(variable: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Result<Self, HubError> {
        let set = |name: &str| variable(name).and_then(|v| v.into_string().ok()).filter(|v| !v.trim().is_empty());
        let endpoint = set("HF_ENDPOINT").map_or_else(|| Self::HUGGING_FACE.to_owned(), |e| e.trim().to_owned());
        let mut access = Self::new(&endpoint)?;
        let token = set("HF_TOKEN").or_else(|| set("HUGGING_FACE_HUB_TOKEN")).or_else(|| {
            let file = token_file_in(variable, home)?;
            files::text(&file, 1 << 12).ok()
        });
        if let Some(token) = token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty()) {
            if !token.bytes().all(|b| b.is_ascii_graphic()) {
                let problem = "a token has letters and digits only".to_owned();
                return Err(HubError::Setting { name: "HF_TOKEN", problem });
            }
            access.token = Some(token);
        }
        if let Some(path) = set("SSL_CERT_FILE") {
            access.certificates = Some(Arc::new(certificates(Path::new(&path))?));
        }
        Ok(access)
    }

    /// The file of `hf auth login`, which need not exist.
    pub fn token_file() -> Option<PathBuf> {
        let home = directories::BaseDirs::new().map(|d| d.home_dir().to_path_buf());
        token_file_in(&|name| std::env::var_os(name), home.as_deref())
    }

    /// A hub at this address, without a token.
    pub fn new(endpoint: &str) -> Result<Self, HubError> {
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let uri = endpoint.parse::<Uri>().ok();
        let known = uri.as_ref().and_then(Uri::scheme_str).is_some_and(|scheme| ["http", "https"].contains(&scheme));
        let named =
            uri.as_ref().and_then(Uri::authority).is_some_and(|a| !a.host().is_empty() && !a.as_str().contains('@'));
        if !known || !named {
            let problem =
                "expected the address of a hub, such as https://huggingface.co, without user and password".to_owned();
            return Err(HubError::Setting { name: "HF_ENDPOINT", problem });
        }
        Ok(Self { endpoint, token: None, certificates: None })
    }

    /// The token, where it may be sent: to the hub itself, in the clear only inside this machine.
    pub(super) fn token_for(&self, uri: &Uri) -> Option<&str> {
        let hub = self.endpoint.parse::<Uri>().ok()?;
        let same = origin(uri) == origin(&hub) && (uri.scheme_str() == Some("https") || is_this_machine(uri));
        self.token.as_deref().filter(|_| same)
    }

    /// State of the token, for messages.
    pub(super) fn about_token(&self) -> &'static str {
        if self.token.is_some() { "the one that is set has no access" } else { "none is set" }
    }
}

fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, HubError> {
    let failed = |problem: String| HubError::Setting { name: "SSL_CERT_FILE", problem };
    let pem = files::read(path, files::TEXT).map_err(|e| failed(format!("{} cannot be read: {e}", path.display())))?;
    let found: Vec<_> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if found.is_empty() { Err(failed(format!("{} has no certificates", path.display()))) } else { Ok(found) }
}

fn token_file_in(variable: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Option<PathBuf> {
    let named = variable("HF_TOKEN_PATH").filter(|path| !path.to_string_lossy().trim().is_empty());
    named.map(PathBuf::from).or_else(|| Some(hub_home(variable, home)?.join("token")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_goes_to_the_hub_and_nowhere_else() {
        let with = |endpoint: &str| Access { token: Some("hf_x".to_owned()), ..Access::new(endpoint).unwrap() };
        let goes = |access: &Access, to: &str| access.token_for(&to.parse().unwrap()).is_some();
        let hub = with("https://huggingface.co/");
        assert!(goes(&hub, "https://huggingface.co/a/b") && goes(&hub, "https://huggingface.co:443/a"));
        for other in [
            "https://cdn.huggingface.co/a", "https://huggingface.co.evil.org/", "http://huggingface.co/a",
            "https://huggingface.co:8443/a", "https://huggingface.co@evil.org/",
        ] {
            assert!(!goes(&hub, other), "{other}");
        }
        assert!(goes(&with("http://127.0.0.1:80"), "http://127.0.0.1/a"));
        assert!(!goes(&with("http://mirror.lan"), "http://mirror.lan/a"), "in the clear");
    }

    #[test]
    fn settings_are_those_of_the_hubs_tools() {
        let home = tempfile::tempdir().unwrap();
        let find = |variables: &[(&str, &str)]| {
            let variables: Vec<(String, OsString)> =
                variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).into())).collect();
            let get = move |name: &str| variables.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
            Access::find_in(&get, Some(home.path()))
        };
        let token = |variables: &[(&str, &str)]| find(variables).unwrap().token;
        assert_eq!(find(&[]).unwrap().endpoint, "https://huggingface.co");
        assert_eq!(find(&[("HF_ENDPOINT", "http://m:8/")]).unwrap().endpoint, "http://m:8");
        assert_eq!(token(&[]), None);
        assert_eq!(token(&[("HF_TOKEN", " hf_a\n")]).as_deref(), Some("hf_a"));
        let folder = home.path().join(".cache/huggingface");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("token"), "hf_b\n").unwrap();
        assert_eq!(token(&[]).as_deref(), Some("hf_b"));
        assert_eq!(token(&[("HF_HOME", "/nowhere")]), None);
        let message = |variables: &[(&str, &str)]| find(variables).err().unwrap().to_string();
        for wrong in ["huggingface.co", "ftp://x", "https://", "https://u:p@x"] {
            let message = message(&[("HF_ENDPOINT", wrong)]);
            assert!(message.starts_with("HF_ENDPOINT cannot be used: expected the address"), "{message}");
        }
        assert!(!message(&[("HF_TOKEN", "secret word")]).contains("secret"));
        assert!(message(&[("SSL_CERT_FILE", "/nowhere")]).contains("/nowhere"));
    }
}
