//! Terminal output when names, programs and tests try to steer the terminal: words, and nothing that acts.

use std::io::Read;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::json;

use super::world::{World, isolated, repository};

/// Clears the screen, sets the title, writes the clipboard, asks for the cursor, rings, turns the direction
/// around; in 7 and 8 bits.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}]52;c;b3duZWQ=\u{7}\u{1b}[6n\u{1b}P+q544e\u{1b}\\\u{9b}31m\u{9d}0;owned\u{9c}\u{202e}\u{7f}\u{8}";

/// Everything that the program writes to a terminal.
pub fn written(world: &World, args: &[&str]) -> (u32, String) {
    let size = PtySize { rows: 30, cols: 120, ..PtySize::default() };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_bass-tui"));
    command.args(args);
    if !isolated() {
        command.arg("--unprotected");
    }
    command.cwd(world.work());
    command.env("TERM", "xterm");
    for (name, folder) in world.surroundings() {
        command.env(name, folder);
    }
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let (mut bytes, mut reader) = (Vec::new(), pair.master.try_clone_reader().unwrap());
    // A terminal whose other side is gone reports an error where a pipe reports its end.
    let _ = reader.read_to_end(&mut bytes);
    (child.wait().unwrap().exit_code(), String::from_utf8(bytes).expect("UTF-8"))
}

/// Nothing but the program's own progress line acts on the terminal.
#[track_caller]
fn harmless(text: &str) {
    let rest = text.replace("\r\u{1b}[K", "").replace("\r\n", "\n");
    let acts = rest.find(|c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}');
    assert!(
        acts.is_none(),
        "{:?}",
        rest.get(acts.unwrap_or(0)..).unwrap_or_default().chars().take(80).collect::<String>()
    );
    assert!(!text.contains("owned"), "{text:?}");
}

/// A program that says it whenever it can.
fn body() -> String {
    let said = json!(HOSTILE).to_string();
    // JSON leaves what lies above the first 32 as it is; Python takes it literally inside a string.
    format!("    print({said})\n    raise ValueError({said} + 'said')\n")
}

#[test]
fn eval_keeps_problems_and_programs_off_the_terminal() {
    let world = World::new();
    let row = |id: &str| {
        json!({"task_id": id, "prompt": format!("# {HOSTILE}\ndef f(x):\n"), "entry_point": "f", "canonical_solution": body(),
            "test": format!("def check(f):\n    assert f(1) == 2, {}\n", json!(HOSTILE))})
        .to_string()
    };
    let id = format!("T/{HOSTILE}0");
    let file = world.file("p.jsonl", row(&id));
    let (code, text) = written(&world, &["eval", &file, "--solutions", "canonical"]);
    assert_eq!(code, 1, "{text}");
    harmless(&text);
    assert!(text.contains("T/0") && text.contains("said"), "{text}");
    let (code, text) = written(&world, &["eval", &file, "--solutions", "canonical", "--json"]);
    assert_eq!(code, 1, "{text}");
    harmless(&text.replace("owned", ""));
    let report: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!(report["problems"][0]["task_id"], json!(id), "escaped, not lost");
    let (code, text) = written(&world, &["eval", &file, "-n", "1", "--max-tokens", "20", "--temperature", "0"]);
    assert!(code < 2, "{text}");
    harmless(&text);
    for (name, rows) in [
        ("twice", format!("{}\n{}\n", row(&id), row(&id))),
        ("keys", json!({HOSTILE: 1}).to_string()),
        ("language", row(&id).replace("\"prompt\"", &format!("\"language\":{},\"prompt\"", json!(HOSTILE)))),
    ] {
        let file = world.file(&format!("{name}{HOSTILE}.jsonl").replace('/', ""), rows);
        let (code, text) = written(&world, &["eval", &file]);
        assert_eq!(code, 2, "{text}");
        harmless(&text);
    }
}

#[test]
fn test_keeps_a_program_off_the_terminal() {
    let world = World::new();
    let candidate = world.file("c.py", format!("def f(x):\n{}", body()));
    let tests = world.file("t.py", "assert f(1) == 2\n");
    let (code, text) = written(&world, &["test", &candidate, "--tests", &tests]);
    assert_eq!(code, 1, "{text}");
    harmless(&text);
    assert!(text.contains("said"), "{text}");
    let (code, text) = written(&world, &["test", &candidate, "--tests", &tests, "--json"]);
    assert_eq!(code, 1, "{text}");
    harmless(&text);
}

#[test]
fn complete_keeps_prompts_names_and_tests_off_the_terminal() {
    let world = World::new();
    let example = std::fs::read_to_string(repository("examples/numbers.py")).unwrap();
    let name = format!("n{HOSTILE}.py").replace('/', "");
    let file = world.file(&name, example.replace("def is_even", &format!("# {HOSTILE}\ndef is_even")));
    let tests =
        world.file("t.py", format!("def check(f):\n    print({0})\n    assert f(2) == 3, {0}\n", json!(HOSTILE)));
    let target = file.clone() + ":is_even";
    let (code, text) = written(&world, &["complete", "--file", &target, "--tests", &tests, "-n", "2", "--apply"]);
    assert_eq!(code, 1, "{text}");
    harmless(&text);
    let (code, text) = written(&world, &["complete", "--file", &target, "--tests", "none", "-n", "2", "--apply"]);
    assert_eq!(code, 0, "{text}");
    harmless(&text);
    assert!(text.contains("written to "), "{text}");
    let prompt = format!("def f(x):\n    \"\"\"{HOSTILE}\"\"\"\n");
    for json in [None, Some("--json")] {
        let args: Vec<&str> = ["complete", &prompt, "-n", "2", "--max-tokens", "20"].into_iter().chain(json).collect();
        let (code, text) = written(&world, &args);
        assert!(code < 2, "{text}");
        // Of code all is shown, what would act as a mark.
        harmless(&text.replace("owned", ""));
    }
    // The records of these runs. (Where nothing isolates, `written` adds a flag that `history` does not have.)
    let of_history: [&[&str]; 3] = [&["list"], &["show", "--last"], &["report", "--last"]];
    for args in of_history.iter().filter(|_| isolated()) {
        let (code, text) = written(&world, &[&["history"], *args].concat());
        assert_eq!(code, 0, "{text}");
        harmless(&text.replace("owned", ""));
    }
    for run in world.run(&["history", "--json"]).code(0).json()["runs"].as_array().unwrap() {
        let id = run["id"].as_str().unwrap();
        for args in [["history", "show", id], ["history", "report", id]] {
            // A patch has the name of its file in octal.
            harmless(&world.run(&args).code(0).out.replace("owned", ""));
        }
        let lines = world.run(&["history", "show", id, "--json"]).code(0).out;
        harmless(&lines.replace("owned", ""));
    }
}
