//! `complete`: where the prompt comes from, with which tests, and where the answer goes.

use std::fs;

use super::world::{STUB, World, candidates, token_ids};

const HEAD: &str = "def is_even(n):\n    \"\"\"Return True if n is even, False otherwise.\n\n    >>> is_even(4)\n    True\n    >>> is_even(7)\n    False\n    \"\"\"\n";

#[test]
fn argument_file_and_stdin_are_the_same_prompt() {
    let world = World::new();
    let file = world.file("prompt.py", HEAD);
    let options = ["complete", "--json", "-n", "2"];
    let argument = world.run(&[&options[..], &[HEAD]].concat()).code(0).json();
    let from_file = world.run(&[&options[..], &["--prompt-file", &file]].concat()).code(0).json();
    let from_stdin = world.run_with(&[&options[..], &["--prompt-file", "-"]].concat(), HEAD.as_bytes()).code(0).json();
    assert_eq!(token_ids(&argument), token_ids(&from_file));
    assert_eq!(token_ids(&argument), token_ids(&from_stdin));
    assert!(candidates(&argument).iter().any(|c| c["verdict"]["status"] == "passed"), "the examples were tried");
}

#[test]
fn free_text_goes_on_freely() {
    let report = World::new().complete(&["Dear Sir or Madam,", "-n", "2", "--max-tokens", "12"]);
    assert!(candidates(&report).iter().all(|c| c["verdict"]["status"] == "not_run"));
    assert_eq!(report["picked"], report["ranking"][0]);
}

#[test]
fn a_tests_file_of_any_style_is_understood() {
    let world = World::new();
    let file = world.file("numbers_of_mine.py", STUB);
    let styles = [
        ("asserts.py", "assert is_even(4)\nassert not is_even(7)\n"),
        ("check.py", "def check(candidate):\n    assert candidate(4)\n    assert not candidate(7)\n"),
        ("test_module.py", "import numbers_of_mine\n\ndef test_it():\n    assert numbers_of_mine.is_even(4)\n"),
        ("test_from.py", "from numbers_of_mine import is_even\n\ndef test_it():\n    assert not is_even(7)\n"),
    ];
    for (name, text) in styles {
        let tests = world.file(name, text);
        let report = world.complete(&["--file", &file, "-n", "4", "--tests", &tests]);
        let picked = report["picked"].as_u64().expect(name) as usize;
        assert_eq!(candidates(&report)[picked]["verdict"]["status"], "passed", "{name}");
    }
    let tests = world.file("wrong.py", "assert is_even(7)\nassert not is_even(4)\n");
    let report = world.run(&["complete", "--json", "--file", &file, "-n", "2", "--tests", &tests]).code(1).json();
    assert!(report["picked"].is_null());
    assert!(candidates(&report).iter().all(|c| c["verdict"]["status"] != "passed"));
    assert_eq!(fs::read_to_string(&file).unwrap(), STUB, "nothing is written without --apply");
}

#[test]
fn tests_of_text_prompts_and_none() {
    let world = World::new();
    let tests = world.file("t.py", "assert is_even(4) and not is_even(7)\n");
    let report = world.complete(&[STUB, "-n", "4", "--tests", &tests]);
    assert!(report["picked"].is_u64());
    let report = world.complete(&[HEAD, "-n", "2", "--tests", "none"]);
    assert!(candidates(&report).iter().all(|c| c["verdict"]["status"] == "not_run"));
    world.complete(&[HEAD, "-n", "4", "--tests", "auto"]);
    let without = ["complete", STUB, "-n", "4", "--tests", "auto"];
    world.run(&without).refused(2, &["--tests auto", "is_even", ">>>"]);
}

#[test]
fn a_tests_file_without_checks_passes_nobody_and_says_so() {
    let world = World::new();
    let tests = world.file("empty.py", "");
    let done = world.run(&["complete", STUB, "-n", "1", "--tests", &tests]).code(1);
    assert_eq!(done.out, "");
    assert!(done.err.contains("NOT RUN: "), "{}", done.err);
}

