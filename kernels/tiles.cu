// tiles_bf16, tiles_int8, ... one for each of `TILED_STORAGES`:
// out[r][o] = sum over k of x[r][k] * weights[o][k] (+ bias[o]), stored or added to out, on tensor cores:
// tiles of 16 outputs meet tiles of 8 rows.
//   shapes   a matrix (see weights.cuh); x as `split_*` in inputs.cu leaves it; out [rows, outputs] f32 with
//            out_stride floats between rows; partial [slices][8 tiles][outputs] f32 and arrived [passes *
//            grid.y] u32, all zero before and after, where there is more than one slice
//   launch   grid (passes, ceil(outputs / 128), slices), 128 threads, `tiles_memory` bytes of shared memory
//            (src/backend/cuda/tiled.rs): a pass is at most MOST_TILES tiles of rows, a slice `slice` chunks
//   bytes    outputs * stride * bits of the storage / 8 for every pass (all but the first from the cache): 16
//            bits, int8 8.5, int4 4.5, types of files as in the file; + grid.y * rows * stride * 2 * PARTS +
//            slices * rows * outputs * 8 (from the cache)
//   twin     `gemm::portable::product` over the decoded weights (`Packed::output`) and the rounded inputs
//   order    weights of 2 bytes: a chain over k16, ascending, of each block first the first part of x, then
//            the second; codes: each block of 32 in whole numbers from zero, times its scale by one fused
//            multiply-add, ascending. How the 16 products of a k16 are added to a sum is the GPU's own, the
//            same for all rows and all places in a tile. Slices are added in ascending order. Where slices
//            begin depends on the matrix alone; rows never meet.
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
  int tiles;  // of all rows
  int pass;   // tiles of a pass, at most
  int slice;  // chunks of a slice
};

#define TILES_WARPS 4
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

// `count` rows of 16 bytes, shared by the threads.
DEVICE void copy_all(unsigned char* to, const void* from, int count, int thread, int threads) {
  for (int i = thread; i < count; i += threads) copy_sixteen(to + 16 * i, (const Sixteen*)from + i);
}

// Copies BYTES bytes of chunk `chunk` of each of a warp's `panels`, which have `chunks` chunks each.
template <int BYTES>
DEVICE void copy_panels(unsigned char* to, const void* from, const int* panels, size_t chunks, size_t chunk) {
#pragma unroll
  for (int i = 0; i < WARP_PANELS; i++) {
    const unsigned char* of_panel = (const unsigned char*)from + (panels[i] * chunks + chunk) * BYTES;
    copy_all(to + i * BYTES, of_panel, BYTES / 16, threadIdx.x % WARP, WARP);
  }
}

#define CODE_BYTES 512  // of a chunk

// Weights of a warp in a stage of the block's memory: how they are fetched and multiplied.
template <class Storage>
struct Stage;

template <class Half>
struct Stage<Floats<Half>> {
  typedef Floats<Half> Storage;
  static const int PARTS = 2, BLOCKS = 1, STAGES = 6, BYTES = WARP_PANELS * CODE_BYTES;
  static const bool SUMS = false;

  DEVICE void fetch(unsigned char* to, const Matrix& m, const int* panels, int chunk) {
    copy_panels<CODE_BYTES>(to, m.codes, panels, m.stride / Storage::STEP, chunk);
  }

  DEVICE void multiply(const unsigned char* at, int chunk, const Sixteen* x, const float*, int count, float (*sums)[MOST_TILES][4]) {
    const int lane = threadIdx.x % WARP;
    u32 a[2][2][4];  // [tile of outputs][half]
#pragma unroll
    for (int i = 0; i < WARP_PANELS; i++) {
      const Sixteen codes = ((const Sixteen*)at)[i * WARP + lane];
#pragma unroll
      for (int pair = 0; pair < 4; pair++) a[i / 2][pair / 2][pair % 2 * 2 + i % 2] = codes.words[pair];
    }
#pragma unroll
    for (int n = 0; n < MOST_TILES; n++) {
      if (n >= count) break;
#pragma unroll
      for (int part = 0; part < PARTS; part++) {
        const Sixteen b = x[(n * PARTS + part) * WARP + lane];
#pragma unroll
        for (int i = 0; i < 4; i++) multiply_tiles(Half(), sums[i % 2][n], a[i % 2][i / 2], &b.words[i / 2 * 2]);
      }
    }
    tiles_multiplied();
  }
};

template <int BITS, int KIND>
struct Stage<Codes<BITS, KIND>> {
  typedef Codes<BITS, KIND> Storage;
  static const int PARTS = 1, BLOCKS = Storage::BLOCKS, STAGES = BITS == 8 ? 5 : 3;
  static const bool SUMS = Storage::HAS_MIN;
  static const int STEP_WORDS = BITS == 8 ? 2 : 1;  // of a block in a lane's codes
  static const int UPPER = WARP_PANELS * CODE_BYTES, SCALES = UPPER + WARP_PANELS * PANEL * Storage::UPPER_BYTES;
  static const int UNITS = SCALES + WARP_PANELS * PANEL * Storage::SCALE_BYTES;
  static const int BYTES = UNITS + WARP_PANELS * PANEL * Storage::UNIT_BYTES;

