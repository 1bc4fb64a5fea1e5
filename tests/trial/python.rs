//! Python: everyday tests pass, deceiving programs do not unless they fool the plain runner as well, and the
//! reference solutions of a problem set are judged as they should.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bass_tui::trial::{Runner, Status, Tests, Tier, Trial};

use super::fools::{is_known_to_fool, listed};
use super::runner::has_pytest;
use super::verdicts::{file, header, limits, run, runner, trial};

#[test]
fn everyday_tests_pass() {
    let Some(runner) = runner() else { return };
    let mut paths: Vec<_> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/everyday"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "py"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 40, "the everyday programs are missing");
    let has_pytest = has_pytest();
    let complaints: Vec<String> = in_parallel(&paths, |path| {
        let source = fs::read_to_string(path).unwrap();
        let (program, tests) = source.split_once("# --- tests ---\n").unwrap();
        let verdict = run(runner, &of_file(&source, program, tests));
        let (found, expected) = (word(verdict.status), header(&source, "expect").unwrap());
        let lacking = if has_pytest { "-m pip install pytest-asyncio" } else { "-m pip install pytest" };
        let is_without = verdict.status == Status::NotRun && verdict.message.contains(lacking);
        let name = path.file_stem().unwrap().to_string_lossy();
        (found != expected && !is_without)
            .then(|| format!("{name}: expected {expected}, found {found}: {} {}", verdict.message, verdict.output))
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Each is caught or marked, or stands in the list of what fools the plain runner as well.
#[test]
fn deceiving_programs_are_caught_marked_or_listed() {
    let Some(runner) = runner() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/python");
    let paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(paths.len() >= 120, "the deceiving programs are missing");
    let complaints: Vec<String> = in_parallel(&paths, |path| {
        let source = fs::read_to_string(path).unwrap();
        let (program, tests) = source.split_once("# --- tests ---\n").unwrap();
        let verdict = run(runner, &of_file(&source, program, tests));
        let name = path.file_stem().unwrap().to_string_lossy();
        (!is_known_to_fool(&name, &verdict)).then(|| format!("{name}: {}", verdict.message))
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn the_listed_programs_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let exists = |name: &str| {
        ["", "python", "project", "shared/python"].iter().any(|f| folder.join(f).join(format!("{name}.py")).is_file())
    };
    let missing: Vec<String> = listed().into_iter().filter(|name| !exists(name)).collect();
    assert_eq!(missing, [""; 0]);
}

/// The trial of a program with its tests in one file. What stands above its body is the user's own.
fn of_file(source: &str, program: &str, tests: &str) -> Trial {
    let entry = header(source, "entry");
    let above = program.split_once("# --- body ---\n").map(|(above, _)| above);
    let stub = above.map(|above| match entry {
        Some(_) => above.to_owned(),
        None => format!("{above}\ndef f(*args, **named):\n    pass\n"),
    });
    // The candidate is the whole file: of a method under test its class, too.
    let program = program.split_once("# --- body ---\n").filter(|_| entry.is_some()).map_or(program, |(_, body)| body);
    let entry_point = Some(entry.unwrap_or("f").to_owned());
    Trial { stub, entry_point, ..trial(program, file(tests), limits(20.0)) }
}

/// A method is found through its class, whether or not the tests name that; a nested function through the
/// outer one.
#[test]
fn methods_and_nested_functions_are_judged() {
    let Some(runner) = runner() else { return };
    let class = |body: &str| {
        format!(
            "class Stats:\n    def __init__(self, values):\n        self.values = values\n\n    def find_max(self):\n        \
             '''The largest.\n\n        >>> Stats([1, 3, 2]).find_max()\n        3\n        '''\n        {body}\n\n\n\
             def largest(values):\n    return Stats(values).find_max()\n"
        )
    };
    let method = |tests: Tests| ("Stats.find_max", class("return max(self.values)"), class("return 1"), tests);
    let nested = |body: &str| format!("def outer(x):\n    def inner(y):\n        {body}\n    return inner(x)\n");
    let check = "from types import SimpleNamespace\n\ndef check(candidate):\n    assert candidate(SimpleNamespace(values=[4, 5])) == 5\n";
    let cases = [
        method(Tests::own_examples()),
        method(file("assert Stats([1, 3]).find_max() == 3\n")),
        method(file("assert largest([1, 3]) == 3\n")),
        method(file(check)),
        ("outer.inner", nested("return 2 * y"), nested("return y"), file("assert outer(2) == 4\n")),
    ];
    for (entry, right, wrong, tests) in cases {
        for (program, expected) in [(right, Status::Passed), (wrong, Status::Failed)] {
            let entry_point = Some(entry.to_owned());
            let stub = Some(if entry == "outer.inner" { nested("pass") } else { class("pass") });
            let verdict = run(runner, &Trial { entry_point, stub, ..trial(&program, tests.clone(), limits(20.0)) });
            assert_eq!(verdict.status, expected, "{entry} {tests:?}: {}", verdict.message);
        }
    }
}

#[derive(serde::Deserialize)]
struct Problem {
    task_id: String,
    prompt: String,
    entry_point: String,
    canonical_solution: String,
    test: String,
}

impl Problem {
    fn trial(&self, solution: &str) -> Trial {
        let text = format!("{}\ncheck({})\n", self.test, self.entry_point);
        Trial {
            entry_point: Some(self.entry_point.clone()),
            file: None,
            stub: Some(self.prompt.clone()),
            ..trial(&format!("{}{solution}", self.prompt), Tests::text("test.py", &text), limits(60.0))
        }
    }
}

/// The problems, unpacked by the Python that the trials need anyway.
fn problems() -> Vec<Problem> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/problems/HumanEval.jsonl.gz");
    let unpack = "import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())";
    let output = Command::new("python3").args(["-c", unpack]).arg(path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn reference_solutions_pass_and_broken_ones_fail() {
    let Some(runner) = runner() else { return };
    let problems = problems();
    assert_eq!(problems.len(), 164);
    let numbered: Vec<(usize, &Problem)> = problems.iter().enumerate().collect();
    let complaints = in_parallel(&numbered, |(at, problem)| {
        let right = run(runner, &problem.trial(&problem.canonical_solution));
        if right.status != Status::Passed || right.is_marked() {
            return Some(format!("{}: {:?} {}", problem.task_id, right.status, right.message));
        }
        // One in four shows that tests which fail are seen.
        if at % 4 != 0 {
            return None;
        }
        let wrong = run(runner, &problem.trial("    return None\n"));
        (wrong.status == Status::Passed).then(|| format!("{}: passed with `return None`", problem.task_id))
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn reference_solutions_pass_in_the_lesser_tiers_too() {
    // Tiers differ in what the system lets a program do, not in what a solution computes.
    let problems: Vec<Problem> = problems().into_iter().step_by(8).collect();
    for tier in [Tier::Namespaces, Tier::KernelRules] {
        let runner = Runner::probe_at_most(tier);
        if runner.protection().tier != tier.name() {
            crate::skip::as_it_cannot("tier", runner.protection().missing.join("; "));
            continue;
        }
        let complaints = in_parallel(&problems, |problem| {
            let verdict = run(&runner, &problem.trial(&problem.canonical_solution));
            (verdict.status != Status::Passed)
                .then(|| format!("{}: {:?} {}", problem.task_id, verdict.status, verdict.message))
        });
        assert!(
            complaints.is_empty(),
            "in {}, {} complaints:\n{}",
            tier.name(),
            complaints.len(),
            complaints.join("\n")
        );
    }
}

/// Its word in reports.
pub fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap_or_default().to_owned()
}

/// Looks at every item, two at a time.
pub fn in_parallel<T: Sync>(items: &[T], look: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let complaint = look(item);
                    found.lock().unwrap().extend(complaint);
                }
            });
        }
    });
    found.into_inner().unwrap()
}
