//! Rust and Go.

use bass_tui::language::Language;

use crate::driver::{Field, Function};
use crate::runner::runner;

#[test]
fn a_rust_workspace_without_the_standard_library_with_features_and_tests_made_by_macros() {
    let Some(runner) = runner(Language::Rust) else { return };
    let mut field = Field::in_git(runner, include_str!("projects/rust_workspace.txt"), &[], &[]);
    field.holds(&Function {
        target: "crates/counting/src/counter.rs:Counter::next",
        tests: &[],
        right: "        self.at * 2\n",
        passes: "3 tests",
        wrong: &[
            ("        panic!(\"no\")\n", "counter::tests::four: no"),
            ("        6\n", "counter::tests::four: assertion `left == right` failed, left: 6, right: 8"),
        ],
    });
    field.holds(&Function {
        target: "crates/counting/src/counter.rs:Counter::next",
        tests: &["crates/counting/tests/outside.rs"],
        right: "        self.at * 2\n",
        passes: "1 test",
        wrong: &[("        self.at\n", "from_outside: assertion `left == right` failed, left: 5, right: 10")],
    });
}

#[test]
fn tests_behind_a_feature_of_their_crate() {
    let Some(runner) = runner(Language::Rust) else { return };
    let mut field = Field::in_git(runner, include_str!("projects/feature.txt"), &[], &[]);
    field.holds(&Function {
        target: "src/cutting.rs:cut",
        tests: &[],
        right: "    text.split(' ').filter(|part| !part.is_empty()).collect()\n",
        passes: "1 test",
        wrong: &[("    text.split(' ').collect()\n", "blanks_cut: assertion `left == right` failed")],
    });
    // Its tests compile with all features alone.
    field.holds(&Function {
        target: "src/joined.rs:join",
        tests: &[],
        right: "    parts.join(\" \")\n",
        passes: "1 test",
        wrong: &[("    parts.join(\"\")\n", "joined::tests::blanks_join: assertion `left == right` failed")],
    });
}

#[test]
fn a_go_module_with_internal_packages_tags_tables_examples_benchmarks_and_fuzz_targets() {
    let Some(runner) = runner(Language::Go) else { return };
    let mut field = Field::in_git(runner, include_str!("projects/go_module.txt"), &[], &[]);
    field.holds(&Function {
        target: "code.go:Double",
        tests: &[],
        right: "\tif y := helper.Twice(x); y < limit {\n\t\treturn y\n\t}\n\treturn limit\n",
        passes: "tests",
        wrong: &[
            ("\t_ = helper.Twice\n\treturn 0\n", "TestDouble/"),
            ("\t_ = helper.Twice\n\tpanic(\"no\")\n", "TestDouble/"),
            ("\treturn helper.Twice(x)\n", "TestDouble/a_large_one: code_test.go:17: Double(99) = 198, want 100"),
            ("\tif y := helper.Twice(x); y < limit && y != 8 {\n\t\treturn y\n\t}\n\treturn limit\n", "ExampleDouble"),
        ],
    });
    field.holds(&Function {
        target: "internal/helper/helper.go:Twice",
        tests: &["code_test.go"],
        right: "\treturn 2 * x\n",
        passes: "tests",
        wrong: &[("\treturn 3 * x\n", "TestDouble/three: code_test.go:17: Double(3) = 9, want 6")],
    });
}
