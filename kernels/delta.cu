// Gated delta nets (arXiv 2412.06464): every value head of a sequence has a matrix as its state, which a row
// first decays, then corrects at its key, then reads at its query. A pass goes through *rows*: those of
// earlier passes that are done again, which lie in the sequence's log, then its own. The first `settle` of
// them become part of the state; the others go through a copy of it and are logged, so that they can be taken
// back.
//
// A state is [layer][delta_layer]: of every value head panels of 8 columns, [panel][ceil(key_dim / 16)][32
// lanes][4]: lane 4 c + j has of column c channels 16 g + 4 i + j of the key, i = 0 .. 4; what is beyond is
// zero. Behind the matrices are the inputs of the convolution of the last rows, [width - 1][channels]. A log
// is [layer][log_rows][channels inputs of the convolution, beta of each value head, decay of each], and a
// ring.
struct DeltaNet {
  int key_heads;
  int value_heads;
  int key_dim;
  int value_dim;
  int width;  // of the convolution
  int tiled;  // value head h has key head h % key_heads
};

// Rows of one sequence.
struct DeltaPiece {
  const float* from;  // the state before them; null for that of no positions
  float* to;          // the state after those that are settled, which may be the same; null where none is
  float* log;
  int log_first;  // place of the first row that is done again
  int log_rows;   // places, enough for those and for the rows that are logged
  int again;
  int rows;  // with those that are done again; 0 of padding
  int settle;
  int first_row;  // number in the pass of the first row of its own
  int place;      // of the first row in `mixed` and `rates`
  int padding;
};

#define DELTA_PANEL 8   // columns
#define DELTA_GROUP 16  // channels of a key
#define DELTA_STAGED 4  // rows in shared memory at a time
#define DELTA_CHUNK 32  // rows that a block of delta_mix has

DEVICE int delta_keys(const DeltaNet& net) { return net.key_heads * net.key_dim; }
DEVICE int delta_values(const DeltaNet& net) { return net.value_heads * net.value_dim; }
DEVICE int delta_channels(const DeltaNet& net) { return 2 * delta_keys(net) + delta_values(net); }

// Floats of the matrix of a head, of those of a layer, and of a layer.
DEVICE size_t delta_head(const DeltaNet& net) {
  const int panels = (net.value_dim + DELTA_PANEL - 1) / DELTA_PANEL, groups = (net.key_dim + DELTA_GROUP - 1) / DELTA_GROUP;
  return (size_t)panels * groups * (DELTA_PANEL * DELTA_GROUP);
}
DEVICE size_t delta_matrices(const DeltaNet& net) { return net.value_heads * delta_head(net); }
DEVICE size_t delta_layer(const DeltaNet& net) {
  const size_t inputs = (size_t)(net.width - 1) * delta_channels(net);
  return delta_matrices(net) + (inputs + 31) / 32 * 32;
}

// Where the log has its row in a place, counted from the first.
DEVICE float* delta_logged(const DeltaNet& net, const DeltaPiece& piece, int layer, int place) {
  const size_t width = delta_channels(net) + 2 * net.value_heads;
  return piece.log + ((size_t)layer * piece.log_rows + (piece.log_first + place) % piece.log_rows) * width;
}

// The first row that is logged; it goes behind those that are done again.
DEVICE int delta_kept(const DeltaPiece& piece) { return larger(piece.settle, piece.again); }

