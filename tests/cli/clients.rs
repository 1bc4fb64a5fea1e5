//! What editors and other clients send, as they send it: each has a row in the table of `docs/serve.md`.

use serde_json::{Value, json};

use super::served::{Answered, Served, choices};
use super::world::{World, repository, text_of};

const BEFORE: &str = "def add(a, b):\n    \"\"\"Add a and b.\"\"\"\n";
const AFTER: &str = "\n\nprint(add(1, 2))\n";

/// A request of a client, and the field of its answer, as a path, that the client reads.
type Request = (&'static str, &'static str, Value, &'static str);

/// Sends requests and holds the answers against what the clients read and what the document says.
fn ask(served: &Served, requests: &[Request]) {
    let document = std::fs::read_to_string(repository("docs/serve.md")).expect("the document");
    for (client, path, body, read) in requests {
        assert!(document.contains(&format!("\n| {client} |")), "{client} has no row in docs/serve.md");
        let answered = served.post(path, body);
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
    let mut body = body.clone();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn clients_for_code_are_answered() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let infill = json!({
        "id_slot": 0, "input_prefix": BEFORE, "input_suffix": AFTER, "prompt": "    ", "n_predict": 12,
        "input_extra": [{ "text": "def sub(a, b):\n    return a - b\n", "time": 1, "filename": "sub.py" }],
        "stop": [], "n_indent": 4, "top_k": 40, "top_p": 0.9, "samplers": ["top_k", "top_p", "infill"], "stream": false,
        "cache_prompt": true, "t_max_prompt_ms": 500, "t_max_predict_ms": 60_000, "model": "",
    });
    let stops: Vec<String> = (0..24).map(|number| format!("<|never_{number}|>")).collect();
    let completion = json!({
        "model": "built-in", "prompt": BEFORE, "max_tokens": 8, "temperature": 0.01, "stream": true, "stop": stops,
        "frequency_penalty": 0, "presence_penalty": 0, "top_p": 1,
    });
    let marked = format!("<|fim_prefix|>{BEFORE}<|fim_suffix|>{AFTER}<|fim_middle|>");
    let text = "/choices/0/text";
    ask(
        &served,
        &[
            ("llama.vim", "/infill", infill.clone(), "/content"),
            ("llama.vscode", "/infill", with(&infill, json!({ "n_cmpl": 3, "top_p": 0.99, "lora": [] })), "/2/content"),
            ("llama.vscode", "/infill", with(&infill, json!({ "n_predict": 0, "samplers": [] })), "/timings/prompt_n"),
            ("Continue", "/v1/completions", completion.clone(), text),
            ("Continue", "/v1/completions", with(&completion, json!({ "suffix": AFTER })), text),
            (
                "Continue",
                "/v1/fim/completions",
                with(&completion, json!({ "suffix": AFTER })),
                "/choices/0/delta/content",
            ),
            (
                "Continue",
                "/v1/fim/completions",
                with(&completion, json!({ "stream": false })),
                "/choices/0/message/content",
            ),
            (
                "Continue",
                "/completion",
                json!({ "prompt": BEFORE, "stream": true, "n_predict": 8, "stop": ["\n\n"] }),
                "/content",
            ),
            (
                "Zed",
                "/v1/completions",
                json!({ "model": "built-in", "prompt": marked, "max_tokens": 8, "temperature": null,
            "stop": ["<|endoftext|>"], "environment": null }),
                text,
            ),
            (
                "llm",
                "/v1/completions",
                json!({ "model": "built-in", "prompt": BEFORE, "seed": 1, "max_tokens": 8,
            "logprobs": 3, "stream": true, "stream_options": { "include_usage": true } }),
                "/usage/total_tokens",
            ),
            (
                "openai (Python)",
                "/v1/completions",
                json!({ "model": "built-in", "prompt": [BEFORE], "best_of": 1, "n": 1,
            "echo": false, "logit_bias": {}, "logprobs": null, "suffix": null, "stop": null, "user": "x", "seed": -1,
            "max_tokens": 8 }),
                text,
            ),
        ],
    );
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
    let prompt = format!("{marked}    return a");
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
    served.rests();
}

#[test]
fn clients_for_conversations_are_answered() {
    let world = World::new();
    let folder = world.work().join("tiny-instruct");
    std::fs::rename(world.model("qwen2"), &folder).expect("a folder");
    let template = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</>{% endfor %}<assistant>";
    std::fs::write(folder.join("tokenizer_config.json"), json!({ "chat_template": template }).to_string())
        .expect("a file");
    let served = Served::start(&world, &["--model", &text_of(&folder), "--draft", "none"]);
    let path = "/v1/chat/completions";
    let part = |text: &str| json!([{ "type": "text", "text": text }]);
    let messages = json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "1 + 1?" }]);
    let plain = json!({ "model": "tiny-instruct", "messages": messages, "max_tokens": 6 });
    let streamed = with(&plain, json!({ "stream": true, "stream_options": { "include_usage": true } }));
    let (whole, delta, usage) = ("/choices/0/message/content", "/choices/0/delta/content", "/usage/total_tokens");
    let called = json!([{ "role": "user", "content": part("a") },
        { "role": "assistant", "content": null, "reasoning_content": "hm" }, { "role": "user", "content": part("b") }]);
    let tools = json!([{ "type": "function", "function": { "name": "f", "parameters": {} } }]);
    ask(
        &served,
        &[
            (
                "llama.vim",
                path,
                with(
                    &streamed,
                    json!({ "model": "", "id_slot": 3, "min_p": 0.1, "temperature": 0.1,
            "samplers": ["min_p", "temperature"], "cache_prompt": true, "stream_options": null }),
                ),
                delta,
            ),
            (
                "llama.vscode",
                path,
                with(&plain, json!({ "cache_prompt": true, "temperature": 0.8, "top_p": 0.95 })),
                whole,
            ),
            ("Continue", path, with(&streamed, json!({ "tools": null, "prediction": null, "stop": ["</x>"] })), delta),
            (
                "avante.nvim",
                path,
                with(
                    &streamed,
                    json!({ "max_tokens": null, "max_completion_tokens": 6,
            "temperature": 0, "stop": null, "tools": [] }),
                ),
                usage,
            ),
            ("llm", path, with(&streamed, json!({ "seed": 1, "temperature": 0.5, "top_p": 0.9 })), usage),
            (
                "litellm",
                path,
                with(
                    &streamed,
                    json!({ "user": "x", "metadata": {}, "n": 1, "logit_bias": {},
            "response_format": { "type": "text" }, "parallel_tool_calls": null }),
                ),
                usage,
            ),
            ("aider", path, with(&streamed, json!({ "temperature": 0 })), delta),
            (
                "Zed",
                path,
                with(
                    &streamed,
                    json!({ "messages": called, "max_tokens": null, "max_completion_tokens": 6,
            "parallel_tool_calls": false, "prompt_cache_key": "a", "temperature": 1.0, "tools": tools,
            "tool_choice": "none" }),
                ),
                usage,
            ),
            (
                "JetBrains AI Assistant",
                path,
                with(
                    &plain,
                    json!({ "stream": false, "n": 1, "max_tokens": 6,
            "presence_penalty": 0.0, "frequency_penalty": 0.0, "top_logprobs": 0, "logprobs": false }),
                ),
                whole,
            ),
            (
                "openai (Python)",
                path,
                with(
                    &plain,
                    json!({ "store": false, "metadata": { "a": "b" }, "user": "x",
            "service_tier": "auto", "logit_bias": null, "stop": "\0", "tools": [], "modalities": ["text"],
            "response_format": { "type": "text" }, "chat_template_kwargs": { "enable_thinking": false } }),
                ),
                whole,
            ),
        ],
    );
    // What only reads a prompt writes a token that is not sent, and no text has a mark of its own.
    let warm = with(&plain, json!({ "n_predict": 0, "max_tokens": null, "samplers": [], "response_fields": [""] }));
    let warm = served.post(path, &warm).json();
    assert_eq!(
        (&choices(&warm)[0]["message"]["content"], &warm["usage"]["completion_tokens"]),
        (&"".into(), &1.into())
    );
    for (more, words) in [
        (json!({ "tools": tools }), "`tools` is not supported"),
        (json!({ "response_format": { "type": "json_object" } }), "`response_format` is not supported"),
        (json!({ "chat_template_kwargs": { "enable_thinking": true } }), "`chat_template_kwargs` is not supported"),
        (json!({ "model": "gpt-4o" }), "there is no model gpt-4o"),
    ] {
        let refused = served.post(path, &with(&plain, more));
        assert!(refused.status >= 400 && refused.body.contains(words), "{words}: {}", refused.body);
    }
    served.rests();
}
