// collectives.csv: collectives alone, fp16, of a library (NCCL) whose rings go round all GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/measurements.h"

namespace t3vp {
namespace {

std::string op_of(const MeasuredRow& row) {
  std::string op = row.name("op", {"reduce_scatter", "all_gather", "all_reduce", "all_to_all", "broadcast"});
  std::replace(op.begin(), op.end(), '_', '-');
  return op;
}

/// Of the whole buffer; `mbytes` counts MiB and may have a fraction, of which whole elements are taken.
std::uint64_t bytes_of(const MeasuredRow& row) {
  constexpr double MiB = 1 << 20, element = 2, most = 2048;
  const double bytes = row.amount("mbytes") * MiB;
  if (bytes < element || bytes > most * MiB)
    row.reject("mbytes", fmt::format("MiB of an element or more, up to {}", most));
  return static_cast<std::uint64_t>(bytes / element) * static_cast<std::uint64_t>(element);
}

std::vector<Measurement> collective_times_in(const MeasuredRow& row) {
  for (const char* limit : {"us_min", "us_max"}) row.amount(limit);
  const std::string op = op_of(row);
  Measurement time;
  time.quantity = "us";
  time.measured_us = row.amount("us");
  time.has_host_launch = true;
  time.parts = {{{"method=sequential", fmt::format("gpus={}", row.count("gpus", 2, 256)),
                  fmt::format(R"(workload={{"collective": {{"op": "{}", "algorithm": "{}", "bytes": {}}}}})", op,
                              op == "all-to-all" ? "direct" : "ring", bytes_of(row))},
                 "time_ns.collective"}};
  return {time};
}

}  // namespace

MeasuredFile measured_collectives() {
  return {"collectives.csv", {"gpus", "op", "mbytes", "us", "us_min", "us_max"}, collective_times_in};
}

}  // namespace t3vp
