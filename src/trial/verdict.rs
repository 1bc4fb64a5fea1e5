//! Verdicts: a status with its message, and how those of several tests are put together.

use serde::{Deserialize, Serialize};

use super::error::TrialError;
use super::evidence::{LeftOut, Noticed};
use super::suspicious::SuspiciousUse;
use crate::sandbox::{Protection, Tier};
use crate::untrusted::{clean, clean_line};

/// Most columns of a message.
pub(super) const COLUMNS: usize = 400;
/// The message of a candidate that has no tests, of which nothing else is known.
const NO_TESTS: &str = "no tests";
/// Messages of programs that look for another machine, in lower case.
const LOOKUPS: &[&str] = &[
    "failure in name resolution", "getaddrinfo e", "no such host", "failed to lookup address",
    "network is unreachable", "connect enetunreach", "gaierror", "name or service not known", "server misbehaving",
];
/// Errors of tests that want something of their machine.
const OF_MACHINE: &[&str] = &[
    "BlockingIOError", "Connection refused", "ConnectionError", "ConnectionRefusedError", "EACCES", "ECONNREFUSED",
    "ENOENT", "EPERM", "EROFS", "FileNotFoundError", "No such file", "OSError", "Permission denied", "PermissionError",
    "TimeoutError", "executable file not found", "no such file", "operation not permitted", "permission denied",
];
/// Words of frameworks for an error that was expected and did not come, in lower case. Its name stands beside
/// them.
const NOT_RAISED: &[&str] = &["did not raise", "not raised", "missing expected", "did not throw"];
/// Most tests that are named because they say nothing either.
const MOST_OTHERS: usize = 4;
/// Most marks of one verdict.
const MOST_MARKS: usize = 5;

/// The end of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All tests ran and passed.
    Passed,
    /// The tests ran and a check failed.
    Failed,
    /// The code could not be loaded, or the tests could not be started.
    Error,
    /// The wall-clock limit was hit.
    Timeout,
    /// A limit, a signal or an exit before the completion record ended the process. The message says which.
    Killed,
    /// The code interfered with the judging.
    Tampered,
    /// There was nothing to run.
    NotRun,
}

impl Status {
    /// Name of the status on the screen and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Status::Passed => "PASS",
            Status::Failed => "FAIL",
            Status::Error => "ERROR",
            Status::Timeout => "TIMEOUT",
            Status::Killed => "KILLED",
            Status::Tampered => "TAMPERED",
            Status::NotRun => "NOT RUN",
        }
    }
}

/// Details behind a verdict: the runner, and the suspicious uses in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Assurance {
    /// Name of the runner in its own spelling; empty if none was started.
    pub runner: String,
    /// Tests and examples beside a pass that do not confirm it, and suspicious uses in the code that neither
    /// the user's text nor the tests ask for; a sentence each.
    pub marks: Vec<String>,
    /// Each test by name, and true if it passed; only where tests are reported by name.
    #[serde(skip)]
    pub checks: Vec<(String, bool)>,
    /// The tests that do not count; the message has their words.
    #[serde(skip)]
    pub left_out: LeftOut,
}

/// The result of one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The end of the trial.
    pub status: Status,
    /// One line for the reader: the first failing check, the limit hit, the error; cleaned. `3 checks` for a
    /// pass.
    pub message: String,
    /// Wall time of the tests in ms.
    pub duration_ms: u64,
    /// Total time that the user waited, in ms: copies, building and runs without the candidate included.
    pub waited_ms: u32,
    /// Output of the code, capped and cleaned.
    pub output: String,
    /// The runner and the marks.
    pub assurance: Box<Assurance>,
    /// The interpreter that ran the tests and the reason for its choice, if a project may have its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<String>,
    /// The tests that decided, if others were tried before them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// The test that failed and why, if tests are reported by name.
    #[serde(skip)]
    pub failed: Option<(String, String)>,
    /// True if the tests pass with one of the vacuity bodies as well.
    #[serde(skip)]
    pub is_partial: bool,
    /// True if the tests might say more where they can be run: their runner, a package, or something that they
    /// want of the machine is missing.
    #[serde(skip)]
    pub is_unheard: bool,
    /// True if nothing is heard of any candidate: the tests, all of which ran, do not notice the function, or
    /// fail without calling it.
    #[serde(skip)]
    pub is_unnoticed: bool,
    /// The bodies that the tests are known to fail with.
    #[serde(skip)]
    pub noticed: Noticed,
}

