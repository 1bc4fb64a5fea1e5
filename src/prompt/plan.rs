//! The order of worth: what of a file and its project is shown first, and what only where there is room.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::others::{self, Piece};
use super::sheet::{Level, Sheet};
use super::{LeftOut, PromptSection, Shown};
use crate::code::{ItemKind, Target, mentioned};
use crate::model::Infill;
use crate::source::Window;

/// Pieces that may be shown, as a step of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Pieces that the stub, the heads around it and its tests name: imports and constants whole, functions
    /// at this level, classes with the heads of their methods; of other files, too.
    Named(Level),
    Tests,
    /// The other methods of its class.
    Methods(Level),
    /// The heads of the other functions of the file.
    Functions,
    /// The file before it, nearest first.
    Before,
    Imports,
    /// Pieces imported from the project.
    Imported,
}

impl Step {
    fn title(self) -> &'static str {
        match self {
            Step::Named(_) => "what it names",
            Step::Tests => "its tests",
            Step::Methods(Level::Whole) => "the other methods of its class, whole",
            Step::Methods(_) => "the heads of the other methods of its class",
            Step::Functions => "the heads of the other functions of its file",
            Step::Before => "its file before it, nearest first",
            Step::Imports => "the imports of its file",
            Step::Imported => "what its file imports from its project",
        }
    }
}

/// The steps in their order, each with the share of the room that it may take, and the tokens of room that no
/// share is taken of. Where there is little room the text right before the function tells most per token,
/// where there is more the heads of functions do: `docs/performance.md` has the measurements.
const ORDER: &[(Step, f64, usize)] = &[
    (Step::Named(Level::Signature), 0.3, 0),
    (Step::Tests, 0.4, 0),
    (Step::Methods(Level::Signature), 0.3, 200),
    (Step::Functions, 0.3, 200),
    (Step::Before, 0.8, 0),
    (Step::Imports, 1.0, 0),
    (Step::Methods(Level::Signature), 1.0, 0),
    (Step::Named(Level::Documented), 1.0, 0),
    (Step::Tests, 1.0, 0),
    (Step::Imported, 0.5, 0),
    (Step::Methods(Level::Whole), 1.0, 0),
    (Step::Functions, 1.0, 0),
    (Step::Before, 1.0, 0),
    (Step::Imported, 1.0, 0),
];

/// Share of a prompt that what stands after the function may take.
const AFTER: f64 = 0.2;
/// Largest statement, in tokens, that is shown because it is named.
const MAX_NAMED: usize = 300;

/// Inputs of a prompt.
pub(super) struct Task<'a> {
    pub target: &'a Target,
    pub path: &'a Path,
    pub tests: &'a [(PathBuf, String)],
    pub infill: Option<&'static Infill>,
    pub window: &'a Window,
    pub budget: usize,
}

/// Something that can be shown.
#[derive(Clone, Copy, Debug)]
enum Move {
    Item(usize, Level),
    /// A piece of another file.
    Piece(usize),
}

/// A sheet that is being filled.
struct Plan<'a> {
    task: Task<'a>,
    sheet: Sheet<'a>,
    /// Of other files: tests, then what is imported; and whether it is shown.
    pieces: Vec<(Piece, bool)>,
    tests: usize,
    /// The words of the stub, the heads around it and its tests.
    words: HashSet<String>,
    used: usize,
    limit: usize,
    shown: Vec<PromptSection>,
    /// Moves that did not fit, by step.
    missed: Vec<(Step, usize)>,
    /// Moves that were made, in order.
    order: Vec<Move>,
}

/// The prompt of a function, of at most so many tokens unless its stub alone has more.
pub(super) fn plan(task: Task) -> Shown {
    let Task { target, window, budget, .. } = task;
    let language = target.language;
    let end = target.function.end.max(target.body.end);
    let mut sheet = Sheet::new(language, &target.text, target.stub_start()..end);
    let (heads, begin) = heads(target, &sheet);
    let stub = heads + &target.stub();
    let around: String = sheet.open().iter().map(|&at| sheet.items[at].signature.as_str()).collect();
    let fixed = format!("{around}{stub}");
    let mut used = window.count(&fixed);
    let mut shown =
        vec![PromptSection { what: "the function and the heads of what it stands in".to_owned(), tokens: used }];

    let after = task.infill.and_then(|_| after(target, &sheet, window, (budget as f64 * AFTER) as usize));
    if let Some((end, text)) = &after {
        sheet.end_at(*end);
        let tokens = window.count(text);
        used += tokens;
        shown.push(PromptSection { what: "what stands after it".to_owned(), tokens });
    }
    let mut pieces = others::tests(language, &target.name, task.tests);
    let tests = pieces.len();
    let imports: Vec<usize> = sheet.others().filter(|&i| sheet.items[i].kind == ItemKind::Import).collect();
    let imports: Vec<&str> = imports.iter().map(|&i| sheet.items[i].signature.as_str()).collect();
    pieces.extend(others::imported(language, task.path, &imports));
    let of_tests = pieces[..tests].iter().flat_map(|piece| mentioned(&piece.text)).map(str::to_owned);
    let words = target.names().iter().cloned().chain(mentioned(&around).map(str::to_owned)).chain(of_tests).collect();
    let pieces = pieces.into_iter().map(|piece| (piece, false)).collect();
    let plan =
        Plan { task, sheet, pieces, tests, words, used, limit: budget, shown, missed: Vec::new(), order: Vec::new() };
    plan.fill().finish((begin, &stub), after.map(|(_, text)| text).as_deref())
}

