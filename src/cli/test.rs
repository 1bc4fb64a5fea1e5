//! `bass-tui test`: one trial in the sandbox.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::args::ConsentArgs;
use super::failure::{Failure, INTERRUPTED, NOTHING_PASSED};
use super::output::{print, print_json};
use super::progress::during;
use super::session::{Session, check_tests, consent, on_signal};
use crate::code::{FunctionName, Place, Target, TargetSpec, function_names};
use crate::files;
use crate::language::Language;
use crate::options::{Flags, TESTS};
use crate::trial::{Protection, Status, Tests, Trial, TrialError, Verdict};
use crate::untrusted::framed;

/// Arguments of `test`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The candidate runs in a sandbox, in a folder that is empty. The tests see its names and can import it as a module. Plain \
assert lines, check(candidate), test_ functions, unittest classes and doctests all count.

EXAMPLES
  bass-tui test stats.py --tests test_stats.py
  bass-tui test stats.py:rolling_max                       its examples, and the tests file that is found
  bass-tui test stats.py:rolling_max --tests tests         the files of a folder that speak of it
  bass-tui test stats.py:mean --tests test_stats.py::test_mean
  bass-tui test stats.py --tests auto                      the examples of its docstrings
  bass-tui test stats.py:rolling_max --tests check.py --timeout 2s --json
  bass-tui test src/stats.rs:mean --tests src/stats.rs     the tests inside of a crate's own file

EXIT CODES
  0 passed   1 not passed   2 wrong usage or bad input   3 the sandbox failed   130 interrupted")]
pub struct Args {
    #[arg(
        value_name = "CANDIDATE",
        help = "The program under test: FILE, or FILE:FUNCTION or FILE:LINE to name what check(candidate) gets (else the last function)"
    )]
    candidate: String,
    #[arg(
        long,
        value_name = "FILE|auto",
        help_heading = "Tests",
        help = "A tests file, one test of it as FILE::TEST, a folder of them or a pattern, also several times; or auto for \
                the examples in the documentation [default: the examples and the tests file of the function, as far as \
                they are found]"
    )]
    tests: Vec<String>,
    /// Command that tests the candidate: exit code 0 is a pass. {file}, {dir}, {function} and {line} are
    /// filled in
    #[arg(long, value_name = "CMD", help_heading = "Tests", conflicts_with = "tests")]
    test_command: Option<String>,
    #[command(flatten)]
    options: Flags<TESTS>,
    #[command(flatten)]
    consent: ConsentArgs,
    /// Language of the candidate, where the file name does not tell: python, javascript, typescript, rust, go
    #[arg(long, value_name = "L", help_heading = "Tests")]
    language: Option<String>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The candidate: a program, and the function under test in it.
struct Candidate {
    path: PathBuf,
    language: Language,
    program: String,
    functions: Vec<FunctionName>,
    /// The named function, else the last one.
    function: Option<String>,
    is_named: bool,
    /// The function at the given line. Others may have its name.
    at_line: Option<Target>,
}

impl Candidate {
    fn read(spec: TargetSpec, language: Option<&str>) -> Result<Self, Failure> {
        let TargetSpec { path, place } = spec;
        let language = match language {
            Some(name) => Language::by_name(name).ok_or_else(|| {
                let known: Vec<&str> = Language::ALL.iter().map(|l| l.name()).collect();
                Failure::input(format!("--language {name} is not known, expected {}", known.join(", ")))
            })?,
            None => Language::of_path(&path).ok_or_else(|| {
                Failure::input(format!("the language of {} is not known: give --language", path.display()))
            })?,
        };
        let program = files::named_text(&path);
        let program = program.map_err(|why| Failure::input(format!("{} {why}", path.display())))?;
        let functions = function_names(language, &program);
        let at_line = match place {
            Place::Line(_) => {
                let spec = TargetSpec { path: path.clone(), place: place.clone() };
                Some(Target::read(&spec).map_err(Failure::input)?)
            }
            _ => None,
        };
        let function = match (&place, &at_line) {
            (_, Some(target)) => Some(target.name.clone()),
            (Place::Function(name), _) if functions.iter().any(|f| f.name == *name) => Some(name.clone()),
            // A function that is not found may have an unknown form, but its name must occur in the text.
            (Place::Function(name), _) if language != Language::Python && program.contains(name.as_str()) => {
                Some(name.clone())
            }
            (Place::Function(_), _) => {
                let spec = TargetSpec { path: path.clone(), place: place.clone() };
                Some(Target::read(&spec).map_err(Failure::input)?.name)
            }
            _ => {
                let last = functions.iter().rev().find(|f| !f.name.contains('.')).map(|f| f.name.clone());
                last.or_else(|| last_function(&program))
            }
        };
        Ok(Self { is_named: place != Place::Any, path, language, program, functions, function, at_line })
    }

    /// The function in its file.
    fn target(&self) -> Result<Target, Failure> {
        if let Some(target) = &self.at_line {
            return Ok(target.clone());
        }
        let place = self.function.clone().map_or(Place::Any, Place::Function);
        Target::read(&TargetSpec { path: self.path.clone(), place }).map_err(Failure::input)
    }

