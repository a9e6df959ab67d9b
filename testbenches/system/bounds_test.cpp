// Bounds and link figures by closed forms, to the byte, and the check that a bound which is beaten fails the run.
#include <catch2/catch.hpp>
#include <cmath>

#include "system/platform_run.h"
#include "system/ring_geometry.h"

namespace t3vp::test::bounds_test {

using Json = nlohmann::ordered_json;

namespace {

const char* const methods[] = {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"};
constexpr double link_GBps = 4, dram_GBps = 4 * 32;  // of small-4: four channels of 32 bytes a cycle
constexpr std::uint64_t ring_workgroups = 4, signal_bytes = 8;

bool is_fused(const std::string& method) { return method.rfind("t3", 0) == 0; }

Settings settings_of(const RingGeometry& ring, const std::string& method) {
  return gemm(ring.rows, ring.columns, 64) +
         Settings{on_small_system(), "gpus=" + std::to_string(ring.gpus), "method=" + method, "data=timing-only",
                  ring.element_bytes == 4 ? "workload.gemm.element=fp32" : "workload.gemm.element=fp16"};
}

/// In each step of a collective, every workgroup of a ring kernel signals the next GPU's workgroup that its share has
/// arrived.
std::uint64_t signals_of(const RingGeometry& ring, const std::string& method) {
  return (is_fused(method) ? 1 : 2) * (ring.gpus - 1) * ring_workgroups;
}

double bound(const Run& run, const char* name) { return run.report()["bounds"][name].get<double>(); }

double busiest_wire_bytes(const Run& run) {
  double busiest = 0;
  for (const Json& link : run.report()["links"]) busiest = std::max(busiest, link["wire_bytes"].get<double>());
  return busiest;
}

double tensor_bytes(const Run& run, const std::vector<std::string>& parts) {
  double sum = 0;
  for (const std::string& part : parts) sum += run.dram_bytes(part + "_read") + run.dram_bytes(part + "_write");
  return sum;
}

}  // namespace

TEST_CASE("a link's figures are its chunks, their signals and a header for each packet, whatever a header takes") {
  const RingGeometry ring =
      GENERATE(RingGeometry{2, 130, 70, 2}, RingGeometry{3, 130, 70, 4}, RingGeometry{5, 250, 330, 2});
  const auto chunks = ring.chunks();
  for (const char* method : methods) {
    std::vector<std::uint64_t> packets_without_headers;
    for (const std::uint64_t header : {0u, 1000u}) {
      CAPTURE(ring.gpus, method, header);
      const Run run =
          Run::of_platform(settings_of(ring, method) + Settings{"system.links.header_bytes=" + std::to_string(header)});
      REQUIRE(run.exit_code() == 0);
      std::vector<std::uint64_t> packets;
      for (const Json& link : run.report()["links"]) {
        const auto from = link["from"].get<std::uint32_t>(), to = link["to"].get<std::uint32_t>();
        if (to != ring.previous(from)) continue;
        // The barrier behind an isolated phase begins when the first GPU has ended.
        const std::uint64_t found = link["wire_bytes"];
        const std::uint64_t payload = 2 * ring.bytes() - chunks[from].bytes - chunks[to].bytes;
        std::uint64_t sent = link["packets"];
        std::uint64_t wire = payload + signals_of(ring, method) * signal_bytes + sent * header;
        if (run.report().value("isolated_phases", false) && found > wire) {
          const std::uint64_t of_barriers = (found - wire) / signal_bytes;
          REQUIRE(of_barriers <= ring.gpus);
          wire += of_barriers * signal_bytes;
          sent -= of_barriers;
        }
        packets.push_back(sent);
        REQUIRE(link["payload_bytes"] == payload);
        REQUIRE(link["wire_bytes"] == wire);
        REQUIRE(link["utilization"] == static_cast<double>(wire) / link_GBps / run.time("total"));
      }
      REQUIRE(packets.size() == ring.gpus);
      REQUIRE(bound(run, "link_ns") == busiest_wire_bytes(run) / link_GBps);
      REQUIRE(bound(run, "link_ns") <= run.time("total"));
      if (packets_without_headers.empty()) packets_without_headers = packets;
      REQUIRE(packets == packets_without_headers);
    }
  }
}

TEST_CASE("a packet is a wavefront tile, a block of a ring kernel or a signal") {
  const RingGeometry ring{4, 256, 256, 2};
  const std::uint64_t packet_bytes = 2048;  // a quarter of a tile's 64 rows of 64; a ring kernel's block
  for (const char* method : methods) {
    const Run run = Run::of_platform(settings_of(ring, method));
    for (const Json& link : run.report()["links"])
      REQUIRE(link["packets"] ==
              (link["to"] == ring.previous(link["from"])
                   ? link["payload_bytes"].get<std::uint64_t>() / packet_bytes + signals_of(ring, method)
                   : 0));
  }
}

TEST_CASE("slow links and large headers are used all the time and no more, and nothing beats them") {
  const char* const bandwidth = GENERATE("system.links.bandwidth_GBps=0.001", "system.links.bandwidth_GBps=1");
  for (const char* method : methods) {
    CAPTURE(bandwidth, method);
    const Run run = Run::of_platform(settings_of({4, 256, 512, 2}, method) +
                                     Settings{bandwidth, "simulate=mirror", "system.links.header_bytes=4096"});
    CAPTURE(run.diagnosis());
    REQUIRE(run.exit_code() == 0);
    REQUIRE(run.report()["links"][0]["utilization"] <= 1);
    REQUIRE(bound(run, "link_ns") <= run.time("total"));
    REQUIRE(bound(run, "link_ns") > 0.9 * run.time("total"));
  }
}

TEST_CASE("the compute bound is the GEMM's arithmetic at the rate of all compute units, and nothing without a GEMM") {
  const double flops_per_ns = 4 * 1024 * 0.75;
  for (const char* method : methods) {
    CAPTURE(method);
    const Run run = Run::of_platform(gemm(150, 130, 100) +
                                     Settings{on_small_system(), std::string("method=") + method, "data=timing-only"});
    REQUIRE(bound(run, "compute_ns") == 2.0 * 150 * 130 * 100 / flops_per_ns);
    REQUIRE(bound(run, "compute_ns") <= run.time("gemm"));
  }
  const Run without =
      Run::of_platform(gemm(150, 130, 100) + Settings{on_small_system(), "method=ideal-overlap", "data=timing-only",
                                                      R"(phases=["reduce-scatter", "all-gather"])"});
  REQUIRE(bound(without, "compute_ns") == 0);
}

TEST_CASE("the quantized compute bound is whole tiles of the compute unit with most of them and nothing beats it") {
  struct Shape {
    std::uint32_t m, n, k;
    std::uint64_t waves;  // of 4 compute units, with tiles of 64 x 64
  };
  const double k_tile_ns = 2 * 64 * 64 * 32 / (1024 * 0.75);
  for (const Shape& s :
       {Shape{150, 130, 96, 3}, Shape{256, 256, 64, 4}, Shape{257, 256, 64, 5}, Shape{130, 70, 100, 2}})
    for (const char* method : methods) {
      CAPTURE(s.m, s.n, s.k, method);
      const Run run = Run::of_platform(gemm(s.m, s.n, s.k) + Settings{on_small_system(), "gpus=2", "data=timing-only",
                                                                      std::string("method=") + method});
      const double k_tiles = s.k == 100 ? 3 + 4.0 / 32 : s.k / 32.0;
      // A K tile's time is a whole number of picoseconds.
      REQUIRE(bound(run, "compute_quantized_ns") ==
              Approx(static_cast<double>(s.waves) * k_tiles * k_tile_ns).epsilon(1e-5));
      REQUIRE(bound(run, "compute_quantized_ns") >= bound(run, "compute_ns") * (1 - 1e-5));
      REQUIRE(bound(run, "compute_quantized_ns") <= run.time("gemm"));
    }
  const Run without =
      Run::of_platform(gemm(150, 130, 100) + Settings{on_small_system(), "method=ideal-overlap", "data=timing-only",
                                                      R"(phases=["reduce-scatter", "all-gather"])"});
  REQUIRE(bound(without, "compute_quantized_ns") == 0);
}

TEST_CASE("a partial tile takes a compute unit as long as a whole one") {
  const auto gemm_ns = [](std::uint32_t m) {
    return Run::of_platform(gemm(m, 256, 2048) +
                            Settings{on_small_system(), "gpus=2", "data=timing-only", "method=sequential"})
        .time("gemm");
  };
  const double whole = gemm_ns(128), edge = gemm_ns(129), next = gemm_ns(192);
  const double tile_ns = 2.0 * 64 * 64 * 2048 / (1024 * 0.75);
  CHECK(edge > whole + 0.9 * tile_ns);  // a third wave of a row each
  CHECK(edge <= 1.02 * next);
}

TEST_CASE("with max_payload_bytes wire bytes have a header for each packet and bounds and times follow") {
  const RingGeometry ring{4, 256, 256, 2};
  for (const char* method : methods)
    for (const std::uint64_t payload : {64u, 128u, 4096u}) {
      CAPTURE(method, payload);
      const Run run = Run::of_platform(
          settings_of(ring, method) +
          Settings{"system.links.header_bytes=32", "system.links.max_payload_bytes=" + std::to_string(payload)});
      REQUIRE(run.exit_code() == 0);
      for (const Json& link : run.report()["links"]) {
        const std::uint64_t data = link["payload_bytes"], packets = link["packets"], wire = link["wire_bytes"];
        if (link["to"] != ring.previous(link["from"])) continue;
        const std::uint64_t signals = signals_of(ring, method);
        // A wavefront tile has rows of 128 bytes in an output of 512, a ring kernel's block 2 KiB of whole rows.
        const std::uint64_t scattered = is_fused(method) ? data / 2 : 0;
        REQUIRE(packets == scattered / std::min<std::uint64_t>(payload, 128) +
                               (data - scattered) / std::min<std::uint64_t>(payload, 2048) + signals);
        REQUIRE(wire == data + signals * signal_bytes + packets * 32);
        REQUIRE(link["utilization"] == static_cast<double>(wire) / link_GBps / run.time("total"));
      }
      REQUIRE(bound(run, "link_ns") == busiest_wire_bytes(run) / link_GBps);
      REQUIRE(bound(run, "link_ns") <= run.time("total"));
    }
}

TEST_CASE("the DRAM bound is every tensor byte that the DRAM moves from the first GPU's begin to the last one's end") {
  const RingGeometry ring = GENERATE(RingGeometry{4, 256, 512, 2}, RingGeometry{8, 256, 512, 4});
  for (const char* method : {"sequential", "t3", "t3-mca"}) {
    CAPTURE(ring.gpus, method);
    const Run run = Run::of_platform(settings_of(ring, method) + Settings{"simulate=mirror"});
    REQUIRE(bound(run, "dram_ns") == tensor_bytes(run, {"gemm", "rs", "ag"}) / dram_GBps);
  }
}

TEST_CASE(
    "fused, the DRAM bound is the operands, 4 (N - 1) chunks written or read of two collectives and N - 2 of DMA") {
  const double m = 256, n = 512, k = 64, gpus = GENERATE(2, 4, 8);
  const Run run = Run::of_platform(settings_of({static_cast<std::uint32_t>(gpus), 256, 512, 2}, "t3"));
  const double operands = (m * k + k * n) * 2, out = m * n * 2;  // the operands stay in the cache once read
  REQUIRE(bound(run, "dram_ns") == (operands + out * (4 * (gpus - 1) + gpus - 2) / gpus) / dram_GBps);
}

TEST_CASE("with ideal methods the DRAM bound counts the longer of two phases, and the all-gather when there is one") {
  const std::uint32_t k = GENERATE(32u, 2048u);  // the reduce-scatter moves more, the GEMM does
  const auto run_of = [&](const char* phases) {
    return Run::of_platform(gemm(256, 512, k) + Settings{on_small_system(), "method=ideal-rs-nmc", "data=timing-only",
                                                         "simulate=mirror", std::string("phases=") + phases});
  };
  const double out = 256 * 512 * 2, ring = 2 * out * 3 / 4 / dram_GBps;  // either collective reads and writes 3 of 4
  const Run gemm_alone = run_of(R"(["gemm"])");
  const double gemm_ns = bound(gemm_alone, "dram_ns");
  // What the GEMM leaves in the cache is written after it.
  const double cache = 0.25 * 1024 * 1024;
  REQUIRE(gemm_ns <= tensor_bytes(gemm_alone, {"gemm"}) / dram_GBps);
  REQUIRE(gemm_ns >= (tensor_bytes(gemm_alone, {"gemm"}) - cache) / dram_GBps);
  REQUIRE((gemm_ns > ring) == (k == 2048));
  REQUIRE(bound(run_of(R"(["all-gather"])"), "dram_ns") == ring);
  REQUIRE(bound(run_of(R"(["reduce-scatter"])"), "dram_ns") == ring);
  REQUIRE(bound(run_of(R"(["reduce-scatter", "all-gather"])"), "dram_ns") == 2 * ring);
  REQUIRE(bound(run_of(R"(["gemm", "reduce-scatter"])"), "dram_ns") == std::max(gemm_ns, ring));
  REQUIRE(bound(run_of(R"(["gemm", "all-gather"])"), "dram_ns") == gemm_ns + ring);
  const Run all = run_of(R"(["gemm", "reduce-scatter", "all-gather"])");
  REQUIRE(bound(all, "dram_ns") == std::max(gemm_ns, ring) + ring);
  REQUIRE(all.time("total") == std::max(all.time("gemm"), all.time("reduce_scatter")) + all.time("all_gather"));
}

}  // namespace t3vp::test::bounds_test
