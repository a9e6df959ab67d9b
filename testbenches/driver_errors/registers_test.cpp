// Accesses that a block does not take are answered with an error and change nothing.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::registers_test {

TEST_CASE("registers refuse wrong widths, directions and values") {
  GpuPair pair(guest_register_misuse);
  pair.run();
  REQUIRE(pair.told() == lines({{"64-bit read of 32 bits", T3_BAD_ACCESS},
                                {"high half of 64 bits alone", T3_BAD_ACCESS},
                                {"read between two registers", T3_BAD_ACCESS},
                                {"write of a read-only register", T3_ACCESS_DENIED},
                                {"read of a write-only register", T3_ACCESS_DENIED},
                                {"value that is no policy", T3_BAD_VALUE},
                                {"reserved bits", T3_BAD_VALUE},
                                {"reset with another key", T3_BAD_VALUE},
                                {"offset without a register", T3_BAD_ADDRESS},
                                {"block that is not there", T3_BAD_ADDRESS},
                                {"memory that is not there", T3_BAD_ADDRESS},
                                {"neither memory nor register", T3_BAD_ADDRESS},
                                {"read of the GPU's number", T3_OK},
                                {"logged by kernel_queue", T3_BAD_ACCESS},
                                {"logged by output_map", T3_BAD_ACCESS},
                                {"logged by system", T3_BAD_ACCESS},
                                {"logged by system", T3_ACCESS_DENIED},
                                {"logged by system", T3_ACCESS_DENIED},
                                {"logged by memory_controller", T3_BAD_VALUE},
                                {"logged by near_memory", T3_BAD_VALUE},
                                {"logged by system", T3_BAD_VALUE},
                                {"logged by tracker", T3_BAD_ADDRESS},
                                {"logged by no block", T3_BAD_ADDRESS},
                                {"logged by memory_controller", T3_BAD_ADDRESS},
                                {"logged by no block", T3_BAD_ADDRESS}}));
  std::string policies;
  for (const auto& value : registers::descriptions::memory_controller_arbitration_policy)
    policies += (policies.empty() ? "" : ", ") + std::string(value.name) + " (" + std::to_string(value.value) + ")";
  REQUIRE(pair.logged(0)[5] == "memory_controller.arbitration.policy: 200, expected one of " + policies);
  REQUIRE(pair.gpu(0).error_log.records()[5].record.address == 0xF0000070000);
  pair.require_right_result();
}

TEST_CASE("of a peer only its signals can be written, and what it refuses is in both logs") {
  GpuPair pair(guest_misuse_of_peers, {}, guest_late);
  pair.run();
  const Lines& told = pair.told();
  REQUIRE(told.size() == 9);
  const std::string refused = lines({{"logged by links", T3_BAD_ADDRESS}})[0];
  REQUIRE(Lines(told.end() - 2, told.end()) == Lines(2, refused));
  REQUIRE(Lines(told.begin(), told.begin() + 5) == lines({{"read of a peer's register", T3_ACCESS_DENIED},
                                                          {"write to GPU 9", T3_BAD_ADDRESS},
                                                          {"write of a peer's kernel queue", T3_OK},  // posted
                                                          {"half of a signal", T3_OK},
                                                          {"a signal", T3_OK}}));
  REQUIRE(pair.logged(1).size() == 2);
  REQUIRE(pair.gpu(1).signals.registers.value[1].value() == 1);
  pair.require_right_result();
}

TEST_CASE("the ring of packets stays where it is while a kernel runs") {
  GpuPair pair(guest_locked_registers);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"gemm", T3_OK},
                                {"another ring", T3_BAD_VALUE},
                                {"a second driver", T3_BUSY},
                                {"the gemm's end", T3_OK},
                                {"the ring again", T3_OK},
                                {"logged by kernel_queue", T3_BUSY}}));
  REQUIRE(
      pair.logged(0)[0] ==
      "kernel_queue.base[0]: 0x10000, packets have been announced: the ring of 16 entries at 0x0 stays until a reset");
  pair.require_right_result();
}

}  // namespace t3vp::test::registers_test
