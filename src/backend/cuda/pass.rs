//! One slab of rows through all layers: the twin of `cpu/pass.rs`, as launches.

use std::sync::Arc;

use super::CudaNetwork;
use super::delta::DeltaBuffers;
use super::experts::{Choices, experts};
use super::gates::{SharedBuffers, gate_rows, shared_expert};
use super::gpu::Buffer;
use super::kernels::{self, Patch, Pointer};
use super::plan::{Attended, Plan};
use super::products::{linear, mlp};
use super::queue::Queue;
use crate::backend::plain::Plain;
use crate::backend::slabs::Piece;
use crate::backend::weights::NormWeights;
use crate::backend::{BackendError, Wanted};
use crate::model::spec::{Block, Heads, Mlp, NormKind, Wiring};

/// Working memory that grows to what is asked for.
pub struct Work {
    queue: Arc<Queue>,
    memory: Option<Buffer>,
}

impl Work {
    /// None yet.
    pub fn new(queue: &Arc<Queue>) -> Self {
        Self { queue: Arc::clone(queue), memory: None }
    }

    /// Where `len` floats are, which hold anything.
    pub fn floats(&mut self, len: usize) -> Result<Pointer, BackendError> {
        self.bytes(len * size_of::<f32>())
    }

    /// Where so many bytes are.
    pub fn bytes(&mut self, bytes: usize) -> Result<Pointer, BackendError> {
        match &self.memory {
            Some(memory) if memory.bytes() >= bytes => Ok(memory.at()),
            _ => {
                if let Some(small) = self.memory.take() {
                    self.queue.retire(small);
                }
                Ok(self.memory.insert(self.queue.alloc(bytes)?).at())
            }
        }
    }

    /// Writes into new memory, at once.
    pub fn replace(&mut self, bytes: &[u8]) -> Result<(), BackendError> {
        if let Some(old) = self.memory.take() {
            self.queue.retire(old);
        }
        self.memory.insert(self.queue.alloc(bytes.len())?).write(0, bytes)
    }

    /// Where it is, if there is any.
    pub fn at(&self) -> Option<Pointer> {
        self.memory.as_ref().map(Buffer::at)
    }

