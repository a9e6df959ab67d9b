// More than one context, and waits with timeouts.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::contexts_test {

namespace {

void require_right_twice(const std::vector<std::string>& settings) {
  GpuPair pair(guest_twice, settings, guest_twice);
  pair.run();
  pair.require_right_result();
}

void require_timeouts(const std::vector<std::string>& settings) {
  GpuPair pair(guest_short_of_time, settings, guest_short_of_time);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"timeout 0", T3_OK},
                                {"17 kernels for 16 places", T3_TIMEOUT},
                                {"the first one", T3_TIMEOUT},
                                {"no time", T3_OK},
                                {"timeout 5000", T3_OK},
                                {"all", T3_TIMEOUT},
                                {"5000 ns", T3_OK},
                                {"no timeout", T3_OK},
                                {"all", T3_OK},
                                {"memory", T3_OK},
                                {"store to the cache", T3_OK},
                                {"its end", T3_OK},
                                {"timeout 100", T3_OK},
                                {"flush", T3_TIMEOUT},
                                {"fill", T3_TIMEOUT},
                                {"another fill", T3_TIMEOUT},
                                {"no timeout", T3_OK},
                                {"a small fill after the large one", T3_OK},
                                {"flush", T3_OK},
                                {"timeout 1000", T3_OK},
                                {"barrier", T3_OK},
                                {"after many timeouts", T3_OK},
                                {"longest timeout", T3_OK},
                                {"barrier", T3_OK}}));
  pair.require_right_result();
}

void append_use(std::vector<Told>& told) {
  for (const char* what : {"gemm", "its end", "fill", "flush", "its handler has heard"}) told.push_back({what, T3_OK});
}

void append_stale(std::vector<Told>& told) {
  for (const char* what : {"handler of the stale", "its mask", "its unmask", "its malloc"})
    told.push_back({what, T3_STALE});
}

}  // namespace

TEST_CASE("calls that need something and get nothing say so") {
  GpuPair pair(guest_of_nothing, {"check=protocol"});
  pair.run();
  REQUIRE(pair.told() == lines({{"calls without something they need", T3_INVALID_ARGUMENT},
                                {"what is not there counts nothing", T3_OK},
                                {"read to nowhere", T3_BAD_ACCESS},
                                {"write from nowhere", T3_BAD_ACCESS},
                                {"read of nothing", T3_OK},
                                {"write of nothing", T3_OK},
                                {"read of nothing to nowhere", T3_OK},
                                {"write of nothing from nowhere", T3_OK},
                                {"wait without a reason", T3_TIMEOUT}}));
  CHECK(pair.broken_rules().empty());
  pair.require_right_result();
}

TEST_CASE("a second context is refused until the first is closed which it is only at rest") {
  GpuPair pair(guest_second_context);
  pair.run();
  REQUIRE(pair.told() == lines({{"a second context", T3_BUSY},
                                {"what it can do", T3_INVALID_ARGUMENT},
                                {"remote_map", T3_OK},
                                {"close with a map", T3_BUSY},
                                {"unmap", T3_OK},
                                {"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"gemm", T3_OK},
                                {"close with a kernel", T3_BUSY},
                                {"its end", T3_OK},
                                {"close", T3_OK},
                                {"close again", T3_INVALID_ARGUMENT},
                                {"a closed context", T3_INVALID_ARGUMENT},
                                {"the next context", T3_OK},
                                {"a HAL without a clock", T3_INVALID_ARGUMENT}}));
  pair.require_right_result();
}

TEST_CASE("an open context stays as it is when it is opened again, and what fails in one that was reset says so") {
  GpuPair pair(guest_in_a_stale_context, {}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"init of an open context", T3_BUSY},
                                {"it goes on", T3_OK},
                                {"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"reset", T3_OK},
                                {"gemm", T3_STALE},
                                {"close", T3_STALE},
                                {"init", T3_OK},
                                {"close of the one before", T3_STALE},
                                {"gemm of the next", T3_OK},
                                {"its end", T3_OK},
                                {"its close", T3_OK},
                                {"init again", T3_OK},
                                {"logged by kernel_queue", T3_INVALID_ARGUMENT}}));
  pair.require_right_result();
}

TEST_CASE("a copy of a context is none") {
  GpuPair pair(guest_that_copies_contexts);
  pair.run();
  REQUIRE(pair.told() == lines({{"a copy", T3_INVALID_ARGUMENT},
                                {"its barrier", T3_INVALID_ARGUMENT},
                                {"its close", T3_INVALID_ARGUMENT},
                                {"the context", T3_OK},
                                {"no kernel of it", T3_OK}}));
  pair.require_right_result();
}

TEST_CASE("a context is not opened anew under a call that waits with it") {
  GpuPair pair(guest_reset_in_a_handler, {}, guest_late_after_reset);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"handler", T3_OK},
                                {"gemm", T3_OK},
                                {"reset", T3_OK},
                                {"init in a handler", T3_BUSY},
                                {"its end", T3_STALE},
                                {"close", T3_STALE},
                                {"init", T3_OK}}));
  pair.require_right_result();
}

