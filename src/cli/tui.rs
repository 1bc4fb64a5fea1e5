//! `bass-tui` without a command: the screen.

use std::io::{IsTerminal, stdin, stdout};
use std::path::Path;
use std::sync::Arc;

use super::args::{ConsentArgs, TestArgs};
use super::complete::read_text;
use super::failure::{Failure, INTERRUPTED};
use super::memory::advice;
use super::output::{print, say};
use super::plain;
use super::session::Session;
use crate::code::{CodeError, Place, Target, TargetSpec};
use crate::history::Kept;
use crate::job::{Job, TrialPool};
use crate::options::{Flags, GENERATION, HISTORY, MODELS, PROMPTS, SAMPLING, SCREEN, SERVER, TESTS, did_you_mean};
use crate::trial::Runner;
use crate::tui;

/// Arguments of the screen.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(
        value_name = "FILE[:FUNCTION|:LINE]",
        help = "The function to complete: FILE, FILE:FUNCTION, FILE:Class::method or FILE:LINE. Without it: the prompt on \
                stdin if that is piped, else a built-in example"
    )]
    target: Option<String>,
    #[command(flatten)]
    screen: ScreenArgs,
}

/// Arguments of the screen beside the function.
#[derive(Debug, clap::Args)]
pub struct ScreenArgs {
    #[command(flatten)]
    options: Flags<{ MODELS | SERVER | GENERATION | SAMPLING | TESTS | PROMPTS | SCREEN | HISTORY }>,
    #[command(flatten)]
    tests: TestArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// The terminal or the user has no use for a screen.
fn is_plain(var: impl Fn(&str) -> Option<String>) -> bool {
    var("TERM").is_some_and(|term| term == "dumb") || var("ACCESSIBLE").is_some_and(|v| !v.is_empty() && v != "0")
}

/// Runs the screen on the terminal, wherever stdin and stdout lead. Code that is for stdout is printed after the
/// screen has closed. A word that is no file,
/// and nearly one of `commands`, is taken for that.
pub fn run<'a>(args: &Args, commands: impl Iterator<Item = &'a str>) -> Result<u8, Failure> {
    if let Some(word) = args.target.as_deref().filter(|word| !Path::new(word).exists()) {
        let hint = did_you_mean(word, commands);
        if !hint.is_empty() {
            return Err(Failure::input(format!("there is neither a command nor a file `{word}`{hint}")));
        }
    }
    expect_terminal()?;
    let spec = args.target.as_deref().map(TargetSpec::parse).transpose().map_err(Failure::input)?;
    let session = Session::open_at(&args.screen.options, spec.as_ref().map(|spec| spec.path.as_path()))?;
    let choice = args.screen.tests.choice(&session.settings);
    let job = match &spec {
        Some(spec) => Target::read(spec)
            .map_err(Failure::input)
            .and_then(|target| Job::from_target(target, &choice).map_err(Failure::input))?,
        None if stdin().is_terminal() => Job::example(&choice).map_err(Failure::input)?,
        None => {
            let text = read_text(Path::new("-"), "prompt")?;
            if text.trim().is_empty() {
                return Err(Failure::input("the prompt on stdin is empty: there is nothing to complete"));
            }
            Job::from_text(&text, &choice).map_err(Failure::input)?
        }
    };
    if session.settings.plain || is_plain(|name| std::env::var(name).ok()) {
        return plain::run(&session, job.showing(session.settings.prompt), args.screen.consent.unprotected);
    }
    start(&session, job.showing(session.settings.prompt), &args.screen, None)
}

/// Runs the screen on a kept run.
pub fn resume(kept: &Kept, args: &ScreenArgs) -> Result<u8, Failure> {
    expect_terminal()?;
    let session = Session::open_at(&args.options, kept.head.file.as_deref())?;
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
    start(&session, job, args, Some(&kept.file.id))
}

fn expect_terminal() -> Result<(), Failure> {
    if tui::terminal::check().is_err() {
        return Err(Failure::input(
            "the screen needs a terminal, but stdin or stdout is not one: use bass-tui complete in scripts and pipes",
        ));
    }
    Ok(())
}

fn start(session: &Session, job: Job, args: &ScreenArgs, resumed: Option<&str>) -> Result<u8, Failure> {
    let options = session.settings.generate.clone();
    let open = session.opener(Session::models_keeping_prompts)?;
    let unprotected = args.consent.unprotected;
    let (kept, python) = (session.builds(), session.settings.python.clone());
    let setup = tui::Setup {
        notice: advice(session, job.language()).filter(|_| resumed.is_none()),
        job,
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
        history: session.settings.history,
        resumed: resumed.map(str::to_owned),
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
        print_code(&code)?;
    }
    if !outcome.message.is_empty() {
        say(&(crate::untrusted::framed(&outcome.message) + "\n"));
    }
    Ok(0)
}

/// Prints code: exactly, but without what acts on a terminal if that is where it goes.
pub(super) fn print_code(code: &str) -> Result<(), Failure> {
    let shown = if stdout().is_terminal() { crate::untrusted::clean(code) } else { code.to_owned() };
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
