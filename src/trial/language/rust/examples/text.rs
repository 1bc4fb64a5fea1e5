//! Examples as a tests file, each wrapped as rustdoc wraps it. Lines keep their place in the user's file.
//! Pure.

use std::collections::BTreeMap;

use super::blocks::Example;
use crate::code::blanked;
use crate::language::Language;

/// Marks of items for tests only, which rustdoc leaves out.
const FOR_TESTS: &[&str] = &["#[test]", "#[cfg(test)]"];
const NEVER: &str = "#[cfg(any())]";

/// The names of declared crates, and true if their macros are imported.
type Crates = BTreeMap<String, bool>;

/// The test name of an example.
pub fn name(example: &Example) -> String {
    format!("example_line_{}", example.line + 1)
}

/// The examples as tests of the library of this name, in a file of their own or, with `is_inside`, in a
/// module of it.
pub fn tests_file(examples: &[Example], library: &str, is_inside: bool) -> String {
    // Before the 2018 edition a crate's name is known only by this declaration.
    let mut crates = Crates::from([(library.to_owned(), false)]);
    let mut lines = Vec::new();
    let mut put = |number: usize, line: String| {
        lines.resize(lines.len().max(number), String::new());
        lines.push(line);
    };
    for example in examples {
        let code = without_crates(&example.code, &mut crates);
        let text = code.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n");
        let (head, end) = wrapping(example, &text);
        put(example.line, head);
        let last = code.last().map_or(example.line, |(number, _)| *number);
        for (number, line) in code {
            put(number, line);
        }
        put(last + 1, end);
    }
    let crates = crates
        .into_iter()
        .map(|(name, has_macros)| format!("{}extern crate {name}; ", if has_macros { "#[macro_use] " } else { "" }));
    // Inside of the library the names of all crates are known already.
    let declared = if is_inside { String::new() } else { crates.collect() };
    declared + &lines.join("\n") + "\n"
}

/// The text before and behind an example. An example with a `main` of its own becomes a module. One that ends
/// in `Ok::<(), E>(())` may use `?`.
fn wrapping(example: &Example, text: &str) -> (String, String) {
    let blank = blanked(Language::Rust, text);
    let name = name(example);
    let condition = example.condition.as_ref().map(|condition| format!("#[cfg({condition})] ")).unwrap_or_default();
    let head = format!("{condition}#[test] {}fn {name}()", if example.panics { "#[should_panic] " } else { "" });
    if let Some(returns) = own_main(&blank) {
        let module = format!("inside_{name}");
        let unwrap = if returns { ".unwrap()" } else { "" };
        return (
            format!("{condition}mod {module} {{"),
            format!(
                "#[allow(unused)] use super::*; pub fn run_example() {{ main(){unwrap}; }} }} {head} {{ {module}::run_example(); }}"
            ),
        );
    }
    // The guard comes first in a test, and `#![allow]` in an example.
    if blank.trim_end().ends_with("(())") {
        let returned = "::std::result::Result<(), impl ::std::fmt::Debug>";
        return (format!("{head} {{ fn example() -> {returned} {{"), "} example().unwrap(); }".to_owned());
    }
    (format!("{head} {{ fn example() {{"), "} example(); }".to_owned())
}

/// Returns true if the `main` of an example has a return type. `None` if it has no `main`.
fn own_main(blank: &str) -> Option<bool> {
    let (_, rest) = blank.split_once("fn main()")?;
    Some(rest.split('{').next().unwrap_or_default().contains("->"))
}

