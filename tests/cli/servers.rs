//! `--server`: candidates of a server, tested and picked as those of this machine.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::server::odd::{FRAMINGS, Odd, REFUSALS, SHAPES, named};
use super::server::{Model, Server, begin, event};
use super::world::{Done, World, candidates, isolated, keys};

const TWICE: &str =
    "def twice(x):\n    \"\"\"Twice x.\n\n    >>> twice(2)\n    4\n    >>> twice(3)\n    6\n    \"\"\"\n    pass\n";

/// Eight answers of which three pass, two in the same words.
const BODIES: [&str; 8] = [
    "    return x\n\n\nprint(1)\n", "    return x * 3\n", "    return x + x\n", "    return x ** 2\n",
    "    return 2 * x\n", "    return 2 * x  # so\n", "    return x +\n", "    return None\n",
];

fn run(world: &World, args: &[&str], key: Option<&str>) -> Done {
    let mut command = world.command(args);
    if let Some(key) = key {
        command.env("BASS_TUI_SERVER_KEY", key);
    }
    let out = command.output().expect("the program");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Done { code: out.status.code(), out: text(out.stdout), err: text(out.stderr) }
}

/// `complete --json` of that function over this server.
fn complete(world: &World, server: &Server, more: &[&str]) -> Done {
    let file = world.file("a.py", TWICE) + ":twice";
    let args = ["complete", "--json", "--file", &file, "--server", &server.address, "--agree", "off"];
    run(world, &[&args[..], more].concat(), None)
}

#[test]
fn eight_candidates_of_a_server_come_with_their_verdicts() {
    let world = World::new();
    for (n, logprobs, chat) in [(true, true, false), (false, true, false), (true, false, false), (false, false, true)] {
        let fenced = |body: &&str| format!("Sure:\n```python\ndef twice(x):\n{body}```\nThat is it.\n");
        let bodies: Vec<String> = BODIES.iter().map(|b| if chat { fenced(b) } else { (*b).to_owned() }).collect();
        let texts: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let server = Server::good(Model { n, logprobs, chat, ..Model::new(&texts) });
        let done = complete(&world, &server, &[]).code(0);
        let report = done.json();
        let what = format!("n {n}, logprobs {logprobs}, chat {chat}: {report}");
        let status: Vec<&str> = candidates(&report).iter().map(|c| c["verdict"]["status"].as_str().unwrap()).collect();
        if isolated() {
            let (passed, failed) = ("passed", "failed");
            assert_eq!(status, [failed, failed, passed, failed, passed, passed, "error", failed], "{what}");
            let ranking: Vec<u64> =
                report["ranking"].as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).collect();
            assert!(ranking[..3].iter().all(|c| [2, 4, 5].contains(c)), "those that passed rank first: {what}");
        }
        assert_eq!(candidates(&report)[0]["text"], "    return x\n", "ends with its function: {what}");
        assert_eq!(candidates(&report)[5]["duplicate_of"], 4, "{what}");
        // The server's log-probabilities tell the best; without them it is the most frequent text.
        assert_eq!(report["picked"], if logprobs { 2 } else { 4 }, "{what}");
        assert_eq!(report["model"], Model::NAME);
        assert_eq!(report["device"], server.address);
        // Values that a server does not tell are absent.
        let known = keys(&report).replace("prompt_tokens ", "");
        assert_eq!(known, "candidates device model picked ranking seed stats", "{what}");
        let figures = if logprobs { "logprobs mean_logprob " } else { "" };
        let expected = format!("duplicate_of finish index {figures}text verdict");
        assert_eq!(keys(&candidates(&report)[0]), expected, "{what}");
        assert!(report["stats"].get("accepted").is_none() && report["stats"].get("steps").is_none(), "{what}");
        assert_eq!(done.err.contains("tells no log-probabilities"), !logprobs, "{}", done.err);
        let asked: Vec<_> = server.asked().into_iter().filter(super::server::ReceivedRequest::is_real).collect();
        assert_eq!(asked.len(), if n { 1 } else { 8 }, "{what}");
        let said = if chat { &asked[0].body["messages"][0]["content"] } else { &asked[0].body["prompt"] };
        assert!(said.as_str().unwrap().contains("def twice(x):"), "{said}");
    }
}

