//! `bass-tui init`: the setup found for a project, language by language, and a settings file to fix it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::config::{comment, toml};
use super::failure::Failure;
use super::findings::{self, Findings};
use super::output::{number, print, say};
use super::progress::during;
use super::session::Session;
use crate::code::{self, FunctionName, Place, TargetSpec};
use crate::config::{PROJECT_FILE, place_of};
use crate::files;
use crate::language::Language;
use crate::options::{self, Flags, Settings, TESTS};
use crate::trial::{Project, Runner, is_of_tests};
use crate::untrusted::clean;

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Of each language in the project one function that has tests is tried as it is. Nothing is written without --write.

EXAMPLES
  bass-tui init
  bass-tui init --write                    puts what was found into .bass-tui.toml, to be changed there
  bass-tui init packages/parser --timeout 60s

EXIT CODES
  0 every language's tests can be run   1 those of one cannot   2 wrong usage")]
pub struct Args {
    #[arg(value_name = "FOLDER", default_value = ".", help = "A folder of the project")]
    folder: PathBuf,
    /// Write .bass-tui.toml into the project's top folder, if there is none
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    options: Flags<TESTS>,
}

/// The text shown if a language has no tests.
const NO_TESTS: &str = "none found: no examples, and no tests file that calls a function or is named after its file";

/// Most functions whose tests are looked for, which takes a look through the project each.
const MOST_TRIED: usize = 12;

/// Most functions that are tried, until the tests of one notice it.
const MOST_RUN: usize = 4;

/// Longest line of code that is written by hand.
const LONGEST_LINE: usize = 2000;

/// Runs the command; exit code 1 if the tests of a language cannot be run.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let session = Session::open_at(&args.options, Some(&args.folder))?;
    let folder = &args.folder;
    if !folder.is_dir() {
        return Err(Failure::input(format!("{} is no folder: give one of the project", folder.display())));
    }
    let Some((root, package)) = Project::folders(folder) else {
        return Err(Failure::input(format!(
            "there is no project around {}: neither a git repository nor a file such as pyproject.toml, package.json, Cargo.toml or \
             go.mod; files on their own need no settings",
            files::whole_path(folder).display()
        )));
    };
    let path = root.join(PROJECT_FILE);
    if args.write && path.exists() {
        return Err(Failure::input(format!("{} is there already: it was left as it is", path.display())));
    }
    let project = Project { root, package, file: PathBuf::new(), tests: None, only: Vec::new(), lone: None };
    let runner = session.runner();
    let sources = during("reading the project", false, || Sources::of(&project)).map_err(Failure::input)?;
    print(&clean(&format!("project       {}\n", project.root.display())))?;
    let mut all_run = true;
    for language in Language::ALL.iter().filter(|language| sources.count(**language) > 0) {
        print(&clean(&heading(*language, &sources)))?;
        let (text, runs) = about(*language, &sources, &project, &runner, &session.settings);
        print(&clean(&text))?;
        all_run &= runs;
    }
    if args.write {
        let has_python = sources.count(Language::Python) > 0;
        put_first(&path, &settings_file(&project, &runner, &session.settings, has_python))?;
        say(&clean(&format!("bass-tui: {} was written\n", path.display())));
    } else if !path.exists() {
        say(&clean(&format!("bass-tui: --write puts the settings that hold here into {}\n", path.display())));
    }
    Ok(u8::from(!all_run))
}

/// The source files of a project and its tests files, with their texts.
struct Sources {
    root: PathBuf,
    files: Vec<(Language, PathBuf, String)>,
    tests: HashSet<PathBuf>,
}

impl Sources {
    fn of(project: &Project) -> Result<Self, String> {
        let inside = project.root.join(&project.package);
        let paths = project.files()?.into_iter().map(|path| project.root.join(path));
        let paths = paths.filter(|path| path.starts_with(&inside));
        let read = |path: PathBuf| Some((Language::of_path(&path)?, files::text(&path, files::TEXT).ok()?, path));
        let files: Vec<_> = paths.filter_map(read).map(|(language, text, path)| (language, path, text)).collect();
        let languages: HashSet<Language> = files.iter().map(|(language, ..)| *language).collect();
        let tests = languages.iter().flat_map(|language| crate::trial::tests_below(*language, &inside, None)).collect();
        Ok(Self { root: project.root.clone(), files, tests })
    }

    fn count(&self, language: Language) -> usize {
        self.files.iter().filter(|(of, path, _)| *of == language && !self.tests.contains(path)).count()
    }

