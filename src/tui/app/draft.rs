//! The prompt as the user edits it, and what Enter means in it. Wraps the editor so that nothing else names
//! it.

use ratatui_textarea::{CursorMove, Input, Key as EditorKey, TextArea};

use crate::tui::event::{Code, Key};
use crate::untrusted::{code, is_invisible};

/// The prompt being edited, and earlier ones.
#[derive(Clone, Debug)]
pub struct Draft {
    area: TextArea<'static>,
    /// Its text at the beginning.
    origin: String,
    history: Vec<String>,
    /// Place in the history; its length is the draft itself.
    place: usize,
    /// The draft while the history is shown.
    parked: String,
    /// It was cleared, and nothing has been typed since.
    cleared: bool,
}

impl Draft {
    /// An editor that holds `text`.
    pub fn new(text: &str) -> Self {
        let text = code(text);
        let mut draft = Self {
            area: TextArea::default(),
            origin: text.clone(),
            history: Vec::new(),
            place: 0,
            parked: String::new(),
            cleared: false,
        };
        draft.area = area(&text);
        draft
    }

    /// Selects the text, so that typing replaces it.
    pub fn select_all(&mut self) {
        self.area.select_all();
    }

    /// The editor, to draw it.
    pub fn area(&self) -> &TextArea<'static> {
        &self.area
    }

    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub fn lines(&self) -> usize {
        self.area.lines().len()
    }

    /// Nothing but white space in it.
    pub fn is_blank(&self) -> bool {
        self.area.lines().iter().all(|l| l.trim().is_empty())
    }

    /// It differs from its text at the beginning.
    pub fn is_edited(&self) -> bool {
        self.text() != self.origin
    }

    /// Back to what it was when it came. The editor's own undo brings the text back.
    pub fn reset(&mut self) {
        let origin = self.origin.clone();
        self.edit(&origin);
        self.cleared = true;
    }

    /// Changes the text, as if it were typed.
    pub fn edit(&mut self, text: &str) {
        self.remember();
        self.cleared = false;
        self.area.select_all();
        self.area.cut();
        if !text.is_empty() {
            self.area.insert_str(code(text));
        }
    }

    /// Makes `text` the one at the beginning, without a change of what is there. Returns the one before.
    pub fn rebase(&mut self, text: &str) -> String {
        std::mem::replace(&mut self.origin, code(text))
    }

    /// Earlier texts, the last one last.
    pub fn recall(&mut self, history: Vec<String>) {
        self.place = history.len();
        self.history = history;
    }

    /// An earlier text is at hand.
    pub fn has_earlier(&self) -> bool {
        self.place > 0
    }

    /// `text` is its text at the beginning.
    pub fn began_as(&self, text: &str) -> bool {
        self.origin == code(text)
    }

    /// Begins anew with `text`; what was there is in the history.
    pub fn replace(&mut self, text: &str) {
        self.remember();
        let new = Self::new(text);
        (self.area, self.origin, self.cleared) = (new.area, new.origin, false);
    }

    /// Puts the text into the history.
    pub fn remember(&mut self) {
        let text = self.text();
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            self.history.push(text);
        }
        self.place = self.history.len();
    }

    /// A key that means nothing else.
    pub fn input(&mut self, key: Key) {
        self.cleared = false;
        match key.code {
            Code::Char('u') if key.ctrl => return self.clear_line(),
            Code::Char('u') if key.alt => {
                self.area.undo();
                return;
            }
            _ => {}
        }
        let code = match key.code {
            Code::Char(c) if is_invisible(c) => return,
            Code::Char(c) => EditorKey::Char(c),
            Code::F(n) => EditorKey::F(n),
            Code::Enter => EditorKey::Enter,
            Code::Esc => EditorKey::Esc,
            Code::Tab => EditorKey::Tab,
            Code::Backspace => EditorKey::Backspace,
            Code::Delete => EditorKey::Delete,
            Code::Up => EditorKey::Up,
            Code::Down => EditorKey::Down,
            Code::Left => EditorKey::Left,
            Code::Right => EditorKey::Right,
            Code::Home => EditorKey::Home,
            Code::End => EditorKey::End,
            Code::PageUp => EditorKey::PageUp,
            Code::PageDown => EditorKey::PageDown,
            Code::Insert => EditorKey::Null,
        };
        self.area.input(Input { key: code, ctrl: key.ctrl, alt: key.alt, shift: key.shift });
    }

    /// Empties the line of the cursor.
    fn clear_line(&mut self) {
        self.area.cancel_selection();
        self.area.move_cursor(CursorMove::End);
        if self.area.cursor().1 > 0 {
            self.area.delete_line_by_head();
        }
    }

    /// Text from the clipboard: never more than text.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text: String = text.chars().filter(|&c| !is_invisible(c) || c == '\n' || c == '\t').collect();
        self.area.insert_str(text);
        self.cleared = false;
    }

    /// A new line, indented as code wants it.
    pub fn newline(&mut self, code: bool) {
        let line = self.area.lines().get(self.area.cursor().0).cloned().unwrap_or_default();
        let mut indent: String = line.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
        if code && opens_block(&line) {
            indent.push_str("    ");
        }
        self.cleared = false;
        self.area.insert_newline();
        self.area.insert_str(indent);
    }

    /// Meaning of Enter: `true` sends the prompt, `false` begins a new line. One line is sent, unless as code
    /// it goes on; several lines are sent from an empty last line.
    pub fn enter_sends(&self, code: bool) -> bool {
        let lines = self.area.lines();
        let at = self.area.cursor().0;
        let line = lines.get(at).map_or("", String::as_str);
        if lines.len() > 1 {
            return at + 1 == lines.len() && line.trim().is_empty() && !(code && is_open(&self.text()));
        }
        !(code && (opens_block(line) || is_open(line)))
    }

    /// The cursor is on the first line, or where clearing has left it: the earlier text comes next.
    pub fn at_top(&self) -> bool {
        self.area.cursor().0 == 0 || self.cleared
    }

    /// The cursor is on the last line.
    pub fn at_bottom(&self) -> bool {
        self.area.cursor().0 + 1 >= self.lines()
    }

    /// Keeps the shown text as it was edited.
    fn park(&mut self) {
        let text = self.text();
        *self.history.get_mut(self.place).unwrap_or(&mut self.parked) = text;
    }

    /// Shows the earlier prompt.
    pub fn previous(&mut self) {
        if self.place == 0 {
            return;
        }
        self.place = self.place.min(self.history.len());
        self.cleared = false;
        self.park();
        self.place -= 1;
        self.area = area(&self.history[self.place]);
    }

    /// Shows the later prompt, at the end the draft.
    pub fn next(&mut self) {
        if self.place >= self.history.len() {
            return;
        }
        self.park();
        self.place += 1;
        let text = self.history.get(self.place).cloned().unwrap_or_else(|| std::mem::take(&mut self.parked));
        self.area = area(&text);
    }
}

