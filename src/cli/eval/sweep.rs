//! A sweep of `eval`: each value of some options with each, one run after another.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::failure::{Failure, INTERRUPTED, NOTHING_PASSED};
use super::super::output::{print, print_json, say};
use super::super::session::{Session, served};
use super::score::Setup;
use crate::eval::{Ended, Sweep};
use crate::hash;
use crate::options::{self, GENERATION, MODELS, OptionSpec, SAMPLING, Settings, did_you_mean};
use crate::source::Source;
use crate::untrusted::clean_line;

/// Most runs: more is a typing error.
const MOST: usize = 100;
/// Most characters of the name of a results file.
const LONGEST_NAME: usize = 100;
/// The form of `--sweep`.
const EXPECTED: &str = "expected OPTION=VALUE,VALUE such as temperature=0.2,0.8";

/// A run.
pub struct Point {
    /// Its options and their values.
    values: Vec<(&'static OptionSpec, String)>,
    /// All its settings.
    pub settings: Settings,
}

impl Point {
    /// `temperature 0.2, n 4`.
    fn words(&self) -> String {
        let words = self.values.iter().map(|(option, value)| format!("{} {}", option.name, clean_line(value, 60)));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The name of its results file, `temperature=0.2,n=4.jsonl`. Values that are no names (paths) are told apart
    /// by their hash.
    fn file_name(&self) -> String {
        let words: Vec<String> = self.values.iter().map(|(option, value)| format!("{}={value}", option.name)).collect();
        let words = words.join(",");
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "=,.-_".contains(c);
        let name: String = words.chars().take(LONGEST_NAME).map(|c| if is_of_name(c) { c } else { '_' }).collect();
        if name == words {
            format!("{name}.jsonl")
        } else {
            format!("{name}-{:016x}.jsonl", hash::of(words.as_bytes()))
        }
    }

    /// The values that decide which models are loaded.
    fn models(&self) -> Vec<&str> {
        let is_of_models = |name: &str| options::of(MODELS).any(|option| option.name == name);
        self.values.iter().filter(|(option, _)| is_of_models(option.name)).map(|(_, value)| value.as_str()).collect()
    }
}

/// The runs of `--sweep OPTION=VALUE,VALUE`, in their order. Runs with the same models follow each other.
pub fn grid(sweeps: &[String], session: &Session) -> Result<Vec<Point>, Failure> {
    if sweeps.is_empty() {
        return Ok(Vec::new());
    }
    let axes: Result<Vec<_>, String> = sweeps.iter().map(|text| axis(text)).collect();
    let mut points = points(axes.map_err(Failure::input)?, &session.settings).map_err(Failure::input)?;
    for point in &mut points {
        served(&mut point.settings, &session.catalog)?;
    }
    Ok(points)
}

/// An option and its values.
fn axis(text: &str) -> Result<(&'static OptionSpec, Vec<&str>), String> {
    let (name, values) = text.split_once('=').ok_or_else(|| format!("--sweep has `{text}`, {EXPECTED}"))?;
    let name = name.trim().trim_start_matches('-');
    let all = || options::of(MODELS | GENERATION | SAMPLING).filter(|option| !option.is_list());
    let option = all().find(|option| option.name == name).ok_or_else(|| {
        let near = did_you_mean(name, all().map(|option| option.name));
        format!("--sweep: there is no option `{name}` of models, generation or sampling, {EXPECTED}{near}")
    })?;
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    match values.iter().find(|value| value.is_empty() || values.iter().filter(|other| other == value).count() > 1) {
        Some(&"") => Err(format!("--sweep {name} has an empty value, {EXPECTED}")),
        Some(value) => Err(format!("--sweep {name} has `{value}` twice: each value is one run")),
        None => Ok((option, values)),
    }
}

/// Each value with each, the models slowest.
fn points(mut axes: Vec<(&'static OptionSpec, Vec<&str>)>, own: &Settings) -> Result<Vec<Point>, String> {
    let twice = |at: usize| axes[..at].iter().any(|(option, _)| option.name == axes[at].0.name);
    if let Some(at) = (0..axes.len()).find(|&at| twice(at)) {
        return Err(format!("--sweep has {} twice: give all its values at once", axes[at].0.name));
    }
    let count = axes.iter().try_fold(1, |count: usize, (_, values)| count.checked_mul(values.len()));
    if count.is_none_or(|count| count > MOST) {
        let count = count.map_or_else(|| "very many".to_owned(), |count| count.to_string());
        return Err(format!("--sweep asks for {count} runs, and at most {MOST} are made: give fewer values"));
    }
    axes.sort_by_key(|(option, _)| !options::of(MODELS).any(|other| other.name == option.name));
    let mut all = vec![Point { values: Vec::new(), settings: own.clone() }];
    for (option, values) in axes {
        let mut next = Vec::new();
        for point in &all {
            for value in &values {
                let mut settings = point.settings.clone();
                let wrong = |expected| format!("--sweep {} has `{value}`, expected {expected}", option.name);
                option.set(&mut settings, value).map_err(wrong)?;
                let values = point.values.iter().cloned().chain([(option, (*value).to_owned())]).collect();
                next.push(Point { values, settings });
            }
        }
        all = next;
    }
    Ok(all)
}

/// Makes the runs and prints the table of them.
pub fn run(setup: &Setup, session: &Session, grid: &[Point]) -> Result<u8, Failure> {
    let names =
        grid.first().map_or_else(Vec::new, |point| point.values.iter().map(|(o, _)| o.name.to_owned()).collect());
    let mut sweep = Sweep::by(names, setup.args.rank);
    if let Some(folder) = &setup.args.results {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::input(format!(
                "--results {} cannot be made a folder of results: {error}; with --sweep it is one",
                clean_line(&folder.display().to_string(), 200)
            ))
        })?;
    }
    let (count, mut code, mut source) = (grid.len(), NOTHING_PASSED, None::<(Vec<String>, Arc<dyn Source>)>);
    for (at, point) in grid.iter().enumerate() {
        if !setup.args.json {
            say(&format!("bass-tui: run {} of {count}: {}\n", at + 1, point.words()));
        }
        let models: Vec<String> = point.models().into_iter().map(str::to_owned).collect();
        // The models before have to make room first.
        let open = match source.take().filter(|(of, _)| *of == models) {
            Some((_, open)) => open,
            None => Session { settings: point.settings.clone(), ..session.clone() }.source(setup.args.rounds)?,
        };
        let file: Option<PathBuf> = setup.args.results.as_ref().map(|folder| folder.join(point.file_name()));
        let scored = setup.score(&point.settings, Some(&open), None, file.as_deref())?;
        source = Some((models, open));
        let values: Vec<String> = point.values.iter().map(|(_, value)| value.clone()).collect();
        sweep.add(&values, &setup.report(&scored)).map_err(Failure::internal)?;
        code = code.min(super::code(&scored.results));
        if scored.ended != Ended::Done {
            let ended = format!("{} in run {} of {count}", scored.ended.name(), at + 1);
            say(&format!("bass-tui: {ended}: {}\n", setup.args.how_to_go_on(scored.results.len(), setup.ids.len())));
            code = if scored.ended == Ended::Interrupted { INTERRUPTED } else { code };
            break;
        }
    }
    if setup.args.json {
        print_json(&sweep.json().map_err(Failure::internal)?)?;
    } else {
        print(&sweep.table())?;
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sweeps: &[&str]) -> Result<Vec<String>, String> {
        let axes: Result<Vec<_>, String> = sweeps.iter().map(|text| axis(text)).collect();
        Ok(points(axes?, &Settings::default())?.iter().map(Point::words).collect())
    }

