#include "processor/system.h"

#include "program_bench.h"

namespace t3vp::test::system_test {

using namespace processor;

namespace {

constexpr std::uint64_t identity = 0x00, gpu = 0x04, gpus = 0x08, memory_bytes = 0x10, reset_register = 0x18;
constexpr std::uint64_t memory_size = std::uint64_t{32} << 30;
constexpr std::uint32_t reset_all = 0xA7000000;

struct Bench : ProgramBench {
  sc_core::sc_signal<bool> reset{"reset"};
  System system{"system", 3, 8, memory_size};

  Bench() {
    checks.join(processor.socket, system.socket);
    system.reset_pulse.bind(reset);
    system.reset_line.bind(reset);
  }

  void require_identity(CommandProcessor& p) {
    REQUIRE(read32(p, identity) == 0x54335650);
    REQUIRE(read32(p, gpu) == 3);
    REQUIRE(read32(p, gpus) == 8);
    REQUIRE(read64(p, memory_bytes) == memory_size);
  }
};

}  // namespace

TEST_CASE("a GPU knows who it is, after a reset too") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    bench.require_identity(p);
    p.write32(reset_register, reset_all);
    settle(p);
    bench.require_identity(p);
  });
}

TEST_CASE("the key pulses the reset line, every time") {
  Bench bench;
  unsigned edges = 0;
  sc_core::sc_spawn([&] {
    for (;;) {
      wait(bench.reset.posedge_event());
      ++edges;
    }
  });
  bench.run([&](CommandProcessor& p) {
    for (unsigned i = 1; i <= 3; ++i) {
      REQUIRE(p.write32(reset_register, reset_all) == Status::ok);
      settle(p);
      REQUIRE(edges == i);
      REQUIRE_FALSE(bench.reset.read());
    }
  });
}

TEST_CASE("anything but the key resets nothing") {
  Bench bench;
  unsigned edges = 0;
  sc_core::sc_spawn([&] {
    wait(bench.reset.posedge_event());
    ++edges;
  });
  bench.run([&](CommandProcessor& p) {
    REQUIRE(p.write32(reset_register, 0) == Status::ok);
    REQUIRE(p.write32(reset_register, reset_all + 1) == Status::bad_value);
    settle(p);
  });
  REQUIRE(edges == 0);
}

}  // namespace t3vp::test::system_test
