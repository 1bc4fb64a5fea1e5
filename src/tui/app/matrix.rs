//! Tests by candidates: which test passed on which.

use std::collections::HashMap;

use super::candidate::Testing;
use super::run::Run;

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
    /// The tests of the shown candidates, those that tell candidates apart first, else in the order in which
    /// they were reported.
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
        rows.sort_by_key(|row| !row.tells());
        rows
    }

    /// The remark in brackets that the verdicts of all shown candidates end with; if two have one at
    /// least.
    pub fn shared_remark(&self) -> Option<&str> {
        let mut all = self.blocks.iter().map(|block| match self.testing(block.shown) {
            Testing::Done(verdict) if verdict.message.ends_with(')') => {
                verdict.message.rfind(" (").map(|at| &verdict.message[at..])
            }
            _ => None,
        });
        let first = all.next()??;
        let is_shared = self.blocks.len() > 1 && all.all(|other| other == Some(first));
        is_shared.then(|| first.trim_start())
    }

    /// Why the tests did not pass, if that is one and the same for at least two blocks and none passed or
    /// waits.
    pub fn shared_cause(&self) -> Option<&str> {
        fn cause(testing: &Testing) -> Option<&str> {
            match testing {
                Testing::Done(verdict) if !verdict.has_passed() => Some(&verdict.message),
                _ => None,
            }
        }
        let mut causes = self.blocks.iter().map(|block| cause(self.testing(block.shown)));
        let first = causes.next()??;
        let mut others = causes.peekable();
        (others.peek().is_some() && others.all(|other| other == Some(first))).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Session;
    use crate::job;
    use crate::trial::{Assurance, Status, Verdict};
    use crate::tui::app::Msg;

    fn verdict(session: &mut Session, candidate: usize, message: &str, checks: &[(&str, bool)]) {
        let checks: Vec<(String, bool)> = checks.iter().map(|(name, passed)| ((*name).to_owned(), *passed)).collect();
        let status = if checks.iter().all(|check| check.1) { Status::Passed } else { Status::Failed };
        let assurance = Box::new(Assurance { checks, ..Assurance::default() });
        let outcome = Ok(Verdict { status, assurance, ..Verdict::not_run(message) });
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
        assert_eq!(session.run().shared_cause(), Some("no module"));
        assert_eq!(session.state.note(0), None, "it is said once");
        session.key("2");
        session.key("T");
        verdict(&mut session, 1, "gave 2 (left out: b)", &[("a", false)]);
        session.key("1");
        session.key("T");
        verdict(&mut session, 0, "gave 1 (left out: b)", &[("a", false)]);
        assert_eq!(session.run().shared_remark(), Some("(left out: b)"));
        assert_eq!(session.state.note(0).as_deref(), Some("gave 1"), "the remark is said once");
    }
}
