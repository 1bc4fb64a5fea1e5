//! The screen on a real pseudo-terminal: what a terminal would show, and that it is given back as it was.
//!
//! The program on the terminal is this test binary, running one of the ignored `child_` tests below, or (at
//! the end) the real one. Nothing sleeps: every step waits until the screen shows what it should, up to a
//! deadline.
#![cfg(unix)]

#[path = "../examples/scripted_screen.rs"]
#[allow(dead_code)] // its `main` is for the example only
mod scripted;
#[path = "shared/pty.rs"]
mod terminal;

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use portable_pty::CommandBuilder;
use vt100::MouseProtocolMode;

use terminal::{CTRL_C, ENTER, Pty, REPLIES, kill, program, unset};

#[test]
#[ignore = "run by the tests below on a terminal"]
fn child_scripted() {
    let outcome = bass_tui::tui::run(scripted::setup(4, true).unwrap()).unwrap();
    println!("{}", outcome.accepted.unwrap_or_else(|| "nothing accepted".to_owned()));
}

#[test]
#[ignore = "run by the tests below on a terminal"]
fn child_signalled() {
    let error = bass_tui::tui::run(scripted::setup(4, true).unwrap()).unwrap_err();
    println!("the error was: {error}");
}

#[test]
#[ignore = "run by the tests below on a terminal"]
fn child_panics() {
    bass_tui::tui::terminal::guard_panics(|_| {});
    let _guard = bass_tui::tui::terminal::Guard::enter().unwrap();
    print!("on the screen");
    std::io::stdout().flush().unwrap();
    let mut key = [0];
    std::io::stdin().read_exact(&mut key).unwrap();
    panic!("deliberate");
}

/// The scripted program, once its models are there.
fn scripted_screen(columns: u16, rows: u16) -> Pty {
    let pty = Pty::child("child_scripted", columns, rows);
    pty.sees("scripted-7b");
    pty
}

#[test]
fn generate_watch_accept() {
    let mut pty = scripted_screen(80, 24);
    pty.until("the alternate screen", vt100::Screen::alternate_screen);
    pty.press("g");
    pty.sees("PICK");
    pty.press(ENTER);
    pty.sees("return result");
    pty.sees("def rolling_max");
    assert!(pty.ends().success());
}

#[test]
fn no_size_is_too_small() {
    let mut pty = scripted_screen(112, 30);
    pty.press("g");
    for (columns, rows) in
        [(80, 24), (40, 12), (20, 4), (7, 2), (1, 1), (2, 1), (1, 40), (200, 1), (300, 100), (1, 1), (2, 2), (80, 24)]
    {
        pty.resize(columns, rows);
    }
    pty.sees("PICK");
    pty.press("qq");
    pty.sees("nothing accepted");
    assert!(pty.ends().success());
}

#[test]
fn ctrl_c_stops_and_keeps_what_was_written() {
    let mut pty = scripted_screen(112, 30);
    pty.press("g");
    pty.sees("running");
    pty.press(CTRL_C);
    pty.sees("stopped");
    pty.sees("running");
    pty.press(CTRL_C);
    pty.sees("again to quit");
    pty.press(CTRL_C);
    pty.sees("nothing accepted");
    assert!(pty.ends().success());
}

#[test]
fn late_replies_of_the_terminal_are_no_keys() {
    let mut pty = scripted_screen(112, 30);
    let send = |pty: &mut Pty, whole: bool| {
        for reply in REPLIES {
            if whole {
                pty.press(reply);
            } else {
                reply.chars().for_each(|c| pty.press(c.encode_utf8(&mut [0; 4])));
            }
        }
    };
    pty.press("i");
    pty.sees("leave prompt");
    for whole in [true, false] {
        send(&mut pty, whole);
        pty.press(if whole { "#one" } else { "#two" });
        pty.sees(if whole { "#one" } else { "#one#two" });
    }
    // Pasted text may look like a reply.
    pty.press("\x1b[200~ ]11;rgb:12 \x1b[?6c\x1b[201~");
    pty.sees("#one#two ]11;rgb:12");
    pty.press("\x1b");
    pty.sees("edit prompt");
    for whole in [true, false] {
        send(&mut pty, whole);
    }
    pty.press("+");
    pty.sees("N 5");
    let shown = pty.shown.0.lock().unwrap().screen().contents();
    assert!(shown.contains("edit prompt") && !shown.contains("rgb:ffff") && !shown.contains("xterm"), "{shown}");
    pty.press("q");
    pty.sees("nothing accepted");
    assert!(pty.ends().success());
}

