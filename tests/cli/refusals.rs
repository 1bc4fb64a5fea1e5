//! Wrong input: one sentence that names the thing, the right code, an empty stdout and no file harmed. And
//! ends that come from outside.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::world::{STUB, World, candidates, is_even, model, repository, text_of};

#[test]
fn models_that_cannot_be_used() {
    let world = World::new();
    let with =
        |args: &[&str]| world.run(&[&["complete", "--json", "x", "-n", "1", "--max-tokens", "2"], args].concat());
    with(&["--model", "/nowhere/model"]).refused(2, &["/nowhere/model"]);
    with(&["--model", "no-such-model"]).refused(2, &["no-such-model", "built-in"]);
    with(&["--model", "nosuch.gguf"]).refused(2, &["no folder or GGUF file nosuch.gguf", "looked in ", "work"]);
    with(&["--seed", "18446744073709551616"]).refused(2, &["0 to 18446744073709551615"]);
    with(&["--model", &repository("tests")]).refused(2, &["config.json", "not found"]);
    with(&["--model", &model("llama"), "--draft", "/nowhere/draft"]).refused(2, &["/nowhere/draft"]);
    with(&["--model", &model("llama"), "--draft", &model("qwen2-draft")])
        .refused(2, &["qwen2-draft", "llama", "tokenizers differ", "--draft none"]);

    let folder = world.model("llama");
    let path = folder.join("config.json");
    let config = fs::read_to_string(&path).unwrap();
    fs::write(&path, config.replace("LlamaForCausalLM", "UnheardOfForCausalLM").replace("\"llama\"", "\"unheard_of\""))
        .unwrap();
    with(&["--model", &text_of(&folder)]).refused(2, &["config.json", "UnheardOf"]);
    fs::write(&path, "{ no json").unwrap();
    with(&["--model", &text_of(&folder)]).refused(2, &["config.json"]);
    fs::write(&path, config).unwrap();

    let path = folder.join("model.safetensors");
    let weights = fs::read(&path).unwrap();
    for length in [weights.len() / 2, 100, 4, 0] {
        fs::write(&path, &weights[..length]).unwrap();
        with(&["--model", &text_of(&folder)]).refused(2, &["model.safetensors"]);
    }
    fs::write(&path, weights).unwrap();
    with(&["--model", &text_of(&folder)]).code(0);
    fs::remove_file(folder.join("tokenizer.json")).unwrap();
    with(&["--model", &text_of(&folder)]).refused(2, &["tokenizer.json"]);
}

#[test]
fn prompts_that_cannot_be_completed() {
    let world = World::new();
    let run = |args: &[&str]| world.run(&[&["complete", "--json"], args].concat());
    run(&[]).refused(2, &["nothing to complete", "--file", "--prompt-ids"]);
    let file = world.file("stub.py", STUB);
    for given in [&file, &format!("{file}:f")] {
        run(&[given]).refused(2, &["is a file", &format!("--file {given}")]);
    }
    run(&[""]).refused(2, &["prompt is empty"]);
    let empty = world.file("empty.txt", "");
    run(&["--prompt-file", &empty]).refused(2, &["prompt is empty"]);
    run(&["--prompt-file", "-"]).refused(2, &["prompt is empty"]);
    run(&["--prompt-ids", ""]).refused(2, &["--prompt-ids is empty"]);
    run(&["--prompt-ids", "1,two"]).refused(2, &["two", "1,2,3"]);
    run(&["--prompt-ids", "-1"]).refused(2, &["-1", "1,2,3"]);
    run(&["--prompt-ids", "1,4000000000"]).refused(2, &["4000000000", "ids from 0 to"]);
    run(&["--prompt-file", "gone.txt"]).refused(2, &["gone.txt"]);
    let binary = world.file("binary.txt", b"abc\xff");
    run(&["--prompt-file", &binary]).refused(2, &["binary.txt", "not UTF-8"]);
    run(&["x", "--file", &is_even()]).refused(2, &["--file", "cannot be used with"]);
    run(&["--prompt-ids", "1", "--prompt-file", &empty]).refused(2, &["--prompt-file", "cannot be used with"]);
    let long = vec!["5"; 3000].join(",");
    run(&["--prompt-ids", &long]).refused(2, &["3000 tokens", "shorten"]);
    let long = world.file("long.py", "x = 1\n".repeat(2000));
    run(&["--prompt-file", &long]).refused(2, &["tokens", "shorten"]);
}

