//! Drafts copied from text that is at hand: what followed when the same tokens occurred before.
//!
//! Inference with reference (LLMA, arXiv 2304.04487) looks in a reference document; prompt lookup looks in
//! the prompt and in what has been written so far; the other candidates of the same prompt, which usually say
//! nearly the same, are a third place. Where several places agree on what follows it is nearly sure; a draft
//! ends where they say different things.

use std::collections::HashMap;

use super::ngrams::Ngrams;
use super::{Ask, Beginning, CandidateId, Drafter, Evidence, Found, Offer, Votes};
use crate::backend::{BackendError, Drafts, Network};
use crate::engine::event::RequestId;
use crate::sampling::Draft;

/// Where to look and what counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupSettings {
    /// Fewest tokens that have to agree.
    pub least: usize,
    /// Agreement beyond this many tokens does not count.
    pub longest: usize,
    /// Most tokens copied in a step.
    pub most: usize,
    /// Look in the prompt, in the candidate's own text and in the reference.
    pub past: bool,
    /// Look in the other candidates of the request.
    pub siblings: bool,
}

impl LookupSettings {
    /// Prompt, own text and reference.
    pub const LOOKUP: Self = Self { least: 2, longest: 8, most: 16, past: true, siblings: false };
    /// The other candidates.
    pub const SIBLING: Self = Self { past: false, siblings: true, ..Self::LOOKUP };
    /// Everything.
    pub const ALL: Self = Self { siblings: true, ..Self::LOOKUP };
}

/// Values that users set in the place of a drafter's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct LookupChanges {
    /// Fewest tokens that have to agree.
    pub least: Option<usize>,
    /// Most tokens copied in a step.
    pub most: Option<usize>,
}

impl LookupSettings {
    /// These settings with some of them changed.
    #[must_use]
    pub fn with(self, changes: LookupChanges) -> Self {
        let least = changes.least.unwrap_or(self.least);
        Self { least, longest: self.longest.max(least), most: changes.most.unwrap_or(self.most), ..self }
    }
}

/// Copies from text.
pub struct LookupDrafter {
    settings: LookupSettings,
    requests: HashMap<RequestId, Texts>,
}

/// The texts of one request.
struct Texts {
    prompt: Ngrams,
    reference: Ngrams,
    /// Text of each candidate, after the last tokens of the prompt. Stays when the candidate has ended:
    /// others may follow it.
    own: Vec<Ngrams>,
    /// Tokens of the prompt that `own` begins with.
    overlap: usize,
    prompt_len: usize,
    /// Tokens found for each candidate in this step.
    found: Vec<Vec<u32>>,
}

impl LookupDrafter {
    /// Looks where `settings` says.
    pub fn new(settings: LookupSettings) -> Self {
        Self { settings, requests: HashMap::new() }
    }
}

/// A place where the end of a candidate occurred.
struct Place<'a> {
    text: &'a Ngrams,
    /// Index of what followed.
    next: usize,
    /// The text is the candidate's own, and may repeat itself.
    repeats: bool,
    sibling: bool,
}

impl Texts {
    /// Places that are asked, of each text and in all.
    const PLACES: usize = 16;

    fn look(&mut self, ask: &Ask<'_>, settings: &LookupSettings) -> Offer {
        let me = ask.id.index;
        let mut found = std::mem::take(&mut self.found[me]);
        found.clear();
        let (length, places) = self.places(ask, settings);
        let evidence = Self::follow(&places, length, settings.most.min(ask.room), &mut found);
        self.found[me] = found;
        evidence.map_or(Offer::NONE, |evidence| Offer::free(Found { most: self.found[me].len(), evidence }))
    }

