// Accesses in flight when GPUs are reset are lost: none of them arrives afterwards, and their senders are notified.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::lost_test {

namespace {

/// Runs the same program on all GPUs and returns the lines that all of them report. Their links take a tenth of a
/// millisecond for an output.
Lines told_by_all(GpuPair& pair) {
  Lines told;
  for (std::size_t g = 0; g < pair.gpus(); ++g)
    pair.gpu(g).processor.on_log([&told](const std::string& line) { told.push_back(line); });
  pair.run();
  return told;
}

std::size_t count(const Lines& lines, const std::string& begin, const std::string& part) {
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.rfind(begin, 0) == 0 && line.find(part) != std::string::npos;
  }));
}

std::vector<std::string> settings(std::size_t gpus) { return {"gpus=" + std::to_string(gpus)}; }

void require_lost(std::size_t gpus) {
  GpuPair pair(guest_with_stores_under_way, settings(gpus), guest_with_stores_under_way);
  const Lines told = told_by_all(pair);
  CAPTURE(told);
  CHECK(told.size() == 6 * 5 * gpus);
  CHECK(count(told, "GPU ", ": nothing") == told.size());
  pair.require_right_result();
}

void require_told(std::size_t gpus) {
  GpuPair pair(guest_with_a_reset_neighbour, settings(gpus), guest_with_a_reset_neighbour);
  const Lines told = told_by_all(pair);
  CAPTURE(told);
  CHECK(told.size() == 2 * 3 * 5);
  CHECK(count(told, "GPU 0, ", "something arrives") == 0);
  CHECK(count(told, "GPU 0, ", ": nothing") == 3 * 5);
  for (const char* kind : {"GPU 1, stores", "GPU 1, updates", "GPU 1, DMA"})
    CHECK(count(told, kind, t3_status_text(T3_PEER_FAILED)) != 0);
  CHECK(count(pair.logged(1), "", "refused by GPU 0: ") != 0);
  pair.require_right_result();
}

}  // namespace

TEST_CASE("what 2 GPUs have under way when they are reset arrives nowhere") { require_lost(2); }

TEST_CASE("what 3 GPUs have under way when they are reset arrives nowhere") { require_lost(3); }

TEST_CASE("what one of 2 GPUs has under way when it is reset is lost and what is sent to it has failed") {
  require_told(2);
}

TEST_CASE("what one of 4 GPUs has under way when it is reset is lost and what is sent to it has failed") {
  require_told(4);
}

}  // namespace t3vp::test::lost_test
