// embed_tokens: out[row] = scale * table[tokens[row]]
//   shapes   a matrix (see weights.cuh), of which `inputs` are the row; tokens [rows]; out [rows, inputs] f32
//   launch   grid (rows), 128 threads
//   bytes    rows * inputs * (bytes of the storage + 4)
//   twin     `Packed::output`, `embed` in src/backend/cpu/pass.rs
//   order    one product
struct EmbedTokensParams {
  Matrix table;
  const u32* tokens;
  float* out;
  float scale;
};

#define TAKE(number, name, Storage) \
  case number: Storage::take(m, row, k, to); break;

DEVICE void take_eight(const Matrix& m, size_t row, int k, float* to) {
  switch (m.storage) { STORAGES(TAKE) }
}

KERNEL(embed_tokens, EmbedTokensParams, 128) {
  const size_t row = blockIdx.x, token = p.tokens[row];
  for (int k = threadIdx.x * EIGHT; k < p.table.inputs; k += 128 * EIGHT) {
    float weights[EIGHT];
    take_eight(p.table, token, k, weights);
    for (int i = 0; i < EIGHT; i++) {
      if (k + i < p.table.inputs) p.out[row * p.table.inputs + k + i] = weights[i] * p.scale;
    }
  }
}

// add_positions: x[row] += table[offset + position of the row]
//   shapes   table [offset + context, width] f32; x [rows, width] f32; row_spans [rows], negative of padding; spans
//   launch   grid (rows), 128 threads
//   bytes    rows * width * 12
//   twin     `embed` in src/backend/cpu/pass.rs
//   order    one sum
struct AddPositionsParams {
  const float* table;
  float* x;
  const Span* spans;
  const int* row_spans;
  int offset;
  int width;
};

KERNEL(add_positions, AddPositionsParams, 128) {
  const int row = blockIdx.x;
  if (p.row_spans[row] < 0) return;
  const Span span = p.spans[p.row_spans[row]];
  const size_t position = p.offset + span.start + (row - span.first_row);
  for (int i = threadIdx.x; i < p.width; i += 128) p.x[(size_t)row * p.width + i] += p.table[position * p.width + i];
}
