#include "device.h"
#include "kernels.inc"
#include <algorithm>
#include "scheduler.h"

static const emulator::Kernel* find(const std::string& name) {
  const auto found = emulator::kernels().find(name);
  return found == emulator::kernels().end() ? nullptr : &found->second;
}

extern "C" emulator::Module emulatorModule() { return {find, emulator::run}; }
