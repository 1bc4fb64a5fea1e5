//! The examples in the documentation of a function, run as `cargo test --doc` runs them. They become a tests
//! file that exists in copies only. They come from the user's text, whatever a candidate writes into its own.
//!
//! Each becomes one test, with hidden lines, an own `main`, `?`, `should_panic` and conditions in `cfg_attr`.
//! Lines keep their place, so that messages name the user's file. Examples that do not build are left out and
//! named. Not read: indented blocks, documentation of other items (except the method in a trait of the same
//! file), and what macros such as `include_str!` bring. Private functions and programs cannot be reached by
//! examples of a crate.

mod blocks;
mod documentation;
mod text;

use std::path::Path;
use std::sync::Arc;

use super::baseline::{self, Baseline};
use super::bench::Bench;
use super::guards::closing;
use super::kind::Kind;
use super::tests_in_text::body;
use super::workshop::package_name;
use crate::code::{Place, Target, blanked};
use crate::hash;
use crate::language::Language;
use crate::trial::language::row::{Project, Tests, Trial, TrialError, Verdict};
use blocks::Example;

/// The name of that tests file. No file of the user's has it.
const FILE: &str = "bass_tui_examples.rs";

/// The examples of a function as tests, and true if one of them states an expected result; or the reason why
/// there are none.
pub fn found(target: &Target) -> Result<(Tests, bool), String> {
    let (examples, is_partly_elsewhere) = examples(target);
    let path = target.path.as_deref();
    let (Some(path), false) = (path, examples.is_empty()) else {
        let elsewhere = if is_partly_elsewhere { "; what a macro such as include_str! brings is not read" } else { "" };
        return Err(format!("the documentation of {} has no example that is run{elsewhere}", target.name));
    };
    let tells = examples.iter().any(Example::tells);
    let Some(project) = Project::around(path, None).filter(|project| project.has_above("Cargo.toml")) else {
        return Ok((Tests::of_examples(target.path.as_deref()), tells));
    };
    if !is_in_library(&project) {
        return Err(format!("{} is in no library, and examples can only call what is in one", path.display()));
    }
    if !is_public(target) {
        return Err(format!("{} is private, and examples can only call what is public", target.name));
    }
    let tests = Some(project.package.join("tests").join(FILE));
    Ok((Tests::Project(Project { tests, ..project }), tells))
}

/// Returns true if a tests file is the one of examples.
pub fn are_in(tests_file: &Path) -> bool {
    tests_file.ends_with(FILE)
}

/// The examples of the function under test, for copies of its crate.
pub struct Asked {
    examples: Vec<Example>,
    library: String,
    /// The user's text without the function's body.
    rest: String,
}

impl Asked {
    /// The examples of a trial. `None` if its tests are others.
    pub fn of(bench: &Bench, trial: &Trial) -> Result<Option<Self>, TrialError> {
        if !are_in(bench.tests_file) {
            return Ok(None);
        }
        let text = trial.stub.clone().map_or_else(|| bench.original(&bench.project.file), Ok)?;
        let manifest = bench.base.read(&bench.project.package.join("Cargo.toml")).unwrap_or_default();
        let target = target_in(&text, trial);
        let rest = target
            .as_ref()
            .and_then(|target| Some([text.get(..target.body.start)?, text.get(target.body.end..)?].concat()));
        let examples = target.map(|target| examples(&target).0).unwrap_or_default();
        Ok(Some(Self { examples, library: library(&manifest).unwrap_or_default(), rest: rest.unwrap_or_default() }))
    }

    /// The baseline of the examples without the candidate, and their text. Examples that do not build are
    /// left out and named.
    pub fn known(
        mut self,
        bench: &Bench,
        kinds: &[Kind],
        function: Option<&str>,
    ) -> Result<(String, Result<Arc<Baseline>, Verdict>), TrialError> {
        let text = self.text();
        let parts: Vec<String> = kinds.iter().flat_map(|kind| bench.parts(kind, &self.rest, &text)).collect();
        let key = format!("examples/{:016x}.json", hash::of(parts.join("\n").as_bytes()));
        let mut left_out: Vec<(String, String)> = bench.workshop.store.read(&key).unwrap_or_default();
        loop {
            self.examples.retain(|example| !left_out.iter().any(|(name, _)| *name == text::name(example)));
            let known = baseline::known(bench, kinds, &self.text(), function)?;
            let Some(complaints) = known.as_ref().ok().and_then(|known| known.complaints.as_deref()) else {
                let known = known.map(|known| without(known, &left_out));
                return Ok((self.text(), known));
            };
            let blamed = self.blamed(complaints);
            if blamed.is_empty() {
                return Ok((self.text(), known));
            }
            left_out.extend(blamed);
            bench.workshop.store.write(&key, &left_out);
        }
    }

