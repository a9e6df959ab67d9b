#include "compute/wave_programs.h"

#include <cstdlib>

#include "compute/kept_exceptions.h"

namespace t3vp::compute {

void WavePrograms::start(Wave& wave) {
  wave.fiber.start(wave.fiber.stack().bytes != 0 ? wave.fiber.stack() : wave.stacks->take(), &WavePrograms::enter,
                   &wave);
}

void WavePrograms::enter(void* argument) {
  auto* wave = static_cast<Wave*>(argument);
  wave->kernel->run(wave);
  left_floats = restore_floats();
  if (is_elsewhere()) come_back();
}

/// A program that calls longjmp() goes on, on another stack, as another one that has been called before.
bool WavePrograms::is_elsewhere() {
  if (stepped == nullptr && computing == nullptr) std::abort();  // firmware's, which its guard reports
  const void* const here = __builtin_frame_address(0);
  return stepped != nullptr ? !stepped->fiber.has(here) : computing->stacks->have(here);
}

/// To who has called it, whose stack is as it was.
void WavePrograms::come_back() {
  jumped = true;
  if (stepped == nullptr) __builtin_longjmp(way_back, 1);
  const KeptExceptions exceptions;
  for (;;) stepped->fiber.yield(nullptr);
}

/// Only the program that runs can be suspended. Others may have kept the wave of one that has ended.
void WavePrograms::call(t3_wave* caller, const t3_call* call) {
  if (is_elsewhere()) come_back();
  if (stepped != caller || call == nullptr) {
    strayed = true;
    return;
  }
  auto* const wave = static_cast<Wave*>(caller);
  wave->asked = *call;
  left_floats = restore_floats();
  const KeptExceptions exceptions;
  wave->fiber.yield(&wave->asked);
}

const t3_call* WavePrograms::resume(KernelHost& host, Wave& wave) {
  stepped = &wave;
  strayed = jumped = false;
  const KernelCode code = code_of(wave);
  host.code_runs(&code);
  const auto* asked = static_cast<const t3_call*>(wave.fiber.resume());
  host.code_runs(nullptr);
  stepped = nullptr;
  return asked;
}

namespace {

bool returns(const t3_vector_work& work, float* const* operands, void** way_back) {
  if (__builtin_setjmp(way_back) != 0) return false;
  work.compute(work.argument, operands);
  return true;
}

}  // namespace

bool WavePrograms::compute(KernelHost& host, Wave& wave, const t3_vector_work& work, float* const* operands) {
  strayed = false;
  computing = &wave;
  bool returned = false;
  {
    const KernelTime time(host, code_of(wave));
    returned = returns(work, operands, way_back);
    left_floats = restore_floats();
  }
  computing = nullptr;
  return returned;
}

}  // namespace t3vp::compute
