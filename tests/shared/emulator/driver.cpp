// A driver, as the program loads it: its functions over modules of the emulator. Device number N runs under
// schedule N. Devices LATE and above do their work when somebody waits for it, as late as a GPU may; the others
// at once. Device SMALL has hardly any memory, device OLD is of a kind that is not supported. A thread finds
// devices only where it has asked for them.
#include <dlfcn.h>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>
#include "module.h"

// There where AddressSanitizer watches the module.
extern "C" {
__attribute__((weak)) void __asan_poison_memory_region(const volatile void* memory, size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* memory, size_t bytes);
}

namespace emulator {

enum Result {
  SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
  INVALID_HANDLE = 400, NOT_FOUND = 500, LAUNCH_FAILED = 719, CAPTURE_UNSUPPORTED = 900
};

// As this thread sees them.
static thread_local int devices = 0, version = 0;

constexpr int LATE = 3, SMALL = 5, OLD = 6;
constexpr size_t MEMORY = size_t(1) << 30, SMALL_MEMORY = size_t(1) << 16;
constexpr size_t EDGE = 64;  // bytes before and behind what is allocated, which nobody may change

struct Memory {
  std::mutex lock;
  std::map<uint64_t, size_t> blocks;
  std::map<uint64_t, size_t> pinned;
  // Bytes that each context has, and the context of each allocation: tests beside each other share no memory.
  std::map<const void*, size_t> used;
  std::map<uint64_t, const void*> owners;

  static bool inside(const std::map<uint64_t, size_t>& blocks, uint64_t at, size_t bytes) {
    auto next = blocks.upper_bound(at);
    if (next == blocks.begin()) return false;
    --next;
    return at + bytes <= next->first + next->second;
  }
  // The bytes lie inside of one allocation.
  bool holds(uint64_t at, size_t bytes) {
    std::lock_guard<std::mutex> guard(lock);
    return inside(blocks, at, bytes);
  }
  bool is_pinned(const void* at, size_t bytes) {
    std::lock_guard<std::mutex> guard(lock);
    return inside(pinned, (uint64_t)at, bytes);
  }
};
static Memory memory;

// Calls of this thread, by kind.
struct Counts {
  uint64_t launches, graph_launches, graphs_made, graphs_ended, waits, to_device, to_host;
};
static thread_local Counts counts;

static void forbid(const void* memory, size_t bytes) {
  if (__asan_poison_memory_region) __asan_poison_memory_region(memory, bytes);
}
static void allow(const void* memory, size_t bytes) {
  if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(memory, bytes);
}

struct Function {
  Module module;
  Kernel kernel;
  std::string name;
  size_t block_memory = 48 * 1024;
};

// Of a device, for one that has asked for it: a module that is broken breaks nothing of others.
struct Context {
  int device;
  // Something was written where nothing may be: every later call fails.
  std::atomic<bool> broken{false};
};
static thread_local Context* current = nullptr;
// This thread captures: what cannot be part of a graph is refused.
static thread_local bool captures = false;

// Work of a stream or of a graph; what it says is what is wrong.
using Operation = std::function<std::string(int device)>;

struct Graph {
  std::vector<Operation> operations;
};

struct Stream {
  Context* context;
  std::recursive_mutex lock;
  std::vector<Operation> late;
  Graph* capture = nullptr;

