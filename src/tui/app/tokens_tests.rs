//! Tokens as a session shows them.

use proptest::prelude::*;

use super::*;
use crate::engine::{Event, FinishReason};
use crate::job::{Job, TestsChoice};
use crate::tui::app::Msg;
use crate::tui::app::fixture::{PROMPT, Session};

/// A vocabulary: an id is a place in it; and what prompts begin answers with.
struct Words(Vec<&'static str>, &'static str);

impl Spell for Words {
    fn pieces(&self, ids: &[u32]) -> Vec<String> {
        ids.iter().map(|&id| self.token(id)).collect()
    }

    fn token(&self, id: u32) -> String {
        self.0.get(id as usize).copied().unwrap_or_default().to_owned()
    }

    fn begun(&self) -> &str {
        self.1
    }
}

/// The tokens of a body, with their probabilities.
const BODY: [(&str, f32); 14] = [
    ("    ", 0.99),
    ("if", 0.95),
    (" n", 0.7),
    (" >", 0.2),
    (" running", 0.4),
    (":\n", 0.97),
    ("        ", 0.99),
    ("return", 0.9),
    (" n", 0.8),
    ("\n", 0.9),
    ("    ", 0.99),
    ("return", 0.99),
    (" running", 0.9),
    ("\n", 0.99),
];

/// A session of `n` candidates whose source has these words.
pub fn session(n: usize, words: Vec<&'static str>, chat: bool) -> Session {
    session_begun(n, words, chat, "")
}

fn session_begun(n: usize, words: Vec<&'static str>, chat: bool, begun: &'static str) -> Session {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), n);
    session.open(true);
    let insight = Insight { spelling: Arc::new(Words(words, begun)), chat };
    session.send(Msg::Insight(insight));
    session.key("g");
    session
}

/// A session whose candidates are written in steps of three tokens, two of them drafted.
pub fn written(n: usize) -> Session {
    let mut session = session(n, BODY.iter().map(|token| token.0).collect(), false);
    for first in (0..BODY.len()).step_by(3) {
        let part = first..(first + 3).min(BODY.len());
        let alternative = |at: usize| {
            vec![
                Alternative { id: at as u32, logprob: BODY[at].1.ln() },
                Alternative { id: 12, logprob: 0.15_f32.ln() },
            ]
        };
        for candidate in 0..n {
            session.event(Event::Tokens {
                candidate,
                text: BODY[part.clone()].iter().map(|token| token.0).collect(),
                ids: part.clone().map(|at| at as u32).collect(),
                logprobs: part.clone().map(|at| BODY[at].1.ln()).collect(),
                alternatives: part.clone().map(alternative).collect(),
                drafted: 4,
                accepted: 2,
            });
        }
        session.step(n);
    }
    session
}

/// The candidates of [`written`] have ended, without their last line end.
pub fn ended(n: usize) -> Session {
    let mut session = written(n);
    let text: String = BODY[..13].iter().map(|token| token.0).collect();
    for candidate in 0..n {
        let (text, mean_logprob) = (text.clone(), Some(-0.2));
        session.event(Event::Finished { candidate, reason: FinishReason::Stop, text, mean_logprob });
    }
    session.done();
    session.wait(10_000);
    session
}

/// Texts of a candidate's pieces.
fn texts(session: &Session, candidate: usize) -> Vec<&str> {
    let candidate = &session.run().candidates[candidate];
    (0..candidate.trace.pieces().len()).map(|at| &candidate.shown[candidate.trace.range(at)]).collect()
}

#[test]
fn nothing_is_spelled_while_the_language_colours_the_code() {
    let session = written(2);
    let trace = &session.run().candidates[0].trace;
    assert!(!trace.is_empty() && trace.raw.is_empty() && trace.pieces.is_empty());
}

#[test]
fn tokens_are_found_while_text_comes_and_when_the_final_one_is_shorter() {
    let mut session = written(2);
    assert_eq!(session.key("c"), []);
    assert_eq!(session.state.colouring, Colouring::Drafts);
    assert_eq!(texts(&session, 1), BODY.map(|token| token.0));
    let drafted = |session: &Session, token| session.run().candidates[1].trace.score(token).unwrap().1;
    assert!(drafted(&session, 0) && drafted(&session, 1) && !drafted(&session, 2) && drafted(&session, 3));
    let mut session = ended(2);
    session.key("c");
    assert_eq!(texts(&session, 1), BODY[..13].iter().map(|token| token.0).collect::<Vec<_>>());
}

