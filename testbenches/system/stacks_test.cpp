// Stacks: checking needs none of the firmware's, and an overflow is one line. Other ends of a process in firmware are,
// too.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <tlm_utils/simple_target_socket.h>

#include "compute/kernel_registry.h"
#include "guests/guest_ends.h"
#include "io/output_file.h"
#include "kernels/kernels.h"
#include "processor/command_processor.h"
#include "run/simulation.h"
#include "system/platform_run.h"
#include "t3/kernel_handle.h"
#include "t3_hal.h"

namespace t3vp::test::stacks_test {

using Catch::Contains;

namespace {

/// Ends after more calls than any stack holds; the array keeps the calls from becoming a loop.
__attribute__((noinline)) int recurse(volatile int* before) {
  volatile int here[100];
  here[0] = before == nullptr ? 0 : before[0] + 1;
  return here[0] < 1'000'000'000 ? recurse(here) + here[0] : 0;
}

/// What firmware does with an array of a megabyte: it begins at the end that it needs first, or at the other.
__attribute__((noinline)) int use_megabyte(bool from_its_end) {
  volatile unsigned char bytes[1 << 20];
  const std::size_t first = from_its_end ? sizeof bytes - 1 : 0;
  bytes[first] = 1;
  return bytes[first];
}

struct Ended {
  int exit_code = -1;  ///< -1: by a signal
  std::string err;
};

/// A processor whose program does not look around.
struct LoneProcessor : sc_core::sc_module {
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  processor::CommandProcessor processor{"processor", 0, {}};
  tlm_utils::simple_target_socket<LoneProcessor, 64> nothing{"nothing"};

  explicit LoneProcessor(const sc_core::sc_module_name& name) : sc_module(name) {
    processor.interrupt.bind(interrupt);
    processor.socket.bind(nothing);
  }
};

/// Returns the access rights of the memory that ends where the stack with this variable starts, as /proc/self/maps
/// reports them.
std::string rights_below_stack_of(const void* variable) {
  std::ifstream maps("/proc/self/maps");
  std::uintptr_t last_end = 0;
  std::string line, last_rights;
  while (std::getline(maps, line)) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights;
    std::istringstream(line) >> std::hex >> begin >> dash >> end >> rights;
    const auto address = reinterpret_cast<std::uintptr_t>(variable);
    if (begin <= address && address < end) return last_end == begin ? last_rights : "a gap";
    last_end = end;
    last_rights = rights;
  }
  return "nothing";
}

/// What becomes of a process that does this.
template <typename Work>
Ended in_a_process(Work work) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    report_stack_overflows();
    work();
    _exit(0);
  }
  close(ends[1]);
  Ended ended;
  char buffer[256];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    ended.err.append(buffer, static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

}  // namespace

TEST_CASE("firmware that needs more than its stack ends the run with one line") {
  const Ended ended = in_a_process([] {
    LoneProcessor gpu("gpu");
    gpu.processor.run([](processor::CommandProcessor&) { return recurse(nullptr) == 0 ? Status::ok : Status::busy; });
    sc_core::sc_start();
  });
  REQUIRE(ended.exit_code == 1);
  REQUIRE(ended.err == "t3vp: stack overflow in gpu.processor.main: firmware has 256 KiB of stack\n");
}

TEST_CASE("a megabyte on the firmware's stack ends the run with one line") {
  for (const bool from_its_end : {false, true}) {
    const Ended ended = in_a_process([from_its_end] {
      LoneProcessor gpu("gpu");
      gpu.processor.run(
          [=](processor::CommandProcessor&) { return use_megabyte(from_its_end) == 0 ? Status::ok : Status::busy; });
      sc_core::sc_start();
    });
    CHECK(ended.exit_code == 1);
    CHECK(ended.err == "t3vp: stack overflow in gpu.processor.main: firmware has 256 KiB of stack\n");
  }
}

TEST_CASE("below the stack of every GPU's firmware lies a page that nobody may touch") {
  LoneProcessor first("first"), second("second"), third("third");
  std::vector<std::string> below;
  for (LoneProcessor* gpu : {&first, &second, &third})
    gpu->processor.run([&below](processor::CommandProcessor&) {
      const int here = 0;
      below.push_back(rights_below_stack_of(&here));
      return Status::ok;
    });
  sc_core::sc_start();
  REQUIRE(below == std::vector<std::string>(3, "---p"));
}

TEST_CASE("a stack overflow of the program itself is one line too") {
  const Ended ended = in_a_process([] { recurse(nullptr); });
  REQUIRE(ended.exit_code == 1);
  REQUIRE(ended.err == "t3vp: stack overflow in the main program\n");
}

