//! Settings that are changed while the screen is open.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::args::choice;
use super::config::toml;
use super::init::put;
use super::session::{Session, project_place, served};
use super::tui::opener;
use crate::config::PROJECT_FILE;
use crate::job::TestsChoice;
use crate::options::{OptionSpec, Origin, Settings, named};
use crate::tui::{Change, Live, Open, Setting};

/// Settings that the screen changes, in the order of its list, with values to choose from.
const ALL: [(&str, &[&str]); 10] = [
    ("temperature", &["0", "0.2", "0.5", "0.8", "1"]),
    ("n", &["1", "2", "4", "8", "16"]),
    ("seed", &[]),
    ("max-tokens", &["128", "256", "512", "1024"]),
    ("rounds", &["1", "2", "3"]),
    ("timeout", &["10s", "30s", "60s", "300s"]),
    ("draft", &[]),
    ("tests", &[AS_FOUND, "auto", "none"]),
    ("model", &[]),
    ("theme", &[]),
];

/// The tests that are found, where none are named.
const AS_FOUND: &str = "as found";
/// The model where none is named.
const BUILT_IN: &str = "built-in";

/// The settings of a session, and what changing them needs.
pub struct LiveSettings {
    session: Session,
    /// The file or folder whose project has settings.
    at: PathBuf,
    unprotected: bool,
    /// The model that the screen began with: a file, perhaps, that no list has.
    began_with: Option<String>,
}

impl LiveSettings {
    /// The settings of a session whose tests the command line may have named.
    pub fn new(mut session: Session, at: PathBuf, tests: TestsChoice, unprotected: bool) -> Self {
        session.settings.tests = match tests {
            TestsChoice::Auto => vec!["auto".to_owned()],
            TestsChoice::None => vec!["none".to_owned()],
            TestsChoice::Named(names) => names,
            TestsChoice::IfAny | TestsChoice::Command(_) => Vec::new(),
        };
        let at = if at.as_os_str().is_empty() { PathBuf::from(".") } else { at };
        let began_with = session.settings.server.is_none().then(|| words(named("model"), &session.settings));
        Self { session, at, unprotected, began_with }
    }

    /// The settings with another value.
    fn with(&self, name: &str, value: &str) -> Result<Settings, String> {
        let option = option(name)?;
        let mut settings = self.session.settings.clone();
        match name {
            // A list would grow.
            "tests" => settings.tests.clear(),
            // Another model is not that of the server.
            "model" if settings.server.is_some() => {
                (settings.server, settings.server_model, settings.server_suffix) = (None, None, false);
                settings.chat = None;
            }
            "draft" if settings.server.is_some() => {
                return Err("a server writes the candidates, and drafts as it likes".to_owned());
            }
            _ => {}
        }
        if !(name == "tests" && value == AS_FOUND) {
            let wrong = |expected| format!("{name} is `{value}`, expected {expected}");
            option.set(&mut settings, value).map_err(wrong)?;
        }
        served(&mut settings, &self.session.catalog).map_err(|failure| failure.message)?;
        Ok(settings)
    }

    /// The file that a setting belongs into.
    fn file(&self, option: &OptionSpec) -> PathBuf {
        let of_project = option.is_of_projects().then(|| project_place(&self.at)).flatten();
        of_project.unwrap_or_else(|| self.session.paths.config_file())
    }

    fn models(&self) -> Vec<String> {
        let (catalog, settings) = (&self.session.catalog, &self.session.settings);
        let now = settings.server.is_none().then(|| words(named("model"), settings));
        let named = catalog.entries.iter().map(|entry| entry.name.clone()).filter(|name| catalog.is_here(name));
        let others =
            catalog.others.all().into_iter().filter(|found| found.file.is_ok()).map(|found| found.name.clone());
        let mut names: Vec<String> = named.chain(others).collect();
        for one in self.began_with.iter().chain(&now) {
            if !names.contains(one) {
                names.insert(0, one.clone());
            }
        }
        names
    }
}

fn option(name: &str) -> Result<&'static OptionSpec, String> {
    let known = ALL.iter().any(|(own, _)| *own == name);
    if known { Ok(named(name)) } else { Err(format!("{name} cannot be changed here")) }
}

