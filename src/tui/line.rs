//! A line that is typed at its end: a query, a search text, a path.

use super::event::{Code, Key};
use super::text::one_line;
use crate::untrusted::is_invisible;

/// Most characters of a line.
const LONGEST: usize = 1000;

/// Changes the line by a key; returns false if it does not.
pub fn typed(line: &mut String, key: Key) -> bool {
    let before = line.len();
    match key.code {
        Code::Char('u') if key.ctrl => line.clear(),
        Code::Char('w') if key.ctrl => {
            let kept = line.trim_end();
            line.truncate(kept.rfind(char::is_whitespace).map_or(0, |at| at + 1));
        }
        Code::Backspace => drop(line.pop()),
        Code::Char(c) if key.types() && !is_invisible(c) && line.chars().count() < LONGEST => line.push(c),
        _ => {}
    }
    line.len() != before
}

/// Pasted text goes to the end of the line: its first line.
pub fn paste(line: &mut String, text: &str) {
    let room = LONGEST.saturating_sub(line.chars().count());
    line.extend(one_line(text.lines().next().unwrap_or_default()).chars().take(room));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(line: &str, code: Code, ctrl: bool) -> Option<String> {
        let mut line = line.to_owned();
        typed(&mut line, Key { ctrl, ..Key::plain(code) }).then_some(line)
    }

    #[test]
    fn keys_change_the_end_of_a_line() {
        assert_eq!(pressed("ab", Code::Char('ß'), false).as_deref(), Some("abß"));
        assert_eq!(pressed("two words ", Code::Char('w'), true).as_deref(), Some("two "));
        assert_eq!(pressed("two", Code::Char('u'), true).as_deref(), Some(""));
        assert_eq!(pressed("aß", Code::Backspace, false).as_deref(), Some("a"));
        for (line, code, ctrl) in
            [("", Code::Backspace, false), ("a", Code::Char('\u{200b}'), false), ("a", Code::Char('x'), true)]
        {
            assert_eq!(pressed(line, code, ctrl), None, "{line}");
        }
    }

    #[test]
    fn a_line_takes_the_first_line_of_a_pasted_text_and_has_an_end() {
        let mut line = "a".to_owned();
        paste(&mut line, "b\tc\nd");
        assert!(line.starts_with("ab") && line.ends_with('c') && !line.contains('\t'), "{line:?}");
        paste(&mut line, &"x".repeat(2000));
        assert_eq!(line.chars().count(), LONGEST);
        assert!(!typed(&mut line, Key::plain(Code::Char('x'))));
    }
}
