//! Python: a tests file or examples alone with the code, and what is said to the programs that run them.

use super::programs::{self, JUDGE, SHARED, WORKER};
use crate::sandbox::{Job, Limits};
use crate::trial::judge::pair;
use crate::trial::judge::record::judged;
use crate::trial::language::row::{Context, Evidence, Tests, Tool, Trial, TrialError, Verdict, decide, nonce};

/// The programs of the driver, compiled for a Python.
#[derive(Debug)]
pub struct Programs {
    shared: Vec<u8>,
    judge: Vec<u8>,
    worker: Vec<u8>,
}

impl Programs {
    /// Compiles the driver; the sentence why that did not work.
    pub fn compile(python: &Tool) -> Result<Self, String> {
        let [shared, judge, worker] = programs::compile(python, [SHARED, JUDGE, WORKER])?;
        Ok(Self { shared, judge, worker })
    }
}

/// What to do, as the driver knows it.
#[derive(Clone, Copy)]
enum Style {
    Doctest,
    Source,
    Parse,
}

/// A Python with its driver, and where it runs.
pub struct Runs<'a> {
    pub at: &'a Context<'a>,
    pub python: &'a Tool,
    pub programs: &'a Programs,
    pub limits: Limits,
}

/// Runs a trial: tests and code in two processes, or in one where the tests leave no choice.
pub fn run(runs: &Runs, trial: &Trial) -> Result<Verdict, TrialError> {
    let module = trial.module().unwrap_or_default();
    let entry = trial.entry_point.as_deref().unwrap_or_default();
    let (style, name, text) = match &trial.tests {
        Tests::Doctest { source } => (Style::Doctest, "the docstrings", source),
        Tests::Source { name, text } => (Style::Source, name.as_str(), text),
        Tests::Project(_) | Tests::Several(_) | Tests::FirstOf(_) | Tests::Command { .. } => {
            return Ok(Verdict::not_run("these tests are not run by the driver"));
        }
    };
    let stub = trial.stub.as_deref().unwrap_or(match &trial.tests {
        Tests::Doctest { source } => source,
        _ => "",
    });
    let fields = [&trial.program, entry, module, name, text, stub];
    let evidence = match runs.in_two(style, fields)? {
        Ok(evidence) => evidence,
        Err(_) => {
            Evidence { remark: "tests and code shared one interpreter".to_owned(), ..runs.in_one(style, fields)? }
        }
    };
    decide(&evidence, &trial.limits)
}

/// Reads a tests file without running it.
pub fn parse(runs: &Runs, name: &str, text: &str) -> Result<(), TrialError> {
    let evidence = runs.in_one(Style::Parse, ["", "", "", name, text, ""])?;
    decide(&evidence, &runs.limits)?.of_parsing(name)
}

impl Runs<'_> {
    /// Tests and code in two processes; or why these tests need both in one.
    fn in_two(&self, style: Style, fields: [&str; 6]) -> Result<Result<Evidence, String>, TrialError> {
        let nonce = nonce()?;
        let judge = self.job(request(&self.programs.judge, &with_nonce(&nonce, style, fields)));
        let worker = self.job(request(&self.programs.worker, &[]));
        pair::run(self.at.sandbox, judge, worker, &nonce, self.at.cancel)
    }

    /// Tests and code in one process, where code that aims at the tests can reach them.
    fn in_one(&self, style: Style, fields: [&str; 6]) -> Result<Evidence, TrialError> {
        let nonce = nonce()?;
        let run = self.at.run(self.job(request(&self.programs.shared, &with_nonce(&nonce, style, fields))))?;
        let report = judged(&run.record, &nonce);
        Ok(Evidence::of(run, report))
    }

    fn job(&self, request: Vec<u8>) -> Job<'_> {
        programs::job(self.python, request, self.limits)
    }
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

/// What goes down the request pipe: the compiled program for the starter; for the program a line with the
/// lengths of its fields in bytes, then the fields themselves.
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
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::sandbox::{Sandbox, Tier};
    use crate::trial::project::cache::Projects;

    #[test]
    fn a_request_can_be_taken_apart_by_its_lengths() {
        assert_eq!(request(b"0000000004code", &["a\n", "", "é"]), "0000000004code2 0 2\na\né".as_bytes());
    }

    /// `cargo test --lib times_of_a_trial -- --ignored --nocapture`: medians, taken in turns. Not a test: it
    /// only prints.
    #[test]
    #[ignore = "prints times"]
    fn times_of_a_trial() {
        use std::process::Command;
        use std::time::Instant;
        let (sandbox, Ok(python)) = (Sandbox::probe(Tier::Full), super::super::RECIPE.find()) else {
            return eprintln!("skipped: no Python");
        };
        let (projects, cancel) = (Projects::default(), AtomicBool::new(false));
        let at = Context { sandbox: &sandbox, projects: &projects, kept: None, patience: 1, cancel: &cancel };
        let programs = Programs::compile(&python).unwrap();
        let runs = Runs { at: &at, python: &python, programs: &programs, limits: Limits::default() };
        let program = "def f(x):\n    return 2 * x\n";
        let tests = "assert f(3) == 6\nassert f(4) == 8\n";
        let fields = [program, "f", "", "test_f.py", tests, ""];
        let passes = |evidence: &Evidence| decide(evidence, &runs.limits).unwrap().has_passed();
        let plain = || {
            let script = format!("{program}{tests}");
            Command::new(&python.program).args(["-s", "-B", "-X", "utf8", "-c", &script]).status().unwrap();
        };
        let one = || assert!(passes(&runs.in_one(Style::Source, fields).unwrap()));
        let two = || assert!(passes(&runs.in_two(Style::Source, fields).unwrap().unwrap()));
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
