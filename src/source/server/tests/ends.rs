//! Where and why answers end, and how fast they were.

use super::scripted::odd::{FRAMINGS, Odd, named};
use super::*;

/// The events of one candidate of a server that answers for real with these bytes.
fn answered(bytes: &'static str) -> Came {
    let server = bad(move |_, out| {
        let _ = out.write_all(bytes.as_bytes());
    });
    generate(&open(&server).unwrap(), 1)
}

/// Head of a stream.
macro_rules! stream {
    ($body:literal) => {
        concat!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n", $body)
    };
}

#[test]
fn a_stream_that_closes_is_an_end_only_after_a_reason() {
    let ended = |came: &Came| came.ended[0].clone();
    let came = answered(stream!("data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\n"));
    assert_eq!((ended(&came), came.broken.len()), ((Some(FinishReason::Stop), "a".to_owned()), 0));
    let came = answered(stream!("data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n"));
    assert_eq!((ended(&came), came.broken.len()), ((Some(FinishReason::Stop), "a".to_owned()), 0));
    let came = answered(stream!("data: {\"choices\":[{\"text\":\"a\"}]}\n\n"));
    assert_eq!(ended(&came), (Some(FinishReason::Failed), "a".to_owned()));
    assert!(came.broken[0].1.contains("ended its answer before the candidate's end"), "{came:?}");
    // Nothing is not whole.
    let came = answered(stream!("data: [DONE]\n\n"));
    assert!(came.over.as_ref().is_some_and(|why| why.contains("it holds no text")), "{came:?}");
    // A body that breaks off, whatever its length should be.
    for length in ["", "content-length: 999\r\n"] {
        let body = "{\"choices\":[{\"index\":0,\"text\":\"a";
        let server = bad(move |_, out| {
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{length}connection: close\r\n\r\n");
            let _ = out.write_all((head + body).as_bytes());
        });
        let came = generate(&open(&server).unwrap(), 1);
        assert!(came.over.as_ref().is_some_and(|why| why.contains("ended its answer")), "{came:?}");
    }
}

#[test]
fn reasons_are_read_in_the_words_of_several_servers() {
    let of = |reason: &str| {
        let data = format!(r#"{{"choices":[{{"text":"a","finish_reason":{reason}}}]}}"#);
        let server = bad(move |_, out| {
            begin(out);
            event(out, &data);
        });
        let came = generate(&open(&server).unwrap(), 1);
        (came.ended[0].0.unwrap(), came.broken.first().map(|(_, why)| why.clone()).unwrap_or_default())
    };
    for reason in ["\"stop\"", "\"eos_token\"", "\"STOP\"", "\"stop_sequence\"", "\"eos\""] {
        assert_eq!(of(reason).0, FinishReason::Stop, "{reason}");
    }
    for reason in ["\"length\"", "\"max_tokens\"", "\"MAX_TOKENS\"", "\"model_length\""] {
        assert_eq!(of(reason).0, FinishReason::Length, "{reason}");
    }
    for (reason, word) in [("\"error\"", "error"), ("\"content_filter\"", "filter"), ("\"network_error\"", "network")] {
        let (reason, why) = of(reason);
        assert!(reason == FinishReason::Failed && why.contains(word), "{reason:?} {why}");
    }
}

#[test]
fn errors_within_a_stream_are_quoted() {
    let cases = [
        (stream!("data: {\"error\":{\"message\":\"quota exceeded\"}}\n\ndata: [DONE]\n\n"), "quota exceeded"),
        (stream!("event: error\ndata: {\"status_code\":500,\"message\":\"out of room\"}\n\n"), "out of room"),
        (stream!("event: error\ndata: worker is gone\n\n"), "worker is gone"),
        (stream!("data: {\"object\":\"error\",\"message\":\"worker died\",\"code\":50001}\n\n"), "worker died"),
        (stream!("data: {\"error\":\"just words\"}\n\n"), "just words"),
        (stream!("{\"error\":{\"message\":\"no colon\"}}\n"), "no colon"),
        (stream!("data: {\"choices\":[{\"text\":\"a\"}]}\n\n{\"error\":{\"message\":\"half way\"}}\n\n"), "half way"),
        (
            stream!(
                "data: {\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}],\"error\":{\"code\":502,\"message\":\"Provider returned error\",\"metadata\":{\"raw\":\"limit of workers\"}}}\n\n"
            ),
            "limit of workers",
        ),
    ];
    for (bytes, words) in cases {
        let came = answered(bytes);
        let said = came.over.clone().or_else(|| came.broken.first().map(|(_, why)| why.clone())).unwrap_or_default();
        assert!(said.contains("gave up") && said.contains(words), "{words}: {came:?}");
        assert_eq!(came.ended.first().and_then(|(reason, _)| *reason), Some(FinishReason::Failed), "{words}");
    }
}

#[test]
fn thoughts_alone_say_so() {
    let field = |name: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"{name}":"hm"}}}}]}}"#);
    let parts = r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":"hm"}]}}]}"#.to_owned();
    let mut thoughts: Vec<String> = ["reasoning_content", "reasoning", "thinking"].map(field).to_vec();
    thoughts.extend([parts, r#"{"choices":[{"delta":{"reasoning_details":[{"text":"hm"}]}}]}"#.to_owned()]);
    for thought in thoughts {
        for (end, words, reason) in [
            (r#""length""#, "its thoughts took all 256 tokens", FinishReason::Length),
            (r#""stop""#, "thoughts and no answer", FinishReason::Failed),
            ("null", "thoughts and no answer", FinishReason::Failed),
        ] {
            let (thought, end) = (thought.clone(), end.to_owned());
            let told = thought.clone();
            let server = bad(move |_, out| {
                begin(out);
                event(out, &thought);
                event(out, &format!(r#"{{"choices":[{{"delta":{{"content":""}},"finish_reason":{end}}}]}}"#));
                event(out, "[DONE]");
            });
            let came = generate(&open(&server).unwrap(), 1);
            assert_eq!(came.ended, [(Some(reason), String::new())], "{told}");
            let said = &came.broken[0].1;
            assert!(said.contains(words) && said.contains("--max-tokens"), "{told}: {said}");
        }
    }
}

#[test]
fn no_speed_is_told_of_what_came_in_one_piece_or_at_once() {
    let text = "    return 1\n".repeat(20);
    let speed = |name: &str, n: bool, pause: u64| {
        let framing = named(FRAMINGS, name);
        let odd = Odd { framing, ..Odd::new(Model { n, ..Model::new(&[&text]) }) };
        let server = Server::start(move |asked, out| {
            if asked.is_real() {
                std::thread::sleep(Duration::from_millis(pause));
            }
            odd.answer(asked, out);
        });
        let came = generate(&open(&server).unwrap(), 2);
        assert_eq!(came.ended[1].1, text);
        let summary = came.summary.unwrap();
        assert!(summary.tokens > 100, "{summary:?}");
        [summary.tokens_per_second, summary.ms_per_token_all, summary.ms_per_token_first]
    };
    for (name, pause) in [("one JSON body", 0), ("one JSON body", 100), ("events", 0), ("events", 300)] {
        for n in [true, false] {
            assert_eq!(speed(name, n, pause).map(f64::to_bits), [0; 3], "{name}, {n}, {pause}");
        }
    }
    let slow = speed("a byte at a time", true, 0);
    assert!(slow[0] > 0.0 && slow[0] < 100_000.0 && slow[1] > 0.0, "{slow:?}");
}
