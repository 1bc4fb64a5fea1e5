// A module: a library of kernels and of what runs them, which the driver opens.
#pragma once
#include <cstddef>
#include <string>

namespace emulator {

struct Index {
  unsigned x, y, z;
};

constexpr size_t BLOCK_MEMORY = 101376;  // what a block may ask for on every GPU from 8.0 on

using Entry = void (*)(const void* params);
struct Kernel {
  Entry entry;
  size_t params;
  unsigned threads;
};

struct Module {
  const Kernel* (*find)(const std::string& name);
  // A whole launch; an empty text, or what is wrong.
  std::string (*run)(Entry entry, const void* params, Index blocks, unsigned threads, size_t memory, int kind);
};

}  // namespace emulator
