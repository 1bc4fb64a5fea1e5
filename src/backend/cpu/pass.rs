//! One slab of rows through all layers.

use std::ops::Range;

use super::CpuNetwork;
use super::attention::{Attention, View};
use super::delta::DeltaBuffers;
use super::experts::{MlpBuffers, sized};
use super::gemm::{Linear, Mode, Picked, linear, linear_of};
use super::ops;
use super::quantized::InputBlock;
use super::shortlist::Panels;
use crate::backend::slabs::{Piece, pieces};
use crate::backend::weights::NormWeights;
use crate::backend::{BackendError, Wanted};
use crate::model::spec::{Block, Embedding, Heads, Wiring};

/// Working memory of a pass; grows to the largest slab.
#[derive(Default)]
pub struct Buffers {
    /// The residual stream `[rows, hidden]`.
    pub(super) x: Vec<f32>,
    /// Normalised rows `[rows, hidden]`.
    pub(super) normed: Vec<f32>,
    /// Rows of the embedding's width, where it isn't `hidden`.
    narrow: Vec<f32>,
    /// Query, key and value `[rows, (heads + 2 * kv_heads) * head_dim]`, and the gate, if there is one.
    pub(super) qkv: Vec<f32>,
    /// Result of attention `[rows, heads * head_dim]`.
    pub(super) attended: Vec<f32>,
    /// Working memory of attention.
    chunks: Vec<f32>,
    /// Output of attention or of the MLP `[rows, hidden]`, where it is normalised or scaled before it is
    /// added to the residual stream.
    branch: Vec<f32>,
    mlp: MlpBuffers,
    /// Inputs of blocks `[rows, blocks * width]`.
    pub(super) inputs: Vec<f32>,
    /// Gates on the input of a block `[rows, width]`, before and after the activation.
    pub(super) gates: [Vec<f32>; 2],
    /// Inputs of a product with quantised weights.
    pub(super) quantized: Vec<InputBlock>,
    /// Of gated delta nets.
    pub(super) delta: DeltaBuffers,
}

impl CpuNetwork {
    /// Runs a slab, stores its K/V and appends what is wanted of its rows.
    pub(super) fn pass(&mut self, slab: &[Piece], tokens: &[u32], want: Wanted) -> Result<(), BackendError> {
        let mut buffers = std::mem::take(&mut self.buffers);
        let result = self.layers(slab, tokens, &mut buffers);
        let wanted: usize = slab.iter().map(|piece| piece.wanted).sum();
        if result.is_ok() && wanted > 0 {
            self.head(wanted, want, &mut buffers);
        }
        self.buffers = buffers;
        result
    }

    /// Appends logits, or what the head reads, of the rows in `buffers.x`.
    fn head(&mut self, rows: usize, want: Wanted, buffers: &mut Buffers) {
        let Buffers { x, normed, narrow, quantized, .. } = buffers;
        if let Some(norm) = &self.weights.final_norm {
            let normed = sized(normed, x.len());
            self.norm(x, norm, normed);
            std::mem::swap(x, &mut buffers.normed);
        }
        let mut input = &x[..];
        if let Some([_, back]) = &self.weights.projections {
            let narrow = sized(narrow, rows * self.spec.embedding.width);
            let back = Linear { weights: back, bias: None, mode: Mode::Store };
            linear(&self.pool, &self.kernels, back, x, narrow, quantized);
            input = narrow;
        }
        if want == Wanted::Hidden {
            self.hidden.extend_from_slice(input);
            return;
        }
        let vocab = self.width();
        let logits = &mut self.logits[self.held * vocab..(self.held + rows) * vocab];
        let weights = self.weights.head();
        let head = Linear { weights, bias: self.weights.head_bias.as_deref(), mode: Mode::Store };
        let short = self.shortlist.as_ref().filter(|_| self.short);
        let picked = short.map_or(Picked::all(weights.outputs), Panels::picked);
        linear_of(&self.pool, &self.kernels, (head, picked), input, logits, quantized);
        self.held += rows;
        ops::scale_logits(&self.pool, self.spec.head, logits, vocab);
    }

