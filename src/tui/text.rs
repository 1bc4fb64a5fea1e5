//! Text made ready for cells: tabs expanded, nothing in it that a terminal could act on, cut into rows. Pure.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a tab stop.
const TAB: usize = 4;

/// Stands for a character that is not shown.
const HIDDEN: char = '\u{fffd}';

/// The character must not reach a cell: controls, direction overrides, invisible ones.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Columns that `text` takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Appends `text` as it is shown from `column` on; returns the column after it. Line breaks are hostile.
pub fn push_shown(out: &mut String, text: &str, mut column: usize) -> usize {
    for c in text.chars() {
        if c == '\t' {
            let step = TAB - column % TAB;
            out.extend(std::iter::repeat_n(' ', step));
            column += step;
        } else {
            let c = if is_hostile(c) { HIDDEN } else { c };
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
    shown(&text.split_whitespace().collect::<Vec<_>>().join(" "))
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

/// `text` broken at spaces into lines of at most `columns`; longer words are cut.
pub fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let paragraph = shown(paragraph);
        let indent: String = paragraph.chars().take_while(|c| *c == ' ').take(columns / 2).collect();
        let mut line = indent.clone();
        for word in paragraph.split_whitespace() {
            let mut word = word;
            let gap = usize::from(width(&line) > width(&indent));
            if gap == 1 && width(&line) + gap + width(word) > columns {
                lines.push(std::mem::replace(&mut line, indent.clone()));
            } else if gap == 1 {
                line.push(' ');
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

/// A row of a text area: which line, and how many of its columns lie before the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayRow {
    /// Index of the line.
    pub line: usize,
    /// Columns of the line that are shown in rows above.
    pub skip: usize,
}

/// The rows of `text` in an area of `columns`; without wrapping one per line.
pub fn rows(text: &str, columns: usize, wrap: bool) -> Vec<DisplayRow> {
    let mut rows = Vec::new();
    for (line, content) in text.lines().enumerate() {
        rows.push(DisplayRow { line, skip: 0 });
        if wrap && columns > 0 {
            let full = width(&shown(content));
            rows.extend((1..full.div_ceil(columns)).map(|i| DisplayRow { line, skip: i * columns }));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tabs_go_to_the_next_stop() {
        assert_eq!(shown("\tx\ty"), "    x   y");
        assert_eq!(shown("ab\tc"), "ab  c");
    }

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        let text = shown("a\u{1b}[2Jb\u{202e}c\u{200b}\r\u{7f}\u{9b}");
        assert!(!text.chars().any(is_hostile), "{text:?}");
        assert!(text.contains("[2J"), "what is harmless stays readable");
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

    proptest! {
        #[test]
        fn wrapped_lines_fit(text in "[a-z 日é\n]{0,80}", columns in 2usize..30) {
            for line in wrap_words(&text, columns) {
                prop_assert!(width(&line) <= columns, "{line:?}");
            }
        }

        #[test]
        fn shown_text_is_harmless(text in any::<String>()) {
            prop_assert!(!shown(&text).chars().any(is_hostile));
        }
    }
}
