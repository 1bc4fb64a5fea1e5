//! `bass-tui` without a command: the screen.

use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{ConsentArgs, TestArgs};
use super::complete::read_text;
use super::failure::{Failure, INTERRUPTED};
use super::first::{self, First};
use super::live::LiveSettings;
use super::memory::advice;
use super::output::{print, say};
use super::plain;
use super::session::Session;
use crate::code::{CodeError, Place, Target, TargetSpec, function_names};
use crate::files;
use crate::history::Kept;
use crate::job::{Job, Task, TestsChoice, TrialPool};
use crate::language::Language;
use crate::options::{
    COMPARING, Flags, GENERATION, HISTORY, MODELS, PROMPTS, SAMPLING, SCREEN, SERVER, TESTS, did_you_mean,
};
use crate::trial::{Project, Runner};
use crate::tui;

/// Start of the screen.
enum Start {
    /// This function.
    Function(TargetSpec),
    /// The functions of a file, of which none was named and none is the only unfinished one.
    File(PathBuf),
    /// The functions below a folder.
    Folder(PathBuf),
    /// A prompt that was piped in.
    Text(String),
}

impl Start {
    fn of(target: Option<&str>) -> Result<Self, Failure> {
        let Some(target) = target else { return Ok(Self::Folder(root(Path::new("")))) };
        if Path::new(target).is_dir() {
            return Ok(Self::Folder(target.into()));
        }
        let spec = TargetSpec::parse(target).map_err(Failure::input)?;
        Ok(if spec.place == Place::Any && are_several(&spec.path) {
            Self::File(spec.path)
        } else {
            Self::Function(spec)
        })
    }

    /// The file or folder whose settings hold.
    fn path(&self) -> &Path {
        match self {
            Self::Function(TargetSpec { path, .. }) | Self::File(path) | Self::Folder(path)
                if path.as_os_str().is_empty() =>
            {
                Path::new(".")
            }
            Self::Function(TargetSpec { path, .. }) | Self::File(path) | Self::Folder(path) => path,
            Self::Text(_) => Path::new("."),
        }
    }

    /// The folder to choose from.
    fn root(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.clone(),
            Self::Text(_) => root(Path::new("")),
            Self::Function(TargetSpec { path, .. }) | Self::File(path) => root(path.parent().unwrap_or(Path::new(""))),
        }
    }

    fn file(&self) -> Option<PathBuf> {
        if let Self::File(file) = self { Some(file.clone()) } else { None }
    }

    /// The picker is open.
    fn is_open(&self) -> bool {
        matches!(self, Self::File(_) | Self::Folder(_))
    }

    /// The job until another function is chosen.
    fn job(&self, tests: &TestsChoice) -> Result<Job, Failure> {
        let read = |spec: &TargetSpec| {
            Job::from_target(Target::read(spec).map_err(Failure::input)?, tests).map_err(Failure::input)
        };
        // Tests that were named are for the function that will be chosen.
        let example = || Job::example(tests).or_else(|_| Job::example(&TestsChoice::None)).map_err(Failure::input);
        match self {
            Self::Function(spec) => read(spec),
            Self::File(file) => read(&TargetSpec { path: file.clone(), place: Place::Any }).or_else(|_| example()),
            Self::Folder(_) => example(),
            Self::Text(text) if text.trim().is_empty() => {
                Err(Failure::input("the prompt on stdin is empty: there is nothing to complete"))
            }
            Self::Text(text) => Job::from_text(text, tests).map_err(Failure::input),
        }
    }
}

/// The project around a folder, else the folder; empty for the current one, so that paths stay short.
fn root(folder: &Path) -> PathBuf {
    let Some((root, _)) = Project::folders(folder) else { return folder.to_path_buf() };
    let is_here = std::env::current_dir().and_then(|here| here.canonicalize()).is_ok_and(|here| here == root);
    if is_here { PathBuf::new() } else { root }
}

/// Several functions of a file may be meant, because not exactly one is unfinished.
fn are_several(file: &Path) -> bool {
    let read = || Some(function_names(Language::of_path(file)?, &files::text(file, files::TEXT).ok()?));
    let functions: Vec<_> = read().into_iter().flatten().filter(|function| !function.declaration).collect();
    functions.len() > 1 && functions.iter().filter(|function| !function.finished).count() != 1
}

