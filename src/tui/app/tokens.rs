//! Tokens of candidates: the part of the text that each is, how probable it was, and whether it was drafted.
//!
//! Ids are kept as they come, and spelled only while something shows them.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::candidate::Candidate;
use super::effect::Effect;
use super::state::State;
use crate::code::{self, CodeNode};
use crate::engine::{Alternative, StepStats};
use crate::source::Window;
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::untrusted::clean;

/// Most tokens of a candidate that are kept.
const MOST: usize = 1 << 15;
/// Alternatives that are asked for at each token.
const ALTERNATIVES: usize = 4;
/// Steps in the line of accepted tokens.
const STEPS: usize = 16;
/// Steps before a speed is compared.
const LEAST_STEPS: usize = 8;
/// Columns of code in a sentence.
const WORDS: usize = 32;

/// Property that code is coloured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colouring {
    /// The language.
    #[default]
    Syntax,
    /// Accepted draft tokens, and those of the main model.
    Drafts,
    /// How probable each token was.
    Confidence,
}

impl Colouring {
    fn next(self) -> Self {
        match self {
            Self::Syntax => Self::Drafts,
            Self::Drafts => Self::Confidence,
            Self::Confidence => Self::Syntax,
        }
    }
}

/// Texts of tokens.
pub trait Spell: Send + Sync {
    /// The text that each token adds to that of the ones before it.
    fn pieces(&self, ids: &[u32]) -> Vec<String>;
    /// One token for a reader: its text or its name.
    fn token(&self, id: u32) -> String;
    /// The beginning of every answer, which the prompt holds.
    fn begun(&self) -> &str;
}

impl Spell for Window {
    fn pieces(&self, ids: &[u32]) -> Vec<String> {
        Window::pieces(self, ids)
    }

    fn token(&self, id: u32) -> String {
        Window::token(self, id)
    }

    fn begun(&self) -> &str {
        Window::begun(self)
    }
}

/// Knowledge of a source about its tokens.
#[derive(Clone)]
pub struct Insight {
    pub spelling: Arc<dyn Spell>,
    /// It answers requests, so that there may be text around the code.
    pub chat: bool,
}

impl fmt::Debug for Insight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Insight").field("chat", &self.chat).finish_non_exhaustive()
    }
}

/// A part of the shown text, up to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Byte of the text behind it.
    pub end: usize,
    /// Its token; none for text that the program has put there.
    pub token: Option<usize>,
}

/// The statement or expression that the model was least certain of.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// Its first line.
    pub words: String,
    /// Its line in the candidate, 1-based.
    pub line: usize,
    /// Geometric mean of the probabilities of its tokens.
    pub probability: f32,
}

/// The tokens of a candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    ids: Vec<u32>,
    logprobs: Vec<f32>,
    /// For each: an accepted draft.
    drafted: Vec<bool>,
    /// For each, where they were asked for.
    alternatives: Vec<Vec<Alternative>>,
    /// The model's text, as far as it is spelled, with what the prompt begins it with.
    raw: String,
    /// The byte of `raw` behind each token that is spelled.
    ends: Vec<usize>,
    /// Parts of the shown text; they cover it.
    pieces: Vec<Piece>,
    /// State that the pieces were made of: tokens spelled, length of the text, and true if it has ended.
    laid: Option<(usize, usize, bool)>,
    doubt: Option<Doubt>,
    /// The doubt was looked for.
    is_judged: bool,
    /// The piece under the cursor.
    pub cursor: Option<usize>,
}

impl Trace {
    /// Takes the tokens of a step in. Without scores there is nothing to show.
    pub fn add(&mut self, ids: &[u32], logprobs: &[f32], alternatives: Vec<Vec<Alternative>>, accepted: usize) {
        if ids.len() != logprobs.len() || self.ids.len() + ids.len() > MOST {
            return;
        }
        self.ids.extend(ids);
        self.logprobs.extend(logprobs);
        self.drafted.extend((0..ids.len()).map(|at| at < accepted));
        self.alternatives.extend(alternatives);
    }

    /// The source told no tokens.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The bytes of a piece in the shown text.
    pub fn range(&self, piece: usize) -> Range<usize> {
        let begin = piece.checked_sub(1).map_or(0, |before| self.pieces[before].end);
        begin..self.pieces[piece].end
    }

    /// Probability of a token, and true if it was drafted.
    pub fn score(&self, token: usize) -> Option<(f32, bool)> {
        Some((self.logprobs.get(token)?.exp(), *self.drafted.get(token)?))
    }

