//! Calls of a function on inputs, to compare what candidates do. They are no tests: nothing is judged here.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::case::{Lone, Trial};
use super::error::TrialError;
use super::language::{self, Context, TrialLanguage};
use super::project::Project;
use super::project::lone::{Lones, folder_of};
use crate::language::Language;
use crate::sandbox::{Ended, Limits, Run};
use crate::untrusted::clean_line;

/// Function of the observers that makes a file for one call, of a name and a text, in the calls' folder.
/// It returns the name.
pub const FILE_MAKER: &str = "a_file";
/// The function that makes a folder, of a name and the texts of its files by their names.
pub const FOLDER_MAKER: &str = "a_folder";

/// The function that makes a function that returns nothing, whose calls are part of what a call does.
pub const CALLBACK_MAKER: &str = "a_callback";

/// The function that makes an object of a name that stands for any other, and whose calls are part of what a
/// call does.
pub const STUB_MAKER: &str = "a_stub";

/// The function that makes an asynchronous function of another one, in Python.
pub const ASYNC_MAKER: &str = "an_async";
/// The function that makes a coroutine which gives a value, in Python.
pub const COROUTINE_MAKER: &str = "a_coroutine";
/// The function that makes an asynchronous iterator of a list, in Python.
pub const STREAM_MAKER: &str = "an_async_iterator";

/// Parts of keys behind the result, as the observers write them: calls of functions that are given, and
/// sleep.
pub const EFFECTS: [&str; 2] = ["calls what it is given with", "sleeps"];

/// A call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Input {
    /// The expression that is called.
    pub callee: String,
    /// The arguments as they are written between the parentheses.
    pub arguments: String,
    /// The result that the user's text states, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Calls before, of methods of the same object, or of the same function that a call returns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
    /// True for a property: it is read and not called.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_read: bool,
    /// True where the documentation names a value as one that the function takes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_meant: bool,
    /// True where all arguments are plain values of the types that the function declares.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_typed: bool,
}

/// A call before the one that is looked at, of the same object or function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Earlier {
    /// The name of the method; none for the function itself.
    pub method: String,
    /// The arguments as they are written between the parentheses.
    pub arguments: String,
}

impl Input {
    /// The call for a reader.
    pub fn text(&self) -> String {
        let last = |name: &str| if self.is_read { name.to_owned() } else { format!("{name}({})", self.arguments) };
        let Some(first) = self.earlier.first() else { return last(&self.callee) };
        let (begin, name) = match self.callee.rsplit_once('.') {
            Some((object, name)) if !first.method.is_empty() => (format!("{object}."), name),
            _ => (self.callee.clone(), ""),
        };
        let earlier = self.earlier.iter().map(|call| format!("{}({})", call.method, call.arguments));
        begin + &earlier.chain([last(name)]).collect::<Vec<_>>().join(", then ")
    }

    /// Returns true if it calls what another call returns.
    pub fn is_of_returned(&self) -> bool {
        self.callee.ends_with(')')
    }

    /// Why its text is not the call as code has it, if it is not: a sentence without its end.
    pub fn is_no_code(&self) -> Option<&'static str> {
        let earlier = self.earlier.iter().map(|call| &call.arguments);
        let texts = [&self.callee, &self.arguments].into_iter().chain(earlier);
        let makes = |maker: &str| texts.clone().any(|text| text.contains(&format!("{maker}(")));
        match () {
            () if self.earlier.iter().any(|call| call.method.is_empty()) => Some("these are several of one function"),
            () if !self.earlier.is_empty() => Some("these are several on one object"),
            () if makes(CALLBACK_MAKER) => Some("this one needs a function that is made for it"),
            () if makes(STUB_MAKER) => Some("this one needs an object that is made for it"),
            () if [ASYNC_MAKER, COROUTINE_MAKER, STREAM_MAKER].into_iter().any(makes) => {
                Some("this one needs something to await that is made for it")
            }
            () if makes(FILE_MAKER) || makes(FOLDER_MAKER) => Some("this one needs a file that is made for it"),
            () => None,
        }
    }
}

/// Kinds of ends of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The function returned.
    Returned,
    /// It raised an error.
    Raised,
    /// It took too long, or ended the process.
    Late,
    /// It was not made, or its result cannot be compared.
    #[default]
    Unknown,
    /// The code cannot be loaded.
    Unloaded,
}

/// The outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// How it ended.
    pub effect: Effect,
    /// Equal for calls that do the same: result and changed arguments, or the type of the error.
    pub key: String,
    /// Words for the reader.
    pub shown: String,
    /// The result as an interpreter prints it, if that is short.
    pub value: Option<String>,
    /// True if it returns the stated result; `None` if none is stated.
    pub is_right: Option<bool>,
    /// True if a second call did something else.
    pub is_unsteady: bool,
}

impl Observed {
    /// The part that is compared. `None` for a call that agrees with nothing.
    pub fn outcome(&self) -> Option<(Effect, &str)> {
        let is_told = matches!(self.effect, Effect::Returned | Effect::Raised) && !self.is_unsteady;
        is_told.then_some((self.effect, self.key.as_str()))
    }

