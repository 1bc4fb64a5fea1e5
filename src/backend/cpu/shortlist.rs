//! The panels of the head that drafts are drawn from. A panel has 16 tokens that stand side by side in the
//! vocabulary; they come along.

use super::gemm::Picked;
use super::pack::{self, NR, Packed};
use crate::backend::Shortlist;

/// Panels of the tokens of a [`Shortlist`].
pub struct Panels {
    first: usize,
    /// Numbers of single panels behind the first ones, ascending.
    more: Vec<u32>,
    /// Ids of all tokens of these panels, ascending.
    pub ids: Vec<u32>,
}

impl Panels {
    /// As arguments of a product.
    pub fn picked(&self) -> Picked<'_> {
        Picked { first: self.first, more: &self.more }
    }
}

impl Packed {
    /// Panels of these tokens in this head; `None` where they are all of it, or its panels differ in storage.
    pub fn panels_of(&self, tokens: &Shortlist) -> Option<Panels> {
        if matches!(self.panels, pack::Panels::Stacked(_)) {
            return None;
        }
        let (all, first) = (self.outputs.div_ceil(NR), tokens.first.div_ceil(NR).max(1));
        let known = tokens.more.iter().filter(|&&id| (id as usize) < self.outputs);
        let mut more: Vec<u32> = known.map(|id| id / NR as u32).filter(|&panel| panel as usize >= first).collect();
        more.dedup();
        if first + more.len() >= all {
            return None;
        }
        let singles = more.iter().map(|&panel| panel as usize);
        let ids = (0..first).chain(singles).flat_map(|panel| panel * NR..((panel + 1) * NR).min(self.outputs));
        let ids = ids.map(|id| id as u32).collect();
        Some(Panels { first, more, ids })
    }
}