impl Assurance {
    /// Combines two verdicts when tests of several kinds decide.
    fn with(mut self, other: &Self) -> Self {
        if self.runner.is_empty() {
            self.runner.clone_from(&other.runner);
        } else if !self.runner.contains(&other.runner) {
            self.runner = format!("{}, {}", self.runner, other.runner);
        }
        self.checks.extend(other.checks.iter().cloned());
        let new = other.marks.iter().filter(|mark| !self.marks.contains(mark)).cloned().collect::<Vec<_>>();
        self.marks.extend(new);
        if self.left_out.names.is_empty() {
            self.left_out.clone_from(&other.left_out);
        }
        self
    }
}

impl Verdict {
    /// The verdict of a candidate that has no tests.
    pub fn no_tests() -> Self {
        Self::not_run(NO_TESTS)
    }

    /// The verdict of a candidate on which nothing was run.
    pub fn not_run(message: &str) -> Self {
        let message = clean_line(message, COLUMNS);
        Self {
            status: Status::NotRun,
            message,
            duration_ms: 0,
            waited_ms: 0,
            output: String::new(),
            assurance: Box::default(),
            interpreter: None,
            tests: None,
            failed: None,
            is_partial: false,
            is_unheard: false,
            is_unnoticed: false,
            noticed: Noticed::Unknown,
        }
    }

    /// The first mark for the reader, and the number of the others.
    pub fn mark(&self) -> Option<String> {
        self.assurance.marks.first().map(|first| match self.assurance.marks.len() {
            1 => first.clone(),
            more => format!("{first}, and {} more", more - 1),
        })
    }

    /// The message for the reader, with the mark of a pass, or of what no test judges, and the remark about
    /// vacuous tests behind it.
    pub fn words(&self) -> String {
        self.parts().join("; ")
    }

    /// The sentences of [`Self::words`].
    pub fn parts(&self) -> Vec<String> {
        let mark = self.mark().filter(|_| matches!(self.status, Status::Passed | Status::NotRun));
        let tests = self.tests.as_ref();
        let tests = tests.map(|tests| format!("decided by {tests}"));
        [Some(self.message.clone()), mark, tests].into_iter().flatten().collect()
    }

    /// [`Self::words`] for a reader who knows that there are no tests: empty if nothing else is known.
    pub fn news(&self) -> String {
        if self.message == NO_TESTS { self.mark().unwrap_or_default() } else { self.words() }
    }

    /// [`Self::words`] with the lines of the reason of the test that failed, if it has several.
    pub fn lines(&self) -> String {
        let words = self.words();
        let Some(why) = self.failed.as_ref().map(|(_, why)| clean(why)).filter(|why| why.trim().contains('\n')) else {
            return words;
        };
        let flat = clean_line(&why, usize::MAX);
        let (begin, _) = flat.split_at(flat.char_indices().nth(20).map_or(flat.len(), |(at, _)| at));
        match words.find(begin) {
            // The message may have been cut.
            Some(at) => {
                let rest = words[at..].strip_prefix(&flat).unwrap_or_default();
                let why: Vec<&str> = why.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
                format!("{}{}{rest}", &words[..at], why.join("\n"))
            }
            None => words,
        }
    }

    /// Its times for the reader: the time of the tests, and the total time if that is longer.
    pub fn time(&self) -> String {
        let all = Some(self.waited_ms).filter(|waited| u64::from(*waited) > self.duration_ms);
        let all = all.map(|waited| format!(", {waited} ms in all")).unwrap_or_default();
        format!("{} ms{all}", self.duration_ms)
    }

