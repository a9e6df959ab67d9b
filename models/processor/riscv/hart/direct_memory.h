// Memory that a hart reads and writes by pointers: windows that the environment gives and takes back.
#pragma once

#include <array>
#include <cstdint>
#include <map>

namespace t3vp::riscv {

struct Window {
  std::uint64_t first = 0, bytes = 0;
  unsigned char* data = nullptr;  ///< that of `first`
  bool readable = false, writable = false;

  unsigned char* find(std::uint64_t address, std::uint64_t length) const {
    const std::uint64_t offset = address - first;
    return offset < bytes && length <= bytes - offset ? data + offset : nullptr;
  }
};

class DirectMemory {
 public:
  /// Null when no window has all of it.
  unsigned char* readable(std::uint64_t address, std::uint64_t bytes) {
    unsigned char* const data = recent(reads_, address).find(address, bytes);
    return data != nullptr ? data : search(reads_, &Window::readable, address, bytes);
  }
  unsigned char* writable(std::uint64_t address, std::uint64_t bytes) {
    unsigned char* const data = recent(writes_, address).find(address, bytes);
    return data != nullptr ? data : search(writes_, &Window::writable, address, bytes);
  }

  /// Takes the place of those that it overlaps.
  void add(const Window& window);
  /// Removes the windows that have any of first to last.
  void remove(std::uint64_t first, std::uint64_t last);

 private:
  /// The last window that was found in each 64 KiB, those whose numbers differ by a multiple of 64 sharing a place.
  using Recent = std::array<Window, 64>;
  static Window& recent(Recent& windows, std::uint64_t address) { return windows[(address >> 16) % windows.size()]; }
  unsigned char* search(Recent& found, bool Window::*allowed, std::uint64_t address, std::uint64_t bytes);

  Recent reads_, writes_;
  std::map<std::uint64_t, Window> windows_;  ///< by their first address
};

}  // namespace t3vp::riscv
