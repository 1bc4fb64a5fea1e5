//! The parameters, results and receiver in the head of a function, and statements that fit a body under the
//! head of an answer to that of the file.

mod docs;
mod gathered;
mod generics;
mod mutable;
mod parameter;
mod signature;
mod statement;
mod wished;

pub use wished::HeadPart;

use super::answer::RequestedFunction;
use super::target::last_name;
use super::words::{Word, names, words};
use super::{rules, text};
use crate::language::Language;
use gathered::{gathered_python, gathered_script};
use parameter::{Gathers, Parameter, parameters};
pub(super) use parameter::{named_at, parts};
use statement::Statement;

impl RequestedFunction {
    /// A body that stands under `answer_head`, with statements that make it one of the file's head. `is_all`:
    /// none of it is to come.
    pub(super) fn under_own_head(&self, answer_head: &str, body: String, is_all: bool) -> String {
        let renamed = self.with_type_names(answer_head, &body);
        let (answer_head, body) = renamed.as_ref().map_or((answer_head, body), |(head, body)| (head, body.clone()));
        let body = if self.language == Language::Go { self.with_results(answer_head, body, is_all) } else { body };
        let body = self.with_parameters(answer_head, body, is_all);
        let body = if self.language == Language::Rust { self.with_mutable_self(answer_head, body) } else { body };
        if self.language == Language::Go { self.with_receiver(answer_head, body) } else { body }
    }

    /// A body that uses the parameters of another head, with those of the file's own made so.
    fn with_parameters(&self, answer_head: &str, body: String, is_all: bool) -> String {
        let (language, name) = (self.language, last_name(&self.name));
        let (own, new) = (parameters(language, &self.head, name), parameters(language, answer_head, name));
        let is_script = language.is_kin(Language::JavaScript);
        let gathers = own.iter().chain(&new).any(|parameter| parameter.gathers != Gathers::Nothing);
        if own == new {
            return body;
        }
        let of_own = own.iter().map(|own| own.pattern.clone()).collect::<Vec<_>>();
        let added = new.get(own.len()..).unwrap_or_default();
        let words = words(language, &body);
        let calls = |at: usize| words[at].name() == Some(name) && words.get(at + 1).is_some_and(|next| next.is('('));
        let is_given = |own: &Parameter| own.is_name && own.gathers == Gathers::Nothing && !own.is_keyword;
        let is_spare = |new: &Parameter| new.default.is_some() || new.gathers != Gathers::Nothing;
        let is_longer = !added.is_empty() && added.iter().all(is_spare) && own.iter().all(is_given);
        if is_longer && (0..words.len()).any(calls) {
            // It gives them to itself.
            let inner = self.inner_function(answer_head, &body, &of_own).filter(|_| is_all);
            return inner.unwrap_or(body);
        }
        let used = names(language, &body);
        let is_used = |name: &str| used.contains(name);
        let bound: Vec<String> = own.iter().flat_map(|own| own.names(language)).collect();
        if gathers && (is_script || language == Language::Python) {
            let statements =
                if is_script { gathered_script(language, &own, &new) } else { gathered_python(&own, &new) };
            let Some(mut statements) = statements else { return body };
            statements.retain(|statement| statement.binds.iter().any(|name| is_used(name)));
            return self.after(statements, &bound, &body);
        }
        // Further arguments of a call are nothing to a function of JavaScript.
        if own.len() > new.len() && !is_script || added.iter().any(|parameter| parameter.default.is_none()) {
            return body;
        }
        let is_other = |name: &str| used.contains(name) && !of_own.iter().any(|own| own == name);
        let mut statements: Vec<Statement> = Vec::new();
        for (own, new) in own.iter().zip(&new) {
            let is_same = own.pattern == new.pattern;
            statements.extend(new.of(own, language, if is_same { &is_used } else { &is_other }));
        }
        let added = added.iter().filter(|parameter| parameter.is_used(language, &is_used));
        statements.extend(added.filter_map(|parameter| parameter.added(language)));
        self.after(statements, &bound, &body)
    }

