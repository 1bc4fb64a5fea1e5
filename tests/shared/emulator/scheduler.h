// Runs the blocks of a launch, one after the other, under one of several schedules. Kernels without races
// give the same bits under all of them.
#pragma once
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define SWITCH_BEGINS(keep, stack, bytes) __sanitizer_start_switch_fiber(keep, stack, bytes)
#define SWITCH_ENDS(keep, stack, bytes) __sanitizer_finish_switch_fiber(keep, stack, bytes)
#define FORBID(memory, bytes) ASAN_POISON_MEMORY_REGION(memory, bytes)
#define ALLOW(memory, bytes) ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#else
#define SWITCH_BEGINS(keep, stack, bytes) (void)0
#define SWITCH_ENDS(keep, stack, bytes) (void)0
#define FORBID(memory, bytes) (void)0
#define ALLOW(memory, bytes) (void)0
#endif

namespace emulator {

thread_local Block* block;
thread_local unsigned char* block_memory;

std::map<std::string, Kernel>& kernels() {
  static std::map<std::string, Kernel> all;
  return all;
}

// Not a power of two: the ends of all stacks would share one set of the processor's caches.
constexpr size_t STACK = 64 * 1024 + 7 * 64;

struct Launch {
  Entry entry;
  const void* params;
  char* stacks;
  const void* scheduler_stack;
  size_t scheduler_bytes;
};
static thread_local Launch launch;

#if defined(__x86_64__)
// Keeps the registers that a call leaves alone on the stack of the one, and takes those of the other. A jump is
// foreseen by the processor where a return to another stack is not.
extern "C" void emulator_switch(void** keep, void* to);
asm(R"(.text
.globl emulator_switch
emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
)");
static void* prepare(char* stack_end, void (*begin)()) {
  void** top = reinterpret_cast<void**>(stack_end);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(begin);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  return top;
}
#else
#error "the switch between fibres is written for x86-64 only"
#endif

static void begin() {
  void* keep = nullptr;
  SWITCH_ENDS(nullptr, &launch.scheduler_stack, &launch.scheduler_bytes);
  launch.entry(launch.params);
  block->running->state = State::Ended;
  SWITCH_BEGINS(nullptr, launch.scheduler_stack, launch.scheduler_bytes);
  emulator_switch(&keep, block->scheduler);
  abort();
}

void wait(State state, unsigned lanes, int operation) {
  Fibre* fibre = block->running;
  fibre->state = state;
  fibre->lanes = lanes;
  fibre->operation = operation;
  void* keep = nullptr;
  (void)keep;
  SWITCH_BEGINS(&keep, launch.scheduler_stack, launch.scheduler_bytes);
  emulator_switch(&fibre->stack_pointer, block->scheduler);
  SWITCH_ENDS(keep, &launch.scheduler_stack, &launch.scheduler_bytes);
}

static void resume(Fibre& fibre) {
  block->running = &fibre;
  void* keep = nullptr;
  (void)keep;
  SWITCH_BEGINS(&keep, launch.stacks + fibre.thread * STACK, STACK);
  emulator_switch(&block->scheduler, fibre.stack_pointer);
  SWITCH_ENDS(keep, nullptr, nullptr);
}

// In which order fibres go on.
struct Schedule {
  // 0: warps take turns; 1: the lowest that can goes on; 2: the highest, its lanes backwards; from 3 on: any,
  // from any lane on.
  int kind;
  uint64_t state;
  size_t turn = 0;

