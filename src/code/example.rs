//! An example in the documentation of a Python function.

use super::Target;
use crate::language::Language;

impl Target {
    /// The stub with one more `>>>` example at the end of its docstring, which is made if there is none.
    /// `result` is what an interpreter prints; may be empty. The error is a sentence.
    pub fn stub_with_example(&self, call: &str, result: &str) -> Result<String, String> {
        if self.language != Language::Python {
            return Err(format!("examples in documentation are run in Python, and not in {}", self.language.title()));
        }
        let stub = self.stub();
        let inner = self.body_indent.clone().unwrap_or_else(|| " ".repeat(self.indent + 4));
        let lines = |is_raw: bool| -> String {
            let text = format!(">>> {call}\n{result}");
            let text = if is_raw { text } else { text.replace('\\', "\\\\") };
            text.lines().map(|line| if line.is_empty() { String::new() } else { format!("{inner}{line}\n") }).collect()
        };
        let Some(docstring) = self.docstring.clone() else {
            let (head, typed) = stub.split_at(stub.len() - self.typed.len());
            let head = head.trim_end();
            if !head.ends_with(':') {
                return Err(format!("the head of {} ends in no colon, so no docstring can follow it", self.name));
            }
            let text = lines(false);
            return Ok(format!("{head}\n{inner}\"\"\"{}{inner}\"\"\"\n{typed}", &text[inner.len()..]));
        };
        let text = self.text.get(docstring.clone()).unwrap_or_default();
        let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| text.ends_with(quotes));
        let quotes = quotes.ok_or_else(|| {
            format!("the docstring of {} has single quotes, which hold one line only: give it three", self.name)
        })?;
        if call.contains(quotes) || result.contains(quotes) {
            return Err(format!("the example has {quotes} in it, which would end the docstring of {}", self.name));
        }
        let is_raw = text.starts_with(['r', 'R']);
        let end = docstring.end - quotes.len() - self.stub;
        let (before, after) = (stub[..end].trim_end(), &stub[end..]);
        // Another example stands right above, anything else is kept apart.
        let is_example = before.rsplit("\n\n").next().is_some_and(|last| last.contains(">>>"));
        let gap = if is_example { "\n" } else { "\n\n" };
        let gap = if before.ends_with(quotes) { "" } else { gap };
        let lines = lines(is_raw);
        let lines = if gap.is_empty() { &lines[inner.len()..] } else { &lines };
        Ok(format!("{before}{gap}{lines}{inner}{after}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Place;

    fn with(text: &str, call: &str, result: &str) -> Result<String, String> {
        let target = Target::in_text(text, Language::Python, &Place::Any).unwrap();
        let stub = target.stub_with_example(call, result)?;
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
            ("def f(x):\n    pass\n", "def f(x):\n    \"\"\">>> f(1)\n    2\n    \"\"\"\n"),
            (
                "class A:\n    def f(self):\n        \"\"\"Doc.\n        \"\"\"\n        pass\n",
                "    def f(self):\n        \"\"\"Doc.\n\n        >>> f(1)\n        2\n        \"\"\"\n",
            ),
            ("def f(x):\n    \"\"\"\"\"\"\n    pass\n", "def f(x):\n    \"\"\">>> f(1)\n    2\n    \"\"\"\n"),
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
}
