//! `bass-tui completions`: what a shell needs to complete the words of a command line.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use clap_complete::Shell;

use super::failure::Failure;
use super::output::{print, say};
use crate::catalog::{Catalog, Others};
use crate::config::Paths;
use crate::hub::HubCache;
use crate::options::{self, OptionSpec};
use crate::untrusted::framed;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Commands and options are completed; in bash, zsh and fish also fixed values, names of models (those of your models.toml, too) and \
files. Write it anew after an update, or after a change of models.toml.

EXAMPLES
  bass-tui completions bash > ~/.local/share/bash-completion/completions/bass-tui
  bass-tui completions zsh > ~/.zfunc/_bass-tui                      with fpath+=~/.zfunc before compinit in ~/.zshrc
  bass-tui completions fish > ~/.config/fish/completions/bass-tui.fish
  bass-tui completions elvish >> ~/.config/elvish/rc.elv
  bass-tui completions powershell >> $PROFILE

EXIT CODES
  0 printed   2 wrong usage")]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub fn run(args: &Args, command: Command) -> Result<u8, Failure> {
    print(&script(args.shell, command, &models()))?;
    Ok(0)
}

/// Names of models: all that the catalog has, or the built-in ones where the user's file cannot be read.
fn models() -> Vec<String> {
    let found = Paths::find().map_err(|e| e.to_string());
    let loaded = found.and_then(|paths| Catalog::load(&paths).map_err(|e| e.to_string()));
    let built_in = |why: String| {
        say(&format!("bass-tui: names of models of your own are left out: {}\n", framed(&why)));
        Catalog::parse("", Path::new("models.toml"), HubCache::find(), Others::default()).map(|catalog| catalog.entries)
    };
    let catalog = loaded.map(|catalog| catalog.entries).or_else(built_in).unwrap_or_default();
    let plain = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    catalog.into_iter().map(|entry| entry.name).filter(plain).collect()
}

/// The script for a shell.
fn script(shell: Shell, command: Command, models: &[String]) -> String {
    let mut out = Vec::new();
    let mut command = with_words(command, models);
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, &name, &mut out);
    let script = String::from_utf8_lossy(&out).into_owned();
    match shell {
        // For names with a hyphen the generator's labels of commands differ from the words that it looks up.
        Shell::Bash => script.replace(&name.replace('-', "__subcmd__"), &name.replace('-', "__")),
        Shell::Zsh => with_files(&script, &command),
        _ => script,
    }
}

/// The command and those below it, each argument with what may stand there.
fn with_words(command: Command, models: &[String]) -> Command {
    command.mut_args(|arg| with_values(arg, models)).mut_subcommands(|command| with_words(command, models))
}

fn with_values(arg: Arg, models: &[String]) -> Arg {
    // A shell shows a line for each.
    let help = arg.get_help().map(|help| short(&help.to_string()).to_owned());
    let arg = if let Some(help) = help { arg.help(help) } else { arg };
    let placeholder = arg.get_value_names().unwrap_or_default().join("|");
    if !arg.get_action().takes_values() || !arg.get_possible_values().is_empty() {
        return arg;
    }
    let option = options::ALL.iter().find(|option| arg.get_long() == Some(option.name) || arg.get_id() == option.name);
    let names = placeholder.starts_with("NAME") && arg.get_id() != "theme" && arg.get_id() != "server-model";
    let own: Vec<String> = option.into_iter().flat_map(OptionSpec::words).map(str::to_owned).collect();
    let words: Vec<String> = own.into_iter().chain(models.iter().filter(|_| names).cloned()).collect();
    if !words.is_empty() {
        return arg.value_parser(PossibleValuesParser::new(words));
    }
    match placeholder.as_str() {
        "CMD" => arg.value_hint(ValueHint::CommandString),
        "PROGRAM" => arg.value_hint(ValueHint::ExecutablePath),
        "URL" => arg.value_hint(ValueHint::Url),
        "DIR" | "FOLDER" => arg.value_hint(ValueHint::DirPath),
        "CANDIDATE" | "PROBLEMS" | "P|-" => arg.value_hint(ValueHint::AnyPath),
        names if names.contains("FILE") || names.starts_with("F[") => arg.value_hint(ValueHint::AnyPath),
        _ => arg.value_hint(ValueHint::Other),
    }
}

/// The beginning of a help, up to its first details.
fn short(help: &str) -> &str {
    let ends = [": ", "; ", " (", " [", ", "].into_iter().filter_map(|end| help.find(end)).filter(|&at| at > 10);
    ends.min().map_or(help, |at| &help[..at])
}

/// In zsh a list of words keeps files away. Where a file may stand, too, it gets both, as bash and fish have
/// it.
fn with_files(script: &str, command: &Command) -> String {
    let with_files = |line: &str| {
        let is_both =
            |placeholder: &str| placeholder.contains("NAME|DIR") && line.contains(&format!(":{placeholder}:("));
        let placeholder = command.get_arguments().find_map(|arg| {
            let placeholder = arg.get_value_names()?.first()?.to_string();
            is_both(&placeholder).then_some(placeholder)
        });
        let changed = placeholder.and_then(|placeholder| {
            let (before, words) = line.split_once(&format!(":{placeholder}:("))?;
            let (words, after) = words.split_once(")'")?;
            Some(format!(
                "{before}:{placeholder}:{{_alternative \"names\\:name\\:({words})\" \"files\\:file\\:_files\"}}'{after}"
            ))
        });
        changed.unwrap_or_else(|| line.to_owned()) + "\n"
    };
    script.lines().map(with_files).collect()
}
