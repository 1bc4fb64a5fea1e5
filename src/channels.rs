//! Marks by which models tell their thoughts from their answers, and the parts of what a model wrote. A leaf:
//! data and pure functions.
//!
//! There are two ways: marks around the thoughts, with the answer behind them; and messages (gpt-oss), each
//! with the name of a channel in its head, of which one is the answer.

use std::ops::Range;

/// Marks around thoughts.
const AROUND: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    (NAMED, "<channel|>"),
];
/// Begins thoughts of Gemma 4, with the name of their channel in its line.
const NAMED: &str = "<|channel>";
/// The name.
const NAME: &str = "thought\n";

/// Begins a message.
const START: &str = "<|start|>";
/// Begins the name of a channel in the head of a message.
const CHANNEL: &str = "<|channel|>";
/// Begins the text of a message, and ends its head.
const TEXT: &str = "<|message|>";
/// Begins the type of a text in the head of a message.
const TYPE: &str = "<|constrain|>";
/// Ends a message that others follow. In other formats it ends the whole turn.
pub const MESSAGE_END: &str = "<|end|>";
/// End a message.
const ENDS: &[&str] = &[MESSAGE_END, "<|return|>", "<|call|>"];
/// The channel of the answer. All others are thoughts, also calls of tools and what is said before these.
const ANSWER: &str = "final";

/// Parts of a text that a model wrote, as bytes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Thoughts, one after another.
    pub thoughts: Vec<Range<usize>>,
    /// The answer; `None` while there are only thoughts.
    pub answer: Option<Range<usize>>,
}

/// Marks that a tokenizer knows as tokens of their own. `knows` tells those that it has.
pub fn marks(knows: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let around = AROUND.iter().flat_map(|&(open, close)| [open, close]);
    // Without channels the marks of messages are those of turns.
    let messages = [START, CHANNEL, TEXT, TYPE].iter().chain(ENDS).copied().filter(|_| knows(CHANNEL));
    around.chain(messages).filter(|mark| knows(mark)).collect()
}

/// True if this template writes messages with channels.
pub fn has_messages(template: &str) -> bool {
    template.contains(CHANNEL)
}

/// The end of a prompt that belongs to the model's text: a mark that has not been closed, and the text behind
/// it. Empty if there is none.
pub fn begun(prompt: &str) -> &str {
    let around = AROUND.iter().filter_map(|(open, close)| {
        let at = prompt.rfind(open)?;
        (!prompt[at..].contains(close)).then_some(at)
    });
    let message = prompt.rfind(CHANNEL).filter(|&at| !ENDS.iter().any(|end| prompt[at..].contains(end)));
    around.chain(message).min().map_or("", |at| &prompt[at..])
}

/// The parts of a text. `over` means that all of it is there; else the beginning of a mark at its end is in
/// none of them.
pub fn parts(text: &str, over: bool) -> Parts {
    let begins = |text: &str, mark: &str| text.starts_with(mark) || !over && !text.is_empty() && mark.starts_with(text);
    let begin = text.len() - text.trim_start().len();
    if [START, CHANNEL].iter().any(|mark| begins(&text[begin..], mark)) {
        return of_messages(text, begin, over);
    }
    let (mut parts, mut at) = (Parts::default(), begin);
    while let Some((open, close)) = AROUND.iter().find(|(open, _)| begins(&text[at..], open)) {
        if !text[at..].starts_with(open) {
            // It may become a mark.
            parts.answer = parts.answer.map(|_| text.len()..text.len());
            return parts;
        }
        let mut from = at + open.len();
        if *open == NAMED && begins(&text[from..], NAME) {
            from = text.len().min(from + NAME.len());
        }
        let Some(len) = text[from..].find(close) else {
            let to = if over { text.len() } else { text.len() - held_back(&text[from..], &[close]) };
            parts.thoughts.push(from..to);
            parts.answer = None;
            return parts;
        };
        parts.thoughts.push(from..from + len);
        let after = from + len + close.len();
        at = text.len() - text[after..].trim_start().len();
        // More thoughts may follow.
        parts.answer = Some(if over || at < text.len() { after } else { at }..text.len());
    }
    if parts.thoughts.is_empty() {
        parts.answer = Some(0..text.len());
    }
    parts
}

