#include "memory/backing_store.h"

#include <algorithm>
#include <cstring>

#include "protocol/element.h"

namespace t3vp::memory {
namespace {

/// Calls visit(address, offset in the data, bytes) for each part of a range that lies in one page.
template <typename Visit>
void for_each_part(std::uint64_t address, std::uint64_t bytes, Visit visit) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t at = address + done;
    const std::uint64_t part = std::min(bytes - done, BackingStore::page_bytes - at % BackingStore::page_bytes);
    visit(at, done, part);
    done += part;
  }
}

}  // namespace

unsigned char* BackingStore::page(std::uint64_t address) {
  auto& page = pages_[address / page_bytes];
  if (!page) page = std::make_unique<unsigned char[]>(page_bytes);
  return page.get();
}

void BackingStore::read(std::uint64_t address, unsigned char* data, std::uint64_t bytes) const {
  for_each_part(address, bytes, [&](std::uint64_t at, std::uint64_t offset, std::uint64_t part) {
    const auto found = pages_.find(at / page_bytes);
    if (found == pages_.end())
      std::memset(data + offset, 0, part);
    else
      std::memcpy(data + offset, found->second.get() + at % page_bytes, part);
  });
}

void BackingStore::write(std::uint64_t address, const unsigned char* data, std::uint64_t bytes) {
  for_each_part(address, bytes, [&](std::uint64_t at, std::uint64_t offset, std::uint64_t part) {
    std::memcpy(page(at) + at % page_bytes, data + offset, part);
  });
}

void BackingStore::write(std::uint64_t address, const unsigned char* data, std::uint64_t bytes,
                         const unsigned char* enables) {
  if (enables == nullptr) return write(address, data, bytes);
  for (std::uint64_t i = 0; i < bytes; ++i)
    if (enables[i] == TLM_BYTE_ENABLED) write(address + i, data + i, 1);
}

void BackingStore::update(ElementType type, std::uint64_t address, const unsigned char* data, std::uint64_t bytes) {
  for_each_part(address, bytes, [&](std::uint64_t at, std::uint64_t offset, std::uint64_t part) {
    add_elements(type, page(at) + at % page_bytes, data + offset, part / bytes_of(type));
  });
}

}  // namespace t3vp::memory
