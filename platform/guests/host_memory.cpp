#include "guests/host_memory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace t3vp {

HostMemory::HostMemory() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    char* rest = line.data();
    const std::uintptr_t begin = std::strtoull(rest, &rest, 16);
    if (*rest != '-') continue;
    const std::uintptr_t end = std::strtoull(rest + 1, &rest, 16);
    if (*rest != ' ' || rest + 4 > line.data() + line.size()) continue;
    mappings_.push_back({begin, end, rest[1] == 'r', rest[3] == 'x'});
  }
}

const HostMemory::Mapping* HostMemory::mapping_of(std::uintptr_t address) const {
  const auto next = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                     [](std::uintptr_t a, const Mapping& mapping) { return a < mapping.end; });
  return next != mappings_.end() && next->begin <= address ? &*next : nullptr;
}

bool HostMemory::can_be_read(const void* at, std::size_t bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  if (mappings_.empty()) return true;
  if (begin + bytes < begin) return false;
  for (std::uintptr_t address = begin; address < begin + bytes;) {
    const Mapping* const mapping = mapping_of(address);
    if (mapping == nullptr || !mapping->is_readable) return false;
    address = mapping->end;
  }
  return true;
}

bool HostMemory::can_be_called(const void* at) const {
  const Mapping* const mapping = mapping_of(reinterpret_cast<std::uintptr_t>(at));
  return mappings_.empty() || (mapping != nullptr && mapping->is_code);
}

}  // namespace t3vp
