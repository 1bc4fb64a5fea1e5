//! Tests by candidates: which test passed on which.

use std::collections::HashMap;

use super::candidate::Testing;
use super::closest::Closest;
use super::run::Run;
use crate::trial::Verdict;

/// A test and how it ended on each shown candidate; nothing where it did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub ends: Vec<Option<bool>>,
}

impl Row {
    /// The test passed on some candidates and failed on others.
    pub fn tells(&self) -> bool {
        self.ends.contains(&Some(true)) && self.ends.contains(&Some(false))
    }
}

impl Run {
    /// The tests that say something about the shown candidates: first those that the closest one fails, where
    /// none passed, then those that tell candidates apart, else in the order in which they were reported.
    pub fn matrix(&self) -> Vec<Row> {
        let shown = self.shown();
        let mut rows: Vec<Row> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (column, &candidate) in shown.iter().enumerate() {
            let Testing::Done(verdict) = self.testing(candidate) else { continue };
            for (name, passed) in &verdict.assurance.checks {
                let row = *places.entry(name).or_insert_with(|| {
                    rows.push(Row { name: name.clone(), ends: vec![None; shown.len()] });
                    rows.len() - 1
                });
                rows[row].ends[column] = Some(*passed);
            }
        }
        rows.retain(|row| !self.is_left_out(&row.name));
        // Where none passed, the tests that the closest one fails say most.
        let closest = self.closest().filter(Closest::is_known);
        let column = closest.and_then(|closest| {
            let block = self.block_of(closest.candidate)?.shown;
            shown.iter().position(|&c| c == block)
        });
        let is_missed = |row: &Row| column.is_some_and(|column| row.ends[column] == Some(false));
        rows.sort_by_key(|row| (!is_missed(row), !row.tells()));
        rows
    }

    /// `2 tests left out`: the tests that say nothing about candidates, which are the same for all of them.
    pub fn left_out(&self) -> Option<String> {
        match self.verdicts().map(|verdict| verdict.assurance.left_out.names.len()).find(|number| *number > 0)? {
            1 => Some("1 test left out".to_owned()),
            number => Some(format!("{number} tests left out")),
        }
    }

