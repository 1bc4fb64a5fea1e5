//! The prompt of a function: its stub, and the parts of the file that are needed to understand it.

use std::collections::HashSet;
use std::ops::Range;

use super::lex::{Kind, Token};
use super::{Table, is_code, line_start, tokens};
use crate::code::rules::Function;

/// Most bytes of a prompt that are not the stub itself. Small models lose the thread in long prompts, and
/// every byte costs prefill time.
const MAX_CONTEXT: usize = 2000;
/// Largest constant or type that is shown, in bytes.
const MAX_CONSTANT: usize = 600;
/// Largest constructor that is shown, in bytes.
const MAX_CONSTRUCTOR: usize = 800;

/// The parts of a file shown to the model besides the function.
pub(in crate::code) struct Context {
    /// Words that make a statement an import.
    pub imports: &'static [&'static str],
    /// Words that begin the definition of a constant or a type.
    pub constants: &'static [&'static str],
    /// Names of functions that construct a value of their type.
    pub constructors: &'static [&'static str],
    /// True if all imports are shown, not only those that the stub names.
    pub all_imports: bool,
}

/// A statement at the top of the text.
pub(super) struct Statement<'t> {
    /// From its first to its last token.
    pub range: Range<usize>,
    /// Its words, or the names that an import defines.
    pub words: Vec<&'t str>,
    pub import: bool,
    /// The names it defines.
    pub names: Vec<&'t str>,
}

/// The prompt of `this`, one of the `functions` of `text`.
pub(super) fn prompt(table: &Table, text: &str, functions: &[Function], this: &Function) -> String {
    let stub = format!("{}{}", &text[line_start(text, this.stub)..this.body.start], this.lead);
    let stub = if stub.ends_with('\n') { stub } else { format!("{stub}\n") };
    let tokens = tokens(table, text);
    let words = |range: &Range<usize>| words(&tokens, text, range).collect::<Vec<_>>();
    let mut names = stub_names(&tokens, text, this);
    let mut used = 0;
    let mut fits = |part: &str| {
        let fits = used + part.len() <= MAX_CONTEXT;
        used += if fits { part.len() } else { 0 };
        fits
    };

    let mut around = String::new();
    for head in &this.parents {
        let line = format!("{}\n", &text[line_start(text, head.start)..head.end]);
        if fits(&line) {
            names.extend(words(head));
            around.push_str(&line);
        }
    }
    if let Some(made) = constructor(table, functions, this)
        && let part = format!("{}\n\n", text[line_start(text, made.range.start)..made.range.end].trim_end())
        && part.len() <= MAX_CONSTRUCTOR
        && fits(&part)
    {
        names.extend(words(&made.range));
        around.push_str(&part);
    }

    let items = statements(table, text, &tokens);
    let mut constants = String::new();
    for item in items.iter().filter(|i| !i.import) {
        let part = format!("{}\n", &text[item.range.clone()]);
        let holds = item.range.start <= this.range.start && this.range.start < item.range.end;
        let wanted = item.names.iter().any(|n| names.contains(n)) && !holds;
        if wanted && part.len() <= MAX_CONSTANT && fits(&part) {
            names.extend(&item.words);
            constants.push_str(&part);
        }
    }
    let mut imports = String::new();
    for item in items.iter().filter(|i| i.import) {
        let part = format!("{}\n", &text[item.range.clone()]);
        let wanted =
            table.context.all_imports || item.words.contains(&"*") || item.words.iter().any(|w| names.contains(w));
        if wanted && fits(&part) {
            imports.push_str(&part);
        }
    }
    let sections = [imports, constants, around + &stub];
    sections.iter().filter(|s| !s.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The constructor of the type that `this` belongs to.
fn constructor<'f>(table: &Table, functions: &'f [Function], this: &Function) -> Option<&'f Function> {
    let (class, own) = this.name.rsplit_once('.')?;
    let known = table.context.constructors;
    let is = |f: &&Function| known.iter().any(|n| f.name == format!("{class}.{n}"));
    let wanted = this.method && !known.contains(&own);
    functions.iter().rfind(|f| wanted && f.finished && f.parents == this.parents && is(f))
}

/// The words of a stub, and those in back quotes in its comments.
pub(super) fn stub_names<'t>(tokens: &[Token], text: &'t str, this: &Function) -> HashSet<&'t str> {
    let stub = this.stub..this.body.start;
    let comments = within(tokens, &stub).filter(|t| t.kind == Kind::Comment);
    words(tokens, text, &stub).chain(comments.flat_map(|comment| quoted(comment.text(text)))).collect()
}

/// The words of code in a part of the text.
fn words<'t>(tokens: &[Token], text: &'t str, range: &Range<usize>) -> impl Iterator<Item = &'t str> {
    within(tokens, range).filter(|t| t.kind == Kind::Word).map(move |t| t.text(text))
}

fn within(tokens: &[Token], range: &Range<usize>) -> impl Iterator<Item = Token> {
    let from = tokens.partition_point(|t| t.start < range.start);
    let to = tokens.partition_point(|t| t.start < range.end).max(from);
    tokens[from..to].iter().copied()
}