#[test]
fn a_reply_cut_after_its_esc_is_an_esc_at_most() {
    let mut pty = scripted_screen(112, 30);
    pty.press("?");
    pty.sees("Esc closes");
    for reply in REPLIES {
        // The help closes by the Esc, so it has become a key, and the rest comes later.
        pty.press(&reply[..1]);
        pty.until("the end of the help", |screen| !screen.contents().contains("Esc closes"));
        pty.press(&reply[1..]);
        pty.press("?");
        pty.sees("Esc closes");
    }
    pty.press("qq");
    pty.sees("nothing accepted");
    assert!(pty.ends().success());
}

#[test]
fn a_stop_from_outside_leaves_no_trace() {
    let mut pty = scripted_screen(80, 24);
    let modes = format!("{:?}", pty.master.get_termios());
    for _ in 0..3 {
        kill(&pty, "-STOP");
        // Another program uses the terminal in between.
        let tty = pty.master.tty_name().unwrap();
        let script = "stty sane <\"$0\"; printf '\\033[?1049l\\033[?2004l\\033[?25hOTHER' >\"$0\"";
        assert!(Command::new("/bin/sh").args(["-c", script]).arg(tty).status().unwrap().success());
        pty.until("the other program", |screen| !screen.alternate_screen() && screen.contents().contains("OTHER"));
        kill(&pty, "-CONT");
        pty.until("the screen", |screen| {
            screen.alternate_screen()
                && screen.bracketed_paste()
                && screen.hide_cursor()
                && screen.contents().contains("Enter generate")
        });
        assert_eq!(format!("{:?}", pty.master.get_termios()), modes);
    }
    pty.press("q");
    pty.sees("nothing accepted");
    assert!(pty.ends().success());
}

/// The program's command in a shell, with what is around it.
fn program_in_shell(home: &std::path::Path, script: &str) -> CommandBuilder {
    let mut command = program(home, &[]);
    *command.get_argv_mut() = ["/bin/sh", "-c", script, env!("CARGO_BIN_EXE_bass-tui")].map(Into::into).to_vec();
    command
}

#[test]
fn the_mouse_is_off_until_it_is_asked_for_and_after_leaving() {
    let program = "\"$0\" --exact child_scripted --ignored --nocapture --test-threads=1";
    let mut command = shell(&format!("set -m; {program}; echo '[in the shell]'; read line; fg; echo '[ended]'"));
    command.arg(std::env::current_exe().unwrap());
    let mut pty = Pty::start(command, 80, 24);
    pty.sees("scripted-7b");
    assert_eq!(pty.shown.0.lock().unwrap().screen().mouse_protocol_mode(), MouseProtocolMode::None);
    pty.press("g");
    pty.sees("PICK");
    pty.press("m");
    pty.until("the mouse", |screen| {
        screen.mouse_protocol_mode() == MouseProtocolMode::PressRelease && screen.contents().contains("MOUSE")
    });
    pty.press("\x1a");
    pty.until("the shell", |screen| {
        screen.contents().contains("[in the shell]") && screen.mouse_protocol_mode() == MouseProtocolMode::None
    });
    pty.press("\r");
    pty.until("the mouse again", |screen| screen.mouse_protocol_mode() == MouseProtocolMode::PressRelease);
    // Tests may still run.
    pty.press("qq");
    pty.sees("[ended]");
    assert!(pty.ends().success());
}

#[test]
fn captured_output_gets_the_code_and_the_screen_is_on_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("numbers.py"), include_str!("../src/job/example.py")).unwrap();
    let script = "code=$(\"$0\" numbers.py:is_even --tests none -n 2); echo \"[$code]\" | head -1; \
                  \"$0\" undo; cat numbers.py";
    let mut pty = Pty::start(program_in_shell(home.path(), script), 112, 30);
    pty.until("the screen", |screen| screen.alternate_screen() && screen.contents().contains("Enter generate"));
    pty.press("g");
    pty.sees("PICK");
    pty.press(ENTER);
    pty.sees("written to");
    pty.press("q");
    pty.sees("[def is_even(n):");
    pty.sees("is_even was written to");
    pty.sees("`bass-tui undo` takes it back");
    pty.sees("is as it was before");
    assert!(pty.ends().success());
}

