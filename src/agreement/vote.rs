//! Candidates that do the same, and how far each agrees with the others.

use std::collections::HashMap;

use crate::trial::{Effect, Input, Observed};

/// The calls of a candidate, in the order of the inputs, and all candidates with the same code.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The candidates with this code; the first was called.
    pub members: Vec<usize>,
    /// Number of them that the model wrote: those vote.
    pub votes: usize,
    /// The outcome of each call.
    pub observed: Vec<Observed>,
}

/// The place of a candidate among the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Stated results that it returns.
    pub right: usize,
    /// True if its code cannot be loaded, or each call ends at a name that nothing defines or at a placeholder.
    pub is_broken: bool,
    /// True if some call returned.
    pub returns: bool,
    /// True if each call raised an error that code raises where it is wrong, or is given what it is not for; or
    /// any error, where several that do the same return something.
    pub is_at_fault: bool,
    /// The sum over all inputs of the candidates that do the same there, those of usual inputs with more weight.
    pub votes: usize,
    /// Votes without those of other types of errors: they decide where `votes` are level.
    pub exact: usize,
    /// The group of candidates that do the same everywhere.
    pub group: usize,
    /// The number of votes in it.
    pub agree: usize,
}

impl Standing {
    /// Greater is better.
    pub fn order(&self) -> impl Ord + use<> {
        // Of votes that are level, those of the larger group count more.
        (self.right, !self.is_broken, !self.is_at_fault, self.votes, self.exact, self.agree)
    }
}

/// Errors that code mostly raises by mistake, and that by which it says that it is not done.
const FAULTS: &[&str] = &[
    "AttributeError", "EOFError", "FileNotFoundError", "ImportError", "IndexError", "KeyError", "MemoryError",
    "ModuleNotFoundError", "NameError", "NotImplementedError", "RangeError", "RecursionError", "ReferenceError",
    "StopIteration", "SyntaxError", "SystemExit", "TypeError", "UnboundLocalError", "ZeroDivisionError",
    "process.exit",
];

/// Errors that no input is to blame for: names that nothing defines, and placeholders.
const OF_CODE: &[&str] = &["NameError", "NotImplementedError", "ReferenceError", "UnboundLocalError"];

/// Errors of code that takes values for others than they are.
const OF_TYPES: &[&str] = &["AttributeError", "TypeError"];

/// The outcome that votes are counted by: nobody agrees on an error of the code.
fn outcome_of(observed: &Observed) -> Option<(Effect, &str)> {
    observed.outcome().filter(|(effect, key)| *effect != Effect::Raised || !OF_CODE.contains(key))
}

/// Returns true for code that cannot be loaded, or cannot be run.
fn is_broken(witness: &Witness) -> bool {
    let mut told = witness.observed.iter().filter(|observed| observed.effect != Effect::Unknown).peekable();
    let is_of_code = |observed: &Observed| match observed.effect {
        Effect::Unloaded => true,
        Effect::Raised => OF_CODE.contains(&observed.key.as_str()),
        _ => false,
    };
    told.peek().is_some() && told.all(is_of_code)
}

/// Returns true for an error that may be what the function is to do on an input.
fn is_on_purpose(observed: &Observed) -> bool {
    observed.effect == Effect::Raised && !FAULTS.contains(&observed.key.as_str())
}

/// The votes on an input of all that raise, for each of them, where some return: first it counts that they raise,
/// and only then by which type of error. `None` where most errors may be mistakes.
fn raising(votes: &HashMap<(Effect, &str), usize>) -> Option<usize> {
    let sum = |is_it: &dyn Fn(&(Effect, &str)) -> bool| -> usize {
        votes.iter().filter(|(outcome, _)| is_it(outcome)).map(|(_, votes)| votes).sum()
    };
    let all = sum(&|outcome| outcome.0 == Effect::Raised);
    let faults = sum(&|outcome| outcome.0 == Effect::Raised && FAULTS.contains(&outcome.1));
    (all < sum(&|_| true) && 2 * faults <= all).then_some(all)
}

/// Returns true for one of most candidates that do the same and refuse each value of the declared types on
/// purpose: the inputs are not guessed there.
fn is_refusal(standing: &Standing, witness: &Witness, inputs: &[Input], candidates: usize) -> bool {
    let typed = inputs.iter().filter(|input| input.is_typed).count();
    2 * standing.agree > candidates && 2 * typed > inputs.len() && witness.observed.iter().all(is_on_purpose)
}

/// Weight of an input on which half of the candidates or more return something; of others it is 1.
const USUAL: usize = 4;

