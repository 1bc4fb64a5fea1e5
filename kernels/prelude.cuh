// Parts that all kernels share. This file is put in front of them; nothing is included, so that a compiler
// alone is enough.
//
// The only file that knows where it is compiled: for a GPU, or for the CPU by `tests/shared/emulator`, which
// brings what stands between the marks itself. Products and sums are never contracted by the compiler
// (`--fmad=false`): where a fused one is meant, `fmaf` stands there.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#ifndef EMULATOR
#define DEVICE static __device__ __forceinline__
#define DEVICE_MEMBER __device__ __forceinline__
// A kernel takes one struct, the same as in `src/backend/cuda/kernels.rs`. Nothing is spilled for the sake of
// more blocks.
#define KERNEL_OF(name, Params, threads, blocks)                                                             \
  DEVICE void name##_begun(const Params& p);                                                                 \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ Params params) { \
    name##_begun(params);                                                                                    \
  }                                                                                                          \
  DEVICE void name##_begun(const Params& p)
// Lets the next kernel begin while this one is at work, and waits until the last one is done: what it has written is
// there then. Before that a kernel may read only what no kernel writes (programmatic dependent launches).
DEVICE void after_the_last() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
}
// The block's memory, as much as the launch asks for.
extern __shared__ __align__(16) unsigned char block_memory[];
#define SHARED(T, name) T* name = reinterpret_cast<T*>(block_memory)
DEVICE float from_bits(u32 bits) { return __uint_as_float(bits); }
DEVICE u32 to_bits(float x) { return __float_as_uint(x); }
DEVICE float half_to_float(u16 half) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
  return x;
}
DEVICE u16 float_to_half(float x) {
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
}
// Differences of two pairs of f16.
DEVICE u32 less_halves(u32 a, u32 b) {
  u32 less;
  asm("sub.f16x2 %0, %1, %2;" : "=r"(less) : "r"(a), "r"(b));
  return less;
}
// 16 bytes on their way from memory to the block's memory; both aligned to 16 bytes. They are there for the
// thread that asked once `copies_landed` says so, and for its block after a barrier.
DEVICE void copy_sixteen(void* to, const void* from) {
  const u32 shared = (u32)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
}
// Ends a group of pieces.
DEVICE void copies_committed() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most so many groups of this thread are on their way.
template <int LEFT>
DEVICE void copies_landed() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
// Two floats as f16, the first in the lower half; what is too large becomes the largest.
DEVICE u32 two_halves(float first, float second) {
  u32 two;
  asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(second), "f"(first));
  return two;
}
// A value that another block may have written since this one began.
DEVICE float read_fresh(const float* from) {
  float x;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(x) : "l"(from));
  return x;
}
#define MULTIPLY_TILES(type)                                                                             \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, " \
      "{%8, %9}, {%0, %1, %2, %3};"                                                                      \
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                                       \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#endif

// A kernel that waits for the last one first; one of `KERNEL_OF` does so itself.
#define KERNEL(name, Params, threads)       \
  DEVICE void name##_work(const Params& p); \
  KERNEL_OF(name, Params, threads, 1) {     \
    after_the_last();                       \
    name##_work(p);                         \
  }                                         \
  DEVICE void name##_work(const Params& p)

// Threads of a warp.
#define WARP 32
#define ALL_LANES 0xffffffffu

struct Bf16 {
  u16 bits;
};
struct F16 {
  u16 bits;
};

// A product of tiles by a whole warp, on tensor cores: sums [16][8] += a [16][16] * b [16][8]. Lane 4 g + t
// holds of a, in pairs of columns, rows g and g + 8 of columns 2 t, then both of columns 2 t + 8; of b column
// g of rows 2 t, then of rows 2 t + 8; of the sums columns 2 t and 2 t + 1 of row g, then of row g + 8. The
// sums are there after `tiles_multiplied`.
#ifndef EMULATOR
DEVICE void multiply_tiles(Bf16, float* sums, const u32* a, const u32* b) { MULTIPLY_TILES("bf16"); }
DEVICE void multiply_tiles(F16, float* sums, const u32* a, const u32* b) { MULTIPLY_TILES("f16"); }
DEVICE void tiles_multiplied() {}
#endif

