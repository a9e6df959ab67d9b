// gemm.csv: GEMMs alone, fp16, of a library (cuBLAS) on one GPU.
#include <fmt/format.h>

#include "experiment/measurements.h"

namespace t3vp {
namespace {

/// FC-1 and IP were measured with B not transposed, the others with B transposed, as in the forward pass (T3 5.2).
bool transposes_b(const std::string& sublayer) { return sublayer == "OP" || sublayer == "FC-2"; }

std::vector<Measurement> gemm_times_in(const MeasuredRow& row) {
  constexpr std::uint64_t longest = 1 << 20;
  for (const char* limit : {"us_min", "us_max"}) row.amount(limit);
  row.count("tp", 1, longest);
  const bool transposed = transposes_b(row.name("sublayer", {"OP", "FC-2", "FC-1", "IP"}));
  Measurement time;
  time.quantity = "us";
  time.measured_us = row.amount("us");
  time.parts = {
      {{"method=ideal-overlap", R"(phases=["gemm"])", "gpus=1",
        fmt::format(R"(workload={{"gemm": {{"m": {}, "n": {}, "k": {}, "transpose_b": {}}}}})",
                    row.count("M", 1, longest), row.count("N", 1, longest), row.count("K", 1, longest), transposed)},
       "time_ns.gemm"}};
  return {time};
}

}  // namespace

MeasuredFile measured_gemms() {
  return {"gemm.csv", {"model", "tp", "sublayer", "M", "N", "K", "us", "us_min", "us_max"}, gemm_times_in};
}

}  // namespace t3vp