  static int fail(const std::string& wrong) {
    fprintf(stderr, "emulator: %s\n", wrong.c_str());
    return LAUNCH_FAILED;
  }
  int perform(Operation operation) {
    if (capture) return capture->operations.push_back(std::move(operation)), SUCCESS;
    if (context->device >= LATE) {
      std::lock_guard<std::recursive_mutex> guard(lock);
      return late.push_back(std::move(operation)), SUCCESS;
    }
    // Threads have nothing to do with each other's work.
    const std::string wrong = operation(context->device);
    return wrong.empty() ? SUCCESS : fail(wrong);
  }
  // Does what was put off.
  int drain() {
    std::lock_guard<std::recursive_mutex> guard(lock);
    int result = SUCCESS;
    for (auto& operation : late) {
      const std::string wrong = result == SUCCESS ? operation(context->device) : "";
      if (!wrong.empty()) result = fail(wrong), context->broken = true;
    }
    late.clear();
    return result;
  }
};
static std::mutex streams_lock;
static std::set<Stream*> streams;

static int drain_all() {
  std::lock_guard<std::mutex> guard(streams_lock);
  int result = SUCCESS;
  for (Stream* stream : streams) {
    if (stream->context == current && stream->drain() != SUCCESS) result = LAUNCH_FAILED;
  }
  return result;
}

static std::string launch_function(const Function& function, Index blocks, Index threads, size_t bytes, const void* params, size_t size, int device) {
  if (size != function.kernel.params) return function.name + ": the parameters have another size";
  if (threads.x != function.kernel.threads || threads.y != 1 || threads.z != 1) return function.name + ": another number of threads";
  if (!blocks.x || !blocks.y || !blocks.z || blocks.y > 65535 || blocks.z > 65535) return function.name + ": a grid of no blocks or too many";
  if (bytes > function.block_memory) return function.name + ": more shared memory than was asked for";
  const std::string wrong = function.module.run(function.kernel.entry, params, blocks, threads.x, bytes, device);
  return wrong.empty() ? wrong : function.name + ": " + wrong;
}

// A copy; memory of the device has to be there when it is done.
static Operation copying(void* to, const void* from, size_t bytes, uint64_t device_from, uint64_t device_to) {
  return [=](int) -> std::string {
    const bool inside = (!device_from || memory.holds(device_from, bytes)) && (!device_to || memory.holds(device_to, bytes));
    if (!inside) return "a copy of memory that is not there any more";
    memcpy(to, from, bytes);
    return "";
  };
}

}  // namespace emulator

#define API extern "C" int
using emulator::Function;
using emulator::Graph;
using emulator::Module;
using emulator::Result;
using emulator::Stream;

// Calls of this thread since it last asked: see Counts.
API emulatorCounts(emulator::Counts* counts) { return *counts = emulator::counts, emulator::counts = {}, Result::SUCCESS; }

// Devices and version that this thread finds from now on.
API emulatorPretends(int devices, int version) { return emulator::devices = devices, emulator::version = version, Result::SUCCESS; }

