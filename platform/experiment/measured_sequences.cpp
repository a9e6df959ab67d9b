// sequential.csv, decomposed.csv, fused_stores.csv: a sub-layer's GEMM and collectives of all GPUs, one after the other
// or overlapped.
#include <fmt/format.h>

#include "experiment/measured_known_gemm.h"
#include "experiment/measured_runs.h"

namespace t3vp {
namespace {

constexpr std::uint64_t element_bytes = 2;

std::uint64_t gpus_of(const MeasuredRow& row) { return row.count("gpus", 2, most_measured_gpus); }

Parts library_time(const GemmInRow& gemm) { return by_depth(gemm, library_gemm, "time_ns.gemm"); }

/// The output's reduce-scatter or all-gather; `columns` of the gathered matrix, which has M rows.
Parts collective(const char* op, const GemmInRow& gemm, std::uint64_t columns, std::uint64_t gpus) {
  return {{collective_alone(op, gemm.m * columns * element_bytes, gpus), "time_ns.collective"}};
}

/// A rival's run; `rival` and `gemm_keys` are keys as JSON, `system` further settings.
struct Rival {
  const char *method, *figure;
  std::string rival_keys, gemm_keys;
  Settings system;
};

Settings settings_of(const Rival& rival, const GemmInRow& gemm, std::uint64_t gpus) {
  return joined(
      {fmt::format("method={}", rival.method), fmt::format("gpus={}", gpus),
       fmt::format(R"(workload={{"gemm": {}, "rival": {{{}}}}})", gemm_json(gemm, rival.gemm_keys), rival.rival_keys),
       fast_memory},
      rival.system);
}

Parts by_rival(const Rival& rival, const GemmInRow& gemm, std::uint64_t gpus) {
  return by_depth(gemm, [&](const GemmInRow& one) { return settings_of(rival, one, gpus); }, rival.figure,
                  {gpus, 1000e9});
}

/// A run with millions of packets: on the line through those of two outputs with fewer rows, one and two tiles of each
/// GPU.
Parts by_rows(const Rival& rival, const GemmInRow& gemm, std::uint64_t gpus) {
  constexpr std::uint64_t tile_rows = 128;
  const auto settings = [&](std::uint64_t rows) {
    GemmInRow with_rows = gemm;
    with_rows.m = rows;
    return settings_of(rival, with_rows, gpus);
  };
  const std::uint64_t few = tile_rows * gpus, more = 2 * few;
  if (gemm.m <= more) return {{settings(gemm.m), rival.figure}};
  return on_line(gemm.m, more, few, settings, rival.figure);
}

std::vector<Measurement> sequential_times_in(const MeasuredRow& row) {
  const std::uint64_t gpus = gpus_of(row);
  const GemmInRow shape = gemm_of(row, transposes_b(row));
  const Parts gemm = library_time(shape), scatter = collective("reduce-scatter", shape, shape.n, gpus),
              gather = collective("all-gather", shape, shape.n, gpus);
  return {time_in(row, "gemm_us", gemm, 1), time_in(row, "rs_us", scatter, 1), time_in(row, "ag_us", gather, 1),
          time_in(row, "gemm_rs_us", joined(gemm, scatter), 1),
          time_in(row, "gemm_rs_ag_us", joined(joined(gemm, scatter), gather), 1)};
}

/// PyTorch's asynchronous tensor parallelism. Before its all-gather the GPUs share A, which has K columns.
std::vector<Measurement> decomposed_times_in(const MeasuredRow& row) {
  const std::uint64_t gpus = gpus_of(row);
  const GemmInRow shape = gemm_of(row, transposes_b(row));
  const Parts gemm = library_time(shape);
  return {
      time_in(row, "fused_gemm_rs_us", by_rival({"decomposed", "time_ns.fused", "", "", {}}, shape, gpus), 1),
      time_in(row, "gemm_then_rs_us", joined(gemm, collective("reduce-scatter", shape, shape.n, gpus)), 1),
      time_in(row, "fused_ag_gemm_us", by_rival({"decomposed-gather", "time_ns.total", "", "", {}}, shape, gpus), 1),
      time_in(row, "ag_then_gemm_us", joined(collective("all-gather", shape, shape.k, gpus), gemm), 1)};
}

/// Keys of the GEMM whose stores go to owners. Its results leave as the known kernel's.
const std::string stored_fp16 = fmt::format(R"("tile": "128x256", "store_bytes": {})", known_store_bytes);
const std::string stored_fp32 = stored_fp16 + R"(, "element": "fp32")";
/// An atomic update of two fp16 elements is a packet of its own.
const Settings half_updates{"system.links.half_update_bytes=4"};

/// Workgroups in row order, or from the next GPU's rows on.
constexpr const char* in_order = R"("order": "natural")";
constexpr const char* staggered = R"("order": "rotated")";

std::vector<Measurement> fused_times_in(const MeasuredRow& row) {
  check_amounts(row, {"barrier_us"});
  const std::uint64_t gpus = gpus_of(row);
  const GemmInRow shape = gemm_of(row, transposes_b(row));
  const Parts library = library_time(shape), scatter = collective("reduce-scatter", shape, shape.n, gpus);
  const auto local = [](const GemmInRow& one) { return known_gemm(one, {128, 256}, 1); };
  const auto stores = [&](const char* order) {
    return by_rival({"stored-tiles", "time_ns.gemm", order, stored_fp16, known_system}, shape, gpus);
  };
  const auto adds = [&](const char* order) {
    return by_rival({"direct-update", "time_ns.fused", order, stored_fp32, known_system}, shape, gpus);
  };
  const auto half_adds = [&](const char* order) {
    return by_rows({"direct-update", "time_ns.fused", order, stored_fp16, joined(known_system, half_updates)}, shape,
                   gpus);
  };
  return {time_in(row, "gemm_cublas_us", library, 1),
          time_in(row, "gemm_local_us", by_depth(shape, local, "time_ns.gemm"), 1),
          time_in(row, "rs_us", scatter, 1),
          time_in(row, "gemm_then_rs_us", joined(library, scatter), 1),
          time_in(row, "gemm_peer_store_us", stores(in_order), 1),
          time_in(row, "gemm_peer_atomic_f32_us", adds(in_order), 1),
          time_in(row, "gemm_peer_atomic_f16_us", half_adds(in_order), 1),
          time_in(row, "gemm_peer_store_us_stag", stores(staggered), 1),
          time_in(row, "gemm_peer_atomic_f32_us_stag", adds(staggered), 1),
          time_in(row, "gemm_peer_atomic_f16_us_stag", half_adds(staggered), 1)};
}

}  // namespace

MeasuredFile measured_sequences() {
  return {"sequential.csv",
          {"gpus", "model", "sublayer", "M", "N", "K", "gemm_us", "rs_us", "ag_us", "gemm_rs_us", "gemm_rs_ag_us"},
          sequential_times_in,
          unaligned_depth};
}

MeasuredFile measured_decompositions() {
  return {"decomposed.csv",
          {"gpus", "model", "sublayer", "M", "N", "K", "fused_gemm_rs_us", "gemm_then_rs_us", "rel_err",
           "fused_ag_gemm_us", "ag_then_gemm_us"},
          decomposed_times_in,
          unaligned_depth};
}

MeasuredFile measured_fused_stores() {
  return {"fused_stores.csv",
          {"model", "sublayer", "gpus", "M", "N", "K", "rel_err_f32", "rel_err_f16", "gemm_cublas_us", "gemm_local_us",
           "rs_us", "gemm_then_rs_us", "gemm_peer_store_us", "gemm_peer_atomic_f32_us", "gemm_peer_atomic_f16_us",
           "gemm_peer_store_us_stag", "gemm_peer_atomic_f32_us_stag", "gemm_peer_atomic_f16_us_stag", "barrier_us"},
          fused_times_in,
          unaligned_depth};
}

}  // namespace t3vp
