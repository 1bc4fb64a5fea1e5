//! A draft head beside the model: its layers read hidden states of the model and draft from them. The formulas
//! stand at [`HeadKind`].
//!
//! Keys and values of its layers lie behind the model's own in the region of every sequence, position for
//! position. So forks, cached prompts and rejected rows need nothing of their own. Drafting writes behind the
//! end of a sequence; the next pass writes over it.

use std::collections::HashMap;

use super::experts::sized;
use super::gemm::{Linear, Mode, Picked, linear, linear_of};
use super::kv::Layout;
use super::pack::Packed;
use super::pass::{Buffers, compact};
use super::shortlist::Panels;
use super::{CpuNetwork, HostLogits, layers_of, load, ops};
use crate::backend::host::same_count;
use crate::backend::rotary::RotaryTables;
use crate::backend::sequences::{Sequences, contract};
use crate::backend::slabs::{Piece, pieces};
use crate::backend::weights::DraftHeadWeights;
use crate::backend::{BackendError, Candidate, Drafts, Dtype, SeqId};
use crate::model::spec::{HeadKind, ModelSpec};
use crate::model::{DraftHead, spec};
use crate::sampling::Draft;

/// A draft head, ready to run. While it runs, its description, layers and rotations are in the place of the
/// network's, and those of the network here ([`InPlace`]).
pub struct BesideHead {
    kind: HeadKind,
    spec: ModelSpec,
    weights: DraftHeadWeights<Packed, Vec<f32>>,
    rotary: RotaryTables,
    /// The layer of a region that its keys and values begin with.
    first_layer: usize,
    /// Tokens of the rows of its head, ascending; all where `None`.
    ids: Option<Vec<u32>>,
    /// Blocks of the model before which it reads states.
    before: Vec<usize>,
    /// States of the rows of the slab at hand `[rows, count * hidden]`.
    states: Vec<f32>,
    /// States of the last rows of sequences, for the rows behind them.
    last: HashMap<SeqId, States>,
    /// Working memory.
    buffers: Buffers,
    /// States of rows, after the matrix `[rows, hidden]`.
    joined: Vec<f32>,
    /// Tokens beside states, normalised `[rows, 2 * hidden]`.
    inputs: Vec<f32>,
    /// Of the rows of the last pass.
    pub logits: Vec<f32>,
}

/// States of consecutive positions, after the matrix.
struct States {
    first: usize,
    /// `[positions, hidden]`.
    rows: Vec<f32>,
}

impl States {
    fn at(&self, position: usize, hidden: usize) -> Option<&[f32]> {
        let from = position.checked_sub(self.first)? * hidden;
        self.rows.get(from..from + hidden)
    }
}

impl CpuNetwork {
    /// See [`Network::attach`](crate::backend::Network::attach).
    pub(super) fn attach_draft_head(&mut self, head: &DraftHead, dtype: Dtype) -> Result<(), BackendError> {
        let spec = head.weights.spec.clone();
        let Some(states) = &spec.states else {
            return Err(contract("a model in the place of a draft head".into()));
        };
        if self.sequences.bytes() > 0 {
            return Err(contract("a draft head beside open sequences".into()));
        }
        let weights = load::pack_draft_head(&head.weights, dtype, (&self.pool, &self.kernels))?;
        let layout = Layout::new(layers_of(&self.spec).chain(layers_of(&spec)));
        self.sequences = Sequences::new(layout, self.spec.context);
        self.draft_head = Some(Box::new(BesideHead {
            kind: head.kind,
            before: states.before(self.spec.blocks.len()),
            rotary: RotaryTables::new(&spec.blocks),
            first_layer: self.spec.blocks.len(),
            ids: head.ids.clone(),
            states: Vec::new(),
            last: HashMap::new(),
            buffers: Buffers::default(),
            joined: Vec::new(),
            inputs: Vec::new(),
            logits: Vec::new(),
            weights,
            spec,
        }));
        Ok(())
    }

