//! The command line: one file per command. `args` has the arguments that several commands share.

mod args;
mod bench;
mod complete;
mod completions;
mod config;
mod doctor;
mod eval;
mod failure;
mod findings;
mod first;
mod history;
mod init;
mod live;
mod man;
mod memory;
mod models;
mod output;
mod paths;
mod plain;
mod progress;
mod report;
mod serve;
mod session;
mod test;
mod tui;
mod undo;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::hub::OPTIONS;

/// N candidate completions of one prompt at nearly the price of one, picked by running your tests.
#[derive(Debug, Parser)]
#[command(
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Each command explains itself: bass-tui complete --help. Defaults of your own go into config.toml, in the \
        folder that bass-tui paths shows.\n\nEXAMPLES\n  \
        bass-tui                                  the screen, to choose a function of this project\n  \
        bass-tui stats.py:rolling_max             the screen, for one function of your file\n  \
        bass-tui complete --file stats.py:rolling_max -n 8 --apply\n  \
        bass-tui complete --file stats.py:rolling_max --tests test_stats.py --json\n  \
        bass-tui test stats.py --tests test_stats.py\n  \
        bass-tui undo                             put back what the last candidate of this project replaced\n  \
        bass-tui history                          the runs so far; history show, report, resume\n  \
        bass-tui eval HumanEval.jsonl.gz -n 8     score a problem set\n  \
        bass-tui bench --batch 1,8                what drafts gain on this machine, by draft length\n  \
        bass-tui serve                            the model for editors, over HTTP\n  \
        bass-tui init                             what is found for the project of this folder\n  \
        bass-tui doctor                           models, device, sandbox and folders on this machine\n  \
        bass-tui config                           the settings in force, and where each comes from\n\n\
        EXIT CODES\n  \
        0 done (where tests decide: one passed)   1 nothing passed   2 wrong usage or bad input\n  \
        3 engine or sandbox failed      130 interrupted"
)]
struct Cli {
    #[command(flatten)]
    screen: tui::Args,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Complete a prompt or a function without the screen
    Complete(Box<complete::Args>),
    /// Serve this machine's model to editors and other programs
    Serve(Box<serve::Args>),
    /// Run tests on one candidate in the sandbox
    Test(test::Args),
    /// Put back what a candidate replaced in a file
    Undo(undo::Args),
    /// Runs that were kept: list, show, report, undo, resume
    History(Box<history::Args>),
    /// The models that can be used by name
    Models(models::Args),
    /// What is found for a project, and its settings
    Init(init::Args),
    /// What works on this machine: models, device, sandbox, folders
    Doctor(doctor::Args),
    /// The settings in force and where each comes from, or every setting with its help
    Config(Box<config::Args>),
    /// Every file and folder that the program reads or writes
    Paths(paths::Args),
    /// Measure what draft lengths gain on this machine
    Bench(Box<bench::Args>),
    /// Score whole problem sets
    Eval(Box<eval::Args>),
    /// Print what a shell needs to complete commands, options and names of models
    Completions(completions::Args),
    /// Print the manual page, or write one for each command
    Man(man::Args),
}

/// Arguments in which a repository is named as elsewhere, `-hf ORG/NAME:Q4_K_M`: this is `--model`, and of
/// commands that take a name, the name.
fn named_as_elsewhere(args: Vec<OsString>) -> Vec<OsString> {
    let ends = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let takes_name = args.get(1).is_some_and(|command| command == "models");
    let is_option = |arg: &OsString| arg.to_str().is_some_and(|arg| OPTIONS.contains(&arg));
    let replaced = |(at, arg): (usize, OsString)| {
        if at < ends && is_option(&arg) { (!takes_name).then(|| "--model".into()) } else { Some(arg) }
    };
    args.into_iter().enumerate().filter_map(replaced).collect()
}

/// Parses the command line, runs the command and turns its outcome into an exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(named_as_elsewhere(std::env::args_os().collect())) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are "errors" that go to stdout. A closed pipe is ignored.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = match cli.command {
        None => tui::run(&cli.screen, Cli::command().get_subcommands().map(clap::Command::get_name)),
        Some(Command::Complete(args)) => complete::run(&args),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Test(args)) => test::run(&args),
        Some(Command::Undo(args)) => undo::run(&args),
        Some(Command::History(args)) => history::run(&args),
        Some(Command::Models(args)) => models::run(&args),
        Some(Command::Init(args)) => init::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Eval(args)) => eval::run(&args),
        Some(Command::Config(args)) => config::run(&args),
        Some(Command::Paths(args)) => paths::run(&args),
        Some(Command::Completions(args)) => completions::run(&args, Cli::command()),
        Some(Command::Man(args)) => man::run(&args, Cli::command()),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            output::say(&format!("bass-tui: {}\n", crate::untrusted::framed(&failure.message)));
            ExitCode::from(failure.code)
        }
    }
}
