//! Candidates that do the same on all calls, by their names.

use super::run::Run;
use crate::agreement::Agreement;
use crate::job::label;

/// Names of a group that are said, the others are counted.
const NAMED: usize = 3;

/// `A F`, or `A B C +2`.
fn named(members: &[usize]) -> String {
    let names: Vec<String> = members.iter().take(NAMED).map(|&c| label(c)).collect();
    let more = members.len().saturating_sub(NAMED);
    // One more name is no longer than its number.
    match more {
        0 => names.join(" "),
        1 => format!("{} {}", names.join(" "), label(members[NAMED])),
        _ => format!("{} +{more}", names.join(" ")),
    }
}

/// Groups of most votes, if several have as many.
fn tied(agreement: &Agreement) -> Vec<Vec<usize>> {
    let agree = |group: &Vec<usize>| group.first().and_then(|&c| agreement.standing(c)).map_or(0, |s| s.agree);
    let groups = agreement.groups();
    let most = groups.iter().map(agree).max().unwrap_or(0);
    let tied: Vec<Vec<usize>> = groups.into_iter().filter(|group| agree(group) == most).collect();
    if most > 1 && tied.len() > 1 && agreement.tells() { tied } else { Vec::new() }
}

impl Run {
    /// `A F agree`, or `all 8 agree`: the candidates that do what one does, on the calls that count.
    pub fn agree_words(&self, candidate: usize) -> Option<String> {
        let agreement = self.agreeing()?;
        let groups = agreement.groups();
        if groups.len() == 1 {
            return Some(format!("all {} agree", agreement.counted()));
        }
        let group = groups.into_iter().find(|group| group.contains(&candidate))?;
        let is_tied = self.pick == Some(candidate) && tied(agreement).contains(&group);
        Some(format!("{} agree{}", named(&group), if is_tied { ", tied" } else { "" }))
    }

    /// `a tie: A F, D E, G H`, where groups of most votes are several.
    pub fn tie(&self) -> Option<String> {
        let groups = tied(self.agreeing()?);
        let names: Vec<String> = groups.iter().map(|group| named(group)).collect();
        (!names.is_empty()).then(|| format!("a tie: {}", names.join(", ")))
    }

    /// `C cannot be compared`, where not all agree and yet no results differ.
    pub fn uncompared_words(&self) -> Option<String> {
        let agreeing = self.agreeing().filter(|all| all.tells() && !all.is_one() && all.differing().is_empty())?;
        let [never, partly] = agreeing.uncompared();
        match (never.is_empty(), partly.is_empty()) {
            (false, _) => Some(format!("{} cannot be compared", named(&never))),
            (true, false) => Some(format!("some calls of {} cannot be compared", named(&partly))),
            (true, true) => None,
        }
    }

    /// Why the pick comes first of a tie.
    pub fn tie_broken(&self) -> Option<String> {
        let (agreement, pick) = (self.agreeing()?, self.pick?);
        let groups = tied(agreement);
        let own = groups.iter().find(|group| group.contains(&pick))?;
        let others = || groups.iter().filter(|group| *group != own).flatten();
        let of = |c: usize| agreement.standing(c);
        let (right, votes) = of(pick).map(|standing| (standing.right, standing.votes))?;
        let mean = |c: usize| self.candidates.get(c).and_then(|candidate| candidate.mean_logprob);
        let all = |is_less: &dyn Fn(usize) -> bool| others().all(|&c| is_less(c));
        let why = if all(&|c| of(c).is_some_and(|other| other.right < right)) {
            "gives more of the stated results"
        } else if all(&|c| of(c).is_some_and(|other| other.votes < votes)) {
            "does most often what others do"
        } else if mean(pick).is_some() && all(&|c| mean(c) < mean(pick)) {
            "is the likeliest by its model"
        } else {
            "is only the first of them"
        };
        Some(format!("{} {why}", label(pick)))
    }

