// Blocks of libraries in a GPU's spare windows: what `blocks` of a system file takes, and what is said of the others.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "command_line/program.h"

namespace t3vp::test::blocks_test {
using nlohmann::json;

namespace {

std::string library(const std::string& name) { return PLUGINS_DIR "/" + name + ".so"; }

using Blocks = std::vector<json>;

json alarm(const json& more = json::object()) {
  json block = {{"library", library("alarm")}, {"block", "alarm"}};
  block.update(more);
  return block;
}

/// A run of the example's program on small-4 with these blocks.
class BlockRun : public Folder {
 public:
  explicit BlockRun(const Blocks& blocks, const json& more = json::object()) {
    json system = json_of(config("systems/small-4.json"));
    system["memory"]["file"] = config("memory/" + system["memory"]["file"].get<std::string>().substr(10)).string();
    system["blocks"] = blocks;
    write("system.json", system);
    json run = {{"system", "system.json"}, {"gpus", 2}, {"data", "functional"}, {"program", library("alarm_user")}};
    run.update(more);
    write("run.json", run);
  }
  Outcome run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"run", *this / "run.json", "--out", *this / "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
};

void require_refused(const Blocks& blocks, const std::string& place, const std::string& message) {
  const BlockRun run(blocks);
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err,
             Catch::StartsWith((run / "system.json").string() + ": " + place + ": found ") && Catch::Contains(message));
}

}  // namespace

TEST_CASE("a program uses the registers and the interrupt of a library's block on every GPU") {
  const BlockRun run(Blocks{alarm()});
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("the block is in its window alone, and its settings reach it") {
  const Outcome elsewhere = BlockRun(Blocks{alarm({{"window", 3}})}).run();
  CHECK(elsewhere.exit_code == 1);  // nothing responds in plugin_0
  CHECK_THAT(elsewhere.out, Catch::Contains("nothing answers"));
  CHECK(BlockRun(Blocks{alarm({{"window", 3}}), alarm({{"window", 0}})}).run().exit_code == 0);
  CHECK(BlockRun(Blocks{alarm({{"settings", {{"step_ns", 20000}}}})}).run().exit_code == 1);  // the clock shows no wait
}

TEST_CASE("GPUs with settings of their own have the blocks too") {
  const BlockRun run(Blocks{alarm()});
  json system = json_of(run / "system.json");
  system["gpus"] = json::array({{{"gpu", 1}, {"set", {{"cache.latency_ns", 100}}}}});
  run.write("system.json", system);
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("scripts and traces of registers know a block's registers by their names") {
  const BlockRun run(Blocks{alarm(), alarm({{"window", 2}})});
  REQUIRE(run.run({"--register-trace", (run / "trace.txt").string()}).exit_code == 0);
  CHECK_THAT(text_of(run / "trace.txt"), Catch::Contains("alarm.due_ns") && Catch::Contains("alarm.interrupt"));
  const auto script = run.write("alarm.regs", std::string("gpu1.alarm.due_ns = 4096\n"
                                                          "expect gpu1.alarm.due_ns == 4096\n"
                                                          "refused gpu0.alarm.time_ns = 1\n"
                                                          "expect gpu0.error_log.block == 13\n"));
  const Outcome outcome = run_program({"registers", "script", script, "--system", run / "system.json", "--gpus", "2"});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("a block that cannot be had is one line") {
  const json odd = {{"library", library("odd_blocks")}, {"block", "idle"}};
  const auto named = [&odd](const char* name) {
    json block = odd;
    block["block"] = name;
    return Blocks{block};
  };
  require_refused(Blocks{{{"library", "no.such.so"}, {"block", "alarm"}}}, "/blocks/0/library",
                  "\"no.such.so\", no such file or directory, expected the path of a library of blocks");
  require_refused(Blocks{{{"library", TABLELESS}, {"block", "alarm"}}}, "/blocks/0/library",
                  "it has no table t3vp_blocks, expected a library of blocks (node/plugin_block.h)");
  require_refused(Blocks{{{"library", library("other_blocks")}, {"block", "idle"}}}, "/blocks/0/library",
                  "a plug-in of version 2, expected version 1: build it with this platform's package");
  require_refused(
      named("clock"), "/blocks/0/block",
      "\"clock\", which the library does not have, expected one of idle, throwing, throwing_number, nothing, "
      "called_dma");
  require_refused(Blocks{alarm(), alarm({{"window", 0}})}, "/blocks/1/window",
                  "window 0, which /blocks/0 has, expected each window once");
  require_refused(Blocks{alarm({{"settings", {{"step_ns", 0}}}})}, "/blocks/0/block",
                  "\"alarm\", which has thrown: step_ns is 0, expected 1 or more, expected settings");
  require_refused(named("throwing"), "/blocks/0/block", "which has thrown: no block from {}, expected settings");
  require_refused(named("throwing_number"), "/blocks/0/block", "which has thrown: something that is no exception");
  require_refused(named("nothing"), "/blocks/0/block", "no error, and has made nothing");
  require_refused(named("called_dma"), "/blocks/0/block",
                  "a block whose registers are called dma, as those of the GPU");
}

TEST_CASE("the printed configuration names the block's library wherever it is, and the hash its content") {
  const BlockRun run(Blocks{alarm({{"library", "copy.so"}})}), other(Blocks{alarm()});
  std::filesystem::copy_file(library("alarm"), run / "copy.so");
  const Outcome printed = run.run({"--print-config"});
  REQUIRE(printed.exit_code == 0);
  const Folder elsewhere;
  const auto file = elsewhere.write("run.json", printed.out);
  REQUIRE(run_program({"run", file, "--out", elsewhere / "out"}).exit_code == 0);
  REQUIRE(other.run().exit_code == 0);
  CHECK(json_of(elsewhere / "out/report.json").at("config_hash") ==
        json_of(other / "out/report.json").at("config_hash"));
}

}  // namespace t3vp::test::blocks_test
