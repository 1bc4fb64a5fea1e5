//! Small commands: completions of shells, manual pages, the list of files, the settings in force; and words
//! that are nearly right.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::world::{World, text_of};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];

#[test]
fn every_shell_gets_commands_options_and_names_of_models() {
    let world = World::new();
    let folder = world.surroundings()[0].1.clone();
    fs::create_dir_all(&folder).unwrap();
    let entry = "[[model]]\nname = \"my-pair\"\nmain = \"/m\"\ndescription = \"x\"\n";
    fs::write(folder.join("models.toml"), entry).unwrap();
    for shell in SHELLS {
        let done = world.run(&["completions", shell]).code(0);
        let words = ["complete", "doctor", "draft-length", "bf16", "qwen2.5-coder-1.5b", "my-pair"];
        // The generators of the last two know no values.
        let words = if ["elvish", "powershell"].contains(&shell) { &words[..3] } else { &words };
        for word in words {
            assert!(done.out.contains(word), "{shell} has no {word}; {}", done.err);
        }
    }
    // A model can be a name or a file.
    assert!(world.run(&["completions", "zsh"]).code(0).out.contains(r#")" "files\:file\:_files"}'"#));
    fs::write(folder.join("models.toml"), "[[model]]\nname = 3\n").unwrap();
    let done = world.run(&["completions", "bash"]).code(0);
    assert!(done.err.contains("models.toml") && done.out.contains("qwen2.5-coder-1.5b"), "{}", done.err);
    world.run(&["completions", "bsh"]).refused(2, &["bsh", "'bash'"]);
}

#[test]
fn bash_completes_what_is_typed() {
    let world = World::new();
    if Command::new("bash").arg("--version").output().is_err() {
        return super::skip::for_want_of("bash", "completions in bash");
    }
    let script = world.file("completions.bash", world.run(&["completions", "bash"]).code(0).out);
    let typed = |words: &[&str]| {
        let line = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                    function=$(complete -p bass-tui); function=${function#*-F }; ${function%% *} bass-tui \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
        let done = Command::new("bash").args(["-c", line, "bash", &script, "bass-tui"]).args(words).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(typed(&["comp"]), ["complete", "completions"]);
    assert_eq!(typed(&["complete", "--dtype", "b"]), ["bf16"]);
    let coders = ["1.5b-instruct", "14b-instruct", "1.5b", "14b"].map(|size| format!("qwen2.5-coder-{size}"));
    assert_eq!(typed(&["--model", "qwen2.5-coder-1"]), coders);
    assert_eq!(typed(&["models", "show", "built"]), ["built-in"]);
}

#[test]
fn every_command_has_a_page_with_its_options() {
    let world = World::new();
    let folder = world.work().join("man/man1");
    let done = world.run(&["man", "--dir", &text_of(&folder)]).code(0);
    let pages: BTreeSet<String> =
        fs::read_dir(&folder).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    assert!(done.err.contains(&format!("{} pages", pages.len())), "{}", done.err);
    let help = world.run(&["--help"]).code(0).out;
    let commands = help.split("Commands:\n").nth(1).unwrap().lines().take_while(|line| line.starts_with("  "));
    for command in commands.filter_map(|line| line.split_whitespace().next()).filter(|command| *command != "help") {
        assert!(pages.contains(&format!("bass-tui-{command}.1")), "{command}: {pages:?}");
    }
    assert!(pages.contains("bass-tui-models-pull.1") && !pages.iter().any(|page| page.contains("help")), "{pages:?}");
    let page = fs::read_to_string(folder.join("bass-tui-complete.1")).unwrap();
    for text in
        ["draft\\-length", ".SH EXAMPLES", ".SH \"EXIT CODES\"", ".SH SYNOPSIS", "bass\\-tui complete \\-\\-file"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(world.run(&["man"]).code(0).out, fs::read_to_string(folder.join("bass-tui.1")).unwrap());
    let file = world.file("file", "");
    world.run(&["man", "--dir", &file]).refused(2, &["file cannot be written"]);
}

#[test]
fn every_folder_of_the_program_is_listed_and_moved_by_its_variable() {
    let world = World::new();
    world.config("n = 2\n");
    let listed = world.run(&["paths", "--json"]).code(0).json();
    let lines = listed.as_array().unwrap();
    assert_eq!(world.run(&["paths"]).code(0).out.lines().count(), lines.len());
    let find = |what: &str| lines.iter().find(|line| line["what"] == what).unwrap();
    assert_eq!(find("settings")["is_there"], Value::from(true));
    for (variable, folder) in world.surroundings() {
        let moved = lines.iter().filter(|line| line["moved_by"].as_array().unwrap().contains(&variable.into()));
        let mut paths = moved.map(|line| line["path"].as_str().unwrap().to_owned()).peekable();
        assert!(paths.peek().is_some(), "nothing is moved by {variable}");
        assert!(paths.any(|path| path.starts_with(&text_of(&folder))), "{variable}");
    }
}

/// Files that commands leave behind lie in places that are listed.
#[test]
fn what_is_written_is_listed() {
    let world = World::new();
    let file = world.file("mine.py", super::world::STUB);
    world.run(&["complete", "--file", &file, "-n", "1", "--max-tokens", "8", "--tests", "none", "--apply"]);
    let listed = world.run(&["paths", "--json"]).code(0).json();
    let listed: Vec<String> =
        listed.as_array().unwrap().iter().map(|line| line["path"].as_str().unwrap().to_owned()).collect();
    let mut found = 0;
    for (_, folder) in &world.surroundings()[..3] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            assert!(listed.contains(&text_of(&entry.path())), "{:?} is not in {listed:?}", entry.path());
            found += 1;
        }
    }
    assert!(found > 0);
}

#[test]
fn settings_are_printed_with_their_places_and_can_be_read_back() {
    let world = World::new();
    world.config("n = 3\ntemperature = 0.5\n[keys]\nzoom = ['Z']\n");
    world.file("project/.git/config", "");
    world.file("project/.bass-tui.toml", "timeout = '3s'\ntests = ['t.py']\n");
    let project = text_of(&world.work().join("project"));
    let args = ["config", &project, "-n", "5", "--stop", "X", "--dtype", "int8"];
    let done = world.run(&args).code(0);
    let line = |setting: &str| {
        done.out
            .lines()
            .find(|line| line.starts_with(&format!("{setting} = ")))
            .unwrap_or_else(|| panic!("{}", done.out))
    };
    assert!(line("n").starts_with("n = 5 ") && line("n").ends_with("# -n"), "{}", done.out);
    assert!(line("temperature").ends_with("config.toml, line 2"), "{}", done.out);
    assert!(line("timeout").ends_with("project/.bass-tui.toml, line 1"), "{}", done.out);
    assert!(
        line("tests").contains("project/t.py") && line("tests").ends_with(".bass-tui.toml, line 2"),
        "{}",
        done.out
    );
    assert!(line("seed").ends_with("# default") && line("stop").ends_with("# --stop"), "{}", done.out);
    assert!(line("\"zoom\"").ends_with("config.toml, line 4"), "{}", done.out);
    let values = |text: &str| text.parse::<toml::Table>().unwrap();
    let before = values(&done.out);
    world.config(&done.out);
    let again = world.run(&["config"]).code(0);
    assert_eq!((values(&again.out), again.err), (before, String::new()));
    assert_eq!(world.run(&["config", "--print"]).code(0).out, again.out);
    world.config(&world.run(&["config", "--default"]).code(0).out);
    assert!(!world.run(&["config"]).code(0).out.contains(", line "));
}

#[test]
fn words_that_are_nearly_right_are_named() {
    let world = World::new();
    let near = |args: &[&str], word: &str| world.run(args).refused(2, &[word]);
    near(&["doctr"], "did you mean `doctor`?");
    near(&["complet"], "did you mean `complete`?");
    near(&["models", "shwo"], "'show'");
    near(&["complete", "--drft", "none", "x"], "'--draft'");
    near(&["complete", "--dtype", "bf61", "x"], "did you mean `bf16`?");
    near(&["complete", "--draft-length", "bas", "x"], "did you mean `bass`?");
    near(&["complete", "--draft", "lokup", "x"], "did you mean `lookup`?");
    near(&["models", "show", "qwen2.5-codr-1.5b"], "did you mean `qwen2.5-coder-1.5b`?");
    near(&["config", "--defualt"], "'--default'");
    near(&["config", "gone.py"], "gone.py is not there");
    world.config("dtype = 'itn8'\n");
    near(&["config"], "did you mean `int8`?");
    world.config("[keys]\nzom = 'f'\n");
    near(&["config"], "did you mean `zoom`?");
    world.config("[keys]\nqit = 'f'\n");
    near(&["config"], "did you mean `quit`?");
    world.config("kv_cahe = 3\n");
    let done = world.run(&["config"]).code(0);
    assert!(done.err.contains("did you mean `kv_cache`?"), "{}", done.err);
    world.config("");
    world.file(".git/config", "");
    world.file(".bass-tui.toml", "them = 'dark'\ntimout = '3s'\n");
    let done = world.run(&["config"]).code(0);
    assert!(done.err.contains("did you mean `timeout`?") && !done.err.contains("`theme`"), "{}", done.err);
}
