//! The config file, and where files live.
//!
//! | folder | files |
//! |---|---|
//! | config | `config.toml`, `models.toml`, `server-keys.toml`, `themes/` |
//! | state | backups and patches, `runs/`: kept runs (see `history`), `screen.toml`: the look of the screen |
//! | cache | `profiles/`: measurements of model pairs |
//! | | `weights/`, `kernels/`: quantised weights, compiled kernels |
//! | | `builds/`: compiled packages of Rust and Go projects, removed after a month without use |
//! | | `builds/baselines/`: results of tests without a candidate |
//! | project | `.bass-tui.toml`: settings of its tests and prompts (`OptionSpec::is_of_projects`) |
//!
//! Environment variables never change results. `BASS_TUI_CONFIG_DIR`, `BASS_TUI_STATE_DIR`,
//! `BASS_TUI_CACHE_DIR` and the `XDG_*` variables move folders. `NO_COLOR` takes colour away.

mod paths;

use std::path::{Path, PathBuf};

use toml::{Table, Value};

pub use paths::{Paths, Place};

use crate::files;
use crate::options::{self, Origin, Settings, did_you_mean};

/// The file with the settings of a project, in its top folder or that of a package.
pub const PROJECT_FILE: &str = ".bass-tui.toml";

impl Settings {
    /// The defaults and what the config file says, with a sentence for each thing in it that is not known. A
    /// missing file says nothing.
    pub fn load(paths: &Paths) -> Result<(Self, Vec<String>), ConfigError> {
        let path = paths.config_file();
        match files::text(&path, files::TEXT) {
            Ok(text) => Self::parse(&text, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok((Self::default(), Vec::new())),
            Err(source) => Err(ConfigError::Read { path, source }),
        }
    }

    /// Lays over them what the file of a project says: only what is about its tests and prompts. Paths in it
    /// begin in its folder. Returns a sentence for each thing that cannot stand there.
    pub fn lay_project_over(&mut self, path: &Path) -> Result<Vec<String>, ConfigError> {
        let read = |source| ConfigError::Read { path: path.to_path_buf(), source };
        let text = files::text(path, files::TEXT).map_err(read)?;
        let before = std::mem::take(&mut self.tests);
        let python = self.python.take();
        let warnings = self.lay_over(&text, path, true)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let is_word = |name: &str| matches!(name, "auto" | "none");
        let inside =
            |name: String| if is_word(&name) { name } else { folder.join(name).to_string_lossy().into_owned() };
        if !self.tests.is_empty() {
            // A list of the project stands in the place of the user's.
            self.origins.entry("tests").or_default().retain(|origin| origin.is_in(path));
        }
        self.tests = if self.tests.is_empty() { before } else { self.tests.drain(..).map(inside).collect() };
        self.python = self.python.take().map(|python| folder.join(python)).or(python);
        Ok(warnings)
    }

    /// The defaults and what `text`, read from `path`, says; and a sentence for each thing in it that is not
    /// known.
    pub fn parse(text: &str, path: &Path) -> Result<(Self, Vec<String>), ConfigError> {
        let mut settings = Self::default();
        let warnings = settings.lay_over(text, path, false)?;
        Ok((settings, warnings))
    }

    fn lay_over(&mut self, text: &str, path: &Path, of_project: bool) -> Result<Vec<String>, ConfigError> {
        let table: Table = parse_toml(text, path)?;
        let settings = self;
        let mut warnings = Vec::new();
        for (name, value) in &table {
            let line = line_of_key(text, &[name]);
            let wrong = |key: &str, line: usize, value: &Value, expected: &str| ConfigError::Value {
                path: path.to_path_buf(),
                line,
                key: key.to_owned(),
                found: value.to_string(),
                expected: expected.to_owned(),
            };
            let option = options::ALL.iter().find(|option| option.setting() == *name);
            if of_project && (name == "keys" || option.is_some_and(|option| !option.is_of_projects())) {
                warnings.push(format!(
                    "{}, line {line}: `{name}` is no setting of a project, it was ignored: it belongs into your config.toml",
                    path.display()
                ));
            } else if name == "keys" {
                let expected = "a table: [keys] with a line like `quit = [\"q\"]` for each action";
                let table = value.as_table().ok_or_else(|| wrong(name, line, value, expected))?;
                for (action, value) in table {
                    let keys = texts(value, true, Value::is_str).ok_or_else(|| {
                        let line = line_of_key(text, &["keys", action]);
                        wrong(&format!("keys.{action}"), line, value, "a key like \"ctrl-t\" or a list of them")
                    })?;
                    settings.keys.insert(action.clone(), keys);
                    let line = line_of_key(text, &["keys", action]);
                    settings.key_origins.insert(action.clone(), Origin::File(path.to_path_buf(), line));
                }
            } else if let Some(option) = option {
                // A value that is no text is refused as an empty text is.
                let texts = texts(value, option.is_list(), is_plain).unwrap_or_else(|| vec![String::new()]);
                let set = |text: &String| option.set(settings, text);
                texts.iter().try_for_each(set).map_err(|expected| wrong(name, line, value, &expected))?;
                settings.came_from(option, Origin::File(path.to_path_buf(), line));
            } else {
                let settings = options::ALL.iter().filter(|option| !of_project || option.is_of_projects());
                let known: Vec<String> = settings.map(options::OptionSpec::setting).collect();
                let keys = (!of_project).then_some("keys");
                let hint = did_you_mean(name, known.iter().map(String::as_str).chain(keys));
                warnings.push(format!(
                    "{}, line {line}: there is no setting `{name}`, it was ignored{hint}",
                    path.display()
                ));
            }
        }
        Ok(warnings)
    }
}

/// The text of a value, or those of a list where one may stand, if each `is` what is wanted.
fn texts(value: &Value, list: bool, is: fn(&Value) -> bool) -> Option<Vec<String>> {
    let values = match value {
        Value::Array(values) if list => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    values.iter().all(is).then(|| values.iter().map(text).collect())
}

/// The value is a text, a number or true or false.
fn is_plain(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_))
}

