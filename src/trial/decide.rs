//! Computes the verdict from the evidence. Pure. Every rule of a pass stands here, and nothing else makes
//! one.
//!
//! A pass requires that the process ended by itself with 0 and hit no limit. It requires a report of this run
//! that nothing else wrote to, with every required test in it as passed, and unchanged tests. Printed output
//! counts for nothing.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::error::TrialError;
use super::evidence::{Evidence, Failure, Outcome, Report, Reporter, TestEnd};
use super::verdict::{Assurance, COLUMNS, Status, Verdict, count};
use crate::sandbox::{Ended, Limits, Run};
use crate::untrusted::{clean, clean_line};

/// Words for a process that goes on behind the tests, which all have ended.
const HELD: &str = "the tests ended, but the process does not end by itself";
/// Most tests of one verdict that are kept by name.
const MOST_CHECKS: usize = 500;

/// The verdict. If an interpreter did not start, the sandbox is at fault, not the code.
pub fn decide(evidence: &Evidence, limits: &Limits) -> Result<Verdict, TrialError> {
    let Evidence { run, report, changed, left_out, .. } = evidence;
    let is_silent = matches!(report, Report::Missing | Report::Forged);
    if !run.has_started && is_silent && run.ended != Ended::Cancelled {
        return Err(did_not_come_up(run));
    }
    let found = match &evidence.missing {
        Some(missing) if run.ended == Ended::Exited(0) => (Status::NotRun, missing.clone()),
        _ => of_process(evidence, limits),
    };
    let (status, message) = match (found, changed) {
        ((Status::Passed, _), Some(what)) => (Status::Tampered, format!("the code changed {what}")),
        (found, _) => found,
    };
    let of_report = || first_failure(evidence).map(|test| (test.name.clone(), test.why.clone()));
    let failed = match &evidence.failure {
        _ if status != Status::Failed => None,
        Some(Failure::Test { name, why }) => Some((name.clone(), why.clone())),
        _ => of_report(),
    };
    let message = message + &left_out.remark();
    let is_silent = status == Status::NotRun && (evidence.unfinished.is_some() || evidence.is_unrelated);
    let verdict = Verdict {
        status,
        duration_ms: run.elapsed.as_millis().try_into().unwrap_or(u64::MAX),
        output: clean(&run.output),
        assurance: Box::new(Assurance {
            runner: clean_line(&evidence.runner, 80),
            marks: Vec::new(),
            checks: checks(evidence, status),
            left_out: left_out.clone(),
        }),
        failed,
        is_unheard: evidence.missing.is_some() || status == Status::NotRun && evidence.unfinished.is_some(),
        noticed: evidence.noticed,
        ..Verdict::not_run(&message)
    };
    let verdict = if evidence.is_held { verdict.despite(&[format!("with it {HELD}")]) } else { verdict };
    // Where the machine is at fault they may call the function elsewhere.
    Ok(Verdict { is_unnoticed: is_silent && !verdict.is_of_machine(|_| true), ..verdict })
}

/// Each test of a report that ran, by name, and the one that the time was over in.
fn checks(evidence: &Evidence, status: Status) -> Vec<(String, bool)> {
    let tests = if let Report::Tests { tests, .. } = &evidence.report { &tests[..] } else { &[] };
    let ran = tests.iter().filter(|test| test.outcome != Outcome::Skipped).take(MOST_CHECKS);
    let ran = ran.map(|test| (&test.name, test.outcome == Outcome::Passed));
    let running = evidence.running.iter().filter(|_| status == Status::Timeout).map(|name| (name, false));
    ran.chain(running).map(|(name, passed)| (clean_line(name, COLUMNS), passed)).collect()
}

fn did_not_come_up(run: &Run) -> TrialError {
    let said = run.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    TrialError::Sandbox(format!("the interpreter did not come up: {}", clean_line(said, COLUMNS)))
}

/// The end of the process is judged first, then the report.
fn of_process(evidence: &Evidence, limits: &Limits) -> (Status, String) {
    match limit(evidence.run.ended, limits) {
        Some((Status::Timeout, said)) if evidence.has_ended() => (Status::Timeout, format!("{said}: {HELD}")),
        Some((Status::Timeout, said)) => (Status::Timeout, said + &unended(evidence.running.as_deref())),
        Some(hit) => hit,
        None if evidence.run.ended == Ended::Cancelled => (Status::Killed, "cancelled".to_owned()),
        None => of_report(evidence),
    }
}