    /// Runs with the layers of the head in the place of the model's.
    fn with_draft_head<T>(
        &mut self,
        run: impl FnOnce(&mut Self, &mut BesideHead) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        let Some(mut head) = self.draft_head.take() else { return Err(contract("no draft head".into())) };
        head.swap(self);
        let mut in_place = InPlace { network: self, head: Some(head) };
        let InPlace { network, head } = &mut in_place;
        match head {
            Some(head) => run(network, head),
            None => Err(contract("no draft head".into())),
        }
    }

    /// The residual stream before a block, of the rows of a slab.
    pub(super) fn draft_head_reads(&mut self, layer: usize, x: &[f32]) {
        let Some(head) = self.draft_head.as_mut().filter(|head| head.before.contains(&layer)) else { return };
        let (hidden, count) = (self.spec.hidden, head.before.len());
        let states = sized(&mut head.states, x.len() * count);
        for (at, _) in head.before.iter().enumerate().filter(|(_, before)| **before == layer) {
            for (row, states) in x.chunks_exact(hidden).zip(states.chunks_exact_mut(count * hidden)) {
                states[at * hidden..][..hidden].copy_from_slice(row);
            }
        }
    }

    /// The head reads what the model's head reads, of all rows.
    pub(super) fn draft_head_reads_end(&self) -> bool {
        self.draft_head.as_ref().is_some_and(|head| head.kind == HeadKind::Next)
    }

    /// The residual stream behind the last block, of the rows of a slab.
    pub(super) fn read_end_for_draft_head(&mut self, x: &[f32]) {
        let Some(mut head) = self.draft_head.take() else { return };
        let states = sized(&mut head.states, x.len());
        match &self.weights.final_norm {
            Some(norm) => self.norm(x, norm, states),
            None => states.copy_from_slice(x),
        }
        self.draft_head = Some(head);
    }

    /// Keys and values of the head for the rows of a slab.
    pub(super) fn read_for_draft_head(&mut self, slab: &[Piece], tokens: &[u32]) -> Result<(), BackendError> {
        if self.draft_head.is_none() {
            Ok(())
        } else {
            self.with_draft_head(|network, head| head.read(network, slab, tokens))
        }
    }

    pub(super) fn fork_for_draft_head(&mut self, prompt: SeqId, forks: &[SeqId]) {
        let Some(head) = &mut self.draft_head else { return };
        let Some(last) = self.sequences.len(prompt).checked_sub(1) else { return };
        let state = head.last.get(&prompt).and_then(|states| states.at(last, self.spec.hidden)).map(<[f32]>::to_vec);
        if let Some(state) = state {
            head.last.extend(forks.iter().map(|&fork| (fork, States { first: last, rows: state.clone() })));
        }
    }

    pub(super) fn close_for_draft_head(&mut self, seq: SeqId) {
        if let Some(head) = &mut self.draft_head {
            head.last.remove(&seq);
        }
    }

    /// See [`Network::draft_with_head`](crate::backend::Network::draft_with_head).
    pub(super) fn draft_by_head(
        &mut self,
        candidates: &[Candidate<'_>],
        lengths: &[usize],
    ) -> Result<Vec<Drafts>, BackendError> {
        same_count(candidates, lengths)?;
        let mut asked = Vec::new();
        for (i, candidate) in candidates.iter().enumerate().filter(|(i, _)| lengths[*i] > 0) {
            let sequence = self.sequences.get(candidate.seq)?;
            let start = sequence.len;
            let &[token] = candidate.unread(start)? else {
                return Err(contract("drafts of a head for a candidate with more than one unread token".into()));
            };
            // Without a token before it there are no states.
            let room = if start == 0 { 0 } else { sequence.limit - start };
            asked.push(Asked { i, start, token, room, length: lengths[i].min(room), drafts: Vec::new() });
        }
        asked.retain(|asked| asked.length > 0);
        if !asked.is_empty() {
            self.with_draft_head(|network, head| match head.kind {
                HeadKind::Chain { .. } | HeadKind::Next => head.chain(network, candidates, &mut asked),
                HeadKind::Block { size, mask } => head.block(network, candidates, &mut asked, (size, mask)),
            })?;
        }
        let mut drafts = vec![Drafts::NONE; candidates.len()];
        for asked in asked {
            drafts[asked.i] = Drafts::Host(asked.drafts);
        }
        Ok(drafts)
    }
}

/// A network with the layers of its head in the place of the model's, until this is dropped: also where it
/// panics.
struct InPlace<'a> {
    network: &'a mut CpuNetwork,
    head: Option<Box<BesideHead>>,
}

