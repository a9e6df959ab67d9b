// A training pass of a recommendation model: what tables hold afterwards, what links carry, and how long it takes.
#include <catch2/catch.hpp>
#include <cmath>

#include <fstream>

#include "system/kernel_runs.h"
#include "workloads/embedding/embedding_oracle.h"
#include "workloads/embedding/mlp.h"

namespace t3vp::test::dlrm_runs_test {

namespace {

using nlohmann::json;

const char* const methods[] = {"bulk", "fused", "fused-backward"};

json tables(std::uint32_t batch, std::uint32_t count, std::uint32_t dimension, const json& pooling, std::uint32_t rows,
            const char* result = "sum") {
  return {{"global_batch", batch}, {"tables_per_gpu", count}, {"dimension", dimension}, {"pooling", pooling},
          {"rows", rows},          {"result", result}};
}

json mlp(std::uint32_t bottom, std::uint32_t top, std::uint32_t width, double bucket_MiB) {
  return {{"bottom_layers", bottom}, {"top_layers", top}, {"width", width}, {"bucket_MiB", bucket_MiB}};
}

Settings pass(const char* method, std::uint32_t gpus, const json& embedding, const json& layers) {
  return kernel_run(method, gpus, {{"embedding", embedding}, {"mlp", layers}});
}

std::string torus(const json& dimensions) {
  return "system.links.topology=" + json{{"kind", "torus"}, {"dimensions", dimensions}}.dump();
}

}  // namespace

TEST_CASE("a training pass leaves what was pooled at its owners and takes its gradient off the tables") {
  const auto [gpus, topology, embedding, layers] = GENERATE(table<std::uint32_t, std::string, json, json>({
      {2, "system.links.topology=ring", tables(17, 3, 24, 5, 101), mlp(1, 2, 40, 25)},
      {3, joined, tables(32, 1, 64, 8, 40, "mean"), mlp(2, 1, 33, 0.001)},
      {4, torus({2, 2}), tables(37, 4, 90, {{"drawn", 9}}, 30), mlp(1, 1, 64, 0.02)},
      {6, torus({3, 2}), tables(13, 2, 4, {{"drawn", 3}}, 1), mlp(3, 4, 7, 0.01)},
      {6, joined, tables(50, 2, 300, 1, 7), mlp(1, 1, 20, 1)},
      {2, joined, tables(128, 1, 8, 255, 2), mlp(1, 1, 32, 25)},  // sums beyond 2^24, which fp32 rounds
  }));
  for (const char* method : methods) {
    CAPTURE(method, gpus, topology);
    const Run run =
        right_run(pass(method, gpus, embedding, layers) + Settings{"data=functional", "check=all", topology});
    const auto of_tables =
        embedding["tables_per_gpu"].get<std::uint64_t>() * embedding["dimension"].get<std::uint64_t>();
    CHECK(run.report()["functional"]["elements"] ==
          gpus * of_tables * (embedding["global_batch"].get<std::uint64_t>() + embedding["rows"].get<std::uint64_t>()));
  }
}

namespace {

using Matrix = std::vector<std::vector<double>>;

/// A dumped array of fp32.
std::vector<float> dumped(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string prefix(10, 0);
  file.read(prefix.data(), 10);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(prefix[i])); };
  file.seekg(static_cast<std::streamoff>(10 + byte(8) + 256 * byte(9)));
  std::vector<float> values;
  for (float value = 0; file.read(reinterpret_cast<char*>(&value), sizeof value);) values.push_back(value);
  return values;
}

double tanh_of_gelu(double x) { return std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }
double gelu(double x) { return x / 2 * (1 + tanh_of_gelu(x)); }
double gelu_slope(double x) {
  const double step = 1e-5 * std::max(1.0, std::abs(x));
  return (gelu(x + step) - gelu(x - step)) / (2 * step);
}

/// Both perceptrons in double, sample by sample, from the definition of their gradients.
class Perceptrons {
 public:
  Perceptrons(const t3_dlrm& shape) : shape_(shape), width_(shape.width), layers_(t3_dlrm_layers(&shape)) {
    for (std::uint32_t layer = 0; layer < layers_; ++layer) {
      weights_.emplace_back(width_, std::vector<double>(width_));
      for (std::uint32_t row = 0; row < width_; ++row)
        for (std::uint32_t column = 0; column < width_; ++column)
          weights_[layer][row][column] = t3_mlp_weight(&shape, layer, row, column);
    }
    learnt_ = weights_;
  }

