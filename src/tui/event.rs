//! Keys as the screen's core knows them, and their translation from what the terminal library reports.

use std::fmt;

use crossterm::event as ct;

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

/// The named keys: as written in settings, for the screen, and as the terminal library calls them.
const NAMES: &[(&str, Code, ct::KeyCode)] = &[
    ("enter", Code::Enter, ct::KeyCode::Enter),
    ("esc", Code::Esc, ct::KeyCode::Esc),
    ("tab", Code::Tab, ct::KeyCode::Tab),
    ("backspace", Code::Backspace, ct::KeyCode::Backspace),
    ("delete", Code::Delete, ct::KeyCode::Delete),
    ("insert", Code::Insert, ct::KeyCode::Insert),
    ("up", Code::Up, ct::KeyCode::Up),
    ("down", Code::Down, ct::KeyCode::Down),
    ("left", Code::Left, ct::KeyCode::Left),
    ("right", Code::Right, ct::KeyCode::Right),
    ("home", Code::Home, ct::KeyCode::Home),
    ("end", Code::End, ct::KeyCode::End),
    ("pgup", Code::PageUp, ct::KeyCode::PageUp),
    ("pgdn", Code::PageDown, ct::KeyCode::PageDown),
    ("space", Code::Char(' '), ct::KeyCode::Char(' ')),
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
            match NAMES.iter().find(|(n, ..)| *n == name) {
                Some(&(_, code, _)) => code,
                None => Code::F(name.strip_prefix('f')?.parse().ok().filter(|n| (1..=24).contains(n))?),
            }
        };
        Some(key.normal())
    }

    /// One form for each key: characters carry their case, control ignores it.
    fn normal(mut self) -> Self {
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

/// Reports of the terminal, as far as the screen uses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed or repeats.
    Key(Key),
    Paste(String),
    /// The terminal has this many columns and rows.
    Resize(u16, u16),
}

impl Input {
    /// Translates a terminal event; `None` for what the screen ignores (releases, focus, mouse).
    pub fn from_terminal(event: ct::Event) -> Option<Self> {
        match event {
            ct::Event::Key(key) => key_of(key).map(Self::Key),
            ct::Event::Paste(text) => Some(Self::Paste(text)),
            ct::Event::Resize(w, h) => Some(Self::Resize(w, h)),
            ct::Event::FocusGained | ct::Event::FocusLost | ct::Event::Mouse(_) => None,
        }
    }
}

fn key_of(event: ct::KeyEvent) -> Option<Key> {
    if event.kind == ct::KeyEventKind::Release {
        return None;
    }
    let mut shift = event.modifiers.contains(ct::KeyModifiers::SHIFT);
    let code = match event.code {
        ct::KeyCode::Char(c) => Code::Char(c),
        ct::KeyCode::F(n) => Code::F(n),
        ct::KeyCode::BackTab => {
            shift = true;
            Code::Tab
        }
        other => NAMES.iter().find(|(.., theirs)| *theirs == other)?.1,
    };
    let ctrl = event.modifiers.contains(ct::KeyModifiers::CONTROL);
    let alt = event.modifiers.intersects(ct::KeyModifiers::ALT | ct::KeyModifiers::META);
    Some(Key { code, ctrl, alt, shift }.normal())
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

    #[test]
    fn a_shifted_question_mark_is_a_question_mark() {
        for modifiers in [ct::KeyModifiers::NONE, ct::KeyModifiers::SHIFT] {
            let event = ct::Event::Key(ct::KeyEvent::new(ct::KeyCode::Char('?'), modifiers));
            assert_eq!(Input::from_terminal(event), Some(Input::Key(Key::plain(Code::Char('?')))));
        }
    }

    #[test]
    fn releases_are_ignored() {
        let event =
            ct::KeyEvent::new_with_kind(ct::KeyCode::Char('q'), ct::KeyModifiers::NONE, ct::KeyEventKind::Release);
        assert_eq!(Input::from_terminal(ct::Event::Key(event)), None);
    }
}
