//! Settings: defaults < config file < flags; and where files live.

mod keys;
mod paths;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use similar::get_close_matches;
use toml::{Table, Value};

pub use paths::Paths;

/// The settings. Flags are laid over it by whoever has them. The environment has no say in them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// Main model: a name of the catalog or a folder; `None` is the built-in one.
    pub model: Option<String>,
    /// What proposes tokens: a draft model's name or folder, `auto`, `none`, `lookup`, `sibling` or `chain`.
    pub draft: String,
    /// Tokens that have to agree before a lookup copies; `None` is the drafter's own choice.
    pub lookup_match: Option<usize>,
    /// Most tokens that a lookup copies in a step; `None` is the drafter's own choice.
    pub lookup_length: Option<usize>,
    /// Candidates per prompt, 1 to 64.
    pub n: usize,
    /// Most tokens of a candidate.
    pub max_tokens: usize,
    /// 0 is greedy.
    pub temperature: f32,
    /// Keep the smallest set of most probable tokens with this mass; 1 keeps all.
    pub top_p: f32,
    /// Keep the k most probable tokens; `None` keeps all.
    pub top_k: Option<usize>,
    /// Drop tokens less probable than this share of the best one; `None` keeps all.
    pub min_p: Option<f32>,
    /// Divide (or multiply, when negative) the logits of tokens that have occurred; `None` leaves them.
    pub repetition_penalty: Option<f32>,
    /// Key of all randomness; `None` is 0.
    pub seed: Option<u64>,
    /// Where to compute: `auto` or the name of a device.
    pub device: String,
    /// Worker threads; `None` is one per core.
    pub threads: Option<usize>,
    /// Storage type of the weights: `auto`, `f32`, `bf16`, `int8`, `int4`.
    pub dtype: String,
    /// Tokens proposed per step: `auto`, `bass`, `table` or a number.
    pub draft_length: String,
    /// Colours: `auto`, `light`, `dark` or the name of a theme.
    pub theme: String,
    /// Longest run of the tests on one candidate.
    pub test_timeout: Duration,
    /// Whether, on the screen, the first pass ends what is still being written.
    pub stop_on_pass: bool,
    /// Keys by action, as written: `quit = ["q", "ctrl-d"]`; an empty list unbinds.
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model: None,
            draft: "auto".to_owned(),
            lookup_match: None,
            lookup_length: None,
            n: 8,
            max_tokens: 256,
            temperature: 0.8,
            top_p: 0.95,
            top_k: None,
            min_p: None,
            repetition_penalty: None,
            seed: None,
            device: "auto".to_owned(),
            threads: None,
            dtype: "auto".to_owned(),
            draft_length: "auto".to_owned(),
            theme: "auto".to_owned(),
            test_timeout: Duration::from_secs(10),
            stop_on_pass: false,
            keys: BTreeMap::new(),
        }
    }
}

impl Config {
    /// The defaults and what the config file says, with a sentence for each thing in it that is not known. A missing file says nothing.
    pub fn load(paths: &Paths) -> Result<(Self, Vec<String>), ConfigError> {
        let path = paths.config_file();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(ConfigError::Read { path, source }),
        };
        Self::parse(&text, &path)
    }

    /// The defaults and what `text`, read from `path`, says; and a sentence for each thing in it that is not known.
    pub fn parse(text: &str, path: &Path) -> Result<(Self, Vec<String>), ConfigError> {
        let table: Table = parse_toml(text, path)?;
        let mut config = Self::default();
        let mut warnings = Vec::new();
        for (name, value) in &table {
            let line = line_of_key(text, &[name]);
            let wrong = |key: &str, line: usize, value: &Value, expected: &'static str| ConfigError::Value {
                path: path.to_path_buf(),
                line,
                key: key.to_owned(),
                found: value.to_string(),
                expected,
            };
            if name == "keys" {
                let Value::Table(table) = value else {
                    return Err(wrong(
                        name,
                        line,
                        value,
                        "a table: [keys] with a line like `quit = [\"q\"]` for each action",
                    ));
                };
                for (action, value) in table {
                    let keys = strings(value).ok_or_else(|| {
                        let line = line_of_key(text, &["keys", action]);
                        wrong(&format!("keys.{action}"), line, value, "a key like \"ctrl-t\" or a list of them")
                    })?;
                    config.keys.insert(action.clone(), keys);
                }
            } else if let Some(key) = keys::KEYS.iter().find(|k| k.name == name) {
                (key.set)(&mut config, value).ok_or_else(|| wrong(name, line, value, key.expected))?;
            } else {
                let known: Vec<&str> = keys::KEYS.iter().map(|k| k.name).chain(["keys"]).collect();
                let hint = get_close_matches(name.as_str(), &known, 1, 0.7)
                    .first()
                    .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                warnings.push(format!(
                    "{}, line {line}: there is no setting `{name}`, it was ignored{hint}",
                    path.display()
                ));
            }
        }
        Ok((config, warnings))
    }

    /// A config file that says what is default anyway, with a comment on every setting.
    pub fn documented() -> String {
        let settings = keys::KEYS.iter().map(|key| {
            let comment = if key.default.starts_with("# ") { "" } else { "# " };
            format!("# {} Expected: {}.\n{comment}{}\n", key.help, key.expected, key.default)
        });
        let first =
            "# Settings of bass-tui. Every line may be left out; what is here is what holds without it.\n".to_owned();
        let last = "# Keys by action; an empty list unbinds it. The help screen names the actions.\n[keys]\n# quit = [\"q\"]\n";
        std::iter::once(first).chain(settings).chain([last.to_owned()]).collect::<Vec<_>>().join("\n")
    }
}