impl Drop for InPlace<'_> {
    fn drop(&mut self) {
        if let Some(mut head) = self.head.take() {
            head.swap(self.network);
            self.network.draft_head = Some(head);
        }
    }
}

/// A candidate that is drafted for.
struct Asked {
    /// Its number.
    i: usize,
    /// Position of its last token.
    start: usize,
    token: u32,
    /// Positions from there on that there is room for.
    room: usize,
    length: usize,
    drafts: Vec<Draft>,
}

impl BesideHead {
    fn swap(&mut self, network: &mut CpuNetwork) {
        std::mem::swap(&mut self.spec, &mut network.spec);
        std::mem::swap(&mut self.weights.blocks, &mut network.weights.blocks);
        std::mem::swap(&mut self.rotary, &mut network.rotary);
        std::mem::swap(&mut self.first_layer, &mut network.first_layer);
    }

    /// Writes keys and values for rows of the model whose states are there.
    fn read(&mut self, network: &mut CpuNetwork, slab: &[Piece], tokens: &[u32]) -> Result<(), BackendError> {
        let hidden = network.spec.hidden;
        reach(network, slab)?;
        if self.kind == HeadKind::Next {
            std::mem::swap(&mut self.joined, &mut self.states);
        } else {
            let joined = sized(&mut self.joined, tokens.len() * hidden);
            let states = Linear { weights: &self.weights.states, bias: None, mode: Mode::Store };
            linear(&network.pool, &network.kernels, states, &self.states, joined, &mut self.buffers.quantized);
        }
        if let HeadKind::Block { .. } = self.kind {
            let (norm, weights) = (network.spec.norm, &self.weights.states_norm);
            ops::for_rows(&network.pool, &mut self.joined, hidden, |_, row| ops::norm_in_place(norm, row, weights));
            let Buffers { qkv, quantized, .. } = &mut self.buffers;
            for layer in 0..network.spec.blocks.len() {
                network.keys_of_inputs(layer, slab, &self.joined, qkv, quantized)?;
            }
            return Ok(());
        }
        let inputs = sized(&mut self.inputs, tokens.len() * 2 * hidden);
        for (piece, rows) in pieces(slab) {
            let before = piece.start.checked_sub(1);
            let last = before.and_then(|before| self.last.get(&piece.seq)?.at(before, hidden)).map(<[f32]>::to_vec);
            // A prompt that was cut back has lost the states before its end: one row is drafted from less.
            let known = last.is_some();
            let own = &self.joined[rows.start * hidden..rows.end * hidden];
            let states = [&last.unwrap_or_else(|| vec![0.0; hidden])[..], own].concat();
            for (row, state) in rows.zip(states.chunks_exact(hidden)) {
                let input = &mut inputs[row * 2 * hidden..][..2 * hidden];
                input_of(network, &self.weights, (tokens[row], state), input);
            }
            let (first, rows) =
                if known { (piece.start - 1, states) } else { (piece.start, states[hidden..].to_vec()) };
            self.last.insert(piece.seq, States { first, rows });
        }
        self.begin(network);
        self.keys(network, slab)
    }

    /// The beginning of the residual stream of rows whose inputs are there, where a matrix makes it.
    fn begin(&mut self, network: &CpuNetwork) {
        if self.kind == HeadKind::Next {
            let Buffers { x, quantized, .. } = &mut self.buffers;
            let x = sized(x, self.inputs.len() / 2);
            let states = Linear { weights: &self.weights.states, bias: None, mode: Mode::Store };
            linear(&network.pool, &network.kernels, states, &self.inputs, x, quantized);
        }
    }

