//! `history`: runs of `complete` that were kept.

use std::fs;

use bass_tui::code::{Target, TargetSpec};
use serde_json::Value;

use super::world::{STUB, World, keys, model, text_of};

/// Writes a function and completes it; returns the report.
fn completed(world: &World, more: &[&str]) -> (String, Value) {
    let file = world.file("mine.py", STUB);
    let tests = world.file("test_mine.py", "assert is_even(4) is True\nassert is_even(3) is False\n");
    let target = format!("{file}:is_even");
    let args = ["--file", &target, "--tests", &tests, "-n", "4", "--temperature", "0.6"];
    (file, world.complete(&[&args, more].concat()))
}

fn runs(world: &World) -> Vec<Value> {
    world.run(&["history", "--json"]).code(0).json()["runs"].as_array().unwrap().clone()
}

#[test]
fn a_run_shows_the_change_that_was_wanted() {
    let world = World::new();
    let shown = |more: &[&str]| {
        completed(&world, more);
        world.run(&["history", "show", "--last"]).code(0).out
    };
    let (with, without) = (shown(&["--change", "of  None, too"]), shown(&[]));
    assert!(with.contains("\nchange     of None, too\n"), "{with}");
    assert!(!without.contains("\nchange "), "{without}");
}

#[test]
fn a_run_is_listed_shown_reported_and_taken_back() {
    let world = World::new();
    let (file, report) = completed(&world, &["--apply"]);
    let runs = runs(&world);
    let [run] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!(keys(run), "at_ms draft failed file finished function id model n passed picked seed taken wish");
    assert_eq!((&run["n"], &run["finished"], &run["function"]), (&4.into(), &4.into(), &"is_even".into()));
    assert_eq!((&run["picked"], &run["taken"]["candidate"]), (&report["picked"], &report["picked"]));
    let passed = |c: &&Value| c["verdict"]["status"] == "passed";
    let candidates = report["candidates"].as_array().unwrap();
    assert_eq!(run["passed"], candidates.iter().filter(passed).count());

    let id = run["id"].as_str().unwrap();
    let listed = world.run(&["history"]).code(0).out;
    assert!(listed.lines().nth(1).unwrap().starts_with(id) && listed.contains("mine.py:is_even"), "{listed}");
    assert_eq!(listed, world.run(&["history", "list"]).code(0).out);
    let shown = world.run(&["history", "show", &id[..4]]).code(0).out;
    assert!(shown.contains("def is_even(n):") && shown.contains("\n> ") && shown.contains("PASS: "), "{shown}");
    let one = world.run(&["history", "show", "--last", "--candidate", "b"]).code(0).out;
    assert!(one.contains("B  ") && !one.contains("A  "), "{one}");
    let lines = world.run(&["history", "show", "--last", "--json"]).code(0).out;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["kind"], &lines[0]["stub"]), (&"run".into(), &STUB.into()));
    for kind in ["finished", "verdict", "pick", "written", "ended", "taken"] {
        assert!(lines.iter().any(|line| line["kind"] == kind), "no {kind} in {lines:?}");
    }
    let markdown = world.run(&["history", "report", id]).code(0).out;
    for part in ["# mine.py:is", "```python\ndef is_even", "| picked, taken", "```diff\n--- "] {
        assert!(markdown.contains(part), "no {part:?} in {markdown}");
    }

    assert_ne!(fs::read_to_string(&file).unwrap(), STUB);
    world.run(&["history", "undo", id]).code(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), STUB);
    assert_eq!(self::runs(&world)[0]["taken"], Value::Null);
    world.run(&["history", "undo", id]).refused(2, &["nothing that was written", "mine.py"]);
    world.run(&["history", "show", "zzzz"]).refused(2, &["`zzzz`", id]);
    world.run(&["history", "show", id, "--candidate", "E"]).refused(2, &["expected A to D"]);
    world.run(&["history", "resume", id]).refused(2, &["needs a terminal"]);
    assert!(world.run(&["history", "clear"]).code(0).err.contains("1 kept run removed"));
    assert!(world.run(&["history"]).code(0).err.contains("no run is kept yet"));
    world.run(&["history", "show", "--last"]).refused(2, &["no run is kept yet"]);
}