/// One string, or a list of strings.
fn strings(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(one) => Some(vec![one.clone()]),
        Value::Array(list) => list.iter().map(|v| v.as_str().map(ToOwned::to_owned)).collect(),
        _ => None,
    }
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
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not TOML, or not in the expected form.
    #[error("{path}, line {line}: {problem}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, 1-based.
        line: usize,
        /// What is wrong.
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
        /// What it can be.
        expected: &'static str,
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

    fn parse(text: &str) -> Result<(Config, Vec<String>), String> {
        Config::parse(text, Path::new("config.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn every_setting_is_read() {
        let text = "model = 'm'\ndraft = 'none'\nlookup_match = 3\nlookup_length = 12\nn = 4\nmax_tokens = 9\ntemperature = 0\ntop_p = 1\ntop_k = 5\nmin_p = 0.1\n\
                    repetition_penalty = 1.1\nseed = 7\ndevice = 'cpu'\nthreads = 2\ndtype = 'int8'\ndraft_length = 3\ntheme = 'mine'\n\
                    test_timeout = 2.5\nstop_on_pass = true\n[keys]\nquit = ['q', 'ctrl-d']\nhelp = '?'\nzoom = []\n";
        let (config, warnings) = parse(text).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let keys = [("quit", vec!["q", "ctrl-d"]), ("help", vec!["?"]), ("zoom", vec![])];
        let expected = Config {
            model: Some("m".to_owned()),
            draft: "none".to_owned(),
            lookup_match: Some(3),
            lookup_length: Some(12),
            n: 4,
            max_tokens: 9,
            temperature: 0.0,
            top_p: 1.0,
            top_k: Some(5),
            min_p: Some(0.1),
            repetition_penalty: Some(1.1),
            seed: Some(7),
            device: "cpu".to_owned(),
            threads: Some(2),
            dtype: "int8".to_owned(),
            draft_length: "3".to_owned(),
            theme: "mine".to_owned(),
            test_timeout: Duration::from_millis(2500),
            stop_on_pass: true,
            keys: keys.into_iter().map(|(a, k)| (a.to_owned(), k.into_iter().map(str::to_owned).collect())).collect(),
        };
        assert_eq!(config, expected);
        // A setting that is added is added here: none may be left at its default.
        for key in keys::KEYS {
            assert!(text.contains(&format!("{} = ", key.name)), "{}", key.name);
        }
    }

    #[test]
    fn the_documented_file_says_the_defaults() {
        let text = Config::documented();
        assert_eq!(parse(&text), Ok((Config::default(), vec![])));
        let uncommented: String = text
            .lines()
            .filter_map(|l| l.strip_prefix("# "))
            .filter(|l| l.contains(" = "))
            .fold(String::new(), |t, l| t + l + "\n");
        let (config, warnings) = parse(uncommented.split("quit").next().unwrap()).unwrap();
        assert_eq!((config, warnings), (Config::default(), vec![]));
    }

    #[test]
    fn unknown_settings_are_ignored_with_a_word() {
        let (config, warnings) = parse("# x\ntemprature = 1\nn = 2\n[colours]\nx = 1\n").unwrap();
        assert_eq!(config.n, 2);
        insta::assert_snapshot!(warnings.join("\n"), @r"
        config.toml, line 4: there is no setting `colours`, it was ignored
        config.toml, line 2: there is no setting `temprature`, it was ignored; did you mean `temperature`?
        ");
    }

    #[test]
    fn wrong_values_are_explained() {
        let message = |text: &str| parse(text).unwrap_err();
        insta::assert_snapshot!(message("\nn = 'eight'\n"), @r#"config.toml, line 2: `n` is "eight", expected is a whole number from 1 to 64"#);
        insta::assert_snapshot!(message("stop_on_pass = 0"), @"config.toml, line 1: `stop_on_pass` is 0, expected is true or false");
        insta::assert_snapshot!(message("\n[keys]\na = 'b'\nquit = 3\n"), @r#"config.toml, line 4: `keys.quit` is 3, expected is a key like "ctrl-t" or a list of them"#);
        insta::assert_snapshot!(message("\nn = = 3\n"), @"config.toml, line 2: extra `=`, expected nothing");
        for text in [
            "n = 0",
            "n = 65",
            "n = 1.5",
            "top_p = 0",
            "top_p = 1.1",
            "temperature = -1",
            "temperature = nan",
            "temperature = inf",
            "min_p = 2",
            "top_k = 0",
            "repetition_penalty = 0",
            "seed = -1",
            "threads = 0",
            "dtype = 'fp4'",
            "draft_length = 'long'",
            "draft_length = -1",
            "theme = ''",
            "test_timeout = 0",
            "test_timeout = 1e300",
            "keys = 1",
            "keys.a = [1]",
            "model = ''",
            "max_tokens = 0",
        ] {
            let message = message(text);
            assert!(message.starts_with("config.toml, line 1: `") && message.contains("expected"), "{message}");
        }
    }
}
