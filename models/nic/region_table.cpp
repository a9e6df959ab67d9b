#include "nic/region_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp::nic {
namespace {

bool permits(const Rights& rights, Use use) {
  switch (use) {
    case Use::local_read:
      return true;
    case Use::local_write:
      return rights.local_write;
    case Use::remote_read:
      return rights.remote_read;
    case Use::remote_write:
      return rights.remote_write;
    case Use::remote_atomic:
      return rights.remote_atomic;
    case Use::remote_accumulate:
      return rights.remote_accumulate;
  }
  return false;
}

const char* name_of(Use use) {
  constexpr const char* names[] = {"local_read",   "local_write",   "remote_read",
                                   "remote_write", "remote_atomic", "remote_accumulate"};
  return names[static_cast<std::size_t>(use)];
}

}  // namespace

std::uint32_t RegionTable::used() const {
  return static_cast<std::uint32_t>(
      std::count_if(regions_.begin(), regions_.end(), [](const Region& region) { return region.valid; }));
}

std::uint32_t RegionTable::add(std::uint64_t base, std::uint64_t bytes, const Rights& rights) {
  const auto free = std::find_if(regions_.begin(), regions_.end(), [](const Region& region) { return !region.valid; });
  *free = {true, static_cast<std::uint8_t>(free->variant + 1), base, bytes, rights};
  return static_cast<std::uint32_t>(free - regions_.begin()) << 8 | free->variant;
}

const RegionTable::Region* RegionTable::find(std::uint32_t key) const {
  if (key >> 8 >= regions_.size()) return nullptr;
  const Region& region = regions_[key >> 8];
  return region.valid && region.variant == (key & 0xFF) ? &region : nullptr;
}

bool RegionTable::withdraw(std::uint32_t key) {
  if (find(key) == nullptr) return false;
  regions_[key >> 8].valid = false;
  return true;
}

Refusal RegionTable::validate(std::uint32_t key, std::uint64_t address, std::uint64_t bytes, Use use) const {
  if (bytes == 0) return {};
  const Region* const region = find(key);
  if (region == nullptr)
    return refused(Status::access_denied, "key {:#x} is not valid: one of a registered region expected", key);
  const bool inside =
      address >= region->base && bytes <= region->bytes && address - region->base <= region->bytes - bytes;
  if (!inside)
    return refused(Status::access_denied,
                   "{:#x} bytes at {:#x} with key {:#x}: within its {:#x} bytes at {:#x} expected", bytes, address, key,
                   region->bytes, region->base);
  if (!permits(region->rights, use))
    return refused(Status::access_denied, "{:#x} bytes at {:#x} with key {:#x}: a region with the right {} expected",
                   bytes, address, key, name_of(use));
  return {};
}

/// Keys from before stay invalid.
void RegionTable::clear() {
  for (Region& region : regions_) region.valid = false;
}

}  // namespace t3vp::nic