/// A value as it is typed.
fn words(option: &OptionSpec, settings: &Settings) -> String {
    match (option.name, option.shown(settings)) {
        ("model", _) if settings.server.is_some() => {
            let model = settings.server_model.as_deref().unwrap_or("its model");
            format!("{model} of {}", settings.server.as_deref().unwrap_or_default())
        }
        ("model", Value::Null) => BUILT_IN.to_owned(),
        (_, Value::Array(names)) if names.is_empty() => AS_FOUND.to_owned(),
        (_, Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        ("timeout", Value::Number(seconds)) => format!("{}s", seconds.as_f64().unwrap_or_default()),
        (_, Value::String(text)) => text,
        (_, value) => value.to_string(),
    }
}

/// The tests of a list as seen from the folder of the file that names them.
fn seen_from(folder: &Path, names: &[String]) -> Vec<String> {
    let below = |name: &String| {
        let path = std::path::absolute(name).ok()?;
        Some(path.strip_prefix(folder).ok()?.to_string_lossy().into_owned())
    };
    let word = |name: &&String| matches!(name.as_str(), "auto" | "none");
    let seen = |name: &String| Some(name).filter(word).cloned().or_else(|| below(name)).unwrap_or_else(|| name.clone());
    names.iter().map(seen).collect()
}

impl Live for LiveSettings {
    fn settings(&self) -> Vec<Setting> {
        let settings = &self.session.settings;
        let setting = |(name, values): &(&'static str, &[&str])| {
            let option = named(name);
            let values = match *name {
                "model" => self.models(),
                "draft" => option.words().map(str::to_owned).collect(),
                _ => values.iter().map(|&value| value.to_owned()).collect(),
            };
            let origins = settings.origins.get(name);
            Setting {
                name: (*name).to_owned(),
                value: words(option, settings),
                help: option.help().to_owned(),
                values,
                typed: *name != "theme",
                number: matches!(*name, "temperature" | "n" | "seed" | "max-tokens"),
                fixed: origins.is_some_and(|origins| origins.iter().any(|origin| *origin != Origin::Flag)),
                loading: None,
            }
        };
        ALL.iter().map(setting).collect()
    }

    fn change(&self, name: &str, value: &str) -> Result<Change, String> {
        let settings = self.with(name, value)?;
        let (options, limits, rounds) = (settings.generate.clone(), settings.limits, settings.rounds);
        let tests = (name == "tests").then(|| choice(&settings.tests));
        let open = if matches!(name, "model" | "draft") {
            let session = Session { settings, ..self.session.clone() };
            Some(opener(&session, self.unprotected).map_err(|failure| failure.message)?)
        } else {
            None
        };
        Ok(Change { options, limits, rounds, tests, open })
    }

    fn open(&self) -> Result<Open, String> {
        opener(&self.session, self.unprotected).map_err(|failure| failure.message)
    }

    fn take(&mut self, name: &str, value: &str) {
        if let Ok(settings) = self.with(name, value) {
            self.session.settings = settings;
        }
    }

    fn keep(&self, name: &str, value: &str) -> Result<String, String> {
        let option = option(name)?;
        // The screen changes these by itself.
        let mut settings =
            if matches!(name, "n" | "theme") { self.with(name, value)? } else { self.session.settings.clone() };
        if name == "model" && settings.server.is_some() {
            return Err("the model of a server is kept in config.toml by hand: `server` and `server_model`".to_owned());
        }
        if name == "model" {
            settings.model.get_or_insert_with(|| BUILT_IN.to_owned());
        }
        let file = self.file(option);
        if let Some(folder) = file.parent().filter(|_| file.ends_with(PROJECT_FILE)) {
            settings.tests = seen_from(folder, &settings.tests);
        }
        let value = option.value(&settings);
        let text = toml(option, &value)
            .ok_or_else(|| format!("{name} is {}: there is nothing to keep", words(option, &settings)))?;
        put(&file, &option.setting(), &text).map_err(|failure| failure.message)?;
        Ok(file.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::catalog::{Catalog, Others};
    use crate::config::Paths;
    use crate::hub::HubCache;

    fn live(home: &Path, at: &Path) -> LiveSettings {
        let paths =
            Paths { config_dir: home.join("config"), state_dir: home.join("state"), cache_dir: home.join("cache") };
        let hub = HubCache { folder: home.join("hub") };
        let catalog = Catalog::parse("", Path::new("models.toml"), hub, Others::default()).unwrap();
        let session = Session { paths, settings: Settings::default(), catalog };
        LiveSettings::new(session, at.to_path_buf(), TestsChoice::IfAny, false)
    }

    #[test]
    fn a_model_that_the_screen_began_with_can_be_chosen_again() {
        let home = tempfile::tempdir().unwrap();
        let session = live(home.path(), home.path()).session;
        let settings = Settings { model: Some("models/mine.gguf".to_owned()), ..session.settings };
        let session = Session { settings, ..session };
        let mut live = LiveSettings::new(session, home.path().to_path_buf(), TestsChoice::IfAny, false);
        live.take("model", "built-in");
        let model = live.settings().into_iter().find(|setting| setting.name == "model").unwrap();
        assert_eq!(
            (model.value.as_str(), model.values),
            ("built-in", vec!["models/mine.gguf".into(), "built-in".into()])
        );
        live.take("model", "models/other.gguf");
        let model = live.settings().into_iter().find(|setting| setting.name == "model").unwrap();
        assert_eq!(model.values, ["models/other.gguf", "models/mine.gguf", "built-in"], "the one that is used");
    }

    fn value(live: &LiveSettings, name: &str) -> String {
        live.settings().into_iter().find(|setting| setting.name == name).unwrap().value
    }

    #[test]
    fn values_are_read_and_refused_by_the_table_of_options() {
        let home = tempfile::tempdir().unwrap();
        let mut live = live(home.path(), home.path());
        let wrong = |name: &str, value: &str| live.change(name, value).err().unwrap();
        assert_eq!(wrong("n", "0"), "n is `0`, expected 1 to 64 candidates");
        assert_eq!(wrong("temperature", "hot"), "temperature is `hot`, expected 0 (greedy) or a positive number");
        assert_eq!(wrong("seed", "-1"), "seed is `-1`, expected a whole number from 0 to 18446744073709551615");
        assert!(wrong("model", "qwen2.5-coder-8b").contains("did you mean `qwen2.5-coder"), "the catalog's sentence");
        assert_eq!(wrong("device", "cpu"), "device cannot be changed here");
        assert_eq!(live.change("timeout", "3s").unwrap().limits.wall.as_secs(), 3);
        assert_eq!(value(&live, "timeout"), "10s");
        assert_eq!(live.change("max-tokens", "99").unwrap().options.max_tokens, 99);
        assert_eq!(live.change("rounds", "3").unwrap().rounds, 3);
        let change = live.change("temperature", "0.25").unwrap();
        assert!((change.options.sampling.temperature - 0.25).abs() < 1e-6 && change.open.is_none());
        assert_eq!(value(&live, "temperature"), "0.8", "not before it is taken");
        live.take("temperature", "0.25");
        assert_eq!(value(&live, "temperature"), "0.25");
        assert_eq!(live.change("tests", "none").unwrap().tests, Some(TestsChoice::None));
        live.take("tests", "a.py");
        live.take("tests", "b.py");
        assert_eq!(value(&live, "tests"), "b.py", "one takes the place of the other");
        assert_eq!(live.change("tests", AS_FOUND).unwrap().tests, Some(TestsChoice::IfAny));
        assert!(live.change("draft", "lookup").unwrap().open.is_some());
        assert_eq!((value(&live, "model").as_str(), value(&live, "draft").as_str()), ("built-in", "auto"));
        let model = live.settings().into_iter().find(|setting| setting.name == "model").unwrap();
        assert_eq!(model.values, ["built-in"], "only what is here");
    }

    #[test]
    fn a_setting_is_kept_where_it_may_stand_and_in_its_place() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(project.join("pyproject.toml"), "").unwrap();
        fs::write(project.join("src/a.py"), "").unwrap();
        let mut live = live(home.path(), &project.join("src/a.py"));
        let tests = project.join("tests/test_a.py").to_string_lossy().into_owned();
        live.take("tests", &tests);
        live.take("temperature", "0.3");
        assert_eq!(live.keep("tests", "").unwrap(), project.join(PROJECT_FILE).display().to_string());
        assert_eq!(fs::read_to_string(project.join(PROJECT_FILE)).unwrap(), "tests = [\"tests/test_a.py\"]\n");
        let config = home.path().join("config/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(&config, "# mine\nn = 3 # few\n[keys]\nquit = 'x'\n").unwrap();
        live.keep("temperature", "0.3").unwrap();
        live.keep("n", "7").unwrap();
        live.keep("model", "built-in").unwrap();
        let kept = "model = \"built-in\"\ntemperature = 0.3\n# mine\nn = 7 # few\n[keys]\nquit = 'x'\n";
        assert_eq!(fs::read_to_string(&config).unwrap(), kept);
        live.take("tests", AS_FOUND);
        assert_eq!(live.keep("tests", "").unwrap_err(), "tests is as found: there is nothing to keep");
        live.take("tests", "none");
        live.keep("tests", "").unwrap();
        assert_eq!(fs::read_to_string(project.join(PROJECT_FILE)).unwrap(), "tests = [\"none\"]\n");
        let mut settings = Settings::default();
        assert_eq!(settings.lay_project_over(&project.join(PROJECT_FILE)).unwrap(), Vec::<String>::new());
        assert_eq!(settings.tests, ["none"], "it is no path");
    }
}