#[test]
fn candidates_of_an_odd_server_are_tested_and_picked_like_all() {
    let world = World::new();
    let cases: [(&str, &str, &str, &'static [&'static str], bool); 4] = [
        (
            "one JSON body",
            "text in parts",
            "places of faults",
            &["seed", "top_p", "stream_options", "max_tokens"],
            false,
        ),
        ("lines with CRLF", "index as a text", "a list of errors", &["n", "logprobs", "temperature"], true),
        ("events as JSON", "a reason without words", "a plain text", &["stream_options", "top_p"], true),
        ("no reason at the end", "no usage", "another spelling", &["stream", "max_tokens", "seed"], false),
    ];
    for (framing, shape, refusal, refuses, chat) in cases {
        let fenced = |body: &&str| format!("Sure:\n```python\ndef twice(x):\n{body}```\nThat is it.\n");
        let bodies: Vec<String> = BODIES.iter().map(|b| if chat { fenced(b) } else { (*b).to_owned() }).collect();
        let texts: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let odd = Odd {
            framing: named(FRAMINGS, framing),
            shape: named(SHAPES, shape),
            refusal: named(REFUSALS, refusal),
            refuses,
            ..Odd::new(Model { chat, ..Model::new(&texts) })
        };
        let done = complete(&world, &odd.start(), &[]).code(0);
        let report = done.json();
        assert_eq!(candidates(&report)[0]["text"], "    return x\n", "{framing}: {report}");
        assert_eq!(report["picked"], if refuses.contains(&"logprobs") { 4 } else { 2 }, "{framing}: {report}");
        assert!(report["stats"].get("tokens_per_second").is_none(), "{framing}: {report}");
        let settings: Vec<&str> =
            ["seed", "temperature", "top_p"].into_iter().filter(|name| refuses.contains(name)).collect();
        let note = format!("does not take {}: its own values count", settings.join(", "));
        assert!(done.err.contains(&note), "{framing}: {}", done.err);
    }
}

#[test]
fn a_table_of_a_server_says_what_is_known() {
    let world = World::new();
    let server = Server::good(Model::new(&BODIES));
    let file = world.file("a.py", TWICE) + ":twice";
    let plain = ["complete", "--file", &file, "--server", &server.address, "--no-stop-on-pass"];
    let done = run(&world, &plain, None).code(0);
    assert!(done.out.ends_with("    return x + x\n"), "{}", done.out);
    assert!(done.err.contains(&format!("{} at {}", Model::NAME, server.address)), "{}", done.err);
    assert!(!done.err.contains("draft") && !done.err.contains("accepted"), "{}", done.err);
    assert!(done.err.contains(" tokens; ") && !done.err.contains("tokens/s"), "it came all at once: {}", done.err);
    let prompt = run(&world, &[&plain[..], &["--show-prompt"]].concat(), None).code(0);
    assert!(prompt.out.contains("def twice(x):"), "{}", prompt.out);
}

#[test]
fn problem_sets_are_scored_over_a_server() {
    let world = World::new();
    let tests = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 6\n";
    let problem = serde_json::json!({ "task_id": "T/0", "prompt": "def twice(x):\n", "entry_point": "twice",
        "canonical_solution": "    return x + x\n", "test": tests });
    let problems = world.file("p.jsonl", problem.to_string());
    // The most probable one fails; what most of them say passes.
    for (logprobs, first) in [(true, 0), (false, 4)] {
        let server = Server::good(Model { n: false, logprobs, ..Model::new(&BODIES) });
        let report = run(&world, &["eval", &problems, "--server", &server.address, "-n", "8", "--json"], None);
        let report = report.code(0).json();
        assert_eq!((&report["pass_at_all"], &report["problems"][0]["passed"]), (&1.0.into(), &3.into()), "{report}");
        assert_eq!(report["problems"][0]["first"], first, "{report}");
        assert_eq!(report["pass_at_first"], if first == 4 { 1.0 } else { 0.0 }, "{report}");
    }
}

