//! The source against a server that does all kinds of wrong.

use std::io::Write;
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use super::*;
use crate::engine::{FinishReason, GenerateOptions, StopRules, Summary};
use crate::model::PromptText;

#[path = "../../../tests/shared/server.rs"]
pub mod scripted;
use scripted::{Model, ReceivedRequest, Server, begin, event, send};

mod ends;
mod messages;
mod odd;
mod retreats;

const KEY: &str = "sk-secret-5f2a";
/// Time limits of a test.
const QUICK: Patience = Patience { silence: Duration::from_millis(500), ..Patience::QUICK };

fn open(server: &Server) -> Result<ServerSource, ServerError> {
    let key = Key::of_test(KEY);
    let client =
        Client::new(Address::parse(&server.address).unwrap(), Some(key), QUICK, Duration::from_millis(800)).unwrap();
    ServerSource::open_with(client, Wishes::default())
}

/// Outcome of a generation.
#[derive(Debug, Default)]
struct Came {
    /// Reasons and texts by candidate.
    ended: Vec<(Option<FinishReason>, String)>,
    broken: Vec<(usize, String)>,
    done: bool,
    summary: Option<Summary>,
    /// `Refused` or `Failed`.
    over: Option<String>,
    shown: Vec<String>,
}

fn ask(source: &ServerSource, n: usize) -> (Ticket, Receiver<Event>) {
    ask_with(source, n, StopRules { strings: vec!["END".to_owned()], ..StopRules::default() })
}

fn ask_with(source: &ServerSource, n: usize, stop: StopRules) -> (Ticket, Receiver<Event>) {
    let (send, receive) = channel();
    let options = GenerateOptions { n, stop, ..GenerateOptions::default() };
    let request = Request { prompt: Prompt::Text(PromptText::marks("def")), reference: None, options };
    let sink = move |event| {
        let _ = send.send(event);
        ControlFlow::Continue(())
    };
    (source.generate(request, Box::new(sink)), receive)
}

fn follow(n: usize, receive: &Receiver<Event>) -> Came {
    let mut came = Came { ended: vec![(None, String::new()); n], shown: vec![String::new(); n], ..Came::default() };
    while let Ok(event) = receive.recv_timeout(Duration::from_secs(20)) {
        match event {
            Event::Tokens { candidate, text, .. } => came.shown[candidate].push_str(&text),
            Event::Broken { candidate, why } => came.broken.push((candidate, why)),
            Event::Finished { candidate, reason, text, .. } => {
                assert_eq!(came.ended[candidate].0, None, "ends once");
                came.ended[candidate] = (Some(reason), text);
            }
            Event::Done(summary) => {
                assert_eq!(summary.ranking.len(), n);
                came.done = true;
                came.summary = Some(*summary);
            }
            Event::Refused(why) | Event::Failed(why) => came.over = Some(why),
            Event::Prefill { .. } | Event::Scored { .. } | Event::Step(_) => {}
        }
    }
    assert!(came.done != came.over.is_some(), "one end: {came:?}");
    assert!(!format!("{came:?}").contains(KEY), "{came:?}");
    came
}

fn generate(source: &ServerSource, n: usize) -> Came {
    let (_ticket, receive) = ask(source, n);
    follow(n, &receive)
}

/// A server that is good until it is asked for real.
fn bad(answer: impl Fn(&ReceivedRequest, &mut TcpStream) + Send + Sync + 'static) -> Server {
    let good = Model::new(&["a text\n", "other\n"]);
    Server::start(move |asked, out| if asked.is_real() { answer(asked, out) } else { good.answer(asked, out) })
}

fn piece(index: usize, text: &str, end: Option<&str>) -> String {
    serde_json::json!({ "choices": [{ "index": index, "text": text, "finish_reason": end }] }).to_string()
}

