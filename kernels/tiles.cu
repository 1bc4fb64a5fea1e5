// tiles_bf16, tiles_int8, ... one for each of `TILED_STORAGES`:
// out[r][o] = sum over k of x[r][k] * weights[o][k] (+ bias[o]), stored or added to out, on tensor cores:
// tiles of 16 outputs meet tiles of 8 rows.
//   shapes   a matrix (see weights.cuh); x as `split_*` in inputs.cu leaves it; out [rows, outputs] f32 with
//            out_stride floats between rows; partial [grid.z][8 tiles][outputs] f32 and arrived [passes *
//            grid.y] u32, all zero before and after, where grid.z is more than 1
//   launch   grid (passes, ceil(outputs / (256 / groups)), slices / groups), 256 threads, `memory` bytes of
//            shared memory (src/backend/cuda/tiled.rs): a pass is at most MOST_TILES tiles of rows, a slice
//            `slice` chunks, `groups` of which a block computes side by side: 1, or an even number. `stages`
//            from 2 to 4
//   bytes    outputs * stride * bits of the storage / 8 for every pass (all but the first from the cache): 16
//            bits, int8 8.5, int4 4.5, types of files as in the file; + grid.y * rows * stride * 2 * PARTS +
//            grid.z * rows * outputs * 8 where that is more than 1 (from the cache)
//   twin     `gemm::portable::product` over the decoded weights (`Packed::output`) and the rounded inputs
//   order    weights of 2 bytes: a chain over k16, ascending, of each block first the first part of x, then
//            the second; codes: each block of 32 in whole numbers from zero, times its scale by one fused
//            multiply-add, ascending. How the 16 products of a k16 are added to a sum is the GPU's own, the
//            same for all rows and all places in a tile. Slices are added in pairs, and these in ascending
//            order. Where slices begin depends on the matrix alone; rows never meet.
//   error    beside that of x (inputs.cu), of the sum of |x * weight|: for every k16 and part 2^-23 where
//            what is below the last digit is cut off, as in the emulator; up to 2^-20 is allowed to a GPU,
//            which may cut off each product
struct TilesParams {
  Matrix matrix;
  const Sixteen* x;
  const float* sums;
  const float* scales;
  float* out;
  float* partial;
  u32* arrived;
  int rows;
  int out_stride;
  int add;
  int tiles;   // of all rows
  int pass;    // tiles of a pass, at most
  int slice;   // chunks of a slice
  int groups;  // slices of a block
  int stages;  // of the block's memory
};

#define TILES_WARPS 8
#define WARP_PANELS 4  // of a warp: two tiles of 16 outputs
#define MOST_TILES 6

// Rows that a block computes: tiles `first` .. `first + count` of those in x.
struct RowTiles {
  const Sixteen* x;
  const float* sums;
  int tiles;  // in x
  int first;
  int count;
};

// Tiles of rows in a stage: of two both are there, and the sums of one too many are not read.
DEVICE int tiles_there(int count) { return count == 1 ? 1 : (count + 1) / 2 * 2; }

#define CODE_BYTES 512  // of a chunk

// A part of the matrix as a warp fetches it, `BYTES` of each of its panels in a chunk: where a lane begins to read and
// to write. Panels follow each other; the last one stands for those behind it.
template <int BYTES>
struct Part {
  static const int PIECES = WARP_PANELS * BYTES / 16, TIMES = (PIECES + WARP - 1) / WARP;
  const unsigned char* from[TIMES];

  DEVICE_MEMBER void begin(const void* part, size_t panel_bytes, int first, int last, int lane) {
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
      const int piece = i * WARP + lane, panel = smaller(first + piece / (BYTES / 16), last);
      from[i] = (const unsigned char*)part + panel * panel_bytes + piece % (BYTES / 16) * 16;
    }
  }

  // Copies what is `offset` bytes behind the beginning of the panels.
  DEVICE_MEMBER void fetch(unsigned char* to, size_t offset, int lane) const {
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
      if (PIECES % WARP == 0 || lane < PIECES) copy_sixteen(to + (i * WARP + lane) * 16, from[i] + offset);
    }
  }
};

template <>
struct Part<0> {
  DEVICE_MEMBER void begin(const void*, size_t, int, int, int) {}
  DEVICE_MEMBER void fetch(unsigned char*, size_t, int) const {}
};

