//! `models`, `doctor`, help, version; commands that this version does not have.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use bass_tui::model::{Model, ModelFiles, TensorType};
use serde_json::{Value, json};

use super::world::{World, keys, model, repository};
use super::write::converted;

#[test]
fn models_are_listed_shown_and_found() {
    let world = World::new();
    let list = world.run(&["models"]).code(0).out;
    // The last line depends on the speed that was measured.
    let table =
        |list: &str| list.lines().filter(|line| !line.starts_with("Recommended")).collect::<Vec<_>>().join("\n");
    assert_eq!(table(&list), table(&world.run(&["models", "list"]).code(0).out));
    assert!(list.starts_with("built-in") && list.contains("qwen2"), "{list}");
    let rows = world.run(&["models", "list", "--json"]).code(0).json();
    assert_eq!(
        keys(&rows[0]),
        "context description draft dtype fits here languages license memory name parameters problem program recommended"
    );
    assert_eq!((&rows[0]["here"], &rows[0]["languages"]), (&json!(true), &json!(["python"])));
    let own: Vec<&Value> = rows.as_array().unwrap().iter().filter(|row| row["program"].is_null()).collect();
    assert!(own.iter().skip(1).all(|row| row["here"] == false), "the cache is empty");
    assert!(own.iter().all(|row| row["memory"].is_u64() && row["fits"].is_boolean() && row["context"].is_u64()));
    assert!(
        list.contains("This machine has ") && list.contains("a prompt of 2048 tokens and 8 candidates of 256"),
        "{list}"
    );
    world.config("n = 64\nmax_tokens = 2048\ndtype = 'int8'\n");
    let more = world.run(&["models", "list", "--json"]).code(0).json();
    let memory = |rows: &Value| {
        rows.as_array().unwrap().iter().find(|r| r["name"] == "codellama-7b").unwrap()["memory"].as_u64()
    };
    assert!(memory(&more) > memory(&rows), "many long candidates take more than 8 bits save");
    world.config("");

    let shown = world.run(&["models", "show", "built-in"]).code(0).out;
    assert!(shown.contains("licence") && shown.contains("LlamaForCausalLM"), "{shown}");
    let details = world.run(&["models", "show", &model("qwen2"), "--json"]).code(0).json();
    assert_eq!(details["architecture"], "Qwen2ForCausalLM");
    assert_eq!(details["memory"][1][0], "int8");
    assert!(shown.contains("stored as") && shown.contains("int4 ") && shown.contains("Python"), "{shown}");
    assert!(shown.contains("prompts") && shown.contains("gaps"), "{shown}");
    assert_eq!(world.run(&["models", "path", &model("llama")]).code(0).out, model("llama") + "\n");

    world.run(&["models", "path", "built-in"]).refused(2, &["built-in", "inside the program"]);
    world.run(&["models", "show", "biult-in"]).refused(2, &["biult-in", "known are built-in"]);
    world.run(&["models", "show", "qwen2-0.5b"]).refused(2, &["not on this machine", "models pull qwen2-0.5b"]);
    world.run(&["models", "show", &repository("tests")]).refused(2, &["config.json"]);
    world.run(&["models", "show"]).refused(2, &["<NAME>"]);
}

