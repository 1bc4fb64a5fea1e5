//! Tests of a Go module, by name.

use bass_tui::language::Language;
use bass_tui::trial::{Project, Runner, Status, Tests, Trial, Verdict};

use crate::place::{Place, trial};
use crate::runner::runner;

const GO_MOD: (&str, &str) = ("go.mod", "module example.com/doubling\n\ngo 1.18\n");
const HELPER: (&str, &str) = ("helper/helper.go", "package helper\n\nfunc Twice(x int) int {\n\treturn 2 * x\n}\n");
const BESIDE: (&str, &str) = ("calc/beside.go", "package calc\n\nfunc three() int {\n\treturn 3\n}\n");
const RIGHT: &str =
    "package calc\n\nimport \"example.com/doubling/helper\"\n\nfunc F(x int) int {\n\treturn helper.Twice(x)\n}\n";
/// As a user leaves it: it does not even compile.
const STUB: &str = "package calc\n\nfunc F(x int) int {\n}\n";
const PANICS: &str = "package calc\n\nfunc F(x int) int {\n\tpanic(\"not written\")\n}\n";
const TESTS: &str = "package calc\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n\n\t\"example.com/doubling/helper\"\n)\n\n\
    func TestF(t *testing.T) {\n\tfor _, x := range []int{1, 2} {\n\t\tt.Run(fmt.Sprint(\"of \", x), func(t *testing.T) {\n\t\t\t\
    if got := F(x); got != helper.Twice(x) {\n\t\t\t\tt.Errorf(\"F(%d) = %d, want %d\", x, got, 2*x)\n\t\t\t}\n\t\t})\n\t}\n}\n\n\
    func TestThree(t *testing.T) {\n\tif three() != 3 {\n\t\tt.Fatal(\"no three\")\n\t}\n\tif _, err := os.Stat(\"../helper/helper.go\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n";

fn module(stub: &str, tests: &str) -> Place {
    Place::new(&[GO_MOD, HELPER, BESIDE, ("calc/calc.go", stub), ("calc/calc_test.go", tests)])
}

fn judge(runner: &Runner, place: &Place, program: &str) -> Verdict {
    let tests = place.tests("calc/calc.go", "calc/calc_test.go");
    assert!(matches!(tests, Tests::Project(_)));
    place.judge(runner, &trial(Language::Go, program, tests))
}

#[test]
fn go_tests_of_a_module_run_by_name() {
    let Some(runner) = runner(Language::Go) else { return };
    for stub in [STUB, PANICS] {
        let place = module(stub, TESTS);
        let verdict = judge(&runner, &place, RIGHT);
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "4 tests"), "{}", verdict.output);
        let verdict = judge(&runner, &place, &RIGHT.replace("Twice(x)", "Twice(x) + x - 1"));
        assert_eq!(verdict.status, Status::Failed);
        assert_eq!(verdict.message, "TestF/of_2: calc_test.go:15: F(2) = 5, want 4");
        let verdict = judge(&runner, &place, PANICS);
        assert_eq!(verdict.status, Status::Failed);
        assert!(verdict.message.starts_with("TestF/of_1: panic: not written"), "{}", verdict.message);
        let verdict = judge(&runner, &place, STUB);
        assert_eq!(verdict.status, Status::Error);
        assert!(
            verdict.message.contains("calc.go:4") && verdict.message.contains("missing return"),
            "{}",
            verdict.message
        );
    }
}

#[test]
fn go_test_vets_a_candidate() {
    let Some(runner) = runner(Language::Go) else { return };
    let head = "package calc\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/doubling/helper\"\n)\n\n";
    let name = |verb: &str| format!("{head}func Name(x int) string {{\n\treturn fmt.Sprintf(\"{verb}\", x)\n}}\n\n");
    let f = "func F(x int) int {\n\t_ = fmt.Sprintf(\"%d\", x)\n\treturn helper.Twice(x)\n}\n";
    let wrong = f.replace("%d", "%s");
    for stub in
        ["func F(x int) int {\n\t_ = helper.Twice\n}\n", "func F(x int) int {\n\t_ = helper.Twice\n\tpanic(0)\n}\n"]
    {
        let place = module(&(name("%d") + stub), TESTS);
        assert_eq!(judge(&runner, &place, &(name("%d") + f)).status, Status::Passed);
        let verdict = judge(&runner, &place, &(name("%d") + &wrong));
        assert_eq!(verdict.status, Status::Error);
        assert!(verdict.message.contains("calc.go:14") && verdict.message.contains("%s"), "{}", verdict.message);
    }
    // A complaint that comes without the candidate, too, is none of its fault.
    let place = module(&(name("%s") + "func F(x int) int {\n\t_ = helper.Twice\n\tpanic(0)\n}\n"), TESTS);
    assert_eq!(judge(&runner, &place, &(name("%s") + f)).status, Status::Passed);
}

