// attention_chunk: the softmax of one chunk of positions, not yet normalised, of the query heads of one
// key/value head and a tile of rows of one sequence; over the shared prompt, then over the sequence's own
// positions.
//   shapes   qkv [rows of the pass, q_stride] f32, queries first; tiles; spans with K/V [layer][kv_head][key,
//            value][capacity][dim] f32; sums [chunk][rows][heads][dim] f32; norms
//            [chunk][rows][heads][largest score, sum of the weights] f32
//   launch   grid (tiles, kv_heads, chunks), 128 threads, `attention_memory` bytes of shared memory
//            (src/backend/cuda/kernels.rs)
//   bytes    for every tile: positions seen * dim * 8 per key/value head (from the cache where several tiles
//            see them)
//   twin     `Attention::run`
//   order    a score is one chain over the channels; weights are summed by lanes (position modulo 32), then
//            by `warp_sum`; an output channel is one chain over the positions in ascending order. A chunk
//            begins at a multiple of ATTENTION_CHUNK positions of the text, wherever the prompt ends.
// Rows that see nothing of a chunk leave its memory as it is; tiles of no rows are padding.
struct Tile {
  int span;
  int position;  // of the first row
  int row;       // number of the first row in q, sums and norms
  int rows;
};

struct AttentionParams {
  const float* qkv;
  float* sums;
  float* norms;
  const Span* spans;
  const Tile* tiles;
  int q_stride;
  int before;  // floats of a position in the layers before
  int kv_heads;
  int group;  // query heads of a key/value head
  int dim;
  int rows;
  int window;  // 0: none
  float scale;
  float soft_cap;  // 0: none
  int padded;      // of `attention_padded`: positions that are computed for every tile, all of which have K/V
};

#define ATTENTION_CHUNK 256
#define ATTENTION_KEYS 32  // positions in shared memory at a time

// Keys (part 0) or values (part 1) of the positions from .. end into shared memory, dim + 1 floats apart.
DEVICE void stage(const AttentionParams& p, const Span& span, int head, int part, int from, int end, float* to) {
  for (int i = threadIdx.x; i < ATTENTION_KEYS * p.dim; i += 128) {
    const int key = i / p.dim, d = i % p.dim, position = from + key;
    if (position >= end) break;
    const float* region = position < span.shared_len ? span.shared : span.own;
    const int capacity = position < span.shared_len ? span.shared_capacity : span.own_capacity;
    const int index = position < span.shared_len ? position : position - span.shared_len;
    to[key * (p.dim + 1) + d] = region[kv_index(p.before, head, part, capacity, index, p.dim) + d];
  }
}