    /// Tokens and positions as rows of the residual stream.
    fn embed(&self, slab: &[Piece], tokens: &[u32], buffers: &mut Buffers) {
        let (Embedding { width, scale, positions }, hidden) = (self.spec.embedding, self.spec.hidden);
        let Buffers { x, narrow, quantized, .. } = buffers;
        let rows = sized(if width == hidden { &mut *x } else { &mut *narrow }, tokens.len() * width);
        for (&token, row) in tokens.iter().zip(rows.chunks_exact_mut(width)) {
            self.weights.embedding.output(token as usize, row);
            if scale.to_bits() != 1.0f32.to_bits() {
                for x in row {
                    *x *= scale;
                }
            }
        }
        if let Some([there, _]) = &self.weights.projections {
            let there = Linear { weights: there, bias: None, mode: Mode::Store };
            linear(&self.pool, &self.kernels, there, narrow, sized(x, tokens.len() * hidden), quantized);
        }
        if let (Some(first), Some(table)) = (positions, &self.weights.positions) {
            for (position, row) in Self::positions(slab).zip(x.chunks_exact_mut(hidden)) {
                let learned = &table[(first + position) * hidden..][..hidden];
                row.iter_mut().zip(learned).for_each(|(x, learned)| *x += learned);
            }
        }
    }

    /// Runs all layers. Afterwards `buffers.x` holds the wanted rows, back to back.
    fn layers(&mut self, slab: &[Piece], tokens: &[u32], buffers: &mut Buffers) -> Result<(), BackendError> {
        let (hidden, layers) = (self.spec.hidden, self.spec.blocks.len());
        self.plans = self.states.begin(slab)?;
        self.embed(slab, tokens, buffers);
        self.layer_inputs(tokens, buffers);
        let all: Vec<Range<usize>> = pieces(slab).map(|(_, rows)| rows).collect();
        let reads_end = self.draft_head_reads_end();
        for layer in 0..layers {
            self.draft_head_reads(layer, &buffers.x);
            self.project(layer, slab, buffers)?;
            if layer + 1 < layers || reads_end {
                self.rest_of_block(layer, slab, &all, buffers)?;
            }
            if layer + 1 < layers {
                continue;
            }
            // Of the last layer only K/V is needed for rows without logits.
            let wanted: Vec<Range<usize>> =
                pieces(slab).map(|(piece, rows)| rows.end - piece.wanted..rows.end).collect();
            if reads_end {
                self.read_end_for_draft_head(&buffers.x);
                compact(&mut buffers.x, hidden, &wanted);
                break;
            }
            compact(&mut buffers.x, hidden, &wanted);
            match self.spec.blocks[layer].delta {
                Some(net) => compact(&mut buffers.attended, net.values(), &wanted),
                None => compact(&mut buffers.qkv, self.qkv_stride(layer), &wanted),
            }
            if let Some(inputs) = self.spec.layer_inputs {
                compact(&mut buffers.inputs, layers * inputs.width, &wanted);
            }
            if !buffers.x.is_empty() {
                self.rest_of_block(layer, slab, &wanted, buffers)?;
            }
        }
        self.states.finish(&self.plans);
        self.read_for_draft_head(slab, tokens)
    }

    /// The positions of all rows of a slab.
    fn positions(slab: &[Piece]) -> impl Iterator<Item = usize> {
        slab.iter().flat_map(|piece| piece.start..piece.start + piece.len)
    }

    /// Widths of query, key and value of a row in a block.
    fn qkv_widths(&self, layer: usize) -> [usize; 3] {
        let Heads { query, kv, dim } = self.spec.made_heads(layer);
        [query * dim, kv * dim, kv * dim]
    }

    /// Floats between rows of query, key and value: with the gate, if there is one.
    fn qkv_stride(&self, layer: usize) -> usize {
        let [queries, keys, values] = self.qkv_widths(layer);
        queries + keys + values + if self.spec.blocks[layer].attention.gated { queries } else { 0 }
    }

    /// Norm, query, key and value of a block; stores key and value.
    pub(super) fn project(&mut self, layer: usize, slab: &[Piece], buffers: &mut Buffers) -> Result<(), BackendError> {
        if let Some(net) = self.spec.blocks[layer].delta {
            return self.project_delta((layer, net), slab, buffers);
        }
        let Buffers { x, normed, qkv, quantized, .. } = buffers;
        let input = if self.spec.blocks[layer].wiring == Wiring::PostNorm {
            &x[..]
        } else {
            let normed = sized(normed, x.len());
            self.norm(x, &self.weights.blocks[layer].attention_norm, normed);
            normed
        };
        self.keys_of_inputs(layer, slab, input, qkv, quantized)
    }

