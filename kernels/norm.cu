// norm_rows: out = x / sqrt(mean(x^2) + eps) * weight (arXiv 1910.07467), or, centred, (x - mean) / sqrt(variance + eps) *
// weight + bias (arXiv 1607.06450), of `per_row` parts of each row: the row itself, or its heads.
//   shapes   x [rows, per_row, width] with x_stride floats between rows; out likewise; weight, bias [width] f32,
//            the weight null where there is none
//   launch   grid (rows * per_row), 128 threads; out may be x
//   bytes    rows * per_row * width * 8
//   twin     `ops::norm`, `ops::rms_norm_plain`
//   order    thread t sums elements t, t + 128, ...; threads by `block_sum`
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

KERNEL(norm_rows, NormRowsParams, 128) {
  SHARED(float, memory);
  const size_t row = blockIdx.x / p.per_row;
  const int part = blockIdx.x % p.per_row * p.width;
  const float* x = p.x + row * p.x_stride + part;
  float* out = p.out + row * p.out_stride + part;
  float mean = 0.0f, squares = 0.0f;
  if (p.centred) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < p.width; i += 128) sum += x[i];
    mean = block_sum(sum, memory) / (float)p.width;
  }
  for (int i = threadIdx.x; i < p.width; i += 128) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = 1.0f / sqrtf(block_sum(squares, memory) / (float)p.width + p.eps);
  for (int i = threadIdx.x; i < p.width; i += 128) {
    const float y = (x[i] - mean) * scale, weighted = p.weight ? y * p.weight[i] : y;
    out[i] = p.centred ? weighted + p.bias[i] : weighted;
  }
}
