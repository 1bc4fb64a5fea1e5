//! Text made ready for cells: tabs expanded, nothing in it that a terminal could act on, cut into rows. Pure.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::untrusted::{JOINER, is_emoji, is_invisible, on_one_line};

/// Columns of a tab stop.
const TAB: usize = 4;

/// Stands for a character that is not shown.
const HIDDEN: char = '\u{fffd}';

/// Columns that `text` takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Appends `text` as it is shown from `column` on; returns the column after it. Line breaks are hostile.
/// Joined emoji are shown one by one, as terminals do not agree on the columns of joined ones. A piece of
/// code may begin or end at the joiner.
pub fn push_shown(out: &mut String, text: &str, mut column: usize) -> usize {
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_beside = |other: Option<char>| other.is_none_or(is_emoji);
        let is_joiner = c == JOINER && is_beside(before) && is_beside(chars.peek().copied());
        before = Some(c);
        if is_joiner && text.len() > c.len_utf8() {
            continue;
        }
        if c == '\t' {
            let step = TAB - column % TAB;
            out.extend(std::iter::repeat_n(' ', step));
            column += step;
        } else {
            let c = if is_invisible(c) { HIDDEN } else { c };
            out.push(c);
            column += c.width().unwrap_or(0);
        }
    }
    column
}

pub fn shown(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    push_shown(&mut out, line, 0);
    out
}

/// Any text on one line.
pub fn one_line(text: &str) -> String {
    shown(&on_one_line(text))
}

/// The longest beginning of `text` that takes at most `columns`, as a byte length, and the columns it takes.
pub fn prefix(text: &str, columns: usize) -> (usize, usize) {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        let w = c.width().unwrap_or(0);
        if used + w > columns {
            return (at, used);
        }
        used += w;
    }
    (text.len(), used)
}

/// `text` in at most `columns`, with an ellipsis where something is missing.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let (at, _) = prefix(text, columns - 1);
    format!("{}…", &text[..at])
}

/// `text` with blanks behind it up to so many columns.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Stands before the value that was wanted, in a reason why a test failed.
const WANTED: &str = ", expected ";
/// Begin what a call did, in such a reason.
const DID: [&str; 2] = [" gave ", " raised "];
/// With fewer columns the value that was wanted is not cut, but left out.
const FEW: usize = 30;

/// Like [`fit`], for the reason of a failure: first the call is cut, then what it gave. What was wanted is
/// still said.
pub fn fit_reason(text: &str, columns: usize) -> String {
    let parts = parts_of_reason(text).filter(|_| width(text) > columns);
    let Some((call, gave, wanted)) = parts else { return fit(text, columns) };
    let wanted = match 3 * width(wanted) <= 2 * columns {
        true => wanted.to_owned(),
        false if columns < FEW => return fit(text, columns),
        false => fit(wanted, width(wanted).min(columns / 2).max(columns.saturating_sub(width(call) + width(gave)))),
    };
    // Every failed `assert` raises this error.
    let call = call.replace("AssertionError: ", "");
    let room = columns - width(&wanted);
    let of_call = width(&call).min((room / 3).max(room.saturating_sub(width(gave))));
    format!("{}{}{wanted}", fit(&call, of_call), fit(gave, room - of_call))
}

/// A reason as the call, what that gave, and what was wanted.
fn parts_of_reason(text: &str) -> Option<(&str, &str, &str)> {
    let (begin, end) = if let Some(end) = text.rfind(WANTED) {
        (DID.iter().filter_map(|did| text[..end].find(did)).min().unwrap_or(0), end)
    } else {
        let begin = text.find("assert ")?;
        (begin, begin + text[begin..].find(" == ")?)
    };
    Some((&text[..begin], &text[begin..end], &text[end..]))
}

/// A reason in at most so many rows: in its own lines where they fit, else as one.
pub fn wrap_reason(text: &str, columns: usize, rows: usize) -> Vec<String> {
    let lines = wrap_words(text, columns);
    if lines.len() <= rows {
        return lines;
    }
    let flat = one_line(text);
    // Words are not broken, so that rows may have columns left.
    let tried = (1..=columns * rows).rev().map(|room| wrap_words(&fit_reason(&flat, room), columns));
    tried.into_iter().find(|lines| lines.len() <= rows).unwrap_or_default()
}

