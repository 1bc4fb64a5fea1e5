//! Tests that wait for what the function is to do: without it they never end, and they judge it all the same.

use std::sync::Arc;
use std::time::Duration;

use bass_tui::language::Language;
use bass_tui::sandbox::Limits;
use bass_tui::trial::{Project, Runner, Status, Tests, Trial, TrialError, Verdict};

use crate::place::{Place, trial};
use crate::runner::runner;

/// The verdict on a program for a file whose own function does nothing.
fn judged(runner: &Runner, place: &Place, at: (Language, &str, &str), program: &str) -> Result<Verdict, TrialError> {
    judged_by(runner, place, at, place.tests(at.1, at.2), program)
}

fn judged_by(
    runner: &Runner,
    place: &Place,
    (language, file, _): (Language, &str, &str),
    tests: Tests,
    program: &str,
) -> Result<Verdict, TrialError> {
    let limits = Limits { wall: Duration::from_secs(3), memory: 512 << 20, ..Limits::default() };
    let (stub, entry_point) = (Some(place.text(file)), Some("answer".to_owned()));
    let trial = Trial { stub, entry_point, limits, ..trial(language, program, tests) };
    runner.run(&trial, &Arc::default())
}

#[test]
fn tests_that_wait_for_an_answer_judge_it() {
    let tests = "const { test } = require('node:test')\nconst assert = require('node:assert')\nconst http = require('node:http')\n\
        const { answer } = require('../answer')\n\
        test('answers', (t, done) => {\n  const server = http.createServer((_, out) => { try { answer(out) } catch {} }).listen(0, '127.0.0.1', () => {\n    \
        http.get({ port: server.address().port, host: '127.0.0.1', agent: false }, (said) => {\n      said.resume()\n      \
        said.on('end', () => { server.close(); try { assert.equal(said.statusCode, 201); done() } catch (e) { done(e) } })\n    })\n  })\n})\n";
    let code = "exports.answer = function answer (out) {\nBODY}\n";
    let files = [
        ("package.json", "{\"name\":\"answers\"}"),
        ("answer.js", &*code.replace("BODY", "")),
        ("test/answer.test.js", tests),
    ];
    let at = (Language::JavaScript, "answer.js", "test/answer.test.js");
    let with = |status: u16| code.replace("BODY", &format!("  out.statusCode = {status}\n  out.end('x')\n"));
    let place = Place::new(&files);
    all_judged(&place, at, &with(201), &with(500));
    // Of one that does not answer either, nothing is known, whatever passes beside it.
    let shape = "const { test } = require('node:test')\nconst assert = require('node:assert')\nconst { answer } = require('../answer')\n\
        test('gives nothing', () => { assert.equal(answer({ end () {} }), undefined) })\n";
    let place = Place::new(&[&files[..], &[("test/shape.test.js", shape)]].concat());
    let Some(runner) = runner(Language::JavaScript) else { return };
    let never = code.replace("BODY", "  out.statusCode = 201\n");
    let error = judged(&runner, &place, at, &never).unwrap_err().to_string();
    assert!(error.starts_with("these tests hit a limit without the candidate, too"), "{error}");
    let several = ["test/answer.test.js", "test/shape.test.js"].map(|tests| place.tests("answer.js", tests)).to_vec();
    for tests in [
        vec![(Tests::Several(several.clone()), String::new())],
        several.into_iter().map(|tests| (tests, String::new())).collect(),
    ] {
        let verdict = judged_by(&runner, &place, at, Tests::FirstOf(tests), &never).unwrap();
        assert_eq!(verdict.status, Status::NotRun, "{}", verdict.message);
        assert!(verdict.message.contains("hit a limit without the candidate"), "{}", verdict.message);
    }
}

