//! Colours for code, computed on a thread of their own: each finished line once, with the parser's state
//! after it kept. The last line is drawn plain until its newline arrives.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::mpsc;
use std::thread;

use ratatui::style::{Modifier, Style};
use syntect::highlighting::{self, FontStyle, HighlightIterator, HighlightState, Highlighter};
use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};
use two_face::theme::EmbeddedThemeName;

use super::theme::Theme;

/// Longer lines stay plain.
const LONGEST_LINE: usize = 1000;
/// Later lines of a text stay plain.
const MOST_LINES: usize = 2000;
/// Regexes are compiled on first use; this uses those of ordinary code.
const WARM_UP: &str = "@d\nclass A(B):\n    \"\"\"x\"\"\"\n    def f(self, x: int = 1, *a) -> str:  # c\n        for i in range(10):\n            if x and not i: return f'{x!r}' + 'a\\n'\n        with open(a) as b: yield [1.5, None, True]\n        raise ValueError(x) from None\n";

/// Owner of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Of {
    Prompt,
    /// The function under the cursor of the picker.
    Picked,
    /// The file with a candidate in it.
    Preview,
    Candidate {
        run: u64,
        index: usize,
    },
}

/// Styles of a line: byte ranges, in order, without gaps.
pub type Spans = Vec<(Range<usize>, Style)>;

/// Lines to be coloured.
#[derive(Debug)]
enum Work {
    Lines {
        of: Of,
        first: usize,
        language: &'static str,
        lines: Vec<String>,
    },
    /// Only this generation is still shown.
    Keep(u64),
    /// Lines from now on have the colours of this theme.
    Retheme(Box<Theme>),
}

#[derive(Debug)]
pub struct Coloured {
    of: Of,
    first: usize,
    lines: Vec<(String, Spans)>,
}

/// Knows syntax and colours; no state between texts.
struct Colourer {
    syntaxes: SyntaxSet,
    theme: highlighting::Theme,
    chrome: Theme,
}

/// The colours of code that a theme names.
fn colours(theme: &Theme) -> highlighting::Theme {
    let names = two_face::theme::EmbeddedLazyThemeSet::theme_names();
    let name = names.iter().copied().find(|n| n.as_name().eq_ignore_ascii_case(&theme.syntax));
    let fallback = if theme.is_light() { EmbeddedThemeName::OneHalfLight } else { EmbeddedThemeName::OneHalfDark };
    two_face::theme::extra().get(name.unwrap_or(fallback)).clone()
}

type LineState = (ParseState, HighlightState);

impl Colourer {
    fn new(theme: &Theme) -> Self {
        Self { syntaxes: two_face::syntax::extra_newlines(), theme: colours(theme), chrome: theme.clone() }
    }

    /// Colours `line` (without its newline), given the state after the line before; returns the state after
    /// it.
    fn line(&self, before: Option<&LineState>, language: &str, line: &str) -> (Spans, Option<LineState>) {
        let highlighter = Highlighter::new(&self.theme);
        let start = || {
            let syntax = self.syntaxes.find_syntax_by_token(language)?;
            Some((ParseState::new(syntax), HighlightState::new(&highlighter, ScopeStack::new())))
        };
        let Some((mut parse, mut high)) = before.cloned().or_else(start) else { return (Vec::new(), None) };
        if line.len() > LONGEST_LINE {
            return (Vec::new(), Some((parse, high)));
        }
        let whole = format!("{line}\n");
        let Ok(ops) = parse.parse_line(&whole, &self.syntaxes) else { return (Vec::new(), Some((parse, high))) };
        let mut spans = Spans::new();
        let mut at = 0;
        for (style, piece) in HighlightIterator::new(&mut high, &ops, &whole, &highlighter) {
            let end = (at + piece.len()).min(line.len());
            if at < end {
                spans.push((at..end, self.style(style)));
            }
            at += piece.len();
        }
        (spans, Some((parse, high)))
    }

    fn style(&self, style: highlighting::Style) -> Style {
        let mut out = Style::default();
        // The default colour of code is the terminal's own.
        if self.theme.settings.foreground != Some(style.foreground) {
            let c = style.foreground;
            out = out.fg(self.chrome.code_color((c.r, c.g, c.b)));
        }
        if style.font_style.contains(FontStyle::BOLD) {
            out = out.add_modifier(Modifier::BOLD);
        }
        out
    }
}

