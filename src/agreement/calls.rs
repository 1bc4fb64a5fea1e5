//! Calls of a function in texts: documentation, tests, code that uses it.

use super::value::{Argument, Value, arguments, literal, written};
use crate::language::Language;

/// A call that a text shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The expression before the parenthesis: the function, or a method of a new object.
    pub callee: String,
    pub arguments: Vec<Argument>,
    /// The result that the text states, as a literal.
    pub result: Option<String>,
    /// Calls of what the function returns: 1 for `f(1)(2)`.
    pub level: usize,
}

impl Call {
    fn text(&self, language: Language) -> String {
        format!("{}({})", self.callee, written(&self.arguments, language))
    }
}

/// The function whose calls are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    pub language: Language,
    /// Its last name.
    pub name: String,
    /// The class of a method.
    pub class: Option<String>,
    /// True for a method that is called on the class itself.
    pub is_static: bool,
    /// True for a property.
    pub is_read: bool,
}

/// Words between a call and its result.
const MARKS: &[&str] = &[
    "==>", "-->", "===", "==", "=>", "->", "➞", "→", "⇒", "=", "# =>", "#=>", "# ->", "#", "// =>", "//",
    "should return", "returns", "return", "is equal to", "should be", "gives", "is",
];

/// Lines above a call in which its variables are looked for.
const MOST_LINES: usize = 20;
/// Calls in a text of at most this many.
const MOST: usize = 200;

impl Called {
    /// The expression that a call without a known receiver begins with.
    pub fn callee(&self) -> String {
        match &self.class {
            Some(class) if self.is_static => format!("{class}.{}", self.name),
            Some(class) if self.language == Language::Python => format!("{class}().{}", self.name),
            Some(class) => format!("(new {class}()).{}", self.name),
            None => self.name.clone(),
        }
    }

    /// The expression that a call on this object begins with.
    pub fn on(&self, object: &Value) -> String {
        let text = object.written(self.language);
        if self.language == Language::Python {
            format!("{text}.{}", self.name)
        } else {
            format!("({text}).{}", self.name)
        }
    }

    /// The calls in a text, in their order.
    pub fn calls(&self, text: &str) -> Vec<Call> {
        let mut all = Vec::new();
        for (at, _) in text.match_indices(&self.name).take(10 * MOST) {
            if let Some((call, end)) = self.call_at(text, at) {
                self.add_with_returned(call, text, (at, end), &mut all);
            }
            all.truncate(MOST);
            if all.len() == MOST {
                break;
            }
        }
        all
    }

    /// A call from the first byte to the last, and calls of the function that it returns: `f(1)(2)`, or
    /// `g = f(1)`, then `g(2)`.
    fn add_with_returned(&self, mut call: Call, text: &str, (at, mut end): (usize, usize), all: &mut Vec<Call>) {
        while text[end..].starts_with('(')
            && let Some((next, after)) = self.given(text, end)
        {
            let outer = Call { result: None, ..call.clone() };
            call = Call { callee: call.text(self.language), arguments: next, result: None, level: call.level + 1 };
            all.push(outer);
            end = after;
        }
        call.result = self.result(&text[end..]);
        let line = text[..at].rsplit('\n').next().unwrap_or_default().trim_end();
        let set = line
            .strip_suffix('=')
            .map(str::trim_end)
            .filter(|_| text[end..].trim_start_matches(' ').starts_with([';', '\n']));
        let name = set.and_then(|set| set.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next());
        let callee = call.text(self.language);
        let level = call.level + 1;
        all.push(call);
        let Some(name) = name.filter(|name| !name.is_empty()) else { return };
        let lines: usize = text[end..].split_inclusive('\n').take(MOST_LINES).map(str::len).sum();
        let after = &text[..end + lines];
        for (place, _) in after[end..].match_indices(name) {
            let (begin, open) = (end + place, end + place + name.len());
            let is_inside = after[..begin].ends_with(|c: char| c.is_alphanumeric() || "_$.".contains(c));
            if is_inside || !after[open..].starts_with('(') {
                continue;
            }
            let Some((arguments, end)) = self.given(after, open) else { continue };
            // It may keep something from one call that changes the next.
            let is_first = all.last().is_none_or(|last| last.callee != callee);
            let result = self.result(&after[end..]).filter(|_| is_first);
            all.push(Call { callee: callee.clone(), arguments, result, level });
        }
    }

    /// The arguments whose parenthesis opens at a byte, and the byte after the closing one.
    fn given(&self, text: &str, open: usize) -> Option<(Vec<Argument>, usize)> {
        let (mut all, end) = arguments(text, open + 1, self.language)?;
        for argument in &mut all {
            if let Value::Other(name) = &argument.value
                && let Some(value) = self.variable(&text[..open], name)
            {
                argument.value = value;
            }
        }
        Some((all, end))
    }

