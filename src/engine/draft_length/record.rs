//! What steps promised and what came of it.

/// What a step is expected to bring and to take.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// Tokens of all candidates.
    pub tokens: f64,
    /// Time.
    pub ms: f64,
}

impl Promise {
    /// Tokens per ms.
    pub fn gain(self) -> f64 {
        self.tokens / self.ms.max(1e-9)
    }
}

/// How far steps of one kind have kept what was promised of them. Whatever the curves and shares leave out shows here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    promised: (f64, f64),
    kept: (f64, f64),
}

impl Record {
    /// Keeps about the last ten steps, and slowly forgets while there are others.
    const FADE: f64 = 0.9;
    const FORGET: f64 = 0.995;
    /// A record begins with as many steps that kept their promise.
    const PRIOR: f64 = 3.0;

    /// What promises like this one are worth: 1 if they are kept.
    pub fn worth(&self, promise: Promise) -> f64 {
        let prior = (Self::PRIOR * promise.tokens, Self::PRIOR * promise.ms);
        let tokens = (self.kept.0 + prior.0) / (self.promised.0 + prior.0);
        let ms = (self.kept.1 + prior.1) / (self.promised.1 + prior.1);
        tokens / ms
    }

    /// A step that was promised this brought so many tokens in so much time.
    pub fn add(&mut self, promise: Promise, tokens: f64, ms: f64) {
        self.fade(Self::FADE);
        // A single interruption proves nothing.
        let ms = ms.clamp(0.5 * promise.ms, 2.0 * promise.ms);
        self.promised = (self.promised.0 + promise.tokens, self.promised.1 + promise.ms);
        self.kept = (self.kept.0 + tokens, self.kept.1 + ms);
    }

    /// A step of another kind was made.
    pub fn forget(&mut self) {
        self.fade(Self::FORGET);
    }

    fn fade(&mut self, by: f64) {
        for sum in [&mut self.promised.0, &mut self.promised.1, &mut self.kept.0, &mut self.kept.1] {
            *sum *= by;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_worth_what_became_of_earlier_ones() {
        let promise = Promise { tokens: 4.0, ms: 10.0 };
        let mut record = Record::default();
        assert!((record.worth(promise) - 1.0).abs() < 1e-9);
        for _ in 0..40 {
            record.add(promise, 2.0, 20.0);
        }
        let worth = record.worth(promise);
        assert!((0.25..0.45).contains(&worth), "half of the tokens in twice the time: {worth}");
        for _ in 0..2000 {
            record.forget();
        }
        assert!((record.worth(promise) - 1.0).abs() < 0.01, "old failures are forgotten");
    }
}
