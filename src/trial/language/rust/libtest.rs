//! What the test programs of Rust print. On the unchanged project it decides what is wanted; of a candidate's
//! run it is only shown. Pure.

use super::single::panic_message;

/// The tests that a program lists. `None` if a part of the list is missing.
pub fn listed(output: &str) -> Option<Vec<String>> {
    let names: Vec<String> = output.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect();
    // The last line counts them.
    let count = format!("{} {}, ", names.len(), if names.len() == 1 { "test" } else { "tests" });
    output.lines().any(|line| line.starts_with(&count)).then_some(names)
}

/// The tests that failed, from the list at the end.
pub fn failures(output: &str) -> Vec<&str> {
    let Some((_, list)) = output.rsplit_once("\nfailures:\n") else { return Vec::new() };
    list.lines().map_while(|line| line.strip_prefix("    ")).collect()
}

/// Why a test failed, on one line, from what it printed.
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

/// What was printed, without the lines about our own test and the counts that it is part of.
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
    fn a_list_has_to_be_whole() {
        assert_eq!(listed("a: test\nb::c: test\n\n2 tests, 0 benchmarks\n").unwrap(), ["a", "b::c"]);
        assert_eq!(listed("a: test\n\n2 tests, 0 benchmarks\n"), None);
        assert_eq!(listed("0 tests, 0 benchmarks\n").unwrap().len(), 0);
        assert_eq!(listed(""), None);
    }

    #[test]
    fn our_own_test_is_not_shown() {
        let output = "\nrunning 2 tests\ntest a ... ok\ntest s::end ... ok\n\ntest result: ok. 2 passed\n";
        assert_eq!(shown(output, "s::end"), "test a ... ok\n\n");
    }
}
