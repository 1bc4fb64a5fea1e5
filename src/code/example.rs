//! Examples in the documentation of a Python function.

use super::Target;
use super::python::head_end;
use crate::language::Language;

impl Target {
    /// The stub with one more example at the end of its docstring, which is made if there is none. The
    /// `statements` are typed at the prompt `>>>`, further lines of each at `...`; `printed` is what an
    /// interpreter prints for the last one, and may be empty. The error is a sentence.
    pub fn stub_with_example(&self, statements: &[String], printed: &str) -> Result<String, String> {
        if self.language != Language::Python {
            return Err(format!("examples in documentation are run in Python, and not in {}", self.language.title()));
        }
        let stub = self.stub();
        let inner = self.body_indent.clone().unwrap_or_else(|| " ".repeat(self.indent + 4));
        let lines = |is_raw: bool| -> String {
            let text = format!("{}\n{printed}", prompted(statements));
            let text = if is_raw { text } else { text.replace('\\', "\\\\") };
            text.lines().map(|line| if line.is_empty() { String::new() } else { format!("{inner}{line}\n") }).collect()
        };
        let Some(docstring) = self.docstring.clone() else {
            let head = head_end(&stub)
                .ok_or_else(|| format!("the head of {} ends in no colon, so no docstring can follow it", self.name))?;
            // A comment behind the head, and lines under it, stand under the docstring.
            let below = stub[head..].trim_start_matches([' ', '\t']);
            let below = below.strip_prefix('\n').map_or_else(|| format!("{inner}{below}"), str::to_owned);
            let below = if below.trim().is_empty() { String::new() } else { below };
            return Ok(format!("{}\n{inner}\"\"\"\n{}{inner}\"\"\"\n{below}", &stub[..head], lines(false)));
        };
        let text = self.text.get(docstring.clone()).unwrap_or_default();
        let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| text.ends_with(quotes));
        let quotes = quotes.ok_or_else(|| {
            format!("the docstring of {} has single quotes, which hold one line only: give it three", self.name)
        })?;
        if statements.iter().any(|line| line.contains(quotes)) || printed.contains(quotes) {
            return Err(format!("the example has {quotes} in it, which would end the docstring of {}", self.name));
        }
        let is_raw = text.starts_with(['r', 'R']);
        let end = docstring.end - quotes.len() - self.stub;
        let (before, after) = (stub[..end].trim_end(), &stub[end..]);
        // Another example stands right above, anything else is kept apart.
        let is_example = before.rsplit("\n\n").next().is_some_and(|last| last.contains(">>>"));
        let gap = if is_example || before.ends_with(quotes) { "\n" } else { "\n\n" };
        Ok(format!("{before}{gap}{}{inner}{after}", lines(is_raw)))
    }

    /// Its head with its decorators, up to the colon; empty where none ends it.
    pub fn head(&self) -> String {
        let stub = self.stub();
        head_end(&stub).map_or_else(String::new, |end| stub[..end].to_owned())
    }

    /// Returns true if the stub of another target says the same but for the examples of its docstring: they are
    /// tests, so candidates for the one are candidates for the other.
    pub fn asks_as(&self, other: &Self) -> bool {
        self.language == other.language && self.asked() == other.asked()
    }

    /// The words of the stub, those of examples left out.
    fn asked(&self) -> Vec<String> {
        let stub = self.stub();
        let of_stub = |at: usize| at.checked_sub(self.stub).filter(|&at| stub.is_char_boundary(at));
        let docstring = self.docstring.clone().and_then(|d| Some((of_stub(d.start)?, of_stub(d.end)?)));
        let (head, rest) = docstring.map_or((stub.as_str(), ""), |(start, end)| (&stub[..start], &stub[end..]));
        let mut is_open = false;
        let prose = self.docstring_lines().filter(|line| {
            is_open = line.starts_with(">>>") || is_open && !line.trim_end().is_empty();
            !is_open
        });
        let words = [head].into_iter().chain(prose).chain([rest]).flat_map(str::split_whitespace);
        words.map(str::to_owned).collect()
    }

    /// Examples of the docstring: the source, and the lines that are printed, without their indentation.
    pub fn examples(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        let mut is_open = false;
        for line in self.docstring_lines() {
            let line = line.trim_end();
            let more = line.strip_prefix("...").filter(|_| all.last().is_some_and(|(_, printed)| printed.is_empty()));
            if let Some(source) = line.strip_prefix(">>>") {
                all.push((source.trim().to_owned(), String::new()));
                is_open = true;
            } else if let (true, Some(more), Some((source, _))) = (is_open, more, all.last_mut()) {
                *source = [source, "\n", more.strip_prefix(' ').unwrap_or(more)].concat();
            } else if let (true, false, Some((_, printed))) = (is_open, line.is_empty(), all.last_mut()) {
                *printed = [printed, line, "\n"].concat();
            } else {
                is_open = false;
            }
        }
        all
    }
}