TEST_CASE("other invalid accesses are no stack overflows") {
  const Ended ended = in_a_process([] { *reinterpret_cast<volatile int*>(std::uintptr_t{16}) = 1; });
  REQUIRE(ended.exit_code == -1);
  REQUIRE(ended.err.empty());
}

namespace {

/// What ends a process, done by the firmware of GPU 1 while that of GPU 0 waits.
void (*end_of_process)() = nullptr;

t3_status end_on_gpu_1(const t3_hal* hal, const t3_run*) {
  hal->wait_ns(hal->platform, hal->gpu == 1 ? 100 : 1000);
  if (hal->gpu == 1) end_of_process();
  return T3_OK;
}

Ended end_in_firmware(void (*end)()) {
  end_of_process = end;
  return in_a_process([] {
    RunOptions options;
    options.program = end_on_gpu_1;
    simulate(configuration_of({on_small_system(), "gpus=2", "method=t3", "data=timing-only"}), options);
  });
}

}  // namespace

TEST_CASE("firmware that would end the process ends the run with one line that names the GPU") {
  const std::pair<void (*)(), const char*> ends[] = {
      {[] { std::exit(0); }, "has called exit()"},
      {[] { std::quick_exit(0); }, "has called exit()"},
      {[] { std::abort(); }, "has called abort()"},
      {[] { *reinterpret_cast<volatile int*>(std::uintptr_t{16}) = 1; },
       "has accessed memory of the host that is not there"},
      {[] { raise(SIGFPE); }, "has divided by zero"},
      {[] { raise(SIGILL); }, "has run into an instruction that there is not"}};
  for (const auto& [end, text] : ends) {
    const Ended ended = end_in_firmware(end);
    CHECK(ended.exit_code == 1);
    CHECK(ended.err == std::string("t3vp: the firmware of GPU 1 ") + text + "\n");
  }
}

TEST_CASE("firmware that returns ends no process, and the platform's own ends stay what they are") {
  REQUIRE(end_in_firmware([] {}).exit_code == 0);
  const Ended aborted = in_a_process([] {
    end_of_process = [] {};
    RunOptions options;
    options.program = end_on_gpu_1;
    simulate(configuration_of({on_small_system(), "gpus=2", "method=t3", "data=timing-only"}), options);
    std::abort();
  });
  REQUIRE(aborted.exit_code == -1);
}

