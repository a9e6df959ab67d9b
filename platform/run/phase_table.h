// The phases of the programs of all GPUs, also of those that another process simulates.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/node.h"
#include "partition/partition.h"
#include "partition/transport.h"

namespace t3vp {

class PhaseTable {
 public:
  using PhaseTime = processor::Processor::PhaseTime;

  explicit PhaseTable(const Node& node);
  /// Asks all ranks, which call this at the same time.
  PhaseTable(const Node& node, const Partition& partition, Transport& transport);

  std::size_t gpus() const { return phases_.size(); }
  const std::vector<PhaseTime>& of(std::size_t gpu) const { return phases_[gpu]; }
  /// Of all GPUs, those that have finished the phase, in order.
  std::vector<const PhaseTime*> finished(const std::string& phase) const;
  /// The parts of the critical path to the last GPU's end of the total, since the first GPU's begin.
  const TimeParts& parts_of_total() const { return parts_of_total_; }

 private:
  struct Span {
    const PhaseTime *begin = nullptr, *end = nullptr;
    std::size_t last = 0;  ///< GPU of the end
  };
  Span span_of_total() const;

  std::vector<std::vector<PhaseTime>> phases_;
  TimeParts parts_of_total_{};
};

}  // namespace t3vp