    /// The call by the name at a byte, without its result, and the byte after it.
    fn call_at(&self, text: &str, at: usize) -> Option<(Call, usize)> {
        let (before, open) = (&text[..at], at + self.name.len());
        if !text[open..].starts_with('(') {
            return None;
        }
        let is_defined = ["def ", "function ", "function* ", "func ", "fn "].iter().any(|word| before.ends_with(word));
        if is_defined || before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            return None;
        }
        let callee = match &self.class {
            Some(class) => {
                let before = before.strip_suffix('.')?;
                let receiver = self.receiver(before, class).or_else(|| self.held(before, class));
                format!("{}.{}", receiver?, self.name)
            }
            None => self.name.clone(),
        };
        let (arguments, end) = self.given(text, open)?;
        Some((Call { callee, arguments, result: None, level: 0 }, end))
    }

    /// The value of a variable that is set last in an example before a call: `>>> name = value`.
    fn variable(&self, before: &str, name: &str) -> Option<Value> {
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let mut lines = before.lines().rev().take(MOST_LINES).filter(|_| is_name);
        let set = lines.find_map(|line| {
            let line = line.trim_start().trim_start_matches(">>>").trim_start_matches('*').trim_start();
            let line = ["const ", "let ", "var "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
            let value = line.strip_prefix(name)?.trim_start().strip_prefix('=')?;
            (!value.starts_with('=')).then(|| value.trim().trim_end_matches(';'))
        })?;
        if let Some((value, length)) = literal(set, self.language)
            && set[length..].trim_start().is_empty()
        {
            return Some(value);
        }
        // An expression in brackets that are closed here.
        let whole = format!("{set})");
        let (all, end) = arguments(&whole, 0, self.language)?;
        (all.len() == 1 && end == whole.len() && !set.contains('#')).then(|| Value::Other(format!("({set})")))
    }

    /// The object that a method is called on at the end of a text: a new one of the class, or the class.
    fn receiver(&self, text: &str, class: &str) -> Option<String> {
        if self.is_static {
            let before = text.strip_suffix(class)?;
            return (!before.ends_with(|c: char| c.is_alphanumeric() || "_$.".contains(c))).then(|| class.to_owned());
        }
        if self.language == Language::Python {
            return Some(text[receiver_start(text, class)?..].to_owned());
        }
        let of = |text: &str| {
            let begin = receiver_start(text, class)?;
            text[..begin].ends_with("new ").then(|| format!("(new {})", &text[begin..]))
        };
        of(text).or_else(|| of(text.strip_suffix(')')?))
    }

    /// The new object that the variable at the end of a text holds: `s = Stack(); s.push(1)`.
    fn held(&self, text: &str, class: &str) -> Option<String> {
        let end = text.rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').map_or(0, |at| at + 1);
        let name = text.get(end..).filter(|name| !name.is_empty() && *name != "self" && *name != "this")?;
        let Value::Other(made) = self.variable(&text[..end], name)? else { return None };
        let inside = made.strip_prefix('(')?.strip_suffix(')')?;
        let begins = inside.strip_prefix("new ").unwrap_or(inside).strip_prefix(class)?.starts_with('(');
        let is_new = self.language == Language::Python || inside.starts_with("new ");
        (begins && is_new).then(|| if self.language == Language::Python { inside.to_owned() } else { made.clone() })
    }

    /// The result that is stated behind a call.
    fn result(&self, rest: &str) -> Option<String> {
        let line = rest.lines().next().unwrap_or_default();
        let line = line.trim_start().trim_start_matches(['`', '"', '\'', ';']).trim_start();
        let stated = if line.is_empty() {
            // The line under an example in documentation.
            let next = rest.lines().nth(1)?.trim_start();
            let next = if self.language == Language::Python { next } else { bare(next) };
            (!next.starts_with(">>>")).then_some(next)?
        } else {
            let mark = MARKS.iter().find(|mark| line.starts_with(**mark))?;
            line[mark.len()..].trim_start().trim_start_matches('`')
        };
        let (value, length) = literal(stated, self.language)?;
        // A literal that is part of a longer expression is no result.
        let after = stated[length..].trim_start();
        let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || "+-*/%<>=[(&|^".contains(c));
        let goes_on = goes_on
            && !["#", "//", "->", "and ", "since", "because", "for ", "if "].iter().any(|word| after.starts_with(word));
        (!goes_on).then(|| value.written(self.language))
    }
}

/// A line of a comment without the marks that it begins with.
fn bare(line: &str) -> &str {
    let line = line.trim_start_matches('*').trim_start();
    let marks = ["// =>", "//=>", "// ->", "//", "=>", "->"];
    marks.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim_start()
}

