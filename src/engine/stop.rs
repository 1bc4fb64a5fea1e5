//! The text of a candidate while it streams, and the rules on it that end it.

use super::event::thoughts_took_all;
use super::request::{Reading, StopRules};

/// The text of one candidate. What has been given out is never taken back, except for trailing white space at
/// the very end, and where an answer turns out at its end to be another one than it seemed.
#[derive(Debug, Default)]
pub struct Text {
    /// Text that the model wrote, where the candidate is only a part of it, or may be.
    answer: String,
    /// The text is an answer to be read; `None` while that is open.
    is_answer: Option<bool>,
    /// Bytes after which it is looked at for repetition again.
    looked: usize,
    repeats: bool,
    whole: String,
    shown: usize,
    ended: bool,
}

impl Text {
    /// Adds text. Returns true if a rule ends the candidate: then the text is final.
    pub fn push(&mut self, piece: &str, rules: &StopRules) -> bool {
        let ended = match (&rules.reading, self.is_answer) {
            (None, _) | (_, Some(false)) => self.add(piece, rules),
            (Some(reading), Some(true)) => {
                self.answer.push_str(piece);
                // An answer is read line by line: that is how much of it is certain.
                piece.contains('\n') && self.read(reading, false, rules)
            }
            (Some(reading), None) => {
                self.answer.push_str(piece);
                self.is_answer = rules.begins.as_ref().map_or(Some(true), |begins| begins(&self.answer));
                match self.is_answer {
                    None => false,
                    Some(true) => self.answer.contains('\n') && self.read(reading, false, rules),
                    Some(false) => {
                        let held = std::mem::take(&mut self.answer);
                        self.add(&held, rules)
                    }
                }
            }
        };
        ended || self.look(rules)
    }

    /// Ends a text that does nothing but repeat itself.
    fn look(&mut self, rules: &StopRules) -> bool {
        let text = if self.answer.is_empty() { &self.whole } else { &self.answer };
        if !rules.repetition || text.len() < self.looked + LOOK {
            return false;
        }
        self.looked = text.len();
        self.repeats = repeats(text);
        self.repeats
    }

    /// The text was ended because it repeats itself.
    pub fn is_repeating(&self) -> bool {
        self.repeats
    }

    /// Why a text that is cut is of no use: it holds nothing but thoughts, or repeats itself.
    pub fn trouble(&self, rules: &StopRules, tokens: usize) -> Option<String> {
        if self.repeats {
            return Some(format!("it repeated itself and was ended after {tokens} tokens"));
        }
        self.is_thought(rules).then(|| thoughts_took_all(tokens))
    }

    /// Takes out of the answer what is the candidate's.
    fn read(&mut self, reading: &Reading, over: bool, rules: &StopRules) -> bool {
        let (text, ended) = reading(&self.answer, over);
        if let Some(more) = text.strip_prefix(self.whole.as_str()) {
            self.add(more, rules);
        } else if over || ended {
            self.whole.clear();
            self.add(&text, rules);
            // The text that was shown is not its beginning: the final text replaces it.
            self.shown = self.whole.len();
        }
        self.ended |= ended;
        self.ended
    }

    fn add(&mut self, piece: &str, rules: &StopRules) -> bool {
        let longest = rules.strings.iter().map(String::len).max().unwrap_or(0);
        let mut from = self.whole.len().saturating_sub(longest.saturating_sub(1));
        while !self.whole.is_char_boundary(from) {
            from -= 1;
        }
        self.whole.push_str(piece);
        let string = rules
            .strings
            .iter()
            .filter(|s| !s.is_empty())
            .filter_map(|s| self.whole[from..].find(s.as_str()).map(|at| from + at))
            .min();
        // An answer ends where its reading says.
        let rule = rules.text.as_ref().filter(|_| self.is_answer != Some(true));
        let rule = rule.and_then(|rule| rule(&self.whole)).map(|at| at.min(self.whole.len()));
        if let Some(cut) = string.into_iter().chain(rule).min() {
            self.whole.truncate(floor_boundary(&self.whole, cut));
            self.ended = true;
        }
        self.ended
    }

    /// Ends the text, with what the decoder had still held back.
    pub fn end(&mut self, rest: &str, rules: &StopRules) {
        if !self.ended {
            if self.is_answer.is_none() && rules.reading.is_some() {
                let begun = format!("{}{rest}\n", self.answer);
                self.is_answer = Some(rules.begins.as_ref().is_none_or(|begins| begins(&begun) == Some(true)));
            }
            if let Some(reading) = rules.reading.as_ref().filter(|_| self.is_answer == Some(true)) {
                self.answer.push_str(rest);
                self.read(reading, true, rules);
            } else {
                let held = std::mem::take(&mut self.answer);
                self.add(&(held + rest), rules);
            }
            self.ended = true;
        }
    }

