// What a run of a layer of experts needs of its run file and of its system.
#include <fmt/format.h>

#include "t3/chunk_progress.h"
#include "workloads/moe/moe_workload.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {

void MoeWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  if (!join_all && settings.method != "deepep")
    reject_separate_gpus(system, settings, "layer of experts", ", or, by NICs, method deepep");
}

void MoeWorkload::check_routing(const Document& run, const RunSettings& settings) const {
  if (settings.gpus > T3_MOE_GPUS_MAX)
    run.reject("/gpus", fmt::format("at most {}, whose numbers of rows one access reads", +T3_MOE_GPUS_MAX));
  if (moe_.experts % settings.gpus != 0)
    run.reject("/workload/moe/experts", fmt::format("a multiple of the {} GPUs", settings.gpus));
  if (moe_.top_k > moe_.experts)
    run.reject("/workload/moe/top_k", fmt::format("at most {}, all experts", moe_.experts));
}

/// A list of each GPU's rows for each expert, or an expert's slots, and the sums.
void MoeWorkload::check_maps(const Document& system, const RunSettings& settings) const {
  const std::uint32_t maps = (moe_.padded ? moe_.experts / settings.gpus : moe_.experts) + 1;
  if (settings.system.tracker.chunks < maps)
    system.reject("/tracker/chunks", fmt::format("at least {}, a chunk for each list of rows that "
                                                 "a GPU receives, and the sums",
                                                 maps));
  if (settings.system.dma.commands < maps)
    system.reject("/dma/commands", fmt::format("at least {}, as many as chunks that a GPU maps", maps));
}

void MoeWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  const std::string& method = settings.method;
  const bool tracked = method == "t3" || method == "t3-mca";
  if (!tracked && method != "bulk" && method != "deepep")
    run.reject("/method", "bulk, deepep, t3 or t3-mca, or nothing, for a layer of experts");
  if (settings.mirror)
    run.reject("/simulate",
               "all: no mirror stands for this workload's GPUs, "
               "only for a GEMM's ring or the GPUs of a torus");
  check_routing(run, settings);
  if (method != "deepep" && moe_.communication_units != 0)
    run.reject("/workload/moe/communication_units", "nothing, or method deepep");
  if (moe_.communication_units >= settings.system.compute.compute_units)
    run.reject("/workload/moe/communication_units",
               fmt::format("less than the {} compute units of a GPU", settings.system.compute.compute_units));
  if (moe_.padded && !tracked) run.reject("/workload/moe/padded", "false, or nothing, or method t3 or t3-mca");
  constexpr std::uint32_t most_local = 256;  // whose lists have counters of their own
  if (method == "deepep" && moe_.experts / settings.gpus > most_local)
    run.reject("/workload/moe/experts",
               fmt::format("at most {} of each GPU with method deepep, which has a counter for "
                           "each",
                           most_local));
  check_collective_registers(system, settings);
  require_room(run, settings, buffers(settings, 0), "tokens, weights, slots and results");
  if (tracked) check_maps(system, settings);
  if (moe_.gpus_per_node != 0 && !settings.system.nic)
    system.reject("/nic", "nothing", "NICs, since links do not join all GPUs");
}

}  // namespace t3vp
