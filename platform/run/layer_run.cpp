#include "run/layer_run.h"

namespace t3vp {

LayerRun::LayerRun(const RunConfiguration& configuration, Gpu& gpu)
    : gpu_(gpu), program_(layer_program(*configuration.workload.layer, configuration.system.compute)) {
  for (const LayerTensor& tensor : program_.tensors)
    tensors_.push_back({tensor.name.c_str(), tensor.bytes, tensor.element});
  for (const LayerOperation& operation : program_.operations) operations_.push_back(operation.kernel);
  layer_ = {tensors_.data(), static_cast<std::uint32_t>(tensors_.size()), operations_.data(),
            static_cast<std::uint32_t>(operations_.size())};
  gpu.processor.on_phase([this](Phase phase, bool begin) {
    if (phase == Phase::operation) operation(begin);
  });
  if (!configuration.functional) return;
  reference_.emplace(gpu, configuration.seed);
  gpu.processor.on_publish([this](const PublishedBuffer& buffer) { reference_->fill(buffer); });
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
  const auto moved = [&](TrafficClass traffic) {
    const auto i = static_cast<std::size_t>(traffic);
    return bytes[i] - bytes_[i];
  };
  if (reference_) reference_->after(current);
  figures_.push_back({current.name, name_of(current.part), to_ns(now() - begin_), moved(TrafficClass::gemm_read),
                      moved(TrafficClass::gemm_write)});
}

}  // namespace t3vp