    /// The most probable tokens in the place of a token, and their probabilities; not the token itself.
    pub fn others(&self, token: usize) -> Option<Vec<(u32, f32)>> {
        let all = self.alternatives.get(token)?;
        Some(all.iter().filter(|other| other.id != self.ids[token]).map(|a| (a.id, a.logprob.exp())).collect())
    }

    pub fn id(&self, token: usize) -> Option<u32> {
        self.ids.get(token).copied()
    }

    /// Share of the tokens that were drafted and accepted.
    pub fn drafted(&self) -> (usize, usize) {
        (self.drafted.iter().filter(|drafted| **drafted).count(), self.drafted.len())
    }

    pub fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// Spells the tokens that have come.
    fn spell(&mut self, spelling: &dyn Spell) {
        let from = self.ends.len();
        if from == self.ids.len() {
            return;
        }
        if from == 0 {
            spelling.begun().clone_into(&mut self.raw);
        }
        let texts = spelling.pieces(&self.ids[from..]);
        // A character may go on in the next token.
        let whole = texts.iter().rposition(|text| !text.is_empty()).map_or(0, |last| last + 1);
        for text in &texts[..whole] {
            self.raw.push_str(text);
            self.ends.push(self.raw.len());
        }
    }

    /// Finds the tokens in the shown text.
    fn lay(&mut self, shown: &str, ended: bool) -> bool {
        let made_of = Some((self.ends.len(), shown.len(), ended));
        if self.laid == made_of {
            return false;
        }
        self.laid = made_of;
        self.pieces = pieces(&self.raw, &self.ends, shown);
        self.cursor = self.cursor.filter(|&at| self.pieces.get(at).is_some_and(|piece| piece.token.is_some()));
        true
    }

    /// The node with the smallest mean log-probability, of those with at least two tokens.
    fn least_certain(&self, nodes: &[CodeNode], shown: &str) -> Option<Doubt> {
        let mut places = Vec::new();
        let mut sums = vec![0.0_f64];
        for (at, piece) in self.pieces.iter().enumerate() {
            let range = self.range(at);
            let part = &shown[range.clone()];
            let white = part.len() - part.trim_start().len();
            let Some(logprob) = piece.token.and_then(|token| self.logprobs.get(token)) else { continue };
            if white < part.len() {
                places.push(range.start + white);
                sums.push(sums.last().copied().unwrap_or_default() + f64::from(*logprob));
            }
        }
        let mean = |node: &&CodeNode| {
            let first = places.partition_point(|&at| at < node.range.start);
            let last = places.partition_point(|&at| at < node.range.end);
            (last >= first + 2).then(|| (sums[last] - sums[first]) / (last - first) as f64)
        };
        let means = nodes.iter().filter_map(|node| Some((node, mean(&node)?)));
        let (node, mean) = means.min_by(|a, b| a.1.total_cmp(&b.1))?;
        // Of a statement over several lines its head.
        let head = shown.get(node.range.clone())?.lines().next()?;
        let words = text::fit(&text::one_line(head), WORDS);
        let line = shown[..node.range.start].matches('\n').count() + 1;
        Some(Doubt { words, line, probability: mean.exp() as f32 })
    }

    /// Text of the model before its code.
    pub fn said(&self) -> Said {
        let prose = code::prose(&self.raw);
        let within = |end: &&usize| prose.thoughts.iter().any(|range| range.start < **end && **end <= range.end);
        let thoughts = prose.thoughts.iter().map(|range| clean(&self.raw[range.clone()]).trim().to_owned());
        let thoughts: Vec<String> = thoughts.filter(|thought| !thought.is_empty()).collect();
        Said {
            thoughts: thoughts.join("\n\n"),
            tokens: self.ends.iter().filter(within).count(),
            thinks: prose.thinks,
            words: clean(&self.raw[prose.said]).trim().to_owned(),
        }
    }
}

/// Text of an answer before its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub thoughts: String,
    /// Tokens of the thoughts.
    pub tokens: usize,
    /// The thoughts go on.
    pub thinks: bool,
    pub words: String,
}

