//! Candidates of a run by their behaviour, for readers and reports.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::typed::is_same;
use super::vote::{Standing, Witness, tally};
use crate::trial::{AROUND, Effect, Input, NOT_HERE, Observed};
use crate::untrusted::clean_line;

/// Inputs that a report shows.
const MOST_SHOWN: usize = 5;

/// Candidates called on the same inputs.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// The inputs.
    pub inputs: Arc<[Input]>,
    witnesses: Vec<Witness>,
    /// By witness.
    standings: Vec<Standing>,
    differing: Vec<usize>,
    /// The outcomes of the function as it was, as far as it was called.
    before: Vec<Observed>,
}

/// An outcome of a call, and the candidates that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The outcome in words.
    pub shown: String,
    /// The candidates, by index.
    pub candidates: Vec<usize>,
    /// Number of them that vote.
    pub votes: usize,
    /// True if it can be compared: it returns or raises, the same each time.
    pub is_told: bool,
    /// True if the function did the same before it was changed.
    pub is_before: bool,
}

/// The call that shows why a candidate is broken.
fn fault(witness: &Witness) -> Option<&Observed> {
    witness.observed.iter().find(|observed| matches!(observed.effect, Effect::Unloaded | Effect::Raised))
}

/// Returns true if two calls did one thing. Calls that say nothing are no different answers.
fn does_as(one: &Observed, other: &Observed) -> bool {
    let is_silent = || one.outcome().is_none() && (one.effect, &one.shown) == (other.effect, &other.shown);
    one.outcome() == other.outcome() && (is_same(one, other) || is_silent())
}

impl Agreement {
    /// The agreement of these witnesses of the inputs.
    pub fn of(inputs: Arc<[Input]>, witnesses: Vec<Witness>) -> Self {
        let standings = tally(&witnesses, &inputs);
        let mut this = Self { inputs, witnesses, standings, differing: Vec::new(), before: Vec::new() };
        let answers: Vec<Vec<Answer>> = (0..this.inputs.len()).map(|input| this.answers(input)).collect();
        let kinds = |input: usize| answers[input].iter().filter(|answer| answer.is_told).count();
        let mut differing: Vec<usize> = (0..answers.len()).filter(|&input| kinds(input) > 1).collect();
        differing.sort_by_key(|&input| (Reverse(kinds(input)), this.inputs[input].text().len()));
        // Inputs that tell no other candidates apart than an earlier one come behind all others.
        let apart = |input: usize| answers[input].iter().map(|answer| &answer.candidates).collect::<Vec<_>>();
        let mut seen = HashSet::new();
        let (mut firsts, others): (Vec<_>, Vec<_>) =
            differing.into_iter().partition(|&input| seen.insert(apart(input)));
        firsts.extend(others);
        this.differing = firsts;
        this
    }

    /// This agreement with the outcomes of the function as it was.
    #[must_use]
    pub fn with_before(self, observed: &[Observed]) -> Self {
        Self { before: observed.to_vec(), ..self }
    }

    /// The outcomes of the function as it was, as far as it was called.
    pub fn before(&self) -> &[Observed] {
        &self.before
    }

    /// The inputs on which a candidate does something else than the function did, the shortest first; `None`
    /// where the two were not called.
    pub fn changes(&self, candidate: usize) -> Option<Vec<usize>> {
        let own = &self.witnesses[self.place(candidate)?].observed;
        let is_change = |(_, (own, before)): &(usize, (&Observed, &Observed))| {
            own.outcome().is_some() && before.outcome().is_some() && !does_as(own, before)
        };
        let changes = own.iter().zip(&self.before).enumerate().filter(is_change);
        let mut changes: Vec<usize> = changes.map(|(input, _)| input).collect();
        changes.sort_by_key(|&input| self.inputs[input].text().len());
        (!self.before.is_empty()).then_some(changes)
    }