#[test]
fn piped_text_is_the_prompt_and_keys_come_from_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    let script = "printf 'def triple(n):\\n    \"\"\"Three times n.\"\"\"\\n' | \"$0\" --tests none -n 2 | cat; \
                  printf '' | \"$0\"; echo \"[$?]\"";
    let mut pty = Pty::start(program_in_shell(home.path(), script), 112, 30);
    pty.sees("Three times n.");
    pty.press("g");
    pty.sees("PICK");
    pty.press(ENTER);
    pty.until("the code", |screen| !screen.alternate_screen() && screen.contents().contains("def triple(n):"));
    pty.sees("the prompt on stdin is empty");
    pty.sees("[2]");
    assert!(pty.ends().success());
}

#[test]
fn without_a_screen_candidates_are_lines_and_a_line_takes_one() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("numbers.py");
    let stub = include_str!("../src/job/example.py");
    std::fs::write(&file, stub).unwrap();
    for (environment, flag) in [("TERM=dumb", ""), ("ACCESSIBLE=1", ""), ("A=", "--plain")] {
        let script = format!("{environment} \"$0\" numbers.py:is_even --tests none -n 2 {flag}; echo \"[$?]\"");
        let mut pty = Pty::start(program_in_shell(home.path(), &script), 112, 40);
        pty.sees("take which? [A-B, r = again, q = quit]");
        pty.sees("candidate A\ndef is_even(n):");
        pty.press("x\n");
        pty.sees("answer with a letter of A-B, r or q\ntake which? [A-B, r = again, q = quit]");
        pty.press("r\n");
        pty.sees("q = quit] r\nwriting 2 candidates");
        pty.press("a\n");
        pty.sees("written to numbers.py");
        assert!(std::fs::read_to_string(&file).unwrap().len() > stub.len());
        pty.press("u\n");
        pty.sees("numbers.py is as it was before");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), stub);
        pty.sees("[0]");
        assert!(!pty.shown.0.lock().unwrap().screen().alternate_screen());
        assert!(pty.ends().success());
    }
}

fn shell(script: &str) -> CommandBuilder {
    let mut command = CommandBuilder::new("/bin/sh");
    command.args(["-c", script]);
    command
}

