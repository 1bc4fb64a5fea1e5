// Mixtures of experts. Which experts a row takes is decided here, and so is which rows are multiplied together: no
// launch depends on it, and the host never hears of it. A *choice* is one expert that one row takes; choices are put
// expert by expert, so that those of an expert are rows of a product.

// choose_experts: the `used` largest logits of each row, of equal ones the first, in ascending order of their numbers;
// their shares are exp(logit - largest) over the sum of all, or, normalised, of those that are taken; times a factor
// of the expert, if experts have such.
//   shapes   logits [rows, count] f32; positions [rows], negative of padding, which takes none: -1;
//            factors [count] f32 or null; chosen, shares [rows, used]
//   launch   grid (rows), 32 threads, used * 8 bytes of shared memory; used <= count
//   bytes    rows * (used * count * 4 (all but the first from the cache) + used * 8)
//   twin     `choose` in src/backend/cpu/experts.rs, `mlp_and_experts` in src/backend/cpu/beside.rs
//   order    exponentials are added as `ops::softmax` does, those taken in descending order. Rows never meet.
struct ChooseExpertsParams {
  const float* logits;
  const int* positions;
  const float* factors;
  int* chosen;
  float* shares;
  int count;
  int used;
  int normalised;
};

// Numbers in the order of logits, of equal ones the greater for the first: no two of a row are equal.
DEVICE u64 rank_of(const float* logits, int i, int count) {
  const u32 bits = to_bits(logits[i]);
  const u32 ascending = bits >> 31 ? ~bits : bits | 0x80000000u;
  return (u64)ascending << 32 | (u32)(count - 1 - i);
}

KERNEL(choose_experts, ChooseExpertsParams, 32) {
  SHARED(float, taken);  // exponentials, then numbers
  int* numbers = (int*)(taken + p.used);
  const size_t row = blockIdx.x;
  const int lane = threadIdx.x;
  int* chosen = p.chosen + row * p.used;
  float* shares = p.shares + row * p.used;
  if (p.positions[row] < 0) {
    for (int i = lane; i < p.used; i += WARP) {
      chosen[i] = -1;
      shares[i] = 0.0f;
    }
    return;
  }
  const float* logits = p.logits + row * p.count;
  float largest = from_bits(0xff800000u);
  for (int i = lane; i < p.count; i += WARP) largest = logits[i] > largest ? logits[i] : largest;
  largest = warp_max(largest);
  float all = 0.0f;
  for (int i = lane; i < p.count && lane < 8; i += 8) all += exponential(logits[i] - largest);
  all = warp_sum(all);
  u64 last = ~0ull;
  float total = 0.0f;
  for (int n = 0; n < p.used; n++) {
    u64 best = 0;
    for (int i = lane; i < p.count; i += WARP) {
      const u64 rank = rank_of(logits, i, p.count);
      if (rank < last && rank > best) best = rank;
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
      const u64 other = __shfl_xor_sync(ALL_LANES, best, distance);
      best = other > best ? other : best;
    }
    last = best;
    const int number = p.count - 1 - (int)(u32)best;
    const float share = exponential(logits[number] - largest);
    total += share;
    if (lane == 0) {
      taken[n] = share;
      numbers[n] = number;
    }
  }
  __syncwarp();
  for (int n = lane; n < p.used; n += WARP) {
    int before = 0;
    for (int other = 0; other < p.used; other++) before += numbers[other] < numbers[n];
    chosen[before] = numbers[n];
    const float share = taken[n] / (p.normalised ? total : all);
    shares[before] = p.factors ? share * p.factors[numbers[n]] : share;
  }
}

// Choices of one expert that are multiplied together; without any, nothing is to be done.
struct Together {
  int expert;
  int count;
};

// group_choices: the choices expert by expert, of each in the order of rows, in groups that have `most` places each, so
// that every group begins where a tile of a product does.
//   shapes   chosen [choices], negative where there is none; rows [groups, most]: at the place of a choice its row, and 0 at
//            places without one; places [choices]: where a choice went, and 0 where there is none; together [groups], with
//            empty ones behind the last
//   launch   grid (1), 256 threads, experts * 4 bytes of shared memory; groups >= what there can be
//   bytes    choices * 4 * (experts / 256 + 1) (all but the first from the cache) + choices * 4 + groups * (8 + most * 4)
//   twin     none: the loop over experts in src/backend/cpu/experts.rs
//   order    none
struct GroupChoicesParams {
  const int* chosen;
  int* rows;
  int* places;
  Together* together;
  int choices;
  int used;  // choices of a row
  int experts;
  int groups;
  int most;
  int padding;
};

