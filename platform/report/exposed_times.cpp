#include "report/exposed_times.h"

#include <algorithm>

namespace t3vp {
namespace {

bool communicates(const std::string& phase) {
  const std::vector<Phase> known = phases::described(phase);
  return std::any_of(known.begin(), known.end(), [](const Phase& one) { return one.communicates; });
}

bool is_within(const std::string& phase, const std::string& whole) {
  const std::vector<Phase> known = phases::described(phase);
  return std::any_of(known.begin(), known.end(), [&](const Phase& one) { return one.within == whole; });
}

/// The time in ns that compute takes while the phase is in progress.
double hidden_in(const std::string& phase, const RunTimes& times, bool runs_apart) {
  if (runs_apart && phase == phases::reduce_scatter) return times.of(phases::gemm);
  double sum = 0;
  for (const auto& [other, ns] : times.phases)
    if (is_within(other, phase) && !communicates(other)) sum += ns;
  return sum;
}

}  // namespace

std::vector<std::pair<std::string, double>> exposed_times(const RunTimes& times, bool runs_apart) {
  std::vector<std::pair<std::string, double>> list;
  double sum = 0;
  for (const auto& [phase, ns] : times.phases) {
    if (!communicates(phase)) continue;
    list.emplace_back(phases::exposed + phase, std::max(0.0, ns - hidden_in(phase, times, runs_apart)));
    sum += list.back().second;
  }
  if (!list.empty()) list.emplace_back(phases::exposed_communication, sum);
  return list;
}

}  // namespace t3vp
