//! The candidate that comes closest where none passed its tests.

use std::cmp::Reverse;

use super::find::Filter;
use super::run::Run;
use crate::job::label;
use crate::trial::Verdict;

/// A candidate that failed, with the tests that tell how close it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closest {
    pub candidate: usize,
    /// Tests that it passed, and that it failed; both 0 where tests are not reported by name.
    pub passed: usize,
    pub failed: usize,
}

impl Closest {
    /// `D comes closest: it fails 1 of 7 tests`, where tests tell that.
    pub fn words(&self) -> Option<String> {
        let (name, failed, all) = (label(self.candidate), self.failed, self.passed + self.failed);
        self.is_known().then(|| format!("{name} comes closest: it fails {failed} of {all} tests"))
    }

    /// Tests tell that it came closer than none at all.
    pub fn is_known(&self) -> bool {
        self.passed > 0 && self.failed > 0
    }
}

impl Run {
    /// The failed candidate that passed most tests, of several the best ranked. `None` while something may
    /// still change, and where one passed or none failed.
    pub fn closest(&self) -> Option<Closest> {
        let all = 0..self.candidates.len();
        if !self.is_settled() || all.clone().any(|c| self.testing(c).passed()) {
            return None;
        }
        let order = self.in_order();
        let ranked = order.into_iter().chain(all).filter(|&c| Filter::Failed.takes(self.testing(c).status()));
        let passed = |c: usize| self.testing(c).verdict().map_or(0, Verdict::passed_checks);
        let candidate = ranked.min_by_key(|&c| Reverse(passed(c)))?;
        let checks = self.testing(candidate).verdict().map_or(&[][..], |verdict| &verdict.assurance.checks);
        let failed = checks.iter().filter(|(test, has_passed)| !has_passed && !self.is_left_out(test)).count();
        Some(Closest { candidate, passed: passed(candidate), failed })
    }

    /// The focus goes to the closest one, unless the user has moved it.
    pub(super) fn focus_closest(&mut self) {
        let Some(closest) = self.closest().filter(|_| self.pick.is_none() && !self.moved) else { return };
        let shown = self.block_of(closest.candidate).map_or(closest.candidate, |block| block.shown);
        if self.shown().contains(&shown) {
            self.focus = shown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Session, body};
    use super::super::matrix::tests::verdict;
    use crate::tui::view::scenes;

    /// Candidates that pass so many of four tests.
    fn failing(passed: &[usize]) -> Session {
        let mut session = Session::tested(passed.len());
        session.key("g");
        for candidate in 0..passed.len() {
            session.finish(candidate, &body(candidate));
        }
        session.done();
        for (candidate, &passed) in passed.iter().enumerate() {
            let checks: Vec<(&str, bool)> =
                ["a", "b", "c", "d"].into_iter().enumerate().map(|(at, test)| (test, at < passed)).collect();
            verdict(&mut session, candidate, &format!("no {candidate}"), &checks);
        }
        session
    }

    #[test]
    fn where_none_passed_the_closest_has_the_focus_and_the_screen_says_so() {
        let session = failing(&[1, 0, 3, 3]);
        assert_eq!((session.run().focus, session.run().pick), (2, None));
        let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
        assert!(shown.contains("none passed; C comes closest: it fails 1 of 4 tests"), "{shown}");
        assert!(shown.contains("FAIL  CLOSEST"), "{shown}");
        let first = session.run().matrix()[0].clone();
        assert_eq!((first.name.as_str(), first.ends[2]), ("d", Some(false)), "all fail it");
    }

    #[test]
    fn where_tests_do_not_tell_only_that_none_passed_is_said() {
        let mut session = failing(&[0, 0]);
        let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
        assert!(shown.contains("none passed   ") && !shown.contains("closest"), "{shown}");
        assert_eq!(session.run().focus, 0);
        session.key("2");
        session.key("T");
        assert_eq!(session.run().closest(), None, "its tests run again");
        verdict(&mut session, 1, "no", &[("a", true), ("b", false)]);
        assert_eq!((session.run().focus, session.run().closest().map(|c| c.candidate)), (1, Some(1)));
        session.key("1");
        session.key("T");
        verdict(&mut session, 0, "no", &[("a", false)]);
        assert_eq!(session.run().focus, 0, "the user has moved it");
    }
}
