//! Prompts that stay in a network after their request, for the next one that begins alike: it reads only what
//! is new. What a row becomes does not depend on the rows it is read with, so nothing changes but the time.

use std::collections::HashMap;

use crate::backend::{BackendError, Network, SeqId};

/// The prompts of one network that no request uses, the one used last at the end.
#[derive(Debug, Default)]
pub struct Prompts {
    cached: Vec<CachedPrompt>,
    /// Most bytes of K/V; 0 keeps nothing.
    limit: usize,
    /// Bytes of K/V of the regions that requests have.
    in_use: HashMap<SeqId, usize>,
}

#[derive(Debug)]
struct CachedPrompt {
    region: SeqId,
    /// Tokens of it that the network has read.
    tokens: Vec<u32>,
    /// Bytes of K/V.
    bytes: usize,
}

impl CachedPrompt {
    fn shared(&self, tokens: &[u32]) -> usize {
        self.tokens.iter().zip(tokens).take_while(|(a, b)| a == b).count()
    }
}

impl Prompts {
    /// Keeps prompts of at most so many bytes of K/V together.
    pub fn keeping(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Prompts are kept.
    pub fn keeps(&self) -> bool {
        self.limit > 0
    }

    /// The cached prompt to cut back for `tokens`, and how many of its tokens are left: at least half of
    /// `tokens`, or all that it holds. Some networks can cut it back to certain lengths only.
    fn best(&self, network: &dyn Network, tokens: &[u32]) -> Option<(usize, usize)> {
        let left = |prompt: &CachedPrompt| network.cut_point(prompt.region, prompt.shared(tokens));
        let shared = self.cached.iter().map(left).enumerate();
        let pays = |&(i, shared): &(usize, usize)| {
            shared > 0 && (2 * shared >= tokens.len() || shared == self.cached[i].tokens.len())
        };
        shared.filter(pays).max_by_key(|&(_, shared)| shared)
    }

    /// How many of `tokens` need not be read.
    pub fn reusable(&self, network: &dyn Network, tokens: &[u32]) -> usize {
        self.best(network, tokens).map_or(0, |(_, shared)| shared)
    }

    /// Opens a region with room for `tokens`. The [reusable](Self::reusable) ones are in it already, if
    /// `reuse` is set.
    pub fn open(&mut self, network: &mut dyn Network, tokens: &[u32], reuse: bool) -> Result<SeqId, BackendError> {
        if let Some((best, shared)) = self.best(network, tokens).filter(|_| reuse) {
            let CachedPrompt { region, bytes, .. } = self.cached.remove(best);
            let others = network.kv_bytes() - bytes;
            if network.resize(region, shared, tokens.len()).is_ok() {
                self.in_use.insert(region, network.kv_bytes() - others);
                return Ok(region);
            }
            network.close(region);
        }
        let mut others = network.kv_bytes();
        let opened = network.open(tokens.len()).or_else(|error| {
            // Cached prompts give way to this one.
            if self.cached.is_empty() {
                return Err(error);
            }
            self.clear(network);
            others = network.kv_bytes();
            network.open(tokens.len())
        })?;
        self.in_use.insert(opened, network.kv_bytes() - others);
        Ok(opened)
    }

    /// Takes over a region of [`open`](Self::open) for the same tokens, of which it may not have read all. It
    /// has no forks any more.
    pub fn keep(&mut self, network: &mut dyn Network, tokens: &[u32], region: SeqId) {
        let bytes = self.in_use.remove(&region);
        let tokens = tokens[..network.len(region).min(tokens.len())].to_vec();
        // One without tokens helps nobody.
        let Some(bytes) = bytes.filter(|_| !tokens.is_empty()) else { return network.close(region) };
        self.cached.push(CachedPrompt { region, tokens, bytes });
        while self.cached.iter().map(|prompt| prompt.bytes).sum::<usize>() > self.limit {
            network.close(self.cached.remove(0).region);
        }
    }

    /// Gives all of it back.
    pub fn clear(&mut self, network: &mut dyn Network) {
        self.cached.drain(..).for_each(|prompt| network.close(prompt.region));
    }
}
