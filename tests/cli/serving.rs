//! `bass-tui serve`: the same candidates over HTTP, to many at a time, and a sentence for whatever is wrong.

use std::io::Read;
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::served::{Served, choices, read};
use super::world::{World, candidates, ids, isolated, model, repository, text_of, token_ids};

const PROMPT: &str = "def add(a, b):\n    \"\"\"Add a and b.\"\"\"\n";

#[test]
fn what_is_served_is_what_the_engine_writes_also_for_many_at_a_time() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let ask = |seed: usize, n: usize, more: Value| {
        let mut body = json!({ "prompt": PROMPT, "n": n, "seed": seed, "max_tokens": 24, "temperature": 0.9,
                               "top_p": 0.95, "logprobs": 1, "return_token_ids": true });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    // Neither what else is in the batch nor how it is asked for makes a difference.
    let answers: Vec<(Value, Vec<Value>)> = thread::scope(|scope| {
        let one = |seed: usize| {
            let served = &served;
            scope.spawn(move || {
                let whole = served.complete(&ask(seed, 3 + seed, json!({})));
                let streamed = served.post("/v1/completions", &ask(seed, 3 + seed, json!({ "stream": true })));
                (whole, streamed.events())
            })
        };
        let all: Vec<_> = (0..6).map(one).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (seed, (whole, events)) in answers.into_iter().enumerate() {
        let n = 3 + seed;
        let (count, number) = (n.to_string(), seed.to_string());
        let args = ["-n", &count, "--seed", &number, "--max-tokens", "24", "--temperature", "0.9", "--top-p", "0.95"];
        let local = world.complete(&[&[PROMPT, "--no-default-stops", "--tests", "none"][..], &args].concat());
        for (index, candidate) in candidates(&local).iter().enumerate() {
            let choice = &choices(&whole)[index];
            assert_eq!((&choice["text"], &choice["index"]), (&candidate["text"], &index.into()), "seed {seed}");
            assert_eq!(choice["token_ids"], candidate["token_ids"]);
            let finish = candidate["finish"].as_str().unwrap();
            assert_eq!(choice["finish_reason"], finish, "seed {seed}");
            let own = |value: &Value| value.as_array().unwrap().iter().map(|p| p.as_f64().unwrap() as f32).collect();
            let logprobs: Vec<f32> = own(&candidate["logprobs"]);
            assert_eq!(own(&choice["logprobs"]["token_logprobs"]), logprobs);
            let of: Vec<&Value> = events.iter().flat_map(choices).filter(|choice| choice["index"] == index).collect();
            let text: String = of.iter().map(|choice| choice["text"].as_str().unwrap()).collect();
            assert_eq!(text, candidate["text"].as_str().unwrap());
            assert_eq!(
                of.iter().flat_map(|choice| ids(&choice["token_ids"])).collect::<Vec<_>>(),
                token_ids(&local)[index]
            );
            assert_eq!(of.last().unwrap()["finish_reason"], finish);
            assert!(of.iter().rev().skip(1).all(|choice| choice["finish_reason"].is_null()));
        }
        let (usage, stats) = (&whole["usage"], &local["stats"]);
        assert_eq!((&usage["prompt_tokens"], &usage["completion_tokens"]), (&local["prompt_tokens"], &stats["tokens"]));
    }
    served.rests();
}

#[test]
fn what_a_request_says_is_done() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let ask = |more: Value| {
        let mut body =
            json!({ "model": "built-in", "prompt": PROMPT, "seed": 1, "max_tokens": 20, "user": "x", "foo": {} });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.complete(&body)
    };
    let text = |answer: &Value| choices(answer)[0]["text"].as_str().unwrap().to_owned();
    let plain = text(&ask(json!({ "temperature": 0 })));
    assert_eq!(plain, text(&ask(json!({ "temperature": 0, "seed": 2, "stream": false, "stop": null }))));
    assert_eq!(text(&ask(json!({ "temperature": 0, "echo": true }))), format!("{PROMPT}{plain}"));
    let stop = plain.trim_start().chars().skip(3).take(3).collect::<String>();
    let stopped = ask(json!({ "temperature": 0, "stop": [stop, "\0"] }));
    assert!(!text(&stopped).contains(&stop) && plain.starts_with(&text(&stopped)), "{stopped}");
    assert_eq!(choices(&stopped)[0]["finish_reason"], "stop");
    // Ids are as good as text.
    let local = world.complete(&[PROMPT, "--tests", "none", "-n", "1", "--temperature", "0", "--max-tokens", "20"]);
    assert!(plain.starts_with(candidates(&local)[0]["text"].as_str().unwrap().trim_end()));
    // Of eight the best, by rank.
    let all = ask(json!({ "n": 8, "logprobs": 0 }));
    let best = ask(json!({ "best_of": 8, "n": 7, "logprobs": 0 }));
    let mean = |choice: &Value| {
        let list = choice["logprobs"]["token_logprobs"].as_array().unwrap();
        list.iter().map(|p| p.as_f64().unwrap()).sum::<f64>() / list.len() as f64
    };
    let mut order: Vec<&Value> = choices(&all).iter().collect();
    order.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    let texts = |list: Vec<&Value>| list.iter().map(|c| c["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(choices(&best).iter().collect()), texts(order[..7].to_vec()));
    assert_eq!(choices(&best)[1]["index"], 1);
    // Text after the place is shown to a model that can fill in.
    let filled = ask(json!({ "temperature": 0, "suffix": "\n\nprint(add(1, 2))\n" }));
    let prompt_tokens = |answer: &Value| answer["usage"]["prompt_tokens"].as_u64().unwrap();
    assert!(prompt_tokens(&filled) > prompt_tokens(&stopped) + 8, "{filled}");
    // A seed is drawn where none is given.
    assert_ne!(
        text(&ask(json!({ "seed": null, "temperature": 2 }))),
        text(&ask(json!({ "seed": null, "temperature": 2 })))
    );
    // No length is too long: the context ends it.
    let long = ask(json!({ "max_tokens": 4_000_000_000_000_000_000_u64, "stop": "\n\n" }));
    assert!(long["usage"]["total_tokens"].as_u64().unwrap() <= 1024, "{long}");
    let listed = served.get("/v1/models").json();
    assert_eq!(listed["data"][0]["id"], "built-in");
    assert_eq!(served.get("/v1/models/built-in").json(), listed["data"][0]);
    assert_eq!(served.get("/health").json()["status"], "ok");
}

#[test]
fn what_cannot_be_done_is_a_sentence() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let refused = |body: &str, status: u16, words: &[&str]| {
        let answered = served.ask("POST", "/v1/completions", "", body);
        assert_eq!(answered.status, status, "{body:.200}: {}", answered.body);
        let error = answered.json()["error"].clone();
        let message = error["message"].as_str().expect("a message").to_owned();
        assert!(error["type"].is_string() && error.get("code").is_some(), "{error}");
        for word in words {
            assert!(message.contains(word), "no {word:?} in {message:?}");
        }
    };
    let with = |field: &str| format!(r#"{{"prompt": "def f():", {field}}}"#);
    for body in ["", "{", "nonsense", "{\"prompt\": \"\u{1}\"}", &"[".repeat(100_000)] {
        refused(body, 400, &["not JSON"]);
    }
    refused("[]", 400, &["no object"]);
    refused("{}", 400, &["`prompt` is missing"]);
    for prompt in ["3", "{}", "[\"a\", 5]", "[-1]", "[1.5]", "[[1], [[2]]]", "true"] {
        refused(&format!("{{\"prompt\": {prompt}}}"), 400, &["`prompt` is", "expected a text"]);
    }
    refused(r#"{"prompt": ""}"#, 400, &["the prompt is empty"]);
    refused(r#"{"prompt": [99999999]}"#, 400, &["token id 99999999"]);
    refused(
        &with(&format!("\"suffix\": \"\", \"stop\": \"\", \"prompt\": {}", json!("a ".repeat(9000)))),
        400,
        &["`stop` is \"\""],
    );
    refused(&json!({ "prompt": "word ".repeat(9000) }).to_string(), 400, &["the prompt has", "at most 1024"]);
    for (field, words) in [
        ("\"n\": 65", "expected 1 to 64 candidates"),
        ("\"n\": 0", "expected 1 to 64"),
        ("\"n\": 1e99", "expected 1 to 64"),
        ("\"n\": \"8\"", "`n` is \"8\""),
        ("\"n\": [1]", "`n` is a list"),
        ("\"n\": []", "`n` is an empty list"),
        ("\"max_tokens\": 0", "expected a number from 1"),
        ("\"max_tokens\": -5", "expected a number from 1"),
        ("\"temperature\": \"hot\"", "expected 0 (greedy)"),
        ("\"temperature\": -1", "expected 0 (greedy)"),
        ("\"top_p\": 2", "above 0, up to 1"),
        ("\"seed\": 1.5", "a whole number"),
        ("\"stop\": 5", "`stop` is 5"),
        ("\"stop\": [\"a\", 5]", "`stop` is 5"),
        ("\"stream\": \"yes\"", "expected true or false"),
        ("\"logprobs\": \"all\"", "`logprobs` is"),
        ("\"best_of\": 1, \"n\": 2", "`best_of` is 1, expected a number from n, 2"),
        ("\"best_of\": 4, \"stream\": true", "cannot be streamed"),
        ("\"frequency_penalty\": 0.5", "`frequency_penalty` is not supported"),
        ("\"logit_bias\": {\"5\": 1}", "`logit_bias` is not supported"),
    ] {
        refused(&with(field), 400, &[words]);
    }
    refused(&with("\"model\": \"gpt-4o\""), 404, &["no model gpt-4o", "built-in"]);
    refused(&with(&format!("\"x\": {}", json!("y".repeat(10 << 20)))), 413, &["8 MiB"]);
    let chat = served.post("/v1/chat/completions", &json!({ "messages": [{ "role": "user", "content": "hi" }] }));
    assert!(chat.status == 400 && chat.body.contains("use /v1/completions"), "{}", chat.body);
    assert_eq!((served.get("/v2/x").status, served.get("/v1/completions").status), (404, 405));
    for more in ["host: evil.example\r\n", "origin: https://evil.example\r\n", "host: a\r\norigin: http://a\r\n"] {
        let answered = served.ask("POST", "/v1/completions", more, &with("\"n\": 1"));
        assert_eq!(answered.status, 403, "{more}: {}", answered.body);
        assert!(!answered.head.contains("access-control"), "{}", answered.head);
    }
    let long = format!("x-long: {}\r\n", "y".repeat(300_000));
    assert_eq!(served.ask("GET", "/health", &long, "").status, 431);
    // Half a request holds nobody up, and neither does half a body.
    let waiting = [
        served.send("GET /health HT"),
        served.send(&served.request("POST", "/v1/completions", "", "").replace("length: 0", "length: 50")),
    ];
    assert_eq!(served.get("/health").status, 200);
    assert_eq!(served.metric("tokens_total"), 0, "nothing was written for any of these");
    drop(waiting);
    served.rests();
    let half = served.request("POST", "/v1/completions", "", "").replace("length: 0", "length: 50");
    let all: Vec<TcpStream> = (0..128).map(|_| served.send(&half)).collect();
    while served.metric("requests") < 128 {
        thread::sleep(Duration::from_millis(5));
    }
    let one_more = served.ask("POST", "/v1/completions", "", &with("\"n\": 1"));
    assert_eq!(one_more.status, 429, "{}", one_more.body);
    assert!(one_more.head.contains("retry-after: 1") && one_more.body.contains("ask again"), "{}", one_more.body);
    drop(all);
    served.rests();
    assert_eq!(served.ask("POST", "/v1/completions", "", &with("\"max_tokens\": 1")).status, 200);
}

#[test]
fn forty_clients_of_whom_some_go_get_what_is_theirs() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let body = |seed: usize| {
        json!({ "prompt": format!("def f{seed}(x):\n"), "seed": seed, "n": 2, "max_tokens": 16, "stream": true,
                "temperature": 0.8, "return_token_ids": true })
    };
    let told = |events: &[Value]| -> Vec<Vec<u64>> {
        let of = |c: usize| events.iter().flat_map(choices).filter(move |choice| choice["index"] == c);
        (0..2).map(|c| of(c).flat_map(|choice| ids(&choice["token_ids"])).collect()).collect()
    };
    let alone: Vec<_> = (0..8).map(|seed| told(&served.post("/v1/completions", &body(seed)).events())).collect();
    thread::scope(|scope| {
        for client in 0..40 {
            let (served, alone, seed) = (&served, &alone, client % 8);
            scope.spawn(move || {
                let mut text = body(seed);
                if client % 5 < 2 {
                    // Nobody could wait for the end of all of these.
                    (text["n"], text["max_tokens"], text["ignore_eos"]) = (64.into(), 1000.into(), true.into());
                }
                let text = text.to_string();
                let mut stream = served.send(&served.request("POST", "/v1/completions", "", &text));
                match client % 5 {
                    0 => drop(stream.read(&mut [0; 300])),
                    // Gone before anything was written; and half of a connection is none.
                    1 => {}
                    2 if client % 2 == 0 => drop(stream.shutdown(std::net::Shutdown::Write)),
                    _ => assert_eq!(told(&read(stream).events()), alone[seed], "client {client}"),
                }
            });
        }
    });
    served.rests();
    assert_eq!(told(&served.post("/v1/completions", &body(3)).events()), alone[3]);
}

#[test]
fn a_server_of_ours_writes_for_complete() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let server = format!("http://{}", served.address);
    let file = world.file("numbers.py", "def is_even(n):\n    \"\"\"Return True if n is even.\n\n    >>> is_even(2)\n    True\n    >>> is_even(3)\n    False\n    \"\"\"\n") + ":is_even";
    let report = world.complete(&["--file", &file, "--server", &server, "--seed", "1", "--temperature", "0.6"]);
    assert_eq!(candidates(&report).len(), 8);
    assert_eq!(report["model"], "built-in");
    if isolated() {
        assert!(candidates(&report).iter().all(|c| c["verdict"]["status"] != "not_run"), "{report}");
        assert!(report["picked"].is_u64(), "{report}");
    }
    // Without drawing both write the same.
    let greedy = [PROMPT, "--tests", "none", "-n", "1", "--temperature", "0"];
    let (local, over) = (world.complete(&greedy), world.complete(&[&greedy[..], &["--server", &server]].concat()));
    assert_eq!(candidates(&local)[0]["text"], candidates(&over)[0]["text"]);
    served.rests();
}

#[test]
fn conversations_go_through_the_template_of_the_model() {
    let world = World::new();
    let folder = world.work().join("tiny-instruct");
    std::fs::rename(world.model("qwen2"), &folder).expect("a folder");
    let template = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</>{% endfor %}<assistant>";
    let settings = json!({ "chat_template": template }).to_string();
    std::fs::write(folder.join("tokenizer_config.json"), settings).expect("a file");
    let served = Served::start(&world, &["--model", &text_of(&folder), "--draft", "none"]);
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": [{ "type": "text", "text": "1 + 1? {{ messages }}" }] },
        { "role": "assistant", "content": "2" },
        { "role": "user", "content": "    2 + 2?\n" },
    ]);
    let asked = |more: Value| {
        let mut body = json!({ "messages": messages, "seed": 5, "max_tokens": 6, "logprobs": true, "n": 2 });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.post("/v1/chat/completions", &body)
    };
    let whole = asked(json!({})).json();
    let said = "<system>Be brief.</><user>1 + 1? {{ messages }}</><assistant>2</><user>    2 + 2?\n</><assistant>";
    let plain = served.complete(&json!({ "prompt": said, "seed": 5, "max_tokens": 6, "n": 2 }));
    for (choice, plain) in choices(&whole).iter().zip(choices(&plain)) {
        assert_eq!((&choice["message"]["content"], &choice["message"]["role"]), (&plain["text"], &"assistant".into()));
        assert_eq!(choice["logprobs"]["content"].as_array().unwrap().len(), 6);
    }
    assert_eq!(whole["object"], "chat.completion");
    let events = asked(json!({ "stream": true, "stream_options": { "include_usage": true } })).events();
    assert_eq!(events.last().unwrap()["usage"]["completion_tokens"], 12);
    for index in 0..2 {
        let of: Vec<&Value> = events.iter().flat_map(choices).filter(|choice| choice["index"] == index).collect();
        let text: String = of.iter().map(|choice| choice["delta"]["content"].as_str().unwrap()).collect();
        assert_eq!(text, choices(&whole)[index]["message"]["content"].as_str().unwrap());
        assert_eq!((&of[0]["delta"]["role"], &of[1]["delta"]["role"]), (&"assistant".into(), &Value::Null));
    }
    for (messages, words) in [
        (json!([]), "`messages` is an empty list, expected a list of messages"),
        (json!([{ "role": "tool", "content": "x" }]), "`role` is"),
        (json!([{ "role": "user", "content": [{ "type": "image_url" }] }]), "`content` is a list"),
        (json!([3]), "`role` is null"),
    ] {
        let refused = asked(json!({ "messages": messages }));
        assert!(refused.status == 400 && refused.body.contains(words), "{}", refused.body);
    }
}

#[test]
fn thoughts_in_conversations_are_apart_from_the_answer() {
    let world = World::new();
    let folder = world.work().join("tiny-instruct");
    std::fs::rename(world.model("qwen2"), &folder).expect("a folder");
    // It begins the thoughts, which the random model never ends.
    let template = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</>{% endfor %}<assistant><think>";
    std::fs::write(folder.join("tokenizer_config.json"), json!({ "chat_template": template }).to_string())
        .expect("a file");
    let served = Served::start(&world, &["--model", &text_of(&folder), "--draft", "none"]);
    let mut body = json!({ "messages": [{ "role": "user", "content": "2 + 2?" }], "seed": 5, "max_tokens": 9 });
    let whole = served.post("/v1/chat/completions", &body).json();
    let plain = served.complete(&json!({ "prompt": "<user>2 + 2?</><assistant><think>", "seed": 5, "max_tokens": 9 }));
    let message = &choices(&whole)[0]["message"];
    let written = choices(&plain)[0]["text"].as_str().unwrap().trim();
    assert_eq!((&message["content"], message["reasoning_content"].as_str()), (&"".into(), Some(written)));
    body["stream"] = json!(true);
    let events = served.post("/v1/chat/completions", &body).events();
    let part = |name: &str| {
        let deltas = events.iter().flat_map(choices).map(|choice| &choice["delta"]);
        deltas.filter_map(|delta| delta[name].as_str()).collect::<String>()
    };
    assert_eq!((part("content"), part("reasoning_content")), (String::new(), written.to_owned()));
}

#[test]
fn who_has_no_token_is_not_answered_and_nobody_sees_it() {
    const TOKEN: &str = "never-seen-token-77";
    let world = World::new();
    world.command(&["serve", "--listen", "0.0.0.0:0"]).assert().code(2);
    world.run(&["serve", "--listen", "0.0.0.0:0"]).refused(2, &["--token-file", "other machines"]);
    let file = world.file("token", format!("{TOKEN}\n"));
    world.run(&["serve", "--listen", "0.0.0.0:0", "--token-file", &file]).refused(2, &["chmod 600"]);
    world.run(&["serve", "--listen", "here"]).refused(2, &["--listen is here, expected an address"]);
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("a file");
    let by_variable = |mut command: Command| {
        command.env("BASS_TUI_SERVE_TOKEN", TOKEN);
        command
    };
    for by_file in [true, false] {
        let args = ["serve", "--listen", "0.0.0.0:0", "--token-file", &file];
        let command = if by_file { world.process(&args) } else { by_variable(world.process(&args[..3])) };
        let mut served = Served::of(command);
        served.address = served.address.replace("0.0.0.0", "127.0.0.1");
        let ask = |more: &str, path: &str| served.ask("GET", path, more, "");
        for more in ["", "authorization: Bearer never-seen-token-78\r\n", "authorization: Bearer\r\n"] {
            for path in ["/v1/models", "/metrics", "/v1/anything"] {
                let answered = ask(more, path);
                assert_eq!(answered.status, 401, "{more}{path}: {}", answered.body);
                assert!(!answered.body.contains("never-seen") && answered.head.contains("www-authenticate"));
            }
        }
        assert_eq!(ask("", "/health").status, 200);
        let with = format!("authorization: Bearer {TOKEN}\r\nhost: gpu.lan:80\r\n");
        assert_eq!(ask(&with, "/v1/models").status, 200);
        let seen = std::fs::read(format!("/proc/{}/cmdline", served.child.id())).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&seen).contains(TOKEN) && !served.end().contains(TOKEN));
    }
}

