//! Text that comes from a model, a test or a file, made safe to show. A leaf: a pure function of text.

/// Removes everything from `text` that could act on a terminal instead of being read.
///
/// Gone are escape sequences (also unfinished ones and their 8-bit forms, with the text they carry), control
/// characters but newline and tab, direction overrides and isolates, and invisible format characters. CR LF
/// becomes a newline, and of a line that was written over by carriage returns the last writing stays, as on a
/// terminal. Cleaning twice changes nothing more.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Where the current line begins in `out`, for carriage returns.
    let mut line = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => escape(&mut chars),
            '\u{9b}' => control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => control_string(&mut chars),
            '\n' => {
                out.push('\n');
                line = out.len();
            }
            '\r' => {
                while chars.peek() == Some(&'\r') {
                    chars.next();
                }
                match chars.peek() {
                    Some('\n') | None => {}
                    Some(_) => out.truncate(line),
                }
            }
            '\t' => out.push('\t'),
            c if is_invisible(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// Code made safe to show, of which nothing disappears: U+FFFD stands for each character that [`clean`] would
/// act on. CR LF becomes a newline. Joiners between emoji stay: they hide nothing.
pub fn code(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut before = None;
    let mut chars = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        let stays = matches!(c, '\n' | '\t') || joins(before, c, chars.peek().copied());
        out.push(if is_invisible(c) && !stays { '\u{fffd}' } else { c });
        before = Some(c);
    }
    out
}

/// Joins two emoji to one: U+200D.
pub const JOINER: char = '\u{200d}';

/// The character joins the emoji before and behind it.
pub fn joins(before: Option<char>, c: char, behind: Option<char>) -> bool {
    c == JOINER && before.is_some_and(is_emoji) && behind.is_some_and(is_emoji)
}

/// A picture, or the selector that makes one of the character before it.
pub fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// Text on one line: a space for each line end and the white space around it. Spaces inside of a line stay:
/// values may differ by them.
pub fn on_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").replace('\t', " ")
}

/// `text` on one line of at most `max_columns` columns: cleaned, the cut marked with `…`.
pub fn clean_line(text: &str, max_columns: usize) -> String {
    use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
    let line = on_one_line(&clean(text));
    if line.width() <= max_columns {
        return line;
    }
    let (mut out, mut used) = (String::new(), 0);
    for c in line.chars() {
        used += c.width().unwrap_or(0);
        // One column is kept for the mark.
        if used >= max_columns {
            break;
        }
        out.push(c);
    }
    if max_columns > 0 {
        out.truncate(out.trim_end().len());
        out.push('…');
    }
    out
}

/// Like [`clean`], with all lines but the first indented: none of them can be taken for one of ours.
pub fn framed(text: &str) -> String {
    clean(text).trim_end().replace('\n', "\n    ")
}

/// The character acts on its surroundings or on the terminal and cannot be seen itself.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            // Zero-width characters, directions, line and paragraph separators, joiners and the like.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips an escape sequence, after its ESC.
fn escape(chars: &mut Chars) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            control_sequence(chars);
        }
        Some('P' | 'X' | ']' | '^' | '_') => {
            chars.next();
            control_string(chars);
        }
        // Intermediate characters, then one final one.
        Some(' '..='/') => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

/// CSI: parameters and intermediates, then one final character.
fn control_sequence(chars: &mut Chars) {
    while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
    chars.next_if(|c| ('@'..='~').contains(c));
}

/// OSC, DCS, APC, PM, SOS: text up to BEL, ST or the end. An unfinished one ends at the line, so that it
/// cannot swallow all that follows.
fn control_string(chars: &mut Chars) {
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
            _ => chars.next(),
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn removes_what_acts_and_keeps_what_reads() {
        let cases = [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\u{1b}[2J\u{1b}[31;1mb\u{1b}[0m", "ab"),
            ("a\u{1b}]52;c;aGk=\u{7}b", "ab"),
            ("a\u{1b}]0;title\u{1b}\\b", "ab"),
            ("a\u{1b}Pq#0\u{1b}\\b\u{1b}_x\u{1b}\\c\u{1b}^y\u{1b}\\d\u{1b}Xz\u{1b}\\e", "abcde"),
            ("a\u{9b}31mb\u{9d}0;t\u{9c}c", "abc"),
            ("unfinished \u{1b}]0;rest\nnext", "unfinished \nnext"),
            ("unfinished \u{1b}[3", "unfinished "),
            ("a\u{1b}(0b\u{1b}cc\u{1b}", "abc"),
            ("a\u{0}\u{8}\u{7f}\u{85}b", "ab"),
            ("ab\u{202e}cd\u{2066}e\u{200b}f\u{feff}", "abcdef"),
            ("one\r\ntwo\r\n", "one\ntwo\n"),
            ("10%\r50%\r100%\nx", "100%\nx"),
            ("naïve 漢字 🙂", "naïve 漢字 🙂"),
        ];
        for (dirty, expected) in cases {
            assert_eq!(clean(dirty), expected, "{dirty:?}");
        }
    }

    #[test]
    fn of_code_nothing_disappears() {
        let dirty = "run()\r    return 1\r\n\ta\u{1b}[2Jb\u{202e}c\0\n";
        assert_eq!(code(dirty), "run()\u{fffd}    return 1\n\ta\u{fffd}[2Jb\u{fffd}c\u{fffd}\n");
    }

    #[test]
    fn joiners_stay_between_emoji_and_nowhere_else() {
        let family = "'👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥'";
        assert_eq!(code(family), family);
        assert_eq!(code("a\u{200d}b 👩\u{200d}x \u{200d}👩"), "a\u{fffd}b 👩\u{fffd}x \u{fffd}👩");
        assert_eq!(clean("👩\u{200d}👧"), "👩👧");
    }

    #[test]
    fn a_line_is_one_line_and_fits() {
        assert_eq!(clean_line("a\n  b\t\u{1b}[1mc", 80), "a b c");
        assert_eq!(clean_line("abcdef", 4), "abc…");
        assert_eq!(clean_line("漢字漢字", 4), "漢…");
        assert_eq!(clean_line("abc", 0), "");
    }

    proptest! {
        #[test]
        fn cleaning_is_idempotent_and_leaves_nothing_active(text in r"([\x00-\x7f]|[\u{80}-\u{9f}]|\PC|[\u{2028}-\u{202e}]|\x1b[\[\]P(\\])*") {
            let once = clean(&text);
            prop_assert_eq!(&clean(&once), &once);
            prop_assert!(!once.chars().any(|c| c != '\n' && c != '\t' && is_invisible(c)));
        }

        #[test]
        fn lines_keep_to_their_width(text in any::<String>(), columns in 0_usize..40) {
            use unicode_width::UnicodeWidthStr;
            let line = clean_line(&text, columns);
            prop_assert!(line.width() <= columns);
            prop_assert!(!line.contains('\n'));
        }
    }
}
