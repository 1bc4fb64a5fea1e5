//! Tests of a Rust crate, in files of their own and inside of the code: run by name, held against the crate
//! without the candidate, and not to be deceived by what a candidate prints.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bass_tui::code::{Target, TargetSpec};
use bass_tui::language::Language;
use bass_tui::trial::{Limits, Runner, Status, Tests, Trial, Verdict};

use crate::place::{Place, trial};
use crate::runner::runner;

const MANIFEST: (&str, &str) =
    ("Cargo.toml", "[package]\nname = \"doubling\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");

/// A crate, a file in it with the function `f`, and the file of its tests.
struct Crate {
    runner: Runner,
    folder: Place,
    file: &'static str,
    tests: &'static str,
}

impl Crate {
    fn new(files: &[(&str, &str)], file: &'static str, tests: &'static str) -> Option<Self> {
        let files: Vec<_> = [MANIFEST].iter().chain(files).copied().collect();
        Some(Self { runner: runner(Language::Rust)?, folder: Place::new(&files), file, tests })
    }

    fn text(&self) -> String {
        self.folder.text(self.file)
    }

    /// The verdict of a whole file.
    fn judge(&self, program: &str, stub: Option<String>) -> Verdict {
        let tests = self.folder.tests(self.file, self.tests);
        assert!(matches!(tests, Tests::Project(_)));
        self.folder.judge(&self.runner, &Trial { stub, ..trial(Language::Rust, program, tests) })
    }

    /// The verdict of a body of `f` in the place of `todo!()`.
    fn body(&self, body: &str) -> Verdict {
        let text = self.text();
        self.judge(&text.replace("todo!()", body), Some(text))
    }

    #[track_caller]
    fn expect(&self, body: &str, status: Status, message: &str) {
        let verdict = self.body(body);
        assert_eq!((verdict.status, verdict.message.as_str()), (status, message), "{}", verdict.output);
    }
}

/// The time that tests take without the candidate counts, up to twelve times the limit.
#[test]
fn slow_rust_tests_judge_a_candidate() {
    let tests = "use doubling::f;\nuse std::time::{Duration, Instant};\n\n#[test]\nfn doubles() {\n    let begun = Instant::now();\n    \
        while begun.elapsed() < Duration::from_millis(2500) {}\n    assert_eq!(f(3), 6);\n}\n";
    let files = [("src/lib.rs", LIBRARY), ("tests/doubles.rs", tests)];
    let Some(slow) = Crate::new(&files, "src/lib.rs", "tests/doubles.rs") else { return };
    let judged = |body: &str| {
        let tests = slow.folder.tests(slow.file, slow.tests);
        let limits = Limits { wall: Duration::from_secs(1), ..Limits::default() };
        let text = slow.text();
        let program = text.replace("todo!()", body);
        let trial = Trial { stub: Some(text), limits, ..trial(Language::Rust, &program, tests) };
        slow.folder.judge(&slow.runner, &trial).status
    };
    assert_eq!([judged("x * 2"), judged("x")], [Status::Passed, Status::Failed]);
}

/// The others judge a candidate where one test ends in no run, without the candidate and with it.
#[test]
fn a_rust_test_that_never_ends_is_left_out_and_named() {
    let tests = "use doubling::f;\n\n#[test]\nfn doubles() {\n    assert_eq!(f(3), 6);\n}\n\n\
        #[test]\nfn ever() {\n    std::thread::sleep(std::time::Duration::from_secs(600));\n}\n";
    let files = [("src/lib.rs", LIBRARY), ("tests/doubles.rs", tests)];
    let Some(it) = Crate::new(&files, "src/lib.rs", "tests/doubles.rs") else { return };
    let judged = |body: &str| {
        let limits = Limits { wall: Duration::from_secs(1), ..Limits::default() };
        let (text, tests) = (it.text(), it.folder.tests(it.file, it.tests));
        let program = text.replace("todo!()", body);
        let trial = Trial { stub: Some(text), limits, ..trial(Language::Rust, &program, tests) };
        let verdict = it.folder.judge(&it.runner, &trial);
        (verdict.status, verdict.message)
    };
    let left_out = "(left out, as it did not end without the candidate: ever)";
    assert_eq!(judged("x * 2"), (Status::Passed, format!("1 test {left_out}")));
    assert_eq!(judged("x").0, Status::Failed);
}

const LIBRARY: &str = "/// Doubles.\npub fn f(x: i64) -> i64 {\n    todo!()\n}\n";

const SOME_FAIL: &str = "use doubling::f;\nuse std::sync::LazyLock;\n\nstatic SIX: LazyLock<i64> = LazyLock::new(|| f(3));\n\n\
    #[test]\nfn always_fails() {\n    assert_eq!(1, 2);\n}\n\n#[test]\nfn doubles() {\n    assert_eq!(f(3), 6);\n}\n\n\
    #[test]\n#[ignore]\nfn not_run() {\n    assert_eq!(f(3), 7);\n}\n\n#[test]\nfn passes_before() {}\n\n\
    #[test]\nfn six() {\n    assert_eq!(*SIX, 6);\n}\n\n#[test]\nfn six_again() {\n    assert_eq!(*SIX, 6);\n}\n";

const LEFT_OUT: &str = "(left out, as they fail without the candidate and never call f: always_fails)";