#[test]
fn texts_end_where_the_server_or_the_rules_end_them() {
    let server = Server::good(Model::new(&["one two three\n", "one END two", "ü€𝄞\n"]));
    let came = generate(&open(&server).unwrap(), 3);
    let stop = |text: &str| (Some(FinishReason::Stop), text.to_owned());
    assert_eq!(came.ended, [stop("one two three\n"), stop("one "), stop("ü€𝄞\n")]);
    assert_eq!(came.shown[1], "one ", "what could be a stop is held back");
    assert!(came.done && came.broken.is_empty());
    let long = bad(|_, out| {
        begin(out);
        event(out, &piece(0, "abc", Some("length")));
    });
    let came = generate(&open(&long).unwrap(), 1);
    assert_eq!(came.ended, [(Some(FinishReason::Length), "abc".to_owned())]);
    assert!(came.broken.is_empty());
    for name in ["reasoning_content", "reasoning"] {
        let thinking = bad(move |_, out| {
            begin(out);
            event(out, &format!(r#"{{"choices":[{{"index":0,"delta":{{"{name}":"hm"}}}}]}}"#));
            event(out, r#"{"choices":[{"index":0,"delta":{"content":null},"finish_reason":"length"}]}"#);
        });
        let came = generate(&open(&thinking).unwrap(), 1);
        assert_eq!(came.ended, [(Some(FinishReason::Length), String::new())]);
        assert!(came.broken[0].1.starts_with("its thoughts took all 256 tokens"), "{came:?}");
    }
}

#[test]
fn thoughts_within_the_text_of_a_server_are_no_code() {
    let body = "    return n\n";
    let answers = [
        (
            "<|channel|>analysis<|message|>f:\n```python\ndef f(n):\n    return 0\n```\n<|end|>",
            "<|start|>assistant<|channel|>final<|message|>",
        ),
        ("<|channel>thought\n```python\ndef f(n):\n    return 0\n```\n<channel|>", ""),
        ("<think>\n```python\ndef f(n):\n    return 0\n```\n</think>\n\n", ""),
    ];
    for (thoughts, begins) in answers {
        for thinks_on in [false, true] {
            let text = if thinks_on {
                thoughts.split_once("```\n").unwrap().0.to_owned()
            } else {
                format!("{thoughts}{begins}```python\ndef f(n):\n{body}```\n")
            };
            let server = bad(move |_, out| {
                begin(out);
                // Marks come in pieces.
                for at in (0..text.len()).step_by(3) {
                    event(out, &piece(0, &text[at..text.len().min(at + 3)], None));
                }
                event(out, &piece(0, "", Some("length")));
            });
            let function = crate::code::open_function("def f(n):\n").unwrap().requested();
            let chat = Chat::of_server();
            let mut stop = StopRules::default();
            crate::prompt::chat::read(&mut stop, Some(&chat), || function, false);
            let came = follow(1, &ask_with(&open(&server).unwrap(), 1, stop).1);
            if thinks_on {
                assert_eq!(came.ended[0].1, "", "{thoughts}");
                assert!(came.broken[0].1.starts_with("its thoughts took all"), "{came:?}");
            } else {
                assert_eq!((came.ended[0].1.as_str(), came.shown[0].as_str()), (body, body), "{thoughts}");
            }
        }
    }
}

#[test]
fn where_one_candidate_fails_the_others_go_on() {
    let good = Model { n: false, ..Model::new(&["a\n", "b\n", "c\n", "d\n"]) };
    let server = Server::start(move |asked, out| match asked.body["seed"].as_u64().unwrap_or(0) % 64 {
        1 if asked.is_real() => send(out, "500 Internal Server Error", "", r#"{"error":{"message":"no memory"}}"#),
        2 if asked.is_real() => {
            begin(out);
            event(out, &piece(0, "half", None));
        }
        _ => good.answer(asked, out),
    });
    let came = generate(&open(&server).unwrap(), 4);
    let reasons: Vec<FinishReason> = came.ended.iter().map(|(reason, _)| reason.unwrap()).collect();
    let (stop, failed) = (FinishReason::Stop, FinishReason::Failed);
    assert_eq!(reasons, [stop, failed, failed, stop]);
    assert_eq!(came.ended[2].1, "half", "what came is kept");
    let why = |c: usize| came.broken.iter().find(|(candidate, _)| *candidate == c).map(|(_, why)| why.clone()).unwrap();
    assert!(why(1).contains("answers 500: no memory") && why(2).contains("ended its answer"), "{came:?}");
    assert!(came.done);
    let seeds = server
        .asked()
        .into_iter()
        .filter(ReceivedRequest::is_real)
        .map(|asked| asked.body["seed"].as_u64().unwrap() % 64);
    let mut seeds: Vec<u64> = seeds.collect();
    seeds.sort_unstable();
    assert_eq!(seeds, [0, 1, 1, 1, 2, 3], "an error of the server is tried again, a text that broke off is not");
}

#[test]
fn a_busy_server_is_asked_again_as_it_wants() {
    let (times, good) = (AtomicUsize::new(0), Model::new(&["a\n"]));
    let server = bad(move |asked, out| match times.fetch_add(1, Ordering::Relaxed) {
        0 => send(out, "429 Too Many Requests", "retry-after: 1\r\n", ""),
        1 => send(out, "503 Service Unavailable", "", "loading"),
        _ => good.answer(asked, out),
    });
    let source = open(&server).unwrap();
    let start = Instant::now();
    assert!(generate(&source, 2).done);
    assert!(start.elapsed() >= Duration::from_secs(1), "Retry-After counts");
    let busy = bad(|_, out| send(out, "429 Too Many Requests", "retry-after: 86400\r\n", ""));
    let said = generate(&open(&busy).unwrap(), 2).over.unwrap();
    assert!(said.contains("answers 429: it does not say why"), "{said}");
}

#[test]
fn no_answer_lasts_for_ever_and_none_is_too_large() {
    type Answer = fn(&mut TcpStream);
    let cases: [(&str, Answer); 9] = [
        ("has more than 1 MiB without an end", |out| {
            begin(out);
            while out.write_all(&[b'a'; 4096]).is_ok() {}
        }),
        ("larger than 16 MiB", |out| {
            let _ = out
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1073741824\r\n\r\n{");
            while out.write_all(&[b' '; 4096]).is_ok() {}
        }),
        ("header", |out| {
            let _ = out.write_all(b"HTTP/1.1 200 OK\r\n");
            while out.write_all(&[b"x-more: ", &[b'a'; 1000][..], b"\r\n"].concat()).is_ok() {}
        }),
        ("was silent for", |out| {
            begin(out);
            std::thread::sleep(Duration::from_secs(3));
            let _ = out.flush();
        }),
        ("was silent for", |_| std::thread::sleep(Duration::from_secs(3))),
        ("was silent for", |out| {
            begin(out);
            event(out, &piece(0, "a", None));
            std::thread::sleep(Duration::from_secs(3));
            let _ = out.flush();
        }),
        ("it is not JSON of a completion", |out| {
            begin(out);
            event(out, "{\"choices\":[{\"index\":0,\"text\":");
        }),
        ("it is not UTF-8 text", |out| {
            begin(out);
            let _ = out.write_all(b"data: {\"choices\":[{\"index\":0,\"text\":\"\xC3\"}]}\n\n");
        }),
        ("gave up: out of memory at ***", |out| {
            begin(out);
            event(out, &serde_json::json!({ "error": { "message": format!("out of memory at {KEY}") } }).to_string());
        }),
    ];
    for (words, answer) in cases {
        let server = bad(move |_, out| answer(out));
        let source = open(&server).unwrap();
        let start = Instant::now();
        let came = generate(&source, 1);
        let said = came.over.clone().or_else(|| came.broken.first().map(|(_, why)| why.clone())).unwrap();
        assert!(said.contains(words), "{words}: {said}");
        assert!(start.elapsed() < Duration::from_secs(10), "{words}");
    }
}

#[test]
fn what_is_only_slow_or_cut_at_odd_places_is_read() {
    let server = bad(|_, out| {
        begin(out);
        let events = [piece(0, "ü€", None), piece(0, "𝄞\n", Some("stop"))].map(|data| format!("data: {data}\r\n\r\n"));
        // A byte at a time: half a character per packet.
        for byte in events.concat().bytes() {
            if out.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let came = generate(&open(&server).unwrap(), 1);
    assert_eq!(came.ended, [(Some(FinishReason::Stop), "ü€𝄞\n".to_owned())]);
    // One that does not stream.
    let whole = bad(|_, out| {
        let body = r#"{"choices":[{"index":1,"text":"b","finish_reason":"stop"},{"index":0,"text":"a","finish_reason":"stop"}]}"#;
        send(out, "200 OK", "content-type: application/json\r\n", body);
    });
    let texts: Vec<String> = generate(&open(&whole).unwrap(), 2).ended.into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["a", "b"]);
}

#[test]
fn what_is_cancelled_is_closed() {
    let (closed, was_closed) = channel();
    let server = bad(move |_, out| {
        begin(out);
        while event(out, &piece(0, "x", None)) && event(out, &piece(1, "y", None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = closed.send(());
    });
    let (ticket, receive) = ask(&open(&server).unwrap(), 2);
    while !matches!(receive.recv_timeout(Duration::from_secs(10)).unwrap(), Event::Tokens { candidate: 1, .. }) {}
    ticket.cancel(0);
    while !matches!(
        receive.recv_timeout(Duration::from_secs(10)).unwrap(),
        Event::Finished { candidate: 0, reason: FinishReason::Cancelled, .. }
    ) {}
    assert!(was_closed.recv_timeout(Duration::from_millis(100)).is_err(), "the other one goes on");
    ticket.cancel_all();
    assert!(was_closed.recv_timeout(Duration::from_secs(5)).is_ok(), "the server writes for nobody");
    // Also before anything was said.
    let (closed, was_closed) = channel();
    let silent = bad(move |_, out| {
        let _ = std::io::Read::read(out, &mut [0]);
        let _ = closed.send(());
    });
    let (ticket, receive) = ask(&open(&silent).unwrap(), 1);
    std::thread::sleep(Duration::from_millis(100));
    ticket.cancel_all();
    assert!(was_closed.recv_timeout(Duration::from_millis(600)).is_ok(), "and reads for nobody");
    assert_eq!(follow(1, &receive).ended[0].0, Some(FinishReason::Cancelled));
}

#[test]
fn nothing_goes_to_another_server() {
    let other = Server::good(Model::new(&["a\n"]));
    for status in ["301 Moved Permanently", "307 Temporary Redirect"] {
        let to = format!("location: {}/v1/completions?token=x\r\n", other.address);
        let server = bad(move |_, out| send(out, status, &to, ""));
        let said = generate(&open(&server).unwrap(), 1).over.unwrap();
        assert!(
            said.contains("sends requests on to") && said.contains(&other.address) && !said.contains('?'),
            "{said}"
        );
        for asked in server.asked() {
            assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
        }
    }
    assert!(other.asked().is_empty());
}

#[test]
fn what_a_server_refuses_is_told_without_the_key() {
    let server = Server::good(Model { key: Some("another".to_owned()), ..Model::new(&["a\n"]) });
    let said = open(&server).err().unwrap();
    assert!(said.is_refusal() && said.to_string().contains("answers 401: it does not take the key"), "{said}");
    assert!(said.to_string().contains("Bearer ***") && !format!("{said:?}{said}").contains(KEY), "{said}");
    let nobody = Client::new(Address::parse("http://127.0.0.1:9").unwrap(), None, QUICK, QUICK.silence).unwrap();
    let said = ServerSource::open_with(nobody, Wishes::default()).err().unwrap();
    assert!(!said.is_refusal() && said.to_string().contains("cannot be reached"), "{said}");
}

#[test]
fn what_a_server_can_do_is_found_out() {
    let can = |source: &ServerSource| (source.can.chat, source.can.n, source.can.logprobs);
    let all = Model::new(&["a text\n", "other\n"]);
    assert_eq!(can(&open(&Server::good(all.clone())).unwrap()), (false, true, true));
    assert_eq!(can(&open(&Server::good(Model { n: false, ..all.clone() })).unwrap()), (false, false, true));
    assert_eq!(can(&open(&Server::good(Model { chat: true, ..all.clone() })).unwrap()), (true, true, true));
    // One that refuses what it does not know.
    let model = Model { logprobs: false, ..all.clone() };
    let strict = Server::start(move |asked, out| {
        if asked.body.get("logprobs").is_some() {
            return send(out, "500 Internal Server Error", "", "logprobs are not supported");
        }
        model.answer(asked, out);
    });
    let source = open(&strict).unwrap();
    assert_eq!(can(&source), (false, true, false));
    assert!(source.info().note.unwrap().contains("tells no log-probabilities"));
    assert!(generate(&source, 2).done);
    // One without a list of models, or with several.
    let all = Model { aliases: &["m"], ..all };
    let bare = Server::start(move |asked, out| match asked.path.as_str() {
        "/v1/models" => send(out, "404 Not Found", "", ""),
        _ => all.answer(asked, out),
    });
    let open_named = |server: &Server, name: Option<&str>| {
        let client = Client::new(Address::parse(&server.address).unwrap(), None, QUICK, QUICK.silence).unwrap();
        ServerSource::open_with(client, Wishes { model: name, ..Wishes::default() }).map(|source| source.info().model)
    };
    assert!(open_named(&bare, None).unwrap_err().to_string().contains("name one with --server-model"));
    assert_eq!(open_named(&bare, Some("m")).unwrap(), "m");
    // One whose list is broken serves what is named.
    let broken = Model { aliases: &["m"], ..Model::new(&["a text\n"]) };
    let broken = Server::start(move |asked, out| match asked.path.as_str() {
        "/v1/models" => send(out, "500 Internal Server Error", "", "Internal Server Error"),
        _ => broken.answer(asked, out),
    });
    assert_eq!(open_named(&broken, Some("m")).unwrap(), "m");
    assert!(open_named(&broken, None).unwrap_err().to_string().contains("answers 500"));
    let several = Server::start(|_, out| send(out, "200 OK", "", r#"{"data":[{"id":"a"},{"id":"b"}]}"#));
    let said = open_named(&several, None).unwrap_err().to_string();
    assert!(said.contains("has several models") && said.contains("a, b"), "{said}");
}
