//! Answers of `bass-tui serve` beside text: the most probable tokens in the place of each, how probable the
//! prompt is, and answers to several prompts of one request.

use serde_json::{Value, json};

use super::served::{Served, choices};
use super::world::{World, ids, text_of};

const PROMPT: &str = "def add(a, b):\n    \"\"\"Add a and b, ü.\"\"\"\n";

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

/// A completion with these fields, in one piece.
fn ask(served: &Served, more: &Value) -> Value {
    let mut body = json!({ "prompt": PROMPT, "n": 2, "seed": 4, "max_tokens": 12, "temperature": 0.9, "logprobs": 3,
                           "return_token_ids": true });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    served.complete(&body)
}

/// Like [`ask`], as a stream, put together again.
fn streamed(served: &Served, more: &Value) -> Vec<Value> {
    let mut body = json!({ "prompt": PROMPT, "n": 2, "seed": 4, "max_tokens": 12, "temperature": 0.9, "logprobs": 3,
                           "return_token_ids": true, "stream": true });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let events = served.post("/v1/completions", &body).events();
    let mut all: Vec<Value> = Vec::new();
    for piece in events.iter().flat_map(choices) {
        let index = piece["index"].as_u64().unwrap() as usize;
        while all.len() <= index {
            all.push(json!({ "index": all.len(), "text": "", "token_ids": [], "logprobs": {
                "tokens": [], "token_logprobs": [], "text_offset": [], "top_logprobs": [] } }));
        }
        let one = &mut all[index];
        one["text"] = json!(one["text"].as_str().unwrap().to_owned() + piece["text"].as_str().unwrap());
        one["token_ids"].as_array_mut().unwrap().extend(list(&piece["token_ids"]).clone());
        one["finish_reason"] = piece["finish_reason"].clone();
        if piece["logprobs"].is_object() {
            for (name, values) in one["logprobs"].as_object_mut().unwrap() {
                values.as_array_mut().unwrap().extend(list(&piece["logprobs"][name]).clone());
            }
        }
    }
    all
}

/// Holds the alternatives of a choice against what is known of the token itself.
fn check_alternatives(told: &Value, count: usize) {
    let tokens = list(&told["tokens"]);
    assert_eq!(list(&told["top_logprobs"]).len(), tokens.len());
    for ((token, own), others) in tokens.iter().zip(list(&told["token_logprobs"])).zip(list(&told["top_logprobs"])) {
        let Some(own) = own.as_f64() else { continue };
        let others = others.as_object().expect("an object");
        assert!((1..=count + 1).contains(&others.len()), "{others:?}");
        assert!(others.len() > 1 || count == 1, "{others:?}");
        assert_eq!(others.get(token.as_str().unwrap()).and_then(Value::as_f64), Some(own), "it is one of {others:?}");
        let better = others.values().filter(|p| p.as_f64().unwrap() >= own).count();
        assert!(better <= count + 1 && others.values().all(|p| p.as_f64().unwrap() <= 0.0), "{others:?}");
    }
}

#[test]
fn alternatives_come_with_each_token_and_change_nothing() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let quiet = ask(&served, &json!({ "logprobs": null }));
    let own = ask(&served, &json!({ "logprobs": 0 }));
    let whole = ask(&served, &json!({}));
    for ((quiet, own), told) in choices(&quiet).iter().zip(choices(&own)).zip(choices(&whole)) {
        assert!(quiet["logprobs"].is_null() && own["logprobs"]["top_logprobs"].is_null());
        assert_eq!((&quiet["text"], &quiet["token_ids"]), (&told["text"], &told["token_ids"]));
        assert_eq!(own["logprobs"]["token_logprobs"], told["logprobs"]["token_logprobs"]);
        check_alternatives(&told["logprobs"], 3);
    }
    assert_eq!(streamed(&served, &json!({})), *choices(&whole));
    let greedy = ask(&served, &json!({ "temperature": 0, "n": 1, "logprobs": 1 }));
    let told = &choices(&greedy)[0]["logprobs"];
    check_alternatives(told, 1);
    assert!(list(&told["top_logprobs"]).iter().all(|others| others.as_object().unwrap().len() == 1), "{told}");
    for (field, words) in [
        ("{\"logprobs\": 21}", "expected true, false or a number up to 20"),
        ("{\"logprobs\": -1}", "expected true, false or a number up to 20"),
        ("{\"logprobs\": 1.5}", "expected true, false or a number up to 20"),
    ] {
        let mut body = json!({ "prompt": PROMPT });
        body.as_object_mut()
            .unwrap()
            .extend(serde_json::from_str::<Value>(field).unwrap().as_object().unwrap().clone());
        let refused = served.post("/v1/completions", &body);
        assert!(refused.status == 400 && refused.body.contains(words), "{field}: {}", refused.body);
    }
}

