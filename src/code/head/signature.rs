//! The parameters of a function as text that a model may write anew.

use super::parameter::{named_at, parameter, parts};
use super::wished::speaks_of_types;
use crate::code::Target;
use crate::code::target::last_name;
use crate::code::words::names;
use crate::language::Language;

impl Target {
    /// The stub up to the parenthesis that opens the parameters; `None` where there is none.
    pub(super) fn up_to_parameters(&self) -> Option<String> {
        let stub = self.stub();
        let at = self.parameters_at(&stub)?;
        // A model writes the space with the parenthesis.
        Some(stub[..at].trim_end().to_owned())
    }

    /// The length of a list of parameters in parentheses that a text begins with; `None` where that does not
    /// end.
    fn parameters_end(&self, text: &str) -> Option<usize> {
        let last = *parts(self.language, text.strip_prefix('(')?).last()?;
        let end = last.as_ptr() as usize + last.len() - text.as_ptr() as usize;
        text[end..].starts_with(')').then_some(end + 1)
    }

    /// This target with the parameters that a text begins with, which stands behind
    /// [`Self::up_to_parameters`], or with those of the function in an answer.
    ///
    /// Parameters that are there and that the wish does not name stay as they are, in their order; new ones
    /// come behind them. Types change where the wish speaks of types. `None` where the text has no list of
    /// parameters.
    pub(super) fn with_parameters(&self, text: &str, wish: &str) -> Option<Self> {
        let (stub, language) = (self.stub(), self.language);
        let (at, (begin, end_of_list)) = (self.parameters_at(&stub)?, self.list_in(text)?);
        let own_end = at + self.parameters_end(&stub[at..])?;
        let own = parts(language, &stub[at + 1..own_end]);
        let end_of_own =
            own.last().filter(|last| last.trim().is_empty() && own.len() > 1).map(|last| format!(",{last}"));
        let own: Vec<&str> = own.into_iter().filter(|part| !part.trim().is_empty()).collect();
        let mut new: Vec<&str> = parts(language, &text[begin + 1..end_of_list]);
        let named = names(language, wish);
        let name = |part: &str| parameter(language, part).map(|one| one.pattern);
        let is_named = |part: &str| name(part).is_some_and(|name| named.contains(&*name));
        let types = matches!(language, Language::Python | Language::TypeScript) && speaks_of_types(wish);
        // The type alone is another one.
        let is_retyped = |own: &str, new: &str| {
            let default = |part: &str| parameter(language, part).map(|one| one.default);
            types && default(own) == default(new)
        };
        let mut kept: Vec<String> = Vec::new();
        let mut lacking = 0_usize;
        for (place, part) in own.iter().enumerate() {
            let white = &part[..part.len() - part.trim_start().len()];
            let taken = match new.iter().position(|other| name(other) == name(part)) {
                Some(found) => Some(new.remove(found)).filter(|new| is_named(part) || is_retyped(part, new)),
                // It has another name, or is gone.
                None if is_named(part) => {
                    let renamed = new.iter().position(|other| is_named(other)).filter(|found| *found <= place);
                    let Some(found) = renamed else { continue };
                    Some(new.remove(found))
                }
                None => {
                    lacking += 1;
                    None
                }
            };
            kept.push(taken.map_or_else(|| (*part).to_owned(), |taken| format!("{white}{}", taken.trim())));
        }
        // Others stand in the place of those that are lacking.
        new.retain(|part| name(part).is_some_and(|name| !["self", "cls", "this"].contains(&&*name)));
        new.retain(|part| {
            let is_new = is_named(part) || lacking == 0;
            lacking -= usize::from(!is_new);
            is_new
        });
        let white = match own.last() {
            Some(last) if last.starts_with('\n') || own.len() > 1 => &last[..last.len() - last.trim_start().len()],
            _ => " ",
        };
        let is_rest =
            |part: &String| part.trim().starts_with("**") || part.contains("...") && language != Language::Python;
        let is_optional = |part: &String| parameter(language, part).is_some_and(|one| one.default.is_some());
        for part in new {
            let new = if kept.is_empty() { part.trim().to_owned() } else { format!("{white}{}", part.trim()) };
            let is_needed = language == Language::Python && !is_optional(&new) && !new.contains('*');
            let behind =
                kept.iter().position(|own| is_rest(own) || is_needed && is_optional(own)).unwrap_or(kept.len());
            let is_there = kept.iter().any(|own| name(own) == name(&new));
            kept.splice(behind..behind, Some(new).filter(|_| !is_there));
        }
        let end = end_of_own.unwrap_or_default();
        let rest = &stub[own_end..];
        let returned = types.then(|| self.return_type(&text[end_of_list..])).flatten();
        let rest = match (returned, self.return_type(rest)) {
            (Some(new), Some(own)) => rest.replacen(own, new, 1),
            (Some(new), None) => format!("{}{new}{rest}", if language == Language::Python { " -> " } else { ": " }),
            (None, _) => rest.to_owned(),
        };
        let type_parameters = if stub[..at].ends_with('>') { None } else { self.type_parameters(text) };
        let type_parameters = type_parameters.map_or("", |end| text[..end].trim());
        let changed = [&stub[..at], type_parameters, "(", &kept.join(","), &end, ")", &rest].concat();
        let changed = self.with_stub(&changed).ok()?;
        (changed.name == self.name).then_some(changed)
    }

