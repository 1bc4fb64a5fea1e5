//! `bass-tui config`: the settings in force with their origins, or every setting with its help.

use std::path::PathBuf;

use serde_json::Value;

use super::args::TestArgs;
use super::failure::Failure;
use super::output::{escape, print};
use super::session;
use crate::code::TargetSpec;
use crate::config::Paths;
use crate::options::{
    self, Flags, GENERATION, MODELS, OptionSpec, Origin, PROMPTS, SAMPLING, SCREEN, SERVER, Settings, TESTS,
};
use crate::tui::keymap::{Keymap, TABLE};
use crate::untrusted::clean_line;

/// Arguments of `config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What is printed can be read back as a config file. Flags are laid over it as over any other command; --default takes none.

EXAMPLES
  bass-tui config                              what is in force in this folder, and where it comes from
  bass-tui config src/stats.py -n 4            in the project of this file, with this flag
  bass-tui config --default                    every setting with its help and its default
  bass-tui config --default > config.toml      a file to change, each line behind a `#`

EXIT CODES
  0 printed   2 wrong usage, or a setting that cannot be used")]
pub struct Args {
    #[arg(value_name = "FILE", help = "A file or folder whose project has settings of its own [default: this folder]")]
    file: Option<String>,
    /// Print the settings in force, each with its origin; so does no option at all
    #[arg(long, help_heading = "Output")]
    print: bool,
    /// Print every setting with its help and its default, as a config file
    #[arg(long, exclusive = true, help_heading = "Output")]
    default: bool,
    #[command(flatten)]
    options: Flags<{ MODELS | SERVER | GENERATION | SAMPLING | TESTS | PROMPTS | SCREEN }>,
    #[command(flatten)]
    tests: TestArgs,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    if args.default && !args.print {
        print(&every_setting())?;
        return Ok(0);
    }
    let paths = Paths::find().map_err(Failure::input)?;
    let spec = args.file.as_deref().map(TargetSpec::parse).transpose().map_err(Failure::input)?;
    let at = spec.map_or_else(|| PathBuf::from("."), |spec| spec.path);
    if !at.exists() {
        let at = at.display();
        return Err(Failure::input(format!("{at} is not there: expected is a file or folder of a project")));
    }
    let mut settings = session::settings(&paths, &args.options, Some(&at))?;
    if !args.tests.tests.is_empty() {
        settings.tests.clone_from(&args.tests.tests);
        settings.origins.insert("tests", vec![Origin::Flag]);
    }
    Keymap::new(&settings.keys).map_err(Failure::input)?;
    print(&in_force(&settings, &paths))?;
    Ok(0)
}

/// Settings with the place that each comes from, as a config file.
fn in_force(settings: &Settings, paths: &Paths) -> String {
    let mut text = format!(
        "# The settings in force. Behind each value stands where it comes from. The later wins: defaults,\n\
         # {}, .bass-tui.toml of the project (tests and prompts), flags.\n",
        clean_line(&paths.config_file().to_string_lossy(), usize::MAX)
    );
    text += &by_heading(|option| {
        let origins = settings.origins.get(option.name).map_or(&[][..], Vec::as_slice);
        let from: Vec<String> = origins.iter().map(|origin| place(origin, option)).collect();
        let from = if from.is_empty() { "default".to_owned() } else { from.join(", ") };
        if let Some(value) = toml(option, &option.shown(settings)) {
            return line(&format!("{} = {value}", option.setting()), &from);
        }
        let default = default_in(option.help()).map_or("default".to_owned(), |text| format!("default: {text}"));
        line(&format!("# {} is not set", option.setting()), &default)
    });
    if !settings.keys.is_empty() {
        text += "\n[keys]\n";
    }
    for (action, keys) in &settings.keys {
        let from = settings.key_origins.get(action).map(file_place).unwrap_or_default();
        text += &line(&format!("{} = {}", quoted(action), quoted(keys)), &from);
    }
    text
}

