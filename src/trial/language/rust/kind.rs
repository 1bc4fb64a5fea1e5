//! The test program of a tests file, and its module there, by cargo's folder conventions. Pure.

use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A program that cargo builds from tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A file of its own below `tests/`.
    Test(String),
    /// The tests inside of the library.
    Lib,
    /// The tests inside of `src/main.rs` and its modules.
    Main,
    /// The tests inside of a further program, by name.
    Bin(String),
}

impl Kind {
    /// Cargo's arguments to build it.
    pub fn arguments(&self) -> Vec<String> {
        match self {
            Kind::Test(name) => vec!["--test".to_owned(), name.clone()],
            Kind::Lib => vec!["--lib".to_owned()],
            Kind::Main => vec!["--bins".to_owned()],
            Kind::Bin(name) => vec!["--bin".to_owned(), name.clone()],
        }
    }

    /// Returns true if a line of cargo's output names this program, when several are built.
    pub fn is_named_by(&self, line: &str) -> bool {
        *self != Kind::Main || line.contains("unittests src/main.rs ")
    }

    /// Returns true if the tests stand in the code that they test.
    pub fn is_inline(&self) -> bool {
        !matches!(self, Kind::Test(_))
    }
}

/// The test programs that a tests file, relative to its package, may belong to, the more likely first. Empty
/// for a file that is no source of tests. `has` returns true if a file exists. `declaring` returns the test
/// programs that declare a module of this name in a file of its own.
pub fn kinds(file: &Path, has: impl Fn(&str) -> bool, declaring: impl Fn(&str) -> Vec<String>) -> Vec<Kind> {
    if file.extension() != Some(OsStr::new("rs")) {
        return Vec::new();
    }
    let Some(parts) = file.iter().map(OsStr::to_str).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let stem = |name: &str| name.trim_end_matches(".rs").to_owned();
    let with_module = |name: &str| declaring(name).into_iter().map(Kind::Test);
    match parts.as_slice() {
        // A crate may declare that only some of these files are programs, and the others are modules of them.
        ["tests", name] => [Kind::Test(stem(name))].into_iter().chain(with_module(&stem(name))).collect(),
        ["tests", name, ..] if has(&format!("tests/{name}/main.rs")) => vec![Kind::Test((*name).to_owned())],
        ["tests", name, ..] => with_module(name).collect(),
        ["src", "lib.rs"] => vec![Kind::Lib],
        ["src", "main.rs"] => vec![Kind::Main],
        ["src", "bin", name] | ["src", "bin", name, _, ..] => vec![Kind::Bin(stem(name))],
        ["src", ..] => {
            // A module may belong to the library, to the program, or to both.
            let both = [("src/lib.rs", Kind::Lib), ("src/main.rs", Kind::Main)];
            both.into_iter().filter(|(path, _)| has(path)).map(|(_, kind)| kind).collect()
        }
        _ => Vec::new(),
    }
}

/// The module path of a file in a program, which begins the names of its tests.
pub fn module(file: &Path, kind: &Kind) -> String {
    let parts: Vec<&str> = file.iter().filter_map(OsStr::to_str).collect();
    let inside = match (parts.as_slice(), kind) {
        (["tests", own, inside @ ..], Kind::Test(name)) if own.trim_end_matches(".rs") == name => inside,
        (["src", "bin", _, rest @ ..] | ["src" | "tests", rest @ ..], _) => rest,
        _ => &[],
    };
    let is_root = matches!(inside, [] | ["lib.rs" | "main.rs"]);
    let names = inside.iter().map(|part| part.trim_end_matches(".rs")).filter(|part| *part != "mod");
    if is_root { String::new() } else { names.collect::<Vec<_>>().join("::") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_built_into_what_its_place_says() {
        let of = |file: &str| {
            let has = |path: &str| path != "tests/common/main.rs" && path != "tests/parts/main.rs";
            let declaring =
                |name: &str| if name == "parts" { vec!["all".to_owned(), "more".to_owned()] } else { Vec::new() };
            let kinds = kinds(Path::new(file), has, declaring);
            kinds.iter().map(|kind| kind.arguments().join(" ")).collect::<Vec<_>>().join(", ")
        };
        let files = ["tests/a.rs", "tests/a/main.rs", "tests/a/b/c.rs", "tests/parts/mod.rs", "tests/parts.rs"];
        let parts = ["--test all, --test more", "--test parts, --test all, --test more"];
        assert_eq!(files.map(of), ["--test a", "--test a", "--test a", parts[0], parts[1]]);
        let files = ["src/lib.rs", "src/main.rs", "src/bin/one.rs", "src/bin/one/help.rs", "src/a/b.rs"];
        assert_eq!(files.map(of), ["--lib", "--bins", "--bin one", "--bin one", "--lib, --bins"]);
        let has_main = |path: &str| path == "src/main.rs";
        assert_eq!(kinds(Path::new("src/a.rs"), has_main, |_| Vec::new()), [Kind::Main]);
        for none in ["tests/common/mod.rs", "benches/a.rs", "build.rs", "src/a.txt", "tests/data.json"] {
            assert_eq!(of(none), "", "{none}");
        }
    }

    #[test]
    fn a_file_is_a_module_by_its_place() {
        for (file, path) in [
            ("src/lib.rs", ""),
            ("src/main.rs", ""),
            ("src/a.rs", "a"),
            ("src/a/mod.rs", "a"),
            ("src/a/b.rs", "a::b"),
            ("src/bin/one.rs", ""),
            ("src/bin/one/main.rs", ""),
            ("src/bin/one/help.rs", "help"),
            ("tests/a.rs", ""),
            ("tests/a/main.rs", ""),
            ("tests/a/b.rs", "b"),
            ("tests/a/b/mod.rs", "b"),
            ("tests/b.rs", "b"),
            ("tests/b/mod.rs", "b"),
            ("tests/b/c.rs", "b::c"),
        ] {
            assert_eq!(module(Path::new(file), &Kind::Test("a".to_owned())), path, "{file}");
        }
    }
}
