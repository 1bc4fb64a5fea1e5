//! `bass-tui undo`: puts back what a candidate replaced.

use std::path::PathBuf;

use super::failure::Failure;
use super::output::say;
use crate::code::Applied;
use crate::config::Paths;
use crate::history::History;
use crate::untrusted::framed;

/// Arguments of `undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only the written lines go back: later changes elsewhere in the file stay. Where the written lines were changed
themselves, the file is left as it is. Each undo goes one change further back.

EXAMPLES
  bass-tui undo                  the last change, whether the screen or complete --apply made it
  bass-tui undo stats.py         the last change of this file

EXIT CODES
  0 put back   2 nothing to put back, or the written lines have changed since")]
pub struct Args {
    #[arg(value_name = "FILE", help = "The file [default: the one that was written last]")]
    file: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let paths = Paths::find().map_err(Failure::input)?;
    take_back(&Applied::last(&paths.backups_dir(), args.file.as_deref()).map_err(Failure::input)?, &paths)
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