    fn text(&self) -> String {
        text::tests_file(&self.examples, &self.library, false)
    }

    /// The examples that have compiler errors, each with its error.
    fn blamed(&self, output: &str) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (what, line) in complaints(output) {
            let is_in = |example: &&Example| {
                let last = example.code.last().map_or(example.line, |(number, _)| *number);
                (example.line..=last + 1).contains(&line)
            };
            let name = self.examples.iter().rev().find(is_in).map(text::name);
            all.extend(
                name.filter(|name| all.iter().all(|(known, _)| known != name)).map(|name| (name, what.to_owned())),
            );
        }
        all
    }
}

/// The baseline without these tests.
fn without(known: Arc<Baseline>, left_out: &[(String, String)]) -> Arc<Baseline> {
    if left_out.is_empty() {
        return known;
    }
    let named: Vec<String> = left_out.iter().map(|(name, what)| format!("{name} ({what})")).collect();
    let own = format!("left out, as they do not build: {}", named.join(", "));
    let left_out = if known.left_out.is_empty() { own } else { format!("{}; {own}", known.left_out) };
    Arc::new(Baseline { left_out, ..(*known).clone() })
}

/// Compiler errors about the file of examples, each with its line, from 0.
pub fn complaints(output: &str) -> Vec<(&str, usize)> {
    let (mut all, mut said) = (Vec::new(), None);
    for line in output.lines() {
        if line.starts_with("error") {
            said = Some(line);
        } else if let Some(place) = line.trim_start().strip_prefix("--> ")
            // The first place is the one of the error; others explain it.
            && let Some(said) = said.take()
            && let Some((_, at)) = place.rsplit_once(&format!("{FILE}:"))
        {
            let number = at.split(':').next().and_then(|number| number.parse::<usize>().ok());
            all.extend(number.map(|number| (said, number.saturating_sub(1))));
        }
    }
    all
}

/// The examples of a trial as tests in a module of its only file.
pub fn inside(source: &str, trial: &Trial, library: &str) -> String {
    let examples = target_in(source, trial).map(|target| examples(&target).0).unwrap_or_default();
    text::tests_file(&examples, library, true)
}

/// Messages about the examples, with their places in the user's file.
pub fn told(project: &Project, verdict: Verdict) -> Verdict {
    let Some(tests) = project.tests.as_deref().filter(|tests| are_in(tests)) else { return verdict };
    let text = |path: &Path| path.display().to_string();
    // Cargo names files relative to the workspace or to the package.
    let short = |path: &Path| text(path.strip_prefix(&project.package).unwrap_or(path));
    let told =
        |said: &str| said.replace(&text(tests), &text(&project.file)).replace(&short(tests), &short(&project.file));
    Verdict {
        message: told(&verdict.message),
        output: told(&verdict.output),
        failed: verdict.failed.map(|(test, why)| (test, told(&why))),
        ..verdict
    }
}

/// A manifest that declares the file of examples as a target of its package. `None` if cargo finds it by its
/// folder.
pub fn manifest_with_target(manifest: &str) -> Option<String> {
    let table: toml::Table = manifest.parse().ok()?;
    let finds_tests = table.get("package")?.get("autotests").and_then(toml::Value::as_bool).unwrap_or(true);
    let name = FILE.trim_end_matches(".rs");
    (!finds_tests).then(|| format!("{manifest}\n[[test]]\nname = \"{name}\"\npath = \"tests/{FILE}\"\n"))
}

