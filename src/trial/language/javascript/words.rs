//! Words that tests use and neither import nor define. They identify the runner, and the names of node's
//! library that have to be given.

/// Names of node's library that are given to tests that use them.
const OF_NODE: &[&str] = &["assert", "test", "it", "describe", "suite", "before", "after", "beforeEach", "afterEach"];

/// Names of node's library that have to be given to these tests.
pub fn of_node(tests: &str, program: &str) -> Vec<&'static str> {
    OF_NODE
        .iter()
        .filter(|word| **word == "assert" || !defines(program, word))
        .filter(|word| uses(tests, word))
        .copied()
        .collect()
}

/// Returns true if the tests import a file by a relative path.
pub fn import_a_file(tests: &str) -> bool {
    ["'./", "'../", "\"./", "\"../", "'..'", "\"..\"", "'.'", "\".\""].iter().any(|start| {
        let is_imported = |before: &str| {
            let before = before.trim_end().trim_end_matches('(').trim_end();
            before.ends_with("from") || before.ends_with("import") || before.ends_with("require")
        };
        tests.match_indices(start).any(|(at, _)| is_imported(&tests[..at]))
    })
}

/// Returns true if a text calls a word or accesses a member of it, and neither defines nor imports it.
pub fn uses(text: &str, word: &str) -> bool {
    !defines(text, word) && places(text, word).any(|(_, after)| after.trim_start().starts_with(['(', '.']))
}

/// Returns true if a text defines or imports a word.
pub fn defines(text: &str, word: &str) -> bool {
    places(text, word).any(|(before, after)| {
        let last = before.split_whitespace().next_back().unwrap_or_default();
        let is_declared = ["function", "function*", "const", "let", "var", "class"].contains(&last);
        let is_of_import = ["import", "const", "let", "var"].iter().any(|kind| before.trim_start().starts_with(kind));
        let is_imported = ["require(", " from "].iter().any(|source| after.contains(source));
        is_declared || (is_of_import && is_imported && !before.contains('='))
    })
}

/// The places of a word outside of comments and quotes: the text before and after it in its line.
fn places<'a>(text: &'a str, word: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//") && !line.trim_start().starts_with('*'));
    lines.flat_map(move |line| {
        let places = line.match_indices(word).map(|(at, _)| (&line[..at], &line[at + word.len()..]));
        let is_inner = |c: char| c.is_alphanumeric() || "_$'\"`".contains(c);
        let is_whole = |(before, after): &(&str, &str)| {
            !before.ends_with(|c| is_inner(c) || c == '.' || c == '#') && !after.starts_with(is_inner)
        };
        places.filter(is_whole).collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tests_define_or_import_they_are_not_given() {
        for (tests, given) in [
            ("assert(1); test('a', f)", &["assert", "test"][..]),
            ("const assert = require('assert');\nassert(1)", &[]),
            ("import { strict as assert } from 'node:assert';\nassert(1)", &[]),
            ("const check = require('assert');\nassert(1)", &["assert"]),
        ] {
            assert_eq!(of_node(tests, ""), given, "{tests}");
        }
        assert_eq!(of_node("assert(suite(1))", "function suite(x) {}"), ["assert"]);
        for (tests, is_one) in [
            ("const f = require('./f')", true),
            ("import {\n  f,\n} from \"../f.js\"", true),
            ("await import('./f.js')", true),
            ("require('..')", true),
            ("assert.equal(f('./a'), 1)\nrequire('path')", false),
        ] {
            assert_eq!(import_a_file(tests), is_one, "{tests}");
        }
    }
}
