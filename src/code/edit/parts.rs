//! The parts of a candidate: the inside of its function, and the code that comes with it.
//!
//! A candidate is text that continues the function: its inside, its closing brace, and behind it the members
//! of its class, imports, helper functions, constants and types that it needs.

use super::around::Around;
use super::beside::Beside;
use super::pieces::Part;
use crate::code::outline::{Item, ItemKind, outline};
use crate::code::words::{Word, words};
use crate::code::{rules, text};
use crate::language::Language;

impl Around<'_> {
    /// The code behind the function in a candidate.
    pub fn behind(&self, body: &str, rest: &str) -> Beside {
        if rest.trim().is_empty() {
            return self.needed((self.head, body), Vec::new(), Vec::new());
        }
        let (members, top) = rest.split_at(self.members_end(rest));
        let mut pieces = Vec::new();
        if !members.trim().is_empty() {
            // Members are read inside of a class, as they stand.
            // One with fields alone would be read as a whole; the last member is left out again.
            let (open, close) = match self.language {
                Language::Python => ("class A:\n", ""),
                Language::Rust => ("impl A {\n", "\nfn a_() {\n}\n}\n"),
                Language::JavaScript | Language::TypeScript | Language::Go => ("class A {\n", "\na_() {\n}\n}\n"),
            };
            let class = [open, members, close].concat();
            pieces.extend(self.pieces(&class, &outline(self.language, &class), Some(0), usize::MAX, |_| Part::Member));
            pieces.pop_if(|last| last.names.iter().any(|name| name == "a_"));
            // They may be those of a namespace, which came here because they are used.
            for piece in &mut pieces {
                piece.is_alone = true;
            }
        }
        let items = outline(self.language, top);
        pieces.extend(self.pieces(top, &items, None, usize::MAX, |_| Part::Helper));
        self.needed((self.head, body), pieces, self.decorators(top))
    }

    /// The code around the function in an answer, where its body begins at byte `at`. Of code that may go on
    /// the last piece is not certain.
    pub fn around(&self, body: &str, code: &str, at: usize, may_go_on: bool) -> Beside {
        let mut items = outline(self.language, code);
        if may_go_on {
            items.retain(|item| item.range.start <= at || self.has_code(&code[item.range.end..]));
        }
        let own = items.iter().rposition(|item| item.range.contains(&at) && item.kind == ItemKind::Function);
        let class = own.and_then(|own| items[own].parent).filter(|_| !self.outer.is_empty());
        let mut pieces = Vec::new();
        if let Some(class) = class {
            pieces.extend(self.pieces(code, &items, Some(class), at, |_| Part::Member));
        }
        // A method without its class has its helpers beside it.
        let is_bare = class.is_none() && !self.outer.is_empty();
        let is_method = |item: &Item| is_bare && self.takes_self(item, &code[item.range.clone()]);
        let part = |item: &Item| if is_method(item) { Part::Member } else { Part::Helper };
        pieces.extend(self.pieces(code, &items, None, at, part));
        let decorators = self.decorators(&code[..at]);
        let head = items.iter().rfind(|item| item.range.contains(&at)).map_or("", |item| &code[item.range.start..at]);
        self.needed((&[self.head, "\n", head].concat(), body), pieces, decorators)
    }

    /// Returns true if a function is written like a member of a class.
    fn takes_self(&self, item: &Item, text: &str) -> bool {
        let begin = match self.language {
            Language::Python => "def",
            Language::Rust => "fn",
            Language::JavaScript | Language::TypeScript | Language::Go => return false,
        };
        let words = words(self.language, text);
        let rest = words.iter().skip_while(|word| word.name() != Some(begin)).skip_while(|word| !word.is('('));
        let first = rest.skip(1).filter_map(Word::name).find(|name| *name != "mut");
        let is_static = text.trim_start().starts_with("@staticmethod");
        item.kind == ItemKind::Function && (is_static || matches!(first, Some("self" | "cls")))
    }

    /// Returns true if a text is more than comments, which may be inside of the piece before it.
    fn has_code(&self, text: &str) -> bool {
        words(self.language, text).iter().any(|word| *word != Word::End)
    }

    /// A function's body with the code behind it. A block in braces is closed.
    pub fn joined(&self, body: &str, beside: &Beside) -> String {
        let rules = rules::of(self.language);
        let body = body.trim_end();
        let ends = |text: String| (rules.function_end)(text::width(self.outer), &text).is_some();
        let is_open = rules.lexicon.is_some() && !ends(format!("{body}\n"));
        let close = if is_open { format!("{}}}\n", self.outer) } else { String::new() };
        format!("{body}\n{close}{}", beside.text(self.name))
    }

    /// The end of the members of the class that a text begins with.
    fn members_end(&self, rest: &str) -> usize {
        if self.outer.is_empty() {
            return 0;
        }
        if self.language == Language::Python {
            let column = text::width(self.outer);
            return (rules::of(self.language).function_end)(column - 1, rest).unwrap_or(rest.len());
        }
        let is_inside = |line: &&str| line.trim().is_empty() || line.starts_with(self.outer);
        rest.split_inclusive('\n').take_while(is_inside).map(str::len).sum()
    }

    /// The decorators right above a head of the function that its file does not have. `code` ends behind the
    /// head.
    fn decorators(&self, code: &str) -> Vec<String> {
        let is_head = |line: &str| {
            let head = line.trim_start().trim_start_matches("async ");
            head.strip_prefix("def ")
                .and_then(|head| head.strip_prefix(self.name))
                .is_some_and(|rest| rest.starts_with('('))
        };
        let mut lines = code.lines().rev().skip_while(|line| !is_head(line));
        let Some(head) = lines.next().filter(|_| self.language == Language::Python) else { return Vec::new() };
        let white = text::white(head, 0);
        let above = lines.take_while(|line| text::white(line, 0) == white && line.trim_start().starts_with('@'));
        // `@lru_cache` and `@functools.lru_cache` are one.
        let name = |line: &str| -> String {
            let path = line.trim().trim_start_matches('@').split('(').next().unwrap_or_default();
            path.rsplit('.').next().unwrap_or_default().trim().to_owned()
        };
        let own: Vec<String> = self.head.lines().filter(|line| line.trim().starts_with('@')).map(name).collect();
        let mut above: Vec<&str> = above.map(str::trim).filter(|line| !own.contains(&name(line))).collect();
        above.reverse();
        above.into_iter().map(str::to_owned).collect()
    }
}