impl Said {
    /// All of it in a line; empty if nothing was said.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        if self.tokens > 0 || self.thinks {
            parts.push(format!("{} {} tokens", if self.thinks { "thinks:" } else { "thought:" }, self.tokens));
        }
        if let Some(first) = self.words.lines().next() {
            parts.push(format!("said: {}", text::one_line(first)));
        }
        parts.join("; ")
    }

    /// All of it as it is.
    pub fn whole(&self) -> String {
        let parts = [self.thoughts.as_str(), self.words.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

/// Finds tokens in a text. `ends`: the byte of `raw` behind each. The text may be shorter than `raw`, and its
/// lines may be indented otherwise.
fn pieces(raw: &str, ends: &[usize], shown: &str) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut push = |end: usize, token: Option<usize>| {
        if end > out.last().map_or(0, |piece| piece.end) {
            out.push(Piece { end, token });
        }
    };
    // The tokens of `raw[from..to]`, which stands at byte `at` of the text.
    let mut copy = |from: usize, to: usize, at: usize| {
        push(at, None);
        let first = ends.partition_point(|&end| end <= from);
        for (token, &end) in ends.iter().enumerate().skip(first) {
            push(at + end.min(to) - from, Some(token));
            if end >= to {
                break;
            }
        }
    };
    if raw.starts_with(shown) {
        copy(0, shown.len(), 0);
    } else {
        let (mut from, mut at) = (0, 0);
        for line in shown.split_inclusive('\n') {
            let content = line.trim();
            let begin = at + line.len() - line.trim_start().len();
            at += line.len();
            let found = (!content.is_empty()).then(|| line_of(raw, content, from)).flatten();
            if let Some(found) = found {
                // The white space around it, where it is as the model wrote it.
                let (white, after) = (&line[..line.len() - line.trim_start().len()], &line[line.trim_end().len()..]);
                let before = if raw[..found].ends_with(white) { white.len() } else { 0 };
                let behind = if raw[found + content.len()..].starts_with(after) { after.len() } else { 0 };
                let before = before.min(found - from);
                copy(found - before, found + content.len() + behind, begin - before);
                from = found + content.len() + behind;
            }
        }
    }
    push(shown.len(), None);
    out
}

/// Where a line that says `content` begins in a text, behind its white space, from byte `from` on.
fn line_of(text: &str, content: &str, from: usize) -> Option<usize> {
    let is_line = |&(at, _): &(usize, &str)| {
        let (before, after) = (&text[..at], &text[at + content.len()..]);
        let before = before.rsplit('\n').next().unwrap_or_default();
        before.trim().is_empty() && after.split('\n').next().unwrap_or_default().trim().is_empty()
    };
    text[from..].match_indices(content).map(|(at, part)| (from + at, part)).find(is_line).map(|(at, _)| at)
}

/// Accepted tokens of the last steps, and the time of all steps beside that of plain decoding.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// Accepted tokens per candidate, for each of the last steps.
    steps: VecDeque<f64>,
    timed: usize,
    drafted: usize,
    spent_ms: f64,
    plain_ms: f64,
}

impl Pace {
    /// Takes the figures of a step in.
    pub fn step(&mut self, stats: &StepStats) {
        if stats.live == 0 {
            return;
        }
        if self.steps.len() == STEPS {
            self.steps.pop_front();
        }
        self.steps.push_back(stats.accepted as f64 / stats.live as f64);
        self.drafted += stats.drafted;
        if stats.plain_ms > 0.0 {
            self.timed += 1;
            self.spent_ms += stats.ms;
            self.plain_ms += stats.plain_ms;
        }
    }

    /// Accepted tokens per candidate of the last steps, a glyph for each; the lowest one stands for none, the
    /// highest for seven and more.
    pub fn line(&self) -> String {
        const GLYPHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        if self.drafted == 0 {
            return String::new();
        }
        self.steps.iter().map(|accepted| GLYPHS[(accepted.round() as usize).min(GLYPHS.len() - 1)]).collect()
    }

    /// How many times as fast as plain decoding it is; `None` if plain decoding was not measured or nothing
    /// was drafted.
    pub fn gain(&self) -> Option<f64> {
        (self.timed >= LEAST_STEPS && self.drafted > 0 && self.spent_ms > 0.0).then(|| self.plain_ms / self.spent_ms)
    }
}

/// The source has told what it knows.
pub fn told(state: &mut State, insight: Insight) {
    if let Some(run) = state.run.as_mut().filter(|run| run.is_live() && run.insight.is_none()) {
        run.insight = Some(insight.clone());
    }
    state.insight = Some(insight);
}

