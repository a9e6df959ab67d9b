// The phases of a program that figures and tables know by name. Programs mark others as they like, which follow these
// in the order of their first appearance.
#pragma once

#include <string>
#include <vector>

#include "workloads/phase.h"

namespace t3vp::phases {

inline constexpr const char* setup = "setup";          ///< before the start barrier
inline constexpr const char* zeroing = "zeroing";      ///< a part of setup: the output of a fused kernel is made zero
inline constexpr const char* total = "total";          ///< from the start barrier on
inline constexpr const char* operation = "operation";  ///< of a layer, one after the other
inline constexpr const char* hand_over = "hand_over";  ///< results go to memory, after the total
inline constexpr const char* gemm = "gemm";
inline constexpr const char* reduce_scatter = "reduce_scatter";
inline constexpr const char* fused = "fused";
inline constexpr const char* all_gather = "all_gather";

/// Those that every report has around its other times.
inline constexpr Phase of_runs[] = {
    {total, "total", ""}, {setup, "setup", ""}, {zeroing, "zeroing of the output", setup}};

/// Parts of the total that every report has, null when the run has left them out.
inline constexpr Phase of_collectives[] = {{gemm, "GEMM", fused},
                                           {reduce_scatter, "reduce-scatter", total, true},
                                           {fused, "fused GEMM + reduce-scatter", total, true},
                                           {all_gather, "all-gather", total, true}};

/// Whether a phase is a part of the total with a time of its own in the report.
inline bool is_part_of_total(const std::string& phase) {
  return phase != setup && phase != zeroing && phase != total && phase != operation && phase != hand_over;
}

/// What the name of the time begins with in which a phase is exposed communication.
inline constexpr const char* exposed = "exposed_";
inline constexpr const char* exposed_communication = "exposed_communication";  ///< the sum of these times

/// The descriptions of a phase. Workloads may have phases of one key within different ones; own programs' have none.
std::vector<Phase> described(const std::string& key);

}  // namespace t3vp::phases
