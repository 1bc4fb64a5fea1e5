//! One slab of rows through all layers.

use std::ops::Range;

use super::CpuNetwork;
use super::attention::{Attention, View};
use super::gemm::{Linear, Mode, linear};
use super::kv::Region;
use super::load::BlockWeights;
use super::ops;
use super::quantized::InputBlock;
use crate::backend::{BackendError, SeqId, Wanted};
use crate::model::spec::{Activation, Norm, Wiring};

/// Consecutive rows of one sequence in a slab.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The sequence.
    pub seq: SeqId,
    /// Where K/V of the first row is stored: its position, unless it is a node of a tree.
    pub start: usize,
    /// Number of the first row in the whole pass.
    pub row: usize,
    /// Number of rows.
    pub len: usize,
    /// How many of the last ones need logits, or hidden states.
    pub wanted: usize,
}

/// A row of a tree.
pub struct Node {
    /// Position of the tree's roots.
    pub begins: usize,
    /// Where, in the sequence's own region, K/V of the rows from the root to this one is stored.
    pub path: Vec<usize>,
    /// K/V of these rows back to back, of the layer that is being computed.
    pub region: Region,
}

impl Node {
    fn position(&self) -> usize {
        self.begins + self.path.len() - 1
    }
}

/// Working memory of a pass; grows to the largest slab.
#[derive(Default)]
pub struct Buffers {
    /// The residual stream `[rows, hidden]`.
    x: Vec<f32>,
    /// Normalised rows `[rows, hidden]`.
    normed: Vec<f32>,
    /// Query, key and value `[rows, (heads + 2 * kv_heads) * head_dim]`.
    qkv: Vec<f32>,
    /// Result of attention `[rows, heads * head_dim]`.
    attended: Vec<f32>,
    /// Working memory of attention.
    chunks: Vec<f32>,
    /// `[rows, 2 * intermediate]`.
    gate_up: Vec<f32>,
    /// `[rows, intermediate]`.
    activated: Vec<f32>,
    /// Inputs of a product with quantised weights.
    quantized: Vec<InputBlock>,
}

/// A buffer of exactly `len` floats, whatever they hold.
fn sized(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    buffer.resize(len, 0.0);
    buffer
}

impl CpuNetwork {
    /// Runs a slab, stores its K/V and appends what is wanted of its rows.
    pub(super) fn pass(&mut self, slab: &[Piece], tokens: &[u32], want: Wanted) -> Result<(), BackendError> {
        // The only wiring there is; a second one makes this a branch.
        let Wiring::SequentialPreNorm = self.spec.wiring;
        let mut buffers = std::mem::take(&mut self.buffers);
        let result = self.layers(slab, tokens, &mut buffers);
        let wanted: usize = slab.iter().map(|piece| piece.wanted).sum();
        if result.is_ok() && wanted > 0 {
            let normed = sized(&mut buffers.normed, wanted * self.spec.hidden);
            self.norm(&buffers.x, &self.weights.final_norm, normed);
            if want == Wanted::Hidden {
                self.hidden.extend_from_slice(normed);
            } else {
                let vocab = self.spec.vocab_size;
                let logits = &mut self.logits[self.held * vocab..(self.held + wanted) * vocab];
                let head = self.weights.head.as_ref().unwrap_or(&self.weights.embedding);
                let head = Linear { weights: head, bias: None, mode: Mode::Store };
                linear(&self.pool, &self.kernels, head, normed, logits, &mut buffers.quantized);
                self.held += wanted;
            }
        }
        self.buffers = buffers;
        result
    }

