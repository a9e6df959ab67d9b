#include "run/operation_run.h"

#include "protocol/traffic_classes.h"

namespace t3vp {
OperationRun::OperationRun(const RunConfiguration& configuration, Gpu& gpu)
    : gpu_(gpu), memory_(gpu), names_(configuration.workload->operations()) {
  gpu.processor.on_phase([this](const std::string& phase, bool begin) {
    if (phase == phases::operation) operation(begin);
  });
  if (!configuration.functional) return;
  checker_ = configuration.workload->operation_checker(memory_, configuration.seed);
  gpu.processor.on_publish([this](const processor::PublishedBuffer& buffer) { checker_->publish(tensor_of(buffer)); });
}

FunctionalCheck OperationRun::functional() { return checker_ ? checker_->result() : FunctionalCheck{}; }

void OperationRun::operation(bool begin) {
  const std::size_t number = figures_.size();
  const DramBytes bytes = gpu_.memory.dram_bytes();
  if (begin) {
    begin_ = now();
    bytes_ = bytes;
    if (checker_) checker_->before(number);
    return;
  }
  const auto moved = [&](TrafficDirection direction) {
    std::uint64_t sum = 0;
    for (const TrafficClass traffic : traffic_classes())
      if (direction_of(traffic) == direction) sum += bytes[index_of(traffic)] - bytes_[index_of(traffic)];
    return sum;
  };
  if (checker_) checker_->after(number);
  figures_.push_back({names_[number].name, names_[number].part, to_ns(now() - begin_), moved(TrafficDirection::reads),
                      moved(TrafficDirection::writes)});
}

}  // namespace t3vp
