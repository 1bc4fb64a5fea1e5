//! Finds test functions in the text of a tests file, and inserts a line at the beginning of each. Pure.

use std::ops::Range;

use crate::code::blanked;
use crate::language::Language;

/// A test function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFunction {
    pub name: String,
    /// True if it is expected to panic.
    pub panics: bool,
    /// True if it is not run.
    pub ignored: bool,
}

/// The text with `line(i)` after the opening brace of the i-th function that one of `marks` precedes, and
/// those functions. Macros are left unchanged: one may expand to any number of tests, in any module, or run
/// many times.
pub fn guarded(text: &str, marks: &[&str], line: impl Fn(usize) -> String) -> (String, Vec<TestFunction>) {
    let code = blanked(Language::Rust, text);
    let macros = macros(&code);
    let (mut out, mut tests, mut done, mut from) = (String::new(), Vec::new(), 0, 0);
    while let Some((at, mark)) = marks.iter().filter_map(|m| Some((from + code[from..].find(m)?, *m))).min() {
        if let Some(part) = macros.iter().find(|part| part.contains(&at)) {
            from = part.end;
            continue;
        }
        let Some(head) = code[at..].find("fn ").map(|offset| at + offset) else { break };
        let Some(brace) = body(&code, head) else { break };
        // Starts at the end of the previous item, as attributes may come in any order.
        let before = code[..at].rfind(['}', ';', '{']).map_or(0, |end| end + 1);
        let attributes = &code[before..head];
        let name: String =
            code[head + 3..].trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        out.push_str(&text[done..=brace]);
        out.push_str(&line(tests.len()));
        tests.push(TestFunction {
            name,
            panics: attributes.contains("should_panic"),
            ignored: attributes.contains("#[ignore"),
        });
        done = (brace + 1).max(at + mark.len());
        from = done;
    }
    (out + &text[done..], tests)
}

/// Ranges of macros: their rules, and the arguments of their calls.
fn macros(code: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let calls = code.match_indices('!').filter(|(at, _)| code[..*at].ends_with(is_word));
    let parts = calls.filter_map(|(at, _)| {
        // `macro_rules! name {`
        let rest = code[at + 1..].trim_start().trim_start_matches(is_word).trim_start();
        let open = code.len() - rest.len();
        let (mut depth, is_bracket) = (0_i32, rest.starts_with(['{', '(', '[']));
        let length = rest.bytes().position(|byte| {
            depth += i32::from(matches!(byte, b'{' | b'(' | b'[')) - i32::from(matches!(byte, b'}' | b')' | b']'));
            depth == 0
        })?;
        is_bracket.then_some(open..open + length + 1)
    });
    parts.collect()
}

/// The brace that opens the body of the function whose head begins at `from`; `None` for a declaration.
pub fn body(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (offset, byte) in code[from..].bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(from + offset),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_functions_are_found_whatever_stands_around_them() {
        let text = "// #[test] fn no() {}\nmod a {\n    #[test]\n    #[should_panic(expected = \"{\")]\n    fn one() { f(\"}\") }\n    /// About {.\n    \
            #[ignore] #[test] fn two() -> Result<(), [u8; 2]> {\n    }\n    fn helper() {}\n}\n#[test] fn é() {}\n";
        let (out, tests) = guarded(text, &["#[test]"], |i| format!("<{i}>"));
        let found: Vec<_> = tests.iter().map(|t| (t.name.as_str(), t.panics, t.ignored)).collect();
        assert_eq!(found, [("one", true, false), ("two", false, true), ("é", false, false)]);
        assert!(
            out.contains("fn one() {<0> f(") && out.contains("2]> {<1>\n") && out.contains("fn é() {<2>}"),
            "{out}"
        );
        assert_eq!(out.replace("<0>", "").replace("<1>", "").replace("<2>", ""), text);
    }

    #[test]
    fn what_stands_in_a_macro_is_left_as_it_is() {
        let text = "macro_rules! made {\n    ($n:ident) => { #[test] fn $n() {} };\n}\nmade!(one);\n\
            proptest! {\n    #[test]\n    fn many(x in 0..9) { assert!(x != (9)); }\n}\n#[test]\nfn own() {}\n";
        let (out, tests) = guarded(text, &["#[test]"], |_| "<>".to_owned());
        assert_eq!(tests.iter().map(|test| test.name.as_str()).collect::<Vec<_>>(), ["own"]);
        assert_eq!(out, text.replace("fn own() {", "fn own() {<>"));
    }
}
