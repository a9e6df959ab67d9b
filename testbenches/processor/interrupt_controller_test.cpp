#include "processor/interrupt_controller.h"

#include "program_bench.h"

namespace t3vp::test::interrupt_controller_test {

using namespace processor;

namespace {

constexpr std::uint64_t pending = 0x00, enable = 0x04;

struct Bench : ProgramBench {
  sc_core::sc_vector<sc_core::sc_signal<bool>> lines{"line_signals", InterruptController::line_count};
  sc_core::sc_signal<bool> reset{"reset"}, output{"output"};
  InterruptController controller{"controller"};

  Bench() {
    checks.join(processor.socket, controller.socket);
    for (std::size_t i = 0; i < lines.size(); ++i) controller.lines[i].bind(lines[i]);
    controller.interrupt.bind(output);
    controller.reset_line.bind(reset);
  }
};

}  // namespace

TEST_CASE("the output is raised exactly while an enabled line is raised") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    for (std::uint32_t enabled = 0; enabled < 16; ++enabled) {
      REQUIRE(p.write32(enable, enabled) == Status::ok);
      for (std::uint32_t raised = 0; raised < 16; ++raised) {
        for (std::size_t i = 0; i < bench.lines.size(); ++i) bench.lines[i].write((raised >> i & 1) != 0);
        settle(p);
        REQUIRE(read32(p, pending) == raised);
        REQUIRE(bench.output.read() == ((enabled & raised) != 0));
      }
    }
  });
}

TEST_CASE("enabling a line that is already raised raises the output") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    bench.lines[address_map::index_of(address_map::Line::dma)].write(true);
    settle(p);
    REQUIRE_FALSE(bench.output.read());
    p.write32(enable, address_map::bit_of(address_map::Line::dma));
    settle(p);
    REQUIRE(bench.output.read());
  });
}

TEST_CASE("reset disables every line") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    p.write32(enable, 0xF);
    bench.lines[address_map::index_of(address_map::Line::signals)].write(true);
    settle(p);
    REQUIRE(bench.output.read());
    bench.reset.write(true);
    settle(p);
    REQUIRE(read32(p, enable) == 0);
    REQUIRE_FALSE(bench.output.read());
  });
}

}  // namespace t3vp::test::interrupt_controller_test
