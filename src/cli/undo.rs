//! `bass-tui undo`: puts back what a candidate replaced.

use std::path::PathBuf;

use super::failure::Failure;
use super::output::say;
use crate::code::Applied;
use crate::config::Paths;
use crate::history::History;
use crate::trial::Project;
use crate::untrusted::framed;

/// Arguments of `undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only the written lines go back: later changes elsewhere in the file stay. Where the written lines were changed
themselves, the file is left as it is. Each undo goes one change further back.

EXAMPLES
  bass-tui undo                  the last change in this project, whether the screen or complete --apply made it
  bass-tui undo stats.py         the last change of this file, which may be of another project

EXIT CODES
  0 put back   2 nothing to put back, or the written lines have changed since")]
pub struct Args {
    #[arg(
        value_name = "FILE",
        help = "The file [default: the one below this project or folder that was written last]"
    )]
    file: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let paths = Paths::find().map_err(Failure::input)?;
    let place = args.file.clone().map_or_else(here, Ok).map_err(Failure::input)?;
    take_back(&Applied::last(&paths.backups_dir(), &place).map_err(Failure::input)?, &paths)
}

/// The root of the project that one stands in, else the folder.
fn here() -> Result<PathBuf, String> {
    let folder =
        std::env::current_dir().map_err(|e| format!("the current folder cannot be read: {e}; name the FILE"))?;
    Ok(Project::folders(&folder).map_or(folder, |(root, _)| root))
}

/// Puts back what a candidate replaced, and notes it in the run that the candidate is of.
pub fn take_back(applied: &Applied, paths: &Paths) -> Result<u8, Failure> {
    let said = applied.undo().map_err(Failure::input)?;
    if let Some(backup) = &applied.backup {
        History::at(paths.runs_dir()).undone(backup);
    }
    say(&(framed(&said) + "\n"));
    Ok(0)
}