    /// The verdicts of the shown candidates.
    fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.blocks.iter().filter_map(|block| match self.testing(block.shown) {
            Testing::Done(verdict) => Some(verdict),
            _ => None,
        })
    }

    /// A test says nothing about candidates: it fails on one that passed, or is named as left out.
    pub(super) fn is_left_out(&self, test: &str) -> bool {
        let failed = (test.to_owned(), false);
        let excused = |verdict: &Verdict| verdict.has_passed() && verdict.assurance.checks.contains(&failed);
        self.verdicts()
            .any(|verdict| excused(verdict) || verdict.assurance.left_out.names.iter().any(|name| name == test))
    }

    /// Why the tests did not pass, if that is one and the same for at least two blocks and none passed or
    /// waits.
    pub fn shared_cause(&self) -> Option<&Verdict> {
        fn cause(testing: &Testing) -> Option<&Verdict> {
            match testing {
                Testing::Done(verdict) if !verdict.has_passed() => Some(verdict),
                _ => None,
            }
        }
        let mut causes = self.blocks.iter().map(|block| cause(self.testing(block.shown)));
        let first = causes.next()??;
        let mut others = causes.peekable();
        let is_same = |other: Option<&Verdict>| other.is_some_and(|other| other.message == first.message);
        (others.peek().is_some() && others.all(is_same)).then_some(first)
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::fixture::Session;
    use crate::job;
    use crate::trial::{Assurance, LeftOut, Status, Verdict};
    use crate::tui::app::Msg;

    /// A verdict with the ends of tests by name.
    pub fn verdict(session: &mut Session, candidate: usize, message: &str, checks: &[(&str, bool)]) {
        verdict_beside(session, candidate, message, checks, &LeftOut::default());
    }

    /// The verdict beside tests that are left out.
    pub fn verdict_beside(
        session: &mut Session,
        candidate: usize,
        message: &str,
        checks: &[(&str, bool)],
        left_out: &LeftOut,
    ) {
        let checks: Vec<(String, bool)> = checks.iter().map(|(name, passed)| ((*name).to_owned(), *passed)).collect();
        let status = if checks.iter().all(|check| check.1) { Status::Passed } else { Status::Failed };
        let message = format!("{message}{}", left_out.remark());
        let assurance = Box::new(Assurance { checks, left_out: left_out.clone(), ..Assurance::default() });
        let outcome = Ok(Verdict { status, assurance, ..Verdict::not_run(&message) });
        let run = session.run().id;
        session.send(Msg::Job { run, event: job::Event::Verdict { candidate, outcome } });
    }

    #[test]
    fn tests_that_tell_candidates_apart_come_first() {
        let mut session = Session::tested(3);
        session.key("g");
        for (candidate, body) in ["    return 1\n", "    return 2\n", "    return 3\n"].iter().enumerate() {
            session.finish(candidate, body);
        }
        session.done();
        verdict(&mut session, 0, "", &[("all", true), ("some", true)]);
        verdict(&mut session, 1, "no", &[("all", true), ("some", false), ("more", false)]);
        let rows = session.run().matrix();
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["some", "all", "more"], "C has not been tested yet");
        verdict(&mut session, 2, "no", &[("all", true), ("some", true), ("more", false)]);
        let rows = session.run().matrix();
        assert_eq!(rows[0].ends, [Some(true), Some(false), Some(true)]);
        assert_eq!((rows[0].name.as_str(), rows[2].name.as_str()), ("some", "more"));
    }

    #[test]
    fn a_cause_that_all_share_is_one() {
        let mut session = Session::tested(2);
        session.key("g");
        session.finish(0, "    return 1\n");
        session.finish(1, "    return 2\n");
        session.done();
        verdict(&mut session, 0, "no module", &[("a", false)]);
        assert_eq!(session.run().shared_cause(), None);
        assert!(session.state.note(0).is_some());
        verdict(&mut session, 1, "no module", &[("a", false)]);
        assert_eq!(session.run().shared_cause().map(|cause| cause.message.as_str()), Some("no module"));
        assert_eq!(session.state.note(0), None, "it is said once");
    }

    /// They are the same for all; their names are no news of a candidate.
    #[test]
    fn tests_that_are_left_out_are_said_once() {
        let mut session = Session::tested(2);
        session.key("g");
        session.finish(0, "    return 1\n");
        session.finish(1, "    return 2\n");
        session.done();
        let words = "left out, as they fail without calling the function: b, c; b says no (t.py:20)".to_owned();
        let left_out = LeftOut { names: vec!["b".into(), "c".into()], words };
        let checks = [("a", true), ("b", false), ("c", false)];
        verdict_beside(&mut session, 0, "gave 1 (t.py:3)", &[("a", false), checks[1], checks[2]], &left_out);
        verdict_beside(&mut session, 1, "gave 2", &[("a", false), ("d", true)], &left_out);
        assert_eq!(session.run().left_out().as_deref(), Some("2 tests left out"));
        assert_eq!(session.state.note(0).as_deref(), Some("gave 1 (t.py:3)"));
        let rows = session.run().matrix();
        assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["a", "d"]);
        let names = (0..7).map(|at| format!("test_{at}[1, 2]")).collect();
        session.key("1");
        session.key("T");
        let left_out = LeftOut { names, words: "left out, as they are flaky: some".to_owned() };
        verdict_beside(&mut session, 0, "gave 1", &[("a", false), ("test_6[1, 2]", false)], &left_out);
        assert_eq!(session.run().left_out().as_deref(), Some("7 tests left out"));
        assert!(session.run().matrix().iter().all(|row| row.name != "test_6[1, 2]"), "also those that no words name");
    }
}