/// Applies a passing candidate to `before`, whose function `is_even` begins with `head` and is followed by
/// `after`.
fn applied(before: &str, head: &str, after: &str) -> String {
    let world = World::new();
    let file = world.file("mine.py", before);
    let tests = world.file("t.py", "assert is_even(4) and not is_even(7)\n");
    let target = format!("{file}:is_even");
    let done = world.run(&["complete", "--json", "--file", &target, "--tests", &tests, "-n", "8", "--apply"]).code(0);
    assert!(done.err.contains("written to") && done.err.contains("mine.py"), "{}", done.err);
    let report = done.json();
    let text = fs::read_to_string(&file).unwrap();
    let body = text.strip_prefix(head).expect("the head is as it was").strip_suffix(after).expect("so is the rest");
    let picked = &candidates(&report)[report["picked"].as_u64().unwrap() as usize];
    let line = |text: &str| text.trim().replace('\r', "");
    assert_eq!(line(body), line(picked["text"].as_str().unwrap()), "the picked one, and only its body");
    let backups = fs::read_dir(world.state().join("backups")).unwrap().map(|entry| entry.unwrap().path());
    let copies: Vec<_> = backups.filter(|path| path.extension().is_some_and(|ending| ending == "py")).collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(fs::read_to_string(&copies[0]).unwrap(), before);
    let done = world.run(&["undo", &file]).code(0);
    assert!(done.err.contains("mine.py is as it was"), "{}", done.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    world.run(&["undo"]).refused(2, &["nothing that was written below ", " is left to put back"]);
    text
}

#[test]
fn apply_writes_the_body_and_nothing_else() {
    let after = "\n\ndef other():\n    return  1 # as it is\n";
    applied(&format!("X = 1\n\n\n{STUB}{after}"), &format!("X = 1\n\n\n{STUB}"), after);
}

#[test]
fn apply_keeps_the_line_ends_of_the_file() {
    let after = "\r\n\r\ndef other():\r\n    return  1\r\n";
    let head = format!("X = 1\r\n\r\n\r\n{}", STUB.replace('\n', "\r\n"));
    let text = applied(&format!("{head}{after}"), &head, after);
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
}

/// A body that is replaced was somebody's.
#[test]
fn apply_says_that_it_replaces_a_body() {
    let world = World::new();
    let file = world.file("mine.py", format!("{STUB}    return n == 4\n"));
    let tests = world.file("t.py", "assert is_even(4) and not is_even(7)\n");
    let target = format!("{file}:is_even");
    let done = world.run(&["complete", "--file", &target, "--tests", &tests, "-n", "8", "--apply"]).code(0);
    assert!(done.err.contains("mine.py, in place of the body that it had (before: "), "{}", done.err);
}

#[test]
fn apply_without_a_pass_leaves_the_file_alone() {
    let world = World::new();
    let file = world.file("mine.py", STUB);
    let tests = world.file("t.py", "assert is_even(7)\nassert not is_even(4)\n");
    let done = world.run(&["complete", "--file", &file, "--tests", &tests, "-n", "2", "--apply"]).code(1);
    assert!(done.err.contains("no candidate passed") && done.err.contains("mine.py is as it was"), "{}", done.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), STUB);
    // Also where nothing was to be written: what is completed, and how to go on.
    let done = world.run(&["complete", "--file", &file, "--tests", &tests, "-n", "2"]).code(1);
    let chosen = format!("{file}:is_even is completed, the first unfinished function (line 1)");
    assert!(done.err.contains(&chosen), "{}", done.err);
    assert!(done.err.trim_end().ends_with("no candidate passed; -n and --rounds write more of them"), "{}", done.err);
}

#[cfg(unix)]
/// The process has a child.
#[cfg(target_os = "linux")]
fn has_child(parent: u32) -> bool {
    let stat = |entry: std::io::Result<fs::DirEntry>| fs::read_to_string(entry.ok()?.path().join("stat")).ok();
    // Behind the name in brackets: state, parent.
    let is_child =
        |stat: String| stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok().filter(|p: &u32| *p == parent);
    fs::read_dir("/proc").unwrap().filter_map(stat).any(|stat| is_child(stat).is_some())
}

