//! Writes to stdout and stderr, whose readers may be gone.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};

use unicode_width::UnicodeWidthStr;

use super::failure::Failure;

/// Writes to stdout; a reader that has gone is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::internal(format!("stdout cannot be written: {e}")))
        }
        _ => Ok(()),
    }
}

/// Columns of the terminal, where it tells; else those of the environment.
pub fn columns() -> usize {
    let of_terminal = crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.filter(|columns| *columns > 0).or_else(told).unwrap_or(80)
}

/// Columns that a line of stdout has; `None` in a file or a pipe.
pub fn columns_of_stdout() -> Option<usize> {
    std::io::stdout().is_terminal().then(columns)
}

/// Lines of at most so many columns, broken at spaces; what goes on stands under `indent` spaces. As it is
/// where nothing limits them.
pub fn broken(text: &str, columns: Option<usize>, indent: usize) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            if used > indent && used + word.trim_end().width() > columns {
                out.truncate(out.trim_end().len());
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                used = indent;
            }
            out.push_str(word);
            used += word.width();
        }
    }
    out
}

/// Writes to stderr. Errors are ignored, as there is no other place to report them.
pub fn say(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a JSON text and a newline to stdout. Control characters are escaped, so that it cannot steer a
/// terminal. The value is the same.
pub fn print_json(json: &str) -> Result<(), Failure> {
    print(&(escape(json) + "\n"))
}

/// Escapes control characters. They can only occur inside the strings of a JSON text, where an escape means
/// the same. (Those below a space are escaped in any JSON.)
pub fn escape(json: &str) -> String {
    let acts = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // All of them lie in the basic plane: one escape each.
        match u32::from(c) {
            code if acts(c) => drop(write!(out, "\\u{code:04x}")),
            _ => out.push(c),
        }
    }
    out
}

/// `1 run`, `2 runs`.
pub fn number(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_in_a_terminal_alone() {
        let row = "name  here  a long prompt\n\nand more\n";
        assert_eq!(broken(row, None, 4), row);
        assert_eq!(broken(row, Some(19), 12), "name  here  a long\n            prompt\n\nand more\n");
        assert_eq!(broken("a_word_that_is_longer x\n", Some(8), 2), "a_word_that_is_longer\n  x\n");
    }

    #[test]
    fn json_means_the_same_and_acts_no_more() {
        let value = serde_json::json!({"a\u{9b}": "b\u{9b}2J\u{202e}c\u{1b}[2J\u{7f} é 漢 🙂"});
        let escaped = escape(&value.to_string());
        assert!(!escaped.chars().any(|c| c.is_control() || c == '\u{202e}'), "{escaped:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }
}
