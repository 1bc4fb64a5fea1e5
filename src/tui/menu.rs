//! A menu of a few choices before the screen: what is chosen is all that comes of it.

use std::io;

use futures_util::StreamExt;

use super::event::{Code, Input, Key};
use super::keyboard::Keyboard;
use super::terminal::{self, Guard, Inputs, RealScreen, Screen};
use super::theme::Theme;
use super::{TuiError, text, view};

/// Most characters of a typed line.
const LONGEST: usize = 1000;

/// A choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MenuRow {
    /// Its name.
    pub name: String,
    /// A word or two at the right end.
    pub remark: String,
    /// Its meaning, in sentences.
    pub about: String,
    /// A line has to be typed for it.
    pub typed: bool,
}

/// Choices, and the one under the cursor.
#[derive(Clone, Debug, Default)]
pub struct Menu {
    pub(super) title: String,
    pub(super) rows: Vec<MenuRow>,
    /// The offer that Tab takes.
    pub(super) offer: String,
    pub(super) cursor: usize,
    pub(super) taken: bool,
    /// The line being typed.
    pub(super) line: Option<String>,
    /// Why a choice cannot be had.
    pub(super) error: Option<String>,
}

/// The choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuChoice {
    /// Index of the row.
    pub row: usize,
    /// The line that was typed.
    pub line: Option<String>,
    /// The offer was taken.
    pub taken: bool,
}

/// Outcome of a key.
#[derive(Debug, PartialEq, Eq)]
enum Pressed {
    Nothing,
    Chosen(MenuChoice),
    Left,
}

impl Menu {
    /// A menu with the cursor on its first row.
    pub fn new(title: String, rows: Vec<MenuRow>, offer: String) -> Self {
        Self { title, rows, offer, ..Self::default() }
    }

    fn choose(&mut self, row: usize) -> Pressed {
        let Some(chosen) = self.rows.get(row) else { return Pressed::Nothing };
        self.cursor = row;
        if chosen.typed && self.line.is_none() {
            self.line = Some(String::new());
            return Pressed::Nothing;
        }
        let line = self.line.as_ref().map(|line| line.trim().to_owned());
        if line.as_ref().is_some_and(String::is_empty) {
            return Pressed::Nothing;
        }
        Pressed::Chosen(MenuChoice { row, line, taken: self.taken })
    }

    fn press(&mut self, key: Key) -> Pressed {
        self.error = None;
        let last = self.rows.len().saturating_sub(1);
        if key.ctrl && matches!(key.code, Code::Char('c' | 'd')) {
            return Pressed::Left;
        }
        match (key.code, &mut self.line) {
            (Code::Enter, _) => return self.choose(self.cursor),
            (Code::Tab, _) => self.taken = !self.taken,
            (Code::Esc, Some(_)) => self.line = None,
            (Code::Backspace, Some(line)) => drop(line.pop()),
            (Code::Char('u'), Some(line)) if key.ctrl => line.clear(),
            (Code::Char(c), Some(line))
                if key.types() && !crate::untrusted::is_invisible(c) && line.chars().count() < LONGEST =>
            {
                line.push(c);
            }
            (Code::Esc | Code::Char('q'), None) => return Pressed::Left,
            (Code::Up | Code::Char('k'), None) => self.cursor = self.cursor.saturating_sub(1),
            (Code::Down | Code::Char('j'), None) => self.cursor = (self.cursor + 1).min(last),
            (Code::Char(digit @ '1'..='9'), None) => return self.choose(digit as usize - '1' as usize),
            _ => {}
        }
        Pressed::Nothing
    }

    fn paste(&mut self, pasted: &str) {
        if let Some(line) = &mut self.line {
            line.push_str(&text::one_line(pasted.lines().next().unwrap_or_default()));
        }
    }
}