// Weights of a warp in a stage of the block's memory: how they are fetched and multiplied. A stage has DEPTH
// chunks. Of two tiles of rows products are asked for in turns, so that none waits for the one before.
template <class Storage>
struct Stage;

template <class Half>
struct Stage<Floats<Half>> {
  typedef Floats<Half> Storage;
  static const int PARTS = 2, BLOCKS = 1, DEPTH = 2, BYTES = WARP_PANELS * CODE_BYTES;
  static const bool SUMS = false;
  Part<CODE_BYTES> codes;

  DEVICE_MEMBER void begin(const Matrix& m, int first, int last, int lane) {
    codes.begin(m.codes, (size_t)(m.stride / Storage::STEP) * CODE_BYTES, first, last, lane);
  }

  DEVICE_MEMBER void fetch(unsigned char* to, int chunk, int lane) const { codes.fetch(to, (size_t)chunk * CODE_BYTES, lane); }

  // `TILES` tiles of rows from `n` on.
  template <int TILES>
  DEVICE void multiply_rows(const u32 (*a)[2][4], const Sixteen* x, int n, float (*sums)[MOST_TILES][4]) {
    Sixteen b[TILES][PARTS];
#pragma unroll
    for (int i = 0; i < TILES * PARTS; i++) b[i / PARTS][i % PARTS] = x[(n * PARTS + i) * WARP + threadIdx.x % WARP];
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
#pragma unroll
      for (int i = 0; i < 4 * TILES; i++) {
        const int half = i / 2 / TILES, m = i / 2 % TILES, o = i % 2;
        multiply_tiles(Half(), sums[o][n + m], a[o][half], &b[m][part].words[half * 2]);
      }
    }
  }

  DEVICE void multiply(const unsigned char* at, const Sixteen* x, const float*, int count, float (*sums)[MOST_TILES][4]) {
    const int lane = threadIdx.x % WARP;
    u32 a[2][2][4];  // [tile of outputs][half]
#pragma unroll
    for (int i = 0; i < WARP_PANELS; i++) {
      const Sixteen codes = ((const Sixteen*)at)[i * WARP + lane];
#pragma unroll
      for (int pair = 0; pair < 4; pair++) a[i / 2][pair / 2][pair % 2 * 2 + i % 2] = codes.words[pair];
    }
    if (count == 1) {
      multiply_rows<1>(a, x, 0, sums);
    } else {
#pragma unroll
      for (int n = 0; n < MOST_TILES; n += 2) {
        if (n >= count) break;
        multiply_rows<2>(a, x, n, sums);
      }
    }
    tiles_multiplied();
  }
};

template <int BITS, int KIND>
struct Stage<Codes<BITS, KIND>> {
  typedef Codes<BITS, KIND> Storage;
  static const int PARTS = 1, BLOCKS = Storage::BLOCKS, DEPTH = BITS == 8 ? 2 : 1;
  static const bool SUMS = Storage::HAS_MIN;
  static const int PER_BLOCK = Storage::HAS_HALVES ? 2 : 1;  // scales
  static const int STEP_WORDS = BITS == 8 ? 2 : 1;  // of a block in a lane's codes
  static const int UPPER = WARP_PANELS * CODE_BYTES, SCALES = UPPER + WARP_PANELS * PANEL * Storage::UPPER_BYTES;
  static const int UNITS = SCALES + WARP_PANELS * PANEL * Storage::SCALE_BYTES;
  static const int BYTES = UNITS + WARP_PANELS * PANEL * Storage::UNIT_BYTES;

  Part<CODE_BYTES> codes_part;
  Part<PANEL * Storage::UPPER_BYTES> upper_part;
  Part<PANEL * Storage::SCALE_BYTES> scales_part;
  Part<PANEL * Storage::UNIT_BYTES> units_part;

  DEVICE_MEMBER void begin(const Matrix& m, int first, int last, int lane) {
    const size_t chunks = m.stride / Storage::STEP;
    codes_part.begin(m.codes, chunks * CODE_BYTES, first, last, lane);
    upper_part.begin(m.upper, chunks * PANEL * Storage::UPPER_BYTES, first, last, lane);
    scales_part.begin(m.scales, chunks * PANEL * Storage::SCALE_BYTES, first, last, lane);
    units_part.begin(m.units, (size_t)(m.stride / 256) * PANEL * Storage::UNIT_BYTES, first, last, lane);
  }

