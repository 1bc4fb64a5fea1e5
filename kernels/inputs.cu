// split_bf16, split_f16, round_f16: the rows x of a product in the order in which tiles of `tiles.cu` read them, as sums of
// PARTS halves, the first the nearest to scale * x, the next the nearest to what is left. bf16 is not scaled; of f16 each
// row is, by the power of two that brings its largest number to 2^14 .. 2^15, so that nothing is too large.
//
// Why so many parts: activations are f32, and tensor cores take halves. Weights of bf16 and f16 meet two parts: 16 or 22
// digits are kept, and 48 rows of a bf16 matrix that is read at 3.35 or 4.8 TB/s (H100, H200) take 48 * 2 * 2 operations
// for every 2 bytes, 322 or 461 TFLOP/s of the 990 that the data sheet says: reading takes longer. Three parts would keep
// all 24 digits and take 482 or 691. Codes meet one part of f16, 11 digits, four more than the CPU's inputs of 8 bits have:
// int8 takes 303 or 434 TFLOP/s, with two parts it would be twice that. Weights of f32 are multiplied in f32 (gemm.cu).
//   shapes   x [rows, inputs] f32; parts [blocks][tiles][PARTS][32 lanes] of 16 bytes: lane 4 g + t holds of row
//            8 tile + g inputs 4 t .. 4 t + 4 of both halves of a block of 32; sums [blocks][tiles][8 rows] f32, of one part
//            only, or null; scales [8 tiles] f32, by which products have to be multiplied. Rows beyond `rows` and
//            inputs beyond `inputs` are zero
//   launch   grid (8 tiles), 256 threads, 8 floats of shared memory
//   bytes    rows * inputs * (4 + 2 * PARTS)
//   twin     `inputs` in src/backend/cuda/tests/products.rs
//   order    each number by itself; a sum of a block: four of four numbers, then by exchanges. Rows never meet
//   error    of an x: at most 2^-16 |x| of two parts of bf16; of f16 2^-22 |x| of two, 2^-11 |x| of one, or 2^-39 of the
//            row's largest number where that is more
struct SplitParams {
  const float* x;
  Sixteen* parts;
  float* sums;
  float* scales;
  int rows;
  int inputs;
  int tiles;
  int blocks;
};

#define TILE_ROWS 8  // of a tile: columns of its product

DEVICE float power_of_two(int exponent) { return from_bits((u32)(127 + exponent) << 23); }

// By what a row is multiplied whose largest number is `most`: 2^exponent.
DEVICE int scaling(float most, Bf16) { return 0; }
DEVICE int scaling(float most, F16) {
  const int exponent = (int)(to_bits(most) >> 23 & 255);
  return exponent == 255 ? 0 : smaller(14 + 127 - exponent, 126);
}

template <class Half, int PARTS>
DEVICE void split(const SplitParams& p) {
  SHARED(float, memory);
  const int row = blockIdx.x, count = row < p.rows ? p.inputs : 0;
  const float* x = p.x + (size_t)row * p.inputs;
  float most = 0.0f;
  const bool scaled = scaling(1.0f, Half()) != 0;
  if (scaled) {
    for (int i = threadIdx.x; i < count; i += 256) {
      const float size = from_bits(to_bits(x[i]) & 0x7fffffffu);
      most = size > most ? size : most;
    }
    most = warp_max(most);
    if (threadIdx.x % WARP == 0) memory[threadIdx.x / WARP] = most;
    __syncthreads();
    for (int warp = 0; warp < 8; warp++) most = memory[warp] > most ? memory[warp] : most;
  }
  const int exponent = scaling(most, Half());
  const float scale = power_of_two(exponent);
  if (threadIdx.x == 0) p.scales[row] = power_of_two(-exponent);
  // Four threads share a block; all of a warp take part in sums.
  for (int first = 0; first < 4 * p.blocks; first += 256) {
    const int i = first + threadIdx.x, block = i / 4, t = i % 4;
    Sixteen parts[PARTS];
    float sum = 0.0f;
#pragma unroll
    for (int word = 0; word < 4; word++) {
      u32 words[PARTS] = {};
      for (int upper = 0; upper < 2; upper++) {
        const int k = 32 * block + 16 * (word / 2) + 4 * t + 2 * (word % 2) + upper;
        float left = k < count ? x[k] * scale : 0.0f;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
          const Half near = narrow(left, Half());
          words[part] |= (u32)near.bits << (16 * upper);
          left -= widen(near);
          if (PARTS == 1) sum += widen(near);
        }
      }
#pragma unroll
      for (int part = 0; part < PARTS; part++) parts[part].words[word] = words[part];
    }
    sum += __shfl_xor_sync(ALL_LANES, sum, 1);
    sum += __shfl_xor_sync(ALL_LANES, sum, 2);
    if (block >= p.blocks) continue;
    const size_t tile = (size_t)block * p.tiles + row / TILE_ROWS;
#pragma unroll
    for (int part = 0; part < PARTS; part++) p.parts[(tile * PARTS + part) * WARP + row % TILE_ROWS * 4 + t] = parts[part];
    if (p.sums && t == 0) p.sums[tile * TILE_ROWS + row % TILE_ROWS] = sum;
  }
}

KERNEL(split_bf16, SplitParams, 256) { split<Bf16, 2>(p); }
KERNEL(split_f16, SplitParams, 256) { split<F16, 2>(p); }
KERNEL(round_f16, SplitParams, 256) { split<F16, 1>(p); }
