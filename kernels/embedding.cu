// embed_tokens: out[row] = scale * table[tokens[row]]
//   shapes   table [vocab, stride] of `storage`, of which `width` are the row; tokens [rows]; out [rows, width] f32
//   launch   grid (rows), 128 threads
//   bytes    rows * width * (bytes of the storage + 4)
//   twin     `Packed::output`, `embed` in src/backend/cpu/pass.rs
//   order    one product
struct EmbedTokensParams {
  const void* table;
  const u32* tokens;
  float* out;
  int storage;
  int width;
  int stride;
  float scale;
};

DEVICE float element(const void* weights, int storage, size_t index) {
  if (storage == STORAGE_F32) return widen(((const float*)weights)[index]);
  if (storage == STORAGE_BF16) return widen(((const Bf16*)weights)[index]);
  return widen(((const F16*)weights)[index]);
}

KERNEL(embed_tokens, EmbedTokensParams, 128) {
  const size_t row = blockIdx.x, token = p.tokens[row];
  for (int i = threadIdx.x; i < p.width; i += 128) {
    p.out[row * p.width + i] = element(p.table, p.storage, token * p.stride + i) * p.scale;
  }
}

// add_positions: x[row] += table[offset + position of the row]
//   shapes   table [offset + context, width] f32; x [rows, width] f32; row_spans [rows]; spans
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
  const Span span = p.spans[p.row_spans[row]];
  const size_t position = p.offset + span.start + (row - span.first_row);
  for (int i = threadIdx.x; i < p.width; i += 128) p.x[(size_t)row * p.width + i] += p.table[position * p.width + i];
}
