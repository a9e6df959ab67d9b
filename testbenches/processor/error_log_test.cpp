#include "processor/error_log.h"

#include "program_bench.h"
#include "protocol/address_map.h"

namespace t3vp::test::error_log_test {

using namespace processor;

namespace {

constexpr std::uint64_t count = 0x00, lost = 0x04, code = 0x08, block = 0x0C, address = 0x10, time_ns = 0x18,
                        pop = 0x20;
constexpr std::uint32_t capacity = 3;

struct Bench : ProgramBench {
  sc_core::sc_signal<bool> reset{"reset"}, output{"output"};
  ErrorLog log{"log", capacity};

  Bench() {
    checks.join(processor.socket, log.socket);
    log.interrupt.bind(output);
    log.reset_line.bind(reset);
  }

  void report(const char* who, Status what, std::uint64_t where) {
    log.reports->report(who, {static_cast<std::uint32_t>(what), where, "text"});
  }
};

std::uint32_t number(address_map::Block b) { return static_cast<std::uint32_t>(b); }

}  // namespace

TEST_CASE("entries leave the log in the order in which they came, with block, address and time") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    p.wait_ns(70);
    bench.report("tracker", Status::overlap, 0x1230);
    p.wait_ns(30);
    bench.report("dma", Status::no_peer, std::uint64_t{7} << 44);
    REQUIRE(read32(p, count) == 2);
    REQUIRE(read32(p, code) == static_cast<std::uint32_t>(Status::overlap));
    REQUIRE(read32(p, block) == number(address_map::Block::tracker));
    REQUIRE(read64(p, address) == 0x1230);
    REQUIRE(read64(p, time_ns) == 70);

    p.write32(pop, 1);
    REQUIRE(read32(p, count) == 1);
    REQUIRE(read32(p, code) == static_cast<std::uint32_t>(Status::no_peer));
    REQUIRE(read32(p, block) == number(address_map::Block::dma));
    REQUIRE(read64(p, address) == std::uint64_t{7} << 44);
    REQUIRE(read64(p, time_ns) == 100);

    p.write32(pop, 1);
    p.write32(pop, 1);
    REQUIRE(read32(p, count) == 0);
    REQUIRE(read32(p, code) == static_cast<std::uint32_t>(Status::ok));
    REQUIRE(read64(p, address) == 0);
  });
}

TEST_CASE("a full log counts what it loses, but people get every text") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    for (std::uint32_t i = 0; i < capacity + 2; ++i) bench.report("dma", Status::overlap, i);
    REQUIRE(read32(p, count) == capacity);
    REQUIRE(read32(p, lost) == 2);
    for (std::uint32_t i = 0; i < capacity; ++i) {
      REQUIRE(read64(p, address) == i);
      p.write32(pop, 1);
    }
    REQUIRE(read32(p, count) == 0);
  });
  REQUIRE(bench.log.reported() == capacity + 2);
  REQUIRE(bench.log.records().size() == capacity + 2);
  REQUIRE(bench.log.records().back().record.address == capacity + 1);
  REQUIRE(bench.log.records().back().record.text == "text");
  REQUIRE(bench.log.records().back().block == "dma");
}

TEST_CASE("a guest that errs for ever does not use up the host's memory") {
  Bench bench;
  bench.run([&](CommandProcessor&) {
    for (std::size_t i = 0; i < 2 * ErrorLog::kept_records; ++i) bench.report("dma", Status::overlap, i);
  });
  REQUIRE(bench.log.reported() == 2 * ErrorLog::kept_records);
  REQUIRE(bench.log.records().size() == ErrorLog::kept_records);
}

TEST_CASE("the line is raised while the log has an entry") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    settle(p);
    REQUIRE_FALSE(bench.output.read());
    bench.report("dma", Status::overlap, 1);
    bench.report("dma", Status::overlap, 2);
    settle(p);
    REQUIRE(bench.output.read());
    p.write32(pop, 1);
    settle(p);
    REQUIRE(bench.output.read());
    p.write32(pop, 1);
    settle(p);
    REQUIRE_FALSE(bench.output.read());
  });
}

TEST_CASE("a reporter without registers has no block number") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    bench.report("fabric", Status::no_peer, 1);
    REQUIRE(read32(p, block) == ErrorLog::no_block);
  });
}

TEST_CASE("a wrong access to the log is logged as well") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    REQUIRE(p.write32(count, 1) == Status::access_denied);
    REQUIRE(read32(p, count) == 1);
    REQUIRE(read32(p, code) == static_cast<std::uint32_t>(Status::access_denied));
    REQUIRE(read32(p, block) == number(address_map::Block::error_log));
  });
}

TEST_CASE("reset empties the log and leaves the texts to people") {
  Bench bench;
  bench.run([&](CommandProcessor& p) {
    bench.report("dma", Status::overlap, 1);
    bench.reset.write(true);
    settle(p);
    REQUIRE(read32(p, count) == 0);
    REQUIRE_FALSE(bench.output.read());
  });
  REQUIRE(bench.log.records().size() == 1);
}

}  // namespace t3vp::test::error_log_test