    /// The tests, and their name for the reader if the user has not named them.
    fn tests(&self, command: Option<&str>, names: &[String]) -> Result<(Tests, Option<String>), Failure> {
        let Self { path, language, functions, function, .. } = self;
        let words: Vec<&str> = names.iter().map(String::as_str).collect();
        match (command, &words[..]) {
            (Some(command), _) => {
                let named = functions.iter().find(|f| Some(&f.name) == function.as_ref()).map(|f| f.line);
                let line = self.at_line.as_ref().map(|target| target.line).or(named);
                let tests = Tests::of_command(command, *language, Some(path), line).map_err(Failure::input)?;
                Ok((tests, None))
            }
            (None, []) => {
                let target = self.target()?;
                let (tests, what) = Tests::usual(&target, Tests::found(&target)).ok_or_else(|| {
                    Failure::input(format!(
                        "no tests were found for {} of {}: {}, and no tests file calls it or is named after its file; give --tests FILE",
                        target.name,
                        path.display(),
                        Tests::examples(&target).err().unwrap_or_default()
                    ))
                })?;
                Ok((tests, Some(what)))
            }
            (None, ["none"]) => {
                Err(Failure::input("--tests none leaves nothing to do: give --tests FILE or --tests auto"))
            }
            (None, ["auto"]) if *language != Language::Python => match Tests::examples(&self.target()?) {
                Ok((tests, _)) => Ok((tests, None)),
                Err(why) => Err(Failure::input(format!("--tests auto takes examples, and {why}: give --tests FILE"))),
            },
            (None, ["auto"]) => Ok((Tests::of_examples(Some(path)), None)),
            (None, _) => {
                let function = function.as_deref().filter(|_| self.is_named);
                let (tests, what) = Tests::named(names, *language, Some(path), function).map_err(Failure::input)?;
                let what = matches!(tests, Tests::Several(_)).then_some(what);
                Ok((tests, what))
            }
        }
    }
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let spec = TargetSpec::parse(&args.candidate).map_err(Failure::input)?;
    let session = Session::open_at(&args.options, Some(&spec.path))?;
    let candidate = Candidate::read(spec, args.language.as_deref())?;
    let names = session.settings.tests_or(&args.tests);
    let (tests, label) = candidate.tests(args.test_command.as_deref(), names)?;
    let Candidate { path, language, program, function, is_named, at_line, .. } = candidate;
    let runner = consent(session.runner(), args.consent.unprotected)?;
    check_tests(&runner, Some(language), Some(&path), &tests)?;

    let limits = session.settings.limits;
    // Only a named function is the one under test. Otherwise it is the whole file, with all its examples.
    let stub = is_named.then(|| program.clone());
    let takes_examples = args.test_command.is_none() && matches!(names, [auto] if auto == "auto");
    let is_of_all = takes_examples && language == Language::Python && !is_named;
    let entry_point = function.filter(|_| !is_of_all);
    let line = at_line.map(|target| target.line);
    let trial = Trial { language, program, file: Some(path), entry_point, line, tests, stub, limits };
    let cancel = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&cancel);
    on_signal(move || interrupted.store(true, Ordering::Relaxed));
    let what = "running the tests, the first time also without the candidate";
    let mut verdict = during(what, args.json, || runner.run(&trial, &cancel)).map_err(|error| match error {
        TrialError::Tests(_) => Failure::input(error),
        error => Failure::internal(error),
    })?;
    if args.json {
        verdict.tests = verdict.tests.or(label);
        print_json(&json(&verdict, runner.protection()))?;
    } else {
        print(&text(&verdict, label.as_deref(), runner.protection()))?;
    }
    Ok(match verdict.status {
        _ if cancel.load(Ordering::Relaxed) => INTERRUPTED,
        Status::Passed => 0,
        _ => NOTHING_PASSED,
    })
}

/// The last function that a line without indentation begins, in the languages that say `function`, `fn` or
/// `func`.
fn last_function(program: &str) -> Option<String> {
    program.lines().rev().find_map(|line| {
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
        words
            .find(|word| matches!(*word, "function" | "fn" | "func"))
            .filter(|_| !line.starts_with([' ', '\t', '/']))?;
        words.find(|word| !word.is_empty()).map(str::to_owned)
    })
}

/// The verdict object of the contract, with the protection that was active.
fn json(verdict: &Verdict, protection: &Protection) -> String {
    #[derive(Serialize)]
    struct Json<'a> {
        #[serde(flatten)]
        verdict: &'a Verdict,
        protection: &'a Protection,
    }
    serde_json::to_string(&Json { verdict, protection }).unwrap_or_default()
}

fn text(verdict: &Verdict, tests: Option<&str>, protection: &Protection) -> String {
    let (status, message) = (verdict.status.word(), framed(&verdict.words()));
    let mut out = format!("{status}: {message} ({}; {})\n", verdict.time(), protection.summary);
    // The verdict names the tests that decided, where others were tried first.
    if let Some(tests) = tests.filter(|_| verdict.tests.is_none()) {
        out.extend(["    tests: ", &framed(tests), "\n"]);
    }
    let by = [verdict.assurance.runner.as_str(), verdict.interpreter.as_deref().unwrap_or_default()];
    let by: Vec<&str> = by.into_iter().filter(|part| !part.is_empty()).collect();
    if !by.is_empty() {
        out.extend(["    with ", &framed(&by.join(", ")), "\n"]);
    }
    // Marks printed text of the code, so that it is not mistaken for our own.
    if !verdict.output.trim().is_empty() {
        out.extend(["    ", &framed(&verdict.output), "\n"]);
    }
    out
}