    /// The agreement among the candidates that `counts` takes; `None` if it takes none that was called.
    #[must_use]
    pub fn among(&self, counts: impl Fn(usize) -> bool) -> Option<Self> {
        let taken = |witness: &&Witness| witness.members.iter().any(|&member| counts(member));
        let witnesses: Vec<Witness> = self.witnesses.iter().filter(taken).cloned().collect();
        (!witnesses.is_empty()).then(|| Self::of(self.inputs.clone(), witnesses).with_before(&self.before))
    }

    fn place(&self, candidate: usize) -> Option<usize> {
        self.witnesses.iter().position(|witness| witness.members.contains(&candidate))
    }

    /// The place of a candidate among the others; `None` if it was not called.
    pub fn standing(&self, candidate: usize) -> Option<&Standing> {
        self.standings.get(self.place(candidate)?)
    }

    /// The places of the candidates that were called, those with the same code once.
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// The candidates that were called, those with the same code together.
    pub fn witnesses(&self) -> &[Witness] {
        &self.witnesses
    }

    /// The number of candidates that were called and vote.
    pub fn candidates(&self) -> usize {
        self.witnesses.iter().map(|witness| witness.votes).sum()
    }

    /// The number of candidates in [`Agreement::words`]: those with a vote, or all that were called where fewer
    /// than two have one.
    pub fn counted(&self) -> usize {
        Some(self.candidates()).filter(|votes| *votes > 1).unwrap_or_else(|| self.called())
    }

    /// The number of candidates that were called, also of those that the user made.
    pub fn called(&self) -> usize {
        self.witnesses.iter().map(|witness| witness.members.len()).sum()
    }

    /// The candidates with a call that cannot be compared where that of another can: all calls of theirs, and
    /// only some.
    pub fn uncompared(&self) -> [Vec<usize>; 2] {
        let is_told =
            |witness: &Witness, input: usize| witness.observed.get(input).is_some_and(|o| o.outcome().is_some());
        let counts = |&input: &usize| self.witnesses.iter().any(|witness| is_told(witness, input));
        let counted: Vec<usize> = (0..self.inputs.len()).filter(counts).collect();
        let mut found = [Vec::new(), Vec::new()];
        for witness in &self.witnesses {
            let told = counted.iter().filter(|&&input| is_told(witness, input)).count();
            if told < counted.len() {
                found[usize::from(told > 0)].extend(&witness.members);
            }
        }
        for all in &mut found {
            all.sort_unstable();
        }
        found
    }

    /// True if some call of a candidate returned: else the inputs tell nothing.
    pub fn tells(&self) -> bool {
        self.standings.iter().any(|standing| standing.returns) && !self.is_unsteady()
    }

    /// Returns true if no call gives one result twice.
    fn is_unsteady(&self) -> bool {
        let mut all = self.witnesses.iter().flat_map(|witness| &witness.observed).peekable();
        all.peek().is_some() && all.all(|observed| observed.is_unsteady)
    }

    /// Returns true if all that were called do the same, as far as that can be compared.
    pub fn is_one(&self) -> bool {
        self.standings.iter().all(|standing| standing.group == 0)
    }

    /// The call that shows why a broken candidate cannot be used.
    pub fn fault_of(&self, candidate: usize) -> Option<&Observed> {
        fault(&self.witnesses[self.place(candidate)?])
    }

    /// A sentence's end that says why a broken candidate cannot be used.
    pub fn fault(&self, candidate: usize) -> String {
        let Some(observed) = self.fault_of(candidate) else { return "cannot be loaded".to_owned() };
        match observed.effect {
            Effect::Raised => format!("raises in each call {}", observed.shown),
            _ if observed.shown.is_empty() => "cannot be loaded".to_owned(),
            _ => format!("cannot be loaded: {}", observed.shown),
        }
    }

