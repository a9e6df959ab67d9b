// collectives.csv, collective_cus.csv: collectives alone, fp16, of a library (NCCL) whose rings go round all GPUs.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/measured_runs.h"

namespace t3vp {
namespace {

constexpr std::uint64_t most_workgroups = 496;

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
  check_amounts(row, {"us_min", "us_max"});
  const Settings settings = collective_alone(op_of(row), bytes_of(row), row.count("gpus", 2, most_measured_gpus));
  return {time_in(row, "us", {{settings, "time_ns.collective"}}, 1)};
}

std::vector<Measurement> workgroup_times_in(const MeasuredRow& row) {
  check_amounts(row, {"rs_min", "rs_max"});
  const std::uint64_t gpus = row.count("gpus", 2, most_measured_gpus), bytes = bytes_of(row);
  const Settings held{fmt::format("system.kernels.ring.workgroups={}", row.count("ctas", 1, most_workgroups))};
  return {
      time_in(row, "rs_us", {{joined(collective_alone("reduce-scatter", bytes, gpus), held), "time_ns.collective"}}, 1),
      time_in(row, "ag_us", {{joined(collective_alone("all-gather", bytes, gpus), held), "time_ns.collective"}}, 1)};
}

std::string unsteady_time(const MeasuredRow& row) { return unsteady(row, "us", "us_min"); }
std::string unsteady_reduce_scatter(const MeasuredRow& row) { return unsteady(row, "rs_us", "rs_min"); }

}  // namespace

MeasuredFile measured_collectives() {
  return {"collectives.csv", {"gpus", "op", "mbytes", "us", "us_min", "us_max"}, collective_times_in, unsteady_time};
}

MeasuredFile measured_collective_workgroups() {
  return {"collective_cus.csv",
          {"gpus", "ctas", "mbytes", "rs_us", "rs_min", "rs_max", "ag_us"},
          workgroup_times_in,
          unsteady_reduce_scatter};
}

}  // namespace t3vp
