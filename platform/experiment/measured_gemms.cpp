// gemm.csv, decode.csv: GEMMs alone, fp16, of a library (cuBLAS) on one GPU. gemm_dram_bytes.csv: their DRAM traffic.
#include <fmt/format.h>

#include "experiment/measured_known_gemm.h"
#include "experiment/measured_runs.h"

namespace t3vp {
namespace {

Settings cold_library_gemm(const GemmInRow& gemm) { return joined(library_gemm(gemm), dirty_cache); }

std::vector<Measurement> gemm_times_in(const MeasuredRow& row) {
  check_amounts(row, {"us_min", "us_max"});
  row.count("tp", 1, longest_dimension);
  const bool transposed = transposes_b(row);
  return {time_in(row, "us", by_depth(gemm_of(row, transposed), cold_library_gemm, "time_ns.gemm"), 1)};
}

/// Tokens by weights.
std::vector<Measurement> decoding_times_in(const MeasuredRow& row) {
  check_amounts(row, {"us_min", "us_max"});
  return {time_in(row, "us", by_depth(gemm_of(row, true), cold_library_gemm, "time_ns.gemm"))};
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

}  // namespace

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