    /// Words of this verdict without those about tests that are left out.
    pub fn without_remark(&self, words: &str) -> String {
        words.replacen(&self.assurance.left_out.remark(), "", 1)
    }

    /// Returns true if all tests ran and passed.
    pub fn has_passed(&self) -> bool {
        self.status == Status::Passed
    }

    /// Number of the tests that passed, up to the first failure.
    pub fn passed_checks(&self) -> usize {
        self.assurance.checks.iter().filter(|(_, has_passed)| *has_passed).count()
    }

    /// Returns true if the code has suspicious uses, or tests beside a pass do not confirm it.
    pub fn is_marked(&self) -> bool {
        !self.assurance.marks.is_empty()
    }

    /// Adds suspicious uses of the code.
    #[must_use]
    pub(super) fn marked(mut self, found: &[SuspiciousUse]) -> Self {
        self.assurance.marks.extend(found.iter().map(|used| clean_line(&used.sentence(), COLUMNS)));
        self.assurance.marks.truncate(MOST_MARKS);
        self
    }

    /// Adds marks before the others, a sentence each.
    #[must_use]
    pub fn with_marks(mut self, sentences: &[String]) -> Self {
        let sentences = sentences.iter().map(|sentence| clean_line(sentence, COLUMNS));
        self.assurance.marks.splice(0..0, sentences).for_each(drop);
        self.assurance.marks.truncate(MOST_MARKS);
        self
    }

    /// Marks a pass with other tests that do not confirm it, a sentence each.
    #[must_use]
    pub(super) fn despite(self, others: &[String]) -> Self {
        if self.has_passed() { self.with_marks(others) } else { self }
    }

    /// Names the runner of the tests.
    #[must_use]
    pub(super) fn by(mut self, runner: &str) -> Self {
        self.assurance.runner = clean_line(runner, COLUMNS);
        self
    }

    /// The verdict of tests of several kinds: the first that is no pass, unless it only had nothing to run;
    /// else all of them combined.
    pub fn of_all(each: impl Iterator<Item = Result<Self, TrialError>>) -> Result<Self, TrialError> {
        let mut all: Option<Self> = None;
        for verdict in each {
            let verdict = verdict?;
            all = Some(match all {
                _ if !matches!(verdict.status, Status::Passed | Status::NotRun) => return Ok(verdict),
                Some(known) if verdict.status == Status::NotRun => known,
                Some(known) if known.has_passed() => Self {
                    message: both(&known.message, &verdict.message),
                    duration_ms: known.duration_ms + verdict.duration_ms,
                    output: known.output + &verdict.output,
                    assurance: Box::new(known.assurance.with(&verdict.assurance)),
                    noticed: known.noticed.max(verdict.noticed),
                    ..verdict
                },
                _ => verdict,
            });
        }
        Ok(all.unwrap_or_else(|| Self::not_run("there are no tests")))
    }

    /// Adds the interpreter that ran the tests. A message about a missing package names it.
    #[must_use]
    pub fn with_interpreter(mut self, interpreter: String) -> Self {
        if self.message.contains("No module named") {
            self.message = format!("{}; this is {interpreter}", self.message);
        }
        Self { interpreter: Some(interpreter), ..self }
    }

    /// The verdict of tests that never called the function. `failure` is the first that fails nevertheless.
    pub fn unreached(function: Option<&str>, failure: Option<&str>) -> Self {
        let function = function.unwrap_or("the function");
        match failure {
            Some(why) => {
                let message = format!("the tests fail without calling `{function}`: {why}");
                let verdict = Self::not_run(&message);
                // Where the machine is at fault they may call it elsewhere.
                let is_unnoticed = !verdict.is_of_machine(|_| true);
                Self { is_unheard: true, is_unnoticed, ..verdict }
            }
            None => Self::not_run("").vacuous(function),
        }
    }

    /// The verdict of vacuous tests.
    #[must_use]
    pub fn vacuous(self, function: &str) -> Self {
        let message = format!("these tests do not notice `{function}`: they pass when it does nothing as well");
        Self { status: Status::NotRun, message, is_unnoticed: true, ..self }
    }

