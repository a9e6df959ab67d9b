// `check`: checkers between all sockets of a run.
#include <catch2/catch.hpp>

#include "node/node.h"
#include "protocol/address_map.h"
#include "system/platform_run.h"

namespace t3vp::test::protocol_check_test {

namespace {

void require_clean_and_equal(const Settings& settings) {
  const Run without = Run::of_platform(settings), with = Run::of_platform(settings + Settings{"check=protocol"});
  CAPTURE(settings);
  for (const std::string& line : with.diagnosis()) UNSCOPED_INFO(line);
  REQUIRE(with.exit_code() == 0);
  REQUIRE(with.text_without({"host", "config_hash"}) == without.text_without({"host", "config_hash"}));
  REQUIRE(with.report()["config_hash"] != without.report()["config_hash"]);
}

}  // namespace

TEST_CASE("the protocol checkers find nothing in a run of any method and leave its report as it is") {
  for (const char* method : {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"})
    for (const char* data : {"functional", "timing-only"})
      require_clean_and_equal(gemm(200, 264, 96) + Settings{on_small_system(), "gpus=3",
                                                            std::string("method=") + method,
                                                            std::string("data=") + data});
}

TEST_CASE("the protocol checkers find nothing in a mirror and in a layer") {
  require_clean_and_equal(gemm(512, 512, 128) + Settings{on_small_system(), "gpus=4", "method=t3-mca",
                                                         "data=timing-only", "simulate=mirror"});
  require_clean_and_equal({on_small_system(), "gpus=null", "method=sequential",
                           R"(workload={"layer": "training", "tp": 2,
                    "transformer": {"hidden": 64, "heads": 4, "sequence": 33, "batch": 2, "element": "bf16"}})"});
}

namespace {

/// Reads a register with a payload that looks answered already. The register does not mind.
void break_a_rule() {
  sc_core::sc_spawn([] {
    sc_core::wait(1, sc_core::SC_US);
    auto* processor = dynamic_cast<t3vp::processor::CommandProcessor*>(sc_core::sc_find_object("node.gpu1.processor"));
    std::uint32_t value = 0;
    tlm::tlm_generic_payload read;
    read.set_command(tlm::TLM_READ_COMMAND);
    read.set_address(t3vp::address_map::on_gpu(1, t3vp::address_map::block_base(t3vp::address_map::Block::system)));
    read.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    read.set_data_length(sizeof value);
    read.set_streaming_width(sizeof value);
    read.set_response_status(tlm::TLM_OK_RESPONSE);
    sc_core::sc_time delay;
    processor->socket->b_transport(read, delay);
  });
}

}  // namespace

TEST_CASE("a broken rule that nobody minds fails a run with check protocol and no other run") {
  const Settings settings = gemm(200, 264, 96) + Settings{on_small_system(), "gpus=2", "method=t3"};
  REQUIRE(Run::of_platform(configuration_of(settings), break_a_rule).exit_code() == 0);
  const Run run = Run::of_platform(configuration_of(settings + Settings{"check=protocol"}), break_a_rule);
  REQUIRE(run.exit_code() == 1);
  REQUIRE(run.diagnosis().size() == 1);
  CHECK_THAT(run.diagnosis()[0],
             Catch::Contains("2 violations of the protocol, the first: node.gpu1.processor.socket -> node.gpu1.bus.") &&
                 Catch::Contains("request whose response status is not INCOMPLETE"));
}

TEST_CASE("check memory is the default and all is what there is and the scoreboard is not there yet") {
  const std::string base = configuration_of({}).config_hash;
  REQUIRE(configuration_of({"check=memory"}).config_hash == base);
  REQUIRE_FALSE(configuration_of({}).checks.protocol);
  for (const char* setting : {"check=protocol", "check=all"}) {
    REQUIRE(configuration_of({setting}).checks.protocol);
    REQUIRE(configuration_of({setting}).config_hash != base);
  }
  REQUIRE(configuration_of({"check=none"}).config_hash != base);
  REQUIRE_THROWS_WITH(configuration_of({"check=scoreboard"}), Catch::Contains("/check: found"));
}

}  // namespace t3vp::test::protocol_check_test
