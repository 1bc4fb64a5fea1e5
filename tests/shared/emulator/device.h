// The device language on the CPU, as far as the kernels use it: every thread of a block is a fibre, which
// runs until it waits for others. What they wait for, and in which order they go on, is decided in
// scheduler.h.
#pragma once
#ifdef __F16C__
#include <immintrin.h>
#endif
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>
#include "module.h"

#define EMULATOR 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __align__(bytes) alignas(bytes)
#define DEVICE static inline
#define DEVICE_MEMBER inline

namespace emulator {

// State of a fibre.
enum class State { Ready, AtBlock, AtWarp, Ended };

struct Fibre {
  void* stack_pointer;
  unsigned thread;  // in its block
  State state;
  unsigned lanes;  // whom it waits for, in its warp
  int operation;   // what it waits with: lanes of a warp have to do the same
  unsigned turn;   // warp operations so far
  bool waited;     // for the last kernel
};

// Data that lanes hand to each other: of two operations in a row each has its own place, so that one wait is
// enough.
struct Exchange {
  unsigned char payload[2][32][8];
};

// Pieces that a thread has on their way into the block's memory, in groups.
struct Copies {
  struct Piece {
    void* to;
    const void* from;
  };
  std::vector<Piece> pieces;
  std::vector<size_t> ends;
  size_t landed = 0;  // groups
};

// A product of tiles that a lane has asked for, and the four sums of it that are its own.
struct Product {
  float* sums;
  uint32_t a[4], b[2];
  void (*multiply)(Product* const* lanes);
};

struct Products {
  std::vector<Product> lanes[32];
  unsigned arrived = 0;
};

struct Block {
  std::vector<Fibre> fibres;
  std::vector<Exchange> warps;
  std::vector<Copies> copies;      // of threads
  std::vector<Products> products;  // of warps
  const char* fault = nullptr;
  Index number, threads, blocks;
  Fibre* running;
  void* scheduler;  // its stack pointer
};

// Few and small, so that they can be reached without a call.
extern thread_local Block* block;
extern thread_local unsigned char* block_memory;

void wait(State state, unsigned lanes, int operation);

// Every lane hands over a value, and takes the one of lane `from`.
template <class T>
T exchange(unsigned lanes, T value, unsigned from, int operation) {
  static_assert(sizeof(T) <= 8, "payload");
  Fibre* fibre = block->running;
  Exchange& warp = block->warps[fibre->thread / 32];
  const unsigned turn = fibre->turn++ % 2;
  memcpy(warp.payload[turn][fibre->thread % 32], &value, sizeof(T));
  wait(State::AtWarp, lanes, operation);
  memcpy(&value, warp.payload[turn][from % 32], sizeof(T));
  return value;
}

std::map<std::string, Kernel>& kernels();
struct Register {
  Register(const char* name, Kernel kernel) { kernels()[name] = kernel; }
};

}  // namespace emulator

#define KERNEL_OF(name, Params, threads, blocks)                            \
  static void name(const Params& p);                                        \
  static emulator::Register register_##name(                                \
      #name, {[](const void* params) {                                      \
                name(*static_cast<const Params*>(params));                  \
                emulator::has_waited();                                     \
              },                                                            \
              sizeof(Params), threads});                                    \
  static void name(const Params& p)
#define SHARED(T, name) T* name = reinterpret_cast<T*>(emulator::block_memory)

#define threadIdx (emulator::Index{emulator::block->running->thread, 0, 0})
#define blockIdx (emulator::block->number)
#define blockDim (emulator::block->threads)
#define gridDim (emulator::block->blocks)

namespace emulator {

// A kernel that ends without a wait for the last one may have read before that was done.
static inline void has_waited() {
  if (!block->running->waited) block->fault = "a thread does not wait for the last kernel";
}

}  // namespace emulator

static inline void after_the_last() { emulator::block->running->waited = true; }
static inline void __syncthreads() { emulator::wait(emulator::State::AtBlock, 0, 0); }
static inline void __syncwarp(unsigned lanes = ~0u) { emulator::wait(emulator::State::AtWarp, lanes, 1); }
template <class T>
T __shfl_xor_sync(unsigned lanes, T value, int mask) {
  return emulator::exchange(lanes, value, emulator::block->running->thread % 32 ^ mask, 2);
}
template <class T>
T __shfl_sync(unsigned lanes, T value, int lane) {
  return emulator::exchange(lanes, value, lane, 3);
}

