//! Text that comes from a model, a test or a file, made safe to show. A leaf: pure functions of text.
//!
//! A terminal obeys control characters and escape sequences; a reader is misled by characters that reorder or hide text. None of
//! them is left in cleaned text: only printable characters, line feeds and tabs.

use std::iter::Peekable;
use std::str::Chars;

/// Removes everything from `text` that could act on a terminal, or mislead its reader, instead of being read.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {
                // The end of a line; alone it would send the cursor back over what has been written.
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\u{1b}' => escape(&mut chars),
            '\u{9b}' => control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => string(&mut chars),
            c if is_hidden(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// The same on one line of at most `columns` characters: line ends become spaces, and what is cut is marked with `…`.
pub fn clean_line(text: &str, columns: usize) -> String {
    let line = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= columns {
        return line;
    }
    line.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
}

/// Controls, and format characters that reorder, join or hide text.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Skips what follows an ESC.
fn escape(chars: &mut Peekable<Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            string(chars);
        }
        Some(' '..='/') => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

/// Skips parameters, intermediates and the final character of a CSI sequence.
fn control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

/// Skips an OSC, DCS, APC, PM or SOS string up to its terminator (BEL or ST); an unfinished one ends with its line, so that it
/// cannot swallow the rest of the text.
fn string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(&c) = chars.peek() {
        match c {
            '\n' => return,
            '\u{7}' | '\u{9c}' => {
                chars.next();
                return;
            }
            '\u{1b}' => {
                chars.next();
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {
                chars.next();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_vanish_and_text_stays() {
        let cases = [
            ("plain ünïcode 漢字\tx\n", "plain ünïcode 漢字\tx\n"),
            ("\u{1b}[2J\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}a\u{1b}]52;c;aGk=\u{1b}\\b", "ab"),
            ("\u{9b}31mx\u{9d}title\u{9c}y\u{90}q\u{1b}\\z", "xyz"),
            ("\u{1b}]0;unfinished\nnext line", "\nnext line"),
            ("a\r\nb\rc\u{8}\u{7}\u{0}\u{7f}", "a\nb\nc"),
            ("if x\u{202e} == \u{2066}y\u{200b}:", "if x == y:"),
            ("\u{1b}(Bend\u{1b}", "end"),
            ("\u{1b}[31", ""),
        ];
        for (from, to) in cases {
            assert_eq!(clean(from), to, "{from:?}");
        }
    }

    #[test]
    fn lines_are_cut_and_marked() {
        assert_eq!(clean_line("one\n  two\tthree", 80), "one two three");
        assert_eq!(clean_line("abcdef", 4), "abc…");
    }

    proptest! {
        #[test]
        fn nothing_that_acts_is_left(text in "[\\PC\u{1b}\u{9b}\u{9d}\u{7}\u{9c}\r\n\\]\\[a-z0-9;]{0,60}") {
            let once = clean(&text);
            prop_assert!(once.chars().all(|c| c == '\n' || c == '\t' || !is_hidden(c)));
            prop_assert_eq!(clean(&once), once);
        }
    }
}
