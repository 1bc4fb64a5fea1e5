//! Python: layouts, environments, examples, unittest and pytest.

use bass_tui::language::Language;

use crate::driver::{Field, Function};
use crate::runner::{has_pytest, python_and_git, runner};

const RAISES: &str = "    raise ValueError(\"no\")\n";

/// An environment without packages, in which these folders are installed to be edited.
macro_rules! environment {
    ($($folder:literal),*) => {
        concat!("python3 -m venv --without-pip .venv; cd .venv/lib/python*/site-packages; ", $("echo \"$OLDPWD/", $folder, "\" >> own.pth;"),*)
    };
}

/// Bodies of a function that doubles, and the test that fails of each.
const WRONG: &[(&str, &str)] = &[
    ("    pass\n", "test_code.Code.test_f: AssertionError: None != 6"),
    (RAISES, "test_code.Code.test_f: ValueError: no"),
];

#[test]
fn a_src_layout_with_an_environment_that_git_does_not_ignore() {
    let Some(runner) = python_and_git() else { return };
    let mut field = Field::in_git(runner, include_str!("projects/src_layout.txt"), &[], &[environment!("src")]);
    field.holds(&Function {
        target: "src/pkg/code.py:f",
        tests: &[],
        right: "    return twice(x)\n",
        passes: "3 tests",
        wrong: &[
            ("    pass\n", "test_code.Code.test_f: AssertionError: None != 6"),
            (RAISES, "test_code.Code.test_f: ValueError: no"),
            ("    return twice(x) + 1\n", "test_code.Code.test_f: AssertionError: 7 != 6"),
        ],
    });
    field.holds(&Function {
        target: "src/pkg/code.py:f",
        tests: &["tests/test_command.py"],
        right: "    return twice(x)\n",
        passes: "1 test",
        wrong: &[("    pass\n", "test_command.Command.test_command: AssertionError: 'None\\n' != '8\\n'")],
    });
}

#[test]
fn ignored_code_that_is_imported_and_ignored_keys_that_are_not() {
    let Some(runner) = python_and_git() else { return };
    let mut field = Field::in_git(runner, include_str!("projects/ignored_code.txt"), &[], &[environment!()]);
    field.holds(&Function {
        target: "pkg/code.py:f",
        tests: &[],
        right: "    return TABLES[name] + __version__\n",
        passes: "1 test",
        wrong: &[
            ("    pass\n", "test_code.Code.test_f: AssertionError: None != '+1.2'"),
            (RAISES, "test_code.Code.test_f: ValueError: no"),
        ],
    });
}

#[test]
fn packages_of_one_namespace_below_the_root_of_their_repository() {
    let Some(runner) = python_and_git() else { return };
    let environment = environment!("packages/one/src", "packages/two/src");
    let mut field = Field::in_git(runner, include_str!("projects/namespace.txt"), &[], &[environment]);
    field.holds(&Function {
        target: "packages/one/src/acme/one/code.py:f",
        tests: &[],
        right: "    return twice(x)\n",
        passes: "2 tests",
        wrong: WRONG,
    });
}

#[test]
fn a_project_without_git_beside_what_was_built_of_it() {
    let Some(runner) = runner(Language::Python) else { return };
    let mut field = Field::new(runner, include_str!("projects/without_git.txt"), &[environment!()]);
    field.holds(&Function {
        target: "pkg/code.py:f",
        tests: &[],
        right: "    return twice(x)\n",
        passes: "2 tests",
        wrong: WRONG,
    });
}

#[test]
fn examples_with_names_of_their_module_their_package_and_their_settings() {
    let Some(runner) = python_and_git().filter(|_| has_pytest()) else { return };
    let mut field = Field::in_git(runner, include_str!("projects/examples.txt"), &[], &[]);
    field.holds(&Function {
        target: "pkg/code.py:f",
        tests: &[],
        right: "    return twice(x)\n",
        passes: "1 test",
        wrong: &[
            ("    pass\n", "pkg/code.py::pkg.code.f: f(three) gave nothing, expected 6"),
            (RAISES, "pkg/code.py::pkg.code.f: f(three) raised ValueError: no"),
            ("    return 7\n", "pkg/code.py::pkg.code.f: f(three) gave 7, expected 6"),
        ],
    });
}

#[test]
fn unittest_alone() {
    let Some(runner) = python_and_git() else { return };
    let mut field = Field::in_git(runner, include_str!("projects/unittest_only.txt"), &[], &[environment!()]);
    field.holds(&Function {
        target: "pkg/code.py:f",
        tests: &[],
        right: "    return sorted(set(values))\n",
        passes: "3 tests",
        wrong: &[
            ("    pass\n", "tests.test_code.Code.test_f: AssertionError: None != [1, 3]"),
            (RAISES, "tests.test_code.Code.test_f: ValueError: no"),
            ("    return sorted(values)\n", "tests.test_code.Code.test_f: AssertionError: Lists differ"),
            ("    return [1, 3]\n", "tests.test_code.Code.test_parts"),
            // Further tests of the same package, which import relatively.
            (
                "    return sorted(set(values)) if len(values) < 5 else [1]\n",
                "tests.test_more.More.test_longer: AssertionError: Lists differ",
            ),
        ],
    });
}

