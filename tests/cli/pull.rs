//! `models pull`, `path` and `remove` against a server that behaves like the hub.

use std::collections::HashMap;
use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::hub::{Content, Hub};
use super::world::{Done, World, model, text_of};

/// The files of a golden model. A test of the library has checksums; here the weights are small enough.
fn files() -> HashMap<String, Content> {
    let files = ["config.json", "generation_config.json", "tokenizer.json", "model.safetensors"];
    let content = |file: &str| {
        let bytes = fs::read(format!("{}/{file}", model("qwen2"))).unwrap();
        Content { etag: format!("{:040x}", bytes.len()), bytes, large: file.ends_with("safetensors") }
    };
    files.map(|file| (file.to_owned(), content(file))).into()
}

/// Runs the program against the hub.
fn run(world: &World, hub: &Hub, args: &[&str]) -> Done {
    let mut command = world.command(args);
    for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    let out = command.env("HF_ENDPOINT", &hub.endpoint).env("HF_TOKEN", "hf_secret").output().expect("the program");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let done = Done { code: out.status.code(), out: text(out.stdout), err: text(out.stderr) };
    assert!(!done.out.contains("hf_secret") && !done.err.contains("hf_secret"), "{} {}", done.out, done.err);
    assert!(!done.err.contains("s3cret"), "the signature of a link: {}", done.err);
    done
}

#[test]
fn a_pulled_model_is_used_by_name_and_removed() {
    let (world, hub) = (World::new(), Hub::start("org/tiny", files()));
    world.run(&["models", "show", "org/tiny"]).refused(2, &["models pull org/tiny"]);
    let done = run(&world, &hub, &["models", "pull", "org/tiny"]).code(0);
    assert!(done.out.contains("--model org/tiny"), "{}", done.out);
    assert!(done.err.contains("org/tiny: model.safetensors") && done.err.contains("org/tiny is here"), "{}", done.err);
    for asked in hub.asked() {
        assert_eq!(asked.headers.contains_key("authorization"), !asked.at_store, "{}", asked.path);
    }
    let again = run(&world, &hub, &["models", "pull", "org/tiny", "--json"]).code(0).json();
    assert_eq!((&again[0]["downloaded"], &again[0]["repository"]), (&json!(0), &json!("org/tiny")));
    let path = world.run(&["models", "path", "org/tiny"]).code(0).out;
    assert!(path.contains(hub.commit()), "{path}");
    let report = world.complete(&["--model", "org/tiny", "--prompt-ids", "1,2,3", "-n", "1", "--max-tokens", "4"]);
    assert_eq!(report["candidates"].as_array().map(Vec::len), Some(1));

    world.run(&["models", "remove", "org/tiny"]).refused(2, &["org/tiny: ", "--yes"]);
    let done = world.run(&["models", "remove", "org/tiny", "--yes"]).code(0);
    assert!(done.out.starts_with("deleted org/tiny: "), "{}", done.out);
    world.run(&["models", "remove", "org/tiny", "--yes"]).refused(2, &["nothing of org/tiny"]);
    world.run(&["models", "show", "org/tiny"]).refused(2, &["not on this machine"]);
}

#[test]
fn an_entry_brings_its_draft_model() {
    let (world, hub) = (World::new(), Hub::start("org/tiny", files()));
    let folder = world.surroundings()[0].1.clone();
    fs::create_dir_all(&folder).unwrap();
    let entry = |name: &str, main: &str| format!("[[model]]\nname = '{name}'\nmain = '{main}'\ndraft = 'org/tiny'\n");
    let toml = entry("big", "org/big") + &entry("pair", "org/tiny@main") + &entry("other", &model("llama"));
    fs::write(folder.join("models.toml"), toml).unwrap();
    run(&world, &hub, &["models", "pull", "big"]).refused(2, &["no repository org/big"]);
    let both = run(&world, &hub, &["models", "pull", "pair", "--json"]).code(0).json();
    assert_eq!(both.as_array().map(Vec::len), Some(2));
    let other = run(&world, &hub, &["models", "pull", "other", "--json"]).code(0).json();
    assert_eq!((other[0]["repository"].as_str(), other[0]["downloaded"].as_u64()), (Some("org/tiny"), Some(0)));
    world.run(&["models", "pull", "built-in"]).refused(2, &["not from the hub"]);
    world.run(&["models", "pull", "biult-in"]).refused(2, &["known are built-in"]);
}