#[test]
fn the_least_certain_expression_is_named() {
    let mut session = ended(1);
    session.key("c");
    assert_eq!(session.run().candidates[0].trace.doubt(), None, "nobody looks at it");
    assert_eq!(session.key("c"), [Effect::Alternatives(4)]);
    let doubt = session.run().candidates[0].trace.doubt().unwrap();
    assert_eq!((doubt.words.as_str(), doubt.line), ("n > running", 1));
    assert!((doubt.probability - (0.7_f32 * 0.2 * 0.4).cbrt()).abs() < 1e-3, "{doubt:?}");
    assert_eq!(session.key("c"), [Effect::Alternatives(0)], "they are not asked for while nobody looks");
}

#[test]
fn a_single_token_is_no_expression() {
    let mut trace = Trace::default();
    trace.add(&[0, 1], &[-9.0, -0.1], Vec::new(), 0);
    trace.spell(&Words(vec!["x", ";"], ""));
    trace.lay("x;", true);
    let node = |end| CodeNode { kind: code::NodeKind::Expression, range: 0..end };
    assert_eq!(trace.least_certain(&[node(1)], "x;"), None);
    assert_eq!(trace.least_certain(&[node(1), node(2)], "x;").map(|doubt| doubt.words), Some("x;".to_owned()));
}

#[test]
fn a_text_that_does_not_parse_has_a_least_certain_line() {
    let mut session = session(1, vec!["    (n", " x", "\n    ", "y", " z"], false);
    let logprobs = vec![-0.1, -0.1, -0.1, -2.0, -1.0];
    let text = "    (n x\n    y z".to_owned();
    let ids = vec![0, 1, 2, 3, 4];
    let (alternatives, mean_logprob) = (Vec::new(), Some(-0.5));
    let tokens =
        Event::Tokens { candidate: 0, text: text.clone(), ids, logprobs, alternatives, drafted: 0, accepted: 0 };
    session.event(tokens);
    session.event(Event::Finished { candidate: 0, reason: FinishReason::Stop, text, mean_logprob });
    session.key("c");
    session.key("c");
    let doubt = session.run().candidates[0].trace.doubt().unwrap();
    assert_eq!((doubt.words.as_str(), doubt.line), ("y z", 2));
}

#[test]
fn a_server_that_tells_no_tokens_is_said() {
    let mut session = Session::tested(1);
    session.key("g");
    let (ids, logprobs, alternatives) = (Vec::new(), Vec::new(), Vec::new());
    let text = "    return 1\n".to_owned();
    session.event(Event::Tokens { candidate: 0, text, ids, logprobs, alternatives, drafted: 0, accepted: 0 });
    assert_eq!(session.key("c"), []);
    assert_eq!(session.state.colouring, Colouring::Syntax);
    assert!(session.state.notice.as_ref().unwrap().text.contains("servers and kept runs tell none"));
}

#[test]
fn a_cursor_goes_over_the_tokens_of_the_zoomed_candidate() {
    let mut session = ended(1);
    session.key(")");
    assert!(session.state.notice.as_ref().unwrap().text.contains("zoom (z)"));
    for key in ["z", "c", "c", ")", ")", ")", ")"] {
        session.key(key);
    }
    let trace = &session.run().candidates[0].trace;
    let token = trace.pieces()[trace.cursor.unwrap()].token.unwrap();
    assert_eq!(trace.id(token), Some(3));
    let [(12, other)] = trace.others(token).unwrap()[..] else { panic!("only the other one") };
    assert!((other - 0.15).abs() < 1e-3);
    (0..3).for_each(|_| drop(session.key("(")));
    (0..3).for_each(|_| drop(session.key("(")));
    assert_eq!(session.run().candidates[0].trace.cursor, Some(0), "it stays on the first");
    (0..40).for_each(|_| drop(session.key(")")));
    assert_eq!(session.run().candidates[0].trace.cursor, Some(12), "and on the last");
}

#[test]
fn what_was_said_before_the_code_is_kept() {
    let words =
        vec!["<think>", "hard", " work", "</think>", "\nSure", ", here:\n", "```python\n", "    return 1\n", "```"];
    let mut session = session(1, words, true);
    let mut write = |ids: Vec<u32>, text: &str| {
        let (logprobs, alternatives) = (vec![-0.5; ids.len()], Vec::new());
        let text = text.to_owned();
        session.event(Event::Tokens { candidate: 0, text, ids, logprobs, alternatives, drafted: 0, accepted: 0 });
        session.run().candidates[0].trace.said()
    };
    assert_eq!(write(vec![0, 1, 2], "").line(), "thinks: 2 tokens");
    assert_eq!(write(vec![3, 4, 5], "").line(), "thought: 2 tokens; said: Sure, here:");
    let said = write(vec![6, 7, 8], "    return 1\n");
    assert_eq!(said.whole(), "hard work\n\nSure, here:");
    session.key("s");
    assert!(session.state.zoom && session.state.said);
    session.key("c");
    assert_eq!(texts(&session, 0), ["    return 1\n"], "only the code has tokens of its own");
}