/// Equal settings, in two kinds of files.
#[test]
fn pytest_by_the_settings_of_the_project() {
    let ini = "pythonpath = lib\npython_files = *_check.py\npython_functions = check_*\n\
        addopts = -ra --strict-markers -m 'not slow'\nmarkers =\n    quick: is\n    slow: is not\n";
    let toml = "minversion = \"6\"\npythonpath = [\"lib\"]\npython_files = [\"*_check.py\"]\npython_functions = [\"check_*\"]\n\
        addopts = \"-ra --strict-markers -m 'not slow'\"\nmarkers = [\n    \"quick: is\",\n    \"slow: is not\",\n]\n";
    for (file, text) in [
        ("tox.ini", format!("[tox]\nenvlist = py\n\n[pytest]\n{ini}")),
        ("pyproject.toml", format!("[project]\nname = \"pkg\"\n\n[tool.pytest.ini_options]\n{toml}")),
    ] {
        let Some(runner) = python_and_git().filter(|_| has_pytest()) else { return };
        let source = format!("{}# --- {file} ---\n{text}", include_str!("projects/pytest_settings.txt"));
        Field::in_git(runner, &source, &[], &[]).holds(&Function {
            target: "lib/pkg/code.py:f",
            tests: &[],
            right: "    return 2 * x\n",
            passes: "5 tests",
            wrong: &[
                (RAISES, "checks/code_check.py::check_f[three]: ValueError: no"),
                ("    return 6\n", "checks/code_check.py::check_f[four [4]]: assert 6 == 8"),
                ("    return 2 * x if x != 5 else None\n", "checks/code_check.py::check_later: assert None == 10"),
            ],
        });
    }
}

#[test]
fn tests_that_start_threads_and_processes() {
    let Some(runner) = python_and_git() else { return };
    let mut field = Field::in_git(runner, include_str!("projects/processes.txt"), &[], &[environment!()]);
    field.holds(&Function {
        target: "pkg/code.py:f",
        tests: &[],
        right: "    return 2 * x\n",
        passes: "4 tests",
        wrong: &[
            ("    pass\n", "test_code.Code.test_"),
            (RAISES, "test_code.Code.test_"),
            ("    return 2 * x if x != 2 else 0\n", "test_code.Code.test_many_threads: AssertionError: Lists differ"),
            ("    return 2 * x if x != 5 else 0\n", "test_code.Code.test_process: AssertionError: 0 != 10"),
            ("    return 2 * x if x != 4 else 0\n", "test_code.Code.test_command: AssertionError: '0\\n' != '8\\n'"),
        ],
    });
}

#[test]
fn a_submodule_and_a_folder_that_is_a_link() {
    let Some(runner) = python_and_git() else { return };
    let part = "mkdir .part && cd .part && git init -q && touch __init__.py && printf 'def once(x):\\n    return x\\n' > more.py\n\
        git add . && git -c user.name=n -c user.email=e -c commit.gpgsign=false commit -qm one && cd .. && git init -q\n\
        git -c protocol.file.allow=always submodule add -q \"$PWD/.part\" pkg/part && rm -r .part && ln -s ../shared pkg/linked";
    let source = include_str!("projects/submodule.txt");
    Field::in_git(runner, source, &[part], &[environment!()]).holds(&Function {
        target: "pkg/code.py:f",
        tests: &[],
        right: "    return once(twice(x))\n",
        passes: "1 test",
        wrong: WRONG,
    });
}

#[test]
fn tests_that_fail_anyway_that_take_too_long_and_that_never_reach_the_function() {
    let Some(runner) = python_and_git() else { return };
    let mut field = Field::in_git(runner, include_str!("projects/troubled.txt"), &[], &[environment!()]);
    field.holds(&Function {
        target: "pkg/code.py:f",
        tests: &[],
        right: "    return twice(x)\n",
        passes: "1 test (left out, as they fail without calling the function: test_code.Code.test_that_fails_anyway; test_code.Code.test_that_fails_anyway says AssertionError: 4 != 5",
        wrong: WRONG,
    });
    let said = field.test("other/code.py:g", &["--tests", "other/test_code.py"]).code(1).json();
    let message = said["message"].as_str().unwrap();
    assert!(said["status"] == "not_run" && message.starts_with("these tests do not notice `g`"), "{said}");
    let slow = ["--tests", "slow/test_code.py", "--timeout", "200ms"];
    field
        .test("slow/code.py:h", &slow)
        .refused(3, &["hit a limit without the candidate, too", "raise it with --timeout"]);
}