/// Shows the menu until something is chosen that `check` accepts, or the user leaves.
pub fn choose(
    mut menu: Menu,
    theme: &Theme,
    check: &dyn Fn(&MenuChoice) -> Result<(), String>,
) -> Result<Option<MenuChoice>, TuiError> {
    terminal::check().map_err(TuiError::NoTerminal)?;
    let guard = Guard::enter()?;
    let mut screen = RealScreen::new()?;
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = executor.block_on(until_chosen(&mut menu, theme, &mut screen, check));
    drop(guard);
    Ok(result?)
}

async fn until_chosen(
    menu: &mut Menu,
    theme: &Theme,
    screen: &mut dyn Screen,
    check: &dyn Fn(&MenuChoice) -> Result<(), String>,
) -> io::Result<Option<MenuChoice>> {
    let mut inputs = Keyboard.open();
    loop {
        screen.draw(&mut |frame| {
            view::menu::draw(frame.buffer_mut(), theme, menu);
            theme.paint(frame.buffer_mut());
        })?;
        match inputs.next().await.transpose()? {
            Some(Input::Key(key)) => match menu.press(key) {
                Pressed::Nothing => {}
                Pressed::Left => return Ok(None),
                Pressed::Chosen(choice) => match check(&choice) {
                    Ok(()) => return Ok(Some(choice)),
                    Err(why) => menu.error = Some(why),
                },
            },
            Some(Input::Paste(pasted)) => menu.paste(&pasted),
            Some(Input::Continued) => screen.retake()?,
            Some(_) => {}
            None => return Ok(None),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn menu() -> Menu {
        let row = |name: &str, remark: &str, about: &str| MenuRow {
            name: name.to_owned(),
            remark: remark.to_owned(),
            about: about.to_owned(),
            typed: name.starts_with("a path"),
        };
        let rows = vec![
            row(
                "built-in demo",
                "Python only",
                "A small pair of models inside the program: short everyday Python functions. No download.",
            ),
            row("ollama:qwen2.5-coder:7b", "Ollama", "A model of Ollama on this machine."),
            row(
                "qwen2.5-coder-1.5b",
                "download 3.1 GB",
                "Good completions on a laptop. It fits: 2.9 GB of 16.0 GB memory. About 31 s until the first bodies.",
            ),
            row("a path …", "", "A folder in Hugging Face layout, or a GGUF file."),
        ];
        Menu::new("which model?".to_owned(), rows, "keep it in config.toml".to_owned())
    }

    fn press(menu: &mut Menu, names: &[&str]) -> Pressed {
        let mut last = Pressed::Nothing;
        for name in names {
            last = menu.press(Key::parse(name).unwrap());
        }
        last
    }

    fn chosen(row: usize, line: Option<&str>, taken: bool) -> Pressed {
        Pressed::Chosen(MenuChoice { row, line: line.map(str::to_owned), taken })
    }

    #[test]
    fn one_key_chooses() {
        assert_eq!(press(&mut menu(), &["enter"]), chosen(0, None, false));
        assert_eq!(press(&mut menu(), &["3"]), chosen(2, None, false));
        assert_eq!(press(&mut menu(), &["down", "j", "k", "tab", "enter"]), chosen(1, None, true));
        assert_eq!(press(&mut menu(), &["9"]), Pressed::Nothing, "there is no such row");
        for key in ["esc", "q", "ctrl-c"] {
            assert_eq!(press(&mut menu(), &[key]), Pressed::Left, "{key}");
        }
    }

    #[test]
    fn a_path_is_typed_or_pasted() {
        let mut menu = menu();
        assert_eq!(press(&mut menu, &["4", "enter"]), Pressed::Nothing, "an empty line is no path");
        menu.paste("/models/x\u{1b}\nrest");
        assert_eq!(press(&mut menu, &["1", "q", "backspace", "enter"]), chosen(3, Some("/models/x\u{fffd}1"), false));
        assert_eq!(press(&mut menu, &["esc", "1"]), chosen(0, None, false), "Esc goes back to the rows");
    }
}