  void learn(std::uint32_t sample, const std::vector<float>& pooled) {
    std::vector<std::vector<double>> inputs{std::vector<double>(width_)}, products;
    for (std::uint32_t i = 0; i < width_; ++i) inputs[0][i] = t3_mlp_dense(sample, i);
    for (std::uint32_t layer = 0; layer < layers_; ++layer) {
      if (layer == shape_.bottom_layers)
        for (std::size_t i = 0; i < std::min<std::size_t>(width_, pooled.size()); ++i) inputs[layer][i] += pooled[i];
      std::vector<double> product(width_), output(width_);
      for (std::uint32_t column = 0; column < width_; ++column) {
        for (std::uint32_t row = 0; row < width_; ++row)
          product[column] += inputs[layer][row] * weights_[layer][row][column];
        output[column] = gelu(product[column]);
      }
      products.push_back(product);
      inputs.push_back(output);
    }
    std::vector<double> error(width_);
    for (std::uint32_t i = 0; i < width_; ++i) error[i] = -inputs[layers_][i];
    for (std::uint32_t layer = layers_; layer-- > 0;) {
      std::vector<double> before(width_);
      for (std::uint32_t column = 0; column < width_; ++column) {
        const double of_product = error[column] * gelu_slope(products[layer][column]);
        for (std::uint32_t row = 0; row < width_; ++row) {
          learnt_[layer][row][column] += inputs[layer][row] * of_product;
          before[row] += of_product * weights_[layer][row][column];
        }
      }
      error = before;
    }
  }

  const Matrix& learnt(std::uint32_t layer) const { return learnt_[layer]; }
  const Matrix& before(std::uint32_t layer) const { return weights_[layer]; }

 private:
  t3_dlrm shape_;
  std::uint32_t width_, layers_;
  std::vector<Matrix> weights_, learnt_;
};

}  // namespace

TEST_CASE("all GPUs learn the same weights in a training pass and those that the definition gives") {
  const auto [gpus, topology, bucket_MiB] = GENERATE(
      table<std::uint32_t, std::string, double>({{3, joined, 0.02}, {4, torus({2, 2}), 0.02}, {2, joined, 25}}));
  CAPTURE(gpus, topology);
  constexpr std::uint32_t batch = 11, width = 50, bottom = 2, top = 3;
  const json embedding = tables(batch, 2, 20, 3, 40);
  const Run run = right_run(pass("bulk", gpus, embedding, mlp(bottom, top, width, bucket_MiB)) +
                            Settings{"data=functional", topology});
  t3_embedding e{};
  e.global_batch = batch, e.tables_per_gpu = 2, e.dimension = 20, e.pooling = 3, e.rows = 40, e.element = T3_FP32;
  e.seed = 1;
  t3_dlrm d{};
  d.bottom_layers = bottom, d.top_layers = top, d.width = width;
  Perceptrons perceptrons(d);
  const EmbeddingOracle oracle(e, gpus);
  std::uint32_t sample = 0;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    for (std::uint32_t own = 0; own < t3_embedding_samples(&e, gpu, gpus); ++own)
      perceptrons.learn(sample++, oracle.received(gpu, own));
  for (std::uint32_t layer = 0; layer < bottom + top; ++layer) {
    double most = 0;
    for (std::uint32_t i = 0; i < width * width; ++i)
      most = std::max(most, std::abs(perceptrons.learnt(layer)[i / width][i % width] -
                                     perceptrons.before(layer)[i / width][i % width]));
    const std::string name = ".weights00" + std::to_string(layer);
    const std::vector<float> first = dumped(run.array("gpu0" + name));
    REQUIRE(first.size() == std::size_t{width} * width);
    for (std::uint32_t gpu = 1; gpu < gpus; ++gpu)
      CHECK(dumped(run.array("gpu" + std::to_string(gpu) + name)) == first);
    double worst = 0;
    for (std::uint32_t i = 0; i < width * width; ++i)
      worst = std::max(worst, std::abs(perceptrons.learnt(layer)[i / width][i % width] - first[i]));
    CAPTURE(layer, most);
    CHECK(most > 0);
    constexpr double rounding = 1.0 / width / (1 << 24);  // of the largest weight in fp32
    CHECK(most > 100 * rounding);
    CHECK(worst <= 1e-4 * most + rounding);
  }
}

TEST_CASE("a training pass takes as long without data and at any quantum") {
  const json embedding = tables(29, 2, 40, {{"drawn", 12}}, 200), layers = mlp(2, 3, 50, 0.02);
  for (const char* method : methods) {
    const auto times = [&](const char* setting) {
      const Run run = right_run(pass(method, 3, embedding, layers) + Settings{joined, setting});
      return run.report()["time_ns"].dump() + run.report()["ends"].dump();
    };
    const std::string usual = times("data=timing-only");
    CHECK(times("data=functional") == usual);
    CHECK(times("quantum_ns=1") == usual);
    CHECK(times("quantum_ns=1000000") == usual);
  }
}

