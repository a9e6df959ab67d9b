// gemm.csv, decode.csv: GEMMs alone, fp16, of a library (cuBLAS) on one GPU. gemm_dram_bytes.csv: their DRAM traffic.
// energy_gemm.csv: their energy.
#include <fmt/format.h>

#include "experiment/measured_known_gemm.h"
#include "experiment/measured_runs.h"

namespace t3vp {
namespace {

/// Its GEMMs took turns with what emptied the cache, for minutes. The power limit then holds a clock below that of one
/// alone: in energy.csv it is 1.515 GHz for bf16 and 1.365 GHz for fp16, back to back.
constexpr const char* clock_of_turns = "system.power.matrix_clock_GHz=1.515";

Settings cold_library_gemm(const GemmInRow& gemm) {
  return joined(joined(library_gemm(gemm), dirty_cache), Settings{clock_of_turns});
}

std::vector<Measurement> gemm_times_in(const MeasuredRow& row) {
  check_amounts(row, {"us_min", "us_max"});
  row.count("tp", 1, longest_dimension);
  const bool transposed = transposes_b(row);
  return {time_in(row, "us", by_depth(gemm_of(row, transposed), cold_library_gemm, "time_ns.gemm"), 1)};
}

/// Time of a CUDA graph's launch beside the kernel's own, in ns: the first row of decode.csv without its simulated
/// GEMM.
constexpr double decoding_launch_ns = 6800;

/// Tokens by weights, as a graph. By then the memory has taken what the cache was emptied by
/// (docs/validation/h200.md).
std::vector<Measurement> decoding_times_in(const MeasuredRow& row) {
  check_amounts(row, {"us_min", "us_max"});
  return {
      time_in(row, "us", with_launch(by_depth(gemm_of(row, true), library_gemm, "time_ns.gemm"), decoding_launch_ns))};
}

Measurement bytes_in(const MeasuredRow& row, const char* column, Parts parts) {
  Measurement bytes = time_in(row, column, std::move(parts));
  bytes.unit = "bytes";
  return bytes;
}

std::vector<Measurement> traffic_in(const MeasuredRow& row) {
  check_amounts(row, {"l2_read_sectors", "l2_write_sectors", "ns"});
  const GemmInRow gemm = gemm_of(row);
  const auto settings = [&](const GemmInRow& one) {
    return row.name("kernel", {"known", "library"}) == "known" ? known_gemm(one, tile_of(row), group_of(row))
                                                               : library_gemm(one);
  };
  settings(gemm);  // which checks the columns
  return {bytes_in(row, "dram_read_bytes", by_depth(gemm, settings, "dram_bytes.gemm_read")),
          bytes_in(row, "dram_write_bytes", by_depth(gemm, settings, "dram_bytes.gemm_write"))};
}

/// The board without work, by energy.csv.
constexpr double idle_joules_per_ns = 122.8e-9;

/// The GEMMs were repeated back to back for a second, so that the clock had settled. One with a clean cache is
/// simulated, whose clock settles in short windows.
Settings settled_library_gemm(const GemmInRow& gemm) {
  return joined(library_gemm(gemm), {"system.power.window_us=5"});
}

std::vector<Measurement> energy_in(const MeasuredRow& row) {
  check_amounts(row, {"seconds", "mhz", "watts"});
  row.count("tp", 1, longest_dimension);
  const GemmInRow gemm = gemm_of(row);
  Parts parts = by_depth(gemm, settled_library_gemm, "gpu0.power.dynamic_energy");
  for (PartOfValue& part : by_depth(gemm, settled_library_gemm, "time_ns.gemm")) {
    part.times *= idle_joules_per_ns;
    parts.push_back(std::move(part));
  }
  Measurement energy = time_in(row, "joules", std::move(parts));
  energy.unit = "J";
  return {energy};
}

}  // namespace

MeasuredFile measured_gemm_energy() {
  return {"energy_gemm.csv",
          {"model", "sublayer", "tp", "M", "N", "K", "transpose_b", "joules", "seconds", "mhz", "watts"},
          energy_in,
          unaligned_depth};
}

MeasuredFile measured_gemms() {
  return {
      "gemm.csv", {"model", "tp", "sublayer", "M", "N", "K", "us", "us_min", "us_max"}, gemm_times_in, unaligned_depth};
}

MeasuredFile measured_decoding() {
  return {"decode.csv", {"shape", "M", "N", "K", "us", "us_min", "us_max"}, decoding_times_in, unaligned_depth};
}

MeasuredFile measured_gemm_traffic() {
  return {"gemm_dram_bytes.csv",
          {"kernel", "model", "sublayer", "tp", "M", "N", "K", "transpose_b", "tile_m", "tile_n", "group_m",
           "dram_read_bytes", "dram_write_bytes", "l2_read_sectors", "l2_write_sectors", "ns"},
          traffic_in,
          unaligned_depth};
}

}  // namespace t3vp