#[test]
#[cfg(target_os = "linux")]
fn a_function_that_changed_meanwhile_is_not_overwritten() {
    use std::io::Write;
    use std::process::Stdio;

    let world = World::new();
    let file = world.file("mine.py", STUB);
    let tests = world.file("t.py", "import time\ntime.sleep(1)\nassert is_even(4) and not is_even(7)\n");
    let process = world
        .process(&["complete", "--file", &file, "--tests", &tests, "-n", "4", "--apply"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The file is read before anything is run in the sandbox, and written after the tests.
    while !has_child(process.id()) {
        std::thread::yield_now();
    }
    fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"    return True\n").unwrap();
    let out = process.wait_with_output().unwrap();
    let err = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{err}");
    assert!(err.contains("mine.py") && err.contains("changed") && err.contains("patch"), "{err}");
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{STUB}    return True\n"));
    assert_eq!(fs::read_dir(world.state().join("patches")).unwrap().count(), 1);
}

#[test]
fn the_prompt_is_shown_with_what_was_left_out_and_nothing_is_written() {
    let world = World::new();
    world.file("pyproject.toml", "");
    world.file("words_of_mine.py", "def clean(text):\n    \"\"\"Lowers.\"\"\"\n    return text.lower()\n");
    let before =
        format!("import os\nfrom words_of_mine import clean\n\nODD = 1\nUNUSED = {{\n    'a': 1,\n}}\n\n\n{STUB}");
    let file = world.file("numbers_of_mine.py", &before);
    let tests =
        world.file("test_numbers.py", "from numbers_of_mine import is_even\n\ndef test_it():\n    assert is_even(4)\n");
    let run =
        |options: &[&str]| world.run(&[&["complete", "--show-prompt", "--file", &file], options].concat()).code(0);
    let small = run(&[]);
    assert_eq!(small.out, STUB, "the built-in pair gets the function and what it names");
    assert!(
        small.err.contains("left out: the rest of its file") && small.err.contains("--prompt-tokens"),
        "{}",
        small.err
    );
    let grown = run(&["--prompt-tokens", "400", "--tests", &tests]);
    for part in
        ["# words_of_mine.py\n# def clean(text):\n", "# test_numbers.py\n# def test_it():\n", "UNUSED = {", STUB]
    {
        assert!(grown.out.contains(part), "{part}: {}", grown.out);
    }
    assert!(grown.err.contains(" of 400\n") && grown.err.contains("its tests"), "{}", grown.err);
    let hidden = run(&["--prompt-tokens", "400", "--tests", &tests, "--show-tests", "no"]);
    assert!(
        !hidden.out.contains("test_it") && hidden.err.contains("left out: its tests: --show-tests no"),
        "{}",
        hidden.err
    );
    let value = run(&["--prompt-tokens", "100", "--json"]).json();
    assert!(value["prompt"].as_str().unwrap().ends_with(STUB), "{value}");
    assert!(value["prompt_tokens"].as_u64() <= Some(100) && value["budget"] == 100, "{value}");
    assert!(
        value["shown"][0]["tokens"].is_u64() && !value["left_out"][0]["why"].as_str().unwrap().is_empty(),
        "{value}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), before, "nothing of it is written");
    // The whole file is written, whatever part of it the model was shown.
    let tests = ["--tests", &tests, "--prompt-tokens", "300", "-n", "4", "--temperature", "0", "--apply"];
    let done = world.run(&[&["complete", "--json", "--file", &file], &tests[..]].concat());
    let report = done.json();
    assert!(report["prompt_tokens"].as_u64() > Some(60), "{report}");
    assert!(fs::read_to_string(&file).unwrap().starts_with(&before), "only the body is written");
    world
        .run(&["complete", "--prompt-tokens", "0", "x"])
        .refused(2, &["--prompt-tokens is 0", "auto or a number from 1"]);
    world.run(&["complete", "--show-prompt", "--prompt-ids", "1,2"]).refused(2, &["--show-prompt", "--prompt-ids"]);
}
