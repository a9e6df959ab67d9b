// Kernels that read in loops of their own what nothing changes end the run by limits.polls; loops that will end do not.
#include <catch2/catch.hpp>

#include "driver_errors/kernel_table.h"
#include "driver_errors/whole_runs.h"
#include "t3/launch.h"

namespace t3vp::test::read_loops_test {

namespace {

using Catch::Contains;

struct Arguments {
  std::uint64_t flags;  ///< three integers, 32 bytes apart; 32 bytes from 128 on are the kernel's output
  std::uint32_t places, most;
};

/// Until one of the integers is not 0, or for so many rounds.
void loop(t3_wave* wave) {
  Arguments given;
  std::memcpy(&given, wave->arguments, sizeof given);
  for (std::uint32_t round = 0; round < given.most; ++round)
    for (std::uint32_t i = 0; i < given.places; ++i) {
      std::uint64_t flag = 0;
      if (!t3_read(wave, given.flags + 32 * i, sizeof flag, &flag) || flag != 0) return;
    }
}

t3_plan plan(const t3_device*, const t3_launch* launch) {
  const auto* given = static_cast<const Arguments*>(launch->arguments);
  t3_plan plan{};
  plan.name = "spin";
  plan.workgroups = plan.workgroups_per_cu = plan.waves = 1;
  plan.shared[0] = {given->flags & T3_LOCAL_MASK, (given->flags & T3_LOCAL_MASK) + 96};
  plan.shared_count = 1;
  plan.written[0] = {given->flags + 128, given->flags + 160};
  plan.written_count = 1;
  return plan;
}

Arguments given;
void (*beside)(t3_context* gpu, std::uint64_t flags);  ///< the loop, before it is waited for

t3_status program(const t3_hal* hal, const t3_run*) {
  t3_context gpu{};
  unsigned char zeros[160] = {};
  T3_TRY(t3_init(&gpu, hal));
  if (hal->gpu == 1) return t3_close(&gpu);
  Arguments told = given;
  T3_TRY(t3_malloc(&gpu, sizeof zeros, &told.flags));
  T3_TRY(hal->write_memory(hal->platform, told.flags, zeros, sizeof zeros));
  hal->order_writes(hal->platform);
  T3_TRY(t3_run_kernel(&gpu, "spin", &told, sizeof told, {1, 0, 0}));
  if (beside != nullptr) beside(&gpu, told.flags);
  T3_TRY(t3_wait_kernels(&gpu));
  return t3_close(&gpu);
}

std::vector<std::string> diagnosis(std::uint32_t places, std::uint32_t most,
                                   void (*what)(t3_context*, std::uint64_t) = nullptr) {
  given = {0, places, most};
  beside = what;
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  RunOptions options;
  options.program = program;
  options.kernels = kernel_table<Arguments>("spin", plan, loop);
  return simulate(load_run(configs + "runs/gemm-rs-4gpu.json", {"system=" + configs + "systems/small-4.json", "gpus=2",
                                                                "data=timing-only", "limits.polls=1000"}),
                  options)
      .diagnosis;
}

void write_after(t3_context* gpu, std::uint64_t flags, std::uint64_t ns) {
  const t3_hal* hal = t3_hal_of(gpu);
  const unsigned char one[8] = {1};
  hal->wait_ns(hal->platform, ns);
  REQUIRE(hal->write_memory(hal->platform, flags, one, sizeof one) == T3_OK);
  hal->order_writes(hal->platform);
}

constexpr std::uint32_t for_ever = 0xFFFFFFFF;

void require_spin(const std::vector<std::string>& lines) {
  CAPTURE(lines);
  REQUIRE_FALSE(lines.empty());
  CHECK_THAT(
      lines[0],
      Contains("limits.polls: GPU 0 kernel spin: workgroup 0, wave 0 reads in a loop: it has read 8 bytes at 0x") &&
          Contains(" times, always 0x0, and nothing has been written to any memory meanwhile"));
}

}  // namespace

TEST_CASE("a kernel that reads for ever what nothing changes ends the run and is named") {
  require_spin(diagnosis(1, for_ever));
}

TEST_CASE("a kernel that reads three places in turn for ever ends the run and is named") {
  require_spin(diagnosis(3, for_ever));
}

TEST_CASE("a kernel that reads for ever ends the run though its program polls for its end") {
  require_spin(diagnosis(1, for_ever, [](t3_context* gpu, std::uint64_t) {
    const t3_hal* hal = t3_hal_of(gpu);
    std::uint64_t ended = 0;
    while (ended == 0)
      hal->read64(hal->platform, t3_block_base(0, T3_BLOCK_KERNEL_QUEUE) + T3_KERNEL_QUEUE_COMPLETED_OFFSET, &ended);
  }));
}

TEST_CASE("a kernel that reads in a loop until its program writes ends no run") {
  CHECK(
      diagnosis(1, for_ever, [](t3_context* gpu, std::uint64_t flags) { write_after(gpu, flags, 5'000'000); }).empty());
}

TEST_CASE("a kernel whose loop of reads ends by itself ends no run") {
  CHECK(diagnosis(1, 990) == std::vector<std::string>{});
}

TEST_CASE("a kernel that reads in a loop while memory is written to ends no run") {
  CHECK(diagnosis(1, for_ever, [](t3_context* gpu, std::uint64_t flags) {
          for (int i = 0; i < 20; ++i) write_after(gpu, flags + 64, 100'000);  // which the kernel does not read
          write_after(gpu, flags, 0);
        }) == std::vector<std::string>{});
}

}  // namespace t3vp::test::read_loops_test