    /// The longest agreement, and where it is.
    fn places(&self, ask: &Ask<'_>, settings: &LookupSettings) -> (usize, Vec<Place<'_>>) {
        let LookupSettings { longest, past, siblings, .. } = *settings;
        let tail = &ask.tokens[ask.tokens.len().saturating_sub(longest)..];
        let me = ask.id.index;
        let (mut length, mut places) = (0, Vec::new());
        let mut look = |text, repeats, sibling| {
            let found = Ngrams::find(text, tail, longest, length, Self::PLACES);
            if found.length > length {
                length = found.length;
                places.clear();
            }
            let room = Self::PLACES - places.len();
            places.extend(found.next.into_iter().take(room).map(|next| Place { text, next, repeats, sibling }));
        };
        if past {
            look(&self.own[me], true, false);
            // A prompt that shows the code twice, quoted and begun, repeats itself where a candidate begins: what
            // follows the quotation is its end.
            if ask.tokens.len() > self.prompt_len {
                look(&self.prompt, false, false);
            }
            look(&self.reference, false, false);
        }
        if siblings {
            let (before, after) = (&self.own[..me], &self.own[me + 1..]);
            before.iter().chain(after).for_each(|text| look(text, false, true));
        }
        (length, places)
    }

    /// Adds what follows at most places, up to where they say different things; of equally many the first.
    fn follow(places: &[Place<'_>], length: usize, most: usize, found: &mut Vec<u32>) -> Option<Evidence> {
        let mut going: Vec<&Place<'_>> = places.iter().collect();
        let mut evidence = None;
        while found.len() < most {
            let follows = |place: &&Place<'_>| place.text.following(place.next, found.len(), place.repeats);
            going.retain(|place| follows(place).is_some());
            let said: Vec<u32> = going.iter().filter_map(follows).collect();
            let Some(&first) = said.first() else { break };
            let count = |token| said.iter().filter(|&&of| of == token).count();
            let agreed = count(first) == said.len();
            let most_said = || said.iter().rev().copied().max_by_key(|&token| count(token));
            let token = if agreed { first } else { most_said().unwrap_or(first) };
            let votes = Votes::of(count(token), said.len());
            if evidence.is_none() {
                let sibling = going.iter().any(|place| place.sibling);
                let of = if sibling { Evidence::Sibling { length, votes } } else { Evidence::Match { length, votes } };
                evidence = Some(of);
            } else if votes == Votes::Split {
                break;
            }
            let mut of = said.iter();
            going.retain(|_| of.next() == Some(&token));
            found.push(token);
        }
        evidence
    }
}

impl Drafter for LookupDrafter {
    fn name(&self) -> &str {
        match (self.settings.past, self.settings.siblings) {
            (false, true) => "sibling",
            _ => "lookup",
        }
    }

    fn begin(&mut self, request: RequestId, beginning: &Beginning<'_>) {
        let index = |tokens: &[u32]| {
            let mut ngrams = Ngrams::new(self.settings.least);
            ngrams.extend(tokens);
            ngrams
        };
        let Beginning { prompt, reference, n, .. } = *beginning;
        let past = |tokens| if self.settings.past { index(tokens) } else { index(&[]) };
        let tail = &prompt[prompt.len().saturating_sub(self.settings.longest)..];
        let texts = Texts {
            prompt: past(prompt),
            reference: past(reference),
            own: vec![index(tail); n],
            overlap: tail.len(),
            prompt_len: prompt.len(),
            found: vec![Vec::new(); n],
        };
        self.requests.insert(request, texts);
    }

