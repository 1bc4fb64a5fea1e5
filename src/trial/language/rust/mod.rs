//! Rust: its row in the table of trials.

mod baseline;
mod bench;
mod edit;
mod examples;
mod guards;
mod kind;
mod libtest;
mod probe;
mod project;
mod reach;
mod single;
mod store;
mod tests_in_text;
mod workshop;

use workshop::Workshops;

use std::path::Path;

use crate::language::Language;
use crate::trial::language::row::{
    Context, Lookup, Marks, Project, Recipe, Row, Tool, Trial, TrialError, TrialLanguage, Verdict,
};

pub const ROW: Row = Row {
    languages: &[Language::Rust],
    reach: reach::REACH,
    // Tests in a crate are compiled with it.
    needs_project: |sources| sources.project.has_above("Cargo.toml"),
    tests: Marks { about, begins: &["test"], inside: &["#[cfg(test)]", "#[test]"], is_left_out, ..Marks::NONE },
    examples: examples::found,
    open: || Box::new(Rust { tool: Lookup::new(&RECIPE), workshops: Workshops::default() }),
};

/// The file that a file of tests may be about: of integration tests, or of a module of tests.
fn about(path: &Path) -> Option<String> {
    let (stem, folder) = (path.file_stem()?.to_str()?, path.parent()?.file_name().and_then(|name| name.to_str()));
    if ["test", "tests"].contains(&stem) {
        return Some(folder.filter(|folder| *folder != "src").unwrap_or("lib").to_owned());
    }
    let named = ["_test", "_tests"].iter().find_map(|end| stem.strip_suffix(end));
    let in_folder = || path.parent().is_some_and(|folder| folder.iter().any(|part| part == "tests"));
    named.or_else(|| in_folder().then(|| stem.trim_start_matches("test_"))).map(str::to_owned)
}

/// Whether a file lies in a folder of the tests and marks none itself: a module that others share.
fn is_left_out(path: &Path, text: &str) -> bool {
    let is_deeper = path.iter().skip_while(|part| *part != "tests").count() > 2 && !path.ends_with("main.rs");
    let is_mark = |line: &str| {
        let attribute = line.trim_start().starts_with("#[") && line.contains("test") && !line.contains("cfg");
        attribute || line.contains("proptest!") || line.contains("quickcheck!")
    };
    is_deeper && !text.lines().any(is_mark)
}

const RECIPE: Recipe = Recipe {
    language: "Rust",
    names: &["rustc"],
    questions: &[&["--version"], &["--print", "sysroot"]],
    from_root: true,
    oldest: (1, 56),
    place: |places| {
        let sysroot = places.first()?.canonicalize().ok()?;
        Some((sysroot.join("bin/rustc"), vec![sysroot]))
    },
};

/// A compiler, and what was built with it.
#[derive(Debug)]
struct Rust {
    tool: Lookup,
    workshops: Workshops,
}

impl TrialLanguage for Rust {
    fn tool(&self) -> Result<&Tool, TrialError> {
        self.tool.get()
    }

    fn run_alone(&self, at: &Context, trial: &Trial) -> Result<Verdict, TrialError> {
        single::run(at, self.tool()?, trial)
    }

    fn run_in_project(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
        let rustc = self.tool()?;
        let workshop = self.workshops.of(at, rustc, project)?;
        project::run(at, rustc, &workshop, project, trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_that_tests_share_are_no_tests_files() {
        let shared = "#![cfg(test_all)]\nuse std::fmt;\npub fn test(x: i64) {}\n";
        for (path, text, expected) in [
            ("tests/common/mod.rs", shared, true),
            ("crates/a/tests/node/mod.rs", shared, true),
            ("tests/a.rs", shared, false),
            ("tests/it/main.rs", shared, false),
            ("tests/it/numbers.rs", "    #[tokio::test]\nasync fn a() {}\n", false),
            ("tests/it/cases.rs", "#[test_case(1; \"one\")]\nfn a(x: i64) {}\n", false),
            ("tests/it/all.rs", "proptest! {}\n", false),
            ("src/tests.rs", shared, false),
        ] {
            assert_eq!(is_left_out(Path::new(path), text), expected, "{path}");
        }
    }
}
