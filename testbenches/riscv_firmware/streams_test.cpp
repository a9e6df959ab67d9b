// Streams and the progress of chunks do on a core what they do natively (testbenches/software/streams.c).
#include <catch2/catch.hpp>

#include "riscv_firmware/image.h"

namespace t3vp::test::streams_test {
namespace {

void require_code(const std::string& program, int gpus, int code) {
  if (!has_image()) return;
  const CoreRun run({{"program", FIRMWARE_DIR "/riscv_guests.elf:" + program},
                     {"kernels", nlohmann::json::array({SOFTWARE_DIR "/guests.so"})},
                     {"data", "functional"},
                     {"gpus", gpus}});
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.exit_code == code);
}

}  // namespace

TEST_CASE("a core's queues wait for events and copy beside other kernels") { require_code("overlapping", 2, 0); }

TEST_CASE("a core's chunks are consumed one by one") { require_code("consuming", 1, 0); }

TEST_CASE("streams that a core misuses have one code each, and the error log has one of them") {
  require_code("streams_misused", 2, 1);
}

}  // namespace t3vp::test::streams_test
