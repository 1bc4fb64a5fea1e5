//! Functions that a function returns: what they take, as candidates write them, and calls of them.

use super::calls::Called;
use super::kind::{Kind, Parameter, arguments};
use super::value::{COUNTING, FAILING, written};
use crate::code;
use crate::language::Language;
use crate::trial::{Earlier, Input};

/// Functions that return functions that are followed: a decorator that takes arguments is two.
const DEEPEST: usize = 3;
/// Calls of the function alone that are kept: they tell which arguments are refused.
const MOST_ALONE: usize = 8;

/// The parameters of the function that most bodies return, then those of the function that this one returns,
/// as they are written, from their parenthesis on. Bodies that are not begun say nothing.
pub fn levels(language: Language, bodies: &[&str]) -> Vec<String> {
    let begun = bodies.iter().filter(|body| !body.trim().is_empty());
    let all: Vec<Vec<String>> = begun.map(|body| Body::new(language, body).levels()).collect();
    let count = |length: usize| all.iter().filter(|levels| levels.len() == length).count();
    let most = (0..=DEEPEST).max_by_key(|&length| count(length)).unwrap_or_default();
    all.into_iter().find(|levels| levels.len() == most).unwrap_or_default()
}

/// The parameters of a function that returns one, with functions whose calls show.
pub fn with_showing(parameters: Vec<Parameter>) -> Vec<Parameter> {
    let one = |parameter: Parameter| match parameter.kind {
        kind @ Kind::Function => {
            let [fails, fails_twice] = FAILING;
            let callback = Kind::callback().typical(0);
            Parameter { kind: kind.told(vec![COUNTING, callback, fails_twice, fails]), ..parameter }
        }
        _ => parameter,
    };
    parameters.into_iter().map(one).collect()
}

/// Calls of the functions that the calls `outer` return, with arguments for each level. Some calls are made
/// after others of one function, which may keep something.
pub fn calls(called: &Called, outer: &[Input], levels: &[Vec<Parameter>], most: usize) -> Vec<Input> {
    let Some((last, between)) = levels.split_last().filter(|_| !outer.is_empty()) else { return Vec::new() };
    let given =
        |parameters: &[Parameter], number: usize| written(&arguments(parameters, number, None), called.language);
    let one = |number: usize| {
        let begun = &outer[number % outer.len()];
        let callee = |input: &Input| format!("{}({})", input.callee, input.arguments);
        let mut callee = callee(begun);
        for level in between {
            callee = format!("{callee}({})", given(level, number + number / outer.len()));
        }
        let earlier = |number: usize| Earlier { method: String::new(), arguments: given(last, number) };
        let earlier = match number % 4 {
            1 => vec![earlier(number)],
            3 => vec![earlier(number), earlier(number + 1)],
            _ => Vec::new(),
        };
        Input { callee, arguments: given(last, number), earlier, ..Input::default() }
    };
    let (mut all, alone) = (Vec::<Input>::new(), outer.len().min(MOST_ALONE));
    for number in 0..3 * most {
        let input = one(number);
        if all.len() + alone < most && !all.contains(&input) {
            all.push(input);
        }
    }
    all.extend(outer.iter().take(alone).cloned());
    all
}

/// A part of a body, and the same bytes without strings and comments.
#[derive(Clone, Copy)]
struct Part<'a> {
    text: &'a str,
    blank: &'a str,
}

struct Body {
    language: Language,
    text: String,
    blank: String,
}

/// A function as it is written: its parameters, and what it returns.
struct Function<'a> {
    parameters: String,
    inside: Inside<'a>,
}

#[derive(Clone, Copy)]
enum Inside<'a> {
    Block(Part<'a>),
    Value(Part<'a>),
}

impl Body {
    fn new(language: Language, text: &str) -> Self {
        // A body begins behind the blanks of its first line.
        let indents = text.lines().skip(1).filter(|line| !line.trim().is_empty());
        let indent = indents.map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
        let text = if text.starts_with(' ') { text.to_owned() } else { " ".repeat(indent) + text };
        let blank = code::blanked(language, &text);
        Self { language, text, blank }
    }

    fn levels(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut inside = Inside::Block(Part { text: &self.text, blank: &self.blank });
        while all.len() < DEEPEST
            && let Some(function) = self.function(inside)
        {
            all.push(function.parameters);
            inside = function.inside;
        }
        all
    }

    /// The function that a block returns, or that a value is.
    fn function<'b>(&self, inside: Inside<'b>) -> Option<Function<'b>> {
        match (inside, self.language == Language::Python) {
            (Inside::Block(block), true) => {
                let value = block.last_line_with("return ")?;
                value.lambda().or_else(|| block.defined(value.last_name()?))
            }
            (Inside::Value(value), true) => value.lambda(),
            (Inside::Block(block), false) => {
                let value = block.last_return()?;
                value.expression().or_else(|| block.declared(value.last_name()?))
            }
            (Inside::Value(value), false) => value.expression(),
        }
    }
}

