// What a GPU has sent before a reset is not taken for what it sends afterwards, nor what was meant for it before.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::lives_test {

namespace {

using Catch::Contains;

/// Runs the same program on all GPUs and returns the lines that all of them report.
Lines told_by_all(GpuPair& pair) {
  Lines told;
  for (std::size_t g = 0; g < pair.gpus(); ++g)
    pair.gpu(g).processor.on_log([&told](const std::string& line) { told.push_back(line); });
  pair.run();
  return told;
}

std::size_t count(const Lines& lines, const std::string& begin, const std::string& end) {
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.rfind(begin, 0) == 0 && line.size() >= end.size() &&
           line.compare(line.size() - end.size(), end.size(), end) == 0;
  }));
}

void require_told_rings(std::size_t gpus) {
  GpuPair pair(guest_with_earlier_lives, {"gpus=" + std::to_string(gpus)}, guest_with_earlier_lives);
  const Lines told = told_by_all(pair);
  const Lines wrong = [&] {
    Lines lines;
    std::copy_if(told.begin(), told.end(), std::back_inserter(lines),
                 [](const std::string& line) { return line.find("wrong data") != std::string::npos; });
    return lines;
  }();
  CAPTURE(wrong);
  CHECK(wrong.empty());
  CHECK(told.size() == 60 * gpus + wrong.size());
  // The GPU that GPU 0 sends to hears of it; where GPU 0 was reset too early or too late for that, all is right.
  const std::string receiver = "GPU " + std::to_string(gpus - 1) + ", ";
  for (const char* kind : {"all-gather, again", "reduce-scatter, again", "near-memory reduce-scatter, again"})
    CHECK(count(told, receiver + kind, t3_status_text(T3_PEER_FAILED)) != 0);
  CHECK(count(told, "GPU 0, ", t3_status_text(T3_PEER_FAILED)) != 0);
  const Lines logged = pair.logged(gpus - 1);
  CHECK(std::any_of(logged.begin(), logged.end(), [](const std::string& text) {
    return text.find("GPU 0 has been reset since it first signalled here") != std::string::npos;
  }));
  pair.require_right_result();
}

void require_told_barrier(std::size_t gpus) {
  GpuPair pair(guest_with_an_earlier_barrier, {"gpus=" + std::to_string(gpus)}, guest_with_an_earlier_barrier);
  const Lines told = told_by_all(pair);
  CAPTURE(told);
  CHECK(std::count(told.begin(), told.end(), "passed before all had called it") == 0);
  CHECK(count(told, "GPU " + std::to_string(gpus - 1) + ", barrier ", t3_status_text(T3_PEER_FAILED)) == 1);
  CHECK_THAT(pair.logged(gpus - 1).at(0), Contains("GPU 0 has been reset since it first signalled here"));
  CHECK_THAT(pair.logged(0).at(0), Contains("refused by GPU " + std::to_string(gpus - 1) + ": "));
  pair.require_right_result();
}

}  // namespace

TEST_CASE("ring kernels of 2 GPUs are right or told when one is reset in it and begins anew") { require_told_rings(2); }

TEST_CASE("ring kernels of 3 GPUs are right or told when one is reset in it and begins anew") { require_told_rings(3); }

TEST_CASE("ring kernels of 4 GPUs are right or told when one is reset in it and begins anew") { require_told_rings(4); }

TEST_CASE("what one of 2 GPUs has signalled for a barrier before its reset opens none after it") {
  require_told_barrier(2);
}

TEST_CASE("what one of 4 GPUs has signalled for a barrier before its reset opens none after it") {
  require_told_barrier(4);
}

}  // namespace t3vp::test::lives_test
