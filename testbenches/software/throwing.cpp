// A library in C++. It throws exceptions that are not caught, handles exceptions across calls of the HAL, and has
// thread_local variables whose destructors end the process. The environment variable T3VP_TEST_ACT chooses the action.
#include <unistd.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "t3/arguments/nothing.h"
#include "t3/check.h"
#include "t3/exports.h"

namespace {

bool is(const char* act) {
  const char* const asked = std::getenv("T3VP_TEST_ACT");
  return asked != nullptr && std::strcmp(asked, act) == 0;
}

void throw_in(const char* place) {
  if (is((std::string("throw in ") + place).c_str())) throw std::runtime_error("a surprise");
  if (is((std::string("throw a number in ") + place).c_str())) throw 7;
}

/// Lives as long as its thread.
struct Last {
  bool is_used = false;
  ~Last() {
    if (!is_used) return;
    if (is("thread_local: _exit")) _exit(0);
    if (is("thread_local: abort")) std::abort();
    while (is("thread_local: loop")) usleep(1000);
    if (is("thread_local: crash")) *reinterpret_cast<volatile int*>(16) = 1;
    throw_in("thread_local");
  }
};
thread_local Last last;

std::jmp_buf away;

void on_kernel(t3_context* gpu, const t3_interrupt*, void*) {
  throw_in("handler");
  while (is("stay in a handler")) t3_hal_of(gpu)->wait_ns(t3_hal_of(gpu)->platform, 100);
  if (is("jump out of a handler")) std::longjmp(away, 1);
}

void fill(const void*, std::uint32_t, float* values) {
  throw_in("contents");
  values[0] = 1;
}

bool check(t3_check*, const t3_launch* launch) {
  throw_in("check");
  if (is("free in check")) std::free(const_cast<void*>(launch->arguments));
  return true;
}

t3_plan plan(const t3_device*, const t3_launch* launch) {
  throw_in("plan");
  const std::uint64_t written = t3_on_gpu(static_cast<const t3_nothing_arguments*>(launch->arguments)->number, 2 << 20);
  t3_plan plan{};
  plan.name = "throwing";
  plan.workgroups = 2;
  plan.workgroups_per_cu = plan.waves = plan.tiles = 1;
  plan.written[0] = {written, written + 64};
  plan.written_count = 1;
  plan.register_bytes = 64;
  plan.local_bytes = 64;
  return plan;
}

void compute(const void*, float* const*) { throw_in("compute"); }

void run(t3_wave* wave) {
  throw_in("run");
  if (is("free the wave")) std::free(wave);
  if (is("free the arguments")) std::free(const_cast<void*>(wave->arguments));
  if (is("free the local memory")) std::free(wave->local);
  if (is("resize the wave")) static_cast<void>(!std::realloc(wave, 5));
  t3_vector_work work{};
  work.operations = 1;
  work.compute = compute;
  try {
    throw wave->workgroup;
  } catch (std::uint32_t) {
    t3_work(wave, &work);  // the other workgroup and other programs go on meanwhile
    try {
      throw;
    } catch (std::uint32_t mine) {
      if (mine != wave->workgroup) std::abort();
    }
  }
}

/// Handles an exception while others do, too, who are switched to in any order.
t3_status handles(const t3_hal* hal) {
  const std::string mine = "thrown by GPU " + std::to_string(hal->gpu);
  try {
    try {
      throw std::runtime_error(mine);
    } catch (const std::exception&) {
      hal->wait_ns(hal->platform, hal->gpu == 0 ? 50 : 2000);
      throw;
    }
  } catch (const std::exception& caught) {
    if (caught.what() != mine) return T3_MISMATCH;
    hal->wait_ns(hal->platform, hal->gpu == 0 ? 5000 : 100);
    if (caught.what() != mine || std::uncaught_exceptions() != 0) return T3_MISMATCH;
  }
  return std::current_exception() == nullptr ? T3_OK : T3_MISMATCH;
}

void launch(t3_context& gpu) {
  const t3_nothing_arguments arguments = {t3_gpu(&gpu)};
  unsigned char bytes[T3_NOTHING_ARGUMENTS_BYTES];
  t3_nothing_arguments_to(&arguments, bytes);
  t3_run_kernel(&gpu, "throwing", bytes, sizeof bytes, {});
}

t3_status program(const t3_hal* hal, const t3_run*) {
  throw_in("program");
  last.is_used = true;
  static t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  t3_buffer buffer{};
  buffer.name = "x";
  buffer.address = t3_on_gpu(hal->gpu, 1 << 20);
  buffer.row_stride = 32;
  buffer.rows = buffer.columns = 1;
  buffer.element = T3_FP32;
  buffer.initial.kind = T3_CONTENTS_FUNCTION;
  buffer.initial.function = fill;
  hal->publish(hal->platform, &buffer);
  T3_TRY(handles(hal));
  T3_TRY(t3_set_handler(&gpu, T3_LINE_KERNEL_QUEUE, 1, on_kernel, nullptr));
  if (setjmp(away) == 0) {
    launch(gpu);
    T3_TRY(t3_wait_kernels(&gpu));
  } else {
    hal->wait_ns(hal->platform, 1000);
    return T3_OK;
  }
  return t3_close(&gpu);
}

const t3_kernel throwing = [] {
  t3_kernel kernel{};
  kernel.name = "throwing";
  kernel.arguments = T3_NOTHING_ARGUMENTS;
  kernel.reads = "throwing_read";
  kernel.writes = "throwing_write";
  kernel.check = check;
  kernel.plan = plan;
  kernel.run = run;
  return kernel;
}();

const t3_named_program programs[] = {{"throwing", program}, {nullptr, nullptr}};
const t3_kernel* const kernels[] = {&throwing, nullptr};

struct Opened {
  Opened() { throw_in("constructor"); }
} opened;

}  // namespace

extern "C" const t3_export_table t3_exports = {T3_EXPORTS_VERSION, T3_EXPORTS_LAYOUT, "throwing", programs, kernels};