    /// A verdict beside tests that hit a limit, which `hit` tells: a pass of those that notice little is none.
    #[must_use]
    pub fn beside_limit(self, hit: &str) -> Self {
        if !(self.has_passed() && self.is_partial) {
            return self;
        }
        let hit = Some(hit).filter(|hit| !self.message.contains(hit)).map(|hit| format!("; {hit}")).unwrap_or_default();
        let message = clean_line(&format!("{}{hit}", self.message), COLUMNS);
        Self { status: Status::NotRun, message, is_partial: false, ..self }
    }

    /// Adds the tests that decided after others had said nothing.
    #[must_use]
    pub fn of_other_tests(self, tests: &str) -> Self {
        Self { tests: Some(clean_line(tests, COLUMNS)), ..self }
    }

    /// Adds the tests that were left out, each with the reason.
    #[must_use]
    pub fn without_tests(self, left_out: &[String]) -> Self {
        if left_out.is_empty() || self.status == Status::NotRun {
            return self;
        }
        let message = format!("{}; {}", self.message, left_out.join("; "));
        Self { message: clean_line(&message, COLUMNS), ..self }
    }

    /// The verdict beside tests that may notice the function and are not heard: a limit was hit, their runner is
    /// missing.
    #[must_use]
    pub(super) fn beside_unheard(self, are_unheard: bool) -> Self {
        Self { is_unnoticed: self.is_unnoticed && !are_unheard, ..self }
    }

    /// Adds other tests that said nothing either.
    #[must_use]
    pub fn nor_by(self, others: &[String]) -> Self {
        if others.is_empty() {
            return self;
        }
        // Each has room for its reason.
        let named: Vec<String> = others.iter().take(MOST_OTHERS).map(|other| clean_line(other, COLUMNS / 2)).collect();
        let more = others.len() - named.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let nor = "the other tests that were found decide nothing either";
        Self { message: format!("{}; {nor}: {}{more}", self.message, named.join(", ")), ..self }
    }

    /// Adds what the sandbox withholds from tests, if the message shows that one failed by it, or `program`
    /// reads it. `is_withheld` tells this of a variable of the environment. A test that looked for another
    /// machine says nothing.
    #[must_use]
    pub fn explained(self, protection: &Protection, is_withheld: impl Fn(&str) -> bool, program: &str) -> Self {
        if self.has_passed() {
            return self;
        }
        let words = self.message.to_lowercase();
        let is_refused = ["operation not permitted", "eperm"].iter().any(|error| words.contains(error));
        let is_lookup = self.is_lookup();
        let tier = &protection.tier;
        let withheld = self.missing_key().into_iter().chain(words_beside_env(program)).find(|name| is_withheld(name));
        let why = match withheld {
            _ if is_lookup => "tests have no network, and reach no other machine".to_owned(),
            Some(name) => format!(
                "the variable {name} of your environment is withheld from tests (--test-command 'env {name}=… …' gives it)"
            ),
            None if is_refused && protection.seccomp && *tier != Tier::Full.name() => format!(
                "the sandbox is in the tier \"{tier}\", where sockets and changes of a file's mode or times are refused; \
                 the tier \"full\" allows them (see bass-tui doctor)"
            ),
            None => return self,
        };
        let status = if is_lookup && self.status == Status::Failed { Status::NotRun } else { self.status };
        Self { status, message: format!("{}; {why}", self.message), ..self }
    }

    /// Returns true if the failure may be one of this machine, or of the sandbox: a file, a program or another
    /// machine that a test wants and does not get, or a variable that is withheld.
    pub(super) fn is_of_machine(&self, is_withheld: impl Fn(&str) -> bool) -> bool {
        let is_variable = || self.missing_key().is_some_and(is_withheld);
        let is_wanting = || OF_MACHINE.iter().any(|error| self.message.contains(error)) && !self.lacks_error();
        self.is_lookup() || is_variable() || is_wanting()
    }

