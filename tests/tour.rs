//! The whole way through the screen on a real pseudo-terminal, as a person takes it: choose a function,
//! write, compare, edit, take, take back, look at an earlier run, leave. With the real program, its own
//! models and the real sandbox.
#![cfg(unix)]

#[path = "shared/server.rs"]
#[allow(dead_code)] // some parts are for other tests
mod server;
#[path = "shared/pty.rs"]
mod terminal;

use std::fs;
use std::path::Path;

use portable_pty::CommandBuilder;
use server::{Model, Server};
use tempfile::TempDir;
use terminal::{CTRL_C, ENTER, Pty, REPLIES, program};

const STUB: &str = "def invert_dict(d):\n    \"\"\"Return a dictionary with the keys and values of d exchanged.\n\n    \
                    >>> invert_dict({'a': 1, 'b': 2})\n    {1: 'a', 2: 'b'}\n    >>> invert_dict({})\n    {}\n    \"\"\"\n";
const EDITED: &str = "return dict(zip(d.values(), d.keys()))";

/// A project of two files in `work`, and an editor that changes the candidate.
fn project() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("work/shop")).unwrap();
    fs::write(home.path().join("work/dictionaries.py"), STUB).unwrap();
    fs::write(home.path().join("work/shop/orders.py"), "def total(prices):\n    \"\"\"The sum of all prices.\"\"\"\n")
        .unwrap();
    let editor = format!(
        "for file; do :; done\nsed 's/return {{.*/{EDITED}/' \"$file\" >\"$file.new\"\nmv \"$file.new\" \"$file\"\n"
    );
    fs::write(home.path().join("editor.sh"), editor).unwrap();
    home
}

/// A shell that runs the program in this project, where `$0` stands for it and its arguments are `$@`.
fn in_shell(home: &Path, script: &str) -> CommandBuilder {
    let mut command = program(home, &[]);
    let args = ["work", "-n", "3", "--max-tokens", "24", "--seed", "0", "--unprotected"];
    let words = ["/bin/sh", "-c", script, env!("CARGO_BIN_EXE_bass-tui")].into_iter().chain(args);
    *command.get_argv_mut() = words.map(Into::into).collect();
    command.env("EDITOR", format!("sh '{}'", home.join("editor.sh").display()));
    command.env_remove("VISUAL");
    command
}

fn shows(pty: &Pty, words: &str) -> bool {
    pty.shown.0.lock().unwrap().screen().contents().contains(words)
}

fn gone(pty: &Pty, words: &str) {
    pty.until(&format!("the end of {words:?}"), |screen| !screen.contents().contains(words));
}

/// From the list of functions to three candidates with verdicts.
fn to_verdicts(pty: &mut Pty) {
    pty.sees("functions of work");
    pty.press("inv dict");
    pty.sees("1 of 2");
    pty.press(ENTER);
    pty.until("the function", |screen| {
        screen.contents().lines().next().is_some_and(|title| title.contains("dictionaries.py:invert_dict"))
    });
    pty.sees("Enter generate");
    // A late answer of a slow terminal is no key.
    for reply in REPLIES {
        pty.press(reply);
    }
    pty.press("g");
    pty.sees("PICK");
    pty.sees("2 passed, 1 failed");
}

/// From the verdicts to the end: compare, edit, take, take back, an earlier run.
fn from_verdicts(pty: &mut Pty, file: &Path) {
    // Differences of the one that failed, and of the next.
    pty.press("3");
    pty.press("d");
    pty.sees(" C against ");
    for reply in REPLIES {
        pty.press(reply);
    }
    pty.press("]");
    pty.sees(" A against ");
    pty.press(CTRL_C);
    gone(pty, " against ");
    // The editor's text is a candidate of its own, and tested.
    pty.press("1");
    pty.press("e");
    pty.sees(" D  PASS  EDITED A ");
    pty.sees("dict(zip(d.");
    pty.press(ENTER);
    pty.sees("written to");
    assert_eq!(fs::read_to_string(file).unwrap(), format!("{STUB}    {EDITED}\n"));
    pty.press("u");
    pty.sees("as it was before");
    assert_eq!(fs::read_to_string(file).unwrap(), STUB);
    // Another run, and back to this one.
    pty.press("R");
    gone(pty, "EDITED A");
    pty.until("all verdicts", |screen| {
        let shown = screen.contents();
        shown.contains("PICK")
            && !["writing", "waiting", "waits", "testing", "to test"].iter().any(|word| shown.contains(word))
    });
    pty.press("[");
    pty.sees(" D  PASS  EDITED A ");
    pty.press("]");
    gone(pty, "EDITED A");
    // Closes, clears, and twice leaves.
    pty.press("?");
    pty.sees("Esc closes");
    pty.press(CTRL_C);
    gone(pty, "Esc closes");
    pty.press("i");
    pty.press("# more");
    pty.sees("# more");
    pty.press(CTRL_C);
    gone(pty, "# more");
    pty.press(CTRL_C);
    pty.sees("again to quit");
    pty.press(CTRL_C);
}

