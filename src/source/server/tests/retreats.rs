//! Parameters, addresses and names that a server does not take: it is asked again without them.

use super::scripted::odd::{Odd, REFUSALS};
use super::*;

/// All that a request can do without.
const PARAMETERS: &[&str] =
    &["max_tokens", "seed", "logprobs", "top_k", "n", "stop", "temperature", "stream_options", "stream", "top_p"];

/// Two candidates with all settings.
fn ask_for_all(source: &ServerSource, temperature: f32) -> Came {
    let (send, receive) = channel();
    let sampling = Sampling { temperature, top_k: Some(20), top_p: Some(0.9), ..Sampling::GREEDY };
    let stop = StopRules { strings: ["END", "b", "c"].map(str::to_owned).to_vec(), ..StopRules::default() };
    let options = GenerateOptions { n: 2, sampling, stop, ..GenerateOptions::default() };
    let request = Request { prompt: Prompt::Text(PromptText::marks("def")), reference: None, options };
    let sink = move |event| {
        let _ = send.send(event);
        ControlFlow::Continue(())
    };
    let _ticket = source.generate(request, Box::new(sink));
    follow(2, &receive)
}

/// A server whose texts are all the same, up to a stop.
fn same() -> Model {
    Model::new(&["one two ENDS\n"])
}

fn holds(came: &Came) -> bool {
    came.broken.is_empty() && came.ended.iter().all(|(_, text)| text == "one two ")
}