// delta_mix: what the recurrence reads of every row: query, key and value, convolved over positions, silu,
// queries and keys at length 1, queries by 1 / sqrt(key_dim); beta = sigmoid(b) and decay = exp(rate *
// softplus(step + bias)). Logs the rows that are not settled, and puts the last inputs of those that are into
// the state.
//   shapes   pieces [grid.y]; inputs [rows of the pass, stride] f32: query, key, value, then others; steps
//            [rows of the pass, 2 * value_heads] f32: b, step; filter [width, channels], step_bias, rate
//            [value_heads] f32; mixed [places, channels], rates [places, beta and decay, value_heads] f32
//   launch   grid (2 * key_heads + ceil(values / 128) + 1, pieces, ceil(rows of the longest / 32)), 128
//            threads, (4 * key_dim + 4) * 4 bytes of shared memory; places of two pieces are different
//   bytes    for every row: channels * 4 * (width (all but the first from the cache) + 1, and 1 where it is
//            logged); for every piece: 2 * (width - 1) * channels * 4
//   twin     `convolve` in src/backend/cpu/delta/recurrence.rs, `to_length`, `to_rates` in
//            src/backend/cpu/delta/mod.rs
//   order    a channel is one chain over the positions, the oldest first; squares are added as `ops::sum`
//            does. Rows never meet. softplus is computed in f64, whose last digit may be another one than the
//            CPU's
struct DeltaMixParams {
  DeltaNet net;
  const DeltaPiece* pieces;
  const float* inputs;
  const float* steps;
  const float* filter;
  const float* step_bias;
  const float* rate;
  float* mixed;
  float* rates;
  int stride;
  int layer;
};

// Inputs of the convolution of a row; those before the first lie in the state.
DEVICE const float* delta_inputs(const DeltaMixParams& p, const DeltaPiece& piece, int row) {
  if (row >= piece.again) return p.inputs + (size_t)(piece.first_row + row - piece.again) * p.stride;
  if (row >= 0) return delta_logged(p.net, piece, p.layer, row);
  if (!piece.from) return nullptr;
  const float* last = piece.from + p.layer * delta_layer(p.net) + delta_matrices(p.net);
  return last + (size_t)(row + p.net.width - 1) * delta_channels(p.net);
}

DEVICE void delta_rates(const DeltaMixParams& p, const DeltaPiece& piece, int begin, int end) {
  const int heads = p.net.value_heads, channels = delta_channels(p.net), kept = delta_kept(piece);
  for (int i = threadIdx.x; i < (end - begin) * heads; i += 128) {
    const int row = begin + i / heads, head = i % heads;
    float beta, decay;
    if (row < piece.again) {
      const float* logged = delta_logged(p.net, piece, p.layer, row) + channels;
      beta = logged[head];
      decay = logged[heads + head];
    } else {
      const float* steps = p.steps + (size_t)(piece.first_row + row - piece.again) * 2 * heads;
      beta = sigmoid(steps[head]);
      const float step = steps[heads + head] + p.step_bias[head];
      decay = exponential(p.rate[head] * (step > 20.0f ? step : (float)log1p(exp((double)step))));
      if (row >= kept) {
        float* logged = delta_logged(p.net, piece, p.layer, piece.again + row - kept) + channels;
        logged[head] = beta;
        logged[heads + head] = decay;
      }
    }
    float* rates = p.rates + (size_t)(piece.place + row) * 2 * heads;
    rates[head] = beta;
    rates[heads + head] = decay;
  }
}

