//! Python: the programs that run inside the sandbox, and what is said to them.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use super::super::interpreter::{Fault, Python, find_python};
use super::super::verdict::{self, Judged};
use super::super::{Limits, Status, Tests, Trial, TrialError, Verdict};
use super::{driver, nonce, pair};
use crate::sandbox::{Job, Sandbox};
use crate::untrusted::clean_line;

/// A program made of parts of the driver, in this order.
macro_rules! program {
    ($($part:literal)*) => {
        concat!($(include_str!(concat!("driver/", $part, ".py")), "\n",)*)
    };
}

/// One process for tests and code.
const SHARED: &str = program!("text" "report" "values" "rewrite" "examples" "styles" "shared");
/// The process with the tests.
const JUDGE: &str = program!("text" "report" "rewrite" "examples" "styles" "codec" "line" "standins" "judge_line" "reasons" "stub" "judge");
/// The process with the code.
const WORKER: &str = program!("text" "codec" "line" "worker");

/// Compiles programs once: compiling takes as long as starting the interpreter. Each comes out as ten digits of length and the code.
const COMPILER: &str = "import sys, marshal\n\
    for text in sys.argv[1:]:\n    \
        code = marshal.dumps(compile(text, '<driver>', 'exec', 0, True))\n    \
        sys.stdout.buffer.write(b'%010d' % len(code) + code)";

/// Reads the compiled driver from the request pipe (ten digits of length, then the code) and runs it in a dictionary that no module
/// leads to, with builtins of its own. The current folder leaves the search path first.
const STARTER: &str = "import sys, builtins, os, marshal\n\
    sys.path[:] = [p for p in sys.path if p]\n\
    with open(int(sys.argv[1]), 'rb', 0, closefd=False) as pipe:\n    \
        size, code = int(pipe.read(10)), b''\n    \
        while len(code) < size:\n        \
            code += pipe.read(size - len(code)) or sys.exit('the driver did not come through')\n\
    exec(marshal.loads(code), {'__name__': 'driver', '__builtins__': dict(vars(builtins))})";

/// A Python with the programs of the driver compiled for it, each as the starter reads it.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(in crate::trial) python: Python,
    shared: Vec<u8>,
    judge: Vec<u8>,
    worker: Vec<u8>,
}

/// Finds Python and compiles the driver for it.
pub fn prepare() -> Result<Prepared, Fault> {
    let python = find_python()?;
    let output = Command::new(&python.program)
        .args(["-I", "-S", "-B", "-X", "utf8", "-c", COMPILER, SHARED, JUDGE, WORKER])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Fault::Unusable(format!("{} could not be started: {error}", python.program.display())))?;
    if !output.status.success() {
        let said = clean_line(&String::from_utf8_lossy(&output.stderr), 200);
        return Err(Fault::Unusable(format!("{} could not read the test driver: {said}", python.program.display())));
    }
    let unreadable =
        || Fault::Unusable(format!("{} did not give back the compiled test driver", python.program.display()));
    let mut rest = output.stdout.as_slice();
    let mut next = || {
        let (program, after) = first_program(rest)?;
        rest = after;
        Some(program.to_vec())
    };
    let (Some(shared), Some(judge), Some(worker)) = (next(), next(), next()) else { return Err(unreadable()) };
    Ok(Prepared { python, shared, judge, worker })
}

/// Splits the first compiled program, with its length before it, from those that follow.
fn first_program(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let digits = bytes.get(..10).and_then(|digits| std::str::from_utf8(digits).ok())?;
    bytes.split_at_checked(10 + digits.parse::<usize>().ok()?)
}

/// What to do, as the driver knows it.
#[derive(Clone, Copy)]
enum Style {
    Doctest,
    Source,
    Parse,
}

/// Runs a trial: tests and code in two processes, or in one where the tests leave no choice.
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
    let stub = trial.stub.as_deref().unwrap_or(match &trial.tests {
        Tests::Doctest { source } => source,
        _ => "",
    });
    let fields = [&trial.program, entry, module, name, text, stub];
    if let Judged::Verdict(verdict) = in_two(sandbox, python, style, fields, trial.limits, cancel)? {
        return Ok(verdict);
    }
    let mut verdict = in_one(sandbox, python, style, fields, trial.limits, cancel)?;
    if verdict.status == Status::Passed {
        verdict.message.push_str(" (tests and code shared one interpreter)");
    }
    Ok(verdict)
}

/// Reads a tests file without running it: the verdict is an error when it does not parse.
pub fn parse(sandbox: &Sandbox, python: &Prepared, name: &str, text: &str) -> Result<Verdict, TrialError> {
    let fields = ["", "", "", name, text, ""];
    in_one(sandbox, python, Style::Parse, fields, Limits::default(), &AtomicBool::new(false))
}

