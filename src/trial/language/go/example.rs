//! Go examples with expected output (`// Output:`) as tests. Each gets a test beside it in the same file,
//! which runs it through the guard. Pure.

use std::borrow::Cow;

use crate::code::blanked;
use crate::language::Language;

/// Prefix of the name of such a test.
const PREFIX: &str = "TestThe";

/// An example that Go would run.
#[derive(Debug, PartialEq, Eq)]
pub struct Example {
    pub name: String,
    /// The line the example begins on, 1-based.
    line: usize,
    output: String,
    is_unordered: bool,
}

/// The name of the function that runs a test.
pub fn function(test: &str) -> Cow<'_, str> {
    if test.starts_with("Example") { format!("{PREFIX}{test}").into() } else { test.into() }
}

/// The name of the test that such a function runs.
pub fn test(function: &str) -> &str {
    function.strip_prefix(PREFIX).filter(|test| test.starts_with("Example")).unwrap_or(function)
}

/// The examples of a file.
pub fn examples(text: &str) -> Vec<Example> {
    let code = blanked(Language::Go, text);
    let starts = code.match_indices("func Example").filter(|(at, _)| *at == 0 || code[..*at].ends_with('\n'));
    starts.filter_map(|(at, _)| example(text, &code, at + "func ".len())).collect()
}

fn example(text: &str, code: &str, from: usize) -> Option<Example> {
    let rest = &code[from..];
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let open = from + rest[name.len()..].strip_prefix("()").map(|after| rest.len() - after.trim_start().len())?;
    let is_name = !name["Example".len()..].starts_with(char::is_lowercase);
    let mut depth = 0_usize;
    let close = code[open..].char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        (depth == 0).then_some(open + at)
    })?;
    let comment = last_comment(&text[open..close], &code[open..close])?;
    let lower = comment.to_ascii_lowercase();
    let is_unordered = lower.trim_start().starts_with("unordered output:");
    let says = is_unordered || lower.trim_start().starts_with("output:");
    let output = comment.split_once(':').filter(|_| says && is_name)?.1.to_owned();
    let line = text[..from].lines().count().max(1);
    Some(Example { name, line, output, is_unordered })
}

/// The comment at the end of a body, without its marks.
fn last_comment(body: &str, code: &str) -> Option<String> {
    // A string over several lines may look like a comment.
    let mut at = 0;
    let lines: Vec<Option<&str>> = body
        .split_inclusive('\n')
        .map(|line| {
            let blank = code[at..at + line.len()].trim().is_empty();
            at += line.len();
            line.trim().strip_prefix("//").filter(|_| blank)
        })
        .collect();
    let end = lines.iter().rposition(Option::is_some)? + 1;
    let start = lines[..end].iter().rposition(Option::is_none).map_or(0, |before| before + 1);
    let before: String = body.split_inclusive('\n').take(start).collect();
    if !blanked(Language::Go, &format!("{before}x")).ends_with('x') {
        return None;
    }
    let mut said: Vec<&str> =
        lines[start..end].iter().flatten().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    said.dedup_by(|line, before| line.is_empty() && before.is_empty());
    Some(said.join("\n"))
}

impl Example {
    /// The test that runs the example by the guard of this name.
    pub fn as_test(&self, secret: &str) -> String {
        let Self { name, line, output, is_unordered } = self;
        // JSON strings are valid Go strings.
        let output = serde_json::to_string(output).unwrap_or_default();
        let function = function(name);
        // A failure names the line of the example.
        format!(
            "//line :{line}:1\nfunc {function}(t *{secret}t.T) {{ {secret}.Example(t, {name}, {output}, {is_unordered}) }}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_that_say_what_they_print_are_tests() {
        let text = "package a\n\nfunc ExampleF() {\n\tif true {\n\t\tF(\"}\")\n\t}\n\t// not this\n\n\t// Output:\n\t// 2\n\t//  3\n}\n\n\
            func ExampleG_other() { // nothing\n\tG()\n\t// unordered output: b\n\t// a\n}\n\nfunc ExampleNo() {\n\tG()\n}\n\n\
            func Example() {\n\t// output:\n}\nfunc Examples() {\n\t// Output: 1\n}\nfunc ExampleText() {\n\tF(`\n// Output: 1\n`)\n}\n\
            func ExampleArgument(x int) {\n\t// Output: 1\n}\n// func ExampleComment() { // Output: 1\nfunc ExampleOpen() {";
        let found = examples(text);
        let told: Vec<_> = found.iter().map(|e| (e.name.as_str(), e.output.as_str(), e.is_unordered)).collect();
        let expected = [("ExampleF", "\n2\n 3", false), ("ExampleG_other", " b\na", true), ("Example", "", false)];
        assert_eq!(told, expected);
        assert_eq!(
            found[1].as_test("g"),
            "//line :14:1\nfunc TestTheExampleG_other(t *gt.T) { g.Example(t, ExampleG_other, \" b\\na\", true) }\n"
        );
    }

    #[test]
    fn the_names_of_their_tests_are_those_of_the_examples() {
        for name in ["ExampleF", "Example", "TestF", "TestTheEnd", "FuzzF"] {
            assert_eq!(test(&function(name)), name);
        }
    }
}
