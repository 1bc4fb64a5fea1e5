// gate_rows: out *= sigmoid(gate), the gate of attention.
//   shapes   out [rows, width] f32; gates [rows, width] f32 with stride floats between rows
//   launch   grid (ceil(rows * width / 256)), 256 threads
//   bytes    rows * width * 12
//   twin     `attend` in src/backend/cpu/pass.rs
//   order    element by element
struct GateRowsParams {
  const float* gates;
  float* out;
  int rows;
  int width;
  int stride;
  int padding;
};

DEVICE float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

KERNEL(gate_rows, GateRowsParams, 256) {
  const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i >= (size_t)p.rows * p.width) return;
  p.out[i] *= sigmoid(p.gates[i / p.width * p.stride + i % p.width]);
}

// add_gated: out += sigmoid(gate of the row) * x, the expert that all rows take.
//   shapes   x, out [rows, width] f32; gates [rows] f32
//   launch   grid (ceil(rows * width / 256)), 256 threads
//   bytes    rows * (width * 12 + 4)
//   twin     `shared_expert` in src/backend/cpu/experts.rs
//   order    element by element
struct AddGatedParams {
  const float* x;
  const float* gates;
  float* out;
  int rows;
  int width;
};

KERNEL(add_gated, AddGatedParams, 256) {
  const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i < (size_t)p.rows * p.width) p.out[i] += sigmoid(p.gates[i / p.width]) * p.x[i];
}