#[test]
fn at_80x24_with_stops() {
    let home = project();
    let script = "set -m; \"$0\" \"$@\"; echo '[first]'; read line; fg; echo '[second]'; read line; fg; echo '[ended]'";
    let mut pty = Pty::start(in_shell(home.path(), script), 80, 24);
    to_verdicts(&mut pty);
    let job = pty.master.process_group_leader().unwrap().to_string();
    pty.press("\x1a");
    pty.until("the shell", |screen| !screen.alternate_screen() && screen.contents().contains("[first]"));
    pty.press("\n");
    pty.until("the screen", |screen| screen.alternate_screen() && screen.contents().contains("2 passed, 1 failed"));
    // A stop that the program does not see coming.
    let kill = |signal: &str| {
        let group = format!("-{job}");
        assert!(std::process::Command::new("kill").args([signal, "--", &group]).status().unwrap().success());
    };
    kill("-STOP");
    pty.sees("[second]");
    pty.press("\n");
    pty.until("the screen", |screen| {
        let shown = screen.contents();
        screen.alternate_screen() && shown.contains("2 passed, 1 failed") && !shown.contains("[second]")
    });
    from_verdicts(&mut pty, &home.path().join("work/dictionaries.py"));
    pty.sees("[ended]");
    pty.ends();
}

#[test]
fn at_132x40_with_pipes_around_it() {
    let home = project();
    let script = "code=$(printf 'not read' | \"$0\" \"$@\"); echo \"[$?:$code]\"";
    let mut pty = Pty::start(in_shell(home.path(), script), 132, 40);
    to_verdicts(&mut pty);
    from_verdicts(&mut pty, &home.path().join("work/dictionaries.py"));
    // Code that was taken back is not printed.
    pty.sees("[0:]");
    assert!(pty.ends().success());
}

/// A stub without tests, and three bodies of which the two that agree are wrong.
const MEAN: &str = "def mean(numbers):\n    \"\"\"The mean of numbers; 0 if there are none.\"\"\"\n";
const MEANS: [&str; 3] = [
    "    return sum(numbers) / len(numbers)\n",
    "    total = sum(numbers)\n    return total / len(numbers)\n",
    "    return sum(numbers) / len(numbers) if numbers else 0\n",
];

#[test]
fn an_answer_becomes_a_check_an_example_and_a_verdict() {
    let home = project();
    let file = home.path().join("work/mean.py");
    fs::write(&file, MEAN).unwrap();
    let server = Server::good(Model::new(&MEANS));
    let script = format!("exec \"$0\" work/mean.py:mean -n 3 --unprotected --server {}", server.address);
    let mut pty = Pty::start(in_shell(home.path(), &script), 80, 24);
    pty.sees("Enter generate");
    pty.press("g");
    pty.sees("2 of 3 agree");
    pty.sees("b shows it");
    pty.press("b");
    pty.sees("> mean([])");
    pty.sees("ZeroDivisionError");
    // An answer that no candidate gives can be typed.
    pty.press("2=");
    pty.sees("the right answer, as a value");
    pty.press("\u{7f}[7");
    pty.press(ENTER);
    pty.sees("`[7` is no value");
    pty.press("]");
    pty.press(ENTER);
    pty.sees("no candidate gives [7]");
    // The answer of the minority is right.
    pty.press("2");
    pty.sees("2 of 3 are wrong");
    pty.press("w");
    pty.press("b");
    pty.sees("1 passed, 2 failed");
    pty.until("the pick", |screen| screen.contents().contains(" C  PASS"));
    pty.press("p");
    pty.sees(">>> mean([])");
    pty.press(ENTER);
    pty.sees("written to");
    let written = fs::read_to_string(&file).unwrap();
    assert!(
        written.contains("    >>> mean([])\n    0\n    \"\"\"\n    return sum(numbers) / len(numbers) if"),
        "{written}"
    );
    pty.press("u");
    pty.sees("as it was before");
    assert_eq!(fs::read_to_string(&file).unwrap(), MEAN);
    pty.press("qq");
    assert!(pty.ends().success());
}

#[test]
fn at_50x12_and_smaller() {
    let home = project();
    let mut pty = Pty::start(in_shell(home.path(), "exec \"$0\" \"$@\""), 50, 12);
    to_verdicts(&mut pty);
    for (columns, rows) in [(2, 2), (300, 100), (1, 1)] {
        pty.resize(columns, rows);
    }
    pty.resize(50, 12);
    pty.sees("2 passed, 1 failed");
    assert!(shows(&pty, "invert_dict"), "the title is back");
    from_verdicts(&mut pty, &home.path().join("work/dictionaries.py"));
    assert!(pty.ends().success());
}

#[test]
fn the_pictures_name_no_place_of_the_machine_that_made_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    for (name, most) in [("screen-dark.svg", 60_000), ("screen-light.svg", 60_000), ("tour.cast", 200_000)] {
        // A package of the program is without them.
        let Ok(text) = fs::read_to_string(root.join("assets").join(name)) else { continue };
        assert!(text.len() < most, "assets/{name} has {} bytes", text.len());
        for place in ["/tmp", "/home/", "/root", "/Users/", "/var/", "/work/", "file:"] {
            assert!(!text.contains(place), "assets/{name} contains {place}; scripts/picture makes it anew");
        }
        assert!(readme.contains(&format!("assets/{name}")), "README.md shows assets/{name}");
    }
}