namespace {

std::array<const t3_hal*, 2> hals;

/// What GPU 1's firmware does while GPU 0's waits.
Ended end_with_hals(void (*misuse)()) {
  end_of_process = misuse;
  return in_a_process([] {
    RunOptions options;
    options.program = [](const t3_hal* hal, const t3_run* run) {
      hals[hal->gpu] = hal;
      return end_on_gpu_1(hal, run);
    };
    simulate(configuration_of({on_small_system(), "gpus=2", "method=t3", "data=timing-only"}), options);
  });
}

/// Calls the HAL by another thread, which lives on when the program does something else.
void call_by_thread(bool wait_for_it) {
  std::thread thread([] { hals[1]->wait_ns(hals[1]->platform, 10); });
  if (wait_for_it) return thread.join();
  thread.detach();
  for (;;) hals[1]->wait_ns(hals[1]->platform, 10);
}

void read_too_much() {
  unsigned char bytes[64];
  hals[1]->read_memory(hals[1]->platform, t3_on_gpu(1, 0), bytes, std::uint64_t{1} << 30);
}

/// The first page of which the host may only read, and the last of which it may do nothing with.
void* guarded_page(int protection) {
  constexpr std::size_t page = 4096;
  auto* const pages =
      static_cast<unsigned char*>(mmap(nullptr, 2 * page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + page, page, PROT_NONE);
  return pages;
}

}  // namespace

TEST_CASE(
    "a HAL that another program or thread calls ends the run with one line that names whose it is and who calls") {
  const std::pair<void (*)(), const char*> misuses[] = {
      {[] { hals[0]->wait_ns(hals[0]->platform, 10); }, "GPU 0 was called by the firmware of GPU 1"},
      {[] { hals[0]->time_ns(hals[0]->platform); }, "GPU 0 was called by the firmware of GPU 1"},
      {[] { hals[0]->publish(hals[0]->platform, nullptr); }, "GPU 0 was called by the firmware of GPU 1"},
      {[] { call_by_thread(true); }, "GPU 1 was called by a thread of its own: programs run on the simulation's"},
      {[] { call_by_thread(false); }, "GPU 1 was called by a thread of its own: programs run on the simulation's"}};
  for (const auto& [misuse, text] : misuses) {
    const Ended ended = end_with_hals(misuse);
    CHECK(ended.exit_code == 1);
    CHECK(ended.err == std::string("t3vp: the HAL of ") + text + "\n");
  }
}

TEST_CASE(
    "a buffer that is shorter than what the HAL is to copy is the firmware's access to memory that is not there") {
  void (*const misuses[])() = {
      read_too_much,
      [] { hals[1]->read_memory(hals[1]->platform, t3_on_gpu(1, 0), guarded_page(PROT_READ | PROT_WRITE), 4097); },
      [] { hals[1]->read_memory(hals[1]->platform, t3_on_gpu(1, 0), guarded_page(PROT_READ), 64); },
      [] { hals[1]->write_memory(hals[1]->platform, t3_on_gpu(1, 0), guarded_page(PROT_READ), 8192); }};
  for (const auto misuse : misuses) {
    const Ended ended = end_with_hals(misuse);
    CHECK(ended.exit_code == 1);
    CHECK(ended.err == "t3vp: the firmware of GPU 1 has accessed memory of the host that is not there\n");
  }
  CHECK(end_with_hals([] {
          hals[1]->write_memory(hals[1]->platform, t3_on_gpu(1, 0), guarded_page(PROT_READ), 4096);
        }).exit_code == 0);
}

namespace {

const t3_kernel& gemm_kernel() { return *compute::KernelRegistry(t3_kernels).find(t3_kernel_handle("gemm")); }

/// What a kernel in place of the GEMM does.
Ended end_in_kernel(void (*run)(t3_wave*), const Settings& settings) {
  static t3_kernel gemm;
  static const t3_kernel* kernels[] = {&gemm, nullptr};
  gemm = gemm_kernel();
  gemm.run = run;
  return in_a_process([&settings] {
    RunOptions options;
    options.kernels = kernels;
    simulate(configuration_of(Settings{on_small_system(), "gpus=2", "method=t3", "data=timing-only"} + settings),
             options);
  });
}

}  // namespace

TEST_CASE("a kernel that would end the process ends the run with one line that names it and its wave") {
  const auto crash = [](const void*, float* const*) { *reinterpret_cast<volatile int*>(std::uintptr_t{16}) = 1; };
  static constexpr auto crash_in = +crash;
  const auto line = Catch::Matches(
      "t3vp: kernel gemm of GPU [01] \\(workgroup 3, wave 0\\) has accessed memory of the host that is not there\n");
  const Ended ended = end_in_kernel(
      [](t3_wave* wave) {
        if (wave->workgroup == 3) crash_in(nullptr, nullptr);
      },
      {});
  CHECK(ended.exit_code == 1);
  CHECK_THAT(ended.err, line);
  const Ended in_its_work = end_in_kernel(
      [](t3_wave* wave) {
        t3_vector_work work{};
        work.operations = 1;
        work.operands = 1;
        work.tiles[0] = {0, 1, 1, T3_FP32};
        work.compute = crash_in;
        if (wave->workgroup == 3) t3_work(wave, &work);
      },
      {"data=functional"});
  CHECK_THAT(in_its_work.err, line);
  const Ended by_exit = end_in_kernel([](t3_wave*) { std::exit(0); }, {});
  CHECK_THAT(by_exit.err, Catch::Matches("t3vp: kernel gemm of GPU [01] \\(workgroup [0-9]+, wave 0\\) has called "
                                         "exit\\(\\)\n"));
}

TEST_CASE("what a kernel does before it runs is the kernel's too") {
  static t3_kernel gemm;
  static const t3_kernel* kernels[] = {&gemm, nullptr};
  const auto ended = [] {
    return in_a_process([] {
      RunOptions options;
      options.kernels = kernels;
      simulate(configuration_of(Settings{on_small_system(), "gpus=2", "method=t3", "data=timing-only"}), options);
    });
  };
  const auto line = Catch::Matches("t3vp: kernel gemm of GPU [01] has accessed memory of the host that is not there\n");
  gemm = gemm_kernel();
  gemm.check = [](t3_check*, const t3_launch*) { return *reinterpret_cast<volatile bool*>(std::uintptr_t{16}); };
  CHECK_THAT(ended().err, line);
  gemm = gemm_kernel();
  gemm.plan = [](const t3_device*, const t3_launch*) { return *reinterpret_cast<t3_plan*>(std::uintptr_t{16}); };
  CHECK_THAT(ended().err, line);
  gemm = gemm_kernel();
  gemm.arguments.read = [](void*, const unsigned char*) { *reinterpret_cast<volatile int*>(std::uintptr_t{16}) = 1; };
  CHECK_THAT(ended().err, line);
  gemm = gemm_kernel();
  gemm.check = [](t3_check*, const t3_launch*) -> bool { std::exit(0); };
  CHECK_THAT(ended().err, Catch::Matches("t3vp: kernel gemm of GPU [01] has called exit\\(\\)\n"));
  CHECK(ended().exit_code == 1);
}

TEST_CASE("a kernel that calls a HAL ends the run with one line") {
  static const t3_hal* of_gpu_0 = nullptr;
  const Ended ended = in_a_process([] {
    static t3_kernel gemm;
    static const t3_kernel* kernels[] = {&gemm, nullptr};
    gemm = gemm_kernel();
    gemm.run = [](t3_wave*) { of_gpu_0->time_ns(of_gpu_0->platform); };
    RunOptions options;
    options.kernels = kernels;
    options.program = [](const t3_hal* hal, const t3_run* run) {
      if (hal->gpu == 0) of_gpu_0 = hal;
      return t3_run_fused(hal, run);
    };
    simulate(configuration_of({on_small_system(), "gpus=2", "method=t3", "data=timing-only"}), options);
  });
  CHECK(ended.exit_code == 1);
  CHECK_THAT(ended.err, Catch::Matches("t3vp: the HAL of GPU 0 was called by kernel gemm of GPU [01] "
                                       "\\(workgroup [0-9]+, wave 0\\)\n"));
}

TEST_CASE("a kernel that never comes back ends the run with one line") {
  const Ended computing = end_in_kernel(
      [](t3_wave* wave) {
        for (volatile std::uint32_t waves = wave->waves; waves != 0;) {
        }
      },
      {"limits.firmware_s=0.2"});
  CHECK(computing.exit_code == 1);
  CHECK_THAT(computing.err,
             Catch::Matches(
                 "t3vp: limits\\.firmware_s: kernel gemm of GPU [01] \\(workgroup [0-9]+, wave 0\\) has computed for "
                 "0\\.2 s without a call of the device; [^]*"));
  CHECK(std::count(computing.err.begin(), computing.err.end(), '\n') == 1);
  const Ended calling = end_in_kernel(
      [](t3_wave* wave) {
        for (;;) t3_trace_span(wave, "for ever", 0);
      },
      {});
  CHECK(calling.exit_code == 1);
  CHECK_THAT(calling.err, Catch::Matches("t3vp: kernel gemm of GPU [01] \\(workgroup [0-9]+, wave 0\\) has called the "
                                         "device more than 10000000 times "
                                         "while no simulated time passed; [^]*"));
}

TEST_CASE("what ends by an invalid access leaves no partial file") {
  void (*const ends[])() = {[] { recurse(nullptr); }, [] { *reinterpret_cast<volatile int*>(std::uintptr_t{16}) = 1; }};
  for (const auto end : ends) {
    const Folder folder;
    const Ended ended = in_a_process([&] {
      OutputFile file(folder / "trace.json");
      file.stream() << "half" << std::flush;
      if (std::filesystem::is_empty(folder / ".")) _exit(0);
      end();
    });
    CHECK(ended.exit_code != 0);
    CHECK(std::filesystem::is_empty(folder / "."));
  }
}

TEST_CASE("phases are told on a stack that is not the firmware's") {
  LoneProcessor gpu("gpu");
  processor::CommandProcessor& processor = gpu.processor;
  std::vector<std::pair<std::string, bool>> told;
  std::uintptr_t callback = 0, program = 0;
  processor.on_phase([&](const std::string& phase, bool begin) {
    const int here = 0;
    callback = reinterpret_cast<std::uintptr_t>(&here);
    told.emplace_back(phase, begin);
  });
  processor.run([&](processor::CommandProcessor& p) {
    const int here = 0;
    program = reinterpret_cast<std::uintptr_t>(&here);
    p.begin("gemm");
    const Picoseconds before = now();
    p.end("gemm");
    return now() == before ? Status::ok : Status::busy;  // telling takes no time
  });
  sc_core::sc_start();
  REQUIRE(processor.status() == Status::ok);
  REQUIRE(told == std::vector<std::pair<std::string, bool>>{{"gemm", true}, {"gemm", false}});
  REQUIRE(std::max(callback, program) - std::min(callback, program) > processor::CommandProcessor::stack_bytes);
}

TEST_CASE("layers of any size are checked") {
  for (const char* workload :
       {R"({"layer": "prompt", "tp": 2, "transformer": {"hidden": 128, "heads": 4, "sequence": 128, "batch": 1}})",
        R"({"layer": "prompt", "attention": "fused", "tp": 2,
            "transformer": {"hidden": 256, "heads": 4, "sequence": 256, "batch": 1, "element": "bf16"}})"}) {
    const Run run =
        Run::of_program({on_small_system(), "gpus=null", "method=sequential", std::string("workload=") + workload});
    INFO(run.terminal());
    REQUIRE(run.exit_code() == 0);
    REQUIRE(run.report().at("functional").at("checked") == true);
  }
}

}  // namespace t3vp::test::stacks_test
