//! `eval`: problem files, figures, a run that goes on where it stopped.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use serde_json::{Value, json};

use super::world::{World, keys, repository};

/// The 164 problems of `HumanEval`, as they were published.
fn humaneval() -> String {
    repository("tests/data/problems/HumanEval.jsonl.gz")
}

/// Their rows.
fn humaneval_rows() -> Vec<Value> {
    let mut text = String::new();
    let file = fs::File::open(humaneval()).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Ids of every `step`-th problem, as `--only` takes them.
fn every(step: usize) -> String {
    (0..164).step_by(step).map(|i| i.to_string()).collect::<Vec<_>>().join(",")
}

/// A problem with the keys of `HumanEval`.
fn problem(id: &str, body: &str, test: &str) -> Value {
    json!({
        "task_id": id,
        "prompt": "def twice(x):\n    \"\"\"Two times x.\"\"\"\n",
        "entry_point": "twice",
        "canonical_solution": body,
        "test": test,
    })
}

const CHECK: &str = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(5) == 10\n";

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| row.to_string() + "\n").collect()
}

fn problems(report: &Value) -> &Vec<Value> {
    report["problems"].as_array().expect("problems")
}

fn close(value: &Value, expected: f64) -> bool {
    (value.as_f64().expect("a number") - expected).abs() < 1e-12
}

/// A model that is not there: whoever needs one fails.
const NO_MODEL: &[&str] = &["--model", "no/such/model"];

fn reference_solutions_pass(only: &str) {
    let world = World::new();
    let args = ["eval", &humaneval(), "--solutions", "canonical", "--only", only, "--json"];
    let report = world.run(&[&args, NO_MODEL].concat()).code(0).json();
    let count = only.split(',').count();
    let failed: Vec<&Value> = problems(&report).iter().filter(|p| p["passed"] != 1).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!((problems(&report).len(), &report["stats"]["statuses"]), (count, &json!({"passed": count})));
    assert!(close(&report["pass_at_first"], 1.0) && close(&report["pass_at_k"]["1"], 1.0));
}

#[test]
fn reference_solutions_of_humaneval_pass() {
    reference_solutions_pass(&every(4));
}

#[test]
#[ignore = "takes long; the test above runs every fourth"]
fn all_reference_solutions_of_humaneval_pass() {
    reference_solutions_pass(&every(1));
}

/// Bodies that are wrong whatever the function is to do, the reference among them for some.
fn broken(index: usize, reference: &str) -> String {
    match index % 7 {
        0 => "    return object()\n".to_owned(),
        1 => "    raise ValueError('no')\n".to_owned(),
        2 => "    import os\n    os._exit(0)\n".to_owned(),
        3 => format!("    return (\n{reference}"),
        4 => "    raise SystemExit(0)\n".to_owned(),
        5 => format!("    undefined_name\n{reference}"),
        _ => format!("{reference}\n\nraise RuntimeError('while loading')\n"),
    }
}

fn broken_solutions_fail(step: usize) {
    let world = World::new();
    let samples: String = humaneval_rows()
        .iter()
        .step_by(step)
        .enumerate()
        .map(|(i, row)| {
            let text = broken(i, row["canonical_solution"].as_str().unwrap());
            json!({"task_id": row["task_id"], "completion": text}).to_string() + "\n"
        })
        .collect();
    let samples = world.file("samples.jsonl", samples);
    let only = every(step);
    let args = ["eval", &humaneval(), "--solutions", &samples, "--only", &only, "--json"];
    let report = world.run(&[&args, NO_MODEL].concat()).code(1).json();
    let passed: Vec<&Value> = problems(&report).iter().filter(|p| p["passed"] != 0).collect();
    assert!(passed.is_empty(), "{passed:?}");
    assert_eq!(problems(&report).len(), only.split(',').count());
    assert!(close(&report["pass_at_all"], 0.0) && close(&report["pass_at_k"]["1"], 0.0));
    assert!(report["stats"]["syntax_errors"].as_u64() >= Some(1), "{}", report["stats"]);
}

