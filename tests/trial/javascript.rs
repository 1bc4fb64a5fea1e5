//! JavaScript across two processes: deceiving code gets no pass, right code passes, and what a plain node
//! notices is noticed here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bass_tui::language::Language;
use bass_tui::trial::{Assurance, Runner, Status, Tests, Trial, Verdict};

use super::judge::{in_parallel, word};
use super::runners::{run, runner};
use super::verdicts::limits;

const TESTS: &str = "// --- tests ---\n";

/// A file with a program, headers in its first lines, and tests.
struct Case {
    name: String,
    program: String,
    tests: String,
}

impl Case {
    fn all(folder: &str, least: usize) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(paths.len() >= least, "programs are missing");
        let read = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            let (program, tests) = text.split_once(TESTS).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            Self { name, program: program.to_owned(), tests: tests.to_owned() }
        };
        paths.iter().map(read).collect()
    }

    /// A line `// KEY: value` of the program.
    fn header(&self, key: &str) -> Option<&str> {
        self.program.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
    }

    fn judge(&self, runner: &Runner, tests: &str) -> Verdict {
        let above =
            self.program.split_once("// --- body ---\n").map(|(above, _)| format!("{above}function f() {{}}\n"));
        let stub = above.or_else(|| self.header("stub").map(|_| self.program.clone()));
        let trial = trial(&self.program, self.header("name").unwrap_or("t.js"), tests);
        run(runner, &Trial { stub, entry_point: Some(self.header("entry").unwrap_or("f").to_owned()), ..trial })
    }
}

fn trial(program: &str, name: &str, tests: &str) -> Trial {
    let mut limits = limits(20.0);
    limits.memory = 512 << 20;
    Trial {
        language: Language::JavaScript,
        program: program.to_owned(),
        file: Some("doubling".into()),
        entry_point: Some("f".to_owned()),
        line: None,
        tests: Tests::Source { name: name.to_owned(), text: tests.to_owned() },
        stub: None,
        limits,
    }
}

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn deceiving_javascript_gets_no_pass() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    assert_none(&in_parallel(&Case::all("hostile/javascript_border", 120), |case| {
        // Another test passes, so that one check that vanishes is not enough to be noticed.
        let other = "test('other', () => assert(true));\n";
        let verdict = case.judge(&runner, &format!("{other}test('f', () => {{\n{}}});\n", case.tests));
        let is_expected = case.header("expect").unwrap().split(' ').any(|status| word(verdict.status) == status);
        (!is_expected || verdict.assurance != Assurance::Separate)
            .then(|| format!("{}: {:?} {:?} {}", case.name, verdict.status, verdict.assurance, verdict.message))
    }));
}

#[test]
fn everyday_javascript_works_across_two_processes() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    assert_none(&in_parallel(&Case::all("everyday/javascript", 80), |case| {
        let verdict = case.judge(&runner, &case.tests);
        let found = (word(verdict.status), word(verdict.assurance));
        let expected = (case.header("expect").unwrap(), case.header("assurance").unwrap_or("separate"));
        let says = case.header("says").unwrap_or_default();
        (found.0 != expected.0 || found.1 != expected.1 || !verdict.message.contains(says)).then(|| {
            format!("{}: expected {expected:?}, found {found:?}: {} {}", case.name, verdict.message, verdict.output)
        })
    }));
}

/// What node says of all of them, in one process: of each the lines of the tests that its failure came from,
/// or none.
const NATIVELY: &str = "const assert = require('node:assert');\n(async () => {\n  const found = [];\n  \
    for (const [program, tests] of JSON.parse(require('node:fs').readFileSync(0, 'utf8'))) {\n    const bodies = [];\n    \
    try {\n      new Function('assert', 'test', `${program}${tests}`)(assert, (name, body) => bodies.push(body));\n      \
    for (const body of bodies) await body();\n      found.push(null);\n    } catch (error) {\n      \
    const above = program.split('\\n').length + 1;\n      found.push([...`${error.stack}`.matchAll(/<anonymous>:(\\d+)/g)].map(([, line]) => line - above));\n    \
    }\n  }\n  console.log(JSON.stringify(found));\n})();\n";

#[test]
fn mutants_that_node_kills_are_killed_by_the_same_check() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let mut cases = Vec::new();
    let text = include_str!("../data/javascript/mutants.txt");
    for part in text.split("\n## ").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap();
        let [program, tests, mutants] = rest.split("---\n").collect::<Vec<_>>()[..] else { panic!("{name}") };
        cases.push((name.to_owned(), program.to_owned(), tests));
        for mutant in mutants.lines() {
            let (old, new) = mutant.split_once(" ~> ").unwrap();
            assert_eq!(program.matches(old).count(), 1, "{name}: {mutant}");
            cases.push((format!("{name}: {mutant}"), program.replacen(old, new, 1), tests));
        }
    }
    assert!(cases.len() >= 240, "functions are missing");
    let texts: Vec<(&str, &str)> = cases.iter().map(|(_, program, tests)| (program.as_str(), *tests)).collect();
    let natively = natively(&texts);
    let cases: Vec<_> = cases.iter().zip(&natively).collect();
    assert_none(&in_parallel(&cases, |((name, program, tests), lines)| {
        let verdict = run(&runner, &trial(program, "t.js", tests));
        let is_same = match lines {
            None => !name.contains(':') && verdict.status == Status::Passed,
            Some(lines) => {
                let names = |line: &i64| verdict.message.ends_with(&format!("(t.js:{line})"));
                name.contains(':') && verdict.status == Status::Failed && lines.iter().any(names)
            }
        };
        (!is_same || verdict.assurance != Assurance::Separate)
            .then(|| format!("{name}: {:?} {}; node: {lines:?}", verdict.status, verdict.message))
    }));
}

fn natively(texts: &[(&str, &str)]) -> Vec<Option<Vec<i64>>> {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, &serde_json::to_vec(texts).unwrap()).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    let output = Command::new("node").args(["-e", NATIVELY]).stdin(file).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}
