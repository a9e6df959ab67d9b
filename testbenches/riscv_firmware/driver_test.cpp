// What the driver answers to programs that misuse it is the same on a core: handlers, resets, refusals, waits.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>

#include "riscv_firmware/image.h"

namespace t3vp::test::driver_test {
namespace {

/// Returns the lines of all programs, sorted, since the order of GPUs differs, and the end of the run.
std::vector<std::string> told(const std::string& library, const std::string& program) {
  const CoreRun run({{"gpus", 2},
                     {"method", "t3"},
                     {"workload", {{"gemm", {{"m", 200}, {"n", 136}, {"k", 48}}}}},
                     {"program", library + ":" + program}});
  const Outcome outcome = run.run();
  const std::string text = std::regex_replace(outcome.err, std::regex("at [0-9.]+ ns"), "at a time");
  std::vector<std::string> lines{"exit code " + std::to_string(outcome.exit_code)};
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

void require_same(const std::vector<std::string>& programs) {
  if (!has_image()) return;
  for (const std::string& program : programs) {
    INFO(program);
    const std::vector<std::string> native = told(FIRMWARE_DIR "/native_driver_guests.so", program);
    CHECK(native.size() > 5);
    CHECK(told(FIRMWARE_DIR "/driver_guests.elf", program) == native);
  }
}

}  // namespace

TEST_CASE("handlers on a core hear what native ones hear and nested") {
  require_same({"with_handlers", "with_a_failing_transfer", "that_opens_in_handlers", "reset_in_a_handler",
                "that_sets_stale_handlers"});
}

TEST_CASE("kernels that fail are told on a core as natively") {
  require_same({"mixed_kernels", "behind_a_failure", "that_clears_failures", "bad_packets", "huge_sizes",
                "aborted_ring", "disagreeing_rings"});
}

TEST_CASE("maps that are misused are told on a core as natively") {
  require_same({"maps_used_wrongly", "cached_on_maps", "busy_maps", "maps_given_up", "misfit_in_a_wait",
                "zeroed_in_use", "that_zeroes_views", "where_it_is_staged"});
}

TEST_CASE("contexts and resets are on a core as natively") {
  require_same({"second_context", "in_a_stale_context", "that_waits_behind_a_reset", "reset_under_way"});
}

TEST_CASE("registers and memory refuse a core what they refuse native programs") {
  require_same({"refused_by_its_peer", "register_misuse", "misuse_of_peers", "beyond_memory", "locked_registers",
                "memory_exhausted", "freed_memory", "that_updates_what_is_cached", "unknown_phases"});
}

}  // namespace t3vp::test::driver_test