  DEVICE void fetch(unsigned char* to, const Matrix& m, const int* panels, int chunk) {
    const size_t chunks = m.stride / Storage::STEP;
    copy_panels<CODE_BYTES>(to, m.codes, panels, chunks, chunk);
    copy_panels<PANEL * Storage::UPPER_BYTES>(to + UPPER, m.upper, panels, chunks, chunk);
    copy_panels<PANEL * Storage::SCALE_BYTES>(to + SCALES, m.scales, panels, chunks, chunk);
    copy_panels<PANEL * Storage::UNIT_BYTES>(to + UNITS, m.units, panels, m.stride / 256, chunk * Storage::STEP / 256);
  }

  DEVICE void multiply(const unsigned char* at, int chunk, const Sixteen* x, const float* x_sums, int count, float (*sums)[MOST_TILES][4]) {
    const int lane = threadIdx.x % WARP, row = lane / 4, column = lane % 4 * 2;
    Sixteen codes[WARP_PANELS];
#pragma unroll
    for (int i = 0; i < WARP_PANELS; i++) codes[i] = ((const Sixteen*)at)[i * WARP + lane];
    // One block's code, which the compiler would write down for each.
#pragma unroll 1
    for (int block = 0; block < BLOCKS; block++) {
      u32 a[2][2][4];
      float scales[WARP_PANELS][2], minima[WARP_PANELS];
#pragma unroll
      for (int i = 0; i < WARP_PANELS; i++) {
        const u32* upper = (const u32*)(at + UPPER + (i * WARP + lane) * (Storage::UPPER_BYTES / 4));
#pragma unroll
        for (int pair = 0; pair < 4; pair++) {
          a[i / 2][pair / 2][pair % 2 * 2 + i % 2] = Storage::halves(codes[i], upper, block, pair);
        }
        // The next block's to the front.
#pragma unroll
        for (int word = 0; word + STEP_WORDS < 4; word++) codes[i].words[word] = codes[i].words[word + STEP_WORDS];
        const u16* of_row = (const u16*)(at + SCALES + (i * PANEL + row) * Storage::SCALE_BYTES);
        const u16* units = (const u16*)(at + UNITS + (i * PANEL + row) * Storage::UNIT_BYTES);
        for (int half = 0; half < 2; half++) scales[i][half] = Storage::scale(of_row, units, block, half);
        minima[i] = -Storage::minimum(of_row, units, block);
      }
#pragma unroll
      for (int n = 0; n < MOST_TILES; n++) {
        if (n >= count) break;
        const Sixteen b = x[(block * count + n) * WARP + lane];
        float whole[2][2][4];  // [half, where each has a scale][tile of outputs]
#pragma unroll
        for (int i = 0; i < 16; i++) whole[i / 8][i / 4 % 2][i % 4] = 0.0f;
#pragma unroll
        for (int i = 0; i < 4; i++) {
          multiply_tiles(F16(), whole[Storage::HAS_HALVES ? i / 2 : 0][i % 2], a[i % 2][i / 2], &b.words[i / 2 * 2]);
        }
        tiles_multiplied();
#pragma unroll
        for (int half = 0; half < (Storage::HAS_HALVES ? 2 : 1); half++) {
#pragma unroll
          for (int i = 0; i < 8; i++) {
            float* sum = &sums[i / 4][n][i % 4];
            *sum = fmaf(whole[half][i / 4][i % 4], scales[i / 2][half], *sum);
          }
        }
        if (SUMS) {
          const float* two = x_sums + (block * count + n) * TILE_ROWS + column;
#pragma unroll
          for (int i = 0; i < 8; i++) sums[i / 4][n][i % 4] = fmaf(two[i % 2], minima[i / 2], sums[i / 4][n][i % 4]);
        }
      }
    }
  }
};

