// What NICs have sent for embedding tables, in the report: PUTs by closed form, bytes that neither end loses.
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"

namespace t3vp::test::nic_figures_test {

namespace {

using nlohmann::json;

struct Shape {
  std::uint32_t gpus, node, batch, tables, dimension, slice;

  json workload() const {
    return {{"embedding",
             {{"global_batch", batch},
              {"tables_per_gpu", tables},
              {"dimension", dimension},
              {"pooling", 3},
              {"rows", 40},
              {"slice", slice}}}};
  }
  std::uint32_t samples_of(std::uint32_t gpu) const { return batch / gpus + (gpu < batch % gpus ? 1 : 0); }
  /// That a GPU pools for GPUs of other nodes.
  std::uint32_t samples_away(std::uint32_t gpu) const {
    std::uint32_t samples = 0;
    for (std::uint32_t owner = 0; owner < gpus; ++owner) samples += owner / node == gpu / node ? 0 : samples_of(owner);
    return samples;
  }
  std::uint32_t slices() const { return (tables + slice - 1) / slice; }
  std::uint32_t sample_bytes() const { return tables * dimension * 4; }
};

Run run_of(const Shape& shape, const char* method, const Settings& settings) {
  return right_run(kernel_run(method, shape.gpus, shape.workload()) + settings);
}

double of_nic(const Run& run, std::uint32_t gpu, const std::string& figure) {
  return run.statistic("gpu" + std::to_string(gpu) + ".nic." + figure);
}

double of_all(const Run& run, std::uint32_t gpus, const std::string& figure) {
  double sum = 0;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) sum += of_nic(run, gpu, figure);
  return sum;
}

}  // namespace

TEST_CASE("PUTs are the slices that other nodes own and each has a fence and a flag of its own") {
  const Shape shape = GENERATE(Shape{2, 1, 9, 5, 70, 2}, Shape{3, 1, 10, 3, 24, 1}, Shape{4, 2, 13, 4, 33, 4},
                               Shape{6, 3, 12, 7, 300, 3}, Shape{4, 1, 7, 6, 64, 4});
  CAPTURE(shape.gpus, shape.node);
  const Run run = run_of(shape, "fused", apart(shape.node));
  double placed = 0, received = 0;
  for (std::uint32_t gpu = 0; gpu < shape.gpus; ++gpu) {
    CAPTURE(gpu);
    const double puts = static_cast<double>(shape.samples_away(gpu)) * shape.slices();
    CHECK(of_nic(run, gpu, "writes") == puts);
    CHECK(of_nic(run, gpu, "inline_writes") == puts);
    CHECK(of_nic(run, gpu, "messages") == 3 * puts);
    CHECK(of_nic(run, gpu, "doorbells") == 3 * puts);
    CHECK(of_nic(run, gpu, "completions") == 3 * puts);
    CHECK(of_nic(run, gpu, "acknowledgements") == 2 * puts);
    CHECK(of_nic(run, gpu, "written") ==
          static_cast<double>(shape.samples_away(gpu)) * shape.sample_bytes() + 8 * puts);
    CHECK(of_nic(run, gpu, "payload") == of_nic(run, gpu, "written"));
    CHECK(of_nic(run, gpu, "sending") == Approx(of_nic(run, gpu, "wire_bytes") / 4));
    placed += of_nic(run, gpu, "placed");
    received += (shape.gpus - shape.node) * (static_cast<double>(shape.samples_of(gpu)) * shape.sample_bytes());
  }
  CHECK(placed == of_all(run, shape.gpus, "written"));
  CHECK(placed == received + 8 * of_all(run, shape.gpus, "inline_writes"));
  CHECK(of_all(run, shape.gpus, "resent") == 0);
}

TEST_CASE("hosts send one message to each other GPU") {
  const Shape shape = GENERATE(Shape{2, 1, 9, 5, 70, 1}, Shape{4, 2, 13, 4, 33, 1});
  const Run run = run_of(shape, "bulk", apart(shape.node));
  double bytes = 0;
  for (std::uint32_t gpu = 0; gpu < shape.gpus; ++gpu) {
    CAPTURE(gpu);
    const double others = shape.gpus - 1;
    CHECK(of_nic(run, gpu, "writes") == others);
    CHECK(of_nic(run, gpu, "inline_writes") == 0);
    CHECK(of_nic(run, gpu, "doorbells") == others);
    CHECK(of_nic(run, gpu, "completions") == 2 * others);  // of what it sends and what it receives
    const double own = shape.samples_of(gpu);
    CHECK(of_nic(run, gpu, "written") == (shape.batch - own) * shape.sample_bytes());
    CHECK(of_nic(run, gpu, "placed") == others * own * shape.sample_bytes());
    bytes += of_nic(run, gpu, "written") - of_nic(run, gpu, "placed");
  }
  CHECK(bytes == 0);
}

TEST_CASE("what is lost is sent again and written once") {
  const Shape shape{2, 1, 9, 5, 70, 2};
  const auto run = [&](const Settings& settings) {
    return Run::of_platform(
        Settings{on_small_system(), "method=fused", "gpus=2", "workload=" + shape.workload().dump()} + apart(1) +
        settings);
  };
  const Run lossy = run({R"(inject.drop_packets={"gpu": 0, "count": 3})"}), whole = run({});
  CHECK(of_nic(lossy, 0, "resent") >= 3);
  CHECK(of_nic(lossy, 0, "lost") == 3);
  CHECK(of_nic(lossy, 0, "payload") > of_nic(whole, 0, "payload"));
  for (const char* figure : {"writes", "inline_writes", "written"})
    CHECK(of_nic(lossy, 0, figure) == of_nic(whole, 0, figure));
  CHECK(of_nic(lossy, 1, "placed") == of_nic(whole, 1, "placed"));
}

TEST_CASE("where there is no NIC the report has no figure of one") {
  const Run run = run_of({2, 2, 9, 5, 70, 2}, "fused", {});
  for (const auto& statistic : run.report()["statistics"])
    CHECK(statistic["name"].get<std::string>().find(".nic.") == std::string::npos);
}

TEST_CASE("the terminal shows what each NIC has sent") {
  const Settings by_nics =
      Settings{on_small_system(), "method=fused", "gpus=2", "workload=" + Shape{2, 1, 9, 5, 70, 2}.workload().dump()} +
      apart(1);
  const Run run = Run::of_program(by_nics);
  CHECK_THAT(run.terminal(), Catch::Contains("NICs in use     PUTs  inline PUTs  doorbells"));
  CHECK_THAT(run.terminal(), Catch::Contains("\n  GPU 0             12           12         36"));
  CHECK_THAT(run.terminal(), Catch::Contains("\n  GPU 1             15           15         45"));
  CHECK_THAT(Run::of_program({"workload={\"gemm\": {\"m\": 64, \"n\": 64, \"k\": 64}}"}).terminal(),
             !Catch::Contains("NICs"));
}

}  // namespace t3vp::test::nic_figures_test