fn work(mut colourer: Colourer, work: &mpsc::Receiver<Work>, done: &dyn Fn(Coloured)) {
    let mut states: HashMap<Of, Vec<LineState>> = HashMap::new();
    while let Ok(next) = work.recv() {
        match next {
            Work::Keep(kept) => states.retain(|of, _| !matches!(of, Of::Candidate { run, .. } if *run != kept)),
            Work::Retheme(theme) => {
                states.clear();
                (colourer.theme, colourer.chrome) = (colours(&theme), *theme);
            }
            Work::Lines { of, first, language, lines } => {
                let states = states.entry(of).or_default();
                if states.len() < first {
                    continue;
                }
                states.truncate(first);
                let mut out = Vec::new();
                for line in lines {
                    let (spans, after) = colourer.line(states.last(), language, &line);
                    states.extend(after);
                    out.push((line, spans));
                }
                done(Coloured { of, first, lines: out });
            }
        }
    }
}

/// Finished lines of a text.
#[derive(Default)]
struct Known {
    language: &'static str,
    /// Each with its styles, once they are known.
    lines: Vec<(String, Option<Spans>)>,
}

/// Coloured lines by text, and the worker that makes them.
pub struct Highlights {
    texts: HashMap<Of, Known>,
    kept: u64,
    worker: Option<mpsc::Sender<Work>>,
}

impl Highlights {
    /// Without a worker: everything is plain.
    pub fn plain() -> Self {
        Self { texts: HashMap::new(), kept: 0, worker: None }
    }

    /// Starts the worker and warms it up. `done` is called on its thread.
    pub fn start(theme: &Theme, done: impl Fn(Coloured) + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        let theme = theme.clone();
        let body = move || {
            let colourer = Colourer::new(&theme);
            let mut state = None;
            for line in WARM_UP.lines() {
                state = colourer.line(state.as_ref(), "python", line).1;
            }
            work(colourer, &receiver, &done);
        };
        let spawned = thread::Builder::new().name("highlight".into()).spawn(body);
        Self { worker: spawned.is_ok().then_some(sender), ..Self::plain() }
    }

    /// Tells the worker about finished lines it has not seen. `ended`: the last line is finished, too.
    pub fn sync(&mut self, of: Of, language: Option<&'static str>, text: &str, ended: bool) {
        let (Some(worker), Some(language)) = (&self.worker, language) else { return };
        let known = self.texts.entry(of).or_default();
        known.language = language;
        let known = &mut known.lines;
        let mut finished: Vec<&str> = text.lines().take(MOST_LINES).collect();
        if !ended && !text.ends_with('\n') {
            finished.pop();
        }
        let same = known.iter().zip(&finished).take_while(|(k, f)| k.0 == **f).count();
        if same == known.len() && same == finished.len() {
            return;
        }
        known.truncate(same);
        let lines: Vec<String> = finished[same..].iter().map(|l| (*l).to_owned()).collect();
        if lines.is_empty() {
            return;
        }
        known.extend(lines.iter().map(|l| (l.clone(), None)));
        let _ = worker.send(Work::Lines { of, first: same, language, lines });
    }

    /// Forgets the candidates of all generations but `run`.
    pub fn keep(&mut self, run: u64) {
        if self.kept != run {
            self.kept = run;
            self.texts.retain(|of, _| !matches!(of, Of::Candidate { run: r, .. } if *r != run));
            if let Some(worker) = &self.worker {
                let _ = worker.send(Work::Keep(run));
            }
        }
    }

    /// Colours everything anew. The old colours stay until the new ones come.
    pub fn retheme(&mut self, theme: &Theme) {
        let Some(worker) = &self.worker else { return };
        let _ = worker.send(Work::Retheme(Box::new(theme.clone())));
        for (&of, known) in &self.texts {
            let lines = known.lines.iter().map(|line| line.0.clone()).collect();
            let _ = worker.send(Work::Lines { of, first: 0, language: known.language, lines });
        }
    }