KERNEL(delta_mix, DeltaMixParams, 128) {
  SHARED(float, squared);  // [rows][key_dim], then factors [rows]
  const DeltaPiece piece = p.pieces[blockIdx.y];
  const int begin = blockIdx.z * DELTA_CHUNK, end = smaller(begin + DELTA_CHUNK, piece.rows);
  if (begin >= end) return;
  const int keys = 2 * p.net.key_heads, dim = p.net.key_dim, width = p.net.width, part = blockIdx.x;
  if (part == (int)gridDim.x - 1) {
    delta_rates(p, piece, begin, end);
    return;
  }
  const int channels = delta_channels(p.net), kept = delta_kept(piece);
  const int first = part < keys ? part * dim : 2 * delta_keys(p.net) + (part - keys) * 128;
  const int count = part < keys ? dim : smaller(128, channels - first);
  float* factors = squared + DELTA_STAGED * dim;
  for (int from = begin; from < end; from += DELTA_STAGED) {
    const int rows = smaller(DELTA_STAGED, end - from);
    for (int row = from; row < from + rows; row++) {
      float* mixed = p.mixed + (size_t)(piece.place + row) * channels + first;
      float* logged = row >= kept ? delta_logged(p.net, piece, p.layer, piece.again + row - kept) + first : nullptr;
      for (int i = threadIdx.x; i < count; i += 128) {
        float sum = 0.0f, input = 0.0f;
        for (int w = 0; w < width; w++) {
          const float* inputs = delta_inputs(p, piece, row + w - (width - 1));
          input = inputs ? inputs[first + i] : 0.0f;
          sum = fmaf(p.filter[(size_t)w * channels + first + i], input, sum);
        }
        if (logged) logged[i] = input;
        sum = sum / (1.0f + exponential(-sum));
        if (part < keys) {
          squared[(row - from) * dim + i] = sum;
        } else {
          mixed[i] = sum;
        }
      }
    }
    if (part >= keys) continue;
    __syncthreads();
    // Eight lanes have the squares of a row.
    if (threadIdx.x < WARP) {
      const int row = threadIdx.x / 8;
      float sum = 0.0f;
      for (int i = threadIdx.x % 8; i < dim && row < rows; i += 8) sum += squared[row * dim + i] * squared[row * dim + i];
      for (int distance = 4; distance > 0; distance /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, distance);
      const float scale = part < p.net.key_heads ? 1.0f / sqrtf((float)dim) : 1.0f;
      if (threadIdx.x % 8 == 0) factors[row] = 1.0f / sqrtf(sum + 1e-6f) * scale;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * dim; i += 128) {
      p.mixed[(size_t)(piece.place + from + i / dim) * channels + first + i % dim] = squared[i] * factors[i / dim];
    }
    __syncthreads();
  }
  // The block that reads the inputs of earlier rows is the one that puts others in their place, each thread
  // its own.
  if (begin > 0 || piece.settle == 0) return;
  float* last = piece.to + p.layer * delta_layer(p.net) + delta_matrices(p.net) + first;
  for (int i = threadIdx.x; i < count; i += 128) {
    for (int w = 0; w < width - 1; w++) {
      const float* inputs = delta_inputs(p, piece, piece.settle + w - (width - 1));
      last[(size_t)w * channels + i] = inputs ? inputs[first + i] : 0.0f;
    }
  }
}

// delta_recur, delta_recur_128: rows through the state, one after the other. For a row with key k, query q
// and value v: S *= decay; S += k (beta (v - k S)); out = q S. The second is for keys of 128 channels.
//   shapes   pieces [grid.z]; mixed [places, channels], rates [places, beta and decay, value_heads] f32 as
//            delta_mix leaves them; out [rows of the pass, values] f32, for rows of the pass only
//   launch   grid (ceil(value_dim / 32), value_heads, pieces), 128 threads, `DeltaRows` of shared memory;
//            key_dim <= 128, or = 128; states aligned to 16 bytes
//   bytes    for every piece: values * key_dim * 4, once more where rows are settled, whatever their number;
//            for every row: value_heads * (ceil(value_dim / 32) * 2 * key_dim * 4 (all but the first from the
//            cache) + value_dim * 8)
//   twin     `recur` in src/backend/cpu/delta/recurrence.rs
//   order    four chains over the channels of a key, channel i in chain i % 4, then (0 + 2) + (1 + 3): a
//            column is shared by four lanes, which keep it in registers from the first row to the last
struct DeltaRecurParams {
  DeltaNet net;
  const DeltaPiece* pieces;
  const float* mixed;
  const float* rates;
  float* out;
  int layer;
  int padding;
};

#define DELTA_HELD 32  // channels of a key in a lane

// Rows in shared memory. Lane j of four reads channels j, j + 4, ...: they lie back to back, four times as
// many at once.
struct DeltaRows {
  float keys[DELTA_STAGED][2][4][DELTA_HELD + 4];  // key, then query
  float values[DELTA_STAGED][4 * DELTA_PANEL];
  float rates[DELTA_STAGED][2];
};

