//! Attention of a block, as launches of `kernels/attention.cu`.

use super::CudaNetwork;
use super::gates::gate_rows;
use super::gpu::Buffer;
use super::kernels::{self, Pointer};
use super::pass::Buffers;
use super::plan::{Attended, attention_room};
use crate::backend::BackendError;
use crate::backend::sequences::contract;

impl CudaNetwork {
    /// Attention of the rows, whose queries lie back to back, and its gate.
    pub(super) fn attend(&mut self, layer: usize, spans: Pointer, rows: &Attended) -> Result<Pointer, BackendError> {
        if let Some(net) = self.spec.blocks[layer].delta {
            return self.gate_delta((layer, net), rows);
        }
        let (heads, width) = (self.spec.heads_of(layer), self.qkv_stride(layer));
        let limit = self.tile_rows(heads);
        let Some(tiling) = rows.tilings.iter().find(|tiling| tiling.limit == limit) else {
            return Err(contract(format!("no tiles of {limit} rows")));
        };
        let Some(room) = attention_room(heads, tiling.rows, self.queue.block_memory) else {
            return Err(contract(format!("no room for attention with {heads:?}")));
        };
        let before = self.sequences.regions.before(self.spec.keys_of(layer));
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
            tiles: tiling.tiles,
            positions: rows.positions,
            q_stride: width as i32,
            before: before as i32,
            kv_heads: heads.kv as i32,
            group: (heads.query / heads.kv) as i32,
            dim: heads.dim as i32,
            rows: rows.rows as i32,
            window,
            scale: attention.scale,
            soft_cap: attention.soft_cap.unwrap_or(0.0),
            padded: 0,
            keys: room.keys as i32,
            stages: room.stages as i32,
        };
        let blocks = heads.kv * kernels::attention_parts(heads.query / heads.kv);
        self.queue.launch(&kernels::ATTENTION_CHUNK, [tiling.count, blocks, 1], room.memory, params);
        let params = kernels::AttentionMerge {
            sums,
            norms,
            positions: rows.positions,
            sinks: self.weights.blocks[layer].sinks.as_ref().map_or(0, Buffer::at),
            out,
            rows: rows.rows as i32,
            heads: heads.query as i32,
            dim: heads.dim as i32,
            window,
        };
        self.queue.launch(&kernels::ATTENTION_MERGE, [rows.rows, heads.query, 1], 0, params);
        if attention.gated {
            let gates = qkv + ((heads.query + 2 * heads.kv) * heads.dim * size_of::<f32>()) as u64;
            gate_rows(&self.queue, (gates, width), out, (rows.rows, heads.query * heads.dim));
        }
        Ok(out)
    }
}