    /// Takes coloured lines in.
    pub fn take(&mut self, coloured: Coloured) {
        let Some(known) = self.texts.get_mut(&coloured.of) else { return };
        for (slot, (line, spans)) in known.lines.iter_mut().skip(coloured.first).zip(coloured.lines) {
            if slot.0 == line {
                slot.1 = Some(spans);
            }
        }
    }

    /// The styles of a line, if they are known for exactly this text.
    pub fn line(&self, of: Of, index: usize, text: &str) -> Option<&Spans> {
        let (known, spans) = self.texts.get(&of)?.lines.get(index)?;
        if known == text { spans.as_ref() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Depth;
    use proptest::prelude::*;

    const CODE: &str = "def f(x):\n    \"\"\"Doc\n    more\"\"\"\n\n    return x + 1  # note\ny = '''a\nb'''\n";

    #[test]
    fn keywords_and_strings_differ_and_spans_cover_the_line() {
        let colourer = Colourer::new(&Theme::find("dark", std::path::Path::new(""), false, Depth::True).unwrap());
        let line = "def f(): return 'x'";
        let (spans, _) = colourer.line(None, "python", line);
        assert_eq!(spans.iter().map(|(r, _)| &line[r.clone()]).collect::<String>(), line);
        let style = |at: usize| spans.iter().find(|(r, _)| r.contains(&at)).unwrap().1;
        assert_ne!(style(0), style(17), "def and 'x'");
    }

    #[test]
    fn every_language_has_colours() {
        let colourer = Colourer::new(&Theme::find("dark", std::path::Path::new(""), false, Depth::True).unwrap());
        for language in crate::language::Language::ALL {
            let (spans, _) = colourer.line(None, language.name(), "return \"x\"");
            assert!(spans.len() > 1, "{}", language.name());
        }
    }

    #[test]
    fn text_in_pieces_is_coloured_as_at_once() {
        let theme = Theme::find("dark", std::path::Path::new(""), false, Depth::True).unwrap();
        let whole = coloured(&theme, &[CODE.len()]);
        assert!(whole.iter().any(|spans| spans.len() > 1));
        proptest!(ProptestConfig::with_cases(8), |(mut cuts in proptest::collection::vec(0..CODE.len(), 1..12))| {
            cuts.sort_unstable();
            cuts.push(CODE.len());
            prop_assert_eq!(&coloured(&theme, &cuts), &whole);
        });
    }

    #[test]
    fn another_theme_colours_what_is_known() {
        let find = |name| Theme::find(name, std::path::Path::new(""), false, Depth::True).unwrap();
        let (sender, receiver) = mpsc::channel();
        let mut highlights = Highlights::start(&find("dark"), move |c| {
            let _ = sender.send(c);
        });
        let spans = |highlights: &Highlights| {
            CODE.lines()
                .enumerate()
                .map(|(i, l)| highlights.line(Of::Prompt, i, l).cloned())
                .collect::<Option<Vec<_>>>()
        };
        highlights.sync(Of::Prompt, Some("python"), CODE, true);
        highlights.take(receiver.recv().unwrap());
        let before = spans(&highlights).unwrap();
        highlights.retheme(&find("gruvbox-light"));
        assert_eq!(spans(&highlights).unwrap(), before, "the old colours stay for a while");
        highlights.take(receiver.recv().unwrap());
        assert_eq!(spans(&highlights).unwrap(), coloured(&find("gruvbox-light"), &[CODE.len()]));
        assert_ne!(spans(&highlights).unwrap(), before);
    }

    /// Feeds `CODE` up to each cut and waits for all lines.
    fn coloured(theme: &Theme, cuts: &[usize]) -> Vec<Spans> {
        let (sender, receiver) = mpsc::channel();
        let mut highlights = Highlights::start(theme, move |c| {
            let _ = sender.send(c);
        });
        for &cut in cuts {
            highlights.sync(Of::Prompt, Some("python"), &CODE[..cut], cut == CODE.len());
        }
        let lines = CODE.lines().count();
        loop {
            let all: Option<Vec<Spans>> =
                CODE.lines().enumerate().map(|(i, l)| highlights.line(Of::Prompt, i, l).cloned()).collect();
            match all {
                Some(all) if all.len() == lines => return all,
                _ => highlights.take(receiver.recv().unwrap()),
            }
        }
    }
}