/// An editor with the cursor at the end of `text`.
fn area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_cursor_line_style(ratatui::style::Style::default());
    area.set_tab_length(4);
    area.set_hard_tab_indent(text.lines().any(|line| line.starts_with('\t')));
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

/// The next line of code has to be indented further.
fn opens_block(line: &str) -> bool {
    let end = line.find('#').map_or(line, |at| &line[..at]);
    end.trim_end().ends_with(':')
}

/// A bracket or a triple quote is still open at the end of `text`.
fn is_open(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0i32, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'#' => at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at),
            quote @ (b'"' | b'\'') => match string_end(bytes, at, quote) {
                Some(end) => at = end,
                None => return true,
            },
            _ => {}
        }
        at += 1;
    }
    depth > 0
}

/// The last byte of the string that begins at `from`; `None` if a triple-quoted one is not closed.
fn string_end(bytes: &[u8], from: usize, quote: u8) -> Option<usize> {
    let triple = bytes[from..].starts_with(&[quote; 3]);
    let mut at = from + if triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b if b == quote && !triple => return Some(at),
            b if b == quote && bytes[at..].starts_with(&[quote; 3]) => return Some(at + 2),
            b'\n' if !triple => return Some(at),
            _ => {}
        }
        at += 1;
    }
    (!triple).then_some(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_behaves_like_a_python_prompt() {
        let cases = [
            ("write a haiku", true, true),
            ("def f(x):", true, false),
            ("def f(x):  # note", true, false),
            ("def f(x):", false, true),
            ("f(1,", true, false),
            ("s = \"\"\"", true, false),
            ("print(')')", true, true),
            ("def f(x):\n    return x", true, false),
            ("def f(x):\n    return x\n", true, true),
            ("def f(x):\n    \"\"\"Open\n", true, false),
            ("one\ntwo", false, false),
            ("one\ntwo\n", false, true),
        ];
        for (text, code, sends) in cases {
            assert_eq!(Draft::new(text).enter_sends(code), sends, "{text:?}");
        }
    }

    #[test]
    fn a_new_line_is_indented() {
        let mut draft = Draft::new("def f(x):");
        draft.newline(true);
        assert_eq!(draft.text(), "def f(x):\n    ");
    }

    #[test]
    fn text_survives_the_editor() {
        for text in ["", "a", "a\n", "a\n\n\tb", "def f():\n    \"\"\"x\"\"\"\n"] {
            let draft = Draft::new(text);
            assert_eq!(draft.text(), text);
            assert!(!draft.is_edited());
        }
    }

    #[test]
    fn a_reset_can_be_undone_and_is_in_the_history() {
        let mut draft = Draft::new("");
        draft.paste("hello\r\nthere\u{1b}");
        assert_eq!(draft.text(), "hello\nthere");
        draft.reset();
        assert_eq!(draft.text(), "");
        let mut undone = draft.clone();
        undone.input(Key::parse("alt-u").unwrap());
        assert_eq!(undone.text(), "hello\nthere");
        let mut cleared = undone.clone();
        cleared.input(Key::parse("home").unwrap());
        for text in ["hello\n", "hello\n"] {
            cleared.input(Key::parse("ctrl-u").unwrap());
            assert_eq!(cleared.text(), text, "this line, and never more");
        }
        draft.previous();
        assert_eq!(draft.text(), "hello\nthere");
        draft.next();
        assert_eq!(draft.text(), "");
    }

    #[test]
    fn an_edited_earlier_text_is_there_again() {
        let mut draft = Draft::new("");
        draft.recall(vec!["first".to_owned(), "second".to_owned()]);
        draft.paste("new");
        draft.previous();
        draft.paste(" one");
        draft.previous();
        draft.next();
        assert_eq!(draft.text(), "second one");
        draft.next();
        assert_eq!(draft.text(), "new");
        draft.previous();
        assert_eq!(draft.text(), "second one");
    }
}
