// choose_tokens: a token for each of some rows of logits, drawn or verified. A block does for its row what `propose` and `verify`
// in src/sampling/accept.rs do: repetition penalty, temperature, top-k, top-p and min-p in this order, then the draw,
// by the acceptance rule, with the same Philox keys; and the raw log-probability.
//   shapes   logits [rows, vocab] f32; choices [count]; scratch [count, vocab] f32; chosen [count]
//   launch   grid (count), 256 threads, 3136 bytes of shared memory
//   bytes    count * vocab * 4 * (about 8 without filters; top-k and top-p read 32 times more, from the cache: each pass
//            halves the range that a border lies in)
//   twin     `Distribution::new`, `Distribution::draw`, `draw_coupled`, `draw_residual`, `raw_logprob`, `philox`
//   order    thread t has the entries t * share .. (t + 1) * share; sums are f64 chains in ascending order, then by
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
#define CHOICE_THREADS 256

// A number in [0, 1) with 53 random bits: Philox 4x32, 10 rounds (Salmon et al., SC 2011).
DEVICE double uniform(const Choice& choice, u32 purpose, u32 index) {
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
  return (double)(((u64)counter[0] << 32 | counter[1]) >> 11) * (1.0 / 9007199254740992.0);
}

DEVICE double gumbel(const Choice& choice, u32 id) {
  return -log(-log(uniform(choice, PURPOSE_NOISE, id) + 0.5 / 9007199254740992.0));
}

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

// The entries of a thread.
struct Share {
  int from, to;
};

DEVICE Share share_of(int vocab) {
  const int each = (vocab + CHOICE_THREADS - 1) / CHOICE_THREADS, from = smaller((int)threadIdx.x * each, vocab);
  return {from, smaller(from + each, vocab)};
}

DEVICE float block_max(float x, float* memory) {
  x = warp_max(x);
  if (threadIdx.x % WARP == 0) memory[threadIdx.x / WARP] = x;
  __syncthreads();
  for (int warp = 0; warp < CHOICE_THREADS / WARP; warp++) x = memory[warp] > x ? memory[warp] : x;
  __syncthreads();
  return x;
}

// The largest score and its lowest id, in every thread.
DEVICE u32 block_argmax(double score, u32 id, double* scores, u32* ids) {
  scores[threadIdx.x] = score;
  ids[threadIdx.x] = id;
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < CHOICE_THREADS; i++) {
    // Threads have ascending ids, so that of equal scores the first is the lowest.
    if (i == 0 || scores[i] > score) {
      score = scores[i];
      id = ids[i];
    }
  }
  __syncthreads();
  return id;
}

// Of a block.
struct Room {
  double values[CHOICE_THREADS];
  u32 ids[CHOICE_THREADS];
  double sums[CHOICE_THREADS / WARP];
};

// The sum of weights for which `counts` is true.
template <class Counts>
DEVICE double mass(const float* weights, Share share, Room* room, Counts counts) {
  double sum = 0.0;
  for (int i = share.from; i < share.to; i++) {
    if (counts(weights[i])) sum += (double)weights[i];
  }
  return block_sum(sum, room->sums);
}

