//! Every option once: flag, setting of the config file, name in results files, help, parser and value. To add
//! one: a field of [`Settings`], or of what it holds, and an entry of [`ALL`], in `table`.

mod flags;
mod read;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction};
use serde_json::{Value, json};
use similar::get_close_matches;

use crate::backend::{Dtype, LoadOptions};
use crate::engine::{DraftVocabulary, GenerateOptions};
use crate::model::ChatUse;
use crate::prompt;
use crate::trial::Limits;

pub use flags::Flags;
pub use read::duration;
pub use table::ALL;

/// All settings: the defaults, with the config file and then the flags laid over them.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a setting of its own
pub struct Settings {
    /// Main model: a name of the catalog or a folder; `None` is the built-in one.
    pub model: Option<String>,
    /// Address of a server that writes candidates instead of the models of this machine.
    pub server: Option<String>,
    /// Its model; `None` where it has but one.
    pub server_model: Option<String>,
    /// The server is sent the text after the place.
    pub server_suffix: bool,
    /// Drafter: a draft model's name or folder, `auto`, `none`, `lookup`, `sibling` or `chain`.
    pub draft: String,
    /// Tokens that a draft model proposes.
    pub draft_vocabulary: DraftVocabulary,
    /// Weight storage of a draft model or head.
    pub draft_dtype: Dtype,
    /// The main model is shown requests as conversations; `None`: as catalog and name say.
    pub chat: Option<ChatUse>,
    /// Tokens that have to agree before a lookup copies; `None` is the drafter's own choice.
    pub lookup_match: Option<usize>,
    /// Most tokens that a lookup copies in a step; `None` is the drafter's own choice.
    pub lookup_length: Option<usize>,
    /// Where and how models are loaded.
    pub load: LoadOptions,
    /// How candidates are written; of its stop rules only the strings are set.
    pub generate: GenerateOptions,
    /// Options for prompts.
    pub prompt: prompt::Options,
    /// A candidate goes on after the end of its function.
    pub no_default_stops: bool,
    /// Limits of a trial.
    pub limits: Limits,
    /// The Python that code is run with; `None` leaves it to the project.
    pub python: Option<PathBuf>,
    /// The tests of functions where no `--tests` says which; empty: those that are found.
    pub tests: Vec<String>,
    /// Candidates are called on the same inputs and compared; `None`: where that can be done.
    pub agree: Option<bool>,
    /// Most rounds of candidates while all fail their tests.
    pub rounds: usize,
    /// On the screen, the first pass ends what is still being written.
    pub stop_on_pass: bool,
    /// The screen follows the editor.
    pub watch: bool,
    /// Runs are kept, to be looked at later.
    pub history: bool,
    /// MiB for prompts that the screen keeps for the next request; `None` leaves it to the machine.
    pub kv_cache: Option<usize>,
    /// Lines and a question in place of the screen.
    pub plain: bool,
    /// Colours: `auto`, `light`, `dark` or the name of a theme.
    pub theme: String,
    /// Keys by action, as written in the config file: `quit = ["q", "ctrl-d"]`; an empty list unbinds.
    pub keys: BTreeMap<String, Vec<String>>,
    /// Where values came from that are no defaults, by option. Lists can come from several places.
    pub origins: BTreeMap<&'static str, Vec<Origin>>,
    /// Where keys came from, by action.
    pub key_origins: BTreeMap<String, Origin>,
}

/// Where the value of a setting came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of settings, and the line.
    File(PathBuf, usize),
    /// The command line.
    Flag,
}

impl Origin {
    /// It is this file.
    pub fn is_in(&self, path: &Path) -> bool {
        matches!(self, Self::File(file, _) if file == path)
    }
}

impl Settings {
    /// The tests that were named: those `given` with a command, else those of the settings.
    pub fn tests_or<'a>(&'a self, given: &'a [String]) -> &'a [String] {
        if given.is_empty() { &self.tests } else { given }
    }

    /// Returns true if candidates are called on the same inputs where that can be done.
    pub fn compares(&self) -> bool {
        self.agree != Some(false)
    }

