//! What languages share whose tests are compiled with the code under test.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::sandbox::{Ended, Limits, Run};
use crate::trial::language::row::{Evidence, Report, TrialError, Verdict, decide};

/// How long compiling may take.
const COMPILE_TIME: Duration = Duration::from_secs(60);

/// Compilers need more than what they compile.
pub fn compile_limits(limits: Limits) -> Limits {
    Limits {
        wall: limits.wall.max(COMPILE_TIME),
        memory: limits.memory.max(3 << 30),
        file: limits.file.max(512 << 20),
        processes: limits.processes.max(128),
        ..limits
    }
}

/// The verdict of a program that did not come to be.
pub fn not_compiled(run: Run, limits: Limits) -> Result<Verdict, TrialError> {
    let mut lines = run.output.lines();
    let error =
        lines.clone().find(|line| line.contains("error")).or_else(|| lines.find(|line| !line.trim().is_empty()));
    let complaint = Some(error.unwrap_or("the program does not compile").to_owned());
    let is_cut = !matches!(run.ended, Ended::Exited(_));
    let verdict = decide(&Evidence { complaint, ..Evidence::of(run, Report::Missing) }, &compile_limits(limits))?;
    Ok(if is_cut { Verdict { message: format!("compiling: {}", verdict.message), ..verdict } } else { verdict })
}

/// Lets a program be started: linkers may not do it, as no trial may change modes. Not through a link.
pub fn make_executable(binary: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_file = fs::symlink_metadata(binary).is_ok_and(|meta| meta.is_file());
    is_file && fs::set_permissions(binary, fs::Permissions::from_mode(0o700)).is_ok()
}
