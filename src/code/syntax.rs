//! Syntax trees of texts without errors only. Near an error a tree loses definitions and puts others in the
//! wrong place.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tree_sitter::{Language, ParseOptions, ParseState, Parser, Tree};

use super::rules;

/// Most reports of a parse in a row without progress in the text. It reports after every hundred steps, so
/// this is a tenth of a second. On some texts the parser with the TSX grammar never ends otherwise.
const REPORTS_IN_PLACE: usize = 1000;

/// CPU time limit of a parse, far more than a text without errors needs. On some texts each step behind an
/// error walks over all text before it.
fn patience(text: &str) -> Duration {
    Duration::from_micros(25_000 + 5 * text.len() as u64)
}

/// CPU time of this thread. The load of a machine must not change the result.
fn spent() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// Progress of a parse.
struct Progress {
    furthest: usize,
    in_place: usize,
    end: Duration,
}

impl Progress {
    /// Progress of a parse that begins after this thread has spent `now`.
    fn of(text: &str, now: Duration) -> Self {
        Self { furthest: 0, in_place: 0, end: now + patience(text) }
    }

    /// Returns true if the parse at byte `at` is given up.
    fn is_lost(&mut self, at: usize, now: Duration) -> bool {
        self.in_place = if at > self.furthest { 0 } else { self.in_place + 1 };
        self.furthest = self.furthest.max(at);
        self.in_place > REPORTS_IN_PLACE || now > self.end
    }
}

/// The tree of a text; `None` if it cannot be parsed without errors.
pub(super) fn parse(language: &Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let mut progress = Progress::of(text, spent());
    // The first error ends the parse, as error recovery is not needed here.
    let mut is_lost = |state: &ParseState| state.has_error() || progress.is_lost(state.current_byte_offset(), spent());
    let options = ParseOptions::new().progress_callback(&mut is_lost);
    let tree = parser.parse_with_options(&mut |at, _| &text.as_bytes()[at..], None, Some(options))?;
    (!tree.root_node().has_error()).then_some(tree)
}

/// The tree of a text by the first grammar of its language that takes it; `None` if none does.
pub(super) fn tree(language: crate::language::Language, text: &str) -> Option<Tree> {
    rules::of(language).grammars.iter().find_map(|grammar| parse(&grammar(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_brackets_that_do_not_match_are_refused() {
        let languages: [Language; 5] = [
            tree_sitter_python::LANGUAGE.into(),
            tree_sitter_javascript::LANGUAGE.into(),
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            tree_sitter_rust::LANGUAGE.into(),
            tree_sitter_go::LANGUAGE.into(),
        ];
        for language in &languages {
            for piece in ["([{", "f(", "{ ( ] ", "<(", "x = [(\n"] {
                assert!(parse(language, &piece.repeat(8000)).is_none(), "{piece:?} in {language:?}");
            }
        }
        assert!(parse(&languages[0], "def f(x):\n    return (x)\n").is_some());
    }

    #[test]
    fn a_parse_has_time_for_its_text_and_no_more() {
        let ms = Duration::from_millis;
        let (text, begun) = ("x".repeat(100_000), ms(7000));
        let mut slow = Progress::of(&text, begun);
        assert!((1..500).all(|at| !slow.is_lost(at, begun + ms(at as u64))), "it has half a second");
        assert!(slow.is_lost(2000, begun + ms(526)), "and no more");
        let mut stuck = Progress::of(&text, begun);
        assert!((0..=REPORTS_IN_PLACE).all(|_| !stuck.is_lost(5, begun)));
        assert!(stuck.is_lost(5, begun), "it stays where it is");
        assert!(!stuck.is_lost(6, begun), "it has come further");
    }

    #[test]
    fn a_parse_that_stays_where_it_is_ends() {
        let text = "<f[(++'}''a/*\n( ++\nfunction g() {\n}\n}/*func f() \"\"#'a\u{c}=>(${=>'}'\"br)class A x[` ;\t=>*/";
        assert!(parse(&tree_sitter_typescript::LANGUAGE_TSX.into(), text).is_none());
    }
}