/// A test that fails in the same way whatever the function does, and never calls it, says nothing of it. A
/// panic there ends the tests of the function as well.
#[test]
fn what_fails_for_a_reason_of_its_own_is_not_the_candidates_fault() {
    let Some(runner) = runner(Language::Go) else { return };
    let of_f = "func TestA(t *testing.T) {\n\tif F(2) != 4 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";
    let own = "func TestOwn(t *testing.T) {\n\tt.Fatal(\"no server\")\n}\n";
    let half = "func TestHalf(t *testing.T) {\n\tif half(4) != 2 {\n\t\tt.Fatal(\"x\")\n\t}\n}\n";
    let rest = "func TestRest(t *testing.T) {\n\tt.Run(\"of 1\", func(t *testing.T) {\n\t\thalf(1)\n\t})\n}\n";
    let head = "package calc\n\nimport \"testing\"\n\n";
    let beside = ("calc/half.go", "package calc\n\nfunc half(x int) int {\n\tpanic(\"todo\")\n}\n");
    let judge = |stub: &str, tests: &[&str], program: &str| {
        let mut place = module(stub, &(head.to_owned() + &tests.join("\n")));
        place.write(beside.0, beside.1);
        let tests = place.tests("calc/calc.go", "calc/calc_test.go");
        let (stub, entry_point) = (Some(stub.to_owned()), Some("F".to_owned()));
        let verdict = place.judge(&runner, &Trial { stub, entry_point, ..trial(Language::Go, program, tests) });
        (verdict.status, verdict.message)
    };
    let wrong = RIGHT.replace("Twice(x)", "Twice(x) + 1");
    for stub in [PANICS, STUB] {
        let left_out = "1 test (left out, as they fail without calling the function: TestOwn; TestOwn says calc_test.go:12: no server)";
        assert_eq!(judge(stub, &[of_f, own], RIGHT), (Status::Passed, left_out.to_owned()));
        for tests in [[of_f, half, rest], [half, rest, of_f]] {
            let (status, message) = judge(stub, &tests, RIGHT);
            let said = "1 test (left out, as they fail without calling the function: TestHalf, TestRest";
            assert!(status == Status::Passed && message.starts_with(said), "{status:?} {message}");
            let (status, message) = judge(stub, &tests, &wrong);
            assert!(status == Status::Failed && message.starts_with("TestA: calc_test.go:"), "{status:?} {message}");
        }
        // Of tests that all fail so nothing is left.
        let same = "the tests fail without calling `F`: TestOwn: calc_test.go:6: no server";
        assert_eq!(judge(stub, &[own], RIGHT), (Status::NotRun, same.to_owned()));
    }
    // A test that fails with the candidate as with any other body, and calls it, is about it.
    let calls = "func TestCalls(t *testing.T) {\n\tF(1)\n\tt.Fatal(\"never\")\n}\n";
    assert_eq!(judge(PANICS, &[of_f, calls], RIGHT), (Status::Failed, "TestCalls: calc_test.go:13: never".to_owned()));
}

#[test]
fn a_module_for_a_newer_go_says_so() {
    let Some(runner) = runner(Language::Go) else { return };
    let of_later = "package calc\n\nimport \"of/later\"\n\nfunc F(x int) int {\n\treturn later.Twice(x)\n}\n";
    let manifest = ("go.mod", "module example.com/doubling\n\ngo 1.99.1\n");
    let place = Place::new(&[manifest, HELPER, BESIDE, ("calc/calc.go", of_later), ("calc/calc_test.go", TESTS)]);
    let verdict = judge(&runner, &place, of_later);
    assert!(verdict.message.contains("the module asks for Go 1.99, and this is Go 1."), "{}", verdict.message);
}