/// The words between back quotes.
fn quoted(comment: &str) -> impl Iterator<Item = &str> {
    let pieces = comment.split('`').skip(1).step_by(2);
    pieces.flat_map(|piece| piece.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))))
}

/// The statements at the top of `text`: each begins at the left border, outside of brackets.
pub(super) fn statements<'t>(table: &Table, text: &'t str, tokens: &[Token]) -> Vec<Statement<'t>> {
    let mut found: Vec<Vec<Token>> = Vec::new();
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate() {
        let at_border = i == 0 || tokens[i - 1].kind == Kind::Newline && tokens[i - 1].end == token.start;
        let goes_on = || !found.is_empty() && table.heads.goes_on.contains(&token.text(text));
        let is_mark = matches!(token.kind, Kind::Open | Kind::Close | Kind::Newline);
        let begins = at_border && depth == 0 && !is_mark && !goes_on();
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if begins {
            found.push(Vec::new());
        }
        if is_code(token)
            && let Some(last) = found.last_mut()
        {
            last.push(*token);
        }
    }
    found.iter().filter_map(|tokens| statement(table, text, tokens)).collect()
}

fn statement<'t>(table: &Table, text: &'t str, tokens: &[Token]) -> Option<Statement<'t>> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let at = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
    // `export default`, `pub(crate)`
    let skipped = ["export", "default", "declare", "pub", "(", ")", "crate", "super", "unsafe"];
    let keyword = (0..tokens.len()).find(|&i| !skipped.contains(&at(i)))?;
    let is_import = |word: &str| table.context.imports.contains(&word);
    let import = is_import(at(keyword)) || at(keyword) == "const" && tokens.iter().any(|t| is_import(t.text(text)));
    let words = if import {
        imported(text, tokens)
    } else {
        tokens.iter().filter(|t| t.kind == Kind::Word).map(|t| t.text(text)).collect()
    };
    let defines = table.context.constants.contains(&at(keyword));
    let names = match () {
        () if defines => defined(text, &tokens[keyword + 1..]),
        () if at(keyword + 1) == "!" => of_macro(text, &tokens[keyword..]),
        () => Vec::new(),
    };
    Some(Statement { range: first.start..last.end, words, import, names })
}

/// The names that a definition defines, by the tokens behind its keyword: one, those of a pattern such as
/// `{ a, b: c }`, or the first of each line of a list in brackets.
fn defined<'t>(text: &'t str, tokens: &[Token]) -> Vec<&'t str> {
    let at = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
    let is_word = |i: &usize| tokens[*i].kind == Kind::Word;
    let first = (0..tokens.len()).find(|&i| !matches!(at(i), "enum" | "mut"));
    let Some(first) = first else { return Vec::new() };
    if !matches!(at(first), "{" | "[" | "(") {
        return vec![at(first)];
    }
    let mut depth = 0_usize;
    let end = (first..tokens.len()).find(|&i| {
        match tokens[i].kind {
            Kind::Open => depth += 1,
            Kind::Close => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let inside = (first + 1..end.unwrap_or(tokens.len())).filter(is_word);
    let begins_line = |i: &usize| text[tokens[i - 1].end..tokens[*i].start].contains('\n') || *i == first + 1;
    // The name in front of a colon is that of a field, and behind `=` is a value.
    let is_bound = |i: &usize| at(i + 1) != ":" && at(i - 1) != "=";
    let is_list = at(first) == "(";
    inside.filter(|i| if is_list { begins_line(i) } else { is_bound(i) }).map(at).collect()
}

/// The name of a macro, or those of the `static` items in a call of one such as `thread_local!`.
fn of_macro<'t>(text: &'t str, tokens: &[Token]) -> Vec<&'t str> {
    let at = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
    if at(0) == "macro_rules" {
        return vec![at(2)];
    }
    let behind = |i: usize| i + 1 + usize::from(matches!(at(i + 1), "ref" | "mut"));
    (0..tokens.len()).filter(|&i| at(i) == "static" && at(i - 1) != "'").map(|i| at(behind(i))).collect()
}

/// The names that an import defines: words that no path follows.
fn imported<'t>(text: &'t str, tokens: &[Token]) -> Vec<&'t str> {
    let at = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
    let known = (0..tokens.len()).filter(|&i| {
        let word = tokens[i].kind == Kind::Word || at(i) == "*" && i > 0 && at(i - 1) == ":";
        word && !(at(i + 1) == ":" && at(i + 2) == ":") && at(i + 1) != "as"
    });
    // `self` stands for the path in front of its list.
    let name = |i: usize| {
        let mut depth = 0_usize;
        let open = (0..i).rev().take_while(|_| at(i) == "self").find(|&i| {
            depth += usize::from(at(i) == "}");
            let is_open = at(i) == "{" && depth == 0;
            depth -= usize::from(at(i) == "{" && depth > 0);
            is_open
        });
        let path = open.and_then(|open| open.checked_sub(3)).filter(|path| at(path + 1) == ":");
        at(path.unwrap_or(i))
    };
    known.map(name).filter(|w| !["use", "import", "from", "const", "type", "require", "pub"].contains(w)).collect()
}
