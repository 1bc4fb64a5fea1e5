// attention_chunk: the softmax of one chunk of positions, not yet normalised, of the query heads of one
// key/value head and a tile of rows of one sequence; over the shared prompt, then over the sequence's own
// positions. Scores and weighted sums are products of tiles on tensor cores, of numbers as sums of two f16.
//   shapes   qkv [rows of the pass, q_stride] f32, queries first; tiles; positions [rows]; spans with K/V
//            [layer][kv_head][key, value][capacity][dim] f32; sums [chunk][rows][heads][dim] f32; norms
//            [chunk][rows][heads][largest score, sum of the weights] f32
//   launch   grid (tiles, kv_heads * ceil(group / MOST_QUERIES)), 256 threads; at most MOST_QUERIES queries
//            of a tile, or one row; `memory` bytes of shared memory, `keys` positions of a stage (32 or 64)
//            and at least two `stages` (`attention_room` in src/backend/cuda/kernels.rs)
//   bytes    for every tile: positions seen * dim * 8 per key/value head (from the cache where several tiles
//            see them)
//   twin     `Attention::run`
//   order    a score is one chain over the channels, 16 at a time; weights are summed by lanes (position
//            modulo 32), then by `warp_sum`; an output channel is one chain over the positions, 16 at a
//            time. A chunk begins at a multiple of ATTENTION_CHUNK positions of the text, wherever the
//            prompt ends.
//   error    of queries, keys, values and weights: 2^-22 of each number, or 2^-25 where that is more; of the
//            three products that are added 2^-22 of the summed magnitudes, and what `tiles.cu` says of sums
// Rows that see nothing of a chunk leave its norms as they are; tiles of no rows are padding. Keys and values
// are finite, and count as no more than 65504.
//
// Rows of several sequences that share a prompt are a tile, too, where a chunk lies inside of the prompt: its
// K/V is read once for all. A tile is of one chunk, so that no block has nothing to do.
struct Tile {
  int span;      // of one of the rows
  int position;  // the first one of a row
  int row;       // number of the first row in q, sums and norms
  int rows;
  int chunk;
  int end;       // behind the last position that is
};

struct AttentionParams {
  const float* qkv;
  float* sums;
  float* norms;
  const Span* spans;
  const Tile* tiles;
  const int* positions;  // of rows
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
  int keys;
  int stages;
};

#define ATTENTION_CHUNK 128
#define SCORES (ATTENTION_CHUNK + 8)  // floats between rows of scores
#define MOST_QUERIES 32
#define QUERY_TILES 2  // of 16
#define STAGE_DIMS 128
#define ATTENTION_WARPS 8

// Two numbers as two pairs of f16, the second of which is what the first leaves.
DEVICE void split_two(float a, float b, u32* upper, u32* lower) {
  // The nearest of 11 digits, so that what is left has either sign, and products of two such can be left out.
  const float above_a = from_bits((to_bits(a) + 0x1000u) & 0xffffe000u);
  const float above_b = from_bits((to_bits(b) + 0x1000u) & 0xffffe000u);
  *upper = two_halves(above_a, above_b);
  *lower = two_halves(a - above_a, b - above_b);
}

// A stage: keys (part 0) or values (part 1) of positions from `position` on, and of their channels those from
// `first` on.
struct KeyStage {
  int part;
  int position;
  int first;
};

// What a block computes.
struct Attended {
  const AttentionParams& p;
  Span span;
  int head;   // of keys and values
  int end;    // behind the last position
  int width;  // channels of a stage: a multiple of 16
};

// Brings a stage into the block's memory, width + 4 floats between positions; zero where there is nothing.
DEVICE void stage_keys(const Attended& of, const KeyStage& stage, float* to) {
  const AttentionParams& p = of.p;
  const int lanes = of.width > 64 ? 32 : 16, d = threadIdx.x % lanes * 4;
  const int by = ATTENTION_WARPS * WARP / lanes, last = stage.position + p.keys, shared_len = of.span.shared_len;
  if (d >= of.width) return;
  const int channel = stage.first + d, row = of.width + 4;
  int key = threadIdx.x / lanes;
  float* place = to + key * row + d;
  // Mostly all are there, and on one side of the end of the prompt.
  const bool own = stage.position >= shared_len;
  if ((p.dim | p.before) % 4 == 0 && last <= of.end && (own || last <= shared_len) && channel < p.dim) {
    const float* region = own ? of.span.own : of.span.shared;
    const int capacity = own ? of.span.own_capacity : of.span.shared_capacity;
    const int index = stage.position - (own ? shared_len : 0) + key;
    const float* from = region + kv_index(p.before, of.head, stage.part, capacity, index, p.dim) + channel;
#pragma unroll 4
    for (; key < p.keys; key += by, place += by * row, from += by * p.dim) copy_sixteen(place, from);
    return;
  }
  for (; key < p.keys; key += by, place += by * row) {
    const int position = stage.position + key;
    const bool of_own = position >= shared_len, there = position < of.end;
    const float* region = of_own ? of.span.own : of.span.shared;
    const int capacity = of_own ? of.span.own_capacity : of.span.shared_capacity;
    const int index = there ? of_own ? position - shared_len : position : 0;
    const float* from = region + kv_index(p.before, of.head, stage.part, capacity, index, p.dim) + channel;
    for (int i = 0; i < 4; i++) place[i] = there && channel + i < p.dim ? from[i] : 0.0f;
  }
}