    /// Runs all layers. Afterwards `buffers.x` holds the wanted rows, back to back.
    fn layers(&mut self, slab: &[Piece], tokens: &[u32], buffers: &mut Buffers) -> Result<(), BackendError> {
        let hidden = self.spec.hidden;
        let x = sized(&mut buffers.x, tokens.len() * hidden);
        for (&token, x) in tokens.iter().zip(x.chunks_exact_mut(hidden)) {
            self.weights.embedding.output(token as usize, x);
        }
        let all: Vec<Range<usize>> = pieces(slab).map(|(_, rows)| rows).collect();
        for layer in 0..self.spec.layers {
            self.project(layer, slab, buffers)?;
            self.gather_paths(layer, slab)?;
            if layer + 1 < self.spec.layers {
                self.rest_of_block(layer, slab, &all, buffers)?;
                continue;
            }
            // Of the last layer only K/V is needed for rows without logits.
            let wanted: Vec<Range<usize>> =
                pieces(slab).map(|(piece, rows)| rows.end - piece.wanted..rows.end).collect();
            let queries = self.spec.attention.heads * self.spec.attention.head_dim;
            let stride = queries + 2 * self.spec.attention.kv_heads * self.spec.attention.head_dim;
            compact(&mut buffers.x, hidden, &wanted);
            compact(&mut buffers.qkv, stride, &wanted);
            if !buffers.x.is_empty() {
                self.rest_of_block(layer, slab, &wanted, buffers)?;
            }
        }
        Ok(())
    }

    /// Collects K/V of a layer along the path to each node of a tree.
    fn gather_paths(&mut self, layer: usize, slab: &[Piece]) -> Result<(), BackendError> {
        for piece in slab {
            let own = &self.sequences.get(piece.seq)?.own;
            for node in self.nodes.iter_mut().skip(piece.row).take(piece.len) {
                for (to, &from) in node.path.iter().enumerate() {
                    let (key, value) = own.load(layer, from);
                    node.region.store(0, to, &key, &value);
                }
            }
        }
        Ok(())
    }

    fn position(&self, piece: &Piece, row: usize) -> usize {
        self.nodes.get(piece.row + row).map_or(piece.start + row, Node::position)
    }

    /// Norm, query, key and value of a block; stores key and value.
    fn project(&mut self, layer: usize, slab: &[Piece], buffers: &mut Buffers) -> Result<(), BackendError> {
        let attention = self.spec.attention;
        let width = attention.head_dim;
        let (queries, keys) = (attention.heads * width, attention.kv_heads * width);
        let stride = queries + 2 * keys;
        let block = &self.weights.blocks[layer];
        let rows = buffers.x.len() / self.spec.hidden;
        let normed = sized(&mut buffers.normed, buffers.x.len());
        self.norm(&buffers.x, &block.attention_norm, normed);
        let qkv = sized(&mut buffers.qkv, rows * stride);
        let layer_qkv = Linear { weights: &block.qkv, bias: block.qkv_bias.as_deref(), mode: Mode::Store };
        linear(&self.pool, &self.kernels, layer_qkv, normed, qkv, &mut buffers.quantized);

        let positions: Vec<usize> =
            slab.iter().flat_map(|piece| (0..piece.len).map(|row| self.position(piece, row))).collect();
        ops::for_rows(&self.pool, qkv, stride, |row, qkv| {
            for (head, values) in qkv[..queries + keys].chunks_exact_mut(width).enumerate() {
                if let Some((query_norm, key_norm)) = &block.qk_norm {
                    let Norm::Rms { eps } = self.spec.norm;
                    let weight = if head < attention.heads { query_norm } else { key_norm };
                    ops::rms_norm_in_place(values, weight, eps);
                }
                self.rotary.rotate(positions[row], values);
            }
        });
        for (piece, rows) in pieces(slab) {
            for (row, place) in rows.zip(piece.start..) {
                let (key, value) = qkv[row * stride + queries..(row + 1) * stride].split_at(keys);
                self.sequences.store(piece.seq, layer, place, (key, value))?;
            }
        }
        Ok(())
    }

