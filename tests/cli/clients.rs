//! What editors and other clients send, as they send it: each has a row in the table of `docs/serve.md`.

use serde_json::{Value, json};

use super::served::{Answered, Served, choices};
use super::world::{World, repository, text_of};

const BEFORE: &str = "def add(a, b):\n    \"\"\"Add a and b.\"\"\"\n";
const AFTER: &str = "\n\nprint(add(1, 2))\n";

/// A request of a client: its path, its usual fields, others as JSON, and the field of the answer, as a path,
/// that the client reads.
type Request<'a> = (&'a str, &'a str, &'a Value, &'a str, &'a str);

/// Sends requests and holds the answers against what the clients read and what the document says.
fn ask(served: &Served, requests: &[Request<'_>]) {
    let document = std::fs::read_to_string(repository("docs/serve.md")).expect("the document");
    for (client, path, usual, more, read) in requests {
        let body = with(usual, serde_json::from_str(more).expect("JSON"));
        assert!(document.contains(&format!("\n| {client} |")), "{client} has no row in docs/serve.md");
        let answered = served.post(path, &body);
        assert_eq!(answered.status, 200, "{client}, {path}: {}", answered.body);
        let all = if body["stream"] == true { events(&answered) } else { vec![answered.json()] };
        let is_read = |answer: &Value| answer.pointer(read).is_some_and(|value| !value.is_null());
        assert!(all.iter().any(is_read), "{client}, {path}: no {read} in {all:?}");
    }
}

/// The events of a stream, with or without a mark at their end.
fn events(answered: &Answered) -> Vec<Value> {
    let data = answered.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

/// Fields of a request, with more.
fn with(body: &Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("{more} is no object") };
    let mut body = body.clone();
    body.as_object_mut().unwrap().extend(more);
    body
}

/// A request to fill in a place.
fn infill() -> Value {
    json!({
        "id_slot": 0, "input_prefix": BEFORE, "input_suffix": AFTER, "prompt": "    ", "n_predict": 12,
        "input_extra": [{ "text": "def sub(a, b):\n    return a - b\n", "time": 1, "filename": "sub.py" }],
        "stop": [], "n_indent": 4, "top_k": 40, "top_p": 0.9, "samplers": ["top_k", "top_p", "infill"], "stream": false,
        "cache_prompt": true, "t_max_prompt_ms": 500, "t_max_predict_ms": 60_000, "model": "",
    })
}

#[test]
fn clients_for_code_are_answered() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let infill = infill();
    let stops: Vec<String> = (0..24).map(|number| format!("<|never_{number}|>")).collect();
    let completion = json!({
        "model": "built-in", "prompt": BEFORE, "max_tokens": 8, "temperature": 0.01, "stream": true, "stop": stops,
        "frequency_penalty": 0, "presence_penalty": 0, "top_p": 1,
    });
    let marked = json!({ "prompt": format!("<|fim_prefix|>{BEFORE}<|fim_suffix|>{AFTER}<|fim_middle|>") });
    let before = json!({ "model": "built-in", "prompt": [BEFORE], "max_tokens": 8 });
    let (text, delta) = ("/choices/0/text", "/choices/0/delta/content");
    let requests = [
        ("llama.vim", "/infill", &infill, "{}", "/content"),
        ("llama.vscode", "/infill", &infill, r#"{"n_cmpl": 3, "top_p": 0.99, "lora": []}"#, "/2/content"),
        ("llama.vscode", "/infill", &infill, r#"{"n_predict": 0, "samplers": []}"#, "/timings/prompt_n"),
        ("Continue", "/v1/completions", &completion, "{}", text),
        ("Continue", "/v1/completions", &completion, r#"{"suffix": "\n\nx = 1\n"}"#, text),
        ("Continue", "/v1/fim/completions", &completion, r#"{"suffix": "\n\nx = 1\n"}"#, delta),
        ("Continue", "/v1/fim/completions", &completion, r#"{"stream": false}"#, "/choices/0/message/content"),
        ("Continue", "/completion", &before, r#"{"stream": true, "n_predict": 8, "stop": ["\n\n"]}"#, "/content"),
        ("Zed", "/v1/completions", &marked, r#"{"max_tokens": 8, "stop": ["</s>"], "environment": null}"#, text),
        (
            "llm",
            "/v1/completions",
            &before,
            r#"{"seed": 1, "logprobs": 3, "stream": true, "stream_options": {"include_usage": true}}"#,
            "/usage/total_tokens",
        ),
        (
            "openai (Python)",
            "/v1/completions",
            &before,
            r#"{"best_of": 1, "n": 1, "echo": false, "logit_bias": {}, "logprobs": null, "suffix": null, "stop": null,
                "user": "x", "seed": -1}"#,
            text,
        ),
    ];
    ask(&served, &requests);
    // Context and model under the names that clients read.
    let model = served.get("/v1/models").json()["data"][0].clone();
    for name in ["/context_length", "/max_model_len", "/meta/n_ctx"] {
        assert_eq!(model.pointer(name), Some(&1024.into()), "{name}");
    }
    assert_eq!(served.get("/props").json()["default_generation_settings"]["n_ctx"], 1024);
    let head = served.ask("HEAD", "/health", "", "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    // A page in a browser is not answered, nor is what it asks first.
    let page = served.ask("OPTIONS", "/v1/completions", "origin: http://a.example\r\n", "");
    assert!(page.status == 403 && !page.head.contains("access-control"), "{}", page.head);
    assert_eq!(served.ask("OPTIONS", "/v1/completions", "", "").status, 405);
    let elsewhere = served.post("/chat/completions", &json!({}));
    assert!(elsewhere.status == 404 && elsewhere.body.contains("/v1/chat/completions is there"), "{}", elsewhere.body);
    served.rests();
}

#[test]
fn what_is_filled_in_is_what_a_suffix_asks_for() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let infill = infill();
    // Fields of an answer have their paths as names; what only reads a prompt is told nothing.
    let fields = json!({ "response_fields": ["content", "timings/predicted_n", "truncated", "none/at/all"] });
    let told = served.post("/infill", &with(&infill, fields)).json();
    let names: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(names, ["content", "timings/predicted_n", "truncated"]);
    assert_eq!(told["truncated"], false);
    let warm = with(&infill, json!({ "n_predict": 0, "samplers": [], "response_fields": [""] }));
    assert_eq!(served.post("/infill", &warm).json(), json!({}));
    // Greedily it is what a suffix asks for, with what is written already behind the marks.
    let greedy =
        json!({ "samplers": ["temperature"], "temperature": 0, "prompt": "", "input_extra": [], "n_indent": 0 });
    let filled = served.post("/infill", &with(&infill, greedy.clone())).json();
    let asked = json!({ "prompt": BEFORE, "suffix": AFTER, "temperature": 0, "max_tokens": 12 });
    assert_eq!(filled["content"], choices(&served.complete(&asked))[0]["text"]);
    let streamed = served.post("/infill", &with(&infill, with(&greedy, json!({ "stream": true }))));
    let events = events(&streamed);
    let content: String = events.iter().map(|event| event["content"].as_str().unwrap()).collect();
    assert_eq!(
        (content, &events.last().unwrap()["stop"]),
        (filled["content"].as_str().unwrap().to_owned(), &true.into())
    );
    let on = with(&infill, with(&greedy, json!({ "prompt": "    return a" })));
    let prompt = format!("<|fim_prefix|>{BEFORE}<|fim_suffix|>{AFTER}<|fim_middle|>    return a");
    let asked = json!({ "prompt": prompt, "temperature": 0, "max_tokens": 12 });
    assert_eq!(served.post("/infill", &on).json()["content"], choices(&served.complete(&asked))[0]["text"]);
    // A file of any length has room, and says what was left out.
    let long = with(&infill, json!({ "input_prefix": BEFORE.repeat(900), "input_suffix": AFTER.repeat(900) }));
    assert_eq!(served.post("/infill", &long).json()["truncated"], true);
    for (path, more, words) in [
        ("/infill", json!({ "n_predict": "many" }), "`n_predict` is"),
        ("/infill", json!({ "samplers": ["best"] }), "`samplers` names best"),
        ("/infill", json!({ "samplers": "kp" }), "`samplers` is"),
        ("/infill", json!({ "lora": [{ "id": 0, "scale": 0.5 }] }), "`lora` is not supported"),
        ("/infill", json!({ "grammar": "root ::= x" }), "`grammar` is not supported"),
        ("/infill", json!({ "repeat_penalty": 1.1 }), "`repeat_penalty` is not supported"),
        ("/infill", json!({ "input_extra": ["x"] }), "`input_extra` is"),
        ("/completion", json!({ "prompt": 5 }), "`prompt` is"),
    ] {
        let refused = served.post(path, &with(&infill, more));
        assert!(refused.status == 400 && refused.body.contains(words), "{words}: {}", refused.body);
    }
    served.rests();
}

/// A server whose model is asked in conversations.
fn asked(world: &World) -> Served {
    let folder = world.work().join("tiny-instruct");
    std::fs::rename(world.model("qwen2"), &folder).expect("a folder");
    let template = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</>{% endfor %}<assistant>";
    std::fs::write(folder.join("tokenizer_config.json"), json!({ "chat_template": template }).to_string())
        .expect("a file");
    Served::start(world, &["--model", &text_of(&folder), "--draft", "none"])
}

const CHAT: &str = "/v1/chat/completions";

/// A request for an answer.
fn conversation() -> Value {
    let messages = json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "1 + 1?" }]);
    json!({ "model": "tiny-instruct", "messages": messages, "max_tokens": 6 })
}

/// A tool that a client offers.
fn tools() -> Value {
    json!([{ "type": "function", "function": { "name": "f", "parameters": {} } }])
}

#[test]
fn clients_for_conversations_are_answered() {
    let world = World::new();
    let served = asked(&world);
    let plain = conversation();
    let streamed = with(&plain, json!({ "stream": true, "stream_options": { "include_usage": true } }));
    let part = |text: &str| json!([{ "type": "text", "text": text }]);
    let turns = json!([{ "role": "user", "content": part("a") },
        { "role": "assistant", "content": null, "reasoning_content": "hm" }, { "role": "user", "content": part("b") }]);
    let turns = with(&streamed, json!({ "messages": turns, "tools": tools(), "max_tokens": null }));
    let (whole, delta, usage) = ("/choices/0/message/content", "/choices/0/delta/content", "/usage/total_tokens");
    let requests = [
        (
            "llama.vim",
            CHAT,
            &streamed,
            r#"{"model": "", "id_slot": 3, "min_p": 0.1, "temperature": 0.1, "samplers": ["min_p", "temperature"],
                "cache_prompt": true, "stream_options": null}"#,
            delta,
        ),
        ("llama.vscode", CHAT, &plain, r#"{"cache_prompt": true, "temperature": 0.8, "top_p": 0.95}"#, whole),
        ("Continue", CHAT, &streamed, r#"{"tools": null, "prediction": null, "stop": ["</x>"]}"#, delta),
        (
            "avante.nvim",
            CHAT,
            &streamed,
            r#"{"max_tokens": null, "max_completion_tokens": 6, "temperature": 0, "stop": null, "tools": []}"#,
            usage,
        ),
        ("llm", CHAT, &streamed, r#"{"seed": 1, "temperature": 0.5, "top_p": 0.9}"#, usage),
        (
            "litellm",
            CHAT,
            &streamed,
            r#"{"user": "x", "metadata": {}, "n": 1, "logit_bias": {}, "response_format": {"type": "text"},
                "parallel_tool_calls": null}"#,
            usage,
        ),
        ("aider", CHAT, &streamed, r#"{"temperature": 0}"#, delta),
        (
            "Zed",
            CHAT,
            &turns,
            r#"{"max_completion_tokens": 6, "parallel_tool_calls": false, "prompt_cache_key": "a", "temperature": 1.0,
                "tool_choice": "none"}"#,
            usage,
        ),
        (
            "JetBrains AI Assistant",
            CHAT,
            &plain,
            r#"{"stream": false, "n": 1, "presence_penalty": 0.0, "frequency_penalty": 0.0, "top_logprobs": 0,
                "logprobs": false}"#,
            whole,
        ),
        (
            "openai (Python)",
            CHAT,
            &plain,
            r#"{"store": false, "metadata": {"a": "b"}, "user": "x", "service_tier": "auto", "logit_bias": null,
                "stop": "\u0000", "tools": [], "modalities": ["text"], "response_format": {"type": "text"},
                "chat_template_kwargs": {"enable_thinking": false}}"#,
            whole,
        ),
    ];
    ask(&served, &requests);
    served.rests();
}

#[test]
fn what_is_not_answered_is_refused_by_name() {
    let world = World::new();
    let served = asked(&world);
    let (path, plain) = (CHAT, conversation());
    // What only reads a prompt writes a token that is not sent.
    let warm = with(&plain, json!({ "n_predict": 0, "max_tokens": null, "samplers": [], "response_fields": [""] }));
    let warm = served.post(path, &warm).json();
    assert_eq!(
        (&choices(&warm)[0]["message"]["content"], &warm["usage"]["completion_tokens"]),
        (&"".into(), &1.into())
    );
    for (more, words) in [
        (json!({ "tools": tools() }), "`tools` is not supported"),
        (json!({ "response_format": { "type": "json_object" } }), "`response_format` is not supported"),
        (json!({ "chat_template_kwargs": { "enable_thinking": true } }), "`chat_template_kwargs` is not supported"),
        (json!({ "model": "gpt-4o" }), "there is no model gpt-4o"),
    ] {
        let refused = served.post(path, &with(&plain, more));
        assert!(refused.status >= 400 && refused.body.contains(words), "{words}: {}", refused.body);
    }
    served.rests();
}