#[test]
fn a_test_that_fails_without_any_call_of_the_function_is_left_out_and_named() {
    let files = [("src/lib.rs", LIBRARY), ("tests/doubling.rs", SOME_FAIL)];
    let Some(place) = Crate::new(&files, "src/lib.rs", "tests/doubling.rs") else { return };
    // Of those that share a value only the first calls the function when all run together.
    place.expect("2 * x", Status::Passed, &format!("4 tests {LEFT_OUT}"));
    let said = "doubles: assertion `left == right` failed, left: 7, right: 6 (tests/doubling.rs:13)";
    place.expect("2 * x + 1", Status::Failed, &format!("{said} {LEFT_OUT}"));
    place.expect("no", Status::Error, "error[E0425]: cannot find value `no` in this scope");
    // Of a whole file nobody can say what does not belong to it.
    let verdict = place.judge(&place.text().replace("todo!()", "2 * x"), None);
    assert_eq!(verdict.status, Status::Failed);
    assert!(verdict.message.starts_with("always_fails: assertion"), "{}", verdict.message);
    assert!(!verdict.message.contains("left out"), "{}", verdict.message);
}

#[test]
fn a_file_that_does_not_compile_without_the_candidate_has_a_baseline() {
    let library = LIBRARY.replace("todo!()", "// todo!()");
    let files = [("src/lib.rs", library.as_str()), ("tests/doubling.rs", SOME_FAIL)];
    let Some(place) = Crate::new(&files, "src/lib.rs", "tests/doubling.rs") else { return };
    place.expect("\n    2 * x", Status::Passed, &format!("4 tests {LEFT_OUT}"));
}

#[test]
fn flaky_tests_are_left_out_and_named() {
    let names: Vec<String> = (0..24).map(|i| format!("flaky_{i}")).collect();
    let tests = format!(
        "use doubling::f;\nuse std::hash::BuildHasher;\n\nmacro_rules! flaky {{\n    ($($name:ident)*) => {{ $(\n        #[test]\n        \
         fn $name() {{\n            let random = std::hash::RandomState::new().hash_one(1);\n            assert_eq!(random % 2, 0);\n        }}\n    \
         )* }};\n}}\n\nflaky! {{ {} }}\n\n#[test]\nfn doubles() {{\n    assert_eq!(f(3), 6);\n}}\n",
        names.join(" ")
    );
    let files = [("src/lib.rs", LIBRARY), ("tests/doubling.rs", &tests)];
    let Some(place) = Crate::new(&files, "src/lib.rs", "tests/doubling.rs") else { return };
    let verdict = place.body("0");
    assert!(verdict.message.contains("left out, as they are flaky: flaky_"), "{}", verdict.message);
    assert_ne!(verdict.status, Status::Passed);
}