/// A model of Ollama's from the bytes of a GGUF file.
pub fn ollama(world: &World, name: &str, bytes: &[u8]) {
    let folder = world.surroundings()[5].1.clone();
    let digest = format!("{:064x}", name.len());
    let manifest = folder.join("manifests/registry.ollama.ai/library").join(name.replace(':', "/"));
    std::fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    std::fs::create_dir_all(folder.join("blobs")).unwrap();
    std::fs::write(folder.join("blobs").join(format!("sha256-{digest}")), bytes).unwrap();
    let layer = format!(r#"{{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:{digest}"}}"#);
    std::fs::write(manifest, format!(r#"{{"layers":[{layer}]}}"#)).unwrap();
}

#[test]
fn models_of_other_programs_are_listed_and_used() {
    let world = World::new();
    let folder = PathBuf::from(model("qwen2"));
    let golden = Model::load(&ModelFiles::Folder(folder.clone())).unwrap();
    let mut writer = converted(&golden, &folder, "qwen2", TensorType::Q8_0);
    writer.text("general.name", "Tiny Coder");
    ollama(&world, "tiny:1b", &writer.bytes(0..writer.tensors()));
    ollama(&world, "broken:latest", b"GGUFnothing");
    let rows = world.run(&["models", "--json"]).code(0).json();
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).cloned().unwrap_or_default();
    let tiny = row("ollama:tiny:1b");
    assert_eq!((&tiny["program"], &tiny["here"], &tiny["problem"]), (&json!("Ollama"), &json!(true), &Value::Null));
    assert!(tiny["memory"].is_u64() && tiny["description"].as_str().unwrap().contains("ForCausalLM"), "{tiny}");
    assert!(row("ollama:broken:latest")["problem"].as_str().unwrap().contains("GGUF"), "{rows}");
    let list = world.run(&["models"]).code(0).out;
    assert!(list.contains("\nOllama\n") && list.contains("cannot be used: "), "{list}");
    let path = world.run(&["models", "path", "ollama:tiny:1b"]).code(0).out;
    for model in ["ollama:tiny:1b", path.trim_end()] {
        let report = world.complete(&["--model", model, "--prompt-ids", "1,2,3", "-n", "1", "--max-tokens", "4"]);
        assert_eq!(report["model"], "Tiny Coder");
    }
    world.run(&["complete", "x", "--model", "ollama:tiny"]).refused(2, &["no such model", "it has ollama:"]);
}

#[test]
fn a_small_model_says_what_it_does_not_know() {
    let world = World::new();
    let file = world.file("lib.rs", "/// Adds.\nfn add(a: i32, b: i32) -> i32 {\n}\n");
    let target = format!("{file}:add");
    let args = ["complete", "--file", &target, "--tests", "none", "-n", "1", "--max-tokens", "4"];
    let said = |args: &[&str]| world.run(args).err.lines().filter(|line| line.contains("bass-tui: ")).count();
    let done = world.run(&args);
    assert!(done.err.contains("built-in knows Python, not Rust"), "{}", done.err);
    let python = ["complete", "def f():", "-n", "1", "--max-tokens", "4"];
    let done = world.run(&python);
    assert!(done.err.contains("small built-in pair"), "{}", done.err);
    assert_eq!((said(&args), said(&python)), (1, 1));
    assert_eq!(world.run(&[&python[..], &["--json"]].concat()).err, "");
    // Whoever brings a model knows.
    assert_eq!(said(&[&args[..], &["--model", &model("qwen2")]].concat()), 0);
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
        text.contains("test_lists.py (named after lists.py, calls double); they run in a copy of the project"),
        "{text}"
    );
    assert!(text.contains("PASS: 1 test") && text.contains("the first in PATH"), "{text}");
    let json = world.run(&["doctor", &file, "--json"]).code(0).json();
    assert_eq!(
        (&json["file"]["function"], &json["file"]["trial"]["Ok"]["status"]),
        (&json!("double"), &json!("passed"))
    );
    world.file("mine/lists.py", "def double(x):\n    return 3 * x\n");
    assert!(world.run(&["doctor", &format!("{file}:double")]).code(1).out.contains("FAIL: "));
    world.run(&["doctor", "gone.py"]).refused(2, &["gone.py"]);
}

#[test]
fn init_tells_what_a_project_has_and_writes_only_when_asked() {
    let world = World::new();
    let file = world.file("mine/lists.py", "def spare(): ...\n\n\ndef double(x):\n    return 2 * x\n");
    world.file("mine/pyproject.toml", "[project]\nname = \"p\"\n");
    world.file(
        "mine/tests/test_lists.py",
        "from lists import double\n\ndef test_double():\n    assert double(2) == 4\n",
    );
    let root = Path::new(&file).parent().unwrap().to_str().unwrap().to_owned();
    let settings = Path::new(&root).join(".bass-tui.toml");
    let said = world.run(&["init", &root]).code(0);
    assert!(said.out.contains("Python (1 file, 1 of tests)") && said.out.contains("lists.py:double"), "{}", said.out);
    assert!(said.out.contains("as it is      PASS: 1 "), "{}", said.out);
    assert!(said.err.contains("--write") && !settings.exists(), "{}", said.err);
    world.run(&["init", &root, "--write"]).code(0);
    let text = fs::read_to_string(&settings).unwrap();
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
    for line in ["# timeout = \"10s\"", "# memory = 1024", "# processes = 128", "# tests = \"tests\""] {
        assert!(text.contains(line), "{text}");
    }
    world.run(&["init", &root, "--write"]).refused(2, &[".bass-tui.toml", "is there already"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), text);
    // Every line of it can be read once it is fixed.
    let fixed: String = text
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.contains(" = "))
        .fold(String::new(), |all, line| all + line + "\n");
    fs::write(&settings, fixed).unwrap();
    let done = world.run(&["test", &format!("{file}:double")]).code(0);
    assert!(done.err.is_empty() && done.out.contains("(as you said)"), "{}{}", done.err, done.out);
    // Unfinished functions, and tests in the file itself.
    let open = world.file("open/a.py", "def double(x):\n    \"\"\"Twice x.\"\"\"\n");
    world.file("open/pyproject.toml", "[project]\nname = \"p\"\n");
    world.file("open/test_a.py", "from a import double\n\ndef test_double():\n    assert double(2) == 4\n");
    world.file("open/Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    world.file(
        "open/src/lib.rs",
        "pub fn twice(x: i32) -> i32 {\n    todo!()\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        \
         assert_eq!(super::twice(2), 4);\n    }\n}\n",
    );
    let said = world.run(&["init", Path::new(&open).parent().unwrap().to_str().unwrap()]).out;
    assert!(said.contains("test_a.py (") && !said.contains("none found"), "{said}");
    assert!(said.contains("lib.rs:twice"), "{said}");
    // Neither what is built nor what helps tests is tried, nor is the first that its tests do not notice the end.
    let file = world.file("more/src/lists.py", "def aaa(x):\n    return x\n\n\ndef double(x):\n    return 2 * x\n");
    world.file("more/pyproject.toml", "[project]\nname = \"p\"\n");
    world.file("more/dist/made.py", "def triple(x):\n    return 3 * x\n");
    world.file("more/tests/conftest.py", "def triple(x):\n    return 3 * x\n");
    let tests = "import sys\nsys.path.insert(0, 'src')\nfrom lists import aaa, double\nfrom conftest import triple\n\n\n\
        def test_aaa():\n    assert aaa\n\n\ndef test_double():\n    assert double(2) == 4 and triple(1) == 3\n";
    world.file("more/tests/test_lists.py", tests);
    let said = world.run(&["init", Path::new(&file).ancestors().nth(2).unwrap().to_str().unwrap()]).code(0);
    assert!(said.out.contains("lists.py:double") && said.out.contains("as it is      PASS: "), "{}", said.out);
    let lone = world.file("lone/a.py", "");
    world.run(&["init", Path::new(&lone).parent().unwrap().to_str().unwrap()]).refused(2, &["no project around"]);
    world.run(&["init", &lone]).refused(2, &["is no folder"]);
}

