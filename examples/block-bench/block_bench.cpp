// The memory controller of a system file alone, with random and listed traffic.
#include <cstdio>

#include "memory/memory_controller.h"
#include "protocol/socket_probes.h"
#include "protocol/stubs.h"
#include "protocol/traffic_initiator.h"
#include "system/system_loader.h"

namespace {

using Controller = t3vp::memory::MemoryController;

void print(const char* what, const t3vp::TrafficCounts& counts) {
  std::printf("%s: %llu loads, %llu stores, %llu updates, %llu refused, %.2f GB/s, mean latency %.1f ns\n", what,
              static_cast<unsigned long long>(counts.loads), static_cast<unsigned long long>(counts.stores),
              static_cast<unsigned long long>(counts.updates), static_cast<unsigned long long>(counts.refused),
              counts.GBps(), counts.mean_latency_ns());
}

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: block_bench SYSTEM.json\n");
    return 2;
  }
  const t3vp::SystemConfiguration system = t3vp::load_system(argv[1]);
  Controller controller("controller", system.memory, system.tracker, false, 0, nullptr);
  t3vp::TrafficInitiator::Options options;
  options.lead = controller.lookahead();
  t3vp::TrafficInitiator kernels("kernels", options);
  options.stream = t3vp::Stream::communication;
  t3vp::TrafficInitiator dma("dma", options);

  t3vp::SocketProbes probes{true};  // with protocol checkers
  probes.join(kernels.socket, *controller.ports[Controller::from_cache]);
  probes.join(dma.socket, *controller.ports[Controller::from_dma]);
  controller.tracker.spill.bind(*controller.ports[Controller::from_tracker]);
  sc_core::sc_signal<bool> kernel_active("kernel_active"), first_stage("first_stage");
  controller.kernel_active.bind(kernel_active);
  controller.first_stage.bind(first_stage);
  t3vp::Stubs stubs;
  for (const auto port : {Controller::from_bypass, Controller::from_peers, Controller::from_nic})
    stubs.stub(*controller.ports[port]);
  stubs.stub(controller.tracker.trigger);
  stubs.stub(controller.plain);
  stubs.stub(controller.registers.socket);
  stubs.stub(controller.near_memory.socket);
  stubs.stub(controller.tracker.registers.socket);

  t3vp::RandomTraffic random;
  random.bytes = 1 << 20;
  random.loads = 2;
  random.updates = 1;
  t3vp::TrafficLimits limits;
  limits.count = 20000;
  kernels.start(random, limits);
  limits.GBps = 2;
  limits.count = 2000;
  dma.start({{t3vp::Operation::store, 0x200000, 256}, {t3vp::Operation::load, 0x200000, 256}}, limits);
  sc_core::sc_start();
  print("kernels", kernels.counts());
  print("dma", dma.counts());
  for (const t3vp::Violation& violation : probes.violations().list()) std::printf("%s\n", violation.text().c_str());
  const bool right = kernels.is_done() && dma.is_done() && kernels.counts().refused + dma.counts().refused == 0 &&
                     probes.violations().list().empty();
  return right ? 0 : 1;
}