/// The import name of a package's library.
fn library(manifest: &str) -> Option<String> {
    let own = manifest.parse::<toml::Table>().ok()?;
    let own = own.get("lib").and_then(|lib| Some(lib.get("name")?.as_str()?.to_owned()));
    Some(own.or_else(|| package_name(manifest))?.replace('-', "_"))
}

/// Returns true if a file is part of its package's library, by its path.
fn is_in_library(project: &Project) -> bool {
    let package = project.root.join(&project.package);
    let manifest = std::fs::read_to_string(package.join("Cargo.toml")).unwrap_or_default();
    let manifest: toml::Table = manifest.parse().unwrap_or_default();
    let path = manifest.get("lib").and_then(|lib| lib.get("path")?.as_str()).unwrap_or("src/lib.rs");
    let Ok(file) = project.file.strip_prefix(&project.package) else { return false };
    let is_below = |folder: &str| file.starts_with(folder);
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let is_of_program = file == Path::new("src/main.rs") || file == Path::new("build.rs");
    let is_elsewhere = ["src/bin", "tests", "examples", "benches"].into_iter().any(is_below);
    package.join(path).is_file() && file.starts_with(folder) && !is_of_program && !is_elsewhere
}

/// Returns true if code outside of the crate may call the function, by its head and the item around it.
fn is_public(target: &Target) -> bool {
    let start = target.function.start;
    let head = target.text.get(start..target.body.start).unwrap_or_default();
    let around = target.around().last().and_then(|head| target.text.get(head.clone())).unwrap_or_default();
    let is_of_trait = around.contains(" for ") || around.split_whitespace().any(|word| word == "trait");
    let code = blanked(Language::Rust, head);
    let words: Vec<&str> = code.split("fn ").next().unwrap_or_default().split_whitespace().collect();
    // `pub(crate)` is another word.
    is_of_trait || words.iter().any(|word| *word == "pub" || word.ends_with("]pub"))
}

/// The function under test in a text.
fn target_in(text: &str, trial: &Trial) -> Option<Target> {
    let place = trial.entry_point.clone().map_or(Place::Any, Place::Function);
    Target::in_text(text, Language::Rust, &place).ok()
}

/// The examples in the documentation of a function, and true if macros add more. A method without
/// documentation has that of its trait.
fn examples(target: &Target) -> (Vec<Example>, bool) {
    let code = blanked(Language::Rust, &target.text);
    let (own, is_partly_elsewhere) = examples_above(&target.text, &code, target.function.start, target.body.start);
    if !own.is_empty() {
        return (own, is_partly_elsewhere);
    }
    let declared = declaration(target, &code).map(|at| examples_above(&target.text, &code, at, code.len()));
    declared.unwrap_or((own, is_partly_elsewhere))
}

/// The examples above the item that begins at `at`, whose head ends at `end`.
fn examples_above(text: &str, code: &str, at: usize, end: usize) -> (Vec<Example>, bool) {
    // The documentation may be longer than the part the target holds.
    let start = code.get(..at).and_then(|code| code.rfind([';', '{', '}'])).map_or(0, |end| end + 1);
    let head = text.get(start..end).unwrap_or_default();
    let (lines, is_partly_elsewhere) = documentation::lines(head, text[..start].matches('\n').count());
    let mut examples = blocks::examples(&lines);
    examples.retain(text::is_whole);
    (examples, is_partly_elsewhere)
}