    /// A body behind statements. It stands in a block where it or they declare a name of `own`, the file's
    /// parameters, for in their scope that is an error.
    fn after(&self, statements: Vec<Statement>, own: &[String], body: &str) -> String {
        let language = self.language;
        let lines = |statements: &[Statement], indent: &str| {
            let lines: String = statements.iter().map(|statement| statement.text(language) + "\n").collect();
            text::indented(&lines, indent)
        };
        let has_scopes = language == Language::Go || language.is_kin(Language::JavaScript);
        if statements.is_empty() || !has_scopes {
            return lines(&statements, &self.inner) + body;
        }
        let words = words(language, body);
        let declared = declared(language, &words);
        let is_var = |at: usize, name: &str| {
            words[at].name() == Some("var") && words.get(at + 1).and_then(Word::name) == Some(name)
        };
        let is_own = |name: &String| own.contains(name);
        let clashes = |statement: &Statement| statement.is_new && statement.binds.iter().any(is_own);
        let (mut before, mut inside): (Vec<Statement>, Vec<Statement>) = (Vec::new(), Vec::new());
        for mut statement in statements {
            // A name that the body declares by `var` belongs to the whole function.
            if statement.binds.iter().any(|name| (0..words.len()).any(|at| is_var(at, name))) {
                statement.keyword = "var";
            }
            if !clashes(&statement) {
                before.push(statement);
                continue;
            }
            let given = (1..).map(|n| if n == 1 { "given".to_owned() } else { format!("given{n}") });
            let is_free = |name: &String| {
                !words.iter().any(|word| word.name() == Some(name))
                    && !own.contains(name)
                    && !before.iter().any(|statement| statement.binds.contains(name))
            };
            let given = given.into_iter().find(is_free).unwrap_or_default();
            let value = std::mem::replace(&mut statement.value, given.clone());
            before.push(Statement::new("const", &given, &value, vec![given.clone()]));
            inside.push(statement);
        }
        let unit = self.unit();
        if inside.is_empty() && !declared.iter().any(is_own) || unit.is_empty() {
            return lines(&before, &self.inner) + &lines(&inside, &self.inner) + body;
        }
        let rules = rules::of(language);
        let to = if (rules.function_end)(text::width(&self.outer), body).is_some() {
            (rules.inside)(text::width(&self.outer), body)
        } else {
            body.len()
        };
        let (within, close) = body.split_at(to);
        let deeper = [&self.inner, unit].concat();
        let within = (rules.placed)(&format!("{}\n", within.trim_end()), &deeper, "");
        let end = if close.is_empty() { String::new() } else { format!("{0}}}\n{1}{close}", self.inner, self.outer) };
        format!("{}{}{{\n{}{within}{end}", lines(&before, &self.inner), self.inner, lines(&inside, &deeper))
    }

    /// A body that calls the answer's function, which stands in it.
    fn inner_function(&self, head: &str, body: &str, own: &[String]) -> Option<String> {
        let unit = Some(self.unit()).filter(|unit| !unit.is_empty())?;
        let white = text::white(head, 0);
        let head: Vec<&str> = head.trim_end().lines().map(|line| line.strip_prefix(white).unwrap_or(line)).collect();
        let begins = |line: &&str| ["def ", "function ", "export "].iter().any(|word| line.starts_with(word));
        let head = head.get(head.iter().position(begins)?..)?.join("\n");
        let head = head.trim_start_matches("export ").trim_start_matches("default ");
        let is_plain = head.starts_with("def ") || head.starts_with("function ");
        // A method gives them to itself in another way, and so does a generator.
        if !is_plain || own.iter().any(|name| name == "self" || name == "cls") || self.head.contains("**") {
            return None;
        }
        let is_python = self.language == Language::Python;
        let ends = |text: &str| (rules::of(self.language).function_end)(text::width(&self.outer), text).is_some();
        let close = if is_python || ends(body) { String::new() } else { format!("{}}}\n", self.inner) };
        let (call, end) =
            ([last_name(&self.name), "(", &own.join(", "), ")"].concat(), if is_python { "" } else { ";" });
        let (head, body) = (text::indented(head, &self.inner), text::indented(body.trim_end_matches('\n'), unit));
        Some(format!("{head}\n{body}\n{close}{}return {call}{end}\n", self.inner))
    }

    /// A body of Go that uses another name for the receiver, with a statement that makes it one.
    fn with_receiver(&self, head: &str, body: String) -> String {
        let Some((own, new)) = self.receiver(&self.head).zip(self.receiver(head)) else { return body };
        let is_own = |new: &str| {
            parameters(self.language, &self.head, last_name(&self.name)).iter().any(|own| own.pattern == new)
        };
        let is_used = || names(self.language, &body).contains(&new) && !is_own(&new);
        if own != new && is_used() { format!("{}{new} := {own}\n{body}", self.inner) } else { body }
    }

