//! Runs trials: the interpreter resolved once, the protection proved once.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Deserialize;

use super::process::{self, Job};
use super::python::{self, Python};
use super::sandbox::Sandbox;
use super::scratch::Scratch;
use super::verdict::{Ending, Remains, judge};
use super::{Limits, Protection, Tests, Trial, TrialError, Verdict};
use crate::untrusted::clean_line;

/// Runs trials, several at a time if several threads ask.
#[derive(Clone, Debug)]
pub struct Runner {
    python: Option<Python>,
    sandbox: Sandbox,
    protection: Protection,
    accepted: bool,
}

impl Runner {
    /// Finds the interpreter and proves the protection by a run that tries to break it.
    pub fn probe() -> Self {
        let python = Python::find();
        let mut sandbox = Sandbox::available();
        let mut protection = Protection { tier: "none".to_owned(), limits: cfg!(unix), ..Protection::default() };
        let Some(interpreter) = &python else {
            protection.summary = "sandbox: not tried, there is no Python to run".to_owned();
            return Self { python, sandbox, protection, accepted: false };
        };
        match prove(interpreter, &sandbox) {
            Ok(proof) => {
                if proof.read || proof.write {
                    sandbox.landlock_abi = 0;
                }
                if proof.socket {
                    sandbox.seccomp = false;
                }
                protection.landlock_abi = sandbox.landlock_abi;
                protection.seccomp = sandbox.seccomp;
                protection.no_new_privs = cfg!(target_os = "linux");
                if !proof.own {
                    protection.landlock_abi = 0;
                }
            }
            Err(_) => sandbox = Sandbox::none(),
        }
        let missing = match (protection.landlock_abi > 0, protection.seccomp) {
            (true, true) => None,
            (false, true) => Some("files are open to it: this kernel has no Landlock"),
            (true, false) => Some("the network is open to it: this kernel has no seccomp filters"),
            (false, false) => Some("files and network are open to it: this system has neither Landlock nor seccomp"),
        };
        (protection.tier, protection.summary) = match missing {
            None => {
                ("kernel rules".to_owned(), "sandbox: kernel rules (files, network, limits per process)".to_owned())
            }
            Some(what) => ("none".to_owned(), format!("sandbox: none; {what}")),
        };
        Self { python, sandbox, protection, accepted: false }
    }

    /// A runner without any isolation, as on a system that has none. Runs nothing until [`Runner::allow_unprotected`].
    pub fn without_isolation() -> Self {
        let summary = "sandbox: none; isolation is switched off".to_owned();
        let protection = Protection { tier: "none".to_owned(), limits: cfg!(unix), summary, ..Protection::default() };
        Self { python: Python::find(), sandbox: Sandbox::none(), protection, accepted: false }
    }

    /// Runs trials even where nothing protects the user, who has accepted that.
    #[must_use]
    pub fn allow_unprotected(mut self) -> Self {
        self.accepted = true;
        self
    }

    /// What protects the user.
    pub fn protection(&self) -> &Protection {
        &self.protection
    }

    /// The Python interpreter that programs are run with.
    pub fn python(&self) -> Option<&Path> {
        self.python.as_ref().map(|p| p.binary.as_path())
    }

    /// Refuses a tests file that does not parse, before any work is put into candidates.
    pub fn check_tests(&self, tests: &Tests) -> Result<(), TrialError> {
        #[derive(Deserialize)]
        struct Answer {
            problem: Option<String>,
        }
        let Tests::Source { name, text } = tests else { return Ok(()) };
        let limits = Limits::default();
        let remains = self.execute(python::SYNTAX_CHECK, text.clone().into_bytes(), limits, &Arc::default())?;
        match serde_json::from_slice::<Answer>(&remains.record) {
            Ok(Answer { problem: Some(problem) }) => {
                Err(TrialError::Tests { name: name.clone(), problem: clean_line(&problem, 200) })
            }
            // A parser that fails in another way says nothing about the file.
            _ => Ok(()),
        }
    }

    /// Runs one trial and waits for it. `cancel` set to true ends it within 50 ms (`Killed`). A fault of the sandbox itself is an error,
    /// not a verdict.
    pub fn run(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        if !(self.protection.is_isolated() || self.accepted) {
            return Err(TrialError::Unprotected(self.protection.summary.clone()));
        }
        let nonce = nonce()?;
        let remains = self.execute(python::DRIVER, python::task(trial, &nonce), trial.limits, cancel)?;
        Ok(judge(&remains, &nonce))
    }

    fn execute(
        &self,
        program: &str,
        input: Vec<u8>,
        limits: Limits,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Remains, TrialError> {
        let python = self.python.as_ref().ok_or(TrialError::NoInterpreter { language: "python" })?;
        execute(python, &self.sandbox, program, input, limits, cancel)
    }
}

fn execute(
    python: &Python,
    sandbox: &Sandbox,
    program: &str,
    input: Vec<u8>,
    limits: Limits,
    cancel: &Arc<AtomicBool>,
) -> Result<Remains, TrialError> {
    let fault = |e: std::io::Error| TrialError::Sandbox(e.to_string());
    let scratch = Scratch::new().map_err(fault)?;
    let mut args: Vec<&str> = python::OPTIONS.to_vec();
    args.extend(["-c", program]);
    let job = Job {
        program: &python.binary,
        args: &args,
        folder: scratch.path(),
        readable: &python.folders,
        sandbox,
        limits,
        input,
    };
    process::run(job, cancel).map_err(fault)
}

/// What worked inside the sandbox.
#[derive(Debug, Deserialize)]
struct Proof {
    read: bool,
    write: bool,
    socket: bool,
    own: bool,
}

/// Runs the attempt to break out against a folder of our own.
fn prove(python: &Python, sandbox: &Sandbox) -> Result<Proof, TrialError> {
    let fault = |e: std::io::Error| TrialError::Sandbox(e.to_string());
    let outside = Scratch::new().map_err(fault)?;
    std::fs::write(outside.path().join("secret"), "secret").map_err(fault)?;
    let input = outside.path().to_string_lossy().into_owned().into_bytes();
    let limits = Limits { wall: Duration::from_secs(5), ..Limits::default() };
    let remains = execute(python, sandbox, python::PROBE, input, limits, &Arc::default())?;
    if remains.ending != Ending::Exited(0) {
        return Err(TrialError::Sandbox("the probe did not come to its end".to_owned()));
    }
    serde_json::from_slice(&remains.record).map_err(|e| TrialError::Sandbox(e.to_string()))
}

/// 128 bits that the code under test cannot guess.
fn nonce() -> Result<String, TrialError> {
    use std::fmt::Write;
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut f| std::io::Read::read_exact(&mut f, &mut bytes))
        .map_err(|e| TrialError::Sandbox(format!("no random numbers: {e}")))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