impl<'a> Part<'a> {
    fn from(self, at: usize) -> Self {
        Self { text: &self.text[at..], blank: &self.blank[at..] }
    }

    fn to(self, end: usize) -> Self {
        Self { text: &self.text[..end], blank: &self.blank[..end] }
    }

    fn trimmed(self) -> Self {
        self.from(self.blank.len() - self.blank.trim_start().len())
    }

    fn after(self, word: &str) -> Option<Self> {
        self.blank.starts_with(word).then(|| self.from(word.len()).trimmed())
    }

    /// The lines with their places and the blanks before them.
    fn lines(self) -> impl DoubleEndedIterator<Item = (usize, usize, &'a str)> {
        let mut at = 0;
        let lines = self.blank.split_inclusive('\n').map(move |line| {
            at += line.len();
            let code = line.trim_start();
            (at - line.len(), line.len() - code.len(), code)
        });
        lines.filter(|(.., code)| !code.is_empty()).collect::<Vec<_>>().into_iter()
    }

    /// Python: what follows a word at the beginning of the last line of a block that is in no other block.
    fn last_line_with(self, word: &str) -> Option<Self> {
        let least = self.lines().map(|(_, indent, _)| indent).min()?;
        let mut lines = self.lines().rev().filter(|(_, indent, _)| *indent == least);
        let (at, indent, _) = lines.find(|(.., code)| code.starts_with(word))?;
        Some(self.from(at + indent + word.len()).trimmed())
    }

    /// Python: `lambda x: x + 1`.
    fn lambda(self) -> Option<Function<'a>> {
        let rest = self.from(self.blank.len() - self.blank.trim_start_matches(['(', ' ']).len());
        let rest = rest.after("lambda").filter(|_| !rest.blank.starts_with("lambda_"))?;
        let colon = closing(rest.blank, 0, ':')?;
        let parameters = format!("({})", rest.text[..colon].trim());
        Some(Function { parameters, inside: Inside::Value(rest.from(colon + 1).trimmed()) })
    }

    /// The last name of the first statement, as in `wraps(f)(wrapper)`.
    fn last_name(self) -> Option<&'a str> {
        let statement = self.blank.split([';', '\n', '}']).next()?.trim_end_matches([')', ' ']);
        let begin = statement.rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').map_or(0, |at| at + 1);
        Some(&statement[begin..]).filter(|name| !name.is_empty())
    }

    /// Python: the function of this name that a block defines.
    fn defined(self, name: &str) -> Option<Function<'a>> {
        let is_it = |code: &str| {
            let rest = code.strip_prefix("async ").unwrap_or(code).strip_prefix("def ");
            rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('))
        };
        let (at, indent, _) = self.lines().find(|(.., code)| is_it(code))?;
        let rest = self.from(at + self.from(at).blank.find('(')?);
        let end = closing(rest.blank, 0, ')')?;
        let block = rest.from(rest.blank[end..].find('\n').map_or(rest.blank.len(), |line| end + line + 1));
        let outside = block.lines().find(|(_, inner, _)| *inner <= indent);
        let block = block.to(outside.map_or(block.blank.len(), |(at, ..)| at));
        Some(Function { parameters: rest.text[..=end].to_owned(), inside: Inside::Block(block) })
    }

    /// JavaScript: what the last `return` gives that is in no other block.
    fn last_return(self) -> Option<Self> {
        let mut depth = 0_usize;
        let mut found = None;
        for (at, c) in self.blank.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                'r' if depth == 0 && is_word(self.blank, at, "return") => found = Some(at + "return".len()),
                _ => {}
            }
        }
        Some(self.from(found?).trimmed())
    }

    /// JavaScript: `function name(a) {`, `(a) => a`, `a => {`.
    fn expression(self) -> Option<Function<'a>> {
        let rest = self.after("async ").unwrap_or(self);
        if is_word(rest.blank, 0, "function") {
            let rest = rest.from(rest.blank.find('(')?);
            let end = closing(rest.blank, 0, ')')?;
            let body = rest.from(end + rest.blank[end..].find('{')? + 1);
            return Some(Function { parameters: rest.text[..=end].to_owned(), inside: body.block() });
        }
        let is_in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let rest = if rest.blank.starts_with('<') { rest.from(rest.blank.find('(')?) } else { rest };
        let (parameters, rest) = if rest.blank.starts_with('(') {
            let end = closing(rest.blank, 0, ')')?;
            (rest.text[..=end].to_owned(), rest.from(end + 1))
        } else {
            let end = rest.blank.find(|c: char| !is_in_name(c)).filter(|end| *end > 0)?;
            (format!("({})", &rest.text[..end]), rest.from(end))
        };
        let arrow = rest.blank.find("=>").filter(|arrow| !rest.blank[..*arrow].contains([';', '{', '(']))?;
        // Between them there may be the type of the result.
        let is_next = rest.blank[..arrow].trim().is_empty() || rest.blank.trim_start().starts_with(':');
        let value = rest.from(arrow + 2).trimmed();
        let inside = value.after("{").map_or(Inside::Value(value), Self::block);
        is_next.then_some(Function { parameters, inside })
    }

    /// JavaScript: the block whose opening brace is before this.
    fn block(self) -> Inside<'a> {
        Inside::Block(self.to(closing(self.blank, 1, '}').unwrap_or(self.blank.len())))
    }

    /// JavaScript: the function of this name that a block declares.
    fn declared(self, name: &str) -> Option<Function<'a>> {
        let of = |at: usize| {
            let before = self.blank[..at].trim_end();
            if before.ends_with("function") {
                return self.from(before.len() - "function".len()).expression();
            }
            let is_set = ["const", "let", "var"].iter().any(|word| before.ends_with(word));
            let rest = self.from(at + name.len()).trimmed();
            rest.after("=").filter(|_| is_set)?.expression()
        };
        self.blank.match_indices(name).filter(|(at, _)| is_word(self.blank, *at, name)).find_map(|(at, _)| of(at))
    }
}