    /// Returns true if candidates are broken for reasons of their own: syntax, or not all the same one.
    pub fn differ_broken(&self) -> bool {
        let broken = self.witnesses.iter().zip(&self.standings).filter(|(_, standing)| standing.is_broken);
        let why: Vec<&str> = broken.filter_map(|(one, _)| Some(fault(one)?.shown.as_str())).collect();
        let is_syntax = |why: &&str| ["SyntaxError", "IndentationError", "TabError"].iter().any(|e| why.starts_with(e));
        why.iter().any(|one| is_syntax(one) || *one != why[0]) || why.len() == 1 && !why[0].starts_with(AROUND)
    }

    /// Returns true if no candidate can be loaded, since the code around the function cannot.
    pub fn is_around_broken(&self) -> bool {
        let is_around = |one: &Witness| fault(one).is_some_and(|observed| observed.shown.starts_with(AROUND));
        !self.witnesses.is_empty() && self.witnesses.iter().all(is_around)
    }

    /// The largest group in words: `5 of 8 agree`.
    pub fn words(&self) -> String {
        if !self.tells() {
            let is_broken = self.standings.iter().all(|standing| standing.is_broken);
            let all = || self.witnesses.iter().flat_map(|witness| &witness.observed);
            if let Some(one) = all().find(|observed| observed.shown.starts_with(NOT_HERE)) {
                return clean_line(&one.shown, 160);
            }
            // Values of the wrong kind, names that are not there.
            let is_made = all().any(|observed| !matches!(observed.effect, Effect::Unknown | Effect::Unloaded));
            return match (is_broken, is_made) {
                (false, false) if all().any(Observed::is_incomparable) => "no result can be compared",
                _ if self.is_unsteady() => "each call gives another result each time",
                (true, _) => "none can be run",
                (false, true) => "no call returned",
                (false, false) => "no call could be made",
            }
            .to_owned();
        }
        if let Some(shown) = self.constant() {
            return format!("each call gives {}", clean_line(shown, 40));
        }
        let all = self.counted();
        let most = if all == self.candidates() {
            self.standings.iter().map(|standing| standing.agree).max()
        } else {
            self.groups().iter().map(Vec::len).max()
        };
        match most.unwrap_or_default() {
            1 if all == 1 => "one candidate".to_owned(),
            1 if all > 1 => format!("{all} different behaviours"),
            most => format!("{most} of {all} agree"),
        }
    }

    /// The result of all calls, if several have one and all the same: that candidates agree says little then.
    pub fn constant(&self) -> Option<&str> {
        let told = || self.witnesses.iter().flat_map(|witness| &witness.observed);
        let first = told().find(|observed| observed.outcome().is_some())?;
        let is_one = self.inputs.len() > 1 && first.effect == Effect::Returned;
        let is_same = |observed: &Observed| observed.outcome().is_none_or(|own| Some(own) == first.outcome());
        (is_one && told().all(is_same)).then_some(first.shown.as_str())
    }

    /// The outcome of a candidate's call.
    pub fn observed(&self, candidate: usize, input: usize) -> Option<&Observed> {
        self.witnesses[self.place(candidate)?].observed.get(input)
    }