#[test]
fn a_test_whose_framework_catches_what_the_function_raises_judges_it() {
    let Some(runner) = runner(Language::Go) else { return };
    let catches = "package calc\n\nimport \"testing\"\n\nfunc answer(x int) (n int) {\n\tdefer func() {\n\t\tif recover() != nil {\n\t\t\tn = 500\n\t\t}\n\t}()\n\treturn F(x)\n}\n\n\
        func TestAnswer(t *testing.T) {\n\tif n := answer(2); n != 4 {\n\t\tt.Fatal(\"answered\", n)\n\t}\n}\n";
    let place = module(PANICS, catches);
    let tests = place.tests("calc/calc.go", "calc/calc_test.go");
    let (stub, entry_point) = (Some(place.text("calc/calc.go")), Some("F".to_owned()));
    let raises = RIGHT.replace("return helper.Twice(x)", "_ = helper.Twice(x)\n\tpanic(\"broken\")");
    let verdict = place.judge(&runner, &Trial { stub, entry_point, ..trial(Language::Go, &raises, tests) });
    let expected = (Status::Failed, "TestAnswer: calc_test.go:16: answered 500");
    assert_eq!((verdict.status, verdict.message.as_str()), expected, "{}", verdict.output);
}

#[test]
fn go_tests_from_outside_of_the_package_and_with_a_main_of_their_own_run_too() {
    let Some(runner) = runner(Language::Go) else { return };
    let outside = "package calc_test // from outside\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n\t\"example.com/doubling/calc\"\n)\n\n\
        func TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n\nfunc TestF(t *testing.T) {\n\tt.Parallel()\n\tcheck(t, 2)\n\tt.Run(\"later\", func(t *testing.T) {\n\t\tt.Parallel()\n\t\tcheck(t, 3)\n\t})\n}\n\n\
        func check(t *testing.T, x int) {\n\tt.Helper()\n\tif calc.F(x) != 2*x {\n\t\tt.Fatal(\"no\", x)\n\t}\n}\n\n\
        func FuzzF(f *testing.F) {\n\tf.Add(7)\n\tf.Fuzz(func(t *testing.T, x int) {\n\t\tcheck(t, x)\n\t})\n}\n";
    let place = module(PANICS, outside);
    let verdict = judge(&runner, &place, RIGHT);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "4 tests"), "{}", verdict.output);
    let verdict = judge(&runner, &place, &RIGHT.replace("Twice(x)", "Twice(x) + x/3"));
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Failed, "TestF/later: calc_test.go:19: no 3"));
}

#[test]
fn flaky_go_tests_are_left_out_and_named() {
    let Some(runner) = runner(Language::Go) else { return };
    let one = |i: u32| {
        format!(
            "\nfunc TestFlaky{i}(t *testing.T) {{\n\tif time.Now().UnixNano()>>{i}%2 == 0 {{\n\t\tt.Fail()\n\t}}\n}}\n"
        )
    };
    let flaky = TESTS.replace("\t\"os\"\n", "\t\"os\"\n\t\"time\"\n") + &(0..24).map(one).collect::<Vec<_>>().concat();
    let place = module(PANICS, &flaky);
    let verdict = judge(&runner, &place, &RIGHT.replace("Twice(x)", "Twice(0)"));
    assert_eq!(verdict.status, Status::Failed);
    assert!(verdict.message.contains("left out, as they are flaky: TestFlaky"), "{}", verdict.message);
}