#[test]
fn sigtstp_does_as_ctrl_z() {
    let program = "\"$0\" --exact child_scripted --ignored --nocapture --test-threads=1";
    let mut command = shell(&format!("set -m; {program}; echo '[in the shell]'; read line; fg; echo '[ended]'"));
    command.arg(std::env::current_exe().unwrap());
    let mut pty = Pty::start(command, 80, 24);
    pty.sees("scripted-7b");
    let group = pty.master.process_group_leader().unwrap();
    assert!(Command::new("kill").args(["-TSTP", &group.to_string()]).status().unwrap().success());
    pty.until("the shell", |screen| !screen.alternate_screen() && screen.contents().contains("[in the shell]"));
    pty.until("the cursor", |screen| !screen.hide_cursor() && !screen.bracketed_paste());
    pty.press("\r");
    pty.until("the screen", |screen| screen.alternate_screen() && screen.contents().contains("Enter generate"));
    pty.press("q");
    pty.sees("nothing accepted");
    pty.sees("[ended]");
    assert!(pty.ends().success());
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back() {
    let mut command = CommandBuilder::new("/bin/sh");
    let program = "\"$0\" --exact child_scripted --ignored --nocapture --test-threads=1";
    command.args(["-c", &format!("set -m; {program}; echo '[in the shell]'; read line; fg; echo '[ended]'")]);
    command.arg(std::env::current_exe().unwrap());
    let mut pty = Pty::start(command, 80, 24);
    pty.sees("scripted-7b");
    pty.press("\x0c");
    pty.press("\x1a");
    pty.until("the shell", |screen| !screen.alternate_screen() && screen.contents().contains("[in the shell]"));
    pty.until("the cursor", |screen| !screen.hide_cursor() && !screen.bracketed_paste());
    pty.press("\r");
    pty.until("the screen", |screen| screen.alternate_screen() && screen.contents().contains("Enter generate"));
    pty.press("q");
    pty.sees("nothing accepted");
    pty.sees("[ended]");
    assert!(pty.ends().success());
}

#[test]
fn a_signal_gives_the_terminal_back() {
    for (signal, name) in [("-TERM", "SIGTERM"), ("-HUP", "SIGHUP"), ("-INT", "SIGINT")] {
        let mut pty = Pty::child("child_signalled", 80, 24);
        pty.sees("scripted-7b");
        pty.press("g");
        pty.sees("writing");
        let id = pty.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        pty.sees(&format!("the error was: ended by {name}"));
        pty.ends();
    }
}

#[test]
fn a_panic_is_legible_on_the_normal_screen() {
    let mut pty = Pty::child("child_panics", 80, 24);
    pty.sees("on the screen");
    pty.until("the alternate screen", vt100::Screen::alternate_screen);
    pty.press("x");
    pty.until("the panic on the normal screen", |screen| {
        !screen.alternate_screen() && screen.contents().contains("deliberate")
    });
    pty.ends();
}

#[test]
fn without_a_terminal_there_is_a_sentence() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child_signalled", "--ignored", "--nocapture"]).stdin(Stdio::null());
    // A session of its own does not have the terminal of this one.
    // SAFETY: setsid may be called between fork and exec.
    let output =
        unsafe { command.pre_exec(|| rustix::process::setsid().map(|_| ()).map_err(Into::into)) }.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("standard output is not a terminal"), "{said}");
    assert!(!said.contains('\x1b'), "nothing was sent to a terminal: {said:?}");
}

// From here on the real program, with the models it carries and the real sandbox.

#[test]
fn the_program_writes_tests_and_accepts_its_example() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = Pty::start(program(home.path(), &[]), 112, 30);
    pty.sees("Enter generate");
    pty.press(ENTER);
    // Where nothing isolates the tests, the program asks first; the answer counts once the question is read.
    pty.until("a pass or the question", |screen| {
        let shown = screen.contents();
        shown.contains("PICK") || shown.contains("without protection?")
    });
    let asked = pty.shown.0.lock().unwrap().screen().contents().contains("without protection?");
    if asked {
        pty.press("n");
        pty.sees("not tested");
    }
    pty.press(ENTER);
    if asked {
        pty.sees("take it all the same");
        pty.press("y");
    }
    pty.until("the program", |screen| !screen.alternate_screen() && screen.contents().contains("    return"));
    pty.sees("def is_even(n):");
    assert!(pty.ends().success());
}

#[test]
fn a_stub_that_is_saved_in_an_editor_gets_candidates() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("numbers.py");
    std::fs::write(&file, "def is_odd(n):\n    \"\"\"True if n is odd.\"\"\"\n").unwrap();
    let args = ["numbers.py:is_odd", "--watch", "--tests", "none", "-n", "2"];
    let mut pty = Pty::start(program(home.path(), &args), 112, 30);
    pty.until("the models", |screen| screen.contents().contains("WATCHING") && screen.contents().contains("device"));
    // As editors do: a new file takes the name.
    std::fs::write(home.path().join("new"), include_str!("../src/job/example.py").replace("is_even", "is_odd"))
        .unwrap();
    std::fs::rename(home.path().join("new"), &file).unwrap();
    pty.sees("PICK");
    assert!(!std::fs::read_to_string(&file).unwrap().contains("return"), "nothing is written without a key");
    pty.press("qq");
    assert!(pty.ends().success());
}

#[test]
fn the_program_puts_the_accepted_candidate_into_the_file_and_takes_it_back() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("numbers.py");
    let stub = include_str!("../src/job/example.py");
    std::fs::write(&file, stub).unwrap();
    let mut pty = Pty::start(program(home.path(), &["numbers.py:is_even", "--tests", "none", "-n", "2"]), 112, 30);
    pty.sees("Enter generate");
    pty.press("g");
    pty.sees("PICK");
    pty.press(ENTER);
    pty.sees("written to");
    assert!(std::fs::read_to_string(&file).unwrap().len() > stub.len());
    pty.press("u");
    pty.sees("as it was before");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), stub);
    pty.press("q");
    assert!(pty.ends().success());
}

