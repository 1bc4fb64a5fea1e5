//! One slab of rows through all layers: the twin of `cpu/pass.rs`, as launches.

use std::sync::Arc;

use super::CudaNetwork;
use super::beside::Streams;
use super::delta::DeltaBuffers;
use super::experts::{Choices, Router, experts};
use super::gates::{SharedBuffers, shared_expert};
use super::gpu::Buffer;
use super::kernels::{self, Patch, Pointer};
use super::plan::{Attended, Plan};
use super::products::{linear, mlp};
use super::queue::Queue;
use super::work::Work;
use crate::backend::slabs::Piece;
use crate::backend::weights::NormWeights;
use crate::backend::{BackendError, Wanted};
use crate::model::spec::{Block, Heads, Mlp, NormKind, Wiring};

/// Working memory of a pass.
pub struct Buffers {
    /// The residual stream `[rows, hidden]`, and the rows of it that are wanted.
    pub(super) x: Work,
    kept: Work,
    pub(super) normed: Work,
    /// Rows of the embedding's width, where it isn't `hidden`.
    narrow: Work,
    /// Query, key and value, and what is projected with them, a gate maybe.
    pub(super) qkv: Work,
    kept_qkv: Work,
    pub(super) attended: Work,
    /// Outcomes of attention over chunks of positions.
    pub(super) sums: Work,
    pub(super) norms: Work,
    branch: Work,
    up: Work,
    activated: Work,
    choices: Choices,
    /// Of gated delta nets.
    pub(super) delta: DeltaBuffers,
    /// Of experts that all rows take.
    shared: SharedBuffers,
    /// The sum of experts beside an MLP `[rows, hidden]`.
    beside: Work,
    /// Inputs of blocks `[rows, blocks * width]`, and those of the rows that are wanted.
    pub(super) inputs: Work,
    kept_inputs: Work,
}

impl Buffers {
    /// None yet.
    pub fn new(queue: &Arc<Queue>) -> Self {
        let work = || Work::new(queue);
        Self {
            x: work(),
            kept: work(),
            normed: work(),
            narrow: work(),
            qkv: work(),
            kept_qkv: work(),
            attended: work(),
            sums: work(),
            norms: work(),
            branch: work(),
            up: work(),
            activated: work(),
            choices: Choices::new(queue),
            delta: DeltaBuffers::new(queue),
            shared: SharedBuffers::new(queue),
            beside: work(),
            inputs: work(),
            kept_inputs: work(),
        }
    }

    /// Rows that are wanted change places with all.
    fn swap_kept(&mut self) {
        std::mem::swap(&mut self.x, &mut self.kept);
        std::mem::swap(&mut self.qkv, &mut self.kept_qkv);
        std::mem::swap(&mut self.delta.read, &mut self.delta.kept_read);
        std::mem::swap(&mut self.inputs, &mut self.kept_inputs);
    }
}

impl CudaNetwork {
    /// Asks for a slab and stores its K/V; logits of the wanted rows, or what the head reads of them, go to
    /// `to`.
    pub(super) fn pass(
        &mut self,
        slab: &[Piece],
        (tokens, patches): (&[u32], &[Patch]),
        (want, to): (Wanted, Pointer),
    ) -> Result<(), BackendError> {
        let plan = self.plan(slab, tokens, patches)?;
        self.embed(&plan)?;
        self.layer_inputs(&plan)?;
        let last = self.spec.blocks.len() - 1;
        for layer in 0..last {
            self.project(layer, &plan)?;
            self.rest_of_block(layer, &plan, &plan.all)?;
        }
        self.project(last, &plan)?;
        if plan.wanted.rows == 0 {
            return Ok(());
        }
        // Of the last layer only K/V is needed for rows without logits.
        if plan.all_wanted {
            return self.last_block(last, &plan, (want, to));
        }
        let (width, inputs_width) = (self.qkv_stride(last), self.inputs_width());
        let read_width = self.spec.blocks[last].delta.map_or(0, |net| net.values());
        let Buffers { x, kept, qkv, kept_qkv, inputs, kept_inputs, delta, .. } = &mut self.buffers;
        let DeltaBuffers { read, kept_read, .. } = delta;
        let gathered = [
            (x, kept, self.spec.hidden),
            (qkv, kept_qkv, width),
            (inputs, kept_inputs, inputs_width),
            (read, kept_read, read_width),
        ];
        for (from, to, width) in gathered.into_iter().filter(|(_, _, width)| *width > 0) {
            let out = to.floats(plan.wanted.rows * width)?;
            let params =
                kernels::GatherRows { x: from.floats(0)?, rows: plan.kept, out, width: width as i32, padding: 0 };
            self.queue.launch(&kernels::GATHER_ROWS, [plan.wanted.rows, 1, 1], 0, params);
        }
        self.buffers.swap_kept();
        let done = self.last_block(last, &plan, (want, to));
        // The next pass finds them where this one did.
        self.buffers.swap_kept();
        done
    }