// Queries of a tile as tiles of 16: lane 4 g + t has of queries g and g + 8 channels 4 t .. 4 t + 4 of 16.
DEVICE void stage_queries(const AttentionParams& p, const Tile& tile, int first_head, int heads, Sixteen* to) {
  const int queries = tile.rows * heads, tiles = (queries + 15) / 16, steps = (p.dim + 15) / 16;
  for (int i = threadIdx.x; i < steps * tiles * WARP; i += ATTENTION_WARPS * WARP) {
    const int lane = i % WARP, m = i / WARP % tiles, step = i / WARP / tiles;
    Sixteen upper, lower;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int query = m * 16 + half * 8 + lane / 4, d = step * 16 + lane % 4 * 4;
      const float* from = p.qkv + (size_t)(tile.row + query / heads) * p.q_stride + (first_head + query % heads) * p.dim + d;
      float four[4];
#pragma unroll
      for (int j = 0; j < 4; j++) four[j] = query < queries && d + j < p.dim ? from[j] : 0.0f;
#pragma unroll
      for (int j = 0; j < 2; j++) split_two(four[2 * j], four[2 * j + 1], &upper.words[2 * j + half], &lower.words[2 * j + half]);
    }
    to[((step * tiles + m) * 2) * WARP + lane] = upper;
    to[((step * tiles + m) * 2 + 1) * WARP + lane] = lower;
  }
}

// sums [tile of queries][tile] += a * b of numbers in two parts each.
template <int TILES>
DEVICE void multiply_parts(const Sixteen (*a)[2], int m_tiles, const u32 (*b)[2][2], float (*sums)[TILES][4]) {
#pragma unroll
  for (int product = 0; product < 3; product++) {
    const int of_a = product == 2 ? 1 : 0, of_b = product == 1 ? 1 : 0;
#pragma unroll
    for (int m = 0; m < QUERY_TILES; m++) {
      if (m >= m_tiles) break;
#pragma unroll
      for (int n = 0; n < TILES; n++) multiply_tiles(F16(), sums[m][n], a[m][of_a].words, b[n][of_b]);
    }
  }
}

