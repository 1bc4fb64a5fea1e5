// Matrices of weights as they lie in memory, and what a weight is.
//
// Matrices of f32 are [outputs, stride]. All others lie as the tiles of `tiles.cu` read them: 8 rows are a panel, STEP
// inputs of a panel a chunk, [panel][chunk][row of 8]. Of what a row has in a chunk lane t of 4 takes a quarter: of each
// block of 32 inputs 4 t .. 4 t + 4 of both halves, together eight.
//
//   codes    [panel][chunk][8 rows][4 lanes] of 16 bytes. Of 2-byte elements a chunk is one block. Codes have their offset
//            added: of a byte each, a chunk is two blocks; or the low four bits of each, a chunk is four blocks, and code i
//            of a lane's eight is in nibble i / 2 + 4 (i % 2) of a word
//   upper    [panel][chunk][8 rows][4 lanes][4 blocks]: of codes of 5 and 6 bits what is above the low four, a byte or two
//            for eight codes, in the order of their nibbles
//   scales   [panel][chunk][8 rows][blocks]: bf16, or f16, or f16 and f16 that is added; with units two bytes, or one;
//            or the exponent of a power of two, with 128 added, in a byte
//   units    [panel][stride / 256][8 rows]: f16 that the scale's byte multiplies, and f16 for the minimum's; or one f16
//            for the scales of both halves of a block, or for one scale
//
// Codes of four bits may be places in a table of 16 whole numbers.
//
// stride = inputs up to whole chunks, of f32 up to a multiple of 8; what is beyond inputs and outputs is zero.
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
#define PANEL 8  // rows

struct __align__(16) Sixteen {
  u32 words[4];
};

DEVICE void widen_eight(const float* from, float* to) {
  for (int half = 0; half < 2; half++) {
    const Sixteen four = ((const Sixteen*)from)[half];
    for (int i = 0; i < 4; i++) to[4 * half + i] = from_bits(four.words[i]);
  }
}

// Where eight weights of a row are that begin at input k: in a chunk, two lanes have four each, of the same half.
struct Eight {
  size_t chunk;
  int lane;   // of the first four, in 8 rows of 4 lanes
  int block;  // of the chunk
  int half;
};

DEVICE Eight eight(const Matrix& m, size_t row, int k, int step) {
  const size_t chunk = row / PANEL * (m.stride / step) + k / step;
  return {chunk, (int)(row % PANEL) * 4 + k % 16 / 4, k % step / 32, k % 32 / 16};
}

// Storages. `take` gives the weights of inputs k .. k + 8 of a row.
template <class Element>
struct Floats;

template <>
struct Floats<float> {
  DEVICE void take(const Matrix& m, size_t row, int k, float* to) {
    widen_eight((const float*)m.codes + row * m.stride + k, to);
  }
};

template <class Element>
struct Floats {
  static const int STEP = 32;

  DEVICE void take(const Matrix& m, size_t row, int k, float* to) {
    const Eight at = eight(m, row, k, STEP);
    for (int i = 0; i < EIGHT; i++) {
      to[i] = widen(((const Element*)m.codes)[(at.chunk * 32 + at.lane + i / 4) * 8 + at.half * 4 + i % 4]);
    }
  }
};

// As `Kind` in src/model/blocks.rs; widths of codes as `Bits` there.
#define SCALE_BF16 0
#define SCALE_F16 1
#define SCALE_AND_ADDED 2
#define MINIMA 3
#define HALVES 4
#define SIGNED 7
#define EXPONENT 8

// Tables of the BITS above 8: their 16 numbers in ascending order of the codes, a byte each with 128 added, FIRST ..
// FOURTH of four bytes. src/backend/cuda/kernels.rs writes them from `Bits::table`.
template <int BITS>
struct Table {
  enum : u32 { FIRST, SECOND, THIRD, FOURTH };
};

// Weights that are stored as codes.
template <int BITS, int KIND>
struct Codes {
  typedef Table<BITS> Places;
  static const int STEP = BITS == 8 ? 64 : 128, BLOCKS = STEP / 32;
  static const bool HAS_MIN = KIND == SCALE_AND_ADDED || KIND == MINIMA, HAS_HALVES = KIND == HALVES;
  static const bool HAS_TABLE = BITS > 8;
  static const int OFFSET = HAS_MIN ? 0 : HAS_TABLE ? 128 : 1 << (BITS - 1);
  // Bytes of a row in a chunk: what is above the low four bits, scales; of a row in 256 inputs: units.
  static const int UPPER_BYTES = BITS == 6 ? 32 : BITS == 5 ? 16 : 0;
  static const int SCALE_BYTES = BLOCKS * (KIND == SCALE_AND_ADDED ? 4 : KIND == SIGNED || KIND == EXPONENT ? 1 : 2);
  static const int UNIT_BYTES = KIND == MINIMA ? 4 : KIND == HALVES || KIND == SIGNED ? 2 : 0;