    /// Candidates that do the same everywhere, the group with most votes first.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let count = self.standings.iter().map(|standing| standing.group + 1).max().unwrap_or_default();
        let mut groups = vec![(0, Vec::new()); count];
        for (standing, witness) in self.standings.iter().zip(&self.witnesses) {
            let (votes, members) = &mut groups[standing.group];
            *votes = standing.agree;
            members.extend(&witness.members);
        }
        for (_, members) in &mut groups {
            members.sort_unstable();
        }
        groups.sort_by_key(|(votes, members)| (Reverse(*votes), members.first().copied()));
        groups.into_iter().map(|(_, members)| members).collect()
    }

    /// The outcomes on an input, those with most votes first.
    pub fn answers(&self, input: usize) -> Vec<Answer> {
        let mut all: Vec<(&Observed, Answer)> = Vec::new();
        for witness in &self.witnesses {
            let Some(observed) = witness.observed.get(input) else { continue };
            let same = all.iter_mut().find(|(other, _)| does_as(other, observed));
            if let Some((_, answer)) = same {
                answer.votes += witness.votes;
                answer.candidates.extend(&witness.members);
            } else {
                let unsteady = if observed.is_unsteady { ", and another time something else" } else { "" };
                let shown = format!("{}{unsteady}", observed.shown);
                let is_told = observed.outcome().is_some();
                let is_before = self.before.get(input).is_some_and(|before| does_as(before, observed));
                let (candidates, votes) = (witness.members.clone(), witness.votes);
                let answer = Answer { shown, candidates, votes, is_told, is_before };
                all.push((observed, answer));
            }
        }
        let mut all: Vec<Answer> = all.into_iter().map(|(_, answer)| answer).collect();
        for answer in &mut all {
            answer.candidates.sort_unstable();
        }
        all.sort_by_key(|answer| (Reverse(answer.votes), answer.candidates.first().copied()));
        all
    }

    /// The inputs on which candidates differ: first those that tell most of them apart, of these the shortest;
    /// last those that tell no others apart.
    pub fn differing(&self) -> &[usize] {
        &self.differing
    }

    /// An order of inputs by how much they say to a reader: first those of the user's text, the odd ones last,
    /// and of these the shortest.
    pub fn oddity(&self, input: usize) -> impl Ord + use<> {
        let input = &self.inputs[input];
        let text = input.text();
        (input.result.is_none(), is_odd(&text), text.len())
    }

    /// The plainest input on which the two largest groups differ.
    pub fn telling(&self) -> Option<usize> {
        let groups = self.groups();
        let (first, second) = (groups.first()?.first()?, groups.get(1)?.first()?);
        let outcome = |candidate: &usize, input| self.observed(*candidate, input).and_then(Observed::outcome);
        let differs = |input: &usize| {
            let (a, b) = (outcome(first, *input), outcome(second, *input));
            a.is_some() && b.is_some() && a != b
        };
        let plainest = (0..self.inputs.len()).filter(differs).min_by_key(|input| self.oddity(*input));
        plainest.or_else(|| self.differing().first().copied())
    }

    /// A report of it as JSON.
    pub fn json(&self) -> Value {
        let differs = self.differing();
        let shown = differs.iter().take(MOST_SHOWN).map(|&input| {
            let answers = self.answers(input);
            let answer = |a: &Answer| {
                let mut answer = json!({ "does": a.shown, "candidates": a.candidates });
                if a.is_before {
                    answer["before"] = json!(true);
                }
                answer
            };
            let answers = answers.iter().map(answer);
            json!({ "call": self.inputs[input].text(), "answers": answers.collect::<Vec<_>>() })
        });
        let groups = self.groups();
        let mut report = json!({
            "inputs": self.inputs.len(),
            "groups": groups,
            "differing": differs.len(),
            "differs": shown.collect::<Vec<_>>(),
        });
        let changed = groups.iter().map(|group| self.changes(*group.first()?).map(|inputs| inputs.len()));
        if let Some(changed) = changed.collect::<Option<Vec<usize>>>() {
            report["changed"] = json!(changed);
        }
        report
    }
}

