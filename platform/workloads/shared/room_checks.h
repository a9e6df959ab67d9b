// Refuses what several workloads refuse, in the same words.
#pragma once

#include <string>
#include <vector>

#include "io/json_document.h"
#include "t3/collective.h"
#include "workloads/buffer.h"
#include "workloads/run_settings.h"

namespace t3vp {

/// Throws InputError when a GPU's memory does not hold the buffers of one of the platform's programs: `what`, in words.
void require_room(const Document& run, const RunSettings& settings, const std::vector<Buffer>& buffers,
                  const char* what);

/// `gpus` of the run file, at least 2: "the GPUs that have tables".
std::uint32_t required_gpus(const Document& run, const char* whose);

/// Throws InputError unless operands are exact: `why`, in words.
void require_exact_operands(const Document& run, const char* why);

/// A mirror has no neighbours' data.
void check_mirrored_data(const Document& run, const RunSettings& settings);
/// All GPUs of a torus do the same, and what they send to each other are equal parts.
void check_mirrored_torus(const Document& run, const RunSettings& settings, std::uint64_t parts, const char* what);

/// Registers of a collective kernel's workgroup.
void check_collective_registers(const Document& system, const RunSettings& settings);

/// Throws InputError about GPUs that no link joins: `who` are they, "collective"; `otherwise` would do as well.
[[noreturn]] void reject_separate_gpus(const Document& system, const RunSettings& settings, const char* who,
                                       const char* otherwise = "");

/// Returns the GPUs of a node when no link joins the nodes; else 0.
std::uint32_t gpus_of_separate_node(const RunSettings& settings);

/// Matrix products that the compute units do in a ns.
double matrix_rate(const compute::ComputeParameters& compute);
/// Elements that the vector lanes add or multiply in a ns.
double vector_rate(const compute::ComputeParameters& compute);
/// Returns the time of a load in an idle memory that finds its row closed.
double load_latency_ns(const cache::CacheParameters& cache, const memory::MemoryParameters& memory);
/// The DRAM's peak in bytes per ns.
double dram_rate(const GpuParameters& gpu);

}  // namespace t3vp