    /// Query, key and value of the inputs `[rows, inputs]` of a block; stores key and value.
    pub(super) fn keys_of_inputs(
        &mut self,
        layer: usize,
        slab: &[Piece],
        input: &[f32],
        qkv: &mut Vec<f32>,
        quantized: &mut Vec<InputBlock>,
    ) -> Result<(), BackendError> {
        let Heads { query: heads, dim, .. } = self.spec.heads_of(layer);
        let [queries, keys, _] = self.qkv_widths(layer);
        let stride = self.qkv_stride(layer);
        let block = &self.weights.blocks[layer];
        let qkv = sized(qkv, input.len() / block.qkv.inputs * stride);
        let layer_qkv = Linear { weights: &block.qkv, bias: block.qkv_bias.as_deref(), mode: Mode::Store };
        linear(&self.pool, &self.kernels, layer_qkv, input, qkv, quantized);

        let positions: Vec<usize> = Self::positions(slab).collect();
        let (rotary, growth) = (self.rotary.of(layer), self.spec.blocks[layer].attention.query_growth);
        let value_norm = self.spec.blocks[layer].attention.value_norm;
        ops::for_rows(&self.pool, qkv, stride, |row, qkv| {
            for (head, values) in qkv[..queries + keys].chunks_exact_mut(dim).enumerate() {
                if let Some((query_norm, key_norm)) = &block.qk_norm {
                    let norm = if head < heads { query_norm } else { key_norm };
                    ops::norm_in_place(self.spec.norm, values, norm);
                }
                if let Some(rotary) = rotary {
                    rotary.rotate(positions[row], values);
                }
                if let Some(growth) = growth.filter(|_| head < heads) {
                    let factor = growth.at(positions[row]);
                    for value in values {
                        *value *= factor;
                    }
                }
            }
            if value_norm {
                for values in qkv[queries + keys..][..keys].chunks_exact_mut(dim) {
                    ops::rms_norm_plain(values, self.spec.norm.eps);
                }
            }
        });
        if keys == 0 {
            return Ok(());
        }
        for (piece, rows) in pieces(slab) {
            for (row, place) in rows.zip(piece.start..) {
                let (key, value) = qkv[row * stride + queries..][..2 * keys].split_at(keys);
                let at = place - self.sequences.get(piece.seq)?.shared_len();
                self.sequences.own_mut(piece.seq)?.store(self.first_layer + layer, at, key, value);
            }
        }
        Ok(())
    }

    /// Attention and MLP of a block, for `rows` of each piece, which lie back to back in the buffers.
    pub(super) fn rest_of_block(
        &self,
        layer: usize,
        slab: &[Piece],
        rows: &[Range<usize>],
        buffers: &mut Buffers,
    ) -> Result<(), BackendError> {
        let (spec, block) = (&self.spec.blocks[layer], &self.weights.blocks[layer]);
        if spec.delta.is_none() {
            self.attend(layer, slab, rows, buffers)?;
        }
        let Buffers { x, normed, attended, branch, mlp, quantized, inputs, gates, .. } = buffers;
        let normed = sized(normed, x.len());
        // Side by side, the MLP reads what is there before attention is added.
        let beside = matches!(spec.wiring, Wiring::Parallel | Wiring::ParallelTwoNorms);
        let mlp_norm = block.mlp_norm.as_ref().unwrap_or(&block.attention_norm);
        if beside {
            self.norm(x, mlp_norm, normed);
        }
        let output = |out: &mut [f32], mode| {
            let output = Linear { weights: &block.output, bias: block.output_bias.as_deref(), mode };
            linear(&self.pool, &self.kernels, output, attended, out, quantized);
        };
        self.add(spec, block.attention_output_norm.as_ref(), (x, branch), output);
        match spec.wiring {
            Wiring::Parallel | Wiring::ParallelTwoNorms => {}
            Wiring::PreNorm | Wiring::Sandwich => self.norm(x, mlp_norm, normed),
            Wiring::PostNorm => {
                self.norm(x, &block.attention_norm, normed);
                x.copy_from_slice(normed);
            }
        }
        if let (Some(beside), Some(experts)) = (&block.beside, spec.beside) {
            let branch = sized(branch, x.len());
            self.mlp_and_experts((spec.mlp, experts), (&block.mlps[0], beside), (x, normed, branch), mlp, quantized);
            self.add_branch(spec, block.mlp_output_norm.as_ref(), x, branch);
        } else {
            let mlps = |out: &mut [f32], mode| self.mlps(spec.mlp, block, (normed, out, mode), mlp, quantized);
            self.add(spec, block.mlp_output_norm.as_ref(), (x, branch), mlps);
        }
        if spec.wiring == Wiring::PostNorm {
            self.norm(x, mlp_norm, normed);
            x.copy_from_slice(normed);
        }
        if let Some(input) = &block.input {
            let branch = sized(branch, x.len());
            self.read_input(layer, input, (x, inputs, branch), gates, quantized);
            self.add_branch(spec, Some(&input.norm), x, branch);
        }
        if let Some(scale) = block.output_scale {
            for x in x.iter_mut() {
                *x *= scale;
            }
        }
        Ok(())
    }