/// Statements as they are typed at an interpreter's prompts.
fn prompted(statements: &[String]) -> String {
    let lines = |statement: &String| {
        let line = |(at, line): (usize, &str)| format!("{} {line}", if at == 0 { ">>>" } else { "..." });
        statement.lines().enumerate().map(line).collect::<Vec<_>>()
    };
    statements.iter().flat_map(lines).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Place;

    fn with(text: &str, call: &str, result: &str) -> Result<String, String> {
        let target = Target::in_text(text, Language::Python, &Place::Any).unwrap();
        let stub = target.stub_with_example(&call.split("; ").map(str::to_owned).collect::<Vec<_>>(), result)?;
        let edited = target.with_stub(&stub).map_err(|e| e.to_string())?;
        assert!(edited.has_telling_doctests() || result.is_empty(), "{stub}");
        Ok(stub)
    }

    #[test]
    fn an_example_goes_to_the_end_of_the_docstring() {
        let cases = [
            (
                "def f(x):\n    \"\"\"Doc.\"\"\"\n    pass\n",
                "def f(x):\n    \"\"\"Doc.\n\n    >>> f(1)\n    2\n    \"\"\"\n",
            ),
            (
                "def f(x):\n    '''Doc.\n\n    >>> f(0)\n    0\n    '''\n",
                "def f(x):\n    '''Doc.\n\n    >>> f(0)\n    0\n    >>> f(1)\n    2\n    '''\n",
            ),
            ("def f(x):\n    pass\n", "def f(x):\n    \"\"\"\n    >>> f(1)\n    2\n    \"\"\"\n"),
            (
                "class A:\n    def f(self):\n        \"\"\"Doc.\n        \"\"\"\n        pass\n",
                "    def f(self):\n        \"\"\"Doc.\n\n        >>> f(1)\n        2\n        \"\"\"\n",
            ),
            ("def f(x):\n    \"\"\"\"\"\"\n    pass\n", "def f(x):\n    \"\"\"\n    >>> f(1)\n    2\n    \"\"\"\n"),
            (
                "def f(x):\n    # TODO it: all\n    raise NotImplementedError\n",
                "def f(x):\n    \"\"\"\n    >>> f(1)\n    2\n    \"\"\"\n    # TODO it: all\n",
            ),
            (
                "@d(\"a:\")\ndef f(x: int = {1: 2}) -> int:  # one: \"x\"\n    pass\n",
                "@d(\"a:\")\ndef f(x: int = {1: 2}) -> int:\n    \"\"\"\n    >>> f(1)\n    2\n    \"\"\"\n    # one: \"x\"\n",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(with(text, "f(1)", "2").unwrap(), expected);
        }
        let text = "def f(x):\n    \"\"\"Doc.\"\"\"\n";
        assert!(with(text, "f('\\n')", "'\\\\'").unwrap().contains("f('\\\\n')\n    '\\\\\\\\'\n"));
        assert!(with(&text.replace("\"\"\"D", "r\"\"\"D"), "f('\\n')", "1").unwrap().contains("f('\\n')"));
        assert!(with("def f(x):\n    \"Doc.\"\n    pass\n", "f(1)", "2").unwrap_err().contains("single quotes"));
        assert!(with(text, "f('\"\"\"')", "2").unwrap_err().contains("would end the docstring"));
    }
    #[test]
    fn a_stub_with_other_examples_asks_the_same() {
        let target = |text: &str| Target::in_text(text, Language::Python, &Place::Any).unwrap();
        let plain = target("def f(x):\n    \"\"\"Doubles x.\"\"\"\n");
        for same in [
            "def f(x):\n    \"\"\"Doubles x.\n\n    >>> f(1)\n    2\n    \"\"\"\n",
            "def f(x):\n    \"\"\"Doubles x.\n    >>> for one in [1]:\n    ...     f(one)\n    2\n    >>> f(2)\n    4\n    \"\"\"\n",
        ] {
            assert!(plain.asks_as(&target(same)) && target(same).asks_as(&plain), "{same}");
        }
        for other in [
            "def f(x):\n    \"\"\"Halves x.\"\"\"\n",
            "def f(x, y):\n    \"\"\"Doubles x.\"\"\"\n",
            "def f(x):\n    \"\"\"Doubles x.\n\n    >>> f(1)\n    2\n\n    Not y.\n    \"\"\"\n",
        ] {
            assert!(!plain.asks_as(&target(other)), "{other}");
        }
        let bare = target("def f(x):\n    pass\n");
        assert!(bare.asks_as(&target("def f(x):\n    \"\"\"\n    >>> f(1)\n    2\n    \"\"\"\n    pass\n")));
    }

    #[test]
    fn an_example_may_have_several_lines() {
        let stub = with("def f(x):\n    pass\n", "import a; for n in a:\n    f(n)", "2\n3").unwrap();
        let expected = "\n    >>> import a\n    >>> for n in a:\n    ...     f(n)\n    2\n    3\n";
        assert!(stub.contains(expected), "{stub}");
    }

    #[test]
    fn examples_are_read() {
        let text = "def f(x):\n    r\"\"\">>> f(0)\n    ''\n\n    Doc.\n\n    >>> for n in f(1):\n    ...     print(n)\n    1\n    \n    2\n    >>> x = 3\n    \"\"\"\n    pass\n";
        let target = Target::in_text(text, Language::Python, &Place::Any).unwrap();
        let all = target.examples();
        let all: Vec<_> = all.iter().map(|(source, printed)| (source.as_str(), printed.as_str())).collect();
        assert_eq!(all, [("f(0)", "''\n"), ("for n in f(1):\n    print(n)", "1\n"), ("x = 3", "")]);
        assert!(target.has_telling_doctests());
        let empty = with("def f(x):\n    \"\"\"Doc.\"\"\"\n", "f(1)", "''").unwrap();
        assert!(empty.contains(">>> f(1)\n    ''\n"), "{empty}");
    }
}
