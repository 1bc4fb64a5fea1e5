//! `bass-tui` without a command: the screen.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{ConsentArgs, TestArgs};
use super::failure::{Failure, INTERRUPTED};
use super::first::{self, First};
use super::memory::advice;
use super::output::{print, say};
use super::session::Session;
use crate::code::{Place, Target, TargetSpec, function_names};
use crate::files;
use crate::job::{Job, TestsChoice, TrialPool};
use crate::language::Language;
use crate::options::{Flags, GENERATION, MODELS, PROMPTS, SAMPLING, SCREEN, SERVER, TESTS};
use crate::trial::{Project, Runner};
use crate::tui;

/// What the screen begins with.
enum Start {
    /// This function.
    Function(TargetSpec),
    /// The functions of a file, of which none was named and none is the only unfinished one.
    File(PathBuf),
    /// The functions below a folder.
    Folder(PathBuf),
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
        }
    }

    /// The folder to choose from.
    fn root(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.clone(),
            Self::Function(TargetSpec { path, .. }) | Self::File(path) => root(path.parent().unwrap_or(Path::new(""))),
        }
    }

    fn file(&self) -> Option<PathBuf> {
        if let Self::File(file) = self { Some(file.clone()) } else { None }
    }

    /// The picker is open.
    fn is_open(&self) -> bool {
        !matches!(self, Self::Function(_))
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
                from. Without it: one of this project, or a built-in example where there is none"
    )]
    target: Option<String>,
    #[command(flatten)]
    options: Flags<{ MODELS | SERVER | GENERATION | SAMPLING | TESTS | PROMPTS | SCREEN }>,
    #[command(flatten)]
    tests: TestArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// Runs the screen. Accepted code without a file is printed after the screen has closed.
pub fn run(args: &Args) -> Result<u8, Failure> {
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Err(Failure::input(
            "the screen needs a terminal, but stdin or stdout is not one: use bass-tui complete in scripts and pipes",
        ));
    }
    let start = Start::of(args.target.as_deref())?;
    let mut session = Session::open_at(&args.options, Some(start.path()))?;
    let choice = args.tests.choice(&session.settings);
    let job = start.job(&choice)?;
    let first = first::ask(&mut session)?;
    if first == First::Left {
        return Ok(0);
    }
    let session = Arc::new(session);
    let options = session.settings.generate.clone();
    let open = session.opener(Session::models_keeping_prompts)?;
    let unprotected = args.consent.unprotected;
    let (kept, python) = (session.builds(), session.settings.python.clone());
    let setup = tui::Setup {
        notice: advice(&session, job.language()),
        job: job.showing(session.settings.prompt),
        open: Box::new(move || {
            let source = open().map_err(|e| e.to_string())?;
            let runner = Runner::probe().keeping(&kept).with_python(python.as_deref());
            let runner = if unprotected { runner.allow_unprotected() } else { runner };
            let pool = TrialPool::new(Arc::new(runner)).map_err(|e| format!("the tests cannot be run: {e}"))?;
            Ok((Arc::from(source), pool))
        }),
        options,
        default_stops: !session.settings.no_default_stops,
        limits: session.settings.limits,
        keys: session.settings.keys.clone(),
        theme: session.settings.theme.clone(),
        themes_dir: session.paths.themes_dir(),
        state_dir: session.paths.state_dir.clone(),
        tests_allowed: unprotected,
        stop_on_pass: session.settings.stop_on_pass,
        functions: tui::Functions {
            root: start.root(),
            file: start.file(),
            // The demo has an example of its own.
            at_start: start.is_open() && !(first == First::Demo && args.target.is_none()),
            tests: choice,
            advice: Some(Arc::new(move |language| advice(&session, Some(language)))),
        },
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
        // The output is a terminal, so control characters are removed.
        print(&crate::untrusted::clean(&code))?;
    }
    if !outcome.message.is_empty() {
        say(&(crate::untrusted::framed(&outcome.message) + "\n"));
    }
    Ok(0)
}