// ALL: keys are as wide as there is room.
template <bool ALL>
DEVICE void recur(const DeltaRecurParams& p) {
  SHARED(DeltaRows, staged);
  const DeltaNet& net = p.net;
  const DeltaPiece piece = p.pieces[blockIdx.z];
  if (piece.rows == 0) return;
  const int dim = ALL ? 4 * DELTA_HELD : net.key_dim, head = blockIdx.y, channels = delta_channels(net);
  const int thread = threadIdx.x, lane = thread % WARP, of_key = lane % 4, panel = blockIdx.x * 4 + thread / WARP;
  const int groups = (dim + DELTA_GROUP - 1) / DELTA_GROUP, mine = (dim - of_key + 3) / 4;
  const int column = panel * DELTA_PANEL + lane / 4;
  const bool there = panel * DELTA_PANEL < net.value_dim;
  const size_t at = p.layer * delta_layer(net) + head * delta_head(net) + (size_t)panel * groups * (DELTA_PANEL * DELTA_GROUP) + lane * 4;

  float state[DELTA_HELD];
#pragma unroll
  for (int group = 0; group < DELTA_HELD / 4; group++) {
    Sixteen four = {};
    if (there && piece.from && (ALL || group < groups)) four = *(const Sixteen*)(piece.from + at + group * 128);
#pragma unroll
    for (int i = 0; i < 4; i++) state[4 * group + i] = from_bits(four.words[i]);
  }
  const auto keep = [&]() {
    if (!there) return;
#pragma unroll
    for (int group = 0; group < DELTA_HELD / 4; group++) {
      if (!ALL && group >= groups) break;
      Sixteen four;
#pragma unroll
      for (int i = 0; i < 4; i++) four.words[i] = to_bits(state[4 * group + i]);
      *(Sixteen*)(piece.to + at + group * 128) = four;
    }
  };

  // Rows come into registers while those before are computed: of each a channel of key and query by every
  // thread, of four rows a value. The addresses go on from row to row.
  const int key_head = net.tiled ? head % net.key_heads : head / (net.value_heads / net.key_heads);
  const int value = blockIdx.x * 4 * DELTA_PANEL + thread % WARP;
  const float* queries = p.mixed + (size_t)piece.place * channels + key_head * dim + thread;
  const float* values = p.mixed + (size_t)(piece.place + thread / WARP) * channels + 2 * delta_keys(net) + head * net.value_dim + value;
  const float* rates = p.rates + (size_t)(piece.place + thread / 2) * 2 * net.value_heads + thread % 2 * net.value_heads + head;
  float* out = p.out + ((size_t)piece.first_row * net.value_heads + head) * net.value_dim + column;
  float next[DELTA_STAGED][2], next_value, next_rate;
  const auto fetch = [&](int rows) {
#pragma unroll
    for (int row = 0; row < DELTA_STAGED; row++) {
      const bool one = row < rows && (ALL || thread < dim);
      next[row][0] = one ? queries[delta_keys(net)] : 0.0f;
      next[row][1] = one ? queries[0] : 0.0f;
      queries += channels;
    }
    next_value = thread / WARP < rows && value < net.value_dim ? *values : 0.0f;
    next_rate = thread < 2 * DELTA_STAGED && thread / 2 < rows ? *rates : 0.0f;
    values += DELTA_STAGED * channels;
    rates += DELTA_STAGED * 2 * net.value_heads;
  };
  fetch(piece.rows);
  for (int from = 0; from < piece.rows; from += DELTA_STAGED) {
    __syncthreads();
#pragma unroll
    for (int row = 0; row < DELTA_STAGED; row++) {
#pragma unroll
      for (int part = 0; part < 2; part++) staged->keys[row][part][thread % 4][thread / 4] = next[row][part];
    }
    staged->values[thread / WARP][thread % WARP] = next_value;
    if (thread < 2 * DELTA_STAGED) staged->rates[thread / 2][thread % 2] = next_rate;
    __syncthreads();
    if (from + DELTA_STAGED < piece.rows) fetch(piece.rows - from - DELTA_STAGED);
    for (int row = from; row < smaller(from + DELTA_STAGED, piece.rows); row++) {
      if (row == piece.settle && row > 0) keep();
      const int number = row - from;
      const float beta = staged->rates[number][0], decay = staged->rates[number][1];
      const Sixteen* key = (const Sixteen*)staged->keys[number][0][of_key];
      const Sixteen* query = (const Sixteen*)staged->keys[number][1][of_key];
      float held = 0.0f, read = 0.0f;
#pragma unroll
      for (int group = 0; group < DELTA_HELD / 4; group++) {
        if (!ALL && group >= groups) break;
        const Sixteen of_keys = key[group];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          if (!ALL && 4 * group + i >= mine) break;
          float& one = state[4 * group + i];
          one = one * decay;
          held = fmaf(from_bits(of_keys.words[i]), one, held);
        }
      }
      held += __shfl_xor_sync(ALL_LANES, held, 2);
      held += __shfl_xor_sync(ALL_LANES, held, 1);
      // The key is read again: its place in registers is worth more.
      __syncwarp();
      const float change = (staged->values[number][column % (4 * DELTA_PANEL)] - held) * beta;
#pragma unroll
      for (int group = 0; group < DELTA_HELD / 4; group++) {
        if (!ALL && group >= groups) break;
        const Sixteen of_keys = key[group], of_queries = query[group];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          if (!ALL && 4 * group + i >= mine) break;
          float& one = state[4 * group + i];
          one = fmaf(from_bits(of_keys.words[i]), change, one);
          read = fmaf(from_bits(of_queries.words[i]), one, read);
        }
      }
      read += __shfl_xor_sync(ALL_LANES, read, 2);
      read += __shfl_xor_sync(ALL_LANES, read, 1);
      if (row < piece.again) continue;
      if (of_key == 0 && column < net.value_dim) *out = read;
      out += net.value_heads * net.value_dim;
    }
  }
  if (piece.settle == piece.rows) keep();
}