/// The heads of functions that the function stands in, and where they begin; those of scopes are pieces of
/// the file.
fn heads(target: &Target, sheet: &Sheet) -> (String, usize) {
    let scopes: Vec<_> = sheet.open().iter().map(|&i| &sheet.items[i]).collect();
    let is_scope = |at: usize| scopes.iter().any(|s| (s.range.start..s.range.start + s.signature.len()).contains(&at));
    let line = |at: usize| target.text[..at].rfind('\n').map_or(0, |n| n + 1);
    let others: Vec<_> = target.around().iter().filter(|head| !is_scope(head.start)).collect();
    let text = others.iter().flat_map(|head| [&target.text[line(head.start)..head.end], "\n"]).collect();
    (text, others.first().map_or(target.stub_start(), |head| line(head.start)))
}

/// Text after the function, up to a border between two pieces, and that border's place in the file.
fn after(target: &Target, sheet: &Sheet, window: &Window, room: usize) -> Option<(usize, String)> {
    let all = target.after();
    let skipped = all.len() - (target.text.len() - target.body.end);
    let text = |end: usize| &all[..skipped + end - target.body.end];
    // Of another scope either all is told there or nothing.
    let is_own = |&i: &usize| sheet.items[i].parent.is_none_or(|parent| sheet.open().contains(&parent));
    let ranges = sheet.others().filter(is_own).map(|i| &sheet.items[i].range);
    let mut ends: Vec<usize> = ranges.filter(|r| r.start >= target.body.end).map(|range| range.end).collect();
    ends.sort_unstable();
    let end = ends.into_iter().take_while(|&end| window.count(text(end)) <= room).last()?;
    Some((end, text(end).to_owned()))
}

