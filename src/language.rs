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

/// Facts of a language.
struct Facts {
    name: &'static str,
    other_names: &'static [&'static str],
    title: &'static str,
    extensions: &'static [&'static str],
    line_comment: &'static str,
    indent: &'static str,
    checks: &'static [&'static str],
    shares_folders: bool,
    is_observed: bool,
}

const PYTHON: Facts = Facts {
    name: "python",
    other_names: &["py", "python3"],
    title: "Python",
    extensions: &["py", "pyi"],
    line_comment: "#",
    indent: "    ",
    checks: &["assert", "raise"],
    shares_folders: false,
    is_observed: true,
};

const JAVASCRIPT: Facts = Facts {
    name: "javascript",
    other_names: &["js", "node"],
    title: "JavaScript",
    extensions: &["js", "mjs", "cjs", "jsx"],
    line_comment: "//",
    indent: "    ",
    checks: &["assert", "expect(", "throw ", "throws("],
    shares_folders: false,
    is_observed: true,
};

const TYPESCRIPT: Facts = Facts {
    name: "typescript",
    other_names: &["ts"],
    title: "TypeScript",
    extensions: &["ts", "mts", "cts", "tsx"],
    ..JAVASCRIPT
};

const RUST: Facts = Facts {
    name: "rust",
    other_names: &["rs"],
    title: "Rust",
    extensions: &["rs"],
    line_comment: "//",
    indent: "    ",
    checks: &["assert", "panic!", "unwrap()"],
    shares_folders: false,
    is_observed: false,
};

const GO: Facts = Facts {
    name: "go",
    other_names: &["golang"],
    title: "Go",
    extensions: &["go"],
    line_comment: "//",
    indent: "\t",
    checks: &["assert", "require.", "t.Error", "t.Fatal", "t.Fail", "panic("],
    shares_folders: true,
    is_observed: false,
};

impl Language {
    /// All languages that can be completed and tested, in the order they are shown in.
    pub const ALL: &'static [Language] =
        &[Language::Python, Language::JavaScript, Language::TypeScript, Language::Rust, Language::Go];

    fn facts(self) -> &'static Facts {
        match self {
            Language::Python => &PYTHON,
            Language::JavaScript => &JAVASCRIPT,
            Language::TypeScript => &TYPESCRIPT,
            Language::Rust => &RUST,
            Language::Go => &GO,
        }
    }

    /// The name used in messages, on the command line and for syntax highlighting.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The name as it is written in a sentence.
    pub fn title(self) -> &'static str {
        self.facts().title
    }

    /// File name endings, without the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        self.facts().extensions
    }

    /// The mark of a comment that ends with its line.
    pub fn line_comment(self) -> &'static str {
        self.facts().line_comment
    }

    /// One level of indentation.
    pub fn indent(self) -> &'static str {
        self.facts().indent
    }

    /// Words of tests that check something.
    pub fn checks(self) -> &'static [&'static str] {
        self.facts().checks
    }

    /// True if the files of a folder see each other without imports.
    pub fn shares_folders(self) -> bool {
        self.facts().shares_folders
    }

    /// True if trials call functions on inputs, and tell what they do.
    pub fn is_observed(self) -> bool {
        self.facts().is_observed
    }

    /// True if files of one language may import and test those of the other.
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

    /// The language with this name or another one that data sets use.
    pub fn by_any_name(name: &str) -> Option<Language> {
        let has = |names: &[&str]| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        Self::by_name(name).or_else(|| Self::ALL.iter().copied().find(|l| has(l.facts().other_names)))
    }
}
