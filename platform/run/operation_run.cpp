#include "run/operation_run.h"

#include "protocol/traffic_classes.h"

namespace t3vp {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

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
  const auto moved = [&](const std::string& direction) {
    std::uint64_t sum = 0;
    for (const TrafficClass traffic : traffic_classes())
      if (ends_with(name_of_traffic(traffic), direction)) sum += bytes[index_of(traffic)] - bytes_[index_of(traffic)];
    return sum;
  };
  if (checker_) checker_->after(number);
  figures_.push_back(
      {names_[number].name, names_[number].part, to_ns(now() - begin_), moved("_read"), moved("_write")});
}

}  // namespace t3vp