    /// Returns true if a file is written by hand and neither holds tests nor helps them.
    fn is_code(&self, language: Language, path: &Path, text: &str) -> bool {
        let longest = text.lines().map(str::len).max().unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_packed =
            longest > LONGEST_LINE || [".min.", ".bundle.", "bundle."].iter().any(|part| name.contains(part));
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let is_built = || inside.ancestors().skip(1).any(|folder| Project::is_made(&self.root.join(folder)));
        !self.tests.contains(path) && !is_of_tests(language, inside) && !is_packed && !is_built()
    }

    /// Functions that may have tests, the likeliest first: those that tests files call, of files that hold the
    /// project's own code, finished ones whose name is unique in the project before others; then those that
    /// tests files only mention, and the first ones of the other files.
    fn samples(&self, language: Language) -> Vec<TargetSpec> {
        let of_language = || self.files.iter().filter(|(of, ..)| of.is_kin(language));
        let tests = || of_language().filter(|(_, path, _)| self.tests.contains(path));
        let spoken_of: HashSet<String> = tests().flat_map(|(of, _, text)| code::names(*of, text)).collect();
        let called: HashSet<&str> = tests().flat_map(|(_, _, text)| names_in_calls(text)).collect();
        let own = of_language().filter(|(of, path, text)| *of == language && self.is_code(language, path, text));
        let functions: Vec<(&Path, FunctionName)> = own
            .flat_map(|(of, path, text)| {
                let functions = code::function_names(*of, text).into_iter();
                functions.filter(|function| !function.declaration).map(|function| (path.as_path(), function))
            })
            .collect();
        let last = |name: &str| name.rsplit(['.', ':']).next().unwrap_or_default().to_owned();
        let mut times: HashMap<String, usize> = HashMap::new();
        for (_, function) in &functions {
            *times.entry(last(&function.name)).or_default() += 1;
        }
        let is_meant = |name: &str| spoken_of.contains(&last(name)) && !name.ends_with("__") && last(name) != "main";
        let worth = |path: &Path, FunctionName { name, finished, .. }: &FunctionName| {
            let is_meant = is_meant(name);
            let is_called = is_meant && called.contains(&*last(name));
            let is_product = is_called && !is_aside(path.strip_prefix(&self.root).unwrap_or(path));
            // The others in the order of their files, whose own tests stand last.
            let is_unique = is_meant && times.get(&last(name)) == Some(&1);
            (is_product, is_called, is_meant, is_meant && *finished, is_unique)
        };
        let mut functions: Vec<_> =
            functions.into_iter().map(|(path, function)| (worth(path, &function), path, function)).collect();
        functions.sort_by_key(|(worth, ..)| Reverse(*worth));
        let mut seen: HashSet<&Path> = HashSet::new();
        functions.retain(|((_, _, is_meant, ..), path, _)| *is_meant || seen.insert(path));
        let spec = |(_, path, function): (_, &Path, FunctionName)| TargetSpec {
            path: path.to_path_buf(),
            place: Place::Function(function.name),
        };
        functions.into_iter().take(MOST_TRIED).map(spec).collect()
    }
}

fn heading(language: Language, sources: &Sources) -> String {
    let tests = sources.tests.iter().filter(|path| Language::of_path(path) == Some(language)).count();
    format!("\n{} ({}, {tests} of tests)\n", language.title(), number(sources.count(language), "file"))
}

/// Folders beside the code of a project.
const ASIDE: &[&str] = &[
    "bench", "benches", "benchmark", "benchmarks", "scripts", "script", "examples", "example", "docs", "doc", "tools",
    "website", "demo", "e2e", "perf",
];

/// Returns true if a file is not what a project is for, by its path: benchmarks, scripts, helpers of tests.
fn is_aside(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut parts = name.split(['.', '_', '-']).map(str::to_lowercase);
    let mut folders = path.iter().rev().skip(1).filter_map(|part| part.to_str());
    parts.any(|part| ["bench", "benchmark", "test", "tests", "testing", "testutil"].contains(&&*part))
        || folders.any(|folder| ASIDE.contains(&folder) || Project::is_of_tests(folder))
}

/// The names that stand before an opening bracket.
fn names_in_calls(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('(').map(|(at, _)| {
        let head = &text[..at];
        let begin = head.rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
        let begin = begin.map_or(0, |begin| begin + head[begin..].chars().next().map_or(1, char::len_utf8));
        &head[begin..]
    })
}

