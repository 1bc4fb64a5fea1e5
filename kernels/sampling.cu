// choose_tokens: a token for each of some rows of logits, drawn or verified. A block does for its row what `propose` and `verify`
// in src/sampling/accept.rs do: repetition penalty, temperature, top-k, top-p and min-p in this order, then the draw,
// by the acceptance rule, with the same Philox keys; and the raw log-probability.
//   shapes   logits [rows, vocab] f32; choices [count]; scratch [count, vocab] f32; chosen [count]
//   launch   grid (count), 512 threads, 6272 bytes of shared memory
//   bytes    count * vocab * 4 * (about 8 without filters; top-k and top-p read 32 times more, from the cache: each pass
//            halves the range that a border lies in)
//   twin     `Distribution::new`, `Distribution::draw`, `draw_coupled`, `draw_residual`, `raw_logprob`, `philox`
//   order    thread t has every 512th four of entries; sums are of four in f32, then f64 chains in ascending order, then by
//            `block_sum`. The twin sums by lanes: the last bits of a sum may differ from it, and a draw only where it
//            falls on the border between two tokens.
struct Filters {
  float temperature;
  float top_p;    // 1: none
  float min_p;    // 0: none
  float penalty;  // 1: none
  int top_k;      // 0: none
};

struct Choice {
  u64 history;      // address of the candidate's tokens; only a penalty reads them
  u64 drafts;       // address of the candidate's drafts, one after the other
  u64 draft_probs;  // address of the distribution that this row's draft was drawn from; 0: all mass on it
  u64 probs;        // address of room for this row's distribution [vocab]
  u64 seed;
  u32 candidate;
  u32 position;
  Filters filters;
  int history_len;
  int row;          // of the logits
  int number;       // which draft is drawn or verified, or how many have been
  int mode;         // 0 draws a draft, 1 verifies one, 2 draws the main model's own, 3 does nothing
  int coupled;
  int vocab;        // only ids below are drawn
  int draft_vocab;  // entries of draft_probs
};

struct Chosen {
  u32 token;
  float logprob;
  u32 accepted;  // it is the draft
};

struct ChooseTokensParams {
  const float* logits;
  const Choice* choices;
  float* scratch;
  Chosen* chosen;
  int vocab;
};

#define DRAW 0
#define VERIFY 1
#define PADDING 3
#define PURPOSE_SAMPLE 0
#define PURPOSE_DRAFT 1
#define PURPOSE_ACCEPT 2
#define PURPOSE_RESIDUAL 3
#define PURPOSE_NOISE 4
#define CHOICE_THREADS 512