// How many values `counts` is true for.
template <class Counts>
DEVICE int count(const float* values, Share share, Room* room, Counts counts) {
  int number = 0;
  for (int i = share.from; i < share.to; i++) number += counts(values[i]) ? 1 : 0;
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
DEVICE void keep_largest(const float* logits, float* weights, int k, Share share, Room* room) {
  const u32 beyond = border([&](u32 bits) {
    return count(logits, share, room, [&](float x) { return ordered(x) >= bits; }) < k;
  });
  for (int i = share.from; i < share.to; i++) {
    if (ordered(logits[i]) < beyond - 1) weights[i] = 0.0f;
  }
}

// Removes the smallest weights as long as they are at most 1 - p of the total; of equal ones the higher ids first.
DEVICE void keep_nucleus(float* weights, double total, float p, Share share, Room* room) {
  const double removable = (1.0 - (double)p) * total;
  const u32 bits = border([&](u32 bits) {
    return mass(weights, share, room, [&](float w) { return to_bits(w) <= bits; }) > removable || bits >= to_bits(1.0f);
  });
  const float last = from_bits(bits);
  double removed = mass(weights, share, room, [&](float w) { return w < last; });
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
  double sum = 0.0;
  for (int i = share.from; i < share.to; i++) sum += weight(i);
  room->values[threadIdx.x] = sum;
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

// The distribution of a row under the settings, into its place.
DEVICE void distribute(const Choice& choice, const float* logits, float* scratch, float* probs, Room* room) {
  const Filters& filters = choice.filters;
  const Share share = share_of(choice.vocab);
  for (int i = share.from; i < share.to; i++) scratch[i] = logits[i];
  __syncthreads();
  if (filters.penalty != 1.0f) {
    const u32* history = (const u32*)choice.history;
    const u32* drafts = (const u32*)choice.drafts;
    for (int i = threadIdx.x; i < choice.history_len + choice.number; i += CHOICE_THREADS) {
      const u32 id = i < choice.history_len ? history[i] : drafts[i - choice.history_len];
      if (id >= (u32)choice.vocab) continue;
      // A token that occurs twice is written twice, with the same value.
      scratch[id] = logits[id] < 0.0f ? logits[id] * filters.penalty : logits[id] / filters.penalty;
    }
    __syncthreads();
  }
  float most = from_bits(0xff800000u);
  for (int i = share.from; i < share.to; i++) most = scratch[i] > most ? scratch[i] : most;
  most = block_max(most, (float*)room->sums);
  if (filters.temperature == 0.0f) {
    int first = choice.vocab;
    for (int i = share.to - 1; i >= share.from; i--) first = scratch[i] >= most ? i : first;
    const u32 best = block_argmax(first < choice.vocab ? 1.0 : 0.0, (u32)first, room->values, room->ids);
    for (int i = share.from; i < share.to; i++) probs[i] = (u32)i == best ? 1.0f : 0.0f;
  } else {
    const float top = most / filters.temperature;
    for (int i = share.from; i < share.to; i++) probs[i] = probability_exp(scratch[i] / filters.temperature - top);
    if (filters.top_k > 0 && filters.top_k < choice.vocab) keep_largest(scratch, probs, filters.top_k, share, room);
    const auto all = [](float) { return true; };
    if (filters.top_p < 1.0f) keep_nucleus(probs, mass(probs, share, room, all), filters.top_p, share, room);
    for (int i = share.from; i < share.to; i++) {
      if (probs[i] < filters.min_p) probs[i] = 0.0f;
    }
    const double norm = 1.0 / mass(probs, share, room, all);
    for (int i = share.from; i < share.to; i++) probs[i] = (float)((double)probs[i] * norm);
  }
  __syncthreads();
}

KERNEL(choose_tokens, ChooseTokensParams, CHOICE_THREADS) {
  SHARED(Room, room);
  const Choice choice = p.choices[blockIdx.x];
  if (choice.mode == PADDING) return;
  const float* logits = p.logits + (size_t)choice.row * p.vocab;
  float* probs = (float*)choice.probs;
  distribute(choice, logits, p.scratch + (size_t)blockIdx.x * p.vocab, probs, room);
  const Share share = share_of(choice.vocab);
  u32* drafts = (u32*)choice.drafts;
  const u32 draft = choice.mode == VERIFY ? drafts[choice.number] : 0;
  const float* q = (const float*)choice.draft_probs;
  const auto p_of = [&](int id) { return (double)probs[id]; };
  const auto q_of = [&](int id) {
    return q ? (id < choice.draft_vocab ? (double)q[id] : 0.0) : (u32)id == draft ? 1.0 : 0.0;
  };
  int token;
  if (choice.coupled) {
    double best = -1e300;
    u32 id = (u32)share.from;
    for (int i = share.from; i < share.to; i++) {
      if (probs[i] <= 0.0f) continue;
      const double score = log((double)probs[i]) + gumbel(choice, (u32)i);
      if (score > best) {
        best = score;
        id = (u32)i;
      }
    }
    token = (int)block_argmax(best, id, room->values, room->ids);
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
  const Share whole = share_of(p.vocab);
  float most = from_bits(0xff800000u);
  for (int i = whole.from; i < whole.to; i++) most = logits[i] > most ? logits[i] : most;
  most = block_max(most, (float*)room->sums);
  double total = 0.0;
  for (int i = whole.from; i < whole.to; i++) total += (double)probability_exp(logits[i] - most);
  total = block_sum(total, room->sums);
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