/// The setup found for a language, and true if its tests can be run.
fn about(
    language: Language,
    sources: &Sources,
    project: &Project,
    runner: &Runner,
    settings: &Settings,
) -> (String, bool) {
    let mut text = String::new();
    let tool = runner.tool(language, &project.root.join(&project.package));
    let shown =
        tool.as_ref().map_or_else(ToString::to_string, |(program, why)| format!("{} ({why})", program.display()));
    text.extend(["tool          ", &shown, "\n"]);
    if tool.is_err() {
        return (text, false);
    }
    let samples = sources.samples(language).into_iter();
    let mut first = None;
    for sample in samples.filter(|sample| findings::has_tests(sample, settings)).take(MOST_RUN) {
        let (found, runs, is_unnoticed) = match Findings::of(&sample, runner, settings) {
            Ok(findings) => (findings.text_of_tests(), findings.can_be_run(), findings.is_unnoticed()),
            Err(why) => (format!("tests         {}: {why}\n", sample.path.display()), false, false),
        };
        if !is_unnoticed {
            return (text + &first.filter(|_| !runs).unwrap_or(found), runs);
        }
        first.get_or_insert(found);
    }
    match first {
        Some(found) => (text + &found, false),
        None => (text + &format!("tests         {NO_TESTS}\n"), true),
    }
}

/// The settings of the project: the current values, each behind a `#`.
fn settings_file(project: &Project, runner: &Runner, settings: &Settings, has_python: bool) -> String {
    let mut text = "# Settings of bass-tui for this project: above those of your own, below flags.\n\
        # What holds now stands behind each `#`, for `tests` an example; without the `#` a line is fixed.\n"
        .to_owned();
    let package = project.root.join(&project.package);
    for option in options::ALL.iter().filter(|option| option.is_of_projects()) {
        let value = match (option.name, option.value(settings)) {
            ("python", Value::Null) if !has_python => continue,
            ("python", Value::Null) => runner.tool(Language::Python, &package).ok().map(|(program, _)| {
                let program = program.strip_prefix(&project.root).map(Path::to_path_buf).unwrap_or(program);
                Value::from(program.to_string_lossy())
            }),
            ("tests", Value::Null) => Some(Value::from("tests")),
            (_, value) => Some(value),
        };
        if let Some(value) = value.and_then(|value| toml(option, &value)) {
            text.extend(["\n", &comment(option.help()), &format!("# {} = {value}\n", option.setting())]);
        }
    }
    text
}

/// Gives a setting a value in a settings file: in its place if it is there, else above what the file has.
pub fn put(path: &Path, setting: &str, value: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::input(format!("{} cannot be written: {error}", path.display()));
    let before = match files::text(path, files::TEXT) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.map_err(failed)?,
    };
    let Some(place) = place_of(&before, setting) else { return put_first(path, &format!("{setting} = {value}\n")) };
    let text = [&before[..place.start], value, &before[place.end..]].concat();
    files::replace(path, failed, |file| file.write_all(text.as_bytes()).map_err(failed))
}

/// Writes lines at the beginning of a settings file, above what it has; makes the file where it is missing.
pub fn put_first(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::input(format!("{} cannot be written: {error}", path.display()));
    let before = match files::text(path, files::TEXT) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.map_err(failed)?,
    };
    files::replace(path, failed, |file| file.write_all([text, &before].concat().as_bytes()).map_err(failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_code_that_tests_call_come_before_others() {
        let tests = "const m = require('../src/many');\nit('works', () => m.parse('a') === m.events && helper(1) && measure());\n";
        let function = |name: &str| format!("function {name}(x) {{\n  return x;\n}}\n");
        let files = [
            ("benchmarks/measure.js", function("measure")),
            ("src/a_table.js", function("events")),
            ("src/many.bench.js", function("measure")),
            ("src/many.js", function("parse")),
            ("test/util.js", function("helper")),
            ("test/many.test.js", tests.to_owned()),
        ];
        let files = files.map(|(path, text)| (Language::JavaScript, Path::new("/p").join(path), text));
        let tests = HashSet::from([PathBuf::from("/p/test/many.test.js")]);
        let sources = Sources { root: PathBuf::from("/p"), files: files.to_vec(), tests };
        let samples = sources.samples(Language::JavaScript);
        let first = samples.first().map(|spec| (spec.path.clone(), spec.place.clone()));
        assert_eq!(first, Some((PathBuf::from("/p/src/many.js"), Place::Function("parse".to_owned()))));
        let files: Vec<&Path> = samples.iter().map(|spec| spec.path.strip_prefix("/p").unwrap()).collect();
        let events = files.iter().position(|path| *path == Path::new("src/a_table.js"));
        let measure = files.iter().position(|path| *path == Path::new("benchmarks/measure.js"));
        assert!(measure < events, "tests name it and do not call it: {files:?}");
    }
}