/// Tests and code in two processes.
fn in_two(
    sandbox: &Sandbox,
    python: &Prepared,
    style: Style,
    fields: [&str; 6],
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<Judged, TrialError> {
    let nonce = nonce()?;
    let judge = job(python, request(&python.judge, &with_nonce(&nonce, style, fields)), limits);
    let worker = job(python, request(&python.worker, &[]), limits);
    let pair = pair::run(sandbox, judge, worker, cancel).map_err(TrialError::Sandbox)?;
    verdict::of_pair(&pair, &nonce, &limits)
}

/// Tests and code in one process, where code that aims at the tests can reach them.
fn in_one(
    sandbox: &Sandbox,
    python: &Prepared,
    style: Style,
    fields: [&str; 6],
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<Verdict, TrialError> {
    let nonce = nonce()?;
    let job = job(python, request(&python.shared, &with_nonce(&nonce, style, fields)), limits);
    let run = sandbox.run(job, cancel).map_err(TrialError::Sandbox)?;
    verdict::of(&run, &nonce, &limits)
}

fn job(python: &Prepared, request: Vec<u8>, limits: Limits) -> Job<'_> {
    // Not -I: it would also ignore PYTHONHASHSEED, and the environment is ours from the first variable to the last.
    let arguments = ["-s", "-B", "-X", "utf8", "-c", STARTER].map(OsString::from).to_vec();
    Job { readable: &python.python.readable, ..driver(&python.python.program, arguments, request, limits) }
}

fn with_nonce<'a>(
    nonce: &'a str,
    style: Style,
    [program, entry, module, name, text, stub]: [&'a str; 6],
) -> [&'a str; 8] {
    let style = match style {
        Style::Doctest => "doctest",
        Style::Source => "source",
        Style::Parse => "parse",
    };
    [nonce, style, program, entry, module, name, text, stub]
}

/// What goes down the request pipe: the compiled program for the starter; for the program a line with the lengths of its fields in
/// bytes, then the fields themselves.
fn request(driver: &[u8], fields: &[&str]) -> Vec<u8> {
    let lengths: Vec<String> = fields.iter().map(|field| field.len().to_string()).collect();
    let mut bytes = driver.to_vec();
    bytes.extend_from_slice(lengths.join(" ").as_bytes());
    bytes.push(b'\n');
    for field in fields {
        bytes.extend_from_slice(field.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_can_be_taken_apart_by_its_lengths() {
        assert_eq!(request(b"0000000004code", &["a\n", "", "é"]), "0000000004code2 0 2\na\né".as_bytes());
        assert_eq!(first_program(b"0000000004codemore"), Some((&b"0000000004code"[..], &b"more"[..])));
        assert_eq!(first_program(b"0000000004cod"), None);
        assert_eq!(first_program(b"what?"), None);
    }

    #[test]
    fn each_program_fits_into_one_argument() {
        // MAX_ARG_STRLEN of Linux.
        assert!([SHARED, JUDGE, WORKER].iter().all(|program| program.len() < 128 << 10));
    }

    /// `cargo test --lib times_of_a_trial -- --ignored --nocapture`: medians, taken in turns. Not a test: it only prints.
    #[test]
    #[ignore = "prints times"]
    fn times_of_a_trial() {
        use std::time::Instant;
        let (sandbox, Ok(python)) = (Sandbox::probe(crate::trial::Tier::Full), prepare()) else {
            return crate::skip::for_want_of("Python", "it is what is timed");
        };
        let program = "def f(x):\n    return 2 * x\n";
        let tests = "assert f(3) == 6\nassert f(4) == 8\n";
        let fields = [program, "f", "", "test_f.py", tests, ""];
        let never = AtomicBool::new(false);
        let plain = || {
            let script = format!("{program}{tests}");
            Command::new(&python.python.program).args(["-s", "-B", "-X", "utf8", "-c", &script]).status().unwrap();
        };
        let one = || {
            let verdict = in_one(&sandbox, &python, Style::Source, fields, Limits::default(), &never).unwrap();
            assert_eq!(verdict.status, Status::Passed);
        };
        let two = || {
            let judged = in_two(&sandbox, &python, Style::Source, fields, Limits::default(), &never).unwrap();
            let Judged::Verdict(verdict) = judged else { panic!("{judged:?}") };
            assert_eq!(verdict.status, Status::Passed);
        };
        let kinds: [(&str, &dyn Fn()); 3] = [("plain python", &plain), ("one process", &one), ("two processes", &two)];
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..60 {
            for ((_, run), times) in kinds.iter().zip(&mut times) {
                let begun = Instant::now();
                run();
                times.push(begun.elapsed().as_micros());
            }
        }
        for ((name, _), times) in kinds.iter().zip(&mut times) {
            times.sort_unstable();
            let at = |part: usize| times[times.len() * part / 10] as f64 / 1000.0;
            eprintln!("{name}: median {:.1} ms, from {:.1} to {:.1} (10 % to 90 %)", at(5), at(1), at(9));
        }
    }
}
