// On RISC-V cores the programs that the platform comes with write the same to registers as natively, in the same order.
#include <algorithm>
#include <catch2/catch.hpp>

#include "config/configuration.h"
#include "riscv_firmware/image.h"
#include "riscv_firmware/register_writes.h"

namespace t3vp::test::equality_test {
namespace {

using Settings = std::vector<std::string>;

void require_equal(const std::string& run, const Settings& settings = {}) {
  if (!has_image()) return;
  Settings on_core = settings;
  on_core.push_back("firmware=riscv");
  const std::vector<std::string> native = register_writes(load_run(config("runs/" + run), settings)),
                                 core = register_writes(load_run(config("runs/" + run), on_core));
  REQUIRE(native.size() > 10);
  REQUIRE(native.back() == "passed");
  for (std::size_t i = 0; i < std::min(native.size(), core.size()); ++i) {
    INFO("write " << i << " of " << run);
    REQUIRE(core[i] == native[i]);
  }
  REQUIRE(core.size() == native.size());
}

Settings small(Settings more) {
  more.insert(more.begin(), "system=" + config("systems/small-4.json").string());
  if (std::none_of(more.begin(), more.end(), [](const std::string& one) { return one.find("workload=") == 0; }))
    more.push_back(R"(workload={"gemm": {"m": 256, "n": 256, "k": 64}})");
  return more;
}

}  // namespace

TEST_CASE("a core writes what the native processor writes of fused GEMMs") {
  require_equal("gemm-rs-4gpu.json", small({}));
}

TEST_CASE("a core writes what the native processor writes of sequential GEMMs") {
  require_equal("gemm-rs-4gpu.json", small({"method=sequential"}));
}

TEST_CASE("a core writes what the native processor writes of isolated phases") {
  require_equal("gemm-rs-4gpu.json", small({"method=ideal-overlap", "data=timing-only"}));
}

TEST_CASE("a core writes what the native processor writes of collectives") {
  require_equal("all-reduce-4gpu.json", {});
}

TEST_CASE("a core writes what the native processor writes of layers") {
  const std::string kind = GENERATE("prompt", "training");
  require_equal("gemm-rs-4gpu.json",
                small({"gpus=null", "method=null",
                       R"(workload={"layer": ")" + kind +
                           R"(", "tp": 2, "transformer": {"hidden": 64, "heads": 4, "sequence": 33, "batch": 2}})"}));
}

TEST_CASE("a core writes what the native processor writes of embeddings") {
  const std::string method = GENERATE("bulk", "zero-copy", "fused");
  require_equal(
      "embedding-4gpu.json",
      small(
          {"method=" + method,
           R"(workload={"embedding": {"global_batch": 32, "tables_per_gpu": 2, "dimension": 32, "pooling": 3, "rows": 50}})"}));
}

TEST_CASE("a core writes what the native processor writes of embeddings that NICs exchange") {
  const std::string method = GENERATE("bulk", "fused");
  require_equal(
      "embedding-4gpu.json",
      small(
          {"method=" + method, "gpus=2", R"(system.links.topology={"kind": "nodes", "gpus_per_node": 1})",
           R"(system.nic={"messages_per_us": 100, "io_latency_ns": 100, "io_GBps": 8, "entry_fetches": 16,
                          "payload_in_flight_KiB": 16, "mtu_bytes": 1024, "wire_GBps": 4, "wire_latency_ns": 300, "writes_invalidate": true})",
           R"(workload={"embedding": {"global_batch": 32, "tables_per_gpu": 2, "dimension": 32, "pooling": 3, "rows": 50}})"}));
}

TEST_CASE("a core writes what the native processor writes of a recommendation model's training") {
  require_equal(
      "dlrm-4gpu.json",
      small(
          {R"(workload={"embedding": {"global_batch": 32, "tables_per_gpu": 2, "dimension": 32, "pooling": 3, "rows": 50}, "mlp": {"bottom_layers": 1, "top_layers": 1, "width": 32}})"}));
}

TEST_CASE("a core writes what the native processor writes of experts") {
  const std::string method = GENERATE("bulk", "fused");
  require_equal("experts-4gpu.json",
                small({"method=" + method, R"(workload={"experts": {"tokens": 128, "hidden": 128, "inner": 64}})"}));
}

TEST_CASE("a core writes what the native processor writes of products with a vector") {
  const std::string method = GENERATE("bulk", "fused");
  require_equal("gemv-4gpu.json", small({"method=" + method, R"(workload={"gemv": {"rows": 256, "columns": 256}})"}));
}

}  // namespace t3vp::test::equality_test
