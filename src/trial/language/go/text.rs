//! Finds test functions in Go, and puts the calls of the guard into them. Pure.

use std::ops::Range;

use super::example::examples;
use crate::code::blanked;
use crate::language::Language;

/// The module path in a `go.mod`.
pub fn module_path(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("module"))?;
    let word = line.split("//").next()?.trim().trim_matches(['"', '`', '(', ')']).trim();
    (!word.is_empty()).then(|| word.to_owned())
}

/// The place of the name in the package clause.
fn package_at(code: &str) -> Option<Range<usize>> {
    let is_clause = |at: &usize| code[..*at].rsplit('\n').next().is_some_and(|before| before.trim().is_empty());
    let at = code.match_indices("package ").map(|(at, _)| at).find(is_clause)? + "package ".len();
    let name = code[at..].trim_start();
    let (at, length) = (code.len() - name.len(), name.find(|c: char| !(c.is_alphanumeric() || c == '_')));
    Some(at..at + length.unwrap_or(name.len()))
}

/// The package of a file.
pub fn package_of(text: &str) -> Option<&str> {
    text.get(package_at(&blanked(Language::Go, text))?)
}

/// The text with one more import, on the line of its package clause. The import is a path in quotes, with a
/// name in front or without.
pub fn with_import(text: &str, import: &str) -> String {
    let Some(Range { end, .. }) = package_at(&blanked(Language::Go, text)) else { return text.to_owned() };
    // The line of the package clause may hold more.
    let rest = text[end..].trim_start_matches(' ').strip_prefix(';').unwrap_or(&text[end..]);
    format!("{}; import {import}; {rest}", &text[..end])
}

/// The text with a guard call at the beginning of every test function and with tests for its examples, and
/// the names of its tests.
pub fn guarded(text: &str, secret: &str) -> (String, Vec<String>) {
    let code = blanked(Language::Go, text);
    let (mut out, mut names, mut done, mut from) = (String::new(), Vec::new(), 0, 0);
    while let Some(at) = code[from..].find("func").map(|offset| from + offset) {
        from = at + 4;
        let before = code[..at].trim_end().chars().next_back();
        // After a bracket it is the element type of a list or a map.
        if before == Some(']') || code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = code[from..].trim_start();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(parameters) = rest[name.len()..].strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
            continue;
        };
        let (inside, after) = parameters;
        let Some((parameter, kind)) =
            inside.split(',').next().and_then(|first| first.trim().split_once(char::is_whitespace))
        else {
            continue;
        };
        let kind = kind.trim();
        let is_test = kind == "*testing.T" || (kind == "*testing.F" && !name.is_empty());
        let body = after.trim_start_matches([' ', '\t']);
        if !is_test || parameter == "_" || !body.starts_with('{') {
            continue;
        }
        let brace = code.len() - body.len();
        out.push_str(&text[done..=brace]);
        out.extend([" ", secret, ".Begin(", parameter, ");"]);
        done = brace + 1;
        let is_name =
            |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with(char::is_lowercase));
        if !inside.contains(',') && is_name(if kind == "*testing.F" { "Fuzz" } else { "Test" }) {
            names.push(name);
        }
    }
    out.push_str(&text[done..]);
    for example in examples(text) {
        out.extend(["\n", &example.as_test(secret)]);
        names.push(example.name);
    }
    (out, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_get_a_test_get_a_guard_and_nothing_else_does() {
        let text = "package a\n// func TestNo(t *testing.T) {\nfunc TestOne(t *testing.T) {\n\tt.Run(\"x\", func(tt *testing.T) { f() })\n}\n\
            func Testify(t *testing.T) {}\nfunc help(t *testing.T, x int) {}\nfunc TestMain(m *testing.M) {}\nfunc Test_b(_ *testing.T) {}\n\
            var a = map[string]func(t *testing.T){\"{\": nil}\ntype c struct { run func(t *testing.T) }\nfunc FuzzIt(f *testing.F) {}\n\
            func made(t *testing.T) int { return 1 }\nfunc (s suite) TestNot(t *testing.T) {}\nfunc TestNo2(t *testing.T, x int) {}\n";
        let (out, names) = guarded(text, "g");
        assert_eq!(names, ["TestOne", "FuzzIt"]);
        let calls: Vec<&str> = out
            .match_indices("g.Begin(")
            .map(|(at, _)| &out[at..at + 12])
            .map(|c| c.split(')').next().unwrap())
            .collect();
        assert_eq!(calls, ["g.Begin(t", "g.Begin(tt", "g.Begin(t", "g.Begin(t", "g.Begin(f", "g.Begin(t"], "{out}");
        assert!(
            out.contains("func(tt *testing.T) { g.Begin(tt); f() }")
                && out.contains("map[string]func(t *testing.T){\"{\": nil}"),
            "{out}"
        );
        assert_eq!(out.lines().count(), text.lines().count(), "lines keep their numbers");
    }

    #[test]
    fn the_package_is_what_the_code_says() {
        assert_eq!(package_of("// package x\n/* a */\npackage main\n"), Some("main"));
        assert_eq!(package_of("func f() {}"), None);
    }

    #[test]
    fn the_import_stands_on_the_line_of_the_package() {
        assert_eq!(
            with_import("// package x\n\npackage a_test // b\nimport \"c\"\n", "\"m/g\""),
            "// package x\n\npackage a_test; import \"m/g\";  // b\nimport \"c\"\n"
        );
        assert_eq!(with_import("package a; func f() {}", "x \"g\""), "package a; import x \"g\";  func f() {}");
        assert_eq!(module_path("// a\nmodule  example.com/x // c\n\ngo 1.19\n").unwrap(), "example.com/x");
        assert_eq!((module_path("module \"x\"\n"), module_path("go 1.19\n")), (Some("x".to_owned()), None));
    }
}