    /// Query, key and value of these rows.
    fn keys(&mut self, network: &mut CpuNetwork, slab: &[Piece]) -> Result<(), BackendError> {
        if self.kind == HeadKind::Next {
            return network.project(0, slab, &mut self.buffers);
        }
        let Buffers { qkv, quantized, .. } = &mut self.buffers;
        network.keys_of_inputs(0, slab, &self.inputs, qkv, quantized)
    }

    /// A pass for each token, over the head's own output from the second on.
    fn chain(
        &mut self,
        network: &mut CpuNetwork,
        candidates: &[Candidate<'_>],
        all: &mut [Asked],
    ) -> Result<(), BackendError> {
        let hidden = network.spec.hidden;
        let state = |asked: &Asked| {
            let known = self.last.get(&candidates[asked.i].seq)?.at(asked.start - 1, hidden)?;
            Some(known.to_vec())
        };
        let mut states: Vec<Vec<f32>> =
            all.iter().map(|asked| state(asked).unwrap_or_else(|| vec![0.0; hidden])).collect();
        for round in 0..all.iter().map(|asked| asked.length).max().unwrap_or(0) {
            let part: Vec<usize> = (0..all.len()).filter(|&at| all[at].length > round).collect();
            let piece = |&at: &usize| {
                let Asked { i, start, .. } = all[at];
                Piece { seq: candidates[i].seq, start: start + round, len: 1, wanted: 1 }
            };
            let slab: Vec<Piece> = part.iter().map(piece).collect();
            reach(network, &slab)?;
            let inputs = sized(&mut self.inputs, part.len() * 2 * hidden);
            self.buffers.x.clear();
            for (&at, input) in part.iter().zip(inputs.chunks_exact_mut(2 * hidden)) {
                let token = all[at].drafts.last().map_or(all[at].token, |draft| draft.token);
                input_of(network, &self.weights, (token, &states[at]), input);
                match self.kind {
                    HeadKind::Chain { normed: true, .. } => self.buffers.x.extend_from_slice(&input[hidden..]),
                    HeadKind::Chain { .. } => self.buffers.x.extend_from_slice(&states[at]),
                    HeadKind::Next | HeadKind::Block { .. } => {}
                }
            }
            self.begin(network);
            self.keys(network, &slab)?;
            let rows: Vec<_> = (0..part.len()).map(|row| row..row + 1).collect();
            network.rest_of_block(0, &slab, &rows, &mut self.buffers)?;
            let width = self.logits(network);
            let Buffers { x, normed, .. } = &self.buffers;
            let outputs = if self.kind == HeadKind::Next { normed } else { x };
            for (&at, output) in part.iter().zip(outputs.chunks_exact(hidden)) {
                states[at].copy_from_slice(output);
            }
            let (logits, ids) = (&self.logits, self.ids(network));
            let drawn = network.map(part.len(), |row| {
                let Asked { i, drafts, .. } = &all[part[row]];
                candidates[*i].draw(drafts, &logits[row * width..][..width], ids)
            });
            part.into_iter().zip(drawn).for_each(|(at, draft)| all[at].drafts.push(draft));
        }
        Ok(())
    }

    /// One pass over a block of masks.
    fn block(
        &mut self,
        network: &mut CpuNetwork,
        candidates: &[Candidate<'_>],
        all: &mut [Asked],
        (size, mask): (usize, u32),
    ) -> Result<(), BackendError> {
        let (hidden, scale) = (network.spec.hidden, self.spec.embedding.scale);
        let piece = |asked: &mut Asked| {
            let len = size.min(asked.room);
            asked.length = asked.length.min(len - 1);
            Piece { seq: candidates[asked.i].seq, start: asked.start, len, wanted: asked.length }
        };
        let slab: Vec<Piece> = all.iter_mut().map(piece).collect();
        reach(network, &slab)?;
        let tokens = slab
            .iter()
            .zip(&*all)
            .flat_map(|(piece, asked)| std::iter::once(asked.token).chain(std::iter::repeat_n(mask, piece.len - 1)));
        let tokens: Vec<u32> = tokens.collect();
        let x = sized(&mut self.buffers.x, tokens.len() * hidden);
        for (&token, row) in tokens.iter().zip(x.chunks_exact_mut(hidden)) {
            network.weights.embedding.output(token as usize, row);
            for x in row {
                *x *= scale;
            }
        }
        let rows: Vec<_> = pieces(&slab).map(|(_, rows)| rows).collect();
        for layer in 0..network.spec.blocks.len() {
            network.project(layer, &slab, &mut self.buffers)?;
            network.rest_of_block(layer, &slab, &rows, &mut self.buffers)?;
        }
        let drafted: Vec<_> =
            rows.iter().zip(&*all).map(|(rows, asked)| rows.start + 1..rows.start + 1 + asked.length).collect();
        compact(&mut self.buffers.x, hidden, &drafted);
        let width = self.logits(network);
        let firsts: Vec<usize> =
            all.iter().scan(0, |end, asked| Some(std::mem::replace(end, *end + asked.length))).collect();
        let (logits, ids) = (&self.logits, self.ids(network));
        let drawn = network.map(all.len(), |at| {
            let mut drafts = Vec::new();
            for row in firsts[at]..firsts[at] + all[at].length {
                drafts.push(candidates[all[at].i].draw(&drafts, &logits[row * width..][..width], ids));
            }
            drafts
        });
        all.iter_mut().zip(drawn).for_each(|(asked, drawn)| asked.drafts = drawn);
        Ok(())
    }

    /// Tokens of the logits of a row; all of the vocabulary where `None`.
    fn ids<'n>(&'n self, network: &'n CpuNetwork) -> Option<&'n [u32]> {
        if self.weights.head.is_some() {
            return self.ids.as_deref();
        }
        network.shortlist.as_ref().map(|panels| &panels.ids[..])
    }

    /// Logits of the rows of the residual stream, which are normalised then; returns how many a row has.
    fn logits(&mut self, network: &CpuNetwork) -> usize {
        let hidden = network.spec.hidden;
        let width = self.ids(network).map(<[u32]>::len);
        let Buffers { x, normed, quantized, .. } = &mut self.buffers;
        let normed = sized(normed, x.len());
        network.norm(x, &self.weights.final_norm, normed);
        let own = self.weights.head.as_ref();
        let weights = own.unwrap_or_else(|| network.weights.head());
        let width = width.unwrap_or(weights.outputs);
        let logits = sized(&mut self.logits, x.len() / hidden * width);
        let (bias, short) = match own {
            Some(_) => (None, None),
            None => (network.weights.head_bias.as_deref(), network.shortlist.as_ref()),
        };
        let picked = short.map_or(Picked::all(weights.outputs), Panels::picked);
        let head = Linear { weights, bias, mode: Mode::Store };
        linear_of(&network.pool, &network.kernels, (head, picked), normed, logits, quantized);
        if own.is_none() {
            ops::scale_logits(&network.pool, self.spec.head, logits, width);
        }
        width
    }
}

/// Rotations for the positions of a slab.
fn reach(network: &mut CpuNetwork, slab: &[Piece]) -> Result<(), BackendError> {
    let positions = slab.iter().map(|piece| piece.start + piece.len).max().unwrap_or(0);
    network.rotary.ensure(positions).map_err(|bytes| BackendError::Memory { bytes })
}

/// The input of a row `[2 * hidden]`: of a token, and of the state before it.
fn input_of(
    network: &CpuNetwork,
    weights: &DraftHeadWeights<Packed, Vec<f32>>,
    (token, state): (u32, &[f32]),
    input: &mut [f32],
) {
    let spec::ModelSpec { hidden, norm, .. } = network.spec;
    let (of_token, of_state) = input.split_at_mut(hidden);
    let token_norm = weights.token_norm.as_ref().unwrap_or(&network.weights.blocks[0].attention_norm);
    network.weights.embedding.output(token as usize, of_token);
    ops::norm_in_place(norm, of_token, token_norm);
    ops::norm(norm, state, &weights.states_norm, of_state);
}
