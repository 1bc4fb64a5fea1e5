//! What is drawn from logits, as data, so that it can be done where the logits live.

/// A list of draws and verifications on the logits of one pass.
#[derive(Clone, Copy, Debug)]
pub struct ChoicePlan<'a> {
    /// Placeholder.
    pub items: &'a [()],
}

/// The outcome of one item of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {}

/// Executes a plan on logits in host memory.
pub fn choose<'l>(_logits: &dyn Fn(usize) -> &'l [f32], _plan: &ChoicePlan<'_>) -> Vec<Choice> {
    todo!()
}