  DEVICE_MEMBER void fetch(unsigned char* to, int chunk, int lane) const {
    codes_part.fetch(to, (size_t)chunk * CODE_BYTES, lane);
    upper_part.fetch(to + UPPER, (size_t)chunk * PANEL * Storage::UPPER_BYTES, lane);
    scales_part.fetch(to + SCALES, (size_t)chunk * PANEL * Storage::SCALE_BYTES, lane);
    units_part.fetch(to + UNITS, (size_t)(chunk * Storage::STEP / 256) * PANEL * Storage::UNIT_BYTES, lane);
  }

  // Of a block: codes as halves [tile of outputs][half], scales and minima of the lane's rows.
  struct Decoded {
    u32 a[2][2][4];
    float scales[WARP_PANELS][2], minima[WARP_PANELS];
  };

  template <int TILES>
  DEVICE void multiply_rows(const Decoded& of, const Sixteen* x, const float* x_sums, int n, float (*sums)[MOST_TILES][4]) {
    const int lane = threadIdx.x % WARP;
    Sixteen b[TILES];
    float whole[TILES][PER_BLOCK][2][4] = {};
#pragma unroll
    for (int m = 0; m < TILES; m++) b[m] = x[(n + m) * WARP + lane];
#pragma unroll
    for (int i = 0; i < 4 * TILES; i++) {
      const int half = i / 2 / TILES, m = i / 2 % TILES, o = i % 2;
      multiply_tiles(F16(), whole[m][half % PER_BLOCK][o], of.a[o][half], &b[m].words[half * 2]);
    }
    tiles_multiplied();
#pragma unroll
    for (int i = 0; i < 8 * TILES * PER_BLOCK; i++) {
      const int at = i % 8, half = i / 8 % PER_BLOCK, m = i / 8 / PER_BLOCK;
      float* sum = &sums[at / 4][n + m][at % 4];
      *sum = fmaf(whole[m][half][at / 4][at % 4], of.scales[at / 2][half], *sum);
    }
    if (SUMS) {
#pragma unroll
      for (int i = 0; i < 8 * TILES; i++) {
        const int at = i % 8, m = i / 8;
        const float sum_of_row = x_sums[(n + m) * TILE_ROWS + lane % 4 * 2 + at % 2];
        float* sum = &sums[at / 4][n + m][at % 4];
        *sum = fmaf(sum_of_row, of.minima[at / 2], *sum);
      }
    }
  }

  DEVICE void multiply(const unsigned char* at, const Sixteen* x, const float* x_sums, int count, float (*sums)[MOST_TILES][4]) {
    const int lane = threadIdx.x % WARP, row = lane / 4, tiles = tiles_there(count);
    Sixteen codes[WARP_PANELS];
#pragma unroll
    for (int i = 0; i < WARP_PANELS; i++) codes[i] = ((const Sixteen*)at)[i * WARP + lane];
    // One block's code, which the compiler would write down for each.
#pragma unroll 1
    for (int block = 0; block < BLOCKS; block++) {
      Decoded of;
#pragma unroll
      for (int i = 0; i < WARP_PANELS; i++) {
        const u32* upper = (const u32*)(at + UPPER + (i * WARP + lane) * (Storage::UPPER_BYTES / 4));
#pragma unroll
        for (int pair = 0; pair < 4; pair++) {
          of.a[i / 2][pair / 2][pair % 2 * 2 + i % 2] = Storage::halves(codes[i], upper, block, pair);
        }
        // The next block's to the front.
#pragma unroll
        for (int word = 0; word + STEP_WORDS < 4; word++) codes[i].words[word] = codes[i].words[word + STEP_WORDS];
        const u16* of_row = (const u16*)(at + SCALES + (i * PANEL + row) * Storage::SCALE_BYTES);
        const u16* units = (const u16*)(at + UNITS + (i * PANEL + row) * Storage::UNIT_BYTES);
        for (int half = 0; half < 2; half++) of.scales[i][half] = Storage::scale(of_row, units, block, half);
        of.minima[i] = -Storage::minimum(of_row, units, block);
      }
      const Sixteen* of_block = x + block * tiles * WARP;
      const float* sums_of_block = x_sums + block * tiles * TILE_ROWS;
      if (count == 1) {
        multiply_rows<1>(of, of_block, sums_of_block, 0, sums);
      } else {
#pragma unroll
        for (int n = 0; n < MOST_TILES; n += 2) {
          if (n >= count) break;
          multiply_rows<2>(of, of_block, sums_of_block, n, sums);
        }
      }
    }
  }
};

