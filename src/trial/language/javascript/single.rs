//! JavaScript and TypeScript: a worker with the code under test and a judge with the tests, two processes in
//! two sandboxes.
//!
//! The judge never loads the code under test: a result comes to it as plain data and is judged like any other
//! value. Where the tests need what cannot travel, both run in one process, and the verdict says so.

use std::ffi::OsString;

use serde::Serialize;

use crate::language::Language;
use crate::sandbox::{Job, Limits};
use crate::trial::evidence::{Record, Report, Said};
use crate::trial::judge::pair;
use crate::trial::judge::record::judged;
use crate::trial::language::row::{Context, Evidence, Tests, Tool, Trial, TrialError, Verdict, decide, driver, nonce};

/// What both processes need.
const COMMON: [&str; 4] = [
    include_str!("driver/line.js"),
    include_str!("driver/values.js"),
    include_str!("driver/text.js"),
    include_str!("driver/program.js"),
];
const WORKER: [&str; 1] = [include_str!("driver/worker.js")];
const JUDGE: [&str; 8] = [
    include_str!("driver/checks.js"),
    include_str!("driver/timers.js"),
    include_str!("driver/mocks.js"),
    include_str!("driver/equality.js"),
    include_str!("driver/expect.js"),
    include_str!("driver/border.js"),
    include_str!("driver/framework.js"),
    include_str!("driver/judge.js"),
];

/// What both processes are told.
#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    nonce: &'a str,
    /// `separate`, `shared` or `parse`.
    style: &'a str,
    /// Name of the program's file, which says what kind of module it is.
    file: String,
    program: &'a str,
    entry: Option<&'a str>,
    module: Option<&'a str>,
    tests_file: &'a str,
    tests: &'a str,
    /// The user's file without the candidate, for the judge.
    stub: Option<&'a str>,
    /// Whether types have to be removed.
    types: bool,
}

/// A node, and where it runs.
pub struct Runs<'a> {
    pub at: &'a Context<'a>,
    pub node: &'a Tool,
    pub limits: Limits,
}

pub fn run(runs: &Runs, trial: &Trial) -> Result<Verdict, TrialError> {
    let Tests::Source { name, text } = &trial.tests else {
        return Ok(Verdict::not_run("JavaScript has no doctests: give the tests as a file"));
    };
    let nonce = nonce()?;
    let is_typed = trial.language == Language::TypeScript;
    let ending = if is_typed { "ts" } else { "js" };
    let mut request = Request {
        nonce: &nonce,
        style: "separate",
        file: format!("{}.{ending}", trial.module().unwrap_or("candidate")),
        program: &trial.program,
        entry: trial.entry_point.as_deref(),
        module: trial.module(),
        tests_file: name,
        tests: text,
        stub: trial.stub.as_deref(),
        types: is_typed,
    };
    let mut evidence = match runs.separate(&request)? {
        Ok(evidence) => evidence,
        Err(what) => {
            request.style = "shared";
            let remark = format!("in one process with the tests, as {what} cannot be passed on");
            Evidence { remark, ..runs.shared(&request)? }
        }
    };
    // What the judge adds to a pass: tests that it skipped.
    if let Report::Judge(Record { status: Said::Passed, message, .. }) = &evidence.report
        && !message.is_empty()
    {
        let parts = [message.as_str(), &evidence.remark];
        evidence.remark = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    }
    decide(&evidence, &runs.limits)
}

/// Reads a tests file without running it.
pub fn parse(runs: &Runs, name: &str, text: &str) -> Result<(), TrialError> {
    let nonce = nonce()?;
    let request = Request { nonce: &nonce, style: "parse", tests_file: name, tests: text, ..Request::default() };
    decide(&runs.shared(&request)?, &runs.limits)?.of_parsing(name)
}

impl Runs<'_> {
    fn shared(&self, request: &Request) -> Result<Evidence, TrialError> {
        let run = self.at.run(self.job(&JUDGE, request))?;
        let report = judged(&run.record, request.nonce);
        Ok(Evidence::of(run, report))
    }

    /// Or why the tests need the code in their own process.
    fn separate(&self, request: &Request) -> Result<Result<Evidence, String>, TrialError> {
        // The worker learns neither the tests nor the nonce.
        let told = Request { nonce: "", tests: "", stub: None, ..request.clone() };
        let worker = self.job(&WORKER, &told);
        let judge = self.job(&JUDGE, request);
        pair::run(self.at.sandbox, judge, worker, request.nonce, self.at.cancel)
    }

    /// A program of ours in node.
    fn job(&self, parts: &[&str], request: &Request) -> Job<'_> {
        let options = ["--no-warnings", "--stack-trace-limit=40", "-e"];
        let mut arguments: Vec<OsString> = options.iter().map(OsString::from).collect();
        if request.types {
            // What removes the types is WebAssembly, which would else reserve more addresses than a trial may
            // have.
            arguments.insert(0, "--disable-wasm-trap-handler".into());
        }
        arguments.push(script(parts).into());
        arguments.push("--".into());
        let request = serde_json::to_vec(request).unwrap_or_default();
        // Node ends at once if it may not read the system's OpenSSL settings.
        let environment = vec![("OPENSSL_CONF".into(), "/dev/null".into())];
        let Self { node, limits, .. } = *self;
        Job { readable: &node.readable, environment, ..driver(&node.program, arguments, request, limits) }
    }
}

/// The text of a program of ours, short enough for an argument: without comments and indentation. It stands
/// in a function, so that none of its names is one of the tests' or the program's.
fn script(parts: &[&str]) -> String {
    let lines = COMMON.iter().chain(parts).flat_map(|part| part.lines()).map(str::trim_start);
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("//")).collect();
    format!("(() => {{\n{}\n}})()", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The system takes no longer argument.
    #[test]
    fn programs_of_ours_fit_into_an_argument() {
        assert!(script(&JUDGE).len() < (128 << 10) - 8 && script(&WORKER).len() < script(&JUDGE).len());
    }
}