#[test]
fn a_signal_ends_streams_with_a_reason() {
    let world = World::new();
    let mut served = Served::start(&world, &["--model", &model("qwen2"), "--draft", "none"]);
    let body = json!({ "prompt": [1], "max_tokens": 100_000, "n": 64, "ignore_eos": true, "stream": true });
    let mut stream = served.send(&served.request("POST", "/v1/completions", "", &body.to_string()));
    stream.read_exact(&mut [0; 40]).expect("the beginning");
    let reading = thread::spawn(move || {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).map(|_| rest)
    });
    served.end();
    let rest = reading.join().unwrap().expect("an answer");
    assert!(rest.contains("\"code\":\"stopping\"") && rest.contains("[DONE]"), "{}", &rest[rest.len() - 300..]);
}

#[test]
fn examples_of_the_documents_work() {
    let world = World::new();
    if let Err(why) = Command::new("curl").arg("--version").output() {
        return super::skip::for_want_of("curl", why);
    }
    let served = Served::start(&world, &[]);
    let text = std::fs::read_to_string(repository("docs/serve.md")).expect("the document");
    let examples: Vec<&str> = text.lines().filter(|line| line.starts_with("curl ")).collect();
    assert!(examples.len() >= 5);
    for example in examples {
        let line = example.replace("127.0.0.1:8017", &served.address).replace("curl ", "curl --fail-with-body ");
        let done = Command::new("sh").args(["-c", &line]).current_dir(world.work()).output().expect("a shell");
        let out = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && out.len() > 10 && !out.contains("\"error\""), "{line}\n{out}");
    }
}