    /// The last block and the head, for the wanted rows.
    fn last_block(&mut self, layer: usize, plan: &Plan, (want, to): (Wanted, Pointer)) -> Result<(), BackendError> {
        self.rest_of_block(layer, plan, &plan.wanted)?;
        self.head(plan.wanted.rows, want, to)
    }

    /// Floats between rows of query, key and value: with what is projected with them.
    pub(super) fn qkv_stride(&self, layer: usize) -> usize {
        self.weights.blocks[layer].qkv.outputs
    }

    /// Tokens and positions as rows of the residual stream.
    fn embed(&mut self, plan: &Plan) -> Result<(), BackendError> {
        let (embedding, hidden) = (self.spec.embedding, self.spec.hidden);
        let (patches, count) = plan.patches;
        if count > 0 {
            let params = kernels::PlaceTokens { patches, tokens: plan.tokens, count: count as i32, padding: 0 };
            self.queue.launch(&kernels::PLACE_TOKENS, [count.div_ceil(128), 1, 1], 0, params);
        }
        let Buffers { x, narrow, .. } = &mut self.buffers;
        let x = x.floats(plan.rows * hidden)?;
        let out = if embedding.width == hidden { x } else { narrow.floats(plan.rows * embedding.width)? };
        // One tensor is one piece.
        let table = self.weights.embedding.pieces[0].there(0);
        let params = kernels::EmbedTokens { table, tokens: plan.tokens, out, scale: embedding.scale, padding: 0 };
        self.queue.launch(&kernels::EMBED_TOKENS, [plan.rows, 1, 1], 0, params);
        if let Some([there, _]) = &self.weights.projections {
            linear(&self.queue, (there, None), (out, x), plan.rows, false);
        }
        if let (Some(offset), Some(table)) = (embedding.positions, &self.weights.positions) {
            let (offset, width) = (offset as i32, hidden as i32);
            let (spans, row_spans) = (plan.spans, plan.row_spans);
            let params = kernels::AddPositions { table: table.at(), x, spans, row_spans, offset, width };
            self.queue.launch(&kernels::ADD_POSITIONS, [plan.rows, 1, 1], 0, params);
        }
        Ok(())
    }

    /// Norms of `per_row` parts of the rows, each of this width.
    pub(super) fn norm(
        &self,
        (weights, width): (Option<&NormWeights<Buffer>>, usize),
        (x, x_stride): (Pointer, usize),
        (out, out_stride): (Pointer, usize),
        (rows, per_row): (usize, usize),
    ) {
        let params = kernels::NormRows {
            x,
            out,
            weight: weights.map_or(0, |weights| weights.weight.at()),
            bias: weights.and_then(|weights| weights.bias.as_ref()).map_or(0, Buffer::at),
            x_stride: x_stride as i32,
            out_stride: out_stride as i32,
            per_row: per_row as i32,
            width: width as i32,
            eps: self.spec.norm.eps,
            centred: i32::from(weights.is_some() && self.spec.norm.kind == NormKind::Layer),
        };
        self.queue.launch(&kernels::NORM_ROWS, [rows * per_row, 1, 1], 128, params);
    }

    /// The norm of whole rows of the residual stream.
    pub(super) fn norm_rows(&self, weights: &NormWeights<Buffer>, x: Pointer, out: Pointer, rows: usize) {
        let hidden = self.spec.hidden;
        self.norm((Some(weights), hidden), (x, hidden), (out, hidden), (rows, 1));
    }

