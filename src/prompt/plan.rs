//! The order of worth: what of a file and its project is shown first, and what only where there is room.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::others::{self, Kind, Others, Piece};
use super::sheet::{Level, Sheet};
use super::{LeftOut, PromptSection, Shown, twin};
use crate::code::{ItemKind, Target, mentioned, names};
use crate::model::{Infill, PromptText};
use crate::source::Window;

/// Pieces that may be shown, as a step of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Pieces that the stub, the heads around it and its tests name: imports and constants whole, functions
    /// at this level, classes with the heads of their methods; of other files, too.
    Named(Level),
    Tests,
    /// The bodies of functions beside it that are called or declared like it.
    Twins,
    /// The bodies of functions that call it; of other files, too.
    Callers,
    /// The bodies of functions of other files that call a method of its name.
    CallersOfName,
    /// The bodies of functions that its tests, twins and callers use; of other files, too.
    Helpers,
    /// The other methods of its class.
    Methods(Level),
    /// The other functions of the file.
    Functions(Level),
    /// The file before it, nearest first.
    Before,
    Imports,
    /// Pieces imported from the project.
    Imported,
}

impl Step {
    fn title(self) -> &'static str {
        match self {
            Step::Named(Level::Whole) => "what it names, whole",
            Step::Named(_) => "what it names",
            Step::Tests => "its tests",
            Step::Twins => "functions beside it that are like it",
            Step::Callers => "functions that call it",
            Step::CallersOfName => "functions that call a method of its name",
            Step::Helpers => "functions that its tests, its callers and those like it use",
            Step::Methods(Level::Whole) => "the other methods of its class, whole",
            Step::Methods(_) => "the heads of the other methods of its class",
            Step::Functions(Level::Whole) => "the other functions of its file, whole",
            Step::Functions(_) => "the heads of the other functions of its file",
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
    (Step::Twins, 0.4, 200),
    (Step::Callers, 0.3, 200),
    (Step::Methods(Level::Signature), 0.3, 200),
    (Step::Functions(Level::Signature), 0.3, 200),
    (Step::Before, 0.8, 0),
    (Step::Imports, 1.0, 0),
    (Step::Methods(Level::Signature), 1.0, 0),
    (Step::Named(Level::Documented), 1.0, 0),
    (Step::Tests, 1.0, 0),
    (Step::Twins, 1.0, 0),
    (Step::Callers, 0.6, 0),
    (Step::Imported, 0.5, 0),
    (Step::Methods(Level::Whole), 1.0, 0),
    (Step::Functions(Level::Signature), 1.0, 0),
    (Step::Before, 1.0, 0),
    (Step::Imported, 0.5, 0),
    (Step::Callers, 1.0, 0),
    (Step::Helpers, 1.0, 0),
    (Step::Named(Level::Whole), 1.0, 0),
    (Step::Imported, 1.0, 0),
    (Step::CallersOfName, 0.5, 0),
    (Step::Functions(Level::Whole), 1.0, 0),
    (Step::CallersOfName, 1.0, 0),
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
    Piece(usize, Level),
}

/// A sheet that is being filled.
struct Plan<'a> {
    task: Task<'a>,
    sheet: Sheet<'a>,
    /// Pieces of other files, and how much of each is shown.
    pieces: Vec<(Piece, Level)>,
    /// Functions of the file that are like this one, the most alike first.
    twins: Vec<usize>,
    /// Functions of the file that call this one.
    callers: Vec<usize>,
    /// The words of the stub, the heads around it and its tests.
    words: HashSet<String>,
    used: usize,
    limit: usize,
    shown: Vec<PromptSection>,
    /// Moves that did not fit, by step.
    missed: Vec<(Step, usize)>,
    /// Moves that would take back those that were made together, in order.
    made: Vec<Vec<Move>>,
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
    let imports: Vec<usize> = sheet.others().filter(|&i| sheet.items[i].kind == ItemKind::Import).collect();
    let imports: Vec<&str> = imports.iter().map(|&i| sheet.items[i].signature.as_str()).collect();
    if let Some(others) = Others::around(language, task.path) {
        let callers = others.callers(&target.name);
        let mut imported = others.imported(&imports);
        imported
            .retain(|piece| !callers.iter().any(|caller| (&caller.path, &caller.name) == (&piece.path, &piece.name)));
        pieces.extend(callers);
        pieces.extend(imported);
    }
    let tests = pieces.iter().filter(|piece| piece.kind == Kind::Test);
    let of_tests = tests.flat_map(|piece| mentioned(&piece.whole)).map(str::to_owned);
    let words = target.names().iter().cloned().chain(mentioned(&around).map(str::to_owned)).chain(of_tests).collect();
    let pieces = pieces.into_iter().map(|piece| (piece, Level::Hidden)).collect();
    let (twins, callers) = (twin::of(target, &sheet), callers(target, &sheet));
    let plan = Plan {
        twins,
        callers,
        task,
        sheet,
        pieces,
        words,
        used,
        limit: budget,
        shown,
        missed: Vec::new(),
        made: Vec::new(),
    };
    plan.fill().finish((begin, &stub), after.map(|(_, text)| text).as_deref())
}