#[test]
fn files_of_one_name_are_listed_with_their_folders() {
    let world = World::new();
    let (model, text) = (model("llama"), "def f(x):\n    \"\"\"Doc.\"\"\"\n");
    for folder in ["one", "two"] {
        let file = world.file(&format!("{folder}/x.py"), text);
        world.run(&["complete", "--file", &file, "--model", &model, "-n", "1", "--max-tokens", "4", "--tests", "none"]);
    }
    let listed = world.run(&["history"]).code(0).out;
    assert!(listed.contains(" one/x.py:f ") && listed.contains(" two/x.py:f "), "{listed}");
    let error = world.run(&["history", "show", "--last", "--candidate", "Z"]).code(2).err;
    assert!(error.contains("expected A: the run has 1 candidate"), "{error}");
}

#[test]
fn undo_of_the_file_is_noted_in_its_run() {
    let world = World::new();
    let (file, _) = completed(&world, &["--apply"]);
    assert!(runs(&world)[0]["taken"].is_object());
    world.run(&["undo", &file]).code(0);
    assert_eq!(runs(&world)[0]["taken"], Value::Null);
}

/// Written lines of another project are nobody's business here.
#[test]
fn undo_without_a_file_stays_in_the_project_that_one_stands_in() {
    let world = World::new();
    let stub = "def f(x):\n    \"\"\"Doc.\"\"\"\n";
    let [one, two] = ["one", "two"].map(|folder| {
        world.file(&format!("{folder}/pyproject.toml"), "");
        world.file(&format!("{folder}/inner/f.py"), stub)
    });
    let undo_in = |folder: &str| {
        let out = world.command(&["undo"]).current_dir(world.work().join(folder)).output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    let apply = |file: &str| {
        let target = Target::read(&TargetSpec::parse(file).unwrap()).unwrap();
        target.apply("    return x\n", Some(&world.state().join("backups"))).unwrap();
    };
    apply(&one);
    let (code, said) = undo_in("two");
    assert!(code == Some(2) && said.contains(&format!("bass-tui undo {one}")), "{said}");
    assert_ne!(fs::read_to_string(&one).unwrap(), stub, "nothing is done");
    // An earlier write of this project goes back, from any folder of it, and that of the other one stays.
    apply(&two);
    let (code, said) = undo_in("one/inner");
    assert!(code == Some(0) && said.contains("f.py is as it was"), "{said}");
    assert_eq!(fs::read_to_string(&one).unwrap(), stub);
    let (code, said) = undo_in("one");
    assert!(code == Some(2) && said.contains(&format!("bass-tui undo {two}")), "{said}");
    assert_eq!(undo_in("two").0, Some(0));
    assert_eq!(fs::read_to_string(&two).unwrap(), stub);
}

#[test]
fn nothing_is_kept_where_that_is_not_wished_and_no_run_fails_for_it() {
    let world = World::new();
    completed(&world, &["--no-history"]);
    world.config("history = false\n");
    completed(&world, &[]);
    assert!(runs(&world).is_empty() && !world.state().join("runs").exists());
    world.config("");
    fs::create_dir_all(world.state()).unwrap();
    fs::write(world.state().join("runs"), "in the way").unwrap();
    let done = world.run(&["complete", "def f(x):\n", "--tests", "none", "-n", "1", "--max-tokens", "4"]).code(0);
    let folder = text_of(&world.state().join("runs"));
    assert_eq!(done.err.matches(&folder).count(), 1, "{}", done.err);
    assert!(done.err.contains("this run is not kept") && done.err.contains("--no-history"), "{}", done.err);
}