#[test]
fn what_a_server_refuses_by_name_it_is_not_asked_again() {
    let mut wrong = Vec::new();
    for &(way, refusal) in REFUSALS {
        for parameter in PARAMETERS {
            let refuses = std::slice::from_ref(parameter);
            let odd = Odd { refuses, refusal, ..Odd::new(same()) };
            let (known, server) = (odd.clone(), odd.start());
            let source = match open(&server) {
                Ok(source) => source,
                Err(error) => {
                    wrong.push(format!("{parameter}, {way}: {error}"));
                    continue;
                }
            };
            let first = ask_for_all(&source, 0.7);
            let refused = server.asked().iter().filter(|asked| known.refused(asked).is_some()).count();
            let again = ask_for_all(&source, 0.7);
            let in_all = server.asked().iter().filter(|asked| known.refused(asked).is_some()).count();
            if !holds(&first) || !holds(&again) || in_all > refused || refused > 4 {
                wrong.push(format!("{parameter}, {way}: {refused} of {in_all} refused, {first:?}, {again:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), REFUSALS.len() * PARAMETERS.len(), wrong.join("\n"));
}

#[test]
fn a_server_that_refuses_all_of_them_is_asked_without_them() {
    for &(way, refusal) in REFUSALS {
        let server = Odd { refuses: PARAMETERS, refusal, ..Odd::new(same()) }.start();
        let came = ask_for_all(&open(&server).unwrap_or_else(|error| panic!("{way}: {error}")), 0.7);
        assert!(holds(&came), "{way}: {came:?}");
        assert!(server.asked().len() < 3 * PARAMETERS.len(), "{way}: {} requests", server.asked().len());
        let last = server.asked().pop().unwrap().body;
        let names: Vec<&String> = last.as_object().unwrap().keys().collect();
        assert_eq!(names, ["max_completion_tokens", "model", "prompt"], "{way}");
    }
}

/// A server that answers a real request with these words where `has` is true of it.
fn refusing(has: fn(&serde_json::Value) -> bool, said: &'static str) -> Server {
    let model = same();
    Server::start(move |asked, out| {
        if asked.is_real() && has(&asked.body) {
            return send(out, "400 Bad Request", "", &serde_json::json!({ "error": { "message": said } }).to_string());
        }
        model.answer(asked, out);
    })
}

#[test]
fn values_that_are_refused_give_way_as_far_as_they_have_to() {
    type Case = (fn(&serde_json::Value) -> bool, &'static str, &'static str, serde_json::Value);
    let null = serde_json::Value::Null;
    let cases: [Case; 5] = [
        (
            |body| body["stop"].as_array().is_some_and(|stops| stops.len() > 2),
            "Invalid 'stop': array too long. Expected an array with maximum length 2, but got an array with length 3.",
            "stop",
            serde_json::json!(["END", "b"]),
        ),
        (
            |body| body["temperature"] == 0.7,
            "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
            "temperature",
            null.clone(),
        ),
        (
            |body| body["temperature"] == 0.7,
            "invalid temperature: only 1 is allowed for this model",
            "temperature",
            null.clone(),
        ),
        (
            |body| body.get("top_p").is_some(),
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
            "temperature",
            serde_json::json!(0.7),
        ),
        (|body| body["n"] == 2, "n > 1 is not supported when streaming", "n", null),
    ];
    for (has, said, name, left) in cases {
        let server = refusing(has, said);
        let came = ask_for_all(&open(&server).unwrap(), 0.7);
        assert!(holds(&came), "{said}: {came:?}");
        let last = server.asked().pop().unwrap().body;
        let same =
            left == last[name] || (last[name].as_f64()).zip(left.as_f64()).is_some_and(|(a, b)| (a - b).abs() < 1e-6);
        assert!(same, "{said}: {last}");
    }
    // Greedy, for those that draw always.
    let server = refusing(|body| body["temperature"] == 0.0, "`temperature` must be strictly positive");
    assert!(holds(&ask_for_all(&open(&server).unwrap(), 0.0)));
    let last = server.asked().pop().unwrap().body;
    assert!(last["temperature"].as_f64().is_some_and(|t| t > 0.0 && t < 0.1), "{last}");
}

#[test]
fn what_cannot_be_left_out_is_an_error_in_the_words_of_the_server() {
    for said in [
        "the prompt has a forbidden word",
        "temperature must be between 0 and 0.5",
        "'max_tokens' or 'max_completion_tokens' is too large: 256. This model's maximum context length is 128 tokens.",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 128]",
        "please stop",
        "the model seed-coder-n is not ready",
        "messages: at least one message is required",
    ] {
        let server = refusing(|_| true, said);
        let came = ask_for_all(&open(&server).unwrap(), 0.7);
        assert_eq!(
            came.over.as_deref().and_then(|why| why.split_once("answers 400: ")).map(|(_, why)| why),
            Some(said)
        );
        assert!(server.asked().iter().filter(|asked| asked.is_real()).count() == 1, "{said}");
    }
}

#[test]
fn retreats_have_an_end() {
    // It names something else each time, and one and the same for ever.
    let server = refusing(|_| true, "'seed', 'n', 'temperature' and 'top_p' are not supported");
    let came = ask_for_all(&open(&server).unwrap(), 0.7);
    assert!(came.over.is_some_and(|why| why.contains("are not supported")));
    assert!(server.asked().iter().filter(|asked| asked.is_real()).count() < 16);
}

#[test]
fn candidates_that_a_server_leaves_out_are_asked_for_alone() {
    let good = Model::new(&["a\n", "b\n", "c\n"]);
    let server = Server::start(move |asked, out| {
        let mut asked = asked.clone();
        if asked.body["n"].as_u64() > Some(2) {
            asked.body["n"] = 2.into();
        }
        good.answer(&asked, out);
    });
    let came = generate(&open(&server).unwrap(), 3);
    let texts: Vec<&str> = came.ended.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!((texts, came.broken.len()), (vec!["a\n", "b\n", "c\n"], 0));
}

#[test]
fn settings_that_a_server_does_not_take_are_told() {
    let refuses = &["temperature", "seed", "top_p"];
    let server = Odd { refuses, ..Odd::new(same()) }.start();
    let sampling = Sampling { temperature: 0.3, top_p: Some(0.9), ..Sampling::GREEDY };
    let client = Client::new(Address::parse(&server.address).unwrap(), None, QUICK, QUICK.silence).unwrap();
    let wishes = Wishes { sampling: Some(&sampling), ..Wishes::default() };
    let note = ServerSource::open_with(client, wishes).unwrap().info().note.unwrap();
    assert!(note.contains("does not take seed, temperature, top_p"), "{note}");
    assert!(open(&Server::good(same())).unwrap().info().note.is_none());
}

#[test]
fn a_limit_that_is_too_low_for_a_trial_is_raised() {
    let model = same();
    let server = Server::start(move |asked, out| {
        if asked.body["max_tokens"] == 1 {
            let said = "Could not finish the message because max_tokens was reached. Try again with higher max_tokens.";
            return send(out, "400 Bad Request", "", &serde_json::json!({ "error": { "message": said } }).to_string());
        }
        model.answer(asked, out);
    });
    assert!(holds(&ask_for_all(&open(&server).unwrap(), 0.7)));
}

#[test]
fn an_address_is_asked_as_it_is_given() {
    let cases = [
        ("", "/v1", false),
        ("/", "/v1", false),
        ("/v1/", "/v1", false),
        ("/api/v3", "/api/v3", false),
        ("/v1beta/openai/", "/v1beta/openai", true),
        ("/openai/v1", "/openai/v1", false),
        ("/api/v1/chat/completions", "/api/v1", true),
        ("/api/v1/chat/completions/", "/api/v1", true),
        ("/inference/completions", "/inference", false),
        ("/openai/deployments/x/chat/completions?api-version=2024-02-01", "/openai/deployments/x", true),
        ("/openai/v1/?api-version=preview", "/openai/v1", false),
        // Without a version it may be a prefix, or all of it.
        ("/gateway", "/gateway", false),
        ("/gateway", "/gateway/v1", true),
        ("", "", true),
    ];
    for (given, base, chat) in cases {
        let server = Odd { base, ..Odd::new(Model { chat, ..Model::new(&["a\n"]) }) }.start();
        let address = Address::parse(&format!("{}{given}", server.address)).unwrap();
        let source = ServerSource::open(address, None, Wishes::default());
        let source = source.unwrap_or_else(|error| panic!("{given}: {error}"));
        assert_eq!(generate(&source, 1).ended[0].1, "a\n", "{given}");
        assert!(!source.info().device.contains('?'), "a query may hold a key");
        let query = given.split_once('?').map(|(_, query)| query);
        let last = server.asked().pop().unwrap().path;
        let way = if chat { "/chat/completions" } else { "/completions" };
        assert_eq!(last, base.to_owned() + way + &query.map_or_else(String::new, |query| format!("?{query}")));
    }
}

#[test]
fn a_name_is_tried_before_it_is_refused() {
    let open_named = |server: &Server, name: Option<&str>| {
        let client = Client::new(Address::parse(&server.address).unwrap(), None, QUICK, QUICK.silence).unwrap();
        ServerSource::open_with(client, Wishes { model: name, ..Wishes::default() })
    };
    let model = || Model { aliases: &["tiny-coder:latest", "my-deployment"], ..Model::new(&["a\n"]) };
    let server = Server::good(model());
    for name in ["tiny-coder", "tiny-coder:latest", "my-deployment"] {
        let source = open_named(&server, Some(name)).unwrap();
        assert_eq!((source.info().model.as_str(), generate(&source, 1).ended[0].1.as_str()), (name, "a\n"));
        let note = source.info().note.unwrap_or_default();
        assert_eq!(note.contains("does not list my-deployment"), name == "my-deployment", "{note}");
    }
    let said = open_named(&server, Some("big")).err().unwrap();
    assert!(said.is_refusal() && said.to_string().contains("has no model big; it has tiny-coder"), "{said}");
    // Servers without a list, or with an odd one.
    let lists: [(&'static str, &'static str); 9] = [
        ("404 Not Found", ""),
        ("405 Method Not Allowed", ""),
        ("401 Unauthorized", "{\"error\":\"no key\"}"),
        ("403 Forbidden", "no"),
        ("200 OK", "<!doctype html><title>Home</title>"),
        ("200 OK", "{\"error\":\"Unexpected endpoint or method. (GET /v1/models)\"}"),
        ("200 OK", "{\"object\":\"list\",\"data\":null}"),
        ("200 OK", ""),
        ("200 OK", "{\"data\":[{\"id\":null},7,{\"id\":3}]}"),
    ];
    for (status, list) in lists {
        let model = model();
        let server = Server::start(move |asked, out| match asked.path.as_str() {
            "/v1/models" => send(out, status, "", list),
            _ => model.answer(asked, out),
        });
        let source = open_named(&server, Some("tiny-coder")).unwrap_or_else(|error| panic!("{status} {list}: {error}"));
        assert_eq!(generate(&source, 1).ended[0].1, "a\n", "{status} {list}");
        let said = open_named(&server, None).err().unwrap().to_string();
        let words = ["--server-model", "401", "403", "web page", "it is empty"];
        assert!(words.iter().any(|word| said.contains(word)), "{status} {list}: {said}");
    }
}