    /// Reads values from the beginning.
    pub fn read<T: Plain>(&self, values: &mut [T]) -> Result<(), BackendError> {
        self.memory.as_ref().map_or(Ok(()), |memory| memory.read(0, values))
    }
}

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
    sums: Work,
    norms: Work,
    branch: Work,
    up: Work,
    activated: Work,
    choices: Choices,
    /// Of gated delta nets.
    pub(super) delta: DeltaBuffers,
    /// Of experts that all rows take.
    shared: SharedBuffers,
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
        }
    }

    /// Rows that are wanted change places with all.
    fn swap_kept(&mut self) {
        std::mem::swap(&mut self.x, &mut self.kept);
        std::mem::swap(&mut self.qkv, &mut self.kept_qkv);
        std::mem::swap(&mut self.delta.read, &mut self.delta.kept_read);
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
        let (width, delta) = (self.qkv_stride(last), self.spec.blocks[last].delta);
        let Buffers { x, kept, qkv, kept_qkv, delta: DeltaBuffers { read, kept_read, .. }, .. } = &mut self.buffers;
        let read = delta.map(|net| (read, kept_read, net.values()));
        for (from, to, width) in [(x, kept, self.spec.hidden), (qkv, kept_qkv, width)].into_iter().chain(read) {
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

    /// Norms of `per_row` parts of the rows, as wide as the weights.
    fn norm(
        &self,
        weights: &NormWeights<Buffer>,
        (x, x_stride): (Pointer, usize),
        (out, out_stride): (Pointer, usize),
        (rows, per_row): (usize, usize),
    ) {
        let params = kernels::NormRows {
            x,
            out,
            weight: weights.weight.at(),
            bias: weights.bias.as_ref().map_or(0, Buffer::at),
            x_stride: x_stride as i32,
            out_stride: out_stride as i32,
            per_row: per_row as i32,
            width: (weights.weight.bytes() / size_of::<f32>()) as i32,
            eps: self.spec.norm.eps,
            centred: i32::from(self.spec.norm.kind == NormKind::Layer),
        };
        self.queue.launch(&kernels::NORM_ROWS, [rows * per_row, 1, 1], 128, params);
    }

    /// The norm of whole rows of the residual stream.
    pub(super) fn norm_rows(&self, weights: &NormWeights<Buffer>, x: Pointer, out: Pointer, rows: usize) {
        let hidden = self.spec.hidden;
        self.norm(weights, (x, hidden), (out, hidden), (rows, 1));
    }

    /// Norm, query, key and value of a block; stores key and value.
    fn project(&mut self, layer: usize, plan: &Plan) -> Result<(), BackendError> {
        if let Some(net) = self.spec.blocks[layer].delta {
            return self.project_delta((layer, net), plan);
        }
        let (Heads { query, kv, dim }, hidden, width) = (self.spec.heads, self.spec.hidden, self.qkv_stride(layer));
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
        if let Some((queries, keys)) = &block.qk_norm {
            let first_key = qkv + (query * dim * size_of::<f32>()) as u64;
            self.norm(queries, (qkv, width), (qkv, width), (plan.rows, query));
            self.norm(keys, (first_key, width), (first_key, width), (plan.rows, kv));
        }
        let rotation = self.rotations.of(layer);
        let params = kernels::RotaryStore {
            qkv,
            table: rotation.map_or(0, |rotation| rotation.table),
            spans: plan.spans,
            row_spans: plan.row_spans,
            heads: query as i32,
            kv_heads: kv as i32,
            dim: dim as i32,
            pairs: rotation.map_or(0, |rotation| rotation.pairs as i32),
            interleaved: rotation.map_or(0, |rotation| i32::from(rotation.interleaved)),
            layer: self.kv_layer(layer),
            stride: width as i32,
            padding: 0,
        };
        self.queue.launch(&kernels::ROTARY_STORE, [plan.rows, 1, 1], 0, params);
        Ok(())
    }

    /// Layer of the K/V of a block: gated delta nets have none.
    fn kv_layer(&self, layer: usize) -> i32 {
        (layer - self.spec.delta_nets_before(layer)) as i32
    }

    /// Attention of the rows, whose queries lie back to back, and its gate.
    fn attend(&mut self, layer: usize, spans: Pointer, rows: &Attended) -> Result<Pointer, BackendError> {
        if let Some(net) = self.spec.blocks[layer].delta {
            return self.gate_delta((layer, net), rows);
        }
        let (heads, width, kv_layer) = (self.spec.heads, self.qkv_stride(layer), self.kv_layer(layer));
        let attention = &self.spec.blocks[layer].attention;
        let Buffers { qkv, attended, sums, norms, .. } = &mut self.buffers;
        let values = rows.rows * heads.query;
        let (sums, norms) = (sums.floats(rows.chunks * values * heads.dim)?, norms.floats(rows.chunks * values * 2)?);
        let (qkv, out) = (qkv.floats(0)?, attended.floats(values * heads.dim)?);
        let window = attention.window.map_or(0, |window| window.min(i32::MAX as usize) as i32);
        let params = kernels::AttentionChunk {
            qkv,
            sums,
            norms,
            spans,
            tiles: rows.tiles,
            q_stride: width as i32,
            layer: kv_layer,
            kv_heads: heads.kv as i32,
            group: (heads.query / heads.kv) as i32,
            dim: heads.dim as i32,
            rows: rows.rows as i32,
            window,
            scale: attention.scale,
            soft_cap: attention.soft_cap.unwrap_or(0.0),
            padded: 0,
        };
        let memory = kernels::attention_memory(rows.queries, heads.dim);
        self.queue.launch(&kernels::ATTENTION_CHUNK, [rows.tile_count, heads.kv, rows.chunks], memory, params);
        let params = kernels::AttentionMerge {
            sums,
            norms,
            positions: rows.positions,
            out,
            rows: rows.rows as i32,
            heads: heads.query as i32,
            dim: heads.dim as i32,
            window,
        };
        self.queue.launch(&kernels::ATTENTION_MERGE, [rows.rows, 1, 1], 0, params);
        if attention.gated {
            let gates = qkv + ((heads.query + 2 * heads.kv) * heads.dim * size_of::<f32>()) as u64;
            gate_rows(&self.queue, (gates, width), out, (rows.rows, heads.query * heads.dim));
        }
        Ok(out)
    }

    /// Attention and MLP of a block, for rows that lie back to back in the buffers.
    fn rest_of_block(&mut self, layer: usize, plan: &Plan, rows: &Attended) -> Result<(), BackendError> {
        let attended = self.attend(layer, plan.spans, rows)?;
        let (count, hidden) = (rows.rows, self.spec.hidden);
        let Mlp { intermediate, experts: mixture, .. } = self.spec.blocks[layer].mlp;
        let Buffers { x, normed, branch, up, activated, choices, shared, .. } = &mut self.buffers;
        let (x, normed, branch) =
            (x.floats(count * hidden)?, normed.floats(count * hidden)?, branch.floats(count * hidden)?);
        let room = mixture.map(|mixture| choices.room(mixture, count, hidden)).transpose()?;
        let inner = room.as_ref().map_or(count, |room| room.size);
        let between = (up.floats(inner * 2 * intermediate)?, activated.floats(inner * intermediate)?);
        let shared = mixture.and_then(|mixture| mixture.shared).map(|inner| shared.room(count, inner, hidden));
        let shared = shared.transpose()?;
        let (spec, block) = (&self.spec.blocks[layer], &self.weights.blocks[layer]);

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
        self.add((spec, block.mlp_output_norm.as_ref()), (x, branch), count, |to, add| {
            match (&block.router, &self.experts[layer], &room) {
                (Some(router), Some(tables), Some(room)) => {
                    experts(&self.queue, spec.mlp, (router, tables), room, between, (input, to), (rows, add));
                    if let (Some(weights), Some(room)) = (&block.shared, &shared) {
                        shared_expert(&self.queue, spec.mlp, weights, room, (input, to), count);
                    }
                }
                _ => mlp(&self.queue, spec.mlp, &block.mlps[0], between, (input, to), (count, add)),
            }
        });
        if spec.wiring == Wiring::PostNorm {
            self.norm_rows(mlp_norm, x, x, count);
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
        if let Some(norm) = norm {
            self.norm_rows(norm, branch, branch, rows);
        }
        let len = rows * self.spec.hidden;
        let params = kernels::AddScaled { branch, x, len: len as u64, scale, padding: 0 };
        self.queue.launch(&kernels::ADD_SCALED, [len.div_ceil(256), 1, 1], 0, params);
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
        let weights = self.weights.head.as_ref().unwrap_or(&self.weights.embedding);
        linear(&self.queue, (weights, self.weights.head_bias.as_ref()), (input, to), rows, false);
        let head = self.spec.head;
        if head.scale.to_bits() == 1.0f32.to_bits() && head.soft_cap.is_none() {
            return Ok(());
        }
        let len = rows * vocab;
        let soft_cap = head.soft_cap.unwrap_or(0.0);
        let params = kernels::ScaleLogits { logits: to, len: len as u64, scale: head.scale, soft_cap };
        self.queue.launch(&kernels::SCALE_LOGITS, [len.div_ceil(256), 1, 1], 0, params);
        Ok(())
    }
}
