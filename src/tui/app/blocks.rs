//! Candidates that say the same are shown together, as a block.

use std::collections::{HashMap, HashSet};

use super::find::Filter;
use super::run::Run;
use crate::job::Job;

/// Candidates whose texts differ in white space, comments and names of locals only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The candidates, in their order.
    pub members: Vec<usize>,
    /// The one whose text is shown: the pick, if it is among them, else the first.
    pub shown: usize,
}

impl Run {
    /// Puts the candidates into blocks: while text flows each into its own, so that nothing moves.
    pub fn fold(&mut self, job: &Job) {
        if self.is_live() {
            self.blocks = (0..self.candidates.len()).map(|c| Block { members: vec![c], shown: c }).collect();
            self.shared.clear();
            return self.liken();
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut known: HashMap<(String, Option<bool>), usize> = HashMap::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            let origin = candidate.duplicate_of.unwrap_or(index);
            let verdict = self.testing(index).is_settled().then(|| self.testing(index).passed());
            let text = self.candidates.get(origin).map_or("", |c| c.text.as_str());
            let key = (job.fold_key(text), verdict);
            let alone = !candidate.is_whole() || candidate.made_of.is_some() || self.unfolded.contains(&index);
            if let Some(&block) = known.get(&key).filter(|_| !alone) {
                blocks[block].members.push(index);
                continue;
            }
            if !alone {
                known.insert(key, blocks.len());
            }
            blocks.push(Block { members: vec![index], shown: index });
        }
        for block in &mut blocks {
            if let Some(pick) = self.pick.filter(|pick| block.members.contains(pick)) {
                block.shown = pick;
            }
        }
        self.blocks = blocks;
        // Nothing of the chosen kind is left: all are shown.
        if self.shown().is_empty() {
            self.filter = Filter::All;
        }
        self.focus = self.block_of(self.focus).map_or(self.focus, |block| block.shown);
        let shown = self.shown();
        if !shown.contains(&self.focus) {
            self.focus = shown.first().copied().unwrap_or(0);
        }
        self.shared = self.shared_lines();
        self.liken();
    }

    /// The block of a candidate.
    pub fn block_of(&self, candidate: usize) -> Option<&Block> {
        self.blocks.iter().find(|block| block.members.contains(&candidate))
    }

    /// The candidates that have a pane.
    pub fn shown(&self) -> Vec<usize> {
        let taken = |block: &&Block| self.filter.takes(self.status(block.shown));
        self.blocks.iter().filter(taken).map(|block| block.shown).collect()
    }

    /// Lines that are in every block; none if there is only one.
    fn shared_lines(&self) -> HashSet<String> {
        let lines = |block: &Block| -> HashSet<String> {
            let text = self.candidates.get(block.shown).map_or("", |c| c.shown.as_str());
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        let [first, others @ ..] = self.blocks.as_slice() else { return HashSet::new() };
        if others.is_empty() {
            return HashSet::new();
        }
        others.iter().fold(lines(first), |shared, block| &shared & &lines(block))
    }
}
