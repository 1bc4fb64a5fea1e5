//! Answers in odd forms: nothing of their text is lost.

use super::scripted::odd::{FRAMINGS, Odd, SHAPES};
use super::*;

const TEXTS: [&str; 2] = ["one ü€𝄞 two\n", "    other\n"];

/// A server that is asked for completions, or in conversations.
fn server(chat: bool) -> Odd {
    Odd::new(Model { chat, ..Model::new(&TEXTS) })
}

/// What is wrong with what two candidates of this server say; counts of tokens, too, where it tells them.
fn wrong(odd: Odd, counts: bool) -> Option<String> {
    let server = odd.start();
    let source = match open(&server) {
        Ok(source) => source,
        Err(error) => return Some(error.to_string()),
    };
    let came = generate(&source, 2);
    let ended = TEXTS.map(|text| (Some(FinishReason::Stop), text.to_owned()));
    let summary = came.summary.clone().unwrap_or_default();
    let counted = !counts || summary.prompt_tokens == 11 && summary.tokens > 5;
    (came.ended != ended || !came.broken.is_empty() || !counted).then(|| format!("{came:?}"))
}

fn hold(what: &str, cases: impl Iterator<Item = (String, Option<String>)>) {
    let wrong: Vec<String> = cases.filter_map(|(name, wrong)| Some(format!("{name}: {}", wrong?))).collect();
    assert!(wrong.is_empty(), "{} {what}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_answer_is_read_however_it_is_framed() {
    let each = FRAMINGS.iter().flat_map(|&(name, framing)| {
        [false, true].map(|chat| (format!("{name}, chat {chat}"), wrong(Odd { framing, ..server(chat) }, true)))
    });
    hold("framings", each);
}

#[test]
fn an_odd_field_costs_itself_and_not_the_answer() {
    let each = SHAPES.iter().flat_map(|&(name, shape)| {
        [(false, false), (false, true), (true, false), (true, true)].map(|(chat, whole)| {
            let refuses: &[&str] = if whole { &["stream"] } else { &[] };
            (format!("{name}, chat {chat}, whole {whole}"), wrong(Odd { shape, refuses, ..server(chat) }, false))
        })
    });
    hold("shapes", each);
}

#[test]
fn a_missing_index_is_the_place_in_the_list() {
    for whole in [false, true] {
        let refuses: &[&str] = if whole { &["stream"] } else { &[] };
        let shape = |piece: &mut serde_json::Value| {
            for choice in piece["choices"].as_array_mut().into_iter().flatten() {
                choice.as_object_mut().unwrap().remove("index");
            }
        };
        // A stream without it has one candidate per request.
        let model = Model { n: whole, ..Model::new(&TEXTS) };
        assert_eq!(wrong(Odd { shape, refuses, ..Odd::new(model) }, false), None, "whole {whole}");
    }
}

#[test]
fn counts_of_tokens_are_read_in_any_form_and_once() {
    let shapes: [scripted::odd::Shape; 3] = [
        |piece| {
            for name in ["prompt_tokens", "completion_tokens"] {
                if let Some(count) = piece["usage"].get_mut(name) {
                    *count = serde_json::json!(format!("{count}"));
                }
            }
        },
        |piece| {
            for name in ["prompt_tokens", "completion_tokens"] {
                if let Some(count) = piece["usage"].get_mut(name) {
                    *count = serde_json::json!(count.as_f64());
                }
            }
        },
        // The count so far, with each piece.
        |piece| {
            if piece["usage"].is_null() {
                piece["usage"] = serde_json::json!({ "prompt_tokens": 11, "completion_tokens": 3 });
            }
        },
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        let odd = Odd { shape, ..Odd::new(Model { logprobs: false, ..Model::new(&TEXTS) }) };
        let came = generate(&open(&odd.start()).unwrap(), 2);
        let summary = came.summary.unwrap();
        assert_eq!((summary.prompt_tokens, summary.tokens), (11, 8), "{number}");
    }
}
