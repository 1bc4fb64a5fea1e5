//! `bass-tui` without a command: the screen.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use super::args::{ConsentArgs, TestArgs};
use super::failure::{Failure, INTERRUPTED};
use super::memory::advice;
use super::output::{print, say};
use super::session::Session;
use crate::code::{Target, TargetSpec};
use crate::job::{Job, TrialPool};
use crate::options::{Flags, GENERATION, MODELS, PROMPTS, SAMPLING, SCREEN, SERVER, TESTS, did_you_mean};
use crate::trial::Runner;
use crate::tui;

/// Arguments of the screen.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(
        value_name = "FILE[:FUNCTION|:LINE]",
        help = "The function to complete: FILE, FILE:FUNCTION, FILE:Class::method or FILE:LINE. Without it: a built-in example"
    )]
    target: Option<String>,
    #[command(flatten)]
    options: Flags<{ MODELS | SERVER | GENERATION | SAMPLING | TESTS | PROMPTS | SCREEN }>,
    #[command(flatten)]
    tests: TestArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// Runs the screen. Accepted code without a file is printed after the screen has closed. A word that is no file,
/// and nearly one of `commands`, is taken for that.
pub fn run<'a>(args: &Args, commands: impl Iterator<Item = &'a str>) -> Result<u8, Failure> {
    if let Some(word) = args.target.as_deref().filter(|word| !Path::new(word).exists()) {
        let hint = did_you_mean(word, commands);
        if !hint.is_empty() {
            return Err(Failure::input(format!("there is neither a command nor a file `{word}`{hint}")));
        }
    }
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Err(Failure::input(
            "the screen needs a terminal, but stdin or stdout is not one: use bass-tui complete in scripts and pipes",
        ));
    }
    let spec = args.target.as_deref().map(TargetSpec::parse).transpose().map_err(Failure::input)?;
    let session = Session::open_at(&args.options, spec.as_ref().map(|spec| spec.path.as_path()))?;
    let choice = args.tests.choice(&session.settings);
    let job = match &spec {
        Some(spec) => Target::read(spec)
            .map_err(Failure::input)
            .and_then(|target| Job::from_target(target, &choice).map_err(Failure::input))?,
        None => Job::example(&choice).map_err(Failure::input)?,
    };
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
