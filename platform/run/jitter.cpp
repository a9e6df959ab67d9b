#include "run/jitter.h"

#include <random>

namespace t3vp {
namespace {

/// Whole picoseconds, each as likely. What the standard's distributions draw depends on the library.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  /// Moves the time by up to `most`, up or down; none becomes negative.
  void operator()(Picoseconds& time, Picoseconds most) {
    const Picoseconds moved = time + engine_() % (2 * most + 1);
    time = moved > most ? moved - most : 0;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace

void apply(const Jitter& jitter, NodeParameters& node) {
  const Picoseconds launch = from_ns(jitter.launch_ns), latency = from_ns(jitter.latency_ns);
  Draw draw(jitter.seed);
  for (GpuParameters& gpu : node.gpus) {
    draw(gpu.compute.launch_latency, launch);
    draw(gpu.cache.latency, latency);
    draw(gpu.memory.path_latency, latency);
    draw(gpu.dma.latency, latency);
    if (gpu.nic) draw(gpu.nic->io_latency, latency);
    if (gpu.endpoint) draw(gpu.endpoint->latency, latency);
  }
  for (LinkPlacement& link : node.fabric.links) draw(link.parameters.latency, latency);
}

}  // namespace t3vp
