//! Further rounds: candidates that are asked for where none of those before has passed the tests.
//!
//! They are written from the same prompt, warmer. A prompt that also tells what tests said of those that
//! failed did not find more (`docs/performance.md`): `eval --retry` compares them. The code that failed is
//! never shown: a small model writes it again.

use std::ops::Range;
use std::sync::Arc;

use super::{Candidate, Task};
use crate::engine::{Standing, rank};
use crate::source::{self, FinishReason, Prompt, Request, Source, Summary};
use crate::trial::Status;

/// Rounds that a run may go on for by itself.
#[derive(Clone)]
pub struct Rounds {
    /// Most rounds, the first included.
    pub most: usize,
    /// The source of the first round, which writes the others as well.
    pub source: Arc<dyn Source>,
    /// Prompts of the further ones.
    pub retry: Retry,
}

impl Rounds {
    /// So many rounds with the prompts that were measured best.
    pub fn new(most: usize, source: &Arc<dyn Source>) -> Self {
        Self { most, source: source.clone(), retry: Retry::default() }
    }
}

/// The reason for a further round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyMore {
    /// The user asked for it.
    Asked,
    /// No candidate passed.
    NonePasses,
    /// There are no tests that decide, and no candidate can be loaded and run.
    NoneRuns,
}

/// The sentence about a round that begins, with its candidates behind the others; `told` of them are told what
/// failed.
pub fn round_words(candidates: &Range<usize>, told: usize, why: WhyMore) -> String {
    let before = candidates.start;
    let none = match why {
        WhyMore::Asked => String::new(),
        WhyMore::NonePasses => format!("none of {before} passed: "),
        WhyMore::NoneRuns => format!("none of {before} can be run: "),
    };
    let told = if told == 0 { String::new() } else { format!(", {told} of them told what failed") };
    format!("{none}writing {} more{told}", candidates.len())
}

/// Requests of a further round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// The first prompt, warmer.
    #[default]
    Fresh,
    /// A prompt with what tests said of candidates that failed.
    Facts,
    /// Half of each.
    Mixed,
}

impl Retry {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fresh, Self::Facts, Self::Mixed];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Facts => "facts",
            Self::Mixed => "mixed",
        }
    }
}

/// Most facts that a prompt tells.
const MOST_FACTS: usize = 3;

/// Names that are not there and text that is no code: the faults that models mend most often (77 % of
/// `NameError`s in arXiv 2604.10508).
const EASY: [&str; 5] = ["NameError", "ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError"];

/// Messages of the tests on the candidates that ran and failed, those with easy faults first, then by rank.
pub(super) fn facts(candidates: &[Candidate], ranking: &[usize]) -> Vec<String> {
    let failed = |c: &&Candidate| matches!(c.verdict.status, Status::Failed | Status::Error | Status::Timeout);
    let mut said: Vec<&str> = ranking
        .iter()
        .filter_map(|&c| candidates.get(c))
        .filter(failed)
        .map(|c| c.verdict.message.as_str())
        .filter(|message| !message.is_empty())
        .collect();
    said.sort_by_key(|message| !EASY.iter().any(|fault| message.contains(fault)));
    let mut facts: Vec<String> = Vec::new();
    for message in said {
        if facts.len() < MOST_FACTS && facts.iter().all(|fact| fact != message) {
            facts.push(message.to_owned());
        }
    }
    facts
}

/// The requests of a round: `first` asked again for `n` candidates, those of one request behind the other's.
pub fn requests(
    (first, n): (&Request, usize),
    round: usize,
    rounds: &Rounds,
    task: &dyn Task,
    candidates: &[Candidate],
    ranking: &[usize],
) -> Vec<Request> {
    let facts = if rounds.retry == Retry::Fresh { Vec::new() } else { facts(candidates, ranking) };
    let told = Some(facts).filter(|facts| !facts.is_empty());
    let told = told.and_then(|facts| task.prompt_again(&rounds.source.window(), &facts));
    let of_facts = match (&told, rounds.retry) {
        (None, _) => 0,
        (Some(_), Retry::Facts) => n,
        (Some(_), _) => n / 2,
    };
    // Text that is likely to come again, for drafters that look things up.
    let texts = candidates.iter().filter(|c| c.finish.is_some()).map(|c| c.text.as_str());
    let reference: String = first.reference.as_deref().into_iter().chain(texts).collect::<Vec<_>>().join("\n");
    let request = |n: usize, part: u64, prompt: Prompt, coldest: f32| {
        let mut request = Request { prompt, reference: Some(reference.clone()), options: first.options.clone() };
        let sampling = &mut request.options.sampling;
        sampling.temperature = sampling.temperature.max(coldest);
        request.options.n = n;
        request.options.seed = first.options.seed.wrapping_add(SEEDS.wrapping_mul(2 * round as u64 + part));
        request
    };
    let warmer = (first.options.sampling.temperature + 0.2).clamp(0.8, 1.0);
    let fresh = (n > of_facts).then(|| request(n - of_facts, 0, first.prompt.clone(), warmer));
    let facts = told.filter(|_| of_facts > 0).map(|prompt| request(of_facts, 1, prompt, 0.6));
    fresh.into_iter().chain(facts).collect()
}

/// Between seeds of rounds, so that no candidate is written twice.
const SEEDS: u64 = 0x9E37_79B9_7F4A_7C15;

/// An event of a request whose candidates begin at this index.
pub fn moved(event: source::Event, by: usize) -> source::Event {
    use source::Event as From;
    match event {
        From::Tokens { candidate, text, ids, logprobs, alternatives, drafted, accepted } => {
            From::Tokens { candidate: candidate + by, text, ids, logprobs, alternatives, drafted, accepted }
        }
        From::Broken { candidate, why } => From::Broken { candidate: candidate + by, why },
        From::Finished { candidate, reason, text, mean_logprob } => {
            From::Finished { candidate: candidate + by, reason, text, mean_logprob }
        }
        From::Done(mut summary) => {
            summary.ranking.iter_mut().for_each(|candidate| *candidate += by);
            From::Done(summary)
        }
        other => other,
    }
}

/// Figures of all requests so far: sums, and the candidates of all by rank.
pub fn together(mut all: Summary, more: &Summary, candidates: &[Candidate]) -> Summary {
    all.prefill_ms += more.prefill_ms;
    all.prompt_tokens_reused += more.prompt_tokens_reused;
    all.decode_ms += more.decode_ms;
    all.steps += more.steps;
    all.tokens += more.tokens;
    all.drafted += more.drafted;
    all.accepted += more.accepted;
    all.tokens_per_second = if all.decode_ms > 0.0 { all.tokens as f64 * 1000.0 / all.decode_ms } else { 0.0 };
    all.ranking.extend(&more.ranking);
    // Ties go by index.
    all.ranking.sort_unstable();
    let standing = |&c: &usize| {
        let candidate = candidates.get(c);
        let reason = candidate.and_then(|c| c.finish).unwrap_or(FinishReason::Failed);
        Standing { reason, mean_logprob: candidate.and_then(|c| c.mean_logprob) }
    };
    let standings: Vec<Standing> = all.ranking.iter().map(standing).collect();
    all.ranking = rank(&standings).into_iter().map(|place| all.ranking[place]).collect();
    all
}