    fn offer(&mut self, asks: &[Ask<'_>]) -> Vec<Offer> {
        asks.iter()
            .map(|ask| match self.requests.get_mut(&ask.id.request) {
                Some(texts) => texts.look(ask, &self.settings),
                None => Offer::NONE,
            })
            .collect()
    }

    fn propose(
        &mut self,
        asks: &[Ask<'_>],
        _: &[Offer],
        lengths: &[usize],
        _: &mut dyn Network,
    ) -> Result<Vec<Drafts>, BackendError> {
        let copied =
            |ask: &Ask<'_>| self.requests.get(&ask.id.request).map(|texts| texts.found[ask.id.index].as_slice());
        Ok(asks
            .iter()
            .zip(lengths)
            .map(|(ask, &length)| {
                // The reference may hold tokens that the main model's vocabulary has not.
                let known = |token: &&u32| (**token as usize) < ask.rules.vocab;
                let tokens = copied(ask).unwrap_or_default().iter().take(length).take_while(known);
                Drafts::Host(tokens.map(|&token| Draft::certain(token)).collect())
            })
            .collect())
    }

    fn settle(&mut self, id: CandidateId, tokens: &[u32]) {
        if let Some(texts) = self.requests.get_mut(&id.request) {
            let own = &mut texts.own[id.index];
            let known = texts.prompt_len - texts.overlap + own.len();
            own.extend(&tokens[known..]);
        }
    }

    fn end(&mut self, _id: CandidateId) {}

    fn finish(&mut self, request: RequestId) {
        self.requests.remove(&request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{ChoiceRules, SeqId};
    use crate::sampling::{Accept, Sampling};

    fn texts(all: &[&[u32]]) -> Vec<Ngrams> {
        let index = |tokens: &&[u32]| {
            let mut text = Ngrams::new(2);
            text.extend(tokens);
            text
        };
        all.iter().map(index).collect()
    }

    /// Draft behind 1, 2 in these texts, and its evidence.
    fn followed(all: &[&[u32]], most: usize) -> (Vec<u32>, Option<Evidence>) {
        let texts = texts(all);
        let mut places = Vec::new();
        for text in &texts {
            let found = text.find(&[1, 2], 8, 0, Texts::PLACES);
            places.extend(found.next.into_iter().map(|next| Place { text, next, repeats: false, sibling: true }));
        }
        let mut found = Vec::new();
        let evidence = Texts::follow(&places, 2, most, &mut found);
        (found, evidence)
    }

    fn sibling(votes: Votes) -> Evidence {
        Evidence::Sibling { length: 2, votes }
    }

    #[test]
    fn a_draft_goes_on_while_all_places_agree() {
        let (a, b): (&[u32], &[u32]) = (&[1, 2, 3, 4, 5, 6], &[1, 2, 3, 4, 7, 8]);
        assert_eq!(followed(&[a], 16), (vec![3, 4, 5, 6], Some(sibling(Votes::One))));
        assert_eq!(followed(&[a, b], 16), (vec![3, 4], Some(sibling(Votes::Two))));
        assert_eq!(followed(&[a, a, b], 3), (vec![3, 4], Some(sibling(Votes::Many))));
        assert_eq!(followed(&[a, a, a], 3), (vec![3, 4, 5], Some(sibling(Votes::Many))));
        // A text that ends has no vote.
        assert_eq!(followed(&[a, &[1, 2, 3]], 16), (vec![3, 4, 5, 6], Some(sibling(Votes::Two))));
        assert_eq!(followed(&[&[1, 2]], 16), (vec![], None));
    }

    #[test]
    fn where_places_differ_at_once_the_draft_is_what_most_say() {
        let (a, b): (&[u32], &[u32]) = (&[1, 2, 3, 4, 5], &[1, 2, 9, 8, 7]);
        assert_eq!(followed(&[a, b, b], 16), (vec![9, 8, 7], Some(sibling(Votes::Split))));
        assert_eq!(followed(&[a, b], 16), (vec![3, 4, 5], Some(sibling(Votes::Split))), "of equally many the first");
        // One text may say it several times.
        assert_eq!(followed(&[&[1, 2, 3, 1, 2, 3, 1, 2, 4]], 1), (vec![3], Some(sibling(Votes::Split))));
    }

    #[test]
    fn the_end_of_the_prompt_is_no_place_before_a_candidate_has_begun() {
        let mut drafter = LookupDrafter::new(LookupSettings::LOOKUP);
        let sampling = Sampling::default();
        let rules = ChoiceRules { sampling: &sampling, accept: Accept::default(), seed: 0, vocab: 9, alternatives: 0 };
        let id = CandidateId { request: RequestId(0), index: 0 };
        // Longer than what a candidate's own text begins with.
        let prompt = [1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 1, 2];
        let begun = [&prompt[..], &[3]].concat();
        let offered = |drafter: &mut LookupDrafter, tokens: &[u32]| {
            drafter.settle(id, tokens);
            drafter.offer(&[Ask { id, seq: SeqId(0), tokens, room: 16, rules }])[0].most
        };
        drafter.begin(id.request, &Beginning { prompt: &prompt, reference: &[], n: 1, room: 64 });
        assert_eq!(offered(&mut drafter, &prompt), 0);
        assert!(offered(&mut drafter, &begun) > 0, "what it has written occurs there");
        drafter.begin(id.request, &Beginning { prompt: &prompt, reference: &prompt, n: 1, room: 64 });
        assert!(offered(&mut drafter, &prompt) > 0, "a reference is asked at once");
    }
}
