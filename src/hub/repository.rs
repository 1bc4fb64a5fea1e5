//! How a model on the hub is written: `ORG/NAME`, `ORG/NAME@REVISION`, `ORG/NAME:FILE.gguf`,
//! `ORG/NAME:Q4_K_M`; the same as other programs write it, `hf.co/ORG/NAME:Q4_K_M` and `-hf ORG/NAME:Q4_K_M`.

use std::fmt;

/// A repository of the hub, and what of it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// `ORG/NAME`.
    pub id: String,
    /// A branch, a tag or a commit.
    pub revision: String,
    /// A GGUF file, a pattern of its name or its quantisation; `None` for the model in Hugging Face layout,
    /// or the usual file of a repository that has GGUF files only.
    pub file: Option<String>,
}

impl Repository {
    /// The revision where none is written.
    pub const MAIN: &str = "main";

    /// Reads the name `text`; `None` if it has no form of these.
    pub fn parse(text: &str) -> Option<Self> {
        let text = without_prefix(text);
        let (rest, file) = match text.split_once(':') {
            Some((rest, file)) => (rest, Some(file)),
            None => (text, None),
        };
        let (id, revision) = rest.split_once('@').unwrap_or((rest, Self::MAIN));
        let whole = is_id(id) && is_revision(revision) && file.is_none_or(is_path);
        whole.then(|| Self { id: id.to_owned(), revision: revision.to_owned(), file: file.map(str::to_owned) })
    }

    /// Both mean one model, as far as their texts say; the case of a file's name does not count.
    pub fn is_same(&self, other: &Self) -> bool {
        let file = |repository: &Self| repository.file.as_ref().map(|file| file.to_lowercase());
        (&self.id, &self.revision, file(self)) == (&other.id, &other.revision, file(other))
    }

    /// Its folder in the cache.
    pub fn folder_name(&self) -> String {
        format!("models--{}", self.id.replace('/', "--"))
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)?;
        if self.revision != Self::MAIN {
            write!(f, "@{}", self.revision)?;
        }
        self.file.as_ref().map_or(Ok(()), |file| write!(f, ":{file}"))
    }
}

/// Options that other programs name a repository with.
pub const OPTIONS: &[&str] = &["-hf", "--hf", "-hfr", "--hf-repo"];

/// Addresses that other programs write in front of a repository.
const PREFIXES: &[&str] = &["https://", "hf.co/", "huggingface.co/"];

/// The text without what other programs write in front of `ORG/NAME`.
fn without_prefix(text: &str) -> &str {
    let mut rest = text;
    if let Some((option, value)) = rest.split_once(char::is_whitespace)
        && OPTIONS.contains(&option)
    {
        rest = value.trim_start();
    }
    for prefix in PREFIXES {
        let same = rest.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix));
        rest = if same { &rest[prefix.len()..] } else { rest };
    }
    rest
}

/// `text` has the form `ORG/NAME`.
fn is_id(text: &str) -> bool {
    let part = |p: &str| {
        p.starts_with(|c: char| c.is_ascii_alphanumeric())
            && p.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
            && !p.contains("..")
    };
    text.split_once('/').is_some_and(|(org, name)| part(org) && part(name))
}

/// `text` may be the name of a branch, tag or commit (`refs/pr/3` is one).
fn is_revision(text: &str) -> bool {
    is_path(text) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b))
}

/// `text` is a path that stays inside its folder, and that every system can have.
pub(super) fn is_path(text: &str) -> bool {
    let part = |p: &str| !p.is_empty() && p != "." && p != ".." && p.len() <= 255;
    text.len() <= 1024
        && !text.contains(['\\', ':', '\0'])
        && !text.contains(char::is_control)
        && text.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_told_from_paths() {
        for text in ["Qwen/Qwen2.5-Coder-0.5B", "a/b_c", "a/b@v1", "a/b@refs/pr/3", "a/b:x.gguf", "a/b@v1:q/x-*.gguf"] {
            assert_eq!(Repository::parse(text).map(|r| r.to_string()).as_deref(), Some(text));
        }
        for (text, plain) in [
            ("hf.co/a/b:Q4_K_M", "a/b:Q4_K_M"),
            ("HF.co/a/b", "a/b"),
            ("huggingface.co/a/b:UD-Q4_K_XL", "a/b:UD-Q4_K_XL"),
            ("https://huggingface.co/a/b@v1", "a/b@v1"),
            ("-hf a/b:q4_k_m", "a/b:q4_k_m"),
            ("--hf-repo  hf.co/a/b", "a/b"),
        ] {
            assert_eq!(Repository::parse(text).map(|r| r.to_string()).as_deref(), Some(plain));
        }
        let same = |a: &str, b: &str| Repository::parse(a).unwrap().is_same(&Repository::parse(b).unwrap());
        assert!(same("hf.co/a/b:q4_k_m", "a/b:Q4_K_M") && !same("a/b:Q4_K_M", "a/b") && !same("a/b", "A/b"));
        for other in [
            "hf.co/a", "-hf", "-hf a", "-h a/b", "ftp://a/b", "https://a/b/c", "https://evil.org/a/b", "qwen", "a/b/c",
            "./a", "../a", "/a", "a/", "~/a", "a/..", "a/b..c", "a b/c", "", "C:/x y", "a/b@", "a/b:", "a/b@../x",
            "a/b@v1/../..", "a/b:../x.gguf", "a/b:/x.gguf", "a/b:x\\y", "a/b:c:d", "a/b@x y", "a/b:x\n",
        ] {
            assert_eq!(Repository::parse(other), None, "{other:?}");
        }
        let whole = Repository::parse("a/b@v1:x.gguf").unwrap();
        assert_eq!((whole.id.as_str(), whole.revision.as_str(), whole.file.as_deref()), ("a/b", "v1", Some("x.gguf")));
        assert_eq!(whole.folder_name(), "models--a--b");
    }
}
