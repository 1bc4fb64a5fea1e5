//! The acceptance rule of speculative sampling: what is emitted has exactly the main model's distribution.
//!
//! `Rejection` is algorithm 1 of Leviathan et al. (arXiv 2211.17192) in their letters: p is the main model's
//! distribution, q the one that the draft token was really drawn from, both after temperature and filters.

use std::fmt;
use std::str::FromStr;

use super::alternatives::Alternative;
use super::distribution::{Distribution, Sampling, raw_logprob};
use super::rng::{DrawKey, Purpose, uniform};

/// Which rule accepts draft tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// Accept with probability min(1, p/q), else draw from norm((p − q)+). Accepts most; which of the equally
    /// distributed texts is written depends on what is drafted, and so with a draft length by measured cost
    /// on timing.
    Rejection,
    /// Main and draft model draw with the same noise; a draft token is kept when it is the main model's own
    /// choice. The output is what plain sampling with this seed gives, whatever is drafted.
    #[default]
    Coupled,
}

impl fmt::Display for Accept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rejection => "rejection",
            Self::Coupled => "coupled",
        })
    }
}

impl FromStr for Accept {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Rejection, Self::Coupled].into_iter().find(|rule| rule.to_string() == name).ok_or(())
    }
}

/// A proposed token.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The token.
    pub token: u32,
    /// Distribution that it was drawn from.
    pub proposal: Proposal,
}

impl Draft {
    /// A token that was copied from text.
    pub fn certain(token: u32) -> Self {
        Self { token, proposal: Proposal::Certain }
    }
}

/// The distribution a draft token was really drawn from.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal {
    /// All mass on the token: lookups.
    Certain,
    /// Drawn from this distribution.
    Drawn(Distribution),
}

/// Outcome of verifying one sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accepted {
    /// How many of the drafts were accepted.
    pub accepted: usize,
    /// The accepted drafts and one token more, which the main model chose itself.
    pub tokens: Vec<u32>,
    /// Raw log-probabilities of `tokens` (natural logarithm, temperature 1, no filter).
    pub logprobs: Vec<f32>,
    /// The most probable tokens in the place of each, the best first; none where nobody asked for them.
    pub alternatives: Vec<Vec<Alternative>>,
}

/// Draws one draft token from `q`, for the position of `key`.
pub fn propose(q: Distribution, accept: Accept, key: DrawKey) -> Draft {
    let token = match accept {
        Accept::Rejection => q.draw(key, Purpose::Draft),
        Accept::Coupled => q.draw_coupled(key),
    };
    Draft { token, proposal: Proposal::Drawn(q) }
}

/// Verifies `drafts` against the main model: `row(i)` are its logits `[vocab]` at the position of draft i,
/// `row(drafts.len())` those after the last. `key` belongs to the first of these positions and `history`
/// holds the tokens before it.
pub fn verify<'l>(
    row: &dyn Fn(usize) -> &'l [f32],
    drafts: &[Draft],
    sampling: &Sampling,
    accept: Accept,
    key: DrawKey,
    history: &[u32],
) -> Accepted {
    let mut tokens = Vec::with_capacity(drafts.len() + 1);
    let mut prefix = Prefix::new(sampling, history);
    for (i, draft) in drafts.iter().enumerate() {
        let key = key.at(i);
        let p = Distribution::new(row(i), sampling, prefix.tokens());
        let token = match accept {
            Accept::Rejection => reject(&p, draft, key),
            Accept::Coupled => p.draw_coupled(key),
        };
        tokens.push(token);
        if token != draft.token {
            return finish(row, tokens, i);
        }
        prefix.push(token);
    }
    let key = key.at(drafts.len());
    let p = Distribution::new(row(drafts.len()), sampling, prefix.tokens());
    tokens.push(match accept {
        Accept::Rejection => p.draw(key, Purpose::Sample),
        Accept::Coupled => p.draw_coupled(key),
    });
    finish(row, tokens, drafts.len())
}