/// Every setting with its flag, its help and its default.
fn every_setting() -> String {
    let mut text = "# Every setting of config.toml. Without the `#` before it a line is fixed.\n\
        # What is marked `project` can also stand in the .bass-tui.toml of a project.\n"
        .to_owned();
    let defaults = Settings::default();
    text += &by_heading(|option| {
        let project = if option.is_of_projects() { "   project" } else { "" };
        let value = toml(option, &option.shown(&defaults));
        // A number in the help is the default of a value that is made elsewhere.
        let in_help = || default_in(option.help()).filter(|text| text.parse::<f64>().is_ok()).map(str::to_owned);
        let value = value.or_else(in_help).unwrap_or_else(|| quoted(option.placeholder()));
        let flag = format!("# {} {}", option.flag(), option.placeholder());
        format!("\n{}{project}\n{}#{} = {value}\n", flag.trim_end(), comment(option.help()), option.setting())
    });
    text += "\n# Keys of the screen, by action (`quit`) or by context and action (`panes.quit`). An empty list unbinds.\n#[keys]\n";
    for binding in TABLE {
        let name = format!("{}.{}", binding.context.name(), binding.name);
        text += &line(&format!("#{} = {}", quoted(&name), quoted(binding.keys)), binding.label);
    }
    text
}

/// Texts of all options under the headings of the help.
fn by_heading(text: impl Fn(&OptionSpec) -> String) -> String {
    let mut headings: Vec<&str> = Vec::new();
    for option in options::ALL {
        if !headings.contains(&option.heading()) {
            headings.push(option.heading());
        }
    }
    let mut all = String::new();
    for heading in headings {
        all.extend(["\n# ", heading, "\n"]);
        all.extend(options::ALL.iter().filter(|option| option.heading() == heading).map(&text));
    }
    all
}

/// A setting, and behind it a comment.
fn line(setting: &str, comment: &str) -> String {
    format!("{setting:<36} # {comment}\n")
}

/// The value of an option as TOML; `None` where it has none.
pub fn toml(option: &OptionSpec, value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Number(seconds) if option.placeholder() == "TIME" => {
            Some(format!("\"{}s\"", seconds.as_f64().unwrap_or_default()))
        }
        // TOML has no larger whole numbers.
        Value::Number(number) if number.is_u64() && !number.is_i64() => Some(format!("\"{number}\"")),
        value => Some(quoted(value)),
    }
}

/// As JSON, which TOML reads in the same way, without characters that act on a terminal.
fn quoted(value: &(impl serde::Serialize + ?Sized)) -> String {
    escape(&serde_json::to_string(value).unwrap_or_default())
}

/// A text as lines of comments.
pub fn comment(text: &str) -> String {
    let mut lines = vec!["#".to_owned()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 100 => line.extend([" ", word]),
            _ => lines.push(format!("# {word}")),
        }
    }
    lines.join("\n") + "\n"
}

/// The default that a help names.
fn default_in(help: &str) -> Option<&str> {
    help.rsplit_once("[default: ")?.1.strip_suffix(']')
}

fn place(origin: &Origin, option: &OptionSpec) -> String {
    match origin {
        Origin::Flag => option.flag(),
        Origin::File(..) => file_place(origin),
    }
}