    /// Notes where the value of an option came from.
    pub fn came_from(&mut self, option: &OptionSpec, origin: Origin) {
        let origins = self.origins.entry(option.name).or_default();
        if !option.is_list() {
            origins.clear();
        }
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: None,
            server: None,
            server_model: None,
            server_suffix: false,
            draft: "auto".to_owned(),
            draft_vocabulary: DraftVocabulary::Auto,
            draft_dtype: Dtype::Auto,
            chat: None,
            lookup_match: None,
            lookup_length: None,
            load: LoadOptions::default(),
            generate: GenerateOptions::default(),
            prompt: prompt::Options::default(),
            no_default_stops: false,
            limits: Limits::default(),
            python: None,
            tests: Vec::new(),
            agree: None,
            rounds: 2,
            stop_on_pass: false,
            watch: false,
            history: true,
            kv_cache: None,
            plain: false,
            theme: "auto".to_owned(),
            keys: BTreeMap::new(),
            origins: BTreeMap::new(),
            key_origins: BTreeMap::new(),
        }
    }
}

/// Most rounds of candidates, the first included.
pub const MOST_ROUNDS: usize = 3;

/// Options that a command takes together; a set of them is a sum.
pub const MODELS: u16 = 1;
/// How many candidates, how long, from which drafts.
pub const GENERATION: u16 = 2;
/// How tokens are drawn.
pub const SAMPLING: u16 = 4;
/// How tests are run.
pub const TESTS: u16 = 8;
/// Options of the screen only.
pub const SCREEN: u16 = 16;

/// Text of a file that the model is shown; problem sets bring their own prompts.
pub const PROMPTS: u16 = 32;
/// Which server writes, for those commands that can do without models of this machine.
pub const SERVER: u16 = 64;

/// Options about kept runs, for commands that make runs for a person.
pub const HISTORY: u16 = 256;

/// How candidates are compared, for commands that show them beside each other.
pub const COMPARING: u16 = 512;

/// Statements of a project about itself; no flag, as commands have one of this name that takes more.
const PROJECT: u16 = 128;

/// Groups that the file of a project may set.
const OF_PROJECTS: u16 = TESTS | PROMPTS | PROJECT | COMPARING;

/// An option.
#[derive(Debug)]
pub struct OptionSpec {
    /// As a flag and in results files; in the config file with `_` for `-`.
    pub name: &'static str,
    /// Which commands take it.
    group: u16,
    /// Placeholder for its value in the help; a switch has none.
    value: &'static str,
    /// Possible values, to follow "expected"; empty where `value` says it.
    expected: &'static str,
    /// Its effect; and its default, where that is no value.
    help: &'static str,
    read: fn(&mut Settings, &str) -> Option<()>,
    show: fn(&Settings) -> Value,
}

/// The option of this name, which is one.
pub fn named(name: &str) -> &'static OptionSpec {
    ALL.iter().find(|option| option.name == name).expect("a name of the table")
}

/// The options of some groups.
pub fn of(groups: u16) -> impl Iterator<Item = &'static OptionSpec> {
    ALL.iter().filter(move |option| option.group & groups != 0)
}

impl OptionSpec {
    /// Its name in the config file.
    pub fn setting(&self) -> String {
        self.name.replace('-', "_")
    }

    /// The file of a project may set it: options of its tests and prompts.
    pub fn is_of_projects(&self) -> bool {
        self.group & OF_PROJECTS != 0
    }

    /// Its flag, without dashes. The history is on unless the flag takes it away.
    fn long(&self) -> &'static str {
        if self.name == "history" { "no-history" } else { self.name }
    }

    /// Its flag.
    pub fn flag(&self) -> String {
        let dashes = if self.name.len() == 1 { "-" } else { "--" };
        format!("{dashes}{}", self.long())
    }

    /// Takes a value over; the error is what was expected, and which of its words is near.
    pub fn set(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        (self.read)(settings, text).ok_or_else(|| self.expected() + &did_you_mean(text.trim(), self.words()))
    }

    /// Possible values, to follow "expected".
    pub fn expected(&self) -> String {
        match self.expected {
            "" => match self.value.rsplit_once('|') {
                Some((first, last)) => format!("{} or {last}", first.replace('|', ", ")),
                None => self.value.to_owned(),
            },
            expected => expected.to_owned(),
        }
    }

    /// It is on or off.
    pub fn is_switch(&self) -> bool {
        self.value.is_empty()
    }

    /// Its value, as it is shown: null only where it has none.
    pub fn shown(&self, settings: &Settings) -> Value {
        (self.show)(settings)
    }

    /// Its value; null where it has none, or it is an empty list or a switch that is off.
    pub fn value(&self, settings: &Settings) -> Value {
        let value = (self.show)(settings);
        if value == json!([]) || value == json!(false) { Value::Null } else { value }
    }

    /// Its effect.
    pub fn help(&self) -> &'static str {
        self.help
    }

    /// It takes several values.
    pub fn is_list(&self) -> bool {
        (self.show)(&Settings::default()).is_array()
    }

    /// Words that it takes beside what its placeholder stands for.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.value.split('|').filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
    }

    /// Placeholder for its value.
    pub fn placeholder(&self) -> &'static str {
        self.value
    }

    /// Its section of the help.
    pub fn heading(&self) -> &'static str {
        match self.group {
            MODELS | SERVER => "Models",
            TESTS | PROJECT | COMPARING => "Tests",
            SCREEN => "Screen",
            HISTORY => "History",
            PROMPTS => "Prompt",
            _ => "Generation",
        }
    }

    fn arg(&self) -> Arg {
        let heading = self.heading();
        let default = match self.value(&Settings::default()) {
            Value::Null | Value::Bool(_) => String::new(),
            Value::String(text) => format!(" [default: {text}]"),
            Value::Number(number) if self.value == "TIME" => {
                format!(" [default: {}s]", number.as_f64().unwrap_or_default())
            }
            other => format!(" [default: {other}]"),
        };
        let arg = Arg::new(self.name).help(format!("{}{default}", self.help)).help_heading(heading);
        let arg = match self.name {
            "n" => arg.short('n').long("candidates"),
            _ => arg.long(self.long()),
        };
        if self.value.is_empty() {
            return arg.action(ArgAction::SetTrue);
        }
        let arg = arg.action(if self.is_list() { ArgAction::Append } else { ArgAction::Set });
        arg.value_name(self.value).allow_negative_numbers(true).allow_hyphen_values(self.value == "TIME")
    }
}

