//! The text of a candidate while it streams, and the rules on it that end it.

use super::request::{Reading, StopRules};

/// The text of one candidate. What has been given out is never taken back, except for trailing white space at
/// the very end, and where an answer turns out at its end to be another one than it seemed.
#[derive(Debug, Default)]
pub struct Text {
    /// Text that the model wrote, where the candidate is only a part of it.
    answer: String,
    whole: String,
    shown: usize,
    ended: bool,
}

impl Text {
    /// Adds text. Returns true if a rule ends the candidate: then the text is final.
    pub fn push(&mut self, piece: &str, rules: &StopRules) -> bool {
        let Some(reading) = &rules.reading else { return self.add(piece, rules) };
        self.answer.push_str(piece);
        // An answer is read line by line: that is how much of it is certain.
        piece.contains('\n') && self.read(reading, false, rules)
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
        let rule = rules.text.as_ref().and_then(|rule| rule(&self.whole)).map(|at| at.min(self.whole.len()));
        if let Some(cut) = string.into_iter().chain(rule).min() {
            self.whole.truncate(floor_boundary(&self.whole, cut));
            self.ended = true;
        }
        self.ended
    }

    /// Ends the text, with what the decoder had still held back.
    pub fn end(&mut self, rest: &str, rules: &StopRules) {
        if !self.ended {
            if let Some(reading) = &rules.reading {
                self.answer.push_str(rest);
                self.read(reading, true, rules);
            } else {
                self.add(rest, rules);
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