/// `text` broken at spaces into lines of at most `columns`; longer words are cut.
pub fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let paragraph = shown(paragraph);
        let indent: String = paragraph.chars().take_while(|c| *c == ' ').take(columns / 2).collect();
        let mut line = indent.clone();
        let mut spaces = 0;
        for word in paragraph.trim().split(' ') {
            spaces += 1;
            if word.is_empty() {
                continue;
            }
            let (mut word, gap) = (word, std::mem::take(&mut spaces));
            let is_first = width(&line) <= width(&indent);
            if !is_first && width(&line) + gap + width(word) > columns {
                lines.push(std::mem::replace(&mut line, indent.clone()));
            } else if !is_first {
                line.extend(std::iter::repeat_n(' ', gap));
            }
            while width(&line) + width(word) > columns {
                let (at, _) = prefix(word, columns.saturating_sub(width(&line)));
                // A wide character in a single column cannot be cut to fit: it is dropped.
                let at = if at == 0 && line.is_empty() { word.chars().next().map_or(0, char::len_utf8) } else { at };
                line.push_str(&word[..at]);
                lines.push(std::mem::take(&mut line));
                word = &word[at..];
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// A row of a text area: which part of a line it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayRow {
    /// Index of the line.
    pub line: usize,
    /// Columns of the line that are not shown, or shown in rows above.
    pub skip: usize,
    /// Most columns of the line that the row shows.
    pub take: usize,
    /// Columns in front of them; only rows that go on with a line have some.
    pub indent: usize,
    /// Its kind.
    pub mark: Mark,
}

impl DisplayRow {
    /// A line from its beginning on.
    pub fn whole(line: usize) -> Self {
        Self { line, skip: 0, take: usize::MAX, indent: 0, mark: Mark::Text }
    }
}

/// Kinds of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A part of its line.
    Text,
    /// So many lines from its line on, which another text has as well.
    Same(usize),
    /// So many lines of another text, which are missing before its line.
    Gone(usize),
}

/// Columns of white space that all lines of `text` begin with.
pub fn common_indent(text: &str) -> usize {
    let indent = |line: &str| {
        let rest = line.trim_start();
        (!rest.is_empty()).then(|| width(&shown(&line[..line.len() - rest.len()])))
    };
    text.lines().filter_map(indent).min().unwrap_or(0)
}

/// The rows of `text` in an area of `columns`, without the first `skip` columns of each indentation. Without
/// wrapping there is one for each line; with it lines go on under themselves, broken behind words where they
/// have some.
pub fn rows(text: &str, columns: usize, wrap: bool, skip: usize) -> Vec<DisplayRow> {
    let mut rows = Vec::new();
    for (line, content) in text.lines().enumerate() {
        // Of a line that is indented less only the indentation.
        let skip = skip.min(width(&shown(&content[..content.len() - content.trim_start().len()])));
        let whole = DisplayRow { skip, ..DisplayRow::whole(line) };
        if !wrap || columns == 0 {
            rows.push(whole);
            continue;
        }
        let content = shown(content);
        let own = content.len() - content.trim_start().len();
        let indent = (own.saturating_sub(skip) + 2).min(columns / 3);
        let (mut from, mut room, mut hang) = (skip, columns, 0);
        while width(&content) > from + room {
            let take = break_at(&content, from, room, own);
            rows.push(DisplayRow { skip: from, take, indent: hang, ..whole });
            (from, hang, room) = (from + take, indent, columns - indent);
        }
        rows.push(DisplayRow { skip: from, indent: hang, ..whole });
    }
    rows
}