/// Arguments of the screen.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(
        value_name = "FILE[:FUNCTION|:LINE]|FOLDER",
        help = "The function to complete: FILE:FUNCTION, FILE:Class::method, FILE:LINE or FILE; or a FOLDER to choose one \
                from. Without it: the prompt on stdin if that is piped, else one of this project, or a built-in example \
                where there is none"
    )]
    target: Option<String>,
    #[command(flatten)]
    screen: ScreenArgs,
}

/// Arguments of the screen beside the function.
#[derive(Debug, clap::Args)]
pub struct ScreenArgs {
    #[command(flatten)]
    options: Flags<{ MODELS | SERVER | GENERATION | SAMPLING | TESTS | COMPARING | PROMPTS | SCREEN | HISTORY }>,
    #[command(flatten)]
    tests: TestArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// The terminal or the user has no use for a screen.
fn is_plain(var: impl Fn(&str) -> Option<String>) -> bool {
    var("TERM").is_some_and(|term| term == "dumb") || var("ACCESSIBLE").is_some_and(|v| !v.is_empty() && v != "0")
}

/// Runs the screen on the terminal, wherever stdin and stdout lead. Code that is for stdout is printed after
/// the screen has closed. A word that is no file, and nearly one of `commands`, is taken for that.
pub fn run<'a>(args: &Args, commands: impl Iterator<Item = &'a str>) -> Result<u8, Failure> {
    if let Some(word) = args.target.as_deref().filter(|word| !Path::new(word).exists()) {
        let hint = did_you_mean(word, commands);
        if !hint.is_empty() {
            return Err(Failure::input(format!("there is neither a command nor a file `{word}`{hint}")));
        }
    }
    expect_terminal()?;
    let start = if args.target.is_none() && !stdin().is_terminal() {
        Start::Text(read_text(Path::new("-"), "prompt")?)
    } else {
        Start::of(args.target.as_deref())?
    };
    let mut session = Session::open_at(&args.screen.options, Some(start.path()))?;
    remember_theme(&mut session);
    let choice = args.screen.tests.choice(&session.settings);
    let job = start.job(&choice)?;
    if session.settings.plain || is_plain(|name| std::env::var(name).ok()) {
        return plain::run(&session, job.showing(session.settings.prompt), args.screen.consent.unprotected);
    }
    // Who names a function wants candidates, not a question.
    let first = if start.is_open() { first::ask(&mut session)? } else { First::Chosen };
    if first == First::Left {
        return Ok(0);
    }
    let functions = tui::Functions {
        root: start.root(),
        file: start.file(),
        at_start: start.is_open(),
        tests: choice,
        advice: None,
    };
    let job = job.showing(session.settings.prompt);
    open(session, job, &args.screen, functions, None)
}

/// Runs the screen on a kept run.
pub fn resume(kept: &Kept, args: &ScreenArgs) -> Result<u8, Failure> {
    expect_terminal()?;
    let mut session = Session::open_at(&args.options, kept.head.file.as_deref())?;
    remember_theme(&mut session);
    let choice = args.tests.choice(&session.settings);
    let gone = |error: String| {
        let id = &kept.file.id;
        Failure::input(format!("the run {id} cannot be gone on with: {error}; bass-tui history show {id} shows it"))
    };
    let job = match kept.target() {
        Some(spec) => {
            let line = kept.head.line.unwrap_or_default();
            let target = Target::read(&spec).or_else(|error| match error {
                CodeError::Ambiguous { .. } => Target::read(&TargetSpec { place: Place::Line(line), ..spec }),
                error => Err(error),
            });
            Job::from_target(target.map_err(|error| gone(error.to_string()))?, &choice)
        }
        None if kept.head.stub.is_empty() => return Err(gone("its prompt was not a text".to_owned())),
        None => Job::from_text(&kept.head.stub, &choice),
    };
    let job = job.map_err(|error| gone(error.to_string()))?;
    let job = kept.job(&job.showing(session.settings.prompt)).map_err(gone)?;
    let folder = kept.head.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let functions = tui::Functions { root: root(folder), tests: choice, ..tui::Functions::default() };
    open(session, job, args, functions, Some(&kept.file.id))
}

