//! Output of Rust's test programs. On the unchanged project it decides which tests are required. In a
//! candidate's run it is only shown. Pure.

use crate::sandbox::{Ended, Run};

/// Returns true if a test failed, by the exit code of Rust's test programs.
pub fn has_panicked(run: &Run) -> bool {
    run.ended == Ended::Exited(101)
}

/// The message of the first panic, on one line.
pub fn panic_message(output: &str) -> String {
    let mut lines = output.lines().skip_while(|line| !line.contains("panicked at "));
    let Some(head) = lines.next() else { return "a test failed".to_owned() };
    let place = head.split("panicked at ").nth(1).unwrap_or_default().trim_end_matches(':');
    let mut place = place.rsplitn(2, ':');
    let place = place.nth(1).or(place.next()).unwrap_or_default();
    let said: Vec<&str> = lines
        .take_while(|line| {
            !line.trim().is_empty() && !line.starts_with("note:") && !line.starts_with("stack backtrace")
        })
        .map(str::trim)
        .take(6)
        .collect();
    format!("{} ({place})", said.join(", "))
}

/// The tests that a program lists. `None` if a part of the list is missing.
pub fn listed(output: &str) -> Option<Vec<String>> {
    let names: Vec<String> = output.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect();
    // The last line holds their number.
    let count = format!("{} {}, ", names.len(), if names.len() == 1 { "test" } else { "tests" });
    output.lines().any(|line| line.starts_with(&count)).then_some(names)
}

/// The test that ran when the program was ended: the last line has no outcome.
pub fn running(output: &str) -> Option<&str> {
    output.lines().next_back()?.strip_prefix("test ")?.strip_suffix(" ... ")
}

/// The tests that failed, from the list at the end.
pub fn failures(output: &str) -> Vec<&str> {
    let Some((_, list)) = output.rsplit_once("\nfailures:\n") else { return Vec::new() };
    list.lines().map_while(|line| line.strip_prefix("    ")).collect()
}

/// The reason of a test's failure, on one line, from its output.
pub fn why(output: &str, name: &str) -> String {
    let head = format!("---- {name} stdout ----\n");
    let Some((_, own)) = output.split_once(&head) else { return panic_message(output) };
    let own = own.split_once("\n---- ").map_or(own, |(own, _)| own);
    let own = own.rsplit_once("\nfailures:\n").map_or(own, |(own, _)| own);
    if own.contains("panicked at ") {
        return panic_message(own);
    }
    let line = own.lines().map(str::trim).rfind(|line| !line.is_empty());
    line.map_or_else(|| "a test failed".to_owned(), |line| line.trim_start_matches("note: ").to_owned())
}

/// The output without the lines about the guard's own test and without the counts that include it.
pub fn shown(output: &str, secret: &str) -> String {
    let is_ours =
        |line: &str| line.contains(secret) || line.starts_with("running ") || line.starts_with("test result: ");
    let mut shown: String = output.split_inclusive('\n').filter(|line| !is_ours(line)).collect();
    shown.drain(..shown.len() - shown.trim_start_matches('\n').len());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: &str = "\nrunning 4 tests\ntest t::a ... ok\ntest t::b ... FAILED\ntest t::c - should panic ... FAILED\ntest t::d ... FAILED\n\n\
        failures:\n\n---- t::b stdout ----\nError: \"bad\"\n\n---- t::c stdout ----\nnote: test did not panic as expected at a.rs:7:29\n\
        ---- t::d stdout ----\n\nthread 't::d' (1) panicked at a.rs:8:18:\nassertion `left == right` failed: why\n  left: 1\n right: 2\n\
        stack backtrace:\n   0: x\n\n\nfailures:\n    t::b\n    t::c\n    t::d\n\ntest result: FAILED. 1 passed; 3 failed\n";

    #[test]
    fn what_failed_is_named_with_its_reason() {
        assert_eq!(failures(FAILED), ["t::b", "t::c", "t::d"]);
        assert_eq!(why(FAILED, "t::b"), "Error: \"bad\"");
        assert_eq!(why(FAILED, "t::c"), "test did not panic as expected at a.rs:7:29");
        assert_eq!(why(FAILED, "t::d"), "assertion `left == right` failed: why, left: 1, right: 2 (a.rs:8)");
        assert!(failures("test result: ok.\n").is_empty());
    }

    #[test]
    fn a_panic_is_told_on_one_line() {
        let output = "\nrunning 1 test\n\nthread 'x' panicked at t.rs:3:5:\nassertion `left == right` failed: why\n  left: 4\n right: 5\nnote: run\n";
        assert_eq!(panic_message(output), "assertion `left == right` failed: why, left: 4, right: 5 (t.rs:3)");
        assert_eq!(panic_message(""), "a test failed");
    }

    #[test]
    fn a_list_has_to_be_whole() {
        assert_eq!(listed("a: test\nb::c: test\n\n2 tests, 0 benchmarks\n").unwrap(), ["a", "b::c"]);
        assert_eq!(listed("a: test\n\n2 tests, 0 benchmarks\n"), None);
        assert_eq!(listed("0 tests, 0 benchmarks\n").unwrap().len(), 0);
        assert_eq!(listed(""), None);
    }

    #[test]
    fn a_test_without_an_outcome_ran_at_the_end() {
        assert_eq!(running("\nrunning 2 tests\ntest t::a ... ok\ntest t::b ... "), Some("t::b"));
        assert_eq!([running("test t::a ... ok\n"), running("")], [None, None]);
    }

    #[test]
    fn our_own_test_is_not_shown() {
        let output = "\nrunning 2 tests\ntest a ... ok\ntest s::end ... ok\n\ntest result: ok. 2 passed\n";
        assert_eq!(shown(output, "s::end"), "test a ... ok\n\n");
    }
}
