// The texts that a debugger's `monitor` shows during a run.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"
#include "protocol/units.h"

namespace t3vp::test::monitor_test {

namespace {

const std::vector<std::string> commands = {"tracker", "dma", "map", "queues", "links", "time", "errors"};

/// Everything, again and again, until nothing is left to happen.
std::map<std::string, std::string> watched_run(GpuPair& pair) {
  std::map<std::string, std::string> shown;
  do {
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US), sc_core::SC_EXIT_ON_STARVATION);
    for (std::size_t gpu = 0; gpu < pair.gpus(); ++gpu)
      for (const std::string& command : commands) shown[command] += pair.monitor(gpu, command);
  } while (sc_core::sc_pending_activity());
  return shown;
}

}  // namespace

TEST_CASE("monitor shows maps and queues and links as they come and go and disturbs nothing") {
  GpuPair pair(t3_run_fused, {"gpus=4"});
  const std::string before = pair.monitor(1, "map");
  CHECK(before == "GPU 1 map: none\n");
  const auto shown = watched_run(pair);
  const auto has = [&](const char* command, const std::string& part) {
    INFO(command << ": " << shown.at(command).substr(0, 4000));
    CHECK(shown.at(command).find(part) != std::string::npos);
  };
  has("map", "  remote_map of workgroups 0 to ");
  has("map", " of GPU 3, nothing has been stored there\n");
  has("map", "  dma_map of workgroups ");
  has("map", ": notify; 0 of ");
  has("map", "  Tracker counts workgroups ");
  has("dma", "wavefront tiles have arrived\n");
  has("tracker", "2 per element): own kernels' ");
  has("tracker", "triggers ");
  has("queues", "  queue 0: ring of ");
  has("queues", "gemm runs\n");
  has("links", "  link from GPU 1 to GPU 0: ");
  has("time", " ns simulated\n");
  CHECK(shown.at("errors").find("  ") == std::string::npos);
  CHECK(pair.monitor(2, "map") == "GPU 2 map: none\n");  // removed at the end
  pair.require_right_result();
}

TEST_CASE("monitor shows the error log and the packet that failed") {
  GpuPair pair(guest_maps_used_wrongly);
  pair.run();
  const std::string errors = pair.monitor(0, "errors");
  CHECK(errors.find("tracker: mismatch at 0x") != std::string::npos);
  CHECK(pair.monitor(1, "errors 0") == errors);
  CHECK(pair.monitor(1, "errors") == "GPU 1 errors: none\n");
}

TEST_CASE("monitor that is asked for what there is not says what there is") {
  GpuPair pair(t3_run_fused);
  const std::string help = pair.monitor(0, "");
  for (const std::string& command : commands) CHECK(help.find("  " + command + " ") != std::string::npos);
  CHECK(pair.monitor(0, "help") == help);
  const std::string known = "one of tracker, dma, map, queues, links, time, errors, help\n";
  CHECK(pair.monitor(0, "maps") == "monitor: found maps, expected " + known);
  CHECK(pair.monitor(0, "help me") == "monitor help: found me, expected nothing more\n");
  CHECK(pair.monitor(0, "map 0 1 2") == "monitor map: found 1, expected no more than a GPU's number\n");
  for (const std::string wrong : {"2", "-1", "x", "1x", "99999999999999999999"})
    CHECK(pair.monitor(0, "map " + wrong) == "monitor map: found " + wrong + ", expected a GPU from 0 to 1\n");
  CHECK(pair.monitor(0, "  map   1 ") == "GPU 1 map: none\n");
}

}  // namespace t3vp::test::monitor_test
