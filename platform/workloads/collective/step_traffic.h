// The traffic of the collective kernel's steps on links and in memories, and its least time.
#pragma once

#include <vector>

#include "t3/arguments/collective.h"
#include "t3/collective.h"
#include "workloads/run_settings.h"

struct t3_transfer;

namespace t3vp {

class StepTraffic {
 public:
  explicit StepTraffic(const RunSettings& settings);

  /// In ns: of all kernels of the operation, one after the other.
  double time_of(const t3_collective& collective);

 private:
  struct Way {
    std::vector<std::size_t> links;
    double latency_ns = 0;
  };

  double time_of_kernel(const t3_collective& collective, t3_collective_op op, t3_ring ring);
  void add_traffic(const t3_transfer& transfer, std::uint32_t gpu, double bytes);
  double time_of_transfer(const t3_transfer& transfer, std::uint32_t gpu);
  void add_way(std::uint32_t from, std::uint32_t to, double bytes);
  double slowest_on_way(std::uint32_t from, std::uint32_t to);
  double slowest_at_switch(std::uint32_t gpu) const;
  double time_at(std::uint32_t gpu) const;
  const Way& way(std::uint32_t from, std::uint32_t to);

  const RunSettings& settings_;
  Fabric fabric_;
  std::uint32_t gpus_;
  std::vector<std::size_t> first_link_;              ///< of each GPU, then of each switch
  std::vector<Way> ways_;                            ///< from * gpus + to; those that were asked for
  std::vector<double> link_bytes_, read_, written_;  ///< of a step of all GPUs
};

}  // namespace t3vp