/// The test that ran when the time was over, as the end of a sentence.
pub fn unended(running: Option<&str>) -> String {
    running.map_or_else(String::new, |name| format!(": {} did not end", clean_line(name, COLUMNS)))
}

/// The verdict of a process that was ended by a limit.
pub fn limit(ended: Ended, limits: &Limits) -> Option<(Status, String)> {
    let mib = |bytes: u64| format!("{} MiB", bytes.div_ceil(1 << 20));
    Some(match ended {
        Ended::WallLimit => (Status::Timeout, format!("no result after {} s", tenths(limits.wall))),
        Ended::MemoryLimit => (Status::Killed, format!("used more than {} of memory", mib(limits.memory))),
        Ended::ProcessLimit => {
            (Status::Killed, format!("started more than {} processes and threads", limits.processes))
        }
        Ended::OutputLimit => (Status::Killed, format!("printed more than {}", mib(limits.output))),
        Ended::DiskLimit => (Status::Killed, "wrote too much or too many files".to_owned()),
        Ended::Cancelled | Ended::Exited(_) | Ended::Signalled(_) => return None,
    })
}

/// The flag that raises a limit, if there is one.
pub fn raised_by(ended: Ended) -> Option<&'static str> {
    match ended {
        Ended::WallLimit => Some("--timeout"),
        Ended::MemoryLimit => Some("--memory"),
        Ended::ProcessLimit => Some("--processes"),
        _ => None,
    }
}

/// The message for a process that ended too early.
fn early_end(ended: Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("the process ended (exit code {code}) before the tests were done"),
        Ended::Signalled(signal) => {
            format!("the process was ended by {} before the tests were done", signal_name(signal))
        }
        _ => "the process did not end by itself".to_owned(),
    }
}

/// The verdict of a process that ended by itself or by a signal.
fn of_report(evidence: &Evidence) -> (Status, String) {
    let ended = evidence.run.ended;
    // A failure needs no proof.
    match &evidence.failure {
        Some(Failure::Said(why)) => return (Status::Failed, why.clone()),
        Some(Failure::Test { name, why }) => return (Status::Failed, format!("{name}: {why}")),
        Some(Failure::Reported) | None => {}
    }
    let is_done = ended == Ended::Exited(0) || evidence.failure.is_some();
    match &evidence.report {
        Report::Forged => (Status::Tampered, "the code wrote to the report of the tests".to_owned()),
        Report::Missing => match &evidence.complaint {
            Some(complaint) if matches!(ended, Ended::Exited(_)) => (Status::Error, complaint.clone()),
            _ => (Status::Killed, early_end(ended)),
        },
        Report::ExitCode(words) if is_done => (Status::Passed, words.clone()),
        Report::Tests { tests, is_whole, .. } if is_done => of_tests(evidence, tests, *is_whole),
        // The completion record is still missing.
        Report::ExitCode(_) | Report::Tests { by: Reporter::Guard, .. } => (Status::Killed, early_end(ended)),
        Report::Tests { .. } => {
            let end = match ended {
                Ended::Exited(code) => format!("ended with exit code {code}"),
                Ended::Signalled(signal) => format!("was ended by {}", signal_name(signal)),
                _ => "did not end by itself".to_owned(),
            };
            (Status::Tampered, format!("a report came, but the process {end}"))
        }
    }
}

/// The first test by name that failed, of those that count.
fn first_failure(evidence: &Evidence) -> Option<&TestEnd> {
    let Report::Tests { tests, .. } = &evidence.report else { return None };
    tests.iter().find(|test| test.outcome == Outcome::Failed && !evidence.flaky.contains(&test.name))
}

