#include "workloads/collective/step_traffic.h"

#include <algorithm>

#include "kernels/collective/ring_steps.h"

namespace t3vp {
namespace {

constexpr std::uint64_t somewhere = 1 << 20;  // of buffers: estimates do not depend on addresses

t3_collective_arguments arguments_of(const t3_collective& c, t3_collective_op op, t3_ring ring, std::uint32_t gpu,
                                     std::uint32_t gpus) {
  t3_collective_arguments arguments{};
  arguments.out = arguments.in = arguments.staging = somewhere;
  arguments.elements = c.elements;
  arguments.gpu = gpu;
  arguments.gpus = gpus;
  arguments.gpus_per_node = c.gpus_per_node;
  arguments.gpus_per_row = static_cast<std::uint16_t>(c.gpus_per_row);
  arguments.ring_stride = ring.stride;
  arguments.ring_length = ring.length;
  arguments.op = static_cast<std::uint8_t>(op);
  arguments.algorithm = static_cast<std::uint8_t>(ring.length != 0 ? T3_RING : c.algorithm);
  arguments.element = static_cast<std::uint8_t>(c.element);
  return arguments;
}

}  // namespace

StepTraffic::StepTraffic(const RunSettings& settings)
    : settings_(settings), fabric_(whole_fabric_of(settings)), gpus_(settings.gpus), ways_(std::size_t{gpus_} * gpus_) {
  std::size_t next = 0;
  for (const Placement& gpu : fabric_.gpus) {
    first_link_.push_back(next);
    next += gpu.neighbours.size();
  }
  for (const SwitchPlacement& one : fabric_.switches) {
    first_link_.push_back(next);
    next += one.neighbours.size();
  }
}

double StepTraffic::time_of(const t3_collective& c) {
  t3_collective_op parts[2];
  const std::uint32_t count = t3_collective_parts(&c, parts);
  double time = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (c.algorithm != T3_TORUS_RINGS) time += time_of_kernel(c, parts[i], {0, 0});
    for (std::uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX && c.dimensions[d] != 0; ++d)
      time += time_of_kernel(c, parts[i], t3_ring_along(&c, d));
  }
  return time;
}

namespace {

/// What a workgroup of a GPU goes through, and when. A torus's ring has workgroups of two ways round.
struct Actor {
  t3_steps steps;
  std::uint32_t next = 0;  ///< step
  double now_ns = 0;
  std::vector<double> told, told_second;  ///< when the signals of both counters arrive

  bool can_go_on(const t3_step& step) const { return signals(step).size() >= step.awaited; }
  /// Returns the time of the last signal that the step waits for.
  double told_at(const t3_step& step) const {
    std::vector<double> times = signals(step);
    const auto last = times.begin() + static_cast<std::ptrdiff_t>(step.awaited) - 1;
    std::nth_element(times.begin(), last, times.end());
    return *last;
  }

 private:
  const std::vector<double>& signals(const t3_step& step) const { return step.awaits_second ? told_second : told; }
};

bool is_told(const t3_steps& s, t3_told whom, std::uint32_t gpu) {
  const std::uint32_t own = s.arguments->gpu, per_node = s.arguments->gpus_per_node;
  switch (whom) {
    case T3_TELLS_NOBODY:
      return false;
    case T3_TELLS_PREVIOUS:
      return gpu == t3_previous_gpu(&s);
    case T3_TELLS_NODE:
      return gpu != own && gpu / per_node == own / per_node;
    case T3_TELLS_OTHER_NODES:
      return gpu != own && gpu % per_node == own % per_node;
    case T3_TELLS_BY_SWITCH:
      return true;
    default:
      return gpu != own;
  }
}

}  // namespace

