// t3vp keys, and what a description of a parameter alone decides: defaults that are written down, powers of two, keys
// that have moved.
#include <algorithm>
#include <catch2/catch.hpp>

#include "command_line/program.h"
#include "config/configuration.h"

namespace t3vp::test::test_keys {

namespace {

using nlohmann::json;

std::vector<std::string> keys_in(const std::string& pattern) {
  const Outcome outcome = pattern.empty() ? run_program({"keys"}) : run_program({"keys", pattern});
  REQUIRE(outcome.exit_code == 0);
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin < outcome.out.size(); begin = outcome.out.find('\n', begin) + 1)
    keys.push_back(outcome.out.substr(begin, outcome.out.find(' ', begin) - begin));
  return keys;
}

using Keys = std::vector<std::string>;

std::string refusal(const ValidFiles& files, const std::vector<std::string>& settings = {}) {
  std::vector<std::string> arguments{"run", files.run().string(), "--print-config"};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  const Outcome outcome = run_program(arguments);
  CHECK(outcome.exit_code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  return outcome.err;
}

}  // namespace

TEST_CASE("keys prints path, unit, range, default and meaning of a key") {
  CHECK(run_program({"keys", "dma.latency"}).out ==
        "system.dma.latency_ns  ns  0 to 1000000000  required  Time from a trigger until the read request is at the "
        "DRAM queues.\n");
  CHECK_THAT(run_program({"keys", "kernels.embedding.rows"}).out, Catch::Contains("  rows  1 to 64  4  "));
  CHECK_THAT(run_program({"keys", "tracker.sets"}).out, Catch::Contains("  1 to 65536, a power of two  "));
  CHECK_THAT(run_program({"keys", "tracker.strict"}).out, Catch::Contains("  -  true or false  "));
}

TEST_CASE("keys takes a part of a path or a glob") {
  const Keys all = keys_in("");
  CHECK(all.size() > 100);
  CHECK(std::is_permutation(all.begin(), all.end(), keys_in("*").begin()));
  CHECK(keys_in("dma") == Keys{"system.dma.commands", "system.dma.latency_ns", "system.dma.bytes_in_flight"});
  CHECK(keys_in("DMA.comm") == Keys{"system.dma.commands"});
  CHECK(keys_in("*.wire_*") == Keys{"system.nic.wire_GBps", "system.nic.wire_latency_ns"});
  CHECK(keys_in("system.memory.dram.timing.CCD?").size() == 2);
  CHECK(keys_in("system.[d]ma.commands") == Keys{"system.dma.commands"});
}

TEST_CASE("keys that do not exist are one line") {
  const Outcome outcome = run_program({"keys", "overlap"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err ==
        "t3vp keys: found overlap, expected a part of a key's path, such as dma, or a glob, such as *_GBps\n");
  CHECK(run_program({"keys", "dma*"}).exit_code == 2);  // a glob is about the whole path
}

TEST_CASE("every key of the small system is described") {
  const ValidFiles files;
  const json system = load_run(files.run()).resolved.at("system");
  const Keys all = keys_in("");
  for (const char* section : {"compute", "output_map", "cache", "tracker", "dma", "processor", "host"})
    for (const auto& key : system.at(section).items())
      CHECK(std::count(all.begin(), all.end(), std::string("system.") + section + "." + key.key()) == 1);
  for (const auto& timing : system.at("memory").at("dram").at("timing").items())
    CHECK(std::count(all.begin(), all.end(), "system.memory.dram.timing." + timing.key()) == 1);
}

TEST_CASE("the configuration that is printed has the defaults of what files leave out") {
  const ValidFiles files;
  const json system = load_run(files.run()).resolved.at("system");
  CHECK(system.at("compute").at("poll_ns") == 500);
  CHECK(system.at("kernels").at("embedding") == json{{"workgroups_per_cu", 8}, {"rows_in_flight", 4}});
  CHECK(system.at("kernels").at("ring").at("step_ns") == 0);
  CHECK(!system.at("kernels").at("ring").contains("workgroups"));  // no number says "as many as there is room for"
  CHECK(system.at("host").at("exchange_ns") == 50000);
  CHECK(system.at("memory").at("dram").at("write_drain_to") == 0.4);
  CHECK(!system.contains("nic"));
}

TEST_CASE("values that are left out are those of the printed configuration") {
  const ValidFiles files;
  const SystemConfiguration before = load_run(files.run()).system;
  files.write("run.json", load_run(files.run()).resolved);
  const SystemConfiguration after = load_run(files.run()).system;
  CHECK(after.compute.poll == before.compute.poll);
  CHECK(after.kernels.embedding.rows_in_flight == before.kernels.embedding.rows_in_flight);
  CHECK(after.kernels.ring.workgroups == before.kernels.ring.workgroups);
  CHECK(after.processor.exchange == before.processor.exchange);
  CHECK(after.processor.core.clock_period == before.processor.core.clock_period);
  CHECK(after.memory.valid_bits_bytes == before.memory.valid_bits_bytes);
  CHECK(after.memory.dram.write_drain_from == before.memory.dram.write_drain_from);
  CHECK(after.links.max_payload_bytes == before.links.max_payload_bytes);
  CHECK(after.links.arbitration_bytes == before.links.arbitration_bytes);
}

TEST_CASE("a key that has moved names its new place") {
  const ValidFiles files;
  files.change("system.json", "/compute/ring_block_bytes", 4096);
  CHECK_THAT(refusal(files), Catch::Contains("system.json: /compute/ring_block_bytes: found a key that has moved, "
                                             "expected kernels.ring.block_bytes"));
  const ValidFiles set;
  CHECK_THAT(refusal(set, {"system.compute.gather_rows_in_flight=2"}),
             Catch::Contains("/compute/gather_rows_in_flight") &&
                 Catch::Contains("expected kernels.embedding.rows_in_flight"));
  CHECK_THAT(refusal(set, {"system.compute.ring_size=2"}), Catch::Contains("expected one of clock_GHz, compute_units"));
}

TEST_CASE("a number that is no power of two or no multiple says so") {
  const ValidFiles files;
  CHECK_THAT(refusal(files, {"system.tracker.sets=12"}),
             Catch::Contains("/tracker/sets: found 12 (--set), expected a power of two"));
  CHECK_THAT(refusal(files, {"system.kernels.rows.block_bytes=100"}),
             Catch::Contains("/kernels/rows/block_bytes: found 100 (--set), expected a multiple of 32"));
  CHECK_THAT(refusal(files, {"memory.geometry.rows=1000"}),
             Catch::Contains("/geometry/rows: found 1000 (--set), expected a power of two"));
}

}  // namespace t3vp::test::test_keys