// 53 random bits: Philox 4x32, 10 rounds (Salmon et al., SC 2011).
DEVICE u64 random_bits(const Choice& choice, u32 purpose, u32 index) {
  u32 counter[4] = {choice.position, choice.candidate, purpose, index};
  u32 key[2] = {(u32)choice.seed, (u32)(choice.seed >> 32)};
#pragma unroll 1
  for (int round = 0; round < 10; round++) {
    const u64 a = (u64)counter[0] * 0xD2511F53u, b = (u64)counter[2] * 0xCD9E8D57u;
    const u32 next[4] = {(u32)(b >> 32) ^ counter[1] ^ key[0], (u32)b, (u32)(a >> 32) ^ counter[3] ^ key[1], (u32)a};
    for (int i = 0; i < 4; i++) counter[i] = next[i];
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return ((u64)counter[0] << 32 | counter[1]) >> 11;
}

// A number in [0, 1).
DEVICE double unit(u64 bits) { return (double)bits * (1.0 / 9007199254740992.0); }

DEVICE double uniform(const Choice& choice, u32 purpose, u32 index) { return unit(random_bits(choice, purpose, index)); }

DEVICE double gumbel(u64 bits) { return -log(-log(unit(bits) + 0.5 / 9007199254740992.0)); }

// e^x for x <= 0, the twin of `exp` in src/sampling/distribution.rs.
DEVICE float probability_exp(float x) {
  const float round = 12582912.0f;
  const bool vanishes = x < -104.0f;
  x = vanishes ? -104.0f : x;
  const float shifted = x * 1.44269504088896340736f + round;
  const float whole = shifted - round;
  const float r = (x - whole * 0.693359375f) + whole * 2.1219444e-4f;
  const float p = 1.0f + r * (1.0f + r * (0.5f + r * (1.0f / 6.0f + r * (1.0f / 24.0f + r * (1.0f / 120.0f + r * (1.0f / 720.0f))))));
  const int n = (int)to_bits(shifted) - (int)to_bits(round), half = n >> 1;
  const float e = p * from_bits((u32)(half + 127) << 23) * from_bits((u32)(n - half + 127) << 23);
  return vanishes ? 0.0f : e;
}

// Floats as whole numbers of the same order.
DEVICE u32 ordered(float x) {
  const u32 bits = to_bits(x);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// Entries of a thread that lie side by side.
struct Share {
  int from, to;
  int each, all;  // of every thread, of all together
};

DEVICE Share share_of(int vocab) {
  const int each = (vocab + CHOICE_THREADS - 1) / CHOICE_THREADS, from = smaller((int)threadIdx.x * each, vocab);
  return {from, smaller(from + each, vocab), each, vocab};
}

// Calls `each` with the entries of a thread and their numbers, in ascending order.
template <class Each>
DEVICE void each_entry(const float* x, int count, Each each) {
  const int fours = (size_t)x % 16 == 0 ? count / 4 : 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < fours; i += CHOICE_THREADS) {
    const Sixteen four = ((const Sixteen*)x)[i];
#pragma unroll
    for (int j = 0; j < 4; j++) each(4 * i + j, from_bits(four.words[j]));
  }
#pragma unroll 4
  for (int i = 4 * fours + threadIdx.x; i < count; i += CHOICE_THREADS) each(i, x[i]);
}

// The sum of `value` of all entries, in every thread.
template <class Value>
DEVICE double sum_of(const float* x, int count, double* memory, Value value) {
  double sum = 0.0;
  float four = 0.0f;
  each_entry(x, count, [&](int i, float x) {
    four += value(x);
    if (i % 4 != 3) return;
    sum += (double)four;
    four = 0.0f;
  });
  return block_sum(sum + (double)four, memory);
}

// Of a block.
struct Room {
  double values[CHOICE_THREADS];
  u32 ids[CHOICE_THREADS];
  double sums[CHOICE_THREADS / WARP];
};

// The largest score and its lowest id, in every thread.
template <class Score>
DEVICE u32 block_argmax(Score score, u32 id, Room* room) {
  const auto better = [&](Score other, u32 of) {
    if (other > score || (other == score && of < id)) {
      score = other;
      id = of;
    }
  };
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    const Score other = __shfl_xor_sync(ALL_LANES, score, distance);
    better(other, __shfl_xor_sync(ALL_LANES, id, distance));
  }
  Score* scores = (Score*)room->values;
  if (threadIdx.x % WARP == 0) {
    scores[threadIdx.x / WARP] = score;
    room->ids[threadIdx.x / WARP] = id;
  }
  __syncthreads();
  for (int warp = 0; warp < CHOICE_THREADS / WARP; warp++) better(scores[warp], room->ids[warp]);
  __syncthreads();
  return id;
}

// The id of the largest number, of equal ones the lowest; 0 where there is none.
DEVICE u32 block_first(const float* x, int count, Room* room) {
  const u32 none = 0xffffffffu;
  float most = from_bits(0xff800000u);
  u32 id = none;
  each_entry(x, count, [&](int i, float x) {
    if (x > most || (id == none && x >= most)) {
      most = x;
      id = (u32)i;
    }
  });
  id = block_argmax(most, id, room);
  return id == none ? 0 : id;
}

// The sum of weights for which `counts` is true.
template <class Counts>
DEVICE double mass(const float* weights, int vocab, Room* room, Counts counts) {
  return sum_of(weights, vocab, room->sums, [&](float w) { return counts(w) ? w : 0.0f; });
}

// How many values `counts` is true for.
template <class Counts>
DEVICE int count(const float* values, int vocab, Room* room, Counts counts) {
  int number = 0;
  each_entry(values, vocab, [&](int, float x) { number += counts(x) ? 1 : 0; });
  return block_sum(number, (int*)room->sums);
}

