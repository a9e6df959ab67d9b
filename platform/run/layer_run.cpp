#include "run/layer_run.h"

#include "protocol/traffic_classes.h"

namespace t3vp {

LayerRun::LayerRun(const RunConfiguration& configuration, Gpu& gpu)
    : gpu_(gpu), program_(layer_program(*configuration.workload.layer, configuration.system.compute)) {
  for (const LayerTensor& tensor : program_.tensors)
    tensors_.push_back({tensor.name.c_str(), tensor.bytes, tensor.element});
  for (const LayerOperation& operation : program_.operations) operations_.push_back(operation.kernel);
  layer_ = {tensors_.data(), static_cast<std::uint32_t>(tensors_.size()), operations_.data(),
            static_cast<std::uint32_t>(operations_.size())};
  gpu.processor.on_phase([this](const std::string& phase, bool begin) {
    if (phase == phases::operation) operation(begin);
  });
  if (!configuration.functional) return;
  reference_.emplace(gpu, configuration.seed);
  gpu.processor.on_publish([this](const processor::PublishedBuffer& buffer) { reference_->fill(buffer); });
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
  const auto moved = [&](TrafficDirection direction) {
    std::uint64_t sum = 0;
    for (const TrafficClass traffic : traffic_classes())
      if (direction_of(traffic) == direction) sum += bytes[index_of(traffic)] - bytes_[index_of(traffic)];
    return sum;
  };
  if (reference_) reference_->after(current);
  figures_.push_back({current.name, name_of(current.part), to_ns(now() - begin_), moved(TrafficDirection::reads),
                      moved(TrafficDirection::writes)});
}

}  // namespace t3vp