/// The code without declarations of crates, which belong to the top of a file, and without items for tests
/// only.
fn without_crates(code: &[(usize, String)], crates: &mut Crates) -> Vec<(usize, String)> {
    let text = code.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n");
    let blank = blanked(Language::Rust, &text);
    let mut has_macros = false;
    let mut bare = Vec::new();
    for ((number, line), blank) in code.iter().zip(blank.split('\n')) {
        let (mut line, words) = (line.clone(), blank.trim());
        let declared = words.strip_prefix("#[macro_use]").unwrap_or(words).trim_start();
        let uses_macros = declared != words;
        if let Some(name) = declared.strip_prefix("extern crate ").and_then(|rest| rest.strip_suffix(';')) {
            *crates.entry(name.trim().to_owned()).or_default() |= uses_macros || has_macros;
            line.clear();
        } else if uses_macros && declared.is_empty() {
            line.clear();
        }
        has_macros = uses_macros && declared.is_empty();
        // From the end, so that no offset changes.
        let is_left = !line.is_empty();
        let marks = FOR_TESTS.iter().flat_map(|mark| blank.match_indices(mark));
        let mut marks: Vec<_> = marks.filter(|_| is_left).collect();
        marks.sort_unstable();
        for (at, mark) in marks.into_iter().rev() {
            line.replace_range(at..at + mark.len(), NEVER);
        }
        bare.push((*number, line));
    }
    bare
}

/// Returns true if its brackets and strings are closed. An open one would break the other examples.
pub fn is_whole(example: &Example) -> bool {
    let blank = blanked(Language::Rust, &format!("{{{}\n}}", example.text()));
    let mut open = Vec::new();
    for (at, byte) in blank.bytes().enumerate() {
        match byte {
            b'{' => open.push(b'}'),
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'}' | b')' | b']' => {
                let is_its_end = open.pop() == Some(byte);
                if !is_its_end || (open.is_empty() && at + 1 < blank.len()) {
                    return false;
                }
            }
            _ => {}
        }
    }
    open.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(line: usize, text: &str) -> Example {
        let code = text.lines().enumerate().map(|(i, code)| (line + 1 + i, code.to_owned())).collect();
        Example { line, code, ..Example::default() }
    }

    #[test]
    fn the_lines_of_examples_stay_where_they_are() {
        let all = [
            example(2, "assert!(f());"),
            Example { panics: true, ..example(5, "fn main() -> Result<(), ()> {\n}") },
            Example { condition: Some("feature = \"x\"".to_owned()), ..example(9, "f()?;\nOk::<(), u8>(())") },
        ];
        let expected = "extern crate own; \n\n#[test] fn example_line_3() { fn example() {\nassert!(f());\n} example(); }\n\
            mod inside_example_line_6 {\nfn main() -> Result<(), ()> {\n}\n\
            #[allow(unused)] use super::*; pub fn run_example() { main().unwrap(); } } \
            #[test] #[should_panic] fn example_line_6() { inside_example_line_6::run_example(); }\n\
            #[cfg(feature = \"x\")] #[test] fn example_line_10() { fn example() -> ::std::result::Result<(), impl ::std::fmt::Debug> {\n\
            f()?;\nOk::<(), u8>(())\n} example().unwrap(); }\n";
        assert_eq!(tests_file(&all, "own", false), expected);
        assert!(tests_file(&all, "own", true).starts_with("\n\n#[test]"));
    }

    #[test]
    fn crates_are_declared_once_and_tests_in_examples_are_none() {
        let all = [
            example(0, "#[macro_use]\nextern crate own;\nextern crate other as o;\nf();\n// extern crate no;"),
            example(
                6,
                "#[macro_use] extern crate other as o;\n#[cfg(test)] mod t {}\nlet a = \"#[test]\"; #[test]\nfn a() {}",
            ),
        ];
        let text = tests_file(&all, "own", false);
        let head = "#[macro_use] extern crate other as o; #[macro_use] extern crate own; #[test] fn example_line_1()";
        assert!(text.starts_with(head) && text.contains("{\n\n\n\nf();\n"), "{text}");
        assert_eq!(text.matches("extern crate").count(), 3, "{text}");
        assert!(text.contains("\n#[cfg(any())] mod t {}\nlet a = \"#[test]\"; #[cfg(any())]\nfn a() {}\n"), "{text}");
    }

    #[test]
    fn what_is_not_closed_is_known() {
        for whole in ["", "f(\"}\");", "{ ( [ ] ) } // }", "'{'"] {
            assert!(is_whole(&example(0, whole)), "{whole}");
        }
        for broken in ["{", "}", "} fn a() {", "(]", "\"", "/*", "{)}("] {
            assert!(!is_whole(&example(0, broken)), "{broken}");
        }
    }
}