/// Returns true for values that few callers give: negative numbers, none, letters of other scripts.
fn is_odd(call: &str) -> bool {
    const EDGES: [&str; 7] = ["None", "null", "undefined", "NaN", "nan", "inf", "Infinity"];
    let mut signs = call.match_indices('-');
    let is_negative = |(at, _): (usize, &str)| {
        call[at + 1..].starts_with(|c: char| c.is_ascii_digit()) && call[..at].ends_with(['(', '[', '{', ' ', ':', '='])
    };
    !call.is_ascii() || signs.any(is_negative) || EDGES.iter().any(|edge| call.contains(edge))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Agreement {
        let input = |text: &str| Input { callee: "f".to_owned(), arguments: text.to_owned(), ..Input::default() };
        let inputs: Vec<Input> = ["[1, 2]", "[]", "[5]"].map(input).into();
        let witness = |members: &[usize], outcomes: [&str; 3]| {
            let observed = outcomes.map(|key| Observed {
                effect: if key == "late" { Effect::Late } else { Effect::Returned },
                key: key.to_owned(),
                shown: key.to_owned(),
                ..Observed::default()
            });
            Witness { members: members.to_vec(), votes: members.len(), observed: observed.to_vec() }
        };
        let all = [
            witness(&[1], ["3", "0", "5"]),
            witness(&[0, 3], ["3", "None", "4"]),
            witness(&[2], ["3", "0", "5"]),
            witness(&[4], ["late", "0", "5"]),
        ];
        Agreement::of(inputs.into(), all.to_vec())
    }

    #[test]
    fn inputs_that_tell_no_others_apart_come_last() {
        let input = |text: &str| Input { callee: "f".to_owned(), arguments: text.to_owned(), ..Input::default() };
        let inputs: Vec<Input> = ["1", "12", "123", "1234"].map(input).into();
        let returned = |key: char| Observed { effect: Effect::Returned, key: key.into(), ..Observed::default() };
        let witness = |members: usize, keys: &str| Witness {
            members: vec![members],
            votes: 1,
            observed: keys.chars().map(returned).collect(),
        };
        let all = [witness(0, "aaaa"), witness(1, "bbab"), witness(2, "aaba")];
        assert_eq!(Agreement::of(inputs.into(), all.to_vec()).differing(), [0, 2, 1, 3]);
        let mut unsteady = witness(0, "ab");
        unsteady.observed.iter_mut().for_each(|observed| observed.is_unsteady = true);
        let random = Agreement::of(["1", "2"].map(input).to_vec().into(), vec![unsteady]);
        assert_eq!((random.tells(), random.words().as_str()), (false, "each call gives another result each time"));
        // Calls that all give one thing tell little.
        let inputs: Vec<Input> = ["1", "12"].map(input).into();
        let same = Agreement::of(inputs.clone().into(), vec![witness(0, "aa"), witness(1, "aa")]);
        assert_eq!((same.constant(), same.words().as_str()), (Some(""), "each call gives "));
        assert_eq!(Agreement::of(inputs.into(), vec![witness(0, "aa"), witness(1, "ab")]).constant(), None);
    }

    #[test]
    fn a_candidate_without_a_vote_has_a_place_and_moves_none() {
        let mut all = found().witnesses;
        for members in [vec![5], vec![6]] {
            all.push(Witness { members, votes: 0, observed: all[0].observed.clone() });
        }
        let found = Agreement::of(found().inputs, all);
        assert_eq!((found.words().as_str(), found.candidates()), ("2 of 5 agree", 5));
        assert_eq!(found.groups(), [vec![0, 3], vec![1, 2, 5, 6], vec![4]], "two votes each, as before");
        assert_eq!(found.standing(5).map(|standing| standing.agree), Some(2));
    }

    #[test]
    fn a_change_is_held_against_the_function_as_it_was() {
        let found = found();
        assert_eq!((found.changes(0), found.json().get("changed").is_none()), (None, true));
        let before = found.witnesses[0].observed.clone();
        let found = found.with_before(&before);
        assert_eq!(found.changes(0), Some(vec![1, 2]), "the shortest first");
        assert_eq!((found.changes(1), found.changes(4)), (Some(vec![]), Some(vec![])), "a late call is no change");
        let told: Vec<bool> = found.answers(1).iter().map(|answer| answer.is_before).collect();
        assert_eq!(told, [true, false]);
        assert_eq!(found.json()["changed"], json!([2, 0, 0]));
        assert_eq!(found.among(|c| c == 0).unwrap().changes(0), Some(vec![1, 2]));
    }

    #[test]
    fn a_truth_value_and_a_number_are_two_answers() {
        let returns = |key: &str, value: &str| Observed {
            effect: Effect::Returned,
            key: key.to_owned(),
            shown: value.to_owned(),
            value: Some(value.to_owned()),
            ..Observed::default()
        };
        let input = Input { callee: "f".to_owned(), arguments: "2".to_owned(), ..Input::default() };
        let all = ["1", "True", "True"].map(|value| returns("1", value));
        let witness = |(at, one): (usize, Observed)| Witness { members: vec![at], votes: 1, observed: vec![one] };
        let found = Agreement::of(vec![input].into(), all.into_iter().enumerate().map(witness).collect());
        let answers: Vec<_> = found.answers(0).into_iter().map(|a| (a.shown, a.candidates)).collect();
        assert_eq!(answers, [("True".to_owned(), vec![1, 2]), ("1".to_owned(), vec![0])]);
        assert_eq!(found.differing(), [0]);
    }

    #[test]
    fn calls_that_nobody_could_make_are_told_from_those_that_raise() {
        for (effect, words) in [
            (Effect::Unknown, "no call could be made"),
            (Effect::Raised, "no call returned"),
            (Effect::Unloaded, "none can be run"),
        ] {
            let observed = vec![Observed { effect, ..Observed::default() }];
            let witness = Witness { members: vec![0], votes: 1, observed };
            assert_eq!(Agreement::of(vec![Input::default()].into(), vec![witness]).words(), words);
        }
        let shown = format!("{NOT_HERE}Error: Cannot find package 'zod'");
        let observed = vec![Observed { effect: Effect::Unknown, shown: shown.clone(), ..Observed::default() }];
        let found = vec![Witness { members: vec![0], votes: 1, observed }];
        let found = Agreement::of(vec![Input::default()].into(), found);
        assert_eq!(
            (found.words(), found.is_around_broken(), found.standing(0).unwrap().is_broken),
            (shown, false, false)
        );
        let shown = "a result that cannot be compared".to_owned();
        let observed = vec![Observed { effect: Effect::Unknown, shown, ..Observed::default() }];
        let witness = |member| Witness { members: vec![member], votes: 1, observed: observed.clone() };
        let found = Agreement::of(vec![Input::default()].into(), vec![witness(0), witness(1)]);
        assert_eq!((found.words().as_str(), found.answers(0).len()), ("no result can be compared", 1));
    }

    #[test]
    fn those_that_count_agree_among_themselves() {
        let found = found();
        let passed = found.among(|candidate| matches!(candidate, 1 | 2 | 4)).unwrap();
        assert_eq!((passed.words().as_str(), passed.telling()), ("2 of 3 agree", None));
        assert_eq!((passed.standing(0), passed.standing(4).map(|standing| standing.agree)), (None, Some(1)));
        assert!(found.among(|_| false).is_none());
    }

    #[test]
    fn groups_and_the_shortest_input_that_tells_them_apart() {
        let found = found();
        assert_eq!(found.groups(), [vec![0, 3], vec![1, 2], vec![4]]);
        assert_eq!((found.telling(), found.differing()), (Some(1), &[1, 2][..]));
        let answers: Vec<_> = found.answers(1).into_iter().map(|a| (a.shown, a.candidates)).collect();
        assert_eq!(answers, [("0".to_owned(), vec![1, 2, 4]), ("None".to_owned(), vec![0, 3])]);
        assert_eq!((found.standing(3).map(|s| s.agree), found.standing(9)), (Some(2), None));
        assert_eq!(found.words(), "2 of 5 agree");
        assert_eq!(found.json()["differs"][0]["call"], "f([])");
        assert_eq!(found.answers(0).last().map(|a| (a.is_told, a.candidates.clone())), Some((false, vec![4])));
    }
}