#[test]
fn a_server_that_cannot_be_used_is_a_sentence() {
    let world = World::new();
    let file = world.file("a.py", TWICE) + ":twice";
    let with = |server: &str, more: &[&str]| {
        run(&world, &[&["complete", "--file", &file, "--server", server][..], more].concat(), None)
    };
    with("127.0.0.1:80", &[]).refused(2, &["--server is 127.0.0.1:80, expected the address of a server"]);
    let server = Server::good(Model::new(&BODIES));
    with(&server.address, &["--server-model", "big"]).refused(2, &["has no model big; it has tiny-coder"]);
    let closed = Server::good(Model { key: Some("k".to_owned()), ..Model::new(&BODIES) });
    with(&closed.address, &[]).refused(2, &["answers 401", "BASS_TUI_SERVER_KEY"]);
}

#[test]
fn code_that_cannot_be_loaded_is_neither_picked_nor_written() {
    let world = World::new();
    if !isolated() {
        return;
    }
    let text = "def twice(x):\n    \"\"\"Twice x.\"\"\"\n    pass\n";
    let file = world.file("a.py", text);
    let of = |bodies: &[&str]| {
        let server = Server::good(Model::new(bodies));
        let args = ["complete", "--file", &format!("{file}:twice"), "--server", &server.address];
        let n = bodies.len().to_string();
        run(&world, &[&args[..], &["-n", &n, "--rounds", "2", "--apply"]].concat(), None)
    };
    let one = of(&["    return (x\n"]).code(1);
    assert!(one.err.contains("no candidate can be used ("), "one alone: {}", one.err);
    let done = of(&["    return (x\n", "    return x +\n"]).code(1);
    assert!(done.err.contains("cannot be loaded: SyntaxError"), "{}", done.err);
    assert!(done.err.contains("no candidate can be used (") && done.err.contains("is as it was"), "{}", done.err);
    assert_eq!((std::fs::read_to_string(&file).unwrap().as_str(), done.out.as_str()), (text, ""));
    // One that can be is.
    of(&["    return (x\n", "    return 2 * x\n"]).code(0);
    assert!(std::fs::read_to_string(&file).unwrap().ends_with("    return 2 * x\n"));
}