const OWN_TESTS: &str = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn doubles() {\n        assert_eq!(f(3), 6);\n    }\n\n    \
    mod deep {\n        #[test]\n        #[should_panic(expected = \"overflow\")]\n        fn too_large() {\n            super::f(i64::MAX);\n        }\n    }\n\n    \
    #[test]\n    fn always_fails() -> Result<(), String> {\n        Err(\"as ever\".to_owned())\n    }\n}\n";

/// Verdicts of a right and a wrong candidate by tests in their own file.
fn judged_in(place: &Crate, module: &str, line: usize) {
    let left_out = LEFT_OUT.replace("always_fails", &format!("{module}tests::always_fails"));
    place.expect("2 * x", Status::Passed, &format!("2 tests {left_out}"));
    let said =
        format!("{module}tests::doubles: assertion `left == right` failed, left: 7, right: 6 ({}:{line})", place.file);
    place.expect("2 * x + 1", Status::Failed, &format!("{said} {left_out}"));
    let verdict = place.body("x.wrapping_mul(2)");
    assert!(verdict.message.starts_with(&format!("{module}tests::deep::too_large: ")), "{}", verdict.message);
    place.expect(
        "std::process::exit(0)",
        Status::Killed,
        &format!("the process ended with exit code 0 before {module}tests::deep::too_large was done {left_out}"),
    );
}

#[test]
fn tests_inside_of_a_library_run_by_name() {
    let text =
        format!("//! Doubling.\n#![forbid(unsafe_code)]\n#![deny(warnings)]\n\nmod other;\n\n{LIBRARY}{OWN_TESTS}");
    let other = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn of_another_file() {\n        panic!(\"not asked for\");\n    }\n}\n";
    let files = [("src/lib.rs", text.as_str()), ("src/other.rs", other)];
    let Some(place) = Crate::new(&files, "src/lib.rs", "src/lib.rs") else { return };
    judged_in(&place, "", 18);
    let left_out = LEFT_OUT.replace("always_fails", "tests::always_fails");
    // Tests that were changed, taken away, or made to say yes.
    let whole = |text: &str| place.judge(text, Some(place.text()));
    let right = place.text().replace("todo!()", "7");
    for (program, what) in [
        (right.replace("f(3), 6", "f(3), 7"), "the tests"),
        (right.replace("#[cfg(test)]", "#[cfg(any())]"), "the tests"),
        (
            right.replace("    7\n", "    7\n}\nmacro_rules! assert_eq {\n    ($($x:tt)*) => {};\n}\nfn more() {\n"),
            "what assert_eq! means to the tests",
        ),
    ] {
        let verdict = whole(&program);
        let message = format!("the code changed {what} of src/lib.rs");
        assert_eq!((verdict.status, verdict.message), (Status::Tampered, message), "{program}");
    }
    // A second module of tests counts for nothing.
    let more = right.replace("    7\n", "    7\n}\n#[cfg(test)]\nmod more {\n    #[test]\n    fn yes() {}\n");
    let verdict = whole(&more);
    assert!(verdict.status == Status::Failed && verdict.message.ends_with(&left_out), "{}", verdict.message);
}

/// Tests that a macro makes in a module below its own, one of two that a setting chooses, and one that a
/// macro runs twice.
const MADE_TESTS: &str = "\nmacro_rules! made {\n    ($name:ident: $x:expr => $y:expr) => {\n        #[test]\n        fn $name() {\n            \
    assert_eq!(f($x), $y);\n        }\n    };\n}\n\nmacro_rules! twice {\n    (#[test] fn $name:ident() $body:block) => {\n        #[test]\n        \
    fn $name() {\n            for _ in 0..2 $body\n        }\n    };\n}\n\n#[cfg(test)]\nmod tests {\n    use super::f;\n\n    made!(three: 3 => 6);\n    \
    made!(four: 4 => 8);\n    twice! {\n        #[test] fn again() { assert_eq!(f(1), 2); }\n    }\n\n    #[test]\n    #[cfg(any())]\n    \
    fn one_of_two() {\n        no\n    }\n\n    #[test]\n    #[cfg(not(any()))]\n    fn one_of_two() {\n        assert_eq!(f(0), 0);\n    }\n}\n";

#[test]
fn crates_without_the_standard_library_and_tests_made_by_macros_are_judged() {
    let text = format!("#![no_std]\n\nmod other;\n\n{LIBRARY}{MADE_TESTS}");
    let other = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn of_another_file() {\n        panic!(\"not asked for\");\n    }\n}\n";
    let files = [("src/lib.rs", text.as_str()), ("src/other.rs", other)];
    let Some(place) = Crate::new(&files, "src/lib.rs", "src/lib.rs") else { return };
    place.expect("2 * x", Status::Passed, "4 tests");
    let verdict = place.body("if x == 4 { 7 } else { 2 * x }");
    assert_eq!(verdict.status, Status::Failed);
    assert!(
        verdict.message.starts_with("tests::four: assertion `left == right` failed, left: 7, right: 8 (src/lib.rs:"),
        "{}",
        verdict.message
    );
    assert_eq!(place.body("core::hint::black_box(x) - x").status, Status::Failed);
}

#[test]
fn tests_inside_of_a_program_and_of_a_module_run_by_name() {
    let main = format!("fn main() {{\n    println!(\"{{}}\", f(1));\n}}\n\n{}{OWN_TESTS}", LIBRARY.replace("pub ", ""));
    if let Some(place) = Crate::new(&[("src/main.rs", &main)], "src/main.rs", "src/main.rs") {
        judged_in(&place, "", 16);
    }
    let module = format!("{LIBRARY}{OWN_TESTS}");
    let files = [
        // The program has the module, the library has not.
        ("src/lib.rs", "pub fn g() {}\n"),
        ("src/main.rs", "mod deep;\nfn main() {\n    deep::doubling::f(1);\n}\n"),
        ("src/deep/mod.rs", "pub mod doubling;\n"),
        ("src/deep/doubling.rs", &module),
    ];
    if let Some(place) = Crate::new(&files, "src/deep/doubling.rs", "src/deep/doubling.rs") {
        judged_in(&place, "deep::doubling::", 12);
    }
}

#[test]
fn tests_in_another_module_judge_the_function() {
    let files = [
        ("src/lib.rs", "pub mod doubling;\n#[cfg(test)]\nmod checks;\n"),
        ("src/doubling.rs", LIBRARY),
        ("src/checks.rs", "use crate::doubling::f;\n\n#[test]\nfn doubles() {\n    assert_eq!(f(3), 6);\n}\n"),
    ];
    let Some(place) = Crate::new(&files, "src/doubling.rs", "src/checks.rs") else { return };
    place.expect("2 * x", Status::Passed, "1 test");
    let said = "checks::doubles: assertion `left == right` failed, left: 3, right: 6 (src/checks.rs:5)";
    place.expect("x", Status::Failed, said);
}

#[test]
fn tests_in_a_module_of_a_program_of_tests_judge_the_function() {
    let test = "use doubling::f;\n\n#[test]\nfn doubles() {\n    assert_eq!(f(3), 6);\n}\n";
    let fails = "#[test]\nfn fails() {\n    assert_eq!(doubling::f(2), 5);\n}\n";
    let in_folder = [
        ("tests/it/main.rs", "mod numbers;\nmod other;\n"),
        ("tests/it/numbers.rs", test),
        ("tests/it/other.rs", fails),
    ];
    let declared = [("tests/all.rs", "mod parts;\n"), ("tests/parts/mod.rs", test), ("tests/more.rs", fails)];
    let manifest = format!("{}autotests = false\n\n[[test]]\nname = \"all\"\npath = \"tests/all.rs\"\n", MANIFEST.1);
    let listed = [("Cargo.toml", manifest.as_str()), ("tests/all.rs", "mod numbers;\n"), ("tests/numbers.rs", test)];
    for (files, tests, module) in [
        (in_folder, "tests/it/numbers.rs", "numbers"),
        (declared, "tests/parts/mod.rs", "parts"),
        (listed, "tests/numbers.rs", "numbers"),
    ] {
        let Some(place) = Crate::new(&[&[("src/lib.rs", LIBRARY)], &files[..]].concat(), "src/lib.rs", tests) else {
            return;
        };
        place.expect("2 * x", Status::Passed, "1 test");
        let said = format!("{module}::doubles: assertion `left == right` failed, left: 3, right: 6 ({tests}:5)");
        place.expect("x", Status::Failed, &said);
    }
}

/// Prints what libtest prints when all tests pass, past everything that collects output, and ends the process
/// well.
const FORGERY: &str = "{\n        use std::io::Write;\n        let mut out: std::fs::File = unsafe { std::os::fd::FromRawFd::from_raw_fd(1) };\n        \
    let lines = \"running 3 tests\\ntest NAMES ... ok\\ntest zzzzzz_guard::end ... ok\\n\\ntest result: ok. 3 passed; 0 failed\\n\";\n        \
    let _ = out.write_all(lines.as_bytes());\n        let _ = std::io::stdout().write_all(lines.as_bytes());\n        MORE\n        \
    std::process::exit(0)\n    }";

/// Writes to every descriptor what a guard might.
const REPORTS: &str = "for fd in 3..64 { for i in 0..8 { if let Ok(mut file) = std::fs::OpenOptions::new().write(true).open(format!(\"/proc/self/fd/{fd}\")) \
    { let _ = file.write_all(format!(\"{i} false\\n\").as_bytes()); } } }";

#[test]
fn what_a_candidate_prints_makes_no_pass() {
    let made = "macro_rules! made {\n    ($name:ident) => {\n        #[test]\n        fn $name() {\n            assert_eq!(doubling::f(3), 6);\n        }\n    \
        };\n}\nmade!(by_a_macro);\n";
    let own = format!("{LIBRARY}{OWN_TESTS}");
    for (library, tests, names) in [
        (LIBRARY, Some(SOME_FAIL), "doubles ... ok\\ntest passes_before ... ok\\ntest six"),
        (LIBRARY, Some(made), "by_a_macro"),
        (&own, None, "tests::doubles ... ok\\ntest tests::deep::too_large"),
    ] {
        let files = [("src/lib.rs", library), ("tests/doubling.rs", tests.unwrap_or_default())];
        let tests = if tests.is_some() { "tests/doubling.rs" } else { "src/lib.rs" };
        let Some(place) = Crate::new(&files, "src/lib.rs", tests) else { return };
        let right = place.body("2 * x");
        assert_eq!(right.status, Status::Passed, "{tests}: {}", right.message);
        let plain = FORGERY.replace("NAMES", names);
        let verdict = place.body(&plain.replace("MORE", ""));
        assert_eq!(verdict.status, Status::Killed, "{tests}: {}", verdict.message);
        assert!(verdict.message.contains("exit code 0 before"), "{}", verdict.message);
        assert!(verdict.output.contains("test result: ok") || verdict.output.contains("... ok"), "{}", verdict.output);
        let verdict = place.body(&plain.replace("MORE", REPORTS));
        assert!(!matches!(verdict.status, Status::Passed | Status::Error), "{tests}: {}", verdict.message);
    }
}

const EXAMPLES: &str = "/// Doubles.\n///\n/// ```\n/// # use doubling::f;\n/// assert_eq!(f(3), 6);\n/// ```\n///\n/// ```rust\n/// let six: i64 = \"6\".parse()?;\n\
    /// assert_eq!(doubling::f(3), six);\n/// # Ok::<(), std::num::ParseIntError>(())\n/// ```\n///\n/// ```should_panic\n/// doubling::f(i64::MAX);\n/// ```\n///\n\
    /// ```\n/// use doubling::f;\n/// fn main() {\n///     assert_eq!(f(0), 0);\n/// }\n/// ```\n///\n/// ```ignore\n/// assert_eq!(doubling::g(3), 6);\n/// ```\n";

/// The function `f`, and its tests where nobody names any.
fn usual(place: &Crate) -> (Target, Tests) {
    let spec = TargetSpec::parse(&format!("{}:f", place.folder.path().join(place.file).display())).unwrap();
    let target = Target::read(&spec).unwrap();
    let (tests, label) = Tests::usual(&target, Tests::found(&target)).unwrap();
    assert!(label.starts_with("doctest"), "{label}");
    (target, tests)
}

/// Their verdict of a program.
fn judged_by_usual(place: &Crate, program: &str) -> Verdict {
    let (target, tests) = usual(place);
    place.folder.judge(&place.runner, &Trial { stub: Some(target.text), ..trial(Language::Rust, program, tests) })
}

#[test]
fn examples_in_the_comment_of_a_function_are_tests() {
    let library = format!("//! Doubling.\n\n{}", LIBRARY.replace("/// Doubles.\n", EXAMPLES));
    // In this edition a crate is known only where it is named.
    let manifest = MANIFEST.1.replace("2021", "2015");
    let files = [("Cargo.toml", manifest.as_str()), ("src/lib.rs", &library)];
    let Some(place) = Crate::new(&files, "src/lib.rs", "") else { return };
    let body = |body: &str| judged_by_usual(&place, &library.replace("todo!()", body));
    let right = body("2 * x");
    assert_eq!((right.status, right.message.as_str()), (Status::Passed, "4 tests"), "{}", right.output);
    for (wrong, says) in [
        ("2 * x + i64::from(x == 0)", "src/lib.rs - f (line 20): assertion `left == right` failed, left: 1, right: 0"),
        ("7 * (x % 2)", "src/lib.rs - f (line 10): assertion `left == right` failed, left: 7, right: 6"),
        ("x.wrapping_mul(2)", "src/lib.rs - f (line 16): Test executable succeeded, but it's marked `should_panic`"),
    ] {
        let verdict = body(wrong);
        assert!(verdict.status == Status::Failed && verdict.message.starts_with(says), "{}", verdict.message);
    }
    // The examples are the user's.
    let others =
        |program: String| judged_by_usual(&place, &program.replace("f(3), 6", "f(3), 7").replace("six:", "no:"));
    assert_eq!(others(library.replace("todo!()", "2 * x")).status, Status::Tampered);
    // For rustdoc an example that ends early has passed.
    let early = body("std::process::exit(0)");
    assert!(early.status != Status::Passed || early.is_marked(), "{}", early.message);
    let forged = "println!(\"test src/lib.rs - f (line 5) ... ok\\ntest src/lib.rs - f (line 10) ... ok\"); 2 * x + 1";
    assert_eq!(body(forged).status, Status::Failed);
}

#[test]
fn where_examples_do_not_notice_the_function_others_decide() {
    let tests = ("tests/doubling.rs", "#[test]\nfn doubles() {\n    assert_eq!(doubling::f(3), 6);\n}\n");
    let library = format!("/// ```\n/// assert_eq!(1, 1);\n/// ```\n{LIBRARY}");
    let Some(place) = Crate::new(&[("src/lib.rs", &library), tests], "src/lib.rs", "") else { return };
    let verdict = judged_by_usual(&place, &library.replace("todo!()", "2 * x"));
    assert_eq!(verdict.status, Status::Passed, "{}", verdict.message);
    let verdict = judged_by_usual(&place, &library.replace("todo!()", "x"));
    let says = "doubles: assertion `left == right` failed, left: 3, right: 6 (tests/doubling.rs:3)";
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Failed, says));
}

/// Examples in attributes, behind conditions and in a block, one that does not build, and one in a module of
/// its own.
const ODD_EXAMPLES: &str = "/** Doubles.\n *\n * ```\n * assert_eq!(twice::f(1), 2);\n * ```\n */\n\
    #[cfg_attr(feature = \"more\", doc = \"```\")]\n#[cfg_attr(not(feature = \"more\"), doc = \"```ignore\")]\n\
    #[doc = \"assert_eq!(twice::f(2), 4);\"]\n/// ```\n#[cfg_attr(feature = \"less\", doc = \"```\")]\n\
    #[cfg_attr(not(feature = \"less\"), doc = \"```text\")]\n/// no\n/// ```\n///\n/// ```\n/// assert_eq!(helper(twice::f(3)), 6);\n/// ```\n///\n\
    /// ```\n/// #[macro_use] extern crate twice;\n/// mod a {\n///     pub fn six() -> i64 { crate_name!() }\n/// }\n/// use self::a::six;\n/// fn main() -> Result<(), ()> {\n\
    ///     (twice::f(3) == six()).then_some(()).ok_or(())\n/// }\n/// ```\n";

#[test]
fn examples_are_those_that_the_compiler_sees() {
    let manifest = "[package]\nname = \"doubling\"\nversion = \"0.1.0\"\nedition = \"2021\"\nautotests = false\n[lib]\nname = \"twice\"\n\
        [features]\ndefault = [\"more\"]\nmore = []\nless = []\n[dependencies]\nfar = { path = \"far\" }\n";
    let macros = "#[macro_export]\nmacro_rules! crate_name { () => { far::SIX } }\npub use far;\n"
        .replace("far::SIX", "$crate::far::SIX");
    let library = format!("{ODD_EXAMPLES}{LIBRARY}{macros}");
    let files = [
        ("Cargo.toml", manifest),
        ("far/Cargo.toml", "[package]\nname = \"far\"\nversion = \"0.1.0\"\n"),
        ("far/src/lib.rs", "pub const SIX: i64 = 6;\n"),
        ("src/lib.rs", &library),
    ];
    let Some(mut place) = Crate::new(&files, "src/lib.rs", "") else { return };
    let kept = tempfile::tempdir().unwrap();
    place.runner = Runner::probe().keeping(kept.path());
    let body = |body: &str| judged_by_usual(&place, &library.replace("todo!()", body));
    let left_out = "left out, as they fail without the candidate: src/lib.rs - f (line 13) (error[E0425]: cannot find function `helper` in this scope)";
    let verdict = body("2 * x");
    assert_eq!(
        (verdict.status, verdict.message),
        (Status::Passed, format!("3 tests ({left_out})")),
        "{}",
        verdict.output
    );
    for (input, line) in [(1, 3), (2, 6), (3, 17)] {
        let wrong = &format!("if x == {input} {{ 7 }} else {{ 2 * x }}");
        let verdict = body(wrong);
        let test = format!("src/lib.rs - f (line {line}): ");
        assert!(verdict.status == Status::Failed && verdict.message.starts_with(&test), "{wrong}: {}", verdict.message);
    }
    // Its dependencies are compiled for all builds.
    let kept = std::fs::read_dir(kept.path()).unwrap().flatten();
    let folders = kept.filter_map(|folder| std::fs::read_dir(folder.path().join("products/debug/deps")).ok());
    let mut names = folders.flatten().flatten().map(|file| file.file_name().into_string().unwrap());
    assert!(names.any(|name| name.starts_with("libfar-")), "nothing is kept");
}

#[test]
fn what_examples_cannot_reach_is_said() {
    let example = "/// ```\n/// assert_eq!(doubling::f(3), 6);\n/// ```\n";
    let elsewhere = format!("#[doc = include_str!(\"a.md\")]\n{LIBRARY}");
    let public = format!("{example}{LIBRARY}");
    for (file, text, why) in [
        ("src/lib.rs", elsewhere.as_str(), "has no example that is run"),
        ("src/main.rs", &public, "is in no library"),
        ("src/lib.rs", LIBRARY, "the documentation of f has no example that is run"),
    ] {
        let place = Place::new(&[MANIFEST, (file, text)]);
        let spec = TargetSpec::parse(&format!("{}:f", place.path().join(file).display())).unwrap();
        let said = Tests::examples(&Target::read(&spec).unwrap()).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
    // Public in a module that is not.
    let module = format!("{example}{LIBRARY}");
    let files = [("src/lib.rs", "mod inner;\n"), ("src/inner.rs", &module)];
    let Some(place) = Crate::new(&files, "src/inner.rs", "") else { return };
    let (target, tests) = usual(&place);
    let program = module.replace("todo!()", "2 * x");
    let trial = Trial { stub: Some(target.text), ..trial(Language::Rust, &program, tests) };
    let verdict = place.runner.run(&trial, &Arc::default()).unwrap();
    let says = "no examples are left (left out, as they fail without the candidate: src/inner.rs - inner::f (line 1) (error[E0425]: cannot find function `f` in crate `doubling`))";
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::NotRun, says));
}

#[test]
fn examples_of_a_file_on_its_own_are_tests() {
    let Some(runner) = runner(Language::Rust) else { return };
    let text = format!(
        "//! Doubling.\n\n/// ```\n/// use doubles::f;\n/// assert_eq!(f(3), 6);\n/// ```\n/// ```should_panic\n/// doubles::f(i64::MAX);\n/// ```\n{LIBRARY}"
    );
    let place = Place::new(&[("doubles.rs", &text)]);
    let judged = |body: &str| {
        let spec = TargetSpec::parse(&format!("{}:f", place.path().join("doubles.rs").display())).unwrap();
        let target = Target::read(&spec).unwrap();
        let (tests, _) = Tests::usual(&target, Tests::found(&target)).unwrap();
        let (stub, program) = (Some(target.text), text.replace("todo!()", body));
        let file = target.path;
        let verdict =
            runner.run(&Trial { stub, file, ..trial(Language::Rust, &program, tests) }, &Arc::default()).unwrap();
        (verdict.status, verdict.message)
    };
    assert_eq!(judged("2 * x"), (Status::Passed, "2 tests".to_owned()));
    let (status, message) = judged("2 * x + 1");
    assert!(status == Status::Failed && message.ends_with("left: 7, right: 6"), "{message}");
    assert_eq!(judged("x.wrapping_mul(2)").0, Status::Failed);
    assert_eq!(judged("panic!()").0, Status::Failed);
}

/// In a folder without a project: with tests of its own, with others beside it that see what is private, and
/// with a module in a file beside it.
#[test]
fn a_file_on_its_own_is_judged_as_in_a_crate() {
    let Some(runner) = runner(Language::Rust) else { return };
    let library = LIBRARY.replace("pub ", "");
    let inside = format!("{library}{OWN_TESTS}");
    let with_helper = format!("mod helper;\n\n{library}");
    let beside = SOME_FAIL
        .replace("doubling::f", "doubles::{f, helper::SIX as OF_HELPER}")
        .replace("f(3), 6", "f(3), OF_HELPER");
    let left_out = LEFT_OUT.replace("always", "tests::always");
    for (program, tests, count, left_out) in
        [(&inside, "doubles.rs", 2, left_out.as_str()), (&with_helper, "t.rs", 4, LEFT_OUT)]
    {
        let place =
            Place::new(&[("doubles.rs", program), ("t.rs", &beside), ("helper.rs", "pub const SIX: i64 = 6;\n")]);
        let judged = |body: &str| {
            let (stub, file) = (Some(program.clone()), Some(place.path().join("doubles.rs")));
            let trial = trial(Language::Rust, &program.replace("todo!()", body), place.tests("doubles.rs", tests));
            let verdict = place.judge(&runner, &Trial { stub, file, ..trial });
            (verdict.status, verdict.message)
        };
        assert_eq!(judged("2 * x"), (Status::Passed, format!("{count} tests {left_out}")));
        let (status, message) = judged("2 * x + 1");
        assert!(status == Status::Failed && message.contains("left: 7, right: 6"), "{message}");
        let (line, message) = (if count == 2 { 3 } else { 5 }, judged("no").1);
        assert!(
            message.starts_with(&format!("doubles.rs:{line}:5: error[E0425]: cannot find value `no`")),
            "{message}"
        );
    }
}

#[test]
fn what_is_kept_between_runs_is_the_users_alone() {
    // The crate under test is part of a macro that its own tests use: it runs inside of the compiler.
    let manifest = "[workspace]\nmembers = [\"made\"]\n[package]\nname = \"doubling\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
        [dev-dependencies]\nmade = { path = \"made\" }\n";
    let made = "[package]\nname = \"made\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n\
        [dependencies]\ndoubling = { path = \"..\" }\n";
    let tests = "use doubling::f;\n\n#[test]\nfn doubles() {\n    assert_eq!(f(3), made::six!());\n}\n";
    let files = [
        ("Cargo.toml", manifest),
        ("made/Cargo.toml", made),
        (
            "made/src/lib.rs",
            "extern crate proc_macro;\n#[proc_macro]\npub fn six(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    \
             let _ = std::panic::catch_unwind(|| doubling::f(3));\n    \"6_i64\".parse().unwrap()\n}\n",
        ),
        ("src/lib.rs", LIBRARY),
        ("tests/doubling.rs", tests),
    ];
    let Some(mut place) = Crate::new(&files, "src/lib.rs", "tests/doubling.rs") else { return };
    let kept = tempfile::tempdir().unwrap();
    let mut judge = |body: &str| {
        // As the program does when it is started again.
        place.runner = Runner::probe().keeping(kept.path());
        let verdict = place.body(body);
        (verdict.status, verdict.message)
    };
    let writes = "let mut folders = vec![std::path::PathBuf::from(KEPT)];\n    while let Some(folder) = folders.pop() {\n        \
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {\n            let path = entry.path();\n            \
        if path.is_dir() { folders.push(path.clone()); }\n            let _ = std::fs::write(path.join(\"poison\"), \"\");\n            \
        let _ = std::fs::write(&path, \"\");\n        }\n    }\n    2 * x";
    let passes = (Status::Passed, "1 test".to_owned());
    assert_eq!(judge(&writes.replace("KEPT", &format!("{:?}", kept.path()))).0, Status::Passed);
    let (mut found, mut folders) = (0, vec![kept.path().to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found += usize::from(path.extension().is_some_and(|ending| ending == "so" || ending == "rlib"));
            assert_ne!(path.file_name().unwrap(), "poison");
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    assert_ne!(found, 0, "something is kept");
    assert_eq!(judge("x + x"), passes);
    assert_eq!(judge("x + x"), passes, "as it was kept");
    assert_eq!(judge("x + x + 1").0, Status::Failed);
    assert_eq!(judge("no").0, Status::Error);
}

#[test]
fn tests_start_the_program_of_the_crate_and_macros_are_refused() {
    let main = format!("fn main() {{\n    println!(\"{{}}\", f(3));\n}}\n\n{}", LIBRARY.replace("pub ", ""));
    let tests = "#[test]\nfn prints() {\n    let out = std::process::Command::new(env!(\"CARGO_BIN_EXE_doubling\")).output().unwrap();\n    \
        assert_eq!(String::from_utf8_lossy(&out.stdout), \"6\\n\");\n}\n";
    let files = [("src/main.rs", main.as_str()), ("tests/doubling.rs", tests)];
    if let Some(place) = Crate::new(&files, "src/main.rs", "tests/doubling.rs") {
        place.expect("2 * x", Status::Passed, "1 test");
        assert_eq!(place.body("x").status, Status::Failed);
    }
    let manifest = format!("{}\n[lib]\nproc-macro = true\n", MANIFEST.1);
    let files = [("Cargo.toml", manifest.as_str()), ("src/lib.rs", LIBRARY), ("tests/doubling.rs", tests)];
    let Some(place) = Crate::new(&files, "src/lib.rs", "tests/doubling.rs") else { return };
    let tests = place.folder.tests(place.file, place.tests);
    let error = place.runner.run(&trial(Language::Rust, LIBRARY, tests), &Arc::default()).unwrap_err().to_string();
    assert!(error.contains("macro") && error.contains("--test-command"), "{error}");
}

#[test]
fn the_command_line_tests_a_function_of_a_crate() {
    let text = format!("{LIBRARY}{OWN_TESTS}").replace("todo!()", "2 * x");
    let Some(place) = Crate::new(&[("src/lib.rs", &text)], "src/lib.rs", "src/lib.rs") else { return };
    let (home, file) = (tempfile::tempdir().unwrap(), place.folder.path().join("src/lib.rs"));
    let run = |candidate: String| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bass-tui"));
        for variable in ["BASS_TUI_CONFIG_DIR", "BASS_TUI_STATE_DIR", "BASS_TUI_CACHE_DIR"] {
            command.env(variable, home.path().join(variable));
        }
        let out = command.args(["test", &candidate, "--json", "--tests"]).arg(&file).output().unwrap();
        let verdict: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        (out.status.code(), verdict["message"].as_str().unwrap().to_owned())
    };
    let (code, message) = run(format!("{}:f", file.display()));
    assert_eq!((code, message), (Some(0), format!("2 tests {}", LEFT_OUT.replace("always", "tests::always"))));
    let (code, message) = run(file.display().to_string());
    assert_eq!((code, message.as_str()), (Some(1), "tests::always_fails: Error: \"as ever\""));
}

/// Tests that pass with default values as well leave it to the next that were found.
#[test]
fn rust_tests_that_only_reach_the_function_do_not_decide() {
    let code = "fn leads(text: &str) -> bool {\n    todo!()\n}\n\npub fn f(text: &str) -> Option<u32> {\n    \
        (!leads(text)).then(|| text.parse().ok())?\n}\n\n#[test]\nfn parses() {\n    assert_eq!(f(\"12\"), Some(12));\n}\n";
    let other = "#[test]\nfn invalid() {\n    assert_eq!(doubling::f(\"012\"), None);\n}\n";
    let files = [("src/lib.rs", code), ("tests/other.rs", other)];
    let Some(it) = Crate::new(&files, "src/lib.rs", "src/lib.rs") else { return };
    let judged = |body: &str| {
        let group = |file: &str| (it.folder.tests("src/lib.rs", file), file.to_owned());
        let tests = Tests::FirstOf(vec![group("src/lib.rs"), group("tests/other.rs")]);
        let (stub, entry_point) = (Some(code.to_owned()), Some("leads".to_owned()));
        let program = code.replace("todo!()", body);
        let verdict =
            it.folder.judge(&it.runner, &Trial { stub, entry_point, ..trial(Language::Rust, &program, tests) });
        (verdict.status, verdict.message.chars().take(20).collect::<String>())
    };
    assert_eq!(judged("text.starts_with('0')").0, Status::Passed);
    assert_eq!(judged("text.is_empty()"), (Status::Failed, "invalid: assertion `".to_owned()));
}

/// Further tests of a program run at once. A failure among them overrules a pass, and an early end is said.
#[test]
fn further_tests_of_a_program_confirm_a_pass() {
    let test = |name: &str, x: i64| {
        format!("use crate::doubling::f;\n\n#[test]\nfn {name}() {{\n    assert_eq!(f({x}), {});\n}}\n", 2 * x)
    };
    let own = format!("{LIBRARY}\n#[test]\nfn own() {{\n    assert_eq!(f(3), 6);\n}}\n");
    let files = [
        ("src/lib.rs", "pub mod doubling;\n#[cfg(test)]\nmod near;\n#[cfg(test)]\nmod far;\n"),
        ("src/doubling.rs", own.as_str()),
        ("src/near.rs", &test("near", 4)),
        ("src/far.rs", &test("far", 5)),
        ("src/unused.rs", &test("unused", 6)),
    ];
    let Some(it) = Crate::new(&files, "src/doubling.rs", "src/unused.rs") else { return };
    let judged = |body: &str| {
        let group = |file: &str| (it.folder.tests("src/doubling.rs", file), file.to_owned());
        let tests = Tests::FirstOf(["src/doubling.rs", "src/near.rs", "src/far.rs", "src/unused.rs"].map(group).into());
        let program = own.replace("todo!()", body);
        let stub = Some(own.clone());
        let verdict = it.folder.judge(&it.runner, &Trial { stub, ..trial(Language::Rust, &program, tests) });
        (verdict.status, [vec![verdict.message], verdict.assurance.marks].concat().join("; "))
    };
    assert_eq!(judged("2 * x"), (Status::Passed, "1 test".to_owned()));
    let (status, message) = judged("if x == 5 { 0 } else { 2 * x }");
    assert_eq!((status, message.starts_with("far::far: assertion")), (Status::Failed, true), "{message}");
    let (status, message) = judged("if x == 5 { std::process::exit(0) }\n    2 * x");
    let says = "1 test; src/far.rs end without the candidate, and with it: the process ended with exit code 0";
    assert_eq!((status, message.starts_with(says)), (Status::Passed, true), "{message}");
    // No program holds the file.
    it.expect(
        "2 * x",
        Status::NotRun,
        "all tests of src/unused.rs are in no test program of the crate: no mod line leads to them, or a cfg leaves \
         them out",
    );
}

/// A program that does not compile may hold the file that another one does not.
#[test]
fn the_program_of_a_file_that_does_not_compile_is_the_reason() {
    let own = format!(
        "{LIBRARY}\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn own() {{\n        assert_eq!(super::f(3), 6);\n    }}\n}}\n"
    );
    let files = [
        ("src/lib.rs", ""),
        ("src/doubling.rs", &own),
        ("src/main.rs", "mod doubling;\nfn main() {\n    unknown();\n}\n"),
    ];
    let Some(it) = Crate::new(&files, "src/doubling.rs", "src/doubling.rs") else { return };
    let stub = Some(own.clone());
    let trial =
        trial(Language::Rust, &own.replace("todo!()", "2 * x"), it.folder.tests("src/doubling.rs", "src/doubling.rs"));
    let verdict = it.folder.judge(&it.runner, &Trial { stub, ..trial });
    assert_eq!(verdict.status, Status::NotRun, "{}", verdict.message);
    assert!(verdict.message.contains("cannot find function `unknown`"), "{}", verdict.message);
}

/// Lint levels of the crate hold for a candidate, and not for what its tests need in the files.
#[test]
fn a_candidate_that_the_lint_levels_of_its_crate_refuse_is_an_error() {
    let tests = "use doubling::f;\n\n#[test]\nfn doubles() {\n    assert_eq!(f(3), 6);\n}\n";
    let refused = |files: &[(&'static str, &str)], body: &str, message: &str| {
        let files = [&[("tests/doubles.rs", tests)], files].concat();
        let Some(it) = Crate::new(&files, "src/lib.rs", "tests/doubles.rs") else { return };
        it.expect("2 * x", Status::Passed, "1 test");
        it.expect(body, Status::Error, message);
    };
    let unused = "let y = 1;\n    2 * x";
    // Without the candidate `x` is unused, which is an error, too.
    let strict = format!("#![deny(warnings)]\n{LIBRARY}");
    refused(&[("src/lib.rs", &strict)], unused, "error: unused variable: `y`");
    let safe = format!("#![forbid(unsafe_code)]\n{LIBRARY}");
    refused(&[("src/lib.rs", &safe)], "unsafe { 2 * x }", "error: usage of an `unsafe` block");
    let flags = (".cargo/config.toml", "[build]\nrustflags = [\"-D\", \"unused_variables\"]\n");
    refused(&[("src/lib.rs", LIBRARY), flags], unused, "error: unused variable: `y`");
}

/// Cargo gives these to tests, and so do trials, which start the built tests themselves.
#[test]
fn flags_and_variables_in_the_settings_of_cargo_hold() {
    let library = LIBRARY.replace("todo!()", "if cfg!(doubled) { todo!() } else { 0 }");
    let tests = "use doubling::f;\n\n#[test]\nfn doubles() {\n    assert_eq!(f(3), 6);\n    assert_eq!(std::env::var(\"SET\").unwrap(), \"5\");\n}\n";
    let settings = "[build]\nrustflags = [\"--cfg\", \"doubled\"]\n[env]\nSET = \"5\"\n";
    let files = [("src/lib.rs", &*library), ("tests/doubles.rs", tests), (".cargo/config.toml", settings)];
    let Some(it) = Crate::new(&files, "src/lib.rs", "tests/doubles.rs") else { return };
    it.expect("2 * x", Status::Passed, "1 test");
}