// Rows of one sequence in a pass, and where its K/V is.
struct Span {
  const float* shared;  // K/V of the prompt, positions 0 .. shared_len; null without one
  float* own;           // K/V of the positions after it
  int shared_len;
  int shared_capacity;
  int own_capacity;
  int start;      // position of the first row
  int first_row;  // number of the first row in the pass
  int rows;
};

DEVICE float widen(float x) { return x; }
DEVICE float widen(Bf16 x) { return from_bits((u32)x.bits << 16); }
DEVICE float widen(F16 x) { return half_to_float(x.bits); }

// The nearest of fewer digits; of two the even one.
DEVICE Bf16 narrow(float x, Bf16) {
  const u32 bits = to_bits(x);
  Bf16 near;
  near.bits = (u16)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
  return near;
}
DEVICE F16 narrow(float x, F16) {
  F16 near;
  near.bits = float_to_half(x);
  return near;
}

// Address of a key (part 0) or a value (part 1) `[dim]`. K/V is [layer][head][part][capacity][dim], where layers
// may have heads of their own: `before` are the floats of a position in the layers before.
DEVICE size_t kv_index(int before, int head, int part, int capacity, int index, int dim) {
  return (size_t)before * capacity + (((size_t)head * 2 + part) * capacity + index) * dim;
}

// The first position that `position` sees through a window; 0 is no window.
DEVICE int first_seen(int position, int window) { return window > 0 && position + 1 > window ? position + 1 - window : 0; }

// Of `stages`, 2 to 4, all but the last two groups of this thread have landed, so that the oldest can be read.
DEVICE void oldest_landed(int stages) {
  if (stages == 4) {
    copies_landed<2>();
  } else if (stages == 3) {
    copies_landed<1>();
  } else {
    copies_landed<0>();
  }
}

DEVICE int smaller(int a, int b) { return a < b ? a : b; }
DEVICE int larger(int a, int b) { return a > b ? a : b; }

// e^x, the twin of `ops::exp`: the same operations in the same order.
DEVICE float exponential(float x) {
  const float round = 12582912.0f;
  x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
  const float shifted = x * 1.44269504088896340736f + round;
  const float whole = shifted - round;
  const float rest = (x - whole * 0.6933594f) - whole * -2.1219444e-4f;
  float series = 1.0f / 5040.0f;
  series = series * rest + 1.0f / 720.0f;
  series = series * rest + 1.0f / 120.0f;
  series = series * rest + 1.0f / 24.0f;
  series = series * rest + 1.0f / 6.0f;
  series = series * rest + 0.5f;
  series = series * rest + 1.0f;
  series = series * rest + 1.0f;
  return series * from_bits((to_bits(shifted) << 23) + to_bits(1.0f));
}

// cap * tanh(scale * x / cap), the twin of `ops::soft_cap`.
DEVICE float soft_capped(float x, float scale, float cap) {
  const float small = exponential(-2.0f * scale / cap * x);
  return cap * ((1.0f - small) / (1.0f + small));
}

// The sum over a warp, in every lane the same: a tree of exchanges, each of two values.
template <class T>
DEVICE T warp_sum(T x) {
  for (int distance = WARP / 2; distance > 0; distance /= 2) x += __shfl_xor_sync(ALL_LANES, x, distance);
  return x;
}

DEVICE float warp_max(float x) {
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(ALL_LANES, x, distance);
    x = other > x ? other : x;
  }
  return x;
}

// The sum over a block, in every thread: warps, then their sums in ascending order. `memory` is one T per
// warp.
template <class T>
DEVICE T block_sum(T x, T* memory) {
  x = warp_sum(x);
  if (threadIdx.x % WARP == 0) memory[threadIdx.x / WARP] = x;
  __syncthreads();
  T total = memory[0];
  for (int warp = 1; warp < (int)(blockDim.x / WARP); warp++) total += memory[warp];
  __syncthreads();
  return total;
}
