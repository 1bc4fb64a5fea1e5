//! A draft head beside the main model (EAGLE-3, `DFlash`): it reads hidden states of every pass, so there is
//! nothing to prepare and nothing to catch up with.

use std::time::Duration;

use super::vocabulary::AtHand;
use super::{Ask, Beginning, CandidateId, DraftVocabulary, Drafter, Evidence, Offer, Passes};
use crate::backend::{BackendError, Candidate, Drafts, Network};
use crate::engine::draft_length::DraftLength;
use crate::engine::event::RequestId;
use crate::engine::profile::{self, Times};
use crate::model::spec::HeadKind;

/// Drafts with the head that is attached to the main model.
pub struct HeadDrafter {
    name: String,
    kind: HeadKind,
    /// Tokens that are proposed, where the head is the main model's; all where `None`.
    proposed: Option<AtHand>,
}

impl HeadDrafter {
    /// Of a head with this name.
    pub fn new(name: impl Into<String>, kind: HeadKind) -> Self {
        Self { name: name.into(), kind, proposed: None }
    }

    /// Proposes these tokens only, of a vocabulary of so many. A head of its own has its own list.
    #[must_use]
    pub fn proposing(mut self, tokens: DraftVocabulary, vocab: usize) -> Self {
        let of_main = !matches!(self.kind, HeadKind::Chain { .. });
        self.proposed = tokens.first(vocab).filter(|_| of_main).map(AtHand::new);
        self
    }

    /// Rows of a pass for each candidate.
    fn rows(&self) -> usize {
        match self.kind {
            HeadKind::Chain { .. } | HeadKind::Next => 1,
            HeadKind::Block { size, .. } => size,
        }
    }
}

impl Drafter for HeadDrafter {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin(&mut self, request: RequestId, beginning: &Beginning<'_>) {
        if let Some(proposed) = &mut self.proposed {
            proposed.saw(request, beginning.prompt);
        }
    }

    fn offer(&mut self, asks: &[Ask<'_>]) -> Vec<Offer> {
        let (most, passes) = match self.kind {
            HeadKind::Chain { .. } | HeadKind::Next => (DraftLength::LONGEST, Passes::Each { lag: 1 }),
            HeadKind::Block { size, .. } => (size - 1, Passes::Block { rows: size }),
        };
        let offer = |ask: &Ask<'_>| match ask.tokens.len() {
            // Nothing is read before the first token.
            0 | 1 => Offer::NONE,
            _ => Offer { most: most.min(ask.room), passes, evidence: Evidence::Model, or: None },
        };
        asks.iter().map(offer).collect()
    }

    fn propose(
        &mut self,
        asks: &[Ask<'_>],
        _: &[Offer],
        lengths: &[usize],
        main: &mut dyn Network,
    ) -> Result<Vec<Drafts>, BackendError> {
        if let Some(list) = self.proposed.as_mut().and_then(AtHand::changed) {
            main.draft_from(&list);
        }
        let candidates: Vec<Candidate<'_>> = asks.iter().map(|ask| ask.candidate(ask.seq)).collect();
        main.draft_with_head(&candidates, lengths)
    }

    fn settle(&mut self, id: CandidateId, tokens: &[u32]) {
        if let Some(proposed) = &mut self.proposed {
            proposed.saw_last(id.request, tokens);
        }
    }

    fn end(&mut self, _: CandidateId) {}

    fn finish(&mut self, request: RequestId) {
        if let Some(proposed) = &mut self.proposed {
            proposed.finish(request);
        }
    }

    fn measure(&mut self, main: &mut dyn Network, text: &[u32], budget: Duration) -> Result<Times, BackendError> {
        let rows = self.rows();
        let times = profile::curve(main, profile::Pass::Head { rows }, &profile::DRAFT_ROWS, text, budget)?;
        let points = times.points.into_iter().map(|(candidates, ms)| (candidates * rows, ms)).collect();
        Ok(Times { points, read: 0.0, ..times })
    }
}