/// Each GPU goes through its steps when it has the signals that they wait for. What all GPUs move in a step of one
/// number shares links and memories.
double StepTraffic::time_of_kernel(const t3_collective& c, t3_collective_op op, t3_ring ring) {
  const GpuParameters& gpu = settings_.system;
  const std::uint32_t kinds = ring.length != 0 ? 2 : 1;
  const double element = t3_element_bytes(c.element) / static_cast<double>(kinds),
               load_ns = to_ns(gpu.cache.latency) + to_ns(gpu.memory.path_latency);
  const t3_handing_on handing_on{
      gpu.kernels.ring.block_bytes,
      static_cast<std::uint64_t>((gpu.kernels.ring.step_ns + load_ns) * gpu.links.bandwidth_GBps)};
  std::vector<t3_collective_arguments> arguments;
  for (std::uint32_t g = 0; g < gpus_; ++g) arguments.push_back(arguments_of(c, op, ring, g, gpus_));
  std::vector<Actor> actors;
  for (std::uint32_t g = 0; g < gpus_; ++g)
    for (std::uint32_t kind = 0; kind < kinds; ++kind)
      actors.push_back({t3_steps_of(&arguments[g], kind, handing_on), 0, gpu.kernels.ring.start_ns, {}, {}});

  const std::uint32_t steps = actors.front().steps.count;
  std::vector<std::vector<double>> moving(steps);  // by actor, in ns
  for (std::uint32_t step = 0; step < steps; ++step) {
    link_bytes_.assign(fabric_.links.size(), 0);
    read_.assign(gpus_, 0);
    written_.assign(gpus_, 0);
    const auto each = [&](const Actor& actor, const auto& visit) {
      const t3_step what = actor.steps.schedule->step(&actor.steps, step);
      for (std::uint32_t i = 0; i < what.transfers; ++i) {
        const t3_transfer transfer = actor.steps.schedule->transfer(&actor.steps, step, i);
        if (transfer.elements != 0) visit(transfer, actor.steps.arguments->gpu);
      }
    };
    for (const Actor& actor : actors)
      each(actor, [&](const t3_transfer& t, std::uint32_t g) {
        add_traffic(t, g, static_cast<double>(t.elements) * element);
      });
    for (const Actor& actor : actors) {
      double longest = 0;
      each(actor, [&](const t3_transfer& t, std::uint32_t g) {
        longest = std::max({longest, time_of_transfer(t, g) + load_ns, time_at(g) + load_ns});
      });
      moving[step].push_back(longest);
    }
  }

  for (bool any = true; any;) {
    any = false;
    for (std::size_t a = 0; a < actors.size(); ++a) {
      Actor& actor = actors[a];
      if (actor.next == steps) continue;
      const t3_step step = actor.steps.schedule->step(&actor.steps, actor.next);
      if (!actor.can_go_on(step)) continue;
      if (step.awaited != 0) actor.now_ns = std::max(actor.now_ns, actor.told_at(step)) + gpu.kernels.ring.step_ns;
      actor.now_ns += moving[actor.next++][a];
      any = true;
      const std::uint32_t own = actor.steps.arguments->gpu;
      const bool second = step.tells == T3_TELLS_OTHER_NODES || step.tells == T3_TELLS_ALL_AGAIN;
      for (std::uint32_t g = 0; g < gpus_; ++g) {
        if (!is_told(actor.steps, step.tells, g)) continue;
        Actor& other = actors[g * kinds + a % kinds];
        const double at = actor.now_ns + way(own, g == own ? (g + 1) % gpus_ : g).latency_ns;
        (second ? other.told_second : other.told).push_back(at);
      }
    }
  }
  double last = 0;
  for (const Actor& actor : actors) last = std::max(last, actor.now_ns);
  return to_ns(gpu.compute.launch_latency) + last;
}