#[test]
fn what_was_chosen_in_the_palette_is_remembered_at_the_next_start() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("numbers.py"), include_str!("../src/job/example.py")).unwrap();
    let args = ["numbers.py:is_even", "--tests", "none", "-n", "2"];
    let start = || Pty::start(program(home.path(), &args), 80, 24);
    let remembered = || std::fs::read_to_string(home.path().join("bass-tui/screen.toml")).unwrap_or_default();
    let background = |pty: &Pty| pty.shown.0.lock().unwrap().screen().cell(12, 40).unwrap().bgcolor();
    let mut pty = start();
    pty.sees("Enter generate");
    let before = background(&pty);
    pty.press(":theme");
    pty.sees("theme: auto");
    pty.press(ENTER);
    pty.sees("now");
    pty.press("dracula");
    // It is seen before it is chosen.
    pty.until("the other background", |screen| screen.cell(12, 40).unwrap().bgcolor() != before);
    pty.press(ENTER);
    pty.sees("theme: dracula");
    pty.press("\x10layout");
    pty.sees("layout: fit");
    pty.press(ENTER);
    pty.sees("columns");
    pty.press("list");
    pty.sees("1 of 4");
    pty.press(ENTER);
    pty.sees("layout: list");
    pty.press("q");
    assert!(pty.ends().success());
    assert!(remembered().contains("layout = \"list\"") && remembered().contains("theme = \"dracula\""));
    let mut pty = start();
    pty.until("the chosen theme", |screen| {
        screen.contents().contains("Enter generate") && screen.cell(12, 40).unwrap().bgcolor() != before
    });
    pty.press(",");
    pty.sees("layout: list");
    pty.sees("theme: dracula");
    pty.press("\x1b");
    // A letter right behind Esc would be one with Alt.
    pty.until("the closed palette", |screen| !screen.contents().contains("layout: list"));
    // A damaged memory says nothing.
    pty.press("q");
    assert!(pty.ends().success());
    std::fs::write(home.path().join("bass-tui/screen.toml"), "layout = 'round'\nwrap").unwrap();
    let mut pty = start();
    pty.sees("Enter generate");
    pty.press(",");
    pty.sees("layout: fit");
    pty.press("\x03q");
    assert!(pty.ends().success());
}

#[test]
fn a_model_that_does_not_know_the_language_says_so_first() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("lib.rs"), "/// Adds.\nfn add(a: i32, b: i32) -> i32 {\n}\n").unwrap();
    let mut pty = Pty::start(program(home.path(), &["lib.rs:add", "--tests", "none"]), 112, 30);
    pty.sees("built-in knows Python, not Rust");
    pty.press("q");
    assert!(pty.ends().success());
}

#[test]
fn lines_typed_under_a_stub_are_tested_and_written_with_the_candidate() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("numbers.py");
    let stub = "def doubled(numbers):\n    \"\"\"Return a list of all numbers times two.\n\n    \
                >>> doubled([1, 2])\n    [2, 4]\n    \"\"\"\n";
    let typed = "    result = []\n    for n in numbers:\n";
    std::fs::write(&file, stub).unwrap();
    // Where nothing isolates them, the tests run all the same: they are ours.
    let args = ["numbers.py:doubled", "-n", "4", "--unprotected"];
    let mut pty = Pty::start(program(home.path(), &args), 112, 30);
    pty.sees("Enter generate");
    pty.press("i");
    pty.press(&format!("\x1b[200~{typed}\x1b[201~"));
    pty.sees("for n in numbers:");
    pty.press("\x1b");
    pty.sees("edit prompt");
    pty.press("g");
    pty.sees("PICK");
    pty.press(ENTER);
    pty.sees("written to");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with(&format!("{stub}{typed}        ")), "{written}");
    pty.press("q");
    assert!(pty.ends().success());
}

