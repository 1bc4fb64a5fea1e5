//! Python: the driver that runs inside the sandbox, and what is said to it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use super::super::interpreter::{Fault, Python, find_python};
use super::super::sandbox::{Job, Sandbox};
use super::super::{Limits, Tests, Trial, TrialError, Verdict, verdict};
use crate::untrusted::clean_line;

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

/// Compiles the driver once: compiling takes as long as starting the interpreter.
const COMPILER: &str = "import sys, marshal\n\
    sys.stdout.buffer.write(marshal.dumps(compile(sys.argv[1], '<driver>', 'exec', 0, True)))";

/// Reads the compiled driver from the request pipe (ten digits of length, then the code) and runs it in a dictionary that no module
/// leads to, with builtins of its own. The current folder leaves the search path first.
const STARTER: &str = "import sys, builtins, os, marshal\n\
    sys.path[:] = [p for p in sys.path if p]\n\
    with open(int(sys.argv[1]), 'rb', 0, closefd=False) as pipe:\n    \
        size, code = int(pipe.read(10)), b''\n    \
        while len(code) < size:\n        \
            code += pipe.read(size - len(code)) or sys.exit('the driver did not come through')\n\
    exec(marshal.loads(code), {'__name__': 'driver', '__builtins__': dict(vars(builtins))})";

/// A Python with the driver compiled for it.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(in crate::trial) python: Python,
    driver: Vec<u8>,
}

/// Finds Python and compiles the driver for it.
pub fn prepare() -> Result<Prepared, Fault> {
    let python = find_python()?;
    let output = Command::new(&python.program)
        .args(["-I", "-S", "-B", "-X", "utf8", "-c", COMPILER, DRIVER])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Fault::Unusable(format!("{} could not be started: {error}", python.program.display())))?;
    if !output.status.success() {
        let said = clean_line(&String::from_utf8_lossy(&output.stderr), 200);
        return Err(Fault::Unusable(format!("{} could not read the test driver: {said}", python.program.display())));
    }
    Ok(Prepared { python, driver: output.stdout })
}

/// What to do, as the driver knows it.
#[derive(Clone, Copy)]
enum Style {
    Doctest,
    Source,
    Parse,
}

/// Runs a trial.
pub fn run(sandbox: &Sandbox, python: &Prepared, trial: &Trial, cancel: &AtomicBool) -> Result<Verdict, TrialError> {
    let module = trial.module.as_deref().unwrap_or_default();
    let entry = trial.entry_point.as_deref().unwrap_or_default();
    let (style, name, text) = match &trial.tests {
        Tests::Doctest { source } => (Style::Doctest, "the docstrings", source),
        Tests::Source { name, text } => (Style::Source, name.as_str(), text),
        Tests::Project(_) | Tests::Command { .. } => {
            return Ok(Verdict::not_run("these tests are not run by the driver"));
        }
    };
    drive(sandbox, python, style, [&trial.program, entry, module, name, text], trial.limits, cancel)
}

/// Reads a tests file without running it: the verdict is an error when it does not parse.
pub fn parse(sandbox: &Sandbox, python: &Prepared, name: &str, text: &str) -> Result<Verdict, TrialError> {
    drive(sandbox, python, Style::Parse, ["", "", "", name, text], Limits::default(), &AtomicBool::new(false))
}

fn drive(
    sandbox: &Sandbox,
    python: &Prepared,
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
    // Not -I: it would also ignore PYTHONHASHSEED, and the environment is ours from the first variable to the last.
    let arguments = ["-s", "-B", "-X", "utf8", "-c", STARTER].map(OsString::from).to_vec();
    let request = request(&python.driver, &[&nonce, style, program, entry, module, name, text]);
    let job =
        Job { readable: &python.python.readable, ..Job::driver(&python.python.program, arguments, request, limits) };
    let run = sandbox.run(job, cancel).map_err(TrialError::Sandbox)?;
    verdict::of(&run, &nonce, &limits)
}

/// What goes down the request pipe: the compiled driver for the starter; for the driver a line with the lengths of its fields in
/// bytes, then the fields themselves.
fn request(driver: &[u8], fields: &[&str]) -> Vec<u8> {
    let lengths: Vec<String> = fields.iter().map(|field| field.len().to_string()).collect();
    let mut bytes = format!("{:010}", driver.len()).into_bytes();
    bytes.extend_from_slice(driver);
    bytes.extend_from_slice(lengths.join(" ").as_bytes());
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
        assert_eq!(request(b"code", &["a\n", "", "é"]), "0000000004code2 0 2\na\né".as_bytes());
    }

    #[test]
    fn the_driver_fits_into_one_argument() {
        // MAX_ARG_STRLEN of Linux.
        assert!(DRIVER.len() < 128 << 10);
    }
}