#[test]
fn go_candidates_that_end_or_forge_the_report_do_not_pass() {
    let Some(runner) = runner(Language::Go) else { return };
    let place = module(PANICS, TESTS);
    let imports = |names: &[&str]| names.iter().map(|name| format!("import \"{name}\"\n")).collect::<Vec<_>>().concat();
    let says = "\tfmt.Print(\"=== RUN   TestF\\n--- PASS: TestF (0.00s)\\n=== RUN   TestThree\\n--- PASS: TestThree (0.00s)\\nPASS\\n\")\n";
    let forges = "\tfor fd := 3; fd < 256; fd++ {\n\t\tsyscall.Write(fd, []byte(\"0\\tended\\tpassed\\tTestF\\n0\\tended\\tpassed\\tTestThree\\n\"))\n\t}\n";
    let reads = "\tfor fd := 3; fd < 256; fd++ {\n\t\tnonce := make([]byte, 32)\n\t\tif n, _ := syscall.Read(fd, nonce); n == 32 {\n\t\t\tfor to := 3; to < 256; to++ {\n\t\t\t\tsyscall.Write(to, []byte(string(nonce)+\"\\tended\\tpassed\\tTestF\\tpassed\\tTestF/of_1\\tpassed\\tTestF/of_2\\n\"+string(nonce)+\"\\tended\\tpassed\\tTestThree\\n\"))\n\t\t\t}\n\t\t}\n\t}\n";
    let exits = "\tsyscall.Exit(0)\n\treturn 0\n";
    let write = |names: &[&str], init: &str, body: &str| {
        format!("package calc\n\n{}\nfunc init() {{\n{init}}}\n\nfunc F(x int) int {{\n{body}}}\n", imports(names))
    };
    let cases = [
        ("exits in the test", write(&["syscall"], "", exits)),
        ("exits through os", write(&["os"], "", "\tos.Exit(0)\n\treturn 0\n")),
        ("exits at its start", write(&["os"], "\tos.Exit(0)\n", "\treturn 0\n")),
        ("prints a report", write(&["fmt", "syscall"], "", &format!("{says}{exits}"))),
        ("prints a report at its start", write(&["fmt", "os"], &format!("{says}\tos.Exit(0)\n"), "\treturn 0\n")),
        ("writes a report", write(&["syscall"], "", &format!("{forges}{exits}"))),
        (
            "looks for the nonce at its start",
            write(&["syscall"], &format!("{reads}\tsyscall.Exit(0)\n"), "\treturn 0\n"),
        ),
        ("looks for the nonce in the test", write(&["syscall"], "", &format!("{reads}{exits}"))),
        ("ends the test", write(&["runtime"], "", "\truntime.Goexit()\n\treturn 0\n")),
    ];
    for (what, program) in &cases {
        let verdict = judge(&runner, &place, program);
        assert_ne!(verdict.status, Status::Passed, "{what}: {}", verdict.message);
        assert_ne!(verdict.status, Status::Error, "{what}: {} {}", verdict.message, verdict.output);
    }
    let edits = "\tos.WriteFile(\"calc_test.go\", nil, 0o600)\n";
    let verdict = judge(
        &runner,
        &place,
        &RIGHT.replace("import ", "import \"os\"\nimport ").replace("\treturn", &format!("{edits}\treturn")),
    );
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Tampered, "the code changed calc/calc_test.go"));
    assert_eq!(judge(&runner, &place, RIGHT).status, Status::Passed, "others have left nothing behind");
}

