//! `models`, `doctor`, help, version; commands that this version does not have.

use serde_json::json;

use super::world::{World, keys, model, repository};

#[test]
fn models_are_listed_shown_and_found() {
    let world = World::new();
    let list = world.run(&["models"]).code(0).out;
    assert_eq!(list, world.run(&["models", "list"]).code(0).out);
    assert!(list.starts_with("built-in") && list.contains("qwen2"), "{list}");
    let rows = world.run(&["models", "list", "--json"]).code(0).json();
    assert_eq!(keys(&rows[0]), "description draft here license name");
    assert_eq!(rows[0]["here"], true);
    assert!(rows.as_array().unwrap().iter().skip(1).all(|row| row["here"] == false), "the cache is empty");

    let shown = world.run(&["models", "show", "built-in"]).code(0).out;
    assert!(shown.contains("licence") && shown.contains("LlamaForCausalLM"), "{shown}");
    let details = world.run(&["models", "show", &model("qwen2"), "--json"]).code(0).json();
    assert_eq!(details["architecture"], "Qwen2ForCausalLM");
    assert_eq!(world.run(&["models", "path", &model("llama")]).code(0).out, model("llama") + "\n");

    world.run(&["models", "path", "built-in"]).refused(2, &["built-in", "inside the program"]);
    world.run(&["models", "show", "biult-in"]).refused(2, &["biult-in", "known are built-in"]);
    world.run(&["models", "show", "qwen2-0.5b"]).refused(2, &["not on this machine", "models pull qwen2-0.5b"]);
    world.run(&["models", "show", &repository("tests")]).refused(2, &["config.json"]);
    world.run(&["models", "show"]).refused(2, &["<NAME>"]);
}

#[test]
fn doctor_tells_what_a_file_has_and_tries_it() {
    let world = World::new();
    let file = world.file("mine/lists.py", "def double(x):\n    return 2 * x\n");
    world.file("mine/pyproject.toml", "[project]\nname = \"p\"\n");
    let text = world.run(&["doctor", &file]).code(0).out;
    assert!(text.contains("none found") && text.contains("project"), "{text}");
    world.file("mine/tests/test_lists.py", "from lists import double\nassert double(2) == 4\n");
    let text = world.run(&["doctor", &format!("{file}:double")]).code(0).out;
    assert!(
        text.contains("test_lists.py (named after lists.py, calls double); they run alone with the code"),
        "{text}"
    );
    assert!(text.contains("PASS: 1 check") && text.contains("the first in PATH"), "{text}");
    let json = world.run(&["doctor", &file, "--json"]).code(0).json();
    assert_eq!(
        (&json["file"]["function"], &json["file"]["trial"]["Ok"]["status"]),
        (&json!("double"), &json!("passed"))
    );
    world.run(&["doctor", "gone.py"]).refused(2, &["gone.py"]);
}

#[test]
fn doctor_tells_what_works() {
    let world = World::new();
    let text = world.run(&["doctor"]).code(0).out;
    for word in ["model ", "devices", "cuda", "sandbox ", "python ", "config ", "terminal "] {
        assert!(text.contains(word), "{text}");
    }
    let json = world.run(&["doctor", "--json"]).code(0).json();
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert!(json["engine"]["model"].is_string() && json["problem"].is_null(), "{json}");
    assert!(json["protection"]["summary"].is_string());
    assert!(json["devices"]["cpu"]["Ok"].as_str().is_some_and(|what| what.contains("kernels")), "{json}");
    assert_eq!(json["devices"]["cuda"]["Err"], "is not available in this version");
    let json = world.run(&["doctor", "--model", "/nowhere/at/all", "--json"]).code(3).json();
    assert!(json["engine"].is_null() && json["problem"].as_str().unwrap().contains("/nowhere/at/all"), "{json}");
}

#[test]
fn help_goes_to_stdout_and_teaches() {
    let world = World::new();
    for command in [vec![], vec!["complete"], vec!["test"], vec!["models"], vec!["bench"], vec!["doctor"], vec!["eval"]]
    {
        for flag in ["--help", "-h"] {
            let done = world.run(&[&command[..], &[flag]].concat()).code(0);
            assert_eq!(done.err, "");
            assert!(done.out.contains("EXAMPLES") && done.out.contains("Usage:"), "{command:?}: {}", done.out);
        }
    }
    let help = world.run(&["complete", "--help"]).out;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in [
        "[default: 8]",
        "[default: 256]",
        "[default: 0.8]",
        "[default: 0.95]",
        "[default: 0]",
        "[default: 10s]",
        "<NAME|DIR|lookup|sibling|chain|none|auto>",
        "<auto|bass|table|K>",
        "<auto|cpu|cuda>",
        "<auto|f32|bf16|int8|int4>",
        "<rejection|coupled>",
        "<FILE|auto|none>",
        "<P|->",
        "<F[:FUNCTION|:LINE]>",
        "cuda is not available in this version",
        "--test-command",
        "130 interrupted",
    ] {
        assert!(words.contains(word), "no {word}: {help}");
    }
    let version = world.run(&["--version"]).code(0).out;
    assert_eq!(version, format!("bass-tui {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_this_version_lacks_is_said() {
    let world = World::new();
    let lacks = |args: &[&str], word: &str| world.run(args).refused(2, &["not available in this version", word]);
    lacks(&["complete", "x", "--device", "cuda"], "--device cpu");
}

#[test]
fn the_screen_needs_a_terminal() {
    let world = World::new();
    world.run(&[]).refused(2, &["terminal", "bass-tui complete"]);
    world.run(&[&(repository("examples/numbers.py") + ":is_even")]).refused(2, &["terminal", "bass-tui complete"]);
}
