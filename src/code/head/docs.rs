//! The documentation of a function as text that a model may write anew: a docstring, or the comment above.

use super::named_at;
use crate::code::answer::RequestedFunction;
use crate::code::python::head_end;
use crate::code::target::last_name;
use crate::code::{Place, Target, text, without_comments};
use crate::language::Language;

/// Quotes around a docstring.
const QUOTES: &str = "\"\"\"";

/// The bytes of a stub around its documentation, and what that is opened with.
struct DocsPlace {
    /// The bytes before it are kept.
    start: usize,
    /// The bytes from here on are kept.
    end: usize,
    /// The beginning of the new documentation, with its indentation.
    opening: String,
}

impl Target {
    /// The stub up to the documentation, which is opened.
    pub(super) fn up_to_docs(&self) -> Option<String> {
        let (stub, place) = (self.stub(), self.place_of_docs()?);
        Some(stub[..place.start].to_owned() + &place.opening)
    }

    /// The end of the documentation in a text that goes on behind its opening.
    pub(super) fn docs_told(&self, text: &str) -> Option<usize> {
        match self.language {
            Language::Python => {
                let is_escaped = |at: usize| text[..at].chars().rev().take_while(|&c| c == '\\').count() % 2 == 1;
                let ends = text.match_indices(QUOTES).map(|(at, _)| at);
                ends.into_iter().find(|&at| !is_escaped(at)).map(|at| at + QUOTES.len())
            }
            Language::JavaScript | Language::TypeScript => text.find("*/").map(|at| at + 2),
            Language::Go | Language::Rust => {
                let mark = self.doc_mark();
                let mut at = text.find('\n')? + 1;
                loop {
                    let line = text[at..].split('\n').next().unwrap_or_default();
                    let begun = line.trim_start();
                    if begun.len() >= mark.len() && begun.starts_with(mark) {
                        at += text[at..].find('\n')? + 1;
                    } else if mark.starts_with(begun) && !text[at..].contains('\n') {
                        // It may become a line of it.
                        return None;
                    } else {
                        return Some(at - 1);
                    }
                }
            }
        }
    }

    /// This target with the documentation that a text begins with, which stands behind
    /// [`Self::up_to_docs`], or with that of the function in an answer. Examples of the present one stay,
    /// unless the wish speaks of examples: they are tests.
    pub(super) fn with_docs(&self, said: &str, wish: &str, is_begun: bool) -> Option<Self> {
        let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
        let said = lines.join("\n").trim_end().to_owned();
        let (stub, place) = (self.stub(), self.place_of_docs()?);
        let docs = if is_begun {
            // The end of a text is the end of a comment.
            let end = self.docs_told(&said).or_else(|| self.docs_told(&format!("{said}\n}}")))?;
            [&place.opening, &said[..end], "\n"].concat()
        } else {
            self.docs_in(&said)?
        };
        docs.strip_prefix(&*place.opening).unwrap_or(&docs).chars().find(|c| c.is_alphanumeric())?;
        let mut examples = stub[place.start..place.end].lines().map(str::trim).filter(|line| line.starts_with(">>>"));
        let is_kept = |example: &str| docs.lines().any(|line| line.trim() == example);
        if !wish.to_lowercase().contains("example") && !examples.all(is_kept) {
            return None;
        }
        let changed = [&stub[..place.start], &docs, &stub[place.end..]].concat();
        let changed = self.with_stub(&changed).ok()?;
        // Nothing but the documentation is another one.
        let code = |target: &Self| without_comments(target.language, &target.stub());
        let words = |target: &Self| code(target).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        (changed.name == self.name && words(&changed) == words(self)).then_some(changed)
    }