#[test]
fn a_project_decides_how_its_tests_are_run_and_flags_decide_over_it() {
    let world = World::new();
    let file = world.file("mine/lists.py", "def double(x):\n    return 2 * x\n");
    world.file("mine/pyproject.toml", "[project]\nname = \"p\"\n");
    world.file("mine/odd/what.py", "from lists import double\nassert double(2) == 4\n");
    let hungry = "from lists import double\nx = bytearray(200 << 20)\nassert double(2) == 4\n";
    world.file("mine/odd/hungry.py", hungry);
    let target = format!("{file}:double");
    world.run(&["test", &target]).refused(2, &["no tests were found"]);
    world.file("mine/.bass-tui.toml", "tests = 'odd/what.py'\nmodel = 'x'\n");
    let done = world.run(&["test", &target]).code(0);
    assert!(done.err.contains("`model` is no setting of a project"), "{}", done.err);
    world.file("mine/.bass-tui.toml", "tests = 'odd/hungry.py'\nmemory = 100\n");
    let done = world.run(&["test", &target]).code(1);
    assert!(!done.out.contains("PASS"), "{}", done.out);
    world.run(&["test", &target, "--memory", "1024"]).code(0);
    world.run(&["test", &target, "--tests", "gone.py"]).refused(2, &["gone.py"]);
    world.file("mine/.bass-tui.toml", "python = 'no/python'\n");
    let tests = file.replace("lists.py", "odd/what.py");
    world.run(&["test", &target, "--tests", &tests]).refused(3, &["no/python", "is no Python that can be used"]);
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
    assert!(json["int8"].is_null(), "the built-in pair is in the cache: {json}");
    assert!(json["engine"]["model"].is_string() && json["problem"].is_null(), "{json}");
    assert!(json["protection"]["summary"].is_string());
    assert!(json["devices"]["cpu"]["Ok"].as_str().is_some_and(|what| what.contains("kernels")), "{json}");
    // Devices depend on the machine, but something is always said.
    let cuda = &json["devices"]["cuda"];
    assert!(cuda["Ok"].as_str().or(cuda["Err"].as_str()).is_some_and(|what| what.len() > 10), "{json}");
    let json = world.run(&["doctor", "--model", "/nowhere/at/all", "--json"]).code(3).json();
    assert!(json["engine"].is_null() && json["problem"].as_str().unwrap().contains("/nowhere/at/all"), "{json}");
}