    /// Returns true if the call was made, and its result is of a kind that cannot be compared.
    pub fn is_incomparable(&self) -> bool {
        self.effect == Effect::Unknown && self.shown == INCOMPARABLE
    }

    fn late(why: &str) -> Self {
        Self { effect: Effect::Late, shown: why.to_owned(), ..Self::default() }
    }
}

/// A line of an observer's report.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Call {
        at: usize,
        effect: Effect,
        key: String,
        shown: String,
        right: Option<bool>,
        value: Option<String>,
    },
    Unsteady {
        unsteady: usize,
    },
    Error {
        error: String,
    },
    /// A way to load the code has failed with this error, and another one is tried; null once it is loaded.
    Tried {
        tried: Option<String>,
    },
}

/// Longest wall time of a candidate's calls, and most starts of its process.
const WALL: Duration = Duration::from_secs(4);
const STARTS: usize = 2;
/// Words of the observers for a result that says nothing when it is compared, such as a function.
const INCOMPARABLE: &str = "a result that cannot be compared";
/// Words before the error of a file that cannot be loaded with any body.
pub const AROUND: &str = "the code around it fails with any body: ";
/// Words before the error of a file that is well written and cannot be loaded here, with any body.
pub const NOT_HERE: &str = "the file cannot be loaded here, with any body: ";
/// Errors by which the text of a file is at fault, and those among them by which something around it is
/// missing: a program that does more than remove types, and a module with what is imported.
const OF_TEXT: &[&str] = &["SyntaxError", "IndentationError", "TabError"];
const OF_SURROUNDINGS: &[&str] = &["strip-only mode", "does not provide an export named"];
/// Columns of a result.
const COLUMNS: usize = 200;

/// Calls the function of a trial's program on the inputs. `run` runs the observer of its language on some of
/// them. A call that ends the process costs only its own outcome.
pub fn observe(
    inputs: &[Input],
    limits: Limits,
    mut run: impl FnMut(&[Input], Limits) -> Result<Run, TrialError>,
) -> Result<Vec<Observed>, TrialError> {
    let mut all: Vec<Observed> = Vec::new();
    for _ in 0..STARTS {
        let begin = all.len();
        let run = run(&inputs[begin..], Limits { wall: WALL.min(limits.wall), ..limits })?;
        let mut told = read(&run.record, inputs.len() - begin);
        let is_over = begin + told.len() == inputs.len() || run.ended == Ended::Cancelled;
        if !is_over {
            let why = match run.ended {
                Ended::WallLimit => "it does not end",
                Ended::MemoryLimit => "it takes too much memory",
                _ => "it ends the process",
            };
            told.push(Observed::late(why));
        }
        all.append(&mut told);
        if is_over || all.len() == inputs.len() {
            break;
        }
    }
    all.resize(inputs.len(), Observed::late("it was not called"));
    Ok(all)
}

/// The calls of a report, in order, up to the first that is missing. The report is untrusted.
fn read(record: &[u8], most: usize) -> Vec<Observed> {
    let (mut all, mut failed): (Vec<Observed>, Option<String>) = (Vec::new(), None);
    let unloaded = |error: &str| {
        let shown = clean_line(error, COLUMNS);
        vec![Observed { effect: Effect::Unloaded, shown, ..Observed::default() }; most]
    };
    for line in record.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()) {
        match line {
            Line::Call { at, effect, key, shown, right, value } if at == all.len() && at < most => {
                // A terminal would write what follows over what is there.
                let shown = clean_line(&shown.replace('\r', "\\r"), COLUMNS);
                let value = value.filter(|value| clean_line(value, COLUMNS) == *value);
                all.push(Observed { effect, key, shown, value, is_right: right, is_unsteady: false });
            }
            Line::Unsteady { unsteady } => {
                all.get_mut(unsteady).into_iter().for_each(|observed| observed.is_unsteady = true);
            }
            Line::Error { error } if all.is_empty() => {
                all = unloaded(&error);
                failed = None;
            }
            Line::Tried { tried } => failed = tried,
            _ => {}
        }
    }
    match failed {
        Some(error) if all.is_empty() => unloaded(&error),
        _ => all,
    }
}

/// Returns true if the error of a file that cannot be loaded says that its text has to be mended.
fn is_of_text(error: &str, language: Language) -> bool {
    // Node marks what its reader of types does not read; what it takes is TypeScript.
    let is_read = language == Language::TypeScript && !error.contains(" x ");
    let is_around = OF_SURROUNDINGS.iter().any(|words| error.contains(words));
    OF_TEXT.iter().any(|name| error.starts_with(name)) && !is_read && !is_around
}