static inline float from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
static inline uint32_t to_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return bits;
}
static inline float half_to_float(uint16_t half) {
#ifdef __F16C__
  return _cvtsh_ss(half);
#else
  const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31, rest = half & 1023;
  if (exponent == 31) return from_bits(sign | 0x7f800000u | rest << 13);
  if (exponent == 0) return (sign ? -1.0f : 1.0f) * std::ldexp(float(rest), -24);
  return from_bits(sign | (exponent + 112) << 23 | rest << 13);
#endif
}
// To the nearest, of two the even one.
static inline uint16_t float_to_half(float x) {
  const uint32_t bits = to_bits(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return sign | 0x7e00u;
  if (size >= 0x477ff000u) return sign | 0x7c00u;
  // Below the smallest that has all its digits: a whole number of 2^-24.
  if (size < 0x38800000u) return sign | uint16_t(std::nearbyint(std::ldexp(from_bits(size), 24)));
  return sign | uint16_t((size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13);
}
static inline uint32_t less_halves(uint32_t a, uint32_t b) {
  const auto less = [](uint16_t a, uint16_t b) { return uint32_t(float_to_half(half_to_float(a) - half_to_float(b))); };
  return less(a, b) | less(a >> 16, b >> 16) << 16;
}
static inline uint32_t two_halves(float first, float second) {
  const auto half = [](float x) {
    const uint16_t near = float_to_half(x);
    return uint32_t((near & 0x7fffu) == 0x7c00u ? near - 1 : near);
  };
  return half(first) | half(second) << 16;
}
static inline float read_fresh(const float* from) { return *from; }
static inline uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t selector) {
  const uint64_t both = uint64_t(high) << 32 | low;
  uint32_t picked = 0;
  for (int i = 0; i < 4; i++) picked |= uint32_t(both >> (8 * (selector >> (4 * i) & 7)) & 255) << (8 * i);
  return picked;
}

static inline uint32_t atomicAdd(uint32_t* to, uint32_t amount) { return __atomic_fetch_add(to, amount, __ATOMIC_SEQ_CST); }
static inline void __threadfence() {}

// A piece arrives as late as it may, when its group is waited for; what was in its place is gone at once.
static inline void copy_sixteen(void* to, const void* from) {
  if (((uintptr_t)to | (uintptr_t)from) % 16) emulator::block->fault = "a piece of 16 bytes is not aligned";
  memset(to, 0xff, 16);
  emulator::block->copies[emulator::block->running->thread].pieces.push_back({to, from});
}
static inline void copies_committed() {
  emulator::Copies& copies = emulator::block->copies[emulator::block->running->thread];
  copies.ends.push_back(copies.pieces.size());
}
template <int LEFT>
static inline void copies_landed() {
  emulator::Copies& copies = emulator::block->copies[emulator::block->running->thread];
  for (; copies.ends.size() > copies.landed + LEFT; copies.landed++) {
    size_t at = copies.landed ? copies.ends[copies.landed - 1] : 0;
    for (; at < copies.ends[copies.landed]; at++) memcpy(copies.pieces[at].to, copies.pieces[at].from, 16);
  }
}

namespace emulator {

// The product of a warp: sums [16][8] += a [16][16] * b [16][8], where the lanes hold what PTX says of
// m16n8k16. As on a GPU products are exact and a sum loses what is below its last digit, whatever its sign.
template <class Half>
void multiply(Product* const* lanes) {
  const auto widened = [](uint32_t word, int upper) {
    Half half;
    half.bits = uint16_t(upper ? word >> 16 : word);
    return double(widen(half));
  };
  double a[16][16], b[16][8], sums[16][8];
  for (int lane = 0; lane < 32; lane++) {
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 8; i++) a[g + 8 * (i / 2 % 2)][2 * t + i % 2 + 8 * (i / 4)] = widened(lanes[lane]->a[i / 2], i % 2);
    for (int i = 0; i < 4; i++) b[2 * t + i % 2 + 8 * (i / 2)][g] = widened(lanes[lane]->b[i / 2], i % 2);
    for (int i = 0; i < 4; i++) sums[g + 8 * (i / 2)][2 * t + i % 2] = lanes[lane]->sums[i];
  }
  for (int row = 0; row < 16; row++) {
    for (int k = 0; k < 16; k++) {
      for (int column = 0; column < 8; column++) sums[row][column] += a[row][k] * b[k][column];
    }
  }
  for (int lane = 0; lane < 32; lane++) {
    for (int i = 0; i < 4; i++) {
      const double sum = sums[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2];
      const float nearest = float(sum);
      lanes[lane]->sums[i] = std::fabs(double(nearest)) > std::fabs(sum) ? from_bits(to_bits(nearest) - 1) : nearest;
    }
  }
}

static inline Products& products() { return block->products[block->running->thread / 32]; }

}  // namespace emulator

// Asked for only: `tiles_multiplied` does what all lanes have asked for, so that few waits are needed.
template <class Half>
static inline void multiply_tiles(Half, float* sums, const uint32_t* a, const uint32_t* b) {
  emulator::products().lanes[emulator::block->running->thread % 32].push_back(
      {sums, {a[0], a[1], a[2], a[3]}, {b[0], b[1]}, emulator::multiply<Half>});
}
static inline void tiles_multiplied() {
  emulator::Products& products = emulator::products();
  if (++products.arrived == 32) {
    products.arrived = 0;
    for (size_t i = 0; i < products.lanes[0].size(); i++) {
      emulator::Product* lanes[32];
      for (int lane = 0; lane < 32; lane++) {
        auto& asked = products.lanes[lane];
        if (asked.size() != products.lanes[0].size() || asked[i].multiply != products.lanes[0][i].multiply) {
          emulator::block->fault = "lanes of a warp ask for different products";
          return;
        }
        lanes[lane] = &asked[i];
      }
      lanes[0]->multiply(lanes);
    }
    for (auto& lane : products.lanes) lane.clear();
  }
  emulator::wait(emulator::State::AtWarp, ~0u, 4);
}
