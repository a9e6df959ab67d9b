#include "compute/local_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "compute/fenced_memory.h"

namespace t3vp::compute {
namespace {

constexpr std::size_t fence_bytes = 64;
constexpr std::size_t alignment = 64;
/// Guard bytes before and behind all slots. Small overruns of a program cannot go past them.
constexpr std::size_t guard = 1u << 20;

}  // namespace

LocalMemory::LocalMemory(std::size_t slots, std::uint32_t bytes)
    : bytes_(bytes), each_((bytes + 2 * fence_bytes + alignment - 1) / alignment * alignment), slots_(slots) {
  if (bytes_ == 0) return;
  mapping_ = mmap(nullptr, mapped(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<unsigned char*>(mapping_);
  mprotect(first, guard, PROT_NONE);
  mprotect(first + mapped() - guard, guard, PROT_NONE);
  begin_ = first + guard + fence_bytes;
}

LocalMemory::~LocalMemory() {
  if (mapping_ != nullptr) munmap(mapping_, mapped());
}

/// In whole guards, which are whole pages.
std::size_t LocalMemory::mapped() const { return 2 * guard + (slots_ * each_ + guard - 1) / guard * guard; }

void* LocalMemory::clear(std::size_t slot) {
  if (bytes_ == 0) return nullptr;
  unsigned char* const begin = at(slot);
  put_fence(begin - fence_bytes, begin);
  std::memset(begin, 0, bytes_);
  put_fence(begin + bytes_, begin + each_ - fence_bytes);
  return begin;
}

const char* LocalMemory::written_beside(std::size_t slot) const {
  if (bytes_ == 0) return nullptr;
  const unsigned char* const begin = at(slot);
  if (!is_fence(begin + bytes_, begin + each_ - fence_bytes)) return "behind";
  return is_fence(begin - fence_bytes, begin) ? nullptr : "before";
}

}  // namespace t3vp::compute
