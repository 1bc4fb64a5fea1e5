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
    tests: Marks { about, begins: &["test"], inside: &["#[cfg(test)]", "#[test]"], ..Marks::NONE },
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