/// A load through the switch brings what all have, and costs each of them its own.
void StepTraffic::add_traffic(const t3_transfer& transfer, std::uint32_t gpu, double bytes) {
  read_[gpu] += (transfer.addends + (transfer.sums ? 0 : 1)) * bytes;
  const std::size_t from_switch = first_link_.back();
  for (std::uint32_t g = 0; transfer.sums && g < gpus_; ++g) {
    read_[g] += bytes;
    link_bytes_[first_link_[g]] += bytes;
  }
  if (transfer.sums) link_bytes_[from_switch + gpu] += bytes;
  if (transfer.by_switch) {
    link_bytes_[first_link_[gpu]] += bytes;
    for (std::uint32_t g = 0; g < gpus_; ++g) {
      written_[g] += bytes;
      link_bytes_[from_switch + g] += bytes;
    }
  } else if (!transfer.to_all || transfer.addends != 0) {
    add_way(gpu, transfer.to, bytes);
  }
  for (std::uint32_t g = 0; transfer.to_all && g < gpus_; ++g)
    if (g != gpu) add_way(gpu, g, bytes);
}

void StepTraffic::add_way(std::uint32_t from, std::uint32_t to, double bytes) {
  written_[to] += bytes;
  for (const std::size_t link : way(from, to).links) link_bytes_[link] += bytes;
}

/// Over the slowest of the links that it takes, with all that they carry in this step. What is asked of the switch is
/// answered, and what it stores acknowledged: a way there and back each.
double StepTraffic::time_of_transfer(const t3_transfer& transfer, std::uint32_t gpu) {
  double slowest = 0;
  if (transfer.sums || transfer.by_switch) {
    const double way_ns = way(gpu, (gpu + 1) % gpus_).latency_ns;
    slowest = slowest_at_switch(gpu) + ((transfer.sums ? 2 : 0) + (transfer.by_switch ? 2 : 0)) * way_ns;
  } else if (!transfer.to_all) {
    slowest = slowest_on_way(gpu, transfer.to);
  }
  for (std::uint32_t g = 0; transfer.to_all && g < gpus_; ++g)
    if (g != gpu) slowest = std::max(slowest, slowest_on_way(gpu, g));
  return slowest;
}

double StepTraffic::slowest_on_way(std::uint32_t from, std::uint32_t to) {
  double slowest = 0;
  for (const std::size_t link : way(from, to).links)
    slowest = std::max(slowest, link_bytes_[link] / fabric_.links[link].parameters.bandwidth_GBps);
  return slowest;
}

double StepTraffic::slowest_at_switch(std::uint32_t gpu) const {
  double slowest = 0;
  for (const std::size_t link : {first_link_[gpu], first_link_.back() + gpu})
    slowest = std::max(slowest, link_bytes_[link] / fabric_.links[link].parameters.bandwidth_GBps);
  return slowest;
}

/// Returns the time of a step: of the traffic of the GPU's memory, and of the loads over its ports to the cache.
double StepTraffic::time_at(std::uint32_t g) const {
  const GpuParameters& gpu = parameters_of(settings_.system, g);
  const double port_GBps = gpu.compute.port_bytes_per_cycle * gpu.compute.clock_GHz * gpu.compute.compute_units;
  return std::max((read_[g] + written_[g]) / peak_GBps(gpu.memory), read_[g] / port_GBps);
}

const StepTraffic::Way& StepTraffic::way(std::uint32_t from, std::uint32_t to) {
  Way& result = ways_[std::size_t{from} * gpus_ + to];
  if (!result.links.empty()) return result;
  for (std::uint32_t at = from; at != to;) {
    const bool is_gpu = at < gpus_;
    if (!is_gpu) result.latency_ns += to_ns(fabric_.switches[at - gpus_].latency);
    const std::uint32_t port = is_gpu ? fabric_.gpus[at].route[to].port : fabric_.switches[at - gpus_].route[to].port;
    const std::size_t link = first_link_[at] + port;
    result.links.push_back(link);
    result.latency_ns += to_ns(fabric_.links[link].parameters.latency);
    at = is_gpu ? fabric_.gpus[at].neighbours[port] : fabric_.switches[at - gpus_].neighbours[port];
  }
  return result;
}

}  // namespace t3vp
