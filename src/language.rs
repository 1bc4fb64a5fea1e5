//! The programming languages the program can complete and test. A leaf: data only.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// Rust.
    Rust,
    /// Go.
    Go,
}

impl Language {
    /// All languages that can be completed and tested, in the order they are shown in.
    pub const ALL: &'static [Language] =
        &[Language::Python, Language::JavaScript, Language::TypeScript, Language::Rust, Language::Go];

    /// The name used in messages, on the command line and for syntax highlighting.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::TypeScript => "typescript",
            Language::Rust => "rust",
            Language::Go => "go",
        }
    }

    /// The name as it is written in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Language::Python => "Python",
            Language::JavaScript => "JavaScript",
            Language::TypeScript => "TypeScript",
            Language::Rust => "Rust",
            Language::Go => "Go",
        }
    }

    /// File name endings, without the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Language::Python => &["py", "pyi"],
            Language::JavaScript => &["js", "mjs", "cjs", "jsx"],
            Language::TypeScript => &["ts", "mts", "cts", "tsx"],
            Language::Rust => &["rs"],
            Language::Go => &["go"],
        }
    }

    /// Beginning of a comment that ends with its line.
    pub fn line_comment(self) -> &'static str {
        if self == Language::Python { "#" } else { "//" }
    }

    /// Files of one language may import and test those of the other.
    pub fn is_kin(self, other: Self) -> bool {
        let script = |language| matches!(language, Language::JavaScript | Language::TypeScript);
        self == other || (script(self) && script(other))
    }

    /// The language of a file, by the ending of its name.
    pub fn of_path(path: &Path) -> Option<Language> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.iter().copied().find(|l| l.extensions().contains(&ending.as_str()))
    }

    /// The language with this name.
    pub fn by_name(name: &str) -> Option<Language> {
        Self::ALL.iter().copied().find(|l| l.name().eq_ignore_ascii_case(name))
    }
}
