//! A lone Rust file as a crate without packages. The file is its library, and its tests are a module of it,
//! so that they can use private items. Pure.

use std::path::Path;

use super::examples;
use super::guards::first_item;
use crate::code::blanked;
use crate::language::Language;
use crate::trial::language::row::{Layout, Project, Trial, Verdict};

/// Macros imported by name: names imported by `*` would give way to the candidate's.
const MACROS: &str = "assert, assert_eq, assert_ne, debug_assert, debug_assert_eq, debug_assert_ne, panic, vec, format, matches, print, \
    println, eprintln, write, writeln, unreachable, todo, unimplemented, concat, stringify, line, file, include_str, env";

/// Makes a folder a crate.
pub fn lay_out(trial: &Trial, layout: &mut Layout) {
    let stem = identifier(&layout.file, "candidate");
    layout.file.set_file_name(format!("{stem}.rs"));
    let own = trial.own_text();
    if layout.tests.as_ref().is_some_and(|(_, text)| text == own) {
        // The program holds its own tests.
        layout.tests = None;
    } else if let Some((mut path, text)) = layout.tests.take() {
        let name = identifier(&path, "tests");
        path.set_file_name(if name == stem { format!("tests_of_{name}.rs") } else { format!("{name}.rs") });
        // If the body is not written yet, the text ends inside of it.
        let open = usize::try_from(depth(own)).unwrap_or_default();
        layout.own = with_tests(&(own.to_owned() + &"}".repeat(open)), &layout.file, &path);
        layout.tests = Some((path, as_module(&trial.program, &text)));
    } else {
        layout.files.push(("Cargo.toml".into(), examples::manifest(&layout.file, &stem)));
        layout.tests = Some((examples::FILE.into(), String::new()));
    }
}

/// A program with a declaration of its tests that moves no line. It comes before the candidate's own macros,
/// which could hide the assertion macros.
pub fn with_tests(program: &str, file: &Path, tests: &Path) -> String {
    let up = "../".repeat(file.components().count().saturating_sub(1));
    let (head, rest) = program.split_at(first_item(&blanked(Language::Rust, program)));
    let (path, module, own) = (format!("{up}{}", tests.display()), module(tests), identifier(file, "candidate"));
    format!("{head}#[cfg(test)] #[path = {path:?}] mod {module}; #[allow(unused)] extern crate self as {own}; {rest}")
}

/// The module of a tests file.
pub fn module(tests: &Path) -> String {
    format!("tests_in_{}", identifier(tests, "tests"))
}

/// Messages about the tests, as the runner would print them for a tests file of their own.
pub fn told(project: &Project, verdict: Verdict) -> Verdict {
    let tests = project.tests.as_deref().unwrap_or(Path::new(""));
    let module = format!("{}::", module(tests));
    let told = |said: &str| said.replace(&module, "");
    Verdict {
        message: told(&verdict.message),
        output: told(&verdict.output),
        failed: verdict.failed.map(|(test, why)| (told(&test), told(&why))),
        ..verdict
    }
}

/// The text of tests as a module of the program.
fn as_module(program: &str, text: &str) -> String {
    let mut text = text.to_owned();
    // Tests for programs that lack their last brace begin with it. Here the program is complete.
    if text.trim_start().starts_with('}') && depth(program) == 0 {
        text = text.replacen('}', "", 1);
    }
    let is_test = text.contains("#[test]");
    if !is_test && !text.contains("fn main(") {
        text = format!("fn main() {{ {text}\n}}");
    }
    if !is_test {
        text += "\n#[test] fn all_checks() { main(); }\n";
    }
    let (head, rest) = text.split_at(first_item(&blanked(Language::Rust, &text)));
    format!("{head}use super::*; use ::std::{{{MACROS}}}; {rest}")
}

/// Number of open braces at the end of a text.
fn depth(text: &str) -> i64 {
    blanked(Language::Rust, text).bytes().map(|byte| i64::from(byte == b'{') - i64::from(byte == b'}')).sum()
}

/// The stem of a file as an identifier, or `other`.
fn identifier(file: &Path, other: &str) -> String {
    let is_name = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !["self", "crate", "super", "std", "core", "alloc", "test", "mod", "fn", "use"].contains(word)
    };
    file.file_stem().and_then(|stem| stem.to_str()).filter(is_name).unwrap_or(other).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_declared_where_no_line_moves() {
        let declared = |program: &str| with_tests(program, Path::new("a.rs"), Path::new("t.rs"));
        let text = declared("#![allow(unused)]\n// About.\n\nfn f() {}\n");
        assert_eq!(text.lines().count(), 4);
        assert!(
            text.starts_with("#![allow(unused)]\n// About.\n\n#[cfg(test)] #[path = \"t.rs\"] mod tests_in_t; "),
            "{text}"
        );
        let text = declared("#[inline]\nfn f() {}\n");
        assert!(text.starts_with("#[cfg(test)] #[path") && text.contains("; #[inline]\nfn f"), "{text}");
    }

    #[test]
    fn tests_become_a_module_that_sees_all() {
        let module = as_module("fn f() {}\n", "}\n\nfn main() {\n    f();\n}\n");
        assert!(module.starts_with("\n\nuse super::*; "), "{module}");
        assert!(module.ends_with("fn main() {\n    f();\n}\n\n#[test] fn all_checks() { main(); }\n"), "{module}");
        assert!(as_module("fn f() {}", "f();").contains("fn main() { f();\n}"));
        assert_eq!(depth("fn f() { \"}\" // }\n"), 1);
    }
}