    /// The bytes of the list of parameters in a text: at its beginning, or behind the function's name.
    fn list_in(&self, text: &str) -> Option<(usize, usize)> {
        let called = format!("{}(", last_name(&self.name));
        let white = text.len() - text.trim_start().len();
        let begin = match self.type_parameters(text) {
            Some(end) => end,
            None if text[white..].starts_with('(') => white,
            None => text.find(&called)? + called.len() - 1,
        };
        Some((begin, begin + self.parameters_end(&text[begin..])?))
    }

    /// The end of a list of type parameters that a text begins with in front of the list of parameters.
    fn type_parameters(&self, text: &str) -> Option<usize> {
        let is_known = matches!(self.language, Language::TypeScript | Language::Rust);
        let from = text.find('<').filter(|&at| is_known && text[..at].trim().is_empty())?;
        let (mut open, mut before) = (0_usize, ' ');
        for (at, c) in text[from..].char_indices() {
            match c {
                '<' => open += 1,
                '>' if !matches!(before, '=' | '-') => open -= 1,
                _ => {}
            }
            before = c;
            if open == 0 {
                return Some(from + at + 1).filter(|&end| text[end..].starts_with('('));
            }
        }
        None
    }

    /// The end of the list of parameters in a text, once it is whole; of its line where the wish speaks of
    /// types.
    pub(super) fn parameters_told(&self, text: &str, wish: &str) -> Option<usize> {
        let (_, end) = self.list_in(text)?;
        if speaks_of_types(wish) { text[end..].find('\n').map(|line| end + line) } else { Some(end) }
    }