    /// The documentation of the function in an answer, whole lines with this function's indentation.
    fn docs_in(&self, answer: &str) -> Option<String> {
        let requested = self.requested();
        let name = last_name(&self.name);
        let is_fence = |line: &str| line.trim_start().starts_with("```");
        let mut lines = answer.split_inclusive('\n');
        let block: String = match lines.find(|line| is_fence(line)) {
            Some(_) => lines.take_while(|line| !is_fence(line)).collect(),
            None => answer.to_owned(),
        };
        let of = Self::in_text(&block, self.language, &Place::Function(name.to_owned())).ok()?;
        let (stub, place) = (of.stub(), of.place_of_docs()?);
        let indent = |target: &RequestedFunction| {
            if self.language == Language::Python { target.inner.clone() } else { target.outer.clone() }
        };
        let (own, others) = (indent(&requested), indent(&of.requested()));
        let lines = stub[place.start..place.end].split_inclusive('\n');
        let docs: String = lines
            .flat_map(|line| match line.strip_prefix(&*others) {
                Some(rest) if !rest.trim().is_empty() => [&*own, rest],
                _ => ["", line],
            })
            .collect();
        (!docs.trim().is_empty()).then_some(docs)
    }

    /// The place of the documentation in the stub: that of the present one, or of one that is added.
    fn place_of_docs(&self) -> Option<DocsPlace> {
        let stub = self.stub();
        let requested = self.requested();
        if self.language == Language::Python {
            let head = head_end(&stub)?;
            let line_end = head + stub[head..].find('\n')? + 1;
            let docs =
                self.docstring.as_ref().and_then(|docs| Some(docs.start.checked_sub(self.stub)?..docs.end - self.stub));
            let (start, end) = match docs {
                Some(docs) => (text::line_start(&stub, docs.start), docs.end + stub[docs.end..].find('\n')? + 1),
                None => (line_end, line_end),
            };
            let is_apart = start >= line_end && stub[..start].ends_with('\n');
            return is_apart.then(|| DocsPlace { start, end, opening: format!("{}{QUOTES}", requested.inner) });
        }
        named_at(self.language, &stub, last_name(&self.name))?;
        let code = without_comments(self.language, &stub);
        let code = code.len() - code.trim_start().len();
        let mut end = text::line_start(&stub, code);
        // Directives of Go stand below.
        while let Some(above) = stub[..end].strip_suffix('\n') {
            let line = text::line_start(above, above.len());
            if !(self.language == Language::Go && above[line..].starts_with("//go:")) {
                break;
            }
            end = line;
        }
        let above = stub[..end].trim_end();
        let outer = &requested.outer;
        let (start, opening) = match self.language {
            Language::Go | Language::Rust => {
                let mark = self.doc_mark();
                let lines = stub[..end].split_inclusive('\n').rev();
                let docs: usize = lines.take_while(|line| line.trim_start().starts_with(mark)).map(str::len).sum();
                let name = if self.language == Language::Go { last_name(&self.name) } else { "" };
                (end - docs, format!("{outer}{mark} {name}").trim_end().to_owned())
            }
            _ => {
                let docs = above.rfind("/**").filter(|_| above.ends_with("*/"));
                (docs.map_or(end, |at| text::line_start(&stub, at)), format!("{outer}/**\n{outer} *"))
            }
        };
        Some(DocsPlace { start, end, opening })
    }