TEST_CASE("links of a training pass carry results and their gradients once and the weights' twice") {
  constexpr std::uint64_t batch = 24, count = 2, dimension = 32, layers = 5, width = 64, gpus = 3, element = 4;
  const json embedding = tables(batch, count, dimension, 6, 100);
  const std::uint64_t row = width * element, rows_shared = 42 * 32 * gpus;  // as many of 32 bytes as fit into 4 KiB
  const std::uint64_t layer = (width * row + rows_shared - 1) / rows_shared * rows_shared;
  const std::uint64_t exchanged = 2 * batch * count * dimension * element * (gpus - 1),
                      summed = 2 * (gpus - 1) * layers * layer;
  for (const double bucket_MiB : {25.0, 0.001}) {
    const Run run = right_run(pass("bulk", gpus, embedding, mlp(2, 3, width, bucket_MiB)) + Settings{joined});
    CHECK(carried(run) == exchanged + summed);
  }
  // The persistent kernels' flags are no payload.
  const Run fused = right_run(pass("fused-backward", gpus, embedding, mlp(2, 3, width, 25)) + Settings{joined});
  CHECK(carried(fused) == exchanged + summed);
}

TEST_CASE("one GPU of a torus stands for all in a training pass") {
  const char* const method = GENERATE("bulk", "fused", "fused-backward");
  CAPTURE(method);
  const json topology = {{"kind", "torus"}, {"dimensions", {4, 2}}, {"channels", "by-distance"}};
  const json workload = {{"embedding", tables(64, 4, 92, 12, 50000)}, {"mlp", mlp(1, 2, 100, 0.05)}};
  const auto simulate = [&](const char* which) {
    return right_run({"system=" + config("systems/torus-128.json").string(), "gpus=8",
                      "system.links.topology=" + topology.dump(), std::string("method=") + method, "data=timing-only",
                      std::string("simulate=") + which, "workload=" + workload.dump()});
  };
  const Run all = simulate("all"), mirror = simulate("mirror");
  CHECK(std::abs(mirror.time("total") - all.time("total")) <= 0.03 * all.time("total"));
  CHECK(carried(mirror) * 8 == carried(all));
}

TEST_CASE("a training pass that cannot be is refused in a line") {
  const json embedding = tables(32, 2, 32, 4, 100), layers = mlp(1, 1, 32, 25);
  const auto refusal = [&](const char* method, const Settings& settings) {
    return refusal_of(pass(method, 4, embedding, layers) + Settings{joined} + settings);
  };
  CHECK_THAT(refusal("zero-copy", {}), Catch::Contains("method") && Catch::Contains("bulk, fused or fused-backward"));
  CHECK_THAT(refusal("bulk", {"workload.embedding.element=fp16"}), Catch::Contains("fp32"));
  CHECK_THAT(refusal("bulk", {"workload.embedding.dimension=30", "workload.embedding.tables_per_gpu=1"}),
             Catch::Contains("120 bytes") && Catch::Contains("multiple of 32"));
  CHECK_THAT(refusal("bulk", {"workload.mlp.bucket_MiB=0"}), Catch::Contains("bucket_MiB"));
  CHECK_THAT(refusal("bulk", {"workload.mlp.top_layers=0"}), Catch::Contains("top_layers"));
  CHECK_THAT(refusal("bulk", {"program=embedding"}), Catch::Contains("program"));
  CHECK_THAT(refusal("bulk", {"data=functional", "workload.embedding.result=mean", "workload.embedding.pooling=3"}),
             Catch::Contains("power of two"));
  CHECK_THAT(refusal_of(kernel_run("fused-backward", 4, {{"embedding", embedding}}) + Settings{joined}),
             Catch::Contains("method"));
  CHECK_THAT(refusal_of(kernel_run("bulk", 4, {{"mlp", layers}, {"gemm", {{"m", 8}, {"n", 8}, {"k", 8}}}})),
             Catch::Contains("mlp") && Catch::Contains("only beside embedding"));
  CHECK_THAT(refusal_of(pass("bulk", 4, embedding, layers) + apart(1)),
             Catch::Contains("/links/topology") && Catch::Contains("links between all GPUs"));
  CHECK_THAT(refusal("fused", {"system.kernels.embedding.workgroups_per_cu=1"}),
             Catch::Contains("/method") && Catch::Contains("a persistent workgroup takes"));
  CHECK_THAT(refusal("bulk", {"system.compute.register_KiB=48", "system.kernels.ring.workgroups_per_cu=2"}),
             Catch::Contains("/kernels/ring/workgroups_per_cu") && Catch::Contains("at most 1"));
}

}  // namespace t3vp::test::dlrm_runs_test
