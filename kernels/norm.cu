// norm_rows: out = x / sqrt(mean(x^2) + eps) * weight (arXiv 1910.07467), or, centred, (x - mean) / sqrt(variance + eps) *
// weight + bias (arXiv 1607.06450), of `per_row` parts of each row: the row itself, or its heads.
//   shapes   x [rows, per_row, width] with x_stride floats between rows; out likewise; weight, bias [width] f32,
//            the weight null where there is none
//   launch   grid (rows * per_row), 256 threads, 32 bytes of shared memory; out may be x
//   bytes    rows * per_row * width * 8
//   twin     `ops::norm`, `ops::rms_norm_plain`
//   order    thread t sums elements 4 t .. 4 t + 4, 4 t + 1024, ..., or t, t + 256, ... where four are not
//            aligned; threads by `block_sum`
struct NormRowsParams {
  const float* x;
  float* out;
  const float* weight;
  const float* bias;
  int x_stride;
  int out_stride;
  int per_row;
  int width;
  float eps;
  int centred;
};

#define NORM_THREADS 256

KERNEL(norm_rows, NormRowsParams, NORM_THREADS) {
  SHARED(float, memory);
  const size_t row = blockIdx.x / p.per_row;
  const int part = blockIdx.x % p.per_row * p.width;
  const float* x = p.x + row * p.x_stride + part;
  float* out = p.out + row * p.out_stride + part;
  // Four at a time where all begin at 16 bytes.
  const bool fours = (((size_t)x | (size_t)out | (size_t)p.weight) % 16 | p.width % 4) == 0 && !p.centred;
  if (fours) {
    float squares = 0.0f;
#pragma unroll 4
    for (int i = 4 * threadIdx.x; i < p.width; i += 4 * NORM_THREADS) {
      const Sixteen four = *(const Sixteen*)(x + i);
#pragma unroll
      for (int j = 0; j < 4; j++) squares += from_bits(four.words[j]) * from_bits(four.words[j]);
    }
    const float scale = 1.0f / sqrtf(block_sum(squares, memory) / (float)p.width + p.eps);
#pragma unroll 4
    for (int i = 4 * threadIdx.x; i < p.width; i += 4 * NORM_THREADS) {
      Sixteen four = *(const Sixteen*)(x + i), by = {};
      if (p.weight) by = *(const Sixteen*)(p.weight + i);
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const float y = from_bits(four.words[j]) * scale;
        four.words[j] = to_bits(p.weight ? y * from_bits(by.words[j]) : y);
      }
      *(Sixteen*)(out + i) = four;
    }
    return;
  }
  float mean = 0.0f, squares = 0.0f;
  if (p.centred) {
    float sum = 0.0f;
#pragma unroll 8
    for (int i = threadIdx.x; i < p.width; i += NORM_THREADS) sum += x[i];
    mean = block_sum(sum, memory) / (float)p.width;
  }
#pragma unroll 8
  for (int i = threadIdx.x; i < p.width; i += NORM_THREADS) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = 1.0f / sqrtf(block_sum(squares, memory) / (float)p.width + p.eps);
#pragma unroll 8
  for (int i = threadIdx.x; i < p.width; i += NORM_THREADS) {
    const float y = (x[i] - mean) * scale, weighted = p.weight ? y * p.weight[i] : y;
    out[i] = p.centred ? weighted + p.bias[i] : weighted;
  }
}