/// As `go test` runs them: examples that say what they print, seeds of fuzz tests, packages that come along;
/// no benchmarks, and no files for other systems or tags.
#[test]
fn go_runs_what_go_test_runs() {
    let Some(runner) = runner(Language::Go) else { return };
    let code = "package calc\n\nfunc F(x int) int {\n\treturn 2 * x\n}\n";
    let tests = "package calc\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n\n\t\"example.com/equal\"\n)\n\n\
        func ExampleF() {\n\tfor x := 3; x > 0; x-- {\n\t\tfmt.Println(F(x))\n\t}\n\t// Unordered output:\n\t// 2\n\t// 4\n\t// 6\n}\n\n\
        func ExampleF_silent() {\n\tpanic(\"it says nothing\")\n}\n\nfunc BenchmarkF(b *testing.B) {\n\tb.Fatal(\"no test\")\n}\n\n\
        func FuzzF(f *testing.F) {\n\tf.Add(5)\n\tf.Fuzz(func(t *testing.T, x int) {\n\t\tequal.Equal(t, F(x)-x, x)\n\t})\n}\n";
    let equal = "package equal\n\nfunc Equal(t interface{ Errorf(string, ...interface{}) }, a, b int) {\n\tif a != b {\n\t\tt.Errorf(\"%d != %d\", a, b)\n\t}\n}\n";
    let tagged = "//go:build live\n\npackage calc\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tt.Fatal(\"no server\")\n}\n";
    let place = Place::new(&[
        ("go.mod", "module example.com/doubling\n\ngo 1.18\n\nrequire example.com/equal v1.0.0\n"),
        ("vendor/modules.txt", "# example.com/equal v1.0.0\n## explicit\nexample.com/equal\n"),
        ("vendor/example.com/equal/equal.go", equal),
        ("internal/calc/calc.go", code),
        ("internal/calc/calc_test.go", tests),
        ("internal/calc/calc_live_test.go", tagged),
        ("internal/calc/calc_plan9_test.go", &tagged.replace("//go:build live\n", "")),
    ]);
    let judge = |tests: &str, program: &str| {
        let tests = place.tests("internal/calc/calc.go", &format!("internal/calc/{tests}"));
        let (stub, entry_point) = (Some(code.to_owned()), Some("F".to_owned()));
        place.judge(&runner, &Trial { stub, entry_point, ..trial(Language::Go, program, tests) })
    };
    let said = |verdict: &Verdict| (verdict.status, verdict.message.clone());
    let verdict = judge("calc_test.go", code);
    assert_eq!(said(&verdict), (Status::Passed, "3 tests".to_owned()), "{}", verdict.output);
    let verdict = judge("calc_test.go", &code.replace("2 * x", "2 * x + x / 2 % 2 * 5"));
    let message = "ExampleF: calc_test.go:10: got: 11 2 9 want: 2 4 6";
    assert_eq!(said(&verdict), (Status::Failed, message.to_owned()), "{}", verdict.output);
    let verdict = judge("calc_test.go", &code.replace("2 * x", "2 * x + x / 5"));
    assert_eq!(verdict.status, Status::Failed);
    assert!(verdict.message.starts_with("FuzzF/seed#0: calc.go") || verdict.message.contains("6 != 5"), "{verdict:?}");
    // Output before the wrong answer is all that would be seen.
    let printed = "fmt.Print(\"2\\n4\\n6\")";
    for ends in ["os.Stdout = nil", "os.Stdout.Close()", "os.Exit(0)"] {
        let imports = "import (\n\t\"fmt\"\n\t\"os\"\n)";
        let program =
            format!("package calc\n\n{imports}\n\nfunc F(x int) int {{\n\t{printed}\n\t{ends}\n\treturn 2 * x\n}}\n");
        let verdict = judge("calc_test.go", &program);
        assert!(!verdict.has_passed(), "{ends}");
        assert!(ends.contains("Exit") || verdict.message.contains("os.Stdout was replaced or closed"), "{verdict:?}");
    }
    let verdict = judge("calc_live_test.go", code);
    let why = "it asks for the build tags live, and GOFLAGS=-tags=... sets none of them";
    let message = format!("Go leaves out internal/calc/calc_live_test.go here: {why}");
    assert_eq!(said(&verdict), (Status::NotRun, message));
    assert!(judge("calc_plan9_test.go", code).message.ends_with("its name says that it is for plan9 alone"));
}

/// In a folder without a module: a package clause is added where there is none, a file of the package comes
/// along, and programs of their own do not.
#[test]
fn a_go_file_on_its_own_is_judged_as_in_a_module() {
    let Some(runner) = runner(Language::Go) else { return };
    let tests = "import \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F(2) != 4 || three() != 3 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";
    let own = "func F(x int) int {\n}\n";
    let other = "package main\n\nfunc F() {}\n\nfunc main() {}\n";
    let files =
        [("f.go", own), ("three.go", &BESIDE.1.replace("calc", "main")), ("other.go", other), ("checks.go", tests)];
    let place = Place::new(&files);
    let judged = |body: &str| {
        let (stub, file) = (Some(own.to_owned()), Some(place.path().join("f.go")));
        let program = own.replace("{\n", &format!("{{\n\t{body}\n"));
        let trial = trial(Language::Go, &program, place.tests("f.go", "checks.go"));
        let entry_point = Some("F".to_owned());
        let verdict = place.judge(&runner, &Trial { stub, file, entry_point, ..trial });
        (verdict.status, verdict.message)
    };
    assert_eq!(judged("return 2 * x"), (Status::Passed, "1 test".to_owned()));
    assert_eq!(judged("return x"), (Status::Failed, "TestF: f_test.go:5: no".to_owned()));
    assert_eq!(judged("return y").1, "./f.go:2:9: undefined: y");
}