  size_t any(size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  }
  // Number of the warp to try in place `at` of `warps`.
  size_t warp(size_t at, size_t first, size_t warps) const {
    if (kind == 2) return warps - 1 - at;
    return first + at < warps ? first + at : first + at - warps;
  }
  size_t first(size_t warps) { return kind == 0 ? turn++ % warps : kind < 3 ? 0 : any(warps); }
};

// Lets lanes of a warp go on that all wait for each other; false if some do something else than others.
static bool release(Fibre* warp, size_t lanes) {
  for (size_t i = 0; i < lanes; i++) {
    if (warp[i].state != State::AtWarp) continue;
    const unsigned wanted = warp[i].lanes;
    bool all = true;
    for (size_t j = 0; j < lanes; j++) {
      if (!(wanted >> j & 1) || warp[j].state == State::Ended) continue;
      all &= warp[j].state == State::AtWarp;
      if (warp[j].state == State::AtWarp && (warp[j].lanes != wanted || warp[j].operation != warp[i].operation)) return false;
    }
    for (size_t j = 0; all && j < lanes; j++) {
      if (wanted >> j & 1 && warp[j].state == State::AtWarp) warp[j].state = State::Ready;
    }
  }
  return true;
}

// One block; an empty text, or what is wrong.
static std::string run_block(Schedule& schedule) {
  auto& fibres = block->fibres;
  const size_t warps = block->warps.size();
  for (;;) {
    bool went_on = false;
    const size_t first = schedule.first(warps);
    for (size_t at = 0; at < warps && !went_on; at++) {
      const size_t number = schedule.warp(at, first, warps);
      Fibre* warp = &fibres[number * 32];
      const size_t lanes = std::min<size_t>(32, fibres.size() - number * 32);
      const size_t from = schedule.kind > 2 ? schedule.any(lanes) : 0;
      for (size_t i = 0; i < lanes; i++) {
        const size_t lane = from + i < lanes ? from + i : from + i - lanes;
        Fibre& fibre = warp[schedule.kind == 2 ? lanes - 1 - i : lane];
        if (fibre.state != State::Ready) continue;
        resume(fibre);
        went_on = true;
      }
      if (went_on && !release(warp, lanes)) return "lanes of a warp wait with different operations";
    }
    if (went_on) continue;
    size_t ended = 0, at_block = 0;
    for (auto& fibre : fibres) {
      ended += fibre.state == State::Ended;
      at_block += fibre.state == State::AtBlock;
    }
    if (ended == fibres.size()) {
      for (auto& copies : block->copies) {
        if (copies.pieces.size() > (copies.landed ? copies.ends[copies.landed - 1] : 0)) return "copies are on their way at the end";
      }
      for (auto& products : block->products) {
        if (products.arrived || !products.lanes[0].empty()) return "products of tiles that not all lanes wait for";
      }
      return block->fault ? block->fault : "";
    }
    if (ended + at_block < fibres.size()) return "some threads wait for their block, others for their warp";
    for (auto& fibre : fibres) {
      if (fibre.state == State::AtBlock) fibre.state = State::Ready;
    }
  }
}

// A whole launch; an empty text, or what is wrong.
static std::string run(Entry entry, const void* params, Index blocks, unsigned threads, size_t memory, int kind) {
  static thread_local char* stacks = nullptr;
  if (!stacks) {
    void* all = mmap(nullptr, 1024 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return "no memory for stacks";
    stacks = static_cast<char*>(all);
    block_memory = static_cast<unsigned char*>(aligned_alloc(128, BLOCK_MEMORY));
  }
  launch = {entry, params, stacks, nullptr, 0};
  Block state;
  state.fibres.resize(threads);
  state.warps.resize((threads + 31) / 32);
  state.copies.resize(threads);
  state.products.resize(state.warps.size());
  state.threads = {threads, 1, 1};
  state.blocks = blocks;
  Schedule schedule{kind, uint64_t(kind)};
  block = &state;
  std::string wrong;
  for (unsigned z = 0; z < blocks.z && wrong.empty(); z++) {
    for (unsigned y = 0; y < blocks.y && wrong.empty(); y++) {
      for (unsigned x = 0; x < blocks.x && wrong.empty(); x++) {
        state.number = {x, y, z};
        ALLOW(stacks, threads * STACK);
        for (unsigned i = 0; i < threads; i++) {
          state.fibres[i] = {prepare(stacks + (i + 1) * STACK, begin), i, State::Ready, 0, 0, 0, false};
          state.copies[i].pieces.clear();
          state.copies[i].ends.clear();
          state.copies[i].landed = 0;
        }
        // Memory that nobody has written is not a number.
        ALLOW(block_memory, BLOCK_MEMORY);
        memset(block_memory, 0xff, memory);
        FORBID(block_memory + memory, BLOCK_MEMORY - memory);
        wrong = run_block(schedule);
      }
    }
  }
  block = nullptr;
  return wrong;
}

}  // namespace emulator