    /// Norm, query, key and value of a block; stores key and value.
    fn project(&mut self, layer: usize, plan: &Plan) -> Result<(), BackendError> {
        if let Some(net) = self.spec.blocks[layer].delta {
            return self.project_delta((layer, net), plan);
        }
        let (Heads { query, kv, dim }, hidden) = (self.spec.made_heads(layer), self.spec.hidden);
        let width = self.qkv_stride(layer);
        let Buffers { x, normed, qkv, .. } = &mut self.buffers;
        let (x, normed) = (x.floats(plan.rows * hidden)?, normed.floats(plan.rows * hidden)?);
        let qkv = qkv.floats(plan.rows * width)?;
        let (spec, block) = (&self.spec.blocks[layer], &self.weights.blocks[layer]);
        let mut input = x;
        if spec.wiring != Wiring::PostNorm {
            self.norm_rows(&block.attention_norm, x, normed, plan.rows);
            input = normed;
        }
        linear(&self.queue, (&block.qkv, block.qkv_bias.as_ref()), (input, qkv), plan.rows, false);
        let norm = |weights, first: usize, heads| {
            let of_row = (qkv + (first * dim * size_of::<f32>()) as u64, width);
            if heads > 0 {
                self.norm((weights, dim), of_row, of_row, (plan.rows, heads));
            }
        };
        if let Some((queries, keys)) = &block.qk_norm {
            norm(Some(queries), 0, query);
            norm(Some(keys), query, kv);
        }
        if spec.attention.value_norm {
            norm(None, query + kv, kv);
        }
        let rotation = self.rotations.of(layer);
        let params = kernels::RotaryStore {
            qkv,
            table: rotation.table,
            growth: rotation.growth,
            spans: plan.spans,
            row_spans: plan.row_spans,
            heads: query as i32,
            kv_heads: kv as i32,
            dim: dim as i32,
            pairs: rotation.pairs as i32,
            interleaved: i32::from(rotation.interleaved),
            before: self.sequences.regions.before(layer) as i32,
            stride: width as i32,
            padding: 0,
        };
        self.queue.launch(&kernels::ROTARY_STORE, [plan.rows, query + kv, 1], 0, params);
        Ok(())
    }

    /// Attention and MLP of a block, for rows that lie back to back in the buffers.
    fn rest_of_block(&mut self, layer: usize, plan: &Plan, rows: &Attended) -> Result<(), BackendError> {
        let attended = self.attend(layer, plan.spans, rows)?;
        let (count, hidden) = (rows.rows, self.spec.hidden);
        let (spec, block) = (&self.spec.blocks[layer], &self.weights.blocks[layer]);
        let Buffers { x, normed, branch, up, activated, choices, beside, inputs, shared, .. } = &mut self.buffers;
        let (x, normed, branch) =
            (x.floats(count * hidden)?, normed.floats(count * hidden)?, branch.floats(count * hidden)?);
        let sums = if spec.beside.is_some() { beside.floats(count * hidden)? } else { 0 };
        let inputs = inputs.at().unwrap_or(0);
        let mixture = spec.mlp.experts.or(spec.beside.and_then(|mlp| mlp.experts));
        let room = mixture.map(|mixture| choices.room(mixture, count, hidden)).transpose()?;
        let places = room.as_ref().map_or(0, |room| room.size);
        let inner = |mlp: Mlp| mlp.intermediate * if mlp.experts.is_some() { places } else { count };
        let gates = self.spec.layer_inputs.map_or(0, |inputs| count * inputs.width);
        let inner = inner(spec.mlp).max(spec.beside.map_or(0, inner)).max(gates);
        let between = (up.floats(2 * inner)?, activated.floats(inner)?);
        let shared = spec.mlp.experts.and_then(|mixture| mixture.shared).map(|inner| shared.room(count, inner, hidden));
        let shared = shared.transpose()?;

        // Side by side, the MLP reads what is there before attention is added.
        let beside = matches!(spec.wiring, Wiring::Parallel | Wiring::ParallelTwoNorms);
        let mlp_norm = block.mlp_norm.as_ref().unwrap_or(&block.attention_norm);
        if beside {
            self.norm_rows(mlp_norm, x, normed, count);
        }
        let output = (&block.output, block.output_bias.as_ref());
        self.add((spec, block.attention_output_norm.as_ref()), (x, branch), count, |to, add| {
            linear(&self.queue, output, (attended, to), count, add);
        });
        let mut input = normed;
        match spec.wiring {
            Wiring::Parallel | Wiring::ParallelTwoNorms => {}
            Wiring::PreNorm | Wiring::Sandwich => self.norm_rows(mlp_norm, x, normed, count),
            Wiring::PostNorm => {
                self.norm_rows(&block.attention_norm, x, x, count);
                input = x;
            }
        }
        let mlp_add = (spec, block.mlp_output_norm.as_ref());
        let mixture = self.experts[layer].as_ref().zip(room.as_ref());
        if let (Some(weights), Some(of_experts), Some(mixture)) = (&block.beside, spec.beside, mixture) {
            let streams = Streams { x, normed, out: branch, sums };
            let (specs, weights) = ((spec.mlp, of_experts), (&block.mlps[0], weights));
            self.mlp_and_experts(specs, weights, mixture, between, &streams, rows);
            self.add_branch(mlp_add, (x, branch), count);
        } else {
            self.add(mlp_add, (x, branch), count, |to, add| match (&block.router, mixture) {
                (Some(weights), Some(mixture)) => {
                    let router = Router { weights, bias: block.router_bias.as_ref(), factors: None };
                    router.choose(&self.queue, mixture.1, input, rows);
                    experts(&self.queue, spec.mlp, mixture, between, (input, to), (count, add));
                    if let (Some(weights), Some(room)) = (&block.shared, &shared) {
                        shared_expert(&self.queue, spec.mlp, weights, room, (input, to), count);
                    }
                }
                _ => mlp(&self.queue, spec.mlp, &block.mlps[0], between, (input, to), (count, add)),
            });
        }
        if spec.wiring == Wiring::PostNorm {
            self.norm_rows(mlp_norm, x, x, count);
        }
        if let Some(weights) = &block.input {
            self.read_input((layer, weights), (x, inputs, branch), between, count);
            self.add_branch((spec, Some(&weights.norm)), (x, branch), count);
        }
        if let Some(scale) = block.output_scale {
            self.scale((x, count * hidden), (scale, None));
        }
        Ok(())
    }

