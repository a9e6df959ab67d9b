#include "node/memory_watch.h"

namespace t3vp {

void MemoryWatch::listen_to(processor::Processor& processor) {
  if (!is_on_) return;
  processor.on_memory([this](std::uint64_t address, std::uint64_t bytes, MemoryUse kind) {
    return table_.tell(address, bytes, kind, now());
  });
}

}  // namespace t3vp
