// The list of a layer's operations, without running it.
#include <catch2/catch.hpp>
#include <set>

#include "command_line/program.h"
#include "config/configuration.h"
#include "io/input_error.h"
#include "workloads/layer/layer_program.h"
#include "workloads/layer/layer_reader.h"

namespace t3vp::test::layer_program_test {

namespace {

RunConfiguration layer_of(const std::string& model, unsigned tp, const std::string& kind,
                          const std::string& attention) {
  const ValidFiles files;
  files.change("run.json", "/system", config("systems/t3-table1.json").string());
  files.change("run.json", "/gpus", nullptr);
  files.change("run.json", "/method", nullptr);
  files.change("run.json", "/workload", {{"model", model}, {"layer", kind}, {"attention", attention}, {"tp", tp}});
  return load_run(files.run());
}

LayerShape layer_of(const RunConfiguration& c) { return read_layer({"run.json", "", c.resolved, {}}); }

LayerProgram program_of(const RunConfiguration& c) { return layer_program(layer_of(c), c.system.compute); }

double flops(const LayerProgram& program, LayerPart part) {
  double sum = 0;
  for (const LayerOperation& o : program.operations)
    if (o.part == part) sum += flops_of(o.kernel);
  return sum;
}

const LayerOperation& named(const LayerProgram& program, const std::string& name) {
  for (const LayerOperation& o : program.operations)
    if (o.name == name) return o;
  throw std::runtime_error("no " + name);
}

}  // namespace

TEST_CASE("a layer's shape is the paper's, its heads those of the models' papers") {
  struct Expected {
    const char* model;
    unsigned tp, hidden, heads, sequence, batch, heads_per_gpu;
  };
  for (const Expected& e :
       {Expected{"Mega-GPT-2", 16, 3072, 32, 1024, 16, 32}, Expected{"T-NLG", 8, 4256, 28, 1024, 8, 28},
        Expected{"T-NLG", 16, 4256, 28, 1024, 8, 14}, Expected{"GPT-3", 32, 12288, 96, 1024, 2, 6},
        Expected{"PALM", 32, 18432, 48, 1024, 2, 3}, Expected{"MT-NLG", 32, 20480, 128, 1024, 2, 8}}) {
    const RunConfiguration c = layer_of(e.model, e.tp, "prompt", "unfused");
    const TransformerShape shape = layer_of(c).shape;
    INFO(e.model);
    CHECK(c.gpus == 1);
    CHECK(c.method == "sequential");
    CHECK(shape.hidden == e.hidden);
    CHECK(shape.heads == e.heads);
    CHECK(shape.sequence == e.sequence);
    CHECK(shape.batch == e.batch);
    const LayerProgram program = program_of(c);
    const t3_layer_operation& scores = named(program, "scores").kernel;
    CHECK(scores.batch.matrices == e.heads_per_gpu);
    CHECK(scores.a.matrix.columns == e.hidden / e.heads);
    CHECK(scores.out.matrix.rows == 1024);
    CHECK(scores.out.matrix.columns == 1024);
  }
}

TEST_CASE("the products of a layer are those of the formula") {
  // Per GPU, forward: QKV 3 H^2/tp and FC-1 4 H^2/tp multiply-adds a token, two of 1024 x H/tp for attention. Backward:
  // data gradients of OP and FC-2 (1 + 4), weight gradients of all (12), twice the attention's.
  const double tokens = 8192, hidden = 4256, tp = 8;
  const double square = 2 * tokens * hidden * hidden / tp, attention = 2 * 2 * tokens * 1024 * hidden / tp;
  const LayerProgram prompt = program_of(layer_of("T-NLG", 8, "prompt", "unfused"));
  CHECK(flops(prompt, LayerPart::gemm) == Approx(7 * square));
  CHECK(flops(prompt, LayerPart::attention) == Approx(attention));
  const LayerProgram training = program_of(layer_of("T-NLG", 8, "training", "unfused"));
  CHECK(flops(training, LayerPart::gemm) == Approx((7 + 5 + 12) * square));
  CHECK(flops(training, LayerPart::attention) == Approx(3 * attention));
  // Fused, the backward passes compute the scores twice more and their gradient once more.
  const LayerProgram fused = program_of(layer_of("T-NLG", 8, "training", "fused"));
  CHECK(flops(fused, LayerPart::gemm) == Approx((7 + 5 + 12) * square));
  CHECK(flops(fused, LayerPart::attention) == Approx((2 + 3 + 4) / 2.0 * attention));
  CHECK(flops(fused, LayerPart::element_wise) == 0);
}

TEST_CASE("dropout has one seed forward and backward, and none in the prompt phase") {
  const LayerProgram training = program_of(layer_of("T-NLG", 8, "training", "unfused"));
  const std::pair<const char*, const char*> pairs[] = {{"attention_dropout", "attention_dropout_backward"},
                                                       {"output_residual", "output_dropout_backward"},
                                                       {"fc_2_residual", "fc_2_dropout_backward"}};
  std::set<std::uint32_t> seeds;
  for (const auto& [forward, backward] : pairs) {
    const t3_row_options &there = named(training, forward).kernel.options,
                         &back = named(training, backward).kernel.options;
    CHECK(there.seed == back.seed);
    CHECK(there.factor == 0.9f);
    CHECK(back.factor == 0.9f);
    seeds.insert(there.seed);
  }
  CHECK(seeds.size() == 3);
  for (const LayerOperation& o : program_of(layer_of("T-NLG", 8, "prompt", "unfused")).operations) {
    CHECK(o.kernel.rows != T3_ROWS_DROPOUT);
    if (o.kernel.rows == T3_ROWS_BIAS_DROPOUT_ADD) CHECK(o.kernel.options.factor == 1);
  }
}

TEST_CASE("operations have names of their own and stay inside their tensors") {
  for (const char* attention : {"unfused", "fused"}) {
    const LayerProgram program = program_of(layer_of("T-NLG", 16, "training", attention));
    REQUIRE(program.tensors.size() <= T3_LAYER_TENSORS_MAX);
    std::set<std::string> names;
    for (const LayerOperation& o : program.operations) {
      INFO(o.name);
      CHECK(names.insert(o.name).second);
      const std::pair<const t3_operand*, std::uint32_t> operands[] = {{&o.kernel.a, o.kernel.batch.a_stride},
                                                                      {&o.kernel.b, o.kernel.batch.b_stride},
                                                                      {&o.kernel.c, o.kernel.batch.b_stride},
                                                                      {&o.kernel.out, o.kernel.batch.out_stride}};
      for (const auto& [operand, stride] : operands) {
        if (!operand->used) continue;
        const t3_matrix& m = operand->matrix;
        const std::uint64_t more = std::uint64_t{std::max(o.kernel.batch.matrices, 1u) - 1} * stride;
        const std::uint64_t last_row = (m.rows - 1) * m.row_stride + m.columns * (m.element == T3_FP32 ? 4u : 2u);
        CHECK(m.address + more + last_row <= program.tensors.at(operand->tensor).bytes);
      }
    }
  }
}

TEST_CASE("a narrow product takes a narrower tile where that saves work") {
  RunConfiguration c = layer_of("T-NLG", 16, "prompt", "unfused");
  c.system.compute.tile_columns = 256;
  const LayerProgram program = program_of(c);
  CHECK(named(program, "context").kernel.tiling.columns == 64);            // heads of 152: 192 columns, not 256
  CHECK(named(program, "scores").kernel.tiling.columns == 256);            // 1024
  CHECK(named(program, "input_projection").kernel.tiling.columns == 256);  // 798: 1024 against 896, too little
}

TEST_CASE("wrong layers are refused where they are wrong") {
  const ValidFiles files;
  files.change("run.json", "/gpus", nullptr);
  files.change("run.json", "/method", nullptr);
  const nlohmann::json good = {{"layer", "training"},
                               {"tp", 4},
                               {"transformer", {{"hidden", 64}, {"heads", 4}, {"sequence", 32}, {"batch", 2}}}};
  struct Change {
    const char *pointer, *reported_at;
    nlohmann::json value;
  };
  const Change changes[] = {{"/workload/layer", "/workload/layer", "inference"},
                            {"/workload/attention", "/workload/attention", "flash"},
                            {"/workload/tp", "/workload/tp", nullptr},
                            {"/workload/tp", "/workload/tp", 5},
                            {"/workload/tp", "/workload/tp", 16},
                            {"/workload/transformer", "/workload/transformer/hidden", nullptr},
                            {"/workload/transformer/batch", "/workload/transformer/batch", nullptr},
                            {"/workload/transformer/heads", "/workload/transformer/heads", 3},
                            {"/workload/transformer/layers", "/workload/transformer/layers", 3},
                            {"/workload/transformer/sequence", "/workload/transformer/sequence", 0},
                            {"/workload/transformer/hidden", "/workload", 1 << 20},
                            {"/workload/parts", "/workload/parts", nlohmann::json::array()},
                            {"/workload/parts", "/workload/parts/0", {"collective"}},
                            {"/workload/transformer/sequence", "/workload", 65536},
                            {"/workload/transformer/batch", "/workload", 65536},
                            {"/workload/sublayer", "/workload/sublayer", "OP"},
                            {"/workload/tokens", "/workload/tokens", 64},
                            {"/workload/gemm", "/workload/gemm", {{"element", "fp16"}}},
                            {"/workload/model", "/workload/model", "GPT-5"},
                            {"/workload/model", "/workload/transformer/hidden", "GPT-3"},
                            {"/gpus", "/gpus", 4},
                            {"/method", "/method", "t3"},
                            {"/phases", "/phases", nlohmann::json::array({"gemm"})},
                            {"/operands", "/operands", "exact"},
                            {"/inject", "/inject/drop_packet/link", {{"drop_packet", {{"link", 0}, {"packet", 0}}}}},
                            {"/inject", "/inject/dma_map_updates", {{"dma_map_updates", 3}}}};
  files.change("run.json", "/workload", good);
  CHECK(load_run(files.run()).workload->label() == "Transformer training layer TP=4 with unfused attention");
  for (const Change& change : changes) {
    files.change("run.json", "/workload", good);
    files.change("run.json", change.pointer, change.value);
    INFO(change.pointer << " = " << change.value);
    try {
      load_run(files.run());
      CHECK(false);
    } catch (const InputError& error) {
      CHECK_THAT(error.what(), Catch::Contains(std::string("run.json: ") + change.reported_at + ": found"));
    }
    for (const char* key : {"/gpus", "/method", "/operands", "/phases", "/inject"})
      if (std::string(change.pointer) == key) files.change("run.json", key, nullptr);
  }
  files.change("run.json", "/workload", good);
  files.change("run.json", "/workload/parts", {"optimizer"});
  CHECK(layer_of(load_run(files.run())).parts == std::vector<LayerPart>{LayerPart::optimizer});
  files.change("run.json", "/workload/layer", "prompt");
  CHECK_THROWS_WITH(load_run(files.run()), Catch::Contains("/workload/parts"));
  files.change("run.json", "/workload", good);
  files.change("run.json", "/workload/attention", "fused");
  files.change("run.json", "/data", "functional");
  CHECK_THROWS_WITH(load_run(files.run()), Catch::Contains("/data") && Catch::Contains("timing-only"));
  files.change("run.json", "/data", "timing-only");
  CHECK(layer_of(load_run(files.run())).fused_attention);
}

TEST_CASE("a printed layer configuration is a run file of the same run") {
  const ValidFiles files;
  const RunConfiguration first = layer_of("GPT-3", 32, "training", "fused");
  files.write("again.json", first.resolved);
  CHECK(load_run(files / "again.json").config_hash == first.config_hash);
  files.change("again.json", "/workload/parts", {"optimizer", "attention"});
  const RunConfiguration parts = load_run(files / "again.json");
  CHECK(parts.config_hash != first.config_hash);
  files.write("again.json", parts.resolved);
  CHECK(load_run(files / "again.json").config_hash == parts.config_hash);
}

}  // namespace t3vp::test::layer_program_test