#[test]
fn thoughts_of_every_form_are_told_from_the_answer() {
    let harmony = vec![
        "<|channel|>", "analysis", "<|message|>", "hard", "<|end|>", "<|start|>", "assistant", "<|channel|>",
        "commentary", "<|message|>", " work", "<|end|>", "<|start|>", "assistant", "<|channel|>", "final",
        "<|message|>", "Sure:\n", "```python\n", "    return 1\n", "```",
    ];
    let gemma = vec!["hard", "\n", "\n", " work", "<channel|>", "Sure:\n", "```python\n", "    return 1\n", "```"];
    for (words, begun, thought, thinking, tokens) in
        [(harmony, "", "hard\n\nwork", 11, 2), (gemma, "<|channel>thought\n", "hard\n\n work", 4, 4)]
    {
        let ids: Vec<u32> = (0..words.len() as u32).collect();
        let mut session = session_begun(1, words, true, begun);
        let mut write = |ids: &[u32], text: &str| {
            let (logprobs, alternatives, ids, text) =
                (vec![-0.5; ids.len()], Vec::new(), ids.to_vec(), text.to_owned());
            session.event(Event::Tokens { candidate: 0, text, ids, logprobs, alternatives, drafted: 0, accepted: 0 });
            session.run().candidates[0].trace.said()
        };
        let said = write(&ids[..thinking], "");
        assert_eq!((said.thoughts.as_str(), said.thinks, said.tokens), (thought, true, tokens));
        let said = write(&ids[thinking..], "    return 1\n");
        assert_eq!(said.line(), format!("thought: {tokens} tokens; said: Sure:"));
        assert_eq!(said.whole(), format!("{thought}\n\nSure:"));
        session.key("c");
        assert_eq!(texts(&session, 0), ["    return 1\n"], "only the code has tokens of its own");
    }
}

#[test]
fn only_a_measured_speed_is_compared() {
    let step = StepStats { live: 4, rows: 20, drafted: 16, accepted: 8, tokens: 12, ms: 10.0, plain_ms: 0.0 };
    let mut pace = Pace::default();
    (0..20).for_each(|_| pace.step(&step));
    assert_eq!(pace.gain(), None);
    assert_eq!(pace.line(), "▃".repeat(16));
    let step = StepStats { plain_ms: 15.0, ..step };
    (0..8).for_each(|_| pace.step(&step));
    assert!((pace.gain().unwrap() - 1.5).abs() < 1e-9);
    let mut plain_run = Pace::default();
    (0..20).for_each(|_| plain_run.step(&StepStats { drafted: 0, accepted: 0, ..step }));
    assert_eq!((plain_run.gain(), plain_run.line()), (None, String::new()));
}

#[test]
fn memory_is_bounded() {
    let mut trace = Trace::default();
    (0..40).for_each(|_| trace.add(&[1; 1024], &[-1.0; 1024], Vec::new(), 0));
    assert_eq!(trace.ids.len(), MOST);
    trace.add(&[1], &[], Vec::new(), 0);
    assert_eq!((trace.ids.len(), trace.logprobs.len()), (MOST, MOST));
}

proptest! {
    #[test]
    fn pieces_cover_the_text(
        tokens in proptest::collection::vec("[a-c é\n\u{1b}]{0,4}", 0..12),
        keep in 0_usize..40,
        indent in "[ \t]{0,3}",
        line in any::<bool>(),
    ) {
        let raw = tokens.concat();
        let ends: Vec<usize> = (1..=tokens.len()).map(|n| tokens[..n].iter().map(String::len).sum()).collect();
        let cut = raw.char_indices().map(|(at, _)| at).chain([raw.len()]).take_while(|at| *at <= keep).last().unwrap_or(0);
        let indented: String = raw[..cut].split_inclusive('\n').flat_map(|line| [&indent, line.trim_start()]).collect();
        for shown in [raw[..cut].to_owned(), clean(&raw), indented, if line { "x\nabc".to_owned() } else { String::new() }] {
            let pieces = pieces(&raw, &ends, &shown);
            prop_assert_eq!(pieces.last().map_or(0, |piece| piece.end), shown.len());
            prop_assert!(pieces.windows(2).all(|pair| pair[0].end < pair[1].end));
            let mut from = 0;
            for piece in pieces {
                prop_assert!(shown.is_char_boundary(piece.end));
                if let Some(token) = piece.token {
                    prop_assert!(tokens[token].contains(&shown[from..piece.end]), "{:?} is no part of its token", &shown[from..piece.end]);
                }
                from = piece.end;
            }
        }
    }
}