/// Tests of a further file that wait for ever with a candidate, and not without it: its pass is marked.
#[test]
fn further_tests_that_give_no_result_are_a_mark_of_a_pass() {
    let head = "const { test } = require('node:test')\nconst assert = require('node:assert')\nconst { answer } = require('../answer')\n";
    let shape = format!("{head}test('gives a number', () => {{ assert.equal(answer(() => {{}}), 1) }})\n");
    let waits = format!(
        "{head}test('calls back', (t, done) => {{\n  const timer = setInterval(() => {{}}, 1e6)\n  \
        try {{ if (!answer(() => {{ clearInterval(timer); done() }})) throw 0 }} catch {{ clearInterval(timer); throw new Error('none') }}\n}})\n"
    );
    let code = "exports.answer = function answer (done) {\nBODY}\n";
    let files = [
        ("package.json", "{\"name\":\"answers\"}"),
        ("answer.js", &*code.replace("BODY", "")),
        ("test/shape.test.js", &*shape),
        ("test/waits.test.js", &*waits),
    ];
    let place = Place::new(&files);
    let Some(runner) = runner(Language::JavaScript) else { return };
    let at = (Language::JavaScript, "answer.js", "test/shape.test.js");
    let found =
        ["test/shape.test.js", "test/waits.test.js"].map(|file| (place.tests("answer.js", file), file.to_owned()));
    let with = |body: &str| {
        let tests = Tests::FirstOf(found.to_vec());
        let verdict = judged_by(&runner, &place, at, tests, &code.replace("BODY", body)).unwrap();
        assert_eq!(verdict.status, Status::Passed, "{verdict:?}");
        verdict.assurance.marks.join("; ")
    };
    let marks = with("  return 1\n");
    assert!(
        marks.starts_with("test/waits.test.js end without the candidate, and with it there is no result"),
        "{marks}"
    );
    assert_eq!(with("  done()\n  return 1\n"), "");
}

/// All tests of the project take too long: the verdict says so, and each file of the function is tried alone.
#[test]
fn all_tests_that_take_too_long_hide_none_that_fails() {
    let near = "from answer import answer\n\n\ndef test_one():\n    assert answer(1) == 2\n";
    let far = "from answer import answer\n\n\ndef test_zero():\n    assert answer(0) == 1\n";
    let slow = "import time\n\n\ndef test_slow():\n    time.sleep(60)\n";
    let files = [
        ("pyproject.toml", ""),
        ("answer.py", "def answer(x):\n    pass\n"),
        ("tests/test_answer.py", near),
        ("tests/test_far.py", far),
        ("tests/test_a_slow.py", slow),
    ];
    let place = Place::new(&files);
    let Some(runner) = runner(Language::Python) else { return };
    let at = (Language::Python, "answer.py", "tests/test_answer.py");
    let group = |tests: &str| {
        let project = Project::around(&place.path().join("answer.py"), Some(&place.path().join(tests))).unwrap();
        (Tests::Project(project), tests.to_owned())
    };
    let with = |groups: &[&str], body: &str| {
        let tests = Tests::FirstOf(groups.iter().map(|tests| group(tests)).collect());
        let program = format!("def answer(x):\n    return {body}\n");
        let verdict = judged_by(&runner, &place, at, tests, &program).unwrap();
        (verdict.status, verdict.words())
    };
    let (status, words) = with(&["tests/test_answer.py", "tests"], "2");
    assert!(status == Status::Passed && words.contains("tests say nothing, as they take too long"), "{words}");
    let all = ["tests/test_answer.py", "tests/test_far.py", "tests"];
    assert_eq!(with(&all, "2").0, Status::Failed);
    assert_eq!(with(&all, "x + 1").0, Status::Passed);
}

#[test]
fn tests_that_wait_for_a_thread_judge_it() {
    let tests = "import queue\nimport threading\n\nfrom answer import answer\n\n\ndef test_it():\n    out = queue.Queue()\n    threading.Thread(target=answer, args=(out,)).start()\n    assert out.get() == 201\n";
    let code = "def answer(out):\n    BODY\n";
    let files = [("setup.cfg", ""), ("answer.py", &*code.replace("BODY", "pass")), ("test_answer.py", tests)];
    let at = (Language::Python, "answer.py", "test_answer.py");
    let with = |status: u16| code.replace("BODY", &format!("out.put({status})"));
    all_judged(&Place::new(&files), at, &with(201), &with(500));
}

fn all_judged(place: &Place, at: (Language, &str, &str), right: &str, wrong: &str) {
    let Some(runner) = runner(at.0) else { return };
    let right = judged(&runner, place, at, right).unwrap();
    assert_eq!((right.status, right.is_partial), (Status::Passed, false), "{}", right.message);
    let wrong = judged(&runner, place, at, wrong).unwrap();
    assert_eq!(wrong.status, Status::Failed, "{}", wrong.message);
}
