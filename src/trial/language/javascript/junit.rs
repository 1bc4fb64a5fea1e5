//! Reads the reports that bun and deno write themselves: tests by name, in `JUnit` XML. Pure.

use std::borrow::Cow;

use quick_xml::escape::unescape;
use quick_xml::events::Event;
use quick_xml::reader::Reader;

use crate::trial::language::row::{Outcome, TestEnd};
use crate::untrusted::clean_line;

/// The tests of a report; tests that failed only through their parts come last. `None` if the text is no
/// report. Messages name the line in the tests file of this name.
pub fn read(xml: &str, tests_file: &str) -> Option<Vec<TestEnd>> {
    let (mut suites, mut tests, mut open): (Vec<String>, Vec<TestEnd>, Option<TestEnd>) = Default::default();
    let (mut is_whole, mut reader) = (false, Reader::from_str(xml));
    loop {
        let event = reader.read_event().ok()?;
        let is_closed = matches!(event, Event::Empty(_));
        match event {
            Event::Start(tag) | Event::Empty(tag) => {
                let attribute = |name: &str| tag.try_get_attribute(name).ok().flatten();
                let value = |name: &str| attribute(name).map_or_else(String::new, |found| plain(&found.value));
                match tag.name().as_ref() {
                    "testsuite" if !is_closed => suites.push(value("name")),
                    "testcase" => {
                        // The first suite is the file.
                        let above = suites.iter().skip(1).cloned();
                        let name = above.chain([value("name")]).collect::<Vec<_>>().join(" > ");
                        let test = TestEnd::new(&name, Outcome::Passed);
                        if is_closed { tests.push(test) } else { open = Some(test) }
                    }
                    "failure" | "error" => {
                        let message = value("message");
                        let text = if is_closed { "".into() } else { reader.read_text(tag.name()).ok()?.into_inner() };
                        if let Some(test) = open.as_mut().filter(|test| test.outcome != Outcome::Failed) {
                            test.outcome = Outcome::Failed;
                            test.why = told(&message, &plain(&text), tests_file);
                        }
                    }
                    "skipped" => open.iter_mut().for_each(|test| test.outcome = Outcome::Skipped),
                    _ => {}
                }
            }
            Event::End(tag) => match tag.name().as_ref() {
                "testsuites" => is_whole = true,
                "testsuite" => drop(suites.pop()),
                "testcase" => tests.extend(open.take()),
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
    }
    let is_of_parts = |test: &TestEnd| test.why.split_once(" test step").is_some_and(|(n, _)| n.parse::<u32>().is_ok());
    tests.sort_by_key(is_of_parts);
    number(&mut tests);
    is_whole.then_some(tests)
}

/// Text with its entities decoded, or as it is if one of them is no entity.
fn plain(text: &str) -> String {
    unescape(text).map_or_else(|_| text.to_owned(), Cow::into_owned)
}

/// The message of a failure, with its line in the tests file.
fn told(message: &str, text: &str, tests_file: &str) -> String {
    let message = if message.is_empty() { text.split("\n    at ").next().unwrap_or_default() } else { message };
    let said = clean_line(message.trim_start_matches("Uncaught "), 300);
    let place = format!("{tests_file}:");
    let mut places = text.split(&place).skip(1);
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    match places.next().map(digits).filter(|line| !line.is_empty()) {
        Some(line) => format!("{said} ({tests_file}:{line})"),
        None => said,
    }
}

/// Numbers tests that have the same name.
fn number(tests: &mut [TestEnd]) {
    for at in 0..tests.len() {
        let before = tests[..at].iter().filter(|test| test.name == tests[at].name).count();
        if before > 0 {
            tests[at].name = format!("{} ({})", tests[at].name, before + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(xml: &str) -> Option<Vec<(String, Outcome, String)>> {
        Some(read(xml, "f.test.ts")?.into_iter().map(|test| (test.name, test.outcome, test.why)).collect())
    }

    fn end(name: &str, outcome: Outcome, why: &str) -> (String, Outcome, String) {
        (name.to_owned(), outcome, why.to_owned())
    }

    /// As bun 1.4 writes it.
    #[test]
    fn suites_in_suites_are_read() {
        let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"bun test\" tests=\"6\">\n  <testsuite name=\"f.test.ts\" file=\"f.test.ts\">\n    \
            <testcase name=\"a &lt;b&gt; &quot;c&quot;\" classname=\"\" line=\"3\" />\n    <testsuite name=\"g\" line=\"4\">\n      \
            <testcase name=\"later\" classname=\"g\">\n        <failure type=\"AssertionError\" message=\"expect(received).toBe(expected)&#10;&#10;Expected: 9&#10;Received: 8&#10;\">\
            AssertionError: expect(received)&#10;      at f.test.ts:4:68&#10;</failure>\n      </testcase>\n      <testcase name=\"left\"><skipped /></testcase>\n    </testsuite>\n    \
            <testcase name=\"same\" />\n<testcase name=\"same\" />\n  </testsuite>\n</testsuites>\n";
        let why = "expect(received).toBe(expected) Expected: 9 Received: 8 (f.test.ts:4)";
        let expected = [
            end("a <b> \"c\"", Outcome::Passed, ""),
            end("g > later", Outcome::Failed, why),
            end("g > left", Outcome::Skipped, ""),
            end("same", Outcome::Passed, ""),
            end("same (2)", Outcome::Passed, ""),
        ];
        assert_eq!(all(xml).unwrap(), expected);
        for part in ["", "<testsuites>", &xml[..xml.len() / 2], "<testcase name=\"a\" />", "<a \"</testsuites>"] {
            assert_eq!(all(part), None, "{part}");
        }
    }

    /// As deno 2.9 writes it.
    #[test]
    fn a_step_says_more_than_its_test() {
        let xml = "<testsuites name=\"deno test\">\n<testsuite name=\"./f.test.ts\">\n<testcase name=\"steps\" line=\"4\">\n<failure message=\"1 test step failed\">1 test step failed.</failure>\n</testcase>\n\
            <testcase name=\"steps &gt; two\">\n<failure message=\"Uncaught Error: got 4, expected 5\">Error: got 4\n    at eq (file:///x/f.test.ts:2:58)\n    at file:///x/f.test.ts:4:101</failure>\n</testcase>\n</testsuite>\n</testsuites>\n";
        let expected = [
            end("steps > two", Outcome::Failed, "Error: got 4, expected 5 (f.test.ts:2)"),
            end("steps", Outcome::Failed, "1 test step failed"),
        ];
        assert_eq!(all(xml).unwrap(), expected);
    }
}