    /// The type of the result in a text behind the list of parameters, if it is on the same line.
    fn return_type<'t>(&self, text: &'t str) -> Option<&'t str> {
        let line = text.lines().next()?.trim();
        let (mark, end) = match self.language {
            Language::Python => ("->", ":"),
            Language::TypeScript => (":", "{"),
            _ => return None,
        };
        let line = line.strip_suffix(end).unwrap_or(line).trim_end();
        let of = line.strip_suffix("=>").unwrap_or(line).strip_prefix(mark)?.trim();
        (!of.is_empty()).then_some(of)
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
    use crate::code::{HeadPart, Place};

    fn target(language: Language, text: &str, name: &str) -> Target {
        Target::in_text(text, language, &Place::Function(name.to_owned())).unwrap()
    }

    #[test]
    fn parameters_are_written_anew_in_every_language() {
        let python = "class Cart:\n    def total(self, tax=(0, 1)) -> int:\n        \"\"\"As total(1).\"\"\"\n        return 1\n";
        let of = target(Language::Python, python, "Cart.total");
        assert_eq!(of.up_to_parameters().unwrap(), "    def total");
        assert_eq!(of.parameters_end("(self, tax=(0, 1), net"), None);
        assert_eq!(of.told(HeadPart::Parameters, "(self):\n", "add net"), Some(6));
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
                "const cut =",
                " (text, { at = 1 } = {}) => {",
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
        assert_eq!(stub("(rows)", "a flag least").unwrap(), of.stub());
        assert_eq!(
            stub("(self, rows=None, n=None, least=False)", "a flag least").unwrap(),
            "def top(rows, n=5, least=False):\n"
        );
        assert_eq!(stub("(by, n)", "a third parameter by").unwrap(), "def top(rows, by, n=5):\n");
        assert_eq!(stub("(rows, by=1, n=9)", "the argument n is 9").unwrap(), "def top(rows, n=9, by=1):\n");
        assert_eq!(stub("(rows", "a flag least"), None);
        let answer = "Sure:\n```python\ndef top(rows, n=5, least=False):\n    return top(rows)\n```\n";
        assert_eq!(stub(answer, "a flag least").unwrap(), "def top(rows, n=5, least=False):\n");
    }

    #[test]
    fn a_list_keeps_its_form() {
        let head = "def log(\n    self,  # it\n    *args,\n    **more,\n):\n";
        let of = target(Language::Python, &format!("{head}    return args\n"), "log");
        let changed = of.with_parameters("(self, level='INFO', *args, **more)", "add a level argument").unwrap();
        assert_eq!(changed.stub(), "def log(\n    self,  # it\n    *args,\n    level='INFO',\n    **more,\n):\n");
        let of = target(
            Language::Go,
            "package a\n\nfunc Join(sep string, parts ...string) string {\n\treturn sep\n}\n",
            "Join",
        );
        let changed = of
            .with_parameters("(sep string, parts ...string, prefix string, parts ...string)", "add a parameter prefix");
        assert_eq!(
            changed.unwrap().stub().trim_end(),
            "func Join(sep string, prefix string, parts ...string) string {"
        );
        let of = target(Language::JavaScript, "class Q {\n  drain() {\n    return 1;\n  }\n}\n", "Q.drain");
        assert_eq!(
            of.with_parameters("(max = Infinity)", "optional max").unwrap().stub().trim_end(),
            "  drain(max = Infinity) {"
        );
    }

    #[test]
    fn types_are_added_to_the_parameters_that_are_there() {
        let python = "def top(rows, n=5, *, by=None):\n    \"\"\"Top.\"\"\"\n    return rows[:n]\n";
        let of = target(Language::Python, python, "top");
        let stub = |text: &str, wish: &str| of.with_parameters(text, wish).map(|target| target.stub());
        let told = "(rows: list[int], n: int = 5, *, by: str | None = None) -> list[int]:\n";
        assert_eq!(of.parameters_told(told, "add type hints"), told.find(":\n").map(|at| at + 1));
        assert_eq!(of.parameters_told("(rows: list[int])", "add type hints"), None);
        let typed = format!("def top{told}    \"\"\"Top.\"\"\"\n");
        assert_eq!(stub(told, "add type hints").unwrap(), typed);
        let other = told.replace('5', "9");
        assert_eq!(stub(&other, "add type hints").unwrap(), typed.replace("n: int = 5", "n=5"));
        assert_eq!(stub(told, "a flag least").unwrap(), of.stub());
        let text = "function cut(text: any, at = 1) {\n  return text;\n}\n";
        let of = target(Language::TypeScript, text, "cut");
        let changed = of.with_parameters("(text: string, at = 1): string {", "add a type annotation").unwrap();
        assert_eq!(changed.stub().trim_end(), "function cut(text: string, at = 1): string {");
        let generic = "<T, K extends keyof (T)>(text: T, at = 1): Pick<T, K> {\n";
        assert_eq!(of.parameters_told(generic, "add types"), Some(generic.len() - 1));
        let generic = of.with_parameters(generic, "add types").unwrap();
        assert_eq!(generic.stub().trim_end(), "function cut<T, K extends keyof (T)>(text: T, at = 1): Pick<T, K> {");
        let of = target(Language::TypeScript, &changed.splice("  return text;\n"), "cut");
        let changed = of.with_parameters("(text: string, at = 1): string | null {", "the return type").unwrap();
        assert_eq!(changed.stub().trim_end(), "function cut(text: string, at = 1): string | null {");
    }
}