    #[test]
    fn each_value_goes_with_each_and_the_models_change_least() {
        let all = told(&["temperature=0.2, 0.8", "draft=none,auto", "n=4"]).unwrap();
        let expected = [
            "draft none, temperature 0.2, n 4", "draft none, temperature 0.8, n 4", "draft auto, temperature 0.2, n 4",
            "draft auto, temperature 0.8, n 4",
        ];
        assert_eq!(all, expected);
        let points = points(vec![axis("n=4,8").unwrap()], &Settings::default()).unwrap();
        assert_eq!(points.iter().map(|point| point.settings.generate.n).collect::<Vec<_>>(), [4, 8]);
    }

    #[test]
    fn each_run_has_a_results_file_of_its_own() {
        let names = |sweeps: &[&str]| {
            let axes: Vec<_> = sweeps.iter().map(|text| axis(text).unwrap()).collect();
            points(axes, &Settings::default()).unwrap().iter().map(Point::file_name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["temperature=0.2", "n=4,8"]), ["temperature=0.2,n=4.jsonl", "temperature=0.2,n=8.jsonl"]);
        let of_paths = names(&["model=../a/b,../a_b"]);
        assert!(of_paths[0].starts_with("model=.._a_b-") && of_paths[0] != of_paths[1], "{of_paths:?}");
        let long = "m".repeat(300);
        assert!(names(&[&format!("model={long}")])[0].len() < 130);
    }

    #[test]
    fn mistakes_are_sentences() {
        for (sweeps, words) in [
            (&["temperature"][..], "--sweep has `temperature`, expected OPTION=VALUE"),
            (&["temprature=1"], "no option `temprature`"),
            (&["temprature=1"], "did you mean `temperature`"),
            (&["timeout=1s"], "no option `timeout`"),
            (&["n=4,,8"], "--sweep n has an empty value"),
            (&["n=4,4"], "--sweep n has `4` twice"),
            (&["n=4", "n=8"], "--sweep has n twice"),
            (&["n=4,many"], "--sweep n has `many`, expected "),
            (&["seed=1,2,3,4,5,6,7,8,9,10,11", "n=1,2,3,4,5,6,7,8,9,10"], "asks for 110 runs"),
        ] {
            let why = told(sweeps).unwrap_err();
            assert!(why.contains(words), "{why}");
        }
    }
}
