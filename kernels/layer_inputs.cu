// Inputs that blocks have of their own for each token (`Gemma4TextModel.project_per_layer_inputs` of transformers).

// mix_inputs: x = (x + root * table[token of the row]) / sqrt(2), where x is projected and normalised.
//   shapes   table a matrix (see weights.cuh), of which `inputs` are the inputs of all blocks; tokens [rows];
//            x [rows, inputs] f32
//   launch   grid (rows, ceil(inputs / 1024)), 128 threads
//   bytes    rows * inputs * (bytes of the storage + 8)
//   twin     `layer_inputs` in src/backend/cpu/inputs.rs
//   order    element by element: a product, a sum, a product
struct MixInputsParams {
  Matrix table;
  const u32* tokens;
  float* x;
  float root;
  int padding;
};

KERNEL(mix_inputs, MixInputsParams, 128) {
  const int k = (blockIdx.y * 128 + threadIdx.x) * EIGHT;
  if (k >= p.table.inputs) return;
  float known[EIGHT];
  take_eight(p.table, p.tokens[blockIdx.x], k, known);
  float* x = p.x + (size_t)blockIdx.x * p.table.inputs + k;
  for (int i = 0; i < EIGHT; i++) {
    if (k + i < p.table.inputs) x[i] = (x[i] + known[i] * p.root) * 0.70710678118654752440f;
  }
}

// gate_inputs: out = activation(gate) * input, the input being a block's own.
//   shapes   gates [rows, width] f32; inputs [rows, width] f32 with stride floats between rows; out [rows, width] f32
//   launch   grid (ceil(rows * width / 256)), 256 threads
//   bytes    rows * width * 12
//   twin     `read_input` in src/backend/cpu/inputs.rs
//   order    element by element
struct GateInputsParams {
  const float* gates;
  const float* inputs;
  float* out;
  int rows;
  int width;
  int stride;
  int kind;  // as of `activate`
};

KERNEL(gate_inputs, GateInputsParams, 256) {
  const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i >= (size_t)p.rows * p.width) return;
  p.out[i] = activated(p.gates[i], p.kind) * p.inputs[i / p.width * p.stride + i % p.width];
}
