#include "experiment/measured_runs.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {
namespace {

/// Depths of GEMMs in place of a deeper one are multiples of it.
constexpr std::uint64_t depth_step = 256;

/// The larger depth of the two in place of the GEMM's; the smaller one is half of it. 0: the GEMM is simulated.
std::uint64_t depth_in_place(const GemmInRow& gemm, const Effort& effort) {
  const double plane = static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(effort.gpus);
  const double most = effort.most_products;
  if (plane * static_cast<double>(gemm.k) <= most) return 0;
  const auto fitting = static_cast<std::uint64_t>(most / 2 / plane) / (2 * depth_step) * (2 * depth_step);
  const std::uint64_t depth = std::max(fitting, 2 * depth_step);
  return depth < gemm.k ? depth : 0;
}

GemmInRow with_depth(GemmInRow gemm, std::uint64_t k) {
  gemm.k = k;
  return gemm;
}

}  // namespace

GemmInRow gemm_of(const MeasuredRow& row, bool transpose_b) {
  return {row.count("M", 1, longest_dimension), row.count("N", 1, longest_dimension),
          row.count("K", 1, longest_dimension), transpose_b};
}

GemmInRow gemm_of(const MeasuredRow& row) { return gemm_of(row, row.name("transpose_b", {"True", "False"}) == "True"); }

bool transposes_b(const MeasuredRow& row) {
  const std::string& sublayer = row.name("sublayer", {"OP", "FC-2", "FC-1", "IP"});
  return sublayer == "OP" || sublayer == "FC-2";
}

std::string gemm_json(const GemmInRow& gemm, const std::string& more) {
  return fmt::format(R"({{"m": {}, "n": {}, "k": {}, "transpose_b": {}{}{}}})", gemm.m, gemm.n, gemm.k,
                     gemm.transpose_b, more.empty() ? "" : ", ", more);
}

Settings gemm_alone(const GemmInRow& gemm, const std::string& more) {
  return {"method=ideal-overlap", R"(phases=["gemm"])", "gpus=1",
          fmt::format(R"(workload={{"gemm": {}}})", gemm_json(gemm, more)), fast_memory};
}

std::string library_keys(const GemmInRow& gemm, std::uint64_t workgroups) {
  constexpr std::uint64_t tile_rows = 128, tile_columns = 256, group = 8;
  const bool goes_across = gemm.n / tile_columns > gemm.m / tile_rows;
  return fmt::format(R"("group": {}, "group_columns": {}, "persistent_workgroups": {})", group, !goes_across,
                     workgroups);
}

Settings library_gemm(const GemmInRow& gemm) { return gemm_alone(gemm, library_keys(gemm)); }

Parts on_line(std::uint64_t all, std::uint64_t more, std::uint64_t few,
              const std::function<Settings(std::uint64_t)>& settings, const std::string& figure) {
  const double beyond = static_cast<double>(all - more) / static_cast<double>(more - few);
  return {{settings(more), figure, 1 + beyond}, {settings(few), figure, -beyond}};
}

Parts by_depth(const GemmInRow& gemm, const std::function<Settings(const GemmInRow&)>& settings,
               const std::string& figure, const Effort& effort) {
  const std::uint64_t depth = depth_in_place(gemm, effort);
  if (depth == 0) return {{settings(gemm), figure}};
  return on_line(
      gemm.k, depth, depth / 2, [&](std::uint64_t k) { return settings(with_depth(gemm, k)); }, figure);
}

Parts with_launch(Parts parts, double ns) {
  parts.push_back({{}, "", ns});
  return parts;
}

Settings collective_alone(const std::string& op, std::uint64_t bytes, std::uint64_t gpus) {
  const std::string staged = op == "all-gather" || op == "all-to-all" ? "reduce-scatter" : op;
  return {"method=sequential", fmt::format("gpus={}", gpus),
          fmt::format(R"(workload={{"collective": {{"op": "{}", "algorithm": "ring", "bytes": {}}}}})", staged, bytes),
          fast_memory};
}

void check_amounts(const MeasuredRow& row, const std::vector<const char*>& columns) {
  for (const char* column : columns) row.amount(column);
}

Measurement time_in(const MeasuredRow& row, const char* column, Parts parts, unsigned host_launches) {
  Measurement time;
  time.quantity = column;
  time.measured = row.amount(column);
  time.parts = std::move(parts);
  time.host_launches = host_launches;
  return time;
}

std::string unaligned_depth(const MeasuredRow& row) {
  constexpr std::uint64_t alignment = 8;
  const std::uint64_t depth = row.count("K", 1, longest_dimension);
  return depth % alignment == 0 ? "" : fmt::format("K {} is no multiple of {}", depth, alignment);
}

std::string unsteady(const MeasuredRow& row, const char* median, const char* shortest) {
  constexpr double most = 1.15;
  const double ratio = row.amount(median) / row.amount(shortest);
  return ratio <= most ? "" : fmt::format("{} is {:.2f} times {}, more than {}", median, ratio, shortest, most);
}

}  // namespace t3vp
