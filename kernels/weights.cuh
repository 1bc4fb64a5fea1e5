// Matrices of weights as they lie in memory, and what a weight is.
//
//   codes    [outputs, stride]: elements of 4 or 2 bytes; or codes, a byte each, or the low four bits of each, input
//            2 i in the low half of a byte. Codes have their offset added. stride = inputs up to a multiple of 8, with
//            codes of 32; what is beyond inputs is zero
//   upper    [outputs, stride]: of codes of 5 and 6 bits what is above the low four, in ascending bits
//   scales   [outputs, stride / 32]: bf16, or f16, or f16 and f16 that is added; with units two bytes
//   units    [outputs, stride / 256]: f16 that the scale's byte multiplies, and f16 for the minimum's; or one f16 for
//            the scales of both halves of a block
//
// A weight of codes is scale * code, or scale * code - minimum, both steps rounded to f32: the same bits as
// `Quantized::output` in src/backend/cpu/quantized/weights.rs has.
struct Matrix {
  const void* codes;
  const u8* upper;
  const u16* scales;
  const u16* units;
  const float* bias;  // [outputs] or null
  int storage;        // a number of `STORAGES`
  int outputs;
  int inputs;
  int stride;
};

#define EIGHT 8  // weights that are taken at once

struct __align__(16) Sixteen {
  u32 words[4];
};
struct __align__(8) TwoWords {
  u32 words[2];
};

DEVICE void widen_eight(const float* from, float* to) {
  for (int half = 0; half < 2; half++) {
    const Sixteen four = ((const Sixteen*)from)[half];
    for (int i = 0; i < 4; i++) to[4 * half + i] = from_bits(four.words[i]);
  }
}

template <class Half>
DEVICE void widen_eight(const Half* from, float* to) {
  const Sixteen eight = *(const Sixteen*)from;
  for (int i = 0; i < 4; i++) {
    Half low, high;
    low.bits = (u16)eight.words[i];
    high.bits = (u16)(eight.words[i] >> 16);
    to[2 * i] = widen(low);
    to[2 * i + 1] = widen(high);
  }
}

// Weights that are stored as floats. `take` gives those of inputs k .. k + 8 of a row.
template <class Element>
struct Floats {
  DEVICE void take(const Matrix& m, size_t row, int k, float* to) {
    widen_eight((const Element*)m.codes + row * m.stride + k, to);
  }
};

// As `Kind` in src/backend/storage/format.rs.
#define SCALE_BF16 0
#define SCALE_F16 1
#define SCALE_AND_ADDED 2
#define MINIMA 3
#define HALVES 4

// Weights that are stored as codes.
template <int BITS, int KIND>
struct Codes {
  DEVICE void take(const Matrix& m, size_t row, int k, float* to) {
    const size_t at = row * m.stride + k, block = at / 32, unit = row * (m.stride / 256) + k / 256;
    u32 codes[EIGHT];
    if (BITS == 8) {
      const TwoWords bytes = *(const TwoWords*)((const u8*)m.codes + at);
      for (int i = 0; i < EIGHT; i++) codes[i] = bytes.words[i / 4] >> (8 * (i % 4)) & 255;
    } else {
      const u32 low = ((const u32*)m.codes)[at / 8];
      const u32 upper = BITS == 6 ? ((const u16*)m.upper)[at / 8] : BITS == 5 ? m.upper[at / 8] : 0;
      for (int i = 0; i < EIGHT; i++) {
        codes[i] = low >> (4 * i) & 15;
        if (BITS == 5) codes[i] |= (upper >> i & 1) << 4;
        if (BITS == 6) codes[i] |= (upper >> (2 * i) & 3) << 4;
      }
    }
    float scale, minimum = 0.0f;
    if (KIND == SCALE_BF16) scale = from_bits((u32)m.scales[block] << 16);
    if (KIND == SCALE_F16) scale = half_to_float(m.scales[block]);
    if (KIND == SCALE_AND_ADDED) {
      scale = half_to_float(m.scales[2 * block]);
      minimum = -half_to_float(m.scales[2 * block + 1]);
    }
    if (KIND == MINIMA) {
      const u32 bytes = m.scales[block];
      scale = half_to_float(m.units[2 * unit]) * (float)(bytes & 255);
      minimum = half_to_float(m.units[2 * unit + 1]) * (float)(bytes >> 8);
    }
    if (KIND == HALVES) {
      const u32 bytes = m.scales[block], byte = bytes >> (k % 32 / 16 * 8) & 255;
      scale = half_to_float(m.units[unit]) * (float)((int)(byte ^ 128) - 128);
    }
    const bool has_min = KIND == SCALE_AND_ADDED || KIND == MINIMA;
    const float offset = has_min ? 0.0f : (float)(1 << (BITS - 1));
    for (int i = 0; i < EIGHT; i++) {
      // A whole number below 2^23 in the low bits of 2^23: widened by a sum, which is faster than a conversion.
      to[i] = scale * (from_bits(0x4b000000u | codes[i]) - (8388608.0f + offset));
      if (has_min) to[i] -= minimum;
    }
  }
};

typedef Codes<8, SCALE_BF16> Int8;
typedef Codes<4, SCALE_BF16> Int4;
typedef Codes<8, SCALE_F16> Q8_0;
typedef Codes<4, SCALE_F16> Q4_0;
typedef Codes<5, SCALE_F16> Q5_0;
typedef Codes<4, SCALE_AND_ADDED> Q4_1;
typedef Codes<5, SCALE_AND_ADDED> Q5_1;
typedef Codes<4, MINIMA> Q4_K;
typedef Codes<5, MINIMA> Q5_K;
typedef Codes<6, HALVES> Q6_K;

// Number, name in kernels, what takes weights: in the order of `STORAGES` in src/backend/cuda/matrix.rs.
#define STORAGES(EACH) \
  EACH(0, f32, Floats<float>) \
  EACH(1, bf16, Floats<Bf16>) \
  EACH(2, f16, Floats<F16>) \
  EACH(3, int8, Int8) \
  EACH(4, int4, Int4) \
  EACH(5, q8_0, Q8_0) \
  EACH(6, q4_0, Q4_0) \
  EACH(7, q5_0, Q5_0) \
  EACH(8, q4_1, Q4_1) \
  EACH(9, q5_1, Q5_1) \
  EACH(10, q4_k, Q4_K) \
  EACH(11, q5_k, Q5_K) \
  EACH(12, q6_k, Q6_K)