/// The draft token, or the one that replaces it. (A replacement is never equal to the draft token: its
/// residual is 0.)
fn reject(p: &Distribution, draft: &Draft, key: DrawKey) -> u32 {
    let x = draft.token;
    let q = match &draft.proposal {
        Proposal::Certain => &Distribution::certain(x),
        Proposal::Drawn(q) => q,
    };
    // Strictly less: a token with p = 0 is not accepted when the draw happens to be 0.
    if uniform(key, Purpose::Accept) * f64::from(q.prob(x)) < f64::from(p.prob(x)) {
        x
    } else {
        p.draw_residual(q, key)
    }
}

fn finish<'l>(row: &dyn Fn(usize) -> &'l [f32], tokens: Vec<u32>, accepted: usize) -> Accepted {
    let logprobs = tokens.iter().enumerate().map(|(i, &t)| raw_logprob(row(i), t)).collect();
    Accepted { accepted, tokens, logprobs, alternatives: Vec::new() }
}

/// The tokens before a position, kept only when a setting reads them.
struct Prefix {
    tokens: Option<Vec<u32>>,
}

impl Prefix {
    fn new(sampling: &Sampling, history: &[u32]) -> Self {
        Self { tokens: sampling.repetition_penalty.map(|_| history.to_vec()) }
    }

    fn tokens(&self) -> &[u32] {
        self.tokens.as_deref().unwrap_or_default()
    }

    fn push(&mut self, token: u32) {
        if let Some(tokens) = &mut self.tokens {
            tokens.push(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(position: u32) -> DrawKey {
        DrawKey { seed: 9, candidate: 0, position }
    }

    #[test]
    fn greedy_accepts_the_argmax_and_replaces_anything_else() {
        let rows: [&[f32]; 3] = [&[0.0, 1.0], &[2.0, 1.0], &[0.0, 5.0]];
        let draft = Draft::certain;
        let go = |drafts: &[Draft]| verify(&|i| rows[i], drafts, &Sampling::GREEDY, Accept::Rejection, key(0), &[]);
        assert_eq!(go(&[draft(1), draft(0)]).tokens, [1, 0, 1]);
        assert_eq!(go(&[draft(1), draft(1)]).tokens, [1, 0]);
        assert_eq!(go(&[draft(0), draft(0)]), Accepted { accepted: 0, ..go(&[]) });
        assert_eq!(go(&[]).tokens, [1]);
    }

    #[test]
    fn a_token_outside_the_main_models_filter_is_never_accepted() {
        let row: &[f32] = &[5.0, 0.0, 0.0];
        let sampling = Sampling { temperature: 1.0, top_p: Some(0.5), ..Sampling::default() };
        for position in 0..200 {
            let draft = Draft::certain(2);
            let got = verify(&|_| row, &[draft], &sampling, Accept::Rejection, key(position), &[]);
            assert_eq!((got.accepted, got.tokens), (0, vec![0]));
        }
    }

    #[test]
    fn coupled_output_does_not_depend_on_the_drafts() {
        let rows: [&[f32]; 2] = [&[0.3, 0.2, 0.1], &[0.0, 0.5, 0.2]];
        let sampling = Sampling { temperature: 1.0, top_p: None, ..Sampling::default() };
        for position in 0..100 {
            let plain = |row: &'static [f32], at| {
                let p = Distribution::new(row, &sampling, &[]);
                p.draw_coupled(key(position).at(at))
            };
            let want = [plain(rows[0], 0), plain(rows[1], 1)];
            for token in 0..3 {
                let draft = Draft::certain(token);
                let got = verify(&|i| rows[i], &[draft], &sampling, Accept::Coupled, key(position), &[]);
                assert_eq!(got.tokens, want[..=got.accepted]);
                assert_eq!(got.accepted == 1, token == want[0]);
            }
        }
    }
}