/// A tests file with a test that fails under this condition.
fn failing_if(name: &str, condition: &str) -> String {
    format!(
        "package calc\n\nimport \"testing\"\n\nfunc Test{name}(t *testing.T) {{\n\tif {condition} {{\n\t\tt.Fatal(\"no\")\n\t}}\n}}\n"
    )
}

/// The verdict of a body of the first function of `calc/calc.go` by the first of these tests that decide.
fn first_of(runner: &Runner, place: &Place, name: &str, tests: &[&str], body: &str) -> (Status, String) {
    let (file, stub) = (place.path().join("calc/calc.go"), place.text("calc/calc.go"));
    let group = |tests: &&str| {
        let project = Project::around(&file, Some(&place.path().join(tests))).unwrap();
        (Tests::Project(project), (*tests).to_owned())
    };
    let tests = Tests::FirstOf(tests.iter().map(group).collect());
    let program = stub.replacen("{\n", &format!("{{\n\t{body}\n"), 1);
    let (stub, entry_point) = (Some(stub), Some(name.to_owned()));
    let verdict = place.judge(runner, &Trial { stub, entry_point, ..trial(Language::Go, &program, tests) });
    (verdict.status, verdict.message)
}

/// Tests that pass with zero values as well leave it to the next that were found.
#[test]
fn go_tests_that_only_reach_the_function_do_not_decide() {
    let Some(runner) = runner(Language::Go) else { return };
    let stub = "package calc\n\nfunc leads(text string) bool {\n}\n\nfunc Parse(text string) bool {\n\treturn !leads(text)\n}\n";
    let (one, other) = (failing_if("Parse", "!Parse(\"12\")"), failing_if("Invalid", "Parse(\"012\")"));
    let files = [GO_MOD, ("calc/calc.go", stub), ("calc/parse_test.go", &one), ("calc/invalid_test.go", &other)];
    let place = Place::new(&files);
    let tests = ["calc/parse_test.go", "calc/invalid_test.go"];
    let judged = |body: &str| first_of(&runner, &place, "leads", &tests, body);
    assert_eq!(judged("return text[0] == '0'"), (Status::Passed, "1 test".to_owned()));
    assert_eq!(judged("return false"), (Status::Failed, "TestInvalid: invalid_test.go:7: no".to_owned()));
}

/// A pass of a file's tests is held against all tests of its package, which are one program. Old modules, too.
#[test]
fn go_tests_of_a_package_overrule_a_pass() {
    let Some(runner) = runner(Language::Go) else { return };
    let stub = "package calc\n\nfunc F(x int) int {\n}\n";
    let (one, other) = (failing_if("F", "F(1) != 2"), failing_if("Minus", "F(-1) != -2"));
    let example = "package calc_test\n\nimport \"example.com/doubling/calc\"\n\nfunc ExampleF() {\n\tprintln(calc.F(1))\n\t// Output:\n}\n";
    let manifest = ("go.mod", "module example.com/doubling\n\ngo 1.2\n");
    let files = [
        manifest,
        ("calc/calc.go", stub),
        ("calc/f_test.go", &one),
        ("calc/minus_test.go", &other),
        ("calc/example_test.go", example),
        // Neither has a test.
        ("calc/bench_test.go", "package calc\n\nimport \"testing\"\n\nfunc BenchmarkF(b *testing.B) {\n\tF(b.N)\n}\n"),
        ("calc/export_test.go", "package calc\n\nvar Exported = F\n"),
    ];
    let place = Place::new(&files);
    let judged = |body: &str| first_of(&runner, &place, "F", &["calc/f_test.go", "calc"], body);
    assert_eq!(judged("return 2 * x"), (Status::Passed, "1 test".to_owned()));
    let minus = (Status::Failed, "TestMinus: minus_test.go:7: no".to_owned());
    assert_eq!(judged("if x < 0 {\n\t\treturn 0\n\t}\n\treturn 2 * x"), minus);
    // A test of which the runner reports no end has failed.
    let (status, message) = judged("if x < 0 {\n\t\tgo panic(\"no\")\n\t\tselect {}\n\t}\n\treturn 2 * x");
    assert!(status == Status::Failed && message.starts_with("TestMinus: panic: no"), "{status:?} {message}");
}
