//! Views that are remembered between sessions: `screen.toml` in the state folder.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::layout::Arrangement;
use crate::files;

/// The views that the user chose last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    pub layout: Option<Arrangement>,
    /// Long lines are wrapped.
    pub wrap: Option<bool>,
    /// The theme, if it was chosen on the screen.
    pub theme: Option<String>,
}

impl Remembered {
    /// The file, in the state folder.
    pub fn file(state_dir: &Path) -> PathBuf {
        state_dir.join("screen.toml")
    }

    /// Reads the file. What is missing, damaged or of another version is not remembered.
    pub fn load(state_dir: &Path) -> Self {
        if state_dir.as_os_str().is_empty() {
            return Self::default();
        }
        files::text(&Self::file(state_dir), files::TEXT).map_or_else(|_| Self::default(), |text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let Ok(table) = text.parse::<toml::Table>() else { return Self::default() };
        let word = |name: &str| table.get(name).and_then(toml::Value::as_str);
        let named = |word: &str| Arrangement::ALL.iter().find(|(_, name)| *name == word).map(|(layout, _)| *layout);
        Self {
            layout: word("layout").and_then(named),
            wrap: table.get("wrap").and_then(toml::Value::as_bool),
            theme: word("theme").map(str::to_owned),
        }
    }

    fn text(&self) -> String {
        let mut table = toml::Table::new();
        let mut put = |name: &str, value: Option<toml::Value>| {
            if let Some(value) = value {
                table.insert(name.to_owned(), value);
            }
        };
        put("layout", self.layout.map(|layout| layout.name().into()));
        put("wrap", self.wrap.map(Into::into));
        put("theme", self.theme.clone().map(Into::into));
        format!("# What the screen of bass-tui looked like last. Settings are in config.toml.\n{table}")
    }

    /// Writes the file.
    pub fn save(&self, state_dir: &Path) -> io::Result<()> {
        files::replace(&Self::file(state_dir), |error| error, |file| file.write_all(self.text().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_damage_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("new");
        assert_eq!(Remembered::load(&state), Remembered::default());
        let theme = Some("mine \"\u{1b}".to_owned());
        let all = Remembered { layout: Some(Arrangement::Columns), wrap: Some(false), theme };
        all.save(&state).unwrap();
        assert_eq!(Remembered::load(&state), all);
        let layout = Remembered { layout: Some(Arrangement::List), ..Remembered::default() };
        for (text, expected) in [
            ("layout = 'list'\nwrap = 'maybe'\ntheme = 3\nnew = []\n", layout.clone()),
            ("layout = 'round'\n", Remembered::default()),
            ("layout = 'list'\nwrap", Remembered::default()),
            ("\0\u{feff}[[[", Remembered::default()),
        ] {
            std::fs::write(Remembered::file(&state), text).unwrap();
            assert_eq!(Remembered::load(&state), expected, "{text}");
        }
        std::fs::write(Remembered::file(&state), [0xff, 0xfe, 0]).unwrap();
        assert_eq!(Remembered::load(&state), Remembered::default());
        std::fs::remove_file(Remembered::file(&state)).unwrap();
        std::fs::create_dir(Remembered::file(&state)).unwrap();
        assert_eq!(Remembered::load(&state), Remembered::default());
        assert!(layout.save(&state).is_err());
    }
}