/// Also where pytest is there without its plugin: the settings and the test database come from Django's
/// runner.
#[test]
fn a_django_application() {
    let Some(runner) = python_and_git() else { return };
    let source = include_str!("projects/django.txt");
    let mut field = Field::in_git(runner, source, &[], &[environment!("vendor")]);
    field.holds(&Function {
        target: "notes/models.py:Note.head",
        tests: &[],
        right: "        return self.text[:settings.LONGEST]\n",
        passes: "2 tests",
        wrong: &[
            ("        pass\n", "notes.tests.test_models.Heads.test_"),
            ("        return self.text\n", "notes.tests.test_models.Heads.test_long: AssertionError: '0123456789ab'"),
        ],
    });
}

#[test]
fn tests_that_a_package_gathers_under_other_names() {
    let Some(runner) = python_and_git() else { return };
    let mut field = Field::in_git(runner, include_str!("projects/gathered.txt"), &[], &[environment!()]);
    field.holds(&Function {
        target: "gauge.py:middle",
        tests: &[],
        right: "    return sum(numbers) / len(numbers)\n",
        passes: "1 test",
        wrong: &[("    return sum(numbers)\n", "test.gauge.Middle.test_middle: AssertionError: 4 != 2")],
    });
}

/// Modules keep its results, which tests look at without a call.
#[test]
fn constants_that_it_makes() {
    let Some(runner) = python_and_git().filter(|_| has_pytest()) else { return };
    let mut field = Field::in_git(runner, include_str!("projects/constants.txt"), &[], &[]);
    field.holds(&Function {
        target: "app/table.py:squares",
        tests: &[],
        right: "    return [n * n for n in range(count)]\n",
        passes: "4 tests",
        wrong: &[
            (
                "    return [n * n for n in range(count) if n != 3] + [7]\n",
                "tests/test_table.py::test_one: assert [0, 7] == [0]",
            ),
            ("    return [0, 1, 9, 4, 16][:count]\n", "tests/test_table.py::test_place: assert 9 == 4"),
            ("    return [0, 1, 4, 9, 15][:count]\n", "tests/test_table.py::test_is_square: assert False"),
            (
                "    return [0, 2, 4, 9, 16][:count]\n",
                "tests/test_table.py::test_all: assert [0, 2, 4, 9, 16] == [0, 1, 4, 9, 16]",
            ),
        ],
    });
    field.holds(&Function {
        target: "app/title.py:joined",
        tests: &[],
        right: "    return \", \".join(words)\n",
        passes: "4 tests",
        wrong: &[
            (
                "    return ', '.join(words[:2]) if words[1:] != ['b'] else 'a'\n",
                "tests/test_title.py::test_end: AssertionError: assert False",
            ),
            (
                "    return ' and '.join(words)\n",
                "tests/test_title.py::test_title: AssertionError: assert 'Of tea and milk' == 'Of tea, milk'",
            ),
        ],
    });
}

/// Modules call it while they are loaded, so that only all tests together show which of them use the result.
#[test]
fn a_decorator() {
    let Some(runner) = python_and_git().filter(|_| has_pytest()) else { return };
    let mut field = Field::in_git(runner, include_str!("projects/decorator.txt"), &[], &[]);
    field.holds(&Function {
        target: "app/guard.py:needs_user",
        tests: &[],
        right: "    @functools.wraps(action)\n    def wrapped(*args):\n        return action(*args) if USER[\"name\"] else \"refused\"\n\n    return wrapped\n",
        passes: "2 tests",
        wrong: &[("    return action\n", "tests/test_notes.py::test_refused: AssertionError: assert 'kept' == 'refused'")],
    });
}

/// A module calls it while it is loaded, and tests need what that leaves behind.
#[test]
fn an_entry_in_a_table() {
    let Some(runner) = python_and_git().filter(|_| has_pytest()) else { return };
    let mut field = Field::in_git(runner, include_str!("projects/rules.txt"), &[], &[]);
    field.holds(&Function {
        target: "plural/__init__.py:rule",
        tests: &[],
        right: "    TABLE.append((name, value))\n    TABLE.append((name.upper(), value * 2))\n",
        passes: "4 tests",
        wrong: &[
            (
                "    TABLE.append((name, value))\n    TABLE.append((name.upper(), value * 3))\n",
                "tests/test_plural.py::test_lookup[A-2]: AssertionError: assert 3 == 2",
            ),
            ("    pass\n", "tests/test_plural.py::test_lookup[a-1]: KeyError: 'a'"),
        ],
    });
}
