//! Keys, pasted text and the mouse as the screen's core knows them.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// A character, as typed (upper case carries its shift).
    Char(char),
    /// A function key, 1 to 24.
    F(u8),
    Enter,
    Esc,
    /// Tab; with shift the back tab.
    Tab,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
}

/// A key press with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub code: Code,
    pub ctrl: bool,
    /// Alt (or Meta) was held.
    pub alt: bool,
    /// Shift was held; never set for characters, whose case says it already.
    pub shift: bool,
}

/// The named keys, as written in settings.
const NAMES: &[(&str, Code)] = &[
    ("enter", Code::Enter),
    ("esc", Code::Esc),
    ("tab", Code::Tab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("insert", Code::Insert),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pgup", Code::PageUp),
    ("pgdn", Code::PageDown),
    ("space", Code::Char(' ')),
];

impl Key {
    /// The key without modifiers.
    pub const fn plain(code: Code) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    /// Pressing it in an editor types a character.
    pub fn types(self) -> bool {
        matches!(self.code, Code::Char(_)) && !self.ctrl && !self.alt
    }

    /// Reads `ctrl-c`, `shift-tab`, `alt-1`, `f5`, `?`, `space`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut key = Self::plain(Code::Esc);
        let mut rest = text.trim();
        loop {
            let stripped = [("ctrl-", 0), ("alt-", 1), ("shift-", 2)].iter().find_map(|&(p, which)| {
                strip_prefix_ignore_case(rest, p).filter(|r| !r.is_empty()).map(|r| (r, which))
            });
            let Some((after, which)) = stripped else { break };
            match which {
                0 => key.ctrl = true,
                1 => key.alt = true,
                _ => key.shift = true,
            }
            rest = after;
        }
        let mut chars = rest.chars();
        key.code = if let (Some(c), None) = (chars.next(), chars.next()) {
            Code::Char(c)
        } else {
            let name = rest.to_ascii_lowercase();
            match NAMES.iter().find(|(n, _)| *n == name) {
                Some(&(_, code)) => code,
                None => Code::F(name.strip_prefix('f')?.parse().ok().filter(|n| (1..=24).contains(n))?),
            }
        };
        Some(key.normal())
    }

    /// One form for each key: characters carry their case, control ignores it.
    pub(super) fn normal(mut self) -> Self {
        if let Code::Char(c) = self.code {
            if self.ctrl {
                self.code = Code::Char(c.to_ascii_lowercase());
            } else if self.shift {
                self.code = Code::Char(c.to_ascii_uppercase());
            }
            self.shift = false;
        }
        self
    }
}

fn strip_prefix_ignore_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl-")?;
        }
        if self.alt {
            f.write_str("Alt-")?;
        }
        if self.shift {
            f.write_str("Shift-")?;
        }
        match self.code {
            Code::Char(' ') => f.write_str("Space"),
            Code::Char(c) if self.ctrl => write!(f, "{}", c.to_ascii_uppercase()),
            Code::Char(c) => write!(f, "{c}"),
            Code::F(n) => write!(f, "F{n}"),
            Code::PageUp => f.write_str("PgUp"),
            Code::PageDown => f.write_str("PgDn"),
            Code::Delete => f.write_str("Del"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// Reports of the terminal and of the system about it, as far as the screen uses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed or repeats.
    Key(Key),
    Paste(String),
    /// A button or the wheel of the mouse.
    Mouse(Mouse),
    /// The terminal has this many columns and rows.
    Resize(u16, u16),
    /// Another program asks this one to stop, as Ctrl-Z does.
    Stop,
    /// The process was stopped and goes on; the terminal's modes may be those of another program.
    Continued,
}

/// Use of the mouse at a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    pub kind: MouseKind,
    /// Cells left of it.
    pub column: u16,
    /// Cells above it.
    pub row: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// The left button went down.
    Press,
    WheelUp,
    WheelDown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for text in
            ["Ctrl-C", "Alt-1", "F5", "?", "Space", "Shift-Tab", "PgUp", "Enter", "-", "Ctrl--", "G", "Alt-Enter"]
        {
            let key = Key::parse(text).unwrap_or_else(|| panic!("{text} was not read"));
            assert_eq!(Key::parse(&key.to_string()), Some(key), "{text}");
        }
        for text in ["", "f0", "f99", "hyper-x", "ctrl-", "word"] {
            let read = Key::parse(text);
            assert!(read.is_none() || text == "ctrl-", "{text} was read as {read:?}");
        }
    }
}
