//! Guards in the tests of a crate, and the parts of a file that a candidate must leave unchanged. Pure.

use std::ops::Range;

use super::edit::{Edit, apply, difference};
use super::tests_in_text::{body, guarded};
use crate::code::blanked;
use crate::language::Language;

/// The guard's source: it reports the end of a test from within.
pub const GUARD: &str = include_str!("guard.rs.txt");

/// Attributes of a test function.
const MARKS: &[&str] = &["#[test]", "#[tokio::test"];
/// Attributes of an item for tests only.
const FOR_TESTS: &[&str] = &["#[test]", "#[tokio::test", "#[cfg(test)]", "#[cfg(all(test", "#[cfg(any(test"];
/// Assertion macros. A candidate that redefines one would change the result of the tests.
const JUDGES: &[&str] = &[
    "assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne", "matches", "panic",
    "unreachable",
];

/// A test with a guard in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Its name, with the modules of its file that it is in.
    pub name: String,
    /// True if it is expected to panic.
    pub panics: bool,
    /// True if it is not run.
    pub ignored: bool,
}

/// The tests of a file.
#[derive(Debug)]
pub struct Guards {
    /// The tests in the order of the text. The guard of each reports its index here.
    pub tests: Vec<Guard>,
    /// Edits that insert the guards into the text.
    pub edits: Vec<Edit>,
    /// Ranges of the text that belong to the tests.
    pub protected: Vec<Range<usize>>,
    /// Modules that the file declares and that lie in files of their own.
    pub elsewhere: Vec<String>,
}

impl Guards {
    /// The tests of a text. `secret` is the name of the guard module, which lies at `path`.
    pub fn of(text: &str, secret: &str, path: &str) -> Self {
        let code = blanked(Language::Rust, text);
        let mark = |i| format!("<{secret} {i}>");
        let (marked, found) = guarded(text, MARKS, mark);
        let mut edits =
            vec![Edit::insert(first_item(&code), format!("#[cfg(test)] #[path = {path:?}] mod {secret}; "))];
        let (mut tests, mut ours) = (Vec::new(), 0);
        for (i, test) in found.into_iter().enumerate() {
            let Some(at) = marked.find(&mark(i)).map(|at| at - ours) else { continue };
            ours += mark(i).len();
            let modules = modules(&code, at);
            let up = if modules.is_empty() { "self::".to_owned() } else { "super::".repeat(modules.len()) };
            edits.push(Edit::insert(at, format!(" let _guard = {up}{secret}::begin({i});")));
            let name = [modules, vec![test.name.as_str()]].concat().join("::");
            tests.push(Guard { name, panics: test.panics, ignored: test.ignored });
        }
        Self { tests, edits, protected: protected(&code), elsewhere: elsewhere(&code) }
    }

    /// Returns true if the file holds a test of this name, with its modules in the file: under its own name,
    /// or made by a macro.
    pub fn has(&self, name: &str) -> bool {
        let is_in = |module: &String| name.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with("::"));
        !self.elsewhere.iter().any(is_in)
    }

    /// `program` with the guards, if it differs from the text only outside of the tests. Otherwise the part
    /// that it changed, in words.
    pub fn placed_in(&self, text: &str, program: &str) -> Result<String, String> {
        let (at, new) = difference(text, program);
        if self.protected.iter().any(|part| part.start < at.end && at.start < part.end) {
            return Err("the tests".to_owned());
        }
        if let Some(name) = judge_named_again(&blanked(Language::Rust, new)) {
            return Err(format!("what {name}! means to the tests"));
        }
        let first = self.edits.first().map_or(0, |edit| edit.at.start);
        let moved = |edit: &Edit| match edit.at.start {
            place if place <= at.start => Some(edit.clone()),
            place if place >= at.end => Some(Edit::insert(place - at.end + at.start + new.len(), edit.text.clone())),
            // A candidate may begin before the first item: with a `use` of its own.
            place if place == first => Some(Edit::insert(item_before(text, at.start)?, edit.text.clone())),
            _ => None,
        };
        let edits: Option<Vec<Edit>> = self.edits.iter().map(moved).collect();
        edits.map(|edits| apply(program, &edits)).ok_or_else(|| "the beginning".to_owned())
    }
}

/// The beginning of a line at which an item can stand, not behind a byte with only comments before it.
fn item_before(text: &str, at: usize) -> Option<usize> {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[..line];
    blanked(Language::Rust, &format!("{before}x")).ends_with('x').then_some(line)
}