/// Returns true if the text has this whole word at a byte.
fn is_word(text: &str, at: usize, word: &str) -> bool {
    let is_in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text[at..].strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_in_name))
        && !text[..at].ends_with(|c: char| is_in_name(c) || c == '.')
}

/// The byte of the mark that ends what is open at the beginning of a text, `depth` brackets deep.
fn closing(blank: &str, mut depth: usize, mark: char) -> Option<usize> {
    let is_bracket = ")]}".contains(mark);
    for (at, c) in blank.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 && is_bracket {
                    return (c == mark).then_some(at);
                }
            }
            c if c == mark && depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(body: &str) -> Vec<String> {
        levels(Language::Python, &[body])
    }

    fn script(body: &str) -> Vec<String> {
        levels(Language::TypeScript, &[body])
    }

    #[test]
    fn a_body_says_what_the_function_it_returns_takes() {
        assert_eq!(python("    return lambda x, y=\"a:b\": x + n\n"), ["(x, y=\"a:b\")"]);
        assert_eq!(python("    def add(x):  # adds\n        return x + n\n    return add\n"), ["(x)"]);
        assert_eq!(
            python("def add(f):\n        def g(x):\n            return x\n        return g\n    return add"),
            ["(f)", "(x)"]
        );
        let wrapper = "    @wraps(func)\n    def wrapper(*args, **kwargs):\n        for _ in range(3):\n            return func(*args)\n    return wrapper";
        assert_eq!(python(wrapper), ["(*args, **kwargs)"]);
        let inner = wrapper.replace("    ", "        ").replacen("        @", "    def decorator(func):\n        @", 1);
        assert_eq!(python(&format!("{inner}\n    return decorator\n")), ["(func)", "(*args, **kwargs)"]);
        assert_eq!(python("    return lambda f: lambda x: f(x)\n"), ["(f)", "(x)"]);
        assert_eq!(python("    def go(x):\n        return x\n    return go(n)\n"), [] as [&str; 0]);
        assert_eq!(python("    def go(x):\n        return x\n    return functools.wraps(f)(go)\n"), ["(x)"]);
        assert_eq!(python("    return sorted(words)\n"), [] as [&str; 0]);
    }

    #[test]
    fn scripts_return_functions_in_several_forms() {
        assert_eq!(script("  return (x: number) => x + n;\n"), ["(x: number)"]);
        assert_eq!(script("  return x => y => x + y;\n"), ["(x)", "(y)"]);
        assert_eq!(script("  let n = 0;\n  return function () {\n    return () => n++;\n  };\n"), ["()", "()"]);
        assert_eq!(
            script(
                "  const seen = new Map();\n  const f = async (...a: T[]): Promise<T> => {\n    if (a) { return 1; }\n    return fn(...a);\n  };\n  return f;\n"
            ),
            ["(...a: T[])"]
        );
        assert_eq!(script("  function step(a) {\n    return a;\n  }\n  return step;\n"), ["(a)"]);
        assert_eq!(script("  return xs.map((x) => x + 1);\n"), [] as [&str; 0]);
        assert_eq!(script("  return { get: () => 1 };\n"), [] as [&str; 0]);
    }

    #[test]
    fn the_form_of_most_bodies_counts() {
        let (one, none) = ("    return lambda x: x\n", "    return 1\n");
        assert_eq!(levels(Language::Python, &[none, one, one]), ["(x)"]);
        assert!(levels(Language::Python, &[none, one, none]).is_empty() && levels(Language::Python, &[]).is_empty());
    }
}