/// Brings what is shown of tokens up to date. Does nothing while the language colours the code.
pub fn refresh(state: &mut State) {
    let colouring = state.colouring;
    let Some(run) = &mut state.run else { return };
    let is_shown = |insight: &&Insight| insight.chat || colouring != Colouring::Syntax;
    let Some(insight) = run.insight.as_ref().filter(is_shown) else { return };
    for candidate in &mut run.candidates {
        let ended = !candidate.is_live();
        let Candidate { trace, shown, .. } = candidate;
        trace.spell(&*insight.spelling);
        if colouring == Colouring::Syntax || trace.is_empty() {
            continue;
        }
        if trace.lay(shown, ended) {
            (trace.doubt, trace.is_judged) = (None, false);
        }
        if colouring == Colouring::Confidence && ended && !trace.is_judged {
            let nodes = state.job.target().and_then(|target| target.nodes(shown));
            trace.doubt = trace.least_certain(&nodes.unwrap_or_else(|| code::lines(shown)), shown);
            trace.is_judged = true;
        }
    }
}

/// The next way to colour code.
pub fn colour(state: &mut State) -> Vec<Effect> {
    let Some(run) = &state.run else { return Vec::new() };
    let has_tokens = run.candidates.iter().any(|c| !c.trace.is_empty());
    let may_come = run.is_live() && run.insight.is_some() && run.candidates.iter().all(|c| c.shown.is_empty());
    let before = state.colouring;
    state.colouring = if has_tokens || may_come { before.next() } else { Colouring::Syntax };
    state.say(match state.colouring {
        Colouring::Syntax if before == Colouring::Confidence => "coloured by the language",
        Colouring::Syntax => "nothing is known of the tokens of these candidates: servers and kept runs tell none",
        Colouring::Drafts => "coloured by drafts: accepted ones, and tokens of the main model",
        Colouring::Confidence => "coloured by how probable each token was",
    });
    // Other tokens cost time, so that they are asked for only once somebody looks at probabilities.
    match (before == Colouring::Confidence, state.colouring == Colouring::Confidence) {
        (false, true) => vec![Effect::Alternatives(ALTERNATIVES)],
        (true, false) => vec![Effect::Alternatives(0)],
        _ => Vec::new(),
    }
}

/// Shows what the model said before its code, or its code again.
pub fn unfold_said(state: &mut State) {
    // Where code is continued, all that was written is code.
    let run = state.run.as_ref().filter(|run| run.insight.as_ref().is_some_and(|insight| insight.chat));
    let said = run.and_then(|run| run.focused()).map(|candidate| candidate.trace.said());
    if said.is_none_or(|said| said.whole().is_empty()) {
        state.say("the model has said nothing besides its code");
    } else if state.zoom {
        state.said = !state.said;
    } else {
        (state.zoom, state.said) = (true, true);
    }
}

/// Moves the cursor by a token, in zoom and by confidence.
pub fn step(state: &mut State, by: isize) {
    if !state.zoom || state.colouring != Colouring::Confidence {
        let (zoom, colour) =
            (state.key_name(Context::Panes, Action::Zoom), state.key_name(Context::Panes, Action::Colour));
        state.say(format!("tokens are shown one by one in zoom ({zoom}), coloured by confidence ({colour})"));
        return;
    }
    let layout = state.layout();
    let Some(run) = &state.run else { return };
    let (focus, Some(candidate)) = (run.focus, run.focused()) else { return };
    let trace = &candidate.trace;
    let tokens: Vec<usize> = (0..trace.pieces.len()).filter(|&at| trace.pieces[at].token.is_some()).collect();
    let next = match trace.cursor.and_then(|cursor| tokens.iter().position(|&at| at == cursor)) {
        Some(at) => at.saturating_add_signed(by).min(tokens.len().saturating_sub(1)),
        None if by < 0 => tokens.len().saturating_sub(1),
        None => 0,
    };
    let Some(&piece) = tokens.get(next) else {
        state.say("nothing is known of the tokens of this candidate");
        return;
    };
    let area = layout.code(focus);
    let rows = state.rows(candidate, area.width.into(), layout.folded);
    let begin = trace.range(piece).start;
    let before = &candidate.shown[..begin];
    let line = before.matches('\n').count();
    let column = text::width(&text::shown(before.rsplit('\n').next().unwrap_or_default()));
    let row = rows.iter().rposition(|row| row.line == line && row.skip <= column).unwrap_or(0);
    let height = usize::from(area.height).max(1);
    let last = rows.len().saturating_sub(height);
    let top = if candidate.scroll.follow { last } else { candidate.scroll.top.min(last) };
    let top = top.clamp((row + 1).saturating_sub(height), row);
    let Some(candidate) = state.run.as_mut().and_then(|run| run.candidates.get_mut(focus)) else { return };
    candidate.trace.cursor = Some(piece);
    (candidate.scroll.top, candidate.scroll.follow) = (top, false);
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
pub mod tests;
