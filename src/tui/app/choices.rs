//! A list that is filtered while a text is typed: rows that match, the best first, and the one under the
//! cursor.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32String};

use crate::tui::event::Key;
use crate::tui::keymap::Action;
use crate::tui::line;

/// Something to choose.
pub trait Choice {
    /// Its place among those that match as well.
    type Order: Ord;
    fn order(&self) -> Self::Order;
    /// Text that a query is matched with.
    fn haystack(&self) -> String;
}

/// Rows to choose from, the query, and the rows that match it.
#[derive(Clone, Debug)]
pub struct Choices<T> {
    pub query: String,
    /// Row under the cursor.
    pub cursor: usize,
    moved: bool,
    pattern: Pattern,
    items: Vec<(T, Utf32String)>,
    /// Score and index of those that match, the best first.
    rows: Vec<(u32, usize)>,
}

impl<T> Default for Choices<T> {
    fn default() -> Self {
        Self {
            query: String::new(),
            cursor: 0,
            moved: false,
            pattern: Pattern::default(),
            items: Vec::new(),
            rows: Vec::new(),
        }
    }
}

impl<T: Choice> Choices<T> {
    pub fn of(items: Vec<T>) -> Self {
        let mut new = Self::default();
        new.add(items);
        new
    }

    /// Number of all, and of those that match.
    pub fn counts(&self) -> (usize, usize) {
        (self.items.len(), self.rows.len())
    }

    /// The choice in a row.
    pub fn row(&self, row: usize) -> Option<&T> {
        self.rows.get(row).map(|&(_, index)| &self.items[index].0)
    }

    /// The choice under the cursor.
    pub fn current(&self) -> Option<&T> {
        self.row(self.cursor)
    }

    /// Places of the characters of the text of a row that match the query.
    pub fn marks(&self, row: usize) -> Vec<u32> {
        let mut places = Vec::new();
        if let Some(&(_, index)) = self.rows.get(row).filter(|_| !self.query.is_empty()) {
            self.pattern.indices(self.items[index].1.slice(..), &mut matcher(), &mut places);
        }
        places
    }

    /// Adds choices; the cursor stays on its own once it was moved.
    pub fn add(&mut self, items: Vec<T>) {
        let current = self.rows.get(self.cursor).filter(|_| self.moved).map(|&(_, index)| index);
        let first = self.items.len();
        self.items.extend(items.into_iter().map(|item| {
            let haystack = Utf32String::from(item.haystack());
            (item, haystack)
        }));
        self.score(first);
        if let Some(at) = current.and_then(|current| self.rows.iter().position(|&(_, index)| index == current)) {
            self.cursor = at;
        }
    }

    /// Other choices for the same query; the cursor stays on its row.
    pub fn replace(&mut self, items: Vec<T>) {
        let (cursor, moved) = (self.cursor, self.moved);
        self.items.clear();
        self.rows.clear();
        self.add(items);
        (self.cursor, self.moved) = (cursor.min(self.rows.len().saturating_sub(1)), moved);
    }

    /// Puts the cursor on a choice.
    pub fn put_on(&mut self, wanted: impl Fn(&T) -> bool) {
        if let Some(at) = self.rows.iter().position(|&(_, index)| wanted(&self.items[index].0)) {
            (self.cursor, self.moved) = (at, true);
        }
    }

    /// Another query.
    pub fn search(&mut self, query: String) {
        self.query = query;
        self.pattern = Pattern::parse(&self.query, CaseMatching::Smart, Normalization::Smart);
        self.rows.clear();
        (self.cursor, self.moved) = (0, false);
        self.score(0);
    }

    /// Matches the choices from `first` on with the query.
    fn score(&mut self, first: usize) {
        let mut matcher = matcher();
        let score = |(index, (_, haystack)): (usize, &(T, Utf32String))| {
            Some((self.pattern.score(haystack.slice(..), &mut matcher)?, index))
        };
        let new: Vec<(u32, usize)> = self.items.iter().enumerate().skip(first).filter_map(score).collect();
        self.rows.extend(new);
        let items = &self.items;
        self.rows.sort_by_key(|&(score, index)| (Reverse(score), items[index].0.order(), index));
    }

    /// Moves the cursor, if the action does that; pages have so many rows.
    pub fn moved(&mut self, action: Action, page: isize) -> bool {
        let by = match action {
            Action::LineUp => -1,
            Action::LineDown => 1,
            Action::PageUp => -page,
            Action::PageDown => page,
            Action::Top => isize::MIN,
            Action::Bottom => isize::MAX,
            _ => return false,
        };
        self.cursor = self.cursor.saturating_add_signed(by).min(self.rows.len().saturating_sub(1));
        self.moved = true;
        true
    }

    /// A key that means nothing else: a character of the query, or one less.
    pub fn typed(&mut self, pressed: Key) {
        let mut query = self.query.clone();
        if line::typed(&mut query, pressed) {
            self.search(query);
        }
    }

    /// Pasted text goes into the query: its first line.
    pub fn paste(&mut self, text: &str) {
        let mut query = self.query.clone();
        line::paste(&mut query, text);
        self.search(query);
    }
}

fn matcher() -> Matcher {
    Matcher::new(Config::DEFAULT.match_paths())
}