/// The place where a trait of this file declares the target's method.
fn declaration(target: &Target, code: &str) -> Option<usize> {
    let around = code.get(target.around().last()?.clone())?;
    let (name, _) = around.trim_start().strip_prefix("impl")?.split_once(" for ")?;
    // Skips the parameters of the `impl`.
    let mut depth = 0;
    let path = name.trim_start_matches(|c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth > 0 || c == '>' || c.is_whitespace()
    });
    let name = path.split('<').next()?.trim().rsplit("::").next()?;
    let method = target.name.rsplit('.').next()?;
    let is_word = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let after = |keyword: &str, from: usize, end: usize| {
        let part = code.get(from..end)?;
        let mut found = part.match_indices(keyword).filter(|(at, _)| is_word(&part[at + keyword.len()..]));
        found.next().map(|(at, _)| from + at)
    };
    let declared = after(&format!("trait {name}"), 0, code.len())?;
    let open = body(code, declared)?;
    after(&format!("fn {method}"), open, closing(code, open))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Target {
        Target::in_text(text, Language::Rust, &Place::Function("f".to_owned())).unwrap()
    }

    #[test]
    fn only_what_others_may_call_has_examples() {
        let is_public = |text: &str| is_public(&target(text));
        assert!(is_public("#[inline]\npub const fn f() {}\n") && is_public("impl A for B {\n    fn f() {}\n}\n"));
        assert!(is_public("pub trait A {\n    fn f() {}\n}\n") && is_public("#[inline]pub unsafe fn f() {}\n"));
        assert!(!is_public("/// pub\nfn f() {}\n") && !is_public("pub(crate) fn f() {}\n"));
        assert!(!is_public("impl B {\n    fn f() {}\n}\n"));
    }

    #[test]
    fn documentation_of_any_length_and_of_the_trait_counts() {
        let example = "/// ```\n/// f();\n/// ```\n";
        let long = format!("#![allow(a)]\nuse a;\n{example}{}pub fn f() {{}}\n", "/// More.\n".repeat(2000));
        let lines = |text: &str| examples(&target(text)).0.iter().map(|example| example.line).collect::<Vec<_>>();
        assert_eq!(lines(&long), [2]);
        assert_eq!(lines(&format!("#![allow(a)]\n//! ```\n{example}fn f() {{}}")), [2]);
        assert_eq!(lines(&format!("{example}fn g() {{}}\nfn f() {{}}")), [0; 0]);
        let of_trait =
            format!("trait Other {{ fn f(); }}\npub trait A<T> {{\n    fn ff();\n{example}    fn f();\n}}\n");
        for head in
            ["impl<T> A<T> for u8", "impl A<u8> for Vec<u8>", "impl crate::A<u8> for u8", "impl<T: B<u8>> A<T> for u8"]
        {
            assert_eq!(lines(&format!("{of_trait}{head} {{\n    fn f() {{}}\n}}\n")), [3], "{head}");
        }
        assert_eq!(lines(&format!("{of_trait}impl Other for u8 {{\n    fn f() {{}}\n}}\n")), [0; 0]);
    }

    #[test]
    fn a_library_has_its_own_name_or_that_of_its_package() {
        assert_eq!(library("[package]\nname = \"a-b\"\n").as_deref(), Some("a_b"));
        assert_eq!(library("[package]\nname = \"a-b\"\n[lib]\nname = \"c\"\n").as_deref(), Some("c"));
        assert_eq!(library("[workspace]\n"), None);
    }

    #[test]
    fn a_manifest_names_the_file_where_cargo_does_not_look_for_it() {
        let manifest = "[package]\nname = \"a\"\nautotests = false\n";
        let with = manifest_with_target(manifest).unwrap();
        assert!(with.starts_with(manifest) && with.contains("[[test]]\nname = \"bass_tui_examples\"\n"), "{with}");
        assert_eq!(manifest_with_target("[package]\nname = \"a\"\n"), None);
        assert_eq!(manifest_with_target("no"), None);
    }

    #[test]
    fn the_first_place_of_an_error_is_that_of_the_fault() {
        let output = "   Compiling a\nwarning: w\n --> a/tests/bass_tui_examples.rs:1:1\nerror[E0425]: no `x`\n  --> a/tests/bass_tui_examples.rs:7:5\n   |\n\
            7 | x\nerror[E0603]: private\n --> src/lib.rs:2:1\nnote: here\n --> tests/bass_tui_examples.rs:9:1\n\
            error: aborting\n";
        assert_eq!(complaints(output), [("error[E0425]: no `x`", 6)]);
        let (examples, _) =
            examples(&target("/// ```\n/// f();\n/// ```\n///\n/// ```\n/// f(1)\n/// ```\npub fn f() {}\n"));
        let asked = Asked { examples, library: "a".to_owned(), rest: String::new() };
        assert_eq!(asked.blamed(output), [("example_line_5".to_owned(), "error[E0425]: no `x`".to_owned())]);
        assert_eq!(asked.blamed("error: no\n --> src/lib.rs:6:1\n"), []);
    }
}