KERNEL(group_choices, GroupChoicesParams, 256) {
  SHARED(int, counts);
  for (int expert = threadIdx.x; expert < p.experts; expert += 256) {
    int count = 0;
    for (int i = 0; i < p.choices; i++) count += p.chosen[i] == expert;
    counts[expert] = count;
  }
  __syncthreads();
  for (int expert = threadIdx.x; expert < p.experts; expert += 256) {
    int group = 0;
    for (int before = 0; before < expert; before++) group += (counts[before] + p.most - 1) / p.most;
    int place = group * p.most;
    for (int left = counts[expert]; left > 0; left -= p.most) p.together[group++] = {expert, smaller(p.most, left)};
    if (counts[expert] == 0) continue;
    for (int i = 0; i < p.choices; i++) {
      if (p.chosen[i] != expert) continue;
      p.rows[place] = i / p.used;
      p.places[i] = place++;
    }
    for (; place < group * p.most; place++) p.rows[place] = 0;
  }
  int groups = 0;
  for (int expert = 0; expert < p.experts; expert++) groups += (counts[expert] + p.most - 1) / p.most;
  for (int i = groups + threadIdx.x; i < p.groups; i += 256) p.together[i] = {0, 0};
  for (int i = groups * p.most + threadIdx.x; i < p.groups * p.most; i += 256) p.rows[i] = 0;
  for (int i = threadIdx.x; i < p.choices; i += 256) {
    if (p.chosen[i] < 0) p.places[i] = 0;
  }
}

// A part of an expert's matrix.
struct ExpertPart {
  Matrix matrix;
  int first;  // of all outputs, this part's first one
  int padding;
};

// gemm_experts_f32: `gemm` of the choices of every expert with that expert's matrix; parts in another storage are left to
// others.
//   shapes   parts [experts], of the same inputs; together [groups]; x [groups, 8, inputs] f32; out [groups, 8, outputs] f32
//            with out_stride floats between rows; places without a choice are left alone
//   launch   grid (ceil(outputs / 32), groups), 256 threads, 33792 bytes of shared memory
//   bytes    those of `gemm_f32` for the experts that are taken
//   twin     that of `gemm_f32`
//   order    that of `gemm_f32`
struct ExpertGemmParams {
  const ExpertPart* parts;
  const Together* together;
  const float* x;
  float* out;
  int out_stride;
  int padding;
};

// The part of the expert of a group; null where this storage has nothing to do.
DEVICE const ExpertPart* part_of(const ExpertPart* parts, const Together& together, int storage) {
  const ExpertPart* part = parts + together.expert;
  return together.count > 0 && part->matrix.storage == storage ? part : nullptr;
}

KERNEL(gemm_experts_f32, ExpertGemmParams, 256) {
  const Together these = p.together[blockIdx.y];
  const ExpertPart* part = part_of(p.parts, these, 0);
  if (!part) return;
  const size_t first = (size_t)blockIdx.y * GEMM_ROWS;
  float* out = p.out + first * p.out_stride + part->first;
  gemm<Floats<float>>({part->matrix, p.x + first * part->matrix.inputs, out, these.count, p.out_stride, 0}, 0);
}

// tiles_experts_bf16, tiles_experts_int8, ... one for each of `TILED_STORAGES`: `tiles` of the choices of every expert with
// that expert's matrix; parts in another storage are left to others.
//   shapes   parts, together, out as above; x, sums, scales as `split_*` leaves [groups, 8, inputs]
//   launch   grid (groups, ceil(outputs / (256 / slices))), 256 threads, `memory` bytes of shared memory for one tile
//            (src/backend/cuda/tiled.rs)
//   bytes    those of `tiles` for the experts that are taken
//   twin     that of `tiles`
//   order    that of `tiles`
struct ExpertTilesParams {
  const ExpertPart* parts;
  const Together* together;
  const Sixteen* x;
  const float* sums;
  const float* scales;
  float* out;
  int out_stride;
  int groups;
  int slice;  // chunks of a slice
  int slices;
  int stages;
  int padding;
};

template <class Storage>
DEVICE void tiles_experts(const ExpertTilesParams& p, int storage) {
  const Together these = p.together[blockIdx.x];
  const ExpertPart* part = part_of(p.parts, these, storage);
  if (!part) return;
  const int group = blockIdx.x, rows = group * TILE_ROWS + these.count;
  float* out = p.out + part->first;
  tiles<Storage>({{}, p.x, p.sums, p.scales, out, nullptr, nullptr, rows, p.out_stride, 0, p.groups, 1, p.slice, p.slices, p.stages}, part->matrix, group, 1);
}

#define TILED_EXPERTS(number, name, Storage) \
  KERNEL(tiles_experts_##name, ExpertTilesParams, 256) { tiles_experts<Storage>(p, number); }
TILED_STORAGES(TILED_EXPERTS)

// add_experts: out[row] (+)= the sum over a row's choices of share * x[place of the choice]
//   shapes   chosen, shares, places [rows, used]; x [places, width] f32; out [rows, width] f32
//   launch   grid (rows), 128 threads
//   bytes    rows * width * 4 * (used + 1 or 2)
//   twin     `mlps` in src/backend/cpu/experts.rs
//   order    in ascending order of the experts' numbers, onto what is there or onto zero
struct AddExpertsParams {
  const int* chosen;
  const float* shares;
  const int* places;
  const float* x;
  float* out;
  int used;
  int width;
  int add;
  int padding;
};

KERNEL(add_experts, AddExpertsParams, 128) {
  const size_t row = blockIdx.x, first = row * p.used;
  float* out = p.out + row * p.width;
  for (int i = threadIdx.x; i < p.width; i += 128) {
    float sum = p.add ? out[i] : 0.0f;
    for (size_t choice = first; choice < first + p.used; choice++) {
      if (p.chosen[choice] >= 0) sum += p.shares[choice] * p.x[(size_t)p.places[choice] * p.width + i];
    }
    out[i] = sum;
  }
}