/// As [`parts`], of a text whose first mark the prompt may hold, as templates of servers do: a last mark on a
/// line of its own is enough.
pub fn parts_by_ends(text: &str, over: bool) -> Parts {
    let parts = parts(text, over);
    if !parts.thoughts.is_empty() || parts.answer != Some(0..text.len()) {
        return parts;
    }
    let end = |(_, close): &(&str, &str)| {
        let mut ends = text.match_indices(close).map(|(at, _)| (at, at + close.len()));
        ends.find(|&(at, _)| text[..at].rsplit('\n').next().is_none_or(|line| line.trim().is_empty()))
    };
    let Some((to, from)) = AROUND.iter().find_map(end) else { return parts };
    Parts { thoughts: std::iter::once(0..to).collect(), answer: Some(from..text.len()) }
}

/// The parts of messages, of which the first begins at `begin`.
fn of_messages(text: &str, begin: usize, over: bool) -> Parts {
    let (mut parts, mut at) = (Parts::default(), Some(begin));
    while let Some((head, end)) = at.and_then(|at| Some((at, at + text[at..].find(TEXT)?))) {
        let name = text[head..end].rsplit_once(CHANNEL).map_or("", |(_, name)| name.trim_start());
        let is_answer = name.split(|c: char| !c.is_alphanumeric()).next() == Some(ANSWER);
        let from = end + TEXT.len();
        let end = ENDS.iter().filter_map(|end| Some((from + text[from..].find(end)?, end.len()))).min();
        let held = if over { 0 } else { held_back(&text[from..], ENDS) };
        let to = end.map_or(text.len() - held, |(to, _)| to);
        match parts.answer {
            None if is_answer => parts.answer = Some(from..to),
            Some(_) if is_answer => {}
            _ => parts.thoughts.push(from..to),
        }
        at = end.map(|(to, len)| to + len);
    }
    parts
}