API cuInit(unsigned) { return emulator::devices ? Result::SUCCESS : Result::NO_DEVICE; }
API cuDriverGetVersion(int* version) { return *version = emulator::version, Result::SUCCESS; }
API cuDeviceGetCount(int* count) { return *count = emulator::devices, Result::SUCCESS; }
API cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= emulator::devices) return Result::INVALID_DEVICE;
  return *device = ordinal, Result::SUCCESS;
}
API cuDeviceGetName(char* name, int len, int device) { return snprintf(name, len, "Emulator %d", device), Result::SUCCESS; }
API cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return *bytes = device == emulator::SMALL ? emulator::SMALL_MEMORY : emulator::MEMORY, Result::SUCCESS;
}
API cuDeviceGetAttribute(int* value, int attribute, int device) {
  // Compute capability 8.0, and the shared memory that a block may have.
  *value = attribute == 75 ? (device == emulator::OLD ? 7 : 8)
         : attribute == 76 ? (device == emulator::OLD ? 5 : 0)
         : attribute == 97 ? int(emulator::BLOCK_MEMORY)
                           : 0;
  return Result::SUCCESS;
}
API cuDevicePrimaryCtxRetain(void** context, int device) { return *context = new emulator::Context{device}, Result::SUCCESS; }
API cuDevicePrimaryCtxRelease_v2(int) { return Result::SUCCESS; }
API cuCtxSetCurrent(void* context) {
  emulator::current = (emulator::Context*)context;
  return context && emulator::current->broken ? Result::LAUNCH_FAILED : Result::SUCCESS;
}
API cuGetErrorString(int result, const char** text) {
  *text = result == Result::OUT_OF_MEMORY ? "out of memory" : "failed in the emulator";
  return Result::SUCCESS;
}
API cuMemAlloc_v2(uint64_t* at, size_t bytes) {
  if (emulator::captures) return Result::CAPTURE_UNSUPPORTED;
  std::lock_guard<std::mutex> guard(emulator::memory.lock);
  if (!emulator::current || !bytes) return Result::INVALID_VALUE;
  size_t& used = emulator::memory.used[emulator::current];
  if (bytes > emulator::MEMORY - used) return Result::OUT_OF_MEMORY;
  if (emulator::current->device == emulator::SMALL && bytes > emulator::SMALL_MEMORY) return Result::OUT_OF_MEMORY;
  unsigned char* block = (unsigned char*)aligned_alloc(256, (bytes + 2 * 256 + 255) / 256 * 256);
  if (!block) return Result::OUT_OF_MEMORY;
  memset(block, 0xff, bytes + 2 * 256);
  *at = (uint64_t)(block + 256);
  emulator::forbid(block, 256);
  emulator::forbid(block + 256 + bytes, 256);
  emulator::memory.blocks[*at] = bytes;
  emulator::memory.owners[*at] = emulator::current;
  used += bytes;
  return Result::SUCCESS;
}
API cuMemFree_v2(uint64_t at) {
  if (emulator::captures) return Result::CAPTURE_UNSUPPORTED;
  const int drained = emulator::drain_all();
  std::lock_guard<std::mutex> guard(emulator::memory.lock);
  auto found = emulator::memory.blocks.find(at);
  if (found == emulator::memory.blocks.end()) return Result::INVALID_VALUE;
  const size_t bytes = found->second;
  unsigned char* block = (unsigned char*)at - 256;
  emulator::allow(block, bytes + 2 * 256);
  bool whole = true;
  for (size_t i = 1; i <= emulator::EDGE; i++) whole &= block[256 - i] == 0xff && block[255 + bytes + i] == 0xff;
  emulator::memory.used[emulator::memory.owners[at]] -= bytes;
  emulator::memory.owners.erase(at);
  emulator::memory.blocks.erase(found);
  free(block);
  if (whole) return drained;
  fprintf(stderr, "emulator: something was written beside %zu bytes of memory\n", bytes);
  emulator::current->broken = true;
  return Result::LAUNCH_FAILED;
}
API cuMemHostAlloc(void** at, size_t bytes, unsigned) {
  if (emulator::captures) return Result::CAPTURE_UNSUPPORTED;
  *at = malloc(bytes);
  memset(*at, 0xff, bytes);
  std::lock_guard<std::mutex> guard(emulator::memory.lock);
  emulator::memory.pinned[(uint64_t)*at] = bytes;
  return Result::SUCCESS;
}
API cuMemFreeHost(void* at) {
  if (emulator::captures) return Result::CAPTURE_UNSUPPORTED;
  std::lock_guard<std::mutex> guard(emulator::memory.lock);
  if (!emulator::memory.pinned.erase((uint64_t)at)) return Result::INVALID_VALUE;
  return free(at), Result::SUCCESS;
}
// Copies between host and device are no part of a graph: it would read the host's memory of when it is
// launched.
API cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  if (((Stream*)stream)->capture) return Result::CAPTURE_UNSUPPORTED;
  if (!emulator::memory.holds(to, bytes)) return Result::INVALID_VALUE;
  emulator::counts.to_device++;
  // Pinned memory is read when the copy is done, and spoiled, since nobody is to read it again; other memory
  // is read before this returns.
  if (emulator::memory.is_pinned(from, bytes)) {
    return ((Stream*)stream)->perform([=](int device) {
      const std::string wrong = emulator::copying((void*)to, from, bytes, 0, to)(device);
      return memset(const_cast<void*>(from), 0xee, bytes), wrong;
    });
  }
  const std::string now((const char*)from, bytes);
  return ((Stream*)stream)->perform([=](int device) { return emulator::copying((void*)to, now.data(), bytes, 0, to)(device); });
}
API cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  if (((Stream*)stream)->capture) return Result::CAPTURE_UNSUPPORTED;
  if (!emulator::memory.holds(from, bytes)) return Result::INVALID_VALUE;
  emulator::counts.to_host++;
  const int result = ((Stream*)stream)->perform(emulator::copying(to, (void*)from, bytes, from, 0));
  return emulator::memory.is_pinned(to, bytes) || result != Result::SUCCESS ? result : ((Stream*)stream)->drain();
}
API cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  if (!emulator::memory.holds(to, bytes) || !emulator::memory.holds(from, bytes)) return Result::INVALID_VALUE;
  return ((Stream*)stream)->perform(emulator::copying((void*)to, (void*)from, bytes, from, to));
}
API cuStreamCreate(void** made, unsigned) {
  Stream* stream = new Stream;
  stream->context = emulator::current;
  std::lock_guard<std::mutex> guard(emulator::streams_lock);
  emulator::streams.insert(stream);
  return *made = stream, Result::SUCCESS;
}
API cuStreamDestroy_v2(void* stream) {
  std::lock_guard<std::mutex> guard(emulator::streams_lock);
  if (!emulator::streams.erase((Stream*)stream)) return Result::INVALID_HANDLE;
  ((Stream*)stream)->drain();
  delete (Stream*)stream;
  return Result::SUCCESS;
}
API cuStreamSynchronize(void* stream) {
  if (((Stream*)stream)->capture) return Result::CAPTURE_UNSUPPORTED;
  emulator::counts.waits++;
  return ((Stream*)stream)->drain();
}
API cuStreamBeginCapture_v2(void* stream, int) {
  if (((Stream*)stream)->capture || emulator::captures) return Result::CAPTURE_UNSUPPORTED;
  ((Stream*)stream)->capture = new Graph;
  emulator::captures = true;
  return Result::SUCCESS;
}
API cuStreamEndCapture(void* stream, void** graph) {
  if (!((Stream*)stream)->capture) return Result::INVALID_VALUE;
  *graph = ((Stream*)stream)->capture;
  ((Stream*)stream)->capture = nullptr;
  emulator::captures = false;
  return Result::SUCCESS;
}
API cuGraphInstantiateWithFlags(void** made, void* graph, unsigned long long) {
  emulator::counts.graphs_made++;
  return *made = new Graph(*(Graph*)graph), Result::SUCCESS;
}
API cuGraphDestroy(void* graph) { return delete (Graph*)graph, Result::SUCCESS; }
API cuGraphExecDestroy(void* graph) {
  emulator::counts.graphs_ended++;
  return delete (Graph*)graph, Result::SUCCESS;
}
API cuGraphLaunch(void* graph, void* stream) {
  emulator::counts.graph_launches++;
  int result = Result::SUCCESS;
  for (auto& operation : ((Graph*)graph)->operations) {
    if (result == Result::SUCCESS) result = ((Stream*)stream)->perform(operation);
  }
  return result;
}
// A binary is the path of a module, which stays loaded as long as the program runs.
API cuModuleLoadData(void** module, const void* binary) {
  void* library = *(const char*)binary == '/' ? dlopen((const char*)binary, RTLD_NOW) : nullptr;
  const auto begin = library ? (Module (*)())dlsym(library, "emulatorModule") : nullptr;
  if (!begin) return Result::INVALID_IMAGE;
  return *module = new Module(begin()), Result::SUCCESS;
}
API cuModuleUnload(void* module) { return delete (Module*)module, Result::SUCCESS; }
API cuModuleGetFunction(void** function, void* module, const char* name) {
  const emulator::Kernel* kernel = ((Module*)module)->find(name);
  if (!kernel) return Result::NOT_FOUND;
  // They live as long as the program, as kernels do.
  return *function = new Function{*(Module*)module, *kernel, name}, Result::SUCCESS;
}
API cuFuncSetAttribute(void* function, int attribute, int value) {
  if (attribute != 8 || size_t(value) > emulator::BLOCK_MEMORY) return Result::INVALID_VALUE;
  return ((Function*)function)->block_memory = value, Result::SUCCESS;
}
// As the driver has it.
struct Launch {
  emulator::Index blocks, threads;
  unsigned bytes;
  void* stream;
  struct Attribute {
    int number;
    char padding[4];
    int value;
  }* attributes;
  unsigned count;
};
API cuLaunchKernelEx(const Launch* launch, void* function, void**, void** extra) {
  // 6: it may begin before the last one is done.
  if (launch->count > 1 || (launch->count == 1 && launch->attributes->number != 6)) return Result::INVALID_VALUE;
  const emulator::Index blocks = launch->blocks, threads = launch->threads;
  const unsigned bytes = launch->bytes;
  void* const stream = launch->stream;
  if (!((Stream*)stream)->capture) emulator::counts.launches++;
  // Pairs of a key and a pointer: 1 the buffer, 2 its size, 0 the end. The parameters are those of now.
  const std::string params((const char*)extra[1], *(size_t*)extra[3]);
  const Function* launched = (Function*)function;
  return ((Stream*)stream)->perform([=](int device) {
    return emulator::launch_function(*launched, blocks, threads, bytes, params.data(), params.size(), device);
  });
}