  // Scale (of half `half`) and minimum of block `block`; scales and units are those of the row.
  DEVICE float scale(const u16* scales, const u16* units, int block, int half) {
    if (KIND == SCALE_BF16) return from_bits((u32)scales[block] << 16);
    if (KIND == SCALE_F16) return half_to_float(scales[block]);
    if (KIND == SCALE_AND_ADDED) return half_to_float(scales[2 * block]);
    if (KIND == MINIMA) return half_to_float(units[0]) * (float)(scales[block] & 255);
    const int small = ((const u8*)scales)[block];
    // The two smallest powers have no leading 1.
    if (KIND == EXPONENT) return from_bits(small < 2 ? 0x00200000u << small : (u32)(small - 1) << 23);
    const int byte = KIND == SIGNED ? small : scales[block] >> (8 * half) & 255;
    return half_to_float(units[0]) * (float)((byte ^ 128) - 128);
  }
  DEVICE float minimum(const u16* scales, const u16* units, int block) {
    if (KIND == SCALE_AND_ADDED) return -half_to_float(scales[2 * block + 1]);
    if (KIND == MINIMA) return half_to_float(units[1]) * (float)(scales[block] >> 8);
    return 0.0f;
  }

  DEVICE void take(const Matrix& m, size_t row, int k, float* to) {
    const Eight at = eight(m, row, k, STEP);
    const size_t of_row = at.chunk * PANEL + row % PANEL;
    const u16* scales = m.scales + of_row * (SCALE_BYTES / 2);
    const u16* units = m.units + ((row / PANEL * (m.stride / 256) + k / 256) * PANEL + row % PANEL) * (UNIT_BYTES / 2);
    const float factor = scale(scales, units, at.block, at.half), less = minimum(scales, units, at.block);
    for (int i = 0; i < EIGHT; i++) {
      const size_t lane = at.chunk * 32 + at.lane + i / 4;
      const int of_lane = 4 * at.half + i % 4, nibble = of_lane / 2 + 4 * (of_lane % 2);
      u32 code;
      if (BITS == 8) {
        code = ((const u8*)m.codes)[lane * 16 + at.block * 8 + of_lane];
      } else {
        code = ((const u32*)m.codes)[lane * 4 + at.block] >> (4 * nibble) & 15;
        if (BITS == 5) code |= (m.upper[lane * 4 + at.block] >> nibble & 1) << 4;
        if (BITS == 6) code |= (((const u16*)m.upper)[lane * 4 + at.block] >> (2 * nibble) & 3) << 4;
        if (HAS_TABLE) {
          const u32 lower = code < 4 ? Places::FIRST : Places::SECOND;
          const u32 upper = code < 12 ? Places::THIRD : Places::FOURTH;
          code = (code < 8 ? lower : upper) >> (code % 4 * 8) & 255;
        }
      }
      to[i] = factor * (float)((int)code - OFFSET);
      if (HAS_MIN) to[i] -= less;
    }
  }

  // Two codes of a lane's eight of a block, 2 * pair and the next, as a pair of f16: whole numbers, exactly. Those of the
  // block are the first in `codes`. A whole number in the low bits of 1024 is made such by a difference.
  DEVICE u32 halves(const Sixteen& codes, const u32* upper, int block, int pair) {
    const u32 less = 0x64006400u | OFFSET | OFFSET << 16;
    if (BITS == 8) {
      return less_halves(__byte_perm(codes.words[pair / 2], 0x64646464u, pair % 2 ? 0x4342 : 0x4140), less);
    }
    u32 two = codes.words[0] >> (4 * pair) & 0x000f000fu;
    if (BITS == 5) {
      const u32 bits = upper[0] >> (8 * block);
      two |= ((bits & 15) | (bits & 240) << 12) >> pair << 4 & 0x00100010u;
    }
    if (BITS == 6) {
      const u32 bits = upper[block / 2] >> (16 * (block % 2));
      two |= ((bits & 255) | (bits & 65280) << 8) >> (2 * pair) << 4 & 0x00300030u;
    }
    if (HAS_TABLE) {
      // The lower three bits of both codes pick bytes of either half of the table, the fourth says which half.
      const u32 places = (two | two >> 8) & 0x0707u, fourth = (two >> 3 & 0x00010001u) * 255;
      const u32 low = __byte_perm(Places::FIRST, Places::SECOND, places);
      const u32 high = __byte_perm(Places::THIRD, Places::FOURTH, places);
      two = ((low & ~fourth) | (high & fourth)) & 0x00ff00ffu;
    }
    return less_halves(two | 0x64006400u, less);
  }
};

// Number, name, what takes weights. `TILED_STORAGES` are those that tiles are multiplied with: src/backend/cuda/kernels.rs
// writes them here from the table of types.
#define STORAGES(EACH) \
  EACH(0, f32, Floats<float>) \
  TILED_STORAGES(EACH)
