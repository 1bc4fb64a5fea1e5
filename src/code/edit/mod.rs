//! A candidate as a change of its file: the body of its function, and what comes with it in its places.

pub(super) mod around;
mod beside;
mod clashing;
pub(super) mod grown;
mod imports;
mod listed;
mod missing;
mod needed;
mod order;
mod owned;
mod parts;
mod pieces;
mod run;

use std::ops::Range;

use self::around::{Around, Read};
use self::beside::Beside;
use self::grown::Grown;
use self::imports::Import;
use super::outline::{Item, ItemKind, mentioned, outline};
use super::target::last_name;
use super::typescript::overloads;
use super::words::names;
use super::{Target, rules, text};
use crate::language::Language;

/// A change of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// The bytes that it replaces.
    pub range: Range<usize>,
    /// Their new text.
    pub text: String,
}

/// A text with changes that do not overlap, in their order.
pub(super) fn applied(text: &str, edits: &[Edit]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for edit in edits {
        out += &text[at..edit.range.start];
        out += &edit.text;
        at = edit.range.end;
    }
    out + &text[at..]
}

impl Target {
    /// The end of the function in a candidate, in bytes.
    fn inside(&self, candidate: &str) -> usize {
        self.end_of(candidate).unwrap_or(candidate.len()).min(candidate.len())
    }

    /// The indentation of its head.
    pub(super) fn outer(&self) -> &str {
        text::white(&self.text, self.function.start)
    }

    fn around_it<'a>(&'a self, head: &'a str) -> Around<'a> {
        Around {
            language: self.language,
            name: last_name(&self.name),
            outer: self.outer(),
            unit: "",
            known: &self.text,
            at: self.function.start,
            path: self.path.as_deref(),
            head,
            read: Read::default(),
        }
    }

    /// The code that comes with a candidate's function.
    pub(super) fn beside(&self, candidate: &str) -> Beside {
        let (body, rest) = candidate.split_at(self.inside(candidate));
        self.around_it(&self.stub()).behind(body, rest)
    }

    /// A candidate with the code beside it that `other`, an edited text of this file, has and this does not.
    pub(super) fn with_added(&self, other: &Self, candidate: String) -> String {
        let stub = self.stub();
        let around = self.around_it(&stub);
        let beside = around.around(&candidate, &other.text, other.function.start, false);
        if beside.is_empty() { candidate } else { around.joined(&candidate, &beside) }
    }

    /// Returns true if code comes with a candidate's function.
    pub fn brings(&self, candidate: &str) -> bool {
        !self.beside(candidate).is_empty()
    }

    /// A candidate with the imports behind it that come with it and are not in its text; `None` if there are
    /// none.
    pub fn with_imports(&self, candidate: &str) -> Option<String> {
        let imports = self.beside(candidate).imports.into_iter().map(|import| import.text);
        let added: Vec<String> = imports.filter(|import| !candidate.contains(import.trim())).collect();
        (!added.is_empty()).then(|| format!("{}\n\n{}\n", candidate.trim_end(), added.join("\n")))
    }

    /// Functions that a candidate calls, constants in capitals that it uses, and members of its own object, which
    /// nothing defines.
    pub fn undefined(&self, candidate: &str) -> Vec<String> {
        // A script may use what other scripts of its page define.
        let is_module = ["import ", "export ", "require("].iter().any(|word| self.text.contains(word));
        if self.language.is_kin(Language::JavaScript) && !is_module {
            return Vec::new();
        }
        let body = &candidate[..self.inside(candidate)];
        self.around_it("").undefined(body, &self.beside(candidate))
    }