/// Counts the votes on inputs: the standing of each witness. Pure.
pub fn tally(witnesses: &[Witness], inputs: &[Input]) -> Vec<Standing> {
    let any = |witness: &Witness, effect| witness.observed.iter().any(|observed| observed.effect == effect);
    // Where nobody returns anything the inputs do not suit the function, and say nothing of it.
    let is_told = witnesses.iter().any(|witness| any(witness, Effect::Returned));
    let outcome = |w: usize, input: usize| witnesses[w].observed.get(input).filter(|_| is_told).and_then(outcome_of);
    let mut standings = vec![Standing::default(); witnesses.len()];
    // An input that suits none, such as one with a name that is not defined there, tells nothing.
    let mut counted = Vec::new();
    for (input, &Input { is_meant, is_typed, .. }) in inputs.iter().enumerate() {
        let mut votes: HashMap<_, usize> = HashMap::new();
        for (w, witness) in witnesses.iter().enumerate() {
            if let Some(outcome) = outcome(w, input) {
                *votes.entry(outcome).or_default() += witness.votes;
            }
        }
        counted.extend((!votes.is_empty()).then_some(input));
        // On an input that most refuse they differ in ways that no caller sees.
        let returned = |(outcome, votes): (&(Effect, &str), &usize)| (outcome.0 == Effect::Returned).then_some(*votes);
        let returned: usize = votes.iter().filter_map(returned).sum();
        // Who refuses an input that the function is for has no say there, once another one takes it. Nor has
        // who takes values of the declared types for others.
        let is_mistaken = |key: &str| is_meant || is_typed && OF_TYPES.contains(&key);
        let refuses = |outcome: (Effect, &str)| returned > 0 && outcome.0 == Effect::Raised && is_mistaken(outcome.1);
        let all: usize = votes.iter().filter(|(outcome, _)| !refuses(**outcome)).map(|(_, votes)| votes).sum();
        let weight = if 2 * returned >= all || is_meant { USUAL } else { 1 };
        votes.retain(|outcome, _| !refuses(*outcome));
        let raising = raising(&votes);
        for (w, standing) in standings.iter_mut().enumerate() {
            // A call without an outcome that can be compared agrees with nothing.
            let Some(counted) = outcome(w, input).filter(|outcome| votes.contains_key(outcome)) else { continue };
            let together = raising.filter(|_| counted.0 == Effect::Raised);
            standing.votes += weight * together.unwrap_or(votes[&counted]);
            standing.exact += weight * votes[&counted];
        }
    }
    for (standing, witness) in standings.iter_mut().zip(witnesses) {
        standing.right = witness.observed.iter().filter(|observed| observed.is_right == Some(true)).count();
        standing.returns = any(witness, Effect::Returned);
        standing.is_at_fault = !standing.returns && !witness.observed.iter().any(is_on_purpose);
        standing.is_broken = is_broken(witness);
    }
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for w in 0..witnesses.len() {
        let same = |&(other, _): &(usize, usize)| {
            let is_same = |&input: &usize| outcome(w, input).is_some() && outcome(w, input) == outcome(other, input);
            !counted.is_empty() && counted.iter().all(is_same)
        };
        let group = groups.iter().position(same).unwrap_or_else(|| {
            groups.push((w, 0));
            groups.len() - 1
        });
        groups[group].1 += witnesses[w].votes;
        standings[w].group = group;
    }
    for standing in &mut standings {
        standing.agree = groups[standing.group].1;
    }
    // One that refuses everything is for other inputs, unless the one that returns something stands alone, or
    // most refuse what the function declares.
    let candidates = witnesses.iter().map(|witness| witness.votes).sum();
    if standings.iter().any(|standing| standing.returns && standing.agree > 1) {
        for (standing, witness) in standings.iter_mut().zip(witnesses).filter(|(standing, _)| !standing.returns) {
            standing.is_at_fault |= !is_refusal(standing, witness, inputs, candidates);
        }
    }
    standings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Agreement;

    fn calls(number: usize) -> Vec<Input> {
        vec![Input::default(); number]
    }

    fn witness(votes: usize, outcomes: &str) -> Witness {
        let observed = |c: char| Observed {
            effect: match c {
                '!' => Effect::Raised,
                '?' => Effect::Late,
                '#' => Effect::Unloaded,
                _ => Effect::Returned,
            },
            key: if c == '!' { "TypeError".to_owned() } else { c.to_string() },
            ..Observed::default()
        };
        Witness { members: vec![0; votes.max(1)], votes, observed: outcomes.chars().map(observed).collect() }
    }

    #[test]
    fn votes_are_counted_input_by_input() {
        let witnesses = [witness(2, "aab"), witness(1, "abb"), witness(3, "!!!"), witness(1, "a")];
        let standings = tally(&witnesses, &calls(3));
        let votes: Vec<_> = standings.iter().map(|s| (s.votes, s.returns, s.group, s.agree)).collect();
        assert_eq!(votes, [(36, true, 0, 2), (32, true, 1, 1), (36, false, 2, 3), (16, true, 3, 1)]);
        let input = Input { callee: "f".to_owned(), arguments: String::new(), ..Input::default() };
        assert_eq!(Agreement::of(vec![input; 3].into(), witnesses.to_vec()).differing(), [1, 0, 2]);
        assert!(standings[1].order() > standings[2].order(), "those that only raise do not win");
    }

    #[test]
    fn errors_on_purpose_are_behaviour_and_faults_are_none() {
        let raising = |votes: usize, name: &str| {
            let mut witness = witness(votes, "!!");
            witness.observed.iter_mut().for_each(|observed| observed.key = name.to_owned());
            witness
        };
        for (name, is_behaviour) in
            [("ValueError", true), ("ParseError", true), ("TypeError", false), ("NameError", false)]
        {
            let standings = tally(&[raising(3, name), witness(1, "ab")], &calls(2));
            assert_eq!(standings[0].order() > standings[1].order(), is_behaviour, "{name}");
        }
    }

    #[test]
    fn code_that_never_runs_is_broken() {
        let raising = |keys: [&str; 2]| {
            let mut witness = witness(1, "!!");
            witness.observed.iter_mut().zip(keys).for_each(|(observed, key)| observed.key = key.to_owned());
            tally(&[witness], &calls(2))[0].is_broken
        };
        assert!(raising(["NameError", "NameError"]) && raising(["NotImplementedError", "ReferenceError"]));
        assert!(!raising(["NameError", "TypeError"]) && !raising(["TypeError", "TypeError"]));
        assert!(!tally(&[witness(1, "??")], &calls(2))[0].is_broken, "it may only be slow");
    }

    /// Inputs that most refuse say less: two that sort are level with three that do not, but for inputs outside
    /// of the list.
    #[test]
    fn refused_inputs_have_less_weight() {
        // Each of the first refuses bad input in its own way, the last two alike.
        let raises = |key: &str| Observed { effect: Effect::Raised, key: key.to_owned(), ..Observed::default() };
        let with = |votes, outcomes: &str, error: &str| {
            let mut witness = witness(votes, outcomes);
            witness.observed.extend((0..6).map(|_| raises(error)));
            witness
        };
        let witnesses = [
            with(1, "aa", "ValueError"),
            with(1, "aa", "KeyError"),
            with(1, "aa", "OSError"),
            with(2, "bb", "IndexError"),
        ];
        let standings = tally(&witnesses, &calls(8));
        assert!(standings[0].order() > standings[3].order(), "{standings:?}");
    }

    /// Most refuse a text that the documentation names, each other input alike.
    #[test]
    fn who_refuses_what_the_function_is_for_has_no_say() {
        let refuses = |key: &str| Observed { effect: Effect::Raised, key: key.to_owned(), ..Observed::default() };
        let mut all = [witness(3, "xxx!"), witness(2, "xxxa")];
        all[0].observed[3] = refuses("ValueError");
        let wins = |all: &[Witness], is_meant: bool| {
            let standings = tally(all, &[&calls(3)[..], &[Input { is_meant, ..Input::default() }]].concat());
            standings[1].order() > standings[0].order()
        };
        assert_eq!([wins(&all, false), wins(&all, true)], [false, true]);
        all[1].observed[3] = refuses("KeyError");
        assert!(!wins(&all, true), "nobody takes it");
    }

    /// Most take values of the declared types for others.
    #[test]
    fn an_error_of_types_on_values_of_the_declared_types_is_no_vote() {
        let wins = |key: &str, is_typed: bool| {
            let mut all = [witness(3, "x!!!"), witness(1, "xabc")];
            all[0].observed[1..].iter_mut().for_each(|observed| observed.key = key.to_owned());
            let standings = tally(&all, &vec![Input { is_typed, ..Input::default() }; 4]);
            standings[1].order() > standings[0].order()
        };
        assert!(wins("TypeError", true) && wins("AttributeError", true));
        assert!(!wins("TypeError", false) && !wins("ValueError", true) && !wins("IndexError", true));
    }

    #[test]
    fn those_that_refuse_everything_come_behind_two_that_return() {
        let refuses = |votes| {
            let mut witness = witness(votes, "!!!");
            for observed in &mut witness.observed {
                observed.key = "ValueError".to_owned();
            }
            witness
        };
        let wins = |returning: usize| {
            let standings = tally(&[refuses(3), witness(returning, "!!a")], &calls(3));
            standings[1].order() > standings[0].order()
        };
        assert_eq!([wins(1), wins(2)], [false, true]);
    }

    /// Four of seven that do the same refuse all values, three take them.
    #[test]
    fn most_that_refuse_all_values_of_the_declared_types_may_be_right() {
        let wins = |votes: usize, is_typed: bool| {
            let mut refuses = witness(votes, "!!!");
            refuses.observed.iter_mut().for_each(|observed| observed.key = "ValueError".to_owned());
            let standings = tally(&[refuses, witness(3, "abc")], &vec![Input { is_typed, ..Input::default() }; 3]);
            standings[0].order() > standings[1].order()
        };
        assert_eq!([wins(4, true), wins(4, false), wins(3, true)], [true, false, false]);
    }

    #[test]
    fn errors_of_several_types_count_together_against_those_that_return() {
        let with = |votes: usize, error: &str, text: &str| {
            let mut witness = witness(votes, text);
            let raised = witness.observed.iter_mut().filter(|observed| observed.effect == Effect::Raised);
            raised.for_each(|observed| observed.key = error.to_owned());
            witness
        };
        let best = |errors: [&str; 2]| {
            let all = [with(2, errors[0], "a!!"), with(2, errors[1], "a!!"), with(3, "", "a00")];
            let standings = tally(&all, &calls(3));
            (0..3).max_by_key(|w| standings[*w].order()).unwrap()
        };
        assert_ne!(best(["Error", "TypeError"]), 2);
        assert_eq!(best(["KeyError", "TypeError"]), 2, "both may be mistakes");
        let all = [with(2, "TypeError", "a!"), with(3, "ValueError", "a!"), with(4, "", "a0")];
        let standings = tally(&all, &calls(2));
        assert_eq!((standings[0].votes, standings[1].votes), (41, 41));
        assert!(standings[1].order() > standings[0].order(), "of those that raise the most frequent type counts");
        assert_ne!(standings[0].group, standings[1].group);
    }

    #[test]
    fn nobody_agrees_on_an_error_of_the_code() {
        let unfinished = |votes| {
            let mut witness = witness(votes, "a!!");
            for observed in &mut witness.observed[1..] {
                observed.key = "NotImplementedError".to_owned();
            }
            witness
        };
        let standings = tally(&[unfinished(1), unfinished(1), witness(1, "abc")], &calls(3));
        assert!(standings[2].order() > standings[0].order() && standings[0].agree == 1, "{standings:?}");
    }

    #[test]
    fn of_level_votes_the_larger_group_wins() {
        let all = [witness(1, "ax"), witness(2, "ay"), witness(1, "bx"), witness(1, "cx")];
        let standings = tally(&all, &calls(2));
        let votes: Vec<_> = standings.iter().map(|s| (s.votes, s.agree)).collect();
        assert_eq!(votes, [(24, 1), (20, 2), (16, 1), (16, 1)]);
        let level = tally(&[witness(1, "ax"), witness(2, "ay"), witness(1, "bx")], &calls(2));
        assert_eq!((level[0].votes, level[1].votes), (20, 20));
        assert!(level[1].order() > level[0].order());
    }

    #[test]
    fn code_that_cannot_be_loaded_and_calls_that_all_raise_are_no_agreement() {
        let of = |outcomes: &[&str]| tally(&outcomes.iter().map(|all| witness(1, all)).collect::<Vec<_>>(), &calls(2));
        let broken = of(&["##", "##", "ab", "!!"]);
        assert_eq!(
            broken.iter().map(|s| (s.is_broken, s.votes, s.agree)).collect::<Vec<_>>()[..3],
            [(true, 0, 1), (true, 0, 1), (false, 8, 1)]
        );
        assert!(broken[3].order() > broken[0].order(), "one that raises is at least loaded");
        let raising = of(&["!!", "!!", "##"]);
        assert_eq!(raising.iter().map(|s| (s.votes, s.agree)).collect::<Vec<_>>(), [(0, 1); 3]);
        assert!(raising[0].order() > raising[2].order());
    }

    #[test]
    fn a_candidate_without_a_vote_is_counted_with_those_that_do_the_same() {
        let standings = tally(&[witness(2, "a"), witness(0, "a"), witness(1, "b"), witness(0, "c")], &calls(1));
        let votes: Vec<_> = standings.iter().map(|s| (s.votes, s.group, s.agree)).collect();
        assert_eq!(votes, [(8, 0, 2), (8, 0, 2), (4, 1, 1), (0, 2, 0)]);
    }

    #[test]
    fn calls_that_cannot_be_compared_agree_with_nothing() {
        let standings = tally(&[witness(1, "??"), witness(1, "??"), witness(1, "a?"), witness(1, "a?")], &calls(2));
        let votes: Vec<_> = standings.iter().map(|s| (s.votes, s.group, s.agree)).collect();
        assert_eq!(votes, [(0, 0, 1), (0, 1, 1), (8, 2, 2), (8, 2, 2)], "nobody is told on the second input");
        let other = tally(&[witness(1, "aa"), witness(1, "a?")], &calls(2));
        assert_eq!((other[0].group, other[1].group), (0, 1));
    }
}