#[test]
fn conversations_have_alternatives_too() {
    let world = World::new();
    let folder = world.work().join("tiny-instruct");
    std::fs::rename(world.model("qwen2"), &folder).expect("a folder");
    let settings = json!({ "chat_template": "{{ messages[0]['content'] }}" }).to_string();
    std::fs::write(folder.join("tokenizer_config.json"), settings).expect("a file");
    let served = Served::start(&world, &["--model", &text_of(&folder), "--draft", "none"]);
    let asked = |more: Value| {
        let mut body = json!({ "messages": [{ "role": "user", "content": "1 + 1?" }], "seed": 5, "max_tokens": 6 });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.post("/v1/chat/completions", &body)
    };
    let with = asked(json!({ "logprobs": true, "top_logprobs": 4 })).json();
    let without = asked(json!({ "logprobs": true })).json();
    let of = |answer: &Value| list(&choices(answer)[0]["logprobs"]["content"]).clone();
    for (with, without) in of(&with).iter().zip(of(&without)) {
        assert_eq!((&with["token"], &with["logprob"]), (&without["token"], &without["logprob"]));
        assert_eq!(list(&without["top_logprobs"]).len(), 0);
        let values: Vec<f64> = list(&with["top_logprobs"]).iter().map(|a| a["logprob"].as_f64().unwrap()).collect();
        assert!(values.len() == 4 && values.is_sorted_by(|a, b| a >= b), "{values:?}");
        assert!(list(&with["top_logprobs"]).iter().all(|a| a["token"].is_string() && a.get("bytes").is_some()));
    }
    let events = asked(json!({ "logprobs": true, "top_logprobs": 4, "stream": true })).events();
    let pieces = events.iter().flat_map(choices).filter_map(|choice| choice["logprobs"]["content"].as_array());
    assert_eq!(pieces.flatten().cloned().collect::<Vec<_>>(), of(&with));
    for (more, words) in [
        (json!({ "top_logprobs": 2 }), "`top_logprobs` needs `logprobs`"),
        (json!({ "logprobs": true, "top_logprobs": 21 }), "`top_logprobs` is 21, expected a number up to 20"),
        (json!({ "logprobs": 3 }), "`logprobs` is 3, expected true or false"),
    ] {
        let refused = asked(more);
        assert!(refused.status == 400 && refused.body.contains(words), "{}", refused.body);
    }
}

