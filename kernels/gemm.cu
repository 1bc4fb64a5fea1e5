// gemm_f32: out[r][o] = sum over k of x[r][k] * weights[o][k] (+ bias[o]), stored or added to out, for weights of f32.
//   shapes   x [rows, inputs] f32; a matrix (see weights.cuh); out [rows, outputs] f32 with out_stride floats between rows
//   launch   grid (ceil(outputs / 32), ceil(rows / 8)), 256 threads, 33792 bytes of shared memory; parts of the matrix
//            aligned to 16 bytes
//   bytes    outputs * stride * 4 for every 8 rows (all but the first 8 from the cache)
//            + rows * inputs * 4 + rows * outputs * 4
//   twin     `gemm::portable::product`
//   order    lane l takes inputs 8 l .. 8 l + 8 of every 256, in ascending order, one chain of fused multiply-adds; the
//            32 chains are added in ascending order. Rows never meet.
struct GemmParams {
  Matrix matrix;
  const float* x;
  float* out;
  int rows;
  int out_stride;
  int add;
};

#define GEMM_ROWS 8
#define GEMM_OUTPUTS 4  // of a warp
#define GEMM_WARPS 8

template <class Storage>
DEVICE void gemm(const GemmParams& p, int tile) {
  SHARED(float, memory);
  const Matrix& m = p.matrix;
  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  const int output = (blockIdx.x * GEMM_WARPS + warp) * GEMM_OUTPUTS, row = tile * GEMM_ROWS;
  const int rows = smaller(GEMM_ROWS, p.rows - row), outputs = smaller(GEMM_OUTPUTS, m.outputs - output);
  if (outputs <= 0) return;
  const float* x = p.x + (size_t)row * m.inputs;
  const bool whole = m.inputs % EIGHT == 0;
  float sums[GEMM_OUTPUTS][GEMM_ROWS];
#pragma unroll
  for (int o = 0; o < GEMM_OUTPUTS; o++) {
#pragma unroll
    for (int r = 0; r < GEMM_ROWS; r++) sums[o][r] = 0.0f;
  }
  for (int k = lane * EIGHT; k < m.inputs; k += WARP * EIGHT) {
    float w[GEMM_OUTPUTS][EIGHT];
#pragma unroll
    for (int o = 0; o < GEMM_OUTPUTS; o++) Storage::take(m, output + smaller(o, outputs - 1), k, w[o]);
#pragma unroll
    for (int r = 0; r < GEMM_ROWS; r++) {
      if (r >= rows) break;
      float inputs[EIGHT];
      if (whole) {
        widen_eight(x + (size_t)r * m.inputs + k, inputs);
      } else {
#pragma unroll
        for (int i = 0; i < EIGHT; i++) inputs[i] = k + i < m.inputs ? x[(size_t)r * m.inputs + k + i] : 0.0f;
      }
#pragma unroll
      for (int o = 0; o < GEMM_OUTPUTS; o++) {
#pragma unroll
        for (int i = 0; i < EIGHT; i++) sums[o][r] = fmaf(inputs[i], w[o][i], sums[o][r]);
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
    if (m.bias) sum += m.bias[output + o];
    float* out = p.out + (size_t)(row + r) * p.out_stride + output + o;
    *out = p.add ? *out + sum : sum;
  }
}

KERNEL(gemm_f32, GemmParams, 256) { gemm<Floats<float>>(p, blockIdx.y); }