// The smallest number for which `holds` is true, which is so for all larger ones.
template <class Holds>
DEVICE u32 border(Holds holds) {
  u32 low = 0, high = 0xffffffffu;
  while (low < high) {
    const u32 middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Keeps the weights of the k largest logits, and of those equal to the last of them.
DEVICE void keep_largest(const float* logits, float* weights, int k, int vocab, Room* room) {
  const u32 beyond = border([&](u32 bits) {
    return count(logits, vocab, room, [&](float x) { return ordered(x) >= bits; }) < k;
  });
  each_entry(logits, vocab, [&](int i, float x) {
    if (ordered(x) < beyond - 1) weights[i] = 0.0f;
  });
}

// Removes the smallest weights as long as they are at most 1 - p of the total; of equal ones the higher ids first.
DEVICE void keep_nucleus(float* weights, double total, float p, int vocab, Room* room) {
  const Share share = share_of(vocab);
  const double removable = (1.0 - (double)p) * total;
  const u32 bits = border([&](u32 bits) {
    return mass(weights, vocab, room, [&](float w) { return to_bits(w) <= bits; }) > removable || bits >= to_bits(1.0f);
  });
  const float last = from_bits(bits);
  double removed = mass(weights, vocab, room, [&](float w) { return w < last; });
  int mine = 0;
  for (int i = share.from; i < share.to; i++) mine += weights[i] == last;
  room->ids[threadIdx.x] = mine;
  __syncthreads();
  int before = 0, equal = 0;
#pragma unroll 1
  for (int thread = 0; thread < CHOICE_THREADS; thread++) {
    if (thread < (int)threadIdx.x) before += room->ids[thread];
    equal += room->ids[thread];
  }
  __syncthreads();
  int kept = equal;
  while (kept > 1 && removed + (double)last <= removable) {
    removed += (double)last;
    kept--;
  }
  for (int i = share.from; i < share.to; i++) {
    if (weights[i] < last || (weights[i] == last && before++ >= kept)) weights[i] = 0.0f;
  }
}

// The id at `u` of the cumulative sum of `weight`, in every thread; -1 if all are 0.
template <class Weight>
DEVICE int pick(double u, Share share, Room* room, Weight weight) {
  // A warp sums the share of a thread at a time, so that neighbours are read together.
  for (int of = threadIdx.x / WARP; of < CHOICE_THREADS; of += CHOICE_THREADS / WARP) {
    double sum = 0.0;
    const int from = smaller(of * share.each, share.all), to = smaller(from + share.each, share.all);
    for (int i = from + threadIdx.x % WARP; i < to; i += WARP) sum += weight(i);
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) room->values[of] = sum;
  }
  __syncthreads();
  double total = 0.0;
  for (int thread = 0; thread < CHOICE_THREADS; thread++) total += room->values[thread];
  double left = u * total;
  int owner = -1;
#pragma unroll 1
  for (int thread = 0; thread < CHOICE_THREADS; thread++) {
    if (room->values[thread] <= 0.0) continue;
    if (owner >= 0) left -= room->values[owner];
    owner = thread;
    if (left < room->values[thread]) break;
  }
  int id = -1;
  if ((int)threadIdx.x == owner) {
    for (int i = share.from; i < share.to; i++) {
      const double w = weight(i);
      if (w <= 0.0) continue;
      id = i;
      left -= w;
      if (left < 0.0) break;
    }
    room->ids[0] = (u32)id;
  }
  __syncthreads();
  id = owner < 0 ? -1 : (int)room->ids[0];
  __syncthreads();
  return id;
}

// The logits of a row after the penalty, which are in `scratch` where there is one.
DEVICE const float* penalised(const Choice& choice, const float* logits, float* scratch) {
  const float penalty = choice.filters.penalty;
  if (penalty == 1.0f) return logits;
  each_entry(logits, choice.vocab, [&](int i, float x) { scratch[i] = x; });
  __syncthreads();
  const u32* history = (const u32*)choice.history;
  const u32* drafts = (const u32*)choice.drafts;
  for (int i = threadIdx.x; i < choice.history_len + choice.number; i += CHOICE_THREADS) {
    const u32 id = i < choice.history_len ? history[i] : drafts[i - choice.history_len];
    if (id >= (u32)choice.vocab) continue;
    // A token that occurs twice is written twice, with the same value.
    scratch[id] = logits[id] < 0.0f ? logits[id] * penalty : logits[id] / penalty;
  }
  __syncthreads();
  return scratch;
}

// The distribution of a row under the settings, whose largest logit is that of `best`, into its place.
DEVICE void distribute(const Choice& choice, const float* logits, u32 best, float* probs, Room* room) {
  const Filters& filters = choice.filters;
  const int vocab = choice.vocab;
  const float top = logits[best] / filters.temperature;
  each_entry(logits, vocab, [&](int i, float x) { probs[i] = probability_exp(x / filters.temperature - top); });
  __syncthreads();
  if (filters.top_k > 0 && filters.top_k < vocab) keep_largest(logits, probs, filters.top_k, vocab, room);
  __syncthreads();
  const auto all = [](float) { return true; };
  if (filters.top_p < 1.0f) keep_nucleus(probs, mass(probs, vocab, room, all), filters.top_p, vocab, room);
  __syncthreads();
  if (filters.min_p > 0.0f) {
    each_entry(probs, vocab, [&](int i, float x) {
      if (x < filters.min_p) probs[i] = 0.0f;
    });
    __syncthreads();
  }
  const double norm = 1.0 / mass(probs, vocab, room, all);
  each_entry(probs, vocab, [&](int i, float x) { probs[i] = (float)((double)x * norm); });
  __syncthreads();
}

// The id whose logarithm of probability and own noise are the most. -log(u) is no less than 1 - u: where that is
// more than p / e^score of one that is known, the id cannot be the one, and no logarithm is needed.
DEVICE u32 draw_coupled(const Choice& choice, const float* probs, u32 likely, Room* room) {
  const double known = log((double)probs[likely]) + gumbel(random_bits(choice, PURPOSE_NOISE, likely));
  float factor = (float)exp(-known);
  double best = -1e300;
  u32 id = likely;
  each_entry(probs, choice.vocab, [&](int i, float p) {
    if (p <= 0.0f) return;
    const u64 bits = random_bits(choice, PURPOSE_NOISE, (u32)i);
    const float least = (float)(0xffffffffu - (u32)(bits >> 21)) * (1.0f / 4294967296.0f);
    if (least * 0.9999f > p * factor) return;
    const double score = log((double)p) + gumbel(bits);
    if (score > best) {
      best = score;
      id = (u32)i;
      if (best > known) factor = (float)exp(-best);
    }
  });
  return block_argmax(best, id, room);
}

KERNEL(choose_tokens, ChooseTokensParams, CHOICE_THREADS) {
  SHARED(Room, room);
  const Choice choice = p.choices[blockIdx.x];
  if (choice.mode == PADDING) return;
  const float* logits = p.logits + (size_t)choice.row * p.vocab;
  float* probs = (float*)choice.probs;
  const float* x = penalised(choice, logits, p.scratch + (size_t)blockIdx.x * p.vocab);
  const u32 likely = block_first(x, choice.vocab, room);
  const bool greedy = choice.filters.temperature == 0.0f;
  if (!greedy) distribute(choice, x, likely, probs, room);
  // Where a draft is verified against its distribution, that is asked for.
  if (greedy && choice.mode == DRAW && !choice.coupled) {
    for (int i = threadIdx.x; i < choice.vocab; i += CHOICE_THREADS) probs[i] = (u32)i == likely ? 1.0f : 0.0f;
  }
  const Share share = share_of(choice.vocab);
  u32* drafts = (u32*)choice.drafts;
  const u32 draft = choice.mode == VERIFY ? drafts[choice.number] : 0;
  const float* q = (const float*)choice.draft_probs;
  const auto p_of = [&](int id) { return (double)probs[id]; };
  const auto q_of = [&](int id) {
    return q ? (id < choice.draft_vocab ? (double)q[id] : 0.0) : (u32)id == draft ? 1.0 : 0.0;
  };
  int token;
  if (greedy) {
    token = (int)likely;
  } else if (choice.coupled) {
    token = (int)draw_coupled(choice, probs, likely, room);
  } else if (choice.mode == VERIFY) {
    const bool known = draft < (u32)choice.vocab;
    if (uniform(choice, PURPOSE_ACCEPT, 0) * (known ? q_of((int)draft) : 1.0) < (known ? p_of((int)draft) : 0.0)) {
      token = (int)draft;
    } else {
      const double u = uniform(choice, PURPOSE_RESIDUAL, 0);
      token = pick(u, share, room, [&](int id) {
        const double rest = p_of(id) - q_of(id);
        return rest > 0.0 ? rest : 0.0;
      });
      if (token < 0) token = pick(u, share, room, p_of);
    }
  } else {
    token = pick(uniform(choice, choice.mode == DRAW ? PURPOSE_DRAFT : PURPOSE_SAMPLE, 0), share, room, p_of);
  }
  token = larger(token, 0);
  if (choice.mode == DRAW) {
    if (threadIdx.x == 0) drafts[choice.number] = (u32)token;
    return;
  }
  // The raw softmax over the whole row.
  const bool known = x == logits && choice.vocab == p.vocab;
  const float most = logits[known ? likely : block_first(logits, p.vocab, room)];
  const double total = sum_of(logits, p.vocab, room->sums, [&](float x) { return probability_exp(x - most); });
  if (threadIdx.x == 0) {
    const float logprob = (float)((double)(logits[token] - most) - log(total));
    p.chosen[blockIdx.x] = {(u32)token, logprob, choice.mode == VERIFY && (u32)token == draft};
  }
}

// place_tokens: tokens[patch.row] = *patch.token: drafts that the host doesn't know, put among the tokens of a pass.
//   shapes   patches [count]; tokens [rows]
//   launch   grid (ceil(count / 128)), 128 threads
//   bytes    count * 24
//   twin     none: the host has its tokens
//   order    none
struct Patch {
  u64 token;  // its address; 0: none
  int row;
  int padding;
};

struct PlaceTokensParams {
  const Patch* patches;
  u32* tokens;
  int count;
};

KERNEL(place_tokens, PlaceTokensParams, 128) {
  const int i = (int)(blockIdx.x * 128 + threadIdx.x);
  if (i < p.count && p.patches[i].token) p.tokens[p.patches[i].row] = *(const u32*)p.patches[i].token;
}
