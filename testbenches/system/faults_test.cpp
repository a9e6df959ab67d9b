// Injected faults: every run with one fails, and says where it struck and where the result is wrong.
#include <catch2/catch.hpp>

#include "system/platform_run.h"

namespace t3vp::test::faults_test {

using Catch::Contains;
using nlohmann::ordered_json;

namespace {

constexpr const char* all_methods[] = {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"};
constexpr const char* all_elements[] = {"fp16", "bf16", "fp32"};

struct Case {
  std::uint32_t gpus = 3;
  const char* method = "t3-mca";
  const char* element = "fp16";
  std::uint32_t m = 96, n = 64, k = 33;
};

/// Rings from 2 to 64 GPUs, with methods and element types in alternation.
std::vector<Case> rings() {
  std::vector<Case> cases;
  std::size_t i = 0;
  for (const std::uint32_t gpus : {2u, 3u, 5u, 8u, 16u, 24u, 32u, 64u}) {
    cases.push_back({gpus, all_methods[i % 5], all_elements[i % 3], 128, 128, 33});
    ++i;
  }
  return cases;
}

/// All methods in all element types.
std::vector<Case> kinds() {
  std::vector<Case> cases;
  for (const char* method : all_methods)
    for (const char* element : all_elements) cases.push_back({3, method, element});
  return cases;
}

std::vector<Case> rings_and_kinds() {
  std::vector<Case> cases = rings();
  for (const Case& c : kinds()) cases.push_back(c);
  return cases;
}

bool sends_updates(const Case& c) {
  return std::string(c.method) != "sequential" && std::string(c.method) != "ideal-overlap";
}

Settings settings_of(const Case& c) {
  return gemm(c.m, c.n, c.k) + Settings{on_small_system(),
                                        "system.compute.tile_rows=16",
                                        "system.compute.tile_columns=16",
                                        "system.compute.wavefronts=1",
                                        "system.tracker.chunks=128",
                                        "system.dma.commands=128",
                                        "gpus=" + std::to_string(c.gpus),
                                        std::string("method=") + c.method,
                                        std::string("workload.gemm.element=") + c.element};
}

Run run_with(const Case& c, const char* fault, const ordered_json& value, const Settings& more = {}) {
  CAPTURE(c.gpus, c.method, c.element);
  const Run run =
      Run::of_platform(settings_of(c) + Settings{std::string("inject.") + fault + "=" + value.dump()} + more);
  INFO(ordered_json(run.diagnosis()).dump(1));
  REQUIRE(run.exit_code() == 1);
  const ordered_json& faults = run.report().at("faults");
  REQUIRE(faults.size() == 1);
  REQUIRE(faults[0].at("name") == fault);
  REQUIRE_THAT(run.diagnosis().back(), Contains(std::string("fault ") + fault + " "));
  REQUIRE_THAT(run.diagnosis().back(), Contains(faults[0].at("text").get<std::string>()));
  REQUIRE_THAT(run.diagnosis().back(), !Contains("no check noticed it"));
  return run;
}

void require_struck(const Run& run, const std::string& text) {
  INFO(ordered_json(run.diagnosis()).dump(1));
  REQUIRE(run.report().at("faults")[0].at("struck") == true);
  REQUIRE_THAT(run.diagnosis().back(), Contains(text));
}

/// The result is wrong, and the diagnosis says where.
const ordered_json& require_mismatch(const Run& run) {
  INFO(ordered_json(run.diagnosis()).dump(1));
  const ordered_json& functional = run.report().at("functional");
  REQUIRE(functional.at("checked") == true);
  REQUIRE(functional.at("mismatches") > 0);
  const ordered_json& first = functional.at("first_mismatch");
  REQUIRE(first.at("found") != first.at("expected"));
  REQUIRE_THAT(run.diagnosis().front(),
               Contains("GPU " + first.at("gpu").dump() + ", out, row " + first.at("row").dump() + ", column " +
                        first.at("column").dump() + ": found "));
  return first;
}

void require_did_not_strike(const Run& run, const std::string& text) {
  REQUIRE(run.report().at("faults")[0].at("struck") == false);
  REQUIRE(run.diagnosis().size() == 1);
  REQUIRE_THAT(run.diagnosis()[0], Contains("did not strike") && Contains(text));
}

}  // namespace

TEST_CASE("a single update that is not added is noticed") {
  for (const Case& c : rings_and_kinds()) {
    const Run run = run_with(c, "lose_updates", {{"gpu", c.gpus - 1}, {"count", 1}});
    if (!sends_updates(c)) {
      require_did_not_strike(run, "no update arrived at GPU " + std::to_string(c.gpus - 1));
      continue;
    }
    require_struck(run, "did not add 1 elements of updates, the first in the update of");
    require_mismatch(run);
    // One element of the reduced sum, which the all-gather takes to every GPU.
    REQUIRE(run.report().at("functional").at("mismatches") == c.gpus);
  }
}

TEST_CASE("all local updates of a GPU that are not added are noticed however many GPUs there are") {
  for (const std::uint32_t gpus : {2u, 4u, 16u, 24u, 32u, 64u})
    for (const char* from : {"local", "peers"}) {
      const Case c{gpus, "t3", "bf16", 128, 128, 40};
      const Run run = run_with(c, "lose_updates", {{"gpu", 1}, {"count", 1u << 20}, {"from", from}});
      require_struck(run, std::string(from) == "local" ? "of its own blocks" : "of a peer");
      require_mismatch(run);
      // No partial sum is 0 in any element: local updates are all but a chunk of the output.
      const std::uint64_t lost = std::uint64_t{128} * 128 * (gpus - 1) / gpus;
      if (gpus != 24 && std::string(from) == "local")
        REQUIRE(run.report().at("functional").at("mismatches") == gpus * lost);
    }
}

TEST_CASE("a flipped exponent of a load or a store is noticed") {
  for (const Case& c : rings_and_kinds()) {
    const std::uint32_t bit = std::string(c.element) == "fp32" ? 30 : 14;
    const Run run = run_with(c, "flip_bit", {{"gpu", 1}, {"access", 0}, {"bit", bit}});
    require_struck(run, "GPU 1's memory flipped bit " + std::to_string(bit) + " in access 0, ");
    require_mismatch(run);
  }
}

TEST_CASE("a flipped bit of any access is noticed or told") {
  for (const char* method : all_methods)
    for (const std::uint32_t access : {1u, 3u, 6u}) {
      const Case c{2, method, "fp16", 128, 128, 64};
      const Run run =
          Run::of_platform(settings_of(c) + Settings{"inject.flip_bit=" +
                                                     ordered_json{{"gpu", 0}, {"access", access}, {"bit", 14}}.dump()});
      INFO(ordered_json(run.diagnosis()).dump(1));
      REQUIRE(run.exit_code() == 1);
      require_struck(run, "in access " + std::to_string(access));
    }
}

TEST_CASE("an access that is not made cannot be flipped") {
  require_did_not_strike(run_with({}, "flip_bit", {{"gpu", 1}, {"access", 1u << 30}, {"bit", 0}}),
                         "accesses to tensor data");
}

TEST_CASE("the smallest change of an element is noticed on every GPU") {
  for (const char* operands : {"exact", "random"})
    for (const Case& c : rings_and_kinds()) {
      const std::uint32_t gpu = c.gpus / 2, index = c.m * c.n - 3;
      const Run run =
          run_with(c, "wrong_element", {{"gpu", gpu}, {"index", index}}, {std::string("operands=") + operands});
      require_struck(run, "element " + std::to_string(index) + " of GPU " + std::to_string(gpu) + "'s out");
      const ordered_json& first = require_mismatch(run);
      REQUIRE(first.at("gpu") == gpu);
      REQUIRE(first.at("row") == c.m - 1);
      REQUIRE(first.at("column") == c.n - 3);
      REQUIRE(run.report().at("functional").at("mismatches") == 1);
    }
}

TEST_CASE("sums that are rounded wrongly are noticed with random operands") {
  for (const Case& c : rings_and_kinds()) {
    const Run run = run_with(c, "wrong_rounding", {{"gpu", 1}}, {"operands=random"});
    require_struck(run, "GPU 1 rounded sums toward zero");
    require_mismatch(run);
  }
}

TEST_CASE("a packet that is lost ends in a diagnosis that names it and what is missing") {
  for (const Case& c : rings_and_kinds())
    for (const std::uint32_t packet : {0u, 3u}) {
      const Run run = run_with(c, "drop_packet", {{"link", 0}, {"packet", packet}});
      const std::string previous = std::to_string(c.gpus - 1);
      require_struck(run, "link 0 from GPU 0 to GPU " + previous + " lost its packet " + std::to_string(packet));
      REQUIRE(run.diagnosis().size() > 1);
      if (run.report().at("functional").at("checked") == true)
        require_mismatch(run);
      else  // a ring kernel's lost signal is missed by the next one's receiver
        REQUIRE_THAT(run.diagnosis()[0], Contains("firmware waits for") || Contains("ring kernel"));
    }
}

TEST_CASE("a lost update is short in the Tracker") {
  // The start barrier's packets come first; the fourth is one of the GEMM's.
  const Run run = run_with({4, "t3-mca", "fp16", 128, 128, 33}, "drop_packet", {{"link", 0}, {"packet", 20}});
  require_struck(run, "lost its packet 20, the update of");
  INFO(ordered_json(run.diagnosis()).dump(1));
  REQUIRE_THAT(ordered_json(run.diagnosis()).dump(), Contains("Tracker: workgroups"));
}

TEST_CASE("a link that carries fewer packets loses none") {
  require_did_not_strike(run_with({}, "drop_packet", {{"link", 1}, {"packet", 1000000}}), "packets, numbered from 0");
}

TEST_CASE("packets are lost without data too") {
  for (const char* simulate : {"all", "mirror"}) {
    const Run run = run_with({4, "t3-mca", "fp16", 128, 128, 33}, "drop_packet", {{"link", 0}, {"packet", 20}},
                             {"data=timing-only", std::string("simulate=") + simulate});
    require_struck(run, "link 0 from GPU 0 to GPU 3 lost its packet 20");
  }
}

TEST_CASE("a flipped bit of a layer is noticed") {
  const ordered_json workload = {
      {"layer", "prompt"}, {"tp", 2}, {"transformer", {{"hidden", 64}, {"heads", 4}, {"sequence", 33}, {"batch", 2}}}};
  const Run run = Run::of_platform({on_small_system(), "gpus=null", "method=sequential", "workload=" + workload.dump(),
                                    "inject.flip_bit={\"gpu\":0,\"access\":0,\"bit\":15}"});
  INFO(ordered_json(run.diagnosis()).dump(1));
  REQUIRE(run.exit_code() == 1);
  REQUIRE(run.report().at("functional").at("mismatches") > 0);
  REQUIRE_THAT(run.diagnosis().front(), Contains("layer_norm_1"));
}

TEST_CASE("a bit that flips on the way from the cache to memory is noticed") {
  // The last operation's result is bias and fc_2_residual's; nothing reads it, so that only memory shows the fault.
  const ordered_json workload = {{"layer", "prompt"},
                                 {"attention", "fused"},
                                 {"tp", 4},
                                 {"transformer", {{"hidden", 256}, {"heads", 8}, {"sequence", 64}, {"batch", 1}}}};
  for (const int bit : {0, 14}) {
    const Run run =
        Run::of_platform({on_small_system(), "gpus=null", "method=sequential", "workload=" + workload.dump(),
                          "inject.flip_bit={\"gpu\":0,\"access\":1360,\"bit\":" + std::to_string(bit) + "}"});
    INFO(ordered_json(run.diagnosis()).dump(1));
    REQUIRE(run.exit_code() == 1);
    REQUIRE_THAT(run.diagnosis().back(), Contains("the store of") && !Contains("no check noticed it"));
    REQUIRE(run.report().at("functional").at("mismatches") == 1);
    REQUIRE_THAT(run.diagnosis().front(), Contains("in memory, not as its last operation left it"));
  }
}

TEST_CASE("an error that is no number is not the smallest") {
  const auto flipped_in = [](int access) {
    const nlohmann::json fault = {{"gpu", 0}, {"access", access}, {"bit", 14}};
    return Run::of_platform(gemm(192, 128, 32) + Settings{on_small_system(), "gpus=3", "method=ideal-rs-nmc",
                                                          "operands=random", "workload.gemm.element=bf16",
                                                          "inject.flip_bit=" + fault.dump()});
  };
  const auto is_null = [](const Run& run) { return run.report().at("functional").at("max_abs_error").is_null(); };
  // The bit makes a number from 1 to 2 infinite or none at all. The first element of few stores is such a number.
  int access = 1;
  while (access < 100 && !is_null(flipped_in(access))) ++access;
  const Run run = flipped_in(access);
  INFO(ordered_json(run.diagnosis()).dump(1));
  REQUIRE(run.exit_code() == 1);
  REQUIRE(run.report().at("functional").at("mismatches") > 0);
  REQUIRE(is_null(run));
  REQUIRE_THAT(run.diagnosis().front(), Contains("wrong, by up to not a number"));
}

TEST_CASE("a run without faults reports none") {
  const Run run = Run::of_platform(settings_of({}));
  REQUIRE(run.exit_code() == 0);
  REQUIRE(run.report().at("faults").empty());
  REQUIRE_FALSE(run.report().at("functional").contains("first_mismatch"));
}

}  // namespace t3vp::test::faults_test