    /// Attention and MLP of a block, for `rows` of each piece, which lie back to back in the buffers.
    fn rest_of_block(
        &self,
        layer: usize,
        slab: &[Piece],
        rows: &[Range<usize>],
        buffers: &mut Buffers,
    ) -> Result<(), BackendError> {
        let attention = self.spec.attention;
        let queries = attention.heads * attention.head_dim;
        let stride = queries + 2 * attention.kv_heads * attention.head_dim;
        let count = buffers.x.len() / self.spec.hidden;
        let block = &self.weights.blocks[layer];
        let Buffers { x, normed, qkv, attended, chunks, gate_up, activated, quantized } = buffers;

        let mut views = Vec::with_capacity(slab.len());
        let mut before = 0;
        for ((piece, of), wanted) in pieces(slab).zip(rows) {
            let sequence = self.sequences.get(piece.seq)?;
            // The rows of a chain are seen together, every node of a tree along its own path.
            let together = if self.nodes.is_empty() { wanted.len().max(1) } else { 1 };
            for row in wanted.clone().step_by(together) {
                let row = row - of.start;
                views.push(View {
                    shared: sequence.shared.as_ref().map(|shared| (&*shared.region, shared.len)),
                    own: &sequence.own,
                    path: self.nodes.get(piece.row + row).map(|node| (&node.region, node.begins)),
                    start: self.position(piece, row),
                    rows: before..before + together,
                });
                before += together;
            }
        }
        let attended = sized(attended, count * queries);
        Attention { pool: &self.pool, kernels: self.kernels, spec: attention, layer, scratch: &self.scratch }
            .run(&views, qkv, stride, chunks, attended);
        let output = Linear { weights: &block.output, bias: block.output_bias.as_deref(), mode: Mode::Add };
        linear(&self.pool, &self.kernels, output, attended, x, quantized);

        let normed = sized(normed, x.len());
        self.norm(x, &block.mlp_norm, normed);
        let gate_up = sized(gate_up, count * 2 * self.spec.mlp.intermediate);
        self.mlp(block, normed, (gate_up, activated, quantized), x);
        Ok(())
    }

    fn mlp(
        &self,
        block: &BlockWeights,
        normed: &[f32],
        (gate_up, activated, quantized): (&mut [f32], &mut Vec<f32>, &mut Vec<InputBlock>),
        x: &mut [f32],
    ) {
        let inner = self.spec.mlp.intermediate;
        let layer = Linear { weights: &block.gate_up, bias: block.gate_up_bias.as_deref(), mode: Mode::Store };
        linear(&self.pool, &self.kernels, layer, normed, gate_up, quantized);
        let activated = sized(activated, gate_up.len() / 2);
        let Activation::Silu = self.spec.mlp.activation;
        ops::for_rows(&self.pool, activated, inner, |row, out| {
            self.kernels.silu_gate(&gate_up[row * 2 * inner..(row + 1) * 2 * inner], out);
        });
        let down = Linear { weights: &block.down, bias: block.down_bias.as_deref(), mode: Mode::Add };
        linear(&self.pool, &self.kernels, down, activated, x, quantized);
    }

    fn norm(&self, x: &[f32], weight: &[f32], out: &mut [f32]) {
        let Norm::Rms { eps } = self.spec.norm;
        let width = self.spec.hidden;
        ops::for_rows(&self.pool, out, width, |row, out| {
            ops::rms_norm(&x[row * width..(row + 1) * width], weight, eps, out);
        });
    }
}

/// The pieces of a slab with their rows.
fn pieces(slab: &[Piece]) -> impl Iterator<Item = (&Piece, Range<usize>)> {
    slab.iter().scan(0, |end, piece| {
        *end += piece.len;
        Some((piece, *end - piece.len..*end))
    })
}

/// Keeps the given rows `[width]` of a buffer, in ascending order.
fn compact(buffer: &mut Vec<f32>, width: usize, keep: &[Range<usize>]) {
    let mut to = 0;
    for rows in keep {
        buffer.copy_within(rows.start * width..rows.end * width, to * width);
        to += rows.len();
    }
    buffer.truncate(to * width);
}
