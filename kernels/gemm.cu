// gemm_f32, gemm_bf16, gemm_f16: out[r][o] = sum over k of x[r][k] * weights[o][k] (+ bias[o]), stored or added to out.
//   shapes   x [rows, inputs] f32; weights [outputs, stride], stride = inputs up to a multiple of 8, filled with
//            zeros; bias [outputs] f32 or null; out [rows, outputs] f32
//   launch   grid (ceil(outputs / 32), ceil(rows / 8)), 256 threads, 33792 bytes of shared memory; weights aligned to
//            16 bytes
//   bytes    outputs * stride * bytes of the storage for every 8 rows (all but the first 8 from the cache)
//            + rows * inputs * 4 + rows * outputs * 4
//   twin     `gemm::portable::product`
//   order    lane l takes inputs 8 l .. 8 l + 8 of every 256, in ascending order, one chain of fused multiply-adds; the
//            32 chains are added in ascending order. Rows never meet.
struct GemmParams {
  const float* x;
  const void* weights;
  const float* bias;
  float* out;
  int rows;
  int inputs;
  int outputs;
  int stride;
  int add;
};

#define GEMM_ROWS 8
#define GEMM_OUTPUTS 4  // of a warp
#define GEMM_WARPS 8
#define GEMM_STEP 8  // inputs that a lane takes at once

struct __align__(16) Sixteen {
  u32 words[4];
};

DEVICE void take(const float* from, float* to) {
  for (int half = 0; half < 2; half++) {
    const Sixteen four = ((const Sixteen*)from)[half];
    for (int i = 0; i < 4; i++) to[4 * half + i] = from_bits(four.words[i]);
  }
}

template <class Half>
DEVICE void take(const Half* from, float* to) {
  const Sixteen eight = *(const Sixteen*)from;
  for (int i = 0; i < 4; i++) {
    Half low, high;
    low.bits = (u16)eight.words[i];
    high.bits = (u16)(eight.words[i] >> 16);
    to[2 * i] = widen(low);
    to[2 * i + 1] = widen(high);
  }
}

template <class Weight>
DEVICE void gemm(const GemmParams& p) {
  SHARED(float, memory);
  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  const int output = (blockIdx.x * GEMM_WARPS + warp) * GEMM_OUTPUTS, row = blockIdx.y * GEMM_ROWS;
  const int rows = smaller(GEMM_ROWS, p.rows - row), outputs = smaller(GEMM_OUTPUTS, p.outputs - output);
  if (outputs <= 0) return;
  const Weight* weights = (const Weight*)p.weights + (size_t)output * p.stride;
  const float* x = p.x + (size_t)row * p.inputs;
  const bool whole = p.inputs % GEMM_STEP == 0;
  float sums[GEMM_OUTPUTS][GEMM_ROWS];
#pragma unroll
  for (int o = 0; o < GEMM_OUTPUTS; o++) {
#pragma unroll
    for (int r = 0; r < GEMM_ROWS; r++) sums[o][r] = 0.0f;
  }
  for (int k = lane * GEMM_STEP; k < p.stride; k += WARP * GEMM_STEP) {
    float w[GEMM_OUTPUTS][GEMM_STEP];
#pragma unroll
    for (int o = 0; o < GEMM_OUTPUTS; o++) take(weights + (size_t)smaller(o, outputs - 1) * p.stride + k, w[o]);
#pragma unroll
    for (int r = 0; r < GEMM_ROWS; r++) {
      if (r >= rows) break;
      float inputs[GEMM_STEP];
      if (whole) {
        take(x + (size_t)r * p.inputs + k, inputs);
      } else {
#pragma unroll
        for (int i = 0; i < GEMM_STEP; i++) inputs[i] = k + i < p.inputs ? x[(size_t)r * p.inputs + k + i] : 0.0f;
      }
#pragma unroll
      for (int o = 0; o < GEMM_OUTPUTS; o++) {
#pragma unroll
        for (int i = 0; i < GEMM_STEP; i++) sums[o][r] = fmaf(inputs[i], w[o][i], sums[o][r]);
      }
    }
  }
  // Every lane adds up one sum of 32 lanes; a row of 33 floats keeps them in different banks.
  float* parts = memory + warp * GEMM_OUTPUTS * GEMM_ROWS * (WARP + 1);
#pragma unroll
  for (int o = 0; o < GEMM_OUTPUTS; o++) {
#pragma unroll
    for (int r = 0; r < GEMM_ROWS; r++) parts[(o * GEMM_ROWS + r) * (WARP + 1) + lane] = sums[o][r];
  }
  __syncwarp();
  float sum = 0.0f;
  for (int l = 0; l < WARP; l++) sum += parts[lane * (WARP + 1) + l];
  const int o = lane / GEMM_ROWS, r = lane % GEMM_ROWS;
  if (o < outputs && r < rows) {
    if (p.bias) sum += p.bias[output + o];
    float* out = p.out + (size_t)(row + r) * p.outputs + output + o;
    *out = p.add ? *out + sum : sum;
  }
}

KERNEL(gemm_f32, GemmParams, 256) { gemm<float>(p); }
KERNEL(gemm_bf16, GemmParams, 256) { gemm<Bf16>(p); }
KERNEL(gemm_f16, GemmParams, 256) { gemm<F16>(p); }