/// A home with a project in `work`: two files, and a folder that is ignored.
fn project() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let stub = include_str!("../src/job/example.py");
    let files = [
        (".gitignore", "made/\n"),
        ("numbers.py", &*format!("def done(n):\n    return n\n\n\n{stub}")),
        (
            "shop/orders.py",
            "def total(prices):\n    \"\"\"The sum of all prices.\"\"\"\n\n\ndef count(prices):\n    pass\n",
        ),
        ("made/numbers.py", stub),
    ];
    for (name, text) in files {
        let path = home.path().join("work").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    home
}

/// The program in that project.
fn in_project(home: &tempfile::TempDir, args: &[&str]) -> CommandBuilder {
    let mut command = program(home.path(), args);
    command.cwd(home.path().join("work"));
    command
}

#[test]
fn a_function_of_a_folder_is_chosen_by_typing() {
    let home = project();
    let mut pty = Pty::start(in_project(&home, &[".", "--tests", "none"]), 80, 24);
    // The ignored one is not among them.
    pty.until("four functions", |screen| screen.contents().lines().any(|line| line.ends_with(" 4 \u{2500}")));
    pty.press("ord tot");
    pty.sees("1 of 4");
    pty.sees("The sum of all prices");
    pty.press(ENTER);
    pty.until("the title", |screen| screen.contents().starts_with(" bass-tui   orders.py:total "));
    pty.sees("Enter generate");
    pty.press("q");
    assert!(pty.ends().success());
}

#[test]
fn after_one_function_the_next_is_a_key_away() {
    let home = project();
    let args = ["numbers.py:is_even", "--tests", "none", "-n", "2"];
    let mut pty = Pty::start(in_project(&home, &args), 112, 30);
    pty.sees("Enter generate");
    pty.press("g");
    pty.sees("PICK");
    pty.press(ENTER);
    pty.sees("Ctrl-N next unfinished function");
    pty.press("\x0e");
    pty.until("the other file", |screen| screen.contents().starts_with(" bass-tui   orders.py:total "));
    pty.press("\x0e");
    pty.until("the rest of the file", |screen| screen.contents().starts_with(" bass-tui   orders.py:count "));
    pty.press("\x14");
    pty.sees("numbers.py:1");
    pty.press("\x1b");
    pty.sees("edit prompt");
    pty.press("q");
    assert!(pty.ends().success());
    assert!(
        std::fs::read_to_string(home.path().join("work/numbers.py"))
            .unwrap()
            .starts_with("def done(n):\n    return n\n")
    );
}

#[test]
fn a_file_with_several_functions_asks_which_and_an_empty_folder_has_the_example() {
    let home = project();
    let mut pty = Pty::start(in_project(&home, &["shop/orders.py"]), 80, 24);
    pty.sees("count     orders.py:5");
    pty.press("\x1b[B");
    pty.press(ENTER);
    pty.until("the title", |screen| screen.contents().starts_with(" bass-tui   orders.py:count "));
    pty.press("q");
    assert!(pty.ends().success());
    std::fs::create_dir(home.path().join("work/empty")).unwrap();
    let mut pty = Pty::start(in_project(&home, &["empty"]), 112, 30);
    pty.sees("built-in example: no function of a known language in empty");
    pty.press("q");
    assert!(pty.ends().success());
}

#[test]
fn the_first_start_asks_for_a_model_and_one_key_gives_the_demo() {
    let home = tempfile::tempdir().unwrap();
    let mut pty = Pty::start(unset(home.path(), &[]), 80, 24);
    pty.sees("> 1 built-in demo");
    pty.press(ENTER);
    pty.sees("Enter generate");
    pty.press("q");
    assert!(pty.ends().success());
    let file = home.path().join("bass-tui/config.toml");
    assert!(!file.exists(), "nothing is kept unless it is asked for");
    let mut pty = Pty::start(unset(home.path(), &[]), 80, 24);
    pty.sees("[ ] keep it in");
    pty.press("\x13");
    pty.sees("[x] keep it in");
    pty.press("1");
    pty.sees("Enter generate");
    pty.press("q");
    assert!(pty.ends().success());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "model = \"built-in\"\n");
    let mut pty = Pty::start(unset(home.path(), &[]), 80, 24);
    pty.sees("Enter generate");
    pty.press("q");
    assert!(pty.ends().success());
}