#[test]
fn broken_solutions_of_humaneval_fail() {
    broken_solutions_fail(4);
}

#[test]
#[ignore = "takes long; the test above runs every fourth"]
fn all_broken_solutions_of_humaneval_fail() {
    broken_solutions_fail(1);
}

#[test]
fn formats_are_told_by_their_keys() {
    let world = World::new();
    // No name tells anything.
    let humaneval = world.file("a.json", lines(&[problem("HumanEval/0", "    return 2 * x\n", CHECK)]));
    let mxeval = problem("MBXP/1", "    return x + x\n", CHECK);
    let mxeval =
        world.file("b.txt", lines(&[json!({"language": "python", "description": "d", "extra": 1}).merged(mxeval)]));
    let full = json!({
        "task_id": 601, "text": "Find the shorter \"\"\"side\"\"\".", "code": "def helper(a):\r\n  return a\r\ndef shorter(a, b = 3):\r\n  return min(helper(a), b)",
        "test_list": ["assert shorter(1) == 1", "assert shorter(4, 2) == 2", "assert math.floor(shorter(1.5)) == 1"],
        "test_setup_code": "import math", "challenge_test_list": ["assert shorter(0) == 1"],
    });
    let full = world.file("c", lines(&[full]));
    let sanitized = json!([{
        "source_file": "s", "task_id": 2, "prompt": "Write a function.", "code": "def shared(a, b):\n  return set(a) & set(b)\n",
        "test_imports": ["import collections"],
        "test_list": ["assert shared([1, 2], [2]) == {2}", "assert collections.Counter(shared([1], [1])) == {1: 1}"],
    }]);
    let sanitized = world.file("d.jsonl", serde_json::to_string_pretty(&sanitized).unwrap());
    let x = json!({
        "task_id": "Python/0", "declaration": "from typing import List\n\n\ndef twice(x: int) -> int:\n",
        "prompt": "from typing import List\n\n\ndef twice(x: int) -> int:\n    \"\"\" Two times x. \"\"\"\n",
        "canonical_solution": "    return 2 * x\n", "example_test": "def check(f):\n    assert f(1) == 2\ncheck(twice)\n",
        "test": "\n\nMETADATA = {}\n\n\ndef check(twice):\n    assert twice(2) == 4\n\ncheck(twice)",
    });
    let x = world.file("e", lines(&[x]));
    let args = ["eval", &humaneval, &mxeval, &full, &sanitized, &x, "--solutions", "canonical", "--json"];
    let report = world.run(&[&args, NO_MODEL].concat()).code(0).json();
    let ids: Vec<&str> = problems(&report).iter().map(|p| p["task_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["HumanEval/0", "MBXP/1", "MBPP/601", "MBPP/2", "Python/0"]);
    assert!(close(&report["pass_at_all"], 1.0), "{report}");

    // MultiPL-E has no solutions of its own.
    let multipl_e = json!({
        "name": "HumanEval_53_twice", "language": "py", "prompt": "def twice(x: int) -> int:\n    \"\"\"Two times x.\"\"\"\n",
        "doctests": "transform", "prompt_terminology": "reworded", "stop_tokens": ["\ndef", "\n#", "\nif", "\nclass"],
        "tests": "def check(candidate):\n    assert candidate(2) == 4\n\ndef test_check():\n    check(twice)\n\ntest_check()\n",
    });
    let multipl_e = world.file("f", lines(&[multipl_e]));
    world
        .run(&["eval", &multipl_e, "--solutions", "canonical"])
        .refused(2, &["HumanEval_53_twice", "without a solution", "line 1"]);
    let samples = world.file(
        "s",
        lines(&[
            json!({"task_id": "HumanEval_53_twice", "completion": "    return x + x\n"}),
            json!({"task_id": "HumanEval_53_twice", "solution": "def twice(x):\n    return x * 2\n"}),
            json!({"task_id": "HumanEval_53_twice", "completion": "    return x * x * x\n"}),
        ]),
    );
    let report = world.run(&["eval", &multipl_e, "--solutions", &samples, "--k", "1,2,3", "--json"]).code(0).json();
    assert!(close(&report["pass_at_k"]["1"], 2.0 / 3.0) && close(&report["pass_at_k"]["2"], 1.0), "{report}");
}

trait Merged {
    fn merged(self, other: Value) -> Value;
}

impl Merged for Value {
    fn merged(mut self, other: Value) -> Value {
        for (key, value) in other.as_object().unwrap() {
            self[key] = value.clone();
        }
        self
    }
}

#[test]
fn what_cannot_be_scored_is_refused_before_the_model_is_looked_for() {
    let world = World::new();
    let good = problem("T/0", "    return 2 * x\n", CHECK);
    let refused = |rows: &[Value], args: &[&str], words: &[&str]| {
        let file = world.file("p.jsonl", lines(rows));
        world.run(&[&["eval", &file], args, NO_MODEL].concat()).refused(2, words);
    };
    let with = |changes: Value| good.clone().merged(changes);
    refused(&[good.clone(), with(json!({}))], &[], &["p.jsonl, line 2", "T/0 is there already", "line 1"]);
    refused(&[with(json!({"entry_point": ""}))], &[], &["p.jsonl, line 1", "no entry point"]);
    refused(&[with(json!({"test": " \n"}))], &[], &["p.jsonl, line 1", "no tests"]);
    refused(&[with(json!({"test": "def check(c):\n    c(1)\n"}))], &[], &["line 1", "check nothing"]);
    refused(
        &[with(json!({"test": "import no_such_module\n".to_owned() + CHECK}))],
        &[],
        &["no_such_module", "install", "T/0"],
    );
    refused(&[with(json!({"prompt": 3}))], &[], &["`prompt` is a number"]);
    refused(&[json!({"task_id": "a", "completion": "b"})], &[], &["samples", "--solutions"]);
    refused(&[json!({"question": "a"})], &[], &["not known by its keys (question)", "HumanEval"]);
    refused(&[json!(3)], &[], &["p.jsonl, line 1", "object"]);
    refused(&[], &[], &["is empty"]);
    let good = &[good][..];
    // One greedy sample says nothing about ten.
    refused(good, &["-n", "1", "--temperature", "0", "--k", "10"], &["pass@10", "T/0 has 1 sample,", "raise -n"]);
    refused(good, &["--solutions", "canonical", "--k", "1,2"], &["pass@2", "more samples"]);
    refused(good, &["--k", "0"], &["--k"]);
    refused(good, &["--k", "many"], &["--k", "many"]);
    refused(good, &["--limit", "0"], &["--limit"]);
    refused(good, &["--only", "7"], &["no one problem 7", "T/0"]);
    refused(good, &["--solutions", "gone.jsonl"], &["gone.jsonl"]);
    let samples = |text: &str| world.file("s.jsonl", text);
    refused(
        good,
        &["--solutions", &samples("{\"task_id\":\"T/9\",\"completion\":\"x\"}")],
        &["s.jsonl, line 1", "T/9"],
    );
    refused(good, &["--solutions", &samples("{\"task_id\":\"T/0\"}")], &["s.jsonl, line 1", "`completion`"]);
    let notes = world.file("notes.txt", "my notes\n");
    let args = ["--solutions", "canonical", "--results", &notes];
    refused(good, &args, &["notes.txt", "not a results file"]);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "my notes\n");
    world.run(&[&["eval", "gone.jsonl"], NO_MODEL].concat()).refused(2, &["gone.jsonl", "cannot be read"]);
    let broken = world.file("b.jsonl", "{\"task_id\":\"a\"\n");
    world.run(&[&["eval", &broken], NO_MODEL].concat()).refused(2, &["b.jsonl, line 1", "no JSON"]);
    // And with nothing else to say, it is about the model.
    refused(good, &[], &["no/such/model"]);
}

#[test]
fn copies_are_run_once_and_counted_each() {
    let world = World::new();
    // The message of a failure differs from run to run, so that equal ones were run once.
    let wrong = "    import os\n    raise ValueError(os.urandom(8).hex())\n";
    let samples = [
        "    return 2 * x\n",
        wrong,
        "    return 2 * x  # again\n\n",
        "    import os\n\n    # so\n    raise ValueError(os.urandom(8).hex())\n",
    ]
    .map(|text| json!({"task_id": "T/0", "completion": text}));
    let file = world.file("p.jsonl", lines(&[problem("T/0", "    return 0\n", CHECK)]));
    let samples = world.file("s.jsonl", lines(&samples));
    let report = world.run(&["eval", &file, "--solutions", &samples, "--k", "1,2,4", "--json"]).code(0).json();
    assert_eq!(
        keys(&report),
        "about by_rank ended not_reached pass_at_all pass_at_first pass_at_k problems protection rank reached_only settings stats"
    );
    let candidates = problems(&report)[0]["candidates"].as_array().unwrap();
    assert_eq!(
        candidates.iter().map(|c| c["duplicate_of"].clone()).collect::<Vec<_>>(),
        [json!(null), json!(null), json!(0), json!(1)]
    );
    assert_eq!(candidates[1]["message"], candidates[3]["message"]);
    // Two of four: 1 - 2/4; 1 - (2*1)/(4*3); 1.
    let k = &report["pass_at_k"];
    assert!(close(&k["1"], 0.5) && close(&k["2"], 5.0 / 6.0) && close(&k["4"], 1.0), "{k}");
    assert!(close(&report["pass_at_first"], 1.0) && close(&report["pass_at_all"], 1.0));
    assert_eq!((&report["stats"]["duplicates"], &report["stats"]["candidates"]), (&json!(2), &json!(4)));
}

#[test]
fn problems_that_time_does_not_reach_have_failed() {
    let world = World::new();
    let file = world.file("p.jsonl", lines(&[problem("T/0", "    import time\n    time.sleep(600)\n", CHECK)]));
    let args = ["eval", &file, "--solutions", "canonical", "--timeout", "300s", "--deadline", "500ms"];
    let report = world.run(&[&args[..], &["--json"]].concat()).code(1).json();
    assert_eq!(
        (&report["ended"], &report["not_reached"], &report["stats"]["not_reached"]),
        (&json!("deadline"), &json!(["T/0"]), &json!(1))
    );
    assert!(close(&report["pass_at_all"], 0.0) && close(&report["pass_at_k"]["1"], 0.0));
    let done = world.run(&args).code(1);
    assert!(
        done.out.contains("1 problem not reached: counted as failed") && done.err.contains("0 of 1 problems"),
        "{} {}",
        done.out,
        done.err
    );
}

/// Five problems that the built-in model knows something about.
fn easy(world: &World) -> String {
    let row = |id: &str, name: &str, parameter: &str, words: &str, checks: &str| {
        json!({"task_id": id, "prompt": format!("def {name}({parameter}):\n    \"\"\"{words}\"\"\"\n"), "entry_point": name,
            "test": format!("def check(f):\n{checks}")})
    };
    let rows = [
        row(
            "E/0",
            "is_even",
            "n",
            "Return True if n is even, False otherwise.",
            "    assert f(4) == True\n    assert f(3) == False\n",
        ),
        row("E/1", "add", "a, b", "Return the sum of a and b.", "    assert f(2, 3) == 5\n"),
        row("E/2", "first", "items", "Return the first item of the list.", "    assert f([7, 8]) == 7\n"),
        row("E/3", "maximum", "numbers", "Return the largest number of the list.", "    assert f([1, 9, 3]) == 9\n"),
        row(
            "E/4",
            "is_odd",
            "n",
            "Return True if n is odd, False otherwise.",
            "    assert f(4) == False\n    assert f(3) == True\n",
        ),
    ];
    world.file("easy.jsonl", lines(&rows))
}

const FOUR: &[&str] = &["-n", "4", "--max-tokens", "60", "--k", "1,4"];

/// The problems of a report by id, and its figures.
fn results(report: &Value) -> (Vec<Value>, [Value; 3]) {
    let mut problems = problems(report).clone();
    problems.sort_by_key(|p| p["task_id"].as_str().unwrap().to_owned());
    (problems, ["pass_at_first", "pass_at_all", "pass_at_k"].map(|key| report[key].clone()))
}

#[test]
fn a_problem_depends_neither_on_its_neighbours_nor_on_their_order() {
    let world = World::new();
    let file = easy(&world);
    let all = world.run(&[&["eval", &file, "--json"], FOUR].concat()).code(0);
    assert_eq!(all.err, "", "with --json there is no progress");
    let all = all.json();
    assert_eq!(problems(&all).len(), 5);
    assert!(all["pass_at_first"].as_f64() <= all["pass_at_all"].as_f64());
    assert!(close(&all["pass_at_k"]["4"], all["pass_at_all"].as_f64().unwrap()), "all of them drawn");
    assert!(problems(&all).iter().all(|p| p["n"] == 4 && p["candidates"].as_array().unwrap().len() == 4));
    for name in ["seed", "model", "n", "sandbox", "python", "bass-tui", "temperature"] {
        assert!(!all["settings"][name].is_null(), "no {name} in {}", all["settings"]);
    }
    let mut rows: Vec<String> = fs::read_to_string(&file).unwrap().lines().map(|l| l.to_owned() + "\n").collect();
    rows.reverse();
    let turned = world.file("turned.jsonl", rows.concat());
    let turned = world.run(&[&["eval", &turned, "--json"], FOUR].concat()).code(0).json();
    assert_eq!(results(&all), results(&turned));
    let alone = world.run(&[&["eval", &file, "--json", "--only", "E/2", "--draft", "none"], FOUR].concat()).json();
    assert_eq!(problems(&alone), &problems(&all)[2..3]);
    let other = world.run(&[&["eval", &file, "--json", "--only", "2", "--seed", "1"], FOUR].concat()).json();
    assert_ne!(problems(&other), problems(&alone));
    // One greedy sample: pass@1 is Pass@First, and either all or nothing for each problem.
    let greedy = world.run(&["eval", &file, "--json", "-n", "1", "--temperature", "0", "--max-tokens", "60"]).json();
    assert!(problems(&greedy).iter().all(|p| p["passed"].as_u64() == Some(u64::from(p["pass_at_all"] == true))));
    assert_eq!(
        (&greedy["pass_at_k"]["1"], greedy["pass_at_k"].as_object().unwrap().len()),
        (&greedy["pass_at_all"], 1)
    );
}

#[test]
fn a_sweep_is_a_table_of_runs_over_the_same_problems() {
    let world = World::new();
    let file = easy(&world);
    let args = ["eval", &file, "--limit", "2", "--max-tokens", "40", "--sweep", "n=2,4", "--sweep", "draft=none,auto"];
    let report = world.run(&[&args[..], &["--json", "--rank", "agreement"]].concat()).json();
    let runs = report["runs"].as_array().unwrap();
    let point =
        |run: &Value| format!("{} {}", run["sweep"]["draft"].as_str().unwrap(), run["sweep"]["n"].as_str().unwrap());
    assert_eq!(runs.iter().map(point).collect::<Vec<_>>(), ["none 2", "none 4", "auto 2", "auto 4"]);
    for (plain, drafted) in [(&runs[0], &runs[2]), (&runs[1], &runs[3])] {
        for key in ["pass_at_first", "pass_at_all", "pass_at_k", "by_rank"] {
            assert_eq!(plain[key], drafted[key], "drafts change only the time");
        }
        assert_eq!((&plain["about"]["draft"], plain["stats"]["reached"].as_u64()), (&json!("none"), Some(2)));
        assert_ne!(plain["about"]["draft"], drafted["about"]["draft"]);
    }
    let alone = ["eval", &file, "--limit", "2", "--max-tokens", "40", "-n", "4", "--rank", "agreement"];
    let report = world.run(&[&alone[..], &["--json"]].concat()).json();
    assert_eq!(report["pass_at_all"], runs[1]["pass_at_all"], "as the run alone");
    let [easier, harder] = ["easier", "harder"].map(|half| report["by_half"][half]["random"].as_f64().unwrap());
    let all = report["by_rank"]["random"].as_f64().unwrap();
    assert!(easier >= harder && (easier + harder - 2.0 * all).abs() < 1e-9, "one problem in each half: {report}");
    assert!(world.run(&alone).out.contains("of the half that more candidates pass: random"));
    let kept = [&args[..8], &["--results", "kept"]].concat();
    let people = world.run(&kept);
    let head: Vec<&str> = people.out.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["n", "Pass@First", "Pass@All", "pass@1", "tokens/s", "seconds", "reached"]);
    assert!(people.out.lines().count() == 5 && people.err.contains("run 2 of 2: n 4"), "{} {}", people.out, people.err);
    // Run again, the command does the rest of each run: here the second problem of the second run.
    let [first, second] = ["n=2", "n=4"].map(|run| world.work().join(format!("kept/{run}.jsonl")));
    let whole = fs::read_to_string(&second).unwrap();
    let torn: Vec<&str> = whole.lines().take(2).collect();
    fs::write(&second, torn.join("\n") + "\n").unwrap();
    let before = fs::read_to_string(&first).unwrap();
    assert_eq!(world.run(&kept).code, people.code);
    assert_eq!(fs::read_to_string(&first).unwrap(), before);
    assert_eq!(fs::read_to_string(&second).unwrap(), whole);
    world.file("file", "");
    for (flags, words) in [
        (["--sweep", "n=4", "--results", "file"], "cannot be made a folder of results"),
        (["--sweep", "n=4", "--solutions", "canonical"], "so --solutions cannot be used with it"),
        (["--sweep", "n=4,x", "--limit", "1"], "--sweep n has `x`, expected"),
    ] {
        world.run(&[&["eval", &file], &flags[..], NO_MODEL].concat()).refused(2, &[words]);
    }
}