    /// The changes that a candidate makes, in the order of the text.
    pub(super) fn edits(&self, candidate: &str) -> Vec<Edit> {
        let mut body = Edit { range: self.replaced(), text: String::new() };
        let mut beside = self.beside(candidate);
        if beside.is_empty() {
            body.text = self.insertion(candidate);
            return self.without_unused(vec![body]);
        }
        let items = outline(self.language, &self.text);
        let place = self.place(&items);
        // The names of a module are not those of the file.
        if self.language == Language::Rust && !place.indent.is_empty() {
            let of_helpers: Vec<&str> = beside.helpers.iter().flat_map(|helper| mentioned(helper)).collect();
            let is_named = |import: &Import| import.names.iter().any(|name| of_helpers.contains(&name.as_str()));
            let is_for_helpers = beside.imports.iter().any(is_named);
            let uses = beside.imports.drain(..).map(|import| import.text + "\n");
            if is_for_helpers {
                let module = &self.text[place.top..self.function.start];
                let uses: String = uses.filter(|line| !module.contains(line.trim())).collect();
                beside.helpers.splice(..0, Some(uses).filter(|uses| !uses.is_empty()));
                body.text = self.insertion(candidate);
            } else {
                let indent = self.body_indent.clone().unwrap_or_else(|| " ".repeat(self.indent + 4));
                body.text = self.insertion(&(text::indented(&uses.collect::<String>(), &indent) + candidate));
            }
        } else {
            body.text = self.insertion(candidate);
        }
        let mut edits = Vec::new();
        if !beside.imports.is_empty() {
            let (range, text) = imports::merged(self.language, (&self.text, &items), place.top, &beside.imports);
            edits.extend(Some(Edit { range, text }).filter(|edit| !edit.range.is_empty() || !edit.text.is_empty()));
        }
        let blank = if self.language == Language::Python && place.indent.is_empty() { "\n\n" } else { "\n" };
        let mut insert = |at: usize, text: String| edits.push(Edit { range: at..at, text });
        let around = self.around_it("");
        let (behind, before): (Vec<_>, Vec<_>) = beside.helpers.iter().partition(|helper| around.is_behind(helper));
        for helper in before {
            insert(place.at, text::indented(helper, &place.indent) + blank);
        }
        let end = self.function.end.max(self.replaced().end);
        // The end of its line stays behind what comes after it.
        let is_open = !self.text[..end].ends_with('\n');
        for statement in behind {
            let statement =
                if is_open && self.text[end..].starts_with('\n') { statement.trim_end() } else { statement };
            insert(end, [if is_open { "\n" } else { "" }, blank, statement].concat());
        }
        let own = text::line_start(&self.text, self.stub.min(self.function.start));
        let own = self.above_overloads(own);
        for member in &beside.members {
            insert(own, format!("{member}\n"));
        }
        let head = text::line_start(&self.text, self.function.start);
        for decorator in &beside.decorators {
            insert(head, text::indented(&format!("{decorator}\n"), self.outer()));
        }
        edits.push(body);
        let placed = rules::of(self.language).placed;
        let grown = |grown: Grown| Edit { text: placed(&grown.text, &grown.indent, ""), range: grown.range };
        edits.extend(beside.grown.into_iter().map(grown));
        edits.sort_by_key(|edit| edit.range.start);
        self.without_unused(edits)
    }

    /// The changes without the imports of Go that the replaced body alone used: the compiler refuses them.
    fn without_unused(&self, mut edits: Vec<Edit>) -> Vec<Edit> {
        if self.language != Language::Go {
            return edits;
        }
        let old = names(self.language, &self.text[self.body.clone()]);
        let new = names(self.language, &applied(&self.text, &edits));
        let is_unused = |import: &Import| {
            import.names.iter().any(|name| old.contains(name)) && !import.names.iter().any(|name| new.contains(name))
        };
        let unused: Vec<Import> = imports::of_text(self.language, &self.text).into_iter().filter(is_unused).collect();
        if unused.is_empty() {
            return edits;
        }
        let Some(block) = imports::block(&outline(self.language, &self.text), self.body.start) else { return edits };
        if let Some(edit) = edits.iter_mut().find(|edit| edit.range == block) {
            edit.text = imports::without(&edit.text, &unused);
            return edits;
        }
        let mut edit = Edit { text: imports::without(&self.text[block.clone()], &unused), range: block };
        if edit.text.is_empty() {
            // One blank line stays.
            edit.range.end += usize::from(self.text[edit.range.end..].starts_with('\n'));
        }
        edits.insert(0, edit);
        edits
    }