    /// The text that became certain since the last call: neither the beginning of a stop string nor trailing
    /// white space.
    pub fn take(&mut self, rules: &StopRules) -> String {
        let mut safe = if self.ended { self.whole.len() } else { self.whole.len() - held_back(&self.whole, rules) };
        if !self.ended {
            safe = self.whole[..safe].trim_end().len();
        }
        if safe <= self.shown {
            return String::new();
        }
        let piece = self.whole[self.shown..safe].to_owned();
        self.shown = safe;
        piece
    }

    pub fn as_str(&self) -> &str {
        &self.whole
    }

    /// Nothing but the model's thoughts was written.
    pub fn is_thought(&self, rules: &StopRules) -> bool {
        self.whole.is_empty() && rules.thinks.as_ref().is_some_and(|thinks| thinks(&self.answer))
    }
}

/// Bytes of new text after which a text is looked at for repetition.
const LOOK: usize = 64;
/// Bytes at its end that are looked at.
const TAIL: usize = 4096;
/// Least bytes that repeat, and least repetitions: more than a table of equal rows has.
const REPEATED: (usize, usize) = (600, 12);

/// Returns true if the end of a text is one piece, again and again.
fn repeats(text: &str) -> bool {
    let tail: Vec<u8> = text.bytes().rev().take(TAIL).collect();
    // The longest proper border of each prefix, by Knuth, Morris and Pratt: length less border is the period.
    let mut borders = vec![0_usize; tail.len()];
    for at in 1..tail.len() {
        let mut border = borders[at - 1];
        while border > 0 && tail[at] != tail[border] {
            border = borders[border - 1];
        }
        borders[at] = border + usize::from(tail[at] == tail[border]);
        let (length, period) = (at + 1, at + 1 - borders[at]);
        if length >= REPEATED.0 && length >= REPEATED.1 * period {
            return true;
        }
    }
    false
}

