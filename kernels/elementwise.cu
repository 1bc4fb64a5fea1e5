// activate: out = activation(gate) * up, or activation(up) without a gate.
//   shapes   in [rows, gate and up or up alone, width] f32; out [rows, width] f32
//   launch   grid (ceil(rows * width / 256)), 256 threads
//   bytes    rows * width * (8 or 12)
//   twin     `ops::activate`
//   order    element by element
struct ActivateParams {
  const float* in;
  float* out;
  int rows;
  int width;
  int kind;  // 0 SiLU, 1 GELU, 2 GELU by tanh, 3 ReLU, 4 a clamped swish of a gate and what it gates
  int gated;
};

// The error function (Abramowitz and Stegun, 7.1.26), the twin of `ops::erf`.
DEVICE float error_function(float x) {
  const float magnitude = fabsf(x), t = 1.0f / (1.0f + 0.3275911f * magnitude);
  float series = 1.0614054f;
  series = series * t + -1.453152f;
  series = series * t + 1.4214137f;
  series = series * t + -0.28449674f;
  series = series * t + 0.2548296f;
  return copysignf(1.0f - series * t * exponential(-magnitude * magnitude), x);
}

DEVICE float activated(float x, int kind) {
  if (kind == 0) return x / (1.0f + exponential(-x));
  if (kind == 1) return 0.5f * x * (1.0f + error_function(x * 0.70710678118654752440f));
  // Twice the root of 2 / pi, as the twin rounds it.
  if (kind == 2) return x / (1.0f + exponential(-1.59576905f * (x + 0.044715f * x * x * x)));
  return x > 0.0f ? x : 0.0f;
}

// Both are clamped, the gate from above (`GptOssExperts` of transformers).
DEVICE float clamped_swish(float gate, float up) {
  gate = gate > 7.0f ? 7.0f : gate;
  up = up < -7.0f ? -7.0f : up > 7.0f ? 7.0f : up;
  return gate / (1.0f + exponential(-1.702f * gate)) * (1.0f + up);
}

KERNEL(activate, ActivateParams, 256) {
  const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i >= (size_t)p.rows * p.width) return;
  const size_t row = i / p.width, column = i % p.width;
  if (p.gated) {
    const float* gate = p.in + row * 2 * p.width + column;
    p.out[i] = p.kind == 4 ? clamped_swish(gate[0], gate[p.width]) : activated(gate[0], p.kind) * gate[p.width];
  } else {
    p.out[i] = activated(p.in[i], p.kind);
  }
}

// add_scaled: x += scale * branch
//   shapes   x, branch [len] f32
//   launch   grid (ceil(len / 256)), 256 threads
//   bytes    len * 12
//   twin     `add` in src/backend/cpu/pass.rs
//   order    element by element
struct AddScaledParams {
  const float* branch;
  float* x;
  u64 len;
  float scale;
};

KERNEL(add_scaled, AddScaledParams, 256) {
  const u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
  if (i < p.len) p.x[i] += p.scale * p.branch[i];
}

// scale_values: x *= scale, or cap * tanh(scale * x / cap)
//   shapes   x [len] f32
//   launch   grid (ceil(len / 256)), 256 threads
//   bytes    len * 8
//   twin     `head` in src/backend/cpu/pass.rs
//   order    element by element
struct ScaleValuesParams {
  float* x;
  u64 len;
  float scale;
  float soft_cap;  // 0: none
};

KERNEL(scale_values, ScaleValuesParams, 256) {
  const u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
  if (i >= p.len) return;
  const float x = p.x[i];
  p.x[i] = p.soft_cap > 0.0f ? soft_capped(x, p.scale, p.soft_cap) : x * p.scale;
}

// gather_rows: out[i] = in[rows[i]]
//   shapes   in [any, width] f32; rows [count]; out [count, width] f32, not in
//   launch   grid (count), 128 threads
//   bytes    count * width * 8
//   twin     `compact` in src/backend/cpu/pass.rs
//   order    none
struct GatherRowsParams {
  const float* in;
  const int* rows;
  float* out;
  int width;
};

KERNEL(gather_rows, GatherRowsParams, 128) {
  const size_t to = blockIdx.x, from = p.rows[to];
  for (int i = threadIdx.x; i < p.width; i += 128) p.out[to * p.width + i] = p.in[from * p.width + i];
}
