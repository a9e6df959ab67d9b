// Refuses rivals that cannot run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "workloads/description_of.h"
#include "workloads/rivals/ring_strides.h"
#include "workloads/rivals/rivals_workload.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {

void RivalsWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  if (!join_all) reject_separate_gpus(system, settings, "rival of T3");
}

/// What goes to all GPUs, or comes from all, needs a switch that adds and copies.
void RivalsWorkload::check_switch(const Document& run, const RunSettings& settings) const {
  const Topology& topology = settings.system.topology;
  if (topology.kind == Topology::Kind::switched && topology.reduces) return;
  constexpr const char* needs = "a switch with reduction joins all GPUs (system.links.topology)";
  if (settings.method == "load-reduce")
    run.reject("/method", fmt::format("another one than load-reduce, unless {}", needs));
  if (rival_.gather == T3_GATHER_BY_MULTICAST)
    run.reject("/workload/rival/gather", fmt::format("kernel or stores, unless {}", needs));
}

void RivalsWorkload::check_method(const Document& run, const RunSettings& settings) const {
  std::vector<std::string_view> names;
  for (const MethodDescription& method : description_of("rivals").methods) names.push_back(method.name);
  if (std::find(names.begin(), names.end(), settings.method) == names.end())
    run.reject("/method", fmt::format("one of {}, or nothing, for a rival", fmt::join(names, ", ")));
}

void RivalsWorkload::check_settings(const Document& run, const RunSettings& settings) const {
  const std::uint32_t units = settings.system.compute.compute_units;
  if (rival_.communication_units >= units)
    run.reject("/workload/rival/communication_units",
               fmt::format("at most {}: the GEMM needs one of the {} compute units", units - 1, units));
  const bool copies = settings.built_in_program == "decomposed" || settings.built_in_program == "dma_collective" ||
                      (gathers_first(settings) && settings.method != "gather-then-gemm");
  if (rival_.copy_queues != 0 && !copies)
    run.reject("/workload/rival/copy_queues", fmt::format("not this key with method {}", settings.method));
  if (rival_.copy_queues > settings.system.dma.copy_queues)
    run.reject("/workload/rival/copy_queues",
               fmt::format("at most {}, the DMA engine's (dma.copy_queues)", settings.system.dma.copy_queues));
  if (rival_.pieces > shape().m)
    run.reject("/workload/rival/pieces", fmt::format("at most {}, the rows of the output", shape().m));
  const std::string not_here = fmt::format("not this key with method {}", settings.method);
  if (gathers_first(settings) && rival_.pieces != 1) run.reject("/workload/rival/pieces", not_here);
  if (gathers_first(settings) && rival_.communication_units != 0)
    run.reject("/workload/rival/communication_units", not_here);
  const bool is_flagged = settings.method == "flagged-gather";
  if (!sends_tiles(settings) && !is_flagged && rival_.order != T3_ROTATED_ORDER)
    run.reject("/workload/rival/order", not_here);
  const bool in_turns = rival_.order == T3_INTERLEAVED_ORDER || rival_.order == T3_ALIGNED_ORDER;
  if (is_flagged && in_turns) run.reject("/workload/rival/order", "natural or rotated with method flagged-gather");
  if (is_flagged && rival_.group > 1) run.reject("/workload/rival/group", not_here);
  if (sends_tiles(settings) ? rival_.pieces != 1 : rival_.gather != T3_GATHER_BY_KERNEL)
    run.reject(sends_tiles(settings) ? "/workload/rival/pieces" : "/workload/rival/gather", not_here);
  if (rival_.pieces > 1 && settings.built_in_program == "two_queues" && algorithm() == T3_TORUS_RINGS)
    run.reject("/workload/rival/pieces",
               "1, or another algorithm than torus-rings: its counters are for one all-reduce");
  if (in_turns && rival_.group > 1)
    run.reject("/workload/rival/group", "0, or another order than interleaved and aligned");
  if (rival_.rings != 1 && settings.method != "endpoint") run.reject("/workload/rival/rings", not_here);
  if (settings.method == "direct-update" && rival_.gather == T3_GATHER_BY_KERNEL && rival_.communication_units != 0)
    run.reject("/workload/rival/communication_units",
               "0, or gather stores or multicast: nothing communicates beside the GEMM");
}

void RivalsWorkload::check_endpoint(const Document& run, const Document& system, const RunSettings& settings) const {
  if (settings.method != "endpoint") return;
  if (!settings.system.endpoint)
    system.reject("/endpoint", "nothing", "an endpoint engine, or another method than endpoint");
  if (rival_.communication_units != 0)
    run.reject("/workload/rival/communication_units", "0 with method endpoint: no compute unit communicates");
  if (rival_.pieces > settings.system.endpoint->collectives)
    run.reject("/workload/rival/pieces", fmt::format("at most {}, the collectives that a ring of the engine holds "
                                                     "(endpoint.collectives)",
                                                     settings.system.endpoint->collectives));
  const std::uint32_t most = std::min(settings.system.endpoint->rings, t3_ring_count(settings.gpus));
  if (rival_.rings > most)
    run.reject("/workload/rival/rings",
               fmt::format("at most {}: the engine has {} (endpoint.rings), and {} rings have "
                           "all of {} GPUs",
                           most, settings.system.endpoint->rings, t3_ring_count(settings.gpus), settings.gpus));
}

void RivalsWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  check_method(run, settings);
  if (settings.mirror) run.reject("/simulate", "all: no mirror stands for the GPUs of a rival");
  check_tiles(run, settings);
  check_settings(run, settings);
  check_switch(run, settings);
  check_endpoint(run, system, settings);
  check_collective_registers(system, settings);
  require_room(run, settings, buffers(settings, 0), "operands, output and partial sums");
}

}  // namespace t3vp
