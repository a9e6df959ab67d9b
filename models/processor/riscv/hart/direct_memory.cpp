#include "hart/direct_memory.h"

namespace t3vp::riscv {

void DirectMemory::add(const Window& window) {
  remove(window.first, window.first + (window.bytes - 1));
  windows_[window.first] = window;
}

void DirectMemory::remove(std::uint64_t first, std::uint64_t last) {
  reads_ = writes_ = {};
  auto window = windows_.upper_bound(first);
  if (window != windows_.begin()) --window;
  while (window != windows_.end() && window->first <= last) {
    const bool touches = window->first + (window->second.bytes - 1) >= first;
    window = touches ? windows_.erase(window) : std::next(window);
  }
}

unsigned char* DirectMemory::search(Recent& found, bool Window::*allowed, std::uint64_t address, std::uint64_t bytes) {
  const auto behind = windows_.upper_bound(address);
  if (behind == windows_.begin()) return nullptr;
  const Window& window = std::prev(behind)->second;
  unsigned char* const data = window.*allowed ? window.find(address, bytes) : nullptr;
  if (data != nullptr) recent(found, address) = window;
  return data;
}

}  // namespace t3vp::riscv