impl Plan<'_> {
    fn fill(mut self) -> Self {
        for &(step, share, kept) in ORDER {
            let room = self.task.budget.saturating_sub(self.used);
            self.limit = self.used + (share * room.saturating_sub(kept) as f64) as usize;
            let before = self.used;
            let moves = self.moves(step);
            let missed = moves.into_iter().filter(|&made| !self.make(made)).count();
            if step == Step::Before {
                self.end_of_nearest();
            }
            self.missed.retain(|(other, _)| *other != step);
            self.missed.push((step, missed));
            let tokens = self.used - before;
            match self.shown.iter_mut().find(|section| section.what == step.title()) {
                Some(section) => section.tokens += tokens,
                None if tokens > 0 => self.shown.push(PromptSection { what: step.title().to_owned(), tokens }),
                None => {}
            }
        }
        self
    }

    /// Moves of a step, best first.
    fn moves(&self, step: Step) -> Vec<Move> {
        let sheet = &self.sheet;
        let is_named = |i: usize| sheet.items[i].names.iter().any(|name| self.words.contains(name));
        let of_kind = |kind: ItemKind| sheet.others().filter(move |&i| sheet.items[i].kind == kind);
        let nearest = |mut items: Vec<usize>| {
            items.sort_by_key(|&i| sheet.distance(i));
            items
        };
        let all = |items: Vec<usize>, level: Level| items.into_iter().map(|i| Move::Item(i, level)).collect();
        let imported = self.tests..self.pieces.len();
        match step {
            Step::Named(level) => {
                // The shortest first: so most is told.
                let mut named: Vec<usize> = sheet.others().filter(|&i| is_named(i)).collect();
                named.sort_by_key(|&i| sheet.items[i].signature.len());
                let mut moves: Vec<Move> = named.into_iter().flat_map(|i| self.named(i, level)).collect();
                moves.extend(imported.filter(|&i| self.words.contains(&self.pieces[i].0.name)).map(Move::Piece));
                moves
            }
            Step::Tests => (0..self.tests).map(Move::Piece).collect(),
            Step::Methods(level) => {
                let class = |name: &str| name.rsplit_once('.').map(|(class, _)| class.to_owned());
                let own = class(&self.task.target.name);
                let of_class =
                    of_kind(ItemKind::Function).filter(|&i| own.is_some() && class(&sheet.items[i].name) == own);
                all(nearest(of_class.collect()), level)
            }
            Step::Functions => all(nearest(of_kind(ItemKind::Function).collect()), Level::Signature),
            Step::Before => all(self.before(), Level::Whole),
            Step::Imports => {
                let mut imports: Vec<usize> = of_kind(ItemKind::Import).collect();
                imports.sort_by_key(|&i| !is_named(i));
                all(imports, Level::Whole)
            }
            Step::Imported => imported.map(Move::Piece).collect(),
        }
    }

    /// How a piece of the file is shown because it is named.
    fn named(&self, item: usize, level: Level) -> Vec<Move> {
        match self.sheet.items[item].kind {
            ItemKind::Function => vec![Move::Item(item, level)],
            ItemKind::Scope => {
                let members = self.sheet.members(item).map(|member| Move::Item(member, Level::Signature));
                std::iter::once(Move::Item(item, Level::Signature)).chain(members).collect()
            }
            _ if self.task.window.count(&self.sheet.at(item, Level::Whole)) > MAX_NAMED => Vec::new(),
            ItemKind::Import | ItemKind::Other => vec![Move::Item(item, Level::Whole)],
        }
    }

    /// The pieces before the stub, nearest first.
    fn before(&self) -> Vec<usize> {
        let start = self.task.target.stub_start();
        let is_before =
            |&i: &usize| self.sheet.items[i].range.end <= start && self.sheet.items[i].kind != ItemKind::Scope;
        self.sheet.others().filter(is_before).rev().collect()
    }

    /// Shows the end of the nearest function before the stub that did not fit whole.
    fn end_of_nearest(&mut self) {
        let Some(item) = self.before().into_iter().find(|&i| self.sheet.level(i) < Level::Whole) else { return };
        let ends: Vec<usize> = self.sheet.items[item].statements.iter().skip(1).copied().collect();
        ends.into_iter().any(|from| self.make(Move::Item(item, Level::End(from))));
    }

    /// Shows something, if there is room for it.
    fn make(&mut self, made: Move) -> bool {
        let count = |text: &str| self.task.window.count(text);
        let (cost, around) = match made {
            Move::Piece(at) if self.pieces[at].1 => return true,
            Move::Item(item, level) if self.sheet.level(item) >= level => return true,
            Move::Piece(at) => (count(&others::quoted(self.task.target.language, &[&self.pieces[at].0])), Vec::new()),
            Move::Item(item, level) => {
                let around = self.sheet.hidden_around(item);
                let heads: usize = around.iter().map(|&at| count(&self.sheet.items[at].signature)).sum();
                let now = count(&self.sheet.at(item, self.sheet.level(item)));
                ((count(&self.sheet.at(item, level)) + heads).saturating_sub(now), around)
            }
        };
        if self.used + cost > self.limit {
            return false;
        }
        self.used += cost;
        for at in around {
            self.sheet.show(at, Level::Signature);
            self.order.push(Move::Item(at, Level::Signature));
        }
        match made {
            Move::Piece(at) => self.pieces[at].1 = true,
            Move::Item(item, level) => self.sheet.show(item, level),
        }
        self.order.push(made);
        true
    }

    fn finish(mut self, (begin, stub): (usize, &str), after: Option<&str>) -> Shown {
        let Task { target, infill, window, budget, .. } = self.task;
        loop {
            let pieces: Vec<&Piece> = self.pieces.iter().filter(|(_, shown)| *shown).map(|(piece, _)| piece).collect();
            let mut before = others::quoted(target.language, &pieces);
            if !before.is_empty() {
                before.push('\n');
            }
            before += &(self.sheet.render(begin) + stub);
            let text = match (infill, after) {
                (Some(infill), Some(after)) => infill.prompt(&before, after),
                _ => before,
            };
            let tokens = window.count(&text);
            // Pieces that are read together may take more tokens than each alone.
            if tokens > budget
                && let Some(last) = self.order.pop()
            {
                match last {
                    Move::Item(item, _) => self.sheet.show(item, Level::Hidden),
                    Move::Piece(at) => self.pieces[at].1 = false,
                }
                continue;
            }
            let missed = self.missed.into_iter().filter(|(_, count)| *count > 0);
            let left_out = missed.map(|(step, count)| LeftOut {
                what: format!("{count} of {}", step.title()),
                why: format!("{tokens} of {budget} tokens are taken by what is worth more"),
            });
            return Shown {
                text,
                tokens,
                budget: Some(budget),
                chat: false,
                shown: self.shown,
                left_out: left_out.collect(),
            };
        }
    }
}
