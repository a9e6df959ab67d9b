// What files of measured values share: GEMMs and collectives in rows, the runs that predict them, rows that are left
// out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiment/measurements.h"

namespace t3vp {

using Settings = std::vector<std::string>;
using Parts = std::vector<PartOfValue>;

/// The cache adds atomic updates, at the rate of stream_sms.csv: 1.44 TB/s over 128 banks.
inline constexpr const char* atomic_cache = "system.cache.atomic_bytes_per_cycle=5.7";
inline constexpr const char* fast_memory = "system.memory.model=loosely-timed";
/// The largest size that a row may have along a dimension.
inline constexpr std::uint64_t longest_dimension = 1 << 20;
inline constexpr std::uint64_t most_measured_gpus = 256;

template <typename T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct GemmInRow {
  std::uint64_t m, n, k;
  bool transpose_b;
};
/// Reads the columns M, N and K.
GemmInRow gemm_of(const MeasuredRow& row, bool transpose_b);
/// The same with B transposed as the column `transpose_b` says.
GemmInRow gemm_of(const MeasuredRow& row);

/// Reads the column `sublayer`. OP and FC-2 were measured with B transposed, as in the forward pass (T3 5.2), and FC-1
/// and IP with B not transposed.
bool transposes_b(const MeasuredRow& row);

/// The value of the key workload.gemm; `more` are further keys of it as JSON: R"("tile": "128x128")".
std::string gemm_json(const GemmInRow& gemm, const std::string& more = "");
/// A GEMM alone on one GPU.
Settings gemm_alone(const GemmInRow& gemm, const std::string& more = "");

inline constexpr std::uint64_t h200_compute_units = 132;

/// As cuBLAS runs it. Workgroups take eight tiles along the shorter side of the output together, CUTLASS's widest
/// swizzle (get_log_swizzle_size), and go along the longer side. They are persistent, one on each compute unit.
Settings library_gemm(const GemmInRow& gemm);
/// The same keys of workload.gemm, as JSON, with so many workgroups.
std::string library_keys(const GemmInRow& gemm, std::uint64_t workgroups = h200_compute_units);
/// The cache is full of modified lines of another buffer, as in files whose L2 was emptied by writing one.
inline const Settings dirty_cache{"workload.cache_at_start=dirty"};

/// How much of a GEMM is simulated as it is: multiply-adds of all GPUs.
struct Effort {
  std::uint64_t gpus = 1;
  double most_products = 240e9;
};

/// A figure of `all` things that cost the same, on the line through the figures of `more` and of `few` of them.
Parts on_line(std::uint64_t all, std::uint64_t more, std::uint64_t few,
              const std::function<Settings(std::uint64_t)>& settings, const std::string& figure);

/// A figure of a run of the GEMM. Where that run would be long, it is on the line through the figures of two GEMMs with
/// a smaller K. `settings` returns the run's settings.
Parts by_depth(const GemmInRow& gemm, const std::function<Settings(const GemmInRow&)>& settings,
               const std::string& figure, const Effort& effort = {});

/// The same with the time of a launch that no run has, in ns.
Parts with_launch(Parts parts, double ns);

/// A standalone collective of a library, whose rings go round all GPUs. The library's all-gather and all-to-all receive
/// in a buffer and copy out of it, which no kernel here does. A reduce-scatter of the same buffer stands for them: it
/// moves as many bytes over links, receives in a buffer too, and reads and writes as much of the output.
Settings collective_alone(const std::string& op, std::uint64_t bytes, std::uint64_t gpus);

/// Columns that are not simulated, but have to be numbers above 0.
void check_amounts(const MeasuredRow& row, const std::vector<const char*>& columns);

/// A time in us of these parts, by the name of its column.
Measurement time_in(const MeasuredRow& row, const char* column, Parts parts, unsigned host_launches = 0);

/// Rows whose K is no multiple of 8 are left out: the library had other kernels for them.
std::string unaligned_depth(const MeasuredRow& row);
/// Rows whose median is far above their shortest time are left out: something else ran beside them.
std::string unsteady(const MeasuredRow& row, const char* median, const char* shortest);

}  // namespace t3vp