fn file_place(origin: &Origin) -> String {
    match origin {
        Origin::File(path, line) => format!("{}, line {line}", clean_line(&path.to_string_lossy(), usize::MAX)),
        Origin::Flag => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::options::tests::{other, values};

    fn paths() -> Paths {
        Paths { config_dir: "/c".into(), state_dir: "/s".into(), cache_dir: "/k".into() }
    }

    fn parsed(text: &str) -> Settings {
        let (settings, warnings) =
            Settings::parse(text, Path::new("config.toml")).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert!(warnings.is_empty(), "{warnings:?}");
        settings
    }

    /// The line of a setting with its value.
    fn line_of<'a>(text: &'a str, option: &OptionSpec) -> &'a str {
        let begin = format!("{} = ", option.setting());
        text.lines().find(|line| line.starts_with(&begin)).unwrap_or_default()
    }

    #[test]
    fn each_setting_of_a_file_is_printed_with_its_place_and_read_back() {
        let default = in_force(&Settings::default(), &paths());
        for option in options::ALL {
            let value = other(option);
            let written = if value.parse::<f64>().is_ok() || value == "true" { value } else { &format!("'{value}'") };
            let settings = parsed(&format!("# one\n{} = {written}\n", option.setting()));
            let text = in_force(&settings, &paths());
            assert_ne!(line_of(&text, option), line_of(&default, option), "{}", option.name);
            assert!(line_of(&text, option).ends_with("# config.toml, line 2"), "{text}");
            assert_eq!(text.matches("config.toml, line").count(), 1, "only one is no default: {text}");
            assert_eq!(values(&parsed(&text)), values(&settings), "{}", option.name);
        }
        assert_eq!(values(&parsed(&default)), values(&Settings::default()));
    }

    #[test]
    fn what_is_printed_is_read_back_whatever_it_holds() {
        let mut settings =
            parsed("stop = [\"a\\u0007'\\\"\\\\\", \"\\u202E\\n\"]\n[keys]\n\"panes.quit\" = ['ctrl-q']\nzoom = []\n");
        options::named("seed").set(&mut settings, &u64::MAX.to_string()).unwrap();
        options::named("max-tokens").set(&mut settings, &usize::MAX.to_string()).unwrap();
        options::named("temperature").set(&mut settings, "3.4e38").unwrap();
        options::named("top-p").set(&mut settings, "0.0000001").unwrap();
        options::named("time-budget").set(&mut settings, "0.5ms").unwrap();
        let text = in_force(&settings, &paths());
        assert!(!text.contains(['\u{7}', '\u{202e}']), "{text:?}");
        let again = parsed(&text);
        assert_eq!((values(&again), &again.keys), (values(&settings), &settings.keys));
    }

    #[test]
    fn the_file_of_all_defaults_changes_nothing() {
        let all = every_setting();
        assert!(
            all.lines().all(|line| line.is_empty() || line.starts_with('#')) && all.parse::<::toml::Table>().is_ok()
        );
        let fixed: Vec<&str> =
            all.lines().filter_map(|line| line.strip_prefix('#')).filter(|line| !line.starts_with(' ')).collect();
        assert!(
            options::ALL
                .iter()
                .all(|option| fixed.iter().any(|line| line.starts_with(&format!("{} = ", option.setting()))))
        );
        // A placeholder stands for what is not set.
        let placeholder = |line: &&&str| {
            options::ALL
                .iter()
                .any(|option| **line == format!("{} = {}", option.setting(), quoted(option.placeholder())))
        };
        let real: Vec<&str> = fixed.iter().filter(|line| !placeholder(line)).copied().collect();
        assert!(real.len() + 12 > fixed.len(), "{fixed:?}");
        let settings = parsed(&real.join("\n"));
        let (mut own, mut defaults) = (values(&settings), values(&Settings::default()));
        // Their defaults are those of the drafter.
        for name in ["lookup-match", "lookup-length"] {
            own.remove(name);
            defaults.remove(name);
        }
        assert_eq!(own, defaults);
        let default_keys = |settings: &Settings| format!("{:?}", Keymap::new(&settings.keys).unwrap());
        assert_eq!(default_keys(&settings), default_keys(&Settings::default()));
    }

    /// Each field that a row sets is read outside the table and outside of what reads and prints settings.
    #[test]
    fn each_setting_has_a_reader() {
        fn read(folder: &Path, text: &mut String) {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                let about_settings = ["options.rs", "options", "config.rs"].iter().any(|name| path.ends_with(name));
                if path.is_dir() && !about_settings {
                    read(&path, text);
                } else if !about_settings && path.extension().is_some_and(|ending| ending == "rs") {
                    let all = fs::read_to_string(&path).unwrap();
                    text.extend(all.split("#[cfg(test)]\nmod tests").next().unwrap().split_whitespace());
                }
            }
        }
        let top = Path::new(env!("CARGO_MANIFEST_DIR"));
        let table = fs::read_to_string(top.join("src/options/table.rs")).unwrap();
        let mut users = String::new();
        read(&top.join("src"), &mut users);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let first = |text: &'static str, users: &str| -> HashSet<String> {
            let words = users.split(text).skip(1).filter_map(|rest| rest.split(|c: char| !is_word(c)).next());
            words.map(str::to_owned).collect()
        };
        let (of_settings, members) = (first("settings.", &users), first(".", &users));
        let taken_apart = users.split("letSettings{").skip(1).filter_map(|rest| rest.split('}').next());
        let taken_apart: HashSet<&str> = taken_apart.flat_map(|fields| fields.split(|c| !is_word(c))).collect();
        for option in options::ALL {
            let row = table.split(&format!("        name: \"{}\",", option.name)).nth(1).unwrap();
            let shown = row.split("show: |s| ").nth(1).unwrap().split_once("s.").unwrap().1;
            let chain = shown.split(|c: char| !(is_word(c) || c == '.')).next().unwrap();
            let methods = ["map", "map_or", "to_string", "as_ref", "as_secs_f64"];
            let fields: Vec<&str> = chain.split('.').take_while(|word| !methods.contains(word)).collect();
            let is_read = match fields.as_slice() {
                // `tests_or` is their only reader.
                ["tests"] => of_settings.contains("tests_or"),
                [field] => of_settings.contains(*field) || taken_apart.contains(field),
                [.., field] => members.contains(*field),
                [] => false,
            };
            assert!(is_read, "{}: nothing reads {fields:?}", option.name);
        }
    }
}