fn expect_terminal() -> Result<(), Failure> {
    if tui::terminal::check().is_err() {
        return Err(Failure::input(
            "the screen needs a terminal, as --plain does for its questions, and there is none: use \
             bass-tui complete in scripts and pipes",
        ));
    }
    Ok(())
}

/// Opens the source and the sandbox that settings name.
pub(super) fn opener(session: &Session, unprotected: bool) -> Result<tui::Open, Failure> {
    let open = session.opener(Session::models_keeping_prompts)?;
    let (kept, python) = (session.builds(), session.settings.python.clone());
    Ok(Box::new(move |told| {
        let source = open(Some(told)).map_err(|e| e.to_string())?;
        let runner = Runner::probe().keeping(&kept).with_python(python.as_deref());
        let runner = if unprotected { runner.allow_unprotected() } else { runner };
        let pool = TrialPool::new(Arc::new(runner)).map_err(|e| format!("the tests cannot be run: {e}"))?;
        Ok((Arc::from(source), pool))
    }))
}

/// The theme that was chosen on the screen, where no file and no flag names one.
fn remember_theme(session: &mut Session) {
    let remembered = || tui::remembered_theme(&session.paths.state_dir, &session.paths.themes_dir());
    if !session.settings.origins.contains_key("theme")
        && let Some(theme) = remembered()
    {
        session.settings.theme = theme;
    }
}

/// Opens the screen.
fn open(
    session: Session,
    job: Job,
    args: &ScreenArgs,
    functions: tui::Functions,
    resumed: Option<&str>,
) -> Result<u8, Failure> {
    let options = session.settings.generate.clone();
    let unprotected = args.consent.unprotected;
    let open = opener(&session, unprotected)?;
    let at = job.file().map_or_else(|| functions.root.clone(), Path::to_path_buf);
    let live = LiveSettings::new(session.clone(), at, functions.tests.clone(), unprotected);
    let session = Arc::new(session);
    let setup = tui::Setup {
        notice: advice(&session, job.language()).filter(|_| resumed.is_none()).or_else(|| {
            let why = job.inputs(&[]).err().filter(|_| session.settings.agree == Some(true));
            why.map(|why| format!("--agree: {why}"))
        }),
        job,
        open,
        options,
        default_stops: !session.settings.no_default_stops,
        limits: session.settings.limits,
        keys: session.settings.keys.clone(),
        theme: session.settings.theme.clone(),
        themes_dir: session.paths.themes_dir(),
        state_dir: session.paths.state_dir.clone(),
        history: session.settings.history,
        resumed: resumed.map(str::to_owned),
        tests_allowed: unprotected,
        stop_on_pass: session.settings.stop_on_pass,
        agree: session.settings.compares(),
        rounds: session.settings.rounds,
        watch: session.settings.watch,
        functions: tui::Functions {
            advice: Some(Arc::new(move |language| advice(&session, Some(language)))),
            ..functions
        },
        live: Some(Box::new(live)),
    };
    let outcome = match tui::run(setup) {
        Ok(outcome) => outcome,
        Err(tui::TuiError::Signal(_)) => return Ok(INTERRUPTED),
        Err(error @ (tui::TuiError::NoTerminal(_) | tui::TuiError::Keys(_) | tui::TuiError::Theme(_))) => {
            return Err(Failure::input(error));
        }
        Err(error) => return Err(Failure::internal(error)),
    };
    if let Some(code) = outcome.accepted {
        print_code(&code)?;
    }
    if !outcome.message.is_empty() {
        say(&(crate::untrusted::framed(&outcome.message) + "\n"));
    }
    Ok(0)
}

/// Prints code: exactly, but without what acts on a terminal if that is where it goes.
pub(super) fn print_code(code: &str) -> Result<(), Failure> {
    let shown = if stdout().is_terminal() { crate::untrusted::code(code) } else { code.to_owned() };
    print(&if shown.ends_with('\n') { shown } else { shown + "\n" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_use_for_a_screen() {
        let with = |name: &'static str, value: &'static str| is_plain(|n| (n == name).then(|| value.to_owned()));
        assert!(with("TERM", "dumb") && with("ACCESSIBLE", "1"));
        assert!(!with("TERM", "xterm") && !with("ACCESSIBLE", "0") && !with("ACCESSIBLE", ""));
    }
}
