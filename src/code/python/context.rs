//! The prompt of a Python function: its stub, and the parts of the file that are needed to understand it.

use std::collections::HashSet;
use std::ops::Range;

use super::lex::{Kind, Token, Tokens};
use super::lines::{self, Statement};
use crate::code::rules::Function;

/// Most bytes of a prompt that are not the stub itself. Small models lose the thread in long prompts, and
/// every byte costs prefill time.
const MAX_CONTEXT: usize = 2000;
/// Largest constant that is shown, in bytes.
const MAX_CONSTANT: usize = 300;
/// Largest `__init__` that is shown, in bytes.
const MAX_INIT: usize = 800;

/// The prompt of `this`, one of the `functions` of `text`.
pub(super) fn prompt(text: &str, functions: &[Function], this: &Function) -> String {
    let stub = format!("{}{}", &text[lines::line_start(text, this.stub)..this.body.start], this.lead);
    let mut names = stub_names(text, this);
    let mut used = 0;
    let mut fits = |part: &str| {
        let fits = used + part.len() <= MAX_CONTEXT;
        used += if fits { part.len() } else { 0 };
        fits
    };

    let mut around: Vec<String> = Vec::new();
    for header in &this.parents {
        let line = format!("{}\n", &text[lines::line_start(text, header.start)..header.end]);
        if fits(&line) {
            names.extend(words(text, header.clone()));
            around.push(line);
        }
    }
    if let Some(init) = constructor(functions, this)
        && let part = format!("{}\n", text[lines::line_start(text, init.range.start)..init.range.end].trim_end())
        && part.len() <= MAX_INIT
        && fits(&part)
    {
        names.extend(words(text, init.range.clone()));
        around.push(format!("{part}\n"));
    }

    let statements: Vec<Statement> = lines::statements(text, 0).into_iter().filter(|s| s.column == 0).collect();
    let range = |s: &Statement| s.tokens[0].start..s.tokens.last().map_or(s.end, |t| t.end);
    let mut constants: Vec<String> = Vec::new();
    for statement in &statements {
        if let Some(name) = constant(text, statement)
            && names.contains(name)
            && range(statement).len() <= MAX_CONSTANT
            && fits(&text[range(statement)])
        {
            names.extend(words(text, range(statement)));
            constants.push(format!("{}\n", &text[range(statement)]));
        }
    }
    let mut imports: Vec<String> = Vec::new();
    for statement in &statements {
        if imported(text, &statement.tokens).iter().any(|name| names.contains(name)) && fits(&text[range(statement)]) {
            imports.push(format!("{}\n", &text[range(statement)]));
        }
    }

    let around = format!("{}{stub}", around.concat());
    let sections = [imports.concat(), constants.concat(), around];
    sections.iter().filter(|s| !s.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The constructor of the class, for any other method.
fn constructor<'f>(functions: &'f [Function], this: &Function) -> Option<&'f Function> {
    let (class, own) = this.name.rsplit_once('.')?;
    let init = format!("{class}.__init__");
    let wanted = this.method && own != "__init__";
    functions.iter().rfind(|f| wanted && f.finished && f.name == init && f.parents == this.parents)
}

/// The names that code in the stub mentions: in decorators, the signature, and examples and back-quoted parts
/// of the docstring.
pub(super) fn stub_names<'t>(text: &'t str, this: &Function) -> HashSet<&'t str> {
    let code = this.range.start..this.docstring.as_ref().map_or(this.body.start, |d| d.start.min(this.body.start));
    let mut names = words(text, code);
    let Some(doc) = this.docstring.clone() else { return names };
    let mut at = doc.start;
    for line in text[doc].split_inclusive('\n') {
        let bare = line.trim_start();
        if bare.starts_with(">>>") || bare.starts_with("...") {
            names.extend(words(text, at..at + line.len()));
        }
        let mut from = at;
        for (i, piece) in line.split('`').enumerate() {
            if i % 2 == 1 {
                names.extend(words(text, from..from + piece.len()));
            }
            from += piece.len() + 1;
        }
        at += line.len();
    }
    names
}

/// The words of a part of the code, also those in strings (quoted annotations).
fn words(text: &str, range: Range<usize>) -> HashSet<&str> {
    let mut found = HashSet::new();
    let piece = &text[range];
    for token in Tokens::new(piece, 0) {
        match token.kind {
            Kind::Word => {
                found.insert(token.text(piece));
            }
            Kind::Str => found.extend(token.text(piece).split(|c: char| !(c.is_alphanumeric() || c == '_'))),
            _ => {}
        }
    }
    found
}

/// The name that a statement like `LIMIT = 3` or `Row: TypeAlias = dict` defines.
pub(super) fn constant<'t>(text: &'t str, statement: &Statement) -> Option<&'t str> {
    let [name, mark, ..] = statement.tokens.as_slice() else { return None };
    let doubled = statement.tokens.get(2).is_some_and(|t| t.is_mark(text, "=") && t.start == mark.end);
    let defines = name.kind == Kind::Word && !doubled && (mark.is_mark(text, "=") || mark.is_mark(text, ":"));
    // `else:` and `try:` look like the start of an annotation.
    (defines && statement.tokens.len() > 2).then(|| name.text(text))
}

/// The names that an import statement defines.
pub(super) fn imported<'t>(text: &'t str, tokens: &[Token]) -> Vec<&'t str> {
    let words: Vec<&str> = tokens.iter().map(|t| t.text(text)).filter(|w| !["(", ")"].contains(w)).collect();
    let (from, list) = match words.as_slice() {
        ["import", list @ ..] => (false, list),
        ["from", rest @ ..] => match rest.iter().position(|&w| w == "import") {
            Some(at) => (true, &rest[at + 1..]),
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let items = list.split(|&w| w == ",");
    // `import a.b` defines `a`, `import a.b as c` and `from a import b as c` define `c`.
    items.filter_map(|item| if from || item.contains(&"as") { item.last() } else { item.first() }).copied().collect()
}
