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

    /// Rows of `seq` before `len`, those of the next pass included, will not be taken back.
    fn keep(&mut self, seq: SeqId, len: usize) {
        let _ = (seq, len);
    }

    /// A pass whose wanted rows drafts are drawn from: it may leave out logits that no draft needs.
    fn forward_to_draw(&mut self, rows: &Rows<'_>, want: Wanted) -> Result<usize, BackendError> {
        self.forward(rows, want)
    }

    /// Ids of the logits of that pass, ascending; `None` where they are all there.
    fn drawn_from(&self) -> Option<&[u32]> {
        None
    }

    /// Draws the token after `drafts` from row `row` of that pass.
    fn draw(&self, candidate: &Candidate<'_>, drafts: &[Draft], row: usize) -> Draft {
        candidate.draw(drafts, self.logits(row), self.drawn_from())
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

    fn rows(&self) -> Rows<'_> {
        Rows::chain(&self.tokens, &self.spans)
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
                None => {
                    let unread = candidate.unread(start)?.iter().map(|&token| readable(token, vocab));
                    pass.add(candidate.seq, start, unread);
                }
                Some(draft) => pass.add(candidate.seq, start, std::iter::once(draft.token)),
            }
        }
        network.forward_to_draw(&pass.rows(), Wanted::Last)?;
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

/// [`Network::draft`] in one pass, of a model that was trained for it (PARD, arXiv 2504.18583): rows of `mask`
/// stand for the tokens before each draft, and are gone afterwards.
pub fn draft_at_once<N: HostLogits>(
    network: &mut N,
    candidates: &[Candidate<'_>],
    lengths: &[usize],
    mask: u32,
) -> Result<Vec<Drafts>, BackendError> {
    same_count(candidates, lengths)?;
    let vocab = network.vocab_size();
    let drawing: Vec<usize> = (0..candidates.len()).filter(|&i| lengths[i] > 0).collect();
    let mut pass = Pass::default();
    let mut firsts = Vec::with_capacity(drawing.len());
    for &i in &drawing {
        let candidate = &candidates[i];
        let start = network.len(candidate.seq);
        let unread = candidate.unread(start)?.iter().map(|&token| readable(token, vocab));
        pass.add(candidate.seq, start, unread.chain(std::iter::repeat_n(mask, lengths[i] - 1)));
        firsts.push(pass.tokens.len() - lengths[i]);
    }
    network.forward_to_draw(&pass.rows(), Wanted::All)?;
    let draw = |at: usize| {
        let i = drawing[at];
        let mut drafts = Vec::with_capacity(lengths[i]);
        for j in 0..lengths[i] {
            drafts.push(network.draw(&candidates[i], &drafts, firsts[at] + j));
        }
        drafts
    };
    let drawn = network.map(drawing.len(), draw);
    let mut drafts = vec![Drafts::NONE; candidates.len()];
    for (i, drawn) in drawing.into_iter().zip(drawn) {
        network.set_len(candidates[i].seq, candidates[i].tokens.len());
        drafts[i] = Drafts::Host(drawn);
    }
    Ok(drafts)
}

/// A token as a network with `vocab` ids can read it: padded vocabularies may differ in size.
pub fn readable(token: u32, vocab: usize) -> u32 {
    if (token as usize) < vocab { token } else { 0 }
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
        network.keep(candidate.seq, start + unread.len());
        pass.add(candidate.seq, start, unread.iter().copied().chain(drafts.iter().map(|draft| draft.token)));
        firsts.push(pass.tokens.len() - 1 - drafts.len());
    }
    network.forward(&pass.rows(), Wanted::All)?;
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
