//! Candidates whose code is known not to load.

use super::super::super::trials::tests::isolated;
use super::*;
use crate::job::{Retry, Rounds, round_words};

/// Has no verdicts; code that returns one of these numbers cannot be loaded.
struct Unloading(crate::trial::Protection, &'static [usize]);

impl Judge for Unloading {
    fn protection(&self) -> &crate::trial::Protection {
        &self.0
    }

    fn may_run(&self) -> bool {
        true
    }

    fn allow_unprotected(&self) -> Arc<dyn Judge> {
        Arc::new(Self(self.0.clone(), self.1))
    }

    fn run(&self, _: &Trial, _: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        Ok(Verdict::not_run("ran"))
    }

    fn observe(&self, trial: &Trial, inputs: &[Input], _: &Arc<AtomicBool>) -> Result<Vec<Observed>, TrialError> {
        let is_broken = self.1.iter().any(|c| trial.program.contains(&format!("return {c}")));
        let effect = if is_broken { Effect::Unloaded } else { Effect::Returned };
        let shown = "SyntaxError: invalid syntax".to_owned();
        Ok(vec![Observed { effect, key: "0".to_owned(), shown, ..Observed::default() }; inputs.len()])
    }
}

#[test]
fn code_that_cannot_be_loaded_is_no_pick_and_is_written_anew() {
    let rounds =
        |most| Some(Rounds { most, retry: Retry::Fresh, source: Arc::new(Ordered([0, 1, 2])) as Arc<dyn Source> });
    for (broken, rounds, picked, candidates) in [
        (&[0, 1][..], None, Some(2), 3),
        (&[0, 1, 2], None, None, 3),
        (&[0, 1, 2], rounds(2), None, 6),
        (&[0, 1], rounds(2), Some(2), 3),
    ] {
        let pool = TrialPool::with(Arc::new(Unloading(isolated(), broken)), (1, 1)).unwrap();
        let mut ask = Ask { agree: true, rounds, ..ask(false) };
        ask.request.options.n = 3;
        ask.task = Arc::new(Job::from_text(STUB, &TestsChoice::None).unwrap());
        let (_run, events) = start(&Ordered([0, 1, 2]), &pool, ask);
        let mut whys = Vec::new();
        let done = events.iter().find_map(|event| match event {
            Event::Round { why, .. } => {
                whys.push(why);
                None
            }
            Event::Done(done) => Some(done),
            _ => None,
        });
        let done = done.unwrap();
        assert_eq!((done.picked, done.candidates.len()), (picked, candidates), "{broken:?}");
        assert_eq!(whys, vec![WhyMore::NoneRuns; candidates / 3 - 1], "no test has failed: {broken:?}");
    }
    assert_eq!(round_words(&(3..6), 0, WhyMore::NoneRuns), "none of 3 can be run: writing 3 more");
}
