// Handlers beside waits, what a failure leaves alone, and the order that the HAL asks for.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::interrupts_test {

namespace {

/// On every GPU.
void require_handlers(const std::vector<std::string>& settings) {
  GpuPair pair(guest_with_handlers, settings, guest_with_handlers);
  pair.run();
  Lines told = lines({{"memory of a", T3_OK},
                      {"memory of b", T3_OK},
                      {"memory to be filled", T3_OK},
                      {"handler of line 0", T3_OK},
                      {"handler of line 1", T3_OK},
                      {"handler of line 6", T3_OK},
                      {"40 kernels", T3_OK},
                      {"their end", T3_BAD_PACKET},
                      {"each was heard of in order with its code", T3_OK},
                      {"fill", T3_OK},
                      {"it was heard of", T3_OK},
                      {"flush", T3_OK},
                      {"it was heard of", T3_OK},
                      {"mask", T3_OK},
                      {"kernel", T3_OK},
                      {"kernel", T3_OK},
                      {"kernel", T3_OK},
                      {"their end", T3_BAD_PACKET},
                      {"none was heard of", T3_OK},
                      {"unmask", T3_OK},
                      {"all were heard of", T3_OK},
                      {"kernel", T3_OK},
                      {"those that the handler queued", T3_OK},
                      {"all were heard of while the thread filled", T3_OK},
                      {"fill in a fill", T3_BUSY},
                      {"close in a call", T3_BUSY},
                      {"flush in a handler", T3_OK},
                      {"a handler was in a handler", T3_OK},
                      {"their first failure", T3_BAD_PACKET},
                      {"no handlers", T3_OK}});
  // As many as the log holds.
  const Lines entries(16, lines({{"logged by kernel_queue", T3_BAD_PACKET}})[0]);
  told.insert(told.end(), entries.begin(), entries.end());
  REQUIRE(pair.told() == told);
  pair.require_right_result();
}

}  // namespace

TEST_CASE("handlers hear of all that ends in order and nested and masked and beside waits with 2 GPUs") {
  require_handlers({});
}

TEST_CASE(
    "handlers hear of all that ends in order and nested and masked and beside waits with 3 GPUs at a quantum of 7 ns") {
  require_handlers({"gpus=3", "quantum_ns=7"});
}

TEST_CASE(
    "handlers hear of all that ends in order and nested and masked and beside waits with 2 GPUs at a quantum of 9999 "
    "ns") {
  require_handlers({"quantum_ns=9999"});
}

TEST_CASE("a transfer that fails interrupts by a line of its own") {
  GpuPair pair(guest_with_a_failing_transfer, {}, guest_without_updates_at_first);
  pair.run();
  const Lines& told = pair.told();
  REQUIRE(told.size() > 11);
  REQUIRE(Lines(told.begin(), told.begin() + 11) == lines({{"memory of a", T3_OK},
                                                           {"memory of b", T3_OK},
                                                           {"handler of line 5", T3_OK},
                                                           {"handler of line 1", T3_OK},
                                                           {"dma_map", T3_OK},
                                                           {"gemm", T3_OK},
                                                           {"its end", T3_OK},
                                                           {"the DMA's end", T3_DISABLED},
                                                           {"the error was heard of", T3_OK},
                                                           {"so was the end", T3_OK},
                                                           {"no handlers", T3_OK}}));
  pair.require_right_result();
}

TEST_CASE("a failed kernel fails no call that has nothing to do with it") {
  GpuPair pair(guest_behind_a_failure);
  pair.run();
  Lines expected = lines({{"memory of a", T3_OK}, {"memory of b", T3_OK}, {"a bad kernel", T3_OK}});
  for (const char* call :
       {"malloc", "free", "fill", "remote_map", "remote_unmap", "dma_map", "dma_unmap", "unmap_all", "force_unmap_all",
        "wait_dma", "flush", "arbitration", "timeout", "rows", "its own end", "handler"})
    expected.push_back(lines({{call, T3_OK}})[0]);
  for (const std::string& line :
       lines({{"all kernels", T3_BAD_PACKET}, {"all kernels again", T3_OK}, {"logged by kernel_queue", T3_BAD_PACKET}}))
    expected.push_back(line);
  REQUIRE(pair.told() == expected);
  pair.require_right_result();
}

TEST_CASE("a doorbell or a signal ahead of the memory writes before it is refused") {
  GpuPair pair(guest_out_of_order);
  pair.run();
  const std::string refused =
      "a doorbell or another GPU's register is written before the memory writes in front of it are ordered";
  Lines expected = lines({{"memory", T3_OK}});
  for (const char* call : {"doorbell", "its low half", "its high half", "the last queue's", "signal"}) {
    expected.push_back(refused);
    expected.push_back(lines({{call, T3_BAD_ACCESS}})[0]);
  }
  // In order they reach the queue, which has no packet for them.
  for (const std::string& line : lines({{"doorbell", T3_BAD_VALUE},
                                        {"its low half", T3_OK},
                                        {"its high half", T3_BAD_VALUE},
                                        {"signal", T3_OK},
                                        {"logged by kernel_queue", T3_INVALID_ARGUMENT},
                                        {"logged by kernel_queue", T3_INVALID_ARGUMENT}}))
    expected.push_back(line);
  REQUIRE(pair.told() == expected);
  REQUIRE(pair.gpu(1).signals.registers.value[1].value() == 1);
  pair.require_right_result();
}

TEST_CASE("waits for kernels at a time each tell what failed of theirs") {
  GpuPair pair(guest_that_waits_in_a_wait);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"handler", T3_OK},
                                {"bad kernel", T3_OK},
                                {"good kernel", T3_OK},
                                {"their end", T3_BAD_PACKET},
                                {"their end in the handler", T3_BAD_PACKET},
                                {"nothing more", T3_OK},
                                {"good kernel", T3_OK},
                                {"its end", T3_OK},
                                {"no handler", T3_OK},
                                {"the bad one that its handler has queued", T3_BAD_PACKET},
                                {"nothing more", T3_OK},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET}}));
  pair.require_right_result();
}

}  // namespace t3vp::test::interrupts_test
