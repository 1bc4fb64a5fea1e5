// The device language on the CPU, as far as the kernels use it: every thread of a block is a fibre, which runs until it
// waits for others. What they wait for, and in which order they go on, is decided in scheduler.h.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define EMULATOR 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __align__(bytes) alignas(bytes)
#define DEVICE static inline

namespace emulator {

struct Index {
  unsigned x, y, z;
};

// What a fibre does next.
enum class State { Ready, AtBlock, AtWarp, Ended };

struct Fibre {
  void* stack_pointer;
  unsigned thread;  // in its block
  State state;
  unsigned lanes;  // whom it waits for, in its warp
  int operation;   // what it waits with: lanes of a warp have to do the same
  unsigned turn;   // warp operations so far
};

// What lanes hand to each other: of two operations in a row each has its own place, so that one wait is enough.
struct Exchange {
  unsigned char payload[2][32][8];
};

struct Block {
  std::vector<Fibre> fibres;
  std::vector<Exchange> warps;
  Index number, threads, blocks;
  Fibre* running;
  void* scheduler;  // its stack pointer
};

// Few and small, so that they can be reached without a call.
extern thread_local Block* block;
constexpr size_t BLOCK_MEMORY = 101376;  // what a block may ask for on every GPU from 8.0 on
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

using Entry = void (*)(const void* params);
struct Kernel {
  Entry entry;
  size_t params;
  unsigned threads;
};
std::map<std::string, Kernel>& kernels();
struct Register {
  Register(const char* name, Kernel kernel) { kernels()[name] = kernel; }
};

}  // namespace emulator

#define KERNEL(name, Params, threads)                                                                       \
  static void name(const Params p);                                                                         \
  static emulator::Register register_##name(                                                                \
      #name, {[](const void* params) { name(*static_cast<const Params*>(params)); }, sizeof(Params), threads}); \
  static void name(const Params p)
#define SHARED(T, name) T* name = reinterpret_cast<T*>(emulator::block_memory)

#define threadIdx (emulator::Index{emulator::block->running->thread, 0, 0})
#define blockIdx (emulator::block->number)
#define blockDim (emulator::block->threads)
#define gridDim (emulator::block->blocks)

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
  const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31, rest = half & 1023;
  if (exponent == 31) return from_bits(sign | 0x7f800000u | rest << 13);
  if (exponent == 0) return (sign ? -1.0f : 1.0f) * std::ldexp(float(rest), -24);
  return from_bits(sign | (exponent + 112) << 23 | rest << 13);
}