// sums += products of the rows with a warp's outputs from `output` on, of chunks `from` .. `to`. All threads
// of a block take part.
template <class Storage>
DEVICE void add_products(const Matrix& m, const RowTiles& rows, int output, int from, int to, float (*sums)[MOST_TILES][4]) {
  typedef Stage<Storage> Staged;
  SHARED(unsigned char, memory);
  const int x_bytes = rows.count * Staged::PARTS * WARP * 16, sum_bytes = Staged::SUMS ? rows.count * TILE_ROWS * 4 : 0;
  const int stage = TILES_WARPS * Staged::BYTES + Staged::BLOCKS * (x_bytes + sum_bytes);
  const int weights = threadIdx.x / WARP * Staged::BYTES, x = TILES_WARPS * Staged::BYTES;
  const int x_sums = x + Staged::BLOCKS * x_bytes;
  int panels[WARP_PANELS];
  for (int i = 0; i < WARP_PANELS; i++) panels[i] = smaller(output / PANEL + i, (m.outputs - 1) / PANEL);

  const auto fetch = [&](int chunk) {
    unsigned char* at = memory + (chunk - from) % Staged::STAGES * stage;
    if (chunk < to) {
      if (output < m.outputs) Staged::fetch(at + weights, m, panels, chunk);
      for (int block = 0; block < Staged::BLOCKS; block++) {
        const size_t tile = (size_t)(chunk * Staged::BLOCKS + block) * rows.tiles + rows.first;
        const Sixteen* of_block = rows.x + tile * Staged::PARTS * WARP;
        copy_all(at + x + block * x_bytes, of_block, x_bytes / 16, threadIdx.x, TILES_WARPS * WARP);
        if (Staged::SUMS) copy_all(at + x_sums + block * sum_bytes, rows.sums + tile * TILE_ROWS, sum_bytes / 16, threadIdx.x, TILES_WARPS * WARP);
      }
    }
    copies_committed();
  };
  for (int i = 0; i < Staged::STAGES - 1; i++) fetch(from + i);
  for (int chunk = from; chunk < to; chunk++) {
    copies_landed<Staged::STAGES - 2>();
    // The copies of all threads have landed, and none reads the stage any more that is filled next.
    __syncthreads();
    fetch(chunk + Staged::STAGES - 1);
    const unsigned char* at = memory + (chunk - from) % Staged::STAGES * stage;
    if (output < m.outputs) {
      Staged::multiply(at + weights, chunk, (const Sixteen*)(at + x), (const float*)(at + x_sums), rows.count, sums);
    }
  }
}

// Of `count` tiles of rows from tile `first` on, with this matrix.
template <class Storage>
DEVICE void tiles(const TilesParams& p, const Matrix& m, int first, int count) {
  SHARED(u32, last);
  const int begin = blockIdx.y * TILES_WARPS * WARP, output = begin + threadIdx.x / WARP * WARP;
  const int chunks = m.stride / Storage::STEP, from = blockIdx.z * p.slice, to = smaller(from + p.slice, chunks);
  float sums[2][MOST_TILES][4];
#pragma unroll
  for (int i = 0; i < 2 * MOST_TILES * 4; i++) sums[i / 4 / MOST_TILES][i / 4 % MOST_TILES][i % 4] = 0.0f;
  add_products<Storage>(m, {p.x, p.sums, p.tiles, first, count}, output, from, to, sums);

  const int lane = threadIdx.x % WARP, slices = gridDim.z;
  const size_t part = (size_t)p.tiles * TILE_ROWS * m.outputs;
#pragma unroll
  for (int n = 0; n < MOST_TILES; n++) {
    if (n >= count) break;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int row = (first + n) * TILE_ROWS + lane % 4 * 2 + i % 2, o = output + lane / 4 + i / 2 * 8;
      if (row >= p.rows || o >= m.outputs) continue;
      float sum = sums[i / 4][n][i % 4] * p.scales[row];
      if (slices > 1) {
        p.partial[blockIdx.z * part + (size_t)row * m.outputs + o] = sum;
        continue;
      }
      if (m.bias) sum += m.bias[o];
      float* out = p.out + (size_t)row * p.out_stride + o;
      *out = p.add ? *out + sum : sum;
    }
  }
  if (slices == 1) return;
  // The block that ends last adds the slices up.
  __threadfence();
  __syncthreads();
  u32* arrived = p.arrived + blockIdx.y * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0) *last = atomicAdd(arrived, 1u) == slices - 1u;
  __syncthreads();
  if (!*last) return;
  if (threadIdx.x == 0) *arrived = 0;
  __threadfence();
  const int o = begin + threadIdx.x;
  if (o >= m.outputs) return;
  for (int row = first * TILE_ROWS; row < smaller((first + count) * TILE_ROWS, p.rows); row++) {
    const volatile float* partial = p.partial + (size_t)row * m.outputs + o;
    float sum = partial[0];
    for (int slice = 1; slice < slices; slice++) sum += partial[slice * part];
    if (m.bias) sum += m.bias[o];
    float* out = p.out + (size_t)row * p.out_stride + o;
    *out = p.add ? *out + sum : sum;
  }
}

#define TILED_PRODUCT(number, name, Storage) \
  KERNEL(tiles_##name, TilesParams, 128) {                                                \
    const int first = blockIdx.x * p.pass;                                               \
    tiles<Storage>(p, p.matrix, first, smaller(p.pass, p.tiles - first));                           \
  }
TILED_STORAGES(TILED_PRODUCT)
