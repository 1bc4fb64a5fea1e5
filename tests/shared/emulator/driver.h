// A driver and a compiler of kernels, as the program loads them: their functions over the emulator. Device number N
// runs under schedule N. Everything is done when a function returns.
#pragma once

namespace emulator {

enum Result { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_HANDLE = 400, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

#ifndef DRIVER_VERSION
#define DRIVER_VERSION 13000
#endif
#ifndef DRIVER_DEVICES
#define DRIVER_DEVICES 7
#endif
// After those with an order of threads each: one with hardly any memory, and one of a kind that is not supported.
constexpr int SMALL = 5, OLD = 6;
constexpr size_t MEMORY = size_t(1) << 30;
constexpr size_t EDGE = 64;  // bytes before and behind what is allocated, which nobody may change

struct Memory {
  std::mutex lock;
  std::map<uint64_t, size_t> blocks;
  size_t used = 0;

  // Whether the bytes lie inside of one allocation.
  bool holds(uint64_t at, size_t bytes) {
    std::lock_guard<std::mutex> guard(lock);
    auto next = blocks.upper_bound(at);
    if (next == blocks.begin()) return false;
    --next;
    return at + bytes <= next->first + next->second;
  }
};
static Memory memory;

struct Function {
  Kernel kernel;
  std::string name;
  size_t block_memory = 48 * 1024;
};

static thread_local long current = -1;
// Something was written where nothing may be: every later call fails.
static bool broken = false;

static std::string launch_function(const Function& function, Index blocks, Index threads, size_t bytes, const void* params, size_t size) {
  if (size != function.kernel.params) return "the parameters have another size";
  if (threads.x != function.kernel.threads || threads.y != 1 || threads.z != 1) return "another number of threads";
  if (!blocks.x || !blocks.y || !blocks.z || blocks.y > 65535 || blocks.z > 65535) return "a grid of no blocks or too many";
  if (bytes > function.block_memory) return "more shared memory than was asked for";
  return run(function.kernel.entry, params, blocks, threads.x, bytes, int(current));
}

}  // namespace emulator

#define API extern "C" __attribute__((visibility("default"))) int
using emulator::Function;
using emulator::Result;

API cuInit(unsigned) { return DRIVER_DEVICES ? 0 : 100; }
API cuDriverGetVersion(int* version) { return *version = DRIVER_VERSION, Result::SUCCESS; }
API cuDeviceGetCount(int* count) { return *count = DRIVER_DEVICES, Result::SUCCESS; }
API cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= DRIVER_DEVICES) return 101;
  return *device = ordinal, Result::SUCCESS;
}
API cuDeviceGetName(char* name, int len, int device) { return snprintf(name, len, "Emulator %d", device), Result::SUCCESS; }
API cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = emulator::MEMORY, Result::SUCCESS; }
API cuDeviceGetAttribute(int* value, int attribute, int device) {
  // Compute capability 8.0, and the shared memory that a block may have.
  *value = attribute == 75 ? (device == emulator::OLD ? 7 : 8) : attribute == 76 ? 0 : attribute == 97 ? int(emulator::BLOCK_MEMORY) : 0;
  return Result::SUCCESS;
}
API cuDevicePrimaryCtxRetain(void** context, int device) { return *context = (void*)(intptr_t)(device + 1), Result::SUCCESS; }
API cuDevicePrimaryCtxRelease_v2(int) { return Result::SUCCESS; }
API cuCtxSetCurrent(void* context) {
  emulator::current = (intptr_t)context - 1;
  return emulator::broken ? Result::LAUNCH_FAILED : Result::SUCCESS;
}
API cuMemGetInfo_v2(size_t* left, size_t* all) {
  return *all = emulator::MEMORY, *left = emulator::MEMORY - emulator::memory.used, Result::SUCCESS;
}
API cuGetErrorString(int result, const char** text) {
  *text = result == Result::OUT_OF_MEMORY ? "out of memory" : "failed in the emulator";
  return Result::SUCCESS;
}
API cuMemAlloc_v2(uint64_t* at, size_t bytes) {
  std::lock_guard<std::mutex> guard(emulator::memory.lock);
  if (emulator::current < 0 || !bytes) return Result::INVALID_VALUE;
  if (bytes > emulator::MEMORY - emulator::memory.used) return Result::OUT_OF_MEMORY;
  if (emulator::current == emulator::SMALL && bytes > 65536) return Result::OUT_OF_MEMORY;
  unsigned char* block = (unsigned char*)aligned_alloc(256, (bytes + 2 * 256 + 255) / 256 * 256);
  if (!block) return Result::OUT_OF_MEMORY;
  memset(block, 0xff, bytes + 2 * 256);
  *at = (uint64_t)(block + 256);
  FORBID(block, 256);
  FORBID(block + 256 + bytes, 256);
  emulator::memory.blocks[*at] = bytes;
  emulator::memory.used += bytes;
  return Result::SUCCESS;
}
API cuMemFree_v2(uint64_t at) {
  std::lock_guard<std::mutex> guard(emulator::memory.lock);
  auto found = emulator::memory.blocks.find(at);
  if (found == emulator::memory.blocks.end()) return Result::INVALID_VALUE;
  const size_t bytes = found->second;
  unsigned char* block = (unsigned char*)at - 256;
  ALLOW(block, bytes + 2 * 256);
  bool whole = true;
  for (size_t i = 1; i <= emulator::EDGE; i++) whole &= block[256 - i] == 0xff && block[255 + bytes + i] == 0xff;
  emulator::memory.used -= bytes;
  emulator::memory.blocks.erase(found);
  free(block);
  if (whole) return Result::SUCCESS;
  fprintf(stderr, "emulator: something was written beside %zu bytes of memory\n", bytes);
  emulator::broken = true;
  return Result::LAUNCH_FAILED;
}
API cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  if (!emulator::memory.holds(to, bytes)) return Result::INVALID_VALUE;
  return memcpy((void*)to, from, bytes), Result::SUCCESS;
}
API cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  if (!emulator::memory.holds(from, bytes)) return Result::INVALID_VALUE;
  return memcpy(to, (void*)from, bytes), Result::SUCCESS;
}
API cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  if (!emulator::memory.holds(to, bytes) || !emulator::memory.holds(from, bytes)) return Result::INVALID_VALUE;
  return memcpy((void*)to, (void*)from, bytes), Result::SUCCESS;
}
API cuStreamCreate(void** stream, unsigned) { return *stream = (void*)1, Result::SUCCESS; }
API cuStreamDestroy_v2(void*) { return Result::SUCCESS; }
API cuStreamSynchronize(void*) { return Result::SUCCESS; }
API cuModuleLoadData(void** module, const void*) { return *module = (void*)1, Result::SUCCESS; }
API cuModuleUnload(void*) { return Result::SUCCESS; }
API cuModuleGetFunction(void** function, void*, const char* name) {
  auto found = emulator::kernels().find(name);
  if (found == emulator::kernels().end()) return Result::NOT_FOUND;
  // They live as long as the program, as kernels do.
  return *function = new Function{found->second, name}, Result::SUCCESS;
}
API cuFuncSetAttribute(void* function, int attribute, int value) {
  if (attribute != 8 || size_t(value) > emulator::BLOCK_MEMORY) return Result::INVALID_VALUE;
  return ((Function*)function)->block_memory = value, Result::SUCCESS;
}
API cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned bytes, void*, void**, void** extra) {
  // Pairs of a key and a pointer: 1 the buffer, 2 its size, 0 the end.
  const std::string wrong = emulator::launch_function(
      *(Function*)function, {gx, gy, gz}, {bx, by, bz}, bytes, extra[1], *(size_t*)extra[3]);
  if (wrong.empty()) return Result::SUCCESS;
  fprintf(stderr, "emulator: %s: %s\n", ((Function*)function)->name.c_str(), wrong.c_str());
  return Result::LAUNCH_FAILED;
}

API nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
API nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*, const char* const*) { return *program = (void*)1, 0; }
API nvrtcDestroyProgram(void**) { return 0; }
API nvrtcCompileProgram(void*, int, const char* const*) { return 0; }
API nvrtcGetProgramLogSize(void*, size_t* bytes) { return *bytes = 1, 0; }
API nvrtcGetProgramLog(void*, char* log) { return *log = 0, 0; }
API nvrtcGetCUBINSize(void*, size_t* bytes) { return *bytes = 8, 0; }
API nvrtcGetCUBIN(void*, char* cubin) { return memcpy(cubin, "emulator", 8), 0; }