    /// Returns true if a test looked for another machine.
    fn is_lookup(&self) -> bool {
        let words = self.message.to_lowercase();
        LOOKUPS.iter().any(|error| words.contains(error)) && !self.lacks_error()
    }

    /// Returns true if a test expected an error that did not come.
    fn lacks_error(&self) -> bool {
        let words = self.message.to_lowercase();
        NOT_RAISED.iter().any(|said| words.contains(said))
    }

    /// The key of a failed lookup, which may be a variable of the environment.
    fn missing_key(&self) -> Option<&str> {
        self.message.split("KeyError: '").nth(1).and_then(|rest| rest.split('\'').next())
    }

    /// The verdict of tests that cannot be run or fail for the same reason without the candidate.
    #[must_use]
    pub fn without_candidate(self) -> Self {
        let so = match self.status {
            Status::Failed => "a test fails without the candidate as well, and for the same reason",
            _ => "the tests cannot be run without the candidate either",
        };
        let message = format!("{so}: {}", self.message);
        let is_unheard = self.status != Status::Failed;
        Self { status: Status::NotRun, message: clean_line(&message, COLUMNS), is_unheard, ..self }
    }
}

/// The messages of two passes as one: numbers of tests are added.
fn both(one: &str, other: &str) -> String {
    let number = |words: &str| words.strip_suffix(" tests").or(words.strip_suffix(" test"))?.parse::<u64>().ok();
    match (number(one), number(other)) {
        (Some(one), Some(other)) => count(one + other, "test"),
        _ => format!("{one}, {other}"),
    }
}