#[test]
fn files_that_cannot_be_completed() {
    let world = World::new();
    let run = |file: &str| world.run(&["complete", "--json", "--apply", "--file", file]);
    let examples = repository("examples/numbers.py");
    run("gone.py:f").refused(2, &["gone.py"]);
    run(&(examples.clone() + ":is_evn")).refused(2, &["is_evn", "did you mean `is_even`"]);
    run(&(examples + ":100000")).refused(2, &["100000"]);
    run(&text_of(&world.work())).refused(2, &["folder"]);
    let binary = world.file("latin1.py", b"def f():\n    \"\"\"Gr\xfc\xdfe.\"\"\"\n");
    run(&binary).refused(2, &["latin1.py", "UTF-8"]);
    assert_eq!(fs::read(&binary).unwrap(), b"def f():\n    \"\"\"Gr\xfc\xdfe.\"\"\"\n");
    let none = world.file("none.py", "X = 1\n");
    run(&none).refused(2, &["none.py"]);
    world.run(&["complete", "--apply", "x"]).refused(2, &["--apply", "--file FILE:FUNCTION"]);
}

#[test]
fn a_file_that_cannot_be_written_is_found_out_before_any_work() {
    let world = World::new();
    let file = world.file("mine.py", STUB);
    let mut permissions = fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).unwrap();
    if fs::OpenOptions::new().append(true).open(&file).is_ok() {
        super::skip::as_it_cannot("read-only files", "this user may write them");
        return;
    }
    world.run(&["complete", "--json", "--apply", "--file", &file]).refused(2, &["--apply", "mine.py"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), STUB);
}

#[test]
fn tests_that_cannot_be_run() {
    let world = World::new();
    let file = world.file("mine.py", STUB);
    let run = |tests: &str| world.run(&["complete", "--json", "--apply", "--file", &file, "--tests", tests]);
    let broken = world.file("broken.py", "x = 1\nassert is_even(4\n");
    run(&broken).refused(2, &["broken.py", "does not parse", "line 2"]);
    run("gone.py").refused(2, &["the tests file gone.py"]);
    run("").refused(2, &["--tests is empty"]);
    // Where nothing can be run there is nothing to agree to.
    for args in [&["test", &file, "--tests", "auto"][..], &["complete", "--file", &file, "--test-command", "true"]] {
        let done = world.command(args).env("TMPDIR", "/nonexistent").output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(
            said.contains("TMPDIR is /nonexistent, which is not there") && !said.contains("--unprotected"),
            "{said}"
        );
        assert_eq!(done.status.code(), Some(3), "{said}");
    }
    run(&text_of(&world.work())).refused(2, &["the tests file"]);
    let binary = world.file("binary.py", b"\xff");
    run(&binary).refused(2, &["binary.py"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), STUB);
}

#[test]
fn numbers_out_of_range() {
    let world = World::new();
    let run = |args: &[&str]| world.run(&[&["complete", "--json", "x"], args].concat());
    run(&["-n", "0"]).refused(2, &["-n is 0", "1 to 64"]);
    run(&["-n", "65"]).refused(2, &["-n is 65", "1 to 64"]);
    run(&["-n", "9999999999999"]).refused(2, &["1 to 64"]);
    run(&["-n", "-1"]).refused(2, &["-1"]);
    run(&["-n", "many"]).refused(2, &["many"]);
    run(&["--temperature", "-1"]).refused(2, &["temperature is -1"]);
    run(&["--temperature", "nan"]).refused(2, &["temperature"]);
    run(&["--top-p", "0"]).refused(2, &["top-p"]);
    run(&["--top-p", "1.5"]).refused(2, &["top-p"]);
    run(&["--top-k", "0"]).refused(2, &["top-k"]);
    run(&["--min-p", "2"]).refused(2, &["min-p"]);
    run(&["--repetition-penalty", "0"]).refused(2, &["repetition"]);
    run(&["--max-tokens", "0"]).refused(2, &["--max-tokens"]);
    run(&["--threads", "1000000"]).refused(2, &["--threads"]);
    run(&["--draft-length", "65"]).refused(2, &["--draft-length", "65"]);
    run(&["--accept", "always"]).refused(2, &["always", "coupled"]);
    run(&["--device", "tpu"]).refused(2, &["tpu"]);
    run(&["--dtype", "f8"]).refused(2, &["f8", "auto, f32, bf16, int8 or int4"]);
    run(&["--time-budget", "-1s"]).refused(2, &["--time-budget"]);
    run(&["--time-budget", "3 weeks"]).refused(2, &["--time-budget", "weeks"]);
    run(&["--stop", ""]).refused(2, &["--stop"]);
    run(&["--stop", "-n", "1"]).refused(2, &["--stop"]);
    run(&["--no-such-flag"]).refused(2, &["--no-such-flag"]);
}

