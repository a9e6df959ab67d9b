// What the hosts exchange over their own network, and programs that do not come, or come to something else.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/whole_runs.h"
#include "t3/t3.h"

namespace t3vp::test::exchange_test {

using Catch::Contains;

namespace {

std::array<std::vector<std::uint64_t>, most_gpus> found;

bool tells(const RunResult& result, const std::string& text) {
  return std::any_of(result.diagnosis.begin(), result.diagnosis.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

t3_status open(t3_context& gpu, const t3_hal* hal) {
  answers[hal->gpu].push_back(t3_init(&gpu, hal));
  return answers[hal->gpu].back();
}

t3_status gather(const t3_hal* hal, const t3_run*) {
  t3_context gpu{};
  T3_TRY(open(gpu, hal));
  hal->wait_ns(hal->platform, 1000 * (hal->gpu + 1));
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const std::uint64_t mine = 10 * round + hal->gpu;
    std::array<std::uint64_t, most_gpus> all{};
    answers[hal->gpu].push_back(t3_host_all_gather(&gpu, "numbers", &mine, sizeof mine, all.data()));
    found[hal->gpu].insert(found[hal->gpu].end(), all.begin(), all.end());
  }
  answers[hal->gpu].push_back(t3_host_barrier(&gpu));
  ended_ns[hal->gpu] = hal->time_ns(hal->platform);
  return t3_close(&gpu);
}

bool by_size = false;

/// GPU 1 comes to something else.
t3_status disagree(const t3_hal* hal, const t3_run*) {
  t3_context gpu{};
  T3_TRY(open(gpu, hal));
  const bool differs = hal->gpu == 1;
  std::array<std::uint64_t, 2 * most_gpus> mine{}, all{};
  answers[hal->gpu].push_back(t3_host_all_gather(&gpu, differs && !by_size ? "keys" : "numbers", mine.data(),
                                                 differs && by_size ? 16 : 8, all.data()));
  answers[hal->gpu].push_back(t3_host_barrier(&gpu));
  return T3_OK;
}

bool others_go_on = false;

/// GPU 1 ends without coming; GPU 2 may let time pass.
t3_status forget(const t3_hal* hal, const t3_run*) {
  t3_context gpu{};
  T3_TRY(open(gpu, hal));
  if (hal->gpu == 1) return T3_OK;
  for (int i = 0; hal->gpu == 2 && others_go_on && i < 2000; ++i) hal->wait_ns(hal->platform, 10'000);
  answers[hal->gpu].push_back(t3_host_barrier(&gpu));
  ended_ns[hal->gpu] = hal->time_ns(hal->platform);
  return T3_OK;
}

/// GPU 0 waits too short a time, and again.
t3_status hurry(const t3_hal* hal, const t3_run*) {
  t3_context gpu{};
  T3_TRY(open(gpu, hal));
  if (hal->gpu == 0) t3_set_timeout(&gpu, 5'000);
  if (hal->gpu != 0) hal->wait_ns(hal->platform, 20'000);
  std::uint64_t mine = 7 + hal->gpu;
  std::array<std::uint64_t, most_gpus> all{};
  answers[hal->gpu].push_back(t3_host_all_gather(&gpu, "numbers", &mine, sizeof mine, all.data()));
  if (hal->gpu == 0) {
    t3_set_timeout(&gpu, T3_FOREVER);
    mine = 99;  // what it has brought stays
    answers[0].push_back(t3_host_all_gather(&gpu, "numbers", &mine, sizeof mine, all.data()));
  }
  found[hal->gpu].assign(all.begin(), all.end());
  return T3_OK;
}

}  // namespace

TEST_CASE("hosts exchange over their own network and meet") {
  const RunResult result = run(gather, {"system.host.exchange_ns=3000"});
  CAPTURE(result.diagnosis);
  for (std::uint32_t g = 0; g < most_gpus; ++g) {
    CHECK(answers[g] == std::vector<t3_status>(5, T3_OK));
    CHECK(found[g] == std::vector<std::uint64_t>{10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33});
    CHECK(ended_ns[g] == ended_ns[0]);
  }
  CHECK(ended_ns[0] >= 4'000 + 4 * 3'000);
  CHECK(ended_ns[0] < 4'000 + 4 * 3'000 + 3'000);
}

void require_disagreement() {
  const RunResult result = run(disagree, {"gpus=3"});
  CAPTURE(result.diagnosis);
  for (std::uint32_t g = 0; g < 3; ++g) {
    CHECK(answers[g].at(1) == T3_MISMATCH);
    CHECK(answers[g].at(2) == T3_OK);
  }
  const std::string other = by_size ? "\"numbers\" of 16 bytes" : "\"keys\" of 8 bytes";
  CHECK(tells(result, " each and others \"numbers\" of 8 bytes each: the same expected"));
  CHECK(tells(result, other));
}

TEST_CASE("hosts that come to exchanges of other names are told") { require_disagreement(); }

TEST_CASE("hosts that come to exchanges of other sizes are told") {
  by_size = true;
  require_disagreement();
}

TEST_CASE("an exchange with a program that has ended is stuck and told") {
  const RunResult result = run(forget, {"gpus=3"});
  CAPTURE(result.diagnosis);
  CHECK(answers[0].back() == T3_STUCK);
  CHECK(answers[2].back() == T3_STUCK);
  CHECK(tells(result,
              "GPU 0 firmware waits for the exchange of all hosts that it calls barrier: the program of GPU 1 "
              "has ended"));
}

TEST_CASE("an exchange with a program that has ended is stuck though others let time pass") {
  others_go_on = true;
  const RunResult result = run(forget, {"gpus=3"});
  CAPTURE(result.diagnosis);
  CHECK(answers[0].back() == T3_STUCK);
  CHECK(ended_ns[0] < 10'000'000);
  CHECK(tells(result, "the program of GPU 1 has ended"));
}

TEST_CASE("an exchange that has timed out goes on when it is called again") {
  const RunResult result = run(hurry, {"gpus=2"});
  CAPTURE(result.diagnosis);
  CHECK(answers[0] == std::vector<t3_status>{T3_OK, T3_TIMEOUT, T3_OK});
  CHECK(found[0] == std::vector<std::uint64_t>{7, 8, 0, 0});
  CHECK(found[1] == found[0]);
}

}  // namespace t3vp::test::exchange_test