KERNEL(delta_recur, DeltaRecurParams, 128) { recur<false>(p); }
KERNEL(delta_recur_128, DeltaRecurParams, 128) { recur<true>(p); }

// delta_gate: out = silu(gate) * x / sqrt(mean(x^2) + eps) * weight, of every value head of each row; zero
// for padding.
//   shapes   x, out [rows, value_heads, dim] f32; gates [rows, heads * dim] f32 with stride floats between
//            rows; weight [dim] f32; positions [rows], negative of padding
//   launch   grid (rows, ceil(value_heads / 4)), 128 threads, 4 * dim * 4 bytes of shared memory
//   bytes    rows * value_heads * dim * 12
//   twin     `ops::rms_norm_in_place`, `ops::activate`
//   order    squares are added as `ops::sum` does. Rows never meet
struct DeltaGateParams {
  const float* x;
  const float* gates;
  const float* weight;
  const int* positions;
  float* out;
  int heads;
  int dim;
  int stride;
  float eps;
};

KERNEL(delta_gate, DeltaGateParams, 128) {
  SHARED(float, memory);
  const size_t row = blockIdx.x;
  const int head = blockIdx.y * 4 + threadIdx.x / WARP, lane = threadIdx.x % WARP;
  if (head >= p.heads) return;
  const size_t first = (row * p.heads + head) * p.dim;
  float* out = p.out + first;
  if (p.positions[row] < 0) {
    for (int i = lane; i < p.dim; i += WARP) out[i] = 0.0f;
    return;
  }
  const float* gates = p.gates + row * p.stride + head * p.dim;
  float* x = memory + threadIdx.x / WARP * p.dim;
  for (int i = lane; i < p.dim; i += WARP) x[i] = p.x[first + i];
  __syncwarp();
  float sum = 0.0f;
  for (int i = lane; i < p.dim && lane < 8; i += 8) sum += x[i] * x[i];
  for (int distance = 4; distance > 0; distance /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, distance);
  sum = __shfl_sync(ALL_LANES, sum, 0);
  const float scale = 1.0f / sqrtf(sum / (float)p.dim + p.eps);
  for (int i = lane; i < p.dim; i += WARP) out[i] = activated(gates[i], 0) * (x[i] * scale * p.weight[i]);
}