    /// Adds what `compute` makes to the residual stream, normalised and scaled where the block says so.
    fn add(
        &self,
        (spec, norm): (&Block, Option<&NormWeights<Buffer>>),
        (x, branch): (Pointer, Pointer),
        rows: usize,
        compute: impl FnOnce(Pointer, bool),
    ) {
        let scale = spec.residual_scale;
        if norm.is_none() && scale.to_bits() == 1.0f32.to_bits() {
            return compute(x, true);
        }
        compute(branch, false);
        self.add_branch((spec, norm), (x, branch), rows);
    }

    /// Adds `branch` to the residual stream, normalised and scaled where the block says so.
    fn add_branch(
        &self,
        (spec, norm): (&Block, Option<&NormWeights<Buffer>>),
        (x, branch): (Pointer, Pointer),
        rows: usize,
    ) {
        if let Some(norm) = norm {
            self.norm_rows(norm, branch, branch, rows);
        }
        self.add_scaled(branch, x, rows, spec.residual_scale);
    }

    /// `x += scale * branch`, both `[rows, hidden]`.
    pub(super) fn add_scaled(&self, branch: Pointer, x: Pointer, rows: usize, scale: f32) {
        let len = rows * self.spec.hidden;
        let params = kernels::AddScaled { branch, x, len: len as u64, scale, padding: 0 };
        self.queue.launch(&kernels::ADD_SCALED, [len.div_ceil(256), 1, 1], 0, params);
    }

    /// `x *= scale` of so many values, which a cap may then keep inside of it.
    pub(super) fn scale(&self, (x, len): (Pointer, usize), (scale, soft_cap): (f32, Option<f32>)) {
        if scale.to_bits() == 1.0f32.to_bits() && soft_cap.is_none() {
            return;
        }
        let params = kernels::ScaleValues { x, len: len as u64, scale, soft_cap: soft_cap.unwrap_or(0.0) };
        self.queue.launch(&kernels::SCALE_VALUES, [len.div_ceil(256), 1, 1], 0, params);
    }

    /// Logits of the rows in `x`, or what the head reads, to `to`.
    fn head(&mut self, rows: usize, want: Wanted, to: Pointer) -> Result<(), BackendError> {
        let (hidden, width, vocab) = (self.spec.hidden, self.spec.embedding.width, self.spec.vocab_size);
        let Buffers { x, normed, narrow, .. } = &mut self.buffers;
        let (mut input, normed) = (x.floats(rows * hidden)?, normed.floats(rows * hidden)?);
        let narrow = narrow.floats(rows * width)?;
        if let Some(norm) = &self.weights.final_norm {
            self.norm_rows(norm, input, normed, rows);
            input = normed;
        }
        if let Some([_, back]) = &self.weights.projections {
            linear(&self.queue, (back, None), (input, narrow), rows, false);
            input = narrow;
        }
        if want == Wanted::Hidden {
            self.queue.copy(input, to, rows * width * size_of::<f32>());
            return Ok(());
        }
        let weights = self.weights.head();
        linear(&self.queue, (weights, self.weights.head_bias.as_ref()), (input, to), rows, false);
        self.scale((to, rows * vocab), (self.spec.head.scale, self.spec.head.soft_cap));
        Ok(())
    }
}
