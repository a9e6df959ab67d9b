#include "compute/fenced_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>

namespace t3vp::compute {
namespace {

constexpr unsigned char fence_byte = 0xA9;
constexpr std::size_t fence_alignment = 64, least_fence = 1024;
constexpr std::size_t fence_guard = std::size_t{16} << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

constexpr std::array<unsigned char, 4096> known = [] {
  std::array<unsigned char, 4096> bytes{};
  for (unsigned char& byte : bytes) byte = fence_byte;
  return bytes;
}();

}  // namespace

FrontFence::FrontFence() { put_fence(bytes_, bytes_ + sizeof bytes_); }

bool FrontFence::is_whole() const { return is_fence(bytes_, bytes_ + sizeof bytes_); }

void put_fence(unsigned char* begin, unsigned char* end) {
  std::memset(begin, fence_byte, static_cast<std::size_t>(end - begin));
}

bool is_fence(const unsigned char* begin, const unsigned char* end) {
  while (begin != end) {
    const std::size_t bytes = std::min(static_cast<std::size_t>(end - begin), known.size());
    if (std::memcmp(begin, known.data(), bytes) != 0) return false;
    begin += bytes;
  }
  return true;
}

FencedMemory::FencedMemory(std::size_t bytes) : capacity_(bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  room_ = rounded(rounded(bytes, fence_alignment) + 2 * least_fence, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  mapping_ = mmap(nullptr, room_ + 2 * fence_guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  room_begin_ = static_cast<unsigned char*>(mapping_) + fence_guard;
  if (mprotect(room_begin_, room_, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping_, room_ + 2 * fence_guard);
    throw std::bad_alloc();
  }
}

FencedMemory::~FencedMemory() { munmap(mapping_, room_ + 2 * fence_guard); }

/// Places the bytes as near to the guard page behind them as their alignment allows.
void* FencedMemory::lend(std::size_t bytes) {
  begin_ = room_begin_ + (room_ - least_fence - bytes) / fence_alignment * fence_alignment;
  end_ = begin_ + bytes;
  put_fence(room_begin_, begin_);
  put_fence(end_, room_begin_ + room_);
  return begin_;
}

const char* FencedMemory::written_beside() const {
  if (!is_fence(end_, room_begin_ + room_)) return "behind";
  return is_fence(room_begin_, begin_) ? nullptr : "before";
}

}  // namespace t3vp::compute