    /// The start of the first of the heads without a body above byte `at`, the start of a line, which belong
    /// to the function.
    fn above_overloads(&self, at: usize) -> usize {
        if self.language == Language::TypeScript { overloads::above(&self.text, last_name(&self.name), at) } else { at }
    }

    /// The range of the text that a candidate replaces, and its new text.
    pub fn replacement(&self, candidate: &str) -> (Range<usize>, String) {
        let edits = self.edits(candidate);
        let last = edits.last().map_or(0, |edit| edit.range.end);
        let range = edits[0].range.start..last.max(self.body.end);
        let whole = applied(&self.text, &edits);
        let text = whole[range.start..whole.len() - (self.text.len() - range.end)].to_owned();
        (range, text)
    }

    /// Lines by which a candidate moves its function down.
    pub fn moves_by(&self, candidate: &str) -> usize {
        let lines = |text: &str| text.matches('\n').count();
        let edits = self.edits(candidate);
        let body = self.replaced();
        let above = edits.iter().filter(|edit| edit.range.end <= self.function.start && edit.range != body);
        let (mut new, mut old) = (0_usize, 0_usize);
        for edit in above {
            new += lines(&edit.text);
            old += lines(&self.text[edit.range.clone()]);
        }
        new.saturating_sub(old)
    }

    /// The completed function for a reader, with what comes with it in front.
    pub fn completed(&self, candidate: &str) -> String {
        let edits = self.edits(candidate);
        let head = text::line_start(&self.text, self.function.start);
        let is_of_it = |edit: &Edit| (head..self.function.end.max(self.body.end)).contains(&edit.range.start);
        let body = self.replaced();
        let is_body = |edit: &Edit| edit.range == body;
        let (own, others): (Vec<Edit>, Vec<Edit>) = edits.into_iter().partition(|edit| is_of_it(edit) || is_body(edit));
        let mut out: String = others.iter().map(|edit| edit.text.trim_start_matches('\n')).collect();
        let whole = applied(&self.text, &own);
        if !out.is_empty() && !out.ends_with("\n\n") {
            out.push('\n');
        }
        out + &whole[head..whole.len() - (self.text.len() - self.function.end)]
    }

    /// Where helpers stand.
    fn place(&self, items: &[Item]) -> Place {
        let holds = |item: &&Item| item.range.contains(&self.function.start);
        let top = items.iter().find(|item| item.parent.is_none() && holds(item));
        let Some(top) = top else {
            let at = text::line_start(&self.text, self.stub.min(self.function.start));
            return Place { top: at, at, indent: String::new() };
        };
        let mut at = top;
        // A module of Rust does not see the items beside it.
        while self.language == Language::Rust
            && at.kind == ItemKind::Scope
            && at.signature.split(|c: char| !c.is_alphanumeric()).any(|word| word == "mod")
        {
            let index = items.iter().position(|item| item == at);
            let Some(inner) = items.iter().find(|item| item.parent == index && index.is_some() && holds(item)) else {
                break;
            };
            at = inner;
        }
        let code = self.text[at.range.clone()].len() - self.text[at.range.clone()].trim_start_matches('\n').len();
        let start = at.range.start + code;
        let indent = text::white(&self.text, start).to_owned();
        let at = if at.kind == ItemKind::Function { self.above_overloads(start) } else { start };
        Place { top: top.range.start.min(at), at, indent }
    }
}

/// A place in front of a piece of a file.
struct Place {
    /// The piece on the top level.
    top: usize,
    at: usize,
    indent: String,
}