/// An assertion macro that the code redefines.
fn judge_named_again(code: &str) -> Option<&'static str> {
    code.split("macro_rules").skip(1).find_map(|rest| {
        let name = rest.trim_start().strip_prefix('!')?.trim_start();
        let name = name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
        JUDGES.iter().find(|judge| **judge == name).copied()
    })
}

/// Start of the first item, behind the attributes and comments that must come first.
pub fn first_item(code: &str) -> usize {
    let mut at = 0;
    if code.starts_with("#!") && !code[2..].trim_start().starts_with('[') {
        at = code.find('\n').unwrap_or(code.len());
    }
    loop {
        let rest = code[at..].trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        at = code.len() - rest.len();
        let Some(open) = rest.strip_prefix("#!") else { return at };
        let mut depth = 0_i32;
        let end = open.bytes().position(|byte| {
            depth += i32::from(byte == b'[') - i32::from(byte == b']');
            byte == b']' && depth == 0
        });
        match end {
            Some(end) => at += 2 + end + 1,
            None => return at,
        }
    }
}

/// The modules of the text around a place.
fn modules(code: &str, at: usize) -> Vec<&str> {
    let mut open: Vec<Option<&str>> = Vec::new();
    for (i, byte) in code.bytes().enumerate().take(at) {
        match byte {
            b'{' => open.push(module_before(&code[..i])),
            b'}' => drop(open.pop()),
            _ => {}
        }
    }
    open.into_iter().flatten().collect()
}

/// The modules that are declared with a semicolon.
fn elsewhere(code: &str) -> Vec<String> {
    let declared = code.match_indices(';').filter_map(|(at, _)| {
        let name = module_before(&code[..at])?;
        Some([modules(code, at), vec![name]].concat().join("::"))
    });
    declared.collect()
}

/// The name in `mod NAME`, if the text ends with that.
fn module_before(head: &str) -> Option<&str> {
    let head = head.trim_end();
    let before = head.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '#');
    let name = &head[before.len()..];
    let rest = before.strip_suffix(char::is_whitespace)?.trim_end().strip_suffix("mod")?;
    let is_word = !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    (is_word && !name.is_empty()).then(|| name.trim_start_matches("r#"))
}

/// Ranges from each test attribute to the end of its item.
fn protected(code: &str) -> Vec<Range<usize>> {
    let marks = FOR_TESTS.iter().flat_map(|mark| code.match_indices(mark));
    marks.map(|(at, _)| at..item_end(code, at)).collect()
}

/// The end of the item whose attributes begin at `from`: its semicolon, or the brace that closes it.
fn item_end(code: &str, from: usize) -> usize {
    let open = body(code, from);
    let flat = &code[from..open.unwrap_or(code.len())];
    // `mod tests;` and `use` end before any brace. A semicolon in an array's type is deeper.
    let mut depth = 0_i32;
    let semicolon = flat.bytes().position(|byte| {
        depth += i32::from(matches!(byte, b'(' | b'[')) - i32::from(matches!(byte, b')' | b']'));
        byte == b';' && depth == 0
    });
    match (semicolon, open) {
        (Some(offset), _) => from + offset + 1,
        (None, Some(open)) => closing(code, open),
        (None, None) => code.len(),
    }
}

