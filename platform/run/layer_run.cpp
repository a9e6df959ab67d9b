#include "run/layer_run.h"

#include "protocol/traffic_classes.h"
#include "workloads/layer/layer_packing.h"

namespace t3vp {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

LayerRun::LayerRun(const RunConfiguration& configuration, Gpu& gpu)
    : gpu_(gpu), program_(layer_program(*configuration.workload.layer, configuration.system.compute)) {
  gpu.processor.on_phase([this](const std::string& phase, bool begin) {
    if (phase == phases::operation) operation(begin);
  });
  if (!configuration.functional) return;
  reference_.emplace(gpu, configuration.seed);
  gpu.processor.on_publish([this](const processor::PublishedBuffer& buffer) { reference_->fill(buffer); });
}

PackedWorkload LayerRun::packed() const {
  std::vector<NamedTensor> tensors;
  std::vector<t3_layer_operation> operations;
  for (const LayerTensor& tensor : program_.tensors) tensors.push_back({tensor.name, tensor.bytes, tensor.element});
  for (const LayerOperation& operation : program_.operations) operations.push_back(operation.kernel);
  return packed_layer(tensors, operations);
}

FunctionalCheck LayerRun::functional() {
  if (!reference_) return {};
  reference_->check_memory();
  return reference_->result();
}

void LayerRun::operation(bool begin) {
  const LayerOperation& current = program_.operations[figures_.size()];
  const DramBytes bytes = gpu_.memory.dram_bytes();
  if (begin) {
    begin_ = now();
    bytes_ = bytes;
    if (reference_) reference_->before(current.kernel);
    return;
  }
  const auto moved = [&](const std::string& direction) {
    std::uint64_t sum = 0;
    for (const TrafficClass traffic : traffic_classes())
      if (ends_with(name_of_traffic(traffic), direction)) sum += bytes[index_of(traffic)] - bytes_[index_of(traffic)];
    return sum;
  };
  if (reference_) reference_->after(current);
  figures_.push_back({current.name, name_of(current.part), to_ns(now() - begin_), moved("_read"), moved("_write")});
}

}  // namespace t3vp
