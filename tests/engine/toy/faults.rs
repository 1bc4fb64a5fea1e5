//! Mistakes that implementations of speculative sampling have made, on both sides: in what is accepted and in
//! what is proposed.

use bass_tui::backend::Candidate;
use bass_tui::sampling::{
    Accept, Accepted, Distribution, Draft, DrawKey, Proposal, Purpose, Sampling, argmax, uniform,
};

use super::VOCAB;
use super::network::short;

/// Mistakes of the verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The extra token after a rejection comes from p and not from the residual.
    NoResidual,
    /// A draft is accepted if it is the main model's most probable token.
    ArgmaxOnly,
    /// A draft is accepted if a token drawn from p happens to be the same, and replaced by the residual if
    /// not.
    SampleMatch,
    /// p is taken without the filter that q has.
    UnfilteredTarget,
    /// Every draft is accepted.
    AcceptAll,
    /// p is made with all filters, then its most probable token is taken instead of a draw.
    ArgmaxOfFiltered,
}

pub const FAULTS: &[Fault] = &[
    Fault::NoResidual,
    Fault::ArgmaxOnly,
    Fault::SampleMatch,
    Fault::UnfilteredTarget,
    Fault::AcceptAll,
    Fault::ArgmaxOfFiltered,
];

/// Mistakes of the proposal: q is not what the draft was drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadDraft {
    /// Drawn from the filtered logits; q is the softmax of the raw ones.
    RawClaimed,
    /// The most probable token; q is the whole distribution.
    ArgmaxDrawn,
    /// Drawn without the temperature that q has.
    NoTemperature,
    /// Drawn from logits rounded to bf16; q is made of those in f32.
    Rounded,
    /// Drawn from a short list of tokens; q is the distribution over all.
    ListUnsaid,
}

/// Those that ordinary numbers of draws show.
pub const BAD_DRAFTS: &[BadDraft] =
    &[BadDraft::RawClaimed, BadDraft::ArgmaxDrawn, BadDraft::NoTemperature, BadDraft::ListUnsaid];

impl Fault {
    /// Verification with the mistake in it.
    pub fn accept<'l>(self, candidate: &Candidate<'_>, drafts: &[Draft], row: &dyn Fn(usize) -> &'l [f32]) -> Accepted {
        let rules = &candidate.rules;
        assert_eq!(rules.accept, Accept::Rejection);
        let mut sampling = *rules.sampling;
        if self == Self::UnfilteredTarget {
            sampling.top_p = None;
        }
        let draw = |p: &Distribution, key, purpose| {
            if self == Self::ArgmaxOfFiltered { most_probable(p) } else { p.draw(key, purpose) }
        };
        let mut tokens = Vec::new();
        for (i, draft) in drafts.iter().enumerate() {
            let key = key(candidate, i);
            let p = Distribution::new(row(i), &sampling, &[]);
            let Proposal::Drawn(q) = &draft.proposal else { unreachable!("the draft model draws") };
            let u = uniform(key, Purpose::Accept);
            let ratio = u * f64::from(q.prob(draft.token)) < f64::from(p.prob(draft.token));
            let accepted = match self {
                Self::AcceptAll => true,
                Self::ArgmaxOnly => argmax(row(i)) == draft.token,
                Self::SampleMatch => p.at(u) == draft.token,
                Self::NoResidual | Self::UnfilteredTarget | Self::ArgmaxOfFiltered => ratio,
            };
            if !accepted {
                tokens.push(match self {
                    Self::NoResidual => p.draw(key, Purpose::Residual),
                    _ => p.draw_residual(q, key),
                });
                return Accepted { accepted: i, logprobs: vec![0.0; tokens.len()], tokens, ..Accepted::default() };
            }
            tokens.push(draft.token);
        }
        let at = drafts.len();
        tokens.push(draw(&Distribution::new(row(at), &sampling, &[]), key(candidate, at), Purpose::Sample));
        Accepted { accepted: at, logprobs: vec![0.0; tokens.len()], tokens, ..Accepted::default() }
    }
}

impl BadDraft {
    /// A proposal with the mistake in it.
    pub fn draw(self, candidate: &Candidate<'_>, drafts: &[Draft], logits: &[f32], ids: Option<&[u32]>) -> Draft {
        let sampling = *candidate.rules.sampling;
        let key = key(candidate, drafts.len());
        let of = |logits: &[f32], sampling: &Sampling| Distribution::new(logits, sampling, &[]);
        let claimed = of(logits, &sampling);
        let (token, q) = match self {
            Self::RawClaimed => {
                let raw = Sampling { temperature: 1.0, ..Sampling::GREEDY };
                (claimed.draw(key, Purpose::Draft), of(logits, &raw))
            }
            Self::ArgmaxDrawn => (most_probable(&claimed), claimed),
            Self::NoTemperature => {
                let drawn = of(logits, &Sampling { temperature: 1.0, ..sampling });
                (drawn.draw(key, Purpose::Draft), claimed)
            }
            Self::Rounded => {
                let rounded: Vec<f32> = logits.iter().map(|&logit| half::bf16::from_f32(logit).to_f32()).collect();
                (of(&rounded, &sampling).draw(key, Purpose::Draft), claimed)
            }
            Self::ListUnsaid => {
                let ids = ids.unwrap_or(&[0, 2, 3]);
                let drawn = Distribution::among(Some(ids), &short(logits, ids), &sampling, &[]);
                (drawn.draw(key, Purpose::Draft), claimed)
            }
        };
        Draft { token, proposal: Proposal::Drawn(q) }
    }
}

fn key(candidate: &Candidate<'_>, offset: usize) -> DrawKey {
    let position = candidate.tokens.len() as u32;
    DrawKey { seed: candidate.rules.seed, candidate: candidate.index, position }.at(offset)
}

fn most_probable(p: &Distribution) -> u32 {
    let by_probability = |a: &u32, b: &u32| p.prob(*a).total_cmp(&p.prob(*b));
    (0..VOCAB as u32).max_by(by_probability).unwrap()
}