/// The rest of a sentence with the nearest of the `known` words, if one is near.
pub fn did_you_mean<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = get_close_matches(text, &known, 1, 0.7);
    nearest.first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::draft_length::POLICIES;
    use crate::engine::drafter::DRAFTERS;

    /// Values of all options, by name.
    pub(crate) fn values(settings: &Settings) -> BTreeMap<&'static str, Value> {
        ALL.iter().map(|option| (option.name, option.value(settings))).collect()
    }

    /// A value for every option that is not its default.
    pub(crate) fn other(option: &OptionSpec) -> &'static str {
        match option.name {
            "model" | "server" | "server-model" | "theme" | "stop" => "mine",
            "draft" => "none",
            "show-tests" | "infill" | "chat" => "no",
            "device" => "cpu",
            "dtype" | "draft-dtype" => "int8",
            "accept" => "rejection",
            "top-p" | "min-p" | "temperature" => "0.25",
            "time-budget" | "timeout" => "2.5s",
            "no-default-stops" | "stop-on-pass" | "watch" | "plain" | "no-cuda-graphs" => "true",
            "history" => "false",
            "server-suffix" => "yes",
            "agree" => "off",
            "memory" => "100",
            _ => "3",
        }
    }

    #[test]
    fn help_names_a_default_once() {
        for option in ALL {
            let help = option.arg().get_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.matches("[default:").count() < 2, "{help}");
        }
    }

    #[test]
    fn every_option_sets_what_it_shows_and_nothing_else() {
        let defaults = values(&Settings::default());
        for option in ALL {
            let mut settings = Settings::default();
            option.set(&mut settings, other(option)).unwrap();
            let mut changed = values(&settings);
            assert_ne!(
                changed.insert(option.name, Value::Null),
                Some(defaults[option.name].clone()),
                "{}",
                option.name
            );
            let mut expected = defaults.clone();
            expected.insert(option.name, Value::Null);
            assert_eq!(changed, expected, "{}", option.name);
        }
    }

    #[test]
    fn alternatives_in_the_help_are_understood() {
        for option in ALL {
            for word in option.words() {
                let mut settings = Settings::default();
                option.set(&mut settings, word).unwrap();
                assert_eq!(option.value(&settings), word, "{}", option.name);
            }
        }
        let names = |option| named(option).value.split('|').collect::<Vec<_>>();
        assert!(DRAFTERS.iter().all(|drafter| names("draft").contains(&drafter.name)));
        assert!(POLICIES.iter().all(|policy| names("draft-length").contains(&policy.name)));
        let device = ALL.iter().find(|option| option.name == "device").unwrap();
        assert_eq!(device.value, *crate::backend::device::NAMES);
    }

    #[test]
    fn times_are_read() {
        assert_eq!(duration("2.5s"), Some(Duration::from_millis(2500)));
        assert_eq!(duration("800ms"), Some(Duration::from_millis(800)));
        assert_eq!(duration("3"), Some(Duration::from_secs(3)));
        assert_eq!(duration("0s"), Some(Duration::ZERO));
        for wrong in ["soon", "-1s", "1h", "", "s"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
