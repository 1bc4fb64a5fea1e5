//! A drafter that proposes what it is told to.

use bass_tui::backend::{BackendError, Drafts, Network};
use bass_tui::engine::drafter::{Ask, Beginning, CandidateId, Evidence, Found, Offer, Votes};
use bass_tui::engine::{Drafter, RequestId};
use bass_tui::sampling::Draft;

/// Tokens to propose for a candidate now; the number of the step counts from 0.
pub type Script = Box<dyn FnMut(&Ask<'_>, usize) -> Vec<u32> + Send>;

pub struct Scripted {
    script: Script,
    step: usize,
    offered: Vec<Vec<u32>>,
    /// Of this many that were asked for, one is not delivered.
    stingy: Option<usize>,
}

impl Scripted {
    pub fn new(script: impl FnMut(&Ask<'_>, usize) -> Vec<u32> + Send + 'static) -> Self {
        Self { script: Box::new(script), step: 0, offered: Vec::new(), stingy: None }
    }

    /// Delivers one token fewer than asked for wherever that many or more were.
    pub fn stingy(self, from: usize) -> Self {
        Self { stingy: Some(from), ..self }
    }

    /// Knows what every candidate, by its index, will be (the prompt included), and turns right and wrong
    /// tokens by `pattern(candidate, step)`.
    pub fn knowing(truth: Vec<Vec<u32>>, pattern: fn(usize, usize) -> &'static [bool]) -> Self {
        Self::new(move |ask, step| {
            let index = ask.id.index % truth.len();
            let rest = truth[index].get(ask.tokens.len()..).unwrap_or_default();
            right_and_wrong(rest, pattern(ask.id.index, step))
        })
    }
}

/// The beginning of `rest`, with another token wherever `pattern` says so.
pub fn right_and_wrong(rest: &[u32], pattern: &[bool]) -> Vec<u32> {
    rest.iter().zip(pattern).map(|(&token, &right)| if right { token } else { token ^ 1 }).collect()
}

/// In every step of eight candidates one gets everything right, one nothing, one has no draft, others have
/// mixtures; they take turns only now and then, so that some are far ahead of others.
pub fn mixed(candidate: usize, step: usize) -> &'static [bool] {
    const R: bool = true;
    const W: bool = false;
    const PATTERNS: [&[bool]; 8] =
        [&[R; 16], &[W, R, R, R], &[], &[R, R, W, R, R], &[R], &[W; 7], &[R, R, R, R, R, R, R, W], &[R, W]];
    PATTERNS[(candidate + step / 64) % PATTERNS.len()]
}

impl Drafter for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn begin(&mut self, _request: RequestId, _beginning: &Beginning<'_>) {}

    fn offer(&mut self, asks: &[Ask<'_>]) -> Vec<Offer> {
        let step = self.step;
        self.offered = asks.iter().map(|ask| (self.script)(ask, step)).collect();
        self.step += 1;
        let offer = |tokens: &Vec<u32>| {
            Offer::free(Found { most: tokens.len(), evidence: Evidence::Match { length: 8, votes: Votes::One } })
        };
        self.offered.iter().map(offer).collect()
    }

    fn propose(
        &mut self,
        _: &[Ask<'_>],
        _: &[Offer],
        lengths: &[usize],
        _: &mut dyn Network,
    ) -> Result<Vec<Drafts>, BackendError> {
        let stingy = self.stingy;
        let propose = |(tokens, &length): (&Vec<u32>, &usize)| {
            assert!(length <= tokens.len(), "never more than was offered");
            let length = length - usize::from(stingy.is_some_and(|from| length >= from));
            Drafts::Host(tokens[..length].iter().map(|&token| Draft::certain(token)).collect())
        };
        Ok(self.offered.iter().zip(lengths).map(propose).collect())
    }

    fn settle(&mut self, _id: CandidateId, _tokens: &[u32]) {}

    fn end(&mut self, _id: CandidateId) {}

    fn finish(&mut self, _request: RequestId) {}
}