/// The place of the value of a setting in the text of a settings file.
pub(crate) fn place_of(text: &str, setting: &str) -> Option<std::ops::Range<usize>> {
    let table = toml::de::DeTable::parse(text).ok()?;
    let mut settings = table.get_ref().iter();
    settings.find(|(key, _)| key.get_ref() == setting).map(|(_, value)| value.span())
}

/// `text` as TOML.
pub(crate) fn parse_toml<T: serde::de::DeserializeOwned>(text: &str, path: &Path) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| ConfigError::Syntax {
        path: path.to_path_buf(),
        line: line_at(text, error.span().map_or(0, |s| s.start)),
        problem: error.message().replace('\n', ", "),
    })
}

/// The 1-based line of a key, given with the tables it lies in.
fn line_of_key(text: &str, path: &[&str]) -> usize {
    let Ok(table) = toml::de::DeTable::parse(text) else { return 1 };
    let mut table = table.get_ref().clone();
    let mut at = 0;
    for name in path {
        let Some((key, value)) = table.iter().find(|(k, _)| k.get_ref() == name) else { break };
        at = key.span().start;
        let inner = match value.get_ref() {
            toml::de::DeValue::Table(inner) => inner.clone(),
            _ => break,
        };
        table = inner;
    }
    line_at(text, at)
}

fn line_at(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|&b| b == b'\n').count()
}