/// Length of the longest end of `text` that is the beginning of one of these marks.
fn held_back(text: &str, marks: &[&str]) -> usize {
    let len = |mark: &&str| (1..mark.len()).rev().find(|&len| text.ends_with(&mark[..len])).unwrap_or(0);
    marks.iter().map(len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Thoughts and answer of a text.
    fn told(text: &str, over: bool) -> (Vec<&str>, Option<&str>) {
        let Parts { thoughts, answer } = parts(text, over);
        (thoughts.into_iter().map(|range| &text[range]).collect(), answer.map(|range| &text[range]))
    }

    /// A text, its thoughts, and its answer.
    type Case = (&'static str, &'static [&'static str], Option<&'static str>);

    const CASES: &[Case] = &[
        ("", &[], Some("")),
        ("x <think> y", &[], Some("x <think> y")),
        ("<think>a", &["a"], None),
        ("\n<think>\na\n</think>\n\nb", &["\na\n"], Some("\n\nb")),
        ("<thinking>a</thinking>b", &["a"], Some("b")),
        ("[THINK]a[/THINK]b", &["a"], Some("b")),
        ("<think>\n\n</think>\n\n<think>a</think>b", &["\n\n", "a"], Some("b")),
        // Gemma 4.
        ("<|channel>thought\na<channel|>b", &["a"], Some("b")),
        ("<|channel>thought\n<channel|>b", &[""], Some("b")),
        ("<|channel>thought\na", &["a"], None),
        ("<|channel>thoughtful<channel|>b", &["thoughtful"], Some("b")),
        // gpt-oss.
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", &["a"], Some("b")),
        ("<|channel|>final<|message|>b<|return|>", &[], Some("b")),
        ("<|start|>assistant<|channel|>final <|constrain|>json<|message|>b<|end|>", &[], Some("b")),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.f \
             <|constrain|>json<|message|>{}<|call|><|start|>assistant<|channel|>commentary<|message|>c<|end|>\
             <|start|>assistant<|channel|>final<|message|>b\nd",
            &["a", "{}", "c"],
            Some("b\nd"),
        ),
        ("<|channel|>analysis<|message|>a<|end|>", &["a"], None),
        ("<|channel|>analysis<|message|>a", &["a"], None),
        ("<|channel|>final", &[], None),
    ];

    #[test]
    fn thoughts_and_answers_are_told_apart() {
        for (text, thoughts, answer) in CASES {
            for over in [false, true] {
                assert_eq!(told(text, over), (thoughts.to_vec(), *answer), "{text:?}");
            }
        }
        // Only their end, of which the text alone tells nothing while it is written.
        let by_ends = |text| parts_by_ends(text, true);
        let Parts { thoughts, answer } = by_ends("a\n</think>\nb");
        assert_eq!((thoughts.first(), answer), (Some(&(0..2)), Some(10..12)));
        for text in ["a </think> b", "<think>a\n</think>\nb", "<think>a"] {
            assert_eq!(by_ends(text), parts(text, true), "{text:?}");
        }
        assert_eq!(told("a\n</think>\nb", true), (vec![], Some("a\n</think>\nb")));
        // The beginning of a mark counts as text only where the text is over.
        assert_eq!(told("<thin", false), (vec![], None));
        assert_eq!(told("<thin", true), (vec![], Some("<thin")));
        assert_eq!(told("<think>a</thi", false), (vec!["a"], None));
        assert_eq!(told("<think>a</thi", true), (vec!["a</thi"], None));
        assert_eq!(told("<|channel>thou", false), (vec![""], None));
        assert_eq!(told("<|channel|>final<|message|>a <", false), (vec![], Some("a ")));
        assert_eq!(told("<|channel|>final<|message|>a <", true), (vec![], Some("a <")));
    }

    #[test]
    fn the_end_of_a_prompt_may_begin_thoughts_or_a_message() {
        for (prompt, expected) in [
            ("<|im_start|>assistant\n<think>\n", "<think>\n"),
            ("<|im_start|>assistant\n<think>\n\n</think>\n\n", ""),
            ("<|turn>model\n<|channel>thought\n", "<|channel>thought\n"),
            ("<|turn>model\n<|channel>thought\n<channel|>", ""),
            ("<|end|><|start|>assistant", ""),
            ("<|end|><|start|>assistant<|channel|>analysis<|message|>", "<|channel|>analysis<|message|>"),
            ("<|channel|>analysis<|message|>a<|end|><|start|>assistant", ""),
            ("[INST]x[/INST]", ""),
        ] {
            assert_eq!(begun(prompt), expected, "{prompt:?}");
        }
    }

    #[test]
    fn marks_of_messages_are_known_by_their_channels() {
        let known = |tokens: &'static [&'static str]| marks(|mark| tokens.contains(&mark));
        assert_eq!(known(&["<|end|>", "<|start|>", "<think>"]), ["<think>"]);
        assert_eq!(known(&["<|end|>", "<|channel|>", "<|x|>"]), ["<|channel|>", "<|end|>"]);
    }

    proptest! {
        /// Parts of the beginning of a text are beginnings of the parts of all of it.
        #[test]
        fn nothing_that_was_told_is_taken_back(case in 0..CASES.len(), at in 0usize..200) {
            let text = CASES[case].0;
            let at = at.min(text.len());
            let ((thoughts, answer), (all, whole)) = (told(&text[..at], false), told(text, true));
            prop_assert!(all.concat().starts_with(&thoughts.concat()), "{:?}", &text[..at]);
            prop_assert!(whole.unwrap_or_default().starts_with(answer.unwrap_or_default()), "{:?}", &text[..at]);
        }
    }
}