TEST_CASE("a context that a handler opens works on beside the one that its reset has ended") {
  GpuPair pair(guest_that_opens_in_handlers, {}, guest_late_after_reset);
  pair.run();
  std::vector<Told> told{{"memory of a", T3_OK}, {"memory of b", T3_OK}};
  for (int line = 0; line < 3; ++line) {
    for (const char* what : {"handler", "reset", "init", "handler of the next"}) told.push_back({what, T3_OK});
    told.push_back({"what it is called for", line == 2 ? T3_OK : T3_STALE});  // the flush had ended
    told.push_back({"it was called once", T3_OK});
    append_use(told);
    append_stale(told);
    append_use(told);
    for (const char* what : {"close of the next", "init of the first"}) told.push_back({what, T3_OK});
  }
  REQUIRE(pair.told() == lines(told));
  pair.require_right_result();
}

TEST_CASE("a context that was reset takes no interrupts from the next one") {
  GpuPair pair(guest_that_sets_stale_handlers, {}, guest_late_after_reset);
  pair.run();
  std::vector<Told> told;
  for (const char* what : {"memory of a", "memory of b", "reset", "init", "handler of the next"})
    told.push_back({what, T3_OK});
  append_stale(told);
  append_use(told);
  for (const char* what : {"close of the next", "init of the first"}) told.push_back({what, T3_OK});
  REQUIRE(pair.told() == lines(told));
  pair.require_right_result();
}

TEST_CASE("a wait for a kernel that a reset has ended is told that its context is stale at once") {
  GpuPair pair(guest_that_waits_behind_a_reset, {}, guest_late_after_reset);
  pair.run();
  std::vector<Told> told = {{"memory of a", T3_OK}, {"memory of b", T3_OK}};
  for (int before = 0; before < 2; ++before) {
    if (before != 0) told.insert(told.end(), {{"gemm", T3_OK}, {"its end", T3_OK}});
    for (const Told& line : {Told{"gemm", T3_OK},
                             {"reset", T3_OK},
                             {"its end", T3_STALE},
                             {"at once", T3_OK},
                             {"its number", T3_STALE},
                             {"init", T3_OK}})
      told.push_back(line);
  }
  REQUIRE(pair.told() == lines(told));
  pair.require_right_result();
}

TEST_CASE("packets that the driver knows nothing of are told by its next one, and the ring stays where it is") {
  GpuPair pair(guest_that_rings_by_hand);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"doorbell", T3_OK},
                                {"gemm behind it", T3_BAD_VALUE},
                                {"half of the ring", T3_BAD_VALUE},
                                {"another ring", T3_BAD_VALUE},
                                {"close", T3_OK},
                                {"init", T3_OK},
                                {"gemm", T3_OK},
                                {"its end", T3_OK},
                                {"the number before it", T3_INVALID_ARGUMENT},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_INVALID_ARGUMENT},
                                {"logged by kernel_queue", T3_BUSY},
                                {"logged by kernel_queue", T3_BUSY}}));
  CHECK_THAT(pair.logged(0)[1], Catch::Contains("2 to 17 expected: 1 packets have been announced"));
  CHECK_THAT(pair.logged(0)[2], Catch::Contains("packets have been announced: the ring of 16 entries at 0x0 stays"));
  pair.require_right_result();
}

TEST_CASE("a context goes on with the barriers and ring kernels of the one before with 2 GPUs") {
  require_right_twice({});
}

TEST_CASE("a context goes on with the barriers and ring kernels of the one before with 4 GPUs") {
  require_right_twice({"gpus=4"});
}

TEST_CASE("every wait ends at its timeout and can be taken up again: 2 GPUs") { require_timeouts({}); }

TEST_CASE("every wait ends at its timeout and can be taken up again: 3 GPUs") { require_timeouts({"gpus=3"}); }

TEST_CASE(
    "the interrupt of a fill that has timed out neither keeps another wait awake nor is missed by the next fill") {
  GpuPair pair(guest_that_waits_after_a_fill, {}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"timeout 1", T3_OK},
                                {"fill", T3_TIMEOUT},
                                {"dma_map", T3_OK},
                                {"timeout 1000", T3_OK},
                                {"wait_dma", T3_TIMEOUT},
                                {"1000 ns", T3_OK},
                                {"another fill", T3_TIMEOUT},
                                {"all maps", T3_OK},
                                {"its interrupt cleared by hand", T3_OK},
                                {"no timeout", T3_OK},
                                {"the fill after it", T3_OK}}));
  pair.require_right_result();
}

TEST_CASE("phases that cannot be named and nameless buffers are logged") {
  GpuPair pair(guest_unknown_phases);
  pair.run();
  REQUIRE(pair.told().size() == 12);
  for (std::size_t i = 0; i < 10; ++i)
    REQUIRE_THAT(pair.told()[i], Catch::StartsWith(i % 2 == 0 ? "begins a phase without a plain name: "
                                                              : "ends a phase that has not begun: "));
  REQUIRE(pair.told()[10] == "publishes no buffer");
  REQUIRE(pair.told()[11].empty());
  pair.require_right_result();
}

}  // namespace t3vp::test::contexts_test