    /// A body of Go that uses names of its results, which the file's head does not have, in a function that
    /// has them.
    fn with_results(&self, head: &str, body: String, is_all: bool) -> String {
        let name = last_name(&self.name);
        let (own, new) = (results(&self.head, name), results(head, name));
        let ((of_own, false), (of_new, true)) = (result_types(own), result_types(new)) else { return body };
        let unit = self.unit();
        if of_own != of_new || unit.is_empty() {
            return body;
        }
        let rules = rules::of(self.language);
        let is_closed = (rules.function_end)(text::width(&self.outer), &body).is_some();
        let inside = body.trim_end().strip_suffix('}').filter(|_| is_closed).map_or(body.as_str(), str::trim_end);
        let inside = (rules.placed)(&format!("{}\n", inside.trim_end()), &[&self.inner, unit].concat(), "");
        let close = if is_all { format!("{}}}()\n", self.inner) } else { String::new() };
        format!("{}return func() {new} {{\n{inside}{close}", self.inner)
    }

    /// The name of the receiver in a head of Go.
    fn receiver(&self, head: &str) -> Option<String> {
        let words = words(self.language, head);
        let func = words.iter().position(|word| word.name() == Some("func"))?;
        let name = words.get(func + 2)?.name()?;
        let is_named = words.get(func + 1)?.is('(') && !words.get(func + 3)?.is(')') && name != "_";
        is_named.then(|| name.to_owned())
    }
}

/// The names that a body declares outside of its blocks, in languages where a second declaration is an error.
fn declared(language: Language, words: &[Word]) -> Vec<String> {
    let mut found = Vec::new();
    let (mut depth, mut line) = (0_usize, 0);
    // The bracket depth at which a list of declarations stands, and true where a name is to come.
    let mut list: Option<bool> = None;
    let mut in_pattern = false;
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Mark('(' | '[' | '{') => {
                in_pattern |= depth == 0 && list == Some(true);
                depth += 1;
            }
            Word::Mark(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    list = list.map(|_| false);
                    in_pattern = false;
                }
            }
            Word::Name(name) if in_pattern => found.push(name.clone()),
            _ if depth > 0 => {}
            Word::Name(name) if matches!(name.as_str(), "let" | "const" | "class" | "var") => {
                let is_scoped = name != "var" || language == Language::Go;
                list = Some(true).filter(|_| is_scoped);
            }
            Word::Name(name) if list == Some(true) => {
                found.push(name.clone());
                list = Some(false);
            }
            Word::Mark(',') => list = list.map(|_| true),
            Word::Mark(';') => (list, line) = (None, at + 1),
            Word::End if list != Some(true) => (list, line) = (None, at + 1),
            Word::Mark(':') if language == Language::Go && words.get(at + 1).is_some_and(|word| word.is('=')) => {
                found.extend(words[line..at].iter().filter_map(Word::name).map(str::to_owned));
            }
            _ => {}
        }
    }
    found
}

/// The results of a Go function as a head has them: `error`, `(n int, err error)`. Empty if there are none.
fn results<'h>(head: &'h str, name: &str) -> &'h str {
    let Some(from) = named_at(Language::Go, head, name) else { return "" };
    let Some(open) = head[from..].find('(') else { return "" };
    let list = &head[from + open + 1..];
    let end =
        parts(Language::Go, list).last().map_or(0, |last| last.as_ptr() as usize - list.as_ptr() as usize + last.len());
    let rest = list.get(end + 1..).unwrap_or_default();
    rest.trim().trim_end_matches('{').trim_end()
}

/// The types of these results, and true if they have names.
fn result_types(results: &str) -> (Vec<&str>, bool) {
    let Some(list) = results.strip_prefix('(') else {
        return (Some(results).filter(|one| !one.is_empty()).into_iter().collect(), false);
    };
    let parts: Vec<&str> = parts(Language::Go, list).into_iter().map(str::trim).collect();
    if !parts.iter().any(|part| named(part).is_some()) {
        return (parts, false);
    }
    // `a, b int` are two of one type.
    let mut kind = "";
    let mut types: Vec<&str> = Vec::new();
    for part in parts.iter().rev() {
        kind = named(part).map_or(kind, |(_, kind)| kind.trim());
        types.insert(0, kind);
    }
    (types, true)
}

/// The name and the type of a result of Go, if it has a name.
fn named(part: &str) -> Option<(&str, &str)> {
    let is_word = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    part.split_once(' ').filter(|(name, _)| is_word(name) && !matches!(*name, "chan" | "func"))
}

#[cfg(test)]
mod tests {
    use crate::code::{Place, Target};
    use crate::language::Language::{self, Go, JavaScript, Python, TypeScript};

    /// The file with the function `f` of an answer in it.
    fn taken(language: Language, file: &str, answer: &str) -> String {
        let target = Target::in_text(file, language, &Place::Function("f".to_owned())).unwrap();
        let answer = format!("```{}\n{answer}```\n", language.name());
        target.splice(&target.requested().read(&answer, true).0)
    }