/// Judges tests by name: none may have failed, and each required one must have passed.
fn of_tests(evidence: &Evidence, tests: &[TestEnd], is_whole: bool) -> (Status, String) {
    if let Some(complaint) = &evidence.complaint {
        return (Status::Error, complaint.clone());
    }
    let flaky: HashSet<&String> = evidence.flaky.iter().collect();
    let counted: Vec<&TestEnd> = tests.iter().filter(|test| !flaky.contains(&test.name)).collect();
    let with = |outcome: Outcome| counted.iter().filter(move |test| test.outcome == outcome);
    if let Some(TestEnd { name, why, .. }) = first_failure(evidence) {
        // An example names itself, and a test that is a whole file names the place of the failure.
        let says_all = evidence.runner == "doctest" || why.contains(&format!("({name}:"));
        return (
            Status::Failed,
            match why.as_str() {
                "" => format!("{name} failed"),
                why if says_all => why.to_owned(),
                why => format!("{name}: {why}"),
            },
        );
    }
    if let Some(TestEnd { name, .. }) = with(Outcome::Odd).next() {
        return (Status::Tampered, format!("the report of {name} makes no sense"));
    }
    let early = |what: &str| (Status::Killed, format!("the process ended with exit code 0 before {what} done"));
    // Two tests in two modules may have one name.
    let times = |name: &String| tests.iter().filter(|test| test.name == *name).count();
    let asked = |name: &String| evidence.asked.iter().filter(|other| *other == name).count();
    if let Some(name) = evidence.asked.iter().find(|name| times(name) < asked(name)) {
        return early(&format!("{name} was"));
    }
    if !is_whole {
        return early("the tests were");
    }
    // Never a pass: nothing is known of what such a test asks.
    if let Some((test, function)) = &evidence.unfinished {
        let words = "which is unfinished as well: it says nothing before that is written";
        return (Status::NotRun, format!("{test} reaches `{function}`, {words}"));
    }
    let ended: HashMap<&String, Outcome> = counted.iter().map(|test| (&test.name, test.outcome)).collect();
    // The name of a test with parameters may hold what the function under test made of them.
    let is_renamed = |name: &String| {
        let Some((test, _)) = name.split_once('[') else { return false };
        let is_part = |name: &String| name.split_once('[').is_some_and(|(other, _)| other == test);
        let passed = counted.iter().filter(|end| end.outcome == Outcome::Passed && is_part(&end.name));
        passed.count() >= evidence.wanted.iter().filter(|name| is_part(name)).count()
    };
    let has_passed = evidence.wanted.iter().any(|name| ended.get(name) == Some(&Outcome::Passed));
    for name in &evidence.wanted {
        match ended.get(name) {
            None if is_renamed(name) => {}
            None => return (Status::Failed, format!("{name} ran without the candidate, but not with it")),
            Some(Outcome::Passed) => {}
            // It skips itself by what the function did, as a test may.
            Some(Outcome::Skipped) if has_passed => {}
            Some(Outcome::Skipped) if evidence.is_own => {
                return (
                    Status::NotRun,
                    format!("{name} skips itself with the function as it is, and says nothing of it"),
                );
            }
            Some(_) => return (Status::Failed, format!("{name} was skipped, and it has to run")),
        }
    }
    match with(Outcome::Passed).count() as u64 {
        0 => (Status::NotRun, "no tests were run".to_owned()),
        passed => (Status::Passed, count(passed, "test")),
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV (a bad memory access)",
        libc::SIGABRT => "SIGABRT (it aborted itself)",
        libc::SIGKILL => "SIGKILL (it killed itself, or memory ran out)",
        libc::SIGBUS => "SIGBUS (a bad memory access)",
        libc::SIGFPE => "SIGFPE (a bad calculation)",
        libc::SIGILL => "SIGILL (a bad instruction)",
        libc::SIGSYS => "SIGSYS (a forbidden system call)",
        libc::SIGXCPU => "SIGXCPU (out of processor time)",
        libc::SIGXFSZ => "SIGXFSZ (a file grew too large)",
        libc::SIGTERM => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

/// Seconds to a tenth: limits that follow from other runs have many digits.
fn tenths(time: Duration) -> f64 {
    (time.as_secs_f64() * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::trial::judge::record;

    const PASS: &str = "{\"nonce\":\"n\",\"tests\":[[\"a\",\"passed\",\"\"]],\"complaint\":\"\"}\n";

    fn run(ended: Ended, record: &str) -> Run {
        let elapsed = Duration::from_millis(5);
        Run { ended, has_started: true, record: record.as_bytes().to_vec(), output: String::new(), elapsed }
    }

    fn evidence(run: Run) -> Evidence {
        let tests = |tests| Report::Tests { by: Reporter::Runner, tests, is_whole: true };
        let report = record::named(&run.record, "n").map_or_else(|unread| unread, |names| tests(names.tests));
        Evidence::of(run, report)
    }

    fn decided(evidence: &Evidence) -> Verdict {
        decide(evidence, &Limits::default()).unwrap()
    }

    #[test]
    fn a_pass_needs_everything() {
        let verdict = decided(&evidence(run(Ended::Exited(0), PASS)));
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"));
        let cases = [
            (Ended::Exited(0), String::new(), Status::Killed),
            (Ended::Exited(1), PASS.to_owned(), Status::Tampered),
            (Ended::Signalled(9), PASS.to_owned(), Status::Tampered),
            (Ended::Signalled(11), String::new(), Status::Killed),
            (Ended::WallLimit, PASS.to_owned(), Status::Timeout),
            (Ended::MemoryLimit, PASS.to_owned(), Status::Killed),
            (Ended::OutputLimit, PASS.to_owned(), Status::Killed),
            (Ended::ProcessLimit, PASS.to_owned(), Status::Killed),
            (Ended::DiskLimit, PASS.to_owned(), Status::Killed),
            (Ended::Cancelled, PASS.to_owned(), Status::Killed),
            (Ended::Exited(0), PASS.repeat(2), Status::Tampered),
            (Ended::Exited(0), format!("x{PASS}"), Status::Tampered),
            (Ended::Exited(0), format!("{PASS}\n"), Status::Tampered),
            (Ended::Exited(0), PASS.trim_end().to_owned(), Status::Tampered),
            (Ended::Exited(0), PASS.replace("\"n\"", "\"m\""), Status::Tampered),
            (Ended::Exited(0), PASS.replace("[\"a\",\"passed\",\"\"]", ""), Status::NotRun),
            (Ended::Exited(0), PASS.replace("passed", "PASSED"), Status::Tampered),
        ];
        for (ended, record, expected) in cases {
            assert_eq!(decided(&evidence(run(ended, &record))).status, expected, "{ended:?} {record}");
        }
        let missing = Evidence { missing: Some("install it".to_owned()), ..evidence(run(Ended::Exited(0), PASS)) };
        assert_eq!((decided(&missing).status, decided(&missing).message), (Status::NotRun, "install it".to_owned()));
    }

    #[test]
    fn an_interpreter_that_does_not_come_up_is_no_verdict() {
        let mut failed = run(Ended::Exited(1), "");
        failed.has_started = false;
        failed.output = "Fatal Python error\n\n".to_owned();
        let error = decide(&evidence(failed), &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("Fatal Python error"));
    }

    fn named(by: Reporter, ended: Ended, tests: &[(&str, Outcome)]) -> Evidence {
        let tests = tests.iter().map(|(name, outcome)| TestEnd::new(name, *outcome)).collect();
        Evidence::of(run(ended, ""), Report::Tests { by, tests, is_whole: true })
    }

    #[test]
    fn every_wanted_test_has_to_pass_by_name() {
        use Outcome::{Failed, Odd, Passed, Skipped};
        let status = |tests: &[(&str, Outcome)], wanted: &[&str], flaky: &[&str]| {
            let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let all = named(Reporter::Runner, Ended::Exited(0), tests);
            decided(&Evidence { wanted: names(wanted), flaky: names(flaky), ..all }).status
        };
        let both = &["a", "b"];
        assert_eq!(status(&[("a", Passed), ("b", Passed)], both, &[]), Status::Passed);
        assert_eq!(status(&[("a", Passed), ("b", Passed), ("new", Passed)], both, &[]), Status::Passed);
        assert_eq!(status(&[("a", Passed)], both, &[]), Status::Failed, "one vanished");
        assert_eq!(status(&[("a", Passed), ("b", Skipped)], both, &[]), Status::Passed, "by what the function did");
        assert_eq!(status(&[("new", Passed), ("b", Skipped)], &["b"], &[]), Status::Failed, "another one passes");
        assert_eq!(status(&[("a", Failed), ("b", Passed)], both, &[]), Status::Failed);
        let own = |tests: &[(&str, Outcome)]| {
            let wanted = vec!["a".to_owned(), "b".to_owned()];
            let all = named(Reporter::Runner, Ended::Exited(0), tests);
            decided(&Evidence { wanted, is_own: true, ..all }).status
        };
        assert_eq!(own(&[("a", Skipped), ("b", Skipped)]), Status::NotRun, "the user's own code cannot be at fault");
        assert_eq!((own(&[("a", Passed)]), own(&[("a", Failed), ("b", Skipped)])), (Status::Failed, Status::Failed));
        assert_eq!(status(&[("a", Passed), ("b", Odd)], both, &[]), Status::Tampered);
        assert_eq!(status(&[], both, &[]), Status::Failed);
        assert_eq!(status(&[], &[], &[]), Status::NotRun, "nothing run is no pass");
        assert_eq!(status(&[("a", Skipped)], &[], &[]), Status::NotRun);
        assert_eq!(status(&[("a", Passed), ("b", Failed)], &["a"], &["b"]), Status::Passed);
        assert_eq!(status(&[("b", Passed)], &["a"], &["b"]), Status::Failed);
    }

    #[test]
    fn no_end_before_the_tests_are_done_is_a_pass() {
        let asked = || vec!["a".to_owned(), "b".to_owned()];
        let (one, both) = (&[("a", Outcome::Passed)][..], &[("a", Outcome::Passed), ("b", Outcome::Passed)][..]);
        let early = "the process ended with exit code 0 before b was done";
        let guard = |ended, tests| Evidence { asked: asked(), ..named(Reporter::Guard, ended, tests) };
        let found = |evidence: &Evidence| {
            let verdict = decided(evidence);
            (verdict.status, verdict.message)
        };
        assert_eq!(found(&guard(Ended::Exited(0), both)), (Status::Passed, "2 tests".to_owned()));
        assert_eq!(found(&guard(Ended::Exited(0), one)), (Status::Killed, early.to_owned()));
        assert_eq!(found(&guard(Ended::Exited(3), both)).0, Status::Killed);
        assert_eq!(found(&guard(Ended::Signalled(11), both)).0, Status::Killed);
        assert_eq!(found(&named(Reporter::Runner, Ended::Exited(3), both)).0, Status::Tampered);
        let twice = Evidence { asked: vec!["a".to_owned(); 2], ..guard(Ended::Exited(0), one) };
        assert_eq!(found(&twice).0, Status::Killed, "one of two with one name was cut off");
        let mut cut = guard(Ended::Exited(0), both);
        cut.report = Report::Tests { by: Reporter::Guard, tests: vec![], is_whole: false };
        cut.asked.clear();
        assert_eq!(found(&cut).0, Status::Killed);
        let failed = Failure::Said("no".to_owned());
        let failed = Evidence { failure: Some(failed), ..guard(Ended::Exited(101), both) };
        assert_eq!(found(&failed), (Status::Failed, "no".to_owned()), "passed, and yet the process says no");
    }

    #[test]
    fn a_pass_that_changed_the_tests_is_none() {
        let passed = Evidence::of(run(Ended::Exited(0), ""), Report::ExitCode("it ended with 0".to_owned()));
        assert_eq!(decided(&passed).status, Status::Passed);
        let verdict = decided(&Evidence { changed: Some("test_a.py".to_owned()), ..passed });
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Tampered, "the code changed test_a.py"));
        let failed = Evidence::of(run(Ended::Exited(1), ""), Report::ExitCode(String::new()));
        assert_eq!(decided(&failed).status, Status::Killed);
    }

    #[test]
    fn nothing_else_makes_a_pass() {
        fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
        }
        let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/trial");
        let rust = |path: &Path| path.extension().is_some_and(|ending| ending == "rs");
        for path in sources(&room)
            .into_iter()
            .filter(|path| rust(path) && !path.ends_with("verdict.rs") && !path.ends_with("decide.rs"))
        {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let names = code.lines().filter(|line| line.contains("Status::Passed") || line.contains("Status::*"));
            assert_eq!(names.collect::<Vec<_>>(), Vec::<&str>::new(), "{}: only `decide` makes a pass", path.display());
        }
    }

    #[test]
    fn the_test_that_does_not_end_is_named() {
        let begun = "began \"a\"\nbegan \"b\"\n";
        let verdict = decided(&evidence(run(Ended::WallLimit, begun)));
        assert_eq!(verdict.status, Status::Timeout);
        assert!(verdict.message.ends_with(" s: b did not end"), "{}", verdict.message);
        assert_eq!(verdict.assurance.checks, [("b".to_owned(), false)]);
        let ended = decided(&evidence(run(Ended::Exited(3), begun)));
        assert_eq!((ended.status, ended.assurance.checks.len()), (Status::Killed, 0), "{}", ended.message);
        assert!(decided(&evidence(run(Ended::WallLimit, ""))).message.ends_with(" s"));
    }

    #[test]
    fn a_process_that_goes_on_behind_its_tests_is_said_to() {
        let verdict = decided(&evidence(run(Ended::WallLimit, PASS)));
        assert_eq!(verdict.status, Status::Timeout);
        assert!(verdict.message.ends_with(&format!(" s: {HELD}")), "{}", verdict.message);
        let held = Evidence { is_held: true, ..evidence(run(Ended::Exited(0), PASS)) };
        let verdict = decided(&held);
        assert_eq!((verdict.status, verdict.mark()), (Status::Passed, Some(format!("with it {HELD}"))));
    }

    #[test]
    fn limits_are_told_to_a_tenth_of_a_second() {
        let of = |ms| tenths(Duration::from_millis(ms)).to_string();
        assert_eq!([of(10_000), of(38_299), of(500)], ["10", "38.3", "0.5"]);
    }
}
