//! Python: the driver that runs inside the sandbox, and what is said to it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::AtomicBool;

use super::super::interpreter::Python;
use super::super::sandbox::{Job, Sandbox};
use super::super::{Limits, Tests, Trial, TrialError, Verdict, verdict};

/// The parts of the driver, one program.
const DRIVER: &str = concat!(
    include_str!("driver/report.py"),
    "\n",
    include_str!("driver/values.py"),
    "\n",
    include_str!("driver/rewrite.py"),
    "\n",
    include_str!("driver/examples.py"),
    "\n",
    include_str!("driver/styles.py"),
    "\n",
    include_str!("driver/main.py"),
);

/// Runs the driver in a dictionary that no module leads to, with builtins of its own. The current folder leaves the search path first.
const STARTER: &str = "import sys, builtins\n\
    sys.path[:] = [p for p in sys.path if p]\n\
    exec(compile(sys.argv[1], '<driver>', 'exec', 0, True), {'__name__': 'driver', '__builtins__': dict(vars(builtins))})";

/// What to do, as the driver knows it.
#[derive(Clone, Copy)]
enum Style {
    Doctest,
    Source,
    Parse,
}

/// Runs a trial.
pub fn run(sandbox: &Sandbox, python: &Python, trial: &Trial, cancel: &AtomicBool) -> Result<Verdict, TrialError> {
    let module = trial.module.as_deref().unwrap_or_default();
    let entry = trial.entry_point.as_deref().unwrap_or_default();
    let (style, name, text) = match &trial.tests {
        Tests::Doctest { source } => (Style::Doctest, "the docstrings", source),
        Tests::Source { name, text } => (Style::Source, name.as_str(), text),
    };
    drive(sandbox, python, style, [&trial.program, entry, module, name, text], trial.limits, cancel)
}

/// Reads a tests file without running it: the verdict is an error when it does not parse.
pub fn parse(sandbox: &Sandbox, python: &Python, name: &str, text: &str) -> Result<Verdict, TrialError> {
    drive(sandbox, python, Style::Parse, ["", "", "", name, text], Limits::default(), &AtomicBool::new(false))
}

fn drive(
    sandbox: &Sandbox,
    python: &Python,
    style: Style,
    fields: [&str; 5],
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<Verdict, TrialError> {
    let nonce = nonce().map_err(|e| TrialError::Sandbox(format!("no random number could be drawn: {e}")))?;
    let style = match style {
        Style::Doctest => "doctest",
        Style::Source => "source",
        Style::Parse => "parse",
    };
    let [program, entry, module, name, text] = fields;
    let job = Job {
        program: &python.program,
        // Not -I: it would also ignore PYTHONHASHSEED, and the environment is ours from the first variable to the last.
        arguments: ["-s", "-B", "-X", "utf8", "-c", STARTER, DRIVER].map(OsString::from).to_vec(),
        request: request(&[&nonce, style, program, entry, module, name, text]),
        limits,
        readable: &python.readable,
    };
    let run = sandbox.run(&job, cancel).map_err(TrialError::Sandbox)?;
    verdict::of(&run, &nonce, &limits)
}

/// Fields for the driver: a line with their lengths in bytes, then the fields themselves.
fn request(fields: &[&str]) -> Vec<u8> {
    let lengths: Vec<String> = fields.iter().map(|field| field.len().to_string()).collect();
    let mut bytes = lengths.join(" ").into_bytes();
    bytes.push(b'\n');
    for field in fields {
        bytes.extend_from_slice(field.as_bytes());
    }
    bytes
}

/// 128 random bits in hex: what a forged report would have to guess.
fn nonce() -> io::Result<String> {
    let mut bits = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bits)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_can_be_taken_apart_by_its_lengths() {
        assert_eq!(request(&["a\n", "", "é"]), "2 0 2\na\né".as_bytes());
    }

    #[test]
    fn the_driver_fits_into_one_argument() {
        // MAX_ARG_STRLEN of Linux.
        assert!(DRIVER.len() < 128 << 10);
    }
}