/// [`super::Runner::observe`].
pub fn observe_trial(
    at: &Context,
    lones: &Lones,
    language: &dyn TrialLanguage,
    trial: &Trial,
    inputs: &[Input],
) -> Result<Vec<Observed>, TrialError> {
    let row = language::row(trial.language);
    let project = trial.file.as_deref().and_then(|file| Project::around(file, None));
    let project = project.map_or_else(
        || {
            let folder = trial.file.as_deref().and_then(folder_of);
            lones.project(trial, &Lone { tests: None, only: Vec::new(), folder }, row.lay_out)
        },
        Ok,
    )?;
    let mut all = language.observe(at, trial, &project, inputs)?;
    let unloaded = |all: &[Observed]| Some(all.first().filter(|one| one.effect == Effect::Unloaded)?.shown.clone());
    if let Some(why) = unloaded(&all)
        && let Some(program) = trial.with_vacuity_body(&row.bodies[1]).and_then(|all| all.into_iter().next())
    {
        // The file may not be loaded with any other body either.
        let other = Trial { program, ..trial.clone() };
        let told = language.observe(at, &other, &project, &inputs[..1])?;
        let why = trial.in_own_lines(&why);
        if unloaded(&told).is_some_and(|told| other.in_own_lines(&told) == why) {
            let is_of_text = is_of_text(&why, trial.language);
            for one in &mut all {
                one.shown = format!("{}{why}", if is_of_text { AROUND } else { NOT_HERE });
                // It says nothing of the candidate.
                one.effect = if is_of_text { Effect::Unloaded } else { Effect::Unknown };
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(ended: Ended, record: &str) -> Run {
        let (output, elapsed) = (String::new(), Duration::ZERO);
        Run { ended, has_started: true, record: record.as_bytes().to_vec(), output, elapsed }
    }

    fn inputs(count: usize) -> Vec<Input> {
        let one = |at: usize| Input { callee: "f".to_owned(), arguments: at.to_string(), ..Input::default() };
        (0..count).map(one).collect()
    }

    fn call(at: usize, key: &str) -> String {
        format!("{{\"at\":{at},\"effect\":\"returned\",\"key\":\"{key}\",\"shown\":\"{key}\",\"right\":null}}\n")
    }

    #[test]
    fn a_call_that_ends_the_process_costs_only_its_own_outcome() {
        let mut reports = vec![
            run(Ended::Exited(0), &(call(0, "d") + "{\"unsteady\":0}\n")),
            run(Ended::Exited(7), &(call(0, "a") + &call(1, "b"))),
        ];
        let mut asked = Vec::new();
        let all = observe(&inputs(4), Limits::default(), |some, _| {
            asked.push(some[0].arguments.clone());
            Ok(reports.pop().unwrap())
        });
        let told: Vec<_> = all.unwrap().iter().map(|o| o.outcome().map_or("none", |(_, key)| key).to_owned()).collect();
        assert_eq!(
            (told, asked),
            (["a", "b", "none", "none"].map(str::to_owned).to_vec(), vec!["0".into(), "3".into()])
        );
    }

    #[test]
    fn a_message_keeps_what_stands_before_a_carriage_return() {
        let told = read(call(0, "x\\r4").as_bytes(), 1);
        assert_eq!(told[0].shown, "x\\r4");
    }

    #[test]
    fn a_file_that_lacks_something_here_need_not_be_mended() {
        use Language::{JavaScript, Python, TypeScript};
        for (language, error, is_of_text) in [
            (Python, "SyntaxError: '(' was never closed (f.py, line 3)", true),
            (Python, "ModuleNotFoundError: No module named 'requests'", false),
            (Python, "KeyError: 'DATABASE_URL'", false),
            (JavaScript, "SyntaxError: Unexpected token '}'", true),
            (JavaScript, "Error: Cannot find package 'zod' imported from /run/f.js", false),
            (TypeScript, "SyntaxError:   x Expected ',', got '}' ,-[3:1]", true),
            (TypeScript, "SyntaxError:   x TypeScript enum is not supported in strip-only mode ,-[3:1]", false),
            (TypeScript, "SyntaxError: The requested module './a.ts' does not provide an export named 'A'", false),
            (TypeScript, "SyntaxError: Invalid or unexpected token", false),
        ] {
            assert_eq!(super::is_of_text(error, language), is_of_text, "{error}");
        }
    }

    #[test]
    fn a_report_is_untrusted() {
        let record =
            "no json\n".to_owned() + &call(5, "x") + "{\"unsteady\":9}\n" + &call(0, "\\u001b[2Ja") + &call(1, "b");
        let told = read(record.as_bytes(), 1);
        assert_eq!((told.len(), told[0].shown.contains('\u{1b}')), (1, false));
        let told = read(b"{\"error\":\"NameError: x\"}\n", 2);
        let is_unloaded =
            |o: &Observed| o.effect == Effect::Unloaded && o.shown == "NameError: x" && o.outcome().is_none();
        assert!(told.len() == 2 && told.iter().all(is_unloaded));
        // The process ends while another way to load the code is tried, and in the first call.
        let tried = "{\"tried\":\"NameError: x\"}\n".to_owned();
        let told = read(tried.as_bytes(), 2);
        assert!(told.len() == 2 && told.iter().all(is_unloaded));
        assert!(read((tried + "{\"tried\":null}\n").as_bytes(), 2).is_empty());
        let all = observe(&inputs(3), Limits::default(), |_, _| Ok(run(Ended::WallLimit, ""))).unwrap();
        assert!(all.len() == 3 && all.iter().all(|observed| observed.outcome().is_none()));
    }
}