/// Behind the brace that closes the one at `open`.
pub fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_i32;
    let end = code[open..].bytes().position(|byte| {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        depth == 0
    });
    end.map_or(code.len(), |end| open + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! About.\n#![allow(\n    unused,\n)]\n\nfn f(x: i64) -> i64 {\n    todo!()\n}\n\n#[cfg(test)]\nmod tests {\n    \
        use super::*;\n\n    mod deep {\n        #[test]\n        fn one() {\n            assert_eq!(super::f(3), 6);\n        }\n    }\n\n    \
        #[test]\n    #[should_panic]\n    fn two() {\n        f(4);\n    }\n}\n\n#[test]\n#[ignore]\nfn three() {}\n";

    #[test]
    fn tests_are_known_by_their_modules_and_no_line_moves() {
        let guards = Guards::of(FILE, "s", "/p/guard.rs");
        let found: Vec<_> = guards.tests.iter().map(|test| (test.name.as_str(), test.panics, test.ignored)).collect();
        assert_eq!(found, [("tests::deep::one", false, false), ("tests::two", true, false), ("three", false, true)]);
        let text = apply(FILE, &guards.edits);
        assert_eq!(text.lines().count(), FILE.lines().count());
        assert!(text.contains("\n\n#[cfg(test)] #[path = \"/p/guard.rs\"] mod s; fn f(x"), "{text}");
        assert!(text.contains("fn one() { let _guard = super::super::s::begin(0);\n"), "{text}");
        assert!(text.contains("fn two() { let _guard = super::s::begin(1);\n"), "{text}");
        assert!(text.contains("fn three() { let _guard = self::s::begin(2);}\n"), "{text}");
    }

    #[test]
    fn tests_of_other_files_are_not_those_of_this_one() {
        let text = "mod a;\nmod tests {\n    mod b;\n    made!(x);\n}\nfn f() { 1; }\n";
        let guards = Guards::of(text, "s", "/p/guard.rs");
        assert_eq!(guards.elsewhere, ["a", "tests::b"]);
        let found = ["x", "tests::x", "tests::bb::x", "a::x", "tests::b::x", "a"].map(|name| guards.has(name));
        assert_eq!(found, [true, true, true, false, false, true]);
    }

    #[test]
    fn the_tests_are_the_users_to_the_byte() {
        let guards = Guards::of(FILE, "s", "/p/guard.rs");
        for body in ["x + x", "{ é }", "\"}\\n#[test] fn two() {}\"", ""] {
            let program = FILE.replace("todo!()", body);
            let placed = guards.placed_in(FILE, &program).unwrap();
            let tail = |text: &str| text[text.find("#[cfg(test)]\nmod tests").unwrap()..].to_owned();
            assert_eq!(tail(&placed), tail(&apply(FILE, &guards.edits)), "body");
            assert!(placed.contains(body));
        }
    }

    #[test]
    fn a_program_may_begin_with_items_of_its_own() {
        let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n    }\n}\n";
        for (head, before) in [("", 0), ("//! A\n\n", 7), ("#![allow(a)]\n", 13), ("// a\n", 5), ("/* a\nb */\n", 10)] {
            let text = format!("{head}/// One.\nfn f() {{ todo!() }}\n{tests}");
            let guards = Guards::of(&text, "s", "/p/guard.rs");
            let program = format!("{head}use a::b;\n\n/// One.\nfn f() {{ b() }}\n{tests}");
            let placed = guards.placed_in(&text, &program).unwrap();
            assert_eq!(placed.find("#[cfg(test)] #[path"), Some(before), "{placed}");
            assert!(placed.contains("s::begin(0)"), "{placed}");
        }
        let text = "/* a\nfn */ fn f() { todo!() }\n";
        assert!(Guards::of(text, "s", "/p").placed_in(text, "/* a\nfm */ fn f() { 1 }\n").is_err(), "inside a comment");
    }

    #[test]
    fn a_program_with_other_tests_is_refused() {
        let guards = Guards::of(FILE, "s", "/p/guard.rs");
        let refused = |program: &str| guards.placed_in(FILE, program).unwrap_err();
        assert_eq!(refused(&FILE.replace("f(3), 6", "6, 6")), "the tests");
        assert_eq!(refused(&FILE.replace("    #[should_panic]\n", "")), "the tests");
        assert_eq!(refused(&FILE.replace("#[cfg(test)]", "#[cfg(any())]")), "the tests");
        assert_eq!(refused(&FILE[..FILE.find("#[cfg(test)]").unwrap()]), "the tests");
        let hides = "0 }\nmacro_rules! assert_eq { ($($x:tt)*) => {} }\nfn g() {";
        assert_eq!(refused(&FILE.replace("todo!()", hides)), "what assert_eq! means to the tests");
    }

    #[test]
    fn the_first_item_comes_behind_what_must_be_first() {
        for (text, at) in [
            ("fn f() {}", 0),
            ("\u{feff}#![a]\nfn", 9),
            ("#!/bin/x\n\nfn", 10),
            ("//! A\n/// B\nfn", 12),
            ("#![a([b])] #![c]\n#[d] fn", 17),
        ] {
            assert_eq!(first_item(&blanked(Language::Rust, text)), at, "{text}");
        }
    }

    #[test]
    fn an_item_ends_with_its_brace_or_semicolon() {
        for (text, item) in [
            ("#[cfg(test)] mod a; fn f() {}", "#[cfg(test)] mod a;"),
            ("#[cfg(test)] mod a { fn f() {} } fn g() {}", "#[cfg(test)] mod a { fn f() {} }"),
            ("#[cfg(test)] fn f(x: [u8; 2]) {} fn", "#[cfg(test)] fn f(x: [u8; 2]) {}"),
        ] {
            assert_eq!(&text[..item_end(text, 0)], item);
        }
    }
}