#[test]
fn a_function_that_has_a_body_is_changed_as_a_sentence_says() {
    let world = World::new();
    let text = "def shout(text):\n    return text.upper()\n\n\ndef other():\n    return shout('a')\n";
    let file = world.file("a.py", text);
    let change = |bodies: &[&str], sentence: &str, more: &[&str]| {
        let server = Server::good(Model::new(bodies));
        let at = format!("{file}:shout");
        let args = ["complete", "--json", "--file", &at, "--server", &server.address, "--change", sentence];
        let n = bodies.len().to_string();
        let done = run(&world, &[&args[..], &["-n", &n], more].concat(), None);
        let asked: Vec<_> = server.asked().into_iter().filter(super::server::ReceivedRequest::is_real).collect();
        let prompts: Vec<String> = asked.iter().map(|one| one.body["prompt"].as_str().unwrap().to_owned()).collect();
        (done, prompts)
    };
    let unless = "    return (text or '').upper()\n";
    let (done, prompts) =
        change(&["    return text.upper()\n", unless, "    return text.upper() # so\n"], "also  accept\nNone", &[]);
    let report = done.code(0).json();
    let shown = "# Before the change:\n# def shout(text):\n#     return text.upper()\n# Change: also accept None\ndef shout(text):\n";
    assert!(prompts.len() == 1 && prompts[0].ends_with(shown), "{prompts:?}");
    assert_eq!(report["picked"], 1, "{report}");
    let changed = &report["agreement"]["changed"];
    assert!(changed[0].as_u64() > Some(0) && changed[1] == 0, "the function as it was is called, too: {report}");
    assert_eq!(report["agreement"]["groups"], json!([[1], [0, 2]]), "those that change nothing have no vote: {report}");
    let as_it_was = json!(["it is the function as it was"]);
    assert_eq!(candidates(&report)[0]["verdict"]["assurance"]["marks"], as_it_was, "{report}");

    // Parameters that the sentence speaks of are asked for first, and all candidates have them.
    let bodies = ["(text, mark='!'):\n", "    return text.upper() + mark\n"];
    let (done, prompts) = change(&bodies, "add a parameter mark, default '!'", &["--apply"]);
    done.code(0);
    assert!(prompts.len() == 2 && prompts[0].ends_with("\ndef shout"), "{prompts:?}");
    let head = "def shout(text, mark='!'):\n";
    assert!(prompts[1].ends_with(head), "{prompts:?}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with(&format!("{head}    return text")), "{prompts:?}");
    world.run(&["undo"]).code(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    // A script is told the head that bodies are for.
    let (done, _) = change(&bodies, "add a parameter mark, default '!'", &[]);
    assert_eq!(done.code(0).json()["head"], head);

    // So is a docstring: with it the body may stay.
    let docs = ["Loud.\"\"\"\n    return text.upper()\n", "    return text.upper()\n"];
    let (done, prompts) = change(&docs, "add a docstring", &["--apply"]);
    done.code(0);
    assert!(prompts.len() == 2 && prompts[0].ends_with("\ndef shout(text):\n    \"\"\""), "{prompts:?}");
    let head = "def shout(text):\n    \"\"\"Loud.\"\"\"\n";
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text.replace("def shout(text):\n", head));
    world.run(&["undo"]).code(0);

    // None that leaves the function as it was is picked, and none is written.
    let (done, _) = change(&["    return text.upper()\n"], "add a parameter mark", &["--apply"]);
    assert!(done.err.contains("no new parameters came of the sentence"), "{}", done.err);
    assert!(done.code(1).err.contains("no candidate changes the function"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    world.run(&["complete", "--file", &file, "--change", " "]).refused(2, &["say what to change"]);
    world.run(&["complete", "def f(x):", "--change", "x"]).refused(2, &["--change"]);
}

#[test]
fn a_candidate_that_breaks_off_says_why_and_the_others_are_tested() {
    let world = World::new();
    let model = Model { n: false, ..Model::new(&BODIES) };
    let server = Server::start(move |asked, out| {
        if asked.is_real() && asked.body["seed"].as_u64().unwrap_or(0) % 64 == 2 {
            begin(out);
            event(out, r#"{"choices":[{"index":0,"text":"    return x"}]}"#);
        } else {
            model.answer(asked, out);
        }
    });
    let report = complete(&world, &server, &[]).code(0).json();
    let broken = &candidates(&report)[2];
    assert_eq!((&broken["finish"], &broken["text"]), (&"failed".into(), &"    return x".into()), "{report}");
    let verdict = &broken["verdict"];
    assert_eq!(verdict["status"], "not_run");
    assert!(verdict["message"].as_str().unwrap().contains("ended its answer before the candidate's end"), "{verdict}");
    assert_eq!((&report["picked"], &report["ranking"][7]), (&4.into(), &2.into()), "{report}");
}

#[test]
fn a_key_is_sent_and_never_seen() {
    const KEY: &str = "sk-never-seen-77";
    let world = World::new();
    let file = world.file("a.py", TWICE) + ":twice";
    // One that is taken, and one whose refusal repeats it.
    for (server, code) in [(KEY, 0), ("another", 2)] {
        let server = Server::good(Model { key: Some(server.to_owned()), ..Model::new(&BODIES) });
        for by_file in [false, true] {
            let keys = world.surroundings()[0].1.join("server-keys.toml");
            if by_file {
                std::fs::create_dir_all(keys.parent().unwrap()).unwrap();
                std::fs::write(&keys, format!("'{}' = '{KEY}'\n", server.address)).unwrap();
                std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
            }
            for more in [&["--json"][..], &["--apply"]] {
                let args = [&["complete", "--file", &file, "--server", &server.address][..], more].concat();
                let done = run(&world, &args, Some(KEY).filter(|_| !by_file)).code(code);
                assert!(!done.out.contains(KEY) && !done.err.contains(KEY), "{}{}", done.out, done.err);
                world.file("a.py", TWICE);
            }
            let doctor = run(&world, &["doctor", "--json", "--server", &server.address], Some(KEY));
            assert!(!doctor.out.contains(KEY) && !doctor.err.contains(KEY), "{}", doctor.out);
            if by_file {
                std::fs::remove_file(&keys).unwrap();
            }
        }
        let sent = server.asked().iter().all(|asked| asked.headers["authorization"] == format!("Bearer {KEY}"));
        assert!(sent && !server.asked().is_empty());
    }
    let mut folders = vec![world.state().parent().unwrap().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                let bytes = std::fs::read(&entry).unwrap_or_default();
                assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{}", entry.display());
            }
        }
    }
}

#[test]
fn a_name_of_the_catalog_is_a_server_and_its_model() {
    let world = World::new();
    let server = Server::good(Model { suffix: true, ..Model::new(&BODIES) });
    let folder = world.surroundings()[0].1.clone();
    std::fs::create_dir_all(&folder).expect("a folder");
    let catalog = |more: &str| {
        let text = format!("[[model]]\nname = 'team'\nserver = '{}'\ndescription = 'Ours.'\n{more}\n", server.address);
        std::fs::write(folder.join("models.toml"), text).expect("a file");
    };
    let file = world.file("a.py", format!("{TWICE}\n\nprint(twice(2))\n")) + ":twice";
    let with = |more: &[&str]| {
        run(&world, &[&["complete", "--json", "--file", &file, "--model", "team"][..], more].concat(), None)
    };
    let real = |server: &Server| -> Vec<_> {
        server.asked().into_iter().filter(super::server::ReceivedRequest::is_real).collect()
    };
    catalog(&format!("server_model = '{}'", Model::NAME));
    let report = with(&[]).code(0).json();
    assert_eq!(
        (&report["device"], &report["model"]),
        (&server.address.clone().into(), &Model::NAME.into()),
        "{report}"
    );
    assert!(real(&server).iter().all(|asked| asked.body.get("suffix").is_none()));
    // A model that fills in is sent what stands after the function, apart.
    catalog("suffix = true");
    with(&[]).code(0);
    let asked = real(&server).pop().expect("a request");
    assert!(asked.body["prompt"].as_str().is_some_and(|text| text.ends_with("\"\"\"\n")), "{}", asked.body);
    assert_eq!(asked.body["suffix"].as_str().map(str::trim), Some("print(twice(2))"), "{}", asked.body);
    let by_flag = ["complete", "--file", &file, "--server", &server.address, "--server-suffix", "yes"];
    run(&world, &by_flag, None).code(0);
    assert!(real(&server).pop().expect("a request").body["suffix"].is_string());
    // Whoever says it twice, differently, means one of both.
    with(&["--server", "http://127.0.0.1:9"])
        .refused(2, &["the model team is on a server", "leave one of the two out"]);
    catalog("server_model = 'big'");
    with(&[]).refused(2, &["has no model big"]);
    catalog("main = '/m'");
    with(&[]).refused(2, &["`team`", "both `main` and `server`"]);
    catalog("");
    for command in [&["serve", "--model", "team"][..], &["bench", "--model", "team"], &["models", "show", "team"]] {
        world.run(command).refused(2, &["`team` is on a server"]);
    }
    world.run(&["models", "pull", "team"]).refused(2, &["team is on a server"]);
    let listed = world.run(&["models"]).code(0).out;
    assert!(listed.contains(&format!("server   at {}  Ours.", server.address)), "{listed}");
    // Whoever writes a password into an address does not find it on the screen.
    std::fs::write(folder.join("models.toml"), "[[model]]\nname = 'team'\nserver = 'http://me:secret-9@h:1'\n")
        .expect("a file");
    for command in [&["models"][..], &["models", "--json"], &["complete", "def f():", "--model", "team"]] {
        let done = run(&world, command, None);
        assert!(!done.out.contains("secret-9") && !done.err.contains("secret-9"), "{}{}", done.out, done.err);
    }
}

#[test]
fn a_server_that_does_not_fill_in_is_not_sent_what_stands_after() {
    let world = World::new();
    let file = world.file("a.py", TWICE) + ":twice";
    let with = |server: &Server| {
        let args = ["complete", "--file", &file, "--server", &server.address, "--server-suffix", "yes"];
        run(&world, &args, None)
    };
    let deaf = Server::good(Model::new(&BODIES));
    with(&deaf).refused(2, &["passes over `suffix`", "--server-suffix", "models.toml"]);
    let chat = Server::good(Model { chat: true, suffix: true, ..Model::new(&BODIES) });
    with(&chat).refused(2, &["is asked in conversations, which have no `suffix`"]);
    let model = Model::new(&BODIES);
    let strict = Server::start(move |asked, out| {
        if asked.body.get("suffix").is_some() {
            return super::server::send(
                out,
                "400 Bad Request",
                "",
                r#"{"error":{"message":"suffix is not currently supported"}}"#,
            );
        }
        model.answer(asked, out);
    });
    with(&strict).refused(2, &["does not take `suffix`", "suffix is not currently supported"]);
    assert!(!deaf.asked().iter().any(super::server::ReceivedRequest::is_real));
}