/// Why settings cannot be used. Every message names the file and the line.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file is there but cannot be read.
    #[error("{path} cannot be read: {source}; correct its permissions or move it away")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file is not TOML, or not in the expected form.
    #[error("{path}, line {line}: {problem}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, 1-based.
        line: usize,
        problem: String,
    },
    /// A setting has a value that it cannot have.
    #[error("{path}, line {line}: `{key}` is {found}, expected is {expected}")]
    Value {
        /// The file.
        path: PathBuf,
        /// The line, 1-based.
        line: usize,
        /// The setting.
        key: String,
        /// Its value, as TOML.
        found: String,
        expected: String,
    },
    /// There is no place for files.
    #[error(
        "there is no home folder to keep settings in; set BASS_TUI_CONFIG_DIR, BASS_TUI_STATE_DIR and BASS_TUI_CACHE_DIR"
    )]
    NoHome,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::{other, values};

    fn parse(text: &str) -> Result<(Settings, Vec<String>), String> {
        Settings::parse(text, Path::new("config.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn every_option_is_a_setting() {
        for option in options::ALL {
            let value = other(option);
            let quoted = if value.parse::<f64>().is_ok() || value == "true" { value } else { &format!("'{value}'") };
            let (settings, warnings) = parse(&format!("{} = {quoted}", option.setting())).unwrap();
            let mut expected = Settings::default();
            option.set(&mut expected, value).unwrap();
            assert_eq!((values(&settings), warnings), (values(&expected), vec![]), "{}", option.name);
        }
    }

    #[test]
    fn lists_are_read() {
        let (settings, _) =
            parse("stop = ['a', 'b']\n[keys]\nquit = ['q', 'ctrl-d']\nhelp = '?'\nzoom = []\n").unwrap();
        assert_eq!(settings.generate.stop.strings, ["a", "b"]);
        let keys = [("help", vec!["?"]), ("quit", vec!["q", "ctrl-d"]), ("zoom", vec![])];
        let keys: Vec<_> = keys
            .into_iter()
            .map(|(action, keys)| (action.to_owned(), keys.into_iter().map(str::to_owned).collect::<Vec<_>>()))
            .collect();
        assert_eq!(settings.keys.into_iter().collect::<Vec<_>>(), keys);
    }

    #[test]
    fn a_project_says_what_is_its_own_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(PROJECT_FILE);
        std::fs::write(
            &file,
            "timeout = '3s'\ntests = ['t/a.py', 't']\nmodel = 'theirs'\nserver = 'http://h'\n[keys]\nquit = 'x'\n",
        )
        .unwrap();
        let mine = "timeout = 5\nprocesses = 40\nmodel = 'mine'\npython = '/mine'\ntests = 'my'";
        let (mut settings, _) = parse(mine).unwrap();
        let warnings = settings.lay_project_over(&file).unwrap();
        assert_eq!((settings.limits.wall.as_secs(), settings.limits.processes), (3, 40));
        assert_eq!((settings.model.as_deref(), settings.python.as_deref()), (Some("mine"), Some(Path::new("/mine"))));
        let tests = ["t/a.py", "t"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
        assert_eq!(settings.tests, tests);
        assert!(settings.keys.is_empty() && settings.server.is_none() && warnings.len() == 3, "{warnings:?}");
        assert!(
            warnings.iter().any(|line| line.contains("line 3: `model` is no setting of a project")),
            "{warnings:?}"
        );
        std::fs::write(&file, "python = '.venv/bin/python'\n").unwrap();
        settings.lay_project_over(&file).unwrap();
        assert_eq!(settings.python, Some(folder.path().join(".venv/bin/python")));
        std::fs::write(&file, "processes = 'many'\n").unwrap();
        let error = settings.lay_project_over(&file).unwrap_err().to_string();
        assert!(error.contains(".bass-tui.toml, line 1: `processes`"), "{error}");
    }

    #[test]
    fn unknown_settings_are_ignored_with_a_word() {
        let (settings, warnings) = parse("# x\ntemprature = 1\nn = 2\n[colours]\nx = 1\n").unwrap();
        assert_eq!(settings.generate.n, 2);
        insta::assert_snapshot!(warnings.join("\n"), @r"
        config.toml, line 4: there is no setting `colours`, it was ignored
        config.toml, line 2: there is no setting `temprature`, it was ignored; did you mean `temperature`?
        ");
    }

    #[test]
    fn wrong_values_are_explained() {
        let message = |text: &str| parse(text).unwrap_err();
        insta::assert_snapshot!(message("\nn = 'eight'\n"), @r#"config.toml, line 2: `n` is "eight", expected is 1 to 64 candidates"#);
        insta::assert_snapshot!(message("stop_on_pass = 0"), @"config.toml, line 1: `stop_on_pass` is 0, expected is true or false");
        insta::assert_snapshot!(message("\n[keys]\na = 'b'\nquit = 3\n"), @r#"config.toml, line 4: `keys.quit` is 3, expected is a key like "ctrl-t" or a list of them"#);
        insta::assert_snapshot!(message("\nn = = 3\n"), @"config.toml, line 2: extra `=`, expected nothing");
        for text in [
            "n = 0", "n = 65", "n = 1.5", "top_p = 0", "top_p = 1.1", "temperature = -1", "temperature = nan",
            "temperature = inf", "min_p = 2", "top_k = 0", "repetition_penalty = 0", "seed = -1", "threads = 1025",
            "dtype = 'fp4'", "draft_length = 'long'", "draft_length = -1", "theme = ''", "timeout = 0",
            "timeout = 1e300", "model = ['a']", "stop = [['a']]", "seed = {}", "keys = 1", "keys.a = [1]",
            "model = ''", "max_tokens = 0",
        ] {
            let message = message(text);
            assert!(message.starts_with("config.toml, line 1: `") && message.contains("expected"), "{message}");
        }
    }
}