#[test]
fn help_goes_to_stdout_and_teaches() {
    let world = World::new();
    for command in ["", "complete", "test", "models", "bench", "doctor", "eval", "init"] {
        let command: Vec<&str> = command.split_whitespace().collect();
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
        "<NAME|DIR|GGUF|lookup|sibling|chain|none|auto>",
        "<auto|bass|table|K>",
        "<auto|cpu|cuda>",
        "<auto|f32|bf16|int8|int4>",
        "<rejection|coupled>",
        "<FILE|auto|none>",
        "<P|->",
        "<F[:FUNCTION|:LINE]>",
        "cuda:N is GPU number N",
        "--test-command",
        "130 interrupted",
    ] {
        assert!(words.contains(word), "no {word}: {help}");
    }
    let version = world.run(&["--version"]).code(0).out;
    assert_eq!(version, format!("bass-tui {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let world = World::new();
    world.run(&["complete", "x", "--device", "cuda:4711"]).refused(2, &["--device cuda ", "--device cpu"]);
    world.run(&["complete", "x", "--device", "tpu"]).refused(2, &["tpu"]);
}

#[test]
fn the_screen_needs_a_terminal() {
    let world = World::new();
    for args in [vec![], vec![repository("examples/numbers.py") + ":is_even"]] {
        let mut command = world.process(&args.iter().map(String::as_str).collect::<Vec<_>>());
        command.stdin(std::process::Stdio::null());
        // A session of its own does not have the terminal of this one.
        // SAFETY: setsid may be called between fork and exec.
        let done = unsafe { command.pre_exec(|| rustix::process::setsid().map(|_| ()).map_err(Into::into)) };
        let done = done.output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains("terminal") && said.contains("bass-tui complete"), "{said}");
    }
}
