//! The blocks of code in documentation that `cargo test --doc` would run. Pure.

use super::documentation::Line;

/// Attributes of a code block that is run. Any other word means another language, unless `rust` is there,
/// too.
const OF_RUST: &[&str] = &["rust", "should_panic", "standalone", "standalone_crate"];
/// Attributes of a code block that is not run.
const NOT_RUN: &[&str] = &["ignore", "no_run", "compile_fail", "test_harness"];

/// A block of code that is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Example {
    /// The line of the opening fence, from 0.
    pub line: usize,
    /// Its lines, each with its line number.
    pub code: Vec<(usize, String)>,
    /// It is expected to panic.
    pub panics: bool,
    /// The `cfg` condition of the block, if any.
    pub condition: Option<String>,
}

impl Example {
    pub fn text(&self) -> String {
        self.code.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns true if the example states an expected result.
    pub fn tells(&self) -> bool {
        self.panics || self.code.iter().any(|(_, line)| line.contains("assert"))
    }
}

/// A block without its closing fence yet.
struct Open<'a> {
    fence: &'a str,
    /// The columns in front of the fence.
    indent: usize,
    /// The example for each variant of the opening line. Only a block that is run has any.
    cases: Vec<Example>,
    code: Vec<(usize, String)>,
    /// True if some of its lines are conditional.
    is_patched: bool,
}

impl Open<'_> {
    fn examples(self) -> impl Iterator<Item = Example> {
        // Examples that need a nightly compiler are left out.
        let is_run = !self.is_patched && !self.code.iter().any(|(_, line)| line.starts_with("#![feature"));
        let code = self.code;
        self.cases.into_iter().filter(move |_| is_run).map(move |case| Example { code: code.clone(), ..case })
    }
}

/// The blocks that are run.
pub fn examples(lines: &[Line]) -> Vec<Example> {
    let (mut all, mut open): (Vec<Example>, Option<Open>) = (Vec::new(), None);
    for line in lines {
        match &mut open {
            // Variants of the opening line: the first block has no lines yet.
            Some(block) if line.condition.is_some() && block.code.is_empty() && begun(line).is_some() => {
                block.cases.extend(begun(line).into_iter().flat_map(|other| other.cases));
            }
            Some(block) if is_end(&line.text, block.fence) => {
                all.extend(open.take().into_iter().flat_map(Open::examples));
            }
            Some(block) => {
                block.is_patched |=
                    line.condition.is_some() && block.cases.iter().any(|case| case.condition != line.condition);
                block.code.push((line.number, code(unindented(&line.text, block.indent))));
            }
            None => open = begun(line),
        }
    }
    all.extend(open.into_iter().flat_map(Open::examples));
    all
}

/// The block that a line opens.
fn begun(line: &Line) -> Option<Open<'_>> {
    let text = line.text.trim();
    let about = text.trim_start_matches(text.chars().next().filter(|mark| "`~".contains(*mark))?);
    let fence = &text[..text.len() - about.len()];
    if fence.len() < 3 || (fence.starts_with('`') && about.contains('`')) {
        return None;
    }
    let words: Vec<&str> = about.split([' ', ',', '\t']).filter(|word| !word.is_empty()).collect();
    let is_left_out = words.iter().any(|word| NOT_RUN.contains(word) || word.starts_with("ignore-"));
    let is_known = |word: &&str| OF_RUST.contains(word) || word.starts_with("edition");
    let is_of_rust = words.contains(&"rust") || words.iter().all(is_known);
    let (panics, condition) = (words.contains(&"should_panic"), line.condition.clone());
    let example = Example { line: line.number, panics, condition, ..Example::default() };
    Some(Open {
        fence,
        indent: line.text.len() - line.text.trim_start().len(),
        cases: (is_of_rust && !is_left_out).then_some(example).into_iter().collect(),
        code: Vec::new(),
        is_patched: false,
    })
}

/// Returns true if a line closes the block that this fence opened.
fn is_end(line: &str, fence: &str) -> bool {
    line.trim().strip_prefix(fence).is_some_and(|rest| rest.chars().all(|mark| fence.starts_with(mark)))
}

/// A line without the indentation of its fence.
fn unindented(line: &str, columns: usize) -> &str {
    let blank = line.len() - line.trim_start_matches(' ').len();
    &line[blank.min(columns)..]
}

/// A line of an example as code: `# ` hides one from the reader, and a second `#` takes that back.
fn code(line: &str) -> String {
    match line.trim().strip_prefix('#') {
        Some("") => String::new(),
        Some(hidden) if hidden.starts_with(' ') => hidden[1..].to_owned(),
        Some(shown) if shown.starts_with('#') => line.replacen("##", "#", 1),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Example> {
        let line = |(number, line): (usize, &str)| {
            let (condition, text) = line.split_once("|| ").map_or((None, line), |(when, text)| (Some(when), text));
            Line { number, text: text.to_owned(), condition: condition.map(str::to_owned) }
        };
        examples(&text.lines().enumerate().map(line).collect::<Vec<_>>())
    }

    #[test]
    fn an_example_is_a_block_of_rust_that_is_run() {
        let one = |about: &str| of(&format!("Does.\n\n```{about}\nf();\n```\nMore.\n"));
        let runs = ["", "rust", "should_panic", "rust,ours", " edition2018", "rust, should_panic", "standalone_crate"];
        for about in runs {
            let [example] = &one(about)[..] else { panic!("{about}") };
            let expected = (2, vec![(3, "f();".to_owned())], about.contains("panic"));
            assert_eq!((example.line, example.code.clone(), example.panics), expected, "{about}");
        }
        for about in ["text", "ignore", "rust,no_run", "compile_fail,E0308", "ignore-windows", "json rusty", "console"]
        {
            assert_eq!(one(about), [], "{about}");
        }
        assert_eq!(of("```\n#![feature(x)]\n```\n`f` and ``` f ```\n``\nf();\n``").len(), 0);
    }

    #[test]
    fn fences_and_hidden_lines_are_those_of_rustdoc() {
        let text = "~~~text\n```\n~~~\n````\n```\n# hidden();\n  # hidden(2);\n#\n##[a]\n  ## b\n#[b]\n````\nlast\n1. One\n\n   ```rust\n   a\n     b\n  c\n   ```\n~~~~\n~~~\nopen";
        let found: Vec<String> = of(text).iter().map(Example::text).collect();
        assert_eq!(found, ["```\nhidden();\nhidden(2);\n\n#[a]\n  # b\n#[b]", "a\n  b\nc", "~~~\nopen"]);
    }

    #[test]
    fn blocks_may_begin_in_one_of_two_ways() {
        let found = of(
            "x|| ```\nnot(x)|| ```ignore\nf();\n```\nnot(x)|| ```text\nx|| ```should_panic\nf();\n```\n```\ny|| f();\n```\nz|| ```\nz|| g();\n```\n",
        );
        let found: Vec<_> = found.iter().map(|found| (found.line, found.condition.as_deref(), found.panics)).collect();
        assert_eq!(found, [(0, Some("x"), false), (5, Some("x"), true), (11, Some("z"), false)]);
    }

    #[test]
    fn an_example_tells_what_it_asserts() {
        let tells = |text: &str| of(text).iter().any(Example::tells);
        assert!(tells("```\nassert_eq!(f(), 1);\n```") && tells("```should_panic\nf();\n```"));
        assert!(!tells("```\nf();\n```\nassert!"));
    }
}
