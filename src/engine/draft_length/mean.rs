//! A mean of values whose weights fade.

/// Sum and weight of what was seen, old values counting less and less.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    sum: f64,
    /// How many fresh values what is left counts for.
    pub weight: f64,
}

impl Mean {
    /// As after `weight` values of `value`.
    pub fn new(value: f64, weight: f64) -> Self {
        Self { sum: value * weight, weight }
    }

    /// Takes in a value.
    pub fn add(&mut self, value: f64, weight: f64) {
        self.sum += value * weight;
        self.weight += weight;
    }

    /// Everything seen so far keeps this part of its weight.
    pub fn fade(&mut self, keep: f64) {
        self.sum *= keep;
        self.weight *= keep;
    }

    /// The mean, where a belief counts as much as `weight` values.
    pub fn value(self, belief: f64, weight: f64) -> f64 {
        (self.sum + belief * weight) / (self.weight + weight)
    }
}