    /// The mark before each line of documentation.
    fn doc_mark(&self) -> &'static str {
        if self.language == Language::Rust { "///" } else { self.language.line_comment() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::HeadPart;

    fn target(language: Language, text: &str, name: &str) -> Target {
        Target::in_text(text, language, &Place::Function(name.to_owned())).unwrap()
    }

    #[test]
    fn documentation_is_written_anew_in_every_language() {
        for (language, text, name, opened, said, stub) in [
            (
                Language::Python,
                "class A:\n    @property\n    def f(self):\n        return 1\n",
                "A.f",
                "    @property\n    def f(self):\n        \"\"\"",
                "One.\"\"\"\n        return 1\n",
                "    @property\n    def f(self):\n        \"\"\"One.\"\"\"\n",
            ),
            (
                Language::Python,
                "def f(x):\n    '''Old.\n\n    >>> f(1)\n    1\n    '''\n    return x\n",
                "f",
                "def f(x):\n    \"\"\"",
                "New \\\"\"\".\n\n    >>> f(1)\n    1\n    \"\"\"\n",
                "def f(x):\n    \"\"\"New \\\"\"\".\n\n    >>> f(1)\n    1\n    \"\"\"\n",
            ),
            (
                Language::JavaScript,
                "// Of a list.\nexport function f(a, b) {\n  return a;\n}\n",
                "f",
                "// Of a list.\n/**\n *",
                " Adds. \n * \n * @param {number} a\n */\nexport function f(a, b) {",
                "// Of a list.\n/**\n * Adds.\n *\n * @param {number} a\n */\nexport function f(a, b) {",
            ),
            (
                Language::TypeScript,
                "class A {\n  /**\n   * Old.\n   */\n  f(a: number): number {\n    return a;\n  }\n}\n",
                "A.f",
                "  /**\n   *",
                " New. */\n  f(",
                "  /**\n   * New. */\n  f(a: number): number {",
            ),
            (
                Language::Go,
                "package a\n\n// F is old.\n//go:noinline\nfunc F(x int) int {\n\treturn x\n}\n",
                "F",
                "// F",
                " gives x.\n// That is all.\nfunc F(",
                "// F gives x.\n// That is all.\n//go:noinline\nfunc F(x int) int {",
            ),
            (
                Language::Rust,
                "/// Old.\n#[inline]\nfn f(x: u8) -> u8 {\n    x\n}\n",
                "f",
                "///",
                " New.\n///\n/// More.\n#[inline]",
                "/// New.\n///\n/// More.\n#[inline]\nfn f(x: u8) -> u8 {",
            ),
        ] {
            let of = target(language, text, name);
            assert_eq!(of.up_to(HeadPart::Docs).as_deref(), Some(opened), "{language:?}");
            let changed = of.with_part(HeadPart::Docs, said, "", true).unwrap();
            assert_eq!(changed.stub().trim_end(), stub.trim_end(), "{language:?}");
            // An answer that was not begun has the whole function.
            let answer = format!("Sure, here it is:\n\n```x\n{}```\nIt is documented.", changed.text);
            assert_eq!(
                of.with_part(HeadPart::Docs, &answer, "", false).map(|target| target.stub()),
                Some(changed.stub())
            );
            assert_eq!(of.with_part(HeadPart::Docs, said, "", false).map(|target| target.stub()), None);
            let end = of.told(HeadPart::Docs, said, "").unwrap();
            let shorter = (0..end).filter(|&at| said.is_char_boundary(at));
            assert!(
                shorter.into_iter().all(|at| of.told(HeadPart::Docs, &said[..at], "").is_none_or(|told| told == end))
            );
        }
    }

    #[test]
    fn documentation_that_is_more_or_less_than_that_is_left() {
        let of = target(
            Language::Python,
            "def f(x):\n    \"\"\"Old.\n\n    >>> f(1)\n    1\n    \"\"\"\n    return x\n",
            "f",
        );
        let with = |said: &str, wish: &str| of.with_part(HeadPart::Docs, said, wish, true).map(|target| target.stub());
        assert_eq!(with("New.\"\"\"", "shorter docs"), None, "its example is a test");
        assert!(with("New.\"\"\"", "docs without the examples").is_some());
        for said in ["New.", "\"\"\"", " \n \"\"\"\n"] {
            assert_eq!(with(said, "docs without the examples"), None, "{said}");
        }
        let of = target(Language::JavaScript, "const f = (a) => a + 1;\n", "f");
        let changed = of.with_part(HeadPart::Docs, " One more. */", "", true).unwrap();
        assert!(changed.stub().starts_with("/**\n * One more. */\nconst f = (a) => {"), "{}", changed.stub());
    }
}