#[test]
fn settings_that_are_wrong() {
    let world = World::new();
    let args = ["complete", "--json", "x", "-n", "1", "--max-tokens", "2"];
    world.config("temperature = 'hot'\n");
    world.run(&args).refused(2, &["config.toml", "line 1", "temperature"]);
    world.config("n = [\n");
    world.run(&args).refused(2, &["config.toml"]);
    world.config("temprature = 1\n");
    let done = world.run(&args).code(0);
    assert!(done.err.contains("temprature") && done.err.contains("`temperature`"), "{}", done.err);
    done.json();
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = World::new();
    for stderr in [Stdio::null(), Stdio::piped()] {
        let mut process = world
            .process(&["complete", "--file", &is_even(), "-n", "2"])
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        drop(process.stdout.take());
        drop(process.stderr.take());
        assert_eq!(process.wait().unwrap().code(), Some(0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let world = World::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let out =
        world.process(&["models"]).stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(3));
    assert!(String::from_utf8(out.stderr).unwrap().contains("stdout cannot be written"));
}

/// Sends the signal that Ctrl-C sends after `wait`; gives what a shell takes for the exit code, and stdout.
#[cfg(unix)]
fn interrupted(world: &World, args: &[&str], wait: Duration) -> (Option<i32>, String) {
    use std::os::unix::process::ExitStatusExt;

    let process = world.process(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(wait);
    let pid = libc::pid_t::try_from(process.id()).unwrap();
    // SAFETY: sends a signal to a child that has not been waited for, so the id is still its own.
    unsafe { libc::kill(pid, libc::SIGINT) };
    let out = process.wait_with_output().unwrap();
    // On a slow machine the signal can come before the program has taken it over.
    let code = out.status.code().or(out.status.signal().map(|signal| 128 + signal));
    (code, String::from_utf8(out.stdout).unwrap())
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_generation_with_130() {
    let world = World::new();
    // Random weights never stop: this takes far longer than any test.
    let args = ["--json", "--prompt-ids", "1", "-n", "64", "--max-tokens", "2000", "--draft", "none", "--model"];
    let folder = model("llama");
    let args: Vec<&str> = ["complete"].into_iter().chain(args).chain([folder.as_str()]).collect();
    for wait in [Duration::from_millis(1500), Duration::from_millis(40)] {
        let (code, out) = interrupted(&world, &args, wait);
        assert_eq!(code, Some(130), "{out}");
        if !out.is_empty() {
            let report: Value = serde_json::from_str(&out).expect("whole JSON");
            assert!(report["picked"].is_null());
            assert!(candidates(&report).iter().any(|c| c["finish"] == "cancelled"));
        }
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_comparison_with_130() {
    let args = ["bench", "--batch", "64", "--repeat", "100", "--draft-lengths", "plain"];
    let outcome = interrupted(&World::new(), &args, Duration::from_millis(500));
    assert_eq!(outcome, (Some(130), String::new()));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_trial_with_130() {
    let world = World::new();
    let file = world.file("mine.py", STUB);
    let tests = world.file("t.py", "import time\ntime.sleep(60)\nassert is_even(4)\n");
    let wait = Duration::from_secs(2);
    let args = ["complete", "--json", "--file", &file, "--tests", &tests, "-n", "2", "--apply", "--timeout", "30s"];
    let (code, out) = interrupted(&world, &args, wait);
    assert_eq!(code, Some(130), "{out}");
    assert!(!out.contains("timeout"), "the trial was waited for: {out}");
    assert_eq!(fs::read_to_string(&file).unwrap(), STUB);

    let candidate = world.file("slow.py", "def f():\n    while True:\n        pass\n");
    let tests = world.file("u.py", "assert f()\n");
    let (code, out) = interrupted(&world, &["test", &candidate, "--tests", &tests, "--timeout", "30s", "--json"], wait);
    assert_eq!(code, Some(130), "{out}");
    assert!(!out.contains("timeout"), "{out}");
}

#[test]
fn what_is_no_file_is_refused_at_once_wherever_a_file_is_expected() {
    let world = World::new();
    let pipe = text_of(&world.work().join("pipe.py"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let stub = world.file("stub.py", STUB);
    let folder = world.model("llama");
    fs::remove_file(folder.join("config.json")).unwrap();
    std::os::unix::fs::symlink(&pipe, folder.join("config.json")).unwrap();
    let cases: [&[&str]; 7] = [
        &["complete", "--json", "--file", &pipe],
        &["complete", "--json", "--prompt-file", &pipe],
        &["complete", "--json", "--file", &stub, "--tests", &pipe],
        &["complete", "--json", "x", "--model", &text_of(&folder)],
        &["test", &pipe, "--tests", &stub],
        &["test", &stub, "--tests", &pipe],
        &["eval", &pipe],
    ];
    for args in cases {
        world.run(args).refused(2, &["a pipe, expected a file"]);
    }
    world.config("");
    let config = world.surroundings()[0].1.join("config.toml");
    fs::remove_file(&config).unwrap();
    std::os::unix::fs::symlink("/dev/zero", config).unwrap();
    world.run(&["complete", "--json", "x"]).refused(2, &["config.toml", "a device, expected a file"]);
}

#[test]
fn what_is_too_large_is_not_read() {
    let world = World::new();
    let large = text_of(&world.work().join("large.py"));
    fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    let stub = world.file("stub.py", STUB);
    for args in [&["complete", "--json", "--file", &large][..], &["test", &stub, "--tests", &large], &["eval", &large]]
    {
        world.run(args).refused(2, &["larger than", "MiB"]);
    }
}
