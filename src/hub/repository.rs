//! How a model on the hub is written: `ORG/NAME`, `ORG/NAME@REVISION`, `ORG/NAME:FILE.gguf`.

use std::fmt;

/// A repository of the hub, and what of it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// `ORG/NAME`.
    pub id: String,
    /// A branch, a tag or a commit.
    pub revision: String,
    /// A GGUF file, or a pattern of its name; `None` for the model in Hugging Face layout.
    pub file: Option<String>,
}

impl Repository {
    /// The revision where none is written.
    pub const MAIN: &str = "main";

    /// Reads the name `text`; `None` if it has no form of these.
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, file) = match text.split_once(':') {
            Some((rest, file)) => (rest, Some(file)),
            None => (text, None),
        };
        let (id, revision) = rest.split_once('@').unwrap_or((rest, Self::MAIN));
        let whole = is_id(id) && is_revision(revision) && file.is_none_or(is_path);
        whole.then(|| Self { id: id.to_owned(), revision: revision.to_owned(), file: file.map(str::to_owned) })
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
        for other in [
            "qwen", "a/b/c", "./a", "../a", "/a", "a/", "~/a", "a/..", "a/b..c", "a b/c", "", "C:/x y", "a/b@", "a/b:",
            "a/b@../x", "a/b@v1/../..", "a/b:../x.gguf", "a/b:/x.gguf", "a/b:x\\y", "a/b:c:d", "a/b@x y", "a/b:x\n",
        ] {
            assert_eq!(Repository::parse(other), None, "{other:?}");
        }
        let whole = Repository::parse("a/b@v1:x.gguf").unwrap();
        assert_eq!((whole.id.as_str(), whole.revision.as_str(), whole.file.as_deref()), ("a/b", "v1", Some("x.gguf")));
        assert_eq!(whole.folder_name(), "models--a--b");
    }
}