// Positions that a tile does not see of `padded` ones are computed, too, and then have no weight.
template <bool PADDED>
DEVICE void attend(const AttentionParams& p) {
  SHARED(Sixteen, memory);
  const Tile tile = p.tiles[blockIdx.x];
  const int parts = (p.group + MOST_QUERIES - 1) / MOST_QUERIES, head = blockIdx.y / parts;
  const int before = blockIdx.y % parts * MOST_QUERIES, group = smaller(p.group - before, MOST_QUERIES);
  const int first_head = head * p.group + before, heads = p.kv_heads * p.group;
  const int chunk = tile.chunk * ATTENTION_CHUNK, dim = p.dim;
  const int begin = larger(chunk, first_seen(tile.position, p.window));
  const int end = smaller(chunk + ATTENTION_CHUNK, PADDED ? p.padded : tile.end);
  if (begin >= end) return;
  const int queries = tile.rows * group, m_tiles = (queries + 15) / 16, steps = (dim + 15) / 16;
  const Attended of = {p, p.spans[tile.span], head, end, smaller(steps * 16, STAGE_DIMS)};
  Sixteen* q = memory;
  float* scores = (float*)(q + steps * m_tiles * 2 * WARP);
  float* stages = scores + (queries + 7) / 8 * 8 * SCORES;
  const int stage_floats = p.keys * (of.width + 4);
  // Stages: keys by positions, then channels; values by channels, then positions.
  const int from = (begin - chunk) / p.keys, strips = (end - chunk + p.keys - 1) / p.keys - from;
  const int slices = (dim + STAGE_DIMS - 1) / STAGE_DIMS;
  // What is fetched next, and where to; where the next one is read.
  int part = 0, outer = 0, inner = 0;
  float* to = stages;
  const float* at = stages;
  float* const stages_end = stages + p.stages * stage_floats;
  const auto fetch = [&]() {
    if (part < 2) {
      const int strip = part == 0 ? outer : inner, slice = part == 0 ? inner : outer;
      stage_keys(of, {part, chunk + (from + strip) * p.keys, slice * STAGE_DIMS}, to);
      if (++inner == (part == 0 ? slices : strips)) {
        inner = 0;
        if (++outer == (part == 0 ? strips : slices)) {
          outer = 0;
          part++;
        }
      }
      to += stage_floats;
      if (to == stages_end) to = stages;
    }
    copies_committed();
  };
  // The next stage, once it is there for all.
  const auto next = [&]() {
    oldest_landed(p.stages);
    __syncthreads();
    fetch();
    const float* found = at;
    at += stage_floats;
    if (at == stages_end) at = stages;
    return found;
  };
  for (int i = 0; i < p.stages - 1; i++) fetch();
  stage_queries(p, tile, first_head, group, q);

  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4;
  // Of a strip a warp has eight positions.
  for (int strip = from; strip < from + strips; strip++) {
    float sums[QUERY_TILES][1][4];
#pragma unroll
    for (int i = 0; i < QUERY_TILES * 4; i++) sums[i / 4][0][i % 4] = 0.0f;
    for (int slice = 0; slice < slices; slice++) {
      const float* keys = next() + (8 * warp + g) * (of.width + 4) + 4 * t;
      const int first = slice * STAGE_DIMS / 16, count = smaller(of.width / 16, steps - first);
      if (8 * warp >= p.keys) continue;
#pragma unroll 2
      for (int step = 0; step < count; step++) {
        Sixteen a[QUERY_TILES][2];
        u32 b[1][2][2];
#pragma unroll
        for (int i = 0; i < QUERY_TILES * 2; i++) {
          if (i / 2 < m_tiles) a[i / 2][i % 2] = q[((first + step) * m_tiles * 2 + i) * WARP + lane];
        }
        const Sixteen four = *(const Sixteen*)(keys + step * 16);
#pragma unroll
        for (int i = 0; i < 2; i++) {
          split_two(from_bits(four.words[2 * i]), from_bits(four.words[2 * i + 1]), &b[0][0][i], &b[0][1][i]);
        }
        multiply_parts<1>(a, m_tiles, b, sums);
        tiles_multiplied();
      }
    }
    if (8 * warp >= p.keys) continue;
#pragma unroll
    for (int i = 0; i < QUERY_TILES * 4; i++) {
      const int query = i / 4 * 16 + i / 2 % 2 * 8 + g, key = strip * p.keys + 8 * warp + 2 * t + i % 2;
      if (query < queries) scores[query * SCORES + key] = sums[i / 4][0][i % 4];
    }
  }
  __syncthreads();

  // Weights take the places of scores, as two parts in a word; zero where a row does not see a position.
  const int least = from * p.keys, most_place = (from + strips) * p.keys;
  for (int query = warp; query < (queries + 7) / 8 * 8; query += ATTENTION_WARPS) {
    const int row_of = smaller(query / group, tile.rows - 1), seen = p.positions[tile.row + row_of];
    const int first = larger(chunk, first_seen(seen, p.window)) - chunk;
    const int last = query < queries ? smaller(end, seen + 1) - chunk : first;
    float* row = scores + query * SCORES;
    float weights[ATTENTION_CHUNK / WARP];
    float most = from_bits(0xff800000u), sum = 0.0f;
#pragma unroll
    for (int i = 0; i < ATTENTION_CHUNK / WARP; i++) {
      const int place = i * WARP + lane;
      if (place < first || place >= last) continue;
      weights[i] = row[place] * p.scale;
      if (p.soft_cap > 0.0f) weights[i] = soft_capped(row[place], p.scale, p.soft_cap);
      most = weights[i] > most ? weights[i] : most;
    }
    most = warp_max(most);
#pragma unroll
    for (int i = 0; i < ATTENTION_CHUNK / WARP; i++) {
      const int place = i * WARP + lane;
      const float weight = place >= first && place < last ? exponential(weights[i] - most) : 0.0f;
      sum += weight;
      const u16 upper = float_to_half(weight);
      if (place >= least && place < most_place) ((u32*)row)[place] = upper | (u32)float_to_half(weight - half_to_float(upper)) << 16;
    }
    sum = warp_sum(sum);
    if (lane == 0 && first < last) {
      const size_t at = ((size_t)tile.chunk * p.rows + tile.row + row_of) * heads + first_head + query % group;
      p.norms[2 * at] = most;
      p.norms[2 * at + 1] = sum;
    }
  }

  // Of a slice a warp has two tiles of eight channels.
  for (int slice = 0; slice < slices; slice++) {
    const int n_tiles = smaller(of.width, steps * 16 - slice * STAGE_DIMS) / 8;
    float sums[QUERY_TILES][2][4];
#pragma unroll
    for (int i = 0; i < QUERY_TILES * 2 * 4; i++) sums[i / 8][i / 4 % 2][i % 4] = 0.0f;
    for (int strip = from; strip < from + strips; strip++) {
      const float* values = next();
      if (warp >= n_tiles) continue;
#pragma unroll 2
      for (int step = 0; step < p.keys; step += 16) {
        Sixteen a[QUERY_TILES][2];
#pragma unroll
        for (int m = 0; m < QUERY_TILES; m++) {
          if (m >= m_tiles) break;
#pragma unroll
          for (int i = 0; i < 4; i++) {
            // Those of rows that are not there belong to nobody, and nobody reads their sums.
            const int query = smaller(m * 16 + i % 2 * 8 + g, (queries + 7) / 8 * 8 - 1);
            const u32* two = (const u32*)scores + query * SCORES + strip * p.keys + step + i / 2 * 8 + 2 * t;
            a[m][0].words[i] = __byte_perm(two[0], two[1], 0x5410);
            a[m][1].words[i] = __byte_perm(two[0], two[1], 0x7632);
          }
        }
        u32 b[2][2][2];
#pragma unroll
        for (int n = 0; n < 2; n++) {
          // The second tile may be the first once more, and its sums are not read.
          const int d = (ATTENTION_WARPS * n + warp < n_tiles ? ATTENTION_WARPS * n + warp : warp) * 8 + g;
          const float* column = values + (step + 2 * t) * (of.width + 4) + d;
#pragma unroll
          for (int i = 0; i < 2; i++, column += 8 * (of.width + 4)) {
            split_two(column[0], column[of.width + 4], &b[n][0][i], &b[n][1][i]);
          }
        }
        multiply_parts<2>(a, m_tiles, b, sums);
        tiles_multiplied();
      }
    }
#pragma unroll
    for (int i = 0; i < QUERY_TILES * 2; i++) {
      const int query = i * 8 + g;
      if (query >= queries) continue;
      const size_t row = (size_t)tile.chunk * p.rows + tile.row + query / group;
      float* out = p.sums + (row * heads + first_head + query % group) * dim + slice * STAGE_DIMS;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const int n = ATTENTION_WARPS * (j / 2) + warp, d = n * 8 + 2 * t + j % 2;
        if (n < n_tiles && slice * STAGE_DIMS + d < dim) out[d] = sums[i / 2][j / 2][i % 2 * 2 + j % 2];
      }
    }
  }
}

