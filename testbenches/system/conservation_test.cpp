// Every byte is sent once, every update counted once.
#include <catch2/catch.hpp>

#include "system/platform_run.h"
#include "system/ring_geometry.h"

namespace t3vp::test::conservation_test {

namespace {

Settings settings_of(const RingGeometry& ring, const std::string& method) {
  return gemm(ring.rows, ring.columns, 64) +
         Settings{on_small_system(), "gpus=" + std::to_string(ring.gpus), "method=" + method, "data=timing-only",
                  ring.element_bytes == 4 ? "workload.gemm.element=fp32" : "workload.gemm.element=fp16"};
}

std::string gpu(std::uint32_t g, const char* name) { return "gpu" + std::to_string(g) + "." + name; }

RingGeometry ragged_ring() {
  return GENERATE(RingGeometry{2, 450, 330, 2}, RingGeometry{3, 130, 70, 4}, RingGeometry{5, 450, 330, 2},
                  RingGeometry{8, 333, 777, 2});
}

/// Rows and tiles of whole 32-byte accesses, so that bytes of DRAM are bytes of tensors.
RingGeometry aligned_ring() {
  return GENERATE(RingGeometry{2, 256, 320, 2}, RingGeometry{3, 256, 320, 2}, RingGeometry{5, 250, 400, 2},
                  RingGeometry{8, 300, 336, 4});
}

}  // namespace

TEST_CASE("a link carries all chunks but one in each of the two collectives, to the byte") {
  const RingGeometry ring = ragged_ring();
  const auto chunks = ring.chunks();
  for (const char* method : {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"}) {
    CAPTURE(ring.gpus, ring.rows, method);
    const Run run = Run::of_platform(settings_of(ring, method));
    std::size_t seen = 0;
    for (const auto& link : run.report()["links"]) {
      const auto from = link["from"].get<std::uint32_t>(), to = link["to"].get<std::uint32_t>();
      const auto payload = link["payload_bytes"].get<std::uint64_t>();
      if (to != ring.previous(from)) {
        REQUIRE(payload == 0);
        continue;
      }
      ++seen;
      // Its own chunk stays in the reduce-scatter, the previous GPU's need not go there in the all-gather.
      const std::uint64_t expected = 2 * ring.bytes() - chunks[from].bytes - chunks[to].bytes;
      REQUIRE(payload == expected);
      const auto wire = link["wire_bytes"].get<std::uint64_t>();
      REQUIRE(wire >= payload);  // signals are on the wire too
    }
    REQUIRE(seen == ring.gpus);
  }
}

TEST_CASE(
    "the Tracker triggers once for each wavefront tile that a GPU reduces, the DMA engine sends all but the last") {
  const RingGeometry ring = ragged_ring();
  const auto chunks = ring.chunks();
  std::uint64_t tiles = 0;
  for (const auto& chunk : chunks) tiles += chunk.wavefront_tiles;
  for (const char* method : {"t3", "t3-mca"}) {
    const Run run = Run::of_platform(settings_of(ring, method));
    for (std::uint32_t g = 0; g < ring.gpus; ++g) {
      CAPTURE(ring.gpus, g);
      const auto& first = chunks[ring.first_of(g)];
      const auto figure = [&](const char* name) { return static_cast<std::uint64_t>(run.statistic(gpu(g, name))); };
      REQUIRE(figure("tracker.triggers") == tiles - first.wavefront_tiles);
      REQUIRE(figure("output_map.mapped_bytes") == first.bytes);
      REQUIRE(figure("dma.bytes") == ring.bytes() - first.bytes - chunks[g].bytes);
      REQUIRE(run.statistic(gpu(g, "tracker.reloads")) <= run.statistic(gpu(g, "tracker.spills")));
    }
  }
}

TEST_CASE("the Tracker triggers at no other time") {
  const RingGeometry ring{4, 450, 330, 2};
  for (const char* method : {"sequential", "ideal-overlap", "ideal-rs-nmc"})
    REQUIRE(Run::of_platform(settings_of(ring, method)).report()["tracker"]["triggers"] == 0);
}

TEST_CASE(
    "fused, an update is counted once: N - 1 chunks of the own GEMM, N - 1 of the neighbour, and N - 2 are read") {
  const RingGeometry ring = aligned_ring();
  const double bytes = static_cast<double>(ring.bytes()), n = ring.gpus;
  for (const char* method : {"t3", "t3-mca"}) {
    CAPTURE(ring.gpus, method);
    const Run run = Run::of_platform(settings_of(ring, method));
    CHECK(run.dram_bytes("gemm_write") == Approx(bytes * (n - 1) / n));
    CHECK(run.dram_bytes("rs_write") == Approx(bytes * (n - 1) / n));
    CHECK(run.dram_bytes("rs_read") == Approx(bytes * (n - 2) / n));
    CHECK(run.dram_bytes("ag_read") == Approx(bytes * (n - 1) / n));
    CHECK(run.dram_bytes("ag_write") == Approx(bytes * (n - 1) / n));
    CHECK(run.dram_bytes("setup") == Approx(bytes));
    double updates = 0;
    for (std::uint32_t g = 0; g < ring.gpus; ++g) updates += run.statistic(gpu(g, "dram.updates"));
    CHECK(updates * 32 == Approx(2 * bytes * (n - 1)));
  }
}

TEST_CASE("a staged reduce-scatter reads 2N - 1 chunks and writes N when nothing is cached") {
  const RingGeometry ring = aligned_ring();
  const double bytes = static_cast<double>(ring.bytes()), n = ring.gpus;
  CAPTURE(ring.gpus);
  const Run run = Run::of_platform(settings_of(ring, "ideal-overlap"));
  CHECK(run.dram_bytes("gemm_write") == Approx(bytes));
  CHECK(run.dram_bytes("rs_read") == Approx(bytes * (2 * n - 1) / n));
  CHECK(run.dram_bytes("rs_write") == Approx(bytes));
  CHECK(run.dram_bytes("ag_read") == Approx(bytes * (n - 1) / n));
  CHECK(run.dram_bytes("ag_write") == Approx(bytes * (n - 1) / n));
}

TEST_CASE("a near-memory reduce-scatter reads and updates N - 1 chunks") {
  const RingGeometry ring = aligned_ring();
  const double bytes = static_cast<double>(ring.bytes()), n = ring.gpus;
  CAPTURE(ring.gpus);
  const Run run = Run::of_platform(settings_of(ring, "ideal-rs-nmc"));
  CHECK(run.dram_bytes("gemm_write") == Approx(bytes));
  CHECK(run.dram_bytes("rs_read") == Approx(bytes * (n - 1) / n));
  CHECK(run.dram_bytes("rs_write") == Approx(bytes * (n - 1) / n));
}

TEST_CASE("a GEMM reads its operands from memory at least once, and its tiles' operands at most once each") {
  const RingGeometry ring = aligned_ring();
  const std::uint32_t k = 64, down = (ring.rows + 63) / 64, across = (ring.columns + 63) / 64;
  const double once = static_cast<double>(k) * (ring.rows + ring.columns) * ring.element_bytes;
  const double per_tile = static_cast<double>(k) *
                          (static_cast<double>(ring.rows) * across + static_cast<double>(ring.columns) * down) *
                          ring.element_bytes;
  for (const char* method : {"sequential", "t3", "ideal-overlap"}) {
    const double read = Run::of_platform(settings_of(ring, method)).dram_bytes("gemm_read");
    CHECK(read >= once);
    CHECK(read <= per_tile);
  }
}

}  // namespace t3vp::test::conservation_test