// sums += products of the rows with a warp's outputs from `output` on, of chunks `from` .. `last`, at most
// `most`. All threads of a block take part; `group` is that of the warp, of `groups`. The first weights are on their way
// before the last kernel is done.
template <class Storage>
DEVICE void add_products(const Matrix& m, const RowTiles& rows, int output, int group, int groups, int from, int last, int most, int stages, float (*sums)[MOST_TILES][4]) {
  typedef Stage<Storage> Staged;
  SHARED(unsigned char, memory);
  const int tiles = tiles_there(rows.count);
  const int x_block = Staged::PARTS * WARP * 16, x_bytes = Staged::DEPTH * Staged::BLOCKS * tiles * x_block;
  const int sum_bytes = Staged::SUMS ? Staged::DEPTH * Staged::BLOCKS * tiles * TILE_ROWS * 4 : 0;
  const int weights_bytes = Staged::DEPTH * Staged::BYTES;
  const int stage = TILES_WARPS * weights_bytes + groups * (x_bytes + sum_bytes);
  const int weights = threadIdx.x / WARP * weights_bytes, x = TILES_WARPS * weights_bytes + group * (x_bytes + sum_bytes);
  const int threads = TILES_WARPS / groups * WARP, thread = threadIdx.x % threads;
  const int lane = threadIdx.x % WARP, pieces = rows.count * x_block / 16, sum_pieces = rows.count * TILE_ROWS / 4;
  const size_t x_stride = (size_t)rows.tiles * Staged::PARTS * WARP;
  const Sixteen* x_from = rows.x + ((size_t)from * Staged::BLOCKS * rows.tiles + rows.first) * Staged::PARTS * WARP;
  const Sixteen* sums_from = (const Sixteen*)(rows.sums + ((size_t)from * Staged::BLOCKS * rows.tiles + rows.first) * TILE_ROWS);
  const bool any = output < m.outputs;
  Staged staged;
  staged.begin(m, output / PANEL, (m.outputs - 1) / PANEL, lane);
  // The next stage to fetch: its number and its place.
  int next = 0;
  unsigned char* to = memory;
  unsigned char* const end = memory + stages * stage;
  const auto fetch = [&](bool of_weights, bool of_rows) {
#pragma unroll
    for (int c = 0; c < Staged::DEPTH; c++) {
      const int chunk = from + next * Staged::DEPTH + c;
      if (chunk >= last) break;
      if (any && of_weights) staged.fetch(to + weights + c * Staged::BYTES, chunk, lane);
      if (!of_rows) continue;
#pragma unroll
      for (int block = 0; block < Staged::BLOCKS; block++) {
        unsigned char* place = to + x + (c * Staged::BLOCKS + block) * tiles * x_block;
        for (int i = thread; i < pieces; i += threads) copy_sixteen(place + 16 * i, x_from + i);
        x_from += x_stride;
        if (Staged::SUMS) {
          place = to + x + x_bytes + (c * Staged::BLOCKS + block) * tiles * TILE_ROWS * 4;
          for (int i = thread; i < sum_pieces; i += threads) copy_sixteen(place + 16 * i, sums_from + i);
          sums_from += rows.tiles * TILE_ROWS / 4;
        }
      }
    }
    if (of_rows) copies_committed();
    next++;
    to += stage;
    if (to == end) to = memory;
  };
  for (int i = 0; i < stages - 1; i++) fetch(true, false);
  after_the_last();
  next = 0;
  to = memory;
  for (int i = 0; i < stages - 1; i++) fetch(false, true);
  const unsigned char* at = memory;
  for (int step = 0; step * Staged::DEPTH < most; step++) {
    oldest_landed(stages);
    // The copies of all threads have landed, and none reads the stage any more that is filled next.
    __syncthreads();
    fetch(true, true);
#pragma unroll
    for (int c = 0; c < Staged::DEPTH; c++) {
      if (from + step * Staged::DEPTH + c >= last || !any) break;
      const int place = c * Staged::BLOCKS * tiles;
      Staged::multiply(at + weights + c * Staged::BYTES, (const Sixteen*)(at + x + place * x_block),
                       (const float*)(at + x + x_bytes) + place * TILE_ROWS, rows.count, sums);
    }
    at += stage;
    if (at == end) at = memory;
  }
}

