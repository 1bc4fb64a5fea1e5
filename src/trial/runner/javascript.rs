//! JavaScript and TypeScript: a worker with the code under test and a judge with the tests, two processes in two sandboxes.
//!
//! The judge never loads the code under test: a result comes to it as plain data and is judged like any other value. Where the tests
//! need what cannot travel, both run in one process, and the verdict says so.

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::super::toolchain::Tool;
use super::super::verdict::{self, Judged};
use super::super::{Assurance, Limits, Tests, Trial, TrialError, Verdict};
use super::{driver, nonce, pair};
use crate::language::Language;
use crate::sandbox::{Job, Sandbox};

const VALUES: &str = include_str!("javascript/values.js");
const PROGRAM: &str = include_str!("javascript/program.js");
const CHECKS: &str = include_str!("javascript/checks.js");
const WORKER: &str = include_str!("javascript/worker.js");
const JUDGE: &str = include_str!("javascript/judge.js");

/// What both processes are told.
#[derive(Serialize)]
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
    /// Whether types have to be removed.
    types: bool,
}

/// Whether this node can run programs in this language.
pub fn check(node: &Tool, language: Language) -> Result<(), TrialError> {
    if language == Language::TypeScript && node.version < (22, 13) {
        let (major, minor) = node.version;
        return Err(TrialError::Interpreter(format!(
            "TypeScript needs node 22.13 or newer, which removes types by itself, and {} is {major}.{minor}: install a newer one, or give the tests as --test-command",
            node.program.display()
        )));
    }
    Ok(())
}

/// Runs a trial.
pub fn run(sandbox: &Sandbox, node: &Tool, trial: &Trial, cancel: &AtomicBool) -> Result<Verdict, TrialError> {
    let Tests::Source { name, text } = &trial.tests else {
        return Ok(Verdict::not_run("JavaScript has no doctests: give the tests as a file"));
    };
    let nonce = nonce()?;
    check(node, trial.language)?;
    let is_typed = trial.language == Language::TypeScript;
    let ending = if is_typed { "ts" } else { "js" };
    let mut request = Request {
        nonce: &nonce,
        style: "separate",
        file: format!("{}.{ending}", trial.module.as_deref().unwrap_or("candidate")),
        program: &trial.program,
        entry: trial.entry_point.as_deref(),
        module: trial.module.as_deref(),
        tests_file: name,
        tests: text,
        types: is_typed,
    };
    let what = match separate(sandbox, node, &request, trial.limits, cancel)? {
        Judged::Verdict(verdict) => return Ok(verdict),
        Judged::NeedsOne(what) => what,
    };
    request.style = "shared";
    let verdict = shared(sandbox, node, &request, trial.limits, cancel)?;
    let message = format!("{} (in one process with the tests, as {what} cannot be passed on)", verdict.message);
    Ok(Verdict { assurance: Assurance::Shared, message, ..verdict })
}

/// Reads a tests file without running it: the verdict is an error when it does not parse.
pub fn parse(sandbox: &Sandbox, node: &Tool, name: &str, text: &str) -> Result<Verdict, TrialError> {
    let nonce = nonce()?;
    let request = Request {
        nonce: &nonce,
        style: "parse",
        file: String::new(),
        program: "",
        entry: None,
        module: None,
        tests_file: name,
        tests: text,
        types: false,
    };
    shared(sandbox, node, &request, Limits::default(), &AtomicBool::new(false))
}

/// A program of ours in node.
fn job<'a>(node: &'a Tool, parts: &[&str], request: &Request, limits: Limits) -> Job<'a> {
    let options = ["--no-warnings", "--experimental-vm-modules", "--stack-trace-limit=40", "-e"];
    let mut arguments: Vec<OsString> = options.iter().map(OsString::from).collect();
    if request.types {
        // What removes the types is WebAssembly, which would else reserve more addresses than a trial may have.
        arguments.insert(0, "--disable-wasm-trap-handler".into());
    }
    // In a function, so that none of its names is one of the tests' or the program's.
    arguments.push(format!("(() => {{\n{}\n}})()", parts.join("\n")).into());
    arguments.push("--".into());
    let request = serde_json::to_vec(request).unwrap_or_default();
    // Node ends at once if it may not read the system's OpenSSL settings.
    let environment = vec![("OPENSSL_CONF".into(), "/dev/null".into())];
    Job { readable: &node.readable, environment, ..driver(&node.program, arguments, request, limits) }
}

fn shared(
    sandbox: &Sandbox,
    node: &Tool,
    request: &Request,
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<Verdict, TrialError> {
    let job = job(node, &[VALUES, PROGRAM, CHECKS, JUDGE], request, limits);
    let run = sandbox.run(job, cancel).map_err(TrialError::Sandbox)?;
    verdict::of(&run, request.nonce, &limits)
}

fn separate(
    sandbox: &Sandbox,
    node: &Tool,
    request: &Request,
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<Judged, TrialError> {
    // The worker learns neither the tests nor the nonce.
    let told = Request { nonce: "", tests: "", ..clone(request) };
    let worker = job(node, &[VALUES, PROGRAM, WORKER], &told, limits);
    let judge = job(node, &[VALUES, PROGRAM, CHECKS, JUDGE], request, limits);
    let pair = pair::run(sandbox, judge, worker, cancel).map_err(TrialError::Sandbox)?;
    verdict::of_pair(&pair, request.nonce, &limits)
}

fn clone<'a>(request: &Request<'a>) -> Request<'a> {
    Request { file: request.file.clone(), ..*request }
}
