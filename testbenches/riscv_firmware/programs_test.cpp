// The programs of testbenches/software, compiled for RISC-V, do on a core what they do natively.
#include <catch2/catch.hpp>

#include "riscv_firmware/image.h"

namespace t3vp::test::programs_test {
using nlohmann::json;

namespace {

/// A run of guests.elf; kernels are those of the native library.
CoreRun guest(const std::string& program, json more = json::object()) {
  more["program"] = FIRMWARE_DIR "/riscv_guests.elf:" + program;
  if (!more.contains("gpus")) more["gpus"] = 1;
  return CoreRun(more);
}

json kernels() { return json::array({SOFTWARE_DIR "/guests.so"}); }

constexpr int elements = 4 * 40;

}  // namespace

TEST_CASE("phases of a core have the names and times that its program gives them") {
  if (!has_image()) return;
  const CoreRun run = guest("phases", {{"gpus", 2}});
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.exit_code == 0);
  const auto times = run.report().at("time_ns");
  CHECK(times.at("gemm") >= 100);
  CHECK(times.at("gemm") <= 300);
  CHECK(times.at("a_step") >= 3000);
  CHECK(times.at("a_step") <= 3600);
  CHECK(times.at("total") >= 4600);
}

TEST_CASE("what a core's program tells wrongly of phases and interrupts fails the run as natively") {
  if (!has_image()) return;
  const auto [program, gpus, line] = GENERATE(table<const char*, int, const char*>(
      {{"mislabelled", 1, "GPU 0 firmware begins a phase without a plain name: not/plain"},
       {"mislabelled", 1, "GPU 0 firmware ends a phase that has not begun: never_begun"},
       {"unended", 1, "GPU 0 firmware begins a phase that it has not ended: run"},
       {"unended", 1, "GPU 0 firmware has not ended the phase walk"},
       {"unbalanced", 2, "GPU 0 firmware allows interrupts: unlock as often as lock expected, found 1 unlock too many"},
       {"unbalanced", 2, "GPU 1 firmware ends: unlock as often as lock expected, found 1 lock too many"},
       {"failing", 1, "GPU 0 firmware ended with overlap"}}));
  const Outcome outcome = guest(program, {{"gpus", gpus}}).run();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains(line));
}

TEST_CASE("each core has variables of its own") {
  if (has_image()) CHECK(guest("alone", {{"gpus", 3}}).run().exit_code == 0);
}

TEST_CASE("a core's program is given its arguments by their types") {
  if (!has_image()) return;
  json arguments = {{"count", 18446744073709551615u}, {"share", 0.25}, {"on", true}, {"text", "a b"}};
  CHECK(guest("asking", {{"arguments", arguments}}).run().exit_code == 0);
  arguments["extra"] = 7;
  CHECK(guest("asking", {{"arguments", arguments}}).run().exit_code == 0);
  arguments["on"] = 1;
  const Outcome outcome = guest("asking", {{"arguments", arguments}}).run();
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Catch::Contains("/arguments/on: found 1, expected true or false"));
  arguments.erase("on");
  CHECK_THAT(guest("asking", {{"arguments", arguments}}).run().err, Catch::Contains("/arguments/on: found nothing"));
}

TEST_CASE("a core's buffers are filled with constants and arrays and what its functions write") {
  if (!has_image()) return;
  const auto published = [](double off, double tolerance, const char* data) {
    return guest("published", {{"gpus", 2}, {"data", data}, {"arguments", {{"off", off}, {"tolerance", tolerance}}}});
  };
  const CoreRun right = published(0, 0, "functional");
  CHECK(right.run().exit_code == 0);
  CHECK(right.report().at("functional").at("elements") == 2 * 3 * elements);
  const CoreRun wrong = published(-1, 0.5, "functional");
  CHECK(wrong.run().exit_code == 1);
  CHECK(json(wrong.report().at("functional").at("first_mismatch")) ==
        json{{"gpu", 0}, {"tensor", "counted"}, {"row", 0}, {"column", 0}, {"found", 3}, {"expected", 2}});
  CHECK(published(1, 1, "functional").run().exit_code == 0);
  CHECK(published(1, 0, "timing-only").run().exit_code == 0);
}

TEST_CASE("a buffer that a core's program cannot publish fails the run with the line of the native one") {
  if (!has_image()) return;
  const auto [what, line] = GENERATE(
      table<const char*, const char*>({{"name", "publishes a buffer without a plain name: a/b"},
                                       {"contents", "publishes a buffer whose contents are nowhere: x"},
                                       {"tolerance", "publishes x: found a tolerance of -1, expected 0 or more"},
                                       {"nothing", "publishes no buffer"},
                                       {"twice", "publishes x: found a second buffer of that name"}}));
  const Outcome outcome = guest("misfit", {{"arguments", {{"what", what}}}}).run();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains(std::string("GPU 0 firmware ") + line));
}

TEST_CASE("a core's program runs the kernel of a native library") {
  if (!has_image()) return;
  const CoreRun run = guest("twice", {{"gpus", 2}, {"kernels", kernels()}});
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
  CHECK(run.report().at("functional").at("mismatches") == 0);
}

TEST_CASE("a core's program that leaves a kernel behind is told of it") {
  if (!has_image()) return;
  const Outcome outcome = guest("careless", {{"kernels", kernels()}}).run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("queue 0: kernel 1 of 1 is not finished"));
}

TEST_CASE("a core's program calls one of the platform's") {
  if (!has_image()) return;
  const CoreRun run = guest("wrapped", {{"gpus", 4}, {"workload", {{"gemm", {{"m", 256}, {"n", 256}, {"k", 64}}}}}});
  CHECK(run.run().exit_code == 0);
  CHECK(run.report().at("functional").at("mismatches") == 0);
}

}  // namespace t3vp::test::programs_test