/// The functions of the file that call this one.
fn callers(target: &Target, sheet: &Sheet) -> Vec<usize> {
    let calling = others::calling(target.language, &target.text, &sheet.items, &target.name);
    let known: Vec<usize> = calling.into_iter().filter(|(_, kind)| *kind == Kind::Caller).map(|(at, _)| at).collect();
    sheet.others().filter(|i| known.contains(i)).collect()
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

    /// Moves of a step, best first. Of tests in the file only the text before the function is shown.
    fn moves(&self, step: Step) -> Vec<Move> {
        let sheet = &self.sheet;
        let is_named = |i: usize| sheet.items[i].names.iter().any(|name| self.words.contains(name));
        let of_kind = |kind: ItemKind| self.others().filter(move |&i| sheet.items[i].kind == kind);
        let nearest = |mut items: Vec<usize>| {
            items.sort_by_key(|&i| sheet.distance(i));
            items
        };
        let all = |items: Vec<usize>, level: Level| items.into_iter().map(|i| Move::Item(i, level)).collect();
        match step {
            Step::Named(level) => {
                // The shortest first: so most is told.
                let mut named: Vec<usize> = self.others().filter(|&i| is_named(i)).collect();
                named.sort_by_key(|&i| sheet.items[i].signature.len());
                let mut moves: Vec<Move> = named.into_iter().flat_map(|i| self.named(i, level)).collect();
                moves.extend(self.imported(level, |name| self.words.contains(name)));
                moves
            }
            Step::Tests => self.pieces(Kind::Test, Level::Whole).collect(),
            Step::CallersOfName => self.pieces(Kind::CallerOfName, Level::Whole).collect(),
            Step::Twins => all(self.twins.clone(), Level::Whole),
            Step::Callers => {
                let mut moves: Vec<Move> = all(nearest(self.callers.clone()), Level::Whole);
                moves.extend(self.pieces(Kind::Caller, Level::Whole));
                moves
            }
            Step::Helpers => {
                let words = self.words_of_bodies();
                let is_used = |&i: &usize| sheet.items[i].names.iter().any(|name| words.contains(name));
                let mut moves: Vec<Move> = self.pieces(Kind::Helper, Level::Whole).collect();
                let own: Vec<usize> = of_kind(ItemKind::Function).filter(is_used).collect();
                moves.extend(nearest(own).into_iter().map(|i| Move::Item(i, Level::Whole)));
                moves.extend(self.imported(Level::Whole, |name| words.contains(name)));
                moves
            }
            Step::Methods(level) => {
                let class = |name: &str| name.rsplit_once('.').map(|(class, _)| class.to_owned());
                let own = class(&self.task.target.name);
                let of_class =
                    of_kind(ItemKind::Function).filter(|&i| own.is_some() && class(&sheet.items[i].name) == own);
                all(nearest(of_class.collect()), level)
            }
            Step::Functions(level) => all(nearest(of_kind(ItemKind::Function).collect()), level),
            Step::Before => all(self.before(), Level::Whole),
            Step::Imports => {
                let mut imports: Vec<usize> = of_kind(ItemKind::Import).collect();
                imports.sort_by_key(|&i| !is_named(i));
                all(imports, Level::Whole)
            }
            Step::Imported => self.pieces(Kind::Imported, Level::Signature).collect(),
        }
    }

    /// The pieces of the file that can be shown and are no tests.
    fn others(&self) -> impl Iterator<Item = usize> + '_ {
        self.sheet.others().filter(|&i| !self.sheet.is_test(i))
    }

    /// The pieces of other files of a kind.
    fn pieces(&self, kind: Kind, level: Level) -> impl Iterator<Item = Move> + '_ {
        let all = self.pieces.iter().enumerate().filter(move |(_, (piece, _))| piece.kind == kind);
        all.map(move |(at, _)| Move::Piece(at, level))
    }

    /// The imported pieces that are named so.
    fn imported(&self, level: Level, is_named: impl Fn(&str) -> bool) -> impl Iterator<Item = Move> {
        let is_one = |at: &usize| {
            let (piece, _) = &self.pieces[*at];
            piece.kind == Kind::Imported && is_named(&piece.name)
        };
        let all: Vec<usize> = (0..self.pieces.len()).filter(is_one).collect();
        all.into_iter().map(move |at| Move::Piece(at, level))
    }

    /// The names in the bodies of tests, twins and callers that are shown.
    fn words_of_bodies(&self) -> HashSet<String> {
        let Task { target, .. } = self.task;
        let bodies = self.twins.iter().chain(&self.callers);
        let bodies = bodies.filter(|&&i| self.sheet.level(i) == Level::Whole);
        let bodies = bodies.map(|&i| &target.text[self.sheet.items[i].range.clone()]);
        let is_body = |(piece, level): &&(Piece, Level)| {
            *level == Level::Whole && matches!(piece.kind, Kind::Test | Kind::Caller | Kind::Helper)
        };
        let others = self.pieces.iter().filter(is_body).map(|(piece, _)| piece.whole.as_str());
        bodies.chain(others).flat_map(|body| names(target.language, body)).collect()
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
        let is_cut = |&i: &usize| self.sheet.level(i) < Level::Whole && !self.sheet.is_test(i);
        let Some(item) = self.before().into_iter().find(is_cut) else { return };
        let ends: Vec<usize> = self.sheet.items[item].statements.iter().skip(1).copied().collect();
        ends.into_iter().any(|from| self.make(Move::Item(item, Level::End(from))));
    }

    /// Shows something, if there is room for it.
    fn make(&mut self, made: Move) -> bool {
        let language = self.task.target.language;
        let count = |text: &str| self.task.window.count(text);
        let (level, now, then, around) = match made {
            Move::Piece(at, level) => {
                let (piece, shown) = &self.pieces[at];
                let text = |level: Level| others::quoted(language, [(piece, level)]);
                (*shown, text(*shown), text(level), Vec::new())
            }
            Move::Item(item, level) => {
                let text = |level: Level| self.sheet.at(item, level).into_owned();
                let shown = self.sheet.level(item);
                (shown, text(shown), text(level), self.sheet.hidden_around(item))
            }
        };
        let (Move::Piece(_, wanted) | Move::Item(_, wanted)) = made;
        if level >= wanted {
            return true;
        }
        let heads: usize = around.iter().map(|&at| count(&self.sheet.items[at].signature)).sum();
        let cost = (count(&then) + heads).saturating_sub(count(&now));
        if self.used + cost > self.limit {
            return false;
        }
        self.used += cost;
        let before = match made {
            Move::Piece(at, _) => Move::Piece(at, level),
            Move::Item(item, _) => Move::Item(item, level),
        };
        for &at in &around {
            self.sheet.show(at, Level::Signature);
        }
        self.show(made);
        self.made.push(around.into_iter().map(|at| Move::Item(at, Level::Hidden)).chain([before]).collect());
        true
    }

    fn show(&mut self, made: Move) {
        match made {
            Move::Piece(at, level) => self.pieces[at].1 = level,
            Move::Item(item, level) => self.sheet.show(item, level),
        }
    }

    fn finish(mut self, (begin, stub): (usize, &str), after: Option<&str>) -> Shown {
        let Task { target, infill, window, budget, .. } = self.task;
        loop {
            let pieces = self.pieces.iter().filter(|(_, level)| *level > Level::Hidden);
            let mut before = others::quoted(target.language, pieces.map(|(piece, level)| (piece, *level)));
            if !before.is_empty() {
                before.push('\n');
            }
            before += &(self.sheet.render(begin) + stub);
            let text = match (infill, after) {
                (Some(infill), Some(after)) => infill.prompt(&before, after),
                _ => PromptText::words(before),
            };
            let tokens = window.count_prompt(&text);
            // Pieces that are read together may take more tokens than each alone.
            if tokens > budget
                && let Some(last) = self.made.pop()
            {
                for before in last {
                    self.show(before);
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
