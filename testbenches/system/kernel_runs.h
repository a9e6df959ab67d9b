// Runs whose kernels exchange or sum up what they compute: what all of their tests ask.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "io/input_error.h"
#include "system/platform_run.h"

namespace t3vp::test {

inline const char* const joined = "system.links.topology=fully-connected";

inline Settings kernel_run(const char* method, std::uint32_t gpus, const nlohmann::json& workload) {
  return {on_small_system(), std::string("method=") + method, "gpus=" + std::to_string(gpus),
          "workload=" + workload.dump()};
}

/// Nodes of so many GPUs that nothing but NICs joins.
inline Settings apart(std::uint32_t node) {
  const std::string inside = node == 1 ? "" : R"(, "inside": {"topology": "fully-connected"})";
  return {R"(system.links.topology={"kind": "nodes", "gpus_per_node": )" + std::to_string(node) + inside + "}",
          R"(system.nic={"messages_per_us": 100, "io_latency_ns": 100, "io_GBps": 8, "entry_fetches": 16,
             "payload_in_flight_KiB": 16, "mtu_bytes": 1024, "wire_GBps": 4, "wire_latency_ns": 300,
             "writes_invalidate": true})"};
}

/// It passes, and takes no less time than any bound.
inline Run right_run(const Settings& settings) {
  CAPTURE(settings);
  Run run = Run::of_platform(settings);
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  for (const char* bound : {"compute_ns", "compute_quantized_ns", "link_ns", "dram_ns"}) {
    INFO(bound);
    CHECK(run.time("total") >= run.report()["bounds"][bound].get<double>());
  }
  return run;
}

/// More compute units take no more than `margin` longer than the fastest run with fewer.
inline void check_more_units_not_slower(const Settings& settings, const char* phase, double margin,
                                        const std::vector<std::uint32_t>& numbers = {2, 4, 8, 16, 32}) {
  double fastest = std::numeric_limits<double>::max();
  for (const std::uint32_t units : numbers) {
    const Run run = Run::of_platform(
        settings + Settings{"data=timing-only", "system.compute.compute_units=" + std::to_string(units)});
    CAPTURE(settings, units, fastest, run.diagnosis());
    REQUIRE(run.exit_code() == 0);
    CHECK(run.time(phase) <= fastest * (1 + margin));
    fastest = std::min(fastest, run.time(phase));
  }
}

/// Bytes over all links.
inline std::uint64_t carried(const Run& run) {
  std::uint64_t sum = 0;
  for (const auto& link : run.report()["links"]) sum += link["payload_bytes"].get<std::uint64_t>();
  return sum;
}

/// GPU `to` ends when `payload` bytes have come from GPU 0 over a slow link: not before, and no later than a run
/// without the slow link and all that the link has carried one after the other.
inline void check_end_behind_slow_link(const Run& slow, const Run& equal, std::uint32_t to, double payload,
                                       double bandwidth_GBps) {
  for (const auto& link : slow.report()["links"]) {
    if (link["from"] != 0 || link["to"] != to) continue;
    const double end = slow.report()["ends"]["gpu_ns"][to];
    CHECK(end > payload / bandwidth_GBps);
    CHECK(end <= link["wire_bytes"].get<double>() / bandwidth_GBps + equal.time("total"));
    return;
  }
  FAIL("no link from GPU 0 to " << to);
}

/// Why the settings are refused.
inline std::string refusal_of(const Settings& settings) {
  try {
    Run::of_platform(settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace t3vp::test
