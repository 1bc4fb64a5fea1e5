//! Rust: its row in the table of trials.
//!
//! - Tests are built with their crate, offline, and run by name, also in modules of a test program (`kind`).
//! - Without the candidate the function has no body. It keeps its body where the crate does not compile
//!   without. Failing tests that never call the function are left out and named (`probe`).
//! - A guard in each test reports its end (`guards`). The guard's own test runs last and shows that nothing
//!   ended the process early. It also covers tests that macros make.
//! - Tests in the candidate's own file must stay the user's to the byte. Changes there, or redefined judging
//!   macros, are `Tampered`. Crates that are macros are refused, because they run inside of the compiler.
//! - Packages are compiled once per project and cached (`cache_folder`). A candidate's build links to them
//!   and cannot write through the links. A test program is cached for exactly its text, a baseline for all
//!   files but the body.
//! - Unchanged files get an old time, others a new one, since cargo compares times.
//! - The project's settings of cargo hold (`settings`). Lint levels do not, as they must not apply to guards.
//!   A candidate that passed is built once more with them, where some of the crate can fail (`lints`).
//! - Further tests, which only confirm a pass, run as whole programs with the candidate. Where one fails,
//!   each file is compared as above (`confirm`).
//! - A lone file is a crate without packages that rustc compiles by itself; its tests are a module of it
//!   (`lone`).

mod baseline;
mod bench;
mod build_cache;
mod cache_folder;
mod confirm;
mod crates;
mod edit;
mod examples;
mod guards;
mod kind;
mod libtest;
mod lints;
mod lone;
mod manifest;
mod probe;
mod project;
mod settings;
mod suspicious;
mod tests_in_text;

use build_cache::BuildCaches;

use std::path::Path;

use crate::code::Target;
use crate::language::Language;
use crate::trial::language::row::{
    Context, LanguageRow, Lookup, Marks, Packages, Project, Recipe, Tool, Trial, TrialError, TrialLanguage,
    VacuityBody, Verdict,
};

pub const ROW: LanguageRow = LanguageRow {
    languages: &[Language::Rust],
    suspicious: suspicious::TABLE,
    bodies: [
        VacuityBody { what: "returns default values", statements: default },
        VacuityBody { what: "panics", statements: |_| vec!["panic!(\"control\")".to_owned()] },
    ],
    of_bodies: &[],
    counts_calls: true,
    lay_out: lone::lay_out,
    tests: Marks {
        about,
        // A program of tests may have a harness of its own.
        begins: &["test", "fn main("],
        inside: &["#[cfg(test)]", "#[test]"],
        is_left_out,
        foreign: |root, own| {
            let (root, own) = (root.to_path_buf(), own.to_path_buf());
            Box::new(move |file| crates::is_foreign(&root, file, &own))
        },
        ..Marks::NONE
    },
    examples: examples::found,
    runs_examples: |_| true,
    open: || Box::new(Rust { tool: Lookup::new(&RECIPE), caches: BuildCaches::default() }),
};

/// A body that returns what the types have as default, which some have not.
fn default(target: &Target) -> Vec<String> {
    let body = |written: &String| {
        let name = written.split('<').next().unwrap_or_default();
        if name.ends_with("Result") { "Ok(Default::default())" } else { "Default::default()" }
    };
    let opaque = |written: &String| written.contains("impl ");
    match target.returned().as_deref() {
        Some([]) => vec!["return;".to_owned()],
        Some([written]) if !opaque(written) => vec![body(written).to_owned()],
        _ => Vec::new(),
    }
}

/// The file that a tests file may test: for integration tests, or for a module of tests.
fn about(path: &Path) -> Option<String> {
    let (stem, folder) = (path.file_stem()?.to_str()?, path.parent()?.file_name().and_then(|name| name.to_str()));
    if ["test", "tests"].contains(&stem) {
        return Some(folder.filter(|folder| *folder != "src").unwrap_or("lib").to_owned());
    }
    let named = ["_test", "_tests"].iter().find_map(|end| stem.strip_suffix(end));
    let in_folder = || path.parent().is_some_and(|folder| folder.iter().any(|part| part == "tests"));
    named.or_else(|| in_folder().then(|| stem.trim_start_matches("test_"))).map(str::to_owned)
}

/// Returns true if a file lies in a folder of tests and declares none itself: a shared module.
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

/// A compiler, and its build cache.
#[derive(Debug)]
struct Rust {
    tool: Lookup,
    caches: BuildCaches,
}

impl TrialLanguage for Rust {
    fn tool(&self) -> Result<&Tool, TrialError> {
        self.tool.get()
    }

    fn packages(&self) -> Packages {
        bench::packages()
    }

    fn run(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
        let rustc = self.tool()?;
        let cache = self.caches.of(at, rustc, project)?;
        let verdict = project::run(at, rustc, &cache, project, trial)?.by("cargo test");
        Ok(if project.lone.is_some() { lone::told(project, verdict) } else { verdict })
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