#[test]
fn an_echo_says_how_probable_the_prompt_is() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let plain = ask(&served, &json!({}));
    // The first time the prompt has been read, and its probabilities have not been looked at.
    for count in [3, 0] {
        let echo = json!({ "echo": true, "logprobs": count });
        let whole = ask(&served, &echo);
        for (echoed, plain) in choices(&whole).iter().zip(choices(&plain)) {
            assert_eq!(echoed["text"], format!("{PROMPT}{}", plain["text"].as_str().unwrap()));
            assert_eq!(echoed["token_ids"], plain["token_ids"]);
            let (told, own) = (&echoed["logprobs"], &plain["logprobs"]);
            let before = list(&told["tokens"]).len() - list(&own["tokens"]).len();
            assert_eq!(before as u64, whole["usage"]["prompt_tokens"].as_u64().unwrap());
            assert_eq!(list(&told["tokens"])[before..], list(&own["tokens"])[..]);
            let logprobs = list(&told["token_logprobs"]);
            assert_eq!(logprobs[before..], list(&own["token_logprobs"])[..]);
            assert!(logprobs[0].is_null() && logprobs[1..].iter().all(|p| p.as_f64().unwrap() <= 0.0), "{logprobs:?}");
            assert_eq!((&list(&told["text_offset"])[0], told["top_logprobs"].is_null()), (&0.into(), count == 0));
            let text: Vec<char> = echoed["text"].as_str().unwrap().chars().collect();
            for (token, at) in list(&told["tokens"]).iter().zip(list(&told["text_offset"])) {
                let (token, at) = (token.as_str().unwrap(), at.as_u64().unwrap() as usize);
                if token.contains(char::REPLACEMENT_CHARACTER) {
                    // Part of a character.
                    break;
                }
                let there: String = text[at..].iter().take(token.chars().count()).collect();
                // Text that a tokenizer puts before a prompt is no part of it.
                assert!(there == token || token == "<|endoftext|>" && at == 0, "{there:?} is not {token:?}");
            }
            if count > 0 {
                assert!(list(&told["top_logprobs"])[0].is_null());
                check_alternatives(told, count);
                assert_eq!(list(&told["top_logprobs"])[before..], list(&own["top_logprobs"])[..]);
            }
        }
        if count > 0 {
            assert_eq!(streamed(&served, &echo), *choices(&whole));
        }
    }
    // A written text, given as a prompt, is as probable as it was when it was written.
    let one = ask(&served, &json!({ "prompt": [5, 6, 7], "n": 1, "logprobs": 0 }));
    let all = [vec![5, 6, 7], ids(&choices(&one)[0]["token_ids"])].concat();
    let again = ask(&served, &json!({ "prompt": all, "n": 1, "logprobs": 0, "max_tokens": 1, "echo": true }));
    let scores = list(&choices(&again)[0]["logprobs"]["token_logprobs"]);
    assert_eq!(scores[3..all.len()], list(&choices(&one)[0]["logprobs"]["token_logprobs"])[..]);
}

#[test]
fn several_prompts_are_answered_each_as_if_alone() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let prompts = [json!(PROMPT), json!([5, 6, 7]), json!("def largest(numbers):\n"), json!(PROMPT)];
    let alone: Vec<Value> = prompts.iter().map(|prompt| ask(&served, &json!({ "prompt": prompt }))).collect();
    let whole = ask(&served, &json!({ "prompt": prompts }));
    let stream = streamed(&served, &json!({ "prompt": prompts }));
    assert_eq!((choices(&whole).len(), stream.len()), (8, 8));
    for (number, choice) in choices(&whole).iter().enumerate() {
        let mut expected = choices(&alone[number / 2])[number % 2].clone();
        expected["index"] = json!(number);
        assert_eq!(*choice, expected);
        assert_eq!(stream[number], expected);
    }
    let sum = |name: &str| alone.iter().map(|answer| answer["usage"][name].as_u64().unwrap()).sum::<u64>();
    for name in ["prompt_tokens", "completion_tokens", "total_tokens"] {
        assert_eq!(whole["usage"][name], sum(name), "{name}");
    }
    // The best of each; and each with its own echo.
    let best = ask(&served, &json!({ "prompt": prompts, "n": 1, "best_of": 4, "echo": true, "logprobs": null }));
    assert_eq!(choices(&best).len(), 4);
    assert!(choices(&best)[2]["text"].as_str().unwrap().starts_with("def largest(numbers):\n"));
    assert_eq!(choices(&best)[0]["text"], choices(&best)[3]["text"]);
    let long = json!("word ".repeat(9000));
    for (prompt, words) in [
        (json!(vec!["x"; 65]), "`prompt` is a list of 65, expected at most 64 prompts"),
        (json!(["x", long]), "the prompt has"),
        (json!(["x", ""]), "the prompt is empty"),
        (json!(["x", 5]), "expected a text, a list of token ids, or a list of these"),
        (json!([]), "the prompt is empty"),
    ] {
        let refused = served.post("/v1/completions", &json!({ "prompt": prompt, "max_tokens": 4 }));
        assert!(refused.status == 400 && refused.body.contains(words), "{}", refused.body);
    }
    served.rests();
}
