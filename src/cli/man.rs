//! `bass-tui man`: manual pages, made of the same definition as the help.

use std::fs;
use std::path::PathBuf;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::failure::Failure;
use super::output::{print, say};
use crate::untrusted::framed;

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
EXAMPLES
  bass-tui man | man -l -
  bass-tui man --dir ~/.local/share/man/man1        then: man bass-tui-complete

EXIT CODES
  0 written   2 wrong usage, or the folder cannot be written   3 stdout cannot be written")]
pub struct Args {
    /// Write one page for each command into this folder, which is made [default: the program's page on stdout]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    dir: Option<PathBuf>,
}

pub fn run(args: &Args, command: Command) -> Result<u8, Failure> {
    let mut command = command.disable_help_subcommand(true);
    // Names such as `bass-tui-models-pull` are made here.
    command.build();
    let Some(folder) = &args.dir else {
        print(&page(&command)?.1)?;
        return Ok(0);
    };
    let failed = |path: &PathBuf, error| Failure::input(format!("{} cannot be written: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut commands = vec![&command];
    let mut count = 0;
    while let Some(command) = commands.pop() {
        let (name, text) = page(command)?;
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
        commands.extend(command.get_subcommands());
        count += 1;
    }
    say(&framed(&format!("bass-tui: {count} pages were written to {}", folder.display())));
    say("\n");
    Ok(0)
}

/// Name and text of a command's page.
fn page(command: &Command) -> Result<(String, String), Failure> {
    let source = format!("bass-tui {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("bass-tui");
    let mut page = Vec::new();
    let written = man
        .render_title(&mut page)
        .and_then(|()| man.render_name_section(&mut page))
        .and_then(|()| synopsis(command).to_writer(&mut page))
        .and_then(|()| man.render_description_section(&mut page))
        .and_then(|()| {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let (intro, sections) = split(&after);
            text(intro).to_writer(&mut page)?;
            if command.has_subcommands() {
                man.render_subcommands_section(&mut page)?;
            }
            man.render_options_section(&mut page)?;
            sections.to_writer(&mut page)
        });
    written.map_err(|error| Failure::internal(format!("the manual page cannot be made: {error}")))?;
    Ok((man.get_filename(), String::from_utf8_lossy(&page).into_owned()))
}

/// The usage lines of the help. (Those of the page's maker name each of fifty options.)
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    roff.control("nf", []);
    for line in usage.lines() {
        roff.text([roman(line.trim_start_matches("Usage:").trim())]);
    }
    roff.control("fi", []);
    roff
}

/// A paragraph.
fn text(text: &str) -> Roff {
    let mut roff = Roff::new();
    if !text.is_empty() {
        roff.control("PP", []);
        roff.text([roman(text)]);
    }
    roff
}

/// The text before the first title of a help's end, and the sections that follow, their lines as they are.
fn split(after: &str) -> (&str, Roff) {
    let is_title = |line: &str| !line.is_empty() && line.chars().all(|c| c.is_ascii_uppercase() || c == ' ');
    let mut sections = Roff::new();
    let mut intro = after.len();
    let (mut at, mut inside) = (0, false);
    for line in after.split_inclusive('\n') {
        let shown = line.trim_end();
        if is_title(shown) {
            if !inside {
                intro = at;
            }
            inside = true;
            sections.control("SH", [shown]);
            sections.control("nf", []);
        } else if inside && !shown.is_empty() {
            sections.text([roman(shown.strip_prefix("  ").unwrap_or(shown))]);
        } else if inside {
            sections.control("fi", []);
        }
        at += line.len();
    }
    if inside {
        sections.control("fi", []);
    }
    (after[..intro].trim(), sections)
}