/// Rows of a results file, sorted, without the header.
fn kept(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut rows: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    rows.sort();
    rows
}

#[test]
fn a_run_goes_on_where_it_stopped_with_equal_results() {
    let world = World::new();
    let file = easy(&world);
    let run = |results: &str, more: &[&str]| {
        let args = [&["eval", &file, "--json", "--results", results], FOUR, more].concat();
        world.run(&args)
    };
    let whole = run("whole.jsonl", &[]).code(0).json();
    let text = fs::read_to_string(world.work().join("whole.jsonl")).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 6, "a header and a row for each");
    let header: Value = serde_json::from_str(rows[0]).unwrap();
    assert_eq!((&header["settings"]["seed"], &header["settings"]["n"]), (&json!(0), &json!(4)));

    // Killed while the third row was written.
    let part = format!("{}\n{}\n{}\n{}", rows[0], rows[1], rows[2], &rows[3][..40]);
    let part = world.file("part.jsonl", part);
    let resumed = run(&part, &[]).code(0).json();
    assert_eq!(results(&resumed), results(&whole));
    assert_eq!(
        (&resumed["stats"]["resumed"], kept(Path::new(&part))),
        (&json!(2), kept(&world.work().join("whole.jsonl")))
    );
    // Nothing is left to be done, and the drafts may change: nothing depends on them.
    let again = run(&part, &["--draft", "none"]).code(0).json();
    assert_eq!((results(&again), &again["stats"]["resumed"]), (results(&whole), &json!(5)));

    let refused = |args: &[&str], words: &[&str]| run(&part, args).refused(2, words);
    refused(&["--seed", "1"], &["seed was 0 and is now 1"]);
    refused(&["--temperature", "0.2"], &["temperature was 0.8 and is now 0.2"]);
    refused(&["--timeout", "3s"], &["timeout was 10.0 and is now 3.0"]);
    let changed = fs::read_to_string(&file).unwrap().replace("f([7, 8]) == 7", "f([7, 8]) == 8");
    world.file("easy.jsonl", changed);
    refused(&[], &["E/2", "changed since"]);
    assert_eq!(kept(Path::new(&part)), kept(&world.work().join("whole.jsonl")));
}

