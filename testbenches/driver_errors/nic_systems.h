// Systems whose GPUs have NICs.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.h"

namespace t3vp::test {

/// small-4 with two GPUs and their NICs, functional unless the settings say otherwise. Programs provoke errors, whose
/// codes they check.
inline RunConfiguration two_with_nics(const std::vector<std::string>& settings) {
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  std::vector<std::string> all{
      "system=" + configs + "systems/small-4.json",
      "data=functional",
      "gpus=2",
      "check=protocol",
      "allow_errors=true",
      R"(system.nic={"messages_per_us": 215, "io_latency_ns": 200, "io_GBps": 26, "entry_fetches": 128,
          "payload_in_flight_KiB": 64, "mtu_bytes": 4096, "wire_GBps": 25, "wire_latency_ns": 700,
          "writes_invalidate": true})"};
  all.insert(all.end(), settings.begin(), settings.end());
  return load_run(configs + "runs/embedding-4gpu.json", all);
}

}  // namespace t3vp::test
