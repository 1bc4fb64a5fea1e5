//! A menu of a few choices before the screen: what is chosen is all that comes of it.

use std::io;

use futures_util::StreamExt;

use super::event::{Code, Input, Key};
use super::keyboard::Keyboard;
use super::terminal::{self, Guard, Inputs, RealScreen, Screen};
use super::theme::Theme;
use super::{TuiError, completion, line, view};

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
    /// The offer that Ctrl-S takes.
    pub(super) offer: String,
    pub(super) cursor: usize,
    pub(super) taken: bool,
    /// The line being typed.
    pub(super) line: Option<String>,
    /// Names that go on with the line, after it was completed as far as they are the same.
    pub(super) names: Vec<String>,
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
    /// The line is to be completed.
    Complete(String),
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
        self.names.clear();
        let last = self.rows.len().saturating_sub(1);
        if key.ctrl && matches!(key.code, Code::Char('c' | 'd')) {
            return Pressed::Left;
        }
        match (key.code, &mut self.line) {
            (Code::Enter, _) => return self.choose(self.cursor),
            (Code::Char('s'), _) if key.ctrl => self.taken = !self.taken,
            (Code::Tab, Some(line)) => return Pressed::Complete(line.clone()),
            (Code::Esc, Some(_)) => self.line = None,
            (_, Some(line)) => drop(line::typed(line, key)),
            (Code::Esc | Code::Char('q'), None) => return Pressed::Left,
            (Code::Up | Code::Char('k'), None) => self.cursor = self.cursor.saturating_sub(1),
            (Code::Down | Code::Char('j'), None) => self.cursor = (self.cursor + 1).min(last),
            (Code::Char(digit @ '1'..='9'), None) => return self.choose(digit as usize - '1' as usize),
            _ => {}
        }
        Pressed::Nothing
    }

    /// Completes the line from the names in its folder.
    fn complete(&mut self, names: &[String]) {
        let Some(line) = &mut self.line else { return };
        let (completed, fitting) = completion::completed(line, names);
        *line = completed;
        if fitting.is_empty() && !line.ends_with('/') {
            self.error = Some(format!("nothing begins with {line}"));
        }
        // A single one is in the line.
        self.names = if fitting.len() > 1 { fitting } else { Vec::new() };
    }

    fn paste(&mut self, pasted: &str) {
        if let Some(line) = &mut self.line {
            line::paste(line, pasted);
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

/// Refuses a folder from which no model can be told.
fn checked(choice: &MenuChoice, check: &dyn Fn(&MenuChoice) -> Result<(), String>) -> Result<(), String> {
    match choice.line.as_deref().and_then(completion::refused) {
        Some(why) => Err(why),
        None => check(choice),
    }
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
                Pressed::Complete(line) => menu.complete(&completion::names(&line)),
                Pressed::Chosen(choice) => match checked(&choice, check) {
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
        assert_eq!(press(&mut menu(), &["down", "j", "k", "ctrl-s", "enter"]), chosen(1, None, true));
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

    #[test]
    fn tab_completes_a_path_and_ctrl_s_keeps_the_choice() {
        let mut menu = menu();
        assert_eq!(press(&mut menu, &["tab"]), Pressed::Nothing, "there is no path yet");
        assert_eq!(press(&mut menu, &["4", "m", "/", "tab"]), Pressed::Complete("m/".to_owned()));
        menu.complete(&["a-1.gguf".to_owned(), "a-2.gguf".to_owned()]);
        assert_eq!((menu.line.as_deref(), menu.names.len()), (Some("m/a-"), 2));
        press(&mut menu, &["1"]);
        assert!(menu.names.is_empty());
        menu.complete(&["a-1.gguf".to_owned(), "a-2.gguf".to_owned()]);
        assert_eq!(press(&mut menu, &["ctrl-s", "enter"]), chosen(3, Some("m/a-1.gguf"), true));
        menu.complete(&[]);
        assert_eq!(menu.error.as_deref(), Some("nothing begins with m/a-1.gguf"));
    }

    #[test]
    fn a_folder_of_several_models_is_refused_before_anything_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        crate::files::write_all(folder.path(), [("a.gguf", ""), ("b.gguf", "")]);
        let choice =
            |line: &std::path::Path| MenuChoice { row: 3, line: Some(line.display().to_string()), taken: true };
        let fine = |_: &MenuChoice| Ok(());
        assert!(checked(&choice(folder.path()), &fine).unwrap_err().contains("a.gguf and b.gguf"));
        assert_eq!(checked(&choice(&folder.path().join("a.gguf")), &fine), Ok(()));
    }
}
