// The accuracy that was reached, guarded. Legacy memory: the same scheduler and map as GPGPU-Sim's channel, so the
// figures agree to their last digits but where random traces come from another generator. Pseudo-channels: inside the
// band of Ramulator and DRAMSys, which schedule differently from each other.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "dram/reference_figures.h"

namespace t3vp::test::accuracy_test {

using namespace t3vp::dram;

namespace {

struct Band {
  double low = 1e30, high = -1e30;
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

struct Bands {
  Band bandwidth, latency, hits;
};

std::map<std::string, Bands> bands_of(const std::string& config) {
  std::map<std::string, Bands> bands;
  for (const ReferenceFigures& reference : reference_figures()) {
    if (reference.config != config) continue;
    Bands& band = bands[reference.trace];
    band.bandwidth.include(reference.bandwidth_GBps);
    band.hits.include(reference.row_hit_rate);
    if (reference.latency_mean_ns) band.latency.include(*reference.latency_mean_ns);
  }
  return bands;
}

void require_equal_to_gpgpu_sim(const std::string& config) {
  for (const ReferenceFigures& reference : reference_figures()) {
    if (reference.config != config) continue;
    const ReplayResult result = replay_reference(config, reference.trace);
    CAPTURE(config, reference.trace);
    CHECK(result.bandwidth_GBps == Approx(reference.bandwidth_GBps).epsilon(0.003));
    CHECK(result.row_hit_rate == Approx(reference.row_hit_rate).margin(0.001));
    if (!reference.latency_mean_ns) continue;
    CHECK(result.read_latency_mean_ns == Approx(*reference.latency_mean_ns).epsilon(0.005));
    CHECK(result.read_latency_p50_ns == Approx(*reference.latency_p50_ns).epsilon(0.05));
    CHECK(result.read_latency_p99_ns == Approx(*reference.latency_p99_ns).epsilon(0.04));
  }
}

void require_inside_the_band(const std::string& config) {
  for (const auto& [trace, band] : bands_of(config)) {
    const ReplayResult result = replay_reference(config, trace);
    CAPTURE(config, trace);
    CHECK(result.bandwidth_GBps > band.bandwidth.low * 0.95);
    CHECK(result.bandwidth_GBps < band.bandwidth.high * 1.05);
    CHECK(result.row_hit_rate > band.hits.low - 0.05);
    CHECK(result.row_hit_rate < band.hits.high + 0.05);
    if (result.reads == 0) continue;
    CHECK(result.read_latency_mean_ns > band.latency.low * 0.85);
    CHECK(result.read_latency_mean_ns < band.latency.high * 1.15);
  }
}

}  // namespace

TEST_CASE("Legacy memory, map bgint: GPGPU-Sim's figures") { require_equal_to_gpgpu_sim("accelsim1g_bgint"); }
TEST_CASE("Legacy memory, map accel: GPGPU-Sim's figures") { require_equal_to_gpgpu_sim("accelsim1g_accel"); }
TEST_CASE("Legacy memory, 256 entries: GPGPU-Sim's figures") { require_equal_to_gpgpu_sim("accelsim1g_bgint_q256"); }
TEST_CASE("Legacy memory, CCDL 4, map bgint: GPGPU-Sim's figures") {
  require_equal_to_gpgpu_sim("accelsim1g_ccdl4_bgint");
}
TEST_CASE("Legacy memory, CCDL 4, map accel: GPGPU-Sim's figures") {
  require_equal_to_gpgpu_sim("accelsim1g_ccdl4_accel");
}

TEST_CASE("Pseudo-channels: inside the band of Ramulator and DRAMSys") { require_inside_the_band("common_bgint"); }
TEST_CASE("Pseudo-channels, 320 entries: inside the band") { require_inside_the_band("common_bgint_q320"); }
TEST_CASE("Pseudo-channels without refresh: inside the band") { require_inside_the_band("common_bgint_noref"); }

TEST_CASE("Near-memory updates cost what writes cost in GPGPU-Sim with CCDL 4") {
  for (const char* config : {"accelsim1g_ccdl4_bgint", "accelsim1g_ccdl4_accel"})
    for (const ReferenceFigures& reference : reference_figures())
      if (reference.config == config && reference.trace == "seq_write")
        CHECK(replay_reference(config, "seq_write", true).bandwidth_GBps ==
              Approx(reference.bandwidth_GBps).epsilon(0.003));
}

}  // namespace t3vp::test::accuracy_test
