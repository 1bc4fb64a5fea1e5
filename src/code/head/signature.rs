//! The parameters of a function as text that a model may write anew.

use super::parameter::{named_at, parameter, parts};
use crate::code::Target;
use crate::code::target::last_name;
use crate::code::words::names;

/// Words of a wish that speak of parameters.
const SPEAKS: [&str; 14] = [
    "param", "params", "parameter", "parameters", "arg", "args", "argument", "arguments", "kwarg", "keyword", "option",
    "optional", "flag", "default",
];

/// Returns true if a wish speaks of the parameters of the function, so that they may change.
pub fn speaks_of_parameters(wish: &str) -> bool {
    let mut words = wish.split(|c: char| !c.is_alphanumeric()).map(str::to_ascii_lowercase);
    words.any(|word| SPEAKS.contains(&&*word))
}

impl Target {
    /// The stub up to the parenthesis that opens the parameters; `None` where there is none.
    pub fn up_to_parameters(&self) -> Option<String> {
        let stub = self.stub();
        let at = self.parameters_at(&stub)?;
        Some(stub[..at].to_owned())
    }

    /// The length of a list of parameters in parentheses that a text begins with; `None` where it does not end.
    pub fn parameters_end(&self, text: &str) -> Option<usize> {
        let last = *parts(self.language, text.strip_prefix('(')?).last()?;
        let end = last.as_ptr() as usize + last.len() - text.as_ptr() as usize;
        text[end..].starts_with(')').then_some(end + 1)
    }

    /// This target with the parameters that a text begins with, which stands behind
    /// [`Self::up_to_parameters`], or with those of the function in an answer. A parameter that is there and that the wish does not name stays. `None` where
    /// that is no list, one that lacks such a parameter, or one that cannot be read.
    pub fn with_parameters(&self, text: &str, wish: &str) -> Option<Self> {
        let (stub, language) = (self.stub(), self.language);
        let at = self.parameters_at(&stub)?;
        let whole = format!("{}(", last_name(&self.name));
        let begin = if text.starts_with('(') { 0 } else { text.find(&whole)? + whole.len() - 1 };
        let text = &text[begin..];
        let own_end = at + self.parameters_end(&stub[at..])?;
        let own = parts(language, &stub[at + 1..own_end]);
        let mut new = parts(language, &text[1..self.parameters_end(text)?]);
        let named = names(language, wish);
        let name = |part: &str| parameter(language, part).map(|one| one.pattern);
        let known: Vec<Option<String>> = new.iter().map(|part| name(part)).collect();
        for (place, part) in own.into_iter().enumerate() {
            let own_name = name(part).filter(|name| !named.contains(&**name));
            if own_name.is_some() && !known.contains(&own_name) {
                *new.get_mut(place)? = part;
            }
        }
        let changed = [&stub[..at], "(", &new.join(","), ")", &stub[own_end..]].concat();
        let changed = self.with_stub(&changed).ok()?;
        (changed.name == self.name).then_some(changed)
    }

    /// The byte of the stub at which the parameters begin.
    fn parameters_at(&self, stub: &str) -> Option<usize> {
        let at = named_at(self.language, stub, last_name(&self.name))?;
        Some(at + stub[at..].find('(')?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Place;
    use crate::language::Language;

    fn target(language: Language, text: &str, name: &str) -> Target {
        Target::in_text(text, language, &Place::Function(name.to_owned())).unwrap()
    }

    #[test]
    fn parameters_are_written_anew_in_every_language() {
        let python = "class Cart:\n    def total(self, tax=(0, 1)) -> int:\n        \"\"\"As total(1).\"\"\"\n        return 1\n";
        let of = target(Language::Python, python, "Cart.total");
        assert_eq!(of.up_to_parameters().unwrap(), "    def total");
        assert_eq!(of.parameters_end("(self, tax=(0, 1), net"), None);
        let changed = of.with_parameters("(self, tax=(0, 1), net=\")\"):\n        return 2", "add net").unwrap();
        assert_eq!(
            changed.stub(),
            "    def total(self, tax=(0, 1), net=\")\") -> int:\n        \"\"\"As total(1).\"\"\"\n"
        );
        for (language, text, name, opened, new, stub) in [
            (
                Language::JavaScript,
                "const cut = (text) => {\n  return text;\n};\n",
                "cut",
                "const cut = ",
                "(text, { at = 1 } = {}) => {",
                "const cut = (text, { at = 1 } = {}) => {",
            ),
            (
                Language::TypeScript,
                "function cut(text: string): string {\n  return text;\n}\n",
                "cut",
                "function cut",
                "(text: string, at?: Map<string, number>) {",
                "function cut(text: string, at?: Map<string, number>): string {",
            ),
            (
                Language::Go,
                "package a\n\nfunc (c *Cart) Total(tax int) int {\n\treturn 1\n}\n",
                "Cart.Total",
                "func (c *Cart) Total",
                "(tax int, net bool) int {",
                "func (c *Cart) Total(tax int, net bool) int {",
            ),
            (
                Language::Rust,
                "fn cut(text: &str) -> &str {\n    text\n}\n",
                "cut",
                "fn cut",
                "(text: &str, at: usize)",
                "fn cut(text: &str, at: usize) -> &str {",
            ),
        ] {
            let of = target(language, text, name);
            assert_eq!(of.up_to_parameters().as_deref(), Some(opened));
            let changed = of.with_parameters(new, "").map(|target| target.stub());
            assert_eq!(changed.as_deref().map(str::trim_end), Some(stub), "{language:?}");
            assert_eq!(of.with_parameters("(text, ", ""), None);
        }
    }

    #[test]
    fn a_parameter_stays_unless_the_wish_names_it() {
        let of = target(Language::Python, "def top(rows, n=5):\n    return rows[:n]\n", "top");
        let stub = |text: &str, wish: &str| of.with_parameters(text, wish).map(|target| target.stub());
        assert_eq!(stub("(usable, n=5, least=False)", "a flag least").unwrap(), "def top(rows, n=5, least=False):\n");
        assert_eq!(stub("(lines, n=5)", "rename the parameter rows to lines").unwrap(), "def top(lines, n=5):\n");
        assert_eq!(stub("(rows)", "drop the argument n").unwrap(), "def top(rows):\n");
        assert_eq!(stub("(rows)", "a flag least"), None);
        let answer = "Sure:\n```python\ndef top(rows, n=5, least=False):\n    return top(rows)\n```\n";
        assert_eq!(stub(answer, "a flag least").unwrap(), "def top(rows, n=5, least=False):\n");
    }

    #[test]
    fn a_wish_may_speak_of_parameters() {
        for wish in [
            "add a parameter sep", "optional depth", "a flag smallest=False", "fix the mutable default",
            "take Args, too",
        ] {
            assert!(speaks_of_parameters(wish), "{wish}");
        }
        for wish in ["sort case-insensitively", "put optionals last", "also accept None"] {
            assert!(!speaks_of_parameters(wish), "{wish}");
        }
    }
}