#[cfg(unix)]
#[test]
fn what_is_done_when_it_is_interrupted_is_kept() {
    use std::process::Stdio;

    let world = World::new();
    let quick = problem("T/0", "    return 2 * x\n", CHECK);
    let slow = problem("T/1", "    import time\n    time.sleep(600)\n", CHECK);
    let file = world.file("p.jsonl", lines(&[quick, slow]));
    let args =
        |results: &'static str| ["eval", &file, "--solutions", "canonical", "--timeout", "300s", "--results", results];
    for (signal, results, code) in [
        (libc::SIGINT, "int.jsonl", Some(130)),
        (libc::SIGTERM, "term.jsonl", Some(130)),
        (libc::SIGKILL, "kill.jsonl", None),
    ] {
        let path = world.work().join(results);
        let process = world.process(&args(results)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !fs::read_to_string(&path).is_ok_and(|text| text.lines().count() == 2) {
            assert!(std::time::Instant::now() < deadline, "the first problem is not done");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let pid = libc::pid_t::try_from(process.id()).unwrap();
        // SAFETY: sends a signal to a child that has not been waited for, so the id is still its own.
        unsafe { libc::kill(pid, signal) };
        let out = process.wait_with_output().unwrap();
        assert_eq!(out.status.code(), code);
        let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        if code.is_some() {
            let (out, err) = (said(&out.stdout), said(&out.stderr));
            assert!(out.contains("T/0") && out.contains("1 problem not reached") && !out.contains("T/1 "), "{out}");
            assert!(
                err.contains("1 of 2 problems are done and kept") && err.contains("the same command goes on"),
                "{err}"
            );
        }
        // The first is not done again: it comes from the file.
        let report = world.run(&[&args(results)[..], &["--only", "T/0", "--json"]].concat()).code(0).json();
        assert_eq!((&report["stats"]["resumed"], &report["stats"]["reached"]), (&json!(1), &json!(1)));
    }
}

#[test]
fn people_get_a_line_for_each_problem_and_what_it_all_depends_on() {
    let world = World::new();
    let rows = [
        problem("T/0", "    return 2 * x\n", CHECK),
        problem("T/1", "    return x ** 2\n", CHECK),
        problem("T/2", "    return (\n", CHECK),
    ];
    let file = world.file("p.jsonl", lines(&rows));
    let done = world.run(&["eval", &file, "--solutions", "canonical"]).code(0);
    let line = |start: &str| {
        done.out.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("no {start}: {}", done.out))
    };
    assert!(line("T/0").contains("first") && line("T/0").ends_with("1 of 1"));
    assert!(line("T/1").contains("0 of 1   FAIL: ") && line("T/1").contains("25"), "{}", done.out);
    assert!(line("T/2").contains("SyntaxError"), "{}", done.out);
    assert!(line("Pass@First").contains("Pass@All 33.3 %  pass@1 33.3 %  of 3 problems"));
    let mut last = String::new();
    let _ = write!(last, "{}", done.out.lines().last().unwrap());
    for word in ["bass-tui ", "python 3", "sandbox", "timeout"] {
        assert!(last.contains(word), "no {word} in {last}");
    }
    let only = world.run(&["eval", &file, "--solutions", "canonical", "--limit", "2", "--only", "T/1,2"]).code(1);
    assert!(only.out.contains("of 2 problems") && !only.out.contains("T/0"), "{}", only.out);
}