    /// Attention of a block, for `rows` of each piece, which lie back to back in the buffers, and its gate.
    fn attend(
        &self,
        layer: usize,
        slab: &[Piece],
        rows: &[Range<usize>],
        buffers: &mut Buffers,
    ) -> Result<(), BackendError> {
        let [queries, keys, _] = self.qkv_widths(layer);
        let (count, stride) = (buffers.x.len() / self.spec.hidden, self.qkv_stride(layer));
        let spec = &self.spec.blocks[layer];
        let Buffers { qkv, attended, chunks, .. } = buffers;
        let mut views = Vec::with_capacity(slab.len());
        let mut before = 0;
        for ((piece, of), wanted) in pieces(slab).zip(rows) {
            let sequence = self.sequences.get(piece.seq)?;
            views.push(View {
                shared: sequence.shared.as_ref().map(|shared| (&*shared.region, shared.len)),
                own: &sequence.own,
                start: piece.start + wanted.start - of.start,
                rows: before..before + wanted.len(),
            });
            before += wanted.len();
        }
        let attended = sized(attended, count * queries);
        let attention = &spec.attention;
        Attention {
            pool: &self.pool,
            kernels: self.kernels,
            heads: self.spec.heads_of(layer),
            spec: attention,
            layer: self.first_layer + self.spec.keys_of(layer),
            sinks: self.weights.blocks[layer].sinks.as_deref(),
            scratch: &self.scratch,
        }
        .run(&views, qkv, stride, chunks, attended);
        if attention.gated {
            let gates = queries + 2 * keys;
            ops::for_rows(&self.pool, attended, queries, |row, out| {
                for (out, gate) in out.iter_mut().zip(&qkv[row * stride + gates..][..queries]) {
                    *out *= 1.0 / (1.0 + ops::exp(-gate));
                }
            });
        }
        Ok(())
    }

    /// Adds what `compute` makes to the residual stream, normalised and scaled where the block says so.
    fn add(
        &self,
        spec: &Block,
        norm: Option<&NormWeights<Vec<f32>>>,
        (x, branch): (&mut [f32], &mut Vec<f32>),
        compute: impl FnOnce(&mut [f32], Mode),
    ) {
        let scale = spec.residual_scale;
        if norm.is_none() && scale.to_bits() == 1.0f32.to_bits() {
            compute(x, Mode::Add);
            return;
        }
        let branch = sized(branch, x.len());
        compute(branch, Mode::Store);
        self.add_branch(spec, norm, x, branch);
    }

    /// Adds `branch` to the residual stream, normalised and scaled where the block says so.
    fn add_branch(&self, spec: &Block, norm: Option<&NormWeights<Vec<f32>>>, x: &mut [f32], branch: &mut [f32]) {
        let scale = spec.residual_scale;
        let width = self.spec.hidden;
        if let Some(norm) = norm {
            ops::for_rows(&self.pool, branch, width, |_, row| ops::norm_in_place(self.spec.norm, row, norm));
        }
        x.iter_mut().zip(branch).for_each(|(x, branch)| *x += scale * *branch);
    }

    /// Rows `[hidden]`, normalised.
    pub(super) fn norm(&self, x: &[f32], weights: &NormWeights<Vec<f32>>, out: &mut [f32]) {
        let width = self.spec.hidden;
        ops::for_rows(&self.pool, out, width, |row, out| {
            ops::norm(self.spec.norm, &x[row * width..(row + 1) * width], weights, out);
        });
    }
}

/// Keeps the given rows `[width]` of a buffer, in ascending order.
pub(super) fn compact(buffer: &mut Vec<f32>, width: usize, keep: &[Range<usize>]) {
    let mut to = 0;
    for rows in keep {
        buffer.copy_within(rows.start * width..rows.end * width, to * width);
        to += rows.len();
    }
    buffer.truncate(to * width);
}