/// Columns of a line from column `from` on that go into a row of `room`: up to the last place behind a space
/// or an opening mark, if that is not far to the left. `own`: columns of its indentation.
fn break_at(line: &str, from: usize, room: usize, own: usize) -> usize {
    let (mut column, mut best, mut hard) = (0, 0, 0);
    for c in line.chars() {
        column += c.width().unwrap_or(0);
        if column > from + room {
            break;
        }
        if column > from {
            hard = column - from;
            if column > own && matches!(c, ' ' | '(' | '[' | '{' | ',' | '.' | '/') {
                best = hard;
            }
        }
    }
    // A character that is wider than the row is not shown.
    if best > room / 3 { best } else { hard.max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spaces_inside_of_a_line_stay() {
        assert_eq!(one_line(" gave 'a  b',\n   expected\t'a b'\n\n"), "gave 'a  b', expected 'a b'");
        assert_eq!(wrap_words("  x  =  1", 20), ["  x  =  1"]);
        assert_eq!(wrap_words("one  two", 5), ["one", "two"]);
    }

    #[test]
    fn tabs_go_to_the_next_stop() {
        assert_eq!(shown("\tx\ty"), "    x   y");
        assert_eq!(shown("ab\tc"), "ab  c");
    }

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        let text = shown("a\u{1b}[2Jb\u{202e}c\u{200b}\r\u{7f}\u{9b}");
        assert!(!text.chars().any(is_invisible), "{text:?}");
        assert!(text.contains("[2J"), "what is harmless stays readable");
    }

    #[test]
    fn joined_emoji_are_shown_one_by_one() {
        assert_eq!(shown("'👩\u{200d}👩\u{200d}👧'"), "'👩👩👧'");
        assert_eq!(shown("\u{200d}👧 👩\u{200d}"), "👧 👩", "pieces of one line");
        assert_eq!(shown("a\u{200d}b"), "a\u{fffd}b");
    }

    #[test]
    fn a_reason_that_is_cut_still_says_what_was_wanted() {
        let reason = "f([1]) gave [1, 1, 1, 1, 1, 1, 1, 1], expected 7";
        assert_eq!(fit_reason(reason, 30), "f([1]) gave [1, 1…, expected 7");
        assert_eq!(fit_reason(reason, 14), "f([1]) gave […", "too little room for both");
        let long = "lookup_with_a_long_name({\"a\": 1, \"b\": 2}, \"a\") gave None, expected [1, 2]";
        assert_eq!(fit_reason(long, 50), "lookup_with_a_long_nam… gave None, expected [1, 2]");
        let raised = "f(1, 2, 3, 4) raised ValueError: no such thing, expected 3";
        assert_eq!(fit_reason(raised, 40), "f(1, 2, … raised ValueError…, expected 3");
        let assert = "AssertionError: assert ['the quick ', 'brown fox '] == ['the quick', 'brown fox'] (test_f.py:7)";
        assert_eq!(fit_reason(assert, 50), "assert ['the quick ', 'b… == ['the quick', 'brown…");
        assert_eq!(wrap_reason(reason, 16, 2), ["f([1]) gave [1,", "1, …, expected 7"]);
        assert_eq!(wrap_reason(reason, 16, 1), ["f([1]) gave [1,…"]);
        let lines = "not equal:\n+ 3\n- 6";
        assert_eq!(wrap_reason(lines, 20, 3), ["not equal:", "+ 3", "- 6"]);
        assert_eq!(wrap_reason(lines, 20, 1), ["not equal: + 3 - 6"]);
        assert!(wrap_reason(lines, 20, 0).is_empty());
    }

    #[test]
    fn fit_says_that_something_is_missing() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn words_wrap() {
        assert_eq!(wrap_words("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap_words("  in dented", 6), ["  in", "  dent", "ed"]);
        assert_eq!(wrap_words("abcdef", 2), ["ab", "cd", "ef"]);
    }

    #[test]
    fn long_lines_go_on_under_themselves() {
        let parts = |text: &str, columns, skip| -> Vec<String> {
            let part = |row: DisplayRow| {
                let line = shown(text.lines().nth(row.line).unwrap());
                let rest = &line[prefix(&line, row.skip).0..];
                format!("{}{}", " ".repeat(row.indent), &rest[..prefix(rest, row.take).0])
            };
            rows(text, columns, true, skip).into_iter().map(part).collect()
        };
        assert_eq!(parts("    return first(second, third)", 20, 4), ["return first(second,", "   third)"]);
        assert_eq!(
            parts("        x = aaaaaaaaaaaa(bbbb)\n    y", 16, 4),
            ["    x = ", "     aaaaaaaaaaa", "     a(bbbb)", "y"]
        );
        assert_eq!(parts("abcdefghij", 4, 0), ["abcd", " efg", " hij"]);
        assert_eq!(common_indent("    a\n\n\tb\n      c"), 4);
    }

    proptest! {
        #[test]
        fn rows_show_every_column_once(text in "[a-z (,日é\t\n]{0,80}", columns in 2usize..30, skip in 0usize..4) {
            let rows = rows(&text, columns, true, skip);
            for (line, content) in text.lines().enumerate() {
                let of_line: Vec<_> = rows.iter().filter(|row| row.line == line).collect();
                let own = width(&shown(&content[..content.len() - content.trim_start().len()]));
                prop_assert_eq!(of_line[0].skip, skip.min(own));
                for pair in of_line.windows(2) {
                    prop_assert_eq!(pair[0].skip + pair[0].take, pair[1].skip);
                    prop_assert!(pair[0].take + pair[0].indent <= columns || pair[0].take == 1);
                }
                let last = of_line[of_line.len() - 1];
                prop_assert!(width(&shown(content)).saturating_sub(last.skip) + last.indent <= columns.max(2) + 1);
            }
        }

        #[test]
        fn wrapped_lines_fit(text in "[a-z 日é\n]{0,80}", columns in 2usize..30) {
            for line in wrap_words(&text, columns) {
                prop_assert!(width(&line) <= columns, "{line:?}");
            }
        }

        #[test]
        fn shown_text_is_harmless(text in any::<String>()) {
            prop_assert!(!shown(&text).chars().any(is_invisible));
        }
    }
}