/// Length of the longest end of `text` that could be the beginning of a stop string.
fn held_back(text: &str, rules: &StopRules) -> usize {
    let begins = |s: &str| (1..s.len()).rev().filter(|&n| s.is_char_boundary(n)).find(|&n| text.ends_with(&s[..n]));
    rules.strings.iter().filter_map(|s| begins(s)).max().unwrap_or(0)
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn rules(strings: &[&str]) -> StopRules {
        StopRules { strings: strings.iter().map(|s| (*s).to_owned()).collect(), ..StopRules::default() }
    }

    #[test]
    fn a_stop_string_across_pieces_is_found_and_never_shown() {
        let rules = rules(&["\ndef", "END"]);
        let mut text = Text::default();
        let mut shown = String::new();
        for piece in ["    return", " 1\n", "d", "e"] {
            assert!(!text.push(piece, &rules));
            shown += &text.take(&rules);
        }
        assert_eq!(shown, "    return 1");
        assert!(text.push("f x():", &rules));
        shown += &text.take(&rules);
        assert_eq!((shown.as_str(), text.as_str()), ("    return 1", "    return 1"));
    }

    #[test]
    fn the_earliest_of_several_stops_counts() {
        let mut text = Text::default();
        assert!(text.push("one END two STOP", &rules(&["STOP", "END"])));
        assert_eq!(text.as_str(), "one ");
    }

    #[test]
    fn a_rule_on_the_text_ends_it() {
        let rules = StopRules { text: Some(Arc::new(|t: &str| t.find('#'))), ..StopRules::default() };
        let mut text = Text::default();
        assert!(!text.push("ab", &rules));
        assert!(text.push("c#d", &rules));
        assert_eq!(text.as_str(), "abc");
    }

    #[test]
    fn of_an_answer_only_what_is_the_candidates_is_shown() {
        // Text between < and >, as far as it is there in whole lines.
        let reading: Reading = Arc::new(|answer: &str, over: bool| {
            let Some((_, inside)) = answer.split_once('<') else { return (String::new(), false) };
            match inside.split_once('>') {
                Some((inside, _)) => (inside.to_owned(), true),
                None if over => (inside.to_owned(), false),
                None => (inside[..inside.rfind('\n').map_or(0, |at| at + 1)].to_owned(), false),
            }
        });
        let rules = StopRules { reading: Some(reading), ..rules(&["STOP"]) };
        let (mut text, mut shown) = (Text::default(), Vec::new());
        let pieces = ["So:\n STOP ", "<a\n", "b", "\n"];
        assert!(!pieces.iter().any(|piece| {
            let ended = text.push(piece, &rules);
            shown.push(text.take(&rules));
            ended
        }));
        assert_eq!((shown.concat().as_str(), shown[1].as_str()), ("a\nb", "a"));
        assert!(text.push("c>\nmore", &rules) && text.as_str() == "a\nb\nc", "{text:?}");
        assert_eq!(text.take(&rules), "\nc");
        // Stops are those of the candidate's own text, and an answer that breaks off is read to its end.
        let mut text = Text::default();
        assert!(text.push("<a STOP\n", &rules) && text.as_str() == "a ");
        let mut text = Text::default();
        assert!(!text.push("<a\nb", &rules));
        text.end("c", &rules);
        assert_eq!(text.as_str(), "a\nbc");
    }

    #[test]
    fn text_that_repeats_itself_is_ended_and_tables_are_not() {
        let rules = StopRules { repetition: true, ..StopRules::default() };
        let written = |text: String| {
            let mut whole = Text::default();
            let ended = text.split_inclusive(' ').any(|piece| whole.push(piece, &rules));
            assert_eq!(ended, whole.is_repeating());
            (ended, whole.as_str().len())
        };
        let endless = format!("    x = 1\n{}", "    if x == 1:\n        x += 1\n".repeat(200));
        let (ended, length) = written(endless.clone());
        assert!(ended && length < 900, "{length}");
        assert!(written("no line end, ".repeat(200)).0);
        assert!(!written("    [0, 0, 0, 0],\n".repeat(30)).0);
        let numbered: Vec<String> = (0..400).map(|i| format!("    x[{i}] = 1\n")).collect();
        assert!(!written(numbered.concat()).0);
        let mut bench = Text::default();
        assert!(!bench.push(&endless, &StopRules::default()), "only where that is asked for");
        assert!(bench.trouble(&rules, 9).is_none());
    }

    #[test]
    fn only_a_text_that_begins_as_an_answer_is_read_as_one() {
        let reading: Reading = Arc::new(|answer: &str, _| {
            let inside = answer.strip_prefix("```\n").unwrap_or_default();
            inside.split_once("```").map_or((inside.to_owned(), false), |(inside, _)| (inside.to_owned(), true))
        });
        let begins: crate::engine::Begins = Arc::new(|text: &str| match text {
            _ if text.starts_with("```") => Some(true),
            _ if "```".starts_with(text) => None,
            _ => Some(false),
        });
        let rules = StopRules { reading: Some(reading), begins: Some(begins), ..rules(&["END"]) };
        let mut text = Text::default();
        assert!(!text.push("`", &rules) && text.take(&rules).is_empty());
        assert!(!text.push("`` or ", &rules) && !text.push("\na", &rules));
        assert!(!text.push("\n```", &rules) && text.as_str().is_empty(), "{text:?}");
        let mut text = Text::default();
        assert!(!text.push("``", &rules) && !text.push("`\na\n", &rules));
        assert_eq!((text.take(&rules).as_str(), text.push("```\n", &rules), text.as_str()), ("a", true, "a\n"));
        let mut text = Text::default();
        assert!(!text.push("`", &rules) && text.push("x END", &rules) && text.as_str() == "`x ");
        let mut text = Text::default();
        text.end("``", &rules);
        assert_eq!(text.as_str(), "``");
    }

    proptest! {
        /// However the text is cut into pieces, the same is kept, and what was shown is its beginning.
        #[test]
        fn pieces_do_not_matter(source in "[abE\n ]{0,30}", cuts in proptest::collection::vec(1usize..5, 0..30)) {
            let rules = rules(&["ab", "E\n", "aEa"]);
            let mut whole = Text::default();
            let stopped = whole.push(&source, &rules);

            let (mut text, mut shown, mut rest, mut ended) = (Text::default(), String::new(), source.as_str(), false);
            let mut cuts = cuts.into_iter().chain(std::iter::repeat(1));
            while !rest.is_empty() && !ended {
                let (piece, tail) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
                ended = text.push(piece, &rules);
                shown += &text.take(&rules);
                rest = tail;
            }
            prop_assert_eq!(ended, stopped);
            prop_assert_eq!(text.as_str(), whole.as_str());
            prop_assert!(text.as_str().starts_with(&shown));
        }
    }
}