// Positions that a tile does not see of `padded` ones are computed, too, and then have no weight.
template <bool PADDED>
DEVICE void attend(const AttentionParams& p) {
  SHARED(float, memory);
  const Tile tile = p.tiles[blockIdx.x];
  const Span span = p.spans[tile.span];
  const int head = blockIdx.y, chunk = blockIdx.z * ATTENTION_CHUNK, dim = p.dim;
  const int begin = larger(chunk, first_seen(tile.position, p.window));
  const int end = smaller(chunk + ATTENTION_CHUNK, PADDED ? p.padded : tile.position + tile.rows);
  if (begin >= end) return;
  const int queries = tile.rows * p.group, heads = p.kv_heads * p.group;
  float* q = memory;
  float* staged = q + queries * dim;
  float* scores = staged + ATTENTION_KEYS * (dim + 1);
  for (int i = threadIdx.x; i < queries * dim; i += 128) {
    const int query = i / dim, row = tile.row + query / p.group;
    q[i] = p.qkv[(size_t)row * p.q_stride + (head * p.group + query % p.group) * dim + i % dim];
  }

  for (int from = begin; from < end; from += ATTENTION_KEYS) {
    __syncthreads();
    stage(p, span, head, 0, from, end, staged);
    __syncthreads();
    for (int i = threadIdx.x; i < queries * ATTENTION_KEYS; i += 128) {
      const int query = i / ATTENTION_KEYS, key = i % ATTENTION_KEYS, seen = tile.position + query / p.group;
      if (from + key >= end) continue;
      if (!PADDED && (from + key > seen || from + key < first_seen(seen, p.window))) continue;
      float score = 0.0f;
      for (int d = 0; d < dim; d++) score = fmaf(q[query * dim + d], staged[key * (dim + 1) + d], score);
      score = p.soft_cap > 0.0f ? soft_capped(score, p.scale, p.soft_cap) : score * p.scale;
      scores[query * ATTENTION_CHUNK + from + key - chunk] = score;
    }
  }
  __syncthreads();

  const int lane = threadIdx.x % WARP;
  for (int query = threadIdx.x / WARP; query < queries; query += 128 / WARP) {
    const int seen = tile.position + query / p.group;
    const int first = larger(chunk, first_seen(seen, p.window)), last = smaller(end, seen + 1);
    float* row = scores + query * ATTENTION_CHUNK;
    if (PADDED) {
      for (int i = lane; i < end - chunk; i += WARP) {
        if (i < first - chunk || i >= last - chunk) row[i] = 0.0f;
      }
    }
    if (first >= last) continue;
    float most = from_bits(0xff800000u), sum = 0.0f;
    for (int i = lane; i < last - chunk; i += WARP) {
      if (i >= first - chunk && row[i] > most) most = row[i];
    }
    most = warp_max(most);
    for (int i = lane; i < last - chunk; i += WARP) {
      if (i < first - chunk) continue;
      row[i] = exponential(row[i] - most);
      sum += row[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
      const size_t at = ((size_t)blockIdx.z * p.rows + tile.row + query / p.group) * heads + head * p.group + query % p.group;
      p.norms[2 * at] = most;
      p.norms[2 * at + 1] = sum;
    }
  }

  // The queries are not read any more: their place holds the sums.
  for (int i = threadIdx.x; i < queries * dim; i += 128) q[i] = 0.0f;
  for (int from = begin; from < end; from += ATTENTION_KEYS) {
    __syncthreads();
    stage(p, span, head, 1, from, end, staged);
    __syncthreads();
    for (int i = threadIdx.x; i < queries * dim; i += 128) {
      const int query = i / dim, d = i % dim, seen = tile.position + query / p.group;
      const int first = PADDED ? from : larger(from, first_seen(seen, p.window));
      const int last = smaller(smaller(end, from + ATTENTION_KEYS), PADDED ? end : seen + 1);
      const float* weights = scores + query * ATTENTION_CHUNK - chunk;
      float sum = q[i];
      for (int position = first; position < last; position++) {
        sum = fmaf(weights[position], staged[(position - from) * (dim + 1) + d], sum);
      }
      q[i] = sum;
    }
  }
  for (int i = threadIdx.x; i < queries * dim; i += 128) {
    const int query = i / dim;
    const size_t row = (size_t)blockIdx.z * p.rows + tile.row + query / p.group;
    p.sums[(row * heads + head * p.group + query % p.group) * dim + i % dim] = q[i];
  }
}

KERNEL(attention_chunk, AttentionParams, 128) { attend<false>(p); }

// attention_merge: chunks put together by their log-sum-exp in ascending order (online softmax, arXiv
// 1805.02867). A sink is one more score, which takes a share of the softmax and adds nothing.
//   shapes   sums, norms as above; positions [rows], negative of padding; sinks [heads] f32, null where there
//            are none; out [rows, heads * dim] f32
//   launch   grid (rows), 128 threads
//   bytes    rows * heads * (dim + 2) * 4 * chunks + rows * heads * dim * 4
//   twin     `Outcome::merge`, `Unit::write` in src/backend/cpu/attention.rs
//   order    by chunk, then the sink
struct AttentionMergeParams {
  const float* sums;
  const float* norms;
  const int* positions;
  const float* sinks;
  float* out;
  int rows;
  int heads;
  int dim;
  int window;
};

KERNEL(attention_merge, AttentionMergeParams, 128) {
  const int row = blockIdx.x, position = p.positions[row];
  const int first = first_seen(position, p.window) / ATTENTION_CHUNK, last = position / ATTENTION_CHUNK;
  for (int i = threadIdx.x; i < p.heads * p.dim; i += 128) {
    // Padding sees nothing.
    float most = 0.0f, norm = position < 0 ? 1.0f : 0.0f, sum = 0.0f;
    for (int chunk = position < 0 ? last + 1 : first; chunk <= last; chunk++) {
      const size_t at = ((size_t)chunk * p.rows + row) * p.heads + i / p.dim;
      const float next_most = p.norms[2 * at], next_norm = p.norms[2 * at + 1], next_sum = p.sums[at * p.dim + i % p.dim];
      if (chunk == first) {
        most = next_most;
        norm = next_norm;
        sum = next_sum;
        continue;
      }
      const float both = next_most > most ? next_most : most;
      const float old = exponential(most - both), fresh = exponential(next_most - both);
      most = both;
      norm = norm * old + next_norm * fresh;
      sum = sum * old + next_sum * fresh;
    }
    if (p.sinks) norm += exponential(p.sinks[i / p.dim] - most);
    p.out[(size_t)row * p.heads * p.dim + i] = sum / norm;
  }
}
