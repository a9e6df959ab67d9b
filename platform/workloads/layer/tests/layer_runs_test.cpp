// Transformer layers: every operation computes what its operands ask for, and moves the bytes that its shape says.
#include <algorithm>
#include <catch2/catch.hpp>

#include "system/platform_run.h"

namespace t3vp::test::layer_runs_test {

using nlohmann::ordered_json;

namespace {

struct Layer {
  const char* kind = "training";
  const char* attention = "unfused";
  unsigned tp = 2, hidden = 96, heads = 4, sequence = 40, batch = 3;
  const char* element = "fp16";
};

Settings settings_of(const Layer& layer) {
  const ordered_json workload = {{"layer", layer.kind},
                                 {"attention", layer.attention},
                                 {"tp", layer.tp},
                                 {"transformer",
                                  {{"hidden", layer.hidden},
                                   {"heads", layer.heads},
                                   {"sequence", layer.sequence},
                                   {"batch", layer.batch},
                                   {"element", layer.element}}}};
  return {on_small_system(), "gpus=null", "method=sequential", "workload=" + workload.dump()};
}

ordered_json operation(const Run& run, const std::string& name) {
  for (const ordered_json& o : run.report().at("operations"))
    if (o.at("name") == name) return o;
  throw std::runtime_error("no operation " + name);
}

/// Bytes of DRAM that an operation moved, in those of its operands.
double reads(const Run& run, const std::string& name, double operand_bytes) {
  return operation(run, name).at("read_bytes").get<double>() / operand_bytes;
}

}  // namespace

TEST_CASE("every operation of a layer computes what its operands ask for") {
  const Layer layers[] = {{},
                          {"training", "unfused", 2, 64, 4, 33, 2, "fp32"},
                          {"training", "unfused", 3, 96, 6, 17, 2, "bf16"},
                          {"prompt", "unfused"},
                          {"prompt", "fused"},
                          // Heads of 19 elements, padded; more sequences than heads, shared by the GPUs.
                          {"prompt", "fused", 2, 38, 2, 70, 3},
                          {"training", "unfused", 2, 38, 2, 70, 3}};
  for (const Layer& layer : layers) {
    const Run run = Run::of_platform(settings_of(layer));
    CAPTURE(layer.kind, layer.attention, layer.hidden, layer.element, run.diagnosis());
    REQUIRE(run.exit_code() == 0);
    const ordered_json& functional = run.report().at("functional");
    REQUIRE(functional.at("checked") == true);
    REQUIRE(functional.at("mismatches") == 0);
    // At least the layer's own output and all that leads there: five times tokens x hidden.
    REQUIRE(functional.at("elements").get<double>() >= 5.0 * layer.sequence * layer.batch * layer.hidden);
  }
}

TEST_CASE("a layer takes the same time and traffic with and without data, and at any quantum") {
  const auto figures = [](const Layer& layer, const Settings& more) {
    const Run run = Run::of_platform(settings_of(layer) + more);
    REQUIRE(run.exit_code() == 0);
    return run.report().at("operations").dump(1);
  };
  for (const Layer& layer : {Layer{}, Layer{"prompt", "fused"}}) {
    const std::string functional = figures(layer, {"data=functional"});
    REQUIRE(functional == figures(layer, {"data=timing-only"}));
    REQUIRE(functional == figures(layer, {"data=timing-only", "quantum_ns=1"}));
    REQUIRE(functional == figures(layer, {"data=timing-only", "quantum_ns=1000000"}));
  }
}

TEST_CASE("operations follow each other without overlap and make up the layer's time") {
  for (const char* attention : {"unfused", "fused"}) {
    const Run run = Run::of_platform(settings_of({"training", attention}) + Settings{"data=timing-only"});
    REQUIRE(run.exit_code() == 0);
    double operations = 0, parts = 0;
    for (const ordered_json& o : run.report().at("operations")) operations += o.at("time_ns").get<double>();
    for (const auto& part : run.report().at("parts_ns").items()) parts += part.value().get<double>();
    CHECK(operations == Approx(run.time("total")).epsilon(1e-9));
    CHECK(parts == Approx(run.time("total")).epsilon(1e-9));
    const auto& parts_ns = run.report().at("parts_ns");
    CHECK(parts_ns.at("optimizer") == operation(run, "optimizer").at("time_ns"));
  }
}

TEST_CASE("operands that no cache can hold are read once from DRAM") {
  // 4096 tokens of 256: 2 MiB; scores of 16 heads: 8 MiB; parameters 1.5 MiB each; a cache of 256 KiB.
  const Run run =
      Run::of_platform(settings_of({"training", "unfused", 2, 256, 8, 512, 8}) + Settings{"data=timing-only"});
  REQUIRE(run.exit_code() == 0);
  const double tokens = 2 << 20, scores = 32.0 * 512 * 512 * 2, parameters = 12.0 * 128 * 256 * 4;
  const double cached = 256 << 10;
  const auto moved_once = [&](const char* name, double inputs, double bytes) {
    INFO(name);
    CHECK(reads(run, name, bytes) <= inputs + 0.01);
    CHECK(reads(run, name, bytes) >= inputs - cached / bytes);
    CHECK(operation(run, name).at("write_bytes").get<double>() == Approx(bytes).margin(cached));
  };
  moved_once("layer_norm_1", 1, tokens);
  moved_once("output_residual", 2, tokens);
  moved_once("layer_norm_2_backward", 2, tokens);
  moved_once("mask", 1, scores);
  moved_once("softmax", 1, scores);
  moved_once("softmax_backward", 2, scores);
  CHECK(reads(run, "optimizer", parameters) == Approx(4).margin(cached / parameters));
  CHECK(operation(run, "optimizer").at("write_bytes").get<double>() / parameters ==
        Approx(3).margin(cached / parameters));
}

TEST_CASE("fused attention saves the scores' traffic and time") {
  const Layer unfused{"prompt", "unfused", 2, 256, 8, 512, 8}, fused{"prompt", "fused", 2, 256, 8, 512, 8};
  const auto attention = [](const Layer& layer, const char* key) {
    const Run run = Run::of_platform(settings_of(layer) + Settings{"data=timing-only"});
    double sum = 0;
    for (const ordered_json& o : run.report().at("operations"))
      if (o.at("part") == "attention") sum += o.at(key).get<double>();
    return sum;
  };
  const double qkv = 3.0 * 4096 * 128 * 2, scores = 32.0 * 512 * 512 * 2;
  // Scores, scale, mask and softmax are read once each, all but the last by a kernel that writes them again.
  CHECK(attention(unfused, "read_bytes") >= 4 * scores);
  // Each of the four tiles of 64 rows and more walks over the keys and values of its head.
  CHECK(attention(fused, "read_bytes") <= 10 * qkv);
  CHECK(attention(fused, "read_bytes") >= qkv - (256 << 10));
  CHECK(attention(fused, "time_ns") < 0.5 * attention(unfused, "time_ns"));
  // Two products of 512 x 512 x 32 for each of 4 heads of 8 inputs.
  const double products = 8 * 4 * 2 * 2.0 * 512 * 512 * 32 / (4 * 1024 * 0.75);
  CHECK(attention(fused, "time_ns") >= products);
  CHECK(attention(unfused, "time_ns") >= products + 7 * scores / (4 * 32));  // read four times, written three times
}

TEST_CASE("a part of a layer takes as long alone as in the whole") {
  const Settings layer = settings_of({"training", "fused", 2, 256, 8, 512, 8}) + Settings{"data=timing-only"};
  const Run whole = Run::of_platform(layer);
  for (const char* part : {"gemm", "attention", "element_wise", "optimizer"}) {
    const Run alone = Run::of_platform(layer + Settings{std::string("workload.parts=[\"") + part + "\"]"});
    INFO(part);
    REQUIRE(alone.exit_code() == 0);
    REQUIRE(alone.report().at("parts_ns").size() == 1);
    CHECK(alone.report()["parts_ns"][part].get<double>() ==
          Approx(whole.report()["parts_ns"][part].get<double>()).epsilon(0.02));
  }
}

TEST_CASE("a layer ends also when nothing happens for a long time") {
  const Run run = Run::of_platform(settings_of({"prompt", "fused"}) +
                                   Settings{"system.compute.matrix_flops_per_cycle=0.1", "data=timing-only"});
  REQUIRE(run.exit_code() == 0);
  REQUIRE(run.time("total") > 1e6);
}

TEST_CASE("the program prints a layer's operations") {
  const Run run = Run::of_program(settings_of({"prompt", "fused"}));
  REQUIRE(run.exit_code() == 0);
  for (const char* text : {"1 GPU, sequential", "attention", "element_wise", "fc_2_residual", "0 mismatches"})
    REQUIRE_THAT(run.terminal(), Catch::Contains(text));
}

}  // namespace t3vp::test::layer_runs_test