KERNEL_OF(attention_chunk, AttentionParams, 256, 2) {
  after_the_last();
  attend<false>(p);
}

// attention_merge: chunks put together by their log-sum-exp in ascending order (online softmax, arXiv
// 1805.02867). A sink is one more score, which takes a share of the softmax and adds nothing.
//   shapes   sums, norms as above; positions [rows], negative of padding; sinks [heads] f32, null where there
//            are none; out [rows, heads * dim] f32
//   launch   grid (rows, heads), 128 threads
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
  const int row = blockIdx.x, head = blockIdx.y, position = p.positions[row];
  const int first = first_seen(position, p.window) / ATTENTION_CHUNK, last = position / ATTENTION_CHUNK;
  for (int d = threadIdx.x; d < p.dim; d += 128) {
    // Padding sees nothing.
    float most = 0.0f, norm = position < 0 ? 1.0f : 0.0f, sum = 0.0f;
#pragma unroll 4
    for (int chunk = position < 0 ? last + 1 : first; chunk <= last; chunk++) {
      const size_t at = ((size_t)chunk * p.rows + row) * p.heads + head;
      const float next_most = p.norms[2 * at], next_norm = p.norms[2 * at + 1], next_sum = p.sums[at * p.dim + d];
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
    if (p.sinks) norm += exponential(p.sinks[head] - most);
    p.out[((size_t)row * p.heads + head) * p.dim + d] = sum / norm;
  }
}
