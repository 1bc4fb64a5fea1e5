//! Drafting and verification for networks whose logits lie in host memory.

use super::{BackendError, Candidate, Drafts, Network, Rows, SeqId, Span, Wanted};
use crate::sampling::{Accepted, Draft, Scores};

/// A network whose logits can be read.
pub trait HostLogits: Network + Sync {
    /// Logits `[vocab_size]` of row `row` of the last pass, counting only the rows that were wanted.
    fn logits(&self, row: usize) -> &[f32];

    /// `of` every number below `count`, in their order.
    fn map<T: Send + Sync>(&self, count: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
        (0..count).map(of).collect()
    }

    /// Draws the token after `drafts` from row `row`.
    fn draw(&self, candidate: &Candidate<'_>, drafts: &[Draft], row: usize) -> Draft {
        candidate.draw(drafts, self.logits(row))
    }

    /// Verifies `drafts` against the rows from `row` on.
    fn accept(&self, candidate: &Candidate<'_>, drafts: &[Draft], row: usize) -> Accepted {
        candidate.accept(drafts, &|i| self.logits(row + i))
    }
}

/// The rows of a pass while they are put together.
#[derive(Default)]
struct Pass {
    tokens: Vec<u32>,
    spans: Vec<Span>,
}

impl Pass {
    fn add(&mut self, seq: SeqId, start: usize, tokens: impl Iterator<Item = u32>) {
        let before = self.tokens.len();
        self.tokens.extend(tokens);
        self.spans.push(Span { seq, start, len: self.tokens.len() - before });
    }

    fn run(&self, network: &mut impl Network, want: Wanted) -> Result<usize, BackendError> {
        network.forward(&Rows::chain(&self.tokens, &self.spans), want)
    }
}

/// [`Network::draft`], one pass per round.
pub fn draft<N: HostLogits>(
    network: &mut N,
    candidates: &[Candidate<'_>],
    lengths: &[usize],
) -> Result<Vec<Drafts>, BackendError> {
    same_count(candidates, lengths)?;
    let vocab = network.vocab_size();
    let mut drafts: Vec<Vec<Draft>> = lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
    for round in 0..lengths.iter().copied().max().unwrap_or(0) {
        let taking_part: Vec<usize> = (0..candidates.len()).filter(|&i| lengths[i] > round).collect();
        let mut pass = Pass::default();
        for &i in &taking_part {
            let candidate = &candidates[i];
            let start = network.len(candidate.seq);
            match drafts[i].last() {
                // Padded vocabularies may differ in size.
                None => {
                    let readable = |&token: &u32| if (token as usize) < vocab { token } else { 0 };
                    pass.add(candidate.seq, start, candidate.unread(start)?.iter().map(readable));
                }
                Some(draft) => pass.add(candidate.seq, start, std::iter::once(draft.token)),
            }
        }
        pass.run(network, Wanted::Last)?;
        let draw = |row: usize| {
            let i = taking_part[row];
            network.draw(&candidates[i], &drafts[i], row)
        };
        let drawn = network.map(taking_part.len(), draw);
        for (i, draft) in taking_part.into_iter().zip(drawn) {
            drafts[i].push(draft);
        }
    }
    Ok(drafts.into_iter().map(Drafts::Host).collect())
}

/// [`Network::verify`] of drafts in host memory.
pub fn verify<N: HostLogits>(
    network: &mut N,
    candidates: &[Candidate<'_>],
    drafts: &[Drafts],
) -> Result<Vec<Accepted>, BackendError> {
    same_count(candidates, drafts)?;
    let drafts = drafts.iter().map(Drafts::host).collect::<Result<Vec<_>, _>>()?;
    let mut pass = Pass::default();
    let mut firsts = Vec::with_capacity(candidates.len());
    for (candidate, drafts) in candidates.iter().zip(&drafts) {
        let start = network.len(candidate.seq);
        let unread = candidate.unread(start)?;
        pass.add(candidate.seq, start, unread.iter().copied().chain(drafts.iter().map(|draft| draft.token)));
        firsts.push(pass.tokens.len() - 1 - drafts.len());
    }
    pass.run(network, Wanted::All)?;
    let accepted = network.map(candidates.len(), |i| network.accept(&candidates[i], drafts[i], firsts[i]));
    for (candidate, accepted) in candidates.iter().zip(&accepted) {
        network.set_len(candidate.seq, candidate.tokens.len() + accepted.accepted);
    }
    Ok(accepted)
}

/// [`Network::score`].
pub fn score<N: HostLogits>(
    network: &mut N,
    rows: &Rows<'_>,
    next: &[u32],
    alternatives: usize,
    scores: &mut Scores,
) -> Result<(), BackendError> {
    network.forward(rows, Wanted::All)?;
    next.iter().enumerate().for_each(|(row, &id)| scores.push(id, network.logits(row), alternatives));
    Ok(())
}

/// Fails unless there is one of these for each candidate.
pub(super) fn same_count<T>(candidates: &[Candidate<'_>], of: &[T]) -> Result<(), BackendError> {
    let wrong = || BackendError::Contract(format!("drafts for {} of {} candidates", of.len(), candidates.len()));
    (candidates.len() == of.len()).then_some(()).ok_or_else(wrong)
}