// Of `count` tiles of rows from tile `first` on, with this matrix.
template <class Storage>
DEVICE void tiles(const TilesParams& p, const Matrix& m, int first, int count) {
  SHARED(float, memory);
  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, beside = TILES_WARPS / p.groups;
  const int group = warp / beside, width = beside * WARP, begin = blockIdx.y * width, of_block = warp % beside * WARP;
  const int chunks = m.stride / Storage::STEP;
  const int from = smaller((blockIdx.z * p.groups + group) * p.slice, chunks), to = smaller(from + p.slice, chunks);
  float sums[2][MOST_TILES][4];
#pragma unroll
  for (int i = 0; i < 2 * MOST_TILES * 4; i++) sums[i / 4 / MOST_TILES][i / 4 % MOST_TILES][i % 4] = 0.0f;
  add_products<Storage>(m, {p.x, p.sums, p.tiles, first, count}, begin + of_block, group, p.groups, from, to, p.slice, p.stages, sums);

  const int first_row = first * TILE_ROWS, rows = smaller(count * TILE_ROWS, p.rows - first_row);
  const size_t part = (size_t)p.tiles * TILE_ROWS * m.outputs;
  // Of all slices of this block; `row` and `o` count from its first ones.
  const auto finish = [&](int row, int o, float sum) {
    if (row >= rows || begin + o >= m.outputs) return;
    const size_t place = (size_t)(first_row + row) * m.outputs + begin + o;
    if (gridDim.z > 1) {
      p.partial[blockIdx.z * part + place] = sum;
      return;
    }
    if (m.bias) sum += m.bias[begin + o];
    float* out = p.out + (size_t)(first_row + row) * p.out_stride + begin + o;
    *out = p.add ? *out + sum : sum;
  };
  // None reads the stages any more.
  if (p.groups > 1) __syncthreads();
#pragma unroll
  for (int n = 0; n < MOST_TILES; n++) {
    if (n >= count) break;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int row = n * TILE_ROWS + lane % 4 * 2 + i % 2, o = of_block + lane / 4 + i / 2 * 8;
      const float sum = sums[i / 4][n][i % 4] * p.scales[first_row + row];
      if (p.groups > 1) {
        memory[(group * count * TILE_ROWS + row) * width + o] = sum;
      } else {
        finish(row, o, sum);
      }
    }
  }
  if (p.groups > 1) {
    __syncthreads();
    const int all = count * TILE_ROWS * width;
    for (int i = threadIdx.x; i < all; i += TILES_WARPS * WARP) {
      float sum = memory[i] + memory[all + i];
      for (int pair = 2; pair < p.groups; pair += 2) sum += memory[pair * all + i] + memory[(pair + 1) * all + i];
      finish(i / width, i % width, sum);
    }
  }
  if (gridDim.z == 1) return;
  // The block that ends last adds up those of all.
  SHARED(u32, last);
  __threadfence();
  __syncthreads();
  u32* arrived = p.arrived + blockIdx.y * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0) *last = atomicAdd(arrived, 1u) == gridDim.z - 1u;
  __syncthreads();
  if (!*last) return;
  if (threadIdx.x == 0) *arrived = 0;
  __threadfence();
  // Many are asked for before the first is added.
  const int o = begin + threadIdx.x % width, by = TILES_WARPS * WARP / width;
  if (o >= m.outputs) return;
  const int parts = gridDim.z;
  for (int row = threadIdx.x / width; row < rows; row += by * 8) {
    float found[8][4];
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const float* partial = p.partial + (size_t)(first_row + smaller(row + i * by, rows - 1)) * m.outputs + o;
#pragma unroll
      for (int slice = 0; slice < 4; slice++) found[i][slice] = read_fresh(partial + smaller(slice, parts - 1) * part);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
      if (row + i * by >= rows) break;
      float sum = found[i][0];
#pragma unroll
      for (int slice = 1; slice < 4; slice++) sum = slice < parts ? sum + found[i][slice] : sum;
      if (m.bias) sum += m.bias[o];
      float* out = p.out + (size_t)(first_row + row + i * by) * p.out_stride + o;
      *out = p.add ? *out + sum : sum;
    }
  }
}

#define TILED_PRODUCT(number, name, Storage) \
  KERNEL_OF(tiles_##name, TilesParams, 256, 1) {                                      \
    const int first = blockIdx.x * p.pass;                                               \
    tiles<Storage>(p, p.matrix, first, smaller(p.pass, p.tiles - first));                           \
  }
TILED_STORAGES(TILED_PRODUCT)