    /// The call that tells the groups apart: the first in the table of calls. `None` where none differ.
    pub fn telling(&self) -> Option<usize> {
        self.agreeing()?.telling()
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::tests::{called_as, returns, said};
    use super::super::fixture::{Session, body};
    use super::named;
    use crate::agreement::{Agreement, Witness};
    use crate::engine::Summary;
    use crate::job;
    use crate::trial::{Input, Status};
    use crate::tui::view::scenes;

    /// Candidates that return these values on calls of `mean` with growing arguments.
    fn returning(values: &[&[&str]]) -> Session {
        let input = |n: usize| Input {
            callee: "mean".to_owned(),
            arguments: format!("[{}]", "1, ".repeat(n)),
            ..Input::default()
        };
        let inputs: Vec<Input> = (0..values[0].len()).map(input).collect();
        let witness = |(c, values): (usize, &&[&str])| Witness {
            members: vec![c],
            votes: 1,
            observed: values.iter().map(|value| returns(value)).collect(),
        };
        let witnesses = values.iter().enumerate().map(witness).collect();
        let bodies: Vec<String> = (0..values.len()).map(body).collect();
        called_as(&bodies, Agreement::of(inputs.into(), witnesses))
    }

    #[test]
    fn a_tie_is_said_with_the_names_of_its_groups_and_why_one_comes_first() {
        let mut session = returning(&[&["1", "1"], &["2", "1"], &["2", "1"], &["1", "1"], &["9", "8"]]);
        assert_eq!(session.run().tie().as_deref(), Some("a tie: A D, B C"));
        let why = "a tie: A D, B C; A is the likeliest by its model";
        assert!(said(&session).starts_with(&format!("{why}; they differ on mean([])")), "{}", said(&session));
        session.key("1");
        let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
        for words in ["PICK  A D agree, tied", "B C agree", "alone", why] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        session.key("b");
        assert!(scenes::text(&scenes::draw(&session.state, 80, 24)).contains("─ calls: a tie: A D, B C ─"));
        for candidate in &mut session.state.run.as_mut().unwrap().candidates {
            candidate.mean_logprob = None;
        }
        assert_eq!(session.run().tie_broken().as_deref(), Some("A is only the first of them"));
        let session = returning(&[&["1", "1"], &["1", "1"], &["2", "3"], &["2", "3"], &["1", "5"]]);
        assert_eq!(session.run().tie_broken().as_deref(), Some("A does most often what others do"));
    }

    /// Four candidates of which these pass, and two of which do what the other two do not.
    fn judged(passed: [bool; 4]) -> Session {
        let mut session = Session::tested(4);
        session.key("g");
        (0..4).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
        let agreement = returning(&[&["1"], &["2"], &["2"], &["1"]]).run().agreement.clone();
        session.job(job::Event::Agreement(agreement.unwrap()));
        session.done();
        for (candidate, passed) in passed.into_iter().enumerate() {
            session.verdict(candidate, if passed { Status::Passed } else { Status::Failed }, "");
        }
        let summary = Summary { ranking: (0..4).collect(), ..Summary::default() };
        let outcome = job::Outcome { candidates: Vec::new(), summary, picked: None, agreement: None };
        session.job(job::Event::Done(Box::new(outcome)));
        session
    }

    #[test]
    fn candidates_that_failed_their_tests_are_no_part_of_a_tie() {
        for passed in [[true, false, false, false], [false; 4]] {
            let session = judged(passed);
            let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
            assert!(said(&session).is_empty() && !shown.contains("a tie"), "{}: {shown}", said(&session));
        }
        let session = judged([true, true, false, false]);
        assert_eq!(said(&session), "those that passed differ on mean([]): b shows it");
        let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
        assert!(shown.contains("2 passed, 2 failed"), "it takes one line: {shown}");
    }

    #[test]
    fn without_a_tie_only_groups_are_named() {
        let session = returning(&[&["1"], &["2"], &["1"], &["1"], &["1"], &["1"], &["2"]]);
        assert_eq!((session.run().tie(), session.run().tie_broken()), (None, None));
        assert_eq!(session.run().agree_words(4).as_deref(), Some("A C D +2 agree"));
        assert_eq!(session.run().agree_words(6).as_deref(), Some("B G agree"));
        assert_eq!(returning(&[&["1"], &["1"], &["1"]]).run().agree_words(2).as_deref(), Some("all 3 agree"));
        assert_eq!((named(&[0, 1, 2, 3]), named(&[0, 1, 2, 3, 4])), ("A B C D".to_owned(), "A B C +2".to_owned()));
    }

    #[test]
    fn the_first_call_of_the_table_is_the_one_that_the_screen_names() {
        // Most differ on the second call; the first tells the largest groups apart, and is shorter.
        let mut session = returning(&[&["1", "1"], &["2", "2"], &["2", "2"], &["1", "1"], &["1", "5"], &["2", "6"]]);
        let call = session.run().telling().unwrap();
        assert_eq!(session.run().agreement.as_ref().unwrap().differing()[0], 1);
        assert_eq!((call, session.run().called_on()[0]), (0, 0));
        assert!(said(&session).contains("they differ on mean([]): "), "{}", said(&session));
        session.key("b");
        assert_eq!(session.state.selected_call(), Some(0));
    }
}