    #[track_caller]
    pub fn all_taken(cases: &[(Language, &str, &str, &str, &str)]) {
        for (language, own, head, body, wanted) in cases {
            let close = if *language == Python { "    pass\n" } else { "}\n" };
            let end = if *language == Python { "" } else { "}\n" };
            let program = taken(*language, &format!("{own}{close}"), &format!("{head}{body}{end}"));
            assert_eq!(program, format!("{own}{wanted}{end}"));
        }
    }

    #[test]
    fn a_name_of_the_file_s_head_is_not_declared_twice() {
        let body = "  const { w, h } = box;\n  return `\n${w * h}`;\n";
        let block = "  {\n    const { w, h } = box;\n    return `\n${w * h}`;\n  }\n";
        let made = format!("  const box = {{ w, h }};\n{block}");
        all_taken(&[
            (TypeScript, "function f({ w, h }: Box): string {\n", "function f(box: Box): string {\n", body, &made),
            (
                JavaScript,
                "function f({ start = 0, end, step = 1 }) {\n",
                "function f(opts) {\n",
                "  const { end } = opts, step = opts.step ?? 1;\n  return [end, step];\n",
                "  const opts = { start, end, step };\n  {\n    const { end } = opts, step = opts.step ?? 1;\n    return [end, step];\n  }\n",
            ),
            // A block inside, and a member, declare nothing here.
            (
                JavaScript,
                "function f({ a: x, ...rest }) {\n",
                "function f(all) {\n",
                "  if (all) { const x = all.a; return x; }\n  let y = all.x;\n",
                "  const all = { a: x, ...rest };\n  if (all) { const x = all.a; return x; }\n  let y = all.x;\n",
            ),
            (
                JavaScript,
                "function f(options, n) {\n",
                "function f({ options, m }, k) {\n",
                "  return options[m] + k;\n",
                "  const given = options;\n  let k = n;\n  {\n    const { options, m } = given;\n    return options[m] + k;\n  }\n",
            ),
            (
                JavaScript,
                "function f(values) {\n",
                "function f(xs) {\n",
                "  var xs = xs || [];\n  return xs;\n",
                "  var xs = values;\n  var xs = xs || [];\n  return xs;\n",
            ),
            (
                Go,
                "func f(x int) int {\n",
                "func f(n int) int {\n",
                "\tx := n * 2\n\treturn x\n",
                "\tn := x\n\t{\n\t\tx := n * 2\n\t\treturn x\n\t}\n",
            ),
        ]);
    }

    #[test]
    fn patterns_of_other_names_and_fewer_parameters_are_made_of_the_file_s() {
        all_taken(&[
            (
                JavaScript,
                "function f({ w: width, h }) {\n",
                "function f({ w, h, d = 1 }) {\n",
                "  return w * h * d;\n",
                "  let w = width;\n  let d = 1;\n  return w * h * d;\n",
            ),
            (JavaScript, "function f(a, b) {\n", "function f(x) {\n", "  return x;\n", "  let x = a;\n  return x;\n"),
        ]);
    }

    #[test]
    fn parameters_that_gather_arguments_are_made_of_the_others() {
        let own = "def f(values, factor=2.0, *, offset=0.0):\n";
        all_taken(&[
            (
                Python,
                own,
                "def f(values, *args, **kwargs):\n",
                "    return args[0] + kwargs['offset']\n",
                "    args = (factor,)\n    kwargs = {\"offset\": offset}\n    return args[0] + kwargs['offset']\n",
            ),
            (Python, own, "def f(values, factor=2.0, offset=0.0):\n", "    return offset\n", "    return offset\n"),
            (
                Python,
                "def f(*args, **more):\n",
                "def f(factor, k=2, *rest, sep=','):\n",
                "    return sep.join([factor, k, *rest])\n",
                "    factor = args[0]\n    k = args[1] if len(args) >= 2 else 2\n    sep = more.get(\"sep\", ',')\n    rest = args[2:]\n    return sep.join([factor, k, *rest])\n",
            ),
            (
                Python,
                "def f(first, *args):\n",
                "def f(*items):\n",
                "    return items\n",
                "    items = (first, *args)\n    return items\n",
            ),
            (
                JavaScript,
                "function f(...args) {\n",
                "function f(a, b = 1) {\n",
                "  return a + b;\n",
                "  let [a, b = 1] = args;\n  return a + b;\n",
            ),
            (
                JavaScript,
                "function f(a, b) {\n",
                "function f(...all) {\n",
                "  const [a, b] = all;\n  return a + b;\n",
                "  let all = [a, b];\n  {\n    const [a, b] = all;\n    return a + b;\n  }\n",
            ),
        ]);
    }
}
