// contention.csv, known_contention.csv, contention_library.csv: a GEMM beside something that keeps memory busy.
#include <fmt/format.h>

#include "experiment/measured_known_gemm.h"
#include "experiment/measured_runs.h"
#include "io/json_document.h"
#include "workloads/shared/models_file.h"

namespace t3vp {
namespace {

constexpr std::uint64_t most_units = 511;
/// Two GEMMs run in each of these runs, and a stream beside them.
constexpr Effort effort_beside{1, 80e9};
/// Bytes of each workgroup in the stream's timed kernel, of which 7 of 8 are timed; the fewest where nothing is. The
/// timed part outlasts a round of the GEMM's workgroups, so that it meets loads and stores as often as all of the GEMM.
constexpr std::uint64_t timed_bytes = 2621440, untimed_bytes = 65536;

/// A kernel that streams beside a GEMM.
struct Stream {
  std::string kind = "read";
  std::uint64_t units = 0;
  std::uint64_t in_flight = 4096;        ///< bytes of a workgroup
  std::uint64_t footprint = 1ULL << 30;  ///< bytes
  std::uint64_t timed = timed_bytes;
};

/// Whole blocks in flight by which a workgroup alone comes nearest to the bandwidth that stream_sms.csv measured on few
/// compute units.
Stream stream_of(const std::string& kind, std::uint64_t units) {
  constexpr std::uint64_t in_cache = 512 << 10;
  if (kind == "copy") return {"copy", units, 14336};
  if (kind == "write") return {"write", units, 8192};
  if (kind == "update_f32") return {"update", units, 14336};
  if (kind == "read") return {"read", units, 12288};
  return {"read", units, 8192, in_cache};
}

/// Bytes that such a kernel moves as the file counts them, of the difference of its timed parts.
double streamed_bytes(std::uint64_t units) { return static_cast<double>(units * (timed_bytes - timed_bytes / 8)); }

/// `gemm_keys` are keys of the GEMM as JSON. Warm, as of GEMMs that were repeated back to back.
Settings gemm_beside(const GemmInRow& gemm, const std::string& gemm_keys, const Stream& stream) {
  const Settings run = {
      "method=beside", "gpus=1",
      fmt::format(R"(workload={{"gemm": {}, "stream": {{"kind": "{}", "compute_units": {}, "in_flight": {}, )"
                  R"("footprint": {}, "timed": {}}}}})",
                  gemm_json(gemm, gemm_keys), stream.kind, stream.units, stream.in_flight, stream.footprint,
                  stream.timed),
      fast_memory};
  return stream.kind == "update" ? joined(run, Settings{atomic_cache}) : run;
}

/// Settings of this row's GEMM beside a stream.
using SettingsBeside = std::function<Settings(const GemmInRow&, const Stream&)>;

Settings known_gemm_beside(const GemmInRow& gemm, const Stream& stream, const TileInRow& tile, std::uint64_t group) {
  return joined(gemm_beside(gemm, known_keys(gemm, tile, group), stream), known_system);
}

Settings library_gemm_beside(const GemmInRow& gemm, const Stream& stream) {
  return gemm_beside(gemm, library_keys(gemm), stream);
}

/// A stream in place of other GPUs' traffic holds compute units from the start. The GEMM's list of tiles is for the
/// rest.
Settings library_gemm_beside_stand_in(const GemmInRow& gemm, const Stream& stream) {
  return gemm_beside(gemm, library_keys(gemm, h200_compute_units - stream.units), stream);
}

/// The GEMM's time beside the stream, of which a deep GEMM is simulated with a smaller K.
Parts time_beside(const GemmInRow& gemm, const Stream& stream, const SettingsBeside& settings) {
  return by_depth(
      gemm, [&](const GemmInRow& one) { return settings(one, stream); }, "time_ns.gemm", effort_beside);
}

Measurement bandwidth_in(const MeasuredRow& row, const GemmInRow& gemm, const Stream& stream,
                         const SettingsBeside& settings) {
  Measurement rate = time_in(row, "stream_GBps_beside", {{{}, "", streamed_bytes(stream.units)}});
  rate.unit = "GB/s";
  const Settings run =
      by_depth(
          gemm, [&](const GemmInRow& one) { return settings(one, stream); }, "time_ns.stream", effort_beside)
          .front()
          .settings;
  rate.divided_by = {{run, "time_ns.stream"}, {run, "time_ns.stream_start", -1}};
  return rate;
}

std::vector<Measurement> values_beside(const MeasuredRow& row, const char* units, const SettingsBeside& settings) {
  const std::string& kind = row.name("kind", {"read", "copy", "write", "update_f32", "in L2 (512 KiB read)"});
  const Stream stream = stream_of(kind, row.count(units, 1, most_units));
  const GemmInRow gemm = gemm_of(row);
  return {time_in(row, "gemm_alone_us", time_beside(gemm, {}, settings)),
          time_in(row, "gemm_beside_us", time_beside(gemm, stream, settings)),
          bandwidth_in(row, gemm, stream, settings)};
}

std::vector<Measurement> known_values_in(const MeasuredRow& row) {
  const TileInRow tile = tile_of(row);
  const std::uint64_t group = group_of(row);
  return values_beside(row, "sms_taken", [&](const GemmInRow& gemm, const Stream& stream) {
    return known_gemm_beside(gemm, stream, tile, group);
  });
}

std::vector<Measurement> library_values_in(const MeasuredRow& row) {
  return values_beside(row, "sms_left_out", library_gemm_beside);
}

/// Reads the columns model, sublayer and tp (T3 Table 2).
GemmInRow sublayer_of(const MeasuredRow& row) {
  const Document models = models_of({"", "", nlohmann::json::object(), {}});
  const nlohmann::json &all = models.content.at("models"), &sublayers = models.content.at("sublayers");
  std::vector<std::string> names;
  for (const auto& model : all.items()) names.push_back(model.key());
  const nlohmann::json& model = all.at(row.name("model", names));
  const bool transposed = transposes_b(row);
  const auto hidden = model.at("hidden").get<std::uint64_t>();
  const std::uint64_t depth = sublayers.at(row.text("sublayer")).at("k_per_hidden").get<std::uint64_t>() * hidden;
  const std::uint64_t degree = row.count("tp", 1, depth);
  if (depth % degree != 0) row.reject("tp", fmt::format("a divisor of {}", depth));
  return {model.at("sequence").get<std::uint64_t>() * model.at("batch").get<std::uint64_t>(), hidden, depth / degree,
          transposed};
}

/// Streams stand for what other GPUs do here: copies of 390 GB/s by DMA engines, which are read here and written here,
/// and the 24 workgroups of a reduce-scatter of 260 GB/s.
std::vector<Measurement> other_gpus_values_in(const MeasuredRow& row) {
  const Stream copies{"copy", 4, 40960, 1ULL << 30, untimed_bytes},
      reduce_scatter{"copy", 24, 4096, 1ULL << 30, untimed_bytes};
  row.count("gpus", 2, most_measured_gpus);
  const GemmInRow gemm = sublayer_of(row);
  return {time_in(row, "gemm_alone_us", time_beside(gemm, {}, library_gemm_beside_stand_in)),
          time_in(row, "gemm_with_peer_dma_us", time_beside(gemm, copies, library_gemm_beside_stand_in)),
          time_in(row, "gemm_with_rs_us", time_beside(gemm, reduce_scatter, library_gemm_beside_stand_in))};
}

std::string unaligned_sublayer(const MeasuredRow& row) {
  const std::uint64_t depth = sublayer_of(row).k;
  return depth % 8 == 0 ? "" : fmt::format("K {} is no multiple of 8", depth);
}

}  // namespace

MeasuredFile measured_contention() {
  return {"contention.csv",
          {"gpus", "model", "sublayer", "tp", "gemm_alone_us", "gemm_with_peer_dma_us", "gemm_with_rs_us"},
          other_gpus_values_in,
          unaligned_sublayer};
}

MeasuredFile measured_known_contention() {
  return {"known_contention.csv",
          {"model", "sublayer", "tp", "M", "N", "K", "transpose_b", "tile_m", "tile_n", "group_m", "sms_taken", "kind",
           "gemm_alone_us", "gemm_beside_us", "stream_GBps_beside"},
          known_values_in,
          unaligned_depth};
}

MeasuredFile measured_library_contention() {
  return {"contention_library.csv",
          {"model", "sublayer", "tp", "M", "N", "K", "transpose_b", "sms_left_out", "kind", "gemm_alone_us",
           "gemm_beside_us", "stream_GBps_beside"},
          library_values_in,
          unaligned_depth};
}

}  // namespace t3vp