pub(super) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The words of lines that speak of the environment, among which are the variables that code of any language
/// reads.
fn words_beside_env(program: &str) -> impl Iterator<Item = &str> {
    let lines = program.lines().filter(|line| line.to_lowercase().contains("env"));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| word.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_tests_that_say_nothing_are_not_all_named() {
        let others: Vec<String> = (0..6).map(|at| format!("test_{at}.py")).collect();
        let message = Verdict::not_run("no runner").nor_by(&others).message;
        assert!(
            message.starts_with("no runner; ")
                && message.ends_with(": test_0.py, test_1.py, test_2.py, test_3.py, and 2 more"),
            "{message}"
        );
    }

    #[test]
    fn a_failure_by_what_is_withheld_says_so_once() {
        let protection = |tier: &str| Protection { tier: tier.to_owned(), seccomp: true, ..Protection::default() };
        let said = |status, message: &str, tier| {
            let verdict = Verdict { status, ..Verdict::not_run(message) };
            let words = verdict.explained(&protection(tier), |name| name == "TOKEN", "").message;
            words.strip_prefix(message).unwrap().trim_start_matches("; ").to_owned()
        };
        let refused = "listen tcp: socket: operation not permitted";
        let words = said(Status::Failed, refused, "kernel rules");
        assert!(words.contains("\"kernel rules\"") && words.contains("\"full\""), "{words}");
        assert_eq!(words, said(Status::NotRun, "listen EPERM: operation not permitted", "kernel rules"));
        for (status, message, tier) in [
            (Status::Failed, refused, "full"),
            (Status::Passed, refused, "kernel rules"),
            (Status::Failed, "1 != 2", "kernel rules"),
            (Status::Failed, "KeyError: 'other'", "full"),
        ] {
            assert_eq!(said(status, message, tier), "", "{message}");
        }
        for lookup in ["ConnectionError: Temporary failure in name resolution", "Error: getaddrinfo EAI_AGAIN x"] {
            assert_eq!(said(Status::Failed, lookup, "full"), "tests have no network, and reach no other machine");
        }
        assert_eq!(said(Status::Failed, "expected 'ENOTFOUND', got undefined", "full"), "");
        let of_variable = "the variable TOKEN of your environment is withheld from tests";
        assert!(said(Status::Failed, "test_a: KeyError: 'TOKEN'", "full").starts_with(of_variable));
        let reads = |program: &str, status| {
            let verdict = Verdict { status, ..Verdict::not_run("1 != 2") };
            verdict.explained(&protection("full"), |name| name == "TOKEN", program).message.contains(of_variable)
        };
        for line in
            ["os.environ.get('TOKEN', '')", "const { TOKEN } = process.env;", "os.Getenv(\"TOKEN\")", "env!(\"TOKEN\")"]
        {
            assert!(reads(&format!("f\n  {line}\n"), Status::Failed), "{line}");
        }
        assert!(!reads("os.environ.get('TOKEN')", Status::Passed));
        for line in ["os.environ.get('TOKENS')", "'TOKEN' in kinds"] {
            assert!(!reads(line, Status::Failed), "{line}");
        }
    }

    #[test]
    fn an_error_that_did_not_come_is_no_fault_of_the_machine() {
        let verdict = |message: &str| Verdict { status: Status::Failed, ..Verdict::not_run(message) };
        for (message, is_of_machine) in [
            ("test_a: FileNotFoundError: [Errno 2] No such file or directory: 'a'", true),
            ("test_a: socket.gaierror: [Errno -3] Temporary failure", true),
            ("test_a: Failed: DID NOT RAISE <class 'FileNotFoundError'>", false),
            ("test_a: AssertionError: TimeoutError not raised by read", false),
            ("test_a: AssertionError: gaierror not raised", false),
            ("reads: Missing expected exception: ENOENT is thrown", false),
            (
                "reads: expect(received).toThrow(expected) Expected substring: \"ENOENT\" Received function did not throw",
                false,
            ),
        ] {
            assert_eq!(verdict(message).is_of_machine(|_| false), is_of_machine, "{message}");
            let explained = verdict(message).explained(&Protection::default(), |_| false, "");
            assert!(is_of_machine || explained.status == Status::Failed, "{message}");
        }
        let failure = "Failed: DID NOT RAISE <class 'FileNotFoundError'>";
        assert!(Verdict::unreached(Some("f"), Some(failure)).is_unnoticed);
    }

    #[test]
    fn a_reason_in_lines_keeps_them() {
        let why = "not equal:\n+ actual - expected\n\n+ 3\n- 6\n (f.js:2)";
        let failed = Some(("adds".to_owned(), why.to_owned()));
        let verdict = Verdict { failed, ..Verdict::not_run(&format!("adds: {why}; left out: b")) };
        assert_eq!(verdict.words(), "adds: not equal: + actual - expected + 3 - 6 (f.js:2); left out: b");
        assert_eq!(verdict.lines(), "adds: not equal:\n+ actual - expected\n+ 3\n- 6\n (f.js:2); left out: b");
        let other = Verdict { message: "no result after 5 s".to_owned(), ..verdict };
        assert_eq!(other.lines(), other.words());
    }

    #[test]
    fn tests_of_several_kinds_have_to_pass_each() {
        let verdict = |status, message: &str, runner| Verdict { status, ..Verdict::not_run(message) }.by(runner);
        let two = verdict(Status::Passed, "2 tests", "doctest");
        let five = verdict(Status::Passed, "5 tests", "pytest");
        let none = verdict(Status::NotRun, "no tests were run", "pytest");
        let failed = verdict(Status::Failed, "no", "pytest");
        let of = |each: &[&Verdict]| {
            let all = Verdict::of_all(each.iter().map(|&verdict| Ok(verdict.clone()))).unwrap();
            (all.status, all.message, all.assurance.runner)
        };
        let both = (Status::Passed, "7 tests".to_owned(), "doctest, pytest".to_owned());
        assert_eq!(of(&[&two, &five]), both);
        assert_eq!(of(&[&none, &two, &five, &none]), both);
        assert_eq!(of(&[&two, &failed, &five]).0, Status::Failed);
        assert_eq!(of(&[&failed, &two]).0, Status::Failed);
        assert_eq!(of(&[&none, &none]).0, Status::NotRun);
        assert_eq!(of(&[]).0, Status::NotRun);
    }
}
