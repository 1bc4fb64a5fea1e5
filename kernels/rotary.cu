// rotary_store: rotates the query heads of each row in place, and stores its rotated keys and its values at the row's
// own position (RoPE, arXiv 2104.09864).
//   shapes   qkv [rows, (heads + 2 * kv_heads) * dim] f32 with stride floats between rows, of no key/value heads where K/V is
//            another layer's; table [positions][cosine, sine][pairs] f32, null without rotation; growth [positions] f32, a
//            factor of rotated queries, or null; row_spans [rows], negative of padding;
//            spans with K/V [layer][kv_head][key, value][capacity][dim] f32
//   launch   grid (rows, heads + kv_heads), 128 threads; positions of the rows lie inside of the table and of `own`
//   bytes    rows * (heads * dim * 8 + kv_heads * dim * 16)
//   twin     `RotaryTable::rotate`, `Region::store`
//   order    two products and a sum per element, then the factor
struct RotaryStoreParams {
  float* qkv;
  const float* table;
  const float* growth;
  const Span* spans;
  const int* row_spans;
  int heads;
  int kv_heads;
  int dim;
  int pairs;
  int interleaved;
  int before;  // floats of a position in the layers before
  int stride;
  int padding;
};

// Element `d` of a head, rotated.
DEVICE float rotated(const float* head, const float* angles, int d, int pairs, int interleaved) {
  if (d >= 2 * pairs) return head[d];
  const int pair = interleaved ? d / 2 : d % pairs;
  const bool second = interleaved ? d % 2 == 1 : d >= pairs;
  const float a = head[interleaved ? 2 * pair : pair], b = head[interleaved ? 2 * pair + 1 : pair + pairs];
  const float cosine = angles[pair], sine = angles[pairs + pair];
  return second ? b * cosine + a * sine : a * cosine - b * sine;
}

KERNEL(rotary_store, RotaryStoreParams, 128) {
  const int row = blockIdx.x, head = blockIdx.y;
  if (p.row_spans[row] < 0) return;
  const Span span = p.spans[p.row_spans[row]];
  const int position = span.start + (row - span.first_row), place = position - span.shared_len;
  const int pairs = p.table ? p.pairs : 0;
  const float* angles = p.table + (size_t)position * 2 * pairs;
  float* x = p.qkv + (size_t)row * p.stride + head * p.dim;
  if (head >= p.heads) {
    const int of_kv = head - p.heads;
    const float* values = x + p.kv_heads * p.dim;
    const size_t key = kv_index(p.before, of_kv, 0, span.own_capacity, place, p.dim);
    const size_t value = kv_index(p.before, of_kv, 1, span.own_capacity, place, p.dim);
    for (int d = threadIdx.x; d < p.dim; d += 128) {
      span.own[key + d] = rotated(x, angles, d, pairs, p.interleaved);
      span.own[value + d] = values[d];
    }
    return;
  }
  const float growth = p.growth ? p.growth[position] : 1.0f;
  // A thread has both elements of a pair.
  for (int pair = threadIdx.x; pair < pairs; pair += 128) {
    const int first = p.interleaved ? 2 * pair : pair, second = p.interleaved ? 2 * pair + 1 : pair + pairs;
    const float a = rotated(x, angles, first, pairs, p.interleaved);
    const float b = rotated(x, angles, second, pairs, p.interleaved);
    x[first] = a * growth;
    x[second] = b * growth;
  }
  for (int d = 2 * pairs + threadIdx.x; d < p.dim && p.growth; d += 128) x[d] *= growth;
}