#[test]
fn a_quantisation_is_named_as_elsewhere() {
    let content = |name: &str| {
        let bytes = name.as_bytes().to_vec();
        let etag = name.replace('.', "-");
        (name.to_owned(), Content { etag, bytes, large: true })
    };
    let files = [
        "m-Q4_K_M.gguf", "m-UD-Q4_K_XL.gguf", "mmproj-F16.gguf", "m-Q8_0-00001-of-00002.gguf",
        "m-Q8_0-00002-of-00002.gguf",
    ];
    let files = files.map(content).into();
    let (world, hub) = (World::new(), Hub::start("org/tiny", files));
    run(&world, &hub, &["models", "pull", "-hf", "org/tiny:Q2_K"]).refused(2, &["Q2_K is no file", "m-Q4_K_M.gguf"]);
    let file = |name: &str| {
        let path = world.run(&["models", "path", name]).code(0).out;
        path.trim_end().rsplit('/').next().unwrap().to_owned()
    };
    for (args, found) in [
        (&["hf.co/org/tiny:q4_k_m"][..], "m-Q4_K_M.gguf"),
        (&["https://huggingface.co/org/tiny:UD-Q4_K_XL"], "m-UD-Q4_K_XL.gguf"),
        (&["-hf", "org/tiny:Q8_0"], "m-Q8_0-00001-of-00002.gguf"),
    ] {
        let done = run(&world, &hub, &[&["models", "pull"], args].concat()).code(0);
        assert!(done.out.contains("use it with --model"), "{}", done.out);
        assert_eq!(file(args.last().unwrap()), found);
    }
    // Without one it is the usual one, as those programs have it.
    run(&world, &hub, &["models", "pull", "--hf-repo", "org/tiny"]).code(0);
    assert_eq!(file("hf.co/org/tiny"), "m-Q4_K_M.gguf");
    world.run(&["models", "path", "org/tiny:Q2_K"]).refused(2, &["are here m-Q4_K_M.gguf, m-Q8_0-00001-of-00002.gguf"]);
    // Elsewhere it is `--model`, and a setting may be written so.
    let stub = ["complete", "-hf", "org/tiny:Q4_K_M", "--prompt-ids", "1"];
    world.run(&stub).refused(2, &["m-Q4_K_M.gguf"]);
    world.config("model = '-hf hf.co/org/tiny:UD-Q4_K_XL'\n");
    world.run(&["complete", "--prompt-ids", "1"]).refused(2, &["m-UD-Q4_K_XL.gguf"]);
    world.config("model = '-hf org/other:Q8_0'\n");
    world.run(&["complete", "--prompt-ids", "1"]).refused(2, &["models pull org/other:Q8_0"]);
}

#[test]
fn what_cannot_be_read_is_not_downloaded() {
    let (world, hub) = (World::new(), Hub::start("org/tiny", files()));
    let folder = world.surroundings()[0].1.clone();
    fs::create_dir_all(&folder).unwrap();
    let toml = "[[model]]\nname = 'new'\nmain = 'org/tiny:m.gguf'\narchitecture = 'unheard-of'\n";
    fs::write(folder.join("models.toml"), toml).unwrap();
    run(&world, &hub, &["models", "pull", "new"]).refused(2, &["cannot read its architecture unheard-of"]);
    assert_eq!(hub.asked().len(), 0);
    let listed = world.run(&["models"]).code(0).out;
    assert!(listed.contains("cannot be used: this version cannot read unheard-of"), "{listed}");
}

#[test]
fn refused_downloads_have_their_exit_codes() {
    let (world, hub) = (World::new(), Hub::start("org/tiny", files()));
    run(&world, &hub, &["models", "pull", "org/none"]).refused(2, &["no repository org/none"]);
    hub.faults().closed = Some((403, "GatedRepo", "another".to_owned()));
    run(&world, &hub, &["models", "pull", "org/tiny"]).refused(2, &["gated", "accept its terms", "has no access"]);
    let mut command = world.command(&["models", "pull", "org/tiny"]);
    let out = command.env("HF_ENDPOINT", "http://127.0.0.1:1").env("NO_PROXY", "*").output().unwrap();
    let err = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.code() == Some(3) && err.contains("cannot be reached"), "{err}");
    let mut command = world.command(&["models", "pull", "org/tiny"]);
    let out = command.env("HF_ENDPOINT", "huggingface").output().unwrap();
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn an_interrupted_download_is_gone_on_with() {
    let mut files = files();
    let size = 1 << 20;
    files.insert("m.gguf".to_owned(), Content { bytes: vec![1; size], etag: "a".repeat(40), large: true });
    let (world, hub) = (World::new(), Hub::start("org/tiny", files));
    hub.faults().slow = Some(std::time::Duration::from_millis(20));
    let mut process = world.process(&["models", "pull", "org/tiny:m.gguf"]);
    process.env("HF_ENDPOINT", &hub.endpoint).env("NO_PROXY", "*").stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = process.spawn().unwrap();
    let part = world.surroundings()[4].1.join("models--org--tiny/blobs").join("a".repeat(40) + ".incomplete");
    while fs::metadata(&part).map_or(0, |m| m.len()) < 4096 {
        assert!(child.try_wait().unwrap().is_none(), "it has ended early");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    hub.faults().slow = None;
    let have = fs::metadata(&part).unwrap().len();
    let done = run(&world, &hub, &["models", "pull", "org/tiny:m.gguf", "--json"]).code(0).json();
    assert_eq!(done[0]["downloaded"], json!(size as u64 - have));
    let path = world.run(&["models", "path", "org/tiny:m.gguf"]).code(0).out;
    assert_eq!(fs::read(path.trim_end()).unwrap().len(), size, "{}", text_of(&part));
}