/// The byte where the receiver at the end of a text begins, if that is a new object of the class.
fn receiver_start(text: &str, class: &str) -> Option<usize> {
    let inside = text.strip_suffix(')')?;
    let mut depth = 1_usize;
    for (at, c) in inside.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' => depth -= 1,
            '\n' => return None,
            _ => {}
        }
        if depth == 0 {
            let begin = inside[..at].strip_suffix(class)?.len();
            let before = inside[..begin].chars().next_back();
            return before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '.').then_some(begin);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, class: Option<&str>, text: &str) -> Vec<String> {
        told_in(Language::Python, name, class, text)
    }

    fn told_in(language: Language, name: &str, class: Option<&str>, text: &str) -> Vec<String> {
        let (class, is_static) = (class.map(str::to_owned), name == "of");
        let called = Called { language, name: name.to_owned(), class, is_static, is_read: false };
        let one = |call: Call| {
            let arguments: Vec<_> = call.arguments.iter().map(|a| a.value.written(language)).collect();
            format!(
                "{}({}){}",
                call.callee,
                arguments.join(", "),
                call.result.map(|r| format!(" = {r}")).unwrap_or_default()
            )
        };
        called.calls(text).into_iter().map(one).collect()
    }

    #[test]
    fn calls_have_the_results_that_texts_state() {
        let f = |text| told("f", None, text);
        assert_eq!(f(">>> f(1)\n    2\n>>> f([2],\n...   3)\n>>> f(4)\n"), ["f(1) = 2", "f([2], 3)", "f(4)"]);
        assert_eq!(
            f("f(1) == [1, 2], f(2) ➞ \"a\". `f(3)` returns `True`"),
            ["f(1) = [1, 2]", "f(2) = \"a\"", "f(3) = True"]
        );
        assert_eq!(
            f("f(1) => 0.5 # half\nassert f(-1) is None\nf('a') = 'b'."),
            ["f(1) = 0.5", "f(-1) = None", "f(\"a\") = \"b\""]
        );
        assert_eq!(f("f(1) == 2 + x; f(2) == g(3); f(3) > 1; x = f(4)[0]"), ["f(1)", "f(2)", "f(3)", "f(4)"]);
        assert_eq!(f("def f(x): pass\nelf(1); self.f(2)\n_f(3) f (4)"), ["f(2)"]);
    }

    #[test]
    fn what_a_call_returns_is_called() {
        let f = |text| told("f", None, text);
        assert_eq!(f("f(1)(2) == 3\n"), ["f(1)", "f(1)(2) = 3"]);
        assert_eq!(f("f(1)(2, 3)() == 3\n"), ["f(1)", "f(1)(2, 3)", "f(1)(2, 3)() = 3"]);
        let text = ">>> add = f(1)\n>>> add(2)\n3\n>>> add(3)\n4\n>>> other.add(4)\n";
        assert_eq!(f(text), ["f(1)", "f(1)(2) = 3", "f(1)(3)"], "a later call may find what an earlier one left");
        assert_eq!(f("x = f(1) + 2\nx(3)\n"), ["f(1)"]);
        let text = "const add = f(1);\nadd(2); // 3\n";
        assert_eq!(told_in(Language::JavaScript, "f", None, text), ["f(1)", "f(1)(2) = 3"]);
    }

    #[test]
    fn variables_of_examples_have_their_values() {
        let text = ">>> xs = [1,\n... 2]\n>>> xs = [3]\n>>> by = lambda x: x > 1  \n>>> f(xs, by, ys)\n1\n";
        assert_eq!(told("f", None, text), ["f([3], (lambda x: x > 1), ys) = 1"]);
        assert_eq!(told("f", None, "x == 2\n>>> y = [1,\n>>> f(x, y)"), ["f(x, y)"]);
    }

    #[test]
    fn a_method_is_called_on_a_new_object() {
        let text =
            "Stats([1, 2]).top(1) == 2\nstats.top(3)\nOtherStats().top(4)\nx.Stats().top(5)\n>>> Stats().top()\n7";
        assert_eq!(told("top", Some("Stats"), text), ["Stats([1, 2]).top(1) = 2", "Stats().top() = 7"]);
        let text = ">>> s = Stats([1])\n>>> s.top(2)\n1\nt = other()\nt.top(3)\n";
        assert_eq!(told("top", Some("Stats"), text), ["Stats([1]).top(2) = 1"]);
    }

    #[test]
    fn javascript_documents_calls_in_comments() {
        let f = |text| told_in(Language::JavaScript, "f", None, text);
        assert_eq!(
            f(" * f([1, 2], 2);\n * // => [[1], [2]]\n * f('a') // => null\n"),
            ["f([1, 2], 2) = [[1], [2]]", "f(\"a\") = null"]
        );
        assert_eq!(f("// >>> f(1)\n// true\nf(2); // 3\n * f(3)\n */\n"), ["f(1) = true", "f(2) = 3", "f(3)"]);
        assert_eq!(f("function* f(a) {}\n$f(1)\n"), [""; 0]);
        let of = |name, text| told_in(Language::JavaScript, name, Some("Stats"), text);
        assert_eq!(
            of("top", "new Stats([1, (2)]).top(1) === 2;\n(new Stats()).top()\nStats().top(2)\nnew OtherStats().top()"),
            ["(new Stats([1, (2)])).top(1) = 2", "(new Stats()).top()"]
        );
        assert_eq!(of("of", "Stats.of(1)\nOtherStats.of(2)\nnew Stats().of(3)"), ["Stats.of(1)"]);
    }
}
